//! Cassandra: TTL and tombstones, on one node, by server version.
//!
//! Each chapter of the book is the documentation of the module that decides by it:
//!
//! | chapter | question |
//! |---|---|
//! | [`life`] | what does a read mean? |
//! | [`cell`] | is a cell alive, and is a row there? |
//! | [`expiry`] | when does what is written now expire? |
//! | [`reconcile`] | which of two cells, markers or deletions is kept? |
//! | [`write`](mod@write) | what does a statement leave behind? |
//! | [`range`] | what do range tombstones make of each other? |
//! | [`row`] | what do several sources come to, row by row? |
//! | [`memtable`] | what does a memtable remember, and what becomes of it? |
//! | [`sstable`] | what does an sstable know about itself? |
//! | [`purge`] | what is dropped because nobody needs it any more? |
//! | [`compaction`] | what do some of the sstables become? |
//! | [`garbage`] | what of a partition is shadowed by other sstables? |
//! | [`read`] | what does a node answer a coordinator, and what does it count? |
//! | [`select`] | what does CQL show? |
//! | [`view`] | what does a write to a table write to its view? |
//! | [`strategy`] | which sstables does a strategy take by itself? |
//! | [`fault`] | where does the real server break its own rules? |
//!
//! [`words`] are the operations and replies, [`version`] what each server can do, [`data`] what is
//! kept, [`machine`] the whole state and what each word does with it. Unlike a MongoDB ruling, a
//! verdict here rests on many small decisions about a large structure: so the
//! [`Book`](crate::book::Book) goes along, and each deciding arm asks it for its rule.

pub mod version;
pub mod words;

#[cfg(feature = "semantics")]
pub mod cell;
#[cfg(feature = "semantics")]
pub mod compaction;
#[cfg(feature = "semantics")]
pub mod data;
#[cfg(feature = "semantics")]
pub mod expiry;
#[cfg(feature = "semantics")]
pub mod fault;
#[cfg(feature = "semantics")]
pub mod garbage;
#[cfg(feature = "semantics")]
pub mod life;
#[cfg(feature = "semantics")]
pub mod machine;
#[cfg(feature = "semantics")]
pub mod memtable;
#[cfg(feature = "semantics")]
pub mod purge;
#[cfg(feature = "semantics")]
pub mod range;
#[cfg(feature = "semantics")]
pub mod read;
#[cfg(feature = "semantics")]
pub mod reconcile;
#[cfg(feature = "semantics")]
pub mod row;
#[cfg(feature = "semantics")]
pub mod select;
#[cfg(feature = "semantics")]
pub mod sstable;
#[cfg(feature = "semantics")]
pub mod strategy;
#[cfg(feature = "semantics")]
pub mod view;
#[cfg(feature = "semantics")]
pub mod write;

pub use version::Version;
pub use words::{Cassandra, Config, Op, Reply};

#[cfg(feature = "semantics")]
pub use machine::State;

/// The second that a clock in milliseconds shows.
#[cfg(feature = "semantics")]
fn seconds(book: &crate::book::Book, now_ms: i64) -> i64 {
    if book.by(crate::ruling::Rule::CassandraLifeSecond) {
        now_ms.div_euclid(1_000)
    } else {
        now_ms.div_euclid(1_000) + 1
    }
}
