//! What breaks where a rule is broken?

mod kill;
mod mongodb;

pub use kill::{Fate, Hunt, Killed, Killer};
pub use mongodb::{Mutant, Seen};
