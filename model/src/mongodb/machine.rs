//! The complete state of a deployment, and one step of it.
//!
//! Here it is decided who is told an operation. What it does there is decided by the chapters.

use super::command;
use super::monitor::{self, Monitor};
use super::replication::{self, Log};
use super::upgrade;
use super::version::Version;
use super::visibility::Collection;
use super::visit;
use super::words::{Config, Health, MongoDb, Op, Place, Reply, Via, code};
use crate::engine::{Spec, Step};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// All that the past can still influence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The members, in the order in which they joined. One alone is no replica set.
    pub members: Vec<Member>,
    /// The place of the primary, or of the server that is alone.
    pub primary: Option<usize>,
    /// The term of the last election.
    pub term: u32,
    /// The feature compatibility version, where it is not that of the binaries.
    pub fcv: Option<(u16, u16)>,
    /// Are writes of users blocked?
    pub blocks_user_writes: bool,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// What it runs.
    pub version: Version,
    /// How it fares.
    pub health: Health,
    /// Its collections with their names, in the order in which they were made.
    pub collections: Vec<(String, Collection)>,
    /// Its monitor.
    pub monitor: Monitor,
    /// What it knows of the oplog, from the first entry on that some member does not have.
    pub log: Log,
    /// Is it locked by fsyncLock?
    pub is_locked: bool,
}

impl Member {
    /// A server on which there is nothing.
    pub fn new(version: Version) -> Member {
        Member {
            version,
            health: Health::Up,
            collections: Vec::new(),
            monitor: Monitor::default(),
            log: Log::default(),
            is_locked: false,
        }
    }

    /// The collection with this name.
    pub fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.iter().find(|(there, _)| there == name).map(|(_, collection)| collection)
    }

    /// The collection with this name.
    pub fn collection_mut(&mut self, name: &str) -> Option<&mut Collection> {
        let there = self.collections.iter_mut().find(|(there, _)| there == name);
        there.map(|(_, collection)| collection)
    }
}

impl State {
    /// The collection `test.c` of the primary, or of the first member.
    pub fn collection(&self) -> Option<&Collection> {
        self.members[self.primary.unwrap_or(0)].collection(Place::COLLECTION)
    }

    /// The collection `test.c` of the primary, or of the first member.
    pub fn collection_mut(&mut self) -> Option<&mut Collection> {
        self.members[self.primary.unwrap_or(0)].collection_mut(Place::COLLECTION)
    }

    /// Is this a replica set?
    pub fn is_set(&self) -> bool {
        self.members.len() > 1
    }

    /// Does this member take writes to this collection?
    pub fn is_writable(&self, member: usize, collection: &str) -> bool {
        let is_local = collection.starts_with("local.");
        match self.members[member].health {
            Health::Maintenance => true,
            Health::Up => is_local || self.primary == Some(member),
            Health::Recovering => is_local,
            Health::Down(_) => false,
        }
    }

    /// The feature compatibility version of a member.
    pub fn fcv(&self, member: usize) -> (u16, u16) {
        let version = self.members[member].version;
        self.fcv.unwrap_or((version.major, version.minor))
    }

    /// Keeps a feature compatibility version, unless it is that of all binaries anyway.
    pub fn keep_fcv(&mut self, fcv: (u16, u16)) {
        let is_own = |member: &Member| (member.version.major, member.version.minor) == fcv;
        self.fcv = (!self.members.iter().all(is_own)).then_some(fcv);
    }
}

impl Spec for MongoDb {
    type State = State;

    fn init(config: &Config) -> State {
        State {
            members: vec![Member::new(config.version)],
            primary: Some(0),
            term: 1,
            fcv: None,
            blocks_user_writes: false,
        }
    }

    fn step(_: &Config, state: &State, now: Millis, op: &Op) -> Step<MongoDb> {
        let mut state = state.clone();
        let reply = told(&mut state, now, op, &Place::default());
        replication::forget(&mut state);
        Step { state, reply }
    }

    // A question changes nothing: the state need not be copied for it.
    fn answer(config: &Config, state: &State, now: Millis, op: &Op) -> Ruling<Reply> {
        let (place, asked) = match op {
            Op::At(place, op) => (place.clone(), &**op),
            op => (Place::default(), op),
        };
        let member = place.member.map_or(state.primary.unwrap_or(0), usize::from);
        let is_up = |there: &Member| !matches!(there.health, Health::Down(_));
        match asked {
            op if op.is_read() && state.members.get(member).is_some_and(is_up) => {
                let collection = place.collection.as_deref().unwrap_or(Place::COLLECTION);
                read(state, now, op, (member, collection))
            }
            _ => MongoDb::step(config, state, now, op).reply,
        }
    }
}

/// Finds who is meant.
fn told(state: &mut State, now: Millis, op: &Op, place: &Place) -> Ruling<Reply> {
    if let Op::At(nearer, op) = op {
        let place = Place {
            member: nearer.member.or(place.member),
            collection: nearer.collection.clone().or(place.collection.clone()),
        };
        return told(state, now, op, &place);
    }
    let member = place.member.map_or(state.primary.unwrap_or(0), usize::from);
    let collection = place.collection.as_deref().unwrap_or(Place::COLLECTION);
    let Some(there) = state.members.get(member) else {
        return Ruling::plain(Reply::Error(code::HOST_UNREACHABLE));
    };
    if matches!(there.health, Health::Down(_)) && !matches!(op, Op::Restart { .. }) {
        return Reply::Error(code::HOST_UNREACHABLE).by(Rule::MongodbUpgradeDown);
    }
    at(state, now, op, (member, collection))
}

/// What the member does.
fn at(state: &mut State, now: Millis, op: &Op, place: (usize, &str)) -> Ruling<Reply> {
    let (member, collection) = place;
    match op {
        Op::Tick => visit::tick(state, member, now).map(Reply::Ticked),
        Op::Wake(cost) => visit::wake(state, member, now, *cost).map(Reply::Woke),
        Op::Kill => monitor::kill(&mut state.members[member]),
        Op::SetParameter { name, value } => {
            monitor::set_parameter(&mut state.members[member], name, value)
        }
        Op::FsyncLock(is_locked) => monitor::lock(&mut state.members[member], *is_locked),
        Op::BlockUserWrites(blocks) => monitor::block(state, member, *blocks),
        Op::Counters => monitor::counters(&state.members[member]),
        Op::Join(version) => replication::join(state, *version),
        Op::Apply(most) => replication::apply(state, member, *most),
        Op::StepDown => replication::step_down(state, member),
        Op::StepUp => replication::step_up(state, member),
        Op::Recovering(is_recovering) => replication::recovering(state, member, *is_recovering),
        Op::Oplog => replication::oplog(state),
        Op::Events => replication::events(state, collection),
        Op::Restart { version, maintenance } => {
            upgrade::restart(state, member, *version, *maintenance)
        }
        Op::SetFcv(major, minor) => upgrade::set_fcv(state, member, (*major, *minor)),
        op if op.is_read() => read(state, now, op, place),
        op => match refused(state, op, place) {
            Some(refusal) => refusal,
            None => replication::logged(state, place, op, |there| {
                command::run(there, now, op, collection)
            }),
        },
    }
}

/// A member that can be read answers what it has.
fn read(state: &State, now: Millis, op: &Op, (member, collection): (usize, &str)) -> Ruling<Reply> {
    let there = &state.members[member];
    if there.health == Health::Recovering {
        return Reply::Error(code::NOT_PRIMARY_OR_SECONDARY).by(Rule::MongodbReplicationRecovering);
    }
    let mut asked = Member::new(there.version);
    let named = there.collections.iter().filter(|(name, _)| name == collection);
    asked.collections.extend(named.cloned());
    let reply = command::run(&mut asked, now, op, collection);
    let is_behind = replication::is_behind(state, member) && !collection.starts_with("local.");
    if is_behind { reply.and(Rule::MongodbReplicationStaleRead) } else { reply }
}

/// Why a member does not take a write.
fn refused(state: &State, op: &Op, (member, collection): (usize, &str)) -> Option<Ruling<Reply>> {
    let version = state.members[member].version;
    if !state.is_writable(member, collection) {
        // A pass is no write that somebody asked for: there it finds nothing to do.
        return Some(match op {
            Op::Pass => Reply::Passed { deleted: Vec::new(), skipped: Vec::new() }
                .by(Rule::MongodbReplicationPrimaryOnly),
            _ => Reply::Error(code::NOT_WRITABLE_PRIMARY).by(Rule::MongodbReplicationWriteRefused),
        });
    }
    if state.blocks_user_writes && monitor::is_of_users(collection) && *op != Op::Pass {
        return Some(Reply::Error(code::USER_WRITES_BLOCKED).by(Rule::MongodbMonitorBlocked));
    }
    let created = match op {
        Op::CreateIndex(spec) | Op::StartBuild(spec) => Some(spec),
        Op::Arrive { index, via: Via::Created | Via::Restored, .. } => Some(index),
        _ => None,
    };
    let is_refused =
        created.is_some_and(|spec| upgrade::refuses_nan(version, state.fcv(member), spec));
    is_refused.then(|| Reply::Error(code::CANNOT_CREATE_INDEX).by(Rule::MongodbUpgradeFcvNan))
}
