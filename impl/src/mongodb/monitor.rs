//! When may a monitor do a pass, and what does it count?

use std::collections::VecDeque;
use std::sync::Arc;

use ttlspec_model::mongodb::{Counters, Guard, Health, Version};

use super::collection::Batch;
use super::parameters::Parameters;
use super::visit::{Visit, Visitable};

/// The monitor of one member.
#[derive(Clone, Debug, Default)]
pub(super) struct Monitor {
    /// What it is doing.
    pub(super) activity: Activity,
    /// How it is set.
    pub(super) parameters: Parameters,
    /// What it has counted since the process started.
    pub(super) counted: Counted,
    /// What the visit that goes on has chosen, and what became of it. The room is used again.
    pub(super) batch: Batch,
}

/// What a monitor is doing.
#[derive(Clone, Debug, Default)]
pub(super) enum Activity {
    /// Nothing yet: its first sleep begins when it is first looked at.
    #[default]
    Started,
    /// It sleeps.
    Asleep {
        /// Since when.
        since_ms: i64,
        /// `ttlMonitorSleepSecs` as it was then.
        seconds: i32,
    },
    /// It does a pass.
    Passing(Box<Pass>),
}

/// A pass that goes on.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// The clock of all its visits, where they share one.
    pub(super) now_ms: Option<i64>,
    /// The round, counted over all sub-passes.
    pub(super) round: u32,
    /// When the sub-pass began.
    pub(super) sub_pass_since_ms: i64,
    /// What is still to be visited in this round.
    pub(super) left: VecDeque<Arc<Visitable>>,
    /// What is to be visited in the next one.
    pub(super) again: VecDeque<Arc<Visitable>>,
    /// The visit that goes on.
    pub(super) visit: Option<Visit>,
    /// Has somebody killed it?
    pub(super) is_interrupted: bool,
}

/// What a monitor has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// Passes.
    pub(super) passes: u64,
    /// Sub-passes.
    pub(super) sub_passes: u64,
    /// Deleted documents.
    pub(super) deleted: u64,
    /// Visits of indexes that cannot be used.
    pub(super) invalid: u64,
}

impl Counted {
    /// As `serverStatus` of this version shows it.
    pub(super) fn shown(&self, version: Version) -> Counters {
        Counters {
            passes: self.passes,
            sub_passes: version.deletes_in_batches().then_some(self.sub_passes),
            deleted_documents: self.deleted,
            invalid_skips: version.invalid_skips_are_counted().then_some(self.invalid),
        }
    }
}

impl Monitor {
    /// The pass that goes on.
    pub(super) fn pass(&mut self) -> Option<&mut Pass> {
        match &mut self.activity {
            Activity::Passing(pass) => Some(pass),
            Activity::Started | Activity::Asleep { .. } => None,
        }
    }

    /// Kills what it does.
    pub(super) fn interrupt(&mut self) {
        if let Some(pass) = self.pass() {
            pass.is_interrupted = true;
        }
    }

    /// The last instant of its sleep; `None` where it does not sleep.
    pub(super) fn sleeps_until(&mut self, version: Version, now_ms: i64) -> Option<i64> {
        let asked = self.parameters.sleep_secs;
        if matches!(self.activity, Activity::Started) {
            self.lie_down(now_ms);
        }
        let Activity::Asleep { since_ms, seconds } = self.activity else { return None };
        let seconds = if version.sleep_changes_at_once() { asked } else { seconds };
        Some(since_ms.saturating_add(i64::from(seconds) * 1_000))
    }

    /// Lies down to sleep.
    pub(super) fn lie_down(&mut self, now_ms: i64) {
        let seconds = self.parameters.sleep_secs;
        self.activity = Activity::Asleep { since_ms: now_ms, seconds };
    }

    /// Why it does no pass, though it is awake.
    pub(super) fn guard(
        &self,
        version: Version,
        health: Health,
        (is_locked, is_primary): (bool, bool),
    ) -> Option<Guard> {
        if health == Health::Maintenance {
            Some(Guard::NotStarted)
        } else if !self.parameters.enabled {
            Some(Guard::Disabled)
        } else if is_locked {
            Some(Guard::FsyncLocked)
        } else if version.monitor_asks_for_primary() && !is_primary {
            Some(Guard::NotPrimary)
        } else if !version.deletes_in_batches() && health == Health::Recovering {
            Some(Guard::NotReadable)
        } else {
            None
        }
    }

    /// Counts a pass that begins.
    pub(super) fn count_begun(&mut self, version: Version) {
        self.counted.passes += u64::from(version.passes_are_counted_first());
    }

    /// Counts a pass that has ended, and sleeps.
    pub(super) fn end_pass(&mut self, version: Version, now_ms: i64) {
        self.counted.passes += u64::from(!version.passes_are_counted_first());
        self.batch.clear();
        self.lie_down(now_ms);
    }

    /// Counts a sub-pass that has ended, where there are any.
    pub(super) fn end_sub_pass(&mut self, version: Version) {
        self.counted.sub_passes += u64::from(version.deletes_in_batches());
    }
}
