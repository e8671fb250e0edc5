//! A document is expired and still there: what can stand in the way, and how is that seen?
//!
//! [`seen`] says what the dump shows; [`of_server`], [`of_collection`] and [`of_index`] say what only
//! the server shows, with the command to run there and what its answers mean. What does not apply to
//! the version or to the kind of collection is left out.

use bson::{Bson, Document};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::index::{FILTER, Kind};
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::version::{CappedTtl, ExtendedRange, Listing, Version};

use crate::json::relaxed;
use crate::near_miss::documents;
use crate::rule_on::{Standing, Ttl, in_short};
use crate::survey::{Survey, Tally};
use crate::whole::{Part, renamed};

/// Something that can stand in the way, and that the dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenInDump {
    /// What could stand in the way.
    pub what: &'static str,
    /// What the dump shows of it.
    pub found: String,
    /// Does it stand in the way of a document?
    pub in_the_way: bool,
}

/// Something that can stand in the way, and that only the server shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The question.
    pub what: String,
    /// The command that answers it, for the shell.
    pub command: String,
    /// What an answer means, each as "answer: meaning".
    pub answers: Vec<String>,
    /// The rule that it is about.
    pub rule: Rule,
}

fn check(rule: Rule, what: &str, command: impl Into<String>, answers: &[&str]) -> Check {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    Check { what: what.to_owned(), command: command.into(), answers, rule }
}

// ---- what the dump shows -----------------------------------------------------------------------

/// What the dump shows of an index and of the documents under it.
pub fn seen(standing: &Standing, survey: &Survey, nth: usize) -> Vec<SeenInDump> {
    let (ttl, tally) = (&survey.arrived.ttl[nth], &survey.tallies[nth]);
    let see = |what, found: String, in_the_way| SeenInDump { what, found, in_the_way };
    let mut seen = vec![
        see("the collection", of_kind(survey.kind), survey.kind == Kind::View),
        see("the index", of_use(standing, ttl), ttl.lifetime().is_none()),
    ];
    if ttl.lifetime().is_some() {
        let outside = tally.never_by_rule.get(&Rule::MongodbFilterOutside).copied().unwrap_or(0);
        let filter = match ttl.found.get(FILTER) {
            None => "none".to_owned(),
            Some(filter) => format!(
                "{} of {} are outside {}",
                outside,
                documents(survey.documents),
                relaxed(filter)
            ),
        };
        seen.push(see("the partial filter", filter, outside > 0));
        let undated = tally.never - outside;
        seen.push(see("the type at the path", of_types(ttl, tally, undated), undated > 0));
        let arrays = match tally.inside {
            0 => "no deciding date stands inside one".to_owned(),
            inside => {
                format!("in {} the earliest date inside decides for the whole", documents(inside))
            }
        };
        seen.push(see("arrays", arrays, false));
        seen.push(see("time", of_time(tally), tally.pending > 0));
    }
    let hidden = ttl.found.get_bool("hidden").unwrap_or(false);
    let hidden = if hidden { "yes, which does not matter" } else { "no; it would not matter" };
    seen.push(see("hidden", hidden.to_owned(), false));
    seen
}

fn of_kind(kind: Kind) -> String {
    match kind {
        Kind::Capped => "capped",
        Kind::View => "a view",
        Kind::Clustered | Kind::CappedClustered => "clustered",
        Kind::TimeSeries => "of measurements in buckets",
        Kind::Plain => "ordinary: not capped, clustered, a view or a time series",
    }
    .to_owned()
}

fn of_use(standing: &Standing, ttl: &Ttl) -> String {
    match ttl.usable.verdict {
        Use::Lifetime(millis) if ttl.lifetime().is_some() && ttl.is_of_buckets() => {
            format!("used; buckets live {} s, which is with what they span", millis / 1_000)
        }
        Use::Lifetime(millis) if ttl.lifetime().is_some() && ttl.is_own() => {
            format!("the collection's own seconds; dates in `_id` live {} s", millis / 1_000)
        }
        Use::Lifetime(millis) if ttl.lifetime().is_some() => {
            format!("one ordered field, in either direction; dates live {} s", millis / 1_000)
        }
        _ => in_short(standing, ttl),
    }
}

fn of_types(ttl: &Ttl, tally: &Tally, undated: u64) -> String {
    if undated == 0 && ttl.is_of_buckets() {
        return "each is a bucket with a time that counts".to_owned();
    }
    if undated == 0 {
        return format!("each has a Date at {}", ttl.path());
    }
    let reasons: Vec<String> = (tally.never_by_rule.iter())
        .filter(|(rule, _)| **rule != Rule::MongodbFilterOutside)
        .map(|(rule, count)| format!("{count} by {rule}"))
        .collect();
    format!(
        "{} without a Date that counts at {}: {}",
        documents(undated),
        ttl.path(),
        reasons.join(", ")
    )
}

fn of_time(tally: &Tally) -> String {
    let next = tally.next.keys().next().map(|at| crate::instant::shown(*at));
    match next {
        None => format!("{} past the threshold, none waits for it", documents(tally.expired)),
        Some(next) => format!(
            "{} past the threshold, {} not yet (the next from {next} on)",
            documents(tally.expired),
            tally.pending
        ),
    }
}

// ---- what only the server shows ----------------------------------------------------------------

/// What can keep a whole server, or its monitor, from deleting.
pub fn of_server(server: Version) -> Vec<Check> {
    let mut checks = monitor(server);
    checks.extend(member(server));
    checks.extend(blocked(server));
    checks.push(backlog(server));
    checks.push(log(server));
    checks
}

fn monitor(server: Version) -> Vec<Check> {
    let mut answers = vec![
        "`passes` grows and `deletedDocuments` does not: passes run and find nothing to delete here, \
         or fail (see the log)",
    ];
    if server.deletes_in_batches() {
        answers.push(
            "`subPasses` grows and `passes` does not: one pass is at work on a backlog, in rounds",
        );
    } else {
        answers.push("`passes` stands still for minutes: it is off, or one pass is at work");
    }
    if server.invalid_skips_are_counted() {
        answers.push("`invalidTTLIndexSkips` grows: an index is skipped as invalid (see the log)");
    }
    vec![
        check(
            Rule::MongodbMonitorDisabled,
            "is the monitor on, and how long does it sleep?",
            "db.adminCommand({getParameter: 1, ttlMonitorEnabled: 1, ttlMonitorSleepSecs: 1})",
            &[
                "`ttlMonitorEnabled: false`: no pass runs; db.adminCommand({setParameter: 1, \
                 ttlMonitorEnabled: true}) turns it on",
                "`ttlMonitorSleepSecs: N`: a pass begins N seconds after the last one ended (60 by \
                 default), the first N seconds after the start",
            ],
        ),
        check(
            Rule::MongodbMonitorCounters,
            "do passes run, and do they delete? (twice, two minutes apart)",
            "db.serverStatus().metrics.ttl",
            &answers,
        ),
    ]
}

fn member(server: Version) -> Vec<Check> {
    let (hello, primary) = match has_hello(server) {
        true => ("db.hello()", "db.hello().isWritablePrimary"),
        false => ("db.isMaster()", "db.isMaster().ismaster"),
    };
    let local = if server.invalid_skips_are_counted() {
        "`false`: a secondary deletes nothing by itself, in no database: ask the primary"
    } else {
        "`false`: a secondary deletes nothing by itself (but for the database `local`): ask the \
         primary"
    };
    let lag = match is_older(server, 4, 4) {
        true => "rs.printSlaveReplicationInfo()",
        false => "rs.printSecondaryReplicationInfo()",
    };
    vec![
        check(Rule::MongodbReplicationPrimaryOnly, "is this the primary?", primary, &[local]),
        check(
            Rule::MongodbShardElsewhere,
            "is this a mongos?",
            format!("{hello}.msg"),
            &[
                "`isdbgrid`: a mongos has no monitor: each shard's primary deletes for itself; ask there",
            ],
        ),
        check(
            Rule::MongodbMonitorMaintenance,
            "is this a member of a replica set that was started alone?",
            format!(
                "[{hello}.setName, db.getSiblingDB(\"local\").system.replset.find().toArray().length]"
            ),
            &["no name, and not 0: it starts no monitor until it is started as a member again"],
        ),
        check(
            Rule::MongodbReplicationStaleRead,
            "was it looked at on a secondary that is behind?",
            lag,
            &["a secondary is N seconds behind: it shows what the primary deleted so long ago"],
        ),
        check(
            Rule::MongodbLifeClock,
            "is the primary's clock right? It alone decides",
            format!("{hello}.localTime"),
            &["it is behind by N: documents go so much later; ahead: so much sooner"],
        ),
    ]
}

fn blocked(server: Version) -> Vec<Check> {
    let mut checks = vec![check(
        Rule::MongodbMonitorFsync,
        "is the server locked by fsyncLock?",
        "db.adminCommand({currentOp: 1}).fsyncLock",
        &["`true`: no pass runs; db.fsyncUnlock() unlocks, once for each lock that was taken"],
    )];
    if server.user_writes_can_be_blocked() {
        checks.push(check(
            Rule::MongodbMonitorBlocked,
            "are user writes blocked (setUserWriteBlockMode)?",
            "db.serverStatus().repl.userWriteBlockMode",
            &["`2`: on; every visit of a user's database fails with UserWritesBlocked. `1`: off"],
        ));
    }
    checks
}

fn backlog(server: Version) -> Check {
    let command = "db.adminCommand({currentOp: 1, desc: \"TTLMonitor\"}).inprog";
    if server.deletes_in_batches() {
        check(
            Rule::MongodbVisitRounds,
            "is it at work on others that stand in front?",
            command,
            &["an operation on another collection: it takes turns, with 50000 documents or one \
                 second for each index (ttlIndexDeleteTargetDocs, ttlIndexDeleteTargetTimeMS), until \
                 nothing is left"],
        )
    } else {
        check(
            Rule::MongodbVisitSingly,
            "is it at work on others that stand in front?",
            command,
            &["an operation on another collection: one index is worked off to its end before the \
                 next, so that a busy one starves the rest (before 6.1)"],
        )
    }
}

fn log(server: Version) -> Check {
    let mut answers = Vec::new();
    if is_older(server, 4, 4) {
        answers.push(
            "`key for ttl index can only have 1 field`, `special index can't be used`, `numeric`: \
             the index named there is skipped",
        );
    } else if server.visit_checks_specification() {
        answers.push("22540, 22541, 6909100: the index named there is skipped");
    } else {
        answers.push("22540, 22541, 22542: the index named there is skipped");
    }
    if !is_older(server, 5, 0) {
        answers.push("5400703: a visit failed, with the reason; the next pass tries again");
    }
    if server.orphans_are_left_alone() {
        answers.push("6353000: the shard's metadata was stale; the next pass tries again");
    }
    if !is_older(server, 4, 4) {
        answers.push("22537: a pass was interrupted, as by a step-down; it sleeps again first");
    }
    check(
        Rule::MongodbPassError,
        "what does the log say of visits?",
        "db.adminCommand({getLog: \"global\"}).log.filter(line => /TTLMonitor/.test(line))",
        &answers,
    )
}

/// What can keep the documents of a collection with TTL indexes.
pub fn of_collection(server: Version, kind: Kind, namespace: &str) -> Vec<Check> {
    let mut answers = vec![
        "it is not there: nothing expires by it (a restore or a sync may have lost it)",
        "another `expireAfterSeconds` than here: that one decides; collMod changed it",
    ];
    match server.listing() {
        Listing::AsStored => {}
        Listing::AsInt32 => answers.push("0: this version shows NaN as 0 too, and uses it as 0"),
        Listing::NanAsMax => {
            answers.push("2147483647: what is stored may be NaN, which visits skip");
        }
        Listing::InvalidAsMax => {
            answers.push("2147483647: what is stored may be invalid, which visits skip");
        }
    }
    let mut checks = vec![
        check(
            Rule::MongodbIndexTtl,
            "do its indexes stand there as in the dump?",
            format!("{}.getIndexes()", in_shell(namespace)),
            &answers,
        ),
        check(
            Rule::MongodbMonitorNotReady,
            "is an index still being built there?",
            "db.adminCommand({currentOp: 1, $or: [{op: \"command\", \"command.createIndexes\": \
             {$exists: true}}, {op: \"none\", msg: /^Index Build/}]}).inprog",
            &["an operation on this collection: an index that is not ready is not visited"],
        ),
    ];
    let held_in = match kind {
        Kind::TimeSeries => buckets_of(namespace),
        _ => namespace.to_owned(),
    };
    checks.extend(sharded(server, &held_in));
    checks
}

/// What can keep the documents of one index.
pub fn of_index(standing: &Standing, survey: &Survey, nth: usize) -> Vec<Check> {
    let ttl = &survey.arrived.ttl[nth];
    let mut checks = Vec::new();
    if ttl.is_own()
        && let Some(part) = &ttl.part
    {
        checks.extend(of_own(standing.server, &survey.namespace, part, ttl.lifetime()));
    }
    if ttl.is_own() && ttl.is_of_buckets() {
        return checks;
    }
    if let (Some(millis), Some(path)) =
        (ttl.lifetime(), ttl.index.as_ref().and_then(|index| index.path()))
    {
        let (held_in, path) = match ttl.is_of_buckets() {
            true => (buckets_of(&survey.namespace), format!("control.min.{path}")),
            false => (survey.namespace.clone(), path),
        };
        let old = format!("{{{}: {{$lte: new Date(Date.now() - {millis})}}}}", quoted(&path));
        let condition = match filter_there(ttl) {
            Some(filter) => {
                format!("{{$and: [{old}, {}]}}", value_in_shell(&Bson::Document(filter)))
            }
            None => old,
        };
        checks.push(check(
            Rule::MongodbVisibilityUntilPass,
            "are they still there, with these dates?",
            format!("{}.countDocuments({condition})", in_shell(&held_in)),
            &["0: they were deleted, or given another date, since the dump"],
        ));
    }
    checks.extend(compatibility(standing.server, survey.kind, ttl));
    checks
}

fn sharded(server: Version, namespace: &str) -> Option<Check> {
    server.orphans_are_left_alone().then(|| {
        let mut answers = vec![
            "not empty: these ranges are orphans, which visits skip since 6.0; the range \
                  deleter takes them",
        ];
        if server.deletes_in_batches() {
            answers.push(
                "more than 50000 of them before the others in the index: each batch is filled with \
                 orphans and deletes nothing",
            );
        }
        check(
            Rule::MongodbShardOrphans,
            "on a shard: are they orphans?",
            format!(
                "db.getSiblingDB(\"config\").rangeDeletions.find({{nss: {}}}).toArray()",
                relaxed(&Bson::String(namespace.to_owned()))
            ),
            &answers,
        )
    })
}

/// The feature compatibility version matters for a few things only.
fn compatibility(server: Version, kind: Kind, ttl: &Ttl) -> Option<Check> {
    let filter = ttl.found.get(FILTER).map(|filter| relaxed(filter).to_string());
    let is_new_filter = filter.is_some_and(|text| text.contains("$or") || text.contains("$in"));
    let (rule, answer) = if kind == Kind::Capped && server.capped_ttl() == CappedTtl::Works {
        (
            Rule::MongodbIndexCappedWorks,
            "lower than 7.1: TTL does not delete from a capped collection yet",
        )
    } else if is_new_filter && server.filter_has_or_and_in() {
        (Rule::MongodbFilterOrIn, "lower than 6.0: the filter's `$or` or `$in` is not accepted yet")
    } else if server.nan_from_before_is_fatal() {
        (Rule::MongodbNanFatal, "4.4: an index with NaN keeps this server from starting or joining")
    } else {
        return None;
    };
    Some(check(
        rule,
        "which feature compatibility version is set?",
        "db.adminCommand({getParameter: 1, featureCompatibilityVersion: 1})",
        &[answer],
    ))
}

/// What can keep the documents of a collection with seconds of its own.
fn of_own(server: Version, namespace: &str, part: &Part, lifetime: Option<i64>) -> Vec<Check> {
    let (database, name) = parts(namespace);
    let mut checks = vec![check(
        Rule::MongodbClusteredVisit,
        "is the collection set up as in the dump?",
        format!(
            "db.getSiblingDB({}).getCollectionInfos({{name: {}}})[0].options",
            quoted(database),
            quoted(name)
        ),
        &["no `expireAfterSeconds`: nothing expires by it; another number: that one decides"],
    )];
    let Some(time) = part.time_field() else {
        checks.push(check(
            Rule::MongodbClusteredOtherKey,
            "is the cluster key a Date?",
            format!("{}.countDocuments({{_id: {{$type: \"date\"}}}})", in_shell(namespace)),
            &["0: none of them expires by it"],
        ));
        return checks;
    };
    let buckets = in_shell(&buckets_of(namespace));
    if let Some(millis) = lifetime {
        checks.push(check(
            Rule::MongodbVisibilityUntilPass,
            "are the buckets still there?",
            format!(
                "{buckets}.countDocuments({{_id: {{$lt: ObjectId.createFromTime(Math.floor((\
                 Date.now() - {millis}) / 1000) + 1)}}}})"
            ),
            &["0: they were deleted since the dump"],
        ));
    }
    if server.extended_range() != ExtendedRange::Wraps {
        let min = quoted(&format!("control.min.{time}"));
        checks.push(check(
            Rule::MongodbBucketOff,
            "has it a bucket that begins before 1970 or after 2038-01-19T03:14:07Z?",
            format!(
                "{buckets}.countDocuments({{$or: [{{{min}: {{$lt: new Date(0)}}}}, {{{min}: \
                 {{$gt: new Date(2147483647999)}}}}]}})"
            ),
            &[match server.extended_range() {
                ExtendedRange::Off => {
                    "not 0: nothing of the collection is deleted, nor if there was one since the \
                     server was started"
                }
                _ => "not 0: a bucket goes only once its latest measurement is old enough, too",
            }],
        ));
    }
    checks
}

/// The collection that holds the buckets.
fn buckets_of(namespace: &str) -> String {
    let (database, name) = parts(namespace);
    format!("{database}.system.buckets.{name}")
}

/// The filter of an index, as a query of the collection that holds the documents: buckets have the
/// value of the meta field in `meta`.
fn filter_there(ttl: &Ttl) -> Option<Document> {
    let filter = ttl.index.as_ref()?.spec.get_document(FILTER).ok()?;
    let meta = ttl.part.as_ref().filter(|part| part.is_of_buckets()).and_then(Part::meta_field);
    Some(meta.map_or_else(|| filter.clone(), |meta| renamed(filter, meta, "meta")))
}

/// A value as the shell reads it.
fn value_in_shell(value: &Bson) -> String {
    match value {
        Bson::DateTime(date) => format!("new Date({})", date.timestamp_millis()),
        Bson::ObjectId(id) => format!("ObjectId(\"{id}\")"),
        Bson::Int64(long) => format!("NumberLong(\"{long}\")"),
        Bson::Decimal128(decimal) => format!("NumberDecimal(\"{decimal}\")"),
        Bson::Double(double) if double.is_nan() => "NaN".to_owned(),
        Bson::Double(double) if double.is_infinite() => {
            if *double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        Bson::Document(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", quoted(name), value_in_shell(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Bson::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(value_in_shell).collect();
            format!("[{}]", elements.join(", "))
        }
        Bson::String(_) | Bson::Boolean(_) | Bson::Null | Bson::Int32(_) | Bson::Double(_) => {
            relaxed(value).to_string()
        }
        other => format!("EJSON.deserialize({})", relaxed(other)),
    }
}

fn quoted(text: &str) -> String {
    relaxed(&Bson::String(text.to_owned())).to_string()
}

/// The collection, as the shell addresses it.
fn in_shell(namespace: &str) -> String {
    let (database, name) = parts(namespace);
    format!("db.getSiblingDB({}).getCollection({})", quoted(database), quoted(name))
}

fn parts(namespace: &str) -> (&str, &str) {
    namespace.split_once('.').unwrap_or(("", namespace))
}

/// One line for one thing that the dump shows.
pub fn seen_in_words(seen: &SeenInDump) -> String {
    let way = if seen.in_the_way { "IN THE WAY" } else { "not in the way" };
    format!("{}: {} – {way}", seen.what, seen.found)
}

// ---- which server has which command ------------------------------------------------------------

fn is_older(server: Version, major: u16, minor: u16) -> bool {
    server < Version::new(major, minor, 0)
}

/// `hello`: 5.0, and the patches 4.4.2, 4.2.10 and 4.0.21.
fn has_hello(server: Version) -> bool {
    let first = match (server.major, server.minor) {
        (4, 0) => 21,
        (4, 2) => 10,
        (4, 4) => 2,
        _ => 0,
    };
    server >= Version::new(4, 0, 0) && server.patch >= first
}
