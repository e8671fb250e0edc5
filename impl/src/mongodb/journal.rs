//! What was there before the changes that a member may have to undo?

use std::collections::VecDeque;
use std::sync::Arc;

use super::bytes::Kept;
use super::collection::{Collection, Former};
use super::member::Member;
use super::options::Own;
use super::ttl_index::{Changeable, TtlIndex};

/// How to undo one change in a collection.
#[derive(Clone, Debug)]
pub(super) enum Undo {
    /// It was made.
    Make,
    /// It was dropped; it stood at this place among those that are replicated.
    Drop(usize, Box<Collection>),
    /// It was given this name, which another one had.
    Rename(Arc<str>, Option<(usize, Box<Collection>)>),
    /// A document with this `_id` came.
    Insert(Kept),
    /// This document was replaced.
    Replace(Box<[u8]>),
    /// This document was deleted.
    Delete {
        /// Its record.
        record: u64,
        /// Its bytes.
        document: Box<[u8]>,
        /// Did it belong to another shard?
        is_orphan: bool,
    },
    /// The last index was made.
    MakeIndex,
    /// This index was dropped, which stood at this place.
    DropIndex(usize, Box<TtlIndex>),
    /// The index at this place was changed, and was so.
    Modify(usize, Changeable),
    /// The index at this place was being built, and is ready.
    Ready(usize),
    /// The document with this `_id` became one of another shard.
    Orphan(Kept),
    /// Whether it had seen dates that a bucket's `_id` cannot hold was so.
    Extended(bool),
    /// Whether what this shard knows of it is out of date was so.
    Stale(bool),
    /// This was said of the collection itself.
    Own(Box<Own>),
}

/// How to undo the last changes, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    changes: VecDeque<(Arc<str>, Undo)>,
    /// How many changes were forgotten.
    before: u64,
}

/// A place between two changes.
pub(super) type Mark = u64;

impl Journal {
    /// The place behind all changes.
    pub(super) fn end(&self) -> Mark {
        self.before + self.changes.len() as u64
    }

    /// Adds a change in the collection with this name.
    pub(super) fn push(&mut self, collection: &Arc<str>, undo: Undo) {
        self.changes.push_back((collection.clone(), undo));
    }

    /// Forgets what was changed before this place.
    pub(super) fn forget(&mut self, until: Mark) {
        let forgotten = until.saturating_sub(self.before).min(self.changes.len() as u64);
        self.changes.drain(..forgotten as usize);
        self.before += forgotten;
    }

    /// Takes the last change out, unless it came before this place.
    pub(super) fn pop(&mut self, from: Mark) -> Option<(Arc<str>, Undo)> {
        if self.end() > from { self.changes.pop_back() } else { None }
    }
}

/// Undoes a change, which was the last one.
pub(super) fn undo(member: &mut Member, name: &str, undo: Undo) {
    const ROOM: &str = "there was room before";
    match undo {
        Undo::Make => drop(member.take(name)),
        Undo::Drop(at, collection) => member.put(at, name, *collection),
        Undo::Rename(to, dropped) => {
            member.give_name(&to, name);
            if let Some((at, collection)) = dropped {
                member.put(at, &to, *collection);
            }
        }
        undo => {
            let there = member.collection_mut(name).expect("it was there before the change");
            match undo {
                Undo::Insert(id) => {
                    let slot = there.find(id.value()).expect("it came, and nothing else did since");
                    there.take_out(slot);
                }
                Undo::Replace(document) => there.put(&document).expect(ROOM),
                Undo::Delete { record, document, is_orphan } => {
                    there.restore(&document, record, is_orphan).expect(ROOM);
                }
                Undo::MakeIndex => drop(there.take_index(there.indexes().len() - 1)),
                Undo::DropIndex(at, index) => there.restore_index(at, &index),
                Undo::Modify(at, before) => there.set_changeable(at, before),
                Undo::Ready(at) => drop(there.set_building(at, true)),
                Undo::Orphan(id) => drop(there.set_orphan(id.value(), false)),
                Undo::Extended(before) => there.set_extended(before),
                Undo::Stale(before) => drop(there.set_stale(before)),
                Undo::Own(before) => there.set_own(*before),
                Undo::Make | Undo::Drop(..) | Undo::Rename(..) => unreachable!("they are above"),
            }
        }
    }
}

impl Former<'_> {
    /// How to undo that it was deleted.
    pub(super) fn undo(&self) -> Undo {
        let Former { record, document, is_orphan } = *self;
        Undo::Delete { record, document: document.into(), is_orphan }
    }
}
