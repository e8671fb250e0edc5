//! How do partitions lie in memory?
//!
//! In five flat pieces: the heads of partitions, their items (rows, and the ends of range
//! tombstones, in the order of the table, a static row first), the places of items, the entries of
//! rows, and long values. Each head knows its first item, each item its first entry.

use std::ops::Range;

use ttlspec_model::cassandra::words::ColumnId;

use super::deleted::Deleted;
use super::entry::{Entry, Kind, Slot};
use super::key::Key;

/// Partitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// How many words a place is.
    width: usize,
    heads: Vec<Head>,
    items: Vec<Item>,
    places: Vec<u64>,
    entries: Vec<Entry>,
    /// Where long values lie.
    pub values: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    key: Key,
    deletion: Deleted,
    items: usize,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    entries: usize,
    /// The last bound of the partition up to here, this item included.
    bound: usize,
}

/// There is no bound up to here.
const NO_BOUND: usize = usize::MAX;

/// One of the partitions of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// The run.
    pub run: &'a Run,
    head: usize,
}

/// One row, or the end of a range tombstone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// What is in it, by slots.
    pub entries: &'a [Entry],
    /// Where its long values lie.
    pub values: &'a [u8],
}

impl<'a> Line<'a> {
    /// Nothing.
    pub const EMPTY: Line<'static> = Line { entries: &[], values: &[] };

    /// What it has of a column.
    pub fn of_column(&self, column: ColumnId) -> &'a [Entry] {
        let from = self.entries.partition_point(|entry| entry.slot < Slot::complex(column));
        let rest = &self.entries[from..];
        &rest[..rest.partition_point(|entry| entry.slot.column() == Some(column))]
    }

    /// Does it live in the second `now`, by its marker or by a cell?
    pub fn lives(&self, now: i64) -> bool {
        let is_life = |entry: &&Entry| matches!(entry.slot.kind(), Kind::Marker | Kind::Cell);
        self.entries.iter().filter(is_life).any(|entry| entry.lives(now))
    }

    /// Has it a hollow collection?
    pub fn has_hollow(&self) -> bool {
        self.entries.iter().any(|entry| entry.slot.kind() == Kind::Hollow)
    }

    /// What stands in a slot.
    pub fn get(&self, slot: Slot) -> Option<&'a Entry> {
        let at = self.entries.binary_search_by_key(&slot, |entry| entry.slot).ok()?;
        Some(&self.entries[at])
    }

    /// The deletion in a slot.
    pub fn deletion(&self, slot: Slot) -> Deleted {
        self.get(slot).map_or(Deleted::NONE, Entry::deleted)
    }
}

impl Run {
    /// An empty run whose places are so many words.
    pub fn new(width: usize) -> Run {
        Run { width, ..Run::default() }
    }

    /// How many words is a place?
    pub fn width(&self) -> usize {
        self.width
    }

    /// Forgets everything but the memory that it has.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.items.clear();
        self.places.clear();
        self.entries.clear();
        self.values.clear();
    }

    /// Asks for as much memory as these have together, once.
    pub fn reserve<'a>(&mut self, runs: impl Iterator<Item = &'a Run> + Clone) {
        let all = |of: fn(&Run) -> usize| runs.clone().map(of).sum();
        self.heads.reserve(all(|run| run.heads.len()));
        self.items.reserve(all(|run| run.items.len()));
        self.places.reserve(all(|run| run.places.len()));
        self.entries.reserve(all(|run| run.entries.len()));
        self.values.reserve(all(|run| run.values.len()));
    }

    // ---- what is in it -----------------------------------------------------------------------------

    /// How many partitions?
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Is there no partition?
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The partitions in the order of their tokens.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = Part<'_>> {
        (0..self.len()).map(|head| Part { run: self, head })
    }

    /// The partition at a place of the order.
    pub fn part(&self, head: usize) -> Part<'_> {
        Part { run: self, head }
    }

    /// The key of the partition at a place of the order.
    pub fn key(&self, head: usize) -> Key {
        self.heads[head].key
    }

    /// The first place of the order, from `from` on, at which a key stands that is not smaller.
    pub fn seek(&self, from: usize, key: Key) -> usize {
        // What is asked for is near in a merge, and far in a read.
        let mut step = 1;
        let mut low = from;
        while low + step <= self.len() && self.heads[low + step - 1].key < key {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(self.len());
        low + self.heads[low..high].partition_point(|head| head.key < key)
    }

    /// The partition of a key.
    pub fn find(&self, key: Key) -> Option<Part<'_>> {
        let head = self.heads.binary_search_by_key(&key, |head| head.key).ok()?;
        Some(Part { run: self, head })
    }

    /// The place of an item.
    #[inline]
    pub fn place(&self, item: usize) -> &[u64] {
        &self.places[item * self.width..][..self.width]
    }

    /// Is this item the end of a range tombstone?
    #[inline]
    pub fn is_bound(&self, item: usize) -> bool {
        self.items[item].bound == item
    }

    /// Where the entries of an item are.
    #[inline]
    pub fn entries_of(&self, item: usize) -> Range<usize> {
        let end = self.items.get(item + 1).map_or(self.entries.len(), |next| next.entries);
        self.items[item].entries..end
    }

    /// An entry.
    #[inline]
    pub fn entry(&self, at: usize) -> &Entry {
        &self.entries[at]
    }

    /// An item.
    pub fn line(&self, item: usize) -> Line<'_> {
        Line { entries: &self.entries[self.entries_of(item)], values: &self.values }
    }

    /// How many items, in all partitions?
    pub fn items(&self) -> usize {
        self.items.len()
    }

    // ---- what comes into it --------------------------------------------------------------------------

    /// Begins a partition.
    pub fn open_part(&mut self, key: Key, deletion: Deleted) {
        self.heads.push(Head { key, deletion, items: self.items.len() });
    }

    /// Makes the deletion of the last partition at least so strong.
    pub fn strengthen(&mut self, deletion: Deleted) {
        if let Some(head) = self.heads.last_mut() {
            head.deletion = head.deletion.max(deletion);
        }
    }

    /// Takes the last partition away, which has no items.
    pub fn drop_part(&mut self) {
        self.heads.pop();
    }

    /// Begins an item of the last partition.
    pub fn open_item(&mut self, place: &[u64], is_bound: bool) {
        self.places.extend_from_slice(place);
        let first = self.heads.last().map_or(0, |head| head.items);
        let bound = match self.items[first..].last() {
            _ if is_bound => self.items.len(),
            Some(before) => before.bound,
            None => NO_BOUND,
        };
        self.items.push(Item { entries: self.entries.len(), bound });
    }

    /// Adds an entry to the last item; `values` is where its value lies.
    #[inline]
    pub fn push(&mut self, entry: Entry, values: &[u8]) {
        let entry = entry.moved(values, &mut self.values);
        self.entries.push(entry);
    }

    /// The entries of the last item.
    pub fn last_entries(&self) -> &[Entry] {
        let from = self.items.last().map_or(0, |item| item.entries);
        &self.entries[from..]
    }

    /// Takes the last entry away where it stands in this slot.
    pub fn pop_if(&mut self, slot: Slot) {
        if self.last_entries().last().is_some_and(|entry| entry.slot == slot) {
            self.entries.pop();
        }
    }

    /// Brings the last item into order: by slots, and of several in one slot the last.
    pub fn settle_item(&mut self) {
        let from = self.items.last().map_or(0, |item| item.entries);
        let mut settled = self.entries.split_off(from);
        settled.sort_by_key(|entry| entry.slot);
        for (at, entry) in settled.iter().enumerate() {
            if settled.get(at + 1).is_none_or(|next| next.slot != entry.slot) {
                self.entries.push(*entry);
            }
        }
    }

    /// Keeps of the entries of the last item those that are asked for.
    pub fn retain_entries(&mut self, mut is_kept: impl FnMut(&Entry) -> bool) {
        let from = self.items.last().map_or(0, |item| item.entries);
        let mut kept = from;
        for at in from..self.entries.len() {
            let entry = self.entries[at];
            if is_kept(&entry) {
                self.entries[kept] = entry;
                kept += 1;
            }
        }
        self.entries.truncate(kept);
    }

    /// Takes the last item away.
    pub fn drop_item(&mut self) {
        if let Some(item) = self.items.pop() {
            self.entries.truncate(item.entries);
            self.places.truncate(self.items.len() * self.width);
        }
    }
}

impl<'a> Part<'a> {
    /// Its key.
    pub fn key(&self) -> Key {
        self.run.heads[self.head].key
    }

    /// The deletion of the whole.
    pub fn deletion(&self) -> Deleted {
        self.run.heads[self.head].deletion
    }

    /// Its items.
    pub fn items(&self) -> Range<usize> {
        let heads = &self.run.heads;
        let end = heads.get(self.head + 1).map_or(self.run.items.len(), |next| next.items);
        heads[self.head].items..end
    }

    /// The range tombstone that is open before an item.
    pub fn open_before(&self, item: usize) -> Deleted {
        if item == self.items().start {
            return Deleted::NONE;
        }
        match self.run.items[item - 1].bound {
            NO_BOUND => Deleted::NONE,
            bound => self.run.line(bound).deletion(Slot::OPEN),
        }
    }

    /// The static row.
    pub fn statics(&self) -> Option<Line<'a>> {
        let first = self.items().next()?;
        super::place::is_static(self.run.place(first)).then(|| self.run.line(first))
    }

    /// The first of its items, from `from` on, that does not stand before a place.
    pub fn seek(&self, from: usize, place: &[u64]) -> usize {
        let (mut low, mut high) = (from, self.items().end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.run.place(middle) < place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
