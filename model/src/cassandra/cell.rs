#![doc = include_str!("../../../specs/cassandra/1-cell.md")]
//! ---
//! *Module:* is a cell alive? Is a row there?

use super::data::{Cell, Liveness, Row};
use crate::book::Book;
use crate::ruling::Rule;

/// Is a cell alive in the second `now`?
pub fn is_live(book: &Book, cell: &Cell, now: i64) -> bool {
    match cell.ldt {
        None => book.by(Rule::CassandraCellLive),
        Some(_) if cell.ttl == 0 && book.by(Rule::CassandraCellTombstone) => false,
        Some(ldt) if book.by(Rule::CassandraCellExpiring) => now < ldt,
        Some(ldt) => now <= ldt,
    }
}

/// Is a marker alive in the second `now`?
pub fn marker_is_live(book: &Book, marker: &Liveness, now: i64) -> bool {
    if marker.is_dead && book.by(Rule::CassandraViewDeadMarker) {
        return false;
    }
    match marker.ldt {
        None => true,
        Some(ldt) if book.by(Rule::CassandraCellMarkerExpiring) => now < ldt,
        Some(ldt) => now <= ldt,
    }
}

/// Does a row live: by its marker, or by any cell?
pub fn row_is_live(book: &Book, row: &Row, now: i64) -> bool {
    let by_marker = row.liveness.is_some_and(|marker| marker_is_live(book, &marker, now))
        && book.by(Rule::CassandraCellRowByMarker);
    by_marker
        || row.cells.values().any(|cell| is_live(book, cell, now))
            && book.by(Rule::CassandraCellRowByCell)
}
