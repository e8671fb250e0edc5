//! Which values does a text hold: Extended JSON, what a shell prints, or what Python prints?
//!
//! One reader for all of them, since people paste what they have. JSON is read as JSON; what the
//! shells and drivers add (names without quotes, `ISODate(…)`, `NumberLong(…)`, `NaN`, `None`) is
//! read as well. Objects such as `{"$date": …}` become the values that they stand for.

use bson::{Bson, Document};

use crate::calls;
use crate::typed;

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where.
    pub at: usize,
    /// What was expected and what was found.
    pub what: String,
}

/// The server nests no deeper than this.
const DEEPEST: usize = 200;

/// Reads the one value that `text` holds.
///
/// # Errors
/// [`Wrong`] at the first byte that does not fit.
pub fn value(text: &[u8]) -> Result<Bson, Wrong> {
    let mut reader = Reader::new(text);
    let value = reader.value()?;
    reader.skip_space()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.expected("the end")),
    }
}

/// Reads a value from the front of `text`, and answers where it ends.
///
/// # Errors
/// [`Wrong`] at the first byte that does not fit.
pub fn value_in_front(text: &[u8]) -> Result<(Bson, usize), Wrong> {
    let mut reader = Reader::new(text);
    let value = reader.value()?;
    Ok((value, reader.at))
}

/// The line and the column of a byte, both from 1.
pub fn line_and_column(text: &[u8], at: usize) -> (u64, u64) {
    let before = &text[..at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    (line, (before.len() - start) as u64 + 1)
}

pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

pub(crate) type Read<T> = Result<T, Wrong>;

impl<'a> Reader<'a> {
    fn new(text: &'a [u8]) -> Reader<'a> {
        // Some editors put a byte order mark in front.
        let at = if text.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
        Reader { text, at, depth: 0 }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(crate) fn wrong(&self, what: impl Into<String>) -> Wrong {
        Wrong { at: self.at, what: what.into() }
    }

    fn expected(&self, what: &str) -> Wrong {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", byte as char),
            Some(byte) => format!("byte 0x{byte:02x}"),
        };
        self.wrong(format!("expected {what}, found {found}"))
    }

    /// White space and comments.
    pub(crate) fn skip_space(&mut self) -> Read<()> {
        loop {
            while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            let comment = if rest.starts_with(b"//") {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).skip(2).position(|two| two == b"*/");
                2 + end.ok_or_else(|| self.wrong("expected `*/` to end the comment"))? + 2
            } else {
                return Ok(());
            };
            self.at += comment;
        }
    }

    pub(crate) fn value(&mut self) -> Read<Bson> {
        self.skip_space()?;
        match self.peek() {
            Some(b'{') => self.nested(Reader::object),
            Some(b'[') => self.nested(|reader| reader.list(b'[', b']').map(Bson::Array)),
            Some(b'(') => self.nested(|reader| reader.list(b'(', b')').map(Bson::Array)),
            Some(b'"' | b'\'') => self.string().map(Bson::String),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(b'/') => self.regex(),
            Some(byte) if is_word(byte) => self.word_value(),
            _ => Err(self.expected("a value")),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Read<Bson>) -> Read<Bson> {
        if self.depth >= DEEPEST {
            return Err(self.wrong(format!("expected at most {DEEPEST} levels, found more")));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Read<Bson> {
        let start = self.at;
        self.at += 1;
        let mut document = Document::new();
        loop {
            self.skip_space()?;
            if self.eat(b'}') {
                break;
            }
            let name = match self.peek() {
                Some(b'"' | b'\'') => self.string()?,
                Some(byte) if is_word(byte) => self.word().to_owned(),
                _ => return Err(self.expected("a field's name or `}`")),
            };
            self.skip_space()?;
            if !self.eat(b':') {
                return Err(self.expected(&format!("`:` after `{name}`")));
            }
            let value = self.value()?;
            if name.contains('\0') {
                return Err(self.wrong("expected a field's name without NUL"));
            }
            // Of two fields of one name, the server sees the first.
            if !document.contains_key(&name) {
                document.insert(name, value);
            }
            self.skip_space()?;
            if !self.eat(b',') && self.peek() != Some(b'}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
        typed::typed(document).map_err(|what| Wrong { at: start, what })
    }

    pub(crate) fn list(&mut self, open: u8, close: u8) -> Read<Vec<Bson>> {
        if !self.eat(open) {
            return Err(self.expected(&format!("`{}`", open as char)));
        }
        let mut values = Vec::new();
        loop {
            self.skip_space()?;
            if self.eat(close) {
                return Ok(values);
            }
            values.push(self.value()?);
            self.skip_space()?;
            if !self.eat(b',') && self.peek() != Some(close) {
                return Err(self.expected(&format!("`,` or `{}`", close as char)));
            }
        }
    }

    fn string(&mut self) -> Read<String> {
        let quote = self.peek().unwrap_or(b'"');
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.expected("the end of the string")),
                Some(byte) if byte == quote => {
                    self.at += 1;
                    let start = self.at;
                    return String::from_utf8(bytes).map_err(|_| Wrong {
                        at: start - 1,
                        what: "expected UTF-8 in the string before, found something else".into(),
                    });
                }
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        self.at += 1;
        let byte = self.peek().ok_or_else(|| self.expected("an escape"))?;
        self.at += 1;
        let character = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'v' => '\u{b}',
            b'x' => self.hex(2)?.try_into().unwrap_or(char::REPLACEMENT_CHARACTER),
            b'u' => self.utf16()?,
            byte if byte.is_ascii() => byte as char,
            _ => return Err(self.wrong("expected an escape such as `\\n`, found another byte")),
        };
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn utf16(&mut self) -> Read<char> {
        let first = self.hex(4)?;
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.hex(4)?;
            let joined = 0x10000 + ((first - 0xd800) << 10) + (second & 0x3ff);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Read<u32> {
        let text = self.text.get(self.at..self.at + digits);
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        let number = text.and_then(|text| u32::from_str_radix(text, 16).ok());
        let number =
            number.ok_or_else(|| self.expected(&format!("{digits} hexadecimal digits")))?;
        self.at += digits;
        Ok(number)
    }

    fn number(&mut self) -> Read<Bson> {
        let start = self.at;
        if self.text[start..].starts_with(b"-Infinity") {
            self.at += 9;
            return Ok(Bson::Double(f64::NEG_INFINITY));
        }
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        typed::number(text).ok_or_else(|| Wrong {
            at: start,
            what: format!("expected a number, found `{}`", shortened(text)),
        })
    }

    pub(crate) fn word(&mut self) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(|byte| is_word(byte) || byte.is_ascii_digit()) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }

    fn word_value(&mut self) -> Read<Bson> {
        let start = self.at;
        let mut word = self.word();
        if word == "new" {
            self.skip_space()?;
            word = self.word();
        }
        if self.peek() == Some(b'.') && word == "datetime" {
            self.at += 1;
            word = self.word();
        }
        if let Some(value) = calls::constant(word)
            && self.peek() != Some(b'(')
        {
            return Ok(value);
        }
        self.skip_space()?;
        let arguments = match self.peek() {
            Some(b'(') => self.nested(|reader| reader.list(b'(', b')').map(Bson::Array))?,
            _ => {
                let what = format!("expected a value, found `{}`", shortened(word));
                return Err(Wrong { at: start, what });
            }
        };
        let Bson::Array(arguments) = arguments else { return Err(self.expected("`(`")) };
        calls::call(word, arguments).map_err(|what| Wrong { at: start, what })
    }

    /// `/pattern/options`.
    fn regex(&mut self) -> Read<Bson> {
        let start = self.at;
        self.at += 1;
        let body = self.at;
        loop {
            match self.peek() {
                None | Some(b'\n') => return Err(self.expected("`/` to end the expression")),
                Some(b'/') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
        let pattern = String::from_utf8_lossy(&self.text[body..self.at]).into_owned();
        self.at += 1;
        let options = self.word().to_owned();
        typed::regex(pattern, options).map_err(|what| Wrong { at: start, what })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// The first characters of what was found.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
