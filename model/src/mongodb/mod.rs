//! MongoDB: TTL indexes, by server version.
//!
//! Each chapter of the book is the documentation of the module that decides by it:
//!
//! | chapter | question |
//! |---|---|
//! | [`life`] | what does one index make of one document? |
//! | [`index`] | may this index be made, and what is then stored? |
//! | [`date`] | which dates does an index see, and which of them decides? |
//! | [`threshold`] | from which instant on is a date expired? |
//! | [`filter`] | which documents does a partial index hold? |
//! | [`visibility`] | what is there to be seen, and what stands in the way of a write? |
//! | [`pass`] | what does one pass delete, and in which order? |
//! | [`change`] | what can be changed about an index that is there? |
//! | [`nan`] | how does a bad value come into a catalog, and what is made of it there? |
//! | [`monitor`] | when does a monitor do a pass, and what does it count? |
//! | [`visit`] | how does a pass come from one index to the next, and from one document to the next? |
//! | [`replication`] | what do the members of a replica set make of each other's deletions? |
//! | [`upgrade`] | what happens to a server that is restarted, upgraded or downgraded? |
//! | [`shard`] | what does a monitor make of what belongs to another shard? |
//! | [`clustered`] | what does a collection with seconds of its own delete? |
//! | [`bucket`] | which buckets of a time series go, and when? |
//!
//! [`words`] are the operations and replies, [`version`] what each server can do, [`machine`] the
//! whole state and who is told an operation, [`command`] what one collection does with it.
//! [`number`] and [`compare`] are the server's arithmetic and order.

pub mod version;
pub mod words;

#[cfg(feature = "semantics")]
pub mod compare;
#[cfg(feature = "semantics")]
pub mod number;

#[cfg(feature = "semantics")]
pub mod bucket;
#[cfg(feature = "semantics")]
pub mod change;
#[cfg(feature = "semantics")]
pub mod clustered;
#[cfg(feature = "semantics")]
pub mod command;
#[cfg(feature = "semantics")]
pub mod date;
#[cfg(feature = "semantics")]
pub mod filter;
#[cfg(feature = "semantics")]
pub mod index;
#[cfg(feature = "semantics")]
pub mod life;
#[cfg(feature = "semantics")]
pub mod machine;
#[cfg(feature = "semantics")]
pub mod monitor;
#[cfg(feature = "semantics")]
pub mod nan;
#[cfg(feature = "semantics")]
pub mod pass;
#[cfg(feature = "semantics")]
pub mod replication;
#[cfg(feature = "semantics")]
pub mod shard;
#[cfg(feature = "semantics")]
pub mod threshold;
#[cfg(feature = "semantics")]
pub mod upgrade;
#[cfg(feature = "semantics")]
pub mod visibility;
#[cfg(feature = "semantics")]
pub mod visit;

pub use version::Version;
pub use words::{
    CollectionOptions, Config, Cost, Counters, Did, Doc, Ended, Entry, EntryKind, Event, Guard,
    Health, Listed, MongoDb, Op, Place, Reply, Skipped, Ticked, Value, Via, Visited, Woke, code,
};
