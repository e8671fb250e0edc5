//! Which bucket takes a measurement, and which buckets are due?
//!
//! Buckets are raw documents: `{ _id: { min, meta, n }, control: { min, max }, data: […] }`. The
//! time in the server's `_id`, cut to 32 bits there, is `_id.min` here, uncut.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ttlspec_model::mongodb::version::{BucketStart, ExtendedRange};
use ttlspec_model::mongodb::{Version, code};

use super::bytes::{Malformed, Value, elements, kind};
use super::filter_parser::{Tree, is_true, parse};
use super::options::Form;
use super::order::equal;
use super::store::{Slot, Store};
use super::ttl_index::{FILTER, SECONDS, TtlIndex};

/// Where the buckets of a time-series collection are.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// By the seconds of their `_id`s, cut to 32 bits, and by age. So the monitor scans them.
    by_id: BTreeMap<(u32, u64), Slot>,
    /// By what their measurements share, by `control.min`, and by age.
    open: BTreeMap<Box<[u8]>, ByMin>,
    /// Has there been one that begins before 1970 or after 2038?
    is_extended: bool,
}

/// Buckets by `control.min` and by age.
type ByMin = BTreeMap<(i64, u64), Slot>;

/// What a bucket becomes: `None` where nothing is left of it.
pub(super) type Changed = (Slot, Option<Vec<u8>>);

/// A bucket, read.
struct Bucket<'a> {
    /// The time in its `_id`, before it is cut.
    time_ms: i64,
    meta: Option<Value<'a>>,
    min_ms: i64,
    max_ms: i64,
}

/// A bucket that is due, with its place in the order of deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    /// The place: by date, or by scan.
    pub(super) date_ms: i64,
    /// The age.
    pub(super) record: u64,
    /// Where it is.
    pub(super) slot: Slot,
}

/// A bucket as it is to be stored.
pub(super) struct Stored {
    /// Its bytes.
    pub(super) document: Vec<u8>,
    /// Is it a new one?
    pub(super) is_new: bool,
}

/// The seconds as an `_id` holds them.
fn cut(time_ms: i64) -> u32 {
    (time_ms / 1_000) as u32
}

fn field<'a>(document: &'a [u8], name: &[u8]) -> Option<Value<'a>> {
    elements(document).and_then(|fields| fields.find(name)).ok().flatten()
}

fn in_field<'a>(document: &'a [u8], outer: &[u8], inner: &[u8]) -> Option<Value<'a>> {
    field(document, outer).and_then(|outer| field(outer.bytes, inner))
}

impl<'a> Bucket<'a> {
    fn read(document: &'a [u8]) -> Bucket<'a> {
        let date = |outer: &[u8], inner: &[u8]| {
            in_field(document, outer, inner).and_then(Value::date).unwrap_or_default()
        };
        Bucket {
            time_ms: date(b"_id", b"min"),
            meta: in_field(document, b"_id", b"meta"),
            min_ms: date(b"control", b"min"),
            max_ms: date(b"control", b"max"),
        }
    }

    fn is_extended(&self) -> bool {
        !(0..=i64::from(i32::MAX)).contains(&self.min_ms.div_euclid(1_000))
    }
}

/// The measurements of a bucket.
pub(super) fn measurements(bucket: &[u8]) -> impl Iterator<Item = &[u8]> {
    let data = field(bucket, b"data").and_then(|data| data.elements().ok());
    let mut data = data.into_iter();
    let mut fields = data.next();
    std::iter::from_fn(move || Some(fields.as_mut()?.advance().ok()??.1.bytes))
}

/// The `_id` of a measurement.
pub(super) fn id_of(measurement: &[u8]) -> Value<'_> {
    field(measurement, b"_id").unwrap_or(Value::NULL)
}

impl Buckets {
    /// A bucket has come.
    pub(super) fn admit(&mut self, slot: Slot, record: u64, document: &[u8]) {
        let bucket = Bucket::read(document);
        self.by_id.insert((cut(bucket.time_ms), record), slot);
        let open = self.open.entry(shared(bucket.meta)).or_default();
        open.insert((bucket.min_ms, record), slot);
        self.is_extended |= bucket.is_extended();
    }

    /// A bucket is about to go.
    pub(super) fn evict(&mut self, record: u64, document: &[u8]) {
        let bucket = Bucket::read(document);
        self.by_id.remove(&(cut(bucket.time_ms), record));
        if let Some(open) = self.open.get_mut(&shared(bucket.meta)) {
            open.remove(&(bucket.min_ms, record));
        }
    }

    /// The bucket that takes a measurement, with it.
    pub(super) fn taking(
        &self,
        version: Version,
        form: &Form,
        store: &Store,
        measurement: &[u8],
    ) -> Result<Stored, i32> {
        let time = field(measurement, &form.time).and_then(Value::date);
        let time_ms = time.ok_or(code::BAD_VALUE)?;
        let meta = form.meta.as_ref().and_then(|meta| field(measurement, meta));
        let open = self.open.get(&shared(meta));
        let last = open.and_then(|open| open.range(..=(time_ms, u64::MAX)).next_back());
        let covers = |min_ms: i64| time_ms < min_ms.saturating_add(form.span_ms());
        if let Some((_, slot)) = last.filter(|((min_ms, _), _)| covers(*min_ms)) {
            let bucket = store.document(*slot);
            let data = measurements(bucket).chain([measurement]);
            let max_ms = Bucket::read(bucket).max_ms.max(time_ms);
            return Ok(Stored { document: with_data(bucket, max_ms, data), is_new: false });
        }
        let rounding_ms = i64::from(form.rounding_s) * 1_000;
        let start_ms = if version.bucket_times_round_down() {
            time_ms.saturating_sub(time_ms.rem_euclid(rounding_ms))
        } else {
            time_ms - time_ms % rounding_ms
        };
        let id = self.new_id(store, start_ms, meta);
        let (min_ms, max_ms) = (start_ms.min(time_ms), start_ms.max(time_ms));
        let document = written(&id, (min_ms, max_ms), [measurement].into_iter());
        Ok(Stored { document, is_new: true })
    }

    /// An `_id` that no bucket has.
    fn new_id(&self, store: &Store, start_ms: i64, meta: Option<Value<'_>>) -> Vec<u8> {
        let seconds = cut(start_ms);
        let same_second = self.by_id.range((seconds, 0)..=(seconds, u64::MAX));
        let there: Vec<Value<'_>> =
            same_second.filter_map(|(_, slot)| field(store.document(*slot), b"_id")).collect();
        let mut number = 0_i32;
        loop {
            let id = framed(|id| {
                push(id, kind::DATE, b"min", &start_ms.to_le_bytes());
                if let Some(meta) = meta {
                    push(id, meta.kind, b"meta", meta.bytes);
                }
                if number > 0 {
                    push(id, kind::INT32, b"n", &number.to_le_bytes());
                }
            });
            let value = Value::new(kind::DOCUMENT, &id);
            if !there.iter().any(|other| equal(*other, value)) {
                return id;
            }
            number += 1;
        }
    }

    /// What becomes of the buckets in these slots when the measurements with this `_id` go: `None`
    /// where nothing is left. How many are there?
    pub(super) fn without(form: &Form, store: &Store, id: Value<'_>) -> (u64, Vec<Changed>) {
        let (mut removed, mut changed) = (0, Vec::new());
        for slot in store.in_order() {
            let document = store.document(slot);
            let left = || measurements(document).filter(|one| !equal(id_of(one), id));
            let gone = measurements(document).count() - left().count();
            if gone == 0 {
                continue;
            }
            removed += gone as u64;
            let times = left().filter_map(|one| field(one, &form.time).and_then(Value::date));
            let max_ms = times.fold(Bucket::read(document).time_ms, i64::max);
            let is_empty = left().next().is_none();
            changed.push((slot, (!is_empty).then(|| with_data(document, max_ms, left()))));
        }
        (removed, changed)
    }

    /// Has there been one that begins before 1970 or after 2038?
    pub(super) fn is_extended(&self) -> bool {
        self.is_extended
    }

    /// Tells whether there has been one.
    pub(super) fn set_extended(&mut self, is_extended: bool) {
        self.is_extended = is_extended;
    }

    /// Looks at the last `_id` alone, as a process does that finds the collection there.
    pub(super) fn look_again(&mut self) {
        let last = self.by_id.last_key_value().map(|((seconds, _), _)| *seconds);
        self.is_extended = last.is_some_and(|seconds| seconds.leading_zeros() == 0);
    }

    /// Looks at all dates that there are, as a process does that is sent them.
    pub(super) fn look_over(&mut self, store: &Store) {
        let is_extended = |slot: &Slot| Bucket::read(store.document(*slot)).is_extended();
        self.is_extended = self.by_id.values().any(is_extended);
    }

    // ---- the monitor ---------------------------------------------------------------------------

    /// Is nothing deleted, whatever there is?
    pub(super) fn is_off(&self, version: Version) -> bool {
        self.is_extended && version.extended_range() == ExtendedRange::Off
    }

    /// The buckets that the collection's seconds condemn, in the order of deletion. The threshold
    /// leaves room for the span.
    pub(super) fn due(
        &self,
        version: Version,
        form: &Form,
        store: &Store,
        threshold_ms: i64,
    ) -> Vec<Due> {
        let end = cut(threshold_ms);
        let two_scans = version.extended_range() == ExtendedRange::TwoScans && self.is_extended;
        let start = match version.bucket_start() {
            BucketStart::Smallest if !two_scans => cut(i64::MIN),
            _ => 0,
        };
        let up = self.by_id.range((start, 0)..).take_while(|((seconds, _), _)| *seconds <= end);
        let due = |((seconds, record), slot): (&(u32, u64), &Slot)| Due {
            date_ms: i64::from(*seconds) * 1_000,
            record: *record,
            slot: *slot,
        };
        if !two_scans {
            return up.map(due).collect();
        }
        let oldest_ms = threshold_ms.saturating_add(form.span_ms());
        let is_old = |due: &Due| Bucket::read(store.document(due.slot)).max_ms <= oldest_ms;
        let first = (1 << 31) - form.span_s.unsigned_abs();
        let high = self.by_id.range((first, 0)..).filter(|((seconds, _), _)| *seconds > end);
        // The second scan goes down, after the first.
        let later = |due: Due| Due { date_ms: LAST_MS * 2 - due.date_ms, ..due };
        let mut down: Vec<Due> = high.map(due).filter(is_old).map(later).collect();
        down.sort_unstable_by_key(|due| (Reverse(LAST_MS * 2 - due.date_ms), due.record));
        up.map(due).filter(is_old).chain(down).collect()
    }

    /// The buckets that an index condemns, in the order of deletion. The threshold leaves room for
    /// the span.
    pub(super) fn due_by_index(
        &self,
        form: &Form,
        index: &TtlIndex,
        store: &Store,
        threshold_ms: i64,
    ) -> Vec<Due> {
        if index.only_field() != Some(&form.time) {
            return Vec::new();
        }
        let mut due = Vec::new();
        for open in self.open.values() {
            for ((min_ms, record), slot) in open.range(..=(threshold_ms, u64::MAX)) {
                let meta = Bucket::read(store.document(*slot)).meta;
                if index.holds_meta(form.meta.as_deref(), meta) {
                    due.push(Due { date_ms: *min_ms, record: *record, slot: *slot });
                }
            }
        }
        due.sort_unstable();
        due
    }
}

/// The last instant that an `_id` can hold, in milliseconds.
const LAST_MS: i64 = u32::MAX as i64 * 1_000;

// ---- bytes -------------------------------------------------------------------------------------

/// A document of the fields that are pushed.
fn framed(fields: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut document = vec![0; 4];
    fields(&mut document);
    document.push(0);
    let length = document.len() as u32;
    document[..4].copy_from_slice(&length.to_le_bytes());
    document
}

fn push(document: &mut Vec<u8>, kind: u8, name: &[u8], value: &[u8]) {
    document.push(kind);
    document.extend_from_slice(name);
    document.push(0);
    document.extend_from_slice(value);
}

fn written<'a>(
    id: &[u8],
    (min_ms, max_ms): (i64, i64),
    data: impl Iterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let control = framed(|control| {
        push(control, kind::DATE, b"min", &min_ms.to_le_bytes());
        push(control, kind::DATE, b"max", &max_ms.to_le_bytes());
    });
    let data = framed(|array| {
        for (position, one) in data.enumerate() {
            push(array, kind::DOCUMENT, position.to_string().as_bytes(), one);
        }
    });
    framed(|bucket| {
        push(bucket, kind::DOCUMENT, b"_id", id);
        push(bucket, kind::DOCUMENT, b"control", &control);
        push(bucket, kind::ARRAY, b"data", &data);
    })
}

/// The bucket with these measurements.
fn with_data<'a>(bucket: &[u8], max_ms: i64, data: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let id = field(bucket, b"_id").expect("a bucket has an `_id`");
    written(id.bytes, (Bucket::read(bucket).min_ms, max_ms), data)
}

/// What measurements share, as something that can be looked up: nothing, or a type and bytes.
fn shared(meta: Option<Value<'_>>) -> Box<[u8]> {
    meta.map_or(Box::default(), |meta| [&[meta.kind], meta.bytes].concat().into())
}

/// Does a time-series collection refuse this specification? That of an index which is asked for.
pub(super) fn refusal(version: Version, form: &Form, spec: &[u8]) -> Result<(), i32> {
    let refused = Err(code::INVALID_OPTIONS);
    let key = field(spec, b"key").filter(|key| key.kind == kind::DOCUMENT);
    let mut only = None;
    let mut count = 0;
    if let Some(key) = key {
        let mut fields = key.elements().map_err(unreadable)?;
        while let Some((name, value)) = fields.advance().map_err(unreadable)? {
            if value.kind == kind::STRING && value.text() == Some(b"text") {
                return refused;
            }
            only = Some(name);
            count += 1;
        }
    }
    if field(spec, b"unique").is_some_and(is_true) {
        return refused;
    }
    if field(spec, SECONDS).is_none() {
        return Ok(());
    }
    let Some(filter) = field(spec, FILTER) else { return refused };
    if !version.series_may_have_ttl_index() {
        return refused;
    }
    if filter.kind == kind::DOCUMENT
        && let Ok(tree) = parse(filter.elements().map_err(unreadable)?)
        && !is_of_meta(form, &tree)
    {
        return refused;
    }
    match key {
        None => Ok(()),
        Some(_) if count != 1 => Err(code::CANNOT_CREATE_INDEX),
        Some(_) if only != Some(&form.time) => refused,
        Some(_) => Ok(()),
    }
}

fn unreadable(_: Malformed) -> i32 {
    code::FAILED_TO_PARSE
}

fn is_of_meta(form: &Form, tree: &Tree<'_>) -> bool {
    match tree {
        Tree::And(parts) | Tree::Or(parts) => parts.iter().all(|part| is_of_meta(form, part)),
        Tree::Forbidden | Tree::Unknown => true,
        Tree::Leaf(path, _) => {
            let first = path.split(|byte| *byte == b'.').next();
            form.meta.as_deref().is_some_and(|meta| first == Some(meta))
        }
    }
}
