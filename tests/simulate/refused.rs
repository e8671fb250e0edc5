//! What cannot be played is said plainly.

use ttlspec_simulate::read;
use ttlspec_simulate::script::MOST_BYTES;

use crate::told::{SCRIPT, act, path, said, scratch, simulate, with, write};

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
        ("refused", SCRIPT.replace("= 60\n", "= -1\n"), "error 67", Some(12)),
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
            "no primary since line 17",
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
            Some(20),
        ),
        (
            "no primary",
            with("1min", "step_down = true")
                + &act("2min", &format!("coll_mod = {{ {index}, expireAfterSeconds = 5 }}")),
            "no primary that could do this",
            Some(20),
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
        (
            "after",
            with("11min", "monitor = false"),
            "not before the end of what is played",
            Some(16),
        ),
        ("at the end", with("10min", "monitor = false"), "which is at 10 min", Some(16)),
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
            "leap",
            with("1min", "upgrade = \"7.0.14\"").replacen("7.0.14", "4.4.10", 1),
            "before for each of: 5.0, 6.0",
            Some(17),
        ),
        ("leap down", with("1min", "downgrade = \"5.0.20\""), "leaves out a release", Some(17)),
        (
            "rapid leap",
            with("1min", "upgrade = \"7.0.14\"").replacen("7.0.14", "6.1.0", 1),
            "mongodb.upgrade.elsewhere",
            Some(17),
        ),
        (
            "local",
            SCRIPT.replace("app.sessions", "local.sessions"),
            "mongodb.replication.local",
            Some(8),
        ),
        (
            "late",
            SCRIPT.replace("rate = 50", "rate = 50\nfrom = \"10min\""),
            "not before the end",
            Some(15),
        ),
        (
            "late batch",
            format!("{SCRIPT}[[collection.batch]]\ndocuments = 5\nfrom = \"3h\"\n"),
            "not before the end",
            Some(17),
        ),
        (
            "late document",
            format!("{SCRIPT}[[collection.document]]\nat = \"2h\"\ndate = \"1h\"\n"),
            "not before the end",
            Some(16),
        ),
        ("control", SCRIPT.replace("app.sessions", "app.a\\u001Bb"), "app.a\\u{1b}b", Some(8)),
        (
            "control index",
            SCRIPT.replace("createdAt_1", "t\\nt"),
            "cannot be named `t\\u{a}t`",
            Some(11),
        ),
        (
            "dollar",
            SCRIPT.replace("app.sessions", "app.$bad"),
            "a name that a server takes",
            Some(8),
        ),
        ("system", SCRIPT.replace("app.", "app.system."), "a collection of users", Some(8)),
        ("long", SCRIPT.replace("sessions", &"s".repeat(200)), "120 bytes at most", Some(8)),
        ("nan", SCRIPT.replace("= 60\n", "= nan\n"), "whole number from 0 to 2147483647", Some(12)),
        ("too long", SCRIPT.replace("= 60\n", "= 1e300\n"), "app.sessions/createdAt_1", Some(12)),
        (
            "huge",
            SCRIPT.replace("= 60\n", "= 99999999999999999999\n"),
            "a number of 64 bits",
            Some(12),
        ),
        (
            "dropped twice",
            with("1min", "drop_index = { collection = \"app.sessions\", name = \"createdAt_1\" }")
                + &act(
                    "2min",
                    "drop_index = { collection = \"app.sessions\", name = \"createdAt_1\" }",
                ),
            "dropIndexes of `app.sessions/createdAt_1`",
            Some(20),
        ),
        (
            "made twice",
            with(
                "1min",
                &format!(
                    "create_index = {{ {}, expireAfterSeconds = 5 }}",
                    index.replace("index =", "name =")
                ),
            ),
            "drop it before with `drop_index`",
            Some(17),
        ),
        (
            "slip",
            with("1min", "set = { ttlMonitorSleepSec = 5 }"),
            "did you mean `ttlMonitorSleepSecs`?",
            Some(17),
        ),
        (
            "range",
            with("1min", "set = { ttlMonitorSleepSecs = 0 }"),
            "from 1 to 2147483647",
            Some(17),
        ),
        (
            "newer",
            with("1min", "set = { ttlMonitorBatchDeletes = true }").replace("7.0.14", "4.4.10"),
            "4.4.10 has ttlMonitorEnabled, ttlMonitorSleepSecs",
            Some(17),
        ),
        (
            "bare version",
            SCRIPT.replace("\"7.0.14\"", "7.0"),
            "such as `version = \"7.0.14\"`",
            Some(1),
        ),
        ("bare span", SCRIPT.replace("\"10min\"", "3600"), "such as `until = \"3600s\"`", Some(2)),
        (
            "quoted start",
            format!("start = \"2026-01-01T00:00:00Z\"\n{SCRIPT}"),
            "without quotes, such as `start = 2026",
            Some(1),
        ),
        (
            "quoted date",
            format!(
                "{SCRIPT}[[collection.document]]\nat = \"1s\"\ndate = \"2026-01-01T00:00:00Z\"\n"
            ),
            "without quotes: 2026",
            Some(17),
        ),
        ("no version", SCRIPT.replace("version", "#"), "such as `version = \"7.0.14\"`", Some(1)),
        ("no until", SCRIPT.replace("until", "#"), "such as `until = \"1d\"`", Some(1)),
        (
            "no seed",
            SCRIPT.replace("rate = 50", "rate = 50\njitter = { seconds = 9 }"),
            "such as `seed = 1`",
            Some(15),
        ),
        (
            "no date",
            format!("{SCRIPT}[[collection.document]]\nat = \"1s\"\n"),
            "such as `date = \"-2h\"`",
            Some(15),
        ),
        (
            "two",
            SCRIPT.replace("members", "until = \"1h\"\nmembers"),
            "leave one of the two out",
            Some(4),
        ),
        ("syntax", SCRIPT.replace("until =", "until"), "a line is `name = value`", Some(2)),
        (
            "single bracket",
            SCRIPT.replace("[[collection]]", "[collection]"),
            "`[[collection]]`",
            Some(7),
        ),
        (
            "far",
            SCRIPT.replace("rate = 50", "rate = 50\nfoo = 1"),
            "write one of: rate, from",
            Some(15),
        ),
        (
            "partial",
            SCRIPT.replace("= 60\n", "= 60\npartialFilterExpression = {}\n"),
            "said with `share`",
            Some(13),
        ),
        (
            "clustered",
            SCRIPT.replace("document_bytes = 512", "clusteredIndex = true"),
            "What it does not",
            Some(9),
        ),
        (
            "empty oplog",
            format!("oplog = {{ size = \"0GiB\" }}\n{SCRIPT}"),
            "the size of the oplog",
            Some(1),
        ),
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
        &[path(&script), "--svg", path(&script)],
        &[path(&script), "--svg", "-"],
    ] {
        let told = simulate(words);
        assert_eq!(told.status.code(), Some(2), "{words:?}: {}", said(&told));
        let last = said(&told).rsplit("fix: ").next().map(str::to_owned).unwrap_or_default();
        assert!(said(&told).contains("; fix: "), "{words:?}: {}", said(&told));
        assert!(!last.contains("os error"), "the cause stands before the fix: {}", said(&told));
    }
    assert_eq!(std::fs::read_to_string(&script).expect("it is there"), SCRIPT);
}

#[test]
fn a_byte_that_is_no_text_is_said_with_its_line() {
    let file = scratch("utf8").join("utf8.toml");
    let bytes = [SCRIPT.as_bytes(), b"# \xff\n"].concat();
    std::fs::write(&file, bytes).expect("the target folder can be written");

    let told = simulate(&[path(&file)]);

    assert_eq!(told.status.code(), Some(2));
    assert!(said(&told).contains("utf8.toml:15: expected text"), "{}", said(&told));
}

#[test]
fn no_more_is_read_than_a_script_may_have() {
    let file = scratch("large").join("large.toml");
    let padded = format!("{SCRIPT}# {}", "x".repeat(MOST_BYTES as usize - SCRIPT.len()));
    write(&file, &padded);

    let told = simulate(&[path(&file)]);
    let large = read("large.toml", &padded, None);

    assert_eq!(told.status.code(), Some(2));
    assert!(said(&told).contains("of 16777216 bytes at most"), "{}", said(&told));
    assert!(large.is_err() && read("fits.toml", SCRIPT, None).is_ok());
    #[cfg(unix)]
    assert!(said(&simulate(&["/dev/zero"])).contains("of 16777216 bytes at most"));
}

#[test]
fn an_end_that_the_command_line_set_is_said_to_be_its() {
    let file = scratch("cut").join("cut.toml");
    write(&file, &with("8min", "monitor = false"));

    let told = simulate(&[path(&file), "--until", "5min"]);

    assert_eq!(told.status.code(), Some(2));
    assert!(said(&told).contains("cut.toml:16: `8min` is not before"), "{}", said(&told));
    assert!(said(&told).contains("which `--until` puts at `5min`"), "{}", said(&told));
}
