//! Which value does an object such as `{"$date": …}` stand for?
//!
//! Extended JSON v2, canonical and relaxed, and the older forms that mongoexport and the metadata of
//! mongodump once had.

use bson::oid::ObjectId;
use bson::raw::CString;
use bson::{Binary, Bson, DateTime, Document, Regex, Timestamp};
use serde_json::Value as Json;

use crate::instant;

/// What an object stands for: itself, unless it is one of the forms.
///
/// # Errors
/// What was expected and found, where a form is begun and is wrong.
pub fn typed(document: Document) -> Result<Bson, String> {
    let mut fields = document.iter();
    let Some((first, value)) = fields.next().filter(|(name, _)| name.starts_with('$')) else {
        return Ok(Bson::Document(document));
    };
    let second = fields.next();
    if fields.next().is_some() {
        return Ok(Bson::Document(document));
    }
    let one = |read: Result<Bson, String>| match second {
        None => read,
        Some((name, _)) => Err(format!("expected `{first}` alone, found `{name}` beside it")),
    };
    match (first.as_str(), second.map(|(name, _)| name.as_str())) {
        ("$numberInt", _) => one(whole(first, value)),
        ("$numberLong", _) => one(whole(first, value)),
        ("$numberDouble", _) => one(double(value)),
        ("$numberDecimal", _) => one(decimal(value)),
        ("$date", _) => one(date(value)),
        ("$oid", _) => one(object_id(value)),
        ("$uuid", _) => one(uuid(value)),
        ("$timestamp", _) => one(timestamp(value)),
        ("$undefined", None) => Ok(Bson::Undefined),
        ("$minKey", None) => Ok(Bson::MinKey),
        ("$maxKey", None) => Ok(Bson::MaxKey),
        ("$regularExpression", None) => regular_expression(value),
        ("$binary", None | Some("$type" | "subType")) => {
            binary(value, second.map(|(_, value)| value))
        }
        ("$symbol" | "$code", None) | ("$code", Some("$scope")) | ("$dbPointer", None) => {
            by_the_crate(&document)
        }
        _ => Ok(Bson::Document(document)),
    }
}

/// A bare number, as the tools read it: a whole number that fits is 32 bits wide.
pub fn number(text: &str) -> Option<Bson> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Ok(int) = text.parse::<i32>() {
        return Some(Bson::Int32(int));
    }
    if let Ok(long) = text.parse::<i64>() {
        return Some(Bson::Int64(long));
    }
    let begins_as_number =
        text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse::<f64>().ok().filter(|_| begins_as_number).map(Bson::Double)
}

fn refused(form: &str, wanted: &str, found: &Bson) -> String {
    format!("expected {wanted} in `{form}`, found `{found}`")
}

/// `{"$numberInt": "5"}`, `{"$numberLong": "5"}`; bare numbers too.
pub(crate) fn whole(form: &str, value: &Bson) -> Result<Bson, String> {
    let long = match value {
        Bson::Int32(int) => i64::from(*int),
        Bson::Int64(long) => *long,
        Bson::Double(double) if double.fract() == 0.0 && double.abs() < 2f64.powi(63) => {
            *double as i64
        }
        Bson::String(text) => match text.trim().parse::<i64>() {
            Ok(long) => long,
            Err(_) => return Err(refused(form, "a whole number", value)),
        },
        other => return Err(refused(form, "a whole number", other)),
    };
    match form {
        "$numberInt" => match i32::try_from(long) {
            Ok(int) => Ok(Bson::Int32(int)),
            Err(_) => Err(refused(form, "a number of 32 bits", value)),
        },
        _ => Ok(Bson::Int64(long)),
    }
}

pub(crate) fn double(value: &Bson) -> Result<Bson, String> {
    let number = match value {
        Bson::Int32(int) => Some(f64::from(*int)),
        Bson::Int64(long) => Some(*long as f64),
        Bson::Double(double) => Some(*double),
        Bson::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    number.map(Bson::Double).ok_or_else(|| refused("$numberDouble", "a number", value))
}

pub(crate) fn decimal(value: &Bson) -> Result<Bson, String> {
    let text = match value {
        Bson::String(text) => text.clone(),
        number => number.to_string(),
    };
    text.parse()
        .map(Bson::Decimal128)
        .map_err(|_| refused("$numberDecimal", "a decimal number", value))
}

/// Milliseconds, or RFC 3339 with whatever offset.
pub(crate) fn date(value: &Bson) -> Result<Bson, String> {
    let millis = match value {
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => match whole("$date", value)? {
            Bson::Int64(millis) => Some(millis),
            _ => None,
        },
        Bson::String(text) => instant::lenient(text),
        Bson::DateTime(date) => Some(date.timestamp_millis()),
        _ => None,
    };
    millis
        .map(|millis| Bson::DateTime(DateTime::from_millis(millis)))
        .ok_or_else(|| refused("$date", "a date such as `2024-01-01T00:00:00Z`", value))
}

pub(crate) fn object_id(value: &Bson) -> Result<Bson, String> {
    let hex = value.as_str().and_then(|hex| ObjectId::parse_str(hex).ok());
    hex.map(Bson::ObjectId).ok_or_else(|| refused("$oid", "24 hexadecimal digits", value))
}

pub(crate) fn uuid(value: &Bson) -> Result<Bson, String> {
    let uuid = value.as_str().and_then(|text| bson::Uuid::parse_str(text).ok());
    uuid.map(|uuid| Bson::Binary(Binary::from_uuid(uuid)))
        .ok_or_else(|| refused("$uuid", "a UUID", value))
}

/// `{"t": 1, "i": 2}`.
pub(crate) fn timestamp(value: &Bson) -> Result<Bson, String> {
    let part = |name: &str| {
        let part = value.as_document().and_then(|parts| parts.get(name));
        let whole = part.and_then(|part| whole("$timestamp", part).ok());
        whole.and_then(|whole| whole.as_i64()).and_then(|part| u32::try_from(part).ok())
    };
    match (part("t"), part("i")) {
        (Some(time), Some(increment)) => Ok(Bson::Timestamp(Timestamp { time, increment })),
        _ => Err(refused("$timestamp", "`t` and `i`", value)),
    }
}

/// `{"base64": …, "subType": …}`, or the older pair of `$binary` and `$type`.
fn binary(value: &Bson, kind: Option<&Bson>) -> Result<Bson, String> {
    let (base64, kind) = match value {
        Bson::Document(parts) => (parts.get("base64"), parts.get("subType")),
        other => (Some(other), kind),
    };
    let subtype = match kind {
        Some(Bson::String(hex)) => u8::from_str_radix(hex, 16).ok(),
        Some(Bson::Int32(number)) => u8::try_from(*number).ok(),
        None => Some(0),
        _ => None,
    };
    let bytes = base64.and_then(Bson::as_str).and_then(self::base64);
    match (bytes, subtype) {
        (Some(bytes), Some(subtype)) => Ok(Bson::Binary(Binary { subtype: subtype.into(), bytes })),
        _ => Err(refused("$binary", "base64 and a subtype", value)),
    }
}

/// Decodes base64.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    Binary::from_base64(text, None).ok().map(|binary| binary.bytes)
}

fn regular_expression(value: &Bson) -> Result<Bson, String> {
    let part = |name: &str| value.as_document().and_then(|parts| parts.get_str(name).ok());
    match (part("pattern"), part("options")) {
        (Some(pattern), options) => {
            regex(pattern.to_owned(), options.unwrap_or_default().to_owned())
        }
        _ => Err(refused("$regularExpression", "a pattern", value)),
    }
}

/// A regular expression.
pub(crate) fn regex(pattern: String, options: String) -> Result<Bson, String> {
    match (CString::try_from(pattern), CString::try_from(options)) {
        (Ok(pattern), Ok(options)) => Ok(Bson::RegularExpression(Regex { pattern, options })),
        _ => Err("expected a regular expression without NUL".to_owned()),
    }
}

/// Forms that are too rare to be read here.
fn by_the_crate(document: &Document) -> Result<Bson, String> {
    let json: Json = Bson::Document(document.clone()).into_canonical_extjson();
    Bson::try_from(json).map_err(|error| format!("expected Extended JSON, found: {error}"))
}
