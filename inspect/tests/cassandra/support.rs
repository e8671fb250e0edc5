//! The samples.

use std::fs;
use std::path::{Path, PathBuf};

use ttlspec_inspect::cassandra::sstabledump::{self, Dump};
use ttlspec_inspect::cassandra::sstablemetadata::{self, Metadata};

/// The folder of the samples.
pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cassandra")
}

/// All files under a folder of samples, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![samples().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The bytes of a sample.
pub fn bytes(name: &str) -> Vec<u8> {
    fs::read(samples().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A sample of sstabledump.
pub fn dump(name: &str) -> Dump {
    let name = format!("sstabledump/{name}");
    sstabledump::parse(&name, &bytes(&name)).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A sample of sstablemetadata, of one sstable.
pub fn metadata(name: &str) -> Metadata {
    let name = format!("sstablemetadata/{name}");
    let all = sstablemetadata::parse(&name, &bytes(&name));
    let mut all = all.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}
