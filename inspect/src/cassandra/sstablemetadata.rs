//! What does `sstablemetadata` say of an sstable?
//!
//! Read are the layouts of Cassandra 2.2 and 3.x (numbers only), of 4.0, 4.1 and DSE (a number, then a
//! note), and of 5.0 (a date, then the number), with colours (`-c`), bars (`-u`), a scan (`-s`), as a
//! whole or in part, of one sstable or of many; and what Scylla's copy of the tool prints. Dates are
//! in the time zone of the host that ran the tool, so only numbers are taken.
//!
//! Every line is kept: a field as [`Field`], the rest in [`Metadata::unknown`].

use std::io::Read;

use super::looks_like::{self, Wanted};
use super::metadata_lines;
use crate::fault::Fault;
use crate::source::{self, Source, unreadable};

/// What is said of one sstable. What was not printed is `None`, or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// How times are written.
    pub layout: Option<Layout>,
    /// The command, where a prompt was copied too.
    pub command: Option<String>,
    /// The path of the sstable without `-Data.db`.
    pub sstable: Option<String>,
    /// The partitioner.
    pub partitioner: Option<String>,
    /// The chance of a false positive that the bloom filter was made for.
    pub bloom_filter_fp_chance: Option<f64>,
    /// The least write timestamp, microseconds since 1970 by convention; 9223372036854775807 if there
    /// is none.
    pub min_timestamp_us: Option<i64>,
    /// The greatest write timestamp, microseconds since 1970 by convention; -9223372036854775808 if
    /// there is none.
    pub max_timestamp_us: Option<i64>,
    /// The least local deletion time.
    pub min_local_deletion_time: Option<LocalDeletionTime>,
    /// The greatest local deletion time; none as soon as there is anything that does not expire.
    pub max_local_deletion_time: Option<LocalDeletionTime>,
    /// How it is compressed.
    pub compressor: Option<Compressor>,
    /// Compressed size over size.
    pub compression_ratio: Option<f64>,
    /// The least ttl, in seconds; 0 is none.
    pub min_ttl_s: Option<i64>,
    /// The greatest ttl, in seconds; 2147483647 occurs where it was never counted (Scylla, `la`).
    pub max_ttl_s: Option<i64>,
    /// The first token and its key.
    pub first_token: Option<Token>,
    /// The last token and its key.
    pub last_token: Option<Token>,
    /// The least clustering values, as printed (up to 4.1).
    pub min_clustering_values: Option<String>,
    /// The greatest clustering values, as printed (up to 4.1).
    pub max_clustering_values: Option<String>,
    /// The slice that all clusterings are in, as printed (5.0): `ALL`, or bounds and between them
    /// values joined by `:`.
    pub covered_clusterings: Option<String>,
    /// Droppable tombstones over cells, with the gc_grace_seconds that the *tool* was given (`-g`, or
    /// 0), when it ran.
    pub estimated_droppable_tombstones: Option<f64>,
    /// The level.
    pub level: Option<i64>,
    /// Milliseconds since 1970; 0 is unrepaired.
    pub repaired_at_ms: Option<i64>,
    /// The id of the session that is repairing it.
    pub pending_repair: Option<String>,
    /// Is it of a transient replica?
    pub is_transient: Option<bool>,
    /// The host that wrote it.
    pub originating_host_id: Option<String>,
    /// The spans of the commit log that it holds, as printed.
    pub replay_positions: Option<String>,
    /// How many cells.
    pub total_columns: Option<u64>,
    /// How many rows.
    pub total_rows: Option<u64>,
    /// When tombstones can be dropped at the earliest, but for gc_grace_seconds: at seconds since
    /// 1970, rounded up to the minute since 4.0 and merged where there are many.
    pub drop_times: Option<Histogram>,
    /// How large partitions are, in bytes.
    pub partition_sizes: Option<Histogram>,
    /// How many cells partitions have.
    pub column_counts: Option<Histogram>,
    /// The share of the node's tokens that it covers; NaN where it is not known.
    pub local_token_space_coverage: Option<f64>,
    /// About how many partitions.
    pub estimated_cardinality: Option<u64>,
    /// The least ttl that numbers in it are written from, in seconds.
    pub encoding_min_ttl_s: Option<i64>,
    /// The least local deletion time that numbers in it are written from, in seconds since 1970.
    pub encoding_min_local_deletion_time_s: Option<i64>,
    /// The least timestamp that numbers in it are written from, in microseconds.
    pub encoding_min_timestamp_us: Option<i64>,
    /// The type of the partition key.
    pub key_type: Option<String>,
    /// The types of the clustering columns; `ReversedType` is a descending one.
    pub clustering_types: Option<Vec<String>>,
    /// Names and types of the static columns.
    pub static_columns: Option<Vec<(String, String)>>,
    /// Names and types of the other columns.
    pub regular_columns: Option<Vec<(String, String)>>,
    /// What a scan of the data found (`-s`).
    pub scan: Option<Scan>,
    /// All fields, as printed.
    pub fields: Vec<Field>,
    /// Lines that are no field that is known.
    pub unknown: Vec<Unknown>,
}

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `1700000000000000`: 2.2, 3.x and Scylla.
    Number,
    /// `1700000000000000 (11/14/2023 22:13:20)`: 4.0, 4.1 and DSE.
    NumberAndDate,
    /// `11/14/2023 22:13:20 (1700000000000000)`: 5.0.
    DateAndNumber,
}

/// A local deletion time as statistics have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalDeletionTime {
    /// Something lives for ever: 2147483647 up to 4.1, 9223372036854775807 in 5.0.
    NoTombstones,
    /// Seconds since 1970. A negative one has overflowed in 2038.
    At(i64),
}

/// How an sstable is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Not at all.
    None,
    /// By this class.
    Class(String),
}

/// A token and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token, as printed; a number of 64 bits for Murmur3.
    pub token: String,
    /// The key, as printed: values joined by `:`.
    pub key: Option<String>,
}

/// Numbers, and how often each occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// In the order of the numbers.
    pub buckets: Vec<Bucket>,
    /// Names (`50th`, …, `Min`, `Max`) and values. For drop times 4.0 and later print the bucket of
    /// another histogram, which may be years away.
    pub percentiles: Vec<(String, i64)>,
}

/// A number, and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The number.
    pub at: i64,
    /// How often.
    pub count: u64,
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Bytes of data.
    pub size: Option<u64>,
    /// How many partitions.
    pub partitions: Option<u64>,
    /// How many rows, static ones too.
    pub rows: Option<u64>,
    /// How many deletions of partitions, cells, and bounds; rows' deletions are not counted.
    pub tombstones: Option<u64>,
    /// How many cells.
    pub cells: Option<u64>,
    /// Keys and rows of the partitions with most rows.
    pub widest_partitions: Vec<(String, u64)>,
    /// Keys and bytes of the largest partitions.
    pub largest_partitions: Vec<(String, u64)>,
    /// Keys and tombstones of the partitions with most tombstones.
    pub tombstone_leaders: Vec<(String, u64)>,
}

/// A field as printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The line, from 1.
    pub line: u64,
    /// What stands before the colon.
    pub name: String,
    /// What stands after it.
    pub text: String,
}

/// A line that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The line, from 1.
    pub line: u64,
    /// What stands there.
    pub text: String,
}

/// The tool prints some kilobytes an sstable.
const LARGEST: u64 = 64 << 20;

/// Reads what the tool printed, packed with gzip or not: one [`Metadata`] an sstable.
///
/// # Errors
/// A [`Fault`] with line and column; of another tool's output it says what it looks like.
pub fn read(source: Source) -> Result<Vec<Metadata>, Fault> {
    let mut bytes = Vec::new();
    let read = source.reader.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&source.file, &error))?;
    if bytes.len() as u64 > LARGEST {
        let what = format!("expected at most {LARGEST} bytes of text, found more");
        let fix = "give what `sstablemetadata` prints, for fewer sstables at once";
        return Err(Fault::whole(&source.file, what, fix));
    }
    let head = &bytes[..bytes.len().min(1 << 17)];
    looks_like::refuse(&source.file, head, Wanted::Metadata)?;
    metadata_lines::parse(&source.file, &bytes)
}

/// Reads what the tool printed from memory.
///
/// # Errors
/// A [`Fault`] with line and column.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Metadata>, Fault> {
    read(source::unpack(file, Box::new(std::io::Cursor::new(bytes.to_vec())))?)
}

impl Metadata {
    /// The version of the format, such as `nb` or `oa`, from the name of the sstable.
    pub fn version(&self) -> Option<&str> {
        self.name_parts().map(|(version, _)| version)
    }

    /// The format, `big` or `bti`, from the name of the sstable.
    pub fn format(&self) -> Option<&str> {
        self.name_parts().map(|(_, format)| format)
    }

    /// `…/nb-42-big`, or before 3.0 `…/ks-table-ka-42`.
    fn name_parts(&self) -> Option<(&str, &str)> {
        let path = self.sstable.as_deref()?;
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let name = name.strip_suffix("-Data.db").unwrap_or(name);
        let is_version =
            |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_lowercase());
        let parts: Vec<&str> = name.split('-').collect();
        match parts[..] {
            [version, _, format] if is_version(version) => Some((version, format)),
            [.., version, _] if is_version(version) => Some((version, "big")),
            _ => None,
        }
    }

    /// The gc_grace_seconds that the tool was given, where its command was copied too.
    pub fn gc_grace_seconds_of_tool(&self) -> Option<i64> {
        let command = self.command.as_deref()?;
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            let value = match word {
                "-g" | "--gc_grace_seconds" => words.next(),
                _ => word.strip_prefix("--gc_grace_seconds=").or(word.strip_prefix("-g")),
            };
            if let Some(value) = value {
                return value.parse().ok();
            }
        }
        Some(0)
    }

    /// The fields that a ruling on an sstable needs and that were not printed, by their names in the
    /// tool.
    pub fn missing(&self) -> Vec<&'static str> {
        let needed = [
            ("SSTable", self.sstable.is_some()),
            ("Minimum timestamp", self.min_timestamp_us.is_some()),
            ("Maximum timestamp", self.max_timestamp_us.is_some()),
            ("SSTable min local deletion time", self.min_local_deletion_time.is_some()),
            ("SSTable max local deletion time", self.max_local_deletion_time.is_some()),
            ("First token", self.first_token.is_some()),
            ("Last token", self.last_token.is_some()),
            ("Estimated droppable tombstones", self.estimated_droppable_tombstones.is_some()),
            ("Repaired at", self.repaired_at_ms.is_some()),
            ("Estimated tombstone drop times", self.drop_times.is_some()),
        ];
        needed.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
    }
}
