//! The differences for people: the first lines say whether anything is lost.

use std::io::{self, Write};

use bson::Bson;
use comfy_table::{Cell, CellAlignment, Table, presets};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::pass::Use;

use super::tally::Reason;
use super::{Answer, Catalog, Change, Diff, Difference, Example, Group, Step};
use crate::instant;
use crate::near_miss::{documents, shown};
use crate::rule_on::{Standing, Ttl, in_short};
use crate::show::{wrapped, wrapped_after};

/// Writes the differences.
///
/// # Errors
/// What writing fails with.
pub fn write(diff: &Diff, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    head(diff, out)?;
    finding(diff, out)?;
    table(diff, out)?;
    let mut known = Vec::new();
    for difference in &diff.differences {
        one(diff, difference, &mut known, out)?;
    }
    way(diff, out)?;
    remarks(diff, notes, out)
}

fn head(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let question = &diff.question;
    let (from, to) = (question.from, question.to);
    let change = match &question.change {
        Change::Replaced if to < from => {
            format!("the binaries of {from} are replaced by the older {to}")
        }
        Change::Replaced => format!("the binaries of {from} are replaced by {to}"),
        Change::Synced(source) if *source != from => {
            format!(
                "{from} deletes now; a member of {to} joins by initial sync from {source}, then deletes"
            )
        }
        Change::Synced(_) => {
            format!("a member of {to} joins by initial sync from {from}, then deletes")
        }
        Change::Restored => format!("the dump of {from} is restored to {to} with mongorestore"),
        Change::Set(index, seconds) => {
            let of = index.as_ref().map_or(String::new(), |index| format!(" of `{index}`"));
            format!("collMod sets expireAfterSeconds{of} to {} on {to}", shown(seconds))
        }
        Change::Enabled => format!("the monitor of {to}, which was off, is turned on"),
    };
    writeln!(out, "change  {change}")?;
    writeln!(out, "at      {} ({} ms)", instant::shown(question.at.0), question.at.0)?;
    writeln!(out, "until   {} (--horizon)", instant::shown(question.until.0))
}

fn finding(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for (namespace, loud) in diff.loud() {
        let index = loud.index.as_deref().unwrap_or_default();
        let text = format!("{namespace} {index}: {} [{}]", loud.text, loud.rule.name());
        wrapped_after(out, "REFUSED  ", &text)?;
    }
    for difference in &diff.differences {
        if let Some(Answer { note, code, .. }) = &difference.sides.answer {
            let text = format!("{}: {} [{}]", difference.namespace, note.text, note.rule);
            let label = if code.is_some() { "REFUSED  " } else { "ANSWER   " };
            wrapped_after(out, label, &text)?;
        }
    }
    if diff.sooner() == (0, 0) {
        return writeln!(out, "{}", nothing(diff));
    }
    if let Some(text) = counted(diff.sooner_by(Catalog::Left), "after the change") {
        let text = format!("deleted that would not be deleted as things are: {text}");
        wrapped_after(out, "FINDING  ", &text)?;
    }
    let (due, later) = diff.sooner_by(Catalog::Repaired);
    let when = format!("after the first member of {} becomes primary", diff.question.to);
    if let Some(text) = counted((due, later), &when) {
        let text = format!(
            "deleted that would not be deleted as things are, once a new primary has repaired the \
             catalog: {text} (`--standalone` leaves this out)"
        );
        wrapped_after(out, "FINDING  ", &text)?;
    }
    Ok(())
}

/// What it means that nothing is deleted sooner.
fn nothing(diff: &Diff) -> &'static str {
    match (diff.differences.is_empty(), diff.faults.is_empty()) {
        (false, true) => "nothing is deleted that would not be deleted as things are",
        (false, false) => {
            "nothing found in what could be read; NOT ALL WAS COMPARED: see the errors"
        }
        (true, true) => "nothing was compared: see the notes",
        (true, false) => "NOTHING WAS COMPARED: see the errors",
    }
}

/// How many at the first pass after something, and how many later.
fn counted(sooner: (u64, u64), after: &str) -> Option<String> {
    Some(match sooner {
        (0, 0) => return None,
        (due, 0) => format!("{} at the first pass {after}", documents(due)),
        (0, later) => format!("{} from later instants on", documents(later)),
        (due, later) => format!(
            "{} at the first pass {after}, {} more from later instants on",
            documents(due),
            documents(later)
        ),
    })
}

fn table(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    if diff.differences.is_empty() {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let columns = ["collection", "documents", "first pass", "later", "beyond", "no sooner"];
    table.set_header(columns.into_iter().chain(["deleted later", "no longer deleted"]));
    for difference in &diff.differences {
        let tally = &difference.tally;
        let right = |count: u64| Cell::new(count).set_alignment(CellAlignment::Right);
        let sum = |of: fn(&Group) -> u64| right(tally.groups.values().map(of).sum());
        table.add_row(vec![
            Cell::new(&difference.namespace),
            right(tally.documents),
            sum(|group| group.due),
            sum(|group| group.later),
            sum(|group| group.beyond),
            right(tally.same),
            right(tally.later),
            right(tally.spared()),
        ]);
    }
    writeln!(out, "\n{table}")
}

fn one(
    diff: &Diff,
    difference: &Difference,
    known: &mut Vec<Rule>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (sides, tally) = (&difference.sides, &difference.tally);
    for (nth, pair) in sides.pairs.iter().enumerate() {
        writeln!(out, "\n{} {}", difference.namespace, pair.name())?;
        let off = if sides.is_running { "" } else { "; but the monitor is off" };
        wrapped_after(
            out,
            "  before      ",
            &format!("{}{off}", state(&sides.before, &pair.before)),
        )?;
        wrapped_after(out, "  after       ", &state(&sides.after, &pair.after))?;
        if let Some((elected, _)) = &pair.elected {
            let text = format!(
                "{}, once a member of {} has become primary",
                state(&sides.after, elected),
                diff.question.to
            );
            wrapped_after(out, "  repaired    ", &text)?;
        }
        for (reason, group) in tally.groups.iter().filter(|((of, ..), _)| *of == nth) {
            one_group(diff, reason, group, known, out)?;
        }
        for ((_, rule), count) in tally.spared.iter().filter(|((of, _), _)| *of == nth) {
            writeln!(out, "  spared      {}, no longer deleted, by {rule}", documents(*count))?;
            sentence(*rule, known, out)?;
        }
    }
    if let Some(fault) = &difference.fault {
        let text = format!("{} up to the fault: {fault}", documents(tally.documents));
        wrapped_after(out, "  incomplete  ", &text)?;
    }
    Ok(())
}

/// What is stored, and what a visit does with it.
fn state(standing: &Standing, ttl: &Ttl) -> String {
    if ttl.index.is_none() {
        return in_short(standing, ttl);
    }
    let stored = ttl.stored_seconds().map_or("no expireAfterSeconds".to_owned(), shown);
    match ttl.usable.verdict {
        Use::Lifetime(millis) if ttl.lifetime().is_some() => {
            let seconds = (millis / 1_000).to_string();
            if stored == seconds {
                format!("{stored} seconds")
            } else {
                format!("{stored}, which acts as {seconds} seconds")
            }
        }
        _ => format!("{stored}: {}", in_short(standing, ttl)),
    }
}

fn one_group(
    diff: &Diff,
    (_, catalog, kept_by, because): &Reason,
    group: &Group,
    known: &mut Vec<Rule>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut parts = Vec::new();
    let after = match catalog {
        Catalog::Left => "the change".to_owned(),
        Catalog::Repaired => {
            format!("the first member of {} becomes primary", diff.question.to)
        }
    };
    if group.due > 0 {
        parts.push(format!("{} at the first pass after {after}", group.due));
    }
    if group.later + group.beyond > 0 {
        let next = group.next_ms.map(instant::shown).unwrap_or_default();
        parts.push(format!("{} later, the first from {next} on", group.later + group.beyond));
    }
    if group.beyond > 0 {
        parts.push(format!("{} of those beyond the horizon, which is no finding", group.beyond));
    }
    let text = format!("{}: {}", documents(group.documents()), parts.join(", "));
    wrapped_after(out, "  DELETED     ", &text)?;
    writeln!(out, "    kept now by {kept_by}")?;
    sentence(*kept_by, known, out)?;
    for (nth, rule) in because.iter().enumerate() {
        writeln!(out, "    {}{rule}", if nth == 0 { "deleted by  " } else { "            " })?;
        sentence(*rule, known, out)?;
    }
    for (nth, example) in group.examples.iter().enumerate() {
        let label = if nth == 0 { "    such as     " } else { "                " };
        wrapped_after(out, label, &in_words(diff, example, &after))?;
    }
    Ok(())
}

fn in_words(diff: &Diff, example: &Example, after: &str) -> String {
    let value = match &example.decided.value {
        Bson::DateTime(date) => instant::shown(date.timestamp_millis()),
        other => shown(other),
    };
    let now = example
        .before_ms
        .map_or("never".to_owned(), |at| format!("from {} on", instant::shown(at)));
    let then = match example.after_ms <= diff.question.at.0 {
        true => format!("at the first pass after {after}"),
        false => format!("from {} on", instant::shown(example.after_ms)),
    };
    format!(
        "_id {}, {} = {value}: now {now}, then {then}",
        shown(&example.id),
        example.decided.path
    )
}

/// The sentence of a rule stands where the rule is met for the first time.
fn sentence(rule: Rule, known: &mut Vec<Rule>, out: &mut dyn Write) -> io::Result<()> {
    if known.contains(&rule) {
        return Ok(());
    }
    known.push(rule);
    wrapped(out, 18, &rule.sentence())
}

/// What the releases between would delete. It is no finding.
fn way(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    if diff.differences.iter().all(|difference| difference.way.is_empty()) {
        return Ok(());
    }
    writeln!(out, "\non the way, compared with {}", diff.question.from)?;
    for difference in &diff.differences {
        let is_clean = |step: &Step| step.sooner == (0, 0) && step.fatal.is_none();
        if difference.way.iter().all(is_clean) {
            let text =
                format!("{}: no release between deletes anything sooner", difference.namespace);
            wrapped_after(out, "  - ", &text)?;
            continue;
        }
        for step in &difference.way {
            let text = format!("{}: {}", difference.namespace, on_the_way(step));
            wrapped_after(out, "  - ", &text)?;
        }
    }
    Ok(())
}

fn on_the_way(step: &Step) -> String {
    let Step { first, last, sooner, repaired, fatal } = step;
    let patches = match last {
        Some(last) if last == first => format!("{first}"),
        Some(last) => format!("{first} to {last}"),
        None if first.patch == 0 => format!("{}.{}", first.major, first.minor),
        None => format!("{first} and later",),
    };
    let does = match (fatal, counted(*sooner, "while it runs")) {
        (Some(code), _) => {
            format!("does not start on this catalog (assertion {code}): pass over it")
        }
        (None, None) => "deletes nothing sooner".to_owned(),
        (None, Some(text)) if *repaired == 0 => format!("DELETES {text}"),
        (None, Some(text)) => {
            format!("DELETES {text}; {repaired} of them once its first primary repairs the catalog")
        }
    };
    format!("{patches} {does}")
}

fn remarks(diff: &Diff, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nnotes")?;
    for difference in &diff.differences {
        for (index, note) in &difference.notes {
            let text = format!("{} {index}: {} [{}]", difference.namespace, note.text, note.rule);
            wrapped_after(out, "  - ", &text)?;
        }
    }
    for skipped in &diff.skipped {
        let text = format!("{}: {} [skipped]", skipped.namespace, skipped.reason);
        wrapped_after(out, "  - ", &text)?;
    }
    for text in notes {
        wrapped_after(out, "  - ", text)?;
    }
    wrapped_after(out, "  - ", ONLY_DELETABLE)
}

const ONLY_DELETABLE: &str = "deletable is not deleted: what can keep a pass from running or a \
                              document in its place is listed by `ttlspec explain --checks`";
