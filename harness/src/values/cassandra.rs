//! Which values are worth trying with Cassandra?
//!
//! Two partitions, three rows, five timestamps and the ends of the range; lifetimes and
//! gc_grace_seconds of a few seconds, so that expiry, purge and compaction meet; a clock that mostly
//! goes on.

use ttlspec_model::Millis;
use ttlspec_model::cassandra::words::*;
use ttlspec_model::cassandra::{Config, Op, Version};

use super::{Source, chance, count, pick, weigh};
use crate::notation::cassandra::{assigns_nothing, table_of_recordings};

/// The second in which scripts begin.
pub const START: i64 = 1_700_000_000;

/// Versions that behave differently.
const VERSIONS: [Version; 2] = [Version::new(5, 0, 6), Version::new(4, 1, 10)];

/// A node with a table.
pub fn config(source: &mut dyn Source) -> Config {
    let version = pick(source, &VERSIONS);
    let is_oa = version.has_wide_deletion_time() && chance(source, 6);
    let clustering: [&[&str]; 4] = [&["c"], &["c", "d"], &["c", "d desc"], &["c desc", "d"]];
    let mut table = table_of_recordings(pick(source, &clustering));
    table.gc_grace_seconds = pick(source, &[0, 10, 100, 864_000, 1]);
    table.default_time_to_live = pick(source, &[0, 0, 0, 50, 1]);
    table.compaction = options(source, version);
    table.view =
        (table.clustering.len() == 1 && chance(source, 8)).then(|| pick(source, &[0, 100]));
    Config {
        version,
        format: if is_oa { Format::Oa } else { Format::Nb },
        overflow: pick(source, &[Overflow::Reject, Overflow::Cap]),
        tombstone_failure_threshold: pick(source, &[100_000, 100_000, 100_000, 5]),
        table,
        without: Vec::new(),
    }
}

/// Options of compaction.
fn options(
    source: &mut dyn Source,
    version: Version,
) -> std::collections::BTreeMap<String, String> {
    let classes = [
        "SizeTieredCompactionStrategy",
        "LeveledCompactionStrategy",
        "TimeWindowCompactionStrategy",
        "UnifiedCompactionStrategy",
    ];
    let mut options = std::collections::BTreeMap::new();
    let mut put = |name: &str, value: &str| drop(options.insert(name.to_owned(), value.to_owned()));
    let known = if version.has_unified_compaction() { classes.len() } else { classes.len() - 1 };
    put("class", pick(source, &classes[..known]));
    if chance(source, 4) {
        put("only_purge_repaired_tombstones", "true");
    }
    if chance(source, 4) {
        put("provide_overlapping_tombstones", pick(source, &["row", "cell"]));
    }
    if chance(source, 3) {
        put("tombstone_threshold", pick(source, &["0.2", "0.05", "0.5"]));
    }
    if chance(source, 3) {
        put("unchecked_tombstone_compaction", "true");
    }
    if options["class"].starts_with("TimeWindow") {
        let mut put = |name: &str, value: &str| drop(options.insert(name.into(), value.into()));
        put("compaction_window_unit", "MINUTES");
        put("compaction_window_size", "1");
    }
    options
}

/// A script whose clock mostly goes on.
#[derive(Clone, Debug)]
pub struct Course {
    config: Config,
    now: i64,
    /// About how many sstables were made.
    made: u64,
}

/// A course of which nothing is drawn yet, and how the node is set up for it.
pub fn course(source: &mut dyn Source) -> (Config, Course) {
    let config = config(source);
    let course = Course { config: config.clone(), now: start(source, &config), made: 0 };
    (config, course)
}

/// Mostly some day; sometimes one near the end of what can be written.
fn start(source: &mut dyn Source, config: &Config) -> i64 {
    match weigh(source, &[(6, 0), (1, 1), (1, 2)]) {
        0 => START,
        1 => config.format.last_expiration() - 1_000,
        _ => config.format.last_expiration() - 630_720_000,
    }
}

impl Course {
    /// The next operation, and its instant.
    pub fn step(&mut self, source: &mut dyn Source) -> (Millis, Op) {
        self.now += pick(source, &[0, 1, 5, 10, 50, 100, 101]);
        let now = Millis(self.now * 1_000 + pick(source, &[0, 0, 0, 999]));
        let op = op(source, &self.config, self.made.max(1));
        if !matches!(op, Op::Write(_)) {
            self.made += 1;
        }
        (now, op)
    }
}

/// Any operation, at any of a few instants.
pub fn step(source: &mut dyn Source, config: &Config) -> (Millis, Op) {
    let at = START + pick(source, &[0, 1, 10, 11, 50, 100, 101, 200]);
    (Millis(at * 1_000), op(source, config, 4))
}

/// Any operation, where about so many sstables were made.
pub fn op(source: &mut dyn Source, config: &Config, made: u64) -> Op {
    #[derive(Clone, Copy)]
    enum Kind {
        Write,
        Flush,
        Compact,
        Major,
        Garbage,
        Repaired,
        Background,
        Alter,
        Ask,
        Rare,
    }
    let kinds = [
        (40, Kind::Write),
        (12, Kind::Flush),
        (6, Kind::Compact),
        (4, Kind::Major),
        (3, Kind::Garbage),
        (3, Kind::Repaired),
        (3, Kind::Background),
        (3, Kind::Alter),
        (8, Kind::Ask),
        (2, Kind::Rare),
    ];
    let id = |source: &mut dyn Source| 1 + source.choose(made.min(12) as usize) as u64;
    match weigh(source, &kinds) {
        Kind::Write => {
            let most = if chance(source, 6) { 3 } else { 1 };
            let many = 1 + source.choose(most);
            Op::Write((0..many).map(|_| statement(source, &config.table)).collect())
        }
        Kind::Flush => Op::Flush,
        Kind::Compact => {
            let mut ids: Vec<u64> = (0..=count(source, 2)).map(|_| id(source)).collect();
            ids.sort_unstable();
            ids.dedup();
            Op::Compact(ids)
        }
        Kind::Major => Op::Major { unrepaired_first: chance(source, 3) },
        Kind::Garbage => Op::GarbageCollect(pick(source, &[Shadow::Row, Shadow::Cell])),
        Kind::Repaired => {
            let at_ms = pick(source, &[1_700_000_000_000, 1_600_000_000_000, 0]);
            Op::SetRepaired { sstable: id(source), at_ms }
        }
        Kind::Background => Op::Background(pick(source, &[1, 3])),
        Kind::Alter => match source.choose(3) {
            0 => Op::AlterGcGrace(pick(source, &[0, 10, 100, 864_000, -1])),
            1 => Op::AlterDefaultTtl(pick(source, &[0, 50, 630_720_000, 630_720_001])),
            _ => Op::AlterCompaction(options(source, config.version)),
        },
        Kind::Ask => {
            let all = [Op::Merged, Op::ViewMerged, Op::ViewSelect, Op::Sstables, Op::Stats];
            match source.choose(2) {
                0 => Op::Select(query(source, &config.table)),
                _ => pick(source, &all),
            }
        }
        Kind::Rare => match source.choose(6) {
            0 => Op::Restart,
            1 => Op::Snapshot,
            2 => Op::Refresh,
            3 => Op::Truncate,
            4 => Op::Tasks(vec![vec![id(source)], vec![id(source)]]),
            _ => Op::AtOnce(vec![Op::Flush, Op::Major { unrepaired_first: false }]),
        },
    }
}

/// A statement.
pub fn statement(source: &mut dyn Source, table: &Table) -> Statement {
    let p = pick(source, &[1, 2]);
    let whole: Vec<i32> = table.clustering.iter().map(|_| pick(source, &[1, 0, 2])).collect();
    let timestamp = Some(timestamp(source)).filter(|_| !chance(source, 40));
    let (clustering, verb) = match source.choose(8) {
        0..3 => (whole, Verb::Insert(upsert(source))),
        3..5 => {
            let mut upsert = upsert(source);
            if assigns_nothing(&upsert) {
                upsert.set.push(("v".to_owned(), Value::Int(1)));
            }
            (whole, Verb::Update(upsert))
        }
        5 => (whole, columns(source)),
        6 => {
            let length = source.choose(whole.len() + 1);
            (whole[..length].to_vec(), Verb::Delete)
        }
        _ => {
            let length = source.choose(whole.len());
            let slice = slice(source);
            let has_bounds = slice != Slice::default();
            let verb = if has_bounds { Verb::DeleteSlice(slice) } else { Verb::Delete };
            (whole[..length].to_vec(), verb)
        }
    };
    Statement { p, clustering, timestamp, verb }
}

fn timestamp(source: &mut dyn Source) -> i64 {
    let usual = pick(source, &[3, 1, 2, 4, 5]);
    let extreme = [-1, 0, i64::MAX, i64::MIN + 1, i64::MIN, 1_442_880_000_000_000, 1_000_000_000];
    if chance(source, 8) { pick(source, &extreme) } else { usual }
}

fn upsert(source: &mut dyn Source) -> Upsert {
    let ttl = match source.choose(4) {
        0 | 1 => None,
        2 => Some(pick(source, &[10, 1, 5, 50, 100])),
        _ => Some(pick(source, &[10, 0, 100, 630_720_000, 630_720_001, -1])),
    };
    let mut upsert = Upsert { ttl, ..Upsert::default() };
    let mut set = |name: &str, value: Value| upsert.set.push((name.to_owned(), value));
    let int = |source: &mut dyn Source| match chance(source, 4) {
        true => Value::Null,
        false => Value::Int(pick(source, &[1, 2, 256, -1])),
    };
    if chance(source, 2) {
        set("v", int(source));
    }
    if chance(source, 3) {
        set("w", if chance(source, 4) { Value::Null } else { Value::Text(text(source)) });
    }
    if chance(source, 4) {
        set("s", int(source));
    }
    if chance(source, 5) {
        set(
            "m",
            match source.choose(3) {
                0 => Value::Map(vec![(1, 1)]),
                1 => Value::Map(Vec::new()),
                _ => Value::Null,
            },
        );
    }
    if chance(source, 5) {
        set(
            "z",
            match source.choose(3) {
                0 => Value::Set(vec![1, 2]),
                1 => Value::Set(Vec::new()),
                _ => Value::Null,
            },
        );
    }
    if chance(source, 8) {
        let value = if chance(source, 3) { None } else { Some(7) };
        upsert.put.push(("m".to_owned(), vec![(pick(source, &[1, 2]), value)]));
    }
    if chance(source, 8) {
        upsert.add.push(("z".to_owned(), vec![pick(source, &[1, 3])]));
    } else if chance(source, 8) {
        upsert.remove.push(("z".to_owned(), vec![1]));
    }
    upsert
}

fn text(source: &mut dyn Source) -> String {
    pick(source, &["a", "b", "~", ""]).to_owned()
}

fn columns(source: &mut dyn Source) -> Verb {
    let all = ["v", "w", "s", "m", "z"];
    let mut columns: Vec<String> = vec![pick(source, &all).to_owned()];
    if chance(source, 3) {
        columns.push(pick(source, &all).to_owned());
        columns.sort();
        columns.dedup();
    }
    let elements = match chance(source, 4) {
        true => {
            columns.clear();
            vec![(pick(source, &["m", "z"]).to_owned(), vec![1])]
        }
        false => Vec::new(),
    };
    Verb::DeleteColumns { columns, elements }
}

fn slice(source: &mut dyn Source) -> Slice {
    let bound = |source: &mut dyn Source| {
        (!chance(source, 3)).then(|| (pick(source, &[1, 0, 2]), chance(source, 2)))
    };
    Slice { from: bound(source), to: bound(source) }
}

/// A query.
pub fn query(source: &mut dyn Source, table: &Table) -> Query {
    let mut query = Query { keys: Some(vec![pick(source, &[1, 2])]), ..Query::default() };
    if chance(source, 4) {
        query.keys = Some(vec![1, 2]);
    }
    for _ in 0..source.choose(table.clustering.len() + 1) {
        let values = if chance(source, 3) { vec![0, 2] } else { vec![pick(source, &[1, 0, 2])] };
        query.clustering.push(values);
    }
    if query.clustering.len() < table.clustering.len() && chance(source, 2) {
        query.slice = Some(slice(source)).filter(|slice| *slice != Slice::default());
    }
    query.reversed = chance(source, 3);
    query.limit = chance(source, 3).then(|| pick(source, &[1, 2]));
    query
}
