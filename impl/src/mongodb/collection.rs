//! What does one collection hold, and what does a pass take out of it? Raw documents in, raw
//! documents out.

use std::fmt;
use std::hint::black_box;
use std::ops::Range;

use ttlspec_model::mongodb::{Reply, Version, Via, code};
use ttlspec_model::time::Millis;

use super::arrival::arrival;
use super::buckets::{self, Buckets, Changed, Due, Stored, measurements, refusal};
use super::bytes::{Unfit, Value, check, elements};
use super::change::{Catalog, coll_mod, while_building};
use super::creation::{Creation, creation};
use super::key_extractor::NoKeys;
use super::lifetimes::Lifetimes;
use super::options::{Own, create};
use super::order::equal;
use super::slot_set::SlotSet;
use super::slot_table::SlotTable;
use super::store::{Full, Slot, Store};
use super::ttl_index::{Clash, Kind, TtlIndex, Visit, short_hash};
use crate::calendar::Entry;

mod unchecked;
mod visiting;

pub(super) use unchecked::{is_nan, kept_id};
pub(super) use visiting::{Batch, Cursor, Former, Target};

/// One collection of one server.
///
/// Documents are raw BSON. A store that has grown to its size takes no more from the heap: neither
/// [`insert`](Collection::insert) nor [`replace`](Collection::replace),
/// [`remove`](Collection::remove) or [`pass`](Collection::pass) allocates for a single document.
#[derive(Clone, Debug)]
pub struct Collection {
    version: Version,
    kind: Kind,
    own: Own,
    store: Store,
    /// The slots by the hashes of their `_id`s.
    ids: SlotTable,
    indexes: Vec<TtlIndex>,
    /// The dates among the keys of a clustered collection, as far as they can expire.
    keys: Lifetimes,
    /// The documents of a time-series collection, which has no others.
    buckets: Buckets,
    /// The documents that belong to another shard.
    orphans: SlotSet,
    /// Is what this shard knows of the collection out of date?
    is_stale: bool,
    /// The least dates of a document on its way in, by index.
    least: Vec<Option<i64>>,
    /// What a pass is about to delete.
    batch: Vec<Entry>,
    /// What was due in a pass and stays.
    spared: Vec<Entry>,
}

/// How many documents are fetched into the caches before they are deleted.
const AT_ONCE: usize = 16;

/// Why a document does not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The server's error code.
    Code(i32),
    /// It is no document that a server could hold.
    Unfit(Unfit),
    /// There is no room.
    Full(Full),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Code(code) => write!(f, "refused with error code `{code}`"),
            Refusal::Unfit(unfit) => unfit.fmt(f),
            Refusal::Full(full) => full.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Full> for Refusal {
    fn from(full: Full) -> Refusal {
        Refusal::Full(full)
    }
}

impl From<Unfit> for Refusal {
    fn from(unfit: Unfit) -> Refusal {
        Refusal::Unfit(unfit)
    }
}

impl From<Clash> for Refusal {
    fn from(clash: Clash) -> Refusal {
        match clash {
            Clash::Taken => Refusal::Code(code::DUPLICATE_KEY),
            Clash::NoKeys(NoKeys::Ambiguous { .. }) => {
                Refusal::Code(code::AMBIGUOUS_FIELD_IN_ARRAY)
            }
            Clash::NoKeys(NoKeys::Malformed(malformed)) => Refusal::Unfit(malformed.into()),
        }
    }
}

/// A document that a pass deletes, while it is still there.
#[derive(Clone, Copy, Debug)]
pub struct Deleted<'a> {
    /// Where it was.
    pub slot: Slot,
    /// When it came, as a number.
    pub record: u64,
    /// Its bytes.
    pub document: &'a [u8],
    /// Did it belong to another shard?
    pub is_orphan: bool,
}

impl<'a> Deleted<'a> {
    /// Its `_id`.
    pub fn id(&self) -> Value<'a> {
        id_of(self.document)
    }
}

impl Collection {
    /// An empty one.
    pub fn new(version: Version, kind: Kind) -> Collection {
        Collection {
            version,
            kind,
            own: Own::default(),
            keys: Lifetimes::default(),
            buckets: Buckets::default(),
            store: Store::default(),
            ids: SlotTable::default(),
            indexes: Vec::new(),
            orphans: SlotSet::default(),
            is_stale: false,
            least: Vec::new(),
            batch: Vec::new(),
            spared: Vec::new(),
        }
    }

    /// What `create` makes with these options, which are a raw document, at `now`.
    ///
    /// # Errors
    /// The error code. One that is there already stands in the way of another.
    pub fn with(
        version: Version,
        exists: bool,
        options: &[u8],
        now: Millis,
    ) -> Result<Collection, i32> {
        let (kind, own) = create(version, exists, options, now.0)?;
        Ok(Collection { own, ..Collection::new(version, kind) })
    }

    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many documents there are, expired or not. Measurements are not counted, buckets are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// The `_id`s in the order in which the documents came, or of all measurements.
    pub fn ids(&self) -> impl Iterator<Item = Value<'_>> {
        let is_series = self.is_series();
        let documents = self.store.in_order().into_iter().map(|slot| self.store.document(slot));
        documents.flat_map(move |document| {
            let own = (!is_series).then(|| id_of(document));
            let measured = is_series.then(|| measurements(document).map(buckets::id_of));
            own.into_iter().chain(measured.into_iter().flatten())
        })
    }

    /// The indexes, without the one on `_id`, in the order in which they were made.
    pub fn indexes(&self) -> &[TtlIndex] {
        &self.indexes
    }

    // ---- measurements --------------------------------------------------------------------------

    /// Is it a time-series collection?
    pub(super) fn is_series(&self) -> bool {
        self.kind == Kind::TimeSeries
    }

    /// The bucket that takes a measurement, as it is to be stored then.
    pub(super) fn taking(&self, measurement: &[u8]) -> Result<Stored, i32> {
        let form = self.own.form.as_ref().ok_or(code::INVALID_OPTIONS)?;
        self.buckets.taking(self.version, form, &self.store, measurement)
    }

    /// What becomes of buckets when the measurements with this `_id` go, and how many these are.
    pub(super) fn without(&self, id: Value<'_>) -> Result<(u64, Vec<Changed>), i32> {
        match &self.own.form {
            Some(form) if self.version.measurements_can_be_deleted() => {
                Ok(Buckets::without(form, &self.store, id))
            }
            _ => Err(code::INVALID_OPTIONS),
        }
    }

    /// The buckets that are due, in the order of deletion.
    fn due_buckets(&self, target: Target, threshold_ms: i64) -> Vec<Due> {
        let Some(form) = &self.own.form else { return Vec::new() };
        let Collection { buckets, store, version, .. } = self;
        match target {
            None => buckets.due(*version, form, store, threshold_ms),
            Some(at) => buckets.due_by_index(form, &self.indexes[at], store, threshold_ms),
        }
    }

    /// One pass over buckets.
    fn pass_buckets(&mut self, now: Millis, deleted: &mut impl FnMut(Deleted<'_>)) {
        for target in std::iter::once(None).chain((0..self.indexes.len()).map(Some)) {
            let Visit::Expire(lifetime_ms) = self.usable(target) else { continue };
            for Due { record, slot, .. } in
                self.due_buckets(target, now.minus_millis(lifetime_ms).0)
            {
                let is_orphan = self.orphans.has(slot);
                if !(is_orphan && self.version.orphans_are_left_alone()) {
                    let document = self.store.document(slot);
                    deleted(Deleted { slot, record, document, is_orphan });
                    self.delete(slot);
                }
            }
        }
    }

    // ---- documents -----------------------------------------------------------------------------

    /// Puts a document in and answers its slot. Without an `_id` it is null.
    ///
    /// # Errors
    /// [`Refusal`]; then nothing has changed.
    pub fn insert(&mut self, document: &[u8]) -> Result<Slot, Refusal> {
        self.writable()?;
        check(document)?;
        let id = id_of(document);
        let hash = short_hash(id);
        if self.slot_of(id, hash).is_some() {
            return Err(Refusal::Code(code::DUPLICATE_KEY));
        }
        self.examine(document, None)?;
        let slot = self.store.insert(document, hash)?;
        self.ids.insert(hash, slot);
        for (index, least) in self.indexes.iter_mut().zip(&self.least) {
            index.admit(slot, document, *least);
        }
        self.admit_key(slot);
        Ok(slot)
    }

    /// Keeps the date of a cluster key, or the place of a bucket.
    #[inline]
    fn admit_key(&mut self, slot: Slot) {
        if self.is_series() {
            self.buckets.admit(slot, self.store.record(slot), self.store.document(slot));
        }
        if self.own.cluster_key.is_some() {
            // Where a visit begins at 1970, what is earlier has no end.
            let begins_at_1970 = self.version.clustered_begins_at_1970();
            let date = id_of(self.store.document(slot)).date();
            self.keys.set(slot, date.filter(|date| *date >= 0 || !begins_at_1970));
        }
    }

    fn gather_keys(&mut self) {
        self.keys = Lifetimes::default();
        if self.own.cluster_key.is_some() {
            self.store.in_order().into_iter().for_each(|slot| self.admit_key(slot));
        }
    }

    /// Puts a document in the place of the one with its `_id`. `None`: there is none.
    ///
    /// # Errors
    /// [`Refusal`]; then nothing has changed.
    pub fn replace(&mut self, document: &[u8]) -> Result<Option<Slot>, Refusal> {
        self.writable()?;
        check(document)?;
        let id = id_of(document);
        let Some(slot) = self.slot_of(id, short_hash(id)) else { return Ok(None) };
        self.examine(document, Some(slot))?;
        self.store.has_room(document.len())?;
        for index in &mut self.indexes {
            index.release(slot, self.store.document(slot));
        }
        self.store.replace(slot, document)?;
        for (index, least) in self.indexes.iter_mut().zip(&self.least) {
            index.admit(slot, document, *least);
        }
        Ok(Some(slot))
    }

    /// Deletes the document with this `_id`. Was there one?
    ///
    /// # Errors
    /// [`Refusal`] on a view.
    pub fn remove(&mut self, id: Value<'_>) -> Result<bool, Refusal> {
        self.writable()?;
        let slot = self.slot_of(id, short_hash(id));
        if let Some(slot) = slot {
            self.delete(slot);
        }
        Ok(slot.is_some())
    }

    /// A view holds nothing: a write to it is refused.
    fn writable(&self) -> Result<(), Refusal> {
        match self.kind {
            Kind::View => Err(Refusal::Code(code::NOT_SUPPORTED_ON_VIEW)),
            Kind::TimeSeries => Err(Refusal::Code(code::INVALID_OPTIONS)),
            Kind::Plain | Kind::Capped | Kind::Clustered | Kind::CappedClustered => Ok(()),
        }
    }

    fn slot_of(&self, id: Value<'_>, hash: u32) -> Option<Slot> {
        self.ids.find(hash, |slot| equal(id_of(self.store.document(slot)), id))
    }

    /// Asks all indexes; the first that cannot hold the document decides.
    fn examine(&mut self, document: &[u8], except: Option<Slot>) -> Result<(), Refusal> {
        self.least.clear();
        for index in &self.indexes {
            self.least.push(index.examine(&self.store, document, except)?);
        }
        Ok(())
    }

    fn delete(&mut self, slot: Slot) {
        let is_series = self.is_series();
        for index in self.indexes.iter_mut().filter(|_| !is_series) {
            index.evict(slot, self.store.document(slot));
        }
        if self.own.cluster_key.is_some() {
            self.keys.set(slot, None);
        }
        if self.is_series() {
            self.buckets.evict(self.store.record(slot), self.store.document(slot));
        }
        self.orphans.unmark(slot);
        self.ids.remove(self.store.hash(slot), slot);
        self.store.remove(slot);
    }

    // ---- the monitor ---------------------------------------------------------------------------

    /// One pass of the TTL monitor: deletes all that is due at `now`, index by index, in each by
    /// date, then by age. Answers how many.
    pub fn pass(&mut self, now: Millis, deleted: &mut impl FnMut(Deleted<'_>)) -> usize {
        let before = self.store.len();
        if self.is_series() {
            self.pass_buckets(now, deleted);
            return before - self.store.len();
        }
        let mut batch = std::mem::take(&mut self.batch);
        if let Some(seconds) = self.own.seconds {
            let lifetime_ms = seconds.saturating_mul(1_000);
            self.visit(None, now.minus_millis(lifetime_ms).0, &mut batch, deleted);
        }
        for at in 0..self.indexes.len() {
            if let Visit::Expire(lifetime_ms) = self.indexes[at].usable() {
                self.visit(Some(at), now.minus_millis(lifetime_ms).0, &mut batch, deleted);
            }
        }
        self.batch = batch;
        before - self.store.len()
    }

    /// The dates by which a visit goes: those of the index at this place, or of the keys.
    fn lifetimes(&mut self, at: Option<usize>) -> Option<&mut Lifetimes> {
        match at {
            Some(at) => self.indexes[at].lifetimes(),
            None => Some(&mut self.keys),
        }
    }

    /// Deletes what has a date at or before the threshold in the index at this place, or among the
    /// keys.
    fn visit(
        &mut self,
        at: Option<usize>,
        threshold_ms: i64,
        batch: &mut Vec<Entry>,
        deleted: &mut impl FnMut(Deleted<'_>),
    ) {
        let mut is_more = true;
        while is_more {
            let Some(lifetimes) = self.lifetimes(at) else { return };
            is_more = lifetimes.due(threshold_ms, batch);
            // The next batch may go on with the last date, whose order is not known before.
            let known = match batch.last() {
                Some(last) if is_more => batch.partition_point(|due| due.date_ms < last.date_ms),
                _ => batch.len(),
            };
            self.sort_by_age(&mut batch[..known]);
            for near in batch[..known].chunks(AT_ONCE) {
                self.warm(near);
                for entry in near {
                    self.delete_due(at, *entry, deleted);
                }
            }
            batch.drain(..known);
        }
        self.give_back(at);
    }

    /// Gives back what was due and stays.
    fn give_back(&mut self, at: Option<usize>) {
        let mut spared = std::mem::take(&mut self.spared);
        if let Some(lifetimes) = self.lifetimes(at) {
            spared.drain(..).for_each(|entry| lifetimes.keep(entry));
        }
        self.spared = spared;
    }

    /// Touches all that a deletion will read, so that the caches fetch it for many documents at
    /// once and not for one after the other.
    fn warm(&self, near: &[Entry]) {
        let touched = near.iter().map(|due| {
            let hash = self.store.hash(due.slot);
            self.ids.touch(hash) ^ self.store.touch(due.slot)
        });
        black_box(touched.fold(0, |all, one| all ^ one));
    }

    /// Brings entries that stand by date into the order of deletion.
    fn sort_by_age(&self, batch: &mut [Entry]) {
        let record = |due: &Entry| self.store.record(due.slot);
        for same_date in batch.chunk_by_mut(|a, b| a.date_ms == b.date_ms) {
            if !same_date.is_sorted_by_key(record) {
                same_date.sort_unstable_by_key(record);
            }
        }
    }

    #[inline]
    fn delete_due(&mut self, at: Option<usize>, due: Entry, deleted: &mut impl FnMut(Deleted<'_>)) {
        // An entry that stands there twice is no longer current the second time.
        if self.lifetimes(at).is_some_and(|lifetimes| lifetimes.has(due)) {
            let is_orphan = !self.orphans.is_empty() && self.orphans.has(due.slot);
            if is_orphan && self.version.orphans_are_left_alone() {
                self.spared.push(due);
                return;
            }
            let (slot, record) = (due.slot, self.store.record(due.slot));
            let document = self.store.document(slot);
            deleted(Deleted { slot, record, document, is_orphan });
            self.delete(due.slot);
            if let Some(lifetimes) = self.lifetimes(at) {
                lifetimes.done();
            }
        }
    }

    /// The indexes that a pass cannot use although they have `expireAfterSeconds`, each with the
    /// log line or the error code.
    pub fn skipped(&self) -> impl Iterator<Item = (&str, i32)> {
        let is_off = self.is_series() && self.buckets.is_off(self.version);
        self.indexes.iter().filter(move |_| !is_off).filter_map(|index| match index.usable() {
            Visit::Skip(code) => Some((index.name(), code)),
            Visit::Pass | Visit::Expire(_) => None,
        })
    }

    // ---- the catalog ---------------------------------------------------------------------------

    /// `createIndexes` with one specification.
    pub fn create_index(&mut self, spec: &[u8], now: Millis) -> Reply {
        if let Err(code) = self.refuses(spec) {
            return Reply::Error(code);
        }
        match creation(self.version, self.kind, &self.indexes, spec, now.0) {
            Ok(creation) => self.add(creation),
            Err(code) => Reply::Error(code),
        }
    }

    /// An index comes into the catalog another way, from a server of version `from`.
    pub fn take_over(&mut self, spec: &[u8], via: Via, from: Version, now: Millis) -> Reply {
        if matches!(via, Via::Created | Via::Restored)
            && let Err(code) = self.refuses(spec)
        {
            return Reply::Error(code);
        }
        match arrival(self.version, self.kind, &self.indexes, spec, (via, from), now.0) {
            Ok(creation) => self.add(creation),
            Err(reply) => reply,
        }
    }

    /// Does a time-series collection refuse this specification?
    fn refuses(&self, spec: &[u8]) -> Result<(), i32> {
        let form = self.own.form.as_ref();
        form.map_or(Ok(()), |form| refusal(self.version, form, spec))
    }

    fn add(&mut self, creation: Creation) -> Reply {
        let Creation::Made(mut index) = creation else { return Reply::Ok };
        // What an index would say of buckets is found where they are.
        let slots = if self.is_series() { Vec::new() } else { self.store.in_order() };
        for slot in slots {
            let document = self.store.document(slot);
            match index.examine(&self.store, document, None).map_err(Refusal::from) {
                Ok(least) => index.admit(slot, document, least),
                Err(Refusal::Code(code)) => return Reply::Error(code),
                Err(Refusal::Unfit(_) | Refusal::Full(_)) => {
                    unreachable!("documents were checked when they came in")
                }
            }
        }
        self.indexes.push(*index);
        Reply::Ok
    }

    /// `dropIndexes` of the index with this name; `*` means all.
    pub fn drop_index(&mut self, name: &str) -> Reply {
        match self.droppable(name) {
            Err(code) => Reply::Error(code),
            Ok(places) => {
                self.indexes.drain(places);
                Reply::Ok
            }
        }
    }

    /// The places of the indexes that this name means, where they may be dropped.
    pub(super) fn droppable(&self, name: &str) -> Result<Range<usize>, i32> {
        if self.own.cluster_key.as_deref() == Some(name.as_bytes()) {
            return Err(code::CLUSTERED_DROP);
        }
        match name {
            "_id_" => Err(code::INVALID_OPTIONS),
            "*" => Ok(0..self.indexes.len()),
            name => self.index(name).map(|at| at..at + 1).ok_or(code::INDEX_NOT_FOUND),
        }
    }

    /// `collMod`, without the collection's name.
    pub fn coll_mod(&mut self, command: &[u8], now: Millis) -> Reply {
        if self.indexes.iter().any(TtlIndex::is_building) {
            return while_building(self.version, command);
        }
        let Collection { kind, store, indexes, own, .. } = self;
        let catalog = Catalog { kind: *kind, store, indexes, own };
        coll_mod(self.version, Some(catalog), command, now.0).unwrap_or_else(|refusal| refusal)
    }
}

/// The `_id` of a document that has been checked.
#[inline]
fn id_of(document: &[u8]) -> Value<'_> {
    elements(document).and_then(|fields| fields.find(b"_id")).ok().flatten().unwrap_or(Value::NULL)
}
