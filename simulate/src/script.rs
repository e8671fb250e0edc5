//! What is to be played, and can it be?
//!
//! The form is in `docs/simulate.md`. What cannot be is said with its line and the reason before
//! anything is played.

mod raw;

use std::collections::BTreeMap;
use std::ops::Range;

use bson::Bson;
use toml::{Spanned, Value as Toml};
use ttlspec_model::mongodb::{Cost, Value, Version};

use crate::arrival::{Jitter, PARTS, Shape};
use crate::fault::{Fault, Place};
use crate::units::{self, DAY_MS};

/// A script that can be played, as far as it can be told without playing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The file, as it was named.
    pub file: String,
    /// What all servers run at the start.
    pub version: Version,
    /// What there is to say about the version.
    pub notes: Vec<String>,
    /// When it begins; milliseconds since 1970, as all instants here.
    pub start_ms: i64,
    /// What happens then or later is not played.
    pub end_ms: i64,
    /// How many servers; one alone is no replica set.
    pub members: usize,
    /// Parameters that each server is started with.
    pub parameters: Vec<Setting>,
    /// What the work of the monitor costs.
    pub cost: Cost,
    /// How many single operations a secondary applies in a second.
    pub apply_per_second: Option<u64>,
    /// How large the oplog is.
    pub oplog_bytes: Option<u64>,
    /// The collections, in the order in which they are made.
    pub collections: Vec<Collection>,
    /// What is done, in the order of time.
    pub acts: Vec<Act>,
}

/// A collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    /// Its name, with the database.
    pub name: String,
    /// How large its documents are.
    pub document_bytes: Option<u32>,
    /// How it is cut by time, where it is.
    pub partition: Option<Partition>,
    /// The indexes that it ever has.
    pub indexes: Vec<Index>,
    /// How its documents come.
    pub streams: Vec<Stream>,
}

/// A collection of which a whole part is dropped when all of it is old enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// What a part spans.
    pub every_ms: i64,
    /// How old the youngest date of a part must be.
    pub keep_ms: i64,
}

/// A TTL index.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Which documents it holds: from this part to before that one of [`PARTS`].
    pub share: (u32, u32),
    /// `expireAfterSeconds`, if it is there from the start.
    pub seconds: Option<Bson>,
    /// The line that speaks of it first.
    pub line: usize,
}

/// A stream of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// How they come.
    pub shape: Shape,
    /// What is added to their dates.
    pub jitter: Option<Jitter>,
    /// Were they there before the start, so that no oplog tells of them?
    pub is_there: bool,
    /// The line that says so.
    pub line: usize,
}

/// A parameter with its value, and the line that sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The line.
    pub line: usize,
}

/// Something that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// When.
    pub at_ms: i64,
    /// What.
    pub what: What,
    /// The line that says so.
    pub line: usize,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Parameters of all servers are set.
    Set(Vec<Setting>),
    /// The primary steps down.
    StepDown,
    /// A member is elected.
    StepUp {
        /// Which.
        member: usize,
        /// How much its clock is ahead.
        clock_ms: i64,
    },
    /// All servers are restarted with these binaries.
    Restart(Version),
    /// collMod of an index, by the places of collection and index.
    CollMod {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
        /// The new `expireAfterSeconds`.
        seconds: Bson,
    },
    /// An index is made.
    CreateIndex {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
        /// Its `expireAfterSeconds`.
        seconds: Bson,
    },
    /// An index is dropped.
    DropIndex {
        /// The collection.
        collection: usize,
        /// The index.
        index: usize,
    },
}

impl Script {
    /// A fault at a line of it.
    pub fn fault(&self, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Fault {
        let (what, fix) = (what.into(), fix.into());
        Fault { file: self.file.clone(), place: Place(Some(line)), what, fix }
    }

    /// How many documents come in all.
    pub fn documents(&self) -> u128 {
        let streams = self.collections.iter().flat_map(|collection| &collection.streams);
        streams.map(|stream| u128::from(stream.shape.documents())).sum()
    }
}

/// More documents than these are refused.
pub const MOST_DOCUMENTS: u128 = 100_000_000_000;
const MOST_SPAN_MS: i64 = 36_600 * DAY_MS;
const MOST_MEMBERS: i64 = 50;
const MOST_COLLECTIONS: usize = 1_000;
const MOST_INDEXES: usize = 63;
/// 2026-01-01T00:00:00Z.
const DEFAULT_START_MS: i64 = 1_767_225_600_000;

/// Reads a script. `until` stands in the place of the script's own, if given.
///
/// # Errors
/// [`Fault`] with the line, what is wrong, and what helps.
pub fn read(file: &str, text: &str, until: Option<&str>) -> Result<Script, Fault> {
    let reader = Reader { file, text };
    if text.trim().is_empty() {
        return Err(Fault {
            file: file.to_owned(),
            place: Place(None),
            what: "expected a script, found an empty file".to_owned(),
            fix: "begin with `version = \"7.0.14\"` and `until = \"1d\"`; docs/simulate.md has \
                  examples"
                .to_owned(),
        });
    }
    let raw = raw::read(text).map_err(|(what, span, fix)| {
        let place = Place(span.map(|span| reader.line(span.start)));
        Fault { file: file.to_owned(), place, what, fix }
    })?;
    reader.script(raw, until)
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

type Read<T> = Result<T, Fault>;

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    fn fault(&self, span: Range<usize>, what: impl Into<String>, fix: impl Into<String>) -> Fault {
        Fault {
            file: self.file.to_owned(),
            place: Place(Some(self.line(span.start))),
            what: what.into(),
            fix: fix.into(),
        }
    }

    fn span(&self, name: &str, text: &Spanned<String>) -> Read<i64> {
        let span = units::span(text.get_ref()).filter(|span| span.abs() <= MOST_SPAN_MS);
        span.ok_or_else(|| {
            self.fault(
                text.span(),
                format!("expected a span of time for `{name}`, found `{}`", text.get_ref()),
                "write a number with its unit, such as \"90s\", \"12h\", \"30d\" or \"1h30min\"; \
                 36600 days at most",
            )
        })
    }

    fn span_or(&self, name: &str, text: Option<&Spanned<String>>, or: i64) -> Read<i64> {
        text.map_or(Ok(or), |text| self.span(name, text))
    }

    fn number(&self, name: &str, value: &Spanned<i64>, range: Range<i64>) -> Read<i64> {
        let number = *value.get_ref();
        if range.contains(&number) {
            return Ok(number);
        }
        Err(self.fault(
            value.span(),
            format!("expected `{name}` from {} to {}, found {number}", range.start, range.end - 1),
            "write a number in this range",
        ))
    }

    fn seconds(&self, value: &Spanned<Toml>) -> Read<Bson> {
        match value.get_ref() {
            Toml::Integer(seconds) => Ok(match i32::try_from(*seconds) {
                Ok(seconds) => Bson::Int32(seconds),
                Err(_) => Bson::Int64(*seconds),
            }),
            Toml::Float(seconds) => Ok(Bson::Double(*seconds)),
            other => Err(self.fault(
                value.span(),
                format!("expected `expireAfterSeconds` to be a number, found {}", kind(other)),
                "write a number of seconds, such as 3600",
            )),
        }
    }

    fn share(&self, value: Option<&Spanned<Toml>>) -> Read<(u32, u32)> {
        let Some(value) = value else { return Ok((0, PARTS)) };
        let bad = || {
            self.fault(
                value.span(),
                format!("expected a share of the documents, found {}", kind(value.get_ref())),
                "write a share such as 0.25, or from and to such as [0.25, 1.0], from 0 to 1 with \
                 up to four decimals",
            )
        };
        let part = |value: &Toml| {
            let share = match value {
                Toml::Float(share) => *share,
                Toml::Integer(share) => *share as f64,
                _ => return None,
            };
            let parts = share * f64::from(PARTS);
            let whole = parts.round();
            let fits = (0.0..=f64::from(PARTS)).contains(&whole) && (parts - whole).abs() < 1e-6;
            fits.then_some(whole as u32)
        };
        let share = match value.get_ref() {
            Toml::Array(ends) => match &ends[..] {
                [from, to] => part(from).zip(part(to)),
                _ => None,
            },
            one => part(one).map(|to| (0, to)),
        };
        share.filter(|(from, to)| from < to).ok_or_else(bad)
    }

    fn settings(&self, settings: &raw::Settings) -> Read<Vec<Setting>> {
        let setting = |(name, value): (&String, &Spanned<Toml>)| {
            let bson = match value.get_ref() {
                Toml::Boolean(flag) => Bson::Boolean(*flag),
                Toml::Integer(number) => match i32::try_from(*number) {
                    Ok(number) => Bson::Int32(number),
                    Err(_) => Bson::Int64(*number),
                },
                Toml::Float(number) => Bson::Double(*number),
                Toml::String(text) => Bson::String(text.clone()),
                other => {
                    return Err(self.fault(
                        value.span(),
                        format!("expected a value for `{name}`, found {}", kind(other)),
                        "write a number, or true or false",
                    ));
                }
            };
            let line = self.line(value.span().start);
            Ok(Setting { name: name.clone(), value: Value(bson), line })
        };
        settings.iter().map(setting).collect()
    }

    fn version(&self, text: &Spanned<String>) -> Read<(Version, Vec<String>)> {
        Version::parse(text.get_ref()).map_err(|bad| {
            self.fault(text.span(), bad.to_string(), "write three numbers, such as \"7.0.14\"")
        })
    }

    fn script(&self, raw: raw::Raw, until: Option<&str>) -> Read<Script> {
        let (version, notes) = self.version(&raw.version)?;
        let start_ms = match &raw.start {
            None => DEFAULT_START_MS,
            Some(start) => instant(start.get_ref()).ok_or_else(|| {
                self.fault(
                    start.span(),
                    format!("expected an instant for `start`, found `{}`", start.get_ref()),
                    "write a date with time and offset, such as 2026-01-01T00:00:00Z",
                )
            })?,
        };
        let span_ms = self.until(&raw.until, until)?;
        let members = raw.members.as_ref();
        let members = members
            .map_or(Ok(2), |members| self.number("members", members, 1..MOST_MEMBERS + 1))?;
        let us = |name: &str, us: Option<&Spanned<i64>>, or: u32| -> Read<u32> {
            us.map_or(Ok(or), |us| Ok(self.number(name, us, 0..60_000_001)? as u32))
        };
        let cost = raw.cost.as_ref();
        let cost = Cost {
            visit_us: us("visit_us", cost.and_then(|cost| cost.visit_us.as_ref()), 0)?,
            delete_us: us("delete_us", cost.and_then(|cost| cost.delete_us.as_ref()), 0)?,
        };
        let apply_per_second = match &raw.secondary {
            None => None,
            Some(secondary) if members == 1 => {
                return Err(self.fault(
                    secondary.apply_per_second.span(),
                    "a server alone has no secondary",
                    "write `members = 2`, or leave `[secondary]` out",
                ));
            }
            Some(secondary) => {
                let rate = &secondary.apply_per_second;
                Some(self.number("apply_per_second", rate, 1..1_000_000_001)? as u64)
            }
        };
        let oplog_bytes = match &raw.oplog {
            None => None,
            Some(oplog) => Some(units::size(oplog.size.get_ref()).ok_or_else(|| {
                self.fault(
                    oplog.size.span(),
                    format!("expected the size of the oplog, found `{}`", oplog.size.get_ref()),
                    "write a number with its unit, such as \"990MB\" or \"50GiB\"",
                )
            })?),
        };
        let mut script = Script {
            file: self.file.to_owned(),
            version,
            notes,
            start_ms,
            end_ms: start_ms + span_ms,
            members: members as usize,
            parameters: raw.parameters.as_ref().map_or(Ok(Vec::new()), |all| self.settings(all))?,
            cost,
            apply_per_second,
            oplog_bytes,
            collections: Vec::new(),
            acts: Vec::new(),
        };
        if let Some(extra) = raw.collection.get(MOST_COLLECTIONS) {
            return Err(self.fault(
                extra.span(),
                format!("more than {MOST_COLLECTIONS} collections"),
                "leave out those that do not matter",
            ));
        }
        for collection in &raw.collection {
            self.collection(&mut script, collection)?;
        }
        self.acts(&mut script, &raw.acts)?;
        if script.documents() > MOST_DOCUMENTS {
            let line = script.collections.iter().flat_map(|collection| &collection.streams);
            let line = line.max_by_key(|stream| stream.shape.documents()).map(|stream| stream.line);
            return Err(script.fault(
                line.unwrap_or(1),
                format!(
                    "{} documents in all, most of them from here; {} can be counted",
                    units::count(script.documents() as i128),
                    units::count(MOST_DOCUMENTS as i128)
                ),
                "lower the rate, or end earlier with `until`",
            ));
        }
        Ok(script)
    }

    fn until(&self, own: &Spanned<String>, given: Option<&str>) -> Read<i64> {
        let (span, place, text) = match given {
            Some(given) => (units::span(given), None, given),
            None => (units::span(own.get_ref()), Some(own.span()), own.get_ref().as_str()),
        };
        match span {
            Some(span) if 0 < span && span <= MOST_SPAN_MS => Ok(span),
            _ => Err(Fault {
                file: if place.is_some() { self.file } else { "--until" }.to_owned(),
                place: Place(place.map(|span| self.line(span.start))),
                what: match span {
                    Some(span) if span <= 0 => {
                        format!("expected an end after the start, found `{text}`")
                    }
                    _ => format!("expected a span of time from the start, found `{text}`"),
                },
                fix: "write how long it is played, such as \"30d\"; 36600 days at most".to_owned(),
            }),
        }
    }

    fn collection(&self, script: &mut Script, raw: &Spanned<raw::Collection>) -> Read<()> {
        let there = raw.get_ref();
        let name = there.name.get_ref();
        let parts = name.split_once('.');
        if parts.is_none_or(|(database, rest)| database.is_empty() || rest.is_empty()) {
            return Err(self.fault(
                there.name.span(),
                format!("expected a collection with its database, found `{name}`"),
                "write it as \"app.sessions\"",
            ));
        }
        if script.collections.iter().any(|other| other.name == *name) {
            return Err(self.fault(
                there.name.span(),
                format!("`{name}` is there already"),
                "put all that is said of a collection into one [[collection]]",
            ));
        }
        let bytes = there.document_bytes.as_ref();
        let bytes =
            bytes.map(|bytes| self.number("document_bytes", bytes, 1..16 * 1024 * 1024 + 1));
        let mut collection = Collection {
            name: name.clone(),
            document_bytes: bytes.transpose()?.map(|bytes| bytes as u32),
            partition: None,
            indexes: Vec::new(),
            streams: Vec::new(),
        };
        for index in &there.index {
            let index = index.get_ref();
            let seconds = self.seconds(&index.expireAfterSeconds)?;
            self.index(&mut collection, &index.name, index.share.as_ref(), Some(seconds))?;
        }
        self.streams(script, &mut collection, there)?;
        if let Some(partition) = &there.partition {
            let partition = partition.get_ref();
            let positive = |name: &str, text: &Spanned<String>, least: i64| {
                let span = self.span(name, text)?;
                if span >= least {
                    return Ok(span);
                }
                let what = format!("`{name}` of a partition cannot be `{}`", text.get_ref());
                Err(self.fault(text.span(), what, "write a span such as \"1d\"; a minute at least"))
            };
            collection.partition = Some(Partition {
                every_ms: positive("every", &partition.every, 60_000)?,
                keep_ms: positive("keep", &partition.keep, 0)?,
            });
            if let Some(index) = collection.indexes.first() {
                return Err(script.fault(
                    index.line,
                    format!("`{name}` is cut by time, and has the TTL index `{}`", index.name),
                    "leave out either `partition` or the index",
                ));
            }
            if let Some(stream) = collection.streams.iter().find(|stream| stream.jitter.is_some()) {
                return Err(script.fault(
                    stream.line,
                    "jitter has no use in a collection that is cut by time",
                    "leave `jitter` out",
                ));
            }
        }
        script.collections.push(collection);
        Ok(())
    }

    /// The place of an index, which is new unless it was dropped.
    fn index(
        &self,
        collection: &mut Collection,
        name: &Spanned<String>,
        share: Option<&Spanned<Toml>>,
        seconds: Option<Bson>,
    ) -> Read<usize> {
        let line = self.line(name.span().start);
        let given = share.is_some();
        let share = self.share(share)?;
        let (span, name) = (name.span(), name.get_ref());
        if name.is_empty() || name == "_id_" || name.contains('/') {
            let what = format!("an index cannot be named `{name}`");
            return Err(self.fault(span, what, "give it another name, without `/`"));
        }
        let there = collection.indexes.iter().position(|index| index.name == *name);
        match there {
            Some(at) if seconds.is_none() => {
                if given && collection.indexes[at].share != share {
                    let what = format!(
                        "`{name}` had another share in line {}",
                        collection.indexes[at].line
                    );
                    return Err(self.fault(span, what, "give the new index another name"));
                }
                Ok(at)
            }
            Some(at) => {
                let line = collection.indexes[at].line;
                let what = format!("`{name}` is there already, from line {line}");
                Err(self.fault(span, what, "give it another name"))
            }
            None if collection.indexes.len() >= MOST_INDEXES => Err(self.fault(
                span,
                format!("more than {MOST_INDEXES} indexes in one collection"),
                "leave out those that do not matter",
            )),
            None => {
                collection.indexes.push(Index { name: name.clone(), share, seconds, line });
                Ok(collection.indexes.len() - 1)
            }
        }
    }

    fn streams(&self, script: &Script, to: &mut Collection, raw: &raw::Collection) -> Read<()> {
        let (start_ms, end_ms) = (script.start_ms, script.end_ms);
        for existing in &raw.existing {
            let there = existing.get_ref();
            let documents = self.number("documents", &there.documents, 1..i64::MAX)? as u64;
            let oldest = self.span("oldest", &there.oldest)?;
            let newest = self.span("newest", &there.newest)?;
            if oldest > newest {
                return Err(self.fault(
                    there.oldest.span(),
                    "`oldest` is later than `newest`",
                    "both are spans from the start; what was before has a minus: \"-30d\"",
                ));
            }
            let shape = Shape::Spread {
                at_ms: start_ms,
                documents,
                oldest_ms: start_ms + oldest,
                newest_ms: start_ms + newest,
            };
            self.stream(to, shape, there.jitter.as_ref(), existing.span())?;
            to.streams.last_mut().expect("it was just put there").is_there = true;
        }
        for arrival in &raw.arrival {
            let there = arrival.get_ref();
            let (from, until) = self.interval(script, there.from.as_ref(), there.to.as_ref())?;
            let shape = Shape::Steady {
                from_ms: from,
                documents: u64::MAX,
                per_1000_s: self.rate(&there.rate)?,
                offset_ms: self.span_or("offset", there.offset.as_ref(), 0)?,
            };
            let documents = shape.arrived_by(until.min(end_ms) - 1);
            let Shape::Steady { from_ms, per_1000_s, offset_ms, .. } = shape else {
                unreachable!("it was just made")
            };
            let shape = Shape::Steady { from_ms, documents, per_1000_s, offset_ms };
            self.stream(to, shape, there.jitter.as_ref(), arrival.span())?;
        }
        for batch in &raw.batch {
            let there = batch.get_ref();
            let (from_ms, until) = self.interval(script, there.from.as_ref(), there.to.as_ref())?;
            let size = self.number("documents", &there.documents, 1..i64::MAX)? as u64;
            let every = there.every.as_ref();
            let (every_ms, batches) = match every {
                None => (0, u64::from(from_ms < end_ms)),
                Some(every) => {
                    let every_ms = self.span("every", every)?;
                    if every_ms <= 0 {
                        return Err(self.fault(
                            every.span(),
                            format!(
                                "expected batches to follow each other, found every `{}`",
                                every.get_ref()
                            ),
                            "write a span such as \"1h\", or leave `every` out for one batch",
                        ));
                    }
                    let span = (until.min(end_ms) - from_ms).max(0) as u64;
                    (every_ms, span.div_ceil(every_ms as u64))
                }
            };
            let offset_ms = self.span_or("offset", there.offset.as_ref(), 0)?;
            let shape = Shape::Batches { from_ms, every_ms, batches, size, offset_ms };
            self.stream(to, shape, there.jitter.as_ref(), batch.span())?;
        }
        let mut last = i64::MIN;
        for document in &raw.document {
            let there = document.get_ref();
            let at = self.span("at", &there.at)?;
            if at < 0 {
                return Err(self.fault(
                    there.at.span(),
                    format!("a document cannot come at `{}`, before the start", there.at.get_ref()),
                    "what is there at the start comes at \"0s\"; its date may be earlier",
                ));
            }
            if at < last {
                return Err(self.fault(
                    there.at.span(),
                    format!("`{}` comes after a later document", there.at.get_ref()),
                    "put the documents of a collection in the order of time",
                ));
            }
            last = at;
            let date_ms = self.date(start_ms, &there.date)?;
            let documents = there.documents.as_ref();
            let documents =
                documents.map_or(Ok(1), |count| self.number("documents", count, 1..i64::MAX))?;
            let at_ms = start_ms + at;
            let documents = if at_ms < end_ms { documents as u64 } else { 0 };
            let shape = Shape::Spread { at_ms, documents, oldest_ms: date_ms, newest_ms: date_ms };
            let line = self.line(document.span().start);
            to.streams.push(Stream { shape, jitter: None, is_there: false, line });
        }
        to.streams.retain(|stream| stream.shape.documents() > 0);
        Ok(())
    }

    fn stream(
        &self,
        to: &mut Collection,
        shape: Shape,
        jitter: Option<&raw::Jitter>,
        span: Range<usize>,
    ) -> Read<()> {
        let jitter = match jitter {
            None => None,
            Some(jitter) => Some(Jitter {
                seconds: self.number("seconds", &jitter.seconds, 1..86_401)? as u32,
                seed: self.number("seed", &jitter.seed, 0..i64::MAX)? as u64,
            }),
        };
        to.streams.push(Stream { shape, jitter, is_there: false, line: self.line(span.start) });
        Ok(())
    }

    fn interval(
        &self,
        script: &Script,
        from: Option<&Spanned<String>>,
        to: Option<&Spanned<String>>,
    ) -> Read<(i64, i64)> {
        let start = self.span_or("from", from, 0)?;
        if let (true, Some(from)) = (start < 0, from) {
            return Err(self.fault(
                from.span(),
                format!("documents cannot come from `{}` on, before the start", from.get_ref()),
                "what is there at the start is written as [[collection.existing]]",
            ));
        }
        let end = self.span_or("to", to, script.end_ms - script.start_ms)?;
        if let (true, Some(to)) = (end < start, to) {
            return Err(self.fault(
                to.span(),
                format!("`to` = `{}` lies before `from`", to.get_ref()),
                "both are spans from the start, in the order of time",
            ));
        }
        Ok((script.start_ms + start, script.start_ms + end))
    }

    fn rate(&self, rate: &Spanned<Toml>) -> Read<u64> {
        let per_1000_s = match rate.get_ref() {
            Toml::Integer(rate) => i128::from(*rate) * 1_000,
            Toml::Float(rate) if rate.abs() < 1e12 => {
                let whole = (rate * 1e3).round();
                if (rate * 1e3 - whole).abs() < 1e-6 { whole as i128 } else { -1 }
            }
            _ => -1,
        };
        if (1..=1_000_000_000_000).contains(&per_1000_s) {
            return Ok(per_1000_s as u64);
        }
        Err(self.fault(
            rate.span(),
            format!("expected a rate of documents a second, found `{}`", rate.get_ref()),
            "write a number from 0.001 to 1000000000, with up to three decimals",
        ))
    }

    fn date(&self, start_ms: i64, date: &Spanned<Toml>) -> Read<i64> {
        let read = match date.get_ref() {
            Toml::String(text) => units::span(text)
                .filter(|span| span.abs() <= MOST_SPAN_MS)
                .map(|span| start_ms + span),
            Toml::Datetime(date) => instant(date),
            _ => None,
        };
        read.ok_or_else(|| {
            self.fault(
                date.span(),
                format!("expected a date, found {}", kind(date.get_ref())),
                "write a span from the start, such as \"-2h\", or 2026-01-01T00:00:00Z",
            )
        })
    }

    // ---- acts ----------------------------------------------------------------------------------

    fn acts(&self, script: &mut Script, raw: &[Spanned<raw::Act>]) -> Read<()> {
        let mut last = 0;
        let mut clocks: BTreeMap<usize, (i64, usize)> = BTreeMap::new();
        let mut so_far = SoFar { version: script.version, primary: Some(0), down: 0 };
        for act in raw {
            let there = act.get_ref();
            let at = self.span("at", &there.at)?;
            let line = self.line(act.span().start);
            if at < last {
                let what =
                    format!("`{}` lies before what is done in front of it", there.at.get_ref());
                let fix = "put what is done in the order of time; the start is \"0s\"";
                return Err(self.fault(there.at.span(), what, fix));
            }
            last = at;
            let what = self.what(script, there, act.span(), &mut so_far, &mut clocks)?;
            let at_ms = script.start_ms + at;
            if at_ms >= script.end_ms {
                let what = format!("`{}` lies after the end of what is played", there.at.get_ref());
                return Err(self.fault(
                    there.at.span(),
                    what,
                    "make `until` longer, or leave it out",
                ));
            }
            script.acts.push(Act { at_ms, what, line });
        }
        Ok(())
    }

    fn what(
        &self,
        script: &mut Script,
        raw: &raw::Act,
        span: Range<usize>,
        so_far: &mut SoFar,
        clocks: &mut BTreeMap<usize, (i64, usize)>,
    ) -> Read<What> {
        let flag = |name: &str, value: &Spanned<bool>| {
            if *value.get_ref() {
                return Ok(());
            }
            let what = format!("`{name} = false` says nothing");
            Err(self.fault(value.span(), what, format!("write `{name} = true`, or leave it out")))
        };
        let line = self.line(span.start);
        let mut found = Vec::new();
        if let Some(settings) = &raw.set {
            if settings.is_empty() {
                let fix = "name a parameter, such as set = { ttlMonitorSleepSecs = 10 }";
                return Err(self.fault(span, "`set` sets nothing", fix));
            }
            found.push(What::Set(self.settings(settings)?));
        }
        if let Some(is_on) = &raw.monitor {
            let value = Value(Bson::Boolean(*is_on.get_ref()));
            found.push(What::Set(vec![Setting {
                name: "ttlMonitorEnabled".to_owned(),
                value,
                line,
            }]));
        }
        if let Some(step_down) = &raw.step_down {
            flag("step_down", step_down)?;
            if script.members == 1 {
                let fix = "write `members = 2` or more at the top";
                return Err(self.fault(step_down.span(), "a server alone cannot step down", fix));
            }
            if so_far.primary.is_none() {
                let what = format!("there is no primary since line {}", so_far.down);
                return Err(self.fault(step_down.span(), what, "let a member step up before"));
            }
            so_far.primary = None;
            so_far.down = line;
            found.push(What::StepDown);
        }
        if let Some(step_up) = &raw.step_up {
            found.push(self.step_up(script, step_up, so_far, clocks)?);
        }
        for (text, goes_up) in [(&raw.upgrade, true), (&raw.downgrade, false)] {
            let Some(text) = text else { continue };
            let (version, notes) = self.version(text)?;
            let (verb, other, way) = if goes_up {
                ("upgrade", "downgrade", "older")
            } else {
                ("downgrade", "upgrade", "newer")
            };
            if goes_up != (version >= so_far.version) && version != so_far.version {
                return Err(self.fault(
                    text.span(),
                    format!("`{verb}` to {version}, which is {way} than {}", so_far.version),
                    format!("write `{other}` if that is meant"),
                ));
            }
            if so_far.primary.is_none() {
                let what = format!("there is no primary since line {}", so_far.down);
                return Err(self.fault(text.span(), what, "let a member step up before"));
            }
            so_far.version = version;
            script.notes.extend(notes);
            found.push(What::Restart(version));
        }
        if let Some(coll_mod) = &raw.coll_mod {
            let of = coll_mod.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            let index = self.index_named(script, collection, &of.index)?;
            let seconds = self.seconds(&of.expireAfterSeconds)?;
            found.push(What::CollMod { collection, index, seconds });
        }
        if let Some(create) = &raw.create_index {
            let of = create.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            if script.collections[collection].partition.is_some() {
                let what = format!("`{}` is cut by time", of.collection.get_ref());
                return Err(self.fault(create.span(), what, "leave out `partition` or the index"));
            }
            let there = &mut script.collections[collection];
            let index = self.index(there, &of.name, of.share.as_ref(), None)?;
            let seconds = self.seconds(&of.expireAfterSeconds)?;
            found.push(What::CreateIndex { collection, index, seconds });
        }
        if let Some(drop) = &raw.drop_index {
            let of = drop.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            let index = self.index_named(script, collection, &of.name)?;
            found.push(What::DropIndex { collection, index });
        }
        let many = found.len();
        match found.pop() {
            Some(what) if many == 1 => Ok(what),
            _ => Err(self.fault(
                span,
                format!("expected one thing to do, found {many}"),
                format!("write one [[do]] for each of: {}", raw::ACTS),
            )),
        }
    }

    fn step_up(
        &self,
        script: &Script,
        raw: &Spanned<raw::StepUp>,
        so_far: &mut SoFar,
        clocks: &mut BTreeMap<usize, (i64, usize)>,
    ) -> Read<What> {
        let line = self.line(raw.span().start);
        if let Some(primary) = so_far.primary {
            return Err(self.fault(
                raw.span(),
                format!("nobody has stepped down: member {primary} is primary"),
                "put a [[do]] with `step_down = true` before",
            ));
        }
        let there = raw.get_ref();
        let next = (so_far.last_primary(script) + 1) % script.members;
        let member = match &there.member {
            None => next,
            Some(member) => self.number("member", member, 0..script.members as i64)? as usize,
        };
        let known = clocks.get(&member).copied();
        let clock_ms = match (&there.clock, known) {
            (None, known) => known.map_or(0, |(clock_ms, _)| clock_ms),
            (Some(text), known) => {
                let clock_ms = self.span("clock", text)?;
                if clock_ms != 0 && member == 0 {
                    let what = "the clock of member 0 is that of the script";
                    let fix = "let another member step up, with `member = 1`";
                    return Err(self.fault(text.span(), what, fix));
                }
                if let Some((other, line)) = known
                    && other != clock_ms
                {
                    let what = format!("the clock of member {member} was another in line {line}");
                    let fix = "a clock goes wrong by one amount; write the same, or leave it out";
                    return Err(self.fault(text.span(), what, fix));
                }
                clock_ms
            }
        };
        clocks.insert(member, (clock_ms, line));
        so_far.primary = Some(member);
        Ok(What::StepUp { member, clock_ms })
    }

    fn collection_named(&self, script: &Script, name: &Spanned<String>) -> Read<usize> {
        let names = || script.collections.iter().map(|collection| collection.name.as_str());
        let there = names().position(|there| there == name.get_ref());
        there.ok_or_else(|| {
            let what = format!("there is no collection `{}`", name.get_ref());
            self.fault(name.span(), what, one_of(names(), name.get_ref()))
        })
    }

    fn index_named(
        &self,
        script: &Script,
        collection: usize,
        name: &Spanned<String>,
    ) -> Read<usize> {
        let there = &script.collections[collection];
        let names = || there.indexes.iter().map(|index| index.name.as_str());
        let at = names().position(|there| there == name.get_ref());
        at.ok_or_else(|| {
            let what = format!("there is no index `{}` in `{}` yet", name.get_ref(), there.name);
            self.fault(name.span(), what, one_of(names(), name.get_ref()))
        })
    }
}

/// What the acts so far have come to.
struct SoFar {
    version: Version,
    primary: Option<usize>,
    down: usize,
}

impl SoFar {
    fn last_primary(&self, script: &Script) -> usize {
        let elected = script.acts.iter().rev().find_map(|act| match act.what {
            What::StepUp { member, .. } => Some(member),
            _ => None,
        });
        elected.unwrap_or(0)
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>, found: &str) -> String {
    let names: Vec<&str> = names.collect();
    let near = names
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(found, a).total_cmp(&strsim::jaro_winkler(found, b)));
    match near {
        Some(near) if strsim::jaro_winkler(found, near) > 0.7 => format!("did you mean `{near}`?"),
        Some(_) => format!("write one of: {}", names.join(", ")),
        None => "make it before it is spoken of".to_owned(),
    }
}

/// What a value is, for messages.
fn kind(value: &Toml) -> String {
    match value {
        Toml::String(text) => format!("the text \"{text}\""),
        Toml::Table(_) => "a table".to_owned(),
        Toml::Array(_) => "a list".to_owned(),
        other => format!("`{other}`"),
    }
}

/// A date with time and offset, in milliseconds since 1970.
fn instant(date: &toml::value::Datetime) -> Option<i64> {
    let (day, time, offset) = (date.date?, date.time?, date.offset?);
    let offset_min = match offset {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_since_1970(i64::from(day.year), i64::from(day.month), i64::from(day.day));
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute) - offset_min;
    let seconds = i64::from(time.second.unwrap_or(0));
    let millis = i64::from(time.nanosecond.unwrap_or(0) / 1_000_000);
    Some(days * DAY_MS + (minutes * 60 + seconds) * 1_000 + millis)
}

/// The number of a day in the Gregorian calendar, by the usual formula of years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
