#![doc = include_str!("../../../specs/mongodb/6-pass.md")]
//! ---
//! *Module:* what does one undisturbed pass of the monitor delete, and in which order?

use bson::Document;

use super::bucket::{self, Series};
use super::clustered;
use super::date::{self, Dated};
use super::filter;
use super::index::{Index, Kind, Method, SECONDS, seconds_allowed};
use super::life::{self, Verdict};
use super::number::{is_nan, is_number, safe_long};
use super::shard;
use super::threshold::{Expiry, Lifetime, expiry, lifetime};
use super::version::{CappedTtl, Version};
use super::visibility::Collection;
use super::words::{Reply, Skipped, Value, code};
use crate::ruling::{By, Rule, Ruling};
use crate::time::Millis;

/// What a visit can do with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is none of the monitor's business.
    Nothing,
    /// It is skipped with this log line, or fails with this error.
    Skip(i32),
    /// Its dates live so many milliseconds.
    Lifetime(i64),
}

/// The log line "key for ttl index can only have 1 field".
const LOG_FIELDS: i32 = 22540;
/// The log line "special index can't be used as a TTL index".
const LOG_METHOD: i32 = 22541;
/// The log line about a value that is no number.
const LOG_VALUE: i32 = 22542;
/// The log line about an invalid specification.
const LOG_SPECIFICATION: i32 = 6909100;

/// Can a visit use this index? The tests stand in the server's order, which changed in 8.1.
pub fn usable(version: Version, kind: Kind, index: &Index) -> Ruling<Use> {
    let Some(seconds) = index.seconds() else {
        return Use::Nothing.by(Rule::MongodbIndexPlain);
    };
    if kind == Kind::Capped && version.capped_ttl() != CappedTtl::Works {
        return Use::Nothing.by(Rule::MongodbIndexCappedInert);
    }
    let one_field = index.stored_fields() == 1;
    let special = index.method() != Method::Ordered;
    if special && (one_field || version.visit_tests_method_first()) {
        return Use::Skip(LOG_METHOD).by(Rule::MongodbPassMethod);
    }
    if !one_field && !version.visit_tests_method_first() {
        return Use::Skip(LOG_FIELDS).by(Rule::MongodbPassFields);
    }
    if version.visit_checks_specification() {
        // No checked version of this age looks at `now`.
        let allowed = seconds_allowed(version, &index.key(), seconds, Millis::MAX);
        if allowed.verdict.is_some() {
            return allowed
                .then(|_| Use::Skip(LOG_SPECIFICATION).by(Rule::MongodbPassSpecification));
        }
    } else if !is_number(seconds) {
        return Use::Skip(LOG_VALUE).by(Rule::MongodbPassValue);
    }
    let max = !is_nan(seconds) && safe_long(seconds) == i64::from(i32::MAX);
    let usable = lifetime(version, seconds).then(|lifetime| match lifetime {
        Lifetime::Millis(millis) => Ruling::plain(Use::Lifetime(millis)),
        Lifetime::Overflows => Use::Skip(code::DURATION_OVERFLOW).by(Rule::MongodbPassError),
        Lifetime::Skipped => Use::Skip(LOG_VALUE).by(Rule::MongodbPassValue),
    });
    if max { usable.and(Rule::MongodbNanMaxIsNotNever) } else { usable }
}

/// What a visit is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The collection's own seconds.
    Own,
    /// An index, by its place.
    Index(usize),
}

/// All that a pass visits in a collection, in order.
pub fn targets(collection: &Collection) -> Vec<Target> {
    let own = clustered::has_seconds(collection.kind).then_some(Target::Own);
    own.into_iter().chain((0..collection.indexes.len()).map(Target::Index)).collect()
}

impl Target {
    /// The name that the monitor logs: that of the index. The collection's own seconds have none.
    pub fn name(self, collection: &Collection) -> &str {
        match self {
            Target::Own => "",
            Target::Index(at) => collection.indexes[at].name(),
        }
    }

    /// The target with this name.
    pub fn named(collection: &Collection, name: &str) -> Option<Target> {
        targets(collection).into_iter().find(|target| target.name(collection) == name)
    }

    /// Does the monitor know of it?
    pub fn is_ttl(self, version: Version, collection: &Collection) -> bool {
        match self {
            Target::Own => collection.settings.seconds.is_some(),
            Target::Index(at) => {
                usable(version, collection.kind, &collection.indexes[at]).verdict != Use::Nothing
            }
        }
    }

    /// Is it built?
    pub fn is_ready(self, collection: &Collection) -> bool {
        !collection.building.contains(self.name(collection))
    }

    /// Can a visit use it?
    pub fn usable(self, version: Version, collection: &Collection) -> Ruling<Use> {
        if self.is_ttl(version, collection)
            && let Some(off) = bucket::off(version, collection)
        {
            return off;
        }
        let span_ms = collection.settings.series.as_ref().map_or(0, Series::span_ms);
        let usable = match self {
            Target::Own => clustered::usable(collection),
            Target::Index(at) => {
                if !self.is_ready(collection) {
                    return Use::Nothing.by(Rule::MongodbMonitorNotReady);
                }
                usable(version, collection.kind, &collection.indexes[at])
            }
        };
        usable.map(|usable| match usable {
            Use::Lifetime(lifetime_ms) => Use::Lifetime(lifetime_ms.saturating_add(span_ms)),
            other => other,
        })
    }

    /// Is a document that was chosen still expired? Its filter is not asked again, and a cluster
    /// key does not change.
    pub fn is_still_expired(
        self,
        document: &Document,
        collection: &Collection,
        lifetime_ms: i64,
        now: Millis,
    ) -> bool {
        let Target::Index(at) = self else { return true };
        if collection.kind == Kind::TimeSeries {
            return true;
        }
        let path = collection.indexes[at].path().unwrap_or_default();
        let dated = date::earliest(document, &path).verdict;
        dated.is_some_and(|dated| {
            matches!(expiry(dated.date, lifetime_ms, now).verdict, Expiry::Expired(_))
        })
    }

    /// Does it hold a document, as far as its filter goes?
    pub fn holds(self, version: Version, collection: &Collection, document: &Document) -> bool {
        let Target::Index(at) = self else { return true };
        let index = &collection.indexes[at];
        if collection.kind == Kind::TimeSeries {
            return bucket::member(version, collection, index, document).verdict;
        }
        let filter = index.filter();
        filter.is_none_or(|filter| filter::member(version, &filter, document).verdict)
    }

    /// What it makes of a document, once it is known how long dates live.
    pub fn verdict(
        self,
        version: Version,
        collection: &Collection,
        document: &Document,
        lifetime_ms: i64,
        now: Millis,
    ) -> Ruling<Verdict> {
        match (self, collection.kind) {
            (Target::Own, Kind::TimeSeries) => {
                bucket::verdict(version, collection, document, lifetime_ms, now)
            }
            (Target::Own, _) => clustered::verdict(version, document, lifetime_ms, now),
            (Target::Index(at), Kind::TimeSeries) => {
                let index = &collection.indexes[at];
                bucket::by_index(version, collection, index, document, (lifetime_ms, now))
            }
            (Target::Index(at), _) => {
                let index = &collection.indexes[at];
                life::by_lifetime(version, index, document, lifetime_ms, now)
            }
        }
    }

    /// What is to be said of a document that it deletes, beside the verdict.
    fn remarks(self, collection: &Collection, dated: &Dated) -> Vec<Rule> {
        let is_ttl = |index: &&Index| index.spec.contains_key(SECONDS);
        let ttl_indexes = collection.indexes.iter().filter(is_ttl).count();
        let own = usize::from(collection.settings.seconds.is_some());
        let is_bucket = collection.kind == Kind::TimeSeries;
        let path = match self {
            Target::Index(at) if !is_bucket => collection.indexes[at].path(),
            _ => Some(dated.path.clone()),
        };
        let path = path.expect("an index with a lifetime has one path");
        let mut rules = life::remarks(dated, &path, ttl_indexes + own > 1);
        rules.extend(bucket::remark(collection));
        rules
    }
}

/// The documents that a visit of `target` would delete at `now`, in order: by date, then by age of
/// the record.
pub fn doomed(
    version: Version,
    collection: &Collection,
    target: Target,
    lifetime_ms: i64,
    now: Millis,
) -> Ruling<Vec<(Millis, u64)>> {
    let mut because = Vec::new();
    let mut doomed = Vec::new();
    for (record, document) in &collection.documents {
        let ruling = target.verdict(version, collection, document, lifetime_ms, now);
        because.extend(ruling.because);
        if let Verdict::Expired(_, dated) = ruling.verdict {
            if let Some(rule) = shard::orphan(version, collection, *record) {
                because.push(rule);
                if rule == Rule::MongodbShardOrphans {
                    continue;
                }
            }
            because.extend(target.remarks(collection, &dated));
            doomed.push((dated.date, *record));
        }
    }
    doomed.sort();
    if doomed.len() > 1 {
        because.push(Rule::MongodbPassOrder);
    }
    Ruling::plain(doomed).after(&because)
}

/// Deletes all that is deletable at `now`: index by index, in each by date, then by age of the
/// record.
pub fn pass(version: Version, collection: &mut Collection, now: Millis) -> Ruling<Reply> {
    let mut because = vec![Rule::MongodbLifeClock, Rule::MongodbPassAll];
    let mut deleted = Vec::new();
    let mut skipped = Vec::new();
    for target in targets(collection) {
        let usable = target.usable(version, collection);
        because.extend(usable.because);
        match usable.verdict {
            Use::Nothing => {}
            Use::Skip(code) => {
                let index = target.name(collection).to_owned();
                skipped.push(Skipped { index, code });
            }
            Use::Lifetime(lifetime_ms) => {
                let doomed = doomed(version, collection, target, lifetime_ms, now);
                because.extend(doomed.because);
                for (_, record) in doomed.verdict {
                    let document = collection.delete(record).expect("it was just seen");
                    deleted.push(Value(document["_id"].clone()));
                }
            }
        }
    }
    Ruling::plain(Reply::Passed { deleted, skipped }).after(&because)
}
