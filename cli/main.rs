//! `ttlspec`: asks the specification, and holds engines against it.
//!
//! **The book** is the documentation of the model: [`ttlspec_model::mongodb`] has the contents, and
//! [`ttlspec_model::mongodb::life`] is where to begin. [`ttlspec_harness`] is what an engine of yours
//! depends on.
//!
//! Exit codes: 0 clean, 1 a finding, 2 bad input.

mod check;
mod corpus;
mod coverage;
mod diff;
mod explain;
mod export;
mod library;
mod recordings;
mod replay;
mod simulate;
mod systems;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about = "The executable, model-checked reference for how data expires")]
struct Ttlspec {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the specification against the optimized engine: vectors, lockstep, model checks
    Check(check::Args),
    /// Say of a dump what has expired, what will, what never, and why
    Explain(explain::Args),
    /// Say of a dump what a change of version, of a value or of the monitor would delete
    Diff(diff::Args),
    /// Run vectors again, against specification and engine
    Replay(replay::Args),
    /// Play a script of collections, indexes and arrivals on the clock of the specification
    Simulate(simulate::Args),
    /// Write the table of what shows each rule, or compare it
    Coverage(coverage::Args),
    /// Print all vectors as JSON
    Export(export::Args),
    /// Write the vectors as seeds for the fuzz targets
    Corpus(corpus::Args),
}

fn main() -> ExitCode {
    let outcome = match Ttlspec::parse().verb {
        Verb::Check(args) => check::run(&args),
        Verb::Explain(args) => explain::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Coverage(args) => coverage::run(&args),
        Verb::Export(args) => export::run(&args),
        Verb::Corpus(args) => corpus::run(&args),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Prints, as long as somebody reads.
fn say(text: impl Display) -> Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Nothing was found.
const CLEAN: u8 = 0;
/// Something was found.
const FINDING: u8 = 1;
/// What was given could not be used.
const BAD_INPUT: u8 = 2;
