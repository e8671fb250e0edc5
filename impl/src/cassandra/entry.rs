//! What does one thing in a row take up, and which of two is kept?
//!
//! Forty bytes. Its *slot* says what of the row it is, and slots compare as a row is kept: the
//! deletion of the row, its marker, then column by column the deletion of a collection and the cells.
//!
//! ```text
//! slot:  0, 1         deletion, marker (of a bound: what closes, what opens)
//!        47 … 40      column + 1
//!        37 36        01 the cell of a simple column, 10 that of an element
//!        31 … 0       the element + 2³¹; of a collection itself 0 its deletion, 1 that it is hollow
//! ```

use std::cmp::Ordering;

use ttlspec_model::cassandra::words::{ColumnId, Shown, Table};

use super::deleted::Deleted;

/// The local deletion time of what lives for ever: later than all.
pub(super) const NEVER: i64 = i64::MAX;

const COLUMN: u32 = 40;
const SIMPLE: u64 = 1 << 36;
const ELEMENT: u64 = 2 << 36;
const SIGN: u32 = 1 << 31;
/// So many bytes of a value lie in the entry itself.
const INLINE: usize = 8;

/// What of a row something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u64);

/// What kind of thing stands in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The deletion of the row.
    Deletion,
    /// The marker.
    Marker,
    /// The deletion of a collection.
    Complex,
    /// That a collection is there without a deletion and without an element.
    Hollow,
    /// A cell.
    Cell,
}

impl Slot {
    /// The deletion of a row; of a bound, what closes there.
    pub const DELETION: Slot = Slot(0);
    /// The marker of a row; of a bound, what opens there.
    pub const MARKER: Slot = Slot(1);
    /// What closes at a bound.
    pub const CLOSE: Slot = Slot::DELETION;
    /// What opens at a bound.
    pub const OPEN: Slot = Slot::MARKER;

    fn of(column: ColumnId) -> u64 {
        (u64::from(column) + 1) << COLUMN
    }

    /// The deletion of a collection.
    pub fn complex(column: ColumnId) -> Slot {
        Slot(Slot::of(column))
    }

    /// A collection that is hollow.
    pub fn hollow(column: ColumnId) -> Slot {
        Slot(Slot::of(column) | 1)
    }

    /// The cell of a simple column.
    pub fn simple(column: ColumnId) -> Slot {
        Slot(Slot::of(column) | SIMPLE)
    }

    /// The cell of an element.
    pub fn element(column: ColumnId, path: i32) -> Slot {
        Slot(Slot::of(column) | ELEMENT | u64::from(path as u32 ^ SIGN))
    }

    /// What stands here?
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            Slot::DELETION => Kind::Deletion,
            Slot::MARKER => Kind::Marker,
            Slot(slot) if slot & (SIMPLE | ELEMENT) != 0 => Kind::Cell,
            Slot(slot) if slot & 1 == 0 => Kind::Complex,
            Slot(_) => Kind::Hollow,
        }
    }

    /// The column. The deletion of a row and its marker have none.
    #[inline]
    pub fn column(self) -> Option<ColumnId> {
        (self.0 >> COLUMN).checked_sub(1).map(|column| column as ColumnId)
    }

    /// The element of a collection.
    pub fn path(self) -> Option<i32> {
        (self.0 & ELEMENT != 0).then_some((self.0 as u32 ^ SIGN) as i32)
    }
}

/// One thing in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What of the row it is.
    pub slot: Slot,
    /// The write timestamp, or that up to which it deletes.
    pub ts: i64,
    /// The expiration or the second of a deletion; [`NEVER`] where there is none.
    pub ldt: i64,
    /// The TTL in seconds; 0 is none.
    pub ttl: u32,
    length: u32,
    /// The bytes of a short value, the first the highest; where a longer one lies. Of a marker, 1
    /// where it says that its row is dead.
    word: u64,
}

impl Entry {
    /// A deletion: of a row, of a collection, or of what lies behind a bound.
    pub fn deletion(slot: Slot, Deleted { ts, ldt }: Deleted) -> Entry {
        Entry { slot, ts, ldt, ttl: 0, length: 0, word: 0 }
    }

    /// A marker.
    pub fn marker(ts: i64, ttl: u32, ldt: i64) -> Entry {
        Entry { slot: Slot::MARKER, ts, ldt, ttl, length: 0, word: 0 }
    }

    /// A marker that says that its row is dead.
    pub fn dead_marker(ts: i64, ttl: u32, ldt: i64) -> Entry {
        Entry { word: 1, ..Entry::marker(ts, ttl, ldt) }
    }

    /// Says of a collection that it is hollow.
    pub fn hollow(column: ColumnId) -> Entry {
        let slot = Slot::hollow(column);
        Entry { slot, ts: 0, ldt: NEVER, ttl: 0, length: 0, word: 0 }
    }

    /// A tombstone in the place of a cell.
    pub fn tombstone(slot: Slot, ts: i64, ldt: i64) -> Entry {
        Entry { slot, ts, ldt, ttl: 0, length: 0, word: 0 }
    }

    /// A cell with a value; a long one is added to `values`.
    pub fn cell(
        slot: Slot,
        (ts, ttl, ldt): (i64, u32, i64),
        value: &[u8],
        values: &mut Vec<u8>,
    ) -> Entry {
        let length = value.len() as u32;
        let word = if value.len() <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(bytes)
        } else {
            values.extend_from_slice(value);
            (values.len() - value.len()) as u64
        };
        Entry { slot, ts, ldt, ttl, length, word }
    }

    /// The same entry with its value in another arena.
    #[inline]
    pub fn moved(self, from: &[u8], to: &mut Vec<u8>) -> Entry {
        if self.length as usize <= INLINE {
            return self;
        }
        let word = to.len() as u64;
        to.extend_from_slice(&from[self.word as usize..][..self.length as usize]);
        Entry { word, ..self }
    }

    /// The same as a deletion.
    #[inline]
    pub fn deleted(&self) -> Deleted {
        Deleted { ts: self.ts, ldt: self.ldt }
    }

    /// Is this cell a deletion?
    #[inline]
    pub fn is_tombstone(&self) -> bool {
        self.ldt != NEVER && self.ttl == 0
    }

    /// Is this cell or marker alive in the second `now`?
    #[inline]
    pub fn lives(&self, now: i64) -> bool {
        match self.slot {
            Slot::MARKER => self.word == 0 && (self.ldt == NEVER || now < self.ldt),
            _ => self.ldt == NEVER || self.ttl != 0 && now < self.ldt,
        }
    }

    /// The bytes of the value, with room for those that lie in the entry.
    fn bytes<'a>(&self, values: &'a [u8], room: &'a mut [u8; INLINE]) -> &'a [u8] {
        let length = self.length as usize;
        if length > INLINE {
            return &values[self.word as usize..][..length];
        }
        *room = self.word.to_be_bytes();
        &room[..length]
    }

    /// Compares values, byte by byte.
    #[inline]
    pub fn compare_values(&self, values: &[u8], other: &Entry, others: &[u8]) -> Ordering {
        if self.length.max(other.length) as usize <= INLINE {
            return (self.word, self.length).cmp(&(other.word, other.length));
        }
        let (mut one, mut two) = ([0; INLINE], [0; INLINE]);
        self.bytes(values, &mut one).cmp(other.bytes(others, &mut two))
    }

    /// The value as a number, where it is one.
    pub fn number(&self) -> Option<i32> {
        (self.length == 4).then_some((self.word >> 32) as i32)
    }

    /// The value as it is shown.
    pub fn shown(&self, table: &Table, values: &[u8]) -> Shown {
        let mut room = [0; INLINE];
        table.shown(self.slot.column().unwrap_or(0), self.bytes(values, &mut room))
    }

    /// Does this one take the place of `other`, which is of the same slot? Equals do not.
    #[inline]
    pub fn beats(&self, values: &[u8], other: &Entry, others: &[u8]) -> bool {
        if self.ts != other.ts {
            return self.ts > other.ts;
        }
        match self.slot.kind() {
            Kind::Deletion | Kind::Complex => self.ldt > other.ldt,
            Kind::Hollow => false,
            Kind::Marker => {
                let life = |it: &Entry| match it.ldt {
                    NEVER => (it.word, false, 0, 0),
                    ldt => (it.word, true, ldt, u32::MAX - it.ttl),
                };
                life(self) > life(other)
            }
            Kind::Cell => {
                let life = |it: &Entry| match it.ldt {
                    NEVER => (false, false, 0, 0),
                    ldt => (true, it.ttl == 0, ldt, u32::MAX - it.ttl),
                };
                let by_life = life(self).cmp(&life(other));
                by_life.then_with(|| self.compare_values(values, other, others))
                    == Ordering::Greater
            }
        }
    }

    /// Is it the same cell with the same value?
    pub fn is_same_cell(&self, values: &[u8], other: &Entry, others: &[u8]) -> bool {
        (self.slot, self.ts, self.ttl, self.ldt) == (other.slot, other.ts, other.ttl, other.ldt)
            && self.compare_values(values, other, others) == Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stand_as_a_row_is_kept() {
        let sorted = [
            Slot::DELETION,
            Slot::MARKER,
            Slot::simple(0),
            Slot::complex(1),
            Slot::hollow(1),
            Slot::element(1, i32::MIN),
            Slot::element(1, -1),
            Slot::element(1, i32::MAX),
            Slot::simple(255),
        ];

        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_slot_tells_its_column_and_its_element() {
        let slot = Slot::element(7, -3);

        assert_eq!((slot.kind(), slot.column(), slot.path()), (Kind::Cell, Some(7), Some(-3)));
        assert_eq!(Slot::simple(0).path(), None);
        assert_eq!(Slot::MARKER.column(), None);
        assert_eq!(Slot::complex(3).kind(), Kind::Complex);
        assert_eq!(Slot::hollow(3).kind(), Kind::Hollow);
    }

    #[test]
    fn of_two_cells_the_first_difference_decides() {
        let slot = Slot::simple(0);
        let mut values = Vec::new();
        let mut cell = |life, value: &[u8]| Entry::cell(slot, life, value, &mut values);
        // Each is stronger than the one before.
        let cells = [
            cell((5, 0, NEVER), b"a"),
            cell((5, 0, NEVER), b"a\0"),
            cell((5, 0, NEVER), b"a long value"),
            cell((5, 0, NEVER), b"b"),
            cell((5, 9, 100), b"a"),
            cell((5, 8, 100), b"a"),
            cell((5, 8, 101), b"a"),
            Entry::tombstone(slot, 5, 1),
            Entry::tombstone(slot, 5, 2),
            cell((6, 0, NEVER), b"a"),
        ];

        for (at, one) in cells.iter().enumerate() {
            for (other, two) in cells.iter().enumerate() {
                assert_eq!(one.beats(&values, two, &values), at > other, "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn of_two_markers_a_dead_one_and_then_the_shorter_ttl_is_kept() {
        let markers = [
            Entry::marker(5, 0, NEVER),
            Entry::marker(5, 9, 100),
            Entry::marker(5, 8, 100),
            Entry::marker(5, 8, 101),
            Entry::dead_marker(5, 8, 50),
            Entry::marker(6, 0, NEVER),
        ];

        for (at, one) in markers.iter().enumerate() {
            for (other, two) in markers.iter().enumerate() {
                assert_eq!(one.beats(&[], two, &[]), at > other, "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn of_two_markers_that_never_expire_neither_is_kept_for_its_ttl() {
        let (one, two) = (Entry::marker(5, 9, NEVER), Entry::marker(5, 0, NEVER));

        assert!(!one.beats(&[], &two, &[]) && !two.beats(&[], &one, &[]));
    }

    #[test]
    fn a_long_value_moves_with_its_entry() {
        let mut values = b"others ".to_vec();
        let cell = Entry::cell(Slot::simple(0), (1, 0, NEVER), b"0123456789", &mut values);
        let mut elsewhere = vec![0; 3];

        let moved = cell.moved(&values, &mut elsewhere);

        assert_eq!(moved.compare_values(&elsewhere, &cell, &values), Ordering::Equal);
        assert_eq!(elsewhere.len(), 13);
    }
}
