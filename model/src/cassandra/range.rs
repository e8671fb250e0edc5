#![doc = include_str!("../../../specs/cassandra/5-range.md")]
//! ---
//! *Module:* what do range tombstones make of each other?

use super::data::{Deleted, Place, Range};
use super::reconcile::{is_stronger, strongest};
use crate::book::Book;
use crate::ruling::Rule;

/// Adds a range to those of one update or memtable. Where two overlap, the larger timestamp wins;
/// at equal timestamps what is there stays.
pub fn add(book: &Book, ranges: &mut Vec<Range>, new: &Range) {
    let mut pieces = vec![(new.start.clone(), new.end.clone())];
    let mut kept = Vec::new();
    for old in std::mem::take(ranges) {
        if old.end <= new.start || new.end <= old.start {
            kept.push(old);
        } else if holds_out(book, &old, new) {
            pieces = pieces.into_iter().flat_map(|piece| without(piece, &old)).collect();
            kept.push(old);
        } else {
            let whole = (old.start.clone(), old.end.clone());
            let rest = without(whole, new).into_iter();
            kept.extend(rest.map(|(start, end)| Range { start, end, deletion: old.deletion }));
        }
    }
    let pieces = pieces.into_iter();
    kept.extend(pieces.map(|(start, end)| Range { start, end, deletion: new.deletion }));
    kept.sort_by(|one, two| one.start.cmp(&two.start));
    *ranges = kept;
}

/// Does what is there stay where `new` meets it?
fn holds_out(book: &Book, old: &Range, new: &Range) -> bool {
    if old.deletion.ts == new.deletion.ts && book.by(Rule::CassandraRangeFirst) {
        return true;
    }
    book.by(Rule::CassandraRangeTimestamp)
        && (old.deletion.ts, old.deletion.ldt) > (new.deletion.ts, new.deletion.ldt)
}

/// What is left of a piece outside `range`.
fn without((start, end): (Place, Place), range: &Range) -> Vec<(Place, Place)> {
    if range.end <= start || end <= range.start {
        return vec![(start, end)];
    }
    let mut rest = Vec::new();
    if start < range.start {
        rest.push((start, range.start.clone()));
    }
    if range.end < end {
        rest.push((range.end.clone(), end));
    }
    rest
}

/// Joins ranges that touch and are the same deletion: there is no boundary between them.
pub fn join(book: &Book, ranges: Vec<Range>) -> Vec<Range> {
    let mut joined: Vec<Range> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if last.end == range.start
                    && last.deletion == range.deletion
                    && book.by(Rule::CassandraRangeJoined) =>
            {
                last.end = range.end;
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The ranges that are left beside the deletion of their partition.
pub fn beside(book: &Book, ranges: &[Range], partition: Deleted) -> Vec<Range> {
    let stays = |range: &&Range| {
        is_stronger(book, Some(range.deletion), partition)
            || !book.by(Rule::CassandraRangeBesidePartition)
    };
    ranges.iter().filter(stays).cloned().collect()
}

/// Merges the ranges of several sources: everywhere the strongest of those that are open.
pub fn merge(book: &Book, sources: &[&[Range]], partition: Deleted) -> Vec<Range> {
    let all = || sources.iter().copied().flatten();
    let mut places: Vec<&Place> = all().flat_map(|range| [&range.start, &range.end]).collect();
    places.sort();
    places.dedup();
    let mut merged = Vec::new();
    for pair in places.windows(2) {
        let (start, end) = (pair[0].clone(), pair[1].clone());
        let is_open = |range: &&Range| range.start <= start && end <= range.end;
        let open: Vec<Deleted> = all().filter(is_open).map(|range| Some(range.deletion)).collect();
        let strongest = match open[..] {
            [first, _, ..] if !book.by(Rule::CassandraRangeStrongest) => first,
            _ => strongest(book, open),
        };
        if let Some(deletion) = strongest {
            merged.push(Range { start, end, deletion });
        }
    }
    join(book, beside(book, &merged, partition))
}
