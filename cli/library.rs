//! Where do the book and its vectors lie?

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ttlspec_harness::vector::{self, VectorFile};
use ttlspec_model::mongodb::MongoDb;

/// The folder of the book: what was asked for, `specs` here, or the one that this was built beside.
pub fn specs(asked: Option<&Path>) -> PathBuf {
    let here = Path::new("specs");
    let built_beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/specs"));
    match asked {
        Some(asked) => asked.to_owned(),
        None if here.join("mongodb").is_dir() => here.to_owned(),
        None => built_beside.to_owned(),
    }
}

/// All vectors of MongoDB.
pub fn vectors(specs: &Path) -> Result<Vec<VectorFile<MongoDb>>> {
    let folder = specs.join("mongodb/vectors");
    let files = vector::load_dir::<MongoDb>(&folder)?;
    (!files.is_empty()).then_some(files).with_context(|| {
        format!("{}: no vectors here; give the book with --specs", folder.display())
    })
}
