//! What do the members of a replica set tell each other, and what does each know of it?

use std::collections::VecDeque;
use std::sync::Arc;

use ttlspec_model::mongodb::{EntryKind, Health, Reply, code};

use super::bytes::Value;
use super::collection::{Collection, is_nan, kept_id};
use super::ids::Ids;
use super::journal::{Journal, Mark, Undo, undo};
use super::member::{Keep, Member};
use super::options::Own;
use super::ttl_index::{Changeable, TtlIndex};
use super::visit;

/// An entry of the oplog. Members that have it share it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The term of the primary that wrote it.
    pub(super) term: u32,
    /// The collection.
    pub(super) collection: Arc<str>,
    /// What it changes there.
    pub(super) change: Change,
}

/// What an entry changes in a collection.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// It is made, and is like this one, which is empty.
    Make(Box<Collection>),
    /// It is dropped.
    Drop,
    /// It is given this name.
    Rename(Arc<str>),
    /// A document comes (`true`), or stands in the place of the one with its `_id`.
    Put(Box<[u8]>, bool),
    /// Documents go.
    Delete(Ids),
    /// An index comes, and is like this one, which is over no documents.
    MakeIndex(Box<TtlIndex>),
    /// The index with this name is ready.
    Ready(Box<str>),
    /// The index with this name goes.
    DropIndex(Box<str>),
    /// Something of the index with this name is otherwise.
    Modify(Box<str>, Changeable),
    /// Something else is said of the collection itself.
    Own(Box<Own>),
}

impl Entry {
    /// What it is.
    pub(super) fn kind(&self) -> EntryKind {
        match &self.change {
            Change::Put(_, true) => EntryKind::Insert,
            Change::Put(_, false) => EntryKind::Update,
            Change::Delete(ids) if ids.len() > 1 => EntryKind::ApplyOps,
            Change::Delete(_) => EntryKind::Delete,
            _ => EntryKind::Command,
        }
    }

    /// Tells the `_id`s of the documents that it concerns.
    pub(super) fn each_id(&self, each: &mut impl FnMut(Value<'_>)) {
        match &self.change {
            Change::Put(document, _) => each(kept_id(document).value()),
            Change::Delete(ids) => ids.iter().for_each(each),
            _ => {}
        }
    }
}

/// What a member knows of the oplog, from the first entry on that some member does not have, and
/// how it would undo what it has done since.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// The entries, each with the place in the journal where it begins.
    entries: VecDeque<(Arc<Entry>, Mark)>,
    journal: Journal,
    /// What it was told when it joined.
    inherited: Option<Box<Inherited>>,
}

/// What a member was told when it joined, by which it can go back behind that instant.
#[derive(Clone, Debug)]
struct Inherited {
    /// How many of its first entries it was told.
    entries: usize,
    /// The collections of its source that are replicated.
    collections: Vec<(Arc<str>, Collection)>,
    /// What the source knew.
    log: Log,
}

impl Log {
    /// Is there nothing that some member does not have?
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// Have two members the same entry at this place?
    fn agrees(&self, other: &Log, at: usize) -> bool {
        let entries = self.entries.get(at).zip(other.entries.get(at));
        entries.is_some_and(|((a, _), (b, _))| Arc::ptr_eq(a, b))
    }

    /// How many entries two members have in common. Where one is the same, all before it are.
    pub(super) fn common(&self, other: &Log) -> usize {
        let (mut common, mut end) = (0, self.entries.len().min(other.entries.len()));
        while common < end {
            let middle = common + (end - common) / 2;
            if self.agrees(other, middle) {
                common = middle + 1;
            } else {
                end = middle;
            }
        }
        common
    }

    /// How many entries all these members have in common with this one.
    pub(super) fn common_to_all<'a>(&self, others: impl Iterator<Item = &'a Log> + Clone) -> usize {
        let agree = |at: &usize| others.clone().all(|other| self.agrees(other, *at));
        (0..self.entries.len()).take_while(agree).count()
    }

    /// Keeps a change in a collection: how to undo it, which may take more than one step, and the
    /// entry that tells of it.
    pub(super) fn note(
        &mut self,
        keep: Keep,
        name: &str,
        undo: impl IntoIterator<Item = Undo>,
        change: impl FnOnce() -> Change,
    ) {
        if keep == Keep::Nothing {
            return;
        }
        let collection: Arc<str> = name.into();
        let mark = self.journal.end();
        undo.into_iter().for_each(|undo| self.journal.push(&collection, undo));
        if let Keep::Entry(term) = keep {
            let entry = Entry { term, collection, change: change() };
            self.entries.push_back((Arc::new(entry), mark));
        }
    }

    /// Keeps how to undo a change that no other member is told of.
    pub(super) fn undoable(&mut self, keep: Keep, name: &str, undo: Undo) {
        if keep != Keep::Nothing {
            self.journal.push(&name.into(), undo);
        }
    }

    /// Forgets the first entries, which all members have.
    pub(super) fn forget(&mut self, entries: usize) {
        if entries == 0 {
            return;
        }
        self.entries.drain(..entries);
        if let Some(inherited) = &mut self.inherited {
            inherited.entries = inherited.entries.saturating_sub(entries);
            inherited.log.forget(entries.min(inherited.log.entries.len()));
        }
        self.inherited.take_if(|inherited| inherited.entries == 0);
        let first = match (&self.inherited, self.entries.front()) {
            (Some(_), _) => return,
            (None, Some((_, mark))) => *mark,
            (None, None) => self.journal.end(),
        };
        self.journal.forget(first);
    }

    /// What somebody is told who joins.
    pub(super) fn told(&self, collections: &[(Arc<str>, Collection)]) -> Log {
        if self.is_empty() {
            return Log::default();
        }
        let replicated = collections.iter().filter(|(name, _)| !is_local(name));
        let inherited = Inherited {
            entries: self.entries.len(),
            collections: replicated.cloned().collect(),
            log: self.clone(),
        };
        let inherited = Some(Box::new(inherited));
        Log { entries: self.entries.clone(), journal: Journal::default(), inherited }
    }
}

// ---- following it ------------------------------------------------------------------------------

/// A member follows the entries of the primary from one that both have: it rolls back what came
/// after that, and takes over up to `most` of what the primary has. `refuses_nan`: it ends where it
/// is to make an index with NaN.
pub(super) fn apply(
    member: &mut Member,
    entries: &[Arc<Entry>],
    shared: usize,
    refuses_nan: bool,
) -> Reply {
    let rolled_back = member.log.entries.len() - shared;
    if rolled_back > 0 {
        roll_back(member, shared);
    }
    for entry in entries {
        if let Change::MakeIndex(index) = &entry.change
            && refuses_nan
            && is_nan(index.seconds())
        {
            member.health = Health::Down(code::FATAL_AT_APPLY);
            return Reply::Fatal(code::FATAL_AT_APPLY);
        }
        take_over(member, entry);
    }
    Reply::Applied { entries: entries.len() as u32, rolled_back: rolled_back as u32 }
}

/// Goes back to where the first `to` entries led. What is local stays as it is.
fn roll_back(member: &mut Member, to: usize) {
    while let Some(inherited) = member.log.inherited.take_if(|inherited| to < inherited.entries) {
        let Inherited { collections, log, .. } = *inherited;
        let local = std::mem::take(&mut member.collections).into_iter();
        member.collections = collections;
        for (_, collection) in &mut member.collections {
            collection.set_version(member.version);
        }
        member.collections.extend(local.filter(|(name, _)| is_local(name)));
        member.log = log;
    }
    let mark = member.log.entries[to].1;
    while let Some((name, change)) = member.log.journal.pop(mark) {
        undo(member, &name, change);
    }
    member.log.entries.truncate(to);
    let (local, others) = std::mem::take(&mut member.collections)
        .into_iter()
        .partition::<Vec<_>, _>(|(name, _)| is_local(name));
    member.collections = others;
    member.collections.extend(local);
}

/// Is a collection of this name no affair of the other members?
pub(super) fn is_local(name: &str) -> bool {
    name.starts_with("local.")
}

/// Does what an entry says, as far as it is not done.
fn take_over(member: &mut Member, entry: &Arc<Entry>) {
    let mark = member.log.journal.end();
    let name = &entry.collection;
    match &entry.change {
        Change::Make(like) => {
            if member.position(name).is_none() {
                let mut made = Collection::clone(like);
                made.set_version(member.version);
                member.make(name, made, Keep::Undo);
            }
        }
        Change::Drop => member.drop_collection(name, Keep::Undo),
        Change::Rename(to) => member.rename(name, to, Keep::Undo),
        change => {
            if let Some(at) = member.position(name) {
                take_over_in(member, at, change);
            }
        }
    }
    visit::notice(member, name);
    member.log.entries.push_back((entry.clone(), mark));
}

fn take_over_in(member: &mut Member, at: usize, change: &Change) {
    let Member { collections, log, .. } = member;
    let (name, there) = &mut collections[at];
    let mut undoable = |undo: Undo| log.journal.push(name, undo);
    match change {
        Change::Put(document, _) => {
            let id = kept_id(document);
            undoable(match there.find(id.value()) {
                Some(slot) => Undo::Replace(there.former(slot).document.into()),
                None => Undo::Insert(id),
            });
            let was_extended = there.is_extended();
            there.put(document).expect("a member has room for what another one has");
            if there.is_extended() != was_extended {
                undoable(Undo::Extended(was_extended));
            }
        }
        Change::Delete(ids) => {
            for id in ids.iter() {
                let Some(slot) = there.find(id) else { continue };
                undoable(there.former(slot).undo());
                there.take_out(slot);
            }
        }
        Change::MakeIndex(index) => {
            if there.index(index.name()).is_none() {
                there.make_index(index);
                undoable(Undo::MakeIndex);
            }
        }
        Change::Ready(index) => {
            if let Some(at) = there.index(index)
                && there.set_building(at, false)
            {
                undoable(Undo::Ready(at));
            }
        }
        Change::DropIndex(index) => {
            if let Some(at) = there.index(index) {
                undoable(Undo::DropIndex(at, Box::new(there.take_index(at))));
            }
        }
        // Only what was asked for: a collMod of something else leaves a member its own seconds.
        Change::Modify(index, to) => {
            if let Some(at) = there.index(index)
                && let Some(before) = there.modify(at, to)
            {
                undoable(Undo::Modify(at, before));
            }
        }
        Change::Own(own) => {
            undoable(Undo::Own(Box::new(there.own().clone())));
            there.set_own(Own::clone(own));
        }
        Change::Make(_) | Change::Drop | Change::Rename(_) => {
            unreachable!("they are not done in a collection")
        }
    }
}
