//! What do a fuzzer's bytes stand for?

mod mongodb;

pub use mongodb::*;
