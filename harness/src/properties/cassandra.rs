//! What must hold of any engine of Cassandra?
//!
//! A purge is safe as long as nothing older than what it purged appears. So each case is a script
//! that keeps to it in one of two ways: its timestamps only grow, or gc_grace_seconds is so long
//! that nothing is purged. The server's faults that change what is shown are switched off.

use ttlspec_model::book::Book;
use ttlspec_model::cassandra::life::Denotation;
use ttlspec_model::cassandra::words::{CqlRow, Query};
use ttlspec_model::cassandra::{Cassandra, Config, Op, Reply};
use ttlspec_model::{Engine, Millis, Rule};

use super::{Held, properties};
use crate::check::Opener;
use crate::script::Script;
use crate::values::Source;
use crate::values::cassandra as values;

/// A script, and a step of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The script.
    pub script: Script<Cassandra>,
    /// Before which of its steps something else may come.
    pub at: usize,
}

/// How many steps a case has.
const STEPS: usize = 16;
/// So long that nothing is purged.
const LONG: i64 = 864_000;

/// Any case.
pub fn case(source: &mut dyn Source) -> Case {
    let (mut config, mut course) = values::course(source);
    config.without = vec![
        Rule::CassandraFaultMinusOne,
        Rule::CassandraFaultEpoch,
        Rule::CassandraFaultVanish,
        Rule::CassandraFaultGarbage,
        Rule::CassandraFaultNegativePartition,
        Rule::CassandraFaultLastWeek,
    ];
    config.without.sort();
    config.table.view = None;
    config.tombstone_failure_threshold = i64::MAX as u64;
    let grows = source.choose(2) == 1;
    if !grows {
        config.table.gc_grace_seconds = LONG;
    }
    let mut script = Script::new(config);
    let mut written = 0;
    while script.steps.len() < STEPS {
        let (now, mut op) = course.step(source);
        match &mut op {
            Op::Write(statements) => {
                for statement in statements {
                    written += 1;
                    // Below the two smallest timestamps a collection can be empty and yet be there.
                    let given = statement.timestamp.unwrap_or(written).max(i64::MIN + 2);
                    statement.timestamp = Some(if grows { written } else { given });
                }
            }
            Op::AlterGcGrace(_) if !grows => continue,
            // What is put back, or gone without a deletion, is another story.
            Op::Refresh | Op::Truncate => continue,
            _ => {}
        }
        script.steps.push((now, op));
    }
    Case { script, at: source.choose(STEPS) }
}

/// What a SELECT of everything shows.
fn rows(engine: &mut dyn Engine<Cassandra>, now: Millis) -> Option<Vec<CqlRow>> {
    match engine.apply(now, &Op::Select(Query::default())) {
        Ok(Reply::Rows(rows)) => Some(rows.rows),
        _ => None,
    }
}

fn config_of(case: &Case) -> &Config {
    &case.script.config
}

/// Plays the case with and without `more` before its step, and holds what is shown against each
/// other after each step from there on.
fn is_invisible(case: &Case, open: &Opener<Cassandra>, more: &[Op]) -> Held {
    let (mut with, mut without) = (open(config_of(case)), open(config_of(case)));
    let mut is_there = false;
    for (number, (now, op)) in case.script.steps.iter().enumerate() {
        if number == case.at {
            for op in more {
                if with.apply(*now, op).is_err() {
                    return Held::NotThere;
                }
            }
        }
        // Numbers of sstables differ from there on: what names them is left out.
        let names = matches!(op, Op::Compact(_) | Op::Tasks(_) | Op::SetRepaired { .. });
        if !names && (with.apply(*now, op).is_err() || without.apply(*now, op).is_err()) {
            return Held::NotThere;
        }
        let (Some(seen), Some(expected)) = (rows(&mut *with, *now), rows(&mut *without, *now))
        else {
            return Held::NotThere;
        };
        is_there |= number >= case.at && !expected.is_empty();
        if seen != expected {
            return Held::No(format!("after step {number}: expected {expected:?}, found {seen:?}"));
        }
    }
    if is_there { Held::Yes } else { Held::NotThere }
}

fn flush(case: &Case, open: &Opener<Cassandra>) -> Held {
    is_invisible(case, open, &[Op::Flush])
}

fn restart(case: &Case, open: &Opener<Cassandra>) -> Held {
    is_invisible(case, open, &[Op::Restart])
}

fn major(case: &Case, open: &Opener<Cassandra>) -> Held {
    is_invisible(case, open, &[Op::Flush, Op::Major { unrepaired_first: false }])
}

fn background(case: &Case, open: &Opener<Cassandra>) -> Held {
    is_invisible(case, open, &[Op::Flush, Op::Background(3)])
}

fn garbage(case: &Case, open: &Opener<Cassandra>) -> Held {
    use ttlspec_model::cassandra::words::Shadow;
    is_invisible(case, open, &[Op::Flush, Op::GarbageCollect(Shadow::Cell)])
}

/// What is shown is what all that was written comes to.
fn theorem(case: &Case, open: &Opener<Cassandra>) -> Held {
    let (mut engine, config) = (open(config_of(case)), config_of(case));
    let mut table = config.table.clone();
    let mut meaning = Denotation::default();
    let mut is_there = false;
    for (number, (now, op)) in case.script.steps.iter().enumerate() {
        let Ok(reply) = engine.apply(*now, op) else { return Held::NotThere };
        let book = Book::without(&config.without);
        match (op, reply) {
            (Op::Write(statements), reply) => {
                let written = meaning.write(&book, config, &table, now.0, statements);
                if written.is_err() != (reply == Reply::Refused) {
                    return Held::No(format!("step {number}: {reply:?}, expected {written:?}"));
                }
            }
            (Op::AlterDefaultTtl(seconds), Reply::Made(_)) => table.default_time_to_live = *seconds,
            _ => {}
        }
        let Some(seen) = rows(&mut *engine, *now) else { return Held::NotThere };
        let expected = meaning.rows(&book, &table, now.0);
        is_there |= !expected.is_empty();
        if seen != expected {
            return Held::No(format!("after step {number}: expected {expected:?}, found {seen:?}"));
        }
    }
    if is_there { Held::Yes } else { Held::NotThere }
}

/// Asking changes nothing.
fn asking(case: &Case, open: &Opener<Cassandra>) -> Held {
    let (mut asked, mut left) = (open(config_of(case)), open(config_of(case)));
    for (number, (now, op)) in case.script.steps.iter().enumerate() {
        for question in [Op::Sstables, Op::Stats, Op::Merged, Op::Select(Query::default())] {
            if asked.apply(*now, &question).is_err() {
                return Held::NotThere;
            }
        }
        let (one, other) = (asked.apply(*now, op), left.apply(*now, op));
        if one != other {
            return Held::No(format!("step {number}: expected {other:?}, found {one:?}"));
        }
    }
    let now = case.script.steps.last().map_or(Millis(0), |(now, _)| *now);
    let (one, other) = (asked.apply(now, &Op::Sstables), left.apply(now, &Op::Sstables));
    if one == other { Held::Yes } else { Held::No(format!("expected {other:?}, found {one:?}")) }
}

properties! {
    Cassandra;

    /// A read shows what all that was written comes to.
    "cassandra.life.theorem" = theorem;
    /// A flush is not seen, now or later.
    "cassandra.memtable.flush-is-invisible" = flush;
    /// A restart is not seen, now or later.
    "cassandra.memtable.restart-is-invisible" = restart;
    /// A major compaction is not seen, now or later.
    "cassandra.compaction.major-is-invisible" = major;
    /// What a strategy does is not seen, now or later.
    "cassandra.strategy.background-is-invisible" = background;
    /// garbagecollect is not seen, now or later.
    "cassandra.garbage.is-invisible" = garbage;
    /// Asking changes nothing.
    "cassandra.read.asking-changes-nothing" = asking;
}
