//! `ttlspec coverage`: writes the table of what shows each rule, or compares it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{CLEAN, FINDING, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
    /// Compare what stands there, and write nothing
    #[arg(long)]
    check: bool,
}

pub fn run(args: &Args) -> Result<u8> {
    let specs = library::specs(args.specs.as_deref());
    let model = specs.join("../model/src");
    let coverage = ttlspec_harness::coverage::gather(&specs, &model)?;
    let table = specs.join("COVERAGE.md");
    let missing = coverage.missing();
    for sentence in &missing {
        eprintln!("{sentence}");
    }
    let is_old = fs::read_to_string(&table).unwrap_or_default() != coverage.render();
    if args.check {
        let state = if is_old { "out of date: run `ttlspec coverage`" } else { "up to date" };
        say(format_args!("{}: {state}", table.display()))?;
        return Ok(if is_old || !missing.is_empty() { FINDING } else { CLEAN });
    }
    fs::write(&table, coverage.render()).with_context(|| format!("{}", table.display()))?;
    say(format_args!("{}: written", table.display()))?;
    Ok(if missing.is_empty() { CLEAN } else { FINDING })
}
