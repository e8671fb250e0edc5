//! How is it written down?

use std::fmt::Write;

use super::{Coverage, Demand, Planted, Row};
use crate::mutants::{Fate, Seen};

const RULES: &str = "\
*decided*: where the model cites the rule. *vectors*: lines that rest on it by name. *steps*: how
often the random steps cite it. *worlds*: where every state is checked for it as a law.
*properties*: in the cases of how many properties it is cited. *mutants*: how many engines that
break it are found out.";
const RULES_HEAD: &str = "\
| rule | level | decided | vectors | steps | worlds | properties | mutants |
|---|---|---|---:|---:|---|---:|---:|";
const MUTANTS: &str = "\
Each is the specification with one mistake. *seen*: where somebody made it in earnest. *steps*: how
many lead to the difference.";
const MUTANTS_HEAD: &str = "\
| rule | mutant | seen | found by | steps |
|---|---|---|---|---:|";
const CATALOGUE: &str = "\
The entries of the catalogue that the book was written from, and the rules that carry them.";
const CATALOGUE_HEAD: &str = "\
| entry | rules |
|---|---|";

impl Coverage {
    /// `specs/COVERAGE.md`.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.head(&mut out).and_then(|()| self.rules(&mut out)).expect("a string takes any text");
        self.dead(&mut out).and_then(|()| self.entries(&mut out)).expect("a string takes any text");
        out
    }

    fn head(&self, out: &mut String) -> std::fmt::Result {
        let decided = self.rows.iter().filter(|row| row.demand != Demand::NotModelled).count();
        let carrying: usize = self.rows.iter().map(|row| row.lines).sum();
        let is_dead = |mutant: &&Planted| matches!(mutant.fate, Fate::Killed(_));
        let dead = self.mutants.iter().filter(is_dead).count();
        let (rules, mutants, entries) = (self.rows.len(), self.mutants.len(), self.catalogue.len());
        let stated = rules - decided;
        let tickets = self.tickets();
        let (count, tickets) = (tickets.len(), tickets.join(", "));
        let Coverage { vectors, lines, steps, .. } = self;
        writeln!(out, "# What holds each rule\n")?;
        writeln!(out, "Written by `ttlspec coverage`; CI compares. Do not edit.\n")?;
        writeln!(out, "- {rules} rules: {decided} decided by the model, {stated} stated only")?;
        writeln!(
            out,
            "- {vectors} vectors with {lines} lines, which name a rule {carrying} times"
        )?;
        writeln!(out, "- {steps} random steps of the specification")?;
        writeln!(out, "- {mutants} mutants, of which {dead} die")?;
        writeln!(out, "- {count} tickets of the server, replanted by mutants: {tickets}")?;
        writeln!(out, "- {entries} entries of the catalogue, each carried by a rule\n")
    }

    /// The tickets of the server that the mutants replant, each once, in order.
    pub fn tickets(&self) -> Vec<&'static str> {
        let seen = self.mutants.iter().filter_map(|mutant| mutant.seen);
        let mut tickets: Vec<&str> = seen.filter(Seen::is_ticket).map(|seen| seen.at).collect();
        tickets.sort_by_key(|ticket| (ticket.len(), *ticket));
        tickets.dedup();
        tickets
    }

    fn rules(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "## Rules\n\n{RULES}")?;
        let mut chapter = "";
        for row in &self.rows {
            if row.rule.chapter() != chapter {
                chapter = row.rule.chapter();
                writeln!(out, "\n### {chapter}\n")?;
                writeln!(out, "{RULES_HEAD}")?;
            }
            self.rule(out, row)?;
        }
        writeln!(out)
    }

    fn rule(&self, out: &mut String, row: &Row) -> std::fmt::Result {
        let (rule, chapter) = (row.rule, row.rule.chapter());
        let anchor: String = rule.name().chars().filter(|c| *c != '.').collect();
        let level = match row.demand {
            Demand::Must => "MUST",
            Demand::May => "MAY",
            Demand::NotModelled => "not modelled",
        };
        let dead = self.dead_of(rule).count();
        write!(out, "| [{rule}]({chapter}.md#{anchor}) | {level} | {} ", places(row))?;
        let worlds = row.worlds.join(", ");
        let Row { lines, hits, properties, .. } = row;
        writeln!(out, "| {lines} | {hits} | {worlds} | {properties} | {dead} |")
    }

    fn dead(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "## Mutants\n\n{MUTANTS}\n\n{MUTANTS_HEAD}")?;
        for mutant in &self.mutants {
            let seen = mutant.seen.map_or("", |seen| seen.at);
            let (by, steps) = match &mutant.fate {
                Fate::Killed(killed) => (cell(&killed.by.to_string()), killed.steps),
                Fate::Survived { .. } => ("**nothing**".to_owned(), 0),
            };
            writeln!(out, "| {} | {} | {seen} | {by} | {steps} |", mutant.rule, cell(mutant.name))?;
        }
        writeln!(out)
    }

    fn entries(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "## Catalogue\n\n{CATALOGUE}\n\n{CATALOGUE_HEAD}")?;
        for (id, rules) in &self.catalogue {
            let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
            writeln!(out, "| {id} | {} |", names.join(", "))?;
        }
        Ok(())
    }
}

/// The places, each file once.
fn places(row: &Row) -> String {
    let mut out = String::new();
    let mut file = "";
    for citation in &row.citations {
        let line = citation.line;
        let separator = if out.is_empty() { "" } else { ", " };
        if citation.file == file {
            out.push_str(&format!("{separator}{line}"));
        } else {
            file = &citation.file;
            let short = file.rsplit('/').next().unwrap_or(file);
            out.push_str(&format!("{separator}{short}:{line}"));
        }
    }
    out
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
