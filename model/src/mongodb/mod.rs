//! MongoDB: TTL indexes, by server version.

pub mod version;
pub mod words;

#[cfg(feature = "semantics")]
pub mod compare;
#[cfg(feature = "semantics")]
pub mod number;

#[cfg(feature = "semantics")]
pub mod change;
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
pub mod nan;
#[cfg(feature = "semantics")]
pub mod pass;
#[cfg(feature = "semantics")]
pub mod threshold;
#[cfg(feature = "semantics")]
pub mod visibility;

pub use version::Version;
pub use words::{
    CollectionOptions, Config, Doc, Listed, MongoDb, Op, Reply, Skipped, Value, Via, code,
};
