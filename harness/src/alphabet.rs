//! What may be tried?
//!
//! Per system there is one alphabet. From it the seeded runner draws, libFuzzer indexes and the
//! model checker enumerates; lockstep asks its questions after each move, and makes a difference
//! smaller by its simpler operations.
//!
//! There are two sizes. [`Alphabet::any_step`] is any operation at all. A [`World`] is a small list
//! of moves, simplest first, that meet at one subject.

use ttlspec_model::{Millis, Spec};

use crate::values::Source;

pub mod mongodb;
mod simpler;
mod world;

pub use world::World;

/// What may be tried with one system.
pub trait Alphabet: Spec {
    /// All reads. They are asked after each move, so that a difference is seen at the step that
    /// made it.
    fn questions(config: &Self::Config) -> Vec<Self::Op>;

    /// Operations that are simpler than `op` and of its kind, the simplest first. From any
    /// operation on, this ends.
    fn simpler(op: &Self::Op) -> Vec<Self::Op>;

    /// Any configuration.
    fn any_config(source: &mut dyn Source) -> Self::Config;

    /// Any operation, and its instant.
    fn any_step(source: &mut dyn Source, config: &Self::Config) -> (Millis, Self::Op);

    /// Small worlds at one configuration.
    fn worlds(config: &Self::Config) -> Vec<World<Self>>;
}
