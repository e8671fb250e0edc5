//! Which laws does the book of MongoDB have, and where do their premises occur?
//!
//! Each is told once more here, from the documents and the stored specifications, and with as little
//! of the deciding code as can be: dates are read off the documents, and thresholds are added up in
//! 128 bits.

use ttlspec_model::mongodb::{MongoDb, code};

use super::Law;

mod expiry;
mod index;
mod nan;
mod see;

use expiry::*;
use index::*;
use nan::*;

macro_rules! laws {
    ($($(#[doc = $sentence:literal])* $name:ident = $rule:literal, $always:expr, $sometimes:expr;)*) => {
        $(
            $(#[doc = $sentence])*
            pub(super) static $name: Law<MongoDb> = Law {
                rule: $rule,
                premise: concat!($rule, ": occurs"),
                sentence: concat!($($sentence),*),
                always: $always,
                sometimes: $sometimes,
            };
        )*

        /// All of them.
        #[cfg(test)]
        static ALL: &[&Law<MongoDb>] = &[$(&$name),*];
    };
}

laws! {
    /// No pass deletes a document before a date of it, and the lifetime, have passed.
    BEFORE = "mongodb.threshold.before", never_early, something_is_pending;
    /// A pass deletes every document whose date, and the lifetime, have passed: at that instant too.
    FROM = "mongodb.threshold.from", never_late, something_is_due_this_instant;
    /// A second pass at the same instant deletes nothing.
    ALL_AT_ONCE = "mongodb.pass.all", the_second_pass_finds_nothing, something_is_deleted;
    /// Deletions go by index, then by date, then by age.
    ORDER = "mongodb.pass.order", by_date_then_age, the_younger_goes_first;
    /// A document without a date stays.
    TYPE = "mongodb.date.type", no_date_no_deletion, a_dateless_document_outlives_another;
    /// The smallest date of an array decides, so no document keeps an expired one.
    EARLIEST = "mongodb.date.earliest", no_expired_date_is_left, a_later_date_goes_along;
    /// A document outside the filter stays.
    OUTSIDE = "mongodb.filter.outside", outside_is_safe, something_due_is_outside;
    /// Without a TTL index nothing is deleted.
    PLAIN = "mongodb.index.plain", no_ttl_no_deletion, something_old_has_no_ttl;
    /// Hiding an index changes nothing about what it deletes.
    HIDDEN = "mongodb.index.hidden", |walk, seen| flag_is_inert(walk, seen, "hidden"),
        |walk, seen| flagged_index_deletes(walk, seen, "hidden");
    /// A sparse index deletes what it would delete if it were not sparse.
    SPARSE = "mongodb.index.sparse", |walk, seen| flag_is_inert(walk, seen, "sparse"),
        |walk, seen| flagged_index_deletes(walk, seen, "sparse");
    /// A unique index deletes what it would delete if it were not unique.
    UNIQUE = "mongodb.index.unique", |walk, seen| flag_is_inert(walk, seen, "unique"),
        |walk, seen| flagged_index_deletes(walk, seen, "unique");
    /// A descending index deletes what it would delete if it were ascending.
    DIRECTION = "mongodb.index.direction", direction_is_inert, a_descending_index_deletes;
    /// A pass deletes what each index alone would delete, and no more.
    ANY_INDEX = "mongodb.life.any-index", the_union_of_each_alone, both_indexes_delete_alone;
    /// A document is deleted whole, or it stays as it is.
    WHOLE = "mongodb.life.whole", whole_or_as_it_was, something_stays_and_something_goes;
    /// What one instant deletes, a later one deletes too.
    CLOCK = "mongodb.life.clock", later_deletes_no_less, later_deletes_more;
    /// Reads find every document, expired or not.
    UNTIL_PASS = "mongodb.visibility.until-pass", reads_find_all, reads_find_the_expired;
    /// No two documents have one `_id`.
    ID_TAKEN = "mongodb.visibility.id-taken", ids_are_different, two_documents;
    /// No two documents have one key in a unique index.
    KEY_TAKEN = "mongodb.visibility.key-taken", unique_keys_are_different, unique_beside_two;
    /// No two indexes have one name.
    SAME_NAME = "mongodb.index.same-name", names_are_different, two_indexes;
    /// What createIndexes stores lies from 0 to 2147483647.
    INT32 = "mongodb.index.int32", stored_seconds_are_valid, a_ttl_index;
    /// A negative lifetime deletes before the date has come, and not earlier than it says.
    NEGATIVE = "mongodb.threshold.negative", never_early, deleted_in_advance;
    /// A stored NaN deletes nothing, and is reported.
    NAN_SKIPPED = "mongodb.nan.skipped", |walk, seen| nan_is_reported(walk, seen, LOG_VALUES),
        nan_beside_something_old;
    /// A stored NaN deletes what 0 would delete.
    NAN_ZERO = "mongodb.nan.zero", nan_is_zero, nan_deletes;
    /// A stored NaN fails the visit, and deletes nothing.
    NAN_OVERFLOWS = "mongodb.nan.overflows",
        |walk, seen| nan_is_reported(walk, seen, &[code::DURATION_OVERFLOW]),
        nan_beside_something_old;
    /// createIndexes stores no NaN: it stores 2147483647 for it.
    NAN_STORED_AS_MAX = "mongodb.nan.stored-as-max", creation_adds_no_nan, creation_adds_the_maximum;
    /// createIndexes refuses NaN, and nothing changes.
    NAN_REFUSED = "mongodb.nan.refused", creation_of_nan_changes_nothing, no_index_is_there;
    /// A TTL index on a capped collection deletes nothing.
    CAPPED_INERT = "mongodb.index.capped-inert", capped_is_safe, capped_has_something_old;
    /// A TTL index on a capped collection deletes what it would delete in a plain one.
    CAPPED_WORKS = "mongodb.index.capped-works", capped_is_as_plain, capped_deletes;
    /// A view holds no document.
    VIEW = "mongodb.index.view", views_are_empty, a_view;
    /// An index that is hashed, or over several fields, deletes nothing and is reported.
    METHOD = "mongodb.pass.method", unusable_is_reported, something_unusable;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_named_for_a_rule() {
        for law in ALL {
            assert!(ttlspec_model::Rule::named(law.rule).is_some(), "no rule `{}`", law.rule);
        }
    }
}
