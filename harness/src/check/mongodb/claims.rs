//! What is claimed of MongoDB?

use ttlspec_model::mongodb::{Config, MongoDb, Version};

use super::laws::*;
use crate::alphabet::Alphabet;
use crate::check::{Claim, Hazard, Law};

/// The same claim at several versions.
struct Row {
    world: &'static str,
    versions: &'static [Version],
    /// How many steps far, and how many if there is more time.
    steps: [usize; 2],
    laws: &'static [&'static Law<MongoDb>],
    /// What must be found to happen, and what must never happen.
    hazards: [&'static [&'static Hazard<MongoDb>]; 2],
}

/// Nothing bad is looked for.
const NONE: [&[&Hazard<MongoDb>]; 2] = [&[], &[]];

const fn v(major: u16, minor: u16, patch: u16) -> Version {
    Version::new(major, minor, patch)
}

/// Further than any state of a small world is away: all of its states.
const ALL: usize = 30;

const CLAIMS: &[Row] = &[
    Row {
        world: "threshold",
        versions: &[v(7, 0, 14)],
        steps: [8, 14],
        laws: &[
            &BEFORE,
            &FROM,
            &ALL_AT_ONCE,
            &ORDER,
            &TYPE,
            &EARLIEST,
            &WHOLE,
            &CLOCK,
            &UNTIL_PASS,
            &ID_TAKEN,
        ],
        hazards: NONE,
    },
    Row {
        world: "two-indexes",
        versions: &[v(7, 0, 14), v(4, 0, 0)],
        steps: [8, 14],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &ORDER, &ANY_INDEX, &CLOCK, &SAME_NAME],
        hazards: NONE,
    },
    Row {
        world: "filter",
        versions: &[v(7, 0, 14), v(5, 0, 14)],
        steps: [7, 10],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &OUTSIDE],
        hazards: NONE,
    },
    Row {
        world: "flags",
        versions: &[v(7, 0, 14), v(4, 4, 0)],
        steps: [6, 14],
        laws: &[&BEFORE, &FROM, &HIDDEN, &SPARSE, &UNIQUE, &DIRECTION, &KEY_TAKEN, &SAME_NAME],
        hazards: NONE,
    },
    Row {
        world: "flags",
        versions: &[v(4, 2, 0)],
        steps: [6, 14],
        laws: &[&BEFORE, &FROM, &SPARSE, &UNIQUE, &DIRECTION, &KEY_TAKEN, &SAME_NAME],
        hazards: NONE,
    },
    Row {
        world: "change",
        versions: &[v(7, 0, 14), v(8, 1, 0), v(6, 0, 0), v(5, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &PLAIN, &CLOCK],
        hazards: NONE,
    },
    Row {
        world: "change",
        versions: &[v(5, 0, 14), v(4, 4, 0), v(4, 2, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &PLAIN, &CLOCK, &NEGATIVE],
        hazards: NONE,
    },
    Row {
        world: "seconds",
        versions: &[v(8, 1, 0), v(7, 3, 0), v(7, 0, 14), v(6, 1, 0), v(6, 0, 2), v(5, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK, &INT32],
        hazards: NONE,
    },
    Row {
        world: "seconds",
        versions: &[v(6, 0, 0), v(5, 1, 0), v(5, 0, 0), v(4, 4, 0), v(4, 2, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK],
        hazards: NONE,
    },
    Row {
        world: "seconds",
        versions: &[v(4, 0, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK, &NEGATIVE],
        hazards: NONE,
    },
    Row {
        world: "nan",
        versions: &[v(4, 0, 0), v(4, 2, 22), v(4, 4, 15)],
        steps: [ALL, ALL],
        laws: &[&NAN_OVERFLOWS, &BEFORE, &FROM],
        hazards: NONE,
    },
    Row {
        world: "nan",
        versions: &[v(4, 2, 23), v(4, 4, 16)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &BEFORE, &FROM],
        hazards: NONE,
    },
    Row {
        world: "nan",
        versions: &[v(5, 0, 0), v(5, 0, 13), v(5, 1, 0), v(6, 0, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_ZERO, &BEFORE, &FROM],
        hazards: NONE,
    },
    Row {
        world: "nan",
        versions: &[v(5, 0, 14), v(6, 0, 2), v(6, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &NAN_STORED_AS_MAX, &BEFORE, &FROM],
        hazards: NONE,
    },
    Row {
        world: "nan",
        versions: &[v(7, 0, 14), v(7, 3, 0), v(8, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &NAN_REFUSED, &BEFORE, &FROM],
        hazards: NONE,
    },
    Row {
        world: "kinds",
        versions: &[v(5, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&CAPPED_INERT, &VIEW, &METHOD, &ALL_AT_ONCE],
        hazards: NONE,
    },
    Row {
        world: "kinds",
        versions: &[v(7, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&VIEW, &METHOD, &ALL_AT_ONCE],
        hazards: NONE,
    },
    Row {
        world: "kinds",
        versions: &[v(7, 1, 0), v(8, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&CAPPED_WORKS, &VIEW, &METHOD, &ALL_AT_ONCE],
        hazards: NONE,
    },
    Row {
        world: "paths",
        versions: &[v(7, 0, 14)],
        steps: [5, 8],
        laws: &[&ALL_AT_ONCE, &ANY_INDEX, &WHOLE, &CLOCK, &UNTIL_PASS],
        hazards: NONE,
    },
    Row {
        world: "ends",
        versions: &[v(7, 0, 14), v(4, 0, 0)],
        steps: [5, 8],
        laws: &[&ALL_AT_ONCE, &WHOLE, &CLOCK, &UNTIL_PASS],
        hazards: NONE,
    },
    Row {
        world: "clustered",
        versions: &[v(7, 0, 14), v(8, 1, 0)],
        steps: [6, 9],
        laws: &[&CLUSTERED, &ALL_AT_ONCE, &CLOCK],
        hazards: NONE,
    },
    Row {
        world: "buckets",
        versions: &[v(8, 1, 0), v(7, 0, 14)],
        steps: [5, 8],
        laws: &[&BUCKET, &MEASUREMENT, &ALL_AT_ONCE, &CLOCK],
        hazards: NONE,
    },
    Row {
        world: "bucket-ends",
        versions: &[v(7, 0, 14)],
        steps: [5, 7],
        laws: &[&BUCKET_OFF, &ALL_AT_ONCE],
        hazards: NONE,
    },
    Row {
        world: "bucket-ends",
        versions: &[v(8, 1, 0)],
        steps: [5, 7],
        laws: &[&TWO_SCANS, &ALL_AT_ONCE],
        hazards: NONE,
    },
    Row {
        world: "visit",
        versions: &[v(7, 0, 14)],
        steps: [6, 8],
        laws: &[&CLOCK_VISIT, &NONE_LEFT, &OFF_AND_ON, &COUNTERS, &DELETED],
        hazards: [&[&FILTER_RACE, &THRESHOLD_KEPT, &UNCOUNTED], &[]],
    },
    Row {
        world: "visit",
        versions: &[v(8, 1, 0)],
        steps: [6, 8],
        laws: &[&CLOCK_PASS, &NONE_LEFT, &OFF_AND_ON, &COUNTERS, &DELETED],
        hazards: [&[&FILTER_RACE, &THRESHOLD_KEPT, &UNCOUNTED], &[]],
    },
    Row {
        world: "visit",
        versions: &[v(6, 0, 2), v(4, 0, 0)],
        steps: [7, 8],
        laws: &[&CLOCK_VISIT, &NONE_LEFT_SINGLY, &OFF_AND_ON, &COUNTERS, &DELETED],
        hazards: [&[&FILTER_RACE, &THRESHOLD_KEPT, &UNCOUNTED], &[]],
    },
    Row {
        world: "rounds",
        versions: &[v(6, 1, 0), v(7, 0, 14), v(8, 1, 0)],
        steps: [10, 13],
        laws: &[&EACH_ITS_VISIT, &NONE_LEFT, &COUNTERS],
        hazards: [&[], &[&STARVATION]],
    },
    Row {
        world: "rounds",
        versions: &[v(6, 0, 2), v(5, 0, 14), v(4, 0, 0)],
        steps: [10, 13],
        laws: &[&NONE_LEFT_SINGLY, &COUNTERS, &DELETED],
        hazards: [&[&STARVATION], &[]],
    },
    Row {
        world: "switches",
        versions: &[v(7, 0, 14), v(6, 0, 2)],
        steps: [5, 7],
        laws: &[&OFF, &FSYNC, &BLOCKED, &RESHARDING, &ORPHANS],
        hazards: NONE,
    },
    Row {
        world: "switches",
        versions: &[v(5, 0, 14)],
        steps: [5, 7],
        laws: &[&OFF, &FSYNC, &RESHARDING, &ORPHANS_DELETED],
        hazards: NONE,
    },
    Row {
        world: "members",
        versions: &[v(7, 0, 14), v(5, 0, 14)],
        steps: [6, 8],
        laws: &[&OWN_CLOCK, &PRIMARY_ONLY, &LOCAL, &FOLLOWS, &ROLLBACK],
        hazards: NONE,
    },
    Row {
        world: "members",
        versions: &[v(8, 1, 0)],
        steps: [6, 8],
        laws: &[&OWN_CLOCK, &PRIMARY_ONLY, &NOT_PRIMARY, &FOLLOWS, &ROLLBACK],
        hazards: NONE,
    },
    Row {
        world: "split",
        versions: &[v(4, 4, 16)],
        steps: [5, 7],
        laws: &[&FOLLOWS],
        hazards: [&[], &[&NUMBERS_DIFFER, &FRACTION_DELETES, &ANOTHER_KEEPS]],
    },
    Row {
        world: "split",
        versions: &[v(5, 0, 0)],
        steps: [5, 7],
        laws: &[&FOLLOWS],
        hazards: [&[&NUMBERS_DIFFER], &[&FRACTION_DELETES, &ANOTHER_KEEPS]],
    },
    Row {
        world: "split",
        versions: &[v(5, 0, 14), v(7, 0, 14)],
        steps: [5, 7],
        laws: &[&FOLLOWS, &REPAIR],
        hazards: [&[&NUMBERS_DIFFER, &ANOTHER_KEEPS], &[&FRACTION_DELETES]],
    },
    Row {
        world: "split",
        versions: &[v(8, 1, 0)],
        steps: [5, 7],
        laws: &[&FOLLOWS, &REPAIR, &REPAIR_FRACTION],
        hazards: [&[&NUMBERS_DIFFER, &ANOTHER_KEEPS], &[&FRACTION_DELETES]],
    },
    Row {
        world: "nan-upgrade",
        versions: &[v(5, 0, 0), v(5, 0, 10), v(6, 0, 0)],
        steps: [ALL, ALL],
        laws: &[],
        hazards: [&[&UPGRADE], &[]],
    },
    Row {
        world: "nan-upgrade",
        versions: &[v(5, 0, 13), v(5, 0, 14), v(6, 0, 2)],
        steps: [ALL, ALL],
        laws: &[],
        hazards: [&[], &[&UPGRADE]],
    },
    Row {
        world: "nan-set",
        versions: &[v(5, 0, 0)],
        steps: [5, 7],
        laws: &[],
        hazards: [&[&NEWER_MEMBER, &OLDER_MEMBER, &ANOTHER_KEEPS], &[]],
    },
    Row {
        world: "nan-set",
        versions: &[v(5, 0, 13), v(5, 0, 14)],
        steps: [5, 7],
        laws: &[],
        hazards: [&[], &[&NEWER_MEMBER, &OLDER_MEMBER, &ANOTHER_KEEPS]],
    },
];

/// All claims, at small bounds or `deep` ones.
pub(crate) fn claims(deep: bool) -> Vec<Claim<MongoDb>> {
    let rows = CLAIMS.iter().flat_map(|row| row.versions.iter().map(move |version| (row, version)));
    rows.map(|(row, version)| {
        let worlds = MongoDb::worlds(&Config { version: *version }).into_iter();
        let mut named = worlds.filter(|world| world.name == row.world);
        Claim {
            name: format!("{} {version}", row.world),
            world: named.next().expect("a claim names a world"),
            steps: row.steps[usize::from(deep)],
            laws: row.laws.to_vec(),
            hazards: row.hazards[0].to_vec(),
            guards: row.hazards[1].to_vec(),
        }
    })
    .collect()
}
