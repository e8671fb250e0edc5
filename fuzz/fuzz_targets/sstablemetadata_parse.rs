//! Any bytes as what sstablemetadata or sstableexpiredblockers prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_inspect::cassandra::sstablemetadata_parse_bytes;

fuzz_target!(|bytes: &[u8]| {
    let _ = sstablemetadata_parse_bytes(bytes);
});
