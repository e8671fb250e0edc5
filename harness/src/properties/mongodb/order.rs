//! What do other documents, other moves and other passes change? Nothing.

use ttlspec_model::mongodb::{MongoDb, Op, Reply};

use super::case::{Deaths, Server, alike, deaths, same, within};
use super::{Case, Held};
use crate::check::Opener;

type Open = Opener<MongoDb>;

pub(super) fn of_inserts(case: &Case, open: &Open) -> Held {
    let reversed: Vec<_> = case.documents.iter().rev().cloned().collect();
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, deaths(case, &case.index, &reversed, case.now, open))
}

pub(super) fn each_alone(case: &Case, open: &Open) -> Held {
    let Some(together) = deaths(case, &case.index, &case.documents, case.now, open) else {
        return Held::NotThere;
    };
    let alone = case.documents.iter().filter_map(|document| {
        deaths(case, &case.index, std::slice::from_ref(document), case.now, open)
    });
    same(together, alone.flatten().collect(), Deaths::new())
}

pub(super) fn pass_split(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    server.create(&case.other);
    server.insert(&case.documents);
    let first = server.deaths(case.now);
    let found = server.found();

    let second = server.deaths(case.now);

    if !second.is_empty() || server.found() != found {
        return Held::No(format!("expected a second pass to delete nothing, found {second:?}"));
    }
    if first.is_empty() { Held::NotThere } else { Held::Yes }
}

pub(super) fn reads(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    for document in &case.documents {
        for read in [Op::Find, Op::ListIndexes] {
            server.ask(case.later, &read);
        }
        server.insert([document]);
    }
    server.ask(case.now, &Op::Find);
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, Some(server.deaths(case.now)))
}

pub(super) fn later_pass(case: &Case, open: &Open) -> Held {
    let at = |now| deaths(case, &case.index, &case.documents, now, open);
    match (at(case.now), at(case.later)) {
        (Some(now), Some(later)) => within(&now, &later),
        _ => Held::NotThere,
    }
}

pub(super) fn early_pass(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    server.insert(&case.documents);
    let mut deleted = server.deaths(case.now);
    deleted.extend(server.deaths(case.later));
    let at_once = deaths(case, &case.index, &case.documents, case.later, open);
    alike(at_once, Some(deleted))
}

pub(super) fn survivors(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    server.insert(&case.documents);
    let before = server.found();
    let deaths = server.deaths(case.now);

    let alive: Vec<i32> = before.into_iter().filter(|id| !deaths.contains(id)).collect();
    same(alive, server.found(), Vec::new())
}

pub(super) fn replace_by_itself(case: &Case, open: &Open) -> Held {
    let Some(mut server) = Server::with_index(case, &case.index, open) else {
        return Held::NotThere;
    };
    server.insert(&case.documents);
    for document in &case.documents {
        match server.ask(case.later, &Op::Replace(document.clone())) {
            Some(Reply::Matched(_) | Reply::Error(_)) => {}
            other => return Held::No(format!("expected a replacement, found {other:?}")),
        }
    }
    let there = deaths(case, &case.index, &case.documents, case.now, open);
    alike(there, Some(server.deaths(case.now)))
}
