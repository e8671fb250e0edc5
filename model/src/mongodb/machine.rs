//! The complete state of one collection on one server, and one step of it.
//!
//! Here operations are handed to the chapter that decides them, and nothing is decided.

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
            let there = collection.get_or_insert_with(|| Collection::new(Kind::Plain));
            let (kind, existing) = (there.kind, &there.indexes);
            let creation = index::creation(version, kind, existing, spec, now);
            creation.then(|creation| add(version, there, creation))
        }
        Op::Arrive { index, via, from } => {
            let there = collection.get_or_insert_with(|| Collection::new(Kind::Plain));
            let (kind, existing) = (there.kind, &there.indexes);
            let arrival = nan::arrival(version, kind, existing, index, (*via, *from), now);
            arrival.then(|arrival| match arrival {
                Arrival::Creation(creation) => add(version, there, creation),
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
            None => missing(),
            Some(there) => change::drop_index(there, name),
        },
        Op::CollMod(command) => match collection {
            None => missing(),
            Some(there) => change::coll_mod(version, there, command, now),
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
    }
}

fn missing() -> Ruling<Reply> {
    Reply::Error(code::NAMESPACE_NOT_FOUND).by(Rule::MongodbChangeRequest)
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

fn add(version: Version, collection: &mut Collection, creation: Creation) -> Ruling<Reply> {
    match creation {
        Creation::Refused(code) => Ruling::plain(Reply::Error(code)),
        Creation::There => Ruling::plain(Reply::Ok),
        Creation::Made(index) => match visibility::build(version, &index, collection) {
            Some(clash) => clash.map(Reply::Error),
            None => {
                collection.indexes.push(index);
                Ruling::plain(Reply::Ok)
            }
        },
    }
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
