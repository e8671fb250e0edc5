//! Mutants of `mongodb.upgrade.*`.

use ttlspec_model::mongodb::index::SECONDS;
use ttlspec_model::mongodb::nan::REPAIRED;
use ttlspec_model::mongodb::number::is_nan;
use ttlspec_model::mongodb::{Health, Op, Reply, Version, code};
use ttlspec_model::{Millis, Rule};

use super::replication::{in_health, said, told};
use super::server::Server;
use super::{Mistake, step};

/// Like 5.0.11 to 5.0.13, but that it takes NaN over.
const TAKES_NAN: Version = Version::new(5, 0, 10);

pub(super) const MUTANTS: &[Mistake] = &[
    step(Rule::MongodbUpgradeRestart, "a restart keeps the counters", |server, now, op| {
        let member = told(&server.state, op);
        let counted = server.state.members.get(member).map(|there| there.monitor.counted);
        let reply = server.right(now, op);
        if let (Op::Restart { .. }, Some(counted)) = (said(op), counted) {
            server.state.members[member].monitor.counted = counted;
        }
        reply
    }),
    step(
        Rule::MongodbUpgradeRestart,
        "a restart keeps parameters that were set meanwhile",
        |server, now, op| {
            let member = told(&server.state, op);
            let set =
                server.state.members.get(member).map(|there| there.monitor.parameters.clone());
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Some(parameters)) = (said(op), set) {
                server.state.members[member].monitor.parameters = parameters;
            }
            reply
        },
    ),
    step(
        Rule::MongodbUpgradeRestart,
        "a pass goes on after a restart where it was",
        |server, now, op| {
            let member = told(&server.state, op);
            let activity =
                server.state.members.get(member).map(|there| there.monitor.activity.clone());
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Some(activity)) = (said(op), activity) {
                server.state.members[member].monitor.activity = activity;
            }
            reply
        },
    ),
    step(
        Rule::MongodbUpgradeRestart,
        "a primary that restarts is primary again at once",
        |server, now, op| {
            let primary = server.state.primary;
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Reply::Ok) = (said(op), &reply) {
                server.state.primary = primary;
            }
            reply
        },
    ),
    step(
        Rule::MongodbUpgradeRestart,
        "a new version repairs NaN when it starts",
        |server, now, op| {
            let member = told(&server.state, op);
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Some(there)) =
                (said(op), server.state.members.get_mut(member))
            {
                let collections = there.collections.iter_mut();
                for index in collections.flat_map(|(_, collection)| &mut collection.indexes) {
                    if index.seconds().is_some_and(is_nan) {
                        index.spec.0.insert(SECONDS, REPAIRED);
                    }
                }
            }
            reply
        },
    ),
    step(Rule::MongodbUpgradeRename, "a renamed collection has lost its TTL", |server, now, op| {
        let member = told(&server.state, op);
        let reply = server.right(now, op);
        if let (Op::RenameCollection(to), Reply::Ok) = (said(op), &reply)
            && let Some(there) = server.state.members[member].collection_mut(to)
        {
            there.indexes.iter_mut().for_each(|index| drop(index.spec.0.remove(SECONDS)));
        }
        reply
    }),
    step(
        Rule::MongodbUpgradeRename,
        "a collection cannot be renamed to what is there",
        |server, now, op| {
            let member = told(&server.state, op);
            match said(op) {
                Op::RenameCollection(to)
                    if server.would(now, op) == Reply::Ok
                        && server.state.members[member].collection(to).is_some() =>
                {
                    Reply::Error(code::NAMESPACE_EXISTS)
                }
                _ => server.right(now, op),
            }
        },
    ),
    step(
        Rule::MongodbUpgradeStartup,
        "5.0.11 to 5.0.13 start on the NaN of 4.4",
        |server, now, op| {
            let member = told(&server.state, op);
            match server.right(now, op) {
                Reply::Fatal(code::FATAL_AT_STARTUP) if is_restart(op) => {
                    server.state.members[member].health = Health::Up;
                    Reply::Ok
                }
                right => right,
            }
        },
    )
    .seen("SERVER-68522", "before 5.0.11 a server started on it, and deleted everything"),
    step(
        Rule::MongodbUpgradeStartup,
        "5.0.11 to 5.0.13 start on no NaN at all",
        |server, now, op| {
            let (member, fcv) = (told(&server.state, op), server.state.fcv);
            if is_restart(op) {
                server.state.fcv = Some((4, 4));
            }
            let reply = server.right(now, op);
            if is_restart(op) && server.state.members.get(member).is_some() {
                server.state.fcv = fcv;
            }
            reply
        },
    ),
    step(
        Rule::MongodbUpgradeDown,
        "a member that is down still answers what it has",
        |server, now, op| {
            let member = told(&server.state, op);
            let is_down = |health| matches!(health, Health::Down(_));
            let there = server.state.members.get(member);
            if matches!(said(op), Op::Find | Op::ListIndexes | Op::Insert(_))
                && there.is_some_and(|there| is_down(there.health))
            {
                in_health(server, member, now, op)
            } else {
                server.right(now, op)
            }
        },
    ),
    step(
        Rule::MongodbUpgradeApply,
        "5.0.11 to 5.0.13 take NaN over from the oplog of 4.4",
        |server, now, op| {
            let is_apply = matches!(said(op), Op::Apply(_));
            if is_apply { taking_nan(server, now, op) } else { server.right(now, op) }
        },
    )
    .seen("SERVER-68522", "before 5.0.11 a member of a mixed set took it over"),
    step(
        Rule::MongodbUpgradeApply,
        "the entry that ended a member is passed over when it starts again",
        |server, now, op| {
            let member = told(&server.state, op);
            let skips = is_restart(op)
                && server
                    .state
                    .members
                    .get(member)
                    .is_some_and(|there| there.health == Health::Down(code::FATAL_AT_APPLY));
            let reply = server.right(now, op);
            if skips && let Some(primary) = server.state.primary {
                let done = server.state.members[member].log.len();
                let next = server.state.members[primary].log.get(done).cloned();
                server.state.members[member].log.extend(next);
            }
            reply
        },
    ),
    step(
        Rule::MongodbUpgradeFcv,
        "any feature compatibility version can be set",
        |server, now, op| match (server.right(now, op), said(op)) {
            (Reply::Error(code::BAD_VALUE), Op::SetFcv(major, minor)) => {
                server.state.keep_fcv((*major, *minor));
                Reply::Ok
            }
            (right, _) => right,
        },
    ),
    step(
        Rule::MongodbUpgradeFcv,
        "new binaries bring their feature compatibility version with them",
        |server, now, op| {
            if is_restart(op) {
                server.state.fcv = None;
                if let Op::Restart { version, .. } = said(op) {
                    server.state.fcv = Some((version.major, version.minor));
                }
            }
            server.right(now, op)
        },
    ),
    step(
        Rule::MongodbUpgradeFcvNan,
        "under feature compatibility version 4.4 an index with NaN can be made",
        |server, now, op| match said(op) {
            Op::CreateIndex(_) | Op::StartBuild(_) => taking_nan(server, now, op),
            _ => server.right(now, op),
        },
    )
    .seen("SERVER-68522", "before 5.0.11 it could be made under 4.4 as well"),
    step(
        Rule::MongodbUpgradeFcvNan,
        "5.0.11 to 5.0.13 refuse NaN under any feature compatibility version",
        |server, now, op| match said(op) {
            Op::CreateIndex(spec)
                if server
                    .state
                    .members
                    .get(told(&server.state, op))
                    .is_some_and(|there| there.version.nan_from_before_is_fatal())
                    && spec.get(SECONDS).is_some_and(is_nan) =>
            {
                Reply::Error(code::CANNOT_CREATE_INDEX)
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbUpgradeFcvDowngrade,
        "5.0.11 to 5.0.13 go back to 4.4 with NaN in the catalog",
        |server, now, op| {
            let is_set = matches!(said(op), Op::SetFcv(..));
            if is_set { taking_nan(server, now, op) } else { server.right(now, op) }
        },
    )
    .seen("SERVER-68522", "before 5.0.11 nothing kept NaN from coming back to 4.4"),
];

fn is_restart(op: &Op) -> bool {
    matches!(said(op), Op::Restart { .. })
}

/// The right step, were the member that is told of a version that takes NaN over.
fn taking_nan(server: &mut Server, now: Millis, op: &Op) -> Reply {
    let member = told(&server.state, op);
    let version = server.state.members.get(member).map(|there| there.version);
    let Some(version) = version.filter(|version| version.nan_from_before_is_fatal()) else {
        return server.right(now, op);
    };
    server.state.members[member].version = TAKES_NAN;
    let reply = server.right(now, op);
    server.state.members[member].version = version;
    reply
}
