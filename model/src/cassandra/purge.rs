#![doc = include_str!("../../../specs/cassandra/9-purge.md")]
//! ---
//! *Module:* what is dropped because nobody needs it any more?

use super::cell::{is_live, marker_is_live};
use super::data::{Cell, Partition, Range, Row};
use super::words::Deletion;
use crate::book::Book;
use crate::ruling::Rule;

/// When may something go?
pub struct Purge<'a> {
    /// The book.
    pub book: &'a Book,
    /// The second in which it is asked.
    pub now: i64,
    /// `now − gc_grace_seconds`.
    pub gc_before: i64,
    /// Deletions of this second and later stay: something older is not repaired yet.
    pub oldest_unrepaired: Option<i64>,
    /// Can nothing older than this timestamp be anywhere else?
    pub is_alone: &'a dyn Fn(i64) -> bool,
    /// Is a row nothing without its marker? So it is in a view.
    pub is_strict: bool,
}

impl Purge<'_> {
    /// May a deletion of this timestamp and second go?
    fn may_go(&self, ts: i64, ldt: i64) -> bool {
        let is_held = self.oldest_unrepaired.is_some_and(|oldest| ldt >= oldest);
        if is_held && self.book.by(Rule::CassandraReadUnrepaired) {
            return false;
        }
        let is_old = if self.book.by(Rule::CassandraPurgeGcBefore) {
            ldt < self.gc_before
        } else {
            ldt <= self.gc_before
        };
        is_old && (self.is_alone)(ts)
    }

    fn deletion(&self, deletion: Deletion) -> Option<Deletion> {
        let goes =
            self.may_go(deletion.ts, deletion.ldt) && self.book.by(Rule::CassandraPurgeDeletion);
        (!goes).then_some(deletion)
    }

    /// What is left of a cell: itself, a tombstone in its place, or nothing.
    pub fn cell(&self, cell: &Cell) -> Option<Cell> {
        let Some(ldt) = cell.ldt.filter(|_| !is_live(self.book, cell, self.now)) else {
            return Some(cell.clone());
        };
        if self.may_go(cell.ts, ldt) && self.book.by(Rule::CassandraPurgeCell) {
            return None;
        }
        if cell.ttl == 0 || !self.book.by(Rule::CassandraPurgeConvert) {
            return Some(cell.clone());
        }
        let written = ldt - cell.ttl;
        let tombstone = Cell { ts: cell.ts, ttl: 0, ldt: Some(written), value: Vec::new() };
        if self.may_go(cell.ts, written) && self.book.by(Rule::CassandraPurgeRetest) {
            return None;
        }
        // Beside a living cell with the same timestamp, the tombstone wins where the cell did not.
        let becomes = self.book.by(Rule::CassandraFaultVanish);
        Some(if becomes { tombstone } else { cell.clone() })
    }

    fn row(&self, row: &Row) -> Row {
        let mut row = row.clone();
        row.liveness = row.liveness.filter(|marker| {
            let Some(ldt) = marker.ldt else { return true };
            let by = |ldt| self.may_go(marker.ts, ldt);
            marker_is_live(self.book, marker, self.now)
                || !match self.book.by(Rule::CassandraPurgeMarker) {
                    true => by(ldt),
                    false => by(ldt - marker.ttl),
                }
        });
        row.deletion = row.deletion.and_then(|deletion| self.deletion(deletion));
        row.complex.retain(|_, deletion| self.deletion(*deletion).is_some());
        let cells = row.cells.iter();
        row.cells = cells.filter_map(|(key, cell)| Some((*key, self.cell(cell)?))).collect();
        row
    }

    /// A boundary one side of which may go becomes the bound of the other side.
    fn ranges(&self, ranges: &[Range]) -> Vec<Range> {
        let stays: Vec<bool> =
            ranges.iter().map(|range| self.deletion(range.deletion).is_some()).collect();
        let shares_a_boundary = |at: usize| {
            let after = at + 1 < ranges.len() && ranges[at].end == ranges[at + 1].start;
            let before = at > 0 && ranges[at - 1].end == ranges[at].start;
            after && stays[at + 1] || before && stays[at - 1]
        };
        let is_kept = |at: usize| {
            stays[at] || shares_a_boundary(at) && !self.book.by(Rule::CassandraPurgeBoundary)
        };
        let kept = ranges.iter().enumerate().filter(|(at, _)| is_kept(*at));
        kept.map(|(_, range)| range.clone()).collect()
    }

    /// What is left of a partition.
    pub fn partition(&self, partition: &Partition) -> Partition {
        let mut purged = Partition {
            deletion: partition.deletion.and_then(|deletion| self.deletion(deletion)),
            statics: self.row(&partition.statics),
            ..Partition::default()
        };
        for (place, row) in &partition.rows {
            let row = self.row(row);
            let is_nothing = self.is_strict
                && row.liveness.is_none()
                && row.deletion.is_none()
                && self.book.by(Rule::CassandraViewStrict);
            if !row.is_empty() && !is_nothing {
                purged.rows.insert(place.clone(), row);
            }
        }
        purged.ranges = self.ranges(&partition.ranges);
        purged
    }
}
