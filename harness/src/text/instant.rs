//! How is an instant written and read?

use toml::value::{Datetime, Offset};

const DAY_MS: i64 = 86_400_000;

/// Is it within a year of 1970, where examples live and milliseconds are read most easily?
pub(crate) fn is_toy(millis: i64) -> bool {
    (-365 * DAY_MS..365 * DAY_MS).contains(&millis)
}

/// The instant as text, for the years 0000 to 9999.
pub(crate) fn iso(millis: i64) -> Option<String> {
    let (day, of_day) = (millis.div_euclid(DAY_MS), millis.rem_euclid(DAY_MS));
    let (year, month, day) = civil(day);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let (seconds, fraction) = (of_day / 1_000, of_day % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    Some(if fraction == 0 { format!("{date}Z") } else { format!("{date}.{fraction:03}Z") })
}

/// Reads an instant such as `2024-01-31T12:00:00.5+01:00`.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let bad = || format!("expected an instant such as `2024-01-31T00:00:00Z`, found `{text}`");
    millis(&text.parse::<Datetime>().map_err(|_| bad())?).map_err(|why| format!("{}: {why}", bad()))
}

/// The milliseconds since 1970 of a date of TOML.
pub(crate) fn millis(datetime: &Datetime) -> Result<i64, String> {
    let (Some(date), Some(time)) = (datetime.date, datetime.time) else {
        return Err("it needs a day and a time".to_owned());
    };
    let minutes = match datetime.offset {
        Some(Offset::Z) => 0,
        Some(Offset::Custom { minutes }) => i64::from(minutes),
        None => return Err("it needs an offset: end it with `Z`".to_owned()),
    };
    let nanosecond = time.nanosecond.unwrap_or(0);
    let second = time.second.unwrap_or(0);
    if nanosecond % 1_000_000 != 0 {
        return Err("milliseconds are the smallest unit".to_owned());
    }
    if second > 59 {
        return Err("leap seconds are not counted".to_owned());
    }
    let day = days(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let minute = i64::from(time.hour) * 60 + i64::from(time.minute) - minutes;
    let second = minute * 60 + i64::from(second);
    Ok(day * DAY_MS + second * 1_000 + i64::from(nanosecond / 1_000_000))
}

// The two below count days from March, so that the leap day is the last of a year, and in eras of
// 400 years, which are all equally long.
const ERA_DAYS: i64 = 146_097;
const TO_1970: i64 = 719_468;

/// The days from 1970 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = year * 365 + year / 4 - year / 100 + of_year;
    era * ERA_DAYS + of_era - TO_1970
}

/// The date so many days after 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + TO_1970;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_written_as_they_are_known() {
        assert_eq!(iso(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(iso(951_782_400_000).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(iso(1_700_000_000_123).as_deref(), Some("2023-11-14T22:13:20.123Z"));
        assert_eq!(iso(253_402_300_799_999).as_deref(), Some("9999-12-31T23:59:59.999Z"));
        assert_eq!(iso(253_402_300_800_000), None);
        assert_eq!(iso(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(iso(i64::MIN), None);
    }

    #[test]
    fn every_day_of_the_years_that_can_be_written_is_read_back() {
        let (first, last) = (days(0, 1, 1), days(9999, 12, 31));
        for day in first..=last {
            let millis = day * DAY_MS;
            let text = iso(millis).expect("the years 0000 to 9999 can be written");
            assert_eq!(parse(&text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn an_offset_is_taken_off() {
        assert_eq!(parse("1970-01-01T01:00:00+01:00"), Ok(0));
        assert!(parse("1970-01-01T01:00:00").is_err());
        assert!(parse("1970-01-01").is_err());
        assert!(parse("1970-01-01T00:00:00.0001Z").is_err());
    }
}
