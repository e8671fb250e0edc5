//! A node to try things on: `t (p int, c int, v int, w text, s int static, m map, z set)`.

use ttlspec_model::cassandra::words::*;
use ttlspec_model::cassandra::{Config, Op, Reply, Version};
use ttlspec_model::{Engine, Millis};

use super::engine::CassandraEngine;

/// The second in which nothing has happened yet.
pub(super) const T0: i64 = 1_700_000_000;

/// A node of 5.0.6 with gc_grace_seconds 0, and these options of compaction.
pub(super) fn config(options: &[(&str, &str)]) -> Config {
    let column = |name: &str, kind, is_static| Column { name: name.to_owned(), kind, is_static };
    let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Config {
        version: Version::new(5, 0, 6),
        format: Format::Nb,
        overflow: Overflow::Cap,
        tombstone_failure_threshold: 100_000,
        table: Table {
            clustering: vec![Clustering { name: "c".to_owned(), descending: false }],
            columns: vec![
                column("s", Kind::Int, true),
                column("v", Kind::Int, false),
                column("w", Kind::Text, false),
                column("m", Kind::Map, false),
                column("z", Kind::Set, false),
            ],
            gc_grace_seconds: 0,
            default_time_to_live: 0,
            compaction: options.iter().map(option).collect(),
            view: None,
        },
        without: Vec::new(),
    }
}

/// `INSERT INTO t (p, c, v) VALUES (1, c, v) USING TIMESTAMP ts`.
pub(super) fn insert(c: i32, v: i32, ts: i64) -> Statement {
    with_ttl(c, v, ts, None)
}

/// The same with a TTL.
pub(super) fn with_ttl(c: i32, v: i32, ts: i64, ttl: Option<i64>) -> Statement {
    let set = vec![("v".to_owned(), Value::Int(v))];
    statement(&[c], ts, Verb::Insert(Upsert { ttl, set, ..Upsert::default() }))
}

/// `UPDATE t USING TIMESTAMP ts SET …`, as it is given.
pub(super) fn update(c: i32, ts: i64, upsert: Upsert) -> Statement {
    statement(&[c], ts, Verb::Update(upsert))
}

/// `DELETE FROM t USING TIMESTAMP ts WHERE p = 1 AND c = c`.
pub(super) fn delete(c: i32, ts: i64) -> Statement {
    statement(&[c], ts, Verb::Delete)
}

/// `DELETE FROM t USING TIMESTAMP ts WHERE p = 1 AND c >= from AND c < to`.
pub(super) fn delete_slice(from: i32, to: i32, ts: i64) -> Statement {
    let slice = Slice { from: Some((from, true)), to: Some((to, false)) };
    statement(&[], ts, Verb::DeleteSlice(slice))
}

/// Any statement about partition 1.
pub(super) fn statement(clustering: &[i32], ts: i64, verb: Verb) -> Statement {
    Statement { p: 1, clustering: clustering.to_vec(), timestamp: Some(ts), verb }
}

/// A node that is told things, so many seconds after [`T0`].
pub(super) struct Told(pub CassandraEngine);

impl Told {
    /// A node of this configuration.
    pub fn of(config: &Config) -> Told {
        Told(CassandraEngine::open(config))
    }

    /// Does `op`, and answers.
    pub fn at(&mut self, second: i64, op: Op) -> Reply {
        self.0.apply(Millis((T0 + second) * 1_000), &op).unwrap()
    }

    /// Writes to an sstable of its own.
    pub fn flushed(&mut self, second: i64, statements: Vec<Statement>) {
        assert_eq!(self.at(second, Op::Write(statements)), Reply::Done);
        assert!(matches!(self.at(second, Op::Flush), Reply::Made(made) if made.len() == 1));
    }

    /// The numbers of the sstables.
    pub fn sstables(&mut self, second: i64) -> Vec<u64> {
        match self.at(second, Op::Sstables) {
            Reply::Sstables(all) => all.iter().map(|it| it.id).collect(),
            reply => panic!("{reply:?}"),
        }
    }

    /// The only partition as it is kept.
    pub fn kept(&mut self, second: i64) -> PartitionSeen {
        match self.at(second, Op::Merged) {
            Reply::Merged(mut all) if all.len() == 1 => all.remove(0),
            reply => panic!("{reply:?}"),
        }
    }

    /// What a query shows.
    pub fn select(&mut self, second: i64, query: Query) -> Rows {
        match self.at(second, Op::Select(query)) {
            Reply::Rows(rows) => rows,
            reply => panic!("{reply:?}"),
        }
    }
}

/// The cells of the rows of a partition, as they are kept.
pub(super) fn cells(partition: &PartitionSeen) -> Vec<CellSeen> {
    let rows = partition.items.iter().filter_map(|item| match item {
        ItemSeen::Row(row) => Some(row.cells.clone()),
        ItemSeen::Marker(_) => None,
    });
    rows.flatten().collect()
}
