//! What must hold of MongoDB, whatever the documents?
//!
//! [`keys_agree`] and [`filter_agrees`] hold parts of an engine against the same parts of the
//! specification, one document at a time.

use ttlspec_model::mongodb::MongoDb;

use super::{Held, properties};

mod case;
mod expiry;
mod index;
mod order;
mod stateless;

pub use case::{Case, case};
pub use stateless::{filter_agrees, keys_agree};

properties! {
    MongoDb;

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
