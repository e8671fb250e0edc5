//! What is to be played, and can it be?
//!
//! The form is in `docs/simulate.md`. What cannot be is said with its line and the reason before
//! anything is played.

mod acts;
mod collection;
pub(crate) mod near;
mod raw;
mod reader;
mod slip;
mod whole;

use bson::Bson;
use ttlspec_model::mongodb::{Cost, Value, Version};

use crate::arrival::{Jitter, Shape};
use crate::fault::{Fault, Place};
use reader::Reader;

/// A script that can be played, as far as it can be told without playing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The file, as it was named.
    pub file: String,
    /// What all servers run at the start.
    pub version: Version,
    /// What there is to say about the version.
    pub notes: Vec<String>,
    /// When it begins; milliseconds since 1970, as all instants here.
    pub start_ms: i64,
    /// What happens then or later is not played.
    pub end_ms: i64,
    /// How many servers; one alone is no replica set.
    pub members: usize,
    /// Parameters that each server is started with.
    pub parameters: Vec<Setting>,
    /// What the work of the monitor costs.
    pub cost: Cost,
    /// How many single operations a secondary applies in a second.
    pub apply_per_second: Option<u64>,
    /// How large the oplog is.
    pub oplog_bytes: Option<u64>,
    /// The collections, in the order in which they are made.
    pub collections: Vec<Collection>,
    /// What is done, in the order of time.
    pub acts: Vec<Act>,
}

/// A collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    /// Its name, with the database.
    pub name: String,
    /// How large its documents are.
    pub document_bytes: Option<u32>,
    /// How it is cut by time, where it is.
    pub partition: Option<Partition>,
    /// The indexes that it ever has.
    pub indexes: Vec<Index>,
    /// How its documents come.
    pub streams: Vec<Stream>,
}

/// A collection of which a whole part is dropped when all of it is old enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// What a part spans.
    pub every_ms: i64,
    /// How old the youngest date of a part must be.
    pub keep_ms: i64,
}

/// A TTL index.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Which documents it holds: from this part to before that one of all [`PARTS`](crate::arrival::PARTS).
    pub share: (u32, u32),
    /// `expireAfterSeconds`, if it is there from the start.
    pub seconds: Option<Bson>,
    /// The line that speaks of it first.
    pub line: usize,
    /// The line of `expireAfterSeconds`, if it is there from the start.
    pub seconds_line: usize,
}

/// A stream of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// How they come.
    pub shape: Shape,
    /// What is added to their dates.
    pub jitter: Option<Jitter>,
    /// Were they there before the start, so that no oplog tells of them?
    pub is_there: bool,
    /// The line that says so.
    pub line: usize,
}

/// A parameter with its value, and the line that sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The line.
    pub line: usize,
}

/// Something that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// When.
    pub at_ms: i64,
    /// What.
    pub what: What,
    /// The line that says so.
    pub line: usize,
    /// The line of the value that a server may refuse.
    pub value_line: usize,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Parameters of all servers are set.
    Set(Vec<Setting>),
    /// The primary steps down.
    StepDown,
    /// A member is elected.
    StepUp {
        /// Which.
        member: usize,
        /// How much its clock is ahead.
        clock_ms: i64,
    },
    /// All servers are restarted with these binaries.
    Restart(Version),
    /// collMod of an index, by the places of collection and index.
    CollMod {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
        /// The new `expireAfterSeconds`.
        seconds: Bson,
    },
    /// An index is made.
    CreateIndex {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
        /// Its `expireAfterSeconds`.
        seconds: Bson,
    },
    /// An index is dropped.
    DropIndex {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
    },
}

impl Script {
    /// A fault at a line of it.
    pub fn fault(&self, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Fault {
        let (what, fix) = (what.into(), fix.into());
        Fault { file: self.file.clone(), place: Place(Some(line)), what, fix }
    }

    /// How many documents come in all.
    pub fn documents(&self) -> u128 {
        let streams = self.collections.iter().flat_map(|collection| &collection.streams);
        streams.map(|stream| u128::from(stream.shape.documents())).sum()
    }
}

/// More documents than these are refused.
pub const MOST_DOCUMENTS: u128 = 100_000_000_000;
/// A larger script is refused, in bytes.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a script. `until` stands in the place of the script's own, if given.
///
/// # Errors
/// [`Fault`] with the line, what is wrong, and what helps.
pub fn read(file: &str, text: &str, until: Option<&str>) -> Result<Script, Fault> {
    let reader = Reader { file, text, until };
    if text.len() as u64 > MOST_BYTES {
        return Err(Fault {
            file: file.to_owned(),
            place: Place(None),
            what: format!("expected a script of {MOST_BYTES} bytes at most, found more"),
            fix: "give a script, or leave out what does not matter".to_owned(),
        });
    }
    if text.trim().is_empty() {
        return Err(Fault {
            file: file.to_owned(),
            place: Place(None),
            what: "expected a script, found an empty file".to_owned(),
            fix: "begin with `version = \"7.0.14\"` and `until = \"1d\"`; docs/simulate.md has \
                  examples"
                .to_owned(),
        });
    }
    let raw = raw::read(text).map_err(|(what, span, fix)| {
        let place = Place(span.map(|span| reader.line(span.start)));
        Fault { file: file.to_owned(), place, what, fix }
    })?;
    reader.script(raw)
}
