//! Which small changes are worth trying, given what is in the way?

use bson::{Bson, DateTime, Document, doc};
use ttlspec_model::mongodb::date;
use ttlspec_model::mongodb::index::{FILTER, Kind, SECONDS, is_option};
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::mongodb::version::Version;
use ttlspec_model::{Millis, Rule};

use crate::case::Case;
use crate::instant;
use crate::json::relaxed;
use crate::propose_filter::satisfy;
use crate::rule_on::{Stage, Standing, Ttl, a_kind};
use crate::survey::{Unit, epoch};
use crate::whole::{self, Part};

/// A change, and how things would be with it.
pub struct Change {
    /// What would be different, as the end of "it would expire if …".
    pub words: String,
    /// With the change.
    pub case: Case,
}

/// The changes worth trying.
pub fn changes(case: &Case) -> Vec<Change> {
    let (ttl, ruling) = case.look();
    if let Some(part) = &ttl.part
        && (part.is_own() || part.is_of_buckets())
    {
        return of_part(case, &ttl, part, &ruling.verdict);
    }
    match ttl.stage(&ruling) {
        Stage::Index => of_index(case, &ttl).into_iter().chain(of_server(case)).collect(),
        Stage::Filter => of_filter(case, &ttl),
        Stage::Date => of_date(case, &ttl),
        Stage::Pending => match &ruling.verdict {
            Verdict::Pending(at, dated) => of_time(case, *at, dated.date, &dated.path),
            _ => Vec::new(),
        },
        Stage::Expired => Vec::new(),
    }
}

/// What can be tried of a collection with seconds of its own, and of buckets.
fn of_part(case: &Case, ttl: &Ttl, part: &Part, verdict: &Verdict) -> Vec<Change> {
    match (verdict, ttl.lifetime()) {
        (Verdict::Pending(at, dated), _) => {
            let begins = Millis(dated.date.0.saturating_add(part.span_s().saturating_mul(1_000)));
            of_time(case, *at, begins, &dated.path)
        }
        (Verdict::Never, Some(lifetime)) if part.is_own() && !part.is_of_buckets() => {
            let latest = case.standing.at.0.saturating_sub(lifetime);
            let words = format!("`_id` were a Date of {} or earlier", instant::shown(latest));
            let dated = change(words, case.with_value("_id", date_of(latest)));
            of_server(case).into_iter().chain([dated]).collect()
        }
        (Verdict::Never, _) => of_server(case).into_iter().collect(),
        (Verdict::Expired(..), _) => Vec::new(),
    }
}

fn change(words: impl Into<String>, case: Case) -> Change {
    Change { words: words.into(), case }
}

// ---- time --------------------------------------------------------------------------------------

fn of_time(case: &Case, at: Millis, date: Millis, path: &str) -> Vec<Change> {
    let standing = Standing { at, ..case.standing };
    let words = format!("it were {} or later", instant::shown(at.0));
    let mut changes = vec![change(words, case.with_standing(standing))];
    let age_s = (i128::from(case.standing.at.0) - i128::from(date.0)).div_euclid(1_000);
    match i32::try_from(age_s) {
        Ok(largest) if largest >= 0 => {
            let with = |seconds: i32| case.with_option(SECONDS, Some(Bson::Int32(seconds)));
            let is_largest =
                largest.checked_add(1).is_none_or(|more| with(more).stage() != Stage::Expired);
            if is_largest {
                let words = format!("`{SECONDS}` were {largest} or less");
                changes.push(change(words, with(largest)));
            }
        }
        _ => {
            let lifetime = at.0.saturating_sub(date.0);
            let latest = case.standing.at.0.saturating_sub(lifetime);
            let words = format!("the Date at `{path}` were {} or earlier", instant::shown(latest));
            changes.push(change(words, case.with_value(path, date_of(latest))));
        }
    }
    changes
}

fn date_of(millis: i64) -> Bson {
    Bson::DateTime(DateTime::from_millis(millis))
}

// ---- the date ----------------------------------------------------------------------------------

fn of_date(case: &Case, ttl: &Ttl) -> Vec<Change> {
    let path = ttl.path();
    let lifetime = ttl.lifetime().unwrap_or_default();
    let latest = case.standing.at.0.saturating_sub(lifetime);
    let Ok(keys) = date::keys(&case.document, &path) else { return Vec::new() };
    let mut changes = Vec::new();
    for key in keys.iter().take(8) {
        let at = &key.path;
        match &key.value {
            Some(Bson::Document(inner)) => {
                for (name, value) in inner.iter().filter(|(_, value)| is_date(value)).take(2) {
                    let longer = format!("{path}.{name}");
                    let words = on_field(&longer, value);
                    changes.push(change(words, on(case, &longer)));
                }
            }
            Some(Bson::Array(inner)) => {
                if let Some(value) = inner.iter().find(|value| is_date(value)) {
                    let words = format!("`{at}` were {} itself, not an array of it", said(value));
                    changes.push(change(words, case.with_value(at, value.clone())));
                }
            }
            Some(value) => {
                if let Some((millis, why)) = meant(value) {
                    let date = instant::shown(millis);
                    let words = format!("`{at}` were the Date {date} instead of {why}");
                    changes.push(change(words, case.with_value(at, date_of(millis))));
                }
            }
            None => {}
        }
    }
    for (name, value) in case.document.iter().filter(|(_, value)| is_date(value)).take(2) {
        changes.push(change(on_field(name, value), on(case, name)));
    }
    let met = keys.iter().find(|key| key.value.is_some());
    let date = instant::shown(latest);
    changes.push(match met {
        None => {
            let words = format!("`{path}` were there with a Date of {date} or earlier");
            change(words, case.with_value(&path, date_of(latest)))
        }
        Some(key) if key.because.contains(&Rule::MongodbDateEmptyArray) => {
            let words =
                format!("the empty array at `{}` held a Date of {date} or earlier", key.path);
            let one = Bson::Array(vec![date_of(latest)]);
            change(words, case.with_value(&key.path, one))
        }
        Some(key) => {
            let kind = a_kind(key.value.as_ref().unwrap_or(&Bson::Null));
            let words =
                format!("`{}` were a Date of {date} or earlier instead of {kind}", key.path);
            change(words, case.with_value(&key.path, date_of(latest)))
        }
    });
    changes
}

fn is_date(value: &Bson) -> bool {
    matches!(value, Bson::DateTime(_))
}

fn said(value: &Bson) -> String {
    match value {
        Bson::DateTime(date) => format!("the Date {}", instant::shown(date.timestamp_millis())),
        other => relaxed(other).to_string(),
    }
}

/// The same with the index on another path.
fn on(case: &Case, path: &str) -> Case {
    case.with_option("key", Some(Bson::Document(doc! { path: 1 })))
}

fn on_field(path: &str, value: &Bson) -> String {
    format!("the index were on `{path}`, which holds {}", said(value))
}

/// The instant that a value seems to be meant as.
fn meant(value: &Bson) -> Option<(i64, &'static str)> {
    match value {
        Bson::String(text) => Some((instant::lenient(text)?, "a string that reads as one")),
        Bson::ObjectId(id) => Some((id.timestamp().timestamp_millis(), "an ObjectId of that time")),
        Bson::Timestamp(stamp) => {
            Some((i64::from(stamp.time) * 1_000, "a Timestamp, which is another type"))
        }
        number => match epoch(number)? {
            (millis, Unit::Seconds) => Some((millis, "a number that looks like its seconds")),
            (millis, Unit::Millis) => Some((millis, "a number that looks like its milliseconds")),
        },
    }
}

// ---- the filter --------------------------------------------------------------------------------

fn of_filter(case: &Case, ttl: &Ttl) -> Vec<Change> {
    let Some(filter) = ttl.index.as_ref().and_then(|index| index.filter()) else {
        return Vec::new();
    };
    let ways = satisfy(case.standing.server, &filter, &case.document);
    let mut changes: Vec<Change> = ways
        .into_iter()
        .map(|(words, document)| change(words, case.with_document(document)))
        .collect();
    let words = "the index had no partial filter";
    changes.push(change(words, case.with_option(FILTER, None)));
    changes
}

// ---- the index ---------------------------------------------------------------------------------

fn of_index(case: &Case, ttl: &Ttl) -> Vec<Change> {
    let spec = case.spec();
    let mut changes = Vec::new();
    let found = ttl.seconds();
    for (seconds, words) in other_seconds(case, ttl, &found) {
        let case = case.with_option(SECONDS, Some(Bson::Int32(seconds)));
        changes.push(change(words, case));
    }
    let key = ttl.key();
    if key.len() > 1 {
        for path in key.keys() {
            changes.push(change(format!("the index were on `{path}` alone"), on(case, path)));
        }
    } else if let Some((path, value)) = key.iter().next()
        && ttl.index.as_ref().is_none_or(|index| index.path().is_none())
    {
        let plain = path.trim_end_matches(".$**");
        let words = format!("the key were `{{{plain}: 1}}` instead of `{{{path}: {value}}}`");
        changes.push(change(words, on(case, plain)));
    }
    if spec.contains_key(FILTER) {
        let words = "the index had no partial filter";
        changes.push(change(words, case.with_option(FILTER, None)));
    }
    for option in spec.keys().filter(|option| !is_option(case.standing.server, option)) {
        let words = format!("the index had no option `{option}`");
        changes.push(change(words, case.with_option(option, None)));
    }
    for option in ["sparse", "unique", "hidden"] {
        if spec.contains_key(option) {
            let words = format!("the index were not `{option}`");
            changes.push(change(words, case.with_option(option, None)));
        }
    }
    if case.specs.len() > 1 && !case.specs.iter().any(whole::is_own) {
        let alone = Case { specs: vec![spec.clone()], at: 0, ..case.clone() };
        changes.push(change("the other indexes were not in its way", alone));
    }
    if case.kind == Kind::Capped {
        let plain = Case { kind: Kind::Plain, ..case.clone() };
        changes.push(change("the collection were not capped", plain));
    }
    changes
}

/// Values of `expireAfterSeconds` that would do where the one found does not.
fn other_seconds(case: &Case, ttl: &Ttl, found: &Bson) -> Vec<(i32, String)> {
    let shown = relaxed(found);
    let shown = match found {
        Bson::Double(double) if double.is_nan() => "NaN".to_owned(),
        _ => shown.to_string(),
    };
    let mut values = Vec::new();
    if let Bson::String(text) = found
        && let Ok(seconds) = text.trim().parse::<i32>()
    {
        let words = format!("`{SECONDS}` were the number {seconds} instead of the string {shown}");
        values.push((seconds, words));
    }
    let dated =
        ttl.key().keys().next().and_then(|path| date::earliest(&case.document, path).verdict);
    let now = case.standing.at.0;
    let age_s = dated.map(|dated| (i128::from(now) - i128::from(dated.date.0)).div_euclid(1_000));
    // Old servers take no more seconds than have passed since 1970.
    let most = i32::try_from(now.div_euclid(1_000)).unwrap_or(i32::MAX).max(0);
    let largest = age_s.map_or(0, |age_s| age_s.clamp(0, i128::from(most)) as i32);
    let number = match largest {
        0 => "the number 0".to_owned(),
        largest => format!("a number of {largest} or less"),
    };
    let words = format!("`{SECONDS}` were {number} instead of {shown}");
    values.push((largest, words));
    values
}

// ---- the server --------------------------------------------------------------------------------

/// Releases that behave differently from each other, oldest first.
const RELEASES: [Version; 16] = [
    Version::new(4, 0, 28),
    Version::new(4, 2, 22),
    Version::new(4, 2, 25),
    Version::new(4, 4, 15),
    Version::new(4, 4, 29),
    Version::new(5, 0, 10),
    Version::new(5, 0, 13),
    Version::new(5, 0, 31),
    Version::new(5, 3, 1),
    Version::new(6, 0, 1),
    Version::new(6, 0, 20),
    Version::new(6, 3, 2),
    Version::new(7, 0, 14),
    Version::new(7, 1, 1),
    Version::new(8, 0, 4),
    Version::new(8, 0, 12),
];

/// The nearest release on which the document would be expired: a later one if there is one.
fn of_server(case: &Case) -> Option<Change> {
    let server = case.standing.server;
    let later = RELEASES.iter().filter(|release| **release > server);
    let earlier = RELEASES.iter().rev().filter(|release| **release < server);
    later.chain(earlier).find_map(|release| {
        let there = case.with_standing(Standing { server: *release, ..case.standing });
        let (ttl, ruling) = there.look();
        (ttl.stage(&ruling) == Stage::Expired).then(|| {
            let before = case.look();
            let known = before.0.by(&before.1);
            let by = ttl.by(&ruling);
            let new = by.iter().filter(|rule| !known.contains(rule));
            let reason = new.into_iter().find_map(|rule| reason(*rule));
            let reason = reason.or_else(|| self::reason(before.0.deciding(&before.1)));
            let reason = reason.map(|reason| format!(", where {reason}")).unwrap_or_default();
            change(format!("the server were {release}{reason}"), there)
        })
    })
}

fn reason(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::MongodbNanZero => "NaN acts as 0",
        Rule::MongodbNanStoredAsMax => "NaN is kept as 2147483647",
        Rule::MongodbIndexCappedWorks => "TTL indexes of capped collections work",
        Rule::MongodbFilterOrIn => "the partial filter is accepted",
        Rule::MongodbIndexUnchecked => "createIndexes does not check the value",
        Rule::MongodbIndexHidden => "`hidden` is known",
        Rule::MongodbClusteredBefore1970 => "dates before 1970 are looked at",
        Rule::MongodbBucketFrom2017 => "old buckets are looked at",
        Rule::MongodbBucketTwoScans | Rule::MongodbBucketOff => {
            "a bucket outside 1970 to 2038 does not keep the others"
        }
        _ => return None,
    })
}

/// Everything that a document needs to be looked at under one of several specifications.
pub fn case(
    standing: &Standing,
    kind: Kind,
    specs: &[Document],
    nth_ttl: usize,
    document: &Document,
) -> Case {
    let ttl = specs.iter().enumerate().filter(|(_, spec)| spec.contains_key(SECONDS));
    let at = ttl.map(|(at, _)| at).nth(nth_ttl).unwrap_or_default();
    Case { standing: *standing, kind, specs: specs.to_vec(), at, document: document.clone() }
}
