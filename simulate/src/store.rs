//! What does a visit ask of the documents of a collection?

use crate::ages::Ages;

/// The documents of one collection, as far as TTL indexes hold them. All instants are those of the
/// script's clock; `upto_ms` is a date.
pub(crate) trait Store {
    /// A visit of an index begins: it looks for dates up to `upto_ms`.
    fn begin(&mut self, index: usize, upto_ms: i64);

    /// Chooses the next documents, in the order of the index, and no more than `most`. How many?
    fn stage(&mut self, most: u64, now_ms: i64) -> u64;

    /// Deletes what was chosen.
    fn commit(&mut self, lifetime_ms: i64, now_ms: i64, ages: &mut Ages);

    /// What was chosen stays.
    fn unstage(&mut self);

    /// Deletes as many full batches as there are and as `pace` gives time for. How many?
    fn stride(&mut self, _lifetime_ms: i64, _now_ms: i64, _pace: Pace, _ages: &mut Ages) -> u64 {
        0
    }

    /// How many documents that an index holds are there, with dates up to `upto_ms`?
    fn there(&mut self, index: usize, upto_ms: i64, now_ms: i64) -> u64;

    /// How many documents are there?
    fn rest(&mut self, now_ms: i64) -> u64;

    /// Deletes what is dated before `date_ms`, at once. How many were there?
    fn drop_before(&mut self, date_ms: i64, keep_ms: i64, now_ms: i64, ages: &mut Ages) -> u64;
}

/// Full batches, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How many documents a batch has.
    pub batch: u64,
    /// How many batches there may be.
    pub batches: u64,
    /// The clock when the first begins: milliseconds, and microseconds beyond.
    pub base_ms: i64,
    pub us: u64,
    /// What a batch takes.
    pub batch_us: u64,
}

impl Pace {
    /// When is the n-th batch deleted, counted from 0?
    pub(crate) fn at_ms(&self, batch: u64) -> i64 {
        self.base_ms + ((self.us + (batch + 1) * self.batch_us) / 1_000) as i64
    }
}
