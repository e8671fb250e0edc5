//! Every rule that the model decides by can be broken, and every breach is found.

use std::path::Path;

use ttlspec_harness::System;
use ttlspec_harness::mutants::{Fate, Hunt, Mutant, Seen};
use ttlspec_harness::vector::{self, Vector};
use ttlspec_model::Rule;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;
use ttlspec_model::ruling::Level;

#[test]
fn every_decided_rule_has_a_mutant() {
    let decided = Rule::ALL.iter().filter(|rule| rule.level() == Level::Decided);

    let broken: Vec<Rule> = [broken::<MongoDb>(), broken::<Cassandra>()].concat();

    let without: Vec<&Rule> = decided.filter(|rule| !broken.contains(rule)).collect();

    assert!(without.is_empty(), "no mutant breaks {without:?}");
}

#[test]
fn every_mutant_is_found() {
    are_found::<MongoDb>();
}

#[test]
fn every_mutant_of_cassandra_is_found() {
    are_found::<Cassandra>();
}

fn are_found<V: System>() {
    let vectors = vectors::<V>();
    let hunt = Hunt::new(&vectors);
    let with_fate = |mutant: Mutant<V>| {
        let fate = hunt.fate(&mutant);
        (mutant, fate)
    };

    let fates: Vec<(Mutant<V>, Fate)> = V::mutants().into_iter().map(with_fate).collect();

    println!("{:36} {:10} {:>5}  mutant, and who finds it", "rule", "seen", "steps");
    for (mutant, fate) in &fates {
        let seen = mutant.seen.map_or("", |seen| seen.at);
        let (steps, by) = match fate {
            Fate::Killed(killed) => (killed.steps, killed.by.to_string()),
            Fate::Survived { steps } => (0, format!("NOTHING, {steps} random steps included")),
        };
        println!("{:36} {seen:12} {steps:>5}  {}", mutant.rule.name(), mutant.name);
        println!("{:56} by {by}", "");
    }
    let alive: Vec<String> = (fates.iter())
        .filter(|(_, fate)| matches!(fate, Fate::Survived { .. }))
        .map(|(mutant, _)| format!("`{}`: {}", mutant.rule, mutant.name))
        .collect();
    assert!(alive.is_empty(), "nothing finds these mutants:\n{}", alive.join("\n"));
}

#[test]
fn ten_tickets_of_mongodb_and_fifteen_of_cassandra_are_replanted() {
    are_replanted::<MongoDb>(10);
    are_replanted::<Cassandra>(15);
}

fn are_replanted<V: System>(least: usize) {
    let seen = V::mutants().into_iter().filter_map(|mutant| mutant.seen);
    let mut tickets: Vec<&str> = seen.filter(Seen::is_ticket).map(|seen| seen.at).collect();
    tickets.sort_unstable();
    tickets.dedup();

    assert!(tickets.len() >= least, "only {} tickets: {tickets:?}", tickets.len());
}

#[test]
fn a_counterexample_says_what_was_expected_and_what_was_found() {
    let vectors = vectors::<MongoDb>();
    let late =
        Mutant::<MongoDb>::named("sweeps one millisecond late").expect("it is one of the first");

    let Fate::Killed(killed) = Hunt::new(&vectors).fate(&late) else { panic!("it lives") };

    assert!(killed.counterexample.contains("expected"), "{}", killed.counterexample);
    assert!(killed.counterexample.contains("found"), "{}", killed.counterexample);
}

/// The rules that a mutant of the system breaks.
fn broken<V: System>() -> Vec<Rule> {
    V::mutants().into_iter().map(|mutant| mutant.rule).collect()
}

fn vectors<V: System>() -> Vec<Vector<V>> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let folder = specs.join(V::NAME).join("vectors");
    let files = vector::load_dir(&folder).unwrap_or_else(|errors| panic!("{errors}"));
    files.into_iter().flat_map(|file| file.vectors).collect()
}
