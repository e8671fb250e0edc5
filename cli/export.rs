//! `ttlspec export`: prints all vectors as JSON.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use crate::{CLEAN, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8> {
    let files = library::vectors(&library::specs(args.specs.as_deref()))?;
    let all: Vec<Value> = files.iter().map(|file| file.to_json()).collect();
    say(format_args!("{}", serde_json::to_string_pretty(&Value::Array(all))?))?;
    Ok(CLEAN)
}
