//! How is a script written? One structure a table, every field with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::value::Datetime;
use toml::{Spanned, Value};

use super::slip;

type At<T> = Spanned<T>;
pub(super) type Settings = BTreeMap<String, At<Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub version: At<String>,
    pub start: Option<At<Datetime>>,
    pub until: At<String>,
    pub members: Option<At<i64>>,
    pub parameters: Option<Settings>,
    pub cost: Option<Cost>,
    pub secondary: Option<Secondary>,
    pub oplog: Option<Oplog>,
    #[serde(default)]
    pub collection: Vec<At<Collection>>,
    #[serde(default, rename = "do")]
    pub acts: Vec<At<Act>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cost {
    pub delete_us: Option<At<i64>>,
    pub visit_us: Option<At<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Secondary {
    pub apply_per_second: At<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Oplog {
    pub size: At<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Collection {
    pub name: At<String>,
    pub document_bytes: Option<At<i64>>,
    pub partition: Option<At<Partition>>,
    #[serde(default)]
    pub index: Vec<At<Index>>,
    #[serde(default)]
    pub arrival: Vec<At<Arrival>>,
    #[serde(default)]
    pub batch: Vec<At<Batch>>,
    #[serde(default)]
    pub existing: Vec<At<Existing>>,
    #[serde(default)]
    pub document: Vec<At<Document>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Partition {
    pub every: At<String>,
    pub keep: At<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(non_snake_case, reason = "the server's own word")]
pub(super) struct Index {
    pub name: At<String>,
    pub expireAfterSeconds: At<Value>,
    pub share: Option<At<Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jitter {
    pub seconds: At<i64>,
    pub seed: At<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrival {
    pub rate: At<Value>,
    pub from: Option<At<String>>,
    pub to: Option<At<String>>,
    pub offset: Option<At<String>>,
    pub jitter: Option<Jitter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub documents: At<i64>,
    pub every: Option<At<String>>,
    pub from: Option<At<String>>,
    pub to: Option<At<String>>,
    pub offset: Option<At<String>>,
    pub jitter: Option<Jitter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Existing {
    pub documents: At<i64>,
    pub oldest: At<String>,
    pub newest: At<String>,
    pub jitter: Option<Jitter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub at: At<String>,
    pub date: At<Value>,
    pub documents: Option<At<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Act {
    pub at: At<String>,
    pub set: Option<At<Settings>>,
    pub monitor: Option<At<bool>>,
    pub step_down: Option<At<bool>>,
    pub step_up: Option<At<StepUp>>,
    pub upgrade: Option<At<String>>,
    pub downgrade: Option<At<String>>,
    pub coll_mod: Option<At<OfIndex>>,
    pub create_index: Option<At<NewIndex>>,
    pub drop_index: Option<At<OldIndex>>,
}

/// What an act can be, for messages.
pub(super) const ACTS: &str = "set, monitor, step_down, step_up, upgrade, downgrade, coll_mod, \
                               create_index, drop_index";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepUp {
    pub member: Option<At<i64>>,
    pub clock: Option<At<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(non_snake_case, reason = "the server's own word")]
pub(super) struct OfIndex {
    pub collection: At<String>,
    pub index: At<String>,
    pub expireAfterSeconds: At<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(non_snake_case, reason = "the server's own word")]
pub(super) struct NewIndex {
    pub collection: At<String>,
    pub name: At<String>,
    pub expireAfterSeconds: At<Value>,
    pub share: Option<At<Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OldIndex {
    pub collection: At<String>,
    pub name: At<String>,
}

/// What could not be read as TOML of this form: what, where, and what helps.
pub(super) fn read(text: &str) -> Result<Raw, (String, Option<Range<usize>>, String)> {
    toml::from_str(text).map_err(|error| {
        let (what, fix) = slip::told(text, &error);
        (what, error.span(), fix)
    })
}
