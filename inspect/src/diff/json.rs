//! The differences as data.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::tally::Reason;
use super::{Answer, Catalog, Change, Diff, Difference, Example, Group, Step};
use crate::json::{fault, field, list, names, relaxed};
use crate::rule_on::{Standing, Ttl, in_short};

/// Writes the differences.
///
/// # Errors
/// What writing fails with.
pub fn write(diff: &Diff, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    let question = &diff.question;
    let (due, later) = diff.sooner();
    writeln!(out, "{{")?;
    field(out, "change", &change(diff))?;
    field(out, "at_ms", &json!(question.at.0))?;
    field(out, "until_ms", &json!(question.until.0))?;
    let is_finding = diff.is_finding();
    // Nothing found is no answer where not all was compared.
    let finding = (is_finding || diff.is_complete()).then_some(is_finding);
    field(out, "finding", &json!(finding))?;
    field(out, "at_first_pass", &json!(due))?;
    field(out, "later", &json!(later))?;
    let (repaired, repaired_later) = diff.sooner_by(Catalog::Repaired);
    field(out, "only_by_repair", &json!(repaired + repaired_later))?;
    let loud = diff.loud().map(|(namespace, loud)| {
        json!({
            "namespace": namespace,
            "index": loud.index,
            "code": loud.code,
            "rule": loud.rule.name(),
            "text": loud.text,
        })
    });
    list(out, "refused", loud)?;
    list(out, "collections", diff.differences.iter().map(collection))?;
    let skipped = diff.skipped.iter();
    let skipped = skipped.map(|s| json!({ "namespace": s.namespace, "reason": s.reason }));
    list(out, "skipped", skipped)?;
    list(out, "faults", diff.faults.iter().map(fault))?;
    let about = diff.differences.iter().flat_map(|difference| {
        difference.notes.iter().map(|(index, note)| {
            json!({
                "namespace": difference.namespace,
                "index": index,
                "rule": note.rule.name(),
                "text": note.text,
            })
        })
    });
    let general = notes
        .iter()
        .map(|text| json!({ "namespace": null, "index": null, "rule": null, "text": text }));
    let all: Vec<Value> = about.chain(general).collect();
    writeln!(out, "  \"notes\": {}", Value::Array(all))?;
    writeln!(out, "}}")
}

fn change(diff: &Diff) -> Value {
    let question = &diff.question;
    let mut change = json!({
        "how": question.change.name(),
        "from": question.from.to_string(),
        "to": question.to.to_string(),
    });
    match &question.change {
        Change::Synced(source) => change["source"] = json!(source.to_string()),
        Change::Set(index, seconds) => {
            change["index"] = json!(index);
            change["seconds"] = relaxed(seconds);
        }
        Change::Replaced | Change::Restored | Change::Enabled => {}
    }
    change
}

fn collection(difference: &Difference) -> Value {
    let Difference { namespace, sides, tally, .. } = difference;
    let indexes = sides.pairs.iter().map(|pair| {
        json!({
            "name": pair.name(),
            "before": side(&sides.before, &pair.before),
            "after": side(&sides.after, &pair.after),
            "repaired": pair.elected.as_ref().map(|(ttl, _)| side(&sides.after, ttl)),
        })
    });
    let groups = tally.groups.iter().map(|(reason, group)| one_group(difference, reason, group));
    let spared = tally.spared.iter().map(|((nth, rule), count)| {
        json!({
            "index": sides.pairs[*nth].name(),
            "kept_by": rule.name(),
            "documents": count,
        })
    });
    json!({
        "namespace": namespace,
        "documents": tally.documents,
        "same": tally.same,
        "sooner": groups.collect::<Vec<_>>(),
        "deleted_later": tally.later,
        "no_longer_deleted": spared.collect::<Vec<_>>(),
        "indexes": indexes.collect::<Vec<_>>(),
        "answer": sides.answer.as_ref().map(|Answer { index, note, code }| {
            json!({ "index": index, "code": code, "rule": note.rule.name(), "text": note.text })
        }),
        "way": difference.way.iter().map(step).collect::<Vec<_>>(),
        "complete": difference.fault.is_none(),
    })
}

fn step(step: &Step) -> Value {
    json!({
        "first": step.first.to_string(),
        "last": step.last.map(|last| last.to_string()),
        "at_first_pass": step.sooner.0,
        "later": step.sooner.1,
        "only_by_repair": step.repaired,
        "assertion": step.fatal,
    })
}

fn side(standing: &Standing, ttl: &Ttl) -> Value {
    let because = [ttl.arrival.because.as_slice(), &ttl.usable.because].concat();
    json!({
        "stored_seconds": ttl.stored_seconds().map(relaxed),
        "lifetime_ms": ttl.lifetime(),
        "blocked_by": ttl.lifetime().is_none().then(|| in_short(standing, ttl)),
        "by": names(&because),
    })
}

fn one_group(
    difference: &Difference,
    (nth, catalog, kept_by, because): &Reason,
    group: &Group,
) -> Value {
    json!({
        "index": difference.sides.pairs[*nth].name(),
        "catalog": catalog.name(),
        "kept_by": kept_by.name(),
        "deleted_by": names(because),
        "documents": group.documents(),
        "at_first_pass": group.due,
        "later": group.later,
        "beyond": group.beyond,
        "next_ms": group.next_ms,
        "examples": group.examples.iter().map(example).collect::<Vec<_>>(),
    })
}

fn example(example: &Example) -> Value {
    json!({
        "id": relaxed(&example.id),
        "decided_by": { "path": example.decided.path, "value": relaxed(&example.decided.value) },
        "before_ms": example.before_ms,
        "after_ms": example.after_ms,
    })
}
