//! Scripts on any table: up to four clustering columns, any other columns, long values, far
//! partitions, clocks that jump, and operations inside operations.

use std::collections::BTreeMap;

use ttlspec_harness::script::Script;
use ttlspec_harness::values::{Source, chance, count, pick};
use ttlspec_model::cassandra::words::*;
use ttlspec_model::cassandra::{Cassandra, Config, Op, Version};
use ttlspec_model::{Millis, Rule};

const FAULTS: [Rule; 7] = [
    Rule::CassandraFaultMinusOne,
    Rule::CassandraFaultEpoch,
    Rule::CassandraFaultRatioZero,
    Rule::CassandraFaultGarbage,
    Rule::CassandraFaultVanish,
    Rule::CassandraFaultNegativePartition,
    Rule::CassandraFaultLastWeek,
];

/// What scripts are made of.
struct Taste {
    keys: &'static [i32],
    values: &'static [i32],
    timestamps: &'static [Option<i64>],
    ttls: &'static [Option<i64>],
    steps: &'static [i64],
}

/// All sorts of values.
const WIDE: Taste = Taste {
    keys: &[1, 2, 1, 2, 3, 4, 5, -1, i32::MIN],
    values: &[0, 1, 2, -1, 1, i32::MIN, i32::MAX],
    timestamps: &[
        Some(3),
        Some(4),
        Some(5),
        Some(6),
        Some(7),
        Some(-1),
        Some(0),
        None,
        None,
        Some(i64::MAX),
        Some(i64::MIN + 1),
        Some(i64::MIN + 2),
        Some(i64::MIN),
        Some(1_442_880_000_000_000),
        Some(1_700_000_060_000_000),
        Some(-60_000_001),
    ],
    ttls: &[None, None, Some(1), Some(10), Some(100), Some(0), Some(630_720_000), Some(-1)],
    steps: &[0, 0, 1, 7, 30, 100, 5_000, -40],
};

/// Few values, so that much is equal.
const NARROW: Taste = Taste {
    keys: &[1],
    values: &[1, 2],
    timestamps: &[Some(3), Some(3), Some(4), Some(i64::MIN + 1)],
    ttls: &[None, Some(10), Some(9), Some(11)],
    steps: &[0, 0, 0, 0, 0, 1, 1, 10],
};

/// A script.
pub fn script(source: &mut dyn Source) -> Script<Cassandra> {
    let config = config(source);
    let mut script = Script::new(config.clone());
    let last = config.format.last_expiration();
    let taste = if chance(source, 2) { &NARROW } else { &WIDE };
    let mut now =
        pick(source, &[1_700_000_000, 1_700_000_000, 0, -70, last - 700_000, last, last - 9]);
    for _ in 0..10 + source.choose(60) {
        now += pick(source, taste.steps);
        let millis = now * 1_000 + pick(source, &[0, 1, 999]);
        script.steps.push((Millis(millis), op(source, taste, &config.table, 2)));
    }
    script
}

fn config(source: &mut dyn Source) -> Config {
    let version = pick(source, &[Version::new(5, 0, 6), Version::new(4, 1, 10)]);
    let is_oa = version.has_wide_deletion_time() && chance(source, 2);
    let clustering = (0..source.choose(5))
        .map(|at| Clustering { name: format!("c{at}"), descending: chance(source, 3) })
        .collect::<Vec<_>>();
    let mut columns: Vec<Column> = Vec::new();
    let mut add = |name: &str, kind: Kind, is_static: bool| {
        columns.push(Column { name: name.to_owned(), kind, is_static });
    };
    let has_view = chance(source, 3);
    for (name, kinds) in [
        ("a", &[Kind::Text, Kind::Int][..]),
        ("v", &[Kind::Int, Kind::Int, Kind::Text]),
        ("w", &[Kind::Text, Kind::Int]),
        ("k", &[Kind::Map, Kind::Set]),
        ("m", &[Kind::Map]),
        ("z", &[Kind::Set, Kind::Map]),
    ] {
        let kind = pick(source, kinds);
        let is_static = !clustering.is_empty() && chance(source, 4);
        if has_view && (name == "v" || name == "w") {
            add(name, kind, false);
        } else if !chance(source, 4) {
            add(name, kind, is_static);
        }
    }
    let table = Table {
        clustering,
        columns,
        gc_grace_seconds: pick(source, &[0, 10, 864_000, 1]),
        default_time_to_live: pick(source, &[0, 0, 5, 630_720_000]),
        compaction: options(source),
        view: has_view.then(|| pick(source, &[0, 50])),
    };
    let without = FAULTS.into_iter().filter(|_| chance(source, 8)).collect();
    Config {
        version,
        format: if is_oa { Format::Oa } else { Format::Nb },
        tombstone_failure_threshold: pick(source, &[100_000, 100_000, 2]),
        overflow: pick(source, &[Overflow::Cap, Overflow::Reject]),
        table,
        without,
    }
}

fn options(source: &mut dyn Source) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    let mut put = |name: &str, value: &str| drop(options.insert(name.to_owned(), value.to_owned()));
    put(
        "class",
        pick(
            source,
            &[
                "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy",
                "TimeWindowCompactionStrategy",
                "LeveledCompactionStrategy",
                "UnifiedCompactionStrategy",
            ],
        ),
    );
    for (name, values) in [
        ("only_purge_repaired_tombstones", &["true", "TRUE", "false"][..]),
        ("provide_overlapping_tombstones", &["row", "CELL", "cell", "none"]),
        ("tombstone_threshold", &["0.05", "0.2", "0", "none"]),
        ("unchecked_tombstone_compaction", &["true", "false"]),
        ("min_threshold", &["2", "3", "32"]),
        ("max_threshold", &["2", "3"]),
        ("compaction_window_unit", &["MINUTES", "HOURS", "DAYS"]),
        ("compaction_window_size", &["1", "2", "0"]),
        ("expired_sstable_check_frequency_seconds", &["0", "20"]),
        ("tombstone_compaction_interval", &["1"]),
    ] {
        if chance(source, 3) {
            put(name, pick(source, values));
        }
    }
    options
}

fn op(source: &mut dyn Source, taste: &Taste, table: &Table, depth: u32) -> Op {
    let ids = |source: &mut dyn Source| -> Vec<u64> {
        (0..1 + source.choose(3)).map(|_| 1 + source.choose(9) as u64).collect()
    };
    match source.choose(if depth > 0 { 60 } else { 58 }) {
        0..30 => {
            let most = pick(source, &[1, 1, 1, 2, 6]);
            Op::Write(
                (0..1 + source.choose(most)).map(|_| statement(source, taste, table)).collect(),
            )
        }
        30..38 => Op::Flush,
        38..40 => Op::Compact(ids(source)),
        40 | 41 => Op::Major { unrepaired_first: chance(source, 2) },
        42 | 43 => Op::GarbageCollect(pick(source, &[Shadow::Cell, Shadow::Row, Shadow::None])),
        44 => Op::Tasks((0..1 + source.choose(2)).map(|_| ids(source)).collect()),
        45 | 46 => Op::Background(pick(source, &[1, 2, 5])),
        47 => Op::SetRepaired {
            sstable: 1 + source.choose(9) as u64,
            at_ms: pick(source, &[1_000, 0, 2_000]),
        },
        48 => Op::AlterGcGrace(pick(source, &[0, 10, 864_000, -1])),
        49 => Op::AlterDefaultTtl(pick(source, &[0, 5, 630_720_000, 630_720_001, -1])),
        50 => Op::AlterCompaction(options(source)),
        51 => Op::Restart,
        52 => Op::Snapshot,
        53 => Op::Refresh,
        54 if chance(source, 3) => Op::Truncate,
        54..58 => Op::Select(query(source, taste, table)),
        _ => {
            Op::AtOnce((0..source.choose(4)).map(|_| op(source, taste, table, depth - 1)).collect())
        }
    }
}

fn statement(source: &mut dyn Source, taste: &Taste, table: &Table) -> Statement {
    let columns = table.clustering.len();
    let whole: Vec<i32> = (0..columns).map(|_| pick(source, taste.values)).collect();
    let part = whole[..source.choose(columns + 1)].to_vec();
    let (clustering, verb) = match source.choose(9) {
        0..3 => (whole, Verb::Insert(upsert(source, taste, table))),
        3 | 4 => (whole, Verb::Update(upsert(source, taste, table))),
        5 => (part, Verb::Update(upsert(source, taste, table))),
        6 => (whole, columns_to_delete(source, table)),
        7 => (part, Verb::Delete),
        _ => (part, Verb::DeleteSlice(slice(source, taste))),
    };
    let mut clustering = clustering;
    if chance(source, 50) {
        clustering.push(3);
    }
    let (p, timestamp) = (pick(source, taste.keys), pick(source, taste.timestamps));
    Statement { p, clustering, timestamp, verb }
}

fn value(source: &mut dyn Source, kind: Kind) -> Value {
    if chance(source, 4) {
        return Value::Null;
    }
    if chance(source, 60) {
        // Of the wrong kind, maybe.
        return Value::Int(1);
    }
    match kind {
        Kind::Int => Value::Int(pick(source, &[1, 2, -1, i32::MIN])),
        Kind::Text => {
            let texts =
                ["", "a", "b", "four", "12345678", "123456789", "12345678\0", "a long text"];
            Value::Text(pick(source, &texts).to_owned())
        }
        Kind::Map => Value::Map((0..source.choose(3)).map(|_| (path(source), 7)).collect()),
        Kind::Set => Value::Set((0..source.choose(3)).map(|_| path(source)).collect()),
    }
}

fn path(source: &mut dyn Source) -> i32 {
    pick(source, &[1, 2, -1, i32::MAX])
}

fn paths(source: &mut dyn Source) -> Vec<i32> {
    (0..count(source, 2)).map(|_| path(source)).collect()
}

fn upsert(source: &mut dyn Source, taste: &Taste, table: &Table) -> Upsert {
    let mut upsert = Upsert { ttl: pick(source, taste.ttls), ..Upsert::default() };
    for column in &table.columns {
        let name = column.name.clone();
        if column.is_static && !chance(source, 3) {
            continue;
        }
        if chance(source, 3) {
            upsert.set.push((name.clone(), value(source, column.kind)));
        }
        if !column.kind.is_complex() {
            continue;
        }
        if chance(source, 6) {
            let pairs = paths(source).into_iter();
            let pairs = pairs.map(|path| (path, pick(source, &[Some(8), Some(9), None])));
            upsert.put.push((name.clone(), pairs.collect()));
        }
        if chance(source, 6) {
            upsert.add.push((name.clone(), paths(source)));
        }
        if chance(source, 8) {
            upsert.remove.push((name, paths(source)));
        }
    }
    if chance(source, 60) {
        upsert.set.push((pick(source, &["none", "v"]).to_owned(), Value::Int(1)));
    }
    upsert
}

fn columns_to_delete(source: &mut dyn Source, table: &Table) -> Verb {
    let (mut columns, mut elements) = (Vec::new(), Vec::new());
    for column in &table.columns {
        if chance(source, 3) {
            columns.push(column.name.clone());
        }
        if column.kind.is_complex() && chance(source, 3) {
            elements.push((column.name.clone(), paths(source)));
        }
    }
    Verb::DeleteColumns { columns, elements }
}

fn slice(source: &mut dyn Source, taste: &Taste) -> Slice {
    let bound = |source: &mut dyn Source| {
        (!chance(source, 3)).then(|| (pick(source, taste.values), chance(source, 2)))
    };
    Slice { from: bound(source), to: bound(source) }
}

fn query(source: &mut dyn Source, taste: &Taste, table: &Table) -> Query {
    let keys =
        |source: &mut dyn Source| (0..count(source, 3)).map(|_| pick(source, taste.keys)).collect();
    let keys = (!chance(source, 4)).then(|| keys(source));
    let columns = source.choose(table.clustering.len() + 1);
    let mut values = || (0..1 + source.choose(3)).map(|_| pick(source, taste.values)).collect();
    let clustering: Vec<Vec<i32>> = (0..columns).map(|_| values()).collect();
    let limit = pick(source, &[None, None, Some(0), Some(1), Some(2), Some(3)]);
    Query {
        keys,
        clustering,
        slice: chance(source, 2).then(|| slice(source, taste)),
        reversed: chance(source, 2),
        limit,
    }
}
