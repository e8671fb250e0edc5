//! Reads what real servers leave behind, and rules on it with the specification.
//!
//! [`dump::find`] looks at a path, [`report::report`] reads everything once and counts, and
//! [`report::Report::rulings`] reads again for the documents that are asked for. [`show`] writes the
//! report for people, [`json`] as data. [`diff::diff`] says what a change would delete. Nothing is
//! ever written anywhere else, no clock is read, and no input makes this panic.
//!
//! ```no_run
//! use std::path::Path;
//! use ttlspec_inspect::report::{Pick, Question, report};
//! use ttlspec_inspect::rule_on::Standing;
//! use ttlspec_inspect::{dump, json};
//! use ttlspec_model::Millis;
//! use ttlspec_model::mongodb::words::Via;
//! use ttlspec_model::mongodb::version::Version;
//!
//! let server = Version::new(7, 0, 14);
//! let at = Millis(1_767_225_600_000);
//! let question = Question {
//!     standing: Standing { server, from: server, via: Via::Restored, at },
//!     collection: None,
//!     indexes: None,
//!     next: 3,
//!     pick: Pick::Each,
//!     checks: false,
//! };
//! let report = report(dump::find(Path::new("dump"))?, question)?;
//! json::write(&report, &[], &mut std::io::stdout())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bson_check;
pub mod bson_file;
mod bytes;
mod calls;
pub mod case;
pub mod checks;
pub mod chosen;
pub mod counterfactual;
pub mod diff;
pub mod dump;
pub mod ejson_lines;
pub mod fault;
pub mod indexes;
pub mod instant;
pub mod json;
pub mod metadata;
pub mod near_miss;
pub mod propose;
mod propose_filter;
pub mod report;
pub mod rule_on;
mod seen;
pub mod show;
pub mod source;
pub mod survey;
pub mod text;
mod typed;
mod unfollowed;
pub mod whole;

pub use bytes::dump_parse_bytes;
