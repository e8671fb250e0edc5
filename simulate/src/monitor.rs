//! What does a monitor do next, and when?
//!
//! The steps are those of the specification, in the same order and at the same instants: see the
//! chapters on the monitor and on the visit. What a step finds comes from a `Store`, what it
//! costs from the script, and what the server holds from the [`catalog`](crate::catalog).

use std::collections::VecDeque;

use ttlspec_model::mongodb::{Cost, Counters, Version};

use crate::ages::Ages;
use crate::catalog::{Held, Visit as Comes, Visitable};
use crate::outcome::Pass as Passed;
use crate::store::{Pace, Store};

/// The monitor of one member.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    activity: Activity,
    counted: Counted,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    passes: u64,
    sub_passes: u64,
    deleted: u64,
    invalid: u64,
}

#[derive(Clone, Debug)]
enum Activity {
    Asleep { since_ms: i64, seconds: i32 },
    Passing(Box<Pass>),
}

#[derive(Clone, Debug)]
struct Pass {
    /// When it began, and how much work it has done since.
    base_ms: i64,
    us: u64,
    /// The clock of the pass, where it has one.
    clock_ms: Option<i64>,
    sub_pass_since_ms: i64,
    left: VecDeque<(usize, usize)>,
    again: Vec<(usize, usize)>,
    visit: Option<Visit>,
    is_interrupted: bool,
    sub_passes: u64,
    visits: u64,
    deleted: u64,
    /// Does its member take writes?
    is_primary: bool,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    of: (usize, usize),
    lifetime_ms: i64,
    set: Set,
    since_ms: i64,
    staged: u64,
    is_at_end: bool,
    is_killed: bool,
    chosen: u64,
    deleted: u64,
}

/// How a visit is set from its beginning to its end.
#[derive(Clone, Copy, Debug)]
struct Set {
    is_batched: bool,
    /// How many documents make a batch full.
    batch: u64,
    target_docs: i32,
    target_ms: i32,
}

impl Set {
    fn of(held: &Held, document_bytes: Option<u32>) -> Set {
        let parameters = &held.parameters;
        let is_batched = held.version.deletes_in_batches() && parameters.batch_deletes;
        let limit = |limit: i32| u64::try_from(limit).ok().filter(|limit| *limit > 0);
        let by_bytes = limit(parameters.batch_bytes).zip(document_bytes);
        let by_bytes = by_bytes.map(|(bytes, each)| bytes.div_ceil(u64::from(each)));
        let least = limit(parameters.batch_docs).into_iter().chain(by_bytes).min();
        Set {
            is_batched,
            batch: if is_batched { least.unwrap_or(u64::MAX) } else { 1 },
            target_docs: parameters.visit_target_docs,
            target_ms: parameters.visit_target_ms,
        }
    }
}

/// What is around a monitor while it works.
pub(crate) struct Around<'a> {
    pub held: &'a Held,
    pub cost: Cost,
    /// How much the clock of the member is ahead.
    pub ahead_ms: i64,
    pub is_primary: bool,
    /// The size of the documents of each collection, as far as it is known.
    pub document_bytes: &'a [Option<u32>],
    pub stores: &'a mut [Box<dyn Store>],
    pub book: &'a mut dyn Book,
}

/// Where it is written down what a monitor does.
pub(crate) trait Book {
    /// The ages of what an index deletes.
    fn ages(&mut self, of: (usize, usize)) -> &mut Ages;
    /// Batches were deleted, of so many documents each.
    fn deleted(&mut self, of: (usize, usize), batches: u64, batch: u64);
    /// A visit is over.
    fn visit_ends(&mut self, now_ms: i64);
    /// A pass of a primary begins.
    fn pass_begins(&mut self, now_ms: i64, stores: &mut [Box<dyn Store>]);
    /// A pass of a primary is over.
    fn pass_ends(&mut self, pass: Passed, stores: &mut [Box<dyn Store>]);
}

impl Monitor {
    /// A monitor that has just been started, and sleeps first.
    pub(crate) fn started(now_ms: i64, held: &Held) -> Monitor {
        let seconds = held.parameters.sleep_secs;
        let activity = Activity::Asleep { since_ms: now_ms, seconds };
        Monitor { activity, counted: Counted::default() }
    }

    /// Somebody interrupts what it does. What was chosen stays; the pass ends with its next step.
    pub(crate) fn interrupt(&mut self, stores: &mut [Box<dyn Store>]) {
        if let Activity::Passing(pass) = &mut self.activity {
            pass.is_interrupted = true;
            if let Some(visit) = pass.visit {
                // Another member may be visiting the same collection before this one has noticed.
                stores[visit.of.0].unstage();
            }
        }
    }

    /// Its server holds other things now: a visit of what is gone does not go on.
    pub(crate) fn notice(&mut self, held: &Held) {
        if let Activity::Passing(pass) = &mut self.activity
            && let Some(visit) = &mut pass.visit
        {
            visit.is_killed |= found(held, visit.of).is_none();
        }
    }

    /// How far the pass has come that goes on, if its member was primary when it began.
    pub(crate) fn going_on(&self, member: usize, now_ms: i64) -> Option<Passed> {
        match &self.activity {
            Activity::Passing(pass) if pass.is_primary => Some(pass.passed(member, now_ms)),
            Activity::Passing(_) | Activity::Asleep { .. } => None,
        }
    }

    /// What it has counted, as far as its version shows it.
    pub(crate) fn counters(&self, version: Version) -> Counters {
        let counted = &self.counted;
        Counters {
            passes: counted.passes,
            sub_passes: version.deletes_in_batches().then_some(counted.sub_passes),
            deleted_documents: counted.deleted,
            invalid_skips: version.invalid_skips_are_counted().then_some(counted.invalid),
        }
    }

    /// Does all that is to be done from `from_ms` to before `to_ms`, in no more than `most` steps.
    /// How many were it?
    pub(crate) fn go_on(
        &mut self,
        member: usize,
        (from_ms, to_ms): (i64, i64),
        most: u64,
        around: &mut Around<'_>,
    ) -> u64 {
        let mut steps = 0;
        loop {
            let now_ms = self.next_ms(around).max(from_ms);
            if now_ms >= to_ms || steps >= most {
                return steps;
            }
            steps += 1;
            self.step(member, now_ms, around);
            self.stride(to_ms, around);
        }
    }

    /// When is its next step?
    fn next_ms(&self, around: &Around<'_>) -> i64 {
        match &self.activity {
            Activity::Asleep { since_ms, seconds } => {
                let is_changed = around.held.version.sleep_changes_at_once();
                let seconds = if is_changed { around.held.parameters.sleep_secs } else { *seconds };
                since_ms + i64::from(seconds) * 1_000 + 1
            }
            Activity::Passing(pass) => {
                let staged = pass.visit.map_or(0, |visit| visit.staged);
                pass.at_ms(staged.saturating_mul(u64::from(around.cost.delete_us)))
            }
        }
    }

    fn step(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let Activity::Passing(pass) = &mut self.activity else {
            return self.wake_up(member, now_ms, around);
        };
        let staged = pass.visit.map_or(0, |visit| visit.staged);
        pass.us += staged * u64::from(around.cost.delete_us);
        if pass.is_interrupted {
            return self.interrupted(member, around);
        }
        match pass.visit {
            None => self.begin_visit(member, now_ms, around),
            Some(visit) if visit.staged == 0 => self.stage(member, now_ms, around),
            Some(_) => self.commit(member, now_ms, around),
        }
    }

    fn wake_up(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let held = around.held;
        if held.guard.is_some() {
            self.lie_down(now_ms, held);
            return;
        }
        if around.is_primary {
            around.book.pass_begins(now_ms, around.stores);
        }
        self.counted.passes += u64::from(held.version.passes_are_counted_first());
        let is_clocked = held.version.clock_is_read_once_a_pass();
        self.activity = Activity::Passing(Box::new(Pass {
            base_ms: now_ms,
            us: 0,
            clock_ms: is_clocked.then_some(now_ms + around.ahead_ms),
            sub_pass_since_ms: now_ms,
            left: VecDeque::new(),
            again: Vec::new(),
            visit: None,
            is_interrupted: false,
            sub_passes: 0,
            visits: 0,
            deleted: 0,
            is_primary: around.is_primary,
        }));
        self.begin_sub_pass(now_ms, held);
        if self.pass().left.is_empty() {
            self.end_round(member, now_ms, around);
        }
    }

    fn pass(&mut self) -> &mut Pass {
        match &mut self.activity {
            Activity::Passing(pass) => pass,
            Activity::Asleep { .. } => unreachable!("only a pass does this"),
        }
    }

    fn lie_down(&mut self, now_ms: i64, held: &Held) {
        let seconds = held.parameters.sleep_secs;
        self.activity = Activity::Asleep { since_ms: now_ms, seconds };
    }

    fn begin_sub_pass(&mut self, now_ms: i64, held: &Held) {
        let pass = self.pass();
        let of = |there: &Visitable| (there.collection, there.index);
        pass.left = held.visitables.iter().map(of).collect();
        pass.again.clear();
        pass.sub_pass_since_ms = now_ms;
        pass.sub_passes += u64::from(held.version.deletes_in_batches());
    }

    fn end_sub_pass(&mut self, held: &Held) {
        self.counted.sub_passes += u64::from(held.version.deletes_in_batches());
    }

    fn end_visit(&mut self, member: usize, now_ms: i64, more: bool, around: &mut Around<'_>) {
        let pass = self.pass();
        if let Some(visit) = pass.visit.take() {
            if more {
                pass.again.push(visit.of);
            }
            self.counted.deleted += visit.deleted;
            around.book.visit_ends(now_ms);
        }
        if self.pass().left.is_empty() {
            self.end_round(member, now_ms, around);
        }
    }

    fn end_round(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let pass = self.pass();
        if pass.again.is_empty() {
            return self.end_pass(member, false, around);
        }
        let elapsed_ms = (now_ms - pass.sub_pass_since_ms).max(0);
        let target_secs = around.held.parameters.sub_pass_target_secs;
        if elapsed_ms / 1_000 < i64::from(target_secs) {
            pass.left = std::mem::take(&mut pass.again).into();
            return;
        }
        self.end_sub_pass(around.held);
        self.begin_sub_pass(now_ms, around.held);
    }

    /// The pass is over when the work of its last step is done.
    fn end_pass(&mut self, member: usize, is_interrupted: bool, around: &mut Around<'_>) {
        self.end_sub_pass(around.held);
        self.counted.passes += u64::from(!around.held.version.passes_are_counted_first());
        let pass = self.pass();
        let now_ms = pass.at_ms(0);
        if pass.is_primary {
            let passed = Passed { is_interrupted, ..pass.passed(member, now_ms) };
            around.book.pass_ends(passed, around.stores);
        }
        self.lie_down(now_ms, around.held);
    }

    /// A pass that was interrupted ends. What its visit has deleted is not counted.
    fn interrupted(&mut self, member: usize, around: &mut Around<'_>) {
        self.end_pass(member, true, around);
    }

    // ---- a visit -------------------------------------------------------------------------------

    fn begin_visit(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let pass = self.pass();
        let Some(of) = pass.left.pop_front() else {
            // A sub-pass began, and no index is there any more.
            return self.end_round(member, now_ms, around);
        };
        let clock_ms = pass.clock_ms.unwrap_or(now_ms + around.ahead_ms);
        let visit_us = u64::from(around.cost.visit_us);
        let set = Set::of(around.held, around.document_bytes[of.0]);
        let lifetime_ms = match found(around.held, of).map(|there| there.visit) {
            None | Some(Comes::Silent) => return self.end_visit(member, now_ms, false, around),
            Some(Comes::Skip(_)) => {
                pass.visits += 1;
                pass.us += visit_us;
                self.counted.invalid += 1;
                return self.end_visit(member, now_ms, false, around);
            }
            Some(Comes::Lifetime(lifetime_ms)) => lifetime_ms,
        };
        pass.visits += 1;
        pass.us += visit_us;
        pass.visit = Some(Visit {
            of,
            lifetime_ms,
            set,
            since_ms: now_ms,
            staged: 0,
            is_at_end: false,
            is_killed: false,
            chosen: 0,
            deleted: 0,
        });
        around.stores[of.0].begin(of.1, clock_ms.saturating_sub(lifetime_ms));
        self.stage(member, now_ms, around);
    }

    fn stage(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let visit = self.pass().visit.as_mut().expect("a visit goes on");
        if visit.is_killed {
            return self.abandon(member, now_ms, around);
        }
        let most = visit.set.batch;
        visit.staged = around.stores[visit.of.0].stage(most, now_ms);
        visit.chosen += visit.staged;
        visit.is_at_end = visit.staged < most;
        if visit.staged == 0 {
            self.end_visit(member, now_ms, false, around);
        }
    }

    fn commit(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let pass = self.pass();
        let visit = pass.visit.as_mut().expect("a visit goes on");
        if visit.is_killed {
            return self.abandon(member, now_ms, around);
        }
        let of = visit.of;
        around.stores[of.0].commit(visit.lifetime_ms, now_ms, around.book.ages(of));
        let staged = std::mem::take(&mut visit.staged);
        around.book.deleted(of, 1, staged);
        visit.deleted += staged;
        pass.deleted += staged;
        let more = !visit.is_at_end && visit.targets_are_met(now_ms);
        if more || visit.is_at_end {
            self.end_visit(member, now_ms, more, around);
        }
    }

    /// What was visited is gone. What was chosen stays; what was deleted is not counted.
    fn abandon(&mut self, member: usize, now_ms: i64, around: &mut Around<'_>) {
        let visit = self.pass().visit.as_mut().expect("a visit goes on");
        visit.deleted = 0;
        around.stores[visit.of.0].unstage();
        self.end_visit(member, now_ms, false, around);
    }

    /// Takes many steps at once: full batches after which the visit goes on.
    fn stride(&mut self, to_ms: i64, around: &mut Around<'_>) {
        let Activity::Passing(pass) = &mut self.activity else { return };
        let now_ms = pass.at_ms(0);
        let Some(visit) = &mut pass.visit else { return };
        if visit.staged > 0 || pass.is_interrupted || visit.is_killed {
            return;
        }
        let Set { is_batched, batch, target_docs, target_ms } = visit.set;
        let Some(batch_us) = batch.checked_mul(u64::from(around.cost.delete_us)) else { return };
        let mut pace =
            Pace { batch, batches: u64::MAX / batch, base_ms: pass.base_ms, us: pass.us, batch_us };
        // All but the batches that are deleted at `end_ms` or later.
        let before = |pace: &mut Pace, end_ms: i64| {
            let end_us = end_ms.saturating_sub(pace.base_ms).max(0) as u64 * 1_000;
            let room_us = end_us.saturating_sub(1).checked_sub(pace.us);
            let many = match room_us {
                None => 0,
                Some(room_us) => room_us.checked_div(batch_us).unwrap_or(u64::MAX),
            };
            pace.batches = pace.batches.min(many);
        };
        before(&mut pace, to_ms);
        if is_batched && target_docs > 0 {
            let many = (target_docs as u64 - 1).saturating_sub(visit.chosen) / batch;
            pace.batches = pace.batches.min(many);
        }
        if is_batched && target_ms > 0 {
            before(&mut pace, visit.since_ms + i64::from(target_ms));
        }
        if pace.batches == 0 {
            return;
        }
        let (of, lifetime_ms) = (visit.of, visit.lifetime_ms);
        let batches = around.stores[of.0].stride(lifetime_ms, now_ms, pace, around.book.ages(of));
        if batches > 0 {
            let documents = batches * batch;
            visit.chosen += documents;
            visit.deleted += documents;
            pass.deleted += documents;
            pass.us += batches * batch_us;
            around.book.deleted(of, batches, batch);
        }
    }
}

impl Pass {
    fn at_ms(&self, later_us: u64) -> i64 {
        self.base_ms + (self.us.saturating_add(later_us) / 1_000) as i64
    }

    fn passed(&self, member: usize, now_ms: i64) -> Passed {
        Passed {
            member,
            began_ms: self.base_ms,
            ended_ms: now_ms,
            sub_passes: self.sub_passes,
            visits: self.visits,
            deleted: self.deleted,
            is_interrupted: false,
        }
    }
}

fn found(held: &Held, of: (usize, usize)) -> Option<&Visitable> {
    held.visitables.iter().find(|there| (there.collection, there.index) == of)
}

impl Visit {
    /// Has it done as much as it should before it is the turn of others?
    fn targets_are_met(&self, now_ms: i64) -> bool {
        let met = |target: i32, so_far: i64| target > 0 && so_far >= i64::from(target);
        self.set.is_batched
            && (met(self.set.target_docs, self.chosen as i64)
                || met(self.set.target_ms, now_ms - self.since_ms))
    }
}
