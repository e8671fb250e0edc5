//! Writes a value as TOML on one line.

use serde_json::{Map, Value};

use super::instant;

/// A value as TOML: Extended JSON becomes a literal of TOML where there is one.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Null => r#"{ "$null" = true }"#.to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(double) if number.is_f64() => format!("{double:?}"),
            _ => number.to_string(),
        },
        Value::String(text) => string(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => literal(fields).unwrap_or_else(|| table(fields)),
    }
}

/// An instant: in milliseconds near the start of time, otherwise as a date where TOML can.
pub(crate) fn instant(millis: i64) -> String {
    match instant::iso(millis) {
        Some(date) if !instant::is_toy(millis) => date,
        _ => grouped(millis),
    }
}

pub(crate) fn string(text: &str) -> String {
    // A string of JSON is one of TOML, except that TOML escapes this character too.
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn table(fields: &Map<String, Value>) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    let field = |(name, value): (&String, &Value)| match (name.as_str(), value) {
        // The keys within stand for themselves.
        ("$document", Value::Object(inner)) => format!("{} = {}", key(name), table(inner)),
        _ => format!("{} = {}", key(name), inline(value)),
    };
    format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { string(name) }
}

/// The literal of TOML that is read as this table.
fn literal(fields: &Map<String, Value>) -> Option<String> {
    let (name, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
    match name.as_str() {
        "$numberDouble" => match value.as_str()? {
            "NaN" => Some("nan".to_owned()),
            "Infinity" => Some("inf".to_owned()),
            "-Infinity" => Some("-inf".to_owned()),
            text => {
                let double = text.parse::<f64>().ok().filter(|double| double.is_finite())?;
                Some(format!("{double:?}"))
            }
        },
        "$numberLong" => {
            let long = value.as_str()?.parse::<i64>().ok()?;
            i32::try_from(long).is_err().then(|| grouped(long))
        }
        "$date" => {
            let millis = crate::notation::extjson::date(value).ok()?;
            let text = instant(millis);
            let literal = text.ends_with('Z');
            Some(if literal { text } else { format!(r#"{{ "$date" = {text} }}"#) })
        }
        _ => None,
    }
}

/// An integer with its thousands set apart.
fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(-10_000), "-10_000");
        assert_eq!(grouped(i64::MIN), "-9_223_372_036_854_775_808");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let texts = ["", "a\"b\\", "\u{7f}\u{1}\n", "é\u{1f600}"];
        for text in texts {
            let toml = format!("x = {}", string(text));
            let node = super::super::Language::Toml.read(&toml).expect("it is TOML");
            assert_eq!(node.to_value()["x"], Value::from(text));
        }
    }
}
