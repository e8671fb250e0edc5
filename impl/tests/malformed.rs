//! Bytes that are no BSON are refused, and nothing panics over them.

use bson::{Bson, DateTime, Document, bson, doc};
use ttlspec_impl::mongodb::bytes::{Unfit, Value, check, elements, kind};
use ttlspec_impl::mongodb::filter::Filter;
use ttlspec_impl::mongodb::key_extractor::{NoKeys, Path, least_date};
use ttlspec_impl::mongodb::order::{compare, hash};
use ttlspec_impl::mongodb::{Collection, Kind, Refusal};
use ttlspec_model::mongodb::Version;
use ttlspec_model::time::Millis;

const VERSION: Version = Version::new(8, 0, 0);

/// A small generator with a seed, so that a failure can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

fn sound() -> Document {
    doc! {
        "_id": 1,
        "a": [{ "b": DateTime::from_millis(5), "c": [1, 2.5] }, "text", { "0": null }],
        "code": Bson::JavaScriptCodeWithScope(bson::JavaScriptCodeWithScope {
            code: "f".into(),
            scope: doc! { "x": 1 },
        }),
        "regex": Bson::RegularExpression(bson::Regex {
            pattern: "p".to_owned().try_into().expect("there is no NUL"),
            options: "i".to_owned().try_into().expect("there is no NUL"),
        }),
        "bytes": Bson::Binary(bson::Binary { subtype: 2u8.into(), bytes: vec![1, 2, 3] }),
        "more": [bson!({ "$gt": [] }), Bson::MinKey, Bson::MaxKey, Bson::Undefined],
    }
}

fn encoded(document: &Document) -> Vec<u8> {
    document.to_vec().expect("it is BSON")
}

/// Asks everything there is to ask of some bytes.
fn ask_everything(bytes: &[u8]) {
    let is_sound = check(bytes).is_ok();
    for path in ["a", "a.b", "a.0.b", "a.0", "a.1", "more.0", "x.y.z"] {
        match least_date(bytes, &Path::new(path.as_bytes())) {
            Err(NoKeys::Malformed(malformed)) => {
                assert!(!is_sound && malformed.offset <= bytes.len(), "{path} {malformed}");
            }
            Ok(_) | Err(NoKeys::Ambiguous { .. }) => {}
        }
    }
    let whole = Value::new(kind::DOCUMENT, bytes);
    assert!(compare(whole, whole).is_eq());
    hash(whole);
    if let Ok(mut fields) = elements(bytes) {
        while let Ok(Some((_, value))) = fields.advance() {
            assert!(compare(value, value).is_eq());
            hash(value);
        }
    }
    let filter = encoded(
        &doc! { "a.b": { "$gt": DateTime::from_millis(0) }, "more": { "$in": [[1], { "x": 1 }] } },
    );
    let filter = Filter::new(VERSION, Value::new(kind::DOCUMENT, &filter)).expect("it is a filter");
    assert!(filter.holds(bytes).is_ok() || !is_sound);
    let _ = Filter::new(VERSION, whole);

    let mut collection = Collection::new(VERSION, Kind::Plain);
    collection.create_index(
        &encoded(
            &doc! { "key": { "a.b": 1 }, "name": "a", "unique": true, "expireAfterSeconds": 1 },
        ),
        Millis(0),
    );
    let inserted = collection.insert(bytes);
    assert_eq!(matches!(inserted, Err(Refusal::Unfit(_))), !is_sound, "{inserted:?}");
    collection.create_index(bytes, Millis(0));
    collection.coll_mod(bytes, Millis(0));
    collection.pass(Millis(i64::MAX), &mut |_| {});
}

#[test]
fn no_prefix_of_a_document_is_one() {
    let bytes = encoded(&sound());
    ask_everything(&bytes);
    for length in 0..bytes.len() {
        let mut prefix = bytes[..length].to_vec();
        assert!(check(&prefix).is_err());
        ask_everything(&prefix);
        // The same, with a frame that fits.
        if length >= 5 {
            prefix[..4].copy_from_slice(&(length as i32).to_le_bytes());
            prefix[length - 1] = 0;
            ask_everything(&prefix);
        }
    }
}

#[test]
fn changed_bytes_never_panic() {
    let bytes = encoded(&sound());
    let mut random = Random(1);
    for _ in 0..20_000 {
        let mut changed = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(changed.len());
            changed[at] = match random.below(4) {
                0 => 0,
                1 => 0xff,
                2 => changed[at].wrapping_add(1),
                _ => random.below(256) as u8,
            };
        }
        ask_everything(&changed);
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random(2);
    for _ in 0..50_000 {
        let length = 5 + random.below(60);
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| match random.below(3) {
                0 => 0,
                1 => random.below(20) as u8,
                _ => random.below(256) as u8,
            })
            .collect();
        bytes[..4].copy_from_slice(&(length as i32).to_le_bytes());
        bytes[length - 1] = 0;
        ask_everything(&bytes);
    }
}

#[test]
fn nesting_has_an_end() {
    let nested = |levels: usize| {
        let mut document = doc! {};
        for _ in 1..levels {
            document = doc! { "a": document };
        }
        encoded(&document)
    };

    assert_eq!(check(&nested(200)), Ok(()));
    assert_eq!(check(&nested(201)), Err(Unfit::TooDeep));
    let deep = nested(3_000);
    let whole = Value::new(kind::DOCUMENT, &deep);
    assert!(compare(whole, whole).is_eq());
    hash(whole);
}
