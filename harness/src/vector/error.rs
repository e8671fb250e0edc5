//! What is wrong with a file of vectors, and where?

use std::fmt;

use super::Place;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file, and the line.
    pub place: Place,
    /// The column, counted from 1; 0 where there is none.
    pub column: usize,
    /// The name of the vector in which it stands.
    pub vector: Option<String>,
    /// The path within the vector, or within the file: `steps[3].do.insret`.
    pub path: String,
    /// What was expected, and what was found.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        f.write_str(": ")?;
        if let Some(name) = &self.vector {
            write!(f, "vector `{name}`: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with one or more files; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Errors {
        Errors(vec![error])
    }
}

impl Error {
    /// Something that is wrong with a whole file.
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Error {
        Error {
            place: Place { file: file.to_owned(), line: 0 },
            column: 0,
            vector: None,
            path: String::new(),
            message: message.into(),
        }
    }
}
