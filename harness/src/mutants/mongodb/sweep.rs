//! A pass of the monitor in its parts, each of which a mutant can put another in the place of.

use bson::{Bson, Document};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::date::{self, Key};
use ttlspec_model::mongodb::filter;
use ttlspec_model::mongodb::index::{Index, Kind};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::pass::{self, Target, Use};
use ttlspec_model::mongodb::threshold::{self, Expiry};
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{Health, Op, Reply, Skipped, Value, Version};

use super::server::Server;

/// A date that has expired, and the record of the document that has it.
type Doomed = (Millis, u64);

/// The parts of a pass.
#[derive(Clone, Copy)]
pub(super) struct Sweep {
    /// Can the visit use the index, and how long do its dates live?
    pub usable: fn(Version, Kind, &Index) -> Use,
    /// Is the document in the index?
    pub member: fn(Version, &Index, &Document) -> bool,
    /// Which date of the document decides?
    pub date: fn(&Index, &Document) -> Option<Millis>,
    /// Has the date, which lives so many milliseconds, expired at this instant?
    pub expired: fn(Millis, i64, Millis) -> bool,
    /// Which of the expired documents, by date and record, are deleted in which order?
    pub order: fn(&Index, Vec<Doomed>) -> Vec<Doomed>,
}

/// A pass as the book has it.
pub(super) const RIGHT: Sweep = Sweep {
    usable: right_use,
    member: right_member,
    date: |index, document| dates(index, document).into_iter().min(),
    expired: right_expiry,
    order: |_, mut doomed| {
        doomed.sort();
        doomed
    },
};

impl Sweep {
    /// A pass with these parts.
    pub fn pass(&self, server: &mut Server, now: Millis) -> Reply {
        let (mut deleted, mut skipped) = (Vec::new(), Vec::new());
        if !is_simple(&server.state) {
            return server.right(now, &Op::Pass);
        }
        let version = server.state.members[0].version;
        let Some(there) = server.state.collection_mut() else {
            return Reply::Passed { deleted, skipped };
        };
        if there.settings.seconds.is_some() {
            deleted.extend(own(version, there, now));
        }
        for index in &there.indexes {
            let lifetime_ms = match (self.usable)(version, there.kind, index) {
                Use::Nothing => continue,
                Use::Skip(code) => {
                    skipped.push(Skipped { index: index.name().to_owned(), code });
                    continue;
                }
                Use::Lifetime(lifetime_ms) => lifetime_ms,
            };
            let expired = there.documents.iter().filter_map(|(record, document)| {
                let date = (self.date)(index, document)?;
                let is_doomed = (self.member)(version, index, document)
                    && (self.expired)(date, lifetime_ms, now);
                is_doomed.then_some((date, *record))
            });
            for (_, record) in (self.order)(index, expired.collect()) {
                let document = there.documents.remove(&record).expect("it was just seen");
                deleted.push(Value(document["_id"].clone()));
            }
        }
        Reply::Passed { deleted, skipped }
    }
}

/// Is there one server whose monitor is not at work, and a collection in which a pass has nothing to
/// ask but its indexes? Anything else passes as the book says.
fn is_simple(state: &State) -> bool {
    let [alone] = &state.members[..] else { return false };
    let is_quiet = !matches!(alone.monitor.activity, Activity::Passing(_));
    let is_plain = state.collection().is_none_or(|there| {
        there.kind != Kind::TimeSeries && there.building.is_empty() && there.orphans.is_empty()
    });
    alone.health == Health::Up && is_quiet && is_plain
}

/// What the book says of the seconds of a clustered collection: these documents are deleted.
fn own(version: Version, there: &mut Collection, now: Millis) -> Vec<Value> {
    let Use::Lifetime(lifetime_ms) = Target::Own.usable(version, there).verdict else {
        return Vec::new();
    };
    let doomed = pass::doomed(version, there, Target::Own, lifetime_ms, now).verdict;
    let documents = doomed.into_iter().filter_map(|(_, record)| there.delete(record));
    documents.map(|document| Value(document["_id"].clone())).collect()
}

/// What the book says of the index.
pub(super) fn right_use(version: Version, kind: Kind, index: &Index) -> Use {
    pass::usable(version, kind, index).verdict
}

/// What the book says of the filter.
pub(super) fn right_member(version: Version, index: &Index, document: &Document) -> bool {
    let filter = index.filter();
    filter.is_none_or(|filter| filter::member(version, &filter, document).verdict)
}

/// What the book says of the threshold.
pub(super) fn right_expiry(date: Millis, lifetime_ms: i64, now: Millis) -> bool {
    matches!(threshold::expiry(date, lifetime_ms, now).verdict, Expiry::Expired(_))
}

/// The path of an index, or the first of its paths.
pub(super) fn path(index: &Index) -> String {
    index.key().keys().next().cloned().unwrap_or_default()
}

/// The keys that the index has for a document; none where it could not hold it.
pub(super) fn keys(index: &Index, document: &Document) -> Vec<Key> {
    date::keys(document, &path(index)).unwrap_or_default()
}

/// The dates among them.
pub(super) fn dates(index: &Index, document: &Document) -> Vec<Millis> {
    keys(index, document).iter().filter_map(|key| as_date(key.value.as_ref()?)).collect()
}

/// A date as an instant; no other type has one.
pub(super) fn as_date(value: &Bson) -> Option<Millis> {
    match value {
        Bson::DateTime(date) => Some(Millis(date.timestamp_millis())),
        _ => None,
    }
}

/// The smallest date if these values counted as dates too.
pub(super) fn earliest_with(
    index: &Index,
    document: &Document,
    counts: fn(&Bson) -> Option<Millis>,
) -> Option<Millis> {
    let keys = keys(index, document);
    let values = keys.iter().filter_map(|key| key.value.as_ref());
    values.filter_map(|value| as_date(value).or_else(|| counts(value))).min()
}

/// The smallest date if only these keys counted.
pub(super) fn earliest_of(
    index: &Index,
    document: &Document,
    counts: fn(&Key) -> bool,
) -> Option<Millis> {
    let keys = keys(index, document);
    keys.iter().filter(|key| counts(key)).filter_map(|key| as_date(key.value.as_ref()?)).min()
}
