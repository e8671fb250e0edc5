//! Every rule that the model decides by can be broken, and every breach is found.

use std::path::Path;

use ttlspec_harness::mutants::{Fate, Hunt, Mutant, Seen};
use ttlspec_harness::vector::{self, Vector};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::MongoDb;
use ttlspec_model::ruling::Level;

#[test]
fn every_decided_rule_has_a_mutant() {
    let decided = Rule::ALL.iter().filter(|rule| rule.level() == Level::Decided);

    let without: Vec<&Rule> = decided.filter(|rule| Mutant::of(**rule).is_empty()).collect();

    assert!(without.is_empty(), "no mutant breaks {without:?}");
}

#[test]
fn every_mutant_is_found() {
    let vectors = vectors();
    let hunt = Hunt::new(&vectors);

    let fates: Vec<(Mutant, Fate)> =
        Mutant::all().into_iter().map(|mutant| (mutant, hunt.fate(&mutant))).collect();

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
fn ten_tickets_of_the_server_are_replanted() {
    let seen = Mutant::all().into_iter().filter_map(|mutant| mutant.seen);
    let mut tickets: Vec<&str> = seen.filter(Seen::is_ticket).map(|seen| seen.at).collect();
    tickets.sort_unstable();
    tickets.dedup();

    assert!(tickets.len() >= 10, "only {} tickets: {tickets:?}", tickets.len());
}

#[test]
fn a_counterexample_says_what_was_expected_and_what_was_found() {
    let vectors = vectors();
    let late = Mutant::named("sweeps one millisecond late").expect("it is one of the first");

    let Fate::Killed(killed) = Hunt::new(&vectors).fate(&late) else { panic!("it lives") };

    assert!(killed.counterexample.contains("expected"), "{}", killed.counterexample);
    assert!(killed.counterexample.contains("found"), "{}", killed.counterexample);
}

fn vectors() -> Vec<Vector<MongoDb>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/mongodb/vectors");
    let files = vector::load_dir(&folder).unwrap_or_else(|errors| panic!("{errors}"));
    files.into_iter().flat_map(|file| file.vectors).collect()
}
