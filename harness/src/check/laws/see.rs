//! What is there to be seen in a state, and after each pass that could come next?

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::{Index, Kind};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{MongoDb, Op, Reply, Value, filter, pass};
use ttlspec_model::{Millis, Step};

use crate::check::{Seen, Walk};

pub(super) type W = Walk<MongoDb>;
pub(super) type S = Seen<MongoDb>;

pub(super) fn collection(state: &State) -> Option<&Collection> {
    state.collection.as_ref()
}

pub(super) fn documents(state: &State) -> impl Iterator<Item = (u64, &Document)> {
    let documents = collection(state).into_iter().flat_map(|there| &there.documents);
    documents.map(|(record, document)| (*record, &document.0))
}

pub(super) fn indexes(seen: &S) -> &[Index] {
    collection(seen.state()).map_or(&[], |there| &there.indexes)
}

/// The indexes that a pass uses, with their lifetimes.
pub(super) fn used<'a>(walk: &W, state: &'a State) -> Vec<(&'a Index, i64)> {
    let Some(there) = collection(state) else { return Vec::new() };
    let usable = |index| match pass::usable(walk.config().version, there.kind, index).verdict {
        pass::Use::Lifetime(lifetime_ms) => Some((index, lifetime_ms)),
        _ => None,
    };
    there.indexes.iter().filter_map(usable).collect()
}

/// The dates at a path of one part, read off the document.
pub(super) fn dates(document: &Document, path: &str) -> Vec<i64> {
    let date = |value: &Bson| value.as_datetime().map(|date| date.timestamp_millis());
    match document.get(path) {
        Some(Bson::Array(array)) => array.iter().filter_map(date).collect(),
        Some(value) => date(value).into_iter().collect(),
        None => Vec::new(),
    }
}

pub(super) fn is_member(walk: &W, index: &Index, document: &Document) -> bool {
    let member = |filter| filter::member(walk.config().version, &filter, document).verdict;
    index.filter().is_none_or(member)
}

/// When an index may delete a document at the earliest.
pub(super) fn due(walk: &W, index: &Index, lifetime_ms: i64, document: &Document) -> Option<i128> {
    let path = index.path()?;
    let earliest = dates(document, &path).into_iter().min();
    let earliest = earliest.filter(|_| is_member(walk, index, document));
    earliest.map(|date| i128::from(date) + i128::from(lifetime_ms))
}

/// When any index may.
pub(super) fn first_due(walk: &W, state: &State, document: &Document) -> Option<i128> {
    let used = used(walk, state).into_iter();
    used.filter_map(|(index, lifetime_ms)| due(walk, index, lifetime_ms, document)).min()
}

pub(super) fn deleted(step: &Step<MongoDb>) -> &[Value] {
    match &step.reply.verdict {
        Reply::Passed { deleted, .. } => deleted,
        _ => &[],
    }
}

pub(super) fn is_gone(step: &Step<MongoDb>, record: u64) -> bool {
    collection(&step.state).is_none_or(|there| !there.documents.contains_key(&record))
}

/// Does it hold for each pass that could come next, and each document before it?
pub(super) fn in_each(
    walk: &W,
    seen: &S,
    holds: impl Fn(Millis, &Step<MongoDb>, u64, &Document) -> bool,
) -> bool {
    walk.probes(seen).all(|(now, step)| {
        documents(seen.state()).all(|(record, document)| holds(now, step, record, document))
    })
}

pub(super) fn in_some(
    walk: &W,
    seen: &S,
    holds: impl Fn(Millis, &Step<MongoDb>, u64, &Document) -> bool,
) -> bool {
    !in_each(walk, seen, |now, step, record, document| !holds(now, step, record, document))
}

/// The state with each index changed by `change`.
pub(super) fn with_indexes(state: &State, change: impl Fn(&mut Document)) -> State {
    let mut state = state.clone();
    for index in state.collection.iter_mut().flat_map(|there| &mut there.indexes) {
        change(&mut index.spec.0);
    }
    state
}

/// Does each pass delete the same from `other`?
pub(super) fn same_deletions(walk: &W, seen: &S, other: &State) -> bool {
    walk.probes(seen).all(|(now, step)| {
        let other = walk.step(other, now, &Op::Pass);
        deleted(&other).iter().collect::<Vec<_>>() == deleted(step).iter().collect::<Vec<_>>()
    })
}

pub(super) fn kind(seen: &S) -> Option<Kind> {
    collection(seen.state()).map(|there| there.kind)
}
