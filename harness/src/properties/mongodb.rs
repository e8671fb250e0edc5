//! What must hold of any engine, whatever the documents?
//!
//! A [`Property`] says how an answer changes when the question does: other order, other clock, one
//! document more. It needs no specification to compare with, and finds what both have wrong. Each is
//! a named function of a [`Case`] and of the engine that is asked; proptest draws cases and shrinks
//! them, the bulk runner draws them from a seed ([`Property::run`]).
//!
//! [`keys_agree`] and [`filter_agrees`] hold parts of an engine against the same parts of the
//! specification, one document at a time.

use std::fmt;

use ttlspec_model::mongodb::MongoDb;

use crate::check::Opener;
use crate::values::{Seeded, Source};

mod case;
mod expiry;
mod index;
mod order;
mod stateless;

pub use case::{Case, case};
pub use stateless::{filter_agrees, keys_agree};

/// What must hold, in one sentence, and how that is found out.
#[derive(Clone, Copy)]
pub struct Property {
    /// The name.
    pub name: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// Does it hold in this case?
    pub check: fn(&Case, &Opener<MongoDb>) -> Held,
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
pub struct Tally {
    /// Its name.
    pub name: &'static str,
    /// In how many cases it holds.
    pub held: u64,
    /// Of how many it says nothing.
    pub not_there: u64,
    /// The first case in which it does not hold, and how.
    pub failure: Option<(Case, String)>,
}

macro_rules! properties {
    ($($(#[doc = $sentence:literal])* $name:literal = $check:path;)*) => {
        /// All of them.
        pub const PROPERTIES: &[Property] = &[$(Property {
            name: $name,
            sentence: concat!($($sentence),*),
            check: $check,
        }),*];
    };
}

properties! {
    /// In which order documents are inserted does not decide which of them die.
    "insert-order" = order::of_inserts;
    /// A document dies or lives as if it were alone.
    "each-alone" = order::each_alone;
    /// A second pass at the same instant deletes nothing.
    "pass-split" = order::pass_split;
    /// Reads between the moves change nothing.
    "reads" = order::reads;
    /// What one pass deletes, a later one deletes too, if it is the first.
    "later-pass" = order::later_pass;
    /// A pass before another deletes a part of what both delete, and the rest is left to the other.
    "early-pass" = order::early_pass;
    /// Those that do not die are found, in the order in which they came.
    "survivors" = order::survivors;
    /// A document that is replaced by itself lives no longer and no shorter.
    "replace-by-itself" = order::replace_by_itself;
    /// Moving all dates and the clock by the same span changes nothing.
    "time-shift" = expiry::time_shift;
    /// With a longer lifetime no document dies sooner.
    "longer-lifetime" = expiry::longer_lifetime;
    /// A non-date in an array of dates changes nothing.
    "non-date-in-array" = expiry::non_date_in_array;
    /// One more date in an array lets the document die sooner, or as before.
    "date-in-array" = expiry::date_in_array;
    /// The order of an array does not decide.
    "array-order" = expiry::array_order;
    /// What stands under a field that no index and no filter names does not decide.
    "other-fields" = expiry::other_fields;
    /// An empty filter is no filter.
    "empty-filter" = expiry::empty_filter;
    /// With a filter no document dies that would live without.
    "filter-narrows" = expiry::filter_narrows;
    /// A hidden index deletes what it would delete if it were not.
    "hidden" = index::hidden;
    /// A sparse index deletes what it would delete if it were not.
    "sparse" = index::sparse;
    /// A unique index deletes what it would delete if it were not.
    "unique" = index::unique;
    /// A descending index deletes what an ascending one does.
    "direction" = index::direction;
    /// Two indexes delete what each alone would delete, and no more.
    "two-indexes" = index::two_indexes;
    /// In which order indexes are made does not decide which documents die.
    "index-order" = index::order;
    /// An index that was dropped and made again deletes what it did before.
    "re-creation" = index::re_creation;
    /// An index made before the documents deletes what one made after them does.
    "index-first" = index::first_or_last;
}

impl Property {
    /// Draws so many cases from `seed`, the same each time, and stops at the first that fails.
    pub fn run(&self, seed: u64, cases: u64, open: &Opener<MongoDb>) -> Tally {
        let mut source = Seeded::new(seed);
        let mut tally = Tally { name: self.name, held: 0, not_there: 0, failure: None };
        for _ in 0..cases {
            let case = case(&mut source as &mut dyn Source);
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

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.sentence)
    }
}
