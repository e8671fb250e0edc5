//! What would the releases between two versions delete, while they run on the way?

use bson::Document;
use ttlspec_model::mongodb::index::Kind;
use ttlspec_model::mongodb::nan::Arrival;
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::version::Version;

use super::{Catalog, Change, Question, Sides, Tally};
use crate::dump::Data;

/// Patches of one release series that treat the indexes of a collection alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The first of them.
    pub first: Version,
    /// The last of them; `None` where all later ones are alike.
    pub last: Option<Version>,
    /// What is deleted sooner than before the change: at the first pass, and later.
    pub sooner: (u64, u64),
    /// How many of these only once a new primary has repaired the catalog.
    pub repaired: u64,
    /// They do not start on this catalog, and end with this assertion.
    pub fatal: Option<i32>,
}

/// No series has had more patches.
const MOST_PATCHES: u16 = 99;

/// Each series between, its patches parted where they treat the indexes differently.
pub fn steps(
    question: &Question,
    namespace: &str,
    kind: Kind,
    specs: &[Document],
    data: &Data,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for series in &question.between {
        let mut last: Option<(Vec<Acts>, Question)> = None;
        for patch in series.patch..=MOST_PATCHES {
            let version = Version { patch, ..*series };
            let there = Question { to: version, change: Change::Replaced, ..question.clone() };
            let sides = Sides::new(&there, namespace, kind, specs);
            let acts = acts(&sides);
            if last.as_ref().is_some_and(|(before, _)| *before == acts) {
                continue;
            }
            if let Some(Step { last, .. }) = steps.last_mut()
                && patch > series.patch
            {
                *last = Some(Version { patch: patch - 1, ..*series });
            }
            // What cannot be read was said before.
            if let Ok(tally) = Tally::count(&there, &sides, data) {
                steps.push(step(version, &sides, &tally));
            }
            last = Some((acts, there));
        }
    }
    steps
}

/// How a version treats one index: how long dates live, as it is found and as it is repaired.
type Acts = (Use, Option<Use>, Option<i32>);

fn acts(sides: &Sides) -> Vec<Acts> {
    let of = |pair: &super::Pair| {
        let repaired = pair.elected.as_ref().map(|(ttl, _)| ttl.usable.verdict);
        (pair.after.usable.verdict, repaired, fatal(&pair.after.arrival.verdict))
    };
    sides.pairs.iter().map(of).collect()
}

fn fatal(arrival: &Arrival) -> Option<i32> {
    match arrival {
        Arrival::Fatal(code) => Some(*code),
        Arrival::Creation(_) => None,
    }
}

fn step(first: Version, sides: &Sides, tally: &Tally) -> Step {
    let (left, repaired) = (tally.sooner_by(Catalog::Left), tally.sooner_by(Catalog::Repaired));
    let fatal = sides.pairs.iter().find_map(|pair| fatal(&pair.after.arrival.verdict));
    Step {
        first,
        last: None,
        sooner: (left.0 + repaired.0, left.1 + repaired.1),
        repaired: repaired.0 + repaired.1,
        fatal,
    }
}
