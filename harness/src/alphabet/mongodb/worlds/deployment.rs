//! Which small worlds are there of a monitor at work, and of members of a set?
//!
//! Time is counted in whole seconds. A lifetime is 10 seconds, as in the other worlds; a monitor
//! that goes by steps lies down at 0 and may wake up at 100.

use bson::{Bson, Document, doc};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{Config, Cost, Doc, MongoDb, Op, Place, Value, Version, Via};

use super::{World, coll_mod, create, date, drop, insert, remove, replace, ttl, with};

/// All of them, at one version.
pub(super) fn all(version: Version) -> Vec<World<MongoDb>> {
    let worlds: [fn(Version) -> World<MongoDb>; 7] =
        [visit, rounds, switches, members, split, nan_upgrade, nan_set];
    worlds.map(|world| world(version)).into()
}

type Step = (Millis, Op);

fn at<const N: usize>(seconds: i64, ops: [Op; N]) -> impl Iterator<Item = Step> {
    ops.into_iter().map(move |op| (Millis(seconds * 1_000), op))
}

fn world<const B: usize>(
    name: &'static str,
    version: Version,
    begins: [Op; B],
    moves: impl Iterator<Item = Step>,
) -> World<MongoDb> {
    let config = Config { version };
    let begins = at(0, begins).collect();
    World { name, config, begins, moves: moves.collect(), probes: Vec::new() }
}

fn on(member: u8, op: Op) -> Op {
    op.at(Place::member(member))
}

fn of(collection: &str, op: Op) -> Op {
    op.at(Place::collection(collection))
}

/// A turn of the monitor that takes no time.
fn wake() -> Op {
    Op::Wake(Cost::default())
}

fn seconds(seconds: i64) -> Bson {
    date(seconds * 1_000)
}

/// An index like the usual one, on another field.
fn other(seconds: impl Into<Bson>) -> Document {
    with(with(ttl(seconds), "key", doc! { "u": 1 }), "name", "other")
}

fn set(name: &str, value: impl Into<Bson>) -> Op {
    Op::SetParameter { name: name.to_owned(), value: Value(value.into()) }
}

/// A monitor that goes by steps, and what comes between two of them.
fn visit(version: Version) -> World<MongoDb> {
    let partial = with(ttl(10), "partialFilterExpression", doc! { "x": { "$gt": 5 } });
    let begins = [
        create(partial),
        set("batchedDeletesTargetBatchDocs", 1),
        set("ttlIndexDeleteTargetDocs", 2),
        set("ttlMonitorSubPassTargetSecs", 0),
        Op::Tick,
    ];
    let moves = at(
        100,
        [
            Op::Tick,
            insert(doc! { "_id": 1, "t": seconds(0), "x": 6 }),
            insert(doc! { "_id": 2, "t": seconds(1), "x": 6 }),
            insert(doc! { "_id": 3, "t": seconds(2), "x": 6 }),
            replace(doc! { "_id": 1, "t": seconds(0), "x": 5 }),
            replace(doc! { "_id": 2, "t": seconds(100), "x": 6 }),
            remove(1),
            coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 3_600 }),
            drop("ttl"),
            Op::Kill,
        ],
    );
    world("visit", version, begins, moves.chain(at(200, [Op::Tick])))
}

/// A busy index, which only two documents at a time keep busy, beside another that waits.
fn rounds(version: Version) -> World<MongoDb> {
    let begins = [
        create(ttl(10)),
        create(other(10)),
        set("batchedDeletesTargetBatchDocs", 1),
        set("ttlIndexDeleteTargetDocs", 1),
        set("ttlMonitorSubPassTargetSecs", 0),
        Op::Tick,
    ];
    let moves = [
        Op::Tick,
        insert(doc! { "_id": 9, "u": seconds(0) }),
        insert(doc! { "_id": 1, "t": seconds(0) }),
        insert(doc! { "_id": 2, "t": seconds(1) }),
        insert(doc! { "_id": 1, "t": seconds(2) }),
        insert(doc! { "_id": 2, "t": seconds(3) }),
    ];
    world("rounds", version, begins, at(100, moves))
}

/// What keeps a monitor from a pass, or from a collection.
fn switches(version: Version) -> World<MongoDb> {
    const RESHARDING: &str = "test.system.resharding.x";
    let begins = [create(ttl(10)), of(RESHARDING, create(ttl(10)))];
    let moves = [
        wake(),
        insert(doc! { "_id": 1, "t": seconds(0) }),
        insert(doc! { "_id": 2, "t": seconds(0) }),
        of(RESHARDING, insert(doc! { "_id": 1, "t": seconds(0) })),
        set("ttlMonitorEnabled", false),
        set("ttlMonitorEnabled", true),
        Op::FsyncLock(true),
        Op::FsyncLock(false),
        Op::BlockUserWrites(true),
        Op::BlockUserWrites(false),
        Op::Orphan(Value::from(1)),
        Op::StaleShardVersion,
        of(RESHARDING, Op::RenameCollection(Place::COLLECTION.to_owned())),
    ];
    world("switches", version, begins, at(10, moves))
}

/// Two members with clocks that differ, and a collection that only one of them has.
fn members(version: Version) -> World<MongoDb> {
    let local = |op: Op| op.at(Place { member: Some(1), collection: Some("local.c".to_owned()) });
    let begins = [
        create(ttl(10)),
        create(other(5)),
        Op::Join(version),
        local(create(ttl(10))),
        local(insert(doc! { "_id": 9, "t": seconds(0) })),
    ];
    let moves = [
        on(0, wake()),
        on(1, wake()),
        insert(doc! { "_id": 1, "t": seconds(0) }),
        insert(doc! { "_id": 2, "t": seconds(5), "u": seconds(10) }),
        on(0, Op::Apply(1)),
        on(1, Op::Apply(1)),
        on(0, Op::StepUp),
        on(1, Op::StepUp),
        Op::StepDown,
    ];
    let late = at(15, [on(1, wake())]);
    world("members", version, begins, at(10, moves).chain(late))
}

/// A fraction and a NaN from before, and a member that joins.
fn split(version: Version) -> World<MongoDb> {
    let arrive = |index: Document| Op::Arrive {
        index: Doc(index),
        via: Via::Upgraded,
        from: Version::new(4, 2, 0),
    };
    let begins = [arrive(ttl(9.5)), arrive(other(f64::NAN))];
    let moves = [
        on(0, wake()),
        on(1, wake()),
        insert(doc! { "_id": 1, "t": seconds(1) }),
        insert(doc! { "_id": 2, "u": seconds(-2_200_000_000) }),
        Op::Join(version),
        on(0, Op::StepUp),
        on(1, Op::StepUp),
        on(0, Op::Apply(9)),
        on(1, Op::Apply(9)),
        coll_mod(doc! { "name": "ttl", "expireAfterSeconds": 9 }),
    ];
    world("split", version, begins, at(10, moves))
}

/// The version on which an index with NaN was made.
const OLD: Version = Version::new(4, 4, 15);

/// A server with a NaN is upgraded, alone. What it counts does not matter, so its passes are not its
/// own, and there are only so many states.
fn nan_upgrade(version: Version) -> World<MongoDb> {
    let restart = |version| Op::Restart { version, maintenance: false };
    let moves = [
        Op::Pass,
        insert(doc! { "_id": 1, "t": seconds(10) }),
        insert(doc! { "_id": 2, "t": seconds(11) }),
        restart(version),
        restart(OLD),
        Op::SetFcv(version.major, version.minor),
        remove(1),
    ];
    world("nan-upgrade", OLD, [create(ttl(f64::NAN))], at(10, moves))
}

/// A server with a NaN, and members that join it, or are upgraded.
fn nan_set(version: Version) -> World<MongoDb> {
    let restart = |version| Op::Restart { version, maintenance: false };
    let moves = [
        on(0, wake()),
        on(1, wake()),
        on(2, wake()),
        insert(doc! { "_id": 1, "t": seconds(10) }),
        Op::Join(OLD),
        Op::Join(version),
        on(0, restart(version)),
        on(0, restart(OLD)),
        on(0, Op::StepUp),
        on(1, Op::StepUp),
        on(2, Op::StepUp),
        on(1, Op::Apply(9)),
    ];
    world("nan-set", OLD, [create(ttl(f64::NAN))], at(10, moves))
}
