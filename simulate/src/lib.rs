//! What does a monitor make of a workload, minute by minute?
//!
//! A [`script`] says which collections and indexes there are, how documents come, and what is done
//! when. [`run()`] plays it on a clock that only the script moves, and answers an [`Outcome`]: how
//! many documents each pass deleted, what was left over, how old documents became beyond their
//! time, what the oplog took and how far a secondary fell behind. Equal scripts give equal outcomes.
//!
//! What is decided is decided by the specification: which indexes may be made, what an upgrade or
//! an election makes of them, which of them a visit can use and how long dates live
//! ([`catalog`]). The simulator adds what the specification leaves out, which is quantity:
//!
//! | module | question |
//! |---|---|
//! | [`script`] | what is to be played, and can it be? |
//! | [`arrival`] | which documents come, when, and with which dates? |
//! | [`catalog`] | what do the servers hold between two acts of the script? |
//! | [`monitor`] | what does a monitor do next, and when? |
//! | [`singly`] | which documents does a visit find, one by one? |
//! | [`counted`] | how many are they, where there are too many to hold? |
//! | [`ages`] | how long after their time were documents deleted? |
//! | [`oplog`] | how large is an entry, and how far behind is a secondary? |
//! | [`outcome`] | what came of it? |
//! | [`show`], [`data`], [`picture`] | how is that told to people, to programs, to the eye? |
//!
//! **Why counting.** The optimized engine keeps the dates of documents in a calendar, because any
//! document may come with any date, change it, or go. Here the dates are made by a rule: the
//! thousandth document of a stream is known without the others. So a stream is two numbers, how
//! many have come and how many have gone, and 2.6 billion documents need no more room than ten.
//! Only jitter is held in a calendar of the same kind, a ring of counts by the millisecond, as long
//! as the jitter is wide.

pub mod ages;
pub mod arrival;
pub mod catalog;
pub mod counted;
pub mod data;
pub mod fault;
pub mod monitor;
pub mod oplog;
pub mod outcome;
pub mod picture;
mod ring;
mod run;
pub mod script;
pub mod show;
pub mod singly;
mod store;
pub mod units;

pub use fault::Fault;
pub use outcome::Outcome;
pub use run::{Way, run, run_watched};
pub use script::{Script, read};
