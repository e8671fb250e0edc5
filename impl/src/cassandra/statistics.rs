//! What does an sstable know about itself?

use std::cmp::Ordering;

use super::entry::{Entry, Kind, NEVER};

/// What is counted while an sstable is written.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    /// The smallest timestamp; the largest there is where there is none.
    pub min_ts: i64,
    /// The largest timestamp; the smallest there is where there is none.
    pub max_ts: i64,
    /// The smallest local deletion time; [`NEVER`] where nothing has one.
    pub min_ldt: i64,
    /// The largest local deletion time, [`NEVER`] where something lives for ever; `i64::MIN` where
    /// there is nothing that could have one.
    pub max_ldt: i64,
    /// The smallest TTL; `u32::MAX` where nothing could have one.
    pub min_ttl: u32,
    /// The largest TTL.
    pub max_ttl: u32,
    /// Rows, static ones included.
    pub rows: u64,
    /// Columns of rows that have a cell.
    pub columns: u64,
    /// Cells.
    pub cells: u64,
    /// How many drop times?
    pub drops: u64,
    /// The second of each drop time.
    drop_times: Vec<i64>,
    /// The cells of all partitions, each number rounded up to its bucket.
    bucketed: u64,
    partitions: u64,
    cells_before: u64,
}

/// How many drop times lie where: seconds rounded up to minutes, and counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The points in order.
    pub points: Vec<(i64, u64)>,
    /// The estimated number of cells.
    cells: f64,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            min_ts: i64::MAX,
            max_ts: i64::MIN,
            min_ldt: NEVER,
            max_ldt: i64::MIN,
            min_ttl: u32::MAX,
            max_ttl: 0,
            rows: 0,
            columns: 0,
            cells: 0,
            drops: 0,
            drop_times: Vec::new(),
            bucketed: 0,
            partitions: 0,
            cells_before: 0,
        }
    }
}

impl Statistics {
    /// Is there anything that has a timestamp?
    pub fn knows_timestamps(&self) -> bool {
        self.min_ts <= self.max_ts
    }

    /// Counts a deletion: of a partition, a row or a collection; of a range, once at each end.
    pub fn deletion(&mut self, ts: i64, ldt: i64) {
        self.seen(ts, ldt);
    }

    #[inline]
    fn seen(&mut self, ts: i64, ldt: i64) {
        self.min_ts = self.min_ts.min(ts);
        self.max_ts = self.max_ts.max(ts);
        self.min_ldt = self.min_ldt.min(ldt);
        self.max_ldt = self.max_ldt.max(ldt);
        if ldt != NEVER {
            self.drops += 1;
            self.drop_times.push(ldt);
        }
    }

    /// Counts a row.
    pub fn row(&mut self, entries: &[Entry]) {
        self.rows += 1;
        let mut last = None;
        for entry in entries {
            let kind = entry.slot.kind();
            if kind == Kind::Hollow {
                continue;
            }
            self.seen(entry.ts, entry.ldt);
            if matches!(kind, Kind::Marker | Kind::Cell) {
                self.min_ttl = self.min_ttl.min(entry.ttl);
                self.max_ttl = self.max_ttl.max(entry.ttl);
            }
            if kind == Kind::Cell {
                self.cells += 1;
                let column = entry.slot.column();
                self.columns += u64::from(column != last);
                last = column;
            }
        }
    }

    /// Ends a partition.
    pub fn close_part(&mut self) {
        self.partitions += 1;
        self.bucketed += bucket(self.cells - self.cells_before);
        self.cells_before = self.cells;
    }

    /// The histogram of the drop times; none of its points is past `last`.
    pub fn histogram(&mut self, last: Option<i64>) -> Histogram {
        let mut times = std::mem::take(&mut self.drop_times);
        times.sort_unstable();
        let mut points: Vec<(i64, u64)> = Vec::new();
        for time in times {
            let minute = (time + 59).div_euclid(60) * 60;
            let point = last.map_or(minute, |last| minute.min(last));
            match points.last_mut() {
                Some((there, count)) if *there == point => *count += 1,
                _ => points.push((point, 1)),
            }
        }
        // The mean of all partitions is known as a whole number only.
        let partitions = self.partitions as f64;
        let cells = (self.bucketed as f64 / partitions).ceil() * partitions;
        Histogram { points, cells }
    }
}

impl Histogram {
    /// How many of its drop times lie at or before `at`, of a straight line between points?
    fn until(&self, at: i64) -> f64 {
        let after = self.points.partition_point(|(point, _)| *point <= at);
        let sum =
            |points: &[(i64, u64)]| points.iter().map(|(_, count)| *count).sum::<u64>() as f64;
        let (Some(here), there) = (after.checked_sub(1), self.points.get(after)) else {
            return 0.0;
        };
        let Some((next, there)) = there else { return sum(&self.points) };
        let (point, count) = self.points[here];
        let (here_f, there_f) = (count as f64, *there as f64);
        let share = (at - point) as f64 / (next - point) as f64;
        let height = here_f + (there_f - here_f) * share;
        sum(&self.points[..here]) + here_f / 2.0 + (here_f + height) * share / 2.0
    }

    /// The estimated share of it that may be gone for what was deleted before `gc_before`.
    pub fn droppable(&self, gc_before: i64) -> f64 {
        self.until(gc_before) / self.cells
    }
}

/// The bucket that a number of cells falls into, by its upper bound: each is a fifth larger than the
/// one before, and one at least.
fn bucket(count: u64) -> u64 {
    let mut bound = 1_u64;
    while bound.cmp(&count) == Ordering::Less {
        // A fifth of a whole number is never in the middle between two.
        bound = ((bound * 12 + 5) / 10).max(bound + 1);
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::super::entry::Slot;
    use super::*;

    #[test]
    fn buckets_grow_by_a_fifth() {
        let bounds: Vec<u64> = (1..30).map(bucket).collect();

        let mut distinct = bounds.clone();
        distinct.dedup();
        assert_eq!(distinct, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29]);
        assert_eq!(bucket(0), 1);
    }

    #[test]
    fn between_two_points_it_is_a_trapezoid() {
        let histogram = Histogram { points: vec![(60, 2), (120, 4)], cells: 10.0 };

        assert_eq!(histogram.until(59), 0.0);
        assert_eq!(histogram.until(60), 1.0);
        assert_eq!(histogram.until(90), 1.0 + (2.0 + 3.0) * 0.5 / 2.0);
        assert_eq!(histogram.until(120), 6.0);
        assert_eq!(histogram.droppable(120), 0.6);
    }

    #[test]
    fn drop_times_are_rounded_up_to_minutes_and_never_past_the_last() {
        let mut statistics = Statistics::default();
        for ldt in [60, 61, 120, 1_000] {
            statistics.deletion(1, ldt);
        }
        statistics.close_part();

        assert_eq!(statistics.histogram(Some(999)).points, [(60, 1), (120, 2), (999, 1)]);
    }

    #[test]
    fn a_row_counts_its_cells_and_the_columns_that_have_one() {
        let mut statistics = Statistics::default();
        let live = |slot| Entry::cell(slot, (7, 0, NEVER), b"v", &mut Vec::new());
        let entries = [
            Entry::marker(5, 10, 20),
            live(Slot::simple(0)),
            Entry::hollow(1),
            live(Slot::element(2, 1)),
            Entry::tombstone(Slot::element(2, 2), 9, 15),
        ];

        statistics.row(&entries);

        assert_eq!((statistics.rows, statistics.columns, statistics.cells), (1, 2, 3));
        assert_eq!((statistics.min_ts, statistics.max_ts), (5, 9));
        assert_eq!((statistics.min_ldt, statistics.max_ldt), (15, NEVER));
        assert_eq!((statistics.min_ttl, statistics.max_ttl), (0, 10));
        assert_eq!(statistics.drops, 2);
    }
}
