//! What may be tried?
//!
//! Per system there is one alphabet. From it the seeded runner draws, libFuzzer indexes and the
//! model checker enumerates; lockstep asks its questions after each move, and makes a difference
//! smaller by its simpler operations.
//!
//! There are three sizes. [`Alphabet::any_step`] is any operation at all. A [`World`] is a small list
//! of moves, simplest first, that meet at one subject. A [`Alphabet::Course`] lies between them: any
//! operations, drawn so that one follows on the other.

use std::fmt::Debug;

use ttlspec_model::{Millis, Spec};

use crate::values::Source;

pub(crate) mod cassandra;
pub mod mongodb;
mod world;

pub use world::World;

/// The moves of one script, drawn one by one.
#[derive(Clone, Debug)]
pub struct Drawing<V: Alphabet> {
    /// How the system is set up.
    pub config: V::Config,
    from: From<V>,
}

/// What a script is drawn from.
#[derive(Clone, Debug)]
enum From<V: Alphabet> {
    /// Anything at all.
    Steps,
    /// The moves of a small world. The first so many of them are how it begins.
    World(World<V>, usize),
    /// A course.
    Course(V::Course),
}

impl<V: Alphabet> Drawing<V> {
    /// Every other script follows a course. Of the others, mostly anything at all is drawn; one in
    /// `in_worlds` has the few moves of a small world, which meet more often.
    pub fn begin(source: &mut dyn Source, in_worlds: usize) -> Drawing<V> {
        let config = V::any_config(source);
        let chosen = source.choose(2 * in_worlds);
        if chosen % 2 == 1
            && let Some((config, course)) = V::any_course(source)
        {
            return Drawing { config, from: From::Course(course) };
        }
        let is_in_world = chosen / 2 + 1 == in_worlds;
        let mut worlds = if is_in_world { V::worlds(&config) } else { Vec::new() };
        let at = source.choose(worlds.len().max(1));
        if at >= worlds.len() {
            return Drawing { config, from: From::Steps };
        }
        let world = worlds.swap_remove(at);
        Drawing { config: world.config.clone(), from: From::World(world, 0) }
    }

    /// How many moves a script has: those that follow on each other come further together.
    pub fn length(&self, source: &mut dyn Source) -> u64 {
        let least = if matches!(self.from, From::Course(_)) { 30 } else { 20 };
        least + source.choose(21) as u64
    }

    /// One move.
    pub fn step(&mut self, source: &mut dyn Source) -> (Millis, V::Op) {
        match &mut self.from {
            From::Steps => V::any_step(source, &self.config),
            From::World(world, done) => {
                *done += 1;
                let begun = world.begins.get(*done - 1).cloned();
                begun.unwrap_or_else(|| world.step(source))
            }
            From::Course(course) => V::step_on(course, source),
        }
    }
}

/// What may be tried with one system.
pub trait Alphabet: Spec {
    /// What a script has come to whose steps follow on each other.
    type Course: Clone + Debug;

    /// All reads. They are asked after each move, so that a difference is seen at the step that
    /// made it.
    fn questions(config: &Self::Config, state: &Self::State) -> Vec<Self::Op>;

    /// Operations that are simpler than `op` and of its kind, the simplest first. From any
    /// operation on, this ends.
    fn simpler(op: &Self::Op) -> Vec<Self::Op>;

    /// Any configuration.
    fn any_config(source: &mut dyn Source) -> Self::Config;

    /// Any operation, and its instant.
    fn any_step(source: &mut dyn Source, config: &Self::Config) -> (Millis, Self::Op);

    /// A course of which nothing is drawn yet, and how the system is set up for it; `None` where the
    /// system has none.
    fn any_course(source: &mut dyn Source) -> Option<(Self::Config, Self::Course)>;

    /// The next operation of a course, and its instant.
    fn step_on(course: &mut Self::Course, source: &mut dyn Source) -> (Millis, Self::Op);

    /// Does an engine play it? Where a rule of the book is switched off, the specification is walked
    /// alone.
    fn is_played(_: &Self::Config) -> bool {
        true
    }

    /// Small worlds at one configuration.
    fn worlds(config: &Self::Config) -> Vec<World<Self>>;
}
