//! How does a monitor come from one index to the next, and from one document to the next?

use std::collections::VecDeque;
use std::sync::Arc;

use ttlspec_model::mongodb::{Ended, Guard, Health, code};

use super::collection::{Cursor, Target};
use super::journal::Undo;
use super::member::{Keep, Member};
use super::monitor::{Activity, Pass};
use super::oplog::{Change, is_local};
use super::parameters::Visits;
use super::ttl_index;

/// What can be visited, by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Visitable {
    /// The collection.
    pub(super) collection: Arc<str>,
    /// The index; empty for the collection's own seconds.
    pub(super) index: Box<str>,
}

/// A visit that goes on.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    of: Arc<Visitable>,
    /// Where the collection stood last.
    at: usize,
    cursor: Cursor,
    /// How the monitor was set when it began.
    visits: Visits,
    since_ms: i64,
    is_at_end: bool,
    /// Has what is visited been dropped or renamed since?
    is_killed: bool,
    chosen: u32,
    deleted: u32,
}

/// What a member is in its deployment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// Does it take the writes?
    pub(super) is_primary: bool,
    /// Are there others?
    pub(super) is_set: bool,
    /// The term of the last election.
    pub(super) term: u32,
    /// Are writes of users blocked?
    pub(super) blocks_user_writes: bool,
}

impl Role {
    /// What is kept of a change in this collection.
    pub(super) fn keep(self, member: &Member, collection: &str) -> Keep {
        if is_local(collection) {
            Keep::Nothing
        } else if self.is_set && self.is_primary {
            Keep::Entry(self.term)
        } else if member.log.is_empty() {
            Keep::Nothing
        } else {
            Keep::Undo
        }
    }

    /// Does the member take writes to this collection?
    pub(super) fn is_writable(self, member: &Member, collection: &str) -> bool {
        match member.health {
            Health::Maintenance => true,
            Health::Up => self.is_primary || is_local(collection),
            Health::Recovering => is_local(collection),
            Health::Down(_) => false,
        }
    }
}

/// One step of a monitor. What was chosen or deleted stands in its batch.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// What is visited.
    pub(super) of: Option<Arc<Visitable>>,
    /// What it did.
    pub(super) did: Deed,
    /// What came to its end.
    pub(super) ended: Ended,
    /// May there be more?
    pub(super) more: bool,
}

/// What a monitor does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It sleeps until the first instant after this one.
    Sleep(i64),
    /// It does no pass.
    Stay(Guard),
    /// It begins one, with so many to visit.
    Begin(u32),
    /// It cannot use an index.
    Skip(i32),
    /// It chose documents.
    Stage,
    /// It deleted what it had chosen.
    Commit,
    /// It found nothing to visit.
    Abandon,
    /// It was interrupted.
    Interrupt,
}

impl Pass {
    /// Strikes a collection off the lists.
    fn forget(&mut self, collection: &str) {
        self.left.retain(|of| *of.collection != *collection);
        self.again.retain(|of| *of.collection != *collection);
    }
}

// ---- what others do meanwhile ------------------------------------------------------------------

/// Something was done to the collection with this name, or it is gone.
pub(super) fn notice(member: &mut Member, name: &str) {
    let Member { monitor, collections, version, .. } = member;
    let Activity::Passing(pass) = &mut monitor.activity else { return };
    let there = collections.iter().find(|(there, _)| **there == *name);
    let there = there.map(|(_, collection)| collection);
    if there.is_none() && version.collections_are_followed() {
        pass.forget(name);
    }
    let Some(visit) = &mut pass.visit else { return };
    if *visit.of.collection == *name {
        visit.is_killed |= there.is_none_or(|there| there.target(&visit.of.index).is_none());
        monitor.batch.notice(there);
    }
}

/// A collection has another name now; what had that name is gone.
pub(super) fn renamed(member: &mut Member, from: &str, to: &str) {
    let follows = member.version.collections_are_followed();
    let Some(pass) = member.monitor.pass() else { return };
    if let Some(visit) = &mut pass.visit {
        visit.is_killed |= [from, to].contains(&&*visit.of.collection);
    }
    if !follows {
        return;
    }
    pass.forget(to);
    for of in pass.left.iter_mut().chain(&mut pass.again) {
        if *of.collection == *from {
            *of = Arc::new(Visitable { collection: to.into(), index: of.index.clone() });
        }
    }
}

// ---- one step ----------------------------------------------------------------------------------

/// The monitor does its next step, if it does not sleep.
pub(super) fn tick(member: &mut Member, role: Role, now_ms: i64) -> Step {
    if member.health != Health::Maintenance
        && let Some(until_ms) = member.monitor.sleeps_until(member.version, now_ms)
        && now_ms <= until_ms
    {
        return quiet(Deed::Sleep(until_ms), Ended::Nothing);
    }
    work(member, role, now_ms)
}

fn quiet(did: Deed, ended: Ended) -> Step {
    Step { of: None, did, ended, more: false }
}

/// A step of a monitor that does not sleep.
pub(super) fn work(member: &mut Member, role: Role, now_ms: i64) -> Step {
    let has_staged = !member.monitor.batch.is_empty();
    let Some(pass) = member.monitor.pass() else { return wake_up(member, role, now_ms) };
    if pass.is_interrupted {
        return interrupted(member, now_ms);
    }
    match pass.visit.take() {
        None => begin_visit(member, role, now_ms),
        Some(visit) if has_staged => commit(member, role, visit, now_ms),
        Some(visit) => stage(member, visit, now_ms),
    }
}

fn wake_up(member: &mut Member, role: Role, now_ms: i64) -> Step {
    let Member { version, health, is_locked, monitor, .. } = member;
    let (version, health) = (*version, *health);
    if let Some(guard) = monitor.guard(version, health, (*is_locked, role.is_primary)) {
        if guard != Guard::NotStarted {
            monitor.lie_down(now_ms);
        }
        return quiet(Deed::Stay(guard), Ended::Nothing);
    }
    monitor.count_begun(version);
    monitor.activity = Activity::Passing(Box::new(Pass {
        now_ms: version.clock_is_read_once_a_pass().then_some(now_ms),
        round: 0,
        sub_pass_since_ms: now_ms,
        left: VecDeque::new(),
        again: VecDeque::new(),
        visit: None,
        is_interrupted: false,
    }));
    match begin_sub_pass(member, now_ms) {
        None => {
            member.monitor.end_pass(version, now_ms);
            quiet(Deed::Stay(Guard::NotReadable), Ended::Pass)
        }
        Some(0) => quiet(Deed::Begin(0), end_round(member, now_ms)),
        Some(count) => quiet(Deed::Begin(count), Ended::Nothing),
    }
}

/// A pass that was killed ends.
fn interrupted(member: &mut Member, now_ms: i64) -> Step {
    let Member { monitor, version, .. } = member;
    let of = monitor.pass().and_then(|pass| pass.visit.take()).map(|visit| visit.of);
    monitor.end_sub_pass(*version);
    monitor.end_pass(*version, now_ms);
    Step { of, did: Deed::Interrupt, ended: Ended::Pass, more: false }
}

// ---- sub-passes and rounds ---------------------------------------------------------------------

/// Looks what there is to visit, and begins a sub-pass; `None` where that cannot be read.
fn begin_sub_pass(member: &mut Member, now_ms: i64) -> Option<u32> {
    let Member { version, health, collections, monitor, .. } = member;
    if version.deletes_in_batches() && *health == Health::Recovering {
        return None;
    }
    let pass = monitor.pass().expect("a sub-pass belongs to a pass");
    pass.left.clear();
    pass.again.clear();
    for (name, there) in collections {
        pass.left.extend(there.targets().map(|target| {
            let index = there.target_name(target).into();
            Arc::new(Visitable { collection: name.clone(), index })
        }));
    }
    pass.sub_pass_since_ms = now_ms;
    Some(pass.left.len() as u32)
}

/// A visit is over; what ends with it?
fn end_visit(member: &mut Member, now_ms: i64, visit: Option<(Visit, bool)>) -> Ended {
    member.monitor.batch.clear();
    let pass = member.monitor.pass().expect("a visit belongs to a pass");
    let is_over = pass.left.is_empty();
    if let Some((visit, more)) = visit {
        if more {
            pass.again.push_back(visit.of);
        }
        member.monitor.counted.deleted += u64::from(visit.deleted);
    }
    if is_over { end_round(member, now_ms) } else { Ended::Visit }
}

/// A round is over; what ends with it?
fn end_round(member: &mut Member, now_ms: i64) -> Ended {
    let version = member.version;
    let target_secs = i64::from(member.monitor.parameters.sub_pass_target_secs);
    let pass = member.monitor.pass().expect("a round belongs to a pass");
    if pass.again.is_empty() {
        member.monitor.end_sub_pass(version);
        member.monitor.end_pass(version, now_ms);
        return Ended::Pass;
    }
    pass.round += 1;
    let elapsed_ms = now_ms.saturating_sub(pass.sub_pass_since_ms).max(0);
    if elapsed_ms / 1_000 < target_secs {
        std::mem::swap(&mut pass.left, &mut pass.again);
        return Ended::Round;
    }
    member.monitor.end_sub_pass(version);
    match begin_sub_pass(member, now_ms) {
        Some(_) => Ended::SubPass,
        None => {
            member.monitor.end_pass(version, now_ms);
            Ended::Pass
        }
    }
}

// ---- a visit -----------------------------------------------------------------------------------

/// Why a visit does not begin.
enum Barred {
    /// There is nothing to visit.
    Silently,
    /// With a line in the log, or an error.
    With(i32),
}

/// The log line about a visit that met stale metadata.
const LOG_STALE: i32 = 6353000;

/// Takes the next index, and begins to visit it if that can be done.
fn begin_visit(member: &mut Member, role: Role, now_ms: i64) -> Step {
    let pass = member.monitor.pass().expect("a visit belongs to a pass");
    let clock_ms = pass.now_ms.unwrap_or(now_ms);
    let Some(of) = pass.left.pop_front() else {
        // All that was left to visit has been dropped.
        let ended = end_round(member, now_ms);
        return Step { of: None, did: Deed::Abandon, ended, more: false };
    };
    let did = match barred(member, role, &of) {
        Ok((at, target, lifetime_ms)) => {
            member.collections[at].1.begin_visit(target);
            let threshold_ms = clock_ms.saturating_sub(lifetime_ms);
            let visit = Visit {
                of,
                at,
                cursor: Cursor { threshold_ms, behind: None },
                visits: member.monitor.parameters.visits,
                since_ms: now_ms,
                is_at_end: false,
                is_killed: false,
                chosen: 0,
                deleted: 0,
            };
            return stage(member, visit, now_ms);
        }
        Err(Barred::Silently) => Deed::Abandon,
        Err(Barred::With(code)) => {
            member.monitor.counted.invalid += u64::from(code != LOG_STALE);
            Deed::Skip(code)
        }
    };
    let ended = end_visit(member, now_ms, None);
    Step { of: Some(of), did, ended, more: false }
}

/// Where is what a visit begins with, and how long do dates live there? Or why does it not begin?
fn barred(member: &mut Member, role: Role, of: &Visitable) -> Result<(usize, Target, i64), Barred> {
    let at = member.position(&of.collection).ok_or(Barred::Silently)?;
    let keep = role.keep(member, &of.collection);
    let is_writable = role.is_writable(member, &of.collection);
    let there = &mut member.collections[at].1;
    let target = there.target(&of.index).ok_or(Barred::Silently)?;
    if is_of_resharding(&of.collection) || !is_writable || there.is_building(target) {
        return Err(Barred::Silently);
    }
    if there.is_stale() && member.version.stale_visits_are_abandoned() {
        there.set_stale(false);
        member.log.undoable(keep, &of.collection, Undo::Stale(true));
        return Err(Barred::With(LOG_STALE));
    }
    match there.usable(target) {
        ttl_index::Visit::Pass => Err(Barred::Silently),
        ttl_index::Visit::Skip(code) => Err(Barred::With(code)),
        ttl_index::Visit::Expire(lifetime_ms) => Ok((at, target, lifetime_ms)),
    }
}

/// Is it the temporary collection of a resharding?
fn is_of_resharding(collection: &str) -> bool {
    let name = collection.split_once('.').map_or("", |(_, name)| name);
    name.starts_with("system.resharding.")
}

/// Is it a collection of users, and not one of the server's own databases?
pub(super) fn is_of_users(collection: &str) -> bool {
    let database = collection.split('.').next().unwrap_or_default();
    !matches!(database, "admin" | "config" | "local")
}

impl Visit {
    /// The place of what is visited, if it is still there.
    fn find(&mut self, member: &Member) -> Option<Target> {
        if self.is_killed {
            return None;
        }
        let name = &self.of.collection;
        let is_here = member.collections.get(self.at).is_some_and(|(there, _)| there == name);
        if !is_here {
            self.at = member.position(name)?;
        }
        member.collections[self.at].1.target(&self.of.index)
    }
}

/// Goes on with the scan, and chooses the next batch.
fn stage(member: &mut Member, mut visit: Visit, now_ms: i64) -> Step {
    let Some(target) = visit.find(member) else { return abandon(member, visit, now_ms) };
    let limits = visit.visits.limits(member.version);
    let batch = &mut member.monitor.batch;
    let there = &mut member.collections[visit.at].1;
    visit.is_at_end = !there.stage(target, &mut visit.cursor, limits, batch);
    visit.chosen += batch.len() as u32;
    let is_over = batch.is_empty();
    go_on(member, visit, Deed::Stage, is_over.then_some(false), now_ms)
}

/// Deletes what was chosen, after another look at it.
fn commit(member: &mut Member, role: Role, mut visit: Visit, now_ms: i64) -> Step {
    let Some(target) = visit.find(member) else { return abandon(member, visit, now_ms) };
    if role.blocks_user_writes && is_of_users(&visit.of.collection) {
        visit.deleted = 0;
        let did = Deed::Skip(code::USER_WRITES_BLOCKED);
        return go_on(member, visit, did, Some(false), now_ms);
    }
    let keep = role.keep(member, &visit.of.collection);
    let Member { version, collections, monitor, log, .. } = member;
    let (name, there) = &mut collections[visit.at];
    let mut undo = Vec::new();
    there.commit(target, visit.cursor.threshold_ms, &mut monitor.batch, &mut |deleted| {
        if keep != Keep::Nothing {
            undo.push(deleted.undo());
        }
    });
    let deleted = &monitor.batch.deleted;
    if !deleted.is_empty() {
        log.note(keep, name, undo, || Change::Delete(deleted.clone()));
    }
    visit.deleted += deleted.len() as u32;
    let took_ms = now_ms.saturating_sub(visit.since_ms);
    let more = !visit.is_at_end && visit.visits.are_met(*version, visit.chosen, took_ms);
    let ended = (more || visit.is_at_end).then_some(more);
    go_on(member, visit, Deed::Commit, ended, now_ms)
}

/// What was visited is gone: the visit ends without a word.
fn abandon(member: &mut Member, mut visit: Visit, now_ms: i64) -> Step {
    visit.deleted = 0;
    go_on(member, visit, Deed::Abandon, Some(false), now_ms)
}

/// The visit goes on, or ends: then it is known whether there may be more.
fn go_on(member: &mut Member, visit: Visit, did: Deed, end: Option<bool>, now_ms: i64) -> Step {
    let of = Some(visit.of.clone());
    let ended = match end {
        Some(more) => end_visit(member, now_ms, Some((visit, more))),
        None => {
            member.monitor.pass().expect("a visit belongs to a pass").visit = Some(visit);
            Ended::Nothing
        }
    };
    Step { of, did, ended, more: end.unwrap_or_default() }
}
