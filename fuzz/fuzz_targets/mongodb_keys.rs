//! Raw bytes, malformed ones included, to the least date at a path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing::mongodb as fuzzing;
use ttlspec_impl::mongodb::key_extractor::{Path, least_date};

fuzz_target!(|bytes: &[u8]| {
    fuzzing::keys(bytes, |document, path| {
        least_date(document, &Path::new(path.as_bytes())).map_err(|_| ())
    });
});
