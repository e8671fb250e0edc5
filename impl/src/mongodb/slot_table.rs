//! Which slots may hold a value with this hash? Open addressing, linear probing, no tombstones.

use super::store::Slot;

/// Slots by 32 bits of a hash. The same hash may stand for several slots, and the table does not
/// know values: who asks compares.
#[derive(Clone, Debug, Default)]
pub struct SlotTable {
    /// Hash and slot in one word; [`EMPTY`] where there is none. Their number is 0 or a power of
    /// two.
    cells: Vec<u64>,
    live: usize,
}

const EMPTY: u64 = u64::MAX;
const SMALLEST: usize = 16;

fn cell(hash: u32, slot: Slot) -> u64 {
    u64::from(hash) << 32 | u64::from(slot)
}

fn hash_of(cell: u64) -> u32 {
    (cell >> 32) as u32
}

impl SlotTable {
    fn mask(&self) -> usize {
        self.cells.len().wrapping_sub(1)
    }

    /// The first slot with this hash for which `is_it` says yes.
    #[inline]
    pub fn find(&self, hash: u32, mut is_it: impl FnMut(Slot) -> bool) -> Option<Slot> {
        let mut at = hash as usize & self.mask();
        while let Some(&cell) = self.cells.get(at) {
            if cell == EMPTY {
                return None;
            }
            if hash_of(cell) == hash && is_it(cell as Slot) {
                return Some(cell as Slot);
            }
            at = (at + 1) & self.mask();
        }
        None
    }

    /// Reads the cell where a hash is looked for first, to have it in the caches.
    #[inline]
    pub(super) fn touch(&self, hash: u32) -> u64 {
        self.cells.get(hash as usize & self.mask()).copied().unwrap_or(0)
    }

    /// Adds a slot under a hash.
    pub fn insert(&mut self, hash: u32, slot: Slot) {
        // Never more than seven eighths full, so that every probe ends.
        if (self.live + 1) * 8 > self.cells.len() * 7 {
            self.grow();
        }
        self.live += 1;
        self.place(cell(hash, slot));
    }

    fn place(&mut self, cell: u64) {
        let mut at = hash_of(cell) as usize & self.mask();
        while self.cells[at] != EMPTY {
            at = (at + 1) & self.mask();
        }
        self.cells[at] = cell;
    }

    fn grow(&mut self) {
        let wider = vec![EMPTY; (self.cells.len() * 2).max(SMALLEST)];
        for cell in std::mem::replace(&mut self.cells, wider) {
            if cell != EMPTY {
                self.place(cell);
            }
        }
    }

    /// Takes a slot out from under a hash, if it is there.
    pub fn remove(&mut self, hash: u32, slot: Slot) {
        let gone = cell(hash, slot);
        let mut at = hash as usize & self.mask();
        loop {
            match self.cells.get(at) {
                None | Some(&EMPTY) => return,
                Some(&found) if found == gone => break,
                Some(_) => at = (at + 1) & self.mask(),
            }
        }
        self.live -= 1;
        // What comes after moves up as long as it is not before its own place.
        let mut hole = at;
        loop {
            at = (at + 1) & self.mask();
            let next = self.cells[at];
            if next == EMPTY {
                break;
            }
            let home = hash_of(next) as usize & self.mask();
            let way_from_home = at.wrapping_sub(home) & self.mask();
            let way_from_hole = at.wrapping_sub(hole) & self.mask();
            if way_from_home >= way_from_hole {
                self.cells[hole] = next;
                hole = at;
            }
        }
        self.cells[hole] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_holds_what_a_set_holds() {
        let mut table = SlotTable::default();
        let mut set = BTreeSet::new();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let slot = (random >> 40) as Slot % 700;
            // Few hashes, so that they meet; some at the upper end, so that probes wrap.
            let hash = slot % 90 + if slot.is_multiple_of(2) { u32::MAX - 89 } else { 0 };
            if random >> 63 == 0 {
                if set.insert((hash, slot)) {
                    table.insert(hash, slot);
                }
            } else {
                table.remove(hash, slot);
                set.remove(&(hash, slot));
            }

            let found = table.find(hash, |found| found == slot).is_some();
            assert_eq!(found, set.contains(&(hash, slot)));
            assert_eq!(table.live, set.len());
        }
        for (hash, slot) in set {
            assert_eq!(table.find(hash, |found| found == slot), Some(slot));
        }
    }
}
