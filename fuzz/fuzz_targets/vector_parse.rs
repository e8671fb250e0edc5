//! Any bytes as a file of vectors; what can be read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ttlspec_harness::fuzzing::vectors(bytes));
