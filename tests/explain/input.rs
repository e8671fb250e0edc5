//! The forms that input comes in.

use bson::doc;
use serde_json::json;

use crate::support::*;

#[test]
fn packed_files_are_known_by_their_contents() {
    let (data, metadata) = (gzip(&bson(&[old(1)])), gzip(minute().as_bytes()));
    let named = [("app/c.bson.gz", &data[..]), ("app/c.metadata.json.gz", &metadata[..])];
    let unnamed = [("app/c.bson", &data[..]), ("app/c.metadata.json", &metadata[..])];

    for (name, files) in [("gz-named", named), ("gz-unnamed", unnamed)] {
        let folder = folder(name, &files);
        assert_eq!(counts(&ruled(&folder, &AT)), [1, 0, 0]);
        assert_eq!(counts(&ruled(&folder.join(files[0].0), &AT)), [1, 0, 0]);
    }
}

#[test]
fn a_dump_of_several_databases_is_ruled_on_in_order_and_the_rest_is_tolerated() {
    let (one, plain) = (bson(&[old(1)]), minute());
    let view = br#"{"options":{"viewOn":"c","pipeline":[]},"indexes":[],"type":"view"}"#;
    let files: [(&str, &[u8]); 9] = [
        ("b/c.bson", &one),
        ("b/c.metadata.json", plain.as_bytes()),
        ("a/c%2Fd.bson", &one),
        ("a/c%2Fd.metadata.json", plain.as_bytes()),
        ("a/v.metadata.json", view),
        ("admin/system.version.bson", &one),
        ("oplog.bson", &one),
        ("prelude.json", br#"{"ServerVersion":"6.0.5","ToolVersion":"100.12.0"}"#),
        ("a/.DS_Store", b"\0"),
    ];

    let report = ruled(&folder("several", &files), &["--at", "2024-07-01T00:00:00Z"]);

    assert_eq!(report["server"], "6.0.5");
    assert_eq!(report["indexes"][0]["namespace"], "a.c/d");
    assert_eq!(report["indexes"][1]["namespace"], "b.c");
    let skipped: Vec<_> = report["skipped"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = skipped.iter().map(|skipped| skipped["namespace"].clone()).collect();
    assert_eq!(names, ["a.v", "admin.system.version", "oplog.bson"]);
}

#[test]
fn text_of_every_shape_is_read() {
    let shapes = [
        r#"{"_id":1,"createdAt":{"$date":"2024-01-01T00:00:00Z"}}"#,
        r#"[{"_id":1,"createdAt":{"$date":1704067200000}}]"#,
        "{\n  \"_id\": 1,\n  \"createdAt\": {\"$date\": {\"$numberLong\": \"1704067200000\"}}\n}\n",
        "\u{feff}{\"_id\":1,\"createdAt\":{\"$date\":\"2023-12-31T19:00:00.000-0500\"}}\r\n",
        "{ _id: 1, createdAt: ISODate('2024-01-01T00:00:00Z') }",
    ];
    for (nth, shape) in shapes.iter().enumerate() {
        let name = format!("shape-{nth}");
        let path = folder(&name, &[("c.json", shape.as_bytes())]).join("c.json");
        let report = ruled(&path, &[&AT[..], &["--index", MINUTE, "--id", "1"]].concat());
        let since = &report["rulings"][0]["expired_since_ms"];
        assert_eq!(*since, 1_704_067_260_000_i64, "{shape}");
    }
}

#[test]
fn an_id_is_found_however_it_is_written() {
    let lines = r#"{"_id":{"$oid":"6591fe800000000000000001"}}
{"_id":"name"}
{"_id":{"$numberLong":"7"}}
{"_id":{"a":1}}
"#;
    let path = folder("ids", &[("c.json", lines.as_bytes())]).join("c.json");
    let written = [
        "6591fe800000000000000001",
        r#"{"$oid":"6591fe800000000000000001"}"#,
        "ObjectId('6591fe800000000000000001')",
        "name",
        "\"name\"",
        "7",
        r#"{"a":1}"#,
    ];
    for id in written {
        let report = ruled(&path, &[&AT[..], &["--index", MINUTE, "--id", id]].concat());
        assert_eq!(report["rulings"].as_array().map(Vec::len), Some(1), "{id}");
    }
    refused(&path, &[&AT[..], &["--index", MINUTE, "--id", "8"]].concat(), &["--id", "found 8"]);
}

#[test]
fn ids_that_are_there_twice_are_counted_and_noted() {
    let lines = "{\"_id\":1}\n{\"_id\":1.0}\n{\"_id\":2}\n";
    let path = folder("twice", &[("c.json", lines.as_bytes())]).join("c.json");

    let report = ruled(&path, &[&AT[..], &["--index", MINUTE]].concat());

    assert_eq!(report["indexes"][0]["documents"], 3);
    let notes = report["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| text(note).contains("an _id that was there before")));
}

#[test]
fn an_index_that_cannot_be_built_over_the_documents_expires_none_of_them() {
    let unique = r#"{"key": {"createdAt": 1}, "unique": true, "expireAfterSeconds": 60}"#;
    let position = r#"{"key": {"a.0": 1}, "expireAfterSeconds": 60}"#;
    let same = bson(&[old(1), old(2)]);
    let ambiguous = bson(&[doc! { "_id": 1, "a": [{ "0": date("2024-01-01T00:00:00Z") }] }]);
    let path = folder("builds", &[("u.bson", &same), ("p.bson", &ambiguous)]);

    let unique = ruled(&path.join("u.bson"), &[&AT[..], &["--index", unique]].concat());
    let position = ruled(&path.join("p.bson"), &[&AT[..], &["--index", position]].concat());

    let reasons = json!({ "mongodb.visibility.key-taken": 2 });
    assert_eq!(unique["indexes"][0]["never_by_rule"], reasons);
    assert_eq!(position["indexes"][0]["never_by_rule"], json!({ "mongodb.date.ambiguous": 1 }));
}

#[test]
fn equal_input_gives_equal_output() {
    let arguments = [&AT[..], &["--each", "--json"]].concat();

    let once = explain(&dump("dump-types"), &arguments);
    let again = explain(&dump("dump-types"), &arguments);

    assert_eq!(once.out, again.out);
}

#[test]
fn dates_after_the_year_9999_keep_their_milliseconds_and_the_last_never_flips() {
    let far = |millis| doc! { "_id": bson::DateTime::from_millis(millis), "t": bson::DateTime::from_millis(millis) };
    let documents = bson(&[far(253_402_300_800_000), far(i64::MAX)]);
    let metadata = minute().replace("createdAt", "t");
    let files = [("app/c.bson", &documents[..]), ("app/c.metadata.json", metadata.as_bytes())];

    let report = ruled(&folder("far", &files), &[&AT[..], &["--each"]].concat());

    let number = |millis: i64| json!({ "$date": { "$numberLong": millis.to_string() } });
    let (next, last) = (&report["rulings"][0], &report["rulings"][1]);
    assert_eq!(next["decided_by"]["value"], number(253_402_300_800_000));
    assert_eq!(next["flips_at_ms"], 253_402_300_860_000_i64);
    assert_eq!(last["id"], number(i64::MAX));
    assert_eq!((&last["verdict"], &last["flips_at_ms"]), (&json!("never"), &json!(null)));
}

#[test]
fn of_a_carried_value_that_visits_skip_it_is_said_what_a_new_primary_writes() {
    let args = ["--server", "7.0.14", "--via", "upgraded", "--from", "4.4.18"];
    let report =
        ruled(&dump("dump-4.4-nan"), &[&args[..], &["--at", "2024-06-01T00:00:00Z"]].concat());

    let index = &report["indexes"][0];
    assert_eq!(index["never"], 5);
    let notes = index["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note["text"].as_str().is_some_and(|t| t.contains("primary"))));
}
