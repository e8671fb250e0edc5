//! What do the tools of Cassandra say of an sstable?
//!
//! [`sstabledump`] reads the contents (JSON, `-l`, `-d`; instants as ISO 8601 or, with `-t`, as
//! numbers), [`sstablemetadata`] the statistics (the layouts of 2.2 to 5.0, of DSE and of Scylla),
//! [`expired_blockers`] which sstables keep expired ones from being dropped. Nothing here rules on
//! anything: numbers are as the tools print them, what a tool leaves out is a `None` or a
//! [`sstabledump::Loss`], and what is not known is listed. No input makes these panic.

mod bytes;
mod debug;
pub mod expired_blockers;
mod instant;
mod json;
mod looks_like;
mod metadata_lines;
pub mod sstabledump;
pub mod sstablemetadata;
mod stream;

pub use bytes::{sstabledump_parse_bytes, sstablemetadata_parse_bytes};
