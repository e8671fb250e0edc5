//! What must hold of any engine, whatever it is asked?
//!
//! A [`Property`] says how an answer changes when the question does: other order, other clock, one
//! document more. It needs no specification to compare with, and finds what both have wrong. Each is
//! a named function of a [case](System::Case) and of the engine that is asked; proptest draws cases
//! and shrinks them, the bulk runner draws them from a seed ([`Property::run`]).

use std::fmt;

use crate::check::Opener;
use crate::system::System;
use crate::values::Seeded;

pub mod cassandra;
pub mod mongodb;

/// What must hold, in one sentence, and how that is found out.
#[derive(Clone, Copy)]
pub struct Property<V: System> {
    /// The name.
    pub name: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// Does it hold in this case?
    pub check: fn(&V::Case, &Opener<V>) -> Held,
}

/// What became of a property in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It holds.
    Yes,
    /// It says nothing of this case.
    NotThere,
    /// It does not hold: what was expected, then what was found.
    No(String),
}

/// How a property fared in many cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally<V: System> {
    /// Its name.
    pub name: &'static str,
    /// In how many cases it holds.
    pub held: u64,
    /// Of how many it says nothing.
    pub not_there: u64,
    /// The first case in which it does not hold, and how.
    pub failure: Option<(V::Case, String)>,
}

/// The properties of a system: `/// sentence`, then `"name" = check;`.
macro_rules! properties {
    ($system:ty; $($(#[doc = $sentence:literal])* $name:literal = $check:path;)*) => {
        /// All of them.
        pub const PROPERTIES: &[$crate::properties::Property<$system>] =
            &[$($crate::properties::Property {
                name: $name,
                sentence: concat!($($sentence),*),
                check: $check,
            }),*];
    };
}
pub(crate) use properties;

impl<V: System> Property<V> {
    /// Draws so many cases from `seed`, the same each time, and stops at the first that fails.
    pub fn run(&self, seed: u64, cases: u64, open: &Opener<V>) -> Tally<V> {
        let mut source = Seeded::new(seed);
        let mut tally = Tally { name: self.name, held: 0, not_there: 0, failure: None };
        for _ in 0..cases {
            let case = V::any_case(&mut source);
            match (self.check)(&case, open) {
                Held::Yes => tally.held += 1,
                Held::NotThere => tally.not_there += 1,
                Held::No(how) => {
                    tally.failure = Some((case, how));
                    break;
                }
            }
        }
        tally
    }
}

impl<V: System> fmt::Debug for Property<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.sentence)
    }
}
