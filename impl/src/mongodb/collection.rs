//! What does one collection hold, and what does a pass take out of it? Raw documents in, raw
//! documents out.

use std::fmt;
use std::hint::black_box;

use ttlspec_model::mongodb::{Reply, Version, Via, code};
use ttlspec_model::time::Millis;

use super::arrival::arrival;
use super::bytes::{Unfit, Value, check, elements};
use super::change::{Catalog, coll_mod};
use super::creation::{Creation, creation};
use super::key_extractor::NoKeys;
use super::order::equal;
use super::slot_table::SlotTable;
use super::store::{Full, Slot, Store};
use super::ttl_index::{Clash, Kind, TtlIndex, Visit, short_hash};
use crate::calendar::Entry;

/// One collection of one server.
///
/// Documents are raw BSON. A store that has grown to its size takes no more from the heap: neither
/// [`insert`](Collection::insert) nor [`replace`](Collection::replace),
/// [`remove`](Collection::remove) or [`pass`](Collection::pass) allocates for a single document.
#[derive(Clone, Debug)]
pub struct Collection {
    version: Version,
    kind: Kind,
    store: Store,
    /// The slots by the hashes of their `_id`s.
    ids: SlotTable,
    indexes: Vec<TtlIndex>,
    /// The least dates of a document on its way in, by index.
    least: Vec<Option<i64>>,
    /// What a pass is about to delete.
    batch: Vec<Entry>,
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
    /// Its bytes.
    pub document: &'a [u8],
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
            store: Store::default(),
            ids: SlotTable::default(),
            indexes: Vec::new(),
            least: Vec::new(),
            batch: Vec::new(),
        }
    }

    /// How many documents there are, expired or not.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// The `_id`s in the order in which the documents came.
    pub fn ids(&self) -> impl Iterator<Item = Value<'_>> {
        self.store.in_order().into_iter().map(|slot| id_of(self.store.document(slot)))
    }

    /// The indexes, without the one on `_id`, in the order in which they were made.
    pub fn indexes(&self) -> &[TtlIndex] {
        &self.indexes
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
        Ok(slot)
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
            Kind::Plain | Kind::Capped => Ok(()),
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
        for index in &mut self.indexes {
            index.evict(slot, self.store.document(slot));
        }
        self.ids.remove(self.store.hash(slot), slot);
        self.store.remove(slot);
    }

    // ---- the monitor ---------------------------------------------------------------------------

    /// One pass of the TTL monitor: deletes all that is due at `now`, index by index, in each by
    /// date, then by age. Answers how many.
    pub fn pass(&mut self, now: Millis, deleted: &mut impl FnMut(Deleted<'_>)) -> usize {
        let before = self.store.len();
        let mut batch = std::mem::take(&mut self.batch);
        for at in 0..self.indexes.len() {
            if let Visit::Expire(lifetime_ms) = self.indexes[at].visit() {
                self.visit(at, now.minus_millis(lifetime_ms).0, &mut batch, deleted);
            }
        }
        self.batch = batch;
        before - self.store.len()
    }

    /// Deletes what has a date at or before the threshold in the index at this place.
    fn visit(
        &mut self,
        at: usize,
        threshold_ms: i64,
        batch: &mut Vec<Entry>,
        deleted: &mut impl FnMut(Deleted<'_>),
    ) {
        let mut is_more = true;
        while is_more {
            let Some(lifetimes) = self.indexes[at].lifetimes() else { return };
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
    fn delete_due(&mut self, at: usize, due: Entry, deleted: &mut impl FnMut(Deleted<'_>)) {
        // An entry that stands there twice is no longer current the second time.
        if self.indexes[at].lifetimes().is_some_and(|lifetimes| lifetimes.has(due)) {
            deleted(Deleted { slot: due.slot, document: self.store.document(due.slot) });
            self.delete(due.slot);
            if let Some(lifetimes) = self.indexes[at].lifetimes() {
                lifetimes.done();
            }
        }
    }

    /// The indexes that a pass cannot use although they have `expireAfterSeconds`, each with the
    /// log line or the error code.
    pub fn skipped(&self) -> impl Iterator<Item = (&str, i32)> {
        self.indexes.iter().filter_map(|index| match index.visit() {
            Visit::Skip(code) => Some((index.name(), code)),
            Visit::Pass | Visit::Expire(_) => None,
        })
    }

    // ---- the catalog ---------------------------------------------------------------------------

    /// `createIndexes` with one specification.
    pub fn create_index(&mut self, spec: &[u8], now: Millis) -> Reply {
        match creation(self.version, self.kind, &self.indexes, spec, now.0) {
            Ok(creation) => self.add(creation),
            Err(code) => Reply::Error(code),
        }
    }

    /// An index comes into the catalog another way, from a server of version `from`.
    pub fn take_over(&mut self, spec: &[u8], via: Via, from: Version, now: Millis) -> Reply {
        match arrival(self.version, self.kind, &self.indexes, spec, (via, from), now.0) {
            Ok(creation) => self.add(creation),
            Err(reply) => reply,
        }
    }

    fn add(&mut self, creation: Creation) -> Reply {
        let Creation::Made(mut index) = creation else { return Reply::Ok };
        for slot in self.store.in_order() {
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
        if name == "_id_" {
            return Reply::Error(code::INVALID_OPTIONS);
        }
        if name == "*" {
            self.indexes.clear();
            return Reply::Ok;
        }
        match self.indexes.iter().position(|index| index.name() == name) {
            None => Reply::Error(code::INDEX_NOT_FOUND),
            Some(at) => {
                self.indexes.remove(at);
                Reply::Ok
            }
        }
    }

    /// `collMod`, without the collection's name.
    pub fn coll_mod(&mut self, command: &[u8], now: Millis) -> Reply {
        let catalog = Catalog { kind: self.kind, store: &self.store, indexes: &mut self.indexes };
        coll_mod(self.version, Some(catalog), command, now.0).unwrap_or_else(|refusal| refusal)
    }
}

/// The `_id` of a document that has been checked.
#[inline]
fn id_of(document: &[u8]) -> Value<'_> {
    elements(document).and_then(|fields| fields.find(b"_id")).ok().flatten().unwrap_or(Value::NULL)
}
