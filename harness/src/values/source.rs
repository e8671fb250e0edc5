//! Where do the choices come from?

use arbitrary::Unstructured;

/// Something that makes choices.
pub trait Source {
    /// One of `0..n`, where 0 is the simplest. `n` is not 0.
    fn choose(&mut self, n: usize) -> usize;

    /// Any 64 bits, where 0 is the simplest.
    fn bits(&mut self) -> u64;

    /// Any integer; the simplest are near 0.
    fn long(&mut self) -> i64 {
        let bits = self.bits();
        (bits >> 1) as i64 ^ -((bits & 1) as i64)
    }
}

/// One of these, the simplest first.
pub fn pick<T: Clone>(source: &mut dyn Source, from: &[T]) -> T {
    from[source.choose(from.len())].clone()
}

/// A way to make a `T` out of choices.
pub type Generator<T> = fn(&mut dyn Source) -> T;

/// One of these, the simplest first, each as often as the number beside it says.
pub fn weigh<T: Copy>(source: &mut dyn Source, from: &[(usize, T)]) -> T {
    let all: usize = from.iter().map(|(weight, _)| weight).sum();
    let mut chosen = source.choose(all);
    for (weight, one) in from {
        match chosen.checked_sub(*weight) {
            None => return *one,
            Some(rest) => chosen = rest,
        }
    }
    unreachable!("a choice is below the sum of the weights")
}

/// What one of these makes, the simplest first, each as often as the number beside it says.
pub fn one_of<T>(source: &mut dyn Source, from: &[(usize, Generator<T>)]) -> T {
    weigh(source, from)(source)
}

/// True once in `n` times; the simplest is false.
pub fn chance(source: &mut dyn Source, n: usize) -> bool {
    source.choose(n) + 1 == n
}

/// From 0 to `most`, both counted.
pub fn count(source: &mut dyn Source, most: usize) -> usize {
    source.choose(most + 1)
}

/// Choices that follow from a seed: the same seed, the same choices, on every machine.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }
}

impl Source for Seeded {
    fn choose(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    // SplitMix64, which needs no more state than the seed.
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Source for Unstructured<'_> {
    // What runs out of bytes makes the simplest choice.
    fn choose(&mut self, n: usize) -> usize {
        self.int_in_range(0..=n - 1).unwrap_or(0)
    }

    fn bits(&mut self) -> u64 {
        self.arbitrary().unwrap_or(0)
    }
}

/// Writes down the choices that another source makes.
#[derive(Clone, Debug)]
pub struct Recorded<S> {
    source: S,
    choices: Vec<u64>,
}

impl<S: Source> Recorded<S> {
    /// Nothing is written down yet.
    pub fn new(source: S) -> Recorded<S> {
        Recorded { source, choices: Vec::new() }
    }

    /// The choices made, in order.
    pub fn into_choices(self) -> Vec<u64> {
        self.choices
    }
}

impl<S: Source> Source for Recorded<S> {
    fn choose(&mut self, n: usize) -> usize {
        let chosen = self.source.choose(n);
        self.choices.push(chosen as u64);
        chosen
    }

    fn bits(&mut self) -> u64 {
        let bits = self.source.bits();
        self.choices.push(bits);
        bits
    }
}

/// Makes choices that were written down; after the last of them, the simplest.
#[derive(Clone, Debug)]
pub struct Replayed<'a> {
    choices: &'a [u64],
    used: usize,
}

impl<'a> Replayed<'a> {
    /// These choices.
    pub fn new(choices: &'a [u64]) -> Replayed<'a> {
        Replayed { choices, used: 0 }
    }

    /// How many choices were asked for, also beyond the last.
    pub fn used(&self) -> usize {
        self.used
    }
}

impl Source for Replayed<'_> {
    fn choose(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn bits(&mut self) -> u64 {
        let bits = self.choices.get(self.used).copied().unwrap_or(0);
        self.used += 1;
        bits
    }
}
