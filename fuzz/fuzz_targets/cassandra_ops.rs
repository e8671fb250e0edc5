//! Any operations, on specification and engine in step. TTLSPEC_PLANT names a mutant to take the
//! place of the engine, to see that it is found.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing;
use ttlspec_harness::mutants::Mutant;
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_model::cassandra::Cassandra;

static PLANT: LazyLock<Option<Mutant<Cassandra>>> =
    LazyLock::new(|| std::env::var("TTLSPEC_PLANT").ok().and_then(|name| Mutant::named(&name)));

fuzz_target!(|bytes: &[u8]| {
    fuzzing::ops::<Cassandra>(bytes, |config| match &*PLANT {
        Some(mutant) => mutant.open(config),
        None => Box::new(CassandraEngine::open(config)),
    });
});
