//! What may go because nobody needs it any more?

use super::deleted::Deleted;
use super::entry::{Entry, Kind};

/// When something may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purge {
    /// The second in which it is asked.
    pub now: i64,
    /// `now − gc_grace_seconds`: what was deleted before may go.
    pub gc_before: i64,
    /// Deletions of this second and later stay; `i64::MAX` is none.
    pub oldest_unrepaired: i64,
    /// Of which timestamps may something go?
    pub alone: Alone,
    /// Is a row nothing without a marker and a deletion?
    pub is_strict: bool,
    /// Does what has expired become a tombstone?
    pub makes_tombstones: bool,
}

/// Of which timestamps can nothing older be anywhere else?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alone {
    /// Of none.
    Never,
    /// Of those before this one.
    Before(i64),
    /// Of all.
    Always,
}

impl Purge {
    #[inline]
    fn may_go(&self, ts: i64, ldt: i64) -> bool {
        let is_alone = match self.alone {
            Alone::Never => false,
            Alone::Before(bound) => ts < bound,
            Alone::Always => true,
        };
        ldt < self.gc_before && ldt < self.oldest_unrepaired && is_alone
    }

    /// What is left of a deletion.
    #[inline]
    pub fn deletion(&self, deletion: Deleted) -> Deleted {
        let goes = !deletion.is_none() && self.may_go(deletion.ts, deletion.ldt);
        if goes { Deleted::NONE } else { deletion }
    }

    /// What is left of an entry of a row.
    #[inline]
    pub fn entry(&self, entry: Entry) -> Option<Entry> {
        let Entry { slot, ts, ldt, ttl, .. } = entry;
        match slot.kind() {
            Kind::Hollow => Some(entry),
            Kind::Deletion | Kind::Complex => (!self.may_go(ts, ldt)).then_some(entry),
            Kind::Marker | Kind::Cell if entry.lives(self.now) => Some(entry),
            Kind::Marker | Kind::Cell if self.may_go(ts, ldt) => None,
            Kind::Cell if ttl != 0 => {
                // As a tombstone it is as old as it was when it was written.
                let written = ldt - i64::from(ttl);
                let left = match self.makes_tombstones {
                    true => Entry::tombstone(slot, ts, written),
                    false => entry,
                };
                (!self.may_go(ts, written)).then_some(left)
            }
            Kind::Marker | Kind::Cell => Some(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{NEVER, Slot};
    use super::*;

    const PURGE: Purge = Purge {
        now: 1_000,
        gc_before: 900,
        oldest_unrepaired: i64::MAX,
        alone: Alone::Before(50),
        is_strict: false,
        makes_tombstones: true,
    };

    fn expiring(ts: i64, ttl: u32, ldt: i64) -> Entry {
        Entry::cell(Slot::simple(0), (ts, ttl, ldt), b"v", &mut Vec::new())
    }

    #[test]
    fn a_deletion_goes_once_it_is_old_and_alone() {
        let left = |ts, ldt| PURGE.deletion(Deleted { ts, ldt });

        assert_eq!(left(49, 899), Deleted::NONE);
        assert_eq!(left(49, 900), Deleted { ts: 49, ldt: 900 });
        assert_eq!(left(50, 899), Deleted { ts: 50, ldt: 899 });
        let held = Purge { oldest_unrepaired: 899, ..PURGE };
        assert_eq!(held.deletion(Deleted { ts: 49, ldt: 899 }), Deleted { ts: 49, ldt: 899 });
    }

    #[test]
    fn a_cell_lives_then_is_a_tombstone_of_when_it_was_written_then_goes() {
        let slot = Slot::simple(0);
        let alive = expiring(49, 5, 1_001);

        assert_eq!(PURGE.entry(alive), Some(alive));
        assert_eq!(PURGE.entry(expiring(49, 5, 1_000)), Some(Entry::tombstone(slot, 49, 995)));
        assert_eq!(PURGE.entry(expiring(49, 101, 1_000)), None);
        assert_eq!(PURGE.entry(expiring(49, 5, 899)), None);
        let faultless = Purge { makes_tombstones: false, ..PURGE };
        let expired = expiring(49, 5, 1_000);
        assert_eq!(faultless.entry(expired), Some(expired));
        assert_eq!(faultless.entry(expiring(49, 101, 1_000)), None);
    }

    #[test]
    fn a_marker_is_never_made_a_tombstone() {
        let marker = Entry::marker(49, 500, 950);

        assert_eq!(PURGE.entry(marker), Some(marker));
        assert_eq!(PURGE.entry(Entry::marker(49, 500, 899)), None);
        assert_eq!(PURGE.entry(Entry::marker(49, 0, NEVER)), Some(Entry::marker(49, 0, NEVER)));
    }
}
