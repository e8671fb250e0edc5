//! Bad input is refused: what, where, and what helps.

use ttlspec_inspect::cassandra::sstabledump::Loss;
use ttlspec_inspect::cassandra::{
    expired_blockers, sstabledump, sstabledump_parse_bytes, sstablemetadata,
    sstablemetadata_parse_bytes,
};
use ttlspec_inspect::fault::{Fault, Place};

use crate::support::{bytes, files};

fn of_dump(text: &[u8]) -> Fault {
    match sstabledump::parse("f", text) {
        Err(fault) => fault,
        Ok(dump) => panic!("{:?} was read as {dump:?}", String::from_utf8_lossy(text)),
    }
}

fn of_metadata(text: &[u8]) -> Fault {
    match sstablemetadata::parse("f", text) {
        Err(fault) => fault,
        Ok(all) => panic!("{:?} was read as {all:?}", String::from_utf8_lossy(text)),
    }
}

#[test]
fn what_another_tool_printed_is_named_and_the_way_on_is_told() {
    let sample = |name: &str| bytes(name);
    let text = |text: &str| text.as_bytes().to_vec();
    let keys = "expected what `sstabledump` prints, found keys, as `sstabledump -e` prints them";
    let again = "run it again without `-e`";
    let cases: [(Vec<u8>, &str, &str); 13] = [
        (sample("other/d02-sstabledump-e-keys.txt"), keys, again),
        (sample("other/sstabledump-e.json"), keys, again),
        (
            sample("sstablemetadata/4.1.10/carts-nb-1-big.sstablemetadata.txt"),
            "found what sstablemetadata prints",
            "give it where metadata is expected",
        ),
        (
            sample("sstablemetadata/made-5.0.6/two-c-u-s-g100.txt"),
            "found what sstablemetadata prints",
            "give it where metadata is expected",
        ),
        (
            sample("sstableexpiredblockers/docs.txt"),
            "found what sstableexpiredblockers prints",
            "give it where blockers are expected",
        ),
        (
            sample("other/n01-tablestats-5.0-default-printer.txt"),
            "found what `nodetool tablestats` prints",
            "run sstablemetadata on each sstable",
        ),
        (sample("other/l01-system-log-tombstones.txt"), "found lines of a log", "standard error"),
        (
            text(r#"{"sstables": {"/data/me-6-big-Data.db": []}}"#),
            "found JSON of `scylla sstable`",
            "run sstabledump or sstablemetadata",
        ),
        (
            text(r#"[{"key": "00000005", "cells": []}]"#),
            "found JSON of sstable2json",
            "run sstabledump",
        ),
        (text(r#"{"_id":1}"#), "found documents of MongoDB", "give a dump of an sstable"),
        (text(" p | c\n---+---\n 1 | 2\n"), "found rows, as cqlsh prints them", "run sstabledump"),
        (text("Exception in thread \"main\" x"), "found the complaint of a tool", "run the tool"),
        (text("hello"), "found `h`", "run `sstabledump FILE-Data.db`"),
    ];
    for (input, what, fix) in cases {
        let fault = of_dump(&input);
        assert!(fault.what.contains(what), "{fault}");
        assert!(fault.fix.contains(fix), "{fault}");
    }
    for dump in ["row.json", "row-l.jsonl", "row-d.txt"] {
        let input = sample(&format!("sstabledump/made-5.0.6/{dump}"));
        for fault in [of_metadata(&input), expired_blockers::parse("f", &input).unwrap_err()] {
            assert!(fault.what.contains("found what"), "{fault}");
            assert!(fault.what.contains("sstabledump"), "{fault}");
            assert_eq!(fault.fix, "give it where a dump is expected");
        }
    }
    let fault = of_metadata(b"No such file: nb-9-big-Data.db\n");
    assert!(fault.what.contains("no such file"), "{fault}");
    assert!(of_metadata(b"hello").fix.contains("run `sstablemetadata FILE-Data.db`"));
}

#[test]
fn what_is_empty_or_binary_is_refused() {
    for read in [of_dump, of_metadata] {
        for empty in [&b""[..], b" \n\t ", b"\xef\xbb\xbf"] {
            let fault = read(empty);
            assert!(fault.what.ends_with("found an empty file"), "{fault}");
            assert!(fault.fix.contains("look at its errors"), "{fault}");
        }
        let fault = read(b"[ab\0cd");
        assert_eq!(fault.place, Place::Offset(3));
        assert!(fault.what.contains("byte 0x00, as in a component of an sstable"), "{fault}");
        let gzip = &bytes("sstabledump/4.1.10/queue-nb-1-big.sstabledump.json.gz")[..1_000];
        assert!(read(gzip).fix.contains("the gzip file is cut off"), "{}", read(gzip));
    }
    let fault = of_metadata(b"SSTable: x\nPartitioner: \xff\n");
    assert_eq!(fault.place, Place::Line(2, 14));
    let fault = of_dump(b"[{\"partition\":{\"key\":[\"\xff\"]}}]");
    assert_eq!(fault.place, Place::Line(1, 23));
    let fault = of_dump(b"[k]@0 Row[info=[ts=1] ]: 1 | \n[k]@1 Row[info=[ts=1] ]: \xff | ");
    assert_eq!(fault.place, Place::Line(2, 26));
}

#[test]
fn a_dump_that_is_cut_off_is_refused_or_says_so_wherever_it_is_cut() {
    for name in ["docs/d05-sstabledump-all-tombstone-kinds-constructed.json", "made-5.0.6/row.json"]
    {
        let whole = bytes(&format!("sstabledump/{name}"));
        let length = whole.trim_ascii_end().len();
        for end in 1..length {
            let fault = of_dump(&whole[..end]);
            let Place::Line(line, _) = fault.place else { panic!("{fault}") };
            let last = whole[..end].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            assert_eq!(line, last, "{end}: {fault}");
            assert!(fault.fix.contains("the dump is cut off"), "{end}: {fault}");
        }
    }
    let whole = bytes("sstabledump/docs/d04-sstabledump-d-internal.txt");
    let mut read = 0;
    for end in 1..whole.len() {
        // A row is a row after each of its cells too, so it is only said.
        if let Ok(dump) = sstabledump::parse("f", &whole[..end]) {
            let is_said = dump.notes.losses.contains_key(&Loss::End);
            assert_eq!(is_said, !whole[..end].ends_with(b"\n"), "{end}");
            read += 1;
        }
    }
    assert!((1..30).contains(&read), "{read}");
}

#[test]
fn a_wrong_value_in_json_is_named_with_its_line_and_column() {
    let row =
        |fields: &str| format!("[{{\"partition\":{{\"key\":[\"k\"]}},\n\"rows\":[{{{fields}}}]}}]");
    let cases = [
        (r#""type":"row","cells":[{"name":"v","value":1}]"#, (2, 32), "expected a `tstamp`"),
        (r#""type":"column""#, (2, 9), "expected the type of a row or of a bound, found `column`"),
        (r#""cells":[]"#, (2, 9), "expected a `type` of the row, found none"),
        (r#""type":7"#, (2, 17), "expected a string as `type`, found `7`"),
        (r#""type":"row","position":-1"#, (2, 34), "expected a position in bytes, found `-1`"),
        (r#""type":"row","position":1e3"#, (2, 34), "found `1e3`"),
        (r#""type":"row","position":18446744073709551616"#, (2, 34), "expected a position"),
        (r#""type":"row","liveness_info":{}"#, (2, 39), "expected a `tstamp` of the row"),
        (r#""type":"row","liveness_info":{"tstamp":"soon"}"#, (2, 49), "expected an instant"),
        (r#""type":"row","liveness_info":{"tstamp":9223372036854775808}"#, (2, 49), "an instant"),
        (r#""type":"row","liveness_info":{"tstamp":"5","ttl":-1}"#, (2, 59), "expected a ttl"),
        (r#""type":"row","liveness_info":{"tstamp":"5","ttl":2147483648}"#, (2, 59), "a ttl"),
        (r#""type":"row","liveness_info":{"tstamp":"5","ttl":5}"#, (2, 39), "both `ttl` and"),
        (
            r#""type":"row","liveness_info":{"tstamp":"5","expired":1}"#,
            (2, 63),
            "`true` or `false`",
        ),
        (r#""type":"row","deletion_info":{"local_delete_time":"5"}"#, (2, 9), "`marked_deleted`"),
        (r#""type":"row","deletion_info":{"marked_deleted":"5"}"#, (2, 39), "local_delete_time"),
        (r#""type":"row","start":{}"#, (2, 9), "expected fields that belong to a `row`"),
        (r#""type":"range_tombstone_bound""#, (2, 9), "expected either `start` or `end`"),
        (r#""type":"range_tombstone_bound","start":{"type":"open"}"#, (2, 57), "`inclusive` or"),
        (r#""type":"range_tombstone_bound","start":{}"#, (2, 49), "`type` and `deletion_info`"),
        (r#""type":"range_tombstone_boundary","start":{}"#, (2, 9), "both `start` and `end`"),
        (r#""type":"static_block","clustering":[1]"#, (2, 9), "belong to a `static_block`"),
        (r#""type":"row","cells":{}"#, (2, 31), "expected a list as `cells`, found `{`"),
        (r#""type":"row","cells":[{"value":1}]"#, (2, 32), "expected a `name` of the cell"),
        (r#""type":"row","cells":[{"name":"v","tstamp":"1"}]"#, (2, 32), "either a `value` or"),
        (r#""type":"row","cells":[{"name":"v","value":01}]"#, (2, 52), "found `01`"),
        (r#""type":"row","cells":[{"name":"v","value":nil}]"#, (2, 53), "expected `null`"),
        (r#""type":"row","cells":[{"name":"v","value":"\x"}]"#, (2, 54), "expected an escape"),
        (r#""type":"row","type":"row""#, (2, 23), "expected each field once, found `type` again"),
        (r#""type":"row",}"#, (2, 23), "expected a field's name, found `}`"),
    ];
    for (fields, (line, column), what) in cases {
        let fault = of_dump(row(fields).as_bytes());
        assert!(fault.what.contains(what), "{fields}: {fault}");
        assert_eq!(fault.place, Place::Line(line, column), "{fields}: {fault}");
        assert!(!fault.fix.is_empty());
    }
    let cases = [
        (r#"[{"rows":[]}]"#, "expected `partition` before `rows`"),
        (r#"[{"partition":{"key":["k"]}}]"#, "expected `,` and the `rows`"),
        (r#"[{"partition":{"position":0},"rows":[]}]"#, "expected a `key`, found none"),
        (r#"[{"partition":{"key":"k"},"rows":[]}]"#, "expected a list of strings as `key`"),
        (r#"[{"partition":{"key":[7]},"rows":[]}]"#, "expected a string in `key`, found `7`"),
        (r#"[{"partition":{"key":["k"]},"rows":[]} {}]"#, "expected `,` or `]` after a partition"),
        (r#"[{"partition":{"key":["k"]},"rows":[]}] x"#, "expected the end after `]`, found `x`"),
        (r#"{"partition":{"key":["k"]},"rows":[]},"#, "expected `{` of a partition, found `,`"),
        (r#"[{"partition":{"key":["k"]},"rows":[{"type":"row"} "#, "found the end of the text"),
    ];
    for (text, what) in cases {
        let fault = of_dump(text.as_bytes());
        assert!(fault.what.contains(what), "{text}: {fault}");
    }
    let deep = format!("[{{\"x\":{}", "[".repeat(100_000));
    assert!(of_dump(deep.as_bytes()).what.contains("expected at most 200 levels"));
}

#[test]
fn a_wrong_value_in_the_text_form_is_named_with_its_line_and_column() {
    let first = "[k]@0 Row[info=[ts=1] ]: 1 | [v=a ts=1]\n";
    let cases = [
        ("[k]@7 Row[info=[ts=x] ]: 1 | ", 20, "expected a timestamp in microseconds, found `x]"),
        ("[k]@7 Row[info=[ts=9223372036854775808] ]: 1 | ", 20, "expected a timestamp"),
        ("[k]@7 Row[info=[ts=1 ttl=-1, let=1] ]: 1 | ", 26, "expected a ttl in seconds"),
        ("[k]@7 Row[info=[ts=1 ttl=1] ]: 1 | ", 27, "expected `, let=`"),
        ("[k]@7 Row[info=[ts=1] ]: 1", 26, "expected a clustering and ` | `"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | [v=a]", 35, "found the end of the record"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | [v=a ts=1 ttl=5]", 46, "expected ` ldt=` after a ttl"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | [v=a ts=1 ldt=x]", 44, "a local deletion time"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | [v=a ts=1] [w=b]", 40, "the next cell, found ` [w"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | v=a", 30, "expected `[`, found `v=a`"),
        ("[k]@7 Row[info=[ts=1] ]: 1 | del(m)=", 34, "expected `column)=deletedAt=`"),
        ("[k]@7 Marker OPEN(1)@1/1", 14, "expected the kind of a bound, found `OPEN"),
        ("[k]@7 Marker INCL_START_BOUND(1)@5", 35, "which old versions leave out"),
        ("[k]@7 Marker EXCL_END_INCL_START_BOUNDARY(1)@5-6", 47, "which old versions leave out"),
        ("[k]@7 Marker INCL_START_BOUND(1)@5/6-7/8", 37, "expected the end of the record"),
        ("[k]@7 deletedAt=5", 18, "expected `, localDeletion=`, found the end"),
        ("[k]@99999999999999999999 deletedAt=5, localDeletion=6", 5, "expected a position"),
    ];
    for (record, column, what) in cases {
        let fault = of_dump(format!("{first}{record}\n{first}").as_bytes());
        assert!(fault.what.contains(what), "{record}: {fault}");
        assert_eq!(fault.place, Place::Line(2, column), "{record}: {fault}");
        assert!(!fault.fix.is_empty());
    }
    // What does not begin a record is taken for the rest of the one before.
    let fault = of_dump(format!("{first}$ exit\n").as_bytes());
    assert_eq!(fault.place, Place::Line(2, 1));
    let fault = of_dump(&bytes("other/sstabledump-d-value-like-cells.txt"));
    assert!(fault.what.contains("expected each column once, found `v` again"), "{fault}");
    assert_eq!(fault.place, Place::Line(4, 23));
    assert_eq!(fault.fix, "dump again without `-d`");
}

#[test]
fn a_wrong_value_in_metadata_is_named_with_its_line_and_column() {
    let cases = [
        ("Minimum timestamp: soon", 20, "expected a number of 64 bits as `Minimum timestamp`"),
        ("Maximum timestamp: 9223372036854775808", 20, "found `9223372036854775808`"),
        ("Maximum timestamp: 11/14/2023 22:13:20 (x)", 20, "expected a number of 64 bits"),
        ("SSTable max local deletion time: never", 34, "expected a number of 64 bits"),
        ("TTL max: 1 day", 10, "expected a number of 64 bits as `TTL max`, found `1 day`"),
        ("Estimated droppable tombstones: some", 33, "expected a number as"),
        ("Bloom Filter FP chance: 0,01", 25, "expected a number as"),
        ("Estimated cardinality: -3", 24, "expected a number that is not negative"),
        ("totalRows: -2", 12, "expected a number that is not negative"),
        ("IsTransient: perhaps", 14, "expected `true` or `false`"),
        ("RegularColumns: a, b", 17, "expected names and types"),
        ("Estimated tombstone drop times:\n   x | 5 (1) O", 0, "expected a number of 64 bits"),
        ("Estimated tombstone drop times:\n1700000000: many", 0, "found `many`"),
        ("Estimated tombstone drop times: soon", 33, "expected `seconds: count`"),
        ("Column Count:\n   5 | -1 ( 0)", 0, "expected a number that is not negative"),
        ("Widest Partitions: \n  [k] many", 0, "expected `[key] number`"),
    ];
    for (field, column, what) in cases {
        let fault = of_metadata(format!("SSTable: nb-1-big\n{field}\n").as_bytes());
        assert!(fault.what.contains(what), "{field}: {fault}");
        let Place::Line(line, found) = fault.place else { panic!("{fault}") };
        assert_eq!(line, 2 + field.matches('\n').count() as u64, "{field}: {fault}");
        assert!(column == 0 || found == column, "{field}: {fault}");
    }
    let twice = of_metadata(b"SSTable: nb-1-big\nTTL min: 0\nTTL min: 0\n");
    assert!(twice.what.contains("once an sstable, found it again after line 2"), "{twice}");
    assert_eq!(twice.place, Place::Line(3, 1));
    assert!(twice.fix.contains("with its `SSTable:` line"));
}

#[test]
fn metadata_that_is_cut_off_is_refused_or_says_what_is_missing() {
    let whole = bytes("sstablemetadata/5.0.6-oa/events-oa-2-big.sstablemetadata.txt");
    let drop_times = whole.windows(14).position(|part| part == b"tombstone drop").expect("there");
    for end in 1..whole.len() {
        if let Ok(all) = sstablemetadata::parse("f", &whole[..end]) {
            assert_eq!(all.len(), 1);
            assert!(end > drop_times || !all[0].missing().is_empty(), "{end}");
        }
    }
    let all =
        sstablemetadata::parse("f", b"Minimum timestamp: 5\nMood: good\n").expect("it is read");
    assert_eq!(all[0].unknown[0].text, "Mood: good");
    assert_eq!(all[0].missing().len(), 9);
}

#[test]
fn wrong_blockers_are_refused() {
    let whole = String::from_utf8(bytes("sstableexpiredblockers/dtest.txt")).expect("it is UTF-8");
    let cases = [
        (whole.replace("blocks 2", "blocks 3"), "expected 3 sstables, found 2; then more"),
        (whole.replace("minTS = 1700000060000000", "minTS = x"), "found `x, maxTS"),
        (whole.replace("],  blocks", "], blocks"), "expected `],  blocks `"),
        (whole.replace(", maxLDT", ""), "expected an sstable in brackets"),
    ];
    for (text, what) in cases {
        let fault = expired_blockers::parse("f", text.as_bytes()).expect_err("it is wrong");
        assert!(fault.what.contains(what), "{fault}");
        assert!(matches!(fault.place, Place::Line(1, _)), "{fault}");
    }
    let fault = expired_blockers::parse("f", b"").expect_err("it is empty");
    assert!(fault.what.contains("found an empty file"), "{fault}");
}

/// A small generator, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }

    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(3) {
            let at = self.roll(bytes.len());
            match self.roll(6) {
                0 if at < bytes.len() => bytes[at] = self.roll(256) as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << self.roll(8),
                2 => bytes.truncate(at),
                3 => bytes.insert(at, b"{}[]\":,|()=-\n\r\x1b "[self.roll(16)]),
                4 if at < bytes.len() => {
                    let end = (at + self.roll(30)).min(bytes.len());
                    drop(bytes.drain(at..end));
                }
                _ => {
                    let (from, length) = (self.roll(bytes.len()), self.roll(30));
                    let part = bytes[from..(from + length).min(bytes.len())].to_vec();
                    drop(bytes.splice(at..at, part));
                }
            }
        }
    }
}

#[test]
fn spoilt_samples_are_read_or_refused() {
    let mut dice = Dice(0x5eed_0005);
    let small = |folder: &str| -> Vec<Vec<u8>> {
        let read = |path: &std::path::PathBuf| std::fs::read(path).expect("it can be read");
        files(folder).iter().map(read).filter(|bytes| bytes.len() < 9_000).collect()
    };
    let (dumps, metadata) = (small("sstabledump"), small("sstablemetadata"));
    let (mut read, mut refused) = (0, 0);
    for _ in 0..6_000 {
        let mut dump = dumps[dice.roll(dumps.len())].clone();
        dice.spoil(&mut dump);
        let mut about = metadata[dice.roll(metadata.len())].clone();
        dice.spoil(&mut about);
        for result in [sstabledump_parse_bytes(&dump), sstablemetadata_parse_bytes(&about)] {
            match result {
                Ok(_) => read += 1,
                Err(fault) => {
                    assert!(!fault.fix.is_empty() && !fault.what.is_empty(), "{fault}");
                    refused += 1;
                }
            }
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} read, {refused} refused");
}
