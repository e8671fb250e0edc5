//! What was done, and when?

use ttlspec_model::{Millis, Vocabulary};

/// One system from its start: how it is set up, and what is done when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script<V: Vocabulary> {
    /// How the system is set up.
    pub config: V::Config,
    /// The operations in order, each with its instant. The clock may go backwards.
    pub steps: Vec<(Millis, V::Op)>,
}

impl<V: Vocabulary> Script<V> {
    /// A script in which nothing has been done yet.
    pub fn new(config: V::Config) -> Script<V> {
        Script { config, steps: Vec::new() }
    }
}
