//! What does a node hold?

use std::sync::Arc;

use ttlspec_model::Unsupported;
use ttlspec_model::cassandra::Config;
use ttlspec_model::cassandra::words::{Shadow, Table};

use super::combine::Combiner;
use super::grace::{Alone, Purge};
use super::memtable::Memtable;
use super::run::Run;
use super::setup::Setup;
use super::sink::Sink;
use super::sstable::{File, Sstable};
use super::strategy::Memory;

/// A node with one table.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What does not change.
    pub setup: Setup,
    /// The table as it is now.
    pub table: Table,
    /// What is not in an sstable.
    pub memtable: Memtable,
    /// The sstables in the order in which they came.
    pub sstables: Vec<Sstable>,
    /// The number of the next one.
    pub next: u64,
    /// What was written to the view.
    pub view: Memtable,
    /// What the last snapshot kept.
    pub snapshot: Vec<Sstable>,
    /// What the strategies of the unrepaired and of the repaired sstables remember.
    pub memory: [Memory; 2],
}

impl Node {
    /// A node before anything was done.
    ///
    /// # Errors
    /// [`Unsupported`] where it is set up as no node can be here.
    pub fn new(config: &Config) -> Result<Node, Unsupported> {
        Ok(Node {
            setup: Setup::of(config)?,
            table: config.table.clone(),
            memtable: Memtable::default(),
            sstables: Vec::new(),
            next: 1,
            view: Memtable::default(),
            snapshot: Vec::new(),
            memory: Default::default(),
        })
    }

    /// The sstable with this number.
    pub fn sstable(&self, id: u64) -> Option<&Sstable> {
        self.sstables.iter().find(|sstable| sstable.id == id)
    }

    /// Those of these numbers that are there.
    pub fn among<'a>(&'a self, ids: &'a [u64]) -> impl Iterator<Item = &'a Sstable> + Clone {
        ids.iter().filter_map(|id| self.sstable(*id))
    }

    /// The numbers of the repaired sstables, or of the others.
    pub fn held(&self, is_repaired: bool) -> Vec<u64> {
        let held = self.sstables.iter().filter(|sstable| sstable.is_repaired() == is_repaired);
        held.map(|sstable| sstable.id).collect()
    }

    /// Adds an sstable of a level, where there is anything in it.
    pub fn add(&mut self, file: Option<File>, repaired_at: i64, level: u8) {
        let Some(file) = file else { return };
        self.sstables.push(Sstable { id: self.next, repaired_at, level, file: Arc::new(file) });
        self.next += 1;
    }

    /// What was deleted before this second may go.
    pub fn gc_before(&self, now: i64) -> i64 {
        now.saturating_sub(self.table.gc_grace_seconds)
    }

    /// What may go where nothing stands in its way.
    pub fn purge(&self, now: i64) -> Purge {
        Purge {
            now,
            gc_before: self.gc_before(now),
            oldest_unrepaired: i64::MAX,
            alone: Alone::Always,
            is_strict: false,
            makes_tombstones: self.setup.faults.vanish,
        }
    }

    /// Is an option of compaction switched on?
    pub fn is_on(&self, option: &str) -> bool {
        self.table.option(option).eq_ignore_ascii_case("true")
    }

    /// Are tombstones of repaired sstables purged only?
    pub fn purges_only_repaired(&self) -> bool {
        self.is_on("only_purge_repaired_tombstones")
    }

    /// How much of what is shadowed elsewhere does every compaction remove?
    pub fn usual_shadow(&self) -> Shadow {
        let option = self.table.option("provide_overlapping_tombstones");
        let is = |name: &str| option.to_lowercase() == name;
        match () {
            () if is("row") => Shadow::Row,
            () if is("cell") => Shadow::Cell,
            () => Shadow::None,
        }
    }

    /// Writes the memtable to an sstable.
    pub fn flush(&mut self) {
        let mut memtable = std::mem::take(&mut self.memtable);
        memtable.look_at_all();
        let mut run = Run::new(self.setup.clusterings.width());
        let parts = || memtable.keys().filter_map(|key| memtable.part(key));
        let runs: Vec<&Run> = parts().map(|part| part.run).collect();
        run.reserve(runs.iter().copied());
        let writes_empty = self.setup.version.writes_empty_collections();
        let mut sink = Sink::file(&mut run, None, writes_empty);
        let mut combiner = Combiner::default();
        parts().for_each(|part| combiner.part(&[part], &mut sink));
        let statistics = sink.close();
        self.add(File::of(run, statistics, self.setup.last_point()), 0, 0);
    }

    /// Takes in the sstables of the last snapshot once more.
    pub fn refresh(&mut self) {
        let writes_empty = self.setup.version.writes_empty_collections();
        for kept in self.snapshot.clone() {
            let again = kept.file.again(writes_empty, self.setup.last_point());
            self.add(again, kept.repaired_at, 0);
        }
    }

    /// Numbers those that came since `from` once more: what was made and is gone has no number.
    pub fn number_from(&mut self, from: u64) {
        self.next = from;
        for sstable in self.sstables.iter_mut().filter(|sstable| sstable.id >= from) {
            sstable.id = self.next;
            self.next += 1;
        }
    }
}
