//! What is said of a question or an input that is no good: file, place, what, and the fix.

use bson::doc;

use crate::files::{bson, dump, folder, metadata, old};
use crate::support::*;

#[test]
fn a_question_that_makes_no_sense_says_why_and_what_would() {
    let cases = [
        ("", "expected a change, found none"),
        ("--from 4.4.10", "--to: expected the version that the data is to stand on"),
        (
            "--from abc --to 5.0.5",
            "--from: expected a server version such as `7.0.14`, found `abc`",
        ),
        ("--from 4.4.10 --to five", "--to: expected a server version"),
        ("--to 5.0.5", "--from: expected the version of a server, found none given and no prelude"),
        ("--from 4.4.10 --sync", "--to: expected the version"),
        ("--from 4.4.10 --to 5.0.5 --sync --restore", "found `--sync` and `--restore`"),
        ("--from 4.4.10 --to 5.0.5 --enable-monitor", "found `--to` and `--enable-monitor`"),
        ("--server 5.0.5 --from 4.4.10 --to 5.0.5", "found `--server`"),
        ("--from 5.0.5 --enable-monitor", "found `--from`"),
        ("--from 4.4.10 --to 5.0.5 --primary 4.4.10", "--primary: expected `--sync` with it"),
        ("--from 4.4.10 --to 7.0.14 --restore --standalone", "--standalone: expected it with"),
        ("--from 4.4.10 --to 7.0.14 --sync --standalone", "--standalone: expected it with"),
        ("--server 5.0.5 --enable-monitor --standalone", "--standalone: expected it with"),
        ("--server 5.0.5 --enable-monitor --index a_1", "--index: expected `--set` with it"),
        ("--server 5.0.5 --set hidden=true", "--set: expected `expireAfterSeconds=VALUE`"),
        ("--server 5.0.5 --set expireAfterSeconds=", "--set: expected a value"),
        ("--server 5.0.5 --set expireAfterSeconds=[1", "--set: expected"),
        (
            "--server 5.0.5 --set expireAfterSeconds=1 --index b_1",
            "--index: expected an index `b_1`",
        ),
        ("--from 4.4.10 --to 5.0.5 --at soon", "--at: expected an instant"),
        ("--from 4.4.10 --to 5.0.5 --collection x.y", "--collection: expected a collection `x.y`"),
    ];
    for (line, part) in cases {
        let run = diff(&dump("dump-types"), &line.split_whitespace().collect::<Vec<_>>());

        assert_eq!(run.code, 2, "{line}: {}", run.out);
        assert!(run.err.contains(part) && run.err.contains("fix: "), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}");
    }
}

#[test]
fn a_version_that_cannot_have_the_collection_is_bad_input() {
    for (line, name) in
        [("--from 4.4.10 --to 7.0.14", "--from"), ("--server 5.2.0 --enable-monitor", "--server")]
    {
        let line = line.split_whitespace().collect::<Vec<_>>();

        let run = diff(&clustered_before_1970(), &line);

        assert_eq!(run.code, 2, "{}", run.out);
        let part = format!("{name}: expected a version that can have `app.c`");
        assert!(run.err.contains(&part) && run.err.contains("fix: "), "{}", run.err);
    }
}

#[test]
fn of_several_ttl_indexes_one_has_to_be_named() {
    let line = ["--server", "7.0.14", "--set", "expireAfterSeconds=1"];

    let run = diff(&dump("dump-two-ttl"), &line);

    assert_eq!(run.code, 2);
    assert!(run.err.contains("`app.tokens createdAt_1`, `app.tokens expireAt_1`"), "{}", run.err);
    assert!(run.err.contains("--index NAME"), "{}", run.err);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_compared() {
    let change = ["--from", "7.0.14", "--to", "7.0.14", "--json"];
    let enable = ["--server", "7.0.14", "--enable-monitor", "--at", "2024-07-01T00:00:00Z"];
    let seconds = r#"{"v":2,"key":{"createdAt":1},"name":"c","expireAfterSeconds":60}"#;
    let cut = [bson(&[old(1)]), bson(&[old(2)])[..20].to_vec()].concat();
    let metadata = metadata(seconds);
    let files = [("app/c.bson", &cut[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let cut = folder("diff-cut", &files);
    let empty = folder("diff-empty", &[]);
    let alone = folder("diff-alone", &[("app/c.bson", &bson(&[doc! { "_id": 1 }]))]);

    let run = diff(&cut, &[&enable[..], &["--json"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.err.contains("c.bson: at byte 33: expected a document of 33 bytes, found 20"));
    assert_eq!(counts(&run.json()), [1, 0, 0, 0]);
    assert_eq!(run.json()["collections"][0]["complete"], false);

    let run = diff(&empty, &change);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("expected a folder of mongodump"), "{}", run.err);

    let run = diff(&alone, &change);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("found no metadata"), "{}", run.err);
    assert_eq!(run.json()["collections"], serde_json::json!([]));
}
