//! `ttlspec export`: prints all vectors as JSON, those of a system as one file on one line.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ttlspec_harness::Notation;
use ttlspec_harness::vector::VectorFile;

use crate::systems::{self, Verbs};
use crate::{CLEAN, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// One system only
    #[arg(value_parser = systems::parser())]
    system: Option<&'static Verbs>,
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8> {
    let specs = library::specs(args.specs.as_deref());
    for system in systems::chosen(args.system) {
        say((system.export)(&specs)?)?;
    }
    Ok(CLEAN)
}

/// The vectors of one system.
pub fn one<V: Notation>(specs: &Path) -> Result<String> {
    let all = VectorFile::<V> { path: String::new(), vectors: library::vectors(specs)? };
    Ok(serde_json::to_string(&all.to_json())?)
}
