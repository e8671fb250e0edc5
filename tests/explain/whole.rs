//! Collections with seconds of their own: clustered ones, and buckets of measurements.

use std::path::PathBuf;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};
use serde_json::{Value, json};

use crate::support::*;

const HOUR_MS: i64 = 3_600_000;
/// 2024-07-01T00:00:00Z.
const NOW_MS: i64 = 1_719_792_000_000;

fn at(server: &str) -> [&str; 5] {
    ["--server", server, "--at", "2024-07-01T00:00:00Z", "--each"]
}

fn index<'a>(report: &'a Value, name: &str) -> &'a Value {
    let indexes = report["indexes"].as_array().expect("indexes");
    indexes.iter().find(|index| index["name"] == name).expect("it is ruled on")
}

fn count(index: &Value) -> [u64; 3] {
    ["expired", "pending", "never"].map(|name| index[name].as_u64().expect("a count"))
}

fn ruling<'a>(report: &'a Value, index: &str, id: &Value) -> &'a Value {
    let rulings = report["rulings"].as_array().expect("rulings");
    let is = |ruling: &&Value| ruling["index"] == index && ruling["id"] == *id;
    rulings.iter().find(is).expect("a ruling on it")
}

// ---- clustered ---------------------------------------------------------------------------------

fn clustered(name: &str, options: &str, documents: &[Document]) -> PathBuf {
    let metadata = format!(
        r#"{{"options":{{{options},"clusteredIndex":{{"v":2,"key":{{"_id":1}},"name":"_id_",
        "unique":true}}}},"indexes":[{{"v":2,"key":{{"_id":1}},"name":"_id_","clustered":true}},
        {{"v":2,"key":{{"t":1}},"name":"t_1","expireAfterSeconds":60}}]}}"#
    );
    let files =
        [("app/c.bson", &bson(documents)[..]), ("app/c.metadata.json", metadata.as_bytes())];
    folder(&format!("whole-{name}"), &files)
}

fn millis(millis: i64) -> Bson {
    Bson::DateTime(DateTime::from_millis(millis))
}

#[test]
fn a_cluster_key_expires_to_the_millisecond_and_an_index_beside_it_as_well() {
    let documents = [
        doc! { "_id": millis(NOW_MS - HOUR_MS) },
        doc! { "_id": millis(NOW_MS - HOUR_MS + 1), "t": date("2024-01-01T00:00:00Z") },
        doc! { "_id": "2024-01-01", "t": date("2025-01-01T00:00:00Z") },
    ];
    let path = clustered("beside", r#""expireAfterSeconds":{"$numberLong":"3600"}"#, &documents);

    let report = ruled(&path, &at("7.0.14"));

    let own = index(&report, "(collection)");
    assert_eq!(count(own), [1, 1, 1]);
    assert_eq!(own["next_ms"], NOW_MS + 1);
    assert_eq!(own["never_by_rule"], json!({ "mongodb.clustered.other-key": 1 }));
    assert_eq!((&own["seconds"], &own["key"]), (&json!(3600), &json!({ "_id": 1 })));
    assert_eq!(count(index(&report, "t_1")), [1, 1, 1]);
    let first = ruling(&report, "(collection)", &json!({ "$date": "2024-06-30T23:00:00Z" }));
    assert!(cites(first, "mongodb.clustered.expired") && cites(first, "mongodb.clustered.visit"));
    let text = ruling(&report, "(collection)", &json!("2024-01-01"));
    assert_eq!(text["blocked_by"], "`_id` holds a string, which is no Date");
    let what_if = "It would expire if `_id` were a Date of 2024-06-30T23:00:00Z or earlier.";
    assert_eq!(sentence(text), what_if);
    assert_eq!(ruling(&report, "t_1", &json!("2024-01-01"))["verdict"], "pending");
    assert!(noted(own, "mongodb.life.any-index", "`t_1`"));
}

#[test]
fn a_cluster_key_before_1970_expires_up_to_7_2_and_never_after() {
    let path = clustered("1970", r#""expireAfterSeconds":1"#, &[doc! { "_id": millis(-1) }]);

    let old = ruled(&path, &at("7.0.14"));
    let new = ruled(&path, &at("8.0.4"));

    assert_eq!(count(index(&old, "(collection)")), [1, 0, 0]);
    assert!(noted(index(&old, "(collection)"), "mongodb.clustered.before-1970", "MinValue"));
    let own = index(&new, "(collection)");
    assert_eq!(own["never_by_rule"], json!({ "mongodb.clustered.from-1970": 1 }));
    assert!(noted(own, "mongodb.clustered.from-1970", "8.0.4 begins to look"));
    let one = &new["rulings"][0];
    assert_eq!(one["decided_by"]["path"], "_id");
    assert!(one["blocked_by"].as_str().is_some_and(|why| why.contains("before 1970")), "{one}");
    assert!(sentence(one).contains("the server were 7.1.1"), "{}", sentence(one));
}

#[test]
fn a_collection_that_create_refuses_loses_nothing_and_says_why() {
    let one = [doc! { "_id": millis(0), "t": millis(0) }];
    let of = |name: &str, options: &str, server: &'static str| {
        ruled(&clustered(name, options, &one), &at(server))
    };
    let cases = [
        ("refused-old", r#""expireAfterSeconds":1"#, "5.0.14", "mongodb.clustered.option", "72"),
        ("refused-far", r#""expireAfterSeconds":9e9"#, "7.0.14", "mongodb.clustered.seconds", "72"),
        (
            "refused-text",
            r#""expireAfterSeconds":"1""#,
            "7.0.14",
            "mongodb.clustered.option-type",
            "14",
        ),
    ];
    for (name, options, server, rule, code) in cases {
        let report = of(name, options, server);
        for index in report["indexes"].as_array().expect("indexes") {
            assert_eq!(index["never_by_rule"], json!({ rule: 1 }), "{name} {}", index["name"]);
        }
        let own = index(&report, "(collection)");
        assert!(noted(own, rule, &format!("refuses the collection with error {code}")), "{own}");
        assert!(noted(index(&report, "t_1"), rule, "its collection is not made"), "{report}");
        let what_if = sentence(ruling(&report, "t_1", &json!({ "$date": "1970-01-01T00:00:00Z" })));
        assert!(!what_if.contains("other indexes"), "{what_if}");
    }
    // In a catalog the seconds were looked at when they came into it.
    let path = clustered("refused-carried", r#""expireAfterSeconds":9e8"#, &one);
    let carried = [&at("7.0.14")[..], &["--via", "upgraded"]].concat();
    assert_eq!(count(index(&ruled(&path, &carried), "(collection)")), [1, 0, 0]);
}

#[test]
fn without_seconds_or_index_it_is_said_that_nothing_expires() {
    let metadata =
        br#"{"options":{"clusteredIndex":{"key":{"_id":1},"unique":true}},"indexes":[]}"#;
    let data = bson(&[doc! { "_id": 1 }]);
    let path = folder("whole-none", &[("app/c.bson", &data), ("app/c.metadata.json", metadata)]);

    let report = ruled(&path, &at("7.0.14"));

    assert_eq!(report["indexes"], json!([]));
    let reason = report["skipped"][0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("no TTL index and no expireAfterSeconds of its own"), "{reason}");
}

// ---- buckets -----------------------------------------------------------------------------------

/// A bucket that begins so many seconds after 1970, with measurements up to so many milliseconds.
fn bucket(number: u8, begin_s: i64, max_ms: i64, meta: &str) -> Document {
    let mut id = [number; 12];
    id[..4].copy_from_slice(&(begin_s as u32).to_be_bytes());
    doc! {
        "_id": ObjectId::from_bytes(id),
        "control": {
            "version": 1,
            "min": { "ts": millis(begin_s * 1_000) },
            "max": { "ts": millis(max_ms) },
        },
        "meta": { "sensor": meta },
        "data": {},
    }
}

fn series(name: &str, options: &str, indexes: &str, buckets: &[Document]) -> PathBuf {
    let metadata = format!(
        r#"{{"options":{{{options}"timeseries":{{"timeField":"ts","metaField":"m",
        "granularity":"seconds","bucketMaxSpanSeconds":3600}}}},"indexes":[{indexes}],
        "type":"timeseries"}}"#
    );
    let files = [
        ("app/system.buckets.s.bson", &bson(buckets)[..]),
        ("app/s.metadata.json", metadata.as_bytes()),
    ];
    folder(&format!("whole-{name}"), &files)
}

const MINUTE_OF_SERIES: &str = r#""expireAfterSeconds":60,"#;
const NOW_S: i64 = NOW_MS / 1_000;

#[test]
fn a_bucket_lives_its_seconds_and_its_span_in_whole_seconds() {
    let edge = NOW_S - 60 - 3_600;
    let buckets = [bucket(1, edge, 0, "a"), bucket(2, edge + 1, edge * 1_000, "a")];
    let path = series("span", MINUTE_OF_SERIES, "", &buckets);

    let report = ruled(&path, &at("7.0.14"));

    assert_eq!(counts(&report), [1, 1, 0]);
    assert_eq!(report["indexes"][0]["next_ms"], NOW_MS + 1_000);
    let (first, second) = (&report["rulings"][0], &report["rulings"][1]);
    assert!(cites(first, "mongodb.bucket.expired") && cites(first, "mongodb.bucket.deleted"));
    let begin = json!({ "$date": "2024-06-30T22:59:00Z" });
    assert_eq!(first["decided_by"], json!({ "path": "_id", "value": begin }));
    assert!(cites(second, "mongodb.bucket.before"));
    assert_eq!(second["flips_at_ms"], NOW_MS + 1_000);
    assert!(sentence(second).contains("`expireAfterSeconds` were 59 or less"), "{second}");
}

#[test]
fn a_bucket_of_before_december_2017_is_never_met_from_5_2_to_7_2() {
    let path = series("2017", MINUTE_OF_SERIES, "", &[bucket(1, 1_511_828_488, 0, "a")]);
    for (server, expected) in
        [("5.0.14", [1, 0, 0]), ("6.0.5", [0, 0, 1]), ("7.0.14", [0, 0, 1]), ("8.0.4", [1, 0, 0])]
    {
        let report = ruled(&path, &at(server));

        assert_eq!(counts(&report), expected, "{server}");
        if expected[2] == 1 {
            assert!(noted(&report["indexes"][0], "mongodb.bucket.from-2017", "for good"));
            let why = report["rulings"][0]["blocked_by"].as_str().expect("a reason");
            assert!(why.contains("lies before"), "{why}");
        }
    }
    let met = series("2017-met", MINUTE_OF_SERIES, "", &[bucket(1, 1_511_828_489, 0, "a")]);
    assert_eq!(counts(&ruled(&met, &at("7.0.14"))), [1, 0, 0]);
}

#[test]
fn a_bucket_outside_1970_to_2038_turns_the_others_off_wraps_or_is_scanned_by_version() {
    let buckets = [bucket(1, NOW_S - 86_400, 0, "a"), bucket(2, 1 << 32, (1 << 32) * 1_000, "a")];
    let path = series("2106", MINUTE_OF_SERIES, "", &buckets);
    // By the 32 bits of its _id the second one is of 1970, and so is before 2017, too.
    for (server, expected) in [
        ("5.0.14", [2, 0, 0]),
        ("7.0.4", [1, 0, 1]),
        ("7.0.14", [0, 0, 2]),
        ("8.0.11", [0, 0, 2]),
        ("8.0.12", [1, 1, 0]),
    ] {
        assert_eq!(counts(&ruled(&path, &at(server))), expected, "{server}");
    }
    let off = ruled(&path, &at("8.0.11"));
    assert_eq!(off["indexes"][0]["never_by_rule"], json!({ "mongodb.bucket.off": 2 }));
    assert!(noted(&off["indexes"][0], "mongodb.bucket.off", "WHOLE collection off"));
    assert!(noted(&off["indexes"][0], "mongodb.bucket.off", "000000000202020202020202"));
    let cut = ruled(&path, &at("5.0.14"));
    assert!(noted(&cut["indexes"][0], "mongodb.bucket.cut", "1 document"));
    let scanned = ruled(&path, &at("8.0.12"));
    assert!(noted(&scanned["indexes"][0], "mongodb.bucket.two-scans", "latest measurement"));
}

#[test]
fn a_threshold_before_1970_is_cut_and_said_to_be_doubtful() {
    let options = format!(r#""expireAfterSeconds":{},"#, NOW_S - 1);
    let path = series("cut", &options, "", &[bucket(1, NOW_S - 60, 0, "a")]);

    let report = ruled(&path, &at("7.0.14"));

    assert_eq!(counts(&report), [1, 0, 0]);
    assert!(noted(&report["indexes"][0], "mongodb.bucket.threshold-cut", "doubtful"));
}

#[test]
fn a_partial_index_over_buckets_is_ruled_on_as_listed_and_as_stored() {
    let asked = r#"{"v":2,"key":{"ts":1},"name":"ttl","expireAfterSeconds":60,
        "partialFilterExpression":{"m.sensor":"a"}}"#;
    let stored = r#"{"v":2,"key":{"control.min.ts":1,"control.max.ts":1},"name":"ttl",
        "expireAfterSeconds":60,"partialFilterExpression":{"$and":[{"meta.sensor":"a"}]}}"#;
    let buckets = [
        bucket(1, NOW_S - 3_660, 0, "a"),
        bucket(2, NOW_S - 3_660, 0, "b"),
        bucket(3, NOW_S - 3_659, 0, "a"),
    ];
    for (name, spec) in [("index-asked", asked), ("index-stored", stored)] {
        let path = series(name, "", spec, &buckets);

        let report = ruled(&path, &at("7.0.14"));
        let old = ruled(&path, &at("6.0.5"));

        let ttl = index(&report, "ttl");
        assert_eq!(count(ttl), [1, 1, 1], "{name}");
        assert_eq!(ttl["never_by_rule"], json!({ "mongodb.filter.outside": 1 }));
        assert_eq!(report["indexes"].as_array().map(Vec::len), Some(1));
        let first = &report["rulings"][0];
        assert_eq!(first["decided_by"]["path"], "control.min.ts");
        assert!(cites(first, "mongodb.bucket.index-expired"), "{first}");
        assert_eq!(report["rulings"][1]["decided_by"]["value"], "b");
        let refused = json!({ "mongodb.bucket.index": 3 });
        assert_eq!(index(&old, "ttl")["never_by_rule"], refused, "{name}");
    }
}

#[test]
fn what_is_no_bucket_is_never_deleted_and_a_series_without_a_time_field_is_refused() {
    let odd = [doc! { "_id": 7, "control": 1 }, doc! { "control": { "min": 5 } }];
    let path = series("odd", MINUTE_OF_SERIES, "", &odd);

    let report = ruled(&path, &at("7.0.14"));

    assert_eq!(report["indexes"][0]["never_by_rule"], json!({ "mongodb.clustered.other-key": 2 }));
    let why = report["rulings"][0]["blocked_by"].as_str().expect("a reason");
    assert!(why.contains("`_id` holds an int, and a bucket's is an ObjectId"), "{why}");

    let metadata = br#"{"options":{"expireAfterSeconds":60},"indexes":[],"type":"timeseries"}"#;
    let files = [("app/system.buckets.s.bson", &bson(&odd)[..]), ("app/s.metadata.json", metadata)];
    let report = ruled(&folder("whole-no-time", &files), &at("7.0.14"));
    let reasons = &report["indexes"][0]["never_by_rule"];
    assert_eq!(*reasons, json!({ "mongodb.clustered.option-type": 2 }));
}

#[test]
fn a_single_file_of_buckets_finds_its_metadata() {
    let path = dump("dump-timeseries").join("iot");
    for file in ["system.buckets.weather24h.bson", "weather24h.metadata.json"] {
        let report = ruled(&path.join(file), &AT);
        assert_eq!(report["indexes"][0]["namespace"], "iot.weather24h", "{file}");
        assert_eq!(counts(&report), [1, 0, 0], "{file}");
    }
    // One millisecond before its day and its month are over.
    let early = ["--server", "7.0.14", "--at", "2021-06-17T23:59:59.999Z"];
    assert_eq!(counts(&ruled(&path, &early)), [0, 1, 0]);
}
