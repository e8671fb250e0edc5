//! What was seen, and what is answered?

use std::collections::BTreeMap;

use serde_json::Value;
use ttlspec_model::cassandra::words::{Reply, Rows};
use ttlspec_model::cassandra::{Cassandra, Op};
use ttlspec_model::{Engine, Millis, Unsupported};

use super::Tally;
use super::read::{History, Recorded, What, query_of};
use crate::notation::cassandra::{as_recorded, row_of_recording};

/// An observation that is answered otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What was looked at.
    pub kind: &'static str,
    /// Which of them: the number of an sstable, or the text of a query.
    pub which: String,
    /// What was seen.
    pub expected: Value,
    /// What is answered.
    pub seen: Value,
}

/// Does a step, and holds everything that was then seen against what is answered.
pub fn step(
    engine: &mut dyn Engine<Cassandra>,
    now: Millis,
    op: &Option<Op>,
    recorded: &Recorded,
    history: &History,
    tally: &mut Tally,
) -> Result<Option<Difference>, Unsupported> {
    let mut looking = Looking { engine, now, history, tally, first: None };
    if let Some(op) = op {
        looking.done(op, recorded)?;
    }
    looking.sstables(&recorded.value)?;
    looking.merged("merged", &Op::Merged, &recorded.value)?;
    looking.merged("view_merged", &Op::ViewMerged, &recorded.value)?;
    looking.rows("select", "", &recorded.value["select"])?;
    if let Some(expected) = recorded.value.get("view_select") {
        let Reply::Rows(rows) = looking.ask(&Op::ViewSelect)? else { return Ok(looking.first) };
        looking.compare_rows("view_select", "", expected, &rows);
    }
    for name in ["reads", "more_reads"] {
        for read in recorded.value[name].as_array().into_iter().flatten() {
            looking.read(read)?;
        }
    }
    Ok(looking.first)
}

struct Looking<'a> {
    engine: &'a mut dyn Engine<Cassandra>,
    now: Millis,
    history: &'a History,
    tally: &'a mut Tally,
    first: Option<Difference>,
}

impl Looking<'_> {
    fn ask(&mut self, op: &Op) -> Result<Reply, Unsupported> {
        self.engine.apply(self.now, op)
    }

    fn compare(&mut self, kind: &'static str, which: &str, expected: &Value, seen: Value) {
        let agrees = *expected == seen;
        self.tally.count(kind, agrees);
        if !agrees && self.first.is_none() {
            let (expected, which) = (expected.clone(), which.to_owned());
            self.first = Some(Difference { kind, which, expected, seen });
        }
    }

    /// Was it carried out, refused, or did the server fail? And which sstables did it make?
    fn done(&mut self, op: &Op, recorded: &Recorded) -> Result<(), Unsupported> {
        let reply = self.ask(op)?;
        let outcome = match reply {
            Reply::Refused => "refused",
            Reply::Failed(_) => "failed",
            _ => "done",
        };
        let error = recorded.value.get("error").and_then(Value::as_str);
        let expected = match error {
            None => "done",
            Some(error) if error.contains("InvalidRequest") => "refused",
            Some(_) => "failed",
        };
        self.compare("outcome", "", &expected.into(), outcome.into());
        let made = match &recorded.what {
            What::Op(Op::Flush) => recorded.value.get("flush"),
            _ => recorded.value.get("into"),
        };
        if let (Some(expected), Reply::Made(ids)) = (made, reply) {
            self.compare("made", "", expected, ids.into());
        }
        Ok(())
    }

    fn sstables(&mut self, value: &Value) -> Result<(), Unsupported> {
        let Some(expected) = value.get("sstables").and_then(Value::as_array) else { return Ok(()) };
        let contents = as_recorded(&self.ask(&Op::Sstables)?);
        let stats = as_recorded(&self.ask(&Op::Stats)?);
        let by_id = |all: &Value| -> BTreeMap<u64, Value> {
            let all = all.as_array().into_iter().flatten();
            all.filter_map(|it| Some((it["sstable"].as_u64()?, it.clone()))).collect()
        };
        let (mut contents, mut stats) = (by_id(&contents["sstables"]), by_id(&stats["stats"]));
        for sstable in expected {
            let id = sstable["sstable"].as_u64().unwrap_or(0);
            let which = id.to_string();
            let content =
                contents.remove(&id).map_or(Value::Null, |mut it| it["partitions"].take());
            self.compare("sstable", &which, &sstable["partitions"], content);
            if let Some(expected) = sstable.get("stats") {
                let seen = stats.remove(&id).unwrap_or(Value::Null);
                self.stats(&which, expected, &seen);
            }
        }
        let left: Vec<u64> = contents.into_keys().collect();
        self.compare("no more sstables", "", &Value::Array(Vec::new()), left.into());
        Ok(())
    }

    fn stats(&mut self, which: &str, expected: &Value, seen: &Value) {
        let mut wanted = expected.clone();
        let mut found = seen.clone();
        let (Value::Object(wanted), Value::Object(found)) = (&mut wanted, &mut found) else {
            self.compare("stats", which, expected, seen.clone());
            return;
        };
        wanted.shift_remove("size");
        found.shift_remove("sstable");
        // How "none" is written.
        let none = if self.history.config.version.has_wide_deletion_time() {
            i64::MAX
        } else {
            i64::from(i32::MAX)
        };
        for name in ["minLdt", "maxLdt"] {
            if wanted.get(name).and_then(Value::as_i64) == Some(none) {
                wanted.shift_remove(name);
            }
        }
        let droppable = (wanted.shift_remove("droppable"), found.shift_remove("droppable"));
        let histogram = (wanted.shift_remove("histogram"), found.shift_remove("histogram"));
        self.compare("stats", which, &wanted.clone().into(), found.clone().into());
        if let (Some(expected), Some(seen)) = histogram {
            self.compare("histogram", which, &expected, seen);
        }
        if let (Some(expected), Some(seen)) = droppable {
            // The last bits hang on the order in which a sum is made.
            let near = |one: f64, two: f64| (one - two).abs() <= 1e-9 * one.abs().max(1.0);
            let is_near =
                expected.as_f64().zip(seen.as_f64()).is_some_and(|(one, two)| near(one, two));
            let seen = if is_near { expected.clone() } else { seen };
            self.compare("droppable", which, &expected, seen);
        }
    }

    fn merged(&mut self, kind: &'static str, op: &Op, value: &Value) -> Result<(), Unsupported> {
        let Some(expected) = value.get(kind) else { return Ok(()) };
        let mut seen = as_recorded(&self.ask(op)?);
        let mut seen = seen["merged"].take();
        if let Value::Array(partitions) = &mut seen {
            // A partition in which nothing is shown is not shown.
            partitions.retain(|it| {
                it.get("deletion").is_some()
                    || it.get("static").is_some()
                    || it["items"].as_array().is_some_and(|items| !items.is_empty())
            });
        }
        self.compare(kind, "", expected, seen);
        Ok(())
    }

    /// The rows of the whole table.
    fn rows(
        &mut self,
        kind: &'static str,
        text: &str,
        expected: &Value,
    ) -> Result<(), Unsupported> {
        if expected.is_null() {
            return Ok(());
        }
        let op = Op::Select(Default::default());
        if let Reply::Rows(rows) = self.ask(&op)? {
            self.compare_rows(kind, text, expected, &rows);
        }
        Ok(())
    }

    fn compare_rows(&mut self, kind: &'static str, text: &str, expected: &Value, rows: &Rows) {
        let recorded = expected.as_array().map_or(&[][..], Vec::as_slice);
        let names: Vec<&String> = recorded
            .first()
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|it| it.keys())
            .collect();
        let seen = rows.rows.iter().map(|row| row_of_recording(row, &mut names.iter().copied()));
        let seen: Vec<Value> = seen.collect();
        self.compare(kind, text, expected, seen.into());
    }

    fn read(&mut self, read: &Value) -> Result<(), Unsupported> {
        let text = read["q"].as_str().unwrap_or_default();
        let query = match query_of(text, &self.history.config.table) {
            Ok(query) => query,
            Err(message) => return Err(Unsupported(format!("the query `{text}`: {message}"))),
        };
        let Reply::Rows(rows) = self.ask(&Op::Select(query))? else {
            self.compare("rows", text, &read["rows"], Value::Null);
            return Ok(());
        };
        self.compare_rows("rows", text, &read["rows"], &rows);
        if let Some(expected) = read.get("tombstones") {
            self.compare("tombstones", text, expected, rows.tombstones.into());
        }
        if let Some(expected) = read.get("live_rows") {
            self.compare("live rows", text, expected, rows.live.into());
        }
        Ok(())
    }
}
