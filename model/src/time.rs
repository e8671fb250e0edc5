//! What instants are, and what arithmetic on them does at its ends.

use std::fmt;

/// An instant: milliseconds since 1970-01-01T00:00:00Z, negative before it.
///
/// The whole range of `i64` is legal. Arithmetic saturates: the end of time is the end of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// The smallest instant that a date can hold.
    pub const MIN: Millis = Millis(i64::MIN);
    /// The largest instant that a date can hold.
    pub const MAX: Millis = Millis(i64::MAX);

    /// The instant `millis` later, or the end of time on either side.
    pub fn plus_millis(self, millis: i64) -> Millis {
        Millis(self.0.saturating_add(millis))
    }

    /// The instant `millis` earlier, or the end of time on either side.
    pub fn minus_millis(self, millis: i64) -> Millis {
        Millis(self.0.saturating_sub(millis))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// `seconds` as milliseconds; `None` where they do not fit, which is where the server throws
/// DurationOverflow.
pub fn seconds_as_millis(seconds: i64) -> Option<i64> {
    seconds.checked_mul(1_000)
}
