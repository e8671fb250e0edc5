//! What was written to a partition, as it came, and what does it come to?
//!
//! An update takes in rows and ranges in the order of their coming, and nothing is looked for or
//! compared. It is *folded* when somebody asks: then rows are sorted, each place is made one row,
//! and of ranges that overlap the one with the larger timestamp is left, of equals the first. What
//! has been folded can take in more, and folding again comes to the same as folding once.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::combine::{From, RowCursor, row, weaken};
use super::deleted::Deleted;
use super::entry::Entry;
use super::key::Key;
use super::place::{Span, compare};
use super::run::Run;
use super::sink::Sink;

/// What was written to one partition.
#[derive(Clone, Debug)]
pub(super) struct Update {
    /// The deletion of the partition, and its rows; none of its items is a bound.
    pub rows: Run,
    ranges: Ranges,
}

/// Range tombstones.
#[derive(Clone, Debug, Default)]
struct Ranges {
    /// The words of the start and of the end of each.
    places: Vec<u64>,
    deletions: Vec<Deleted>,
}

impl Ranges {
    fn place(&self, at: usize, width: usize) -> &[u64] {
        &self.places[at * width..][..width]
    }

    fn push(&mut self, start: &[u64], end: &[u64], deletion: Deleted) {
        self.places.extend_from_slice(start);
        self.places.extend_from_slice(end);
        self.deletions.push(deletion);
    }
}

impl Update {
    /// Nothing, to a partition of a table whose places are so many words.
    pub fn new(key: Key, width: usize) -> Update {
        let mut rows = Run::new(width);
        rows.open_part(key, Deleted::NONE);
        Update { rows, ranges: Ranges::default() }
    }

    /// The partition.
    pub fn key(&self) -> Key {
        self.rows.key(0)
    }

    /// The deletion of the partition.
    pub fn deletion(&self) -> Deleted {
        self.rows.part(0).deletion()
    }

    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.deletion().is_none()
    }

    /// How many rows and ranges are in it, as they came?
    pub fn len(&self) -> usize {
        self.rows.items() + self.ranges.deletions.len()
    }

    /// Deletes a range.
    pub fn delete_range(&mut self, span: &Span, deletion: Deleted) {
        self.ranges.push(&span.start, &span.end, deletion);
    }

    /// Takes in another one, which came later.
    pub fn append(&mut self, later: &Update) {
        self.rows.strengthen(later.deletion());
        for item in later.rows.part(0).items() {
            self.rows.open_item(later.rows.place(item), false);
            let line = later.rows.line(item);
            line.entries.iter().for_each(|entry| self.rows.push(*entry, line.values));
        }
        self.ranges.places.extend_from_slice(&later.ranges.places);
        self.ranges.deletions.extend_from_slice(&later.ranges.deletions);
    }

    /// Every deletion and cell in it, by timestamp and local deletion time.
    pub fn times(&self) -> impl Iterator<Item = Deleted> + '_ {
        let rows = self.rows.part(0).items().flat_map(|item| self.rows.line(item).entries);
        let is_hollow = |entry: &&Entry| entry.slot.kind() == super::entry::Kind::Hollow;
        let rows = rows.filter(move |entry| !is_hollow(entry)).map(Entry::deleted);
        let deletion = Some(self.deletion()).filter(|it| !it.is_none());
        deletion.into_iter().chain(rows).chain(self.ranges.deletions.iter().copied())
    }

    /// What it comes to.
    pub fn folded(&self) -> Update {
        let width = self.rows.width();
        let mut folded = Update::new(self.key(), width);
        folded.rows.strengthen(self.deletion());
        folded.rows.reserve(std::iter::once(&self.rows));
        self.fold_rows(&mut folded.rows);
        folded.ranges = self.folded_ranges(width);
        folded
    }

    fn fold_rows(&self, folded: &mut Run) {
        let run = &self.rows;
        let parts = [run.part(0)];
        let mut order: Vec<usize> = parts[0].items().collect();
        order.sort_by(|one, two| compare(run.place(*one), run.place(*two)));
        let mut cursors: Vec<RowCursor> = Vec::new();
        let mut sink = Sink::new(folded, None);
        for group in order.chunk_by(|one, two| run.place(*one) == run.place(*two)) {
            cursors.clear();
            cursors.extend(group.iter().map(|item| {
                let entries = run.entries_of(*item);
                RowCursor { source: 0, at: entries.start, end: entries.end }
            }));
            sink.open_row(run.place(group[0]));
            row(&parts, &mut cursors, From::Updates, &mut sink);
            sink.close_row();
        }
    }

    /// The ranges in order, none of which meets another that is the same.
    fn folded_ranges(&self, width: usize) -> Ranges {
        let all = &self.ranges;
        let mut order: Vec<usize> = (0..2 * all.deletions.len()).collect();
        order.sort_by(|one, two| compare(all.place(*one, width), all.place(*two, width)));
        let mut folded = Ranges::default();
        // Those that are open; the last is the strongest, and of equals the first that came.
        let mut open: BTreeSet<(i64, Reverse<usize>)> = BTreeSet::new();
        let mut last: Option<(usize, Deleted)> = None;
        for group in order.chunk_by(|one, two| all.place(*one, width) == all.place(*two, width)) {
            for &end in group {
                let which = end / 2;
                let strength = (all.deletions[which].ts, Reverse(which));
                match end % 2 {
                    0 => drop(open.insert(strength)),
                    _ => drop(open.remove(&strength)),
                }
            }
            let now = open.last().map(|(_, Reverse(which))| all.deletions[*which]);
            if last.map(|(_, deletion)| deletion) == now {
                continue;
            }
            if let Some((start, deletion)) = last {
                folded.push(all.place(start, width), all.place(group[0], width), deletion);
            }
            last = now.map(|deletion| (group[0], deletion));
        }
        folded
    }

    /// Once it is folded: the partition as a read or a flush sees it, without what is covered by it.
    pub fn shown(&self) -> Run {
        let width = self.rows.width();
        let deletion = self.deletion();
        let mut shown = Run::new(width);
        shown.reserve(std::iter::once(&self.rows));
        let mut sink = Sink::new(&mut shown, None);
        sink.open_part(self.key(), deletion);
        let mut bounds = self.bounds(width, deletion).into_iter().peekable();
        let mut open = Deleted::NONE;
        for item in self.rows.part(0).items() {
            let place = self.rows.place(item);
            while let Some((at, close, opens)) = bounds.next_if(|(at, ..)| *at < place) {
                sink.bound(at, close, opens);
                open = opens;
            }
            let line = self.rows.line(item);
            sink.open_row(place);
            weaken(line.entries, line.values, deletion.max(open), &mut sink);
            sink.close_row();
        }
        bounds.for_each(|(place, close, opens)| sink.bound(place, close, opens));
        sink.close_part();
        shown
    }

    /// The ends of the ranges that are stronger than the deletion of the partition.
    fn bounds(&self, width: usize, deletion: Deleted) -> Vec<(&[u64], Deleted, Deleted)> {
        let mut bounds: Vec<(&[u64], Deleted, Deleted)> = Vec::new();
        for (at, range) in self.ranges.deletions.iter().enumerate() {
            if *range <= deletion {
                continue;
            }
            let start = self.ranges.place(2 * at, width);
            match bounds.last_mut() {
                Some((end, _, open)) if *end == start => *open = *range,
                _ => bounds.push((start, Deleted::NONE, *range)),
            }
            bounds.push((self.ranges.place(2 * at + 1, width), *range, Deleted::NONE));
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{NEVER, Slot};
    use super::*;

    fn deleted(ts: i64) -> Deleted {
        Deleted { ts, ldt: 1 }
    }

    fn update() -> Update {
        Update::new(Key::new(1), 1)
    }

    fn write(update: &mut Update, place: u64, ts: i64) {
        update.rows.open_item(&[place], false);
        let mut values = Vec::new();
        let cell = Entry::cell(Slot::simple(0), (ts, 0, NEVER), b"v", &mut values);
        update.rows.push(cell, &values);
    }

    fn span(start: u64, end: u64) -> Span {
        Span { start: vec![start], end: vec![end] }
    }

    fn ends(run: &Run) -> Vec<(u64, i64, i64)> {
        let ends = (0..run.items()).filter(|item| run.is_bound(*item));
        let seen = ends.map(|item| {
            let ts = |slot| run.line(item).get(slot).map_or(0, |entry| entry.ts);
            (run.place(item)[0], ts(Slot::CLOSE), ts(Slot::OPEN))
        });
        seen.collect()
    }

    #[test]
    fn of_ranges_that_overlap_the_larger_timestamp_is_left_and_of_equals_the_first() {
        let mut update = update();
        update.delete_range(&span(10, 50), Deleted { ts: 5, ldt: 1 });
        update.delete_range(&span(40, 90), Deleted { ts: 5, ldt: 2 });
        update.delete_range(&span(60, 70), Deleted { ts: 9, ldt: 3 });

        let folded = update.folded();

        let seconds: Vec<i64> = folded.ranges.deletions.iter().map(|it| it.ldt).collect();
        assert_eq!(seconds, [1, 2, 3, 2]);
        assert_eq!(
            ends(&folded.shown()),
            [(10, 0, 5), (50, 5, 5), (60, 5, 9), (70, 9, 5), (90, 5, 0)]
        );
    }

    #[test]
    fn folding_twice_comes_to_the_same_as_folding_once() {
        let mut once = update();
        let mut twice = update();
        for (at, (place, ts)) in [(9, 5), (3, 2), (9, 7), (3, 1)].into_iter().enumerate() {
            write(&mut once, place, ts);
            once.delete_range(&span(place, place + 8), deleted(ts));
            write(&mut twice, place, ts);
            twice.delete_range(&span(place, place + 8), deleted(ts));
            if at == 1 {
                twice = twice.folded();
            }
        }

        let (once, twice) = (once.folded(), twice.folded());

        assert_eq!(format!("{once:?}"), format!("{twice:?}"));
    }

    #[test]
    fn what_a_partition_deletion_covers_is_not_shown() {
        let mut update = update();
        write(&mut update, 9, 5);
        write(&mut update, 20, 6);
        update.delete_range(&span(10, 12), deleted(4));
        update.rows.strengthen(deleted(5));

        let shown = update.folded().shown();

        assert_eq!((shown.items(), shown.place(0)[0]), (1, 20));
    }

    #[test]
    fn a_row_in_a_range_keeps_what_is_newer() {
        let mut update = update();
        write(&mut update, 9, 5);
        write(&mut update, 12, 6);
        update.delete_range(&span(8, 13), deleted(5));

        let shown = update.folded().shown();

        let rows = (0..shown.items()).filter(|item| !shown.is_bound(*item));
        assert_eq!(rows.map(|item| shown.place(item)[0]).collect::<Vec<_>>(), [12]);
    }
}
