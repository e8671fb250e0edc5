//! How is it told to people? A table over time, a table of indexes, and what it means.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::ages::Ages;
use crate::outcome::{Column, OfIndex, Oplog, Outcome};
use crate::run::COLUMNS_IN_ROW;
use crate::script::Script;
use crate::units::{bytes, count, exact, shown, within};

/// Writes all that is to be read.
///
/// # Errors
/// What writing fails with.
pub fn write(script: &Script, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    head(script, outcome, out)?;
    writeln!(out, "\n{}", timeline(outcome))?;
    if !outcome.indexes.is_empty() {
        writeln!(out, "\n{}", indexes(outcome))?;
    }
    if !outcome.partitions.is_empty() {
        writeln!(out, "\n{}", partitions(outcome))?;
    }
    tail(outcome, out)?;
    writeln!(out)?;
    for sentence in meaning(outcome) {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

fn head(script: &Script, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let (start_ms, end_ms) = outcome.span_ms;
    let profile = script.version.profile().name;
    let members = match script.members {
        1 => "a server alone".to_owned(),
        members => format!("a replica set of {members}"),
    };
    writeln!(out, "server    {} (behaves as profile {profile}), {members}", script.version)?;
    for note in &script.notes {
        writeln!(out, "          {note}")?;
    }
    writeln!(out, "played    {}", exact(end_ms - start_ms))?;
    let refused = match outcome.refused {
        0 => String::new(),
        refused => format!(", {} were refused as there was no primary", count(refused)),
    };
    let there = match outcome.there {
        0 => String::new(),
        there => format!("{} were there, ", count(there)),
    };
    writeln!(out, "documents {there}{} came{refused}", count(outcome.inserted))?;
    for (at_ms, what) in outcome.marks.iter().take(MOST_MARKS) {
        writeln!(out, "at {:>8} {what}", exact(at_ms - start_ms))?;
    }
    if let more @ 1.. = outcome.marks.len().saturating_sub(MOST_MARKS) {
        writeln!(out, "          and {} more things were done", count(more as u64))?;
    }
    Ok(())
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header.iter().copied());
    table
}

fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// So much of what was done is told.
const MOST_MARKS: usize = 40;
/// The timeline has columns for so many indexes.
const MOST_BACKLOGS: usize = 4;

/// A row of the timeline: some columns together.
pub(crate) fn rows(outcome: &Outcome) -> Vec<Column> {
    let together = |columns: &[Column]| {
        let mut row = columns[0].clone();
        for column in &columns[1..] {
            row.inserted += column.inserted;
            row.deleted += column.deleted;
            row.dropped += column.dropped;
            row.passes += column.passes;
            row.most = row.most.max(column.most);
            row.entries += column.entries;
            row.bytes += column.bytes;
            row.lag_ms = row.lag_ms.max(column.lag_ms);
            for (mine, its) in row.backlog.iter_mut().zip(&column.backlog) {
                *mine = (mine.0.min(its.0), mine.1.max(its.1));
            }
        }
        row
    };
    outcome.columns.chunks(COLUMNS_IN_ROW as usize).map(together).collect()
}

fn timeline(outcome: &Outcome) -> Table {
    let has_oplog = outcome.oplog.is_some();
    let has_drops = !outcome.partitions.is_empty();
    let mut header = vec!["from", "came", "deleted", "passes", "most in a pass"];
    header.extend(has_drops.then_some("dropped"));
    header.extend(has_oplog.then_some("oplog entries"));
    header.extend(has_oplog.then_some("bytes"));
    header.extend(outcome.lag.map(|_| "lag at most"));
    let names: Vec<String> = outcome
        .indexes
        .iter()
        .map(|index| format!("{}:\nexpired and there", index.name()))
        .collect();
    header.extend(names.iter().take(MOST_BACKLOGS).map(String::as_str));
    let mut table = table(&header);
    let rows = rows(outcome);
    let mut is_left_out = false;
    for (at, row) in rows.iter().enumerate() {
        // Rows that say the same as those around them are told once.
        let is_same = |a: &Column, b: &Column| {
            Column { from_ms: 0, ..a.clone() } == Column { from_ms: 0, ..b.clone() }
        };
        let before = at.checked_sub(1).and_then(|before| rows.get(before));
        let after = rows.get(at + 1);
        if before
            .zip(after)
            .is_some_and(|(before, after)| is_same(before, row) && is_same(row, after))
        {
            if !is_left_out {
                table.add_row(["⋮"]);
            }
            is_left_out = true;
            continue;
        }
        is_left_out = false;
        let mut cells = vec![
            right(from(outcome, row)),
            right(count(row.inserted)),
            right(count(row.deleted)),
            right(count(row.passes)),
            right(count(row.most)),
        ];
        cells.extend(has_drops.then(|| right(count(row.dropped))));
        cells.extend(has_oplog.then(|| right(count(row.entries))));
        cells.extend(has_oplog.then(|| right(bytes(row.bytes))));
        cells.extend(outcome.lag.map(|_| right(within(row.lag_ms))));
        let there = |(least, most): &(u64, u64)| format!("{} … {}", count(*least), count(*most));
        cells.extend(row.backlog.iter().take(MOST_BACKLOGS).map(|backlog| right(there(backlog))));
        table.add_row(cells);
    }
    table
}

fn from(outcome: &Outcome, row: &Column) -> String {
    match row.from_ms - outcome.span_ms.0 {
        0 => "0".to_owned(),
        since => shown(since),
    }
}

/// How late documents were deleted: the ends to the millisecond, what lies between rounded up.
fn lateness(ages: &Ages) -> [Cell; 4] {
    let ends = ages.ends();
    let cell = |told: Option<String>| right(told.unwrap_or("–".to_owned()));
    [
        cell(ends.map(|(least, _)| exact(least))),
        cell(ages.percentile(50).map(within)),
        cell(ages.percentile(99).map(within)),
        cell(ends.map(|(_, most)| exact(most))),
    ]
}

fn indexes(outcome: &Outcome) -> Table {
    let header = [
        "index",
        "lives",
        "deleted",
        "left",
        "not due",
        "peak",
        "late: least",
        "median",
        "99 %",
        "most",
    ];
    let mut table = table(&header);
    for index in &outcome.indexes {
        let lives = match index.lifetime_ms {
            None => "–".to_owned(),
            Some(0) => "0 s".to_owned(),
            Some(millis) => exact(millis),
        };
        let mut cells = vec![
            Cell::new(index.name()),
            right(lives),
            right(count(index.deleted)),
            right(count(index.left)),
            right(count(index.not_due)),
            right(count(index.peak)),
        ];
        cells.extend(lateness(&index.ages));
        table.add_row(cells);
    }
    table
}

fn partitions(outcome: &Outcome) -> Table {
    let header =
        ["cut by time", "parts", "documents", "there", "late: least", "median", "99 %", "most"];
    let mut table = table(&header);
    for part in &outcome.partitions {
        let mut cells = vec![
            Cell::new(&part.collection),
            right(count(part.parts)),
            right(count(part.documents)),
            right(count(part.there)),
        ];
        cells.extend(lateness(&part.ages));
        table.add_row(cells);
    }
    table
}

fn tail(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let start_ms = outcome.span_ms.0;
    let passes = &outcome.passes;
    writeln!(
        out,
        "\npasses    {} of primaries, {} visits, {} sub-passes; the longest took {}, the largest \
         deleted {}",
        count(passes.many),
        count(passes.visits),
        count(passes.sub_passes),
        within(passes.longest_ms),
        count(passes.most)
    )?;
    for counted in &outcome.counters {
        let counters = counted.counters;
        let mut said = vec![
            format!("passes {}", count(counters.passes)),
            format!("deletedDocuments {}", count(counters.deleted_documents)),
        ];
        said.extend(counters.sub_passes.map(|many| format!("subPasses {}", count(many))));
        said.extend(
            counters.invalid_skips.map(|many| format!("invalidTTLIndexSkips {}", count(many))),
        );
        let at = exact(counted.at_ms - start_ms);
        writeln!(out, "counters  at {at}, member {}: {}", counted.member, said.join(", "))?;
    }
    if let Some(oplog) = &outcome.oplog {
        let inserts = match oplog.insert_bytes {
            Some(insert_bytes) => format!(" ({})", bytes(insert_bytes)),
            None => String::new(),
        };
        write!(
            out,
            "oplog     {} entries of documents that came{inserts}, {} of deletions ({})",
            count(oplog.inserts),
            count(oplog.deletes),
            bytes(oplog.delete_bytes)
        )?;
        match oplog.drops {
            0 => writeln!(out)?,
            drops => writeln!(out, ", {} of drops ({})", count(drops), bytes(oplog.drop_bytes))?,
        }
    }
    if let Some(lag) = &outcome.lag {
        write!(out, "secondary applies {} operations a second; ", count(lag.per_second))?;
        match lag.peak_ms {
            0 => writeln!(out, "it was never a millisecond behind")?,
            peak_ms => writeln!(
                out,
                "it was {} behind at most, at {}, and {} at the end",
                within(peak_ms),
                shown(lag.at_ms - start_ms),
                within(lag.end_ms)
            )?,
        }
    }
    Ok(())
}

// ---- what it means -----------------------------------------------------------------------------

/// By how many documents a second does a backlog grow, in thousandths, towards the end? The least
/// of each quarter counts, so that what a pass leaves is compared and not what it finds.
pub fn growth(outcome: &Outcome, index: usize) -> i128 {
    let quarter = outcome.columns.len() / 4;
    if quarter == 0 {
        return 0;
    }
    let least = |columns: &[Column]| {
        columns.iter().map(|column| column.backlog[index].0).min().unwrap_or_default()
    };
    let columns = &outcome.columns[outcome.columns.len() - 2 * quarter..];
    let (before, last) = (least(&columns[..quarter]), least(&columns[quarter..]));
    // What comes and goes with the phase of passes is no growth.
    if before.abs_diff(last) * 20 < outcome.indexes[index].peak {
        return 0;
    }
    let span_ms = i128::from(outcome.column_ms) * quarter as i128;
    (i128::from(last) - i128::from(before)) * 1_000_000 / span_ms
}

/// What the numbers say, in sentences.
pub fn meaning(outcome: &Outcome) -> Vec<String> {
    let mut sentences = Vec::new();
    for (at, index) in outcome.indexes.iter().enumerate() {
        sentences.push(of_index(outcome, at, index));
        if let Some((least, _)) = index.ages.ends()
            && least < 0
        {
            sentences.push(format!(
                "By {} documents were deleted up to {} before their time: the clock of a primary \
                 was ahead.",
                index.name(),
                within(-least)
            ));
        }
    }
    for part in &outcome.partitions {
        sentences.push(format!(
            "{}: {} documents went with {} parts, each in one operation, up to {} after their time.",
            part.collection,
            count(part.documents),
            count(part.parts),
            part.ages.ends().map_or("0 ms".to_owned(), |(_, most)| within(most))
        ));
    }
    let longest_ms = outcome.passes.longest_ms;
    if longest_ms > KEEPS_UP_MS && outcome.indexes.len() > 1 {
        let how = match outcome.passes.sub_passes {
            0 => "one index after the other, so what became due elsewhere meanwhile had to wait",
            _ => "in rounds, so that each index had its turn",
        };
        sentences.push(format!("The longest pass took {}, {how}.", within(longest_ms)));
    }
    let going_on = outcome.passes.going_on_since.map(|since| outcome.span_ms.1 - since);
    if let Some(long) = going_on.filter(|long| *long > KEEPS_UP_MS) {
        sentences.push(format!(
            "One pass has been going on for {}: `passes` stands still while `deletedDocuments` grows.",
            shown(long)
        ));
    }
    if let Some(lag) = &outcome.lag {
        sentences.push(of_lag(lag.peak_ms, lag.end_ms));
    }
    if let Some(oplog) = &outcome.oplog {
        sentences.extend(of_oplog(outcome, oplog));
    }
    sentences
}

fn of_index(outcome: &Outcome, at: usize, index: &OfIndex) -> String {
    let name = index.name();
    let growth = growth(outcome, at);
    let rate = |thousandths: i128| match thousandths.abs() {
        small if small < 10_000 => format!("{}.{}", small / 1_000, small % 1_000 / 100),
        large => count((large + 500) / 1_000),
    };
    if index.lifetime_ms.is_none() && index.left == 0 {
        let there = if index.deleted == 0 { "" } else { " at the end" };
        return format!("{name}: it is not there or cannot be used{there}.");
    }
    if growth >= 100 && index.left > 0 {
        return format!(
            "{name}: the backlog grows by {} documents a second: the monitor cannot keep up.",
            rate(growth)
        );
    }
    let least = outcome.columns.last().map_or(0, |column| column.backlog[at].0);
    if growth <= -100 && least > index.peak / 20 {
        let left_ms = i128::from(index.left) * 1_000_000 / -growth;
        return format!(
            "{name}: the backlog falls by {} documents a second: in about {} it is gone.",
            rate(growth),
            shown(i64::try_from(left_ms).unwrap_or(i64::MAX))
        );
    }
    let Some((_, most)) = index.ages.ends() else {
        return format!("{name}: nothing was due for deletion and deleted.");
    };
    let percentile = |hundredths| index.ages.percentile(hundredths).unwrap_or(most);
    let keeps_up =
        if most <= KEEPS_UP_MS { "the monitor keeps up" } else { "the backlog does not grow" };
    format!(
        "{name}: {keeps_up}: half of the documents go within {} of their time, 99 of 100 within {}, \
         all within {}.",
        within(percentile(50)),
        within(percentile(99)),
        within(most)
    )
}

/// Whose documents all go so soon after their time keeps up by any measure.
const KEEPS_UP_MS: i64 = 5 * 60_000;

fn of_lag(peak_ms: i64, end_ms: i64) -> String {
    match (peak_ms, end_ms) {
        (0..1_000, _) => "The secondary follows within a second.".to_owned(),
        (_, end_ms) if end_ms * 10 >= peak_ms * 9 => {
            format!("The secondary cannot follow: at the end it is {} behind.", within(end_ms))
        }
        _ => format!("The secondary falls behind by up to {}, and catches up.", within(peak_ms)),
    }
}

fn of_oplog(outcome: &Outcome, oplog: &Oplog) -> Option<String> {
    let holds = u128::from(oplog.holds?);
    let Some(inserts) = oplog.insert_bytes else {
        return Some(
            "How long the oplog reaches cannot be said: give `document_bytes` of each collection."
                .to_owned(),
        );
    };
    let span_ms = (outcome.span_ms.1 - outcome.span_ms.0) as u128;
    let all = inserts + oplog.delete_bytes + oplog.drop_bytes;
    let reach = |bytes: u128, span_ms: u128| {
        let millis = (holds * span_ms).checked_div(bytes)?;
        Some(shown(i64::try_from(millis).unwrap_or(i64::MAX)))
    };
    let mean = reach(all, span_ms)?;
    let without = reach(inserts, span_ms).unwrap_or("any time".to_owned());
    Some(format!(
        "An oplog of {} reaches back {mean} at the mean rate; without the deletions it would be \
         {without}.",
        bytes(holds)
    ))
}
