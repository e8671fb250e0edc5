//! Where do the book and its vectors lie?

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ttlspec_harness::vector;
use ttlspec_harness::{Notation, Vector};

use crate::systems;

/// The folder of the book: what was asked for, `specs` here, or the one that this was built beside.
pub fn specs(asked: Option<&Path>) -> PathBuf {
    let here = Path::new("specs");
    let systems = systems::chosen(None);
    let built_beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/specs"));
    match asked {
        Some(asked) => asked.to_owned(),
        None if systems.iter().any(|system| here.join(system.name).is_dir()) => here.to_owned(),
        None => built_beside.to_owned(),
    }
}

/// All vectors of a system.
pub fn vectors<V: Notation>(specs: &Path) -> Result<Vec<Vector<V>>> {
    let folder = specs.join(V::NAME).join("vectors");
    let files = vector::load_dir::<V>(&folder)?;
    let files = (!files.is_empty()).then_some(files).with_context(|| {
        format!("{}: no vectors here; give the book with --specs", folder.display())
    })?;
    Ok(files.into_iter().flat_map(|file| file.vectors).collect())
}
