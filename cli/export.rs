//! `ttlspec export`: prints all vectors as JSON.

use std::path::PathBuf;

use anyhow::Result;
use ttlspec_harness::vector::VectorFile;
use ttlspec_model::mongodb::MongoDb;

use crate::{CLEAN, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8> {
    let files = library::vectors(&library::specs(args.specs.as_deref()))?;
    let vectors = files.into_iter().flat_map(|file| file.vectors).collect();
    let all = VectorFile::<MongoDb> { path: String::new(), vectors };
    say(serde_json::to_string_pretty(&all.to_json())?)?;
    Ok(CLEAN)
}
