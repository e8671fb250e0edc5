//! Which servers are there, what are they to each other, and who is told what?

use std::sync::Arc;

use ttlspec_model::mongodb::version::Repair;
use ttlspec_model::mongodb::{Health, Reply, Version, code};

use super::bytes::{Kept, Value, kind};
use super::change::is_valid;
use super::collection::is_nan;
use super::creation::repaired;
use super::journal::Undo;
use super::member::{Keep, Member};
use super::monitor::Monitor;
use super::number::Number;
use super::oplog::{self, Change, Entry, is_local};
use super::ttl_index::Changeable;
use super::visit::Role;

/// The servers: one alone, or a replica set.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    /// The members, in the order in which they joined.
    pub(super) members: Vec<Member>,
    /// The place of the primary, or of the server that is alone.
    pub(super) primary: Option<usize>,
    term: u32,
    /// The feature compatibility version, where it is not that of all binaries.
    fcv: Option<Fcv>,
    blocks_user_writes: bool,
}

type Fcv = (u16, u16);

/// Before this feature compatibility version NaN is not allowed by the servers that look.
const FIRST_WITH_NAN: Fcv = (5, 0);

impl Deployment {
    /// One server on which there is nothing.
    pub(super) fn new(version: Version) -> Deployment {
        Deployment {
            members: vec![Member::new(version)],
            primary: Some(0),
            term: 1,
            fcv: None,
            blocks_user_writes: false,
        }
    }

    fn is_set(&self) -> bool {
        self.members.len() > 1
    }

    /// What a member is.
    pub(super) fn role(&self, member: usize) -> Role {
        Role {
            is_primary: self.primary == Some(member),
            is_set: self.is_set(),
            term: self.term,
            blocks_user_writes: self.blocks_user_writes,
        }
    }

    fn fcv(&self, member: usize) -> Fcv {
        let version = self.members[member].version;
        self.fcv.unwrap_or((version.major, version.minor))
    }

    fn keep_fcv(&mut self, fcv: Fcv) {
        let is_own = |member: &Member| (member.version.major, member.version.minor) == fcv;
        self.fcv = (!self.members.iter().all(is_own)).then_some(fcv);
    }

    /// Does this member refuse an index with NaN, for the sake of members of before 5.0?
    pub(super) fn refuses_nan(&self, member: usize) -> bool {
        refuses_nan(self.members[member].version, self.fcv(member))
    }

    /// `setUserWriteBlockMode`.
    pub(super) fn block_user_writes(&mut self, member: usize, blocks: bool) -> Reply {
        let there = &self.members[member];
        if !there.version.user_writes_can_be_blocked() {
            return Reply::Error(code::COMMAND_NOT_FOUND);
        }
        if !self.role(member).is_writable(there, "admin.system") {
            return Reply::Error(code::NOT_WRITABLE_PRIMARY);
        }
        self.blocks_user_writes = blocks;
        Reply::Ok
    }

    // ---- the oplog -----------------------------------------------------------------------------

    /// The entries of the primary that not all members have.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.primary.into_iter().flat_map(|primary| self.members[primary].log.entries())
    }

    /// All members forget the entries that all of them have.
    pub(super) fn forget(&mut self) {
        let Some((first, others)) = self.members.split_first() else { return };
        let shared = first.log.common_to_all(others.iter().map(|other| &other.log));
        if shared > 0 {
            self.members.iter_mut().for_each(|member| member.log.forget(shared));
        }
    }

    /// A member takes over up to `most` entries of the primary.
    pub(super) fn apply(&mut self, member: usize, most: u32) -> Reply {
        let follows = matches!(self.members[member].health, Health::Up | Health::Recovering);
        let source = self.primary.filter(|primary| *primary != member && follows);
        let Some(source) = source else {
            return Reply::Applied { entries: 0, rolled_back: 0 };
        };
        let log = &self.members[source].log;
        let shared = log.common(&self.members[member].log);
        let entries: Vec<Arc<Entry>> =
            log.entries().skip(shared).take(most as usize).cloned().collect();
        let refuses_nan = refuses_nan(self.members[member].version, self.fcv(source));
        oplog::apply(&mut self.members[member], &entries, shared, refuses_nan)
    }

    // ---- roles ---------------------------------------------------------------------------------

    /// A new member joins by initial sync.
    pub(super) fn join(&mut self, version: Version) -> Reply {
        let Some(source) = self.primary else {
            return Reply::Error(code::NOT_WRITABLE_PRIMARY);
        };
        let fcv = self.fcv(source);
        let from = &self.members[source];
        let mut member = Member::new(version);
        for (name, collection) in from.collections.iter().filter(|(name, _)| !is_local(name)) {
            match collection.synced(version, from.version) {
                Ok(copy) => member.collections.push((name.clone(), copy)),
                Err(end) => return end,
            }
        }
        member.log = from.log.told(&from.collections);
        self.members.push(member);
        self.keep_fcv(fcv);
        Reply::Ok
    }

    /// The primary steps down.
    pub(super) fn step_down(&mut self, member: usize) -> Reply {
        if self.primary != Some(member) || !self.is_set() {
            return Reply::Error(code::NOT_WRITABLE_PRIMARY);
        }
        self.primary = None;
        self.members[member].monitor.interrupt();
        Reply::Ok
    }

    /// A member is elected, and repairs what it finds in its catalog.
    pub(super) fn step_up(&mut self, member: usize) -> Reply {
        if !self.is_set() || self.members[member].health != Health::Up {
            return Reply::Error(code::NOT_SECONDARY);
        }
        if self.primary == Some(member) {
            return Reply::Ok;
        }
        if let Some(old) = self.primary {
            self.members[old].monitor.interrupt();
        }
        self.primary = Some(member);
        self.term += 1;
        let role = self.role(member);
        let there = &mut self.members[member];
        for at in 0..there.collections.len() {
            let keep = role.keep(there, &there.collections[at].0);
            repair(there, at, |log, name, index, undo, to| {
                log.note(keep, name, [undo], || Change::Modify(index.into(), to));
            });
        }
        Reply::Ok
    }

    /// A secondary cannot be read for a while, or can again.
    pub(super) fn recovering(&mut self, member: usize, is_recovering: bool) -> Reply {
        let is_primary = self.primary == Some(member);
        let there = &mut self.members[member];
        let (from, to) = match is_recovering {
            true => (Health::Up, Health::Recovering),
            false => (Health::Recovering, Health::Up),
        };
        if is_primary || there.health != from {
            return Reply::Error(code::NOT_SECONDARY);
        }
        there.health = to;
        Reply::Ok
    }

    // ---- life cycle ----------------------------------------------------------------------------

    /// The process ends and starts again, with these binaries and the files that are there.
    pub(super) fn restart(&mut self, member: usize, version: Version, maintenance: bool) -> Reply {
        let fcv = self.fcv(member);
        let is_set = self.is_set();
        if is_set && self.primary == Some(member) {
            self.primary = None;
        }
        let there = &mut self.members[member];
        there.version = version;
        there.monitor = Monitor::default();
        there.is_locked = false;
        for (name, collection) in &mut there.collections {
            let was_extended = collection.is_extended();
            collection.restart(version);
            if collection.is_extended() != was_extended && !is_local(name) && !there.log.is_empty()
            {
                there.log.undoable(Keep::Undo, name, Undo::Extended(was_extended));
            }
        }
        let is_alone = if is_set { maintenance } else { says_it_is_a_member(there) };
        there.health = if is_alone { Health::Maintenance } else { Health::Up };
        let ends = refuses_nan(version, fcv) && has_nan(there);
        if ends {
            there.health = Health::Down(code::FATAL_AT_STARTUP);
        }
        self.keep_fcv(fcv);
        if ends { Reply::Fatal(code::FATAL_AT_STARTUP) } else { Reply::Ok }
    }

    /// `setFeatureCompatibilityVersion`.
    pub(super) fn set_fcv(&mut self, member: usize, to: Fcv) -> Reply {
        let there = &self.members[member];
        if !self.role(member).is_writable(there, "admin.system.version") {
            return Reply::Error(code::NOT_WRITABLE_PRIMARY);
        }
        if !there.version.compatible_with().contains(&to) {
            return Reply::Error(code::BAD_VALUE);
        }
        if refuses_nan(there.version, to) && has_nan(there) {
            return Reply::Error(code::CANNOT_DOWNGRADE);
        }
        self.keep_fcv(to);
        Reply::Ok
    }
}

fn refuses_nan(version: Version, fcv: Fcv) -> bool {
    version.nan_from_before_is_fatal() && fcv < FIRST_WITH_NAN
}

/// Has any of its TTL indexes NaN for seconds?
fn has_nan(there: &Member) -> bool {
    there.collections.iter().any(|(_, collection)| collection.has_nan())
}

/// Do the files of a server that is alone say that it is a member of a set?
fn says_it_is_a_member(there: &Member) -> bool {
    there.collection("local.system.replset").is_some_and(|set| !set.is_empty())
}

/// Repairs the indexes of the collection at this place, and tells each.
fn repair(
    there: &mut Member,
    at: usize,
    mut tell: impl FnMut(&mut oplog::Log, &str, &str, Undo, Changeable),
) {
    let repair = there.version.step_up_repair();
    let Member { collections, log, .. } = there;
    let (name, collection) = &mut collections[at];
    for at in 0..collection.indexes().len() {
        let index = &collection.indexes()[at];
        let Some(seconds) = index.seconds().and_then(|stored| repaired_by(repair, stored)) else {
            continue;
        };
        let before = index.changeable();
        let index = index.name().to_owned();
        let to = Changeable { seconds: Some(seconds), hidden: None };
        if collection.modify(at, &to).is_some() {
            tell(log, name, &index, Undo::Modify(at, before), to);
        }
    }
}

/// What stored seconds are repaired to, if they are.
fn repaired_by(repair: Repair, stored: Value<'_>) -> Option<Kept> {
    let number = Number::read(stored).map_or(0, Number::clamped_int);
    match repair {
        Repair::Nothing => None,
        Repair::Nan => is_nan(Some(stored)).then(repaired),
        Repair::Invalid | Repair::InvalidAndFractions if !is_valid(stored) => Some(repaired()),
        Repair::InvalidAndFractions if !matches!(stored.kind, kind::INT32 | kind::INT64) => {
            Some(Kept::int(number))
        }
        Repair::Invalid | Repair::InvalidAndFractions => None,
    }
}
