#![doc = include_str!("../../../specs/cassandra/2-expiry.md")]
//! ---
//! *Module:* when does what is written now expire?

use super::words::{Config, Overflow};
use crate::book::Book;
use crate::ruling::Rule;

/// The largest TTL, in seconds: 20 years of 365 days.
pub const MAX_TTL: i64 = 630_720_000;

/// A TTL and the expiration that it comes to; no expiration is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// In seconds; 0 is none.
    pub ttl: i64,
    /// The first second in which it is dead.
    pub expiration: Option<i64>,
}

/// A statement cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Which TTL holds: the one that is given, or the default of the table?
///
/// # Errors
/// [`Refused`] where it is out of range.
pub fn effective_ttl(book: &Book, given: Option<i64>, default: i64) -> Result<i64, Refused> {
    let ttl = match given {
        Some(0) if default > 0 && !book.by(Rule::CassandraExpiryZero) => default,
        Some(ttl) => ttl,
        None if default > 0 && book.by(Rule::CassandraExpiryDefault) => default,
        None => 0,
    };
    let is_legal = (0..=MAX_TTL).contains(&ttl);
    if !is_legal && book.by(Rule::CassandraExpiryRange) {
        return Err(Refused);
    }
    Ok(ttl)
}

/// When does what is written in the second `now` with `ttl` expire?
///
/// # Errors
/// [`Refused`] where that is later than can be written, and the policy is to refuse it.
pub fn lifetime(book: &Book, config: &Config, now: i64, ttl: i64) -> Result<Lifetime, Refused> {
    if ttl == 0 {
        return Ok(Lifetime { ttl, expiration: None });
    }
    let expiration = if book.by(Rule::CassandraExpiryInstant) { now + ttl } else { now + ttl + 1 };
    let last = config.format.last_expiration();
    if expiration <= last {
        return Ok(Lifetime { ttl, expiration: Some(expiration) });
    }
    // In 32 bits the second after the last one is a number of its own: the one that means "none".
    let is_none = !config.version.has_wide_deletion_time() && expiration == last + 1;
    if is_none && book.by(Rule::CassandraExpiryNarrowNone) {
        return Ok(Lifetime { ttl, expiration: None });
    }
    let capped = Lifetime { ttl, expiration: Some(last) };
    match config.overflow {
        Overflow::Reject if book.by(Rule::CassandraExpiryReject) => Err(Refused),
        Overflow::Reject => Ok(capped),
        Overflow::Cap if book.by(Rule::CassandraExpiryCap) => Ok(capped),
        Overflow::Cap => Err(Refused),
    }
}
