//! What may be tried with MongoDB?

use bson::Document;
use ttlspec_model::Millis;
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::monitor::Monitor;
use ttlspec_model::mongodb::{Config, Cost, Doc, Health, MongoDb, Op, Place, Value};

use super::{Alphabet, World};
use crate::values::Source;
use crate::values::mongodb::{Course, step, version};

mod simpler;
mod worlds;

use simpler::{documents, values};

impl Alphabet for MongoDb {
    type Course = Course;

    fn questions(_: &Config, state: &State) -> Vec<Op> {
        let mut questions = vec![Op::Find, Op::ListIndexes];
        for (at, member) in state.members.iter().enumerate() {
            let at = Place::member(at as u8);
            let is_up = !matches!(member.health, Health::Down(_));
            if is_up && member.monitor != Monitor::default() {
                questions.push(Op::Counters.at(at.clone()));
            }
            for (name, _) in &member.collections {
                if state.is_set() && is_up || name != Place::COLLECTION {
                    let collection = Some(name.clone());
                    let place = Place { collection, ..at.clone() };
                    questions.push(Op::Find.at(place.clone()));
                    questions.push(Op::ListIndexes.at(place));
                }
            }
        }
        if state.is_set() {
            questions.push(Op::Oplog);
        }
        questions
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
            Op::StartBuild(spec) => {
                let create = Op::CreateIndex(spec.clone());
                let simpler = docs(spec, &["key", "name"]).map(Op::StartBuild);
                std::iter::once(create).chain(simpler).collect()
            }
            Op::SetParameter { name, value } => {
                let simpler = values(value).into_iter().map(Value);
                simpler.map(|value| Op::SetParameter { name: name.clone(), value }).collect()
            }
            Op::Restart { version, maintenance: true } => {
                vec![Op::Restart { version: *version, maintenance: false }]
            }
            Op::At(place, op) => elsewhere(place, op),
            Op::Wake(Cost { visit_us, delete_us }) if visit_us + delete_us > 0 => {
                vec![Op::Wake(Cost::default())]
            }
            Op::Apply(most) if *most > 1 => vec![Op::Apply(most / 2), Op::Apply(most - 1)],
            _ => Vec::new(),
        }
    }

    fn any_config(source: &mut dyn Source) -> Config {
        Config { version: version(source) }
    }

    fn any_step(source: &mut dyn Source, _: &Config) -> (Millis, Op) {
        step(source)
    }

    fn any_course(source: &mut dyn Source) -> Option<(Config, Course)> {
        Some(Course::begin(source))
    }

    fn step_on(course: &mut Course, source: &mut dyn Source) -> (Millis, Op) {
        course.step(source)
    }

    fn worlds(config: &Config) -> Vec<World<MongoDb>> {
        worlds::all(config)
    }
}

/// The same said at the usual place, then of the usual collection, then something simpler there.
fn elsewhere(place: &Place, op: &Op) -> Vec<Op> {
    let mut simpler = vec![op.clone()];
    if place.member.is_some() && place.collection.is_some() {
        simpler.push(op.clone().at(Place { member: place.member, collection: None }));
        simpler.push(op.clone().at(Place { member: None, collection: place.collection.clone() }));
    }
    simpler.extend(MongoDb::simpler(op).into_iter().map(|op| op.at(place.clone())));
    simpler
}

fn docs(document: &Document, kept: &[&str]) -> impl Iterator<Item = Doc> {
    documents(document, kept).into_iter().map(Doc)
}

/// A document that is inserted keeps its `_id`, and it is a kind of value that an `_id` may be.
fn inserted(document: &Document) -> impl Iterator<Item = Doc> {
    docs(document, &["_id"])
}
