//! What was done, in the words of the system, where the recording leaves a choice?
//!
//! Two things are not in a recording: which of two tasks of a major compaction came first, and which
//! of several sstables a strategy took where it hangs on sizes of files. Both are tried on the
//! specification, and the way that leaves what was seen is taken. What had to be chosen is counted
//! as given.

use std::collections::BTreeMap;

use serde_json::Value;
use ttlspec_model::cassandra::State;
use ttlspec_model::cassandra::compaction::Compaction;
use ttlspec_model::cassandra::strategy::{self, Memory};
use ttlspec_model::cassandra::{Cassandra, Op};
use ttlspec_model::{Millis, Spec, book::Book};

use super::read::{History, Recorded, What, statements};
use crate::notation::cassandra::as_recorded;

/// A history in the words of the system.
pub struct Resolved {
    /// One operation a step; none where it is only looked.
    pub ops: Vec<Option<Op>>,
    /// How many choices were taken from the recording.
    pub given: u64,
    /// Did no way lead to what was seen of a strategy?
    is_lost: bool,
}

/// Plays a history on the specification, to find what was done.
pub struct Resolver<'a> {
    history: &'a History,
    state: State,
    /// What the strategy may remember.
    memories: Vec<[Memory; 2]>,
    /// The sizes of files that were seen.
    sizes: BTreeMap<u64, u64>,
    given: u64,
    is_lost: bool,
}

impl<'a> Resolver<'a> {
    fn new(history: &'a History) -> Resolver<'a> {
        let state = Cassandra::init(&history.config);
        let memories = vec![state.memory.clone()];
        Resolver { history, state, memories, sizes: BTreeMap::new(), given: 0, is_lost: false }
    }

    /// What was done. A strategy is first taken to remember nothing; where that does not come to what
    /// was seen, anything that it may have kept from before the recording.
    pub fn resolve(history: &'a History) -> Resolved {
        let first = Resolver::new(history).play();
        if !first.is_lost {
            return first;
        }
        let mut again = Resolver::new(history);
        again.memories = memories(history);
        again.given = 1;
        let again = again.play();
        if again.is_lost { first } else { again }
    }

    fn play(mut self) -> Resolved {
        let mut ops = Vec::new();
        for step in &self.history.steps {
            let now = self.history.instant(step);
            let op = match &step.what {
                What::Op(op) => Some(op.clone()),
                What::Look => None,
                What::Major { after_flush } => Some(self.major(now, step, *after_flush)),
                What::Background(tasks) => Some(self.background(now, step, *tasks)),
            };
            if let Some(op) = &op {
                self.state = self.after(now, op);
            }
            self.sizes.extend(sizes(step));
            ops.push(op);
        }
        Resolved { ops, given: self.given, is_lost: self.is_lost }
    }

    fn after(&self, now: Millis, op: &Op) -> State {
        Cassandra::step(&self.history.config, &self.state, now, op).state
    }

    /// Is this what was seen?
    fn is_seen(&self, state: &State, now: Millis, step: &Recorded) -> bool {
        let Some(expected) = step.value["sstables"].as_array() else { return true };
        let reply = Cassandra::answer(&self.history.config, state, now, &Op::Sstables).verdict;
        let seen = as_recorded(&reply);
        let seen = seen["sstables"].as_array().map_or(&[][..], Vec::as_slice);
        let is_same = |(expected, seen): (&Value, &Value)| {
            expected["sstable"] == seen["sstable"] && expected["partitions"] == seen["partitions"]
        };
        expected.len() == seen.len() && expected.iter().zip(seen).all(is_same)
    }

    fn major(&mut self, now: Millis, step: &Recorded, after_flush: bool) -> Op {
        let way = |unrepaired_first| match after_flush {
            true => Op::AtOnce(vec![Op::Flush, Op::Major { unrepaired_first }]),
            false => Op::Major { unrepaired_first },
        };
        let (repaired_first, unrepaired_first) = (way(false), way(true));
        if self.is_seen(&self.after(now, &repaired_first), now, step) {
            return repaired_first;
        }
        if self.is_seen(&self.after(now, &unrepaired_first), now, step) {
            self.given += 1;
            return unrepaired_first;
        }
        repaired_first
    }

    // ---- what a strategy took ------------------------------------------------------------------------

    fn background(&mut self, now: Millis, step: &Recorded, tasks: u64) -> Op {
        let mut search = Search {
            resolver: self,
            now,
            step,
            wanted: tasks as usize,
            found: Vec::new(),
            memories: Vec::new(),
        };
        let memories = search.resolver.memories.clone();
        for memory in memories {
            let mut state = search.resolver.state.clone();
            state.memory = memory;
            search.walk(&state, &mut Vec::new(), 0);
        }
        let (found, memories) = (search.found, search.memories);
        let Some((op, given)) = found.into_iter().min_by_key(|(_, given)| *given) else {
            self.is_lost = true;
            return Op::Background(tasks);
        };
        self.given += given;
        self.memories = memories;
        op
    }
}

/// All ways of doing so many tasks.
struct Search<'r, 'h> {
    resolver: &'r Resolver<'h>,
    now: Millis,
    step: &'r Recorded,
    wanted: usize,
    found: Vec<(Op, u64)>,
    memories: Vec<[Memory; 2]>,
}

impl Search<'_, '_> {
    fn walk(&mut self, state: &State, done: &mut Vec<Vec<u64>>, given: u64) {
        let history = self.resolver.history;
        let book = Book::default();
        let now = self.now.0.div_euclid(1_000);
        let compaction = Compaction { book: &book, config: &history.config, now };
        let sizes = &self.resolver.sizes;
        if done.len() == self.wanted {
            let mut asked = state.clone();
            // A recorded 0 or 2 means that the next question found nothing; 1 and 3 may be all that
            // was asked for.
            let rest = strategy::next(&compaction, &mut asked, &|id| sizes.get(&id).copied());
            let ends = match self.wanted {
                1 if rest.is_empty() => vec![state.memory.clone(), asked.memory],
                1 | 3 => vec![state.memory.clone()],
                _ if rest.is_empty() => vec![asked.memory],
                _ => return,
            };
            let op = Op::Tasks(done.clone());
            if self.resolver.is_seen(&self.resolver.after(self.now, &op), self.now, self.step) {
                self.found.push((op, given));
                for memory in ends {
                    if !self.memories.contains(&memory) {
                        self.memories.push(memory);
                    }
                }
            }
            return;
        }
        let mut asked = state.clone();
        let choices = strategy::next(&compaction, &mut asked, &|id| sizes.get(&id).copied());
        let more = u64::from(choices.len() > 1);
        for task in choices {
            let mut next = asked.clone();
            let shadow = next.usual_shadow();
            compaction.task(&mut next, &task, shadow);
            done.push(task);
            self.walk(&next, done, given + more);
            done.pop();
        }
    }
}

fn sizes(step: &Recorded) -> impl Iterator<Item = (u64, u64)> + '_ {
    let all = step.value["sstables"].as_array().into_iter().flatten();
    all.filter_map(|it| Some((it["sstable"].as_u64()?, it["stats"]["size"].as_u64()?)))
}

/// Everything that a strategy may remember from before a history.
fn memories(history: &History) -> Vec<[Memory; 2]> {
    let written = history.steps.iter().filter_map(statements).flatten();
    let timestamps = written.filter_map(|statement| statement.timestamp);
    let mut windows: Vec<i64> = timestamps
        .chain([0, i64::MAX])
        .map(|ts| strategy::window_of(&history.config.table, ts))
        .filter(|window| *window >= 0)
        .collect();
    windows.sort_unstable();
    windows.dedup();
    let one = || {
        windows.iter().flat_map(|newest| {
            [None, Some(i64::MAX)].into_iter().flat_map(move |looked| {
                [0, 1].map(|remaining| Memory { looked, newest: *newest, remaining })
            })
        })
    };
    one().flat_map(|unrepaired| one().map(move |repaired| [unrepaired.clone(), repaired])).collect()
}
