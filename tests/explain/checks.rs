//! An expired document is still there: what the dump shows, and what to ask the server.

use bson::doc;
use serde_json::{Value, json};

use crate::support::*;

fn commands(report: &Value) -> Vec<String> {
    let checks = report["checks"].as_array().expect("checks");
    checks.iter().map(|check| check["command"].as_str().expect("a command").to_owned()).collect()
}

fn asks(report: &Value, part: &str) -> bool {
    commands(report).iter().any(|command| command.contains(part))
}

fn answers(report: &Value, part: &str) -> bool {
    report["checks"].to_string().contains(part)
}

fn of(server: &str) -> Value {
    ruled(&dump("dump-types"), &["--server", server, "--at", "2024-07-01T00:00:00Z"])
}

#[test]
fn each_check_says_what_to_run_what_an_answer_means_and_the_rule() {
    let report = of("7.0.14");

    for check in report["checks"].as_array().expect("checks") {
        for field in ["what", "command", "rule"] {
            assert!(check[field].as_str().is_some_and(|text| !text.is_empty()), "{check}");
        }
        assert!(check["if"].as_array().is_some_and(|answers| !answers.is_empty()), "{check}");
    }
    for part in [
        "ttlMonitorEnabled: 1",
        "ttlMonitorSleepSecs: 1",
        "db.serverStatus().metrics.ttl",
        "db.hello().isWritablePrimary",
        "db.hello().msg",
        "db.hello().localTime",
        "system.replset",
        "currentOp: 1}).fsyncLock",
        "userWriteBlockMode",
        "rs.printSecondaryReplicationInfo()",
        "\"command.createIndexes\": {$exists: true}",
        "desc: \"TTLMonitor\"",
        "getLog",
        "rangeDeletions.find({nss: \"app.sessions\"})",
        r#"db.getSiblingDB("app").getCollection("sessions").getIndexes()"#,
        r#"countDocuments({"createdAt": {$lte: new Date(Date.now() - 3600000)}})"#,
    ] {
        assert!(asks(&report, part), "{part}");
    }
    assert!(!asks(&report, "featureCompatibilityVersion"), "it matters for nothing here");
}

#[test]
fn only_what_the_version_has_is_asked() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            "4.0.20",
            &["db.isMaster().ismaster", "rs.printSlaveReplicationInfo()"],
            &["hello", "userWriteBlockMode", "rangeDeletions"],
        ),
        ("4.0.21", &["db.hello().isWritablePrimary"], &["isMaster"]),
        ("4.4.1", &["db.isMaster().ismaster", "rs.printSecondaryReplicationInfo()"], &["hello"]),
        ("5.0.14", &["db.hello()"], &["userWriteBlockMode", "rangeDeletions"]),
        ("6.0.5", &["userWriteBlockMode", "rangeDeletions"], &["isMaster", "Slave"]),
    ];
    for (server, has, lacks) in cases {
        let report = of(server);
        has.iter().for_each(|part| assert!(asks(&report, part), "{server}: {part}"));
        lacks.iter().for_each(|part| assert!(!asks(&report, part), "{server}: {part}"));
    }
    assert!(
        answers(&of("6.0.5"), "starves the rest") && !answers(&of("6.1.0"), "starves the rest")
    );
    assert!(answers(&of("6.1.0"), "subPasses") && !answers(&of("6.0.5"), "subPasses"));
    assert!(
        answers(&of("8.1.0"), "invalidTTLIndexSkips")
            && !answers(&of("8.0.4"), "invalidTTLIndexSkips")
    );
    assert!(answers(&of("7.0.14"), "6909100") && answers(&of("6.0.5"), "22542"));
    assert!(answers(&of("5.0.5"), "shows NaN as 0 too") && !answers(&of("4.4.18"), "NaN"));
}

#[test]
fn the_feature_compatibility_version_is_asked_where_it_matters() {
    let filter = r#"{"v":2,"key":{"createdAt":1},"name":"c","expireAfterSeconds":60,
        "partialFilterExpression":{"$or":[{"a":1},{"b":1}]}}"#;
    let metadata = metadata(filter);
    let data = bson(&[old(1)]);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let path = folder("fcv", &files);
    let at = |server: &'static str| ["--server", server, "--at", "2024-07-01T00:00:00Z"];

    assert!(asks(&ruled(&path, &at("6.0.5")), "featureCompatibilityVersion"));
    assert!(asks(&ruled(&dump("dump-capped-ttl"), &at("7.1.0")), "featureCompatibilityVersion"));
    assert!(!asks(&ruled(&dump("dump-capped-ttl"), &at("7.0.14")), "featureCompatibilityVersion"));
}

#[test]
fn what_the_dump_shows_is_said_with_whether_it_stands_in_the_way() {
    let index = r#"{"v":2,"key":{"createdAt":-1},"name":"c","hidden":true,"expireAfterSeconds":60,
        "partialFilterExpression":{"n":1}}"#;
    let inside = doc! { "_id": 1, "n": 1, "createdAt": [date("2024-01-01T00:00:00Z"), "x"] };
    let data = bson(&[inside, old(2), doc! { "_id": 3, "n": 1 }]);
    let metadata = metadata(index);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];

    let report = ruled(&folder("shown", &files), &AT);

    let seen = report["indexes"][0]["seen"].as_array().expect("a list").clone();
    let of =
        |what: &str| seen.iter().find(|seen| seen["what"] == what).expect("it is seen").clone();
    let way = |what: &str| of(what)["in_the_way"] == json!(true);
    let found = |what: &str| of(what)["found"].as_str().expect("a text").to_owned();
    assert!(way("the partial filter") && found("the partial filter").starts_with("1 of 3"));
    assert!(way("the type at the path") && found("the type at the path").contains("1 document "));
    assert!(!way("arrays") && found("arrays").contains("1 document"));
    assert!(!way("hidden") && found("hidden").contains("does not matter"));
    assert!(!way("the index") && !way("the collection") && !way("time"));
    let nan = ["--server", "4.4.18", "--at", "2024-06-01T00:00:00Z"];
    let report = ruled(&dump("dump-4.4-nan"), &nan);
    let index = &report["indexes"][0]["seen"][1];
    assert_eq!((&index["what"], &index["in_the_way"]), (&json!("the index"), &json!(true)));
    assert!(index["found"].as_str().is_some_and(|found| found.contains("22542")));
}

#[test]
fn the_text_lists_it_for_an_expired_document_and_gives_the_reason_first_for_others() {
    let expired = explain(&dump("dump-types"), &[&AT[..], &["--id", "1"]].concat());
    let never = explain(&dump("dump-types"), &[&AT[..], &["--id", "2"]].concat());
    let asked = explain(&dump("dump-types"), &[&AT[..], &["--checks"]].concat());

    const HEADING: &str = "expired and still there: what can stand in the way";
    assert!(expired.out.contains(HEADING) && expired.out.contains("    still there "));
    assert!(!never.out.contains(HEADING) && asked.out.contains(HEADING));
    let place = |part: &str| never.out.find(part).expect("it is said");
    assert!(place("    blocked by  `createdAt` holds a string") < place("    decided by  "));
    // A command is not broken, so that it can be copied.
    let command = "db.adminCommand({currentOp: 1, $or: [{op: \"command\", \"command.createIndexes\": {$exists: true}}, {op: \"none\", msg: /^Index Build/}]}).inprog";
    assert!(expired.out.lines().any(|line| line.trim() == command), "{}", expired.out);
}

// ---- other kinds of collections ----------------------------------------------------------------

fn reason(report: &Value, namespace: &str) -> String {
    let skipped = report["skipped"].as_array().expect("a list");
    let of =
        skipped.iter().find(|skipped| skipped["namespace"] == namespace).expect("it is listed");
    of["reason"].as_str().expect("a reason").to_owned()
}

#[test]
fn a_collection_with_seconds_of_its_own_is_asked_for_with_its_options_and_buckets() {
    let at = |server: &'static str| ["--server", server, "--at", "2024-07-01T00:00:00Z"];

    let seven = ruled(&dump("dump-timeseries"), &at("7.0.14"));
    let five = ruled(&dump("dump-timeseries"), &at("5.0.14"));

    assert!(asks(&seven, r#"getCollectionInfos({name: "weather24h"})"#));
    assert!(asks(&seven, r#"{nss: "iot.system.buckets.weather24h"}"#));
    let buckets =
        r#"getCollection("system.buckets.weather24h").countDocuments({_id: {$lt: ObjectId"#;
    assert!(asks(&seven, buckets) && asks(&seven, "Date.now() - 2678400000"));
    let outside = r#""control.min.timestamp": {$lt: new Date(0)}"#;
    assert!(asks(&seven, outside) && !asks(&five, outside), "5.0 does not look at it");
}

#[test]
fn the_temporary_collection_of_a_resharding_is_not_ruled_on() {
    let name = "app/system.resharding.0f";
    let (data, minute) = (bson(&[old(1)]), minute());
    let (file, beside) = (format!("{name}.bson"), format!("{name}.metadata.json"));
    let path = folder("resharding", &[(&file, &data), (&beside, minute.as_bytes())]);

    let report = ruled(&path, &AT);

    assert_eq!(report["indexes"], json!([]));
    assert!(reason(&report, "app.system.resharding.0f").contains("visits skip it"));
}
