//! `ttlspec replay`: runs vectors again.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use ttlspec_harness::recording;
use ttlspec_harness::vector::{Report, parse, spec_of, verify, verify_spec};
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_model::Engine;
use ttlspec_model::cassandra::{Cassandra, Config};

use crate::systems::{self, Optimized};
use crate::{CLEAN, FINDING, recordings, say};

#[derive(clap::Args)]
pub struct Args {
    /// Files of vectors, TOML or JSON; or recordings of real servers, `.jsonl` or `.jsonl.gz`
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Of recordings: print JSON
    #[arg(long)]
    json: bool,
    /// Of recordings: play only every so-manieth history
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Run this mutant in the place of the engine, as `check --plant` does
    #[arg(long, value_name = "NAME")]
    plant: Option<String>,
    /// Run on one of the two only; both otherwise
    #[arg(long)]
    engine: Option<Which>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The specification, which must also cite the rules
    Model,
    /// The optimized engine
    Impl,
}

/// What recordings are held against.
const RECORDED: [(Which, &recording::Open<'_>); 2] =
    [(Which::Model, &recording::specification), (Which::Impl, &optimized)];

fn optimized(config: &Config) -> Box<dyn Engine<Cassandra>> {
    Box::new(CassandraEngine::open(config))
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Model => "model",
            Which::Impl => "impl",
        }
    }
}

pub fn run(args: &Args) -> Result<u8> {
    let systems = systems::chosen(None);
    let names: Vec<&str> = systems.iter().map(|system| system.name).collect();
    systems::with_mutant(systems.clone(), args.plant.as_deref())?;
    let (recorded, vectors): (Vec<_>, Vec<_>) =
        args.files.iter().cloned().partition(|path| recordings::is_recording(path));
    let mut code = CLEAN;
    if !recorded.is_empty() {
        let engines: Vec<_> = RECORDED
            .into_iter()
            .filter(|(which, _)| args.engine.is_none_or(|asked| asked == *which))
            .map(|(which, open)| (which.name(), open))
            .collect();
        code = recordings::run(&recorded, &engines, args.every as usize, args.json)?;
    }
    for path in &vectors {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| anyhow!("{name}: cannot be read: {error}"))?;
        let spec = spec_of(&name, &bytes, &names)?;
        for system in systems.iter().filter(|system| system.name == spec) {
            code = code.max((system.replay)(args, &name, &bytes)?);
        }
    }
    Ok(code)
}

/// Runs the vectors of a file about one system.
pub fn one<V: Optimized>(args: &Args, name: &str, bytes: &[u8]) -> Result<u8> {
    let open = systems::opener::<V>(args.plant.as_deref())?;
    let file = parse::<V>(name, bytes)?;
    let mut code = CLEAN;
    for which in [Which::Model, Which::Impl] {
        if args.engine.is_some_and(|asked| asked != which) {
            continue;
        }
        let mut report = Report::default();
        for vector in &file.vectors {
            report.add(match which {
                Which::Model => verify_spec(vector),
                Which::Impl => verify(vector, |config| open(config)),
            });
        }
        let on = match which {
            Which::Model => "specification",
            Which::Impl => "engine",
        };
        say(format_args!("{name} on the {on}: {report}"))?;
        if !report.is_success() {
            code = FINDING;
        }
    }
    Ok(code)
}
