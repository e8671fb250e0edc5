//! Which requests to change an index?

use bson::{Bson, Document, doc};

use super::any::value;
use super::collection::bucketing;
use super::index::{NAMES, key_pattern};
use super::number::seconds;
use crate::values::{Source, chance, one_of, pick};

/// A `collMod`, without the collection's name: mostly one that asks for new seconds.
pub fn coll_mod(source: &mut dyn Source) -> Document {
    let mut command = doc! { "index": index(source) };
    if chance(source, 12) {
        match source.choose(8) {
            0 => command = doc! {},
            1 => command = doc! { "index": value(source) },
            2 => command.extend(doc! { "expireAfterSeconds": seconds(source) }),
            3 => command.extend(doc! { "unknown": value(source) }),
            4 => command = doc! { "expireAfterSeconds": own_seconds(source) },
            5 => command = doc! { "timeseries": bucketing(source) },
            6 => {
                let seconds = own_seconds(source);
                command.extend(doc! {
                    "timeseries": bucketing(source),
                    "expireAfterSeconds": seconds,
                });
            }
            _ => command = doc! { "expireAfterSeconds": value(source), "index": index(source) },
        }
    }
    command
}

/// What it says of the seconds of the collection itself.
fn own_seconds(source: &mut dyn Source) -> Bson {
    let off = |_: &mut dyn Source| "off".into();
    one_of(source, &[(3, seconds), (2, off), (1, value)])
}

/// What it says of the index.
fn index(source: &mut dyn Source) -> Document {
    let mut index = one_of(
        source,
        &[
            (6, |source| doc! { "name": pick(source, &NAMES) }),
            (3, |_| doc! { "keyPattern": { "t": 1 } }),
            (2, |source| doc! { "keyPattern": key_pattern(source) }),
            (1, |_| doc! { "name": "ttl", "keyPattern": { "t": 1 } }),
            (1, |_| doc! {}),
        ],
    );
    if !chance(source, 8) {
        index.insert("expireAfterSeconds", seconds(source));
    }
    if chance(source, 6) {
        let flags = [Bson::Boolean(true), Bson::Boolean(false), Bson::Null, Bson::Int32(1)];
        index.insert("hidden", pick(source, &flags));
    }
    if chance(source, 12) {
        const FIELDS: [&str; 7] =
            ["name", "keyPattern", "expireAfterSeconds", "hidden", "unique", "prepareUnique", "x"];
        let null = |_: &mut dyn Source| Bson::Null;
        index.insert(pick(source, &FIELDS), one_of(source, &[(1, null), (2, value)]));
    }
    index
}
