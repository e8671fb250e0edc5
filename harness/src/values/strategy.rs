//! How does proptest draw a value, and make one that fails smaller?

use std::fmt::Debug;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::source::{Generator, Recorded, Replayed, Seeded};

/// The strategy that draws what a generator makes.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<T> {
    generate: Generator<T>,
}

/// The strategy that draws what `generate` makes.
///
/// It shrinks the choices: some are left out, then some are made simpler, until neither helps.
pub fn drawn<T: Debug>(generate: Generator<T>) -> Drawn<T> {
    Drawn { generate }
}

impl<T: Debug> Strategy for Drawn<T> {
    type Tree = DrawnTree<T>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = proptest::num::u64::ANY.new_tree(runner)?.current();
        let mut source = Recorded::new(Seeded::new(seed));
        (self.generate)(&mut source);
        Ok(DrawnTree::new(self.generate, source.into_choices()))
    }
}

/// The choices behind a value, on their way to simpler ones.
#[derive(Clone, Debug)]
pub struct DrawnTree<T> {
    generate: Generator<T>,
    /// The simplest choices known to fail.
    failing: Vec<u64>,
    /// What is tried now.
    trying: Vec<u64>,
    /// What is to be tried next.
    next: Shrink,
    /// Did anything help since the list of attempts was begun?
    helped: bool,
}

/// One attempt to make choices simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shrink {
    /// Leaves out so many choices before this place.
    Without { many: usize, end: usize },
    /// Makes so many choices before this place the simplest.
    Zero { many: usize, end: usize },
    /// Halves the choice at this place.
    Halve { at: usize },
    /// Takes one from the choice at this place, or an eighth from a large one.
    Lower { at: usize },
    /// Nothing is left to try.
    Done,
}

/// The largest number of choices that is left out or made simple at once.
const MANY: usize = 32;

impl<T> DrawnTree<T> {
    fn new(generate: Generator<T>, choices: Vec<u64>) -> DrawnTree<T> {
        let next = Shrink::Without { many: MANY, end: choices.len() };
        DrawnTree { generate, failing: choices.clone(), trying: choices, next, helped: false }
    }

    /// Sets the next attempt up that differs from what is known to fail; `false` if there is none.
    fn attempt(&mut self) -> bool {
        loop {
            if self.next == Shrink::Done {
                if !self.helped {
                    self.trying.clone_from(&self.failing);
                    return false;
                }
                self.helped = false;
                self.next = Shrink::Without { many: MANY, end: self.failing.len() };
            }
            self.trying.clone_from(&self.failing);
            if self.next.make(&mut self.trying) {
                return true;
            }
            self.next = self.next.after_none(&self.failing);
        }
    }

    /// Drops the choices that nobody asked for.
    fn trim(&mut self) {
        let mut source = Replayed::new(&self.failing);
        (self.generate)(&mut source);
        let used = source.used();
        self.failing.truncate(used);
    }
}

impl Shrink {
    /// Does it to `choices`; `false` if that changes nothing.
    fn make(self, choices: &mut Vec<u64>) -> bool {
        match self {
            Shrink::Without { many, end } if many <= end && end <= choices.len() => {
                choices.drain(end - many..end);
                true
            }
            Shrink::Zero { many, end } if many <= end && end <= choices.len() => {
                let part = &mut choices[end - many..end];
                let differs = part.iter().any(|choice| *choice != 0);
                part.fill(0);
                differs
            }
            Shrink::Halve { at } if choices.get(at).is_some_and(|choice| *choice > 1) => {
                choices[at] /= 2;
                true
            }
            Shrink::Lower { at } if choices.get(at).is_some_and(|choice| *choice > 0) => {
                choices[at] -= if choices[at] < 1_000 { 1 } else { choices[at] / 8 };
                true
            }
            _ => false,
        }
    }

    /// What to try where this did not help.
    fn after_none(self, choices: &[u64]) -> Shrink {
        let all = choices.len();
        match self {
            Shrink::Without { many, end } if end > many => Shrink::Without { many, end: end - 1 },
            Shrink::Without { many: 1, .. } => Shrink::Zero { many: MANY, end: all },
            Shrink::Without { many, .. } => Shrink::Without { many: many / 2, end: all },
            Shrink::Zero { many, end } if end > many => Shrink::Zero { many, end: end - 1 },
            Shrink::Zero { many: 1, .. } => Shrink::Halve { at: 0 },
            Shrink::Zero { many, .. } => Shrink::Zero { many: many / 2, end: all },
            Shrink::Halve { at } => Shrink::Lower { at },
            Shrink::Lower { at } if at + 1 < all => Shrink::Halve { at: at + 1 },
            Shrink::Lower { .. } | Shrink::Done => Shrink::Done,
        }
    }

    /// What to try where this helped.
    fn after_some(self) -> Shrink {
        match self {
            Shrink::Without { many, end } => Shrink::Without { many, end: end - many },
            other => other,
        }
    }
}

impl<T: Debug> ValueTree for DrawnTree<T> {
    type Value = T;

    fn current(&self) -> T {
        (self.generate)(&mut Replayed::new(&self.trying))
    }

    fn simplify(&mut self) -> bool {
        if self.trying != self.failing {
            self.failing.clone_from(&self.trying);
            self.helped = true;
            self.next = self.next.after_some();
            self.trim();
        }
        self.attempt()
    }

    fn complicate(&mut self) -> bool {
        self.next = self.next.after_none(&self.failing);
        self.attempt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{count, pick};

    fn numbers(source: &mut dyn crate::values::Source) -> Vec<u64> {
        (0..count(source, 20)).map(|_| pick(source, &[0, 1, 2, 3, 50, 70, 99])).collect()
    }

    #[test]
    fn a_failing_value_shrinks_to_the_simplest_that_fails() {
        let mut runner = TestRunner::deterministic();
        let strategy = drawn(numbers);

        let failed = runner.run(&strategy, |numbers| {
            let fails = numbers.iter().filter(|number| **number >= 3).count() >= 2;
            proptest::prop_assert!(!fails);
            Ok(())
        });

        let Err(proptest::test_runner::TestError::Fail(_, least)) = failed else {
            panic!("two numbers are found")
        };
        assert_eq!(least, [3, 3]);
    }
}
