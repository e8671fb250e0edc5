//! `ttlspec corpus`: writes the vectors as seeds for the fuzz targets.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use ttlspec_harness::Vector;
use ttlspec_harness::fuzzing::{self, Seed};
use ttlspec_model::mongodb::MongoDb;

use crate::{CLEAN, library, say};

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
    let files = library::vectors(&specs)?;
    let vectors: Vec<Vector<MongoDb>> = files.into_iter().flat_map(|file| file.vectors).collect();
    let seeds = fuzzing::seeds(&vectors);
    for (number, Seed { target, bytes }) in seeds.iter().enumerate() {
        let folder = args.folder.join(target);
        fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
        let file = folder.join(format!("vector-{number:05}"));
        fs::write(&file, bytes).with_context(|| format!("{}", file.display()))?;
    }
    say(format_args!("{} seeds in {}", seeds.len(), args.folder.display()))?;
    Ok(CLEAN)
}
