//! Cassandra's TTL and tombstones on one node, built for speed: sorted runs of fixed-width entries
//! in flat memory, merged, reconciled and purged in one pass, and nothing asked of the model but its
//! words.
//!
//! | question | module |
//! |---|---|
//! | How is a node asked in the words of a script? | [`engine`] |
//! | What does a node hold, and how is it set up? | `node`, `setup`, `faults` |
//! | In which order do partitions, and what is in them, stand? | `key`, `place` |
//! | What does one thing in a row take up, and which of two is kept? | `entry`, `deleted` |
//! | How do partitions lie in memory? | `run` |
//! | What do several sources come to? | `combine` |
//! | What may go, and what is kept and counted? | `grace`, `sink`, `statistics` |
//! | What does a statement leave behind, until it is in an sstable? | `statement`, `update`, `memtable` |
//! | What is an sstable, and what do some of them become? | `sstable`, `compaction`, `shadow`, `strategy` |
//! | What is read, and what does CQL show? | `read`, `select`, `view`, `seen` |

pub mod engine;

mod combine;
mod compaction;
mod deleted;
mod entry;
mod faults;
mod grace;
mod key;
mod memtable;
mod node;
mod place;
mod read;
mod run;
mod seen;
mod select;
mod setup;
mod shadow;
mod sink;
mod sstable;
mod statement;
mod statistics;
mod strategy;
mod update;
mod view;

#[cfg(test)]
mod testing;

pub use engine::CassandraEngine;
