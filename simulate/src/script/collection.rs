//! Which collections are there, and how do their documents come?

use std::ops::Range;

use bson::Bson;
use toml::{Spanned, Value as Toml};
use ttlspec_model::Rule;

use super::reader::{Read, Reader};
use super::{Collection, Index, Partition, Script, Stream, raw};
use crate::arrival::{Jitter, Shape};

const MOST_INDEXES: usize = 63;
/// Names of collections and indexes, in bytes: so long as every version takes them.
const LONGEST: usize = 120;

/// Is it one that users cannot make? Buckets are those of their time-series collection.
fn is_of_server(database: &str, rest: &str) -> bool {
    rest.starts_with("system.")
        && !rest.starts_with("system.buckets.")
        && !matches!(database, "admin" | "config")
}

/// What is wrong with the name of a collection, and what helps.
fn misnamed(name: &str) -> Option<(&'static str, &'static str)> {
    let Some((database, rest)) = name.split_once('.') else {
        return Some(("expected a collection with its database", "write it as \"app.sessions\""));
    };
    if database.is_empty() || rest.is_empty() {
        Some(("expected a collection with its database", "write it as \"app.sessions\""))
    } else if name.chars().any(char::is_control) {
        Some(("expected a name without control characters", "leave them out"))
    } else if name.contains('$')
        || database.contains(['/', '\\', ' ', '"', '*', '<', '>', ':', '|', '?'])
    {
        Some(("expected a name that a server takes", "use letters, digits, `_` and `-`"))
    } else if rest.starts_with('.') || name.len() > LONGEST {
        Some((
            "expected a name that a server takes",
            "write 120 bytes at most, with one dot behind the database",
        ))
    } else if is_of_server(database, rest) {
        Some(("expected a collection of users", "name it without `system.`"))
    } else {
        None
    }
}

impl Reader<'_> {
    pub(super) fn collection(
        &self,
        script: &mut Script,
        raw: &Spanned<raw::Collection>,
    ) -> Read<()> {
        let there = raw.get_ref();
        let name = there.name.get_ref();
        if let Some((expected, fix)) = misnamed(name) {
            return Err(self.fault(there.name.span(), format!("{expected}, found `{name}`"), fix));
        }
        if script.members > 1 && name.starts_with("local.") {
            return Err(self.fault(
                there.name.span(),
                format!(
                    "`{name}` is not replicated, so that each member has documents of its own \
                     ({}): a set with it is not played",
                    Rule::MongodbReplicationLocal.name()
                ),
                "write `members = 1`, or name a database other than `local`",
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
            let at =
                self.index(&mut collection, &index.name, index.share.as_ref(), Some(seconds))?;
            collection.indexes[at].seconds_line = self.line(index.expireAfterSeconds.span().start);
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
    pub(super) fn index(
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
        let is_told = |c: char| !c.is_control() && !matches!(c, '/' | '*' | '`');
        if name.is_empty() || name == "_id_" || !name.chars().all(is_told) || name.len() > LONGEST {
            let what = format!("an index cannot be named `{name}`");
            let fix = "give it another name, without `/`, `*` and control characters, 120 bytes at \
                       most";
            return Err(self.fault(span, what, fix));
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
                let (name, seconds_line) = (name.clone(), line);
                collection.indexes.push(Index { name, share, seconds, line, seconds_line });
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
                None => (0, 1),
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
            if start_ms + at >= end_ms {
                return Err(self.after_end(script, &there.at));
            }
            let date_ms = self.date(start_ms, &there.date)?;
            let documents = there.documents.as_ref();
            let documents =
                documents.map_or(Ok(1), |count| self.number("documents", count, 1..i64::MAX))?;
            let (at_ms, documents) = (start_ms + at, documents as u64);
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
        if let (true, Some(from)) = (script.start_ms + start >= script.end_ms, from) {
            return Err(self.after_end(script, from));
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
}
