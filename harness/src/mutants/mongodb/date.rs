//! Mutants of `mongodb.date.*`.

use bson::Bson;
use ttlspec_model::mongodb::date::Key;
use ttlspec_model::mongodb::{Op, Reply, code};
use ttlspec_model::{Millis, Rule};

use super::sweep::{RIGHT, Sweep, as_date, dates, earliest_of, earliest_with, keys, path};
use super::{Mistake, step, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    sweeps(
        Rule::MongodbDateValue,
        "a dotted path is looked up as one name of the top level",
        Sweep {
            date: |index, document| {
                let is_top = !path(index).contains('.');
                dates(index, document).into_iter().filter(|_| is_top).min()
            },
            ..RIGHT
        },
    )
    .seen(
        "mongomock 4.x",
        "only top-level fields are looked up; a dotted path silently never expires",
    ),
    sweeps(
        Rule::MongodbDateMissing,
        "a missing field counts as 1970",
        Sweep {
            date: |index, document| {
                let missing = |key: &Key| key.value.is_none().then_some(Millis(0));
                let keys = keys(index, document);
                keys.iter().filter_map(missing).chain(dates(index, document)).min()
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateArray,
        "only the first element of an array counts",
        Sweep {
            date: |index, document| {
                earliest_of(index, document, |key| {
                    !is_by(key, Rule::MongodbDateArray) || key.path.ends_with(".0")
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateArray,
        "an array never expires",
        Sweep {
            date: |index, document| {
                earliest_of(index, document, |key| !is_by(key, Rule::MongodbDateArray))
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateEmptyArray,
        "all dates of an empty array have expired",
        Sweep {
            date: |index, document| {
                let keys = keys(index, document);
                let is_empty = keys.iter().any(|key| is_by(key, Rule::MongodbDateEmptyArray));
                if is_empty { Some(Millis::MIN) } else { (RIGHT.date)(index, document) }
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateNestedArray,
        "arrays in arrays are unwound too",
        Sweep {
            date: |index, document| {
                let keys = keys(index, document);
                let nested = keys.iter().filter(|key| is_by(key, Rule::MongodbDateNestedArray));
                let inner = nested.filter_map(|key| earliest_within(key.value.as_ref()?));
                inner.chain(dates(index, document)).min()
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateThroughArray,
        "a path ends at an array in its middle",
        Sweep {
            date: |index, document| {
                earliest_of(index, document, |key| !is_by(key, Rule::MongodbDateThroughArray))
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDatePosition,
        "a number in a path names a field and no position",
        Sweep {
            date: |index, document| {
                earliest_of(index, document, |key| !is_by(key, Rule::MongodbDatePosition))
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDatePositionLast,
        "an array at the named position is unwound",
        Sweep {
            date: |index, document| {
                let keys = keys(index, document);
                let last = keys.iter().filter(|key| is_by(key, Rule::MongodbDatePositionLast));
                let inner = last.filter_map(|key| match key.value.as_ref()? {
                    Bson::Array(elements) => elements.iter().filter_map(as_date).min(),
                    _ => None,
                });
                inner.chain(dates(index, document)).min()
            },
            ..RIGHT
        },
    ),
    step(
        Rule::MongodbDateAmbiguous,
        "what is a position and a field at once is let in",
        |server, now, op| {
            let is_write = matches!(op, Op::Insert(_) | Op::Replace(_));
            let is_ambiguous = |reply| reply == Reply::Error(code::AMBIGUOUS_FIELD_IN_ARRAY);
            if !is_write || !is_ambiguous(server.would(now, op)) {
                return server.right(now, op);
            }
            let indexes = server.indexes().to_vec();
            server.right_seeing(
                now,
                op,
                |there| there.indexes.clear(),
                |there| there.indexes.clone_from(&indexes),
            )
        },
    ),
    sweeps(
        Rule::MongodbDateType,
        "a timestamp counts as a date",
        Sweep {
            date: |index, document| {
                earliest_with(index, document, |value| match value {
                    Bson::Timestamp(timestamp) => Some(Millis(i64::from(timestamp.time) * 1_000)),
                    _ => None,
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateType,
        "a string that reads as a date counts as one",
        Sweep {
            date: |index, document| {
                earliest_with(index, document, |value| {
                    let date = bson::DateTime::parse_rfc3339_str(value.as_str()?).ok()?;
                    Some(Millis(date.timestamp_millis()))
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateType,
        "a number counts as the milliseconds of a date",
        Sweep {
            date: |index, document| {
                earliest_with(index, document, |value| match value {
                    Bson::Int32(millis) => Some(Millis(i64::from(*millis))),
                    Bson::Int64(millis) => Some(Millis(*millis)),
                    Bson::Double(millis) => Some(Millis(*millis as i64)),
                    _ => None,
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateType,
        "the time in an ObjectId counts as a date",
        Sweep {
            date: |index, document| {
                earliest_with(index, document, |value| {
                    Some(Millis(value.as_object_id()?.timestamp().timestamp_millis()))
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateType,
        "null has expired",
        Sweep {
            date: |index, document| {
                earliest_with(index, document, |value| {
                    matches!(value, Bson::Null).then_some(Millis::MIN)
                })
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbDateEarliest,
        "the latest date decides",
        Sweep { date: |index, document| dates(index, document).into_iter().max(), ..RIGHT },
    ),
    sweeps(
        Rule::MongodbDateEarliest,
        "the date that stands first decides",
        Sweep { date: |index, document| dates(index, document).first().copied(), ..RIGHT },
    ),
];

fn is_by(key: &Key, rule: Rule) -> bool {
    key.because.contains(&rule)
}

/// The smallest date at any depth of arrays.
fn earliest_within(value: &Bson) -> Option<Millis> {
    match value {
        Bson::Array(elements) => elements.iter().filter_map(earliest_within).min(),
        value => as_date(value),
    }
}
