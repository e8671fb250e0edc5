//! What holds for the whole script?

use toml::Spanned;
use ttlspec_model::mongodb::Cost;

use super::reader::{Read, Reader, instant};
use super::{MOST_DOCUMENTS, Script, raw};
use crate::fault::{Fault, Place};
use crate::units::{self, MOST_SPAN_MS};

const MOST_MEMBERS: i64 = 50;
const MOST_COLLECTIONS: usize = 1_000;
/// 2026-01-01T00:00:00Z.
const DEFAULT_START_MS: i64 = 1_767_225_600_000;

impl Reader<'_> {
    pub(super) fn script(&self, raw: raw::Raw) -> Read<Script> {
        let (version, notes) = self.version(&raw.version)?;
        let start_ms = match &raw.start {
            None => DEFAULT_START_MS,
            Some(start) => instant(start.get_ref()).ok_or_else(|| {
                self.fault(
                    start.span(),
                    format!("expected an instant for `start`, found `{}`", start.get_ref()),
                    "write a date with time and offset, such as 2026-01-01T00:00:00Z",
                )
            })?,
        };
        let span_ms = self.until(&raw.until)?;
        let members = raw.members.as_ref();
        let members = members
            .map_or(Ok(2), |members| self.number("members", members, 1..MOST_MEMBERS + 1))?;
        let us = |name: &str, us: Option<&Spanned<i64>>, or: u32| -> Read<u32> {
            us.map_or(Ok(or), |us| Ok(self.number(name, us, 0..60_000_001)? as u32))
        };
        let cost = raw.cost.as_ref();
        let cost = Cost {
            visit_us: us("visit_us", cost.and_then(|cost| cost.visit_us.as_ref()), 0)?,
            delete_us: us("delete_us", cost.and_then(|cost| cost.delete_us.as_ref()), 0)?,
        };
        let apply_per_second = match &raw.secondary {
            None => None,
            Some(secondary) if members == 1 => {
                return Err(self.fault(
                    secondary.apply_per_second.span(),
                    "a server alone has no secondary",
                    "write `members = 2`, or leave `[secondary]` out",
                ));
            }
            Some(secondary) => {
                let rate = &secondary.apply_per_second;
                Some(self.number("apply_per_second", rate, 1..1_000_000_001)? as u64)
            }
        };
        let oplog_bytes = match &raw.oplog {
            None => None,
            Some(oplog) => Some(
                units::size(oplog.size.get_ref()).filter(|size| *size > 0).ok_or_else(|| {
                    self.fault(
                        oplog.size.span(),
                        format!("expected the size of the oplog, found `{}`", oplog.size.get_ref()),
                        "write a number with its unit, such as \"990MB\" or \"50GiB\"",
                    )
                })?,
            ),
        };
        let mut script = Script {
            file: self.file.to_owned(),
            version,
            notes,
            start_ms,
            end_ms: start_ms + span_ms,
            members: members as usize,
            parameters: raw.parameters.as_ref().map_or(Ok(Vec::new()), |all| self.settings(all))?,
            cost,
            apply_per_second,
            oplog_bytes,
            collections: Vec::new(),
            acts: Vec::new(),
        };
        if let Some(extra) = raw.collection.get(MOST_COLLECTIONS) {
            return Err(self.fault(
                extra.span(),
                format!("more than {MOST_COLLECTIONS} collections"),
                "leave out those that do not matter",
            ));
        }
        for collection in &raw.collection {
            self.collection(&mut script, collection)?;
        }
        self.acts(&mut script, &raw.acts)?;
        if script.documents() > MOST_DOCUMENTS {
            let line = script.collections.iter().flat_map(|collection| &collection.streams);
            let line = line.max_by_key(|stream| stream.shape.documents()).map(|stream| stream.line);
            return Err(script.fault(
                line.unwrap_or(1),
                format!(
                    "{} documents in all, most of them from here; {} can be counted",
                    units::count(script.documents() as i128),
                    units::count(MOST_DOCUMENTS as i128)
                ),
                "lower the rate, or end earlier with `until`",
            ));
        }
        Ok(script)
    }

    fn until(&self, own: &Spanned<String>) -> Read<i64> {
        let (span, place, text) = match self.until {
            Some(given) => (units::span(given), None, given),
            None => (units::span(own.get_ref()), Some(own.span()), own.get_ref().as_str()),
        };
        match span {
            Some(span) if 0 < span && span <= MOST_SPAN_MS => Ok(span),
            _ => Err(Fault {
                file: if place.is_some() { self.file } else { "--until" }.to_owned(),
                place: Place(place.map(|span| self.line(span.start))),
                what: match span {
                    Some(span) if span <= 0 => {
                        format!("expected an end after the start, found `{text}`")
                    }
                    _ => format!("expected a span of time from the start, found `{text}`"),
                },
                fix: "write how long it is played, such as \"30d\"; 36600 days at most".to_owned(),
            }),
        }
    }
}
