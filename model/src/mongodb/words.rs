//! How MongoDB is configured, asked and answered here: the words, none of the rules.
//!
//! A script begins with one server on which there is nothing. What is said without more is said to
//! the primary, of one collection; [`Op::At`] says it to another member, or of another collection.
//! Background work is a word too: [`Op::Pass`] is one undisturbed pass, [`Op::Wake`] a whole turn of
//! the monitor, and [`Op::Tick`] one step of it.

use crate::engine::Vocabulary;
use crate::mongodb::version::Version;

mod bytes;
mod deployment;

pub use bytes::{Doc, Value};
pub use deployment::{
    Cost, Counters, Did, Ended, Entry, EntryKind, Event, Guard, Health, Place, Ticked, Visited,
    Woke,
};

/// The name of the system, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MongoDb;

impl Vocabulary for MongoDb {
    type Config = Config;
    type Op = Op;
    type Reply = Reply;

    /// Replies are equal, but that the collections of a round may be visited in any order.
    fn admits(expected: &Reply, actual: &Reply) -> bool {
        match (expected, actual) {
            (Reply::Woke(expected), Reply::Woke(actual)) => expected.admits(actual),
            (expected, actual) => expected == actual,
        }
    }
}

/// How the server is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// What it runs.
    pub version: Version,
}

/// What the server can be told to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `create`: makes the collection. Inserting or creating an index makes a plain one.
    CreateCollection(CollectionOptions),
    /// `createIndexes` with one specification, as the user gives it:
    /// `{ key, name, expireAfterSeconds, partialFilterExpression, … }`.
    CreateIndex(Doc),
    /// An index comes into the catalog by another way than by createIndexes here.
    Arrive {
        /// The specification as it was stored, or listed, where it comes from.
        index: Doc,
        /// The way it comes.
        via: Via,
        /// The version that it comes from.
        from: Version,
    },
    /// `dropIndexes` of the index with this name.
    DropIndex(String),
    /// `collMod`, without the collection's name: `{ index: { name | keyPattern, … } }`, or of the
    /// collection itself: `{ expireAfterSeconds: 60 | "off" }`, `{ timeseries: { granularity } }`.
    CollMod(Doc),
    /// Inserts one document. It brings its `_id`.
    Insert(Doc),
    /// Puts this document in the place of the one with its `_id`.
    Replace(Doc),
    /// Deletes the document with this `_id`.
    Remove(Value),
    /// One pass of the TTL monitor over this collection, undisturbed and in an instant. It asks
    /// neither whether it is time nor whether the monitor may run.
    Pass,
    /// All documents there are, by `_id`, in the order in which they came.
    Find,
    /// `listIndexes`, without the `_id` index.
    ListIndexes,
    /// Drops the collection.
    DropCollection,
    /// `renameCollection`: gives the collection this name; what has it is dropped.
    RenameCollection(String),
    /// Begins to build an index, as createIndexes does; until [`Op::FinishBuild`] it is not ready.
    StartBuild(Doc),
    /// The build of the index with this name is finished.
    FinishBuild(String),
    /// A chunk moves away, and leaves the document with this `_id` behind as an orphan.
    Orphan(Value),
    /// What this shard knows of the collection is out of date, until a visit has met it.
    StaleShardVersion,

    /// The operation, said to another member or of another collection.
    At(Place, Box<Op>),
    /// The monitor of this member does its next step. The time between two steps is the time that
    /// the first of them took.
    Tick,
    /// The monitor wakes up, does a pass to its end if it may, and goes to sleep. Its work takes
    /// time, by which the clock goes on from the instant of this operation.
    Wake(Cost),
    /// `killOp` of what the monitor is doing.
    Kill,
    /// `setParameter`.
    SetParameter {
        /// The name: `ttlMonitorSleepSecs`.
        name: String,
        /// The value.
        value: Value,
    },
    /// `fsyncLock` (`true`) or `fsyncUnlock`.
    FsyncLock(bool),
    /// `setUserWriteBlockMode`, for all databases of users.
    BlockUserWrites(bool),
    /// `serverStatus().metrics.ttl`.
    Counters,

    /// A new member joins the replica set by initial sync from the primary. A server alone becomes
    /// the primary of a set of two.
    Join(Version),
    /// The member takes over so many further entries of the primary's oplog, after it has rolled
    /// back what the primary does not have.
    Apply(u32),
    /// The primary steps down; there is none until somebody steps up.
    StepDown,
    /// The member is elected. Who may win an election is the script's affair.
    StepUp,
    /// The member becomes RECOVERING (`true`), or a secondary again.
    Recovering(bool),
    /// The process ends and starts again, with these binaries and the files that are there.
    Restart {
        /// What it runs then.
        version: Version,
        /// Alone and not as a member, although the files say that it is one.
        maintenance: bool,
    },
    /// `setFeatureCompatibilityVersion`, as major and minor number.
    SetFcv(u16, u16),
    /// The entries of the primary's oplog which not all members have yet.
    Oplog,
    /// What a change stream over the collection tells of these entries.
    Events,
}

/// What `create` is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CollectionOptions {
    /// An ordinary collection.
    Plain,
    /// A capped collection, large enough never to overflow here.
    Capped,
    /// A view. It holds no documents of its own.
    View,
    /// An ordinary collection with `expireAfterSeconds`, which only other kinds may have.
    WithSeconds(Value),
    /// A collection with these options, as the user gives them: `{ clusteredIndex: { key, unique,
    /// name }, timeseries: { timeField, metaField, granularity, … }, expireAfterSeconds, capped,
    /// size, max }`. A document that is inserted into a time-series collection is a measurement.
    With(Doc),
}

/// The way in which an index, or a whole data set, came to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// Made there by createIndexes.
    Created,
    /// The binaries were replaced by newer ones; the catalog stayed.
    Upgraded,
    /// The binaries were replaced by older ones; the catalog stayed.
    Downgraded,
    /// The member joined by initial sync, and was told the indexes by its source.
    Synced,
    /// mongorestore made the index from a dump.
    Restored,
}

impl Via {
    /// All ways.
    pub const ALL: [Via; 5] =
        [Via::Created, Via::Upgraded, Via::Downgraded, Via::Synced, Via::Restored];

    /// The word for it: `restored`.
    pub const fn name(self) -> &'static str {
        match self {
            Via::Created => "created",
            Via::Upgraded => "upgraded",
            Via::Downgraded => "downgraded",
            Via::Synced => "synced",
            Via::Restored => "restored",
        }
    }
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Done, or nothing to do.
    Ok,
    /// Refused with this error code.
    Error(i32),
    /// The process ended with this assertion. It stands again when the next operation comes, with
    /// what was there before.
    Fatal(i32),
    /// How many documents had the `_id` (0 or 1).
    Matched(u64),
    /// collMod's answer. `None`: the field is absent.
    Modified {
        /// `expireAfterSeconds_old`.
        old: Option<i64>,
        /// `expireAfterSeconds_new`.
        new: Option<i64>,
    },
    /// What a pass did.
    Passed {
        /// The `_id`s of the deleted documents in the order of deletion. Of a time-series collection
        /// these are buckets, each as `{ min, meta }`: the time in its `_id` and the value that its
        /// measurements share, if they have one; what would be the same otherwise has a number `n`.
        deleted: Vec<Value>,
        /// The indexes that it did not use although they have `expireAfterSeconds`.
        skipped: Vec<Skipped>,
    },
    /// The `_id`s of all documents.
    Found(Vec<Value>),
    /// The indexes, in the order in which they were made.
    Indexes(Vec<Listed>),
    /// What the monitor did in a step.
    Ticked(Ticked),
    /// What the monitor did in a turn.
    Woke(Woke),
    /// What is counted.
    Counters(Counters),
    /// What a member took over.
    Applied {
        /// How many entries.
        entries: u32,
        /// How many of its own it rolled back before.
        rolled_back: u32,
    },
    /// Entries of the oplog, oldest first.
    Entries(Vec<Entry>),
    /// Events of a change stream, oldest first.
    Events(Vec<Event>),
}

/// An index that a pass could not use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Skipped {
    /// Its name.
    pub index: String,
    /// The id of the log line (22540, 22541, 22542, 6909100), or the error code 159
    /// (DurationOverflow) that the visit failed with.
    pub code: i32,
}

/// An index as listIndexes shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// `expireAfterSeconds`, if there.
    pub seconds: Option<Value>,
}

/// Error codes, with the server's names.
pub mod code {
    /// BadValue.
    pub const BAD_VALUE: i32 = 2;
    /// HostUnreachable.
    pub const HOST_UNREACHABLE: i32 = 6;
    /// FailedToParse.
    pub const FAILED_TO_PARSE: i32 = 9;
    /// TypeMismatch.
    pub const TYPE_MISMATCH: i32 = 14;
    /// IllegalOperation.
    pub const ILLEGAL_OPERATION: i32 = 20;
    /// NamespaceNotFound.
    pub const NAMESPACE_NOT_FOUND: i32 = 26;
    /// IndexNotFound.
    pub const INDEX_NOT_FOUND: i32 = 27;
    /// NamespaceExists.
    pub const NAMESPACE_EXISTS: i32 = 48;
    /// CommandNotFound.
    pub const COMMAND_NOT_FOUND: i32 = 59;
    /// CannotCreateIndex.
    pub const CANNOT_CREATE_INDEX: i32 = 67;
    /// InvalidOptions.
    pub const INVALID_OPTIONS: i32 = 72;
    /// IndexOptionsConflict.
    pub const INDEX_OPTIONS_CONFLICT: i32 = 85;
    /// IndexKeySpecsConflict.
    pub const INDEX_KEY_SPECS_CONFLICT: i32 = 86;
    /// BackgroundOperationInProgressForNamespace.
    pub const BACKGROUND_OPERATION: i32 = 12587;
    /// NotPrimaryOrSecondary.
    pub const NOT_PRIMARY_OR_SECONDARY: i32 = 13436;
    /// NotWritablePrimary.
    pub const NOT_WRITABLE_PRIMARY: i32 = 10107;
    /// NotSecondary.
    pub const NOT_SECONDARY: i32 = 95;
    /// CannotDowngrade.
    pub const CANNOT_DOWNGRADE: i32 = 332;
    /// UserWritesBlocked.
    pub const USER_WRITES_BLOCKED: i32 = 371;
    /// DurationOverflow.
    pub const DURATION_OVERFLOW: i32 = 159;
    /// CommandNotSupportedOnView.
    pub const NOT_SUPPORTED_ON_VIEW: i32 = 166;
    /// AmbiguousIndexKeyPattern.
    pub const AMBIGUOUS_KEY_PATTERN: i32 = 181;
    /// InvalidIndexSpecificationOption.
    pub const INVALID_INDEX_OPTION: i32 = 197;
    /// QueryFeatureNotAllowed.
    pub const QUERY_FEATURE_NOT_ALLOWED: i32 = 224;
    /// DuplicateKey.
    pub const DUPLICATE_KEY: i32 = 11000;
    /// An index path that is a position of an array and a field of its elements at once.
    pub const AMBIGUOUS_FIELD_IN_ARRAY: i32 = 16746;
    /// A field that a command must have is missing.
    pub const MISSING_FIELD: i32 = 40414;
    /// A number in a command lies outside its range.
    pub const OUT_OF_RANGE: i32 = 51024;
    /// `bucketMaxSpanSeconds` is not that of the granularity, where it has to be.
    pub const SPAN_IS_FIXED: i32 = 5_510_500;
    /// A cluster key that is not unique.
    pub const CLUSTERED_UNIQUE: i32 = 5_979_700;
    /// `clusteredIndex: true`, which only collections of the server's own may say.
    pub const CLUSTERED_LEGACY: i32 = 5_979_703;
    /// The cluster key cannot be dropped.
    pub const CLUSTERED_DROP: i32 = 5_979_800;
    /// The cluster key cannot be hidden.
    pub const CLUSTERED_HIDDEN: i32 = 6_011_800;
    /// A clustered collection with `size`.
    pub const CLUSTERED_SIZE: i32 = 6_049_200;
    /// A capped clustered collection without `expireAfterSeconds`.
    pub const CLUSTERED_CAPPED: i32 = 6_049_201;
    /// A TTL index on a capped clustered collection.
    pub const CLUSTERED_CAPPED_TTL: i32 = 6_049_202;
    /// A clustered collection with `max`.
    pub const CLUSTERED_MAX: i32 = 6_049_204;
    /// An unknown field in a command that is parsed strictly.
    pub const UNKNOWN_FIELD: i32 = 40415;
    /// The assertion that ends a server which cannot rebuild an index entry after collMod.
    pub const FATAL_AT_REBUILD: i32 = 28782;
    /// The assertion that ends an initial sync which is told of a NaN.
    pub const FATAL_AT_SYNC: i32 = 40088;
    /// The assertion that ends a member which is told by the oplog to make an index with NaN.
    pub const FATAL_AT_APPLY: i32 = 34437;
    /// The assertion that ends a server which finds a NaN at startup.
    pub const FATAL_AT_STARTUP: i32 = 6852202;
}
