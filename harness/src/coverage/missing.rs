//! What does a rule still lack?

use std::path::Path;

use ttlspec_model::Rule;

use super::{Coverage, Demand, Row};
use crate::mutants::{Fate, Mutant};

/// A rule that is not cited in the module of its chapter.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere {
    /// The rule.
    pub rule: Rule,
    /// The module that cites it.
    pub module: &'static str,
    /// Why it is decided there.
    pub why: &'static str,
}

const fn elsewhere(rule: Rule, module: &'static str, why: &'static str) -> Elsewhere {
    Elsewhere { rule, module, why }
}

/// The rules that another chapter's module decides, where their subject comes up.
pub const ELSEWHERE: &[Elsewhere] = &[
    elsewhere(Rule::MongodbLifeClock, "pass", "a pass is what reads the clock"),
    elsewhere(
        Rule::MongodbIndexCollectionSeconds,
        "command",
        "`create` makes no index, and nothing is left of it but this refusal",
    ),
    elsewhere(
        Rule::MongodbFilterObject,
        "index",
        "it is a test of a field's type, which stand in one place in the order of the fields",
    ),
    elsewhere(Rule::MongodbChangeWrite, "visibility", "a write is decided with all other writes"),
    elsewhere(
        Rule::MongodbNanRefused,
        "index",
        "it is one of the tests of createIndexes, which stand in one place in the server's order",
    ),
    elsewhere(Rule::MongodbNanStoredAsMax, "index", "createIndexes stores its value there"),
    elsewhere(Rule::MongodbNanKept, "index", "createIndexes stores its value there"),
    elsewhere(Rule::MongodbNanCollMod, "change", "collMod converts its number there"),
    elsewhere(
        Rule::MongodbNanMaxIsNotNever,
        "pass",
        "only a visit shows that this value is used like any other",
    ),
    elsewhere(Rule::MongodbMonitorNotReady, "command", "an index becomes ready by a command"),
    elsewhere(Rule::MongodbMonitorClockVisit, "visit", "a visit is what reads the clock"),
    elsewhere(Rule::MongodbMonitorClockPass, "visit", "a visit is what uses the clock of its pass"),
    elsewhere(Rule::MongodbMonitorSubPasses, "visit", "it is counted where a sub-pass ends"),
    elsewhere(Rule::MongodbMonitorDeleted, "visit", "it is counted where a visit ends"),
    elsewhere(Rule::MongodbMonitorInvalidSkips, "visit", "it is counted where a visit begins"),
    elsewhere(Rule::MongodbReplicationPrimaryOnly, "visit", "it is one of the guards of a visit"),
    elsewhere(Rule::MongodbReplicationLocal, "visit", "it is one of the guards of a visit"),
    elsewhere(Rule::MongodbReplicationWriteRefused, "machine", WHO_IS_TOLD),
    elsewhere(Rule::MongodbReplicationRecovering, "machine", WHO_IS_TOLD),
    elsewhere(Rule::MongodbReplicationStaleRead, "machine", WHO_IS_TOLD),
    elsewhere(Rule::MongodbUpgradeRename, "command", "it is a command on a collection"),
    elsewhere(Rule::MongodbUpgradeDown, "machine", WHO_IS_TOLD),
    elsewhere(Rule::MongodbUpgradeFcvNan, "machine", WHO_IS_TOLD),
    elsewhere(Rule::MongodbUpgradeApply, "replication", "it is met where an entry is taken over"),
    elsewhere(Rule::MongodbShardStale, "visit", "it is one of the guards of a visit"),
    elsewhere(Rule::MongodbShardResharding, "visit", "it is one of the guards of a visit"),
];

const WHO_IS_TOLD: &str = "it is decided with who is told an operation";

impl Coverage {
    /// What the rules still lack: a sentence each, in the order of the book.
    pub fn missing(&self) -> Vec<String> {
        self.rows.iter().flat_map(|row| self.missing_of(row)).collect()
    }

    fn missing_of(&self, row: &Row) -> Vec<String> {
        let rule = row.rule;
        let mut missing = Vec::new();
        if rule.sentence().is_empty() {
            missing.push(format!("`{rule}` has no sentence in specs/{}.md", rule.chapter()));
        }
        if row.demand == Demand::NotModelled {
            missing.extend(missing_reason(rule));
            if let Some(citation) = row.citations.first() {
                let (file, line) = (&citation.file, citation.line);
                missing.push(format!("`{rule}` is not modelled, yet {file}:{line} cites it"));
            }
            return missing;
        }
        let module = module(rule);
        let in_module = row.citations.iter().any(|citation| citation.file == module);
        if !in_module {
            missing.push(format!("`{rule}` is not cited in model/src/{module}"));
        }
        if row.lines == 0 {
            missing.push(format!("`{rule}` has no line of a vector that rests on it"));
        }
        if row.hits == 0 {
            missing.push(format!("`{rule}` is not reached by {} random steps", self.steps));
        }
        if Mutant::of(rule).is_empty() {
            missing.push(format!("`{rule}` has no mutant that breaks it"));
        } else if self.dead_of(rule).next().is_none() {
            missing.push(format!("`{rule}` has no mutant that anything finds"));
        }
        missing
    }

    /// The mutants of a rule that are found.
    pub(super) fn dead_of(&self, rule: Rule) -> impl Iterator<Item = &Mutant> {
        let dead = self.mutants.iter().filter(|(_, fate)| matches!(fate, Fate::Killed(_)));
        dead.map(|(mutant, _)| mutant).filter(move |mutant| mutant.rule == rule)
    }
}

/// The module that should cite a rule: that of its chapter, unless it is decided elsewhere.
fn module(rule: Rule) -> String {
    let (system, chapter) = rule.chapter().split_once('/').unwrap_or(("", rule.chapter()));
    let stem = chapter.split_once('-').map_or(chapter, |(_, stem)| stem);
    let elsewhere = ELSEWHERE.iter().find(|elsewhere| elsewhere.rule == rule);
    format!("{system}/{}.rs", elsewhere.map_or(stem, |elsewhere| elsewhere.module))
}

/// A rule that is not modelled says why, behind its mark.
fn missing_reason(rule: Rule) -> Option<String> {
    let reason = rule.text().split("*Not modelled.*").nth(1).unwrap_or_default();
    let reason = reason.split("\n\n").next().unwrap_or_default().trim();
    reason.is_empty().then(|| format!("`{rule}` is not modelled, and does not say why"))
}

/// What is wrong with the headings of the book, which should be the rules in their order: a
/// sentence each.
///
/// # Errors
/// Where a chapter cannot be read.
pub fn book(specs: &Path) -> std::io::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut chapters: Vec<&str> = Rule::ALL.iter().map(|rule| rule.chapter()).collect();
    chapters.dedup();
    for chapter in chapters {
        let text = std::fs::read_to_string(specs.join(format!("{chapter}.md")))?;
        let headings: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("### ")).map(str::trim).collect();
        let rules: Vec<&str> = (Rule::ALL.iter().filter(|rule| rule.chapter() == chapter))
            .map(|rule| rule.name())
            .collect();
        for rule in rules.iter().filter(|rule| !headings.contains(rule)) {
            wrong.push(format!("`{rule}` has no heading in specs/{chapter}.md"));
        }
        for heading in headings.iter().filter(|heading| !rules.contains(heading)) {
            wrong.push(format!("specs/{chapter}.md states `{heading}`, which is no rule of it"));
        }
        let difference = headings.iter().zip(&rules).find(|(heading, rule)| heading != rule);
        if let (true, Some((heading, rule))) = (headings.len() == rules.len(), difference) {
            wrong
                .push(format!("specs/{chapter}.md states `{heading}` where `{rule}` should stand"));
        }
    }
    Ok(wrong)
}
