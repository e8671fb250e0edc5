//! What an engine is, what a specification is, and how the second is made to look like the first.

use std::fmt;
use std::fmt::Debug;
use std::hash::Hash;

use crate::time::Millis;

/// What all words share: they can be kept, compared, printed and sent.
pub trait Data: Clone + Eq + Hash + Debug + Send + Sync + 'static {}
impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Data for T {}

/// The words of one system: how it is configured, asked and answered.
pub trait Vocabulary: Data {
    /// How the system is set up for a whole script.
    type Config: Data;
    /// What it can be told to do. Background work is an operation too.
    type Op: Data;
    /// What it answers. A refusal is an answer too.
    type Reply: Data;

    /// May an engine answer `actual` where the specification answers `expected`?
    ///
    /// Equality, unless the system has background work whose timing cannot be commanded.
    fn admits(expected: &Self::Reply, actual: &Self::Reply) -> bool {
        expected == actual
    }
}

/// A system under test. Nothing but the arguments is read: the caller passes `now`, which may also
/// go backwards.
pub trait Engine<V: Vocabulary> {
    /// Does `op` at `now` and answers.
    ///
    /// # Errors
    /// [`Unsupported`] where the engine has no such thing; it ends the script, which is then listed
    /// as skipped, never as passed.
    fn apply(&mut self, now: Millis, op: &V::Op) -> Result<V::Reply, Unsupported>;
}

/// What an engine says of an operation that it does not have, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

#[cfg(feature = "semantics")]
pub use spec::{Reference, Spec, Step};

#[cfg(feature = "semantics")]
mod spec {
    use super::*;
    use crate::ruling::Ruling;

    /// A specification: a pure step that names its rules.
    pub trait Spec: Vocabulary {
        /// All that the past can still influence.
        type State: Data;

        /// The state before the first operation.
        fn init(config: &Self::Config) -> Self::State;

        /// What `op` at `now` does to `state`, what is answered, and by which rules.
        fn step(
            config: &Self::Config,
            state: &Self::State,
            now: Millis,
            op: &Self::Op,
        ) -> Step<Self>;

        /// What is answered to `op` at `now`, whatever it does to `state`. A specification may know a
        /// shorter way to it than a step.
        fn answer(
            config: &Self::Config,
            state: &Self::State,
            now: Millis,
            op: &Self::Op,
        ) -> Ruling<Self::Reply> {
            Self::step(config, state, now, op).reply
        }
    }

    /// One step of a specification.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Step<V: Spec> {
        /// The state afterwards.
        pub state: V::State,
        /// The answer, with the rules it rests on.
        pub reply: Ruling<V::Reply>,
    }

    /// The specification in the shape of an engine.
    #[derive(Clone, Debug)]
    pub struct Reference<V: Spec> {
        config: V::Config,
        state: V::State,
    }

    impl<V: Spec> Reference<V> {
        /// A system as it is before anything was asked of it.
        pub fn open(config: &V::Config) -> Self {
            Reference { config: config.clone(), state: V::init(config) }
        }

        /// Does `op` at `now`; the answer comes with the rules it rests on.
        pub fn explain(&mut self, now: Millis, op: &V::Op) -> Ruling<V::Reply> {
            let step = V::step(&self.config, &self.state, now, op);
            self.state = step.state;
            step.reply
        }

        /// All that the past can still influence.
        pub fn state(&self) -> &V::State {
            &self.state
        }
    }

    impl<V: Spec> Engine<V> for Reference<V> {
        fn apply(&mut self, now: Millis, op: &V::Op) -> Result<V::Reply, Unsupported> {
            Ok(self.explain(now, op).verdict)
        }
    }
}
