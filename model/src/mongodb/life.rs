#![doc = include_str!("../../../specs/mongodb/0-life.md")]
//! ---
//! *Module:* what does one index make of one document?

use bson::Document;

use super::date::{self, Dated};
use super::filter;
use super::index::{Index, Kind};
use super::pass::{self, Use};
use super::threshold::{self, Expiry};
use super::version::Version;
use crate::ruling::{Rule, Ruling};
use crate::time::Millis;

/// What an index makes of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As things are, this index will not delete it.
    Never,
    /// It becomes deletable at this instant.
    Pending(Millis, Dated),
    /// It is deletable since this instant.
    Expired(Millis, Dated),
}

/// What does `index` of a collection of this `kind` make of `document` at `now`?
pub fn verdict(
    version: Version,
    kind: Kind,
    index: &Index,
    document: &Document,
    now: Millis,
) -> Ruling<Verdict> {
    pass::usable(version, kind, index).then(|usable| match usable {
        Use::Nothing | Use::Skip(_) => Ruling::plain(Verdict::Never),
        Use::Lifetime(lifetime_ms) => by_lifetime(version, index, document, lifetime_ms, now),
    })
}

/// The same, once it is known that the index is used and how long dates live.
pub fn by_lifetime(
    version: Version,
    index: &Index,
    document: &Document,
    lifetime_ms: i64,
    now: Millis,
) -> Ruling<Verdict> {
    let is_member = match index.filter() {
        None => Ruling::plain(true),
        Some(filter) => filter::member(version, &filter, document),
    };
    is_member.then(|is_member| {
        if !is_member {
            return Ruling::plain(Verdict::Never);
        }
        let path = index.path().expect("an index with a lifetime has one path");
        date::earliest(document, &path).then(|dated| match dated {
            None => Ruling::plain(Verdict::Never),
            Some(dated) => {
                threshold::expiry(dated.date, lifetime_ms, now).map(|expiry| match expiry {
                    Expiry::Never => Verdict::Never,
                    Expiry::Pending(at) => Verdict::Pending(at, dated),
                    Expiry::Expired(at) => Verdict::Expired(at, dated),
                })
            }
        })
    })
}

/// What is to be said of a document that is deleted, beside the verdict itself.
pub fn remarks(dated: &Dated, path: &str, other_indexes: bool) -> Vec<Rule> {
    let mut rules = Vec::new();
    if dated.path != path {
        rules.push(Rule::MongodbLifeWhole);
    }
    if other_indexes {
        rules.push(Rule::MongodbLifeAnyIndex);
    }
    rules
}
