//! What do dates, lifetimes, arrays and filters change?

use bson::{Bson, Document, doc};
use ttlspec_model::Millis;
use ttlspec_model::mongodb::{Doc, MongoDb};

use super::case::{alike, deaths, within};
use super::{Case, Held};
use crate::check::Opener;

type Open = Opener<MongoDb>;

/// By how much time is moved.
const SPAN: i64 = 123_456_789_012;

/// Dates farther from 1970 than this are near an end of time.
const FAR: i64 = 1 << 61;

pub(super) fn time_shift(case: &Case, open: &Open) -> Held {
    let shifted = |document: &Doc| shift(&Bson::Document(document.0.clone()));
    let documents: Option<Vec<Doc>> = (case.documents.iter())
        .map(|document| shifted(document)?.as_document().cloned().map(Doc))
        .collect();
    let index = shifted(&case.index).and_then(|index| index.as_document().cloned());
    let now = (-FAR..FAR).contains(&case.now.0).then(|| case.now.0 + SPAN);
    let (Some(documents), Some(index), Some(now)) = (documents, index, now) else {
        return Held::NotThere;
    };
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, deaths(case, &index, &documents, Millis(now), open))
}

/// The same value, each date in it later; `None` if one is near an end of time.
fn shift(value: &Bson) -> Option<Bson> {
    match value {
        Bson::DateTime(date) => {
            let millis = date.timestamp_millis();
            let is_near = (-FAR..FAR).contains(&millis);
            is_near.then(|| Bson::DateTime(bson::DateTime::from_millis(millis + SPAN)))
        }
        Bson::Array(array) => array.iter().map(shift).collect::<Option<_>>().map(Bson::Array),
        Bson::Document(document) => {
            let fields = document.iter().map(|(name, value)| Some((name.clone(), shift(value)?)));
            fields.collect::<Option<Document>>().map(Bson::Document)
        }
        other => Some(other.clone()),
    }
}

pub(super) fn longer_lifetime(case: &Case, open: &Open) -> Held {
    let (a, b) = (case.index["expireAfterSeconds"].clone(), &case.other["expireAfterSeconds"]);
    let (Some(a), Some(b)) = (a.as_i32(), b.as_i32()) else { return Held::NotThere };
    let with = |seconds| case.index_with("expireAfterSeconds", seconds);
    let long = deaths(case, &with(a.max(b)), &case.documents, case.now, open);
    let short = deaths(case, &with(a.min(b)), &case.documents, case.now, open);
    match (long, short) {
        (Some(long), Some(short)) => within(&long, &short),
        _ => Held::NotThere,
    }
}

/// Each document with an array at `t`, changed by `change`.
fn with_array(case: &Case, change: impl Fn(&mut Vec<Bson>)) -> Vec<Doc> {
    let mut documents = case.documents.clone();
    for document in &mut documents {
        if let Ok(array) = document.0.get_array_mut("t") {
            change(array);
        }
    }
    documents
}

pub(super) fn non_date_in_array(case: &Case, open: &Open) -> Held {
    if matches!(case.value(), Bson::DateTime(_)) {
        return Held::NotThere;
    }
    let documents = with_array(case, |array| array.push(case.value()));
    if documents == case.documents {
        return Held::NotThere;
    }
    let index = case.index_on_t();
    let there = deaths(case, &index, &case.documents, case.now, open);
    alike(there, deaths(case, &index, &documents, case.now, open))
}

pub(super) fn date_in_array(case: &Case, open: &Open) -> Held {
    if !matches!(case.value(), Bson::DateTime(_)) {
        return Held::NotThere;
    }
    let documents = with_array(case, |array| array.push(case.value()));
    let index = case.index_on_t();
    let there = deaths(case, &index, &case.documents, case.now, open);
    match (there, deaths(case, &index, &documents, case.now, open)) {
        (Some(there), Some(more)) if documents != case.documents => within(&there, &more),
        _ => Held::NotThere,
    }
}

pub(super) fn array_order(case: &Case, open: &Open) -> Held {
    let documents = with_array(case, |array| array.reverse());
    if documents == case.documents {
        return Held::NotThere;
    }
    let index = case.index_on_t();
    let there = deaths(case, &index, &case.documents, case.now, open);
    alike(there, deaths(case, &index, &documents, case.now, open))
}

pub(super) fn other_fields(case: &Case, open: &Open) -> Held {
    let mut documents = case.documents.clone();
    for document in &mut documents {
        document.0.insert("beside", case.value());
    }
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, deaths(case, &case.index, &documents, case.now, open))
}

pub(super) fn empty_filter(case: &Case, open: &Open) -> Held {
    let mut without = case.index.0.clone();
    without.remove("partialFilterExpression");
    let empty = case.index_with("partialFilterExpression", doc! {});
    let there = deaths(case, &without, &case.documents, case.now, open);
    alike(there, deaths(case, &empty, &case.documents, case.now, open))
}

pub(super) fn filter_narrows(case: &Case, open: &Open) -> Held {
    let mut without = case.index.0.clone();
    let Some(filter) = without.remove("partialFilterExpression") else { return Held::NotThere };
    let with = case.index_with("partialFilterExpression", filter);
    // A document that no index could hold is refused only where it would be in the index.
    let is_dotted =
        without.get_document("key").is_ok_and(|key| key.keys().any(|p| p.contains('.')));
    let narrow = deaths(case, &with, &case.documents, case.now, open);
    match (narrow, deaths(case, &without, &case.documents, case.now, open)) {
        (Some(narrow), Some(wide)) if !is_dotted => within(&narrow, &wide),
        _ => Held::NotThere,
    }
}
