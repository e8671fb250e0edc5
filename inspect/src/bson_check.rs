//! Is this BSON, and if not, which byte is wrong?
//!
//! Everything is checked before anything is built: lengths against what is there, text against
//! UTF-8, and the depth, so that no input can exhaust the stack.

use std::ops::Range;

/// The wrong byte, counted from the start of the document, and what was expected and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where.
    pub at: usize,
    /// What was expected and what was found.
    pub what: String,
}

/// The server nests no deeper than this.
pub const DEEPEST: usize = 200;

type Checked<T> = Result<T, Wrong>;

/// Checks one whole document.
///
/// # Errors
/// The first [`Wrong`] byte.
pub fn check(bytes: &[u8]) -> Checked<()> {
    let end = Checker { bytes }.document(0, bytes.len(), 1)?;
    if end == bytes.len() {
        Ok(())
    } else {
        Err(wrong(
            end,
            format!("expected the end of the document, found {} more bytes", bytes.len() - end),
        ))
    }
}

struct Checker<'a> {
    bytes: &'a [u8],
}

fn wrong(at: usize, what: impl Into<String>) -> Wrong {
    Wrong { at, what: what.into() }
}

impl Checker<'_> {
    /// A document from `at`, which must end at or before `limit`. Answers its end.
    fn document(&self, at: usize, limit: usize, depth: usize) -> Checked<usize> {
        if depth > DEEPEST {
            return Err(wrong(
                at,
                format!("expected at most {DEEPEST} nested documents, found more"),
            ));
        }
        let length = self.length(at, limit)?;
        let room = limit - at;
        if length < 5 || length as usize > room {
            let what = format!("expected a document's length from 5 to {room}, found {length}");
            return Err(wrong(at, what));
        }
        let end = at + length as usize;
        let last = end - 1;
        if self.bytes[last] != 0 {
            let found = self.bytes[last];
            return Err(wrong(
                last,
                format!("expected 0x00 to end the document, found 0x{found:02x}"),
            ));
        }
        let mut next = at + 4;
        while next < last {
            next = self.element(next, last, depth)?;
        }
        Ok(end)
    }

    /// One field: a type, a name, a value. Answers its end.
    fn element(&self, at: usize, limit: usize, depth: usize) -> Checked<usize> {
        let kind = self.bytes[at];
        let value = self.name(at + 1, limit)?;
        match kind {
            0x01 | 0x09 | 0x11 | 0x12 => self.fixed(value, 8, limit),
            0x02 | 0x0d | 0x0e => self.text(value, limit),
            0x03 | 0x04 => self.document(value, limit, depth + 1),
            0x05 => self.binary(value, limit),
            0x06 | 0x0a | 0x7f | 0xff => Ok(value),
            0x07 => self.fixed(value, 12, limit),
            0x08 => {
                let end = self.fixed(value, 1, limit)?;
                match self.bytes[value] {
                    0 | 1 => Ok(end),
                    other => Err(wrong(
                        value,
                        format!("expected 0x00 or 0x01 as a boolean, found 0x{other:02x}"),
                    )),
                }
            }
            0x0b => self.name(self.name(value, limit)?, limit),
            0x0c => self.fixed(self.text(value, limit)?, 12, limit),
            0x0f => self.scoped(value, limit, depth),
            0x10 => self.fixed(value, 4, limit),
            0x13 => self.fixed(value, 16, limit),
            0x00 => {
                Err(wrong(at, "expected a field or the end of the document, found 0x00 too early"))
            }
            other => Err(wrong(at, format!("expected a BSON type, found 0x{other:02x}"))),
        }
    }

    fn fixed(&self, at: usize, size: usize, limit: usize) -> Checked<usize> {
        if limit - at >= size {
            Ok(at + size)
        } else {
            Err(wrong(at, format!("expected {size} bytes of value, found {}", limit - at)))
        }
    }

    fn length(&self, at: usize, limit: usize) -> Checked<i32> {
        let end = self.fixed(at, 4, limit)?;
        let four: [u8; 4] = self.bytes[at..end].try_into().unwrap_or_default();
        Ok(i32::from_le_bytes(four))
    }

    /// Text that ends with 0x00. Answers what follows.
    fn name(&self, at: usize, limit: usize) -> Checked<usize> {
        match self.bytes[at..limit].iter().position(|byte| *byte == 0) {
            Some(size) => self.utf8(at..at + size).map(|()| at + size + 1),
            None => Err(wrong(at, "expected a name that ends with 0x00, found no end")),
        }
    }

    fn text(&self, at: usize, limit: usize) -> Checked<usize> {
        let length = self.length(at, limit)?;
        let room = limit - at - 4;
        if length < 1 || length as usize > room {
            let what = format!("expected a string's length from 1 to {room}, found {length}");
            return Err(wrong(at, what));
        }
        let end = at + 4 + length as usize;
        if self.bytes[end - 1] != 0 {
            let found = self.bytes[end - 1];
            return Err(wrong(
                end - 1,
                format!("expected 0x00 to end the string, found 0x{found:02x}"),
            ));
        }
        self.utf8(at + 4..end - 1).map(|()| end)
    }

    fn utf8(&self, range: Range<usize>) -> Checked<()> {
        let start = range.start;
        match std::str::from_utf8(&self.bytes[range]) {
            Ok(_) => Ok(()),
            Err(error) => {
                let at = start + error.valid_up_to();
                Err(wrong(at, format!("expected UTF-8, found 0x{:02x}", self.bytes[at])))
            }
        }
    }

    fn binary(&self, at: usize, limit: usize) -> Checked<usize> {
        let length = self.length(at, limit)?;
        let subtype = self.fixed(at + 4, 1, limit)?;
        let room = limit - subtype;
        if length < 0 || length as usize > room {
            let what = format!("expected a binary length from 0 to {room}, found {length}");
            return Err(wrong(at, what));
        }
        let end = subtype + length as usize;
        // The old subtype repeats its length inside.
        if self.bytes[at + 4] == 2 && self.length(subtype, end)? != length - 4 {
            return Err(wrong(subtype, format!("expected the inner length {}", length - 4)));
        }
        Ok(end)
    }

    fn scoped(&self, at: usize, limit: usize, depth: usize) -> Checked<usize> {
        let length = self.length(at, limit)?;
        let room = limit - at;
        if length < 14 || length as usize > room {
            let what = format!("expected a length of code from 14 to {room}, found {length}");
            return Err(wrong(at, what));
        }
        let end = at + length as usize;
        let scope = self.text(at + 4, end)?;
        let found = self.document(scope, end, depth + 1)?;
        if found == end { Ok(end) } else { Err(wrong(found, "expected the end of the scope here")) }
    }
}
