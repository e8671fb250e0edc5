//! The JSON form of every vector of the book is as its JSON Schema says, and a slip is not.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use ttlspec_harness::Notation;
use ttlspec_harness::vector::{load_dir, parse};
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;

fn specs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")
}

fn schema() -> Validator {
    let text = std::fs::read_to_string(specs().join("vectors.schema.json")).expect("it is there");
    let schema: Value = serde_json::from_str(&text).expect("it is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("it is a JSON Schema");
    jsonschema::validator_for(&schema).expect("it is a JSON Schema")
}

fn good() -> Value {
    json!({
        "format": 1,
        "spec": "mongodb",
        "config": { "version": "7.0.14" },
        "vector": [{
            "name": "a good one",
            "versions": ">=5.0.14 <6.0 || >=6.0.2",
            "steps": [
                { "at_ms": 0, "do": { "insert": { "_id": 1 } }, "see": "ok" },
                { "at_ms": 0, "do": "pass", "see": { "deleted": [] }, "by": ["mongodb.pass.all"] },
            ],
        }],
    })
}

/// How many vectors of a system satisfy the schema, which is all of them.
fn satisfied<V: Notation>(schema: &Validator) -> usize {
    let files = load_dir::<V>(&specs().join(V::NAME).join("vectors")).expect("they can be read");
    for file in &files {
        let json = file.to_json();
        let errors = schema.iter_errors(&json);
        let errors: Vec<String> = errors.map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", file.path);
    }
    files.iter().map(|file| file.vectors.len()).sum()
}

#[test]
fn every_vector_of_the_book_satisfies_the_schema() {
    let schema = schema();

    assert!(satisfied::<MongoDb>(&schema) >= 100);
    assert!(satisfied::<Cassandra>(&schema) >= 900);
}

#[test]
fn counters_of_more_than_32_bits_are_a_reply() {
    let mut file = good();
    let counters = json!({ "passes": 1, "deleted_documents": 5_000_000_000_u64 });
    file["vector"][0]["steps"][1] = json!({
        "at_ms": 0, "do": "counters", "see": { "counters": counters },
    });

    let read = parse::<MongoDb>("large.json", file.to_string().as_bytes());

    assert!(schema().is_valid(&file));
    let written = read.expect("it is a vector").to_json();
    assert_eq!(written["vector"][0]["steps"][1]["see"]["counters"], counters);
}

#[test]
fn a_slip_is_refused() {
    let schema = schema();
    assert!(schema.is_valid(&good()));

    let slips: [(&str, Value); 15] = [
        ("/format", json!(2)),
        ("/spec", json!("mongo")),
        ("/config", json!({ "verison": "7.0.14" })),
        ("/config/version", json!("seven")),
        ("/vector", json!([])),
        ("/vector/0/name", json!(" ")),
        ("/vector/0/versions", json!(">= 5.0")),
        ("/vector/0/versions", json!([])),
        ("/vector/0/steps", json!([])),
        ("/vector/0/steps/0/at_ms", json!(0.5)),
        ("/vector/0/steps/0/do", json!({ "insret": { "_id": 1 } })),
        ("/vector/0/steps/0/do", json!({ "insert": { "t": 1 } })),
        ("/vector/0/steps/0/see", json!({ "deletd": [] })),
        ("/vector/0/steps/0/see", json!({ "deleted": [], "skiped": [] })),
        ("/vector/0/steps/1/by", json!(["Mongodb Pass"])),
    ];
    for (place, slip) in slips {
        let mut file = good();
        *file.pointer_mut(place).expect("the place is there") = slip.clone();
        assert!(!schema.is_valid(&file), "{place} = {slip}");
    }

    let mut file = good();
    file["vector"][0]["steps"][0]["att_ms"] = json!(0);
    assert!(!schema.is_valid(&file));
    let mut file = good();
    file.as_object_mut().expect("a table").remove("config");
    assert!(!schema.is_valid(&file), "no configuration anywhere");
}

/// One vector of Cassandra that has some of everything.
fn good_of_cassandra() -> Value {
    let row = json!({
        "row": "c=1",
        "liveness": { "ts": 5, "ttl": 60, "ldt": 60 },
        "cells": [
            { "c": "v", "ts": 5, "ttl": 60, "ldt": 60, "v": "7" },
            { "c": "w", "ts": 5, "v": { "text": "7" } },
            { "c": "m", "complex": { "ts": 4, "ldt": 0 } },
        ],
    });
    let marker = json!({ "marker": "EXCL_START_BOUND(1)", "open": { "ts": 5, "ldt": 0 } });
    let shown = json!({ "p": 1, "c": 1, "v": 7, "ttl(v)": 60, "writetime(v)": 5, "z": [1] });
    let insert = json!({ "insert": { "p": 1, "c": 1 }, "set": { "v": 7, "w": "7" }, "ts": 5 });
    let range = json!({ "from": [">", 1], "to": ["<=", 5] });
    json!({
        "format": 1,
        "spec": "cassandra",
        "config": { "version": "5.0.6", "table": { "clustering": ["c", "d desc"] } },
        "vector": [{
            "name": "a good one",
            "config": { "overflow": "cap" },
            "versions": ">=4.1",
            "steps": [
                { "at_ms": 0, "do": insert, "see": "done" },
                { "at_ms": 0, "do": { "update": { "p": 1 }, "put": { "m": { "1": "null" } } },
                  "see": "refused" },
                { "at_ms": 0, "do": { "delete": { "p": 1 }, "range": range }, "see": "done" },
                { "at_ms": 0, "do": "merged",
                  "see": { "merged": [{ "key": "1", "items": [row, marker] }] },
                  "by": ["cassandra.life.second"] },
                { "at_ms": 0, "do": { "select": "where p=1 and c>=1 order by reversed limit 1" },
                  "see": { "rows": [shown], "live": 1, "tombstones": 0 } },
            ],
        }],
    })
}

#[test]
fn a_slip_in_a_vector_of_cassandra_is_refused() {
    let schema = schema();
    let good = good_of_cassandra();
    let errors: Vec<String> = schema.iter_errors(&good).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let read = |file: &Value| parse::<Cassandra>("a.json", file.to_string().as_bytes());
    read(&good).expect("it is a vector");

    let (set, delete) = ("/vector/0/steps/0/do", "/vector/0/steps/2/do");
    let (partition, row) =
        ("/vector/0/steps/3/see/merged/0", "/vector/0/steps/3/see/merged/0/items/0");
    let select = "/vector/0/steps/4/do/select";
    let slips: Vec<(&str, Value)> = vec![
        ("/spec", json!("scylla")),
        ("/config", json!({ "version": "5.0.6", "tables": {} })),
        ("/config", json!({ "format": "oa" })),
        ("/config/table", json!({ "clustering": ["c descending"] })),
        ("/config/table", json!({ "columns": { "v": "bigint" } })),
        ("/config/table", json!({ "gc_grace_seconds": 2_147_483_648_i64 })),
        ("/vector/0/config/overflow", json!("capped")),
        (set, json!({ "insert": { "p": 1, "d": 1 } })),
        (set, json!({ "insert": { "c": 1 } })),
        (set, json!({ "insert": { "p": 1 }, "columns": ["v"] })),
        (set, json!({ "insert": { "p": 1 }, "set": { "v": 0.5 } })),
        (set, json!({ "update": { "p": 1 } })),
        (set, json!({ "update": { "p": 1 }, "set": {} })),
        (delete, json!({ "delete": { "p": 1 }, "ttl": 5 })),
        (delete, json!({ "delete": { "p": 1 }, "range": {} })),
        (delete, json!({ "delete": { "p": 1 }, "range": { "from": ["<", 1] } })),
        (delete, json!({ "delete": { "p": 1 }, "columns": [] })),
        (delete, json!({ "gc_grace_seconds": 2_147_483_648_i64 })),
        (delete, json!({ "flush": true })),
        (delete, json!("flsh")),
        (select, json!("where p=1 order by c desc")),
        (select, json!("where p>1")),
        (select, json!("wher p=1")),
        (partition, json!({ "key": 1, "items": [] })),
        (row, json!({ "row": "c=1" })),
        (row, json!({ "row": "c:1", "cells": [] })),
        (row, json!({ "row": "c=1", "cells": [{ "c": "v", "ts": 5 }] })),
        (row, json!({ "row": "c=1", "cells": [], "liveness": { "ts": 5, "ttl": 60 } })),
        (row, json!({ "marker": "EXCL_START_BOUND(1)", "close": { "ts": 5, "ldt": 0 } })),
        ("/vector/0/steps/0/see", json!({ "failed": "Timeout" })),
        ("/vector/0/steps/4/see", json!({ "rows": [] })),
        ("/vector/0/steps/4/see/rows/0", json!({ "p": 1, "age(v)": 5 })),
    ];
    for (place, slip) in slips {
        let mut file = good.clone();
        *file.pointer_mut(place).expect("the place is there") = slip.clone();
        assert!(!schema.is_valid(&file), "{place} = {slip}");
        assert!(read(&file).is_err(), "{place} = {slip}");
    }
}
