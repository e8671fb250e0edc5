//! The laws of NaN, and of kinds of collections.

use bson::{Bson, doc};
use ttlspec_model::mongodb::index::{Index, Kind, SECONDS};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::{Doc, MongoDb, Op, Reply, number};
use ttlspec_model::{Millis, Step};

use super::index::{a_ttl_index, two_documents};
use super::see::*;

/// The log lines of a value that a visit does not use: before 7.0 and since.
pub(super) const LOG_VALUES: &[i32] = &[22542, 6909100];

pub(super) fn has_nan(index: &Index) -> bool {
    index.seconds().is_some_and(number::is_nan)
}

pub(super) fn nan_is_reported(walk: &W, seen: &S, codes: &[i32]) -> bool {
    !indexes(seen).iter().any(has_nan)
        || walk.probes(seen).all(|(_, step)| {
            let Reply::Passed { deleted, skipped } = &step.reply.verdict else { return false };
            deleted.is_empty() && skipped.len() == 1 && codes.contains(&skipped[0].code)
        })
}

pub(super) fn nan_beside_something_old(walk: &W, seen: &S) -> bool {
    indexes(seen).iter().any(has_nan)
        && in_some(walk, seen, |now, _, _, document| {
            dates(document, "t").into_iter().any(|date| date <= now.0)
        })
}

pub(super) fn nan_is_zero(walk: &W, seen: &S) -> bool {
    let other = with_indexes(seen.state(), |spec| {
        if spec.get(SECONDS).is_some_and(number::is_nan) {
            spec.insert(SECONDS, 0);
        }
    });
    same_deletions(walk, seen, &other)
}

pub(super) fn nan_deletes(walk: &W, seen: &S) -> bool {
    indexes(seen).iter().any(has_nan)
        && walk.probes(seen).any(|(_, step)| !deleted(step).is_empty())
}

pub(super) fn capped_is_safe(walk: &W, seen: &S) -> bool {
    kind(seen) != Some(Kind::Capped)
        || walk.probes(seen).all(|(_, step)| step.state == *seen.state())
}

pub(super) fn capped_has_something_old(walk: &W, seen: &S) -> bool {
    kind(seen) == Some(Kind::Capped) && a_ttl_index(walk, seen) && two_documents(walk, seen)
}

pub(super) fn capped_deletes(walk: &W, seen: &S) -> bool {
    kind(seen) == Some(Kind::Capped) && walk.probes(seen).any(|(_, step)| !deleted(step).is_empty())
}

pub(super) fn views_are_empty(_: &W, seen: &S) -> bool {
    kind(seen) != Some(Kind::View) || documents(seen.state()).next().is_none()
}

pub(super) fn a_view(_: &W, seen: &S) -> bool {
    kind(seen) == Some(Kind::View)
}

/// What createIndexes with NaN would do.
fn creation_of_nan(walk: &W, seen: &S) -> Step<MongoDb> {
    let spec = doc! { "key": { "t": 1 }, "name": "new", "expireAfterSeconds": f64::NAN };
    walk.step(seen.state(), Millis(10_000), &Op::CreateIndex(Doc(spec)))
}

fn stored(state: &State, is_meant: impl Fn(&Bson) -> bool) -> usize {
    let indexes = collection(state).into_iter().flat_map(|there| &there.indexes);
    indexes.filter_map(Index::seconds).filter(|seconds| is_meant(seconds)).count()
}

pub(super) fn creation_adds_no_nan(walk: &W, seen: &S) -> bool {
    let after = creation_of_nan(walk, seen).state;
    stored(&after, number::is_nan) == stored(seen.state(), number::is_nan)
}

pub(super) fn creation_adds_the_maximum(walk: &W, seen: &S) -> bool {
    let is_maximum = |seconds: &Bson| *seconds == Bson::Int32(i32::MAX);
    let after = creation_of_nan(walk, seen).state;
    stored(&after, is_maximum) > stored(seen.state(), is_maximum)
}

pub(super) fn creation_of_nan_changes_nothing(walk: &W, seen: &S) -> bool {
    let step = creation_of_nan(walk, seen);
    let is_refused = matches!(step.reply.verdict, Reply::Error(_));
    is_refused && indexes(seen).len() == collection(&step.state).map_or(0, |it| it.indexes.len())
}

pub(super) fn no_index_is_there(_: &W, seen: &S) -> bool {
    indexes(seen).is_empty() && kind(seen) == Some(Kind::Plain)
}

pub(super) fn capped_is_as_plain(walk: &W, seen: &S) -> bool {
    let mut other = seen.state().clone();
    if let Some(there) = other.collection_mut() {
        there.kind = Kind::Plain;
    }
    kind(seen) != Some(Kind::Capped) || same_deletions(walk, seen, &other)
}
