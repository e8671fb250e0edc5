//! Which rules of MongoDB are not decided in the module of their chapter?

use ttlspec_model::Rule;

use super::Elsewhere;

/// The rules that another chapter's module decides, where their subject comes up.
pub(crate) const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere::new(Rule::MongodbLifeClock, "pass", "a pass is what reads the clock"),
    Elsewhere::new(
        Rule::MongodbIndexCollectionSeconds,
        "command",
        "`create` makes no index, and nothing is left of it but this refusal",
    ),
    Elsewhere::new(
        Rule::MongodbFilterObject,
        "index",
        "it is a test of a field's type, which stand in one place in the order of the fields",
    ),
    Elsewhere::new(
        Rule::MongodbChangeWrite,
        "visibility",
        "a write is decided with all other writes",
    ),
    Elsewhere::new(
        Rule::MongodbNanRefused,
        "index",
        "it is one of the tests of createIndexes, which stand in one place in the server's order",
    ),
    Elsewhere::new(Rule::MongodbNanStoredAsMax, "index", "createIndexes stores its value there"),
    Elsewhere::new(Rule::MongodbNanKept, "index", "createIndexes stores its value there"),
    Elsewhere::new(Rule::MongodbNanCollMod, "change", "collMod converts its number there"),
    Elsewhere::new(
        Rule::MongodbNanMaxIsNotNever,
        "pass",
        "only a visit shows that this value is used like any other",
    ),
    Elsewhere::new(Rule::MongodbMonitorNotReady, "command", "an index becomes ready by a command"),
    Elsewhere::new(Rule::MongodbMonitorClockVisit, "visit", "a visit is what reads the clock"),
    Elsewhere::new(
        Rule::MongodbMonitorClockPass,
        "visit",
        "a visit is what uses the clock of its pass",
    ),
    Elsewhere::new(Rule::MongodbMonitorSubPasses, "visit", "it is counted where a sub-pass ends"),
    Elsewhere::new(Rule::MongodbMonitorDeleted, "visit", "it is counted where a visit ends"),
    Elsewhere::new(Rule::MongodbMonitorInvalidSkips, "visit", "it is counted where a visit begins"),
    Elsewhere::new(
        Rule::MongodbReplicationPrimaryOnly,
        "visit",
        "it is one of the guards of a visit",
    ),
    Elsewhere::new(Rule::MongodbReplicationLocal, "visit", "it is one of the guards of a visit"),
    Elsewhere::new(Rule::MongodbReplicationWriteRefused, "machine", WHO_IS_TOLD),
    Elsewhere::new(Rule::MongodbReplicationRecovering, "machine", WHO_IS_TOLD),
    Elsewhere::new(Rule::MongodbReplicationStaleRead, "machine", WHO_IS_TOLD),
    Elsewhere::new(Rule::MongodbUpgradeRename, "command", "it is a command on a collection"),
    Elsewhere::new(Rule::MongodbUpgradeDown, "machine", WHO_IS_TOLD),
    Elsewhere::new(Rule::MongodbUpgradeFcvNan, "machine", WHO_IS_TOLD),
    Elsewhere::new(
        Rule::MongodbUpgradeApply,
        "replication",
        "it is met where an entry is taken over",
    ),
    Elsewhere::new(Rule::MongodbShardStale, "visit", "it is one of the guards of a visit"),
    Elsewhere::new(Rule::MongodbShardResharding, "visit", "it is one of the guards of a visit"),
];

const WHO_IS_TOLD: &str = "it is decided with who is told an operation";
