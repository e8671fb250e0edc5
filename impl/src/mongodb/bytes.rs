//! What stands where in a BSON document? Read in place, and nothing is believed unchecked.

use std::error::Error;
use std::fmt;

/// Bytes that are no BSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// Where, counted from the first byte of the outermost document.
    pub offset: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected BSON, found something else at byte `{}`", self.offset)
    }
}

impl Error for Malformed {}

/// The numbers of the BSON types, as they stand before each field.
pub mod kind {
    #![expect(missing_docs, reason = "the types' own names")]
    pub const DOUBLE: u8 = 0x01;
    pub const STRING: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const UNDEFINED: u8 = 0x06;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOLEAN: u8 = 0x08;
    pub const DATE: u8 = 0x09;
    pub const NULL: u8 = 0x0a;
    pub const REGEX: u8 = 0x0b;
    pub const DB_POINTER: u8 = 0x0c;
    pub const CODE: u8 = 0x0d;
    pub const SYMBOL: u8 = 0x0e;
    pub const CODE_WITH_SCOPE: u8 = 0x0f;
    pub const INT32: u8 = 0x10;
    pub const TIMESTAMP: u8 = 0x11;
    pub const INT64: u8 = 0x12;
    pub const DECIMAL: u8 = 0x13;
    pub const MAX_KEY: u8 = 0x7f;
    pub const MIN_KEY: u8 = 0xff;
}

/// The smallest document: its length and its end.
const EMPTY: usize = 5;

/// A value where it stands. Its bytes have the length that its type demands; what is inside of them
/// has not been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The type, one of [`kind`].
    pub kind: u8,
    /// The bytes after the name.
    pub bytes: &'a [u8],
    /// Where they begin in the outermost document.
    pub at: usize,
}

impl<'a> Value<'a> {
    /// The null that stands for an absent `_id`.
    pub const NULL: Value<'static> = Value { kind: kind::NULL, bytes: &[], at: 0 };

    /// A value that does not stand in a document.
    pub fn new(kind: u8, bytes: &'a [u8]) -> Value<'a> {
        Value { kind, bytes, at: 0 }
    }

    /// A date's milliseconds.
    pub fn date(self) -> Option<i64> {
        if self.kind == kind::DATE {
            self.bytes.try_into().ok().map(i64::from_le_bytes)
        } else {
            None
        }
    }

    /// The text of a string, symbol or piece of code.
    pub fn text(self) -> Option<&'a [u8]> {
        match self.kind {
            kind::STRING | kind::SYMBOL | kind::CODE => {
                self.bytes.get(4..self.bytes.len().checked_sub(1)?)
            }
            _ => None,
        }
    }

    /// The fields of a document or the elements of an array.
    ///
    /// # Errors
    /// [`Malformed`] where it is neither, or its frame is broken.
    pub fn elements(self) -> Result<Elements<'a>, Malformed> {
        match self.kind {
            kind::DOCUMENT | kind::ARRAY => Elements::new(self.bytes, self.at),
            _ => Err(Malformed { offset: self.at }),
        }
    }
}

/// The fields of a document, in order.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
}

impl<'a> Elements<'a> {
    /// The fields of the document that these bytes are. It begins at `base` of the outermost one.
    ///
    /// # Errors
    /// [`Malformed`] where the length or the end is not right.
    #[inline]
    pub fn new(bytes: &'a [u8], base: usize) -> Result<Elements<'a>, Malformed> {
        let length = length_at(bytes, 0).ok_or(Malformed { offset: base })?;
        if length != bytes.len() || length < EMPTY || bytes[length - 1] != 0 {
            return Err(Malformed { offset: base });
        }
        Ok(Elements { bytes, at: 4, base })
    }

    /// The next field: its name and its value.
    ///
    /// # Errors
    /// [`Malformed`] at the first byte that cannot be.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<(&'a [u8], Value<'a>)>, Malformed> {
        let malformed = Malformed { offset: self.base + self.at };
        let kind = *self.bytes.get(self.at).ok_or(malformed)?;
        if kind == 0 {
            return if self.at + 1 == self.bytes.len() { Ok(None) } else { Err(malformed) };
        }
        let start = self.at + 1;
        let name_end = start + end_of_name(&self.bytes[start..]).ok_or(malformed)?;
        let begin = name_end + 1;
        let width = width(kind, &self.bytes[begin..]).ok_or(malformed)?;
        // The document's own end stands after the last value.
        let end = begin + width;
        if end >= self.bytes.len() {
            return Err(malformed);
        }
        self.at = end;
        let value = Value { kind, bytes: &self.bytes[begin..end], at: self.base + begin };
        Ok(Some((&self.bytes[start..name_end], value)))
    }

    /// The first field with this name.
    ///
    /// # Errors
    /// [`Malformed`] at the first byte that cannot be, if it stands before the field.
    #[inline]
    pub fn find(mut self, name: &[u8]) -> Result<Option<Value<'a>>, Malformed> {
        while let Some((found, value)) = self.advance()? {
            if found == name {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The element at this position.
    ///
    /// # Errors
    /// [`Malformed`] at the first byte that cannot be, if it stands before the element.
    pub fn nth(mut self, position: usize) -> Result<Option<Value<'a>>, Malformed> {
        let mut left = position;
        while let Some((_, value)) = self.advance()? {
            if left == 0 {
                return Ok(Some(value));
            }
            left -= 1;
        }
        Ok(None)
    }

    /// Is there nothing left?
    pub fn is_empty(&self) -> bool {
        self.at + 1 == self.bytes.len()
    }
}

/// The fields of a whole document.
///
/// # Errors
/// [`Malformed`] where the length or the end is not right.
#[inline]
pub fn elements(document: &[u8]) -> Result<Elements<'_>, Malformed> {
    Elements::new(document, 0)
}

#[inline]
fn end_of_name(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == 0)
}

#[inline]
fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes)?;
    usize::try_from(length).ok()
}

/// How many bytes a value of this type has that begins here.
#[inline]
fn width(kind: u8, bytes: &[u8]) -> Option<usize> {
    let width = match kind {
        kind::DOUBLE | kind::DATE | kind::TIMESTAMP | kind::INT64 => 8,
        kind::INT32 => 4,
        kind::BOOLEAN => 1,
        kind::OBJECT_ID => 12,
        kind::DECIMAL => 16,
        kind::NULL | kind::UNDEFINED | kind::MIN_KEY | kind::MAX_KEY => 0,
        kind::STRING | kind::CODE | kind::SYMBOL => string_width(bytes)?,
        kind::DOCUMENT | kind::ARRAY => length_at(bytes, 0).filter(|length| *length >= EMPTY)?,
        kind::BINARY => 5 + length_at(bytes, 0)?,
        kind::REGEX => {
            let pattern = end_of_name(bytes)? + 1;
            pattern + end_of_name(&bytes[pattern..])? + 1
        }
        kind::DB_POINTER => string_width(bytes)? + 12,
        kind::CODE_WITH_SCOPE => length_at(bytes, 0).filter(|length| *length >= 14)?,
        _ => return None,
    };
    (width <= bytes.len()).then_some(width)
}

fn string_width(bytes: &[u8]) -> Option<usize> {
    length_at(bytes, 0).filter(|length| *length >= 1).map(|length| 4 + length)
}

/// The code and the scope of a piece of code with a scope.
pub fn code_and_scope<'a>(value: Value<'a>) -> Option<(&'a [u8], Value<'a>)> {
    let string = value.bytes.get(4..)?;
    let width = string_width(string).filter(|width| *width <= string.len())?;
    let code = &string[4..width - 1];
    let scope = Value { kind: kind::DOCUMENT, bytes: &string[width..], at: value.at + 4 + width };
    Some((code, scope))
}

/// The subtype and the payload of a binary value. The old subtype 2 repeats its length inside.
pub fn subtype_and_payload(bytes: &[u8]) -> (u8, &[u8]) {
    match bytes {
        [_, _, _, _, 2, inner @ ..] if inner.len() >= 4 => (2, &inner[4..]),
        [_, _, _, _, subtype, payload @ ..] => (*subtype, payload),
        _ => (0, bytes),
    }
}

/// The pattern and the options of a regular expression.
pub fn pattern_and_options(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = end_of_name(bytes).unwrap_or(bytes.len());
    let rest = bytes.get(end + 1..).unwrap_or_default();
    (&bytes[..end], &rest[..end_of_name(rest).unwrap_or(rest.len())])
}

/// How deep documents may stand in each other, which is the server's own limit.
pub const DEEPEST: usize = 200;

/// Why a document is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// It is no BSON.
    Malformed(Malformed),
    /// Documents stand in each other deeper than [`DEEPEST`].
    TooDeep,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Malformed(malformed) => malformed.fmt(f),
            Unfit::TooDeep => write!(f, "expected at most `{DEEPEST}` levels, found more"),
        }
    }
}

impl Error for Unfit {}

impl From<Malformed> for Unfit {
    fn from(malformed: Malformed) -> Unfit {
        Unfit::Malformed(malformed)
    }
}

/// Is every frame in the document sound, down to the last field? Text is not looked at: bytes that
/// are no UTF-8 are compared as bytes.
///
/// # Errors
/// [`Unfit`], which says why not.
pub fn check(document: &[u8]) -> Result<(), Unfit> {
    check_elements(elements(document)?, 1)
}

fn check_elements(mut elements: Elements<'_>, depth: usize) -> Result<(), Unfit> {
    if depth > DEEPEST {
        return Err(Unfit::TooDeep);
    }
    while let Some((_, value)) = elements.advance()? {
        let malformed = Unfit::Malformed(Malformed { offset: value.at });
        let is_sound = match value.kind {
            kind::DOCUMENT | kind::ARRAY => {
                check_elements(value.elements()?, depth + 1)?;
                true
            }
            kind::STRING | kind::SYMBOL | kind::CODE => value.bytes.last() == Some(&0),
            kind::BOOLEAN => matches!(value.bytes, [0 | 1]),
            kind::BINARY if value.bytes[4] == 2 => {
                length_at(value.bytes, 5).is_some_and(|inner| inner + 9 == value.bytes.len())
            }
            kind::DB_POINTER => value.bytes[value.bytes.len() - 13] == 0,
            kind::CODE_WITH_SCOPE => {
                let (_, scope) = code_and_scope(value).ok_or(malformed)?;
                let before = scope.at - value.at;
                check_elements(scope.elements()?, depth + 1)?;
                value.bytes[before - 1] == 0
            }
            _ => true,
        };
        if !is_sound {
            return Err(malformed);
        }
    }
    Ok(())
}

/// A value that is kept apart from the document it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    kind: u8,
    bytes: Box<[u8]>,
}

impl Kept {
    /// Looks at it.
    pub fn value(&self) -> Value<'_> {
        Value::new(self.kind, &self.bytes)
    }

    /// A 32-bit integer.
    pub fn int(int: i32) -> Kept {
        Kept { kind: kind::INT32, bytes: int.to_le_bytes().into() }
    }

    /// A 64-bit integer.
    pub fn long(long: i64) -> Kept {
        Kept { kind: kind::INT64, bytes: long.to_le_bytes().into() }
    }
}

impl From<Value<'_>> for Kept {
    fn from(value: Value<'_>) -> Kept {
        Kept { kind: value.kind, bytes: value.bytes.into() }
    }
}
