//! Which systems are there, and what do the verbs do with each?

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ttlspec_harness::System;
use ttlspec_harness::check::{self, Opener};
use ttlspec_harness::fuzzing::Seed;
use ttlspec_harness::mutants::Mutant;
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::Rule;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;

use crate::{check as check_verb, corpus, export, replay};

/// All of them, in the order of the book, each with what expires there.
static SYSTEMS: [Verbs; 2] =
    [Verbs::of::<MongoDb>("TTL indexes"), Verbs::of::<Cassandra>("TTL and tombstones")];

/// A system with an optimized engine.
pub trait Optimized: System {
    /// Opens the optimized engine.
    fn engine() -> Opener<Self>;
}

impl Optimized for MongoDb {
    fn engine() -> Opener<MongoDb> {
        check::opener(MongoEngine::open)
    }
}

impl Optimized for Cassandra {
    fn engine() -> Opener<Cassandra> {
        check::opener(CassandraEngine::open)
    }
}

/// What the verbs do with one system.
pub struct Verbs {
    /// Its name.
    pub name: &'static str,
    about: &'static str,
    /// The rules that its mutants break, and their names.
    pub mutants: fn() -> Vec<(Rule, &'static str)>,
    /// Checks it. The first difference goes to the file, which is then taken.
    pub check: fn(&check_verb::Args, &mut Option<PathBuf>) -> Result<u8>,
    /// Runs the vectors of a file, given by its name and its bytes.
    pub replay: fn(&replay::Args, &str, &[u8]) -> Result<u8>,
    /// All of its vectors as JSON, from the folder of the book.
    pub export: fn(&Path) -> Result<String>,
    /// All of its vectors as seeds, from the folder of the book.
    pub seeds: fn(&Path) -> Result<Vec<Seed>>,
}

impl Verbs {
    const fn of<V: Optimized>(about: &'static str) -> Verbs {
        Verbs {
            name: V::NAME,
            about,
            mutants: || V::mutants().into_iter().map(|one| (one.rule, one.name)).collect(),
            check: check_verb::one::<V>,
            replay: replay::one::<V>,
            export: export::one::<V>,
            seeds: corpus::one::<V>,
        }
    }
}

/// All systems, or only the one that was asked for.
pub fn chosen(asked: Option<&'static Verbs>) -> Vec<&'static Verbs> {
    asked.map_or_else(|| SYSTEMS.iter().collect(), |one| vec![one])
}

/// Those among the systems that have the mutant that was asked for: all if none was.
pub fn with_mutant(
    systems: Vec<&'static Verbs>,
    plant: Option<&str>,
) -> Result<Vec<&'static Verbs>> {
    let Some(name) = plant else { return Ok(systems) };
    let has_it = |system: &&Verbs| (system.mutants)().iter().any(|(_, mutant)| *mutant == name);
    let systems: Vec<&Verbs> = systems.into_iter().filter(has_it).collect();
    if systems.is_empty() {
        bail!("no mutant is named `{name}`: `ttlspec check --plant list` lists them");
    }
    Ok(systems)
}

/// Opens the engine, or the mutant in its place.
pub fn opener<V: Optimized>(plant: Option<&str>) -> Result<Opener<V>> {
    match plant.map(|name| (name, Mutant::<V>::named(name))) {
        None => Ok(V::engine()),
        Some((_, Some(mutant))) => Ok(mutant.opener),
        Some((name, None)) => bail!("no mutant of {} is named `{name}`", V::NAME),
    }
}

/// Reads the name of a system.
pub fn parser() -> impl TypedValueParser<Value = &'static Verbs> {
    let names = SYSTEMS.iter().map(|system| PossibleValue::new(system.name).help(system.about));
    let named = |name: String| SYSTEMS.iter().find(|system| system.name == name);
    PossibleValuesParser::new(names).map(move |name| named(name).expect("no other is let through"))
}
