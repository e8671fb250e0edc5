//! What holds each rule of the book?
//!
//! [`gather`] looks at the sources of the model, and for each system at the vectors, the laws of the
//! model checks, a fixed number of random steps and the mutants; [`Coverage::render`] writes what it
//! found as `specs/COVERAGE.md`, and [`Coverage::missing`] says what a rule still lacks, each in a
//! sentence. Equal inputs give equal bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ttlspec_model::Rule;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;
use ttlspec_model::ruling::Level;

use crate::mutants::{Fate, Seen};
use crate::system::System;
use crate::vector::{self, Errors, Vector};

pub(crate) mod cassandra;
mod catalogue;
mod missing;
pub(crate) mod mongodb;
mod part;
mod render;
mod sources;

pub use catalogue::{catalogue, ids};
pub use missing::{Elsewhere, book, system_and_stem};
use part::Part;
pub use sources::{Citation, citations};

/// Every system, in the order of the book.
const SYSTEMS: &[PartOf] = &[part_of::<MongoDb>, part_of::<Cassandra>];

/// Gathers what holds the rules of one system, with its vectors below a folder.
type PartOf = fn(&Path) -> Result<Part, Errors>;

/// What holds the rules, all together.
pub struct Coverage {
    /// One row a rule, in the order of the book.
    pub rows: Vec<Row>,
    /// What became of each mutant, in the order of the book.
    pub mutants: Vec<Planted>,
    /// The rules that are not decided in the module of their chapter.
    pub elsewhere: Vec<Elsewhere>,
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
    pub worlds: Vec<&'static str>,
    /// In the cases of how many properties it is cited.
    pub properties: usize,
}

/// A mutant, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The mistake, in one breath.
    pub name: &'static str,
    /// The rule that it breaks.
    pub rule: Rule,
    /// Where the same mistake was made in earnest, if it was.
    pub seen: Option<Seen>,
    /// Who finds it.
    pub fate: Fate,
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
    let parts = SYSTEMS.iter().map(|part_of| part_of(specs));
    let parts: Vec<Part> = parts.collect::<Result<_, Errors>>()?;
    let mut citations = sources::citations(model)?;
    let row = |rule: Rule| Row {
        rule,
        demand: demand(rule),
        citations: citations.remove(&rule).unwrap_or_default(),
        lines: parts.iter().filter_map(|part| part.resting.get(&rule)).sum(),
        hits: parts.iter().filter_map(|part| part.hits.get(&rule)).sum(),
        worlds: parts.iter().filter_map(|part| part.worlds.get(&rule)).flatten().copied().collect(),
        properties: parts.iter().filter_map(|part| part.properties.get(&rule)).sum(),
    };
    Ok(Coverage {
        rows: Rule::ALL.iter().copied().map(row).collect(),
        elsewhere: parts.iter().flat_map(|part| part.elsewhere).copied().collect(),
        catalogue: catalogue(),
        vectors: parts.iter().map(|part| part.vectors).sum(),
        lines: parts.iter().map(|part| part.lines).sum(),
        steps: parts.iter().map(|part| part.steps).sum(),
        mutants: parts.into_iter().flat_map(|part| part.mutants).collect(),
    })
}

fn part_of<V: System>(specs: &Path) -> Result<Part, Errors> {
    let files = vector::load_dir::<V>(&specs.join(V::NAME).join("vectors"))?;
    let vectors: Vec<Vector<V>> = files.into_iter().flat_map(|file| file.vectors).collect();
    Ok(Part::of(&vectors))
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
