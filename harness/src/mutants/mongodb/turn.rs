//! A step or a turn of a monitor, with something wrong before it or after it.

use ttlspec_model::Millis;
use ttlspec_model::mongodb::machine::Member;
use ttlspec_model::mongodb::monitor::{Activity, Parameters};
use ttlspec_model::mongodb::visit::{Pass, Visit};
use ttlspec_model::mongodb::{Did, Health, Op, Reply, Ticked};

use super::replication::{said, told};
use super::server::Server;

/// A step or a turn, with something done to its member before it, and to the member and the answer
/// after it; `after` is also told how the member was. Everything else is right.
pub(super) fn work(
    server: &mut Server,
    now: Millis,
    op: &Op,
    before: impl Fn(&mut Member),
    after: impl Fn(&mut Member, &Member, &mut Reply),
) -> Reply {
    let at = told(&server.state, op);
    let there = server.state.members.get_mut(at);
    let there = there.filter(|there| !matches!(there.health, Health::Down(_)));
    let (Op::Tick | Op::Wake(_), Some(there)) = (said(op), there) else {
        return server.right(now, op);
    };
    let was = there.clone();
    before(there);
    let mut reply = server.right(now, op);
    after(&mut server.state.members[at], &was, &mut reply);
    reply
}

/// A step or a turn with other parameters.
pub(super) fn set_so(
    server: &mut Server,
    now: Millis,
    op: &Op,
    change: impl Fn(&mut Parameters),
) -> Reply {
    work(
        server,
        now,
        op,
        |there| change(&mut there.monitor.parameters),
        |there, was, _| there.monitor.parameters = was.monitor.parameters.clone(),
    )
}

/// A step, with something done before it to the visit that goes on.
pub(super) fn visiting(
    server: &mut Server,
    now: Millis,
    op: &Op,
    change: impl Fn(&mut Visit, &Member),
) -> Reply {
    work(server, now, op, |there| with_visit(there, &change), |_, _, _| {})
}

/// Does something to the visit that goes on.
pub(super) fn with_visit(there: &mut Member, change: impl Fn(&mut Visit, &Member)) {
    let Some(mut visit) = pass(there).and_then(|pass| pass.visit.take()) else { return };
    change(&mut visit, there);
    pass(there).expect("it was there before").visit = Some(visit);
}

/// The pass that goes on.
pub(super) fn pass(there: &mut Member) -> Option<&mut Pass> {
    match &mut there.monitor.activity {
        Activity::Passing(pass) => Some(pass),
        Activity::Started | Activity::Asleep { .. } => None,
    }
}

/// The pass that went on.
pub(super) fn pass_of(was: &Member) -> Option<&Pass> {
    match &was.monitor.activity {
        Activity::Passing(pass) => Some(pass),
        Activity::Started | Activity::Asleep { .. } => None,
    }
}

/// Has a pass begun that goes on?
pub(super) fn has_begun(there: &Member, was: &Member) -> bool {
    pass_of(was).is_none() && pass_of(there).is_some()
}

/// Has a pass ended that went on?
pub(super) fn has_ended(there: &Member, was: &Member) -> bool {
    pass_of(was).is_some() && pass_of(there).is_none()
}

/// What a step did.
pub(super) fn did(reply: &Reply) -> Option<&Did> {
    match reply {
        Reply::Ticked(Ticked { did, .. }) => Some(did),
        _ => None,
    }
}
