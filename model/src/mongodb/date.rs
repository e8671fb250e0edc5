#![doc = include_str!("../../../specs/mongodb/2-date.md")]
//! ---
//! *Module:* which dates does an index see in a document, and which of them decides?

use bson::{Bson, Document};

use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// One index key of a document.
#[derive(Clone, Debug)]
pub struct Key {
    /// Where it stands: `stories.0.createdAt`, positions written out.
    pub path: String,
    /// The value; `None` where the path leads nowhere, which indexes as null, or not at all if the
    /// index is sparse.
    pub value: Option<Bson>,
    /// The rules that led to it.
    pub because: Vec<Rule>,
}

/// The date that decides, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dated {
    /// Where it stands, positions written out.
    pub path: String,
    /// The date.
    pub date: Millis,
}

/// A part of the path is a position of an array and a field of one of its elements at once: the
/// document cannot be in the index (error 16746).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguous {
    /// The array.
    pub path: String,
}

/// The index keys of `document` at `path`, in the order in which they are met.
///
/// # Errors
/// [`Ambiguous`], by `mongodb.date.ambiguous`.
pub fn keys(document: &Document, path: &str) -> Result<Vec<Key>, Ruling<Ambiguous>> {
    let parts: Vec<&str> = path.split('.').collect();
    let mut keys = Vec::new();
    walk(document, &parts, Way::default(), &mut keys)?;
    Ok(keys)
}

/// The smallest date among the keys, which is the one that decides.
///
/// A document that no index could hold has none.
pub fn earliest(document: &Document, path: &str) -> Ruling<Option<Dated>> {
    match keys(document, path) {
        Err(ambiguous) => ambiguous.map(|_| None),
        Ok(keys) => {
            let dates = keys.iter().filter_map(|key| match key.value {
                Some(Bson::DateTime(date)) => Some((Millis(date.timestamp_millis()), key)),
                _ => None,
            });
            match dates.min_by_key(|(date, _)| *date) {
                None => {
                    let rules: Vec<Rule> =
                        keys.iter().flat_map(|key| key.because.clone()).collect();
                    None.by(Rule::MongodbDateType).after(&rules)
                }
                Some((date, key)) => {
                    let dated = Dated { path: key.path.clone(), date };
                    Some(dated).by(Rule::MongodbDateEarliest).after(&key.because)
                }
            }
        }
    }
}

/// How a value was reached.
#[derive(Clone, Default)]
struct Way {
    path: String,
    because: Vec<Rule>,
}

impl Way {
    fn step(&self, part: &str) -> Way {
        let dot = if self.path.is_empty() { "" } else { "." };
        Way { path: format!("{}{dot}{part}", self.path), because: self.because.clone() }
    }

    fn ruled(mut self, rule: Rule) -> Way {
        self.because.push(rule);
        self
    }

    fn key(self, value: Option<Bson>) -> Key {
        Key { path: self.path, value, because: self.because }
    }
}

type Met = Result<(), Ruling<Ambiguous>>;

/// Through a document: the next part is a field.
fn walk(document: &Document, path: &[&str], way: Way, keys: &mut Vec<Key>) -> Met {
    let (part, rest) = path.split_first().expect("a path has a part left wherever it is walked");
    let way = way.step(part);
    match document.get(part) {
        Some(Bson::Array(array)) if rest.is_empty() => unwind(array, way, keys),
        Some(Bson::Array(array)) => cross(array, rest, way, keys),
        Some(value) if rest.is_empty() => {
            keys.push(way.ruled(Rule::MongodbDateValue).key(Some(value.clone())));
            Ok(())
        }
        Some(Bson::Document(inner)) => walk(inner, rest, way, keys),
        Some(_) | None => missing(way, keys),
    }
}

/// The path leads nowhere.
fn missing(way: Way, keys: &mut Vec<Key>) -> Met {
    keys.push(way.ruled(Rule::MongodbDateMissing).key(None));
    Ok(())
}

/// At the end of the path stands an array: each element is a key, as it is.
fn unwind(array: &[Bson], way: Way, keys: &mut Vec<Key>) -> Met {
    if array.is_empty() {
        keys.push(way.ruled(Rule::MongodbDateEmptyArray).key(Some(Bson::Undefined)));
        return Ok(());
    }
    for (position, element) in array.iter().enumerate() {
        let way = way.step(&position.to_string());
        let rule = match element {
            Bson::Array(_) => Rule::MongodbDateNestedArray,
            _ => Rule::MongodbDateArray,
        };
        keys.push(way.ruled(rule).key(Some(element.clone())));
    }
    Ok(())
}

/// An array stands in the middle of the path.
fn cross(array: &[Bson], path: &[&str], way: Way, keys: &mut Vec<Key>) -> Met {
    match position(array, path[0]) {
        _ if array.is_empty() => missing(way, keys),
        Some(element) => {
            let is_field_too = |element: &Bson| {
                element.as_document().is_some_and(|document| document.contains_key(path[0]))
            };
            if array.iter().any(is_field_too) {
                return Err(Ambiguous { path: way.path }.by(Rule::MongodbDateAmbiguous));
            }
            at_position(element, &path[1..], way.step(path[0]), keys)
        }
        None => {
            for (position, element) in array.iter().enumerate() {
                let way = way.step(&position.to_string()).ruled(Rule::MongodbDateThroughArray);
                match element {
                    Bson::Document(document) => walk(document, path, way, keys)?,
                    _ => missing(way, keys)?,
                }
            }
            Ok(())
        }
    }
}

/// The element that `part` names by its position, written as positions are: no leading zeros.
fn position<'a>(array: &'a [Bson], part: &str) -> Option<&'a Bson> {
    let position: usize = part.parse().ok()?;
    if position.to_string() == part { array.get(position) } else { None }
}

/// Only this element counts.
fn at_position(element: &Bson, rest: &[&str], way: Way, keys: &mut Vec<Key>) -> Met {
    let way = way.ruled(Rule::MongodbDatePosition);
    match element {
        Bson::Array(inner) if rest.is_empty() && inner.is_empty() => {
            keys.push(way.ruled(Rule::MongodbDateEmptyArray).key(Some(Bson::Undefined)));
            Ok(())
        }
        Bson::Array(inner) if !rest.is_empty() => cross(inner, rest, way, keys),
        value if rest.is_empty() => {
            keys.push(way.ruled(Rule::MongodbDatePositionLast).key(Some(value.clone())));
            Ok(())
        }
        Bson::Document(document) => walk(document, rest, way, keys),
        _ => missing(way, keys),
    }
}
