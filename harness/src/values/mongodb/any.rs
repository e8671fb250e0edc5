//! Which documents and values?

use bson::oid::ObjectId;
use bson::raw::CString;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, JavaScriptCodeWithScope, RawDocument, Regex, Timestamp};

use super::filter::{MET, met_values};
use super::number::number;
use crate::values::{self, Generator, NOW, Source, chance, count, one_of, pick};

/// The names of fields. Few, so that paths meet them; two are positions as well.
const NAMES: [&str; 8] = ["t", "a", "0", "b", "1", "x", "", "00"];

/// How deep documents and arrays nest.
const DEEPEST: usize = 4;

/// A path, as an index or a filter names it.
pub fn path(source: &mut dyn Source) -> String {
    const PATHS: [&str; 24] = [
        "t",
        "a",
        "a.t",
        "a.0",
        "t.0",
        "0",
        "a.0.t",
        "t.t",
        "a.b.t",
        "a.1",
        "a.0.0",
        "a.b",
        "x",
        "0.t",
        "a.00",
        "a.b.0",
        "a.0.b.0",
        "_id",
        "a.t.0",
        "b",
        "_id.t",
        "a.-1",
        "a.2147483648",
        "a..t",
    ];
    match source.choose(PATHS.len() + 1) {
        at if at < PATHS.len() => PATHS[at].to_owned(),
        _ => {
            let parts = 1 + count(source, 4);
            (0..parts).map(|_| pick(source, &NAMES)).collect::<Vec<_>>().join(".")
        }
    }
}

/// Any document: a few fields, most of them dates or on the way to one.
pub fn document(source: &mut dyn Source) -> Document {
    fields(source, 0)
}

/// A document as it may be inserted: any, with an `_id` first.
pub fn identified(source: &mut dyn Source) -> Document {
    let mut document = Document::new();
    document.insert("_id", identity(source));
    document.extend(self::document(source));
    if chance(source, 6) {
        document.insert(MET, pick(source, &met_values()));
    }
    document
}

/// A value that an `_id` may have. Few, and some of them equal to the server, so that they clash.
pub fn identity(source: &mut dyn Source) -> Bson {
    const SMALL: Generator<Bson> = |source| Bson::Int32(1 + source.choose(5) as i32);
    const OTHER: Generator<Bson> = |source| {
        pick(
            source,
            &[
                Bson::String("a".into()),
                Bson::Int64(1),
                Bson::Double(1.0),
                Bson::Double(f64::NAN),
                Bson::Double(-0.0),
                Bson::Int32(0),
                Bson::Null,
                Bson::DateTime(bson::DateTime::from_millis(NOW.0)),
                Bson::ObjectId(ObjectId::from_bytes([7; 12])),
                Bson::Document(bson::doc! { "t": 1 }),
                Bson::Boolean(true),
                Bson::MinKey,
                "1.0".parse().map_or(Bson::MaxKey, Bson::Decimal128),
            ],
        )
    };
    one_of(source, &[(6, SMALL), (1, OTHER)])
}

/// Any value.
pub fn value(source: &mut dyn Source) -> Bson {
    nested(source, 0)
}

fn fields(source: &mut dyn Source, depth: usize) -> Document {
    let mut document = Document::new();
    for _ in 0..count(source, if depth == 0 { 3 } else { 2 }) {
        document.insert(pick(source, &NAMES), nested(source, depth + 1));
    }
    document
}

fn nested(source: &mut dyn Source, depth: usize) -> Bson {
    let shallow = if depth < DEEPEST { 14 } else { 8 };
    match source.choose(shallow) {
        0..=4 => date(source),
        5 | 6 => plain(source),
        7 => rare(source),
        8..=10 => Bson::Array((0..count(source, 4)).map(|_| nested(source, depth + 1)).collect()),
        _ => Bson::Document(fields(source, depth + 1)),
    }
}

fn date(source: &mut dyn Source) -> Bson {
    Bson::DateTime(bson::DateTime::from_millis(values::date(source)))
}

/// What people have in documents.
fn plain(source: &mut dyn Source) -> Bson {
    one_of(
        source,
        &[
            (2, |_| Bson::Null),
            (4, number),
            (2, |source| Bson::String(pick(source, &["", "a", "b", "t", "2023-11-14"]).to_owned())),
            (1, |source| Bson::Boolean(chance(source, 2))),
        ],
    )
}

/// What the other types hold.
fn rare(source: &mut dyn Source) -> Bson {
    one_of(
        source,
        &[
            (1, |source| Bson::ObjectId(ObjectId::from_bytes([source.choose(3) as u8; 12]))),
            (2, timestamp),
            (1, |_| Bson::Undefined),
            (1, |_| Bson::MinKey),
            (1, |_| Bson::MaxKey),
            (1, binary),
            (1, regex),
            (1, |source| Bson::Symbol(pick(source, &["", "a", "b"]).to_owned())),
            (1, |source| Bson::JavaScriptCode(pick(source, &["", "a"]).to_owned())),
            (1, scoped),
            (1, |_| pointer()),
        ],
    )
}

fn timestamp(source: &mut dyn Source) -> Bson {
    let time = pick(source, &[0, (NOW.0 / 1_000) as u32, u32::MAX]);
    Bson::Timestamp(Timestamp { time, increment: pick(source, &[1, 0, u32::MAX]) })
}

fn binary(source: &mut dyn Source) -> Bson {
    let subtype = pick(source, &[BinarySubtype::Generic, BinarySubtype::UserDefined(0x80)]);
    Bson::Binary(Binary { subtype, bytes: vec![1; count(source, 3)] })
}

fn regex(source: &mut dyn Source) -> Bson {
    let text = |text: &str| CString::try_from(text).expect("it has no zero byte");
    let pattern = text(pick(source, &["a", "", "^b"]));
    Bson::RegularExpression(Regex { pattern, options: text(pick(source, &["", "i"])) })
}

fn scoped(source: &mut dyn Source) -> Bson {
    let code = pick(source, &["", "a"]).to_owned();
    let scope = if chance(source, 2) {
        bson::doc! { "t": 1 }
    } else {
        Document::new()
    };
    Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope })
}

/// A DBPointer, which only bytes can make: `{ "p": DBPointer("a", 000…) }`.
fn pointer() -> Bson {
    let mut bytes = vec![26, 0, 0, 0, 0x0c, b'p', 0, 2, 0, 0, 0, b'a', 0];
    bytes.extend([0; 13]);
    let raw = RawDocument::from_bytes(&bytes).expect("its length is right");
    let document = Document::try_from(raw).expect("its field is well formed");
    document["p"].clone()
}
