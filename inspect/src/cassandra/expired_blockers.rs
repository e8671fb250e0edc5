//! Which sstables keep expired ones from being dropped, as `sstableexpiredblockers` prints it?

use std::io::{Cursor, Read};

use super::looks_like::{self, Wanted};
use super::sstablemetadata::LocalDeletionTime;
use crate::fault::{Fault, Place};
use crate::source::{self, Source, unreadable};
use crate::text;

/// An sstable that is not expired, and those that it blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The line, from 1.
    pub line: u64,
    /// The one that blocks.
    pub by: Named,
    /// The expired ones that it blocks, since their timestamps are not all older than its own.
    pub blocked: Vec<Named>,
}

/// An sstable as the tool names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The path of its data.
    pub path: String,
    /// The least write timestamp, microseconds since 1970 by convention.
    pub min_timestamp_us: i64,
    /// The greatest write timestamp.
    pub max_timestamp_us: i64,
    /// The greatest local deletion time.
    pub max_local_deletion_time: LocalDeletionTime,
}

const LARGEST: u64 = 64 << 20;
const FIX: &str = "give what `sstableexpiredblockers` prints, unchanged";

/// Reads what the tool printed, packed with gzip or not. The tool prints nothing where nothing is
/// blocked, but so does one that failed: that is a fault here.
///
/// # Errors
/// A [`Fault`] with line and column.
pub fn read(source: Source) -> Result<Vec<Blocker>, Fault> {
    let mut bytes = Vec::new();
    let read = source.reader.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&source.file, &error))?;
    if bytes.len() as u64 > LARGEST {
        let what = format!("expected at most {LARGEST} bytes of text, found more");
        return Err(Fault::whole(&source.file, what, FIX));
    }
    looks_like::refuse(&source.file, &bytes[..bytes.len().min(1 << 17)], Wanted::Blockers)?;
    let all = std::str::from_utf8(&bytes).map_err(|error| {
        let (line, column) = text::line_and_column(&bytes, error.valid_up_to());
        let what = "expected UTF-8, found something else";
        Fault::whole(&source.file, what, FIX).at(Place::Line(line, column))
    })?;
    let lines = (1..).zip(all.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| blocker(&source.file, number, line)).collect()
}

/// Reads what the tool printed from memory.
///
/// # Errors
/// A [`Fault`] with line and column.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Blocker>, Fault> {
    read(source::unpack(file, Box::new(Cursor::new(bytes.to_vec())))?)
}

fn blocker(file: &str, number: u64, line: &str) -> Result<Blocker, Fault> {
    let fault = |rest: &str, expected: &str| {
        let column = (line.len() - rest.len()) as u64 + 1;
        let found = text::shortened(rest);
        let what = format!("expected {expected}, found `{found}`");
        Fault::whole(file, what, FIX).at(Place::Line(number, column))
    };
    let (by, rest) = named(line).map_err(|rest| fault(rest, "an sstable in brackets"))?;
    let Some(rest) = rest.strip_prefix("],  blocks ") else {
        return Err(fault(rest, "`],  blocks `"));
    };
    let counted = rest.split_once(" expired sstables from getting dropped: ");
    let counted = counted.and_then(|(count, list)| Some((count.parse::<u64>().ok()?, list)));
    let Some((count, mut rest)) = counted else {
        return Err(fault(rest, "`N expired sstables from getting dropped: `"));
    };
    let mut blocked = Vec::new();
    while !rest.trim().is_empty() {
        let (one, after) = named(rest).map_err(|rest| fault(rest, "an sstable in brackets"))?;
        blocked.push(one);
        let Some(after) = after.strip_prefix("],") else { return Err(fault(after, "`],`")) };
        rest = after.trim_start();
    }
    if blocked.len() as u64 != count {
        return Err(fault("", &format!("{count} sstables, found {}; then more", blocked.len())));
    }
    Ok(Blocker { line: number, by, blocked })
}

/// `[Reader(path='…') (minTS = n, maxTS = n, maxLDT = n)`, and what comes after it.
fn named(text: &str) -> Result<(Named, &str), &str> {
    let start = text.trim_start();
    let rest = start.strip_prefix('[').ok_or(start)?;
    let (_, rest) = rest.split_once("(path='").ok_or(start)?;
    let (path, rest) = rest.split_once("') (minTS = ").ok_or(rest)?;
    let (min, after) = rest.split_once(", maxTS = ").ok_or(rest)?;
    let min_timestamp_us = min.parse().map_err(|_| rest)?;
    let (max, after_max) = after.split_once(", maxLDT = ").ok_or(after)?;
    let max_timestamp_us = max.parse().map_err(|_| after)?;
    let (local, rest) = after_max.split_once(')').ok_or(after_max)?;
    let max_local_deletion_time = match local.parse().map_err(|_| after_max)? {
        2_147_483_647 | i64::MAX => LocalDeletionTime::NoTombstones,
        at => LocalDeletionTime::At(at),
    };
    let path = path.to_owned();
    Ok((Named { path, min_timestamp_us, max_timestamp_us, max_local_deletion_time }, rest))
}
