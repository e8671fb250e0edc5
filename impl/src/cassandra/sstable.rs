//! What is an sstable, beside what is in it?

use std::sync::Arc;

use super::entry::NEVER;
use super::key::Key;
use super::place::{Span, is_static};
use super::run::Run;
use super::sink::Sink;
use super::statistics::{Histogram, Statistics};

/// An sstable. It never changes but for its number and for when it was repaired.
#[derive(Clone, Debug)]
pub(super) struct Sstable {
    /// Its number.
    pub id: u64,
    /// When it was repaired, in milliseconds; 0 where it was not.
    pub repaired_at: i64,
    /// Its level, for LeveledCompactionStrategy.
    pub level: u8,
    /// What was written.
    pub file: Arc<File>,
}

/// What was written once.
#[derive(Debug)]
pub(super) struct File {
    /// The partitions; there is one at least.
    pub run: Run,
    /// What was counted.
    pub statistics: Statistics,
    /// The drop times.
    pub histogram: Histogram,
    /// Has it a partition deletion with a negative timestamp?
    pub has_negative_deletion: bool,
    covers: Covers,
}

/// Which clusterings does it cover?
#[derive(Debug, PartialEq, Eq)]
enum Covers {
    /// All, since it has a static row or a partition deletion.
    All,
    /// Those from one place to another.
    Between(Vec<u64>, Vec<u64>),
    /// None.
    Nothing,
}

impl File {
    /// What a sink has written, where that is anything.
    pub fn of(run: Run, statistics: Statistics, last_point: Option<i64>) -> Option<File> {
        let mut statistics = statistics;
        let histogram = statistics.histogram(last_point);
        let covers = covers(&run);
        let has_negative_deletion = run.parts().any(|part| {
            let deletion = part.deletion();
            !deletion.is_none() && deletion.ts < 0
        });
        let file = File { run, statistics, histogram, has_negative_deletion, covers };
        (!file.run.is_empty()).then_some(file)
    }

    /// The same once more, read from a file and counted again.
    pub fn again(&self, writes_empty: bool, last_point: Option<i64>) -> Option<File> {
        let mut run = Run::new(self.run.width());
        run.reserve(std::iter::once(&self.run));
        let mut sink = Sink::file(&mut run, None, writes_empty);
        let mut combiner = super::combine::Combiner::default();
        self.run.parts().for_each(|part| combiner.part(&[part], &mut sink));
        let statistics = sink.close();
        File::of(run, statistics, last_point)
    }

    /// Does it cover clusterings in any of the spans?
    pub fn meets_spans(&self, spans: &[Span]) -> bool {
        match &self.covers {
            Covers::All => true,
            Covers::Nothing => false,
            Covers::Between(first, last) => {
                spans.iter().any(|span| span.start < *last && *first < span.end)
            }
        }
    }

    /// Does it cover any clustering?
    pub fn meets_all(&self) -> bool {
        self.covers != Covers::Nothing
    }

    /// Its first and its last key.
    pub fn keys(&self) -> (Key, Key) {
        (self.run.key(0), self.run.key(self.run.len() - 1))
    }

    /// Does the range of its keys hold this one?
    pub fn spans(&self, key: Key) -> bool {
        let (first, last) = self.keys();
        first <= key && key <= last
    }

    /// Do the ranges of keys meet?
    pub fn meets(&self, other: &File) -> bool {
        let ((first, last), (other_first, other_last)) = (self.keys(), other.keys());
        first <= other_last && other_first <= last
    }

    /// Has everything in it expired before this second?
    pub fn has_expired(&self, gc_before: i64) -> bool {
        let max = self.statistics.max_ldt;
        max != i64::MIN && max != NEVER && max < gc_before
    }

    /// How much there is of it, for want of a size in bytes.
    pub fn bulk(&self) -> u64 {
        self.statistics.rows + self.statistics.cells + self.statistics.drops
    }
}

fn covers(run: &Run) -> Covers {
    let (mut first, mut last): (Option<&[u64]>, Option<&[u64]>) = (None, None);
    for part in run.parts() {
        let items = part.items();
        if !part.deletion().is_none() {
            return Covers::All;
        }
        if items.is_empty() {
            continue;
        }
        let (start, end) = (run.place(items.start), run.place(items.end - 1));
        if is_static(start) {
            return Covers::All;
        }
        first = Some(first.map_or(start, |first| first.min(start)));
        last = last.max(Some(end));
    }
    match first.zip(last) {
        Some((first, last)) => Covers::Between(first.to_vec(), last.to_vec()),
        None => Covers::Nothing,
    }
}

impl Sstable {
    /// Is it repaired?
    pub fn is_repaired(&self) -> bool {
        self.repaired_at != 0
    }

    /// The smallest timestamp in it.
    pub fn min_ts(&self) -> i64 {
        let statistics = &self.file.statistics;
        if statistics.knows_timestamps() { statistics.min_ts } else { i64::MIN }
    }

    /// The largest timestamp in it.
    pub fn max_ts(&self) -> i64 {
        let statistics = &self.file.statistics;
        if statistics.knows_timestamps() { statistics.max_ts } else { i64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::super::deleted::Deleted;
    use super::super::entry::{Entry, Slot};
    use super::super::place::{Clusterings, Side};
    use super::*;
    use ttlspec_model::cassandra::words::Clustering;

    fn clusterings() -> Clusterings {
        Clusterings::new(&[Clustering { name: "c".to_owned(), descending: false }])
    }

    fn file(deletion: Deleted, rows: &[i32]) -> File {
        let mut run = Run::new(1);
        let mut sink = Sink::file(&mut run, None, true);
        sink.open_part(Key::new(1), deletion);
        for c in rows {
            sink.open_row(&clusterings().place(&[*c], Side::Row));
            sink.entry(Entry::tombstone(Slot::simple(0), 5, 10), &[]);
            sink.close_row();
        }
        sink.close_part();
        let statistics = sink.close();
        File::of(run, statistics, None).unwrap()
    }

    #[test]
    fn it_covers_from_its_first_row_to_its_last() {
        let meets = |file: &File, c: i32| file.meets_spans(&[clusterings().below(&[c])]);
        let two = file(Deleted::NONE, &[3, 5]);

        assert!(!meets(&two, 2) && meets(&two, 4) && !meets(&two, 6));
        assert!(meets(&file(Deleted { ts: 1, ldt: 1 }, &[3]), 9));
    }

    #[test]
    fn it_has_expired_once_the_last_of_it_has() {
        let file = file(Deleted::NONE, &[3]);

        assert!(!file.has_expired(10));
        assert!(file.has_expired(11));
    }

    #[test]
    fn read_again_it_is_the_same() {
        let file = file(Deleted { ts: -1, ldt: 1 }, &[3, 5]);

        let again = file.again(true, None).unwrap();

        assert_eq!(again.statistics.rows, 2);
        assert!(again.has_negative_deletion);
        assert_eq!(again.keys(), file.keys());
    }
}
