//! What was written and is not in an sstable yet?

use std::collections::BTreeMap;

use super::faults::Faults;
use super::key::Key;
use super::run::{Part, Run};
use super::update::Update;

/// 2015-09-22: what the server takes for the smallest timestamp of an update that has none.
const EPOCH_S: i64 = 1_442_880_000;
const EPOCH_US: i64 = EPOCH_S * 1_000_000;
/// How the server writes down that it knows no smallest timestamp.
const UNKNOWN: i64 = -1;
/// A partition is folded when it has twice as much as after the last time, and so much more.
const SLACK: usize = 16;

/// What was written, by partitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Memtable {
    parts: BTreeMap<Key, Written>,
    /// The smallest timestamp of all that was ever written to it.
    min_ts: Option<i64>,
    /// The smallest local deletion time of all that was ever written to it.
    min_ldt: Option<i64>,
}

#[derive(Clone, Debug)]
struct Written {
    update: Update,
    /// How much there was when it was folded last.
    folded: usize,
    is_folded: bool,
    /// What is seen of it, once somebody has looked.
    shown: Option<Run>,
}

impl Written {
    fn fold(&mut self) {
        if !self.is_folded {
            self.update = self.update.folded();
            self.folded = self.update.len();
            self.is_folded = true;
        }
    }

    fn show(&mut self) {
        if self.shown.is_none() {
            self.fold();
            self.shown = Some(self.update.shown());
        }
    }
}

impl Memtable {
    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Has it a partition of this key?
    pub fn has(&self, key: Key) -> bool {
        self.parts.contains_key(&key)
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.parts.keys().copied()
    }

    /// Takes in an update, which is folded.
    pub fn apply(&mut self, update: &Update) {
        let least = |of: fn(&Update) -> Option<i64>, none: i64, there: Option<i64>| {
            let new = of(update).unwrap_or(none);
            Some(there.map_or(new, |there| there.min(new)))
        };
        let min_ts = |update: &Update| update.times().map(|it| it.ts).min();
        let min_ldt = |update: &Update| {
            let all = update.times().map(|it| it.ldt);
            all.filter(|ldt| *ldt != super::entry::NEVER).min()
        };
        self.min_ts = least(min_ts, EPOCH_US, self.min_ts);
        self.min_ldt = least(min_ldt, EPOCH_S, self.min_ldt);
        let written = self.parts.entry(update.key()).or_insert_with(|| Written {
            update: Update::new(update.key(), update.rows.width()),
            folded: 0,
            is_folded: true,
            shown: None,
        });
        written.update.append(update);
        written.is_folded = false;
        written.shown = None;
        if written.update.len() > 2 * written.folded + SLACK {
            written.fold();
        }
    }

    /// The smallest timestamp that it is taken to hold, in any partition.
    pub fn min_ts(&self, faults: &Faults) -> Option<i64> {
        self.min_ts.filter(|ts| match *ts {
            UNKNOWN => !faults.minus_one,
            EPOCH_US => !faults.epoch,
            _ => true,
        })
    }

    /// The smallest local deletion time that it is taken to hold.
    pub fn min_ldt(&self) -> Option<i64> {
        self.min_ldt
    }

    /// Makes ready to look at a partition.
    pub fn look(&mut self, key: Key) {
        if let Some(written) = self.parts.get_mut(&key) {
            written.show();
        }
    }

    /// Makes ready to look at all partitions.
    pub fn look_at_all(&mut self) {
        self.parts.values_mut().for_each(Written::show);
    }

    /// A partition as it is seen. [`Memtable::look`] comes first.
    pub fn part(&self, key: Key) -> Option<Part<'_>> {
        self.parts.get(&key).and_then(|written| written.shown.as_ref()).map(|run| run.part(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Entry, NEVER, Slot};
    use super::*;

    fn faults() -> Faults {
        Faults::except(&[]).unwrap()
    }

    fn write(ts: i64) -> Update {
        let mut update = Update::new(Key::new(1), 1);
        update.rows.open_item(&[6], false);
        let mut values = Vec::new();
        let cell = Entry::cell(Slot::simple(0), (ts, 0, NEVER), b"v", &mut values);
        update.rows.push(cell, &values);
        update.folded()
    }

    #[test]
    fn the_last_write_is_seen() {
        let mut memtable = Memtable::default();
        for ts in 0..100 {
            memtable.apply(&write(ts));
            memtable.look(Key::new(1));

            let part = memtable.part(Key::new(1)).unwrap();

            assert_eq!(part.run.line(0).entries[0].ts, ts);
        }
    }

    #[test]
    fn it_remembers_the_smallest_timestamp_of_what_is_gone() {
        let mut memtable = Memtable::default();
        for ts in [7, 3, 9] {
            memtable.apply(&write(ts));
        }

        assert_eq!(memtable.min_ts(&faults()), Some(3));
        assert_eq!(memtable.min_ldt(), Some(EPOCH_S));
    }

    #[test]
    fn two_timestamps_are_taken_for_none() {
        for ts in [UNKNOWN, EPOCH_US] {
            let mut memtable = Memtable::default();
            memtable.apply(&write(ts));

            assert_eq!(memtable.min_ts(&faults()), None);
        }
    }
}
