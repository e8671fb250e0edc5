//! Mutants of `mongodb.nan.*`.

use bson::Bson;
use ttlspec_model::mongodb::index::{Index, SECONDS};
use ttlspec_model::mongodb::nan::{REPAIRED, is_valid};
use ttlspec_model::mongodb::number::{is_nan, safe_long};
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::version::{Listing, NanAtVisit};
use ttlspec_model::mongodb::{Listed, Op, Reply, Value, Version, Via, code};
use ttlspec_model::{Millis, Rule};

use super::server::{Server, asked, with};
use super::sweep::{RIGHT, Sweep, right_use};
use super::{Mistake, creates, modifies, step, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    creates(
        Rule::MongodbNanRefused,
        "NaN is still made 2147483647 from 7.0 on",
        |server, now, spec| match spec.get(SECONDS) {
            Some(seconds) if is_nan(seconds) && server.version.nan_is_refused() => {
                server.create(now, with(spec, SECONDS, REPAIRED))
            }
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(
        Rule::MongodbNanStoredAsMax,
        "NaN is stored as it is where it should be repaired",
        |server, now, spec| {
            let repairs = server.version.nan_is_stored_as_max();
            server.create_then(now, spec, |stored| {
                if let Some(seconds) =
                    spec.get(SECONDS).filter(|seconds| repairs && is_nan(seconds))
                {
                    stored.insert(SECONDS, seconds);
                }
            })
        },
    )
    .seen("SERVER-68477", "NaN was stored as given before 5.0.14 and 6.0.2"),
    creates(Rule::MongodbNanKept, "NaN is made 2147483647 before 5.0.14", |server, now, spec| {
        let keeps = !server.version.nan_is_stored_as_max();
        server.create_then(now, spec, |stored| {
            if keeps && stored.get(SECONDS).is_some_and(is_nan) {
                stored.insert(SECONDS, REPAIRED);
            }
        })
    }),
    sweeps(
        Rule::MongodbNanOverflows,
        "NaN is cast to 0",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Skip(code::DURATION_OVERFLOW) if has_nan(index) => Use::Lifetime(0),
                right => right,
            },
            ..RIGHT
        },
    )
    .seen("SERVER-68359", "before 5.0 the processor decided what NaN is cast to"),
    sweeps(
        Rule::MongodbNanZero,
        "NaN is skipped by 5.0.0 to 5.0.13 and 6.0.0 to 6.0.1",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Lifetime(_) if has_nan(index) => Use::Skip(22542),
                right => right,
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbNanSkipped,
        "NaN is read as 0 by all versions",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Skip(_)
                    if has_nan(index)
                        && version.nan_at_visit() == NanAtVisit::Skipped
                        && index.path().is_some() =>
                {
                    Use::Lifetime(0)
                }
                right => right,
            },
            ..RIGHT
        },
    )
    .seen("SERVER-68477", "5.0.0 to 5.0.13 and 6.0.0 to 6.0.1 deleted everything up to now"),
    modifies(Rule::MongodbNanCollMod, "collMod refuses NaN", |server, now, command| {
        let state = server.state.clone();
        match server.modify(now, command.clone()) {
            Reply::Modified { .. } if asked(command).is_some_and(is_nan) => {
                server.state = state;
                Reply::Error(code::INVALID_OPTIONS)
            }
            right => right,
        }
    }),
    modifies(Rule::MongodbNanCollMod, "collMod makes 2147483647 of NaN", |server, now, command| {
        let is_nan = asked(command).is_some_and(is_nan);
        server.modify_as(now, command, |index| {
            if is_nan {
                index.insert(SECONDS, REPAIRED);
            }
        })
    }),
    step(Rule::MongodbNanListedAsStored, "NaN is listed as 0 before 5.0", |server, now, op| {
        lists(server, now, op, |version, stored| {
            let is_wrong = version.listing() == Listing::AsStored && is_nan(stored);
            is_wrong.then_some(Bson::Int32(0))
        })
    })
    .seen("SERVER-56676", "listIndexes told 0 for NaN, which members that joined then stored"),
    step(
        Rule::MongodbNanListedAsInt32,
        "seconds are listed as they are stored from 5.0 on",
        |server, now, op| {
            lists(server, now, op, |version, stored| {
                let is_wrong = version.listing() != Listing::AsStored && is_valid(stored);
                is_wrong.then(|| stored.clone())
            })
        },
    ),
    step(
        Rule::MongodbNanListedAsMax,
        "NaN is listed as 0 by all versions from 5.0 on",
        |server, now, op| {
            lists(server, now, op, |version, stored| {
                let is_wrong = version.listing() != Listing::AsStored && is_nan(stored);
                is_wrong.then_some(Bson::Int32(0))
            })
        },
    )
    .seen("SERVER-68477", "5.0.0 to 5.0.13 and 6.0.0 to 6.0.1 listed NaN as 0"),
    step(Rule::MongodbNanUpgraded, "an upgrade repairs NaN", |server, now, op| match op {
        Op::Arrive { index, via: via @ (Via::Upgraded | Via::Downgraded), from }
            if index.get(SECONDS).is_some_and(is_nan) =>
        {
            let index = with(index, SECONDS, REPAIRED).into();
            server.right(now, &Op::Arrive { index, via: *via, from: *from })
        }
        _ => server.right(now, op),
    }),
    step(
        Rule::MongodbNanSynced,
        "a member that joins stores what its source has stored",
        |server, now, op| arrives(server, now, op, Via::Synced, Via::Upgraded),
    ),
    step(Rule::MongodbNanRestored, "a restore takes whatever the dump holds", |server, now, op| {
        arrives(server, now, op, Via::Restored, Via::Upgraded)
    }),
    step(Rule::MongodbNanRestored, "a restore keeps the versions of indexes", |server, now, op| {
        match op {
            Op::Arrive { index, .. } if index.contains_key("v") => {
                arrives(server, now, op, Via::Restored, Via::Created)
            }
            _ => server.right(now, op),
        }
    }),
    step(
        Rule::MongodbNanFatal,
        "5.0.11 to 5.0.13 start with NaN in the catalog",
        |server, now, op| match (op, server.would(now, op)) {
            (Op::Arrive { index, via, .. }, Reply::Fatal(_)) => {
                let from = Version::new(5, 0, 0);
                server.right(now, &Op::Arrive { index: index.clone(), via: *via, from })
            }
            _ => server.right(now, op),
        },
    )
    .seen("SERVER-68522", "before 5.0.11 a server started with NaN in its catalog, and deleted"),
    sweeps(
        Rule::MongodbNanMaxIsNotNever,
        "2147483647 means never",
        Sweep {
            usable: |version, kind, index| match (right_use(version, kind, index), index.seconds())
            {
                (Use::Lifetime(_), Some(seconds))
                    if !is_nan(seconds) && safe_long(seconds) == i64::from(i32::MAX) =>
                {
                    Use::Nothing
                }
                (right, _) => right,
            },
            ..RIGHT
        },
    ),
];

fn has_nan(index: &Index) -> bool {
    index.seconds().is_some_and(is_nan)
}

/// A right listIndexes, but that some stored seconds are shown in another way.
fn lists(
    server: &mut Server,
    now: Millis,
    op: &Op,
    show: fn(Version, &Bson) -> Option<Bson>,
) -> Reply {
    let mut reply = server.right(now, op);
    let Reply::Indexes(listed) = &mut reply else { return reply };
    for (Listed { seconds, .. }, index) in listed.iter_mut().zip(server.indexes()) {
        let shown = index.seconds().and_then(|stored| show(server.version, stored));
        if let Some(shown) = shown {
            *seconds = Some(Value(shown));
        }
    }
    reply
}

/// What arrives in one way is taken for what arrives in another.
fn arrives(server: &mut Server, now: Millis, op: &Op, one: Via, other: Via) -> Reply {
    match op {
        Op::Arrive { index, via, from } if *via == one => {
            server.right(now, &Op::Arrive { index: index.clone(), via: other, from: *from })
        }
        _ => server.right(now, op),
    }
}
