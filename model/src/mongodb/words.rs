//! How MongoDB is configured, asked and answered here: the words, none of the rules.
//!
//! One script talks to one collection of one server. Background work is a word too: [`Op::Pass`].

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use bson::{Bson, Document};

use crate::engine::Vocabulary;
use crate::mongodb::version::Version;

/// The name of the system, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MongoDb;

impl Vocabulary for MongoDb {
    type Config = Config;
    type Op = Op;
    type Reply = Reply;
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
    /// `collMod`, without the collection's name: `{ index: { name | keyPattern, … } }`.
    CollMod(Doc),
    /// Inserts one document. It brings its `_id`.
    Insert(Doc),
    /// Puts this document in the place of the one with its `_id`.
    Replace(Doc),
    /// Deletes the document with this `_id`.
    Remove(Value),
    /// One pass of the TTL monitor, undisturbed.
    Pass,
    /// All documents there are, by `_id`, in the order in which they came.
    Find,
    /// `listIndexes`, without the `_id` index.
    ListIndexes,
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
        /// The `_id`s of the deleted documents in the order of deletion.
        deleted: Vec<Value>,
        /// The indexes that it did not use although they have `expireAfterSeconds`.
        skipped: Vec<Skipped>,
    },
    /// The `_id`s of all documents.
    Found(Vec<Value>),
    /// The indexes, in the order in which they were made.
    Indexes(Vec<Listed>),
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
    /// FailedToParse.
    pub const FAILED_TO_PARSE: i32 = 9;
    /// TypeMismatch.
    pub const TYPE_MISMATCH: i32 = 14;
    /// NamespaceNotFound.
    pub const NAMESPACE_NOT_FOUND: i32 = 26;
    /// IndexNotFound.
    pub const INDEX_NOT_FOUND: i32 = 27;
    /// NamespaceExists.
    pub const NAMESPACE_EXISTS: i32 = 48;
    /// CannotCreateIndex.
    pub const CANNOT_CREATE_INDEX: i32 = 67;
    /// InvalidOptions.
    pub const INVALID_OPTIONS: i32 = 72;
    /// IndexOptionsConflict.
    pub const INDEX_OPTIONS_CONFLICT: i32 = 85;
    /// IndexKeySpecsConflict.
    pub const INDEX_KEY_SPECS_CONFLICT: i32 = 86;
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
    /// An unknown field in a command that is parsed strictly.
    pub const UNKNOWN_FIELD: i32 = 40415;
    /// The assertion that ends a server which cannot rebuild an index entry after collMod.
    pub const FATAL_AT_REBUILD: i32 = 28782;
    /// The assertion that ends an initial sync which is told of a NaN.
    pub const FATAL_AT_SYNC: i32 = 40088;
    /// The assertion that ends a server which finds a NaN at startup.
    pub const FATAL_AT_STARTUP: i32 = 6852202;
}

// ---- documents and values that are equal only if they are the same -----------------------------

/// A document. Two are equal if they are the same byte for byte, the order of fields included.
#[derive(Clone, Debug, Default)]
pub struct Doc(pub Document);

/// A value. Two are equal if they are the same byte for byte: NaN equals itself, 1 is not 1.0.
#[derive(Clone, Debug)]
pub struct Value(pub Bson);

impl Deref for Doc {
    type Target = Document;
    fn deref(&self) -> &Document {
        &self.0
    }
}

impl Deref for Value {
    type Target = Bson;
    fn deref(&self) -> &Bson {
        &self.0
    }
}

impl PartialEq for Doc {
    fn eq(&self, other: &Doc) -> bool {
        same_document(&self.0, &other.0)
    }
}
impl Eq for Doc {}
impl Hash for Doc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_document(&self.0, state);
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        same(&self.0, &other.0)
    }
}
impl Eq for Value {}
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_value(&self.0, state);
    }
}

impl<T: Into<Bson>> From<T> for Value {
    fn from(value: T) -> Value {
        Value(value.into())
    }
}

impl From<Document> for Doc {
    fn from(document: Document) -> Doc {
        Doc(document)
    }
}

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

fn same_document(a: &Document, b: &Document) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((m, x), (n, y))| m == n && same(x, y))
}

/// Are these the same bytes?
fn same(a: &Bson, b: &Bson) -> bool {
    match (a, b) {
        (Bson::Double(a), Bson::Double(b)) => a.to_bits() == b.to_bits(),
        (Bson::Document(a), Bson::Document(b)) => same_document(a, b),
        (Bson::Array(a), Bson::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Bson::JavaScriptCodeWithScope(a), Bson::JavaScriptCodeWithScope(b)) => {
            a.code == b.code && same_document(&a.scope, &b.scope)
        }
        (a, b) => a == b,
    }
}

fn hash_document<H: Hasher>(document: &Document, state: &mut H) {
    document.len().hash(state);
    for (name, value) in document {
        name.hash(state);
        hash_value(value, state);
    }
}

/// The crate's own hash leaves out the type and the order of fields; a checker would take many
/// states for one.
fn hash_value<H: Hasher>(value: &Bson, state: &mut H) {
    (value.element_type() as u8).hash(state);
    match value {
        Bson::Double(double) => double.to_bits().hash(state),
        Bson::Document(document) => hash_document(document, state),
        Bson::Array(array) => {
            array.len().hash(state);
            array.iter().for_each(|element| hash_value(element, state));
        }
        other => other.hash(state),
    }
}
