//! The laws of dates, thresholds, filters and passes.

use std::collections::BTreeSet;

use ttlspec_model::Millis;
use ttlspec_model::mongodb::index::{Index, Kind};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::{Op, Reply, Value, number};

use super::see::*;

// ---- the threshold -----------------------------------------------------------------------------

pub(super) fn never_early(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |now, step, record, document| {
        let due = first_due(walk, seen.state(), document);
        due.is_some_and(|due| due <= i128::from(now.0)) || !is_gone(step, record)
    })
}

pub(super) fn never_late(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |now, step, record, document| {
        let due = first_due(walk, seen.state(), document);
        due.is_none_or(|due| due > i128::from(now.0)) || is_gone(step, record)
    })
}

pub(super) fn something_is_pending(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, _, _, document| {
        first_due(walk, seen.state(), document).is_some_and(|due| due == i128::from(now.0) + 1)
    })
}

pub(super) fn something_is_due_this_instant(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, _, _, document| {
        first_due(walk, seen.state(), document) == Some(i128::from(now.0))
    })
}

pub(super) fn deleted_in_advance(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, step, record, document| {
        is_gone(step, record) && dates(document, "t").iter().all(|date| *date > now.0)
    })
}

// ---- the pass ----------------------------------------------------------------------------------

pub(super) fn the_second_pass_finds_nothing(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(now, step)| {
        let again = walk.step(&step.state, now, &Op::Pass);
        deleted(&again).is_empty() && again.state == step.state
    })
}

pub(super) fn something_is_deleted(walk: &W, seen: &S) -> bool {
    walk.probes(seen).any(|(_, step)| deleted(step).len() > 1)
}

/// What a pass should delete, in order.
fn expected(walk: &W, state: &State, now: Millis) -> Vec<u64> {
    let mut order = Vec::new();
    for (index, lifetime_ms) in used(walk, state) {
        let mut doomed: Vec<(i128, u64)> = documents(state)
            .filter_map(|(record, document)| {
                Some((due(walk, index, lifetime_ms, document)?, record))
            })
            .filter(|(due, record)| *due <= i128::from(now.0) && !order.contains(record))
            .collect();
        doomed.sort();
        order.extend(doomed.into_iter().map(|(_, record)| record));
    }
    order
}

pub(super) fn by_date_then_age(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(now, step)| {
        let there = collection(seen.state());
        let id = |record: u64| there.map(|there| Value(there.documents[&record]["_id"].clone()));
        let expected = expected(walk, seen.state(), now).into_iter().filter_map(id);
        expected.eq(deleted(step).iter().cloned())
    })
}

pub(super) fn the_younger_goes_first(walk: &W, seen: &S) -> bool {
    let younger_first = |now| !expected(walk, seen.state(), now).is_sorted();
    walk.probes(seen).any(|(now, _)| younger_first(now))
}

pub(super) fn unusable_is_reported(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(_, step)| {
        let Reply::Passed { skipped, .. } = &step.reply.verdict else { return false };
        let skipped: BTreeSet<&str> = skipped.iter().map(|one| one.index.as_str()).collect();
        let capped = collection(seen.state()).is_some_and(|there| there.kind == Kind::Capped);
        let unusable = |index: &&Index| {
            index.path().is_none() || index.seconds().is_some_and(|value| !number::is_number(value))
        };
        let ttl = indexes(seen).iter().filter(|index| index.seconds().is_some());
        skipped.is_empty() && capped
            || ttl.filter(unusable).all(|index| skipped.contains(index.name()))
    })
}

pub(super) fn something_unusable(_: &W, seen: &S) -> bool {
    let unusable = |index: &Index| index.seconds().is_some() && index.path().is_none();
    indexes(seen).iter().any(unusable)
}

// ---- dates and filters -------------------------------------------------------------------------

pub(super) fn no_date_no_deletion(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |_, step, record, document| {
        let ttl = used(walk, seen.state());
        let paths: Vec<String> = ttl.iter().filter_map(|(index, _)| index.path()).collect();
        paths.iter().any(|path| !dates(document, path).is_empty()) || !is_gone(step, record)
    })
}

pub(super) fn a_dateless_document_outlives_another(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |_, step, _, document| {
        dates(document, "t").is_empty() && !deleted(step).is_empty()
    })
}

pub(super) fn no_expired_date_is_left(walk: &W, seen: &S) -> bool {
    walk.probes(seen).all(|(now, step)| {
        used(walk, &step.state).iter().all(|(index, lifetime_ms)| {
            let path = index.path().unwrap_or_default();
            let mut left = documents(&step.state);
            left.all(|(_, document)| {
                let expired =
                    |date: i64| i128::from(date) + i128::from(*lifetime_ms) <= now.0.into();
                !is_member(walk, index, document)
                    || !dates(document, &path).into_iter().any(expired)
            })
        })
    })
}

pub(super) fn a_later_date_goes_along(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, step, record, document| {
        is_gone(step, record) && dates(document, "t").into_iter().any(|date| date >= now.0)
    })
}

pub(super) fn outside_is_safe(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |_, step, record, document| {
        let ttl = used(walk, seen.state());
        ttl.iter().any(|(index, _)| is_member(walk, index, document)) || !is_gone(step, record)
    })
}

pub(super) fn something_due_is_outside(walk: &W, seen: &S) -> bool {
    used(walk, seen.state()).iter().any(|(index, lifetime_ms)| {
        in_some(walk, seen, |now, step, record, document| {
            let expired = |date: i64| date + lifetime_ms <= now.0;
            !is_gone(step, record)
                && !is_member(walk, index, document)
                && dates(document, "t").into_iter().any(expired)
        })
    })
}
