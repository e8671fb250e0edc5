//! What is wrong with an input, where, and what helps?

use std::fmt;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A byte, counted from 0 in the unpacked contents.
    Offset(u64),
    /// A line and a column, both counted from 1.
    Line(u64, u64),
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{place}: {what}; fix: {fix}")]
pub struct Fault {
    /// The file, as it was named or found.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What was expected and what was found.
    pub what: String,
    /// What the reader of the message can do.
    pub fix: String,
}

impl Fault {
    /// A fault of the file as a whole.
    pub fn whole(file: &str, what: impl Into<String>, fix: impl Into<String>) -> Fault {
        let (file, what, fix) = (file.to_owned(), what.into(), fix.into());
        Fault { file, place: Place::Whole, what, fix }
    }

    /// The same fault, at a place.
    pub fn at(mut self, place: Place) -> Fault {
        self.place = place;
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Offset(offset) => write!(f, ": at byte {offset}"),
            Place::Line(line, column) => write!(f, ":{line}:{column}"),
        }
    }
}
