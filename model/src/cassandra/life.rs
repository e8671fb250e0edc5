#![doc = include_str!("../../../specs/cassandra/0-life.md")]
//! ---
//! *Module:* what does a read mean?
