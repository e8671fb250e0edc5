#![doc = include_str!("../../../specs/mongodb/12-upgrade.md")]
//! ---
//! *Module:* what happens to a server that is restarted, upgraded or downgraded?

use bson::Document;

use super::bucket;
use super::index::SECONDS;
use super::machine::{Member, State};
use super::monitor::Monitor;
use super::number::is_nan;
use super::version::Version;
use super::words::{Health, Reply, code};
use crate::ruling::{By, Rule, Ruling};

/// Before this feature compatibility version NaN is not allowed by the servers that look.
const FIRST_WITH_NAN: (u16, u16) = (5, 0);

/// Ends the process of a member and starts it again, with these binaries and its files.
pub fn restart(
    state: &mut State,
    member: usize,
    version: Version,
    maintenance: bool,
) -> Ruling<Reply> {
    let fcv = state.fcv(member);
    if state.is_set() && state.primary == Some(member) {
        state.primary = None;
    }
    let is_set = state.is_set();
    let there = &mut state.members[member];
    there.version = version;
    there.monitor = Monitor::default();
    there.is_locked = false;
    let collections = there.collections.iter_mut();
    let looked =
        collections.fold(None, |looked, (_, collection)| bucket::look_again(collection).or(looked));
    let is_alone = if is_set { maintenance } else { says_it_is_a_member(there) };
    there.health = if is_alone { Health::Maintenance } else { Health::Up };
    state.keep_fcv(fcv);
    let there = &mut state.members[member];
    if version.nan_from_before_is_fatal() && fcv < FIRST_WITH_NAN && has_nan(there) {
        there.health = Health::Down(code::FATAL_AT_STARTUP);
        return Reply::Fatal(code::FATAL_AT_STARTUP).by(Rule::MongodbUpgradeStartup);
    }
    let mut restarted = Reply::Ok.by(Rule::MongodbUpgradeRestart);
    restarted.because.extend(looked);
    restarted
}

/// Do the files of a server that is alone say that it is a member of a set?
fn says_it_is_a_member(there: &Member) -> bool {
    let configuration = there.collection("local.system.replset");
    configuration.is_some_and(|configuration| !configuration.documents.is_empty())
}

/// Has any of its TTL indexes NaN for seconds?
fn has_nan(there: &Member) -> bool {
    let mut indexes = there.collections.iter().flat_map(|(_, collection)| &collection.indexes);
    indexes.any(|index| index.seconds().is_some_and(is_nan))
}

/// Is an index with NaN refused for the sake of members of before 5.0?
pub fn refuses_nan(version: Version, fcv: (u16, u16), spec: &Document) -> bool {
    version.nan_from_before_is_fatal()
        && fcv < FIRST_WITH_NAN
        && spec.get(SECONDS).is_some_and(is_nan)
}

/// Sets the feature compatibility version of all members.
pub fn set_fcv(state: &mut State, member: usize, to: (u16, u16)) -> Ruling<Reply> {
    if !state.is_writable(member, "admin.system.version") {
        return Reply::Error(code::NOT_WRITABLE_PRIMARY).by(Rule::MongodbReplicationWriteRefused);
    }
    let there = &state.members[member];
    if !there.version.compatible_with().contains(&to) {
        return Reply::Error(code::BAD_VALUE).by(Rule::MongodbUpgradeFcv);
    }
    let refuses = there.version.nan_from_before_is_fatal() && to < FIRST_WITH_NAN;
    if refuses && has_nan(there) {
        return Reply::Error(code::CANNOT_DOWNGRADE).by(Rule::MongodbUpgradeFcvDowngrade);
    }
    state.keep_fcv(to);
    Reply::Ok.by(Rule::MongodbUpgradeFcv)
}
