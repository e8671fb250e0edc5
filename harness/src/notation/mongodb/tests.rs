//! What is written is read back as the same, and what is not known is refused with its path.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, Regex, Timestamp, doc,
};
use proptest::prelude::*;

use super::*;
use crate::text::{Language, write};

/// Any text, with what TOML and JSON escape more often than chance would have it.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\x00-\\x20\"'\\\\\\x7f$.éa]{0,6}",
        proptest::sample::select(extjson::KEYS.to_vec()).prop_map(str::to_owned),
        Just("$scope".to_owned()),
    ]
}

fn any_cstring() -> impl Strategy<Value = bson::raw::CString> {
    any_text().prop_map(|text| text.replace('\0', "").try_into().expect("no U+0000 is left"))
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any::<i32>().prop_map(f64::from),
        (-1000..1000).prop_map(|tenths| f64::from(tenths) / 10.0),
        proptest::sample::select(vec![
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            f64::MIN_POSITIVE / 3.0,
            f64::MAX,
            9_007_199_254_740_993.0,
        ]),
    ]
}

fn any_millis() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -100_000_000_000_000..400_000_000_000_000i64,
        0..100_000i64,
        proptest::sample::select(vec![i64::MIN, i64::MAX, -1, 253_402_300_800_000]),
    ]
}

fn any_decimal() -> impl Strategy<Value = Decimal128> {
    prop_oneof![
        any::<[u8; 16]>().prop_map(Decimal128::from_bytes),
        "-?[0-9]{1,20}(\\.[0-9]{1,10})?(E[+-]?[0-9]{1,3})?"
            .prop_map(|text| text.parse().expect("it is a decimal")),
    ]
}

fn any_scalar() -> impl Strategy<Value = Bson> {
    let oid = || any::<[u8; 12]>().prop_map(ObjectId::from_bytes);
    prop_oneof![
        any_double().prop_map(Bson::Double),
        any_text().prop_map(Bson::String),
        any::<bool>().prop_map(Bson::Boolean),
        Just(Bson::Null),
        (any_cstring(), any_cstring())
            .prop_map(|(pattern, options)| Bson::RegularExpression(Regex { pattern, options })),
        any_text().prop_map(Bson::JavaScriptCode),
        any::<i32>().prop_map(Bson::Int32),
        prop_oneof![any::<i64>(), any::<i32>().prop_map(i64::from)].prop_map(Bson::Int64),
        (any::<u32>(), any::<u32>())
            .prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
        (any::<u8>(), any::<Vec<u8>>()).prop_map(|(subtype, bytes)| {
            Bson::Binary(Binary { subtype: BinarySubtype::from(subtype), bytes })
        }),
        oid().prop_map(Bson::ObjectId),
        any_millis().prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        any_text().prop_map(Bson::Symbol),
        any_decimal().prop_map(Bson::Decimal128),
        Just(Bson::Undefined),
        Just(Bson::MaxKey),
        Just(Bson::MinKey),
        (any_text(), oid()).prop_map(|(namespace, id)| {
            // A DBPointer can be made in no other way.
            let json =
                json!({ "$dbPointer": { "$ref": namespace, "$id": { "$oid": id.to_hex() } } });
            Bson::try_from(json).expect("it is a DBPointer")
        }),
    ]
}

fn document_of(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    prop::collection::vec((any_text(), value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn any_bson() -> impl Strategy<Value = Bson> {
    any_scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
            document_of(inner.clone()).prop_map(Bson::Document),
            (any_text(), document_of(inner)).prop_map(|(code, scope)| {
                Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope })
            }),
        ]
    })
}

fn any_doc() -> impl Strategy<Value = Doc> {
    (any_bson(), document_of(any_bson())).prop_map(|(id, fields)| {
        let mut document = doc! { "_id": id };
        document.extend(fields);
        Doc(document)
    })
}

fn any_version() -> impl Strategy<Value = Version> {
    any::<(u16, u16, u16)>().prop_map(|(major, minor, patch)| Version::new(major, minor, patch))
}

fn any_op() -> impl Strategy<Value = Op> {
    let value = || any_bson().prop_map(Value);
    prop_oneof![
        Just(Op::CreateCollection(CollectionOptions::Plain)),
        Just(Op::CreateCollection(CollectionOptions::Capped)),
        Just(Op::CreateCollection(CollectionOptions::View)),
        value().prop_map(|seconds| Op::CreateCollection(CollectionOptions::WithSeconds(seconds))),
        (proptest::sample::select(vec!["clusteredIndex", "timeseries"]), document_of(any_bson()))
            .prop_map(|(kind, fields)| {
                let options = Doc(doc! { kind: fields, "expireAfterSeconds": 5 });
                Op::CreateCollection(CollectionOptions::With(options))
            }),
        any_doc().prop_map(Op::CreateIndex),
        (any_doc(), proptest::sample::select(Via::ALL.to_vec()), any_version())
            .prop_map(|(index, via, from)| Op::Arrive { index, via, from }),
        any_text().prop_map(Op::DropIndex),
        any_doc().prop_map(Op::CollMod),
        any_doc().prop_map(Op::Insert),
        any_doc().prop_map(Op::Replace),
        value().prop_map(Op::Remove),
        Just(Op::Pass),
        Just(Op::Find),
        Just(Op::ListIndexes),
    ]
}

fn any_reply() -> impl Strategy<Value = Reply> {
    let ids = || prop::collection::vec(any_bson().prop_map(Value), 0..4);
    let skipped = (any_text(), any::<i32>()).prop_map(|(index, code)| Skipped { index, code });
    let seconds = || prop::option::of(any_bson().prop_map(Value));
    let listed = (any_text(), seconds()).prop_map(|(name, seconds)| Listed { name, seconds });
    prop_oneof![
        Just(Reply::Ok),
        any::<i32>().prop_map(Reply::Error),
        any::<i32>().prop_map(Reply::Fatal),
        (0..=i64::MAX as u64).prop_map(Reply::Matched),
        any::<(Option<i64>, Option<i64>)>().prop_map(|(old, new)| Reply::Modified { old, new }),
        (ids(), prop::collection::vec(skipped, 0..3))
            .prop_map(|(deleted, skipped)| Reply::Passed { deleted, skipped }),
        ids().prop_map(Reply::Found),
        prop::collection::vec(listed, 0..3).prop_map(Reply::Indexes),
    ]
}

/// What may stand under a special key, mostly nearly right.
fn any_odd() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        any::<String>(),
        "[-+0-9.eExXnNaAiIfF()é: TZ]{0,24}",
        "-?[0-9]{1,45}(\\.[0-9]{0,40})?([eE][-+]?[0-9]{1,22})?",
        "(0x)?[0-9a-f]{24,32}",
    ];
    let leaf = prop_oneof![
        text.prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
    ];
    let names = vec!["t", "i", "base64", "subType", "pattern", "options", "$ref", "$id", "$oid"];
    leaf.prop_recursive(2, 6, 3, move |inner| {
        let field = (proptest::sample::select(names.clone()), inner);
        prop::collection::vec(field, 0..3).prop_map(|fields| Json::Object(table(fields)))
    })
}

/// The same value after it was written as text and read again.
fn through(language: Language, value: &Json) -> Json {
    let text = match language {
        Language::Json => format!("{{\"x\": {value}}}"),
        Language::Toml => format!("x = {}", write::inline(value)),
    };
    let read = language.read(&text);
    let node = read.unwrap_or_else(|error| panic!("{}: {text}", error.message));
    node.to_value()["x"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn every_value_is_read_back_to_the_last_bit(value in any_bson()) {
        let json = extjson::to_json(&value);
        let value = Value(value);

        prop_assert_eq!(Value(extjson::from_json(&json).expect("it was written")), value.clone());
        for language in [Language::Json, Language::Toml] {
            let read = extjson::from_json(&through(language, &json)).expect("it was written");
            prop_assert_eq!(Value(read), value.clone(), "{:?} {}", language, json);
        }
        // Readers that round a double on the way must find none that they round.
        let plain: Json = serde_json::from_str(&json.to_string()).expect("it is JSON");
        prop_assert_eq!(Value(extjson::from_json(&plain).expect("it was written")), value);
    }

    #[test]
    fn no_value_under_a_special_key_is_too_odd_to_be_refused(
        key in proptest::sample::select(extjson::KEYS.to_vec()),
        inner in any_odd(),
    ) {
        let json = json!({ key: inner });

        // What is read at all is read back.
        if let Ok(value) = extjson::from_json(&json) {
            let read = extjson::from_json(&extjson::to_json(&value));
            prop_assert_eq!(read.map(Value), Ok(Value(value)));
        }
    }

    #[test]
    fn every_operation_is_read_back(op in any_op()) {
        let json = MongoDb::op_to(&op);

        for language in [Language::Json, Language::Toml] {
            let read = MongoDb::op_from(&through(language, &json));
            prop_assert_eq!(read, Ok(op.clone()), "{}", json);
        }
        prop_assert!(!MongoDb::short(&op).is_empty());
    }

    #[test]
    fn every_reply_is_read_back(reply in any_reply()) {
        let json = MongoDb::reply_to(&reply);

        for language in [Language::Json, Language::Toml] {
            prop_assert_eq!(MongoDb::reply_from(&through(language, &json)), Ok(reply.clone()));
        }
        prop_assert!(!MongoDb::short_reply(&reply).is_empty());
    }

    #[test]
    fn every_configuration_is_read_back(version in any_version()) {
        let config = Config { version };

        prop_assert_eq!(MongoDb::config_from(&MongoDb::config_to(&config)), Ok(config));
    }
}

#[test]
fn the_official_forms_and_the_shorthand_are_read() {
    let oid = ObjectId::parse_str("507f1f77bcf86cd799439011").expect("it is an id");
    let date = |millis| Bson::DateTime(DateTime::from_millis(millis));
    for (json, expected) in [
        (json!({ "$date": 10_000 }), date(10_000)),
        (json!({ "$date": { "$numberLong": "-9223372036854775808" } }), date(i64::MIN)),
        (json!({ "$date": "1970-01-01T00:00:10Z" }), date(10_000)),
        (json!({ "$date": "1970-01-01T01:00:10.000+01:00" }), date(10_000)),
        (json!(5), Bson::Int32(5)),
        (json!(2_147_483_648_i64), Bson::Int64(2_147_483_648)),
        (json!(5.0), Bson::Double(5.0)),
        (json!({ "$numberInt": "5" }), Bson::Int32(5)),
        (json!({ "$numberLong": "5" }), Bson::Int64(5)),
        (json!({ "$numberDouble": "5.0" }), Bson::Double(5.0)),
        (json!({ "$numberDouble": "-Infinity" }), Bson::Double(f64::NEG_INFINITY)),
        (json!({ "$oid": "507f1f77bcf86cd799439011" }), Bson::ObjectId(oid)),
        (json!({ "$null": true }), Bson::Null),
        (json!({ "$undefined": true }), Bson::Undefined),
        (json!({ "$gt": 5 }), Bson::Document(doc! { "$gt": 5 })),
        (json!({ "$document": { "$date": 5 } }), Bson::Document(doc! { "$date": 5 })),
    ] {
        let read = extjson::from_json(&json).map(Value);
        assert_eq!(read, Ok(Value(expected)), "{json}");
    }
}

#[test]
fn the_literals_of_toml_are_doubles_integers_and_dates() {
    let toml = "x = [1, 1.0, nan, inf, 3_000_000_000, 1970-01-01T00:00:10Z, { \"$null\" = true }]";

    let node = Language::Toml.read(toml).expect("it is TOML");
    let read = extjson::from_json(&node.to_value()["x"]).map(Value);

    let expected = Bson::Array(vec![
        Bson::Int32(1),
        Bson::Double(1.0),
        Bson::Double(f64::NAN),
        Bson::Double(f64::INFINITY),
        Bson::Int64(3_000_000_000),
        Bson::DateTime(DateTime::from_millis(10_000)),
        Bson::Null,
    ]);
    assert_eq!(read, Ok(Value(expected)));
}

#[test]
fn operations_are_written_as_the_book_writes_them() {
    let insert = Op::Insert(Doc(doc! { "_id": 1, "t": DateTime::from_millis(10_000) }));
    let json = MongoDb::op_to(&insert);

    assert_eq!(MongoDb::short(&insert), "insert { _id: 1, t: date 10000 }");
    assert_eq!(json, json!({ "insert": { "_id": 1, "t": { "$date": "1970-01-01T00:00:10Z" } } }));
    assert_eq!(write::inline(&json), r#"{ insert = { _id = 1, t = { "$date" = 10_000 } } }"#);
}

#[test]
fn what_is_not_known_is_refused_with_its_path() {
    let ops = "expected one of `pass`, `find`, `list_indexes`, `tick`, `kill`, `counters`, \
               `step_down`, `step_up`, `oplog`, `events`, `drop_collection`, \
               `stale_shard_version`, `create_collection`, `create_index`, `arrive`, \
               `drop_index`, `coll_mod`, `insert`, `replace`, `remove`, `rename_collection`, \
               `start_build`, `finish_build`, `orphan`, `wake`, `set_parameter`, `fsync_lock`, \
               `block_user_writes`, `join`, `apply`, `recovering`, `restart`, `set_fcv`";
    for (json, message) in [
        (
            json!({ "insret": { "_id": 1 } }),
            format!("insret: unknown operation `insret`, {ops}; did you mean `insert`?"),
        ),
        (json!("Pass"), format!("unknown operation `Pass`, {ops}; did you mean `pass`?")),
        (
            json!("insert"),
            "`insert` takes a value: write { insert = … } (in JSON {\"insert\": …})".to_owned(),
        ),
        (json!({ "pass": {} }), "pass: `pass` takes no value: write \"pass\"".to_owned()),
        (json!({}), "expected one operation as key, found none".to_owned()),
        (
            json!({ "insert": { "_id": 1 }, "at": 1 }),
            "expected one operation as key, found `insert`, `at`".to_owned(),
        ),
        (
            json!({ "insert": { "t": 1 } }),
            "insert: expected a document with `_id`, found none: a script names its documents"
                .to_owned(),
        ),
        (
            json!({ "insert": { "_id": 1, "t": [{ "$date": true }] } }),
            "insert.t[0].$date: expected milliseconds since 1970, an instant such as \
             \"2024-01-31T00:00:00Z\", or {\"$numberLong\": …}, found `true`"
                .to_owned(),
        ),
        (
            json!({ "insert": { "_id": 1, "t": { "$date": 1, "x": 2 } } }),
            "insert.t: `$date` makes the table one value, so it stands alone, found also `x`; a \
             document with such a key is written { \"$document\": { … } }"
                .to_owned(),
        ),
        (
            json!({ "arrive": { "index": {}, "via": "upgrade", "from": "4.4.18" } }),
            "arrive.via: unknown way `upgrade`, expected one of `created`, `upgraded`, \
             `downgraded`, `synced`, `restored`; did you mean `upgraded`?"
                .to_owned(),
        ),
        (
            json!({ "arrive": { "index": {}, "via": "synced", "from": "4.4.18-ent" } }),
            "arrive.from: expected a server version such as `7.0.14`, found the string \
             `4.4.18-ent`"
                .to_owned(),
        ),
        (json!({ "arrive": { "via": "synced" } }), "arrive: `arrive` lacks `index`".to_owned()),
        (
            json!({ "drop_index": 5 }),
            "drop_index: expected a string, found the integer `5`".to_owned(),
        ),
    ] {
        let fault = MongoDb::op_from(&json).expect_err("it is no operation");
        assert_eq!(fault.to_string(), message);
    }
}

#[test]
fn a_reply_that_is_not_known_is_refused() {
    for (json, message) in [
        (
            json!({ "deletd": [1] }),
            "deletd: unknown reply `deletd`, expected one of `ok`, `error`, `fatal`, `matched`, \
             `modified`, `deleted`, `found`, `indexes`, `ticked`, `woke`, `counters`, `applied`, \
             `entries`, `events`; did you mean `deleted`?",
        ),
        (json!({ "deleted": 1 }), "deleted: expected a list, found the integer `1`"),
        (json!({ "skipped": [] }), "what a pass did lacks `deleted`"),
        (json!({ "error": "67" }), "error: expected an integer of 32 bits, found the string `67`"),
        (
            json!({ "indexes": [{ "name": "t_1", "seconds": 5 }] }),
            "indexes[0].seconds: unknown field `seconds` of an index, expected one of `name`, \
             `expireAfterSeconds`",
        ),
    ] {
        let fault = MongoDb::reply_from(&json).expect_err("it is no reply");
        assert_eq!(fault.to_string(), message);
    }
}
