//! The command, and a script for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const SCRIPT: &str = r#"version = "7.0.14"
until = "10min"
cost = { delete_us = 100, visit_us = 200 }
members = 2
secondary = { apply_per_second = 5_000 }

[[collection]]
name = "app.sessions"
document_bytes = 512
[[collection.index]]
name = "createdAt_1"
expireAfterSeconds = 60
[[collection.arrival]]
rate = 50
"#;

pub fn act(at: &str, what: &str) -> String {
    format!("[[do]]\nat = \"{at}\"\n{what}\n")
}

pub fn with(at: &str, what: &str) -> String {
    format!("{SCRIPT}{}", act(at, what))
}

pub fn simulate(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttlspec"));
    command.args(["simulate", "mongodb"]).args(words);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the command was built")
}

/// Plays a text, and reads what comes of it as data.
pub fn data(name: &str, text: &str) -> serde_json::Value {
    let file = scratch(name).join("script.toml");
    write(&file, text);
    let told = simulate(&[path(&file), "--json"]);
    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    serde_json::from_slice(&told.stdout).expect("it is JSON")
}

pub fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).expect("it speaks UTF-8")
}

pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulate").join(name);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

pub fn write(file: &Path, text: &str) {
    std::fs::write(file, text).expect("the target folder can be written");
}

pub fn path(file: &Path) -> &str {
    file.to_str().expect("the target folder is UTF-8")
}
