//! Which field does a line of sstablemetadata hold?

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::instant::number;
use super::sstablemetadata::{
    Bucket, Compressor, Field, Histogram, Layout, LocalDeletionTime, Metadata, Scan, Token, Unknown,
};
use crate::fault::{Fault, Place};
use crate::text;

/// A line without colours and without what a progress bar overwrote.
struct Line {
    number: u64,
    text: String,
}

/// What the lines after a field belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    DropTimes,
    /// Sizes of partitions and counts of cells side by side, up to 3.x.
    Sizes,
    PartitionSizes,
    ColumnCounts,
    Widest,
    Largest,
    Leaders,
}

struct Parser<'a> {
    file: &'a str,
    all: Vec<Metadata>,
    now: Metadata,
    section: Section,
    /// Where each field of the sstable was seen.
    seen: BTreeMap<String, u64>,
}

const WHOLE: &str = "give the output whole, with its `SSTable:` line, one sstable after the other";
const UNCHANGED: &str = "give what `sstablemetadata` prints, unchanged";
/// "No local deletion time" up to 4.1.
const NONE_32: i64 = i32::MAX as i64;
/// What 4.0 and later print for nothing.
const NOTHING: &str = "--";
/// A key with more line breaks is not put together.
const MOST_BREAKS: usize = 64;

/// Reads the lines; at least one field must be among them.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Metadata>, Fault> {
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    let printed = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let (line, column) = text::line_and_column(bytes, at);
        let fix = "keep the output as UTF-8: run the tool with `LC_ALL=C.UTF-8`";
        Fault::whole(file, "expected UTF-8, found something else", fix)
            .at(Place::Line(line, column))
    })?;
    let lines: Vec<Line> = (1..)
        .zip(printed.lines())
        .map(|(number, line)| Line { number, text: cleaned(line) })
        .collect();
    let now = Metadata { line: 1, ..Metadata::default() };
    let (all, section, seen) = (Vec::new(), Section::None, BTreeMap::new());
    let mut parser = Parser { file, all, now, section, seen };
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        parser.line(line, &mut lines)?;
    }
    parser.close(0);
    if parser.all.iter().all(|metadata| metadata.fields.is_empty()) {
        // One that is missing among others is only listed.
        let is_missing = printed.lines().any(|line| line.starts_with("No such file: "));
        let what = match is_missing {
            true => "expected what `sstablemetadata` prints, found that it saw no such file",
            false => "expected what `sstablemetadata` prints, found none of its fields",
        };
        let fix = "run `sstablemetadata FILE-Data.db` and give what it prints";
        return Err(Fault::whole(file, what, fix));
    }
    Ok(parser.all)
}

/// A line as a terminal shows it in the end: without colours, and from the last return on.
pub fn cleaned(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.trim_end_matches(['\r', '\n']);
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let after = rest[at + 1..].strip_prefix('[').unwrap_or(&rest[at + 1..]);
        let is_part = |c: char| c.is_ascii_digit() || c == ';';
        let after = after.trim_start_matches(is_part);
        rest = after.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(after);
    }
    plain.push_str(rest);
    match plain.rfind('\r') {
        Some(at) => plain[at + 1..].to_owned(),
        None => plain,
    }
}

type Read<T> = Result<T, Fault>;
type Lines = Peekable<IntoIter<Line>>;

impl Parser<'_> {
    /// What is said of the next sstable begins at a line.
    fn close(&mut self, line: u64) {
        let next = Metadata { line, ..Metadata::default() };
        let metadata = std::mem::replace(&mut self.now, next);
        self.seen.clear();
        self.section = Section::None;
        let has_some = !metadata.fields.is_empty() || !metadata.unknown.is_empty();
        if has_some || metadata.command.is_some() {
            self.all.push(metadata);
        }
    }

    fn line(&mut self, line: Line, lines: &mut Lines) -> Read<()> {
        let trimmed = line.text.trim();
        if trimmed.is_empty() {
            return Ok(());
        }
        if let Some(command) = trimmed.strip_prefix("$ ") {
            if command.contains("sstablemetadata") {
                self.close(line.number);
                self.now.command = Some(command.to_owned());
            } else {
                self.unknown(&line);
            }
            return Ok(());
        }
        if self.in_section(&line, lines)? || self.one_liner(&line)? {
            return Ok(());
        }
        let split = line.text.split_once(':');
        match split.filter(|(name, _)| is_known(name)) {
            Some((name, text)) => {
                let text = text.strip_prefix(' ').unwrap_or(text);
                let (name, text) = (name.to_owned(), text.to_owned());
                self.field(line, &name, text, lines)
            }
            None => {
                self.unknown(&line);
                Ok(())
            }
        }
    }

    fn unknown(&mut self, line: &Line) {
        self.now.unknown.push(Unknown { line: line.number, text: line.text.clone() });
    }

    fn fault(&self, line: &Line, column: usize, what: String, fix: &str) -> Fault {
        Fault::whole(self.file, what, fix).at(Place::Line(line.number, column as u64))
    }

    /// A fault of the value of a field.
    fn wrong(&self, line: &Line, name: &str, expected: &str, found: &str) -> Fault {
        let column = line.text.len().saturating_sub(found.len()) + 1;
        let found = text::shortened(found.trim());
        let what = format!("expected {expected} as `{name}`, found `{found}`");
        self.fault(line, column, what, UNCHANGED)
    }

    fn integer(&self, line: &Line, name: &str, text: &str) -> Read<i64> {
        match numbered(text) {
            Some((number, _)) => Ok(number),
            None => Err(self.wrong(line, name, "a number of 64 bits", text)),
        }
    }

    fn count(&self, line: &Line, name: &str, text: &str) -> Read<u64> {
        let number = self.integer(line, name, text)?;
        let expected = "a number that is not negative";
        u64::try_from(number).map_err(|_| self.wrong(line, name, expected, text))
    }

    /// A count that some versions do not know and print as -1.
    fn known_count(&self, line: &Line, name: &str, text: &str) -> Read<Option<u64>> {
        match self.integer(line, name, text)? {
            -1 => Ok(None),
            _ => self.count(line, name, text).map(Some),
        }
    }

    fn float(&self, line: &Line, name: &str, text: &str) -> Read<f64> {
        let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let text = text.trim();
        let is_float = text == "NaN" || (text.contains(is_number) && text.chars().all(is_number));
        let float = text.parse::<f64>().ok().filter(|_| is_float || text.ends_with("Infinity"));
        float.ok_or_else(|| self.wrong(line, name, "a number", text))
    }

    /// A time, which also tells the layout.
    fn time(&mut self, line: &Line, name: &str, text: &str) -> Read<(i64, Layout, String)> {
        let Some((number, note)) = numbered(text) else {
            return Err(self.wrong(line, name, "a number of 64 bits", text));
        };
        let (layout, note) = match note {
            Note::None => (Layout::Number, ""),
            Note::After(note) => (Layout::NumberAndDate, note),
            Note::Before(note) => (Layout::DateAndNumber, note),
        };
        let note = note.to_owned();
        // A number alone is what 4.0 prints where it has no date.
        if layout != Layout::Number || self.now.layout.is_none() {
            self.now.layout = Some(layout);
        }
        Ok((number, layout, note))
    }

    fn local(&mut self, line: &Line, name: &str, text: &str) -> Read<LocalDeletionTime> {
        let (number, layout, note) = self.time(line, name, text)?;
        let says_none = note == "no tombstones" && number != 0;
        let is_none = match layout {
            Layout::DateAndNumber => number == i64::MAX,
            Layout::Number | Layout::NumberAndDate => number == NONE_32 || number == i64::MAX,
        };
        let none = says_none || is_none;
        Ok(if none { LocalDeletionTime::NoTombstones } else { LocalDeletionTime::At(number) })
    }

    fn field(&mut self, line: Line, name: &str, mut text: String, lines: &mut Lines) -> Read<()> {
        let again = self.seen.get(name).copied();
        if name == "SSTable" {
            if !self.now.fields.is_empty() {
                self.close(line.number);
            }
            self.now.line = line.number;
        } else if let Some(first) = again {
            let what =
                format!("expected `{name}` once an sstable, found it again after line {first}");
            return Err(self.fault(&line, 1, what, WHOLE));
        }
        self.seen.insert(name.to_owned(), line.number);
        self.section = Section::None;
        if matches!(name, "First token" | "Last token") {
            self.join(&mut text, lines, |text| !text.contains('(') || text.ends_with(')'));
        }
        let field = Field { line: line.number, name: name.to_owned(), text: text.clone() };
        self.now.fields.push(field);
        self.value(&line, name, &text)
    }

    /// Adds lines to a text that is not whole, for keys hold line breaks.
    fn join(&self, text: &mut String, lines: &mut Lines, is_whole: impl Fn(&str) -> bool) {
        for _ in 0..MOST_BREAKS {
            if is_whole(text) {
                return;
            }
            let is_field =
                |line: &Line| line.text.split_once(':').is_some_and(|(name, _)| is_known(name));
            let Some(next) = lines.next_if(|line| !is_field(line)) else { return };
            text.push('\n');
            text.push_str(&next.text);
        }
    }

    fn value(&mut self, line: &Line, name: &str, text: &str) -> Read<()> {
        let said =
            || Some(text.trim()).filter(|t| *t != NOTHING && *t != "null").map(str::to_owned);
        match name {
            "SSTable" => self.now.sstable = said(),
            "Partitioner" => self.now.partitioner = said(),
            "Bloom Filter FP chance" => {
                self.now.bloom_filter_fp_chance = Some(self.float(line, name, text)?);
            }
            "Minimum timestamp" => self.now.min_timestamp_us = Some(self.time(line, name, text)?.0),
            "Maximum timestamp" => self.now.max_timestamp_us = Some(self.time(line, name, text)?.0),
            "SSTable min local deletion time" => {
                self.now.min_local_deletion_time = Some(self.local(line, name, text)?);
            }
            "SSTable max local deletion time" => {
                self.now.max_local_deletion_time = Some(self.local(line, name, text)?);
            }
            "Compressor" => {
                self.now.compressor = said().map(|class| match class.as_str() {
                    "-" => Compressor::None,
                    _ => Compressor::Class(class),
                });
            }
            "Compression ratio" => {
                self.now.compression_ratio = Some(self.float(line, name, text)?);
            }
            "TTL min" => self.now.min_ttl_s = Some(self.integer(line, name, text)?),
            "TTL max" => self.now.max_ttl_s = Some(self.integer(line, name, text)?),
            "First token" => self.now.first_token = Some(token(text)),
            "Last token" => self.now.last_token = Some(token(text)),
            "minClustringValues" | "minClusteringValues" => {
                self.now.min_clustering_values = said();
            }
            "maxClustringValues" | "maxClusteringValues" => {
                self.now.max_clustering_values = said();
            }
            "Covered clusterings" => self.now.covered_clusterings = said(),
            "Estimated droppable tombstones" => {
                let ratio = self.float(line, name, text)?;
                self.now.estimated_droppable_tombstones = Some(ratio);
            }
            "SSTable Level" => self.now.level = Some(self.integer(line, name, text)?),
            "Repaired at" => self.now.repaired_at_ms = Some(self.integer(line, name, text)?),
            "Originating host id" => self.now.originating_host_id = said(),
            "Pending repair" => self.now.pending_repair = said(),
            "Replay positions covered" => self.now.replay_positions = said(),
            "totalColumnsSet" | "Total Column Cells" => {
                self.now.total_columns = self.known_count(line, name, text)?;
            }
            "totalRows" | "Total Rows" => {
                self.now.total_rows = self.known_count(line, name, text)?;
            }
            "Estimated tombstone drop times" => {
                self.now.drop_times = Some(Histogram::default());
                self.section = Section::DropTimes;
                // Some copies lack the line break before the first row.
                if !text.trim().is_empty() && !self.row(line, text)? {
                    return Err(self.wrong(line, name, "`seconds: count`", text));
                }
            }
            "Partition Size" => {
                self.now.partition_sizes = Some(Histogram::default());
                self.section = Section::PartitionSizes;
            }
            "Column Count" => {
                self.now.column_counts = Some(Histogram::default());
                self.section = Section::ColumnCounts;
            }
            "Local token space coverage" => {
                self.now.local_token_space_coverage = Some(self.float(line, name, text)?);
            }
            "Estimated cardinality" => {
                self.now.estimated_cardinality = Some(self.count(line, name, text)?);
            }
            "EncodingStats minTTL" => {
                self.now.encoding_min_ttl_s = Some(self.integer(line, name, text)?);
            }
            "EncodingStats minLocalDeletionTime" => {
                let time = self.time(line, name, text)?.0;
                self.now.encoding_min_local_deletion_time_s = Some(time);
            }
            "EncodingStats minTimestamp" => {
                self.now.encoding_min_timestamp_us = Some(self.time(line, name, text)?.0);
            }
            "KeyType" => self.now.key_type = said(),
            "ClusteringTypes" => self.now.clustering_types = Some(items(text, '[', ']')),
            "StaticColumns" => self.now.static_columns = Some(self.columns(line, name, text)?),
            "RegularColumns" => self.now.regular_columns = Some(self.columns(line, name, text)?),
            "IsTransient" => {
                self.now.is_transient = Some(match text.trim() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(self.wrong(line, name, "`true` or `false`", text)),
                });
            }
            "Size" | "Partitions" | "Rows" | "Tombstones" | "Cells" => {
                let count = Some(self.count(line, name, text)?);
                let scan = self.now.scan.get_or_insert_with(Scan::default);
                match name {
                    "Size" => scan.size = count,
                    "Partitions" => scan.partitions = count,
                    "Rows" => scan.rows = count,
                    "Tombstones" => scan.tombstones = count,
                    _ => scan.cells = count,
                }
            }
            "Widest Partitions" => self.section = Section::Widest,
            "Largest Partitions" => self.section = Section::Largest,
            "Tombstone Leaders" => self.section = Section::Leaders,
            // The rest is kept as it is: Duration, Ancestors, Minimum and Maximum replay position.
            _ => {}
        }
        Ok(())
    }

    /// `name:type, name:type`, up to 3.x in braces.
    fn columns(&self, line: &Line, name: &str, text: &str) -> Read<Vec<(String, String)>> {
        let columns = items(text, '{', '}').into_iter().map(|item| {
            let head = &item[..item.find('(').unwrap_or(item.len())];
            let colon = head.rfind(':')?;
            Some((item[..colon].to_owned(), item[colon + 1..].to_owned()))
        });
        columns
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong(line, name, "names and types such as `a:Int32Type`", text))
    }

    /// Does the line belong to the field before it?
    fn in_section(&mut self, line: &Line, lines: &mut Lines) -> Read<bool> {
        let text = line.text.trim();
        match self.section {
            Section::None => Ok(false),
            Section::Widest | Section::Largest | Section::Leaders => {
                if !line.text.starts_with("  [") {
                    return Ok(false);
                }
                let mut entry = text.to_owned();
                self.join(&mut entry, lines, |entry| self::entry(entry).is_some());
                let Some(entry) = self::entry(&entry) else {
                    let name = "Widest Partitions";
                    return Err(self.wrong(line, name, "`[key] number`", &line.text));
                };
                let scan = self.now.scan.get_or_insert_with(Scan::default);
                match self.section {
                    Section::Widest => scan.widest_partitions.push(entry),
                    Section::Largest => scan.largest_partitions.push(entry),
                    _ => scan.tombstone_leaders.push(entry),
                }
                Ok(true)
            }
            Section::DropTimes if is_header_of_sizes(text) => {
                self.section = Section::Sizes;
                self.now.partition_sizes = Some(Histogram::default());
                self.now.column_counts = Some(Histogram::default());
                Ok(true)
            }
            _ => self.row(line, &line.text),
        }
    }

    /// A row of a histogram.
    fn row(&mut self, line: &Line, text: &str) -> Read<bool> {
        let text = text.trim();
        let name = match self.section {
            Section::DropTimes => "Estimated tombstone drop times",
            Section::PartitionSizes => "Partition Size",
            Section::ColumnCounts => "Column Count",
            _ => "Row Size and Cell Count",
        };
        let first = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
        if self.section == Section::Sizes {
            // There are fewer buckets of cells, so the last lines have sizes only.
            let numbers: Vec<&str> = text.split_whitespace().collect();
            let (at, sizes, cells) = match numbers[..] {
                [at, sizes, cells] => (at, sizes, Some(cells)),
                [at, sizes] => (at, sizes, None),
                _ => return Ok(false),
            };
            if !at.starts_with(|c: char| c.is_ascii_digit()) {
                return Ok(false);
            }
            let at = self.integer(line, name, at)?;
            let sizes = Bucket { at, count: self.count(line, name, sizes)? };
            self.now.partition_sizes.get_or_insert_default().buckets.push(sizes);
            if let Some(cells) = cells {
                let cells = Bucket { at, count: self.count(line, name, cells)? };
                self.now.column_counts.get_or_insert_default().buckets.push(cells);
            }
            return Ok(true);
        }
        if text == "Percentiles" {
            return Ok(true);
        }
        let label = first(text);
        let is_percentile = matches!(label.as_str(), "Min" | "Max") || label.ends_with("th");
        if is_percentile && (text.contains('(') || !text.contains([':', '|'])) {
            let value = self.integer(line, name, &first(&text[label.len()..]))?;
            self.histogram().percentiles.push((label, value));
            return Ok(true);
        }
        let (at, count) = match text.split_once('|') {
            Some((at, count)) => (first(at), first(count)),
            None if self.section == Section::DropTimes => match text.split_once(':') {
                Some((at, count)) if number(at.trim()).is_some() => {
                    (at.trim().to_owned(), count.trim().to_owned())
                }
                _ => return Ok(false),
            },
            None => return Ok(false),
        };
        if matches!(at.as_str(), "Drop" | "Size" | "Columns") {
            return Ok(true);
        }
        let (at, count) = (self.integer(line, name, &at)?, self.count(line, name, &count)?);
        self.histogram().buckets.push(Bucket { at, count });
        Ok(true)
    }

    fn histogram(&mut self) -> &mut Histogram {
        let histogram = match self.section {
            Section::PartitionSizes => &mut self.now.partition_sizes,
            Section::ColumnCounts => &mut self.now.column_counts,
            _ => &mut self.now.drop_times,
        };
        histogram.get_or_insert_default()
    }

    /// What a well-known shell loop prints, one line an sstable. Its dates are of an unknown time
    /// zone and have no microseconds, so they are only kept as text.
    fn one_liner(&mut self, line: &Line) -> Read<bool> {
        const RATIO: &str = "Estimated droppable tombstones";
        let Some(rest) = line.text.strip_prefix("Max: ") else { return Ok(false) };
        let parts = rest.split_once(" Min: ").and_then(|(max, rest)| {
            rest.split_once(&format!(" {RATIO}: ")).map(|(min, rest)| (max, min, rest))
        });
        let Some((max, min, rest)) = parts else { return Ok(false) };
        if !self.now.fields.is_empty() {
            self.close(line.number);
        }
        self.now.line = line.number;
        let ratio = rest.split_whitespace().next().unwrap_or_default();
        self.now.estimated_droppable_tombstones = Some(self.float(line, RATIO, ratio)?);
        self.now.sstable = rest.split_whitespace().skip(1).last().map(str::to_owned);
        let field = |name: &str, text: &str| {
            let (name, text) = (name.to_owned(), text.trim().to_owned());
            Field { line: line.number, name, text }
        };
        self.now.fields = vec![field("Max", max), field("Min", min), field(RATIO, rest)];
        Ok(true)
    }
}

fn is_known(name: &str) -> bool {
    const NAMES: [&str; 50] = [
        "SSTable",
        "Partitioner",
        "Bloom Filter FP chance",
        "Minimum timestamp",
        "Maximum timestamp",
        "Duration",
        "SSTable min local deletion time",
        "SSTable max local deletion time",
        "Compressor",
        "Compression ratio",
        "TTL min",
        "TTL max",
        "First token",
        "Last token",
        "minClustringValues",
        "minClusteringValues",
        "maxClustringValues",
        "maxClusteringValues",
        "Covered clusterings",
        "Estimated droppable tombstones",
        "SSTable Level",
        "Repaired at",
        "Originating host id",
        "Pending repair",
        "Replay positions covered",
        "Minimum replay position",
        "Maximum replay position",
        "totalColumnsSet",
        "Total Column Cells",
        "totalRows",
        "Total Rows",
        "Estimated tombstone drop times",
        "Partition Size",
        "Column Count",
        "Local token space coverage",
        "Estimated cardinality",
        "EncodingStats minTTL",
        "EncodingStats minLocalDeletionTime",
        "EncodingStats minTimestamp",
        "KeyType",
        "ClusteringTypes",
        "StaticColumns",
        "RegularColumns",
        "IsTransient",
        "Ancestors",
        "Size",
        "Partitions",
        "Rows",
        "Tombstones",
        "Cells",
    ];
    NAMES.contains(&name)
        || ["Widest Partitions", "Largest Partitions", "Tombstone Leaders"].contains(&name)
}

fn is_header_of_sizes(text: &str) -> bool {
    text.split_whitespace().eq(["Count", "Row", "Size", "Cell", "Count"])
}

/// What stands beside a number.
enum Note<'a> {
    None,
    Before(&'a str),
    After(&'a str),
}

/// `number`, `number (note)` or `note (number)`.
fn numbered(text: &str) -> Option<(i64, Note<'_>)> {
    let text = text.trim();
    if let Some(number) = number(text) {
        return Some((number, Note::None));
    }
    let inside = text.strip_suffix(')')?;
    if let Some((before, after)) = inside.split_once(" (")
        && let Some(number) = number(before)
    {
        return Some((number, Note::After(after)));
    }
    let (before, after) = inside.rsplit_once(" (")?;
    number(after).map(|number| (number, Note::Before(before)))
}

/// `token (key)`, up to 3.x `token (key=key)`.
fn token(text: &str) -> Token {
    let text = text.trim();
    let key = text.split_once(" (").and_then(|(token, key)| Some((token, key.strip_suffix(')')?)));
    match key {
        Some((token, key)) => {
            let key = key.strip_prefix("key=").unwrap_or(key).to_owned();
            Token { token: token.to_owned(), key: Some(key) }
        }
        None => Token { token: text.to_owned(), key: None },
    }
}

/// What stands between commas outside of parentheses, with or without brackets around all of it.
fn items(text: &str, open: char, close: char) -> Vec<String> {
    let text = text.trim();
    let inside = text.strip_prefix(open).and_then(|text| text.strip_suffix(close)).unwrap_or(text);
    let (mut depth, mut items, mut item) = (0_i64, Vec::new(), String::new());
    for character in inside.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if character == ',' && depth == 0 {
            items.push(std::mem::take(&mut item));
        } else {
            item.push(character);
        }
    }
    items.push(item);
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

/// `[key] number` or `[key] number (note)`.
fn entry(text: &str) -> Option<(String, u64)> {
    let (key, rest) = text.strip_prefix('[')?.rsplit_once("] ")?;
    let number = rest.split_whitespace().next()?.parse().ok()?;
    Some((key.to_owned(), number))
}
