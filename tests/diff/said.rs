//! What is said of a comparison that finds nothing, or not what one thinks.

use bson::doc;
use serde_json::{Value, json};

use crate::files::{bson, dump, folder, metadata};
use crate::support::*;
use crate::{DAY_MS, MIN_VALUE_AND_NOW, NAN};

fn text(path: &std::path::Path, line: &str) -> (i32, String, String) {
    let run = diff(path, &line.split_whitespace().collect::<Vec<_>>());
    (run.code, run.out.split_whitespace().collect::<Vec<_>>().join(" "), run.err)
}

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}

#[test]
fn a_version_beside_itself_makes_no_difference() {
    let path = dated("itself", NAN, &MIN_VALUE_AND_NOW);
    for version in ["4.4.10", "5.0.5", "5.0.14", "6.0.5", "7.0.14", "8.1.0"] {
        let (exit, report) = compared(&path, &format!("--from {version} --to {version} {AT}"));

        assert_eq!((exit, counts(&report)), (0, [0, 0, 0, 0]), "{version}");
        assert_eq!(report["collections"][0]["same"], 2, "{version}");
    }
}

#[test]
fn what_keeps_a_document_is_what_keeps_it_from_the_repaired_index() {
    let index = r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":-5,
        "partialFilterExpression":{"_id":{"$gt":{"$maxKey":1}}}}"#;
    let path = with_indexes("spared-by", index, &[1_000]);

    let (_, report) = compared(&path, &format!("--from 4.2.3 --to 7.0.14 {AT}"));

    let spared = &report["collections"][0]["no_longer_deleted"][0];
    assert_eq!(spared["kept_by"], "mongodb.filter.outside", "{report}");
}

#[test]
fn the_examples_are_those_of_the_first_pass_then_later_ones_then_those_beyond() {
    let far = -40 * 365 * DAY_MS;
    let path = dated("examples", NAN, &[far, -1, -2, 1, far, 2]);
    let ids = |most: usize| -> Vec<Value> {
        let line = format!("--from 4.4.10 --to 5.0.5 {AT} --examples {most}");
        let (_, report) = compared(&path, &line);
        let examples = reason(&report)["examples"].as_array().expect("examples").clone();
        examples.iter().map(|example| example["id"].clone()).collect()
    };

    assert_eq!(ids(1), [3]);
    assert_eq!(ids(3), [3, 5, 1]);
    assert_eq!(ids(9), [3, 5, 1, 2, 0, 4]);
    assert_eq!(ids(0), [0; 0]);
}

#[test]
fn to_have_found_nothing_says_nothing_where_not_all_was_compared() {
    let cut = {
        let metadata = metadata(r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":60}"#);
        let data = bson(&[doc! { "_id": 1, "t": bson::DateTime::from_millis(0) }]);
        let data = [&data[..], &data[..9]].concat();
        let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
        folder("diff-cut", &files)
    };
    let none = {
        let data = bson(&[doc! { "_id": 1 }]);
        let metadata = metadata(r#"{"v":2,"key":{"a":1},"name":"a_1"}"#);
        let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", metadata.as_bytes())];
        folder("diff-none", &files)
    };
    let unread = folder("diff-unread", &[("app/c.bson", &bson(&[doc! { "_id": 1 }])[..])]);
    let whole = dated("whole", r#","expireAfterSeconds":60"#, &[0]);
    let line = format!("--from 6.0.5 --to 7.0.14 {AT}");
    for (path, code, part, finding) in [
        (&cut, 2, "nothing found in what could be read; NOT ALL WAS COMPARED", Value::Null),
        (&none, 0, "nothing was compared: see the notes", Value::Null),
        (&unread, 2, "NOTHING WAS COMPARED: see the errors", Value::Null),
        (&whole, 0, "nothing is deleted that would not be deleted as things are", json!(false)),
    ] {
        let (exit, out, _) = text(path, &line);
        assert_eq!(exit, code, "{out}");
        assert!(out.contains(part), "expected `{part}` in {out}");
        let run = diff(path, &format!("{line} --json").split_whitespace().collect::<Vec<_>>());
        assert_eq!(run.json()["finding"], finding, "{part}");
    }
}

#[test]
fn a_filter_that_is_not_followed_is_no_all_clear() {
    let index = r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":0,
        "partialFilterExpression":{"p":{"$geoWithin":{"$centerSphere":[[0,0],1]}}}}"#;
    let path = with_indexes("geo", index, &[1_000]);
    for line in [
        "--from 6.0.5 --to 7.0.14",
        "--from 6.0.5 --to 7.0.14 --restore",
        "--from 6.0.5 --to 7.0.14 --sync",
        "--server 7.0.14 --set expireAfterSeconds=60 --index t_1",
        "--server 7.0.14 --enable-monitor",
    ] {
        let (exit, out, err) = text(&path, &format!("{line} {AT}"));

        assert_eq!(exit, 2, "{line}: {out}");
        assert!(err.contains("found `$geoWithin` in that of `t_1` of `app.c`"), "{line}: {err}");
        assert!(out.contains("NOTHING WAS COMPARED"), "{line}: {out}");
    }
}

#[test]
fn a_restore_of_a_text_index_or_a_cluster_key_is_not_refused() {
    let indexes = r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":60},
        {"v":2,"key":{"_fts":"text","_ftsx":1},"name":"s_text","weights":{"s":1},
        "default_language":"english","language_override":"language","textIndexVersion":3}"#;
    let text_index = with_indexes("text", indexes, &[0]);
    let metadata = br#"{"options":{"clusteredIndex":{"key":{"_id":1},"unique":true,"name":"_id_"}},
        "indexes":[{"v":2,"key":{"_id":1},"name":"_id_","unique":true,"clustered":true}]}"#;
    let data = bson(&[doc! { "_id": bson::DateTime::from_millis(0) }]);
    let files = [("app/c.bson", &data[..]), ("app/c.metadata.json", &metadata[..])];
    let clustered = folder("diff-cluster-key", &files);
    for path in [&text_index, &clustered] {
        let (exit, report) = compared(path, &format!("--from 6.0.5 --to 7.0.14 --restore {AT}"));
        assert_eq!((exit, &report["refused"]), (0, &json!([])), "{report}");
    }
}

#[test]
fn what_cannot_be_in_one_set_or_waits_for_a_feature_version_is_said() {
    let path = dated("one-set", r#","expireAfterSeconds":60"#, &[0]);
    let part = "members of 4.4.10 and 7.0.14 cannot be in one set";

    let (_, far) = compared(&path, &format!("--from 4.4.10 --to 7.0.14 --sync {AT}"));
    let line = format!("--from 6.0.5 --to 7.0.14 --sync --primary 4.4.10 {AT}");
    let (_, primary) = compared(&path, &line);
    let (_, next) = compared(&path, &format!("--from 6.0.5 --to 7.0.14 --sync {AT}"));
    assert!(notes(&far).contains(part) && notes(&primary).contains(part), "{}", notes(&far));
    assert!(!notes(&next).contains("cannot be in one set"), "{}", notes(&next));

    let (_, capped) = compared(&dump("dump-capped-ttl"), &format!("--from 7.0.14 --to 8.0.4 {AT}"));
    assert!(notes(&capped).contains("featureCompatibilityVersion 7.1"), "{}", notes(&capped));
    let (_, nan) = compared(&dump("dump-4.4-nan"), &format!("--from 4.4.10 --to 5.0.5 {AT}"));
    assert!(notes(&nan).contains("on ARM this version may read NaN as 0"), "{}", notes(&nan));
}

#[test]
fn a_clean_way_is_one_line_and_a_refused_collmod_is_seen() {
    let path = dated("clean-way", r#","expireAfterSeconds":60"#, &[0]);

    let (exit, way, _) = text(&path, &format!("--from 4.2.24 --to 7.0.14 {AT}"));
    assert_eq!(exit, 0);
    let part =
        "on the way, compared with 4.2.24 - app.c: no release between deletes anything sooner";
    assert!(way.contains(part) && !way.contains("deletes nothing sooner"), "{way}");
    let none = with_indexes("no-way", r#"{"v":2,"key":{"t":1},"name":"t_1"}"#, &[0]);
    let (_, none, _) = text(&none, &format!("--from 4.2.24 --to 7.0.14 {AT}"));
    assert!(!none.contains("on the way, compared"), "{none}");

    // It changes nothing, so it is no finding.
    let line = format!("--server 7.0.14 --set expireAfterSeconds=-1 {AT}");
    let (exit, refused, _) = text(&path, &line);
    assert_eq!(exit, 0);
    assert!(refused.contains("REFUSED app.c: collMod of `t_1` to -1 is refused with error 72"));
    assert_eq!(compared(&path, &line).1["collections"][0]["answer"]["code"], 72);
}

#[test]
fn numbers_and_options_that_do_not_go_say_what_does() {
    let path = dump("dump-4.4-nan");
    for (line, parts) in [
        ("--horizon -5", ["'-5'", "fix: write a number such as 3650"]),
        ("--examples -1", ["'-1'", "fix: write how many to name"]),
        ("--primary 4.4.10", ["--primary: expected `--sync` with it", "add `--sync`"]),
    ] {
        let (exit, _, err) = text(&path, &format!("--from 4.4.10 --to 5.0.5 {line}"));
        assert_eq!(exit, 2, "{line}");
        for part in parts {
            assert!(err.contains(part), "{line}: {err}");
        }
    }
}
