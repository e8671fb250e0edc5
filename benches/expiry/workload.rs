//! What happens to the documents?

use std::hint::black_box;
use ttlspec_impl::calendar::Entry;

/// 24 hours.
pub const DAY_MS: i64 = 86_400_000;
/// The interval of passes, 60 seconds.
pub const PASS_MS: i64 = 60_000;
/// Candidates a batch: between two batches a server would serve others.
pub const BATCH: usize = 4_096;

/// A small generator, so that every run and every structure sees equal documents.
pub struct XorShift(pub u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform from 1 to `bound`.
    fn up_to(&mut self, bound: i64) -> i64 {
        1 + ((u128::from(self.next()) * bound as u128) >> 64) as i64
    }
}

/// The documents' dates at first, the updates, and the instants of the passes.
pub struct Workload {
    /// `A`, `B` or `C`.
    pub name: &'static str,
    /// One sentence for the reader of the table.
    pub about: &'static str,
    /// The dates of each document, `dates_per_doc` in a row; the least decides.
    pub dates_ms: Vec<i64>,
    /// Dates a document.
    pub dates_per_doc: usize,
    /// Documents that change, and their new deciding date.
    pub updates: Vec<Entry>,
    /// The thresholds asked for, one a pass.
    pub passes_ms: Vec<i64>,
}

impl Workload {
    /// A: random dates over 24 h; 10 % of the documents extended by up to 24 h; passes of 60 s.
    pub fn a(docs: usize) -> Self {
        let mut random = XorShift(0x5eed_000a);
        let dates_ms: Vec<i64> = (0..docs).map(|_| random.up_to(DAY_MS)).collect();
        let updates =
            updates(docs, &mut random, |slot, random| dates_ms[slot] + random.up_to(DAY_MS));
        Self {
            name: "A",
            about: "random dates over 24 h, 10 % extended by up to 24 h, passes of 60 s",
            dates_ms,
            dates_per_doc: 1,
            updates,
            passes_ms: (1..=2 * DAY_MS / PASS_MS).map(|pass| pass * PASS_MS).collect(),
        }
    }

    /// B: all documents at one instant.
    pub fn b(docs: usize) -> Self {
        Self {
            name: "B",
            about: "all dates at one instant, one pass",
            dates_ms: vec![DAY_MS / 2; docs],
            dates_per_doc: 1,
            updates: Vec::new(),
            passes_ms: vec![DAY_MS / 2 - 1, DAY_MS / 2],
        }
    }

    /// C: four random dates a document, the least of which decides; 10 % of the documents lose
    /// that one, so that the next decides; passes of 60 s.
    pub fn c(docs: usize) -> Self {
        let mut random = XorShift(0x5eed_000c);
        let dates_ms: Vec<i64> = (0..4 * docs).map(|_| random.up_to(DAY_MS)).collect();
        let updates = updates(docs, &mut random, |slot, _| {
            let mut dates_ms: [i64; 4] = dates_ms[4 * slot..][..4].try_into().unwrap();
            dates_ms.sort_unstable();
            dates_ms[1]
        });
        Self {
            name: "C",
            about: "4 random dates a document over 24 h, the least decides, 10 % lose it, passes of 60 s",
            dates_ms,
            dates_per_doc: 4,
            updates,
            passes_ms: (1..=DAY_MS / PASS_MS).map(|pass| pass * PASS_MS).collect(),
        }
    }

    /// The number of documents.
    pub fn docs(&self) -> usize {
        self.dates_ms.len() / self.dates_per_doc
    }
}

/// A new date for 10 % of the documents, each at most once, in random places.
fn updates(
    docs: usize,
    random: &mut XorShift,
    new_date_ms: impl Fn(usize, &mut XorShift) -> i64,
) -> Vec<Entry> {
    let mut updated = vec![false; docs];
    let mut updates = Vec::with_capacity(docs / 10);
    while updates.len() < docs / 10 {
        let slot = random.up_to(docs as i64) as usize - 1;
        if !std::mem::replace(&mut updated[slot], true) {
            updates.push(Entry { date_ms: new_date_ms(slot, random), slot: slot as u32 });
        }
    }
    updates
}

/// What a server knows of its documents without any index: the deciding date by slot.
pub struct Store {
    date_ms: Vec<i64>,
    deleted: usize,
    pass_sum: u64,
    checksum: u64,
}

impl Store {
    /// No document's date.
    const DELETED: i64 = i64::MIN;

    /// Room for documents.
    pub fn new(docs: usize) -> Self {
        Self { date_ms: vec![Self::DELETED; docs], deleted: 0, pass_sum: 0, checksum: 0 }
    }

    /// Sets a document's date, and returns the one before.
    #[inline]
    pub fn put(&mut self, slot: u32, date_ms: i64) -> i64 {
        std::mem::replace(&mut self.date_ms[slot as usize], date_ms)
    }

    /// Deletes a document that is known to be there with that date.
    #[inline]
    pub fn delete(&mut self, slot: u32, date_ms: i64) {
        self.date_ms[slot as usize] = Self::DELETED;
        self.deleted += 1;
        let mixed = (date_ms as u64 ^ u64::from(slot) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.pass_sum = self.pass_sum.wrapping_add(mixed ^ mixed >> 29);
    }

    /// Deletes the document whose date is not given.
    #[inline]
    pub fn delete_undated(&mut self, slot: u32) {
        self.delete(slot, self.date_ms[slot as usize]);
    }

    /// Deletes a candidate whose date is still its own.
    #[inline]
    pub fn delete_if_current(&mut self, Entry { date_ms, slot }: Entry) {
        if self.date_ms[slot as usize] == date_ms {
            self.delete(slot, date_ms);
        }
    }

    /// Deletes those candidates whose date is still theirs; returns the number of the others.
    #[inline]
    pub fn delete_current(&mut self, candidates: &[Entry]) -> usize {
        // Cache misses overlap where nothing depends on what they bring: a first look without a
        // branch fetches what the second decides on.
        let deleted = self.deleted;
        for candidates in candidates.chunks(256) {
            let look = |entry: &Entry| self.date_ms[entry.slot as usize];
            black_box(candidates.iter().map(look).fold(0, |seen, date_ms| seen ^ date_ms));
            for &candidate in candidates {
                self.delete_if_current(candidate);
            }
        }
        candidates.len() - (self.deleted - deleted)
    }

    /// Ends a pass: within it order is free, among passes it is not.
    pub fn end_pass(&mut self) {
        self.checksum = self.checksum.rotate_left(7).wrapping_mul(0xd6e8_feb8_6659_fd93)
            ^ self.pass_sum.wrapping_add(self.deleted as u64);
        self.pass_sum = 0;
    }

    /// What was deleted, and in which pass.
    pub fn checksum(&self) -> (usize, u64) {
        (self.deleted, self.checksum)
    }
}
