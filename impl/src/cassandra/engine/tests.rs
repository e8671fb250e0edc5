use super::super::testing::*;
use super::*;
use ttlspec_model::cassandra::words::{Query, Verb};

#[test]
fn what_is_made_and_gone_on_the_way_has_no_number() {
    let mut node = Told::of(&config(&[]));
    node.at(0, Op::Write(vec![insert(1, 1, 1)]));
    let ops = vec![
        Op::Flush,
        Op::Write(vec![insert(2, 2, 2)]),
        Op::Flush,
        Op::Major { unrepaired_first: false },
    ];

    let made = node.at(0, Op::AtOnce(ops));

    assert_eq!(made, Reply::Made(vec![1]));
    assert_eq!(node.select(0, Query::default()).rows.len(), 2);
}

#[test]
fn a_rule_that_is_no_fault_cannot_be_switched_off() {
    let without = vec![ttlspec_model::Rule::CassandraPurgeCell];
    let mut engine = CassandraEngine::open(&Config { without, ..config(&[]) });

    let refused = engine.apply(Millis(0), &Op::Flush).unwrap_err();

    assert!(refused.0.contains("cassandra.purge.cell"), "{refused}");
}

#[test]
fn an_altered_table_flushes_and_one_that_stays_as_it_is_does_not() {
    let mut node = Told::of(&config(&[]));
    node.at(0, Op::Write(vec![insert(1, 1, 1)]));

    assert_eq!(node.at(0, Op::AlterGcGrace(-1)), Reply::Refused);
    assert_eq!(node.at(0, Op::AlterGcGrace(0)), Reply::Made(vec![]));
    assert_eq!(node.at(0, Op::AlterGcGrace(10)), Reply::Made(vec![1]));
}

#[test]
fn in_the_last_week_no_compaction_is_done() {
    let reject = Config { overflow: Overflow::Reject, ..config(&[]) };
    let last_week = Format::Nb.last_expiration() - T0 - COMPACTION_HISTORY_TTL;
    let mut node = Told::of(&reject);

    let major = Op::Major { unrepaired_first: false };
    assert_eq!(node.at(last_week, major.clone()), Reply::Made(vec![]));
    assert_eq!(node.at(last_week + 1, major), Reply::Failed(Failure::InvalidRequest));
}

#[test]
fn a_partition_deletion_before_1970_cannot_be_read_in_format_oa() {
    let mut node = Told::of(&Config { format: Format::Oa, ..config(&[]) });
    node.flushed(0, vec![statement(&[], -1, Verb::Delete)]);

    let select = Op::Select(Query { keys: Some(vec![1]), ..Query::default() });
    assert_eq!(node.at(0, select), Reply::Failed(Failure::CorruptSstable));
    let other = Op::Select(Query { keys: Some(vec![2]), ..Query::default() });
    assert!(matches!(node.at(0, other), Reply::Rows(_)));
}

#[test]
fn a_snapshot_comes_back_beside_what_is_there() {
    let mut node = Told::of(&config(&[]));
    node.flushed(0, vec![insert(1, 1, 1)]);
    assert_eq!(node.at(0, Op::Snapshot), Reply::Made(vec![]));
    node.at(0, Op::Truncate);

    assert_eq!(node.at(0, Op::Refresh), Reply::Made(vec![2]));
    assert_eq!(node.select(0, Query::default()).rows.len(), 1);
}

#[test]
fn a_query_with_more_values_than_columns_is_refused() {
    let clustering = vec![vec![1], vec![2]];
    let query = Query { keys: Some(vec![1]), clustering, ..Query::default() };

    assert_eq!(Told::of(&config(&[])).at(0, Op::Select(query)), Reply::Refused);
}
