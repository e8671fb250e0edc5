//! What does CQL show, and what does the server count on the way?

use ttlspec_model::cassandra::words::{CqlRow, Query, Rows, Shown, SimpleShown, Table};

use super::entry::{Entry, Kind, NEVER, Slot};
use super::key::Key;
use super::node::Node;
use super::place::{Clusterings, Span};
use super::read;
use super::run::{Line, Part};

/// A read met more tombstones than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overwhelmed;

/// What a query shows.
///
/// # Errors
/// [`Overwhelmed`] where it meets too many tombstones.
pub(super) fn select(node: &mut Node, query: &Query, now: i64) -> Result<Rows, Overwhelmed> {
    let is_whole = query.clustering.is_empty() && query.slice.is_none();
    let mut rows = Rows::default();
    // Each partition that is named is read by itself; of the whole table there is one read.
    let mut most = 0;
    match &query.keys {
        None => {
            let read = read::all(node, now);
            let showing = Showing { node, query, now, is_whole };
            for part in read.parts() {
                if showing.part(&part, &mut rows) {
                    break;
                }
            }
            most = rows.tombstones;
        }
        Some(keys) => {
            let spans = spans(&node.setup.clusterings, query);
            // They are read in the order of their values.
            let mut keys = keys.clone();
            keys.sort_unstable();
            keys.dedup();
            if spans.is_empty() || query.limit == Some(0) {
                keys.clear();
            }
            for key in keys.into_iter().map(Key::new) {
                let read = read::one(node, key, (!is_whole).then_some(&spans[..]), now);
                let showing = Showing { node, query, now, is_whole };
                let before = rows.tombstones;
                let is_filled = read.parts().any(|part| showing.part(&part, &mut rows));
                most = most.max(rows.tombstones - before);
                if is_filled {
                    break;
                }
            }
        }
    }
    if most > node.setup.tombstone_failure_threshold {
        return Err(Overwhelmed);
    }
    Ok(rows)
}

/// What of each partition is asked for, in the order of the table.
fn spans(clusterings: &Clusterings, query: &Query) -> Vec<Span> {
    let mut prefixes: Vec<Vec<i32>> = vec![Vec::new()];
    for values in query.clustering.iter().take(clusterings.len()) {
        let longer = |prefix: &Vec<i32>, value: i32| [&prefix[..], &[value]].concat();
        let all = prefixes.iter().flat_map(|it| values.iter().map(move |value| longer(it, *value)));
        prefixes = all.collect();
    }
    let span = |prefix: &Vec<i32>| match &query.slice {
        Some(slice) if prefix.len() < clusterings.len() => clusterings.slice(prefix, slice),
        _ => clusterings.below(prefix),
    };
    let mut spans: Vec<Span> = prefixes.iter().map(span).collect();
    spans.retain(|span| !span.is_void());
    spans.sort();
    spans.dedup();
    spans
}

struct Showing<'a> {
    node: &'a Node,
    query: &'a Query,
    now: i64,
    /// Are there no restrictions on clustering columns?
    is_whole: bool,
}

impl Showing<'_> {
    /// Shows a partition, to its end or to the row that fills the limit. Is it filled?
    fn part(&self, part: &Part<'_>, rows: &mut Rows) -> bool {
        let left = |rows: &Rows| match self.query.limit {
            Some(limit) => limit.saturating_sub(rows.rows.len() as u64),
            None => u64::MAX,
        };
        let statics = part.statics();
        let mut items = part.items();
        if let Some(statics) = statics {
            items.start += 1;
            self.count(&statics, rows);
        }
        let statics = statics.unwrap_or(Line::EMPTY);
        let mut has_rows = false;
        while let Some(item) = if self.query.reversed { items.next_back() } else { items.next() } {
            if part.run.is_bound(item) {
                rows.tombstones += 1;
                continue;
            }
            let line = part.run.line(item);
            self.count(&line, rows);
            if self.is_seen(&line) {
                has_rows = true;
                if left(rows) > 0 {
                    rows.rows.push(self.row(part.key(), part.run.place(item), line, statics));
                }
            }
            if left(rows) == 0 {
                return true;
            }
        }
        if !has_rows && self.is_whole && self.is_seen(&statics) && left(rows) > 0 {
            rows.rows.push(self.row(part.key(), &[], Line::EMPTY, statics));
        }
        left(rows) == 0
    }

    fn is_seen(&self, line: &Line<'_>) -> bool {
        line.lives(self.now) || line.has_hollow()
    }

    fn count(&self, line: &Line<'_>, rows: &mut Rows) {
        let is_cell = |entry: &&Entry| entry.slot.kind() == Kind::Cell;
        let dead = line.entries.iter().filter(is_cell).filter(|it| !it.lives(self.now)).count();
        rows.tombstones += dead as u64;
        if line.lives(self.now) {
            rows.live += 1;
        } else if dead == 0 {
            // What deletes it counts once, and so does a marker that has expired.
            let counted = line.entries.iter().any(|entry| entry.slot.kind() != Kind::Hollow);
            rows.tombstones += u64::from(counted);
        }
    }

    fn row(&self, key: Key, place: &[u64], line: Line<'_>, statics: Line<'_>) -> CqlRow {
        let Node { table, setup, .. } = self.node;
        let names = table.clustering.iter().map(|column| column.name.clone());
        let values = setup.clusterings.values(place).map(i64::from);
        let mut shown = CqlRow {
            key: std::iter::once(("p".to_owned(), i64::from(key.p)))
                .chain(names.zip(values))
                .collect(),
            simple: Vec::new(),
            collections: Vec::new(),
        };
        for (id, column) in (0..).zip(&table.columns) {
            let line = if column.is_static { statics } else { line };
            if !column.kind.is_complex() {
                let cell = simple(table, line, Slot::simple(id), self.now);
                shown.simple.extend(cell.map(|cell| (column.name.clone(), cell)));
                continue;
            }
            let entries = line.of_column(id);
            let is_cell = |entry: &&Entry| entry.slot.kind() == Kind::Cell;
            let live = entries.iter().filter(is_cell).filter(|entry| entry.lives(self.now));
            let elements = live.filter_map(|entry| {
                let value = match entry.shown(table, line.values) {
                    Shown::Int(value) => Some(value),
                    _ => None,
                };
                Some((entry.slot.path()?, value))
            });
            let elements: Vec<(i32, Option<i32>)> = elements.collect();
            let is_hollow = entries.iter().any(|entry| entry.slot.kind() == Kind::Hollow);
            if !elements.is_empty() || is_hollow {
                shown.collections.push((column.name.clone(), elements));
            }
        }
        shown
    }
}

/// A simple cell as CQL shows it, if it lives.
pub(super) fn simple(table: &Table, line: Line<'_>, slot: Slot, now: i64) -> Option<SimpleShown> {
    let cell = line.get(slot).filter(|cell| cell.lives(now))?;
    let ttl = (cell.ldt != NEVER).then(|| cell.ldt - now);
    Some(SimpleShown { value: cell.shown(table, line.values), ttl, ts: cell.ts })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use ttlspec_model::cassandra::Op;
    use ttlspec_model::cassandra::words::{Upsert, Value, Verb};

    fn of_one() -> Query {
        Query { keys: Some(vec![1]), ..Query::default() }
    }

    fn clusterings(rows: &Rows) -> Vec<i64> {
        rows.rows.iter().map(|row| row.key[1].1).collect()
    }

    #[test]
    fn a_row_that_fills_the_limit_ends_the_count() {
        let mut node = Told::of(&config(&[]));
        let rows = vec![insert(1, 1, 5), delete(2, 5), insert(3, 1, 5), delete(4, 5)];
        node.at(0, Op::Write(rows));

        let forth = node.select(0, Query { limit: Some(1), ..of_one() });
        let back = node.select(0, Query { limit: Some(1), reversed: true, ..of_one() });

        assert_eq!((clusterings(&forth), forth.tombstones), (vec![1], 0));
        assert_eq!((clusterings(&back), back.tombstones), (vec![3], 1));
    }

    #[test]
    fn a_partition_that_has_a_static_row_only_is_shown_where_all_of_it_is_asked_for() {
        let mut node = Told::of(&config(&[]));
        let set = vec![("s".to_owned(), Value::Int(7))];
        let update = Verb::Update(Upsert { set, ..Upsert::default() });
        node.at(0, Op::Write(vec![statement(&[], 5, update)]));

        let whole = node.select(0, of_one());
        let part = node.select(0, Query { clustering: vec![vec![1]], ..of_one() });

        assert_eq!((whole.rows.len(), whole.rows[0].key.len(), whole.live), (1, 1, 1));
        assert_eq!((part.rows.len(), part.live), (0, 1));
    }

    #[test]
    fn values_that_are_asked_for_twice_are_shown_once() {
        let mut node = Told::of(&config(&[]));
        node.at(0, Op::Write(vec![insert(1, 1, 5), insert(2, 1, 5), insert(3, 1, 5)]));

        let shown = node.select(0, Query { clustering: vec![vec![3, 1, 3]], ..of_one() });

        assert_eq!(clusterings(&shown), [1, 3]);
    }

    #[test]
    fn a_ttl_counts_down_and_an_expired_row_counts_as_its_dead_cells() {
        let mut node = Told::of(&config(&[]));
        node.at(0, Op::AlterGcGrace(100));
        node.at(0, Op::Write(vec![with_ttl(1, 1, 5, Some(10))]));

        assert_eq!(node.select(9, of_one()).rows[0].simple[0].1.ttl, Some(1));
        let dead = node.select(10, of_one());
        assert_eq!((dead.rows.len(), dead.live, dead.tombstones), (0, 0, 1));
    }
}
