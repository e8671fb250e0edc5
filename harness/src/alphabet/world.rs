//! What is a world small enough to walk through?

use ttlspec_model::{Millis, Vocabulary};

use crate::values::Source;

/// A few moves that meet at one subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<V: Vocabulary> {
    /// The subject, in a word or two.
    pub name: &'static str,
    /// How the system is set up.
    pub config: V::Config,
    /// What is done before anything else.
    pub begins: Vec<(Millis, V::Op)>,
    /// What may be done and when, simplest first. The clock may go backwards from one to the next.
    pub moves: Vec<(Millis, V::Op)>,
    /// What would come next is looked at in every state, without going there.
    pub probes: Vec<(Millis, V::Op)>,
}

impl<V: Vocabulary> World<V> {
    /// One of the moves.
    pub fn step(&self, source: &mut dyn Source) -> (Millis, V::Op) {
        self.moves[source.choose(self.moves.len())].clone()
    }
}
