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

/// The moves of one script, drawn one by one.
#[derive(Clone, Debug)]
pub struct Drawing<V: Alphabet> {
    /// How the system is set up.
    pub config: V::Config,
    world: Option<World<V>>,
}

impl<V: Alphabet> Drawing<V> {
    /// Mostly anything at all is drawn; one script in `in_worlds` has the few moves of a small world,
    /// which meet more often.
    pub fn begin(source: &mut dyn Source, in_worlds: usize) -> Drawing<V> {
        let config = V::any_config(source);
        let is_in_world = source.choose(in_worlds) + 1 == in_worlds;
        let mut worlds = if is_in_world { V::worlds(&config) } else { Vec::new() };
        let at = source.choose(worlds.len().max(1));
        let world = (at < worlds.len()).then(|| worlds.swap_remove(at));
        Drawing { config: world.as_ref().map_or(config, |world| world.config.clone()), world }
    }

    /// One move.
    pub fn step(&self, source: &mut dyn Source) -> (Millis, V::Op) {
        match &self.world {
            Some(world) => world.step(source),
            None => V::any_step(source, &self.config),
        }
    }
}

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
