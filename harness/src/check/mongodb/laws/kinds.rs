//! What holds of collections that have seconds of their own?

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::Kind;
use ttlspec_model::mongodb::visibility::Collection;

use super::see::*;

/// A date that stands in a document within a document.
fn inner(document: &Document, outer: &str, field: &str) -> Option<i128> {
    let date = document.get_document(outer).ok()?.get_datetime(field).ok()?;
    Some(date.timestamp_millis().into())
}

fn own_ms(there: &Collection) -> Option<i128> {
    there.settings.seconds.map(|seconds| i128::from(seconds) * 1_000)
}

// ---- clustered ---------------------------------------------------------------------------------

/// When the seconds of a clustered collection may delete a document.
fn due_by_key(walk: &W, seen: &S, document: &Document) -> Option<i128> {
    let there = collection(seen.state()).filter(|there| there.kind != Kind::TimeSeries)?;
    let date = document.get_datetime("_id").ok()?.timestamp_millis();
    let counts = date >= 0 || !walk.config().version.clustered_begins_at_1970();
    own_ms(there).filter(|_| counts).map(|own_ms| i128::from(date) + own_ms)
}

pub(super) fn keys_and_dates_decide(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |now, step, record, document| {
        let due = [due_by_key(walk, seen, document), first_due(walk, seen.state(), document)];
        let is_due = due.into_iter().flatten().any(|due| due <= now.0.into());
        is_due == is_gone(step, record)
    })
}

pub(super) fn a_key_expires_this_instant(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, _, _, document| {
        due_by_key(walk, seen, document) == Some(now.0.into())
    })
}

// ---- buckets -----------------------------------------------------------------------------------

/// The lifetimes that a bucket has by the collection and by each of its indexes, without the span.
fn lifetimes(walk: &W, seen: &S, bucket: &Document) -> Vec<i128> {
    let Some(there) = collection(seen.state()) else { return Vec::new() };
    let mut shown = Document::new();
    if let (Some(series), Ok(id)) = (&there.settings.series, bucket.get_document("_id"))
        && let (Some(field), Some(meta)) = (&series.meta, id.get("meta"))
    {
        shown.insert(field, meta.clone());
    }
    let by_index = used(walk, seen.state()).into_iter();
    let by_index = by_index.filter(|(index, _)| is_member(walk, index, &shown));
    own_ms(there).into_iter().chain(by_index.map(|(_, lifetime_ms)| lifetime_ms.into())).collect()
}

fn span_ms(seen: &S) -> i128 {
    let series = collection(seen.state()).and_then(|there| there.settings.series.as_ref());
    series.map_or(0, |series| series.span_ms().into())
}

/// The times of the measurements in a bucket.
fn times(bucket: &Document) -> Vec<i128> {
    let data = bucket.get_array("data").map_or(&[][..], |data| data);
    let time = |one: &Bson| one.as_document()?.get_datetime("t").ok().copied();
    data.iter().filter_map(time).map(|time| time.timestamp_millis().into()).collect()
}

pub(super) fn whole_spans_decide(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |now, step, record, bucket| {
        let Some(min) = inner(bucket, "_id", "min") else { return true };
        let lives = lifetimes(walk, seen, bucket);
        let is_due = lives.iter().any(|life| min + life + span_ms(seen) <= now.0.into());
        is_due == is_gone(step, record)
    })
}

pub(super) fn a_bucket_expires(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |_, step, record, _| is_gone(step, record))
}

/// Are all measurements of deleted buckets as old as somebody asked for?
pub(super) fn no_measurement_dies_early(walk: &W, seen: &S) -> bool {
    in_each(walk, seen, |now, step, record, bucket| {
        let least = lifetimes(walk, seen, bucket).into_iter().min();
        let is_old = |time: i128| least.is_some_and(|least| time + least <= now.0.into());
        !is_gone(step, record) || times(bucket).into_iter().all(is_old)
    })
}

pub(super) fn an_expired_measurement_stays(walk: &W, seen: &S) -> bool {
    in_some(walk, seen, |now, step, record, bucket| {
        let least = lifetimes(walk, seen, bucket).into_iter().min();
        let is_old = |time: i128| least.is_some_and(|least| time + least <= now.0.into());
        !is_gone(step, record) && times(bucket).into_iter().any(is_old)
    })
}

fn is_extended(seen: &S) -> bool {
    collection(seen.state()).is_some_and(|there| there.is_extended)
}

pub(super) fn extended_is_left_alone(walk: &W, seen: &S) -> bool {
    !is_extended(seen) || in_each(walk, seen, |_, step, record, _| !is_gone(step, record))
}

pub(super) fn an_extended_collection_has_something_old(_: &W, seen: &S) -> bool {
    let mut buckets = documents(seen.state());
    is_extended(seen) && buckets.any(|(_, bucket)| inner(bucket, "_id", "min") == Some(0))
}

pub(super) fn extended_measurements_are_safe(walk: &W, seen: &S) -> bool {
    !is_extended(seen) || no_measurement_dies_early(walk, seen)
}

pub(super) fn an_extended_bucket_expires(walk: &W, seen: &S) -> bool {
    is_extended(seen) && a_bucket_expires(walk, seen)
}
