#![doc = include_str!("../../../specs/mongodb/8-nan.md")]
//! ---
//! *Module:* how does a value that is no number of seconds come into a catalog, and what is made of
//! it there?

use bson::{Bson, Document};

use super::filter;
use super::index::{self, Creation, FILTER, Index, Kind, SECONDS};
use super::number::{is_nan, is_number, safe_int, safe_long};
use super::threshold::Lifetime;
use super::version::{Listing, NanAtVisit, Version};
use super::words::{Doc, Via, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// What a value that is not valid is repaired to.
pub const REPAIRED: Bson = Bson::Int32(i32::MAX);

/// Is this a value that a visit may use: a number, not NaN, not negative, within 32 bits?
pub fn is_valid(seconds: &Bson) -> bool {
    let whole = safe_long(seconds);
    is_number(seconds) && !is_nan(seconds) && (0..=i64::from(i32::MAX)).contains(&whole)
}

/// What a visit makes of a stored NaN.
pub fn at_visit(version: Version) -> Ruling<Lifetime> {
    match version.nan_at_visit() {
        NanAtVisit::Overflows => Lifetime::Overflows.by(Rule::MongodbNanOverflows),
        NanAtVisit::Zero => Lifetime::Millis(0).by(Rule::MongodbNanZero),
        NanAtVisit::Skipped => Lifetime::Skipped.by(Rule::MongodbNanSkipped),
    }
}

/// How listIndexes shows a stored value.
pub fn listed(version: Version, stored: &Bson) -> Ruling<Bson> {
    let as_int = || Bson::Int32(safe_int(stored));
    match version.listing() {
        Listing::AsStored => stored.clone().by(Rule::MongodbNanListedAsStored),
        Listing::NanAsMax if is_nan(stored) => REPAIRED.by(Rule::MongodbNanListedAsMax),
        Listing::InvalidAsMax if !is_valid(stored) => REPAIRED.by(Rule::MongodbNanListedAsMax),
        // What these list for a value that is no number was not read; it is shown as it is.
        Listing::AsInt32 | Listing::NanAsMax if !is_number(stored) => {
            stored.clone().by(Rule::MongodbNanListedAsStored)
        }
        Listing::AsInt32 | Listing::NanAsMax | Listing::InvalidAsMax => {
            as_int().by(Rule::MongodbNanListedAsInt32)
        }
    }
}

/// What becomes of an index that comes by another way than createIndexes here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// As createIndexes.
    Creation(Creation),
    /// The server ends with this assertion.
    Fatal(i32),
}

/// What becomes of `index`, as it was stored or listed in a server of version `from`?
pub fn arrival(
    version: Version,
    kind: Kind,
    existing: &[Index],
    index: &Document,
    (via, from): (Via, Version),
    now: Millis,
) -> Ruling<Arrival> {
    match via {
        Via::Created => index::creation(version, kind, existing, index, now).map(Arrival::Creation),
        Via::Restored => {
            let drops = version.restore_drops_unknown_options();
            let is_kept =
                |option: &str| option != "v" && (!drops || index::is_option(version, option));
            let spec = index.clone().into_iter().filter(|(option, _)| is_kept(option)).collect();
            index::creation(version, kind, existing, &spec, now)
                .map(Arrival::Creation)
                .then(|arrival| arrival.by(Rule::MongodbNanRestored))
        }
        Via::Upgraded | Via::Downgraded | Via::Synced => {
            carried(version, existing, index, (via, from))
        }
    }
}

/// The catalog comes along, or its list does. Nothing is checked on these ways.
fn carried(
    version: Version,
    existing: &[Index],
    index: &Document,
    (via, from): (Via, Version),
) -> Ruling<Arrival> {
    let rule = match via {
        Via::Synced => Rule::MongodbNanSynced,
        _ => Rule::MongodbNanUpgraded,
    };
    let refuse = |code: i32, rule: Rule| Arrival::Creation(Creation::Refused(code)).by(rule);
    // A specification that no version could hold cannot have been in a catalog.
    match index.get("key") {
        Some(Bson::Document(key)) if !key.is_empty() => {}
        Some(Bson::Document(_)) => {
            return refuse(code::CANNOT_CREATE_INDEX, Rule::MongodbIndexKeyValue);
        }
        Some(_) => return refuse(code::TYPE_MISMATCH, Rule::MongodbIndexKeyValue),
        None => return refuse(code::FAILED_TO_PARSE, Rule::MongodbIndexKeyValue),
    }
    if !matches!(index.get("name"), Some(Bson::String(name)) if !name.is_empty()) {
        return refuse(code::FAILED_TO_PARSE, Rule::MongodbIndexName);
    }
    match index.get(FILTER) {
        None => {}
        Some(Bson::Document(filter)) => match filter::parse(filter) {
            Ok(filter) => {
                let refused = filter::never_stood((version, from), &filter);
                if let Some(code) = refused.verdict {
                    return refused.map(|_| Arrival::Creation(Creation::Refused(code)));
                }
            }
            Err(code) => return code.map(Creation::Refused).map(Arrival::Creation),
        },
        Some(_) => return refuse(code::TYPE_MISMATCH, Rule::MongodbFilterObject),
    }
    let name = index.get_str("name").unwrap_or_default();
    if existing.iter().any(|old| old.name() == name) {
        return refuse(code::INDEX_KEY_SPECS_CONFLICT, Rule::MongodbIndexSameName);
    }

    let is_nan = index.get(SECONDS).is_some_and(is_nan);
    if is_nan && version.nan_from_before_is_fatal() && from.is_before_5() {
        let assertion = match via {
            Via::Synced => code::FATAL_AT_SYNC,
            _ => code::FATAL_AT_STARTUP,
        };
        return Arrival::Fatal(assertion).by(Rule::MongodbNanFatal);
    }
    let mut spec = index.clone();
    if via == Via::Synced
        && let Some(seconds) = index.get(SECONDS)
    {
        spec.insert(SECONDS, synced(version, from, seconds));
    }
    Arrival::Creation(Creation::Made(Index { spec: Doc(spec) })).by(rule)
}

/// A member that joins stores what its source lists, repaired as it would list it itself.
fn synced(version: Version, from: Version, seconds: &Bson) -> Bson {
    let told = listed(from, seconds).verdict;
    match version.listing() {
        Listing::NanAsMax if is_nan(&told) => REPAIRED,
        Listing::InvalidAsMax if !is_valid(&told) => REPAIRED,
        _ if version.seconds_are_stored_as_int32() => Bson::Int32(safe_int(&told)),
        _ => told,
    }
}
