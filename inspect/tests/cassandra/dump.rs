//! Dumps.

use std::fs;

use ttlspec_inspect::cassandra::sstabledump::{
    self, Bound, Cell, Content, Deletion, Dump, Expiry, Form, Lifetime, Liveness, Loss, Reach, Row,
    Side, Unfiltered, Value,
};

use crate::support::{dump, files};

fn row(dump: &Dump, partition: usize, at: usize) -> &Row {
    match &dump.partitions[partition].rows[at] {
        Unfiltered::Row(row) | Unfiltered::Static(row) => row,
        other => panic!("{other:?} is no row"),
    }
}

fn cell<'a>(row: &'a Row, name: &str, path: Option<&str>) -> &'a Cell {
    let is = |cell: &&Cell| cell.name == name && cell.path.as_deref() == path;
    row.cells.iter().find(is).unwrap_or_else(|| panic!("no {name} {path:?} in {row:?}"))
}

fn lifetime(cell: &Cell) -> Lifetime {
    match &cell.content {
        Content::Value(_, lifetime) => *lifetime,
        Content::Deleted { .. } => panic!("{cell:?} is deleted"),
    }
}

fn deletion(marked_deleted_us: i64, local_delete_time_s: i64) -> Deletion {
    Deletion { marked_deleted_us, local_delete_time_s }
}

fn until(ttl_s: i64, expires_at_s: i64, expired: bool) -> Expiry {
    Expiry { ttl_s, expires_at_s, expired: Some(expired) }
}

#[test]
fn every_sample_is_read_and_nothing_in_it_is_unknown() {
    let samples = files("sstabledump");
    let mut partitions = 0;
    for path in &samples {
        let bytes = fs::read(path).expect("it can be read");
        let name = path.display().to_string();

        let dump = sstabledump::parse(&name, &bytes).unwrap_or_else(|fault| panic!("{fault}"));

        assert!(!dump.partitions.is_empty(), "{name}");
        assert!(dump.notes.unknown.is_empty(), "{name}: {:?}", dump.notes);
        partitions += dump.partitions.len();
    }
    assert_eq!(samples.len(), 85);
    assert_eq!(partitions, 186);
}

#[test]
fn the_forms_of_one_sstable_say_the_same() {
    let mut compared = 0;
    for json in files("sstabledump").iter().filter(|path| is_json(path)) {
        let name = json.display().to_string();
        let read = |path: &str| {
            let bytes = fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            sstabledump::parse(path, &bytes).unwrap_or_else(|fault| panic!("{fault}"))
        };
        let stem = name.trim_end_matches(".json");
        let (plain, lines) = (read(&name), read(&format!("{stem}-l.jsonl")));

        assert_eq!(plain.form, Form::Json);
        assert_eq!(lines.form, Form::JsonLines);
        assert_eq!(shown(&plain), shown(&lines), "{name}");
        let unsure = [Loss::Microseconds, Loss::Sign];
        let is_exact = !unsure.iter().any(|loss| plain.notes.losses.contains_key(loss));
        // The text form of `insert` has a value that looks like cells; it is refused.
        if is_exact && !name.ends_with("insert.json") {
            let text = read(&format!("{stem}-d.txt"));
            assert_eq!(text.form, Form::Debug);
            assert_eq!(shown(&plain), shown(&text), "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 15);
}

fn is_json(path: &std::path::Path) -> bool {
    let name = path.display().to_string();
    let has_forms = name.contains("sstabledump.json") || name.contains("made-5.0.6");
    has_forms && name.ends_with(".json") && !name.ends_with("-t.json")
}

/// A dump as lines that hold what all forms say.
fn shown(dump: &Dump) -> Vec<String> {
    let mut lines = Vec::new();
    let bound = |bound: &Bound| {
        let prefix = bound.prefix.plain().join(", ");
        format!("{:?} {:?} {prefix} {:?}", bound.side, bound.reach, bound.deletion)
    };
    for partition in &dump.partitions {
        let (key, deletion) = (partition.key_text(), partition.deletion);
        lines.push(format!("partition {key} {:?} {deletion:?}", partition.position));
        for row in &partition.rows {
            lines.push(match row {
                Unfiltered::Static(row) => format!("static {}", shown_row(row)),
                Unfiltered::Row(row) => format!("row {}", shown_row(row)),
                Unfiltered::Bound(one) => bound(one),
                Unfiltered::Boundary(both) => {
                    format!("{}, then {}", bound(&both.end), bound(&both.start))
                }
            });
        }
    }
    lines
}

fn shown_row(row: &Row) -> String {
    let times = |expiry: Option<Expiry>| expiry.map(|expiry| (expiry.ttl_s, expiry.expires_at_s));
    let liveness = row.liveness.map(|live| (live.timestamp_us, times(live.expiry)));
    let cells: Vec<String> = row
        .cells
        .iter()
        .map(|cell| {
            let content = match &cell.content {
                // Bytes of fields of user-defined types are not those of JSON.
                Content::Value(_, _) if cell.name == "u" => "a field".to_owned(),
                Content::Value(value, _) => value.plain(),
                Content::Deleted { local_delete_time_s } => {
                    format!("deleted {local_delete_time_s}")
                }
            };
            let expiry = times(row.likely_expiry(cell));
            let path = cell.path.as_deref().filter(|_| cell.name != "u");
            format!("{} {path:?} {} {content} {expiry:?}", cell.name, cell.timestamp_us)
        })
        .collect();
    format!(
        "{:?} {liveness:?} {:?} {cells:?} {:?}",
        row.clustering.plain(),
        row.deletion,
        row.complex_deletions
    )
}

#[test]
fn all_kinds_of_tombstones_are_read_as_they_are() {
    let dump = dump("docs/d05-sstabledump-all-tombstone-kinds-constructed.json");

    assert!(dump.notes.table_kinds.contains("REGULAR"));
    let partition = &dump.partitions[0];
    assert_eq!(partition.key, ["1"]);
    assert_eq!(partition.position, Some(0));
    assert_eq!(partition.deletion, Some(deletion(1_700_000_000_000_001, 1_700_000_000)));
    assert!(matches!(partition.rows[0], Unfiltered::Static(_)));
    let fixed = cell(row(&dump, 0, 0), "s", None);
    assert_eq!(fixed.timestamp_us, 1_700_000_005_000_000);
    assert_eq!(fixed.content, Content::Deleted { local_delete_time_s: 1_700_000_005 });
    let one = row(&dump, 0, 1);
    let expiry = Some(until(60, 1_700_000_070, true));
    assert_eq!(one.liveness, Some(Liveness { timestamp_us: 1_700_000_010_000_000, expiry }));
    assert_eq!(one.line, 17);
    assert_eq!(lifetime(cell(one, "v", None)), Lifetime::Unsaid);
    assert_eq!(one.likely_expiry(cell(one, "v", None)), expiry);
    assert_eq!(one.complex_deletions[0].name, "m");
    assert_eq!(one.complex_deletions[0].deletion, deletion(1_700_000_009_999_999, 1_700_000_010));
    let gone = cell(one, "m", Some("b"));
    assert_eq!(gone.content, Content::Deleted { local_delete_time_s: 1_700_000_011 });
    assert_eq!(row(&dump, 0, 2).deletion, Some(deletion(1_700_000_012_000_000, 1_700_000_012)));
    let Unfiltered::Boundary(both) = &partition.rows[4] else { panic!("it is no boundary") };
    assert_eq!((both.end.side, both.end.reach), (Side::End, Reach::Inclusive));
    assert_eq!((both.start.side, both.start.reach), (Side::Start, Reach::Exclusive));
    assert_eq!(both.end.deletion, deletion(1_700_000_013_000_000, 1_700_000_013));
    assert_eq!(both.start.deletion, deletion(1_700_000_014_000_000, 1_700_000_014));
    assert_eq!(both.start.prefix.plain(), ["5"]);
}

#[test]
fn an_open_column_of_a_bound_is_counted_and_said_to_be_unsure() {
    let json = dump("field/d08-range-tombstones.json");
    let Unfiltered::Bound(bound) = &json.partitions[0].rows[0] else { panic!("it is no bound") };
    assert_eq!((bound.prefix.plain(), bound.open), (vec!["b".to_owned()], Some(1)));
    assert_eq!((bound.side, bound.reach), (Side::Start, Reach::Inclusive));
    assert!(json.notes.losses.contains_key(&Loss::Star));

    // The first value of a bound is never open, so this one is the text `*`.
    let star = dump("made-5.0.6/prefix.json");
    let Unfiltered::Bound(bound) = &star.partitions[0].rows[0] else { panic!("it is no bound") };
    assert_eq!((bound.prefix.plain(), bound.open), (vec!["*".to_owned()], Some(1)));
    let text = dump("made-5.0.6/prefix-d.txt");
    let Unfiltered::Bound(bound) = &text.partitions[0].rows[0] else { panic!("it is no bound") };
    assert_eq!((bound.prefix.plain(), bound.open), (vec!["*".to_owned()], None));
}

#[test]
fn a_cell_has_its_own_time_or_that_of_its_row() {
    let dump = dump("field/d05-static-row-ttl-and-row-deletion.json");

    let fixed = cell(row(&dump, 0, 0), "dummy", None);
    assert_eq!(fixed.timestamp_us, 1_469_703_689_402_299);
    assert_eq!(lifetime(fixed), Lifetime::Until(until(604_800, 1_470_308_489, false)));
    let third = row(&dump, 0, 2);
    let close = cell(third, "close", None);
    assert_eq!(close.timestamp_us, 1_469_703_728_290_212);
    assert_eq!(lifetime(close), Lifetime::Unsaid);
    assert_eq!(third.likely_expiry(close), None);
    let high = cell(third, "high", None);
    assert_eq!(high.timestamp_us, 1_469_703_698_486_142);
    assert_eq!(third.likely_expiry(high), Some(until(604_800, 1_470_308_498, false)));
    assert_eq!(dump.notes.losses[&Loss::Ttl].times, 4);
    assert_eq!(dump.notes.losses[&Loss::Ttl].first_line, 16);
}

#[test]
fn the_text_form_says_what_json_leaves_out() {
    let dump = dump("field/d10-internal-format-d.txt");

    let third = row(&dump, 0, 2);
    assert_eq!(lifetime(cell(third, "close", None)), Lifetime::Forever);
    let expiry = Expiry { ttl_s: 604_800, expires_at_s: 1_470_308_498, expired: None };
    assert_eq!(lifetime(cell(third, "high", None)), Lifetime::Until(expiry));
    assert_eq!(third.clustering.plain(), ["1", "4"]);
    assert!(matches!(dump.partitions[0].rows[0], Unfiltered::Static(_)));
    assert_eq!(row(&dump, 0, 1).deletion, Some(deletion(1_469_730_379_207_681, 1_469_730_379)));
    assert_eq!(row(&dump, 0, 1).liveness, None);
    assert_eq!(row(&dump, 0, 1).is_shadowable, Some(false));
    assert_eq!(dump.notes.losses.keys().collect::<Vec<_>>(), [&Loss::Comma]);
}

#[test]
fn numbers_are_read_like_dates() {
    for name in ["insert", "partitions", "ranges", "row", "slices", "update", "prefix"] {
        let iso = dump(&format!("made-5.0.6/{name}.json"));
        let raw = dump(&format!("made-5.0.6/{name}-t.json"));
        let unsure = [Loss::Microseconds, Loss::Sign];
        let is_exact = !unsure.iter().any(|loss| iso.notes.losses.contains_key(loss));
        if is_exact {
            assert_eq!(shown(&iso), shown(&raw), "{name}");
        }
        assert!(unsure.iter().all(|loss| !raw.notes.losses.contains_key(loss)), "{name}");
    }
    let raw = dump("docs/d03-sstabledump-t-raw-timestamps.json");
    let liveness = row(&raw, 0, 0).liveness;
    assert_eq!(liveness.map(|live| live.timestamp_us), Some(1_532_118_147_028_809));
}

#[test]
fn instants_at_the_ends_are_exact_or_said_to_be_unsure() {
    let marked = |name: &str| -> (Vec<i64>, Dump) {
        let dump = dump(name);
        let rows = (0..dump.partitions[0].rows.len()).map(|at| row(&dump, 0, at));
        (rows.map(|row| row.deletion.expect("it is deleted").marked_deleted_us).collect(), dump)
    };
    let (text, _) = marked("made-5.0.6/instants-d.txt");
    let (raw, _) = marked("made-5.0.6/instants-t.json");
    let (iso, dump) = marked("made-5.0.6/instants.json");

    assert_eq!(text.len(), 16);
    assert_eq!(text[0], -1_500_000);
    assert_eq!(text[7], -9_223_372_036_854_775_807);
    assert_eq!(text, raw);
    let sure: Vec<usize> = (0..16).filter(|at| iso[*at] == text[*at]).collect();
    assert_eq!(sure, [0, 2, 3, 5, 6, 9, 12, 14]);
    assert_eq!(dump.notes.losses[&Loss::Sign].times, 3);
    assert_eq!(dump.notes.losses[&Loss::Microseconds].times, 7);
    // Where it is not sure, it is less than a second away, or one second.
    for (iso, text) in iso.iter().zip(&text) {
        assert!(iso.abs_diff(*text) <= 1_000_000, "{iso} {text}");
    }
}

#[test]
fn texts_with_brackets_quotes_and_line_breaks_are_exact_in_json() {
    let dump = dump("made-5.0.6/insert.json");

    assert_eq!(dump.partitions[1].key, ["new\nline"]);
    let wild = row(&dump, 0, 2);
    assert_eq!(wild.clustering.plain(), ["it's, a", "1"]);
    let text = Value::Json(r#""line1\nline2 \"q\" é \\ ts=5], [v=1 ts=7]""#.to_owned());
    let Content::Value(value, _) = &cell(wild, "v", None).content else { panic!("it is a value") };
    assert_eq!(*value, text);
    assert_eq!(value.plain(), "line1\nline2 \"q\" é \\ ts=5], [v=1 ts=7]");
    assert_eq!(lifetime(cell(wild, "Big:Name", None)), Lifetime::Unsaid);
    let Content::Value(value, _) = &cell(wild, "m", Some("a=b")).content else { panic!() };
    assert_eq!(value.plain(), "x]y");
}

#[test]
fn the_text_form_finds_its_way_through_texts_with_brackets_and_line_breaks() {
    // The one value that looks like cells is made tame.
    let text = String::from_utf8(crate::support::bytes("other/sstabledump-d-value-like-cells.txt"));
    let text = text.expect("it is UTF-8").replace("ts=5], [v=1 ts=7]", "ts=5] [v=1");

    let dump = sstabledump::parse("insert", text.as_bytes()).unwrap_or_else(|f| panic!("{f}"));

    assert_eq!(dump.partitions.len(), 2);
    assert_eq!(dump.partitions[1].key, ["new\nline"]);
    assert_eq!(dump.partitions[1].line, 6);
    assert_eq!(row(&dump, 0, 1).clustering.plain(), [" | ", "2"]);
    let wild = row(&dump, 0, 2);
    assert_eq!(wild.clustering.plain(), ["it's, a", "1"]);
    let plain = |name: &str, path| match &cell(wild, name, path).content {
        Content::Value(value, _) => value.plain(),
        Content::Deleted { .. } => "deleted".to_owned(),
    };
    assert_eq!(plain("v", None), "line1\nline2 \"q\" é \\ ts=5] [v=1");
    assert_eq!(plain("m", Some("a=b")), "x]y");
    assert_eq!(plain("m", Some("q")), "l1\nl2");
    assert_eq!(plain("f", None), "deleted");
    assert_eq!(plain("Big:Name", None), "9");
    assert!(matches!(dump.partitions[1].rows[0], Unfiltered::Static(_)));
    assert_eq!(row(&dump, 1, 1).clustering.plain(), ["STATIC", "3"]);
    assert_eq!(wild.complex_deletions.len(), 4);
}

#[test]
fn fields_of_a_user_defined_type_have_names_in_json_only() {
    let (json, text) = (dump("made-5.0.6/update.json"), dump("made-5.0.6/update-d.txt"));

    let field = cell(row(&json, 0, 0), "u", Some("a"));
    assert_eq!(lifetime(field), Lifetime::Until(until(50, 1_796_072_548, true)));
    let two = "[k]@4 Row[info=[ts=5] ]: 1 | , [u=0x01 ts=5], [u=<tombstone> ts=5 ldt=1]";
    let two = sstabledump::parse("two", two.as_bytes()).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(two.notes.losses.contains_key(&Loss::Field));
    assert_eq!(row(&two, 0, 0).cells.len(), 2);
    assert_eq!(cell(row(&text, 0, 0), "u", None).timestamp_us, 1_700_000_000_000_001);
}

#[test]
fn a_boundary_of_the_text_form_has_both_its_times() {
    let dump = dump("made-5.0.6/ranges-d.txt");

    let Unfiltered::Boundary(both) = &dump.partitions[1].rows[1] else { panic!("no boundary") };
    assert_eq!((both.end.reach, both.start.reach), (Reach::Exclusive, Reach::Inclusive));
    assert_eq!(
        (both.end.deletion.marked_deleted_us, both.start.deletion.marked_deleted_us),
        (10, 20)
    );
    assert_eq!(both.start.position, Some(83));
    assert_eq!(dump.partitions[0].key_text(), "k:2");
}

#[test]
fn a_shadowable_deletion_of_a_view_is_told_by_the_text_form() {
    let line = "[k]@0 Row[info=[ts=-9223372036854775808] del=deletedAt=5, localDeletion=6(shadowable) ]: 1 | ";

    let dump =
        sstabledump::parse("view", line.as_bytes()).unwrap_or_else(|fault| panic!("{fault}"));

    assert_eq!(row(&dump, 0, 0).is_shadowable, Some(true));
    assert_eq!(row(&dump, 0, 0).deletion, Some(deletion(5, 6)));
}

#[test]
fn fields_in_another_order_and_unknown_ones_lose_nothing() {
    let json = r#"[{"partition":{"position":7,"key":["a","b:c"]},"rows":[{"cells":[{"value":1,"name":"v"}],
        "clustering":[1],"liveness_info":{"tstamp":"5"},"type":"row","colour":"red"}],"table kind":"VIEW"}]"#;

    let dump = sstabledump::parse("sorted", json.as_bytes()).unwrap_or_else(|f| panic!("{f}"));

    assert_eq!(dump.partitions[0].key_text(), "a:b\\:c");
    assert_eq!(cell(row(&dump, 0, 0), "v", None).timestamp_us, 5);
    assert!(dump.notes.table_kinds.contains("VIEW"));
    assert_eq!(dump.notes.unknown["row.colour"].first_line, 2);
}

#[test]
fn line_ends_and_spaces_that_editors_change_do_not_matter() {
    let text =
        String::from_utf8(crate::support::bytes("sstabledump/docs/d04-sstabledump-d-internal.txt"));
    let text = text.expect("it is UTF-8");
    let deleted =
        "[k]@0 Row[info=[ts=-9223372036854775808] del=deletedAt=5, localDeletion=6 ]: 4 |";

    let read =
        |text: &str| sstabledump::parse("f", text.as_bytes()).unwrap_or_else(|f| panic!("{f}"));
    let (unix, windows) = (read(&text), read(&text.replace('\n', "\r\n")));
    let marked = read(&format!("\u{feff}{text}"));

    assert_eq!(unix, windows);
    assert_eq!(unix, marked);
    assert_eq!(read(deleted).partitions, read(&format!("{deleted} \n\n")).partitions);
    assert_eq!(row(&read(deleted), 0, 0).clustering.plain(), ["4"]);
}
