//! The laws of indexes, of the life of a document, and of what is to be seen of it.

use std::collections::BTreeSet;

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::Index;
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::{Op, Reply, Value, date};

use super::see::*;

// ---- indexes -----------------------------------------------------------------------------------

pub(super) fn no_ttl_no_deletion(walk: &W, seen: &S) -> bool {
    indexes(seen).iter().any(|index| index.seconds().is_some())
        || walk.probes(seen).all(|(_, step)| step.state == *seen.state())
}

pub(super) fn something_old_has_no_ttl(walk: &W, seen: &S) -> bool {
    let plain = indexes(seen).iter().any(|index| index.seconds().is_none());
    plain
        && in_some(walk, seen, |now, _, _, document| {
            dates(document, "t").into_iter().any(|date| date + 10_000 <= now.0)
        })
}

pub(super) fn flag_is_inert(walk: &W, seen: &S, flag: &str) -> bool {
    let other = with_indexes(seen.state(), |spec| {
        spec.remove(flag);
    });
    same_deletions(walk, seen, &other)
}

pub(super) fn flagged_index_deletes(walk: &W, seen: &S, flag: &str) -> bool {
    let flagged = |index: &Index| index.spec.get_bool(flag).unwrap_or(false);
    indexes(seen).len() == 1
        && indexes(seen).iter().all(flagged)
        && walk.probes(seen).any(|(_, step)| !deleted(step).is_empty())
}

pub(super) fn direction_is_inert(walk: &W, seen: &S) -> bool {
    let other = with_indexes(seen.state(), |spec| {
        let key = spec.get_document("key").cloned().unwrap_or_default();
        let ascending = key.into_iter().map(|(path, _)| (path, Bson::Int32(1)));
        spec.insert("key", ascending.collect::<Document>());
    });
    same_deletions(walk, seen, &other)
}

pub(super) fn a_descending_index_deletes(walk: &W, seen: &S) -> bool {
    let descending = |index: &Index| index.key().values().all(|value| *value == Bson::Int32(-1));
    indexes(seen).len() == 1
        && indexes(seen).iter().all(descending)
        && walk.probes(seen).any(|(_, step)| !deleted(step).is_empty())
}

pub(super) fn names_are_different(_: &W, seen: &S) -> bool {
    let names: BTreeSet<&str> = indexes(seen).iter().map(Index::name).collect();
    names.len() == indexes(seen).len()
}

pub(super) fn two_indexes(_: &W, seen: &S) -> bool {
    indexes(seen).len() > 1
}

pub(super) fn a_ttl_index(_: &W, seen: &S) -> bool {
    indexes(seen).iter().any(|index| index.seconds().is_some())
}

pub(super) fn stored_seconds_are_valid(_: &W, seen: &S) -> bool {
    let valid = |seconds: &Bson| match seconds {
        Bson::Int32(seconds) => *seconds >= 0,
        Bson::Int64(seconds) => (0..=i64::from(i32::MAX)).contains(seconds),
        Bson::Double(seconds) => *seconds > -1.0 && *seconds < 2_147_483_648.0,
        Bson::Decimal128(_) => true,
        _ => false,
    };
    indexes(seen).iter().filter_map(Index::seconds).all(valid)
}

// ---- the life of a document --------------------------------------------------------------------

pub(super) fn the_union_of_each_alone(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(now, step)| {
        let mut union: BTreeSet<String> = BTreeSet::new();
        for at in 0..indexes(seen).len() {
            let step = walk.step(&alone(seen.state(), at), now, &Op::Pass);
            union.extend(deleted(&step).iter().map(|id| id.to_string()));
        }
        union == deleted(step).iter().map(|id| id.to_string()).collect()
    })
}

pub(super) fn both_indexes_delete_alone(walk: &W, seen: &S) -> bool {
    walk.probes(seen).any(|(now, step)| {
        let less = |at| deleted(&walk.step(&alone(seen.state(), at), now, &Op::Pass)).len();
        let all = deleted(step).len();
        indexes(seen).len() == 2 && (0..2).all(|at| (1..all).contains(&less(at)))
    })
}

/// The state with only one of its indexes.
fn alone(state: &State, at: usize) -> State {
    let mut state = state.clone();
    if let Some(there) = state.collection_mut() {
        there.indexes = vec![there.indexes[at].clone()];
    }
    state
}

pub(super) fn whole_or_as_it_was(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |_, step, record, document| {
        let left = documents(&step.state).find(|(other, _)| *other == record);
        left.is_none_or(|(_, left)| left == document)
    })
}

pub(super) fn something_stays_and_something_goes(walk: &W, seen: &S) -> bool {
    walk.probes(seen)
        .any(|(_, step)| !deleted(step).is_empty() && documents(&step.state).next().is_some())
}

pub(super) fn later_deletes_no_less(walk: &W, seen: &S) -> bool {
    let probes: Vec<_> = walk.probes(seen).collect();
    probes.windows(2).all(|pair| {
        let [(_, earlier), (_, later)] = pair else { return false };
        deleted(earlier).iter().all(|id| deleted(later).contains(id))
    })
}

pub(super) fn later_deletes_more(walk: &W, seen: &S) -> bool {
    let counts: Vec<usize> = walk.probes(seen).map(|(_, step)| deleted(step).len()).collect();
    counts.windows(2).any(|pair| 0 < pair[0] && pair[0] < pair[1])
}

// ---- visibility --------------------------------------------------------------------------------

pub(super) fn reads_find_all(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(now, _)| {
        let ids = documents(seen.state()).map(|(_, document)| Value(document["_id"].clone()));
        let found = walk.step(seen.state(), now, &Op::Find);
        found.reply.verdict == Reply::Found(ids.collect()) && found.state == *seen.state()
    })
}

pub(super) fn reads_find_the_expired(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |_, step, record, _| is_gone(step, record))
}

pub(super) fn ids_are_different(_: &W, seen: &S) -> bool {
    let mut ids = BTreeSet::new();
    documents(seen.state()).all(|(_, document)| ids.insert(document["_id"].to_string()))
}

pub(super) fn two_documents(_: &W, seen: &S) -> bool {
    documents(seen.state()).count() > 1
}

pub(super) fn unique_keys_are_different(_: &W, seen: &S) -> bool {
    indexes(seen).iter().filter(|index| index.is_unique()).all(|index| {
        let path = index.path().unwrap_or_default();
        let mut taken = BTreeSet::new();
        documents(seen.state()).all(|(_, document)| {
            let keys = date::keys(document, &path).unwrap_or_default().into_iter();
            let keys: BTreeSet<String> =
                keys.map(|key| key.value.unwrap_or(Bson::Null).to_string()).collect();
            keys.into_iter().all(|key| taken.insert(key))
        })
    })
}

pub(super) fn unique_beside_two(walk: &W, seen: &S) -> bool {
    indexes(seen).iter().any(Index::is_unique) && two_documents(walk, seen)
}
