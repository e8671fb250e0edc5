//! The engine answers as the specification does, in many scripts drawn from a seed.

use ttlspec_harness::check::{Opener, opener};
use ttlspec_harness::{System, seeded};
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;

#[test]
fn the_engine_answers_as_the_specification_does_in_200_000_steps() {
    answers_alike::<MongoDb>(&opener(MongoEngine::open), 200_000);
}

#[test]
fn the_engine_of_cassandra_answers_as_the_specification_does_in_50_000_steps() {
    answers_alike::<Cassandra>(&opener(CassandraEngine::open), 50_000);
}

fn answers_alike<V: System>(open: &Opener<V>, steps: u64) {
    let report = seeded::run::<V>(1, steps, |config| open(config), |_| {});

    println!("{report}");
    assert!(report.is_success(), "{report}");
    assert!(report.skipped.is_empty(), "the engine has all words: {report}");
}

#[test]
fn one_seed_gives_the_same_run_each_time() {
    runs_alike::<MongoDb>(&opener(MongoEngine::open));
    runs_alike::<Cassandra>(&opener(CassandraEngine::open));
}

fn runs_alike<V: System>(open: &Opener<V>) {
    let one = seeded::run::<V>(7, 2_000, |config| open(config), |_| {});
    let other = seeded::run::<V>(7, 2_000, |config| open(config), |_| {});

    assert_eq!(one, other);
}
