//! Which documents would be deleted after a change that are not deleted now?
//!
//! [`diff`] reads the documents once and holds two rulings on each beside one another: as things
//! stand, and after the change. [`show`] writes it for people, [`json`] as data.

pub mod json;
pub mod show;
mod sides;
mod tally;
mod way;

use bson::{Bson, Document};
use ttlspec_model::mongodb::index::{Creation, SECONDS};
use ttlspec_model::mongodb::nan::Arrival;
use ttlspec_model::mongodb::version::{Listing, Version};
use ttlspec_model::{Millis, Rule};

use crate::chosen::{Choice, Chosen, choose, list};
use crate::dump::{Dump, Skipped};
use crate::fault::Fault;
use crate::metadata::Sort;
use crate::near_miss::{self, Note};
use crate::rule_on::{Standing, Ttl};
use crate::unfollowed;
use crate::whole;

pub use sides::{Answer, Loud, Pair, Sides};
pub use tally::{Catalog, Example, Group, Tally};
pub use way::Step;

/// What is changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The binaries are replaced; the catalog stays.
    Replaced,
    /// Members of the new version join by initial sync from a source of this version.
    Synced(Version),
    /// The dump is restored with mongorestore.
    Restored,
    /// A collMod sets `expireAfterSeconds` of one index: of this name, or of the only TTL index.
    Set(Option<String>, Bson),
    /// The monitor, which was off, is turned on.
    Enabled,
}

impl Change {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Change::Replaced => "replaced",
            Change::Synced(_) => "synced",
            Change::Restored => "restored",
            Change::Set(..) => "set",
            Change::Enabled => "enabled",
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is changed.
    pub change: Change,
    /// The version that deletes now.
    pub from: Version,
    /// The version that deletes after the change; the same where it stays.
    pub to: Version,
    /// When the change is made.
    pub at: Millis,
    /// A deletion later than this is not counted as a finding.
    pub until: Millis,
    /// Only this collection.
    pub collection: Option<String>,
    /// These indexes, whatever the metadata says.
    pub indexes: Option<Vec<Document>>,
    /// How many documents to name for each reason.
    pub examples: usize,
    /// Is it a server alone, which is never elected and repairs nothing?
    pub is_standalone: bool,
    /// Versions between that the data passes through on its way, the first patch of each series.
    pub between: Vec<Version>,
}

/// What is said of a collection.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Database and collection.
    pub namespace: String,
    /// Its indexes with a time to live, before and after.
    pub sides: Sides,
    /// What was counted.
    pub tally: Tally,
    /// What ended the reading early.
    pub fault: Option<Fault>,
    /// What is to be said of it, with the index.
    pub notes: Vec<(String, Note)>,
    /// What the releases between would delete.
    pub way: Vec<Step>,
}

/// What is said of a dump.
#[derive(Clone, Debug)]
pub struct Diff {
    /// What was asked.
    pub question: Question,
    /// The collections with a TTL index, before or after.
    pub differences: Vec<Difference>,
    /// What is not ruled on.
    pub skipped: Vec<Skipped>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

impl Diff {
    /// How many documents are deleted sooner, by the instants that count: at the first pass after the
    /// change, and later.
    pub fn sooner(&self) -> (u64, u64) {
        let sums = [Catalog::Left, Catalog::Repaired].map(|catalog| self.sooner_by(catalog));
        (sums[0].0 + sums[1].0, sums[0].1 + sums[1].1)
    }

    /// The same for one state of the catalog.
    pub fn sooner_by(&self, catalog: Catalog) -> (u64, u64) {
        let sums = self.differences.iter().map(|difference| difference.tally.sooner_by(catalog));
        sums.fold((0, 0), |(due, later), sum| (due + sum.0, later + sum.1))
    }

    /// What the target refuses, or does not survive.
    pub fn loud(&self) -> impl Iterator<Item = (&str, &Loud)> {
        self.differences.iter().flat_map(|difference| {
            difference.sides.loud.iter().map(|loud| (difference.namespace.as_str(), loud))
        })
    }

    /// Is there anything that somebody should know before the change?
    pub fn is_finding(&self) -> bool {
        self.sooner() != (0, 0) || self.loud().next().is_some()
    }

    /// Was everything compared that there is? Else to have found nothing says nothing.
    pub fn is_complete(&self) -> bool {
        self.faults.is_empty() && !self.differences.is_empty()
    }
}

/// Reads everything and compares.
///
/// # Errors
/// A [`Fault`] where what was asked for is not there.
pub fn diff(dump: Dump, question: Question) -> Result<Diff, Fault> {
    let Question { collection, indexes, .. } = &question;
    let Choice { mut chosen, skipped, faults } =
        choose(dump, collection.as_deref(), indexes.as_deref())?;
    if let Change::Set(name, _) = &question.change {
        only_target(&mut chosen, name.as_deref())?;
    }
    let mut diff = Diff { question, differences: Vec::new(), skipped, faults };
    for chosen in chosen {
        diff.one(chosen);
    }
    Ok(diff)
}

/// Keeps the one collection whose index is set.
fn only_target(chosen: &mut Vec<Chosen>, name: Option<&str>) -> Result<(), Fault> {
    let is_target = |spec: &Document| match name {
        Some(name) => spec.get_str("name").is_ok_and(|found| found == name),
        None => spec.contains_key(SECONDS),
    };
    let mut places: Vec<(usize, String)> = Vec::new();
    for (nth, one) in chosen.iter().enumerate() {
        if let Sort::Ruled(_) = one.metadata.sort {
            let specs = one.metadata.indexes.iter().filter(|spec| is_target(spec));
            places.extend(specs.map(|spec| {
                (nth, format!("{} {}", one.namespace, spec.get_str("name").unwrap_or_default()))
            }));
        }
    }
    let names: Vec<&str> = places.iter().map(|(_, place)| place.as_str()).collect();
    match (places.as_slice(), name) {
        ([(nth, _)], _) => {
            let only = chosen.swap_remove(*nth);
            *chosen = vec![only];
            Ok(())
        }
        ([], Some(name)) => {
            let all = chosen.iter().flat_map(|one| &one.metadata.indexes);
            let all: Vec<&str> = all.filter_map(|spec| spec.get_str("name").ok()).collect();
            let what = format!("expected an index `{name}`, found {}", list(&all));
            Err(Fault::whole("--index", what, "give the name of one of those"))
        }
        ([], None) => {
            let what = "expected a TTL index to set, found none";
            let fix = "name the index that is to get one with `--index NAME`";
            Err(Fault::whole("--set", what, fix))
        }
        (_, None) => {
            let what = format!("expected one TTL index to set, found {}", list(&names));
            let fix =
                "name one with `--index NAME`, and its collection with `--collection DB.COLL`";
            Err(Fault::whole("--set", what, fix))
        }
        (_, Some(_)) => {
            let what = format!("expected one index of this name, found {}", list(&names));
            Err(Fault::whole("--index", what, "name its collection with `--collection DB.COLL`"))
        }
    }
}

impl Diff {
    fn one(&mut self, chosen: Chosen) {
        let Chosen { namespace, data, metadata, is_known } = chosen;
        // The choice leaves no view.
        let Sort::Ruled(kind) = metadata.sort else { return };
        if let Some(fault) = impossible(&self.question, &namespace, &metadata.indexes) {
            return self.faults.push(fault);
        }
        let mut indexes = metadata.indexes;
        let faults = self.unfollowed(&data.name(), &namespace, &mut indexes);
        let is_unknown = !faults.is_empty();
        self.faults.extend(faults);
        if let Change::Set(Some(name), _) = &self.question.change
            && !indexes.iter().any(|spec| spec.get_str("name").is_ok_and(|found| found == name))
        {
            let reason = unfollowed::NOT_RULED_ON.to_owned();
            return self.skipped.push(Skipped { namespace, reason });
        }
        let mut sides = Sides::new(&self.question, &namespace, kind, &indexes);
        if sides.is_empty() {
            let reason = match is_known {
                _ if is_unknown => unfollowed::NOT_RULED_ON,
                true => "no TTL index, before or after",
                false => "its indexes are not known: not compared",
            };
            return self.skipped.push(Skipped { namespace, reason: reason.to_owned() });
        }
        let tally =
            match sides.build(&data).and_then(|()| Tally::count(&self.question, &sides, &data)) {
                Ok(tally) => tally,
                Err(fault) => return self.faults.push(fault),
            };
        let fault = tally.fault.clone();
        self.faults.extend(fault.clone());
        if sides.pairs.iter().any(|pair| near_miss::is_cosmos(&pair.before.found, tally.with_ts)) {
            let reason = near_miss::COSMOS.to_owned();
            return self.skipped.push(Skipped { namespace, reason });
        }
        let notes = notes(&self.question, &sides);
        let way = way::steps(&self.question, &namespace, kind, &indexes, &data);
        self.differences.push(Difference { namespace, sides, tally, fault, notes, way });
    }

    /// Takes out the indexes with a filter that is not followed here.
    fn unfollowed(&self, file: &str, namespace: &str, specs: &mut Vec<Document>) -> Vec<Fault> {
        let Question { from, to, change, .. } = &self.question;
        let mut versions = vec![*from, *to];
        if let Change::Synced(source) = change {
            versions.push(*source);
        }
        let is_set = |spec: &Document| match change {
            Change::Set(Some(name), _) => spec.get_str("name").is_ok_and(|found| found == name),
            _ => false,
        };
        let deletes = |spec: &Document| spec.contains_key(SECONDS) || is_set(spec);
        unfollowed::take_out(&versions, (file, namespace), specs, deletes)
    }
}

/// A collection of a kind that the version before the change does not have.
fn impossible(question: &Question, namespace: &str, specs: &[Document]) -> Option<Fault> {
    let own = specs.iter().find(|spec| whole::is_own(spec))?;
    let (arrival, _) = whole::arrival(&sides::before_standing(question), own);
    let Arrival::Creation(Creation::Refused(code)) = arrival.verdict else { return None };
    let name = match question.change {
        Change::Set(..) | Change::Enabled => "--server",
        Change::Replaced | Change::Synced(_) | Change::Restored => "--from",
    };
    let what = format!(
        "expected a version that can have `{namespace}`, found {}, whose create refuses it with \
         error {code}",
        question.from
    );
    Some(Fault::whole(name, what, "give the version that was dumped, or correct the metadata"))
}

/// What is to be said of the indexes of a collection, beside the counts.
fn notes(question: &Question, sides: &Sides) -> Vec<(String, Note)> {
    let mut notes = Vec::new();
    let mut say = |name: &str, rule: Rule, text: String| {
        notes.push((name.to_owned(), Note { rule, text }));
    };
    for pair in sides.pairs.iter().filter(|pair| !pair.before.is_own()) {
        let stored = pair.before.stored_seconds();
        let is = |number: i64| {
            stored.is_some_and(|stored| near_miss::shown(stored) == number.to_string())
        };
        match question.from.listing() {
            Listing::NanAsMax | Listing::InvalidAsMax if is(i64::from(i32::MAX)) => {
                let text = format!(
                    "{} lists 2147483647 for a stored NaN too, which visits skip there: taken as \
                     the number",
                    question.from
                );
                say(pair.name(), Rule::MongodbNanListedAsMax, text);
            }
            Listing::AsInt32 if is(0) => {
                let text = format!(
                    "{} lists 0 for a stored NaN too, and uses it as 0: taken as the number, which a \
                     later version deletes by and a NaN would not",
                    question.from
                );
                say(pair.name(), Rule::MongodbNanListedAsInt32, text);
            }
            _ => {}
        }
    }
    for pair in &sides.pairs {
        let Standing { server, via, .. } = sides.after;
        let found = &pair.after.found;
        let unseen = whole::unseen_at_start(found, server, via).filter(|_| whole::is_own(found));
        if let Some(text) = unseen {
            say(pair.name(), Rule::MongodbBucketLooksAgain, text);
        }
        let overflows = |ttl: &Ttl| ttl.usable.because.contains(&Rule::MongodbNanOverflows);
        if overflows(&pair.before) || overflows(&pair.after) {
            say(pair.name(), Rule::MongodbNanOverflows, near_miss::ON_ARM.to_owned());
        }
        if pair.because.contains(&Rule::MongodbIndexCappedWorks) {
            let text = "only once featureCompatibilityVersion 7.1 or a later one is set there, which \
                        new binaries alone do not; until then it deletes nothing";
            say(pair.name(), Rule::MongodbIndexCappedWorks, text.to_owned());
        }
    }
    if question.change == Change::Restored
        && let Some(Loud { index: Some(index), .. }) = sides.loud.first()
    {
        for pair in sides.pairs.iter().filter(|pair| pair.name() != index) {
            let text = format!(
                "compared as if it were made, but mongorestore ends at `{index}` and makes no index \
                 of the collection: correct that one in the metadata first"
            );
            say(pair.name(), Rule::MongodbNanRestored, text);
        }
    }
    notes
}
