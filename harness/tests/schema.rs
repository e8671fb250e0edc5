//! The JSON form of every vector of the book is as its JSON Schema says, and a slip is not.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use ttlspec_harness::vector::{load_dir, parse};
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

#[test]
fn every_vector_of_the_book_satisfies_the_schema() {
    let schema = schema();

    for file in load_dir::<MongoDb>(&specs().join("mongodb/vectors")).expect("they can be read") {
        let json = file.to_json();
        let errors = schema.iter_errors(&json);
        let errors: Vec<String> = errors.map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", file.path);
    }
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
