//! What do a fuzzer's bytes stand for, where they are not a script of MongoDB?

use arbitrary::Unstructured;
use bson::Document;
use serde_json::{Value, json};
use ttlspec_model::mongodb::{Doc, MongoDb, Op, Version};

use super::Seed;
use crate::notation::extjson::document_to_json;
use crate::properties::mongodb::{filter_agrees, keys_agree};
use crate::values::mongodb as values;
use crate::vector::Vector;

/// Looks for the least date in raw bytes: a path, after its length in one byte, then a document.
///
/// `least_date` answers `Err(())` for a document that no index could hold, malformed ones included.
/// Bytes that are not exactly one well-formed document without doubled fields only must not panic.
///
/// # Panics
/// Where the engine sees another date than the specification.
pub fn keys(bytes: &[u8], least_date: impl Fn(&[u8], &str) -> Result<Option<i64>, ()>) {
    let Some((length, rest)) = bytes.split_first() else { return };
    let Some((path, document)) = rest.split_at_checked(usize::from(*length)) else { return };
    let Ok(path) = std::str::from_utf8(path) else { return };
    let of_bytes = least_date(document, path);
    let Some(read) = well_formed(document).filter(|_| is_path(path)) else { return };
    if let Err(difference) = keys_agree(&read, path, |_, _| of_bytes) {
        panic!("{difference}");
    }
}

/// Is this a path that an index may have?
fn is_path(path: &str) -> bool {
    path.split('.').all(|part| !part.is_empty() && !part.contains('\0'))
}

/// The document, if these bytes are what writing it would give.
fn well_formed(bytes: &[u8]) -> Option<Document> {
    let document = Document::from_reader(bytes).ok()?;
    (document.to_vec().ok()? == bytes).then_some(document)
}

/// Holds a document against a filter. The first byte says how the rest is read: a version and two
/// documents as they are, or choices.
///
/// `inside` is as [`filter_agrees`] has it.
///
/// # Panics
/// Where the engine differs from the specification.
pub fn filter(
    bytes: &[u8],
    inside: impl Fn(Version, &Document, &Document) -> Result<(bool, bool), i32>,
) {
    let drawn = match bytes.split_first() {
        Some((&RAW, rest)) => raw_filter(rest),
        Some((_, rest)) => {
            let mut choices = Unstructured::new(rest);
            let version = values::version(&mut choices);
            Some((version, values::filter(&mut choices), values::document(&mut choices)))
        }
        None => None,
    };
    if let Some((version, filter, document)) = drawn
        && let Err(difference) = filter_agrees(version, &filter, &document, inside)
    {
        panic!("{difference}");
    }
}

/// The first byte of input that holds its documents as they are.
const RAW: u8 = 0;

fn raw_filter(bytes: &[u8]) -> Option<(Version, Document, Document)> {
    let (at, rest) = bytes.split_first()?;
    let version = values::VERSIONS[usize::from(*at) % values::VERSIONS.len()];
    let length = usize::try_from(u32::from_le_bytes(rest.get(..4)?.try_into().ok()?)).ok()?;
    let (filter, document) = rest.split_at_checked(length)?;
    Some((version, well_formed(filter)?, well_formed(document)?))
}

/// A vector as inputs of the targets `dump_parse`, `mongodb_keys` and `mongodb_filter`.
pub(crate) fn seeds(vector: &Vector<MongoDb>) -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add = |target: &str, bytes| seeds.push(Seed { target: target.to_owned(), bytes });
    let specs: Vec<&Doc> = vector.steps.iter().filter_map(|step| spec(&step.op)).collect();
    let inserted = vector.steps.iter().filter_map(|step| inserted(&step.op));
    let documents: Vec<Vec<u8>> = inserted.filter_map(|one| one.to_vec().ok()).collect();
    add("dump_parse", [metadata(&specs), vec![0], documents.concat()].concat());
    for document in documents {
        for spec in &specs {
            if let Some(path) = spec.get_document("key").ok().and_then(|key| key.keys().next())
                && let Ok(length) = u8::try_from(path.len())
            {
                add("mongodb_keys", [&[length], path.as_bytes(), &document].concat());
            }
            if let Ok(filter) = spec.get_document("partialFilterExpression")
                && let Ok(filter) = filter.to_vec()
            {
                add("mongodb_filter", [&[RAW, 0], &filter[..], &document].concat());
            }
        }
    }
    seeds
}

/// What mongodump would write beside the documents.
fn metadata(specs: &[&Doc]) -> Vec<u8> {
    let indexes: Vec<Value> = specs.iter().map(|spec| document_to_json(spec)).collect();
    json!({ "indexes": indexes }).to_string().into_bytes()
}

fn spec(op: &Op) -> Option<&Doc> {
    match op {
        Op::CreateIndex(spec) | Op::StartBuild(spec) | Op::Arrive { index: spec, .. } => Some(spec),
        Op::At(_, op) => self::spec(op),
        _ => None,
    }
}

fn inserted(op: &Op) -> Option<&Doc> {
    match op {
        Op::Insert(document) | Op::Replace(document) => Some(document),
        Op::At(_, op) => inserted(op),
        _ => None,
    }
}
