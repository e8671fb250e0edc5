//! How is a vector written, so that it is read as the same?

use serde_json::{Map, Value, json};

use super::{FORMAT, Vector, VectorFile, VectorStep, Versions};
use crate::notation::Notation;
use crate::text::write;

/// Operations that are longer do not push the replies of all the others to the right.
const ALIGNED: usize = 60;

impl<V: Notation> VectorFile<V> {
    /// The whole file as TOML. Each vector has its own `config`.
    pub fn to_toml(&self) -> String {
        let mut toml = format!("format = {FORMAT}\nspec   = {}\n", write::string(V::NAME));
        for vector in &self.vectors {
            toml.push('\n');
            toml.push_str(&vector.to_toml());
        }
        toml
    }

    /// The whole file as JSON. Each vector has its own `config`.
    pub fn to_json(&self) -> Value {
        let vectors: Vec<Value> = self.vectors.iter().map(Vector::to_json).collect();
        json!({ "format": FORMAT, "spec": V::NAME, "vector": vectors })
    }
}

impl<V: Notation> Vector<V> {
    /// The block `[[vector]]` of a TOML file.
    pub fn to_toml(&self) -> String {
        let mut fields = vec![("name", write::string(&self.name))];
        fields.push(("config", write::inline(&V::config_to(&self.config))));
        if let Some(versions) = &self.versions {
            fields.push(("versions", write::inline(&versions_to(versions))));
        }
        if !self.flags.is_empty() {
            fields.push(("flags", write::inline(&json!(self.flags))));
        }
        if let Some(source) = &self.source {
            fields.push(("source", write::string(source)));
        }
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut toml = "[[vector]]\n".to_owned();
        for (name, value) in fields {
            toml.push_str(&format!("{name:width$} = {value}\n"));
        }
        let lines = lines(&self.steps);
        toml.push_str(&format!("{:width$} = [\n{lines}]\n", "steps"));
        toml
    }

    /// The vector as an element of the list `vector` of a JSON file.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!(self.name));
        fields.insert("config".to_owned(), V::config_to(&self.config));
        if let Some(versions) = &self.versions {
            fields.insert("versions".to_owned(), versions_to(versions));
        }
        if !self.flags.is_empty() {
            fields.insert("flags".to_owned(), json!(self.flags));
        }
        if let Some(source) = &self.source {
            fields.insert("source".to_owned(), json!(source));
        }
        let steps: Vec<Value> = self.steps.iter().map(step_to).collect();
        fields.insert("steps".to_owned(), Value::Array(steps));
        Value::Object(fields)
    }
}

fn versions_to(versions: &Versions) -> Value {
    match versions {
        Versions::List(versions) => json!(versions),
        Versions::Range(range) => json!(range),
    }
}

fn step_to<V: Notation>(step: &VectorStep<V>) -> Value {
    let mut fields = Map::new();
    fields.insert("at_ms".to_owned(), json!(step.at.0));
    fields.insert("do".to_owned(), V::op_to(&step.op));
    fields.insert("see".to_owned(), V::reply_to(&step.see));
    if !step.by.is_empty() {
        let names: Vec<&str> = step.by.iter().map(|rule| rule.name()).collect();
        fields.insert("by".to_owned(), json!(names));
    }
    Value::Object(fields)
}

/// The steps as the lines of a TOML list, in columns.
pub(crate) fn lines<V: Notation>(steps: &[VectorStep<V>]) -> String {
    let parts: Vec<(String, String, String)> = steps.iter().map(parts).collect();
    let at_width = parts.iter().map(|(at, _, _)| width(at)).max().unwrap_or(0);
    let do_widths = parts.iter().map(|(_, op, _)| width(op)).filter(|width| *width <= ALIGNED);
    let do_width = do_widths.max().unwrap_or(0);
    let line = |(at, op, rest): &(String, String, String)| {
        let at_gap = " ".repeat(at_width - width(at));
        let do_gap = " ".repeat(do_width.saturating_sub(width(op)));
        format!("  {{ {at}{at_gap} {op}{do_gap} {rest} }},\n")
    };
    parts.iter().map(line).collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn parts<V: Notation>(step: &VectorStep<V>) -> (String, String, String) {
    let at = format!("at_ms = {},", write::instant(step.at.0));
    let op = format!("do = {},", write::inline(&V::op_to(&step.op)));
    let see = format!("see = {}", write::inline(&V::reply_to(&step.see)));
    if step.by.is_empty() {
        return (at, op, see);
    }
    let names: Vec<&str> = step.by.iter().map(|rule| rule.name()).collect();
    (at, op, format!("{see}, by = {}", write::inline(&json!(names))))
}
