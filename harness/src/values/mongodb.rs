//! Which values are worth trying with MongoDB?
//!
//! Any document, any index, any filter, any request, any operation: each from one definition.
//!
//! Everything is biased to where rules meet: the same few instants, lifetimes, paths and names come
//! up everywhere, so that dates stand at thresholds and filters look where documents have fields.
//!
//! ```
//! use ttlspec_harness::values::{Seeded, mongodb::document};
//!
//! let (mut one, mut other) = (Seeded::new(7), Seeded::new(7));
//! assert_eq!(document(&mut one), document(&mut other));
//! ```

mod any;
mod coll_mod;
mod collection;
mod course;
mod filter;
mod fuzzed;
mod index;
mod number;
mod op;
mod versions;

pub use any::{document, identified, identity, path, value};
pub use coll_mod::coll_mod;
pub use collection::{bucketing, collection};
pub use course::{Course, script};
pub use filter::filter;
pub use fuzzed::{AnyDocument, AnyFilter, AnyOp, AnyScript, AnySpec};
pub use index::{key_pattern, spec};
pub use number::{number, seconds};
pub use op::{op, step, steps};
pub use versions::{VERSIONS, version};
