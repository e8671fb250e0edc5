//! What becomes of an index that comes by another way than createIndexes here?

use ttlspec_model::mongodb::version::Listing;
use ttlspec_model::mongodb::{Reply, Version, Via, code};

use super::bytes::{Kept, Value, elements, kind};
use super::change::is_valid;
use super::creation::{Creation, creation, is_option, repaired};
use super::filter_parser::{never_stood, parse};
use super::number::Number;
use super::ttl_index::{FILTER, Kind, SECONDS, TtlIndex};

/// What becomes of the specification `spec`, which was stored or listed by version `from`?
///
/// # Errors
/// The reply that refuses, or tells of the server's end.
pub(super) fn arrival(
    version: Version,
    kind: Kind,
    existing: &[TtlIndex],
    spec: &[u8],
    (via, from): (Via, Version),
    now_ms: i64,
) -> Result<Creation, Reply> {
    let create =
        |spec: &[u8]| creation(version, kind, existing, spec, now_ms).map_err(Reply::Error);
    match via {
        Via::Created => create(spec),
        Via::Restored => create(&sent(version, spec).ok_or(Reply::Error(code::FAILED_TO_PARSE))?),
        Via::Upgraded | Via::Downgraded | Via::Synced => {
            carried(version, kind, existing, spec, (via, from))
        }
    }
}

/// The specification as mongorestore sends it: without its version, and where unknown options are
/// ignored, without those.
fn sent(version: Version, spec: &[u8]) -> Option<Vec<u8>> {
    let takes_all = !version.restore_drops_unknown_options();
    let mut kept = vec![0; 4];
    let mut fields = elements(spec).ok()?;
    while let Some((name, value)) = fields.advance().ok()? {
        if name != b"v" && (takes_all || is_option(version, name)) {
            kept.push(value.kind);
            kept.extend_from_slice(name);
            kept.push(0);
            kept.extend_from_slice(value.bytes);
        }
    }
    kept.push(0);
    let length = i32::try_from(kept.len()).ok()?;
    kept[..4].copy_from_slice(&length.to_le_bytes());
    Some(kept)
}

/// Catalogs and lists are taken over unchecked, as long as they could have been in a catalog.
fn carried(
    version: Version,
    kind: Kind,
    existing: &[TtlIndex],
    spec: &[u8],
    (via, from): (Via, Version),
) -> Result<Creation, Reply> {
    let refuse = |code: i32| Err(Reply::Error(code));
    let fields = elements(spec).map_err(|_| Reply::Error(code::FAILED_TO_PARSE))?;
    let get = |name: &[u8]| fields.find(name).ok().flatten();
    match get(b"key") {
        None => return refuse(code::FAILED_TO_PARSE),
        Some(key) if key.kind != kind::DOCUMENT => return refuse(code::TYPE_MISMATCH),
        Some(key) if key.elements().is_ok_and(|fields| fields.is_empty()) => {
            return refuse(code::CANNOT_CREATE_INDEX);
        }
        Some(_) => {}
    }
    let name = get(b"name").filter(|name| name.kind == kind::STRING).and_then(Value::text);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return refuse(code::FAILED_TO_PARSE);
    };
    if let Some(filter) = get(FILTER) {
        if filter.kind != kind::DOCUMENT {
            return refuse(code::TYPE_MISMATCH);
        }
        let fields = filter.elements().map_err(|_| Reply::Error(code::FAILED_TO_PARSE))?;
        let tree = parse(fields).map_err(Reply::Error)?;
        let knows = version.filter_has_or_and_in() || from.filter_has_or_and_in();
        if never_stood(&tree, knows) {
            return refuse(code::CANNOT_CREATE_INDEX);
        }
    }
    let seconds = get(SECONDS);
    let stored = match seconds {
        Some(seconds) if via == Via::Synced => Some(synced(version, from, seconds)),
        seconds => seconds.map(Kept::from),
    };
    let index = TtlIndex::new(version, kind, spec, stored).map_err(Reply::Error)?;
    if existing.iter().any(|old| old.name().as_bytes() == name) {
        return refuse(code::INDEX_KEY_SPECS_CONFLICT);
    }
    let is_nan = seconds.and_then(Number::read).is_some_and(Number::is_nan);
    if is_nan && version.nan_from_before_is_fatal() && from.is_before_5() {
        return Err(Reply::Fatal(match via {
            Via::Synced => code::FATAL_AT_SYNC,
            _ => code::FATAL_AT_STARTUP,
        }));
    }
    Ok(Creation::Made(Box::new(index)))
}

/// How a server of this version lists a stored value. What is not shown as a number is shown as it
/// is.
pub(super) fn listed(version: Version, stored: Value<'_>) -> Kept {
    let number = Number::read(stored);
    let is_nan = number.is_some_and(Number::is_nan);
    match (version.listing(), number) {
        (Listing::InvalidAsMax, _) if !is_valid(stored) => repaired(),
        (Listing::NanAsMax, _) if is_nan => repaired(),
        (Listing::AsStored, _) | (_, None) => stored.into(),
        (_, Some(number)) => Kept::int(number.clamped_int()),
    }
}

/// What a member stores that joins and is told of a value by a source of version `from`.
fn synced(version: Version, from: Version, seconds: Value<'_>) -> Kept {
    let told = listed(from, seconds);
    let number = Number::read(told.value());
    match version.listing() {
        Listing::InvalidAsMax if !is_valid(told.value()) => repaired(),
        Listing::NanAsMax if number.is_some_and(Number::is_nan) => repaired(),
        _ if version.seconds_are_stored_as_int32() => {
            Kept::int(number.map_or(0, Number::clamped_int))
        }
        _ => told,
    }
}
