//! Any bytes as a file of vectors; what can be read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing::vectors;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;

fuzz_target!(|bytes: &[u8]| {
    vectors::<MongoDb>(bytes);
    vectors::<Cassandra>(bytes);
});
