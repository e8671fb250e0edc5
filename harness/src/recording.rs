//! What was a real server seen to do, and does the book say the same?
//!
//! A recording is a file of histories, one JSON object a line. Each history is one table on one
//! node: what was done, and what was then seen. It is never edited; it is only played again, and
//! every single observation is held against the answer of the specification or of an engine.
//!
//! | question | module |
//! |---|---|
//! | What does a line say? | `read` |
//! | What was done, in the words of the system, where the recording leaves a choice? | `resolve` |
//! | What was seen, and what is answered? | `compare` |
//! | Which steps does a disagreement need? | `shrink` |

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use ttlspec_model::cassandra::{Cassandra, Config};
use ttlspec_model::{Engine, Reference};

mod compare;
mod read;
mod resolve;
mod shrink;

pub use read::{Fault, Histories, History, Recorded, What, history, open};
use resolve::Resolver;

/// How a history was played: counts of single observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Histories that were played.
    pub histories: u64,
    /// Steps that were played.
    pub steps: u64,
    /// Choices that were taken from the recording.
    pub given: u64,
    /// Histories that were not played, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Observations by kind: those that agree, and those that do not.
    pub by_kind: BTreeMap<&'static str, (u64, u64)>,
}

/// The first observation of a history that is answered otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The name of the history.
    pub id: String,
    /// The step, counted from 0.
    pub step: usize,
    /// What was looked at.
    pub kind: &'static str,
    /// What was seen on the real server.
    pub expected: Value,
    /// What is answered here.
    pub seen: Value,
    /// The steps that it needs.
    pub history: Vec<Value>,
}

impl Tally {
    /// How many observations agree, and how many do not.
    pub fn observations(&self) -> (u64, u64) {
        let all = self.by_kind.values();
        all.fold((0, 0), |(agree, not), (more, less)| (agree + more, not + less))
    }

    fn count(&mut self, kind: &'static str, agrees: bool) {
        let (agree, disagree) = self.by_kind.entry(kind).or_default();
        *(if agrees { agree } else { disagree }) += 1;
    }

    /// The tally of a file as JSON.
    pub fn to_json(&self, path: &str, engine: &str) -> Value {
        let (agree, disagree) = self.observations();
        let by_kind = self.by_kind.iter().map(|(kind, (agree, disagree))| {
            ((*kind).to_owned(), json!({ "agree": agree, "disagree": disagree }))
        });
        json!({
            "path": path,
            "engine": engine,
            "histories": self.histories,
            "steps": self.steps,
            "agree": agree,
            "disagree": disagree,
            "skipped": self.skipped.values().sum::<u64>(),
            "skipped_because": self.skipped,
            "given": self.given,
            "by_kind": Value::Object(by_kind.collect::<Map<_, _>>()),
        })
    }
}

impl Disagreement {
    /// The disagreement as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "step": self.step,
            "kind": self.kind,
            "expected": self.expected,
            "seen": self.seen,
            "history": self.history,
        })
    }
}

/// Opens what is to be held against the recordings.
pub type Open<'a> = dyn Fn(&Config) -> Box<dyn Engine<Cassandra>> + 'a;

/// Plays one history, adds to the tally, and says where it disagrees first.
pub fn play(history: &History, open: &Open<'_>, tally: &mut Tally) -> Option<Disagreement> {
    if let Some(reason) = &history.skipped {
        *tally.skipped.entry(reason.clone()).or_default() += 1;
        return None;
    }
    tally.histories += 1;
    let resolved = Resolver::resolve(history);
    tally.given += resolved.given;
    let mut engine = open(&history.config);
    let mut first: Option<(usize, compare::Difference)> = None;
    for (at, recorded) in history.steps.iter().enumerate() {
        tally.steps += 1;
        let now = history.instant(recorded);
        let op = &resolved.ops[at];
        let difference = compare::step(&mut *engine, now, op, recorded, history, tally);
        match difference {
            Err(unsupported) => {
                *tally.skipped.entry(unsupported.to_string()).or_default() += 1;
                break;
            }
            Ok(Some(difference)) if first.is_none() => first = Some((at, difference)),
            Ok(_) => {}
        }
    }
    first.map(|(step, difference)| {
        let needed = shrink::steps(history, &resolved.ops, step, &difference, open);
        let compare::Difference { kind, expected, seen, .. } = difference;
        let id = history.id.clone();
        Disagreement { id, step, kind, expected, seen, history: needed }
    })
}

/// The specification in the place of an engine.
pub fn specification(config: &Config) -> Box<dyn Engine<Cassandra>> {
    Box::new(Reference::<Cassandra>::open(config))
}
