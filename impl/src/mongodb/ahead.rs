//! Which documents come next in a visit that goes on?
//!
//! What a visit takes out of the calendar is kept here until it is deleted, or given back.

use super::lifetimes::Dates;
use super::store::{Slot, Store};
use crate::calendar::{Calendar, Entry};

/// A document with its place in the order of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    /// The date that decides.
    pub(super) date_ms: i64,
    /// When the document came.
    pub(super) record: u64,
    /// Where it is.
    pub(super) slot: Slot,
}

impl Due {
    fn entry(self) -> Entry {
        Entry { date_ms: self.date_ms, slot: self.slot }
    }
}

/// What a visit has taken out of the calendar.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// Up to here nothing is left in the calendar; `None` while there is no visit.
    horizon_ms: Option<i64>,
    /// What was taken out, by date; in the order of the visit up to `known`.
    due: Vec<Due>,
    known: usize,
    /// How many of them the visit has come past.
    next: usize,
    /// Is there more to take out?
    is_more: bool,
    /// What came meanwhile and is not later than the horizon.
    late: Vec<Entry>,
    /// What the visit came past, and what stayed.
    passed: Vec<Entry>,
    /// What is being taken out.
    taken: Vec<Entry>,
}

/// How many candidates are taken out of the calendar at once.
const BATCH: usize = 4_096;

impl Ahead {
    /// Takes an entry that would come too late in the calendar. Or does it not?
    #[inline]
    pub(super) fn takes(&mut self, entry: Entry) -> bool {
        let is_late = self.horizon_ms.is_some_and(|horizon_ms| entry.date_ms <= horizon_ms);
        if is_late {
            self.late.push(entry);
        }
        is_late
    }

    /// The next document with a date at or before the threshold, which stays the same from call to
    /// call until all is given back.
    pub(super) fn advance(
        &mut self,
        threshold_ms: i64,
        (dates, calendar): (&Dates, &mut Calendar),
        store: &Store,
    ) -> Option<Due> {
        if self.horizon_ms.is_none() {
            self.is_more = true;
        }
        if !self.late.is_empty() {
            self.take_late(dates, calendar, store);
        }
        loop {
            while self.next < self.known {
                let due = self.due[self.next];
                self.next += 1;
                if dates.has(due.entry()) && store.record(due.slot) == due.record {
                    return Some(due);
                }
            }
            if !self.is_more {
                return None;
            }
            self.take_more(threshold_ms, dates, calendar, store);
        }
    }

    /// Sorts in what came meanwhile.
    fn take_late(&mut self, dates: &Dates, calendar: &mut Calendar, store: &Store) {
        for entry in self.late.drain(..) {
            if dates.has(entry) {
                self.due.push(due(entry, store));
                self.known += 1;
            } else {
                calendar.note_drained_stale(1);
            }
        }
        // All of it lies before what is not known yet.
        self.due[self.next..].sort_unstable();
    }

    fn take_more(
        &mut self,
        threshold_ms: i64,
        dates: &Dates,
        calendar: &mut Calendar,
        store: &Store,
    ) {
        for passed in self.due.drain(..self.next) {
            if dates.has(passed.entry()) {
                self.passed.push(passed.entry());
            } else {
                calendar.note_drained_stale(1);
            }
        }
        (self.next, self.known) = (0, 0);
        // The next batch may go on with the last date, whose order is not known before.
        while self.known == 0 && self.is_more {
            self.taken.clear();
            self.is_more = calendar.drain_ordered(threshold_ms, BATCH, &mut self.taken) == BATCH;
            for entry in self.taken.drain(..) {
                if dates.has(entry) {
                    self.due.push(due(entry, store));
                } else {
                    calendar.note_drained_stale(1);
                }
            }
            (self.known, self.horizon_ms) = match self.due.last().map(|last| last.date_ms) {
                Some(last_ms) if self.is_more => {
                    (self.due.partition_point(|due| due.date_ms < last_ms), last_ms.checked_sub(1))
                }
                _ => (self.due.len(), Some(threshold_ms)),
            };
        }
        self.due[..self.known].sort_unstable();
    }

    /// Gives everything back that is still so.
    pub(super) fn give_back(&mut self, dates: &Dates, calendar: &mut Calendar) {
        if self.horizon_ms.is_none() {
            return;
        }
        let due = self.due.drain(..).map(Due::entry);
        for entry in due.chain(self.late.drain(..)).chain(self.passed.drain(..)) {
            if dates.has(entry) {
                calendar.insert(entry.slot, entry.date_ms);
            } else {
                calendar.note_drained_stale(1);
            }
        }
        (self.horizon_ms, self.next, self.known) = (None, 0, 0);
    }
}

fn due(entry: Entry, store: &Store) -> Due {
    Due { date_ms: entry.date_ms, record: store.record(entry.slot), slot: entry.slot }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mongodb::lifetimes::Lifetimes;

    /// A document of the size that the store wants.
    const DOCUMENT: [u8; 5] = [5, 0, 0, 0, 0];

    struct Dated {
        store: Store,
        lifetimes: Lifetimes,
        /// What there is: date, record, slot.
        oracle: BTreeSet<(i64, u64, Slot)>,
    }

    impl Dated {
        fn new() -> Dated {
            let (store, lifetimes) = (Store::default(), Lifetimes::default());
            Dated { store, lifetimes, oracle: BTreeSet::new() }
        }

        fn insert(&mut self, date_ms: i64) {
            let slot = self.store.insert(&DOCUMENT, 0).expect("there is room");
            self.lifetimes.set(slot, Some(date_ms));
            self.oracle.insert((date_ms, self.store.record(slot), slot));
        }

        fn remove(&mut self, gone: (i64, u64, Slot)) {
            self.oracle.remove(&gone);
            self.lifetimes.set(gone.2, None);
            self.store.remove(gone.2);
        }
    }

    /// The same numbers each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    #[test]
    fn a_visit_meets_what_is_ahead_in_order_whatever_comes_between() {
        let mut random = Random(1);
        let mut there = Dated::new();
        // More of one date than is taken out at once.
        (0..12_000).for_each(|at| there.insert(if at % 2 == 0 { 500 } else { at % 997 }));
        let threshold_ms = 700;
        let mut behind = None;
        let mut met = 0;
        while let Some(due) = there.lifetimes.advance(threshold_ms, &there.store) {
            let place = (due.date_ms, due.record, due.slot);
            if behind.is_some_and(|behind| place <= behind) {
                continue;
            }
            let first = there.oracle.iter().find(|one| behind.is_none_or(|behind| **one > behind));
            assert_eq!(first, Some(&place));
            behind = Some(place);
            met += 1;
            if random.below(3) > 0 {
                there.remove(place);
            }
            if random.below(4) == 0 {
                there.insert(random.below(1_000) as i64);
            }
            if random.below(50) == 0 {
                let at = random.below(there.oracle.len() as u64) as usize;
                let gone = there.oracle.iter().nth(at).copied().expect("it was counted");
                there.remove(gone);
            }
            if random.below(2_000) == 0 {
                // A pass comes between: all is given back, and the visit begins anew.
                there.lifetimes.end_visit();
            }
        }

        assert!(met > 8_000, "met {met}");
        let ahead = |one: &&(i64, u64, Slot)| one.0 <= threshold_ms && Some(**one) > behind;
        assert_eq!(there.oracle.iter().find(ahead), None);
    }

    #[test]
    fn what_a_visit_leaves_is_due_again() {
        let mut there = Dated::new();
        (0..10_000).for_each(|at| there.insert(at % 100));
        for _ in 0..6_000 {
            there.lifetimes.advance(1_000, &there.store).expect("there is more");
        }

        there.lifetimes.end_visit();

        let mut due = Vec::new();
        while there.lifetimes.due(1_000, &mut due) {}
        let mut due: Vec<(i64, Slot)> = due.iter().map(|due| (due.date_ms, due.slot)).collect();
        due.sort_unstable();
        let mut all: Vec<(i64, Slot)> =
            there.oracle.iter().map(|(date_ms, _, slot)| (*date_ms, *slot)).collect();
        all.sort_unstable();
        assert_eq!(due, all);
    }
}
