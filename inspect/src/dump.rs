//! Which collections lie under a path, and what belongs to each?
//!
//! A folder of mongodump (`db/coll.bson[.gz]`, `coll.metadata.json[.gz]`, `prelude.json[.gz]`), the
//! folder of one database in it, or one file of documents with its metadata beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bson::Bson;
use ttlspec_model::mongodb::index::Kind;

use crate::bson_file::{BsonFile, LARGEST};
use crate::ejson_lines::EjsonLines;
use crate::fault::Fault;
use crate::metadata::{self, Metadata, Sort};
use crate::source::{self, Source};
use crate::text;

/// A collection that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Database and collection.
    pub namespace: String,
    /// The file of its documents; a view has none.
    pub data: Option<Data>,
    /// What is said of it; `None` where nothing lies beside the documents.
    pub metadata: Option<Metadata>,
}

/// Something that is not ruled on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The collection or the file.
    pub namespace: String,
    /// Why.
    pub reason: String,
}

/// All that lies under a path.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// The version of the server that was dumped, where a prelude says it.
    pub server: Option<String>,
    /// The collections, in the order of their names.
    pub collections: Vec<Found>,
    /// What is none of them.
    pub skipped: Vec<Skipped>,
    /// What could not be read.
    pub faults: Vec<Fault>,
    /// Metadata that could not be read or used, which does not matter where indexes are given.
    pub metadata_faults: Vec<Fault>,
    /// Is it a folder?
    pub is_folder: bool,
    /// What is to be said of the files.
    pub notes: Vec<String>,
}

/// Where documents are, to be read as often as one likes.
#[derive(Clone, Debug)]
pub enum Data {
    /// In a file.
    File(PathBuf),
    /// In memory.
    Memory(Rc<[u8]>),
}

impl Data {
    /// The name, for messages.
    pub fn name(&self) -> String {
        match self {
            Data::File(path) => path.display().to_string(),
            Data::Memory(_) => "documents".to_owned(),
        }
    }

    /// Opens it, and finds out by name and contents what it is.
    ///
    /// # Errors
    /// A [`Fault`] where it cannot be opened.
    pub fn open(&self) -> Result<Documents, Fault> {
        match self {
            Data::File(path) => Documents::in_source(source::open(path)?, &bare(path)),
            Data::Memory(bytes) => {
                let bytes = Box::new(Cursor::new(Rc::clone(bytes)));
                Documents::in_source(source::unpack(&self.name(), bytes)?, "")
            }
        }
    }
}

/// Documents, whatever they are written in.
pub enum Documents {
    /// As BSON.
    Bson(BsonFile),
    /// As text.
    Text(EjsonLines),
}

impl Documents {
    fn in_source(mut source: Source, name: &str) -> Result<Documents, Fault> {
        let file = source.file.clone();
        let head = source.reader.fill_buf().map_err(|error| source::unreadable(&file, &error))?;
        let is_bson = if name.ends_with(".bson") {
            true
        } else if TEXT_ENDS.iter().any(|end| name.ends_with(end)) {
            false
        } else {
            begins_as_bson(head)
        };
        if head.is_empty() && !is_bson {
            let what = "expected documents, found an empty file";
            return Err(Fault::whole(&file, what, "export the collection again"));
        }
        Ok(if is_bson {
            Documents::Bson(BsonFile::new(source))
        } else {
            Documents::Text(EjsonLines::new(source))
        })
    }

    /// The next document; `None` at the end.
    ///
    /// # Errors
    /// A [`Fault`] with the place; after it there is nothing more to read.
    pub fn next_document(&mut self) -> Result<Option<bson::Document>, Fault> {
        match self {
            Documents::Bson(file) => file.next_document(),
            Documents::Text(lines) => lines.next_document(),
        }
    }
}

const TEXT_ENDS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".txt", ".js"];

/// The first four bytes of BSON are a length, which no text can be.
fn begins_as_bson(head: &[u8]) -> bool {
    let length = head.first_chunk::<4>().map(|four| i32::from_le_bytes(*four));
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    let is_length = length.is_some_and(|length| (5..=LARGEST as i32).contains(&length));
    is_length || !matches!(first, Some(b'{' | b'[' | 0xef))
}

/// Looks at what lies under `path`.
///
/// # Errors
/// A [`Fault`] where nothing can be made of it at all.
pub fn find(path: &Path) -> Result<Dump, Fault> {
    let file = path.display().to_string();
    let found = fs::metadata(path).map_err(|error| source::unreadable(&file, &error))?;
    if found.is_dir() { folder(path) } else { one_file(path) }
}

// ---- one file ----------------------------------------------------------------------------------

fn one_file(path: &Path) -> Result<Dump, Fault> {
    let name = bare(path);
    let mut dump = Dump::default();
    if let Some(stem) = name.strip_suffix(METADATA) {
        let metadata = read_metadata(path)?;
        let file = path.display().to_string();
        if let Sort::View(on) = &metadata.sort {
            let what = format!("expected a collection, found the metadata of a view on `{on}`");
            let fix = format!("a view holds no documents: explain `{on}`, which it reads");
            return Err(Fault::whole(&file, what, fix));
        }
        let beside = |end: &str| path.with_file_name(format!("{stem}{end}"));
        let buckets = |end: &str| path.with_file_name(format!("{BUCKETS}{stem}{end}"));
        let ends = [".bson", ".bson.gz"];
        let data = match metadata.sort {
            Sort::Ruled(Kind::TimeSeries) => ends.map(buckets),
            _ => ends.map(beside),
        };
        let data = data.into_iter().find(|data| data.is_file());
        let data = data.ok_or_else(|| {
            let of =
                if matches!(metadata.sort, Sort::Ruled(Kind::TimeSeries)) { BUCKETS } else { "" };
            let what = format!("expected `{of}{stem}.bson` beside the metadata, found none");
            Fault::whole(&file, what, "give the documents too")
        })?;
        return one_file(&data);
    }
    // What is said of a time-series collection stands under its own name, not that of its buckets.
    let stem = stem(&name);
    let stem = stem.strip_prefix(BUCKETS).unwrap_or(stem);
    let beside = |end: &str| path.with_file_name(format!("{stem}{end}"));
    let metadata = [METADATA, ".metadata.json.gz"].map(beside).into_iter().find(|m| m.is_file());
    let metadata = match metadata {
        None => None,
        Some(metadata) => match read_metadata(&metadata) {
            Ok(read) => {
                if let Sort::View(on) = &read.sort {
                    let file = metadata.display().to_string();
                    let what = format!(
                        "expected the metadata of a collection, found that of a view on `{on}`"
                    );
                    let fix = "a view holds no documents: give the metadata that belongs to them, \
                               or the indexes with `--index SPEC`";
                    dump.metadata_faults.push(Fault::whole(&file, what, fix));
                    None
                } else {
                    Some(read)
                }
            }
            Err(fault) => {
                dump.metadata_faults.push(fault);
                None
            }
        },
    };
    if metadata.is_some() && path.extension().is_some_and(|end| end == "gz") {
        dump.notes.push(ALONE.to_owned());
    }
    let parent = fs::canonicalize(path).ok();
    let parent = parent.as_deref().and_then(Path::parent);
    dump.server = parent
        .into_iter()
        .flat_map(|db| [Some(db), db.parent()])
        .flatten()
        .find_map(|folder| prelude(folder, &mut Vec::new()));
    let database = parent.and_then(Path::file_name).map(|name| name.to_string_lossy());
    let collection = metadata.as_ref().and_then(|metadata| metadata.name.clone());
    let collection = collection.unwrap_or_else(|| unescaped(stem));
    let namespace = format!("{}.{collection}", database.unwrap_or_default());
    dump.collections.push(Found { namespace, data: Some(Data::File(path.to_owned())), metadata });
    Ok(dump)
}

const ALONE: &str = "mongorestore of this packed file alone may leave out its metadata, and with it \
                     the TTL index: restore the folder, with --gzip";

// ---- a folder ----------------------------------------------------------------------------------

fn folder(path: &Path) -> Result<Dump, Fault> {
    let mut dump = Dump { is_folder: true, ..Dump::default() };
    dump.server = prelude(path, &mut dump.faults);
    let root = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if dump.server.is_none() && dump.faults.is_empty() {
        // The folder of one database lies in the dump's.
        dump.server = root.parent().and_then(|above| prelude(above, &mut Vec::new()));
    }
    let (files, folders) = entries(path)?;
    let database = root.file_name().map(|name| name.to_string_lossy().into_owned());
    one_database(&database.unwrap_or_default(), &files, true, &mut dump);
    for folder in &folders {
        let files = match entries(folder) {
            Ok((files, _)) => files,
            Err(fault) => {
                dump.faults.push(fault);
                continue;
            }
        };
        let name = folder.file_name().map(|name| unescaped(&name.to_string_lossy()));
        one_database(&name.unwrap_or_default(), &files, false, &mut dump);
    }
    let by_name = |a: &Found, b: &Found| a.namespace.cmp(&b.namespace);
    dump.collections.sort_by(by_name);
    dump.skipped.sort_by(|a, b| a.namespace.cmp(&b.namespace));
    let faults = dump.faults.len() + dump.metadata_faults.len();
    let is_empty = dump.collections.is_empty() && faults == 0;
    if is_empty {
        let file = path.display().to_string();
        let only_views = dump.skipped.iter().any(|skipped| skipped.reason.starts_with(A_VIEW));
        return Err(if only_views {
            let what = "expected collections, found only views";
            Fault::whole(&file, what, "a view holds no documents: dump the collection it reads")
        } else if dump.skipped.is_empty() {
            let what = "expected a folder of mongodump with `.bson` files, found none";
            Fault::whole(&file, what, "give the folder that mongodump wrote, or one `.bson` file")
        } else {
            return Ok(dump);
        });
    }
    Ok(dump)
}

fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Fault> {
    let name = folder.display().to_string();
    let list = fs::read_dir(folder).and_then(|list| {
        list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut list = list.map_err(|error| source::unreadable(&name, &error))?;
    list.sort();
    Ok(list.into_iter().partition(|path| !path.is_dir()))
}

const METADATA: &str = ".metadata.json";
const BUCKETS: &str = "system.buckets.";
const A_VIEW: &str = "a view";

/// The name without `.gz`.
fn bare(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".gz").map(str::to_owned).unwrap_or(name)
}

fn stem(name: &str) -> &str {
    let mut ends = [".bson"].into_iter().chain(TEXT_ENDS);
    ends.find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

fn one_database(database: &str, files: &[PathBuf], is_root: bool, dump: &mut Dump) {
    // The data and the metadata of each collection, by the name of the files.
    let mut parts: BTreeMap<String, [Option<&PathBuf>; 2]> = BTreeMap::new();
    for path in files {
        let name = bare(path);
        let (stem, part) = match (name.strip_suffix(METADATA), name.strip_suffix(".bson")) {
            (Some(stem), _) => (stem, 1),
            (None, Some(stem)) => (stem, 0),
            (None, None) => continue,
        };
        // Of a file and its packed twin, the first in the order of names counts.
        parts.entry(stem.to_owned()).or_default()[part].get_or_insert(path);
    }
    for (stem, [data, metadata]) in &parts {
        let name = unescaped(stem);
        let namespace = format!("{database}.{name}");
        if is_root && stem == "oplog" {
            let namespace = "oplog.bson".to_owned();
            dump.skipped.push(Skipped { namespace, reason: OPLOG.to_owned() });
            continue;
        }
        let read = metadata.map(|metadata| read_metadata(metadata)).transpose();
        let read = match read {
            Ok(read) => read,
            Err(fault) => {
                dump.metadata_faults.push(fault);
                None
            }
        };
        let namespace = match read.as_ref().and_then(|read| read.name.as_ref()) {
            Some(name) => format!("{database}.{name}"),
            None => namespace,
        };
        if let Some(of) = name.strip_prefix("system.resharding.") {
            let reason = format!(
                "the temporary collection of a resharding (`{of}`): visits skip it, so nothing \
                 expires in it before it takes the place of the old one"
            );
            dump.skipped.push(Skipped { namespace, reason });
            continue;
        }
        if stem.strip_prefix(BUCKETS).is_some_and(|of| parts.contains_key(of)) {
            // They are read with the collection that they belong to.
            continue;
        }
        let is_system = name.starts_with("system.") || name.starts_with("$admin.");
        let has_ttl = read.as_ref().is_some_and(Metadata::has_ttl);
        if is_system && !has_ttl {
            let reason = match name.strip_prefix(BUCKETS) {
                Some(of) => format!(
                    "the buckets of the time-series collection `{of}`, whose metadata is not there"
                ),
                None => "a collection of the system, without a TTL index".to_owned(),
            };
            dump.skipped.push(Skipped { namespace, reason });
            continue;
        }
        let buckets = parts.get(&format!("{BUCKETS}{stem}")).and_then(|[data, _]| *data);
        let data = match &read {
            Some(Metadata { sort: Sort::Ruled(Kind::TimeSeries), .. }) => data.or(buckets),
            _ => *data,
        };
        if let (None, Some(read)) = (data, &read) {
            let on = match &read.sort {
                Sort::View(on) => Some(format!("{A_VIEW} on `{on}`: it holds no documents")),
                Sort::Ruled(Kind::TimeSeries) => Some(format!(
                    "a time-series collection without its buckets: they are `{BUCKETS}{stem}.bson`"
                )),
                _ => None,
            };
            match (on, metadata) {
                (Some(reason), _) => dump.skipped.push(Skipped { namespace, reason }),
                (None, Some(metadata)) => {
                    let what = format!("expected `{stem}.bson` beside the metadata, found none");
                    let fix = "copy the documents too, or dump the collection again";
                    dump.faults.push(Fault::whole(&metadata.display().to_string(), what, fix));
                }
                (None, None) => {}
            }
            continue;
        }
        let Some(data) = data else { continue };
        dump.collections.push(Found {
            namespace,
            data: Some(Data::File(data.clone())),
            metadata: read,
        });
    }
}

const OPLOG: &str = "the oplog of the dump: what it would change is not replayed";

fn read_metadata(path: &Path) -> Result<Metadata, Fault> {
    let bytes = source::read_small(path)?;
    metadata::parse(&path.display().to_string(), &bytes)
}

/// The version in `prelude.json`.
fn prelude(folder: &Path, faults: &mut Vec<Fault>) -> Option<String> {
    let names = ["prelude.json", "prelude.json.gz"];
    let path = names.map(|name| folder.join(name)).into_iter().find(|path| path.is_file())?;
    let read = source::read_small(&path).and_then(|bytes| {
        let version = text::value(&bytes).ok().and_then(|value| {
            let version = value.as_document().and_then(|fields| fields.get("ServerVersion"));
            version.and_then(Bson::as_str).map(str::to_owned)
        });
        version.ok_or_else(|| {
            let what = "expected `ServerVersion` in the prelude, found none";
            let file = path.display().to_string();
            Fault::whole(
                &file,
                what,
                "repair or remove the file, or give `--server VERSION` and `--from VERSION`",
            )
        })
    });
    read.map_err(|fault| faults.push(fault)).ok()
}

/// mongodump writes what a file system does not like as `%2F`.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
