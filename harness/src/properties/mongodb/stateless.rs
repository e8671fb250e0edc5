//! Does a part of an engine answer as the same part of the specification does?

use bson::Document;
use ttlspec_model::mongodb::{Version, date, filter};

/// Does the engine see the same smallest date of `document` at `path`?
///
/// `least_date` answers `Err(())` for a document that no index could hold.
///
/// # Errors
/// What was expected, then what was found.
pub fn keys_agree(
    document: &Document,
    path: &str,
    least_date: impl Fn(&Document, &str) -> Result<Option<i64>, ()>,
) -> Result<(), String> {
    let expected = match date::keys(document, path) {
        Err(_) => Err(()),
        Ok(_) => Ok(date::earliest(document, path).verdict.map(|dated| dated.date.0)),
    };
    let found = least_date(document, path);
    if expected == found {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?} at `{path}` of {document}"))
    }
}

/// Does the engine read the filter in the same way, and find the same documents inside?
///
/// `inside` answers with the error code of a filter that cannot be read; else with whether an index
/// of the version may have it, and whether the document is in one that does.
///
/// # Errors
/// What was expected, then what was found.
pub fn filter_agrees(
    version: Version,
    filter: &Document,
    document: &Document,
    inside: impl Fn(Version, &Document, &Document) -> Result<(bool, bool), i32>,
) -> Result<(), String> {
    let expected = filter::parse(filter).map_err(|refusal| refusal.verdict).map(|parsed| {
        let is_allowed = filter::refusal(version, &parsed).verdict.is_none();
        (is_allowed, filter::member(version, &parsed, document).verdict)
    });
    let found = inside(version, filter, document);
    if expected == found {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?} for {filter} and {document}"))
    }
}
