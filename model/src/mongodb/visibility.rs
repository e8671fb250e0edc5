#![doc = include_str!("../../../specs/mongodb/5-visibility.md")]
//! ---
//! *Module:* what is there to be seen, and what stands in the way of a write?

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document};

use super::bucket;
use super::clustered::Settings;
use super::compare::equal;
use super::date;
use super::filter;
use super::index::{Index, Kind};
use super::version::Version;
use super::words::{Doc, Reply, Value, code};
use crate::ruling::{By, Rule, Ruling};

/// A collection: its documents by record id, which is the order in which they came, and its indexes
/// in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collection {
    /// Which kind it is.
    pub kind: Kind,
    /// What was said of the collection itself.
    pub settings: Settings,
    /// All documents, expired or not; of a time-series collection, its buckets.
    pub documents: BTreeMap<u64, Doc>,
    /// All indexes but the one on `_id`.
    pub indexes: Vec<Index>,
    /// The names of the indexes that are still being built.
    pub building: BTreeSet<String>,
    /// The records that belong to another shard.
    pub orphans: BTreeSet<u64>,
    /// Is what this shard knows of the collection out of date?
    pub is_stale: bool,
    /// Has this process seen dates in it that a bucket's `_id` cannot hold?
    pub is_extended: bool,
}

impl Collection {
    /// An empty one.
    pub fn new(kind: Kind) -> Collection {
        Collection {
            kind,
            settings: Settings::default(),
            documents: BTreeMap::new(),
            indexes: Vec::new(),
            building: BTreeSet::new(),
            orphans: BTreeSet::new(),
            is_stale: false,
            is_extended: false,
        }
    }

    /// An empty one of the same kind, and with the same said of it.
    pub fn like(&self) -> Collection {
        Collection { settings: self.settings.clone(), ..Collection::new(self.kind) }
    }

    /// Takes the document with this record out.
    pub fn delete(&mut self, record: u64) -> Option<Doc> {
        self.orphans.remove(&record);
        self.documents.remove(&record)
    }

    /// Takes the index with this name out.
    pub fn drop_index(&mut self, name: &str) {
        self.indexes.retain(|index| index.name() != name);
        self.building.remove(name);
    }

    /// The record that the next document gets.
    pub fn next_record(&self) -> u64 {
        self.documents.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// The record of the document with this `_id`.
    pub fn record(&self, id: &Bson) -> Option<u64> {
        let mut documents = self.documents.iter();
        documents.find(|(_, document)| equal(&document["_id"], id)).map(|(record, _)| *record)
    }
}

/// All documents there are. Reads do not ask whether they have expired.
pub fn find(collection: &Collection) -> Ruling<Reply> {
    if collection.kind == Kind::TimeSeries {
        return bucket::find(collection);
    }
    let ids = collection.documents.values().map(|document| Value(document["_id"].clone()));
    Reply::Found(ids.collect()).by(Rule::MongodbVisibilityUntilPass)
}

/// Puts a document in, under a new record.
pub fn insert(version: Version, collection: &mut Collection, document: &Doc) -> Ruling<Reply> {
    if collection.kind == Kind::TimeSeries {
        return bucket::insert(version, collection, document);
    }
    if collection.record(&document["_id"]).is_some() {
        return Reply::Error(code::DUPLICATE_KEY).by(Rule::MongodbVisibilityIdTaken);
    }
    let record = collection.next_record();
    put(version, collection, record, document).unwrap_or(Ruling::plain(Reply::Ok))
}

/// Puts a document in the place of the one with its `_id`.
pub fn replace(version: Version, collection: &mut Collection, document: &Doc) -> Ruling<Reply> {
    if collection.kind == Kind::TimeSeries {
        return bucket::replace();
    }
    match collection.record(&document["_id"]) {
        None => Ruling::plain(Reply::Matched(0)),
        Some(record) => put(version, collection, record, document)
            .unwrap_or(Reply::Matched(1).by(Rule::MongodbChangeWrite)),
    }
}

/// Deletes the document with this `_id`.
pub fn remove(version: Version, collection: &mut Collection, id: &Bson) -> Ruling<Reply> {
    if collection.kind == Kind::TimeSeries {
        return bucket::remove(version, collection, id);
    }
    let record = collection.record(id);
    let removed = record.and_then(|record| collection.delete(record));
    Ruling::plain(Reply::Matched(u64::from(removed.is_some())))
}

/// Stores a document unless an index refuses it; then it answers why.
fn put(
    version: Version,
    collection: &mut Collection,
    record: u64,
    document: &Doc,
) -> Option<Ruling<Reply>> {
    for index in &collection.indexes {
        let others = collection.documents.iter().filter(|(other, _)| **other != record);
        let others = others.map(|(_, document)| &document.0);
        if let Some(refusal) = clash(version, index, document, others) {
            return Some(refusal.map(Reply::Error));
        }
    }
    collection.documents.insert(record, document.clone());
    None
}

/// Why `index` cannot be built over these documents, if so.
pub fn build(version: Version, index: &Index, collection: &Collection) -> Option<Ruling<i32>> {
    // Every bucket has a time, and no index over buckets is unique.
    if collection.kind == Kind::TimeSeries {
        return None;
    }
    let documents: Vec<&Document> = collection.documents.values().map(|doc| &doc.0).collect();
    let mut clashes = documents
        .iter()
        .enumerate()
        .map(|(at, document)| clash(version, index, document, documents[..at].iter().copied()));
    clashes.find_map(|clash| clash)
}

/// Why `index` cannot hold `document` beside `others`, if so.
fn clash<'a>(
    version: Version,
    index: &Index,
    document: &Document,
    others: impl Iterator<Item = &'a Document>,
) -> Option<Ruling<i32>> {
    let keys = match keys(version, index, document) {
        Ok(keys) => keys,
        Err(rules) => return Some(Ruling::plain(code::AMBIGUOUS_FIELD_IN_ARRAY).after(&rules)),
    };
    if !index.is_unique() {
        return None;
    }
    for other in others {
        // A document that is in the collection has keys.
        let taken = self::keys(version, index, other).unwrap_or_default();
        if keys.iter().any(|key| taken.iter().any(|taken| equal(key, taken))) {
            return Some(code::DUPLICATE_KEY.by(Rule::MongodbVisibilityKeyTaken));
        }
    }
    None
}

/// The keys that `index` holds for `document`: none outside its filter, none for a missing field if
/// it is sparse, and none that are followed here if it is not over one ordered field.
fn keys(version: Version, index: &Index, document: &Document) -> Result<Vec<Bson>, Vec<Rule>> {
    let Some(path) = index.path() else { return Ok(Vec::new()) };
    if index.filter().is_some_and(|filter| !filter::member(version, &filter, document).verdict) {
        return Ok(Vec::new());
    }
    let keys = date::keys(document, &path).map_err(|ambiguous| ambiguous.because)?;
    let values = keys.into_iter().filter_map(|key| match key.value {
        None if index.is_sparse() => None,
        None => Some(Bson::Null),
        value => value,
    });
    Ok(values.collect())
}
