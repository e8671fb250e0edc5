//! Mutants of `mongodb.shard.*`.

use std::collections::BTreeSet;

use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{Op, Reply};
use ttlspec_model::{Millis, Rule};

use super::replication::{is_sweep, said, told};
use super::server::Server;
use super::{Mistake, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(
        Rule::MongodbShardOrphans,
        "orphans are deleted like any others from 6.0 on",
        |server, now, op| {
            sweeping(
                server,
                now,
                op,
                |there| std::mem::take(&mut there.orphans),
                |there, orphans| {
                    let is_there = |record: &u64| there.documents.contains_key(record);
                    there.orphans = orphans.into_iter().filter(is_there).collect();
                },
            )
        },
    ),
    step(
        Rule::MongodbShardOrphans,
        "once an orphan, always an orphan",
        |server, now, op| match said(op) {
            Op::Insert(document) => {
                let member = told(&server.state, op);
                let reply = server.right(now, op);
                let was = server.former.iter().any(|former| former["_id"] == document["_id"]);
                if let (Reply::Ok, true, Some(there)) =
                    (&reply, was, server.state.members[member].collection_mut(COLLECTION))
                {
                    there.orphans.extend(there.record(&document["_id"]));
                }
                reply
            }
            Op::Orphan(id) => {
                server.former.push(bson::doc! { "_id": id.0.clone() });
                server.right(now, op)
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbShardOrphansDeleted,
        "orphans are left to the range deleter before 6.0 too",
        |server, now, op| {
            sweeping(
                server,
                now,
                op,
                |there| {
                    let orphans = there.orphans.clone();
                    let mut all = std::mem::take(&mut there.documents);
                    there.documents = all.clone();
                    there.documents.retain(|record, _| !orphans.contains(record));
                    all.retain(|record, _| orphans.contains(record));
                    all
                },
                |there, hidden| there.documents.extend(hidden),
            )
        },
    ),
    step(
        Rule::MongodbShardOrphansDeleted,
        "before 6.0 an orphan is deleted before it expires",
        |server, now, op| {
            let member = told(&server.state, op);
            if let (true, Some(there)) = (is_sweep(said(op)), server.state.members.get_mut(member))
                && !there.version.orphans_are_left_alone()
            {
                for (_, collection) in &mut there.collections {
                    let orphans: BTreeSet<u64> = collection.orphans.clone();
                    collection.documents.retain(|record, _| !orphans.contains(record));
                }
            }
            server.right(now, op)
        },
    ),
    step(
        Rule::MongodbShardStale,
        "a visit goes on whatever the shard version",
        |server, now, op| {
            sweeping(
                server,
                now,
                op,
                |there| std::mem::take(&mut there.is_stale),
                |there, is_stale| there.is_stale = is_stale,
            )
        },
    ),
    step(Rule::MongodbShardStale, "a stale collection is not swept again", |server, now, op| {
        sweeping(
            server,
            now,
            op,
            |there| there.is_stale,
            |there, was_stale| there.is_stale |= was_stale,
        )
    }),
    step(
        Rule::MongodbShardResharding,
        "the temporary collection of a resharding is swept",
        |server, now, op| {
            let member = told(&server.state, op);
            let names = |server: &mut Server, from: &str, to: &str| {
                let there = server.state.members.get_mut(member);
                let there = there.filter(|_| is_sweep(said(op)));
                for (name, _) in there.into_iter().flat_map(|there| &mut there.collections) {
                    *name = name.replace(from, to);
                }
            };
            names(server, ".system.resharding.", ".resharding-of.");
            let reply = server.right(now, op);
            names(server, ".resharding-of.", ".system.resharding.");
            reply
        },
    ),
];

/// The collection of which everything is said that names none.
const COLLECTION: &str = ttlspec_model::mongodb::Place::COLLECTION;

/// The right work of a monitor over collections that are seen in a wrong way, which is then undone.
fn sweeping<T>(
    server: &mut Server,
    now: Millis,
    op: &Op,
    see: fn(&mut Collection) -> T,
    back: fn(&mut Collection, T),
) -> Reply {
    let member = told(&server.state, op);
    let is_meant = is_sweep(said(op)) && member < server.state.members.len();
    if !is_meant {
        return server.right(now, op);
    }
    let collections = server.state.members[member].collections.iter_mut();
    let seen: Vec<T> = collections.map(|(_, collection)| see(collection)).collect();
    let reply = server.right(now, op);
    let collections = server.state.members[member].collections.iter_mut();
    for ((_, collection), seen) in collections.zip(seen) {
        back(collection, seen);
    }
    reply
}
