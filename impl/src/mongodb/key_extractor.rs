//! Which index keys does a raw document have at a path? Read in place; nothing is built.

use std::error::Error;
use std::fmt;

use super::bytes::{Elements, Malformed, Value, elements, kind};

/// A dotted path, taken apart once.
#[derive(Clone, Debug)]
pub struct Path {
    parts: Box<[Part]>,
}

/// One part of a path.
#[derive(Clone, Debug)]
struct Part {
    name: Box<[u8]>,
    /// The position of an array that it names too: digits without leading zeros.
    position: Option<usize>,
}

impl Path {
    /// Takes a path apart at its dots.
    pub fn new(path: &[u8]) -> Path {
        let part = |name: &[u8]| Part { name: name.into(), position: position(name) };
        Path { parts: path.split(|byte| *byte == b'.').map(part).collect() }
    }

    pub(super) fn rest(&self) -> Rest<'_> {
        Rest(&self.parts)
    }
}

fn position(name: &[u8]) -> Option<usize> {
    let is_canonical = name == b"0" || name.first().is_some_and(|first| *first != b'0');
    if !is_canonical {
        return None;
    }
    name.iter().try_fold(0usize, |position, byte| {
        let digit = byte.is_ascii_digit().then(|| usize::from(byte - b'0'))?;
        position.checked_mul(10)?.checked_add(digit)
    })
}

/// The parts of a path that are left to walk.
#[derive(Clone, Copy)]
pub(super) struct Rest<'p>(&'p [Part]);

impl<'p> Rest<'p> {
    /// The next part.
    pub(super) fn name(self) -> &'p [u8] {
        &self.0[0].name
    }

    /// The position that the next part names.
    pub(super) fn position(self) -> Option<usize> {
        self.0[0].position
    }

    /// What comes after the next part.
    pub(super) fn after(self) -> Rest<'p> {
        Rest(&self.0[1..])
    }

    /// Is the path at its end?
    pub(super) fn is_over(self) -> bool {
        self.0.is_empty()
    }
}

/// One index key of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The path leads nowhere: null, or no key at all in a sparse index.
    Missing,
    /// The path ends at an empty array: undefined.
    EmptyArray,
    /// The value at its end, or one of its elements.
    Value(Value<'a>),
}

impl<'a> Key<'a> {
    /// The value that stands in the index.
    pub fn indexed(self) -> Value<'a> {
        match self {
            Key::Missing => Value::NULL,
            Key::EmptyArray => Value::new(kind::UNDEFINED, &[]),
            Key::Value(value) => value,
        }
    }
}

/// Why a document has no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoKeys {
    /// It is no BSON.
    Malformed(Malformed),
    /// A part of the path is a position of the array that begins at this byte and a field of one of
    /// its elements at once (error 16746).
    Ambiguous {
        /// Where the array begins.
        offset: usize,
    },
}

impl From<Malformed> for NoKeys {
    fn from(malformed: Malformed) -> NoKeys {
        NoKeys::Malformed(malformed)
    }
}

impl fmt::Display for NoKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoKeys::Malformed(malformed) => malformed.fmt(f),
            NoKeys::Ambiguous { offset } => {
                write!(f, "expected one way through the array at byte `{offset}`, found two")
            }
        }
    }
}

impl Error for NoKeys {}

/// Hands over the index keys of `document` at `path`, in the order in which they are met.
///
/// # Errors
/// [`NoKeys`]; some keys may have been handed over by then.
pub fn keys<'a>(
    document: &'a [u8],
    path: &Path,
    each: &mut impl FnMut(Key<'a>),
) -> Result<(), NoKeys> {
    field(elements(document)?, path.rest(), each)
}

/// The earliest date among the keys, which is the one that decides. `None`: there is no date.
///
/// # Errors
/// [`NoKeys`]: the document cannot be in the index at all.
pub fn least_date(document: &[u8], path: &Path) -> Result<Option<i64>, NoKeys> {
    let mut least = None;
    keys(document, path, &mut |key| {
        if let Key::Value(value) = key
            && let Some(date) = value.date()
        {
            least = Some(least.map_or(date, |least: i64| least.min(date)));
        }
    })?;
    Ok(least)
}

/// In a document: the next part is a field.
fn field<'a>(
    fields: Elements<'a>,
    rest: Rest<'_>,
    each: &mut impl FnMut(Key<'a>),
) -> Result<(), NoKeys> {
    let value = fields.find(rest.name())?;
    let rest = rest.after();
    match value {
        Some(value) if value.kind == kind::ARRAY => {
            if rest.is_over() {
                unwind(value, each)
            } else {
                through(value, rest, each)
            }
        }
        Some(value) if rest.is_over() => {
            each(Key::Value(value));
            Ok(())
        }
        Some(value) if value.kind == kind::DOCUMENT => field(value.elements()?, rest, each),
        Some(_) | None => {
            each(Key::Missing);
            Ok(())
        }
    }
}

/// At an array at the end of the path: each element is a key.
fn unwind<'a>(array: Value<'a>, each: &mut impl FnMut(Key<'a>)) -> Result<(), NoKeys> {
    let mut elements = array.elements()?;
    if elements.is_empty() {
        each(Key::EmptyArray);
    }
    while let Some((_, element)) = elements.advance()? {
        each(Key::Value(element));
    }
    Ok(())
}

/// At an array in the middle of the path: by position if the next part names one that is there, or
/// else into all elements.
fn through<'a>(
    array: Value<'a>,
    rest: Rest<'_>,
    each: &mut impl FnMut(Key<'a>),
) -> Result<(), NoKeys> {
    let mut elements = array.elements()?;
    if elements.is_empty() {
        each(Key::Missing);
        return Ok(());
    }
    if let Some(position) = rest.position()
        && let Some(element) = elements.nth(position)?
    {
        if is_field_of_any(elements, rest.name())? {
            return Err(NoKeys::Ambiguous { offset: array.at });
        }
        return at_position(element, rest.after(), each);
    }
    while let Some((_, element)) = elements.advance()? {
        if element.kind == kind::DOCUMENT {
            field(element.elements()?, rest, each)?;
        } else {
            each(Key::Missing);
        }
    }
    Ok(())
}

fn is_field_of_any(mut elements: Elements<'_>, name: &[u8]) -> Result<bool, Malformed> {
    while let Some((_, element)) = elements.advance()? {
        if element.kind == kind::DOCUMENT && element.elements()?.find(name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Only this element counts; an array in it is a key as a whole, unless it is empty.
fn at_position<'a>(
    element: Value<'a>,
    rest: Rest<'_>,
    each: &mut impl FnMut(Key<'a>),
) -> Result<(), NoKeys> {
    match element.kind {
        kind::ARRAY if !rest.is_over() => return through(element, rest, each),
        kind::ARRAY if element.elements()?.is_empty() => each(Key::EmptyArray),
        _ if rest.is_over() => each(Key::Value(element)),
        kind::DOCUMENT => return field(element.elements()?, rest, each),
        _ => each(Key::Missing),
    }
    Ok(())
}
