//! What holds each rule of the book?
//!
//! [`gather`] looks at the sources of the model, the vectors, the laws of the model checks, a fixed
//! number of random steps and the mutants; [`Coverage::render`] writes what it found as
//! `specs/COVERAGE.md`, and [`Coverage::missing`] says what a rule still lacks, each in a sentence.
//! Equal inputs give equal bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ttlspec_model::Rule;
use ttlspec_model::mongodb::MongoDb;
use ttlspec_model::ruling::Level;

use crate::mutants::{Fate, Hunt, Mutant};
use crate::vector::{self, Errors, Vector};

mod catalogue;
mod missing;
mod reach;
mod render;
mod sources;

pub use catalogue::{catalogue, ids};
pub use missing::{ELSEWHERE, Elsewhere, book};
pub use sources::{Citation, citations};

/// What holds the rules, all together.
pub struct Coverage {
    /// One row a rule, in the order of the book.
    pub rows: Vec<Row>,
    /// What became of each mutant, in the order of the book.
    pub mutants: Vec<(Mutant, Fate)>,
    /// Which rules carry an entry of the catalogue that the book was written from.
    pub catalogue: BTreeMap<String, Vec<Rule>>,
    /// How many vectors there are.
    pub vectors: usize,
    /// How many lines they have.
    pub lines: usize,
    /// How many random steps were taken, questions not counted.
    pub steps: u64,
}

/// What holds one rule.
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// What it demands.
    pub demand: Demand,
    /// Where the model cites it.
    pub citations: Vec<Citation>,
    /// How many lines of vectors rest on it.
    pub lines: usize,
    /// How often it was cited in the random steps.
    pub hits: u64,
    /// The worlds in whose every state it is checked as a law.
    pub worlds: Vec<String>,
    /// In the cases of how many properties it is cited.
    pub properties: usize,
}

/// What a rule demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// That it be so.
    Must,
    /// Nothing: it allows.
    May,
    /// Something of which nothing here decides.
    NotModelled,
}

/// What the coverage could not be gathered for.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The vectors have faults.
    #[error(transparent)]
    Vectors(#[from] Errors),
    /// The sources of the model cannot be read.
    #[error("{path}: cannot be read: {error}", path = path.display())]
    Sources {
        /// What should be read.
        path: PathBuf,
        /// Why it cannot be.
        error: std::io::Error,
    },
}

/// Gathers what holds each rule: `specs` has the vectors, `model` the sources of the model.
///
/// # Errors
/// [`Problem`] where something cannot be read.
pub fn gather(specs: &Path, model: &Path) -> Result<Coverage, Problem> {
    let files = vector::load_dir::<MongoDb>(&specs.join("mongodb/vectors"))?;
    let vectors: Vec<Vector<MongoDb>> = files.into_iter().flat_map(|file| file.vectors).collect();
    let mut citations = sources::citations(model)?;
    let (hits, steps) = reach::hits();
    let (worlds, properties) = (reach::worlds(), reach::properties());
    let hunt = Hunt::new(&vectors);
    let mutants = Mutant::all().into_iter().map(|mutant| (mutant, hunt.fate(&mutant))).collect();

    let lines = || vectors.iter().flat_map(|vector| &vector.steps);
    let row = |rule: Rule| Row {
        rule,
        demand: demand(rule),
        citations: citations.remove(&rule).unwrap_or_default(),
        lines: lines().filter(|line| line.by.contains(&rule)).count(),
        hits: hits.get(&rule).copied().unwrap_or_default(),
        worlds: worlds.get(&rule).cloned().unwrap_or_default(),
        properties: properties.get(&rule).copied().unwrap_or_default(),
    };
    Ok(Coverage {
        rows: Rule::ALL.iter().copied().map(row).collect(),
        mutants,
        catalogue: catalogue(),
        vectors: vectors.len(),
        lines: lines().count(),
        steps,
    })
}

/// `specs/COVERAGE.md` as it should be.
///
/// # Errors
/// [`Problem`] where something cannot be read.
pub fn render(specs: &Path, model: &Path) -> Result<String, Problem> {
    Ok(gather(specs, model)?.render())
}

fn demand(rule: Rule) -> Demand {
    let sentence = rule.sentence();
    match rule.level() {
        Level::NotModelled => Demand::NotModelled,
        Level::Decided if sentence.contains("MAY") && !sentence.contains("MUST") => Demand::May,
        Level::Decided => Demand::Must,
    }
}
