//! The report for people: the first screen says what matters.

use std::io::{self, Write};

use bson::Bson;
use comfy_table::{Cell, CellAlignment, Table, presets};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::life::Verdict;

use crate::checks::{self, Check, seen_in_words};
use crate::instant;
use crate::near_miss::{documents, of_index, shown};
use crate::report::{NOT_IN_A_DUMP, Report, RulingOn};
use crate::survey::Survey;

/// Writes the report with all rulings that are asked for. Answers the `_id`s that were not found.
///
/// # Errors
/// What writing fails with.
pub fn write(report: &Report, notes: &[String], out: &mut dyn Write) -> io::Result<Vec<String>> {
    head(report, out)?;
    indexes(report, out)?;
    never(report, out)?;
    remarks(report, notes, out)?;
    let mut known: Vec<Rule> = Vec::new();
    let mut is_first = true;
    let mut with_checks = report.question.checks;
    let missing = report.rulings(&mut |ruling| {
        if is_first {
            writeln!(out, "\nrulings")?;
            is_first = false;
        }
        with_checks |= matches!(ruling.verdict, Verdict::Expired(..));
        one(report, ruling, &mut known, out)
    })?;
    if with_checks {
        checks(report, out)?;
    }
    for id in &missing {
        writeln!(out, "\nno document with _id {id}{}", those_there(report))?;
    }
    Ok(missing)
}

fn those_there(report: &Report) -> String {
    let ids = report.surveys.iter().flat_map(|(_, survey)| &survey.first_ids);
    let ids: Vec<String> = ids.take(3).map(shown).collect();
    if ids.is_empty() { String::new() } else { format!("; there are {}, …", ids.join(", ")) }
}

fn head(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let standing = &report.question.standing;
    let (server, profile) = (standing.server, standing.server.profile().name);
    writeln!(out, "server  {server} (behaves as profile {profile})")?;
    writeln!(out, "at      {} ({} ms)", instant::shown(standing.at.0), standing.at.0)?;
    writeln!(out, "data    {}, from {}", standing.via.name(), standing.from)
}

fn indexes(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.surveys.is_empty() {
        return writeln!(out, "\nno TTL index to rule on");
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let columns = ["collection", "index", "seconds", "documents", "expired", "pending", "never"];
    table.set_header(columns.into_iter().chain(["next"]));
    for (_, survey) in &report.surveys {
        for (ttl, tally) in survey.arrived.ttl.iter().zip(&survey.tallies) {
            let right = |count: u64| Cell::new(count).set_alignment(CellAlignment::Right);
            let next: Vec<String> = (tally.next.iter().take(report.question.next))
                .map(|(at, count)| format!("{} ×{count}", instant::shown(*at)))
                .collect();
            let mut seconds = shown(&ttl.seconds());
            if let Some(stored) = ttl.stored_seconds().map(shown)
                && stored != seconds
            {
                seconds = format!("{seconds} → {stored}");
            }
            table.add_row(vec![
                Cell::new(&survey.namespace),
                Cell::new(ttl.name()),
                Cell::new(seconds).set_alignment(CellAlignment::Right),
                right(survey.documents),
                right(tally.expired),
                right(tally.pending),
                right(tally.never),
                Cell::new(if next.is_empty() { "–".to_owned() } else { next.join("\n") }),
            ]);
        }
    }
    writeln!(out, "\n{table}")
}

fn never(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for (_, survey) in &report.surveys {
        for (ttl, tally) in survey.arrived.ttl.iter().zip(&survey.tallies) {
            if tally.never_by_rule.is_empty() {
                continue;
            }
            if is_first {
                writeln!(out, "\nnever, by reason")?;
                is_first = false;
            }
            writeln!(out, "  {} {}", survey.namespace, ttl.name())?;
            for (rule, count) in &tally.never_by_rule {
                writeln!(out, "    {count:>8}  {}", rule.name())?;
                if !rule.sentence().is_empty() {
                    wrapped(out, 14, &rule.sentence())?;
                }
            }
        }
    }
    Ok(())
}

fn remarks(report: &Report, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nnotes")?;
    for (_, survey) in &report.surveys {
        for (nth, ttl) in survey.arrived.ttl.iter().enumerate() {
            for note in of_index(&report.question.standing, survey, nth) {
                let about = format!("{} {}", survey.namespace, ttl.name());
                remark(out, &about, note.rule.name(), &note.text)?;
            }
        }
        broken_off(survey, out)?;
    }
    for (namespace, note) in &report.notes {
        remark(out, namespace, note.rule.name(), &note.text)?;
    }
    for skipped in &report.skipped {
        remark(out, &skipped.namespace, "skipped", &skipped.reason)?;
    }
    for text in notes {
        wrapped_after(out, "  - ", text)?;
    }
    wrapped_after(out, "  - ", NOT_IN_A_DUMP)
}

fn broken_off(survey: &Survey, out: &mut dyn Write) -> io::Result<()> {
    match &survey.fault {
        None => Ok(()),
        Some(fault) => {
            let count = documents(survey.documents);
            let text = format!("incomplete, {count} up to the fault: {fault}");
            wrapped_after(out, "  - ", &format!("{}: {text}", survey.namespace))
        }
    }
}

fn remark(out: &mut dyn Write, about: &str, rule: &str, text: &str) -> io::Result<()> {
    wrapped_after(out, "  - ", &format!("{about}: {text} [{rule}]"))
}

/// One ruling. The sentence of a rule is written where the rule is met for the first time.
fn one(
    report: &Report,
    ruling: &RulingOn<'_>,
    known: &mut Vec<Rule>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let now = report.question.standing.at.0;
    let (id, index) = (shown(&ruling.id), ruling.ttl.name());
    let verdict = match &ruling.verdict {
        Verdict::Never => "never".to_owned(),
        Verdict::Pending(at, _) => {
            let left = instant::span(at.0.saturating_sub(now));
            format!("pending: it expires at {}, in {left}", instant::shown(at.0))
        }
        Verdict::Expired(at, _) => {
            let age = instant::span(now.saturating_sub(at.0));
            format!("expired: deletable since {}, for {age}", instant::shown(at.0))
        }
    };
    writeln!(out, "\n  {} _id {id} under {index}: {verdict}", ruling.namespace)?;
    if let Some(blocked_by) = &ruling.decided.blocked_by {
        wrapped_after(out, "    blocked by  ", blocked_by)?;
    }
    let value = match &ruling.decided.value {
        Bson::DateTime(date) => instant::shown(date.timestamp_millis()),
        Bson::Null if ruling.decided.is_missing => "(nothing there)".to_owned(),
        other => shown(other),
    };
    wrapped_after(out, "    decided by  ", &format!("{} = {value}", ruling.decided.path))?;
    rules(&ruling.by, known, out)?;
    let flips = match &ruling.verdict {
        Verdict::Never => "never, as things are".to_owned(),
        Verdict::Pending(at, _) => format!("at {}", instant::shown(at.0)),
        Verdict::Expired(..) => "no more: expired stays expired".to_owned(),
    };
    writeln!(out, "    flips       {flips}")?;
    wrapped_after(out, "    what if     ", &ruling.would_expire_if)?;
    if let Some(stay) = &ruling.would_stay_if {
        wrapped_after(out, "                ", stay)?;
    }
    if let Some((first, at)) = ruling.earliest
        && first != index
    {
        let text = format!("{first} deletes it from {} on", instant::shown(at));
        wrapped_after(out, "    sooner      ", &text)?;
    }
    if matches!(ruling.verdict, Verdict::Expired(..)) {
        let text = "by the rules nothing keeps it; what still can is listed at the end";
        wrapped_after(out, "    still there ", text)?;
    }
    Ok(())
}

/// What can stand in the way of what has expired: what the dump shows, and what to ask the server.
fn checks(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let standing = &report.question.standing;
    writeln!(out, "\nexpired and still there: what can stand in the way")?;
    for (_, survey) in &report.surveys {
        for (nth, ttl) in survey.arrived.ttl.iter().enumerate() {
            writeln!(out, "\n  {} {}: the dump shows", survey.namespace, ttl.name())?;
            for seen in checks::seen(standing, survey, nth) {
                wrapped_after(out, "    - ", &seen_in_words(&seen))?;
            }
        }
        writeln!(out, "\n  {}: ask the server", survey.namespace)?;
        for nth in 0..survey.arrived.ttl.len() {
            for check in checks::of_index(standing, survey, nth) {
                one_check(&check, out)?;
            }
        }
        for check in checks::of_collection(standing.server, survey.kind, &survey.namespace) {
            one_check(&check, out)?;
        }
    }
    writeln!(out, "\n  of the server {} as a whole: ask it", standing.server)?;
    for check in checks::of_server(standing.server) {
        one_check(&check, out)?;
    }
    Ok(())
}

/// The command stands on one line, so that it can be copied.
fn one_check(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    wrapped_after(out, "    - ", &check.what)?;
    writeln!(out, "        {}", check.command)?;
    for answer in &check.answers {
        wrapped_after(out, "          ", answer)?;
    }
    Ok(())
}

/// The rules in their order. A rule that was not met yet stands on a line of its own, with its
/// sentence below; those that were stand together.
fn rules(by: &[Rule], known: &mut Vec<Rule>, out: &mut dyn Write) -> io::Result<()> {
    let mut label = "    rules       ";
    let mut together: Vec<&str> = Vec::new();
    for rule in by {
        if known.contains(rule) {
            together.push(rule.name());
            continue;
        }
        known.push(*rule);
        if !together.is_empty() {
            wrapped_after(out, label, &together.join(", "))?;
            label = "                ";
            together.clear();
        }
        writeln!(out, "{label}{}", rule.name())?;
        label = "                ";
        if !rule.sentence().is_empty() {
            wrapped(out, 18, &rule.sentence())?;
        }
    }
    if together.is_empty() { Ok(()) } else { wrapped_after(out, label, &together.join(", ")) }
}

// ---- lines of 100 columns ----------------------------------------------------------------------

const WIDTH: usize = 100;

pub(crate) fn wrapped(out: &mut dyn Write, indent: usize, text: &str) -> io::Result<()> {
    wrapped_after(out, &" ".repeat(indent), text)
}

pub(crate) fn wrapped_after(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    let indent = " ".repeat(label.chars().count());
    let mut line = label.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line.clone_from(&indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(out, "{line}")
}
