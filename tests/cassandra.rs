//! Cassandra's engine answers as the specification does, on any table: what the alphabet of small
//! worlds leaves out.

use ttlspec_harness::lockstep::{self, Walked};
use ttlspec_harness::script::Script;
use ttlspec_harness::values::Seeded;
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_model::cassandra::{Cassandra, Config};
use ttlspec_model::{Engine, Rule};

#[path = "cassandra/anything.rs"]
mod anything;

fn open(config: &Config) -> Box<dyn Engine<Cassandra>> {
    Box::new(CassandraEngine::open(config))
}

#[test]
fn the_engine_answers_alike_on_any_table() {
    for seed in 0..1_000 {
        let script = anything::script(&mut Seeded::new(seed));

        let walked = lockstep::check(&script, open);

        match walked {
            Ok(walked) => assert_eq!(walked, Walked::Agreed, "seed {seed}"),
            Err(counterexample) => panic!("seed {seed}\n{counterexample}"),
        }
    }
}

#[test]
fn what_is_drawn_from_one_seed_is_the_same_each_time() {
    let script = || anything::script(&mut Seeded::new(7));

    assert_eq!(script(), script());
}

#[test]
fn a_world_without_a_rule_that_is_no_fault_is_not_supported() {
    let mut script: Script<Cassandra> = anything::script(&mut Seeded::new(1));
    script.config.without = vec![Rule::CassandraReadPurges];

    let walked = lockstep::walk(&script, open);

    let Walked::Skipped { step: 0, reason } = walked else { panic!("{walked:?}") };
    assert!(reason.0.contains("cassandra.read.purges"), "{reason}");
}
