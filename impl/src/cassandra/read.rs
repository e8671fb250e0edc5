//! What does a node answer a coordinator?

use std::cmp::Reverse;

use super::combine::Combiner;
use super::deleted::Deleted;
use super::entry::NEVER;
use super::grace::Purge;
use super::key::Key;
use super::node::Node;
use super::place::Span;
use super::run::{Part, Run};
use super::sink::Sink;
use super::sstable::Sstable;

/// Everything.
pub(super) fn all(node: &mut Node, now: i64) -> Run {
    node.memtable.look_at_all();
    let node = &*node;
    let purge = purge(node, now, true, node.sstables.iter());
    let mut keys: Vec<Key> = node.memtable.keys().collect();
    for sstable in &node.sstables {
        keys.extend(sstable.file.run.parts().map(|part| part.key()));
    }
    keys.sort_unstable();
    keys.dedup();
    let mut read = Run::new(node.setup.clusterings.width());
    let mut sink = Sink::new(&mut read, Some(purge));
    let mut combiner = Combiner::default();
    let mut reached = vec![0; node.sstables.len()];
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(node.sstables.len() + 1);
    for key in keys {
        parts.clear();
        parts.extend(node.memtable.part(key));
        for (sstable, at) in node.sstables.iter().zip(&mut reached) {
            let run = &sstable.file.run;
            *at = run.seek(*at, key);
            if *at < run.len() && run.key(*at) == key {
                parts.push(run.part(*at));
            }
        }
        combiner.part(&parts, &mut sink);
    }
    read
}

/// Spans of one partition; none of it where `spans` is `None` is left out. There may be nothing.
pub(super) fn one(node: &mut Node, key: Key, spans: Option<&[Span]>, now: i64) -> Run {
    node.memtable.look(key);
    let node = &*node;
    let memtable = node.memtable.part(key);
    let mut whole: Vec<Part<'_>> = memtable.into_iter().collect();
    let mut newest = memtable.map_or(Deleted::NONE, |part| part.deletion());
    let mut touched: Vec<&Sstable> = Vec::new();
    let mut sstables: Vec<&Sstable> =
        node.sstables.iter().filter(|sstable| sstable.file.spans(key)).collect();
    sstables.sort_by_key(|sstable| Reverse(sstable.max_ts()));
    for sstable in sstables {
        // All that is in the rest is older than the deletion of the partition.
        if !newest.is_none() && sstable.max_ts() < newest.ts {
            break;
        }
        let is_outside = spans.is_some_and(|spans| !sstable.file.meets_spans(spans));
        let is_empty = spans.is_none() && !sstable.file.meets_all();
        if node.setup.version.skips_by_covered_clustering() && (is_outside || is_empty) {
            continue;
        }
        touched.push(sstable);
        if let Some(part) = sstable.file.run.find(key) {
            newest = newest.max(part.deletion());
            whole.push(part);
        }
    }
    let purge = purge(node, now, memtable.is_some(), touched.into_iter());
    let mut cuts = Run::new(node.setup.clusterings.width());
    let parts = match spans {
        None => whole,
        Some(spans) => {
            whole.iter().for_each(|part| cut(part, spans, &mut cuts));
            cuts.parts().collect()
        }
    };
    let mut read = Run::new(node.setup.clusterings.width());
    Combiner::default().part(&parts, &mut Sink::new(&mut read, Some(purge)));
    read
}

/// What may go in a read: with only_purge_repaired_tombstones, nothing as young as the oldest that
/// is read and not repaired.
fn purge<'a>(
    node: &Node,
    now: i64,
    reads_memtable: bool,
    sstables: impl Iterator<Item = &'a Sstable>,
) -> Purge {
    let purge = node.purge(now);
    if !node.purges_only_repaired() {
        return purge;
    }
    let is_read = reads_memtable && !node.memtable.is_empty();
    let memtable = is_read.then(|| node.memtable.min_ldt()).flatten();
    let unrepaired = sstables.filter(|sstable| !sstable.is_repaired());
    let ldts = unrepaired.map(|sstable| sstable.file.statistics.min_ldt);
    let oldest = ldts.chain(memtable).min().unwrap_or(NEVER);
    Purge { oldest_unrepaired: oldest, ..purge }
}

/// Adds the part of a partition that lies within the spans.
fn cut(part: &Part<'_>, spans: &[Span], cuts: &mut Run) {
    let mut sink = Sink::new(cuts, None);
    let (run, items) = (part.run, part.items());
    sink.open_part(part.key(), part.deletion());
    if let Some(statics) = part.statics() {
        sink.row(run.place(items.start), statics);
    }
    let mut at = items.start;
    for span in spans {
        at = part.seek(at, &span.start);
        if at < items.end && run.place(at) == span.start {
            at += 1;
        }
        let mut open = part.open_before(at);
        sink.bound(&span.start, Deleted::NONE, open);
        while at < items.end && *run.place(at) < *span.end {
            let line = run.line(at);
            if run.is_bound(at) {
                let next = line.deletion(super::entry::Slot::OPEN);
                sink.bound(run.place(at), open, next);
                open = next;
            } else {
                sink.row(run.place(at), line);
            }
            at += 1;
        }
        sink.bound(&span.end, open, Deleted::NONE);
    }
    sink.close_part();
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Entry, Slot};
    use super::*;

    #[test]
    fn a_range_that_goes_over_the_ends_of_a_span_is_cut_there() {
        let mut run = Run::new(1);
        let deletion = Deleted { ts: 5, ldt: 1 };
        let mut sink = Sink::new(&mut run, None);
        sink.open_part(Key::new(1), Deleted::NONE);
        sink.bound(&[10], Deleted::NONE, deletion);
        for place in [20, 30, 40] {
            let row = [Entry::tombstone(Slot::simple(0), 9, 1)];
            sink.row(&[place], super::super::run::Line { entries: &row, values: &[] });
        }
        sink.bound(&[50], deletion, Deleted::NONE);
        sink.close_part();
        let mut cuts = Run::new(1);
        let span = |start, end| Span { start: vec![start], end: vec![end] };

        cut(&run.part(0), &[span(25, 35), span(45, 60)], &mut cuts);

        let seen: Vec<(u64, bool)> =
            (0..cuts.items()).map(|item| (cuts.place(item)[0], cuts.is_bound(item))).collect();
        let expected = [(25, true), (30, false), (35, true), (45, true), (50, true)];
        assert_eq!(seen, expected);
    }
}
