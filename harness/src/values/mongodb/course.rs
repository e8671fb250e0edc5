//! Which operations, where a deployment goes through them one after the other?
//!
//! A [`Course`] knows what it has drawn so far: its clock mostly goes on, by steps small enough for
//! writes to come between those of the monitor; members and versions are few and near each other;
//! and parameters are so small that three documents reach them.

use bson::{Bson, DateTime, Document, doc};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{
    CollectionOptions, Config, Cost, Doc, Op, Place, Value, Version, Via,
};

use super::any::identified;
use super::coll_mod::coll_mod;
use super::index::spec;
use super::number::seconds;
use super::op::op;
use super::versions::{LINES, version};
use crate::values::{NOW, Source, chance, count, pick, weigh};

/// What a script has come to.
#[derive(Clone, Debug)]
pub struct Course {
    /// The versions that its members run.
    line: &'static [Version],
    /// The collection beside the usual one.
    other: &'static str,
    /// The clock of the last operation.
    now: Millis,
    /// What comes next, the last of it first.
    planned: Vec<Kind>,
    /// The member of which what is planned is said.
    at_work: u8,
    /// The monitors that have begun their first sleep, by member.
    has_slept: [bool; MOST],
    /// How many members there are, as far as none failed to join.
    members: u8,
    /// Has the primary gone?
    lacks_primary: bool,
    /// What the usual collection is, where it is no ordinary one.
    special: Option<Special>,
}

/// Collections that may have seconds of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// By the values of their keys.
    Clustered,
    /// By their buckets.
    Series,
}

/// The most members of a set.
const MOST: usize = 3;

/// The kinds of operations.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A monitor may wake up, and go on for some steps.
    Tick,
    /// The monitor at work goes on, unless something comes between.
    GoOn,
    /// The member at work is asked.
    AskIt,
    /// The member at work does a turn.
    WakeIt,
    Wake,
    Insert,
    Replace,
    /// A document that may be chosen leaves a filter, and keeps an old date.
    Leave,
    Remove,
    Collection,
    CreateIndex,
    CollMod,
    Catalog,
    Parameter,
    Target,
    Batch,
    SubPass,
    Switch,
    Kill,
    Ask,
    Join,
    Apply,
    StepUp,
    StepDown,
    Recovering,
    Restart,
    SetFcv,
    Shard,
    Any,
}

/// What a script may do.
const ALL: [(usize, Kind); 21] = [
    (20, Kind::Tick),
    (14, Kind::Insert),
    (8, Kind::Wake),
    (5, Kind::Replace),
    (2, Kind::Remove),
    (5, Kind::CreateIndex),
    (4, Kind::CollMod),
    (4, Kind::Catalog),
    (3, Kind::Parameter),
    (4, Kind::Switch),
    (2, Kind::Kill),
    (5, Kind::Ask),
    (4, Kind::Join),
    (9, Kind::Apply),
    (6, Kind::StepUp),
    (2, Kind::StepDown),
    (3, Kind::Recovering),
    (6, Kind::Restart),
    (3, Kind::SetFcv),
    (4, Kind::Shard),
    (1, Kind::Any),
];

/// What comes between two steps of a monitor.
const BETWEEN: [(usize, Kind); 10] = [
    (6, Kind::Replace),
    (8, Kind::Insert),
    (12, Kind::Leave),
    (3, Kind::Remove),
    (7, Kind::CollMod),
    (6, Kind::Catalog),
    (3, Kind::Kill),
    (3, Kind::Switch),
    (2, Kind::StepUp),
    (2, Kind::CreateIndex),
];

/// The collections that are not the usual one.
const OTHERS: [&str; 6] = [
    "test.d",
    "local.c",
    "test.system.resharding.x",
    "config.c",
    "test.system.js",
    "local.system.replset",
];

impl Course {
    /// A script of which nothing is drawn yet, and how its first server is set up.
    pub fn begin(source: &mut dyn Source) -> (Config, Course) {
        let line = pick(source, &LINES);
        let config = Config { version: pick(source, line) };
        let mut course = Course {
            line,
            other: OTHERS[weigh(source, &[(6, 0), (4, 1), (2, 2), (1, 3), (1, 4), (1, 5)])],
            now: NOW,
            planned: Vec::new(),
            at_work: 0,
            has_slept: [false; MOST],
            members: 1,
            lacks_primary: false,
            special: None,
        };
        course.open(source, config.version);
        (config, course)
    }

    /// Plans how a script begins: with an index and documents, and a monitor that is soon tired.
    fn open(&mut self, source: &mut dyn Source, version: Version) {
        let mut plan = Vec::new();
        let joins = count(source, 2);
        let join_first = chance(source, 2);
        if join_first {
            plan.extend((0..joins).map(|_| Kind::Join));
        }
        if chance(source, 8) {
            plan.push(Kind::Collection);
        }
        plan.push(Kind::CreateIndex);
        if join_first && joins > 0 {
            plan.push(Kind::Apply);
        }
        if version.deletes_in_batches() {
            let targets = [Kind::Target, Kind::Batch, Kind::SubPass];
            plan.extend(targets.into_iter().filter(|_| !chance(source, 4)));
        }
        if !join_first {
            plan.extend((0..joins).map(|_| Kind::Join));
        }
        if chance(source, 3) {
            plan.push(Kind::CreateIndex);
        }
        plan.extend((0..1 + count(source, 3)).map(|_| Kind::Insert));
        plan.reverse();
        self.planned = plan;
    }

    /// The next operation, and its instant.
    pub fn step(&mut self, source: &mut dyn Source) -> (Millis, Op) {
        let kind = match self.planned.pop() {
            Some(Kind::GoOn) if chance(source, 3) => weigh(source, &BETWEEN),
            Some(kind) => kind,
            None if self.lacks_primary && chance(source, 2) => Kind::StepUp,
            None => weigh(source, &ALL),
        };
        let op = self.draw(source, kind);
        (self.now, op)
    }

    fn draw(&mut self, source: &mut dyn Source, kind: Kind) -> Op {
        match kind {
            Kind::Tick => {
                self.at_work = self.member(source);
                let has_slept = &mut self.has_slept[usize::from(self.at_work)];
                if std::mem::replace(has_slept, true) {
                    // The sleep is over, or nearly, and a pass can follow.
                    self.go_on(source, &[(6, 61_000), (3, 1_001), (1, 1_000), (1, 60_000)]);
                    self.planned.extend((0..2 + count(source, 8)).map(|_| Kind::GoOn));
                } else {
                    self.planned.push(Kind::Tick);
                }
                Op::Tick.at(Place::member(self.at_work))
            }
            Kind::GoOn => {
                self.go_on(source, &[(8, 0), (1, 1), (1, 1_000), (1, 999), (1, 2_000)]);
                Op::Tick.at(Place::member(self.at_work))
            }
            Kind::AskIt => {
                let asked = [Op::Find, Op::ListIndexes, Op::Tick, Op::Counters];
                pick(source, &asked).at(Place::member(self.at_work))
            }
            Kind::WakeIt => Op::Wake(cost(source)).at(Place::member(self.at_work)),
            Kind::Wake => {
                self.go_on(source, &[(4, 0), (2, 1_000), (2, 10_000), (1, -1), (1, -20_000)]);
                if self.members > 1 {
                    self.follow(source, &[(3, Kind::Apply), (1, Kind::Ask)]);
                }
                let op = Op::Wake(cost(source));
                self.on_some(source, op)
            }
            Kind::Insert => {
                let document = Op::Insert(Doc(self.document(source)));
                self.somewhere(source, document)
            }
            Kind::Replace => {
                let document = Op::Replace(Doc(self.document(source)));
                self.somewhere(source, document)
            }
            Kind::Leave => {
                let date = Bson::DateTime(DateTime::from_millis(self.now.0 - 100_000));
                Op::Replace(Doc(doc! { "_id": id(source), "t": date, "x": 5 }))
            }
            Kind::Remove => {
                let op = Op::Remove(Value::from(id(source)));
                self.somewhere(source, op)
            }
            Kind::Collection => {
                let special = pick(source, &[Special::Clustered, Special::Series]);
                self.special = Some(special);
                let options = self.collection(source, special);
                Op::CreateCollection(CollectionOptions::With(Doc(options)))
            }
            Kind::CreateIndex => {
                let index = Doc(self.index(source));
                let op = if chance(source, 6) {
                    Op::Arrive { index, via: Via::Upgraded, from: pick(source, self.line) }
                } else {
                    Op::CreateIndex(index)
                };
                self.somewhere(source, op)
            }
            Kind::CollMod => {
                let op = Op::CollMod(Doc(self.modification(source)));
                self.somewhere(source, op)
            }
            Kind::Catalog => self.catalog(source),
            Kind::Parameter => {
                let name = weigh(source, &PARAMETERS);
                let op = parameter(source, name);
                self.on_some(source, op)
            }
            Kind::Target => small(source, "ttlIndexDeleteTargetDocs"),
            Kind::Batch => small(source, "batchedDeletesTargetBatchDocs"),
            Kind::SubPass => small(source, "ttlMonitorSubPassTargetSecs"),
            Kind::Switch => self.switch(source),
            Kind::Kill => Op::Kill.at(Place::member(self.at_work)),
            Kind::Ask => {
                let asked =
                    [Op::Events, Op::Counters, Op::Oplog, Op::Events, Op::Find, Op::ListIndexes];
                let op = pick(source, &asked);
                self.on_some(source, op)
            }
            Kind::Join => {
                if usize::from(self.members) >= MOST {
                    return Op::Oplog;
                }
                self.members += 1;
                Op::Join(pick(source, self.line))
            }
            Kind::Apply => {
                let op = Op::Apply(pick(source, &[10, 1, 2, 0]));
                self.on_any(source, op)
            }
            Kind::StepUp => {
                self.lacks_primary = false;
                self.follow(source, &[(2, Kind::Wake), (1, Kind::Apply)]);
                self.on_any(source, Op::StepUp)
            }
            Kind::StepDown => {
                self.lacks_primary = true;
                Op::StepDown
            }
            Kind::Recovering => {
                self.at_work = source.choose(usize::from(self.members)) as u8;
                self.follow(source, &[(2, Kind::AskIt), (1, Kind::WakeIt)]);
                Op::Recovering(!chance(source, 4)).at(Place::member(self.at_work))
            }
            Kind::Restart => {
                self.lacks_primary = true;
                self.at_work = source.choose(usize::from(self.members)) as u8;
                self.has_slept[usize::from(self.at_work)] = false;
                self.follow(source, &[(1, Kind::AskIt), (2, Kind::StepUp), (1, Kind::WakeIt)]);
                let version = pick(source, self.line);
                let op = Op::Restart { version, maintenance: chance(source, 6) };
                op.at(Place::member(self.at_work))
            }
            Kind::SetFcv => {
                let Version { major, minor, .. } = pick(source, self.line);
                let fcvs = [(4, (4, 4)), (4, (major, minor)), (2, (5, 0)), (1, (4, 2))];
                let (major, minor) = weigh(source, &fcvs);
                self.on_some(source, Op::SetFcv(major, minor))
            }
            Kind::Shard => {
                self.follow(source, &[(1, Kind::Tick), (1, Kind::Wake)]);
                let op = match source.choose(3) {
                    0 | 1 => Op::Orphan(Value::from(id(source))),
                    _ => Op::StaleShardVersion,
                };
                self.somewhere(source, op)
            }
            Kind::Any => {
                let op = op(source);
                self.somewhere(source, op)
            }
        }
    }

    /// Plans what comes next, mostly.
    fn follow(&mut self, source: &mut dyn Source, by: &[(usize, Kind)]) {
        if !chance(source, 3) {
            self.planned.push(weigh(source, by));
        }
    }

    fn go_on(&mut self, source: &mut dyn Source, by_ms: &[(usize, i64)]) {
        self.now = self.now.plus_millis(weigh(source, by_ms));
    }

    // ---- who and where -------------------------------------------------------------------------

    /// One of the members, the first one mostly.
    fn member(&self, source: &mut dyn Source) -> u8 {
        if self.members > 1 && chance(source, 3) {
            1 + source.choose(usize::from(self.members) - 1) as u8
        } else {
            0
        }
    }

    /// Said to any of the members, each as often as another.
    fn on_any(&self, source: &mut dyn Source, op: Op) -> Op {
        op.at(Place::member(source.choose(usize::from(self.members)) as u8))
    }

    /// Said to the primary, or to one of the members.
    fn on_some(&self, source: &mut dyn Source, op: Op) -> Op {
        if chance(source, 2) { self.on_any(source, op) } else { op }
    }

    /// Said of the usual collection, or of the other one; mostly to the primary.
    fn somewhere(&self, source: &mut dyn Source, op: Op) -> Op {
        let place = Place {
            member: chance(source, 8).then(|| self.member(source)),
            collection: chance(source, 4).then(|| self.other.to_owned()),
        };
        if place == Place::default() { op } else { op.at(place) }
    }

    // ---- what --------------------------------------------------------------------------------

    fn catalog(&self, source: &mut dyn Source) -> Op {
        let op = match weigh(source, &[(3, 0), (3, 1), (3, 2), (4, 3), (1, 4), (2, 5)]) {
            0 => Op::DropIndex(name(source).to_owned()),
            1 => Op::StartBuild(Doc(self.index(source))),
            2 => Op::FinishBuild(name(source).to_owned()),
            3 => {
                let to = pick(source, &[self.other, Place::COLLECTION, "test.e", "local.c"]);
                Op::RenameCollection(to.to_owned())
            }
            4 => Op::DropCollection,
            _ => Op::Arrive {
                index: Doc(self.index(source)),
                via: pick(source, &[Via::Upgraded, Via::Synced, Via::Restored, Via::Downgraded]),
                from: version(source),
            },
        };
        self.somewhere(source, op)
    }

    fn switch(&self, source: &mut dyn Source) -> Op {
        let on = chance(source, 2);
        match source.choose(4) {
            0 => self.on_some(source, Op::FsyncLock(on)),
            1 => Op::BlockUserWrites(on),
            _ => {
                let name = "ttlMonitorEnabled".to_owned();
                let op = Op::SetParameter { name, value: Value::from(!on) };
                self.on_some(source, op)
            }
        }
    }

    /// The options of a clustered or a time-series collection; its buckets are short, if they can
    /// be.
    fn collection(&self, source: &mut dyn Source, special: Special) -> Document {
        let seconds = pick(source, &[10, 0, 1]);
        if special == Special::Clustered {
            let key = doc! { "key": { "_id": 1 }, "unique": true };
            let capped = chance(source, 4);
            return doc! { "clusteredIndex": key, "expireAfterSeconds": seconds, "capped": capped };
        }
        let mut series = doc! { "timeField": "t", "metaField": "x" };
        if self.line.iter().all(|version| version.bucket_span_is_free()) {
            series.extend(doc! { "bucketMaxSpanSeconds": 10, "bucketRoundingSeconds": 10 });
        }
        doc! { "timeseries": series, "expireAfterSeconds": seconds }
    }

    /// A document whose date stands a lifetime from the clock, more or less.
    fn document(&self, source: &mut dyn Source) -> Document {
        if chance(source, 12) {
            return identified(source);
        }
        let mut document = doc! { "_id": id(source), "t": self.date(source) };
        if self.special == Some(Special::Clustered) && !chance(source, 4) {
            let early = DateTime::from_millis(-1);
            let date = if chance(source, 8) { early.into() } else { self.date(source) };
            document.insert("_id", date);
        }
        if self.special == Some(Special::Series) && chance(source, 2) {
            // Long enough ago for a bucket of an hour.
            document.insert("t", DateTime::from_millis(self.now.0 - 3_700_000));
        }
        if !chance(source, 3) {
            document.insert("x", pick(source, &[6, 7, 5]));
        }
        if chance(source, 4) {
            document.insert("u", self.date(source));
        }
        document
    }

    /// What such a script gives as seconds.
    fn lifetime(&self, source: &mut dyn Source) -> Bson {
        let decimal = |text: &str| text.parse().map_or(Bson::Null, Bson::Decimal128);
        let meets_nan = self.line.iter().any(|version| version.nan_from_before_is_fatal());
        let nan = if meets_nan { 12 } else { 3 };
        let ways = [(6, 0), (3, 1), (3, 2), (nan, 3), (3, 4), (1, 5), (1, 6), (1, 7), (2, 8)];
        match weigh(source, &ways) {
            0 => Bson::Int32(10),
            1 => Bson::Int32(1),
            2 => Bson::Int32(0),
            3 => Bson::Double(f64::NAN),
            4 => Bson::Double(1.5),
            5 => decimal("2.5"),
            6 => decimal("NaN"),
            7 => Bson::Int32(i32::MAX),
            _ => seconds(source),
        }
    }

    fn index(&self, source: &mut dyn Source) -> Document {
        if chance(source, 12) {
            return spec(source);
        }
        let key = match weigh(source, &[(8, 0), (4, 1), (1, 2), (1, 3)]) {
            0 => doc! { "t": 1 },
            1 => doc! { "u": 1 },
            2 => doc! { "t": -1 },
            _ => doc! { "t": "hashed" },
        };
        let seconds = self.lifetime(source);
        let mut index = doc! { "key": key, "name": name(source), "expireAfterSeconds": seconds };
        if chance(source, 2) {
            index.insert("partialFilterExpression", doc! { "x": { "$gt": 5 } });
        }
        index
    }

    fn modification(&self, source: &mut dyn Source) -> Document {
        if chance(source, 8) {
            return coll_mod(source);
        }
        let seconds = match weigh(source, &[(4, 0), (3, 1), (2, 2)]) {
            0 => Bson::Int32(pick(source, &[3_600, 100, 20])),
            1 => Bson::Int32(pick(source, &[0, 5, 10])),
            _ => self.lifetime(source),
        };
        doc! { "index": { "name": name(source), "expireAfterSeconds": seconds } }
    }

    fn date(&self, source: &mut dyn Source) -> Bson {
        let ages = [(3, 100_000), (4, 10_000), (3, 0), (2, 1_000), (1, -10_000), (1, 5_000)];
        let age = weigh(source, &[&ages[..], &[(1, 1 << 41)]].concat());
        let beside = weigh(source, &[(6, 0), (1, 1), (1, -1), (1, -500)]);
        Bson::DateTime(DateTime::from_millis(self.now.minus_millis(age).plus_millis(beside).0))
    }
}

fn id(source: &mut dyn Source) -> i32 {
    1 + source.choose(3) as i32
}

fn name(source: &mut dyn Source) -> &'static str {
    pick(source, &["ttl", "other"])
}

/// How long the work of a turn takes.
fn cost(source: &mut dyn Source) -> Cost {
    Cost {
        visit_us: pick(source, &[0, 1_000, 5_000, 1_000_000]),
        delete_us: pick(source, &[0, 500, 1_000, 1_000_000, 7_000_000]),
    }
}

/// The parameters, by how often they are set.
const PARAMETERS: [(usize, &str); 9] = [
    (5, "ttlMonitorSleepSecs"),
    (5, "ttlIndexDeleteTargetDocs"),
    (5, "batchedDeletesTargetBatchDocs"),
    (4, "ttlMonitorSubPassTargetSecs"),
    (2, "ttlIndexDeleteTargetTimeMS"),
    (1, "batchedDeletesTargetStagedDocBytes"),
    (1, "ttlMonitorBatchDeletes"),
    (1, "ttlMonitorEnabled"),
    (1, "ttlMonitorSleep"),
];

/// A value so small that a few documents, or seconds, reach it.
fn small(source: &mut dyn Source, name: &str) -> Op {
    let values: &[i32] = match name {
        "ttlMonitorSubPassTargetSecs" => &[0, 0, 1],
        _ => &[1, 2, 3],
    };
    Op::SetParameter { name: name.to_owned(), value: Value::from(pick(source, values)) }
}

/// Any value for a parameter, mostly one that it can have.
fn parameter(source: &mut dyn Source, name: &str) -> Op {
    let value = pick(source, &[1, 2, 0, 3, 60, -1]);
    let value = match weigh(source, &[(12, 0), (1, 1), (1, 2), (1, 3)]) {
        0 => Bson::Int32(value),
        1 => Bson::Double(f64::from(value) + 0.5),
        2 => Bson::Boolean(value != 0),
        _ => seconds(source),
    };
    Op::SetParameter { name: name.to_owned(), value: Value(value) }
}

/// How a deployment is set up, and up to so many operations on it in order.
pub fn script(source: &mut dyn Source, most: usize) -> (Config, Vec<(Millis, Op)>) {
    let (config, mut course) = Course::begin(source);
    let steps = (0..count(source, most)).map(|_| course.step(source)).collect();
    (config, steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Replayed, Seeded};

    #[test]
    fn a_course_without_choices_is_the_simplest_and_goes_on() {
        let mut none = Replayed::new(&[]);

        let (config, mut course) = Course::begin(&mut none);
        let (now, op) = course.step(&mut none);

        assert_eq!(config.version, LINES[0][0]);
        assert_eq!(now, NOW);
        assert!(matches!(op, Op::CreateIndex(_)), "{op:?}");
    }

    #[test]
    fn all_words_come_up() {
        let mut source = Seeded::new(1);
        let mut words = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            let (_, steps) = script(&mut source, 40);
            for (_, op) in steps {
                let op = if let Op::At(_, op) = op { *op } else { op };
                let word = format!("{op:?}");
                let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
                words.insert(word[..end].to_owned());
            }
        }

        for word in [
            "Tick",
            "Wake",
            "Kill",
            "SetParameter",
            "FsyncLock",
            "BlockUserWrites",
            "Counters",
            "Join",
            "Apply",
            "StepDown",
            "StepUp",
            "Recovering",
            "Restart",
            "SetFcv",
            "Oplog",
            "Events",
            "RenameCollection",
            "DropCollection",
            "StartBuild",
            "FinishBuild",
            "Orphan",
            "StaleShardVersion",
            "Pass",
            "Insert",
            "Replace",
            "Remove",
            "CollMod",
            "CreateIndex",
            "Arrive",
            "DropIndex",
            "Find",
            "ListIndexes",
        ] {
            assert!(words.contains(word), "`{word}` is never drawn");
        }
    }
}
