//! Who finds a mutant?

use std::fmt;

use super::Mutant;
use crate::check::Verdict;
use crate::system::System;
use crate::vector::{self, Outcome, Run, Vector};
use crate::{lockstep, seeded};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was found out.
    Killed(Killed),
    /// It was not, in so many random steps and everything else that was sent.
    Survived {
        /// How many.
        steps: u64,
    },
}

/// How a mutant was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Killed {
    /// By whom.
    pub by: Killer,
    /// How many steps lead to the difference, that of the difference included.
    pub steps: usize,
    /// What it did: the difference, and the way to it.
    pub counterexample: String,
}

/// Who found a mutant out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Killer {
    /// The vector with this name.
    Vector(String),
    /// Random steps; what they found was made small.
    Lockstep {
        /// The seed that finds it at once.
        seed: u64,
        /// How many steps were tried before.
        tried: u64,
    },
    /// The claim of the model checks with this name.
    Check(String),
}

impl fmt::Display for Killer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Killer::Vector(name) => write!(f, "vector: {name}"),
            Killer::Lockstep { seed, tried } => write!(f, "lockstep: seed {seed}, {tried} tried"),
            Killer::Check(name) => write!(f, "check: {name}"),
        }
    }
}

/// What is sent after mutants: all vectors, those first that rest on the broken rule; then random
/// steps in lockstep; then the model checks.
pub struct Hunt<'a, V: System> {
    vectors: &'a [Vector<V>],
    seed: u64,
    steps: u64,
}

impl<'a, V: System> Hunt<'a, V> {
    /// Sends these vectors first, and after them what [`Hunt::lockstep`] says.
    pub fn new(vectors: &'a [Vector<V>]) -> Hunt<'a, V> {
        Hunt { vectors, seed: 1, steps: 200_000 }
    }

    /// Sends so many random steps from this seed after what the vectors do not find.
    pub fn lockstep(self, seed: u64, steps: u64) -> Hunt<'a, V> {
        Hunt { seed, steps, ..self }
    }

    /// What becomes of a mutant?
    pub fn fate(&self, mutant: &Mutant<V>) -> Fate {
        let killed = (self.by_vectors(mutant))
            .or_else(|| self.by_lockstep(mutant))
            .or_else(|| by_checks(mutant));
        killed.map_or(Fate::Survived { steps: self.steps }, Fate::Killed)
    }

    fn by_vectors(&self, mutant: &Mutant<V>) -> Option<Killed> {
        let rests =
            |vector: &Vector<V>| vector.steps.iter().any(|step| step.by.contains(&mutant.rule));
        let (first, then): (Vec<_>, Vec<_>) = self.vectors.iter().partition(|one| rests(one));
        first.into_iter().chain(then).find_map(|vector| by_vector(mutant, vector))
    }

    fn by_lockstep(&self, mutant: &Mutant<V>) -> Option<Killed> {
        let report = seeded::run(self.seed, self.steps, |config| mutant.open(config), |_| {});
        report.found.map(|found| Killed {
            by: Killer::Lockstep { seed: found.seed, tried: report.steps },
            steps: found.counterexample.difference.whole().steps.len(),
            counterexample: found.counterexample.to_string(),
        })
    }
}

fn by_vector<V: System>(mutant: &Mutant<V>, vector: &Vector<V>) -> Option<Killed> {
    let failed = |run: &Run| match &run.outcome {
        Outcome::Failed(failure) => Some(Killed {
            by: Killer::Vector(vector.name.clone()),
            steps: failure.step + 1,
            counterexample: run.to_string(),
        }),
        Outcome::Passed | Outcome::Skipped(_) => None,
    };
    let runs = vector::verify(vector, |config| mutant.open(config));
    let killed = runs.iter().find_map(failed);
    // A vector that the specification fails too says nothing of the mutant.
    let holds = |vector| vector::verify_spec(vector).iter().all(|run| failed(run).is_none());
    killed.filter(|_| holds(vector))
}

fn by_checks<V: System>(mutant: &Mutant<V>) -> Option<Killed> {
    V::claims(false).iter().find_map(|claim| {
        let outcome = claim.run(&mutant.opener, |_| {});
        let script =
            outcome.counterexample.filter(|_| matches!(outcome.verdict, Verdict::Differs(_)));
        let found = lockstep::check(&script?, |config| mutant.open(config)).err()?;
        Some(Killed {
            by: Killer::Check(outcome.name),
            steps: found.difference.whole().steps.len(),
            counterexample: found.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use ttlspec_model::mongodb::MongoDb;

    use super::*;

    #[test]
    fn whoever_is_sent_finds_a_mutant_that_sweeps_late() {
        let late =
            Mutant::<MongoDb>::named("sweeps one millisecond late").expect("it has this name");

        let by_lockstep = Hunt::new(&[]).fate(&late);
        let by_checks = Hunt::new(&[]).lockstep(1, 0).fate(&late);

        assert!(matches!(&by_lockstep, Fate::Killed(Killed { by: Killer::Lockstep { .. }, .. })));
        let Fate::Killed(Killed { by: Killer::Check(_), steps, .. }) = by_checks else {
            panic!("found {by_checks:?}")
        };
        assert_eq!(steps, 3);
    }
}
