//! How many documents have which date, where dates are jittered? Counts by the millisecond, over the
//! stretch of time that is in use.

use std::collections::VecDeque;

const CHUNK: i64 = 1_024;

#[derive(Clone, Debug, Default)]
pub(crate) struct Ring {
    /// The first chunk's number; chunk n begins at n * 1024 ms.
    first: i64,
    chunks: VecDeque<Box<[u32]>>,
    /// No count before this instant is other than 0.
    low: i64,
    many: u64,
}

impl Ring {
    #[inline]
    pub(crate) fn add(&mut self, date_ms: i64, many: u32) {
        let chunk = date_ms.div_euclid(CHUNK);
        if self.many == 0 {
            // Nothing is between what was and what comes.
            let far = !(self.first..self.first + CHUNK).contains(&chunk);
            if self.chunks.is_empty() || far {
                self.chunks.clear();
                self.first = chunk;
            }
            self.low = date_ms;
        }
        while chunk < self.first {
            self.chunks.push_front(empty());
            self.first -= 1;
        }
        let at = (chunk - self.first) as usize;
        while self.chunks.len() <= at {
            self.chunks.push_back(empty());
        }
        self.chunks[at][date_ms.rem_euclid(CHUNK) as usize] += many;
        self.low = self.low.min(date_ms);
        self.many += u64::from(many);
    }

    /// The first date with a count, from `from_ms` on.
    pub(crate) fn first(&mut self, from_ms: i64) -> Option<(i64, u32)> {
        if self.many == 0 {
            self.chunks.clear();
            return None;
        }
        let from = from_ms.max(self.low);
        let mut at = from;
        loop {
            let chunk = (at.div_euclid(CHUNK) - self.first) as usize;
            let counts = self.chunks.get(chunk)?;
            let within = at.rem_euclid(CHUNK) as usize;
            if let Some(next) = counts[within..].iter().position(|count| *count > 0) {
                let date = at + next as i64;
                if from == self.low {
                    self.low = date;
                    self.shed();
                }
                return Some((date, counts_at(&self.chunks, self.first, date)));
            }
            at = (at.div_euclid(CHUNK) + 1) * CHUNK;
        }
    }

    /// Gives the chunks up that lie before all counts.
    fn shed(&mut self) {
        while self.first < self.low.div_euclid(CHUNK) {
            self.chunks.pop_front();
            self.first += 1;
        }
    }

    pub(crate) fn take(&mut self, date_ms: i64, many: u32) {
        let chunk = (date_ms.div_euclid(CHUNK) - self.first) as usize;
        self.chunks[chunk][date_ms.rem_euclid(CHUNK) as usize] -= many;
        self.many -= u64::from(many);
    }

    /// Is nothing there?
    pub(crate) fn is_empty(&self) -> bool {
        self.many == 0
    }

    /// Before this date there is nothing.
    pub(crate) fn low(&self) -> i64 {
        self.low
    }

    /// Goes over the counts from `from_ms` to `to_ms`, by date, and takes away what `take` says of
    /// a date and its count, until `take` says `None`.
    pub(crate) fn sweep(
        &mut self,
        from_ms: i64,
        to_ms: i64,
        mut take: impl FnMut(i64, u32) -> Option<u32>,
    ) {
        let mut at = from_ms.max(self.low).max(self.first * CHUNK);
        while at <= to_ms {
            let chunk = (at.div_euclid(CHUNK) - self.first) as usize;
            let Some(counts) = self.chunks.get_mut(chunk) else { return };
            let within = at.rem_euclid(CHUNK) as usize;
            let most = ((to_ms - at) as u64).min((CHUNK as usize - 1 - within) as u64) as usize;
            for (next, count) in counts[within..=within + most].iter_mut().enumerate() {
                if *count > 0 {
                    let Some(taken) = take(at + next as i64, *count) else { return };
                    *count -= taken;
                    self.many -= u64::from(taken);
                }
            }
            at += most as i64 + 1;
        }
    }

    /// How many there are up to `to_ms`?
    pub(crate) fn sum(&self, to_ms: i64) -> u64 {
        let mut so_far = 0;
        let mut at = self.low.max(self.first * CHUNK);
        while at <= to_ms {
            let chunk = (at.div_euclid(CHUNK) - self.first) as usize;
            let Some(counts) = self.chunks.get(chunk) else { break };
            let within = at.rem_euclid(CHUNK) as usize;
            let most = ((to_ms - at) as u64).min((CHUNK as usize - 1 - within) as u64) as usize;
            so_far +=
                counts[within..=within + most].iter().map(|count| u64::from(*count)).sum::<u64>();
            at += most as i64 + 1;
        }
        so_far
    }

    /// Everything before this date has been taken.
    pub(crate) fn is_taken_before(&mut self, date_ms: i64) {
        self.low = self.low.max(date_ms);
        while !self.chunks.is_empty() && self.first < self.low.div_euclid(CHUNK) {
            self.chunks.pop_front();
            self.first += 1;
        }
    }
}

fn counts_at(chunks: &VecDeque<Box<[u32]>>, first: i64, date_ms: i64) -> u32 {
    chunks[(date_ms.div_euclid(CHUNK) - first) as usize][date_ms.rem_euclid(CHUNK) as usize]
}

fn empty() -> Box<[u32]> {
    vec![0; CHUNK as usize].into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_ring_counts_like_a_map() {
        let (mut ring, mut map) = (Ring::default(), BTreeMap::<i64, u32>::new());
        let mut state = 1u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let date = step / 4 + (state >> 52) as i64 - 1_000;
            if state.is_multiple_of(3) && !map.is_empty() {
                let from = map.first_key_value().map_or(0, |(date, _)| *date + step % 3);
                let expected = map.range(from..).next().map(|(date, many)| (*date, *many));
                assert_eq!(ring.first(from), expected, "step {step}");
                if let Some((date, many)) = expected {
                    ring.take(date, many);
                    map.remove(&date);
                }
            } else {
                ring.add(date, 1);
                *map.entry(date).or_default() += 1;
            }
            if step % 97 == 0 {
                let mut all = Vec::new();
                ring.sweep(i64::MIN, date, |date, many| {
                    all.push((date, many));
                    Some(u32::from(date % 5 == 0))
                });
                let expected: Vec<(i64, u32)> =
                    map.range(..=date).map(|(date, many)| (*date, *many)).collect();
                assert_eq!(all, expected);
                for (date, _) in expected.iter().filter(|(date, _)| date % 5 == 0) {
                    *map.get_mut(date).expect("it is there") -= 1;
                }
                map.retain(|_, many| *many > 0);
                let left: u64 = map.range(..=date).map(|(_, many)| u64::from(*many)).sum();
                assert_eq!(ring.sum(date), left);
            }
        }
    }
}
