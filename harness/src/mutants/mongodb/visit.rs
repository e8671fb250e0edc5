//! Mutants of `mongodb.visit.*`.

use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::machine::Member;
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::pass::{Target, Use, targets};
use ttlspec_model::mongodb::visit::{Visit, Visitable};
use ttlspec_model::mongodb::{Did, Ended, Op, Reply, Ticked, Version, code};
use ttlspec_model::{Millis, Rule};

use super::replication::{said, told};
use super::server::Named;
use super::turn::{did, pass, pass_of, set_so, visiting, with_visit, work};
use super::{Mistake, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(
        Rule::MongodbVisitSnapshot,
        "an index that is made during a pass joins it",
        |server, now, op| {
            let at = told(&server.state, op);
            let before = server.state.members.get(at).map(list).unwrap_or_default();
            let reply = server.right(now, op);
            if let (Op::CreateIndex(_), Reply::Ok) = (said(op), &reply) {
                let there = &mut server.state.members[at];
                let new = list(there).into_iter().filter(|of| !before.contains(of));
                let new: Vec<Visitable> = new.collect();
                if let Some(pass) = pass(there) {
                    pass.left.extend(new);
                }
            }
            reply
        },
    ),
    step(
        Rule::MongodbVisitSnapshot,
        "plain indexes are on the list",
        |server, now, op| match server.right(now, op) {
            Reply::Ticked(Ticked { did: Did::Begin(_), index, ended, more }) => {
                let there = &server.state.members[told(&server.state, op)];
                let all = there.collections.iter().map(|(_, there)| targets(there).len() as u32);
                Reply::Ticked(Ticked { did: Did::Begin(all.sum()), index, ended, more })
            }
            right => right,
        },
    ),
    step(
        Rule::MongodbVisitCatalog,
        "the time of an index is that of the beginning of the pass",
        |server, now, op| {
            let at = told(&server.state, op);
            let Some(there) = server.state.members.get_mut(at) else {
                return server.right(now, op);
            };
            let is_next = pass_of(there).is_some_and(|pass| pass.visit.is_none());
            if !matches!(said(op), Op::Tick) {
                return server.right(now, op);
            }
            let now_stored = there.collections.clone();
            if is_next {
                restore_seconds(there, &server.listed);
            }
            let reply = server.right(now, op);
            let there = &mut server.state.members[at];
            if is_next {
                restore_seconds(there, &now_stored);
            }
            if matches!(did(&reply), Some(Did::Begin(_))) {
                server.listed = there.collections.clone();
            }
            reply
        },
    ),
    step(
        Rule::MongodbVisitCatalog,
        "an index that is gone at its turn is an error",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |_, was, reply| {
                    let next = pass_of(was).filter(|pass| pass.visit.is_none());
                    let next = next.and_then(|pass| pass.left.first());
                    let is_gone = next.is_some_and(|of| !list(was).contains(of));
                    if let Reply::Ticked(ticked) = reply
                        && ticked.did == Did::Abandon
                        && is_gone
                    {
                        ticked.did = Did::Skip(code::INDEX_NOT_FOUND);
                    }
                },
            )
        },
    ),
    step(Rule::MongodbVisitSingly, "documents go in batches, before 6.1 too", |server, now, op| {
        match said(op) {
            Op::Tick | Op::Wake(_) if !server.version.deletes_in_batches() => {
                server.as_version(Version::new(6, 1, 0), now, op)
            }
            _ => server.right(now, op),
        }
    }),
    step(
        Rule::MongodbVisitSingly,
        "one by one, a visit has targets all the same",
        |server, now, op| {
            set_so(server, now, op, |parameters| {
                if !parameters.batch_deletes {
                    (parameters.batch_deletes, parameters.batch_docs) = (true, 1);
                }
            })
        },
    ),
    step(
        Rule::MongodbVisitBatch,
        "a batch takes one document more than it should",
        |server, now, op| {
            set_so(server, now, op, |parameters| {
                parameters.batch_docs += i32::from(parameters.batch_docs > 0);
            })
        },
    ),
    step(Rule::MongodbVisitBatch, "0 documents a batch are one", |server, now, op| {
        set_so(server, now, op, |parameters| {
            parameters.batch_docs = parameters.batch_docs.max(1);
        })
    }),
    step(Rule::MongodbVisitBatch, "a batch may have any number of bytes", |server, now, op| {
        set_so(server, now, op, |parameters| parameters.batch_bytes = 0)
    }),
    step(
        Rule::MongodbVisitBatch,
        "the limits of a batch change in the middle of a visit",
        |server, now, op| {
            visiting(server, now, op, |visit, there| {
                visit.parameters = there.monitor.parameters.clone();
            })
        },
    ),
    step(
        Rule::MongodbVisitTargets,
        "a visit ends one document after its target",
        |server, now, op| {
            set_so(server, now, op, |parameters| {
                parameters.visit_target_docs += i32::from(parameters.visit_target_docs > 0);
            })
        },
    ),
    step(
        Rule::MongodbVisitTargets,
        "the target of time is met a millisecond late",
        |server, now, op| {
            set_so(server, now, op, |parameters| {
                parameters.visit_target_ms += i32::from(parameters.visit_target_ms > 0);
            })
        },
    ),
    step(
        Rule::MongodbVisitTargets,
        "a visit that has met its target says that nothing is left",
        |server, now, op| {
            visiting(server, now, op, |visit, _| {
                visit.is_at_end |= !visit.staged.is_empty() && meets_target(visit, now);
            })
        },
    )
    .seen("SERVER-66210", "a batched delete did not say whether its end was that of the documents"),
    step(
        Rule::MongodbVisitTargets,
        "documents that were spared do not count towards the target",
        |server, now, op| {
            let kept = match server.would(now, op) {
                Reply::Ticked(Ticked { did: Did::Commit { kept, .. }, .. }) => kept.len() as u32,
                _ => 0,
            };
            visiting(server, now, op, |visit, _| visit.chosen = visit.chosen.saturating_sub(kept))
        },
    ),
    step(
        Rule::MongodbVisitScanEnd,
        "a visit whose scan is over asks for its target",
        |server, now, op| {
            visiting(server, now, op, |visit, _| {
                visit.is_at_end &= visit.staged.is_empty() || !meets_target(visit, now);
            })
        },
    ),
    step(
        Rule::MongodbVisitRounds,
        "a busy index is emptied before the next one has its turn, from 6.1 on too",
        |server, now, op| {
            set_so(server, now, op, |parameters| {
                (parameters.visit_target_docs, parameters.visit_target_ms) = (0, 0);
            })
        },
    )
    .seen(
        "SERVER-56194",
        "one busy collection kept all others waiting, config.system.sessions too",
    ),
    step(Rule::MongodbVisitRounds, "a round visits all indexes again", |server, now, op| {
        work(
            server,
            now,
            op,
            |_| {},
            |there, _, reply| {
                if has_ended(reply, Ended::Round) {
                    let all = list(there);
                    pass(there).expect("a round belongs to a pass").left = all;
                }
            },
        )
    }),
    step(
        Rule::MongodbVisitSubPassEnds,
        "a sub-pass may last a second more than it should",
        |server, now, op| {
            set_so(server, now, op, |parameters| parameters.sub_pass_target_secs += 1)
        },
    ),
    step(
        Rule::MongodbVisitSubPassEnds,
        "rounds go on until nothing is left, however long a sub-pass may last",
        |server, now, op| {
            set_so(server, now, op, |parameters| parameters.sub_pass_target_secs = i32::MAX)
        },
    ),
    step(
        Rule::MongodbVisitSubPassAgain,
        "a sub-pass visits only what the last one has left over",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, was, reply| {
                    if let (true, Some(was)) = (has_ended(reply, Ended::SubPass), pass_of(was)) {
                        let last = was.visit.as_ref().map(|visit| &visit.of);
                        let more = matches!(reply, Reply::Ticked(Ticked { more: true, .. }));
                        let is_left =
                            |of: &Visitable| was.again.contains(of) || more && last == Some(of);
                        let pass = pass(there).expect("a sub-pass belongs to a pass");
                        pass.left.retain(is_left);
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitSubPassAgain,
        "between two sub-passes the monitor sleeps",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    if has_ended(reply, Ended::SubPass) {
                        let seconds = there.monitor.parameters.sleep_secs;
                        there.monitor.activity = Activity::Asleep { since: now, seconds };
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitThresholdKept,
        "a collMod moves the threshold of a visit that goes on",
        |server, now, op| {
            visiting(server, now, op, |visit, there| {
                let collection = there.collection(&visit.of.collection);
                let target = collection.and_then(|there| Target::named(there, &visit.of.index));
                if let (Some(collection), Some(target)) = (collection, target)
                    && let Use::Lifetime(millis) = target.usable(there.version, collection).verdict
                {
                    visit.lifetime_ms = millis;
                }
            })
        },
    ),
    step(
        Rule::MongodbVisitBehind,
        "each batch is looked for from the beginning",
        |server, now, op| {
            visiting(server, now, op, |visit, _| {
                visit.behind = visit.behind.filter(|_| !visit.staged.is_empty());
            })
        },
    ),
    step(
        Rule::MongodbVisitAgain,
        "what was chosen is deleted, if only it still has a date",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| {
                    with_visit(there, |visit, _| {
                        if !visit.staged.is_empty() {
                            visit.now = Millis::MAX;
                        }
                    });
                },
                |there, was, _| {
                    let clock = pass_of(was).and_then(|pass| pass.visit.as_ref());
                    let clock = clock.map(|visit| visit.now);
                    with_visit(there, |visit, _| visit.now = clock.unwrap_or(visit.now));
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitAgain,
        "a document that came again is taken for the one that was chosen",
        |server, now, op| {
            visiting(server, now, op, |visit, _| {
                visit.staged.iter_mut().for_each(|staged| staged.is_gone = false);
            })
        },
    ),
    step(
        Rule::MongodbVisitFilterRace,
        "the second look asks for the filter, too",
        |server, now, op| {
            visiting(server, now, op, |visit, there| {
                let collection = there.collection(&visit.of.collection);
                let target = collection.and_then(|there| Target::named(there, &visit.of.index));
                let (Some(collection), Some(target)) = (collection, target) else { return };
                for staged in &mut visit.staged {
                    let document = collection.documents.get(&staged.record);
                    let is_out = |document: &&_| !target.holds(there.version, collection, document);
                    staged.is_gone |= document.map(|document| &document.0).filter(is_out).is_some();
                }
            })
        },
    ),
    step(
        Rule::MongodbVisitDropped,
        "a visit goes on in what was made again under the same name",
        |server, now, op| visiting(server, now, op, |visit, _| visit.is_killed = false),
    ),
    step(
        Rule::MongodbVisitDropped,
        "a visit of what was dropped is an error",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |_, was, reply| {
                    let goes_on = pass_of(was).is_some_and(|pass| pass.visit.is_some());
                    if let Reply::Ticked(ticked) = reply
                        && ticked.did == Did::Abandon
                        && goes_on
                    {
                        ticked.did = Did::Skip(QUERY_PLAN_KILLED);
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitInterrupted,
        "what was chosen is deleted before a killed pass ends",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| {
                    if let Some(pass) = pass(there)
                        && pass.visit.as_ref().is_some_and(|visit| !visit.staged.is_empty())
                    {
                        pass.is_interrupted = false;
                    }
                },
                |there, was, _| {
                    let is_killed = pass_of(was).is_some_and(|pass| pass.is_interrupted);
                    if let Some(pass) = pass(there) {
                        pass.is_interrupted |= is_killed;
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitInterrupted,
        "a step-down in the middle of a visit ends the process",
        |server, now, op| {
            let there = server.state.members.get(told(&server.state, op));
            let visits = there.and_then(pass_of).is_some_and(|pass| pass.visit.is_some());
            match (server.right(now, op), said(op)) {
                (Reply::Ok, Op::StepDown) if visits => Reply::Fatal(code::NOT_WRITABLE_PRIMARY),
                (right, _) => right,
            }
        },
    )
    .seen(
        "SERVER-19466",
        "a primary that stepped down during a TTL delete ended with an assertion",
    ),
    step(
        Rule::MongodbVisitInterrupted,
        "a monitor that was interrupted never wakes again",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    if did(reply) == Some(&Did::Interrupt) {
                        let seconds = there.monitor.parameters.sleep_secs;
                        there.monitor.activity = Activity::Asleep { since: Millis::MAX, seconds };
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbVisitUncounted,
        "what was deleted before a visit was broken off is counted",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, was, reply| {
                    if let Some(Did::Interrupt | Did::Abandon) = did(reply) {
                        let visit = pass_of(was).and_then(|pass| pass.visit.as_ref());
                        there.monitor.counted.deleted +=
                            visit.map_or(0, |visit| u64::from(visit.deleted));
                    }
                },
            )
        },
    ),
];

/// The error of a visit whose plan was killed.
const QUERY_PLAN_KILLED: i32 = 175;

/// What a pass would have on its list now.
fn list(there: &Member) -> Vec<Visitable> {
    let mut list = Vec::new();
    for (name, collection) in &there.collections {
        for target in targets(collection) {
            if target.is_ttl(there.version, collection) {
                let index = target.name(collection).to_owned();
                list.push(Visitable { collection: name.clone(), index });
            }
        }
    }
    list
}

/// Gives the indexes that were there then the seconds that they had then.
fn restore_seconds(there: &mut Member, then: &[Named]) {
    for (name, then) in then {
        let Some(collection) = there.collection_mut(name) else { continue };
        for index in &mut collection.indexes {
            let then = then.indexes.iter().find(|then| then.name() == index.name());
            if let (Some(seconds), true) =
                (then.and_then(|then| then.seconds()), index.seconds().is_some())
            {
                index.spec.0.insert(SECONDS, seconds);
            }
        }
    }
}

/// Has a visit chosen, or spent, as much as it should?
fn meets_target(visit: &Visit, now: Millis) -> bool {
    let (docs, millis) = (visit.parameters.visit_target_docs, visit.parameters.visit_target_ms);
    let spent = now.0.saturating_sub(visit.since.0);
    docs > 0 && i64::from(visit.chosen) >= i64::from(docs)
        || millis > 0 && spent >= i64::from(millis)
}

/// Did exactly this end with a step?
fn has_ended(reply: &Reply, what: Ended) -> bool {
    matches!(reply, Reply::Ticked(Ticked { ended, .. }) if *ended == what)
}
