//! What is wrong with a script, where, and what helps?

use std::fmt;

/// Something that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{place}: {what}; fix: {fix}")]
pub struct Fault {
    /// The file, as it was named.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What was expected and what was found, or what cannot be.
    pub what: String,
    /// What the reader of the message can do.
    pub fix: String,
}

/// A line, counted from 1, or the file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place(pub Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}
