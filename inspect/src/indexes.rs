//! Which indexes does a pasted listing show?
//!
//! getIndexes of mongosh or the old shell, with the prompt and all; a reply of listIndexes; metadata
//! of mongodump; `index_information()` of the Python driver; one specification alone.

use bson::{Bson, Document};

use crate::calls;
use crate::fault::{Fault, Place};
use crate::text;

/// Reads a listing.
///
/// # Errors
/// A [`Fault`] where no index can be found in it.
pub fn listing(file: &str, bytes: &[u8]) -> Result<Vec<Document>, Fault> {
    let fault = |what: String| Fault::whole(file, what, FIX);
    let mut indexes = Vec::new();
    let mut at = 0;
    while let Some(start) = next_value(bytes, at) {
        let (value, length) = text::value_in_front(&bytes[start..]).map_err(|wrong| {
            let (line, column) = text::line_and_column(bytes, start + wrong.at);
            fault(wrong.what).at(Place::Line(line, column))
        })?;
        collect(value, &mut indexes);
        at = start + length;
    }
    if indexes.is_empty() {
        return Err(fault("expected indexes, found none".to_owned()));
    }
    Ok(indexes)
}

/// Reads one specification from the command line: whole, or only its key pattern.
///
/// # Errors
/// A [`Fault`] where it is none.
pub fn specification(given: &str) -> Result<Document, Fault> {
    let fault = |what: String| Fault::whole("--index", what, FIX_ONE);
    let value = text::value(given.as_bytes()).map_err(|wrong| {
        let (line, column) = text::line_and_column(given.as_bytes(), wrong.at);
        fault(wrong.what).at(Place::Line(line, column))
    })?;
    match value {
        Bson::Document(spec) if spec.contains_key("key") => Ok(named(spec)),
        Bson::Document(_) => Err(fault("expected a field `key`, found none".to_owned())),
        other => Err(fault(format!("expected an object, found `{other}`"))),
    }
}

/// The first byte from `at` on with which a value can begin: the first of a line, behind spaces.
/// Prompts and commands stand on lines that begin otherwise.
fn next_value(bytes: &[u8], at: usize) -> Option<usize> {
    let mut is_blank = true;
    for (offset, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'{' | b'[' if is_blank => return Some(offset),
            b'\n' => is_blank = true,
            b',' | b' ' | b'\t' | b'\r' => {}
            _ => is_blank = false,
        }
    }
    None
}

/// Takes the specifications out of whatever they are wrapped in.
fn collect(value: Bson, indexes: &mut Vec<Document>) {
    match value {
        Bson::Array(values) => {
            for value in values {
                collect(value, indexes);
            }
        }
        Bson::Document(mut document) => {
            if document.contains_key("key") {
                indexes.push(named(document));
            } else if let Some(list) = document.remove("indexes") {
                collect(list, indexes);
            } else if let Some(Bson::Document(mut cursor)) = document.remove("cursor") {
                if let Some(batch) = cursor.remove("firstBatch") {
                    collect(batch, indexes);
                }
            } else {
                for (name, value) in document {
                    if let Bson::Document(mut spec) = value
                        && spec.contains_key("key")
                    {
                        spec.insert("name", name);
                        indexes.push(named(spec));
                    }
                }
            }
        }
        _ => {}
    }
}

/// A key as pairs becomes a document; a missing name is made up as the drivers do.
fn named(mut spec: Document) -> Document {
    if let Some(pairs @ Bson::Array(_)) = spec.get("key")
        && let Ok(key) = calls::pairs(pairs)
    {
        spec.insert("key", key);
    }
    if !spec.contains_key("name")
        && let Ok(key) = spec.get_document("key")
    {
        let written = |value: &Bson| match value {
            Bson::String(kind) => kind.clone(),
            Bson::Double(double) => format!("{double}"),
            other => other.to_string(),
        };
        let parts: Vec<_> =
            key.iter().map(|(f, value)| format!("{f}_{}", written(value))).collect();
        spec.insert("name", parts.join("_"));
    }
    spec
}

const FIX: &str = "paste what `db.COLLECTION.getIndexes()` prints";
const FIX_ONE: &str = "write it as `{\"key\": {\"createdAt\": 1}, \"expireAfterSeconds\": 3600}`";
