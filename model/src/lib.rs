//! The specification: what expires, when, and by which rule.
//!
//! Everything here is a pure function of its arguments. `now` comes in; nothing else is read. The
//! chapters of the book are the documentation of the modules that decide by them: begin with
//! [`mongodb::life`].
//!
//! With the `semantics` feature off only the words are left: how a system is configured, asked and
//! answered. The optimized engines build against the words alone, so that they cannot agree with
//! the specification by calling it.

#[cfg(feature = "semantics")]
pub mod book;
pub mod cassandra;
pub mod engine;
pub mod mongodb;
pub mod ruling;
pub mod time;

pub use engine::{Data, Engine, Unsupported, Vocabulary};
pub use ruling::{Rule, Ruling};
pub use time::Millis;

#[cfg(feature = "semantics")]
pub use engine::{Reference, Spec, Step};
