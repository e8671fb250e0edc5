//! Which collections of a dump are looked at, and with which indexes?

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::index::{Kind, SECONDS};
use ttlspec_model::mongodb::number::is_true;

use crate::dump::{Data, Dump, Skipped};
use crate::fault::Fault;
use crate::metadata::{Metadata, Sort};
use crate::whole;

/// A collection that is looked at.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Database and collection.
    pub namespace: String,
    /// Its documents; of a time-series collection, its buckets.
    pub data: Data,
    /// What is said of it, with the indexes that count, the collection itself as the first of them
    /// where it has seconds of its own. It is no view.
    pub metadata: Metadata,
    /// Is it known which indexes it has?
    pub is_known: bool,
}

/// What is looked at, and what is not.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What is looked at.
    pub chosen: Vec<Chosen>,
    /// What is not, and why.
    pub skipped: Vec<Skipped>,
    /// What could not be read or used.
    pub faults: Vec<Fault>,
}

/// Chooses by the name of a collection, with the given indexes in the place of those in the
/// metadata.
///
/// # Errors
/// A [`Fault`] where the collection that was asked for is not there.
pub fn choose(
    dump: Dump,
    collection: Option<&str>,
    indexes: Option<&[Document]>,
) -> Result<Choice, Fault> {
    let mut choice = Choice { chosen: Vec::new(), skipped: dump.skipped, faults: dump.faults };
    if indexes.is_none() {
        choice.faults.extend(dump.metadata_faults);
    }
    if let Some(wanted) = collection {
        let names: Vec<&str> = dump.collections.iter().map(|c| c.namespace.as_str()).collect();
        let is_skipped = choice.skipped.iter().any(|skipped| skipped.namespace == wanted);
        if dump.is_folder && !names.contains(&wanted) && !is_skipped {
            let what =
                format!("expected a collection `{wanted}` in the dump, found {}", list(&names));
            return Err(Fault::whole("--collection", what, "give one of those"));
        }
        choice.skipped.retain(|skipped| skipped.namespace == wanted);
    }
    for found in dump.collections {
        let namespace = match collection {
            Some(wanted) if !dump.is_folder => wanted.to_owned(),
            Some(wanted) if wanted != found.namespace => continue,
            _ => found.namespace,
        };
        if let Some(data) = found.data {
            choice.one(namespace, data, found.metadata, indexes);
        }
    }
    Ok(choice)
}

/// Names, as a message lists them.
pub fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) }
}

impl Choice {
    fn one(
        &mut self,
        namespace: String,
        data: Data,
        metadata: Option<Metadata>,
        given: Option<&[Document]>,
    ) {
        let is_known = metadata.is_some() || given.is_some();
        let mut metadata = match (metadata, given) {
            (Some(metadata), None) => metadata,
            (Some(metadata), Some(given)) => Metadata { indexes: given.to_vec(), ..metadata },
            (None, Some(given)) => Metadata::plain(given.to_vec()),
            (None, None) => {
                self.no_metadata(&namespace, &data);
                Metadata::plain(Vec::new())
            }
        };
        if let Sort::View(on) = &metadata.sort {
            if given.is_none() {
                let what = format!("expected no documents of a view on `{on}`, found some");
                let fix = "give the metadata that belongs to them";
                return self.faults.push(Fault::whole(&data.name(), what, fix));
            }
            metadata.sort = Sort::Ruled(Kind::Plain);
        }
        cluster_key(&mut metadata);
        if let Sort::Ruled(kind) = &metadata.sort {
            let own = whole::own(*kind, &metadata.options);
            metadata.indexes.splice(..0, own);
            whole::look(*kind, &mut metadata.indexes, &data);
        }
        self.chosen.push(Chosen { namespace, data, metadata, is_known });
    }

    fn no_metadata(&mut self, namespace: &str, data: &Data) {
        let file = data.name();
        let has_reason = self.faults.iter().any(|fault| is_beside(&fault.file, &file));
        if !has_reason {
            let what = format!("expected the indexes of `{namespace}`, found no metadata");
            let fix = "put the `.metadata.json` beside the documents, or give the indexes with \
                       `--index SPEC` or `--indexes FILE`";
            self.faults.push(Fault::whole(&file, what, fix));
        }
    }
}

/// A server lists the cluster key among the indexes, and it is none: neither a restore nor a sync makes
/// it again. Where nothing else says that the collection is clustered, the list does.
fn cluster_key(metadata: &mut Metadata) {
    let is_listed = |spec: &Document| spec.get("clustered").is_some_and(is_true);
    let Some(listed) = metadata.indexes.iter().find(|spec| is_listed(spec)) else { return };
    if metadata.sort == Sort::Ruled(Kind::Plain) {
        let key = listed.get("key").cloned().unwrap_or(Bson::Null);
        let seconds = listed.get(SECONDS).map(|seconds| (SECONDS.to_owned(), seconds.clone()));
        metadata.options.insert("clusteredIndex", doc! { "key": key, "unique": true });
        metadata.options.extend(seconds);
        metadata.sort = Sort::Ruled(Kind::Clustered);
    }
    metadata.indexes.retain(|spec| !is_listed(spec));
}

/// Do metadata and documents belong together?
fn is_beside(metadata: &str, data: &str) -> bool {
    let bare = |name: &str| name.strip_suffix(".gz").unwrap_or(name).to_owned();
    let data = bare(data);
    let stem = data.rsplit_once('.').map_or(data.as_str(), |(stem, _)| stem);
    bare(metadata) == format!("{stem}.metadata.json")
}
