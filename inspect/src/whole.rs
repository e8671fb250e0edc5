//! What do the `expireAfterSeconds` of a collection itself come to, which no index holds?
//!
//! Clustered and time-series collections have them. Such a collection is written like one more index
//! here, the first one, with the name [`OWN`] and the options of the collection as its own: all that
//! is asked of an index is asked of it as well. What decides is the model's [`Target`].

use std::rc::Rc;

use bson::{Bson, DateTime, Document, doc};
use ttlspec_model::mongodb::bucket;
use ttlspec_model::mongodb::clustered;
use ttlspec_model::mongodb::date::Dated;
use ttlspec_model::mongodb::index::{Creation, FILTER, Index, Kind, SECONDS};
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::mongodb::nan::{self, Arrival};
use ttlspec_model::mongodb::number::{is_number, safe_long};
use ttlspec_model::mongodb::pass::{Target, Use};
use ttlspec_model::mongodb::version::{ExtendedRange, Version};
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::words::{Doc, Via};
use ttlspec_model::{Millis, Rule, Ruling};

use crate::dump::Data;
use crate::rule_on::{Decided, Standing, a_kind};

/// The name under which the seconds of the collection itself are listed.
pub const OWN: &str = "(collection)";

/// The options of a collection that the model's `create` knows.
const OPTIONS: [&str; 6] = ["clusteredIndex", "timeseries", SECONDS, "capped", "size", "max"];

/// The `_id` of a bucket with dates that an `_id` cannot hold, where one was seen.
const EXTENDED: &str = "extended";

/// Does a process see that when it starts?
const SEEN_AT_START: &str = "extended-seen-at-start";

/// A collection with these options, written like an index.
pub fn own(kind: Kind, options: &Document) -> Option<Document> {
    if !clustered::has_seconds(kind) {
        return None;
    }
    let mut own = doc! { "name": OWN, "key": { "_id": 1 } };
    own.extend(of_create(options));
    if kind == Kind::TimeSeries && !own.contains_key("timeseries") {
        own.insert("timeseries", Document::new());
    }
    Some(own)
}

fn of_create(options: &Document) -> Document {
    let known = options.iter().filter(|(option, _)| OPTIONS.contains(&option.as_str()));
    known.map(|(option, value)| (option.clone(), value.clone())).collect()
}

/// Is it a collection, and no index?
pub fn is_own(spec: &Document) -> bool {
    let is_key = spec.get_document("key").is_ok_and(clustered::is_cluster_key);
    is_key && spec.get_str("name").is_ok_and(|name| name == OWN)
}

// ---- how it came -------------------------------------------------------------------------------

/// What becomes of a collection on the way that the data came, and what it is then.
pub fn arrival(standing: &Standing, own: &Document) -> (Ruling<Arrival>, Option<Collection>) {
    let mut options = of_create(own);
    let seconds = options.get(SECONDS).cloned();
    let is_carried = !matches!(standing.via, Via::Created | Via::Restored);
    if is_carried && seconds.as_ref().is_some_and(is_number) {
        // They were looked at when they came into the catalog.
        options.insert(SECONDS, 0);
    }
    match clustered::create(standing.server, false, &options, standing.at) {
        Err(refusal) => (refusal.map(|code| Arrival::Creation(Creation::Refused(code))), None),
        Ok(made) => {
            let mut collection = made.verdict;
            collection.settings.seconds = seconds.as_ref().map(safe_long);
            collection.is_extended = own.contains_key(match standing.via {
                Via::Upgraded | Via::Downgraded => SEEN_AT_START,
                Via::Created | Via::Restored | Via::Synced => EXTENDED,
            });
            let index = Arrival::Creation(Creation::Made(stored(&collection)));
            let because = if is_carried { Vec::new() } else { made.because };
            (Ruling::plain(index).after(&because), Some(collection))
        }
    }
}

/// The seconds of a collection as an index would have them.
pub fn stored(collection: &Collection) -> Index {
    let mut spec = doc! { "name": OWN, "key": { "_id": 1 } };
    if let Some(seconds) = collection.settings.seconds {
        spec.insert(SECONDS, seconds);
    }
    Index { spec: Doc(spec) }
}

/// What becomes of an index of such a collection; of a collection that is not made, nothing.
pub fn index_arrival(
    standing: &Standing,
    collection: Result<&Collection, &Ruling<Arrival>>,
    spec: &Document,
) -> Ruling<Arrival> {
    let collection = match collection {
        Ok(collection) => collection,
        Err(refused) => return refused.clone(),
    };
    let Standing { server, from, via, at } = *standing;
    let spec = &as_asked(collection, spec);
    if matches!(via, Via::Created | Via::Restored)
        && let Some(refusal) = bucket::refusal(server, collection, spec)
    {
        return refusal.map(|code| Arrival::Creation(Creation::Refused(code)));
    }
    nan::arrival(server, collection.kind, &collection.indexes, spec, (via, from), at)
}

/// An index over buckets as it was asked for: over the time field, with a filter of the meta field.
fn as_asked(collection: &Collection, spec: &Document) -> Document {
    let Some(series) = &collection.settings.series else { return spec.clone() };
    if let Ok(original) = spec.get_document("originalSpec") {
        let mut original = original.clone();
        for (option, value) in spec.iter().filter(|(option, _)| *option != "originalSpec") {
            original.entry(option.clone()).or_insert_with(|| value.clone());
        }
        return original;
    }
    let mut asked = spec.clone();
    let ends = ["control.min.", "control.max."].map(|end| format!("{end}{}", series.time));
    if let Ok(key) = spec.get_document("key")
        && let Some(direction) = key.values().next()
        && key.keys().all(|path| ends.contains(path))
    {
        asked.insert("key", doc! { series.time.clone(): direction.clone() });
    }
    if let (Ok(filter), Some(meta)) = (spec.get_document(FILTER), &series.meta) {
        asked.insert(FILTER, renamed(filter, "meta", meta));
    }
    asked
}

/// A filter in which a field and what lies in it has another name. The field `meta` of buckets is
/// called otherwise in measurements.
pub fn renamed(filter: &Document, from: &str, to: &str) -> Document {
    let path_of = |path: &str| match path.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{to}{rest}"),
        _ => path.to_owned(),
    };
    let inner = |value: &Bson| match value {
        Bson::Array(parts) => Bson::Array(
            parts
                .iter()
                .map(|part| match part {
                    Bson::Document(part) => Bson::Document(renamed(part, from, to)),
                    other => other.clone(),
                })
                .collect(),
        ),
        other => other.clone(),
    };
    let is_list = |path: &str| path == "$and" || path == "$or";
    filter
        .iter()
        .map(|(path, value)| match is_list(path) {
            true => (path.clone(), inner(value)),
            false => (path_of(path), value.clone()),
        })
        .collect()
}

// ---- buckets -----------------------------------------------------------------------------------

/// A bucket as the model keeps it, from one as a server keeps it.
///
/// The `_id` of a server has 32 bits of seconds; the model's has the whole time, which is the one
/// nearest to `control.min` with these bits. `None` where the `_id` is no ObjectId.
fn bucket(time: &str, stored: &Document) -> Option<Document> {
    let seconds = id_seconds(stored)?;
    let control = stored.get_document("control").ok();
    let end = |end: &str| {
        let ends = control.and_then(|control| control.get_document(end).ok());
        ends.and_then(|ends| ends.get_datetime(time).ok()).map(|date| date.timestamp_millis())
    };
    let near_s = end("min").map_or(i64::from(seconds), |min| min.div_euclid(1_000));
    const TURN: i64 = 1 << 32;
    let turns = (near_s - i64::from(seconds) + TURN / 2).div_euclid(TURN);
    let begin = (i64::from(seconds) + turns * TURN).saturating_mul(1_000);
    let min = end("min").unwrap_or(begin);
    let max = end("max").unwrap_or(min);
    let date = |millis: i64| Bson::DateTime(DateTime::from_millis(millis));
    let mut id = doc! { "min": date(begin) };
    id.extend(stored.get("meta").map(|meta| ("meta".to_owned(), meta.clone())));
    Some(doc! { "_id": id, "control": { "min": date(min), "max": date(max) }, "data": [] })
}

/// The seconds in the `_id` of a bucket.
fn id_seconds(stored: &Document) -> Option<u32> {
    match stored.get("_id") {
        Some(Bson::ObjectId(id)) => {
            let [a, b, c, d, ..] = id.bytes();
            Some(u32::from_be_bytes([a, b, c, d]))
        }
        _ => None,
    }
}

/// Looks whether a time-series collection has dates that an `_id` cannot hold, and writes it down
/// beside its options.
pub fn look(kind: Kind, specs: &mut [Document], data: &Data) {
    let Some(own) = specs.iter_mut().find(|spec| is_own(spec)) else { return };
    let time = own.get_document("timeseries").and_then(|series| series.get_str("timeField"));
    let Ok(time) = time.map(str::to_owned) else { return };
    // What cannot be read is said when the buckets are ruled on.
    let Ok(mut documents) = data.open() else { return };
    while let Ok(Some(stored)) = documents.next_document() {
        let Some(bucket) = bucket(&time, &stored) else { continue };
        let mut alone = Collection::new(kind);
        alone.documents.insert(0, Doc(bucket));
        bucket::notice(&mut alone);
        if alone.is_extended && !own.contains_key(EXTENDED) {
            own.insert(EXTENDED, stored.get("_id").cloned().unwrap_or(Bson::Null));
        }
        bucket::look_again(&mut alone);
        if alone.is_extended {
            own.insert(SEEN_AT_START, true);
            return;
        }
    }
}

/// The `_id` of the first bucket with dates that an `_id` cannot hold.
pub fn extended(own: &Document) -> Option<&Bson> {
    own.get(EXTENDED)
}

/// What is to be said of a collection whose dates out of range no process sees that starts.
pub fn unseen_at_start(own: &Document, server: Version, via: Via) -> Option<String> {
    let is_unseen = own.contains_key(EXTENDED) && !own.contains_key(SEEN_AT_START);
    let matters = server.extended_range() != ExtendedRange::Wraps;
    let is_started = matches!(via, Via::Upgraded | Via::Downgraded);
    (is_unseen && matters && is_started).then(|| {
        format!(
            "of its dates out of range all lie after 2106: the process in which they came spares them, \
             one of {server} that is started since does not know, and deletes by what is left of the \
             time in the _id; ruled on as after a start"
        )
    })
}

// ---- the ruling --------------------------------------------------------------------------------

/// What a visit of such a collection is of.
#[derive(Clone, Debug)]
pub struct Part {
    /// The collection, with its settings and indexes and without its documents.
    pub collection: Rc<Collection>,
    /// Its own seconds, or an index.
    pub target: Target,
}

impl Part {
    /// Is it the collection itself?
    pub fn is_own(&self) -> bool {
        self.target == Target::Own
    }

    /// Does it decide on buckets?
    pub fn is_of_buckets(&self) -> bool {
        self.collection.kind == Kind::TimeSeries
    }

    /// How many seconds a bucket spans, which it lives longer.
    pub fn span_s(&self) -> i64 {
        self.collection.settings.series.as_ref().map_or(0, |series| series.span_ms() / 1_000)
    }

    /// The field of a measurement with its time.
    pub fn time_field(&self) -> Option<&str> {
        self.collection.settings.series.as_ref().map(|series| series.time.as_str())
    }

    /// The field of a measurement with what its bucket shares.
    pub fn meta_field(&self) -> Option<&str> {
        self.collection.settings.series.as_ref().and_then(|series| series.meta.as_deref())
    }

    /// What a visit can do with it.
    pub fn usable(&self, server: Version) -> Ruling<Use> {
        self.target.usable(server, &self.collection)
    }

    /// What it makes of a document or a bucket as a server keeps it.
    pub fn verdict(
        &self,
        server: Version,
        document: &Document,
        lifetime_ms: i64,
        now: Millis,
    ) -> Ruling<Verdict> {
        let of =
            |document| self.target.verdict(server, &self.collection, document, lifetime_ms, now);
        let Some(time) = self.time_field() else { return of(document) };
        let Some(bucket) = bucket(time, document) else {
            return Ruling::plain(Verdict::Never).after(&[Rule::MongodbClusteredOtherKey]);
        };
        let ruling = of(&bucket);
        // In the words of the server's bucket, not of the model's.
        let dated = |dated: Dated| match self.target {
            Target::Own => {
                let seconds = id_seconds(document).map_or(0, i64::from);
                Dated { path: "_id".to_owned(), date: Millis(seconds * 1_000) }
            }
            Target::Index(_) => Dated { path: format!("control.min.{time}"), ..dated },
        };
        ruling.map(|verdict| match verdict {
            Verdict::Never => Verdict::Never,
            Verdict::Pending(at, old) => Verdict::Pending(at, dated(old)),
            Verdict::Expired(at, old) => Verdict::Expired(at, dated(old)),
        })
    }

    /// What a partial filter sees of a document: of a bucket the meta field.
    pub fn seen(&self, document: &Document) -> Document {
        match &self.collection.settings.series {
            None => document.clone(),
            Some(series) => {
                let meta = series.meta.as_ref().zip(document.get("meta"));
                meta.map(|(name, value)| (name.clone(), value.clone())).into_iter().collect()
            }
        }
    }

    /// What decides a verdict of never that no filter gave. `None`: as of an index.
    pub fn decided(&self, server: Version, document: &Document) -> Option<Decided> {
        let id = document.get("_id");
        let decided = |value: Option<Bson>, why: String| {
            Some(Decided {
                path: "_id".to_owned(),
                is_missing: value.is_none(),
                value: value.unwrap_or(Bson::Null),
                blocked_by: Some(why),
            })
        };
        if self.is_of_buckets() && !self.is_own() && matches!(id, Some(Bson::ObjectId(_))) {
            return None;
        }
        match (self.is_of_buckets(), id) {
            (false, Some(Bson::DateTime(_))) if self.is_own() => {
                let why = format!("`_id` lies before 1970, where {server} begins to look");
                decided(id.cloned(), why)
            }
            (false, _) => None,
            (true, Some(Bson::ObjectId(oid))) => {
                let why = format!("the time in the bucket's `_id` lies before {server} looks");
                decided(Some(Bson::DateTime(oid.timestamp())), why)
            }
            (true, other) => {
                let kind = other.map_or("nothing", a_kind);
                decided(id.cloned(), format!("`_id` holds {kind}, and a bucket's is an ObjectId"))
            }
        }
    }

    /// Rules that are to be said of what expires, beside the verdict.
    pub fn remark(&self) -> Option<Rule> {
        bucket::remark(&self.collection)
    }
}

/// Rules that say something of the collection and not of one document alone.
pub const REMARKABLE: [Rule; 4] = [
    Rule::MongodbBucketThresholdCut,
    Rule::MongodbBucketCut,
    Rule::MongodbBucketTwoScans,
    Rule::MongodbClusteredBefore1970,
];
