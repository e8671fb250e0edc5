#![doc = include_str!("../../../specs/cassandra/6-row.md")]
//! ---
//! *Module:* what do several sources come to, row by row?

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Deleted, Partition, Place, Row};
use super::range;
use super::reconcile::{covers, is_stronger, put_cell, put_marker, stronger, strongest};
use super::words::{ColumnId, Deletion};
use crate::book::Book;
use crate::ruling::Rule;

/// The deletion around a row: that of its partition, or of the range that it lies in.
pub fn around(book: &Book, partition: &Partition, place: &Place) -> Deleted {
    stronger(book, partition.deletion, partition.range_at(place))
}

/// Puts one partition into another, as an update or a memtable takes in what is written.
pub fn apply(book: &Book, there: &mut Partition, update: &Partition) {
    there.deletion = stronger(book, there.deletion, update.deletion);
    for range in &update.ranges {
        range::add(book, &mut there.ranges, range);
    }
    put(book, &mut there.statics, &update.statics);
    for (place, row) in &update.rows {
        put(book, there.rows.entry(place.clone()).or_default(), row);
    }
}

/// Puts what an update has of a row into the same row.
pub fn put(book: &Book, row: &mut Row, update: &Row) {
    row.deletion = stronger(book, row.deletion, update.deletion);
    put_marker(book, row, update.liveness);
    for (column, deletion) in &update.complex {
        let there = row.complex.get(column).copied();
        row.complex.extend(stronger(book, there, Some(*deletion)).map(|it| (*column, it)));
    }
    for (key, cell) in &update.cells {
        put_cell(book, row, *key, cell);
    }
    row.hollow.extend(&update.hollow);
    let own = row.deletion;
    weaken(book, row, own, false);
    if own.is_some() {
        row.hollow.clear();
    }
}

/// Takes out of a row what `outer` covers, as one memtable does. The deletion of a collection goes
/// only where `outer` is stronger; that of the row, where it is asked for, where it is not stronger
/// than `outer`.
pub fn weaken(book: &Book, row: &mut Row, outer: Deleted, with_deletion: bool) {
    if row.liveness.is_some_and(|marker| covers(book, outer, marker.ts)) {
        row.liveness = None;
    }
    let is_weak = !is_stronger(book, row.deletion, outer);
    if with_deletion && row.deletion.is_some() && is_weak && book.by(Rule::CassandraRowDeletion) {
        row.deletion = None;
    }
    row.complex.retain(|_, deletion| match Some(*deletion) == outer {
        true => book.by(Rule::CassandraRowEqualComplex),
        false => !is_stronger(book, outer, Some(*deletion)),
    });
    let complex = row.complex.clone();
    row.cells.retain(|(column, _), cell| {
        !covers(book, outer, cell.ts) && !covers(book, complex.get(column).copied(), cell.ts)
    });
    let row_cells = row.columns();
    row.hollow.retain(|column| !complex.contains_key(column) && !row_cells.contains(column));
}

/// A partition as one memtable shows it: what is shadowed inside it is not seen.
pub fn normal(book: &Book, partition: &Partition) -> Partition {
    let deletion = partition.deletion;
    let ranges = range::join(book, range::beside(book, &partition.ranges, deletion));
    let mut shown = Partition { deletion, ranges, ..Partition::default() };
    shown.statics = partition.statics.clone();
    if book.by(Rule::CassandraRowStatics) {
        weaken(book, &mut shown.statics, deletion, false);
    }
    for (place, row) in &partition.rows {
        let mut row = row.clone();
        weaken(book, &mut row, around(book, &shown, place), true);
        if !row.is_empty() {
            shown.rows.insert(place.clone(), row);
        }
    }
    shown
}

/// Merges what several sources have of one partition.
pub fn merge(book: &Book, sources: &[&Partition]) -> Partition {
    if let [only] = sources
        && book.by(Rule::CassandraRowSingle)
    {
        return (*only).clone();
    }
    let deletion = strongest(book, sources.iter().map(|source| source.deletion));
    let ranges: Vec<_> = sources.iter().map(|source| &source.ranges[..]).collect();
    let ranges = range::merge(book, &ranges, deletion);
    let mut merged = Partition { deletion, ranges, ..Partition::default() };
    let statics: Vec<&Row> =
        sources.iter().map(|source| &source.statics).filter(|row| !row.is_empty()).collect();
    let over_statics = deletion.filter(|_| book.by(Rule::CassandraRowStatics));
    merged.statics = merge_rows(book, &statics, over_statics);
    let places: BTreeSet<&Place> = sources.iter().flat_map(|source| source.rows.keys()).collect();
    for place in places {
        let rows: Vec<&Row> = sources.iter().filter_map(|source| source.rows.get(place)).collect();
        let row = merge_rows(book, &rows, around(book, &merged, place));
        if !row.is_empty() {
            merged.rows.insert(place.clone(), row);
        }
    }
    merged
}

/// Merges what several sources have of one row, inside the deletion `around` it.
fn merge_rows(book: &Book, rows: &[&Row], around: Deleted) -> Row {
    if let ([only], None) = (rows, around)
        && book.by(Rule::CassandraRowSingle)
    {
        return (*only).clone();
    }
    let mut merged = Row::default();
    for row in rows {
        put_marker(book, &mut merged, row.liveness);
    }
    merged.deletion = strongest(book, rows.iter().map(|row| row.deletion));
    if !is_stronger(book, merged.deletion, around) && book.by(Rule::CassandraRowDeletion) {
        merged.deletion = None;
    }
    let active = stronger(book, around, merged.deletion);
    if merged.liveness.is_some_and(|marker| covers(book, active, marker.ts)) {
        merged.liveness = None;
    }
    merged.complex = merge_complex(book, rows, active);
    for row in rows {
        for (key, cell) in &row.cells {
            let over = stronger(book, active, merged.complex.get(&key.0).copied());
            if !covers(book, over, cell.ts) {
                put_cell(book, &mut merged, *key, cell);
            }
        }
    }
    let hollow = || rows.iter().flat_map(|row| row.hollow.iter().copied());
    if hollow().next().is_some() && !book.by(Rule::CassandraMemtableHollow) {
        merged.hollow = hollow().collect();
    }
    merged
}

/// The deletions of collections that are left inside `active`: those that are stronger.
fn merge_complex(book: &Book, rows: &[&Row], active: Deleted) -> BTreeMap<ColumnId, Deletion> {
    let mut complex: BTreeMap<ColumnId, Deletion> = BTreeMap::new();
    for (column, deletion) in rows.iter().flat_map(|row| &row.complex) {
        let there = complex.get(column).copied();
        complex.extend(stronger(book, there, Some(*deletion)).map(|it| (*column, it)));
    }
    complex.retain(|_, deletion| match Some(*deletion) == active {
        true => !book.by(Rule::CassandraRowComplex),
        false => is_stronger(book, Some(*deletion), active),
    });
    complex
}
