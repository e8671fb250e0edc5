//! How are spans of time and amounts written, and how read?

/// A day, in milliseconds.
pub const DAY_MS: i64 = 86_400_000;

/// No span in a script is longer.
pub(crate) const MOST_SPAN_MS: i64 = 36_600 * DAY_MS;

const UNITS: [(&str, i64); 6] =
    [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", DAY_MS), ("w", 7 * DAY_MS)];

/// Reads a span of time such as `90s`, `1h30min` or `-2d`, in milliseconds.
pub fn span(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.is_empty() {
        return None;
    }
    let mut millis: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = &rest[..letters];
        let (_, size) =
            UNITS.iter().find(|(name, _)| *name == unit || unit == "m" && *name == "min")?;
        millis = millis.checked_add(count.checked_mul(*size)?)?;
        rest = rest[letters..].trim_start();
    }
    Some(if negative { -millis } else { millis })
}

/// A span of time for people: the two largest units, rounded down.
pub fn shown(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let absolute = millis.unsigned_abs();
    if absolute < 1_000 {
        return format!("{sign}{absolute} ms");
    }
    if absolute < 60_000 && !absolute.is_multiple_of(1_000) {
        return format!("{sign}{}.{:03} s", absolute / 1_000, absolute % 1_000);
    }
    let mut rest = absolute;
    let mut parts = Vec::new();
    for (unit, size) in UNITS[1..5].iter().rev() {
        let count = rest / size.unsigned_abs();
        rest %= size.unsigned_abs();
        if count > 0 && parts.len() < 2 {
            parts.push(format!("{count} {unit}"));
        } else if !parts.is_empty() {
            break;
        }
    }
    format!("{sign}{}", parts.join(" "))
}

/// A span of time for people that is no shorter: the two largest units, rounded up.
pub fn within(millis: i64) -> String {
    // What is rounded down is less far from 0 where it is negative, and so later.
    if millis <= 0 {
        return shown(millis);
    }
    let sizes = UNITS[..5].iter().map(|(_, size)| *size);
    let largest = sizes.rev().find(|size| *size <= millis).unwrap_or(1);
    let step = match largest {
        DAY_MS => 3_600_000,
        3_600_000 => 60_000,
        60_000 => 1_000,
        _ => 1,
    };
    let up = match millis % step {
        0 => millis,
        rest => millis.saturating_add(step - rest),
    };
    shown(up)
}

/// A span of time for people, to the millisecond.
pub fn exact(millis: i64) -> String {
    let absolute = millis.unsigned_abs();
    let (whole, rest) = (absolute / 60_000 * 60_000, absolute % 60_000);
    let mut parts = Vec::new();
    let mut left = whole;
    for (unit, size) in UNITS[2..5].iter().rev() {
        let count = left / size.unsigned_abs();
        left %= size.unsigned_abs();
        if count > 0 {
            parts.push(format!("{count} {unit}"));
        }
    }
    if rest > 0 || parts.is_empty() {
        parts.push(match rest {
            0..1_000 if parts.is_empty() => format!("{rest} ms"),
            rest if rest.is_multiple_of(1_000) => format!("{} s", rest / 1_000),
            rest => format!("{}.{:03} s", rest / 1_000, rest % 1_000),
        });
    }
    format!("{}{}", if millis < 0 { "-" } else { "" }, parts.join(" "))
}

/// A text without control characters: they are written as `\u{1b}`.
pub fn plain(text: &str) -> String {
    let is_bad = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    let mut shown = String::new();
    for c in text.chars() {
        if is_bad(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// An amount for people, in groups of three digits.
pub fn count(amount: impl Into<i128>) -> String {
    let amount: i128 = amount.into();
    let digits = amount.unsigned_abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if amount < 0 { format!("-{text}") } else { text }
}

/// An amount of bytes for people.
pub fn bytes(amount: u128) -> String {
    let units = [("TiB", 1u128 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| amount >= *size) {
        None => format!("{amount} B"),
        Some((unit, size)) => format!("{}.{} {unit}", amount / size, amount % size * 10 / size),
    }
}

/// Reads an amount of bytes such as `990MB` or `2GiB`.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim() {
        "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    count.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_as_it_is_written() {
        let cases =
            [("90s", 90_000), ("1h30min", 5_400_000), ("-2d", -172_800_000), ("5m", 300_000)];

        for (text, millis) in cases {
            assert_eq!(span(text), Some(millis), "{text}");
        }
        for text in
            ["", "-", "5", "5 parsecs", "99999999999999999999s", "9223372036854775807w", "s"]
        {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn a_span_is_shown_in_two_units() {
        assert_eq!(shown(90_061_000), "1 d 1 h");
        assert_eq!(shown(3_600_000), "1 h");
        assert_eq!(shown(1_500), "1.500 s");
        assert_eq!(shown(-61_000), "-1 min 1 s");
        assert_eq!(shown(86_401_000), "1 d");
    }

    #[test]
    fn a_bound_is_never_rounded_below() {
        assert_eq!(within(60_828), "1 min 1 s");
        assert_eq!(within(3_600_730), "1 h 1 min");
        assert_eq!(within(3_600_000), "1 h");
        assert_eq!(within(3_599_001), "1 h");
        assert_eq!(within(59_999), "59.999 s");
        assert_eq!(within(90_061_000), "1 d 2 h");
        assert_eq!(within(0), "0 ms");
        assert_eq!(within(-61_500), "-1 min 1 s");
        assert_eq!(within(i64::MAX), shown(i64::MAX));
    }

    #[test]
    fn what_is_exact_is_told_to_the_millisecond() {
        assert_eq!(exact(60_828), "1 min 0.828 s");
        assert_eq!(exact(3_600_730), "1 h 0.730 s");
        assert_eq!(exact(86_400_000), "1 d");
        assert_eq!(exact(-1_500), "-1.500 s");
        assert_eq!(exact(7), "7 ms");
        assert_eq!(exact(0), "0 ms");
    }

    #[test]
    fn amounts_are_grouped() {
        assert_eq!(count(1_234_567u64), "1,234,567");
        assert_eq!(count(-12i64), "-12");
        assert_eq!(bytes(1_610_612_736), "1.5 GiB");
        assert_eq!(size("990MB"), Some(990_000_000));
        assert_eq!(size("990"), None);
    }
}
