//! Which instant does sstabledump mean by what it prints?
//!
//! With `-t` it prints the numbers. Without, it prints ISO 8601, and not always the instant that it
//! was given (seen in 5.0.6): the seconds are cut towards zero while the fraction is counted upwards,
//! so that an instant before 1970 comes out one second late unless it is a whole second, and the
//! fraction is computed from nanoseconds, which end in the years 1677 and 2262.

use super::sstabledump::Loss;

/// The end of nanoseconds since 1970, in seconds.
const NANOSECONDS_END_S: i64 = 9_223_372_036;
/// The fraction that is printed after that end, and before the other one.
const AFTER_THE_END_NS: u32 = 854_775_807;
const BEFORE_THE_BEGINNING_NS: u32 = 145_224_192;

/// A date as it is printed.
struct Printed {
    /// Seconds since 1970.
    seconds: i64,
    /// The fraction of the second.
    nanos: u32,
}

/// Microseconds since 1970, and what of them is not sure.
pub fn timestamp_us(text: &str) -> Option<(i64, Option<Loss>)> {
    if let Some(number) = number(text) {
        return Some((number, None));
    }
    let Printed { seconds, nanos } = iso(text)?;
    if is_past_nanoseconds(seconds, nanos) {
        return Some((seconds.checked_mul(1_000_000)?, Some(Loss::Microseconds)));
    }
    let micros = i64::from(nanos / 1_000);
    let is_late = seconds < 0 && micros > 0;
    let seconds = if is_late { seconds - 1 } else { seconds };
    let whole = nanos.is_multiple_of(1_000);
    let instant = seconds.checked_mul(1_000_000)?.checked_add(micros).filter(|_| whole)?;
    let is_either = seconds == 0 && micros > 0;
    Some((instant, is_either.then_some(Loss::Sign)))
}

/// Seconds since 1970, as local deletion and expiration times have them.
pub fn local_s(text: &str) -> Option<i64> {
    if let Some(number) = number(text) {
        return Some(number);
    }
    let Printed { seconds, nanos } = iso(text)?;
    (nanos == 0 || is_past_nanoseconds(seconds, nanos)).then_some(seconds)
}

/// A whole number as the tools print it.
pub fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn is_past_nanoseconds(seconds: i64, nanos: u32) -> bool {
    (seconds >= NANOSECONDS_END_S && nanos == AFTER_THE_END_NS)
        || (seconds <= -NANOSECONDS_END_S && nanos == BEFORE_THE_BEGINNING_NS)
}

/// `[+-]YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with as many digits of the year as it takes.
fn iso(text: &str) -> Option<Printed> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let is_before_zero = date.starts_with('-');
    let mut date = date.strip_prefix(['+', '-']).unwrap_or(date).split('-');
    let (year, month, day) = (date.next()?, date.next()?, date.next()?);
    let is_year = (4..=9).contains(&year.len()) && date.next().is_none();
    let year = digits(year, year.len()).filter(|_| is_year)?;
    let year = if is_before_zero { -year } else { year };
    let (month, day) = (digits(month, 2)?, digits(day, 2)?);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.split(':');
    let (hour, minute, second) =
        (digits(time.next()?, 2)?, digits(time.next()?, 2)?, digits(time.next()?, 2)?);
    let is_day = (1..=12).contains(&month) && (1..=length_of_month(year, month)).contains(&day);
    let is_time = hour < 24 && minute < 60 && second < 60 && time.next().is_none();
    if !is_day || !is_time || fraction.len() > 9 {
        return None;
    }
    let padded = format!("{fraction:0<9}");
    let nanos = u32::try_from(digits(&padded, 9)?).ok()?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Printed { seconds, nanos })
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let are_digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if are_digits { text.parse().ok() } else { None }
}

fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

fn length_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Years are counted from March, so that the leap day is the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_5_0_6_prints_is_read_as_what_it_was_given() {
        let sure = [
            (-1_500_000, "1969-12-31T23:59:59.500Z"),
            (0, "1970-01-01T00:00:00Z"),
            (-1_000_000, "1969-12-31T23:59:59Z"),
            (-1_000_001, "1969-12-31T23:59:59.999999Z"),
            (9_223_372_036_854_775, "2262-04-11T23:47:16.854775Z"),
            (-9_223_372_036_854_775, "1677-09-21T00:12:44.145225Z"),
            (1_700_000_000_123_000, "2023-11-14T22:13:20.123Z"),
            (-7, "-7"),
            (i64::MIN, "-9223372036854775808"),
        ];
        for (given, printed) in sure {
            assert_eq!(timestamp_us(printed), Some((given, None)), "{printed}");
        }
    }

    #[test]
    fn what_it_prints_for_two_instants_is_said_to_be_unsure() {
        let sign = Some(Loss::Sign);
        assert_eq!(timestamp_us("1970-01-01T00:00:00.000001Z"), Some((1, sign)));
        assert_eq!(timestamp_us("1970-01-01T00:00:00.999999Z"), Some((999_999, sign)));
        let far = [
            (9_223_372_036_854_770_001, "+294247-01-10T04:00:54.854775807Z"),
            (253_402_300_800_000_000, "+10000-01-01T00:00:00.854775807Z"),
            (9_223_372_036_854_776, "2262-04-11T23:47:16.854775807Z"),
            (-9_223_372_036_854_775_807, "-290308-12-21T19:59:06.145224192Z"),
            (-62_135_596_800_000_001, "0001-01-01T00:00:00.145224192Z"),
        ];
        for (given, printed) in far {
            let (read, loss) = timestamp_us(printed).expect("it is an instant");
            assert_eq!(read, given / 1_000_000 * 1_000_000, "{printed}");
            assert_eq!(loss, Some(Loss::Microseconds), "{printed}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        let wrong = [
            "",
            "-",
            "+5",
            "1.5",
            "2023-02-29T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "1-1-1T0:0:0Z",
            "2023-11-14T24:00:00Z",
            "2023-11-14 22:13:20Z",
            "2023-11-14T22:13:20",
            "99999999999999999999",
            "+999999999-01-01T00:00:00Z",
            "2023-11-14T22:13:20.0000001Z",
            "2023-11-14T22:13:20.Z9Z",
            "２０２３-11-14T22:13:20Z",
            "2023-11-14T22:13:20.1234567890Z",
        ];
        for text in wrong {
            assert_eq!(timestamp_us(text), None, "{text}");
        }
        assert_eq!(local_s("2023-11-14T22:13:20.5Z"), None);
        assert_eq!(local_s("2023-11-14T22:13:20Z"), Some(1_700_000_000));
        assert_eq!(local_s("2106-02-07T06:28:14Z"), Some(4_294_967_294));
        assert_eq!(local_s("2024-02-29T00:00:00Z"), Some(1_709_164_800));
    }
}
