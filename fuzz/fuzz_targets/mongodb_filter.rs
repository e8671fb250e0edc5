//! Any partial filter and any document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ttlspec_harness::fuzzing::mongodb as fuzzing;
use ttlspec_impl::mongodb::bytes::{Value, kind};
use ttlspec_impl::mongodb::filter::Filter;

fuzz_target!(|bytes: &[u8]| {
    fuzzing::filter(bytes, |version, filter, document| {
        let filter = filter.to_vec().expect("a document that was read can be written");
        let filter = Filter::new(version, Value::new(kind::DOCUMENT, &filter))?;
        let document = document.to_vec().expect("a document that was read can be written");
        Ok((filter.is_allowed(), filter.holds(&document).expect("it is well formed")))
    });
});
