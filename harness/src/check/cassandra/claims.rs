//! What is claimed of Cassandra?

use ttlspec_model::Rule;
use ttlspec_model::cassandra::words::{Format, Overflow};
use ttlspec_model::cassandra::{Cassandra, Config, Version};

use super::laws::*;
use crate::alphabet::World;
use crate::alphabet::cassandra::named;
use crate::check::{Claim, Hazard, Law};
use crate::notation::cassandra::{TOMBSTONE_FAILURE_THRESHOLD, table_of_recordings};

/// One claim.
struct Row {
    /// Its name.
    name: &'static str,
    world: &'static str,
    without: &'static [Rule],
    /// How many steps far, and how many if there is more time.
    steps: [usize; 2],
    laws: &'static [&'static Law<Cassandra>],
    /// What must be found to happen.
    hazards: &'static [&'static Hazard<Cassandra>],
}

/// The world without the faults that change what is shown.
const FAULTS: &[Rule] = &[Rule::CassandraFaultMinusOne, Rule::CassandraFaultVanish];

/// How far it is looked for what happens without a guard of the purge.
const WITHOUT_GUARD: [usize; 2] = [7, 8];

const BOTH: &[&Law<Cassandra>] = &[&FLUSH, &PURGE];

const fn whole(name: &'static str, world: &'static str, steps: [usize; 2]) -> Row {
    Row { name, world, without: FAULTS, steps, laws: BOTH, hazards: &[] }
}

const CLAIMS: &[Row] = &[
    whole("purge", "purge", [7, 9]),
    whole("expiry", "expiry", [7, 10]),
    whole("memtable", "memtable", [7, 9]),
    whole("whole", "whole", [7, 9]),
    whole("garbage", "garbage", [7, 9]),
    whole("holders", "holders", [7, 9]),
    whole("collections", "collections", [7, 9]),
    whole("ranges", "ranges", [7, 9]),
    Row {
        name: "memtable, with the server's faults",
        world: "memtable",
        without: &[],
        steps: [6, 7],
        laws: &[],
        hazards: &[&MINUS_ONE],
    },
    Row {
        name: "expiry, with the server's faults",
        world: "expiry",
        without: &[],
        steps: [6, 7],
        laws: &[],
        hazards: &[&VANISH],
    },
    Row {
        name: "purge without overlaps",
        world: "purge",
        without: &[Rule::CassandraPurgeOverlap],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&OVERLAP],
    },
    Row {
        name: "purge without memtables",
        world: "memtable",
        without: &[Rule::CassandraPurgeMemtable],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&MEMTABLE],
    },
    Row {
        name: "purge at equal timestamps",
        world: "purge",
        without: &[Rule::CassandraPurgeStrict],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&STRICT],
    },
    Row {
        name: "purge within one holder",
        world: "holders",
        without: &[Rule::CassandraPurgeOtherHolder],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&OTHER_HOLDER],
    },
    Row {
        name: "purge before the merge",
        world: "purge",
        without: &[Rule::CassandraPurgeMergeFirst],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&MERGE_FIRST],
    },
    Row {
        name: "drop whatever is older",
        world: "whole",
        without: &[Rule::CassandraCompactionDropBlocked],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&DROP_BLOCKED],
    },
    Row {
        name: "drop whatever a memtable holds",
        world: "whole",
        without: &[Rule::CassandraCompactionDropMemtable],
        steps: WITHOUT_GUARD,
        laws: &[],
        hazards: &[&DROP_MEMTABLE],
    },
];

/// All claims, at small bounds or deep ones.
pub(crate) fn claims(deep: bool) -> Vec<Claim<Cassandra>> {
    let versions = [Version::new(5, 0, 6), Version::new(4, 1, 10)];
    let at = |row: &Row, version: Version| {
        let mut without: Vec<Rule> = row.without.to_vec();
        if !row.without.is_empty() {
            without.extend(FAULTS);
        }
        without.sort();
        without.dedup();
        let config = Config {
            version,
            format: Format::Nb,
            overflow: Overflow::Reject,
            tombstone_failure_threshold: TOMBSTONE_FAILURE_THRESHOLD,
            table: table_of_recordings(&["c"]),
            without,
        };
        Claim {
            name: format!("{} {version}", row.name),
            world: World { name: row.name, ..named(row.world, &config) },
            steps: row.steps[usize::from(deep)],
            laws: row.laws.to_vec(),
            hazards: row.hazards.to_vec(),
            guards: Vec::new(),
        }
    };
    CLAIMS.iter().flat_map(|row| versions.map(|version| at(row, version))).collect()
}
