//! What does a rule still lack?

use std::path::Path;

use ttlspec_model::Rule;

use super::{Coverage, Demand, Planted, Row};
use crate::mutants::Fate;

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

impl Elsewhere {
    pub(super) const fn new(rule: Rule, module: &'static str, why: &'static str) -> Elsewhere {
        Elsewhere { rule, module, why }
    }
}

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
        let module = self.module(rule);
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
        if !self.mutants.iter().any(|mutant| mutant.rule == rule) {
            missing.push(format!("`{rule}` has no mutant that breaks it"));
        } else if self.dead_of(rule).next().is_none() {
            missing.push(format!("`{rule}` has no mutant that anything finds"));
        }
        missing
    }

    /// The mutants of a rule that are found.
    pub(super) fn dead_of(&self, rule: Rule) -> impl Iterator<Item = &Planted> {
        let dead = self.mutants.iter().filter(|mutant| matches!(mutant.fate, Fate::Killed(_)));
        dead.filter(move |mutant| mutant.rule == rule)
    }

    /// The module that should cite a rule: that of its chapter, unless it is decided elsewhere.
    fn module(&self, rule: Rule) -> String {
        let (system, stem) = system_and_stem(rule);
        let elsewhere = self.elsewhere.iter().find(|elsewhere| elsewhere.rule == rule);
        format!("{system}/{}.rs", elsewhere.map_or(stem, |elsewhere| elsewhere.module))
    }
}

/// The system that a rule is of, and the stem of its chapter: `mongodb` and `threshold`.
pub fn system_and_stem(rule: Rule) -> (&'static str, &'static str) {
    let (system, chapter) = rule.chapter().split_once('/').unwrap_or(("", rule.chapter()));
    (system, chapter.split_once('-').map_or(chapter, |(_, stem)| stem))
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
