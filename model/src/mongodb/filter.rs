#![doc = include_str!("../../../specs/mongodb/4-filter.md")]
//! ---
//! *Module:* which documents does a partial index hold, and which filters may it have?

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::compare::{class, compare, equal};
use super::number::{is_nan, is_number, is_true, safe_long};
use super::version::Version;
use super::words::code;
use crate::ruling::{By, Rule, Ruling};

/// A `partialFilterExpression`, taken apart as the server takes it apart.
#[derive(Clone, Debug)]
pub enum Filter {
    /// All of these hold; none of them means: always.
    And(Vec<Filter>),
    /// One of these holds.
    Or(Vec<Filter>),
    /// Something about the values at a path.
    At(String, Test),
    /// An operator that no partial filter may have, or that is not modelled here.
    Refused(String),
}

/// What is asked of a value.
#[derive(Clone, Debug)]
pub enum Test {
    /// `$eq`, `$lt`, `$lte`, `$gt`, `$gte`.
    Compare(Comparison, Bson),
    /// `$in`.
    In(Vec<Bson>),
    /// `$exists: true`.
    Exists,
    /// `$type`.
    Type(Vec<TypeName>),
}

/// The five comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the operators' own names")]
pub enum Comparison {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
}

/// What `$type` can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// One BSON type, by its number.
    One(i32),
    /// `"number"`: any of the four.
    Number,
}

/// Takes a filter apart.
///
/// # Errors
/// The server's error code, by `mongodb.filter.parse`.
pub fn parse(filter: &Document) -> Result<Filter, Ruling<i32>> {
    parse_object(filter).map_err(|code| code.by(Rule::MongodbFilterParse))
}

/// May an index of this version have this filter? `Some(code)`: no.
pub fn refusal(version: Version, filter: &Filter) -> Ruling<Option<i32>> {
    if version.filter_has_or_and_in() { refusal_now(filter, 1) } else { refusal_then(filter, true) }
}

/// Could an index with this filter have stood in no catalog of these versions? `Some(code)`: it could
/// not, and that is what creation would have said.
pub fn never_stood(versions: (Version, Version), filter: &Filter) -> Ruling<Option<i32>> {
    let now = versions.0.filter_has_or_and_in() || versions.1.filter_has_or_and_in();
    let is_refused = |operator: &&str| !(now && is_unfollowed(operator));
    let refused = operators(filter).iter().any(|operator| is_refused(&operator.as_str()));
    refused.then_some(code::CANNOT_CREATE_INDEX).by(Rule::MongodbFilterOperators)
}

/// An operator in it that servers from 6.0 on accept and that is not followed here: which documents
/// the index holds is not known.
pub fn unfollowed(version: Version, filter: &Filter) -> Option<String> {
    let unfollowed = operators(filter).into_iter().find(|operator| is_unfollowed(operator));
    unfollowed.filter(|_| version.filter_has_or_and_in())
}

/// Geometry, and `$in` with a regular expression, which alone makes a refusal of it.
fn is_unfollowed(operator: &str) -> bool {
    matches!(operator, "$geoWithin" | "$geoIntersects" | "$within" | "$in")
}

/// The operators of a filter that are refused.
fn operators(filter: &Filter) -> Vec<String> {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().flat_map(operators).collect(),
        Filter::At(..) => Vec::new(),
        Filter::Refused(operator) => vec![operator.clone()],
    }
}

/// Is the document in an index with this filter?
pub fn member(version: Version, filter: &Filter, document: &Document) -> Ruling<bool> {
    if let Filter::And(parts) = filter
        && parts.is_empty()
    {
        return true.by(Rule::MongodbFilterEmpty).and(Rule::MongodbFilterInside);
    }
    let found = holds(version, filter, document);
    let rule = if found.verdict { Rule::MongodbFilterInside } else { Rule::MongodbFilterOutside };
    found.and(rule)
}

// ---- which filters -----------------------------------------------------------------------------

/// Before 6.0: `$and` at the top only, no `$or`, no `$in`.
fn refusal_then(filter: &Filter, top: bool) -> Ruling<Option<i32>> {
    match filter {
        Filter::And(parts) if top => {
            first_refusal(parts.iter().map(|part| refusal_then(part, false)))
        }
        Filter::And(_) | Filter::Or(_) | Filter::At(_, Test::In(_)) => {
            Some(code::CANNOT_CREATE_INDEX).by(Rule::MongodbFilterOrIn)
        }
        other => refused(other),
    }
}

/// The largest number of nodes from the root to a leaf, both counted.
const DEEPEST: usize = 4;

/// Since 6.0: `$and`, `$or` and `$in` anywhere, up to a depth.
fn refusal_now(filter: &Filter, depth: usize) -> Ruling<Option<i32>> {
    match filter {
        _ if depth > DEEPEST => Some(code::CANNOT_CREATE_INDEX).by(Rule::MongodbFilterDepth),
        Filter::And(parts) | Filter::Or(parts) => {
            let inner = first_refusal(parts.iter().map(|part| refusal_now(part, depth + 1)));
            match filter {
                Filter::Or(_) => inner.and(Rule::MongodbFilterOrIn),
                _ => inner,
            }
        }
        Filter::At(_, Test::In(_)) => None.by(Rule::MongodbFilterOrIn),
        other => refused(other),
    }
}

fn refused(filter: &Filter) -> Ruling<Option<i32>> {
    match filter {
        Filter::Refused(_) => Some(code::CANNOT_CREATE_INDEX).by(Rule::MongodbFilterOperators),
        _ => None.by(Rule::MongodbFilterOperators),
    }
}

fn first_refusal(parts: impl Iterator<Item = Ruling<Option<i32>>>) -> Ruling<Option<i32>> {
    let mut all = None.by(Rule::MongodbFilterOperators);
    for part in parts {
        if part.verdict.is_some() {
            return part;
        }
        all = all.then(|_| part);
    }
    all
}

// ---- which documents ---------------------------------------------------------------------------

fn holds(version: Version, filter: &Filter, document: &Document) -> Ruling<bool> {
    match filter {
        Filter::And(parts) => {
            let mut all = Ruling::plain(true);
            for part in parts {
                let part = holds(version, part, document);
                if !part.verdict {
                    return part;
                }
                all = all.then(|_| part);
            }
            all
        }
        Filter::Or(parts) => {
            let mut none = Ruling::plain(false);
            for part in parts {
                let part = holds(version, part, document);
                if part.verdict {
                    return part;
                }
                none = none.then(|_| part);
            }
            none
        }
        Filter::At(path, test) => {
            let parts: Vec<&str> = path.split('.').collect();
            let mut met = Vec::new();
            let crossed = yields(document, &parts, &mut met);
            let mut because = if crossed { vec![Rule::MongodbFilterPath] } else { Vec::new() };
            for value in &met {
                let passed = passes(version, test, value.as_ref());
                because.extend(passed.because);
                if passed.verdict {
                    return Ruling::plain(true).after(&because);
                }
            }
            Ruling::plain(false).after(&because)
        }
        Filter::Refused(_) => Ruling::plain(false),
    }
}

/// The values that a query meets at a path; `None` is a missing field. Answers whether an array was
/// met, which is where a query goes other ways than an index does.
fn yields(document: &Document, path: &[&str], met: &mut Vec<Option<Bson>>) -> bool {
    match (document.get(path[0]), &path[1..]) {
        (Some(Bson::Array(array)), []) => {
            met.extend(array.iter().cloned().map(Some));
            met.push(Some(Bson::Array(array.clone())));
            true
        }
        (Some(value), []) => {
            met.push(Some(value.clone()));
            false
        }
        (Some(Bson::Document(inner)), rest) => yields(inner, rest, met),
        (Some(Bson::Array(array)), rest) => {
            yields_in_array(array, rest, met);
            true
        }
        (Some(_) | None, _) => {
            met.push(None);
            false
        }
    }
}

/// An array in the middle of the path. Each element that is a document is entered; the element at a
/// position that the path names is entered as that position too; all others are passed over.
fn yields_in_array(array: &[Bson], path: &[&str], met: &mut Vec<Option<Bson>>) {
    for (position, element) in array.iter().enumerate() {
        if let Bson::Document(document) = element {
            yields(document, path, met);
        }
        if position.to_string() == path[0] {
            match (element, &path[1..]) {
                (value, []) => met.push(Some(value.clone())),
                (Bson::Document(document), rest) => {
                    yields(document, rest, met);
                }
                (Bson::Array(inner), rest) => yields_in_array(inner, rest, met),
                _ => {}
            }
        }
    }
}

fn passes(version: Version, test: &Test, value: Option<&Bson>) -> Ruling<bool> {
    match test {
        Test::Exists => value.is_some().by(Rule::MongodbFilterExists),
        Test::Type(names) => {
            let is = |name: &TypeName| value.is_some_and(|value| is_type(value, *name));
            names.iter().any(is).by(Rule::MongodbFilterType)
        }
        Test::In(values) => {
            let equals = |wanted: &Bson| compares(version, Comparison::Eq, wanted, value);
            let mut none = Ruling::plain(false);
            for wanted in values {
                let one = equals(wanted);
                if one.verdict {
                    return one;
                }
                none = none.then(|_| one);
            }
            none
        }
        Test::Compare(comparison, wanted) => compares(version, *comparison, wanted, value),
    }
}

/// Does a value compare so with the one in the filter?
fn compares(
    version: Version,
    comparison: Comparison,
    wanted: &Bson,
    value: Option<&Bson>,
) -> Ruling<bool> {
    use Comparison::*;
    let is_nothing = |value: Option<&Bson>| matches!(value, None | Some(Bson::Undefined));
    match value {
        value if matches!(wanted, Bson::Null) && is_nothing(value) => {
            matches!(comparison, Eq | Lte | Gte).by(Rule::MongodbFilterNull)
        }
        value if value.is_none_or(|value| class(value) != class(wanted)) => match wanted {
            Bson::MinKey | Bson::MaxKey if !version.extremes_are_ends() => {
                (comparison != Eq).by(Rule::MongodbFilterExtremes)
            }
            Bson::MinKey => matches!(comparison, Gt | Gte).by(Rule::MongodbFilterExtremes),
            Bson::MaxKey => matches!(comparison, Lt | Lte).by(Rule::MongodbFilterExtremes),
            _ => false.by(Rule::MongodbFilterBracket),
        },
        Some(value) if is_nan(value) || is_nan(wanted) => {
            let both = is_nan(value) && is_nan(wanted);
            (both && matches!(comparison, Eq | Lte | Gte)).by(Rule::MongodbFilterNan)
        }
        value => {
            let order = value.map_or(Ordering::Less, |value| compare(value, wanted));
            let holds = match comparison {
                Eq => order.is_eq(),
                Lt => order.is_lt(),
                Lte => order.is_le(),
                Gt => order.is_gt(),
                Gte => order.is_ge(),
            };
            holds.by(Rule::MongodbFilterBracket)
        }
    }
}

fn is_type(value: &Bson, name: TypeName) -> bool {
    match name {
        TypeName::Number => is_number(value),
        TypeName::One(number) => type_number(value) == number,
    }
}

/// The number of a BSON type.
fn type_number(value: &Bson) -> i32 {
    match value {
        Bson::Double(_) => 1,
        Bson::String(_) => 2,
        Bson::Document(_) => 3,
        Bson::Array(_) => 4,
        Bson::Binary(_) => 5,
        Bson::Undefined => 6,
        Bson::ObjectId(_) => 7,
        Bson::Boolean(_) => 8,
        Bson::DateTime(_) => 9,
        Bson::Null => 10,
        Bson::RegularExpression(_) => 11,
        Bson::DbPointer(_) => 12,
        Bson::JavaScriptCode(_) => 13,
        Bson::Symbol(_) => 14,
        Bson::JavaScriptCodeWithScope(_) => 15,
        Bson::Int32(_) => 16,
        Bson::Timestamp(_) => 17,
        Bson::Int64(_) => 18,
        Bson::Decimal128(_) => 19,
        Bson::MinKey => -1,
        Bson::MaxKey => 127,
    }
}

const TYPE_ALIASES: [(&str, i32); 21] = [
    ("double", 1),
    ("string", 2),
    ("object", 3),
    ("array", 4),
    ("binData", 5),
    ("undefined", 6),
    ("objectId", 7),
    ("bool", 8),
    ("date", 9),
    ("null", 10),
    ("regex", 11),
    ("dbPointer", 12),
    ("javascript", 13),
    ("symbol", 14),
    ("javascriptWithScope", 15),
    ("int", 16),
    ("timestamp", 17),
    ("long", 18),
    ("decimal", 19),
    ("minKey", -1),
    ("maxKey", 127),
];

// ---- taking apart ------------------------------------------------------------------------------

/// A document of conditions. One alone stands for itself; several are an `$and`.
fn parse_object(filter: &Document) -> Result<Filter, i32> {
    let mut parts = Vec::new();
    for (name, value) in filter {
        match (name.as_str(), value) {
            ("$and", list) => parts.push(Filter::And(parse_list(list)?)),
            ("$or", list) => parts.push(Filter::Or(parse_list(list)?)),
            ("$nor", list) => {
                parse_list(list)?;
                parts.push(Filter::Refused(name.clone()));
            }
            ("$sampleRate", rate) if is_number(rate) => parts.push(Filter::Refused(name.clone())),
            ("$comment", _) => {}
            ("$expr" | "$jsonSchema", _) => return Err(code::QUERY_FEATURE_NOT_ALLOWED),
            ("$alwaysTrue" | "$alwaysFalse", one) if is_number(one) && safe_long(one) == 1 => {
                parts.push(Filter::Refused(name.clone()));
            }
            ("$alwaysTrue" | "$alwaysFalse", _) => return Err(code::FAILED_TO_PARSE),
            (operator, _) if operator.starts_with('$') => return Err(code::BAD_VALUE),
            (path, Bson::Document(operators)) if is_operators(operators) => {
                for (operator, argument) in operators {
                    parts.push(parse_operator(path, operator, argument)?);
                }
            }
            (_, Bson::RegularExpression(_)) => parts.push(Filter::Refused("$regex".to_owned())),
            (_, Bson::Undefined) => return Err(code::BAD_VALUE),
            (path, value) => parts.push(equals(path, value)),
        }
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
}

fn equals(path: &str, value: &Bson) -> Filter {
    Filter::At(path.to_owned(), Test::Compare(Comparison::Eq, value.clone()))
}

/// Operators begin with `$`; a DBRef does too and is a value.
fn is_operators(document: &Document) -> bool {
    let is_reference = document.contains_key("$ref") && document.contains_key("$id");
    !is_reference && document.keys().next().is_some_and(|name| name.starts_with('$'))
}

fn parse_list(list: &Bson) -> Result<Vec<Filter>, i32> {
    match list {
        Bson::Array(entries) if !entries.is_empty() => entries
            .iter()
            .map(|entry| parse_object(entry.as_document().ok_or(code::BAD_VALUE)?))
            .collect(),
        _ => Err(code::BAD_VALUE),
    }
}

fn parse_operator(path: &str, operator: &str, argument: &Bson) -> Result<Filter, i32> {
    use Comparison::*;
    let at = |test| Ok(Filter::At(path.to_owned(), test));
    let compare = |comparison| match argument {
        Bson::Undefined => Err(code::BAD_VALUE),
        Bson::RegularExpression(_) if comparison != Eq => Err(code::BAD_VALUE),
        value => at(Test::Compare(comparison, value.clone())),
    };
    match operator {
        "$eq" => compare(Eq),
        "$lt" => compare(Lt),
        "$lte" => compare(Lte),
        "$gt" => compare(Gt),
        "$gte" => compare(Gte),
        "$exists" if is_true(argument) => at(Test::Exists),
        "$type" => at(Test::Type(parse_types(argument)?)),
        "$in" => parse_in(path, argument),
        "$all" => parse_all(path, argument),
        "$exists" | "$not" | "$ne" | "$nin" | "$regex" | "$options" | "$mod" | "$size"
        | "$elemMatch" | "$bitsAllSet" | "$bitsAllClear" | "$bitsAnySet" | "$bitsAnyClear"
        | "$geoWithin" | "$geoIntersects" | "$within" => Ok(Filter::Refused(operator.to_owned())),
        _ => Err(code::BAD_VALUE),
    }
}

fn parse_in(path: &str, argument: &Bson) -> Result<Filter, i32> {
    let values = argument.as_array().ok_or(code::BAD_VALUE)?;
    for value in values {
        match value {
            Bson::Undefined => return Err(code::BAD_VALUE),
            Bson::Document(document) if is_operators(document) => return Err(code::BAD_VALUE),
            Bson::RegularExpression(_) => return Ok(Filter::Refused("$in".to_owned())),
            _ => {}
        }
    }
    Ok(Filter::At(path.to_owned(), Test::In(values.clone())))
}

/// `$all` of plain values is an `$and` of equalities before anybody looks at it.
fn parse_all(path: &str, argument: &Bson) -> Result<Filter, i32> {
    let values = argument.as_array().ok_or(code::BAD_VALUE)?;
    let is_plain = |value: &Bson| match value {
        Bson::Document(document) => !is_operators(document),
        value => !matches!(value, Bson::RegularExpression(_) | Bson::Undefined),
    };
    if values.is_empty() || !values.iter().all(is_plain) {
        return Ok(Filter::Refused("$all".to_owned()));
    }
    Ok(Filter::And(values.iter().map(|value| equals(path, value)).collect()))
}

fn parse_types(argument: &Bson) -> Result<Vec<TypeName>, i32> {
    let parse_type = |name: &Bson| match name {
        Bson::String(alias) if alias == "number" => Ok(TypeName::Number),
        Bson::String(alias) => (TYPE_ALIASES.iter().find(|(name, _)| name == alias))
            .map(|(_, number)| TypeName::One(*number))
            .ok_or(code::BAD_VALUE),
        number if is_number(number) => (TYPE_ALIASES.iter())
            .find(|(_, known)| equal(&Bson::Int32(*known), number))
            .map(|(_, known)| TypeName::One(*known))
            .ok_or(code::BAD_VALUE),
        _ => Err(code::TYPE_MISMATCH),
    };
    match argument {
        Bson::Array(names) if names.is_empty() => Err(code::FAILED_TO_PARSE),
        Bson::Array(names) => names.iter().map(parse_type).collect(),
        name => Ok(vec![parse_type(name)?]),
    }
}
