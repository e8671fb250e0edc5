//! The report as data.

use std::io::{self, Write};

use bson::Bson;
use serde_json::{Value, json};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::life::Verdict;

use crate::checks::{self, Check, SeenInDump, of_server, seen};
use crate::fault::{Fault, Place};
use crate::near_miss::{Note, of_index};
use crate::report::{NOT_IN_A_DUMP, NOT_IN_A_DUMP_RULE, Report, RulingOn};
use crate::survey::Survey;

/// Writes the report with all rulings that are asked for. Answers the `_id`s that were not found.
///
/// # Errors
/// What writing fails with.
pub fn write(report: &Report, notes: &[String], out: &mut dyn Write) -> io::Result<Vec<String>> {
    let standing = &report.question.standing;
    writeln!(out, "{{")?;
    field(out, "server", &json!(standing.server.to_string()))?;
    field(out, "profile", &json!(standing.server.profile().name))?;
    field(out, "at_ms", &json!(standing.at.0))?;
    field(out, "via", &json!(standing.via.name()))?;
    field(out, "from", &json!(standing.from.to_string()))?;
    let indexes = report
        .surveys
        .iter()
        .flat_map(|(_, survey)| (0..survey.tallies.len()).map(|nth| index(report, survey, nth)));
    list(out, "indexes", indexes)?;
    write!(out, "  \"rulings\": [")?;
    let mut separator = "\n";
    let missing = report.rulings(&mut |ruling| {
        write!(out, "{separator}    {}", one(ruling))?;
        separator = ",\n";
        Ok(())
    })?;
    let end = if separator == "\n" { "" } else { "\n  " };
    writeln!(out, "{end}],")?;
    let skipped = report.skipped.iter();
    let skipped = skipped.map(|s| json!({ "namespace": s.namespace, "reason": s.reason }));
    list(out, "skipped", skipped)?;
    list(out, "faults", report.faults.iter().map(fault))?;
    list(out, "checks", checks(report).into_iter())?;
    let about = report.notes.iter().map(|(namespace, note)| {
        json!({ "namespace": namespace, "rule": note.rule.name(), "text": note.text })
    });
    let general = notes.iter().map(|text| json!({ "namespace": null, "rule": null, "text": text }));
    let absent = missing.iter().map(|id| {
        let text = format!("no document with _id {id}");
        json!({ "namespace": null, "rule": null, "text": text })
    });
    let limits = json!({
        "namespace": null, "rule": NOT_IN_A_DUMP_RULE.name(), "text": NOT_IN_A_DUMP,
    });
    let all: Vec<Value> = about.chain(general).chain(absent).chain([limits]).collect();
    writeln!(out, "  \"notes\": {}", Value::Array(all))?;
    writeln!(out, "}}")?;
    Ok(missing)
}

pub(crate) fn field(out: &mut dyn Write, name: &str, value: &Value) -> io::Result<()> {
    writeln!(out, "  \"{name}\": {value},")
}

pub(crate) fn list(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = Value>,
) -> io::Result<()> {
    write!(out, "  \"{name}\": [")?;
    let mut separator = "\n";
    for value in values {
        write!(out, "{separator}    {value}")?;
        separator = ",\n";
    }
    let end = if separator == "\n" { "" } else { "\n  " };
    writeln!(out, "{end}],")
}

/// Relaxed Extended JSON. Dates that RFC 3339 cannot write, after the year 9999, are numbers there,
/// which the library does not do.
pub fn relaxed(value: &Bson) -> Value {
    const LAST_WRITTEN_MS: i64 = 253_402_300_799_999;
    match value {
        Bson::DateTime(date) if date.timestamp_millis() > LAST_WRITTEN_MS => {
            json!({ "$date": { "$numberLong": date.timestamp_millis().to_string() } })
        }
        Bson::Array(elements) => elements.iter().map(relaxed).collect(),
        Bson::Document(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), relaxed(value))).collect(),
        ),
        other => other.clone().into_relaxed_extjson(),
    }
}

pub(crate) fn names(rules: &[Rule]) -> Vec<&'static str> {
    rules.iter().map(|rule| rule.name()).collect()
}

pub(crate) fn note(note: &Note) -> Value {
    json!({ "rule": note.rule.name(), "text": note.text })
}

fn index(report: &Report, survey: &Survey, nth: usize) -> Value {
    let (ttl, tally) = (&survey.arrived.ttl[nth], &survey.tallies[nth]);
    let notes = of_index(&report.question.standing, survey, nth);
    let never: serde_json::Map<String, Value> = (tally.never_by_rule.iter())
        .map(|(rule, count)| (rule.name().to_owned(), json!(count)))
        .collect();
    let next = tally.next.iter().take(report.question.next);
    let next: Vec<_> = next.map(|(at, count)| json!({ "at_ms": at, "documents": count })).collect();
    json!({
        "namespace": survey.namespace,
        "name": ttl.name(),
        "key": relaxed(&Bson::Document(ttl.key())),
        "seconds": relaxed(&ttl.seconds()),
        "stored_seconds": ttl.stored_seconds().map(relaxed),
        "documents": survey.documents,
        "expired": tally.expired,
        "pending": tally.pending,
        "never": tally.never,
        "never_by_rule": never,
        "next_ms": tally.next.keys().next(),
        "next": next,
        "by": names(&ttl.arrival.because),
        "complete": survey.fault.is_none(),
        "seen": seen(&report.question.standing, survey, nth).iter().map(shows).collect::<Vec<_>>(),
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
    })
}

fn shows(seen: &SeenInDump) -> Value {
    json!({ "what": seen.what, "found": seen.found, "in_the_way": seen.in_the_way })
}

/// What only the server shows: of the server as a whole, then of each index and collection.
fn checks(report: &Report) -> Vec<Value> {
    let standing = &report.question.standing;
    let one = |namespace: Option<&str>, index: Option<&str>, check: &Check| {
        json!({
            "namespace": namespace,
            "index": index,
            "what": check.what,
            "command": check.command,
            "if": check.answers,
            "rule": check.rule.name(),
        })
    };
    let mut all: Vec<Value> =
        of_server(standing.server).iter().map(|check| one(None, None, check)).collect();
    for (_, survey) in &report.surveys {
        for (nth, ttl) in survey.arrived.ttl.iter().enumerate() {
            let checks = checks::of_index(standing, survey, nth);
            let of = |check| one(Some(&survey.namespace), Some(ttl.name()), check);
            all.extend(checks.iter().map(of));
        }
        let checks = checks::of_collection(standing.server, survey.kind, &survey.namespace);
        all.extend(checks.iter().map(|check| one(Some(&survey.namespace), None, check)));
    }
    all
}

fn one(ruling: &RulingOn<'_>) -> Value {
    let (verdict, flips, since) = match &ruling.verdict {
        Verdict::Never => ("never", None, None),
        Verdict::Pending(at, _) => ("pending", Some(at.0), None),
        Verdict::Expired(at, _) => ("expired", None, Some(at.0)),
    };
    let (path, value) = (&ruling.decided.path, relaxed(&ruling.decided.value));
    json!({
        "namespace": ruling.namespace,
        "index": ruling.ttl.name(),
        "id": relaxed(&ruling.id),
        "verdict": verdict,
        "by": names(&ruling.by),
        "decided_by": { "path": path, "value": value },
        "blocked_by": ruling.decided.blocked_by,
        "expired_since_ms": since,
        "flips_at_ms": flips,
        "would_expire_if": ruling.would_expire_if,
        "would_stay_if": ruling.would_stay_if,
        "earliest": ruling.earliest.map(|(index, at)| json!({ "index": index, "at_ms": at })),
    })
}

pub(crate) fn fault(fault: &Fault) -> Value {
    let (offset, line, column) = match fault.place {
        Place::Whole => (None, None, None),
        Place::Offset(offset) => (Some(offset), None, None),
        Place::Line(line, column) => (None, Some(line), Some(column)),
    };
    json!({
        "file": fault.file,
        "offset": offset,
        "line": line,
        "column": column,
        "what": fault.what,
        "fix": fault.fix,
    })
}
