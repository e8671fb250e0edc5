//! Which mistakes does somebody make who writes MongoDB?
//!
//! A mistake is written as what is done *instead*: of a whole step (`Wrong::Step`), of one
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

use super::{Mutant, Seen};
use crate::check::opener;

use server::Server;
use sweep::Sweep;

/// A mutant as it is written down.
#[derive(Clone, Copy)]
struct Mistake {
    name: &'static str,
    rule: Rule,
    seen: Option<Seen>,
    wrong: Wrong,
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
) -> Mistake {
    Mistake { name, rule, seen: None, wrong: Wrong::Step(wrong) }
}

const fn creates(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis, &Document) -> Reply,
) -> Mistake {
    Mistake { name, rule, seen: None, wrong: Wrong::Create(wrong) }
}

const fn modifies(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis, &Document) -> Reply,
) -> Mistake {
    Mistake { name, rule, seen: None, wrong: Wrong::CollMod(wrong) }
}

const fn passes(
    rule: Rule,
    name: &'static str,
    wrong: fn(&mut Server, Millis) -> Reply,
) -> Mistake {
    Mistake { name, rule, seen: None, wrong: Wrong::Pass(wrong) }
}

const fn sweeps(rule: Rule, name: &'static str, sweep: Sweep) -> Mistake {
    Mistake { name, rule, seen: None, wrong: Wrong::Sweep(sweep) }
}

impl Mistake {
    const fn seen(mut self, at: &'static str, was: &'static str) -> Mistake {
        self.seen = Some(Seen { at, was });
        self
    }

    fn mutant(self) -> Mutant<MongoDb> {
        let Mistake { name, rule, seen, wrong } = self;
        let open = move |config: &Config| Mutated { wrong, server: Server::open(config) };
        Mutant { name, rule, seen, opener: opener(open) }
    }
}

/// All of them, in the order of the book.
pub(crate) fn all() -> Vec<Mutant<MongoDb>> {
    let chapters: [&[Mistake]; 16] = [
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
    chapters.into_iter().flatten().map(|mistake| mistake.mutant()).collect()
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
    use ttlspec_model::Reference;

    use super::*;
    use crate::alphabet::Alphabet;
    use crate::values::Seeded;

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
