//! What stands for a date and a slot?

use super::{Entry, KEY_BYTES};

/// Dates as unsigned numbers in the same order.
#[inline]
pub(super) fn order(date_ms: i64) -> u64 {
    (date_ms as u64) ^ (1 << 63)
}

/// The low `level` bytes.
#[inline]
pub(super) fn mask(level: usize) -> u128 {
    (1 << (8 * level)) - 1
}

/// Date and slot as one number of [`KEY_BYTES`] bytes.
#[derive(Clone, Copy)]
pub(super) struct Key(pub(super) u128);

impl Entry {
    #[inline]
    pub(super) fn key(self) -> Key {
        Key(u128::from(order(self.date_ms)) << 32 | u128::from(self.slot))
    }
}

impl Key {
    #[inline]
    pub(super) fn entry(self) -> Entry {
        Entry { date_ms: (self.date() ^ (1 << 63)) as i64, slot: self.0 as u32 }
    }

    /// The date, as [`order`] has it.
    #[inline]
    pub(super) fn date(self) -> u64 {
        (self.0 >> 32) as u64
    }

    #[inline]
    pub(super) fn digit(self, level: usize) -> u8 {
        (self.0 >> (8 * level)) as u8
    }

    pub(super) fn next(self) -> Option<Key> {
        (self.0 < mask(KEY_BYTES)).then(|| Key(self.0 + 1))
    }

    #[inline]
    pub(super) fn to_raw(self) -> Raw {
        let mut raw = Raw([0; KEY_BYTES]);
        raw.0.copy_from_slice(&self.0.to_le_bytes()[..KEY_BYTES]);
        raw
    }
}

/// A key as it lies in a chunk, lowest byte first; the bytes above the level of its bucket are
/// whatever the next entry has put there.
pub(super) struct Raw(pub(super) [u8; KEY_BYTES]);

impl Raw {
    #[inline]
    pub(super) fn read(bytes: &[u8], at: usize) -> Self {
        let mut raw = Self([0; KEY_BYTES]);
        raw.0.copy_from_slice(&bytes[at..at + KEY_BYTES]);
        raw
    }

    #[inline]
    pub(super) fn digit(&self, level: usize) -> u8 {
        self.0[level]
    }

    #[inline]
    pub(super) fn low(&self, level: usize) -> u128 {
        let mut bytes = [0; 16];
        bytes[..KEY_BYTES].copy_from_slice(&self.0);
        u128::from_le_bytes(bytes) & mask(level)
    }
}
