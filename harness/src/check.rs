//! Does it hold in every state that can be reached in a few steps?
//!
//! A [`Claim`] names a small world of the alphabet, a horizon, and laws of the book. Running it
//! walks every state of the specification within the horizon with stateright, and at every step
//! walks an engine to the same place: replies must be equal, to the move itself and to all
//! questions after it. In every state each law must hold, and somewhere its premise must occur, so
//! that no law holds for want of a case.
//!
//! What a claim shows is that the specification has its laws, and that the engine answers alike on
//! the shortest way to every state. A state that is reached again on another way is compared at the
//! step that reaches it, and not walked on from.
//!
//! stateright recognises states by 64 bits of hash; `tests/model_check.rs` counts the states a
//! second time without.

use std::fmt;
use std::sync::Arc;

use ttlspec_model::{Engine, Rule, Vocabulary};

use crate::alphabet::{Alphabet, World};
use crate::lockstep::Counterexample;
use crate::notation::Notation;
use crate::script::Script;
use crate::vector::Vector;

mod laws;
mod mongodb;
mod run;
mod walk;

pub use mongodb::claims;
pub use walk::{Seen, Walk};

/// Opens an engine for a configuration, again and again.
pub type Opener<V> = Arc<dyn Fn(&<V as Vocabulary>::Config) -> Box<dyn Engine<V>> + Send + Sync>;

/// Makes an [`Opener`] of a closure.
pub fn opener<V: Vocabulary, E: Engine<V> + 'static>(
    open: impl Fn(&V::Config) -> E + Send + Sync + 'static,
) -> Opener<V> {
    Arc::new(move |config| Box::new(open(config)))
}

/// A law of the book, and where its premise occurs.
pub struct Law<V: Alphabet> {
    /// The rule that states it.
    pub rule: &'static str,
    /// The name of the premise: that of the rule, and a word.
    pub premise: &'static str,
    /// The law, in a sentence.
    pub sentence: &'static str,
    /// Does it hold here?
    pub always: fn(&Walk<V>, &Seen<V>) -> bool,
    /// Does its premise occur here?
    pub sometimes: fn(&Walk<V>, &Seen<V>) -> bool,
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

impl<V: Alphabet> Law<V> {
    /// The rule that states it.
    pub fn rule(&self) -> Rule {
        Rule::named(self.rule).expect("a law is named for a rule")
    }
}

impl<V: Alphabet> fmt::Debug for Law<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.sentence)
    }
}
