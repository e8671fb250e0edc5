//! What was meant by a text that is no script?

use std::ops::Range;

use super::near::{nearest, one_of};
use crate::units;

/// What is wrong, and what helps.
pub(super) fn told(text: &str, error: &toml::de::Error) -> (String, String) {
    let message = error.message().replace('\n', " ");
    let span = error.span();
    let key = span.as_ref().and_then(|span| key_before(text, span)).unwrap_or_default();
    if message.contains("` as i128") || message.contains("` as u128") {
        let found = quoted(&message).next().unwrap_or_default().to_owned();
        let what = format!("expected a number of 64 bits, found `{found}`");
        return (what, format!("write one from {} to {}", i64::MIN, i64::MAX));
    }
    let found = span.and_then(|span| text.get(span)).unwrap_or_default();
    let fix = fix(&message, key, found);
    (message, fix)
}

fn fix(message: &str, key: &str, found: &str) -> String {
    if message.starts_with("unknown field ") {
        return unknown(message);
    }
    if message.starts_with("missing field ") {
        let field = quoted(message).next().unwrap_or_default();
        return match EXAMPLES.iter().find(|(name, _)| *name == field) {
            Some((_, example)) => format!("add it, such as `{field} = {example}`"),
            None => format!("add `{field}`"),
        };
    }
    if message.starts_with("duplicate key") {
        return "leave one of the two out".to_owned();
    }
    if let Some((_, expected)) = message.split_once(", expected ") {
        let of_key = mistyped(expected, key, found);
        if let Some(fix) = of_key.filter(|_| message.starts_with("invalid type")) {
            return fix;
        }
    }
    if message.contains("recurs") {
        return "write fewer values within values; a script needs three levels".to_owned();
    }
    if ["date", "time", "month", "day", "hour"].iter().any(|word| message.contains(word)) {
        return "write an instant as 2026-01-01T00:00:00Z".to_owned();
    }
    "close what is open; a line is `name = value`, with texts in quotes, or a heading such as \
     `[[collection]]`, `[[collection.index]]` or `[[do]]`"
        .to_owned()
}

/// A value of another type than its key has.
fn mistyped(expected: &str, key: &str, found: &str) -> Option<String> {
    let example = EXAMPLES.iter().find(|(name, _)| *name == key).map(|(_, example)| *example);
    if expected.starts_with("a string") {
        let number: Option<i64> = found.trim().replace('_', "").parse().ok();
        return Some(match (example, number) {
            (Some(example), Some(number)) if is_span(example) => {
                format!("write it in quotes and with its unit, such as `{key} = \"{number}s\"`")
            }
            (Some(example), _) => format!("write it in quotes, such as `{key} = {example}`"),
            (None, _) => "write it in quotes".to_owned(),
        });
    }
    if key == "start" {
        return Some("write it without quotes, such as `start = 2026-01-01T00:00:00Z`".to_owned());
    }
    if expected.starts_with("i64") {
        return Some("write a whole number, without quotes".to_owned());
    }
    if expected.starts_with("a boolean") {
        return Some("write true or false, without quotes".to_owned());
    }
    if expected.starts_with("a sequence") {
        let name = found.trim().trim_matches(['[', ']']);
        let name = if name.is_empty() || name.contains('\n') { "collection" } else { name };
        return Some(format!("write it under a heading of two brackets, `[[{name}]]`"));
    }
    let is_table = expected.starts_with("struct") || expected.starts_with("a map");
    is_table.then(|| "write it as a table, `{ name = value, … }`".to_owned())
}

fn is_span(example: &str) -> bool {
    example
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .is_some_and(|inner| units::span(inner).is_some())
}

/// `unknown field `x`, expected one of `a`, `b``: which of them was meant?
fn unknown(message: &str) -> String {
    let mut words = quoted(message);
    let found = words.next().unwrap_or_default();
    let known: Vec<&str> = words.collect();
    if let Some(near) = nearest(known.iter().copied(), found) {
        return format!("did you mean `{near}`?");
    }
    let page = "docs/simulate.md, \"What it does not\"";
    match found {
        "partialFilterExpression" | "filter" | "partial" => {
            "which documents an index holds is said with `share`, such as `share = 0.25`".to_owned()
        }
        "clustered"
        | "clusteredIndex"
        | "timeseries"
        | "timeField"
        | "granularity"
        | "bucketMaxSpanSeconds"
        | "capped" => {
            format!("leave it out; {page}, says what to write in its place")
        }
        "key" | "unique" | "sparse" | "hidden" | "field" => {
            format!("leave it out: an index is on a date of its documents; {page}")
        }
        _ => one_of(known.into_iter(), found),
    }
}

/// What stands between backticks.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// The key whose value begins there.
fn key_before<'a>(text: &'a str, span: &Range<usize>) -> Option<&'a str> {
    let before = text.get(..span.start)?.trim_end().strip_suffix('=')?.trim_end();
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let key = before
        .rfind(|c| !is_of_key(c))
        .map_or(before, |at| &before[at + before[at..].chars().next().map_or(0, char::len_utf8)..]);
    (!key.is_empty()).then_some(key)
}

/// How the value of a field may look.
const EXAMPLES: &[(&str, &str)] = &[
    ("version", "\"7.0.14\""),
    ("upgrade", "\"8.0.4\""),
    ("downgrade", "\"6.0.9\""),
    ("until", "\"1d\""),
    ("start", "2026-01-01T00:00:00Z"),
    ("name", "\"app.sessions\""),
    ("collection", "\"app.sessions\""),
    ("index", "\"createdAt_1\""),
    ("expireAfterSeconds", "3600"),
    ("rate", "1_000"),
    ("documents", "1_000"),
    ("seconds", "600"),
    ("seed", "1"),
    ("at", "\"1h\""),
    ("date", "\"-2h\""),
    ("from", "\"1h\""),
    ("to", "\"2h\""),
    ("offset", "\"30s\""),
    ("every", "\"1h\""),
    ("keep", "\"7d\""),
    ("oldest", "\"-30d\""),
    ("newest", "\"0s\""),
    ("clock", "\"-30s\""),
    ("size", "\"50GiB\""),
    ("apply_per_second", "5_000"),
];
