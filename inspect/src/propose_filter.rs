//! How would a document have to look for a partial filter to hold it?

use crate::json::relaxed;
use bson::{Bson, DateTime, Document};
use ttlspec_model::mongodb::filter::{self, Comparison, Filter, Test, TypeName};
use ttlspec_model::mongodb::version::Version;

use crate::case::set;

/// Documents that the filter holds, each with the words for what is different.
pub fn satisfy(server: Version, filter: &Filter, document: &Document) -> Vec<(String, Document)> {
    match filter {
        Filter::And(parts) => {
            let mut all = (Vec::new(), document.clone());
            for part in parts {
                if filter::member(server, part, &all.1).verdict {
                    continue;
                }
                let Some((words, changed)) = satisfy(server, part, &all.1).into_iter().next()
                else {
                    return Vec::new();
                };
                all.0.push(words);
                all.1 = changed;
            }
            vec![(all.0.join(" and "), all.1)]
        }
        Filter::Or(parts) => {
            parts.iter().flat_map(|part| satisfy(server, part, document)).take(2).collect()
        }
        Filter::At(path, test) => {
            let holds = |value: &Bson| {
                let changed = with(document, path, value.clone());
                filter::member(server, filter, &changed).verdict.then_some(changed)
            };
            let values = values(test);
            let found = values.into_iter().find_map(|value| holds(&value).map(|doc| (value, doc)));
            let found = found.map(|(value, changed)| {
                let words = match test {
                    Test::Exists => format!("`{path}` were there"),
                    _ => format!("`{path}` were {}", relaxed(&value)),
                };
                (words, changed)
            });
            found.into_iter().collect()
        }
        Filter::Refused(_) => Vec::new(),
    }
}

fn with(document: &Document, path: &str, value: Bson) -> Document {
    let mut root = Bson::Document(document.clone());
    let parts: Vec<&str> = path.split('.').collect();
    set(&mut root, &parts, value);
    match root {
        Bson::Document(document) => document,
        _ => Document::new(),
    }
}

/// Values that may pass a test.
fn values(test: &Test) -> Vec<Bson> {
    match test {
        Test::Exists => vec![Bson::Boolean(true)],
        Test::In(values) => values.clone(),
        Test::Compare(Comparison::Gt, value) => vec![next(value, 1)],
        Test::Compare(Comparison::Lt, value) => vec![next(value, -1)],
        Test::Compare(_, value) => vec![value.clone()],
        Test::Type(names) => names.iter().filter_map(|name| of_type(*name)).collect(),
    }
}

/// A value a little above or below.
fn next(value: &Bson, step: i32) -> Bson {
    match value {
        Bson::Int32(int) => Bson::Int64(i64::from(*int) + i64::from(step)),
        Bson::Int64(long) => Bson::Int64(long.saturating_add(i64::from(step))),
        Bson::Double(double) => Bson::Double(double + f64::from(step)),
        Bson::DateTime(date) => {
            let millis = date.timestamp_millis().saturating_add(i64::from(step));
            Bson::DateTime(DateTime::from_millis(millis))
        }
        Bson::String(text) if step > 0 => Bson::String(format!("{text} ")),
        Bson::String(_) => Bson::String(String::new()),
        Bson::Boolean(_) => Bson::Boolean(step > 0),
        other => other.clone(),
    }
}

fn of_type(name: TypeName) -> Option<Bson> {
    Some(match name {
        TypeName::Number | TypeName::One(16) => Bson::Int32(1),
        TypeName::One(1) => Bson::Double(1.5),
        TypeName::One(2) => Bson::String("text".to_owned()),
        TypeName::One(3) => Bson::Document(Document::new()),
        TypeName::One(4) => Bson::Array(Vec::new()),
        TypeName::One(8) => Bson::Boolean(true),
        TypeName::One(9) => Bson::DateTime(DateTime::from_millis(0)),
        TypeName::One(10) => Bson::Null,
        TypeName::One(18) => Bson::Int64(1),
        TypeName::One(_) => return None,
    })
}
