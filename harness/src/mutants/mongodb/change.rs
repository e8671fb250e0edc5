//! Mutants of `mongodb.change.*`.

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::index::{Index, Kind, SECONDS};
use ttlspec_model::mongodb::number::{is_number, safe_int, safe_long};
use ttlspec_model::mongodb::version::CollModRange;
use ttlspec_model::mongodb::{Op, Reply, Version, code};
use ttlspec_model::{Millis, Rule};

use super::server::{Server, asked, number, with, without};
use super::{Mistake, modifies, passes, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(Rule::MongodbChangeWrite, "an update does not move the date", |server, now, op| {
        let (Op::Replace(document), Some(there)) = (op, server.state.collection()) else {
            return server.right(now, op);
        };
        let Some(record) = there.record(&document["_id"]) else { return server.right(now, op) };
        let mut kept = document.0.clone();
        for index in there.indexes.iter().filter(|index| index.seconds().is_some()) {
            let path = index.path().unwrap_or_default();
            let top = path.split('.').next().unwrap_or_default();
            if let Some(old) = there.documents[&record].get(top) {
                kept.insert(top, old.clone());
            }
        }
        server.right(now, &Op::Replace(kept.into()))
    }),
    passes(
        Rule::MongodbChangeWrite,
        "an update leaves the old date in the calendar",
        |server, now| {
            server.pass_seeing(now, |server, there| {
                let seen = there.clone();
                for document in there.documents.values_mut() {
                    let id = document["_id"].clone();
                    let former = server.former.iter().filter(|former| former["_id"] == id);
                    let mut expired = former.filter(|former| server.is_expired(&seen, former, now));
                    if let Some(expired) = expired.next() {
                        document.0 = expired.clone();
                    }
                }
            })
        },
    ),
    step(Rule::MongodbChangeDrop, "the index on _id can be dropped", |server, now, op| {
        let reply = server.right(now, op);
        match (op, &reply) {
            (Op::DropIndex(name), Reply::Error(code::INVALID_OPTIONS)) if name == "_id_" => {
                Reply::Ok
            }
            _ => reply,
        }
    }),
    passes(Rule::MongodbChangeDrop, "a dropped index is still swept", |server, now| {
        server.pass_seeing(now, |server, there| {
            there.indexes.extend(server.dropped.iter().cloned());
        })
    }),
    step(
        Rule::MongodbChangeDropMissing,
        "dropping an index that is not there is a success",
        |server, now, op| match (op, server.right(now, op)) {
            (Op::DropIndex(_), Reply::Error(code::INDEX_NOT_FOUND)) => Reply::Ok,
            (_, right) => right,
        },
    ),
    modifies(
        Rule::MongodbChangeSeconds,
        "collMod answers, and the old seconds stay",
        |server, now, command| {
            let before = server.indexes().to_vec();
            let reply = server.modify(now, command.clone());
            for (index, before) in indexes(server).iter_mut().zip(before) {
                if let Some(seconds) = before.seconds() {
                    index.spec.0.insert(SECONDS, seconds);
                }
            }
            reply
        },
    ),
    modifies(
        Rule::MongodbChangeRequest,
        "the name decides where a key pattern is given too",
        |server, now, command| {
            server.modify_as(now, command, |index| {
                if index.contains_key("name") {
                    index.remove("keyPattern");
                }
            })
        },
    ),
    modifies(
        Rule::MongodbChangeType,
        "collMod takes a string of digits for a number",
        |server, now, command| {
            server.modify_as(now, command, |index| {
                if let Ok(Ok(seconds)) = index.get_str(SECONDS).map(str::parse::<i64>) {
                    index.insert(SECONDS, seconds);
                }
            })
        },
    ),
    modifies(Rule::MongodbChangeNull, "null is 0 seconds", |server, now, command| {
        server.modify_as(now, command, |index| {
            if index.get(SECONDS) == Some(&Bson::Null) {
                index.insert(SECONDS, 0);
            }
        })
    }),
    modifies(
        Rule::MongodbChangeClamp,
        "collMod wraps seconds beyond 32 bits around",
        |server, now, command| {
            let is_typed = server.version.collmod_is_typed();
            server.modify_as(now, command, |index| {
                let seconds = number(index.get(SECONDS)).map(safe_long);
                if let Some(seconds) = seconds.filter(|_| is_typed) {
                    index.insert(SECONDS, seconds as i32);
                }
            })
        },
    )
    .seen("pg_documentdb 0.106", "2^32 seconds become 0, and everything up to now is deleted"),
    modifies(
        Rule::MongodbChangeAnyRange,
        "negative seconds are refused before 5.1",
        |server, now, command| {
            let seconds = number(asked(command)).map(safe_long);
            let is_old = server.version.collmod_range() == CollModRange::Any;
            refuse_if(server, now, command, is_old && seconds.is_some_and(|seconds| seconds < 0))
        },
    ),
    modifies(
        Rule::MongodbChangeUntilNow,
        "the age of the epoch is no limit from 5.1 to 6.0.1",
        |server, now, command| {
            let until_now = server.version.collmod_range() == CollModRange::UntilNow;
            let version = if until_now { Version::new(6, 0, 2) } else { server.version };
            server.as_version(version, now, &Op::CollMod(command.clone().into()))
        },
    ),
    modifies(
        Rule::MongodbChangeInt32,
        "negative seconds are let in from 6.0.2 on",
        |server, now, command| {
            let is_new = server.version.collmod_range() == CollModRange::Int32;
            let seconds = number(asked(command)).map(safe_int);
            match seconds.filter(|seconds| is_new && *seconds < 0) {
                Some(seconds) => server.modify_unchecked(now, command, i64::from(seconds)),
                None => server.modify(now, command.clone()),
            }
        },
    ),
    modifies(
        Rule::MongodbChangeTarget,
        "of several indexes over one key the first is changed",
        |server, now, command| {
            let first = server.target(command).map(|at| server.indexes()[at].name().to_owned());
            match (server.modify(now, command.clone()), first) {
                (Reply::Error(code::AMBIGUOUS_KEY_PATTERN), Some(first)) => {
                    server.modify_as(now, command, |index| {
                        index.remove("keyPattern");
                        index.insert("name", first.as_str());
                    })
                }
                (right, _) => right,
            }
        },
    ),
    modifies(
        Rule::MongodbChangeTarget,
        "an index that is not there is no error",
        |server, now, command| match server.modify(now, command.clone()) {
            Reply::Error(code::INDEX_NOT_FOUND) => Reply::Modified { old: None, new: None },
            right => right,
        },
    ),
    modifies(
        Rule::MongodbChangeNoField,
        "collMod makes a TTL index of a plain one before 5.1",
        |server, now, command| {
            let is_plain = server.is_plain_target(command);
            let would_make = is_plain && !server.version.collmod_converts();
            let command = Op::CollMod(command.clone().into());
            match server.right(now, &command) {
                Reply::Error(code::INVALID_OPTIONS) if would_make => {
                    server.as_version(Version::new(6, 1, 0), now, &command)
                }
                right => right,
            }
        },
    ),
    modifies(
        Rule::MongodbChangeConvert,
        "collMod makes no TTL index of a plain one from 5.1 on",
        |server, now, command| {
            let state = server.state.clone();
            match server.modify(now, command.clone()) {
                Reply::Modified { old: None, new: Some(_) } => {
                    server.state = state;
                    Reply::Error(code::INVALID_OPTIONS)
                }
                right => right,
            }
        },
    )
    .seen("pg_documentdb 0.106", "a plain index cannot be made a TTL index"),
    modifies(
        Rule::MongodbChangeNotConvertible,
        "collMod makes a TTL index of a compound one",
        |server, now, command| {
            let at = server.target(command).filter(|_| server.is_plain_target(command));
            let compound = at.map(|at| server.indexes()[at].clone());
            match (server.modify(now, command.clone()), at, compound) {
                (Reply::Error(code::INVALID_OPTIONS), Some(at), Some(compound))
                    if compound.stored_fields() > 1 =>
                {
                    let only = with(&compound.spec, "key", doc! { "only": 1 });
                    server.collection().indexes[at] = Index { spec: only.into() };
                    let by_name = |index: &mut Document| {
                        index.remove("keyPattern");
                        index.insert("name", compound.name());
                    };
                    let reply = server.modify_as(now, command, by_name);
                    server.collection().indexes[at].spec.0.insert("key", compound.key());
                    reply
                }
                (right, _, _) => right,
            }
        },
    ),
    modifies(
        Rule::MongodbChangeWildcard,
        "collMod makes a TTL index of a wildcard index, which does nothing",
        |server, now, command| {
            let at = server.target(command);
            match (server.modify(now, command.clone()), at, number(asked(command))) {
                (Reply::Fatal(code::FATAL_AT_REBUILD), Some(at), Some(seconds)) => {
                    let new = i64::from(safe_int(seconds));
                    server.collection().indexes[at].spec.0.insert(SECONDS, new);
                    Reply::Modified { old: None, new: Some(new) }
                }
                (right, _, _) => right,
            }
        },
    ),
    modifies(
        Rule::MongodbChangeStored,
        "stored seconds that are no number are taken for 0",
        |server, now, command| {
            let at = server.target(command);
            let stored = at.and_then(|at| server.indexes()[at].seconds().cloned());
            if let (Some(at), Some(stored)) = (at, stored)
                && !is_number(&stored)
            {
                server.collection().indexes[at].spec.0.insert(SECONDS, 0);
                let reply = server.modify(now, command.clone());
                if !matches!(reply, Reply::Modified { .. }) {
                    server.collection().indexes[at].spec.0.insert(SECONDS, stored);
                }
                return reply;
            }
            server.modify(now, command.clone())
        },
    ),
    modifies(
        Rule::MongodbChangeCapped,
        "collMod takes seconds in a capped collection from 5.1 to 7.0",
        |server, now, command| {
            let kind = server.state.collection().map(|there| there.kind);
            if kind != Some(Kind::Capped) || !server.version.collmod_refuses_capped() {
                return server.modify(now, command.clone());
            }
            server.right_seeing(
                now,
                &Op::CollMod(command.clone().into()),
                |there| there.kind = Kind::Plain,
                |there| there.kind = Kind::Capped,
            )
        },
    )
    .seen(
        "SERVER-104779",
        "collMod could make a TTL index in a capped collection that could have none",
    ),
    modifies(
        Rule::MongodbChangeView,
        "a view is a collection without indexes",
        |server, now, command| {
            let kind = server.state.collection().map(|there| there.kind);
            let kind = kind.unwrap_or(Kind::Plain);
            let plain = if kind == Kind::View { Kind::Plain } else { kind };
            server.right_seeing(
                now,
                &Op::CollMod(command.clone().into()),
                |there| there.kind = plain,
                |there| there.kind = kind,
            )
        },
    ),
    modifies(
        Rule::MongodbChangeHidden,
        "hiding an index takes its seconds away",
        |server, now, command| {
            let hides = command
                .get_document("index")
                .is_ok_and(|index| index.get_bool("hidden").unwrap_or_default());
            let at = server.target(command);
            let reply = server.modify(now, command.clone());
            let hidden = at.filter(|_| hides && matches!(reply, Reply::Modified { .. }));
            if let Some(at) = hidden.filter(|_| server.version.hidden_is_known()) {
                server.collection().indexes[at].spec.0.remove(SECONDS);
            }
            reply
        },
    ),
    modifies(
        Rule::MongodbChangeHidden,
        "the index on _id can be hidden",
        |server, now, command| match server.modify(now, command.clone()) {
            Reply::Error(code::BAD_VALUE) => Reply::Modified { old: None, new: None },
            right => right,
        },
    ),
    modifies(
        Rule::MongodbChangeCollection,
        "expireAfterSeconds of a collection is accepted and does nothing",
        |server, now, command| server.modify(now, without(command, SECONDS)),
    )
    .seen("pg_documentdb 0.106", "expireAfterSeconds of a collection is accepted and ignored"),
    modifies(
        Rule::MongodbChangeAnswer,
        "collMod says nothing of seconds that stay as they are, from 4.4 on",
        |server, now, command| match server.modify(now, command.clone()) {
            Reply::Modified { old, new } if old == new => Reply::Modified { old: None, new: None },
            right => right,
        },
    ),
    modifies(
        Rule::MongodbChangeAnswerIfDifferent,
        "collMod says what stays as it is, before 4.4",
        |server, now, command| {
            let seconds = asked(command).map(safe_long);
            match server.modify(now, command.clone()) {
                Reply::Modified { old: None, new: None } => {
                    Reply::Modified { old: seconds, new: seconds }
                }
                right => right,
            }
        },
    ),
    step(
        Rule::MongodbChangeBuilding,
        "collMod does not wait for an index that is being built",
        |server, now, op| {
            let building = |server: &mut Server| {
                let there = server.state.collection_mut();
                there.map(|there| std::mem::take(&mut there.building)).unwrap_or_default()
            };
            let set_aside = match op {
                Op::CollMod(_) => building(server),
                _ => Default::default(),
            };
            let reply = server.right(now, op);
            if let Some(there) = server.state.collection_mut() {
                there.building.extend(set_aside);
            }
            reply
        },
    ),
    step(
        Rule::MongodbChangeBuilding,
        "collMod is refused only for the index that is being built",
        |server, now, op| {
            let target = match op {
                Op::CollMod(command) => server.target(command),
                _ => None,
            };
            let name = target.map(|at| server.indexes()[at].name().to_owned());
            let Some(name) = name else { return server.right(now, op) };
            let there = server.collection();
            let others =
                there.building.iter().filter(|one| **one != name).cloned().collect::<Vec<_>>();
            there.building.retain(|one| *one == name);
            let reply = server.right(now, op);
            server.collection().building.extend(others);
            reply
        },
    ),
];

/// The indexes, to be changed.
fn indexes(server: &mut Server) -> &mut [Index] {
    server.state.collection_mut().map_or(&mut [][..], |there| &mut there.indexes)
}

/// A right collMod, but that this one is refused where it would be done.
fn refuse_if(server: &mut Server, now: Millis, command: &Document, is_refused: bool) -> Reply {
    let state = server.state.clone();
    match server.modify(now, command.clone()) {
        Reply::Modified { .. } if is_refused => {
            server.state = state;
            Reply::Error(code::INVALID_OPTIONS)
        }
        right => right,
    }
}
