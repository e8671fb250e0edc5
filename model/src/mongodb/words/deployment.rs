//! The words for a monitor at work, and for members of a replica set.

use super::{Op, Value};

/// Who is told something, and about which collection. What is left out is the primary, or the first
/// member where there is none, and the collection `test.c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// The member, counted from 0 in the order in which they joined.
    pub member: Option<u8>,
    /// The collection with its database: `local.c`.
    pub collection: Option<String>,
}

impl Place {
    /// The collection of which everything is said that names none.
    pub const COLLECTION: &'static str = "test.c";

    /// This member, and the usual collection.
    pub fn member(member: u8) -> Place {
        Place { member: Some(member), collection: None }
    }

    /// This collection, at the primary.
    pub fn collection(name: &str) -> Place {
        Place { member: None, collection: Some(name.to_owned()) }
    }
}

impl Op {
    /// The operation, said there.
    pub fn at(self, place: Place) -> Op {
        Op::At(place, Box::new(self))
    }
}

/// How long the work of the monitor takes, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Cost {
    /// One visit of an index, whatever it finds.
    pub visit_us: u32,
    /// One deletion.
    pub delete_us: u32,
}

/// One step of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ticked {
    /// The index that is being visited, as `test.c/ttl`; the collection's own seconds are
    /// `test.c/`.
    pub index: Option<String>,
    /// What it did.
    pub did: Did,
    /// What came to its end by that.
    pub ended: Ended,
    /// Where a visit came to its end: may there be more?
    pub more: bool,
}

/// What the monitor does in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Did {
    /// Nothing: it sleeps until the first instant after this one.
    Sleep {
        /// The last instant of its sleep, in milliseconds.
        until_ms: i64,
    },
    /// It woke up, and may not do a pass.
    Stay(Guard),
    /// It began a pass, with so many indexes to visit.
    Begin(u32),
    /// It began a visit and could not use the index: a log line, or an error code.
    Skip(i32),
    /// It began or went on with a visit, and chose these documents.
    Stage(Vec<Value>),
    /// It deleted what it had chosen, but for what had changed.
    Commit {
        /// The `_id`s of the deleted documents, in order.
        deleted: Vec<Value>,
        /// The `_id`s of those that stay.
        kept: Vec<Value>,
    },
    /// It found what it was visiting gone, or not to be visited any more.
    Abandon,
    /// It was interrupted.
    Interrupt,
}

/// What ends with a step. Each of them is the end of those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// Nothing.
    Nothing,
    /// The visit of an index.
    Visit,
    /// A round over the indexes.
    Round,
    /// A sub-pass.
    SubPass,
    /// The pass.
    Pass,
}

impl Ended {
    /// All of them.
    pub const ALL: [Ended; 5] =
        [Ended::Nothing, Ended::Visit, Ended::Round, Ended::SubPass, Ended::Pass];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Ended::Nothing => "nothing",
            Ended::Visit => "visit",
            Ended::Round => "round",
            Ended::SubPass => "sub_pass",
            Ended::Pass => "pass",
        }
    }
}

/// Why a monitor that is awake does no pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// The process has no monitor: it was started alone, with the files of a member.
    NotStarted,
    /// `ttlMonitorEnabled` is false.
    Disabled,
    /// The server is locked by fsyncLock.
    FsyncLocked,
    /// The member is not primary, and the version asks.
    NotPrimary,
    /// The member cannot be read.
    NotReadable,
}

impl Guard {
    /// All of them.
    pub const ALL: [Guard; 5] = [
        Guard::NotStarted,
        Guard::Disabled,
        Guard::FsyncLocked,
        Guard::NotPrimary,
        Guard::NotReadable,
    ];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Guard::NotStarted => "not_started",
            Guard::Disabled => "disabled",
            Guard::FsyncLocked => "fsync_locked",
            Guard::NotPrimary => "not_primary",
            Guard::NotReadable => "not_readable",
        }
    }
}

/// One turn of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Woke {
    /// Why there was no pass, if so; it may also be why the pass ended.
    pub guard: Option<Guard>,
    /// The visits, in order.
    pub visits: Vec<Visited>,
    /// How many sub-passes there were.
    pub sub_passes: u32,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
}

/// One visit of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visited {
    /// The round, counted from 0 over the whole pass.
    pub round: u32,
    /// The index, as `test.c/ttl`.
    pub index: String,
    /// The log line or error code, where it could not be used.
    pub skipped: Option<i32>,
    /// The `_id`s of the deleted documents, batch by batch, each in order.
    pub batches: Vec<Vec<Value>>,
    /// May there be more?
    pub more: bool,
}

impl Visited {
    /// The collection.
    pub fn collection(&self) -> &str {
        self.index.split_once('/').map_or(&self.index, |(collection, _)| collection)
    }
}

impl Woke {
    /// May a monitor do `actual` where this is expected? The order of collections within a round is
    /// nobody's; that of the indexes of a collection is not.
    pub fn admits(&self, actual: &Woke) -> bool {
        fn in_order(woke: &Woke) -> Vec<&Visited> {
            let mut visits: Vec<&Visited> = woke.visits.iter().collect();
            visits.sort_by_key(|visit| (visit.round, visit.collection()));
            visits
        }
        let same = (self.guard, self.sub_passes, self.took_ms)
            == (actual.guard, actual.sub_passes, actual.took_ms);
        same && in_order(self) == in_order(actual)
    }
}

/// What `serverStatus().metrics.ttl` counts since the process started. Servers count in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Counters {
    /// `passes`.
    pub passes: u64,
    /// `subPasses`, where the version has it.
    pub sub_passes: Option<u64>,
    /// `deletedDocuments`.
    pub deleted_documents: u64,
    /// `invalidTTLIndexSkips`, where the version has it.
    pub invalid_skips: Option<u64>,
}

/// An entry of the oplog.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The term of the primary that wrote it.
    pub term: u32,
    /// What it is.
    pub kind: EntryKind,
    /// The collection.
    pub collection: String,
    /// The `_id`s of the documents that it concerns, in order.
    pub ids: Vec<Value>,
}

/// What an entry of the oplog is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// `i`, of one document.
    Insert,
    /// `u`, of one document.
    Update,
    /// `d`, of one document.
    Delete,
    /// `applyOps` of several deletes.
    ApplyOps,
    /// `c`: of the collection or its indexes.
    Command,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [EntryKind; 5] = [
        EntryKind::Insert,
        EntryKind::Update,
        EntryKind::Delete,
        EntryKind::ApplyOps,
        EntryKind::Command,
    ];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            EntryKind::Insert => "insert",
            EntryKind::Update => "update",
            EntryKind::Delete => "delete",
            EntryKind::ApplyOps => "apply_ops",
            EntryKind::Command => "command",
        }
    }
}

/// An event of a change stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// `operationType`: insert, update or delete. Nothing marks a deletion by TTL.
    pub kind: EntryKind,
    /// `documentKey._id`.
    pub id: Value,
}

/// How a member fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Health {
    /// It answers.
    Up,
    /// RECOVERING: it cannot be read.
    Recovering,
    /// Its process has ended with this assertion.
    Down(i32),
    /// It runs alone, with the files of a member.
    Maintenance,
}
