//! What does a visit choose, batch by batch, and what becomes of it?

use super::{Collection, Deleted, id_of};
use crate::mongodb::buckets::Due;
use crate::mongodb::bytes::Value;
use crate::mongodb::ids::Ids;
use crate::mongodb::options::Form;
use crate::mongodb::parameters::Limits;
use crate::mongodb::store::Slot;
use crate::mongodb::ttl_index::Visit;

/// What a visit is of: the index at this place, or the collection's own seconds.
pub(in crate::mongodb) type Target = Option<usize>;

/// How far a visit has come.
#[derive(Clone, Copy, Debug)]
pub(in crate::mongodb) struct Cursor {
    /// Dates up to this one are due.
    pub(in crate::mongodb) threshold_ms: i64,
    /// The date and the record that it came to last.
    pub(in crate::mongodb) behind: Option<(i64, u64)>,
}

/// What a visit has chosen, and what became of it.
#[derive(Clone, Debug, Default)]
pub(in crate::mongodb) struct Batch {
    staged: Vec<Staged>,
    /// The `_id`s of what is staged.
    ids: Ids,
    /// The `_id`s of what was deleted last.
    pub(in crate::mongodb) deleted: Ids,
    /// The `_id`s of what was staged last and stays.
    pub(in crate::mongodb) kept: Ids,
}

/// A document that is to be deleted.
#[derive(Clone, Copy, Debug)]
struct Staged {
    slot: Slot,
    record: u64,
    /// Has somebody else deleted it?
    is_gone: bool,
}

/// A document that was deleted, as it was.
#[derive(Clone, Copy, Debug)]
pub(in crate::mongodb) struct Former<'a> {
    /// Its record.
    pub(in crate::mongodb) record: u64,
    /// Its bytes.
    pub(in crate::mongodb) document: &'a [u8],
    /// Did it belong to another shard?
    pub(in crate::mongodb) is_orphan: bool,
}

impl<'a> Deleted<'a> {
    /// It, with all that goes with it.
    pub(in crate::mongodb) fn former(self) -> Former<'a> {
        let Deleted { record, document, is_orphan, .. } = self;
        Former { record, document, is_orphan }
    }
}

impl<'a> Former<'a> {
    /// Its `_id`.
    pub(in crate::mongodb) fn id(&self) -> Value<'a> {
        id_of(self.document)
    }
}

impl Batch {
    /// How many are staged.
    pub(in crate::mongodb) fn len(&self) -> usize {
        self.staged.len()
    }

    /// Is nothing staged?
    pub(in crate::mongodb) fn is_empty(&self) -> bool {
        self.staged.is_empty()
    }

    /// The `_id`s of what is staged.
    pub(in crate::mongodb) fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Nothing is staged any more.
    pub(in crate::mongodb) fn clear(&mut self) {
        self.staged.clear();
        self.ids.clear();
    }

    /// Something was done to the collection, or it is gone.
    pub(in crate::mongodb) fn notice(&mut self, there: Option<&Collection>) {
        for (at, staged) in self.staged.iter_mut().enumerate() {
            let is_there = there.is_some_and(|there| there.has(staged, self.ids.get(at)));
            staged.is_gone |= !is_there;
        }
    }
}

impl Collection {
    /// What the monitor knows of, in order.
    pub(in crate::mongodb) fn targets(&self) -> impl Iterator<Item = Target> {
        let own = self.own.seconds.map(|_| None);
        let is_known = |at: &usize| self.indexes[*at].visit() != Visit::Pass;
        own.into_iter().chain((0..self.indexes.len()).filter(is_known).map(Some))
    }

    /// Its name: that of the index. The collection's own seconds have none.
    pub(in crate::mongodb) fn target_name(&self, target: Target) -> &str {
        target.map_or("", |at| self.indexes[at].name())
    }

    /// The target with this name.
    pub(in crate::mongodb) fn target(&self, name: &str) -> Option<Target> {
        if name.is_empty() {
            return self.kind.has_seconds().then_some(None);
        }
        self.indexes.iter().position(|index| index.name() == name).map(Some)
    }

    /// Is it still being built?
    pub(in crate::mongodb) fn is_building(&self, target: Target) -> bool {
        target.is_some_and(|at| self.indexes[at].is_building())
    }

    /// What does a visit do with it?
    pub(in crate::mongodb) fn usable(&self, target: Target) -> Visit {
        if self.is_series() && self.buckets.is_off(self.version) {
            return Visit::Pass;
        }
        let visit = match (target, self.own.seconds) {
            (Some(at), _) => self.indexes[at].usable(),
            (None, Some(seconds)) => Visit::Expire(seconds.saturating_mul(1_000)),
            (None, None) => Visit::Pass,
        };
        let span_ms = self.own.form.as_ref().map_or(0, Form::span_ms);
        match visit {
            Visit::Expire(lifetime_ms) => Visit::Expire(lifetime_ms.saturating_add(span_ms)),
            other => other,
        }
    }

    /// A visit begins, or ends.
    pub(in crate::mongodb) fn begin_visit(&mut self, target: Target) {
        if let Some(lifetimes) = self.lifetimes(target) {
            lifetimes.end_visit();
        }
    }

    /// Chooses the next batch. Is it full?
    pub(in crate::mongodb) fn stage(
        &mut self,
        target: Target,
        cursor: &mut Cursor,
        limits: Limits,
        batch: &mut Batch,
    ) -> bool {
        if self.is_series() {
            return self.stage_buckets(target, cursor, limits, batch);
        }
        let leaves_orphans = self.version.orphans_are_left_alone();
        let Collection { store, indexes, keys, orphans, .. } = self;
        let lifetimes = match target {
            Some(at) => indexes[at].lifetimes(),
            None => Some(keys),
        };
        let Some(lifetimes) = lifetimes else { return false };
        let mut bytes = 0;
        while let Some(due) = lifetimes.advance(cursor.threshold_ms, store) {
            let place = (due.date_ms, due.record);
            let is_left = leaves_orphans && !orphans.is_empty() && orphans.has(due.slot);
            if is_left || cursor.behind.is_some_and(|behind| place <= behind) {
                continue;
            }
            let document = store.document(due.slot);
            bytes += document.len();
            batch.staged.push(Staged { slot: due.slot, record: due.record, is_gone: false });
            batch.ids.push(id_of(document));
            cursor.behind = Some(place);
            if batch.staged.len() >= limits.docs || bytes >= limits.bytes {
                return true;
            }
        }
        false
    }

    /// Chooses the next batch of buckets. Is it full?
    fn stage_buckets(
        &self,
        target: Target,
        cursor: &mut Cursor,
        limits: Limits,
        batch: &mut Batch,
    ) -> bool {
        let leaves_orphans = self.version.orphans_are_left_alone();
        let mut bytes = 0;
        for Due { date_ms, record, slot } in self.due_buckets(target, cursor.threshold_ms) {
            let place = (date_ms, record);
            let is_left = leaves_orphans && self.orphans.has(slot);
            if is_left || cursor.behind.is_some_and(|behind| place <= behind) {
                continue;
            }
            let document = self.store.document(slot);
            bytes += document.len();
            batch.staged.push(Staged { slot, record, is_gone: false });
            batch.ids.push(id_of(document));
            cursor.behind = Some(place);
            if batch.staged.len() >= limits.docs || bytes >= limits.bytes {
                return true;
            }
        }
        false
    }

    /// Deletes what is staged and still expired; tells each before it goes. Nothing is staged then.
    pub(in crate::mongodb) fn commit(
        &mut self,
        target: Target,
        threshold_ms: i64,
        batch: &mut Batch,
        deleted: &mut impl FnMut(Former<'_>),
    ) {
        batch.deleted.clear();
        batch.kept.clear();
        for at in 0..batch.staged.len() {
            let staged = batch.staged[at];
            let id = batch.ids.get(at);
            if staged.is_gone || !self.is_expired(target, staged.slot, threshold_ms) {
                batch.kept.push(id);
                continue;
            }
            batch.deleted.push(id);
            deleted(self.former(staged.slot));
            self.delete(staged.slot);
        }
        batch.clear();
    }

    /// Is a document expired that was so before? Its filter is not asked again, and a cluster key
    /// does not change.
    fn is_expired(&self, target: Target, slot: Slot, threshold_ms: i64) -> bool {
        let Some(at) = target.filter(|_| !self.is_series()) else { return true };
        let date = self.indexes[at].date(self.store.document(slot));
        date.is_some_and(|date_ms| date_ms <= threshold_ms)
    }

    /// Is a document that was staged still there?
    fn has(&self, staged: &Staged, id: Value<'_>) -> bool {
        (staged.slot as usize) < self.store.slots()
            && self.store.record(staged.slot) == staged.record
            && {
                let there = id_of(self.store.document(staged.slot));
                there.kind == id.kind && there.bytes == id.bytes
            }
    }

    /// The document in this slot, with all that goes with it.
    pub(in crate::mongodb) fn former(&self, slot: Slot) -> Former<'_> {
        Former {
            record: self.store.record(slot),
            document: self.store.document(slot),
            is_orphan: self.orphans.has(slot),
        }
    }
}
