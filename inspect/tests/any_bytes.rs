//! No bytes make it panic: valid collections, with bytes changed, cut out and put in.

use bson::{Bson, DateTime, Document, doc, oid::ObjectId};
use ttlspec_inspect::{dump_parse_bytes, indexes, instant, text};

/// A small generator, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }

    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.roll(4) {
            let at = self.roll(bytes.len());
            match self.roll(5) {
                0 if at < bytes.len() => bytes[at] = self.roll(256) as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << self.roll(8),
                2 => bytes.truncate(at),
                3 => bytes.insert(at, b"{}[]\":,\0$-'\\"[self.roll(12)]),
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => {}
            }
        }
    }
}

fn documents() -> Vec<Document> {
    let date = |millis| Bson::DateTime(DateTime::from_millis(millis));
    vec![
        doc! { "_id": 1, "a": date(1_704_067_200_000), "f": true },
        doc! { "_id": 1, "a": [date(i64::MIN), "2024-01-01", [date(i64::MAX)]], "f": { "g": 1 } },
        doc! { "_id": ObjectId::from_bytes([7; 12]), "a": [{ "b": date(0) }, { "0": 1 }] },
        doc! { "_id": ObjectId::from_bytes([0xff; 12]), "meta": { "g": 1 },
        "control": { "min": { "a": date(i64::MIN) }, "max": { "a": date(i64::MAX) } } },
        doc! { "_id": date(-1), "control": { "min": { "a": 1 } }, "meta": 1 },
        doc! { "a": { "b": [] }, "f": f64::NAN, "t": Bson::MaxKey },
        doc! { "_id": "x", "a": "2024-01-01T00:00:00Z", "n": 1_704_067_200_i64 },
    ]
}

const METADATA: [&str; 8] = [
    r#"{"options":{},"indexes":[{"v":2,"key":{"a":1},"name":"a_1","expireAfterSeconds":60},
        {"v":2,"key":{"a.0.b":-1},"name":"b","unique":true,"expireAfterSeconds":{"$numberDouble":"NaN"}}]}"#,
    r#"{"options":{"capped":true},"indexes":[{"key":{"a.b":1.0},"name":"c","expireAfterSeconds":"10",
        "partialFilterExpression":{"f":{"$gt":1},"$or":[{"f.g":{"$in":[1,null]}},{"t":{"$type":"number"}}]}}]}"#,
    r#"[{ v: 1, key: { a: 'hashed', n: 1 }, name: 'h', expireAfterSeconds: NumberLong(-5) },
        { v: 2, key: { n: 1 }, name: 'n', sparse: true, expireAfterSeconds: 1e300 }]"#,
    r#"{"a_1": {"key": [["a", 1]], "expireAfterSeconds": 2147483647, "v": 1}}"#,
    r#"{"options":{"expireAfterSeconds":1e18,"timeseries":{"timeField":"a","bucketMaxSpanSeconds":3600}},
        "indexes":[],"type":"timeseries"}"#,
    r#"{"options":{"expireAfterSeconds":-5,"clusteredIndex":{"key":{"a":1}}},"indexes":[]}"#,
    r#"{"options":{"expireAfterSeconds":60,"timeseries":{"timeField":"a","metaField":"f",
        "granularity":"seconds"}},"indexes":[{"key":{"control.min.a":1},"name":"ttl","expireAfterSeconds":5,
        "partialFilterExpression":{"$and":[{"meta.g":1}]}}]}"#,
    r#"{"options":{"expireAfterSeconds":1,"clusteredIndex":{"key":{"_id":1},"unique":true}},
        "indexes":[{"key":{"a":1},"name":"a_1","expireAfterSeconds":5}]}"#,
];

#[test]
fn spoilt_collections_are_ruled_on_or_refused() {
    let mut dice = Dice(0x5eed_0003);
    let plain: Vec<u8> = documents().iter().flat_map(|doc| doc.to_vec().unwrap()).collect();
    let lines: String = documents()
        .iter()
        .map(|doc| format!("{}\n", Bson::Document(doc.clone()).into_canonical_extjson()))
        .collect();

    let mut ruled = 0;
    for round in 0..6_000 {
        let mut bytes = if round % 2 == 0 { plain.clone() } else { lines.clone().into_bytes() };
        let mut metadata = METADATA[dice.roll(METADATA.len())].as_bytes().to_vec();
        if round > 100 {
            dice.spoil(&mut bytes);
            dice.spoil(&mut metadata);
        }
        ruled += usize::from(dump_parse_bytes(&bytes, &metadata).is_ok());
    }

    assert!(ruled > 1_000, "only {ruled} could be ruled on");
}

#[test]
fn noise_is_refused() {
    let mut dice = Dice(0x5eed_0004);
    for _ in 0..3_000 {
        let noise: Vec<u8> = (0..dice.roll(60)).map(|_| dice.roll(256) as u8).collect();
        let _ = dump_parse_bytes(&noise, METADATA[0].as_bytes());
        let _ = text::value(&noise);
        let _ = indexes::listing("noise", &noise);
        let _ = instant::lenient(&String::from_utf8_lossy(&noise));
        let _ = instant::read(&String::from_utf8_lossy(&noise));
    }
}

#[test]
fn text_is_read_as_the_values_it_stands_for() {
    let same = [
        (r#"{"$numberLong": "5"}"#, "NumberLong(5)"),
        (r#"{"$date": 5}"#, r#"new Date("1970-01-01T00:00:00.005Z")"#),
        (r#"{"$date": {"$numberLong": "5"}}"#, "ISODate('1970-01-01T00:00:00.005')"),
        (r#"{"$oid": "6591fe800000000000000001"}"#, "ObjectId('6591fe800000000000000001')"),
        (r#"{"$timestamp": {"t": 1, "i": 2}}"#, "Timestamp(1, 2)"),
        (r#"{"$numberDecimal": "1.5"}"#, "Decimal128('1.5')"),
        (r#"{"$binary": {"base64": "AAE=", "subType": "00"}}"#, "BinData(0, 'AAE=')"),
        (r#"{"$binary": "AAE=", "$type": "00"}"#, "BinData(0, 'AAE=')"),
        (r#"{"a": null, "b": [true]}"#, "{'a': None, b: (True,), // comment\n}"),
        (r#""é\u00e9\ud83d\ude00""#, "'éé😀'"),
        ("-7", "NumberInt('-7')"),
    ];
    for (canonical, written) in same {
        let read = |text: &str| text::value(text.as_bytes()).expect("it is a value");
        assert_eq!(read(canonical), read(written), "{written}");
    }
    for operator in [r#"{"$gt": 5}"#, r#"{"$type": "date"}"#, r#"{"$exists": true}"#] {
        assert!(matches!(text::value(operator.as_bytes()), Ok(Bson::Document(_))), "{operator}");
    }
    for wrong in
        [r#"{"$numberInt": "x"}"#, r#"{"$date": "soon"}"#, "{a 1}", "[1", "\"a", "nonsense"]
    {
        assert!(text::value(wrong.as_bytes()).is_err(), "{wrong}");
    }
}
