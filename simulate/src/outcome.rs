//! What came of it?

use ttlspec_model::mongodb::{Counters, Version};

use crate::ages::Ages;

/// All that was found in playing a script.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Outcome {
    /// When it began and ended.
    pub span_ms: (i64, i64),
    /// Each TTL index.
    pub indexes: Vec<OfIndex>,
    /// Each collection that is cut by time.
    pub partitions: Vec<OfPartition>,
    /// Documents that were there before the start.
    pub there: u64,
    /// Documents that came.
    pub inserted: u64,
    /// Documents that were refused, as there was no primary.
    pub refused: u64,
    /// Passes, with those that go on.
    pub passes: Passes,
    /// The first passes, each.
    pub listed: Vec<Pass>,
    /// What members had counted, where they were restarted and in the end.
    pub counters: Vec<Counted>,
    /// The oplog, if there is one.
    pub oplog: Option<Oplog>,
    /// The secondary, if its rate is known.
    pub lag: Option<OfLag>,
    /// Stretches of time of equal length.
    pub columns: Vec<Column>,
    /// How long each is.
    pub column_ms: i64,
    /// What was done, and when.
    pub marks: Vec<(i64, String)>,
}

/// What became of the documents of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct OfIndex {
    /// The collection.
    pub collection: String,
    /// The index.
    pub index: String,
    /// How long dates live by it at the end; `None` if it is not there or cannot be used.
    pub lifetime_ms: Option<i64>,
    /// How many documents were deleted by it.
    pub deleted: u64,
    /// How many are expired and still there at the end.
    pub left: u64,
    /// How many of those that it holds are there at the end and not expired.
    pub not_due: u64,
    /// The most that were expired and there at any look.
    pub peak: u64,
    /// How long after their time they were deleted.
    pub ages: Ages,
}

impl OfIndex {
    /// `app.sessions/createdAt_1`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.collection, self.index)
    }
}

/// What became of a collection that is cut by time.
#[derive(Clone, Debug, PartialEq)]
pub struct OfPartition {
    /// The collection.
    pub collection: String,
    /// How many parts were dropped.
    pub parts: u64,
    /// With how many documents.
    pub documents: u64,
    /// How many documents are there at the end.
    pub there: u64,
    /// How long after their time they went.
    pub ages: Ages,
}

/// All passes of primaries together.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Passes {
    /// How many began.
    pub many: u64,
    /// How many sub-passes they had.
    pub sub_passes: u64,
    /// How many visits.
    pub visits: u64,
    /// How many documents they deleted.
    pub deleted: u64,
    /// The most that one deleted.
    pub most: u64,
    /// The longest, in milliseconds.
    pub longest_ms: i64,
    /// When the one began that goes on at the end.
    pub going_on_since: Option<i64>,
}

/// A pass of a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The member.
    pub member: usize,
    /// When it began.
    pub began_ms: i64,
    /// When it ended.
    pub ended_ms: i64,
    /// How many sub-passes.
    pub sub_passes: u64,
    /// How many visits.
    pub visits: u64,
    /// How many documents were deleted.
    pub deleted: u64,
    /// Was it interrupted?
    pub is_interrupted: bool,
}

/// What a member had counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// When.
    pub at_ms: i64,
    /// Which.
    pub member: usize,
    /// What it ran.
    pub version: Version,
    /// As `serverStatus().metrics.ttl` shows it.
    pub counters: Counters,
}

/// What stands in the oplog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Oplog {
    /// Entries for documents that came.
    pub inserts: u64,
    /// Entries for deletions by TTL.
    pub deletes: u64,
    /// Entries for parts that were dropped.
    pub drops: u64,
    /// Bytes of the first; `None` where the size of documents is not known.
    pub insert_bytes: Option<u128>,
    /// Bytes of the second.
    pub delete_bytes: u128,
    /// Bytes of the third.
    pub drop_bytes: u128,
    /// How many bytes it holds, if that is known.
    pub holds: Option<u64>,
    /// The most bytes of deletions in one of the columns.
    pub busiest: u128,
}

/// How far a secondary was behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfLag {
    /// The rate at which it applies.
    pub per_second: u64,
    /// The longest time it had to catch up.
    pub peak_ms: i64,
    /// When that was.
    pub at_ms: i64,
    /// The same at the end.
    pub end_ms: i64,
}

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Column {
    /// When it begins.
    pub from_ms: i64,
    /// How many documents came in it.
    pub inserted: u64,
    /// How many were deleted by TTL.
    pub deleted: u64,
    /// How many were dropped with their part.
    pub dropped: u64,
    /// How many passes ended.
    pub passes: u64,
    /// The most that a pass had deleted when it ended here, or at the end of the stretch.
    pub most: u64,
    /// Entries of the oplog for deletions.
    pub entries: u64,
    /// Bytes of them.
    pub bytes: u128,
    /// The longest that the secondary was behind.
    pub lag_ms: i64,
    /// For each index, the fewest and the most documents that were expired and there at a look; in
    /// a stretch without a look, what was seen last.
    pub backlog: Vec<(u64, u64)>,
}
