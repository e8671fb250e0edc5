//! Mutants of `mongodb.monitor.*`.

use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::number::{is_number, safe_int};
use ttlspec_model::mongodb::{Did, Guard, Health, Op, Reply, Ticked, Value, Version, code};
use ttlspec_model::{Millis, Rule};

use super::replication::{said, told};
use super::server::Server;
use super::turn::{did, has_begun, has_ended, pass, pass_of, set_so, visiting, work};
use super::{Mistake, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(
        Rule::MongodbMonitorSleep,
        "the monitor wakes at the deadline itself",
        |server, now, op| match (server.would(now, op), said(op)) {
            (Reply::Ticked(Ticked { did: Did::Sleep { until_ms }, .. }), Op::Tick)
                if until_ms == now.0 =>
            {
                server.right(now.plus_millis(1), op)
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbMonitorSleep,
        "a sleep is measured from the beginning of the pass",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, was, _| {
                    let begun = pass_of(was).map(|pass| pass.sub_pass_since);
                    let activity = &mut there.monitor.activity;
                    if let (Some(begun), Activity::Asleep { since, .. }) = (begun, activity) {
                        *since = begun;
                    }
                },
            )
        },
    ),
    step(Rule::MongodbMonitorSleep, "the first pass comes without a sleep", |server, now, op| {
        work(
            server,
            now,
            op,
            |there| {
                if there.monitor.activity == Activity::Started {
                    there.monitor.activity = Activity::Asleep { since: Millis::MIN, seconds: 0 };
                }
            },
            |_, _, _| {},
        )
    }),
    step(
        Rule::MongodbMonitorSleepChanged,
        "another sleep waits until the one that goes on is over, since 7.0 too",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| {
                    if let Activity::Asleep { seconds, .. } = there.monitor.activity {
                        there.monitor.parameters.sleep_secs = seconds;
                    }
                },
                |there, was, _| {
                    let now_set = was.monitor.parameters.sleep_secs;
                    there.monitor.parameters.sleep_secs = now_set;
                    let activity = &mut there.monitor.activity;
                    if let Activity::Asleep { since, seconds } = activity
                        && *since == now
                    {
                        *seconds = now_set;
                    }
                },
            )
        },
    )
    .seen(
        "SERVER-70055",
        "a sleep set to 1000 s by mistake could not be cut short but by a restart",
    ),
    step(
        Rule::MongodbMonitorSleepChanged,
        "another sleep begins where it is set",
        |server, now, op| {
            let at = told(&server.state, op);
            match (server.right(now, op), said(op)) {
                (Reply::Ok, Op::SetParameter { name, .. }) if name == "ttlMonitorSleepSecs" => {
                    let activity = &mut server.state.members[at].monitor.activity;
                    if let Activity::Asleep { since, .. } = activity {
                        *since = now;
                    }
                    Reply::Ok
                }
                (right, _) => right,
            }
        },
    ),
    step(Rule::MongodbMonitorParameter, "a sleep of no seconds is taken", |server, now, op| {
        let at = told(&server.state, op);
        match (server.right(now, op), said(op)) {
            (Reply::Error(code::BAD_VALUE), Op::SetParameter { name, value })
                if name == "ttlMonitorSleepSecs" && is_number(value) =>
            {
                server.state.members[at].monitor.parameters.sleep_secs = safe_int(value);
                Reply::Ok
            }
            (right, _) => right,
        }
    })
    .seen("SERVER-25113", "with 0 or less the monitor never slept"),
    step(
        Rule::MongodbMonitorParameter,
        "a negative target is no target",
        |server, now, op| match (server.would(now, op), said(op)) {
            (Reply::Error(code::BAD_VALUE), Op::SetParameter { name, value })
                if name != "ttlMonitorSleepSecs" && is_number(value) =>
            {
                let none = Op::SetParameter { name: name.clone(), value: Value::from(0) };
                server.right(now, &none)
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbMonitorParameter,
        "the targets of 6.1 are known before",
        |server, now, op| {
            let is_old = !server.version.deletes_in_batches();
            match said(op) {
                Op::SetParameter { .. } if is_old => {
                    server.as_version(Version::new(6, 1, 0), now, op)
                }
                _ => server.right(now, op),
            }
        },
    ),
    step(
        Rule::MongodbMonitorParameter,
        "a parameter that nobody knows is taken and does nothing",
        |server, now, op| match (server.right(now, op), said(op)) {
            (Reply::Error(code::INVALID_OPTIONS), Op::SetParameter { .. }) => Reply::Ok,
            (right, _) => right,
        },
    ),
    step(Rule::MongodbMonitorParameter, "a parameter is set on all members", |server, now, op| {
        let at = told(&server.state, op);
        let reply = server.right(now, op);
        if let (Op::SetParameter { .. }, Some(there)) = (said(op), server.state.members.get(at)) {
            let parameters = there.monitor.parameters.clone();
            for member in &mut server.state.members {
                member.monitor.parameters = parameters.clone();
            }
        }
        reply
    }),
    step(
        Rule::MongodbMonitorParameter,
        "what setParameter has set outlives a restart",
        |server, now, op| {
            let at = told(&server.state, op);
            let there = server.state.members.get(at);
            let parameters = there.map(|there| there.monitor.parameters.clone());
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Some(parameters)) = (said(op), parameters) {
                server.state.members[at].monitor.parameters = parameters;
            }
            reply
        },
    ),
    step(
        Rule::MongodbMonitorMaintenance,
        "a member that was started alone does passes",
        |server, now, op| in_health(server, now, op, Health::Maintenance),
    ),
    step(Rule::MongodbMonitorDisabled, "the monitor cannot be turned off", |server, now, op| {
        set_so(server, now, op, |parameters| parameters.enabled = true)
    })
    .seen("SERVER-10033", "before 2.4.6 nothing stopped TTL deletes in an overloaded server"),
    step(
        Rule::MongodbMonitorDisabled,
        "turning the monitor off ends the pass that goes on",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| {
                    let is_off = !there.monitor.parameters.enabled;
                    if let Some(pass) = pass(there) {
                        pass.is_interrupted |= is_off;
                    }
                },
                |_, _, _| {},
            )
        },
    ),
    step(Rule::MongodbMonitorFsync, "a locked server deletes", |server, now, op| {
        work(
            server,
            now,
            op,
            |there| there.is_locked = false,
            |there, was, _| there.is_locked = was.is_locked,
        )
    }),
    step(
        Rule::MongodbMonitorFsync,
        "the lock is asked before whether the monitor is on",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| there.monitor.parameters.enabled |= there.is_locked,
                |there, was, _| {
                    there.monitor.parameters.enabled = was.monitor.parameters.enabled;
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorNotPrimary,
        "a secondary does passes, since 8.1 too",
        |server, now, op| {
            let asks = server.version.monitor_asks_for_primary();
            let at = told(&server.state, op);
            let is_turn = matches!(said(op), Op::Tick | Op::Wake(_));
            if asks && is_turn && server.state.primary != Some(at) {
                server.as_version(Version::new(8, 0, 4), now, op)
            } else {
                server.right(now, op)
            }
        },
    ),
    step(
        Rule::MongodbMonitorNotReadable,
        "a member that cannot be read does passes",
        |server, now, op| in_health(server, now, op, Health::Recovering),
    )
    .seen("SERVER-6911", "the monitor ran during an initial sync, and met an error each minute"),
    step(
        Rule::MongodbMonitorNotReadable,
        "a pass that cannot read has a sub-pass, from 6.1 on",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    let stays = Some(&Did::Stay(Guard::NotReadable));
                    if did(reply) == stays && there.version.deletes_in_batches() {
                        there.monitor.counted.sub_passes += 1;
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorNotReady,
        "an index deletes while it is being built",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| there.collections.iter_mut().for_each(|(_, there)| there.building.clear()),
                |there, was, _| {
                    let collections = there.collections.iter_mut().zip(&was.collections);
                    for ((_, there), (_, was)) in collections {
                        there.building = was.building.clone();
                    }
                },
            )
        },
    )
    .seen("SERVER-11628", "before 2.5.5 documents were deleted before the index was there"),
    step(
        Rule::MongodbMonitorBlocked,
        "the monitor deletes while users cannot write",
        |server, now, op| {
            let blocks = server.state.blocks_user_writes;
            if matches!(said(op), Op::Tick | Op::Wake(_)) {
                server.state.blocks_user_writes = false;
                let reply = server.right(now, op);
                server.state.blocks_user_writes = blocks;
                return reply;
            }
            server.right(now, op)
        },
    ),
    step(
        Rule::MongodbMonitorBlocked,
        "while users cannot write there are no passes at all",
        |server, now, op| {
            let blocks = server.state.blocks_user_writes;
            set_so(server, now, op, |parameters| parameters.enabled &= !blocks)
        },
    ),
    step(
        Rule::MongodbMonitorClockVisit,
        "a pass reads the clock once, before 8.1 too",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, _| {
                    if let Some(pass) = pass(there) {
                        pass.now.get_or_insert(now);
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorClockVisit,
        "each step of a visit reads the clock",
        |server, now, op| visiting(server, now, op, |visit, _| visit.now = now),
    ),
    step(
        Rule::MongodbMonitorClockPass,
        "each visit reads the clock, since 8.1 too",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |there| {
                    if let Some(pass) = pass(there) {
                        pass.now = pass.now.map(|_| now);
                    }
                },
                |_, _, _| {},
            )
        },
    ),
    step(
        Rule::MongodbMonitorCounters,
        "sub-passes are counted before there are any",
        |server, now, op| match server.right(now, op) {
            Reply::Counters(mut counters) => {
                counters.sub_passes.get_or_insert(0);
                Reply::Counters(counters)
            }
            right => right,
        },
    ),
    step(Rule::MongodbMonitorCounters, "what is counted outlives a restart", |server, now, op| {
        let at = told(&server.state, op);
        let counted = server.state.members.get(at).map(|there| there.monitor.counted);
        let reply = server.right(now, op);
        if let (Op::Restart { .. }, Some(counted)) = (said(op), counted) {
            server.state.members[at].monitor.counted = counted;
        }
        reply
    }),
    step(
        Rule::MongodbMonitorPassesFirst,
        "a pass counts when it is over, before 5.0 too",
        |server, now, op| count_passes(server, now, op, true),
    ),
    step(
        Rule::MongodbMonitorPassesLast,
        "a pass counts when it begins, from 5.0 on too",
        |server, now, op| count_passes(server, now, op, false),
    ),
    step(
        Rule::MongodbMonitorPassesLast,
        "an interrupted pass is not counted, from 5.0 on",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    let is_last = !there.version.passes_are_counted_first();
                    if did(reply) == Some(&Did::Interrupt) && is_last {
                        there.monitor.counted.passes -= 1;
                    }
                },
            )
        },
    ),
    step(Rule::MongodbMonitorSubPasses, "a sub-pass counts when it begins", |server, now, op| {
        work(
            server,
            now,
            op,
            |_| {},
            |there, was, _| {
                let counts = there.version.deletes_in_batches();
                let begun = u64::from(counts && has_begun(there, was));
                let ended = u64::from(counts && has_ended(there, was));
                let counted = &mut there.monitor.counted.sub_passes;
                *counted = *counted + begun - ended;
            },
        )
    }),
    step(
        Rule::MongodbMonitorSubPasses,
        "an interrupted sub-pass is not counted",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    let counts = there.version.deletes_in_batches();
                    if did(reply) == Some(&Did::Interrupt) && counts {
                        there.monitor.counted.sub_passes -= 1;
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorDeleted,
        "documents that were spared are counted as deleted",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    if let Some(Did::Commit { kept, .. }) = did(reply) {
                        there.monitor.counted.deleted += kept.len() as u64;
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorDeleted,
        "what is deleted counts at once, batch by batch",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, was, reply| {
                    let before = was.monitor.counted.deleted;
                    match did(reply) {
                        Some(Did::Commit { deleted, .. }) => {
                            there.monitor.counted.deleted = before + deleted.len() as u64;
                        }
                        Some(Did::Stage(_)) => there.monitor.counted.deleted = before,
                        _ => {}
                    }
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorInvalidSkips,
        "an index that is left without a word counts as invalid",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, _, reply| {
                    let is_left = did(reply) == Some(&Did::Abandon);
                    there.monitor.counted.invalid += u64::from(is_left);
                },
            )
        },
    ),
    step(
        Rule::MongodbMonitorInvalidSkips,
        "a turn counts one invalid skip, however many there were",
        |server, now, op| {
            work(
                server,
                now,
                op,
                |_| {},
                |there, was, _| {
                    let before = was.monitor.counted.invalid;
                    let counted = &mut there.monitor.counted.invalid;
                    *counted = (*counted).min(before + 1);
                },
            )
        },
    ),
];

/// A right step or turn, were a member that fares like this in good health.
fn in_health(server: &mut Server, now: Millis, op: &Op, fares: Health) -> Reply {
    work(
        server,
        now,
        op,
        |there| {
            if there.health == fares {
                there.health = Health::Up;
            }
        },
        |there, was, _| there.health = was.health,
    )
}

/// Counts passes at the other end, in the versions that count them at this one.
fn count_passes(server: &mut Server, now: Millis, op: &Op, first: bool) -> Reply {
    work(
        server,
        now,
        op,
        |_| {},
        |there, was, _| {
            if there.version.passes_are_counted_first() != first {
                return;
            }
            let begun = u64::from(has_begun(there, was));
            let ended = u64::from(has_ended(there, was));
            let (less, more) = if first { (begun, ended) } else { (ended, begun) };
            let counted = &mut there.monitor.counted.passes;
            *counted = *counted + more - less;
        },
    )
}
