//! Which partial filters?

use bson::{Bson, Document, doc};

use super::any::{path, value};
use super::number::number;
use crate::values::{Source, chance, count, one_of, pick};

/// How deep `$and` and `$or` nest: further than any server allows.
const DEEPEST: usize = 6;

/// The `partialFilterExpression` of an index: mostly one that servers accept.
pub fn filter(source: &mut dyn Source) -> Document {
    conditions(source, 0)
}

fn conditions(source: &mut dyn Source, depth: usize) -> Document {
    let mut filter = Document::new();
    for _ in 0..1 + count(source, if depth == 0 { 2 } else { 1 }) {
        let (name, condition) = condition(source, depth);
        filter.insert(name, condition);
    }
    if chance(source, 12) { Document::new() } else { filter }
}

fn condition(source: &mut dyn Source, depth: usize) -> (String, Bson) {
    let kinds = if depth < DEEPEST { 18 } else { 10 };
    match source.choose(kinds) {
        0 => met(source),
        1..=4 => (pick(source, &["t", "a", "b"]).to_owned(), Bson::Document(operators(source))),
        5..=7 => (path(source), Bson::Document(operators(source))),
        8 => (path(source), operand(source)),
        9 => odd(source),
        _ => {
            let name = pick(source, &["$and", "$or", "$and", "$or", "$nor"]);
            let parts = 1 + count(source, 2);
            let parts = (0..parts).map(|_| Bson::Document(conditions(source, depth + 1)));
            (name.to_owned(), Bson::Array(parts.collect()))
        }
    }
}

/// A comparison with the field that documents have for it.
fn met(source: &mut dyn Source) -> (String, Bson) {
    let name = pick(source, &["$gt", "$lte", "$eq", "$gte", "$lt"]);
    (MET.to_owned(), Bson::Document(doc! { name: pick(source, &met_values()) }))
}

/// The field of documents that filters are to meet.
pub(super) const MET: &str = "x";

/// What it holds, and what it is compared to.
pub(super) fn met_values() -> [Bson; 8] {
    [
        Bson::Int32(5),
        Bson::Int32(6),
        Bson::Double(f64::NAN),
        Bson::Double(5.5),
        Bson::Null,
        Bson::MinKey,
        Bson::MaxKey,
        "NaN".parse().map_or(Bson::Null, Bson::Decimal128),
    ]
}

/// What stands where a path should.
fn odd(source: &mut dyn Source) -> (String, Bson) {
    const NAMES: [&str; 12] = [
        "$comment",
        "$alwaysTrue",
        "$alwaysFalse",
        "$expr",
        "$jsonSchema",
        "$where",
        "$text",
        "$and",
        "$or",
        "$nor",
        "",
        "$",
    ];
    (pick(source, &NAMES).to_owned(), operand(source))
}

/// One operator on a path or two, with what each compares to.
fn operators(source: &mut dyn Source) -> Document {
    (0..1 + count(source, 1)).map(|_| operator(source)).collect()
}

fn operator(source: &mut dyn Source) -> (String, Bson) {
    const COMPARISONS: [&str; 5] = ["$eq", "$gt", "$gte", "$lt", "$lte"];
    const REFUSED: [&str; 20] = [
        "$ne",
        "$nin",
        "$not",
        "$regex",
        "$options",
        "$mod",
        "$size",
        "$elemMatch",
        "$bitsAllSet",
        "$bitsAllClear",
        "$bitsAnySet",
        "$bitsAnyClear",
        "$geoWithin",
        "$geoIntersects",
        "$within",
        "$near",
        "$unknown",
        "$",
        "eq",
        "$ref",
    ];
    let (name, argument) = match source.choose(16) {
        0..=6 => (pick(source, &COMPARISONS), operand(source)),
        7 | 8 => ("$exists", exists(source)),
        9 | 10 => ("$type", types(source)),
        11 | 12 => ("$in", list(source)),
        13 => ("$all", list(source)),
        14 => (pick(source, &["$in", "$all", "$type", "$exists"]), operand(source)),
        _ => (pick(source, &REFUSED), operand(source)),
    };
    (name.to_owned(), argument)
}

fn exists(source: &mut dyn Source) -> Bson {
    pick(
        source,
        &[
            Bson::Boolean(true),
            Bson::Int32(1),
            Bson::Boolean(false),
            Bson::Double(f64::NAN),
            Bson::Int32(0),
            Bson::Null,
            Bson::String(String::new()),
        ],
    )
}

fn list(source: &mut dyn Source) -> Bson {
    Bson::Array((0..count(source, 3)).map(|_| operand(source)).collect())
}

/// What a value is compared to: any value, the extremes and awkward ones often.
fn operand(source: &mut dyn Source) -> Bson {
    one_of(
        source,
        &[
            (4, number),
            (5, value),
            (1, |_| Bson::Null),
            (1, |source| pick(source, &[Bson::MinKey, Bson::MaxKey])),
            (1, |source| {
                pick(
                    source,
                    &[
                        Bson::Array(vec![]),
                        Bson::Array(vec![Bson::Int32(1)]),
                        Bson::Array(vec![Bson::Null]),
                        Bson::Array(vec![Bson::Array(vec![Bson::Int32(1)])]),
                        Bson::Document(doc! {}),
                        Bson::Document(doc! { "t": 1 }),
                        Bson::Document(doc! { "$ref": "a", "$id": 1 }),
                        Bson::Document(doc! { "$gt": 1 }),
                        Bson::Undefined,
                    ],
                )
            }),
        ],
    )
}

/// The argument of `$type`: every alias and number, some that there are not, and lists.
fn types(source: &mut dyn Source) -> Bson {
    match source.choose(8) {
        7 => Bson::Array((0..count(source, 3)).map(|_| type_name(source)).collect()),
        _ => type_name(source),
    }
}

fn type_name(source: &mut dyn Source) -> Bson {
    const ALIASES: [&str; 24] = [
        "date",
        "number",
        "int",
        "long",
        "double",
        "decimal",
        "string",
        "bool",
        "null",
        "array",
        "object",
        "objectId",
        "timestamp",
        "undefined",
        "binData",
        "regex",
        "symbol",
        "javascript",
        "javascriptWithScope",
        "dbPointer",
        "minKey",
        "maxKey",
        "missing",
        "Date",
    ];
    match source.choose(4) {
        0 | 1 => Bson::String(pick(source, &ALIASES).to_owned()),
        2 => Bson::Int32(source.choose(21) as i32),
        _ => pick(
            source,
            &[
                Bson::Int32(-1),
                Bson::Int32(127),
                Bson::Double(9.0),
                Bson::Double(9.5),
                Bson::Int64(9),
                Bson::Int32(255),
                Bson::Double(f64::NAN),
                "9".parse().map_or(Bson::Null, Bson::Decimal128),
                Bson::Null,
                Bson::Boolean(true),
            ],
        ),
    }
}
