//! Running `ttlspec explain`, and making what it reads.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use bson::{Bson, DateTime, Document, doc};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

// ---- running it --------------------------------------------------------------------------------

pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn explain(path: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_ttlspec"))
        .arg("explain")
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

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("it prints JSON")
    }
}

/// Explains a good input, as JSON.
pub fn ruled(path: &Path, arguments: &[&str]) -> Value {
    let run = explain(path, &[arguments, &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.json()
}

pub fn dump(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dump").join(name)
}

/// Expired, pending, never of the first index.
pub fn counts(report: &Value) -> [u64; 3] {
    let index = &report["indexes"][0];
    ["expired", "pending", "never"].map(|name| index[name].as_u64().expect("a count"))
}

pub fn by<'a>(report: &'a Value, id: &Value) -> &'a Value {
    let rulings = report["rulings"].as_array().expect("rulings");
    rulings.iter().find(|ruling| ruling["id"] == *id).expect("a ruling on it")
}

pub fn cites(ruling: &Value, rule: &str) -> bool {
    ruling["by"].as_array().expect("rules").contains(&json!(rule))
}

pub fn noted(index: &Value, rule: &str, part: &str) -> bool {
    let notes = index["notes"].as_array().expect("notes");
    notes.iter().any(|note| note["rule"] == rule && text(note).contains(part))
}

pub fn text(note: &Value) -> &str {
    note["text"].as_str().expect("a text")
}

pub fn sentence(ruling: &Value) -> &str {
    ruling["would_expire_if"].as_str().expect("a sentence")
}

// ---- making input ------------------------------------------------------------------------------

pub const MINUTE: &str = r#"{"key": {"createdAt": 1}, "expireAfterSeconds": 60}"#;
pub const AT: [&str; 4] = ["--server", "7.0.14", "--at", "2024-07-01T00:00:00Z"];

pub fn metadata(index: &str) -> String {
    format!(r#"{{"options":{{}},"indexes":[{{"v":2,"key":{{"_id":1}},"name":"_id_"}},{index}]}}"#)
}

pub fn minute() -> String {
    metadata(r#"{"v":2,"key":{"createdAt":1},"name":"createdAt_1","expireAfterSeconds":60}"#)
}

pub fn bson(documents: &[Document]) -> Vec<u8> {
    documents.iter().flat_map(|document| document.to_vec().expect("it is BSON")).collect()
}

pub fn date(rfc3339: &str) -> Bson {
    Bson::DateTime(DateTime::parse_rfc3339_str(rfc3339).expect("a date"))
}

pub fn old(id: i32) -> Document {
    doc! { "_id": id, "createdAt": date("2024-01-01T00:00:00Z") }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("it packs");
    encoder.finish().expect("it packs")
}

/// A folder of its own with these files.
pub fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain").join(name);
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).expect("a folder");
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    root
}

/// A dump of one collection that is one document, then something else.
pub fn with_fault(name: &str, second: &[u8]) -> PathBuf {
    let bytes = [bson(&[old(1)]).as_slice(), second].concat();
    folder(name, &[("app/c.bson", &bytes), ("app/c.metadata.json", minute().as_bytes())])
}

/// The first document is ruled on, and the fault is said with its byte and what to do.
pub fn fails_at(path: &Path, offset: u64, part: &str) {
    let run = explain(path, &[&AT[..], &["--json"]].concat());

    let report = run.json();
    assert_eq!(run.code, 2);
    assert_eq!(counts(&report), [1, 0, 0]);
    assert_eq!(report["faults"][0]["offset"], offset, "{}", report["faults"]);
    for said in [report["faults"][0]["what"].as_str().expect("what"), &run.err] {
        assert!(said.contains(part), "{said}");
    }
    assert!(run.err.contains("c.bson: at byte ") && run.err.contains("fix: "), "{}", run.err);
}

/// Nothing can be made of it, and the message says so in these words.
pub fn refused(path: &Path, arguments: &[&str], parts: &[&str]) {
    let run = explain(path, arguments);

    assert_eq!(run.code, 2, "{}", run.out);
    for part in parts {
        assert!(run.err.contains(part), "expected `{part}` in {}", run.err);
    }
}
