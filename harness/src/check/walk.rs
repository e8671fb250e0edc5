//! Which states can be reached, and does the engine come along?

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use stateright::{Model, Property};
use ttlspec_model::{Engine, Millis, Step, Vocabulary};

use super::{Law, Opener};
use crate::alphabet::{Alphabet, World};
use crate::lockstep::caught;
use crate::notation::Notation;

/// A world, walked with an engine at one's side.
pub struct Walk<V: Alphabet> {
    pub(super) world: World<V>,
    pub(super) steps: usize,
    pub(super) laws: Vec<&'static Law<V>>,
    pub(super) open: Opener<V>,
    pub(super) skipped: Mutex<BTreeMap<String, u64>>,
}

/// A state of the specification, and the way to it.
pub struct Seen<V: Alphabet> {
    state: V::State,
    difference: Option<String>,
    way: Way,
    probed: OnceLock<Vec<Step<V>>>,
}

/// The moves that led to a state, the last one first.
type Way = Option<Arc<Taken>>;

struct Taken {
    action: usize,
    before: Way,
    length: usize,
}

impl<V: Alphabet> Seen<V> {
    /// The state of the specification.
    pub fn state(&self) -> &V::State {
        &self.state
    }

    /// How the engine differs here, if it does.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// How many moves led here.
    pub fn length(&self) -> usize {
        self.way.as_ref().map_or(0, |taken| taken.length)
    }

    fn actions(&self) -> Vec<usize> {
        let mut actions = Vec::with_capacity(self.length());
        let mut way = &self.way;
        while let Some(taken) = way {
            actions.push(taken.action);
            way = &taken.before;
        }
        actions.reverse();
        actions
    }
}

impl<V: Alphabet> Clone for Seen<V> {
    fn clone(&self) -> Seen<V> {
        Seen {
            state: self.state.clone(),
            difference: self.difference.clone(),
            way: self.way.clone(),
            probed: self.probed.clone(),
        }
    }
}

// The way, and what follows from the state, are no part of it.
impl<V: Alphabet> PartialEq for Seen<V> {
    fn eq(&self, other: &Seen<V>) -> bool {
        self.state == other.state && self.difference == other.difference
    }
}

impl<V: Alphabet> Hash for Seen<V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // stateright's own hasher takes an i32 for an i64 of the same value, and a value of BSON is
        // hashed without its type: what differs by type alone would be one state.
        let mut exact = DefaultHasher::new();
        self.state.hash(&mut exact);
        exact.finish().hash(hasher);
        self.difference.hash(hasher);
    }
}

impl<V: Alphabet> Walk<V> {
    /// How the system is set up.
    pub fn config(&self) -> &V::Config {
        &self.world.config
    }

    /// What each probe of the world would do to a state.
    pub fn probes<'a>(&'a self, seen: &'a Seen<V>) -> impl Iterator<Item = (Millis, &'a Step<V>)> {
        let steps = seen.probed.get_or_init(|| {
            let probes = self.world.probes.iter();
            probes.map(|(now, op)| self.step(seen.state(), *now, op)).collect()
        });
        self.world.probes.iter().map(|(now, _)| *now).zip(steps)
    }

    /// What `op` would do to a state.
    pub fn step(&self, state: &V::State, now: Millis, op: &V::Op) -> Step<V> {
        V::step(&self.world.config, state, now, op)
    }

    fn move_at(&self, action: usize) -> &(Millis, V::Op) {
        &self.world.moves[action]
    }
}

impl<V: Alphabet + Notation> Walk<V> {
    /// The engine after these moves.
    fn engine(&self, actions: &[usize]) -> Result<Box<dyn Engine<V>>, Unlike> {
        let mut engine = caught(|| (self.open)(&self.world.config)).map_err(Unlike::Panicked)?;
        for action in actions {
            let (now, op) = self.move_at(*action);
            ask::<V>(&mut *engine, *now, op)?;
        }
        Ok(engine)
    }

    /// Does the engine answer as the specification does, after `actions`, to `action`, and to all
    /// questions?
    fn compare(&self, actions: &[usize], action: usize, step: &Step<V>) -> Result<(), Unlike> {
        let mut engine = self.engine(actions)?;
        let (now, op) = self.move_at(action);
        like::<V>(&mut *engine, *now, op, &step.reply.verdict)?;
        for question in V::questions(&self.world.config) {
            let answer = self.step(&step.state, *now, &question).reply.verdict;
            like::<V>(&mut *engine, *now, &question, &answer)?;
        }
        Ok(())
    }
}

/// Why an engine does not come along.
enum Unlike {
    Differs(String),
    Panicked(String),
    Unsupported(String),
}

fn ask<V: Vocabulary>(
    engine: &mut dyn Engine<V>,
    now: Millis,
    op: &V::Op,
) -> Result<V::Reply, Unlike> {
    let reply = caught(|| engine.apply(now, op)).map_err(Unlike::Panicked)?;
    reply.map_err(|unsupported| Unlike::Unsupported(unsupported.0))
}

fn like<V: Notation>(
    engine: &mut dyn Engine<V>,
    now: Millis,
    op: &V::Op,
    expected: &V::Reply,
) -> Result<(), Unlike> {
    let found = ask::<V>(engine, now, op)?;
    if V::admits(expected, &found) {
        return Ok(());
    }
    let (expected, found) = (V::short_reply(expected), V::short_reply(&found));
    let op = V::short(op);
    Err(Unlike::Differs(format!("expected `{expected}`, found `{found}` to `{op}`")))
}

impl<V: Alphabet + Notation> Model for Walk<V> {
    type State = Seen<V>;
    type Action = usize;

    fn init_states(&self) -> Vec<Seen<V>> {
        let state = V::init(&self.world.config);
        vec![Seen { state, difference: None, way: None, probed: OnceLock::new() }]
    }

    fn actions(&self, seen: &Seen<V>, actions: &mut Vec<usize>) {
        if seen.length() < self.steps && seen.difference.is_none() {
            actions.extend(0..self.world.moves.len());
        }
    }

    fn next_state(&self, seen: &Seen<V>, action: usize) -> Option<Seen<V>> {
        let (now, op) = self.move_at(action);
        let step = self.step(&seen.state, *now, op);
        let difference = match self.compare(&seen.actions(), action, &step) {
            Ok(()) => None,
            Err(Unlike::Differs(how)) => Some(how),
            Err(Unlike::Panicked(why)) => Some(format!("the engine panicked: {why}")),
            Err(Unlike::Unsupported(why)) => {
                let mut skipped = self.skipped.lock().expect("no thread panics while it counts");
                *skipped.entry(why).or_default() += 1;
                return None;
            }
        };
        let way = Taken { action, before: seen.way.clone(), length: seen.length() + 1 };
        let way = Some(Arc::new(way));
        Some(Seen { state: step.state, difference, way, probed: OnceLock::new() })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let alike = Property::always(ALIKE, |_, seen: &Seen<V>| seen.difference.is_none());
        let laws = self.laws.iter().flat_map(|law| {
            [
                Property::always(law.rule, law.always),
                Property::sometimes(law.premise, law.sometimes),
            ]
        });
        std::iter::once(alike).chain(laws).collect()
    }
}

/// The property that needs no rule.
pub(super) const ALIKE: &str = "equal replies";
