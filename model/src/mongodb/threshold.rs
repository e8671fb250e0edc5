#![doc = include_str!("../../../specs/mongodb/3-threshold.md")]
//! ---
//! *Module:* from which instant on is a date expired?

use bson::Bson;

use super::nan;
use super::number::{cast_long, is_nan, safe_long};
use super::version::Version;
use crate::ruling::{By, Rule, Ruling};
use crate::time::{Millis, seconds_as_millis};

/// What a date has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expiry {
    /// The instant at which it would expire lies beyond the end of time.
    Never,
    /// It expires then.
    Pending(Millis),
    /// It expired then.
    Expired(Millis),
}

/// Has `date` reached its threshold at `now`, with `lifetime_ms` between them?
pub fn expiry(date: Millis, lifetime_ms: i64, now: Millis) -> Ruling<Expiry> {
    let at_an_end = now.0.checked_sub(lifetime_ms).is_none();
    let ruling = match date.0.checked_add(lifetime_ms) {
        _ if date <= now.minus_millis(lifetime_ms) => {
            Expiry::Expired(date.plus_millis(lifetime_ms)).by(Rule::MongodbThresholdFrom)
        }
        Some(instant) => Expiry::Pending(Millis(instant)).by(Rule::MongodbThresholdBefore),
        None => Expiry::Never.by(Rule::MongodbThresholdBefore).and(Rule::MongodbThresholdEnds),
    };
    if at_an_end { ruling.and(Rule::MongodbThresholdEnds) } else { ruling }
}

/// A stored `expireAfterSeconds`, as a visit reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// In milliseconds; negative in old servers.
    Millis(i64),
    /// It does not fit: the visit fails.
    Overflows,
    /// NaN, and the server tests for it: the index is skipped.
    Skipped,
}

/// How long do dates live with this stored value, which is a number?
pub fn lifetime(version: Version, stored: &Bson) -> Ruling<Lifetime> {
    if is_nan(stored) {
        return nan::at_visit(version);
    }
    let seconds =
        if version.conversion_is_a_cast() { cast_long(stored) } else { safe_long(stored) };
    let rule = match stored {
        Bson::Decimal128(_) => Rule::MongodbThresholdHalfEven,
        _ if version.conversion_is_a_cast() && seconds != safe_long(stored) => {
            Rule::MongodbThresholdCast
        }
        _ => Rule::MongodbThresholdWholeSeconds,
    };
    match seconds_as_millis(seconds) {
        None => Lifetime::Overflows.by(rule).and(Rule::MongodbThresholdOverflow),
        Some(millis) if millis < 0 => {
            Lifetime::Millis(millis).by(rule).and(Rule::MongodbThresholdNegative)
        }
        Some(millis) => Lifetime::Millis(millis).by(rule),
    }
}
