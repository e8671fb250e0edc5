#![doc = include_str!("../../../specs/mongodb/11-replication.md")]
//! ---
//! *Module:* what do the members of a replica set make of each other's deletions?

use std::sync::Arc;

use bson::Bson;

use super::bucket;
use super::change;
use super::clustered::Settings;
use super::index::{Creation, Index, SECONDS};
use super::machine::{Member, State};
use super::nan::{self, Arrival};
use super::number::{is_nan, safe_int};
use super::upgrade;
use super::version::{Repair, Version};
use super::visibility::Collection;
use super::visit;
use super::words::{Doc, Entry, EntryKind, Event, Health, Op, Reply, Value, Via, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// What a member knows of the oplog, from the first entry on that some member does not have.
pub type Log = Vec<Logged>;

/// An entry, as a member has written it or taken it over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Logged {
    /// The term of the primary that wrote it.
    pub term: u32,
    /// The collection.
    pub collection: String,
    /// What it changes there.
    pub change: Change,
    /// The collections of this member as they were before, for a rollback.
    pub before: Arc<Vec<(String, Collection)>>,
}

/// What an entry changes in a collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is made, and is like this one, which is empty.
    Make(Collection),
    /// It is dropped.
    Drop,
    /// It has another name.
    Rename(String),
    /// A document comes (`true`), or stands in the place of another.
    Put(u64, Doc, bool),
    /// Documents go, with their `_id`s.
    Delete(Vec<(u64, Value)>),
    /// An index comes; is it ready?
    MakeIndex(Index, bool),
    /// An index is ready.
    Ready(String),
    /// An index goes.
    DropIndex(String),
    /// Fields of an index have other values.
    Modify(String, Doc),
    /// Something else is said of the collection itself.
    Settings(Settings),
}

// ---- writing the oplog -------------------------------------------------------------------------

/// Does something to a collection of a member, and writes down what was changed by it.
pub fn logged(
    state: &mut State,
    (member, name): (usize, &str),
    op: &Op,
    write: impl FnOnce(&mut Member) -> Ruling<Reply>,
) -> Ruling<Reply> {
    let before = Arc::new(state.members[member].collections.clone());
    let reply = write(&mut state.members[member]);
    if !is_logged(state, member, name) {
        return reply;
    }
    let there = &mut state.members[member];
    let old = before.iter().find(|(there, _)| there == name).map(|(_, old)| old);
    let changes = match (op, old, there.collection(name)) {
        (Op::RenameCollection(to), Some(_), None) => vec![Change::Rename(to.clone())],
        (_, Some(_), None) => vec![Change::Drop],
        (_, old, Some(new)) => changes(old, new),
        (_, None, None) => Vec::new(),
    };
    let changes = match (op, &reply.verdict) {
        (Op::CollMod(command), Reply::Modified { .. }) => modified(there, name, command, changes),
        (_, Reply::Passed { deleted, .. }) => in_order(changes, deleted),
        _ => changes,
    };
    let version = there.version;
    let mut so_far = Member { collections: Vec::clone(&before), ..Member::new(version) };
    for change in changes {
        write_down(state, member, name, change.clone(), Arc::new(so_far.collections.clone()));
        replay(&mut so_far, name, &change);
    }
    reply
}

/// The seconds that a collMod asks for are written down even where they are those of this member
/// already: others may have other ones.
fn modified(there: &Member, name: &str, command: &Doc, mut changes: Vec<Change>) -> Vec<Change> {
    let collection = there.collection(name).expect("it was just changed");
    if let Some((of, seconds)) = change::entry(there.version, collection, command) {
        let mut fields = Doc(bson::doc! { SECONDS: seconds });
        changes.retain(|change| match change {
            Change::Modify(index, changed) if *index == of => {
                fields.0.extend(changed.0.clone());
                false
            }
            _ => true,
        });
        changes.push(Change::Modify(of, fields));
    }
    changes
}

/// A pass writes its deletions down in the order in which it does them.
fn in_order(mut changes: Vec<Change>, deleted: &[Value]) -> Vec<Change> {
    changes.sort_by_key(|change| match change {
        Change::Delete(documents) => deleted.iter().position(|id| *id == documents[0].1),
        _ => None,
    });
    changes
}

/// Is there an oplog, and does it concern this collection?
fn is_logged(state: &State, member: usize, name: &str) -> bool {
    state.is_set() && state.primary == Some(member) && !name.starts_with("local.")
}

fn write_down(
    state: &mut State,
    member: usize,
    name: &str,
    change: Change,
    before: Arc<Vec<(String, Collection)>>,
) {
    let (term, collection) = (state.term, name.to_owned());
    state.members[member].log.push(Logged { term, collection, change, before });
}

/// What leads from one state of a collection to another, one entry each.
fn changes(old: Option<&Collection>, new: &Collection) -> Vec<Change> {
    let mut changes = Vec::new();
    let empty = new.like();
    if old.is_none() {
        changes.push(Change::Make(empty.clone()));
    }
    let old = old.unwrap_or(&empty);
    if old.settings != new.settings {
        changes.push(Change::Settings(new.settings.clone()));
    }
    for index in &old.indexes {
        if !new.indexes.iter().any(|there| there.name() == index.name()) {
            changes.push(Change::DropIndex(index.name().to_owned()));
        }
    }
    for index in &new.indexes {
        let name = index.name().to_owned();
        let is_ready = !new.building.contains(&name);
        match old.indexes.iter().find(|there| there.name() == name) {
            None => changes.push(Change::MakeIndex(index.clone(), is_ready)),
            Some(there) if there != index => {
                let is_other = |(field, value): &(&String, &Bson)| {
                    there
                        .spec
                        .get(*field)
                        .is_none_or(|old| Value(old.clone()) != Value((*value).clone()))
                };
                let fields = index.spec.iter().filter(is_other);
                let fields = fields.map(|(field, value)| (field.clone(), value.clone()));
                changes.push(Change::Modify(name, Doc(fields.collect())));
            }
            Some(_) if is_ready && old.building.contains(&name) => {
                changes.push(Change::Ready(name));
            }
            Some(_) => {}
        }
    }
    for (record, document) in &old.documents {
        if !new.documents.contains_key(record) {
            changes.push(Change::Delete(vec![(*record, Value(document["_id"].clone()))]));
        }
    }
    for (record, document) in &new.documents {
        if old.documents.get(record) != Some(document) {
            let is_new = !old.documents.contains_key(record);
            changes.push(Change::Put(*record, document.clone(), is_new));
        }
    }
    changes
}

/// Deletes documents of a batch, and writes that down: as one entry where several were chosen.
pub fn delete(
    state: &mut State,
    member: usize,
    name: &str,
    documents: Vec<(u64, Value)>,
    chosen: usize,
) -> Option<Rule> {
    let is_logged = is_logged(state, member, name);
    let before = Arc::new(state.members[member].collections.clone());
    let there = state.members[member].collection_mut(name).expect("a visit has found it");
    for (record, _) in &documents {
        there.delete(*record);
    }
    if !is_logged || documents.is_empty() {
        return None;
    }
    let is_batch = chosen > 1;
    write_down(state, member, name, Change::Delete(documents), before);
    Some(if is_batch {
        Rule::MongodbReplicationOplogBatch
    } else {
        Rule::MongodbReplicationOplogSingle
    })
}

// ---- reading the oplog -------------------------------------------------------------------------

impl Logged {
    fn kind(&self) -> EntryKind {
        match &self.change {
            Change::Put(_, _, true) => EntryKind::Insert,
            Change::Put(_, _, false) => EntryKind::Update,
            Change::Delete(documents) if documents.len() > 1 => EntryKind::ApplyOps,
            Change::Delete(_) => EntryKind::Delete,
            _ => EntryKind::Command,
        }
    }

    fn ids(&self) -> Vec<Value> {
        match &self.change {
            Change::Put(_, document, _) => vec![Value(document["_id"].clone())],
            Change::Delete(documents) => documents.iter().map(|(_, id)| id.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

fn of_primary(state: &State) -> &[Logged] {
    state.primary.map_or(&[], |primary| &state.members[primary].log)
}

/// The entries which not all members have yet.
pub fn oplog(state: &State) -> Ruling<Reply> {
    let entry = |logged: &Logged| Entry {
        term: logged.term,
        kind: logged.kind(),
        collection: logged.collection.clone(),
        ids: logged.ids(),
    };
    Ruling::plain(Reply::Entries(of_primary(state).iter().map(entry).collect()))
}

/// What a change stream over a collection tells of them: one event a document.
pub fn events(state: &State, collection: &str) -> Ruling<Reply> {
    let mut events = Vec::new();
    for logged in of_primary(state).iter().filter(|logged| logged.collection == collection) {
        let kind = match logged.kind() {
            EntryKind::ApplyOps => EntryKind::Delete,
            kind => kind,
        };
        events.extend(logged.ids().into_iter().map(|id| Event { kind, id }));
    }
    let deletes = events.iter().any(|event| event.kind == EntryKind::Delete);
    let reply = Ruling::plain(Reply::Events(events));
    if deletes { reply.and(Rule::MongodbReplicationEvents) } else { reply }
}

// ---- following it ------------------------------------------------------------------------------

/// How many entries two members have in common.
fn common(a: &[Logged], b: &[Logged]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a.term == b.term && a.change == b.change).count()
}

/// Does a member lack entries of the primary, or have others?
pub fn is_behind(state: &State, member: usize) -> bool {
    let (log, there) = (of_primary(state), &state.members[member].log);
    state.primary.is_some() && (log.len() != there.len() || common(log, there) < log.len())
}

/// A member takes over up to `most` entries, after it has rolled back what the primary never had.
pub fn apply(state: &mut State, member: usize, most: u32) -> Ruling<Reply> {
    let nothing = Ruling::plain(Reply::Applied { entries: 0, rolled_back: 0 });
    let Some(primary) = state.primary else { return nothing };
    let follows = matches!(state.members[member].health, Health::Up | Health::Recovering);
    if primary == member || !follows {
        return nothing;
    }
    let fcv = state.fcv(primary);
    let log = state.members[primary].log.clone();
    let there = &mut state.members[member];
    let shared = common(&there.log, &log);
    let mut because = Vec::new();
    let rolled_back = there.log.len() - shared;
    if rolled_back > 0 {
        because.push(Rule::MongodbReplicationRollback);
        roll_back(there, shared);
    }
    let mut entries = 0;
    for logged in log.iter().skip(shared).take(most as usize) {
        if let Change::MakeIndex(index, _) = &logged.change
            && upgrade::refuses_nan(there.version, fcv, &index.spec)
        {
            there.health = Health::Down(code::FATAL_AT_APPLY);
            return Reply::Fatal(code::FATAL_AT_APPLY)
                .by(Rule::MongodbUpgradeApply)
                .after(&because);
        }
        take_over(there, logged);
        entries += 1;
        because.extend(match logged.change {
            Change::Delete(_) => Some(Rule::MongodbReplicationApply),
            Change::MakeIndex(..) | Change::Modify(..) | Change::Settings(_) => {
                Some(Rule::MongodbReplicationCatalog)
            }
            _ => None,
        });
    }
    let reply = Reply::Applied { entries, rolled_back: rolled_back as u32 };
    Ruling::plain(reply).after(&because)
}

fn roll_back(there: &mut Member, to: usize) {
    let is_local = |(name, _): &(String, Collection)| name.starts_with("local.");
    let mut collections = Vec::clone(&there.log[to].before);
    collections.retain(|collection| !is_local(collection));
    let local = there.collections.iter().filter(|collection| is_local(collection)).cloned();
    collections.extend(local);
    there.collections = collections;
    there.log.truncate(to);
}

fn take_over(there: &mut Member, logged: &Logged) {
    let before = Arc::new(there.collections.clone());
    let name = &logged.collection;
    replay(there, name, &logged.change);
    if let Change::Rename(to) = &logged.change {
        visit::renamed(there, name, to);
    }
    visit::notice(there, name);
    there.log.push(Logged { before, ..logged.clone() });
}

/// Does to the collections of a member what an entry says. What is there already stays as it is.
fn replay(there: &mut Member, name: &str, change: &Change) {
    let version = there.version;
    match change {
        Change::Make(_) if there.collection(name).is_some() => {}
        Change::Make(collection) => there.collections.push((name.to_owned(), collection.clone())),
        Change::Drop => there.collections.retain(|(there, _)| there != name),
        Change::Rename(to) => {
            there.collections.retain(|(there, _)| there != to);
            for (there, _) in &mut there.collections {
                if there == name {
                    *there = to.clone();
                }
            }
        }
        change => {
            if let Some(collection) = there.collection_mut(name) {
                take_over_in(version, collection, change);
            }
        }
    }
}

fn take_over_in(version: Version, collection: &mut Collection, change: &Change) {
    match change {
        // Documents are told by their `_id`s; records are each member's own.
        Change::Put(_, document, _) => {
            let record = collection.record(&document["_id"]);
            let record = record.unwrap_or_else(|| collection.next_record());
            collection.documents.insert(record, document.clone());
            bucket::notice(collection);
        }
        Change::Settings(settings) => collection.settings = settings.clone(),
        Change::Delete(documents) => {
            for (_, id) in documents {
                if let Some(record) = collection.record(id) {
                    collection.delete(record);
                }
            }
        }
        Change::MakeIndex(index, is_ready) => {
            if collection.indexes.iter().any(|there| there.name() == index.name()) {
                return;
            }
            if !is_ready {
                collection.building.insert(index.name().to_owned());
            }
            collection.indexes.push(index.clone());
        }
        Change::Ready(name) => drop(collection.building.remove(name)),
        Change::DropIndex(name) => collection.drop_index(name),
        // Only what was asked for: a collMod of something else leaves a member its own seconds.
        Change::Modify(name, fields) => {
            let Some(index) = collection.indexes.iter_mut().find(|index| index.name() == name)
            else {
                return;
            };
            for (field, value) in &fields.0 {
                if field == SECONDS {
                    change::take_over(version, index, value);
                } else {
                    index.spec.0.insert(field, value.clone());
                }
            }
        }
        Change::Make(_) | Change::Drop | Change::Rename(_) => {}
    }
}

/// Forgets the entries that all members have.
pub fn forget(state: &mut State) {
    let Some((first, others)) = state.members.split_first() else { return };
    let shared = others.iter().map(|other| common(&first.log, &other.log)).min();
    let shared = shared.unwrap_or(first.log.len());
    for member in &mut state.members {
        member.log.drain(..shared);
    }
}

// ---- roles -------------------------------------------------------------------------------------

/// A new member joins by initial sync.
pub fn join(state: &mut State, version: Version) -> Ruling<Reply> {
    let Some(source) = state.primary else {
        return Ruling::plain(Reply::Error(code::NOT_WRITABLE_PRIMARY));
    };
    let fcv = state.fcv(source);
    let from = &state.members[source];
    let mut member = Member { log: from.log.clone(), ..Member::new(version) };
    let mut because = vec![Rule::MongodbReplicationJoin];
    for (name, collection) in &from.collections {
        if name.starts_with("local.") {
            continue;
        }
        let mut copy = collection.clone();
        copy.indexes.clear();
        bucket::received(&mut copy);
        for index in &collection.indexes {
            let way = (Via::Synced, from.version);
            let arrival =
                nan::arrival(version, copy.kind, &copy.indexes, &index.spec, way, Millis::MAX);
            because.extend(arrival.because);
            match arrival.verdict {
                Arrival::Creation(Creation::Made(index)) => copy.indexes.push(index),
                Arrival::Creation(_) => {}
                Arrival::Fatal(assertion) => {
                    return Ruling::plain(Reply::Fatal(assertion)).after(&because);
                }
            }
        }
        member.collections.push((name.clone(), copy));
    }
    state.members.push(member);
    state.keep_fcv(fcv);
    Ruling::plain(Reply::Ok).after(&because)
}

/// The primary steps down. Its monitor is interrupted, and there is none until somebody steps up.
pub fn step_down(state: &mut State, member: usize) -> Ruling<Reply> {
    if state.primary != Some(member) || !state.is_set() {
        return Ruling::plain(Reply::Error(code::NOT_WRITABLE_PRIMARY));
    }
    state.primary = None;
    visit::interrupt(&mut state.members[member]);
    Reply::Ok.by(Rule::MongodbReplicationStepDown)
}

/// A member is elected, and repairs what it finds in its catalog.
pub fn step_up(state: &mut State, member: usize) -> Ruling<Reply> {
    if !state.is_set() || state.members[member].health != Health::Up {
        return Ruling::plain(Reply::Error(code::NOT_SECONDARY));
    }
    if state.primary == Some(member) {
        return Ruling::plain(Reply::Ok);
    }
    if let Some(old) = state.primary {
        visit::interrupt(&mut state.members[old]);
    }
    state.primary = Some(member);
    state.term += 1;
    let mut because = Vec::new();
    let version = state.members[member].version;
    for (name, index, seconds, rule) in repairs(&state.members[member]) {
        because.push(rule);
        let before = Arc::new(state.members[member].collections.clone());
        let fields = Doc(bson::doc! { SECONDS: seconds });
        let there = state.members[member].collection_mut(&name).expect("it was just seen");
        let change = Change::Modify(index, fields);
        take_over_in(version, there, &change);
        if is_logged(state, member, &name) {
            write_down(state, member, &name, change, before);
        }
    }
    Reply::Ok.by(Rule::MongodbReplicationStepUp).after(&because)
}

/// What a member that becomes primary has to repair: where, and with which seconds.
fn repairs(there: &Member) -> Vec<(String, String, i64, Rule)> {
    let mut repairs = Vec::new();
    for (name, collection) in &there.collections {
        for index in &collection.indexes {
            let repair = index.seconds().and_then(|stored| repaired(there.version, stored));
            repairs.extend(repair.map(|(seconds, rule)| {
                (name.clone(), index.name().to_owned(), i64::from(seconds), rule)
            }));
        }
    }
    repairs
}

/// What a member that becomes primary makes of stored seconds, and by which rule; `None` where it
/// leaves them.
pub fn repaired(version: Version, stored: &Bson) -> Option<(i32, Rule)> {
    match version.step_up_repair() {
        Repair::Nan if is_nan(stored) => Some((i32::MAX, Rule::MongodbReplicationRepair)),
        Repair::Invalid | Repair::InvalidAndFractions if !nan::is_valid(stored) => {
            Some((i32::MAX, Rule::MongodbReplicationRepair))
        }
        Repair::InvalidAndFractions if !matches!(stored, Bson::Int32(_) | Bson::Int64(_)) => {
            Some((safe_int(stored), Rule::MongodbReplicationRepairFraction))
        }
        _ => None,
    }
}

/// A secondary cannot be read for a while, or can again.
pub fn recovering(state: &mut State, member: usize, is_recovering: bool) -> Ruling<Reply> {
    let is_primary = state.primary == Some(member);
    let there = &mut state.members[member];
    let from = if is_recovering { Health::Up } else { Health::Recovering };
    if is_primary || there.health != from {
        return Ruling::plain(Reply::Error(code::NOT_SECONDARY));
    }
    there.health = if is_recovering { Health::Recovering } else { Health::Up };
    Ruling::plain(Reply::Ok)
}
