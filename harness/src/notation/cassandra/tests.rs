//! What is written is read back as the same, and what is not known is refused with its path.

use std::path::{Path, PathBuf};

use ttlspec_model::{Engine, Reference};

use super::*;
use crate::recording::{self, Tally, What};
use crate::text::{Language, write};
use crate::values::{Seeded, cassandra as values};

/// The same value, written as TOML and read again.
fn through_toml(value: &Value) -> Value {
    let text = format!("x = {}", write::inline(value));
    let node = Language::Toml.read(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    node.to_value()["x"].clone()
}

fn back_op(op: &Op) {
    let written = Cassandra::op_to(op);
    assert_eq!(Cassandra::op_from(&written).as_ref(), Ok(op), "{written}");
    let toml = through_toml(&written);
    assert_eq!(Cassandra::op_from(&toml).as_ref(), Ok(op), "{toml} in TOML");
}

fn back_reply(reply: &Reply) {
    let written = Cassandra::reply_to(reply);
    assert_eq!(Cassandra::reply_from(&written).as_ref(), Ok(reply), "{written}");
    let toml = through_toml(&written);
    assert_eq!(Cassandra::reply_from(&toml).as_ref(), Ok(reply), "{toml} in TOML");
}

fn back_config(config: &Config) {
    let written = Cassandra::config_to(config);
    assert_eq!(Cassandra::config_from(&written).as_ref(), Ok(config), "{written}");
    let toml = through_toml(&written);
    assert_eq!(Cassandra::config_from(&toml).as_ref(), Ok(config), "{toml} in TOML");
}

/// Texts that look like something else, beside those that do not.
const TEXTS: [&str; 10] = ["", "5", "-1", "007", "+5", " 7", "null", "a", "é\n\"", "99999999999"];

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.to_owned(), kind, is_static: false }
}

#[test]
fn random_scripts_and_their_answers_are_read_back_as_the_same() {
    let (mut steps, mut texts) = (0, 0);
    for seed in 0..100 {
        let source = &mut Seeded::new(seed);
        let (mut config, mut course) = values::course(source);
        // Two texts more, beside `w`, so that no name tells what is a text.
        config.table.columns = sorted(
            [config.table.columns, vec![column("a", Kind::Text), column("x", Kind::Text)]].concat(),
        );
        back_config(&config);
        let mut node = Reference::<Cassandra>::open(&config);
        for _ in 0..25 {
            let (now, mut op) = course.step(source);
            if let Op::Write(statements) = &mut op {
                for statement in statements {
                    let (Verb::Insert(upsert) | Verb::Update(upsert)) = &mut statement.verb else {
                        continue;
                    };
                    for name in ["a", "x"] {
                        let text = crate::values::pick(source, &TEXTS).to_owned();
                        upsert.set.push((
                            name.to_owned(),
                            ttlspec_model::cassandra::words::Value::Text(text),
                        ));
                        texts += 1;
                    }
                }
            }
            back_op(&op);
            let questions = [Op::Sstables, Op::Stats, Op::Merged, Op::Select(Query::default())];
            for op in [op].into_iter().chain(questions) {
                back_reply(&node.apply(now, &op).expect("the specification has all operations"));
            }
            let asked = values::query(source, &config.table);
            assert_eq!(query(&query::to(&asked)).as_ref(), Ok(&asked));
            steps += 1;
        }
    }
    assert!(steps >= 2_000 && texts > 1_000, "{steps} steps with {texts} texts");
}

#[test]
fn a_text_is_marked_only_where_it_looks_like_something_else() {
    let reply = |value: Shown| {
        let cell =
            CellSeen::Cell { column: "a".into(), path: None, ts: 1, ttl: 0, ldt: None, value };
        let row = RowSeen {
            clustering: vec![("c".into(), 1)],
            liveness: None,
            deletion: None,
            cells: vec![cell],
        };
        let items = vec![ItemSeen::Row(row)];
        Reply::Merged(vec![PartitionSeen { key: 1, deletion: None, statics: None, items }])
    };
    let value = |value: Value| value["merged"][0]["items"][0]["cells"][0]["v"].clone();

    for text in TEXTS {
        let reply = reply(Shown::Text(text.to_owned()));

        let written = value(Cassandra::reply_to(&reply));

        let is_marked = matches!(text, "" | "5" | "-1");
        let expected = if is_marked { json!({ "text": text }) } else { json!(text) };
        assert_eq!(written, expected);
        assert_eq!(value(as_recorded(&reply)), json!(text), "a recording has bare texts");
        back_reply(&reply);
    }
    for other in [Shown::Int(5), Shown::Int(i32::MIN), Shown::Empty, Shown::Tombstone] {
        back_reply(&reply(other));
    }
}

#[test]
fn texts_and_nulls_in_statements_are_told_apart() {
    let read = |value: Value| {
        let op = json!({ "update": { "p": 1 }, "set": { "w": value } });
        match Cassandra::op_from(&op).expect("it is a statement") {
            Op::Write(statements) => match &statements[0].verb {
                Verb::Update(upsert) => upsert.set[0].1.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    use ttlspec_model::cassandra::words::Value as Written;

    assert_eq!(read(json!("null")), Written::Null);
    assert_eq!(read(json!(null)), Written::Null);
    assert_eq!(read(json!({ "text": "null" })), Written::Text("null".into()));
    assert_eq!(read(json!("5")), Written::Text("5".into()));
    assert_eq!(read(json!(5)), Written::Int(5));

    let put = json!({ "update": { "p": 1 }, "put": { "m": { "1": "null", "2": null, "3": 3 } } });
    let op = Cassandra::op_from(&put).expect("it is a statement");
    let elements = vec![(1, None), (2, None), (3, Some(3))];
    let upsert = Upsert { put: vec![("m".into(), elements)], ..Upsert::default() };
    let verb = Verb::Update(upsert);
    let expected = Statement { p: 1, clustering: vec![], timestamp: None, verb };
    assert_eq!(op, Op::Write(vec![expected]));
    back_op(&op);
}

#[test]
fn a_table_without_clustering_columns_is_read_back() {
    let config = json!({ "version": "5.0.6", "table": { "clustering": [] } });
    let config = Cassandra::config_from(&config).expect("it is a configuration");
    let mut node = Reference::<Cassandra>::open(&config);
    let insert = json!({ "insert": { "p": 1 }, "set": { "v": 1 }, "ts": 5 });
    let insert = Cassandra::op_from(&insert).expect("it is a statement");
    let now = ttlspec_model::Millis(0);

    node.apply(now, &insert).expect("it is carried out");

    let reply = node.apply(now, &Op::Merged).expect("it is answered");
    assert!(matches!(&reply, Reply::Merged(all) if all[0].items.len() == 1));
    back_config(&config);
    back_reply(&reply);
}

fn refused(value: Value, path: &str, message: &str) {
    let fault = Cassandra::op_from(&value).expect_err(&value.to_string());
    assert_eq!(super::super::show_path(&fault.path), path, "{value}: {fault}");
    assert!(fault.message.contains(message), "{value}: {fault}");
}

#[test]
fn what_no_statement_has_is_refused_with_its_place() {
    let key = json!({ "p": 1, "c": 1 });
    for name in ["set", "put", "add", "remove"] {
        refused(json!({ "delete": key, name: {} }), name, "leave it out");
    }
    refused(json!({ "delete": key, "ttl": 5 }), "ttl", "a `delete` has no `ttl`");
    for verb in ["insert", "update"] {
        let set = json!({ "v": 1 });
        refused(json!({ verb: key, "set": set, "columns": ["v"] }), "columns", "only a `delete`");
        refused(json!({ verb: key, "set": set, "elements": {} }), "elements", "only a `delete`");
        refused(json!({ verb: key, "set": set, "range": {} }), "range", "only a `delete`");
    }
    refused(json!({ "update": key, "ttl": 5 }), "", "assigns nothing");
    refused(json!({ "update": key, "put": { "m": { "+1": 1 } } }), "put.m", "found `+1`");
    refused(json!({ "delete": key, "columns": [] }), "", "names no column");
    refused(json!({ "delete": { "p": 1 }, "range": {} }), "range", "no bound");
    let nulls = json!({ "from": null, "to": null });
    refused(json!({ "delete": { "p": 1 }, "range": nulls }), "range", "no bound");
    let other = json!({ "column": "d", "from": [">", 1] });
    refused(json!({ "delete": { "p": 1 }, "range": other }), "range.column", "`c`");
    let whole = json!({ "p": 1, "c": 1, "d": 1, "e": 1, "f": 1 });
    refused(json!({ "delete": whole, "range": { "from": [">", 1] } }), "range", "is left");
    refused(
        json!({ "batch": [{ "insert": key }, { "delete": key, "ttl": 5 }] }),
        "batch[1].ttl",
        "a `delete` has no `ttl`",
    );
}

#[test]
fn keys_have_their_names_in_their_order() {
    refused(json!({ "insert": { "c": 1 } }), "insert", "lacks `p`");
    refused(json!({ "insert": { "c": 1, "p": 1 } }), "insert.c", "expected `p`, found `c`");
    refused(json!({ "insert": { "p": 1, "d": 1 } }), "insert.d", "expected `c`, found `d`");
    refused(json!({ "insert": { "p": 1, "d": 1, "c": 1 } }), "insert.d", "expected `c`");
    refused(json!({ "delete": { "p": 1, "ck": 1 } }), "delete.ck", "expected `c`");
    let many = json!({ "p": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1 });
    refused(json!({ "update": many }), "update.g", "expected the end");
}

#[test]
fn seconds_of_a_table_have_32_bits() {
    refused(json!({ "gc_grace_seconds": 2_147_483_648_i64 }), "gc_grace_seconds", "32 bits");
    refused(
        json!({ "default_time_to_live": 2_147_483_648_i64 }),
        "default_time_to_live",
        "32 bits",
    );
    back_op(&Op::AlterGcGrace(2_147_483_647));
    let view = json!({ "gc_grace_seconds": 2_147_483_648_i64 });
    let config = json!({ "version": "5.0.6", "table": { "view": view } });
    let fault = Cassandra::config_from(&config).expect_err("it is too large");
    assert_eq!(super::super::show_path(&fault.path), "table.view.gc_grace_seconds");
}

#[test]
fn what_is_no_query_is_refused() {
    for (text, message) in [
        ("where p=1 and p=2", "`p` is asked for twice"),
        ("where p>1", "`p` takes `=` or `in` only"),
        ("where p=1 and d=1", "expected `c`, found `d`"),
        ("where p=1 and c=1 and c=2", "expected `d`, found `c`"),
        ("where p=1 and c=1 and c>2", "expected `d`, found `c`"),
        ("where p=1 and c>1 and c=2", "a value and a bound"),
        ("where p=1 and c>1 and c>2", "two bounds on one side"),
        ("where p=1 and c>1 and d>2", "expected `c`, found `d`"),
        ("where p=1 and c=1 and d=1 and e=1 and f=1 and g=1", "expected no more"),
        ("where p in 1", "expected `(1, 2)`"),
        ("where p=(1)", "expected a number"),
        ("where p=1 and ", "expected a number"),
        ("where p=1 and  and c=1", "expected a condition"),
        ("wher p=1", "expected `where …`"),
        ("x where p=1", "expected `where …`"),
        ("where p=1 limit", "expected a number"),
        ("limit 1 order by reversed", "expected a number"),
        ("where p=1 order by c desc", "expected `order by reversed`"),
        ("where p=1 order by c", "leave `order by` out"),
        ("select * from t where p=1", "expected `where …`"),
    ] {
        let fault = query(text).expect_err(text);
        assert!(fault.message.contains(message), "{text}: {fault}");
    }
    let some = query(" where p in (1, 2) and c=1 and d>-1 and d<=2 order by reversed limit 3 ");
    let expected = Query {
        keys: Some(vec![1, 2]),
        clustering: vec![vec![1]],
        slice: Some(Slice { from: Some((-1, false)), to: Some((2, true)) }),
        reversed: true,
        limit: Some(3),
    };
    assert_eq!(some, Ok(expected));
}

#[test]
fn what_no_answer_has_is_refused() {
    let row = |row: Value| json!({ "rows": [row], "live": 1, "tombstones": 0 });
    let cell = |cell: Value| {
        let items = json!([{ "row": "c=1", "cells": [cell] }]);
        json!({ "merged": [{ "key": "1", "items": items }] })
    };
    let liveness = json!({ "row": "c=1", "liveness": { "ts": 1, "ttl": 5 }, "cells": [] });
    for (value, message) in [
        (row(json!({ "p": 1, "writetime(v)": 5 })), "the row lacks `v`"),
        (row(json!({ "p": 1, "v": 1, "ttl(v)": 5 })), "the row lacks `writetime(v)`"),
        (row(json!({ "p": 1, "age(v)": 5 })), "expected `ttl(…)` or `writetime(…)`"),
        (cell(json!({ "c": "v", "ts": 1, "v": 5 })), "expected a string"),
        (cell(json!({ "c": "v", "ts": 1 })), "either `v` or"),
        (cell(json!({ "c": "v", "ts": 1, "v": { "txt": "5" } })), "unknown field `txt`"),
        (
            cell(json!({ "c": "m", "ts": 1, "complex": { "ts": 1, "ldt": 1 } })),
            "unknown field `ts`",
        ),
        (json!({ "merged": [{ "key": "1", "items": [liveness] }] }), "both `ttl` and `ldt`"),
    ] {
        let fault = Cassandra::reply_from(&value).expect_err(&value.to_string());
        assert!(fault.message.contains(message), "{value}: {fault}");
    }
}

// ---- recordings ---------------------------------------------------------------------------------

fn observed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/cassandra/observed")
}

#[test]
fn recordings_are_played_and_their_words_are_read_back() {
    let path = observed().join("one-node-5.0.6.jsonl.gz");
    let mut tally = Tally::default();
    let (mut statements, mut partitions, mut reversed) = (0, 0, 0);
    for history in recording::open(&path).expect("it can be read").take(50) {
        let history = history.expect("it is a history");
        assert_eq!(recording::play(&history, &recording::specification, &mut tally), None);
        back_config(&history.config);
        for step in &history.steps {
            if let What::Op(op) = &step.what {
                back_op(op);
                statements += u64::from(matches!(op, Op::Write(_)));
            }
            for sstable in step.value["sstables"].as_array().into_iter().flatten() {
                let merged = json!({ "merged": sstable["partitions"] });
                let read = Cassandra::reply_from(&merged).expect("it has the form of a vector");
                assert_eq!(as_recorded(&read), merged);
                partitions += 1;
            }
            let reads = ["reads", "more_reads"].map(|name| step.value[name].as_array());
            for read in reads.into_iter().flatten().flatten() {
                let text = read["q"].as_str().expect("it is a text");
                let (asked, order) = query_of_cql(text).expect("it is a SELECT");
                assert_eq!(query(&query::to(&asked)).as_ref(), Ok(&asked));
                reversed += u64::from(order.is_some());
            }
        }
    }
    let (agree, disagree) = tally.observations();
    assert_eq!((tally.histories, disagree), (50, 0));
    assert!(agree > 1_000, "{agree} observations");
    let read = (statements, partitions, reversed);
    assert!(statements > 100 && partitions > 100 && reversed > 10, "{read:?}");
}
