//! Does an engine differ anywhere in many scripts?
//!
//! Scripts are drawn from the alphabet by a seed, and walked in lockstep until one differs. Each
//! script has a seed of its own, and a run whose seed is that of a script begins with that script:
//! one number brings a difference back.

use std::collections::BTreeMap;
use std::fmt;

use ttlspec_model::{Engine, Rule};

use crate::alphabet::{Alphabet, Drawing};
use crate::lockstep::{Counterexample, Difference, Lockstep, Open, Stop, shrink};
use crate::notation::Notation;
use crate::values::{Seeded, Source};

/// What many scripts came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<V: Alphabet> {
    /// The seed of the run.
    pub seed: u64,
    /// How many scripts were begun.
    pub scripts: u64,
    /// How many operations were answered alike, the questions not counted.
    pub steps: u64,
    /// What the engine does not have, with how many scripts ended there.
    pub skipped: BTreeMap<String, u64>,
    /// How often the specification cited which rule for an operation that was answered alike.
    pub cited: BTreeMap<Rule, u64>,
    /// The first difference, where there was one.
    pub found: Option<Found<V>>,
}

/// A difference, and how to find it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<V: Alphabet> {
    /// The seed of its script. A run with this seed begins with it.
    pub seed: u64,
    /// The difference, made small.
    pub counterexample: Counterexample<V>,
}

impl<V: Alphabet> Report<V> {
    /// Was something answered, and all of it alike? Where all was skipped, nothing was shown.
    pub fn is_success(&self) -> bool {
        self.found.is_none() && self.steps > 0
    }
}

/// Walks scripts until `steps` operations were tried or the engine differs. `progress` is told
/// after each script how many were tried.
pub fn run<V: Alphabet>(
    seed: u64,
    steps: u64,
    mut open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>,
    mut progress: impl FnMut(u64),
) -> Report<V> {
    let mut report = Report {
        seed,
        scripts: 0,
        steps: 0,
        skipped: BTreeMap::new(),
        cited: BTreeMap::new(),
        found: None,
    };
    let mut cited = vec![0_u64; Rule::ALL.len()];
    let mut seeds = Seeded::new(seed);
    let mut script_seed = seed;
    let mut tried = 0;
    while tried < steps && report.found.is_none() {
        report.scripts += 1;
        let (alike, stop) = script::<V>(script_seed, &mut open, &mut cited);
        report.steps += alike;
        tried += alike + u64::from(stop.is_some());
        match stop {
            None => {}
            Some(Stop::Skipped(reason)) => *report.skipped.entry(reason.0).or_default() += 1,
            Some(Stop::Differs(difference)) => {
                report.found = Some(found(script_seed, *difference, &mut open));
            }
        }
        progress(tried);
        script_seed = seeds.bits();
    }
    let counted = Rule::ALL.iter().copied().zip(cited);
    report.cited = counted.filter(|(_, count)| *count > 0).collect();
    report
}

/// Walks the script of one seed: how many operations were answered alike, and why it ended early.
fn script<V: Alphabet>(
    seed: u64,
    open: &mut Open<'_, V>,
    cited: &mut [u64],
) -> (u64, Option<Stop<V>>) {
    let mut source = Seeded::new(seed);
    let mut drawing = Drawing::<V>::begin(&mut source, 4);
    let mut lockstep = Lockstep::<V>::open(&drawing.config, open);
    let moves = drawing.length(&mut source);
    for alike in 0..moves {
        let (now, op) = drawing.step(&mut source);
        match lockstep.step(now, &op) {
            Ok(because) => because.iter().for_each(|rule| cited[*rule as usize] += 1),
            Err(stop) => return (alike, Some(stop)),
        }
    }
    (moves, None)
}

fn found<V: Alphabet>(seed: u64, difference: Difference<V>, open: &mut Open<'_, V>) -> Found<V> {
    let counterexample = Counterexample::of(shrink(difference, open));
    Found { seed, counterexample: counterexample.named(format!("found by seed {seed}")) }
}

impl<V: Alphabet + Notation> fmt::Display for Report<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Found { seed, counterexample }) = &self.found {
            writeln!(f, "{counterexample}\n\nto find it again: seed {seed}, one step")?;
        }
        for (reason, scripts) in &self.skipped {
            writeln!(f, "skipped {scripts} scripts: {reason}")?;
        }
        let rules = self.cited.len();
        let Report { seed, scripts, steps, .. } = self;
        write!(f, "{steps} steps alike in {scripts} scripts, by {rules} rules (seed {seed})")?;
        if self.steps == 0 && self.found.is_none() {
            f.write_str("; nothing was shown, which counts as a failure")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{ForgetsLate, Toy};
    use ttlspec_model::{Millis, Reference, Unsupported};

    #[test]
    fn the_reference_agrees_with_itself_and_all_its_rules_are_cited() {
        let mut told = 0;
        let report = run::<Toy>(
            7,
            3_000,
            |config| Box::new(Reference::<Toy>::open(config)),
            |steps| {
                told = steps;
            },
        );

        assert!(report.is_success(), "{report}");
        assert!(told >= 3_000);
        assert_eq!(report.cited.len(), 3);
    }

    #[test]
    fn a_planted_bug_is_found_and_one_number_finds_it_again() {
        let open = |config: &_| -> Box<dyn Engine<Toy>> { Box::new(ForgetsLate::open(config)) };

        let report = run::<Toy>(1, 100_000, open, |_| {});
        let found = report.found.as_ref().expect("the bug is planted");
        let again = run::<Toy>(found.seed, 1, open, |_| {});

        assert!(!report.is_success());
        assert_eq!(again.scripts, 1);
        assert_eq!(again.found.as_ref(), Some(found));
        assert!(report.to_string().contains(&format!("seed {}, one step", found.seed)));
    }

    struct Nothing;
    impl Engine<Toy> for Nothing {
        fn apply(
            &mut self,
            _: Millis,
            _: &crate::toy::Word,
        ) -> Result<crate::toy::Answer, Unsupported> {
            Err(Unsupported("nothing at all".to_owned()))
        }
    }

    #[test]
    fn a_run_in_which_all_was_skipped_ends_and_fails() {
        let report = run::<Toy>(1, 100, |_| Box::new(Nothing), |_| {});

        assert!(!report.is_success());
        assert_eq!(report.skipped["nothing at all"], 100);
        assert!(report.to_string().contains("counts as a failure"));
    }
}
