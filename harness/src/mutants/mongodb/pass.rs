//! Mutants of `mongodb.pass.*`.

use bson::{Bson, doc};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::code;
use ttlspec_model::mongodb::index::{Index, Method};
use ttlspec_model::mongodb::number::{is_number, safe_long};
use ttlspec_model::mongodb::pass::Use;

use super::server::with;
use super::sweep::{RIGHT, Sweep, path, right_use};
use super::{Mistake, passes, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    sweeps(
        Rule::MongodbPassAll,
        "a visit deletes one document and leaves the rest to the next pass",
        Sweep {
            order: |index, doomed| {
                let mut doomed = (RIGHT.order)(index, doomed);
                doomed.truncate(1);
                doomed
            },
            ..RIGHT
        },
    )
    .seen("pg_documentdb 0.106", "a visit ends after a fixed number of rows, and so does the pass"),
    sweeps(
        Rule::MongodbPassOrder,
        "deletes by the age of the record and not by date",
        Sweep {
            order: |_, mut doomed| {
                doomed.sort_by_key(|(_, record)| *record);
                doomed
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbPassOrder,
        "deletes the latest date first",
        Sweep {
            order: |_, mut doomed| {
                doomed.sort_by_key(|(date, record)| (std::cmp::Reverse(*date), *record));
                doomed
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbPassOrder,
        "equal dates are deleted youngest record first",
        Sweep {
            order: |_, mut doomed| {
                doomed.sort_by_key(|(date, record)| (*date, std::cmp::Reverse(*record)));
                doomed
            },
            ..RIGHT
        },
    ),
    passes(Rule::MongodbPassOrder, "the youngest index is visited first", |server, now| {
        server.pass_seeing(now, |_, there| there.indexes.reverse())
    }),
    sweeps(
        Rule::MongodbPassFields,
        "a compound index is swept by its first field",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Skip(_) if index.method() == Method::Ordered && index.key().len() > 1 => {
                    right_use(version, kind, &ascending(index))
                }
                right => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbPassMethod,
        "a hashed index is swept as if it were in order",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Skip(_) if index.method() == Method::Special && index.key().len() == 1 => {
                    right_use(version, kind, &ascending(index))
                }
                right => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbPassValue,
        "seconds that are no number are read as 0",
        Sweep {
            usable: |version, kind, index| match (right_use(version, kind, index), index.seconds())
            {
                (Use::Skip(_), Some(seconds))
                    if !is_number(seconds)
                        && !version.visit_checks_specification()
                        && index.path().is_some() =>
                {
                    Use::Lifetime(0)
                }
                (right, _) => right,
            },
            ..RIGHT
        },
    )
    .seen("SERVER-11194", "before 2.4.9 seconds that were no number deleted all up to now"),
    sweeps(
        Rule::MongodbPassSpecification,
        "a visit takes the seconds as they are",
        Sweep {
            usable: |version, kind, index| match (right_use(version, kind, index), index.seconds())
            {
                (Use::Skip(_), Some(seconds))
                    if version.visit_checks_specification() && index.path().is_some() =>
                {
                    Use::Lifetime(safe_long(seconds).saturating_mul(1_000))
                }
                (right, _) => right,
            },
            ..RIGHT
        },
    ),
    passes(Rule::MongodbPassError, "an index that fails ends the pass", |server, now| {
        server.pass_seeing(now, |server, there| {
            let (version, kind) = (server.version, there.kind);
            let fails = |index: &Index| {
                right_use(version, kind, index) == Use::Skip(code::DURATION_OVERFLOW)
            };
            let failing = there.indexes.iter().position(fails);
            there.indexes.truncate(failing.map_or(usize::MAX, |failing| failing + 1));
        })
    })
    .seen("pg_documentdb 0.106", "an error on one index ends the pass and starves all later ones"),
];

/// An ascending index over the first field alone.
fn ascending(index: &Index) -> Index {
    let key: Bson = doc! { path(index): 1 }.into();
    Index { spec: with(&index.spec, "key", key).into() }
}
