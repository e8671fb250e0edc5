//! Which documents stand in a BSON file, one after the other?

use std::io::Read;

use bson::{Document, RawDocument};

use crate::bson_check;
use crate::fault::{Fault, Place};
use crate::source::{Source, unreadable};

/// The largest document of a server, with the room that it allows itself.
pub const LARGEST: usize = (16 << 20) + (16 << 10);
/// How a mongodump archive begins.
const ARCHIVE: u32 = 0x8199_e26d;

/// A BSON file, read one document at a time through one buffer.
pub struct BsonFile {
    source: Source,
    offset: u64,
    buffer: Vec<u8>,
}

impl BsonFile {
    /// Begins to read.
    pub fn new(source: Source) -> BsonFile {
        BsonFile { source, offset: 0, buffer: Vec::new() }
    }

    /// The next document; `None` at the end.
    ///
    /// # Errors
    /// A [`Fault`] with the byte; after it there is nothing more to read.
    pub fn next_document(&mut self) -> Result<Option<Document>, Fault> {
        self.buffer.clear();
        let head = self.read(4)?;
        if head == 0 {
            return Ok(None);
        }
        if head < 4 {
            let what = format!("expected 4 bytes of a document's length, found {head}");
            return Err(self.fault(head as u64, what, CUT_OFF));
        }
        let four: [u8; 4] = self.buffer[..4].try_into().unwrap_or_default();
        let length = i32::from_le_bytes(four);
        if length < 5 || length as usize > LARGEST {
            return Err(self.no_document(four, length));
        }
        let body = self.read(length as usize - 4)?;
        if body < length as usize - 4 {
            let what = format!("expected a document of {length} bytes, found {}", body + 4);
            return Err(self.fault(0, what, CUT_OFF));
        }
        if let Err(wrong) = bson_check::check(&self.buffer) {
            return Err(self.fault(wrong.at as u64, wrong.what, DAMAGED));
        }
        let raw = RawDocument::from_bytes(&self.buffer);
        let document = raw.and_then(Document::try_from).map_err(|error| {
            self.fault(0, format!("expected a BSON document, found: {error}"), DAMAGED)
        })?;
        self.offset += length as u64;
        Ok(Some(document))
    }

    /// Reads so many bytes behind what is in the buffer; fewer at the end. The buffer grows with
    /// what is there, not with what a length claims.
    fn read(&mut self, size: usize) -> Result<usize, Fault> {
        let mut part = (&mut self.source.reader).take(size as u64);
        part.read_to_end(&mut self.buffer)
            .map_err(|error| unreadable(&self.source.file, &error).at(Place::Offset(self.offset)))
    }

    fn no_document(&self, four: [u8; 4], length: i32) -> Fault {
        let what = format!("expected a document's length from 5 to {LARGEST}, found {length}");
        let first = self.offset == 0;
        let is_text = matches!(four[0], b'{' | b'[') || four.starts_with(&[0xef, 0xbb, 0xbf]);
        let fix = match u32::from_le_bytes(four) {
            ARCHIVE if first => {
                "this is an archive of mongodump: give a folder made without --archive"
            }
            _ if first && is_text => "this is text, not BSON: name it .json and give it again",
            _ if first => "this is not BSON: give a file that mongodump wrote",
            _ => DAMAGED,
        };
        self.fault(0, what, fix)
    }

    fn fault(&self, at: u64, what: impl Into<String>, fix: &str) -> Fault {
        let place = Place::Offset(self.offset + at);
        Fault::whole(&self.source.file, what, fix).at(place)
    }
}

const CUT_OFF: &str = "the file is cut off: copy it again, or dump the collection again";
const DAMAGED: &str = "the file is damaged: copy it again, or dump the collection again \
                       (bsondump --type=debug shows the same place)";
