//! `ttlspec replay` of recordings: what a real server was seen to do, against the specification and
//! the engine.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use ttlspec_harness::recording::{self, Disagreement, Open, Tally};

use crate::{CLEAN, FINDING, say};

/// An engine with its name.
pub type Named<'a> = (&'a str, &'a Open<'a>);

/// Is this a recording, and no file of vectors?
pub fn is_recording(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
}

/// Plays recordings. `every` takes only every so-manieth history.
pub fn run(paths: &[PathBuf], engines: &[Named<'_>], every: usize, is_json: bool) -> Result<u8> {
    let mut files = Vec::new();
    let mut first: Option<Disagreement> = None;
    for path in paths {
        let mut tallies: Vec<Tally> = engines.iter().map(|_| Tally::default()).collect();
        let mut read = 0;
        for (number, history) in recording::open(path)?.enumerate() {
            let history = history?;
            read += 1;
            if number % every != 0 {
                continue;
            }
            for ((_, open), tally) in engines.iter().zip(&mut tallies) {
                let disagreement = recording::play(&history, open, tally);
                first = first.or(disagreement);
            }
        }
        let path = path.display().to_string();
        if read == 0 {
            bail!(
                "{path}: holds no history; give a recording, a file of JSON lines, gzip or plain"
            );
        }
        files.extend(
            engines.iter().zip(tallies).map(|((name, _), tally)| (path.clone(), *name, tally)),
        );
    }
    let is_clean = files.iter().all(|(_, _, tally)| tally.observations().1 == 0);
    if is_json {
        let all: Vec<Value> =
            files.iter().map(|(path, engine, tally)| tally.to_json(path, engine)).collect();
        let first = first.as_ref().map(Disagreement::to_json);
        say(serde_json::to_string_pretty(&json!({ "files": all, "first_disagreement": first }))?)?;
    } else {
        say(table(&files))?;
        for (path, engine, tally) in &files {
            for (reason, count) in &tally.skipped {
                say(format_args!("{path}, {engine}: {count} skipped: {reason}"))?;
            }
        }
        if let Some(first) = &first {
            say(text(first))?;
        }
    }
    Ok(if is_clean { CLEAN } else { FINDING })
}

fn table(files: &[(String, &str, Tally)]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "recording",
        "engine",
        "histories",
        "what was looked at",
        "agree",
        "disagree",
    ]);
    for (path, engine, tally) in files {
        let mut given = String::new();
        if tally.given > 0 {
            given = format!("\n{} given", tally.given);
        }
        let histories = format!("{}{given}", tally.histories);
        let kinds: Vec<&str> = tally.by_kind.keys().copied().collect();
        let column = |of: fn(&(u64, u64)) -> u64| {
            let all = tally.by_kind.values().map(|counts| of(counts).to_string());
            all.collect::<Vec<_>>().join("\n")
        };
        let (agree, disagree) = (column(|counts| counts.0), column(|counts| counts.1));
        let name = path.rsplit('/').next().unwrap_or(path);
        table.add_row([name, engine, &histories, &kinds.join("\n"), &agree, &disagree]);
    }
    table
}

/// A disagreement for people.
fn text(first: &Disagreement) -> String {
    let mut text = format!(
        "\nfirst disagreement: {} of history {} after step {}\n  the server showed: {}\n  here:              {}\n",
        first.kind, first.id, first.step, first.expected, first.seen
    );
    text.push_str("  steps that it needs:\n");
    for step in &first.history {
        let done = step["do"].as_str().map_or_else(|| step["do"].to_string(), str::to_owned);
        text.push_str(&format!("    t={} {done}\n", step["at"]));
    }
    text
}
