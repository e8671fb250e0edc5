//! Which value does a word or a call such as `ISODate("…")` stand for?

use bson::{Bson, DateTime, Document, Timestamp};

use crate::text::shortened;
use crate::typed;

/// The words of JSON, of the shells and of Python.
pub(crate) fn constant(word: &str) -> Option<Bson> {
    Some(match word {
        "true" | "True" => Bson::Boolean(true),
        "false" | "False" => Bson::Boolean(false),
        "null" | "None" => Bson::Null,
        "undefined" => Bson::Undefined,
        "NaN" | "nan" => Bson::Double(f64::NAN),
        "Infinity" | "inf" => Bson::Double(f64::INFINITY),
        "MinKey" => Bson::MinKey,
        "MaxKey" => Bson::MaxKey,
        _ => return None,
    })
}

/// The calls of the shells and of Python.
///
/// # Errors
/// What was expected and found.
pub(crate) fn call(name: &str, arguments: Vec<Bson>) -> Result<Bson, String> {
    let first = arguments.first().unwrap_or(&Bson::Null);
    match name {
        "ISODate" | "Date" => typed::date(first),
        "NumberLong" | "Long" | "Int64" => typed::whole("$numberLong", first),
        "NumberInt" | "Int32" => typed::whole("$numberInt", first),
        "Double" | "float" => typed::double(first),
        "NumberDecimal" | "Decimal128" => typed::decimal(first),
        "ObjectId" | "ObjectID" => typed::object_id(first),
        "UUID" => typed::uuid(first),
        "Timestamp" => timestamp(&arguments),
        "BinData" => binary(&arguments),
        "MinKey" => Ok(Bson::MinKey),
        "MaxKey" => Ok(Bson::MaxKey),
        "SON" | "OrderedDict" => pairs(first),
        "datetime" => python_date(&arguments),
        _ => Err(format!("expected a value, found a call of `{}`", shortened(name))),
    }
}

fn timestamp(arguments: &[Bson]) -> Result<Bson, String> {
    match arguments {
        [parts @ Bson::Document(_)] => typed::timestamp(parts),
        [Bson::Int32(time), Bson::Int32(increment)] if *time >= 0 && *increment >= 0 => {
            Ok(Bson::Timestamp(Timestamp { time: *time as u32, increment: *increment as u32 }))
        }
        _ => Err("expected `Timestamp(t, i)`".to_owned()),
    }
}

fn binary(arguments: &[Bson]) -> Result<Bson, String> {
    match arguments {
        [Bson::Int32(subtype), Bson::String(text)] => {
            let bytes = typed::base64(text).ok_or("expected base64 in `BinData`")?;
            let subtype = u8::try_from(*subtype).map_err(|_| "expected a subtype of 8 bits")?;
            Ok(Bson::Binary(bson::Binary { subtype: subtype.into(), bytes }))
        }
        _ => Err("expected `BinData(subtype, base64)`".to_owned()),
    }
}

/// `[["name", value], …]` as a document.
pub(crate) fn pairs(list: &Bson) -> Result<Bson, String> {
    let wrong = || "expected pairs of a name and a value".to_owned();
    let mut document = Document::new();
    for pair in list.as_array().ok_or_else(wrong)? {
        match pair.as_array().map(Vec::as_slice) {
            Some([Bson::String(name), value]) => document.insert(name.clone(), value.clone()),
            _ => return Err(wrong()),
        };
    }
    Ok(Bson::Document(document))
}

/// `datetime.datetime(2024, 1, 1, 0, 0)`, taken as UTC, which is how the driver hands it out.
fn python_date(arguments: &[Bson]) -> Result<Bson, String> {
    let part = |at: usize| arguments.get(at).and_then(Bson::as_i32).unwrap_or(0);
    let date = jiff::civil::DateTime::new(
        part(0).try_into().unwrap_or(0),
        part(1).try_into().unwrap_or(0),
        part(2).try_into().unwrap_or(0),
        part(3).try_into().unwrap_or(0),
        part(4).try_into().unwrap_or(0),
        part(5).try_into().unwrap_or(0),
        (part(6).clamp(0, 999_999) / 1_000) * 1_000_000,
    );
    let instant = date.and_then(|date| jiff::tz::TimeZone::UTC.to_timestamp(date));
    instant
        .map(|instant| Bson::DateTime(DateTime::from_millis(instant.as_millisecond())))
        .map_err(|error| format!("expected a date, found: {error}"))
}
