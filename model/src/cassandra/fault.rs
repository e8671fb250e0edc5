#![doc = include_str!("../../../specs/cassandra/16-fault.md")]
//! ---
//! *Module:* where does the real server break its own rules?

use super::data::Key;
use super::expiry::lifetime;
use super::machine::State;
use super::sstable::Sstable;
use super::words::{Config, Failure, Format, Op, Overflow};
use crate::book::Book;
use crate::ruling::Rule;

/// How long the server keeps a line about each compaction in a table of its own, in seconds.
const COMPACTION_HISTORY_TTL: i64 = 604_800;

/// Does the server fail at `op`, before it has done anything?
pub fn fails(book: &Book, config: &Config, node: &State, op: &Op, now: i64) -> Option<Failure> {
    if compacts(op) && compactions_are_refused(book, config, now) {
        return Some(Failure::InvalidRequest);
    }
    let is_unreadable = |sstable: &Sstable| is_unreadable(book, config, sstable);
    let among = |ids: &[u64]| ids.iter().filter_map(|id| node.sstable(*id)).any(is_unreadable);
    let fails = match op {
        Op::Compact(ids) => among(ids),
        Op::Tasks(tasks) => tasks.iter().any(|ids| among(ids)),
        Op::Select(query) if query.keys.is_some() => {
            let keys = query.keys.iter().flatten().map(|p| Key::new(*p));
            keys.into_iter().any(|key| {
                node.sstables.iter().any(|sstable| sstable.spans(key) && is_unreadable(sstable))
            })
        }
        Op::Major { .. }
        | Op::GarbageCollect(_)
        | Op::Background(_)
        | Op::Sstables
        | Op::Merged
        | Op::Select(_) => node.sstables.iter().any(is_unreadable),
        _ => false,
    };
    fails.then_some(Failure::CorruptSstable)
}

fn compacts(op: &Op) -> bool {
    matches!(
        op,
        Op::Compact(_)
            | Op::Major { .. }
            | Op::GarbageCollect(_)
            | Op::Tasks(_)
            | Op::Background(_)
    )
}

/// Every compaction leaves a line with a TTL, which is refused like any other write.
fn compactions_are_refused(book: &Book, config: &Config, now: i64) -> bool {
    config.overflow == Overflow::Reject
        && now.saturating_add(COMPACTION_HISTORY_TTL) > config.format.last_expiration()
        && lifetime(book, config, now, COMPACTION_HISTORY_TTL).is_err()
        && book.by(Rule::CassandraFaultLastWeek)
}

/// Was a partition deletion with a negative timestamp written to it?
fn is_unreadable(book: &Book, config: &Config, sstable: &Sstable) -> bool {
    config.format == Format::Oa
        && sstable.partitions.values().any(|it| it.deletion.is_some_and(|it| it.ts < 0))
        && book.by(Rule::CassandraFaultNegativePartition)
}
