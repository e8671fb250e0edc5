//! Which rules do the random steps, the laws and the properties reach?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use ttlspec_model::mongodb::{MongoDb, Op, Reply};
use ttlspec_model::{Engine, Millis, Reference, Rule, Unsupported};

use crate::properties::mongodb::PROPERTIES;
use crate::{check, seeded};

/// The seed of the random steps.
const SEED: u64 = 1;
/// How many there are.
const STEPS: u64 = 200_000;
/// How many cases of each property are looked at.
const CASES: u64 = 200;

/// How often each rule is cited in the random steps, and how many they are.
pub(super) fn hits() -> (BTreeMap<Rule, u64>, u64) {
    let open =
        |config: &_| -> Box<dyn Engine<MongoDb>> { Box::new(Reference::<MongoDb>::open(config)) };
    let report = seeded::run(SEED, STEPS, open, |_| {});
    (report.cited, report.steps)
}

/// The worlds in whose every state a rule is checked as a law.
pub(super) fn worlds() -> BTreeMap<Rule, Vec<String>> {
    let mut worlds: BTreeMap<Rule, BTreeSet<String>> = BTreeMap::new();
    for claim in check::claims(false) {
        for law in &claim.laws {
            worlds.entry(law.rule()).or_default().insert(claim.world.name.to_owned());
        }
    }
    worlds.into_iter().map(|(rule, worlds)| (rule, worlds.into_iter().collect())).collect()
}

/// In the cases of how many properties a rule is cited.
pub(super) fn properties() -> BTreeMap<Rule, usize> {
    let mut reached = BTreeMap::new();
    for property in PROPERTIES {
        let cited = Arc::new(Mutex::new(BTreeSet::new()));
        let shared = cited.clone();
        let open = check::opener(move |config| Citing {
            reference: Reference::<MongoDb>::open(config),
            cited: shared.clone(),
        });
        property.run(SEED, CASES, &open);
        for rule in cited.lock().expect("no thread panics while it cites").iter() {
            *reached.entry(*rule).or_default() += 1;
        }
    }
    reached
}

/// The specification, which tells what it cites.
struct Citing {
    reference: Reference<MongoDb>,
    cited: Arc<Mutex<BTreeSet<Rule>>>,
}

impl Engine<MongoDb> for Citing {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        let ruling = self.reference.explain(now, op);
        self.cited.lock().expect("no thread panics while it cites").extend(ruling.because);
        Ok(ruling.verdict)
    }
}
