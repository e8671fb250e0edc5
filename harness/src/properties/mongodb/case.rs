//! A few documents, an index or two, and two instants.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::{Config, Doc, MongoDb, Op, Reply, Value, Version};
use ttlspec_model::{Engine, Millis};

use super::Held;
use crate::check::Opener;
use crate::values::mongodb::{document, filter, path, value, version};
use crate::values::{NOW, SECONDS, Source, chance, count, date, instant, one_of, pick};

/// What a property is tried on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What the server runs.
    pub version: Version,
    /// Documents, each with an `_id` of its own: 1, 2, 3, …
    pub documents: Vec<Doc>,
    /// A TTL index.
    pub index: Doc,
    /// Another one, on another path.
    pub other: Doc,
    /// When a pass comes.
    pub now: Millis,
    /// When another pass comes: then or later.
    pub later: Millis,
    /// A value that may come into a document.
    pub value: Doc,
}

/// The indexes are made at this instant, which is late enough for any lifetime.
const MADE: Millis = Millis(i64::MAX);

/// Any case.
pub fn case(source: &mut dyn Source) -> Case {
    let version = version(source);
    let documents = (0..count(source, 5)).map(|at| {
        let mut document = one_of(source, &[(3, dated), (1, document)]);
        let mut whole = doc! { "_id": at as i32 + 1 };
        document.remove("_id");
        whole.extend(document);
        Doc(whole)
    });
    let documents = documents.collect();
    let index = Doc(index(source, "ttl"));
    let elsewhere = path(source);
    let mut other = index_on(source, "other", &elsewhere);
    if other.get("key") == index.get("key") {
        other.insert("key", doc! { "u": 1 });
    }
    let (a, b) = (instant(source), instant(source));
    let value = one_of(source, &[(1, a_date), (2, value)]);
    Case {
        version,
        documents,
        index,
        other: Doc(other),
        now: a.min(b),
        later: a.max(b),
        value: Doc(doc! { "value": value }),
    }
}

fn a_date(source: &mut dyn Source) -> Bson {
    Bson::DateTime(bson::DateTime::from_millis(date(source)))
}

/// A document with a date, or a few, where most indexes look.
fn dated(source: &mut dyn Source) -> Document {
    let mut document = document(source);
    let dates = |source: &mut dyn Source| (0..count(source, 3)).map(|_| a_date(source)).collect();
    let at_t = if chance(source, 3) { Bson::Array(dates(source)) } else { a_date(source) };
    document.insert("t", at_t);
    document
}

fn index(source: &mut dyn Source, name: &str) -> Document {
    let path = if chance(source, 3) { path(source) } else { "t".to_owned() };
    index_on(source, name, &path)
}

/// An index that any version accepts, or refuses only for its path or its filter.
fn index_on(source: &mut dyn Source, name: &str, path: &str) -> Document {
    let mut spec = doc! {
        "key": { path: pick(source, &[1, -1]) },
        "name": name,
        "expireAfterSeconds": pick(source, &SECONDS),
    };
    if chance(source, 3) {
        spec.insert("partialFilterExpression", one_of(source, &[(2, usual_filter), (1, filter)]));
    }
    spec
}

/// A filter that any version accepts, and that many documents pass.
fn usual_filter(source: &mut dyn Source) -> Document {
    pick(
        source,
        &[
            doc! { "t": { "$type": "date" } },
            doc! { "t": { "$exists": true } },
            doc! { "t": { "$lt": bson::DateTime::from_millis(NOW.0) } },
            doc! { "a": { "$exists": true } },
            doc! { "_id": { "$gt": 1 } },
        ],
    )
}

/// One server, and how it is asked.
pub(super) struct Server {
    engine: Box<dyn Engine<MongoDb>>,
}

impl Server {
    pub fn open(case: &Case, open: &Opener<MongoDb>) -> Server {
        Server { engine: open(&Config { version: case.version }) }
    }

    /// With this index, if it is one that can be made.
    pub fn with_index(case: &Case, index: &Document, open: &Opener<MongoDb>) -> Option<Server> {
        let mut server = Server::open(case, open);
        server.create(index).then_some(server)
    }

    pub fn ask(&mut self, now: Millis, op: &Op) -> Option<Reply> {
        self.engine.apply(now, op).ok()
    }

    pub fn create(&mut self, spec: &Document) -> bool {
        self.ask(MADE, &Op::CreateIndex(Doc(spec.clone()))) == Some(Reply::Ok)
    }

    /// Inserts these; how many were taken.
    pub fn insert<'a>(&mut self, documents: impl IntoIterator<Item = &'a Doc>) -> usize {
        let mut inserted = |document: &Doc| self.ask(NOW, &Op::Insert(document.clone()));
        documents.into_iter().filter(|document| inserted(document) == Some(Reply::Ok)).count()
    }

    /// What a pass deletes, in order.
    pub fn pass(&mut self, now: Millis) -> Vec<Value> {
        match self.ask(now, &Op::Pass) {
            Some(Reply::Passed { deleted, .. }) => deleted,
            _ => Vec::new(),
        }
    }

    /// Which documents a pass deletes.
    pub fn deaths(&mut self, now: Millis) -> Deaths {
        self.pass(now).iter().filter_map(|id| id.as_i32()).collect()
    }

    pub fn found(&mut self) -> Vec<i32> {
        match self.ask(NOW, &Op::Find) {
            Some(Reply::Found(ids)) => ids.iter().filter_map(|id| id.as_i32()).collect(),
            _ => Vec::new(),
        }
    }
}

/// The `_id`s of documents that died.
pub(super) type Deaths = BTreeSet<i32>;

/// Which of `documents` die at `now` under `index`; `None` if there can be no such index.
pub(super) fn deaths(
    case: &Case,
    index: &Document,
    documents: &[Doc],
    now: Millis,
    open: &Opener<MongoDb>,
) -> Option<Deaths> {
    let mut server = Server::with_index(case, index, open)?;
    server.insert(documents);
    Some(server.deaths(now))
}

/// Are these the same? If they are, somebody should have died, or it says little.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(expected: T, found: T, nothing: T) -> Held {
    if expected != found {
        Held::No(format!("expected {expected:?}, found {found:?}"))
    } else if expected == nothing {
        Held::NotThere
    } else {
        Held::Yes
    }
}

/// Do the same documents die, and some? `None` is an index that there cannot be.
pub(super) fn alike(expected: Option<Deaths>, found: Option<Deaths>) -> Held {
    match (expected, found) {
        (None, None) => Held::NotThere,
        (Some(expected), Some(found)) => same(expected, found, Deaths::new()),
        (expected, found) => Held::No(format!("expected {expected:?}, found {found:?}")),
    }
}

/// Is the one within the other?
pub(super) fn within(fewer: &Deaths, more: &Deaths) -> Held {
    if !fewer.is_subset(more) {
        Held::No(format!("expected at least {fewer:?}, found {more:?}"))
    } else if fewer.is_empty() {
        Held::NotThere
    } else {
        Held::Yes
    }
}

impl Case {
    /// The value that may come in.
    pub(super) fn value(&self) -> Bson {
        self.value["value"].clone()
    }

    /// The index on `t`, without a filter.
    pub(super) fn index_on_t(&self) -> Document {
        let mut index = self.index.0.clone();
        index.insert("key", doc! { "t": 1 });
        index.remove("partialFilterExpression");
        index
    }

    /// The index with `option`.
    pub(super) fn index_with(&self, option: &str, value: impl Into<Bson>) -> Document {
        let mut index = self.index.0.clone();
        index.insert(option, value);
        index
    }
}
