//! The command tells what came of a script, and says plainly what cannot be played.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn a_script_is_played_and_told_in_a_table_and_in_words() {
    let file = scratch("plain").join("plain.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file)]);

    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    for word in
        ["app.sessions/createdAt_1", "oplog", "passes", "the monitor keeps up", "lag at most"]
    {
        assert!(said(&told).contains(word), "no `{word}` in {}", said(&told));
    }
}

#[test]
fn equal_scripts_are_told_and_drawn_equal_to_the_byte() {
    let folder = scratch("equal");
    let file = folder.join("equal.toml");
    write(&file, &SCRIPT.replace("rate = 50", "rate = 50\njitter = { seconds = 90, seed = 4 }"));
    let (one, other) = (folder.join("one.svg"), folder.join("other.svg"));

    let first = simulate(&[path(&file), "--json", "--svg", path(&one)]);
    let second = simulate(&[path(&file), "--json", "--svg", path(&other)]);

    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    assert_eq!(first.stdout, second.stdout);
    let svg = std::fs::read(&one).expect("it was drawn");
    assert_eq!(svg, std::fs::read(&other).expect("it was drawn"));
    let text = String::from_utf8(svg).expect("SVG is text");
    for word in [
        "<svg",
        "Backlog",
        "Deletions per pass",
        "Oplog",
        "Secondary",
        "Age when deleted",
        "time (minutes)",
    ] {
        assert!(text.contains(word), "no `{word}` in the picture");
    }
}

#[test]
fn the_data_adds_up() {
    let file = scratch("data").join("data.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file), "--json"]);
    let data: serde_json::Value = serde_json::from_slice(&told.stdout).expect("it is JSON");
    let sum = |list: &serde_json::Value, field: &str| {
        let all = list.as_array().expect("a list").iter();
        all.map(|one| one[field].as_u64().expect("a number")).sum::<u64>()
    };

    let deleted = data["passes"]["deleted"].as_u64().expect("a number");
    assert!(deleted > 10_000, "{deleted}");
    assert_eq!(sum(&data["passes"]["listed"], "deleted"), deleted);
    assert_eq!(sum(&data["columns"], "deleted"), deleted);
    assert_eq!(sum(&data["indexes"], "deleted"), deleted);
    assert_eq!(sum(&data["columns"], "came"), data["came"].as_u64().expect("a number"));
    assert_eq!(data["counters"][0]["deletedDocuments"], deleted);
}

#[test]
fn counting_and_holding_tell_the_same() {
    let file = scratch("ways").join("ways.toml");
    write(&file, SCRIPT);

    let counted = simulate(&[path(&file), "--json"]);
    let held = simulate(&[path(&file), "--json", "--singly"]);

    assert_eq!(counted.status.code(), Some(0));
    assert_eq!(counted.stdout, held.stdout);
}

#[test]
fn until_on_the_command_line_wins() {
    let file = scratch("until").join("until.toml");
    write(&file, SCRIPT);

    let told = simulate(&[path(&file), "--until", "5min"]);

    assert!(said(&told).contains("played    5 min"), "{}", said(&told));
}

#[test]
fn a_fast_clock_of_a_new_primary_shows_as_documents_deleted_before_their_time() {
    let file = scratch("clock").join("clock.toml");
    write(
        &file,
        &format!(
            "{SCRIPT}{}{}",
            act("6min", "step_down = true"),
            act("6min12s", "step_up = { clock = \"90s\" }")
        ),
    );

    let told = simulate(&[path(&file)]);

    assert!(said(&told).contains("before their time"), "{}", said(&told));
    assert!(said(&told).contains("600 were refused"), "{}", said(&told));
}

#[test]
fn an_upgrade_that_makes_nan_zero_deletes_everything() {
    let file = scratch("nan").join("nan.toml");
    let script = SCRIPT
        .replace("7.0.14", "4.4.10")
        .replace("expireAfterSeconds = 60", "expireAfterSeconds = nan");
    write(&file, &format!("{script}{}", act("6min", "upgrade = \"5.0.5\"")));

    let told = simulate(&[path(&file)]);

    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    let before = "counters  at 6 min, member 0: passes 5, deletedDocuments 0\n";
    assert!(said(&told).contains(before), "{}", said(&told));
    let after = "counters  at 10 min, member 0: passes 3, deletedDocuments 27,";
    assert!(said(&told).contains(after), "{}", said(&told));
}

/// What is wrong, what the message must hold, and in which line it must be.
#[test]
fn what_cannot_be_played_is_said_with_line_reason_and_fix() {
    let folder = scratch("bad");
    let index = "collection = \"app.sessions\", index = \"createdAt_1\"";
    let cases: Vec<(&str, String, &str, Option<usize>)> = vec![
        ("empty", String::new(), "empty file", None),
        ("truncated", SCRIPT[..SCRIPT.len() / 2].to_owned(), "unclosed", Some(7)),
        ("key", SCRIPT.replace("until =", "untill ="), "did you mean `until`?", Some(2)),
        ("word", SCRIPT.replace("delete_us", "delete_ms"), "did you mean `delete_us`?", Some(3)),
        (
            "type",
            SCRIPT.replace("rate = 50", "rate = \"fast\""),
            "a rate of documents a second",
            Some(14),
        ),
        (
            "negative",
            SCRIPT.replace("rate = 50", "rate = -5"),
            "from 0.001 to 1000000000",
            Some(14),
        ),
        (
            "nan rate",
            SCRIPT.replace("rate = 50", "rate = nan"),
            "from 0.001 to 1000000000",
            Some(14),
        ),
        (
            "huge rate",
            SCRIPT.replace("rate = 50", "rate = 1_000_000_000"),
            "can be counted",
            Some(13),
        ),
        (
            "trillion",
            SCRIPT.replace("rate = 50", "rate = 1_000_000_000").replace("10min", "1000s"),
            "1,000,000,000,000 documents",
            Some(13),
        ),
        ("too large", SCRIPT.replace("rate = 50", "rate = 99999999999999999999"), "fix:", Some(14)),
        ("until", SCRIPT.replace("\"10min\"", "\"-10min\""), "an end after the start", Some(2)),
        ("no unit", SCRIPT.replace("\"10min\"", "\"10\""), "a span of time", Some(2)),
        ("version", SCRIPT.replace("7.0.14", "newest"), "a server version", Some(1)),
        (
            "seconds",
            SCRIPT.replace("= 60\n", "= \"60\"\n"),
            "`expireAfterSeconds` to be a number",
            Some(12),
        ),
        ("refused", SCRIPT.replace("= 60\n", "= -1\n"), "error 67", Some(11)),
        (
            "before",
            SCRIPT.replace("rate = 50", "rate = 50\nfrom = \"-1h\""),
            "before the start",
            Some(15),
        ),
        (
            "backwards",
            SCRIPT.replace("rate = 50", "rate = 50\nfrom = \"2min\"\nto = \"1min\""),
            "before `from`",
            Some(16),
        ),
        ("share", SCRIPT.replace("= 60\n", "= 60\nshare = 1.5\n"), "a share", Some(13)),
        ("step up", with("1min", "step_up = {}"), "nobody has stepped down", Some(17)),
        (
            "step down",
            with("1min", "step_down = true") + &act("2min", "step_down = true"),
            "no primary since line 15",
            Some(20),
        ),
        (
            "alone",
            with("1min", "step_down = true")
                .replace("members = 2", "members = 1")
                .replace("secondary", "#"),
            "alone cannot step down",
            Some(17),
        ),
        (
            "missing index",
            with(
                "1min",
                "coll_mod = { collection = \"app.sessions\", index = \"createdat_1\", expireAfterSeconds = 5 }",
            ),
            "did you mean `createdAt_1`?",
            Some(17),
        ),
        (
            "not yet",
            with(
                "1min",
                "coll_mod = { collection = \"app.sessions\", index = \"later\", expireAfterSeconds = 5 }",
            ) + &act(
                "2min",
                "create_index = { collection = \"app.sessions\", name = \"later\", expireAfterSeconds = 5 }",
            ),
            "no index `later` in `app.sessions` yet",
            Some(17),
        ),
        (
            "dropped",
            with("1min", "drop_index = { collection = \"app.sessions\", name = \"createdAt_1\" }")
                + &act("2min", &format!("coll_mod = {{ {index}, expireAfterSeconds = 5 }}")),
            "error 27",
            Some(18),
        ),
        (
            "no primary",
            with("1min", "step_down = true")
                + &act("2min", &format!("coll_mod = {{ {index}, expireAfterSeconds = 5 }}")),
            "no primary that could do this",
            Some(18),
        ),
        (
            "downwards",
            with("1min", "upgrade = \"6.0.9\""),
            "write `downgrade` if that is meant",
            Some(17),
        ),
        (
            "upwards",
            with("1min", "downgrade = \"8.0.4\""),
            "write `upgrade` if that is meant",
            Some(17),
        ),
        (
            "order",
            with("2min", "monitor = false") + &act("1min", "monitor = true"),
            "in front of it",
            Some(19),
        ),
        ("after", with("11min", "monitor = false"), "after the end", Some(16)),
        (
            "two at once",
            with("1min", "monitor = false\nstep_down = true"),
            "expected one thing to do, found 2",
            Some(15),
        ),
        ("nothing", with("1min", ""), "expected one thing to do, found 0", Some(15)),
        ("parameter", with("1min", "set = { ttlMonitorSleepSecs = 0 }"), "error 2", Some(17)),
        ("no parameter", with("1min", "set = { ttlMonitorSleepsecs = 5 }"), "error 72", Some(17)),
        (
            "twice",
            format!("{SCRIPT}[[collection]]\nname = \"app.sessions\"\n"),
            "is there already",
            Some(16),
        ),
    ];

    let mut wrong = Vec::new();
    for (name, script, expected, line) in cases {
        let file = folder.join(format!("{}.toml", name.replace(' ', "-")));
        write(&file, &script);
        let told = simulate(&[path(&file)]);
        let said = said(&told);

        let at = line.map_or(".toml: ".to_owned(), |line| format!(".toml:{line}: "));
        let is_right = told.status.code() == Some(2)
            && [expected, "; fix: ", &at].iter().all(|word| said.contains(word))
            && !said.contains("panicked");
        if !is_right {
            wrong.push(format!("{name}: expected `{expected}` at `{at}`, found {said}"));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_there_is_bad_input() {
    let file = scratch("bytes").join("bytes.toml");
    std::fs::write(&file, [0xff, 0xfe, 0x00]).expect("the target folder can be written");
    let script = scratch("there").join("there.toml");
    write(&script, SCRIPT);

    for words in [
        &["no-such-file.toml"][..],
        &[path(&file)],
        &[path(&script), "--until", "yesterday"],
        &[path(&script), "--until", "-1h"],
        &[path(&script), "--svg", "no/such/folder/picture.svg"],
    ] {
        let told = simulate(words);
        assert_eq!(told.status.code(), Some(2), "{words:?}: {}", said(&told));
        assert!(said(&told).contains("fix: "), "{words:?}: {}", said(&told));
    }
}

const SCRIPT: &str = r#"version = "7.0.14"
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

fn act(at: &str, what: &str) -> String {
    format!("[[do]]\nat = \"{at}\"\n{what}\n")
}

fn with(at: &str, what: &str) -> String {
    format!("{SCRIPT}{}", act(at, what))
}

fn simulate(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttlspec"));
    command.args(["simulate", "mongodb"]).args(words);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the command was built")
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).expect("it speaks UTF-8")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulate").join(name);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).expect("the target folder can be written");
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the target folder is UTF-8")
}
