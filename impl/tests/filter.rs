//! Which raw documents does a partial index hold?

use bson::{Bson, DateTime, Decimal128, Document, bson, doc};
use ttlspec_impl::mongodb::bytes::{Value, kind};
use ttlspec_impl::mongodb::filter::Filter;
use ttlspec_model::mongodb::{Version, code};

const V4_0: Version = Version::new(4, 0, 0);
const V5_0: Version = Version::new(5, 0, 0);
const V8_0: Version = Version::new(8, 0, 0);

fn compile(version: Version, filter: &Document) -> Result<Filter, i32> {
    let bytes = filter.to_vec().expect("it is BSON");
    Filter::new(version, Value::new(kind::DOCUMENT, &bytes))
}

#[track_caller]
fn holds(version: Version, filter: &Document, document: &Document) -> bool {
    let filter = compile(version, filter).expect("the filter can be read");
    filter.holds(&document.to_vec().expect("it is BSON")).expect("the document can be read")
}

/// Asserts which of the values at `a` are inside.
#[track_caller]
fn assert_inside(test: Bson, inside: &[Bson], outside: &[Bson]) {
    let filter = doc! { "a": test };
    for value in inside {
        assert!(holds(V8_0, &filter, &doc! { "a": value.clone() }), "{filter} holds {value:?}");
    }
    for value in outside {
        assert!(!holds(V8_0, &filter, &doc! { "a": value.clone() }), "{filter} not {value:?}");
    }
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse::<Decimal128>().expect("it is a decimal"))
}

#[test]
fn numbers_of_all_types_compare_by_worth() {
    let ones = [bson!(1), bson!(1i64), bson!(1.0), decimal("1.000")];
    assert_inside(bson!(1), &ones, &[bson!(2), bson!("1"), bson!(1.5), Bson::Boolean(true)]);
    assert_inside(decimal("1"), &ones, &[]);
    // 2^53 + 1 is no double.
    let long = bson!(9_007_199_254_740_993i64);
    let double = bson!(9_007_199_254_740_992.0);
    assert_inside(
        bson!({ "$gt": double.clone() }),
        &[long.clone(), bson!(1e300)],
        &[double.clone(), bson!(5)],
    );
    assert_inside(bson!({ "$lte": long }), &[double], &[]);
    // The double nearest to 0.1 is a little more than it.
    assert_inside(bson!({ "$gt": decimal("0.1") }), &[bson!(0.1)], &[decimal("0.10")]);
    assert_inside(bson!({ "$lt": 5e-324 }), &[decimal("4.9E-324"), bson!(-1)], &[bson!(5e-324)]);
    assert_inside(bson!({ "$gt": f64::MAX }), &[decimal("1E+6144"), bson!(f64::INFINITY)], &[]);
    assert_inside(bson!(0), &[bson!(-0.0), decimal("-0E+10")], &[bson!(5e-324)]);
}

#[test]
fn nan_is_equal_to_itself_only() {
    let nans = [bson!(f64::NAN), decimal("NaN")];
    for operator in ["$eq", "$lte", "$gte"] {
        assert_inside(bson!({ operator: f64::NAN }), &nans, &[bson!(1), bson!(f64::NEG_INFINITY)]);
    }
    for operator in ["$lt", "$gt"] {
        assert_inside(bson!({ operator: f64::NAN }), &[], &[bson!(f64::NAN), bson!(1)]);
    }
    assert_inside(bson!({ "$lt": 5 }), &[bson!(f64::NEG_INFINITY)], &nans);
}

#[test]
fn other_types_do_not_compare() {
    let date = Bson::DateTime(DateTime::from_millis(5));
    assert_inside(
        bson!({ "$gte": date.clone() }),
        &[date, Bson::DateTime(DateTime::from_millis(6))],
        &[bson!(6), bson!("z"), Bson::Null, Bson::MaxKey, bson!({})],
    );
    assert_inside(bson!({ "$lt": "b" }), &[bson!("a"), Bson::Symbol("a".into())], &[bson!(1)]);
}

#[test]
fn null_is_a_missing_field_too() {
    let filter = doc! { "a": null };
    assert!(holds(V8_0, &filter, &doc! {}));
    assert!(holds(V8_0, &filter, &doc! { "a": null }));
    assert!(holds(V8_0, &filter, &doc! { "a": Bson::Undefined }));
    assert!(!holds(V8_0, &filter, &doc! { "a": 1 }));
    assert!(!holds(V8_0, &doc! { "a": { "$gt": null } }, &doc! {}));
    assert!(!holds(V8_0, &doc! { "a": { "$exists": true } }, &doc! {}));
    assert!(holds(V8_0, &doc! { "a": { "$exists": true } }, &doc! { "a": null }));
}

#[test]
fn extremes_are_ends_since_4_4() {
    let above = doc! { "a": { "$gt": Bson::MinKey } };
    let below = doc! { "a": { "$lt": Bson::MinKey } };
    for document in [doc! { "a": 1 }, doc! {}] {
        assert!(holds(V8_0, &above, &document) && !holds(V8_0, &below, &document));
        assert!(holds(V4_0, &above, &document) && holds(V4_0, &below, &document));
    }
}

#[test]
fn arrays_are_met_element_by_element_and_as_a_whole() {
    assert_inside(bson!(1), &[bson!([5, 1])], &[bson!([[1]])]);
    assert_inside(bson!([1]), &[bson!([1]), bson!([5, [1]])], &[bson!([1, 1])]);
    assert_inside(bson!({ "$type": "array" }), &[bson!([]), bson!([1])], &[bson!(1)]);
    assert_inside(bson!({ "$type": ["int", 9] }), &[bson!(["x", 1])], &[bson!(["x", 1.0])]);
    let in_the_middle = doc! { "a.b": 1 };
    assert!(holds(V8_0, &in_the_middle, &doc! { "a": [{ "b": 2 }, { "b": 1 }] }));
    assert!(!holds(V8_0, &in_the_middle, &doc! { "a": [[{ "b": 1 }]] }));
    assert!(holds(V8_0, &doc! { "a.0.b": 1 }, &doc! { "a": [[{ "b": 1 }]] }));
    assert!(holds(V8_0, &doc! { "a.0": 1 }, &doc! { "a": [1] }));
    assert!(!holds(V8_0, &doc! { "a.0": 1 }, &doc! { "a": [[1]] }));
    assert!(holds(V8_0, &doc! { "a.b": null }, &doc! { "a": [{}] }));
    assert!(!holds(V8_0, &doc! { "a.b": null }, &doc! { "a": [] }));
}

#[test]
fn conditions_combine() {
    let filter =
        doc! { "$or": [{ "a": 1, "b": 2 }, { "$and": [{ "c": 3 }, { "d": { "$in": [4, 5] } }] }] };
    assert!(holds(V8_0, &filter, &doc! { "a": 1, "b": 2 }));
    assert!(holds(V8_0, &filter, &doc! { "c": 3, "d": 5 }));
    assert!(!holds(V8_0, &filter, &doc! { "a": 1, "c": 3 }));
    assert!(!holds(V8_0, &filter, &doc! { "c": 3, "d": 6 }));
    assert!(holds(V8_0, &doc! {}, &doc! {}));
}

#[test]
fn versions_differ_in_what_they_allow() {
    let nested = doc! { "$and": [{ "a": 1, "b": 2 }, { "c": 3 }] };
    for (filter, then, now) in [
        (doc! { "a": { "$gt": 1, "$lt": 5 } }, true, true),
        (doc! { "a": { "$in": [1] } }, false, true),
        (doc! { "$or": [{ "a": 1 }, { "b": 1 }] }, false, true),
        (nested, false, true),
        (doc! { "a": { "$ne": 1 } }, false, false),
        (doc! { "$nor": [{ "a": 1 }] }, false, false),
    ] {
        assert_eq!(compile(V5_0, &filter).map(|filter| filter.is_allowed()), Ok(then), "{filter}");
        assert_eq!(compile(V8_0, &filter).map(|filter| filter.is_allowed()), Ok(now), "{filter}");
    }
}

#[test]
fn what_cannot_be_read_has_its_code() {
    for (filter, expected) in [
        (doc! { "$foo": 1 }, code::BAD_VALUE),
        (doc! { "$and": [] }, code::BAD_VALUE),
        (doc! { "$expr": true }, code::QUERY_FEATURE_NOT_ALLOWED),
        (doc! { "$alwaysTrue": 2 }, code::FAILED_TO_PARSE),
        (doc! { "a": { "$type": [] } }, code::FAILED_TO_PARSE),
        (doc! { "a": { "$type": true } }, code::TYPE_MISMATCH),
        (doc! { "a": { "$gt": 1, "b": 1 } }, code::BAD_VALUE),
    ] {
        assert_eq!(compile(V8_0, &filter).map(drop), Err(expected), "{filter}");
    }
}
