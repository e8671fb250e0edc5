#![doc = include_str!("../../../specs/cassandra/7-memtable.md")]
//! ---
//! *Module:* what does a memtable remember, and what becomes of it?

use super::data::{Key, Partition, Partitions, Row};
use super::row;
use super::sstable::Stats;
use crate::book::Book;
use crate::ruling::Rule;

/// 2015-09-22, in seconds: what the statistics of an update begin with.
const EPOCH_S: i64 = 1_442_880_000;
/// The same in microseconds.
const EPOCH_US: i64 = 1_442_880_000_000_000;
/// How the server writes down that it knows no smallest timestamp.
const UNKNOWN: i64 = -1;

/// What was written and is not in an sstable yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Memtable {
    /// The partitions, each as the updates have left it.
    pub partitions: Partitions,
    /// The smallest timestamp of all that was ever written to it.
    min_ts: Option<i64>,
    /// The smallest local deletion time of all that was ever written to it.
    min_ldt: Option<i64>,
}

impl Memtable {
    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// Takes in an update.
    pub fn apply(&mut self, book: &Book, key: Key, update: &Partition) {
        let stats = Stats::of(book, update);
        let ts = stats.min_ts.unwrap_or(EPOCH_US);
        self.min_ts = Some(self.min_ts.map_or(ts, |min| min.min(ts)));
        let ldt = stats.min_real_ldt;
        let ldt = match ldt {
            None if book.by(Rule::CassandraReadBoundPlain) => Some(EPOCH_S),
            ldt => ldt,
        };
        self.min_ldt = self.min_ldt.into_iter().chain(ldt).min();
        row::apply(book, self.partitions.entry(key).or_default(), update);
    }

    /// The smallest timestamp that it may hold, for a purge: of all that was ever written to it, in
    /// any partition.
    pub fn smallest_timestamp(&self, book: &Book) -> Option<i64> {
        let ts = if book.by(Rule::CassandraMemtableAllWrites) {
            self.min_ts
        } else {
            let shown = self.partitions.values().map(|partition| row::normal(book, partition));
            shown.filter_map(|partition| Stats::of(book, &partition).min_ts).min()
        };
        let is_taken_for_none = |ts: i64| match ts {
            UNKNOWN => book.by(Rule::CassandraFaultMinusOne),
            EPOCH_US => book.by(Rule::CassandraFaultEpoch),
            _ => false,
        };
        ts.filter(|ts| !is_taken_for_none(*ts))
    }

    /// The smallest local deletion time that a read takes it to hold.
    pub fn smallest_deletion_time(&self) -> Option<i64> {
        self.min_ldt
    }

    /// A partition as a read or a flush sees it.
    pub fn read(&self, book: &Book, key: Key) -> Option<Partition> {
        self.partitions.get(&key).map(|partition| row::normal(book, partition))
    }

    /// What a flush writes. Nothing is purged, and nothing that has expired is changed.
    pub fn flushed(&self, book: &Book) -> Partitions {
        if !self.is_empty() && !book.by(Rule::CassandraMemtableFlush) {
            return Partitions::new();
        }
        let all = self.partitions.keys().filter_map(|key| Some((*key, self.read(book, *key)?)));
        all.filter(|(_, partition)| !partition.is_empty()).collect()
    }
}

/// Takes collections that are there without a deletion and without an element out of what is
/// written to a file, where the file cannot show them.
pub fn without_hollow(book: &Book, partitions: &mut Partitions, writes_empty: bool) {
    let strip = |row: &mut Row| {
        let is_kept = writes_empty && !row.complex.is_empty();
        if !row.hollow.is_empty() && !is_kept && book.by(Rule::CassandraMemtableHollow) {
            row.hollow.clear();
        }
    };
    for partition in partitions.values_mut() {
        strip(&mut partition.statics);
        partition.rows.values_mut().for_each(strip);
        partition.rows.retain(|_, row| !row.is_empty());
    }
}
