#![doc = include_str!("../../../specs/cassandra/14-view.md")]
//! ---
//! *Module:* what does a write to a table write to its view?
//!
//! The view is `SELECT p, …, v, w FROM t WHERE … IS NOT NULL PRIMARY KEY (v, p, …)`: its partition
//! key is the column `v`, its clustering is the key of the table, and it has one column, `w`.

use std::collections::BTreeMap;

use super::cell::is_live;
use super::data::{Cell, CellKey, Deleted, Key, Liveness, Partition, Partitions, Place, Row};
use super::memtable::Memtable;
use super::purge::Purge;
use super::reconcile::covers;
use super::row::{around, normal, put};
use super::select::shown_cell;
use super::words::{CqlRow, Table};
use crate::book::Book;
use crate::ruling::Rule;

/// The TTL of a marker that says that its row is dead: the largest number of 32 bits.
const EXPIRED_TTL: i64 = i32::MAX as i64;

/// One write to the table, seen from its view.
struct Generation<'a> {
    book: &'a Book,
    base: Key,
    now: i64,
    /// The column that is the partition key of the view.
    v: CellKey,
    /// The column of the view.
    w: CellKey,
    entries: BTreeMap<Key, Partition>,
}

/// What an update of the table writes to the view, by the view's partitions. `existing` is what the
/// table shows of the partition before.
pub fn updates(
    book: &Book,
    table: &Table,
    base: Key,
    existing: &Partition,
    update: &Partition,
    now: i64,
) -> Vec<(Key, Partition)> {
    let (Some(v), Some(w)) = (table.column("v"), table.column("w")) else { return Vec::new() };
    let entries = BTreeMap::new();
    let mut generation = Generation { book, base, now, v: (v, None), w: (w, None), entries };
    generation.update(existing, &normal(book, update));
    generation.entries.into_iter().collect()
}

impl Generation<'_> {
    fn update(&mut self, existing: &Partition, update: &Partition) {
        let mut places: Vec<&Place> = existing.rows.keys().chain(update.rows.keys()).collect();
        places.sort();
        places.dedup();
        let ends = existing.ranges.iter().map(|range| &range.end);
        let last = existing.rows.keys().chain(ends).max();
        for place in places {
            // Once nothing is left of what was there, the deletions of the update around its rows
            // are not looked at.
            let is_past = last.is_none_or(|last| place > last)
                && self.book.by(Rule::CassandraViewPastExisting);
            let over = if is_past { None } else { around(self.book, update, place) };
            let new = match update.rows.get(place) {
                Some(row) => with_deletion(row, over),
                None if over.is_some() => Row { deletion: over, ..Row::default() },
                None => continue,
            };
            let before = around(self.book, existing, place);
            let old = existing.rows.get(place).map(|row| with_deletion(row, before));
            let old = old.unwrap_or_else(|| Row { deletion: before, ..Row::default() });
            let mut merged = old.clone();
            put(self.book, &mut merged, &new);
            self.entry(place, &old, &merged);
        }
    }

    /// What one row of the table comes to: a row of the view appears, changes, or goes.
    fn entry(&mut self, place: &Place, old: &Row, merged: &Row) {
        let lives = |cell: &&Cell| is_live(self.book, cell, self.now);
        let before = old.cells.get(&self.v).filter(lives);
        let after = merged.cells.get(&self.v).filter(lives);
        match (before, after) {
            (None, None) => {}
            (None, Some(after)) => self.create(place, after, merged),
            (Some(before), None) => self.delete(place, before, old, merged),
            (Some(before), Some(after)) if before.value == after.value => {
                let row = marked(after, merged.deletion);
                let row = self.with(row, self.different(old, merged));
                if self.book.by(Rule::CassandraViewUpdated) {
                    self.submit(place, after, row);
                }
            }
            (Some(before), Some(after)) => {
                self.create(place, after, merged);
                self.delete(place, before, old, merged);
            }
        }
    }

    fn create(&mut self, place: &Place, after: &Cell, merged: &Row) {
        let row = marked(after, merged.deletion);
        let row = self.with(row, merged.cells.get(&self.w));
        if self.book.by(Rule::CassandraViewCreated) {
            self.submit(place, after, row);
        }
    }

    /// A row of the view goes: by the deletion of the row of the table, or by a marker that says
    /// that it is dead.
    fn delete(&mut self, place: &Place, before: &Cell, old: &Row, merged: &Row) {
        let is_by_deletion = covers(self.book, merged.deletion, before.ts);
        let dead = Liveness { ts: before.ts, ttl: EXPIRED_TTL, ldt: Some(self.now), is_dead: true };
        let is_marked = !is_by_deletion && self.book.by(Rule::CassandraViewDeadMarker);
        let liveness = is_marked.then_some(dead);
        let row = Row { liveness, deletion: merged.deletion, ..Row::default() };
        self.submit(place, before, self.with(row, self.different(old, merged)));
    }

    fn different<'r>(&self, old: &Row, merged: &'r Row) -> Option<&'r Cell> {
        let cell = merged.cells.get(&self.w);
        cell.filter(|cell| old.cells.get(&self.w) != Some(cell))
    }

    fn with(&self, mut row: Row, cell: Option<&Cell>) -> Row {
        row.cells.extend(cell.map(|cell| (self.w, cell.clone())));
        row
    }

    fn submit(&mut self, place: &Place, v: &Cell, row: Row) {
        if row.is_empty() {
            return;
        }
        let mut prefix = vec![i64::from(self.base.p)];
        prefix.extend(&place.prefix);
        let partition = self.entries.entry(Key::new(number(&v.value))).or_default();
        put(self.book, partition.rows.entry(Place::row(prefix)).or_default(), &row);
    }
}

/// A row of the view whose marker has the life of the cell that it stands for.
fn marked(cell: &Cell, deletion: Deleted) -> Row {
    let Cell { ts, ttl, ldt, .. } = *cell;
    let liveness = Some(Liveness { ts, ttl, ldt, is_dead: false });
    Row { liveness, deletion, ..Row::default() }
}

fn with_deletion(row: &Row, around: Deleted) -> Row {
    let mut row = row.clone();
    row.deletion = row.deletion.or(around);
    row
}

fn number(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(0, i32::from_be_bytes)
}

/// What the view answers a coordinator that asks for everything.
pub fn read(book: &Book, memtable: &Memtable, gc_grace_seconds: i64, now: i64) -> Partitions {
    let is_alone = |_| true;
    let purge = Purge {
        book,
        now,
        gc_before: now - gc_grace_seconds,
        oldest_unrepaired: None,
        is_alone: &is_alone,
        is_strict: true,
    };
    let keys = memtable.partitions.keys();
    let read = keys.filter_map(|key| Some((*key, purge.partition(&memtable.read(book, *key)?))));
    read.filter(|(_, partition)| !partition.is_empty()).collect()
}

/// A row of the view as CQL shows it.
pub fn cql_row(book: &Book, table: &Table, key: Key, place: &Place, row: &Row, now: i64) -> CqlRow {
    let shown = table.column("w").and_then(|w| {
        let cell = shown_cell(book, table, w, row.cells.get(&(w, None)), now)?;
        Some((table.at(w).name.clone(), cell))
    });
    // The first component is the partition key of the table; the others are kept as it keeps them.
    let mut columns = vec![("v".to_owned(), i64::from(key.p))];
    columns.extend(place.prefix.first().map(|p| ("p".to_owned(), *p)));
    let rest = place.prefix.iter().skip(1).enumerate();
    columns.extend(
        rest.map(|(at, value)| (table.clustering[at].name.clone(), table.component(at, *value))),
    );
    CqlRow { key: columns, simple: shown.into_iter().collect(), collections: Vec::new() }
}
