//! What the tools of Cassandra and Scylla print is read: every sample, with exact values, in all
//! forms alike, and bad input is refused with place and fix. Where the samples are from is told in
//! `tests/cassandra/README.md`.

#[path = "cassandra/bad_input.rs"]
mod bad_input;
#[path = "cassandra/dump.rs"]
mod dump;
#[path = "cassandra/metadata.rs"]
mod metadata;
#[path = "cassandra/support.rs"]
mod support;
