#![doc = include_str!("../../../specs/cassandra/13-select.md")]
//! ---
//! *Module:* what does CQL show?

use super::cell::{is_live, row_is_live};
use super::data::{Cell, Key, Partition, Partitions, Place, Row};
use super::read::{Counts, Read, Span};
use super::words::{ColumnId, CqlRow, Query, Rows, Shown, SimpleShown, Slice, Table};
use super::write::bounds;
use crate::book::Book;
use crate::ruling::Rule;

/// Why a query is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It asks for more clustering columns than there are.
    Invalid,
    /// It met more tombstones than it may.
    Overwhelmed,
}

/// What a query shows, and what the server counts on the way.
///
/// # Errors
/// [`Unanswered`] where it is no query of the table, or too many tombstones are met.
pub fn select(read: &Read<'_>, query: &Query) -> Result<Rows, Unanswered> {
    let (book, now, table) = (read.book, read.now, &read.node.table);
    let asked = query.clustering.len() + usize::from(query.slice.is_some());
    if asked > table.clustering.len() {
        return Err(Unanswered::Invalid);
    }
    let spans = spans(table, query);
    let is_whole = query.clustering.is_empty() && query.slice.is_none();
    let mut counts = Counts::default();
    let mut rows: Vec<CqlRow> = Vec::new();
    let mut most = 0;
    let mut show = |key: Key, partition: &Partition| {
        let left = query.limit.map(|limit| limit.saturating_sub(rows.len() as u64));
        let before = counts.tombstones;
        counts.partition(book, now, partition, query.reversed, left);
        // Each partition that is named is a command of its own; the whole table is one.
        let of_one = counts.tombstones - before;
        most = if query.keys.is_some() { of_one.max(most) } else { counts.tombstones };
        let shown = shown(book, table, key, partition, now, is_whole, query.reversed);
        rows.extend(shown.into_iter().take(left.map_or(usize::MAX, |left| left as usize)));
        query.limit.is_some_and(|limit| rows.len() as u64 >= limit)
    };
    match &query.keys {
        None => {
            for (key, partition) in read.all() {
                if show(key, &partition) {
                    break;
                }
            }
        }
        Some(keys) => {
            // In the order of the values, not of the tokens.
            let mut keys = keys.clone();
            keys.sort_unstable();
            keys.dedup();
            let asked = if spans.is_empty() || query.limit == Some(0) { Vec::new() } else { keys };
            for p in asked {
                let key = Key::new(p);
                if show(key, &read.one(key, &spans)) {
                    break;
                }
            }
        }
    }
    let Counts { live, tombstones } = counts;
    if most > read.config.tombstone_failure_threshold && book.by(Rule::CassandraReadFailure) {
        return Err(Unanswered::Overwhelmed);
    }
    Ok(Rows { rows, live, tombstones })
}

/// What of each partition is asked for, in the order of the table.
fn spans(table: &Table, query: &Query) -> Vec<Span> {
    let mut prefixes: Vec<Vec<i64>> = vec![Vec::new()];
    for (at, values) in query.clustering.iter().enumerate() {
        let with = |prefix: &Vec<i64>, value: &i32| {
            let mut prefix = prefix.clone();
            prefix.push(table.component(at, i64::from(*value)));
            prefix
        };
        let of = |prefix| values.iter().map(move |value| with(prefix, value));
        prefixes = prefixes.iter().flat_map(of).collect();
    }
    let all = Slice::default();
    let is_whole_key = |prefix: &[i64]| prefix.len() == table.clustering.len();
    let span = |prefix: &Vec<i64>| match is_whole_key(prefix) {
        true => (Place::before(prefix), Place::after(prefix)),
        false => bounds(table, prefix, query.slice.as_ref().unwrap_or(&all)),
    };
    let mut spans: Vec<Span> = prefixes.iter().map(span).collect();
    spans.retain(|(start, end)| start < end);
    spans.sort();
    spans.dedup();
    spans
}

/// The rows of a partition that CQL shows.
pub(super) fn shown(
    book: &Book,
    table: &Table,
    key: Key,
    partition: &Partition,
    now: i64,
    is_whole: bool,
    is_reversed: bool,
) -> Vec<CqlRow> {
    let is_seen = |row: &Row| {
        row_is_live(book, row, now)
            || !row.hollow.is_empty() && book.by(Rule::CassandraSelectHollow)
    };
    let rows = partition.rows.iter().filter(|(_, row)| is_seen(row));
    let mut rows: Vec<CqlRow> = rows
        .map(|(place, row)| cql_row(book, table, key, Some(place), row, &partition.statics, now))
        .collect();
    if is_reversed {
        rows.reverse();
    }
    let is_static_only = rows.is_empty() && is_whole && is_seen(&partition.statics);
    if is_static_only && book.by(Rule::CassandraSelectStaticOnly) {
        rows.push(cql_row(book, table, key, None, &Row::default(), &partition.statics, now));
    }
    rows
}

fn cql_row(
    book: &Book,
    table: &Table,
    key: Key,
    place: Option<&Place>,
    row: &Row,
    statics: &Row,
    now: i64,
) -> CqlRow {
    let mut key = vec![("p".to_owned(), i64::from(key.p))];
    let components = place.into_iter().flat_map(|place| &place.prefix).enumerate();
    key.extend(
        components
            .map(|(at, value)| (table.clustering[at].name.clone(), table.component(at, *value))),
    );
    let mut shown = CqlRow { key, simple: Vec::new(), collections: Vec::new() };
    for (id, column) in (0..).zip(&table.columns) {
        let (name, row) = (&column.name, if column.is_static { statics } else { row });
        if !column.kind.is_complex() {
            let cell = shown_cell(book, table, id, row.cells.get(&(id, None)), now);
            shown.simple.extend(cell.map(|cell| (name.clone(), cell)));
            continue;
        }
        let of_column = row.cells.iter().filter(|((there, _), _)| *there == id);
        let live = of_column.filter(|(_, cell)| is_live(book, cell, now));
        let elements: Vec<(i32, Option<i32>)> = live
            .filter_map(|((_, path), cell)| match table.shown(id, &cell.value) {
                Shown::Int(value) => Some(((*path)?, Some(value))),
                _ => Some(((*path)?, None)),
            })
            .collect();
        let is_hollow = row.hollow.contains(&id) && book.by(Rule::CassandraSelectHollow);
        if !elements.is_empty() || is_hollow {
            shown.collections.push((name.clone(), elements));
        }
    }
    shown
}

/// The rows of the view that CQL shows: those whose marker lives.
pub fn select_view(book: &Book, table: &Table, read: &Partitions, now: i64) -> Vec<CqlRow> {
    let mut rows = Vec::new();
    for (key, partition) in read {
        for (place, row) in &partition.rows {
            let lives = |marker| super::cell::marker_is_live(book, &marker, now);
            if row.liveness.is_some_and(lives) {
                rows.push(super::view::cql_row(book, table, *key, place, row, now));
            }
        }
    }
    rows
}

/// A simple cell as CQL shows it, if it lives.
pub(super) fn shown_cell(
    book: &Book,
    table: &Table,
    column: ColumnId,
    cell: Option<&Cell>,
    now: i64,
) -> Option<SimpleShown> {
    let cell = cell.filter(|cell| is_live(book, cell, now))?;
    let expires = cell.ldt.filter(|_| book.by(Rule::CassandraSelectTtl));
    let value = table.shown(column, &cell.value);
    Some(SimpleShown { value, ttl: expires.map(|ldt| ldt - now), ts: cell.ts })
}
