//! Which sstables does a strategy take by itself?

use std::collections::BTreeMap;

use super::node::Node;
use super::sstable::Sstable;

/// What TimeWindowCompactionStrategy remembers of the repaired sstables, or of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// When it looked for expired sstables last.
    looked: Option<i64>,
    /// The newest window that it has ever seen, in seconds.
    newest: i64,
    /// How many windows it had to merge when it was asked last.
    remaining: usize,
}

/// How the next one is chosen of several that would do. The sizes of files decide, which nothing
/// here knows; so how much there is in them does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pick {
    Largest,
    Smallest,
}

impl Pick {
    fn of<'a>(self, sstables: impl Iterator<Item = &'a Sstable>) -> Option<u64> {
        let bulk = |sstable: &&Sstable| sstable.file.bulk();
        let picked = match self {
            Pick::Largest => sstables.max_by_key(bulk),
            Pick::Smallest => sstables.min_by_key(bulk),
        };
        picked.map(|sstable| sstable.id)
    }
}

impl Node {
    /// Does what the strategy asks for, at most so many tasks.
    pub(super) fn background(&mut self, most: u64, now: i64) {
        for _ in 0..most {
            let Some(task) = self.next_task(now) else { return };
            self.task(&task, self.usual_shadow(), now);
        }
    }

    fn next_task(&mut self, now: i64) -> Option<Vec<u64>> {
        // Those with more to do are asked first; of equals the repaired ones.
        let [unrepaired, repaired] = &self.memory;
        let first = unrepaired.remaining <= repaired.remaining;
        self.task_of(first, now).or_else(|| self.task_of(!first, now))
    }

    fn task_of(&mut self, is_repaired: bool, now: i64) -> Option<Vec<u64>> {
        let class = self.table.option("class");
        if class.ends_with("TimeWindowCompactionStrategy") {
            return self.window_task(is_repaired, now);
        }
        let mut group = self.held(is_repaired);
        if class.ends_with("LeveledCompactionStrategy") {
            return self.leveled_task(&group, now);
        }
        if !class.ends_with("SizeTieredCompactionStrategy") {
            return None;
        }
        // All files are taken for small, and so for one tier.
        if group.len() >= self.min_threshold() {
            group.truncate(self.max_threshold());
            return Some(group);
        }
        let worthy = self.among(&group).filter(|sstable| self.is_worth(sstable, now));
        Pick::Largest.of(worthy).map(|id| vec![id])
    }

    /// All of level 0 become one; or the one whose tombstones are most, of the highest level.
    fn leveled_task(&self, group: &[u64], now: i64) -> Option<Vec<u64>> {
        let lowest = self.among(group).filter(|sstable| sstable.level == 0);
        let mut lowest: Vec<u64> = lowest.map(|sstable| sstable.id).collect();
        if lowest.len() > 1 {
            lowest.truncate(self.max_threshold());
            return Some(lowest);
        }
        let worthy = self.among(group).filter(|sstable| self.is_worth(sstable, now));
        let best = worthy.max_by(|one, two| {
            let by_level = one.level.cmp(&two.level);
            let ratios = || self.droppable(one, now).total_cmp(&self.droppable(two, now));
            by_level.then_with(ratios)
        });
        best.map(|sstable| vec![sstable.id])
    }

    /// From how many sstables on a tier is compacted.
    fn min_threshold(&self) -> usize {
        self.table.number("min_threshold", 4.0) as usize
    }

    /// How many sstables are compacted at once at most.
    fn max_threshold(&self) -> usize {
        self.table.number("max_threshold", 32.0) as usize
    }

    /// The estimated droppable tombstone ratio.
    pub(super) fn droppable(&self, sstable: &Sstable, now: i64) -> f64 {
        let gc_before = self.gc_before(now);
        let is_blind = self.setup.faults.ratio_zero
            && self.setup.format == ttlspec_model::cassandra::words::Format::Oa
            && gc_before > i64::from(i32::MAX);
        if is_blind { 0.0 } else { sstable.file.histogram.droppable(gc_before) }
    }

    /// An old window of two sstables or more becomes one, the newest one once it is a tier; expired
    /// ones go along.
    fn window_task(&mut self, is_repaired: bool, now: i64) -> Option<Vec<u64>> {
        if self.sstables.is_empty() {
            return None;
        }
        let group = self.held(is_repaired);
        let Memory { mut looked, mut newest, .. } = self.memory[usize::from(is_repaired)];
        let every = self.table.number("expired_sstable_check_frequency_seconds", 600.0) as i64;
        let mut expired = Vec::new();
        if looked.is_none_or(|last| now.saturating_sub(last) > every) {
            looked = Some(now);
            expired = self.expired(&group, now);
        }
        let rest: Vec<u64> = group.into_iter().filter(|id| !expired.contains(id)).collect();
        let mut windows: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
        for sstable in self.among(&rest) {
            windows.entry(self.window(sstable.max_ts())).or_default().push(sstable.id);
        }
        let last = windows.last_key_value().map_or(0, |(window, _)| *window);
        newest = newest.max(last);
        let enough = |at: i64| if at < newest { 2 } else { self.min_threshold() };
        let mut old = windows.into_iter().rev().filter(|(at, ids)| ids.len() >= enough(*at));
        let next = old.next().map(|(_, ids)| ids);
        let remaining = old.count() + usize::from(next.is_some());
        let next = next.map(|mut ids| {
            if ids.len() > self.max_threshold() {
                ids.sort_by_key(|id| (self.sstable(*id).map(|it| it.file.bulk()), *id));
                ids.truncate(self.max_threshold());
            }
            ids
        });
        self.memory[usize::from(is_repaired)] = Memory { looked, newest, remaining };

        let next = next.or_else(|| {
            let worthy = self.among(&rest).filter(|sstable| self.is_worth(sstable, now));
            let picked =
                if self.has_tombstone_options() { Pick::Smallest.of(worthy) } else { None };
            picked.map(|id| vec![id])
        });
        let nothing = next.is_none() && expired.is_empty();
        (!nothing).then(|| next.into_iter().flatten().chain(expired).collect())
    }

    /// With this strategy, tombstones alone are no reason unless an option is given.
    fn has_tombstone_options(&self) -> bool {
        let is_given = |option: &str| !self.table.option(option).is_empty();
        is_given("tombstone_threshold")
            || is_given("tombstone_compaction_interval")
            || self.is_on("unchecked_tombstone_compaction")
    }

    /// The window of a timestamp, in seconds. Before 1970 it ends where others begin.
    fn window(&self, ts: i64) -> i64 {
        let unit = match self.table.option("compaction_window_unit") {
            "MINUTES" => 60,
            "HOURS" => 3_600,
            _ => 86_400,
        };
        let units = (self.table.number("compaction_window_size", 1.0) as i64).max(1);
        let seconds = ts / 1_000_000;
        seconds - seconds % units.saturating_mul(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use ttlspec_model::cassandra::{Op, Reply};

    #[test]
    fn four_small_ones_are_a_tier() {
        let mut node = Told::of(&config(&[("class", "SizeTieredCompactionStrategy")]));
        for c in 1..=3 {
            node.flushed(0, vec![insert(c, 1, 5)]);
        }
        assert_eq!(node.at(0, Op::Background(9)), Reply::Made(vec![]));
        node.flushed(0, vec![insert(4, 1, 5)]);

        assert_eq!(node.at(0, Op::Background(9)), Reply::Made(vec![5]));
        assert_eq!(node.sstables(0), [5]);
    }

    #[test]
    fn one_with_many_tombstones_is_compacted_alone() {
        let mut node = Told::of(&config(&[("class", "SizeTieredCompactionStrategy")]));
        node.flushed(0, vec![delete(1, 5), insert(2, 1, 5)]);

        assert_eq!(node.at(0, Op::Background(1)), Reply::Made(vec![]));
        assert_eq!(node.at(100, Op::Background(1)), Reply::Made(vec![2]));
    }

    #[test]
    fn level_0_becomes_one_and_a_level_is_kept() {
        let mut node = Told::of(&config(&[("class", "LeveledCompactionStrategy")]));
        node.flushed(0, vec![insert(1, 1, 5)]);
        node.at(0, Op::Major { unrepaired_first: false });
        node.flushed(0, vec![insert(2, 1, 5)]);

        assert_eq!(node.at(0, Op::Background(9)), Reply::Made(vec![]));
        node.flushed(0, vec![insert(3, 1, 5)]);
        assert_eq!(node.at(0, Op::Background(9)), Reply::Made(vec![5]));
        assert_eq!(node.sstables(0), [2, 5]);
    }

    #[test]
    fn an_old_window_becomes_one() {
        let mut node = Told::of(&config(&[
            ("class", "TimeWindowCompactionStrategy"),
            ("compaction_window_unit", "MINUTES"),
        ]));
        let minute = 60_000_000;
        for (c, ts) in [(1, 1), (2, 2), (3, minute), (4, minute + 1)] {
            node.flushed(0, vec![insert(c, 1, ts)]);
        }

        assert_eq!(node.at(0, Op::Background(9)), Reply::Made(vec![5]));
        assert_eq!(node.sstables(0), [3, 4, 5]);
    }
}
