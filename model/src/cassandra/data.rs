//! What is kept: cells and markers, deletions, rows, ranges, partitions.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::words::{ColumnId, Deletion};

/// A place in the order of clusterings: a full clustering, or a side of a prefix.
///
/// Components of columns in descending order are kept turned round, so that places compare by
/// number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The components, from the first on.
    pub prefix: Vec<i64>,
    /// Before all that begins with the prefix (-1), after it (1), or the row itself (0).
    pub side: i8,
}

impl Place {
    /// The place of a row.
    pub fn row(prefix: Vec<i64>) -> Place {
        Place { prefix, side: 0 }
    }
    /// The place before all that begins with `prefix`.
    pub fn before(prefix: &[i64]) -> Place {
        Place { prefix: prefix.to_vec(), side: -1 }
    }
    /// The place after all that begins with `prefix`.
    pub fn after(prefix: &[i64]) -> Place {
        Place { prefix: prefix.to_vec(), side: 1 }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        let common = self.prefix.iter().zip(&other.prefix).map(|(one, two)| one.cmp(two));
        let common = common.fold(Ordering::Equal, Ordering::then);
        common.then_with(|| match self.prefix.len().cmp(&other.prefix.len()) {
            Ordering::Equal => self.side.cmp(&other.side),
            Ordering::Less => self.side.cmp(&0),
            Ordering::Greater => 0.cmp(&other.side),
        })
    }
}
impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A deletion, or none. None is weaker than any.
pub type Deleted = Option<Deletion>;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The write timestamp.
    pub ts: i64,
    /// The TTL in seconds; 0 is none.
    pub ttl: i64,
    /// The expiration, or the second of a deletion.
    pub ldt: Option<i64>,
    /// The bytes of the value.
    pub value: Vec<u8>,
}

impl Cell {
    /// Is it a deletion?
    pub fn is_tombstone(&self) -> bool {
        self.ldt.is_some() && self.ttl == 0
    }
}

/// A primary key liveness: the marker that an INSERT leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Liveness {
    /// The write timestamp.
    pub ts: i64,
    /// The TTL in seconds; 0 is none.
    pub ttl: i64,
    /// The expiration.
    pub ldt: Option<i64>,
    /// Is it one that a view writes to say that its row is dead?
    pub is_dead: bool,
}

/// The place of a cell in a row: a column, and the element where it is a collection.
pub type CellKey = (ColumnId, Option<i32>);

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Row {
    /// Its marker.
    pub liveness: Option<Liveness>,
    /// Its deletion.
    pub deletion: Deleted,
    /// The deletions of its collections.
    pub complex: BTreeMap<ColumnId, Deletion>,
    /// Its cells.
    pub cells: BTreeMap<CellKey, Cell>,
    /// Collections that are there without a deletion and without an element.
    pub hollow: BTreeSet<ColumnId>,
}

impl Row {
    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.liveness.is_none()
            && self.deletion.is_none()
            && self.complex.is_empty()
            && self.cells.is_empty()
            && self.hollow.is_empty()
    }
    /// Has it a cell of this column?
    pub fn has(&self, column: ColumnId) -> bool {
        self.cells.keys().any(|(there, _)| *there == column)
    }
    /// The columns that have a cell.
    pub fn columns(&self) -> BTreeSet<ColumnId> {
        self.cells.keys().map(|(column, _)| *column).collect()
    }
}

/// A deletion of all rows between two places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// Where it begins.
    pub start: Place,
    /// Where it ends.
    pub end: Place,
    /// What it deletes.
    pub deletion: Deletion,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Partition {
    /// The deletion of the whole.
    pub deletion: Deleted,
    /// The static row.
    pub statics: Row,
    /// The rows in order.
    pub rows: BTreeMap<Place, Row>,
    /// The range tombstones in order; none meets another.
    pub ranges: Vec<Range>,
}

impl Partition {
    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.deletion.is_none()
            && self.statics.is_empty()
            && self.rows.is_empty()
            && self.ranges.is_empty()
    }
    /// The deletion of the range that a place lies in.
    pub fn range_at(&self, place: &Place) -> Deleted {
        let range = self.ranges.iter().find(|range| range.start < *place && *place < range.end);
        range.map(|range| range.deletion)
    }
}

/// A partition key with its token. Partitions are kept in the order of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Murmur3Partitioner's token.
    pub token: i64,
    /// The key.
    pub p: i32,
}

impl Key {
    /// The key of a partition.
    pub fn new(p: i32) -> Key {
        Key { token: token(&p.to_be_bytes()), p }
    }
}

/// Partitions in the order of their tokens.
pub type Partitions = BTreeMap<Key, Partition>;

/// The token of a key of less than 8 bytes: the first half of MurmurHash3 x64 128 as the server
/// computes it, which takes bytes as signed. The smallest token of all is no key's.
fn token(key: &[u8]) -> i64 {
    let (c1, c2) = (0x87c3_7b91_1142_53d5_u64, 0x4cf5_ad43_2745_937f_u64);
    let tail = key.iter().enumerate().fold(0, |tail, (at, byte)| {
        tail ^ (i64::from(*byte as i8) as u64).wrapping_shl(8 * at as u32)
    });
    let length = key.len() as u64;
    let mut one = tail.wrapping_mul(c1).rotate_left(31).wrapping_mul(c2) ^ length;
    let mut two = length;
    one = one.wrapping_add(two);
    two = two.wrapping_add(one);
    let token = mixed(one).wrapping_add(mixed(two)) as i64;
    if token == i64::MIN { i64::MAX } else { token }
}

fn mixed(half: u64) -> u64 {
    let half = (half ^ (half >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let half = (half ^ (half >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    half ^ (half >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_server() {
        assert_eq!(Key::new(1).token, -4_069_959_284_402_364_209);
        assert_eq!(Key::new(2).token, -3_248_873_570_005_575_792);
        assert_eq!(Key::new(3).token, 9_010_454_139_840_013_625);
    }
}
