//! Does it hold in every state that can be reached in a few steps?
//!
//! A [`Claim`] names a small world of the alphabet, a horizon, and laws of the book. Running it
//! walks every state of the specification within the horizon with stateright, and at every step
//! walks an engine to the same place: replies must be equal, to the move itself and to all
//! questions after it. In every state each law must hold, and somewhere its premise must occur, so
//! that no law holds for want of a case.
//!
//! A [`Hazard`] is the opposite of a law: something bad that the specification allows. A claim may
//! demand that it be found, and then the shortest way to it is a vector; or, for the versions that
//! guard against it, that it never happen.
//!
//! What a claim shows is that the specification has its laws, and that the engine answers alike on
//! the shortest way to every state. A state that is reached again on another way is compared at the
//! step that reaches it, and not walked on from.
//!
//! stateright recognises states by 64 bits of hash; `tests/model_check.rs` counts the states a
//! second time without.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ttlspec_model::{Engine, Rule, Vocabulary};

use crate::alphabet::{Alphabet, World};
use crate::lockstep::Counterexample;
use crate::notation::Notation;
use crate::script::Script;
use crate::vector::{Vector, VectorFile};

pub(crate) mod cassandra;
pub(crate) mod mongodb;
mod run;
pub(crate) mod tables;
mod walk;

pub use walk::{Move, Seen, Walk};

/// Opens an engine for a configuration, again and again.
pub type Opener<V> = Arc<dyn Fn(&<V as Vocabulary>::Config) -> Box<dyn Engine<V>> + Send + Sync>;

/// Makes an [`Opener`] of a closure.
pub fn opener<V: Vocabulary, E: Engine<V> + 'static>(
    open: impl Fn(&V::Config) -> E + Send + Sync + 'static,
) -> Opener<V> {
    Arc::new(move |config| Box::new(open(config)))
}

/// Is something so in a state?
pub type Test<V> = fn(&Walk<V>, &Seen<V>) -> bool;

/// A law of the book, and where its premise occurs.
pub struct Law<V: Alphabet> {
    /// The rule that states it.
    pub rule: &'static str,
    /// The name of the premise: that of the rule, and a word.
    pub premise: &'static str,
    /// The law, in a sentence.
    pub sentence: &'static str,
    /// Does it hold here?
    pub always: Test<V>,
    /// Does its premise occur here?
    pub sometimes: Test<V>,
}

/// Something bad that the specification allows, at some versions.
pub struct Hazard<V: Alphabet> {
    /// The rule that allows it.
    pub rule: &'static str,
    /// The name: that of the rule, and what happens.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub sentence: &'static str,
    /// Is it this move that does it?
    pub by: fn(&Walk<V>, &Seen<V>, &Move<V>) -> bool,
    /// Does some move do it here?
    pub some: Test<V>,
    /// Does none?
    pub none: Test<V>,
}

/// What is claimed: that these laws hold in this world, and that the engine answers alike.
pub struct Claim<V: Alphabet> {
    /// The name: the world, and the version where there is one.
    pub name: String,
    /// Where it is walked.
    pub world: World<V>,
    /// How many steps far.
    pub steps: usize,
    /// What must hold everywhere.
    pub laws: Vec<&'static Law<V>>,
    /// What must be found to happen.
    pub hazards: Vec<&'static Hazard<V>>,
    /// What must never happen.
    pub guards: Vec<&'static Hazard<V>>,
}

/// The shortest way to a hazard.
#[derive(Clone, Debug)]
pub struct Way<V: Vocabulary> {
    /// The name of the hazard.
    pub hazard: &'static str,
    /// What happens, in a sentence.
    pub sentence: &'static str,
    /// How many moves lead to it, beside what the world begins with.
    pub moves: usize,
    /// All steps, with the replies and the rules that allow each.
    pub vector: Vector<V>,
}

/// What running a claim came to.
#[derive(Clone, Debug)]
pub struct Outcome<V: Vocabulary> {
    /// The name of the claim.
    pub name: String,
    /// How many different states were reached.
    pub states: u64,
    /// How many steps were taken, to new states and to known ones.
    pub taken: u64,
    /// How many steps the farthest state is away.
    pub depth: usize,
    /// Are these all states that can be reached in any number of steps?
    pub is_complete: bool,
    /// What it says of the claim.
    pub verdict: Verdict,
    /// The shortest way to what is wrong, where something is.
    pub counterexample: Option<Script<V>>,
    /// The shortest way to each hazard that was found.
    pub ways: Vec<Way<V>>,
    /// What the engine does not have, with how often that was met.
    pub skipped: Vec<(String, u64)>,
}

/// What is wrong, and the way there, ready to print and to keep.
#[derive(Clone, Debug)]
pub enum Finding<V: Alphabet> {
    /// The engine differs.
    Engine(Box<Counterexample<V>>),
    /// The specification breaks a law of its own after the last step.
    Specification(Vector<V>),
}

/// What is to be said of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// The engine differs.
    Differs(String),
    /// The specification breaks this law of its own.
    Broken(&'static str),
    /// The premise never occurred within the horizon.
    NeverOccurs(&'static str),
    /// This hazard happens, and should not.
    Happens(&'static str),
    /// This hazard never happens within the horizon, and should.
    NeverHappens(&'static str),
    /// The engine had nothing of this world.
    Skipped,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::Differs(how) => write!(f, "differs: {how}"),
            Verdict::Broken(law) => write!(f, "the specification breaks `{law}`"),
            Verdict::NeverOccurs(premise) => write!(f, "`{premise}` within no state"),
            Verdict::Happens(hazard) => write!(f, "`{hazard}`, which should not happen"),
            Verdict::NeverHappens(hazard) => write!(f, "`{hazard}` is not found"),
            Verdict::Skipped => f.write_str("skipped"),
        }
    }
}

/// How far a claim has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Different states so far.
    pub states: u64,
    /// How many steps the farthest of them is away.
    pub depth: usize,
}

impl<V: Alphabet> Outcome<V> {
    /// What is wrong, where something is. The engine is the one that was walked with.
    pub fn finding(&self, open: &Opener<V>) -> Option<Finding<V>> {
        let script = self.counterexample.as_ref()?;
        Some(run::finding(&self.name, script, open))
    }
}

impl<V: Alphabet> Finding<V> {
    /// What must be answered on the way there, as a vector.
    pub fn to_vector(&self) -> Vector<V> {
        match self {
            Finding::Engine(counterexample) => counterexample.to_vector(),
            Finding::Specification(vector) => vector.clone(),
        }
    }
}

impl<V: Alphabet + Notation> fmt::Display for Finding<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Engine(counterexample) => counterexample.fmt(f),
            Finding::Specification(vector) => f.write_str(vector.to_toml().trim_end()),
        }
    }
}

impl<V: Alphabet + Notation> Claim<V> {
    /// Walks all states within the horizon. `progress` is told now and then how far it has come.
    pub fn run(&self, open: &Opener<V>, progress: impl FnMut(Progress)) -> Outcome<V> {
        run::run(self, open, progress)
    }
}

/// Runs claims, as many at once as there are cores. `done` is told the name of each that is over.
pub fn run_all<V: Alphabet + Notation>(
    claims: &[Claim<V>],
    open: &Opener<V>,
    done: impl Fn(&str) + Sync,
) -> Vec<Outcome<V>> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<OnceLock<Outcome<V>>> = claims.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some(at) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < claims.len())
        {
            outcomes[at].get_or_init(|| claims[at].run(open, |_| {}));
            done(&claims[at].name);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let ran = |outcome: OnceLock<Outcome<V>>| outcome.into_inner().expect("each claim was run");
    outcomes.into_iter().map(ran).collect()
}

/// The shortest ways to all hazards, as a file of vectors.
pub fn ways_file<V: Alphabet + Notation>(outcomes: &[Outcome<V>]) -> String {
    let ways = outcomes.iter().flat_map(|outcome| &outcome.ways);
    let vectors = ways.map(|way| way.vector.clone()).collect();
    let file = VectorFile { path: String::new(), vectors }.to_toml();
    format!("{WAYS}\n{file}")
}

/// What stands above them.
const WAYS: &str = "\
# What the specification allows and nobody wants: the shortest way to each, as the model checks find
# it. Nobody wrote these vectors; `ttlspec check --ways FILE` writes them.
";

impl<V: Alphabet> Law<V> {
    /// The rule that states it.
    pub fn rule(&self) -> Rule {
        Rule::named(self.rule).expect("a law is named for a rule")
    }
}

impl<V: Alphabet> fmt::Debug for Hazard<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<V: Alphabet + Notation> Way<V> {
    /// The moves in a line, without what the world begins with.
    pub fn short(&self) -> String {
        let begins = self.vector.steps.len() - self.moves;
        let moves = self.vector.steps[begins..].iter().map(|step| V::short(&step.op));
        moves.collect::<Vec<_>>().join("; ")
    }
}

impl<V: Alphabet + Notation> fmt::Display for Way<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.hazard)?;
        for step in &self.vector.steps {
            let (op, see) = (V::short(&step.op), V::short_reply(&step.see));
            write!(f, "\n{:>12} ms  {op}  ->  {see}", step.at.0)?;
            let names: Vec<&str> = step.by.iter().map(|rule| rule.name()).collect();
            if !names.is_empty() {
                write!(f, "\n                 because {}", names.join(", "))?;
            }
        }
        Ok(())
    }
}

impl<V: Alphabet> fmt::Debug for Law<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.sentence)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ttlspec_model::mongodb::MongoDb;

    use super::*;
    use crate::system::System;
    use crate::toy::Toy;

    fn are_named_for_rules<V: System>() {
        let mut hazards: BTreeMap<&str, &Hazard<V>> = BTreeMap::new();

        for claim in V::claims(true) {
            for law in claim.laws {
                assert!(Rule::named(law.rule).is_some(), "no rule `{}`", law.rule);
            }
            for hazard in claim.hazards.into_iter().chain(claim.guards) {
                assert!(Rule::named(hazard.rule).is_some(), "{hazard:?}");
                let of_this_name = *hazards.entry(hazard.name).or_insert(hazard);
                assert!(std::ptr::eq(of_this_name, hazard), "two are named {hazard:?}");
            }
        }
    }

    #[test]
    fn every_law_and_every_hazard_is_named_for_a_rule_and_no_two_hazards_alike() {
        are_named_for_rules::<MongoDb>();
        are_named_for_rules::<Toy>();
    }
}
