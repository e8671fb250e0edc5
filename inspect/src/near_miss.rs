//! What should be said of an index, or of a collection, that its numbers do not say?

use bson::{Bson, Document};
use ttlspec_model::Rule;
use ttlspec_model::mongodb::clustered;
use ttlspec_model::mongodb::index::{Kind, SECONDS};
use ttlspec_model::mongodb::nan::{self, Arrival};
use ttlspec_model::mongodb::number::{is_nan, is_number};
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::version::CappedTtl;
use ttlspec_model::mongodb::words::{Value, Via};

use crate::json::relaxed;
use crate::rule_on::{Standing, Ttl, in_short};
use crate::survey::{Survey, Tally};
use crate::whole;

/// A remark, with the rule that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The rule.
    pub rule: Rule,
    /// The remark.
    pub text: String,
}

fn note(rule: Rule, text: impl Into<String>) -> Note {
    Note { rule, text: text.into() }
}

/// What is to be said of one index of a collection.
pub fn of_index(standing: &Standing, survey: &Survey, nth: usize) -> Vec<Note> {
    let (ttl, tally) = (&survey.arrived.ttl[nth], &survey.tallies[nth]);
    let mut notes = Vec::new();
    obstacle(standing, ttl, &mut notes);
    neighbours(standing, survey, ttl, &mut notes);
    if ttl.part.is_some() {
        of_part(standing, survey, ttl, tally, &mut notes);
    }
    if ttl.is_own() {
        strays(survey, ttl, tally, &mut notes);
        return notes;
    }
    seconds(standing, ttl, &mut notes);
    options(standing, survey, ttl, &mut notes);
    dates(tally, &mut notes);
    strays(survey, ttl, tally, &mut notes);
    notes
}

/// Why the index as a whole deletes nothing.
fn obstacle(standing: &Standing, ttl: &Ttl, notes: &mut Vec<Note>) {
    if ttl.lifetime().is_some() || ttl.usable.because.contains(&Rule::MongodbBucketOff) {
        return;
    }
    let empty = bson::Document::new();
    let ruling = ttl.verdict(standing, &empty);
    let rule = ttl.deciding(&ruling);
    let mut text = format!("{}: nothing expires by it", in_short(standing, ttl));
    if matches!(ttl.arrival.verdict, Arrival::Fatal(_)) {
        text.push_str("; set the value with collMod on the old server first");
    }
    notes.push(note(rule, text));
}

/// What is to be said of a collection with seconds of its own, or of an index of it.
fn of_part(standing: &Standing, survey: &Survey, ttl: &Ttl, tally: &Tally, notes: &mut Vec<Note>) {
    use Rule::*;
    let server = standing.server;
    let Some(part) = &ttl.part else { return };
    if part.is_of_buckets() && ttl.lifetime().is_some() {
        let text = format!(
            "whole buckets go, each {} s later than its own time says, which it may span; no \
             measurement decides by itself",
            part.span_s()
        );
        notes.push(note(MongodbBucketDeleted, text));
    }
    let own = survey.specs.iter().find(|spec| whole::is_own(spec));
    if let Some(text) = own.and_then(|own| whole::unseen_at_start(own, server, standing.via)) {
        notes.push(note(MongodbBucketLooksAgain, text));
    }
    if ttl.usable.because.contains(&MongodbBucketOff) {
        let text = format!(
            "a bucket that begins outside 1970 to 2038-01-19T03:14:07Z{} turns the time to live of \
             the WHOLE collection off, without a word in the log",
            first_extended(survey)
        );
        notes.push(note(MongodbBucketOff, text));
    }
    let never = |rule| tally.never_by_rule.get(&rule).copied().unwrap_or(0);
    let cited = |rule| tally.remarkable.get(&rule).copied().unwrap_or(0);
    let mut say = |rule: Rule, count: u64, text: &str| {
        if count > 0 {
            notes.push(note(rule, format!("{}: {text}", documents(count))));
        }
    };
    let text = format!("{server} begins to look later than their time, so they stay for good");
    say(MongodbBucketFrom2017, never(MongodbBucketFrom2017), &text);
    let text = format!("dated before 1970, where {server} begins to look: they stay for good");
    say(MongodbClusteredFrom1970, never(MongodbClusteredFrom1970), &text);
    say(
        MongodbBucketThresholdCut,
        cited(MongodbBucketThresholdCut),
        "ruled on by a threshold that 32 bits cannot hold, so that all may go; doubtful",
    );
    say(
        MongodbBucketCut,
        cited(MongodbBucketCut),
        "the time in the _id was cut to 32 bits: they go too soon or never",
    );
    say(
        MongodbBucketTwoScans,
        cited(MongodbBucketTwoScans),
        "dates that an _id cannot hold are there: the latest measurement has to be old enough, too",
    );
    say(
        MongodbClusteredBefore1970,
        cited(MongodbClusteredBefore1970),
        "dated before 1970 (such as a DateTime.MinValue), and expired",
    );
}

fn first_extended(survey: &Survey) -> String {
    let id = survey.specs.iter().find_map(whole::extended);
    id.map_or_else(String::new, |id| format!(" (the first has the _id {})", shown(id)))
}

/// Other indexes of the collection that matter for this one.
fn neighbours(standing: &Standing, survey: &Survey, ttl: &Ttl, notes: &mut Vec<Note>) {
    let refused = &survey.arrived.refused;
    let unbuilt = survey.arrived.ttl.iter().find_map(|ttl| {
        let (_, why) = ttl.obstacle.as_ref()?;
        Some((ttl.name(), why.as_str()))
    });
    let refusal =
        refused.first().map(|first| (first.name.as_str(), format!("error {}", first.code)));
    let first = refusal.or(unbuilt.map(|(name, why)| (name, why.to_owned())));
    if standing.via == Via::Restored
        && let Some((name, error)) = first
    {
        let text = if ttl.is_own() && name == ttl.name() {
            "mongorestore ends there, and makes neither the collection nor its indexes".to_owned()
        } else if name == ttl.name() {
            format!(
                "mongorestore makes all indexes of a collection with one command: {error} \
                 ends it and no index of `{}` is made until `{name}` is corrected in the metadata",
                survey.namespace
            )
        } else {
            format!(
                "ruled on as if it were made, but mongorestore ends with {error} at `{name}` \
                 and makes none: correct that one in the metadata first"
            )
        };
        notes.push(note(Rule::MongodbNanRestored, text));
    }
    let active = |ttl: &&Ttl| ttl.lifetime().is_some();
    let others: Vec<&str> = (survey.arrived.ttl.iter().filter(active))
        .map(Ttl::name)
        .filter(|name| *name != ttl.name())
        .collect();
    if ttl.lifetime().is_some() && !others.is_empty() {
        let text = format!(
            "`{}` can delete the same documents: of several TTL indexes the earliest instant rules",
            others.join("`, `")
        );
        notes.push(note(Rule::MongodbLifeAnyIndex, text));
    }
}

/// What became of the value, and how it is shown there.
fn seconds(standing: &Standing, ttl: &Ttl, notes: &mut Vec<Note>) {
    let found = ttl.seconds();
    let written = shown(&found);
    if !is_number(&found) {
        let text = format!("`{SECONDS}` was found as {written}, which is no number");
        notes.push(note(Rule::MongodbIndexNumeric, text));
    }
    let Some(stored) = ttl.stored_seconds() else {
        if is_nan(&found) {
            notes.push(note(Rule::MongodbNanRepair, GIVE_A_NUMBER));
        }
        return;
    };
    let because = [ttl.arrival.because.as_slice(), &ttl.usable.because].concat();
    if Value(stored.clone()) != Value(found.clone()) {
        let rule = [Rule::MongodbNanStoredAsMax, Rule::MongodbNanSynced];
        let rule = rule.into_iter().find(|rule| because.contains(rule));
        let text = format!("found as {written}, stored as {}", shown(stored));
        notes.push(note(rule.unwrap_or(Rule::MongodbIndexStoredAsInt32), text));
    }
    let listed = nan::listed(standing.server, stored);
    if Value(listed.verdict.clone()) != Value(stored.clone())
        && !(is_number(stored) && shown(&listed.verdict) == shown(stored))
    {
        let rule = listed.because.first().copied().unwrap_or(Rule::MongodbNanListedAsStored);
        let text = format!("getIndexes shows {} there", shown(&listed.verdict));
        notes.push(note(rule, text));
    }
    if listed.because.contains(&Rule::MongodbNanListedAsMax) {
        let text = "when a member becomes primary it writes 2147483647 in its place: from then on \
                    documents expire that are dated 68 years back";
        notes.push(note(Rule::MongodbNanRepair, text));
    }
    if because.contains(&Rule::MongodbNanOverflows) {
        notes.push(note(Rule::MongodbNanOverflows, ON_ARM));
    }
    if because.contains(&Rule::MongodbNanZero) {
        let text = "NaN acts as 0 there: every document whose date has passed is expired";
        notes.push(note(Rule::MongodbNanZero, text));
    }
    if is_nan(&found) {
        notes.push(note(Rule::MongodbNanRepair, GIVE_A_NUMBER));
    }
    if because.contains(&Rule::MongodbNanMaxIsNotNever) {
        let text = "2147483647 seconds are 68 years, not never";
        notes.push(note(Rule::MongodbNanMaxIsNotNever, text));
    }
    if because.contains(&Rule::MongodbThresholdNegative) {
        let text = "a negative value: dates expire before they are reached";
        notes.push(note(Rule::MongodbThresholdNegative, text));
    }
    if let (Use::Lifetime(millis), Bson::Double(double)) = (ttl.usable.verdict, stored)
        && double.fract() != 0.0
    {
        let text = format!("{written} counts as {} whole seconds", millis / 1_000);
        notes.push(note(Rule::MongodbThresholdWholeSeconds, text));
    }
}

/// What a cast of NaN gives is the processor's business.
pub const ON_ARM: &str = "that a visit fails by NaN is so on x86-64; on ARM this version may read NaN \
                          as 0, and delete every document whose date has passed (SERVER-68359, \
                          doubtful)";
const GIVE_A_NUMBER: &str = "set a real number with collMod before any upgrade or restore";

/// A value as people write it.
pub fn shown(value: &Bson) -> String {
    match value {
        Bson::Double(double) if double.is_nan() => "NaN".to_owned(),
        value => relaxed(value).to_string(),
    }
}

fn options(standing: &Standing, survey: &Survey, ttl: &Ttl, notes: &mut Vec<Note>) {
    if survey.kind == Kind::Capped && ttl.lifetime().is_some() {
        let text = "the collection is capped, and TTL deletes from it all the same";
        notes.push(note(Rule::MongodbIndexCappedWorks, text));
    }
    if survey.kind == Kind::Capped && standing.server.capped_ttl() == CappedTtl::Inert {
        let text = "the collection is capped: 5.2 to 7.0 refuse the index (error 67), and from 7.1 \
                    on it deletes all past dates at once";
        notes.push(note(Rule::MongodbIndexCappedInert, text));
    }
    if ttl.index.as_ref().is_some_and(|index| index.spec.get_bool("hidden").unwrap_or(false)) {
        let text = "hidden from queries only: TTL uses it all the same";
        notes.push(note(Rule::MongodbIndexHidden, text));
    }
    let is_double = ttl.key().values().any(|value| matches!(value, Bson::Double(_)));
    if is_double && ttl.lifetime().is_some() {
        let text = "the key's number is a double, as old shells wrote it; it makes no difference";
        notes.push(note(Rule::MongodbIndexDirection, text));
    }
}

fn dates(tally: &Tally, notes: &mut Vec<Note>) {
    if tally.inside > 0 {
        let text = format!(
            "in {} the deciding date stands inside an array: the whole document is deleted, not \
             the element",
            documents(tally.inside)
        );
        notes.push(note(Rule::MongodbLifeWhole, text));
    }
    if tally.before_1970 > 0 {
        let text = format!(
            "{} {} dated before 1970 (such as a DateTime.MinValue): expired by any value of \
             `{SECONDS}` up to 2147483647 that has passed since",
            documents(tally.before_1970),
            are(tally.before_1970)
        );
        notes.push(note(Rule::MongodbThresholdFrom, text));
    }
}

/// Documents that have something else than a date where it is expected.
fn strays(survey: &Survey, ttl: &Ttl, tally: &Tally, notes: &mut Vec<Note>) {
    let (strays, path) = (&tally.strays, ttl.path());
    // What the filter keeps out was not asked for a date.
    let outside = tally.never_by_rule.get(&Rule::MongodbFilterOutside).copied().unwrap_or(0);
    let asked = survey.documents - outside;
    let dated = tally.expired + tally.pending;
    if ttl.lifetime().is_some() && asked > 0 && dated == 0 {
        let which = if outside > 0 { " inside the filter" } else { "" };
        let mut text = format!("0 of {asked} documents{which} have a usable date in {path}");
        let mut elsewhere: Vec<_> = strays.elsewhere.iter().collect();
        elsewhere.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (name, count) in elsewhere.into_iter().take(3) {
            let have = if *count == 1 { "has" } else { "have" };
            text.push_str(&format!("; {count} {have} a Date in {name}"));
        }
        notes.push(note(Rule::MongodbDateType, text));
    }
    if strays.date_strings > 0 {
        let text = format!(
            "{} of {} strings at {path} read as ISO dates: likely meant to be Date",
            strays.date_strings, strays.strings
        );
        notes.push(note(Rule::MongodbDateType, text));
    }
    for (count, unit) in [(strays.seconds, "seconds"), (strays.millis, "milliseconds")] {
        if count > 0 {
            let text = format!(
                "{count} {} at {path} {} like {unit} since 1970: numbers never expire, only Dates",
                if count == 1 { "number" } else { "numbers" },
                if count == 1 { "looks" } else { "look" },
            );
            notes.push(note(Rule::MongodbDateType, text));
        }
    }
}

/// A number of documents.
pub fn documents(count: u64) -> String {
    if count == 1 { "1 document".to_owned() } else { format!("{count} documents") }
}

fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// What is to be said of a collection as a whole.
pub fn of_collection(survey: &Survey) -> Vec<Note> {
    let mut notes = Vec::new();
    let is_index = |spec: &&Document| !spec.contains_key(SECONDS) && !whole::is_own(spec);
    for spec in survey.specs.iter().filter(is_index) {
        if let Some(option) = spec.keys().find(|option| is_misspelt(option)) {
            let name = spec.get_str("name").unwrap_or_default();
            let text = format!(
                "`{name}` has the option `{option}`, which means nothing: the option is `{SECONDS}`"
            );
            notes.push(note(Rule::MongodbIndexOption, text));
        }
    }
    if survey.repeated_ids > 0 {
        let id = survey.first_repeated.as_ref().map(shown).unwrap_or_default();
        let text = format!(
            "{} {} an _id that was there before (the first: {id}): each is counted, a server keeps \
             only the first",
            documents(survey.repeated_ids),
            if survey.repeated_ids == 1 { "has" } else { "have" },
        );
        notes.push(note(Rule::MongodbVisibilityIdTaken, text));
    }
    if survey.without_id > 0 {
        let text = format!("{} without _id: a server gives one", documents(survey.without_id));
        notes.push(note(Rule::MongodbVisibilityIdTaken, text));
    }
    for refused in &survey.arrived.refused {
        if !survey.arrived.ttl.iter().any(|ttl| ttl.name() == refused.name) {
            let text = format!("`{}` is refused with error {}", refused.name, refused.code);
            notes.push(note(refused.rule, text));
        }
    }
    notes
}

fn is_misspelt(option: &str) -> bool {
    let bare: String = option.chars().filter(char::is_ascii_alphanumeric).collect();
    matches!(
        bare.to_ascii_lowercase().as_str(),
        "expireafterseconds"
            | "expiresafterseconds"
            | "expireaftersecond"
            | "expireafter"
            | "expiresafter"
            | "expires"
            | "expire"
            | "ttl"
    )
}

/// Why nothing expires in a collection without a TTL index.
pub fn no_ttl(survey: &Survey) -> String {
    let own = if clustered::has_seconds(survey.kind) {
        " and no expireAfterSeconds of its own"
    } else {
        ""
    };
    let mut text = format!("no TTL index{own}: nothing expires ({})", documents(survey.documents));
    let all = |(name, count): (&String, &u64)| (*count == survey.documents).then(|| name.clone());
    let dates: Vec<String> = survey.dates.iter().filter_map(all).take(3).collect();
    if !dates.is_empty() {
        text.push_str(&format!("; each has a Date in {}", dates.join(", ")));
    }
    text
}

/// What is said of a collection whose indexes could not be read.
pub fn not_known(survey: &Survey) -> String {
    format!("its indexes are not known: not ruled on ({})", documents(survey.documents))
}

/// Is an index Cosmos DB's? Its `_ts` is no field of any document: `with_ts` have one.
pub fn is_cosmos(spec: &Document, with_ts: u64) -> bool {
    let key = spec.get_document("key");
    with_ts == 0 && key.is_ok_and(|key| key.len() == 1 && key.contains_key("_ts"))
}

/// Why Cosmos DB is not ruled on.
pub const COSMOS: &str = "a TTL index on `_ts`, which no document has: this is Azure Cosmos DB, not \
                          MongoDB; there `_ts` is the server's time of the last write, and the \
                          rules here do not hold";
