#![doc = include_str!("../../../specs/cassandra/11-garbage.md")]
//! ---
//! *Module:* what of a partition is shadowed by other sstables?

use std::collections::BTreeSet;

use super::data::{Deleted, Partition, Place, Range, Row};
use super::reconcile::{cell_wins, covers, is_stronger, stronger};
use super::row::{around, weaken};
use super::words::{ColumnId, Shadow};
use crate::book::Book;
use crate::ruling::Rule;

/// What is left of `data` beside `shadow`, which stays where it is.
pub fn skip(book: &Book, data: &Partition, shadow: &Partition, how: Shadow) -> Partition {
    let mut left = Partition::default();
    if is_stronger(book, data.deletion, shadow.deletion)
        || data.deletion.is_some() && !book.by(Rule::CassandraGarbageDeletion)
    {
        left.deletion = data.deletion;
    }
    left.statics = filter(book, &data.statics, Some(&shadow.statics), shadow.deletion, how);
    for (place, row) in &data.rows {
        let row = filter(book, row, shadow.rows.get(place), around(book, shadow, place), how);
        if !row.is_empty() {
            left.rows.insert(place.clone(), row);
        }
    }
    left.ranges = ranges(book, data, shadow);
    left
}

fn filter(book: &Book, row: &Row, other: Option<&Row>, around: Deleted, how: Shadow) -> Row {
    let mut row = row.clone();
    let deletion = stronger(book, around, other.and_then(|other| other.deletion));
    let other = match other {
        Some(other) if how == Shadow::Cell && book.by(Rule::CassandraGarbageCells) => other,
        _ => {
            if book.by(Rule::CassandraGarbageRows) {
                weaken(book, &mut row, deletion, true);
            }
            return row;
        }
    };
    if row.liveness.is_some_and(|marker| covers(book, deletion, marker.ts)) {
        row.liveness = None;
    }
    if is_stronger(book, deletion, row.deletion) {
        row.deletion = None;
    }
    let outer = |column: ColumnId| stronger(book, deletion, other.complex.get(&column).copied());
    row.complex.retain(|column, there| match outer(*column) == Some(*there) {
        true => book.by(Rule::CassandraGarbageEqualComplex),
        false => !is_stronger(book, outer(*column), Some(*there)),
    });
    row.cells.retain(|key, cell| {
        let stays = |other| match cell == other {
            true => book.by(Rule::CassandraGarbageIdentical),
            false => cell_wins(book, cell, other),
        };
        !covers(book, outer(key.0), cell.ts) && other.cells.get(key).is_none_or(stays)
    });
    row
}

/// The ranges that are left. One that the shadow meets in its middle is not closed there: it goes on
/// to its own next end.
fn ranges(book: &Book, data: &Partition, shadow: &Partition) -> Vec<Range> {
    let all = data.ranges.iter().chain(&shadow.ranges);
    let places: BTreeSet<&Place> = all.flat_map(|range| [&range.start, &range.end]).collect();
    let open_at = |ranges: &[Range], place: &Place| -> Deleted {
        let range = ranges.iter().find(|range| range.start <= *place && *place < range.end);
        range.map(|range| range.deletion)
    };
    let is_end_of_data =
        |place: &Place| data.ranges.iter().any(|it| it.start == *place || it.end == *place);
    let mut left: Vec<Range> = Vec::new();
    let mut open: Option<Range> = None;
    for place in places {
        let here = open_at(&data.ranges, place);
        let over = stronger(book, shadow.deletion, open_at(&shadow.ranges, place));
        let is_shadowed = !is_stronger(book, here, over);
        let closes =
            is_end_of_data(place) || is_shadowed && !book.by(Rule::CassandraGarbageLateClose);
        if closes && let Some(range) = open.take() {
            left.push(Range { end: place.clone(), ..range });
        }
        if open.is_none()
            && !is_shadowed
            && let Some(deletion) = here
        {
            let (start, end) = (place.clone(), place.clone());
            open = Some(Range { start, end, deletion });
        }
    }
    left
}
