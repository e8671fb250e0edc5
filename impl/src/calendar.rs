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

    /// The deepest node known to lead to a key, and its level.
    #[inline]
    fn start(&self, key: Key) -> (u32, usize) {
        if key.0 ^ self.last.base < self.last.span {
            return (self.last.node, self.last.level);
        }
        let tag = key.date() >> FINGER_SHIFT;
        let finger = &self.fingers[tag as usize % FINGERS];
        if finger.tag == tag { (finger.node, FINGER_LEVEL) } else { (0, ROOT_LEVEL) }
    }

    /// Remembers a node that leads to a key.
    #[inline]
    fn point(&mut self, key: Key, node: u32, level: usize) {
        if level == FINGER_LEVEL {
            let tag = key.date() >> FINGER_SHIFT;
            self.fingers[tag as usize % FINGERS] = Finger { tag, node };
        } else if level < FINGER_LEVEL {
            let span = 1 << (8 * (level + 1));
            self.last = Last { base: key.0 & !(span - 1), span, node, level };
        }
    }

    /// Gives a bucket another chunk, or bursts it and returns true.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, node: u32, digit: u8, level: usize) -> bool {
        let bucket = self.nodes[node as usize].child_mut(digit);
        if level == 1 && bucket.len >= MERGE_ENTRIES {
            self.rewrite(node, digit, level, |_| true);
        } else if level > 1 && bucket.len >= self.sizes.burst_entries(level) {
            self.burst(node, digit, level);
            return true;
        }
        let parent = &mut self.nodes[node as usize];
        parent.occupy(digit);
        let bucket = parent.child_mut(digit);
        if bucket.is_full() {
            bucket.grow(&mut self.pool);
        }
        false
    }

    fn take_due(
        &mut self,
        threshold_ms: i64,
        limit: usize,
        ordered: bool,
        out: &mut Vec<Entry>,
    ) -> usize {
        let threshold = order(threshold_ms);
        let before = out.len();
        while out.len() - before < limit {
            let Some(place) = self.seek(Key(0)) else { break };
            if threshold < place.base.date() {
                break;
            }
            let room = limit - (out.len() - before);
            if place.last().date() <= threshold {
                self.take_whole(&place, room, ordered, out);
            } else if self.take_part(&place, threshold_ms, room, ordered, out) {
                break;
            }
        }
        out.len() - before
    }

    /// Takes from a bucket in which all is due.
    fn take_whole(&mut self, place: &Place, room: usize, ordered: bool, out: &mut Vec<Entry>) {
        if ordered {
            self.sort(place);
        }
        let bucket = self.nodes[place.node as usize].child_mut(place.digit);
        self.len -= bucket.take(&mut self.pool, place, room, out);
        self.vacate_if_empty(place);
    }

    /// Takes from a bucket that the threshold cuts in two; returns whether it is done with it: if
    /// not, the bucket has burst.
    fn take_part(
        &mut self,
        place: &Place,
        threshold_ms: i64,
        room: usize,
        ordered: bool,
        out: &mut Vec<Entry>,
    ) -> bool {
        let bucket = self.nodes[place.node as usize].child_mut(place.digit);
        let Sizes { scan_entries, small_entries, .. } = self.sizes;
        let scanned = u32::from(bucket.scans).saturating_mul(bucket.len);
        // Passes of a minute cut a bucket once or twice. Finer ones would look at it too often.
        if scanned > scan_entries && bucket.len > small_entries && !bucket.sorted {
            self.burst(place.node, place.digit, place.level);
            return false;
        }
        if ordered {
            self.sort(place);
        }
        let bucket = self.nodes[place.node as usize].child_mut(place.digit);
        let taken = if bucket.sorted {
            bucket.take_while_due(&mut self.pool, place, threshold_ms, room, out)
        } else {
            bucket.take_if_due(&mut self.pool, place, threshold_ms, room, out)
        };
        // A look that the limit stopped goes on with the next batch.
        bucket.scans = bucket.scans.saturating_add(u8::from(taken < room));
        self.len -= taken;
        self.vacate_if_empty(place);
        true
    }

    fn sort(&mut self, place: &Place) {
        if !self.nodes[place.node as usize].child_mut(place.digit).sorted {
            self.rewrite(place.node, place.digit, place.level, |_| true);
        }
    }

    fn compact_bucket(
        &mut self,
        place: &Place,
        is_current: &mut impl FnMut(Entry) -> bool,
    ) -> usize {
        let entries = self.nodes[place.node as usize].child_mut(place.digit).len as usize;
        self.rewrite(place.node, place.digit, place.level, |low| {
            is_current(Key(place.base.0 | low).entry())
        });
        let emptied = self.nodes[place.node as usize].child_mut(place.digit).len == 0;
        let mut depth = ROOT_LEVEL - place.level;
        // Bottom up, each node whose last child this was is folded once.
        while depth > 0 && self.is_last_child(place, depth) && self.fold(place, depth) {
            depth -= 1;
        }
        if emptied && depth == ROOT_LEVEL - place.level {
            self.vacate_if_empty(place);
        }
        entries
    }

    /// Does no sibling follow the place in its node at a depth?
    fn is_last_child(&self, place: &Place, depth: usize) -> bool {
        let digit = place.base.digit(ROOT_LEVEL - depth);
        let after = digit.checked_add(1);
        after.is_none_or(|after| self.nodes[place.path[depth] as usize].first_from(after).is_none())
    }

    /// Makes a bucket of a node of few entries; returns whether it did.
    fn fold(&mut self, place: &Place, depth: usize) -> bool {
        let level = ROOT_LEVEL - depth;
        let (node, parent) = (place.path[depth], place.path[depth - 1]);
        let Some(entries) = self.nodes[node as usize].entries_in_buckets() else { return false };
        if entries == 0 || entries > self.sizes.fold_entries {
            return false;
        }
        let mut bucket = Child::EMPTY;
        let mut from = Some(0);
        while let Some(digit) = from.and_then(|from| self.nodes[node as usize].first_from(from)) {
            let child = self.nodes[node as usize].child_mut(digit);
            while child.len > 0 {
                let mut raw = child.pop(&mut self.pool, level);
                raw.0[level] = digit;
                bucket.push(&mut self.pool, &raw, level + 1);
            }
            from = digit.checked_add(1);
        }
        bucket.sorted = false;
        self.free_node(node);
        let digit = place.base.digit(level + 1);
        *self.nodes[parent as usize].child_mut(digit) = bucket;
        true
    }

    /// Writes a bucket anew: sorted, without doubles, and with those entries only whose low bytes
    /// `keep` confirms. The place of an emptied bucket stays occupied.
    fn rewrite(&mut self, node: u32, digit: u8, level: usize, mut keep: impl FnMut(u128) -> bool) {
        let bucket = self.nodes[node as usize].child_mut(digit);
        let entries = bucket.len;
        self.scratch.clear();
        while bucket.len > 0 {
            let low = bucket.pop(&mut self.pool, level).low(level);
            if keep(low) {
                self.scratch.push(low);
            }
        }
        self.scratch.sort_unstable();
        self.scratch.dedup();
        for &low in &self.scratch {
            bucket.push(&mut self.pool, &Key(low).to_raw(), level);
        }
        bucket.sorted = true;
        self.len -= (entries - bucket.len) as usize;
    }

    /// Replaces a bucket by nodes down to the first byte in which its entries differ, and spreads
    /// them over the children of the last one.
    fn burst(&mut self, node: u32, digit: u8, level: usize) {
        let bucket = *self.nodes[node as usize].child(digit);
        let (first, differing) = bucket.differing(&self.pool, level);
        // Children of no bytes would be of no use; doubles are merged one level above.
        let spread = (differing.checked_ilog2().unwrap_or(0) as usize / 8).max(1);
        assert!(spread < level, "buckets of one-byte entries never burst");
        let (mut parent, mut parent_digit) = (node, digit);
        for digit_level in (spread..level).rev() {
            let branch = self.new_node();
            let parent_node = &mut self.nodes[parent as usize];
            *parent_node.child_mut(parent_digit) = Child::branch(branch);
            parent_node.occupy(parent_digit);
            (parent, parent_digit) = (branch, Key(first).digit(digit_level));
        }
        self.spread(bucket, level, parent, spread);
    }

    /// Moves the entries of a bucket to the children of a node.
    fn spread(&mut self, mut bucket: Child, level: usize, node: u32, child_level: usize) {
        let node = &mut self.nodes[node as usize];
        while bucket.len > 0 {
            let raw = bucket.pop(&mut self.pool, level);
            let digit = raw.digit(child_level);
            let child = node.child_mut(digit);
            if child.is_full() {
                child.grow(&mut self.pool);
                node.occupy(digit);
            }
            node.child_mut(digit).write(&mut self.pool, &raw, child_level);
        }
    }

    /// The first bucket that may hold a key at or after `from`.
    fn seek(&self, from: Key) -> Option<Place> {
        let mut place =
            Place { node: 0, digit: 0, level: ROOT_LEVEL, base: Key(0), path: [0; KEY_BYTES] };
        let mut from = from;
        loop {
            let least = from.digit(place.level);
            match self.nodes[place.node as usize].first_from(least) {
                Some(digit) => {
                    if least < digit {
                        from = Key(0);
                    }
                    place.digit = digit;
                    place.base.0 |= u128::from(digit) << (8 * place.level);
                    place.path[ROOT_LEVEL - place.level] = place.node;
                    let child = self.nodes[place.node as usize].child(digit);
                    if !child.branch {
                        return Some(place);
                    }
                    place.node = child.head;
                    place.level -= 1;
                }
                None => from = self.climb(&mut place)?,
            }
        }
    }

    /// Goes up to the first node that has digits left; returns the key from which on to look.
    fn climb(&self, place: &mut Place) -> Option<Key> {
        while place.level < ROOT_LEVEL {
            place.level += 1;
            place.node = place.path[ROOT_LEVEL - place.level];
            let digit = place.base.digit(place.level);
            place.base.0 &= !mask(place.level + 1);
            if let Some(next) = digit.checked_add(1) {
                return Some(Key(u128::from(next) << (8 * place.level)));
            }
        }
        None
    }

    /// Gives up an empty bucket's place, and the nodes above that are empty by that.
    fn vacate_if_empty(&mut self, place: &Place) {
        if self.nodes[place.node as usize].child_mut(place.digit).len > 0 {
            return;
        }
        for depth in (0..=ROOT_LEVEL - place.level).rev() {
            let node = place.path[depth];
            self.nodes[node as usize].vacate(place.base.digit(ROOT_LEVEL - depth));
            if depth == 0 || !self.nodes[node as usize].is_empty() {
                return;
            }
            self.free_node(node);
        }
    }

    fn new_node(&mut self) -> u32 {
        self.free_nodes.pop().unwrap_or_else(|| {
            let node = u32::try_from(self.nodes.len()).expect("node numbers are 32 bits");
            self.nodes.push(Node::empty());
            node
        })
    }

    fn free_node(&mut self, node: u32) {
        *self.nodes[node as usize] = Node::EMPTY;
        self.free_nodes.push(node);
        self.last = Last::NONE;
        for finger in self.fingers.iter_mut().filter(|finger| finger.node == node) {
            *finger = Finger::NONE;
        }
    }
}

/// Dates as unsigned numbers in the same order.
#[inline]
fn order(date_ms: i64) -> u64 {
    (date_ms as u64) ^ (1 << 63)
}

/// The low `level` bytes.
#[inline]
fn mask(level: usize) -> u128 {
    (1 << (8 * level)) - 1
}

/// Date and slot as one number of [`KEY_BYTES`] bytes.
#[derive(Clone, Copy)]
struct Key(u128);

impl Entry {
    #[inline]
    fn key(self) -> Key {
        Key(u128::from(order(self.date_ms)) << 32 | u128::from(self.slot))
    }
}

impl Key {
    #[inline]
    fn entry(self) -> Entry {
        Entry { date_ms: (self.date() ^ (1 << 63)) as i64, slot: self.0 as u32 }
    }

    /// The date, as [`order`] has it.
    #[inline]
    fn date(self) -> u64 {
        (self.0 >> 32) as u64
    }

    #[inline]
    fn digit(self, level: usize) -> u8 {
        (self.0 >> (8 * level)) as u8
    }

    fn next(self) -> Option<Key> {
        (self.0 < mask(KEY_BYTES)).then(|| Key(self.0 + 1))
    }

    #[inline]
    fn to_raw(self) -> Raw {
        let mut raw = Raw([0; KEY_BYTES]);
        raw.0.copy_from_slice(&self.0.to_le_bytes()[..KEY_BYTES]);
        raw
    }
}

/// A key as it lies in a chunk, lowest byte first; the bytes above the level of its bucket are
/// whatever the next entry has put there.
struct Raw([u8; KEY_BYTES]);

impl Raw {
    #[inline]
    fn read(bytes: &[u8], at: usize) -> Self {
        let mut raw = Self([0; KEY_BYTES]);
        raw.0.copy_from_slice(&bytes[at..at + KEY_BYTES]);
        raw
    }

    #[inline]
    fn digit(&self, level: usize) -> u8 {
        self.0[level]
    }

    #[inline]
    fn low(&self, level: usize) -> u128 {
        let mut bytes = [0; 16];
        bytes[..KEY_BYTES].copy_from_slice(&self.0);
        u128::from_le_bytes(bytes) & mask(level)
    }
}

/// A node that insertions have passed before.
#[derive(Clone, Copy)]
struct Finger {
    tag: u64,
    node: u32,
}

impl Finger {
    const NONE: Self = Self { tag: u64::MAX, node: NONE };
}

/// The node below those of the fingers that the last insertion has passed, if any.
#[derive(Clone, Copy)]
struct Last {
    base: u128,
    span: u128,
    node: u32,
    level: usize,
}

impl Last {
    const NONE: Self = Self { base: 0, span: 0, node: NONE, level: 0 };
}

/// A bucket, and how to get there.
struct Place {
    node: u32,
    digit: u8,
    level: usize,
    base: Key,
    path: [u32; KEY_BYTES],
}

impl Place {
    /// The last key that the bucket may hold.
    fn last(&self) -> Key {
        Key(self.base.0 | mask(self.level))
    }
}

/// What turns the entries of a bucket into dates and slots again: the bytes that its place tells,
/// and which those are that its entries tell.
struct Reader {
    slot: u32,
    slot_mask: u32,
    date_ms: i64,
    date_mask: u64,
}

impl Reader {
    fn of(place: &Place) -> Self {
        let Entry { date_ms, slot } = place.base.entry();
        let mask = Key(mask(place.level));
        Self { slot, slot_mask: mask.0 as u32, date_ms, date_mask: mask.date() }
    }

    #[inline]
    fn entry(&self, raw: &Raw) -> Entry {
        let [s0, s1, s2, s3, d0, d1, d2, d3, d4, d5, d6, d7] = raw.0;
        let date = u64::from_le_bytes([d0, d1, d2, d3, d4, d5, d6, d7]) & self.date_mask;
        let slot = u32::from_le_bytes([s0, s1, s2, s3]) & self.slot_mask;
        Entry { date_ms: self.date_ms ^ date as i64, slot: self.slot | slot }
    }
}

/// A choice of 256 by one byte of the key.
#[derive(Clone)]
struct Node {
    occupied: [u64; 4],
    children: [Child; 256],
}

impl Node {
    const EMPTY: Self = Self { occupied: [0; 4], children: [Child::EMPTY; 256] };

    fn empty() -> Box<Self> {
        Box::new(Self::EMPTY)
    }

    #[inline]
    fn child(&self, digit: u8) -> &Child {
        &self.children[usize::from(digit)]
    }

    #[inline]
    fn child_mut(&mut self, digit: u8) -> &mut Child {
        &mut self.children[usize::from(digit)]
    }

    fn is_empty(&self) -> bool {
        self.occupied == [0; 4]
    }

    #[inline]
    fn occupy(&mut self, digit: u8) {
        self.occupied[usize::from(digit / 64)] |= 1 << (digit % 64);
    }

    fn vacate(&mut self, digit: u8) {
        self.occupied[usize::from(digit / 64)] &= !(1 << (digit % 64));
        *self.child_mut(digit) = Child::EMPTY;
    }

    /// The first occupied digit at or after `least`.
    fn first_from(&self, least: u8) -> Option<u8> {
        let mut word = usize::from(least / 64);
        let mut bits = self.occupied[word] & (u64::MAX << (least % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some((word * 64) as u8 + bits.trailing_zeros() as u8)
    }

    /// The number of entries, if all children are buckets.
    fn entries_in_buckets(&self) -> Option<u32> {
        let any_branch = self.children.iter().any(|child| child.branch);
        (!any_branch)
            .then(|| self.children.iter().map(|child| child.len).fold(0, u32::saturating_add))
    }
}

/// A bucket, which is a queue in a chain of chunks, or the number of a node.
#[derive(Clone, Copy)]
struct Child {
    /// The first chunk, or the node.
    head: u32,
    tail: u32,
    len: u32,
    head_at: u16,
    tail_at: u16,
    branch: bool,
    sorted: bool,
    /// How often a threshold has fallen inside.
    scans: u8,
}

impl Child {
    /// Full, as it has no chunk.
    const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
        len: 0,
        head_at: 0,
        tail_at: u16::MAX,
        branch: false,
        sorted: false,
        scans: 0,
    };

    fn branch(node: u32) -> Self {
        Self { head: node, branch: true, ..Self::EMPTY }
    }

    #[inline]
    fn is_full(&self) -> bool {
        usize::from(self.tail_at) > LAST_AT
    }

    fn grow(&mut self, pool: &mut Pool) {
        let chunk = pool.allocate();
        if self.tail == NONE {
            (self.head, self.head_at) = (chunk, 0);
        } else {
            pool.set_next(self.tail, chunk);
        }
        (self.tail, self.tail_at) = (chunk, 0);
    }

    #[inline]
    fn push(&mut self, pool: &mut Pool, raw: &Raw, level: usize) {
        if self.is_full() {
            self.grow(pool);
        }
        self.write(pool, raw, level);
    }

    #[inline]
    fn write(&mut self, pool: &mut Pool, raw: &Raw, level: usize) {
        let at = usize::from(self.tail_at);
        pool.chunk_mut(self.tail)[at..at + KEY_BYTES].copy_from_slice(&raw.0);
        self.tail_at += level as u16;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool, level: usize) -> Raw {
        let at = usize::from(self.head_at);
        let raw = Raw::read(pool.chunk(self.head), at);
        self.skip(pool, level, 1);
        raw
    }

    /// Removes entries from the first chunk.
    #[inline]
    fn skip(&mut self, pool: &mut Pool, level: usize, count: usize) {
        self.head_at += (count * level) as u16;
        self.len -= count as u32;
        if self.len == 0 {
            pool.free(self.head);
            *self = Self { scans: self.scans, sorted: self.sorted, ..Self::EMPTY };
        } else if usize::from(self.head_at) > LAST_AT {
            let next = pool.next(self.head);
            pool.free(self.head);
            (self.head, self.head_at) = (next, 0);
        }
    }

    /// The number of entries in the first chunk.
    fn in_first_chunk(&self, level: usize) -> usize {
        let head_at = usize::from(self.head_at);
        if self.head == self.tail {
            (usize::from(self.tail_at) - head_at) / level
        } else {
            (LAST_AT - head_at) / level + 1
        }
    }

    /// Takes the first entries, whatever they are.
    fn take(&mut self, pool: &mut Pool, place: &Place, room: usize, out: &mut Vec<Entry>) -> usize {
        let reader = Reader::of(place);
        let mut taken = 0;
        while self.len > 0 && taken < room {
            let count = self.in_first_chunk(place.level).min(room - taken);
            let head_at = usize::from(self.head_at);
            let bytes = &pool.chunk(self.head)[head_at..];
            let entry = |index| reader.entry(&Raw::read(bytes, index * place.level));
            out.extend((0..count).map(entry));
            self.skip(pool, place.level, count);
            taken += count;
        }
        taken
    }

    /// Takes from a sorted bucket what is due.
    fn take_while_due(
        &mut self,
        pool: &mut Pool,
        place: &Place,
        threshold_ms: i64,
        room: usize,
        out: &mut Vec<Entry>,
    ) -> usize {
        let reader = Reader::of(place);
        let mut taken = 0;
        while self.len > 0 && taken < room {
            let at = usize::from(self.head_at);
            let entry = reader.entry(&Raw::read(pool.chunk(self.head), at));
            if threshold_ms < entry.date_ms {
                break;
            }
            out.push(entry);
            self.skip(pool, place.level, 1);
            taken += 1;
        }
        taken
    }

    /// Takes from an unsorted bucket what is due. What is not goes round to the end, so that a
    /// look that stops at the limit goes on with what it has not seen.
    fn take_if_due(
        &mut self,
        pool: &mut Pool,
        place: &Place,
        threshold_ms: i64,
        room: usize,
        out: &mut Vec<Entry>,
    ) -> usize {
        let reader = Reader::of(place);
        let mut taken = 0;
        let mut unseen = self.len as usize;
        while unseen > 0 && taken < room {
            let count = self.in_first_chunk(place.level).min(unseen);
            if count <= room - taken {
                taken += self.turn(pool, place.level, &reader, threshold_ms, count, out);
                unseen -= count;
                continue;
            }
            let raw = self.pop(pool, place.level);
            let entry = reader.entry(&raw);
            unseen -= 1;
            if threshold_ms < entry.date_ms {
                self.push(pool, &raw, place.level);
            } else {
                out.push(entry);
                taken += 1;
            }
        }
        taken
    }

    /// Takes what is due of the first entries, all in the first chunk, and puts the others last.
    fn turn(
        &mut self,
        pool: &mut Pool,
        level: usize,
        reader: &Reader,
        threshold_ms: i64,
        count: usize,
        out: &mut Vec<Entry>,
    ) -> usize {
        let chunk = *pool.chunk(self.head);
        let bytes = &chunk[usize::from(self.head_at)..];
        self.skip(pool, level, count);
        let mut others = [0; CHUNK_BYTES];
        let mut others_end = 0;
        let before = out.len();
        out.resize(before + count, Entry { date_ms: 0, slot: 0 });
        let due = &mut out[before..];
        let mut due_end = 0;
        // No branch on what is due: it would be mispredicted half of the time.
        for index in 0..count {
            let raw = Raw::read(bytes, index * level);
            let entry = reader.entry(&raw);
            let is_due = entry.date_ms <= threshold_ms;
            due[due_end] = entry;
            due_end += usize::from(is_due);
            others[others_end..others_end + KEY_BYTES].copy_from_slice(&raw.0);
            others_end += level * usize::from(!is_due);
        }
        out.truncate(before + due_end);
        self.append(pool, level, &others[..others_end]);
        due_end
    }

    /// Puts entries last.
    fn append(&mut self, pool: &mut Pool, level: usize, mut entries: &[u8]) {
        while !entries.is_empty() {
            if self.is_full() {
                self.grow(pool);
            }
            let at = usize::from(self.tail_at);
            let bytes = (((LAST_AT - at) / level + 1) * level).min(entries.len());
            let (now, later) = entries.split_at(bytes);
            pool.chunk_mut(self.tail)[at..at + bytes].copy_from_slice(now);
            self.tail_at += bytes as u16;
            self.len += (bytes / level) as u32;
            entries = later;
        }
    }

    /// The first entry's low bytes, and the bits in which others differ from it.
    fn differing(&self, pool: &Pool, level: usize) -> (u128, u128) {
        let mut rest = *self;
        let mut first = None;
        let mut differing = 0;
        while rest.len > 0 {
            let count = rest.in_first_chunk(level);
            let bytes = &pool.chunk(rest.head)[usize::from(rest.head_at)..];
            for index in 0..count {
                let at = index * level;
                let raw = Raw::read(bytes, at);
                let low = raw.low(level);
                differing |= low ^ *first.get_or_insert(low);
            }
            rest.len -= count as u32;
            (rest.head, rest.head_at) = (pool.next(rest.head), 0);
        }
        (first.unwrap_or(0), differing)
    }
}

type Chunk = [u8; CHUNK_BYTES];
type Slab = [u8; CHUNK_BYTES * SLAB_CHUNKS];

/// Chunks by number, in slabs that never move.
#[derive(Clone)]
struct Pool {
    slabs: Vec<Box<Slab>>,
    /// The first of the chunks given back, each of which names the next.
    free: u32,
    free_chunks: u32,
    /// The first chunk never used.
    fresh: u32,
}

impl Pool {
    fn new() -> Self {
        Self { slabs: Vec::new(), free: NONE, free_chunks: 0, fresh: 0 }
    }

    fn allocated_bytes(&self) -> usize {
        self.slabs.len() * size_of::<Slab>() + self.slabs.capacity() * size_of::<Box<Slab>>()
    }

    fn used_chunks(&self) -> usize {
        (self.fresh - self.free_chunks) as usize
    }

    #[inline]
    fn chunk(&self, chunk: u32) -> &Chunk {
        let slab = &self.slabs[chunk as usize / SLAB_CHUNKS];
        &slab.as_chunks().0[chunk as usize % SLAB_CHUNKS]
    }

    #[inline]
    fn chunk_mut(&mut self, chunk: u32) -> &mut Chunk {
        let slab = &mut self.slabs[chunk as usize / SLAB_CHUNKS];
        &mut slab.as_chunks_mut().0[chunk as usize % SLAB_CHUNKS]
    }

    fn allocate(&mut self) -> u32 {
        if self.free != NONE {
            let chunk = self.free;
            self.free = self.next(chunk);
            self.free_chunks -= 1;
            return chunk;
        }
        if self.fresh as usize == self.slabs.len() * SLAB_CHUNKS {
            // Bytes of zero come untouched from the system; arrays of them would be copied in.
            let slab = vec![0; size_of::<Slab>()].into_boxed_slice();
            self.slabs.push(slab.try_into().expect("a slab has the size of a slab"));
        }
        let chunk = self.fresh;
        assert!(chunk < NONE, "chunk numbers are 32 bits");
        self.fresh += 1;
        chunk
    }

    fn free(&mut self, chunk: u32) {
        self.set_next(chunk, self.free);
        self.free = chunk;
        self.free_chunks += 1;
    }

    #[inline]
    fn next(&self, chunk: u32) -> u32 {
        let link = &self.chunk(chunk)[LINK_AT..];
        u32::from_le_bytes([link[0], link[1], link[2], link[3]])
    }

    fn set_next(&mut self, chunk: u32, next: u32) {
        self.chunk_mut(chunk)[LINK_AT..].copy_from_slice(&next.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const HOUR_MS: i64 = 3_600_000;

    struct XorShift(u64);

    impl XorShift {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn below(&mut self, bound: u64) -> u64 {
            ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
        }
    }

    fn entry(date_ms: i64, slot: u32) -> Entry {
        Entry { date_ms, slot }
    }

    fn drained(calendar: &mut Calendar, threshold_ms: i64) -> Vec<Entry> {
        let mut out = Vec::new();
        calendar.drain_ordered(threshold_ms, usize::MAX, &mut out);
        out
    }

    #[test]
    fn a_date_is_due_at_its_instant_and_not_before() {
        for date_ms in [i64::MIN + 1, -1, 0, 65_535, 65_536, 1 << 40, i64::MAX] {
            let mut calendar = Calendar::new();
            calendar.insert(7, date_ms);

            let before = drained(&mut calendar, date_ms - 1);
            let at = drained(&mut calendar, date_ms);

            assert_eq!(before, []);
            assert_eq!(at, [entry(date_ms, 7)]);
            assert!(calendar.is_empty());
        }
    }

    #[test]
    fn the_least_date_is_due_at_the_least_threshold() {
        let mut calendar = Calendar::new();
        calendar.insert(u32::MAX, i64::MIN);

        assert_eq!(drained(&mut calendar, i64::MIN), [entry(i64::MIN, u32::MAX)]);
    }

    #[test]
    fn dates_need_not_come_after_what_was_drained() {
        let mut calendar = Calendar::new();
        calendar.insert(1, 100);
        assert_eq!(drained(&mut calendar, 1_000), [entry(100, 1)]);

        calendar.insert(2, 200);
        calendar.insert(3, 300);

        assert_eq!(drained(&mut calendar, 250), [entry(200, 2)]);
        assert_eq!(drained(&mut calendar, 100), []);
        assert_eq!(drained(&mut calendar, 300), [entry(300, 3)]);
    }

    #[test]
    fn a_batch_goes_on_where_the_last_one_stopped() {
        let mut calendar = Calendar::new();
        (0..1_000).for_each(|slot| calendar.insert(slot, i64::from(slot % 10)));
        let mut out = Vec::new();

        while calendar.drain_ordered(8, 7, &mut out) == 7 {}

        assert_eq!(out.len(), 900);
        assert!(out.is_sorted());
        assert_eq!(calendar.len(), 100);
    }

    #[test]
    fn stale_entries_are_counted_out_as_they_are_drained() {
        let mut calendar = Calendar::new();
        calendar.insert(1, 10);
        calendar.insert(1, 20);
        calendar.note_stale(1);
        let mut expired = Vec::new();

        let seen = calendar.drain_current(30, 10, |entry| entry.date_ms == 20, &mut expired);

        assert_eq!((seen, calendar.stale()), (2, 0));
        assert_eq!(expired, [entry(20, 1)]);
    }

    #[test]
    fn a_slot_beyond_32_bits_is_refused_by_name() {
        assert_eq!(slot(4_294_967_295), Ok(u32::MAX));
        assert_eq!(
            slot(4_294_967_296).unwrap_err().to_string(),
            "expected a slot of at most `4294967295`, found `4294967296`"
        );
    }

    /// Dates of one flavour: ties, a day, years, or anything.
    fn date_ms(random: &mut XorShift, flavour: u64) -> i64 {
        match flavour {
            0 => random.below(50) as i64 - 25,
            1 => 1_700_000_000_000 + random.below(24 * 3_600_000) as i64,
            2 => random.below(1 << 42) as i64 - (1 << 41),
            3 => (1 << random.below(63)) - random.below(3) as i64,
            4 => [i64::MIN, -1, 0, 1, i64::MAX][random.below(5) as usize],
            _ => random.next() as i64,
        }
    }

    /// A store, and the index that it would keep in an ordered map.
    struct Store {
        date_ms: Vec<Option<i64>>,
        index: BTreeMap<(i64, u32), ()>,
    }

    impl Store {
        fn put(&mut self, slot: u32, date_ms: i64) -> Option<i64> {
            let old = self.date_ms[slot as usize].replace(date_ms);
            old.map(|old| self.index.remove(&(old, slot)));
            self.index.insert((date_ms, slot), ());
            old
        }

        fn is_current(&self, entry: Entry) -> bool {
            self.date_ms[entry.slot as usize] == Some(entry.date_ms)
        }

        fn delete(&mut self, entry: Entry) -> bool {
            let current = self.is_current(entry);
            if current {
                self.date_ms[entry.slot as usize] = None;
                self.index.remove(&(entry.date_ms, entry.slot));
            }
            current
        }

        fn first(&self) -> Option<Entry> {
            self.index.first_key_value().map(|(&(date_ms, slot), ())| entry(date_ms, slot))
        }
    }

    fn compare(seed: u64, sizes: Sizes, slots: u64, steps: u64) {
        let mut random = XorShift(seed);
        let mut calendar = Calendar::with_sizes(sizes);
        let mut store = Store { date_ms: vec![None; slots as usize], index: BTreeMap::new() };
        let flavours = 1 + random.below(6);
        let first_flavour = random.below(6);
        for _ in 0..steps {
            let flavour = (first_flavour + random.below(flavours)) % 6;
            match random.below(100) {
                0..=1 => {
                    let threshold_ms = date_ms(&mut random, flavour);
                    let limit = [1, 10, 1_000, usize::MAX][random.below(4) as usize];
                    for _ in 0..=random.below(3) {
                        drain_and_compare(
                            &mut calendar,
                            &mut store,
                            threshold_ms,
                            limit,
                            &mut random,
                        );
                    }
                }
                2 => {
                    if calendar.wants_compaction() || random.below(20) == 0 {
                        let budget = 1 + random.below(500) as usize;
                        calendar.compact(budget, |entry| store.is_current(entry));
                    }
                }
                _ => {
                    let slot = random.below(slots) as u32;
                    let date_ms = date_ms(&mut random, flavour);
                    calendar.note_stale(usize::from(store.put(slot, date_ms).is_some()));
                    calendar.insert(slot, date_ms);
                }
            }
            assert!(store.index.len() <= calendar.len());
        }
        drain_and_compare(&mut calendar, &mut store, i64::MAX, usize::MAX, &mut random);
        assert!(calendar.is_empty() && store.index.is_empty());
        assert_eq!(calendar.nodes.len() - calendar.free_nodes.len(), 1);
    }

    fn drain_and_compare(
        calendar: &mut Calendar,
        store: &mut Store,
        threshold_ms: i64,
        limit: usize,
        random: &mut XorShift,
    ) {
        let ordered = random.below(2) == 0;
        let len = calendar.len();
        let mut out = Vec::new();

        let drained = calendar.take_due(threshold_ms, limit, ordered, &mut out);

        assert!(drained <= limit && drained == out.len());
        assert!(!ordered || out.is_sorted());
        // Merged doubles are gone as well.
        assert!(calendar.len() + drained <= len);
        for entry in out {
            assert!(entry.date_ms <= threshold_ms, "drained early");
            let first = store.first();
            if store.delete(entry) {
                assert!(!ordered || first == Some(entry), "drained out of order");
            } else {
                calendar.note_drained_stale(1);
            }
        }
        let left = store.first().is_some_and(|first| first.date_ms <= threshold_ms);
        assert!(drained == limit || !left, "drained late");
    }

    #[test]
    fn a_calendar_agrees_with_an_ordered_map() {
        for seed in 1..=120 {
            let sizes = Sizes {
                burst_entries: 60 * (1 + seed as u32 % 5),
                coarse_burst_entries: 50,
                scan_entries: 20,
                small_entries: 5,
                fold_entries: 30,
            };
            let slots = [3, 100, 5_000, 100_000][seed as usize % 4];
            compare(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), sizes, slots, 20_000);
        }
    }

    #[test]
    fn a_calendar_of_the_usual_sizes_agrees_with_an_ordered_map() {
        for seed in 1..=4 {
            compare(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), Sizes::USUAL, 300_000, 400_000);
        }
    }

    #[test]
    fn a_search_finds_the_first_bucket_from_a_key_on() {
        let mut random = XorShift(5);
        let sizes = Sizes { burst_entries: 60, coarse_burst_entries: 60, ..Sizes::USUAL };
        let mut calendar = Calendar::with_sizes(sizes);
        let mut keys = std::collections::BTreeSet::new();
        for slot in 0..5_000 {
            let date_ms = date_ms(&mut random, u64::from(slot % 6));
            calendar.insert(slot, date_ms);
            keys.insert(entry(date_ms, slot).key().0);
        }

        for _ in 0..5_000 {
            let flavour = random.below(6);
            let from = entry(date_ms(&mut random, flavour), random.next() as u32).key();
            let first = keys.range(from.0..).next();
            match calendar.seek(from) {
                Some(place) => {
                    assert!(from.0 <= place.last().0, "a bucket before the key");
                    assert!(first.is_none_or(|&first| place.base.0 <= first), "a bucket too far");
                }
                None => assert_eq!(first, None),
            }
        }
    }

    #[test]
    fn a_bucket_that_thresholds_keep_falling_into_bursts() {
        let mut random = XorShift(3);
        let mut calendar = Calendar::new();
        (0..30_000).for_each(|slot| calendar.insert(slot, random.below(65_536) as i64));
        let mut out = Vec::new();

        for threshold_ms in 0..100 {
            calendar.drain(threshold_ms, usize::MAX, &mut out);
        }

        let place = calendar.seek(Key(0)).expect("most dates are later");
        let bucket = calendar.nodes[place.node as usize].child(place.digit);
        assert!(bucket.len <= Sizes::USUAL.scan_entries, "found {} entries", bucket.len);
    }

    #[test]
    fn equal_calls_give_equal_output() {
        let run = || {
            let mut random = XorShift(42);
            let mut calendar = Calendar::new();
            let mut out = Vec::new();
            for slot in 0..200_000 {
                calendar.insert(slot, random.below(HOUR_MS as u64) as i64);
            }
            for threshold_ms in (0..HOUR_MS).step_by(10_007) {
                calendar.drain(threshold_ms, 1_000, &mut out);
            }
            out
        };

        assert_eq!(run(), run());
    }

    #[test]
    fn a_million_random_dates_of_a_day_take_at_most_eight_bytes_each() {
        let mut random = XorShift(7);
        let mut calendar = Calendar::new();
        let entries = 1_000_000;

        for slot in 0..entries {
            calendar.insert(slot, random.below(24 * HOUR_MS as u64) as i64);
        }

        let bytes = calendar.allocated_bytes() as f64 / f64::from(entries);
        assert!(bytes <= 8.0, "expected at most 8 bytes an entry, found {bytes:.2}");
    }

    #[test]
    fn memory_is_bounded_under_endless_updates() {
        let mut random = XorShift(9);
        let mut calendar = Calendar::new();
        let mut date_ms = vec![0; 10_000];
        let mut most_entries = 0;
        for now_ms in 0..2_000_000 {
            let slot = random.below(10_000) as usize;
            date_ms[slot] = now_ms + 365 * 24 * HOUR_MS;
            calendar.insert(slot as u32, date_ms[slot]);
            calendar.note_stale(1);
            if calendar.wants_compaction() {
                calendar.compact(64, |entry| date_ms[entry.slot as usize] == entry.date_ms);
            }
            most_entries = most_entries.max(calendar.len());
        }

        assert!(most_entries <= 40_000, "found {most_entries} entries");
        assert!(calendar.allocated_bytes() < 4 << 20, "found {calendar:?}");
    }

    #[test]
    fn memory_is_bounded_when_dates_swing_to_and_fro() {
        let mut calendar = Calendar::new();
        for step in 0..3_000_000_u32 {
            calendar.insert(step % 7, i64::from(step % 2));
        }

        assert!(calendar.len() <= 70_000, "found {calendar:?}");
        assert_eq!(drained(&mut calendar, 1).iter().filter(|entry| entry.slot > 6).count(), 0);
    }

    #[test]
    fn a_compaction_folds_what_it_has_thinned_out() {
        let mut random = XorShift(11);
        let mut calendar = Calendar::new();
        for slot in 0..2_000_000 {
            calendar.insert(slot, random.below(24 * HOUR_MS as u64) as i64);
        }

        while !calendar.compact(10_000, |entry| entry.slot < 500) {}

        assert_eq!(calendar.len(), 500);
        assert!(calendar.nodes.len() - calendar.free_nodes.len() <= 8);
        assert_eq!(drained(&mut calendar, i64::MAX).len(), 500);
    }

    #[test]
    fn no_call_looks_at_more_than_a_bucket_beyond_its_limit() {
        let mut calendar = Calendar::new();
        (0..400_000).for_each(|slot| calendar.insert(slot, 1_000 + i64::from(slot % 3)));
        let mut out = Vec::new();

        let largest = calendar.nodes.iter().flat_map(|node| &node.children).map(|child| child.len);
        assert!(largest.max() <= Some(2 * Sizes::USUAL.burst_entries));
        assert_eq!(calendar.drain(1_001, 100, &mut out), 100);
        assert_eq!(calendar.len(), 399_900);
    }
}
