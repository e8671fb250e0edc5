//! Is this text a file of vectors, and what does it say?

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ttlspec_model::{Millis, Reference, Rule};

use super::{Error, Errors, FORMAT, Place, Vector, VectorFile, VectorStep, Versions};
use crate::notation::{
    Fault, Fields, Notation, Segment, extjson, list, one_of, show_path, suggestion, text,
};
use crate::text::{Language, Malformed, Node, line_and_column};

const FILE: [&str; 4] = ["format", "spec", "config", "vector"];
const VECTOR: [&str; 6] = ["name", "config", "versions", "flags", "source", "steps"];
const STEP: [&str; 4] = ["at_ms", "do", "see", "by"];

/// Reads a file of vectors. `name` is its path: it stands in messages, and its extension tells
/// TOML from JSON; without one the text does.
///
/// # Errors
/// [`Errors`] with everything that is wrong, each with its line.
pub fn parse<V: Notation>(name: &str, bytes: &[u8]) -> Result<VectorFile<V>, Errors> {
    let source = Source::open(name, bytes)?;
    let file = source.header::<V>().map_err(|fault| source.error(None, &[], fault))?;
    let mut errors = Vec::new();
    let mut vectors: Vec<Vector<V>> = Vec::new();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, value) in file.vectors.iter().enumerate() {
        let base = [Segment::Key("vector".to_owned()), Segment::Index(index)];
        let name = value.get("name").and_then(Value::as_str);
        let reader = Reader { source: &source, default: file.config, base: &base };
        if let Some(name) = name {
            let line = reader.line(&[Segment::Key("name".to_owned())]);
            if let Some(first) = lines.insert(name, line) {
                let message = format!("the name stands twice, first in line {first}");
                let fault = Fault::new(message).under("name");
                errors.push(source.error(Some(name), &base, fault));
                continue;
            }
        }
        match reader.vector(value) {
            Ok(vector) => vectors.push(vector),
            Err(fault) => errors.push(source.error(name, &base, fault)),
        }
    }
    let path = name.to_owned();
    if errors.is_empty() { Ok(VectorFile { path, vectors }) } else { Err(Errors(errors)) }
}

/// Which of the `known` systems, by their names, a file of vectors is about. `name` is as [`parse`]
/// has it.
///
/// # Errors
/// [`Errors`] where the file is about none of them, or does not say.
pub fn spec_of(name: &str, bytes: &[u8], known: &[&'static str]) -> Result<&'static str, Errors> {
    let source = Source::open(name, bytes)?;
    let spec = source.fields().and_then(|fields| spec(fields, known));
    Ok(spec.map_err(|fault| source.error(None, &[], fault))?)
}

fn spec(fields: Fields<'_>, known: &[&'static str]) -> Result<&'static str, Fault> {
    fields.required("spec", |value| {
        let name = text(value)?;
        let found = known.iter().find(|known| **known == name).copied();
        found.ok_or_else(|| {
            let (known, near) = (one_of(known), suggestion(name, known));
            Fault::new(format!("expected the spec {known}, found `{name}`{near}"))
        })
    })
}

/// A text, what it says, and where.
struct Source<'a> {
    name: &'a str,
    text: &'a str,
    node: Node,
    value: Value,
    /// Where each line begins. Every step is placed, so that counting from the top would be quadratic.
    lines: Vec<usize>,
}

/// What stands above the vectors.
struct Header<'a> {
    config: Option<&'a Map<String, Value>>,
    vectors: &'a [Value],
}

impl<'a> Source<'a> {
    fn open(name: &'a str, bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            let byte = bytes[error.valid_up_to()];
            let message = format!("expected UTF-8, found the byte 0x{byte:02x}; save it as UTF-8");
            let place = Place { file: name.to_owned(), line };
            Error { place, ..Error::of_file(name, message) }
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            let message = "the file is empty, expected `format = 1`, `spec` and `[[vector]]`";
            return Err(Error::of_file(name, message));
        }
        let node = Language::of(name, text).read(text);
        let node = node.map_err(|Malformed { at, message }| {
            let (line, column) = line_and_column(text, at);
            let place = Place { file: name.to_owned(), line };
            Error { place, column, ..Error::of_file(name, message) }
        })?;
        let value = node.to_value();
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Ok(Source { name, text, node, value, lines })
    }

    /// The line and the column of what `path` leads to.
    fn position(&self, path: &[Segment]) -> (usize, usize) {
        let at = self.node.locate(path).min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        (line, line_and_column(&self.text[start..], at - start).1)
    }

    /// A fault as an error: seen from the vector under `base`, placed in the file.
    fn error(&self, vector: Option<&str>, base: &[Segment], fault: Fault) -> Error {
        let whole: Vec<Segment> = base.iter().chain(&fault.path).cloned().collect();
        let inherited = fault.path.first() == Some(&Segment::Key("config".to_owned()))
            && !self.node.has(&[base, &fault.path].concat())
            && self.node.has(&fault.path);
        let (line, column) = self.position(if inherited { &fault.path } else { &whole });
        let place = Place { file: self.name.to_owned(), line };
        let path = show_path(if vector.is_some() { &fault.path } else { &whole });
        let vector = vector.map(str::to_owned);
        Error { place, column, vector, path, message: fault.message }
    }

    /// The file, in a format that is known.
    fn fields(&self) -> Result<Fields<'_>, Fault> {
        let fields = Fields::of(&self.value, "the file", &FILE)?;
        fields.required("format", |value| match value.as_i64() {
            Some(FORMAT) => Ok(()),
            _ => Err(Fault::expected("format `1`, the only one there is", value)),
        })?;
        Ok(fields)
    }

    fn header<V: Notation>(&self) -> Result<Header<'_>, Fault> {
        let fields = self.fields()?;
        spec(fields, &[V::NAME])?;
        let config = fields.optional("config", table)?;
        let vectors = fields.required("vector", |value| {
            value.as_array().ok_or_else(|| Fault::expected("`[[vector]]`, a list", value))
        })?;
        if vectors.is_empty() {
            return Err(Fault::new("expected at least one vector, found none").under("vector"));
        }
        Ok(Header { config, vectors })
    }
}

fn table(value: &Value) -> Result<&Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| Fault::expected("a table", value))
}

/// Reads one vector, which stands under `base`.
struct Reader<'a> {
    source: &'a Source<'a>,
    default: Option<&'a Map<String, Value>>,
    base: &'a [Segment],
}

impl Reader<'_> {
    fn line(&self, path: &[Segment]) -> usize {
        self.source.position(&[self.base, path].concat()).0
    }

    fn vector<V: Notation>(&self, value: &Value) -> Result<Vector<V>, Fault> {
        let fields = Fields::of(value, "a vector", &VECTOR)?;
        let name = fields.required("name", |value| match text(value)?.trim() {
            "" => Err(Fault::expected("a few words on what it shows", value)),
            _ => Ok(text(value)?.to_owned()),
        })?;
        let config: V::Config = self.config::<V>(value)?;
        let flags = |value| list(value, |flag| text(flag).map(str::to_owned));
        let mut steps = fields.required("steps", |value| match value.as_array() {
            Some(steps) if steps.is_empty() => Err(Fault::expected("at least one step", value)),
            _ => list(value, step::<V>),
        })?;
        for (index, step) in steps.iter_mut().enumerate() {
            step.line = self.line(&[Segment::Key("steps".to_owned()), Segment::Index(index)]);
        }
        // Only now, when all operations are known, can a message tell what is cited where.
        fields.required("steps", |value| {
            for (index, step) in value.as_array().into_iter().flatten().enumerate() {
                let read = by(step, || cited(&config, &steps[..=index]));
                steps[index].by = read.map_err(|fault| fault.under("by").within(index))?;
            }
            Ok(())
        })?;
        let versions = fields.optional("versions", |value| versions::<V>(&config, value))?;
        Ok(Vector {
            name,
            config,
            versions,
            flags: fields.optional("flags", flags)?.unwrap_or_default(),
            source: fields.optional("source", |value| text(value).map(str::to_owned))?,
            steps,
            place: Place { file: self.source.name.to_owned(), line: self.line(&[]) },
        })
    }

    /// The default configuration with the vector's keys in the place of its own.
    fn config<V: Notation>(&self, vector: &Value) -> Result<V::Config, Fault> {
        let own = vector.get("config").map(table).transpose();
        let own = own.map_err(|fault| fault.under("config"))?;
        if self.default.is_none() && own.is_none() {
            return Err(Fault::new(
                "expected `config` here or at the top of the file, found neither",
            ));
        }
        let both = self.default.into_iter().chain(own).flatten();
        let merged: Map<String, Value> = both.map(|(k, v)| (k.clone(), v.clone())).collect();
        V::config_from(&Value::Object(merged)).map_err(|fault| fault.under("config"))
    }
}

fn step<V: Notation>(value: &Value) -> Result<VectorStep<V>, Fault> {
    let fields = Fields::of(value, "a step", &STEP)?;
    Ok(VectorStep {
        at: Millis(fields.required("at_ms", at_ms)?),
        op: fields.required("do", V::op_from)?,
        see: fields.required("see", V::reply_from)?,
        by: Vec::new(),
        line: 0,
    })
}

fn at_ms(value: &Value) -> Result<i64, Fault> {
    match value.get("$date") {
        Some(date) => extjson::date(date),
        None => value.as_i64().ok_or_else(|| {
            Fault::expected("milliseconds since 1970, or a date of TOML with an offset", value)
        }),
    }
}

fn by(step: &Value, cited: impl Fn() -> Vec<Rule>) -> Result<Vec<Rule>, Fault> {
    let rule = |value| {
        let name = text(value)?;
        Rule::named(name).ok_or_else(|| {
            let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
            let near = suggestion(name, &names);
            let cited = names_of(&cited());
            Fault::new(format!("unknown rule `{name}`{near} (cited at this step: {cited})"))
        })
    };
    step.get("by").map_or(Ok(Vec::new()), |value| list(value, rule))
}

/// The rules that the specification cites at the last of these steps.
fn cited<V: Notation>(config: &V::Config, steps: &[VectorStep<V>]) -> Vec<Rule> {
    let mut reference = Reference::<V>::open(config);
    let because = steps.iter().map(|step| reference.explain(step.at, &step.op).because);
    because.last().unwrap_or_default()
}

/// The names of rules for a message.
pub(super) fn names_of(rules: &[Rule]) -> String {
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn versions<V: Notation>(config: &V::Config, value: &Value) -> Result<Versions, Fault> {
    let versions = Versions::read(value)?;
    let known = V::versions();
    let chosen = versions.chosen(&known);
    if chosen.is_empty() {
        let known = known.join(", ");
        return Err(Fault::new(format!("no version lies in the range; those there are: {known}")));
    }
    for (index, version) in chosen.into_iter().enumerate() {
        V::at_version(config, version).map_err(|fault| match &versions {
            Versions::List(_) => fault.within(index),
            Versions::Range(_) => fault,
        })?;
    }
    Ok(versions)
}
