//! `ttlspec corpus`: writes the vectors as seeds for the fuzz targets.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ttlspec_harness::System;
use ttlspec_harness::fuzzing::{self, Seed};

use crate::{CLEAN, library, say, systems};

#[derive(clap::Args)]
pub struct Args {
    /// The folder that gets a folder for each target, such as `fuzz/corpus`
    folder: PathBuf,
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8> {
    let specs = library::specs(args.specs.as_deref());
    let systems = systems::chosen(None).into_iter();
    let seeds = systems.map(|system| (system.seeds)(&specs)).collect::<Result<Vec<_>>>()?.concat();
    for (number, Seed { target, bytes }) in seeds.iter().enumerate() {
        let folder = args.folder.join(target);
        fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
        let file = folder.join(format!("vector-{number:05}"));
        fs::write(&file, bytes).with_context(|| format!("{}", file.display()))?;
    }
    say(format_args!("{} seeds in {}", seeds.len(), args.folder.display()))?;
    Ok(CLEAN)
}

/// The vectors of one system.
pub fn one<V: System>(specs: &Path) -> Result<Vec<Seed>> {
    Ok(fuzzing::seeds::<V>(&library::vectors(specs)?))
}
