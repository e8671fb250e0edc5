//! What does one index know of the documents: which may it hold, whose keys are taken, and which is
//! the least date of each?

use ttlspec_model::mongodb::version::{CappedTtl, NanAtVisit};
use ttlspec_model::mongodb::{Version, code};

use super::bytes::{Elements, Kept, Malformed, Value, elements, kind};
use super::creation::seconds_are_allowed;
use super::filter::Filter;
use super::filter_parser::is_true;
use super::key_extractor::{Key, NoKeys, Path, keys, least_date};
use super::lifetimes::Lifetimes;
use super::number::Number;
use super::order::{equal, hash, is_number};
use super::slot_table::SlotTable;
use super::store::{Slot, Store};

/// The field that makes an index a TTL index.
pub(super) const SECONDS: &[u8] = b"expireAfterSeconds";
/// The field that makes an index partial.
pub(super) const FILTER: &[u8] = b"partialFilterExpression";

/// The kinds of collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ordinary.
    Plain,
    /// Of a fixed size.
    Capped,
    /// A stored query.
    View,
    /// In the order of its key.
    Clustered,
    /// Both.
    CappedClustered,
    /// Of measurements.
    TimeSeries,
}

impl Kind {
    /// May a collection of this kind have seconds of its own?
    pub(super) fn has_seconds(self) -> bool {
        matches!(self, Kind::Clustered | Kind::CappedClustered | Kind::TimeSeries)
    }
}

/// How an index finds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By the ordered values of its fields.
    Ordered,
    /// hashed, text, 2d, 2dsphere.
    Special,
    /// Wildcard.
    Wildcard,
}

/// What a visit of the monitor does with an index. No version that is known asks for the time here,
/// so it is settled when the index is made or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Nothing: it has no lifetime, or may not use it.
    Pass,
    /// It is skipped, with this log line or error code.
    Skip(i32),
    /// Its dates live so many milliseconds.
    Expire(i64),
}

/// An index, with what it knows of the documents.
#[derive(Clone, Debug)]
pub struct TtlIndex {
    name: String,
    spec: Box<[u8]>,
    key: Box<[u8]>,
    method: Method,
    key_fields: usize,
    text_fields: usize,
    sparse: bool,
    unique: bool,
    seconds: Option<Kept>,
    visit: Visit,
    /// The one path of an index over ordered values of one field. Other indexes hold all documents
    /// and are not followed.
    path: Option<Path>,
    filter: Option<Filter>,
    /// Only while there may be a visit that uses them.
    lifetimes: Option<Lifetimes>,
    /// The slots by the hashes of their keys, where keys are unique.
    taken: SlotTable,
    /// `hidden`, where collMod has set it.
    hidden: Option<bool>,
    /// Is it still being built?
    is_building: bool,
}

/// What collMod can change of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changeable {
    /// `expireAfterSeconds`.
    pub(super) seconds: Option<Kept>,
    /// `hidden`, where collMod has set it.
    pub(super) hidden: Option<bool>,
}

/// Why an index cannot hold a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// The document has no keys.
    NoKeys(NoKeys),
    /// Another document has one of its keys.
    Taken,
}

impl From<NoKeys> for Clash {
    fn from(no_keys: NoKeys) -> Clash {
        Clash::NoKeys(no_keys)
    }
}

impl From<Malformed> for Clash {
    fn from(malformed: Malformed) -> Clash {
        Clash::NoKeys(NoKeys::Malformed(malformed))
    }
}

impl TtlIndex {
    /// An index over no documents, with this value of `expireAfterSeconds` in place of the one in
    /// its specification.
    pub(super) fn new(
        version: Version,
        kind: Kind,
        spec: &[u8],
        seconds: Option<Kept>,
    ) -> Result<TtlIndex, i32> {
        let fields = elements(spec).map_err(unreadable)?;
        let get = |name: &[u8]| fields.find(name).map_err(unreadable);
        let filter = match get(FILTER)? {
            Some(filter) if filter.kind == kind::DOCUMENT => Some(Filter::new(version, filter)?),
            _ => None,
        };
        let key = get(b"key")?.ok_or(code::FAILED_TO_PARSE)?;
        let pattern = key_pattern(key)?;
        let name = get(b"name")?.and_then(Value::text).unwrap_or_default();
        let mut index = TtlIndex {
            name: String::from_utf8_lossy(name).into_owned(),
            spec: spec.into(),
            key: key.bytes.into(),
            method: pattern.method,
            key_fields: pattern.fields,
            text_fields: pattern.text_fields,
            sparse: get(b"sparse")?.is_some_and(is_true),
            unique: get(b"unique")?.is_some_and(is_true),
            seconds,
            visit: Visit::Pass,
            path: pattern.only_path.map(Path::new),
            filter,
            lifetimes: None,
            taken: SlotTable::default(),
            hidden: None,
            is_building: false,
        };
        index.settle(version, kind);
        Ok(index)
    }

    /// The same index over no documents, in a server of this version.
    pub(super) fn again(&self, version: Version, kind: Kind) -> TtlIndex {
        let again = TtlIndex::new(version, kind, &self.spec, self.seconds.clone());
        let again = again.expect("what can be read by one version can be read by all");
        TtlIndex { hidden: self.hidden, is_building: self.is_building, ..again }
    }

    /// Takes all documents in, also those that createIndexes would not have let in.
    pub(super) fn gather(&mut self, store: &Store) {
        for slot in store.in_order() {
            let document = store.document(slot);
            self.admit(slot, document, self.least(document));
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its key pattern, as a raw document.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The stored `expireAfterSeconds`, whatever it is.
    pub fn seconds(&self) -> Option<Value<'_>> {
        self.seconds.as_ref().map(Kept::value)
    }

    /// What a visit does with it, once it is ready.
    pub fn visit(&self) -> Visit {
        self.visit
    }

    /// What a pass does with it as it is.
    pub fn usable(&self) -> Visit {
        if self.is_building { Visit::Pass } else { self.visit }
    }

    /// Is it still being built?
    pub fn is_building(&self) -> bool {
        self.is_building
    }

    /// Tells that it is being built, or that it is ready. Was it otherwise before?
    pub(super) fn set_building(&mut self, is_building: bool) -> bool {
        std::mem::replace(&mut self.is_building, is_building) != is_building
    }

    /// What collMod can change of it, as it stands now.
    pub(super) fn changeable(&self) -> Changeable {
        let hidden = self.option(b"hidden").filter(|hidden| hidden.kind == kind::BOOLEAN);
        let hidden = hidden.map(|hidden| hidden.bytes != [0]);
        Changeable { seconds: self.seconds.clone(), hidden: self.hidden.or(hidden) }
    }

    /// Hides it from queries, or shows it.
    pub(super) fn set_hidden(&mut self, hidden: bool) {
        self.hidden = Some(hidden);
    }

    /// Changes it, or changes it back. What is `None` goes.
    pub(super) fn set_changeable(
        &mut self,
        version: Version,
        kind: Kind,
        to: Changeable,
        store: &Store,
    ) {
        self.hidden = to.hidden;
        self.put_seconds(version, kind, to.seconds, store);
    }

    /// Its specification as it stands now.
    pub(super) fn specification(&self) -> Vec<u8> {
        let mut spec = vec![0; 4];
        let mut put = |name: &[u8], value: Value<'_>| {
            spec.push(value.kind);
            spec.extend_from_slice(name);
            spec.push(0);
            spec.extend_from_slice(value.bytes);
        };
        let mut fields = self.options();
        while let Ok(Some((name, value))) = fields.advance() {
            if name != SECONDS {
                put(name, value);
            }
        }
        if let Some(seconds) = self.seconds() {
            put(SECONDS, seconds);
        }
        spec.push(0);
        let length = spec.len() as u32;
        spec[..4].copy_from_slice(&length.to_le_bytes());
        spec
    }

    /// How it finds documents.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The name of the field whose dates it follows, if it is one.
    pub(super) fn only_field(&self) -> Option<&[u8]> {
        let field = elements(&self.key).ok().and_then(|mut fields| fields.advance().ok().flatten());
        field.filter(|_| self.path.is_some()).map(|(name, _)| name)
    }

    /// Does its filter hold where there is nothing but this field?
    pub(super) fn holds_meta(&self, field: Option<&[u8]>, value: Option<Value<'_>>) -> bool {
        let Some(filter) = &self.filter else { return true };
        let mut document = vec![0; 4];
        if let (Some(field), Some(value)) = (field, value) {
            document.push(value.kind);
            document.extend_from_slice(field);
            document.push(0);
            document.extend_from_slice(value.bytes);
        }
        document.push(0);
        let length = document.len() as u32;
        document[..4].copy_from_slice(&length.to_le_bytes());
        filter.holds(&document).unwrap_or_default()
    }

    /// How many fields the stored key has: a text index stores two for each one given.
    pub fn stored_fields(&self) -> usize {
        self.key_fields + self.text_fields
    }

    /// Does a document without the field have no key?
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// May a key belong to one document only?
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// May createIndexes make its filter?
    pub(super) fn filter_is_allowed(&self) -> bool {
        self.filter.as_ref().is_none_or(Filter::is_allowed)
    }

    /// The fields of its specification as it was given; [`SECONDS`] may have changed since.
    pub(super) fn options(&self) -> Elements<'_> {
        elements(&self.spec).expect("the specification was read when the index was made")
    }

    /// One option as it stands now.
    pub(super) fn option(&self, name: &[u8]) -> Option<Value<'_>> {
        if name == SECONDS { self.seconds() } else { self.options().find(name).ok().flatten() }
    }

    /// Stores another `expireAfterSeconds`. Least dates stay as they are: only the threshold moves.
    pub(super) fn set_seconds(
        &mut self,
        version: Version,
        kind: Kind,
        seconds: Kept,
        store: &Store,
    ) {
        self.put_seconds(version, kind, Some(seconds), store);
    }

    fn put_seconds(&mut self, version: Version, kind: Kind, seconds: Option<Kept>, store: &Store) {
        self.seconds = seconds;
        let had_lifetimes = self.lifetimes.is_some();
        self.settle(version, kind);
        if !had_lifetimes && self.lifetimes.is_some() {
            for slot in store.in_order() {
                self.keep_date(slot, self.least(store.document(slot)));
            }
        }
    }

    fn settle(&mut self, version: Version, kind: Kind) {
        let is_inert = kind == Kind::Capped && version.capped_ttl() != CappedTtl::Works;
        let can_expire = self.seconds.is_some() && !is_inert;
        self.visit = if can_expire { self.visit_of(version) } else { Visit::Pass };
        if can_expire && self.path.is_some() && self.lifetimes.is_none() {
            self.lifetimes = Some(Lifetimes::default());
        }
    }

    /// The tests stand in the server's order, which changed in 8.1.
    fn visit_of(&self, version: Version) -> Visit {
        let Some(seconds) = self.seconds() else { return Visit::Pass };
        let is_special = self.method != Method::Ordered;
        let has_one_field = self.stored_fields() == 1;
        if is_special && (has_one_field || version.visit_tests_method_first()) {
            return Visit::Skip(log::METHOD);
        }
        if !has_one_field && !version.visit_tests_method_first() {
            return Visit::Skip(log::FIELDS);
        }
        if version.visit_checks_specification() {
            if !seconds_are_allowed(version, self.key_fields, seconds, i64::MAX) {
                return Visit::Skip(log::SPECIFICATION);
            }
        } else if !is_number(seconds.kind) {
            return Visit::Skip(log::VALUE);
        }
        let whole = match Number::read(seconds) {
            None | Some(Number::Nan) => match version.nan_at_visit() {
                NanAtVisit::Overflows => return Visit::Skip(code::DURATION_OVERFLOW),
                NanAtVisit::Zero => 0,
                NanAtVisit::Skipped => return Visit::Skip(log::VALUE),
            },
            Some(number) if version.conversion_is_a_cast() => number.cast(),
            Some(number) => number.clamped(),
        };
        match whole.checked_mul(1_000) {
            Some(lifetime_ms) => Visit::Expire(lifetime_ms),
            None => Visit::Skip(code::DURATION_OVERFLOW),
        }
    }

    /// May it hold `document` beside all others but the one in slot `except`? Then: its least date.
    #[inline]
    pub(super) fn examine(
        &self,
        store: &Store,
        document: &[u8],
        except: Option<Slot>,
    ) -> Result<Option<i64>, Clash> {
        let Some(path) = &self.path else { return Ok(None) };
        if !self.is_member(document)? {
            return Ok(None);
        }
        let least = least_date(document, path)?;
        if self.unique {
            let mut taken = false;
            self.each_key(document, &mut |key| {
                taken = taken || self.is_taken(store, key, except);
            })?;
            if taken {
                return Err(Clash::Taken);
            }
        }
        Ok(least)
    }

    /// Takes the document into the index, which was found able to hold it.
    #[inline]
    pub(super) fn admit(&mut self, slot: Slot, document: &[u8], least: Option<i64>) {
        self.keep_date(slot, least);
        if self.unique {
            let mut taken = std::mem::take(&mut self.taken);
            self.each_key_there(document, &mut |key| {
                let hash = short_hash(key);
                if taken.find(hash, |found| found == slot).is_none() {
                    taken.insert(hash, slot);
                }
            });
            self.taken = taken;
        }
    }

    /// Gives the keys of a document free, which is about to go or to be replaced.
    #[inline]
    pub(super) fn release(&mut self, slot: Slot, document: &[u8]) {
        if self.unique {
            let mut taken = std::mem::take(&mut self.taken);
            self.each_key_there(document, &mut |key| taken.remove(short_hash(key), slot));
            self.taken = taken;
        }
    }

    /// Forgets a document that is about to go.
    #[inline]
    pub(super) fn evict(&mut self, slot: Slot, document: &[u8]) {
        self.release(slot, document);
        self.keep_date(slot, None);
    }

    /// Its least dates, if there may be a visit that uses them.
    pub(super) fn lifetimes(&mut self) -> Option<&mut Lifetimes> {
        self.lifetimes.as_mut()
    }

    /// The least date of a document in it. One that has no keys, and came from another member, has
    /// no date.
    pub(super) fn least(&self, document: &[u8]) -> Option<i64> {
        let is_member = self.is_member(document).unwrap_or_default();
        self.date(document).filter(|_| is_member)
    }

    /// The least date of a document at its path, whether its filter holds or not.
    pub(super) fn date(&self, document: &[u8]) -> Option<i64> {
        let path = self.path.as_ref()?;
        least_date(document, path).unwrap_or_default()
    }

    fn keep_date(&mut self, slot: Slot, least: Option<i64>) {
        if let Some(lifetimes) = &mut self.lifetimes {
            lifetimes.set(slot, least);
        }
    }

    fn is_member(&self, document: &[u8]) -> Result<bool, Malformed> {
        self.filter.as_ref().map_or(Ok(true), |filter| filter.holds(document))
    }

    /// Hands over the values that stand in the index for this document.
    fn each_key(&self, document: &[u8], each: &mut impl FnMut(Value<'_>)) -> Result<(), NoKeys> {
        let Some(path) = &self.path else { return Ok(()) };
        if !self.is_member(document)? {
            return Ok(());
        }
        keys(document, path, &mut |key| {
            if key != Key::Missing || !self.sparse {
                each(key.indexed());
            }
        })
    }

    /// The same for a document that is in the index. One that has no keys, and came from another
    /// member, may hand over some; they are never found.
    fn each_key_there(&self, document: &[u8], each: &mut impl FnMut(Value<'_>)) {
        match self.each_key(document, each) {
            Ok(()) | Err(NoKeys::Ambiguous { .. }) => {}
            Err(NoKeys::Malformed(_)) => unreachable!("documents were checked when they came in"),
        }
    }

    fn is_taken(&self, store: &Store, key: Value<'_>, except: Option<Slot>) -> bool {
        let has_key = |slot: Slot| {
            let mut found = false;
            let each = self.each_key(store.document(slot), &mut |other| {
                found = found || equal(key, other);
            });
            each.is_ok() && found
        };
        self.taken.find(short_hash(key), |slot| Some(slot) != except && has_key(slot)).is_some()
    }
}

/// The lines that the monitor logs for an index that it cannot use.
mod log {
    /// "key for ttl index can only have 1 field".
    pub const FIELDS: i32 = 22540;
    /// "special index can't be used as a TTL index".
    pub const METHOD: i32 = 22541;
    /// The value is no number.
    pub const VALUE: i32 = 22542;
    /// The specification would be refused today.
    pub const SPECIFICATION: i32 = 6909100;
}

/// 32 bits of [`hash`].
pub(super) fn short_hash(value: Value<'_>) -> u32 {
    let hash = hash(value);
    (hash ^ hash >> 32) as u32
}

/// What a key pattern comes to.
struct Pattern<'a> {
    method: Method,
    fields: usize,
    text_fields: usize,
    only_path: Option<&'a [u8]>,
}

fn key_pattern(key: Value<'_>) -> Result<Pattern<'_>, i32> {
    let mut pattern =
        Pattern { method: Method::Ordered, fields: 0, text_fields: 0, only_path: None };
    let mut fields = key.elements().map_err(unreadable)?;
    while let Some((path, value)) = fields.advance().map_err(unreadable)? {
        let is_text = value.kind == kind::STRING && value.text() == Some(b"text");
        if is_wildcard(path) && !is_text {
            pattern.method = Method::Wildcard;
        } else if value.kind == kind::STRING && pattern.method == Method::Ordered {
            pattern.method = Method::Special;
        }
        pattern.text_fields += usize::from(is_text);
        pattern.fields += 1;
        pattern.only_path = Some(path);
    }
    if pattern.fields != 1 || pattern.method != Method::Ordered {
        pattern.only_path = None;
    }
    Ok(pattern)
}

/// Does this path of a key pattern stand for many?
pub(super) fn is_wildcard(path: &[u8]) -> bool {
    path == b"$**" || path.ends_with(b".$**")
}

fn unreadable(_: Malformed) -> i32 {
    code::FAILED_TO_PARSE
}
