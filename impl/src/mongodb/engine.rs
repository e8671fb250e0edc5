//! How is the collection asked in the words of a script?

use bson::Bson;
use ttlspec_model::engine::{Engine, Unsupported};
use ttlspec_model::mongodb::{
    CollectionOptions, Config, Doc, Listed, MongoDb, Op, Reply, Skipped, Value, Version, code,
};
use ttlspec_model::time::Millis;

use super::arrival::listed;
use super::boundary::{read, write_document, write_value};
use super::bytes::{self, check};
use super::change::coll_mod;
use super::collection::{Collection, Refusal};
use super::order::is_number;
use super::ttl_index::Kind;

/// MongoDB with one collection.
///
/// Not supported: documents, specifications and commands that BSON cannot hold (a name with a NUL,
/// 2 GiB) or that are nested deeper than a server takes them.
#[derive(Clone, Debug)]
pub struct MongoEngine {
    version: Version,
    collection: Option<Collection>,
    /// Where words become bytes.
    buffer: Vec<u8>,
}

impl MongoEngine {
    /// A server on which there is nothing yet.
    pub fn open(config: &Config) -> MongoEngine {
        MongoEngine { version: config.version, collection: None, buffer: Vec::new() }
    }

    /// The collection, once it exists.
    pub fn collection(&self) -> Option<&Collection> {
        self.collection.as_ref()
    }

    fn write(&mut self, document: &Doc) -> Result<(), Unsupported> {
        write_document(document, &mut self.buffer).map_err(Unsupported)?;
        check(&self.buffer).map_err(|unfit| Unsupported(unfit.to_string()))
    }

    /// The first insert makes a plain collection, and so does the first index that is not refused.
    fn without_collection(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        match op {
            Op::Insert(_) | Op::CreateIndex(_) | Op::Arrive { .. } => {
                self.collection = Some(Collection::new(self.version, Kind::Plain));
                let reply = self.apply(now, op)?;
                if matches!(op, Op::CreateIndex(_) | Op::Arrive { .. }) && reply != Reply::Ok {
                    self.collection = None;
                }
                Ok(reply)
            }
            Op::DropIndex(_) => Ok(Reply::Error(code::NAMESPACE_NOT_FOUND)),
            Op::CollMod(_) => {
                Ok(coll_mod(self.version, None, &self.buffer, now.0)
                    .unwrap_or_else(|refusal| refusal))
            }
            Op::Pass => Ok(Reply::Passed { deleted: Vec::new(), skipped: Vec::new() }),
            Op::Find => Ok(Reply::Found(Vec::new())),
            Op::ListIndexes => Ok(Reply::Indexes(Vec::new())),
            Op::Replace(_) | Op::Remove(_) | Op::CreateCollection(_) => Ok(Reply::Matched(0)),
        }
    }

    fn create(&mut self, options: &CollectionOptions) -> Reply {
        let kind = match options {
            CollectionOptions::Plain => Kind::Plain,
            CollectionOptions::Capped => Kind::Capped,
            CollectionOptions::View => Kind::View,
            CollectionOptions::WithSeconds(Value(Bson::Null | Bson::Undefined))
                if self.version.collmod_is_typed() =>
            {
                Kind::Plain
            }
            CollectionOptions::WithSeconds(seconds) => {
                return Reply::Error(if self.version.create_is_strict_without_seconds() {
                    code::UNKNOWN_FIELD
                } else if self.version.collmod_is_typed()
                    && !is_number(seconds.element_type() as u8)
                {
                    code::TYPE_MISMATCH
                } else {
                    code::INVALID_OPTIONS
                });
            }
        };
        if self.collection.is_some() {
            return Reply::Error(code::NAMESPACE_EXISTS);
        }
        self.collection = Some(Collection::new(self.version, kind));
        Reply::Ok
    }
}

impl Engine<MongoDb> for MongoEngine {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        match op {
            Op::CreateIndex(words)
            | Op::Arrive { index: words, .. }
            | Op::CollMod(words)
            | Op::Insert(words)
            | Op::Replace(words) => self.write(words)?,
            _ => {}
        }
        if let Op::CreateCollection(options) = op {
            return Ok(self.create(options));
        }
        let buffer = &mut self.buffer;
        let Some(there) = &mut self.collection else { return self.without_collection(now, op) };
        match op {
            Op::CreateCollection(_) => unreachable!("a collection is made above"),
            Op::CreateIndex(_) => Ok(there.create_index(buffer, now)),
            Op::Arrive { via, from, .. } => Ok(there.take_over(buffer, *via, *from, now)),
            Op::DropIndex(name) => Ok(there.drop_index(name)),
            Op::CollMod(_) => Ok(there.coll_mod(buffer, now)),
            Op::Insert(_) => reply(there.insert(buffer), |_| Reply::Ok),
            Op::Replace(_) => {
                reply(there.replace(buffer), |slot| Reply::Matched(u64::from(slot.is_some())))
            }
            Op::Remove(id) => {
                let kind = write_value(id, buffer).map_err(Unsupported)?;
                let removed = there.remove(bytes::Value::new(kind, buffer));
                reply(removed, |was_there| Reply::Matched(u64::from(was_there)))
            }
            Op::Pass => Ok(pass(there, now)),
            Op::Find => Ok(Reply::Found(there.ids().map(|id| Value(read(id))).collect())),
            Op::ListIndexes => Ok(list(self.version, there)),
        }
    }
}

fn reply<T>(outcome: Result<T, Refusal>, see: fn(T) -> Reply) -> Result<Reply, Unsupported> {
    match outcome {
        Ok(outcome) => Ok(see(outcome)),
        Err(Refusal::Code(code)) => Ok(Reply::Error(code)),
        Err(refusal) => Err(Unsupported(refusal.to_string())),
    }
}

fn pass(collection: &mut Collection, now: Millis) -> Reply {
    let skip = |(index, code): (&str, i32)| Skipped { index: index.to_owned(), code };
    let skipped = collection.skipped().map(skip).collect();
    let mut deleted = Vec::new();
    collection.pass(now, &mut |document| deleted.push(Value(read(document.id()))));
    Reply::Passed { deleted, skipped }
}

fn list(version: Version, collection: &Collection) -> Reply {
    let indexes = collection.indexes().iter().map(|index| Listed {
        name: index.name().to_owned(),
        seconds: index.seconds().map(|stored| Value(read(listed(version, stored).value()))),
    });
    Reply::Indexes(indexes.collect())
}
