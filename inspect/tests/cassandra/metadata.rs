//! Statistics.

use std::fs;

use ttlspec_inspect::cassandra::expired_blockers;
use ttlspec_inspect::cassandra::sstablemetadata::{
    self, Bucket, Compressor, Histogram, Layout, LocalDeletionTime, Token,
};

use crate::support::{bytes, files, metadata};

fn buckets(histogram: &Option<Histogram>) -> Vec<(i64, u64)> {
    let buckets = &histogram.as_ref().expect("it has a histogram").buckets;
    buckets.iter().map(|Bucket { at, count }| (*at, *count)).collect()
}

fn token(token: &str, key: &str) -> Option<Token> {
    Some(Token { token: token.to_owned(), key: Some(key.to_owned()) })
}

#[test]
fn every_sample_is_read_and_its_unknown_lines_are_those() {
    let (mut sstables, mut unknown) = (0, Vec::new());
    let samples = files("sstablemetadata");
    for path in &samples {
        let (name, bytes) = (path.display().to_string(), fs::read(path).expect("it can be read"));

        let all = sstablemetadata::parse(&name, &bytes).unwrap_or_else(|fault| panic!("{fault}"));

        sstables += all.len();
        unknown.extend(all.into_iter().flat_map(|one| one.unknown).map(|unknown| unknown.text));
    }
    assert_eq!((samples.len(), sstables), (64, 70));
    assert_eq!(unknown, ["$ echo $(date +%s)", "1536602005"]);
}

#[test]
fn layout_3_x_is_read() {
    let one = metadata("field/s01-scylla-mc-nonttl-cell-in-twcs.txt");

    assert_eq!(one.layout, Some(Layout::Number));
    assert_eq!((one.version(), one.format()), (Some("mc"), Some("big")));
    assert_eq!(one.min_timestamp_us, Some(1_564_732_189_238_786));
    assert_eq!(one.max_timestamp_us, Some(1_564_736_196_480_069));
    assert_eq!(one.min_local_deletion_time, Some(LocalDeletionTime::At(1_564_732_189)));
    assert_eq!(one.max_local_deletion_time, Some(LocalDeletionTime::NoTombstones));
    assert_eq!((one.min_ttl_s, one.max_ttl_s), (Some(0), Some(2_592_000)));
    assert_eq!(one.first_token, token("-8751242873063049335", "1:100"));
    assert_eq!(one.estimated_droppable_tombstones, Some(0.7698264218268914));
    assert_eq!((one.total_columns, one.total_rows), (Some(75_343_671), Some(2_430_441)));
    assert_eq!(buckets(&one.drop_times)[5], (1_567_328_196, 341_061));
    assert_eq!(buckets(&one.partition_sizes), [(1, 0), (35, 0), (310, 2_430_441)]);
    assert_eq!(buckets(&one.column_counts), [(1, 0), (35, 1_200_000), (310, 0)]);
    assert_eq!(one.encoding_min_local_deletion_time_s, Some(1_442_880_000));
    assert_eq!(one.static_columns, Some(vec![]));
    let columns = one.regular_columns.as_deref().expect("they are there");
    assert_eq!(columns[1], ("c2".into(), "org.apache.cassandra.db.marshal.Int32Type".into()));
    assert_eq!(one.min_clustering_values.as_deref(), Some("[000000000000000000000001]"));
    assert!(one.missing().is_empty());
}

#[test]
fn layout_4_1_is_read() {
    let one = metadata("4.1.10/carts-nb-1-big.sstablemetadata.txt");

    assert_eq!(one.layout, Some(Layout::NumberAndDate));
    assert_eq!(one.version(), Some("nb"));
    assert_eq!(one.min_timestamp_us, Some(1_700_000_002_000_006));
    assert_eq!(one.min_local_deletion_time, Some(LocalDeletionTime::At(1_700_000_001)));
    assert_eq!(one.max_local_deletion_time, Some(LocalDeletionTime::NoTombstones));
    assert_eq!(one.last_token, token("9010454139840013625", "3"));
    assert_eq!(buckets(&one.drop_times), [(1_700_000_040, 19), (1_700_000_100, 2)]);
    assert_eq!(buckets(&one.column_counts), [(1, 1), (4, 1), (5, 3), (10, 1)]);
    let percentiles = &one.drop_times.as_ref().expect("it has them").percentiles;
    assert_eq!(percentiles.len(), 7);
    assert_eq!(percentiles[6], ("Max".to_owned(), 1_996_099_046));
    assert_eq!(one.encoding_min_ttl_s, Some(60));
    assert_eq!(one.is_transient, Some(false));
    assert_eq!(one.pending_repair, None);
    let host = one.originating_host_id.as_deref();
    assert_eq!(host, Some("193bd68c-7038-4598-a9fb-389ef182ef5d"));
    let columns = one.regular_columns.as_deref().expect("they are there");
    assert_eq!(columns[2].0, "tags");
    assert!(columns[2].1.ends_with("SetType(org.apache.cassandra.db.marshal.UTF8Type)"));
    assert!(one.missing().is_empty());
}

#[test]
fn layout_5_0_is_read_with_what_a_scan_found() {
    let one = metadata("5.0.6-oa/carts-oa-1-big.sstablemetadata-g3600-scan.txt");

    assert_eq!(one.layout, Some(Layout::DateAndNumber));
    assert_eq!((one.version(), one.format()), (Some("oa"), Some("big")));
    assert_eq!(one.max_timestamp_us, Some(1_700_000_030_000_090));
    assert_eq!(one.min_local_deletion_time, Some(LocalDeletionTime::At(1_700_000_001)));
    assert_eq!(one.max_local_deletion_time, Some(LocalDeletionTime::NoTombstones));
    assert_eq!(one.covered_clusterings.as_deref(), Some("[0, 7]"));
    assert_eq!(one.estimated_droppable_tombstones, Some(0.7));
    assert_eq!(one.encoding_min_timestamp_us, Some(1_700_000_001_000_003));
    assert!(one.local_token_space_coverage.expect("it is there").is_nan());
    let scan = one.scan.as_ref().expect("it was scanned");
    assert_eq!((scan.size, scan.partitions, scan.rows), (Some(477), Some(6), Some(13)));
    assert_eq!((scan.tombstones, scan.cells), (Some(11), Some(27)));
    assert_eq!(scan.largest_partitions[0], ("1".to_owned(), 368));
    assert_eq!(scan.tombstone_leaders[4], ("0".to_owned(), 1));
    assert!(one.missing().is_empty());
}

#[test]
fn no_tombstones_is_told_apart_from_a_time_in_each_layout() {
    let of = |line: &str| {
        let text = format!("SSTable max local deletion time: {line}");
        sstablemetadata::parse("m", text.as_bytes()).expect("it is read").remove(0)
    };
    let time = |line: &str| of(line).max_local_deletion_time.expect("it is there");

    assert_eq!(time("2147483647"), LocalDeletionTime::NoTombstones);
    assert_eq!(time("2147483647 (no tombstones)"), LocalDeletionTime::NoTombstones);
    assert_eq!(time("no tombstones (9223372036854775807)"), LocalDeletionTime::NoTombstones);
    // With 5.0 times go on after 2038.
    let last_of_2038 = time("01/19/2038 03:14:07 (2147483647)");
    assert_eq!(last_of_2038, LocalDeletionTime::At(2_147_483_647));
    assert_eq!(time("no tombstones (0)"), LocalDeletionTime::At(0));
    assert_eq!(time("-2146804096"), LocalDeletionTime::At(-2_146_804_096));
}

#[test]
fn colours_bars_and_keys_with_line_breaks_do_not_matter() {
    let plain = metadata("field/s14b-cassandra-4.0-nb-plain.txt");
    let coloured = metadata("field/s14-cassandra-4.0-nb-ansi-colour.txt");
    assert_eq!(plain, coloured);
    assert_eq!(buckets(&plain.drop_times), [(1_656_633_600, 120), (1_656_720_000, 99_880)]);
    assert_eq!(plain.repaired_at_ms, Some(1_654_300_000_000));

    let name = "sstablemetadata/made-5.0.6/two-c-u-s-g100.txt";
    let two = sstablemetadata::parse(name, &bytes(name)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(two.len(), 2);
    assert_eq!(two[0].last_token, token("6557831565168137835", "new\nline"));
    let scan = two[0].scan.as_ref().expect("it was scanned");
    let widest = [("k".to_owned(), 3), ("new\nline".to_owned(), 2)];
    assert_eq!(scan.widest_partitions, widest);
    assert_eq!(scan.tombstone_leaders[1], ("new\nline".to_owned(), 3));
    assert_eq!(two[0].covered_clusterings.as_deref(), Some("[ | :2, it's, a:1]"));
    assert_eq!(buckets(&two[0].drop_times)[2], (2_426_792_520, 3));
    let columns = two[0].regular_columns.as_deref().expect("they are there");
    assert!(columns.iter().any(|(name, _)| name == "Big:Name"), "{columns:?}");
    let udt = columns.iter().find(|(name, _)| name == "u").expect("it is there");
    assert!(udt.1.starts_with("org.apache.cassandra.db.marshal.UserType(ks,7574,61:"), "{udt:?}");
    assert_eq!(two[1].min_timestamp_us, Some(1_700_000_000_000_001));
}

#[test]
fn old_partial_and_foreign_layouts_are_read_as_far_as_they_go() {
    let old = metadata("field/s12-cassandra-2.2-lb.txt");
    assert_eq!(old.max_local_deletion_time, Some(LocalDeletionTime::At(1_450_296_000)));
    assert_eq!(old.min_local_deletion_time, None);
    assert!(
        old.fields.iter().any(|field| field.name == "Ancestors" && field.text == "[1040, 1041]")
    );
    assert_eq!(old.repaired_at_ms, Some(1_449_100_000_000));

    let la = metadata("field/s02-scylla-la-missing-fields.txt");
    assert_eq!((la.total_columns, la.total_rows), (None, None));
    assert_eq!(la.min_local_deletion_time, Some(LocalDeletionTime::NoTombstones));
    assert_eq!(la.max_local_deletion_time, Some(LocalDeletionTime::At(1_572_033_168)));
    assert_eq!(la.max_ttl_s, Some(2_147_483_647));
    assert_eq!(la.missing(), ["First token", "Last token"]);

    let joined = metadata("field/s03-twcs-blocked-set/mc-501-big.txt");
    assert_eq!(buckets(&joined.drop_times)[0], (1_612_389_609, 211_304));
    assert_eq!(buckets(&joined.drop_times).len(), 3);

    let few = metadata("field/s04-fully-expired-ratio-below-1.txt");
    assert_eq!(few.estimated_droppable_tombstones, Some(0.8757351856140931));
    assert!(few.missing().contains(&"SSTable"));

    let dse = metadata("field/s08-dse-annotated-inconsistent-ratio-1.txt");
    assert_eq!((dse.version(), dse.format()), (Some("ac"), Some("bti")));
    assert_eq!(dse.min_local_deletion_time, Some(LocalDeletionTime::NoTombstones));

    let wrapped = metadata("field/s09-cassandra-3.11-negative-min-ldt.txt");
    assert_eq!(wrapped.max_local_deletion_time, Some(LocalDeletionTime::At(-2_146_804_096)));
    assert_eq!(buckets(&wrapped.drop_times), [(-2_146_804_096, 2)]);

    let none = metadata("field/s13-cassandra-3.11-md-no-tombstones.txt");
    assert_eq!(none.compressor, Some(Compressor::None));
    assert!(buckets(&none.drop_times).is_empty());

    let hybrid = metadata("docs/m02-sstablemetadata-5.0-docs-hybrid.txt");
    assert_eq!(hybrid.layout, Some(Layout::DateAndNumber));
    assert_eq!((hybrid.total_columns, hybrid.total_rows), (Some(72_918), Some(24_306)));
    assert_eq!(buckets(&hybrid.drop_times)[0], (1_535_039_100, 80_390));
    assert!(buckets(&hybrid.column_counts).contains(&(5, 20_000)));
    assert_eq!(hybrid.static_columns.as_ref().map(Vec::len), Some(5));

    let scan = metadata("docs/m04-sstablemetadata-scan-block.txt").scan.expect("it was scanned");
    assert_eq!(scan.largest_partitions, [("2".to_owned(), 147), ("1".to_owned(), 98)]);
}

#[test]
fn a_copied_session_says_which_gc_grace_the_tool_was_given() {
    let name = "sstablemetadata/docs/m03-sstablemetadata-gcgrace-session.txt";
    let all = sstablemetadata::parse(name, &bytes(name)).unwrap_or_else(|fault| panic!("{fault}"));

    let told: Vec<_> = all.iter().map(|one| one.gc_grace_seconds_of_tool()).collect();
    assert_eq!(told, [Some(0), Some(100), Some(4_700), Some(5_000)]);
    let ratios: Vec<_> = all.iter().map(|one| one.estimated_droppable_tombstones).collect();
    assert_eq!(ratios, [None, Some(4.0E-5), Some(9.61111111111111E-6), Some(0.0)]);
    assert_eq!(buckets(&all[0].drop_times).len(), 3);

    let name = "sstablemetadata/field/s15-loop-one-liners.txt";
    let all = sstablemetadata::parse(name, &bytes(name)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].sstable.as_deref(), Some("t-ka-2901-Data.db"));
    assert_eq!(all[0].version(), Some("ka"));
    assert_eq!(all[0].estimated_droppable_tombstones, Some(0.3387));
    assert_eq!(all[2].fields[0].text, "05/22/2018 08:59:59");
}

#[test]
fn blockers_are_read_with_what_they_block() {
    let mut counts = Vec::new();
    for path in files("sstableexpiredblockers") {
        let (name, bytes) = (path.display().to_string(), fs::read(&path).expect("it can be read"));
        let all = expired_blockers::parse(&name, &bytes).unwrap_or_else(|fault| panic!("{fault}"));
        counts.push(all.iter().map(|blocker| blocker.blocked.len()).collect::<Vec<_>>());
    }
    assert_eq!(counts, [vec![4], vec![4], vec![4], vec![1, 1], vec![2]]);

    let name = "sstableexpiredblockers/5.0.6-oa/events.sstableexpiredblockers.txt";
    let all = expired_blockers::parse(name, &bytes(name)).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(all[0].by.path.ends_with("/oa-5-big-Data.db"));
    assert_eq!(all[0].by.min_timestamp_us, 1_700_000_100_000_000);
    assert_eq!(all[0].by.max_local_deletion_time, LocalDeletionTime::NoTombstones);
    assert_eq!(all[0].blocked[0].max_local_deletion_time, LocalDeletionTime::At(1_700_095_940));
}
