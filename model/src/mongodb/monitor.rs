#![doc = include_str!("../../../specs/mongodb/9-monitor.md")]
//! ---
//! *Module:* when does a monitor do a pass, and what does it count?

use super::machine::{Member, State};
use super::number::{is_number, is_true, safe_int};
use super::version::Version;
use super::visit::Pass;
use super::words::{Counters, Guard, Health, Reply, Value, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// The monitor of one member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Monitor {
    /// What it is doing.
    pub activity: Activity,
    /// How it is set.
    pub parameters: Parameters,
    /// What it has counted since the process started.
    pub counted: Counted,
}

/// What a monitor is doing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Activity {
    /// It has just been started, and begins its first sleep when it is first looked at.
    #[default]
    Started,
    /// It sleeps since this instant.
    Asleep {
        /// When it lay down.
        since: Millis,
        /// `ttlMonitorSleepSecs`, as it was then.
        seconds: i32,
    },
    /// It does a pass.
    Passing(Box<Pass>),
}

/// The parameters of the server that concern the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// `ttlMonitorEnabled`.
    pub enabled: bool,
    /// `ttlMonitorSleepSecs`.
    pub sleep_secs: i32,
    /// `ttlMonitorBatchDeletes`.
    pub batch_deletes: bool,
    /// `ttlMonitorSubPassTargetSecs`: a round that ends so late ends the sub-pass.
    pub sub_pass_target_secs: i32,
    /// `ttlIndexDeleteTargetTimeMS`, for one visit; 0 is none.
    pub visit_target_ms: i32,
    /// `ttlIndexDeleteTargetDocs`, for one visit; 0 is none.
    pub visit_target_docs: i32,
    /// `batchedDeletesTargetBatchDocs`; 0 is none.
    pub batch_docs: i32,
    /// `batchedDeletesTargetStagedDocBytes`; 0 is none.
    pub batch_bytes: i32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            enabled: true,
            sleep_secs: 60,
            batch_deletes: true,
            sub_pass_target_secs: 60,
            visit_target_ms: 1_000,
            visit_target_docs: 50_000,
            batch_docs: 10,
            batch_bytes: 2 * 1024 * 1024,
        }
    }
}

/// What a monitor has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Counted {
    /// Passes.
    pub passes: u64,
    /// Sub-passes.
    pub sub_passes: u64,
    /// Deleted documents.
    pub deleted: u64,
    /// Visits of indexes that cannot be used.
    pub invalid: u64,
}

// ---- the sleep ---------------------------------------------------------------------------------

/// Until when does the monitor sleep? `None` where it does not.
pub fn sleep(member: &mut Member, now: Millis) -> Option<Ruling<Millis>> {
    let seconds = member.monitor.parameters.sleep_secs;
    let activity = &mut member.monitor.activity;
    if *activity == Activity::Started {
        *activity = Activity::Asleep { since: now, seconds };
    }
    let Activity::Asleep { since, seconds: at_first } = *activity else { return None };
    let until = |seconds: i32| since.plus_millis(i64::from(seconds) * 1_000);
    let changed = (seconds != at_first).then_some(Rule::MongodbMonitorSleepChanged);
    let seconds = if member.version.sleep_changes_at_once() { seconds } else { at_first };
    let changed: Vec<Rule> = changed.into_iter().collect();
    Some(until(seconds).by(Rule::MongodbMonitorSleep).after(&changed))
}

/// Lies down to sleep.
pub fn lie_down(member: &mut Member, now: Millis) {
    let seconds = member.monitor.parameters.sleep_secs;
    member.monitor.activity = Activity::Asleep { since: now, seconds };
}

// ---- the guards --------------------------------------------------------------------------------

/// Why a monitor that has woken up does no pass, if so.
pub fn guard(state: &State, member: usize) -> Option<Ruling<Guard>> {
    let there = &state.members[member];
    let is_primary = state.primary == Some(member);
    if there.health == Health::Maintenance {
        Some(Guard::NotStarted.by(Rule::MongodbMonitorMaintenance))
    } else if !there.monitor.parameters.enabled {
        Some(Guard::Disabled.by(Rule::MongodbMonitorDisabled))
    } else if there.is_locked {
        Some(Guard::FsyncLocked.by(Rule::MongodbMonitorFsync))
    } else if there.version.monitor_asks_for_primary() && !is_primary {
        Some(Guard::NotPrimary.by(Rule::MongodbMonitorNotPrimary))
    } else if !there.version.deletes_in_batches() && there.health == Health::Recovering {
        Some(Guard::NotReadable.by(Rule::MongodbMonitorNotReadable))
    } else {
        None
    }
}

/// Whose collection is it: that of a user, or one of the server's own databases?
pub fn is_of_users(collection: &str) -> bool {
    let database = collection.split('.').next().unwrap_or_default();
    !matches!(database, "admin" | "config" | "local")
}

/// Is it the temporary collection of a resharding?
pub fn is_of_resharding(collection: &str) -> bool {
    let name = collection.split_once('.').map_or("", |(_, name)| name);
    name.starts_with("system.resharding.")
}

// ---- the switches ------------------------------------------------------------------------------

/// Sets a parameter.
pub fn set_parameter(member: &mut Member, name: &str, value: &Value) -> Ruling<Reply> {
    let version = member.version;
    let parameters = &mut member.monitor.parameters;
    let flag = is_true(value);
    let number = is_number(value).then(|| safe_int(value));
    let refuse = |code: i32| Reply::Error(code).by(Rule::MongodbMonitorParameter);
    let set = |parameter: &mut i32, least: i32| match number {
        Some(number) if number >= least => {
            *parameter = number;
            Reply::Ok.by(Rule::MongodbMonitorParameter)
        }
        _ => refuse(code::BAD_VALUE),
    };
    match name {
        "ttlMonitorEnabled" => parameters.enabled = flag,
        "ttlMonitorSleepSecs" => return set(&mut parameters.sleep_secs, 1),
        _ if !version.deletes_in_batches() => return refuse(code::INVALID_OPTIONS),
        "ttlMonitorBatchDeletes" => parameters.batch_deletes = flag,
        "ttlMonitorSubPassTargetSecs" => return set(&mut parameters.sub_pass_target_secs, 0),
        "ttlIndexDeleteTargetTimeMS" => return set(&mut parameters.visit_target_ms, 0),
        "ttlIndexDeleteTargetDocs" => return set(&mut parameters.visit_target_docs, 0),
        "batchedDeletesTargetBatchDocs" => return set(&mut parameters.batch_docs, 0),
        "batchedDeletesTargetStagedDocBytes" => return set(&mut parameters.batch_bytes, 0),
        _ => return refuse(code::INVALID_OPTIONS),
    }
    Reply::Ok.by(Rule::MongodbMonitorParameter)
}

/// Locks or unlocks a server.
pub fn lock(member: &mut Member, is_locked: bool) -> Ruling<Reply> {
    member.is_locked = is_locked;
    Ruling::plain(Reply::Ok)
}

/// Blocks writes of users, or lets them through again.
pub fn block(state: &mut State, member: usize, blocks: bool) -> Ruling<Reply> {
    if !state.members[member].version.user_writes_can_be_blocked() {
        return Reply::Error(code::COMMAND_NOT_FOUND).by(Rule::MongodbMonitorBlocked);
    }
    if !state.is_writable(member, "admin.system") {
        return Reply::Error(code::NOT_WRITABLE_PRIMARY).by(Rule::MongodbReplicationWriteRefused);
    }
    state.blocks_user_writes = blocks;
    Ruling::plain(Reply::Ok)
}

/// Kills what the monitor is doing.
pub fn kill(member: &mut Member) -> Ruling<Reply> {
    match &mut member.monitor.activity {
        Activity::Passing(pass) => {
            pass.is_interrupted = true;
            Reply::Ok.by(Rule::MongodbVisitInterrupted)
        }
        Activity::Started | Activity::Asleep { .. } => Ruling::plain(Reply::Ok),
    }
}

// ---- the counters ------------------------------------------------------------------------------

/// What a member has counted, as far as its version shows it.
pub fn counters(member: &Member) -> Ruling<Reply> {
    let (version, counted) = (member.version, member.monitor.counted);
    let counters = Counters {
        passes: counted.passes,
        sub_passes: version.deletes_in_batches().then_some(counted.sub_passes),
        deleted_documents: counted.deleted,
        invalid_skips: version.invalid_skips_are_counted().then_some(counted.invalid),
    };
    Reply::Counters(counters).by(Rule::MongodbMonitorCounters)
}

/// Counts a pass, when it begins (`true`) or when it ends.
pub fn count_pass(version: Version, counted: &mut Counted, begins: bool) -> Option<Rule> {
    let is_counted = version.passes_are_counted_first() == begins;
    counted.passes += u64::from(is_counted);
    is_counted.then_some(if begins {
        Rule::MongodbMonitorPassesFirst
    } else {
        Rule::MongodbMonitorPassesLast
    })
}
