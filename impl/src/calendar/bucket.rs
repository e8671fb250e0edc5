//! How does a bucket keep its entries, and give them back?

use super::key::{Key, Raw, mask};
use super::pool::Pool;
use super::tree::Place;
use super::{CHUNK_BYTES, Entry, KEY_BYTES, LAST_AT, NONE};

/// What turns the entries of a bucket into dates and slots again: the bytes that its place tells,
/// and which those are that its entries tell.
pub(super) struct Reader {
    pub(super) slot: u32,
    pub(super) slot_mask: u32,
    pub(super) date_ms: i64,
    pub(super) date_mask: u64,
}

impl Reader {
    pub(super) fn of(place: &Place) -> Self {
        let Entry { date_ms, slot } = place.base.entry();
        let mask = Key(mask(place.level));
        Self { slot, slot_mask: mask.0 as u32, date_ms, date_mask: mask.date() }
    }

    #[inline]
    pub(super) fn entry(&self, raw: &Raw) -> Entry {
        let [s0, s1, s2, s3, d0, d1, d2, d3, d4, d5, d6, d7] = raw.0;
        let date = u64::from_le_bytes([d0, d1, d2, d3, d4, d5, d6, d7]) & self.date_mask;
        let slot = u32::from_le_bytes([s0, s1, s2, s3]) & self.slot_mask;
        Entry { date_ms: self.date_ms ^ date as i64, slot: self.slot | slot }
    }
}

/// A bucket, which is a queue in a chain of chunks, or the number of a node.
#[derive(Clone, Copy)]
pub(super) struct Child {
    /// The first chunk, or the node.
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) len: u32,
    pub(super) head_at: u16,
    pub(super) tail_at: u16,
    pub(super) branch: bool,
    pub(super) sorted: bool,
    /// How often a threshold has fallen inside.
    pub(super) scans: u8,
}

impl Child {
    /// Full, as it has no chunk.
    pub(super) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
        len: 0,
        head_at: 0,
        tail_at: u16::MAX,
        branch: false,
        sorted: false,
        scans: 0,
    };

    pub(super) fn branch(node: u32) -> Self {
        Self { head: node, branch: true, ..Self::EMPTY }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        usize::from(self.tail_at) > LAST_AT
    }

    pub(super) fn grow(&mut self, pool: &mut Pool) {
        let chunk = pool.allocate();
        if self.tail == NONE {
            (self.head, self.head_at) = (chunk, 0);
        } else {
            pool.set_next(self.tail, chunk);
        }
        (self.tail, self.tail_at) = (chunk, 0);
    }

    #[inline]
    pub(super) fn push(&mut self, pool: &mut Pool, raw: &Raw, level: usize) {
        if self.is_full() {
            self.grow(pool);
        }
        self.write(pool, raw, level);
    }

    #[inline]
    pub(super) fn write(&mut self, pool: &mut Pool, raw: &Raw, level: usize) {
        let at = usize::from(self.tail_at);
        pool.chunk_mut(self.tail)[at..at + KEY_BYTES].copy_from_slice(&raw.0);
        self.tail_at += level as u16;
        self.len += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self, pool: &mut Pool, level: usize) -> Raw {
        let at = usize::from(self.head_at);
        let raw = Raw::read(pool.chunk(self.head), at);
        self.skip(pool, level, 1);
        raw
    }

    /// Removes entries from the first chunk.
    #[inline]
    pub(super) fn skip(&mut self, pool: &mut Pool, level: usize, count: usize) {
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
    pub(super) fn in_first_chunk(&self, level: usize) -> usize {
        let head_at = usize::from(self.head_at);
        if self.head == self.tail {
            (usize::from(self.tail_at) - head_at) / level
        } else {
            (LAST_AT - head_at) / level + 1
        }
    }

    /// Takes the first entries, whatever they are.
    pub(super) fn take(
        &mut self,
        pool: &mut Pool,
        place: &Place,
        room: usize,
        out: &mut Vec<Entry>,
    ) -> usize {
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
    pub(super) fn take_while_due(
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
    pub(super) fn take_if_due(
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
    pub(super) fn turn(
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
    pub(super) fn append(&mut self, pool: &mut Pool, level: usize, mut entries: &[u8]) {
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
    pub(super) fn differing(&self, pool: &Pool, level: usize) -> (u128, u128) {
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
