//! Three writes in every order, on the specification and on the engine: what is merged is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing::cassandra::cells;
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_model::Reference;
use ttlspec_model::cassandra::Cassandra;

fuzz_target!(|bytes: &[u8]| {
    cells(bytes, |config| Box::new(Reference::<Cassandra>::open(config)));
    cells(bytes, |config| Box::new(CassandraEngine::open(config)));
});
