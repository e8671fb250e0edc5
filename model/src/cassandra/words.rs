//! The words of Cassandra: how one table on one node is set up, told and answered.
//!
//! All instants inside are whole seconds since 1970, all timestamps signed 64-bit numbers that are
//! microseconds by custom only. Nothing here decides anything.

use std::collections::BTreeMap;

use crate::engine::Vocabulary;
use crate::ruling::Rule;

use super::version::Version;

/// One table on one Cassandra node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cassandra {}

impl Vocabulary for Cassandra {
    type Config = Config;
    type Op = Op;
    type Reply = Reply;
}

// ---- how it is set up --------------------------------------------------------------------------

/// A node with one table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// The version of the server.
    pub version: Version,
    /// In which format it writes sstables.
    pub format: Format,
    /// What it does with an expiration past the last one that it can write.
    pub overflow: Overflow,
    /// The table as it was created.
    pub table: Table,
    /// `tombstone_failure_threshold`: a read that counts more tombstones is given up.
    pub tombstone_failure_threshold: u64,
    /// Rules that are switched off, in the order of the book: the world as it would be without them.
    pub without: Vec<Rule>,
}

/// In which format sstables are written: this decides how far expirations reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// `nb`: signed 32-bit seconds, until 2038-01-19. That of 4.x, and of 5.0 in
    /// `storage_compatibility_mode: CASSANDRA_4`, which is its default.
    Nb,
    /// `oa`: unsigned 32-bit seconds, until 2106-02-07. That of 5.0 in mode `NONE`.
    Oa,
}

/// `cassandra.expiration_date_overflow_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Overflow {
    /// The statement is refused. The default.
    Reject,
    /// The expiration becomes the last one that can be written. `CAP_NOWARN` differs in the log only.
    Cap,
}

/// A table. Its partition key is one `int`, `p`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The clustering columns, each an `int`.
    pub clustering: Vec<Clustering>,
    /// The other columns in the order in which rows keep them: simple before collections, then by
    /// name.
    pub columns: Vec<Column>,
    /// `gc_grace_seconds`: 0 or more.
    pub gc_grace_seconds: i64,
    /// `default_time_to_live` in seconds: 0, which is none, to 630720000.
    pub default_time_to_live: i64,
    /// The options of compaction, `class` among them, as text.
    pub compaction: BTreeMap<String, String>,
    /// The `gc_grace_seconds` of the view `SELECT p, …, v, w … PRIMARY KEY (v, p, …)`, where there
    /// is one.
    pub view: Option<i64>,
}

/// A clustering column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clustering {
    /// Its name.
    pub name: String,
    /// Does the largest value come first?
    pub descending: bool,
}

/// A column that is no part of the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Has a partition one value of it, beside its rows?
    pub is_static: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `int`.
    Int,
    /// `text`.
    Text,
    /// `map<int, int>`.
    Map,
    /// `set<int>`.
    Set,
}

impl Kind {
    /// Is it kept as one cell an element? A frozen collection is not: it is a simple value.
    pub fn is_complex(self) -> bool {
        matches!(self, Kind::Map | Kind::Set)
    }
}

/// A value, as it is written in a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// No value.
    Null,
    /// An `int`.
    Int(i32),
    /// A `text`.
    Text(String),
    /// All elements of a map.
    Map(Vec<(i32, i32)>),
    /// All elements of a set.
    Set(Vec<i32>),
}

impl Table {
    /// The place of a column among those of a row.
    pub fn column(&self, name: &str) -> Option<ColumnId> {
        self.columns.iter().position(|column| column.name == name).map(|at| at as ColumnId)
    }

    /// The column at a place.
    pub fn at(&self, column: ColumnId) -> &Column {
        &self.columns[usize::from(column)]
    }

    /// An option of compaction; the empty text where it is not given.
    pub fn option(&self, name: &str) -> &str {
        self.compaction.get(name).map_or("", String::as_str)
    }

    /// An option of compaction that is a number.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        self.option(name).parse().unwrap_or(default)
    }

    /// What the bytes of a column's cell, or of an element's, stand for.
    pub fn shown(&self, column: ColumnId, bytes: &[u8]) -> Shown {
        match (self.at(column).kind, <[u8; 4]>::try_from(bytes)) {
            (Kind::Text, _) => Shown::Text(String::from_utf8_lossy(bytes).into_owned()),
            (_, Ok(bytes)) => Shown::Int(i32::from_be_bytes(bytes)),
            (_, Err(_)) => Shown::Empty,
        }
    }

    /// The value of a clustering column as it is kept: turned round where the largest comes first,
    /// so that places compare by number.
    pub fn component(&self, at: usize, value: i64) -> i64 {
        if self.clustering[at].descending { -value } else { value }
    }
}

/// The place of a column in [`Table::columns`].
pub type ColumnId = u8;

// ---- what it can be told -----------------------------------------------------------------------

/// What a node can be told to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A statement, or a batch of them.
    Write(Vec<Statement>),
    /// `nodetool flush`.
    Flush,
    /// `nodetool compact --user-defined` of these sstables.
    Compact(Vec<u64>),
    /// `nodetool compact`. Where there are repaired and unrepaired sstables, two tasks run at once;
    /// here one is first.
    Major {
        /// Do the unrepaired ones come first?
        unrepaired_first: bool,
    },
    /// `nodetool garbagecollect -g`.
    GarbageCollect(Shadow),
    /// Tasks of a strategy, one after the other: each takes these sstables. What a task makes is
    /// numbered on at once; only what is left at the end keeps a number.
    Tasks(Vec<Vec<u64>>),
    /// Several operations, one after the other. What is made and gone again on the way has no number.
    /// One that is refused or fails is the last; those before it are done.
    AtOnce(Vec<Op>),
    /// Asks the strategy for tasks until it has none, at most so many.
    Background(u64),
    /// Sets `repairedAt` of one sstable, in milliseconds; 0 is "unrepaired".
    SetRepaired {
        /// Which one.
        sstable: u64,
        /// When it was repaired.
        at_ms: i64,
    },
    /// `ALTER TABLE … WITH gc_grace_seconds = …`; what the flush that it starts makes is waited for.
    AlterGcGrace(i64),
    /// `ALTER TABLE … WITH default_time_to_live = …`.
    AlterDefaultTtl(i64),
    /// `ALTER TABLE … WITH compaction = {…}`: the options, all of them.
    AlterCompaction(BTreeMap<String, String>),
    /// `TRUNCATE`.
    Truncate,
    /// The node is stopped without a flush and started again; its commit log is replayed.
    Restart,
    /// `nodetool snapshot`: keeps a copy of what is in sstables, after a flush.
    Snapshot,
    /// The sstables of the last snapshot are put beside those that are there, and
    /// `nodetool refresh` takes them in.
    Refresh,
    /// What is in each sstable?
    Sstables,
    /// What does each sstable know about itself?
    Stats,
    /// What does the node answer a coordinator that asks for everything?
    Merged,
    /// A `SELECT`.
    Select(Query),
    /// What does the node answer a coordinator that asks for all of the view?
    ViewMerged,
    /// `SELECT v, p, …, w, TTL(w), WRITETIME(w) FROM` the view.
    ViewSelect,
}

/// How much of what is shadowed elsewhere a compaction removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shadow {
    /// Nothing.
    None,
    /// What a deletion of a row, range or partition covers.
    Row,
    /// Cells too, that are overwritten or deleted.
    Cell,
}

/// A statement that writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The partition key.
    pub p: i32,
    /// The values of clustering columns that are given, from the first on.
    pub clustering: Vec<i32>,
    /// `USING TIMESTAMP`: any but the smallest of all. Not given: the clock, in microseconds.
    pub timestamp: Option<i64>,
    /// What is done.
    pub verb: Verb,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `INSERT`.
    Insert(Upsert),
    /// `UPDATE`.
    Update(Upsert),
    /// `DELETE` of columns and of elements of collections.
    DeleteColumns {
        /// The columns.
        columns: Vec<String>,
        /// The elements: of which column, and which.
        elements: Vec<(String, Vec<i32>)>,
    },
    /// `DELETE` of what the key says: a partition, a row, or the rows below a prefix.
    Delete,
    /// `DELETE` of a slice of the clustering column after those that are given.
    DeleteSlice(Slice),
}

/// What INSERT and UPDATE write.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Upsert {
    /// `USING TTL` in seconds. Not given: the default of the table.
    pub ttl: Option<i64>,
    /// Columns that get a value.
    pub set: Vec<(String, Value)>,
    /// Elements of maps that get a value, or none.
    pub put: Vec<(String, Elements)>,
    /// Elements that are added to sets.
    pub add: Vec<(String, Vec<i32>)>,
    /// Elements that are removed from sets.
    pub remove: Vec<(String, Vec<i32>)>,
}

/// Elements of a collection, of a map with their values.
pub type Elements = Vec<(i32, Option<i32>)>;

/// A slice of a clustering column, by its values, whichever way they are ordered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Slice {
    /// The lower bound, and whether it is part of the slice.
    pub from: Option<(i32, bool)>,
    /// The upper bound, and whether it is part of the slice.
    pub to: Option<(i32, bool)>,
}

/// A `SELECT`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Query {
    /// The partitions, each once; `None` is the whole table.
    pub keys: Option<Vec<i32>>,
    /// Values of the clustering columns, from the first on: each list one `=` or `IN`.
    pub clustering: Vec<Vec<i32>>,
    /// A slice of the clustering column after those.
    pub slice: Option<Slice>,
    /// From the end to the beginning?
    pub reversed: bool,
    /// At most so many rows.
    pub limit: Option<u64>,
}

// ---- what it answers ---------------------------------------------------------------------------

/// What a node answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// Done.
    Done,
    /// InvalidRequest: nothing was changed.
    Refused,
    /// The server failed, with the kind of its failure; nothing was changed.
    Failed(Failure),
    /// The sstables that this made and left.
    Made(Vec<u64>),
    /// The sstables with what is in them.
    Sstables(Vec<SstableSeen>),
    /// The statistics of each sstable, by its number.
    Stats(Vec<(u64, StatsSeen)>),
    /// Partitions as they are kept.
    Merged(Vec<PartitionSeen>),
    /// Rows as CQL shows them.
    Rows(Rows),
}

/// How a server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// ConcurrentModificationException.
    ConcurrentModification,
    /// CorruptSSTableException.
    CorruptSstable,
    /// InvalidRequestException, of a write that the server makes to its own tables.
    InvalidRequest,
    /// TombstoneOverwhelmingException: more tombstones than `tombstone_failure_threshold`.
    TombstoneOverwhelming,
}

/// One sstable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SstableSeen {
    /// Its number: they are counted in the order in which they came.
    pub id: u64,
    /// What is in it.
    pub partitions: Vec<PartitionSeen>,
}

/// The statistics of an sstable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatsSeen {
    /// The smallest timestamp of anything, deletions included.
    pub min_timestamp: i64,
    /// The largest timestamp of anything.
    pub max_timestamp: i64,
    /// The smallest local deletion time; `None` where there is none.
    pub min_ldt: Option<i64>,
    /// The largest local deletion time; `None`, which is larger than all, where something lives for
    /// ever.
    pub max_ldt: Option<i64>,
    /// The smallest TTL.
    pub min_ttl: i64,
    /// The largest TTL.
    pub max_ttl: i64,
    /// When it was repaired, in milliseconds; 0 where it was not.
    pub repaired_at: i64,
    /// How many rows it has, static rows included.
    pub rows: u64,
    /// How many columns of rows have a cell.
    pub columns: u64,
    /// The estimated droppable tombstone ratio at the second of the question.
    pub droppable: Ratio,
    /// The drop times: seconds, rounded, and how many.
    pub histogram: Vec<(i64, u64)>,
}

/// A ratio. Two are the same where their bits are.
#[derive(Clone, Copy, Debug)]
pub struct Ratio(pub f64);

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for Ratio {}
impl std::hash::Hash for Ratio {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A deletion: of what was written at or before `ts`; made in the second `ldt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deletion {
    /// markedForDeleteAt.
    pub ts: i64,
    /// localDeletionTime.
    pub ldt: i64,
}

/// A partition as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionSeen {
    /// Its key.
    pub key: i32,
    /// The deletion of the whole.
    pub deletion: Option<Deletion>,
    /// The static row.
    pub statics: Option<RowSeen>,
    /// Rows and the ends of range tombstones, in the order of the table.
    pub items: Vec<ItemSeen>,
}

/// A row, or an end of a range tombstone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ItemSeen {
    /// A row.
    Row(RowSeen),
    /// A bound, or a boundary between two ranges.
    Marker(MarkerSeen),
}

/// Where a range tombstone begins or ends, or one goes over into another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkerSeen {
    /// The values of the clustering columns.
    pub prefix: Vec<i64>,
    /// Does it stand after all rows with this prefix, or before?
    pub is_after: bool,
    /// What ends here.
    pub close: Option<Deletion>,
    /// What begins here.
    pub open: Option<Deletion>,
}

/// A row as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowSeen {
    /// The clustering columns with their values; none for a static row.
    pub clustering: Vec<(String, i64)>,
    /// The primary key liveness.
    pub liveness: Option<LivenessSeen>,
    /// The row deletion.
    pub deletion: Option<Deletion>,
    /// Cells and deletions of collections, in order.
    pub cells: Vec<CellSeen>,
}

/// A primary key liveness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LivenessSeen {
    /// The write timestamp.
    pub ts: i64,
    /// TTL and local expiration, where it expires.
    pub expires: Option<(i64, i64)>,
}

/// A cell, or the deletion of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CellSeen {
    /// The deletion of a collection.
    Complex(String, Deletion),
    /// A cell.
    Cell {
        /// The column.
        column: String,
        /// The element of a collection.
        path: Option<i32>,
        /// The write timestamp.
        ts: i64,
        /// The TTL; 0 is none.
        ttl: i64,
        /// The local deletion time or expiration.
        ldt: Option<i64>,
        /// The value.
        value: Shown,
    },
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// None: the cell is a tombstone.
    Tombstone,
    /// Of no bytes, as that of an element of a set is.
    Empty,
    /// An `int`.
    Int(i32),
    /// A `text`.
    Text(String),
}

/// What CQL shows, and what the server counts on the way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<CqlRow>,
    /// How many live rows were counted.
    pub live: u64,
    /// How many tombstones were counted.
    pub tombstones: u64,
}

/// A row as CQL shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CqlRow {
    /// The columns of the key; of a row that is only static, the partition key alone.
    pub key: Vec<(String, i64)>,
    /// The simple columns, static ones included, that have a value.
    pub simple: Vec<(String, SimpleShown)>,
    /// The collections that are not null: elements, of a map with their values, in order.
    pub collections: Vec<(String, Elements)>,
}

/// The value of a simple column as CQL shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SimpleShown {
    /// The value.
    pub value: Shown,
    /// `TTL()`: the seconds that are left.
    pub ttl: Option<i64>,
    /// `WRITETIME()`.
    pub ts: i64,
}
