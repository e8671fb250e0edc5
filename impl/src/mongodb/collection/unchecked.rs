//! How is a collection brought to where it was elsewhere, or before? Nobody is asked.

use ttlspec_model::mongodb::{Reply, Version, Via};

use super::{Collection, id_of};
use crate::mongodb::arrival::arrival;
use crate::mongodb::bytes::{Kept, Value};
use crate::mongodb::change::{asked_seconds, taken_over};
use crate::mongodb::creation::Creation;
use crate::mongodb::number::Number;
use crate::mongodb::options::Own;
use crate::mongodb::store::{Full, Slot};
use crate::mongodb::ttl_index::{Changeable, TtlIndex, short_hash};

impl Collection {
    /// An empty one of the same kind, with the same said of it.
    pub(in crate::mongodb) fn like(&self) -> Collection {
        Collection { own: self.own.clone(), ..Collection::new(self.version, self.kind) }
    }

    /// The same in a member of this version.
    pub(in crate::mongodb) fn set_version(&mut self, version: Version) {
        if version == self.version {
            return;
        }
        self.version = version;
        for at in 0..self.indexes.len() {
            self.indexes[at] = self.gathered(&self.indexes[at]);
        }
        self.gather_keys();
    }

    /// The process ends and starts again, in this version.
    pub(in crate::mongodb) fn restart(&mut self, version: Version) {
        self.set_version(version);
        self.buckets.look_again();
    }

    /// What is said of the collection itself.
    pub(in crate::mongodb) fn own(&self) -> &Own {
        &self.own
    }

    /// Something else is said of the collection itself.
    pub(in crate::mongodb) fn set_own(&mut self, own: Own) {
        self.own = own;
    }

    fn gathered(&self, index: &TtlIndex) -> TtlIndex {
        let mut again = index.again(self.version, self.kind);
        if !self.is_series() {
            again.gather(&self.store);
        }
        again
    }

    /// A copy for a member of version `to`, which is told of the indexes by one of version `from`.
    ///
    /// # Errors
    /// The reply where the member ends by that.
    pub(in crate::mongodb) fn synced(
        &self,
        to: Version,
        from: Version,
    ) -> Result<Collection, Reply> {
        let mut copy = Collection { indexes: Vec::new(), ..self.clone() };
        copy.version = to;
        for index in &self.indexes {
            let spec = index.specification();
            let way = (Via::Synced, from);
            match arrival(to, self.kind, &copy.indexes, &spec, way, i64::MAX) {
                Ok(Creation::Made(made)) => {
                    let hidden = index.changeable().hidden;
                    let to = Changeable { hidden, ..made.changeable() };
                    copy.make_index(&made);
                    copy.set_changeable(copy.indexes.len() - 1, to);
                    copy.set_building(copy.indexes.len() - 1, index.is_building());
                }
                Ok(Creation::There) | Err(Reply::Error(_)) => {}
                Err(end) => return Err(end),
            }
        }
        copy.gather_keys();
        copy.buckets.look_over(&copy.store);
        Ok(copy)
    }

    // ---- documents -----------------------------------------------------------------------------

    /// The slot of the document with this `_id`.
    pub(in crate::mongodb) fn find(&self, id: Value<'_>) -> Option<Slot> {
        self.slot_of(id, short_hash(id))
    }

    /// Puts a document in the place of the one with its `_id`, or behind all others.
    ///
    /// # Errors
    /// [`Full`].
    pub(in crate::mongodb) fn put(&mut self, document: &[u8]) -> Result<(), Full> {
        let id = id_of(document);
        let hash = short_hash(id);
        match self.slot_of(id, hash) {
            Some(slot) => {
                let is_series = self.is_series();
                for index in self.indexes.iter_mut().filter(|_| !is_series) {
                    index.release(slot, self.store.document(slot));
                }
                if is_series {
                    self.buckets.evict(self.store.record(slot), self.store.document(slot));
                }
                self.store.replace(slot, document)?;
                self.admit(slot);
                self.admit_key(slot);
            }
            None => {
                let slot = self.store.insert(document, hash)?;
                self.take_in(slot, hash);
            }
        }
        Ok(())
    }

    /// Takes out the document in this slot.
    pub(in crate::mongodb) fn take_out(&mut self, slot: Slot) {
        self.delete(slot);
    }

    /// Puts a document back that was deleted.
    ///
    /// # Errors
    /// [`Full`].
    pub(in crate::mongodb) fn restore(
        &mut self,
        document: &[u8],
        record: u64,
        is_orphan: bool,
    ) -> Result<(), Full> {
        let hash = short_hash(id_of(document));
        let slot = self.store.restore(document, hash, record)?;
        self.take_in(slot, hash);
        if is_orphan {
            self.orphans.mark(slot);
        }
        Ok(())
    }

    fn take_in(&mut self, slot: Slot, hash: u32) {
        self.ids.insert(hash, slot);
        self.admit(slot);
        self.admit_key(slot);
    }

    fn admit(&mut self, slot: Slot) {
        let is_series = self.is_series();
        for index in self.indexes.iter_mut().filter(|_| !is_series) {
            let document = self.store.document(slot);
            index.admit(slot, document, index.least(document));
        }
    }

    /// Marks the document with this `_id` as one of another shard, or as one that belongs here. Was
    /// it otherwise before? `None`: there is none.
    pub(in crate::mongodb) fn set_orphan(
        &mut self,
        id: Value<'_>,
        is_orphan: bool,
    ) -> Option<bool> {
        let slot = self.find(id)?;
        Some(if is_orphan { self.orphans.mark(slot) } else { self.orphans.unmark(slot) })
    }

    /// Has it seen dates that a bucket's `_id` cannot hold?
    pub(in crate::mongodb) fn is_extended(&self) -> bool {
        self.buckets.is_extended()
    }

    /// Tells whether it has seen such dates.
    pub(in crate::mongodb) fn set_extended(&mut self, is_extended: bool) {
        self.buckets.set_extended(is_extended);
    }

    /// Tells whether what this shard knows of it is out of date. Was it so before?
    pub(in crate::mongodb) fn set_stale(&mut self, is_stale: bool) -> bool {
        std::mem::replace(&mut self.is_stale, is_stale)
    }

    /// Is what this shard knows of it out of date?
    pub(in crate::mongodb) fn is_stale(&self) -> bool {
        self.is_stale
    }

    // ---- the catalog ---------------------------------------------------------------------------

    /// The place of the index with this name.
    pub(in crate::mongodb) fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| index.name() == name)
    }

    /// Makes an index like this one.
    pub(in crate::mongodb) fn make_index(&mut self, like: &TtlIndex) {
        let index = self.gathered(like);
        self.indexes.push(index);
    }

    /// Puts an index back to its place.
    pub(in crate::mongodb) fn restore_index(&mut self, at: usize, index: &TtlIndex) {
        let index = self.gathered(index);
        self.indexes.insert(at, index);
    }

    /// Takes out the index at this place.
    pub(in crate::mongodb) fn take_index(&mut self, at: usize) -> TtlIndex {
        self.indexes.remove(at)
    }

    /// Which index, and which seconds, does a collMod ask for that was done?
    pub(in crate::mongodb) fn asked_seconds(&self, command: &[u8]) -> Option<(usize, i64)> {
        asked_seconds(self.version, &self.indexes, command)
    }

    /// Is told of an index that is otherwise in another member. Answers how it was, if that is new.
    pub(in crate::mongodb) fn modify(&mut self, at: usize, to: &Changeable) -> Option<Changeable> {
        let index = &self.indexes[at];
        let before = index.changeable();
        let told = to.seconds.as_ref().map(Kept::value);
        let seconds = told.and_then(|told| taken_over(self.version, index.seconds(), told));
        let to = Changeable {
            seconds: seconds.or(before.seconds.clone()),
            hidden: to.hidden.or(before.hidden),
        };
        let is_new = to != before;
        self.set_changeable(at, to);
        is_new.then_some(before)
    }

    /// Changes an index as collMod could.
    pub(in crate::mongodb) fn set_changeable(&mut self, at: usize, to: Changeable) {
        self.indexes[at].set_changeable(self.version, self.kind, to, &self.store);
    }

    /// Tells that an index is being built, or that it is ready. Was it otherwise before?
    pub(in crate::mongodb) fn set_building(&mut self, at: usize, is_building: bool) -> bool {
        self.indexes[at].set_building(is_building)
    }

    /// Has it a TTL index whose seconds are NaN?
    pub(in crate::mongodb) fn has_nan(&self) -> bool {
        self.indexes.iter().any(|index| is_nan(index.seconds()))
    }
}

/// Are these seconds NaN?
pub(in crate::mongodb) fn is_nan(seconds: Option<Value<'_>>) -> bool {
    seconds.and_then(Number::read).is_some_and(Number::is_nan)
}

/// A value on its own.
pub(in crate::mongodb) fn kept_id(document: &[u8]) -> Kept {
    id_of(document).into()
}
