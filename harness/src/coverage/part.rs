//! What holds the rules of one system?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use ttlspec_model::{Engine, Millis, Reference, Rule, Unsupported};

use super::{Elsewhere, Planted};
use crate::check;
use crate::mutants::Hunt;
use crate::seeded;
use crate::system::System;
use crate::vector::Vector;

/// The seed of the random steps.
const SEED: u64 = 1;
/// How many there are.
const STEPS: u64 = 200_000;
/// How many cases of each property are looked at.
const CASES: u64 = 200;

/// What holds the rules of one system.
pub(super) struct Part {
    /// How many vectors there are.
    pub vectors: usize,
    /// How many lines they have.
    pub lines: usize,
    /// How many of them rest on each rule.
    pub resting: BTreeMap<Rule, usize>,
    /// How many random steps were taken, questions not counted.
    pub steps: u64,
    /// How often each rule is cited in them.
    pub hits: BTreeMap<Rule, u64>,
    /// The worlds in whose every state a rule is checked as a law.
    pub worlds: BTreeMap<Rule, BTreeSet<&'static str>>,
    /// In the cases of how many properties a rule is cited.
    pub properties: BTreeMap<Rule, usize>,
    /// What became of each mutant, in the order of the book.
    pub mutants: Vec<Planted>,
    /// The rules that are not decided in the module of their chapter.
    pub elsewhere: &'static [Elsewhere],
}

impl Part {
    /// The part of a system that has these vectors.
    pub fn of<V: System>(vectors: &[Vector<V>]) -> Part {
        let open =
            |config: &V::Config| -> Box<dyn Engine<V>> { Box::new(Reference::<V>::open(config)) };
        let report = seeded::run::<V>(SEED, STEPS, open, |_| {});
        Part {
            vectors: vectors.len(),
            lines: vectors.iter().map(|vector| vector.steps.len()).sum(),
            resting: resting(vectors),
            steps: report.steps,
            hits: report.cited,
            worlds: worlds::<V>(),
            properties: properties::<V>(),
            mutants: mutants(vectors),
            elsewhere: V::elsewhere(),
        }
    }
}

fn resting<V: System>(vectors: &[Vector<V>]) -> BTreeMap<Rule, usize> {
    let mut resting = BTreeMap::new();
    for line in vectors.iter().flat_map(|vector| &vector.steps) {
        for rule in line.by.iter().collect::<BTreeSet<_>>() {
            *resting.entry(*rule).or_default() += 1;
        }
    }
    resting
}

fn worlds<V: System>() -> BTreeMap<Rule, BTreeSet<&'static str>> {
    let mut worlds: BTreeMap<Rule, BTreeSet<&str>> = BTreeMap::new();
    for claim in V::claims(false) {
        for law in &claim.laws {
            worlds.entry(law.rule()).or_default().insert(claim.world.name);
        }
    }
    worlds
}

fn properties<V: System>() -> BTreeMap<Rule, usize> {
    let mut reached = BTreeMap::new();
    for property in V::properties() {
        let cited = Arc::new(Mutex::new(BTreeSet::new()));
        let shared = cited.clone();
        let open = check::opener(move |config| Citing {
            reference: Reference::<V>::open(config),
            cited: shared.clone(),
        });
        property.run(SEED, CASES, &open);
        for rule in cited.lock().expect("no thread panics while it cites").iter() {
            *reached.entry(*rule).or_default() += 1;
        }
    }
    reached
}

fn mutants<V: System>(vectors: &[Vector<V>]) -> Vec<Planted> {
    let hunt = Hunt::new(vectors);
    let planted = V::mutants().into_iter().map(|mutant| Planted {
        name: mutant.name,
        rule: mutant.rule,
        seen: mutant.seen,
        fate: hunt.fate(&mutant),
    });
    planted.collect()
}

/// The specification, which tells what it cites.
struct Citing<V: System> {
    reference: Reference<V>,
    cited: Arc<Mutex<BTreeSet<Rule>>>,
}

impl<V: System> Engine<V> for Citing<V> {
    fn apply(&mut self, now: Millis, op: &V::Op) -> Result<V::Reply, Unsupported> {
        let ruling = self.reference.explain(now, op);
        self.cited.lock().expect("no thread panics while it cites").extend(ruling.because);
        Ok(ruling.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Fate;
    use crate::toy::Toy;

    #[test]
    fn the_part_of_another_system_is_gathered_in_the_same_way() {
        let part = Part::of::<Toy>(&[]);

        let whole = Rule::MongodbLifeWhole;
        let clock = Rule::MongodbLifeClock;
        assert!(part.steps >= STEPS);
        assert_eq!(part.hits.len(), 3, "the toy has three rules: {:?}", part.hits);
        assert_eq!(part.worlds[&clock], BTreeSet::from(["sum"]));
        assert_eq!(part.properties[&whole], 1);
        let rules: Vec<Rule> = part.mutants.iter().map(|mutant| mutant.rule).collect();
        assert_eq!(rules, [whole, clock]);
        let is_dead = |mutant: &Planted| matches!(mutant.fate, Fate::Killed(_));
        assert!(part.mutants.iter().all(is_dead), "{:?}", part.mutants);
    }
}
