//! What stands in an sstable, as `sstabledump` prints it?
//!
//! Three forms: a JSON array of partitions, one JSON object a line for each partition (`-l`), and one
//! line of text for each row, bound or partition deletion (`-d`). [`Reader`] reads any of them piece
//! by piece, so that a dump may be larger than memory; [`read`] and [`parse`] keep all of it.
//!
//! What the forms leave out is counted as a [`Loss`]. The text of `-d` is exact in all times, but
//! values stand in it as they are, so that a text with the look of a cell's end is taken for one; the
//! JSON form is exact in all values, but says a cell's ttl only where it differs from its row's.
//! A tool that fails midway closes the JSON that it began (seen in 5.0.6 with a corrupt sstable), so a
//! short dump may look whole: only its errors tell.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};

use super::debug::DebugReader;
use super::json::JsonReader;
use super::looks_like::{self, Wanted};
use crate::fault::Fault;
use crate::source::{self, Source, unreadable};

/// All that a dump holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Dump {
    /// How it is written.
    pub form: Form,
    /// The partitions, in their order (that of their tokens).
    pub partitions: Vec<Partition>,
    /// What is not sure or not known.
    pub notes: Notes,
}

/// How a dump is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One array of partitions.
    Json,
    /// Partitions one after the other, as `-l` has them.
    JsonLines,
    /// Lines of text, as `-d` has them.
    Debug,
}

/// A partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The values of the partition key, as text. The form `-d` joins them, so there it is one; see
    /// [`Partition::key_text`].
    pub key: Vec<String>,
    /// Where it stands in the (uncompressed) data, in bytes.
    pub position: Option<u64>,
    /// Its deletion.
    pub deletion: Option<Deletion>,
    /// The static row, rows and bounds, in their order.
    pub rows: Vec<Unfiltered>,
}

/// A deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// `markedForDeleteAt`: the write timestamp, microseconds since 1970 by convention.
    pub marked_deleted_us: i64,
    /// `localDeletionTime`: seconds since 1970 of the coordinator's clock.
    pub local_delete_time_s: i64,
}

/// What stands in a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfiltered {
    /// The static row.
    Static(Row),
    /// A row.
    Row(Row),
    /// Where a range tombstone begins or ends.
    Bound(Bound),
    /// Where one range tombstone ends and the next begins.
    Boundary(Boundary),
}

/// A row, or the static row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// Where it stands in the (uncompressed) data, in bytes. Of a partition's first row 4.1 prints two
    /// positions, one in JSON and another with `-d`.
    pub position: Option<u64>,
    /// Its clustering; no values for a static row and for a table without clustering columns.
    pub clustering: Clustering,
    /// The liveness of its primary key: what an INSERT sets and an UPDATE does not.
    pub liveness: Option<Liveness>,
    /// Its deletion.
    pub deletion: Option<Deletion>,
    /// May a newer liveness lift the deletion, as in materialized views? JSON does not say.
    pub is_shadowable: Option<bool>,
    /// Its cells, in their order.
    pub cells: Vec<Cell>,
    /// Deletions of whole collections or user-defined types.
    pub complex_deletions: Vec<ComplexDeletion>,
}

/// The liveness of a primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// The write timestamp, microseconds since 1970 by convention.
    pub timestamp_us: i64,
    /// When it ends, if it does.
    pub expiry: Option<Expiry>,
}

/// A time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// As it was written, in seconds. 2147483647 marks an expired liveness of a materialized view.
    pub ttl_s: i64,
    /// The local expiration time, in seconds since 1970.
    pub expires_at_s: i64,
    /// Was it past when the tool ran? `-d` does not say. The tool compares `expires_at < now` for a
    /// row and `expires_at <= now` for a cell, so it is no proof.
    pub expired: Option<bool>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The column, without the quotes of CQL.
    pub name: String,
    /// The element of a collection, or the field of a user-defined type (which `-d` does not say).
    pub path: Option<String>,
    /// The write timestamp, microseconds since 1970 by convention.
    pub timestamp_us: i64,
    /// What it holds.
    pub content: Content,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A value.
    Value(Value, Lifetime),
    /// A tombstone, with its local deletion time in seconds since 1970.
    Deleted {
        /// `localDeletionTime`, in seconds since 1970.
        local_delete_time_s: i64,
    },
}

/// How long a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is overwritten.
    Forever,
    /// Until it expires.
    Until(Expiry),
    /// JSON does not say: either for ever, or with the ttl of its row's liveness. Where the
    /// timestamps are equal too, one statement most likely wrote both, and
    /// [`Row::likely_expiry`] answers its expiry.
    Unsaid,
}

/// A value as the tool prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// JSON, byte for byte.
    Json(String),
    /// Text of `-d`.
    Text(String),
}

/// The clustering values of a row or bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// One by one.
    Values(Vec<Value>),
    /// As `-d` joins them: literals of CQL in rows (4.0 and later), plain text in bounds.
    Joined(String),
}

/// The deletion of a whole collection or user-defined type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComplexDeletion {
    /// The column, without the quotes of CQL.
    pub name: String,
    /// When.
    pub deletion: Deletion,
}

/// Where a range tombstone begins or ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// Where it stands in the (uncompressed) data, in bytes; JSON does not say.
    pub position: Option<u64>,
    /// Which end of the range it is, in clustering order.
    pub side: Side,
    /// Does the range hold what has exactly this clustering?
    pub reach: Reach,
    /// The prefix that is given; none for the very start or end of the partition.
    pub prefix: Clustering,
    /// How many clustering columns are left open, as `*` in JSON; `-d` does not say. A text `*` in
    /// such a place looks the same ([`Loss::Star`]).
    pub open: Option<usize>,
    /// The deletion.
    pub deletion: Deletion,
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where it begins.
    Start,
    /// Where it ends.
    End,
}

/// Does a bound belong to its range?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It does.
    Inclusive,
    /// It does not.
    Exclusive,
}

/// Where one range tombstone ends and the next begins; both have the same prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// The end of the range before.
    pub end: Bound,
    /// The start of the range after.
    pub start: Bound,
}

/// Something that a form cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Whether a cell has its row's ttl or none, and when it expires. Dump again with `-d`.
    Ttl,
    /// The microseconds of an instant before 1677 or after 2262, which is the whole second here.
    /// Dump again with `-t`.
    Microseconds,
    /// Whether an instant is in the first second of 1970 or in the one before; the first is taken.
    /// Dump again with `-t`.
    Sign,
    /// Whether a `*` in a bound is a text or an open column; it is taken for open.
    Star,
    /// The field of a user-defined type. Dump again without `-d`.
    Field,
    /// Where one clustering value ends and the next begins. Dump again without `-d`.
    Comma,
    /// Whether a dump with `-d` is whole: its last line has no end.
    End,
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub times: u64,
    /// The first line, from 1.
    pub first_line: u64,
}

/// What is to be said of a dump as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// What is not sure.
    pub losses: BTreeMap<Loss, Seen>,
    /// Fields that are not known and were not read, such as `partition.something`.
    pub unknown: BTreeMap<String, Seen>,
    /// What 5.0 and later call the table: `REGULAR`, `VIEW`, `INDEX`, …
    pub table_kinds: BTreeSet<String>,
}

/// The next thing in a dump.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A partition begins; its rows follow, so the list in it is empty.
    Partition(Partition),
    /// What stands in the partition that began last.
    Row(Unfiltered),
}

/// Reads a dump of any form, piece by piece.
pub struct Reader {
    inner: Inner,
}

enum Inner {
    Json(Box<JsonReader>),
    Debug(Box<DebugReader>),
}

/// So many unknown names are listed; the rest counts as `…`.
const MOST_NAMES: usize = 1_000;
/// How much is looked at to tell the form.
const HEAD: u64 = 1 << 17;

impl Reader {
    /// Looks at what comes first.
    ///
    /// # Errors
    /// A [`Fault`] where it is not a dump; it says what it looks like.
    pub fn new(source: Source) -> Result<Reader, Fault> {
        let Source { file, is_gzip, mut reader } = source;
        let mut head = Vec::new();
        let read = (&mut reader).take(HEAD).read_to_end(&mut head);
        read.map_err(|error| unreadable(&file, &error))?;
        looks_like::refuse(&file, &head, Wanted::Dump)?;
        let is_debug = looks_like::is_debug(&head);
        let is_lines = looks_like::text(&head).starts_with('{');
        let reader = Box::new(Cursor::new(head).chain(reader));
        let source = Source { file, is_gzip, reader };
        let inner = if is_debug {
            Inner::Debug(Box::new(DebugReader::new(source)))
        } else {
            let form = if is_lines { Form::JsonLines } else { Form::Json };
            Inner::Json(Box::new(JsonReader::new(source, form)))
        };
        Ok(Reader { inner })
    }

    /// How it is written.
    pub fn form(&self) -> Form {
        match &self.inner {
            Inner::Json(reader) => reader.form,
            Inner::Debug(_) => Form::Debug,
        }
    }

    /// The next partition, row or bound; `None` at the end.
    ///
    /// # Errors
    /// A [`Fault`] with line and column; after it there is nothing more to read.
    pub fn next_item(&mut self) -> Result<Option<Item>, Fault> {
        match &mut self.inner {
            Inner::Json(reader) => reader.next_item(),
            Inner::Debug(reader) => reader.next_item(),
        }
    }

    /// What is to be said of what was read up to now.
    pub fn notes(&self) -> &Notes {
        match &self.inner {
            Inner::Json(reader) => &reader.notes,
            Inner::Debug(reader) => &reader.notes,
        }
    }
}

/// Reads all of a dump, packed with gzip or not.
///
/// # Errors
/// A [`Fault`] with its place.
pub fn read(source: Source) -> Result<Dump, Fault> {
    let mut reader = Reader::new(source)?;
    let mut partitions: Vec<Partition> = Vec::new();
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Partition(partition) => partitions.push(partition),
            Item::Row(row) => {
                partitions.last_mut().expect("a row follows its partition").rows.push(row);
            }
        }
    }
    Ok(Dump { form: reader.form(), partitions, notes: reader.notes().clone() })
}

/// Reads a dump that is in memory, packed with gzip or not.
///
/// # Errors
/// A [`Fault`] with its place.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Dump, Fault> {
    read(source::unpack(file, Box::new(Cursor::new(bytes.to_vec())))?)
}

impl Partition {
    /// The key as `-d` and `sstablemetadata` print it: the values joined by `:`.
    pub fn key_text(&self) -> String {
        match &self.key[..] {
            [one] => one.clone(),
            many => {
                let escaped: Vec<_> = many.iter().map(|part| part.replace(':', "\\:")).collect();
                escaped.join(":")
            }
        }
    }
}

impl Row {
    /// When a cell's value expires, as far as it can be told: as it is said, or, where it is not, as
    /// its row does if both were written at one timestamp.
    pub fn likely_expiry(&self, cell: &Cell) -> Option<Expiry> {
        match (&cell.content, self.liveness) {
            (Content::Value(_, Lifetime::Until(expiry)), _) => Some(*expiry),
            (Content::Value(_, Lifetime::Unsaid), Some(liveness))
                if liveness.timestamp_us == cell.timestamp_us =>
            {
                liveness.expiry
            }
            _ => None,
        }
    }
}

impl Value {
    /// The value as plain text: strings of JSON without quotes and escapes, all else as it is.
    pub fn plain(&self) -> String {
        match self {
            Value::Json(json) => serde_json::from_str(json).unwrap_or_else(|_| json.clone()),
            Value::Text(text) => text.clone(),
        }
    }
}

impl Clustering {
    /// No values.
    pub const NONE: Clustering = Clustering::Values(Vec::new());

    /// The values as plain text. Those of `-d` are split at commas, but not inside of quotes.
    pub fn plain(&self) -> Vec<String> {
        match self {
            Clustering::Values(values) => values.iter().map(Value::plain).collect(),
            Clustering::Joined(text) if text.is_empty() => Vec::new(),
            Clustering::Joined(text) => split_literals(text),
        }
    }
}

/// Splits at `, `, where no literal is open that began with a quote.
fn split_literals(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        let quoted = rest.strip_prefix('\'').and_then(|inside| {
            let mut from = 0;
            loop {
                let at = from + inside[from..].find('\'')?;
                match &inside[at + 1..] {
                    after if after.starts_with('\'') => from = at + 2,
                    after if after.is_empty() || after.starts_with(", ") => {
                        return Some((inside[..at].replace("''", "'"), after));
                    }
                    _ => return None,
                }
            }
        });
        let (value, after) = quoted.unwrap_or_else(|| {
            let end = rest.find(", ").unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        });
        values.push(value);
        match after.strip_prefix(", ") {
            Some(next) => rest = next,
            None => return values,
        }
    }
}

impl Notes {
    pub(super) fn lose(&mut self, loss: Loss, line: u64) {
        count(self.losses.entry(loss), line);
    }

    pub(super) fn unknown(&mut self, name: String, line: u64) {
        let is_full = self.unknown.len() >= MOST_NAMES && !self.unknown.contains_key(&name);
        count(self.unknown.entry(if is_full { "…".to_owned() } else { name }), line);
    }
}

fn count<K: Ord>(entry: std::collections::btree_map::Entry<'_, K, Seen>, line: u64) {
    entry.and_modify(|seen| seen.times += 1).or_insert(Seen { times: 1, first_line: line });
}

impl Loss {
    /// What is not sure, and what helps, for people.
    pub fn text(self) -> &'static str {
        match self {
            Loss::Ttl => {
                "JSON does not say whether a value has the ttl of its row or none: dump with `-d`"
            }
            Loss::Microseconds => {
                "the microseconds of an instant past 2262 or before 1677 are not printed: dump with `-t`"
            }
            Loss::Sign => {
                "an instant in the first second of 1970 may be one second earlier: dump with `-t`"
            }
            Loss::Star => "a `*` in a bound may be a text, and is taken for an open column",
            Loss::Field => "the field of a user-defined type is not printed: dump without `-d`",
            Loss::Comma => "clustering values are split at commas: dump without `-d`",
            Loss::End => "the last line has no end, so the dump may be cut off: dump again",
        }
    }
}
