//! Which states can be reached, and does the engine come along?

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use stateright::{Model, Property};
use ttlspec_model::{Engine, Millis, Step, Vocabulary};

use super::{Hazard, Law, Opener};
use crate::alphabet::{Alphabet, World};
use crate::lockstep::caught;
use crate::notation::Notation;

/// A world, walked with an engine at one's side.
pub struct Walk<V: Alphabet> {
    pub(super) world: World<V>,
    pub(super) steps: usize,
    pub(super) laws: Vec<&'static Law<V>>,
    pub(super) hazards: Vec<&'static Hazard<V>>,
    pub(super) guards: Vec<&'static Hazard<V>>,
    pub(super) open: Opener<V>,
    pub(super) skipped: Mutex<BTreeMap<String, u64>>,
    pub(super) begun: OnceLock<V::State>,
    pub(super) happened: Mutex<BTreeSet<&'static str>>,
}

/// A state of the specification, and the way to it.
pub struct Seen<V: Alphabet> {
    state: V::State,
    difference: Option<String>,
    way: Way,
    probed: OnceLock<Vec<Step<V>>>,
    moved: OnceLock<Vec<Step<V>>>,
}

/// A move that could come next, and what it would do.
pub struct Move<'a, V: Alphabet> {
    /// When.
    pub now: Millis,
    /// What is done.
    pub op: &'a V::Op,
    /// What that comes to.
    pub step: &'a Step<V>,
}

/// The moves that led to a state, the last one first.
type Way = Option<Arc<Taken>>;

struct Taken {
    action: usize,
    before: Way,
    length: usize,
}

impl<V: Alphabet> Seen<V> {
    fn new(state: V::State, difference: Option<String>, way: Way) -> Seen<V> {
        Seen { state, difference, way, probed: OnceLock::new(), moved: OnceLock::new() }
    }

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
            moved: self.moved.clone(),
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

    /// Does it happen, and did it not before? What has happened is not looked for again, and the
    /// way to it stays the shortest one: stateright would keep the last.
    pub(crate) fn at_first(&self, what: &'static str, happens: impl FnOnce() -> bool) -> bool {
        let mut happened = self.happened.lock().expect("no thread panics while it looks");
        !happened.contains(what) && happens() && happened.insert(what)
    }

    /// The state that the world begins with.
    pub fn begun(&self) -> &V::State {
        self.begun.get_or_init(|| {
            let begins = self.world.begins.iter();
            let first = V::init(&self.world.config);
            begins.fold(first, |state, (now, op)| self.step(&state, *now, op).state)
        })
    }

    /// What each probe of the world would do to a state.
    pub fn probes<'a>(&'a self, seen: &'a Seen<V>) -> impl Iterator<Item = (Millis, &'a Step<V>)> {
        let steps = seen.probed.get_or_init(|| {
            let probes = self.world.probes.iter();
            probes.map(|(now, op)| self.step(seen.state(), *now, op)).collect()
        });
        self.world.probes.iter().map(|(now, _)| *now).zip(steps)
    }

    /// What each move of the world would do to a state.
    pub fn moves<'a>(&'a self, seen: &'a Seen<V>) -> impl Iterator<Item = Move<'a, V>> {
        let moves = &self.world.moves;
        let steps = seen.moved.get_or_init(|| {
            moves.iter().map(|(now, op)| self.step(seen.state(), *now, op)).collect()
        });
        moves.iter().zip(steps).map(|((now, op), step)| Move { now: *now, op, step })
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
    /// The engine after these moves, and what the world begins with.
    fn engine(&self, actions: &[usize]) -> Result<Box<dyn Engine<V>>, Unlike> {
        let mut engine = self.engine_at_first()?;
        let moves = actions.iter().map(|action| self.move_at(*action));
        for (now, op) in self.world.begins.iter().chain(moves) {
            ask::<V>(&mut *engine, *now, op)?;
        }
        Ok(engine)
    }

    /// Does the engine answer as the specification does, after `actions`, to `action`, and to all
    /// questions?
    fn compare(&self, actions: &[usize], action: usize, step: &Step<V>) -> Result<(), Unlike> {
        let mut engine = self.engine(actions)?;
        self.like(&mut *engine, self.move_at(action), step)
    }

    fn like(
        &self,
        engine: &mut dyn Engine<V>,
        (now, op): &(Millis, V::Op),
        step: &Step<V>,
    ) -> Result<(), Unlike> {
        like::<V>(engine, *now, op, &step.reply.verdict)?;
        for question in V::questions(&self.world.config, &step.state) {
            let answer = V::answer(&self.world.config, &step.state, *now, &question).verdict;
            like::<V>(engine, *now, &question, &answer)?;
        }
        Ok(())
    }

    /// The state that the world begins with, and how the engine differs on the way there.
    fn begin(&self) -> (V::State, Result<(), Unlike>) {
        let mut state = V::init(&self.world.config);
        let mut engine = self.engine_at_first();
        let mut alike = Ok(());
        for begin in &self.world.begins {
            let step = self.step(&state, begin.0, &begin.1);
            if let (Ok(engine), Ok(())) = (&mut engine, &alike) {
                alike = self.like(&mut **engine, begin, &step);
            }
            state = step.state;
        }
        (state, engine.map(|_| ()).and(alike))
    }

    fn engine_at_first(&self) -> Result<Box<dyn Engine<V>>, Unlike> {
        caught(|| (self.open)(&self.world.config)).map_err(Unlike::Panicked)
    }

    /// How the engine differs, if so. What it does not have is counted, and no way goes on there.
    fn differs(&self, alike: Result<(), Unlike>) -> Result<Option<String>, ()> {
        match alike {
            Ok(()) => Ok(None),
            Err(Unlike::Differs(how)) => Ok(Some(how)),
            Err(Unlike::Panicked(why)) => Ok(Some(format!("the engine panicked: {why}"))),
            Err(Unlike::Unsupported(why)) => {
                let mut skipped = self.skipped.lock().expect("no thread panics while it counts");
                *skipped.entry(why).or_default() += 1;
                Err(())
            }
        }
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
        let (state, alike) = self.begin();
        // Where the engine cannot begin, it cannot do any move either, and that is counted there.
        let difference = self.differs(alike).unwrap_or_default();
        vec![Seen::new(state, difference, None)]
    }

    fn actions(&self, seen: &Seen<V>, actions: &mut Vec<usize>) {
        if seen.length() < self.steps && seen.difference.is_none() {
            actions.extend(0..self.world.moves.len());
        }
    }

    fn next_state(&self, seen: &Seen<V>, action: usize) -> Option<Seen<V>> {
        let Move { step, .. } = self.moves(seen).nth(action).expect("it is one of the moves");
        let difference = self.differs(self.compare(&seen.actions(), action, step)).ok()?;
        let way = Taken { action, before: seen.way.clone(), length: seen.length() + 1 };
        Some(Seen::new(step.state.clone(), difference, Some(Arc::new(way))))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let alike = Property::always(ALIKE, |walk: &Walk<V>, seen: &Seen<V>| {
            !walk.at_first(ALIKE, || seen.difference.is_some())
        });
        let laws = self.laws.iter().flat_map(|law| {
            [
                Property::always(law.rule, law.always),
                Property::sometimes(law.premise, law.sometimes),
            ]
        });
        let hazards =
            self.hazards.iter().map(|hazard| Property::sometimes(hazard.name, hazard.some));
        let guards = self.guards.iter().map(|hazard| Property::always(hazard.name, hazard.none));
        std::iter::once(alike).chain(laws).chain(hazards).chain(guards).collect()
    }
}

/// The property that needs no rule.
pub(super) const ALIKE: &str = "equal replies";
