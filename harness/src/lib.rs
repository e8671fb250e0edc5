//! Holds any engine against the book: vectors, lockstep and shrinking.
//!
//! A third party brings one closure, which opens its [`Engine`](ttlspec_model::Engine) for a
//! configuration. The harness never depends on an engine of ours.
//!
//! | question | module |
//! |---|---|
//! | What was done, and when? | [`script`] |
//! | How is it written down? | [`notation`] |
//! | What must be answered, and by which rule? | [`vector`] |
//! | What may be tried? | [`alphabet`] |
//! | Where does an engine first differ? | [`lockstep`] |
//! | Does it differ anywhere in many scripts? | [`seeded`] |
//! | What breaks where a rule is broken? | [`mutants`] |
//! | What holds each rule? | [`coverage`] |
//! | What do a fuzzer's bytes stand for? | [`fuzzing`] |
//! | What must there be of a system for all this? | [`system`] |
//!
//! What belongs to one system stands, in each of them, in a module of its name.

pub mod alphabet;
pub mod check;
pub mod coverage;
pub mod fuzzing;
pub mod lockstep;
pub mod mutants;
pub mod notation;
pub mod properties;
pub mod recording;
pub mod script;
pub mod seeded;
pub mod system;
pub mod values;
pub mod vector;

mod text;

#[cfg(test)]
mod toy;

pub use alphabet::Alphabet;
pub use lockstep::Counterexample;
pub use notation::Notation;
pub use script::Script;
pub use system::System;
pub use vector::Vector;

/// The page on plugging in an engine, so that its example is run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/your-engine.md")]
pub struct YourEngine;
