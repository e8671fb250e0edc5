#![doc = include_str!("../../../specs/mongodb/6-pass.md")]
//! ---
//! *Module:* what does one undisturbed pass of the monitor delete, and in which order?

use super::index::{Index, Kind, Method, SECONDS, seconds_allowed};
use super::life::{self, Verdict};
use super::number::{is_nan, is_number, safe_long};
use super::threshold::{Lifetime, lifetime};
use super::version::{CappedTtl, Version};
use super::visibility::Collection;
use super::words::{Reply, Skipped, Value, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// What a visit can do with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is none of the monitor's business.
    Nothing,
    /// It is skipped with this log line, or fails with this error.
    Skip(i32),
    /// Its dates live so many milliseconds.
    Lifetime(i64),
}

/// The log line "key for ttl index can only have 1 field".
const LOG_FIELDS: i32 = 22540;
/// The log line "special index can't be used as a TTL index".
const LOG_METHOD: i32 = 22541;
/// The log line about a value that is no number.
const LOG_VALUE: i32 = 22542;
/// The log line about an invalid specification.
const LOG_SPECIFICATION: i32 = 6909100;

/// Can a visit use this index? The tests stand in the server's order, which changed in 8.1.
pub fn usable(version: Version, kind: Kind, index: &Index) -> Ruling<Use> {
    let Some(seconds) = index.seconds() else {
        return Use::Nothing.by(Rule::MongodbIndexPlain);
    };
    if kind == Kind::Capped && version.capped_ttl() != CappedTtl::Works {
        return Use::Nothing.by(Rule::MongodbIndexCappedInert);
    }
    let one_field = index.stored_fields() == 1;
    let special = index.method() != Method::Ordered;
    if special && (one_field || version.visit_tests_method_first()) {
        return Use::Skip(LOG_METHOD).by(Rule::MongodbPassMethod);
    }
    if !one_field && !version.visit_tests_method_first() {
        return Use::Skip(LOG_FIELDS).by(Rule::MongodbPassFields);
    }
    if version.visit_checks_specification() {
        // No checked version of this age looks at `now`.
        let allowed = seconds_allowed(version, &index.key(), seconds, Millis::MAX);
        if allowed.verdict.is_some() {
            return allowed
                .then(|_| Use::Skip(LOG_SPECIFICATION).by(Rule::MongodbPassSpecification));
        }
    } else if !is_number(seconds) {
        return Use::Skip(LOG_VALUE).by(Rule::MongodbPassValue);
    }
    let max = !is_nan(seconds) && safe_long(seconds) == i64::from(i32::MAX);
    let usable = lifetime(version, seconds).then(|lifetime| match lifetime {
        Lifetime::Millis(millis) => Ruling::plain(Use::Lifetime(millis)),
        Lifetime::Overflows => Use::Skip(code::DURATION_OVERFLOW).by(Rule::MongodbPassError),
        Lifetime::Skipped => Use::Skip(LOG_VALUE).by(Rule::MongodbPassValue),
    });
    if max { usable.and(Rule::MongodbNanMaxIsNotNever) } else { usable }
}

/// Deletes all that is deletable at `now`: index by index, in each by date, then by age of the
/// record.
pub fn pass(version: Version, collection: &mut Collection, now: Millis) -> Ruling<Reply> {
    let mut because = vec![Rule::MongodbLifeClock, Rule::MongodbPassAll];
    let mut deleted = Vec::new();
    let mut skipped = Vec::new();
    let ttl = collection.indexes.iter().filter(|index| index.spec.contains_key(SECONDS)).count();
    for index in &collection.indexes {
        let usable = usable(version, collection.kind, index);
        because.extend(usable.because);
        match usable.verdict {
            Use::Nothing => {}
            Use::Skip(code) => {
                skipped.push(Skipped { index: index.name().to_owned(), code });
            }
            Use::Lifetime(lifetime_ms) => {
                let mut doomed = Vec::new();
                for (record, document) in &collection.documents {
                    let ruling = life::by_lifetime(version, index, document, lifetime_ms, now);
                    because.extend(ruling.because);
                    if let Verdict::Expired(_, dated) = ruling.verdict {
                        let path = index.path().expect("an index with a lifetime has one path");
                        because.extend(life::remarks(&dated, &path, ttl > 1));
                        doomed.push((dated.date, *record));
                    }
                }
                doomed.sort();
                if doomed.len() > 1 {
                    because.push(Rule::MongodbPassOrder);
                }
                for (_, record) in doomed {
                    let document = collection.documents.remove(&record).expect("it was just seen");
                    deleted.push(Value(document["_id"].clone()));
                }
            }
        }
    }
    Ruling::plain(Reply::Passed { deleted, skipped }).after(&because)
}
