//! What breaks where a rule is broken?
//!
//! A mutant is an engine with one mistake: the specification, wrong in one breath. Whoever holds
//! engines against the book must find every one of them, or the rule it breaks is not being held.
//! The mutants stand in the file that bears the stem of their rule's chapter, in the order of the
//! rules; [`Mutant::of`] lists those of one rule.
//!
//! A mutant is written as what it does *instead*: of a whole step (`Wrong::Step`), of one
//! createIndexes or collMod, or of one part of a pass (`Sweep`).

mod bucket;
mod change;
mod clustered;
mod date;
mod filter;
mod index;
mod life;
mod monitor;
mod nan;
mod pass;
mod replication;
mod server;
mod shard;
mod sweep;
mod threshold;
mod turn;
mod upgrade;
mod visibility;
mod visit;

use bson::Document;
use ttlspec_model::mongodb::{Config, MongoDb, Op, Reply};
use ttlspec_model::{Engine, Millis, Rule, Unsupported};

use server::Server;
use sweep::Sweep;

/// The specification with one mistake.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// The mistake, in one breath.
    pub name: &'static str,
    /// The rule that it breaks.
    pub rule: Rule,
    /// Where the same mistake was made in earnest, if it was.
    pub seen: Option<Seen>,
    wrong: Wrong,
}

/// Where a mistake was made in earnest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// A ticket of the server, `SERVER-68477`, or the name of another implementation.
    pub at: &'static str,
    /// What happened there.
    pub was: &'static str,
}

impl Seen {
    /// Is it a ticket of the server?
    pub fn is_ticket(&self) -> bool {
        self.at.starts_with("SERVER-")
    }
}

/// What a mutant does instead of what it should. An answer of its own, or the right one to another
/// question.
#[derive(Clone, Copy)]
enum Wrong {
    /// Instead of any step.
    Step(fn(&mut Server, Millis, &Op) -> Reply),
    /// Instead of createIndexes.
    Create(fn(&mut Server, Millis, &Document) -> Reply),
    /// Instead of collMod.
    CollMod(fn(&mut Server, Millis, &Document) -> Reply),
    /// Instead of a pass.
    Pass(fn(&mut Server, Millis) -> Reply),
    /// In one part of a pass.
    Sweep(Sweep),
}

const fn step(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis, &Op) -> Reply,
) -> Mutant {
    Mutant { name, rule, seen: None, wrong: Wrong::Step(wrong) }
}

const fn creates(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis, &Document) -> Reply,
) -> Mutant {
    Mutant { name, rule, seen: None, wrong: Wrong::Create(wrong) }
}

const fn modifies(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis, &Document) -> Reply,
) -> Mutant {
    Mutant { name, rule, seen: None, wrong: Wrong::CollMod(wrong) }
}

const fn passes(rule: Rule, name: &'static str, wrong: fn(&mut Server, Millis) -> Reply) -> Mutant {
    Mutant { name, rule, seen: None, wrong: Wrong::Pass(wrong) }
}

const fn sweeps(rule: Rule, name: &'static str, sweep: Sweep) -> Mutant {
    Mutant { name, rule, seen: None, wrong: Wrong::Sweep(sweep) }
}

impl Mutant {
    const fn seen(mut self, at: &'static str, was: &'static str) -> Mutant {
        self.seen = Some(Seen { at, was });
        self
    }

    /// All of them, in the order of the book.
    pub fn all() -> Vec<Mutant> {
        let chapters: [&[Mutant]; 16] = [
            life::MUTANTS,
            index::MUTANTS,
            date::MUTANTS,
            threshold::MUTANTS,
            filter::MUTANTS,
            visibility::MUTANTS,
            pass::MUTANTS,
            change::MUTANTS,
            nan::MUTANTS,
            monitor::MUTANTS,
            visit::MUTANTS,
            replication::MUTANTS,
            upgrade::MUTANTS,
            shard::MUTANTS,
            clustered::MUTANTS,
            bucket::MUTANTS,
        ];
        chapters.concat()
    }

    /// Those that break this rule.
    pub fn of(rule: Rule) -> Vec<Mutant> {
        Mutant::all().into_iter().filter(|mutant| mutant.rule == rule).collect()
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Mutant> {
        Mutant::all().into_iter().find(|mutant| mutant.name == name)
    }

    /// The wrong engine, before anything was asked of it.
    pub fn open(&self, config: &Config) -> Box<dyn Engine<MongoDb>> {
        Box::new(Mutated { wrong: self.wrong, server: Server::open(config) })
    }
}

struct Mutated {
    wrong: Wrong,
    server: Server,
}

impl Engine<MongoDb> for Mutated {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        let server = &mut self.server;
        server.remember(now, op);
        Ok(match (self.wrong, op) {
            (Wrong::Step(wrong), op) => wrong(server, now, op),
            (Wrong::Create(wrong), Op::CreateIndex(spec)) => wrong(server, now, spec),
            (Wrong::CollMod(wrong), Op::CollMod(command)) => wrong(server, now, command),
            (Wrong::Pass(wrong), Op::Pass) => wrong(server, now),
            (Wrong::Sweep(sweep), Op::Pass) => sweep.pass(server, now),
            (_, op) => server.right(now, op),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ttlspec_model::Reference;

    use super::*;
    use crate::alphabet::Alphabet;
    use crate::values::Seeded;

    #[test]
    fn mutants_stand_in_the_order_of_the_book() {
        let rules: Vec<Rule> = Mutant::all().iter().map(|mutant| mutant.rule).collect();

        assert!(rules.is_sorted(), "{rules:?}");
    }

    #[test]
    fn no_two_mutants_have_one_name() {
        let mut names = BTreeSet::new();

        for mutant in Mutant::all() {
            assert!(names.insert(mutant.name), "`{}` stands twice", mutant.name);
        }
    }

    #[test]
    fn what_mutants_are_written_with_is_the_specification() {
        let right = [Wrong::Sweep(sweep::RIGHT), Wrong::Step(Server::right)];
        for (seed, wrong) in (0..2_000).flat_map(|seed| right.map(|wrong| (seed, wrong))) {
            let mut source = Seeded::new(seed);
            let config = MongoDb::any_config(&mut source);
            let worlds = MongoDb::worlds(&config);
            let mut reference = Reference::<MongoDb>::open(&config);
            let mut engine = Mutated { wrong, server: Server::open(&config) };

            for at in 0..20 {
                let (now, op) = match at % 2 {
                    0 => worlds[seed as usize % worlds.len()].step(&mut source),
                    _ => MongoDb::any_step(&mut source, &config),
                };
                let expected = reference.explain(now, &op).verdict;
                assert_eq!(engine.apply(now, &op), Ok(expected), "seed {seed}");
            }
        }
    }
}
