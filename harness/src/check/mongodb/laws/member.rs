//! The laws of the members of a set: who deletes, and who follows.

use std::collections::BTreeMap;

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::machine::{Member, State};
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{Op, Place, Version, nan, number};

use super::see::*;

fn is_local(name: &str) -> bool {
    name.starts_with("local.")
}

// ---- who deletes -------------------------------------------------------------------------------

/// A monitor deletes on its own member only, and there only if that is the primary.
pub(super) fn only_the_primary_deletes(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, taken)| {
        let is_primary = seen.state().primary == Some(member);
        let own = taken.iter().all(|(name, _)| is_primary || is_local(name));
        let (before, after) = (&seen.state().members, &next.step.state.members);
        let mut others = (before.iter().zip(after).enumerate()).filter(|(at, _)| *at != member);
        own && others.all(|(_, (before, after))| before.collections == after.collections)
    })
}

/// Would a turn delete something in the member if it were primary?
fn has_something_old(there: &Member, local: bool) -> bool {
    there.collections.iter().any(|(name, collection)| {
        let mut documents = collection.documents.values();
        let now = ttlspec_model::Millis(10_000);
        is_local(name) == local
            && documents.any(|document| is_due(there.version, collection, document, now))
    })
}

fn is_secondary(state: &State, member: usize) -> bool {
    state.is_set() && state.primary != Some(member)
}

pub(super) fn a_secondary_has_something_old(_: &W, seen: &S) -> bool {
    let state = seen.state();
    let old = |(at, there)| is_secondary(state, at) && has_something_old(there, false);
    state.members.iter().enumerate().any(old)
}

/// Through 8.0 a secondary deletes what is its own alone.
pub(super) fn a_secondary_deletes_in_local(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, _)| {
        let there = &next.step.state.members[member];
        !is_secondary(seen.state(), member) || !has_something_old(there, true)
    })
}

pub(super) fn a_secondary_has_something_old_in_local(_: &W, seen: &S) -> bool {
    let state = seen.state();
    let old = |(at, there)| is_secondary(state, at) && has_something_old(there, true);
    state.members.iter().enumerate().any(old)
}

/// From 8.1 on the turn of a secondary changes nothing, but when it lies down.
pub(super) fn a_secondary_does_nothing(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, _)| {
        let before = &seen.state().members[member];
        let after = &next.step.state.members[member];
        let is_same = before.collections == after.collections
            && before.monitor.counted == after.monitor.counted;
        !is_secondary(seen.state(), member) || is_same
    })
}

// ---- who follows -------------------------------------------------------------------------------

type Documents = BTreeMap<(String, String), Document>;

/// The documents that members share, by collection and `_id`.
fn shared(collections: &[(String, Collection)]) -> Documents {
    let mut shared = Documents::new();
    for (name, collection) in collections.iter().filter(|(name, _)| !is_local(name)) {
        for document in collection.documents.values() {
            let id = document.get("_id").map(Bson::to_string).unwrap_or_default();
            shared.insert((name.clone(), id), document.0.clone());
        }
    }
    shared
}

/// The documents that a member had when it had written or taken over so many entries.
fn at_entry(there: &Member, entries: usize) -> Documents {
    match there.log.get(entries) {
        Some(next) => shared(&next.before),
        None => shared(&there.collections),
    }
}

/// How many entries two members have in common.
fn in_common(one: &Member, other: &Member) -> usize {
    let same = one.log.iter().zip(&other.log);
    same.take_while(|(one, other)| one.term == other.term && one.change == other.change).count()
}

/// Where two members have the same entries, they had the same documents.
pub(super) fn members_had_the_same(_: &W, seen: &S) -> bool {
    let members = &seen.state().members;
    members.iter().enumerate().all(|(at, one)| {
        members[..at].iter().all(|other| {
            (0..=in_common(one, other))
                .all(|entries| at_entry(one, entries) == at_entry(other, entries))
        })
    })
}

pub(super) fn a_secondary_lags_behind_a_deletion(_: &W, seen: &S) -> bool {
    let state = seen.state();
    let Some(primary) = state.primary.map(|primary| &state.members[primary]) else { return false };
    state.members.iter().any(|there| {
        let lags = there.log.len() < primary.log.len();
        lags && shared(&there.collections).len() > shared(&primary.collections).len()
    })
}

/// A member that rolls back has what the primary had there, what was deleted included.
pub(super) fn a_rollback_brings_back(walk: &W, seen: &S) -> bool {
    let state = seen.state();
    let Some(primary) = state.primary else { return true };
    (0..state.members.len()).filter(|member| *member != primary).all(|member| {
        let roll_back = Op::Apply(0).at(Place::member(member as u8));
        let after = walk.step(state, ttlspec_model::Millis(10_000), &roll_back).state;
        let common = in_common(&state.members[member], &state.members[primary]);
        // What all have by then is forgotten, so the entries are counted from the end.
        let behind = state.members[primary].log.len() - common;
        let primary = &after.members[primary];
        let then = at_entry(primary, primary.log.len() - behind);
        shared(&after.members[member].collections) == then
    })
}

pub(super) fn a_deletion_is_rolled_back(walk: &W, seen: &S) -> bool {
    let state = seen.state();
    state.primary.is_some()
        && (0..state.members.len()).any(|member| {
            let there = &state.members[member];
            let roll_back = Op::Apply(0).at(Place::member(member as u8));
            let after = walk.step(state, ttlspec_model::Millis(10_000), &roll_back).state;
            let after = &after.members[member];
            shared(&after.collections).len() > shared(&there.collections).len()
        })
}

// ---- who repairs -------------------------------------------------------------------------------

/// The seconds in the catalog of a member.
fn catalog(there: &Member) -> impl Iterator<Item = &Bson> {
    let indexes = there.collections.iter().flat_map(|(_, collection)| &collection.indexes);
    indexes.filter_map(|index| index.spec.get(SECONDS))
}

/// The primary, if it is one by an election.
fn elected(state: &State) -> Option<&Member> {
    state.primary.filter(|_| state.is_set() && state.term > 1).map(|at| &state.members[at])
}

/// Whoever was elected has no seconds that its version repairs.
pub(super) fn the_elected_has_repaired(walk: &W, seen: &S) -> bool {
    let repairs_all = walk.config().version >= Version::new(7, 0, 0);
    elected(seen.state()).is_none_or(|there| {
        catalog(there).all(|seconds| {
            let is_bad = number::is_nan(seconds) || repairs_all && !nan::is_valid(seconds);
            !is_bad
        })
    })
}

pub(super) fn something_needed_repair(walk: &W, seen: &S) -> bool {
    let state = seen.state();
    let is_step_up = |op: &Op| matches!(op, Op::At(_, op) if **op == Op::StepUp);
    walk.moves(seen).any(|next| {
        let nans = |state: &State| {
            let all = state.members.iter().flat_map(catalog);
            all.filter(|seconds| number::is_nan(seconds)).count()
        };
        is_step_up(next.op) && nans(&next.step.state) < nans(state)
    })
}

fn is_fraction(seconds: &Bson) -> bool {
    matches!(seconds, Bson::Double(_) | Bson::Decimal128(_))
}

pub(super) fn the_elected_has_no_fraction(_: &W, seen: &S) -> bool {
    elected(seen.state()).is_none_or(|there| !catalog(there).any(is_fraction))
}

pub(super) fn a_secondary_still_has_a_fraction(_: &W, seen: &S) -> bool {
    let state = seen.state();
    elected(state).is_some() && state.members.iter().any(|there| catalog(there).any(is_fraction))
}
