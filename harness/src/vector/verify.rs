//! Does the specification, or an engine, answer as a vector says?

use std::fmt;

use ttlspec_model::{Engine, Reference, Rule, Unsupported};

use super::read::names_of;
use super::{Place, Vector};
use crate::lockstep::caught;
use crate::notation::Notation;

/// How one run of a vector went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All answers were as they must be.
    Passed,
    /// The engine does not have something that the vector needs.
    Skipped(Unsupported),
    /// An answer was not as it must be, or rests on other rules.
    Failed(Failure),
}

/// Where an answer was not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step, counted from 0.
    pub step: usize,
    /// Where it stands.
    pub place: Place,
    /// What was expected, and what was found.
    pub message: String,
}

/// A vector that was run at one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub vector: String,
    /// The version, where the system has versions.
    pub version: Option<String>,
    /// How it went.
    pub outcome: Outcome,
}

/// How many vectors went how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// All runs, in order.
    pub runs: Vec<Run>,
}

/// Runs a vector on the specification: each answer must be equal, and each rule in `by` must have
/// been cited at its step.
pub fn verify_spec<V: Notation>(vector: &Vector<V>) -> Vec<Run> {
    let run = |config: &V::Config| {
        let mut reference = Reference::<V>::open(config);
        for (index, step) in vector.steps.iter().enumerate() {
            let ruling = reference.explain(step.at, &step.op);
            let cited = &ruling.because;
            let message = if ruling.verdict != step.see {
                let (see, found) = (V::short_reply(&step.see), V::short_reply(&ruling.verdict));
                let cited = names_of(cited);
                format!("expected {see}, found {found}, because {cited}")
            } else if let Some(untrue) = step.by.iter().find(|rule| !cited.contains(rule)) {
                let cited = names_of(cited);
                format!("expected the rule `{untrue}` to be cited, found only {cited}")
            } else {
                continue;
            };
            return Outcome::Failed(failure(vector, index, &message));
        }
        Outcome::Passed
    };
    runs(vector, run)
}

/// Runs a vector on an engine, which `open` opens for each configuration: each answer must be one
/// that the system admits. A panic of the engine is a failure.
pub fn verify<V: Notation>(
    vector: &Vector<V>,
    mut open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>,
) -> Vec<Run> {
    let run = |config: &V::Config| {
        let mut engine = open(config);
        for (index, step) in vector.steps.iter().enumerate() {
            let found = match caught(|| engine.apply(step.at, &step.op)) {
                Ok(Ok(reply)) if V::admits(&step.see, &reply) => continue,
                Ok(Ok(reply)) => V::short_reply(&reply),
                Ok(Err(unsupported)) => return Outcome::Skipped(unsupported),
                Err(panic) => format!("a panic: {panic}"),
            };
            let because: &[Rule] = &step.by;
            let why = if because.is_empty() {
                String::new()
            } else {
                format!(", because {}", names_of(because))
            };
            let message = format!("expected {}{why}; found {found}", V::short_reply(&step.see));
            return Outcome::Failed(failure(vector, index, &message));
        }
        Outcome::Passed
    };
    runs(vector, run)
}

fn runs<V: Notation>(vector: &Vector<V>, mut run: impl FnMut(&V::Config) -> Outcome) -> Vec<Run> {
    let one = |config: &V::Config| Run {
        vector: vector.name.clone(),
        version: V::version(config),
        outcome: run(config),
    };
    vector.configs().iter().map(one).collect()
}

fn failure<V: Notation>(vector: &Vector<V>, index: usize, message: &str) -> Failure {
    let step = &vector.steps[index];
    let place = Place { file: vector.place.file.clone(), line: step.line };
    let message = format!("`{}` at {}: {message}", V::short(&step.op), step.at);
    Failure { step: index, place, message }
}

impl Report {
    /// Adds runs.
    pub fn add(&mut self, runs: impl IntoIterator<Item = Run>) {
        self.runs.extend(runs);
    }

    /// How many runs passed.
    pub fn passed(&self) -> usize {
        self.runs.iter().filter(|run| run.outcome == Outcome::Passed).count()
    }

    /// The runs that were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| matches!(run.outcome, Outcome::Skipped(_)))
    }

    /// The runs that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| matches!(run.outcome, Outcome::Failed(_)))
    }

    /// Did nothing fail, and something pass? Where all was skipped, nothing was shown.
    pub fn is_success(&self) -> bool {
        self.failed().next().is_none() && self.passed() > 0
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.version.as_ref().map_or_else(String::new, |version| format!(" at {version}"));
        let name = &self.vector;
        match &self.outcome {
            Outcome::Passed => write!(f, "passed: `{name}`{at}"),
            Outcome::Skipped(reason) => write!(f, "skipped: `{name}`{at}: {reason}"),
            Outcome::Failed(Failure { step, place, message }) => {
                write!(f, "{place}: vector `{name}`{at}: steps[{step}]: {message}")
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in self.failed().chain(self.skipped()) {
            writeln!(f, "{run}")?;
        }
        let (failed, skipped) = (self.failed().count(), self.skipped().count());
        write!(f, "{} passed, {failed} failed, {skipped} skipped", self.passed())?;
        if failed == 0 && self.passed() == 0 {
            f.write_str("; nothing was shown, which counts as a failure")?;
        }
        Ok(())
    }
}
