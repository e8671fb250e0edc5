//! What does collMod make of an index that is there?

use ttlspec_model::mongodb::version::CollModRange;
use ttlspec_model::mongodb::{Reply, Version, code};

use super::bytes::{Elements, Kept, Malformed, Value, elements, kind};
use super::creation::is_id_key;
use super::number::Number;
use super::options::{Change, Own, is_cluster_key};
use super::order::{compare_documents, is_number};
use super::store::Store;
use super::ttl_index::{Kind, Method, SECONDS, TtlIndex};

/// A request whose form is right.
struct Request<'a> {
    target: Named<'a>,
    seconds: Option<Number>,
    hidden: Option<bool>,
}

/// How the request names its index.
enum Named<'a> {
    Name(&'a [u8]),
    Key(Value<'a>),
}

/// What there is to change.
pub(super) struct Catalog<'a> {
    /// Which kind the collection is.
    pub(super) kind: Kind,
    /// Its documents.
    pub(super) store: &'a Store,
    /// Its indexes.
    pub(super) indexes: &'a mut [TtlIndex],
    /// What is said of the collection itself.
    pub(super) own: &'a mut Own,
}

/// A command whose form is right.
#[derive(Default)]
struct Command<'a> {
    index: Option<Request<'a>>,
    own: Change<'a>,
}

/// Changes a collection as `command` asks, all of it or nothing; `None` is one that is not there.
///
/// # Errors
/// The reply that refuses.
pub(super) fn coll_mod(
    version: Version,
    catalog: Option<Catalog<'_>>,
    command: &[u8],
    now_ms: i64,
) -> Result<Reply, Reply> {
    let request = parse(version, command);
    // Since commands are parsed by type they are parsed before the collection is looked for.
    if version.collmod_is_typed()
        && let Err(code) = request
    {
        return Err(Reply::Error(code));
    }
    let catalog = catalog.ok_or(Reply::Error(code::NAMESPACE_NOT_FOUND))?;
    if catalog.kind == Kind::View {
        return Err(Reply::Error(code::INVALID_OPTIONS));
    }
    let Command { index, own } = request.map_err(Reply::Error)?;
    let Catalog { kind, store, indexes, own: there } = catalog;
    let changed = own.apply(version, kind, there, now_ms).map_err(Reply::Error);
    let reply = match index {
        None => Reply::Modified { old: None, new: None },
        Some(request) => {
            // What is refused in the end is tried on something else.
            let mut tried = if changed.is_err() { indexes.to_vec() } else { Vec::new() };
            let indexes = if changed.is_err() { &mut tried[..] } else { indexes };
            let catalog = Catalog { kind, store, indexes, own: &mut *there };
            modify(version, catalog, &request, now_ms)?
        }
    };
    *there = changed?;
    Ok(reply)
}

fn parse(version: Version, command: &[u8]) -> Result<Command<'_>, i32> {
    let is_typed = version.collmod_is_typed();
    let mut fields = elements(command).map_err(unreadable)?;
    let mut index = None;
    let mut own = Change::default();
    while let Some((name, value)) = fields.advance().map_err(unreadable)? {
        let wrong = match (name, value.kind) {
            (b"index", kind::DOCUMENT) => {
                index = Some(value);
                continue;
            }
            (b"index" | SECONDS | b"timeseries", kind::NULL | kind::UNDEFINED) if is_typed => {
                continue;
            }
            (b"timeseries", kind::DOCUMENT) if is_typed => {
                own.series = Some(value);
                continue;
            }
            (SECONDS, given) if is_typed && (is_number(given) || given == kind::STRING) => {
                own.seconds = Some(value);
                continue;
            }
            (b"index" | SECONDS | b"timeseries", _) => code::TYPE_MISMATCH,
            _ => code::UNKNOWN_FIELD,
        };
        return Err(if is_typed { wrong } else { code::INVALID_OPTIONS });
    }
    let Some(index) = index else { return Ok(Command { index: None, own }) };
    let index = request(version, index.elements().map_err(unreadable)?).map(Some)?;
    Ok(Command { index, own })
}

fn unreadable(_: Malformed) -> i32 {
    code::FAILED_TO_PARSE
}

fn request(version: Version, mut fields: Elements<'_>) -> Result<Request<'_>, i32> {
    let is_typed = version.collmod_is_typed();
    let mut name = None;
    let mut key = None;
    let mut seconds = None;
    let mut hidden = None;
    let mut is_strange = false;
    while let Some((field, value)) = fields.advance().map_err(unreadable)? {
        let place = match field {
            b"name" => &mut name,
            b"keyPattern" => &mut key,
            b"expireAfterSeconds" => &mut seconds,
            b"hidden" if version.hidden_is_known() => &mut hidden,
            b"unique" | b"prepareUnique" => continue,
            _ => {
                is_strange = true;
                continue;
            }
        };
        // A null that is parsed by type is as good as absent.
        if !(is_typed && matches!(value.kind, kind::NULL | kind::UNDEFINED)) {
            *place = Some(value);
        }
    }
    let has_form =
        |value: Option<Value<'_>>, form: fn(u8) -> bool| value.is_none_or(|value| form(value.kind));
    let is_well_formed = has_form(name, |kind| kind == kind::STRING)
        && has_form(key, |kind| kind == kind::DOCUMENT)
        && has_form(seconds, is_number)
        && has_form(hidden, |kind| kind == kind::BOOLEAN);
    match is_typed {
        true if !is_well_formed => return Err(code::TYPE_MISMATCH),
        true if is_strange => return Err(code::UNKNOWN_FIELD),
        false if !is_well_formed => return Err(code::INVALID_OPTIONS),
        _ => {}
    }
    let target = match (name.and_then(Value::text), key) {
        (Some(name), None) => Named::Name(name),
        (None, Some(key)) => Named::Key(key),
        _ => return Err(code::INVALID_OPTIONS),
    };
    if seconds.is_none() && hidden.is_none() {
        return Err(code::INVALID_OPTIONS);
    }
    let hidden = hidden.map(|hidden| hidden.bytes != [0]);
    Ok(Request { target, seconds: seconds.and_then(Number::read), hidden })
}

fn modify(
    version: Version,
    catalog: Catalog<'_>,
    request: &Request<'_>,
    now_ms: i64,
) -> Result<Reply, Reply> {
    let Catalog { kind, store, indexes, own } = catalog;
    let refused = || Reply::Error(code::INVALID_OPTIONS);
    let is_capped = matches!(kind, Kind::Capped | Kind::CappedClustered);
    let is_refused = is_capped && version.collmod_refuses_capped() || kind == Kind::TimeSeries;
    if request.seconds.is_some() && is_refused {
        return Err(refused());
    }
    let asked = match request.seconds {
        Some(asked) => Some((asked, whole_seconds(version, asked, now_ms).ok_or_else(refused)?)),
        None => None,
    };
    if let Some(cluster_key) = &own.cluster_key {
        let is_meant = match request.target {
            Named::Name(name) => name == &**cluster_key,
            Named::Key(key) => is_cluster_key(key),
        };
        // It is no index, and cannot be made one.
        if is_meant {
            let is_hiding = request.hidden.is_some();
            let code = if is_hiding { code::CLUSTERED_HIDDEN } else { code::INDEX_NOT_FOUND };
            return Err(Reply::Error(code));
        }
    }
    let Some(at) = position(indexes, &request.target).map_err(Reply::Error)? else {
        // The index on `_id` takes neither.
        let hides_only = request.hidden.is_some() && request.seconds.is_none();
        return Err(Reply::Error(if hides_only { code::BAD_VALUE } else { code::INVALID_OPTIONS }));
    };
    let index = &mut indexes[at];
    let reply = match asked {
        None => Reply::Modified { old: None, new: None },
        Some(asked) => set_seconds(version, index, asked, kind, store)?,
    };
    if let Some(hidden) = request.hidden {
        index.set_hidden(hidden);
    }
    Ok(reply)
}

/// The number asked for.
fn number(version: Version, seconds: Number) -> i64 {
    if version.collmod_is_typed() { i64::from(seconds.clamped_int()) } else { seconds.clamped() }
}

/// The same, if the version takes it.
fn whole_seconds(version: Version, seconds: Number, now_ms: i64) -> Option<i64> {
    let whole = number(version, seconds);
    let is_in_range = match version.collmod_range() {
        CollModRange::Any => true,
        CollModRange::Int32 => whole >= 0,
        CollModRange::UntilNow => {
            whole >= 0 && whole.checked_mul(1_000).is_some_and(|millis| millis <= now_ms)
        }
    };
    is_in_range.then_some(whole)
}

/// Which index is meant; `None` is the one on `_id`.
fn position(indexes: &[TtlIndex], target: &Named<'_>) -> Result<Option<usize>, i32> {
    match target {
        Named::Name(b"_id_") => Ok(None),
        Named::Name(name) => indexes
            .iter()
            .position(|index| index.name().as_bytes() == *name)
            .map(Some)
            .ok_or(code::INDEX_NOT_FOUND),
        Named::Key(key) if is_id_key(*key) => Ok(None),
        Named::Key(key) => {
            let is_meant = |index: &TtlIndex| compare_documents(index.key(), key.bytes).is_eq();
            let first = indexes.iter().position(is_meant).ok_or(code::INDEX_NOT_FOUND)?;
            match indexes[first + 1..].iter().any(is_meant) {
                true => Err(code::AMBIGUOUS_KEY_PATTERN),
                false => Ok(Some(first)),
            }
        }
    }
}

/// Stores what was asked for, which comes to `new` whole seconds, if the index can take it.
fn set_seconds(
    version: Version,
    index: &mut TtlIndex,
    (asked, new): (Number, i64),
    kind: Kind,
    store: &Store,
) -> Result<Reply, Reply> {
    let Some(stored) = index.seconds() else {
        if !version.collmod_converts() || index.stored_fields() != 1 {
            return Err(Reply::Error(code::INVALID_OPTIONS));
        }
        if index.method() == Method::Wildcard {
            return Err(Reply::Fatal(code::FATAL_AT_REBUILD));
        }
        index.set_seconds(version, kind, Kept::long(new), store);
        return Ok(Reply::Modified { old: None, new: Some(new) });
    };
    let number = Number::read(stored).ok_or(Reply::Error(code::INVALID_OPTIONS))?;
    let old = number.clamped();
    let always_answers = version.collmod_always_answers();
    let (differs, is_retyped) = is_written(version, number, asked, new);
    let is_repaired = version.collmod_rewrites_invalid() && !is_valid(stored);
    if differs || is_repaired || is_retyped {
        index.set_seconds(version, kind, Kept::long(new), store);
    }
    let old = if is_repaired { 0 } else { old };
    let is_answered = always_answers || differs;
    Ok(Reply::Modified { old: is_answered.then_some(old), new: is_answered.then_some(new) })
}

/// Does a server that has `stored` write `new` in its place, which was asked for as `asked`?
fn is_written(version: Version, stored: Number, asked: Number, new: i64) -> (bool, bool) {
    // The oldest servers compare the values as they are, so that 100.7 is not 100.
    let differs = match version.collmod_always_answers() {
        true => stored.clamped() != new,
        false => stored.compare(asked).is_ne(),
    };
    let is_retyped = version.seconds_are_stored_as_int32() && !matches!(stored, Number::Whole(_))
        || version.collmod_rewrites_nan() && stored.is_nan();
    (differs, is_retyped)
}

/// Which index, and which seconds, does a collMod ask for that was done?
pub(super) fn asked_seconds(
    version: Version,
    indexes: &[TtlIndex],
    command: &[u8],
) -> Option<(usize, i64)> {
    let request = parse(version, command).ok()?.index?;
    let seconds = request.seconds?;
    let at = position(indexes, &request.target).ok().flatten()?;
    Some((at, number(version, seconds)))
}

/// What a member writes that is told of new seconds, if it does not have them.
pub(super) fn taken_over(
    version: Version,
    stored: Option<Value<'_>>,
    told: Value<'_>,
) -> Option<Kept> {
    let asked = Number::read(told)?;
    let new = asked.clamped();
    let is_new = stored.is_none_or(|stored| {
        Number::read(stored).is_none_or(|number| {
            let (differs, is_retyped) = is_written(version, number, asked, new);
            differs || is_retyped || version.collmod_rewrites_invalid() && !is_valid(stored)
        })
    });
    is_new.then(|| Kept::long(new))
}

/// What a collMod answers while an index is being built: it is refused, unless it is found wrong
/// by type before.
pub(super) fn while_building(version: Version, command: &[u8]) -> Reply {
    match parse(version, command) {
        Err(code @ (code::TYPE_MISMATCH | code::UNKNOWN_FIELD)) if version.collmod_is_typed() => {
            Reply::Error(code)
        }
        _ => Reply::Error(code::BACKGROUND_OPERATION),
    }
}

/// Can a visit use this value: a number within 0 and 2147483647?
pub(super) fn is_valid(seconds: Value<'_>) -> bool {
    Number::read(seconds).is_some_and(|number| {
        !number.is_nan() && (0..=i64::from(i32::MAX)).contains(&number.clamped())
    })
}
