//! Which keys does an index see in a raw document?

use bson::spec::ElementType;
use bson::{Bson, DateTime, Document, bson, doc};
use ttlspec_impl::mongodb::key_extractor::{Key, NoKeys, Path, keys, least_date};
use ttlspec_impl::mongodb::order::equal;

fn bytes(document: &Document) -> Vec<u8> {
    document.to_vec().expect("it is BSON")
}

fn at(date_ms: i64) -> DateTime {
    DateTime::from_millis(date_ms)
}

/// Asserts that `path` has these keys in `document`; `None` is a missing field.
#[track_caller]
fn assert_keys(document: &Document, path: &str, expected: &[Option<Bson>]) {
    let bytes = bytes(document);
    let mut found = Vec::new();
    keys(&bytes, &Path::new(path.as_bytes()), &mut |key| found.push(key)).expect("it has keys");

    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (key, expected) in found.iter().zip(expected) {
        assert_eq!(*key == Key::Missing, expected.is_none(), "{key:?}");
        let expected = self::bytes(&doc! { "": expected.clone().unwrap_or(Bson::Null) });
        let mut fields = ttlspec_impl::mongodb::bytes::elements(&expected).expect("it is BSON");
        let (_, expected) = fields.advance().expect("it is BSON").expect("it has a field");
        assert!(equal(key.indexed(), expected), "{key:?}");
        assert_eq!(key.indexed().kind, expected.kind);
    }
}

#[track_caller]
fn assert_least(document: &Document, path: &str, expected: Option<i64>) {
    assert_eq!(least_date(&bytes(document), &Path::new(path.as_bytes())), Ok(expected));
}

#[track_caller]
fn assert_ambiguous(document: &Document, path: &str) {
    let least = least_date(&bytes(document), &Path::new(path.as_bytes()));
    assert!(matches!(least, Err(NoKeys::Ambiguous { .. })), "{least:?}");
}

#[test]
fn a_field_is_its_own_key() {
    assert_keys(&doc! { "b": 1, "a": at(7) }, "a", &[Some(at(7).into())]);
    assert_keys(&doc! { "a": { "b": { "c": 5 } } }, "a.b.c", &[Some(5.into())]);
    assert_keys(&doc! { "a": { "b": 5 } }, "a", &[Some(bson!({ "b": 5 }))]);
    assert_keys(&doc! { "": { "": 5 } }, ".", &[Some(5.into())]);
}

#[test]
fn a_path_that_leads_nowhere_is_missing() {
    assert_keys(&doc! {}, "a", &[None]);
    assert_keys(&doc! { "a": 5 }, "a.b", &[None]);
    assert_keys(&doc! { "a": { "c": 5 } }, "a.b", &[None]);
    assert_keys(&doc! { "a": [] }, "a.b", &[None]);
    assert_keys(&doc! { "ab": 5, "a.b": 6 }, "a.b", &[None]);
}

#[test]
fn each_element_of_an_array_at_the_end_is_a_key() {
    let elements = bson!([at(9), 5, [at(1)], at(3)]);
    assert_keys(
        &doc! { "a": elements },
        "a",
        &[Some(at(9).into()), Some(5.into()), Some(bson!([at(1)])), Some(at(3).into())],
    );
    assert_keys(&doc! { "a": [] }, "a", &[Some(Bson::Undefined)]);
}

#[test]
fn an_array_in_the_middle_is_entered() {
    let elements = bson!([{ "b": at(9) }, 5, [{ "b": at(1) }], { "b": [at(3), at(4)] }, {}]);
    let dates = [Some(at(9).into()), None, None, Some(at(3).into()), Some(at(4).into()), None];
    assert_keys(&doc! { "a": elements }, "a.b", &dates);
}

#[test]
fn a_position_picks_one_element() {
    let document = doc! { "a": [at(9), [at(5), at(4)], { "b": at(3) }, []] };
    assert_keys(&document, "a.0", &[Some(at(9).into())]);
    assert_keys(&document, "a.1", &[Some(bson!([at(5), at(4)]))]);
    assert_keys(&document, "a.1.1", &[Some(at(4).into())]);
    assert_keys(&document, "a.2.b", &[Some(at(3).into())]);
    assert_keys(&document, "a.3", &[Some(Bson::Undefined)]);
    assert_keys(&document, "a.3.b", &[None]);
    assert_keys(&document, "a.0.b", &[None]);
}

#[test]
fn a_position_that_is_not_there_is_a_field() {
    let document = doc! { "a": [{ "1": at(9) }] };
    assert_keys(&document, "a.1", &[Some(at(9).into())]);
    assert_keys(&document, "a.01", &[None]);
    assert_keys(&doc! { "a": [5, { "01": 6 }] }, "a.01", &[None, Some(6.into())]);
    assert_keys(&document, "a.99999999999999999999999999", &[None]);
}

#[test]
fn a_position_that_is_a_field_too_is_ambiguous() {
    assert_ambiguous(&doc! { "a": [{ "0": at(9) }] }, "a.0");
    assert_ambiguous(&doc! { "a": [5, { "0": 6 }] }, "a.0.b");
    assert_ambiguous(&doc! { "a": { "b": [[], [{ "0": 1 }]] } }, "a.b.1.0");
    assert_least(&doc! { "a": [5, [{ "0": 6 }]] }, "a.0", None);
}

#[test]
fn the_earliest_date_decides() {
    assert_least(&doc! { "a": [at(9), at(-3), 5, [at(-9)], at(4)] }, "a", Some(-3));
    assert_least(&doc! { "a": [{ "b": at(9) }, { "b": [at(2), "x"] }] }, "a.b", Some(2));
    assert_least(&doc! { "a": [at(i64::MAX), at(i64::MIN)] }, "a", Some(i64::MIN));
    assert_least(&doc! { "a": at(i64::MAX) }, "a", Some(i64::MAX));
    assert_least(&doc! { "a": "2024-01-01" }, "a", None);
    assert_least(
        &doc! { "a": Bson::Timestamp(bson::Timestamp { time: 1, increment: 1 }) },
        "a",
        None,
    );
}

#[test]
fn an_error_names_the_byte() {
    let mut broken = bytes(&doc! { "x": 1, "a": { "y": 2, "b": at(9) } });
    let field = broken.windows(3).position(|window| window == [9, b'b', 0]).expect("it is there");
    broken[field] = 0x55;

    let least = least_date(&broken, &Path::new(b"a.b"));

    let offset = match least {
        Err(NoKeys::Malformed(malformed)) => malformed.offset,
        other => panic!("expected malformed, found {other:?}"),
    };
    assert_eq!(offset, field);
    assert_eq!(ElementType::from(0x55), None);
}
