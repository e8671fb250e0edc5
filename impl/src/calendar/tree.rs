//! Which bucket does an entry belong to, and when does a bucket become a node?

use super::bucket::Child;
use super::key::{Key, mask};
use super::{
    Calendar, Entry, FINGER_LEVEL, FINGER_SHIFT, FINGERS, KEY_BYTES, MERGE_ENTRIES, NONE,
    ROOT_LEVEL, Sizes, order,
};

/// A node that insertions have passed before.
#[derive(Clone, Copy)]
pub(super) struct Finger {
    pub(super) tag: u64,
    pub(super) node: u32,
}

impl Finger {
    pub(super) const NONE: Self = Self { tag: u64::MAX, node: NONE };
}

/// The node below those of the fingers that the last insertion has passed, if any.
#[derive(Clone, Copy)]
pub(super) struct Last {
    pub(super) base: u128,
    pub(super) span: u128,
    pub(super) node: u32,
    pub(super) level: usize,
}

impl Last {
    pub(super) const NONE: Self = Self { base: 0, span: 0, node: NONE, level: 0 };
}

/// A bucket, and how to get there.
pub(super) struct Place {
    pub(super) node: u32,
    pub(super) digit: u8,
    pub(super) level: usize,
    pub(super) base: Key,
    pub(super) path: [u32; KEY_BYTES],
}

impl Place {
    /// The last key that the bucket may hold.
    pub(super) fn last(&self) -> Key {
        Key(self.base.0 | mask(self.level))
    }
}

/// A choice of 256 by one byte of the key.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) occupied: [u64; 4],
    pub(super) children: [Child; 256],
}

impl Node {
    pub(super) const EMPTY: Self = Self { occupied: [0; 4], children: [Child::EMPTY; 256] };

    pub(super) fn empty() -> Box<Self> {
        Box::new(Self::EMPTY)
    }

    #[inline]
    pub(super) fn child(&self, digit: u8) -> &Child {
        &self.children[usize::from(digit)]
    }

    #[inline]
    pub(super) fn child_mut(&mut self, digit: u8) -> &mut Child {
        &mut self.children[usize::from(digit)]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.occupied == [0; 4]
    }

    #[inline]
    pub(super) fn occupy(&mut self, digit: u8) {
        self.occupied[usize::from(digit / 64)] |= 1 << (digit % 64);
    }

    pub(super) fn vacate(&mut self, digit: u8) {
        self.occupied[usize::from(digit / 64)] &= !(1 << (digit % 64));
        *self.child_mut(digit) = Child::EMPTY;
    }

    /// The first occupied digit at or after `least`.
    pub(super) fn first_from(&self, least: u8) -> Option<u8> {
        let mut word = usize::from(least / 64);
        let mut bits = self.occupied[word] & (u64::MAX << (least % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some((word * 64) as u8 + bits.trailing_zeros() as u8)
    }

    /// The number of entries, if all children are buckets.
    pub(super) fn entries_in_buckets(&self) -> Option<u32> {
        let any_branch = self.children.iter().any(|child| child.branch);
        (!any_branch)
            .then(|| self.children.iter().map(|child| child.len).fold(0, u32::saturating_add))
    }
}

impl Calendar {
    /// The deepest node known to lead to a key, and its level.
    #[inline]
    pub(super) fn start(&self, key: Key) -> (u32, usize) {
        if key.0 ^ self.last.base < self.last.span {
            return (self.last.node, self.last.level);
        }
        let tag = key.date() >> FINGER_SHIFT;
        let finger = &self.fingers[tag as usize % FINGERS];
        if finger.tag == tag { (finger.node, FINGER_LEVEL) } else { (0, ROOT_LEVEL) }
    }

    /// Remembers a node that leads to a key.
    #[inline]
    pub(super) fn point(&mut self, key: Key, node: u32, level: usize) {
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
    pub(super) fn make_room(&mut self, node: u32, digit: u8, level: usize) -> bool {
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

    pub(super) fn take_due(
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
    pub(super) fn take_whole(
        &mut self,
        place: &Place,
        room: usize,
        ordered: bool,
        out: &mut Vec<Entry>,
    ) {
        if ordered {
            self.sort(place);
        }
        let bucket = self.nodes[place.node as usize].child_mut(place.digit);
        self.len -= bucket.take(&mut self.pool, place, room, out);
        self.vacate_if_empty(place);
    }

    /// Takes from a bucket that the threshold cuts in two; returns whether it is done with it: if
    /// not, the bucket has burst.
    pub(super) fn take_part(
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

    pub(super) fn sort(&mut self, place: &Place) {
        if !self.nodes[place.node as usize].child_mut(place.digit).sorted {
            self.rewrite(place.node, place.digit, place.level, |_| true);
        }
    }

    pub(super) fn compact_bucket(
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
    pub(super) fn is_last_child(&self, place: &Place, depth: usize) -> bool {
        let digit = place.base.digit(ROOT_LEVEL - depth);
        let after = digit.checked_add(1);
        after.is_none_or(|after| self.nodes[place.path[depth] as usize].first_from(after).is_none())
    }

    /// Makes a bucket of a node of few entries; returns whether it did.
    pub(super) fn fold(&mut self, place: &Place, depth: usize) -> bool {
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
    pub(super) fn rewrite(
        &mut self,
        node: u32,
        digit: u8,
        level: usize,
        mut keep: impl FnMut(u128) -> bool,
    ) {
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
    pub(super) fn burst(&mut self, node: u32, digit: u8, level: usize) {
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
    pub(super) fn spread(
        &mut self,
        mut bucket: Child,
        level: usize,
        node: u32,
        child_level: usize,
    ) {
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
    pub(super) fn seek(&self, from: Key) -> Option<Place> {
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
    pub(super) fn climb(&self, place: &mut Place) -> Option<Key> {
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
    pub(super) fn vacate_if_empty(&mut self, place: &Place) {
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

    pub(super) fn new_node(&mut self) -> u32 {
        self.free_nodes.pop().unwrap_or_else(|| {
            let node = u32::try_from(self.nodes.len()).expect("node numbers are 32 bits");
            self.nodes.push(Node::empty());
            node
        })
    }

    pub(super) fn free_node(&mut self, node: u32) {
        *self.nodes[node as usize] = Node::EMPTY;
        self.free_nodes.push(node);
        self.last = Last::NONE;
        for finger in self.fingers.iter_mut().filter(|finger| finger.node == node) {
            *finger = Finger::NONE;
        }
    }
}
