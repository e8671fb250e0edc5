//! What does a `.metadata.json` of mongodump say of its collection?

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::{Kind, SECONDS};
use ttlspec_model::mongodb::number::is_true;

use crate::fault::{Fault, Place};
use crate::text::{self, shortened};

/// What a collection is.
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    /// One that the chapters rule on.
    Ruled(Kind),
    /// A stored query; it reads this collection.
    View(String),
}

/// What metadata says.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The name of the collection, where it is said.
    pub name: Option<String>,
    /// What it is.
    pub sort: Sort,
    /// The options of the collection, as they are written.
    pub options: Document,
    /// The specifications of its indexes, the one on `_id` included, as they are written.
    pub indexes: Vec<Document>,
}

impl Metadata {
    /// An ordinary collection with these indexes.
    pub fn plain(indexes: Vec<Document>) -> Metadata {
        Metadata { name: None, sort: Sort::Ruled(Kind::Plain), options: Document::new(), indexes }
    }

    /// Has one of the indexes a time to live?
    pub fn has_ttl(&self) -> bool {
        self.indexes.iter().any(|index| index.contains_key(SECONDS))
    }
}

/// Reads metadata of any age: canonical, relaxed or legacy.
///
/// # Errors
/// A [`Fault`] with line and column.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Metadata, Fault> {
    let fault = |what: String| Fault::whole(file, what, FIX);
    let text = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    if text.trim_ascii().is_empty() {
        return Err(fault("expected metadata of a collection, found an empty file".to_owned()));
    }
    let value = text::value(text).map_err(|wrong| {
        let (line, column) = text::line_and_column(text, wrong.at);
        fault(wrong.what).at(Place::Line(line, column))
    })?;
    let Bson::Document(root) = value else {
        return Err(fault("expected a JSON object, found another value".to_owned()));
    };
    let indexes = match root.get("indexes") {
        None | Some(Bson::Null) => Vec::new(),
        Some(Bson::Array(list)) => list
            .iter()
            .map(|index| index.as_document().cloned())
            .collect::<Option<_>>()
            .ok_or_else(|| fault("expected objects in `indexes`, found another value".into()))?,
        Some(_) => return Err(fault("expected a list as `indexes`, found another value".into())),
    };
    if !root.contains_key("indexes") && !root.contains_key("options") {
        let what = "expected `options` or `indexes` of a collection, found neither";
        return Err(fault(what.to_owned()));
    }
    for index in &indexes {
        let found = match index.get("key") {
            Some(Bson::Document(_)) => continue,
            None => "none".to_owned(),
            Some(other) => format!("`{}`", shortened(&other.to_string())),
        };
        let name = index.get_str("name").unwrap_or_default();
        return Err(fault(format!("expected an object as `key` of index `{name}`, found {found}")));
    }
    let empty = Document::new();
    let options = match root.get("options") {
        None | Some(Bson::Null) => &empty,
        Some(Bson::Document(options)) => options,
        Some(_) => {
            return Err(fault("expected an object as `options`, found another value".into()));
        }
    };
    let name = root.get_str("collectionName").ok().map(str::to_owned);
    Ok(Metadata { name, sort: sort(&root, options), options: options.clone(), indexes })
}

fn sort(root: &Document, options: &Document) -> Sort {
    let is = |name: &str| root.get_str("type").is_ok_and(|sort| sort == name);
    if options.contains_key("viewOn") || is("view") {
        Sort::View(options.get_str("viewOn").unwrap_or("another collection").to_owned())
    } else if options.contains_key("timeseries") || is("timeseries") {
        Sort::Ruled(Kind::TimeSeries)
    } else if options.get("clusteredIndex").is_some_and(is_true) {
        let is_capped = is_capped(options);
        Sort::Ruled(if is_capped { Kind::CappedClustered } else { Kind::Clustered })
    } else if is_capped(options) {
        Sort::Ruled(Kind::Capped)
    } else {
        Sort::Ruled(Kind::Plain)
    }
}

fn is_capped(options: &Document) -> bool {
    options.get("capped").is_some_and(is_true)
}

const FIX: &str =
    "dump the collection again, or give the indexes with `--indexes FILE` or `--index SPEC`";
