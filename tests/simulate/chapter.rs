//! The tables of the chapter on alternatives are made from the scripts beside them.
//!
//! A table stands under a remark that says how it is made:
//! `<!-- simulated: one.toml, other.toml: deleted, lag -->`. `TTLSPEC_WRITE=1` writes them anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ttlspec_simulate::ages::Ages;
use ttlspec_simulate::units::{bytes, count, shown, within};
use ttlspec_simulate::{Outcome, Script, Way, read, run};

fn chapter() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/mongodb/16-alternatives.md")
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/simulations")
}

/// What a column of a table says of an outcome.
fn cell(column: &str, script: &Script, outcome: &Outcome) -> String {
    let mut ages = Ages::default();
    outcome.indexes.iter().for_each(|index| ages.take_in(&index.ages));
    outcome.partitions.iter().for_each(|part| ages.take_in(&part.ages));
    let late = |millis: Option<i64>| millis.map_or("–".to_owned(), within);
    let oplog = outcome.oplog.unwrap_or_default();
    let of = |name: &str| outcome.indexes.iter().find(|index| index.collection == name);
    match column {
        "version" => script.version.to_string(),
        "came" => count(outcome.inserted),
        "deleted" => count(outcome.passes.deleted),
        "documents gone" => {
            let dropped: u64 = outcome.partitions.iter().map(|part| part.documents).sum();
            count(outcome.passes.deleted + dropped)
        }
        "largest pass" => count(outcome.passes.most),
        "longest pass" => within(outcome.passes.longest_ms),
        "passes" => count(outcome.passes.many),
        "oplog entries for it" => count(oplog.deletes + oplog.drops),
        "oplog bytes for it" => bytes(oplog.delete_bytes + oplog.drop_bytes),
        "oplog bytes in all" => {
            bytes(oplog.insert_bytes.unwrap_or_default() + oplog.delete_bytes + oplog.drop_bytes)
        }
        "50 GiB reach back" => {
            let all = oplog.insert_bytes.expect("documents have a size") + oplog.delete_bytes;
            let span_ms = (outcome.span_ms.1 - outcome.span_ms.0) as u128;
            shown(((50_u128 << 30) * span_ms / all) as i64)
        }
        "secondary behind" => within(outcome.lag.expect("a secondary is given").peak_ms),
        "late, half" => late(ages.percentile(50)),
        "late, 99 %" => late(ages.percentile(99)),
        "late, all" => late(ages.ends().map(|ends| ends.1)),
        "small: late, half" => late(of("app.small").and_then(|index| index.ages.percentile(50))),
        "small: late, all" => {
            late(of("app.small").and_then(|index| index.ages.ends()).map(|ends| ends.1))
        }
        "hot: late, all" => {
            late(of("app.hot").and_then(|index| index.ages.ends()).map(|ends| ends.1))
        }
        "most expired and there" => {
            count(outcome.indexes.iter().map(|index| index.peak).max().unwrap_or_default())
        }
        other => panic!("no column is named `{other}`"),
    }
}

/// The table that a remark asks for, and the scripts it was made from.
fn table(remark: &str) -> (Vec<String>, Vec<String>) {
    let (names, columns) = remark.split_once(':').expect("scripts: columns");
    let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
    // A comma within a name is written as `;`.
    let columns: Vec<String> = columns.iter().map(|column| column.replace(';', ",")).collect();
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    let mut lines = vec![format!("| script | {} |", columns.join(" | "))];
    lines.push(format!("|---|{}", "--:|".repeat(columns.len())));
    for name in &names {
        let text = fs::read_to_string(scripts().join(name)).expect("the script is there");
        let script = read(name, &text, None).expect("the script can be played");
        let outcome = run(&script, Way::Counted).expect("the script can be played");
        let cells = columns.iter().map(|column| cell(column, &script, &outcome));
        let link = format!("[{}](../../docs/simulations/{name})", name.trim_end_matches(".toml"));
        lines.push(format!("| {link} | {} |", cells.collect::<Vec<_>>().join(" | ")));
    }
    (lines, names)
}

#[test]
fn the_tables_of_the_chapter_are_those_of_the_simulator() {
    let text = fs::read_to_string(chapter()).expect("the chapter is there");
    let mut made = Vec::new();
    let mut used = BTreeSet::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        made.push(line.to_owned());
        let remark =
            line.strip_prefix("<!-- simulated: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some(remark) = remark {
            while lines.next_if(|line| line.starts_with('|')).is_some() {}
            let (table, names) = table(remark);
            made.extend(table);
            used.extend(names);
        }
    }
    let made = made.join("\n") + "\n";
    if std::env::var_os("TTLSPEC_WRITE").is_some() {
        fs::write(chapter(), &made).expect("the chapter can be written");
    }

    let there: BTreeSet<String> = fs::read_dir(scripts())
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("ASCII"))
        .collect();

    let there_now = fs::read_to_string(chapter()).expect("the chapter is there");
    let differs = there_now.lines().zip(made.lines()).find(|(there, made)| there != made);
    assert_eq!(differs, None, "the chapter and the simulator; TTLSPEC_WRITE=1 writes it anew");
    assert_eq!(there_now, made);
    assert_eq!(used, there, "every script stands in a table");
}
