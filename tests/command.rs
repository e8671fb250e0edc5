//! The command says what it found by its exit code, and says bad input plainly.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn a_planted_bug_is_found_and_the_script_that_shows_it_replays() {
    let file = scratch("planted").join("found.toml");
    let plant = ["--plant", "sweeps one millisecond late", "--steps", "1000", "--save"];

    let checked = ttlspec(&[&["check"], &plant[..], &[path(&file)]].concat());
    let replayed = ttlspec(&["replay", path(&file)]);
    let planted = ttlspec(&["replay", path(&file), "--plant", "sweeps one millisecond late"]);

    assert_eq!(planted.status.code(), Some(1), "{}", said(&planted));
    assert_eq!(checked.status.code(), Some(1), "{}", said(&checked));
    assert!(said(&checked).contains("engine: deleted []"), "{}", said(&checked));
    assert_eq!(replayed.status.code(), Some(0), "{}", said(&replayed));
    assert!(said(&replayed).contains("1 passed"), "{}", said(&replayed));
}

#[test]
fn a_vector_that_does_not_hold_is_a_finding() {
    let file = scratch("untrue").join("untrue.toml");
    write(&file, &VECTOR.replace("deleted = [1]", "deleted = []"));

    let replayed = ttlspec(&["replay", path(&file)]);

    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    assert!(said(&replayed).contains("untrue.toml:8"), "{}", said(&replayed));
}

#[test]
fn a_vector_with_a_typo_is_bad_input_with_file_line_and_fix() {
    let file = scratch("typo").join("typo.toml");
    write(&file, &VECTOR.replace("insert =", "insret ="));

    let replayed = ttlspec(&["replay", path(&file)]);

    assert_eq!(replayed.status.code(), Some(2), "{}", said(&replayed));
    assert!(said(&replayed).contains("typo.toml:7"), "{}", said(&replayed));
    assert!(said(&replayed).contains("did you mean `insert`"), "{}", said(&replayed));
}

#[test]
fn a_rule_that_was_not_cited_is_a_finding() {
    let file = scratch("rule").join("rule.toml");
    write(&file, &VECTOR.replace("mongodb.threshold.from", "mongodb.threshold.before"));

    let replayed = ttlspec(&["replay", "--engine", "model", path(&file)]);

    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    assert!(said(&replayed).contains("mongodb.threshold.from"), "{}", said(&replayed));
}

#[test]
fn what_is_not_there_is_bad_input() {
    for words in [
        &["replay", "no-such-file.toml"][..],
        &["check", "--plant", "no such mutant"],
        &["check", "--specs", "no-such-folder"],
        &["check", "redis"],
        &["no-such-verb"],
    ] {
        assert_eq!(ttlspec(words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn each_system_is_exported_as_one_file_on_one_line() {
    let specs = |text: &str| -> Vec<String> {
        let files = text.lines().map(|line| -> serde_json::Value {
            serde_json::from_str(line).expect("a line is a whole JSON text")
        });
        files.map(|file| file["spec"].as_str().expect("it names its system").to_owned()).collect()
    };

    assert_eq!(specs(&said(&ttlspec(&["export"]))), ["mongodb", "cassandra"]);
    assert_eq!(specs(&said(&ttlspec(&["export", "cassandra"]))), ["cassandra"]);
}

#[test]
fn the_same_seed_prints_the_same() {
    let words = ["check", "--steps", "2000", "--seed", "7"];

    assert_eq!(said(&ttlspec(&words)), said(&ttlspec(&words)));
}

const VECTOR: &str = r#"format = 1
spec   = "mongodb"
[[vector]]
name  = "one"
steps = [
  { at_ms = 0, do = { create_index = { key = { t = 1 }, name = "t_1", expireAfterSeconds = 10 } }, see = "ok" },
  { at_ms = 0, do = { insert = { _id = 1, t = { "$date" = 0 } } }, see = "ok" },
  { at_ms = 10_000, do = "pass", see = { deleted = [1] }, by = ["mongodb.threshold.from"] },
]
config = { version = "7.0.14" }
"#;

fn ttlspec(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttlspec"));
    command.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).expect("it speaks UTF-8")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).expect("the target folder can be written");
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the target folder is UTF-8")
}
