//! The written form of Cassandra's words: that of the recordings.
//!
//! | configuration | |
//! |---|---|
//! | `version` | `"5.0.6"` |
//! | `format` | `"nb"`, the default, or `"oa"` |
//! | `overflow` | `"reject"`, the default, or `"cap"` |
//! | `tombstone_failure_threshold` | 100000 where it is left out |
//! | `table` | `clustering`, `columns`, `gc_grace_seconds`, `default_time_to_live`, `compaction`, `view`; what is left out is that of the recordings |
//! | `without` | rules that are switched off |
//!
//! A statement is a table: `insert`, `update` or `delete` with the key; `set`, `put`, `add`,
//! `remove`, `columns`, `elements`, `range`; `ts` for USING TIMESTAMP and `ttl` for USING TTL. A
//! query is the text after `from t`: `"where p=1 and c>0 order by reversed limit 1"`. In both,
//! clustering columns are called `c`, `d`, `e` and `f`, whatever the table calls them.

use serde_json::{Map, Value, json};
use ttlspec_model::Rule;
use ttlspec_model::cassandra::words::*;
use ttlspec_model::cassandra::{Cassandra, Version};

use super::{Choice, Fault, Fields, Notation, count, integer, integer32, list, text};

mod query;
mod seen;
mod statement;
#[cfg(test)]
mod tests;

pub use query::{query, query_of_cql};
pub use seen::{as_recorded, hex, row_of_recording};
pub(crate) use statement::assigns_nothing;

impl Notation for Cassandra {
    const NAME: &'static str = "cassandra";

    fn versions() -> Vec<String> {
        vec!["4.1.10".to_owned(), "5.0.6".to_owned()]
    }

    fn config_from(value: &Value) -> Result<Config, Fault> {
        let known =
            ["version", "format", "overflow", "tombstone_failure_threshold", "table", "without"];
        let fields = Fields::of(value, "the configuration", &known)?;
        let version = fields.required("version", |value| {
            Version::parse(text(value)?).map_err(|error| Fault::new(error.to_string()))
        })?;
        let format = fields.optional("format", |value| {
            Ok(match Choice::of(value, "format", &["nb", "oa"], &[])? {
                Choice::Word("oa") => Format::Oa,
                _ => Format::Nb,
            })
        })?;
        let overflow = fields.optional("overflow", |value| {
            Ok(match Choice::of(value, "policy", &["reject", "cap"], &[])? {
                Choice::Word("cap") => Overflow::Cap,
                _ => Overflow::Reject,
            })
        })?;
        let format = format.unwrap_or(Format::Nb);
        if format == Format::Oa && !version.has_wide_deletion_time() {
            return Err(Fault::new(format!("{version} has no format `oa`")).under("format"));
        }
        let table = fields.optional("table", table_from)?;
        let table = table.unwrap_or_else(|| table_of_recordings(&["c"]));
        let class = table.option("class");
        if class.ends_with("UnifiedCompactionStrategy") && !version.has_unified_compaction() {
            let message = format!("{version} has no {class}");
            return Err(Fault::new(message).under("class").under("compaction").under("table"));
        }
        let rule = |value| {
            let name = text(value)?;
            Rule::named(name).ok_or_else(|| Fault::new(format!("there is no rule `{name}`")))
        };
        let mut without =
            fields.optional("without", |value| list(value, rule))?.unwrap_or_default();
        without.sort();
        without.dedup();
        Ok(Config {
            version,
            format,
            overflow: overflow.unwrap_or(Overflow::Reject),
            tombstone_failure_threshold: fields
                .optional("tombstone_failure_threshold", count)?
                .unwrap_or(TOMBSTONE_FAILURE_THRESHOLD),
            table,
            without,
        })
    }

    fn config_to(config: &Config) -> Value {
        let mut fields = Map::new();
        fields.insert("version".into(), config.version.to_string().into());
        if config.format == Format::Oa {
            fields.insert("format".into(), "oa".into());
        }
        if config.overflow == Overflow::Cap {
            fields.insert("overflow".into(), "cap".into());
        }
        if config.tombstone_failure_threshold != TOMBSTONE_FAILURE_THRESHOLD {
            let threshold = config.tombstone_failure_threshold;
            fields.insert("tombstone_failure_threshold".into(), threshold.into());
        }
        fields.insert("table".into(), table_to(&config.table));
        if !config.without.is_empty() {
            let names = config.without.iter().map(|rule| rule.name());
            fields.insert("without".into(), names.collect::<Vec<_>>().into());
        }
        Value::Object(fields)
    }

    fn op_from(value: &Value) -> Result<Op, Fault> {
        if let Some(statements) = statement::statements(value)? {
            return Ok(Op::Write(statements));
        }
        match Choice::of(value, "operation", WORDS, TAGS)? {
            Choice::Word(word) => Ok(match word {
                "flush" => Op::Flush,
                "major" => Op::Major { unrepaired_first: false },
                "truncate" => Op::Truncate,
                "restart" => Op::Restart,
                "snapshot" => Op::Snapshot,
                "refresh" => Op::Refresh,
                "sstables" => Op::Sstables,
                "stats" => Op::Stats,
                "merged" => Op::Merged,
                "view_merged" => Op::ViewMerged,
                _ => Op::ViewSelect,
            }),
            Choice::Tag(tag, value) => tagged(tag, value).map_err(|fault| fault.under(tag)),
        }
    }

    fn op_to(op: &Op) -> Value {
        match op {
            Op::Write(statements) => statement::to(statements),
            Op::Flush => "flush".into(),
            Op::Compact(ids) => json!({ "compact": ids }),
            Op::Major { unrepaired_first: false } => "major".into(),
            Op::Major { unrepaired_first: true } => json!({ "major": "unrepaired first" }),
            Op::GarbageCollect(shadow) => json!({ "garbagecollect": shadow_to(*shadow) }),
            Op::Tasks(tasks) => json!({ "tasks": tasks }),
            Op::AtOnce(ops) => {
                json!({ "at_once": ops.iter().map(Self::op_to).collect::<Vec<_>>() })
            }
            Op::Background(most) => json!({ "background": most }),
            Op::SetRepaired { sstable, at_ms } => {
                json!({ "set_repaired": { "sstable": sstable, "at_ms": at_ms } })
            }
            Op::AlterGcGrace(seconds) => json!({ "gc_grace_seconds": seconds }),
            Op::AlterDefaultTtl(seconds) => json!({ "default_time_to_live": seconds }),
            Op::AlterCompaction(options) => json!({ "compaction": options }),
            Op::Truncate => "truncate".into(),
            Op::Restart => "restart".into(),
            Op::Snapshot => "snapshot".into(),
            Op::Refresh => "refresh".into(),
            Op::Sstables => "sstables".into(),
            Op::Stats => "stats".into(),
            Op::Merged => "merged".into(),
            Op::Select(query) => json!({ "select": query::to(query) }),
            Op::ViewMerged => "view_merged".into(),
            Op::ViewSelect => "view_select".into(),
        }
    }

    fn reply_from(value: &Value) -> Result<Reply, Fault> {
        seen::reply_from(value)
    }

    fn reply_to(reply: &Reply) -> Value {
        seen::reply_to(reply)
    }
}

/// That of a server as it comes.
pub const TOMBSTONE_FAILURE_THRESHOLD: u64 = 100_000;

/// How clustering columns are called where a statement or a query is written: neither knows the
/// table.
const CLUSTERING: [&str; 4] = ["c", "d", "e", "f"];

const WORDS: &[&str] = &[
    "flush",
    "major",
    "truncate",
    "restart",
    "snapshot",
    "refresh",
    "sstables",
    "stats",
    "merged",
    "view_merged",
    "view_select",
];
const TAGS: &[&str] = &[
    "insert",
    "update",
    "delete",
    "batch",
    "compact",
    "major",
    "garbagecollect",
    "tasks",
    "at_once",
    "background",
    "set_repaired",
    "gc_grace_seconds",
    "default_time_to_live",
    "compaction",
    "select",
];

fn tagged(tag: &str, value: &Value) -> Result<Op, Fault> {
    Ok(match tag {
        "compact" => Op::Compact(list(value, count)?),
        "major" => match text(value)? {
            "unrepaired first" => Op::Major { unrepaired_first: true },
            _ => return Err(Fault::expected("\"unrepaired first\"", value)),
        },
        "garbagecollect" => {
            let words = ["row", "cell", "ROW", "CELL"];
            match Choice::of(value, "granularity", &words, &[])? {
                Choice::Word("cell" | "CELL") => Op::GarbageCollect(Shadow::Cell),
                _ => Op::GarbageCollect(Shadow::Row),
            }
        }
        "tasks" => Op::Tasks(list(value, |ids| list(ids, count))?),
        "at_once" => Op::AtOnce(list(value, Cassandra::op_from)?),
        "background" => Op::Background(count(value)?),
        "set_repaired" => {
            let fields = Fields::of(value, "`set_repaired`", &["sstable", "at_ms"])?;
            let sstable = fields.required("sstable", count)?;
            Op::SetRepaired { sstable, at_ms: fields.required("at_ms", integer)? }
        }
        "gc_grace_seconds" => Op::AlterGcGrace(integer32(value)?.into()),
        "default_time_to_live" => Op::AlterDefaultTtl(integer32(value)?.into()),
        "compaction" => Op::AlterCompaction(options(value)?),
        _ => Op::Select(query(text(value)?)?),
    })
}

fn shadow_to(shadow: Shadow) -> &'static str {
    match shadow {
        Shadow::None => "none",
        Shadow::Row => "row",
        Shadow::Cell => "cell",
    }
}

// ---- the table ---------------------------------------------------------------------------------

/// A table as those of the recordings are: `v int, w text, s int static, m map<int, int>, z set<int>`.
pub fn table_of_recordings(clustering: &[&str]) -> Table {
    let column = |name: &str, kind, is_static| Column { name: name.to_owned(), kind, is_static };
    let clustering = clustering.iter().map(|column| clustering_from(column)).collect();
    Table {
        clustering,
        columns: sorted(vec![
            column("s", Kind::Int, true),
            column("v", Kind::Int, false),
            column("w", Kind::Text, false),
            column("m", Kind::Map, false),
            column("z", Kind::Set, false),
        ]),
        gc_grace_seconds: 864_000,
        default_time_to_live: 0,
        compaction: [("class".to_owned(), "SizeTieredCompactionStrategy".to_owned())].into(),
        view: None,
    }
}

fn clustering_from(text: &str) -> Clustering {
    let name = text.strip_suffix(" desc");
    Clustering { name: name.unwrap_or(text).to_owned(), descending: name.is_some() }
}

fn sorted(mut columns: Vec<Column>) -> Vec<Column> {
    columns.sort_by(|one, two| {
        (one.kind.is_complex(), &one.name).cmp(&(two.kind.is_complex(), &two.name))
    });
    columns
}

const KINDS: [(&str, Kind); 4] = [
    ("int", Kind::Int),
    ("text", Kind::Text),
    ("map<int, int>", Kind::Map),
    ("set<int>", Kind::Set),
];

/// Reads a table.
///
/// # Errors
/// [`Fault`] where `value` is none.
pub fn table_from(value: &Value) -> Result<Table, Fault> {
    let known =
        ["clustering", "columns", "gc_grace_seconds", "default_time_to_live", "compaction", "view"];
    let fields = Fields::of(value, "the table", &known)?;
    let mut table = table_of_recordings(&["c"]);
    if let Some(columns) = fields.optional("clustering", |value| list(value, text))? {
        table.clustering = columns.into_iter().map(clustering_from).collect();
    }
    if let Some(columns) = fields.optional("columns", columns)? {
        table.columns = columns;
    }
    let names = table.clustering.iter().map(|it| &it.name);
    let mut names: Vec<&String> = names.chain(table.columns.iter().map(|it| &it.name)).collect();
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) || names.iter().any(|name| *name == "p") {
        return Err(Fault::new("two columns have the same name; `p` is the partition key"));
    }
    if let Some(name) = names.iter().find(|name| !is_name(name)) {
        let form = "small letters, digits and `_`, a letter first";
        return Err(Fault::new(format!("expected the name of a column, {form}; found `{name}`")));
    }
    if table.clustering.len() > CLUSTERING.len() {
        let message = format!("a table has at most {} clustering columns here", CLUSTERING.len());
        return Err(Fault::new(message).under("clustering"));
    }
    let seconds = |value: &Value, most: i64| match integer(value)? {
        seconds if (0..=most).contains(&seconds) => Ok(seconds),
        _ => Err(Fault::expected(&format!("seconds from 0 to {most}"), value)),
    };
    let grace = |value| seconds(value, i64::from(i32::MAX));
    if let Some(seconds) = fields.optional("gc_grace_seconds", grace)? {
        table.gc_grace_seconds = seconds;
    }
    let default = |value| seconds(value, 630_720_000);
    if let Some(seconds) = fields.optional("default_time_to_live", default)? {
        table.default_time_to_live = seconds;
    }
    if let Some(options) = fields.optional("compaction", options)? {
        table.compaction = options;
    }
    table.view = fields.optional("view", |value| {
        let fields = Fields::of(value, "the view", &["gc_grace_seconds"])?;
        fields.required("gc_grace_seconds", grace)
    })?;
    Ok(table)
}

fn is_name(name: &str) -> bool {
    let is_in = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_in)
}

fn columns(value: &Value) -> Result<Vec<Column>, Fault> {
    let Value::Object(fields) = value else {
        return Err(Fault::expected("a table of columns with their types", value));
    };
    let mut columns = Vec::new();
    for (name, value) in fields {
        let form = text(value).map_err(|fault| fault.under(name))?;
        let bare = form.strip_suffix(" static");
        let (kind, is_static) = (bare.unwrap_or(form), bare.is_some());
        let kind = KINDS.iter().find(|(text, _)| *text == kind).map(|(_, kind)| *kind);
        let kind = kind.ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|(text, _)| *text).collect();
            let all = super::one_of(&names);
            Fault::new(format!("expected {all}, `static` after it where it is, found `{form}`"))
                .under(name)
        })?;
        columns.push(Column { name: name.clone(), kind, is_static });
    }
    if columns.len() > usize::from(u8::MAX) {
        return Err(Fault::new("a table has at most 255 columns here"));
    }
    Ok(sorted(columns))
}

fn options(value: &Value) -> Result<std::collections::BTreeMap<String, String>, Fault> {
    let Value::Object(fields) = value else {
        return Err(Fault::expected("a table of options", value));
    };
    let option = |(name, value): (&String, &Value)| {
        let text = text(value).map_err(|fault| fault.under(name))?;
        Ok((name.clone(), text.to_owned()))
    };
    fields.iter().map(option).collect()
}

fn table_to(table: &Table) -> Value {
    let plain = table_of_recordings(&["c"]);
    let mut fields = Map::new();
    let clustering = table.clustering.iter().map(|column| match column.descending {
        true => format!("{} desc", column.name),
        false => column.name.clone(),
    });
    fields.insert("clustering".into(), clustering.collect::<Vec<_>>().into());
    if table.columns != plain.columns {
        let columns = table.columns.iter().map(|column| {
            let kind = KINDS.iter().find(|(_, kind)| *kind == column.kind);
            let kind = kind.map_or("", |(text, _)| text);
            let form = if column.is_static { format!("{kind} static") } else { kind.to_owned() };
            (column.name.clone(), Value::from(form))
        });
        fields.insert("columns".into(), columns.collect::<Map<_, _>>().into());
    }
    fields.insert("gc_grace_seconds".into(), table.gc_grace_seconds.into());
    if table.default_time_to_live != 0 {
        fields.insert("default_time_to_live".into(), table.default_time_to_live.into());
    }
    if table.compaction != plain.compaction {
        fields.insert("compaction".into(), json!(table.compaction));
    }
    if let Some(seconds) = table.view {
        fields.insert("view".into(), json!({ "gc_grace_seconds": seconds }));
    }
    Value::Object(fields)
}

fn elements(value: &Value) -> Result<Vec<i32>, Fault> {
    list(value, integer32)
}
