//! The optimized engines: the words of the specification, none of its rules.
//!
//! This crate builds against `ttlspec-model` without its `semantics`, so that it cannot agree with
//! the specification by calling it.

#![forbid(unsafe_code)]

pub mod calendar;
pub mod cassandra;
pub mod mongodb;
