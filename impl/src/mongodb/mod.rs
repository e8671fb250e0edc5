//! MongoDB's TTL indexes, built for speed: raw BSON in flat memory, and nothing asked of the model
//! but its words.

pub mod bytes;
pub mod collection;
pub mod engine;
pub mod filter;
pub mod key_extractor;
pub mod number;
pub mod order;
pub mod slot_table;
pub mod store;
pub mod ttl_index;

mod ahead;
mod arrival;
mod boundary;
mod buckets;
mod change;
mod creation;
mod deployment;
mod filter_parser;
mod ids;
mod journal;
mod lifetimes;
mod member;
mod monitor;
mod oplog;
mod options;
mod parameters;
mod slot_set;
mod turn;
mod visit;

pub use bytes::Malformed;
pub use collection::{Collection, Deleted, Refusal};
pub use engine::MongoEngine;
pub use ttl_index::Kind;
