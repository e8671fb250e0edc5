//! What may be tried with Cassandra?

use ttlspec_model::Millis;
use ttlspec_model::cassandra::words::{Query, Slice, Statement, Upsert, Verb};
use ttlspec_model::cassandra::{Cassandra, Config, Op, State};

use super::{Alphabet, World};
use crate::notation::cassandra::assigns_nothing;
use crate::values::Source;
use crate::values::cassandra::{self as values, Course};

mod worlds;

pub(crate) use worlds::named;

impl Alphabet for Cassandra {
    type Course = Course;

    fn questions(config: &Config, state: &State) -> Vec<Op> {
        let mut questions = vec![Op::Sstables, Op::Stats, Op::Merged, Op::Select(Query::default())];
        let part = Slice { from: Some((1, true)), to: None };
        for p in [1, 2] {
            let keys = Some(vec![p]);
            let whole = Query { keys: keys.clone(), ..Query::default() };
            let first = Query { reversed: true, limit: Some(1), ..whole.clone() };
            let slice = Some(part.clone());
            questions.extend([whole.clone(), first, Query { slice, ..whole }].map(Op::Select));
        }
        if config.table.view.is_some() && state.table.view.is_some() {
            questions.extend([Op::ViewMerged, Op::ViewSelect]);
        }
        questions
    }

    fn simpler(op: &Op) -> Vec<Op> {
        match op {
            Op::Write(statements) => {
                let without = (0..statements.len()).filter(|_| statements.len() > 1).map(|at| {
                    let mut fewer = statements.clone();
                    fewer.remove(at);
                    Op::Write(fewer)
                });
                let simpler = statements.iter().enumerate().flat_map(|(at, statement)| {
                    simpler_statements(statement).into_iter().map(move |simpler| {
                        let mut all = statements.clone();
                        all[at] = simpler;
                        Op::Write(all)
                    })
                });
                without.chain(simpler).collect()
            }
            Op::Major { unrepaired_first: true } => vec![Op::Major { unrepaired_first: false }],
            Op::Compact(ids) if ids.len() > 1 => fewer(ids),
            Op::AtOnce(ops) => ops.clone(),
            _ => Vec::new(),
        }
    }

    fn any_config(source: &mut dyn Source) -> Config {
        values::config(source)
    }

    fn any_step(source: &mut dyn Source, config: &Config) -> (Millis, Op) {
        values::step(source, config)
    }

    fn any_course(source: &mut dyn Source) -> Option<(Config, Course)> {
        Some(values::course(source))
    }

    fn step_on(course: &mut Course, source: &mut dyn Source) -> (Millis, Op) {
        course.step(source)
    }

    fn is_played(config: &Config) -> bool {
        config.without.iter().all(|rule| rule.name().starts_with("cassandra.fault."))
    }

    fn worlds(config: &Config) -> Vec<World<Cassandra>> {
        worlds::all(config)
    }
}

fn fewer(ids: &[u64]) -> Vec<Op> {
    let without = |at| {
        let mut fewer = ids.to_vec();
        fewer.remove(at);
        Op::Compact(fewer)
    };
    (0..ids.len()).map(without).collect()
}

fn simpler_statements(statement: &Statement) -> Vec<Statement> {
    let with = |verb: Verb| Statement { verb, ..statement.clone() };
    match &statement.verb {
        Verb::Insert(upsert) => simpler_upserts(upsert).map(|it| with(Verb::Insert(it))).collect(),
        Verb::Update(upsert) => {
            let some = simpler_upserts(upsert).filter(|it| !assigns_nothing(it));
            some.map(|it| with(Verb::Update(it))).collect()
        }
        Verb::DeleteColumns { columns, elements } if columns.len() > 1 => {
            let one = |name: &String| {
                let columns = vec![name.clone()];
                with(Verb::DeleteColumns { columns, elements: elements.clone() })
            };
            columns.iter().map(one).collect()
        }
        _ => Vec::new(),
    }
}

/// Without one of its parts.
fn simpler_upserts(upsert: &Upsert) -> impl Iterator<Item = Upsert> + '_ {
    let less = |change: &dyn Fn(&mut Upsert)| {
        let mut simpler = upsert.clone();
        change(&mut simpler);
        simpler
    };
    let mut all: Vec<Upsert> = Vec::new();
    all.extend((0..upsert.set.len()).map(|at| less(&|it| drop(it.set.remove(at)))));
    all.extend((0..upsert.put.len()).map(|at| less(&|it| drop(it.put.remove(at)))));
    all.extend((0..upsert.add.len()).map(|at| less(&|it| drop(it.add.remove(at)))));
    all.extend((0..upsert.remove.len()).map(|at| less(&|it| drop(it.remove.remove(at)))));
    if upsert.ttl.is_some() {
        all.push(less(&|it| it.ttl = None));
    }
    all.into_iter()
}
