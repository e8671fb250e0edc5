//! What may be tried with MongoDB?

use bson::Document;
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{Config, Doc, MongoDb, Op, Value};

use super::simpler::{documents, values};
use super::{Alphabet, World};
use crate::values::{Source, step, version};

mod worlds;

impl Alphabet for MongoDb {
    fn questions(_: &Config) -> Vec<Op> {
        vec![Op::Find, Op::ListIndexes]
    }

    fn simpler(op: &Op) -> Vec<Op> {
        match op {
            Op::Insert(document) => inserted(document).map(Op::Insert).collect(),
            Op::Replace(document) => {
                let insert = Op::Insert(document.clone());
                std::iter::once(insert).chain(inserted(document).map(Op::Replace)).collect()
            }
            Op::CreateIndex(spec) => docs(spec, &["key", "name"]).map(Op::CreateIndex).collect(),
            Op::Arrive { index, via, from } => {
                let create = Op::CreateIndex(index.clone());
                let simpler = docs(index, &["key", "name"]);
                let arrive = simpler.map(|index| Op::Arrive { index, via: *via, from: *from });
                std::iter::once(create).chain(arrive).collect()
            }
            Op::CollMod(command) => docs(command, &["index"]).map(Op::CollMod).collect(),
            Op::Remove(id) => values(id).into_iter().map(|id| Op::Remove(Value(id))).collect(),
            Op::CreateCollection(_) | Op::DropIndex(_) | Op::Pass | Op::Find | Op::ListIndexes => {
                Vec::new()
            }
        }
    }

    fn any_config(source: &mut dyn Source) -> Config {
        Config { version: version(source) }
    }

    fn any_step(source: &mut dyn Source, _: &Config) -> (Millis, Op) {
        step(source)
    }

    fn worlds(config: &Config) -> Vec<World<MongoDb>> {
        worlds::all(config)
    }
}

fn docs(document: &Document, kept: &[&str]) -> impl Iterator<Item = Doc> {
    documents(document, kept).into_iter().map(Doc)
}

/// A document that is inserted keeps its `_id`, and it is a kind of value that an `_id` may be.
fn inserted(document: &Document) -> impl Iterator<Item = Doc> {
    docs(document, &["_id"])
}
