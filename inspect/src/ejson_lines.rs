//! Which documents stand in a text: lines of mongoexport, a JSON array, or documents spread over
//! lines?

use std::io::{BufRead, Cursor, Read};

use bson::{Bson, Document};

use crate::fault::{Fault, Place};
use crate::source::{Source, unreadable};
use crate::text;

/// A text of documents, read one at a time.
pub struct EjsonLines {
    source: Source,
    shape: Shape,
    /// The line that is read next, from 1.
    line: u64,
    buffer: Vec<u8>,
    /// What of a line is still to be read.
    rest: usize,
    /// The lines that the buffer has, less the first.
    height: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Not known yet.
    Unknown,
    /// A document ends on the line on which it begins.
    Lines,
    /// Documents reach over lines.
    Spread,
    /// An array of documents.
    Array,
    /// Behind the end of the array.
    Closed,
}

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// A document as text may be so much longer than as BSON.
const LONGEST: u64 = 128 << 20;

impl EjsonLines {
    /// Begins to read.
    pub fn new(source: Source) -> EjsonLines {
        let buffer = Vec::new();
        EjsonLines { source, shape: Shape::Unknown, line: 1, buffer, rest: 0, height: 0 }
    }

    /// The next document; `None` at the end.
    ///
    /// # Errors
    /// A [`Fault`] with line and column; after it there is nothing more to read.
    pub fn next_document(&mut self) -> Result<Option<Document>, Fault> {
        loop {
            match self.shape {
                Shape::Unknown => self.recognise()?,
                Shape::Lines => {
                    if self.rest == self.buffer.len() && !self.read_line()? {
                        return Ok(None);
                    }
                    if let Some(document) = self.in_line()? {
                        return Ok(Some(document));
                    }
                }
                Shape::Spread | Shape::Array | Shape::Closed => return self.spread(),
            }
        }
    }

    /// Looks at what comes first.
    fn recognise(&mut self) -> Result<(), Fault> {
        self.shape = Shape::Lines;
        loop {
            match self.peek()? {
                Some(b'{') => break,
                Some(b'[') => {
                    self.shape = Shape::Array;
                    self.source.reader.consume(1);
                    return Ok(());
                }
                // The byte order mark is of three such bytes.
                Some(byte) if byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(&byte) => {
                    self.source.reader.consume(1);
                    self.line += u64::from(byte == b'\n');
                }
                _ => return Ok(()),
            }
        }
        self.read_line()?;
        let reaches_over = match text::value_in_front(&self.buffer) {
            Ok(_) => false,
            Err(wrong) => wrong.at >= self.buffer.trim_ascii_end().len(),
        };
        if reaches_over {
            self.shape = Shape::Spread;
            let line = std::mem::take(&mut self.buffer);
            let nothing = Box::new(Cursor::new(Vec::new()));
            let others = std::mem::replace(&mut self.source.reader, nothing);
            self.source.reader = Box::new(Cursor::new(line).chain(others));
            self.line -= 1;
        }
        Ok(())
    }

    fn read_line(&mut self) -> Result<bool, Fault> {
        self.buffer.clear();
        self.rest = 0;
        let mut part = (&mut self.source.reader).take(LONGEST + 1);
        let read = part.read_until(b'\n', &mut self.buffer).map_err(|error| self.failed(&error))?;
        if read as u64 > LONGEST {
            let what = format!("expected at most {LONGEST} bytes on a line, found more");
            return Err(self.fault(self.line, 1, what, NOT_LINES));
        }
        self.line += u64::from(read > 0);
        Ok(read > 0)
    }

    /// The next document of the line in the buffer.
    fn in_line(&mut self) -> Result<Option<Document>, Fault> {
        let left = &self.buffer[self.rest..];
        let blank = left.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blank == left.len() {
            self.rest = self.buffer.len();
            return Ok(None);
        }
        let (start, line) = (self.rest, self.line - 1);
        let read = text::value_in_front(left);
        match read {
            Ok((Bson::Document(document), end)) => {
                self.rest = start + end;
                Ok(Some(document))
            }
            Ok((other, _)) => {
                let what = format!("expected a document, found `{}`", short(&other));
                Err(self.fault(line, (start + blank) as u64 + 1, what, NOT_LINES))
            }
            Err(wrong) => Err(self.fault(line, (start + wrong.at) as u64 + 1, wrong.what, BROKEN)),
        }
    }

    /// The next document that may reach over lines.
    fn spread(&mut self) -> Result<Option<Document>, Fault> {
        loop {
            let Some(byte) = self.byte()? else {
                return if self.shape == Shape::Array {
                    Err(self.fault(self.line, 1, "expected `]`, found the end", CUT_OFF))
                } else {
                    Ok(None)
                };
            };
            match byte {
                b'\n' => self.line += 1,
                b',' if self.shape == Shape::Array => {}
                b']' if self.shape == Shape::Array => self.shape = Shape::Closed,
                b'{' if self.shape != Shape::Closed => break,
                byte if byte.is_ascii_whitespace() => {}
                byte => {
                    let found = (byte as char).escape_default();
                    let what = format!("expected a document, found `{found}`");
                    return Err(self.fault(self.line, 1, what, BROKEN));
                }
            }
        }
        let line = self.line;
        self.collect()?;
        self.line += self.height;
        let read = text::value(&self.buffer);
        match read {
            Ok(Bson::Document(document)) => Ok(Some(document)),
            Ok(other) => {
                let what = format!("expected a document, found `{}`", short(&other));
                Err(self.fault(line, 1, what, BROKEN))
            }
            Err(wrong) => {
                let (down, column) = text::line_and_column(&self.buffer, wrong.at);
                Err(self.fault(line + down - 1, column, wrong.what, BROKEN))
            }
        }
    }

    /// Puts one object into the buffer, its first brace being read.
    fn collect(&mut self) -> Result<(), Fault> {
        self.buffer.clear();
        self.buffer.push(b'{');
        self.height = 0;
        let (mut depth, mut quote) = (1, None);
        while depth > 0 {
            let too_long = self.buffer.len() as u64 > LONGEST;
            let Some(byte) = (if too_long { None } else { self.byte()? }) else {
                let what = "expected `}` to end the document, found the end";
                return Err(self.fault(self.line + self.height, 1, what, CUT_OFF));
            };
            self.buffer.push(byte);
            self.height += u64::from(byte == b'\n');
            match (quote, byte) {
                (Some(_), b'\\') => {
                    if let Some(escaped) = self.byte()? {
                        self.buffer.push(escaped);
                    }
                }
                (Some(open), byte) if open == byte => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'{' | b'[') => depth += 1,
                (None, b'}' | b']') => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        match self.source.reader.fill_buf() {
            Ok(buffer) => Ok(buffer.first().copied()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn byte(&mut self) -> Result<Option<u8>, Fault> {
        let byte = self.peek()?;
        self.source.reader.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    fn failed(&self, error: &std::io::Error) -> Fault {
        unreadable(&self.source.file, error).at(Place::Line(self.line, 1))
    }

    fn fault(&self, line: u64, column: u64, what: impl Into<String>, fix: &str) -> Fault {
        Fault::whole(&self.source.file, what, fix).at(Place::Line(line, column))
    }
}

fn short(value: &Bson) -> String {
    text::shortened(&value.to_string())
}

const NOT_LINES: &str =
    "give lines of mongoexport, one document each, or a JSON array of documents";
const BROKEN: &str = "repair or remove this document; the ones before it are ruled on";
const CUT_OFF: &str = "the file is cut off: export the collection again";
