//! What do several sources come to, place by place and slot by slot?
//!
//! One pass over all of them: at each place those that have it are found, and what is left goes on
//! at once. What only one source has is not looked into.

use std::cmp::Ordering;

use super::deleted::Deleted;
use super::entry::{Entry, Kind, Slot};
use super::place::compare;
use super::run::{Part, Run};
use super::sink::Sink;

/// Merges partitions; keeps its memory for the next one.
#[derive(Debug, Default)]
pub(super) struct Combiner {
    sources: Vec<Source>,
    /// Those that stand at the least place.
    tied: Vec<usize>,
    rows: Vec<RowCursor>,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    item: usize,
    end: usize,
    /// The range tombstone that is open in it.
    open: Deleted,
}

/// How far a row of one source is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowCursor {
    /// Which source.
    pub source: usize,
    /// The next entry.
    pub at: usize,
    /// The end of the row.
    pub end: usize,
}

/// Where do the rows come from?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// From sources that know nothing of each other, inside this deletion.
    Sources(Deleted),
    /// From updates, one after the other, as a memtable takes them in. The deletion of a collection
    /// stays beside one of the row that is as strong.
    Updates,
}

impl Combiner {
    /// Merges what several sources have of one partition.
    pub fn part(&mut self, parts: &[Part<'_>], sink: &mut Sink<'_>) {
        match parts {
            [] => {}
            [only] => copy(only, sink),
            [first, ..] => {
                let deletion = parts.iter().map(Part::deletion).max().unwrap_or(Deleted::NONE);
                sink.open_part(first.key(), deletion);
                self.items(parts, deletion, sink);
                sink.close_part();
            }
        }
    }

    fn items(&mut self, parts: &[Part<'_>], deletion: Deleted, sink: &mut Sink<'_>) {
        self.sources.clear();
        self.sources.extend(parts.iter().map(|part| {
            let items = part.items();
            Source { item: items.start, end: items.end, open: Deleted::NONE }
        }));
        let mut open = Deleted::NONE;
        while let Some((run, item)) = self.least(parts) {
            let place = run.place(item);
            if run.is_bound(item) {
                for &at in &self.tied {
                    let source = &mut self.sources[at];
                    source.open = parts[at].run.line(source.item).deletion(Slot::OPEN);
                    source.item += 1;
                }
                let strongest = self.sources.iter().map(|source| source.open).max();
                let strongest = strongest.filter(|it| *it > deletion).unwrap_or(Deleted::NONE);
                if strongest != open {
                    sink.bound(place, open, strongest);
                    open = strongest;
                }
                continue;
            }
            self.rows.clear();
            for &at in &self.tied {
                let source = &mut self.sources[at];
                let entries = parts[at].run.entries_of(source.item);
                self.rows.push(RowCursor { source: at, at: entries.start, end: entries.end });
                source.item += 1;
            }
            let around = deletion.max(open);
            match &self.rows[..] {
                [_] if around.is_none() => sink.row(place, run.line(item)),
                _ => {
                    sink.open_row(place);
                    row(parts, &mut self.rows, From::Sources(around), sink);
                    sink.close_row();
                }
            }
        }
    }

    /// Finds the least place, and all who stand there.
    fn least<'a>(&mut self, parts: &[Part<'a>]) -> Option<(&'a Run, usize)> {
        self.tied.clear();
        let mut least: Option<(&Run, usize)> = None;
        for (at, (source, part)) in self.sources.iter().zip(parts).enumerate() {
            if source.item == source.end {
                continue;
            }
            let order = least.map_or(Ordering::Less, |(run, item)| {
                compare(part.run.place(source.item), run.place(item))
            });
            match order {
                Ordering::Greater => continue,
                Ordering::Less => {
                    self.tied.clear();
                    least = Some((part.run, source.item));
                }
                Ordering::Equal => {}
            }
            self.tied.push(at);
        }
        least
    }
}

/// Passes on what one source has, as it is but for what may go.
fn copy(part: &Part<'_>, sink: &mut Sink<'_>) {
    sink.open_part(part.key(), part.deletion());
    for item in part.items() {
        let (place, line) = (part.run.place(item), part.run.line(item));
        match part.run.is_bound(item) {
            true => sink.bound(place, line.deletion(Slot::CLOSE), line.deletion(Slot::OPEN)),
            false => sink.row(place, line),
        }
    }
    sink.close_part();
}

/// Merges the rows of one place into an open row, slot by slot. Of equals the first is kept.
pub(super) fn row(parts: &[Part<'_>], rows: &mut [RowCursor], from: From, sink: &mut Sink<'_>) {
    let around = match from {
        From::Sources(around) => around,
        From::Updates => Deleted::NONE,
    };
    // What covers the row, and what covers the column that is being read.
    let mut over_row = around;
    let mut over_column = (None, around);
    while let Some((entry, values)) = winner(parts, rows) {
        let column = entry.slot.column();
        match entry.slot.kind() {
            Kind::Deletion => {
                if entry.deleted() > around {
                    over_row = entry.deleted();
                    sink.entry(entry, values);
                }
            }
            Kind::Marker => {
                if !over_row.covers(entry.ts) {
                    sink.entry(entry, values);
                }
            }
            Kind::Complex => {
                let is_equal = entry.deleted() == over_row && from == From::Updates;
                if entry.deleted() > over_row || is_equal {
                    over_column = (column, entry.deleted());
                    sink.entry(entry, values);
                }
            }
            Kind::Hollow => {
                let is_deleted = !over_row.is_none() || over_column.0 == column;
                if from == From::Updates && !is_deleted {
                    sink.entry(entry, values);
                }
            }
            Kind::Cell => {
                let over = if over_column.0 == column { over_column.1 } else { over_row };
                if !over.covers(entry.ts) {
                    sink.element(entry, values);
                }
            }
        }
    }
}

/// The strongest entry of the least slot, which all rows are moved past.
#[inline]
fn winner<'a>(parts: &[Part<'a>], rows: &mut [RowCursor]) -> Option<(Entry, &'a [u8])> {
    let mut least: Option<(Slot, usize)> = None;
    for (at, row) in rows.iter().enumerate() {
        if row.at < row.end {
            let slot = parts[row.source].run.entry(row.at).slot;
            if least.is_none_or(|(there, _)| slot < there) {
                least = Some((slot, at));
            }
        }
    }
    let (slot, first) = least?;
    let mut best: Option<(&Entry, &[u8])> = None;
    for row in &mut rows[first..] {
        let run = parts[row.source].run;
        if row.at == row.end || run.entry(row.at).slot != slot {
            continue;
        }
        let entry = run.entry(row.at);
        row.at += 1;
        if best.is_none_or(|(there, values)| entry.beats(&run.values, there, values)) {
            best = Some((entry, &run.values));
        }
    }
    best.map(|(entry, values)| (*entry, values))
}

/// Adds to an open row what `outer` leaves of it, as inside one memtable: here the deletion of a
/// collection goes only where `outer` is stronger, and that of the row where it is not.
pub(super) fn weaken(entries: &[Entry], values: &[u8], outer: Deleted, sink: &mut Sink<'_>) {
    let mut over_column = (None, Deleted::NONE);
    for entry in entries {
        let column = entry.slot.column();
        let is_left = match entry.slot.kind() {
            Kind::Deletion => entry.deleted() > outer,
            Kind::Marker => !outer.covers(entry.ts),
            Kind::Complex => {
                let is_left = entry.deleted() >= outer;
                if is_left {
                    over_column = (column, entry.deleted());
                }
                is_left
            }
            Kind::Hollow => over_column.0 != column,
            Kind::Cell => {
                let by_column = over_column.0 == column && over_column.1.covers(entry.ts);
                !outer.covers(entry.ts) && !by_column
            }
        };
        match entry.slot.kind() {
            Kind::Cell if is_left => sink.element(*entry, values),
            _ if is_left => sink.entry(*entry, values),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::NEVER;
    use super::super::key::Key;
    use super::*;

    const ROW: [u64; 1] = [10];

    fn cell(slot: Slot, ts: i64) -> Entry {
        Entry::cell(slot, (ts, 0, NEVER), b"v", &mut Vec::new())
    }

    fn delete(slot: Slot, ts: i64) -> Entry {
        Entry::deletion(slot, Deleted { ts, ldt: 1 })
    }

    fn one_row(entries: &[Entry]) -> Run {
        let mut run = Run::new(1);
        run.open_part(Key::new(1), Deleted::NONE);
        run.open_item(&ROW, false);
        entries.iter().for_each(|entry| run.push(*entry, &[]));
        run
    }

    fn range(from: u64, to: u64, ts: i64) -> Run {
        let mut run = Run::new(1);
        run.open_part(Key::new(1), Deleted::NONE);
        for (place, slot) in [(from, Slot::OPEN), (to, Slot::CLOSE)] {
            run.open_item(&[place], true);
            run.push(delete(slot, ts), &[]);
        }
        run
    }

    fn combined(runs: &[Run]) -> Run {
        let parts: Vec<Part<'_>> = runs.iter().map(|run| run.part(0)).collect();
        let mut merged = Run::new(1);
        Combiner::default().part(&parts, &mut Sink::new(&mut merged, None));
        merged
    }

    #[test]
    fn a_cell_goes_where_the_row_or_its_collection_was_deleted_elsewhere() {
        let one = one_row(&[cell(Slot::simple(0), 5), cell(Slot::element(1, 1), 6)]);
        let two = one_row(&[delete(Slot::DELETION, 5), delete(Slot::complex(1), 6)]);

        let merged = combined(&[one, two]);

        let expected = [delete(Slot::DELETION, 5), delete(Slot::complex(1), 6)];
        assert_eq!(merged.line(0).entries, expected);
    }

    #[test]
    fn between_sources_an_equal_deletion_of_a_collection_goes_and_between_updates_it_stays() {
        let entries = [delete(Slot::DELETION, 5), delete(Slot::complex(1), 5)];
        let run = one_row(&entries);
        let parts = [run.part(0)];
        let left = |from| {
            let mut merged = Run::new(1);
            let mut sink = Sink::new(&mut merged, None);
            sink.open_part(Key::new(1), Deleted::NONE);
            sink.open_row(&ROW);
            let mut rows = [RowCursor { source: 0, at: 0, end: 2 }];
            row(&parts, &mut rows, from, &mut sink);
            sink.close_row();
            merged.line(0).entries.len()
        };

        assert_eq!(left(From::Sources(Deleted::NONE)), 1);
        assert_eq!(left(From::Updates), 2);
    }

    #[test]
    fn what_one_source_has_alone_is_not_looked_into() {
        let hidden = [delete(Slot::DELETION, 5), cell(Slot::simple(0), 4)];
        let (one, two) = (one_row(&hidden), range(20, 30, 1));

        let merged = combined(&[one, two]);

        assert_eq!(merged.line(0).entries, hidden);
    }

    #[test]
    fn where_ranges_meet_the_strongest_is_open() {
        let merged = combined(&[range(20, 60, 5), range(40, 80, 7), range(60, 70, 6)]);

        let bounds: Vec<(u64, i64, i64)> = (0..merged.items())
            .map(|item| {
                let line = merged.line(item);
                let ts = |slot| line.get(slot).map_or(0, |entry| entry.ts);
                (merged.place(item)[0], ts(Slot::CLOSE), ts(Slot::OPEN))
            })
            .collect();
        assert_eq!(bounds, [(20, 0, 5), (40, 5, 7), (80, 7, 0)]);
    }

    #[test]
    fn a_range_covers_the_rows_in_it() {
        let row = one_row(&[cell(Slot::simple(0), 5), cell(Slot::simple(1), 6)]);

        let merged = combined(&[row, range(9, 11, 5)]);

        assert_eq!(merged.line(1).entries, [cell(Slot::simple(1), 6)]);
    }

    #[test]
    fn a_hollow_collection_is_so_until_an_element_comes() {
        let (one, two) = (one_row(&[Entry::hollow(1)]), one_row(&[cell(Slot::element(1, 3), 5)]));
        let parts = [one.part(0), two.part(0)];
        let mut merged = Run::new(1);
        let mut sink = Sink::new(&mut merged, None);
        sink.open_part(Key::new(1), Deleted::NONE);
        sink.open_row(&ROW);
        let mut rows = [0, 1].map(|source| RowCursor { source, at: 0, end: 1 });

        row(&parts, &mut rows, From::Updates, &mut sink);
        sink.close_row();

        assert_eq!(merged.line(0).entries, [cell(Slot::element(1, 3), 5)]);
    }
}
