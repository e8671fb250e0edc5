//! How many documents are deleted sooner after the change, by which index and rule, and from when on?

use std::collections::BTreeMap;

use bson::{Bson, Document};
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::{Rule, Ruling};

use super::{Pair, Question, Sides};
use crate::dump::Data;
use crate::fault::Fault;
use crate::rule_on::{Decided, Ttl, decided};

/// The reason of a difference: which index deletes, in which state of the catalog, what kept the
/// documents before, and by which rules they are deleted then.
pub type Reason = (usize, Catalog, Rule, Vec<Rule>);

/// Which catalog deletes after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Catalog {
    /// As the change leaves it.
    Left,
    /// As the first member of the new version that becomes primary has repaired it.
    Repaired,
}

impl Catalog {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Catalog::Left => "as-left",
            Catalog::Repaired => "repaired-by-primary",
        }
    }
}

/// What was counted in a collection.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of documents.
    pub documents: u64,
    /// Those that are deleted sooner, by reason.
    pub groups: BTreeMap<Reason, Group>,
    /// Those that are deleted at the same instant, or not at all, as before.
    pub same: u64,
    /// Those that are deleted later than before.
    pub later: u64,
    /// Those that are deleted no longer, by index and the rule that keeps them.
    pub spared: BTreeMap<(usize, Rule), u64>,
    /// How many have a field `_ts`.
    pub with_ts: u64,
    /// What ended the reading early.
    pub fault: Option<Fault>,
}

/// The documents that are deleted sooner for one reason.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// At the first pass after the change.
    pub due: u64,
    /// Later, within the time that counts.
    pub later: u64,
    /// Beyond the time that counts.
    pub beyond: u64,
    /// The first instant at which one of those that are not due goes.
    pub next_ms: Option<i64>,
    /// A few of them: those of the first pass first, then those that go later, then those beyond.
    pub examples: Vec<Example>,
}

/// A document that is deleted sooner.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its `_id`; null where it has none.
    pub id: Bson,
    /// From when on it is deletable before the change, if ever.
    pub before_ms: Option<i64>,
    /// From when on it is deletable after it.
    pub after_ms: i64,
    /// The value that decides, and its path.
    pub decided: Decided,
}

/// The first index to delete a document, and from when on.
struct First<'a> {
    nth: usize,
    at_ms: i64,
    ruling: &'a Ruling<Verdict>,
}

impl Tally {
    /// Reads all documents and compares.
    ///
    /// # Errors
    /// A [`Fault`] where they cannot be opened.
    pub fn count(question: &Question, sides: &Sides, data: &Data) -> Result<Tally, Fault> {
        let mut tally = Tally::default();
        let mut documents = data.open()?;
        loop {
            match documents.next_document() {
                Ok(Some(document)) => tally.see(question, sides, &document),
                Ok(None) => break,
                Err(fault) => {
                    tally.fault = Some(fault);
                    break;
                }
            }
        }
        Ok(tally)
    }

    fn see(&mut self, question: &Question, sides: &Sides, document: &Document) {
        self.documents += 1;
        self.with_ts += u64::from(document.contains_key("_ts"));
        let look = |of: fn(&Pair) -> &Ttl, standing| -> Vec<Ruling<Verdict>> {
            sides.pairs.iter().map(|pair| of(pair).verdict(standing, document)).collect()
        };
        let before = look(|pair| &pair.before, &sides.before);
        let after = look(|pair| &pair.after, &sides.after);
        let is_repaired_before = sides.pairs.iter().any(|pair| pair.elected_before.is_some());
        let before_repair = (is_repaired_before && sides.is_running).then(|| {
            look(|pair| pair.elected_before.as_ref().unwrap_or(&pair.before), &sides.before)
        });
        let was = if sides.is_running { first(&before) } else { None };
        let was = was.into_iter().chain(before_repair.as_deref().and_then(first));
        let was = was.min_by_key(|first| first.at_ms.max(question.at.0));
        let after_repair = sides.pairs.iter().any(|pair| pair.elected.is_some()).then(|| {
            look(|pair| pair.elected.as_ref().map_or(&pair.after, |(ttl, _)| ttl), &sides.after)
        });
        let left = first(&after).map(|first| (Catalog::Left, first));
        let repaired = after_repair.as_deref().and_then(first);
        let repaired = repaired.map(|first| (Catalog::Repaired, first));
        // What the catalog deletes as it is left does not wait for a repair.
        let is = left.into_iter().chain(repaired);
        let is = is.min_by_key(|(_, first)| first.at_ms.max(question.at.0));
        // What is due already goes at the next pass, since when does not matter.
        let pass = |first: &First<'_>| first.at_ms.max(question.at.0);
        match (was.as_ref().map(pass), is.as_ref().map(|(_, first)| pass(first))) {
            (was, is) if was == is => self.same += 1,
            (Some(was), Some(is)) if was < is => self.later += 1,
            (Some(_), None) => {
                let nth = was.map_or(0, |was| was.nth);
                let pair = &sides.pairs[nth];
                // What a new primary has repaired stands there from then on.
                let kept_by = match (&pair.elected, &after_repair) {
                    (Some((ttl, _)), Some(repaired)) => ttl.deciding(&repaired[nth]),
                    _ => pair.after.deciding(&after[nth]),
                };
                *self.spared.entry((nth, kept_by)).or_default() += 1;
            }
            (_, Some(_)) => {
                let Some((catalog, is)) = is else { return };
                let pair = &sides.pairs[is.nth];
                let kept_by = match &was {
                    Some(_) => Rule::MongodbThresholdBefore,
                    None if !sides.is_running => Rule::MongodbMonitorDisabled,
                    None => pair.before.deciding(&before[is.nth]),
                };
                let (ttl, because) = match (catalog, &pair.elected) {
                    (Catalog::Repaired, Some((ttl, because))) => (ttl, because.clone()),
                    _ => (&pair.after, by(pair, &before[is.nth], is.ruling)),
                };
                let group = self.groups.entry((is.nth, catalog, kept_by, because)).or_default();
                group.add(question, (sides, ttl), document, was.map(|was| was.at_ms), &is);
            }
            (None, None) => self.same += 1,
        }
    }

    /// How many are deleted sooner by this state of the catalog: at the first pass, and later within
    /// the time that counts.
    pub fn sooner_by(&self, catalog: Catalog) -> (u64, u64) {
        let of = self.groups.iter().filter(|((_, by, ..), _)| *by == catalog);
        of.fold((0, 0), |(due, later), (_, group)| (due + group.due, later + group.later))
    }

    /// How many are deleted sooner, but beyond the time that counts.
    pub fn beyond(&self) -> u64 {
        self.groups.values().map(|group| group.beyond).sum()
    }

    /// How many are deleted no longer.
    pub fn spared(&self) -> u64 {
        self.spared.values().sum()
    }
}

/// Of the rulings of all indexes the earliest instant.
fn first(rulings: &[Ruling<Verdict>]) -> Option<First<'_>> {
    let instants = rulings.iter().enumerate().filter_map(|(nth, ruling)| match ruling.verdict {
        Verdict::Never => None,
        Verdict::Pending(at, _) | Verdict::Expired(at, _) => {
            Some(First { nth, at_ms: at.0, ruling })
        }
    });
    instants.min_by_key(|first| first.at_ms)
}

/// By which rules an index deletes a document sooner: those of the index, or else those of the
/// document that are new, or else the threshold.
fn by(pair: &Pair, before: &Ruling<Verdict>, after: &Ruling<Verdict>) -> Vec<Rule> {
    if pair.before.is_own() || pair.after.is_of_buckets() {
        let is_own = |rule: &Rule| *rule != Rule::MongodbClusteredVisit;
        let new = after.because.iter().filter(|rule| !before.because.contains(rule));
        let all = pair.because.iter().chain(new).copied().filter(is_own).collect::<Vec<_>>();
        let all = Ruling::plain(()).after(&all).because;
        return if all.is_empty() { vec![Rule::MongodbThresholdFrom] } else { all };
    }
    if !pair.because.is_empty() {
        return pair.because.clone();
    }
    let is_filter = |rule: &Rule| rule.chapter().ends_with("4-filter");
    let was_outside = before.because.contains(&Rule::MongodbFilterOutside);
    let new = after.because.iter().copied();
    let new: Vec<Rule> = new
        .filter(|rule| was_outside && is_filter(rule) && !before.because.contains(rule))
        .collect();
    if new.is_empty() { vec![Rule::MongodbThresholdFrom] } else { new }
}

impl Group {
    fn add(
        &mut self,
        question: &Question,
        (sides, ttl): (&Sides, &Ttl),
        document: &Document,
        before_ms: Option<i64>,
        is: &First<'_>,
    ) {
        let weight =
            |at_ms: i64| u8::from(at_ms > question.at.0) + u8::from(at_ms > question.until.0);
        match weight(is.at_ms) {
            0 => self.due += 1,
            1 => self.later += 1,
            _ => self.beyond += 1,
        }
        if is.at_ms > question.at.0 {
            let next = self.next_ms.map_or(is.at_ms, |next| next.min(is.at_ms));
            self.next_ms = Some(next);
        }
        let place = self.examples.partition_point(|one| weight(one.after_ms) <= weight(is.at_ms));
        if place < question.examples {
            let example = Example {
                id: document.get("_id").cloned().unwrap_or(Bson::Null),
                before_ms,
                after_ms: is.at_ms,
                decided: decided(&sides.after, sides.kind, ttl, document, is.ruling),
            };
            self.examples.insert(place, example);
            self.examples.truncate(question.examples);
        }
    }

    /// How many there are.
    pub fn documents(&self) -> u64 {
        self.due + self.later + self.beyond
    }
}
