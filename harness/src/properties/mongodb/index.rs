//! What do options of an index, and other indexes, change?

use bson::{Bson, Document};
use ttlspec_model::mongodb::{MongoDb, Op};

use super::case::{Deaths, Server, alike, deaths, same};
use super::{Case, Held};
use crate::check::Opener;
use crate::values::NOW;

type Open = Opener<MongoDb>;

pub(super) fn hidden(case: &Case, open: &Open) -> Held {
    inert(case, &case.index_with("hidden", true), open)
}

pub(super) fn sparse(case: &Case, open: &Open) -> Held {
    inert(case, &case.index_with("sparse", true), open)
}

/// Does `index` delete what the case's own does, if it can be made?
fn inert(case: &Case, index: &Document, open: &Open) -> Held {
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    match deaths(case, index, &case.documents, case.now, open) {
        None => Held::NotThere,
        found => alike(there, found),
    }
}

pub(super) fn unique(case: &Case, open: &Open) -> Held {
    let unique = case.index_with("unique", true);
    let Some(mut server) = Server::with_index(case, &unique, open) else {
        return Held::NotThere;
    };
    // What the key refuses cannot die.
    let taken: Vec<_> =
        case.documents.iter().filter(|document| server.insert([*document]) == 1).cloned().collect();
    let there = deaths(case, &case.index, &taken, case.now, open);
    alike(there, Some(server.deaths(case.now)))
}

pub(super) fn direction(case: &Case, open: &Open) -> Held {
    let key = case.index.get_document("key").cloned().unwrap_or_default();
    let is_ascending = key.values().all(|direction| *direction == Bson::Int32(1));
    let other = if is_ascending { -1 } else { 1 };
    let key: Document = key.into_iter().map(|(path, _)| (path, Bson::Int32(other))).collect();
    inert(case, &case.index_with("key", key), open)
}

pub(super) fn two_indexes(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    if !server.create(&case.other) {
        return Held::NotThere;
    }
    // A document that one of them cannot hold is in neither.
    let taken: Vec<_> =
        case.documents.iter().filter(|document| server.insert([*document]) == 1).cloned().collect();
    let mut each = deaths(case, &case.index, &taken, case.now, open).unwrap_or_default();
    each.extend(deaths(case, &case.other, &taken, case.now, open).unwrap_or_default());
    same(each, server.deaths(case.now), Deaths::new())
}

pub(super) fn order(case: &Case, open: &Open) -> Held {
    let both = |first: &Document, second: &Document| {
        let mut server = Server::with_index(case, first, open)?;
        let both = server.create(second);
        server.insert(&case.documents);
        both.then(|| server.deaths(case.now))
    };
    match (both(&case.index, &case.other), both(&case.other, &case.index)) {
        (None, None) => Held::NotThere,
        (one, other) => alike(one, other),
    }
}

pub(super) fn re_creation(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    server.insert(&case.documents);
    server.ask(NOW, &Op::DropIndex("ttl".to_owned()));
    if !server.pass(case.later).is_empty() {
        return Held::No("expected no deletions without an index, found some".to_owned());
    }
    if !server.create(&case.index) {
        return Held::No("expected the index to be made again, found it refused".to_owned());
    }
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, Some(server.deaths(case.now)))
}

pub(super) fn first_or_last(case: &Case, open: &Open) -> Held {
    let mut server = Server::open(case, open);
    server.insert(&case.documents);
    // One document that the index cannot hold is enough for it not to be built.
    if !server.create(&case.index) {
        return Held::NotThere;
    }
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, Some(server.deaths(case.now)))
}
