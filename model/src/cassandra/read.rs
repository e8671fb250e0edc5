#![doc = include_str!("../../../specs/cassandra/12-read.md")]
//! ---
//! *Module:* what does a node answer a coordinator, and what does it count?

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::cell::{is_live, row_is_live};
use super::data::{Key, Partition, Partitions, Place, Range, Row};
use super::machine::State;
use super::purge::Purge;
use super::row;
use super::sstable::Sstable;
use super::words::Config;
use crate::book::Book;
use crate::ruling::Rule;

/// One read on one node.
pub struct Read<'a> {
    /// The book.
    pub book: &'a Book,
    /// How the node is set up.
    pub config: &'a Config,
    /// What it holds.
    pub node: &'a State,
    /// The second in which it is asked.
    pub now: i64,
}

/// From where to where.
pub type Span = (Place, Place);

impl Read<'_> {
    /// Everything.
    pub fn all(&self) -> Partitions {
        let node = self.node;
        let bound = self.oldest_unrepaired(true, node.sstables.iter());
        let mut keys: BTreeSet<Key> = node.memtable.partitions.keys().copied().collect();
        keys.extend(node.sstables.iter().flat_map(|sstable| sstable.partitions.keys().copied()));
        let mut read = Partitions::new();
        for key in keys {
            let memtable = node.memtable.read(self.book, key);
            let mut sources: Vec<&Partition> = memtable.iter().collect();
            sources.extend(node.sstables.iter().filter_map(|it| it.partitions.get(&key)));
            let purged = self.purged(&row::merge(self.book, &sources), bound);
            if !purged.is_empty() {
                read.insert(key, purged);
            }
        }
        read
    }

    /// Spans of one partition.
    pub fn one(&self, key: Key, spans: &[Span]) -> Partition {
        let (book, node) = (self.book, self.node);
        let memtable = node.memtable.read(book, key);
        let mut sources: Vec<Partition> = memtable.iter().map(|there| cut(there, spans)).collect();
        let mut touched: Vec<&Sstable> = Vec::new();
        let deleted = |partition: &Partition| partition.deletion.map(|deletion| deletion.ts);
        let mut newest = memtable.as_ref().and_then(deleted);
        let spans_key = node.sstables.iter().filter(|sstable| sstable.spans(key));
        let mut sstables: Vec<&Sstable> = spans_key.collect();
        sstables.sort_by_key(|sstable| Reverse(sstable.max_ts()));
        for sstable in sstables {
            if newest.is_some_and(|deleted| sstable.max_ts() < deleted)
                && book.by(Rule::CassandraReadSkipsOlder)
            {
                break;
            }
            if self.config.version.skips_by_covered_clustering()
                && !meets(sstable, spans)
                && book.by(Rule::CassandraReadSkipsOutside)
            {
                continue;
            }
            touched.push(sstable);
            if let Some(partition) = sstable.partitions.get(&key) {
                sources.push(cut(partition, spans));
                newest = newest.max(deleted(partition));
            }
        }
        if sources.is_empty() {
            return Partition::default();
        }
        let bound = match book.by(Rule::CassandraReadBoundTouched) {
            true => self.oldest_unrepaired(memtable.is_some(), touched.into_iter()),
            false => self.oldest_unrepaired(true, node.sstables.iter()),
        };
        self.purged(&row::merge(book, &sources.iter().collect::<Vec<_>>()), bound)
    }

    /// The smallest local deletion time of what is read and not repaired: from there on, nothing is
    /// purged.
    fn oldest_unrepaired<'a>(
        &self,
        reads_memtable: bool,
        sstables: impl Iterator<Item = &'a Sstable>,
    ) -> Option<i64> {
        let node = self.node;
        if !node.only_repaired() {
            return None;
        }
        let memtable = (reads_memtable && !node.memtable.is_empty())
            .then(|| node.memtable.smallest_deletion_time())
            .flatten();
        let unrepaired = sstables.filter(|sstable| !sstable.is_repaired());
        let ldts = unrepaired.filter_map(|sstable| sstable.stats.min_real_ldt);
        ldts.chain(memtable).min()
    }

    fn purged(&self, partition: &Partition, oldest_unrepaired: Option<i64>) -> Partition {
        if !self.book.by(Rule::CassandraReadPurges) {
            return partition.clone();
        }
        let gc_before = self.now - self.node.table.gc_grace_seconds;
        let (book, now) = (self.book, self.now);
        let is_alone = |_| true;
        let purge = Purge {
            book,
            now,
            gc_before,
            oldest_unrepaired,
            is_alone: &is_alone,
            is_strict: false,
        };
        purge.partition(partition)
    }
}

/// Do the clusterings that an sstable covers meet the spans? One with a static row or a partition
/// deletion is taken to cover all.
fn meets(sstable: &Sstable, spans: &[Span]) -> bool {
    let mut covered: Vec<(&Place, &Place)> = Vec::new();
    for partition in sstable.partitions.values() {
        if !partition.statics.is_empty() || partition.deletion.is_some() {
            return true;
        }
        covered.extend(partition.rows.keys().map(|place| (place, place)));
        covered.extend(partition.ranges.iter().map(|range| (&range.start, &range.end)));
    }
    let first = covered.iter().map(|(start, _)| *start).min();
    let last = covered.iter().map(|(_, end)| *end).max();
    first
        .zip(last)
        .is_some_and(|(first, last)| spans.iter().any(|(start, end)| start < last && first < end))
}

/// The part of a partition within the spans.
fn cut(partition: &Partition, spans: &[Span]) -> Partition {
    let (deletion, statics) = (partition.deletion, partition.statics.clone());
    let mut part = Partition { deletion, statics, ..Partition::default() };
    let is_within = |place: &Place| spans.iter().any(|(start, end)| start < place && place < end);
    let rows = partition.rows.iter().filter(|(place, _)| is_within(place));
    part.rows = rows.map(|(place, row)| (place.clone(), row.clone())).collect();
    for (start, end) in spans {
        for range in &partition.ranges {
            let (start, end) = ((&range.start).max(start), (&range.end).min(end));
            if start < end {
                let (start, end) = (start.clone(), end.clone());
                part.ranges.push(Range { start, end, deletion: range.deletion });
            }
        }
    }
    part.ranges.sort_by(|one, two| one.start.cmp(&two.start));
    part
}

/// What a server counts on the way through what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Rows that live.
    pub live: u64,
    /// Tombstones.
    pub tombstones: u64,
}

impl Counts {
    /// Counts what is read of a partition: to its end, or to the row that fills the limit.
    pub fn partition(
        &mut self,
        book: &Book,
        now: i64,
        partition: &Partition,
        is_reversed: bool,
        limit: Option<u64>,
    ) {
        let is_seen = |row: &Row| row_is_live(book, row, now) || !row.hollow.is_empty();
        self.statics(book, now, &partition.statics);
        let mut items: Vec<(&Place, Option<&Row>)> =
            partition.rows.iter().map(|(place, row)| (place, Some(row))).collect();
        let mut bounds: BTreeSet<&Place> = BTreeSet::new();
        for range in &partition.ranges {
            bounds.extend([&range.start, &range.end]);
        }
        items.extend(bounds.into_iter().map(|place| (place, None)));
        items.sort_by_key(|(place, _)| *place);
        if is_reversed {
            items.reverse();
        }
        let mut seen = 0;
        for (_, row) in items {
            let Some(row) = row else {
                self.tombstones += u64::from(book.by(Rule::CassandraReadCountBound));
                continue;
            };
            self.row(book, now, row);
            seen += u64::from(is_seen(row));
            if limit.is_some_and(|limit| seen >= limit) && book.by(Rule::CassandraReadCountLimit) {
                return;
            }
        }
    }

    fn statics(&mut self, book: &Book, now: i64, row: &Row) {
        let before = self.live;
        self.row(book, now, row);
        if self.live > before && !book.by(Rule::CassandraReadCountStatic) {
            self.live = before;
        }
    }

    fn row(&mut self, book: &Book, now: i64, row: &Row) {
        let dead = row.cells.values().filter(|cell| !is_live(book, cell, now)).count() as u64;
        if dead > 0 && book.by(Rule::CassandraReadCountCell) {
            self.tombstones += dead;
        }
        if row_is_live(book, row, now) {
            self.live += 1;
        } else if dead == 0 {
            let has_deletion =
                row.deletion.is_some() || !row.complex.is_empty() || row.liveness.is_some();
            let counts = has_deletion && book.by(Rule::CassandraReadCountRow);
            self.tombstones += u64::from(counts);
        }
    }
}
