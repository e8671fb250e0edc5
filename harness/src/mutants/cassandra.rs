//! What breaks where a rule of Cassandra is broken?
//!
//! A rule can be switched off, and then the next one in line decides: that is its mutant. Beside
//! these stand mistakes that were made in earnest.

use std::sync::OnceLock;

use ttlspec_model::cassandra::expiry::MAX_TTL;
use ttlspec_model::cassandra::words::{Statement, Verb};
use ttlspec_model::cassandra::{Cassandra, Config, Op, Reply, State};
use ttlspec_model::ruling::Level;
use ttlspec_model::{Engine, Millis, Reference, Rule, Spec, Unsupported};

use super::{Mutant, Seen};
use crate::check;

/// Where a rule was broken in earnest.
const SEEN: &[(Rule, &str, &str)] = &[
    (
        Rule::CassandraExpiryZero,
        "CASSANDRA-11207",
        "TTL 0 fell back to the default of the table before 3.6",
    ),
    (
        Rule::CassandraExpiryNarrowNone,
        "CASSANDRA-14227",
        "the second after the last expiration was the number for none, up to 4.1",
    ),
    (
        Rule::CassandraReconcileTombstone,
        "CASSANDRA-21356",
        "cursor compaction took a tombstone for an expiring cell in ties of timestamps",
    ),
    (
        Rule::CassandraPurgeMergeFirst,
        "scylladb 20916",
        "each source was purged before it was merged with the memtable",
    ),
    (
        Rule::CassandraPurgeRetest,
        "CASSANDRA-13643",
        "an expired cell needed one more compaction to go, before 3.0.15 and 3.11.1",
    ),
    (
        Rule::CassandraPurgeOverlap,
        "CASSANDRA-2786",
        "a tombstone was purged although another sstable held what it covers",
    ),
    (
        Rule::CassandraPurgeLargest,
        "CASSANDRA-12792",
        "a tombstone with the largest timestamp was never purged, before 3.10",
    ),
    (
        Rule::CassandraGarbageOnlyRepaired,
        "CASSANDRA-14204",
        "garbagecollect took unrepaired sstables that it may not purge",
    ),
    (
        Rule::CassandraReadPurges,
        "CASSANDRA-11427",
        "a range read sent tombstones that were long past gc_grace_seconds",
    ),
    (
        Rule::CassandraReadCountRow,
        "CASSANDRA-8527",
        "rows that are deleted were not counted as tombstones",
    ),
    (
        Rule::CassandraViewDeadMarker,
        "CASSANDRA-14071",
        "a row of a view stayed after the column that was its key had expired",
    ),
    (
        Rule::CassandraViewStrict,
        "CASSANDRA-21152",
        "cursor compaction kept rows of a view whose marker is gone",
    ),
    (
        Rule::CassandraFaultGarbage,
        "CASSANDRA-21065",
        "garbagecollect no longer fails where two sstables are unrepaired",
    ),
];

/// All of them, in the order of the book.
pub(crate) fn all() -> Vec<Mutant<Cassandra>> {
    static ALL: OnceLock<Vec<Mutant<Cassandra>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let is_decided =
            |rule: &&Rule| rule.name().starts_with("cassandra.") && rule.level() == Level::Decided;
        let rules = Rule::ALL.iter().copied().filter(|rule| is_decided(&rule));
        let mut all: Vec<_> = rules.map(switched_off).collect();
        all.extend(in_earnest());
        all.sort_by_key(|mutant| mutant.rule);
        all
    });
    all.clone()
}

/// The specification without one of its rules.
fn switched_off(rule: Rule) -> Mutant<Cassandra> {
    let name: &'static str = Box::leak(format!("without {rule}").into_boxed_str());
    let seen = SEEN.iter().find(|(there, ..)| *there == rule);
    Mutant {
        name,
        rule,
        seen: seen.map(|(_, at, was)| Seen { at, was }),
        opener: check::opener(move |config: &Config| without(config, &[rule])),
    }
}

fn without(config: &Config, rules: &[Rule]) -> Reference<Cassandra> {
    let mut config = config.clone();
    config.without.extend(rules);
    config.without.sort();
    config.without.dedup();
    Reference::open(&config)
}

/// Mistakes that are more than one rule left out.
fn in_earnest() -> [Mutant<Cassandra>; 4] {
    let bent = |bend: Bend| {
        check::opener(move |config: &Config| Bent {
            config: config.clone(),
            state: Cassandra::init(config),
            bend,
        })
    };
    [
        Mutant {
            name: "between cells with equal timestamps only their values decide",
            rule: Rule::CassandraReconcileValue,
            seen: Some(Seen {
                at: "CASSANDRA-14592",
                was: "replicas of 3.x disagreed for ever about cells that expire",
            }),
            opener: check::opener(|config: &Config| {
                without(
                    config,
                    &[
                        Rule::CassandraReconcileDying,
                        Rule::CassandraReconcileTombstone,
                        Rule::CassandraReconcileLater,
                        Rule::CassandraReconcileShorter,
                    ],
                )
            }),
        },
        Mutant {
            name: "what is left out of a compaction for want of space is forgotten",
            rule: Rule::CassandraPurgeOverlap,
            seen: Some(Seen {
                at: "CASSANDRA-18507",
                was: "with too little space the largest sstable was left out, and not held against \
                      the purge: deleted data came back",
            }),
            opener: bent(forgets_the_first),
        },
        Mutant {
            name: "sstables that came since a compaction was planned are forgotten",
            rule: Rule::CassandraPurgeIntersecting,
            seen: Some(Seen {
                at: "CASSANDRA-12012",
                was: "overlapping sstables were missed, and tombstones purged too early",
            }),
            opener: bent(forgets_the_last),
        },
        Mutant {
            name: "an expiration past the last one is past already",
            rule: Rule::CassandraExpiryReject,
            seen: Some(Seen {
                at: "CASSANDRA-14092",
                was: "expirations after 2038 wrapped to negative seconds: data was lost at once",
            }),
            opener: bent(wraps),
        },
    ]
}

/// A node whose steps are taken by something else now and then.
struct Bent {
    config: Config,
    state: State,
    bend: Bend,
}

/// What a mutant does instead of a step: an answer of its own, or none.
type Bend = fn(&Config, &mut State, Millis, &Op) -> Option<Reply>;

impl Engine<Cassandra> for Bent {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        if let Some(reply) = (self.bend)(&self.config, &mut self.state, now, op) {
            return Ok(reply);
        }
        Ok(right(&self.config, &mut self.state, now, op))
    }
}

fn right(config: &Config, state: &mut State, now: Millis, op: &Op) -> Reply {
    let step = Cassandra::step(config, state, now, op);
    *state = step.state;
    step.reply.verdict
}

/// A major compaction of three or more leaves the first one out, and does not look at it.
fn forgets_the_first(config: &Config, state: &mut State, now: Millis, op: &Op) -> Option<Reply> {
    let Op::Major { .. } = op else { return None };
    if state.sstables.len() < 3 {
        return None;
    }
    let first = state.sstables.remove(0);
    let reply = right(config, state, now, op);
    state.sstables.insert(0, first);
    Some(reply)
}

/// A compaction of given sstables does not look at the last one, where that is none of them.
fn forgets_the_last(config: &Config, state: &mut State, now: Millis, op: &Op) -> Option<Reply> {
    let Op::Compact(ids) = op else { return None };
    let last = state.sstables.pop_if(|last| !ids.contains(&last.id))?;
    let reply = right(config, state, now, op);
    let at = state.sstables.iter().position(|it| it.id > last.id).unwrap_or(state.sstables.len());
    state.sstables.insert(at, last);
    Some(reply)
}

/// What should be refused for its expiration is written, and has expired long ago.
fn wraps(config: &Config, state: &mut State, now: Millis, op: &Op) -> Option<Reply> {
    let Op::Write(statements) = op else { return None };
    let mut after = state.clone();
    if right(config, &mut after, now, op) != Reply::Refused {
        return None;
    }
    let mut statements: Vec<Statement> = statements.clone();
    for statement in &mut statements {
        if let Verb::Insert(upsert) | Verb::Update(upsert) = &mut statement.verb {
            upsert.ttl = upsert.ttl.filter(|ttl| !(0..=MAX_TTL).contains(ttl)).or(Some(1));
        }
    }
    let before = Millis(now.0.saturating_sub(10_000));
    Some(right(config, state, before, &Op::Write(statements)))
}
