#![doc = include_str!("../../../specs/cassandra/15-strategy.md")]
//! ---
//! *Module:* which sstables does a strategy take by itself?

use std::collections::BTreeMap;

use super::compaction::Compaction;
use super::machine::State;
use super::sstable::Sstable;
use super::words::Table;
use crate::ruling::Rule;

/// What TimeWindowCompactionStrategy remembers, for the repaired and for the unrepaired sstables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Memory {
    /// When it looked for expired sstables last.
    pub looked: Option<i64>,
    /// The newest window that it has ever seen, in seconds.
    pub newest: i64,
    /// How many windows it had to merge when it was asked last.
    pub remaining: usize,
}

/// What is taken next: one of these, each a task. More than one where the rules leave it open, since
/// it hangs on sizes of files that nothing here knows.
pub type Choices = Vec<Vec<u64>>;

/// Does what the strategy asks for, at most so many tasks. Where files of unknown size are equal to
/// the rules, the one with the most in it is taken for the largest.
pub fn run(compaction: &Compaction<'_>, node: &mut State, most: u64) {
    for _ in 0..most {
        let bulks: BTreeMap<u64, u64> =
            node.sstables.iter().map(|sstable| (sstable.id, sstable.stats.bulk())).collect();
        let mut choices = next(compaction, node, &|id| bulks.get(&id).copied());
        // Of equals, the first of windows and the last of anything else.
        let is_windowed = node.table.option("class").ends_with("TimeWindowCompactionStrategy");
        let task = if is_windowed { choices.drain(..).next() } else { choices.pop() };
        let Some(task) = task else { return };
        compaction.task(node, &task, node.usual_shadow());
    }
}

/// The choices for the next task; none where there is none. `size` knows sizes of files in bytes.
pub fn next(
    compaction: &Compaction<'_>,
    node: &mut State,
    size: &dyn Fn(u64) -> Option<u64>,
) -> Choices {
    // The holder with more to do is asked first; of equals the repaired one.
    let more = node.memory[0].remaining > node.memory[1].remaining;
    let repaired_first = !more && compaction.book.by(Rule::CassandraStrategyRepairedFirst);
    for is_repaired in [repaired_first, !repaired_first] {
        let choices = of_holder(compaction, node, is_repaired, size);
        if !choices.is_empty() {
            return choices;
        }
    }
    Vec::new()
}

fn of_holder(
    compaction: &Compaction<'_>,
    node: &mut State,
    is_repaired: bool,
    size: &dyn Fn(u64) -> Option<u64>,
) -> Choices {
    let book = compaction.book;
    let all: Vec<u64> = node.sstables.iter().map(|sstable| sstable.id).collect();
    let group = node.held(&all, is_repaired);
    let class = node.table.option("class").to_owned();
    if class.ends_with("TimeWindowCompactionStrategy") {
        return time_windows(compaction, node, group, is_repaired, size);
    }
    let level = |id: u64| node.sstable(id).map_or(0, |it| it.level);
    let is_leveled = class.ends_with("LeveledCompactionStrategy");
    let lowest: Vec<u64> = group.iter().copied().filter(|id| level(*id) == 0).collect();
    if is_leveled && lowest.len() >= 2 && book.by(Rule::CassandraStrategyLevelZero) {
        return vec![lowest.into_iter().take(max_threshold(node)).collect()];
    }
    let is_tiered = class.ends_with("SizeTieredCompactionStrategy");
    if is_tiered && group.len() >= min_threshold(node) && book.by(Rule::CassandraStrategyTiers) {
        return vec![group.into_iter().take(max_threshold(node)).collect()];
    }
    let worthy: Vec<u64> = group.into_iter().filter(|id| is_worth(compaction, node, *id)).collect();
    if is_leveled {
        let ratio = |id: &u64| ratio(compaction, node, *id);
        let highest = worthy.iter().map(|id| level(*id)).max();
        let worthy: Vec<u64> =
            worthy.into_iter().filter(|id| Some(level(*id)) == highest).collect();
        let ratios = worthy.iter().map(ratio);
        let best = match book.by(Rule::CassandraStrategyHighest) {
            true => ratios.max_by(f64::total_cmp),
            false => ratios.min_by(f64::total_cmp),
        };
        return singles(worthy.into_iter().filter(|id| Some(ratio(id)) == best));
    }
    if is_tiered {
        let is_largest = book.by(Rule::CassandraStrategyLargest);
        return extreme(&worthy, size, is_largest);
    }
    Vec::new()
}

/// From how many sstables on a tier is compacted. All files are taken for small: less than 50 MiB.
fn min_threshold(node: &State) -> usize {
    node.table.number("min_threshold", 4.0) as usize
}

/// How many sstables are compacted at once at most.
fn max_threshold(node: &State) -> usize {
    node.table.number("max_threshold", 32.0) as usize
}

fn singles(ids: impl Iterator<Item = u64>) -> Choices {
    ids.map(|id| vec![id]).collect()
}

/// Those that may be the largest, or the smallest. One whose size is not known may be anything.
fn extreme(ids: &[u64], size: &dyn Fn(u64) -> Option<u64>, is_largest: bool) -> Choices {
    let sizes = || ids.iter().filter_map(|id| size(*id));
    let best = if is_largest { sizes().max() } else { sizes().min() };
    singles(ids.iter().copied().filter(|id| size(*id).is_none() || size(*id) == best))
}

fn ratio(compaction: &Compaction<'_>, node: &State, id: u64) -> f64 {
    let gc_before = compaction.now - node.table.gc_grace_seconds;
    node.sstable(id).map_or(0.0, |it| it.droppable(compaction.book, compaction.config, gc_before))
}

/// Is it worth to compact this sstable alone, for its tombstones?
pub fn is_worth(compaction: &Compaction<'_>, node: &State, id: u64) -> bool {
    let book = compaction.book;
    // The option is kept in 32 bits.
    let threshold = f64::from(node.table.number("tombstone_threshold", 0.2) as f32);
    if ratio(compaction, node, id) <= threshold && book.by(Rule::CassandraStrategyThreshold) {
        return false;
    }
    if node.table.option("unchecked_tombstone_compaction").eq_ignore_ascii_case("true")
        && book.by(Rule::CassandraStrategyUnchecked)
    {
        return true;
    }
    if compaction.overlapping(node, &[id]).is_empty() {
        return true;
    }
    let is_expired = !compaction.expired(node, &[id]).is_empty();
    is_expired || !book.by(Rule::CassandraStrategyOverlap)
}

/// TimeWindowCompactionStrategy: an old window of two sstables or more becomes one; expired ones go
/// along, wherever they are.
fn time_windows(
    compaction: &Compaction<'_>,
    node: &mut State,
    group: Vec<u64>,
    is_repaired: bool,
    size: &dyn Fn(u64) -> Option<u64>,
) -> Choices {
    if node.sstables.is_empty() {
        return Vec::new();
    }
    let book = compaction.book;
    let mut memory = node.memory[usize::from(is_repaired)].clone();
    let every = node.table.number("expired_sstable_check_frequency_seconds", 600.0) as i64;
    let mut expired = Vec::new();
    if memory.looked.is_none_or(|last| compaction.now.saturating_sub(last) > every)
        && book.by(Rule::CassandraStrategyExpired)
    {
        memory.looked = Some(compaction.now);
        expired = compaction.expired(node, &group);
    }
    let rest: Vec<u64> = group.into_iter().filter(|id| !expired.contains(id)).collect();
    let mut windows: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
    for id in &rest {
        windows.entry(window(node, *id)).or_default().push(*id);
    }
    let seen = windows.keys().next_back().copied().unwrap_or(0);
    memory.newest = match book.by(Rule::CassandraStrategyNewest) {
        true => memory.newest.max(seen),
        false => seen,
    };
    let is_old = |at: i64, ids: &Vec<u64>| match at < memory.newest {
        true => ids.len() >= 2,
        false => ids.len() >= min_threshold(node) && book.by(Rule::CassandraStrategyNewestWindow),
    };
    let mut old: Vec<&Vec<u64>> =
        windows.iter().rev().filter(|(at, ids)| is_old(**at, ids)).map(|(_, ids)| ids).collect();
    memory.remaining = old.len();
    if !old.is_empty() && !book.by(Rule::CassandraStrategyWindows) {
        old.clear();
    }
    let is_enabled = ["tombstone_threshold", "tombstone_compaction_interval"]
        .iter()
        .any(|option| !node.table.option(option).is_empty())
        || node.table.option("unchecked_tombstone_compaction").eq_ignore_ascii_case("true");
    let mut choices = match old.first() {
        Some(ids) => vec![smallest(node, ids, size)],
        None if is_enabled => {
            let worthy = rest.iter().copied().filter(|id| is_worth(compaction, node, *id));
            extreme(&worthy.collect::<Vec<_>>(), size, false)
        }
        None => Vec::new(),
    };
    node.memory[usize::from(is_repaired)] = memory;
    if choices.is_empty() && !expired.is_empty() {
        choices.push(Vec::new());
    }
    choices.iter_mut().for_each(|task| task.extend(&expired));
    choices
}

/// As many as are compacted at once, the smallest first where there are more.
fn smallest(node: &State, ids: &[u64], size: &dyn Fn(u64) -> Option<u64>) -> Vec<u64> {
    let mut ids = ids.to_vec();
    if ids.len() > max_threshold(node) {
        ids.sort_by_key(|id| (size(*id), *id));
        ids.truncate(max_threshold(node));
    }
    ids
}

/// The window of an sstable: that of its largest timestamp.
fn window(node: &State, id: u64) -> i64 {
    window_of(&node.table, node.sstable(id).map_or(0, Sstable::max_ts))
}

/// The window that a timestamp lies in, in seconds. Before 1970 it is rounded towards it.
pub fn window_of(table: &Table, ts: i64) -> i64 {
    let unit = match table.option("compaction_window_unit") {
        "MINUTES" => 60,
        "HOURS" => 3_600,
        _ => 86_400,
    };
    let width = unit * (table.number("compaction_window_size", 1.0) as i64).max(1);
    let seconds = ts / 1_000_000;
    seconds - seconds % width
}
