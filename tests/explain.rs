//! `ttlspec explain` on what real servers left behind: the right answers, and what is said of bad
//! input. The dumps are those of `tests/dump`; F-… are the cases they come from.

use bson::{DateTime, doc};
use serde_json::{Value, json};

#[path = "explain/as_listed.rs"]
mod as_listed;
#[path = "explain/bad_input.rs"]
mod bad_input;
#[path = "explain/checks.rs"]
mod checks;
#[path = "explain/input.rs"]
mod input;
#[path = "explain/support.rs"]
mod support;
#[path = "explain/what_if.rs"]
mod what_if;
#[path = "explain/whole.rs"]
mod whole;

use support::*;

#[test]
fn f_001_a_document_is_expired_from_the_threshold_on_and_not_a_millisecond_before() {
    let document = doc! { "_id": 1, "createdAt": date("2024-01-01T12:00:00Z") };
    let index = r#"{"v":2,"key":{"createdAt":1},"name":"createdAt_1","expireAfterSeconds":120}"#;
    let (data, metadata) = (bson(&[document]), metadata(index));
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let path = folder("f-001", &files);

    let before = ruled(&path, &["--server", "7.0.14", "--at", "2024-01-01T12:01:59.999Z"]);
    let from = ruled(&path, &["--server", "7.0.14", "--at", "2024-01-01T12:02:00Z"]);

    assert_eq!(counts(&before), [0, 1, 0]);
    assert_eq!(before["indexes"][0]["next_ms"], 1_704_110_520_000_i64);
    assert_eq!(counts(&from), [1, 0, 0]);
    assert_eq!(from["indexes"][0]["next_ms"], Value::Null);
}

#[test]
fn f_002_of_two_ttl_indexes_the_earlier_rules_and_both_are_named() {
    let arguments = ["--server", "7.0.14", "--at", "2020-07-16T12:03:00Z", "--each"];
    let report = ruled(&dump("dump-two-ttl"), &arguments);

    let names: Vec<_> = (0..3).map(|nth| report["indexes"][nth]["name"].clone()).collect();
    assert_eq!(names, ["createdAt_1", "expireAt_1", "_cls_1_expires_1"]);
    let verdicts: Vec<_> = (0..3).map(|nth| report["rulings"][nth]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["expired", "pending", "never"]);
    assert!(noted(&report["indexes"][1], "mongodb.life.any-index", "createdAt_1"));
    assert!(cites(&report["rulings"][0], "mongodb.life.any-index"));
    assert_eq!(report["rulings"][1]["earliest"]["index"], "createdAt_1");
    assert_eq!(report["rulings"][1]["flips_at_ms"], 1_594_901_400_000_i64);
    let early = ruled(&dump("dump-two-ttl"), &["--server", "7.0.14", "--at", "1594900979999"]);
    assert_eq!(counts(&early), [0, 1, 0]);
}

#[test]
fn f_005_a_date_in_another_field_never_expires_and_is_pointed_out() {
    let report = ruled(&dump("dump-legacy-3.4"), &[&AT[..], &["--each"]].concat());

    assert_eq!(counts(&report), [0, 0, 2]);
    let text = "0 of 2 documents have a usable date in createdAt; 2 have a Date in timestamp";
    assert!(noted(&report["indexes"][0], "mongodb.date.type", text));
    assert_eq!(report["indexes"][0]["never_by_rule"], json!({ "mongodb.date.missing": 2 }));
    let ruling = by(&report, &json!(1));
    assert_eq!(ruling["decided_by"], json!({ "path": "createdAt", "value": null }));
    assert!(sentence(ruling).contains("the index were on `timestamp`"));
}

#[test]
fn f_006_a_filter_does_not_help_where_the_field_is_misspelt() {
    let report = ruled(&dump("dump-partial-mismatch"), &[&AT[..], &["--each"]].concat());

    assert_eq!(counts(&report), [0, 0, 2]);
    let reasons = json!({ "mongodb.date.missing": 1, "mongodb.filter.outside": 1 });
    assert_eq!(report["indexes"][0]["never_by_rule"], reasons);
    assert_eq!(by(&report, &json!(2))["decided_by"], json!({ "path": "verified", "value": true }));
    assert!(
        sentence(by(&report, &json!(2))).contains("`verified` were false and the index were on")
    );
}

#[test]
fn f_008_a_compound_index_never_expires_anything() {
    let document = doc! { "_id": 1, "expiry": date("2001-01-01T00:00:00Z") };
    let path = folder("f-008", &[("app/c.bson", &bson(&[document]))]).join("app/c.bson");
    let listing = dump("getindexes-legacy-compound.txt");
    let listing = listing.to_str().expect("a path");
    for server in ["4.0.28", "4.4.18", "7.0.14", "8.1.0"] {
        let arguments = ["--indexes", listing, "--at", "0", "--server", server, "--id", "1"];
        let report = ruled(&path, &arguments);

        assert_eq!(counts(&report), [0, 0, 1], "{server}");
        assert_eq!(report["rulings"][0]["decided_by"]["path"], "key");
    }
}

#[test]
fn f_010_a_number_never_expires_and_the_direction_does_not_matter() {
    let number = bson(&[doc! { "_id": 1, "ts": 100_i64 }]);
    let dated = bson(&[doc! { "_id": 1, "ts": DateTime::from_millis(900) }]);
    let path = folder("f-010", &[("app/n.bson", &number), ("app/d.bson", &dated)]);
    let listing = dump("getindexes-mongosh.txt");
    let arguments = ["--indexes", listing.to_str().expect("a path"), "--server", "7.0.14"];
    let arguments = [&arguments[..], &["--at", "1000", "--each"]].concat();

    let never = ruled(&path.join("app/n.bson"), &arguments);
    let pending = ruled(&path.join("app/d.bson"), &arguments);

    assert_eq!(never["rulings"][1]["index"], "ts_-1");
    assert_eq!(never["rulings"][1]["verdict"], "never");
    assert!(cites(&never["rulings"][1], "mongodb.date.type"));
    assert_eq!(pending["rulings"][1]["flips_at_ms"], 1_900);
}

#[test]
fn f_011_seconds_milliseconds_and_iso_strings_never_expire() {
    let lines = r#"{"_id":1,"timestamp":1588257810}
{"_id":2,"timestamp":{"$numberLong":"1588257810000"}}
{"_id":3,"timestamp":"2020-04-30T14:43:30Z"}
"#;
    let path = folder("f-011", &[("t.json", lines.as_bytes())]).join("t.json");
    let index = r#"{"key": {"timestamp": 1}, "expireAfterSeconds": 0}"#;

    let report = ruled(&path, &[&AT[..], &["--index", index, "--each"]].concat());

    assert_eq!(counts(&report), [0, 0, 3]);
    for id in 1..=3 {
        let sentence = sentence(by(&report, &json!(id)));
        assert!(sentence.contains("were the Date 2020-04-30T14:43:30Z instead of"), "{sentence}");
    }
    assert!(noted(&report["indexes"][0], "mongodb.date.type", "1 of 1 strings"));
}

#[test]
fn f_012_a_string_as_seconds_is_refused_or_skipped() {
    let path = folder("f-012", &[("c.json", br#"{"_id":1,"date":{"$date":0}}"#)]).join("c.json");
    let listing = dump("getindexes-string-eas.json");
    let indexes = ["--indexes", listing.to_str().expect("a path"), "--each"];
    for server in ["4.0.0", "4.2.3", "7.0.14", "8.1.0"] {
        let arguments = ["--server", server, "--at", "2024-07-01T00:00:00Z"];
        let report = ruled(&path, &[&indexes[..], &arguments].concat());

        assert_eq!(counts(&report), [0, 0, 1], "{server}");
        assert_eq!(report["indexes"][0]["seconds"], "10");
        assert!(noted(&report["indexes"][0], "mongodb.index.numeric", "no number"));
        let expected = "were the number 10 instead of the string \"10\"";
        assert!(sentence(&report["rulings"][0]).contains(expected));
    }
}

#[test]
fn f_015_zero_is_valid_and_expires_at_the_date_itself() {
    let line = br#"{"_id":1,"expires":{"$date":"2024-01-01T10:00:00Z"}}"#;
    let path = folder("f-015", &[("c.json", line)]).join("c.json");
    let at = |seconds: u32, at: &str| {
        let index = format!(r#"{{"key": {{"expires": 1}}, "expireAfterSeconds": {seconds}}}"#);
        counts(&ruled(&path, &["--server", "7.0.14", "--at", at, "--index", &index]))
    };

    assert_eq!(at(0, "2024-01-01T10:00:00Z"), [1, 0, 0]);
    assert_eq!(at(1, "2024-01-01T10:00:00Z"), [0, 1, 0]);
    assert_eq!(at(1, "2024-01-01T10:00:01Z"), [1, 0, 0]);
}

#[test]
fn f_022_the_earliest_element_deletes_the_whole_document() {
    let arguments = ["--server", "7.0.14", "--at", "2024-01-01T00:01:00Z", "--each"];
    let report = ruled(&dump("dump-subdoc"), &arguments);

    assert_eq!(counts(&report), [1, 0, 2]);
    let first = by(&report, &json!(1));
    assert_eq!(first["decided_by"]["path"], "stories.0.createdAt");
    assert!(cites(first, "mongodb.life.whole"));
    assert!(noted(&report["indexes"][0], "mongodb.life.whole", "the whole document"));
    assert_eq!(by(&report, &json!(2))["verdict"], "never");
    assert_eq!(by(&report, &json!(3))["verdict"], "never");
}

#[test]
fn f_023_and_f_055_of_all_types_only_dates_count_the_year_1_among_them() {
    let report = ruled(&dump("dump-types"), &[&AT[..], &["--each"]].concat());

    assert_eq!(counts(&report), [5, 1, 11]);
    for id in 1..=17 {
        let expected = match id {
            1 | 10 | 11 | 15 | 16 => "expired",
            17 => "pending",
            _ => "never",
        };
        assert_eq!(by(&report, &json!(id))["verdict"], expected, "{id}");
    }
    assert_eq!(report["indexes"][0]["next_ms"], 2_177_456_400_000_i64);
    assert_eq!(by(&report, &json!(10))["expired_since_ms"], 1_704_070_800_000_i64);
    assert_eq!(
        by(&report, &json!(15))["decided_by"]["value"]["$date"]["$numberLong"],
        "-62135596800000"
    );
    let reasons = json!({
        "mongodb.date.missing": 1,
        "mongodb.date.empty-array": 1,
        "mongodb.date.nested-array": 1,
        "mongodb.date.type": 8,
    });
    assert_eq!(report["indexes"][0]["never_by_rule"], reasons);
}

#[test]
fn f_032_a_null_inside_a_string_is_no_date() {
    let index = r#"{"key": {"expires": 1}, "expireAfterSeconds": 0}"#;
    let arguments = ["--server", "7.0.14", "--at", "2012-11-07T00:00:00Z", "--index", index];
    let report =
        ruled(&dump("connect-mongo-sessions.json"), &[&arguments[..], &["--each"]].concat());

    assert_eq!(by(&report, &json!("s1"))["verdict"], "expired");
    assert_eq!(by(&report, &json!("s2"))["verdict"], "never");
}

#[test]
fn f_040_nan_is_ruled_on_by_the_version_and_the_way_it_came() {
    const NEVER: [u64; 3] = [0, 0, 5];
    const ZERO: [u64; 3] = [4, 1, 0];
    const MAX: [u64; 3] = [0, 5, 0];
    let cases = [
        // server, restored, upgraded, synced
        ("4.2.24", NEVER, NEVER, NEVER),
        ("4.4.10", NEVER, NEVER, NEVER),
        ("4.4.18", NEVER, NEVER, NEVER),
        ("5.0.0", ZERO, ZERO, ZERO),
        ("5.0.10", ZERO, ZERO, ZERO),
        // These end where they find it.
        ("5.0.13", ZERO, NEVER, NEVER),
        ("5.0.14", MAX, NEVER, MAX),
        ("6.0.0", ZERO, ZERO, ZERO),
        ("6.0.1", ZERO, ZERO, ZERO),
        ("6.0.2", MAX, NEVER, MAX),
        ("7.0.14", NEVER, NEVER, MAX),
        ("8.0.4", NEVER, NEVER, MAX),
    ];
    for (server, restored, upgraded, synced) in cases {
        for (via, expected) in [("restored", restored), ("upgraded", upgraded), ("synced", synced)]
        {
            let at = ["--server", server, "--via", via, "--at", "2024-06-01T00:00:00Z"];
            let report = ruled(&dump("dump-4.4-nan"), &at);

            assert_eq!(counts(&report), expected, "{server} {via}");
            assert_eq!(report["indexes"][0]["seconds"], json!({ "$numberDouble": "NaN" }));
        }
    }
}

#[test]
fn f_040_nan_as_zero_names_who_goes_when_and_a_server_that_would_delete() {
    let at = ["--at", "2024-06-01T00:00:00Z", "--each"];
    let zero = ruled(&dump("dump-4.4-nan"), &[&at[..], &["--server", "5.0.5"]].concat());
    let never = ruled(&dump("dump-4.4-nan"), &[&at[..], &["--server", "4.4.18"]].concat());
    let max = ruled(&dump("dump-4.4-nan"), &[&at[..], &["--server", "5.0.14"]].concat());

    assert_eq!(by(&zero, &json!(5))["flips_at_ms"], 1_735_689_600_000_i64);
    assert!(cites(by(&zero, &json!(1)), "mongodb.nan.zero"));
    assert!(noted(&zero["indexes"][0], "mongodb.nan.repair", "collMod"));
    assert!(
        sentence(by(&never, &json!(1))).contains("the server were 5.0.10, where NaN acts as 0")
    );
    assert_eq!(max["indexes"][0]["stored_seconds"], 2_147_483_647);
    assert!(noted(&max["indexes"][0], "mongodb.nan.max-is-not-never", "68 years"));
}

#[test]
fn f_043_and_f_045_time_series_are_ruled_on_bucket_by_bucket() {
    for (name, expected) in [("dump-timeseries", [1, 0, 0]), ("dump-timeseries-2038", [0, 0, 2])] {
        let report = ruled(&dump(name), &AT);

        assert_eq!(report["indexes"][0]["name"], "(collection)");
        assert_eq!(counts(&report), expected, "{name}");
        assert_eq!(report["skipped"], json!([]));
    }
}

#[test]
fn f_047_a_ttl_index_on_a_capped_collection_by_version() {
    let at = |server: &str| {
        let arguments = ["--server", server, "--at", "2024-07-01T00:00:00Z"];
        ruled(&dump("dump-capped-ttl"), &arguments)
    };

    for server in ["4.4.18", "5.1.0"] {
        let report = at(server);
        assert_eq!(
            report["indexes"][0]["never_by_rule"],
            json!({ "mongodb.index.capped-inert": 1 })
        );
        assert!(noted(&report["indexes"][0], "mongodb.index.capped-inert", "from 7.1 on"));
    }
    for server in ["5.2.0", "7.0.14"] {
        let report = at(server);
        let reasons = json!({ "mongodb.index.capped-refused": 1 });
        assert_eq!(report["indexes"][0]["never_by_rule"], reasons);
        assert!(noted(&report["indexes"][0], "mongodb.index.capped-refused", "error 67"));
    }
    assert_eq!(counts(&at("7.1.0")), [1, 0, 0]);
}

#[test]
fn legacy_metadata_is_no_bad_input() {
    let report = ruled(&dump("dump-mixed-ejson"), &AT);

    assert_eq!(counts(&report), [1, 0, 0]);
    for seconds in [r#""10""#, "true", "null", r#"{"$numberDouble":"NaN"}"#, "60.0"] {
        let index = format!(
            r#"{{"v":1,"key":{{"createdAt":1.0}},"name":"c","ns":"app.c","expireAfterSeconds":{seconds}}}"#
        );
        let metadata = metadata(&index);
        let files =
            [("app/c.bson", &bson(&[old(1)])[..]), ("app/c.metadata.json", metadata.as_bytes())];
        let report = ruled(&folder("legacy", &files), &AT);
        let expired = u64::from(seconds == "60.0");
        assert_eq!(counts(&report), [expired, 0, 1 - expired], "{seconds}");
    }
}

#[test]
fn a_driver_s_listing_is_read() {
    let line = br#"{"_id":1,"timestamp":{"$date":"2024-06-30T23:51:00Z"}}"#;
    let path = folder("pymongo", &[("c.json", line)]).join("c.json");
    let listing = dump("index_information-pymongo.txt");
    let indexes = ["--indexes", listing.to_str().expect("a path")];

    let report = ruled(&path, &[&AT[..], &indexes].concat());

    assert_eq!(report["indexes"][0]["seconds"], 600);
    assert_eq!(report["indexes"][0]["next_ms"], 1_719_792_060_000_i64);
}

#[test]
fn a_collection_without_a_ttl_index_is_said_to_have_none() {
    let index = r#"{"v":1,"key":{"expires":1},"name":"expires_1","expires":0}"#;
    let data = bson(&[doc! { "_id": 1, "expires": date("2020-01-01T00:00:00Z") }]);
    let metadata = metadata(index);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];

    let report = ruled(&folder("plain", &files), &AT);

    let reason = report["skipped"][0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("no TTL index: nothing expires"), "{reason}");
    let notes = report["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| text(note).contains("has the option `expires`")));
}

#[test]
fn cosmos_db_is_not_ruled_on() {
    let path = folder("cosmos", &[("c.json", br#"{"_id":1}"#)]).join("c.json");
    let index = r#"{"key": {"_ts": 1}, "expireAfterSeconds": 3600}"#;

    let report = ruled(&path, &[&AT[..], &["--index", index]].concat());

    assert_eq!(report["indexes"], json!([]));
    assert!(report["skipped"][0]["reason"].as_str().is_some_and(|r| r.contains("Cosmos DB")));
}
