//! All that is said of a dump: counts, notes, and the ruling on each document that is asked for.

use std::io;

use bson::oid::ObjectId;
use bson::{Bson, Document};
use ttlspec_model::mongodb::compare::equal;
use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::life::{self, Verdict};
use ttlspec_model::mongodb::words::Via;
use ttlspec_model::{Rule, Ruling};

use crate::chosen::{Choice, Chosen, choose};
use crate::counterfactual::{would_expire_if, would_stay_if};
use crate::dump::{Data, Dump, Skipped};
use crate::fault::Fault;
use crate::metadata::Sort;
use crate::near_miss::{self, Note};
use crate::propose;
use crate::rule_on::{Decided, Standing, Ttl, arrive, decided};
use crate::survey::{Survey, survey};
use crate::text;
use crate::unfollowed;
use crate::whole::Part;

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
    /// Say what can stand in the way, though no document that is ruled on has expired.
    pub checks: bool,
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
    let Question { collection, indexes, .. } = &question;
    let Choice { chosen, skipped, faults } =
        choose(dump, collection.as_deref(), indexes.as_deref())?;
    let mut report = Report { question, surveys: Vec::new(), skipped, faults, notes: Vec::new() };
    for chosen in chosen {
        report.one(chosen);
    }
    Ok(report)
}

impl Report {
    fn one(&mut self, chosen: Chosen) {
        let Chosen { namespace, data, metadata, is_known } = chosen;
        let mut documents = match data.open() {
            Ok(documents) => documents,
            Err(fault) => return self.faults.push(fault),
        };
        let Question { standing, next, .. } = self.question;
        // The choice leaves no view.
        let Sort::Ruled(kind) = metadata.sort else { return };
        let mut indexes = metadata.indexes;
        let versions = match standing.via {
            Via::Created | Via::Restored => vec![standing.server],
            Via::Upgraded | Via::Downgraded | Via::Synced => vec![standing.server, standing.from],
        };
        let file = data.name();
        let place = (file.as_str(), namespace.as_str());
        let deletes = |spec: &Document| spec.contains_key(SECONDS);
        let unknown = unfollowed::take_out(&versions, place, &mut indexes, deletes);
        let is_unknown = !unknown.is_empty();
        self.faults.extend(unknown);
        let arrived = arrive(&standing, kind, &indexes);
        let what = (namespace, kind, indexes);
        let survey = survey(&standing, what, arrived, &mut documents, next);
        self.faults.extend(survey.fault.clone());
        let notes = near_miss::of_collection(&survey);
        self.notes.extend(notes.into_iter().map(|note| (survey.namespace.clone(), note)));
        if survey.arrived.ttl.iter().any(|ttl| near_miss::is_cosmos(&ttl.found, survey.with_ts)) {
            return self.skip(survey.namespace, near_miss::COSMOS.to_owned());
        }
        if survey.arrived.ttl.is_empty() {
            let reason = match is_known {
                _ if is_unknown => unfollowed::NOT_RULED_ON.to_owned(),
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
                let path = if ttl.is_of_buckets() { dated.path.clone() } else { ttl.path() };
                by.extend(life::remarks(dated, &path, several));
                by.extend(ttl.part.as_ref().and_then(Part::remark));
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

/// What a dump cannot show.
pub const NOT_IN_A_DUMP: &str = "deletable is not deleted: a dump does not show whether \
     ttlMonitorEnabled is on, whether this member is the primary, how long the monitor sleeps, or \
     how far it is behind; `--checks` lists all that can still stand in the way, and what to ask \
     the server";
/// The rule that it is about.
pub const NOT_IN_A_DUMP_RULE: Rule = Rule::MongodbPassUndisturbed;
