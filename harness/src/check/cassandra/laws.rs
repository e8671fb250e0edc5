//! What must hold in every state, and what the specification allows and nobody wants.

use ttlspec_model::cassandra::words::{CqlRow, Query, Reply};
use ttlspec_model::cassandra::{Cassandra, Op, State};
use ttlspec_model::{Millis, Spec};

use crate::check::tables::{hazards, laws};
use crate::check::{Move, Seen, Walk};

type W = Walk<Cassandra>;
type S = Seen<Cassandra>;
type M<'a> = Move<'a, Cassandra>;

/// What CQL shows of the whole table.
fn rows(walk: &W, state: &State, now: Millis) -> Vec<CqlRow> {
    match Cassandra::answer(walk.config(), state, now, &Op::Select(Query::default())).verdict {
        Reply::Rows(rows) => rows.rows,
        _ => Vec::new(),
    }
}

fn compacts(op: &Op) -> bool {
    matches!(
        op,
        Op::Compact(_)
            | Op::Major { .. }
            | Op::GarbageCollect(_)
            | Op::Tasks(_)
            | Op::Background(_)
    )
}

/// What is shown before and after a move, where that changes what is kept.
fn before_and_after(walk: &W, seen: &S, next: &M) -> Option<(Vec<CqlRow>, Vec<CqlRow>)> {
    if next.step.state == *seen.state() {
        return None;
    }
    let before = rows(walk, seen.state(), next.now);
    Some((before, rows(walk, &next.step.state, next.now)))
}

/// Is nothing else shown after any move of a kind?
fn nothing_changes(walk: &W, seen: &S, of: fn(&Op) -> bool) -> bool {
    walk.moves(seen).filter(|next| of(next.op)).all(|next| {
        before_and_after(walk, seen, &next).is_none_or(|(before, after)| before == after)
    })
}

/// Something is shown, and a move of a kind changes what is kept.
fn something_is_kept_otherwise(walk: &W, seen: &S, of: fn(&Op) -> bool) -> bool {
    walk.moves(seen).filter(|next| of(next.op)).any(|next| {
        before_and_after(walk, seen, &next).is_some_and(|(before, _)| !before.is_empty())
    })
}

fn flushes(op: &Op) -> bool {
    matches!(op, Op::Flush)
}

laws! {
    Cassandra;

    /// A flush changes nothing that CQL shows.
    FLUSH = "cassandra.memtable.flush",
        |walk, seen| nothing_changes(walk, seen, flushes),
        |walk, seen| something_is_kept_otherwise(walk, seen, flushes);
    /// A compaction changes nothing that CQL shows, whatever it purges.
    PURGE = "cassandra.purge.merge-first",
        |walk, seen| nothing_changes(walk, seen, compacts),
        |walk, seen| something_is_kept_otherwise(walk, seen, compacts);
}

/// Is something shown that was not shown?
fn appears(before: &[CqlRow], after: &[CqlRow]) -> bool {
    after.iter().any(|row| !before.contains(row)) && values(after) >= values(before)
}

/// How much is shown.
fn values(rows: &[CqlRow]) -> usize {
    rows.iter().map(|row| 1 + row.simple.len() + row.collections.len()).sum()
}

fn returns(walk: &W, seen: &S, next: &M) -> bool {
    compacts(next.op)
        && before_and_after(walk, seen, next)
            .is_some_and(|(before, after)| appears(&before, &after))
}

fn vanishes(walk: &W, seen: &S, next: &M) -> bool {
    compacts(next.op)
        && before_and_after(walk, seen, next)
            .is_some_and(|(before, after)| values(&after) < values(&before))
}

hazards! {
    Cassandra;

    /// A compaction purges a deletion, and what it covered is shown again.
    MINUS_ONE = "cassandra.fault.minus-one", "what was deleted comes back", returns;
    /// A compaction makes a tombstone of an expired cell, and a living one is not shown any more.
    VANISH = "cassandra.fault.vanish", "what lives is gone", vanishes;
    /// An sstable outside held data that the purged deletion covered.
    OVERLAP = "cassandra.purge.overlap", "without it, what was deleted comes back", returns;
    /// The memtable held data that the purged deletion covered.
    MEMTABLE = "cassandra.purge.memtable", "without it, what was deleted comes back", returns;
    /// Data outside had the very timestamp of the deletion that covered it.
    STRICT = "cassandra.purge.strict", "without it, what was deleted comes back", returns;
    /// A repaired deletion covered data in an unrepaired sstable.
    OTHER_HOLDER = "cassandra.purge.other-holder", "without it, what was deleted comes back",
        returns;
    /// The deletion was gone before it met what it covers.
    MERGE_FIRST = "cassandra.purge.merge-first", "without it, what was deleted comes back", returns;
    /// What had expired covered older data elsewhere, and was dropped without being read.
    DROP_BLOCKED = "cassandra.compaction.drop-blocked",
        "without it, what was overwritten comes back", returns;
    /// What had expired covered data in the memtable, and was dropped without being read.
    DROP_MEMTABLE = "cassandra.compaction.drop-memtable",
        "without it, what was overwritten comes back", returns;
}
