//! What a server lists is not always what createIndexes takes, and not all that a filter can ask is
//! followed here.

use bson::doc;
use serde_json::{Value, json};

use crate::support::*;

const TTL: &str = r#"{"v":2,"key":{"createdAt":1},"name":"createdAt_1","expireAfterSeconds":60}"#;

/// A dump of `app.c` with one old document and these indexes.
fn with(name: &str, options: &str, indexes: &str) -> std::path::PathBuf {
    let metadata = format!(r#"{{"options":{{{options}}},"indexes":[{indexes}]}}"#);
    let data = bson(&[old(1)]);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    folder(name, &files)
}

fn filtered(name: &str, filter: &str) -> std::path::PathBuf {
    let index = format!(
        r#"{{"v":2,"key":{{"createdAt":1}},"name":"f","expireAfterSeconds":60,
            "partialFilterExpression":{filter}}}"#
    );
    with(name, "", &index)
}

fn all_notes(report: &Value) -> String {
    format!("{} {}", report["indexes"], report["notes"])
}

#[test]
fn a_text_index_is_restored_and_a_time_to_live_on_it_is_a_compound() {
    let text = |seconds: &str| {
        format!(
            r#"{{"v":2,"key":{{"_fts":"text","_ftsx":1}},"name":"s_text","weights":{{"s":1}},
                "default_language":"english","language_override":"language",
                "textIndexVersion":3{seconds}}}"#
        )
    };
    let good = with("text", "", &format!("{TTL},{}", text("")));
    let bad = with("text-ttl", "", &text(r#","expireAfterSeconds":60"#));

    for via in ["restored", "upgraded", "synced"] {
        let report = ruled(&good, &[&AT[..], &["--via", via]].concat());
        assert_eq!(counts(&report), [1, 0, 0], "{via}");
        assert!(!all_notes(&report).contains("error"), "{via}: {}", all_notes(&report));
    }
    let report = ruled(&bad, &AT);
    assert!(noted(&report["indexes"][0], "mongodb.index.compound", "error 67"));
}

#[test]
fn the_cluster_key_that_is_listed_is_no_index() {
    let key = r#"{"v":2,"key":{"_id":1},"name":"_id_","unique":true,"clustered":true}"#;
    let options = r#""expireAfterSeconds":60,"clusteredIndex":{"v":2,"key":{"_id":1},
        "name":"_id_","unique":true}"#;
    let documents = [doc! { "_id": date("2024-01-01T00:00:00Z") }];
    let metadata = format!(r#"{{"options":{{{options}}},"indexes":[{key}]}}"#);
    let data = bson(&documents);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let clustered = folder("cluster-key", &files);
    let listed = format!("[{}]", key.replace("true}", "true,\"expireAfterSeconds\":60}"));
    let files = [("c.bson", &data[..]), ("indexes.json", listed.as_bytes())];
    let alone = folder("cluster-key-alone", &files);
    let indexes = alone.join("indexes.json").display().to_string();

    for via in ["restored", "upgraded", "synced"] {
        let report = ruled(&clustered, &[&AT[..], &["--via", via]].concat());
        assert_eq!(counts(&report), [1, 0, 0], "{via}");
        assert_eq!(report["indexes"].as_array().map(Vec::len), Some(1));
        assert!(!all_notes(&report).contains("error"), "{via}: {}", all_notes(&report));
    }
    // Where only the list is there, it says what the collection is.
    let report = ruled(&alone.join("c.bson"), &[&AT[..], &["--indexes", &indexes]].concat());
    assert_eq!(
        (counts(&report), &report["indexes"][0]["name"]),
        ([1, 0, 0], &json!("(collection)"))
    );
}

#[test]
fn nothing_is_ruled_on_by_a_filter_that_is_not_followed_and_that_is_a_fault() {
    let geo = r#"{"p":{"$geoWithin":{"$centerSphere":[[0,0],1]}}}"#;
    let regex = r#"{"s":{"$in":[{"$regularExpression":{"pattern":"^x","options":""}}]}}"#;
    for (name, filter, operator) in [("geo", geo, "$geoWithin"), ("regex", regex, "$in")] {
        let path = filtered(name, filter);
        for via in ["restored", "created", "upgraded", "synced"] {
            let run = explain(&path, &[&AT[..], &["--via", via, "--json"]].concat());

            assert_eq!(run.code, 2, "{name} {via}: {}", run.out);
            let part = format!("found `{operator}` in that of `f` of `app.c`");
            assert!(run.err.contains(&part) && run.err.contains("fix: "), "{}", run.err);
            assert_eq!(run.json()["indexes"], json!([]), "{name} {via}");
            assert!(run.json()["skipped"].to_string().contains("not ruled on"), "{}", run.out);
        }
        // Before 6.0 no server takes it, and then it is known what it deletes.
        let line = ["--server", "5.0.14", "--at", "2024-07-01T00:00:00Z"];
        let refused = ruled(&path, &line);
        assert!(noted(&refused["indexes"][0], "mongodb.filter.operators", "error 67"));
    }
    // Other indexes are ruled on, and an index without a time to live takes nothing from them.
    let other =
        format!(r#"{TTL},{{"v":2,"key":{{"s":1}},"name":"s_1","partialFilterExpression":{geo}}}"#);
    assert_eq!(counts(&ruled(&with("geo-plain", "", &other), &AT)), [1, 0, 0]);
}

#[test]
fn an_operator_that_no_filter_may_have_was_in_no_catalog() {
    let filters = [
        r#"{"s":{"$ne":"x"}}"#,
        r#"{"s":{"$not":{"$gt":"a"}}}"#,
        r#"{"s":{"$regex":"^x"}}"#,
        r#"{"n":{"$mod":[2,1]}}"#,
        r#"{"s":{"$size":2}}"#,
        r#"{"s":{"$elemMatch":{"$eq":"x"}}}"#,
        r#"{"s":{"$exists":false}}"#,
    ];
    for (nth, filter) in filters.into_iter().enumerate() {
        let path = filtered(&format!("refused-{nth}"), filter);
        let report = ruled(&path, &[&AT[..], &["--via", "upgraded"]].concat());

        let part = "it could not have stood in a catalog (error 67)";
        let index = &report["indexes"][0];
        assert!(noted(index, "mongodb.filter.operators", part), "{filter}: {index}");
        assert!(!report.to_string().contains("does not match"), "{filter}");
    }
}

#[test]
fn what_a_filter_keeps_out_is_not_said_to_have_no_date() {
    let outside = ruled(&filtered("outside", r#"{"s":"x"}"#), &AT);
    assert_eq!(counts(&outside), [0, 0, 1]);
    assert!(!all_notes(&outside).contains("usable date"), "{}", all_notes(&outside));

    let documents = [old(1), doc! { "_id": 2, "s": "x" }];
    let index = r#"{"v":2,"key":{"createdAt":1},"name":"f","expireAfterSeconds":60,
        "partialFilterExpression":{"s":"x"}}"#;
    let (data, metadata) = (bson(&documents), metadata(index));
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let some = ruled(&folder("outside-some", &files), &AT);
    let part = "0 of 1 documents inside the filter have a usable date in createdAt";
    assert!(noted(&some["indexes"][0], "mongodb.date.type", part), "{}", some["indexes"][0]);
}

#[test]
fn mongorestore_leaves_the_version_of_an_index_out() {
    let path = with("v0", "", &TTL.replace("\"v\":2", "\"v\":0"));

    assert_eq!(counts(&ruled(&path, &AT)), [1, 0, 0]);
    let made = ["--via", "created"];
    let report = ruled(&path, &[&AT[..], &made].concat());
    assert!(noted(&report["indexes"][0], "mongodb.index.option", "error 67"));
}

#[test]
fn an_empty_key_is_refused_with_one_code_on_every_way() {
    let path = with("no-key", "", r#"{"v":2,"key":{},"name":"i","expireAfterSeconds":60}"#);
    for via in ["restored", "upgraded"] {
        let report = ruled(&path, &[&AT[..], &["--via", via]].concat());
        assert!(noted(&report["indexes"][0], "mongodb.index.key-value", "error 67"), "{via}");
    }
}

#[test]
fn metadata_of_another_shape_is_a_fault() {
    let cases = [
        (r#"{"options":5,"indexes":[]}"#, "expected an object as `options`"),
        (r#"{"options":{},"indexes":[{"key":"t","name":"t_1"}]}"#, "as `key` of index `t_1`"),
    ];
    for (nth, (metadata, part)) in cases.into_iter().enumerate() {
        let data = bson(&[old(1)]);
        let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
        let run = explain(&folder(&format!("shape-{nth}"), &files), &AT);

        assert_eq!(run.code, 2, "{metadata}: {}", run.out);
        assert!(run.err.contains(part) && run.err.contains("fix: "), "{}", run.err);
    }
}

#[test]
fn nan_of_4_4_is_said_to_depend_on_the_processor() {
    let nan = TTL.replace("60}", r#"{"$numberDouble":"NaN"}}"#);
    let path = with("nan-arm", "", &nan);
    let at = |server| {
        let line = ["--server", server, "--via", "upgraded", "--at", "2024-07-01T00:00:00Z"];
        ruled(&path, &line)
    };
    let part = "on ARM this version may read NaN as 0";
    assert!(noted(&at("4.4.10")["indexes"][0], "mongodb.nan.overflows", part));
    assert!(!noted(&at("4.4.18")["indexes"][0], "mongodb.nan.overflows", part));
}

#[test]
fn what_is_to_be_counted_on_the_server_is_inside_the_filter() {
    let filter =
        r#"{"n":{"$gt":{"$numberLong":"3"}},"u":{"$lt":{"$date":"2024-07-03T09:46:40Z"}}}"#;
    let report = ruled(&filtered("count", filter), &[&AT[..], &["--checks"]].concat());

    let checks = report["checks"].to_string();
    let part = "countDocuments({$and: [{\\\"createdAt\\\": {$lte: new Date(Date.now() - 60000)}}, \
                {\\\"n\\\": {\\\"$gt\\\": NumberLong(\\\"3\\\")}, \\\"u\\\": {\\\"$lt\\\": new \
                Date(1720000000000)}}]})";
    assert!(checks.contains(part), "{checks}");
}

#[test]
fn dates_after_2106_are_not_seen_by_a_process_that_starts() {
    let bucket = |seconds: u32, begin: &str| {
        let id = format!("{seconds:08x}0000000000000000");
        let id = bson::oid::ObjectId::parse_str(id).expect("an ObjectId");
        let ends = doc! { "ts": date(begin) };
        doc! { "_id": id, "control": { "min": ends.clone(), "max": ends } }
    };
    // 2128-06-11T08:53:00Z is 4999999980 seconds, which 32 bits cut to 705032684.
    let buckets = [
        bucket(1_719_700_000, "2024-06-29T22:26:40Z"),
        bucket(705_032_684, "2128-06-11T08:53:00Z"),
    ];
    let metadata = br#"{"options":{"expireAfterSeconds":5,"timeseries":{"timeField":"ts",
        "granularity":"seconds","bucketMaxSpanSeconds":3600}},"indexes":[],"type":"timeseries"}"#;
    let data = bson(&buckets);
    let files = [("app/system.buckets.s.bson", &data[..]), ("app/s.metadata.json", metadata)];
    let path = folder("after-2106", &files);
    let at = |via| {
        let line = ["--server", "8.0.4", "--via", via, "--at", "2024-07-01T00:00:00Z"];
        ruled(&path, &line)
    };

    assert_eq!(counts(&at("restored")), [0, 0, 2]);
    let started = at("upgraded");
    assert_eq!(counts(&started), [2, 0, 0]);
    assert!(noted(&started["indexes"][0], "mongodb.bucket.looks-again", "all lie after 2106"));
}
