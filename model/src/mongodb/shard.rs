#![doc = include_str!("../../../specs/mongodb/13-shard.md")]
//! ---
//! *Module:* what does a monitor make of what belongs to another shard?

use super::version::Version;
use super::visibility::Collection;
use crate::ruling::Rule;

/// The log line about a visit that met stale metadata.
pub const LOG_STALE: i32 = 6353000;

/// The rule about a document that has expired and belongs to another shard; `None` for one that
/// belongs here.
pub fn orphan(version: Version, collection: &Collection, record: u64) -> Option<Rule> {
    collection.orphans.contains(&record).then(|| {
        if version.orphans_are_left_alone() {
            Rule::MongodbShardOrphans
        } else {
            Rule::MongodbShardOrphansDeleted
        }
    })
}
