//! The engine answers as the specification does, in many scripts drawn from a seed.

use ttlspec_harness::seeded;
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::mongodb::MongoDb;

#[test]
fn the_engine_answers_as_the_specification_does_in_200_000_steps() {
    let open = |config: &_| Box::new(MongoEngine::open(config)) as _;

    let report = seeded::run::<MongoDb>(1, 200_000, open, |_| {});

    println!("{report}");
    assert!(report.is_success(), "{report}");
    assert!(report.skipped.is_empty(), "the engine has all words: {report}");
}

#[test]
fn one_seed_gives_the_same_run_each_time() {
    let open = |config: &_| Box::new(MongoEngine::open(config)) as _;

    let one = seeded::run::<MongoDb>(7, 2_000, open, |_| {});
    let other = seeded::run::<MongoDb>(7, 2_000, open, |_| {});

    assert_eq!(one, other);
}
