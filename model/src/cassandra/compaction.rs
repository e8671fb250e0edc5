#![doc = include_str!("../../../specs/cassandra/10-compaction.md")]
//! ---
//! *Module:* what do some of the sstables become?

use std::collections::BTreeSet;

use super::data::{Key, Partition, Partitions};
use super::garbage;
use super::machine::State;
use super::memtable::without_hollow;
use super::purge::Purge;
use super::row;
use super::sstable::Sstable;
use super::words::{Config, Shadow};
use crate::book::Book;
use crate::ruling::Rule;

/// One compaction on one node.
pub struct Compaction<'a> {
    /// The book.
    pub book: &'a Book,
    /// How the node is set up.
    pub config: &'a Config,
    /// The second in which it is done.
    pub now: i64,
}

impl Compaction<'_> {
    fn gc_before(&self, node: &State) -> i64 {
        self.now - node.table.gc_grace_seconds
    }

    /// May a compaction of these purge at all? With only_purge_repaired_tombstones, all of them must
    /// be repaired.
    fn purges(&self, node: &State, inputs: &[u64]) -> bool {
        let is_unrepaired = |id: &u64| !node.sstable(*id).is_some_and(Sstable::is_repaired);
        !(node.only_repaired()
            && inputs.iter().any(is_unrepaired)
            && self.book.by(Rule::CassandraPurgeOnlyRepaired))
    }

    /// The sstables that are not compacted and whose keys meet those that are.
    pub fn overlapping<'a>(&self, node: &'a State, inputs: &[u64]) -> Vec<&'a Sstable> {
        if !self.book.by(Rule::CassandraPurgeOverlap) {
            return Vec::new();
        }
        let members: Vec<&Sstable> = inputs.iter().filter_map(|id| node.sstable(*id)).collect();
        let is_outside = |other: &&Sstable| !inputs.contains(&other.id);
        let meets = |other: &&Sstable| members.iter().any(|member| member.meets(other));
        let others = node
            .sstables
            .iter()
            .filter(is_outside)
            .filter(|other| meets(other) || !self.book.by(Rule::CassandraPurgeIntersecting));
        let is_same_holder = |other: &&Sstable| {
            members.iter().all(|member| member.is_repaired() == other.is_repaired())
        };
        others
            .filter(|other| is_same_holder(other) || self.book.by(Rule::CassandraPurgeOtherHolder))
            .collect()
    }

    /// Those of the inputs that can be dropped without being read: all in them has expired, and
    /// nothing older than what they hold is anywhere.
    pub fn expired(&self, node: &State, inputs: &[u64]) -> Vec<u64> {
        if !self.purges(node, inputs) || !self.book.by(Rule::CassandraCompactionDrop) {
            return Vec::new();
        }
        let gc_before = self.gc_before(node);
        let is_expired = |sstable: &Sstable| sstable.max_ldt().is_some_and(|ldt| ldt < gc_before);
        let members: Vec<&Sstable> = inputs.iter().filter_map(|id| node.sstable(*id)).collect();
        let outside = self.overlapping(node, inputs);
        let living = members.iter().copied().chain(outside).filter(|sstable| {
            !is_expired(sstable) || !self.book.by(Rule::CassandraCompactionDropExpiredOutside)
        });
        // An expired member itself never stands in its own way.
        let living = living.filter(|it| !(is_expired(it) && inputs.contains(&it.id)));
        let mut least = living.map(Sstable::min_ts).min();
        if !node.memtable.is_empty() && self.book.by(Rule::CassandraCompactionDropMemtable) {
            least = least.into_iter().chain(node.memtable.smallest_timestamp(self.book)).min();
        }
        let is_older = |sstable: &&Sstable| match least {
            None if sstable.max_ts() == i64::MAX => {
                !self.book.by(Rule::CassandraCompactionDropLargest)
            }
            None => true,
            Some(least) if sstable.max_ts() == least => {
                !self.book.by(Rule::CassandraCompactionDropStrict)
            }
            Some(least) => {
                sstable.max_ts() < least || !self.book.by(Rule::CassandraCompactionDropBlocked)
            }
        };
        let dropped = members.into_iter().filter(|it| is_expired(it)).filter(is_older);
        dropped.map(|sstable| sstable.id).collect()
    }

    /// One task: these become one sstable, or none.
    pub fn task(&self, node: &mut State, inputs: &[u64], shadow: Shadow) -> Option<u64> {
        let expired = self.expired(node, inputs);
        let rest = inputs.iter().filter(|id| !expired.contains(id));
        let sources: Vec<&Sstable> = rest.filter_map(|id| node.sstable(*id)).collect();
        let output = self.merged(node, inputs, &sources, shadow);
        let repaired = sources.iter().map(|source| source.repaired_at);
        let repaired_at = match self.book.by(Rule::CassandraCompactionRepairedAt) {
            true => repaired.min(),
            false => repaired.max(),
        };
        // One that is compacted alone keeps its level.
        let level = match inputs {
            [only] => node.sstable(*only).map_or(0, |it| it.level),
            _ => 0,
        };
        node.sstables.retain(|sstable| !inputs.contains(&sstable.id));
        let made = node.add(self.book, self.config, output, repaired_at.unwrap_or(0));
        if made.is_some() {
            node.sstables.last_mut().into_iter().for_each(|it| it.level = level);
        }
        made
    }

    fn merged(
        &self,
        node: &State,
        inputs: &[u64],
        sources: &[&Sstable],
        shadow: Shadow,
    ) -> Partitions {
        let (book, purges) = (self.book, self.purges(node, inputs));
        let outside = self.overlapping(node, inputs);
        let least = inputs.iter().filter_map(|id| node.sstable(*id)).map(Sstable::min_ts).min();
        let keys: BTreeSet<Key> =
            sources.iter().flat_map(|source| source.partitions.keys().copied()).collect();
        let mut output = Partitions::new();
        for key in keys {
            let bound = self.bound(node, &outside, key);
            let is_alone = |ts: i64| {
                purges
                    && match bound {
                        Some(bound) if ts == bound => !book.by(Rule::CassandraPurgeStrict),
                        Some(bound) => ts < bound,
                        None if ts == i64::MAX => book.by(Rule::CassandraPurgeLargest),
                        None => true,
                    }
            };
            let purge = Purge {
                book,
                now: self.now,
                gc_before: self.gc_before(node),
                oldest_unrepaired: None,
                is_alone: &is_alone,
                is_strict: false,
            };
            let parts: Vec<&Partition> =
                sources.iter().filter_map(|source| source.partitions.get(&key)).collect();
            let mut merged = match book.by(Rule::CassandraPurgeMergeFirst) {
                true => row::merge(book, &parts),
                false => {
                    let purged: Vec<Partition> =
                        parts.iter().map(|part| purge.partition(part)).collect();
                    row::merge(book, &purged.iter().collect::<Vec<_>>())
                }
            };
            if shadow != Shadow::None && purges {
                let others: Vec<&Partition> = outside
                    .iter()
                    .filter(|other| {
                        Some(other.max_ts()) > least || !book.by(Rule::CassandraGarbageNewer)
                    })
                    .filter_map(|other| other.partitions.get(&key))
                    .collect();
                if !others.is_empty() {
                    merged = garbage::skip(book, &merged, &row::merge(book, &others), shadow);
                }
            }
            let purged = purge.partition(&merged);
            if !purged.is_empty() {
                output.insert(key, purged);
            }
        }
        output
    }

    /// The smallest timestamp that something outside may hold under this key.
    fn bound(&self, node: &State, outside: &[&Sstable], key: Key) -> Option<i64> {
        let book = self.book;
        let may_hold = |sstable: &&&Sstable| {
            sstable.partitions.contains_key(&key) || !book.by(Rule::CassandraPurgeKey)
        };
        let held = outside.iter().filter(may_hold).map(|sstable| {
            match book.by(Rule::CassandraPurgeWholeMinimum) {
                true => sstable.min_ts(),
                false => sstable
                    .partitions
                    .get(&key)
                    .and_then(|partition| super::sstable::Stats::of(book, partition).min_ts)
                    .unwrap_or(i64::MAX),
            }
        });
        let has_key = node.memtable.partitions.contains_key(&key);
        let in_memtable = (has_key && book.by(Rule::CassandraPurgeMemtable))
            .then(|| node.memtable.smallest_timestamp(book))
            .flatten();
        held.chain(in_memtable).min()
    }

    // ---- what nodetool asks for ----------------------------------------------------------------------

    /// `nodetool compact --user-defined`: one task for the repaired, then one for the unrepaired.
    pub fn user_defined(&self, node: &mut State, ids: &[u64], unrepaired_first: bool) {
        if !self.book.by(Rule::CassandraCompactionHolders) {
            self.task(node, ids, node.usual_shadow());
            return;
        }
        for is_repaired in [!unrepaired_first, unrepaired_first] {
            let group = node.held(ids, is_repaired);
            if !group.is_empty() {
                self.task(node, &group, node.usual_shadow());
            }
        }
    }

    /// `nodetool compact`: all, each holder by itself.
    pub fn major(&self, node: &mut State, unrepaired_first: bool) {
        let all: Vec<u64> = node.sstables.iter().map(|sstable| sstable.id).collect();
        let is_unified = node.table.option("class").ends_with("UnifiedCompactionStrategy");
        if !is_unified || !self.book.by(Rule::CassandraCompactionUnified) {
            self.user_defined(node, &all, unrepaired_first);
            if node.table.option("class").ends_with("LeveledCompactionStrategy") {
                node.sstables.iter_mut().for_each(|it| it.level = 1);
            }
            return;
        }
        for is_repaired in [!unrepaired_first, unrepaired_first] {
            for group in self.apart(node, node.held(&all, is_repaired)) {
                self.task(node, &group, node.usual_shadow());
            }
        }
    }

    /// Groups of sstables whose keys do not meet.
    fn apart(&self, node: &State, mut ids: Vec<u64>) -> Vec<Vec<u64>> {
        let keys = |id: u64| node.sstable(id).map(|it| (it.first(), it.last()));
        ids.sort_by_key(|id| keys(*id));
        let mut groups: Vec<Vec<u64>> = Vec::new();
        let mut end: Option<Key> = None;
        for id in ids {
            let Some((first, last)) = keys(id) else { continue };
            match groups.last_mut() {
                Some(group) if first <= end => group.push(id),
                _ => groups.push(vec![id]),
            }
            end = end.max(last);
        }
        groups
    }

    /// `nodetool garbagecollect`: each alone, those with the oldest data first. `None` where the
    /// server fails.
    pub fn garbage_collect(&self, node: &mut State, shadow: Shadow) -> Option<()> {
        let mut ids: Vec<u64> = node.sstables.iter().map(|sstable| sstable.id).collect();
        if node.only_repaired() && self.book.by(Rule::CassandraGarbageOnlyRepaired) {
            let unrepaired = node.held(&ids, false).len();
            if unrepaired > 1 && self.book.by(Rule::CassandraFaultGarbage) {
                return None;
            }
            ids = node.held(&ids, true);
        }
        ids.sort_by_key(|id| (node.sstable(*id).map(Sstable::max_ts), *id));
        if !self.book.by(Rule::CassandraGarbageOldest) {
            ids.reverse();
        }
        for id in ids {
            self.task(node, &[id], shadow);
        }
        Some(())
    }
}

impl State {
    /// The sstable with this number.
    pub fn sstable(&self, id: u64) -> Option<&Sstable> {
        self.sstables.iter().find(|sstable| sstable.id == id)
    }

    /// Those of `ids` that are repaired, or those that are not.
    pub fn held(&self, ids: &[u64], is_repaired: bool) -> Vec<u64> {
        let is_held =
            |id: &u64| self.sstable(*id).is_some_and(|it| it.is_repaired() == is_repaired);
        ids.iter().copied().filter(is_held).collect()
    }

    /// Is only_purge_repaired_tombstones set?
    pub fn only_repaired(&self) -> bool {
        self.table.option("only_purge_repaired_tombstones").eq_ignore_ascii_case("true")
    }

    /// What provide_overlapping_tombstones asks of every compaction.
    pub fn usual_shadow(&self) -> Shadow {
        match self.table.option("provide_overlapping_tombstones").to_lowercase().as_str() {
            "row" => Shadow::Row,
            "cell" => Shadow::Cell,
            _ => Shadow::None,
        }
    }

    /// Adds an sstable with this in it, if anything is.
    pub fn add(
        &mut self,
        book: &Book,
        config: &Config,
        mut partitions: Partitions,
        repaired_at: i64,
    ) -> Option<u64> {
        if partitions.is_empty() {
            return None;
        }
        let id = self.next;
        self.next += 1;
        // Empty rows are counted before they are gone.
        let mut sstable = Sstable::new(book, id, partitions.clone(), repaired_at);
        without_hollow(book, &mut partitions, config.version.writes_empty_collections());
        sstable.partitions = partitions;
        self.sstables.push(sstable);
        Some(id)
    }
}
