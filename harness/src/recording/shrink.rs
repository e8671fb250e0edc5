//! Which steps does a disagreement need?
//!
//! What a server would have answered to a shorter history nobody has recorded. So a step is left out
//! where the answer here stays the same without it: then it plays no part in what is said here.

use serde_json::{Value, json};
use ttlspec_model::cassandra::{Cassandra, Op};

use super::compare::{self, Difference};
use super::read::{History, Recorded, What};
use super::{Open, Tally};
use crate::Notation;

/// The steps that are needed, up to the one that disagrees, for people.
pub fn steps(
    history: &History,
    ops: &[Option<Op>],
    last: usize,
    difference: &Difference,
    open: &Open<'_>,
) -> Vec<Value> {
    let mut kept: Vec<usize> = (0..=last).collect();
    for size in [8, 4, 2, 1] {
        let mut at = 0;
        while at < kept.len() {
            let end = (at + size).min(kept.len() - 1);
            let mut fewer = kept.clone();
            fewer.drain(at..end.max(at));
            if end > at && answers_alike(history, ops, &fewer, difference, open) {
                kept = fewer;
            } else {
                at += size;
            }
        }
    }
    kept.into_iter().map(|at| shown(&history.steps[at], ops[at].as_ref())).collect()
}

/// Is the answer at the last step still the same?
fn answers_alike(
    history: &History,
    ops: &[Option<Op>],
    kept: &[usize],
    difference: &Difference,
    open: &Open<'_>,
) -> bool {
    let mut engine = open(&history.config);
    let (Some((last, before)), mut tally) = (kept.split_last(), Tally::default()) else {
        return false;
    };
    for at in before {
        let Some(op) = &ops[*at] else { continue };
        if engine.apply(history.instant(&history.steps[*at]), op).is_err() {
            return false;
        }
    }
    let recorded = &history.steps[*last];
    let now = history.instant(recorded);
    let seen = compare::step(&mut *engine, now, &ops[*last], recorded, history, &mut tally);
    seen.is_ok_and(|seen| seen.as_ref() == Some(difference))
}

fn shown(step: &Recorded, op: Option<&Op>) -> Value {
    let done = match (&step.what, step.value.get("cql"), op) {
        (_, Some(cql), _) => cql.clone(),
        (What::Look, ..) => "look".into(),
        (_, _, Some(op)) => Cassandra::op_to(op),
        (_, _, None) => Value::Null,
    };
    json!({ "at": step.at, "do": done })
}
