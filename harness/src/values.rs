//! Which values are worth trying?
//!
//! Each generator is one definition, a function of a [`Source`] of choices. The seeded runner brings
//! [`Seeded`], libFuzzer its [`Unstructured`](arbitrary::Unstructured), and proptest [`Drawn`], which
//! shrinks the choices and so the value. Alternatives stand simplest first, and choice 0 never leads
//! deeper: whatever runs out of choices ends, small.
//!
//! Here is what all systems share: choices, instants and dates. The words of one system are in the
//! module that bears its name.

pub mod cassandra;
pub mod mongodb;

mod instant;
mod source;
mod strategy;

pub use instant::{NOW, SECONDS, date, instant};
pub use source::{
    Generator, Recorded, Replayed, Seeded, Source, chance, count, one_of, pick, weigh,
};
pub use strategy::{Drawn, DrawnTree, drawn};
