//! Any bytes as a line of a recording; what can be read is played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing::cassandra::observed;

fuzz_target!(|bytes: &[u8]| observed(bytes));
