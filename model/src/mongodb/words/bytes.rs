//! Documents and values that are equal only if they are the same.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use bson::{Bson, Document};

/// A document. Two are equal if they are the same byte for byte, the order of fields included.
#[derive(Clone, Debug, Default)]
pub struct Doc(pub Document);

/// A value. Two are equal if they are the same byte for byte: NaN equals itself, 1 is not 1.0.
#[derive(Clone, Debug)]
pub struct Value(pub Bson);

impl Deref for Doc {
    type Target = Document;
    fn deref(&self) -> &Document {
        &self.0
    }
}

impl Deref for Value {
    type Target = Bson;
    fn deref(&self) -> &Bson {
        &self.0
    }
}

impl PartialEq for Doc {
    fn eq(&self, other: &Doc) -> bool {
        same_document(&self.0, &other.0)
    }
}
impl Eq for Doc {}
impl Hash for Doc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_document(&self.0, state);
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        same(&self.0, &other.0)
    }
}
impl Eq for Value {}
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_value(&self.0, state);
    }
}

impl<T: Into<Bson>> From<T> for Value {
    fn from(value: T) -> Value {
        Value(value.into())
    }
}

impl From<Document> for Doc {
    fn from(document: Document) -> Doc {
        Doc(document)
    }
}

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

fn same_document(a: &Document, b: &Document) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((m, x), (n, y))| m == n && same(x, y))
}

/// Are these the same bytes?
fn same(a: &Bson, b: &Bson) -> bool {
    match (a, b) {
        (Bson::Double(a), Bson::Double(b)) => a.to_bits() == b.to_bits(),
        (Bson::Document(a), Bson::Document(b)) => same_document(a, b),
        (Bson::Array(a), Bson::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Bson::JavaScriptCodeWithScope(a), Bson::JavaScriptCodeWithScope(b)) => {
            a.code == b.code && same_document(&a.scope, &b.scope)
        }
        (a, b) => a == b,
    }
}

fn hash_document<H: Hasher>(document: &Document, state: &mut H) {
    document.len().hash(state);
    for (name, value) in document {
        name.hash(state);
        hash_value(value, state);
    }
}

/// The crate's own hash leaves out the type and the order of fields; a checker would take many
/// states for one.
fn hash_value<H: Hasher>(value: &Bson, state: &mut H) {
    (value.element_type() as u8).hash(state);
    match value {
        Bson::Double(double) => double.to_bits().hash(state),
        Bson::Document(document) => hash_document(document, state),
        Bson::Array(array) => {
            array.len().hash(state);
            array.iter().for_each(|element| hash_value(element, state));
        }
        other => other.hash(state),
    }
}
