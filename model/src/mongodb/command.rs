//! What one collection does with what is said of it.
//!
//! Here operations are handed to the chapter that decides them, and almost nothing is decided.

use bson::{Bson, Document};

use super::bucket;
use super::change;
use super::clustered;
use super::index::{self, Creation, Index, Kind};
use super::machine::Member;
use super::nan::{self, Arrival};
use super::number::is_number;
use super::pass;
use super::version::Version;
use super::visibility::{self, Collection};
use super::visit;
use super::words::{CollectionOptions, Listed, Op, Reply, Value, Via, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

impl Op {
    /// Is it a question about a collection?
    pub fn is_read(&self) -> bool {
        matches!(self, Op::Find | Op::ListIndexes)
    }
}

/// Does `op`, which is said of one collection, on a member that takes it.
pub fn run(member: &mut Member, now: Millis, op: &Op, name: &str) -> Ruling<Reply> {
    if let Op::RenameCollection(to) = op {
        return rename(member, name, to);
    }
    let at = member.collections.iter().position(|(there, _)| there == name);
    let mut collection = at.map(|at| member.collections[at].1.clone());
    let reply = apply(member.version, &mut collection, now, op);
    match (at, collection) {
        (Some(at), Some(collection)) => member.collections[at].1 = collection,
        (None, Some(collection)) => member.collections.push((name.to_owned(), collection)),
        (Some(at), None) => drop(member.collections.remove(at)),
        (None, None) => {}
    }
    visit::notice(member, name);
    reply
}

/// Gives a collection another name. What has it is dropped.
fn rename(member: &mut Member, name: &str, to: &str) -> Ruling<Reply> {
    let is_local = |name: &str| name.starts_with("local.");
    if is_local(name) != is_local(to) {
        return Ruling::plain(Reply::Error(code::ILLEGAL_OPERATION));
    }
    if member.collection(name).is_none() {
        return Ruling::plain(Reply::Error(code::NAMESPACE_NOT_FOUND));
    }
    if name != to {
        member.collections.retain(|(there, _)| there != to);
        for (there, _) in &mut member.collections {
            if there == name {
                *there = to.to_owned();
            }
        }
        visit::renamed(member, name, to);
    }
    Reply::Ok.by(Rule::MongodbUpgradeRename)
}

fn apply(
    version: Version,
    collection: &mut Option<Collection>,
    now: Millis,
    op: &Op,
) -> Ruling<Reply> {
    match op {
        Op::CreateCollection(CollectionOptions::With(options)) => {
            match clustered::create(version, collection.is_some(), options, now) {
                Ok(made) => made.then(|made| {
                    *collection = Some(made);
                    Ruling::plain(Reply::Ok)
                }),
                Err(refusal) => refusal.map(Reply::Error),
            }
        }
        Op::CreateCollection(options) => create(version, collection, options),
        Op::CreateIndex(spec) => {
            if let Some(refusal) = refused_by_series(version, collection.as_ref(), spec) {
                return refusal;
            }
            let (kind, existing) = catalog(collection.as_ref());
            let creation = index::creation(version, kind, existing, spec, now);
            creation.then(|creation| add(version, collection, creation))
        }
        Op::Arrive { index, via, from } => {
            let is_asked = matches!(via, Via::Created | Via::Restored);
            let there = collection.as_ref().filter(|_| is_asked);
            if let Some(refusal) = refused_by_series(version, there, index) {
                return refusal;
            }
            let (kind, existing) = catalog(collection.as_ref());
            let arrival = nan::arrival(version, kind, existing, index, (*via, *from), now);
            arrival.then(|arrival| match arrival {
                Arrival::Creation(creation) => add(version, collection, creation),
                Arrival::Fatal(assertion) => Ruling::plain(Reply::Fatal(assertion)),
            })
        }
        Op::Insert(document) => {
            let there = collection.get_or_insert_with(|| Collection::new(Kind::Plain));
            writable(there).unwrap_or_else(|| visibility::insert(version, there, document))
        }
        Op::Replace(document) => match collection {
            None => Ruling::plain(Reply::Matched(0)),
            Some(there) => {
                writable(there).unwrap_or_else(|| visibility::replace(version, there, document))
            }
        },
        Op::Remove(id) => match collection {
            None => Ruling::plain(Reply::Matched(0)),
            Some(there) => {
                writable(there).unwrap_or_else(|| visibility::remove(version, there, id))
            }
        },
        Op::DropIndex(name) => match collection {
            None => Reply::Error(code::NAMESPACE_NOT_FOUND).by(Rule::MongodbChangeDropMissing),
            Some(there) => change::drop_index(there, name),
        },
        Op::CollMod(command) => match collection {
            Some(there) if !there.building.is_empty() => change::while_building(version, command),
            there => change::coll_mod(version, there.as_mut(), command, now),
        },
        Op::Pass => match collection {
            None => Ruling::plain(Reply::Passed { deleted: Vec::new(), skipped: Vec::new() }),
            Some(there) => pass::pass(version, there, now),
        },
        Op::Find => match collection {
            None => Ruling::plain(Reply::Found(Vec::new())),
            Some(there) => visibility::find(there),
        },
        Op::ListIndexes => {
            let indexes = collection.as_ref().map_or(&[][..], |there| &there.indexes);
            list(version, indexes)
        }
        Op::DropCollection => match collection.take() {
            None => Ruling::plain(Reply::Error(code::NAMESPACE_NOT_FOUND)),
            Some(_) => Ruling::plain(Reply::Ok),
        },
        Op::StartBuild(spec) => {
            let before = collection.as_ref().map_or(0, |there| there.indexes.len());
            let reply = apply(version, collection, now, &Op::CreateIndex(spec.clone()));
            let made = collection.as_mut().filter(|there| there.indexes.len() > before);
            let Some(there) = made else { return reply };
            let name = there.indexes[before].name().to_owned();
            there.building.insert(name);
            reply.and(Rule::MongodbMonitorNotReady)
        }
        Op::FinishBuild(name) => {
            if collection.as_mut().is_some_and(|there| there.building.remove(name)) {
                Reply::Ok.by(Rule::MongodbMonitorNotReady)
            } else {
                Ruling::plain(Reply::Error(code::INDEX_NOT_FOUND))
            }
        }
        Op::Orphan(id) => {
            let Some(there) = collection else { return Ruling::plain(Reply::Matched(0)) };
            let record = there.record(id);
            there.orphans.extend(record);
            Reply::Matched(u64::from(record.is_some())).by(Rule::MongodbShardOrphans)
        }
        Op::StaleShardVersion => {
            collection.iter_mut().for_each(|there| there.is_stale = true);
            Ruling::plain(Reply::Ok)
        }
        _ => unreachable!("{op:?} is not said of a collection"),
    }
}

/// Why a time-series collection does not take an index that is asked for, if so.
fn refused_by_series(
    version: Version,
    collection: Option<&Collection>,
    spec: &Document,
) -> Option<Ruling<Reply>> {
    bucket::refusal(version, collection?, spec).map(|refusal| refusal.map(Reply::Error))
}

/// What is there before the collection exists: an ordinary one, without indexes.
fn catalog(collection: Option<&Collection>) -> (Kind, &[Index]) {
    collection.map_or((Kind::Plain, &[]), |there| (there.kind, &there.indexes))
}

/// A view holds nothing: a write to it is refused.
fn writable(collection: &Collection) -> Option<Ruling<Reply>> {
    let is_view = collection.kind == Kind::View;
    is_view.then(|| Reply::Error(code::NOT_SUPPORTED_ON_VIEW).by(Rule::MongodbIndexView))
}

fn create(
    version: Version,
    collection: &mut Option<Collection>,
    options: &CollectionOptions,
) -> Ruling<Reply> {
    let kind = match options {
        CollectionOptions::WithSeconds(Value(Bson::Null | Bson::Undefined))
            if version.collmod_is_typed() =>
        {
            Kind::Plain
        }
        CollectionOptions::WithSeconds(seconds) => {
            let code = if version.create_is_strict_without_seconds() {
                code::UNKNOWN_FIELD
            } else if version.collmod_is_typed() && !is_number(seconds) {
                code::TYPE_MISMATCH
            } else {
                code::INVALID_OPTIONS
            };
            return Reply::Error(code).by(Rule::MongodbIndexCollectionSeconds);
        }
        CollectionOptions::Plain => Kind::Plain,
        CollectionOptions::Capped => Kind::Capped,
        CollectionOptions::View => Kind::View,
        CollectionOptions::With(_) => unreachable!("options are read elsewhere"),
    };
    if collection.is_some() {
        return Ruling::plain(Reply::Error(code::NAMESPACE_EXISTS));
    }
    *collection = Some(Collection::new(kind));
    Ruling::plain(Reply::Ok)
}

fn add(version: Version, collection: &mut Option<Collection>, creation: Creation) -> Ruling<Reply> {
    if let Creation::Refused(code) = creation {
        return Ruling::plain(Reply::Error(code));
    }
    let there = collection.get_or_insert_with(|| Collection::new(Kind::Plain));
    if let Creation::Made(index) = creation {
        if let Some(clash) = visibility::build(version, &index, there) {
            return clash.map(Reply::Error);
        }
        there.indexes.push(index);
    }
    Ruling::plain(Reply::Ok)
}

fn list(version: Version, indexes: &[Index]) -> Ruling<Reply> {
    let mut because = Vec::new();
    let mut listed = Vec::new();
    for index in indexes {
        let seconds = index.seconds().map(|stored| {
            let shown = nan::listed(version, stored);
            because.extend(shown.because);
            Value(shown.verdict)
        });
        listed.push(Listed { name: index.name().to_owned(), seconds });
    }
    Ruling::plain(Reply::Indexes(listed)).after(&because)
}
