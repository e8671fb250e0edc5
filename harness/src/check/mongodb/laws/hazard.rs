//! What the specification allows, and nobody wants.

use bson::{Bson, Document};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::machine::{Member, State};
use ttlspec_model::mongodb::{Place, Value};

use super::see::*;

/// What a step of a monitor takes out of the member that it is of.
fn of_turn<'a>(seen: &'a S, next: &M) -> Option<(&'a Member, Vec<(&'a str, &'a Document)>)> {
    let member = at_work(seen.state(), next.op)?;
    let there = &seen.state().members[member];
    Some((there, taken(there, &next.step.state.members[member])))
}

// ---- a visit that goes on ----------------------------------------------------------------------

/// A document is deleted that its index does not hold any more.
pub(super) fn outside_is_deleted(_: &W, seen: &S, next: &M) -> bool {
    let Some((there, taken)) = of_turn(seen, next) else { return false };
    let Some(visit) = visiting(there) else { return false };
    taken.into_iter().any(|(name, document)| {
        let collection = there.collection(name);
        let mut indexes = collection.into_iter().flat_map(|there| &there.indexes);
        let index = indexes.find(|index| index.name() == visit.of.index);
        index.is_some_and(|index| !holds(there.version, index, document))
    })
}

/// A document is deleted whose date, and the lifetime as it is by now, have not passed.
pub(super) fn condemned_by_what_was(_: &W, seen: &S, next: &M) -> bool {
    let Some((there, taken)) = of_turn(seen, next) else { return false };
    taken.into_iter().any(|(name, document)| {
        let Some(collection) = there.collection(name) else { return false };
        used_in(there.version, collection).into_iter().all(|(index, lifetime_ms)| {
            passed(index, lifetime_ms, document).is_none_or(|at| at > i128::from(next.now.0))
        })
    })
}

/// A visit ends that has deleted something, and nothing is counted.
pub(super) fn deleted_and_not_counted(_: &W, seen: &S, next: &M) -> bool {
    let Some(member) = at_work(seen.state(), next.op) else { return false };
    let (before, after) = (&seen.state().members[member], &next.step.state.members[member]);
    visiting(before).is_some_and(|visit| visit.deleted > 0)
        && visiting(after).is_none()
        && before.monitor.counted.deleted == after.monitor.counted.deleted
}

/// How many documents keep an index busy at most, in the world of rounds.
const BUSY: u32 = 2;

/// One visit has deleted more than was there at any time, so it was fed; another index has waited
/// since the pass began, with an expired document.
pub(super) fn one_is_fed_and_another_waits(_: &W, seen: &S, next: &M) -> bool {
    let Some((there, taken)) = of_turn(seen, next) else { return false };
    let Some(visit) = visiting(there) else { return false };
    let waits = there.collection(Place::COLLECTION).is_some_and(|collection| {
        collection.documents.values().any(|document| !dates(document, "u").is_empty())
    });
    !taken.is_empty() && waits && visit.of.index == "ttl" && visit.deleted == BUSY
}

// ---- what was kept, and is not any more --------------------------------------------------------

/// Was a document kept, at this instant, by the server with which it all began?
fn was_kept(walk: &W, name: &str, document: &Document, now: Millis) -> bool {
    let first = &walk.begun().members[0];
    let collection = first.collection(name);
    collection.is_none_or(|collection| !is_due(first.version, collection, document, now))
}

/// The member whose turn deletes what was kept, if so, and its place.
fn deletes_what_was_kept<'a>(walk: &W, seen: &'a S, next: &M) -> Option<(usize, &'a Member)> {
    let (there, taken) = of_turn(seen, next)?;
    let mut kept = taken.into_iter().filter(|(name, doc)| was_kept(walk, name, doc, next.now));
    kept.next()?;
    Some((at_work(seen.state(), next.op)?, there))
}

/// A server deletes, after other binaries, what it kept before.
pub(super) fn an_upgrade_deletes(walk: &W, seen: &S, next: &M) -> bool {
    let deletes = deletes_what_was_kept(walk, seen, next);
    deletes.is_some_and(|_| !seen.state().is_set())
}

/// A member that joined with newer binaries deletes, once it is primary.
pub(super) fn a_newer_member_deletes(walk: &W, seen: &S, next: &M) -> bool {
    let deletes = deletes_what_was_kept(walk, seen, next);
    deletes.is_some_and(|(at, there)| at > 0 && there.version > walk.config().version)
}

/// A member of the old binaries deletes, having joined from a newer source.
pub(super) fn an_older_member_deletes(walk: &W, seen: &S, next: &M) -> bool {
    let deletes = deletes_what_was_kept(walk, seen, next);
    deletes.is_some_and(|(_, there)| there.version == walk.config().version)
}

// ---- members that differ -----------------------------------------------------------------------

/// The seconds of the same indexes in two members differ, though none has anything to take over.
fn is_split(state: &State) -> bool {
    let seconds = |there: &Member| -> Vec<(String, Value)> {
        let indexes = there.collections.iter().flat_map(|(_, collection)| &collection.indexes);
        let named = indexes.filter(|index| !index.seconds().is_some_and(is_nan));
        let seconds = named.map(|index| {
            let seconds = index.spec.get(SECONDS).cloned().unwrap_or(Bson::Null);
            (index.name().to_owned(), Value(seconds))
        });
        seconds.collect()
    };
    let differ = |one: &Member, other: &Member| {
        let other = seconds(other);
        seconds(one)
            .iter()
            .any(|(name, value)| other.iter().any(|(same, other)| name == same && value != other))
    };
    let all_have_all = state.members.iter().all(|there| there.log.is_empty());
    let first = &state.members[0];
    all_have_all && state.members[1..].iter().any(|there| differ(first, there))
}

fn is_nan(seconds: &Bson) -> bool {
    ttlspec_model::mongodb::number::is_nan(seconds)
}

/// From here on two members have different numbers for one index.
pub(super) fn numbers_differ(_: &W, seen: &S, next: &M) -> bool {
    !is_split(seen.state()) && is_split(&next.step.state)
}

/// A turn deletes what another member, with the same binaries, would keep at the same instant.
fn deletes_what_another_keeps(seen: &S, next: &M, is_meant: impl Fn(&Document) -> bool) -> bool {
    let Some((there, taken)) = of_turn(seen, next) else { return false };
    let members = &seen.state().members;
    let others = || {
        members
            .iter()
            .filter(|other| other.version == there.version && !std::ptr::eq(*other, there))
    };
    taken.into_iter().filter(|(_, document)| is_meant(document)).any(|(name, document)| {
        others().any(|other| {
            other
                .collection(name)
                .is_some_and(|collection| !is_due(other.version, collection, document, next.now))
        })
    })
}

/// What the members disagree about is any index.
pub(super) fn another_would_keep(_: &W, seen: &S, next: &M) -> bool {
    deletes_what_another_keeps(seen, next, |_| true)
}

/// What they disagree about is the index with the fraction.
pub(super) fn another_would_keep_by_a_fraction(_: &W, seen: &S, next: &M) -> bool {
    deletes_what_another_keeps(seen, next, |document| document.contains_key("t"))
}
