//! Where do documents lie? In one arena of raw bytes, each found by its slot.
//!
//! Slots and regions of the arena are used again, so a store that does not grow does not allocate.

use std::fmt;

/// The number by which a document is found while it is there.
pub type Slot = u32;

/// All documents of a collection.
#[derive(Clone, Debug, Default)]
pub struct Store {
    arena: Vec<u8>,
    /// The first free region of each class, as a unit; 0 is none, and each free region begins with
    /// the next one.
    free_regions: Vec<u32>,
    entries: Vec<Entry>,
    free_slot: Option<Slot>,
    live: usize,
    /// One more than the largest record there is, unless the document that had it is gone.
    next_record: u64,
    is_last_gone: bool,
    /// The documents that came last, oldest first: at most [`REMEMBERED`], and some may be gone.
    recent: Vec<(u64, Slot)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When the document came, in the order of all that are there; [`FREE`] where there is none.
    record: u64,
    /// Where its bytes begin, in units. In a free slot: the next free slot.
    unit: u32,
    /// The hash of its `_id`.
    hash: u32,
}

const FREE: u64 = u64::MAX;
const NO_SLOT: Slot = Slot::MAX;
/// Regions begin at multiples of this many bytes.
const UNIT: usize = 16;
/// How many of the last documents are remembered.
const REMEMBERED: usize = 1_024;

/// The store cannot hold more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected at most 2^32 units of 16 bytes in a collection, found more")
    }
}

impl std::error::Error for Full {}

impl Store {
    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// One more than the largest slot that was ever used.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }

    /// The bytes of the document in this slot.
    #[inline]
    pub fn document(&self, slot: Slot) -> &[u8] {
        let entry = &self.entries[slot as usize];
        assert!(entry.record != FREE, "slot `{slot}` holds a document");
        let start = entry.unit as usize * UNIT;
        let length = self.length_at(start);
        &self.arena[start..start + length]
    }

    /// Reads a byte of the document in this slot, if there is one, to have it in the caches.
    #[inline]
    pub(super) fn touch(&self, slot: Slot) -> u64 {
        let start = self.entries[slot as usize].unit as usize * UNIT;
        self.arena.get(start).copied().map_or(0, u64::from)
    }

    /// When the document in this slot came: one more than the largest record there was then.
    #[inline]
    pub fn record(&self, slot: Slot) -> u64 {
        self.entries[slot as usize].record
    }

    /// The hash of the `_id` of the document in this slot.
    #[inline]
    pub fn hash(&self, slot: Slot) -> u32 {
        self.entries[slot as usize].hash
    }

    /// All slots that hold a document, in the order in which their documents came.
    pub fn in_order(&self) -> Vec<Slot> {
        let is_live = |slot: &Slot| self.record(*slot) != FREE;
        let mut slots: Vec<Slot> = (0..self.entries.len() as Slot).filter(is_live).collect();
        slots.sort_unstable_by_key(|slot| self.record(*slot));
        slots
    }

    /// Puts a document in and answers its slot.
    ///
    /// # Errors
    /// [`Full`].
    pub fn insert(&mut self, document: &[u8], hash: u32) -> Result<Slot, Full> {
        let record = self.next_record();
        let slot = self.place(document, Entry { record, unit: 0, hash })?;
        if self.recent.len() == REMEMBERED {
            self.recent.drain(..REMEMBERED / 2);
        }
        self.recent.push((record, slot));
        self.next_record = record + 1;
        Ok(slot)
    }

    /// Puts a document back that was here before, under its record, which is free.
    ///
    /// # Errors
    /// [`Full`].
    pub fn restore(&mut self, document: &[u8], hash: u32, record: u64) -> Result<Slot, Full> {
        let slot = self.place(document, Entry { record, unit: 0, hash })?;
        // What is remembered is no longer in order.
        self.recent.clear();
        self.is_last_gone = true;
        Ok(slot)
    }

    fn place(&mut self, document: &[u8], entry: Entry) -> Result<Slot, Full> {
        if self.free_slot.is_none() && self.entries.len() >= NO_SLOT as usize {
            return Err(Full);
        }
        let entry = Entry { unit: self.write(document)?, ..entry };
        self.live += 1;
        Ok(match self.free_slot {
            Some(slot) => {
                let free = std::mem::replace(&mut self.entries[slot as usize], entry);
                self.free_slot = Some(free.unit).filter(|next| *next != NO_SLOT);
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as Slot - 1
            }
        })
    }

    #[inline]
    fn next_record(&mut self) -> u64 {
        if self.is_last_gone {
            self.find_last();
        }
        self.next_record
    }

    /// Finds the largest record: mostly it is remembered.
    #[cold]
    fn find_last(&mut self) {
        let is_there =
            |(record, slot): &(u64, Slot)| self.entries[*slot as usize].record == *record;
        while self.recent.last().is_some_and(|last| !is_there(last)) {
            self.recent.pop();
        }
        if self.recent.is_empty() {
            self.remember();
        }
        self.next_record = self.recent.last().map_or(0, |(record, _)| record + 1);
        self.is_last_gone = false;
    }

    /// Looks through all documents for those with the largest records.
    fn remember(&mut self) {
        let records = self.entries.iter().map(|entry| entry.record);
        let Some(last) = records.filter(|record| *record != FREE).max() else { return };
        let first = last.saturating_sub(REMEMBERED as u64 / 2);
        let slots = self.entries.iter().zip(0..);
        let known = slots.map(|(entry, slot)| (entry.record, slot));
        self.recent.extend(known.filter(|(record, _)| (first..=last).contains(record)));
        self.recent.sort_unstable();
    }

    /// Is there room for one more document of this length?
    ///
    /// # Errors
    /// [`Full`].
    pub fn has_room(&self, length: usize) -> Result<(), Full> {
        let units = self.arena.len().max(UNIT) / UNIT;
        let is_free =
            self.free_regions.get(Class::of(length).number).is_some_and(|unit| *unit != 0);
        if is_free || u32::try_from(units).is_ok() { Ok(()) } else { Err(Full) }
    }

    /// Puts a document in the place of another, which keeps its slot and its record.
    ///
    /// # Errors
    /// [`Full`]; then the other one is still there. Not after [`Store::has_room`].
    pub fn replace(&mut self, slot: Slot, document: &[u8]) -> Result<(), Full> {
        let start = self.entries[slot as usize].unit as usize * UNIT;
        let old = self.length_at(start);
        if Class::of(old) == Class::of(document.len()) {
            self.arena[start..start + document.len()].copy_from_slice(document);
        } else {
            let unit = self.write(document)?;
            self.release(start, old);
            self.entries[slot as usize].unit = unit;
        }
        Ok(())
    }

    /// Takes the document out of this slot.
    pub fn remove(&mut self, slot: Slot) {
        let next = self.free_slot.unwrap_or(NO_SLOT);
        let entry = &mut self.entries[slot as usize];
        assert!(entry.record != FREE, "slot `{slot}` holds a document");
        let start = entry.unit as usize * UNIT;
        self.is_last_gone |= entry.record + 1 == self.next_record;
        (entry.record, entry.unit) = (FREE, next);
        self.free_slot = Some(slot);
        self.live -= 1;
        if self.live == 0 {
            (self.next_record, self.is_last_gone) = (0, false);
            self.recent.clear();
        }
        self.release(start, self.length_at(start));
    }

    /// Every document begins with its own length.
    #[inline]
    fn length_at(&self, start: usize) -> usize {
        self.word_at(start) as usize
    }

    #[inline]
    fn word_at(&self, start: usize) -> u32 {
        let bytes = self.arena[start..].first_chunk().expect("a region is at least one unit");
        u32::from_le_bytes(*bytes)
    }

    /// Writes the bytes into a free region of their class, or behind all others.
    fn write(&mut self, document: &[u8]) -> Result<u32, Full> {
        let class = Class::of(document.len());
        let free = self.free_regions.get(class.number).copied().filter(|unit| *unit != 0);
        if let Some(unit) = free {
            let start = unit as usize * UNIT;
            self.free_regions[class.number] = self.word_at(start);
            self.arena[start..start + document.len()].copy_from_slice(document);
            return Ok(unit);
        }
        // No region begins at 0, which stands for none.
        let start = self.arena.len().max(UNIT);
        let unit = u32::try_from(start / UNIT).map_err(|_| Full)?;
        self.arena.resize(start, 0);
        self.arena.extend_from_slice(document);
        self.arena.resize(start + class.units * UNIT, 0);
        Ok(unit)
    }

    fn release(&mut self, start: usize, length: usize) {
        let class = Class::of(length).number;
        if self.free_regions.len() <= class {
            self.free_regions.resize(class + 1, 0);
        }
        let next = std::mem::replace(&mut self.free_regions[class], (start / UNIT) as u32);
        self.arena[start..start + 4].copy_from_slice(&next.to_le_bytes());
    }
}

/// Regions of one class have one size. Four sizes lie between a power of two and the next, so at
/// most a fifth of a region is unused, beside what is missing to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    number: usize,
    units: usize,
}

impl Class {
    #[inline]
    fn of(length: usize) -> Class {
        let units = length.div_ceil(UNIT).max(1);
        if units <= 8 {
            return Class { number: units, units };
        }
        let shift = (units - 1).ilog2() as usize - 2;
        let steps = ((units - 1) >> shift) + 1;
        Class { number: 4 * shift + steps, units: steps << shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_lengths_and_wastes_little() {
        let mut last = Class { number: 0, units: 0 };
        for length in 5..100_000 {
            let class = Class::of(length);
            let units = length.div_ceil(UNIT);

            assert!(class.units >= units && class.units * 4 <= units * 5, "length {length}");
            assert!(class.number == last.number || class.number == last.number + 1);
            assert_eq!(class.number == last.number, class.units == last.units);
            last = class;
        }
    }

    #[test]
    fn regions_and_slots_are_used_again() {
        let document = |length: usize| {
            let mut bytes = vec![7; length];
            bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
            bytes
        };
        let mut store = Store::default();
        let first = store.insert(&document(100), 1).expect("there is room");
        let second = store.insert(&document(30), 2).expect("there is room");
        let size = store.arena.len();

        for length in [100, 98, 97, 111, 112] {
            store.remove(first);
            assert_eq!(store.insert(&document(length), 3), Ok(first));
            assert_eq!(store.document(first), document(length));
        }

        assert_eq!(store.arena.len(), size);
        assert_eq!(store.in_order(), [second, first]);
    }

    #[test]
    fn a_new_record_is_one_more_than_the_largest_there_is() {
        let document = [5, 0, 0, 0, 0];
        let mut store = Store::default();
        let mut model: std::collections::BTreeMap<u64, Slot> = std::collections::BTreeMap::new();
        let mut gone = Vec::new();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for step in 0..60_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Long stretches in which more go than come, mostly from the end.
            let is_insert = (random >> 40) % 10 < if step / 4_000 % 2 == 0 { 7 } else { 3 };
            if is_insert {
                let record = model.last_key_value().map_or(0, |(last, _)| last + 1);
                let slot = store.insert(&document, 0).expect("there is room");
                assert_eq!(store.record(slot), record);
                model.insert(record, slot);
                gone.retain(|other| *other != record);
            } else if step % 97 == 0
                && let Some(record) = gone.pop()
            {
                let slot = store.restore(&document, 0, record).expect("there is room");
                model.insert(record, slot);
            } else {
                let at = if random >> 62 == 0 {
                    (random >> 33) as usize % model.len().max(1)
                } else {
                    0
                };
                let Some((&record, &slot)) = model.iter().rev().nth(at) else { continue };
                store.remove(slot);
                model.remove(&record);
                gone.push(record);
            }
        }

        assert_eq!(store.in_order(), model.into_values().collect::<Vec<_>>());
    }
}
