//! What do the lines of `sstabledump -d` say?
//!
//! A record is `[key]@position` and then a row, a bound or the partition's deletion. It is one line,
//! unless a key or a value holds a line break; so the records are cut where the next one begins.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};

use super::instant::number;
use super::looks_like::mark;
use super::sstabledump::{
    Bound, Boundary, Cell, Clustering, ComplexDeletion, Content, Deletion, Expiry, Item, Lifetime,
    Liveness, Loss, Notes, Partition, Reach, Row, Side, Unfiltered, Value,
};
use crate::fault::{Fault, Place};
use crate::source::{Source, unreadable};
use crate::text;

/// Reads lines of `sstabledump -d`.
pub struct DebugReader {
    /// What is to be said of what was read.
    pub notes: Notes,
    source: Source,
    /// The line that is read next, from 1.
    line: u64,
    /// Memory for a line.
    spare: Vec<u8>,
    /// The record that is not yet known to be whole.
    pending: Record,
    /// What of a record is still to be answered.
    ready: VecDeque<Item>,
    /// The key of the partition.
    partition: Option<String>,
}

/// The lines of a record.
#[derive(Default)]
struct Record {
    /// The number of the first line, from 1.
    line: u64,
    /// The lines, with a line break before each but the first.
    text: String,
    /// Where the last line but the first begins that may begin a record, and its number.
    bracket: Option<(usize, u64)>,
}

impl Record {
    fn new(line: u64, text: String) -> Record {
        Record { line, text, bracket: None }
    }

    /// Adds a line.
    fn push(&mut self, number: u64, line: &str) {
        if number > self.line {
            self.text.push('\n');
            if line.starts_with('[') {
                self.bracket = Some((self.text.len(), number));
            }
        }
        self.text.push_str(line);
    }

    /// Takes away what may begin another record.
    fn split(&mut self) -> Option<Record> {
        let (at, line) = self.bracket.take()?;
        Some(Record::new(line, self.text.split_off(at)))
    }
}

/// What a record cannot be read for, and at which byte of it.
struct Wrong {
    at: usize,
    what: String,
    fix: &'static str,
}

type Read<T> = Result<T, Wrong>;

/// No record is longer, in bytes.
const LONGEST: usize = 64 << 20;
const BROKEN: &str = "give what `sstabledump -d` prints, unchanged, or the JSON that it prints \
                      without `-d`";
const AS_JSON: &str = "dump again without `-d`";
/// The timestamp of a row that has no liveness.
const NO_TIMESTAMP: i64 = i64::MIN;

impl DebugReader {
    /// Begins to read.
    pub fn new(source: Source) -> DebugReader {
        let (notes, ready) = (Notes::default(), VecDeque::new());
        let pending = Record::new(1, String::new());
        DebugReader { notes, source, line: 1, spare: Vec::new(), pending, ready, partition: None }
    }

    /// The next partition, row or bound.
    pub fn next_item(&mut self) -> Result<Option<Item>, Fault> {
        while self.ready.is_empty() {
            match self.next_record()? {
                Some(record) => self.record(&record)?,
                None => return Ok(None),
            }
        }
        Ok(self.ready.pop_front())
    }

    /// The next record.
    fn next_record(&mut self) -> Result<Option<Record>, Fault> {
        loop {
            let number = self.line;
            let Some(line) = self.next_line()? else {
                let record = std::mem::take(&mut self.pending);
                let is_blank = record.text.trim().is_empty();
                return Ok(if is_blank { None } else { Some(record) });
            };
            let next = match mark(&line) {
                None => None,
                Some(_) if line.starts_with('[') => Some(Record::new(number, line.clone())),
                // A key with a line break begins on a line before.
                Some(_) => self.pending.split().map(|mut record| {
                    record.push(number, &line);
                    record
                }),
            };
            if let Some(next) = next {
                let record = std::mem::replace(&mut self.pending, next);
                if record.text.trim().is_empty() {
                    continue;
                }
                return Ok(Some(record));
            }
            if self.pending.text.len() + line.len() > LONGEST {
                let what = format!("expected at most {LONGEST} bytes in a record, found more");
                return Err(self.fault(Place::Line(number, 1), what, AS_JSON));
            }
            self.pending.push(number, &line);
            self.spare = line.into_bytes();
        }
    }

    fn next_line(&mut self) -> Result<Option<String>, Fault> {
        let (number, mut bytes) = (self.line, std::mem::take(&mut self.spare));
        bytes.clear();
        let mut part = (&mut self.source.reader).take(LONGEST as u64 + 2);
        let read = part.read_until(b'\n', &mut bytes);
        let place = Place::Line(number, 1);
        read.map_err(|error| unreadable(&self.source.file, &error).at(place))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else {
            self.notes.lose(Loss::End, number);
        }
        if number == 1 && bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            bytes.drain(..3);
        }
        self.line += 1;
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = Place::Line(number, error.utf8_error().valid_up_to() as u64 + 1);
            let what = "expected UTF-8, found something else";
            self.fault(place, what, "keep the dump as UTF-8, as sstabledump writes it")
        })?;
        Ok(Some(text))
    }

    fn fault(&self, place: Place, what: impl Into<String>, fix: &str) -> Fault {
        Fault::whole(&self.source.file, what, fix).at(place)
    }

    /// Reads a record and makes its items ready.
    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        // A line break at the end is not part of it; one in front cannot be.
        let (line, joined) = (record.line, record.text.trim_end_matches(['\n', '\r']));
        let record = match read_record(joined, line, &mut self.notes) {
            Ok(record) => record,
            Err(wrong) => {
                let (down, column) = text::line_and_column(joined.as_bytes(), wrong.at);
                let place = Place::Line(line + down - 1, column);
                return Err(self.fault(place, wrong.what, wrong.fix));
            }
        };
        let is_same = self.partition.as_deref() == Some(record.key);
        if !is_same || matches!(record.what, What::Deletion(_)) {
            self.partition = Some(record.key.to_owned());
            let deletion = match record.what {
                What::Deletion(deletion) => Some(deletion),
                What::Row(_) => None,
            };
            let (key, position) = (vec![record.key.to_owned()], Some(record.position));
            let partition = Partition { line, key, position, deletion, rows: Vec::new() };
            self.ready.push_back(Item::Partition(partition));
        }
        if let What::Row(row) = record.what {
            self.ready.push_back(Item::Row(row));
        }
        Ok(())
    }
}

/// What a record says.
struct Said<'a> {
    key: &'a str,
    position: u64,
    what: What,
}

enum What {
    Deletion(Deletion),
    Row(Unfiltered),
}

/// A text of which the front is taken away bit by bit.
struct Rest<'a> {
    all: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn left(&self) -> &'a str {
        &self.all[self.at..]
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.left().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn expected(&self, what: &str) -> Wrong {
        // What comes after a line break stands on the next line.
        let at = self.at + usize::from(self.left().starts_with('\n'));
        let found = match &self.all[at..] {
            "" => "the end of the record".to_owned(),
            left => format!("`{}`", text::shortened(left).escape_debug()),
        };
        Wrong { at, what: format!("expected {what}, found {found}"), fix: BROKEN }
    }

    fn number(&mut self, what: &str) -> Read<i64> {
        let left = self.left();
        let is_part = |(at, byte): (usize, u8)| byte.is_ascii_digit() || (at == 0 && byte == b'-');
        let length = left.bytes().enumerate().take_while(|part| is_part(*part)).count();
        let number = number(&left[..length]).ok_or_else(|| self.expected(what))?;
        self.at += length;
        Ok(number)
    }

    fn ttl(&mut self) -> Read<i64> {
        let at = self.at;
        let ttl = self.number("a ttl in seconds")?;
        if (0..=i64::from(i32::MAX)).contains(&ttl) {
            return Ok(ttl);
        }
        Err(Wrong { at, what: format!("expected a ttl in seconds, found `{ttl}`"), fix: BROKEN })
    }

    fn deletion(&mut self) -> Read<Deletion> {
        self.expect("deletedAt=")?;
        let marked_deleted_us = self.number("a timestamp in microseconds")?;
        self.expect(", localDeletion=")?;
        let local_delete_time_s = self.number("a local deletion time in seconds")?;
        Ok(Deletion { marked_deleted_us, local_delete_time_s })
    }
}

fn read_record<'a>(text: &'a str, line: u64, notes: &mut Notes) -> Read<Said<'a>> {
    let mut rest = Rest { all: text, at: 0 };
    let Some(mark) = mark(text).filter(|_| text.starts_with('[')) else {
        return Err(rest.expected("`[key]@position` and a row, a bound or a deletion"));
    };
    let key = &text[1..mark.key_end];
    rest.at = mark.key_end + 2;
    let at = rest.at;
    let position = rest.number("a position in bytes")?;
    let position =
        u64::try_from(position).map_err(|_| Rest { all: text, at }.expected("a position"))?;
    rest.expect(" ")?;
    let what = match rest.left() {
        left if left.starts_with("deletedAt=") => {
            let deletion = rest.deletion()?;
            if !rest.left().is_empty() {
                return Err(rest.expected("the end of the record"));
            }
            What::Deletion(deletion)
        }
        left if left.starts_with("Marker ") => What::Row(marker(rest, line, position, notes)?),
        _ => What::Row(row(rest, line, position, notes)?),
    };
    Ok(Said { key, position, what })
}

/// `Marker KIND(prefix)@timestamp/local` or, of a boundary, `…@timestamp/local-timestamp/local`.
fn marker(mut rest: Rest<'_>, line: u64, position: u64, notes: &mut Notes) -> Read<Unfiltered> {
    rest.expect("Marker ")?;
    let kinds = [
        ("INCL_END_EXCL_START_BOUNDARY(", None, Reach::Inclusive),
        ("EXCL_END_INCL_START_BOUNDARY(", None, Reach::Exclusive),
        ("INCL_START_BOUND(", Some(Side::Start), Reach::Inclusive),
        ("EXCL_START_BOUND(", Some(Side::Start), Reach::Exclusive),
        ("INCL_END_BOUND(", Some(Side::End), Reach::Inclusive),
        ("EXCL_END_BOUND(", Some(Side::End), Reach::Exclusive),
    ];
    let kind = kinds.into_iter().find(|(kind, ..)| rest.eat(kind));
    let Some((_, side, reach)) = kind else { return Err(rest.expected("the kind of a bound")) };
    // The prefix is plain text; what stands behind it is not.
    let Some(length) = rest.left().rfind(")@") else {
        return Err(rest.expected("`)@` after the prefix of a bound"));
    };
    let prefix = &rest.left()[..length];
    rest.at += length + 2;
    let first = times(&mut rest)?;
    let second = match side {
        Some(_) => None,
        None => {
            rest.expect("-")?;
            Some(times(&mut rest)?)
        }
    };
    if !rest.left().is_empty() {
        return Err(rest.expected("the end of the record"));
    }
    if prefix.contains(", ") {
        notes.lose(Loss::Comma, line);
    }
    let bound = |side, reach, deletion| Bound {
        line,
        position: Some(position),
        side,
        reach,
        prefix: Clustering::Joined(prefix.to_owned()),
        open: None,
        deletion,
    };
    Ok(match (side, second) {
        (None, Some(second)) => {
            let other = match reach {
                Reach::Inclusive => Reach::Exclusive,
                Reach::Exclusive => Reach::Inclusive,
            };
            let (end, start) = (bound(Side::End, reach, first), bound(Side::Start, other, second));
            Unfiltered::Boundary(Boundary { end, start })
        }
        (side, _) => Unfiltered::Bound(bound(side.unwrap_or(Side::Start), reach, first)),
    })
}

fn times(rest: &mut Rest<'_>) -> Read<Deletion> {
    let marked_deleted_us = rest.number("a timestamp in microseconds")?;
    if !rest.eat("/") {
        let wrong = rest.expected("`/` and a local deletion time, which old versions leave out");
        return Err(Wrong { fix: AS_JSON, ..wrong });
    }
    let local_delete_time_s = rest.number("a local deletion time in seconds")?;
    Ok(Deletion { marked_deleted_us, local_delete_time_s })
}

/// `Row[info=[ts=… ttl=…, let=…] del=deletedAt=…, localDeletion=… ]: clustering | cells`.
fn row(mut rest: Rest<'_>, line: u64, position: u64, notes: &mut Notes) -> Read<Unfiltered> {
    rest.expect("Row[info=[ts=")?;
    let timestamp_us = rest.number("a timestamp in microseconds")?;
    let expiry = if rest.eat(" ttl=") {
        let ttl_s = rest.ttl()?;
        rest.expect(", let=")?;
        let expires_at_s = rest.number("a local expiration time in seconds")?;
        Some(Expiry { ttl_s, expires_at_s, expired: None })
    } else {
        None
    };
    rest.expect("]")?;
    let (deletion, is_shadowable) = if rest.eat(" del=") {
        (Some(rest.deletion()?), Some(rest.eat("(shadowable)")))
    } else {
        (None, None)
    };
    rest.expect(" ]: ")?;
    let (clustering, cells, complex_deletions) = clustering_and_cells(&rest, line, notes)?;
    let is_static = clustering == "STATIC";
    if clustering.contains(", ") && !clustering.contains('\'') && !is_static {
        notes.lose(Loss::Comma, line);
    }
    let has_liveness = timestamp_us != NO_TIMESTAMP;
    let row = Row {
        line,
        position: Some(position),
        clustering: match clustering {
            "" => Clustering::NONE,
            _ if is_static => Clustering::NONE,
            text => Clustering::Joined(text.to_owned()),
        },
        liveness: has_liveness.then_some(Liveness { timestamp_us, expiry }),
        deletion,
        is_shadowable,
        cells,
        complex_deletions,
    };
    Ok(if is_static { Unfiltered::Static(row) } else { Unfiltered::Row(row) })
}

type Cells = (Vec<Cell>, Vec<ComplexDeletion>);

/// Where does the clustering end? At the first ` | ` outside of quotes behind which cells follow.
/// Before 4.0 texts are not quoted, so any ` | ` will do in the end.
fn clustering_and_cells<'a>(
    rest: &Rest<'a>,
    line: u64,
    notes: &mut Notes,
) -> Read<(&'a str, Vec<Cell>, Vec<ComplexDeletion>)> {
    const TRIED: usize = 16;
    let left = rest.left();
    // An editor may have taken the space at the end.
    if let Some(clustering) = left.strip_suffix(" |").filter(|text| !text.contains(" | ")) {
        return Ok((clustering, Vec::new(), Vec::new()));
    }
    let ends = || left.match_indices(" | ").map(|(at, _)| at).take(TRIED);
    let is_outside = |at: &usize| left[..*at].matches('\'').count().is_multiple_of(2);
    let mut wrong = None;
    for end in ends().filter(is_outside).chain(ends().filter(|at| !is_outside(at))) {
        let mut losses = Notes::default();
        match cells(Rest { all: rest.all, at: rest.at + end + 3 }, line, &mut losses) {
            Ok((cells, deletions)) => {
                for loss in losses.losses.into_keys() {
                    notes.lose(loss, line);
                }
                return Ok((&left[..end], cells, deletions));
            }
            Err(found) => wrong = wrong.or(Some(found)),
        }
    }
    Err(wrong.unwrap_or_else(|| rest.expected("a clustering and ` | ` before the cells")))
}

/// Cells and deletions of columns, with commas between them; there is one more before each complex
/// column that is not deleted.
fn cells(mut rest: Rest<'_>, line: u64, notes: &mut Notes) -> Read<Cells> {
    let (mut cells, mut deletions): Cells = (Vec::new(), Vec::new());
    let mut is_after_one = false;
    while !rest.left().is_empty() {
        let has_comma = rest.eat(", ");
        if has_comma {
            is_after_one = false;
            continue;
        }
        if is_after_one {
            return Err(rest.expected("`, ` and the next cell"));
        }
        is_after_one = true;
        if rest.eat("del(") {
            let Some(length) = rest.left().find(")=deletedAt=") else {
                return Err(rest.expected("`column)=deletedAt=`"));
            };
            let name = rest.left()[..length].to_owned();
            rest.at += length + 2;
            deletions.push(ComplexDeletion { name, deletion: rest.deletion()? });
            continue;
        }
        let at = rest.at;
        let cell = cell(&mut rest)?;
        let is_again = |other: &Cell| other.name == cell.name && other.path == cell.path;
        if cells.last().is_some_and(is_again) {
            // Fields of user-defined types are not told apart; their values are bytes.
            let is_bytes = |cell: &Cell| match &cell.content {
                Content::Value(value, _) => {
                    let text = value.plain();
                    text.is_empty() || text.starts_with("0x")
                }
                Content::Deleted { .. } => true,
            };
            if !is_bytes(&cell) || !cells.last().is_some_and(is_bytes) {
                let name = text::shortened(&cell.name);
                let what = format!(
                    "expected each column once, found `{name}` again; a value may look like cells"
                );
                return Err(Wrong { at, what, fix: AS_JSON });
            }
            notes.lose(Loss::Field, line);
        }
        cells.push(cell);
    }
    Ok((cells, deletions))
}

/// `[column=value ts=… ttl=… ldt=…]` or, in a collection, `[column[path]=value …]`.
fn cell(rest: &mut Rest<'_>) -> Read<Cell> {
    let start = rest.at;
    rest.expect("[")?;
    let body = rest.left();
    let ends = body.match_indices(" ts=").find_map(|(at, _)| {
        let mut rest = Rest { all: rest.all, at: rest.at + at + 4 };
        let times = cell_times(&mut rest).ok()?;
        let left = rest.left();
        let is_end = left.is_empty()
            || left.starts_with(", [")
            || left.starts_with(", del(")
            || left.starts_with(", , ");
        is_end.then_some((at, times, rest.at))
    });
    let Some((length, (timestamp_us, ttl_s, local_s), end)) = ends else {
        // The times of the first candidate say best what is wrong.
        let at = body.find(" ts=").map_or(rest.all.len(), |at| rest.at + at + 4);
        let mut at = Rest { all: rest.all, at };
        return Err(match cell_times(&mut at) {
            Err(wrong) => wrong,
            Ok(_) => at.expected("the end of the record or `, ` and the next cell"),
        });
    };
    let Some((name, path, value)) = name_path_value(&body[..length]) else {
        return Err(Rest { all: rest.all, at: start }.expected("`[column=value ts=`"));
    };
    rest.at = end;
    let value = Value::Text(value.to_owned());
    let content = match (ttl_s, local_s) {
        (None, None) => Content::Value(value, Lifetime::Forever),
        (None, Some(local_delete_time_s)) => Content::Deleted { local_delete_time_s },
        (Some(ttl_s), Some(expires_at_s)) => {
            let expiry = Expiry { ttl_s, expires_at_s, expired: None };
            Content::Value(value, Lifetime::Until(expiry))
        }
        (Some(_), None) => {
            return Err(Rest { all: rest.all, at: end }.expected("` ldt=` after a ttl"));
        }
    };
    let (name, path) = (name.to_owned(), path.map(str::to_owned));
    Ok(Cell { name, path, timestamp_us, content })
}

/// Timestamp, ttl and local time, and the bracket behind them.
fn cell_times(rest: &mut Rest<'_>) -> Read<(i64, Option<i64>, Option<i64>)> {
    let timestamp_us = rest.number("a timestamp in microseconds")?;
    let ttl = if rest.eat(" ttl=") { Some(rest.ttl()?) } else { None };
    let local = match rest.eat(" ldt=") {
        true => Some(rest.number("a local deletion time in seconds")?),
        false => None,
    };
    rest.expect("]")?;
    Ok((timestamp_us, ttl, local))
}

fn name_path_value(body: &str) -> Option<(&str, Option<&str>, &str)> {
    let equals = body.find('=')?;
    match body.find('[').filter(|bracket| *bracket < equals) {
        Some(bracket) => {
            let close = bracket + body[bracket..].find("]=")?;
            Some((&body[..bracket], Some(&body[bracket + 1..close]), &body[close + 2..]))
        }
        None => Some((&body[..equals], None, &body[equals + 1..])),
    }
}
