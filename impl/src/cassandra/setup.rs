//! How is a node set up, for good?

use ttlspec_model::Unsupported;
use ttlspec_model::cassandra::words::{Format, Overflow};
use ttlspec_model::cassandra::{Config, Version};

use super::faults::Faults;
use super::place::Clusterings;

/// What does not change.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// The version of the server.
    pub version: Version,
    /// In which format it writes.
    pub format: Format,
    /// What becomes of an expiration that is too late.
    pub overflow: Overflow,
    /// A read that counts more tombstones is given up.
    pub tombstone_failure_threshold: u64,
    /// The order of clusterings.
    pub clusterings: Clusterings,
    /// What is wrong with the server.
    pub faults: Faults,
}

impl Setup {
    /// That of a configuration.
    ///
    /// # Errors
    /// [`Unsupported`] where it switches off what the engine cannot be without.
    pub fn of(config: &Config) -> Result<Setup, Unsupported> {
        Ok(Setup {
            version: config.version,
            format: config.format,
            overflow: config.overflow,
            tombstone_failure_threshold: config.tombstone_failure_threshold,
            clusterings: Clusterings::new(&config.table.clustering),
            faults: Faults::except(&config.without)?,
        })
    }

    /// The second that no drop time is rounded past.
    pub fn last_point(&self) -> Option<i64> {
        self.format.last_histogram_point(self.version)
    }
}
