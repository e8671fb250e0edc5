//! How long after their time were documents deleted?
//!
//! Counted to the millisecond up to [`EXACT_MS`]; beyond, in steps of less than a thousandth of the
//! span. The smallest and the largest are always exact.

use std::fmt;

/// Up to here every millisecond is counted on its own.
pub const EXACT_MS: i64 = 1 << 21;
/// Beyond, each doubling has so many steps.
const STEPS: i64 = 1 << 10;

/// Counts of spans, which may be negative where documents were deleted before their time.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Ages {
    late: Vec<u64>,
    early: Vec<u64>,
    many: u64,
    ends: Option<(i64, i64)>,
}

impl fmt::Debug for Ages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let early = self.early.iter().enumerate().rev().map(|(at, many)| (-least_of(at), many));
        let late = self.late.iter().enumerate().map(|(at, many)| (least_of(at), many));
        f.debug_map().entries(early.chain(late).filter(|(_, many)| **many > 0)).finish()
    }
}

fn place(millis: i64) -> usize {
    if millis < EXACT_MS {
        return millis as usize;
    }
    let doublings = i64::from(millis.ilog2() - EXACT_MS.ilog2());
    let step = (millis >> (doublings + i64::from((EXACT_MS / STEPS).ilog2()))) - STEPS;
    (EXACT_MS + doublings * STEPS + step) as usize
}

fn least_of(place: usize) -> i64 {
    let place = place as i64;
    if place < EXACT_MS {
        return place;
    }
    let doublings = (place - EXACT_MS) / STEPS;
    let step = (place - EXACT_MS) % STEPS + STEPS;
    step << (doublings + i64::from((EXACT_MS / STEPS).ilog2()))
}

fn most_of(place: usize) -> i64 {
    match least_of(place).checked_add(1) {
        Some(next) if next <= EXACT_MS => next - 1,
        _ => least_of(place + 1).max(least_of(place)).saturating_sub(1),
    }
}

impl Ages {
    /// So many documents were deleted so long after their time.
    #[inline]
    pub fn add(&mut self, millis: i64, many: u64) {
        let (side, at) = if millis >= 0 {
            (&mut self.late, place(millis))
        } else {
            (&mut self.early, place(millis.saturating_neg()))
        };
        if at >= side.len() {
            side.resize((at + 1).next_power_of_two(), 0);
        }
        side[at] += many;
        self.many += many;
        let (least, most) = self.ends.unwrap_or((millis, millis));
        self.ends = Some((least.min(millis), most.max(millis)));
    }

    /// Takes those of another count in.
    pub fn take_in(&mut self, other: &Ages) {
        for (mine, its) in [(&mut self.late, &other.late), (&mut self.early, &other.early)] {
            if mine.len() < its.len() {
                mine.resize(its.len(), 0);
            }
            mine.iter_mut().zip(its).for_each(|(mine, its)| *mine += its);
        }
        self.many += other.many;
        self.ends = match (self.ends, other.ends) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (mine, its) => mine.or(its),
        };
    }

    /// How many there are.
    pub fn many(&self) -> u64 {
        self.many
    }

    /// The smallest and the largest.
    pub fn ends(&self) -> Option<(i64, i64)> {
        self.ends
    }

    /// The smallest span that so many hundredths of all do not exceed; beyond [`EXACT_MS`], the end
    /// of its step.
    pub fn percentile(&self, hundredths: u64) -> Option<i64> {
        let (least, most) = self.ends?;
        let rank = (u128::from(self.many) * u128::from(hundredths)).div_ceil(100).max(1) as u64;
        let mut so_far = 0;
        let early = self.early.iter().enumerate().rev().map(|(at, many)| (-least_of(at), *many));
        let late = self.late.iter().enumerate().map(|(at, many)| (most_of(at), *many));
        for (millis, many) in early.chain(late) {
            so_far += many;
            if so_far >= rank {
                return Some(millis.clamp(least, most));
            }
        }
        Some(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_a_sorted_list() {
        let mut ages = Ages::default();
        let mut list: Vec<i64> = (0..1_000).map(|n| n * n % 7_919 - 500).collect();
        list.iter().for_each(|millis| ages.add(*millis, 1));

        list.sort_unstable();

        assert_eq!(ages.ends(), Some((list[0], list[999])));
        for hundredths in [1, 50, 99, 100] {
            let rank = list.len() * hundredths as usize / 100;
            assert_eq!(ages.percentile(hundredths), Some(list[rank - 1]), "{hundredths}");
        }
    }

    #[test]
    fn long_spans_are_kept_to_a_thousandth() {
        for millis in [EXACT_MS - 1, EXACT_MS, EXACT_MS * 3 + 17, 604_800_000, i64::MAX] {
            let kept = least_of(place(millis));
            assert!(kept <= millis && millis - kept <= millis / STEPS, "{millis} {kept}");
        }
        for millis in [0, 5, EXACT_MS - 1, EXACT_MS, EXACT_MS * 3 + 17, 604_800_000] {
            let most = most_of(place(millis));
            assert!(most >= millis && most - millis <= millis / STEPS, "{millis} {most}");
            assert_eq!(place(most), place(millis), "{millis} {most}");
            assert_ne!(place(most + 1), place(millis), "{millis} {most}");
        }
    }

    #[test]
    fn two_counts_together_are_one() {
        let (mut one, mut other, mut both) = (Ages::default(), Ages::default(), Ages::default());
        for millis in -20..3_000 {
            if millis % 3 == 0 {
                one.add(millis, 2)
            } else {
                other.add(millis, 2)
            }
            both.add(millis, 2);
        }

        one.take_in(&other);

        assert_eq!(one.ends(), both.ends());
        assert_eq!((one.many(), one.percentile(50)), (both.many(), both.percentile(50)));
    }
}
