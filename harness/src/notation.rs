//! How are the words of a system written down?
//!
//! A system has one notation, as JSON values; [`vector`](crate::vector) reads and writes the same
//! values as TOML. The module also holds what every notation needs: [`Fault`], which knows the path
//! to what it complains about, and a few strict readers.

use serde_json::{Map, Value};
use ttlspec_model::Spec;

pub mod cassandra;
pub mod extjson;
pub mod mongodb;
mod suggest;

pub use suggest::{one_of, suggestion};

/// The written form of a system's words.
///
/// What is written is read back as the same; what is not known is refused.
pub trait Notation: Spec {
    /// The name of the system: `mongodb`.
    const NAME: &'static str;

    /// The versions that a version range in a vector stands for, oldest first: one for each way to
    /// behave.
    fn versions() -> Vec<String> {
        Vec::new()
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// [`Fault`] where `value` is none.
    fn config_from(value: &Value) -> Result<Self::Config, Fault>;

    /// Writes a configuration: a table. Where the system has versions, one of its keys is
    /// `version`.
    fn config_to(config: &Self::Config) -> Value;

    /// Reads an operation.
    ///
    /// # Errors
    /// [`Fault`] where `value` is none.
    fn op_from(value: &Value) -> Result<Self::Op, Fault>;

    /// Writes an operation.
    fn op_to(op: &Self::Op) -> Value;

    /// Reads a reply.
    ///
    /// # Errors
    /// [`Fault`] where `value` is none.
    fn reply_from(value: &Value) -> Result<Self::Reply, Fault>;

    /// Writes a reply.
    fn reply_to(reply: &Self::Reply) -> Value;

    /// An operation as one line for people.
    fn short(op: &Self::Op) -> String {
        Self::op_to(op).to_string()
    }

    /// A reply as one line for people.
    fn short_reply(reply: &Self::Reply) -> String {
        Self::reply_to(reply).to_string()
    }

    /// The version in a configuration, where there is one.
    fn version(config: &Self::Config) -> Option<String> {
        Some(Self::config_to(config).get("version")?.as_str()?.to_owned())
    }

    /// The same configuration at another version.
    ///
    /// # Errors
    /// [`Fault`] where the system has no such version.
    fn at_version(config: &Self::Config, version: &str) -> Result<Self::Config, Fault> {
        let mut value = Self::config_to(config);
        if let Value::Object(fields) = &mut value {
            fields.insert("version".to_owned(), Value::from(version));
        }
        Self::config_from(&value).map_err(|fault| Fault::new(fault.message))
    }
}

/// What is wrong with a value, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(.path))]
pub struct Fault {
    /// From the value that was read down to what is wrong.
    pub path: Vec<Segment>,
    /// What was expected, then what was found.
    pub message: String,
}

/// One step down into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// To the value of a key.
    Key(String),
    /// To an element of a list, counted from 0.
    Index(usize),
}

fn prefix(path: &[Segment]) -> String {
    if path.is_empty() { String::new() } else { format!("{}: ", show_path(path)) }
}

/// A path as it is printed: `steps[3].do.insert`.
pub fn show_path(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
            Segment::Key(key) if text.is_empty() => text.push_str(key),
            Segment::Key(key) => text.push_str(&format!(".{key}")),
        }
    }
    text
}

impl Fault {
    /// A fault of the value that was read itself.
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { path: Vec::new(), message: message.into() }
    }

    /// The same fault, seen from the table in which the value stands under `key`.
    pub fn under(mut self, key: &str) -> Fault {
        self.path.insert(0, Segment::Key(key.to_owned()));
        self
    }

    /// The same fault, seen from the list in which the value stands at `index`.
    pub fn within(mut self, index: usize) -> Fault {
        self.path.insert(0, Segment::Index(index));
        self
    }

    /// Something else stands where `expected` should.
    pub fn expected(expected: &str, found: &Value) -> Fault {
        Fault::new(format!("expected {expected}, found {}", describe(found)))
    }
}

/// What a value is, for a message: ``the integer `5` ``.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) if number.is_f64() => format!("the floating-point number `{number}`"),
        Value::Number(number) => format!("the integer `{number}`"),
        Value::String(text) => format!("the string `{text}`"),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(fields) => match fields.keys().next() {
            None => "an empty table".to_owned(),
            Some(key) => format!("a table with `{key}`"),
        },
    }
}

// ---- strict readers ----------------------------------------------------------------------------

/// A string.
///
/// # Errors
/// [`Fault`] where it is none.
pub fn text(value: &Value) -> Result<&str, Fault> {
    value.as_str().ok_or_else(|| Fault::expected("a string", value))
}

/// An integer of 64 bits.
///
/// # Errors
/// [`Fault`] where it is none, or too large.
pub fn integer(value: &Value) -> Result<i64, Fault> {
    value.as_i64().ok_or_else(|| Fault::expected("an integer of 64 bits", value))
}

/// An integer of 32 bits.
///
/// # Errors
/// [`Fault`] where it is none, or too large.
pub fn integer32(value: &Value) -> Result<i32, Fault> {
    let small = value.as_i64().and_then(|value| i32::try_from(value).ok());
    small.ok_or_else(|| Fault::expected("an integer of 32 bits", value))
}

/// An integer that is not negative.
///
/// # Errors
/// [`Fault`] where it is none.
pub fn count(value: &Value) -> Result<u64, Fault> {
    value.as_u64().ok_or_else(|| Fault::expected("an integer that is not negative", value))
}

/// A list, each element read by `read`.
///
/// # Errors
/// [`Fault`] where it is none, or the fault of the first element that has one.
pub fn list<'a, T>(
    value: &'a Value,
    read: impl Fn(&'a Value) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let items = value.as_array().ok_or_else(|| Fault::expected("a list", value))?;
    let numbered = items.iter().enumerate();
    numbered.map(|(index, item)| read(item).map_err(|fault| fault.within(index))).collect()
}

/// A table whose keys are all known.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    what: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The table `value`, which is `what` for messages and has no keys but `known`.
    ///
    /// # Errors
    /// [`Fault`] where it is no table, or has another key.
    pub fn of(value: &'a Value, what: &'a str, known: &[&str]) -> Result<Fields<'a>, Fault> {
        let Value::Object(fields) = value else {
            return Err(Fault::expected(&format!("{what}: a table with {}", one_of(known)), value));
        };
        match fields.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Fields { what, fields }),
            Some(key) => {
                let message = format!(
                    "unknown field `{key}` of {what}, expected {}{}",
                    one_of(known),
                    suggestion(key, known)
                );
                Err(Fault::new(message).under(key))
            }
        }
    }

    /// The field `name`, read by `read`.
    ///
    /// # Errors
    /// [`Fault`] where it is missing, or what `read` says.
    pub fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let missing = || Fault::new(format!("{} lacks `{name}`", self.what));
        self.optional(name, read)?.ok_or_else(missing)
    }

    /// The field `name`, read by `read`, where it is there.
    ///
    /// # Errors
    /// What `read` says.
    pub fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let value = self.fields.get(name);
        value.map(|value| read(value).map_err(|fault| fault.under(name))).transpose()
    }
}

/// One choice out of several: a bare word, or one key with its value.
#[derive(Clone, Copy, Debug)]
pub enum Choice<'a> {
    /// `"pass"`.
    Word(&'a str),
    /// `{ "insert": … }`.
    Tag(&'a str, &'a Value),
}

impl<'a> Choice<'a> {
    /// Reads a choice, which is `what` for messages, among bare `words` and `tags` with a value.
    ///
    /// # Errors
    /// [`Fault`] where it is neither, with the nearest of them.
    pub fn of(
        value: &'a Value,
        what: &str,
        words: &[&str],
        tags: &[&str],
    ) -> Result<Choice<'a>, Fault> {
        let all: Vec<&str> = words.iter().chain(tags).copied().collect();
        let unknown = |name: &str| {
            let near = suggestion(name, &all);
            Fault::new(format!("unknown {what} `{name}`, expected {}{near}", one_of(&all)))
        };
        match value {
            Value::String(word) if words.contains(&word.as_str()) => Ok(Choice::Word(word)),
            Value::String(word) if tags.contains(&word.as_str()) => {
                let form = format!("write {{ {word} = … }} (in JSON {{\"{word}\": …}})");
                Err(Fault::new(format!("`{word}` takes a value: {form}")))
            }
            Value::String(word) => Err(unknown(word)),
            Value::Object(fields) => {
                let mut keys = fields.iter();
                let (Some((key, value)), None) = (keys.next(), keys.next()) else {
                    let found: Vec<&str> = fields.keys().map(String::as_str).collect();
                    let found = if found.is_empty() { "none".into() } else { quoted(&found) };
                    return Err(Fault::new(format!("expected one {what} as key, found {found}")));
                };
                if tags.contains(&key.as_str()) {
                    Ok(Choice::Tag(key, value))
                } else if words.contains(&key.as_str()) {
                    let message = format!("`{key}` takes no value: write \"{key}\"");
                    Err(Fault::new(message).under(key))
                } else {
                    Err(unknown(key).under(key))
                }
            }
            other => Err(Fault::expected(&format!("{what}: {}", one_of(&all)), other)),
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
