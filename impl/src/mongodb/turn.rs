//! What is told of the work of a monitor, step by step and turn by turn?

use std::sync::Arc;

use ttlspec_model::mongodb::{Cost, Did, Guard, Reply, Skipped, Ticked, Value, Visited, Woke};
use ttlspec_model::time::Millis;

use super::boundary::read;
use super::collection::{Collection, Former};
use super::ids::Ids;
use super::member::Member;
use super::visit::{Deed, Role, Step, Visitable, tick, work};

/// The words for some `_id`s.
fn words(ids: &Ids) -> Vec<Value> {
    ids.iter().map(|id| Value(read(id))).collect()
}

/// `test.c/ttl`.
fn log_name(of: &Visitable) -> String {
    format!("{}/{}", of.collection, of.index)
}

/// One undisturbed pass over a collection; tells each document before it goes.
pub(super) fn passed(
    there: &mut Collection,
    now: Millis,
    deleted: &mut impl FnMut(Former<'_>),
) -> Reply {
    let skip = |(index, code): (&str, i32)| Skipped { index: index.to_owned(), code };
    let skipped = there.skipped().map(skip).collect();
    let mut ids = Vec::new();
    there.pass(now, &mut |document| {
        ids.push(Value(read(document.id())));
        deleted(document.former());
    });
    Reply::Passed { deleted: ids, skipped }
}

/// The monitor of a member does its next step.
pub(super) fn ticked(member: &mut Member, role: Role, now_ms: i64) -> Ticked {
    let Step { of, did, ended, more } = tick(member, role, now_ms);
    let batch = &member.monitor.batch;
    let did = match did {
        Deed::Sleep(until_ms) => Did::Sleep { until_ms },
        Deed::Stay(guard) => Did::Stay(guard),
        Deed::Begin(count) => Did::Begin(count),
        Deed::Skip(code) => Did::Skip(code),
        Deed::Stage => Did::Stage(words(batch.ids())),
        Deed::Commit => Did::Commit { deleted: words(&batch.deleted), kept: words(&batch.kept) },
        Deed::Abandon => Did::Abandon,
        Deed::Interrupt => Did::Interrupt,
    };
    Ticked { index: of.as_deref().map(log_name), did, ended, more }
}

/// The monitor of a member wakes up, and works until it sleeps again. Its work takes time.
pub(super) fn woke(member: &mut Member, role: Role, now_ms: i64, cost: Cost) -> Woke {
    let mut spent_us = 0_i64;
    let mut spend = |each_us: u32, times: usize| {
        spent_us = spent_us.saturating_add(i64::from(each_us).saturating_mul(times as i64));
        spent_us / 1_000
    };
    let mut woke = Woke { guard: None, visits: Vec::new(), sub_passes: 0, took_ms: 0 };
    let mut last: Option<(u32, Arc<Visitable>)> = None;
    let before = member.monitor.counted.sub_passes;
    loop {
        let staged = member.monitor.batch.len();
        let (round, is_visiting) =
            member.monitor.pass().map_or((0, false), |pass| (pass.round, pass.visit.is_some()));
        let took_ms = spend(cost.delete_us, staged);
        let Step { of, did, more, .. } = work(member, role, now_ms.saturating_add(took_ms));
        if let Deed::Stay(guard) = did {
            woke.guard = Some(guard);
        }
        if let Some(of) = of.filter(|_| !matches!(did, Deed::Abandon | Deed::Interrupt)) {
            spend(cost.visit_us, usize::from(!is_visiting));
            if !last.as_ref().is_some_and(|(then, there)| *then == round && *there == of) {
                let (skipped, batches) = (None, Vec::new());
                woke.visits.push(Visited { round, index: log_name(&of), skipped, batches, more });
            }
            let visited = woke.visits.last_mut().expect("it was begun");
            visited.more = more;
            match did {
                Deed::Skip(code) => visited.skipped = Some(code),
                Deed::Commit if !member.monitor.batch.deleted.is_empty() => {
                    visited.batches.push(words(&member.monitor.batch.deleted));
                }
                _ => {}
            }
            last = Some((round, of));
        }
        if member.monitor.pass().is_none() {
            break;
        }
    }
    woke.took_ms = spend(0, 0);
    if woke.guard != Some(Guard::NotStarted) {
        member.monitor.lie_down(now_ms.saturating_add(woke.took_ms));
    }
    woke.sub_passes = (member.monitor.counted.sub_passes - before) as u32;
    woke
}
