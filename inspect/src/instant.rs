//! How is an instant written, and how read?

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// An instant as RFC 3339; outside the years 1 to 9999, which that cannot write, in milliseconds.
pub fn shown(millis: i64) -> String {
    const YEAR_1: i64 = -62_135_596_800_000;
    match Timestamp::from_millisecond(millis) {
        Ok(instant) if millis >= YEAR_1 => instant.to_string(),
        _ => format!("{millis} ms since 1970"),
    }
}

/// Reads RFC 3339, or milliseconds since 1970.
pub fn read(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse::<i64>().ok().or_else(|| rfc3339(text))
}

fn rfc3339(text: &str) -> Option<i64> {
    // Offsets such as +0200 are not RFC 3339; old tools wrote them.
    let (rest, offset) = text.split_at_checked(text.len().checked_sub(5)?)?;
    let is_short_offset = offset.starts_with(['+', '-'])
        && offset[1..].bytes().all(|byte| byte.is_ascii_digit())
        && rest.contains(['T', 't', ' ']);
    let with_colon = || format!("{rest}{}:{}", &offset[..3], &offset[3..]);
    let text = if is_short_offset { with_colon() } else { text.to_owned() };
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Reads what people take for a date: RFC 3339, the same without an offset, or a day. Without an
/// offset it is UTC.
pub fn lenient(text: &str) -> Option<i64> {
    let text = text.trim();
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') || text.len() < 8 {
        return None;
    }
    let utc = |date: DateTime| TimeZone::UTC.to_timestamp(date).ok().map(Timestamp::as_millisecond);
    rfc3339(text)
        .or_else(|| text.parse::<DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.into())))
}

/// A span of time for people: the two largest units.
pub fn span(millis: i64) -> String {
    let seconds = millis.unsigned_abs() / 1_000;
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, size) in units {
        let count = rest / size;
        rest %= size;
        if count > 0 && parts.len() < 2 {
            parts.push(format!("{count} {unit}"));
        }
    }
    if parts.is_empty() { format!("{} ms", millis.unsigned_abs()) } else { parts.join(" ") }
}
