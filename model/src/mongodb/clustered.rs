#![doc = include_str!("../../../specs/mongodb/14-clustered.md")]
//! ---
//! *Module:* which collections have seconds of their own, and which cluster keys expire by them?

use bson::{Bson, Document};

use super::bucket::{self, Series};
use super::compare::compare_documents;
use super::date::Dated;
use super::index::{Kind, SECONDS};
use super::life::Verdict;
use super::number::{is_number, is_true, safe_long};
use super::pass::{Target, Use};
use super::threshold::{Expiry, expiry};
use super::version::Version;
use super::visibility::Collection;
use super::words::code;
use crate::ruling::{By, Rule, Ruling};
use crate::time::{Millis, seconds_as_millis};

/// What is said of a collection itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Settings {
    /// Its own `expireAfterSeconds`.
    pub seconds: Option<i64>,
    /// The name of its cluster key, if users can see one.
    pub cluster_key: Option<String>,
    /// How its measurements are kept.
    pub series: Option<Series>,
}

/// The options of `create`, once their form has been found right.
#[derive(Default)]
struct Options<'a> {
    seconds: Option<i64>,
    cluster_key: Option<ClusterKey<'a>>,
    series: Option<bucket::Options>,
    capped: bool,
    size: bool,
    max: bool,
}

/// `clusteredIndex`.
enum ClusterKey<'a> {
    /// As the server's own collections say it.
    Legacy,
    /// With a specification.
    Spec { key: &'a Document, unique: bool, name: &'a str },
}

/// The collection that `create` makes with these options, or why it makes none.
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn create(
    version: Version,
    exists: bool,
    options: &Document,
    now: Millis,
) -> Result<Ruling<Collection>, Ruling<i32>> {
    let options = parsed(version, options)?;
    together(&options)?;
    let series = match &options.series {
        None => None,
        Some(series) => Some(bucket::series(version, series)?),
    };
    if exists {
        return Err(Ruling::plain(code::NAMESPACE_EXISTS));
    }
    if let Some(cluster_key) = &options.cluster_key {
        allowed(cluster_key)?;
    }
    let mut because = Vec::new();
    if let Some(seconds) = options.seconds {
        because.extend(in_range(seconds, now)?.because);
    }
    let kind = match (&options.cluster_key, &series) {
        (_, Some(_)) => Kind::TimeSeries,
        (Some(_), None) if options.capped => Kind::CappedClustered,
        (Some(_), None) => Kind::Clustered,
        (None, None) if options.capped => Kind::Capped,
        (None, None) => Kind::Plain,
    };
    because.extend(match kind {
        Kind::Clustered => Some(Rule::MongodbClusteredKey),
        Kind::CappedClustered => Some(Rule::MongodbClusteredCapped),
        _ => None,
    });
    because.extend(series.iter().flat_map(|series| series.because.clone()));
    let mut made = Collection::new(kind);
    made.settings = Settings {
        seconds: options.seconds,
        cluster_key: options.cluster_key.as_ref().map(|key| key.name().to_owned()),
        series: series.map(|series| series.verdict),
    };
    Ok(Ruling::plain(made).after(&because))
}

impl ClusterKey<'_> {
    fn name(&self) -> &str {
        match self {
            ClusterKey::Legacy => "_id_",
            ClusterKey::Spec { name, .. } => name,
        }
    }
}

// ---- the form of the options -------------------------------------------------------------------

/// What a wrong type is refused with.
pub fn wrong_type<T>() -> Result<T, Ruling<i32>> {
    Err(code::TYPE_MISMATCH.by(Rule::MongodbClusteredOptionType))
}

/// Each field in the order given; `null` is as good as absent.
fn parsed(version: Version, fields: &Document) -> Result<Options<'_>, Ruling<i32>> {
    let mut options = Options::default();
    let knows_kinds = version.create_knows_kinds();
    for (field, value) in fields {
        match (field.as_str(), value) {
            ("capped" | "size" | "max", Bson::Null | Bson::Undefined) => {}
            ("capped", flag) if is_flag(flag) => options.capped = is_true(flag),
            ("size", size) if is_number(size) => options.size = true,
            ("max", max) if is_number(max) => options.max = true,
            ("capped" | "size" | "max", _) => return wrong_type(),

            ("clusteredIndex" | "timeseries" | SECONDS, Bson::Null | Bson::Undefined)
                if knows_kinds => {}
            ("clusteredIndex", spec) if knows_kinds => options.cluster_key = cluster_key(spec)?,
            ("timeseries", Bson::Document(series)) if knows_kinds => {
                options.series = Some(bucket::options(version, series)?);
            }
            (SECONDS, seconds) if knows_kinds && is_number(seconds) => {
                options.seconds = Some(safe_long(seconds));
            }
            ("timeseries" | SECONDS, _) if knows_kinds => return wrong_type(),

            _ if knows_kinds || version.create_is_strict_without_seconds() => {
                return Err(code::UNKNOWN_FIELD.by(Rule::MongodbClusteredOption));
            }
            _ => return Err(code::INVALID_OPTIONS.by(Rule::MongodbClusteredOption)),
        }
    }
    if options.cluster_key.is_some() && !version.clustered_is_allowed() {
        return Err(code::INVALID_OPTIONS.by(Rule::MongodbClusteredOption));
    }
    Ok(options)
}

/// Can it stand for true or false?
fn is_flag(value: &Bson) -> bool {
    is_number(value) || matches!(value, Bson::Boolean(_))
}

fn cluster_key(spec: &Bson) -> Result<Option<ClusterKey<'_>>, Ruling<i32>> {
    let fields = match spec {
        Bson::Document(fields) => fields,
        Bson::Boolean(true) => return Ok(Some(ClusterKey::Legacy)),
        Bson::Boolean(false) => return Ok(None),
        _ => return wrong_type(),
    };
    let (mut key, mut unique, mut name) = (None, None, "_id_");
    for (field, value) in fields {
        match (field.as_str(), value) {
            ("key", Bson::Document(document)) => key = Some(document),
            ("unique", flag) if is_flag(flag) => unique = Some(is_true(flag)),
            ("name", Bson::String(text)) => name = text,
            ("v", version) if is_number(version) => {}
            ("key" | "unique" | "name" | "v", _) => return wrong_type(),
            _ => return Err(code::UNKNOWN_FIELD.by(Rule::MongodbClusteredOption)),
        }
    }
    match (key, unique) {
        (Some(key), Some(unique)) => Ok(Some(ClusterKey::Spec { key, unique, name })),
        _ => Err(code::MISSING_FIELD.by(Rule::MongodbClusteredOptionType)),
    }
}

// ---- what goes together ------------------------------------------------------------------------

fn together(options: &Options<'_>) -> Result<(), Ruling<i32>> {
    let refuse = |code: i32, rule: Rule| Err(code.by(rule));
    let clustered = options.cluster_key.is_some();
    if clustered && options.size {
        return refuse(code::CLUSTERED_SIZE, Rule::MongodbClusteredCapped);
    }
    if clustered && options.max {
        return refuse(code::CLUSTERED_MAX, Rule::MongodbClusteredCapped);
    }
    if clustered && options.capped && options.seconds.is_none() {
        return refuse(code::CLUSTERED_CAPPED, Rule::MongodbClusteredCapped);
    }
    let sized = options.size || options.max;
    if !clustered && (options.capped && !options.size || sized && !options.capped) {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbClusteredCapped);
    }
    if let Some(series) = &options.series {
        bucket::names(series, !clustered && !options.capped)?;
    }
    if options.seconds.is_some() && !clustered && options.series.is_none() {
        return refuse(code::INVALID_OPTIONS, Rule::MongodbIndexCollectionSeconds);
    }
    Ok(())
}

/// Is it a cluster key that users may have?
fn allowed(cluster_key: &ClusterKey<'_>) -> Result<(), Ruling<i32>> {
    let refuse = |code: i32| Err(code.by(Rule::MongodbClusteredKey));
    match cluster_key {
        ClusterKey::Legacy => refuse(code::CLUSTERED_LEGACY),
        ClusterKey::Spec { unique: false, .. } => refuse(code::CLUSTERED_UNIQUE),
        ClusterKey::Spec { key, .. } if !is_cluster_key(key) => refuse(code::INVALID_INDEX_OPTION),
        ClusterKey::Spec { .. } => Ok(()),
    }
}

/// `{ _id: 1 }`, whatever the type of the number.
pub fn is_cluster_key(key: &Document) -> bool {
    compare_documents(key, &bson::doc! { "_id": 1 }).is_eq()
}

/// Why a collection of this kind has no TTL index, if so.
pub fn no_ttl_index(kind: Kind) -> Option<Ruling<i32>> {
    let is_capped = kind == Kind::CappedClustered;
    is_capped.then(|| code::CLUSTERED_CAPPED_TTL.by(Rule::MongodbClusteredCappedIndex))
}

/// May a collection have these seconds?
fn in_range(seconds: i64, now: Millis) -> Result<Ruling<()>, Ruling<i32>> {
    let is_in_range =
        seconds >= 0 && seconds_as_millis(seconds).is_some_and(|millis| millis <= now.0);
    if is_in_range {
        Ok(().by(Rule::MongodbClusteredSeconds))
    } else {
        Err(code::INVALID_OPTIONS.by(Rule::MongodbClusteredSeconds))
    }
}

// ---- collMod -----------------------------------------------------------------------------------

/// May a collection of this kind have seconds of its own?
pub fn has_seconds(kind: Kind) -> bool {
    matches!(kind, Kind::Clustered | Kind::CappedClustered | Kind::TimeSeries)
}

/// Gives a collection other seconds, or none. They are a number or a string.
///
/// # Errors
/// The error code, by the rule that refuses.
pub fn modify(
    collection: &mut Collection,
    asked: &Bson,
    now: Millis,
) -> Result<Ruling<()>, Ruling<i32>> {
    if !has_seconds(collection.kind) {
        return Err(code::INVALID_OPTIONS.by(Rule::MongodbChangeCollection));
    }
    if let Bson::String(word) = asked {
        if word != "off" {
            return Err(code::INVALID_OPTIONS.by(Rule::MongodbClusteredOff));
        }
        collection.settings.seconds = None;
        return Ok(().by(Rule::MongodbClusteredOff));
    }
    let seconds = safe_long(asked);
    let allowed = in_range(seconds, now)?;
    collection.settings.seconds = Some(seconds);
    Ok(allowed.and(Rule::MongodbClusteredModify))
}

/// Why the cluster key cannot be changed as if it were an index.
pub fn no_index(hidden: bool) -> Ruling<i32> {
    if hidden {
        code::CLUSTERED_HIDDEN.by(Rule::MongodbClusteredHidden)
    } else {
        code::INDEX_NOT_FOUND.by(Rule::MongodbClusteredNoIndex)
    }
}

/// Is this name, or this key pattern, that of the cluster key?
pub fn is_meant(collection: &Collection, name: Option<&str>, key: Option<&Document>) -> bool {
    match (&collection.settings.cluster_key, name) {
        (None, _) => false,
        (Some(own), Some(name)) => own == name,
        (Some(_), None) => key.is_some_and(is_cluster_key),
    }
}

// ---- what expires ------------------------------------------------------------------------------

/// Can a visit use the seconds of the collection?
pub fn usable(collection: &Collection) -> Ruling<Use> {
    match collection.settings.seconds {
        None => Ruling::plain(Use::Nothing),
        Some(seconds) => {
            Use::Lifetime(seconds.saturating_mul(1_000)).by(Rule::MongodbClusteredVisit)
        }
    }
}

/// What is to be said where a visit looks at what it has chosen once more.
pub fn again(target: Target) -> Option<Rule> {
    (target == Target::Own).then_some(Rule::MongodbClusteredAgain)
}

/// What do the seconds of a clustered collection make of a document?
pub fn verdict(
    version: Version,
    document: &Document,
    lifetime_ms: i64,
    now: Millis,
) -> Ruling<Verdict> {
    let Some(Bson::DateTime(date)) = document.get("_id") else {
        return Verdict::Never.by(Rule::MongodbClusteredOtherKey);
    };
    let date = Millis(date.timestamp_millis());
    let is_early = date < Millis(0);
    if is_early && version.clustered_begins_at_1970() {
        return Verdict::Never.by(Rule::MongodbClusteredFrom1970);
    }
    let dated = Dated { path: "_id".to_owned(), date };
    expiry(date, lifetime_ms, now).then(|expiry| match expiry {
        Expiry::Never => Ruling::plain(Verdict::Never),
        Expiry::Pending(at) => Ruling::plain(Verdict::Pending(at, dated)),
        Expiry::Expired(at) => {
            let expired = Verdict::Expired(at, dated).by(Rule::MongodbClusteredExpired);
            if is_early { expired.and(Rule::MongodbClusteredBefore1970) } else { expired }
        }
    })
}
