//! Any bytes as what sstabledump prints, at once and in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_inspect::cassandra::sstabledump_parse_bytes;

fuzz_target!(|bytes: &[u8]| {
    let _ = sstabledump_parse_bytes(bytes);
});
