#![doc = include_str!("../../../specs/cassandra/8-sstable.md")]
//! ---
//! *Module:* what does an sstable know about itself?

use std::collections::BTreeMap;

use super::data::{Key, Partition, Partitions, Row};
use super::words::{Config, Deletion, Format, Ratio, StatsSeen};
use crate::book::Book;
use crate::ruling::Rule;

/// An sstable. It never changes but for when it was repaired.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sstable {
    /// Its number.
    pub id: u64,
    /// What is in it.
    pub partitions: Partitions,
    /// When it was repaired, in milliseconds; 0 where it was not.
    pub repaired_at: i64,
    /// Its level, for LeveledCompactionStrategy.
    pub level: u8,
    /// What it knows about itself.
    pub stats: Stats,
    /// How many cells each of its partitions has.
    cells: Vec<u64>,
}

/// Statistics of what was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Stats {
    /// The smallest timestamp.
    pub min_ts: Option<i64>,
    /// The largest timestamp.
    pub max_ts: Option<i64>,
    /// The smallest local deletion time; inside, none is larger than all.
    min_ldt: Option<Option<i64>>,
    /// The largest local deletion time; inside, none is larger than all.
    max_ldt: Option<Option<i64>>,
    /// The smallest local deletion time of what has one.
    pub min_real_ldt: Option<i64>,
    min_ttl: Option<i64>,
    max_ttl: Option<i64>,
    rows: u64,
    columns: u64,
    drops: BTreeMap<i64, u64>,
    cells: u64,
}

/// Local deletion times compare as seconds; none comes after all of them.
fn order(ldt: Option<i64>) -> (bool, Option<i64>) {
    (ldt.is_none(), ldt)
}

impl Stats {
    fn ts(&mut self, ts: i64) {
        self.min_ts = Some(self.min_ts.map_or(ts, |min| min.min(ts)));
        self.max_ts = Some(self.max_ts.map_or(ts, |max| max.max(ts)));
    }

    fn ldt(&mut self, ldt: Option<i64>) {
        self.min_ldt = self.min_ldt.into_iter().chain([ldt]).min_by_key(|ldt| order(*ldt));
        self.max_ldt = self.max_ldt.into_iter().chain([ldt]).max_by_key(|ldt| order(*ldt));
        self.min_real_ldt = self.min_real_ldt.into_iter().chain(ldt).min();
    }

    fn ttl(&mut self, ttl: i64) {
        self.min_ttl = Some(self.min_ttl.map_or(ttl, |min| min.min(ttl)));
        self.max_ttl = Some(self.max_ttl.map_or(ttl, |max| max.max(ttl)));
    }

    /// What will be droppable from this second on.
    fn drop_time(&mut self, ldt: Option<i64>) {
        if let Some(ldt) = ldt {
            *self.drops.entry(ldt).or_default() += 1;
        }
    }

    fn deletion(&mut self, book: &Book, deletion: Deletion) {
        if book.by(Rule::CassandraSstableTombstonesCount) {
            self.ts(deletion.ts);
        }
        self.ldt(Some(deletion.ldt));
        self.drop_time(Some(deletion.ldt));
    }

    fn row(&mut self, book: &Book, row: &Row) {
        if let Some(marker) = row.liveness {
            self.ts(marker.ts);
            self.ttl(marker.ttl);
            if marker.ldt.is_some() || book.by(Rule::CassandraSstableLiveIsNone) {
                self.ldt(marker.ldt);
            }
            if marker.ldt.is_some() && book.by(Rule::CassandraSstableMarkerDrops) {
                self.drop_time(marker.ldt);
            }
        }
        row.deletion.into_iter().for_each(|deletion| self.deletion(book, deletion));
        row.complex.values().for_each(|deletion| self.deletion(book, *deletion));
        for cell in row.cells.values() {
            if !cell.is_tombstone() || book.by(Rule::CassandraSstableTombstonesCount) {
                self.ts(cell.ts);
            }
            if cell.ldt.is_some() || book.by(Rule::CassandraSstableLiveIsNone) {
                self.ldt(cell.ldt);
            }
            self.ttl(cell.ttl);
            self.drop_time(cell.ldt);
            self.cells += 1;
        }
        self.rows += 1;
        self.columns += match book.by(Rule::CassandraSstableColumns) {
            true => row.columns().len() as u64,
            false => row.cells.len() as u64,
        };
    }

    /// The statistics of one partition.
    pub fn of(book: &Book, partition: &Partition) -> Stats {
        let mut stats = Stats::default();
        partition.deletion.into_iter().for_each(|deletion| stats.deletion(book, deletion));
        if !partition.statics.is_empty() {
            stats.row(book, &partition.statics);
        }
        partition.rows.values().for_each(|row| stats.row(book, row));
        for range in &partition.ranges {
            stats.deletion(book, range.deletion);
            if book.by(Rule::CassandraSstableRangeTwice) {
                stats.deletion(book, range.deletion);
            }
        }
        stats
    }

    /// How much there is of it: rows, cells and what can be dropped.
    pub fn bulk(&self) -> u64 {
        self.rows + self.cells + self.drops.values().sum::<u64>()
    }

    /// Takes in those of another partition.
    fn add(&mut self, other: &Stats) {
        other.min_ts.into_iter().chain(other.max_ts).for_each(|ts| self.ts(ts));
        other.min_ttl.into_iter().chain(other.max_ttl).for_each(|ttl| self.ttl(ttl));
        other.min_ldt.into_iter().chain(other.max_ldt).for_each(|ldt| self.ldt(ldt));
        self.min_real_ldt = self.min_real_ldt.into_iter().chain(other.min_real_ldt).min();
        for (ldt, count) in &other.drops {
            *self.drops.entry(*ldt).or_default() += count;
        }
        self.rows += other.rows;
        self.columns += other.columns;
        self.cells += other.cells;
    }
}

impl Sstable {
    /// A new one, with this in it.
    pub fn new(book: &Book, id: u64, partitions: Partitions, repaired_at: i64) -> Sstable {
        let mut stats = Stats::default();
        let mut cells = Vec::new();
        for partition in partitions.values() {
            let one = Stats::of(book, partition);
            cells.push(one.cells);
            stats.add(&one);
        }
        Sstable { id, partitions, repaired_at, level: 0, stats, cells }
    }

    /// The first of its keys.
    pub fn first(&self) -> Option<Key> {
        self.partitions.keys().next().copied()
    }

    /// The last of its keys.
    pub fn last(&self) -> Option<Key> {
        self.partitions.keys().next_back().copied()
    }

    /// Does the range of its keys hold this one?
    pub fn spans(&self, key: Key) -> bool {
        self.first() <= Some(key) && Some(key) <= self.last()
    }

    /// Do the ranges of keys meet?
    pub fn meets(&self, other: &Sstable) -> bool {
        self.first() <= other.last() && other.first() <= self.last()
    }

    /// The smallest timestamp. Where there is none, nothing is known: it may be the smallest of all.
    pub fn min_ts(&self) -> i64 {
        self.stats.min_ts.unwrap_or(i64::MIN)
    }

    /// The largest timestamp. Where there is none, nothing is known: it may be the largest of all.
    pub fn max_ts(&self) -> i64 {
        self.stats.max_ts.unwrap_or(i64::MAX)
    }

    /// The second from which on all of it is dead; `None` where something lives for ever.
    pub fn max_ldt(&self) -> Option<i64> {
        self.stats.max_ldt.flatten()
    }

    /// Is it repaired?
    pub fn is_repaired(&self) -> bool {
        self.repaired_at != 0
    }

    /// The drop times, rounded up to whole minutes.
    fn histogram(&self, book: &Book, last: Option<i64>) -> BTreeMap<i64, u64> {
        let mut points = BTreeMap::new();
        for (ldt, count) in &self.stats.drops {
            let up = if book.by(Rule::CassandraSstableRounded) { 59 } else { 0 };
            let point = (ldt + up).div_euclid(60) * 60;
            let point = match last {
                Some(last) if point > last && book.by(Rule::CassandraSstableLastPoint) => last,
                _ => point,
            };
            *points.entry(point).or_default() += count;
        }
        points
    }

    /// The estimated droppable tombstone ratio: how much of it may be gone for the tombstones that
    /// were made before `gc_before`?
    pub fn droppable(&self, book: &Book, config: &Config, gc_before: i64) -> f64 {
        let is_blind = config.format == Format::Oa && gc_before > i64::from(i32::MAX);
        if is_blind && book.by(Rule::CassandraFaultRatioZero) {
            return 0.0;
        }
        let last = config.format.last_histogram_point(config.version);
        let points: Vec<(i64, f64)> = self
            .histogram(book, last)
            .into_iter()
            .map(|(point, count)| (point, count as f64))
            .collect();
        let size = |cells: u64| match book.by(Rule::CassandraSstableBucket) {
            true => bucket(cells),
            false => cells.max(1),
        };
        let sum: f64 = self.cells.iter().map(|cells| size(*cells) as f64).sum();
        let partitions = self.cells.len() as f64;
        let mean = sum / partitions;
        let mean = if book.by(Rule::CassandraSstableMean) { mean.ceil() } else { mean };
        estimate(book, &points, gc_before) / (mean * partitions)
    }

    /// The statistics as they are shown.
    pub fn seen(&self, book: &Book, config: &Config, gc_before: i64) -> StatsSeen {
        let stats = &self.stats;
        let last = config.format.last_histogram_point(config.version);
        StatsSeen {
            min_timestamp: self.min_ts(),
            max_timestamp: self.max_ts(),
            min_ldt: stats.min_ldt.flatten(),
            max_ldt: stats.max_ldt.flatten(),
            min_ttl: stats.min_ttl.unwrap_or(0),
            max_ttl: stats.max_ttl.unwrap_or(0),
            repaired_at: self.repaired_at,
            rows: stats.rows,
            columns: stats.columns,
            droppable: Ratio(self.droppable(book, config, gc_before)),
            histogram: self.histogram(book, last).into_iter().collect(),
        }
    }
}

/// How many of what the points hold lies at or before `at`? An estimate: a trapezoid between points.
fn estimate(book: &Book, points: &[(i64, f64)], at: i64) -> f64 {
    let Some((last, _)) = points.last() else { return 0.0 };
    if at >= *last {
        return points.iter().map(|(_, count)| count).sum();
    }
    let Some(i) = points.iter().rposition(|(point, _)| *point <= at) else { return 0.0 };
    let before: f64 = points[..i].iter().map(|(_, count)| count).sum();
    let ((point, here), (next, there)) = (points[i], points[i + 1]);
    if point == at && !book.by(Rule::CassandraSstableHalf) {
        return before + here;
    }
    if !book.by(Rule::CassandraSstableTrapezoid) {
        return before;
    }
    let width = (at - point) as f64 / (next - point) as f64;
    let between = here + (there - here) * width;
    before + here / 2.0 + (here + between) * width / 2.0
}

/// The upper bound of the bucket that a count falls into: 1, 2, … 8, 10, 12, 14, 17, 20, 24, 29, …
fn bucket(count: u64) -> u64 {
    let mut bound = 1;
    while bound < count {
        bound = ((bound as f64 * 1.2).round() as u64).max(bound + 1);
    }
    bound
}
