//! Reads TOML, with positions.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, Malformed, Node, What, instant};

pub(super) fn read(text: &str) -> Result<Node, Malformed> {
    let table = DeTable::parse(text).map_err(|error| Malformed {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })?;
    Ok(Node { at: 0, what: What::Table(entries(table.get_ref())?) })
}

fn entries(table: &DeTable<'_>) -> Result<Vec<Entry>, Malformed> {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok(Entry { key: name.to_string(), at: key.span().start, value: node(value)? })
    };
    table.iter().map(entry).collect()
}

fn node(value: &Spanned<DeValue<'_>>) -> Result<Node, Malformed> {
    let at = value.span().start;
    let malformed = |message: String| Malformed { at, message };
    let what = match value.get_ref() {
        DeValue::Boolean(value) => What::Bool(*value),
        DeValue::String(text) => What::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let read = i64::from_str_radix(integer.as_str(), integer.radix());
            let bad = |_| malformed(format!("expected an integer of 64 bits, found `{integer}`"));
            What::Integer(read.map_err(bad)?)
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(value) if value.is_finite() || float.as_str().ends_with(['n', 'f']) => {
                What::Float(value)
            }
            _ => return Err(malformed(format!("expected a double, found `{float}`"))),
        },
        DeValue::Datetime(date) => {
            let bad = |why| malformed(format!("`{date}` is no instant: {why}"));
            What::Date(instant::millis(date).map_err(bad)?)
        }
        DeValue::Array(items) => What::List(items.iter().map(node).collect::<Result<_, _>>()?),
        DeValue::Table(table) => What::Table(entries(table)?),
    };
    Ok(Node { at, what })
}
