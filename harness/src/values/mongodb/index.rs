//! Which index specifications?

use bson::{Bson, Document, doc};

use super::any::{path, value};
use super::filter::filter;
use super::number::seconds;
use crate::values::{Generator, Source, chance, count, one_of, pick};

/// The names of indexes. Few, so that they clash, and that drop and collMod find them.
pub(super) const NAMES: [&str; 4] = ["ttl", "other", "third", "_id_"];

/// A key pattern: mostly one ordered field.
pub fn key_pattern(source: &mut dyn Source) -> Document {
    let wildcard = |_: &mut dyn Source| doc! { "$**": 1 };
    one_of(source, &[(8, one_field), (2, compound), (2, anything), (1, wildcard)])
}

fn one_field(source: &mut dyn Source) -> Document {
    let path = path(source);
    doc! { path: direction(source) }
}

fn compound(source: &mut dyn Source) -> Document {
    (0..2 + count(source, 1)).map(|_| (path(source), direction(source))).collect()
}

fn direction(source: &mut dyn Source) -> Bson {
    pick(source, &[Bson::Int32(1), Bson::Int32(-1), Bson::Double(1.0), Bson::Int64(-1)])
}

fn anything(source: &mut dyn Source) -> Document {
    const PATHS: [&str; 14] = [
        "t", "_id", "$**", "a.$**", "", "a.", ".a", "$a", "a.$id", "a.$b", "$ref", "_fts", "a..b",
        "a.$**.b",
    ];
    let path = |source: &mut dyn Source| pick(source, &PATHS);
    let fields = count(source, 2);
    (0..fields).map(|_| (path(source).to_owned(), key_value(source))).collect()
}

fn key_value(source: &mut dyn Source) -> Bson {
    let text = |text: &str| Bson::String(text.to_owned());
    match source.choose(23) {
        0 => Bson::Int32(1),
        1 => Bson::Int32(-1),
        2 => text("hashed"),
        3 => text("text"),
        4 => text("2dsphere"),
        5 => text("2d"),
        6 => Bson::Int32(2),
        7 => Bson::Int32(0),
        8 => Bson::Double(1.5),
        9 => Bson::Double(0.5),
        10 => Bson::Double(0.0),
        11 => Bson::Double(-0.0),
        12 => Bson::Double(f64::NAN),
        13 => Bson::Double(f64::INFINITY),
        14 => Bson::Boolean(true),
        15 => text("btree"),
        16 => text(""),
        17 => Bson::Null,
        18 => Bson::Int64(i64::MIN),
        19 => "1".parse().map_or(Bson::Null, Bson::Decimal128),
        20 => "NaN".parse().map_or(Bson::Null, Bson::Decimal128),
        21 => Bson::Int64(1 << 32 | 1),
        _ => value(source),
    }
}

/// An index specification, as `createIndexes` is given it: mostly a TTL index that can be made.
pub fn spec(source: &mut dyn Source) -> Document {
    let mut spec = one_of(source, &[(5, usual), (5, free)]);
    while chance(source, 6) {
        distort(source, &mut spec);
    }
    spec
}

/// A TTL index on the path that documents have.
fn usual(source: &mut dyn Source) -> Document {
    let key = one_of(source, &[(4, |_| doc! { "t": 1 }), (2, one_field)]);
    doc! { "key": key, "name": pick(source, &NAMES[..2]), "expireAfterSeconds": seconds(source) }
}

/// An index with any of the options.
fn free(source: &mut dyn Source) -> Document {
    let mut spec = doc! { "key": key_pattern(source), "name": pick(source, &NAMES) };
    if !chance(source, 5) {
        spec.insert("expireAfterSeconds", seconds(source));
    }
    if chance(source, 3) {
        spec.insert("partialFilterExpression", filter(source));
    }
    for option in ["sparse", "unique", "hidden"] {
        if chance(source, 6) {
            spec.insert(option, flag(source));
        }
    }
    spec
}

fn flag(source: &mut dyn Source) -> Bson {
    const USUAL: Generator<Bson> = |source| Bson::Boolean(!chance(source, 3));
    const OTHER: Generator<Bson> = |source| {
        pick(
            source,
            &[
                Bson::Int32(1),
                Bson::Int32(0),
                Bson::Double(-0.0),
                Bson::Double(f64::NAN),
                Bson::String("true".into()),
                Bson::Null,
                Bson::Document(doc! {}),
            ],
        )
    };
    one_of(source, &[(5, USUAL), (1, OTHER)])
}

/// Does one thing to a specification that somebody could have done.
fn distort(source: &mut dyn Source, spec: &mut Document) {
    const FIELDS: [&str; 8] = [
        "expireAfterSeconds",
        "hidden",
        "unique",
        "sparse",
        "name",
        "key",
        "partialFilterExpression",
        "v",
    ];
    match source.choose(6) {
        0 => {
            const OPTIONS: [&str; 9] =
                ["v", "ns", "background", "_id", "dropDups", "weights", "bits", "max", "collation"];
            spec.insert(pick(source, &OPTIONS), option(source));
        }
        1 => {
            const UNKNOWN: [&str; 5] =
                ["expireAfterSecs", "wildcardProjection", "prepareUnique", "clustered", ""];
            spec.insert(pick(source, &UNKNOWN), option(source));
        }
        2 => {
            spec.remove(pick(source, &FIELDS));
        }
        3 => {
            spec.insert(pick(source, &FIELDS), value(source));
        }
        4 => {
            let first = spec.keys().next().cloned().unwrap_or_default();
            if let Some(value) = spec.remove(&first) {
                spec.insert(first, value);
            }
        }
        _ => {
            spec.insert("name", pick(source, &["", "*", "_id_", "a.b", "ttl"]));
        }
    }
}

fn option(source: &mut dyn Source) -> Bson {
    pick(
        source,
        &[
            Bson::Int32(2),
            Bson::Boolean(true),
            Bson::String("db.c".into()),
            Bson::Document(doc! { "locale": "simple" }),
            Bson::Document(doc! {}),
            Bson::Null,
        ],
    )
}
