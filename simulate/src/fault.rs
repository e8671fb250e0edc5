//! What is wrong with a script, where, and what helps?

use std::fmt;

use crate::units::plain;

/// Something that cannot be played.
///
/// It is shown without control characters, whatever it quotes, and not at any length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{place}: {}; fix: {}", plain(file), short(what), short(fix))]
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

/// So many characters are shown.
const MOST_SHOWN: usize = 600;

fn short(text: &str) -> String {
    let mut shown: String = plain(text).chars().take(MOST_SHOWN).collect();
    if shown.chars().count() == MOST_SHOWN {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_can_neither_colour_a_terminal_nor_fill_it() {
        let what = format!("found `\u{1b}[31m{}`", "x".repeat(100_000));
        let (file, fix) = ("a\nb.toml".to_owned(), "leave it out".to_owned());

        let shown = Fault { file, place: Place(Some(3)), what, fix }.to_string();

        assert!(shown.starts_with("a\\u{a}b.toml:3: found `\\u{1b}[31mxxx"), "{shown}");
        assert!(shown.ends_with("xx…; fix: leave it out") && shown.len() < 1_000, "{shown}");
    }
}
