//! May this index be made beside the ones that are there, and what is stored of it?

use ttlspec_model::mongodb::version::CappedTtl;
use ttlspec_model::mongodb::{Version, code};

use super::bytes::{Elements, Kept, Value, elements, kind};
use super::filter::Filter;
use super::number::Number;
use super::order::{compare_documents, equal, is_number};
use super::ttl_index::{FILTER, Kind, Method, SECONDS, TtlIndex, is_wildcard};

/// What a request comes to that is not refused.
#[derive(Debug)]
pub(super) enum Creation {
    /// This is to be built.
    Made(Box<TtlIndex>),
    /// It is there already.
    There,
}

type Allowed = Result<(), i32>;

/// Decides on a specification as the user gives it. The first test that fails decides.
pub(super) fn creation(
    version: Version,
    kind: Kind,
    existing: &[TtlIndex],
    spec: &[u8],
    now_ms: i64,
) -> Result<Creation, i32> {
    let spec = Spec::read(spec)?;
    form(version, &spec)?;
    let (Some(key), Some(name)) = (spec.key, spec.name.and_then(Value::text)) else {
        return Err(code::FAILED_TO_PARSE);
    };
    if let Some(value) = id_value(key) {
        return id_index(&spec, value);
    }
    if name == b"_id_" || name == b"*" {
        return Err(code::BAD_VALUE);
    }
    if spec.seconds.is_some() && kind == Kind::CappedClustered {
        return Err(code::CLUSTERED_CAPPED_TTL);
    }
    if let Some(seconds) = spec.seconds
        && !seconds_are_allowed(version, count(key), seconds, now_ms)
    {
        return Err(code::CANNOT_CREATE_INDEX);
    }
    let stored = spec.seconds.map(|seconds| stored_seconds(version, seconds));
    let index = TtlIndex::new(version, kind, spec.bytes, stored)?;
    let is_wildcard_ttl = spec.seconds.is_some() && index.method() == Method::Wildcard;
    let is_sparse_and_partial = spec.filter.is_some() && index.is_sparse();
    if name.is_empty() || is_wildcard_ttl || is_sparse_and_partial || !index.filter_is_allowed() {
        return Err(code::CANNOT_CREATE_INDEX);
    }
    if let Some(verdict) = beside(version, existing, &index) {
        return verdict.map(|()| Creation::There);
    }
    if kind == Kind::View {
        return Err(code::NOT_SUPPORTED_ON_VIEW);
    }
    let is_refused = kind == Kind::Capped && version.capped_ttl() == CappedTtl::Refused;
    if spec.seconds.is_some() && is_refused {
        return Err(code::CANNOT_CREATE_INDEX);
    }
    Ok(Creation::Made(Box::new(index)))
}

/// A specification, looked through once.
struct Spec<'a> {
    bytes: &'a [u8],
    key: Option<Value<'a>>,
    name: Option<Value<'a>>,
    seconds: Option<Value<'a>>,
    filter: Option<Value<'a>>,
}

impl<'a> Spec<'a> {
    fn read(bytes: &'a [u8]) -> Result<Spec<'a>, i32> {
        let mut spec = Spec { bytes, key: None, name: None, seconds: None, filter: None };
        each(elements(bytes).map_err(|_| code::FAILED_TO_PARSE)?, |name, value| {
            match name {
                b"key" => spec.key = Some(value),
                b"name" => spec.name = Some(value),
                _ if name == SECONDS => spec.seconds = Some(value),
                _ if name == FILTER => spec.filter = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(spec)
    }

    fn fields(&self) -> Elements<'a> {
        elements(self.bytes).expect("it was read before")
    }
}

/// Does something with each field until it fails.
fn each<'a>(
    mut fields: Elements<'a>,
    mut act: impl FnMut(&'a [u8], Value<'a>) -> Allowed,
) -> Allowed {
    while let Some((name, value)) = fields.advance().map_err(|_| code::FAILED_TO_PARSE)? {
        act(name, value)?;
    }
    Ok(())
}

fn count(document: Value<'_>) -> usize {
    let mut fields = 0;
    let counted = document.elements().map(|elements| {
        each(elements, |_, _| {
            fields += 1;
            Ok(())
        })
    });
    if counted.is_ok() { fields } else { 0 }
}

// ---- the form ----------------------------------------------------------------------------------

const OPTIONS: [&[u8]; 24] = [
    b"2dsphereIndexVersion",
    b"_id",
    b"background",
    b"bits",
    b"bucketSize",
    b"coarsestIndexedLevel",
    b"collation",
    b"default_language",
    b"dropDups",
    b"expireAfterSeconds",
    b"finestIndexedLevel",
    b"key",
    b"language_override",
    b"max",
    b"min",
    b"name",
    b"ns",
    b"partialFilterExpression",
    b"sparse",
    b"storageEngine",
    b"textIndexVersion",
    b"unique",
    b"v",
    b"weights",
];

/// May an index of this version have this option?
pub(super) fn is_option(version: Version, option: &[u8]) -> bool {
    match option {
        b"hidden" => version.hidden_is_known(),
        b"prepareUnique" => version.prepare_unique_is_known(),
        b"wildcardProjection" => version.wildcard_is_known(),
        option => OPTIONS.binary_search(&option).is_ok(),
    }
}

/// All names first, then the values in the order given, then what is missing.
fn form(version: Version, spec: &Spec<'_>) -> Allowed {
    each(spec.fields(), |name, _| match is_option(version, name) {
        true => Ok(()),
        false => Err(code::INVALID_INDEX_OPTION),
    })?;
    each(spec.fields(), |name, value| option(version, name, value))?;
    if spec.key.is_some() && spec.name.is_some() { Ok(()) } else { Err(code::FAILED_TO_PARSE) }
}

/// One option alone: first its type, then its value.
fn option(version: Version, name: &[u8], value: Value<'_>) -> Allowed {
    let has_type = match name {
        b"key" | b"collation" | FILTER => value.kind == kind::DOCUMENT,
        b"name" => value.kind == kind::STRING,
        b"hidden" => value.kind == kind::BOOLEAN,
        b"v" => is_number(value.kind),
        b"sparse" | b"unique" | b"background" | b"dropDups" | b"prepareUnique" => {
            let is_flag = is_number(value.kind) || value.kind == kind::BOOLEAN;
            is_flag || !version.flags_are_typed()
        }
        _ => true,
    };
    if !has_type {
        return Err(code::TYPE_MISMATCH);
    }
    match name {
        b"key" => key_pattern(version, value),
        FILTER => Filter::new(version, value).map(drop),
        b"v" => index_version(value),
        b"collation" if value.elements().is_ok_and(|fields| fields.is_empty()) => {
            Err(code::BAD_VALUE)
        }
        _ => Ok(()),
    }
}

/// A whole number of 32 bits, then: 1 or 2.
fn index_version(value: Value<'_>) -> Allowed {
    let whole = Number::read(value).map_or(0, Number::clamped_int);
    match whole {
        _ if !equal(value, Value::new(kind::INT32, &whole.to_le_bytes())) => Err(code::BAD_VALUE),
        1 | 2 => Ok(()),
        _ => Err(code::CANNOT_CREATE_INDEX),
    }
}

/// How many bytes a key pattern may have.
const LONGEST_KEY: usize = 2048;

fn key_pattern(version: Version, key: Value<'_>) -> Allowed {
    let fields = key.elements().map_err(|_| code::FAILED_TO_PARSE)?;
    if fields.is_empty() || key.bytes.len() > LONGEST_KEY {
        return Err(code::CANNOT_CREATE_INDEX);
    }
    let is_single = count(key) == 1;
    let mut method = None;
    each(fields, |path, value| {
        // A key has one access method, or none that is named.
        if let Some(named) = value.text()
            && *method.get_or_insert(named) != named
        {
            return Err(code::CANNOT_CREATE_INDEX);
        }
        let is_text = value.text() == Some(b"text") && value.kind == kind::STRING;
        let is_legal = match path {
            b"$**" | b"_fts" if is_text => true,
            b"_fts" => false,
            path if is_wildcard(path) && !is_text && version.wildcard_is_known() => {
                is_single && is_one(value)
            }
            path => is_direction(value) && is_path(path),
        };
        if is_legal { Ok(()) } else { Err(code::CANNOT_CREATE_INDEX) }
    })
}

fn is_one(value: Value<'_>) -> bool {
    equal(value, Value::new(kind::INT32, &1i32.to_le_bytes()))
}

/// The name of an access method, or a number that is neither 0 nor NaN.
fn is_direction(value: Value<'_>) -> bool {
    match Number::read(value) {
        Some(number) => !number.is_nan() && number.is_true(),
        None => {
            let methods: [&[u8]; 4] = [b"hashed", b"text", b"2d", b"2dsphere"];
            value.kind == kind::STRING && value.text().is_some_and(|text| methods.contains(&text))
        }
    }
}

/// No empty part, and none that begins with `$` but those of a reference below the top.
fn is_path(path: &[u8]) -> bool {
    let is_part = |(depth, part): (usize, &[u8])| match part {
        b"" => false,
        b"$db" | b"$id" | b"$ref" => depth > 0,
        part => part[0] != b'$',
    };
    path.split(|byte| *byte == b'.').enumerate().all(is_part)
}

// ---- the _id index -----------------------------------------------------------------------------

/// The value of a key pattern that means the index on `_id`: as an integer it is 1 or -1.
pub(super) fn id_value(key: Value<'_>) -> Option<Value<'_>> {
    let mut fields = key.elements().ok()?;
    let (name, value) = fields.advance().ok()??;
    let whole = Number::read(value)?.clamped_int();
    (name == b"_id" && fields.is_empty() && matches!(whole, 1 | -1)).then_some(value)
}

/// Does a key pattern name the index on `_id` as it is?
pub(super) fn is_id_key(key: Value<'_>) -> bool {
    id_value(key).is_some_and(is_one)
}

fn id_index(spec: &Spec<'_>, value: Value<'_>) -> Result<Creation, i32> {
    each(spec.fields(), |name, _| match name {
        b"_id" | b"collation" | b"key" | b"name" | b"ns" | b"v" => Ok(()),
        _ => Err(code::INVALID_INDEX_OPTION),
    })?;
    if is_one(value) { Ok(Creation::There) } else { Err(code::BAD_VALUE) }
}

// ---- expireAfterSeconds ------------------------------------------------------------------------

/// May an index with so many fields have this `expireAfterSeconds`?
pub(super) fn seconds_are_allowed(
    version: Version,
    fields: usize,
    seconds: Value<'_>,
    now_ms: i64,
) -> bool {
    if !version.creation_is_checked() {
        return true;
    }
    let Some(number) = Number::read(seconds) else { return false };
    let whole = number.clamped();
    let is_within = if version.creation_is_limited_to_now() {
        whole.checked_mul(1_000).is_some_and(|millis| millis <= now_ms)
    } else {
        i32::try_from(whole).is_ok()
    };
    !(number.is_nan() && version.nan_is_refused()) && is_within && whole >= 0 && fields == 1
}

/// What a value that cannot be used is repaired to.
pub(super) fn repaired() -> Kept {
    Kept::int(i32::MAX)
}

fn stored_seconds(version: Version, seconds: Value<'_>) -> Kept {
    let number = Number::read(seconds);
    if version.nan_is_stored_as_max() && number.is_some_and(Number::is_nan) {
        repaired()
    } else if version.seconds_are_stored_as_int32() {
        Kept::int(number.map_or(0, Number::clamped_int))
    } else {
        seconds.into()
    }
}

// ---- beside other indexes ----------------------------------------------------------------------

/// Options in which two indexes may differ and still be the same, sorted.
const NOT_COMPARED: [&[u8]; 13] = [
    b"2dsphereIndexVersion",
    b"_id",
    b"background",
    b"dropDups",
    b"hidden",
    b"key",
    b"name",
    b"ns",
    b"partialFilterExpression",
    b"sparse",
    b"textIndexVersion",
    b"unique",
    b"v",
];

/// `Some`: the new index is there already, or one that is there stands in its way.
fn beside(version: Version, existing: &[TtlIndex], new: &TtlIndex) -> Option<Allowed> {
    let has_signature = |old: &&TtlIndex| has_same_signature(version, old, new);
    let conflict = Some(Err(code::INDEX_OPTIONS_CONFLICT));
    if let Some(old) = existing.iter().find(|old| old.name() == new.name()) {
        return match (has_signature(&old), has_same_options(old, new)) {
            (false, _) => Some(Err(code::INDEX_KEY_SPECS_CONFLICT)),
            (true, false) => conflict,
            (true, true) => Some(Ok(())),
        };
    }
    let old = existing.iter().find(has_signature)?;
    let is_there = !version.another_name_conflicts() && has_same_options(old, new);
    if is_there { Some(Ok(())) } else { conflict }
}

fn has_same_signature(version: Version, a: &TtlIndex, b: &TtlIndex) -> bool {
    compare_documents(a.key(), b.key()).is_eq()
        && has_same(a, b, b"collation")
        && (!version.signature_has_options() || has_same_flags(a, b))
}

fn has_same_flags(a: &TtlIndex, b: &TtlIndex) -> bool {
    a.is_sparse() == b.is_sparse()
        && a.is_unique() == b.is_unique()
        && has_same(a, b, FILTER)
        && has_same(a, b, b"wildcardProjection")
}

fn has_same_options(a: &TtlIndex, b: &TtlIndex) -> bool {
    let has_all_of = |options: Elements<'_>| {
        let compared = each(options, |name, _| {
            let is_same = NOT_COMPARED.binary_search(&name).is_ok() || has_same(a, b, name);
            if is_same { Ok(()) } else { Err(code::INDEX_OPTIONS_CONFLICT) }
        });
        compared.is_ok()
    };
    // collMod may have given one of them seconds that its specification does not show.
    has_same_flags(a, b)
        && has_same(a, b, SECONDS)
        && has_all_of(a.options())
        && has_all_of(b.options())
}

fn has_same(a: &TtlIndex, b: &TtlIndex, option: &[u8]) -> bool {
    match (a.option(option), b.option(option)) {
        (Some(a), Some(b)) => equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}
