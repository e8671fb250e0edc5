//! What is there to be seen in a state, and after each pass that could come next?

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::{Index, Kind};
use ttlspec_model::mongodb::machine::{Member, State};
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::visit::{Pass, Visit};
use ttlspec_model::mongodb::{Cost, MongoDb, Op, Place, Reply, Value, Version, filter, pass};
use ttlspec_model::{Millis, Step};

use crate::check::{Move, Seen, Walk};

pub(super) type W = Walk<MongoDb>;
pub(super) type S = Seen<MongoDb>;
pub(super) type M<'a> = Move<'a, MongoDb>;

pub(super) fn collection(state: &State) -> Option<&Collection> {
    state.collection()
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
    let there = collection(state);
    there.map(|there| used_in(walk.config().version, there)).unwrap_or_default()
}

/// The indexes of a collection that a visit uses, with their lifetimes.
pub(super) fn used_in(version: Version, there: &Collection) -> Vec<(&Index, i64)> {
    let usable = |index: &'_ Index| match pass::usable(version, there.kind, index).verdict {
        pass::Use::Lifetime(lifetime_ms) => Some(lifetime_ms),
        _ => None,
    };
    let ready = there.indexes.iter().filter(|index| !there.building.contains(index.name()));
    ready.filter_map(|index| Some((index, usable(index)?))).collect()
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
    holds(walk.config().version, index, document)
}

/// Does an index hold a document, as far as its filter goes?
pub(super) fn holds(version: Version, index: &Index, document: &Document) -> bool {
    let member = |filter| filter::member(version, &filter, document).verdict;
    index.filter().is_none_or(member)
}

/// When a date of a document, and a lifetime, have passed, whatever the filter says.
pub(super) fn passed(index: &Index, lifetime_ms: i64, document: &Document) -> Option<i128> {
    let earliest = dates(document, &index.path()?).into_iter().min();
    earliest.map(|date| i128::from(date) + i128::from(lifetime_ms))
}

/// When an index may delete a document at the earliest.
pub(super) fn due(walk: &W, index: &Index, lifetime_ms: i64, document: &Document) -> Option<i128> {
    passed(index, lifetime_ms, document).filter(|_| is_member(walk, index, document))
}

/// Is a document of a collection due at an instant, by some index of it?
pub(super) fn is_due(
    version: Version,
    there: &Collection,
    document: &Document,
    now: Millis,
) -> bool {
    used_in(version, there).into_iter().any(|(index, lifetime_ms)| {
        let due = passed(index, lifetime_ms, document).filter(|_| holds(version, index, document));
        due.is_some_and(|due| due <= i128::from(now.0))
    })
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
    for index in state.collection_mut().into_iter().flat_map(|there| &mut there.indexes) {
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

// ---- turns of a monitor ------------------------------------------------------------------------

/// Whose monitor does something by this operation: a step, a turn, or an undisturbed pass?
pub(super) fn at_work(state: &State, op: &Op) -> Option<usize> {
    let (member, op) = match op {
        Op::At(place, op) => (place.member, &**op),
        op => (None, op),
    };
    let member = member.map_or(state.primary.unwrap_or(0), usize::from);
    (matches!(op, Op::Tick | Op::Wake(_) | Op::Pass) && member < state.members.len())
        .then_some(member)
}

/// The pass that a monitor is doing.
pub(super) fn passing(there: &Member) -> Option<&Pass> {
    match &there.monitor.activity {
        Activity::Passing(pass) => Some(pass),
        _ => None,
    }
}

/// The visit that it is at.
pub(super) fn visiting(there: &Member) -> Option<&Visit> {
    passing(there)?.visit.as_ref()
}

/// What is in one member and was taken out of it, with the collections.
pub(super) fn taken<'a>(before: &'a Member, after: &Member) -> Vec<(&'a str, &'a Document)> {
    let mut taken = Vec::new();
    for (name, collection) in &before.collections {
        for document in collection.documents.values() {
            let is_left = after.collection(name).is_some_and(|there| has(there, document));
            if !is_left {
                taken.push((name.as_str(), &document.0));
            }
        }
    }
    taken
}

/// Does a collection have a document with the `_id` of this one?
pub(super) fn has(there: &Collection, document: &Document) -> bool {
    there.documents.values().any(|other| other.get("_id") == document.get("_id"))
}

/// Each step of a monitor that could come next, with the member and what it takes out there.
pub(super) fn turns<'a>(
    walk: &'a W,
    seen: &'a S,
) -> impl Iterator<Item = (M<'a>, usize, Vec<(&'a str, &'a Document)>)> {
    walk.moves(seen).filter_map(|next| {
        let member = at_work(seen.state(), next.op)?;
        let taken = taken(&seen.state().members[member], &next.step.state.members[member]);
        Some((next, member, taken))
    })
}

/// The state after so many undisturbed turns of a member's monitor.
pub(super) fn woken(walk: &W, state: &State, member: usize, now: Millis, times: usize) -> State {
    let wake = Op::Wake(Cost::default()).at(Place::member(member as u8));
    (0..times).fold(state.clone(), |state, _| walk.step(&state, now, &wake).state)
}
