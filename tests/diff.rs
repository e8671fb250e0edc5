//! `ttlspec diff`: what a change of version, of a value or of the monitor deletes that is not deleted
//! now, with the rule, and from when on.

use bson::doc;
use serde_json::{Value, json};

#[path = "diff/bad_input.rs"]
mod bad_input;
#[path = "explain/support.rs"]
#[expect(dead_code, reason = "the tests of explain share these")]
mod files;
#[path = "diff/said.rs"]
mod said;
#[path = "diff/support.rs"]
mod support;

use files::{bson, dump, folder, gzip};
use support::*;

const NAN: &str = r#","expireAfterSeconds":{"$numberDouble":"NaN"}"#;
const DAY_MS: i64 = 86_400_000;

// ---- versions ----------------------------------------------------------------------------------

#[test]
fn nan_of_4_4_10_goes_at_the_first_pass_of_5_0_5_and_stays_on_5_0_14() {
    let (code, lost) = compared(&dump("dump-4.4-nan"), &format!("--from 4.4.10 --to 5.0.5 {AT}"));
    let line = format!("--from 4.4.10 --to 5.0.14 --standalone {AT}");
    let (clean, kept) = compared(&dump("dump-4.4-nan"), &line);

    assert_eq!((code, counts(&lost)), (1, [4, 1, 0, 0]));
    assert_eq!(reason(&lost)["kept_by"], "mongodb.nan.overflows");
    assert_eq!(reason(&lost)["deleted_by"], json!(["mongodb.nan.zero"]));
    assert_eq!(reason(&lost)["next_ms"], 1_735_689_600_000_i64);
    assert_eq!(lost["change"]["how"], "replaced");
    let example = &reason(&lost)["examples"][0];
    assert_eq!(example["before_ms"], Value::Null);
    assert_eq!(example["after_ms"], 1_609_459_200_000_i64);
    assert_eq!((clean, counts(&kept)), (0, [0, 0, 0, 0]));
    assert_eq!(kept["collections"][0]["same"], 5);
}

#[test]
fn a_server_that_does_not_start_is_a_finding_with_its_assertion() {
    for (line, code) in [("--to 5.0.12", 6_852_202), ("--to 5.0.12 --sync", 40_088)] {
        let (exit, report) = compared(&dump("dump-4.4-nan"), &format!("--from 4.4.10 {line} {AT}"));

        assert_eq!((exit, counts(&report)), (1, [0, 0, 0, 0]), "{line}");
        assert_eq!(report["refused"][0]["code"], code);
        assert_eq!(report["refused"][0]["rule"], "mongodb.nan.fatal");
        assert_eq!(report["refused"][0]["index"], "created_1");
    }
}

#[test]
fn older_binaries_find_nan_and_a_member_that_joins_is_told_0() {
    let at = |line: &str| {
        compared(&dump("dump-4.4-nan"), &format!("--from 5.0.5 --to 4.4.10 {line} {AT}"))
    };
    let (replaced, stays) = at("");
    let (synced, same) = at("--sync");
    let (beside, lost) = at("--sync --primary 4.4.10");

    assert_eq!((replaced, counts(&stays)), (0, [0, 0, 0, 5]));
    let kept_by = &stays["collections"][0]["no_longer_deleted"][0]["kept_by"];
    assert_eq!(kept_by, "mongodb.nan.overflows");
    // The source itself deletes by 0 already.
    assert_eq!((synced, counts(&same)), (0, [0, 0, 0, 0]));
    assert_eq!(same["collections"][0]["indexes"][0]["after"]["stored_seconds"], 0);
    // But not where the primary is another one.
    assert_eq!((beside, counts(&lost)), (1, [4, 1, 0, 0]));
    assert_eq!(reason(&lost)["deleted_by"], json!(["mongodb.nan.synced"]));
}

#[test]
fn a_restore_of_nan_deletes_waits_68_years_or_is_refused() {
    let at = |to: &str| {
        compared(&dump("dump-4.4-nan"), &format!("--from 4.4.10 --restore --to {to} {AT}"))
    };
    let (exit, zero) = at("5.0.5");
    assert_eq!((exit, counts(&zero)), (1, [4, 1, 0, 0]));
    assert!(deleted_by(&zero, "mongodb.nan.zero"));

    let (exit, max) = at("5.0.14");
    assert_eq!((exit, counts(&max)), (0, [0, 0, 5, 0]));
    let (exit, far) = at("5.0.14 --horizon 40000");
    assert_eq!((exit, counts(&far)), (1, [0, 5, 0, 0]));
    assert!(deleted_by(&far, "mongodb.nan.stored-as-max"));

    let (exit, refused) = at("7.0.14");
    assert_eq!((exit, counts(&refused)), (1, [0, 0, 0, 0]));
    assert_eq!(refused["refused"][0]["code"], 67);
    assert_eq!(refused["refused"][0]["rule"], "mongodb.nan.refused");
}

#[test]
fn the_horizon_and_the_first_pass_are_met_to_the_millisecond() {
    // As 0 each goes at its own date: now, one millisecond later, and about one day later.
    let path = dated("edges", NAN, &[0, -1, -DAY_MS, -DAY_MS - 1]);

    let (exit, report) = compared(&path, &format!("--from 4.4.10 --to 5.0.5 --horizon 1 {AT}"));

    assert_eq!((exit, counts(&report)), (1, [1, 2, 1, 0]));
    assert_eq!(reason(&report)["next_ms"], AT_MS + 1);
    assert_eq!(report["until_ms"], AT_MS + DAY_MS);
}

#[test]
fn what_is_due_already_is_no_difference_and_a_fraction_is_none_either() {
    let path = dated("fraction", r#","expireAfterSeconds":10000.7"#, &[10_000_000, 9_999_999]);
    for line in [
        "--from 4.0.28 --to 7.0.14",
        "--from 4.0.28 --to 8.1.0 --sync",
        "--from 4.4.10 --to 7.3.0 --restore",
    ] {
        let (exit, report) = compared(&path, &format!("{line} {AT}"));

        assert_eq!((exit, counts(&report)), (0, [0, 0, 0, 0]), "{line}");
        assert_eq!(report["collections"][0]["same"], 2);
    }
}

#[test]
fn values_that_only_4_0_accepted_stay_are_cut_or_are_refused() {
    let hundred_years_ms = 100 * 365 * DAY_MS;
    let path =
        dated("huge", r#","expireAfterSeconds":{"$numberLong":"3000000000"}"#, &[hundred_years_ms]);
    let at = |line: &str| compared(&path, &format!("{line} {AT}"));

    // 3000000000 seconds are 95 years, which a catalog keeps up to 6.3.
    assert_eq!(at("--from 4.0.28 --to 4.4.10").0, 0);
    let (exit, same) = at("--from 4.0.28 --to 7.0.14");
    assert_eq!((exit, counts(&same)), (0, [0, 0, 0, 0]), "a new primary repairs it to 68 years");
    let (exit, spared) = at("--from 4.0.28 --to 7.0.14 --standalone");
    assert_eq!((exit, counts(&spared)), (0, [0, 0, 0, 1]));
    let kept_by = &spared["collections"][0]["no_longer_deleted"][0]["kept_by"];
    assert_eq!(kept_by, "mongodb.index.int32");
    let (exit, refused) = at("--from 4.0.28 --to 4.4.10 --restore");
    assert_eq!(exit, 1);
    assert_eq!(refused["refused"][0]["rule"], "mongodb.index.until-now");

    // A member that joins from 5.0 is told 2147483647, which is 68 years.
    let path =
        dated("cut", r#","expireAfterSeconds":{"$numberLong":"3000000000"}"#, &[80 * 365 * DAY_MS]);
    let (exit, cut) = compared(&path, &format!("--from 5.0.5 --to 5.0.5 --sync {AT}"));
    assert_eq!((exit, counts(&cut)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&cut)["kept_by"], "mongodb.threshold.before");
    assert!(deleted_by(&cut, "mongodb.nan.synced"));
}

#[test]
fn a_capped_collection_deletes_from_7_1_on() {
    let (exit, report) =
        compared(&dump("dump-capped-ttl"), &format!("--from 7.0.14 --to 7.1.0 {AT}"));
    let (restore, refused) =
        compared(&dump("dump-capped-ttl"), &format!("--from 4.4.10 --to 7.0.14 --restore {AT}"));

    assert_eq!((exit, counts(&report)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&report)["kept_by"], "mongodb.index.capped-inert");
    assert_eq!(reason(&report)["deleted_by"], json!(["mongodb.index.capped-works"]));
    assert_eq!(restore, 1);
    assert_eq!(refused["refused"][0]["rule"], "mongodb.index.capped-refused");

    // Where it works already, that is no reason.
    let line = "--server 8.0.4 --set expireAfterSeconds=0 --at 2022-05-01T00:00:00Z";
    let (_, set) = compared(&dump("dump-capped-ttl"), line);
    assert_eq!(reason(&set)["deleted_by"], json!(["mongodb.change.seconds"]));
}

#[test]
fn a_filter_that_is_read_otherwise_is_named() {
    // Before 4.4 a comparison with MaxKey holds on either side.
    let index = r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":0,
        "partialFilterExpression":{"_id":{"$gt":{"$maxKey":1}}}}"#;
    let path = with_indexes("filter", index, &[1_000]);

    let (exit, report) = compared(&path, &format!("--from 4.4.10 --to 4.2.3 {AT}"));

    assert_eq!((exit, counts(&report)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&report)["kept_by"], "mongodb.filter.outside");
    assert!(deleted_by(&report, "mongodb.filter.inside"));
}

#[test]
fn an_index_that_cannot_be_built_again_is_loud_and_deletes_nothing() {
    let index = r#"{"v":2,"key":{"t":1},"name":"t_1","unique":true,"expireAfterSeconds":60}"#;
    let path = with_indexes("twice", index, &[100_000, 100_000]);

    let (exit, report) = compared(&path, &format!("--from 7.0.14 --to 8.0.4 --restore {AT}"));

    assert_eq!((exit, counts(&report)), (1, [0, 0, 0, 2]));
    assert_eq!(report["refused"][0]["rule"], "mongodb.visibility.key-taken");
}

#[test]
fn a_way_over_several_releases_is_pointed_out() {
    let path = dated("steps", r#","expireAfterSeconds":60"#, &[0]);

    let (_, far) = compared(&path, &format!("--from 4.2.24 --to 7.0.14 {AT}"));
    let (_, next) = compared(&path, &format!("--from 6.0.5 --to 7.0.14 {AT}"));

    let notes = |report: &Value| report["notes"].to_string();
    assert!(notes(&far).contains("the way leads over 4.4, 5.0, 6.0"), "{}", notes(&far));
    assert!(!notes(&next).contains("the way leads"));
}

// ---- collMod, monitor --------------------------------------------------------------------------

#[test]
fn a_collmod_to_nan_deletes_all_that_is_dated_at_or_before_now() {
    let path = dated("set-nan", r#","expireAfterSeconds":3600"#, &[3_600_000, 3_599_999, 0, -1]);
    for server in ["4.0.28", "4.4.10", "5.0.5", "5.0.14", "6.0.0", "7.0.14", "8.1.0"] {
        let line = format!("--server {server} --set expireAfterSeconds=NaN {AT}");
        let (exit, report) = compared(&path, &line);

        assert_eq!((exit, counts(&report)), (1, [2, 1, 0, 0]), "{server}");
        assert!(deleted_by(&report, "mongodb.nan.collmod"), "{server}");
        assert_eq!(reason(&report)["kept_by"], "mongodb.threshold.before");
        assert_eq!(report["collections"][0]["same"], 1);
    }
}

#[test]
fn a_shorter_time_deletes_sooner_a_longer_one_later_a_refused_one_nothing() {
    let path = dated("set", r#","expireAfterSeconds":3600"#, &[60_000, 3_600_000]);
    let at = |line: &str| compared(&path, &format!("{line} {AT}"));

    let (exit, shorter) = at("--server 7.0.14 --set expireAfterSeconds=60");
    assert_eq!((exit, counts(&shorter)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&shorter)["deleted_by"], json!(["mongodb.change.seconds"]));

    let (exit, longer) = at("--server 7.0.14 --set expireAfterSeconds=3e9");
    assert_eq!((exit, counts(&longer)), (0, [0, 0, 0, 0]));
    assert_eq!(longer["collections"][0]["deleted_later"], 2);
    let stored = &longer["collections"][0]["indexes"][0]["after"]["stored_seconds"];
    assert_eq!(*stored, i32::MAX);

    for (line, code, rule) in [
        ("--server 7.0.14 --set expireAfterSeconds=-1", 72, "mongodb.change.int32"),
        ("--server 6.0.0 --set expireAfterSeconds=3e9", 72, "mongodb.change.until-now"),
        ("--server 7.0.14 --set expireAfterSeconds=\"10\"", 14, "mongodb.change.type"),
        ("--server 4.4.10 --set expireAfterSeconds=\"10\"", 72, "mongodb.change.type"),
    ] {
        let (exit, refused) = at(line);
        let answer = &refused["collections"][0]["answer"];
        assert_eq!((exit, counts(&refused)), (0, [0, 0, 0, 0]), "{line}");
        assert_eq!(answer["rule"], rule, "{line}");
        let text = answer["text"].as_str().expect("a text");
        assert!(text.contains(&format!("refused with error {code}: nothing changes")), "{text}");
    }

    // 4.4 takes a negative number, which reaches into the future.
    let future = dated("set-negative", r#","expireAfterSeconds":3600"#, &[-60_000, -60_001]);
    let line = format!("--server 4.4.10 --set expireAfterSeconds=-60 {AT}");
    assert_eq!(counts(&compared(&future, &line).1), [1, 1, 0, 0]);
}

#[test]
fn a_collmod_makes_a_ttl_index_from_5_1_on_and_may_end_the_server() {
    let plain = dated("convert", "", &[60_000]);
    let set = format!("--set expireAfterSeconds=60 --index t_1 {AT}");
    let (exit, made) = compared(&plain, &format!("--server 6.0.5 {set}"));
    let (clean, refused) = compared(&plain, &format!("--server 5.0.5 {set}"));

    assert_eq!((exit, counts(&made)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&made)["kept_by"], "mongodb.index.plain");
    assert!(deleted_by(&made, "mongodb.change.convert"));
    assert_eq!(clean, 0);
    assert!(refused.to_string().contains("mongodb.change.no-field"), "{refused}");

    let wildcard = with_indexes("wild", r#"{"v":2,"key":{"$**":1},"name":"t_1"}"#, &[60_000]);
    let (exit, ends) = compared(&wildcard, &format!("--server 7.0.14 {set}"));
    assert_eq!(exit, 1);
    assert_eq!(ends["refused"][0]["code"], 28_782);
}

#[test]
fn with_the_monitor_turned_on_all_that_is_expired_goes_at_the_first_pass() {
    let (exit, report) = compared(
        &dump("dump-types"),
        "--server 7.0.14 --enable-monitor --at 2024-07-01T00:00:00Z --examples 10",
    );

    assert_eq!((exit, counts(&report)), (1, [5, 0, 1, 0]));
    let kept_by = reason(&report)["kept_by"].as_str().expect("a rule");
    assert_eq!(kept_by, "mongodb.monitor.disabled");
    let ids = reason(&report)["examples"].as_array().expect("examples").iter();
    let ids: Vec<Value> = ids.map(|example| example["id"].clone()).collect();
    assert_eq!(ids, [1, 10, 11, 15, 16, 17]);
}

#[test]
fn of_several_indexes_the_earliest_counts_before_and_after() {
    let indexes = r#"{"v":2,"key":{"t":1},"name":"t_1","expireAfterSeconds":7200},
        {"v":2,"key":{"u":1},"name":"u_1","expireAfterSeconds":3600}"#;
    let path = with_indexes("several", indexes, &[3_600_000, 1_800_000]);
    let at = |seconds: u32| {
        let line = format!("--server 7.0.14 --set expireAfterSeconds={seconds} --index t_1 {AT}");
        compared(&path, &line)
    };

    // The other index is sooner all the same.
    assert_eq!((at(3_600).0, counts(&at(3_600).1)), (0, [0, 0, 0, 0]));
    let (exit, report) = at(1_800);
    assert_eq!((exit, counts(&report)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&report)["index"], "t_1");
    assert_eq!(reason(&report)["examples"][0]["before_ms"], AT_MS + 1_800_000);
}

// ---- input, output -----------------------------------------------------------------------------

#[test]
fn every_form_of_input_is_compared() {
    let line = br#"{"_id":1,"t":{"$date":"2024-01-01T00:00:00Z"}}"#;
    let listing = br#"[{ v: 2, key: { t: 1 }, name: 't_1', expireAfterSeconds: NaN }]"#;
    let data = gzip(&bson(&[doc! { "_id": 1, "t": bson::DateTime::from_millis(0) }]));
    let metadata = gzip(
        files::metadata(&format!(r#"{{"v":2,"key":{{"t":1}},"name":"t_1"{NAN}}}"#)).as_bytes(),
    );
    let prelude = br#"{"ServerVersion":"4.4.10","ToolVersion":"100.12.0"}"#;
    let written: [(&str, &[u8]); 5] = [
        ("c.json", line),
        ("indexes.txt", listing),
        ("dump/app/c.bson.gz", &data),
        ("dump/app/c.metadata.json.gz", &metadata),
        ("dump/prelude.json", prelude),
    ];
    let root = folder("diff-forms", &written);
    let listing = root.join("indexes.txt").display().to_string();

    let text = format!("--indexes {listing} --from 4.4.10 --to 5.0.5 {AT}");
    for (path, line) in [
        (root.join("c.json"), text.as_str()),
        (root.join("dump"), &format!("--to 5.0.5 {AT}")),
        (root.join("dump/app/c.bson.gz"), &format!("--to 5.0.5 {AT}")),
    ] {
        let (exit, report) = compared(&path, line);
        assert_eq!((exit, counts(&report)), (1, [1, 0, 0, 0]), "{}", path.display());
        assert_eq!(report["change"]["from"], "4.4.10");
    }
}

#[test]
fn a_time_series_is_compared_by_what_its_dates_do_to_the_versions() {
    let line = "--from 8.0.4 --to 8.0.12 --at 2045-06-01T00:00:00Z";
    let (exit, report) = compared(&dump("dump-timeseries-2038"), line);
    let (clean, same) =
        compared(&dump("dump-timeseries"), &format!("--from 6.0.5 --to 7.0.14 {AT}"));
    let (_, back) = compared(
        &dump("dump-timeseries-2038"),
        "--from 8.0.12 --to 8.0.4 --at 2045-06-01T00:00:00Z",
    );

    assert_eq!((exit, counts(&report)), (1, [2, 0, 0, 0]));
    assert_eq!(reason(&report)["kept_by"], "mongodb.bucket.off");
    assert!(deleted_by(&report, "mongodb.bucket.two-scans"), "{}", reason(&report));
    assert_eq!(reason(&report)["index"], "(collection)");
    assert_eq!((clean, &same["collections"][0]["same"]), (0, &json!(1)));
    assert_eq!(counts(&back), [0, 0, 0, 2]);
}

#[test]
fn buckets_of_before_december_2017_stay_from_5_2_to_7_2_and_go_in_8_0() {
    let at = |line: &str| compared(&old_bucket(), &format!("{line} {AT}"));

    let (exit, spared) = at("--from 5.0.14 --to 6.0.5");
    assert_eq!((exit, counts(&spared)), (0, [0, 0, 0, 1]));
    let kept_by = &spared["collections"][0]["no_longer_deleted"][0]["kept_by"];
    assert_eq!(kept_by, "mongodb.bucket.from-2017");
    let (exit, lost) = at("--from 7.0.14 --to 8.0.4");
    assert_eq!((exit, counts(&lost)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&lost)["kept_by"], "mongodb.bucket.from-2017");
    assert!(deleted_by(&lost, "mongodb.bucket.expired"));
    let (exit, refused) = at("--from 7.0.14 --to 4.4.10 --restore");
    assert_eq!(exit, 1);
    assert_eq!(refused["refused"][0]["rule"], "mongodb.clustered.option");
    assert_eq!(refused["refused"][0]["index"], "(collection)");
}

#[test]
fn a_cluster_key_before_1970_goes_where_older_binaries_come() {
    let path = clustered_before_1970();
    let at = |line: &str| compared(&path, &format!("{line} {AT}"));

    let (exit, lost) = at("--from 8.0.4 --to 7.0.14");
    assert_eq!((exit, counts(&lost)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&lost)["kept_by"], "mongodb.clustered.from-1970");
    assert!(deleted_by(&lost, "mongodb.clustered.before-1970"));
    assert_eq!(counts(&at("--from 7.0.14 --to 8.0.4").1), [0, 0, 0, 1]);

    // Its seconds are set without an index, to what it may have only.
    let (exit, set) = at("--server 7.0.14 --set expireAfterSeconds=0");
    assert_eq!((exit, counts(&set)), (1, [1, 0, 0, 0]));
    assert_eq!(reason(&set)["kept_by"], "mongodb.threshold.before");
    assert!(deleted_by(&set, "mongodb.clustered.modify"));
    let (exit, refused) = at("--server 7.0.14 --set expireAfterSeconds=2147483647");
    assert_eq!(exit, 0);
    assert_eq!(refused["collections"][0]["answer"]["rule"], "mongodb.clustered.seconds");
    let (exit, off) = at("--server 7.0.14 --set expireAfterSeconds=\"off\"");
    assert_eq!((exit, counts(&off)), (0, [0, 0, 0, 2]));
}

// ---- what a new primary repairs ----------------------------------------------------------------

/// A `DateTime.MinValue`, which is older than 68 years, and a date that is not.
const MIN_VALUE_AND_NOW: [i64; 2] = [AT_MS + 62_135_596_800_000, 0];

#[test]
fn min_values_under_nan_go_once_the_first_new_primary_has_repaired_it() {
    let path = dated("repair", NAN, &MIN_VALUE_AND_NOW);
    let at = |line: &str| compared(&path, &format!("{line} {AT}"));
    for line in [
        "--from 4.4.10 --to 5.0.14",
        "--from 4.4.10 --to 6.0.2",
        "--from 4.4.10 --to 7.0.14",
        "--from 4.4.10 --to 7.0.14 --sync",
    ] {
        let (exit, report) = at(line);

        assert_eq!((exit, counts(&report)), (1, [1, 0, 1, 0]), "{line}");
        assert!(deleted_by(&report, "mongodb.nan.max-is-not-never"), "{line}");
    }
    let (_, report) = at("--from 4.4.10 --to 7.0.14");
    assert_eq!(report["only_by_repair"], 1);
    assert_eq!(reason(&report)["catalog"], "repaired-by-primary");
    assert!(deleted_by(&report, "mongodb.replication.repair"));
    let index = &report["collections"][0]["indexes"][0];
    assert_eq!(index["repaired"]["stored_seconds"], i32::MAX);
    assert_eq!(index["after"]["lifetime_ms"], Value::Null);
    let (exit, alone) = at("--from 4.4.10 --to 7.0.14 --standalone");
    assert_eq!((exit, counts(&alone)), (0, [0, 0, 0, 0]));
    assert_eq!(alone["only_by_repair"], 0);
    // 5.0.5 repairs nothing, and reads NaN as 0.
    let (_, zero) = at("--from 4.4.10 --to 5.0.5");
    assert_eq!((counts(&zero), &zero["only_by_repair"]), ([2, 0, 0, 0], &json!(0)));

    let line = format!("--from 4.4.10 --to 7.0.14 {AT}");
    let text = diff(&path, &line.split_whitespace().collect::<Vec<_>>()).out;
    for part in [
        "once a new primary has repaired the",
        "at the first pass after the first member of 7.0.14",
        "repaired    2147483647 seconds, once a member of 7.0.14 has become primary",
    ] {
        assert!(text.contains(part), "expected `{part}` in {text}");
    }
}

#[test]
fn values_that_are_not_valid_are_repaired_from_7_0_on() {
    for (name, value) in [
        ("repair-huge", r#"{"$numberLong":"9000000000000000"}"#),
        ("repair-text", r#""10""#),
        ("repair-negative", r#"-9000000000000"#),
    ] {
        let path = dated(name, &format!(r#","expireAfterSeconds":{value}"#), &MIN_VALUE_AND_NOW);
        let at = |line: &str| compared(&path, &format!("{line} {AT}"));

        let (_, seven) = at("--from 4.0.28 --to 7.0.14");
        let (_, six) = at("--from 4.0.28 --to 6.0.5");

        let repaired = &seven["collections"][0]["indexes"][0]["repaired"];
        assert_eq!(repaired["stored_seconds"], i32::MAX, "{name}");
        let repaired = &six["collections"][0]["indexes"][0]["repaired"];
        assert_eq!(*repaired, Value::Null, "{name}: 6.0 repairs NaN only");
        if name == "repair-text" {
            assert_eq!((counts(&seven), &seven["only_by_repair"]), ([1, 0, 1, 0], &json!(1)));
            assert_eq!(counts(&six), [0, 0, 0, 0]);
        }
    }
    // A fraction is made whole from 7.3 on, which deletes nothing sooner.
    let path = dated("repair-fraction", r#","expireAfterSeconds":3600.7"#, &[3_600_000, 0]);
    let (exit, report) = compared(&path, &format!("--from 4.4.10 --to 8.0.4 {AT}"));
    assert_eq!((exit, counts(&report)), (0, [0, 0, 0, 0]));
    let repaired = &report["collections"][0]["indexes"][0]["repaired"];
    assert_eq!(repaired["stored_seconds"], 3600);
}

#[test]
fn what_the_releases_between_delete_is_said_patch_by_patch_and_is_no_finding() {
    let (exit, report) = compared(&dump("dump-4.4-nan"), &format!("--from 4.4 --to 7.0 {AT}"));

    assert_eq!(exit, 0);
    let step = |first: &str, last: Option<&str>, counts: [u64; 2], assertion: Option<i32>| {
        json!({
            "first": first, "last": last, "at_first_pass": counts[0], "later": counts[1],
            "only_by_repair": 0, "assertion": assertion,
        })
    };
    let expected = json!([
        step("5.0.0", Some("5.0.10"), [4, 1], None),
        step("5.0.11", Some("5.0.13"), [0, 0], Some(6_852_202)),
        step("5.0.14", None, [0, 0], None),
        step("6.0.0", Some("6.0.1"), [4, 1], None),
        step("6.0.2", None, [0, 0], None),
    ]);
    assert_eq!(report["collections"][0]["way"], expected);
    let line = format!("--from 4.4 --to 7.0 {AT}");
    let text = diff(&dump("dump-4.4-nan"), &line.split_whitespace().collect::<Vec<_>>()).out;
    assert!(text.contains("5.0.0 to 5.0.10 DELETES 4 documents"), "{text}");
    let plain = dated("way-plain", r#","expireAfterSeconds":60"#, &[0]);
    let (_, report) = compared(&plain, &format!("--from 4.4 --to 7.0 {AT}"));
    assert_eq!(report["collections"][0]["way"].as_array().map(Vec::len), Some(2));
    let (_, next) = compared(&plain, &format!("--from 6.0.5 --to 7.0.14 {AT}"));
    assert_eq!(next["collections"][0]["way"], json!([]));
}

#[test]
fn the_text_says_first_whether_anything_is_lost_and_equal_input_gives_equal_output() {
    let line = format!("--from 4.4.10 --to 5.0.5 {AT} --examples 1");
    let arguments: Vec<&str> = line.split_whitespace().collect();

    let run = diff(&dump("dump-4.4-nan"), &arguments);

    assert_eq!(run.code, 1, "{}", run.err);
    for part in [
        "change  the binaries of 4.4.10 are replaced by 5.0.5",
        "FINDING  deleted that would not be deleted as things are: 4 documents at the first pass",
        "before      NaN: each visit fails with error 159",
        "after       NaN, which acts as 0 seconds",
        "kept now by mongodb.nan.overflows",
        "deleted by  mongodb.nan.zero",
        "_id 1, created = 2021-01-01T00:00:00Z: now never, then at the first pass after the",
    ] {
        assert!(run.out.contains(part), "expected `{part}` in {}", run.out);
    }
    assert!(!run.out.contains("_id 2,"));
    assert_eq!(run.out, diff(&dump("dump-4.4-nan"), &arguments).out);
}
