#![doc = include_str!("../../../specs/mongodb/7-change.md")]
//! ---
//! *Module:* what can be changed about an index that is there?

use bson::{Bson, Document};

use super::bucket;
use super::clustered;
use super::compare::{compare_documents, equal};
use super::index::{Index, Kind, Method, SECONDS, is_id_pattern};
use super::nan;
use super::number::{is_nan, is_number, safe_int, safe_long};
use super::version::{CollModRange, Version};
use super::visibility::Collection;
use super::words::{Reply, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::{Millis, seconds_as_millis};

/// Drops the index with this name.
pub fn drop_index(collection: &mut Collection, name: &str) -> Ruling<Reply> {
    if clustered::is_meant(collection, Some(name), None) {
        return Reply::Error(code::CLUSTERED_DROP).by(Rule::MongodbClusteredNoIndex);
    }
    if name == "_id_" {
        return Reply::Error(code::INVALID_OPTIONS).by(Rule::MongodbChangeDrop);
    }
    if name == "*" {
        collection.indexes.clear();
        collection.building.clear();
        return Reply::Ok.by(Rule::MongodbChangeDrop);
    }
    if !collection.indexes.iter().any(|index| index.name() == name) {
        return Reply::Error(code::INDEX_NOT_FOUND).by(Rule::MongodbChangeDropMissing);
    }
    collection.drop_index(name);
    Reply::Ok.by(Rule::MongodbChangeDrop)
}

/// A collMod of an index, once its form has been found right.
struct Request<'a> {
    name: Option<&'a str>,
    key: Option<&'a Document>,
    seconds: Option<&'a Bson>,
    hidden: Option<bool>,
}

/// A collMod, once its form has been found right.
#[derive(Default)]
struct Command<'a> {
    index: Option<Request<'a>>,
    /// The collection's own seconds: a number or a string.
    seconds: Option<&'a Bson>,
    series: Option<&'a Document>,
}

/// Changes a collection or an index of it as `command` asks: all of it or nothing. A command that
/// is parsed by type is parsed before anybody looks for the collection; before that, after.
pub fn coll_mod(
    version: Version,
    collection: Option<&mut Collection>,
    command: &Document,
    now: Millis,
) -> Ruling<Reply> {
    match (parsed(version, command), changeable(collection)) {
        (Err(refusal), Err(_)) if version.collmod_is_typed() => refusal.map(Reply::Error),
        (_, Err(refusal)) | (Err(refusal), Ok(_)) => refusal.map(Reply::Error),
        (Ok(command), Ok(there)) => {
            let mut changed = there.clone();
            let reply = all(version, &mut changed, &command, now);
            if matches!(reply.verdict, Reply::Modified { .. }) {
                *there = changed;
            }
            reply
        }
    }
}

fn all(
    version: Version,
    collection: &mut Collection,
    command: &Command<'_>,
    now: Millis,
) -> Ruling<Reply> {
    let mut reply = Ruling::plain(Reply::Modified { old: None, new: None });
    if let Some(request) = &command.index {
        reply = modify(version, collection, request, now);
        if !matches!(reply.verdict, Reply::Modified { .. }) {
            return reply;
        }
    }
    let own = command.seconds.map(|seconds| clustered::modify(collection, seconds, now));
    let series = match own {
        Some(Err(_)) => None,
        _ => command.series.map(|fields| bucket::modify(version, collection, fields)),
    };
    for changed in own.into_iter().chain(series) {
        match changed {
            Ok(changed) => reply = reply.after(&changed.because),
            Err(refusal) => return refusal.map(Reply::Error),
        }
    }
    reply
}

/// The collection, if it is there and can be changed.
fn changeable(collection: Option<&mut Collection>) -> Result<&mut Collection, Ruling<i32>> {
    match collection {
        None => Err(code::NAMESPACE_NOT_FOUND.by(Rule::MongodbChangeRequest)),
        Some(there) if there.kind == Kind::View => {
            Err(code::INVALID_OPTIONS.by(Rule::MongodbChangeView))
        }
        Some(there) => Ok(there),
    }
}

/// The command's fields.
fn parsed(version: Version, command: &Document) -> Result<Command<'_>, Ruling<i32>> {
    let typed = version.collmod_is_typed();
    let refuse = |code: i32, rule: Rule| Err(code.by(rule));
    let mut index = None;
    let mut parsed = Command::default();
    for (field, value) in command {
        match (field.as_str(), value) {
            ("index" | SECONDS | "timeseries", Bson::Null | Bson::Undefined) if typed => {}
            ("index", Bson::Document(fields)) => index = Some(fields),
            ("index", _) if typed => return refuse(code::TYPE_MISMATCH, Rule::MongodbChangeType),
            ("index", _) => return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeType),
            (SECONDS, seconds) if typed => {
                let has_type = is_number(seconds) || matches!(seconds, Bson::String(_));
                if !has_type {
                    return refuse(code::TYPE_MISMATCH, Rule::MongodbChangeCollection);
                }
                parsed.seconds = Some(seconds);
            }
            (SECONDS, _) => return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeCollection),
            ("timeseries", Bson::Document(fields)) if typed => parsed.series = Some(fields),
            ("timeseries", _) if typed => return clustered::wrong_type(),
            _ if typed => return refuse(code::UNKNOWN_FIELD, Rule::MongodbChangeRequest),
            _ => return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeRequest),
        }
    }
    parsed.index = index.map(|index| request(version, index)).transpose()?;
    Ok(parsed)
}

/// Finds the form of the request right or wrong, in the order of the tests of its age.
fn request(version: Version, index: &Document) -> Result<Request<'_>, Ruling<i32>> {
    let wrong = |rule: Rule| {
        let typed = version.collmod_is_typed();
        (if typed { code::TYPE_MISMATCH } else { code::INVALID_OPTIONS }).by(rule)
    };
    let typed = version.collmod_is_typed();
    let given = |field: &str| match index.get(field) {
        Some(Bson::Null | Bson::Undefined) if typed => None,
        value => value,
    };
    let knows_hidden = version.hidden_is_known();
    let (name, key, seconds) = (given("name"), given("keyPattern"), given(SECONDS));
    let hidden = given("hidden").filter(|_| knows_hidden);

    let name_is_text = name.is_none_or(|name| matches!(name, Bson::String(_)));
    let key_is_document = key.is_none_or(|key| matches!(key, Bson::Document(_)));
    let seconds_are_number = seconds.is_none_or(is_number);
    let hidden_is_flag = hidden.is_none_or(|hidden| matches!(hidden, Bson::Boolean(_)));
    let forms = name_is_text && key_is_document && seconds_are_number && hidden_is_flag;
    let fields = ["name", "keyPattern", SECONDS, "hidden", "unique", "prepareUnique"];

    if typed && !forms {
        return Err(wrong(Rule::MongodbChangeType));
    }
    if typed && index.keys().any(|field| !fields.contains(&field.as_str())) {
        return Err(code::UNKNOWN_FIELD.by(Rule::MongodbChangeRequest));
    }
    if name.is_some() == key.is_some() || seconds.is_none() && hidden.is_none() {
        let is_null = index.get(SECONDS) == Some(&Bson::Null);
        let rule = if is_null && typed && name.is_some() != key.is_some() {
            Rule::MongodbChangeNull
        } else {
            Rule::MongodbChangeRequest
        };
        return Err(code::INVALID_OPTIONS.by(rule));
    }
    if !forms {
        let is_null = matches!(seconds, Some(Bson::Null));
        let rule = if is_null { Rule::MongodbChangeNull } else { Rule::MongodbChangeType };
        return Err(wrong(rule));
    }
    Ok(Request {
        name: name.and_then(Bson::as_str),
        key: key.and_then(Bson::as_document),
        seconds,
        hidden: hidden.and_then(Bson::as_bool),
    })
}

fn modify(
    version: Version,
    collection: &mut Collection,
    request: &Request<'_>,
    now: Millis,
) -> Ruling<Reply> {
    let refuse = |code: i32, rule: Rule| Reply::Error(code).by(rule);
    let is_capped = matches!(collection.kind, Kind::Capped | Kind::CappedClustered);
    let seconds = match request.seconds {
        None => None,
        Some(_) if collection.kind == Kind::TimeSeries => {
            return bucket::index_is_kept().map(Reply::Error);
        }
        Some(_) if is_capped && version.collmod_refuses_capped() => {
            return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeCapped);
        }
        Some(seconds) => match converted(version, seconds, now) {
            Err(refusal) => return refusal.map(Reply::Error),
            Ok(converted) => Some(converted),
        },
    };
    let (at, because) = match target(collection, request) {
        Err(refusal) => return refusal.map(Reply::Error),
        Ok(Target::Id) => return on_id(version, request),
        Ok(Target::At(at)) => (at, vec![Rule::MongodbChangeTarget]),
    };
    let index = &mut collection.indexes[at];
    let mut reply = Ruling::plain(Reply::Modified { old: None, new: None }).after(&because);
    if let Some(seconds) = seconds {
        reply = reply.after(&seconds.because);
        let asked = request.seconds.unwrap_or(&Bson::Null);
        match set_seconds(version, index, asked, seconds.verdict) {
            Err(refusal) => return refusal,
            Ok(modified) => reply = reply.then(|_| modified),
        }
    }
    if let Some(hidden) = request.hidden {
        index.spec.0.insert("hidden", hidden);
        reply = reply.and(Rule::MongodbChangeHidden);
    }
    reply
}

/// The number that these seconds are read as.
fn number(version: Version, seconds: &Bson) -> i64 {
    if version.collmod_is_typed() { i64::from(safe_int(seconds)) } else { safe_long(seconds) }
}

/// The number that the request asks for, in the range that the version demands.
fn converted(version: Version, seconds: &Bson, now: Millis) -> Result<Ruling<i64>, Ruling<i32>> {
    let typed = version.collmod_is_typed();
    let number = number(version, seconds);
    let was = if is_nan(seconds) {
        Some(Rule::MongodbNanCollMod)
    } else {
        (typed && number != safe_long(seconds)).then_some(Rule::MongodbChangeClamp)
    };
    let was: Vec<Rule> = was.into_iter().collect();
    let (is_in_range, rule) = match version.collmod_range() {
        CollModRange::Any => (true, Rule::MongodbChangeAnyRange),
        CollModRange::UntilNow => {
            let until_now = seconds_as_millis(number).is_some_and(|millis| millis <= now.0);
            (number >= 0 && until_now, Rule::MongodbChangeUntilNow)
        }
        CollModRange::Int32 => (number >= 0, Rule::MongodbChangeInt32),
    };
    if is_in_range {
        Ok(number.by(rule).after(&was))
    } else {
        Err(code::INVALID_OPTIONS.by(rule).after(&was))
    }
}

enum Target {
    /// The index on `_id`.
    Id,
    /// The index at this place.
    At(usize),
}

fn target(collection: &Collection, request: &Request<'_>) -> Result<Target, Ruling<i32>> {
    let missing = || code::INDEX_NOT_FOUND.by(Rule::MongodbChangeTarget);
    if clustered::is_meant(collection, request.name, request.key) {
        return Err(clustered::no_index(request.hidden.is_some()));
    }
    match (request.name, request.key) {
        (Some("_id_"), _) => Ok(Target::Id),
        (Some(name), _) => {
            let at = collection.indexes.iter().position(|index| index.name() == name);
            at.map(Target::At).ok_or_else(missing)
        }
        (None, Some(key)) if is_id_pattern(key) && equal(&key["_id"], &Bson::Int32(1)) => {
            Ok(Target::Id)
        }
        (None, key) => {
            let is_meant =
                |index: &Index| key.is_some_and(|key| compare_documents(&index.key(), key).is_eq());
            let mut meant = (collection.indexes.iter().enumerate())
                .filter(|(_, index)| is_meant(index))
                .map(|(at, _)| at);
            match (meant.next(), meant.next()) {
                (None, _) => Err(missing()),
                (Some(at), None) => Ok(Target::At(at)),
                (Some(_), Some(_)) => {
                    Err(code::AMBIGUOUS_KEY_PATTERN.by(Rule::MongodbChangeTarget))
                }
            }
        }
    }
}

/// The index on `_id` takes neither.
fn on_id(version: Version, request: &Request<'_>) -> Ruling<Reply> {
    match request.seconds {
        Some(_) if version.collmod_converts() => {
            Reply::Error(code::INVALID_OPTIONS).by(Rule::MongodbChangeNotConvertible)
        }
        Some(_) => Reply::Error(code::INVALID_OPTIONS).by(Rule::MongodbChangeNoField),
        None => Reply::Error(code::BAD_VALUE).by(Rule::MongodbChangeHidden),
    }
}

/// Writes the new value, if the index can take it.
fn set_seconds(
    version: Version,
    index: &mut Index,
    asked: &Bson,
    new: i64,
) -> Result<Ruling<Reply>, Ruling<Reply>> {
    let refuse = |code: i32, rule: Rule| Err(Reply::Error(code).by(rule));
    let Some(stored) = index.seconds().cloned() else {
        if !version.collmod_converts() {
            return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeNoField);
        }
        if index.stored_fields() != 1 {
            return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeNotConvertible);
        }
        if index.method() == Method::Wildcard {
            return Err(Reply::Fatal(code::FATAL_AT_REBUILD).by(Rule::MongodbChangeWildcard));
        }
        index.spec.0.insert(SECONDS, Bson::Int64(new));
        let reply = Reply::Modified { old: None, new: Some(new) };
        return Ok(reply.by(Rule::MongodbChangeConvert).and(Rule::MongodbChangeAnswer));
    };
    if !is_number(&stored) {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbChangeStored);
    }
    let old = safe_long(&stored);
    let differs = differs(version, &stored, asked, new);
    if differs || is_rewritten(version, &stored) {
        index.spec.0.insert(SECONDS, Bson::Int64(new));
    }
    // An invalid value is reported as 0 where it is repaired.
    let old = if version.collmod_rewrites_invalid() && !nan::is_valid(&stored) { 0 } else { old };
    Ok(if version.collmod_always_answers() {
        let reply = Reply::Modified { old: Some(old), new: Some(new) };
        reply.by(Rule::MongodbChangeSeconds).and(Rule::MongodbChangeAnswer)
    } else {
        let reply = Reply::Modified { old: differs.then_some(old), new: differs.then_some(new) };
        reply.by(Rule::MongodbChangeSeconds).and(Rule::MongodbChangeAnswerIfDifferent)
    })
}

/// Are these other seconds than those that are stored?
fn differs(version: Version, stored: &Bson, asked: &Bson, new: i64) -> bool {
    // The oldest servers compare the values as they are, so that 100.7 is not 100.
    if version.collmod_always_answers() { safe_long(stored) != new } else { !equal(stored, asked) }
}

/// Are these stored seconds written anew, though the number stays the same?
fn is_rewritten(version: Version, stored: &Bson) -> bool {
    let is_whole = matches!(stored, Bson::Int32(_) | Bson::Int64(_));
    version.collmod_rewrites_invalid() && !nan::is_valid(stored)
        || version.collmod_rewrites_nan() && is_nan(stored)
        || version.seconds_are_stored_as_int32() && !is_whole
}

/// A collMod while an index is being built is refused, unless it is found wrong by type before.
pub fn while_building(version: Version, command: &Document) -> Ruling<Reply> {
    match parsed(version, command) {
        Err(refusal)
            if version.collmod_is_typed()
                && matches!(refusal.verdict, code::TYPE_MISMATCH | code::UNKNOWN_FIELD) =>
        {
            refusal.map(Reply::Error)
        }
        _ => Reply::Error(code::BACKGROUND_OPERATION).by(Rule::MongodbChangeBuilding),
    }
}

// ---- collMod in the oplog ----------------------------------------------------------------------

/// What the oplog holds of a collMod that was done: of which index, and which seconds. It does so
/// whether this member had other seconds or not.
pub fn entry(version: Version, there: &Collection, command: &Document) -> Option<(String, i64)> {
    let command = parsed(version, command).ok()?;
    let request = command.index?;
    let Ok(Target::At(at)) = target(there, &request) else { return None };
    let seconds = request.seconds.map(|seconds| number(version, seconds))?;
    Some((there.indexes[at].name().to_owned(), seconds))
}

/// Takes over seconds from the oplog: a member writes what is new to it.
pub fn take_over(version: Version, index: &mut Index, seconds: &Bson) {
    let new = safe_long(seconds);
    let is_written = index.seconds().is_none_or(|stored| {
        !is_number(stored)
            || differs(version, stored, seconds, new)
            || is_rewritten(version, stored)
    });
    if is_written {
        index.spec.0.insert(SECONDS, Bson::Int64(new));
    }
}
