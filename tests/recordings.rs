//! What real servers were seen to do is what the specification and the engine say.

use std::path::{Path, PathBuf};

use ttlspec_harness::recording::{self, Open, Tally};
use ttlspec_impl::cassandra::CassandraEngine;

/// Every so-manieth history is played here; the whole is played by `.ci/run`.
const EVERY: usize = 10;

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/cassandra/observed");
    let files = std::fs::read_dir(folder).expect("the recordings are in the repository");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    files.sort();
    files
}

fn agree(open: &Open<'_>) {
    let mut all = Tally::default();
    for path in recordings() {
        let mut tally = Tally::default();
        for history in recording::open(&path).expect("it can be read").step_by(EVERY) {
            let history = history.expect("it is a history");
            if let Some(first) = recording::play(&history, open, &mut tally) {
                panic!("{}: {}", path.display(), first.to_json());
            }
        }
        all.histories += tally.histories;
        all.steps += tally.steps;
    }
    assert!(all.histories > 750, "only {} histories", all.histories);
    assert!(all.steps > 12_000, "only {} steps", all.steps);
}

#[test]
fn the_specification_says_what_was_seen() {
    agree(&recording::specification);
}

#[test]
fn the_engine_says_what_was_seen() {
    agree(&|config| Box::new(CassandraEngine::open(config)));
}

#[test]
fn a_disagreement_is_found_and_told_with_the_steps_that_it_needs() {
    use ttlspec_harness::System;
    use ttlspec_harness::mutants::Mutant;
    use ttlspec_model::cassandra::Cassandra;

    let name = "without cassandra.purge.retest";
    let mutant = Cassandra::mutants().into_iter().find(|mutant| mutant.name == name);
    let mutant: Mutant<Cassandra> = mutant.expect("each rule can be switched off");
    let path = &recordings()[2];
    let mut tally = Tally::default();
    let histories = recording::open(path).expect("it can be read");
    let mut histories = histories.map(|history| history.expect("it is a history"));

    let first = histories.find_map(|history| {
        let all = history.steps.len();
        recording::play(&history, &|config| mutant.open(config), &mut tally)
            .map(|first| (first, all))
    });

    let (first, all) = first.expect("810 of the histories notice");
    assert_ne!(first.expected, first.seen);
    assert!(first.history.len() <= all);
    assert!(!first.history.is_empty());
    assert!(tally.observations().1 > 0);
}
