//! Which documents come, when, and with which dates?
//!
//! A stream is a rule: its k-th document, counted from 0, is known without the others. Both the
//! instants at which documents come and their dates (before jitter) never decrease with k.

use std::sync::Arc;

/// How documents come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One after the other at a steady rate.
    Steady {
        /// The first comes then; milliseconds since 1970, as all instants here.
        from_ms: i64,
        /// How many come in all.
        documents: u64,
        /// How many come in a thousand seconds.
        per_1000_s: u64,
        /// A date is so much later than its document comes.
        offset_ms: i64,
    },
    /// Many at a time.
    Batches {
        /// The first batch comes then.
        from_ms: i64,
        /// How much later each further batch comes.
        every_ms: i64,
        /// How many batches come.
        batches: u64,
        /// How many documents a batch has.
        size: u64,
        /// A date is so much later than its document comes.
        offset_ms: i64,
    },
    /// All at one instant, with dates spread evenly from the oldest to before the newest.
    Spread {
        /// They come then.
        at_ms: i64,
        /// How many they are.
        documents: u64,
        /// The first date.
        oldest_ms: i64,
        /// What the last date does not reach, unless it is the first.
        newest_ms: i64,
    },
}

/// How many k from 0 on have `k * step / per <= upto`, rounded down?
fn multiples_upto(upto: i64, step: u64, per: u64) -> u64 {
    if upto < 0 {
        return 0;
    }
    if step == 0 {
        return u64::MAX;
    }
    // k * step < (upto + 1) * per
    let bound = (upto as u64).checked_add(1).and_then(|bound| bound.checked_mul(per));
    match bound {
        Some(bound) => bound.div_ceil(step),
        None => {
            let bound = (upto as u128 + 1) * u128::from(per);
            u64::try_from(bound.div_ceil(u128::from(step))).unwrap_or(u64::MAX)
        }
    }
}

/// `k * step / per`, rounded down.
fn multiple(k: u64, step: u64, per: u64) -> i64 {
    match k.checked_mul(step) {
        Some(product) => (product / per) as i64,
        None => (u128::from(k) * u128::from(step) / u128::from(per)) as i64,
    }
}

const MILLIS_IN_1000_S: u64 = 1_000_000;

impl Shape {
    /// How many documents there are in all.
    pub fn documents(&self) -> u64 {
        match *self {
            Shape::Steady { documents, .. } | Shape::Spread { documents, .. } => documents,
            Shape::Batches { batches, size, .. } => batches.saturating_mul(size),
        }
    }

    /// When does the k-th come?
    pub fn arrival(&self, k: u64) -> i64 {
        match *self {
            Shape::Steady { from_ms, per_1000_s, .. } => {
                from_ms + multiple(k, MILLIS_IN_1000_S, per_1000_s)
            }
            Shape::Batches { from_ms, every_ms, size, .. } => {
                from_ms + (k / size) as i64 * every_ms
            }
            Shape::Spread { at_ms, .. } => at_ms,
        }
    }

    /// What is the date of the k-th, before jitter?
    pub fn date(&self, k: u64) -> i64 {
        match *self {
            Shape::Steady { offset_ms, .. } | Shape::Batches { offset_ms, .. } => {
                self.arrival(k) + offset_ms
            }
            Shape::Spread { documents, oldest_ms, newest_ms, .. } => {
                oldest_ms + multiple(k, (newest_ms - oldest_ms) as u64, documents)
            }
        }
    }

    /// How many have come at `at_ms`?
    pub fn arrived_by(&self, at_ms: i64) -> u64 {
        let many = match *self {
            Shape::Steady { from_ms, per_1000_s, .. } => {
                multiples_upto(at_ms.saturating_sub(from_ms), MILLIS_IN_1000_S, per_1000_s)
            }
            Shape::Batches { from_ms, every_ms, size, batches, .. } => {
                let since = at_ms.saturating_sub(from_ms);
                multiples_upto(since, every_ms as u64, 1).min(batches).saturating_mul(size)
            }
            Shape::Spread { at_ms: then, .. } if at_ms < then => 0,
            Shape::Spread { documents, .. } => documents,
        };
        many.min(self.documents())
    }

    /// How many have a date, before jitter, that is no later than `date_ms`?
    pub fn dated_by(&self, date_ms: i64) -> u64 {
        match *self {
            Shape::Steady { offset_ms, .. } | Shape::Batches { offset_ms, .. } => {
                self.arrived_by(date_ms.saturating_sub(offset_ms))
            }
            Shape::Spread { documents, oldest_ms, newest_ms, .. } => {
                let upto = date_ms.saturating_sub(oldest_ms);
                multiples_upto(upto, (newest_ms - oldest_ms) as u64, documents).min(documents)
            }
        }
    }

    /// The dates from the k-th on, before jitter, without a division for each.
    pub fn dates(&self, k: u64) -> Dates {
        let (step, per) = match *self {
            Shape::Steady { per_1000_s, .. } => (MILLIS_IN_1000_S, per_1000_s),
            Shape::Spread { documents, oldest_ms, newest_ms, .. } => {
                ((newest_ms - oldest_ms) as u64, documents)
            }
            // The k-th of a batch is no later than the first.
            Shape::Batches { every_ms, size, .. } => (every_ms as u64, size),
        };
        let (rest, each) = match *self {
            Shape::Batches { size, .. } => (k % size, 0),
            _ => ((u128::from(k) * u128::from(step) % u128::from(per)) as u64, step % per),
        };
        let (whole, part, over) = match *self {
            Shape::Batches { every_ms, .. } => (0, 1, every_ms),
            _ => ((step / per) as i64, each, 1),
        };
        Dates { date_ms: self.date(k), rest, whole, part, per, over }
    }

    /// Do all come in bursts?
    pub fn next_burst(&self, after_ms: i64) -> Option<i64> {
        match *self {
            Shape::Steady { .. } => None,
            Shape::Batches { .. } | Shape::Spread { .. } => {
                let next = self.arrived_by(after_ms);
                (next < self.documents()).then(|| self.arrival(next))
            }
        }
    }
}

/// The dates of a stream, one after the other.
#[derive(Clone, Debug)]
pub struct Dates {
    date_ms: i64,
    /// Each is `whole` later than the one before, and `over` more when `rest`, which grows by
    /// `part`, has come to `per`.
    rest: u64,
    whole: i64,
    part: u64,
    per: u64,
    over: i64,
}

impl Iterator for Dates {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        let date_ms = self.date_ms;
        self.date_ms += self.whole;
        self.rest += self.part;
        if self.rest >= self.per {
            self.rest -= self.per;
            self.date_ms += self.over;
        }
        Some(date_ms)
    }
}

/// Whole seconds that are added to dates, each as likely as the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// From 0 to before this many.
    pub seconds: u32,
    /// Where the choices begin.
    pub seed: u64,
}

impl Jitter {
    /// What is added to the date of the k-th document.
    pub fn of(self, k: u64) -> i64 {
        // SplitMix64: the k-th output is known without those before it.
        let mut z = self.seed.wrapping_add(k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * u128::from(self.seconds)) >> 64) as i64 * 1_000
    }

    /// The largest that is added.
    pub fn most_ms(self) -> i64 {
        (i64::from(self.seconds) - 1) * 1_000
    }
}

/// Into how many parts the documents of a stream are cut, to give indexes their share.
pub const PARTS: u32 = 10_000;

/// In which of the parts is the k-th document of a stream? Neighbours lie far apart.
pub fn part(k: u64) -> u32 {
    (k % u64::from(PARTS)) as u32 * 3_819 % PARTS
}

/// The documents of a stream that are held by the same indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The indexes, by their places in the collection, one bit each.
    pub indexes: u64,
    /// Which of the k up to the period are its; all following periods are alike.
    places: Arc<Vec<u32>>,
    period: u64,
}

impl Class {
    /// The classes into which shares, each from a part to before a part, cut the documents.
    pub fn cut(shares: &[(u32, u32)]) -> Vec<Class> {
        if shares.iter().all(|share| *share == (0, PARTS)) {
            let indexes = shares.iter().enumerate().fold(0, |all, (at, _)| all | 1 << at);
            return vec![Class { indexes, places: Arc::new(vec![0]), period: 1 }];
        }
        let mut classes: Vec<(u64, Vec<u32>)> = Vec::new();
        for k in 0..PARTS {
            let part = part(u64::from(k));
            let holds = |(from, to): &(u32, u32)| (*from..*to).contains(&part);
            let indexes = (shares.iter().enumerate())
                .fold(0, |all, (at, share)| all | u64::from(holds(share)) << at);
            match classes.iter_mut().find(|(there, _)| *there == indexes) {
                Some((_, places)) => places.push(k),
                None => classes.push((indexes, vec![k])),
            }
        }
        let class = |(indexes, places)| Class {
            indexes,
            places: Arc::new(places),
            period: u64::from(PARTS),
        };
        classes.into_iter().map(class).collect()
    }

    /// Is it all documents of the stream?
    pub fn is_all(&self) -> bool {
        self.period == 1
    }

    /// Which document of the stream is the m-th of the class?
    pub fn k(&self, m: u64) -> u64 {
        if self.is_all() {
            return m;
        }
        let each = self.places.len() as u64;
        m / each * self.period + u64::from(self.places[(m % each) as usize])
    }

    /// How many of the class are among the first k of the stream?
    pub fn among(&self, k: u64) -> u64 {
        if self.is_all() {
            return k;
        }
        let rest = (k % self.period) as u32;
        let there = self.places.partition_point(|place| *place < rest) as u64;
        k / self.period * self.places.len() as u64 + there
    }

    /// Does the k-th document of the stream belong to it?
    pub fn has(&self, k: u64) -> bool {
        self.among(k + 1) > self.among(k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Shape> {
        let steady =
            |per_1000_s| Shape::Steady { from_ms: 5, documents: 50, per_1000_s, offset_ms: -3 };
        let spread =
            |documents, newest_ms| Shape::Spread { at_ms: 7, documents, oldest_ms: -20, newest_ms };
        let batches =
            Shape::Batches { from_ms: 2, every_ms: 10, batches: 4, size: 3, offset_ms: 100 };
        vec![
            steady(1_000_000),
            steady(333_333),
            steady(7_000_000),
            steady(1),
            spread(1, -20),
            spread(13, 40),
            spread(100, 0),
            spread(5, -20),
            batches,
        ]
    }

    #[test]
    fn counting_agrees_with_the_documents_themselves() {
        for shape in shapes() {
            for at in -60..=160 {
                let all = 0..shape.documents();
                let arrived = all.clone().filter(|k| shape.arrival(*k) <= at).count() as u64;
                let dated = all.filter(|k| shape.date(*k) <= at).count() as u64;

                assert_eq!(shape.arrived_by(at), arrived, "{shape:?} at {at}");
                assert_eq!(shape.dated_by(at), dated, "{shape:?} at {at}");
            }
        }
    }

    #[test]
    fn dates_one_after_the_other_are_the_dates() {
        for shape in shapes() {
            for from in 0..shape.documents() {
                let expected: Vec<i64> = (from..shape.documents()).map(|k| shape.date(k)).collect();
                let dates: Vec<i64> = shape.dates(from).take(expected.len()).collect();

                assert_eq!(dates, expected, "{shape:?} from {from}");
            }
        }
    }

    #[test]
    fn the_ends_of_time_are_no_trouble() {
        for shape in shapes() {
            assert_eq!(shape.arrived_by(i64::MAX), shape.documents());
            assert_eq!(shape.dated_by(i64::MIN), 0);
        }
    }

    #[test]
    fn classes_share_out_every_document_once() {
        let classes = Class::cut(&[(0, 2_500), (2_000, 10_000)]);

        assert_eq!(classes.len(), 3);
        for k in 0..25_000 {
            let of: Vec<&Class> = classes.iter().filter(|class| class.has(k)).collect();
            assert_eq!(of.len(), 1, "{k}");
            assert_eq!(of[0].k(of[0].among(k)), k);
        }
        let quarter = classes.iter().filter(|class| class.indexes & 1 == 1);
        assert_eq!(quarter.map(|class| class.among(10_000)).sum::<u64>(), 2_500);
    }

    #[test]
    fn jitter_is_spread_evenly_and_known_from_its_seed() {
        let jitter = Jitter { seconds: 10, seed: 7 };
        let mut seen = [0u32; 10];

        for k in 0..10_000 {
            seen[(jitter.of(k) / 1_000) as usize] += 1;
        }

        assert!(seen.iter().all(|count| (850..1_150).contains(count)), "{seen:?}");
        assert_eq!(jitter.most_ms(), 9_000);
        let other = Jitter { seconds: 10, seed: 8 };
        assert!((0..20).any(|k| jitter.of(k) != other.of(k)));
    }
}
