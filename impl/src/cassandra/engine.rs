//! How is a node asked in the words of a script?

use ttlspec_model::cassandra::words::{Failure, Format, Op, Overflow, Query, Rows, StatsSeen};
use ttlspec_model::cassandra::words::{Ratio, SstableSeen, Statement};
use ttlspec_model::cassandra::{Cassandra, Config, Reply};
use ttlspec_model::{Engine, Millis, Unsupported};

use super::entry::NEVER;
use super::key::Key;
use super::memtable::Memtable;
use super::node::Node;
use super::seen::Telling;
use super::sstable::Sstable;
use super::statement::{self, MAX_TTL};
use super::{read, select, view};

/// How long the server keeps a line about each compaction, in seconds.
const COMPACTION_HISTORY_TTL: i64 = 604_800;

/// Cassandra: one table on one node.
///
/// Not supported: a world without a rule that is no fault of the server.
#[derive(Clone, Debug)]
pub struct CassandraEngine {
    node: Result<Node, Unsupported>,
}

impl CassandraEngine {
    /// A node on which there is nothing yet.
    pub fn open(config: &Config) -> CassandraEngine {
        CassandraEngine { node: Node::new(config) }
    }
}

impl Engine<Cassandra> for CassandraEngine {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        let node = self.node.as_mut().map_err(|unsupported| unsupported.clone())?;
        let now_s = now.0.div_euclid(1_000);
        if let Some(reply) = answer(node, op, now_s) {
            return Ok(reply);
        }
        let before = node.next;
        let reply = order(node, op, now.0);
        node.number_from(before);
        if reply != Reply::Done {
            return Ok(reply);
        }
        let made = node.sstables.iter().map(|sstable| sstable.id).filter(|id| *id >= before);
        Ok(match op {
            Op::Write(_) | Op::SetRepaired { .. } => Reply::Done,
            _ => Reply::Made(made.collect()),
        })
    }
}

// ---- what changes something --------------------------------------------------------------------

/// Does it. Everything but a write is only done.
fn order(node: &mut Node, op: &Op, now_ms: i64) -> Reply {
    let now = now_ms.div_euclid(1_000);
    if let Some(failure) = fails(node, op, now) {
        return Reply::Failed(failure);
    }
    match op {
        Op::Write(statements) => return write(node, statements, now_ms),
        Op::Flush => node.flush(),
        Op::Restart => {
            node.memory = Default::default();
            node.flush();
        }
        Op::Compact(ids) => node.compact(ids, false, now),
        Op::Major { unrepaired_first } => node.major(*unrepaired_first, now),
        Op::GarbageCollect(shadow) => {
            if node.collect_garbage(*shadow, now).is_err() {
                return Reply::Failed(Failure::ConcurrentModification);
            }
        }
        Op::Tasks(tasks) => {
            for ids in tasks {
                node.task(ids, node.usual_shadow(), now);
            }
        }
        Op::AtOnce(ops) => {
            for op in ops {
                let reply = order(node, op, now_ms);
                if reply != Reply::Done {
                    return reply;
                }
            }
        }
        Op::Background(most) => node.background(*most, now),
        Op::SetRepaired { sstable, at_ms } => {
            let named = node.sstables.iter_mut().filter(|it| it.id == *sstable);
            named.for_each(|it| it.repaired_at = *at_ms);
        }
        Op::AlterGcGrace(seconds) if *seconds < 0 => return Reply::Refused,
        Op::AlterGcGrace(seconds) => {
            alter(node, *seconds, |node| &mut node.table.gc_grace_seconds);
        }
        Op::AlterDefaultTtl(ttl) if !(0..=MAX_TTL).contains(ttl) => return Reply::Refused,
        Op::AlterDefaultTtl(ttl) => {
            alter(node, *ttl, |node| &mut node.table.default_time_to_live);
        }
        Op::AlterCompaction(options) => {
            let class = options.get("class").map_or("", String::as_str);
            let is_unified = class.ends_with("UnifiedCompactionStrategy");
            if is_unified && !node.setup.version.has_unified_compaction() {
                return Reply::Refused;
            }
            if node.table.compaction != *options {
                node.memory = Default::default();
            }
            alter(node, options.clone(), |node| &mut node.table.compaction);
        }
        Op::Truncate => {
            node.memtable = Memtable::default();
            node.view = Memtable::default();
            node.sstables.clear();
        }
        Op::Snapshot => {
            node.flush();
            node.snapshot.clone_from(&node.sstables);
        }
        Op::Refresh => node.refresh(),
        Op::Sstables | Op::Stats | Op::Merged | Op::Select(_) | Op::ViewMerged | Op::ViewSelect => {
        }
    }
    Reply::Done
}

/// Sets an option of the table; where that changes it, the memtable is flushed.
fn alter<T: PartialEq>(node: &mut Node, value: T, option: fn(&mut Node) -> &mut T) {
    let there = option(node);
    if *there != value {
        *there = value;
        node.flush();
    }
}

fn write(node: &mut Node, statements: &[Statement], now_ms: i64) -> Reply {
    let updates = statement::updates(&node.setup, &node.table, now_ms, statements);
    let Ok(updates) = updates else { return Reply::Refused };
    for update in updates {
        if node.table.view.is_some() {
            view::write(node, &update, now_ms.div_euclid(1_000));
        }
        node.memtable.apply(&update);
    }
    Reply::Done
}

/// Does the server fail before it has done anything?
fn fails(node: &Node, op: &Op, now: i64) -> Option<Failure> {
    let compacts = matches!(
        op,
        Op::Compact(_)
            | Op::Major { .. }
            | Op::GarbageCollect(_)
            | Op::Tasks(_)
            | Op::Background(_)
    );
    let setup = &node.setup;
    // Each compaction leaves a line in a table of the server, which expires.
    let leaves_no_line = setup.overflow == Overflow::Reject
        && statement::expiration(setup, now, COMPACTION_HISTORY_TTL).is_err();
    if compacts && leaves_no_line && setup.faults.last_week {
        return Some(Failure::InvalidRequest);
    }
    if setup.format != Format::Oa || !setup.faults.negative_partition {
        return None;
    }
    let is_bad = |sstable: &Sstable| sstable.file.has_negative_deletion;
    let all = || node.sstables.iter();
    let meets_bad = match op {
        Op::Compact(ids) => node.among(ids).any(is_bad),
        Op::Tasks(tasks) => tasks.iter().any(|ids| node.among(ids).any(is_bad)),
        Op::Select(query) => match &query.keys {
            None => all().any(is_bad),
            Some(keys) => keys.iter().any(|p| {
                let key = Key::new(*p);
                all().any(|sstable| is_bad(sstable) && sstable.file.spans(key))
            }),
        },
        Op::Sstables | Op::Merged => all().any(is_bad),
        _ => compacts && all().any(is_bad),
    };
    meets_bad.then_some(Failure::CorruptSstable)
}

// ---- what is only asked --------------------------------------------------------------------------

fn answer(node: &mut Node, op: &Op, now: i64) -> Option<Reply> {
    if matches!(op, Op::Sstables | Op::Merged | Op::Select(_))
        && let Some(failure) = fails(node, op, now)
    {
        return Some(Reply::Failed(failure));
    }
    Some(match op {
        Op::Sstables => {
            let telling = Telling::of_table(&node.table, &node.setup.clusterings);
            let seen = |it: &Sstable| SstableSeen {
                id: it.id,
                partitions: telling.partitions(&it.file.run),
            };
            Reply::Sstables(node.sstables.iter().map(seen).collect())
        }
        Op::Stats => {
            let seen = |it: &Sstable| (it.id, stats(node, it, now));
            Reply::Stats(node.sstables.iter().map(seen).collect())
        }
        Op::Merged => {
            let read = read::all(node, now);
            let telling = Telling::of_table(&node.table, &node.setup.clusterings);
            Reply::Merged(telling.partitions(&read))
        }
        Op::Select(query) if asked(query) > node.setup.clusterings.len() => Reply::Refused,
        Op::Select(query) => match select::select(node, query, now) {
            Ok(rows) => Reply::Rows(rows),
            Err(_) => Reply::Failed(Failure::TombstoneOverwhelming),
        },
        Op::ViewMerged => {
            let read = view::all(node, now);
            let telling = Telling::of_view(&node.table, &node.setup.clusterings);
            Reply::Merged(telling.partitions(&read))
        }
        Op::ViewSelect => {
            let rows = view::select(node, now);
            Reply::Rows(Rows { rows, live: 0, tombstones: 0 })
        }
        _ => return None,
    })
}

/// How many clustering columns a query asks for.
fn asked(query: &Query) -> usize {
    query.clustering.len() + usize::from(query.slice.is_some())
}

fn stats(node: &Node, sstable: &Sstable, now: i64) -> StatsSeen {
    let file = &sstable.file;
    let counted = &file.statistics;
    let told = |ldt: i64| (ldt != NEVER && ldt != i64::MIN).then_some(ldt);
    StatsSeen {
        min_timestamp: sstable.min_ts(),
        max_timestamp: sstable.max_ts(),
        min_ldt: told(counted.min_ldt),
        max_ldt: told(counted.max_ldt),
        min_ttl: if counted.min_ttl == u32::MAX { 0 } else { i64::from(counted.min_ttl) },
        max_ttl: i64::from(counted.max_ttl),
        repaired_at: sstable.repaired_at,
        rows: counted.rows,
        columns: counted.columns,
        droppable: Ratio(node.droppable(sstable, now)),
        histogram: file.histogram.points.clone(),
    }
}

#[cfg(test)]
mod tests;
