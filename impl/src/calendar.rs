//! Which documents have a date at or before a given instant?
//!
//! A [`Calendar`] holds *(date, slot)* entries, where a slot is the dense 32-bit number under which
//! the caller's store keeps a document. It is append-only: nothing is looked up and nothing is
//! removed when a document changes. A changed date is inserted again, and the older entry is
//! *stale*: the caller finds that out when the entry is drained, by a look at its store, which it
//! has to touch anyhow to delete the document.
//!
//! ```
//! use ttlspec_impl::calendar::{Calendar, Entry};
//!
//! let expire_after_ms = 10_000;
//! let mut date_ms_of = vec![1_000, 2_000];
//! let mut calendar = Calendar::new();
//! calendar.insert(0, 1_000);
//! calendar.insert(1, 2_000);
//! date_ms_of[0] = 5_000;
//! calendar.insert(0, 5_000);
//! calendar.note_stale(1);
//!
//! let now_ms = 12_000;
//! let mut expired = Vec::new();
//! let is_current = |entry: Entry| date_ms_of[entry.slot as usize] == entry.date_ms;
//! calendar.drain_current(now_ms - expire_after_ms, 100, is_current, &mut expired);
//!
//! assert_eq!(expired, [Entry { date_ms: 2_000, slot: 1 }]);
//! ```
//!
//! **Dates, not deadlines.** Entries hold the date itself and a drain asks for a threshold
//! (`now - expireAfterSeconds`), so a change of `expireAfterSeconds` costs nothing here. Every
//! `i64` is a legal date and a legal threshold. Thresholds may go back: then nothing becomes due
//! early, and what was drained stays drained.
//!
//! **Shape.** Date and slot together are a key of twelve bytes, and the calendar is a tree over
//! these bytes, the highest first. A *node* has 256 children, each a *bucket* or a node. A bucket
//! is a chain of chunks of one KiB from a pool, and its entries keep only the bytes that their
//! place in the tree does not tell: six for a bucket of 65.5 s, four for one of a millisecond. A
//! bucket *bursts* into a node when it has grown to 32,768 entries (16,384 if it is a coarse one),
//! or when thresholds keep falling inside it. So far dates lie in a few coarse buckets, near ones
//! in fine buckets, and each entry is moved once per level at most.
//!
//! **Bounded work.** A drain stops after `limit` candidates and the next one goes on from there.
//! Beyond these it looks at one bucket at most that the threshold cuts in two. Memory grows by
//! slabs of 256 KiB and is never copied to grow. Equal entries may be merged; the order of an
//! unordered drain is a function of the calls made.
//!
//! **Limits.** Slots are 32 bits ([`slot`] checks), and so are chunk numbers (2 TiB). Memory once
//! taken is used again, and given back by [`Calendar::clear`] or drop only.

use std::fmt;

mod bucket;
mod key;
mod pool;
mod tree;

use key::{Key, order};
use pool::Pool;
use tree::{Finger, Last, Node};

/// Bytes of a key: eight of the date, four of the slot.
const KEY_BYTES: usize = 12;
/// Bytes that an entry below the root still has to tell.
const ROOT_LEVEL: usize = KEY_BYTES - 1;
/// The level of buckets of 65,536 ms, under the nodes that fingers point at.
const FINGER_LEVEL: usize = 6;
/// Nodes under fingers span 2^24 ms.
const FINGER_SHIFT: u32 = 24;
const FINGERS: usize = 64;

const CHUNK_BYTES: usize = 1_024;
/// A chunk ends in the number of the next one.
const LINK_AT: usize = CHUNK_BYTES - 4;
/// The last place in a chunk where an entry may start: a whole key is written, whatever counts.
const LAST_AT: usize = LINK_AT - KEY_BYTES;
/// 256 KiB.
const SLAB_CHUNKS: usize = 256;

/// Buckets of one-byte entries have their doubles merged from this length on.
const MERGE_ENTRIES: u32 = 512;
/// A smaller calendar is not worth a compaction.
const COMPACT_ENTRIES: usize = 4_096;

const NONE: u32 = u32::MAX;

/// One date of one document; ordered by date, then slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The date, in milliseconds since the epoch.
    pub date_ms: i64,
    /// The number under which the caller's store keeps the document.
    pub slot: u32,
}

/// A store index that does not fit the 32 bits of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotTooLarge(
    /// The index found.
    pub usize,
);

impl fmt::Display for SlotTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a slot of at most `{}`, found `{}`", u32::MAX, self.0)
    }
}

impl std::error::Error for SlotTooLarge {}

/// The slot for a store index, or an error that names the limit of 32 bits.
pub fn slot(index: usize) -> Result<u32, SlotTooLarge> {
    u32::try_from(index).map_err(|_| SlotTooLarge(index))
}

/// An append-only index from dates to slots, drained in bounded batches.
#[derive(Clone)]
pub struct Calendar {
    nodes: Vec<Box<Node>>,
    free_nodes: Vec<u32>,
    pool: Pool,
    fingers: [Finger; FINGERS],
    last: Last,
    len: usize,
    stale: usize,
    compaction: Option<Compaction>,
    scratch: Vec<u128>,
    sizes: Sizes,
}

/// When buckets burst.
#[derive(Clone, Copy)]
struct Sizes {
    /// A bucket with so many entries bursts when it needs another chunk.
    burst_entries: u32,
    /// The same for buckets coarser than those of fingers, several of which may burst together.
    coarse_burst_entries: u32,
    /// A bucket that thresholds keep falling into is looked through each time, and bursts when it
    /// is about to have had so many entries looked at for nothing.
    scan_entries: u32,
    /// A bucket with no more entries does not burst for that.
    small_entries: u32,
    /// A node with no more entries is folded into a bucket by a compaction.
    fold_entries: u32,
}

impl Sizes {
    const USUAL: Self = Self {
        burst_entries: 32_768,
        coarse_burst_entries: 16_384,
        scan_entries: 1_024,
        small_entries: 64,
        fold_entries: 1_024,
    };

    fn burst_entries(&self, level: usize) -> u32 {
        if level <= FINGER_LEVEL { self.burst_entries } else { self.coarse_burst_entries }
    }
}

/// How far a compaction has come.
#[derive(Clone, Copy)]
struct Compaction {
    from: Key,
    stale_at_start: usize,
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calendar")
            .field("len", &self.len)
            .field("stale", &self.stale)
            .field("allocated_bytes", &self.allocated_bytes())
            .finish_non_exhaustive()
    }
}

impl Calendar {
    /// A calendar without entries.
    pub fn new() -> Self {
        Self::with_sizes(Sizes::USUAL)
    }

    fn with_sizes(sizes: Sizes) -> Self {
        Self {
            nodes: vec![Node::empty()],
            free_nodes: Vec::new(),
            pool: Pool::new(),
            fingers: [Finger::NONE; FINGERS],
            last: Last::NONE,
            len: 0,
            stale: 0,
            compaction: None,
            scratch: Vec::new(),
            sizes,
        }
    }

    /// The number of entries, stale ones included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there no entry, not even a stale one?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of entries that are stale as far as the calendar was told.
    pub fn stale(&self) -> usize {
        self.stale
    }

    /// The bytes of memory that the calendar holds, in use or kept for use.
    pub fn allocated_bytes(&self) -> usize {
        size_of::<Self>()
            + self.nodes.len() * size_of::<Node>()
            + self.nodes.capacity() * size_of::<Box<Node>>()
            + self.free_nodes.capacity() * size_of::<u32>()
            + self.pool.allocated_bytes()
            + self.scratch.capacity() * size_of::<u128>()
    }

    /// The bytes of memory that entries and the tree above them take up now.
    pub fn used_bytes(&self) -> usize {
        self.pool.used_chunks() * CHUNK_BYTES
            + (self.nodes.len() - self.free_nodes.len()) * size_of::<Node>()
    }

    /// Removes all entries and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::with_sizes(self.sizes);
    }

    /// Adds an entry; a date that is due already is drained by the next drain.
    #[inline]
    pub fn insert(&mut self, slot: u32, date_ms: i64) {
        let entry = Entry { date_ms, slot };
        let key = entry.key();
        let raw = key.to_raw();
        let (mut node, mut level) = self.start(key);
        loop {
            let digit = raw.digit(level);
            let child = self.nodes[node as usize].child_mut(digit);
            if child.branch {
                node = child.head;
                level -= 1;
                self.point(key, node, level);
            } else if child.is_full() && self.make_room(node, digit, level) {
                // The bucket has burst, so its place is a node now.
            } else {
                let child = self.nodes[node as usize].child_mut(digit);
                child.write(&mut self.pool, &raw, level);
                child.sorted = false;
                self.len += 1;
                return;
            }
        }
    }

    /// Takes out entries with a date at or before the threshold, at most `limit`, and appends them
    /// to `out`; returns their number. A number below `limit` says that no more are due.
    ///
    /// The entries are candidates: the caller checks each against its store, and tells the stale
    /// ones to [`Self::note_drained_stale`] if it counts them.
    pub fn drain(&mut self, threshold_ms: i64, limit: usize, out: &mut Vec<Entry>) -> usize {
        self.take_due(threshold_ms, limit, false, out)
    }

    /// Like [`Self::drain`], in the order of date, then slot.
    ///
    /// Batches of one threshold continue the order, as long as nothing earlier is inserted.
    pub fn drain_ordered(
        &mut self,
        threshold_ms: i64,
        limit: usize,
        out: &mut Vec<Entry>,
    ) -> usize {
        self.take_due(threshold_ms, limit, true, out)
    }

    /// Like [`Self::drain`], but appends only what `is_current` confirms; returns the number of
    /// candidates looked at, which is what `limit` bounds.
    ///
    /// An entry whose double was drained before is current only if the caller says so: a caller
    /// that deletes after the drain may see a slot twice.
    pub fn drain_current(
        &mut self,
        threshold_ms: i64,
        limit: usize,
        mut is_current: impl FnMut(Entry) -> bool,
        out: &mut Vec<Entry>,
    ) -> usize {
        let before = out.len();
        let candidates = self.drain(threshold_ms, limit, out);
        let mut kept = before;
        for at in before..out.len() {
            let entry = out[at];
            out[kept] = entry;
            kept += usize::from(is_current(entry));
        }
        self.note_drained_stale(out.len() - kept);
        out.truncate(kept);
        candidates
    }

    /// Tells that `count` entries have become stale: their documents were deleted or have moved to
    /// another date.
    #[inline]
    pub fn note_stale(&mut self, count: usize) {
        self.stale = self.stale.saturating_add(count);
    }

    /// Tells that `count` of the candidates drained were stale. To leave it out is safe: too high
    /// a count of stale entries makes compactions more frequent, not wrong.
    #[inline]
    pub fn note_drained_stale(&mut self, count: usize) {
        self.stale = self.stale.saturating_sub(count);
    }

    /// Is [`Self::compact`] due: are there more stale entries than live ones, or has a compaction
    /// begun?
    #[inline]
    pub fn wants_compaction(&self) -> bool {
        let more_stale_than_live = self.stale > self.len.saturating_sub(self.stale);
        self.compaction.is_some() || (self.len >= COMPACT_ENTRIES && more_stale_than_live)
    }

    /// Drops entries that are not current and merges equal ones, bucket after bucket until it has
    /// looked at `budget` entries; returns whether the compaction is complete.
    ///
    /// The next call goes on where this one stopped, whatever was inserted or drained between.
    pub fn compact(&mut self, budget: usize, mut is_current: impl FnMut(Entry) -> bool) -> bool {
        let Compaction { mut from, stale_at_start } = self
            .compaction
            .take()
            .unwrap_or(Compaction { from: Key(0), stale_at_start: self.stale });
        let mut looked_at = 0;
        while let Some(place) = self.seek(from) {
            if looked_at >= budget {
                self.compaction = Some(Compaction { from, stale_at_start });
                return false;
            }
            looked_at += self.compact_bucket(&place, &mut is_current);
            match place.last().next() {
                Some(next) => from = next,
                None => break,
            }
        }
        self.stale = self.stale.saturating_sub(stale_at_start).min(self.len);
        true
    }
}

#[cfg(test)]
mod tests;
