//! Which JSON comes next? Strict JSON, read from anywhere with little memory, and with places.

use std::io::{BufRead, ErrorKind};

use crate::fault::{Fault, Place};
use crate::source::{Source, unreadable};
use crate::text;

/// JSON that is read one value at a time.
pub struct Stream {
    /// The name of the file, for messages.
    pub file: String,
    reader: Box<dyn BufRead>,
    /// What is read ahead, from `at` to `end`.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// The line that is read, from 1.
    line: u64,
    /// How many bytes of the line are read.
    column: u64,
    /// What is read, where all of it is wanted.
    tape: Option<Vec<u8>>,
}

type Read<T> = Result<T, Fault>;

/// No value nests deeper than this.
const DEEPEST: usize = 200;
/// No single string or value is longer, in bytes; the server's own limit on a write is smaller.
const LONGEST: usize = 64 << 20;
/// How much is read at once, in bytes.
const AHEAD: usize = 1 << 16;
/// What helps where the text ends too early.
pub const CUT_OFF: &str = "the dump is cut off: run sstabledump again, and look at its errors";
/// What helps where it is not JSON, or not this JSON.
pub const BROKEN: &str = "give what sstabledump prints, unchanged";

impl Stream {
    /// Begins to read.
    pub fn new(source: Source) -> Stream {
        let Source { file, reader, .. } = source;
        let (buffer, at, end) = (vec![0; AHEAD], 0, 0);
        Stream { file, reader, buffer, at, end, line: 1, column: 0, tape: None }
    }

    /// Reads ahead where nothing is left.
    fn fill(&mut self) -> Read<&[u8]> {
        while self.at == self.end {
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Ok(&[]),
                Ok(length) => (self.at, self.end) = (0, length),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.file, &error).at(self.here())),
            }
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// The next byte, which stays.
    fn peek(&mut self) -> Read<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    /// Takes the byte that was peeked.
    fn take(&mut self, byte: u8) {
        self.at += 1;
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
        if let Some(tape) = &mut self.tape {
            tape.push(byte);
        }
    }

    /// Where the next byte is.
    pub fn here(&self) -> Place {
        Place::Line(self.line, self.column + 1)
    }

    /// The line of the next byte, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// A fault at a place.
    pub fn fault(&self, place: Place, what: impl Into<String>, fix: &str) -> Fault {
        Fault::whole(&self.file, what, fix).at(place)
    }

    /// A fault: something else was expected here.
    pub fn expected(&mut self, what: &str) -> Fault {
        let (found, fix) = match self.peek() {
            Err(fault) => return fault,
            Ok(None) => ("the end of the text".to_owned(), CUT_OFF),
            Ok(Some(byte)) if byte.is_ascii_graphic() => (format!("`{}`", byte as char), BROKEN),
            Ok(Some(byte)) => (format!("byte 0x{byte:02x}"), BROKEN),
        };
        self.fault(self.here(), format!("expected {what}, found {found}"), fix)
    }

    /// The next byte after white space, which stays.
    pub fn token(&mut self) -> Read<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) => self.take(byte),
                other => return Ok(other),
            }
        }
    }

    /// Takes the next byte after white space if it is this one.
    pub fn eat(&mut self, byte: u8) -> Read<bool> {
        let is_next = self.token()? == Some(byte);
        if is_next {
            self.take(byte);
        }
        Ok(is_next)
    }

    /// Takes the next byte after white space, which must be this one.
    pub fn expect(&mut self, byte: u8, what: &str) -> Read<()> {
        if self.eat(byte)? { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Skips a byte order mark.
    pub fn skip_mark(&mut self) -> Read<()> {
        for byte in [0xef, 0xbb, 0xbf] {
            if self.peek()? != Some(byte) {
                break;
            }
            self.take(byte);
        }
        Ok(())
    }

    /// The fields of an object, each read by `field`, which is given name and place of the value.
    pub fn object(
        &mut self,
        what: &str,
        mut field: impl FnMut(&mut Stream, &str, Place) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'{', what)?;
        let mut names: Vec<String> = Vec::new();
        if self.eat(b'}')? {
            return Ok(());
        }
        loop {
            let name = self.name(&mut names)?;
            let place = self.here();
            field(self, &name, place)?;
            if !self.eat(b',')? {
                return self.expect(b'}', "`,` or `}`");
            }
        }
    }

    /// The name of a field, which must be new, and the colon after it.
    pub fn name(&mut self, names: &mut Vec<String>) -> Read<String> {
        self.token()?;
        let place = self.here();
        let name = self.string("a field's name")?;
        if names.contains(&name) {
            let what =
                format!("expected each field once, found `{}` again", text::shortened(&name));
            return Err(self.fault(place, what, BROKEN));
        }
        if names.len() < 64 {
            names.push(name.clone());
        }
        self.expect(b':', "`:` after a field's name")?;
        self.token()?;
        Ok(name)
    }

    /// The elements of a list, each read by `element`.
    pub fn list(
        &mut self,
        what: &str,
        mut element: impl FnMut(&mut Stream) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'[', what)?;
        if self.eat(b']')? {
            return Ok(());
        }
        loop {
            self.token()?;
            element(self)?;
            if !self.eat(b',')? {
                return self.expect(b']', "`,` or `]`");
            }
        }
    }

    /// A string, decoded.
    pub fn string(&mut self, what: &str) -> Read<String> {
        self.token()?;
        let start = self.here();
        self.expect(b'"', what)?;
        let mut bytes = Vec::new();
        loop {
            self.plain_run(&mut bytes)?;
            if bytes.len() > LONGEST {
                let what = format!("expected at most {LONGEST} bytes in a string, found more");
                return Err(self.fault(start, what, BROKEN));
            }
            match self.peek()? {
                Some(b'"') => {
                    self.take(b'"');
                    break;
                }
                Some(b'\\') => self.escape(&mut bytes)?,
                _ => return Err(self.expected("the end of the string")),
            }
        }
        String::from_utf8(bytes).map_err(|_| {
            let what = "expected UTF-8 in the string, found something else";
            self.fault(start, what, "keep the dump as UTF-8, as sstabledump writes it")
        })
    }

    /// The bytes of a string up to a quote, an escape or something that may not stand in it.
    fn plain_run(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        loop {
            self.fill()?;
            let left = &self.buffer[self.at..self.end];
            let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
            let length = left.iter().take_while(|byte| is_plain(byte)).count();
            bytes.extend_from_slice(&left[..length]);
            if let Some(tape) = &mut self.tape {
                tape.extend_from_slice(&left[..length]);
            }
            let goes_on = length == left.len() && length > 0 && bytes.len() <= LONGEST;
            self.at += length;
            self.column += length as u64;
            if !goes_on {
                return Ok(());
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        self.take(b'\\');
        let byte = self.peek()?;
        let character = match byte {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => {
                self.take(b'u');
                let character = self.utf16()?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.expected("an escape such as `\\n`")),
        };
        if let Some(byte) = byte {
            self.take(byte);
        }
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// What stands after `\u`. Half of a pair becomes U+FFFD.
    fn utf16(&mut self) -> Read<char> {
        let mut first = self.hex()?;
        loop {
            let is_high = (0xd800..0xdc00).contains(&first);
            if !is_high || self.peek()? != Some(b'\\') {
                return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.take(b'\\');
            if self.peek()? != Some(b'u') {
                return Err(self.expected("the other half of a UTF-16 pair"));
            }
            self.take(b'u');
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            first = second;
        }
    }

    fn hex(&mut self) -> Read<u32> {
        let mut number = 0;
        for _ in 0..4 {
            let digit = self.peek()?.filter(u8::is_ascii_hexdigit);
            let Some(digit) = digit else { return Err(self.expected("4 hexadecimal digits")) };
            self.take(digit);
            number = number * 16 + (digit as char).to_digit(16).unwrap_or_default();
        }
        Ok(number)
    }

    /// Any value, as it is written.
    pub fn raw(&mut self) -> Read<String> {
        self.token()?;
        let start = self.here();
        self.tape = Some(Vec::new());
        let read = self.skip(0, start);
        let tape = self.tape.take().unwrap_or_default();
        read?;
        String::from_utf8(tape).map_err(|_| {
            let what = "expected UTF-8 in the value, found something else";
            self.fault(start, what, "keep the dump as UTF-8, as sstabledump writes it")
        })
    }

    /// Goes past a value that is not wanted.
    pub fn pass(&mut self) -> Read<()> {
        let start = self.here();
        self.skip(0, start)
    }

    fn skip(&mut self, depth: usize, start: Place) -> Read<()> {
        if depth > DEEPEST {
            let what = format!("expected at most {DEEPEST} levels, found more");
            return Err(self.fault(self.here(), what, BROKEN));
        }
        if self.tape.as_ref().is_some_and(|tape| tape.len() > LONGEST) {
            let what = format!("expected at most {LONGEST} bytes in a value, found more");
            return Err(self.fault(start, what, BROKEN));
        }
        match self.token()? {
            Some(b'"') => self.string("a string").map(drop),
            Some(b'[') => self.list("a list", |stream| stream.skip(depth + 1, start)),
            Some(b'{') => self.object("an object", |stream, _, _| stream.skip(depth + 1, start)),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.expected("a value")),
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self) -> Read<bool> {
        match self.token()? {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => Err(self.expected("`true` or `false`")),
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        for byte in word.bytes() {
            if self.peek()? != Some(byte) {
                return Err(self.expected(&format!("`{word}`")));
            }
            self.take(byte);
        }
        Ok(())
    }

    /// A number, as it is written.
    pub fn number(&mut self) -> Read<String> {
        self.token()?;
        let place = self.here();
        let mut number = String::new();
        while let Some(byte @ (b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) = self.peek()? {
            self.take(byte);
            number.push(byte as char);
            if number.len() > LONGEST {
                break;
            }
        }
        if number.is_empty() {
            return Err(self.expected("a number"));
        }
        if is_number(&number) {
            return Ok(number);
        }
        let what = format!("expected a number, found `{}`", text::shortened(&number));
        Err(self.fault(place, what, BROKEN))
    }
}

/// Is it a number of JSON?
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let length = digits(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}
