//! What does a write to a table write to its view, and what is there?
//!
//! The partition key of the view is the column `v`, its clustering is the key of the table, and it
//! has one column, `w`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use ttlspec_model::cassandra::words::CqlRow;

use super::combine::Combiner;
use super::deleted::Deleted;
use super::entry::{Entry, Slot};
use super::grace::Purge;
use super::key::Key;
use super::node::Node;
use super::place::{Clusterings, Side, compare};
use super::read;
use super::run::{Line, Part, Run};
use super::select::simple;
use super::sink::Sink;
use super::update::Update;

/// The TTL of a marker that says that its row is dead.
const DEAD_TTL: u32 = i32::MAX as u32;

/// Writes to the view what an update of the table comes to there. The update is not in the table
/// yet.
pub(super) fn write(node: &mut Node, update: &Update, now: i64) {
    let (Some(v), Some(w)) = (node.table.column("v"), node.table.column("w")) else { return };
    let existing = read::one(node, update.key(), None, now);
    let mut generation = Generation {
        p: update.key().p,
        now,
        v: Slot::simple(v),
        w: Slot::simple(w),
        clusterings: node.setup.clusterings.of_view(),
        updates: BTreeMap::new(),
    };
    generation.rows(existing.parts().next(), update.shown().part(0));
    for update in generation.updates.values() {
        node.view.apply(&update.folded());
    }
}

/// One write to the table, seen from its view.
struct Generation {
    p: i32,
    now: i64,
    v: Slot,
    w: Slot,
    clusterings: Clusterings,
    updates: BTreeMap<Key, Update>,
}

/// A row of the table, before or after.
#[derive(Clone, Copy)]
struct State<'a> {
    deletion: Deleted,
    v: Option<(&'a Entry, &'a [u8])>,
    w: Option<(&'a Entry, &'a [u8])>,
}

type Cell<'a> = Option<(&'a Entry, &'a [u8])>;

/// One of two partitions that are read side by side.
struct Reading<'a> {
    part: Option<Part<'a>>,
    item: usize,
    open: Deleted,
}

impl<'a> Reading<'a> {
    fn new(part: Option<Part<'a>>) -> Reading<'a> {
        let item = part.map_or(0, |part| part.items().start);
        let has_statics = part.is_some_and(|part| part.statics().is_some());
        Reading { part, item: item + usize::from(has_statics), open: Deleted::NONE }
    }

    fn place(&self) -> Option<&'a [u64]> {
        let part = self.part?;
        (self.item < part.items().end).then(|| part.run.place(self.item))
    }

    /// What deletes all that is here.
    fn around(&self) -> Deleted {
        self.part.map_or(Deleted::NONE, |part| part.deletion()).max(self.open)
    }

    /// Moves on; what was here, where it was a row.
    fn take(&mut self) -> Option<Line<'a>> {
        let run = self.part?.run;
        let (item, line) = (self.item, run.line(self.item));
        self.item += 1;
        if run.is_bound(item) {
            self.open = line.deletion(Slot::OPEN);
            return None;
        }
        Some(line)
    }
}

impl Generation {
    fn rows(&mut self, existing: Option<Part<'_>>, update: Part<'_>) {
        let last = existing.and_then(|part| part.items().last().map(|item| part.run.place(item)));
        let (mut old, mut new) = (Reading::new(existing), Reading::new(Some(update)));
        loop {
            let (order, place) = match (old.place(), new.place()) {
                (Some(one), Some(two)) => (compare(one, two), one.min(two)),
                (Some(one), None) => (Ordering::Less, one),
                (None, Some(two)) => (Ordering::Greater, two),
                (None, None) => return,
            };
            let before = (order != Ordering::Greater).then(|| old.take()).flatten();
            let after = (order != Ordering::Less).then(|| new.take()).flatten();
            if before.is_none() && after.is_none() {
                continue;
            }
            // Behind all that was there, nobody looks for what the update deletes around a row.
            let is_past = last.is_none_or(|last| place > last);
            let over = if is_past { Deleted::NONE } else { new.around() };
            if after.is_none() && over.is_none() {
                continue;
            }
            let before = self.state(before.unwrap_or(Line::EMPTY), old.around());
            let after = after_both(before, self.state(after.unwrap_or(Line::EMPTY), over));
            self.row(place, before, after);
        }
    }

    fn state<'a>(&self, line: Line<'a>, around: Deleted) -> State<'a> {
        let own = line.deletion(Slot::DELETION);
        let deletion = if own.is_none() { around } else { own };
        let cell = |slot| line.get(slot).map(|cell| (cell, line.values));
        State { deletion, v: cell(self.v), w: cell(self.w) }
    }

    /// A row of the view appears, changes, or goes.
    fn row(&mut self, place: &[u64], before: State<'_>, after: State<'_>) {
        let now = self.now;
        let lives = |(cell, values): (&Entry, _)| cell.lives(now).then_some((*cell, values));
        let (old, new) = (before.v.and_then(lives), after.v.and_then(lives));
        let changed = after.w.filter(|(cell, values)| {
            before.w.is_none_or(|(was, were)| !cell.is_same_cell(values, was, were))
        });
        if let Some((v, values)) = new {
            let stays = old
                .is_some_and(|(old, olds)| old.compare_values(olds, &v, values) == Ordering::Equal);
            let marker = Entry::marker(v.ts, v.ttl, v.ldt);
            let w = if stays { changed } else { after.w };
            self.submit(place, &v, after.deletion, Some(marker), w);
            if stays {
                return;
            }
        }
        if let Some((v, _)) = old {
            let is_deleted = after.deletion.covers(v.ts);
            let dead = Entry::dead_marker(v.ts, DEAD_TTL, now);
            self.submit(place, &v, after.deletion, (!is_deleted).then_some(dead), changed);
        }
    }

    /// Writes a row into the partition of `v`, where there is anything to write.
    fn submit(
        &mut self,
        place: &[u64],
        v: &Entry,
        deletion: Deleted,
        marker: Option<Entry>,
        w: Cell<'_>,
    ) {
        let deletion = (!deletion.is_none()).then(|| Entry::deletion(Slot::DELETION, deletion));
        if deletion.is_none() && marker.is_none() && w.is_none() {
            return;
        }
        let mut there = self.clusterings.place(&[self.p], Side::Row);
        let rest = &place[..there.len() - 1];
        there[1..].copy_from_slice(rest);
        let (key, width) = (Key::new(v.number().unwrap_or(0)), self.clusterings.width());
        let update = self.updates.entry(key).or_insert_with(|| Update::new(key, width));
        update.rows.open_item(&there, false);
        deletion.into_iter().chain(marker).for_each(|entry| update.rows.push(entry, &[]));
        if let Some((w, values)) = w {
            update.rows.push(*w, values);
        }
    }
}

/// A row of the table with what is written to it.
fn after_both<'a>(before: State<'a>, written: State<'a>) -> State<'a> {
    let deletion = before.deletion.max(written.deletion);
    let winner = |one: Cell<'a>, two: Cell<'a>| {
        let winner = match (one, two) {
            (Some((one, ones)), Some((two, twos))) if two.beats(twos, one, ones) => {
                Some((two, twos))
            }
            (one, two) => one.or(two),
        };
        winner.filter(|(cell, _)| !deletion.covers(cell.ts))
    };
    State { deletion, v: winner(before.v, written.v), w: winner(before.w, written.w) }
}

/// What the view answers a coordinator that asks for everything.
pub(super) fn all(node: &mut Node, now: i64) -> Run {
    node.view.look_at_all();
    let gc_grace = node.table.view.unwrap_or_default();
    let gc_before = now.saturating_sub(gc_grace);
    let purge = Purge { gc_before, is_strict: true, ..node.purge(now) };
    let mut read = Run::new(node.setup.clusterings.of_view().width());
    let mut sink = Sink::new(&mut read, Some(purge));
    let mut combiner = Combiner::default();
    for part in node.view.keys().filter_map(|key| node.view.part(key)) {
        combiner.part(&[part], &mut sink);
    }
    read
}

/// The rows of the view that CQL shows: those whose marker lives.
pub(super) fn select(node: &mut Node, now: i64) -> Vec<CqlRow> {
    let read = all(node, now);
    let table = &node.table;
    let clusterings = node.setup.clusterings.of_view();
    let mut rows = Vec::new();
    for part in read.parts() {
        for item in part.items().filter(|item| !read.is_bound(*item)) {
            let line = read.line(item);
            if !line.get(Slot::MARKER).is_some_and(|marker| marker.lives(now)) {
                continue;
            }
            let names = table.clustering.iter().map(|column| &column.name[..]);
            let names = std::iter::once("p").chain(names).map(str::to_owned);
            let values = clusterings.values(read.place(item)).map(i64::from);
            let v = std::iter::once(("v".to_owned(), i64::from(part.key().p)));
            let w = table.column("w").and_then(|w| {
                Some((table.at(w).name.clone(), simple(table, line, Slot::simple(w), now)?))
            });
            rows.push(CqlRow {
                key: v.chain(names.zip(values)).collect(),
                simple: w.into_iter().collect(),
                collections: Vec::new(),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use ttlspec_model::cassandra::words::{Statement, Table};
    use ttlspec_model::cassandra::{Config, Op, Reply};

    fn node() -> Told {
        let config = config(&[]);
        Told::of(&Config { table: Table { view: Some(1_000), ..config.table.clone() }, ..config })
    }

    /// The values of `v` that the view shows, after these statements, one after the other.
    fn shown(statements: Vec<Statement>) -> Vec<i64> {
        let mut node = node();
        for statement in statements {
            node.at(0, Op::Write(vec![statement]));
        }
        match node.at(1, Op::ViewSelect) {
            Reply::Rows(rows) => rows.rows.iter().map(|row| row.key[0].1).collect(),
            reply => panic!("{reply:?}"),
        }
    }

    #[test]
    fn a_row_moves_to_where_its_new_value_is() {
        assert_eq!(shown(vec![insert(1, 7, 5), insert(1, 8, 6)]), [8]);
        assert_eq!(shown(vec![insert(1, 7, 6), insert(1, 8, 5)]), [7]);
    }

    #[test]
    fn a_deleted_row_goes_from_the_view_too() {
        assert_eq!(shown(vec![insert(1, 7, 5), delete(1, 6)]), [0; 0]);
        assert_eq!(shown(vec![insert(1, 7, 5), delete_slice(0, 3, 6)]), [0; 0]);
    }

    #[test]
    fn it_leaves_a_marker_that_says_that_the_row_is_dead() {
        let mut node = node();
        node.at(0, Op::Write(vec![insert(1, 7, 5)]));
        node.at(0, Op::Write(vec![insert(1, 8, 6)]));

        let Reply::Merged(kept) = node.at(1, Op::ViewMerged) else { panic!("no partitions") };

        let old = kept.iter().find(|partition| partition.key == 7).unwrap();
        let text = format!("{old:?}");
        assert!(text.contains(&format!("({}, {T0})", i32::MAX)), "{text}");
    }
}
