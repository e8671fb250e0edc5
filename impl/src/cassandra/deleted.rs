//! How strong is a deletion, and what does it cover?

use ttlspec_model::cassandra::words::Deletion;

/// A deletion, or none: it compares by strength, and none is the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deleted {
    /// The timestamp up to which it covers.
    pub ts: i64,
    /// The second in which it was made.
    pub ldt: i64,
}

impl Deleted {
    /// No deletion. None is made in this second, however early its timestamp.
    pub const NONE: Deleted = Deleted { ts: i64::MIN, ldt: i64::MIN };

    /// Is there none?
    pub fn is_none(self) -> bool {
        self == Deleted::NONE
    }

    /// Does it cover what was written at `ts`?
    #[inline]
    pub fn covers(self, ts: i64) -> bool {
        ts <= self.ts && !self.is_none()
    }

    /// The same in words.
    pub fn told(self) -> Option<Deletion> {
        let Deleted { ts, ldt } = self;
        (!self.is_none()).then_some(Deletion { ts, ldt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_timestamp_is_stronger_and_then_the_later_second() {
        let weak = Deleted { ts: 1, ldt: 9 };

        assert!(Deleted { ts: 2, ldt: 0 } > weak);
        assert!(Deleted { ts: 1, ldt: 10 } > weak);
        assert!(weak > Deleted::NONE);
        assert!(Deleted { ts: i64::MIN, ldt: 0 } > Deleted::NONE);
    }

    #[test]
    fn it_covers_its_own_timestamp_and_none_covers_nothing() {
        assert!(Deleted { ts: 5, ldt: 0 }.covers(5));
        assert!(!Deleted { ts: 5, ldt: 0 }.covers(6));
        assert!(!Deleted::NONE.covers(i64::MIN));
    }
}
