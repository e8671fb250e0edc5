//! The laws of a monitor at work: what its turns delete, and what they count.

use bson::Document;
use ttlspec_model::Millis;
use ttlspec_model::mongodb::machine::{Member, State};
use ttlspec_model::mongodb::monitor::{is_of_resharding, is_of_users};
use ttlspec_model::mongodb::{Counters, Doc, Ended, Op, Place, Reply, Ticked, Value};

use super::see::*;

/// Later than all that is done in a world.
const LATER: Millis = Millis(1_000_000);

// ---- in time -----------------------------------------------------------------------------------

/// Has what a turn takes out of a collection really expired: by the visit that goes on, or by the
/// clock of the one that deletes?
fn is_in_time(there: &Member, now: Millis, (name, document): (&str, &Document)) -> bool {
    let Some(collection) = there.collection(name) else { return false };
    let by_visit = visiting(there).is_some_and(|visit| {
        let index = collection.indexes.iter().find(|index| index.name() == visit.of.index);
        let passed = index.and_then(|index| passed(index, visit.lifetime_ms, document));
        visit.of.collection == name && passed.is_some_and(|at| at <= i128::from(visit.now.0))
    });
    let clock = passing(there).and_then(|pass| pass.now).unwrap_or(now);
    by_visit || is_due(there.version, collection, document, clock)
}

pub(super) fn no_turn_is_early(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, taken)| {
        let there = &seen.state().members[member];
        taken.into_iter().all(|taken| is_in_time(there, next.now, taken))
    })
}

/// A turn at one instant deletes what a turn of another member, by an earlier clock, leaves.
pub(super) fn a_clock_ahead_deletes_more(walk: &W, seen: &S) -> bool {
    let turns: Vec<_> = turns(walk, seen).collect();
    turns.iter().any(|(late, _, more)| {
        let less = |(early, _, taken): &(M, usize, Vec<_>)| {
            early.now < late.now && taken.len() < more.len()
        };
        turns.iter().any(less)
    })
}

pub(super) fn a_turn_deletes(walk: &W, seen: &S) -> bool {
    turns(walk, seen).any(|(_, _, taken)| !taken.is_empty())
}

// ---- in the end --------------------------------------------------------------------------------

/// Is something left in a primary that its monitor should delete?
fn something_is_due(state: &State) -> bool {
    let there = &state.members[state.primary.unwrap_or(0)];
    there.collections.iter().any(|(_, collection)| {
        let mut documents = collection.documents.values();
        documents.any(|document| is_due(there.version, collection, document, LATER))
    })
}

/// How many turns it takes from here on: a pass that goes on may have seen too little.
fn turns_needed(state: &State) -> usize {
    let there = &state.members[state.primary.unwrap_or(0)];
    1 + usize::from(passing(there).is_some())
}

pub(super) fn all_is_gone_in_the_end(walk: &W, seen: &S) -> bool {
    let state = seen.state();
    let primary = state.primary.unwrap_or(0);
    !something_is_due(&woken(walk, state, primary, LATER, turns_needed(state)))
}

pub(super) fn one_turn_is_too_few(walk: &W, seen: &S) -> bool {
    let primary = seen.state().primary.unwrap_or(0);
    something_is_due(&woken(walk, seen.state(), primary, LATER, 1))
}

fn enabled(walk: &W, state: &State, enabled: bool) -> State {
    let name = "ttlMonitorEnabled".to_owned();
    let set = Op::SetParameter { name, value: Value::from(enabled) };
    walk.step(state, LATER, &set).state
}

fn left(state: &State) -> Vec<(&String, Vec<&Doc>)> {
    let collections = state.members[state.primary.unwrap_or(0)].collections.iter();
    collections.map(|(name, there)| (name, there.documents.values().collect())).collect()
}

/// The same is left whether a monitor was off for two turns or not.
pub(super) fn off_and_on_loses_nothing(walk: &W, seen: &S) -> bool {
    let primary = seen.state().primary.unwrap_or(0);
    let off = woken(walk, &enabled(walk, seen.state(), false), primary, LATER, 2);
    let on_again = woken(walk, &enabled(walk, &off, true), primary, LATER, 2);
    let never_off = woken(walk, seen.state(), primary, LATER, 4);
    left(&on_again) == left(&never_off)
}

pub(super) fn while_off_something_stays(walk: &W, seen: &S) -> bool {
    let primary = seen.state().primary.unwrap_or(0);
    something_is_due(&woken(walk, &enabled(walk, seen.state(), false), primary, LATER, 2))
}

// ---- in turn -----------------------------------------------------------------------------------

/// The index that waits in the world of rounds.
const WAITING: &str = "test.c/other";

/// Has the waiting index something to delete, and a pass goes on in which it was not visited?
pub(super) fn something_waits(_: &W, seen: &S) -> bool {
    let there = &seen.state().members[0];
    let is_left = |pass: &ttlspec_model::mongodb::visit::Pass| {
        pass.left.iter().any(|of| format!("{}/{}", of.collection, of.index) == WAITING)
    };
    let waits = there.collection(Place::COLLECTION).is_some_and(|collection| {
        collection.documents.values().any(|document| !dates(document, "u").is_empty())
    });
    waits && passing(there).is_some_and(is_left)
}

/// However the busy index is fed: the waiting one is visited before a second round ends.
pub(super) fn each_index_has_its_visit(walk: &W, seen: &S) -> bool {
    if !something_waits(walk, seen) {
        return true;
    }
    let now = Millis(100_000);
    let mut state = seen.state().clone();
    let mut rounds = 0;
    for fed in 0..STEPS {
        let step = walk.step(&state, now, &Op::Tick);
        let Reply::Ticked(Ticked { index, ended, .. }) = step.reply.verdict else { return false };
        if index.as_deref() == Some(WAITING) {
            return true;
        }
        rounds += usize::from(ended >= Ended::Round);
        if rounds == 2 {
            return false;
        }
        let date = bson::DateTime::from_millis(4_000 + i64::from(fed));
        let food = bson::doc! { "_id": 100 + fed, "t": date };
        state = walk.step(&step.state, now, &Op::Insert(Doc(food))).state;
    }
    false
}

/// How many steps a monitor is given for two rounds: many more than they take.
const STEPS: i32 = 30;

// ---- counters ----------------------------------------------------------------------------------

fn counters(walk: &W, state: &State, member: usize) -> Counters {
    let ask = Op::Counters.at(Place::member(member as u8));
    match walk.step(state, LATER, &ask).reply.verdict {
        Reply::Counters(counters) => counters,
        _ => Counters::default(),
    }
}

pub(super) fn counters_never_run_backwards(walk: &W, seen: &S) -> bool {
    let state = seen.state();
    (0..state.members.len()).all(|member| {
        let before = counters(walk, state, member);
        walk.moves(seen).all(|next| {
            let after = counters(walk, &next.step.state, member);
            before.passes <= after.passes
                && before.sub_passes <= after.sub_passes
                && before.deleted_documents <= after.deleted_documents
                && before.invalid_skips <= after.invalid_skips
        })
    })
}

pub(super) fn a_turn_is_counted(walk: &W, seen: &S) -> bool {
    let before = counters(walk, seen.state(), 0);
    walk.moves(seen).any(|next| {
        let after = counters(walk, &next.step.state, 0);
        before.deleted_documents < after.deleted_documents
    })
}

/// What is counted, and what a visit that goes on will count.
fn counted_and_to_count(there: &Member) -> u64 {
    there.monitor.counted.deleted + visiting(there).map_or(0, |visit| u64::from(visit.deleted))
}

/// A step counts no more than it deletes; and just as much, but where a visit ends too early.
pub(super) fn counters_add_up(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, taken)| {
        let before = &seen.state().members[member];
        let after = &next.step.state.members[member];
        let taken = taken.len() as u64;
        let lost = visiting(before).filter(|_| is_cut_short(before, &next));
        let lost = lost.map_or(0, |visit| u64::from(visit.deleted));
        counted_and_to_count(after) == counted_and_to_count(before) + taken - lost
            && after.monitor.counted.deleted
                <= before.monitor.counted.deleted
                    + visiting(before).map_or(0, |visit| u64::from(visit.deleted))
                    + taken
    })
}

/// Is the visit that goes on interrupted, or is what it visits gone?
fn is_cut_short(there: &Member, next: &M) -> bool {
    let Some(pass) = passing(there) else { return false };
    let killed = pass.visit.as_ref().is_some_and(|visit| {
        let collection = there.collection(&visit.of.collection);
        let is_there = collection.is_some_and(|collection| {
            collection.indexes.iter().any(|index| index.name() == visit.of.index)
        });
        visit.is_killed || !is_there
    });
    at_work(&next.step.state, next.op).is_some() && (pass.is_interrupted || killed)
}

pub(super) fn two_are_deleted_and_counted(walk: &W, seen: &S) -> bool {
    turns(walk, seen).any(|(next, member, taken)| {
        let before = seen.state().members[member].monitor.counted.deleted;
        let after = next.step.state.members[member].monitor.counted.deleted;
        taken.len() > 1 && after - before == taken.len() as u64 || after - before > 1
    })
}

// ---- switches ----------------------------------------------------------------------------------

fn is_spared(walk: &W, seen: &S, spares: impl Fn(&Member, &str, &Document) -> bool) -> bool {
    turns(walk, seen).all(|(_, member, taken)| {
        let there = &seen.state().members[member];
        taken.into_iter().all(|(name, document)| !spares(there, name, document))
    })
}

/// Is something spared that has expired, and is nothing else in the way?
fn spares_something(_: &W, seen: &S, spares: impl Fn(&Member, &str, &Document) -> bool) -> bool {
    let there = &seen.state().members[0];
    there.collections.iter().any(|(name, collection)| {
        collection.documents.values().any(|document| {
            let is_due = is_due(there.version, collection, document, Millis(10_000));
            is_due && spares(there, name, document)
        })
    })
}

fn is_off(there: &Member, _: &str, _: &Document) -> bool {
    !there.monitor.parameters.enabled
}

pub(super) fn off_is_off(walk: &W, seen: &S) -> bool {
    is_spared(walk, seen, is_off)
}

pub(super) fn off_spares(walk: &W, seen: &S) -> bool {
    spares_something(walk, seen, is_off)
}

fn is_locked(there: &Member, _: &str, _: &Document) -> bool {
    there.is_locked
}

pub(super) fn locked_is_locked(walk: &W, seen: &S) -> bool {
    is_spared(walk, seen, is_locked)
}

pub(super) fn locked_spares(walk: &W, seen: &S) -> bool {
    spares_something(walk, seen, is_locked)
}

pub(super) fn blocked_is_blocked(walk: &W, seen: &S) -> bool {
    let blocks = seen.state().blocks_user_writes;
    is_spared(walk, seen, |_, name, _| blocks && is_of_users(name))
}

pub(super) fn blocked_spares(walk: &W, seen: &S) -> bool {
    let blocks = seen.state().blocks_user_writes;
    spares_something(walk, seen, |_, name, _| blocks && is_of_users(name))
}

pub(super) fn resharding_is_left_alone(walk: &W, seen: &S) -> bool {
    is_spared(walk, seen, |_, name, _| is_of_resharding(name))
}

pub(super) fn resharding_has_something_old(walk: &W, seen: &S) -> bool {
    spares_something(walk, seen, |_, name, _| is_of_resharding(name))
}

fn is_orphan(there: &Member, name: &str, document: &Document) -> bool {
    there.collection(name).is_some_and(|collection| {
        let record = collection.documents.iter().find(|(_, other)| other.0 == *document);
        record.is_some_and(|(record, _)| collection.orphans.contains(record))
    })
}

pub(super) fn orphans_are_left_alone(walk: &W, seen: &S) -> bool {
    is_spared(walk, seen, is_orphan)
}

pub(super) fn an_orphan_is_old(walk: &W, seen: &S) -> bool {
    spares_something(walk, seen, is_orphan)
}

/// A turn leaves no orphan that has expired, if it leaves nothing else that has.
pub(super) fn orphans_go_with_the_rest(walk: &W, seen: &S) -> bool {
    turns(walk, seen).all(|(next, member, taken)| {
        let there = &next.step.state.members[member];
        taken.is_empty()
            || there.collections.iter().all(|(name, collection)| {
                let mut documents = collection.documents.values();
                is_of_resharding(name)
                    || documents.all(|document| {
                        !is_due(there.version, collection, document, next.now)
                            || !is_orphan(there, name, document)
                    })
            })
    })
}
