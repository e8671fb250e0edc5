//! What of a merge is kept, and what is known about it? Both are found as it is written.

use super::deleted::Deleted;
use super::entry::{Entry, Kind, Slot};
use super::grace::Purge;
use super::key::Key;
use super::run::{Line, Run};
use super::statistics::Statistics;

/// Where the partitions go that a merge makes.
pub(super) struct Sink<'a> {
    /// Into this run.
    pub run: &'a mut Run,
    /// What may go on the way.
    pub purge: Option<Purge>,
    file: Option<File>,
    /// Has the partition any item?
    has_items: bool,
}

struct File {
    statistics: Statistics,
    writes_empty_collections: bool,
}

impl<'a> Sink<'a> {
    /// For something that is only looked at. Empty partitions are left out where something may go.
    pub fn new(run: &'a mut Run, purge: Option<Purge>) -> Sink<'a> {
        Sink { run, purge, file: None, has_items: false }
    }

    /// For an sstable: statistics are kept, and what a file cannot show is left out.
    pub fn file(run: &'a mut Run, purge: Option<Purge>, writes_empty: bool) -> Sink<'a> {
        let file =
            File { statistics: Statistics::default(), writes_empty_collections: writes_empty };
        Sink { file: Some(file), ..Sink::new(run, purge) }
    }

    /// The statistics of what went into a file.
    pub fn close(self) -> Statistics {
        self.file.map_or_else(Statistics::default, |file| file.statistics)
    }

    /// Begins a partition.
    pub fn open_part(&mut self, key: Key, deletion: Deleted) {
        let deletion = self.purge.map_or(deletion, |purge| purge.deletion(deletion));
        self.has_items = !deletion.is_none();
        self.run.open_part(key, deletion);
        if let Some(file) = &mut self.file
            && !deletion.is_none()
        {
            file.statistics.deletion(deletion.ts, deletion.ldt);
        }
    }

    /// Ends it. An empty one is not kept where something may go; a file may have one, in which a
    /// collection was hollow.
    pub fn close_part(&mut self) {
        if !self.has_items && self.purge.is_some() {
            self.run.drop_part();
        } else if let Some(file) = &mut self.file {
            file.statistics.close_part();
        }
    }

    /// Begins a row.
    pub fn open_row(&mut self, place: &[u64]) {
        self.run.open_item(place, false);
    }

    /// Adds to the row; slots ascend.
    #[inline]
    pub fn entry(&mut self, entry: Entry, values: &[u8]) {
        let left = match &self.purge {
            Some(purge) => purge.entry(entry),
            None => Some(entry),
        };
        if let Some(entry) = left {
            self.run.push(entry, values);
        }
    }

    /// Adds a cell; where its collection was hollow, it is no more.
    #[inline]
    pub fn element(&mut self, entry: Entry, values: &[u8]) {
        if let Some(column) = entry.slot.column() {
            self.run.pop_if(Slot::hollow(column));
        }
        self.entry(entry, values);
    }

    /// Ends the row. An empty one is not kept.
    pub fn close_row(&mut self) {
        let entries = self.run.last_entries();
        let is_strict = self.purge.is_some_and(|purge| purge.is_strict);
        if entries.is_empty() || is_strict && entries[0].slot > Slot::MARKER {
            return self.run.drop_item();
        }
        self.has_items = true;
        let Some(file) = &mut self.file else { return };
        file.statistics.row(entries);
        let has = |kind: Kind| entries.iter().any(|entry| entry.slot.kind() == kind);
        let is_kept = file.writes_empty_collections && has(Kind::Complex);
        if has(Kind::Hollow) && !is_kept {
            self.run.retain_entries(|entry| entry.slot.kind() != Kind::Hollow);
            if self.run.last_entries().is_empty() {
                self.run.drop_item();
            }
        }
    }

    /// Adds a row as it is, but for what may go.
    pub fn row(&mut self, place: &[u64], line: Line<'_>) {
        self.open_row(place);
        for entry in line.entries {
            self.entry(*entry, line.values);
        }
        self.close_row();
    }

    /// Adds the end of a range tombstone, or the boundary between two.
    pub fn bound(&mut self, place: &[u64], close: Deleted, open: Deleted) {
        let left = |it: Deleted| self.purge.map_or(it, |purge| purge.deletion(it));
        let (close, open) = (left(close), left(open));
        if close.is_none() && open.is_none() {
            return;
        }
        self.has_items = true;
        self.run.open_item(place, true);
        for (slot, deletion) in [(Slot::CLOSE, close), (Slot::OPEN, open)] {
            if deletion.is_none() {
                continue;
            }
            self.run.push(Entry::deletion(slot, deletion), &[]);
            if let Some(file) = &mut self.file {
                file.statistics.deletion(deletion.ts, deletion.ldt);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grace::Alone;
    use super::*;

    const PLACE: [u64; 1] = [6];

    fn purge(is_strict: bool) -> Option<Purge> {
        Some(Purge {
            now: 100,
            gc_before: 90,
            oldest_unrepaired: i64::MAX,
            alone: Alone::Always,
            is_strict,
            makes_tombstones: true,
        })
    }

    fn written(purge: Option<Purge>, write: impl FnOnce(&mut Sink<'_>)) -> Run {
        let mut run = Run::new(1);
        let mut sink = Sink::new(&mut run, purge);
        sink.open_part(Key::new(1), Deleted::NONE);
        write(&mut sink);
        sink.close_part();
        run
    }

    #[test]
    fn nothing_is_left_of_a_partition_whose_last_row_goes() {
        let dead = Entry::tombstone(Slot::simple(0), 5, 50);
        let line = Line { entries: &[dead], values: &[] };

        assert_eq!(written(purge(false), |sink| sink.row(&PLACE, line)).len(), 0);
        assert_eq!(written(None, |sink| sink.row(&PLACE, line)).items(), 1);
        assert_eq!(written(None, |_| {}).len(), 1);
    }

    #[test]
    fn a_boundary_one_side_of_which_goes_is_the_bound_of_the_other() {
        let (old, new) = (Deleted { ts: 5, ldt: 50 }, Deleted { ts: 4, ldt: 95 });

        let run = written(purge(false), |sink| sink.bound(&PLACE, old, new));

        let line = run.line(0);
        assert_eq!((line.deletion(Slot::CLOSE), line.deletion(Slot::OPEN)), (Deleted::NONE, new));
    }

    #[test]
    fn in_a_view_a_row_is_nothing_without_a_marker() {
        let cell = Entry::cell(Slot::simple(0), (5, 0, i64::MAX), b"v", &mut Vec::new());
        let line = Line { entries: &[cell], values: &[] };

        assert_eq!(written(purge(true), |sink| sink.row(&PLACE, line)).len(), 0);
        assert_eq!(written(purge(false), |sink| sink.row(&PLACE, line)).items(), 1);
    }

    #[test]
    fn a_hollow_collection_is_counted_and_then_left_out_of_a_file() {
        let mut run = Run::new(1);
        let mut sink = Sink::file(&mut run, None, false);
        sink.open_part(Key::new(1), Deleted::NONE);
        sink.row(&PLACE, Line { entries: &[Entry::hollow(0)], values: &[] });
        sink.close_part();

        let statistics = sink.close();

        assert_eq!(statistics.rows, 1);
        assert_eq!((run.len(), run.items()), (1, 0));
    }
}
