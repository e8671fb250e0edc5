//! Where does a value stand, and is it of its kind?

use std::ops::Range;

use bson::Bson;
use toml::value::Datetime;
use toml::{Spanned, Value as Toml};
use ttlspec_model::mongodb::{Value, Version};

use super::{Script, Setting, raw};
use crate::arrival::PARTS;
use crate::fault::{Fault, Place};
use crate::units::{self, DAY_MS, MOST_SPAN_MS};

pub(super) struct Reader<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// How long is played by the command line, if it says so.
    pub(super) until: Option<&'a str>,
}

pub(super) type Read<T> = Result<T, Fault>;

impl Reader<'_> {
    pub(super) fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().iter().take(offset);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    pub(super) fn fault(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Fault {
        Fault {
            file: self.file.to_owned(),
            place: Place(Some(self.line(span.start))),
            what: what.into(),
            fix: fix.into(),
        }
    }

    pub(super) fn span(&self, name: &str, text: &Spanned<String>) -> Read<i64> {
        let span = units::span(text.get_ref()).filter(|span| span.abs() <= MOST_SPAN_MS);
        span.ok_or_else(|| {
            self.fault(
                text.span(),
                format!("expected a span of time for `{name}`, found `{}`", text.get_ref()),
                "write a number with its unit, such as \"90s\", \"12h\", \"30d\" or \"1h30min\"; \
                 36600 days at most",
            )
        })
    }

    pub(super) fn span_or(&self, name: &str, text: Option<&Spanned<String>>, or: i64) -> Read<i64> {
        text.map_or(Ok(or), |text| self.span(name, text))
    }

    pub(super) fn number(&self, name: &str, value: &Spanned<i64>, range: Range<i64>) -> Read<i64> {
        let number = *value.get_ref();
        if range.contains(&number) {
            return Ok(number);
        }
        Err(self.fault(
            value.span(),
            format!("expected `{name}` from {} to {}, found {number}", range.start, range.end - 1),
            "write a number in this range",
        ))
    }

    /// Something comes or is done when nothing is played any more.
    pub(super) fn after_end(&self, script: &Script, text: &Spanned<String>) -> Fault {
        let span = units::shown(script.end_ms - script.start_ms);
        let (end, fix) = match self.until {
            Some(until) => {
                (format!("which `--until` puts at `{until}`"), "give a longer `--until`")
            }
            None => (format!("which is at {span}"), "make `until` longer"),
        };
        self.fault(
            text.span(),
            format!("`{}` is not before the end of what is played, {end}", text.get_ref()),
            format!("{fix}, or leave it out"),
        )
    }

    pub(super) fn seconds(&self, value: &Spanned<Toml>) -> Read<Bson> {
        match value.get_ref() {
            Toml::Integer(seconds) => Ok(match i32::try_from(*seconds) {
                Ok(seconds) => Bson::Int32(seconds),
                Err(_) => Bson::Int64(*seconds),
            }),
            Toml::Float(seconds) => Ok(Bson::Double(*seconds)),
            other => Err(self.fault(
                value.span(),
                format!("expected `expireAfterSeconds` to be a number, found {}", kind(other)),
                "write a number of seconds, such as 3600",
            )),
        }
    }

    pub(super) fn share(&self, value: Option<&Spanned<Toml>>) -> Read<(u32, u32)> {
        let Some(value) = value else { return Ok((0, PARTS)) };
        let bad = || {
            self.fault(
                value.span(),
                format!("expected a share of the documents, found {}", kind(value.get_ref())),
                "write a share such as 0.25, or from and to such as [0.25, 1.0], the first before the \
                 second, from 0 to 1 with up to four decimals",
            )
        };
        let part = |value: &Toml| {
            let share = match value {
                Toml::Float(share) => *share,
                Toml::Integer(share) => *share as f64,
                _ => return None,
            };
            let parts = share * f64::from(PARTS);
            let whole = parts.round();
            let fits = (0.0..=f64::from(PARTS)).contains(&whole) && (parts - whole).abs() < 1e-6;
            fits.then_some(whole as u32)
        };
        let share = match value.get_ref() {
            Toml::Array(ends) => match &ends[..] {
                [from, to] => part(from).zip(part(to)),
                _ => None,
            },
            one => part(one).map(|to| (0, to)),
        };
        share.filter(|(from, to)| from < to).ok_or_else(bad)
    }

    pub(super) fn settings(&self, settings: &raw::Settings) -> Read<Vec<Setting>> {
        let setting = |(name, value): (&String, &Spanned<Toml>)| {
            let bson = match value.get_ref() {
                Toml::Boolean(flag) => Bson::Boolean(*flag),
                Toml::Integer(number) => match i32::try_from(*number) {
                    Ok(number) => Bson::Int32(number),
                    Err(_) => Bson::Int64(*number),
                },
                Toml::Float(number) => Bson::Double(*number),
                Toml::String(text) => Bson::String(text.clone()),
                other => {
                    return Err(self.fault(
                        value.span(),
                        format!("expected a value for `{name}`, found {}", kind(other)),
                        "write a number, or true or false",
                    ));
                }
            };
            let line = self.line(value.span().start);
            Ok(Setting { name: name.clone(), value: Value(bson), line })
        };
        settings.iter().map(setting).collect()
    }

    pub(super) fn version(&self, text: &Spanned<String>) -> Read<(Version, Vec<String>)> {
        Version::parse(text.get_ref()).map_err(|bad| {
            self.fault(text.span(), bad.to_string(), "write three numbers, such as \"7.0.14\"")
        })
    }

    pub(super) fn rate(&self, rate: &Spanned<Toml>) -> Read<u64> {
        let per_1000_s = match rate.get_ref() {
            Toml::Integer(rate) => i128::from(*rate) * 1_000,
            Toml::Float(rate) if rate.abs() < 1e12 => {
                let whole = (rate * 1e3).round();
                if (rate * 1e3 - whole).abs() < 1e-6 { whole as i128 } else { -1 }
            }
            _ => -1,
        };
        if (1..=1_000_000_000_000).contains(&per_1000_s) {
            return Ok(per_1000_s as u64);
        }
        Err(self.fault(
            rate.span(),
            format!("expected a rate of documents a second, found `{}`", rate.get_ref()),
            "write a number from 0.001 to 1000000000, with up to three decimals",
        ))
    }

    pub(super) fn date(&self, start_ms: i64, date: &Spanned<Toml>) -> Read<i64> {
        let read = match date.get_ref() {
            Toml::String(text) => units::span(text)
                .filter(|span| span.abs() <= MOST_SPAN_MS)
                .map(|span| start_ms + span),
            Toml::Datetime(date) => instant(date),
            _ => None,
        };
        read.ok_or_else(|| {
            let fix = match date.get_ref() {
                Toml::String(text) if text.parse::<Datetime>().is_ok() => {
                    format!("write it without quotes: {text}")
                }
                _ => "write a span from the start, such as \"-2h\", or 2026-01-01T00:00:00Z"
                    .to_owned(),
            };
            let what = format!("expected a date, found {}", kind(date.get_ref()));
            self.fault(date.span(), what, fix)
        })
    }
}

/// What a value is, for messages.
fn kind(value: &Toml) -> String {
    match value {
        Toml::String(text) => format!("the text \"{text}\""),
        Toml::Table(_) => "a table".to_owned(),
        Toml::Array(_) => format!("the list `{value}`"),
        other => format!("`{other}`"),
    }
}

/// A date with time and offset, in milliseconds since 1970.
/// A date with time and offset, in milliseconds since 1970.
pub(super) fn instant(date: &toml::value::Datetime) -> Option<i64> {
    let (day, time, offset) = (date.date?, date.time?, date.offset?);
    let offset_min = match offset {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_since_1970(i64::from(day.year), i64::from(day.month), i64::from(day.day));
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute) - offset_min;
    let seconds = i64::from(time.second.unwrap_or(0));
    let millis = i64::from(time.nanosecond.unwrap_or(0) / 1_000_000);
    Some(days * DAY_MS + (minutes * 60 + seconds) * 1_000 + millis)
}

/// The number of a day in the Gregorian calendar, by the usual formula of years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
