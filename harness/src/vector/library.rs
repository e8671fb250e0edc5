//! Which vectors are there in a folder?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Errors, Place, VectorFile, parse};
use crate::notation::Notation;

/// Reads one file.
///
/// # Errors
/// [`Errors`] where it cannot be read, or with everything that is wrong in it.
pub fn load_file<V: Notation>(path: &Path) -> Result<VectorFile<V>, Errors> {
    let name = path.display().to_string();
    let unreadable = |error| Error::of_file(&name, format!("cannot be read: {error}"));
    let bytes = fs::read(path).map_err(unreadable)?;
    parse(&name, &bytes)
}

/// Reads all `.toml` and `.json` files of a folder and of those within, in the order of their
/// names. They are one library: a name stands once in all of them.
///
/// # Errors
/// [`Errors`] with everything that is wrong in any of them.
pub fn load_dir<V: Notation>(folder: &Path) -> Result<Vec<VectorFile<V>>, Errors> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    let mut files = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        match load_file::<V>(&path) {
            Ok(file) => files.push(file),
            Err(Errors(more)) => errors.extend(more),
        }
    }
    errors.extend(twice(&files));
    if errors.is_empty() { Ok(files) } else { Err(Errors(errors)) }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Error> {
    let name = folder.display().to_string();
    let unreadable = |error| Error::of_file(&name, format!("cannot be read: {error}"));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            collect(&path, paths)?;
        } else if matches!(extension, Some("toml" | "json")) {
            paths.push(path);
        }
    }
    Ok(())
}

/// The vectors whose name stands in a file before.
fn twice<V: Notation>(files: &[VectorFile<V>]) -> Vec<Error> {
    let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
    let mut errors = Vec::new();
    for vector in files.iter().flat_map(|file| &file.vectors) {
        if let Some(before) = first.get(vector.name.as_str()) {
            errors.push(Error {
                place: vector.place.clone(),
                vector: Some(vector.name.clone()),
                ..Error::of_file("", format!("the name stands twice, first at {before}"))
            });
        } else {
            first.insert(&vector.name, &vector.place);
        }
    }
    errors
}
