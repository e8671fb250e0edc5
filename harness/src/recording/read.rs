//! What does a line say?

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use ttlspec_model::Millis;
use ttlspec_model::cassandra::words::{Format, Op, Overflow, Query, Statement, Table};
use ttlspec_model::cassandra::{Config, Version};

use crate::Notation;
use crate::notation::cassandra::{TOMBSTONE_FAILURE_THRESHOLD, query_of_cql, table_from};

/// What is wrong with a recording, and where.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path}{}: {message}; {fix}", at(.line))]
pub struct Fault {
    /// The file.
    pub path: String,
    /// The line, counted from 1; 0 where it is none.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

fn at(line: &usize) -> String {
    if *line == 0 { String::new() } else { format!(":{line}") }
}

/// One history.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Its name.
    pub id: String,
    /// How the node is set up.
    pub config: Config,
    /// The second in which it starts.
    pub start_s: i64,
    /// What was done and seen.
    pub steps: Vec<Recorded>,
    /// Why it cannot be played here.
    pub skipped: Option<String>,
}

/// One step of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Seconds after the start.
    pub at: i64,
    /// What was done.
    pub what: What,
    /// Everything that the recording says of it.
    pub value: Value,
}

/// What was done in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One operation.
    Op(Op),
    /// `nodetool compact`, after a flush where that is said: which holder came first is left open.
    Major {
        /// Was there a flush before?
        after_flush: bool,
    },
    /// So many tasks that the strategy had.
    Background(u64),
    /// Nothing: it is only looked.
    Look,
}

impl History {
    /// The instant of a step.
    pub fn instant(&self, step: &Recorded) -> Millis {
        Millis(self.start_s.saturating_add(step.at).saturating_mul(1_000))
    }
}

const FIX: &str = "compare it with the format in specs/cassandra/observed/README.md";

/// The histories of a file, one after the other.
pub struct Histories {
    path: PathBuf,
    lines: Box<dyn BufRead>,
    line: usize,
}

/// Opens a file of histories, gzip or plain.
///
/// # Errors
/// [`Fault`] where it cannot be read.
pub fn open(path: &Path) -> Result<Histories, Fault> {
    let fault = |error: std::io::Error| Fault {
        path: path.display().to_string(),
        line: 0,
        message: format!("cannot be read: {error}"),
        fix: "give the path of a recording, a file of JSON lines, gzip or plain".to_owned(),
    };
    let mut file = BufReader::new(File::open(path).map_err(fault)?);
    let is_gzip = file.fill_buf().map_err(fault)?.starts_with(&[0x1f, 0x8b]);
    let lines: Box<dyn BufRead> =
        if is_gzip { Box::new(BufReader::new(GzDecoder::new(file))) } else { Box::new(file) };
    Ok(Histories { path: path.to_owned(), lines, line: 0 })
}

/// A line longer than this is no history.
const LONGEST_LINE: u64 = 256 << 20;

impl Iterator for Histories {
    type Item = Result<History, Fault>;

    fn next(&mut self) -> Option<Result<History, Fault>> {
        loop {
            self.line += 1;
            let mut line = Vec::new();
            let mut limited = (&mut self.lines).take(LONGEST_LINE);
            match limited.read_until(b'\n', &mut line) {
                Err(error) => {
                    let message = format!("cannot be read on: {error}");
                    return Some(Err(
                        self.fault(message, "fetch the file again: it is cut off or damaged")
                    ));
                }
                Ok(0) => return None,
                Ok(_) if line.len() as u64 >= LONGEST_LINE => {
                    return Some(Err(self.fault("the line does not end".to_owned(), FIX)));
                }
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(_) => return Some(self.history(&line)),
            }
        }
    }
}

impl Histories {
    fn fault(&self, message: String, fix: &str) -> Fault {
        let path = self.path.display().to_string();
        Fault { path, line: self.line, message, fix: fix.to_owned() }
    }

    fn history(&self, line: &[u8]) -> Result<History, Fault> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| self.fault(format!("no JSON object: {error}"), FIX))?;
        history(value).map_err(|message| self.fault(message, FIX))
    }
}

/// Reads one history.
///
/// # Errors
/// What is wrong with it, in words.
pub fn history(value: Value) -> Result<History, String> {
    let Value::Object(mut fields) = value else { return Err("a history is a table".to_owned()) };
    let id = fields.get("id").and_then(Value::as_str).unwrap_or("?").to_owned();
    let named = |message: String| format!("history `{id}`: {message}");
    let config = config(&fields).map_err(&named)?;
    let start_s = fields.get("start_s").and_then(Value::as_i64);
    let start_s = start_s.ok_or_else(|| named("lacks `start_s`, whole seconds".to_owned()))?;
    let Some(Value::Array(steps)) = fields.remove("steps") else {
        return Err(named("lacks `steps`, a list".to_owned()));
    };
    let skipped = fields
        .contains_key("nodes")
        .then(|| "it is a cluster: only single nodes are played".to_owned());
    let steps = if skipped.is_some() { Vec::new() } else { steps };
    let steps = steps.into_iter().enumerate().map(|(at, step)| {
        step_from(step, &config.table).map_err(|message| named(format!("step {at}: {message}")))
    });
    let steps = steps.collect::<Result<Vec<_>, String>>()?;
    Ok(History { id, config, start_s, steps, skipped })
}

fn config(fields: &serde_json::Map<String, Value>) -> Result<Config, String> {
    let server = fields.get("server").and_then(Value::as_str).ok_or("lacks `server`, a version")?;
    let version = Version::parse(server).map_err(|error| error.to_string())?;
    let option = |name: &str| fields.get("options")?.get(name)?.as_str();
    let format = match option("sstable_format") {
        Some("oa") => Format::Oa,
        Some("nb") | None => Format::Nb,
        Some(other) => return Err(format!("`sstable_format` is `nb` or `oa`, found `{other}`")),
    };
    let overflow = match option("expiration_date_overflow_policy") {
        Some("CAP" | "CAP_NOWARN") => Overflow::Cap,
        Some("REJECT") | None => Overflow::Reject,
        Some(other) => return Err(format!("no policy is named `{other}`")),
    };
    let mut table = fields.get("table").cloned().ok_or("lacks `table`")?;
    if let Value::Object(table) = &mut table {
        table.remove("read_repair");
        if let Some(Value::Object(view)) = table.get_mut("view") {
            view.retain(|name, _| name == "gc_grace_seconds");
        }
    }
    let table = table_from(&table).map_err(|fault| format!("`table`: {fault}"))?;
    let tombstone_failure_threshold = TOMBSTONE_FAILURE_THRESHOLD;
    Ok(Config {
        version,
        format,
        overflow,
        tombstone_failure_threshold,
        table,
        without: Vec::new(),
    })
}

fn step_from(mut value: Value, table: &Table) -> Result<Recorded, String> {
    let at = value.get("at").and_then(Value::as_i64).ok_or("lacks `at`, whole seconds")?;
    let what = what(&value, table)?;
    if let Value::Object(fields) = &mut value {
        fields.remove("write");
    }
    Ok(Recorded { at, what, value })
}

fn what(value: &Value, table: &Table) -> Result<What, String> {
    let op = |value: &Value| Cassandra::op_from(value).map_err(|fault| fault.to_string());
    let count = |value: &Value| value.as_u64().ok_or("expected a count".to_owned());
    if let Some(write) = value.get("write") {
        return Ok(What::Op(checked(op(write)?, write, table)?));
    }
    for name in ["compact", "garbagecollect", "set_repaired", "gc_grace_seconds"] {
        if let Some(operand) = value.get(name) {
            return Ok(What::Op(op(&serde_json::json!({ name: operand }))?));
        }
    }
    let has = |name: &str| value.get(name).is_some();
    Ok(match () {
        () if has("flush") => What::Op(Op::Flush),
        () if has("major") => What::Major { after_flush: false },
        () if has("flush_and_major") => What::Major { after_flush: true },
        () if has("background_tasks") => What::Background(count(&value["background_tasks"])?),
        () if has("look") => What::Look,
        () => {
            let known = "`write`, `flush`, `compact`, `major`, `garbagecollect`, `set_repaired`, \
                         `gc_grace_seconds`, `flush_and_major`, `background_tasks` or `look`";
            return Err(format!("nothing is done in it: expected {known}"));
        }
    })
}

use ttlspec_model::cassandra::Cassandra;

/// The clustering columns of a statement must stand in the order of the table.
fn checked(op: Op, write: &Value, table: &Table) -> Result<Op, String> {
    let names: Vec<&str> = table.clustering.iter().map(|column| column.name.as_str()).collect();
    let statements = write.get("batch").and_then(Value::as_array);
    for statement in statements.map_or(std::slice::from_ref(write), Vec::as_slice) {
        for verb in ["insert", "update", "delete"] {
            let Some(Value::Object(key)) = statement.get(verb) else { continue };
            let given: Vec<&str> = key.keys().map(String::as_str).filter(|it| *it != "p").collect();
            if given.len() > names.len() || given[..] != names[..given.len()] {
                return Err(format!("the key has {given:?}, where the table has {names:?}"));
            }
        }
    }
    Ok(op)
}

/// The text of a query, on this table.
pub(super) fn query_of(text: &str, table: &Table) -> Result<Query, String> {
    let (mut query, order) = query_of_cql(text).map_err(|fault| fault.to_string())?;
    if let Some(order) = order {
        // The first column decides: the others can only go with it.
        let first = order.split(',').next().unwrap_or_default().trim();
        let (name, direction) = first.split_once(' ').unwrap_or((first, "asc"));
        let column = table.clustering.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| format!("`order by {name}`: there is no such column"))?;
        let descending = match direction {
            "asc" => false,
            "desc" => true,
            other => {
                return Err(format!("expected `asc` or `desc` in `order by`, found `{other}`"));
            }
        };
        query.reversed = descending != column.descending;
    }
    Ok(query)
}

/// The statements of a step, where it writes.
pub(super) fn statements(step: &Recorded) -> Option<&[Statement]> {
    match &step.what {
        What::Op(Op::Write(statements)) => Some(statements),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::cassandra::table_of_recordings;

    #[test]
    fn an_order_is_reversed_where_it_is_against_that_of_the_table() {
        for (clustering, order, expected) in [
            (&["c"][..], "", false),
            (&["c"], " order by c", false),
            (&["c"], " order by c asc", false),
            (&["c"], " order by c desc", true),
            (&["c desc"], " order by c desc", false),
            (&["c desc"], " order by c asc limit 1", true),
            (&["c", "d desc"], " order by c desc, d asc", true),
            (&["c", "d desc"], " order by c asc, d desc", false),
        ] {
            let table = table_of_recordings(clustering);
            let query = query_of(&format!("select * from t where p=1{order}"), &table);
            assert_eq!(query.map(|query| query.reversed), Ok(expected), "{clustering:?}{order}");
        }
        let table = table_of_recordings(&["c"]);
        for order in ["e desc", "c down", "desc"] {
            let query = query_of(&format!("select * from t where p=1 order by {order}"), &table);
            assert!(query.is_err(), "{order}");
        }
    }
}
