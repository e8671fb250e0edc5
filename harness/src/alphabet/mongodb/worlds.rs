//! Which small worlds does the book of MongoDB speak of?
//!
//! Time is counted in the seconds that the rules are about: almost all lifetimes are 10 seconds,
//! dates stand at 0, and the clock at 10 seconds more or less.

use bson::{Bson, DateTime, Document, doc};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{CollectionOptions, Config, Doc, MongoDb, Op, Value, Version, Via};

use super::World;

mod deployment;

/// All of them, at one version.
pub(super) fn all(config: &Config) -> Vec<World<MongoDb>> {
    let worlds: [fn() -> Moves; 13] = [
        threshold,
        two_indexes,
        filter,
        flags,
        change,
        seconds,
        nan,
        kinds,
        paths,
        ends,
        clustered,
        buckets,
        bucket_ends,
    ];
    let worlds = worlds.into_iter().map(|world| world().at(*config));
    worlds.chain(deployment::all(config.version)).collect()
}

/// A world in the making.
struct Moves {
    name: &'static str,
    moves: Vec<(Millis, Op)>,
    probes: Vec<(Millis, Op)>,
}

/// When everything but passes is done: late enough for 10 seconds to be allowed anywhere.
const WRITE: Millis = Millis(10_000);

impl Moves {
    /// A world in which passes run at these instants, and are looked ahead at as well at `probed`.
    fn new(name: &'static str, passes: &[i64], probed: &[i64]) -> Moves {
        let pass = |at: &i64| (Millis(*at), Op::Pass);
        let mut probes: Vec<_> = passes.iter().chain(probed).map(pass).collect();
        probes.sort_by_key(|(at, _)| *at);
        Moves { name, moves: passes.iter().map(pass).collect(), probes }
    }

    fn and(mut self, ops: impl IntoIterator<Item = Op>) -> Moves {
        self.moves.extend(ops.into_iter().map(|op| (WRITE, op)));
        self
    }

    fn at(self, config: Config) -> World<MongoDb> {
        let begins = Vec::new();
        World { name: self.name, config, begins, moves: self.moves, probes: self.probes }
    }
}

fn date(millis: i64) -> Bson {
    Bson::DateTime(DateTime::from_millis(millis))
}

fn insert(document: Document) -> Op {
    Op::Insert(Doc(document))
}

fn replace(document: Document) -> Op {
    Op::Replace(Doc(document))
}

fn remove(id: i32) -> Op {
    Op::Remove(Value::from(id))
}

fn create(spec: Document) -> Op {
    Op::CreateIndex(Doc(spec))
}

fn coll_mod(index: Document) -> Op {
    Op::CollMod(Doc(doc! { "index": index }))
}

fn drop(name: &str) -> Op {
    Op::DropIndex(name.to_owned())
}

/// The index that most worlds have.
fn ttl(seconds: impl Into<Bson>) -> Document {
    doc! { "key": { "t": 1 }, "name": "ttl", "expireAfterSeconds": seconds.into() }
}

fn with(mut spec: Document, option: &str, value: impl Into<Bson>) -> Document {
    spec.insert(option, value);
    spec
}

/// One index; dates before, at and after the threshold; an array; no date.
fn threshold() -> Moves {
    Moves::new("threshold", &[10_000, 9_999, 20_000], &[10_001, 15_000]).and([
        create(ttl(10)),
        insert(doc! { "_id": 1, "t": date(1) }),
        insert(doc! { "_id": 2, "t": date(0) }),
        insert(doc! { "_id": 3, "t": [date(20_000), date(5_000), "x"] }),
        insert(doc! { "_id": 4, "t": "x" }),
        replace(doc! { "_id": 1, "t": date(10_001) }),
        replace(doc! { "_id": 2, "u": date(0) }),
        remove(1),
    ])
}

/// Two indexes, each of which would delete what the other would not.
fn two_indexes() -> Moves {
    let other = doc! { "key": { "u": 1 }, "name": "other", "expireAfterSeconds": 5 };
    Moves::new("two-indexes", &[10_000, 5_000], &[4_999, 15_000]).and([
        create(ttl(10)),
        create(other),
        insert(doc! { "_id": 1, "t": date(0), "u": date(10_000) }),
        insert(doc! { "_id": 2, "t": date(5_000), "u": date(0) }),
        insert(doc! { "_id": 3, "t": date(0), "u": date(0) }),
        insert(doc! { "_id": 4, "u": date(-1) }),
        drop("ttl"),
        drop("other"),
    ])
}

/// A partial index, and documents that go in and out of it.
fn filter() -> Moves {
    let partial = with(ttl(10), "partialFilterExpression", doc! { "x": { "$gt": 5 } });
    let either = doc! { "$or": [{ "x": 5 }, { "y": { "$exists": true } }] };
    let other = with(with(ttl(10), "partialFilterExpression", either), "name", "other");
    Moves::new("filter", &[10_000], &[9_999]).and([
        create(partial),
        create(other),
        insert(doc! { "_id": 1, "t": date(0), "x": 6 }),
        insert(doc! { "_id": 2, "t": date(0), "x": 5 }),
        insert(doc! { "_id": 3, "t": date(0), "x": [1, 9] }),
        insert(doc! { "_id": 4, "t": date(0), "y": Bson::Null }),
        replace(doc! { "_id": 1, "t": date(0), "x": 5 }),
        replace(doc! { "_id": 2, "t": date(0), "x": 6.5 }),
        drop("ttl"),
    ])
}

/// Options that do not touch expiry, and the clashes that they cause.
fn flags() -> Moves {
    let descending = doc! { "key": { "t": -1 }, "name": "other", "expireAfterSeconds": 10 };
    Moves::new("flags", &[10_000], &[9_999]).and([
        create(ttl(10)),
        create(with(ttl(10), "unique", true)),
        create(with(ttl(10), "sparse", true)),
        create(with(ttl(10), "hidden", true)),
        create(descending),
        insert(doc! { "_id": 1, "t": date(0) }),
        insert(doc! { "_id": 2, "t": [date(1), date(0)] }),
        insert(doc! { "_id": 3 }),
        insert(doc! { "_id": 4, "t": Bson::Null }),
        coll_mod(doc! { "name": "ttl", "hidden": true }),
        coll_mod(doc! { "name": "ttl", "hidden": false }),
    ])
}

/// An index is made, changed, dropped and made again.
fn change() -> Moves {
    let plain = doc! { "key": { "t": 1 }, "name": "ttl" };
    Moves::new("change", &[10_000, 20_000], &[0, 9_999]).and([
        create(ttl(10)),
        create(plain),
        insert(doc! { "_id": 1, "t": date(0) }),
        insert(doc! { "_id": 2, "t": date(10_000) }),
        drop("ttl"),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 5 }),
        coll_mod(doc! { "keyPattern": { "t": 1 }, "expireAfterSeconds": 0 }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": -1 }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": f64::NAN }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 10.9, "hidden": true }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 20_i64 }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": "10" }),
        coll_mod(doc! { "name": "ttl" }),
    ])
}

/// What is given as seconds, of every type.
fn seconds() -> Moves {
    let decimal = |text: &str| text.parse().map_or(Bson::Null, Bson::Decimal128);
    Moves::new("seconds", &[2_000, 1_000], &[0, 1_999]).and([
        insert(doc! { "_id": 1, "t": date(0) }),
        insert(doc! { "_id": 2, "t": date(1_000) }),
        create(ttl(1)),
        create(ttl(1.5)),
        create(ttl(decimal("1.5"))),
        create(ttl(decimal("2.5"))),
        create(ttl(0)),
        create(ttl(-0.5)),
        create(ttl(-1)),
        create(ttl(f64::NAN)),
        create(ttl(i32::MAX)),
        create(ttl(i64::from(i32::MAX) + 1)),
        create(ttl(f64::INFINITY)),
        create(ttl("1")),
        create(ttl(Bson::Null)),
        create(ttl(true)),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 1 }),
        drop("ttl"),
    ])
}

/// NaN, on every way into a catalog, and its repair.
fn nan() -> Moves {
    let arrive = |via: Via, from: Version| Op::Arrive { index: Doc(ttl(f64::NAN)), via, from };
    let old = Version::new(4, 4, 0);
    Moves::new("nan", &[10_000, 0], &[-1]).and([
        insert(doc! { "_id": 1, "t": date(0) }),
        insert(doc! { "_id": 2, "t": date(10_001) }),
        create(ttl(f64::NAN)),
        arrive(Via::Upgraded, old),
        arrive(Via::Synced, old),
        arrive(Via::Synced, Version::new(5, 0, 0)),
        arrive(Via::Synced, Version::new(6, 0, 2)),
        arrive(Via::Restored, old),
        arrive(Via::Downgraded, Version::new(8, 0, 4)),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 10 }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": f64::NAN }),
        coll_mod(doc! { "name": "ttl", "hidden": true }),
        drop("ttl"),
    ])
}

/// Kinds of collections, and of indexes that a pass cannot use.
fn kinds() -> Moves {
    let compound = doc! { "t": 1, "u": 1 };
    let arrive =
        |index| Op::Arrive { index: Doc(index), via: Via::Upgraded, from: Version::new(4, 0, 0) };
    Moves::new("kinds", &[10_000], &[9_999]).and([
        create(ttl(10)),
        insert(doc! { "_id": 1, "t": date(0) }),
        insert(doc! { "_id": 2, "t": date(1) }),
        Op::CreateCollection(CollectionOptions::Plain),
        Op::CreateCollection(CollectionOptions::Capped),
        Op::CreateCollection(CollectionOptions::View),
        Op::CreateCollection(CollectionOptions::WithSeconds(Value::from(10))),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 5 }),
        create(with(with(ttl(10), "key", doc! { "t": "hashed" }), "name", "other")),
        create(with(with(ttl(10), "key", compound.clone()), "name", "third")),
        create(with(ttl(10), "key", doc! { "$**": 1 })),
        create(doc! { "key": { "$**": 1 }, "name": "ttl" }),
        create(ttl(10).into_iter().filter(|(option, _)| option != "expireAfterSeconds").collect()),
        arrive(with(with(ttl(10), "key", compound), "name", "third")),
        arrive(with(ttl("10"), "name", "other")),
        remove(1),
    ])
}

/// Dotted paths, and the arrays that they run into.
fn paths() -> Moves {
    let on = |path: &str, name: &str| with(with(ttl(10), "key", doc! { path: 1 }), "name", name);
    Moves::new("paths", &[10_000], &[9_999, 20_000]).and([
        create(on("a.t", "ttl")),
        create(on("a.0.t", "other")),
        insert(doc! { "_id": 1, "a": { "t": date(0) } }),
        insert(doc! { "_id": 2, "a": [{ "t": date(10_000) }, { "t": date(0) }] }),
        insert(doc! { "_id": 3, "a": [[{ "t": date(0) }]] }),
        insert(doc! { "_id": 4, "a": { "t": [[date(0)], date(10_000)] } }),
        insert(doc! { "_id": 5, "a": [{ "0": { "t": date(0) } }] }),
        insert(doc! { "_id": 6, "a": [] }),
        drop("ttl"),
    ])
}

/// Dates and clocks at both ends of time.
fn ends() -> Moves {
    let ends = [i64::MAX, i64::MIN, 0];
    Moves::new("ends", &ends, &[i64::MAX - 1, i64::MIN + 1, i64::MIN + 10_000]).and([
        create(ttl(10)),
        create(with(ttl(0), "name", "other")),
        create(ttl(i32::MAX)),
        insert(doc! { "_id": 1, "t": date(i64::MIN) }),
        insert(doc! { "_id": 2, "t": date(i64::MIN + 1) }),
        insert(doc! { "_id": 3, "t": date(i64::MAX) }),
        insert(doc! { "_id": 4, "t": date(i64::MAX - 10_000) }),
        insert(doc! { "_id": 5, "t": [date(i64::MAX), date(-10_000)] }),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 0 }),
    ])
}

fn make(options: Document) -> Op {
    Op::CreateCollection(CollectionOptions::With(Doc(options)))
}

fn coll_mod_own(command: Document) -> Op {
    Op::CollMod(Doc(command))
}

/// A clustered collection, its own seconds, and an index beside them.
fn clustered() -> Moves {
    let key = || doc! { "key": { "_id": 1 }, "unique": true };
    Moves::new("clustered", &[10_000, 9_999], &[0, 5_000]).and([
        make(doc! { "clusteredIndex": key(), "expireAfterSeconds": 10 }),
        make(doc! { "clusteredIndex": key(), "expireAfterSeconds": 10, "capped": true }),
        make(doc! { "clusteredIndex": key() }),
        make(doc! { "clusteredIndex": key(), "expireAfterSeconds": 11 }),
        insert(doc! { "_id": date(0) }),
        insert(doc! { "_id": date(1), "t": date(0) }),
        insert(doc! { "_id": date(-1) }),
        insert(doc! { "_id": 1, "t": date(5_000) }),
        create(ttl(5)),
        coll_mod_own(doc! { "expireAfterSeconds": 5 }),
        coll_mod_own(doc! { "expireAfterSeconds": "off" }),
        coll_mod(doc! { "name": "_id_", "hidden": true }),
        drop("_id_"),
    ])
}

/// A full hour of 2020, late enough for every scan of buckets.
const HOUR: i64 = 1_600_002_000;

/// A measurement at so many seconds.
fn measure(id: i32, seconds: i64, meta: i32) -> Op {
    insert(doc! { "_id": id, "t": date(seconds * 1_000), "a": meta })
}

/// Measurements in buckets of an hour, of a day, and of a minute.
fn buckets() -> Moves {
    let over = (HOUR + 3_600) * 1_000;
    let by_meta = with(ttl(5), "partialFilterExpression", doc! { "a": { "$gt": 1 } });
    let minute = doc! {
        "timeField": "t", "metaField": "a",
        "bucketMaxSpanSeconds": 60, "bucketRoundingSeconds": 60,
    };
    let series = doc! { "timeField": "t", "metaField": "a" };
    Moves::new("buckets", &[over + 70_000, over + 69_999], &[over + 65_000, over * 2]).and([
        make(doc! { "timeseries": series.clone(), "expireAfterSeconds": 10 }),
        make(doc! { "timeseries": series }),
        make(doc! { "timeseries": minute, "expireAfterSeconds": 0 }),
        measure(1, HOUR + 60, 1),
        measure(2, HOUR + 61, 1),
        measure(3, HOUR + 59, 1),
        measure(4, HOUR + 119, 2),
        create(by_meta),
        coll_mod_own(doc! { "expireAfterSeconds": 0 }),
        coll_mod_own(doc! { "expireAfterSeconds": "off" }),
        coll_mod_own(doc! { "timeseries": { "granularity": "minutes" } }),
        remove(1),
    ])
}

/// Measurements at times that the `_id` of a bucket cannot hold.
fn bucket_ends() -> Moves {
    let now = HOUR;
    let passes = [(now + 3_610) * 1_000, now * 1_000, 3_000_000];
    Moves::new("bucket-ends", &passes, &[(1 << 31) * 1_000, (1 << 32) * 1_000]).and([
        make(doc! { "timeseries": { "timeField": "t" }, "expireAfterSeconds": 10 }),
        measure(1, now, 1),
        measure(2, 0, 1),
        measure(3, -1, 1),
        measure(4, -10_000, 1),
        measure(5, 1 << 31, 1),
        measure(6, 1 << 32, 1),
        measure(7, (1 << 31) - 1, 1),
        remove(3),
    ])
}
