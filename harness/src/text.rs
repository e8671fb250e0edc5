//! What stands in a text, and where?
//!
//! TOML and JSON are read into one tree that remembers positions, and [`Value`]s are made of it.

pub(crate) mod instant;
mod json;
mod toml;
pub(crate) mod write;

use serde_json::{Map, Number, Value, json};

use crate::notation::{Segment, extjson};

/// A value and the byte at which it begins.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub at: usize,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Date(i64),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub at: usize,
    pub value: Node,
}

/// Why a text is neither: the byte, and what is wrong there.
#[derive(Clone, Debug)]
pub(crate) struct Malformed {
    pub at: usize,
    pub message: String,
}

/// The written languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Toml,
    Json,
}

impl Language {
    /// By the extension of the name; where it says nothing, by the first character.
    pub fn of(name: &str, text: &str) -> Language {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("toml") => Language::Toml,
            Some("json") => Language::Json,
            _ if text.trim_start().starts_with('{') => Language::Json,
            _ => Language::Toml,
        }
    }

    pub fn read(self, text: &str) -> Result<Node, Malformed> {
        match self {
            Language::Toml => toml::read(text),
            Language::Json => json::read(text),
        }
    }
}

impl Node {
    /// The same as a JSON value; what JSON has no literal for is Extended JSON.
    pub fn to_value(&self) -> Value {
        match &self.what {
            What::Null => Value::Null,
            What::Bool(value) => Value::Bool(*value),
            What::Integer(value) => Value::from(*value),
            What::Float(value) => match Number::from_f64(*value) {
                Some(number) => Value::Number(number),
                None => json!({ "$numberDouble": extjson::double_text(*value) }),
            },
            What::Text(text) => Value::String(text.clone()),
            What::Date(millis) => json!({ "$date": { "$numberLong": millis.to_string() } }),
            What::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            What::Table(entries) => {
                let fields =
                    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Leads `path` all the way to something?
    pub fn has(&self, path: &[Segment]) -> bool {
        let Some((first, rest)) = path.split_first() else { return true };
        let next = match (&self.what, first) {
            (What::Table(entries), Segment::Key(key)) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.value)
            }
            (What::List(items), Segment::Index(index)) => items.get(*index),
            _ => None,
        };
        next.is_some_and(|next| next.has(rest))
    }

    /// The byte at which the end of `path` stands, or the last part of it that is there.
    pub fn locate(&self, path: &[Segment]) -> usize {
        let Some((first, rest)) = path.split_first() else { return self.at };
        match (&self.what, first) {
            (What::Table(entries), Segment::Key(key)) => {
                match entries.iter().find(|entry| entry.key == *key) {
                    Some(entry) if rest.is_empty() => entry.at,
                    Some(entry) => match &entry.value.what {
                        What::Table(_) | What::List(_) => entry.value.locate(rest),
                        _ => entry.at,
                    },
                    None => self.at,
                }
            }
            (What::List(items), Segment::Index(index)) => {
                items.get(*index).map_or(self.at, |item| item.locate(rest))
            }
            _ => self.at,
        }
    }
}

/// The line and the column, counted from 1, of the byte `at`.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
