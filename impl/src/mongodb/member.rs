//! What does one server hold, and what does it keep of a change?

use std::sync::Arc;

use bson::Bson;
use ttlspec_model::engine::Unsupported;
use ttlspec_model::mongodb::{CollectionOptions, Health, Op, Reply, Value, Version, code};
use ttlspec_model::time::Millis;

use super::buckets::Stored;
use super::bytes::{self, Kept};
use super::change::coll_mod;
use super::collection::{Collection, Former, Refusal, kept_id};
use super::ids::Ids;
use super::journal::Undo;
use super::monitor::Monitor;
use super::oplog::{Change, Log, is_local};
use super::order::is_number;
use super::ttl_index::{Changeable, Kind};
use super::turn::passed;
use super::visit;

/// One server.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// What it runs.
    pub(super) version: Version,
    /// How it fares.
    pub(super) health: Health,
    /// Its collections, in the order in which they were made.
    pub(super) collections: Vec<(Arc<str>, Collection)>,
    /// Its monitor.
    pub(super) monitor: Monitor,
    /// What it knows of the oplog.
    pub(super) log: Log,
    /// Is it locked by fsyncLock?
    pub(super) is_locked: bool,
}

/// What is kept of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Nothing: nobody will ask.
    Nothing,
    /// How to undo it.
    Undo,
    /// That, and an entry of the oplog by the primary of this term.
    Entry(u32),
}

type Answer = Result<Reply, Unsupported>;

impl Member {
    /// A server on which there is nothing.
    pub(super) fn new(version: Version) -> Member {
        Member {
            version,
            health: Health::Up,
            collections: Vec::new(),
            monitor: Monitor::default(),
            log: Log::default(),
            is_locked: false,
        }
    }

    /// The place of the collection with this name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.collections.iter().position(|(there, _)| **there == *name)
    }

    /// The collection with this name.
    pub(super) fn collection(&self, name: &str) -> Option<&Collection> {
        self.position(name).map(|at| &self.collections[at].1)
    }

    /// The collection with this name.
    pub(super) fn collection_mut(&mut self, name: &str) -> Option<&mut Collection> {
        self.position(name).map(|at| &mut self.collections[at].1)
    }

    // ---- whole collections ---------------------------------------------------------------------

    /// How many collections before this place are replicated.
    fn replicated_before(&self, at: usize) -> usize {
        self.collections[..at].iter().filter(|(name, _)| !is_local(name)).count()
    }

    /// Puts a collection behind so many that are replicated.
    pub(super) fn put(&mut self, replicated: usize, name: &str, mut collection: Collection) {
        collection.set_version(self.version);
        let mut places =
            (0..self.collections.len()).filter(|at| !is_local(&self.collections[*at].0));
        let at = places.nth(replicated).unwrap_or(self.collections.len());
        self.collections.insert(at, (name.into(), collection));
    }

    /// Takes a collection out, with its place among those that are replicated.
    pub(super) fn take(&mut self, name: &str) -> Option<(usize, Collection)> {
        let at = self.position(name)?;
        let place = self.replicated_before(at);
        Some((place, self.collections.remove(at).1))
    }

    /// Gives a collection another name.
    pub(super) fn give_name(&mut self, from: &str, to: &str) {
        if let Some(at) = self.position(from) {
            self.collections[at].0 = to.into();
        }
    }

    /// Makes a collection, and answers its place.
    pub(super) fn make(&mut self, name: &str, collection: Collection, keep: Keep) -> usize {
        let change = || Change::Make(Box::new(collection.like()));
        self.log.note(keep, name, [Undo::Make], change);
        self.collections.push((name.into(), collection));
        self.collections.len() - 1
    }

    /// Drops a collection, if it is there.
    pub(super) fn drop_collection(&mut self, name: &str, keep: Keep) {
        if let Some((at, dropped)) = self.take(name) {
            self.log.note(keep, name, [Undo::Drop(at, Box::new(dropped))], || Change::Drop);
        }
    }

    /// Gives a collection another name, and drops what has it. The monitor is told.
    pub(super) fn rename(&mut self, from: &str, to: &str, keep: Keep) {
        let dropped = self.take(to).map(|(at, dropped)| (at, Box::new(dropped)));
        let is_there = self.position(from).is_some();
        if is_there || dropped.is_some() {
            self.give_name(from, to);
            let undo = [Undo::Rename(to.into(), dropped)];
            self.log.note(keep, from, undo, || Change::Rename(to.into()));
        }
        visit::renamed(self, from, to);
    }

    // ---- what is said of one -------------------------------------------------------------------

    /// Does what is said of one collection. `said`: the operation's document or `_id`.
    pub(super) fn run(
        &mut self,
        now: Millis,
        op: &Op,
        said: bytes::Value<'_>,
        name: &str,
        keep: Keep,
    ) -> Answer {
        if let Op::RenameCollection(to) = op {
            return Ok(self.renamed(name, to, keep));
        }
        let reply = match op {
            Op::CreateCollection(options) => Ok(self.create(now, options, said, name, keep)),
            Op::Insert(_) => self.insert(said.bytes, name, keep),
            Op::CreateIndex(_) | Op::Arrive { .. } | Op::StartBuild(_) => {
                Ok(self.create_index(now, op, said.bytes, name, keep))
            }
            op => match self.position(name) {
                Some(at) => self.run_in(now, op, said, at, keep),
                None => Ok(self.run_without(now, op, said.bytes)),
            },
        };
        visit::notice(self, name);
        reply
    }

    /// What is answered where there is no such collection.
    fn run_without(&self, now: Millis, op: &Op, said: &[u8]) -> Reply {
        match op {
            Op::DropIndex(_) | Op::DropCollection => Reply::Error(code::NAMESPACE_NOT_FOUND),
            Op::FinishBuild(_) => Reply::Error(code::INDEX_NOT_FOUND),
            Op::CollMod(_) => {
                coll_mod(self.version, None, said, now.0).unwrap_or_else(|refusal| refusal)
            }
            Op::Pass => Reply::Passed { deleted: Vec::new(), skipped: Vec::new() },
            Op::StaleShardVersion => Reply::Ok,
            _ => Reply::Matched(0),
        }
    }

    fn renamed(&mut self, name: &str, to: &str, keep: Keep) -> Reply {
        if is_local(name) != is_local(to) {
            return Reply::Error(code::ILLEGAL_OPERATION);
        }
        if self.position(name).is_none() {
            return Reply::Error(code::NAMESPACE_NOT_FOUND);
        }
        if name != to {
            self.rename(name, to, keep);
        }
        Reply::Ok
    }

    fn create(
        &mut self,
        now: Millis,
        options: &CollectionOptions,
        said: bytes::Value<'_>,
        name: &str,
        keep: Keep,
    ) -> Reply {
        let exists = self.position(name).is_some();
        match made(self.version, exists, options, said.bytes, now) {
            Ok(collection) => {
                self.make(name, collection, keep);
                Reply::Ok
            }
            Err(code) => Reply::Error(code),
        }
    }

    /// The place of the collection, which is made if it is not there.
    fn made(&mut self, name: &str, keep: Keep) -> usize {
        let at = self.position(name);
        at.unwrap_or_else(|| self.make(name, Collection::new(self.version, Kind::Plain), keep))
    }

    fn insert(&mut self, document: &[u8], name: &str, keep: Keep) -> Answer {
        let at = self.made(name, keep);
        if self.collections[at].1.is_series() {
            return Ok(self.measure(document, at, keep));
        }
        let there = &mut self.collections[at].1;
        answer(there.insert(document), |_| {
            let undo = || Undo::Insert(kept_id(document));
            self.log.note(keep, name, kept(keep, undo), || Change::Put(document.into(), true));
            Reply::Ok
        })
    }

    /// Takes a measurement in.
    fn measure(&mut self, measurement: &[u8], at: usize, keep: Keep) -> Reply {
        let Member { collections, log, .. } = self;
        let (name, there) = &mut collections[at];
        match there.taking(measurement) {
            Ok(Stored { document, is_new }) => {
                store(there, &document, is_new, (log, name, keep));
                Reply::Ok
            }
            Err(code) => Reply::Error(code),
        }
    }

    /// Deletes the measurements with this `_id`.
    fn remove_measurements(&mut self, id: bytes::Value<'_>, at: usize, keep: Keep) -> Reply {
        let Member { collections, log, .. } = self;
        let (name, there) = &mut collections[at];
        let (removed, changed) = match there.without(id) {
            Ok(without) => without,
            Err(code) => return Reply::Error(code),
        };
        let (left, gone): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|(_, document)| document.is_some());
        for (slot, _) in gone {
            let gone = Gone::from(there.former(slot));
            there.take_out(slot);
            gone.note(log, keep, name);
        }
        for document in left.into_iter().filter_map(|(_, document)| document) {
            store(there, &document, false, (log, name, keep));
        }
        Reply::Matched(removed)
    }

    fn create_index(&mut self, now: Millis, op: &Op, spec: &[u8], name: &str, keep: Keep) -> Reply {
        let create = |there: &mut Collection| match op {
            Op::Arrive { via, from, .. } => there.take_over(spec, *via, *from, now),
            _ => there.create_index(spec, now),
        };
        let at = match self.position(name) {
            Some(at) => at,
            None => {
                // An index that is refused makes no collection.
                let mut tried = Collection::new(self.version, Kind::Plain);
                match create(&mut tried) {
                    Reply::Ok => self.make(name, Collection::new(self.version, Kind::Plain), keep),
                    refusal => return refusal,
                }
            }
        };
        let there = &mut self.collections[at].1;
        let before = there.indexes().len();
        let reply = create(there);
        if there.indexes().len() > before {
            there.set_building(before, matches!(op, Op::StartBuild(_)));
            let like = || Box::new(there.indexes()[before].again(self.version, there.kind()));
            self.log.note(keep, name, [Undo::MakeIndex], || Change::MakeIndex(like()));
        }
        reply
    }

    fn run_in(
        &mut self,
        now: Millis,
        op: &Op,
        said: bytes::Value<'_>,
        at: usize,
        keep: Keep,
    ) -> Answer {
        if matches!(op, Op::Remove(_)) && self.collections[at].1.is_series() {
            return Ok(self.remove_measurements(said, at, keep));
        }
        let Member { collections, log, .. } = self;
        let (name, there) = &mut collections[at];
        match op {
            Op::Replace(_) if there.is_series() => Ok(Reply::Error(code::INVALID_OPTIONS)),
            Op::Replace(_) => {
                let old = there.find(kept_id(said.bytes).value());
                let old = old.filter(|_| keep != Keep::Nothing);
                let old = old.map(|slot| Box::<[u8]>::from(there.former(slot).document));
                answer(there.replace(said.bytes), |slot| {
                    if let Some(old) = old.filter(|old| **old != *said.bytes) {
                        let change = || Change::Put(said.bytes.into(), false);
                        log.note(keep, name, [Undo::Replace(old)], change);
                    }
                    Reply::Matched(u64::from(slot.is_some()))
                })
            }
            Op::Remove(_) => {
                let old = there.find(said).filter(|_| keep != Keep::Nothing);
                let old = old.map(|slot| Gone::from(there.former(slot)));
                answer(there.remove(said), |was_there| {
                    if let Some(old) = old {
                        old.note(log, keep, name);
                    }
                    Reply::Matched(u64::from(was_there))
                })
            }
            Op::Pass => {
                let mut gone = Vec::new();
                let reply = passed(there, now, &mut |deleted| {
                    if keep != Keep::Nothing {
                        gone.push(Gone::from(deleted));
                    }
                });
                gone.into_iter().for_each(|gone| gone.note(log, keep, name));
                Ok(reply)
            }
            Op::DropIndex(index) => Ok(match there.droppable(index) {
                Err(code) => Reply::Error(code),
                Ok(places) => {
                    for _ in places.clone() {
                        let dropped = there.take_index(places.start);
                        let name_of = dropped.name().into();
                        let undo = Undo::DropIndex(places.start, Box::new(dropped));
                        log.note(keep, name, [undo], || Change::DropIndex(name_of));
                    }
                    Reply::Ok
                }
            }),
            Op::CollMod(_) => {
                let before = changeable(there, keep);
                let own = Box::new(there.own().clone());
                let reply = there.coll_mod(said.bytes, now);
                if *there.own() != *own {
                    let change = || Change::Own(Box::new(there.own().clone()));
                    log.note(keep, name, [Undo::Own(own)], change);
                }
                let is_done = matches!(reply, Reply::Modified { .. });
                let asked = is_done.then(|| there.asked_seconds(said.bytes)).flatten();
                for (at, before) in before.into_iter().enumerate() {
                    let index = &there.indexes()[at];
                    let now = index.changeable();
                    // Others may have other seconds, so they are told even where nothing is new.
                    let asked = asked.filter(|(of, _)| *of == at).map(|(_, new)| Kept::long(new));
                    let is_new = now != before;
                    if is_new || asked.is_some() {
                        let hidden = now.hidden.filter(|_| now.hidden != before.hidden);
                        let to = Changeable { seconds: asked, hidden };
                        let undo = is_new.then_some(Undo::Modify(at, before));
                        log.note(keep, name, undo, || Change::Modify(index.name().into(), to));
                    }
                }
                Ok(reply)
            }
            Op::FinishBuild(index) => Ok(match there.index(index) {
                Some(at) if there.set_building(at, false) => {
                    log.note(keep, name, [Undo::Ready(at)], || Change::Ready((**index).into()));
                    Reply::Ok
                }
                _ => Reply::Error(code::INDEX_NOT_FOUND),
            }),
            Op::DropCollection => {
                let name = name.clone();
                self.drop_collection(&name, keep);
                Ok(Reply::Ok)
            }
            Op::Orphan(_) => {
                let became = there.set_orphan(said, true);
                if became == Some(true) {
                    log.undoable(keep, name, Undo::Orphan(said.into()));
                }
                Ok(Reply::Matched(u64::from(became.is_some())))
            }
            Op::StaleShardVersion => {
                let before = there.set_stale(true);
                log.undoable(keep, name, Undo::Stale(before));
                Ok(Reply::Ok)
            }
            op => unreachable!("{op:?} is not said of a collection that is there"),
        }
    }
}

/// Stores a bucket, and keeps what is to be kept of that.
fn store(
    there: &mut Collection,
    document: &[u8],
    is_new: bool,
    (log, name, keep): (&mut Log, &str, Keep),
) {
    let id = kept_id(document);
    let old = there.find(id.value()).map(|slot| Box::from(there.former(slot).document));
    let was_extended = there.is_extended();
    there.put(document).expect("there is room for one more bucket");
    let undo = old.map_or(Undo::Insert(id), Undo::Replace);
    let extended = (there.is_extended() != was_extended).then_some(Undo::Extended(was_extended));
    let undo = std::iter::once(undo).chain(extended);
    log.note(keep, name, undo, || Change::Put(document.into(), is_new));
}

/// The undoing, unless nobody will ask.
fn kept(keep: Keep, undo: impl FnOnce() -> Undo) -> Option<Undo> {
    (keep != Keep::Nothing).then(undo)
}

/// What may change of all indexes, unless nobody will ask.
fn changeable(there: &Collection, keep: Keep) -> Vec<Changeable> {
    let indexes = there.indexes().iter().filter(|_| keep != Keep::Nothing);
    indexes.map(|index| index.changeable()).collect()
}

/// A document that is gone.
struct Gone {
    undo: Undo,
    ids: Ids,
}

impl From<Former<'_>> for Gone {
    fn from(former: Former<'_>) -> Gone {
        let ids = std::iter::once(former.id()).collect();
        Gone { undo: former.undo(), ids }
    }
}

impl Gone {
    fn note(self, log: &mut Log, keep: Keep, name: &str) {
        log.note(keep, name, [self.undo], || Change::Delete(self.ids));
    }
}

fn answer<T>(outcome: Result<T, Refusal>, see: impl FnOnce(T) -> Reply) -> Answer {
    match outcome {
        Ok(outcome) => Ok(see(outcome)),
        Err(Refusal::Code(code)) => Ok(Reply::Error(code)),
        Err(refusal) => Err(Unsupported(refusal.to_string())),
    }
}

/// The collection that `create` makes; `said` are its options, where there are any.
fn made(
    version: Version,
    exists: bool,
    options: &CollectionOptions,
    said: &[u8],
    now: Millis,
) -> Result<Collection, i32> {
    let kind = match options {
        CollectionOptions::With(_) => return Collection::with(version, exists, said, now),
        CollectionOptions::Plain => Kind::Plain,
        CollectionOptions::Capped => Kind::Capped,
        CollectionOptions::View => Kind::View,
        CollectionOptions::WithSeconds(Value(Bson::Null | Bson::Undefined))
            if version.collmod_is_typed() =>
        {
            Kind::Plain
        }
        CollectionOptions::WithSeconds(seconds) => {
            return Err(if version.create_is_strict_without_seconds() {
                code::UNKNOWN_FIELD
            } else if version.collmod_is_typed() && !is_number(seconds.element_type() as u8) {
                code::TYPE_MISMATCH
            } else {
                code::INVALID_OPTIONS
            });
        }
    };
    if exists { Err(code::NAMESPACE_EXISTS) } else { Ok(Collection::new(version, kind)) }
}
