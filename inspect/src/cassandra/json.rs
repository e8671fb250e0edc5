//! What do the JSON forms of sstabledump say?

use super::instant;
use super::sstabledump::{
    Bound, Boundary, Cell, Clustering, ComplexDeletion, Content, Deletion, Expiry, Form, Item,
    Lifetime, Liveness, Loss, Notes, Partition, Reach, Row, Side, Unfiltered, Value,
};
use super::stream::{BROKEN, Stream};
use crate::fault::{Fault, Place};
use crate::source::Source;
use crate::text;

/// Reads JSON of sstabledump.
pub struct JsonReader {
    /// One list, or one object after the other.
    pub form: Form,
    /// What is to be said of what was read.
    pub notes: Notes,
    stream: Stream,
    state: State,
    /// The fields of the partition that were seen.
    names: Vec<String>,
}

enum State {
    /// Nothing is read.
    Begin,
    /// Between partitions; was there one?
    Outside(bool),
    /// Among the rows of a partition; was there one?
    Rows(bool),
    /// At the end.
    End,
}

type Read<T> = Result<T, Fault>;

impl JsonReader {
    /// Begins to read.
    pub fn new(source: Source, form: Form) -> JsonReader {
        let (stream, notes) = (Stream::new(source), Notes::default());
        JsonReader { form, notes, stream, state: State::Begin, names: Vec::new() }
    }

    /// The next partition, row or bound.
    pub fn next_item(&mut self) -> Read<Option<Item>> {
        loop {
            match self.state {
                State::Begin => {
                    self.stream.skip_mark()?;
                    if self.form == Form::Json {
                        self.stream.expect(b'[', "`[` before the partitions")?;
                    }
                    self.state = State::Outside(false);
                }
                State::Outside(is_after_one) => match self.is_at_partition(is_after_one)? {
                    true => return self.partition().map(Some),
                    false => self.state = State::End,
                },
                State::Rows(is_after_one) => {
                    if self.stream.eat(b']')? {
                        self.rest_of_partition()?;
                        self.state = State::Outside(true);
                        continue;
                    }
                    if is_after_one {
                        self.stream.expect(b',', "`,` or `]` after a row")?;
                    }
                    self.state = State::Rows(true);
                    return self.row().map(|row| Some(Item::Row(row)));
                }
                State::End => return Ok(None),
            }
        }
    }

    fn is_at_partition(&mut self, is_after_one: bool) -> Read<bool> {
        let stream = &mut self.stream;
        if self.form == Form::JsonLines {
            return Ok(stream.token()?.is_some());
        }
        if stream.eat(b']')? {
            return match stream.token()? {
                None => Ok(false),
                Some(_) => Err(stream.expected("the end after `]`")),
            };
        }
        if is_after_one {
            stream.expect(b',', "`,` or `]` after a partition")?;
        }
        Ok(true)
    }

    /// A partition up to its rows.
    fn partition(&mut self) -> Read<Item> {
        self.stream.token()?;
        let line = self.stream.line();
        self.stream.expect(b'{', "`{` of a partition")?;
        self.names.clear();
        let mut partition = None;
        loop {
            let name = self.stream.name(&mut self.names)?;
            match name.as_str() {
                "partition" => partition = Some(self.head(line)?),
                "rows" => break,
                _ => self.other(&name)?,
            }
            if !self.stream.eat(b',')? {
                return Err(self.stream.expected("`,` and the `rows` of the partition"));
            }
        }
        let Some(partition) = partition else {
            let what = "expected `partition` before `rows`, found `rows`";
            return Err(self.stream.fault(self.stream.here(), what, BROKEN));
        };
        self.stream.expect(b'[', "`[` before the rows")?;
        self.state = State::Rows(false);
        Ok(Item::Partition(partition))
    }

    /// What stands beside `partition` and `rows`.
    fn other(&mut self, name: &str) -> Read<()> {
        if name == "table kind" {
            let kind = self.stream.string("the kind of the table")?;
            if self.notes.table_kinds.len() < 16 {
                self.notes.table_kinds.insert(kind);
            }
            return Ok(());
        }
        self.notes.unknown(text::shortened(name), self.stream.line());
        self.stream.pass()
    }

    fn rest_of_partition(&mut self) -> Read<()> {
        while self.stream.eat(b',')? {
            let name = self.stream.name(&mut self.names)?;
            self.other(&name)?;
        }
        self.stream.expect(b'}', "`,` or `}` after the rows")
    }

    /// What `partition` says.
    fn head(&mut self, line: u64) -> Read<Partition> {
        let place = self.stream.here();
        let (mut key, mut position, mut deletion) = (None, None, None);
        let notes = &mut self.notes;
        self.stream.object("an object as `partition`", |stream, name, _| {
            match name {
                "key" => {
                    let mut values = Vec::new();
                    stream.list("a list of strings as `key`", |stream| {
                        values.push(stream.string("a string in `key`")?);
                        Ok(())
                    })?;
                    key = Some(values);
                }
                "position" => position = Some(self::position(stream)?),
                "deletion_info" => deletion = Some(deletion_info(stream, notes)?),
                _ => unknown(stream, notes, "partition", name)?,
            }
            Ok(())
        })?;
        let key =
            key.ok_or_else(|| self.stream.fault(place, "expected a `key`, found none", BROKEN))?;
        let deletion = match deletion {
            Some(read) => Some(whole(&self.stream, place, read)?),
            None => None,
        };
        Ok(Partition { line, key, position, deletion, rows: Vec::new() })
    }

    /// A row or a bound.
    fn row(&mut self) -> Read<Unfiltered> {
        self.stream.token()?;
        let (place, line) = (self.stream.here(), self.stream.line());
        let mut draft = Draft::default();
        let notes = &mut self.notes;
        self.stream.object("`{` of a row", |stream, name, place| {
            match name {
                "type" => draft.kind = Some(stream.string("a string as `type`")?),
                "position" => draft.position = Some(position(stream)?),
                "clustering" => draft.clustering = Some(clustering(stream)?),
                "liveness_info" => draft.liveness = Some(liveness(stream, notes)?),
                "deletion_info" => draft.deletion = Some(deletion_info(stream, notes)?),
                "cells" => stream.list("a list as `cells`", |stream| {
                    draft.cells.push(cell(stream, notes)?);
                    Ok(())
                })?,
                "start" => draft.start = Some((place, bound(stream, notes)?)),
                "end" => draft.end = Some((place, bound(stream, notes)?)),
                _ => unknown(stream, notes, "row", name)?,
            }
            Ok(())
        })?;
        draft.finish(&self.stream, &mut self.notes, place, line)
    }
}

/// What a row says, before it is put together.
#[derive(Default)]
struct Draft {
    kind: Option<String>,
    position: Option<u64>,
    clustering: Option<Vec<Value>>,
    liveness: Option<Liveness>,
    deletion: Option<HalfDeletion>,
    cells: Vec<CellDraft>,
    start: Option<(Place, BoundDraft)>,
    end: Option<(Place, BoundDraft)>,
}

/// A deletion of which a cell says only the second half.
struct HalfDeletion {
    marked_deleted_us: Option<i64>,
    local_delete_time_s: i64,
}

struct CellDraft {
    place: Place,
    line: u64,
    name: Option<String>,
    path: Vec<String>,
    value: Option<String>,
    deletion: Option<HalfDeletion>,
    timestamp_us: Option<i64>,
    ttl_s: Option<i64>,
    expires_at_s: Option<i64>,
    expired: Option<bool>,
}

struct BoundDraft {
    reach: Option<Reach>,
    clustering: Vec<Value>,
    deletion: Option<HalfDeletion>,
}

impl Draft {
    fn finish(
        self,
        stream: &Stream,
        notes: &mut Notes,
        place: Place,
        line: u64,
    ) -> Read<Unfiltered> {
        let wrong = |what: &str| stream.fault(place, what, BROKEN);
        let is_marker = self.start.is_some() || self.end.is_some();
        let has_rest = self.clustering.is_some()
            || self.liveness.is_some()
            || self.deletion.is_some()
            || !self.cells.is_empty();
        match self.kind.as_deref() {
            Some("row") if !is_marker => {
                self.plain(stream, notes, place, line).map(Unfiltered::Row)
            }
            Some("static_block") if !is_marker && self.clustering.is_none() => {
                self.plain(stream, notes, place, line).map(Unfiltered::Static)
            }
            Some("range_tombstone_bound") if !has_rest => {
                let (side, (place, draft)) = match (self.start, self.end) {
                    (Some(start), None) => (Side::Start, start),
                    (None, Some(end)) => (Side::End, end),
                    _ => return Err(wrong("expected either `start` or `end` of a bound")),
                };
                let bound = draft.finish(stream, notes, place, line, side, self.position)?;
                Ok(Unfiltered::Bound(bound))
            }
            Some("range_tombstone_boundary") if !has_rest => {
                let (Some((at_start, start)), Some((at_end, end))) = (self.start, self.end) else {
                    return Err(wrong("expected both `start` and `end` of a boundary"));
                };
                let position = self.position;
                let start = start.finish(stream, notes, at_start, line, Side::Start, position)?;
                let end = end.finish(stream, notes, at_end, line, Side::End, position)?;
                if start.prefix != end.prefix || start.reach == end.reach {
                    let what =
                        "expected one clustering, inclusive at one side of the boundary only";
                    return Err(wrong(what));
                }
                Ok(Unfiltered::Boundary(Boundary { end, start }))
            }
            Some(
                kind @ ("row"
                | "static_block"
                | "range_tombstone_bound"
                | "range_tombstone_boundary"),
            ) => Err(wrong(&format!("expected fields that belong to a `{kind}`, found others"))),
            Some(kind) => {
                let kind = text::shortened(kind);
                Err(wrong(&format!("expected the type of a row or of a bound, found `{kind}`")))
            }
            None => Err(wrong("expected a `type` of the row, found none")),
        }
    }

    fn plain(self, stream: &Stream, notes: &mut Notes, place: Place, line: u64) -> Read<Row> {
        let deletion = match self.deletion {
            Some(read) => Some(whole(stream, place, read)?),
            None => None,
        };
        let (mut cells, mut complex_deletions) = (Vec::new(), Vec::new());
        for draft in self.cells {
            match draft.finish(stream, notes, self.liveness)? {
                Ok(cell) => cells.push(cell),
                Err(deletion) => complex_deletions.push(deletion),
            }
        }
        Ok(Row {
            line,
            position: self.position,
            clustering: Clustering::Values(self.clustering.unwrap_or_default()),
            liveness: self.liveness,
            deletion,
            is_shadowable: None,
            cells,
            complex_deletions,
        })
    }
}

impl CellDraft {
    /// The cell, or the deletion of a whole column that looks like one.
    fn finish(
        self,
        stream: &Stream,
        notes: &mut Notes,
        liveness: Option<Liveness>,
    ) -> Read<Result<Cell, ComplexDeletion>> {
        let place = self.place;
        let wrong = |what: &str| stream.fault(place, what, BROKEN);
        let Some(name) = self.name.as_deref().map(unquoted) else {
            return Err(wrong("expected a `name` of the cell, found none"));
        };
        let has_lifetime = self.ttl_s.is_some() || self.expires_at_s.is_some();
        if let Some(HalfDeletion { marked_deleted_us: Some(_), .. }) = &self.deletion {
            if self.value.is_some()
                || !self.path.is_empty()
                || self.timestamp_us.is_some()
                || has_lifetime
            {
                return Err(wrong("expected a `deletion_info` without `marked_deleted` in a cell"));
            }
            let deletion = self.deletion.map(|read| whole(stream, place, read));
            let deletion = deletion.unwrap_or_else(|| Err(wrong("expected a `deletion_info`")))?;
            return Ok(Err(ComplexDeletion { name, deletion }));
        }
        let Some(timestamp_us) = self.timestamp_us.or(liveness.map(|row| row.timestamp_us)) else {
            let what = "expected a `tstamp` of the cell, since its row has none, found none";
            return Err(wrong(what));
        };
        let lifetime = match (self.ttl_s, self.expires_at_s) {
            (Some(ttl_s), Some(expires_at_s)) => {
                Lifetime::Until(Expiry { ttl_s, expires_at_s, expired: self.expired })
            }
            (None, None) if liveness.is_some_and(|row| row.expiry.is_some()) => Lifetime::Unsaid,
            (None, None) => Lifetime::Forever,
            _ => return Err(wrong("expected both `ttl` and `expires_at` or neither")),
        };
        let content = match (self.value, self.deletion) {
            (Some(value), None) => {
                if lifetime == Lifetime::Unsaid {
                    notes.lose(Loss::Ttl, self.line);
                }
                Content::Value(Value::Json(value), lifetime)
            }
            (None, Some(read)) if !has_lifetime => {
                Content::Deleted { local_delete_time_s: read.local_delete_time_s }
            }
            (None, Some(_)) => return Err(wrong("expected no ttl of a deleted cell, found one")),
            _ => return Err(wrong("expected either a `value` or a `deletion_info` of the cell")),
        };
        let mut path = self.path.into_iter();
        let (path, more) = (path.next(), path.next());
        if more.is_some() {
            return Err(wrong("expected one element in `path`, found more"));
        }
        Ok(Ok(Cell { name, path, timestamp_us, content }))
    }
}

impl BoundDraft {
    fn finish(
        self,
        stream: &Stream,
        notes: &mut Notes,
        place: Place,
        line: u64,
        side: Side,
        position: Option<u64>,
    ) -> Read<Bound> {
        let (Some(reach), Some(deletion)) = (self.reach, self.deletion) else {
            let what = "expected `type` and `deletion_info` of the bound, found not both";
            return Err(stream.fault(place, what, BROKEN));
        };
        let deletion = whole(stream, place, deletion)?;
        let mut values = self.clustering;
        let is_star = |value: &Value| matches!(value, Value::Json(json) if json == "\"*\"");
        // A bound without a prefix has no clustering at all, so the first value is one.
        let open = values.iter().skip(1).rev().take_while(|value| is_star(value)).count();
        values.truncate(values.len() - open);
        if open > 0 {
            notes.lose(Loss::Star, line);
        }
        let prefix = Clustering::Values(values);
        Ok(Bound { line, position, side, reach, prefix, open: Some(open), deletion })
    }
}

fn unknown(stream: &mut Stream, notes: &mut Notes, place: &str, name: &str) -> Read<()> {
    notes.unknown(format!("{place}.{}", text::shortened(name)), stream.line());
    stream.pass()
}

fn position(stream: &mut Stream) -> Read<u64> {
    stream.token()?;
    let place = stream.here();
    let number = stream.number()?;
    number.parse().map_err(|_| {
        let what = format!("expected a position in bytes, found `{}`", text::shortened(&number));
        stream.fault(place, what, BROKEN)
    })
}

fn clustering(stream: &mut Stream) -> Read<Vec<Value>> {
    let mut values = Vec::new();
    stream.list("a list as `clustering`", |stream| {
        values.push(Value::Json(stream.raw()?));
        Ok(())
    })?;
    Ok(values)
}

fn liveness(stream: &mut Stream, notes: &mut Notes) -> Read<Liveness> {
    let place = stream.here();
    let (mut timestamp, mut ttl, mut expires_at, mut expired) = (None, None, None, None);
    stream.object("an object as `liveness_info`", |stream, name, _| {
        match name {
            "tstamp" => timestamp = Some(timestamp_us(stream, notes)?),
            "ttl" => ttl = Some(ttl_s(stream)?),
            "expires_at" => expires_at = Some(local_s(stream)?),
            "expired" => expired = Some(stream.boolean()?),
            _ => unknown(stream, notes, "liveness_info", name)?,
        }
        Ok(())
    })?;
    let Some(timestamp_us) = timestamp else {
        return Err(stream.fault(place, "expected a `tstamp` of the row, found none", BROKEN));
    };
    let expiry = match (ttl, expires_at) {
        (Some(ttl_s), Some(expires_at_s)) => Some(Expiry { ttl_s, expires_at_s, expired }),
        (None, None) => None,
        _ => {
            let what = "expected both `ttl` and `expires_at` or neither";
            return Err(stream.fault(place, what, BROKEN));
        }
    };
    Ok(Liveness { timestamp_us, expiry })
}

fn deletion_info(stream: &mut Stream, notes: &mut Notes) -> Read<HalfDeletion> {
    let place = stream.here();
    let (mut marked_deleted_us, mut local_delete_time) = (None, None);
    stream.object("an object as `deletion_info`", |stream, name, _| {
        match name {
            "marked_deleted" => marked_deleted_us = Some(timestamp_us(stream, notes)?),
            "local_delete_time" => local_delete_time = Some(local_s(stream)?),
            _ => unknown(stream, notes, "deletion_info", name)?,
        }
        Ok(())
    })?;
    let Some(local_delete_time_s) = local_delete_time else {
        let what = "expected a `local_delete_time` of the deletion, found none";
        return Err(stream.fault(place, what, BROKEN));
    };
    Ok(HalfDeletion { marked_deleted_us, local_delete_time_s })
}

fn whole(stream: &Stream, place: Place, read: HalfDeletion) -> Read<Deletion> {
    let HalfDeletion { marked_deleted_us, local_delete_time_s } = read;
    match marked_deleted_us {
        Some(marked_deleted_us) => Ok(Deletion { marked_deleted_us, local_delete_time_s }),
        None => {
            let what = "expected `marked_deleted` in the `deletion_info`, found none";
            Err(stream.fault(place, what, BROKEN))
        }
    }
}

fn cell(stream: &mut Stream, notes: &mut Notes) -> Read<CellDraft> {
    let mut draft = CellDraft {
        place: stream.here(),
        line: stream.line(),
        name: None,
        path: Vec::new(),
        value: None,
        deletion: None,
        timestamp_us: None,
        ttl_s: None,
        expires_at_s: None,
        expired: None,
    };
    stream.object("`{` of a cell", |stream, name, _| {
        match name {
            "name" => draft.name = Some(stream.string("a string as `name`")?),
            "path" => stream.list("a list as `path`", |stream| {
                draft.path.push(stream.string("a string in `path`")?);
                Ok(())
            })?,
            "value" => draft.value = Some(stream.raw()?),
            "deletion_info" => draft.deletion = Some(deletion_info(stream, notes)?),
            "tstamp" => draft.timestamp_us = Some(timestamp_us(stream, notes)?),
            "ttl" => draft.ttl_s = Some(ttl_s(stream)?),
            "expires_at" => draft.expires_at_s = Some(local_s(stream)?),
            "expired" => draft.expired = Some(stream.boolean()?),
            _ => unknown(stream, notes, "cell", name)?,
        }
        Ok(())
    })?;
    Ok(draft)
}

fn bound(stream: &mut Stream, notes: &mut Notes) -> Read<BoundDraft> {
    let mut draft = BoundDraft { reach: None, clustering: Vec::new(), deletion: None };
    stream.object("an object as bound", |stream, name, place| {
        match name {
            "type" => {
                let reach = stream.string("a string as `type`")?;
                draft.reach = Some(match reach.as_str() {
                    "inclusive" => Reach::Inclusive,
                    "exclusive" => Reach::Exclusive,
                    _ => {
                        let found = text::shortened(&reach);
                        let what = format!("expected `inclusive` or `exclusive`, found `{found}`");
                        return Err(stream.fault(place, what, BROKEN));
                    }
                });
            }
            "clustering" => draft.clustering = clustering(stream)?,
            "deletion_info" => draft.deletion = Some(deletion_info(stream, notes)?),
            _ => unknown(stream, notes, "bound", name)?,
        }
        Ok(())
    })?;
    Ok(draft)
}

/// A string or a number that stands for an instant.
fn instant_text(stream: &mut Stream) -> Read<(Place, String)> {
    let is_string = stream.token()? == Some(b'"');
    let place = stream.here();
    let text = if is_string { stream.string("an instant")? } else { stream.number()? };
    Ok((place, text))
}

fn timestamp_us(stream: &mut Stream, notes: &mut Notes) -> Read<i64> {
    let (place, text) = instant_text(stream)?;
    let Some((instant, loss)) = instant::timestamp_us(&text) else {
        let found = text::shortened(&text);
        let what = format!("expected an instant in UTC or microseconds, found `{found}`");
        return Err(stream.fault(place, what, BROKEN));
    };
    if let Some(loss) = loss {
        notes.lose(loss, stream.line());
    }
    Ok(instant)
}

fn local_s(stream: &mut Stream) -> Read<i64> {
    let (place, text) = instant_text(stream)?;
    instant::local_s(&text).ok_or_else(|| {
        let found = text::shortened(&text);
        let what = format!("expected an instant in UTC or seconds, found `{found}`");
        stream.fault(place, what, BROKEN)
    })
}

fn ttl_s(stream: &mut Stream) -> Read<i64> {
    stream.token()?;
    let place = stream.here();
    let number = stream.number()?;
    number.parse::<i32>().ok().filter(|ttl| *ttl >= 0).map(i64::from).ok_or_else(|| {
        let what = format!("expected a ttl in seconds, found `{}`", text::shortened(&number));
        stream.fault(place, what, BROKEN)
    })
}

/// A name of CQL without its quotes.
fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(inside) => inside.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}
