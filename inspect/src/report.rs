//! All that is said of a dump: counts, notes, and the ruling on each document that is asked for.

use std::io;

use bson::oid::ObjectId;
use bson::{Bson, Document};
use ttlspec_model::mongodb::compare::equal;
use ttlspec_model::mongodb::index::Kind;
use ttlspec_model::mongodb::life::{self, Verdict};
use ttlspec_model::{Rule, Ruling};

use crate::counterfactual::{would_expire_if, would_stay_if};
use crate::dump::{Data, Dump, Skipped, clustered, time_series};
use crate::fault::Fault;
use crate::metadata::{Metadata, Sort};
use crate::near_miss::{self, Note};
use crate::propose;
use crate::rule_on::{Decided, Standing, Ttl, arrive, decided};
use crate::survey::{Survey, survey};
use crate::text;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where the data stands, how it came there, and when it is looked at.
    pub standing: Standing,
    /// Only this collection.
    pub collection: Option<String>,
    /// These indexes, whatever the metadata says.
    pub indexes: Option<Vec<Document>>,
    /// How many of the next instants to keep.
    pub next: usize,
    /// The documents to rule on one by one.
    pub pick: Pick,
}

/// Which documents are ruled on one by one.
#[derive(Clone, Debug)]
pub enum Pick {
    /// Those with one of these `_id`s; none for none.
    Ids(Vec<Id>),
    /// All.
    Each,
}

/// An `_id`, as it was given.
#[derive(Clone, Debug)]
pub struct Id {
    given: String,
    meant: Vec<Bson>,
}

impl Id {
    /// Reads Extended JSON, a shell's `ObjectId(…)`, or a plain string.
    pub fn read(given: &str) -> Id {
        let mut meant = vec![Bson::String(given.to_owned())];
        meant.extend(text::value(given.as_bytes()).ok());
        meant.extend(ObjectId::parse_str(given).ok().map(Bson::ObjectId));
        Id { given: given.to_owned(), meant }
    }

    /// As it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    fn is(&self, id: &Bson) -> bool {
        self.meant.iter().any(|meant| equal(meant, id))
    }
}

/// What is said of a dump.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub question: Question,
    /// The collections that have a TTL index.
    pub surveys: Vec<(Data, Survey)>,
    /// What is not ruled on.
    pub skipped: Vec<Skipped>,
    /// What could not be read.
    pub faults: Vec<Fault>,
    /// What is to be said of a collection as a whole, with its name.
    pub notes: Vec<(String, Note)>,
}

/// The ruling of one index on one document.
#[derive(Clone, Debug)]
pub struct RulingOn<'a> {
    /// Database and collection.
    pub namespace: &'a str,
    /// The index.
    pub ttl: &'a Ttl,
    /// The document's `_id`; null where it has none.
    pub id: Bson,
    /// The verdict.
    pub verdict: Verdict,
    /// The rules it rests on, the first first.
    pub by: Vec<Rule>,
    /// What decided, and what blocks.
    pub decided: Decided,
    /// What would make it expire.
    pub would_expire_if: String,
    /// What would keep it, if it is expired.
    pub would_stay_if: Option<String>,
    /// The index by which the document goes first, and from which instant on.
    pub earliest: Option<(&'a str, i64)>,
}

/// Reads everything once and counts.
///
/// # Errors
/// A [`Fault`] where the collection that was asked for is not there.
pub fn report(dump: Dump, question: Question) -> Result<Report, Fault> {
    let mut report = Report {
        question,
        surveys: Vec::new(),
        skipped: dump.skipped,
        faults: dump.faults,
        notes: Vec::new(),
    };
    if report.question.indexes.is_none() {
        report.faults.extend(dump.metadata_faults);
    }
    if let Some(wanted) = &report.question.collection {
        let names: Vec<&str> = dump.collections.iter().map(|c| c.namespace.as_str()).collect();
        let is_skipped = report.skipped.iter().any(|skipped| skipped.namespace == *wanted);
        if dump.is_folder && !names.contains(&wanted.as_str()) && !is_skipped {
            let what =
                format!("expected a collection `{wanted}` in the dump, found {}", list(&names));
            return Err(Fault::whole("--collection", what, "give one of those"));
        }
        report.skipped.retain(|skipped| skipped.namespace == *wanted);
    }
    for found in dump.collections {
        let wanted = report.question.collection.clone();
        let namespace = match wanted {
            Some(wanted) if !dump.is_folder => wanted,
            Some(wanted) if wanted != found.namespace => continue,
            _ => found.namespace,
        };
        if let Some(data) = found.data {
            report.one(namespace, data, found.metadata);
        }
    }
    Ok(report)
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) }
}

impl Report {
    fn one(&mut self, namespace: String, data: Data, metadata: Option<Metadata>) {
        let given = self.question.indexes.clone();
        let is_known = metadata.is_some() || given.is_some();
        let metadata = match (metadata, given) {
            (Some(metadata), None) => metadata,
            (Some(metadata), Some(indexes)) => Metadata { indexes, ..metadata },
            (None, Some(indexes)) => Metadata::plain(indexes),
            (None, None) => {
                let file = data.name();
                let has_reason = self.faults.iter().any(|fault| is_beside(&fault.file, &file));
                if !has_reason {
                    let what = format!("expected the indexes of `{namespace}`, found no metadata");
                    let fix = "put the `.metadata.json` beside the documents, or give the indexes \
                               with `--index SPEC` or `--indexes FILE`";
                    self.faults.push(Fault::whole(&file, what, fix));
                }
                Metadata::plain(Vec::new())
            }
        };
        let kind = match &metadata.sort {
            Sort::Ruled(kind) => *kind,
            Sort::View(_) if self.question.indexes.is_some() => Kind::Plain,
            Sort::TimeSeries(seconds) => {
                return self.skip(namespace, time_series(seconds.as_ref()));
            }
            Sort::Clustered(seconds) => return self.skip(namespace, clustered(seconds.as_ref())),
            Sort::View(on) => {
                let what = format!("expected no documents of a view on `{on}`, found some");
                let fix = "give the metadata that belongs to them";
                let file = data.name();
                return self.faults.push(Fault::whole(&file, what, fix));
            }
        };
        let mut documents = match data.open() {
            Ok(documents) => documents,
            Err(fault) => return self.faults.push(fault),
        };
        let Question { standing, next, .. } = self.question;
        let arrived = arrive(&standing, kind, &metadata.indexes);
        let what = (namespace, kind, metadata.indexes);
        let survey = survey(&standing, what, arrived, &mut documents, next);
        self.faults.extend(survey.fault.clone());
        let notes = near_miss::of_collection(&survey);
        self.notes.extend(notes.into_iter().map(|note| (survey.namespace.clone(), note)));
        if survey.arrived.ttl.iter().any(|ttl| near_miss::is_cosmos(&ttl.found, &survey)) {
            return self.skip(survey.namespace, near_miss::COSMOS.to_owned());
        }
        if survey.arrived.ttl.is_empty() {
            let reason = match is_known {
                true => near_miss::no_ttl(&survey),
                false => near_miss::not_known(&survey),
            };
            return self.skip(survey.namespace, reason);
        }
        self.surveys.push((data, survey));
    }

    fn skip(&mut self, namespace: String, reason: String) {
        self.skipped.push(Skipped { namespace, reason });
    }

    /// Reads again, and hands out the rulings on the documents that are picked. Answers the `_id`s
    /// that were given and not found.
    ///
    /// # Errors
    /// What `each` fails with.
    pub fn rulings(
        &self,
        each: &mut dyn FnMut(&RulingOn<'_>) -> io::Result<()>,
    ) -> io::Result<Vec<String>> {
        let ids = match &self.question.pick {
            Pick::Each => &[][..],
            Pick::Ids(ids) if ids.is_empty() => return Ok(Vec::new()),
            Pick::Ids(ids) => ids.as_slice(),
        };
        let mut found = vec![false; ids.len()];
        for (data, survey) in &self.surveys {
            // What could not be opened or read was said the first time.
            let Ok(mut documents) = data.open() else { continue };
            while let Ok(Some(document)) = documents.next_document() {
                let id = document.get("_id").unwrap_or(&Bson::Null);
                let mut is_picked = matches!(self.question.pick, Pick::Each);
                for (wanted, found) in ids.iter().zip(&mut found) {
                    if wanted.is(id) {
                        *found = true;
                        is_picked = true;
                    }
                }
                if is_picked {
                    self.on(survey, &document, each)?;
                }
            }
        }
        let missing = ids.iter().zip(found).filter(|(_, found)| !found);
        Ok(missing.map(|(id, _)| id.given().to_owned()).collect())
    }

    /// The rulings of all TTL indexes of a collection on one document.
    fn on(
        &self,
        survey: &Survey,
        document: &Document,
        each: &mut dyn FnMut(&RulingOn<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let standing = &self.question.standing;
        let all: Vec<(&Ttl, Ruling<Verdict>)> =
            (survey.arrived.ttl.iter()).map(|ttl| (ttl, ttl.verdict(standing, document))).collect();
        let instants = all.iter().filter_map(|(ttl, ruling)| match ruling.verdict {
            Verdict::Never => None,
            Verdict::Pending(at, _) | Verdict::Expired(at, _) => Some((ttl.name(), at.0)),
        });
        let earliest = instants.min_by_key(|(_, at)| *at);
        let several = all.iter().filter(|(ttl, _)| ttl.lifetime().is_some()).count() > 1;
        for (nth, (ttl, ruling)) in all.iter().enumerate() {
            let mut by = ttl.by(ruling);
            if let Verdict::Pending(_, dated) | Verdict::Expired(_, dated) = &ruling.verdict {
                by.extend(life::remarks(dated, &ttl.path(), several));
            }
            let case = propose::case(standing, survey.kind, &survey.specs, nth, document);
            each(&RulingOn {
                namespace: &survey.namespace,
                ttl,
                id: document.get("_id").cloned().unwrap_or(Bson::Null),
                verdict: ruling.verdict.clone(),
                by,
                decided: decided(standing, survey.kind, ttl, document, ruling),
                would_expire_if: would_expire_if(&case, ttl, &ruling.verdict),
                would_stay_if: would_stay_if(&case, &ruling.verdict),
                earliest,
            })?;
        }
        Ok(())
    }
}

/// Do metadata and documents belong together?
fn is_beside(metadata: &str, data: &str) -> bool {
    let bare = |name: &str| name.strip_suffix(".gz").unwrap_or(name).to_owned();
    let data = bare(data);
    let stem = data.rsplit_once('.').map_or(data.as_str(), |(stem, _)| stem);
    bare(metadata) == format!("{stem}.metadata.json")
}

/// What a dump cannot show, and how to see it.
pub const NOT_IN_A_DUMP: &str = "deletable is not deleted: a dump does not show whether \
     ttlMonitorEnabled is on, whether this member is the primary, how long the monitor sleeps, or \
     how far it is behind; check: db.adminCommand({getParameter: 1, ttlMonitorEnabled: 1, \
     ttlMonitorSleepSecs: 1}), db.hello().isWritablePrimary, db.serverStatus().metrics.ttl";
/// The rule that it is about.
pub const NOT_IN_A_DUMP_RULE: Rule = Rule::MongodbPassUndisturbed;
