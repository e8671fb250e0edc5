//! What is the least that still differs?
//!
//! Steps are left out, in halves and then one by one; what stays is done simpler; then its instants
//! come together. That is repeated until nothing more can go. The same difference always shrinks
//! to the same one.

use ttlspec_model::{Engine, Millis};

use super::{Difference, Open, Walked, walk};
use crate::alphabet::Alphabet;
use crate::script::Script;

/// How many scripts are tried at most: a difference is to be shown soon, if not always at its
/// smallest.
const TRIES: usize = 20_000;

/// A smaller script in which the engine differs too. It need not differ in the same way.
pub fn shrink<V: Alphabet>(
    difference: Difference<V>,
    mut open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>,
) -> Difference<V> {
    let mut shrinker = Shrinker { least: difference, open: &mut open, tries: TRIES };
    loop {
        let fewer = shrinker.leave_out();
        let simpler = shrinker.simplify();
        let closer = shrinker.draw_together();
        if !(fewer || simpler || closer) {
            return shrinker.least;
        }
    }
}

struct Shrinker<'a, V: Alphabet> {
    least: Difference<V>,
    open: &'a mut Open<'a, V>,
    tries: usize,
}

impl<V: Alphabet> Shrinker<'_, V> {
    fn steps(&self) -> &[(Millis, V::Op)] {
        &self.least.script.steps
    }

    /// Keeps these steps if the engine differs in them.
    fn keeps(&mut self, steps: Vec<(Millis, V::Op)>) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        let script = Script { config: self.least.script.config.clone(), steps };
        match walk(&script, &mut *self.open) {
            Walked::Differs(difference) => {
                self.least = difference;
                true
            }
            Walked::Agreed | Walked::Skipped { .. } => false,
        }
    }

    fn leave_out(&mut self) -> bool {
        let mut changed = false;
        let mut size = self.steps().len().div_ceil(2);
        while size > 0 {
            // From the back, because what comes late explains least.
            let mut end = self.steps().len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let steps = [&self.steps()[..start], &self.steps()[end..]].concat();
                changed |= self.keeps(steps);
                end = start.min(self.steps().len());
            }
            size /= 2;
        }
        changed
    }

    fn simplify(&mut self) -> bool {
        let mut changed = false;
        let mut index = 0;
        while let Some((_, op)) = self.steps().get(index) {
            let simpler = V::simpler(op);
            let kept = simpler.into_iter().any(|op| {
                let mut steps = self.steps().to_vec();
                steps[index].1 = op;
                self.keeps(steps)
            });
            // What became simpler may become simpler still.
            index += usize::from(!kept);
            changed |= kept;
        }
        changed
    }

    fn draw_together(&mut self) -> bool {
        let mut changed = false;
        let mut index = 0;
        while index < self.steps().len() {
            let cost = cost(self.steps());
            let nearer = nearer(self.steps(), index);
            let kept =
                nearer.into_iter().any(|steps| self::cost(&steps) < cost && self.keeps(steps));
            index += usize::from(!kept);
            changed |= kept;
        }
        changed
    }
}

/// How far the instants lie apart, and how far from the beginning.
fn cost<O>(steps: &[(Millis, O)]) -> (u128, u128) {
    let instants = || steps.iter().map(|(now, _)| i128::from(now.0));
    let before = std::iter::once(0).chain(instants());
    let apart = before.zip(instants()).map(|(before, now)| before.abs_diff(now)).sum();
    (apart, instants().map(i128::unsigned_abs).sum())
}

/// The steps with the instant at `index` nearer to the one before, or to the beginning: alone, or
/// with all that come after.
fn nearer<O: Clone>(steps: &[(Millis, O)], index: usize) -> Vec<Vec<(Millis, O)>> {
    let now = steps[index].0;
    let before = index.checked_sub(1).map_or(Millis(0), |before| steps[before].0);
    let half = i64::midpoint(before.0, now.0);
    let instants = [0, before.0, half, half - half.rem_euclid(1_000), now.0 - now.0 % 1_000];
    let moved = |instant: i64| {
        let alone = with(steps, index..index + 1, |_| Millis(instant));
        let shift = |at: Millis| {
            let shifted = i128::from(at.0) - i128::from(now.0) + i128::from(instant);
            i64::try_from(shifted).map_or(at, Millis)
        };
        [alone, with(steps, index..steps.len(), shift)]
    };
    instants.into_iter().flat_map(moved).collect()
}

fn with<O: Clone>(
    steps: &[(Millis, O)],
    range: std::ops::Range<usize>,
    instant: impl Fn(Millis) -> Millis,
) -> Vec<(Millis, O)> {
    let mut steps = steps.to_vec();
    steps[range].iter_mut().for_each(|(now, _)| *now = instant(*now));
    steps
}
