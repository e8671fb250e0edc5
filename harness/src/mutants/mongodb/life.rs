//! Mutants of `mongodb.life.*`.

use ttlspec_model::mongodb::Op;
use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::life::Verdict;
use ttlspec_model::{Millis, Rule};

use super::server::without;
use super::{Mistake, passes};

pub(super) const MUTANTS: &[Mistake] = &[
    passes(
        Rule::MongodbLifeAnyIndex,
        "only the first TTL index of a collection is swept",
        |server, now| {
            server.pass_seeing(now, |_, there| {
                let first = there.indexes.iter().position(|index| index.seconds().is_some());
                there.indexes.truncate(first.map_or(0, |first| first + 1));
            })
        },
    ),
    passes(
        Rule::MongodbLifeAnyIndex,
        "a document waits for the last of its TTL indexes",
        |server, now| {
            server.pass_sparing(now, |server, there, document| {
                let mut ttl = there.indexes.iter().filter(|one| one.spec.contains_key(SECONDS));
                let waits = |verdict| !matches!(verdict, Verdict::Expired(..));
                ttl.any(|index| waits(server.verdict(there, index, document, now)))
                    .then(|| document.clone())
            })
        },
    ),
    passes(
        Rule::MongodbLifeWhole,
        "what holds the expired date goes, the rest of the document stays",
        |server, now| {
            server.pass_sparing(now, |server, there, document| {
                let nested = there.indexes.iter().find_map(|index| {
                    match server.verdict(there, index, document, now) {
                        Verdict::Expired(_, dated) => {
                            dated.path.split_once('.').map(|(top, _)| top.to_owned())
                        }
                        _ => None,
                    }
                })?;
                Some(without(document, &nested))
            })
        },
    ),
    passes(Rule::MongodbLifeClock, "the clock of a pass never goes back", |server, now| {
        let latest = server.latest.max(now);
        server.right(latest, &Op::Pass)
    }),
    passes(Rule::MongodbLifeClock, "the clock of a pass ticks in whole seconds", |server, now| {
        let second = Millis(now.0.div_euclid(1_000).saturating_mul(1_000));
        server.right(second, &Op::Pass)
    }),
];
