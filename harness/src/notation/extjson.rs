//! How is a BSON value written, so that exactly the same value is read back?
//!
//! As MongoDB Extended JSON v2: relaxed where that keeps the type and every bit, canonical
//! elsewhere. Where that standard has no form, these extensions are used:
//!
//! | form | is |
//! |---|---|
//! | `{"$date": 10000}` | a date, in milliseconds since 1970 (only read) |
//! | `{"$null": true}` | null, for TOML, which has none |
//! | `{"$document": {"$date": 1}}` | a document with a key that would make it another value |
//! | `{"$numberDouble": "NaN(fff8000000000000)"}` | another NaN than the usual one, by its bits |
//! | `{"$numberDecimal": "0x…"}` | a decimal that its text does not give back, by its bytes |

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, Regex};
use serde_json::{Map, Value, json};

use super::{Fault, Fields, integer, text};
use crate::text::instant;

/// The keys that make a table a value of another type.
pub const KEYS: [&str; 18] = [
    "$binary",
    "$code",
    "$date",
    "$dbPointer",
    "$document",
    "$maxKey",
    "$minKey",
    "$null",
    "$numberDecimal",
    "$numberDouble",
    "$numberInt",
    "$numberLong",
    "$oid",
    "$regularExpression",
    "$symbol",
    "$timestamp",
    "$undefined",
    "$uuid",
];

// ---- writing -----------------------------------------------------------------------------------

/// Writes a value.
pub fn to_json(value: &Bson) -> Value {
    match value {
        Bson::Double(value) => double_to_json(*value),
        Bson::String(text) => Value::from(text.as_str()),
        Bson::Array(items) => Value::Array(items.iter().map(to_json).collect()),
        Bson::Document(document) => document_to_json(document),
        Bson::Boolean(value) => Value::from(*value),
        Bson::Null => Value::Null,
        Bson::Int32(value) => Value::from(*value),
        Bson::Int64(value) => json!({ "$numberLong": value.to_string() }),
        Bson::DateTime(date) => date_to_json(date.timestamp_millis()),
        Bson::Decimal128(value) => json!({ "$numberDecimal": decimal_text(*value) }),
        // By hand, because the options of a stored expression need not be in order.
        Bson::RegularExpression(Regex { pattern, options }) => json!({
            "$regularExpression": { "pattern": pattern.as_str(), "options": options.as_str() }
        }),
        Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope }) => {
            json!({ "$code": code, "$scope": document_to_json(scope) })
        }
        other => other.clone().into_canonical_extjson(),
    }
}

/// Writes a document.
pub fn document_to_json(document: &Document) -> Value {
    let fields: Map<String, Value> =
        document.iter().map(|(name, value)| (name.clone(), to_json(value))).collect();
    if document.keys().any(|name| KEYS.contains(&name.as_str())) {
        json!({ "$document": fields })
    } else {
        Value::Object(fields)
    }
}

/// A number where every reader of JSON makes the same double of it, and no integer.
fn double_to_json(value: f64) -> Value {
    let text = double_text(value);
    let plain = value.fract() != 0.0 && !text.contains('e');
    let digits = text.chars().filter(char::is_ascii_digit).count();
    match serde_json::Number::from_f64(value) {
        Some(number) if plain && digits <= 15 => Value::Number(number),
        _ => json!({ "$numberDouble": text }),
    }
}

const NAN: u64 = 0x7ff8_0000_0000_0000;

pub(crate) fn double_text(value: f64) -> String {
    match value {
        nan if nan.is_nan() && nan.to_bits() == NAN => "NaN".to_owned(),
        nan if nan.is_nan() => format!("NaN({:016x})", nan.to_bits()),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        finite => format!("{finite:?}"),
    }
}

fn date_to_json(millis: i64) -> Value {
    match instant::iso(millis) {
        Some(text) if millis >= 0 => json!({ "$date": text }),
        _ => json!({ "$date": { "$numberLong": millis.to_string() } }),
    }
}

fn decimal_text(value: Decimal128) -> String {
    let text = value.to_string();
    match text.parse::<Decimal128>() {
        Ok(read) if read.bytes() == value.bytes() => text,
        _ => format!("0x{:032x}", u128::from_le_bytes(value.bytes())),
    }
}

// ---- reading -----------------------------------------------------------------------------------

/// Reads a value.
///
/// # Errors
/// [`Fault`] where `value` is not in the form above.
pub fn from_json(value: &Value) -> Result<Bson, Fault> {
    match value {
        Value::Null => Ok(Bson::Null),
        Value::Bool(value) => Ok(Bson::Boolean(*value)),
        Value::String(text) => Ok(Bson::String(text.clone())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Ok(i32::try_from(whole).map_or(Bson::Int64(whole), Bson::Int32)),
            (None, Some(double)) if number.is_f64() => Ok(Bson::Double(double)),
            _ => Err(Fault::expected("an integer of 64 bits", value)),
        },
        Value::Array(_) => super::list(value, from_json).map(Bson::Array),
        Value::Object(fields) => match fields.keys().find(|key| KEYS.contains(&key.as_str())) {
            None => fields_from_json(fields).map(Bson::Document),
            Some(key) => {
                alone(key, fields)?;
                tagged(key, &fields[key], value).map_err(|fault| fault.under(key))
            }
        },
    }
}

/// Reads a document.
///
/// # Errors
/// [`Fault`] where `value` is none.
pub fn document_from_json(value: &Value) -> Result<Document, Fault> {
    match from_json(value)? {
        Bson::Document(document) => Ok(document),
        _ => Err(Fault::expected("a document", value)),
    }
}

fn fields_from_json(fields: &Map<String, Value>) -> Result<Document, Fault> {
    let read = |(name, value): (&String, &Value)| match from_json(value) {
        Ok(value) => Ok((name.clone(), value)),
        Err(fault) => Err(fault.under(name)),
    };
    fields.iter().map(read).collect()
}

fn alone(key: &str, fields: &Map<String, Value>) -> Result<(), Fault> {
    match fields.keys().find(|other| *other != key && !(key == "$code" && *other == "$scope")) {
        None => Ok(()),
        Some(other) => Err(Fault::new(format!(
            "`{key}` makes the table one value, so it stands alone, found also `{other}`; \
             a document with such a key is written {{ \"$document\": {{ … }} }}"
        ))),
    }
}

/// The value under `key` of the table `whole`.
fn tagged(key: &str, value: &Value, whole: &Value) -> Result<Bson, Fault> {
    match key {
        "$date" => Ok(Bson::DateTime(DateTime::from_millis(date(value)?))),
        "$numberDouble" => double(text(value)?).map(Bson::Double),
        "$numberLong" => number(value, "an integer of 64 bits").map(Bson::Int64),
        "$numberInt" => number(value, "an integer of 32 bits").map(Bson::Int32),
        "$numberDecimal" => decimal(text(value)?).map(Bson::Decimal128),
        "$oid" => {
            let bad = |_| Fault::expected("24 hexadecimal digits", value);
            ObjectId::parse_str(text(value)?).map(Bson::ObjectId).map_err(bad)
        }
        "$symbol" => Ok(Bson::Symbol(text(value)?.to_owned())),
        "$regularExpression" => regex(value).map(Bson::RegularExpression),
        "$code" => code(value, whole.get("$scope")),
        "$document" => match value {
            Value::Object(fields) => fields_from_json(fields).map(Bson::Document),
            other => Err(Fault::expected("a document", other)),
        },
        "$null" if *value == Value::Bool(true) => Ok(Bson::Null),
        "$undefined" if *value == Value::Bool(true) => Ok(Bson::Undefined),
        "$null" | "$undefined" => Err(Fault::expected("`true`", value)),
        "$minKey" | "$maxKey" if value.as_i64() != Some(1) => Err(Fault::expected("`1`", value)),
        "$minKey" => Ok(Bson::MinKey),
        "$maxKey" => Ok(Bson::MaxKey),
        _ => {
            let form = match key {
                "$binary" => r#"{ "base64": "…", "subType": "00" }"#,
                "$timestamp" => r#"{ "t": 1, "i": 2 }"#,
                "$dbPointer" => r#"{ "$ref": "db.collection", "$id": { "$oid": "…" } }"#,
                _ => r#"a string such as "3b241101-e2bb-4255-8caf-4136c566a962""#,
            };
            let bad = |error| Fault::new(format!("expected {form}: {error}"));
            Bson::try_from(whole.clone()).map_err(bad)
        }
    }
}

/// The milliseconds of what stands under `$date`.
pub(crate) fn date(value: &Value) -> Result<i64, Fault> {
    const FORMS: &str = "milliseconds since 1970, an instant such as \"2024-01-31T00:00:00Z\", or \
                         {\"$numberLong\": …}";
    match value {
        Value::String(text) => instant::parse(text).map_err(Fault::new),
        Value::Number(_) => integer(value),
        Value::Object(fields) if fields.contains_key("$date") => {
            Err(Fault::new("a date within `$date`: a date of TOML is one by itself, drop `$date`"))
        }
        Value::Object(_) => {
            let fields = Fields::of(value, "a date", &["$numberLong"])?;
            fields.required("$numberLong", |value| number(value, "an integer of 64 bits"))
        }
        other => Err(Fault::expected(FORMS, other)),
    }
}

fn number<T: std::str::FromStr>(value: &Value, what: &str) -> Result<T, Fault> {
    let bad = || Fault::expected(&format!("{what} in a string, such as \"5\""), value);
    value.as_str().and_then(|text| text.parse().ok()).ok_or_else(bad)
}

fn double(text: &str) -> Result<f64, Fault> {
    let bits = text.strip_prefix("NaN(").and_then(|rest| rest.strip_suffix(')'));
    let by_bits = bits.and_then(|hex| u64::from_str_radix(hex, 16).ok()).map(f64::from_bits);
    let plain = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    match text {
        "NaN" => Ok(f64::from_bits(NAN)),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => {
            let read = by_bits.filter(|value| value.is_nan());
            let read =
                read.or_else(|| text.parse().ok().filter(|value: &f64| plain && value.is_finite()));
            let forms = "a double such as \"2.0\", \"NaN\" or \"-Infinity\"";
            read.ok_or_else(|| Fault::new(format!("expected {forms}, found the string `{text}`")))
        }
    }
}

fn decimal(text: &str) -> Result<Decimal128, Fault> {
    let read = match text.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 32),
        None => text.parse::<Decimal128>().ok().map(|value| u128::from_le_bytes(value.bytes())),
    };
    let bad = || Fault::new(format!("expected a decimal such as \"1.50\", found `{text}`"));
    read.map(|bits| Decimal128::from_bytes(bits.to_le_bytes())).ok_or_else(bad)
}

fn regex(value: &Value) -> Result<Regex, Fault> {
    let fields = Fields::of(value, "a regular expression", &["pattern", "options"])?;
    let part = |name| {
        fields.required(name, |value| {
            let bad = |_| Fault::new("expected a string without U+0000, found one with it");
            text(value)?.to_owned().try_into().map_err(bad)
        })
    };
    Ok(Regex { pattern: part("pattern")?, options: part("options")? })
}

fn code(value: &Value, scope: Option<&Value>) -> Result<Bson, Fault> {
    let code = text(value)?.to_owned();
    match scope {
        None => Ok(Bson::JavaScriptCode(code)),
        Some(scope) => {
            let scope = document_from_json(scope)?;
            Ok(Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope }))
        }
    }
}
