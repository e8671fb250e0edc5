//! What would have to be different, and how the text says it.

use bson::doc;
use serde_json::json;

use crate::support::*;

#[test]
fn a_pending_document_says_the_largest_seconds_and_the_instant() {
    let at = ["--server", "7.0.14", "--at", "2024-01-01T00:00:30.500Z", "--id", "1"];
    let path = folder("largest", &[("c.bson", &bson(&[old(1)]))]).join("c.bson");

    let report = ruled(&path, &[&at[..], &["--index", MINUTE]].concat());

    let sentence = sentence(&report["rulings"][0]);
    assert!(sentence.contains("it were 2024-01-01T00:01:00Z or later"), "{sentence}");
    assert!(sentence.contains("`expireAfterSeconds` were 30 or less"), "{sentence}");
    let thirty = MINUTE.replace("60", "30");
    let report = ruled(&path, &[&at[..], &["--index", &thirty]].concat());
    assert_eq!(report["rulings"][0]["verdict"], "expired");
    let thirty_one = MINUTE.replace("60", "31");
    let report = ruled(&path, &[&at[..], &["--index", &thirty_one]].concat());
    assert_eq!(report["rulings"][0]["verdict"], "pending");
}

#[test]
fn a_hidden_index_expires_all_the_same() {
    let index = r#"{"key": {"createdAt": 1}, "expireAfterSeconds": 60, "hidden": true}"#;
    let path = folder("hidden", &[("c.bson", &bson(&[old(1)]))]).join("c.bson");

    let report = ruled(&path, &[&AT[..], &["--index", index]].concat());

    assert_eq!(counts(&report), [1, 0, 0]);
    assert!(noted(&report["indexes"][0], "mongodb.index.hidden", "TTL uses it all the same"));
}

#[test]
fn a_filter_names_the_value_that_would_match() {
    let index = r#"{"key": {"createdAt": 1}, "expireAfterSeconds": 60,
        "partialFilterExpression": {"n": {"$gt": 7}, "s": {"$exists": true}}}"#;
    let document = doc! { "_id": 1, "n": 5, "createdAt": date("2024-01-01T00:00:00Z") };
    let path = folder("filter", &[("c.bson", &bson(&[document]))]).join("c.bson");

    let report = ruled(&path, &[&AT[..], &["--index", index, "--each"]].concat());

    let ruling = &report["rulings"][0];
    assert_eq!(ruling["decided_by"], json!({ "path": "n", "value": 5 }));
    assert!(sentence(ruling).contains("`n` were 8 and `s` were there"), "{}", sentence(ruling));
}

#[test]
fn the_text_says_verdict_value_rules_and_what_if() {
    let run = explain(&dump("dump-types"), &[&AT[..], &["--id", "2"]].concat());

    assert_eq!(run.code, 0);
    for part in [
        "createdAt_1",
        "decided by  createdAt = \"2024-01-01T00:00:00Z\"",
        "blocked by  `createdAt` holds a string, which is no Date",
        "mongodb.date.type",
        "what if     It would expire if",
        "2039-01-01T01:00:00Z",
        "ttlMonitorEnabled",
    ] {
        assert!(run.out.contains(part), "expected `{part}` in {}", run.out);
    }
}
