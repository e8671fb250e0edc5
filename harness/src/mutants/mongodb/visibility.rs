//! Mutants of `mongodb.visibility.*`.

use ttlspec_model::Rule;
use ttlspec_model::mongodb::{Op, Reply, Value, code};

use super::{Mistake, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(Rule::MongodbVisibilityUntilPass, "a read deletes what has expired", |server, now, op| {
        if matches!(op, Op::Find) {
            server.right(now, &Op::Pass);
        }
        server.right(now, op)
    })
    .seen("mongomock 4.x", "documents expire on any access; there is no sweep"),
    step(Rule::MongodbVisibilityUntilPass, "a read hides what has expired", |server, now, op| {
        let state = server.state.clone();
        if matches!(op, Op::Find) {
            server.right(now, &Op::Pass);
            let reply = server.right(now, op);
            server.state = state;
            return reply;
        }
        server.right(now, op)
    }),
    step(
        Rule::MongodbVisibilityIdTaken,
        "an expired document gives its _id free",
        |server, now, op| {
            if let (Op::Insert(document), Some(there)) = (op, server.state.collection()) {
                let taken = there.record(&document["_id"]).map(|record| &there.documents[&record]);
                if taken.is_some_and(|taken| server.is_expired(there, taken, now)) {
                    let id = Value(document["_id"].clone());
                    server.right(now, &Op::Remove(id));
                }
            }
            server.right(now, op)
        },
    ),
    step(
        Rule::MongodbVisibilityIdTaken,
        "an insert with an _id that is there replaces it",
        |server, now, op| match (op, server.state.collection()) {
            (Op::Insert(document), Some(there)) if there.record(&document["_id"]).is_some() => {
                match server.right(now, &Op::Replace(document.clone())) {
                    Reply::Matched(_) => Reply::Ok,
                    refused => refused,
                }
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbVisibilityKeyTaken,
        "an expired document gives its unique key free",
        |server, now, op| {
            let is_new = match (op, server.state.collection()) {
                (Op::Insert(document), Some(there)) => there.record(&document["_id"]).is_none(),
                _ => false,
            };
            if is_new && server.would(now, op) == Reply::Error(code::DUPLICATE_KEY) {
                server.right(now, &Op::Pass);
            }
            server.right(now, op)
        },
    ),
];
