#![doc = include_str!("../../../specs/mongodb/15-bucket.md")]
//! ---
//! *Module:* how are measurements kept in buckets, and which buckets expire?

use bson::{Bson, DateTime, Document, doc};

use super::clustered::wrong_type;
use super::compare::equal;
use super::date::Dated;
use super::filter::{self, Filter};
use super::index::{FILTER, Index, Kind, SECONDS};
use super::life::Verdict;
use super::number::{is_number, is_true, safe_int};
use super::pass::Use;
use super::threshold::{Expiry, expiry};
use super::version::{BucketStart, ExtendedRange, Version};
use super::visibility::Collection;
use super::words::{Doc, Reply, Value, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// How measurements are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// The field with the time of a measurement.
    pub time: String,
    /// The field by whose value buckets are kept apart.
    pub meta: Option<String>,
    /// Where the span and the rounding come from, unless they were given.
    pub granularity: Option<Granularity>,
    /// `bucketMaxSpanSeconds`.
    pub span_s: i32,
    /// `bucketRoundingSeconds`.
    pub rounding_s: i32,
}

/// How far apart measurements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    /// "seconds"
    Seconds,
    /// "minutes"
    Minutes,
    /// "hours"
    Hours,
}

impl Granularity {
    /// The one with this name.
    fn named(name: &str) -> Option<Granularity> {
        match name {
            "seconds" => Some(Granularity::Seconds),
            "minutes" => Some(Granularity::Minutes),
            "hours" => Some(Granularity::Hours),
            _ => None,
        }
    }

    /// The span and the rounding, in seconds.
    fn seconds(self) -> (i32, i32) {
        match self {
            Granularity::Seconds => (3_600, 60),
            Granularity::Minutes => (86_400, 3_600),
            Granularity::Hours => (2_592_000, 86_400),
        }
    }
}

impl Series {
    /// The span in milliseconds.
    pub fn span_ms(&self) -> i64 {
        i64::from(self.span_s) * 1_000
    }
}

/// `timeseries`, once its form has been found right.
pub struct Options {
    time: String,
    meta: Option<String>,
    bucketing: Bucketing,
}

/// What is asked for as the size of buckets.
#[derive(Default)]
struct Bucketing {
    granularity: Option<Granularity>,
    span_s: Option<i32>,
    rounding_s: Option<i32>,
}

/// The largest span, a year.
const LARGEST_SPAN_S: i32 = 31_536_000;

// ---- create ------------------------------------------------------------------------------------

/// Reads the option `timeseries`.
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn options(version: Version, fields: &Document) -> Result<Options, Ruling<i32>> {
    let (mut time, mut meta, mut bucketing) = (None, None, Bucketing::default());
    for (field, value) in fields {
        match (field.as_str(), value) {
            (_, Bson::Null | Bson::Undefined) => {}
            ("timeField", Bson::String(name)) => time = Some(name.clone()),
            ("metaField", Bson::String(name)) => meta = Some(name.clone()),
            ("timeField" | "metaField", _) => return wrong_type(),
            (field, value) => bucketing.read(version, field, value)?,
        }
    }
    match time {
        Some(time) => Ok(Options { time, meta, bucketing }),
        None => Err(code::MISSING_FIELD.by(Rule::MongodbClusteredOptionType)),
    }
}

impl Bucketing {
    fn read(&mut self, version: Version, field: &str, value: &Bson) -> Result<(), Ruling<i32>> {
        let knows_rounding = version.bucket_span_is_free();
        match (field, value) {
            ("granularity", Bson::String(name)) => match Granularity::named(name) {
                Some(granularity) => self.granularity = Some(granularity),
                None => return Err(code::BAD_VALUE.by(Rule::MongodbBucketGranularity)),
            },
            ("bucketMaxSpanSeconds", seconds) if is_number(seconds) => {
                self.span_s = Some(positive(seconds)?);
            }
            ("bucketRoundingSeconds", seconds) if knows_rounding && is_number(seconds) => {
                self.rounding_s = Some(positive(seconds)?);
            }
            ("bucketRoundingSeconds", _) if !knows_rounding => {
                return Err(code::UNKNOWN_FIELD.by(Rule::MongodbBucketCustom));
            }
            ("granularity" | "bucketMaxSpanSeconds" | "bucketRoundingSeconds", _) => {
                return wrong_type();
            }
            _ => return Err(code::UNKNOWN_FIELD.by(Rule::MongodbClusteredOption)),
        }
        Ok(())
    }

    /// Is nothing asked for?
    fn is_empty(&self) -> bool {
        self.granularity.is_none() && self.span_s.is_none() && self.rounding_s.is_none()
    }
}

fn positive(seconds: &Bson) -> Result<i32, Ruling<i32>> {
    let seconds = safe_int(seconds);
    if (1..=LARGEST_SPAN_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(code::OUT_OF_RANGE.by(Rule::MongodbBucketCustom))
    }
}

/// May the fields have these names, and does the collection want to be nothing else?
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn names(options: &Options, is_alone: bool) -> Result<(), Ruling<i32>> {
    if !is_alone {
        return Err(code::INVALID_OPTIONS.by(Rule::MongodbBucketAlone));
    }
    let Options { time, meta, .. } = options;
    let is_bad = |name: &String| name.contains('.') || name == "_id";
    if is_bad(time) || meta.as_ref().is_some_and(|meta| is_bad(meta) || meta == time) {
        return Err(code::INVALID_OPTIONS.by(Rule::MongodbBucketFields));
    }
    Ok(())
}

/// How measurements are kept with these options.
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn series(version: Version, options: &Options) -> Result<Ruling<Series>, Ruling<i32>> {
    let refuse = |code: i32, rule: Rule| Err(code.by(rule));
    let Options { time, meta, bucketing } = options;
    let Bucketing { granularity, span_s, rounding_s } = *bucketing;
    let by_granularity = granularity.unwrap_or(Granularity::Seconds);
    let default = by_granularity.seconds();
    let is_another = span_s.is_some_and(|span_s| span_s != default.0);
    let custom = if !version.bucket_span_is_free() {
        if is_another {
            return refuse(code::SPAN_IS_FIXED, Rule::MongodbBucketGranularity);
        }
        None
    } else if granularity.is_some() {
        if is_another || rounding_s.is_some() {
            return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketCustom);
        }
        None
    } else if span_s == rounding_s {
        span_s
    } else {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketCustom);
    };
    let (granularity, (span_s, rounding_s), rule) = match custom {
        Some(custom) => (None, (custom, custom), Rule::MongodbBucketCustom),
        None => (Some(by_granularity), default, Rule::MongodbBucketGranularity),
    };
    let (time, meta) = (time.clone(), meta.clone());
    Ok(Series { time, meta, granularity, span_s, rounding_s }.by(rule))
}

// ---- collMod -----------------------------------------------------------------------------------

/// Changes how measurements are kept, from now on.
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn modify(
    version: Version,
    collection: &mut Collection,
    fields: &Document,
) -> Result<Ruling<()>, Ruling<i32>> {
    let refuse = |rule: Rule| Err(code::INVALID_OPTIONS.by(rule));
    let mut asked = Bucketing::default();
    for (field, value) in fields.iter().filter(|(_, value)| **value != Bson::Null) {
        asked.read(version, field, value)?;
    }
    let Some(series) = &mut collection.settings.series else {
        return refuse(Rule::MongodbBucketOnly);
    };
    let (span_s, rounding_s) = match &asked {
        asked if asked.is_empty() && !version.bucket_span_is_free() => {
            return Ok(Ruling::plain(()));
        }
        Bucketing { granularity: Some(granularity), span_s: None, rounding_s: None } => {
            granularity.seconds()
        }
        Bucketing { granularity: None, span_s: Some(span_s), rounding_s: Some(rounding_s) }
            if span_s == rounding_s =>
        {
            (*span_s, *rounding_s)
        }
        _ => return refuse(Rule::MongodbBucketCustom),
    };
    // What was given by a granularity is compared by it; seconds and minutes have no end in common.
    if span_s < series.span_s || rounding_s < series.rounding_s {
        return refuse(Rule::MongodbBucketCoarser);
    }
    series.granularity = asked.granularity;
    series.span_s = span_s;
    series.rounding_s = rounding_s;
    Ok(().by(Rule::MongodbBucketCoarser))
}

// ---- measurements ------------------------------------------------------------------------------

/// A bucket: `{ _id: { min, meta, n }, control: { min, max }, data: [measurement, …] }`.
///
/// The server's `_id` is an ObjectId with the seconds of `min`, cut to 32 bits, and chance; here it
/// says the whole time, and what else tells buckets apart.
mod part {
    use bson::{Bson, Document};

    use crate::time::Millis;

    /// The date at this path of two names.
    fn date(bucket: &Document, (outer, inner): (&str, &str)) -> Millis {
        let outer = bucket.get_document(outer).ok();
        let date = outer.and_then(|outer| outer.get_datetime(inner).ok());
        Millis(date.map_or(0, |date| date.timestamp_millis()))
    }

    /// The time in its `_id`.
    pub fn time(bucket: &Document) -> Millis {
        date(bucket, ("_id", "min"))
    }

    /// `control.min`.
    pub fn min(bucket: &Document) -> Millis {
        date(bucket, ("control", "min"))
    }

    /// `control.max`.
    pub fn max(bucket: &Document) -> Millis {
        date(bucket, ("control", "max"))
    }

    /// The value that its measurements share, if they have one.
    pub fn meta(bucket: &Document) -> Option<&Bson> {
        bucket.get_document("_id").ok()?.get("meta")
    }

    /// Its measurements.
    pub fn data(bucket: &Document) -> &[Bson] {
        bucket.get_array("data").map_or(&[], |data| data)
    }
}

fn date(at: Millis) -> Bson {
    Bson::DateTime(DateTime::from_millis(at.0))
}

/// All measurements, bucket by bucket.
pub fn find(collection: &Collection) -> Ruling<Reply> {
    let data = collection.documents.values().flat_map(|bucket| part::data(bucket));
    let ids = data.filter_map(|measurement| measurement.as_document()?.get("_id"));
    let found = Reply::Found(ids.map(|id| Value(id.clone())).collect());
    found.by(Rule::MongodbBucketFind).and(Rule::MongodbVisibilityUntilPass)
}

/// Puts a measurement into a bucket.
pub fn insert(version: Version, collection: &mut Collection, measurement: &Doc) -> Ruling<Reply> {
    let series = collection.settings.series.clone().expect("a time-series collection has one");
    let Some(Bson::DateTime(time)) = measurement.get(&series.time) else {
        return Reply::Error(code::BAD_VALUE).by(Rule::MongodbBucketMeasurement);
    };
    let time = Millis(time.timestamp_millis());
    let meta = series.meta.as_ref().and_then(|meta| measurement.get(meta)).cloned();
    let is_apart = |bucket: &Document| {
        part::meta(bucket).map(|meta| Value(meta.clone())) != meta.clone().map(Value)
    };
    let covers = |bucket: &Document| {
        let min = part::min(bucket);
        min <= time && time < min.plus_millis(series.span_ms())
    };
    let others = collection.documents.values().filter(|bucket| is_apart(bucket));
    let parted = others.filter(|bucket| covers(bucket)).count() > 0;
    let open = (collection.documents.iter())
        .filter(|(_, bucket)| !is_apart(bucket) && covers(bucket))
        .max_by_key(|(record, bucket)| (part::min(bucket), **record))
        .map(|(record, _)| *record);
    let reply = match open {
        Some(record) => {
            let bucket = collection.documents.get_mut(&record).expect("it was just seen");
            add(&mut bucket.0, measurement, time);
            Reply::Ok.by(Rule::MongodbBucketJoins)
        }
        None => {
            let record = collection.documents.last_key_value().map_or(0, |(last, _)| last + 1);
            let rounded = rounded(version, &series, time);
            let mut id = doc! { "min": date(rounded) };
            id.extend(meta.map(|meta| ("meta".to_owned(), meta)));
            let bucket = doc! {
                "_id": apart(collection, id),
                "control": { "min": date(rounded.min(time)), "max": date(rounded.max(time)) },
                "data": [measurement.0.clone()],
            };
            collection.documents.insert(record, Doc(bucket));
            Reply::Ok.by(Rule::MongodbBucketOpens)
        }
    };
    notice(collection);
    if parted { reply.and(Rule::MongodbBucketMeta) } else { reply }
}

/// The time that a new bucket has in its `_id`: rounded down, and before 8.1 towards 1970.
fn rounded(version: Version, series: &Series, time: Millis) -> Millis {
    if version.bucket_times_round_down() {
        let rounding_ms = i64::from(series.rounding_s) * 1_000;
        return time.minus_millis(time.0.rem_euclid(rounding_ms));
    }
    let seconds = time.0 / 1_000;
    Millis((seconds - seconds % i64::from(series.rounding_s)) * 1_000)
}

/// The identity, with a number where the same is there already.
fn apart(collection: &Collection, id: Document) -> Document {
    let is_there = |id: &Document| {
        let mut buckets = collection.documents.values();
        buckets.any(|bucket| equal(&bucket["_id"], &id.clone().into()))
    };
    let numbered = |n: i32| {
        let mut id = id.clone();
        id.insert("n", n);
        id
    };
    let mut candidates = std::iter::once(id.clone()).chain((1..).map(numbered));
    candidates.find(|id| !is_there(id)).expect("there are enough numbers")
}

fn add(bucket: &mut Document, measurement: &Doc, time: Millis) {
    let max = part::max(bucket).max(time);
    if let Ok(data) = bucket.get_array_mut("data") {
        data.push(measurement.0.clone().into());
    }
    if let Ok(control) = bucket.get_document_mut("control") {
        control.insert("max", date(max));
    }
}

/// A measurement cannot be replaced.
pub fn replace() -> Ruling<Reply> {
    Reply::Error(code::INVALID_OPTIONS).by(Rule::MongodbBucketReplace)
}

/// Deletes the measurements with this `_id`. What is left keeps the time of its bucket.
pub fn remove(version: Version, collection: &mut Collection, id: &Bson) -> Ruling<Reply> {
    if !version.measurements_can_be_deleted() {
        return Reply::Error(code::INVALID_OPTIONS).by(Rule::MongodbBucketRemove);
    }
    let series = collection.settings.series.clone().expect("a time-series collection has one");
    let is_meant = |measurement: &Bson| {
        let own = measurement.as_document().and_then(|document| document.get("_id"));
        own.is_some_and(|own| equal(own, id))
    };
    let mut removed = 0;
    for bucket in collection.documents.values_mut() {
        let left: Vec<Bson> =
            part::data(bucket).iter().filter(|one| !is_meant(one)).cloned().collect();
        let gone = part::data(bucket).len() - left.len();
        if gone == 0 {
            continue;
        }
        removed += gone as u64;
        let times =
            left.iter().filter_map(|one| one.as_document()?.get_datetime(&series.time).ok());
        let times = times.map(|time| Millis(time.timestamp_millis()));
        let max = times.max().unwrap_or(Millis::MIN).max(part::time(bucket));
        bucket.0.insert("data", left);
        if let Ok(control) = bucket.0.get_document_mut("control") {
            control.insert("max", date(max));
        }
    }
    collection.documents.retain(|_, bucket| !part::data(bucket).is_empty());
    Reply::Matched(removed).by(Rule::MongodbBucketRemove)
}

// ---- dates that an `_id` cannot hold -----------------------------------------------------------

/// The seconds as they stand in an `_id`: without a fraction, cut to 32 bits.
fn id_seconds(at: Millis) -> u32 {
    (at.0 / 1_000) as u32
}

/// Does the `_id` say the time as it is?
fn is_cut(at: Millis) -> bool {
    i64::from(id_seconds(at)) != at.0 / 1_000
}

/// Does a bucket begin before 1970, or after 2038-01-19T03:14:07Z?
fn is_outside(bucket: &Document) -> bool {
    let min = part::min(bucket);
    min < Millis(0) || min.0 / 1_000 > i64::from(i32::MAX)
}

/// Notices dates that a bucket's `_id` cannot hold.
pub fn notice(collection: &mut Collection) {
    let is_series = collection.kind == Kind::TimeSeries;
    let is_outside = collection.documents.values().any(|bucket| is_outside(bucket));
    collection.is_extended |= is_series && is_outside;
}

/// A process that is sent the collection sees each bucket, and forgets what the sender knew.
pub fn received(collection: &mut Collection) {
    collection.is_extended = false;
    notice(collection);
}

/// A process that finds the collection there looks at the last `_id`, and there at the highest bit.
/// `Some`: there was one to look at.
pub fn look_again(collection: &mut Collection) -> Option<Rule> {
    collection.is_extended = false;
    if collection.kind != Kind::TimeSeries {
        return None;
    }
    let seconds = collection.documents.values().map(|bucket| id_seconds(part::time(bucket)));
    let last = seconds.max()?;
    collection.is_extended = last >= FIRST_BEYOND_31_BITS;
    Some(Rule::MongodbBucketLooksAgain)
}

/// The first number of seconds with the highest of 32 bits: 2038-01-19T03:14:08Z.
const FIRST_BEYOND_31_BITS: u32 = 0x8000_0000;

// ---- what expires by the collection's seconds --------------------------------------------------

/// `Some`: nothing is deleted from the collection, whatever it holds.
pub fn off(version: Version, collection: &Collection) -> Option<Ruling<Use>> {
    let is_off = collection.is_extended && version.extended_range() == ExtendedRange::Off;
    is_off.then(|| Use::Nothing.by(Rule::MongodbBucketOff))
}

/// What is to be said of what is deleted.
pub fn remark(collection: &Collection) -> Option<Rule> {
    (collection.kind == Kind::TimeSeries).then_some(Rule::MongodbBucketDeleted)
}

/// What do the seconds of the collection make of a bucket? The lifetime includes the span.
pub fn verdict(
    version: Version,
    collection: &Collection,
    bucket: &Document,
    lifetime_ms: i64,
    now: Millis,
) -> Ruling<Verdict> {
    if collection.is_extended && version.extended_range() == ExtendedRange::TwoScans {
        return by_two_scans(collection, bucket, lifetime_ms, now);
    }
    let start = match version.bucket_start() {
        BucketStart::Nowhere | BucketStart::Epoch => 0,
        BucketStart::Smallest => id_seconds(Millis::MIN),
    };
    let seconds = id_seconds(part::time(bucket));
    let ruling = if seconds < start {
        Verdict::Never.by(Rule::MongodbBucketFrom2017)
    } else {
        by_seconds(seconds, lifetime_ms, now)
    };
    if is_cut(part::time(bucket)) { ruling.and(Rule::MongodbBucketCut) } else { ruling }
}

/// Up to the second of the threshold.
fn by_seconds(seconds: u32, lifetime_ms: i64, now: Millis) -> Ruling<Verdict> {
    let threshold = now.minus_millis(lifetime_ms);
    let date = Millis(i64::from(seconds) * 1_000);
    let at = date.plus_millis(lifetime_ms);
    let dated = Dated { path: "_id".to_owned(), date };
    let ruling = if seconds <= id_seconds(threshold) {
        Verdict::Expired(at, dated).by(Rule::MongodbBucketExpired)
    } else {
        Verdict::Pending(at, dated).by(Rule::MongodbBucketBefore)
    };
    if is_cut(threshold) { ruling.and(Rule::MongodbBucketThresholdCut) } else { ruling }
}

/// From 1970 on upward, and from 2106 downward, each only where the latest measurement is as old as
/// it should be.
fn by_two_scans(
    collection: &Collection,
    bucket: &Document,
    lifetime_ms: i64,
    now: Millis,
) -> Ruling<Verdict> {
    let series = collection.settings.series.as_ref().expect("a time-series collection has one");
    let seconds = id_seconds(part::time(bucket));
    let own_ms = lifetime_ms.saturating_sub(series.span_ms());
    let own_threshold = now.minus_millis(lifetime_ms).plus_millis(series.span_ms());
    let is_old = part::max(bucket) <= own_threshold;
    let upward = by_seconds(seconds, lifetime_ms, now);
    let is_high = seconds >= FIRST_BEYOND_31_BITS - series.span_s.unsigned_abs();
    match upward.verdict {
        Verdict::Expired(..) if is_old => upward.and(Rule::MongodbBucketTwoScans),
        _ if is_high && is_old => {
            // The second scan goes down, after the first.
            let place = Millis(i64::from(u32::MAX) * 2_000 - i64::from(seconds) * 1_000);
            let dated = Dated { path: "_id".to_owned(), date: place };
            Verdict::Expired(now, dated).by(Rule::MongodbBucketTwoScans)
        }
        Verdict::Expired(_, dated) => {
            let at = part::max(bucket).plus_millis(own_ms);
            Verdict::Pending(at, dated).by(Rule::MongodbBucketTwoScans)
        }
        _ => upward,
    }
}

// ---- indexes -----------------------------------------------------------------------------------

/// Why a time-series collection does not take this index, if so.
pub fn refusal(version: Version, collection: &Collection, spec: &Document) -> Option<Ruling<i32>> {
    let series = collection.settings.series.as_ref()?;
    let refuse = |code: i32, rule: Rule| Some(code.by(rule));
    let key = spec.get_document("key").ok();
    let is_text = |value: &Bson| value.as_str() == Some("text");
    let special = key.is_some_and(|key| key.values().any(is_text));
    if special || spec.get("unique").is_some_and(is_true) {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketIndexOptions);
    }
    if !spec.contains_key(SECONDS) {
        return None;
    }
    if !version.series_may_have_ttl_index() {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketIndex);
    }
    match spec.get(FILTER) {
        None => return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketIndexFilter),
        Some(Bson::Document(fields)) => {
            let is_of_meta =
                |filter: Filter| paths(&filter).iter().all(|path| is_meta(series, path));
            if !filter::parse(fields).map_or(true, is_of_meta) {
                return refuse(code::INVALID_OPTIONS, Rule::MongodbBucketIndexFilter);
            }
        }
        Some(_) => {}
    }
    match key {
        Some(key) if key.len() != 1 => {
            refuse(code::CANNOT_CREATE_INDEX, Rule::MongodbBucketIndexKey)
        }
        Some(key) if !key.contains_key(&series.time) => {
            refuse(code::INVALID_OPTIONS, Rule::MongodbBucketIndexKey)
        }
        _ => None,
    }
}

/// The seconds of an index over buckets cannot be changed.
pub fn index_is_kept() -> Ruling<i32> {
    code::INVALID_OPTIONS.by(Rule::MongodbBucketIndexModify)
}

/// All paths that a filter asks for.
fn paths(filter: &Filter) -> Vec<String> {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().flat_map(paths).collect(),
        Filter::At(path, _) => vec![path.clone()],
        Filter::Refused(_) => Vec::new(),
    }
}

/// Is it the meta field, or something in it?
fn is_meta(series: &Series, path: &str) -> bool {
    let first = path.split('.').next();
    series.meta.as_deref().is_some_and(|meta| first == Some(meta))
}

/// What a filter sees of a bucket: the meta field alone.
fn seen(series: &Series, bucket: &Document) -> Document {
    let mut seen = Document::new();
    if let (Some(field), Some(meta)) = (&series.meta, part::meta(bucket)) {
        seen.insert(field, meta.clone());
    }
    seen
}

/// Is a bucket in an index, as far as its filter goes?
pub fn member(
    version: Version,
    collection: &Collection,
    index: &Index,
    bucket: &Document,
) -> Ruling<bool> {
    match (&collection.settings.series, index.filter()) {
        (Some(series), Some(filter)) => filter::member(version, &filter, &seen(series, bucket)),
        _ => Ruling::plain(true),
    }
}

/// What does an index make of a bucket? The lifetime includes the span.
pub fn by_index(
    version: Version,
    collection: &Collection,
    index: &Index,
    bucket: &Document,
    (lifetime_ms, now): (i64, Millis),
) -> Ruling<Verdict> {
    member(version, collection, index, bucket).then(|is_member| {
        if !is_member || index.path() != time_field(collection) {
            return Ruling::plain(Verdict::Never);
        }
        let date = part::min(bucket);
        let dated = Dated { path: "control.min".to_owned(), date };
        let expiry = expiry(date, lifetime_ms, now).and(Rule::MongodbBucketIndexExpired);
        expiry.map(|expiry| match expiry {
            Expiry::Never => Verdict::Never,
            Expiry::Pending(at) => Verdict::Pending(at, dated),
            Expiry::Expired(at) => Verdict::Expired(at, dated),
        })
    })
}

fn time_field(collection: &Collection) -> Option<String> {
    collection.settings.series.as_ref().map(|series| series.time.clone())
}
