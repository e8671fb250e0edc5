//! `ttlspec replay`: runs vectors again.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use ttlspec_harness::vector::{Report, load_file, verify, verify_spec};
use ttlspec_model::mongodb::MongoDb;

use crate::{CLEAN, FINDING, check, say};

#[derive(clap::Args)]
pub struct Args {
    /// Files of vectors, TOML or JSON
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Run this mutant in the place of the engine, as `check --plant` does
    #[arg(long, value_name = "NAME")]
    plant: Option<String>,
    /// Run on one of the two only
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

pub fn run(args: &Args) -> Result<u8> {
    let open = check::opener(args.plant.as_deref())?;
    let mut code = CLEAN;
    for path in &args.files {
        let file = load_file::<MongoDb>(path)?;
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
            say(format_args!("{} on the {on}: {report}", path.display()))?;
            if !report.is_success() {
                code = FINDING;
            }
        }
    }
    Ok(code)
}
