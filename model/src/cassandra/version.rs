//! Which server is it, and what can it do?
//!
//! A rule asks for a capability by name; the numbers stand here and nowhere else. Each answer names
//! the change that made it so, where one is known.

use std::fmt;

use super::words::Format;

/// A server version, as three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number: 5 of 5.0.6.
    pub major: u16,
    /// The second number: 0 of 5.0.6.
    pub minor: u16,
    /// The third number: 6 of 5.0.6.
    pub patch: u16,
}

/// Why a string is no server version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadVersion(String);

impl fmt::Display for BadVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected a version of Cassandra from 4.1 on, such as `5.0.6`, found `{}`",
            self.0
        )
    }
}

impl std::error::Error for BadVersion {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// A version from its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Version {
        Version { major, minor, patch }
    }

    /// Reads `5.0.6`, `5.0` or `4.1.10-SNAPSHOT`.
    ///
    /// # Errors
    /// [`BadVersion`] where the string does not begin with numbers, or names a version before 4.1,
    /// which nobody has recorded.
    pub fn parse(text: &str) -> Result<Version, BadVersion> {
        let bad = || BadVersion(text.to_owned());
        let bare = text.trim();
        let end = bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
        let (numbers, suffix) = bare.split_at(end);
        if !suffix.is_empty() && !suffix.starts_with(['-', '+', '~']) {
            return Err(bad());
        }
        let mut parts = numbers.split('.').map(str::parse::<u16>);
        let major = parts.next().and_then(Result::ok).ok_or_else(bad)?;
        let minor = parts.next().unwrap_or(Ok(0)).map_err(|_| bad())?;
        let patch = parts.next().unwrap_or(Ok(0)).map_err(|_| bad())?;
        let version = Version::new(major, minor, patch);
        if parts.next().is_some() || version < Version::new(4, 1, 0) {
            return Err(bad());
        }
        Ok(version)
    }

    /// Is "no deletion time" wider than 32 bits? Then an expiration is held against the last one
    /// that the format can write; before, only against 32 bits (CASSANDRA-14227: 5.0).
    pub fn has_wide_deletion_time(self) -> bool {
        self.major >= 5
    }

    /// Does a read leave out sstables whose clusterings do not meet its slice? (5.0)
    pub fn skips_by_covered_clustering(self) -> bool {
        self.major >= 5
    }

    /// Does an empty collection survive in a file, beside the deletion of another one? (5.0)
    pub fn writes_empty_collections(self) -> bool {
        self.major >= 5
    }

    /// Is there UnifiedCompactionStrategy? (CASSANDRA-18397: 5.0)
    pub fn has_unified_compaction(self) -> bool {
        self.major >= 5
    }
}

impl Format {
    /// The last expiration that can be written, in seconds.
    pub const fn last_expiration(self) -> i64 {
        match self {
            Format::Nb => 2_147_483_646,
            Format::Oa => 4_294_967_293,
        }
    }

    /// The second that no point of a drop time histogram is rounded past, where there is one.
    pub fn last_histogram_point(self, version: Version) -> Option<i64> {
        (self == Format::Oa || version.major < 5).then_some(self.last_expiration())
    }
}
