//! The whole state of a node, and what each word does with it.

use super::compaction::Compaction;
use super::data::{Key, Partition, Partitions, Place, Row};
use super::memtable::Memtable;
use super::read::Read;
use super::select::Unanswered;
use super::sstable::Sstable;
use super::strategy::Memory;
use super::words::{
    Cassandra, CellSeen, Column, Config, Failure, ItemSeen, LivenessSeen, MarkerSeen, Op,
    PartitionSeen, Reply, RowSeen, Shown, SstableSeen, Statement, Table,
};
use super::{fault, select, strategy, view, write};
use crate::book::Book;
use crate::engine::{Spec, Step};
use crate::ruling::{Rule, Ruling};
use crate::time::Millis;

/// A node with one table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The table as it is now.
    pub table: Table,
    /// What is not in an sstable yet.
    pub memtable: Memtable,
    /// The sstables in the order in which they came.
    pub sstables: Vec<Sstable>,
    /// The number of the next one.
    pub next: u64,
    /// The memtable of the view. It is never flushed here.
    pub view: Memtable,
    /// What the last snapshot kept.
    pub snapshot: Vec<Sstable>,
    /// What the strategies of the unrepaired and of the repaired sstables remember.
    pub memory: [Memory; 2],
}

impl Spec for Cassandra {
    type State = State;

    fn init(config: &Config) -> State {
        State {
            table: config.table.clone(),
            memtable: Memtable::default(),
            sstables: Vec::new(),
            next: 1,
            view: Memtable::default(),
            snapshot: Vec::new(),
            memory: Default::default(),
        }
    }

    fn step(config: &Config, state: &State, now: Millis, op: &Op) -> Step<Cassandra> {
        let mut node = state.clone();
        let book = Book::without(&config.without);
        let reply = Doing { book: &book, config, now_ms: now.0 }.op(&mut node, op);
        Step { state: node, reply: book.close(reply) }
    }

    fn answer(config: &Config, state: &State, now: Millis, op: &Op) -> Ruling<Reply> {
        let book = Book::without(&config.without);
        let doing = Doing { book: &book, config, now_ms: now.0 };
        match doing.question(state, op) {
            Some(reply) => book.close(reply),
            None => Cassandra::step(config, state, now, op).reply,
        }
    }
}

/// One step.
struct Doing<'a> {
    book: &'a Book,
    config: &'a Config,
    now_ms: i64,
}

impl Doing<'_> {
    fn now(&self) -> i64 {
        super::seconds(self.book, self.now_ms)
    }

    fn op(&self, node: &mut State, op: &Op) -> Reply {
        if let Some(reply) = self.question(node, op) {
            return reply;
        }
        let before = node.next;
        let reply = self.order(node, op);
        node.number_from(before);
        match op {
            Op::Write(_) | Op::SetRepaired { .. } => reply,
            _ if reply != Reply::Done => reply,
            _ => Reply::Made(
                node.sstables.iter().map(|it| it.id).filter(|id| *id >= before).collect(),
            ),
        }
    }

    // ---- what changes something --------------------------------------------------------------------

    fn order(&self, node: &mut State, op: &Op) -> Reply {
        if let Some(failure) = fault::fails(self.book, self.config, node, op, self.now()) {
            return Reply::Failed(failure);
        }
        let compaction = Compaction { book: self.book, config: self.config, now: self.now() };
        match op {
            Op::Write(statements) => return self.write(node, statements),
            Op::Flush => self.flush(node),
            Op::Compact(ids) => compaction.user_defined(node, ids, false),
            Op::Major { unrepaired_first } => compaction.major(node, *unrepaired_first),
            Op::GarbageCollect(shadow) => {
                if compaction.garbage_collect(node, *shadow).is_none() {
                    return Reply::Failed(Failure::ConcurrentModification);
                }
            }
            Op::Tasks(tasks) => {
                for ids in tasks {
                    compaction.task(node, ids, node.usual_shadow());
                }
            }
            Op::AtOnce(ops) => {
                for op in ops {
                    let reply = self.order(node, op);
                    if reply != Reply::Done {
                        return reply;
                    }
                }
            }
            Op::Background(most) => strategy::run(&compaction, node, *most),
            Op::SetRepaired { sstable, at_ms } => {
                let it = node.sstables.iter_mut().find(|it| it.id == *sstable);
                it.into_iter().for_each(|it| it.repaired_at = *at_ms);
            }
            Op::AlterGcGrace(seconds) => {
                if *seconds < 0 && self.book.by(Rule::CassandraExpiryRange) {
                    return Reply::Refused;
                }
                let is_changed = node.table.gc_grace_seconds != *seconds;
                node.table.gc_grace_seconds = *seconds;
                if is_changed && self.book.by(Rule::CassandraMemtableAlterFlushes) {
                    self.flush(node);
                }
            }
            Op::AlterDefaultTtl(seconds) => {
                let is_legal = (0..=super::expiry::MAX_TTL).contains(seconds);
                if !is_legal && self.book.by(Rule::CassandraExpiryRange) {
                    return Reply::Refused;
                }
                let is_changed = node.table.default_time_to_live != *seconds;
                node.table.default_time_to_live = *seconds;
                if is_changed && self.book.by(Rule::CassandraMemtableAlterFlushes) {
                    self.flush(node);
                }
            }
            Op::AlterCompaction(options) => {
                let is_unified = options
                    .get("class")
                    .is_some_and(|class| class.ends_with("UnifiedCompactionStrategy"));
                if is_unified && !self.config.version.has_unified_compaction() {
                    return Reply::Refused;
                }
                let is_changed = node.table.compaction != *options;
                node.table.compaction.clone_from(options);
                if is_changed {
                    node.memory = Default::default();
                }
                if is_changed && self.book.by(Rule::CassandraMemtableAlterFlushes) {
                    self.flush(node);
                }
            }
            Op::Truncate => {
                if self.book.by(Rule::CassandraMemtableTruncate) {
                    node.memtable = Memtable::default();
                    node.sstables.clear();
                    node.view = Memtable::default();
                }
            }
            Op::Restart => {
                node.memory = Default::default();
                if self.book.by(Rule::CassandraMemtableRestart) {
                    self.flush(node);
                } else {
                    node.memtable = Memtable::default();
                }
            }
            Op::Snapshot => {
                self.flush(node);
                node.snapshot.clone_from(&node.sstables);
            }
            Op::Refresh => {
                let kept = node.snapshot.clone().into_iter();
                for kept in kept.filter(|_| self.book.by(Rule::CassandraMemtableRefresh)) {
                    node.add(self.book, self.config, kept.partitions, kept.repaired_at);
                }
            }
            Op::Sstables
            | Op::Stats
            | Op::Merged
            | Op::Select(_)
            | Op::ViewMerged
            | Op::ViewSelect => {}
        }
        Reply::Done
    }

    fn write(&self, node: &mut State, statements: &[Statement]) -> Reply {
        let (book, now) = (self.book, self.now());
        let updates = write::updates(book, self.config, &node.table, self.now_ms, statements);
        let Ok(updates) = updates else { return Reply::Refused };
        for (key, update) in updates {
            if node.table.view.is_some() {
                let read = Read { book, config: self.config, node, now };
                let existing = read.one(key, &[(Place::before(&[]), Place::after(&[]))]);
                let updates = view::updates(book, &node.table, key, &existing, &update, now);
                for (key, update) in &updates {
                    node.view.apply(book, *key, update);
                }
            }
            node.memtable.apply(book, key, &update);
        }
        Reply::Done
    }

    fn flush(&self, node: &mut State) {
        let memtable = std::mem::take(&mut node.memtable);
        let flushed = memtable.flushed(self.book);
        node.add(self.book, self.config, flushed, 0);
    }

    // ---- what is only asked --------------------------------------------------------------------------

    fn question(&self, node: &State, op: &Op) -> Option<Reply> {
        let (book, now) = (self.book, self.now());
        if matches!(op, Op::Sstables | Op::Merged | Op::Select(_))
            && let Some(failure) = fault::fails(book, self.config, node, op, now)
        {
            return Some(Reply::Failed(failure));
        }
        let read = Read { book, config: self.config, node, now };
        let table = &node.table;
        Some(match op {
            Op::Sstables => {
                let seen = |it: &Sstable| SstableSeen {
                    id: it.id,
                    partitions: seen(table, &it.partitions),
                };
                Reply::Sstables(node.sstables.iter().map(seen).collect())
            }
            Op::Stats => {
                let gc_before = now - table.gc_grace_seconds;
                let seen = |it: &Sstable| (it.id, it.seen(book, self.config, gc_before));
                Reply::Stats(node.sstables.iter().map(seen).collect())
            }
            Op::Merged => Reply::Merged(seen(table, &read.all())),
            Op::Select(query) => match select::select(&read, query) {
                Ok(rows) => Reply::Rows(rows),
                Err(Unanswered::Invalid) => Reply::Refused,
                Err(Unanswered::Overwhelmed) => Reply::Failed(Failure::TombstoneOverwhelming),
            },
            Op::ViewMerged => Reply::Merged(seen(&view_of(table), &self.view(node))),
            Op::ViewSelect => {
                let rows = select::select_view(book, table, &self.view(node), now);
                Reply::Rows(super::words::Rows { rows, live: 0, tombstones: 0 })
            }
            _ => return None,
        })
    }

    fn view(&self, node: &State) -> Partitions {
        let gc_grace = node.table.view.unwrap_or_default();
        view::read(self.book, &node.view, gc_grace, self.now())
    }
}

/// The table that a view is, as far as its rows are shown.
fn view_of(table: &Table) -> Table {
    use super::words::Clustering;
    let p = Clustering { name: "p".to_owned(), descending: false };
    let clustering = std::iter::once(p).chain(table.clustering.iter().cloned()).collect();
    Table { clustering, ..table.clone() }
}

impl State {
    /// Numbers those that came since `from` without gaps: what was made and compacted again on the
    /// way has no number.
    fn number_from(&mut self, from: u64) {
        self.next = from;
        for sstable in &mut self.sstables {
            if sstable.id >= from {
                sstable.id = self.next;
                self.next += 1;
            }
        }
    }
}

// ---- what is seen ------------------------------------------------------------------------------

fn seen(table: &Table, partitions: &Partitions) -> Vec<PartitionSeen> {
    partitions.iter().map(|(key, partition)| partition_seen(table, *key, partition)).collect()
}

fn partition_seen(table: &Table, key: Key, partition: &Partition) -> PartitionSeen {
    let mut items: Vec<(&Place, ItemSeen)> = Vec::new();
    for (place, row) in &partition.rows {
        items.push((place, ItemSeen::Row(row_seen(table, &place.prefix, row))));
    }
    let mut bounds: Vec<&Place> = Vec::new();
    bounds.extend(partition.ranges.iter().flat_map(|range| [&range.start, &range.end]));
    bounds.dedup();
    for place in bounds {
        let with = |is_it: &dyn Fn(&&super::data::Range) -> bool| {
            partition.ranges.iter().find(|range| is_it(range)).map(|range| range.deletion)
        };
        let marker = MarkerSeen {
            prefix: components(table, &place.prefix),
            is_after: place.side > 0,
            close: with(&|range| range.end == *place),
            open: with(&|range| range.start == *place),
        };
        items.push((place, ItemSeen::Marker(marker)));
    }
    items.sort_by_key(|(place, _)| *place);
    let has_statics = !partition.statics.is_empty();
    PartitionSeen {
        key: key.p,
        deletion: partition.deletion,
        statics: has_statics.then(|| row_seen(table, &[], &partition.statics)),
        items: items.into_iter().map(|(_, item)| item).collect(),
    }
}

fn components(table: &Table, prefix: &[i64]) -> Vec<i64> {
    prefix.iter().enumerate().map(|(at, value)| table.component(at, *value)).collect()
}

fn row_seen(table: &Table, prefix: &[i64], row: &Row) -> RowSeen {
    let mut cells = Vec::new();
    for (id, Column { name, .. }) in (0..).zip(&table.columns) {
        let complex = row.complex.get(&id);
        cells.extend(complex.map(|deletion| CellSeen::Complex(name.clone(), *deletion)));
        for ((_, path), cell) in row.cells.iter().filter(|((there, _), _)| *there == id) {
            cells.push(CellSeen::Cell {
                column: name.clone(),
                path: *path,
                ts: cell.ts,
                ttl: if cell.ldt.is_some() { cell.ttl } else { 0 },
                ldt: cell.ldt,
                value: match cell.is_tombstone() {
                    true => Shown::Tombstone,
                    false => table.shown(id, &cell.value),
                },
            });
        }
    }
    let liveness = row.liveness.map(|marker| LivenessSeen {
        ts: marker.ts,
        expires: marker.ldt.map(|ldt| (marker.ttl, ldt)),
    });
    let names = table.clustering.iter().map(|column| column.name.clone());
    let clustering = names.zip(components(table, prefix)).collect();
    RowSeen { clustering, liveness, deletion: row.deletion, cells }
}
