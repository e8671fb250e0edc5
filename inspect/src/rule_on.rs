//! What does each TTL index of a collection make of each document, and what decides?

use std::rc::Rc;

use bson::{Bson, Document};
use ttlspec_model::mongodb::date;
use ttlspec_model::mongodb::filter::{self, Filter};
use ttlspec_model::mongodb::index::{Creation, FILTER, Index, Kind, SECONDS, is_option};
use ttlspec_model::mongodb::life::{self, Verdict};
use ttlspec_model::mongodb::nan::{self, Arrival};
use ttlspec_model::mongodb::pass::{self, Target, Use};
use ttlspec_model::mongodb::version::Version;
use ttlspec_model::mongodb::words::Via;
use ttlspec_model::{Millis, Rule, Ruling};

use crate::json::relaxed;
use crate::whole::{self, Part};

/// Where the data stands, how it came there, and when it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The server that it stands on.
    pub server: Version,
    /// The server that it comes from.
    pub from: Version,
    /// The way it came.
    pub via: Via,
    /// The instant of the ruling.
    pub at: Millis,
}

/// An index with a time to live, as it came to the server.
#[derive(Clone, Debug)]
pub struct Ttl {
    /// As it was found in the input.
    pub found: Document,
    /// What became of it.
    pub arrival: Ruling<Arrival>,
    /// As it stands there, if it does.
    pub index: Option<Index>,
    /// What a visit can do with it.
    pub usable: Ruling<Use>,
    /// Why it cannot be built over the documents, where that is so.
    pub obstacle: Option<(Rule, String)>,
    /// What it is of a collection that has seconds of its own.
    pub part: Option<Part>,
}

/// An index that the server did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// The error code.
    pub code: i32,
    /// The rule that refuses it.
    pub rule: Rule,
}

/// All indexes of a collection, as they came.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// Those with a time to live.
    pub ttl: Vec<Ttl>,
    /// Those that were refused, with a time to live or without.
    pub refused: Vec<Refused>,
}

/// How far a document gets on the way to its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The index is in the way.
    Index,
    /// The partial filter is.
    Filter,
    /// There is no date.
    Date,
    /// Only time is in the way.
    Pending,
    /// Nothing is.
    Expired,
}

/// Lets the indexes of a collection come to the server, in their order, and keeps those with a time
/// to live.
pub fn arrive(standing: &Standing, kind: Kind, specs: &[Document]) -> Arrived {
    let mut arrived = arrive_all(standing, kind, specs);
    arrived.ttl.retain(|ttl| ttl.found.contains_key(SECONDS));
    arrived
}

/// The same, and keeps all: there is one [`Ttl`] for each specification, with a time to live or not.
pub fn arrive_all(standing: &Standing, kind: Kind, specs: &[Document]) -> Arrived {
    if let Some(own) = specs.iter().find(|spec| whole::is_own(spec)) {
        return arrive_whole(standing, own, specs);
    }
    let mut existing: Vec<Index> = Vec::new();
    let mut arrived = Arrived::default();
    for spec in specs {
        let way = (standing.via, standing.from);
        let arrival = nan::arrival(standing.server, kind, &existing, spec, way, standing.at);
        let name = spec.get_str("name").unwrap_or_default().to_owned();
        if let Arrival::Creation(Creation::Refused(code)) = arrival.verdict {
            let rule = deciding(&arrival.because);
            arrived.refused.push(Refused { name, code, rule });
        }
        let index = match &arrival.verdict {
            Arrival::Creation(Creation::Made(index)) => Some(index.clone()),
            _ => None,
        };
        existing.extend(index.clone());
        arrived.ttl.push(Ttl::standing(standing.server, kind, spec.clone(), arrival, index));
    }
    arrived
}

/// The same of a collection that has seconds of its own, and stands as `own` among the
/// specifications.
fn arrive_whole(standing: &Standing, own: &Document, specs: &[Document]) -> Arrived {
    let (own_arrival, mut collection) = whole::arrival(standing, own);
    let mut came = Vec::new();
    for spec in specs {
        let arrival = if whole::is_own(spec) {
            own_arrival.clone()
        } else {
            whole::index_arrival(standing, collection.as_ref().ok_or(&own_arrival), spec)
        };
        let target = match (&arrival.verdict, &mut collection) {
            _ if whole::is_own(spec) => Some(Target::Own),
            (Arrival::Creation(Creation::Made(index)), Some(collection)) => {
                collection.indexes.push(index.clone());
                Some(Target::Index(collection.indexes.len() - 1))
            }
            _ => None,
        };
        came.push((spec.clone(), arrival, target));
    }
    let collection = collection.map(Rc::new);
    let mut arrived = Arrived::default();
    for (found, arrival, target) in came {
        let is_about_it = collection.is_some() || whole::is_own(&found);
        if let Arrival::Creation(Creation::Refused(code)) = arrival.verdict
            && is_about_it
        {
            let name = found.get_str("name").unwrap_or_default().to_owned();
            arrived.refused.push(Refused { name, code, rule: deciding(&arrival.because) });
        }
        let part = collection.clone().zip(target);
        let part = part.map(|(collection, target)| Part { collection, target });
        arrived.ttl.push(Ttl::of_part(standing.server, found, arrival, part));
    }
    arrived
}

impl Ttl {
    /// A part of a collection with seconds of its own, as it stands on a server.
    pub fn of_part(
        server: Version,
        found: Document,
        arrival: Ruling<Arrival>,
        part: Option<Part>,
    ) -> Ttl {
        let usable = match &part {
            Some(part) => part.usable(server),
            None => Ruling::plain(Use::Nothing),
        };
        let index = match &part {
            Some(Part { collection, target: Target::Own }) => Some(whole::stored(collection)),
            Some(Part { collection, target: Target::Index(at) }) => {
                Some(collection.indexes[*at].clone())
            }
            None => None,
        };
        Ttl { found, arrival, index, usable, obstacle: None, part }
    }

    /// Is it the collection itself?
    pub fn is_own(&self) -> bool {
        whole::is_own(&self.found)
    }

    /// Does it decide on buckets of a time-series collection?
    pub fn is_of_buckets(&self) -> bool {
        self.part.as_ref().is_some_and(Part::is_of_buckets)
    }

    /// An index as it stands on a server, if it does.
    pub fn standing(
        server: Version,
        kind: Kind,
        found: Document,
        arrival: Ruling<Arrival>,
        index: Option<Index>,
    ) -> Ttl {
        let usable = match &index {
            Some(index) => pass::usable(server, kind, index),
            None => Ruling::plain(Use::Nothing),
        };
        Ttl { found, arrival, index, usable, obstacle: None, part: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.found.get_str("name").unwrap_or_default()
    }

    /// `expireAfterSeconds`, as it was found.
    pub fn seconds(&self) -> Bson {
        self.found.get(SECONDS).cloned().unwrap_or(Bson::Null)
    }

    /// `expireAfterSeconds`, as it is stored on the server.
    pub fn stored_seconds(&self) -> Option<&Bson> {
        self.index.as_ref().and_then(Index::seconds)
    }

    /// Its key pattern.
    pub fn key(&self) -> Document {
        self.found.get_document("key").cloned().unwrap_or_default()
    }

    /// Its path, or the paths of its key if it has not exactly one.
    pub fn path(&self) -> String {
        let paths: Vec<_> = self.key().keys().cloned().collect();
        paths.join(", ")
    }

    /// How long its dates live, if a visit uses it.
    pub fn lifetime(&self) -> Option<i64> {
        match self.usable.verdict {
            Use::Lifetime(millis) if self.obstacle.is_none() => Some(millis),
            _ => None,
        }
    }

    /// What it makes of a document. The rules are those behind its arrival.
    pub fn verdict(&self, standing: &Standing, document: &Document) -> Ruling<Verdict> {
        match (&self.index, self.lifetime()) {
            (Some(index), Some(lifetime)) => {
                if let Some(part) = &self.part {
                    let ruling = part.verdict(standing.server, document, lifetime, standing.at);
                    return ruling.after(&self.usable.because);
                }
                life::by_lifetime(standing.server, index, document, lifetime, standing.at)
                    .after(&self.usable.because)
            }
            _ => Ruling::plain(Verdict::Never).after(&self.in_the_way()),
        }
    }

    /// The rules by which the index as a whole deletes nothing.
    fn in_the_way(&self) -> Vec<Rule> {
        match (&self.index, &self.obstacle) {
            (Some(_), Some((rule, _))) => vec![*rule],
            (Some(_), None) => self.usable.because.clone(),
            (None, _) => Vec::new(),
        }
    }

    /// All rules of a verdict, those of the arrival first.
    pub fn by(&self, ruling: &Ruling<Verdict>) -> Vec<Rule> {
        Ruling::plain(()).after(&ruling.because).after(&self.arrival.because).because
    }

    /// The rule that decides a verdict of never.
    pub fn deciding(&self, ruling: &Ruling<Verdict>) -> Rule {
        let is_there = self.index.is_some();
        deciding(if is_there { &ruling.because } else { &self.arrival.because })
    }

    /// How far a document gets.
    pub fn stage(&self, ruling: &Ruling<Verdict>) -> Stage {
        match ruling.verdict {
            Verdict::Expired(..) => Stage::Expired,
            Verdict::Pending(..) => Stage::Pending,
            Verdict::Never if self.lifetime().is_none() => Stage::Index,
            Verdict::Never if ruling.because.contains(&Rule::MongodbFilterOutside) => Stage::Filter,
            Verdict::Never => Stage::Date,
        }
    }
}

/// Of the rules of a refusal or of a verdict of never, the one that says most.
fn deciding(because: &[Rule]) -> Rule {
    use Rule::*;
    let values = [MongodbDateValue, MongodbDateArray, MongodbDatePositionLast];
    let shapes = [MongodbDateMissing, MongodbDateEmptyArray, MongodbDateNestedArray];
    if because.contains(&MongodbDateType) {
        let of = |rules: &[Rule]| because.iter().filter(|r| rules.contains(r)).count();
        if of(&values) > 0 || of(&shapes) != 1 {
            return MongodbDateType;
        }
        let shape = because.iter().find(|rule| shapes.contains(rule));
        return shape.copied().unwrap_or(MongodbDateType);
    }
    let specific = because.iter().rev().find(|rule| !is_general(**rule));
    specific.or(because.last()).copied().unwrap_or(MongodbIndexTtl)
}

/// These say that something is so, or is wrong; a rule before them says what.
pub fn is_general(rule: Rule) -> bool {
    use Rule::*;
    matches!(
        rule,
        MongodbNanRestored
            | MongodbNanUpgraded
            | MongodbNanSynced
            | MongodbPassValue
            | MongodbPassError
            | MongodbPassSpecification
            | MongodbThresholdWholeSeconds
            | MongodbThresholdCast
            | MongodbThresholdHalfEven
    )
}

// ---- what decided ------------------------------------------------------------------------------

/// The value that decided, where it stands, and what blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The path, positions written out; of an index, the option.
    pub path: String,
    /// The value there; null where there is none.
    pub value: Bson,
    /// Is there no value at all?
    pub is_missing: bool,
    /// What is in the way, if anything is.
    pub blocked_by: Option<String>,
}

impl Decided {
    fn at(path: String, value: Option<Bson>, blocked_by: Option<String>) -> Decided {
        let is_missing = value.is_none();
        Decided { path, value: value.unwrap_or(Bson::Null), is_missing, blocked_by }
    }
}

/// What decided a verdict?
pub fn decided(
    standing: &Standing,
    kind: Kind,
    ttl: &Ttl,
    document: &Document,
    ruling: &Ruling<Verdict>,
) -> Decided {
    match &ruling.verdict {
        Verdict::Expired(_, dated) | Verdict::Pending(_, dated) => {
            let value = Bson::DateTime(bson::DateTime::from_millis(dated.date.0));
            Decided { path: dated.path.clone(), value, is_missing: false, blocked_by: None }
        }
        Verdict::Never => match ttl.stage(ruling) {
            Stage::Filter => match &ttl.part {
                Some(part) => by_filter(standing.server, ttl, &part.seen(document)),
                None => by_filter(standing.server, ttl, document),
            },
            Stage::Date => {
                let of_part =
                    ttl.part.as_ref().and_then(|part| part.decided(standing.server, document));
                of_part.unwrap_or_else(|| by_date(ttl, document))
            }
            _ => by_index(standing, kind, ttl, ruling),
        },
    }
}

fn by_index(standing: &Standing, kind: Kind, ttl: &Ttl, ruling: &Ruling<Verdict>) -> Decided {
    use Rule::*;
    let option = |name: &str| (name.to_owned(), ttl.found.get(name).cloned());
    let (path, value) = match ttl.deciding(ruling) {
        MongodbIndexCompound
        | MongodbPassFields
        | MongodbPassMethod
        | MongodbIndexKeyValue
        | MongodbIndexKeyPath
        | MongodbIndexId
        | MongodbIndexWildcard
        | MongodbIndexSpecial
        | MongodbDateAmbiguous
        | MongodbVisibilityKeyTaken => option("key"),
        MongodbIndexName
        | MongodbIndexSame
        | MongodbIndexSameName
        | MongodbIndexConflict
        | MongodbIndexSignature => option("name"),
        MongodbIndexCappedInert | MongodbIndexCappedRefused => {
            ("options.capped".to_owned(), Some(Bson::Boolean(kind == Kind::Capped)))
        }
        MongodbIndexSparse => option("sparse"),
        MongodbIndexUnique => option("unique"),
        MongodbIndexHidden => option("hidden"),
        MongodbIndexOption => {
            let unknown = ttl.found.keys().find(|name| !is_option(standing.server, name));
            option(unknown.map_or("key", String::as_str))
        }
        MongodbBucketOff => option("timeseries"),
        rule if rule.chapter().ends_with("4-filter") => option(FILTER),
        _ => option(SECONDS),
    };
    let what = if ttl.is_own() { "the collection" } else { "the index" };
    let blocked_by = Some(format!("{what}: {}", in_short(standing, ttl)));
    Decided::at(path, value, blocked_by)
}

/// Does it refuse a collection, and no index?
fn is_of_create(rule: Rule) -> bool {
    use Rule::*;
    let of_buckets =
        [MongodbBucketAlone, MongodbBucketFields, MongodbBucketGranularity, MongodbBucketCustom];
    rule.chapter().ends_with("14-clustered") && rule != MongodbClusteredCappedIndex
        || of_buckets.contains(&rule)
}

/// Why an index as a whole deletes nothing, in a few words.
pub fn in_short(standing: &Standing, ttl: &Ttl) -> String {
    let server = standing.server;
    if ttl.usable.because.contains(&Rule::MongodbBucketOff) {
        return format!(
            "{server} deletes nothing of a collection with dates that a bucket's _id cannot hold, \
             and says nothing of it"
        );
    }
    match (&ttl.arrival.verdict, &ttl.obstacle, &ttl.usable.verdict) {
        (Arrival::Fatal(code), ..) => {
            format!("{server} ends with assertion {code} and never serves")
        }
        (Arrival::Creation(Creation::Refused(code)), ..) => match standing.via {
            Via::Created | Via::Restored
                if is_of_create(deciding(&ttl.arrival.because)) && !ttl.is_own() =>
            {
                format!("its collection is not made, which {server} refuses with error {code}")
            }
            Via::Created | Via::Restored if ttl.is_own() => {
                format!("create on {server} refuses the collection with error {code}")
            }
            Via::Created | Via::Restored => {
                format!("createIndexes on {server} refuses it with error {code}")
            }
            _ => format!("it could not have stood in a catalog (error {code})"),
        },
        (Arrival::Creation(Creation::There), ..) => "the same index is there already".to_owned(),
        (_, Some((_, why)), _) => format!("it cannot be built: {why}"),
        (.., Use::Skip(159)) => "each visit fails with error 159 (DurationOverflow)".to_owned(),
        (.., Use::Skip(code)) => format!("each pass skips it (log line {code})"),
        (.., Use::Nothing) => format!("the monitor of {server} does not look at it"),
        (.., Use::Lifetime(_)) => "it is used".to_owned(),
    }
}

fn by_filter(server: Version, ttl: &Ttl, document: &Document) -> Decided {
    let filter = ttl.index.as_ref().and_then(Index::filter);
    let filter = filter.unwrap_or(Filter::And(Vec::new()));
    let path = failing(server, &filter, document).unwrap_or_default();
    let value = at_path(document, &path);
    let written = relaxed(ttl.found.get(FILTER).unwrap_or(&Bson::Null));
    let blocked_by = format!("the partial filter {written}: `{path}` does not match");
    Decided::at(path, value, Some(blocked_by))
}

/// The path of the first condition that a document fails.
fn failing(server: Version, filter: &Filter, document: &Document) -> Option<String> {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts
            .iter()
            .filter(|part| !filter::member(server, part, document).verdict)
            .find_map(|part| failing(server, part, document)),
        Filter::At(path, _) => Some(path.clone()),
        Filter::Refused(_) => None,
    }
}

/// The value at a dotted path, as far as no array has to be chosen from.
pub fn at_path(document: &Document, path: &str) -> Option<Bson> {
    let mut parts = path.split('.');
    let mut value = document.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Bson::Document(inner) => inner.get(part)?,
            Bson::Array(array) => match part.parse::<usize>() {
                Ok(position) => array.get(position)?,
                Err(_) => return Some(value.clone()),
            },
            _ => return None,
        };
    }
    Some(value.clone())
}

fn by_date(ttl: &Ttl, document: &Document) -> Decided {
    let path = ttl.path();
    let keys = match date::keys(document, &path) {
        Ok(keys) => keys,
        Err(ambiguous) => {
            let path = ambiguous.verdict.path;
            let value = at_path(document, &path);
            let blocked_by = Some(format!("`{path}` is a position and a field at once"));
            return Decided::at(path, value, blocked_by);
        }
    };
    let met = keys.iter().find(|key| key.value.is_some());
    let Some(key) = met else {
        let blocked_by = Some(format!("`{path}` is missing"));
        return Decided::at(path, None, blocked_by);
    };
    let is_empty = key.because.contains(&Rule::MongodbDateEmptyArray);
    let value = if is_empty { Some(Bson::Array(Vec::new())) } else { key.value.clone() };
    let kind = value.as_ref().map_or("nothing", a_kind);
    let blocked_by = format!("`{}` holds {kind}, which is no Date", key.path);
    Decided::at(key.path.clone(), value, Some(blocked_by))
}

/// The type of a value, with its article.
pub fn a_kind(value: &Bson) -> &'static str {
    match value {
        Bson::Double(_) => "a double",
        Bson::String(_) => "a string",
        Bson::Array(array) if array.is_empty() => "an empty array",
        Bson::Array(_) => "an array in an array",
        Bson::Document(_) => "a sub-document",
        Bson::Boolean(_) => "a boolean",
        Bson::Null => "null",
        Bson::Int32(_) => "an int",
        Bson::Int64(_) => "a long",
        Bson::Timestamp(_) => "a Timestamp",
        Bson::Binary(_) => "binary data",
        Bson::ObjectId(_) => "an ObjectId",
        Bson::DateTime(_) => "a Date",
        Bson::Decimal128(_) => "a decimal",
        _ => "another type",
    }
}
