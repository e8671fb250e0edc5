//! Any bytes as a dump: metadata up to the first NUL byte, the data after it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_inspect::dump_parse_bytes;

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (metadata, data) = bytes.split_at(at);
    let _ = dump_parse_bytes(data.get(1..).unwrap_or_default(), metadata);
});
