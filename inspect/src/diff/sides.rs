//! How do the indexes of a collection stand before a change, and how after it?

use std::rc::Rc;

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::change;
use ttlspec_model::mongodb::index::{Creation, Index, Kind, SECONDS};
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::mongodb::nan::Arrival;
use ttlspec_model::mongodb::replication;
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::words::{Reply, Via};
use ttlspec_model::{Rule, Ruling};

use super::{Change, Question};
use crate::dump::Data;
use crate::fault::Fault;
use crate::near_miss::{Note, shown};
use crate::rule_on::{Standing, Ttl, arrive_all, in_short, is_general};
use crate::survey::Build;
use crate::whole::{OWN, Part};

/// One index, before and after.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Before.
    pub before: Ttl,
    /// After.
    pub after: Ttl,
    /// The rules by which it deletes after the change and did not before, the first first.
    pub because: Vec<Rule>,
    /// As the first member of the new version that becomes primary repairs it, with the rules by
    /// which it deletes then and did not before.
    pub elected: Option<(Ttl, Vec<Rule>)>,
    /// As a member of the version before the change repairs it, whenever it becomes primary.
    pub elected_before: Option<Ttl>,
}

/// Something that must be known before the change, whatever it deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loud {
    /// The index, if it is about one.
    pub index: Option<String>,
    /// The error code, or the assertion.
    pub code: Option<i32>,
    /// The rule.
    pub rule: Rule,
    /// In words.
    pub text: String,
}

/// All indexes of a collection that have a time to live before or after.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Where it stands before.
    pub before: Standing,
    /// Where it stands after.
    pub after: Standing,
    /// Do passes run before?
    pub is_running: bool,
    /// What the collection is.
    pub kind: Kind,
    /// The indexes.
    pub pairs: Vec<Pair>,
    /// What the target refuses, or does not survive.
    pub loud: Vec<Loud>,
    /// What the collMod answers.
    pub answer: Option<Answer>,
}

/// What a collMod answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The index.
    pub index: String,
    /// In words, with the rule.
    pub note: Note,
    /// The error code, if it is refused, so that nothing changes.
    pub code: Option<i32>,
}

/// Where the data stands before the change: in the catalog of the version that deletes now.
pub(super) fn before_standing(question: &Question) -> Standing {
    Standing { server: question.from, from: question.from, via: Via::Upgraded, at: question.at }
}

/// Where it stands after the change.
fn after_standing(question: &Question) -> Standing {
    let via = match question.change {
        Change::Replaced if question.to < question.from => Via::Downgraded,
        Change::Synced(_) => Via::Synced,
        Change::Restored => Via::Restored,
        Change::Replaced | Change::Set(..) | Change::Enabled => Via::Upgraded,
    };
    let from = match question.change {
        Change::Synced(source) => source,
        _ => question.from,
    };
    Standing { server: question.to, from, via, at: question.at }
}

impl Sides {
    /// The indexes `specs`, as the change finds and leaves them.
    pub fn new(question: &Question, namespace: &str, kind: Kind, specs: &[Document]) -> Sides {
        let (before, after) = (before_standing(question), after_standing(question));
        let stood = arrive_all(&before, kind, specs);
        let mut sides = Sides {
            before,
            after,
            is_running: question.change != Change::Enabled,
            kind,
            pairs: Vec::new(),
            loud: Vec::new(),
            answer: None,
        };
        let stands = match &question.change {
            Change::Set(name, seconds) => {
                let name = name.clone().or_else(|| {
                    let ttl = specs.iter().find(|spec| spec.contains_key(SECONDS));
                    ttl.and_then(|spec| spec.get_str("name").ok()).map(str::to_owned)
                });
                sides.set(&stood.ttl, &name.unwrap_or_default(), seconds)
            }
            Change::Enabled => stood.ttl.clone(),
            Change::Replaced | Change::Synced(_) | Change::Restored => {
                arrive_all(&after, kind, specs).ttl
            }
        };
        for (before, after) in stood.ttl.into_iter().zip(stands) {
            sides.hear(namespace, &after);
            let has_ttl =
                |ttl: &Ttl| ttl.found.contains_key(SECONDS) || ttl.stored_seconds().is_some();
            if has_ttl(&before) || has_ttl(&after) {
                let because = because(kind, &before, &after);
                let elected = sides.elected(question, &before, &after);
                let elected_before = sides.repaired(question, &sides.before, &before);
                let elected_before = elected_before.map(|(ttl, _)| ttl);
                sides.pairs.push(Pair { before, after, because, elected, elected_before });
            }
        }
        sides
    }

    /// An index as a new primary repairs it, where it does, with the rules by which it deletes then.
    fn elected(&self, question: &Question, before: &Ttl, after: &Ttl) -> Option<(Ttl, Vec<Rule>)> {
        let (ttl, rule) = self.repaired(question, &self.after, after)?;
        let mut rules = vec![rule];
        rules.extend(because(self.kind, before, &ttl));
        Some((ttl, Ruling::plain(()).after(&rules).because))
    }

    /// An index as a member of the version where it stands repairs it when it becomes primary.
    fn repaired(&self, question: &Question, standing: &Standing, ttl: &Ttl) -> Option<(Ttl, Rule)> {
        let may_be_elected = matches!(question.change, Change::Replaced | Change::Synced(_));
        let index = ttl.index.as_ref().filter(|_| !ttl.is_own())?;
        let (seconds, rule) = replication::repaired(standing.server, index.seconds()?)?;
        if question.is_standalone || !may_be_elected {
            return None;
        }
        let mut index = index.clone();
        index.spec.0.insert(SECONDS, i64::from(seconds));
        let arrival = Ruling::plain(Arrival::Creation(Creation::Made(index.clone())));
        let arrival = arrival.after(&ttl.arrival.because).after(&[rule]);
        let found = ttl.found.clone();
        let repaired = Ttl::standing(standing.server, self.kind, found, arrival, Some(index));
        Some((repaired, rule))
    }

    /// Is there nothing to compare, and nothing to say?
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.loud.is_empty() && self.answer.is_none()
    }

    /// The indexes after a collMod of one of them.
    fn set(&mut self, stood: &[Ttl], name: &str, seconds: &Bson) -> Vec<Ttl> {
        let whole = stood.iter().find_map(|ttl| ttl.part.as_ref());
        let mut collection = match whole {
            Some(part) => Collection::clone(&part.collection),
            None => Collection::new(self.kind),
        };
        if whole.is_none() {
            collection.indexes = stood.iter().filter_map(|ttl| ttl.index.clone()).collect();
        }
        let command = match name == OWN && whole.is_some() {
            true => doc! { SECONDS: seconds.clone() },
            false => doc! { "index": { "name": name, SECONDS: seconds.clone() } },
        };
        let server = self.after.server;
        let reply = change::coll_mod(server, Some(&mut collection), &command, self.after.at);
        let rule = reply.because.iter().rev().find(|rule| !is_of_every_collmod(**rule));
        let rule = rule.or(reply.because.last()).copied().unwrap_or(Rule::MongodbChangeRequest);
        let answer = |text: String, code: Option<i32>| Answer {
            index: name.to_owned(),
            note: Note { rule, text },
            code,
        };
        let asked = format!("collMod of `{name}` to {}", shown(seconds));
        match reply.verdict {
            Reply::Error(code) => {
                let text = format!("{asked} is refused with error {code}: nothing changes");
                self.answer = Some(answer(text, Some(code)));
            }
            Reply::Fatal(code) => self.loud.push(Loud {
                index: Some(name.to_owned()),
                code: Some(code),
                rule,
                text: format!("{asked} ENDS THE SERVER with assertion {code}; nothing is stored"),
            }),
            // The seconds of a collection are set without a word on the old ones.
            Reply::Modified { .. } if name == OWN && whole.is_some() => {
                self.answer = Some(answer(format!("{asked} is accepted"), None));
            }
            Reply::Modified { old, new } => {
                let of =
                    |seconds: Option<i64>| seconds.map_or("none".to_owned(), |s| s.to_string());
                let text =
                    format!("{asked} is accepted, and answers old {}, new {}", of(old), of(new));
                self.answer = Some(answer(text, None));
            }
            _ => {}
        }
        let is_done = matches!(reply.verdict, Reply::Modified { .. });
        if whole.is_some() {
            let collection = Rc::new(collection);
            let changed = |ttl: &Ttl| match &ttl.part {
                Some(part) if is_done && ttl.name() == name => {
                    let arrival = Ruling { because: reply.because.clone(), ..ttl.arrival.clone() };
                    let part = Part { collection: Rc::clone(&collection), ..part.clone() };
                    Ttl::of_part(server, ttl.found.clone(), arrival, Some(part))
                }
                _ => ttl.clone(),
            };
            return stood.iter().map(changed).collect();
        }
        let mut indexes = collection.indexes.into_iter();
        stood
            .iter()
            .map(|ttl| {
                let index = ttl.index.as_ref().and_then(|_| indexes.next());
                let changed = index.filter(|index| is_done && index.name() == name);
                changed
                    .map_or_else(|| ttl.clone(), |index| self.after_set(ttl, index, &reply.because))
            })
            .collect()
    }

    fn after_set(&self, ttl: &Ttl, index: Index, because: &[Rule]) -> Ttl {
        let arrival = Ruling::plain(Arrival::Creation(Creation::Made(index.clone())));
        let arrival = arrival.after(because);
        Ttl::standing(self.after.server, self.kind, ttl.found.clone(), arrival, Some(index))
    }

    /// What is loud about an index after the change.
    fn hear(&mut self, namespace: &str, after: &Ttl) {
        let why = in_short(&self.after, after);
        let text = match &after.arrival.verdict {
            Arrival::Fatal(_) => format!(
                "{why}: while the value stands, no member of this version {}; set a number with \
                 collMod on the old one first",
                if self.after.via == Via::Synced { "can join" } else { "starts" }
            ),
            Arrival::Creation(Creation::Refused(_)) if self.after.via == Via::Restored => {
                format!("{why}: mongorestore ends there and makes no index of `{namespace}`")
            }
            _ => return,
        };
        let code = match &after.arrival.verdict {
            Arrival::Fatal(code) | Arrival::Creation(Creation::Refused(code)) => Some(*code),
            Arrival::Creation(_) => None,
        };
        let rule = after.deciding(&Ruling::plain(Verdict::Never));
        self.loud.push(Loud { index: Some(after.name().to_owned()), code, rule, text });
    }

    /// Finds out which of the restored indexes cannot be built over the documents.
    ///
    /// # Errors
    /// A [`Fault`] where the documents cannot be opened.
    pub fn build(&mut self, data: &Data) -> Result<(), Fault> {
        let of = |pair: &Pair| Build::new(&self.after, &pair.after);
        let mut builds: Vec<Build> = self.pairs.iter().map(of).collect();
        if !builds.iter().any(Build::may_fail) {
            return Ok(());
        }
        let mut documents = data.open()?;
        // What cannot be read is said when the documents are counted.
        while let Ok(Some(document)) = documents.next_document() {
            builds.iter_mut().for_each(|build| build.see(&self.after, &document));
        }
        for (pair, build) in self.pairs.iter_mut().zip(builds) {
            let Some((rule, why)) = build.failed else { continue };
            let text = format!("it cannot be built there: {why}; mongorestore ends with it");
            let index = Some(pair.name().to_owned());
            self.loud.push(Loud { index, code: None, rule, text });
            pair.after.obstacle = Some((rule, why));
        }
        Ok(())
    }
}

impl Pair {
    /// Its name.
    pub fn name(&self) -> &str {
        self.before.name()
    }
}

/// A collMod cites these whatever it does.
fn is_of_every_collmod(rule: Rule) -> bool {
    use Rule::*;
    matches!(
        rule,
        MongodbChangeTarget
            | MongodbChangeAnswer
            | MongodbChangeAnswerIfDifferent
            | MongodbChangeInt32
            | MongodbChangeAnyRange
    )
}

/// The rules by which an index deletes after the change and did not before. Where none is of the
/// index itself, the documents say it.
fn because(kind: Kind, before: &Ttl, after: &Ttl) -> Vec<Rule> {
    use Rule::*;
    let own = [
        MongodbNanStoredAsMax,
        MongodbNanCollMod,
        MongodbChangeSeconds,
        MongodbChangeConvert,
        MongodbChangeClamp,
        MongodbClusteredModify,
    ];
    let is_stored_otherwise =
        after.stored_seconds().is_some_and(|stored| shown(stored) != shown(&before.seconds()));
    let of_arrival = after.arrival.because.iter().copied().filter(|rule| {
        own.contains(rule)
            || is_stored_otherwise && matches!(rule, MongodbNanSynced | MongodbIndexStoredAsInt32)
    });
    let was_inert = before.usable.because.contains(&MongodbIndexCappedInert);
    let works = (kind == Kind::Capped && was_inert && after.lifetime().is_some())
        .then_some(MongodbIndexCappedWorks);
    let of_use = after.usable.because.iter().copied();
    let of_use = of_use.filter(|rule| !before.usable.because.contains(rule) && !is_general(*rule));
    let because: Vec<Rule> = of_arrival.chain(works).chain(of_use).collect();
    // So that each stands once.
    Ruling::plain(()).after(&because).because
}
