//! How is a deployment asked in the words of a script?

use ttlspec_model::engine::{Engine, Unsupported};
use ttlspec_model::mongodb::{
    CollectionOptions, Config, Doc, Entry, EntryKind, Event, Health, Listed, MongoDb, Op, Place,
    Reply, Value, Version, Via, code,
};
use ttlspec_model::time::Millis;

use super::arrival::listed;
use super::boundary::{read, write_document, write_value};
use super::bytes::{self, check, elements, kind};
use super::collection::{Collection, is_nan};
use super::deployment::Deployment;
use super::oplog;
use super::ttl_index::SECONDS;
use super::turn::{ticked, woke};
use super::visit::is_of_users;

/// MongoDB: one server, or a replica set.
///
/// Not supported: documents, specifications and commands that BSON cannot hold (a name with a NUL,
/// 2 GiB) or that are nested deeper than a server takes them.
#[derive(Clone, Debug)]
pub struct MongoEngine {
    deployment: Deployment,
    /// Where words become bytes.
    buffer: Vec<u8>,
}

impl MongoEngine {
    /// A server on which there is nothing yet.
    pub fn open(config: &Config) -> MongoEngine {
        MongoEngine { deployment: Deployment::new(config.version), buffer: Vec::new() }
    }

    /// The collection `test.c` of the primary, once it exists, or of the first member.
    pub fn collection(&self) -> Option<&Collection> {
        let Deployment { members, primary, .. } = &self.deployment;
        members[primary.unwrap_or(0)].collection(Place::COLLECTION)
    }

    /// Writes the document or the value that an operation brings, and answers its type.
    fn write(&mut self, op: &Op) -> Result<u8, Unsupported> {
        match op {
            Op::CreateIndex(words)
            | Op::StartBuild(words)
            | Op::Arrive { index: words, .. }
            | Op::CollMod(words)
            | Op::Insert(words)
            | Op::Replace(words)
            | Op::CreateCollection(CollectionOptions::With(words)) => self.write_document(words),
            Op::Remove(value) | Op::Orphan(value) | Op::SetParameter { value, .. } => {
                write_value(value, &mut self.buffer).map_err(Unsupported)
            }
            _ => {
                self.buffer.clear();
                Ok(kind::NULL)
            }
        }
    }

    fn write_document(&mut self, document: &Doc) -> Result<u8, Unsupported> {
        write_document(document, &mut self.buffer).map_err(Unsupported)?;
        check(&self.buffer).map_err(|unfit| Unsupported(unfit.to_string()))?;
        Ok(kind::DOCUMENT)
    }

    /// Finds who is meant.
    fn told(&mut self, now: Millis, mut op: &Op) -> Result<Reply, Unsupported> {
        let (mut member, mut collection) = (None, None);
        while let Op::At(place, inner) = op {
            member = place.member.or(member);
            collection = place.collection.as_deref().or(collection);
            op = inner;
        }
        let kind = self.write(op)?;
        let Deployment { members, primary, .. } = &self.deployment;
        let member = member.map_or(primary.unwrap_or(0), usize::from);
        let collection = collection.unwrap_or(Place::COLLECTION);
        match members.get(member).map(|there| there.health) {
            None => Ok(Reply::Error(code::HOST_UNREACHABLE)),
            Some(Health::Down(_)) if !matches!(op, Op::Restart { .. }) => {
                Ok(Reply::Error(code::HOST_UNREACHABLE))
            }
            Some(_) => self.at(now, op, kind, (member, collection)),
        }
    }

    /// What the member does.
    fn at(
        &mut self,
        now: Millis,
        op: &Op,
        kind: u8,
        (member, collection): (usize, &str),
    ) -> Result<Reply, Unsupported> {
        let MongoEngine { deployment, buffer } = self;
        let said = bytes::Value::new(kind, buffer);
        let role = deployment.role(member);
        let there = &mut deployment.members[member];
        Ok(match op {
            Op::Tick => Reply::Ticked(ticked(there, role, now.0)),
            Op::Wake(cost) => Reply::Woke(woke(there, role, now.0, *cost)),
            Op::Kill => {
                there.monitor.interrupt();
                Reply::Ok
            }
            Op::SetParameter { name, .. } => {
                there.monitor.parameters.set(there.version, name, said)
            }
            Op::FsyncLock(is_locked) => {
                there.is_locked = *is_locked;
                Reply::Ok
            }
            Op::BlockUserWrites(blocks) => deployment.block_user_writes(member, *blocks),
            Op::Counters => Reply::Counters(there.monitor.counted.shown(there.version)),
            Op::Join(version) => deployment.join(*version),
            Op::Apply(most) => deployment.apply(member, *most),
            Op::StepDown => deployment.step_down(member),
            Op::StepUp => deployment.step_up(member),
            Op::Recovering(is_recovering) => deployment.recovering(member, *is_recovering),
            Op::Oplog => Reply::Entries(deployment.entries().map(|entry| told(entry)).collect()),
            Op::Events => {
                let of_it = deployment.entries().filter(|entry| *entry.collection == *collection);
                Reply::Events(of_it.flat_map(|entry| events(entry)).collect())
            }
            Op::Restart { version, maintenance } => {
                deployment.restart(member, *version, *maintenance)
            }
            Op::SetFcv(major, minor) => deployment.set_fcv(member, (*major, *minor)),
            Op::Find | Op::ListIndexes if there.health == Health::Recovering => {
                Reply::Error(code::NOT_PRIMARY_OR_SECONDARY)
            }
            Op::Find => Reply::Found(there.collection(collection).map_or_else(Vec::new, found)),
            Op::ListIndexes => {
                let version = there.version;
                let list = |there: &Collection| list(version, there);
                Reply::Indexes(there.collection(collection).map_or_else(Vec::new, list))
            }
            Op::Pass if !role.is_writable(there, collection) => {
                Reply::Passed { deleted: Vec::new(), skipped: Vec::new() }
            }
            op => match refused(deployment, op, said, (member, collection)) {
                Some(code) => Reply::Error(code),
                None => {
                    let there = &mut deployment.members[member];
                    let keep = role.keep(there, collection);
                    return there.run(now, op, said, collection, keep);
                }
            },
        })
    }
}

/// Why a member does not take a write.
fn refused(
    deployment: &Deployment,
    op: &Op,
    said: bytes::Value<'_>,
    (member, collection): (usize, &str),
) -> Option<i32> {
    let role = deployment.role(member);
    if !role.is_writable(&deployment.members[member], collection) {
        return Some(code::NOT_WRITABLE_PRIMARY);
    }
    if role.blocks_user_writes && is_of_users(collection) && *op != Op::Pass {
        return Some(code::USER_WRITES_BLOCKED);
    }
    let is_asked = match op {
        Op::CreateIndex(_) | Op::StartBuild(_) => true,
        Op::Arrive { via, .. } => matches!(via, Via::Created | Via::Restored),
        _ => false,
    };
    let has_nan =
        || is_nan(elements(said.bytes).and_then(|spec| spec.find(SECONDS)).ok().flatten());
    (is_asked && deployment.refuses_nan(member) && has_nan()).then_some(code::CANNOT_CREATE_INDEX)
}

impl Engine<MongoDb> for MongoEngine {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        let reply = self.told(now, op);
        self.deployment.forget();
        reply
    }
}

// ---- bytes become words ------------------------------------------------------------------------

fn found(collection: &Collection) -> Vec<Value> {
    collection.ids().map(|id| Value(read(id))).collect()
}

fn list(version: Version, collection: &Collection) -> Vec<Listed> {
    let indexes = collection.indexes().iter().map(|index| Listed {
        name: index.name().to_owned(),
        seconds: index.seconds().map(|stored| Value(read(listed(version, stored).value()))),
    });
    indexes.collect()
}

fn ids(entry: &oplog::Entry) -> Vec<Value> {
    let mut ids = Vec::new();
    entry.each_id(&mut |id| ids.push(Value(read(id))));
    ids
}

fn told(entry: &oplog::Entry) -> Entry {
    let (term, kind) = (entry.term, entry.kind());
    Entry { term, kind, collection: entry.collection.to_string(), ids: ids(entry) }
}

/// One event a document.
fn events(entry: &oplog::Entry) -> Vec<Event> {
    let kind = match entry.kind() {
        EntryKind::ApplyOps => EntryKind::Delete,
        kind => kind,
    };
    ids(entry).into_iter().map(|id| Event { kind, id }).collect()
}

#[cfg(test)]
mod tests;
