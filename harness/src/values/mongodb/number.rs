//! Which numbers, and what may stand for a number of seconds?

use std::str::FromStr;

use bson::{Bson, Decimal128, doc};

use crate::values::{NOW, SECONDS, Source, one_of, pick};

/// A number of any of the four types.
pub fn number(source: &mut dyn Source) -> Bson {
    one_of(source, &[(6, lifetime), (3, int), (3, long), (4, double), (3, decimal), (2, nan)])
}

/// What somebody may give as `expireAfterSeconds`: mostly a number.
pub fn seconds(source: &mut dyn Source) -> Bson {
    one_of(source, &[(8, lifetime), (1, int), (2, long), (4, double), (2, decimal), (1, no_number)])
}

fn nan(_: &mut dyn Source) -> Bson {
    Bson::Double(f64::NAN)
}

fn lifetime(source: &mut dyn Source) -> Bson {
    Bson::Int32(pick(source, &SECONDS))
}

fn int(source: &mut dyn Source) -> Bson {
    Bson::Int32(pick(source, &[1, 0, 2, -1, 10, i32::MAX, i32::MIN, i32::MAX - 1]))
}

fn long(source: &mut dyn Source) -> Bson {
    // The age of the epoch, the 32-bit ends, and the last seconds whose milliseconds fit.
    let epoch = NOW.0 / 1_000;
    let most = i64::MAX / 1_000;
    let max = i64::from(i32::MAX);
    let min = i64::from(i32::MIN);
    let edges =
        [10, 0, -1, max, max + 1, epoch, epoch + 1, most, most + 1, i64::MAX, i64::MIN, min - 1];
    match source.choose(edges.len() + 1) {
        at if at < edges.len() => Bson::Int64(edges[at]),
        _ => Bson::Int64(source.long()),
    }
}

fn double(source: &mut dyn Source) -> Bson {
    const EDGES: [f64; 22] = [
        10.0,
        f64::NAN,
        1.5,
        0.5,
        0.0,
        -0.0,
        -0.5,
        -1.0,
        10.999,
        f64::INFINITY,
        f64::NEG_INFINITY,
        2_147_483_647.0,
        2_147_483_647.5,
        2_147_483_648.0,
        -2_147_483_648.5,
        9_007_199_254_740_993.0,
        9_223_372_036_854_775.0,
        9_223_372_036_854_775_807.0,
        -9_223_372_036_854_775_808.0,
        1e300,
        f64::MIN_POSITIVE,
        -f64::NAN,
    ];
    match source.choose(EDGES.len() + 1) {
        at if at < EDGES.len() => Bson::Double(EDGES[at]),
        _ => Bson::Double(f64::from_bits(source.bits())),
    }
}

fn decimal(source: &mut dyn Source) -> Bson {
    const EDGES: [&str; 19] = [
        "10",
        "1.5",
        "2.5",
        "0.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "-NaN",
        "0",
        "-0",
        "10.0",
        "1E+1",
        "-1",
        "2147483647.5",
        "2147483648.5",
        "9223372036854775807.5",
        "-9223372036854775808.5",
        "9.999999999999999999999999999999999E+6144",
        "1E-6176",
    ];
    match source.choose(EDGES.len() + 1) {
        at if at < EDGES.len() => {
            let decimal = Decimal128::from_str(EDGES[at]).expect("it is a decimal as written");
            Bson::Decimal128(decimal)
        }
        _ => {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&source.bits().to_le_bytes());
            bytes[8..].copy_from_slice(&source.bits().to_le_bytes());
            Bson::Decimal128(Decimal128::from_bytes(bytes))
        }
    }
}

fn no_number(source: &mut dyn Source) -> Bson {
    pick(
        source,
        &[
            Bson::Null,
            Bson::String("10".into()),
            Bson::Boolean(true),
            Bson::Boolean(false),
            Bson::DateTime(bson::DateTime::from_millis(10_000)),
            Bson::Document(doc! {}),
            Bson::Document(doc! { "$numberDouble": "NaN" }),
            Bson::Array(vec![]),
            Bson::Undefined,
            Bson::MinKey,
            Bson::MaxKey,
            Bson::String("NaN".into()),
        ],
    )
}
