#![doc = include_str!("../../../specs/cassandra/16-fault.md")]
//! ---
//! *Module:* where does the real server break its own rules?
