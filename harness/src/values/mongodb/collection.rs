//! Which options of a collection?

use bson::{Bson, Document, doc};

use super::any::value;
use super::number::seconds;
use crate::values::{Source, chance, one_of, pick};

/// The options of `create`: mostly of a clustered or a time-series collection that can be made.
pub fn collection(source: &mut dyn Source) -> Document {
    let mut options = one_of(
        source,
        &[
            (3, |source| doc! { "clusteredIndex": cluster_key(source) }),
            (5, |source| doc! { "timeseries": series(source) }),
            (1, |_| doc! { "capped": true, "size": 4_096 }),
            (1, |_| doc! {}),
        ],
    );
    if !chance(source, 6) {
        options.insert("expireAfterSeconds", seconds(source));
    }
    if chance(source, 8) {
        const FIELDS: [&str; 7] =
            ["capped", "size", "max", "clusteredIndex", "timeseries", "expireAfterSeconds", "x"];
        let field = pick(source, &FIELDS);
        let flag = |source: &mut dyn Source| pick(source, &[true, false]).into();
        options.insert(field, one_of(source, &[(2, flag), (1, seconds), (1, value)]));
    }
    if chance(source, 16) {
        options.extend(doc! { "capped": true, "size": 4_096 });
    }
    // With seconds alone it is written as something else.
    if options.len() == 1 && options.contains_key("expireAfterSeconds") {
        options.insert("capped", false);
    }
    options
}

fn cluster_key(source: &mut dyn Source) -> Document {
    let mut key = doc! { "key": { "_id": 1 }, "unique": true };
    if chance(source, 5) {
        let name: Bson = pick(source, &["ttl", "_id_", "other"]).into();
        key.insert("name", name);
    }
    if chance(source, 6) {
        match source.choose(6) {
            0 => key.insert("unique", false),
            1 => key.insert("key", doc! { "_id": -1 }),
            2 => key.insert("key", doc! { "t": 1 }),
            3 => key.insert("key", doc! { "_id": 1.0 }),
            4 => key.remove(pick(source, &["key", "unique"])),
            _ => key.insert(pick(source, &["key", "unique", "name", "v", "x"]), value(source)),
        };
    }
    key
}

fn series(source: &mut dyn Source) -> Document {
    let mut series = doc! { "timeField": "t" };
    if !chance(source, 4) {
        series.insert("metaField", "a");
    }
    if chance(source, 2) {
        series.extend(bucketing(source));
    }
    if chance(source, 10) {
        const FIELDS: [&str; 4] = ["timeField", "metaField", "granularity", "x"];
        const NAMES: [&str; 6] = ["_id", "t", "a.t", "", "seconds", "a"];
        let name = |source: &mut dyn Source| pick(source, &NAMES).into();
        series.insert(pick(source, &FIELDS), one_of(source, &[(3, name), (1, value)]));
    }
    series
}

/// How measurements are to be kept.
pub fn bucketing(source: &mut dyn Source) -> Document {
    const GRANULARITIES: [&str; 4] = ["seconds", "minutes", "hours", "days"];
    let span = |source: &mut dyn Source| pick(source, &[60, 3_600, 1, 86_400, 90, 0, 31_536_001]);
    match source.choose(8) {
        0..=3 => doc! { "granularity": pick(source, &GRANULARITIES) },
        4 | 5 => {
            let span = span(source);
            doc! { "bucketMaxSpanSeconds": span, "bucketRoundingSeconds": span }
        }
        6 => doc! { "bucketMaxSpanSeconds": span(source) },
        _ => {
            const FIELDS: [&str; 3] =
                ["granularity", "bucketMaxSpanSeconds", "bucketRoundingSeconds"];
            doc! { pick(source, &FIELDS): value(source), pick(source, &FIELDS): span(source) }
        }
    }
}
