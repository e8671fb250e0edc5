//! Mutants of `mongodb.threshold.*`.

use bson::Bson;
use ttlspec_model::mongodb::code;
use ttlspec_model::mongodb::number::{Decimal, cast_long, is_nan, safe_long};
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::{Millis, Rule};

use super::sweep::{RIGHT, Sweep, right_expiry, right_use};
use super::{Mistake, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    sweeps(
        Rule::MongodbThresholdFrom,
        "sweeps one millisecond late",
        Sweep {
            expired: |date, lifetime_ms, now| right_expiry(date, lifetime_ms, now.minus_millis(1)),
            ..RIGHT
        },
    )
    .seen("pg_documentdb 0.106", "the cutoff test is strictly less than"),
    sweeps(
        Rule::MongodbThresholdBefore,
        "sweeps one millisecond early",
        Sweep {
            expired: |date, lifetime_ms, now| right_expiry(date, lifetime_ms, now.plus_millis(1)),
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdWholeSeconds,
        "half a second of a lifetime counts",
        Sweep {
            usable: |version, kind, index| match (right_use(version, kind, index), index.seconds())
            {
                (Use::Lifetime(_), Some(Bson::Double(seconds))) if seconds.fract() != 0.0 => {
                    Use::Lifetime((seconds * 1_000.0) as i64)
                }
                (right, _) => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdHalfEven,
        "a decimal is cut off at the point",
        Sweep {
            usable: |version, kind, index| match (right_use(version, kind, index), index.seconds())
            {
                (Use::Lifetime(right), Some(Bson::Decimal128(bits))) => {
                    Use::Lifetime(cut_off(Decimal::read(bits)).unwrap_or(right))
                }
                (right, _) => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdCast,
        "a double that does not fit is read as the largest integer of 32 bits",
        Sweep {
            usable: |version, kind, index| match index.seconds() {
                Some(seconds)
                    if version.conversion_is_a_cast()
                        && !is_nan(seconds)
                        && cast_long(seconds) != safe_long(seconds)
                        && right_use(version, kind, index) == OVERFLOWS =>
                {
                    Use::Lifetime(i64::from(i32::MAX) * 1_000)
                }
                _ => right_use(version, kind, index),
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdNegative,
        "a negative lifetime is none",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Lifetime(lifetime_ms) => Use::Lifetime(lifetime_ms.max(0)),
                right => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdOverflow,
        "a lifetime that does not fit wraps around",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                OVERFLOWS if !index.seconds().is_some_and(is_nan) => {
                    let seconds = index.seconds().map_or(0, safe_long);
                    Use::Lifetime(seconds.wrapping_mul(1_000))
                }
                right => right,
            },
            ..RIGHT
        },
    )
    .seen("SERVER-56676", "the monitor did not handle numbers of seconds out of range before 5.0"),
    sweeps(
        Rule::MongodbThresholdEnds,
        "the threshold wraps around at the ends of time",
        Sweep {
            expired: |date, lifetime_ms, now| date.0 <= now.0.wrapping_sub(lifetime_ms),
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbThresholdEnds,
        "dates before 1970 never expire",
        Sweep {
            expired: |date, lifetime_ms, now| {
                date >= Millis(0) && right_expiry(date, lifetime_ms, now)
            },
            ..RIGHT
        },
    )
    .seen(
        "SERVER-38442",
        "the smallest date that the server could name was that of 1970 before 4.2",
    ),
];

const OVERFLOWS: Use = Use::Skip(code::DURATION_OVERFLOW);

/// The milliseconds in the whole seconds of a decimal that has digits behind its point.
fn cut_off(decimal: Decimal) -> Option<i64> {
    let Decimal::Finite(number) = decimal else { return None };
    let places = u32::try_from(-number.exponent).ok().filter(|places| *places > 0)?;
    let whole = number.coefficient / 10u128.checked_pow(places)?;
    let signed = i64::try_from(whole).ok()? * if number.negative { -1 } else { 1 };
    signed.checked_mul(1_000)
}
