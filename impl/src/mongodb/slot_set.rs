//! Which slots are marked? One bit each.

use super::store::Slot;

/// A set of slots.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotSet {
    words: Vec<u64>,
    marked: usize,
}

impl SlotSet {
    /// Is none marked?
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.marked == 0
    }

    /// Is this one marked?
    #[inline]
    pub(super) fn has(&self, slot: Slot) -> bool {
        let word = self.words.get(slot as usize / 64).copied().unwrap_or(0);
        word >> (slot % 64) & 1 == 1
    }

    /// Marks a slot. Was it unmarked?
    pub(super) fn mark(&mut self, slot: Slot) -> bool {
        let at = slot as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let is_new = !self.has(slot);
        self.words[at] |= 1 << (slot % 64);
        self.marked += usize::from(is_new);
        is_new
    }

    /// Takes the mark away. Was there one?
    #[inline]
    pub(super) fn unmark(&mut self, slot: Slot) -> bool {
        let was_marked = !self.is_empty() && self.has(slot);
        if was_marked {
            self.words[slot as usize / 64] &= !(1 << (slot % 64));
            self.marked -= 1;
        }
        was_marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_marked_until_its_mark_is_taken_away() {
        let mut set = SlotSet::default();

        assert!(set.mark(70) && !set.mark(70) && set.mark(3));
        assert!(set.has(70) && set.has(3) && !set.has(6) && !set.has(1_000));
        assert!(set.unmark(70) && !set.unmark(70) && !set.unmark(1_000));
        assert!(!set.is_empty() && set.unmark(3) && set.is_empty());
    }
}
