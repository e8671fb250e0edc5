#![doc = include_str!("../../../specs/mongodb/10-visit.md")]
//! ---
//! *Module:* how does a pass come from one index to the next, and from one document to the next?

use super::clustered;
use super::machine::{Member, State};
use super::monitor::{self, Activity, Parameters};
use super::pass::{self, Target, Use};
use super::replication;
use super::shard;
use super::version::Version;
use super::visibility::Collection;
use super::words::{Cost, Did, Ended, Guard, Health, Ticked, Value, Visited, Woke, code};
use crate::ruling::{Rule, Ruling};
use crate::time::Millis;

/// A pass that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The clock of the pass, where it has one for all visits.
    pub now: Option<Millis>,
    /// The round, counted over all sub-passes.
    pub round: u32,
    /// When the sub-pass began.
    pub sub_pass_since: Millis,
    /// What is still to be visited in this round.
    pub left: Vec<Visitable>,
    /// What was left with something over, and is visited again in the next round.
    pub again: Vec<Visitable>,
    /// The visit that goes on.
    pub visit: Option<Visit>,
    /// Has somebody killed what it does?
    pub is_interrupted: bool,
}

/// An index that can be visited, by its collection and its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visitable {
    /// The collection with its database.
    pub collection: String,
    /// The index.
    pub index: String,
}

/// A visit that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visit {
    /// What is visited.
    pub of: Visitable,
    /// The clock by which its threshold was computed.
    pub now: Millis,
    /// The lifetime of dates, as it was then.
    pub lifetime_ms: i64,
    /// How the monitor was set then.
    pub parameters: Parameters,
    /// When it began.
    pub since: Millis,
    /// The last place of the scan.
    pub behind: Option<(Millis, u64)>,
    /// Has the scan come to its end?
    pub is_at_end: bool,
    /// Has what is visited been dropped or renamed since? Another with its name is another.
    pub is_killed: bool,
    /// What is chosen and not yet deleted.
    pub staged: Vec<Staged>,
    /// How many were chosen in all.
    pub chosen: u32,
    /// How many were deleted.
    pub deleted: u32,
}

/// A document that is chosen to be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Staged {
    /// Its record.
    pub record: u64,
    /// Its `_id`.
    pub id: Value,
    /// Has somebody deleted it since?
    pub is_gone: bool,
}

impl Visit {
    fn is_of(&self, collection: &str) -> bool {
        self.of.collection == collection
    }
}

impl Pass {
    /// Strikes a collection off the lists.
    fn forget(&mut self, collection: &str) {
        self.left.retain(|of| of.collection != collection);
        self.again.retain(|of| of.collection != collection);
    }
}

// ---- what others do meanwhile ------------------------------------------------------------------

/// Something was done to a collection: what was chosen and is gone now stays gone, and a visit of
/// what is gone now does not go on.
pub fn notice(member: &mut Member, collection: &str) {
    let follows = member.version.collections_are_followed();
    let there = member.collection(collection).cloned();
    let Some(pass) = running(member) else { return };
    if there.is_none() && follows {
        pass.forget(collection);
    }
    let Some(visit) = pass.visit.as_mut().filter(|visit| visit.is_of(collection)) else { return };
    let target = there.as_ref().and_then(|there| Target::named(there, &visit.of.index));
    visit.is_killed |= target.is_none();
    for staged in &mut visit.staged {
        let document = there.as_ref().and_then(|there| there.documents.get(&staged.record));
        staged.is_gone |=
            document.is_none_or(|document| Value(document["_id"].clone()) != staged.id);
    }
}

/// A collection has another name now, and what had that name is gone. A monitor that follows
/// collections visits it under the new one; a visit that goes on does not.
pub fn renamed(member: &mut Member, from: &str, to: &str) {
    let follows = member.version.collections_are_followed();
    let Some(pass) = running(member) else { return };
    if let Some(visit) = &mut pass.visit {
        visit.is_killed |= visit.is_of(from) || visit.is_of(to);
    }
    if !follows {
        return;
    }
    pass.forget(to);
    for of in pass.left.iter_mut().chain(&mut pass.again) {
        if of.collection == from {
            of.collection = to.to_owned();
        }
    }
}

/// Whoever does a pass is interrupted in it.
pub fn interrupt(member: &mut Member) {
    running(member).into_iter().for_each(|pass| pass.is_interrupted = true);
}

fn running(member: &mut Member) -> Option<&mut Pass> {
    match &mut member.monitor.activity {
        Activity::Passing(pass) => Some(pass),
        Activity::Started | Activity::Asleep { .. } => None,
    }
}

// ---- one step ----------------------------------------------------------------------------------

/// The monitor of a member does its next step.
pub fn tick(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    let there = &mut state.members[member];
    let sleep = (there.health != Health::Maintenance).then(|| monitor::sleep(there, now)).flatten();
    let slept: Vec<Rule> = sleep.iter().flat_map(|until| until.because.clone()).collect();
    match sleep {
        Some(until) if now <= until.verdict => {
            until.map(|until| quiet(Did::Sleep { until_ms: until.0 }, Ended::Nothing))
        }
        _ => work(state, member, now).after(&slept),
    }
}

fn quiet(did: Did, ended: Ended) -> Ticked {
    Ticked { index: None, did, ended, more: false }
}

/// A step of a monitor that does not sleep.
fn work(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    let Activity::Passing(pass) = &state.members[member].monitor.activity else {
        return wake_up(state, member, now);
    };
    if pass.is_interrupted {
        return interrupted(&mut state.members[member], now);
    }
    match &pass.visit {
        None if pass.left.is_empty() => nothing_left(&mut state.members[member], now),
        None => begin_visit(state, member, now),
        Some(visit) if visit.staged.is_empty() => stage(state, member, now),
        Some(_) => commit(state, member, now),
    }
}

fn wake_up(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    if let Some(guard) = monitor::guard(state, member) {
        if guard.verdict != Guard::NotStarted {
            monitor::lie_down(&mut state.members[member], now);
        }
        return guard.map(|guard| quiet(Did::Stay(guard), Ended::Nothing));
    }
    let there = &mut state.members[member];
    let version = there.version;
    let counted = monitor::count_pass(version, &mut there.monitor.counted, true);
    there.monitor.activity = Activity::Passing(Box::new(Pass {
        now: version.clock_is_read_once_a_pass().then_some(now),
        round: 0,
        sub_pass_since: now,
        left: Vec::new(),
        again: Vec::new(),
        visit: None,
        is_interrupted: false,
    }));
    let counted: Vec<Rule> = counted.into_iter().collect();
    let begun = match begin_sub_pass(there, now) {
        Err(unreadable) => unreadable.then(|guard| {
            let ending = end_pass(there, now);
            Ruling::plain(quiet(Did::Stay(guard), Ended::Pass)).after(&ending)
        }),
        Ok(begun) => begun.then(|indexes| {
            let (ended, ending) =
                if indexes == 0 { end_round(there, now) } else { (Ended::Nothing, Vec::new()) };
            Ruling::plain(quiet(Did::Begin(indexes), ended)).after(&ending)
        }),
    };
    begun.after(&counted)
}

/// All that was left to visit has been dropped: the round is over.
fn nothing_left(there: &mut Member, now: Millis) -> Ruling<Ticked> {
    let (ended, because) = end_round(there, now);
    Ruling::plain(quiet(Did::Abandon, ended)).and(Rule::MongodbVisitDropped).after(&because)
}

/// A pass that was killed ends, and the monitor sleeps. What was chosen stays.
fn interrupted(there: &mut Member, now: Millis) -> Ruling<Ticked> {
    let visit = running(there).and_then(|pass| pass.visit.take());
    let mut because = vec![Rule::MongodbVisitInterrupted];
    if visit.as_ref().is_some_and(|visit| visit.deleted > 0) {
        because.push(Rule::MongodbVisitUncounted);
    }
    because.extend(end_sub_pass(there));
    because.extend(end_pass(there, now));
    let index = visit.map(|visit| visit.of.log_name());
    let ticked = Ticked { index, did: Did::Interrupt, ended: Ended::Pass, more: false };
    Ruling::plain(ticked).after(&because)
}

// ---- sub-passes and rounds ---------------------------------------------------------------------

/// Looks which TTL indexes there are, and begins a sub-pass over them.
fn begin_sub_pass(there: &mut Member, now: Millis) -> Result<Ruling<u32>, Ruling<Guard>> {
    let version = there.version;
    let has_sub_passes = version.deletes_in_batches();
    if has_sub_passes && there.health == Health::Recovering {
        let guard = Ruling::plain(Guard::NotReadable);
        return Err(guard.and(Rule::MongodbMonitorNotReadable));
    }
    let mut visitables = Vec::new();
    for (name, collection) in &there.collections {
        let of = |target: Target| Visitable {
            collection: name.clone(),
            index: target.name(collection).to_owned(),
        };
        let is_ttl = |target: &Target| target.is_ttl(version, collection);
        visitables.extend(pass::targets(collection).into_iter().filter(is_ttl).map(of));
    }
    let count = visitables.len() as u32;
    if let Some(pass) = running(there) {
        pass.left = visitables;
        pass.again.clear();
        pass.sub_pass_since = now;
    }
    Ok(Ruling::plain(count).and(Rule::MongodbVisitSnapshot))
}

/// The visit that went on is over; what ends with it?
fn end_visit(there: &mut Member, now: Millis, more: bool) -> (Ended, Vec<Rule>) {
    let Activity::Passing(pass) = &mut there.monitor.activity else {
        unreachable!("a visit belongs to a pass")
    };
    let visit = pass.visit.take();
    let mut because = Vec::new();
    if let Some(visit) = visit {
        there.monitor.counted.deleted += u64::from(visit.deleted);
        if visit.deleted > 0 {
            because.push(Rule::MongodbMonitorDeleted);
        }
        if more {
            pass.again.push(visit.of);
        }
    }
    if !pass.left.is_empty() {
        return (Ended::Visit, because);
    }
    let (ended, ending) = end_round(there, now);
    because.extend(ending);
    (ended, because)
}

/// A round is over; what ends with it?
fn end_round(there: &mut Member, now: Millis) -> (Ended, Vec<Rule>) {
    let target = there.monitor.parameters.sub_pass_target_secs;
    let Activity::Passing(pass) = &mut there.monitor.activity else {
        unreachable!("a round belongs to a pass")
    };
    if pass.again.is_empty() {
        let because: Vec<Rule> = end_sub_pass(there).into_iter().collect();
        return (Ended::Pass, [because, end_pass(there, now)].concat());
    }
    pass.round += 1;
    let elapsed_ms = now.0.saturating_sub(pass.sub_pass_since.0).max(0);
    if elapsed_ms / 1_000 < i64::from(target) {
        pass.left = std::mem::take(&mut pass.again);
        return (Ended::Round, vec![Rule::MongodbVisitRounds]);
    }
    let mut because = vec![Rule::MongodbVisitSubPassEnds, Rule::MongodbVisitSubPassAgain];
    because.extend(end_sub_pass(there));
    match begin_sub_pass(there, now) {
        Ok(begun) => (Ended::SubPass, [because, begun.because].concat()),
        Err(unreadable) => {
            let ending = end_pass(there, now);
            (Ended::Pass, [because, unreadable.because, ending].concat())
        }
    }
}

/// A sub-pass is over, however it came to its end: it is counted, where there are any.
fn end_sub_pass(there: &mut Member) -> Option<Rule> {
    there.version.deletes_in_batches().then(|| {
        there.monitor.counted.sub_passes += 1;
        Rule::MongodbMonitorSubPasses
    })
}

/// The pass is over, however it came to its end: it is counted, and the monitor sleeps.
fn end_pass(there: &mut Member, now: Millis) -> Vec<Rule> {
    let counted = monitor::count_pass(there.version, &mut there.monitor.counted, false);
    monitor::lie_down(there, now);
    counted.into_iter().collect()
}

/// What is told of a step, once it is known whether a visit ended with it.
fn told(
    there: &mut Member,
    now: Millis,
    of: &Visitable,
    did: Did,
    visit: Option<bool>,
) -> Ruling<Ticked> {
    let (ended, because) = match visit {
        None => (Ended::Nothing, Vec::new()),
        Some(more) => end_visit(there, now, more),
    };
    let ticked = Ticked { index: Some(of.log_name()), did, ended, more: visit.unwrap_or_default() };
    Ruling::plain(ticked).after(&because)
}

// ---- a visit -----------------------------------------------------------------------------------

impl Visitable {
    /// `test.c/ttl`.
    fn log_name(&self) -> String {
        format!("{}/{}", self.collection, self.index)
    }

    /// The collection, and the place of the index in it, if both are there.
    fn find<'a>(&self, there: &'a Member) -> Option<(&'a Collection, Target)> {
        let collection = there.collection(&self.collection)?;
        Some((collection, Target::named(collection, &self.index)?))
    }
}

/// Why a visit does not begin.
enum Barred {
    /// There is nothing to visit, which is not worth a word.
    Silently,
    /// With a line in the log, or an error.
    With(i32),
}

/// Takes the next index, and begins to visit it if that can be done.
fn begin_visit(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    let there = &mut state.members[member];
    let pass = running(there).expect("a visit belongs to a pass");
    let of = pass.left.remove(0);
    let (clock, rule) = match pass.now {
        Some(clock) => (clock, Rule::MongodbMonitorClockPass),
        None => (now, Rule::MongodbMonitorClockVisit),
    };
    let lifetime = barred(state, member, &of);
    let there = &mut state.members[member];
    let because = lifetime.because;
    match lifetime.verdict {
        Ok(lifetime_ms) => {
            let parameters = there.monitor.parameters.clone();
            let pass = running(there).expect("a visit belongs to a pass");
            pass.visit = Some(Visit {
                of,
                now: clock,
                lifetime_ms,
                parameters,
                since: now,
                behind: None,
                is_at_end: false,
                is_killed: false,
                staged: Vec::new(),
                chosen: 0,
                deleted: 0,
            });
            stage(state, member, now).after(&because).and(rule)
        }
        Err(Barred::Silently) => told(there, now, &of, Did::Abandon, Some(false)).after(&because),
        Err(Barred::With(code)) => {
            let is_invalid = code != shard::LOG_STALE;
            there.monitor.counted.invalid += u64::from(is_invalid);
            let ticked = told(there, now, &of, Did::Skip(code), Some(false)).after(&because);
            let shows = there.version.invalid_skips_are_counted() && is_invalid;
            if shows { ticked.and(Rule::MongodbMonitorInvalidSkips) } else { ticked }
        }
    }
}

/// How long do dates live by an index that a visit begins with, or why does it not begin?
fn barred(state: &mut State, member: usize, of: &Visitable) -> Ruling<Result<i64, Barred>> {
    let silently = |rule: Rule| Ruling::plain(Err(Barred::Silently)).and(rule);
    let is_writable = state.is_writable(member, &of.collection);
    let is_secondary = state.primary != Some(member);
    let there = &mut state.members[member];
    let version = there.version;
    let Some((collection, target)) = of.find(there) else {
        return silently(Rule::MongodbVisitCatalog);
    };
    if monitor::is_of_resharding(&of.collection) {
        return silently(Rule::MongodbShardResharding);
    }
    if !is_writable {
        return silently(Rule::MongodbReplicationPrimaryOnly);
    }
    if !target.is_ready(collection) {
        return silently(Rule::MongodbMonitorNotReady);
    }
    if collection.is_stale && version.stale_visits_are_abandoned() {
        let stale = there.collection_mut(&of.collection).expect("it was just seen");
        stale.is_stale = false;
        return Ruling::plain(Err(Barred::With(shard::LOG_STALE))).and(Rule::MongodbShardStale);
    }
    let usable = target.usable(version, collection).and(Rule::MongodbVisitCatalog);
    let usable = if is_secondary { usable.and(Rule::MongodbReplicationLocal) } else { usable };
    usable.map(|usable| match usable {
        Use::Nothing => Err(Barred::Silently),
        Use::Skip(code) => Err(Barred::With(code)),
        Use::Lifetime(lifetime_ms) => Ok(lifetime_ms),
    })
}

/// Goes on with the scan, and chooses the documents of the next batch.
fn stage(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    let there = &mut state.members[member];
    let Some(mut visit) = running(there).and_then(|pass| pass.visit.take()) else {
        unreachable!("only a visit stages")
    };
    let of = visit.of.clone();
    let Some((collection, target)) = of.find(there).filter(|_| !visit.is_killed) else {
        return abandon(there, now, visit);
    };
    let doomed = pass::doomed(there.version, collection, target, visit.lifetime_ms, visit.now);
    let mut because = doomed.because;
    let is_behind = |place: &(Millis, u64)| visit.behind.is_some_and(|behind| *place <= behind);
    if doomed.verdict.iter().any(is_behind) {
        because.push(Rule::MongodbVisitBehind);
    }
    let ahead: Vec<(Millis, u64)> =
        doomed.verdict.into_iter().filter(|place| !is_behind(place)).collect();
    let is_batched = is_batched(there.version, &visit.parameters);
    let (most, most_bytes) = batch(is_batched, &visit.parameters);
    because.push(if is_batched { Rule::MongodbVisitBatch } else { Rule::MongodbVisitSingly });
    let mut bytes = 0;
    let mut is_full = false;
    for place in ahead {
        if is_full {
            break;
        }
        let document = &collection.documents[&place.1];
        bytes += document.to_vec().map_or(0, |bytes| bytes.len());
        let id = Value(document["_id"].clone());
        visit.staged.push(Staged { record: place.1, id, is_gone: false });
        visit.behind = Some(place);
        visit.chosen += 1;
        is_full = visit.staged.len() >= most || bytes >= most_bytes;
    }
    visit.is_at_end = !is_full;
    let ids: Vec<Value> = visit.staged.iter().map(|staged| staged.id.clone()).collect();
    let is_over = ids.is_empty();
    running(there).expect("a visit belongs to a pass").visit = Some(visit);
    told(there, now, &of, Did::Stage(ids), is_over.then_some(false)).after(&because)
}

/// How many documents, and how many bytes of them, make a batch full.
fn batch(is_batched: bool, parameters: &Parameters) -> (usize, usize) {
    let limit = |limit: i32| usize::try_from(limit).ok().filter(|limit| *limit > 0);
    if is_batched {
        let docs = limit(parameters.batch_docs).unwrap_or(usize::MAX);
        (docs, limit(parameters.batch_bytes).unwrap_or(usize::MAX))
    } else {
        (1, usize::MAX)
    }
}

fn is_batched(version: Version, parameters: &Parameters) -> bool {
    version.deletes_in_batches() && parameters.batch_deletes
}

/// Deletes what was chosen, after another look at it.
fn commit(state: &mut State, member: usize, now: Millis) -> Ruling<Ticked> {
    let blocks = state.blocks_user_writes;
    let there = &mut state.members[member];
    let Some(mut visit) = running(there).and_then(|pass| pass.visit.take()) else {
        unreachable!("only a visit commits")
    };
    let of = visit.of.clone();
    let version = there.version;
    let Some((collection, target)) = of.find(there).filter(|_| !visit.is_killed) else {
        return abandon(there, now, visit);
    };
    if blocks && monitor::is_of_users(&of.collection) {
        visit.deleted = 0;
        visit.staged.clear();
        running(there).expect("a visit belongs to a pass").visit = Some(visit);
        return told(there, now, &of, Did::Skip(code::USER_WRITES_BLOCKED), Some(false))
            .and(Rule::MongodbMonitorBlocked);
    }

    let mut because = Vec::new();
    if target.usable(version, collection).verdict != Use::Lifetime(visit.lifetime_ms) {
        because.push(Rule::MongodbVisitThresholdKept);
    }
    because.extend(clustered::again(target));
    let (mut doomed, mut deleted, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let staged = std::mem::take(&mut visit.staged);
    let chosen = staged.len();
    for Staged { record, id, is_gone } in staged {
        let document = collection.documents.get(&record).filter(|_| !is_gone);
        let again = document.is_some_and(|document| {
            target.is_still_expired(document, collection, visit.lifetime_ms, visit.now)
        });
        if !again {
            because.push(Rule::MongodbVisitAgain);
            kept.push(id);
            continue;
        }
        let document = document.expect("it is there");
        if !target.holds(version, collection, document) {
            because.push(Rule::MongodbVisitFilterRace);
        }
        doomed.push((record, id.clone()));
        deleted.push(id);
    }
    because.extend(replication::delete(state, member, &of.collection, doomed, chosen));
    let there = &mut state.members[member];
    visit.deleted += deleted.len() as u32;

    let more = !visit.is_at_end && targets_are_met(version, &visit, now);
    if more {
        because.push(Rule::MongodbVisitTargets);
    } else if visit.is_at_end && targets_are_met(version, &visit, now) {
        because.push(Rule::MongodbVisitScanEnd);
    }
    let ended = (more || visit.is_at_end).then_some(more);
    running(there).expect("a visit belongs to a pass").visit = Some(visit);
    told(there, now, &of, Did::Commit { deleted, kept }, ended).after(&because)
}

/// Has a visit done as much as it should before it is the turn of others?
fn targets_are_met(version: Version, visit: &Visit, now: Millis) -> bool {
    let parameters = &visit.parameters;
    let met = |target: i32, so_far: i64| target > 0 && so_far >= i64::from(target);
    is_batched(version, parameters)
        && (met(parameters.visit_target_docs, i64::from(visit.chosen))
            || met(parameters.visit_target_ms, now.0.saturating_sub(visit.since.0)))
}

/// What was visited is gone: the visit ends without a word.
fn abandon(there: &mut Member, now: Millis, mut visit: Visit) -> Ruling<Ticked> {
    let of = visit.of.clone();
    let mut because = vec![Rule::MongodbVisitDropped];
    if visit.deleted > 0 {
        because.push(Rule::MongodbVisitUncounted);
    }
    visit.deleted = 0;
    running(there).expect("a visit belongs to a pass").visit = Some(visit);
    told(there, now, &of, Did::Abandon, Some(false)).after(&because)
}

// ---- a whole turn ------------------------------------------------------------------------------

/// The monitor of a member wakes up, and works until it sleeps again.
pub fn wake(state: &mut State, member: usize, now: Millis, cost: Cost) -> Ruling<Woke> {
    let mut clock = Clock { now, us: 0 };
    let mut because = Vec::new();
    let mut woke = Woke { guard: None, visits: Vec::new(), sub_passes: 0, took_ms: 0 };
    let before = state.members[member].monitor.counted.sub_passes;
    loop {
        let (round, is_visiting, staged) = match running(&mut state.members[member]) {
            None => (0, false, 0),
            Some(pass) => {
                let staged = pass.visit.as_ref().map_or(0, |visit| visit.staged.len());
                (pass.round, pass.visit.is_some(), staged)
            }
        };
        clock.spend(cost.delete_us, staged);
        let ticked = work(state, member, clock.read());
        because.extend(ticked.because);
        let Ticked { index, did, more, .. } = ticked.verdict;
        if let Did::Stay(guard) = did {
            woke.guard = Some(guard);
        }
        if let (Some(index), false) = (index, matches!(did, Did::Abandon | Did::Interrupt)) {
            clock.spend(cost.visit_us, usize::from(!is_visiting));
            note(&mut woke, round, index, did, more);
        }
        if running(&mut state.members[member]).is_none() {
            break;
        }
    }
    let there = &mut state.members[member];
    if woke.guard != Some(Guard::NotStarted) {
        monitor::lie_down(there, clock.read());
    }
    woke.sub_passes = (there.monitor.counted.sub_passes - before) as u32;
    woke.took_ms = clock.us / 1_000;
    Ruling::plain(woke).after(&because)
}

/// A clock that goes on by what is spent.
struct Clock {
    now: Millis,
    us: i64,
}

impl Clock {
    fn spend(&mut self, each_us: u32, times: usize) {
        self.us = self.us.saturating_add(i64::from(each_us).saturating_mul(times as i64));
    }

    fn read(&self) -> Millis {
        self.now.plus_millis(self.us / 1_000)
    }
}

/// Adds a step to what is told of a turn.
fn note(woke: &mut Woke, round: u32, index: String, did: Did, more: bool) {
    let is_new = woke.visits.last().is_none_or(|last| last.round != round || last.index != index);
    if is_new {
        woke.visits.push(Visited { round, index, skipped: None, batches: Vec::new(), more });
    }
    let visit = woke.visits.last_mut().expect("it is there now");
    visit.more = more;
    match did {
        Did::Skip(code) => visit.skipped = Some(code),
        Did::Commit { deleted, .. } if !deleted.is_empty() => visit.batches.push(deleted),
        _ => {}
    }
}
