#![doc = include_str!("../../../specs/mongodb/1-index.md")]
//! ---
//! *Module:* may this index be made, and what is then stored?

use bson::{Bson, Document};

use super::clustered;
use super::compare::{compare_documents, equal};
use super::filter;
use super::nan;
use super::number::{is_nan, is_number, is_true, safe_int, safe_long};
use super::version::{CappedTtl, Version};
use super::words::{Doc, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::{Millis, seconds_as_millis};

/// The field that makes an index a TTL index.
pub const SECONDS: &str = "expireAfterSeconds";
/// The field that makes an index partial.
pub const FILTER: &str = "partialFilterExpression";

/// An index as it stands in the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Index {
    /// The stored specification.
    pub spec: Doc,
}

/// How an index finds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By the ordered values of its fields.
    Ordered,
    /// hashed, text, 2d, 2dsphere: by something computed.
    Special,
    /// Wildcard.
    Wildcard,
}

impl Index {
    /// Its name.
    pub fn name(&self) -> &str {
        self.spec.get_str("name").unwrap_or_default()
    }

    /// Its key pattern.
    pub fn key(&self) -> Document {
        self.spec.get_document("key").cloned().unwrap_or_default()
    }

    /// The stored `expireAfterSeconds`, whatever it is.
    pub fn seconds(&self) -> Option<&Bson> {
        self.spec.get(SECONDS)
    }

    /// The partial filter, taken apart.
    pub fn filter(&self) -> Option<filter::Filter> {
        self.spec.get_document(FILTER).ok().and_then(|filter| filter::parse(filter).ok())
    }

    /// Does a document without the field have no key?
    pub fn is_sparse(&self) -> bool {
        self.spec.get("sparse").is_some_and(is_true)
    }

    /// May a key belong to one document only?
    pub fn is_unique(&self) -> bool {
        self.spec.get("unique").is_some_and(is_true)
    }

    /// How it finds documents.
    pub fn method(&self) -> Method {
        method(&self.key())
    }

    /// How many fields the stored key has. A text index stores two for each one given.
    pub fn stored_fields(&self) -> usize {
        let key = self.key();
        let text = key.values().filter(|value| value.as_str() == Some("text")).count();
        key.len() + text
    }

    /// The one path of an index over ordered values of one field; `None` for all others.
    pub fn path(&self) -> Option<String> {
        let key = self.key();
        let only = key.keys().next().filter(|_| key.len() == 1);
        only.filter(|_| self.method() == Method::Ordered).cloned()
    }
}

fn method(key: &Document) -> Method {
    if key.iter().any(|(path, value)| is_wildcard(path) && !is_text(value)) {
        Method::Wildcard
    } else if key.values().any(|value| matches!(value, Bson::String(_))) {
        Method::Special
    } else {
        Method::Ordered
    }
}

fn is_wildcard(path: &str) -> bool {
    path == "$**" || path.ends_with(".$**")
}

fn is_text(method: &Bson) -> bool {
    method.as_str() == Some("text")
}

/// The kinds of collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Ordinary.
    Plain,
    /// Of a fixed size.
    Capped,
    /// A stored query.
    View,
    /// Ordered by its key, without an index on it.
    Clustered,
    /// Both.
    CappedClustered,
    /// Of measurements, which are kept in buckets.
    TimeSeries,
}

/// What a request to make an index comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creation {
    /// This is stored and built.
    Made(Index),
    /// The same index is there.
    There,
    /// Refused, with this error code.
    Refused(i32),
}

/// May the index `spec` be made beside `existing` ones, and what is stored?
///
/// The order of the tests is the server's; the first that fails decides.
pub fn creation(
    version: Version,
    kind: Kind,
    existing: &[Index],
    spec: &Document,
    now: Millis,
) -> Ruling<Creation> {
    let refuse = |code: i32, rule: Rule| Creation::Refused(code).by(rule);
    if let Some(refusal) = form(version, spec) {
        return refusal.map(Creation::Refused);
    }
    let key = spec.get_document("key").cloned().unwrap_or_default();
    let name = spec.get_str("name").unwrap_or_default();
    if is_id_pattern(&key) {
        return id_index(spec, &key);
    }
    if name == "_id_" || name == "*" {
        return refuse(code::BAD_VALUE, Rule::MongodbIndexName);
    }

    let mut because = Vec::new();
    if let Some(seconds) = spec.get(SECONDS) {
        if let Some(refusal) = clustered::no_ttl_index(kind) {
            return refusal.map(Creation::Refused);
        }
        let allowed = seconds_allowed(version, &key, seconds, now);
        if let Some(code) = allowed.verdict {
            return Ruling { verdict: Creation::Refused(code), because: allowed.because };
        }
        because.extend(allowed.because);
        because.push(Rule::MongodbIndexTtl);
    } else {
        because.push(Rule::MongodbIndexPlain);
    }
    if let Some(refusal) = combination(version, name, spec) {
        return refusal.map(Creation::Refused);
    }

    let index = Index { spec: Doc(stored(version, spec)) };
    if let Some(beside) = beside(version, existing, &index) {
        return beside;
    }
    if kind == Kind::View {
        return refuse(code::NOT_SUPPORTED_ON_VIEW, Rule::MongodbIndexView);
    }
    if spec.contains_key(SECONDS) && kind == Kind::Capped {
        match version.capped_ttl() {
            CappedTtl::Refused => {
                return refuse(code::CANNOT_CREATE_INDEX, Rule::MongodbIndexCappedRefused);
            }
            CappedTtl::Inert => because.push(Rule::MongodbIndexCappedInert),
            CappedTtl::Works => because.push(Rule::MongodbIndexCappedWorks),
        }
    }
    because.extend(remarks(version, spec, &index));
    if stands_beside_same_key(existing, &index) {
        because.push(Rule::MongodbIndexSignature);
    }
    Creation::Made(index).by(stored_by(version, spec)).after(&because)
}

// ---- the form of the specification -------------------------------------------------------------

const OPTIONS: [&str; 24] = [
    "2dsphereIndexVersion",
    "_id",
    "background",
    "bits",
    "bucketSize",
    "coarsestIndexedLevel",
    "collation",
    "default_language",
    "dropDups",
    "expireAfterSeconds",
    "finestIndexedLevel",
    "key",
    "language_override",
    "max",
    "min",
    "name",
    "ns",
    "partialFilterExpression",
    "sparse",
    "storageEngine",
    "textIndexVersion",
    "unique",
    "v",
    "weights",
];

/// Is `option` one that an index may have?
pub fn is_option(version: Version, option: &str) -> bool {
    OPTIONS.contains(&option)
        || option == "hidden" && version.hidden_is_known()
        || option == "wildcardProjection" && version.wildcard_is_known()
        || option == "prepareUnique" && version.prepare_unique_is_known()
}

/// Names first, then each field in the order given, then what is missing.
fn form(version: Version, spec: &Document) -> Option<Ruling<i32>> {
    if let Some(unknown) = spec.keys().find(|name| !is_option(version, name)) {
        let rule = match unknown.as_str() {
            "hidden" => Rule::MongodbIndexHidden,
            _ => Rule::MongodbIndexOption,
        };
        return Some(code::INVALID_INDEX_OPTION.by(rule));
    }
    for (name, value) in spec {
        let refusal = match (name.as_str(), value) {
            ("key", Bson::Document(key)) => key_pattern(version, key),
            ("key", _) => Some(code::TYPE_MISMATCH.by(Rule::MongodbIndexKeyValue)),
            ("name", Bson::String(_)) => None,
            ("name", _) => Some(code::TYPE_MISMATCH.by(Rule::MongodbIndexName)),
            ("hidden", Bson::Boolean(_)) => None,
            ("hidden", _) => Some(code::TYPE_MISMATCH.by(Rule::MongodbIndexHidden)),
            ("v", version) if !is_number(version) => {
                Some(code::TYPE_MISMATCH.by(Rule::MongodbIndexOption))
            }
            ("v", version) if !equal(version, &Bson::Int32(safe_int(version))) => {
                Some(code::BAD_VALUE.by(Rule::MongodbIndexOption))
            }
            ("v", version) if !matches!(safe_int(version), 1 | 2) => {
                Some(code::CANNOT_CREATE_INDEX.by(Rule::MongodbIndexOption))
            }
            ("collation", Bson::Document(collation)) => {
                collation.is_empty().then(|| code::BAD_VALUE.by(Rule::MongodbIndexOption))
            }
            ("collation", _) => Some(code::TYPE_MISMATCH.by(Rule::MongodbIndexOption)),
            ("sparse" | "unique" | "background" | "dropDups" | "prepareUnique", flag) => {
                let is_flag = is_number(flag) || matches!(flag, Bson::Boolean(_));
                let rule = match name.as_str() {
                    "sparse" => Rule::MongodbIndexSparse,
                    "unique" => Rule::MongodbIndexUnique,
                    _ => Rule::MongodbIndexOption,
                };
                (version.flags_are_typed() && !is_flag).then(|| code::TYPE_MISMATCH.by(rule))
            }
            (FILTER, Bson::Document(filter)) => filter::parse(filter).err(),
            (FILTER, _) => Some(code::TYPE_MISMATCH.by(Rule::MongodbFilterObject)),
            _ => None,
        };
        if refusal.is_some() {
            return refusal;
        }
    }
    if !spec.contains_key("key") {
        return Some(code::FAILED_TO_PARSE.by(Rule::MongodbIndexKeyValue));
    }
    (!spec.contains_key("name")).then(|| code::FAILED_TO_PARSE.by(Rule::MongodbIndexName))
}

/// How many bytes a key pattern may have.
const LONGEST_KEY: usize = 2048;

/// What a text index over all strings of a document is asked for with.
const ALL_TEXT: &str = "$**";

/// The path by which a text index stands in a catalog, whatever it was asked for with.
const STORED_TEXT: &str = "_fts";

fn key_pattern(version: Version, key: &Document) -> Option<Ruling<i32>> {
    let refuse = |rule: Rule| Some(code::CANNOT_CREATE_INDEX.by(rule));
    let bytes = key.to_vec().map_or(usize::MAX, |bytes| bytes.len());
    if key.is_empty() || bytes > LONGEST_KEY {
        return refuse(Rule::MongodbIndexKeyValue);
    }
    let mut methods: Vec<&str> = key.values().filter_map(Bson::as_str).collect();
    methods.dedup();
    if methods.len() > 1 {
        return refuse(Rule::MongodbIndexKeyValue);
    }
    for (path, value) in key {
        let is_legal = match value {
            Bson::String(method) => {
                matches!(method.as_str(), "hashed" | "text" | "2d" | "2dsphere")
            }
            number => is_number(number) && !is_nan(number) && !equal(number, &Bson::Int32(0)),
        };
        if !is_legal {
            return refuse(Rule::MongodbIndexKeyValue);
        }
        if path == ALL_TEXT && is_text(value) {
            continue;
        }
        if is_wildcard(path) && !is_text(value) && version.wildcard_is_known() {
            if key.len() > 1 || !equal(value, &Bson::Int32(1)) {
                return refuse(Rule::MongodbIndexWildcard);
            }
            continue;
        }
        let mut parts = path.split('.').enumerate();
        let is_reference = |part: &str| matches!(part, "$db" | "$id" | "$ref");
        let is_bad = |(at, part): (usize, &str)| {
            part.is_empty() || part.starts_with('$') && !(at > 0 && is_reference(part))
        };
        if parts.any(is_bad) || path == STORED_TEXT && !is_text(value) {
            return refuse(Rule::MongodbIndexKeyPath);
        }
    }
    None
}

// ---- the _id index -----------------------------------------------------------------------------

/// One field `_id` whose number, as a 32-bit integer, is 1 or -1.
pub fn is_id_pattern(key: &Document) -> bool {
    key.len() == 1 && key.get("_id").is_some_and(|value| matches!(safe_int(value), 1 | -1))
}

/// The index on `_id` is there from the start, and its specification knows no options.
fn id_index(spec: &Document, key: &Document) -> Ruling<Creation> {
    let allowed = ["_id", "collation", "key", "name", "ns", "v"];
    let verdict = if spec.keys().any(|name| !allowed.contains(&name.as_str())) {
        Creation::Refused(code::INVALID_INDEX_OPTION)
    } else if !equal(&key["_id"], &Bson::Int32(1)) {
        Creation::Refused(code::BAD_VALUE)
    } else {
        Creation::There
    };
    verdict.by(Rule::MongodbIndexId)
}

// ---- expireAfterSeconds ------------------------------------------------------------------------

/// Would a specification with this key and value be refused? `Some(code)`: yes.
pub fn seconds_allowed(
    version: Version,
    key: &Document,
    seconds: &Bson,
    now: Millis,
) -> Ruling<Option<i32>> {
    let refuse = |rule: Rule| Some(code::CANNOT_CREATE_INDEX).by(rule);
    if !version.creation_is_checked() {
        return None.by(Rule::MongodbIndexUnchecked);
    }
    if !is_number(seconds) {
        return refuse(Rule::MongodbIndexNumeric);
    }
    if is_nan(seconds) && version.nan_is_refused() {
        return refuse(Rule::MongodbNanRefused);
    }
    let whole = safe_long(seconds);
    let limited = version.creation_is_limited_to_now();
    if !limited && i64::from(safe_int(seconds)) != whole {
        return refuse(Rule::MongodbIndexInt32);
    }
    if whole < 0 {
        return refuse(Rule::MongodbIndexNegative);
    }
    if limited && seconds_as_millis(whole).is_none_or(|millis| millis > now.0) {
        return refuse(Rule::MongodbIndexUntilNow);
    }
    if key.len() != 1 {
        return refuse(Rule::MongodbIndexCompound);
    }
    None.by(if limited { Rule::MongodbIndexUntilNow } else { Rule::MongodbIndexInt32 })
}

/// What is stored of a specification that was accepted.
fn stored(version: Version, spec: &Document) -> Document {
    let mut stored = spec.clone();
    stored.remove("ns");
    if let Some(seconds) = spec.get(SECONDS) {
        stored.insert(SECONDS, stored_seconds(version, seconds));
    }
    stored
}

/// What createIndexes stores for `expireAfterSeconds`.
fn stored_seconds(version: Version, seconds: &Bson) -> Bson {
    if is_nan(seconds) && version.nan_is_stored_as_max() {
        nan::REPAIRED
    } else if version.seconds_are_stored_as_int32() {
        Bson::Int32(safe_int(seconds))
    } else {
        seconds.clone()
    }
}

fn stored_by(version: Version, spec: &Document) -> Rule {
    match spec.get(SECONDS) {
        Some(seconds) if is_nan(seconds) && version.nan_is_stored_as_max() => {
            Rule::MongodbNanStoredAsMax
        }
        Some(seconds) if is_nan(seconds) => Rule::MongodbNanKept,
        _ if version.seconds_are_stored_as_int32() => Rule::MongodbIndexStoredAsInt32,
        _ => Rule::MongodbIndexStoredAsGiven,
    }
}

// ---- beside other options and other indexes ----------------------------------------------------

fn combination(version: Version, name: &str, spec: &Document) -> Option<Ruling<i32>> {
    if name.is_empty() {
        return Some(code::CANNOT_CREATE_INDEX.by(Rule::MongodbIndexName));
    }
    let key = spec.get_document("key").ok()?;
    if spec.contains_key(SECONDS) && method(key) == Method::Wildcard {
        return Some(code::CANNOT_CREATE_INDEX.by(Rule::MongodbIndexWildcard));
    }
    let filter = spec.get_document(FILTER).ok()?;
    if spec.get("sparse").is_some_and(is_true) {
        return Some(code::CANNOT_CREATE_INDEX.by(Rule::MongodbIndexSparse));
    }
    let refusal = filter::refusal(version, &filter::parse(filter).ok()?);
    let because = refusal.because;
    refusal.verdict.map(|verdict| Ruling { verdict, because })
}

/// The options that two indexes may differ in and still be the same.
const NOT_COMPARED: [&str; 13] = [
    "key",
    "ns",
    "name",
    "v",
    "textIndexVersion",
    "2dsphereIndexVersion",
    "background",
    "dropDups",
    "hidden",
    "sparse",
    "unique",
    "_id",
    FILTER,
];

/// Does an existing index stand in the way, or is it the same?
fn beside(version: Version, existing: &[Index], new: &Index) -> Option<Ruling<Creation>> {
    let refuse = |code: i32, rule: Rule| Some(Creation::Refused(code).by(rule));
    if let Some(old) = existing.iter().find(|old| old.name() == new.name()) {
        return if !same_signature(version, old, new) {
            refuse(code::INDEX_KEY_SPECS_CONFLICT, Rule::MongodbIndexSameName)
        } else if !same_options(old, new) {
            refuse(code::INDEX_OPTIONS_CONFLICT, Rule::MongodbIndexConflict)
        } else {
            Some(Creation::There.by(Rule::MongodbIndexSame))
        };
    }
    let old = existing.iter().find(|old| same_signature(version, old, new))?;
    if same_options(old, new) && !version.another_name_conflicts() {
        Some(Creation::There.by(Rule::MongodbIndexSame))
    } else if !same_flags(old, new) {
        refuse(code::INDEX_OPTIONS_CONFLICT, Rule::MongodbIndexSignature)
    } else {
        refuse(code::INDEX_OPTIONS_CONFLICT, Rule::MongodbIndexConflict)
    }
}

/// Is the signature what lets the new index stand beside one of the same key?
fn stands_beside_same_key(existing: &[Index], new: &Index) -> bool {
    existing.iter().any(|old| compare_documents(&old.key(), &new.key()).is_eq())
}

/// Do they answer the same queries, so that there can be only one?
fn same_signature(version: Version, a: &Index, b: &Index) -> bool {
    let same = |option: &str| same_option(a, b, option);
    compare_documents(&a.key(), &b.key()).is_eq()
        && same("collation")
        && (!version.signature_has_options() || same_flags(a, b))
}

/// Are they equal in what tells indexes on one key apart since 5.0?
fn same_flags(a: &Index, b: &Index) -> bool {
    a.is_sparse() == b.is_sparse()
        && a.is_unique() == b.is_unique()
        && same_option(a, b, FILTER)
        && same_option(a, b, "wildcardProjection")
}

/// Are they equal in everything but their names, and in what does not count?
fn same_options(a: &Index, b: &Index) -> bool {
    let mut options = a.spec.keys().chain(b.spec.keys());
    same_flags(a, b)
        && options
            .all(|option| NOT_COMPARED.contains(&option.as_str()) || same_option(a, b, option))
}

fn same_option(a: &Index, b: &Index, option: &str) -> bool {
    match (a.spec.get(option), b.spec.get(option)) {
        (Some(a), Some(b)) => equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// What there is to say of an index that is made.
fn remarks(version: Version, spec: &Document, index: &Index) -> Vec<Rule> {
    let mut rules = Vec::new();
    match index.method() {
        Method::Special => rules.push(Rule::MongodbIndexSpecial),
        _ if !spec.contains_key(SECONDS) => {}
        Method::Ordered if index.key().len() == 1 => rules.push(Rule::MongodbIndexDirection),
        _ => {}
    }
    if spec.contains_key("hidden") {
        rules.push(Rule::MongodbIndexHidden);
    }
    if index.is_sparse() {
        rules.push(Rule::MongodbIndexSparse);
    }
    if index.is_unique() {
        rules.push(Rule::MongodbIndexUnique);
    }
    if let Some(filter) = index.filter() {
        rules.extend(filter::refusal(version, &filter).because);
    }
    rules
}
