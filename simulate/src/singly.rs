//! Which documents does a visit find, one by one?
//!
//! Every document is held, in an ordered list for each index. That is slow and plainly right; what
//! [`counted`](crate::counted) counts is held against it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ages::Ages;
use crate::arrival::Class;
use crate::script::Collection;
use crate::store::Store;

/// A document that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coming {
    /// When.
    pub at_ms: i64,
    /// Which stream of the collection brings it.
    pub stream: usize,
    /// Which of the stream it is.
    pub k: u64,
    /// Its date.
    pub date_ms: i64,
    /// The indexes that hold it, one bit each.
    pub indexes: u64,
}

/// All documents of a collection, in the order in which they come, but for those that come while
/// nobody takes writes.
pub fn coming(collection: &Collection, refused: &[(i64, i64)]) -> Vec<Coming> {
    let shares: Vec<(u32, u32)> = collection.indexes.iter().map(|index| index.share).collect();
    let classes = Class::cut(&shares);
    let mut all = Vec::new();
    for (at, stream) in collection.streams.iter().enumerate() {
        for k in 0..stream.shape.documents() {
            let at_ms = stream.shape.arrival(k);
            if refused.iter().any(|(from, to)| (*from..*to).contains(&at_ms)) {
                continue;
            }
            let jitter_ms = stream.jitter.map_or(0, |jitter| jitter.of(k));
            let date_ms = stream.shape.date(k) + jitter_ms;
            let class = classes.iter().find(|class| class.has(k)).expect("classes cover all");
            all.push(Coming { at_ms, stream: at, k, date_ms, indexes: class.indexes });
        }
    }
    all.sort_unstable();
    all
}

pub(crate) struct Singly {
    coming: Vec<Coming>,
    /// How many have come.
    come: usize,
    /// What each index holds: dates with records.
    held: Vec<BTreeSet<(i64, u64)>>,
    /// What is there: the indexes of each record.
    records: BTreeMap<u64, (i64, u64)>,
    visit: Option<(usize, i64)>,
    behind: Option<(i64, u64)>,
    staged: Vec<(i64, u64)>,
}

impl Singly {
    pub(crate) fn new(collection: &Collection, refused: &[(i64, i64)]) -> Singly {
        Singly {
            coming: coming(collection, refused),
            come: 0,
            held: vec![BTreeSet::new(); collection.indexes.len()],
            records: BTreeMap::new(),
            visit: None,
            behind: None,
            staged: Vec::new(),
        }
    }

    fn let_come(&mut self, now_ms: i64) {
        while let Some(next) = self.coming.get(self.come).filter(|next| next.at_ms <= now_ms) {
            let record = self.come as u64;
            self.records.insert(record, (next.date_ms, next.indexes));
            for (at, held) in self.held.iter_mut().enumerate() {
                if next.indexes >> at & 1 == 1 {
                    held.insert((next.date_ms, record));
                }
            }
            self.come += 1;
        }
    }

    fn delete(&mut self, record: u64) {
        if let Some((date_ms, indexes)) = self.records.remove(&record) {
            for (at, held) in self.held.iter_mut().enumerate() {
                if indexes >> at & 1 == 1 {
                    held.remove(&(date_ms, record));
                }
            }
        }
    }
}

impl Store for Singly {
    fn begin(&mut self, index: usize, upto_ms: i64) {
        self.visit = Some((index, upto_ms));
        self.behind = None;
    }

    fn stage(&mut self, most: u64, now_ms: i64) -> u64 {
        self.let_come(now_ms);
        let (index, upto_ms) = self.visit.expect("a visit has begun");
        let from = self.behind.map_or((i64::MIN, 0), |(date_ms, record)| (date_ms, record + 1));
        if from > (upto_ms, u64::MAX) {
            return 0;
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.staged.extend(self.held[index].range(from..=(upto_ms, u64::MAX)).take(most));
        self.behind = self.staged.last().copied().or(self.behind);
        self.staged.len() as u64
    }

    fn commit(&mut self, lifetime_ms: i64, now_ms: i64, ages: &mut Ages) {
        for (date_ms, record) in std::mem::take(&mut self.staged) {
            self.delete(record);
            ages.add(now_ms.saturating_sub(date_ms.saturating_add(lifetime_ms)), 1);
        }
    }

    fn unstage(&mut self) {
        self.staged.clear();
    }

    fn there(&mut self, index: usize, upto_ms: i64, now_ms: i64) -> u64 {
        self.let_come(now_ms);
        self.held[index].range(..=(upto_ms, u64::MAX)).count() as u64
    }

    fn rest(&mut self, now_ms: i64) -> u64 {
        self.let_come(now_ms);
        self.records.len() as u64
    }

    fn drop_before(&mut self, date_ms: i64, keep_ms: i64, now_ms: i64, ages: &mut Ages) -> u64 {
        self.let_come(now_ms);
        let old = |(_, (date, _)): &(&u64, &(i64, u64))| *date < date_ms;
        let doomed: Vec<(u64, i64)> =
            self.records.iter().filter(old).map(|(record, (date, _))| (*record, *date)).collect();
        for (record, date) in &doomed {
            self.delete(*record);
            ages.add(now_ms - date - keep_ms, 1);
        }
        doomed.len() as u64
    }
}
