//! What is claimed of MongoDB?

use ttlspec_model::mongodb::{Config, MongoDb, Version};

use super::laws::*;
use super::{Claim, Law};
use crate::alphabet::Alphabet;

/// The same claim at several versions.
struct Row {
    world: &'static str,
    versions: &'static [Version],
    /// How many steps far, and how many if there is more time.
    steps: [usize; 2],
    laws: &'static [&'static Law<MongoDb>],
}

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
    },
    Row {
        world: "two-indexes",
        versions: &[v(7, 0, 14), v(4, 0, 0)],
        steps: [8, 14],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &ORDER, &ANY_INDEX, &CLOCK, &SAME_NAME],
    },
    Row {
        world: "filter",
        versions: &[v(7, 0, 14), v(5, 0, 14)],
        steps: [7, 10],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &OUTSIDE],
    },
    Row {
        world: "flags",
        versions: &[v(7, 0, 14), v(4, 4, 0)],
        steps: [6, 14],
        laws: &[&BEFORE, &FROM, &HIDDEN, &SPARSE, &UNIQUE, &DIRECTION, &KEY_TAKEN, &SAME_NAME],
    },
    Row {
        world: "flags",
        versions: &[v(4, 2, 0)],
        steps: [6, 14],
        laws: &[&BEFORE, &FROM, &SPARSE, &UNIQUE, &DIRECTION, &KEY_TAKEN, &SAME_NAME],
    },
    Row {
        world: "change",
        versions: &[v(7, 0, 14), v(8, 1, 0), v(6, 0, 0), v(5, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &PLAIN, &CLOCK],
    },
    Row {
        world: "change",
        versions: &[v(5, 0, 14), v(4, 4, 0), v(4, 2, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &PLAIN, &CLOCK, &NEGATIVE],
    },
    Row {
        world: "seconds",
        versions: &[v(8, 1, 0), v(7, 3, 0), v(7, 0, 14), v(6, 1, 0), v(6, 0, 2), v(5, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK, &INT32],
    },
    Row {
        world: "seconds",
        versions: &[v(6, 0, 0), v(5, 1, 0), v(5, 0, 0), v(4, 4, 0), v(4, 2, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK],
    },
    Row {
        world: "seconds",
        versions: &[v(4, 0, 0)],
        steps: [ALL, ALL],
        laws: &[&BEFORE, &FROM, &ALL_AT_ONCE, &CLOCK, &NEGATIVE],
    },
    Row {
        world: "nan",
        versions: &[v(4, 0, 0), v(4, 2, 22), v(4, 4, 15)],
        steps: [ALL, ALL],
        laws: &[&NAN_OVERFLOWS, &BEFORE, &FROM],
    },
    Row {
        world: "nan",
        versions: &[v(4, 2, 23), v(4, 4, 16)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &BEFORE, &FROM],
    },
    Row {
        world: "nan",
        versions: &[v(5, 0, 0), v(5, 0, 13), v(5, 1, 0), v(6, 0, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_ZERO, &BEFORE, &FROM],
    },
    Row {
        world: "nan",
        versions: &[v(5, 0, 14), v(6, 0, 2), v(6, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &NAN_STORED_AS_MAX, &BEFORE, &FROM],
    },
    Row {
        world: "nan",
        versions: &[v(7, 0, 14), v(7, 3, 0), v(8, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&NAN_SKIPPED, &NAN_REFUSED, &BEFORE, &FROM],
    },
    Row {
        world: "kinds",
        versions: &[v(5, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&CAPPED_INERT, &VIEW, &METHOD, &ALL_AT_ONCE],
    },
    Row {
        world: "kinds",
        versions: &[v(7, 0, 14)],
        steps: [ALL, ALL],
        laws: &[&VIEW, &METHOD, &ALL_AT_ONCE],
    },
    Row {
        world: "kinds",
        versions: &[v(7, 1, 0), v(8, 1, 0)],
        steps: [ALL, ALL],
        laws: &[&CAPPED_WORKS, &VIEW, &METHOD, &ALL_AT_ONCE],
    },
    Row {
        world: "paths",
        versions: &[v(7, 0, 14)],
        steps: [5, 8],
        laws: &[&ALL_AT_ONCE, &ANY_INDEX, &WHOLE, &CLOCK, &UNTIL_PASS],
    },
    Row {
        world: "ends",
        versions: &[v(7, 0, 14), v(4, 0, 0)],
        steps: [5, 8],
        laws: &[&ALL_AT_ONCE, &WHOLE, &CLOCK, &UNTIL_PASS],
    },
];

/// All claims, at small bounds or `deep` ones.
pub fn claims(deep: bool) -> Vec<Claim<MongoDb>> {
    let rows = CLAIMS.iter().flat_map(|row| row.versions.iter().map(move |version| (row, version)));
    rows.map(|(row, version)| {
        let worlds = MongoDb::worlds(&Config { version: *version }).into_iter();
        let mut named = worlds.filter(|world| world.name == row.world);
        Claim {
            name: format!("{} {version}", row.world),
            world: named.next().expect("a claim names a world"),
            steps: row.steps[usize::from(deep)],
            laws: row.laws.to_vec(),
        }
    })
    .collect()
}
