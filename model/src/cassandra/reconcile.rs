#![doc = include_str!("../../../specs/cassandra/3-reconcile.md")]
//! ---
//! *Module:* which of two cells, of two markers, of two deletions is kept?

use super::data::{Cell, CellKey, Deleted, Liveness, Row};
use super::words::Deletion;
use crate::book::Book;
use crate::ruling::Rule;

/// Is `one` kept where `two` has the same place? Where they are equal, either is.
///
/// The first difference decides.
pub fn cell_wins(book: &Book, one: &Cell, two: &Cell) -> bool {
    if one.ts != two.ts && book.by(Rule::CassandraReconcileTimestamp) {
        return one.ts > two.ts;
    }
    let dies = |cell: &Cell| cell.ldt.is_some();
    if dies(one) != dies(two) && book.by(Rule::CassandraReconcileDying) {
        return dies(one);
    }
    if dies(one) && dies(two) {
        if one.is_tombstone() != two.is_tombstone() && book.by(Rule::CassandraReconcileTombstone) {
            return one.is_tombstone();
        }
        if one.ldt != two.ldt && book.by(Rule::CassandraReconcileLater) {
            return one.ldt > two.ldt;
        }
        if one.ttl != two.ttl && book.by(Rule::CassandraReconcileShorter) {
            return one.ttl < two.ttl;
        }
    }
    if one.value != two.value && book.by(Rule::CassandraReconcileValue) {
        return one.value > two.value;
    }
    true
}

/// Is the marker `one` kept where `two` is the marker of the same row?
pub fn marker_wins(book: &Book, one: &Liveness, two: &Liveness) -> bool {
    if one.ts != two.ts && book.by(Rule::CassandraReconcileMarkerTimestamp) {
        return one.ts > two.ts;
    }
    if one.is_dead != two.is_dead && book.by(Rule::CassandraReconcileMarkerDead) {
        return one.is_dead;
    }
    let dies = |marker: &Liveness| marker.ldt.is_some();
    if dies(one) != dies(two) && book.by(Rule::CassandraReconcileMarkerDying) {
        return dies(one);
    }
    if dies(one) && dies(two) {
        if one.ldt != two.ldt && book.by(Rule::CassandraReconcileMarkerLater) {
            return one.ldt > two.ldt;
        }
        if one.ttl != two.ttl && book.by(Rule::CassandraReconcileMarkerShorter) {
            return one.ttl < two.ttl;
        }
    }
    true
}

/// Is `one` stronger than `two`? Equals are not.
pub fn is_stronger(book: &Book, one: Deleted, two: Deleted) -> bool {
    match (one, two) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(one), Some(two)) if one.ts != two.ts => {
            book.by(Rule::CassandraReconcileDeletionTimestamp) && one.ts > two.ts
        }
        (Some(one), Some(two)) => {
            one.ldt > two.ldt && book.by(Rule::CassandraReconcileDeletionLater)
        }
    }
}

/// The stronger of two deletions; of equals the first.
pub fn stronger(book: &Book, one: Deleted, two: Deleted) -> Deleted {
    if is_stronger(book, two, one) { two } else { one }
}

/// The strongest of deletions; of equals the first.
pub fn strongest(book: &Book, deletions: impl IntoIterator<Item = Deleted>) -> Deleted {
    deletions.into_iter().fold(None, |one, two| stronger(book, one, two))
}

/// Does a deletion cover what was written at `ts`?
pub fn covers(book: &Book, deletion: Deleted, ts: i64) -> bool {
    match deletion {
        None => false,
        Some(Deletion { ts: deleted, .. }) if ts == deleted => {
            book.by(Rule::CassandraReconcileCoversEqual)
        }
        Some(deletion) => ts < deletion.ts,
    }
}

/// Puts a cell into a row, beside or in place of what is there.
pub fn put_cell(book: &Book, row: &mut Row, key: CellKey, cell: &Cell) {
    match row.cells.get_mut(&key) {
        Some(there) if cell_wins(book, there, cell) => {}
        Some(there) => *there = cell.clone(),
        None => drop(row.cells.insert(key, cell.clone())),
    }
}

/// Puts a marker into a row, beside or in place of what is there.
pub fn put_marker(book: &Book, row: &mut Row, marker: Option<Liveness>) {
    let Some(new) = marker else { return };
    match row.liveness {
        Some(there) if marker_wins(book, &there, &new) => {}
        _ => row.liveness = Some(new),
    }
}
