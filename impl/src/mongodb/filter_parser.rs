//! What does a `partialFilterExpression` say, and may an index of this version have it?

use ttlspec_model::mongodb::{Version, code};

use super::bytes::{Elements, Value, kind};
use super::number::Number;
use super::order::{equal, is_number};

/// A filter, taken apart.
#[derive(Debug)]
pub(super) enum Tree<'a> {
    /// All of these.
    And(Vec<Tree<'a>>),
    /// One of these.
    Or(Vec<Tree<'a>>),
    /// A value at the path is so.
    Leaf(&'a [u8], Question<'a>),
    /// No partial filter may ask this.
    Forbidden,
    /// Some may, but what it comes to is not known here: it is taken for forbidden.
    Unknown,
}

/// Could no catalog have held this filter? `knows`: one that takes `$or` and `$in`, and with them what
/// is unknown here.
pub(super) fn never_stood(tree: &Tree<'_>, knows: bool) -> bool {
    match tree {
        Tree::And(parts) | Tree::Or(parts) => parts.iter().any(|part| never_stood(part, knows)),
        Tree::Leaf(..) => false,
        Tree::Forbidden => true,
        Tree::Unknown => !knows,
    }
}

/// What is asked of a value.
#[derive(Debug)]
pub(super) enum Question<'a> {
    /// How does it compare?
    Compare(Comparison, Value<'a>),
    /// Is it one of these?
    In(Vec<Value<'a>>),
    /// Is it there?
    Exists,
    /// Is its type one of these bits?
    Type(u32),
}

/// The five comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
}

/// The bit of a type in a set of types.
pub(super) fn type_bit(kind: u8) -> u32 {
    match kind {
        kind::MIN_KEY => 1 << 20,
        kind::MAX_KEY => 1 << 21,
        kind => 1 << (kind & 0x1f),
    }
}

const NUMBERS: u32 = 1 << kind::DOUBLE | 1 << kind::INT32 | 1 << kind::INT64 | 1 << kind::DECIMAL;

const TYPES: [(&[u8], u8); 21] = [
    (b"double", kind::DOUBLE),
    (b"string", kind::STRING),
    (b"object", kind::DOCUMENT),
    (b"array", kind::ARRAY),
    (b"binData", kind::BINARY),
    (b"undefined", kind::UNDEFINED),
    (b"objectId", kind::OBJECT_ID),
    (b"bool", kind::BOOLEAN),
    (b"date", kind::DATE),
    (b"null", kind::NULL),
    (b"regex", kind::REGEX),
    (b"dbPointer", kind::DB_POINTER),
    (b"javascript", kind::CODE),
    (b"symbol", kind::SYMBOL),
    (b"javascriptWithScope", kind::CODE_WITH_SCOPE),
    (b"int", kind::INT32),
    (b"timestamp", kind::TIMESTAMP),
    (b"long", kind::INT64),
    (b"decimal", kind::DECIMAL),
    (b"minKey", kind::MIN_KEY),
    (b"maxKey", kind::MAX_KEY),
];

type Parsed<T> = Result<T, i32>;

/// Takes the fields of a filter apart: one condition stands for itself, several are all meant.
pub(super) fn parse<'a>(mut fields: Elements<'a>) -> Parsed<Tree<'a>> {
    let mut all = Vec::new();
    while let Some((name, value)) = next(&mut fields)? {
        match name {
            b"$and" => all.push(Tree::And(list(value)?)),
            b"$or" => all.push(Tree::Or(list(value)?)),
            b"$nor" => {
                list(value)?;
                all.push(Tree::Forbidden);
            }
            b"$comment" => {}
            b"$expr" | b"$jsonSchema" => return Err(code::QUERY_FEATURE_NOT_ALLOWED),
            b"$alwaysTrue" | b"$alwaysFalse" => match Number::read(value).map(Number::clamped) {
                Some(1) => all.push(Tree::Forbidden),
                _ => return Err(code::FAILED_TO_PARSE),
            },
            b"$sampleRate" if is_number(value.kind) => all.push(Tree::Forbidden),
            [b'$', ..] => return Err(code::BAD_VALUE),
            path => condition(path, value, &mut all)?,
        }
    }
    if all.len() == 1 {
        return Ok(all.remove(0));
    }
    Ok(Tree::And(all))
}

fn next<'a>(fields: &mut Elements<'a>) -> Parsed<Option<(&'a [u8], Value<'a>)>> {
    fields.advance().map_err(|_| code::FAILED_TO_PARSE)
}

/// A document without operators is what the value shall equal.
fn condition<'a>(path: &'a [u8], value: Value<'a>, all: &mut Vec<Tree<'a>>) -> Parsed<()> {
    match value.kind {
        kind::DOCUMENT if has_operators(value) => {
            let mut operators = fields(value)?;
            while let Some((operator, argument)) = next(&mut operators)? {
                all.push(ask(path, operator, argument)?);
            }
        }
        kind::REGEX => all.push(Tree::Forbidden),
        kind::UNDEFINED => return Err(code::BAD_VALUE),
        _ => all.push(equality(path, value)),
    }
    Ok(())
}

fn equality<'a>(path: &'a [u8], value: Value<'a>) -> Tree<'a> {
    Tree::Leaf(path, Question::Compare(Comparison::Eq, value))
}

fn fields(value: Value<'_>) -> Parsed<Elements<'_>> {
    value.elements().map_err(|_| code::FAILED_TO_PARSE)
}

/// The first name begins with `$`, and it is not a reference to another document.
fn has_operators(document: Value<'_>) -> bool {
    let Ok(fields) = document.elements() else { return false };
    let has = |name: &[u8]| matches!(fields.find(name), Ok(Some(_)));
    let mut first = fields;
    matches!(first.advance(), Ok(Some(([b'$', ..], _)))) && !(has(b"$ref") && has(b"$id"))
}

fn list(value: Value<'_>) -> Parsed<Vec<Tree<'_>>> {
    let mut trees = Vec::new();
    let mut entries = array(value).ok_or(code::BAD_VALUE)?;
    while let Some((_, entry)) = next(&mut entries)? {
        if entry.kind != kind::DOCUMENT {
            return Err(code::BAD_VALUE);
        }
        trees.push(parse(fields(entry)?)?);
    }
    if trees.is_empty() { Err(code::BAD_VALUE) } else { Ok(trees) }
}

fn array(value: Value<'_>) -> Option<Elements<'_>> {
    if value.kind == kind::ARRAY { value.elements().ok() } else { None }
}

fn ask<'a>(path: &'a [u8], operator: &[u8], argument: Value<'a>) -> Parsed<Tree<'a>> {
    let comparison = match operator {
        b"$eq" => Comparison::Eq,
        b"$lt" => Comparison::Lt,
        b"$lte" => Comparison::Lte,
        b"$gt" => Comparison::Gt,
        b"$gte" => Comparison::Gte,
        b"$type" => return Ok(Tree::Leaf(path, Question::Type(types(argument)?))),
        b"$exists" if is_true(argument) => return Ok(Tree::Leaf(path, Question::Exists)),
        b"$in" => return one_of(path, argument),
        b"$all" => return all_of(path, argument),
        b"$exists" | b"$not" | b"$ne" | b"$nin" | b"$regex" | b"$options" | b"$mod" | b"$size"
        | b"$elemMatch" | b"$bitsAllSet" | b"$bitsAllClear" | b"$bitsAnySet" | b"$bitsAnyClear" => {
            return Ok(Tree::Forbidden);
        }
        b"$geoWithin" | b"$geoIntersects" | b"$within" => return Ok(Tree::Unknown),
        _ => return Err(code::BAD_VALUE),
    };
    match argument.kind {
        kind::UNDEFINED => Err(code::BAD_VALUE),
        kind::REGEX if comparison != Comparison::Eq => Err(code::BAD_VALUE),
        _ => Ok(Tree::Leaf(path, Question::Compare(comparison, argument))),
    }
}

/// The server's truth of a value: everything but 0, false, null and undefined.
pub(super) fn is_true(value: Value<'_>) -> bool {
    match value.kind {
        kind::NULL | kind::UNDEFINED => false,
        kind::BOOLEAN => value.bytes != [0],
        _ => Number::read(value).is_none_or(Number::is_true),
    }
}

fn one_of<'a>(path: &'a [u8], argument: Value<'a>) -> Parsed<Tree<'a>> {
    let mut entries = array(argument).ok_or(code::BAD_VALUE)?;
    let mut values = Vec::new();
    while let Some((_, value)) = next(&mut entries)? {
        match value.kind {
            kind::UNDEFINED => return Err(code::BAD_VALUE),
            kind::DOCUMENT if has_operators(value) => return Err(code::BAD_VALUE),
            kind::REGEX => return Ok(Tree::Unknown),
            _ => values.push(value),
        }
    }
    Ok(Tree::Leaf(path, Question::In(values)))
}

fn all_of<'a>(path: &'a [u8], argument: Value<'a>) -> Parsed<Tree<'a>> {
    let mut entries = array(argument).ok_or(code::BAD_VALUE)?;
    let mut equalities = Vec::new();
    while let Some((_, value)) = next(&mut entries)? {
        match value.kind {
            kind::REGEX | kind::UNDEFINED => return Ok(Tree::Forbidden),
            kind::DOCUMENT if has_operators(value) => return Ok(Tree::Forbidden),
            _ => equalities.push(equality(path, value)),
        }
    }
    Ok(if equalities.is_empty() { Tree::Forbidden } else { Tree::And(equalities) })
}

fn types(argument: Value<'_>) -> Parsed<u32> {
    let Some(mut names) = array(argument) else { return type_named(argument) };
    if names.is_empty() {
        return Err(code::FAILED_TO_PARSE);
    }
    let mut set = 0;
    while let Some((_, name)) = next(&mut names)? {
        set |= type_named(name)?;
    }
    Ok(set)
}

fn type_named(name: Value<'_>) -> Parsed<u32> {
    let found = match name.kind {
        kind::STRING if name.text() == Some(b"number") => return Ok(NUMBERS),
        kind::STRING => TYPES.iter().find(|(alias, _)| name.text() == Some(alias)),
        number if is_number(number) => TYPES.iter().find(|(_, known)| {
            let number = if *known == kind::MIN_KEY { -1 } else { i32::from(*known) };
            equal(Value::new(kind::INT32, &number.to_le_bytes()), name)
        }),
        _ => return Err(code::TYPE_MISMATCH),
    };
    found.map(|(_, known)| type_bit(*known)).ok_or(code::BAD_VALUE)
}

/// May an index of this version have this filter?
pub(super) fn is_allowed(version: Version, tree: &Tree<'_>) -> bool {
    if version.filter_has_or_and_in() { is_shallow(tree, 4) } else { is_flat(tree, true) }
}

/// Before 6.0: one `$and`, at the top.
fn is_flat(tree: &Tree<'_>, top: bool) -> bool {
    match tree {
        Tree::And(parts) => top && parts.iter().all(|part| is_flat(part, false)),
        Tree::Leaf(_, Question::In(_)) | Tree::Or(_) | Tree::Forbidden | Tree::Unknown => false,
        Tree::Leaf(..) => true,
    }
}

/// Since 6.0: so many levels, leaves included.
fn is_shallow(tree: &Tree<'_>, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return false };
    match tree {
        Tree::And(parts) | Tree::Or(parts) => parts.iter().all(|part| is_shallow(part, below)),
        Tree::Leaf(..) => true,
        Tree::Forbidden | Tree::Unknown => false,
    }
}
