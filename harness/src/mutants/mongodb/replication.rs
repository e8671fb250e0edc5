//! Mutants of `mongodb.replication.*`.

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::{Index, Kind, SECONDS};
use ttlspec_model::mongodb::life::{self, Verdict};
use ttlspec_model::mongodb::machine::{Member, State};
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::nan::{REPAIRED, is_valid};
use ttlspec_model::mongodb::number::is_nan;
use ttlspec_model::mongodb::replication::{Change, Logged};
use ttlspec_model::mongodb::{
    Doc, Entry, EntryKind, Event, Guard, Health, Op, Place, Reply, Value, Version, Woke,
};
use ttlspec_model::{Millis, Rule};

use super::server::Server;
use super::{Mistake, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(
        Rule::MongodbReplicationPrimaryOnly,
        "a secondary deletes what has expired by its own clock",
        |server, now, op| {
            if is_sweep(said(op)) { as_primary(server, now, op) } else { server.right(now, op) }
        },
    ),
    step(
        Rule::MongodbReplicationPrimaryOnly,
        "a secondary goes back to sleep at once, before 8.1 too",
        |server, now, op| {
            let member = told(&server.state, op);
            let counted = server.state.members.get(member).map(|there| there.monitor.counted);
            match (server.right(now, op), counted) {
                (Reply::Woke(Woke { guard: None, .. }), Some(counted))
                    if server.state.primary != Some(member) =>
                {
                    server.state.members[member].monitor.counted = counted;
                    let guard = Some(Guard::NotPrimary);
                    Reply::Woke(Woke { guard, visits: Vec::new(), sub_passes: 0, took_ms: 0 })
                }
                (right, _) => right,
            }
        },
    ),
    step(
        Rule::MongodbReplicationLocal,
        "a secondary leaves local alone, before 8.1 too",
        |server, now, op| {
            let member = told(&server.state, op);
            if !is_sweep(said(op)) || server.state.primary == Some(member) {
                return server.right(now, op);
            }
            without(server, member, is_local, now, op)
        },
    ),
    step(
        Rule::MongodbReplicationLocal,
        "what is written to local is written on all members",
        |server, now, op| {
            let here = told(&server.state, op);
            let reply = server.right(now, op);
            if let Op::At(Place { collection: Some(name), .. }, inner) = op
                && is_local(name)
                && is_write(inner)
            {
                for member in (0..server.state.members.len()).filter(|member| *member != here) {
                    let place =
                        Place { member: Some(member as u8), collection: Some(name.clone()) };
                    server.right(now, &inner.as_ref().clone().at(place));
                }
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationWriteRefused,
        "a secondary takes the writes of users",
        |server, now, op| {
            if is_write(said(op)) { as_primary(server, now, op) } else { server.right(now, op) }
        },
    ),
    step(
        Rule::MongodbReplicationWriteRefused,
        "members take the writes of users while there is no primary",
        |server, now, op| {
            if server.state.primary.is_none() && is_write(said(op)) {
                as_primary(server, now, op)
            } else {
                server.right(now, op)
            }
        },
    ),
    step(
        Rule::MongodbReplicationRecovering,
        "a member that is recovering can be read",
        |server, now, op| {
            let member = told(&server.state, op);
            if is_read(said(op)) {
                in_health(server, member, now, op)
            } else {
                server.right(now, op)
            }
        },
    ),
    step(
        Rule::MongodbReplicationStaleRead,
        "a secondary is read as if it lacked nothing",
        |server, now, op| match (op, server.state.primary) {
            (Op::At(place, inner), Some(primary)) if is_read(inner) => {
                let collection = place.collection.clone();
                let is_up = |member: u8| {
                    server
                        .state
                        .members
                        .get(usize::from(member))
                        .is_some_and(|member| member.health == Health::Up)
                };
                let member =
                    place.member.map(|member| if is_up(member) { primary as u8 } else { member });
                server.right(now, &inner.as_ref().clone().at(Place { member, collection }))
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbReplicationOplogSingle,
        "deletions that follow each other are one entry before 6.1 too",
        |server, now, op| match server.right(now, op) {
            Reply::Entries(entries) => {
                let mut joined: Vec<Entry> = Vec::new();
                for entry in entries {
                    let deletes = [EntryKind::Delete, EntryKind::ApplyOps];
                    match joined.last_mut() {
                        Some(last)
                            if entry.kind == EntryKind::Delete && deletes.contains(&last.kind) =>
                        {
                            last.kind = EntryKind::ApplyOps;
                            last.ids.extend(entry.ids);
                        }
                        _ => joined.push(entry),
                    }
                }
                Reply::Entries(joined)
            }
            right => right,
        },
    ),
    step(
        Rule::MongodbReplicationOplogSingle,
        "a batch of one document is an applyOps",
        |server, now, op| match server.right(now, op) {
            Reply::Entries(mut entries) => {
                let alone = |entry: &&mut Entry| entry.kind == EntryKind::Delete;
                entries.iter_mut().filter(alone).for_each(|entry| entry.kind = EntryKind::ApplyOps);
                Reply::Entries(entries)
            }
            right => right,
        },
    ),
    step(
        Rule::MongodbReplicationOplogBatch,
        "a batch is written as one entry a document",
        |server, now, op| {
            let reply = server.right(now, op);
            if is_sweep(said(op)) {
                let member = told(&server.state, op);
                let log = std::mem::take(&mut server.state.members[member].log);
                server.state.members[member].log = log.into_iter().flat_map(apart).collect();
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationEvents,
        "a change stream tells one event of a batch",
        |server, now, op| match (server.right(now, op), said(op)) {
            (Reply::Events(events), Op::Events) => {
                let firsts: Vec<Value> = logged(&server.state).filter_map(first_id).collect();
                let is_told =
                    |event: &Event| event.kind != EntryKind::Delete || firsts.contains(&event.id);
                Reply::Events(events.into_iter().filter(is_told).collect())
            }
            (right, _) => right,
        },
    ),
    step(
        Rule::MongodbReplicationEvents,
        "a change stream tells nothing of deletions by TTL",
        |server, now, op| match server.right(now, op) {
            Reply::Events(mut events) => {
                events.retain(|event| event.kind != EntryKind::Delete);
                Reply::Events(events)
            }
            right => right,
        },
    ),
    step(
        Rule::MongodbReplicationApply,
        "a secondary applies a deletion only if the document has expired by its own clock",
        |server, now, op| {
            let member = told(&server.state, op);
            let before = server.state.members.get(member).cloned();
            let reply = server.right(now, op);
            if let (Op::Apply(_), Some(before)) = (said(op), before) {
                spare(server, member, &before, now);
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationApply,
        "a document that is gone already stops a secondary that should delete it",
        |server, now, op| {
            let member = told(&server.state, op);
            let lacks = |there: &Member, entry: &Logged| match &entry.change {
                Change::Delete(documents) => documents.iter().any(|(_, id)| {
                    let there = there.collection(&entry.collection);
                    there.is_none_or(|there| there.record(id).is_none())
                }),
                _ => false,
            };
            let first = logged(&server.state).next().cloned();
            let there = server.state.members.get(member);
            let is_stopped = first.zip(there).is_some_and(|(first, there)| {
                server.state.primary != Some(member) && there.log.is_empty() && lacks(there, &first)
            });
            match said(op) {
                Op::Apply(_) if is_stopped => Reply::Applied { entries: 0, rolled_back: 0 },
                _ => server.right(now, op),
            }
        },
    ),
    step(
        Rule::MongodbReplicationCatalog,
        "a secondary makes an index only if createIndexes would",
        |server, now, op| {
            applying(server, now, op, |index, version| {
                let is_refused = version.nan_is_refused()
                    && index.seconds().is_some_and(|seconds| !is_valid(seconds));
                !is_refused
            })
        },
    ),
    step(
        Rule::MongodbReplicationCatalog,
        "a secondary repairs what the oplog tells it to make",
        |server, now, op| {
            let member = told(&server.state, op);
            let reply = server.right(now, op);
            if matches!(said(op), Op::Apply(_)) {
                repair(&mut server.state.members[member], REPAIRED);
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationCatalog,
        "a collMod that changes nothing on the primary is kept from the others",
        |server, now, op| {
            let reply = server.right(now, op);
            if let (Op::CollMod(_), Reply::Modified { old, new }) = (said(op), &reply)
                && old == new
                && let Some(primary) = server.state.primary
            {
                server.state.members[primary].log.pop();
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationRollback,
        "a rollback leaves the documents as they are",
        |server, now, op| {
            rolling_back(server, now, op, |before, there| {
                for (name, collection) in &mut there.collections {
                    if let Some(before) = before.collection(name) {
                        collection.documents = before.documents.clone();
                    }
                }
            })
        },
    ),
    step(
        Rule::MongodbReplicationRollback,
        "a rollback leaves the indexes as they are",
        |server, now, op| {
            rolling_back(server, now, op, |before, there| {
                for (name, collection) in &mut there.collections {
                    if let Some(before) = before.collection(name) {
                        collection.indexes = before.indexes.clone();
                    }
                }
            })
        },
    ),
    step(Rule::MongodbReplicationRollback, "a rollback takes local with it", |server, now, op| {
        rolling_back(server, now, op, |before, there| {
            let old = before.log.first().map(|logged| logged.before.clone());
            let old = old.unwrap_or_default();
            there.collections.retain(|(name, _)| !is_local(name));
            there.collections.extend(old.iter().filter(|(name, _)| is_local(name)).cloned());
        })
    }),
    step(Rule::MongodbReplicationStepDown, "a visit outlives the step-down", |server, now, op| {
        let reply = server.right(now, op);
        if *said(op) == Op::StepDown {
            for member in &mut server.state.members {
                if let Activity::Passing(pass) = &mut member.monitor.activity {
                    pass.is_interrupted = false;
                }
            }
        }
        reply
    }),
    step(
        Rule::MongodbReplicationStepDown,
        "members go on deleting while there is no primary",
        |server, now, op| {
            if server.state.primary.is_none() && is_sweep(said(op)) {
                as_primary(server, now, op)
            } else {
                server.right(now, op)
            }
        },
    ),
    step(Rule::MongodbReplicationStepUp, "an election begins no term", |server, now, op| {
        let term = server.state.term;
        let reply = server.right(now, op);
        if *said(op) == Op::StepUp {
            server.state.term = term;
        }
        reply
    }),
    step(Rule::MongodbReplicationStepUp, "a new primary does a pass at once", |server, now, op| {
        let reply = server.right(now, op);
        if (said(op), &reply) == (&Op::StepUp, &Reply::Ok) {
            server.right(now, &Op::Pass);
        }
        reply
    }),
    step(
        Rule::MongodbReplicationRepair,
        "a new primary leaves NaN in its catalog",
        |server, now, op| {
            electing(server, now, op, |_, stored| is_nan(stored).then(|| stored.clone()))
        },
    )
    .seen("SERVER-68477", "before 5.0.14 and 6.0.2 a stored NaN was never repaired"),
    step(Rule::MongodbReplicationRepair, "a new primary makes 0 of NaN", |server, now, op| {
        electing(server, now, op, |_, stored| is_nan(stored).then_some(Bson::Int64(0)))
    })
    .seen("SERVER-56676", "NaN was read as 0 wherever it was met"),
    step(
        Rule::MongodbReplicationRepair,
        "from 7.0 on a new primary repairs NaN and nothing else",
        |server, now, op| {
            electing(server, now, op, |_, stored| {
                (!is_nan(stored) && !is_valid(stored)).then(|| stored.clone())
            })
        },
    )
    .seen("SERVER-68477", "5.0.14 and 6.0.2 left every other invalid value as it was"),
    step(
        Rule::MongodbReplicationRepair,
        "before 7.0 a new primary repairs whatever is not valid",
        |server, now, op| {
            let reply = server.right(now, op);
            if (said(op), &reply) == (&Op::StepUp, &Reply::Ok)
                && let Some(primary) = server.state.primary
            {
                repair(&mut server.state.members[primary], REPAIRED);
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationRepair,
        "a new primary repairs its own catalog and tells nobody",
        |server, now, op| {
            let lengths: Vec<usize> =
                server.state.members.iter().map(|member| member.log.len()).collect();
            let reply = server.right(now, op);
            if *said(op) == Op::StepUp
                && let Some(primary) = server.state.primary
            {
                server.state.members[primary].log.truncate(lengths[primary]);
            }
            reply
        },
    ),
    step(
        Rule::MongodbReplicationRepairFraction,
        "a new primary leaves fractions in its catalog",
        |server, now, op| {
            electing(server, now, op, |_, stored| {
                let is_fraction = matches!(stored, Bson::Double(_) | Bson::Decimal128(_));
                (is_fraction && is_valid(stored)).then(|| stored.clone())
            })
        },
    )
    .seen("SERVER-77828", "before 7.3 what is no integer was stored, and stayed so"),
    step(
        Rule::MongodbReplicationRepairFraction,
        "a new primary rounds a fraction up",
        |server, now, op| {
            electing(server, now, op, |_, stored| match stored {
                Bson::Double(seconds) if is_valid(stored) && seconds.fract() > 0.0 => {
                    Some(Bson::Int64(seconds.ceil() as i64))
                }
                _ => None,
            })
        },
    ),
    step(
        Rule::MongodbReplicationJoin,
        "a member that joins stores 0 for every NaN of its source",
        |server, now, op| {
            joining(server, now, op, |seconds, _| is_nan(seconds).then_some(Bson::Int32(0)))
        },
    )
    .seen("SERVER-56676", "listIndexes told 0 for NaN, and members that joined stored it"),
    step(
        Rule::MongodbReplicationJoin,
        "initial sync copies the indexes as they are stored",
        |server, now, op| joining(server, now, op, |seconds, _| Some(seconds.clone())),
    ),
    step(
        Rule::MongodbReplicationJoin,
        "initial sync leaves out what has expired",
        |server, now, op| {
            let members = server.state.members.len();
            let reply = server.right(now, op);
            if server.state.members.len() > members {
                let version = server.state.members[members].version;
                for (_, there) in &mut server.state.members[members].collections {
                    let seen = there.clone();
                    there.documents.retain(|_, document| {
                        !is_expired(version, &seen.indexes, seen.kind, document, now)
                    });
                }
            }
            reply
        },
    ),
    step(Rule::MongodbReplicationJoin, "initial sync copies local", |server, now, op| {
        let (source, members) = (server.state.primary, server.state.members.len());
        let reply = server.right(now, op);
        if let (Some(source), true) = (source, server.state.members.len() > members) {
            let local = server.state.members[source].collections.clone();
            let local = local.into_iter().filter(|(name, _)| is_local(name));
            server.state.members[members].collections.extend(local);
        }
        reply
    }),
];

// ---- what is said, and to whom -----------------------------------------------------------------

/// What is said, wherever it is said.
pub(super) fn said(op: &Op) -> &Op {
    match op {
        Op::At(_, op) => said(op),
        op => op,
    }
}

/// The member that is told, which may not be there.
pub(super) fn told(state: &State, op: &Op) -> usize {
    fn nearest(op: &Op) -> Option<u8> {
        match op {
            Op::At(place, op) => nearest(op).or(place.member),
            _ => None,
        }
    }
    nearest(op).map_or(state.primary.unwrap_or(0), usize::from)
}

/// Is it work of the monitor?
pub(super) fn is_sweep(op: &Op) -> bool {
    matches!(op, Op::Pass | Op::Wake(_) | Op::Tick)
}

fn is_read(op: &Op) -> bool {
    matches!(op, Op::Find | Op::ListIndexes)
}

fn is_write(op: &Op) -> bool {
    matches!(
        op,
        Op::Insert(_)
            | Op::Replace(_)
            | Op::Remove(_)
            | Op::CreateIndex(_)
            | Op::DropIndex(_)
            | Op::CollMod(_)
            | Op::DropCollection
            | Op::RenameCollection(_)
    )
}

fn is_local(collection: &str) -> bool {
    collection.starts_with("local.")
}

// ---- being right about another state -----------------------------------------------------------

/// The right step, were the member that is told the primary.
fn as_primary(server: &mut Server, now: Millis, op: &Op) -> Reply {
    let (primary, member) = (server.state.primary, told(&server.state, op));
    if !server.state.is_set() || member >= server.state.members.len() {
        return server.right(now, op);
    }
    server.state.primary = Some(member);
    let reply = server.right(now, op);
    server.state.primary = primary;
    reply
}

/// The right step, were the member that is told in good health.
pub(super) fn in_health(server: &mut Server, member: usize, now: Millis, op: &Op) -> Reply {
    let Some(there) = server.state.members.get_mut(member) else { return server.right(now, op) };
    let health = std::mem::replace(&mut there.health, Health::Up);
    let reply = server.right(now, op);
    server.state.members[member].health = health;
    reply
}

/// The right step, had this member not these collections.
fn without(
    server: &mut Server,
    member: usize,
    hides: fn(&str) -> bool,
    now: Millis,
    op: &Op,
) -> Reply {
    let Some(there) = server.state.members.get_mut(member) else { return server.right(now, op) };
    let all = std::mem::take(&mut there.collections);
    let (hidden, seen) = all.into_iter().partition(|(name, _)| hides(name));
    there.collections = seen;
    let reply = server.right(now, op);
    server.state.members[member].collections.extend::<Vec<_>>(hidden);
    reply
}

// ---- the oplog ---------------------------------------------------------------------------------

fn logged(state: &State) -> impl Iterator<Item = &Logged> {
    state.primary.into_iter().flat_map(|primary| &state.members[primary].log)
}

fn first_id(logged: &Logged) -> Option<Value> {
    match &logged.change {
        Change::Delete(documents) => documents.first().map(|(_, id)| id.clone()),
        _ => None,
    }
}

/// One entry a document.
fn apart(logged: Logged) -> Vec<Logged> {
    match &logged.change {
        Change::Delete(documents) => {
            let alone = |document: &(u64, Value)| Logged {
                change: Change::Delete(vec![document.clone()]),
                ..logged.clone()
            };
            documents.iter().map(alone).collect()
        }
        _ => vec![logged],
    }
}

/// Brings documents back that this member should not have deleted by its own clock.
fn spare(server: &mut Server, member: usize, before: &Member, now: Millis) {
    let there = &mut server.state.members[member];
    for (name, old) in &before.collections {
        let Some(collection) = there.collection_mut(name) else { continue };
        for (record, document) in &old.documents {
            if !is_expired(before.version, &old.indexes, old.kind, document, now) {
                collection.documents.entry(*record).or_insert_with(|| document.clone());
            }
        }
    }
}

fn is_expired(
    version: Version,
    indexes: &[Index],
    kind: Kind,
    document: &Document,
    now: Millis,
) -> bool {
    indexes.iter().any(|index| {
        matches!(life::verdict(version, kind, index, document, now).verdict, Verdict::Expired(..))
    })
}

/// A right apply, but that indexes which come by it and are not `let_in` are not made.
fn applying(
    server: &mut Server,
    now: Millis,
    op: &Op,
    let_in: fn(&Index, Version) -> bool,
) -> Reply {
    let member = told(&server.state, op);
    let before = server.state.members.get(member).cloned();
    let reply = server.right(now, op);
    if let (Op::Apply(_), Some(before)) = (said(op), before) {
        let there = &mut server.state.members[member];
        for (name, collection) in &mut there.collections {
            collection.indexes.retain(|index| {
                let was_there = before.collection(name).is_some_and(|before| {
                    before.indexes.iter().any(|old| old.name() == index.name())
                });
                was_there || let_in(index, before.version)
            });
        }
    }
    reply
}

/// A right apply; where it rolls something back, what is there after it is changed.
fn rolling_back(
    server: &mut Server,
    now: Millis,
    op: &Op,
    keep: fn(&Member, &mut Member),
) -> Reply {
    let member = told(&server.state, op);
    let before = server.state.members.get(member).cloned();
    let reply = server.right(now, op);
    if let (Reply::Applied { rolled_back: 1.., .. }, Some(before)) = (&reply, before) {
        keep(&before, &mut server.state.members[member]);
    }
    reply
}

// ---- elections and initial sync ----------------------------------------------------------------

fn repair(there: &mut Member, seconds: Bson) {
    for index in there.collections.iter_mut().flat_map(|(_, collection)| &mut collection.indexes) {
        if index.seconds().is_some_and(|stored| !is_valid(stored)) {
            index.spec.0.insert(SECONDS, seconds.clone());
        }
    }
}

/// A right election, but that some stored seconds are made something else of.
fn electing(
    server: &mut Server,
    now: Millis,
    op: &Op,
    make: fn(Version, &Bson) -> Option<Bson>,
) -> Reply {
    let member = told(&server.state, op);
    let before = server.state.members.get(member).cloned();
    let reply = server.right(now, op);
    let (Op::StepUp, Some(before)) = (said(op), before) else { return reply };
    let there = &mut server.state.members[member];
    let version = there.version;
    for (name, old) in &before.collections {
        let Some(collection) = there.collections.iter_mut().find(|(there, _)| there == name) else {
            continue;
        };
        for (index, old) in collection.1.indexes.iter_mut().zip(&old.indexes) {
            let made = old.seconds().and_then(|stored| make(version, stored));
            let Some(made) = made.filter(|_| index != old) else { continue };
            index.spec.0.insert(SECONDS, made.clone());
            // Where nothing is made of it, nothing is written down.
            let is_kept =
                old.seconds().is_some_and(|stored| Value(stored.clone()) == Value(made.clone()));
            let of = index.name().to_owned();
            there.log.retain_mut(|logged| match &mut logged.change {
                Change::Modify(name, fields) if *name == of => {
                    *fields = Doc(bson::doc! { SECONDS: made.clone() });
                    !is_kept
                }
                _ => true,
            });
        }
    }
    reply
}

/// A right initial sync, but that some seconds are stored in another way.
fn joining(
    server: &mut Server,
    now: Millis,
    op: &Op,
    store: fn(&Bson, Version) -> Option<Bson>,
) -> Reply {
    let (source, members) = (server.state.primary, server.state.members.len());
    let reply = server.right(now, op);
    let (Some(source), true) = (source, server.state.members.len() > members) else { return reply };
    let from = server.state.members[source].clone();
    let there = &mut server.state.members[members];
    for (name, collection) in &mut there.collections {
        let Some(from) = from.collection(name) else { continue };
        for (index, old) in collection.indexes.iter_mut().zip(&from.indexes) {
            if let Some(seconds) = old.seconds().and_then(|stored| store(stored, there.version)) {
                index.spec.0.insert(SECONDS, seconds);
            }
        }
    }
    reply
}
