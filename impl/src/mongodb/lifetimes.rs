//! Which documents of an index are due, by their least dates?
//!
//! The dates stand in a flat array by slot, which is the truth. The calendar is told of each date
//! once and never of a change: what it hands over counts only if the array still says so.

use super::ahead::{Ahead, Due};
use super::store::{Slot, Store};
use crate::calendar::{Calendar, Entry};

/// The least dates of the documents of one index.
#[derive(Clone, Debug, Default)]
pub(super) struct Lifetimes {
    dates: Dates,
    calendar: Calendar,
    /// What a visit has taken out of the calendar; `None` as long as there was none.
    ahead: Option<Box<Ahead>>,
}

/// How many candidates a batch takes from the calendar.
const BATCH: usize = 4_096;

impl Lifetimes {
    /// Keeps the least date of the document in this slot, or that it has none.
    #[inline]
    pub(super) fn set(&mut self, slot: Slot, least: Option<i64>) {
        let old = self.dates.get(slot);
        if old == least {
            return;
        }
        self.dates.set(slot, least);
        self.calendar.note_stale(usize::from(old.is_some()));
        if let Some(date_ms) = least {
            let is_taken = match &mut self.ahead {
                Some(ahead) => ahead.takes(Entry { date_ms, slot }),
                None => false,
            };
            if !is_taken {
                self.calendar.insert(slot, date_ms);
            }
        }
        // More has changed since the last compaction than there is to look at in this one.
        if self.calendar.wants_compaction() {
            self.calendar.compact(1, |entry| self.dates.has(entry));
        }
    }

    /// Is this still the least date of the document in this slot?
    #[inline]
    pub(super) fn has(&self, entry: Entry) -> bool {
        self.dates.has(entry)
    }

    /// Appends a batch of documents with a least date at or before `threshold_ms`, by date; one
    /// document may stand there twice. Are there more? The calendar forgets them: whoever asks
    /// deletes them.
    pub(super) fn due(&mut self, threshold_ms: i64, batch: &mut Vec<Entry>) -> bool {
        self.end_visit();
        let before = batch.len();
        let drained = self.calendar.drain_ordered(threshold_ms, BATCH, batch);
        let mut kept = before;
        for at in before..batch.len() {
            let entry = batch[at];
            batch[kept] = entry;
            kept += usize::from(self.dates.has(entry));
        }
        self.calendar.note_drained_stale(batch.len() - kept);
        batch.truncate(kept);
        drained == BATCH
    }

    /// Tells that a document that was due has been deleted.
    #[inline]
    pub(super) fn done(&mut self) {
        // Its entry was drained before it became stale.
        self.calendar.note_drained_stale(1);
    }

    /// Takes a document back that was due and stays.
    pub(super) fn keep(&mut self, entry: Entry) {
        self.calendar.insert(entry.slot, entry.date_ms);
    }

    /// The next document of a visit, in order: by date, then by age. The visit keeps its threshold;
    /// what it comes past and nobody deletes is due again when it has ended.
    pub(super) fn advance(&mut self, threshold_ms: i64, store: &Store) -> Option<Due> {
        let ahead = self.ahead.get_or_insert_default();
        ahead.advance(threshold_ms, (&self.dates, &mut self.calendar), store)
    }

    /// Ends the visit that went on, if there was one.
    pub(super) fn end_visit(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.give_back(&self.dates, &mut self.calendar);
        }
    }
}

/// A date by slot, or none.
#[derive(Clone, Debug, Default)]
pub(super) struct Dates {
    /// [`NONE`] where there is no date.
    least: Vec<i64>,
    /// One bit a slot: the date is the end of time itself, and not [`NONE`]. Empty as long as no
    /// date ever was.
    at_end: Vec<u64>,
}

const NONE: i64 = i64::MAX;

impl Dates {
    #[inline]
    fn get(&self, slot: Slot) -> Option<i64> {
        match self.least.get(slot as usize).copied().unwrap_or(NONE) {
            NONE => self.is_at_end(slot).then_some(NONE),
            date_ms => Some(date_ms),
        }
    }

    #[inline]
    pub(super) fn has(&self, Entry { date_ms, slot }: Entry) -> bool {
        self.least.get(slot as usize) == Some(&date_ms) && (date_ms != NONE || self.is_at_end(slot))
    }

    #[inline]
    fn set(&mut self, slot: Slot, least: Option<i64>) {
        let at = slot as usize;
        if at >= self.least.len() {
            self.least.resize(at + 1, NONE);
        }
        self.least[at] = least.unwrap_or(NONE);
        let is_at_end = least == Some(NONE);
        if is_at_end || !self.at_end.is_empty() {
            self.mark_end(at, is_at_end);
        }
    }

    fn is_at_end(&self, slot: Slot) -> bool {
        let word = self.at_end.get(slot as usize / 64).copied().unwrap_or(0);
        word >> (slot % 64) & 1 == 1
    }

    fn mark_end(&mut self, at: usize, is_at_end: bool) {
        let (word, bit) = (at / 64, 1 << (at % 64));
        if word >= self.at_end.len() {
            self.at_end.resize(word + 1, 0);
        }
        if is_at_end {
            self.at_end[word] |= bit;
        } else {
            self.at_end[word] &= !bit;
        }
    }
}
