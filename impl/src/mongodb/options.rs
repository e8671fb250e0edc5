//! What may be said of a collection itself, and what is kept of it?

use ttlspec_model::mongodb::{Version, code};

use super::bytes::{Elements, Malformed, Value, elements, kind};
use super::filter_parser::is_true;
use super::number::Number;
use super::order::{compare_documents, is_number};
use super::ttl_index::{Kind, SECONDS};

/// What is said of a collection itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// Its own `expireAfterSeconds`.
    pub(super) seconds: Option<i64>,
    /// The name of its cluster key.
    pub(super) cluster_key: Option<Box<[u8]>>,
    /// How its measurements are kept.
    pub(super) form: Option<Form>,
}

/// How measurements are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The field with the time.
    pub(super) time: Box<[u8]>,
    /// The field by which buckets are kept apart.
    pub(super) meta: Option<Box<[u8]>>,
    /// How long a bucket may be.
    pub(super) span_s: i32,
    /// What its beginning is rounded to.
    pub(super) rounding_s: i32,
}

impl Form {
    /// How long a bucket may be, in milliseconds.
    pub(super) fn span_ms(&self) -> i64 {
        i64::from(self.span_s) * 1_000
    }
}

/// Spans and roundings by granularity.
const GRANULARITIES: [(&[u8], i32, i32); 3] =
    [(b"seconds", 3_600, 60), (b"minutes", 86_400, 3_600), (b"hours", 2_592_000, 86_400)];

/// What is asked for as the size of buckets.
#[derive(Default)]
struct Size {
    granularity: Option<(i32, i32)>,
    span_s: Option<i32>,
    rounding_s: Option<i32>,
}

/// `create` as it was asked for.
#[derive(Default)]
struct Asked<'a> {
    seconds: Option<i64>,
    clustered: Option<Clustered<'a>>,
    series: Option<Series<'a>>,
    is_capped: bool,
    has_size: bool,
    has_max: bool,
}

struct Clustered<'a> {
    /// Without a specification it is one of the server's own.
    spec: Option<(Value<'a>, bool)>,
    name: &'a [u8],
}

struct Series<'a> {
    time: &'a [u8],
    meta: Option<&'a [u8]>,
    size: Size,
}

type Allowed = Result<(), i32>;

fn unreadable(_: Malformed) -> i32 {
    code::FAILED_TO_PARSE
}

/// Does something with each field that is not null, until it fails.
fn each<'a>(
    mut fields: Elements<'a>,
    mut act: impl FnMut(&'a [u8], Value<'a>) -> Allowed,
) -> Allowed {
    while let Some((name, value)) = fields.advance().map_err(unreadable)? {
        act(name, value)?;
    }
    Ok(())
}

fn is_null(value: Value<'_>) -> bool {
    matches!(value.kind, kind::NULL | kind::UNDEFINED)
}

fn is_flag(value: Value<'_>) -> bool {
    is_number(value.kind) || value.kind == kind::BOOLEAN
}

/// Fails unless the value has the type that it should have.
fn typed(has_type: bool) -> Allowed {
    if has_type { Ok(()) } else { Err(code::TYPE_MISMATCH) }
}

/// The kind and the settings of a collection with these options, or the code that refuses them.
pub(super) fn create(
    version: Version,
    exists: bool,
    options: &[u8],
    now_ms: i64,
) -> Result<(Kind, Own), i32> {
    let mut asked = Asked::default();
    each(elements(options).map_err(unreadable)?, |name, value| asked.field(version, name, value))?;
    if asked.clustered.is_some() && !version.clustered_is_allowed() {
        return Err(code::INVALID_OPTIONS);
    }
    asked.combination()?;
    let form = match &asked.series {
        Some(series) => Some(series.form(version)?),
        None => None,
    };
    if exists {
        return Err(code::NAMESPACE_EXISTS);
    }
    if let Some(clustered) = &asked.clustered {
        clustered.check()?;
    }
    if let Some(seconds) = asked.seconds {
        in_range(seconds, now_ms)?;
    }
    let kind = match (form.is_some(), asked.clustered.is_some(), asked.is_capped) {
        (true, _, _) => Kind::TimeSeries,
        (false, true, true) => Kind::CappedClustered,
        (false, true, false) => Kind::Clustered,
        (false, false, true) => Kind::Capped,
        (false, false, false) => Kind::Plain,
    };
    let cluster_key = asked.clustered.map(|clustered| clustered.name.into());
    Ok((kind, Own { seconds: asked.seconds, cluster_key, form }))
}

impl<'a> Asked<'a> {
    fn field(&mut self, version: Version, name: &[u8], value: Value<'a>) -> Allowed {
        let is_modern = version.create_knows_kinds();
        match name {
            b"capped" | b"size" | b"max" if is_null(value) => {}
            b"capped" => {
                typed(is_flag(value))?;
                self.is_capped = is_true(value);
            }
            b"size" => {
                typed(is_number(value.kind))?;
                self.has_size = true;
            }
            b"max" => {
                typed(is_number(value.kind))?;
                self.has_max = true;
            }
            b"clusteredIndex" | b"timeseries" | b"expireAfterSeconds"
                if is_modern && is_null(value) => {}
            b"clusteredIndex" if is_modern => self.clustered = Clustered::read(value)?,
            b"timeseries" if is_modern => {
                typed(value.kind == kind::DOCUMENT)?;
                self.series = Some(Series::read(version, value)?);
            }
            name if name == SECONDS && is_modern => {
                let number = Number::read(value).ok_or(code::TYPE_MISMATCH)?;
                self.seconds = Some(number.clamped());
            }
            _ if is_modern || version.create_is_strict_without_seconds() => {
                return Err(code::UNKNOWN_FIELD);
            }
            _ => return Err(code::INVALID_OPTIONS),
        }
        Ok(())
    }

    fn combination(&self) -> Allowed {
        let refused = match (&self.clustered, &self.series) {
            (Some(_), _) if self.has_size => Some(code::CLUSTERED_SIZE),
            (Some(_), _) if self.has_max => Some(code::CLUSTERED_MAX),
            (Some(_), _) if self.is_capped && self.seconds.is_none() => {
                Some(code::CLUSTERED_CAPPED)
            }
            (None, _) if self.is_capped != (self.has_size || self.has_max) => {
                Some(code::INVALID_OPTIONS)
            }
            (None, _) if self.is_capped && !self.has_size => Some(code::INVALID_OPTIONS),
            (clustered, Some(series)) => {
                let is_alone = clustered.is_none() && !self.is_capped;
                (!is_alone || !series.has_good_names()).then_some(code::INVALID_OPTIONS)
            }
            (None, None) if self.seconds.is_some() => Some(code::INVALID_OPTIONS),
            _ => None,
        };
        refused.map_or(Ok(()), Err)
    }
}

impl<'a> Clustered<'a> {
    fn read(value: Value<'a>) -> Result<Option<Clustered<'a>>, i32> {
        const NAME: &[u8] = b"_id_";
        if value.kind == kind::BOOLEAN {
            return Ok(is_true(value).then_some(Clustered { spec: None, name: NAME }));
        }
        typed(value.kind == kind::DOCUMENT)?;
        let (mut key, mut unique, mut name) = (None, None, NAME);
        each(value.elements().map_err(unreadable)?, |field, value| {
            match field {
                b"key" => {
                    typed(value.kind == kind::DOCUMENT)?;
                    key = Some(value);
                }
                b"unique" => {
                    typed(is_flag(value))?;
                    unique = Some(is_true(value));
                }
                b"name" => {
                    typed(value.kind == kind::STRING)?;
                    name = value.text().unwrap_or_default();
                }
                b"v" => typed(is_number(value.kind))?,
                _ => return Err(code::UNKNOWN_FIELD),
            }
            Ok(())
        })?;
        let spec = key.zip(unique).ok_or(code::MISSING_FIELD)?;
        Ok(Some(Clustered { spec: Some(spec), name }))
    }

    fn check(&self) -> Allowed {
        match self.spec {
            None => Err(code::CLUSTERED_LEGACY),
            Some((_, false)) => Err(code::CLUSTERED_UNIQUE),
            Some((key, true)) if !is_cluster_key(key) => Err(code::INVALID_INDEX_OPTION),
            Some(_) => Ok(()),
        }
    }
}

/// `{ _id: 1 }` as bytes.
const ID_KEY: [u8; 14] = [14, 0, 0, 0, kind::INT32, b'_', b'i', b'd', 0, 1, 0, 0, 0, 0];

/// Is it the one pattern that a cluster key may have?
pub(super) fn is_cluster_key(key: Value<'_>) -> bool {
    compare_documents(key.bytes, &ID_KEY).is_eq()
}

impl<'a> Series<'a> {
    fn read(version: Version, value: Value<'a>) -> Result<Series<'a>, i32> {
        let (mut time, mut meta, mut size) = (None, None, Size::default());
        each(value.elements().map_err(unreadable)?, |field, value| {
            let place = match field {
                _ if is_null(value) => return Ok(()),
                b"timeField" => &mut time,
                b"metaField" => &mut meta,
                field => return size.field(version, field, value),
            };
            typed(value.kind == kind::STRING)?;
            *place = value.text();
            Ok(())
        })?;
        Ok(Series { time: time.ok_or(code::MISSING_FIELD)?, meta, size })
    }

    fn has_good_names(&self) -> bool {
        let is_good = |name: &[u8]| name != b"_id" && !name.contains(&b'.');
        is_good(self.time) && self.meta.is_none_or(|meta| is_good(meta) && meta != self.time)
    }

    fn form(&self, version: Version) -> Result<Form, i32> {
        let (span_s, rounding_s) = self.size.of_new(version)?;
        let meta = self.meta.map(Into::into);
        Ok(Form { time: self.time.into(), meta, span_s, rounding_s })
    }
}

/// The largest span that can be asked for.
const YEAR_S: i32 = 365 * 86_400;

impl Size {
    fn field(&mut self, version: Version, name: &[u8], value: Value<'_>) -> Allowed {
        let has_rounding = version.bucket_span_is_free();
        let place = match name {
            b"granularity" => {
                typed(value.kind == kind::STRING)?;
                let text = value.text().unwrap_or_default();
                let named = GRANULARITIES.iter().find(|(name, ..)| *name == text);
                let (_, span_s, rounding_s) = named.ok_or(code::BAD_VALUE)?;
                self.granularity = Some((*span_s, *rounding_s));
                return Ok(());
            }
            b"bucketMaxSpanSeconds" => &mut self.span_s,
            b"bucketRoundingSeconds" if has_rounding => &mut self.rounding_s,
            _ => return Err(code::UNKNOWN_FIELD),
        };
        let seconds = Number::read(value).ok_or(code::TYPE_MISMATCH)?.clamped_int();
        if !(1..=YEAR_S).contains(&seconds) {
            return Err(code::OUT_OF_RANGE);
        }
        *place = Some(seconds);
        Ok(())
    }

    /// The span and the rounding of a new collection.
    fn of_new(&self, version: Version) -> Result<(i32, i32), i32> {
        let (_, span_s, rounding_s) = GRANULARITIES[0];
        let usual = self.granularity.unwrap_or((span_s, rounding_s));
        let is_unusual = self.span_s.is_some_and(|span_s| span_s != usual.0);
        match (version.bucket_span_is_free(), self.granularity) {
            (false, _) if is_unusual => Err(code::SPAN_IS_FIXED),
            (true, Some(_)) if is_unusual || self.rounding_s.is_some() => {
                Err(code::INVALID_OPTIONS)
            }
            (true, None) if self.span_s != self.rounding_s => Err(code::INVALID_OPTIONS),
            (true, None) => Ok(self.span_s.map_or(usual, |seconds| (seconds, seconds))),
            _ => Ok(usual),
        }
    }

    /// The span and the rounding that a collection gets; `None` where it keeps its own.
    fn of_changed(&self, version: Version) -> Result<Option<(i32, i32)>, i32> {
        match (self.granularity, self.span_s, self.rounding_s) {
            (None, None, None) if !version.bucket_span_is_free() => Ok(None),
            (Some(pair), None, None) => Ok(Some(pair)),
            (None, Some(span_s), Some(rounding_s)) if span_s == rounding_s => {
                Ok(Some((span_s, rounding_s)))
            }
            _ => Err(code::INVALID_OPTIONS),
        }
    }
}

fn in_range(seconds: i64, now_ms: i64) -> Allowed {
    let is_past = seconds.checked_mul(1_000).is_some_and(|millis| millis <= now_ms);
    if seconds >= 0 && is_past { Ok(()) } else { Err(code::INVALID_OPTIONS) }
}

// ---- collMod -----------------------------------------------------------------------------------

/// What a collMod asks of the collection itself.
#[derive(Default)]
pub(super) struct Change<'a> {
    /// A number, or a string.
    pub(super) seconds: Option<Value<'a>>,
    /// A document.
    pub(super) series: Option<Value<'a>>,
}

impl Change<'_> {
    /// What is said of the collection from now on.
    pub(super) fn apply(
        &self,
        version: Version,
        kind: Kind,
        own: &Own,
        now_ms: i64,
    ) -> Result<Own, i32> {
        let mut own = own.clone();
        if let Some(asked) = self.seconds {
            if !kind.has_seconds() {
                return Err(code::INVALID_OPTIONS);
            }
            own.seconds = match Number::read(asked) {
                Some(number) => {
                    in_range(number.clamped(), now_ms)?;
                    Some(number.clamped())
                }
                None if asked.text() == Some(b"off") => None,
                None => return Err(code::INVALID_OPTIONS),
            };
        }
        if let Some(asked) = self.series {
            let mut size = Size::default();
            each(asked.elements().map_err(unreadable)?, |name, value| match value.kind {
                kind::NULL => Ok(()),
                _ => size.field(version, name, value),
            })?;
            let form = own.form.as_mut().ok_or(code::INVALID_OPTIONS)?;
            if let Some((span_s, rounding_s)) = size.of_changed(version)? {
                if span_s < form.span_s || rounding_s < form.rounding_s {
                    return Err(code::INVALID_OPTIONS);
                }
                (form.span_s, form.rounding_s) = (span_s, rounding_s);
            }
        }
        Ok(own)
    }
}
