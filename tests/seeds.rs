//! Every fact of the texts that the book set out from has its place in it and a verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ttlspec_model::Rule;

/// One fact.
struct Row {
    /// The heading of the text that it stands in.
    text: String,
    /// Its number.
    number: usize,
    /// The other cells: what is said, where it stands, the verdict, the remark.
    cells: Vec<String>,
}

/// A link, as its text and where it leads.
type Link = (String, String);

const VERDICTS: [&str; 4] = ["right", "corrected", "advice", "outside"];

#[test]
fn every_row_says_what_where_and_whether_it_is_right() {
    let rows = rows();

    for (at, row) in rows.iter().enumerate() {
        let number = row.number;
        assert_eq!(number, at + 1, "row {number} stands where {} should", at + 1);
        let [says, places, verdict, remark] = &row.cells[..] else {
            panic!("row {number} has {} cells behind its number, not 4", row.cells.len());
        };
        assert!(!says.is_empty(), "row {number} says nothing");
        assert!(!links(places).is_empty(), "row {number} names no place in the book");
        assert!(VERDICTS.contains(&verdict.as_str()), "row {number}: `{verdict}` is no verdict");
        let is_sourced = remark.contains("Source: ");
        assert!(verdict != "corrected" || is_sourced, "row {number} corrects without a source");
    }
    for text in ["The Spanish text", "The Chinese text", "The Cassandra text"] {
        assert!(rows.iter().any(|row| row.text == text), "no row is about `{text}`");
    }
}

#[test]
fn every_link_leads_to_a_rule_or_a_file() {
    let seeds = read();
    let all = links(&seeds);
    assert!(!all.is_empty(), "specs/SEEDS.md links to nothing");

    let lost: BTreeSet<String> = all.iter().filter_map(lost).collect();

    assert!(lost.is_empty(), "{}", lost.into_iter().collect::<Vec<String>>().join("\n"));
}

#[test]
fn the_table_of_verdicts_counts_the_rows() {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows() {
        *counted.entry(row.cells[2].clone()).or_default() += 1;
    }

    let seeds = read();
    let written: BTreeMap<String, usize> = (seeds.lines().map(cells))
        .filter(|cells| cells.len() == 3 && VERDICTS.contains(&cells[0].as_str()))
        .map(|cells| (cells[0].clone(), cells[2].parse().expect("the last cell is a number")))
        .collect();

    assert_eq!(written, counted);
}

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("specs")
}

fn read() -> String {
    std::fs::read_to_string(specs().join("SEEDS.md")).expect("specs/SEEDS.md can be read")
}

/// The rows that begin with a number, in order.
fn rows() -> Vec<Row> {
    let mut text = String::new();
    let mut rows = Vec::new();
    for line in read().lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            text = heading.to_owned();
        }
        let cells = cells(line);
        if let Some(number) = cells.first().and_then(|cell| cell.parse().ok()) {
            rows.push(Row { text: text.clone(), number, cells: cells[1..].to_vec() });
        }
    }
    rows
}

/// The cells of a line of a table, or none.
fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(|c| c.trim().to_owned()).collect())
}

/// The links of a text.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, behind) = (&rest[..at], &rest[at + 2..]);
        let name = before.rfind('[').map_or("", |from| &before[from + 1..]);
        let to = behind.find(')').map_or("", |end| &behind[..end]);
        links.push((name.to_owned(), to.to_owned()));
        rest = behind;
    }
    links
}

/// What is wrong with a link, if anything is.
fn lost((name, to): &Link) -> Option<String> {
    let (file, anchor) = to.split_once('#').unwrap_or((to, ""));
    if !specs().join(file).is_file() {
        return Some(format!("`{name}` leads to specs/{file}, which is not there"));
    }
    if anchor.is_empty() {
        return None;
    }
    let Some(rule) = Rule::named(name) else {
        return Some(format!("`{name}` is no rule"));
    };
    let right = format!("{}.md#{}", rule.chapter(), name.replace('.', ""));
    (*to != right).then(|| format!("`{name}` leads to {to}, expected {right}"))
}
