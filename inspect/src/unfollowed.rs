//! Which indexes have a filter that is not followed here, so that nothing can be said of them?
//!
//! From 6.0 on servers accept geometry in a partial filter, and `$in` with a regular expression. What
//! such an index holds is not known here; an answer without it would be a guess.

use bson::{Bson, Document};
use ttlspec_model::mongodb::filter;
use ttlspec_model::mongodb::index::FILTER;
use ttlspec_model::mongodb::version::Version;

use crate::fault::Fault;
use crate::json::relaxed;

/// Takes such indexes out of the list, where one of the versions accepts them. Answers a fault for
/// each that would delete something.
pub fn take_out(
    versions: &[Version],
    (file, namespace): (&str, &str),
    specs: &mut Vec<Document>,
    deletes: impl Fn(&Document) -> bool,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    specs.retain(|spec| {
        let Some(operator) = operator(versions, spec) else { return true };
        if deletes(spec) {
            let name = spec.get_str("name").unwrap_or_default();
            let filter = relaxed(spec.get(FILTER).unwrap_or(&Bson::Null));
            let what = format!(
                "expected filters that are followed here, found `{operator}` in that of `{name}` of \
                 `{namespace}`, {filter}: which documents it deletes is not known"
            );
            let fix = "count on the server what the filter finds that is older than \
                       `expireAfterSeconds`; of the other indexes is said what holds without it";
            faults.push(Fault::whole(file, what, fix));
        }
        false
    });
    faults
}

fn operator(versions: &[Version], spec: &Document) -> Option<String> {
    let filter = filter::parse(spec.get_document(FILTER).ok()?).ok()?;
    versions.iter().find_map(|version| filter::unfollowed(*version, &filter))
}

/// Why a collection is not ruled on whose only TTL indexes were taken out.
pub const NOT_RULED_ON: &str = "its TTL index has a filter that is not followed here: not ruled on";
