//! Which small worlds does the book of Cassandra speak of?
//!
//! One partition, one or two rows, two or three sstables. Timestamps are small numbers; writes are
//! made in second 10 of the world, and what follows is done later.

use serde_json::{Value, json};
use ttlspec_model::Millis;
use ttlspec_model::cassandra::{Cassandra, Config};

use super::World;
use crate::Notation;
use crate::values::cassandra::START;

/// All of them.
pub(super) fn all(config: &Config) -> Vec<World<Cassandra>> {
    [purge, expiry, memtable, drop_whole, garbage, repaired, holders, collections, ranges]
        .map(|world| world(config))
        .into()
}

/// The world with this name.
pub(crate) fn named(name: &str, config: &Config) -> World<Cassandra> {
    let world = all(config).into_iter().find(|world| world.name == name);
    world.unwrap_or_else(|| panic!("no world is named `{name}`"))
}

/// A world in the making: what is done, at seconds after the start.
fn world(
    name: &'static str,
    config: Config,
    begins: &[(i64, Value)],
    moves: &[(i64, Value)],
) -> World<Cassandra> {
    let at = |seconds: i64| Millis((START + seconds) * 1_000);
    let step = |(seconds, value): &(i64, Value)| {
        let op = Cassandra::op_from(value).expect("a world is written in words of the system");
        (at(*seconds), op)
    };
    World {
        name,
        config,
        begins: begins.iter().map(step).collect(),
        moves: moves.iter().map(step).collect(),
        probes: Vec::new(),
    }
}

fn with(config: &Config, change: impl Fn(&mut Config)) -> Config {
    let mut config = config.clone();
    config.table = crate::notation::cassandra::table_of_recordings(&["c"]);
    config.table.gc_grace_seconds = 10;
    change(&mut config);
    config
}

fn key() -> Value {
    json!({ "p": 1, "c": 1 })
}

/// A row, its deletion, what is older and what is newer, in two sstables and a memtable.
fn purge(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "insert": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "delete": key(), "ts": 2 })),
        (10, json!("flush")),
        (100, json!({ "compact": [1] })),
        (100, json!({ "compact": [2] })),
        (100, json!("major")),
        (10, json!({ "update": key(), "set": { "v": 2 }, "ts": 2 })),
        (20, json!({ "compact": [2] })),
    ];
    world("purge", with(config, |_| {}), &[], &moves)
}

/// Cells that expire, beside others in the same place.
fn expiry(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "update": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "update": key(), "set": { "v": 2 }, "ts": 2, "ttl": 5 })),
        (50, json!({ "update": key(), "set": { "v": 3 }, "ts": 2, "ttl": 100 })),
        (10, json!("flush")),
        (60, json!({ "compact": [1] })),
        (60, json!({ "compact": [2] })),
        (60, json!("major")),
    ];
    world("expiry", with(config, |_| {}), &[], &moves)
}

/// What is in the memtable and older than a deletion in an sstable.
fn memtable(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "delete": key(), "ts": 3 })),
        (10, json!("flush")),
        (20, json!({ "insert": key(), "set": { "v": 1 }, "ts": 2 })),
        (20, json!({ "insert": { "p": 1, "c": 2 }, "ts": -1 })),
        (20, json!({ "insert": key(), "set": { "v": 2 }, "ts": 4 })),
        (100, json!("major")),
        (100, json!({ "compact": [1] })),
    ];
    world("memtable", with(config, |_| {}), &[], &moves)
}

/// Sstables in which all has expired, beside one with older data.
fn drop_whole(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "insert": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "update": key(), "set": { "v": 2 }, "ts": 2, "ttl": 5 })),
        (10, json!("flush")),
        (20, json!({ "insert": { "p": 1, "c": 2 }, "ts": 2 })),
        (100, json!({ "compact": [2] })),
        (100, json!({ "compact": [1] })),
        (100, json!("major")),
    ];
    world("whole", with(config, |_| {}), &[], &moves)
}

/// garbagecollect, by row and by cell.
fn garbage(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "insert": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "update": key(), "set": { "v": 2 }, "ts": 2 })),
        (10, json!({ "delete": key(), "ts": 1 })),
        (10, json!("flush")),
        (15, json!({ "garbagecollect": "row" })),
        (15, json!({ "garbagecollect": "cell" })),
        (100, json!({ "garbagecollect": "cell" })),
    ];
    world("garbage", with(config, |_| {}), &[], &moves)
}

/// Repaired and unrepaired sstables that never meet.
fn repaired(config: &Config) -> World<Cassandra> {
    let config = with(config, |config| {
        let options = &mut config.table.compaction;
        options.insert("only_purge_repaired_tombstones".to_owned(), "true".to_owned());
    });
    let at_ms = (START + 30) * 1_000;
    let moves = [
        (10, json!({ "insert": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "delete": key(), "ts": 2 })),
        (10, json!("flush")),
        (30, json!({ "set_repaired": { "sstable": 1, "at_ms": at_ms } })),
        (30, json!({ "set_repaired": { "sstable": 2, "at_ms": at_ms } })),
        (100, json!("major")),
    ];
    world("repaired", config, &[], &moves)
}

/// Repaired and unrepaired sstables, and a purge that asks for neither.
fn holders(config: &Config) -> World<Cassandra> {
    let at_ms = (START + 30) * 1_000;
    let moves = [
        (10, json!({ "insert": key(), "set": { "v": 1 }, "ts": 1 })),
        (10, json!({ "delete": key(), "ts": 2 })),
        (10, json!("flush")),
        (30, json!({ "set_repaired": { "sstable": 1, "at_ms": at_ms } })),
        (30, json!({ "set_repaired": { "sstable": 2, "at_ms": at_ms } })),
        (100, json!("major")),
        (100, json!({ "compact": [2] })),
    ];
    world("holders", with(config, |_| {}), &[], &moves)
}

/// A collection as a whole, and element by element.
fn collections(config: &Config) -> World<Cassandra> {
    let moves = [
        (10, json!({ "update": key(), "set": { "z": [1] }, "ts": 2 })),
        (10, json!({ "update": key(), "add": { "z": [2] }, "ts": 1 })),
        (10, json!({ "delete": key(), "ts": 1 })),
        (10, json!({ "delete": key(), "columns": ["z"], "ts": 2 })),
        (10, json!("flush")),
        (100, json!("major")),
        (100, json!({ "compact": [1] })),
    ];
    world("collections", with(config, |_| {}), &[], &moves)
}

/// Ranges that overlap, and a partition deletion.
fn ranges(config: &Config) -> World<Cassandra> {
    let slice = |from: i64, to: i64| json!({ "from": [">=", from], "to": ["<=", to] });
    let moves = [
        (10, json!({ "insert": { "p": 1, "c": 2 }, "set": { "s": 1 }, "ts": 2 })),
        (10, json!({ "delete": { "p": 1 }, "range": slice(1, 2), "ts": 2 })),
        (11, json!({ "delete": { "p": 1 }, "range": slice(2, 3), "ts": 2 })),
        (10, json!({ "delete": { "p": 1 }, "ts": 1 })),
        (10, json!("flush")),
        (100, json!({ "compact": [1] })),
        (100, json!("major")),
    ];
    world("ranges", with(config, |_| {}), &[], &moves)
}
