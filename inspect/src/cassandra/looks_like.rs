//! Which tool printed this?

use crate::fault::{Fault, Place};

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A dump of sstabledump.
    Dump,
    /// What sstablemetadata prints.
    Metadata,
    /// What sstableexpiredblockers prints.
    Blockers,
}

/// Where a record of `sstabledump -d` is recognised.
pub struct Mark {
    /// Where the bracket after the key stands.
    pub key_end: usize,
}

/// Something that is told by its beginning.
struct Kind {
    is: fn(&str) -> bool,
    wanted: Option<Wanted>,
    name: &'static str,
    fix: &'static str,
}

const GIVE_DUMP: &str = "run `sstabledump FILE-Data.db` and give what it prints";
const GIVE_METADATA: &str = "run `sstablemetadata FILE-Data.db` and give what it prints";
const GIVE_BLOCKERS: &str = "run `sstableexpiredblockers KEYSPACE TABLE` and give what it prints";

/// In this order: what is more special comes first.
const KINDS: &[Kind] = &[
    Kind {
        is: |text| text.starts_with("[[") || text.starts_with("[ ["),
        wanted: None,
        name: "keys, as `sstabledump -e` prints them",
        fix: "run it again without `-e`",
    },
    Kind {
        is: |text| text.starts_with("[{\"key\"") || text.starts_with("[ {\"key\""),
        wanted: None,
        name: "JSON of sstable2json, a tool of Cassandra before 3.0",
        fix: "upgrade the sstable, or restore it on Cassandra 3.0 or later, and run sstabledump",
    },
    Kind {
        is: |text| text.starts_with("{\"sstables\""),
        wanted: None,
        name: "JSON of `scylla sstable`, which is not read yet",
        fix: "run sstabledump or sstablemetadata, which Scylla ships too",
    },
    Kind {
        is: |text| text.starts_with("{\"_id\"") || text.starts_with("[{\"_id\""),
        wanted: None,
        name: "documents of MongoDB",
        fix: "leave out `--cassandra`, or give a dump of an sstable",
    },
    Kind {
        is: |text| is_debug_text(text) || text.starts_with("[{") || text.starts_with("[]"),
        wanted: Some(Wanted::Dump),
        name: "what sstabledump prints",
        fix: "give it where a dump is expected",
    },
    Kind {
        is: |text| text.starts_with("{\"table kind\"") || text.starts_with("{\"partition\""),
        wanted: Some(Wanted::Dump),
        name: "what `sstabledump -l` prints",
        fix: "give it where a dump is expected",
    },
    Kind {
        is: |text| text.starts_with('[') && text.contains(" expired sstables from getting dropped"),
        wanted: Some(Wanted::Blockers),
        name: "what sstableexpiredblockers prints",
        fix: "give it where blockers are expected",
    },
    Kind {
        is: |text| text.starts_with("Total number of tables") || text.starts_with("Keyspace"),
        wanted: None,
        name: "what `nodetool tablestats` prints",
        fix: "it has no times of single sstables: run sstablemetadata on each sstable",
    },
    Kind {
        is: |text| {
            ["Exception in thread", "You must supply", "usage: ", "Error: ", "ERROR: "]
                .iter()
                .any(|start| text.starts_with(start))
        },
        wanted: None,
        name: "the complaint of a tool that failed",
        fix: "read it, put it right, and run the tool again",
    },
    Kind {
        is: |text| {
            ["WARN ", "INFO ", "DEBUG ", "ERROR "].iter().any(|level| text.starts_with(level))
        },
        wanted: None,
        name: "lines of a log",
        fix: "keep standard error out of the file, or cut off the lines of the log",
    },
    Kind {
        is: is_metadata,
        wanted: Some(Wanted::Metadata),
        name: "what sstablemetadata prints",
        fix: "give it where metadata is expected",
    },
    Kind {
        is: |text| text.starts_with("cqlsh") || text.contains("\n----") || text.contains("-+-"),
        wanted: None,
        name: "rows, as cqlsh prints them",
        fix: "rows do not show tombstones: run sstabledump on the sstable",
    },
];

/// Refuses what is empty, binary, or printed by another tool.
///
/// # Errors
/// A [`Fault`] that says what it looks like and what to do.
pub fn refuse(file: &str, head: &[u8], wanted: Wanted) -> Result<(), Fault> {
    let (tool, give) = wanted.tool();
    let expected = |found: &str| format!("expected what `{tool}` prints, found {found}");
    let text = text(head);
    if text.is_empty() {
        let fix = format!("{give}; if that is nothing, look at its errors");
        return Err(Fault::whole(file, expected("an empty file"), fix));
    }
    let is_binary = |byte: &u8| *byte < 0x07 || (0x0e..0x1b).contains(byte);
    if let Some(at) = head.iter().position(is_binary) {
        let byte = format!("byte 0x{:02x}, as in a component of an sstable itself", head[at]);
        return Err(Fault::whole(file, expected(&byte), give).at(Place::Offset(at as u64)));
    }
    let start: String = squeezed(&text);
    let kind = KINDS.iter().find(|kind| (kind.is)(&start) || (kind.is)(&text));
    match kind {
        Some(kind) if kind.wanted == Some(wanted) => Ok(()),
        Some(kind) => Err(Fault::whole(file, expected(kind.name), kind.fix)),
        None if wanted == Wanted::Dump && !text.starts_with(['[', '{']) => {
            let found: String = text.chars().take(1).collect();
            let what = expected(&format!("`{}`", found.escape_debug()));
            let (line, column) = first(head);
            Err(Fault::whole(file, what, give).at(Place::Line(line, column)))
        }
        None => Ok(()),
    }
}

impl Wanted {
    fn tool(self) -> (&'static str, &'static str) {
        match self {
            Wanted::Dump => ("sstabledump", GIVE_DUMP),
            Wanted::Metadata => ("sstablemetadata", GIVE_METADATA),
            Wanted::Blockers => ("sstableexpiredblockers", GIVE_BLOCKERS),
        }
    }
}

/// What is looked at, without byte order mark and white space in front.
pub fn text(head: &[u8]) -> String {
    let head = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    String::from_utf8_lossy(head).trim_start().to_owned()
}

/// Where the first byte stands that is no white space.
fn first(head: &[u8]) -> (u64, u64) {
    let at = head.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
    crate::text::line_and_column(head, at)
}

/// The beginning without white space outside of strings, as far as it helps to tell JSON.
fn squeezed(text: &str) -> String {
    let mut is_inside = false;
    let kept = text.chars().take(200).filter(|character| {
        is_inside ^= *character == '"';
        is_inside || !character.is_whitespace()
    });
    kept.collect()
}

/// Are these records of `sstabledump -d`?
pub fn is_debug(head: &[u8]) -> bool {
    is_debug_text(&text(head))
}

/// A key may hold line breaks, so not only the first line is looked at.
fn is_debug_text(text: &str) -> bool {
    text.starts_with('[')
        && mark(text).is_some_and(|mark| text[..mark.key_end].len() < 1 << 16)
        && !text[1..].trim_start().starts_with('{')
}

/// Looks for `]@`, a position, and what a record goes on with.
pub fn mark(text: &str) -> Option<Mark> {
    text.match_indices("]@").find_map(|(key_end, _)| {
        let after = &text[key_end + 2..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let what = after[digits..].strip_prefix(' ').filter(|_| digits > 0)?;
        let begins = ["Row[info=", "Marker ", "deletedAt="];
        begins.iter().any(|begin| what.starts_with(begin)).then_some(Mark { key_end })
    })
}

fn is_metadata(text: &str) -> bool {
    let names = ["SSTable", "Partitioner", "Minimum timestamp", "Estimated droppable tombstones"];
    text.lines().take(40).any(|line| {
        let line = super::metadata_lines::cleaned(line);
        names.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")))
    })
}
