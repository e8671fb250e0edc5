//! The complete state of one collection on one server, and one step of it.
//!
//! Here operations are handed to the chapter that decides them, and nothing is decided.

use bson::Bson;

use super::change;
use super::index::{self, Creation, Index, Kind};
use super::nan::{self, Arrival};
use super::number::is_number;
use super::pass;
use super::version::Version;
use super::visibility::{self, Collection};
use super::words::{CollectionOptions, Config, Listed, MongoDb, Op, Reply, Value, code};
use crate::engine::{Spec, Step};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// All that the past can still influence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct State {
    /// The collection, once it exists.
    pub collection: Option<Collection>,
}

impl Spec for MongoDb {
    type State = State;

    fn init(_: &Config) -> State {
        State::default()
    }

    fn step(config: &Config, state: &State, now: Millis, op: &Op) -> Step<MongoDb> {
        let mut state = state.clone();
        let reply = apply(config.version, &mut state.collection, now, op);
        Step { state, reply }
    }
}

fn apply(
    version: Version,
    collection: &mut Option<Collection>,
    now: Millis,
    op: &Op,
) -> Ruling<Reply> {
    match op {
        Op::CreateCollection(options) => create(version, collection, options),
        Op::CreateIndex(spec) => {
            let (kind, existing) = catalog(collection.as_ref());
            let creation = index::creation(version, kind, existing, spec, now);
            creation.then(|creation| add(version, collection, creation))
        }
        Op::Arrive { index, via, from } => {
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
            Some(there) => writable(there).unwrap_or_else(|| visibility::remove(there, id)),
        },
        Op::DropIndex(name) => match collection {
            None => Reply::Error(code::NAMESPACE_NOT_FOUND).by(Rule::MongodbChangeDropMissing),
            Some(there) => change::drop_index(there, name),
        },
        Op::CollMod(command) => change::coll_mod(version, collection.as_mut(), command, now),
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
    }
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
