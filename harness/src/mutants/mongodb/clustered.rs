//! Mutants of `mongodb.clustered.*`.

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::index::Kind;
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::number::{is_number, safe_long};
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{CollectionOptions, Doc, Op, Reply, Value, Version, code};
use ttlspec_model::{Millis, Rule};

use super::server::{Server, with, without};
use super::{Mistake, creates, modifies, passes, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(
        Rule::MongodbClusteredOption,
        "create drops options that it does not know",
        |server, now, op| {
            const KNOWN: [&str; 6] =
                ["capped", "size", "max", "clusteredIndex", "timeseries", "expireAfterSeconds"];
            made_with(server, now, op, |_, options| {
                options.into_iter().filter(|(name, _)| KNOWN.contains(&name.as_str())).collect()
            })
        },
    ),
    step(
        Rule::MongodbClusteredOption,
        "5.2 makes a clustered collection for anybody",
        |server, now, op| match options(op) {
            Some(options) if options.contains_key("clusteredIndex") => {
                let later = Version::new(5, 3, 0);
                let version = server.version;
                let asks = version.create_knows_kinds() && !version.clustered_is_allowed();
                server.as_version(if asks { later } else { version }, now, op)
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbClusteredOptionType,
        "seconds of a collection that are no number are dropped",
        |server, now, op| {
            made_with(server, now, op, |_, options| match options.get("expireAfterSeconds") {
                Some(seconds) if !is_number(seconds) => without(&options, "expireAfterSeconds"),
                _ => options,
            })
        },
    ),
    step(Rule::MongodbClusteredKey, "any one field is a cluster key", |server, now, op| {
        made_with(server, now, op, |_, options| match options.get_document("clusteredIndex") {
            Ok(key) if key.get_document("key").is_ok_and(|key| key.len() == 1) => {
                with(&options, "clusteredIndex", with(key, "key", doc! { "_id": 1 }))
            }
            _ => options,
        })
    }),
    step(Rule::MongodbClusteredKey, "a cluster key need not be unique", |server, now, op| {
        made_with(server, now, op, |_, options| match options.get_document("clusteredIndex") {
            Ok(key) if key.get_bool("unique").is_ok() => {
                with(&options, "clusteredIndex", with(key, "unique", true))
            }
            _ => options,
        })
    }),
    step(
        Rule::MongodbClusteredCapped,
        "a capped clustered collection may have no seconds",
        |server, now, op| {
            let has_none =
                options(op).is_some_and(|options| !options.contains_key("expireAfterSeconds"));
            let reply = made_with(server, now, op, |_, options| {
                let is_capped = options.get_bool("capped").unwrap_or_default();
                if is_capped && options.contains_key("clusteredIndex") && has_none {
                    with(&options, "expireAfterSeconds", 0)
                } else {
                    options
                }
            });
            if has_none && reply == Reply::Ok {
                server.collection().settings.seconds = None;
            }
            reply
        },
    ),
    creates(
        Rule::MongodbClusteredCappedIndex,
        "a capped clustered collection takes a TTL index",
        |server, now, spec| {
            let was = server.state.collection().map(|there| there.kind);
            server.right_seeing(
                now,
                &Op::CreateIndex(Doc(spec.clone())),
                |there| {
                    if there.kind == Kind::CappedClustered {
                        there.kind = Kind::Clustered;
                    }
                },
                |there| there.kind = was.unwrap_or(there.kind),
            )
        },
    ),
    step(
        Rule::MongodbClusteredSeconds,
        "the seconds of a collection reach to 2147483647, as those of an index do",
        |server, now, op| {
            let asked = options(op).and_then(|options| options.get("expireAfterSeconds"));
            let asked = asked.filter(|asked| is_number(asked)).map(safe_long);
            let fits = asked.filter(|asked| (0..=i64::from(i32::MAX)).contains(asked));
            let before = server.state.collection().is_some();
            let reply = made_with(server, now, op, |_, options| match fits {
                Some(_) => with(&options, "expireAfterSeconds", 0),
                None => options,
            });
            if let (Some(seconds), Reply::Ok, false) = (fits, &reply, before) {
                server.collection().settings.seconds = Some(seconds);
            }
            reply
        },
    ),
    modifies(
        Rule::MongodbClusteredSeconds,
        "negative seconds of a collection are read as 0",
        |server, now, command| {
            let asked = command.get("expireAfterSeconds");
            let is_negative = asked.is_some_and(|asked| is_number(asked) && safe_long(asked) < 0);
            let command =
                if is_negative { with(command, "expireAfterSeconds", 0) } else { command.clone() };
            server.modify(now, command)
        },
    ),
    passes(
        Rule::MongodbClusteredVisit,
        "the seconds of a collection stand for all of its indexes",
        |server, now| {
            server.pass_seeing(now, |_, there| {
                if is_clustered(there) && there.settings.seconds.is_some() {
                    there.indexes.clear();
                }
            })
        },
    ),
    passes(
        Rule::MongodbClusteredExpired,
        "a cluster key lives a millisecond longer",
        |server, now| {
            let is_clustered = server.state.collection().is_some_and(is_clustered);
            let now = if is_clustered { now.minus_millis(1) } else { now };
            server.right(now, &Op::Pass)
        },
    ),
    passes(
        Rule::MongodbClusteredOtherKey,
        "the time in an ObjectId counts as a cluster key",
        |server, now| {
            let reply = server.right(now, &Op::Pass);
            let (Some(there), Reply::Passed { mut deleted, skipped }) =
                (server.state.collection_mut(), reply.clone())
            else {
                return reply;
            };
            let (Some(seconds), true) = (there.settings.seconds, is_clustered(there)) else {
                return reply;
            };
            let threshold = now.minus_millis(seconds.saturating_mul(1_000));
            let is_old = |id: &Bson| match id {
                Bson::ObjectId(id) => id.timestamp().timestamp_millis() <= threshold.0,
                _ => false,
            };
            deleted.extend(
                there
                    .documents
                    .values()
                    .map(|one| &one["_id"])
                    .filter(|id| is_old(id))
                    .map(|id| Value(id.clone())),
            );
            there.documents.retain(|_, document| !is_old(&document["_id"]));
            Reply::Passed { deleted, skipped }
        },
    ),
    passes(
        Rule::MongodbClusteredBefore1970,
        "no visit of cluster keys goes back behind 1970",
        |server, now| clustered_pass(server, now, Version::new(8, 0, 4)),
    ),
    passes(
        Rule::MongodbClusteredFrom1970,
        "a visit of cluster keys begins at the smallest date",
        |server, now| clustered_pass(server, now, Version::new(7, 0, 14)),
    ),
    step(
        Rule::MongodbClusteredAgain,
        "a chosen bucket that takes a measurement is spared",
        |server, now, op| {
            let before = server.state.collection().map(|there| there.documents.clone());
            let reply = server.right(now, op);
            let (Op::Insert(_), Some(before)) = (op, before) else { return reply };
            let now = server.state.collection().map(|there| there.documents.clone());
            let now = now.unwrap_or_default();
            for member in &mut server.state.members {
                let Activity::Passing(pass) = &mut member.monitor.activity else { continue };
                let staged = pass.visit.as_mut().map(|visit| &mut visit.staged);
                for staged in staged.into_iter().flatten() {
                    staged.is_gone |= before.get(&staged.record) != now.get(&staged.record);
                }
            }
            reply
        },
    ),
    modifies(
        Rule::MongodbClusteredModify,
        "collMod answers, and a collection keeps its seconds",
        |server, now, command| {
            let before = server.state.collection().and_then(|there| there.settings.seconds);
            let reply = server.modify(now, command.clone());
            let is_off = command.get_str("expireAfterSeconds").is_ok();
            if matches!(reply, Reply::Modified { .. }) && !is_off {
                server.collection().settings.seconds = before;
            }
            reply
        },
    ),
    modifies(Rule::MongodbClusteredOff, "off is as good as 2147483647", |server, now, command| {
        let reply = server.modify(now, command.clone());
        let is_off = command.get_str("expireAfterSeconds").is_ok();
        if matches!(reply, Reply::Modified { .. }) && is_off {
            server.collection().settings.seconds = Some(i64::from(i32::MAX));
        }
        reply
    }),
    modifies(Rule::MongodbClusteredOff, "any word means off", |server, now, command| {
        let command = match command.get_str("expireAfterSeconds") {
            Ok(_) => with(command, "expireAfterSeconds", "off"),
            Err(_) => command.clone(),
        };
        server.modify(now, command)
    }),
    modifies(
        Rule::MongodbClusteredHidden,
        "a cluster key is hidden like the index on _id",
        |server, now, command| match server.modify(now, command.clone()) {
            Reply::Error(code::CLUSTERED_HIDDEN) => Reply::Error(code::BAD_VALUE),
            right => right,
        },
    ),
    step(
        Rule::MongodbClusteredNoIndex,
        "a cluster key is refused like the index on _id",
        |server, now, op| match server.right(now, op) {
            Reply::Error(code::CLUSTERED_DROP) => Reply::Error(code::INVALID_OPTIONS),
            right => right,
        },
    ),
];

/// The options that `create` is given.
pub(super) fn options(op: &Op) -> Option<&Document> {
    match op {
        Op::CreateCollection(CollectionOptions::With(options)) => Some(options),
        _ => None,
    }
}

/// A right step, but that `create` is given other options.
pub(super) fn made_with(
    server: &mut Server,
    now: Millis,
    op: &Op,
    change: impl Fn(&Server, Document) -> Document,
) -> Reply {
    let Some(options) = options(op) else { return server.right(now, op) };
    let options = change(server, options.clone());
    server.right(now, &Op::CreateCollection(CollectionOptions::With(Doc(options))))
}

fn is_clustered(there: &Collection) -> bool {
    matches!(there.kind, Kind::Clustered | Kind::CappedClustered)
}

/// A pass over cluster keys as another version does it.
fn clustered_pass(server: &mut Server, now: Millis, version: Version) -> Reply {
    let is_clustered = server.state.collection().is_some_and(is_clustered);
    let version = if is_clustered { version } else { server.version };
    server.as_version(version, now, &Op::Pass)
}
