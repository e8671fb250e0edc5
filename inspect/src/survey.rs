//! How many documents of a collection are expired, pending, never; and what was seen on the way?

use std::collections::BTreeMap;

use bson::{Bson, Document};
use ttlspec_model::mongodb::date;
use ttlspec_model::mongodb::filter;
use ttlspec_model::mongodb::index::{Index, Kind};
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::mongodb::words::Via;
use ttlspec_model::{Rule, Ruling};

use crate::dump::Documents;
use crate::fault::Fault;
use crate::instant;
use crate::json::relaxed;
use crate::rule_on::{Arrived, Stage, Standing, Ttl};
use crate::seen::Seen;
use crate::whole;

/// What one index makes of all documents.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Deletable now.
    pub expired: u64,
    /// Deletable later.
    pub pending: u64,
    /// Not deletable as things are.
    pub never: u64,
    /// The last, by the rule that decides.
    pub never_by_rule: BTreeMap<Rule, u64>,
    /// The next instants at which documents become deletable, with their number.
    pub next: BTreeMap<i64, u64>,
    /// Documents whose deciding date stands inside an array or otherwise not at the path itself.
    pub inside: u64,
    /// Documents whose deciding date lies before 1970.
    pub before_1970: u64,
    /// Rules about dates that do not fit, and how many documents they were cited for.
    pub remarkable: BTreeMap<Rule, u64>,
    /// What stands at the path of those that have no date there.
    pub strays: Strays,
}

/// What stands at a path where no date is.
#[derive(Clone, Debug, Default)]
pub struct Strays {
    /// Strings.
    pub strings: u64,
    /// Strings that read as dates.
    pub date_strings: u64,
    /// Numbers in the range of seconds since 1970.
    pub seconds: u64,
    /// Numbers in the range of milliseconds since 1970.
    pub millis: u64,
    /// Top-level fields that hold a Date instead.
    pub elsewhere: BTreeMap<String, u64>,
}

/// What was seen of a collection.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Database and collection.
    pub namespace: String,
    /// What it is.
    pub kind: Kind,
    /// Its indexes as they were found.
    pub specs: Vec<Document>,
    /// Its indexes as they stand.
    pub arrived: Arrived,
    /// What each TTL index makes of the documents, in the same order.
    pub tallies: Vec<Tally>,
    /// The number of documents.
    pub documents: u64,
    /// How many have an `_id` that was there before.
    pub repeated_ids: u64,
    /// The first of those.
    pub first_repeated: Option<Bson>,
    /// How many have no `_id`.
    pub without_id: u64,
    /// The first few `_id`s.
    pub first_ids: Vec<Bson>,
    /// How many have a field `_ts`.
    pub with_ts: u64,
    /// Top-level fields that hold a Date.
    pub dates: BTreeMap<String, u64>,
    /// What ended the reading early.
    pub fault: Option<Fault>,
}

/// No more top-level names than this are counted.
const MOST_NAMES: usize = 200;

/// Reads all documents and counts.
pub fn survey(
    standing: &Standing,
    (namespace, kind, specs): (String, Kind, Vec<Document>),
    arrived: Arrived,
    documents: &mut Documents,
    next: usize,
) -> Survey {
    let mut survey = Survey {
        namespace,
        kind,
        specs,
        tallies: vec![Tally::default(); arrived.ttl.len()],
        arrived,
        documents: 0,
        repeated_ids: 0,
        first_repeated: None,
        without_id: 0,
        first_ids: Vec::new(),
        with_ts: 0,
        dates: BTreeMap::new(),
        fault: None,
    };
    let mut ids = Seen::default();
    let mut builds: Vec<Build> =
        survey.arrived.ttl.iter().map(|ttl| Build::new(standing, ttl)).collect();
    loop {
        match documents.next_document() {
            Ok(Some(document)) => {
                survey.see(&document, &mut ids);
                for (at, ttl) in survey.arrived.ttl.iter().enumerate() {
                    let ruling = ttl.verdict(standing, &document);
                    survey.tallies[at].count(ttl, &document, &ruling, next);
                    builds[at].see(standing, &document);
                }
            }
            Ok(None) => break,
            Err(fault) => {
                survey.fault = Some(fault);
                break;
            }
        }
    }
    for (at, build) in builds.into_iter().enumerate() {
        if let Some((rule, why)) = build.failed {
            survey.arrived.ttl[at].obstacle = Some((rule, why));
            let never = survey.documents;
            let never_by_rule = BTreeMap::from([(rule, never)]);
            survey.tallies[at] = Tally { never, never_by_rule, ..Tally::default() };
        }
    }
    survey
}

impl Survey {
    fn see(&mut self, document: &Document, ids: &mut Seen) {
        self.documents += 1;
        match document.get("_id") {
            None => self.without_id += 1,
            Some(id) => {
                if self.first_ids.len() < 3 {
                    self.first_ids.push(id.clone());
                }
                if !ids.is_new(id) {
                    self.repeated_ids += 1;
                    self.first_repeated.get_or_insert_with(|| id.clone());
                }
            }
        }
        self.with_ts += u64::from(document.contains_key("_ts"));
        if self.tallies.is_empty() {
            count_dates(document, &mut self.dates);
        }
    }
}

fn count_dates(document: &Document, dates: &mut BTreeMap<String, u64>) {
    for (name, value) in document {
        if matches!(value, Bson::DateTime(_)) {
            if let Some(count) = dates.get_mut(name) {
                *count += 1;
            } else if dates.len() < MOST_NAMES {
                dates.insert(name.clone(), 1);
            }
        }
    }
}

impl Tally {
    fn count(&mut self, ttl: &Ttl, document: &Document, ruling: &Ruling<Verdict>, next: usize) {
        for rule in whole::REMARKABLE.iter().filter(|rule| ruling.because.contains(rule)) {
            *self.remarkable.entry(*rule).or_default() += 1;
        }
        match &ruling.verdict {
            Verdict::Never => {
                self.never += 1;
                *self.never_by_rule.entry(ttl.deciding(ruling)).or_default() += 1;
                if ttl.stage(ruling) == Stage::Date {
                    self.strays.see(ttl, document);
                }
            }
            Verdict::Pending(at, dated) => {
                self.pending += 1;
                self.inside += u64::from(is_inside(&dated.path, ttl));
                *self.next.entry(at.0).or_default() += 1;
                if self.next.len() > next.max(1) {
                    self.next.pop_last();
                }
            }
            Verdict::Expired(_, dated) => {
                self.expired += 1;
                self.inside += u64::from(is_inside(&dated.path, ttl));
                self.before_1970 += u64::from(dated.date.0 < 0);
            }
        }
    }
}

fn is_inside(path: &str, ttl: &Ttl) -> bool {
    if ttl.is_of_buckets() {
        return false;
    }
    let is_path = |key: &Document| key.keys().next().is_some_and(|only| only == path);
    !ttl.found.get_document("key").is_ok_and(is_path)
}

impl Strays {
    fn see(&mut self, ttl: &Ttl, document: &Document) {
        count_dates(document, &mut self.elsewhere);
        for key in date::keys(document, &ttl.path()).unwrap_or_default() {
            match key.value {
                Some(Bson::String(text)) => {
                    self.strings += 1;
                    self.date_strings += u64::from(instant::lenient(&text).is_some());
                }
                Some(number) => match epoch(&number) {
                    Some((_, Unit::Seconds)) => self.seconds += 1,
                    Some((_, Unit::Millis)) => self.millis += 1,
                    None => {}
                },
                None => {}
            }
        }
    }
}

/// The unit that a number seems to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Millis,
}

/// A number that looks like an instant between 1973 and 2286, in milliseconds.
pub fn epoch(value: &Bson) -> Option<(i64, Unit)> {
    let number = match value {
        Bson::Int32(int) => i64::from(*int),
        Bson::Int64(long) => *long,
        Bson::Double(double) => *double as i64,
        _ => return None,
    };
    match number {
        100_000_000..10_000_000_000 => Some((number * 1_000, Unit::Seconds)),
        100_000_000_000..10_000_000_000_000 => Some((number, Unit::Millis)),
        _ => None,
    }
}

/// Can an index that was made over these documents be built?
#[derive(Default)]
pub(crate) struct Build {
    index: Option<Index>,
    /// The keys so far, if no two documents may have the same.
    unique: Option<Seen>,
    /// Why not, with the rule.
    pub(crate) failed: Option<(Rule, String)>,
}

impl Build {
    /// For an index as it came.
    pub(crate) fn new(standing: &Standing, ttl: &Ttl) -> Build {
        let is_built = matches!(standing.via, Via::Created | Via::Restored);
        let Some(index) = ttl
            .index
            .as_ref()
            .filter(|index| is_built && index.path().is_some() && !ttl.is_of_buckets())
        else {
            return Build::default();
        };
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let may_fail =
            index.is_unique() || index.path().is_some_and(|path| path.split('.').any(is_number));
        let unique = index.is_unique().then(Seen::default);
        Build { index: may_fail.then(|| index.clone()), unique, failed: None }
    }

    /// Could documents keep it from being built?
    pub(crate) fn may_fail(&self) -> bool {
        self.index.is_some()
    }

    /// One document more.
    pub(crate) fn see(&mut self, standing: &Standing, document: &Document) {
        let Some(index) = self.index.as_ref().filter(|_| self.failed.is_none()) else { return };
        let path = index.path().unwrap_or_default();
        let is_member = |filter| filter::member(standing.server, &filter, document).verdict;
        if !index.filter().is_none_or(is_member) {
            return;
        }
        let id = || relaxed(document.get("_id").unwrap_or(&Bson::Null));
        match date::keys(document, &path) {
            Err(ambiguous) => {
                let rule = ambiguous.because.last().copied();
                let why = format!("error 16746 at the document with _id {}", id());
                self.failed = Some((rule.unwrap_or(Rule::MongodbDateAmbiguous), why));
            }
            Ok(keys) => {
                let Some(unique) = &mut self.unique else { return };
                let mut own = Seen::default();
                for key in keys {
                    let value = match key.value {
                        None if index.is_sparse() => continue,
                        value => value.unwrap_or(Bson::Null),
                    };
                    if own.is_new(&value) && !unique.is_new(&value) {
                        let why = format!("error 11000 at the document with _id {}", id());
                        self.failed = Some((Rule::MongodbVisibilityKeyTaken, why));
                    }
                }
            }
        }
    }
}
