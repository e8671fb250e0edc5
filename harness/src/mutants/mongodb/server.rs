//! The specification, open at the back: what the mutants are written with.

use bson::{Bson, Document};
use ttlspec_model::Millis;
use ttlspec_model::Spec;
use ttlspec_model::mongodb::index::{FILTER, Index, SECONDS};
use ttlspec_model::mongodb::life::{self, Verdict};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::number::is_number;
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{Config, Doc, MongoDb, Op, Reply, Value, Version};

/// What a specification is stood in for by, where it has to pass a test of its seconds: a number
/// that no test refuses and that nobody else gives.
const STAND_IN: i32 = 86_399;

/// A server that can be told to be right, and to be right about something else.
pub(super) struct Server {
    /// What it runs.
    pub version: Version,
    /// The state that the specification would be in after the same right steps.
    pub state: State,
    /// The latest instant that it was told of.
    pub latest: Millis,
    /// What stood in the place of documents that were replaced since.
    pub former: Vec<Document>,
    /// The indexes that were dropped.
    pub dropped: Vec<Index>,
    /// The collections of a member as they were when its pass began, where a mutant wants to know.
    pub listed: Vec<Named>,
}

/// A collection with its name.
pub(super) type Named = (String, Collection);

impl Server {
    pub(super) fn open(config: &Config) -> Server {
        Server {
            version: config.version,
            state: MongoDb::init(config),
            latest: Millis::MIN,
            former: Vec::new(),
            dropped: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// Remembers what a wrong engine might hold on to.
    pub(super) fn remember(&mut self, now: Millis, op: &Op) {
        self.latest = self.latest.max(now);
        let Some(there) = self.state.collection() else { return };
        match op {
            Op::Replace(document) => {
                let record = document.get("_id").and_then(|id| there.record(id));
                self.former.extend(record.map(|record| there.documents[&record].0.clone()));
            }
            Op::DropIndex(name) => {
                let dropped = there.indexes.iter().filter(|index| index.name() == name);
                self.dropped.extend(dropped.cloned());
            }
            _ => {}
        }
    }

    // ---- being right ---------------------------------------------------------------------------

    /// As the book says.
    pub fn right(&mut self, now: Millis, op: &Op) -> Reply {
        self.as_version(self.version, now, op)
    }

    /// As the book says of another version.
    pub fn as_version(&mut self, version: Version, now: Millis, op: &Op) -> Reply {
        let versions: Vec<Version> =
            self.state.members.iter().map(|member| member.version).collect();
        if version != self.version {
            self.state.members.iter_mut().for_each(|member| member.version = version);
        }
        let step = MongoDb::step(&Config { version }, &self.state, now, op);
        self.state = step.state;
        if version != self.version {
            let members = self.state.members.iter_mut().zip(versions);
            members.for_each(|(member, version)| member.version = version);
        }
        step.reply.verdict
    }

    /// What the book would say, without doing it.
    pub fn would(&self, now: Millis, op: &Op) -> Reply {
        let step = MongoDb::step(&Config { version: self.version }, &self.state, now, op);
        step.reply.verdict
    }

    /// As the book says of a collection that looks so; then it is as it was, but for what was done.
    pub fn right_seeing(
        &mut self,
        now: Millis,
        op: &Op,
        see: impl Fn(&mut Collection),
        back: impl Fn(&mut Collection),
    ) -> Reply {
        self.state.collection_mut().into_iter().for_each(see);
        let reply = self.right(now, op);
        self.state.collection_mut().into_iter().for_each(back);
        reply
    }

    /// The collection, which is there.
    pub fn collection(&mut self) -> &mut Collection {
        self.state.collection_mut().expect("the mutant asked first whether it is there")
    }

    /// The indexes.
    pub fn indexes(&self) -> &[Index] {
        self.state.collection().map_or(&[][..], |there| &there.indexes)
    }

    // ---- passes --------------------------------------------------------------------------------

    /// A pass over a collection that is seen in a wrong way. What it deletes there, it deletes.
    pub fn pass_seeing(&mut self, now: Millis, see: impl Fn(&Server, &mut Collection)) -> Reply {
        let mut seen = self.state.clone();
        seen.collection_mut().into_iter().for_each(|there| see(self, there));
        let step = MongoDb::step(&Config { version: self.version }, &seen, now, &Op::Pass);
        if let (Some(there), Some(left)) = (self.state.collection_mut(), step.state.collection()) {
            there.documents.retain(|record, _| left.documents.contains_key(record));
        }
        step.reply.verdict
    }

    /// A right pass, but that what a document comes to after it is decided once more: another
    /// document that stays in its place, or `None`, which deletes it as is right.
    pub fn pass_sparing(
        &mut self,
        now: Millis,
        spare: impl Fn(&Server, &Collection, &Document) -> Option<Document>,
    ) -> Reply {
        let before = self.state.collection().cloned();
        let reply = self.right(now, &Op::Pass);
        let (Some(before), Reply::Passed { mut deleted, skipped }) = (before, reply.clone()) else {
            return reply;
        };
        for (record, document) in &before.documents {
            let id = Value(document["_id"].clone());
            let spared = Some(document).filter(|_| deleted.contains(&id));
            if let Some(spared) = spared.and_then(|document| spare(self, &before, document)) {
                deleted.retain(|deleted| *deleted != id);
                self.collection().documents.insert(*record, Doc(spared));
            }
        }
        Reply::Passed { deleted, skipped }
    }

    /// What one index makes of a document.
    pub fn verdict(
        &self,
        there: &Collection,
        index: &Index,
        doc: &Document,
        now: Millis,
    ) -> Verdict {
        life::verdict(self.version, there.kind, index, doc, now).verdict
    }

    /// Has the document expired by any index?
    pub fn is_expired(&self, there: &Collection, document: &Document, now: Millis) -> bool {
        there
            .indexes
            .iter()
            .any(|index| matches!(self.verdict(there, index, document, now), Verdict::Expired(..)))
    }

    // ---- createIndexes -------------------------------------------------------------------------

    /// A right createIndexes.
    pub fn create(&mut self, now: Millis, spec: Document) -> Reply {
        self.right(now, &Op::CreateIndex(Doc(spec)))
    }

    /// A right createIndexes; what it stored is then changed.
    pub fn create_then(
        &mut self,
        now: Millis,
        spec: &Document,
        change: impl Fn(&mut Document),
    ) -> Reply {
        let before = self.indexes().len();
        let reply = self.create(now, spec.clone());
        if self.indexes().len() > before {
            let made = self.collection().indexes.last_mut().expect("it was just made");
            change(&mut made.spec.0);
        }
        reply
    }

    /// Lets `spec` in where `stand_in` would be let in.
    pub fn create_as(&mut self, now: Millis, spec: &Document, stand_in: Document) -> Reply {
        self.create_then(now, &stand_in, |stored| *stored = spec.clone())
    }

    /// Lets `spec` in where it would be let in with seconds that nobody minds.
    pub fn create_unchecked(&mut self, now: Millis, spec: &Document) -> Reply {
        self.create_as(now, spec, with(spec, SECONDS, STAND_IN))
    }

    /// Lets `spec` in where it would be let in without its filter.
    pub fn create_with_any_filter(&mut self, now: Millis, spec: &Document) -> Reply {
        self.create_as(now, spec, without(spec, FILTER))
    }

    /// A right createIndexes, but that an index which should be made is refused with this code.
    pub fn create_unless(&mut self, now: Millis, spec: &Document, refusal: Option<i32>) -> Reply {
        let before = self.indexes().len();
        let reply = self.create(now, spec.clone());
        match refusal {
            Some(code) if self.indexes().len() > before => {
                self.collection().indexes.pop();
                Reply::Error(code)
            }
            _ => reply,
        }
    }

    // ---- collMod -------------------------------------------------------------------------------

    /// A right collMod.
    pub fn modify(&mut self, now: Millis, command: Document) -> Reply {
        self.right(now, &Op::CollMod(Doc(command)))
    }

    /// A right collMod of something else: the part `index` of the command is changed first.
    pub fn modify_as(
        &mut self,
        now: Millis,
        command: &Document,
        change: impl Fn(&mut Document),
    ) -> Reply {
        let mut command = command.clone();
        if let Ok(index) = command.get_document_mut("index") {
            change(index);
        }
        self.modify(now, command)
    }

    /// Stores these seconds where others would be stored that nobody minds.
    pub fn modify_unchecked(&mut self, now: Millis, command: &Document, seconds: i64) -> Reply {
        let before = self.indexes().to_vec();
        let reply = self.modify_as(now, command, |index| drop(index.insert(SECONDS, STAND_IN)));
        let Reply::Modified { old, new: Some(_) } = reply else { return reply };
        for (index, before) in self.collection().indexes.iter_mut().zip(before) {
            if *index != before {
                index.spec.0.insert(SECONDS, seconds);
            }
        }
        Reply::Modified { old, new: Some(seconds) }
    }

    /// The index that the part `index` of a collMod means.
    pub fn target(&self, command: &Document) -> Option<usize> {
        let index = command.get_document("index").ok()?;
        let name = index.get_str("name").ok();
        let key = index.get_document("keyPattern").ok();
        self.indexes().iter().position(|one| match (name, key) {
            (Some(name), _) => one.name() == name,
            (None, Some(key)) => one.key() == *key,
            (None, None) => false,
        })
    }

    /// Has that index no seconds yet?
    pub fn is_plain_target(&self, command: &Document) -> bool {
        self.target(command).is_some_and(|at| self.indexes()[at].seconds().is_none())
    }
}

// ---- documents ---------------------------------------------------------------------------------

/// The seconds that a collMod asks for.
pub(super) fn asked(command: &Document) -> Option<&Bson> {
    command.get_document("index").ok()?.get(SECONDS)
}

/// The seconds, if they are a number.
pub(super) fn number(seconds: Option<&Bson>) -> Option<&Bson> {
    seconds.filter(|seconds| is_number(seconds))
}

/// The document with this field.
pub(super) fn with(document: &Document, field: &str, value: impl Into<Bson>) -> Document {
    let mut document = document.clone();
    document.insert(field, value);
    document
}

/// The document without this field.
pub(super) fn without(document: &Document, field: &str) -> Document {
    let mut document = document.clone();
    document.remove(field);
    document
}

/// The key pattern of a specification, empty where there is none.
pub(super) fn key(spec: &Document) -> Document {
    spec.get_document("key").cloned().unwrap_or_default()
}
