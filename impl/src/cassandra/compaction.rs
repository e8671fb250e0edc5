//! What do some of the sstables become?

use std::sync::Arc;

use ttlspec_model::cassandra::words::Shadow;

use super::combine::Combiner;
use super::grace::{Alone, Purge};
use super::key::Key;
use super::node::Node;
use super::run::{Part, Run};
use super::shadow;
use super::sink::Sink;
use super::sstable::{File, Sstable};

/// garbagecollect failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict;

/// Runs that are read side by side, by keys that ascend.
struct Beside<'a> {
    runs: Vec<&'a Run>,
    reached: Vec<usize>,
}

impl<'a> Beside<'a> {
    fn new(files: impl Iterator<Item = &'a Arc<File>>) -> Beside<'a> {
        let runs: Vec<&Run> = files.map(|file| &file.run).collect();
        Beside { reached: vec![0; runs.len()], runs }
    }

    /// The least key that has not been passed.
    fn next(&self) -> Option<Key> {
        let heads = self.runs.iter().zip(&self.reached);
        heads.filter(|(run, at)| **at < run.len()).map(|(run, at)| run.key(*at)).min()
    }

    /// Those that have a partition of this key: which, and the partition. It is passed.
    fn take(&mut self, key: Key, mut each: impl FnMut(usize, Part<'a>)) {
        for (which, (run, at)) in self.runs.iter().zip(&mut self.reached).enumerate() {
            *at = run.seek(*at, key);
            if *at < run.len() && run.key(*at) == key {
                each(which, run.part(*at));
                *at += 1;
            }
        }
    }
}

impl Node {
    /// May a compaction of these purge at all?
    fn may_purge(&self, inputs: &[u64]) -> bool {
        let is_repaired = |id: &u64| self.sstable(*id).is_some_and(Sstable::is_repaired);
        !self.purges_only_repaired() || inputs.iter().all(is_repaired)
    }

    /// The other sstables whose keys meet those of the inputs.
    fn overlapping(&self, inputs: &[u64]) -> Vec<&Sstable> {
        let meets = |other: &Sstable| self.among(inputs).any(|it| it.file.meets(&other.file));
        let others = self.sstables.iter().filter(|other| !inputs.contains(&other.id));
        others.filter(|other| meets(other)).collect()
    }

    /// The inputs that can be dropped unread: nothing that lives is as old as the youngest of them.
    pub(super) fn expired(&self, inputs: &[u64], now: i64) -> Vec<u64> {
        if !self.may_purge(inputs) {
            return Vec::new();
        }
        let gc_before = self.gc_before(now);
        let has_expired = |sstable: &&Sstable| sstable.file.has_expired(gc_before);
        let all = self.among(inputs).chain(self.overlapping(inputs));
        let living = all.filter(|sstable| !has_expired(sstable)).map(Sstable::min_ts);
        let memtable = self.memtable.min_ts(&self.setup.faults);
        // Where there is nothing else, only the largest timestamp of all is not below.
        let least = living.chain(memtable).min().unwrap_or(i64::MAX);
        let dropped = self.among(inputs).filter(has_expired);
        dropped.filter(|sstable| sstable.max_ts() < least).map(|sstable| sstable.id).collect()
    }

    /// One task: these become one sstable, or none.
    pub(super) fn task(&mut self, inputs: &[u64], shadow: Shadow, now: i64) {
        let expired = self.expired(inputs, now);
        let is_read = |id: &&u64| !expired.contains(id);
        let sources: Vec<&Sstable> =
            inputs.iter().filter(is_read).filter_map(|id| self.sstable(*id)).collect();
        let repaired_at = sources.iter().map(|source| source.repaired_at).min().unwrap_or(0);
        // One that is compacted alone keeps its level.
        let level = match inputs {
            [only] => self.sstable(*only).map_or(0, |sstable| sstable.level),
            _ => 0,
        };
        let output = self.compacted(inputs, &sources, shadow, now);
        self.sstables.retain(|sstable| !inputs.contains(&sstable.id));
        self.add(output, repaired_at, level);
    }

    fn compacted(
        &self,
        inputs: &[u64],
        sources: &[&Sstable],
        shadow: Shadow,
        now: i64,
    ) -> Option<File> {
        let may_purge = self.may_purge(inputs);
        let outside = self.overlapping(inputs);
        // A shadow is thrown by what may be newer than something that is compacted.
        let least = self.among(inputs).map(Sstable::min_ts).min();
        let throws = |other: &Sstable| may_purge && Some(other.max_ts()) > least;
        let has_shadow = shadow != Shadow::None && outside.iter().any(|other| throws(other));

        let mut output = Run::new(self.setup.clusterings.width());
        output.reserve(sources.iter().map(|source| &source.file.run));
        let purge = Purge { alone: Alone::Never, ..self.purge(now) };
        let writes_empty = self.setup.version.writes_empty_collections();
        let mut sink = Sink::file(&mut output, Some(purge), writes_empty);
        let mut combiner = Combiner::default();
        let mut inside = Beside::new(sources.iter().map(|source| &source.file));
        let mut beside = Beside::new(outside.iter().map(|other| &other.file));
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        let width = self.setup.clusterings.width();
        let (mut data, mut over) = (Run::new(width), Run::new(width));
        while let Some(key) = inside.next() {
            parts.clear();
            others.clear();
            inside.take(key, |_, part| parts.push(part));
            let mut bound: Option<i64> = None;
            beside.take(key, |which, part| {
                let min_ts = outside[which].min_ts();
                bound = Some(bound.map_or(min_ts, |bound| bound.min(min_ts)));
                if has_shadow && throws(outside[which]) {
                    others.push(part);
                }
            });
            if self.memtable.has(key) {
                bound = bound.into_iter().chain(self.memtable.min_ts(&self.setup.faults)).min();
            }
            let alone = match bound {
                _ if !may_purge => Alone::Never,
                Some(bound) => Alone::Before(bound),
                None => Alone::Always,
            };
            sink.purge = Some(Purge { alone, ..purge });
            if others.is_empty() {
                combiner.part(&parts, &mut sink);
                continue;
            }
            data.clear();
            over.clear();
            combiner.part(&parts, &mut Sink::new(&mut data, None));
            combiner.part(&others, &mut Sink::new(&mut over, None));
            shadow::skip(data.part(0), over.part(0), shadow, &mut sink);
        }
        let statistics = sink.close();
        File::of(output, statistics, self.setup.last_point())
    }

    // ---- what nodetool asks for ----------------------------------------------------------------------

    /// `nodetool compact --user-defined`: repaired and unrepaired ones apart.
    pub(super) fn compact(&mut self, ids: &[u64], unrepaired_first: bool, now: i64) {
        for is_repaired in [!unrepaired_first, unrepaired_first] {
            let is_held =
                |id: &u64| self.sstable(*id).is_some_and(|it| it.is_repaired() == is_repaired);
            let group: Vec<u64> = ids.iter().copied().filter(is_held).collect();
            if !group.is_empty() {
                self.task(&group, self.usual_shadow(), now);
            }
        }
    }

    /// `nodetool compact`.
    pub(super) fn major(&mut self, unrepaired_first: bool, now: i64) {
        if !self.table.option("class").ends_with("UnifiedCompactionStrategy") {
            let all: Vec<u64> = self.sstables.iter().map(|sstable| sstable.id).collect();
            self.compact(&all, unrepaired_first, now);
            if self.table.option("class").ends_with("LeveledCompactionStrategy") {
                self.sstables.iter_mut().for_each(|sstable| sstable.level = 1);
            }
            return;
        }
        for is_repaired in [!unrepaired_first, unrepaired_first] {
            for group in self.apart(self.held(is_repaired)) {
                self.task(&group, self.usual_shadow(), now);
            }
        }
    }

    /// Groups of sstables whose keys do not meet.
    fn apart(&self, mut ids: Vec<u64>) -> Vec<Vec<u64>> {
        let keys = |id: u64| self.sstable(id).map(|it| it.file.keys());
        ids.sort_by_key(|id| keys(*id));
        let mut groups: Vec<Vec<u64>> = Vec::new();
        let mut reached: Option<Key> = None;
        for id in ids {
            let Some((first, last)) = keys(id) else { continue };
            match groups.last_mut() {
                Some(group) if Some(first) <= reached => group.push(id),
                _ => groups.push(vec![id]),
            }
            reached = reached.max(Some(last));
        }
        groups
    }

    /// `nodetool garbagecollect`: each alone, the one with the smallest of the largest timestamps
    /// first.
    ///
    /// # Errors
    /// [`Conflict`] where the server fails; then nothing is done.
    pub(super) fn collect_garbage(&mut self, shadow: Shadow, now: i64) -> Result<(), Conflict> {
        let mut ids: Vec<u64> = self.sstables.iter().map(|sstable| sstable.id).collect();
        if self.purges_only_repaired() {
            if self.setup.faults.garbage && self.held(false).len() > 1 {
                return Err(Conflict);
            }
            ids = self.held(true);
        }
        ids.sort_by_key(|id| (self.sstable(*id).map(Sstable::max_ts), *id));
        for id in ids {
            self.task(&[id], shadow, now);
        }
        Ok(())
    }

    /// Is it worth to compact this sstable alone, for its tombstones?
    pub(super) fn is_worth(&self, sstable: &Sstable, now: i64) -> bool {
        let threshold = self.table.number("tombstone_threshold", 0.2) as f32;
        if self.droppable(sstable, now) <= f64::from(threshold) {
            return false;
        }
        let alone = [sstable.id];
        self.is_on("unchecked_tombstone_compaction")
            || self.overlapping(&alone).is_empty()
            || !self.expired(&alone, now).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use ttlspec_model::cassandra::words::{Failure, Query, Shadow, Statement};
    use ttlspec_model::cassandra::{Op, Reply};

    #[test]
    fn a_tombstone_stays_as_long_as_something_as_old_lies_elsewhere() {
        let mut node = Told::of(&config(&[]));
        node.flushed(0, vec![insert(1, 1, 5)]);
        node.flushed(1, vec![delete(1, 6)]);

        assert_eq!(node.at(10, Op::Compact(vec![2])), Reply::Made(vec![3]));
        assert_eq!(node.at(10, Op::Compact(vec![1, 3])), Reply::Made(vec![]));
        assert_eq!(node.sstables(10), [0; 0]);
    }

    #[test]
    fn what_has_expired_is_dropped_unread_unless_older_data_lies_in_the_memtable() {
        let mut node = Told::of(&config(&[]));
        node.flushed(0, vec![with_ttl(1, 1, 5, Some(1))]);
        node.at(0, Op::Write(vec![Statement { p: 2, ..insert(1, 1, 4) }]));

        assert_eq!(node.at(10, Op::Compact(vec![1])), Reply::Made(vec![]));
        node.at(10, Op::Truncate);
        node.flushed(10, vec![with_ttl(1, 1, 5, Some(1))]);
        node.at(10, Op::Write(vec![insert(1, 1, 4)]));
        assert_eq!(node.at(20, Op::Compact(vec![2])), Reply::Made(vec![3]));
    }

    #[test]
    fn repaired_and_unrepaired_stay_apart() {
        let mut node = Told::of(&config(&[]));
        for c in 1..=4 {
            node.flushed(0, vec![insert(c, 1, 5)]);
        }
        for (sstable, at_ms) in [(1, 9), (3, 7)] {
            node.at(0, Op::SetRepaired { sstable, at_ms });
        }

        let made = node.at(0, Op::Major { unrepaired_first: false });

        assert_eq!(made, Reply::Made(vec![5, 6]));
        let Reply::Stats(stats) = node.at(0, Op::Stats) else { panic!("no statistics") };
        assert_eq!(stats.iter().map(|(_, it)| it.repaired_at).collect::<Vec<_>>(), [7, 0]);
    }

    #[test]
    fn with_unified_compaction_keys_that_do_not_meet_stay_apart() {
        let mut node = Told::of(&config(&[("class", "UnifiedCompactionStrategy")]));
        for p in [1, 1, 3] {
            node.flushed(0, vec![Statement { p, ..insert(1, p, 5) }]);
        }

        assert_eq!(node.at(0, Op::Major { unrepaired_first: false }), Reply::Made(vec![4, 5]));
    }

    #[test]
    fn garbagecollect_fails_beside_two_unrepaired_ones_where_only_repaired_are_purged() {
        let mut node = Told::of(&config(&[("only_purge_repaired_tombstones", "true")]));
        node.flushed(0, vec![insert(1, 1, 5)]);
        assert_eq!(node.at(0, Op::GarbageCollect(Shadow::Row)), Reply::Made(vec![]));
        node.flushed(0, vec![insert(2, 1, 5)]);

        let failed = node.at(0, Op::GarbageCollect(Shadow::Row));

        assert_eq!(failed, Reply::Failed(Failure::ConcurrentModification));
        assert_eq!(node.select(0, Query::default()).rows.len(), 2);
    }
}
