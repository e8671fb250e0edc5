//! What must be answered, and by which rule?
//!
//! A vector is one script with its answers: portable lines `{ at_ms, do, see, by }`. The format is
//! described in `specs/vectors.md`, for JSON also in `specs/vectors.schema.json`.
//!
//! ```
//! use ttlspec_harness::vector;
//! use ttlspec_model::mongodb::MongoDb;
//!
//! let file = vector::parse::<MongoDb>("example.toml", br#"
//!     format = 1
//!     spec   = "mongodb"
//!     config = { version = "7.0.14" }
//!
//!     [[vector]]
//!     name  = "nothing was ever inserted"
//!     steps = [{ at_ms = 0, do = "find", see = { found = [] } }]
//! "#).unwrap();
//!
//! assert_eq!(file.vectors[0].steps.len(), 1);
//! ```

use std::fmt;

use ttlspec_model::{Millis, Rule, Vocabulary};

use crate::notation::Notation;
use crate::script::Script;

mod error;
mod library;
mod read;
mod render;
mod verify;
mod versions;

pub use error::{Error, Errors};
pub use library::{load_dir, load_file};
pub use read::{parse, spec_of};
pub use verify::{Failure, Outcome, Report, Run, verify, verify_spec};
pub use versions::Versions;

/// The number of the format that is read and written here.
pub const FORMAT: i64 = 1;

/// One file of vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorFile<V: Vocabulary> {
    /// Its path, as it was opened.
    pub path: String,
    /// The vectors in order.
    pub vectors: Vec<Vector<V>>,
}

/// One script with its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector<V: Vocabulary> {
    /// What it shows, in a few words. No other vector of the system has this name.
    pub name: String,
    /// How the system is set up.
    pub config: V::Config,
    /// The versions at which it is run; none means the one of `config`.
    pub versions: Option<Versions>,
    /// The classes of bugs that it is about.
    pub flags: Vec<String>,
    /// Where it comes from: a manual, a report, a seed.
    pub source: Option<String>,
    /// What is done, and what must be answered.
    pub steps: Vec<VectorStep<V>>,
    /// Where it stands.
    pub place: Place,
}

/// One line of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorStep<V: Vocabulary> {
    /// The instant.
    pub at: Millis,
    /// What is done.
    pub op: V::Op,
    /// What must be answered.
    pub see: V::Reply,
    /// Rules that the specification must cite here; it may cite more.
    pub by: Vec<Rule>,
    /// The line of the file, counted from 1; 0 where there is no file.
    pub line: usize,
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The path of the file; empty where there is none.
    pub file: String,
    /// The line, counted from 1; 0 where there is none.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => f.write_str("(no file)"),
            (file, 0) => f.write_str(file),
            (file, line) => write!(f, "{file}:{line}"),
        }
    }
}

impl<V: Notation> Vector<V> {
    /// The configurations under which it is run: that of each version, or its own.
    pub fn configs(&self) -> Vec<V::Config> {
        let Some(versions) = &self.versions else { return vec![self.config.clone()] };
        let known = V::versions();
        let chosen = versions.chosen(&known).into_iter();
        chosen.filter_map(|version| V::at_version(&self.config, version).ok()).collect()
    }

    /// What is done, under one of the configurations.
    pub fn script(&self, config: &V::Config) -> Script<V> {
        let steps = self.steps.iter().map(|step| (step.at, step.op.clone())).collect();
        Script { config: config.clone(), steps }
    }
}

#[cfg(test)]
mod tests;
