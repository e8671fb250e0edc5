//! What is said of input that cannot be read, and that the rest is ruled on.

use std::fs;
use std::path::Path;

use bson::doc;

use crate::support::*;

#[test]
fn a_cut_off_file_is_ruled_on_up_to_the_cut() {
    let second = bson(&[old(2)]);

    fails_at(&with_fault("cut", &second[..20]), 33, "expected a document of 33 bytes, found 20");
    fails_at(&with_fault("cut-length", &second[..3]), 36, "expected 4 bytes");
}

#[test]
fn a_length_that_no_document_has_is_said_where_it_stands() {
    for length in [i32::MAX, 16 << 20 | 1 << 15, -5, 4] {
        let second = [&length.to_le_bytes()[..], b"xxxx"].concat();
        let part = format!("expected a document's length from 5 to 16793600, found {length}");
        fails_at(&with_fault("length", &second), 33, &part);
    }
}

#[test]
fn a_damaged_document_is_said_to_the_byte() {
    let text = bson(&[doc! { "_id": 2, "s": "abc" }]);
    let changed = |at: usize, bytes: &[u8]| {
        let mut text = text.clone();
        text[at..at + bytes.len()].copy_from_slice(bytes);
        text
    };

    // 4 length, 9 _id, 1 type, 2 name, 4 length of the string, then the string.
    fails_at(&with_fault("utf8", &changed(21, &[0xff])), 54, "expected UTF-8, found 0xff");
    fails_at(&with_fault("inner", &changed(16, &[99])), 49, "expected a string's length");
    fails_at(&with_fault("type", &changed(13, &[0x77])), 46, "expected a BSON type, found 0x77");
    fails_at(&with_fault("end", &changed(24, &[1])), 57, "expected 0x00");
}

#[test]
fn nesting_without_end_does_not_exhaust_anything() {
    let mut deep = doc! {};
    for _ in 0..300 {
        deep = doc! { "a": deep };
    }
    let bytes = bson(&[deep]);

    fails_at(&with_fault("deep", &bytes), 33 + 200 * 7, "expected at most 200 nested documents");
    let text = "[".repeat(100_000);
    let path = folder("deep-text", &[("c.json", text.as_bytes())]).join("c.json");
    assert_eq!(explain(&path, &[&AT[..], &["--index", MINUTE]].concat()).code, 2);
}

#[test]
fn a_damaged_gzip_file_is_ruled_on_up_to_the_damage() {
    let packed = gzip(&bson(&(0..2_000).map(old).collect::<Vec<_>>()));
    let cut = &packed[..packed.len() / 2];
    let metadata = minute();
    let files = [("app/c.bson.gz", cut), ("app/c.metadata.json", metadata.as_bytes())];

    let run = explain(&folder("cut-gz", &files), &[&AT[..], &["--json"]].concat());

    assert_eq!(run.code, 2);
    assert!(run.json()["indexes"][0]["expired"].as_u64().is_some_and(|expired| expired > 0));
    assert!(run.err.contains("gzip file is cut off or damaged"), "{}", run.err);
}

#[test]
fn metadata_that_is_missing_broken_or_of_a_view_is_named() {
    let one = bson(&[old(1)]);
    let case = |name: &str, metadata: Option<&[u8]>, parts: &[&str]| {
        let mut files = vec![("app/c.bson", &one[..])];
        files.extend(metadata.map(|metadata| ("app/c.metadata.json", metadata)));
        let path = folder(name, &files);
        refused(&path, &AT, parts);
        refused(&path.join("app/c.bson"), &AT, parts);
        let with_index = [&AT[..], &["--index", MINUTE, "--json"]].concat();
        let run = explain(&path, &with_index);
        assert_eq!((run.code, counts(&run.json())), (0, [1, 0, 0]), "{name}: {}", run.err);
    };

    case("no-meta", None, &["c.bson", "found no metadata", "--index"]);
    case("cut-meta", Some(br#"{"indexes":[{"v":2,"#), &["c.metadata.json:1:20", "fix: "]);
    case("empty-meta", Some(b""), &["c.metadata.json", "found an empty file"]);
    case("list-meta", Some(b"[]"), &["c.metadata.json", "expected a JSON object"]);
    case("no-list", Some(br#"{"indexes":5}"#), &["expected a list as `indexes`"]);
    let view = br#"{"options":{"viewOn":"d","pipeline":[]},"indexes":[]}"#;
    case("view-meta", Some(view), &["of a view on `d`"]);
    let lone = folder("lone-view", &[("app/v.metadata.json", view)]);
    refused(&lone, &AT, &["found only views"]);
    refused(&lone.join("app/v.metadata.json"), &AT, &["explain `d`, which it reads"]);
    let plain = minute();
    let lone = folder("lone-meta", &[("app/c.metadata.json", plain.as_bytes())]);
    refused(&lone, &AT, &["expected `c.bson` beside the metadata"]);
}

#[test]
fn broken_text_is_named_by_its_line() {
    let lines = r#"{"_id":1,"createdAt":{"$date":"2024-01-01T00:00:00Z"}}
{"_id":2,"createdAt":{"$date":"2024-01-01T00:00:00Z"}}
{"_id":3,"createdAt":{"$date":
{"_id":4,"createdAt":{"$date":"2024-01-01T00:00:00Z"}}
"#;
    let array =
        "[{\"_id\":1,\"createdAt\":{\"$date\":0}},\n{\"_id\":2},\n{\"_id\":},\n{\"_id\":4}]";
    let index = [&AT[..], &["--index", MINUTE, "--json"]].concat();

    let path = folder("line-3", &[("c.json", lines.as_bytes())]).join("c.json");
    let run = explain(&path, &index);
    assert_eq!((run.code, counts(&run.json())), (2, [2, 0, 0]));
    assert_eq!(run.json()["faults"][0]["line"], 3);
    assert!(run.err.contains("c.json:3:"), "{}", run.err);

    let path = folder("array-3", &[("c.json", array.as_bytes())]).join("c.json");
    let run = explain(&path, &index);
    assert_eq!((run.code, counts(&run.json())), (2, [1, 0, 1]));
    assert_eq!(run.json()["faults"][0]["line"], 3);

    for (nth, bad) in ["", "_id,createdAt\n1,2\n", "5\n", "[1]", "[{\"_id\":1}", "{\"$date\":1}"]
        .iter()
        .enumerate()
    {
        let path = folder(&format!("text-{nth}"), &[("c.json", bad.as_bytes())]).join("c.json");
        assert_eq!(explain(&path, &index).code, 2, "{bad}");
    }
}

#[test]
fn what_is_no_bson_is_told_from_what_is_damaged() {
    let index = [&AT[..], &["--index", MINUTE]].concat();
    let archive = [&0x8199_e26d_u32.to_le_bytes()[..], b"rest of it"].concat();
    let files: [(&str, &[u8]); 3] =
        [("t.bson", b"{\"_id\": 1}\n"), ("a.bson", &archive), ("n.bin", b"\x07\x08\x09\x0a\x0b")];
    let path = folder("no-bson", &files);

    refused(&path.join("t.bson"), &index, &["at byte 0", "this is text, not BSON"]);
    refused(&path.join("a.bson"), &index, &["an archive of mongodump"]);
    refused(&path.join("n.bin"), &index, &["this is not BSON"]);
}

#[test]
fn folders_without_data_and_paths_to_nowhere_are_named() {
    refused(&folder("empty", &[]), &AT, &["found none", "the folder that mongodump wrote"]);
    refused(&folder("others", &[("a/x.txt", b"x")]), &AT, &["found none"]);
    refused(Path::new("/nowhere/at/all"), &AT, &["/nowhere/at/all", "check the path"]);
}

#[test]
fn an_empty_bson_file_is_an_empty_collection() {
    let metadata = minute();
    let files = [("app/c.bson", &b""[..]), ("app/c.metadata.json", metadata.as_bytes())];

    let report = ruled(&folder("no-documents", &files), &AT);

    assert_eq!(report["indexes"][0]["documents"], 0);
}

#[test]
fn bad_arguments_are_named_with_what_would_be_good() {
    let types = dump("dump-types");
    refused(&types, &["--server", "seven"], &["--server", "`seven`", "7.0.14"]);
    refused(&types, &["--at", "0"], &["--server", "no prelude.json", "`--server VERSION`"]);
    for at in ["yesterday", "2024-13-01T00:00:00Z", "2024-01-01", "99999999999999999999"] {
        refused(&types, &["--server", "7.0.14", "--at", at], &["--at", at, "RFC 3339"]);
    }
    refused(&types, &[&AT[..], &["--from", "x"]].concat(), &["--from", "`x`"]);
    refused(&types, &[&AT[..], &["--index", "{key"]].concat(), &["--index:1:5", "expected `:`"]);
    refused(&types, &[&AT[..], &["--index", "{\"a\": 1}"]].concat(), &["a field `key`"]);
    refused(&types, &[&AT[..], &["--collection", "app.x"]].concat(), &["found `app.sessions`"]);
    refused(&types, &[&AT[..], &["--via", "magic"]].concat(), &["magic"]);
}

#[test]
fn nothing_is_written() {
    let metadata = minute();
    let files = [("app/c.bson", &b"\x05"[..]), ("app/c.metadata.json", metadata.as_bytes())];
    let path = folder("unwritten", &files);

    explain(&path, &[&AT[..], &["--each"]].concat());

    let names = fs::read_dir(path.join("app")).expect("a folder").count();
    assert_eq!((names, fs::read(path.join("app/c.bson")).expect("a file")), (2, b"\x05".to_vec()));
}
