//! Running `ttlspec diff`, and making what it reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use bson::{DateTime, doc};
use serde_json::{Value, json};

use crate::files::{Run, bson, folder, metadata};

pub fn diff(path: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_ttlspec"))
        .arg("diff")
        .arg(path)
        .args(arguments)
        .output()
        .expect("the command runs");
    Run {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("it prints UTF-8"),
        err: String::from_utf8(output.stderr).expect("it prints UTF-8"),
    }
}

/// Compares a good input, with the arguments as one line. Answers the exit code and the JSON.
pub fn compared(path: &Path, line: &str) -> (i32, Value) {
    let arguments: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
    let run = diff(path, &arguments);
    assert_ne!(run.code, 2, "{line}: {}", run.err);
    (run.code, run.json())
}

/// When the changes of these tests are made.
pub const AT: &str = "--at 2024-06-01T00:00:00Z";
pub const AT_MS: i64 = 1_717_200_000_000;

/// Of the first collection: at the first pass, later, beyond the horizon, no longer deleted.
pub fn counts(report: &Value) -> [u64; 4] {
    let collection = &report["collections"][0];
    let list = |name: &str| collection[name].as_array().expect("a list").clone();
    let sum = |of: &str| list("sooner").iter().map(|group| number(&group[of])).sum();
    let spared = list("no_longer_deleted").iter().map(|one| number(&one["documents"])).sum();
    [sum("at_first_pass"), sum("later"), sum("beyond"), spared]
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

/// The first reason for which documents of the first collection are deleted sooner.
pub fn reason(report: &Value) -> &Value {
    &report["collections"][0]["sooner"][0]
}

pub fn deleted_by(report: &Value, rule: &str) -> bool {
    reason(report)["deleted_by"].as_array().expect("rules").contains(&json!(rule))
}

/// A dump of one collection `app.c` with this index on `t`, and documents dated so many
/// milliseconds before the change.
pub fn dated(name: &str, options: &str, ages_ms: &[i64]) -> PathBuf {
    let index = format!(r#"{{"v":2,"key":{{"t":1}},"name":"t_1"{options}}}"#);
    with_indexes(name, &index, ages_ms)
}

pub fn with_indexes(name: &str, indexes: &str, ages_ms: &[i64]) -> PathBuf {
    let documents: Vec<_> = (ages_ms.iter().enumerate())
        .map(|(id, age)| {
            let date = DateTime::from_millis(AT_MS - age);
            doc! { "_id": i32::try_from(id).expect("few"), "t": date, "u": date }
        })
        .collect();
    let (data, metadata) = (bson(&documents), metadata(indexes));
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
    folder(&format!("diff-{name}"), &files)
}

/// A dump of a time-series collection with one bucket of 2017-11-28T00:21:28Z.
pub fn old_bucket() -> PathBuf {
    let id = bson::oid::ObjectId::parse_str("5a1cac080000000000000000").expect("an ObjectId");
    let date = DateTime::from_millis(1_511_828_488_000);
    let bucket = doc! { "_id": id, "control": { "min": { "ts": date }, "max": { "ts": date } } };
    let metadata = br#"{"options":{"expireAfterSeconds":60,"timeseries":{"timeField":"ts",
        "granularity":"seconds","bucketMaxSpanSeconds":3600}},"indexes":[],"type":"timeseries"}"#;
    let files =
        [("app/system.buckets.s.bson", &bson(&[bucket])[..]), ("app/s.metadata.json", metadata)];
    folder("diff-old-bucket", &files)
}

/// A dump of a clustered collection with a key of 1969, and one of the time of the change.
pub fn clustered_before_1970() -> PathBuf {
    let key = |millis: i64| doc! { "_id": DateTime::from_millis(millis) };
    let metadata = br#"{"options":{"expireAfterSeconds":60,"clusteredIndex":{"key":{"_id":1},
        "unique":true,"name":"_id_"}},"indexes":[]}"#;
    let data = bson(&[key(-1), key(AT_MS)]);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata)];
    folder("diff-clustered", &files)
}
