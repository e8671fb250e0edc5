//! What is a number worth, whatever its type? Exactly, and without allocation.

use std::cmp::Ordering;

use super::bytes::{Value, kind};

/// A number of any of the four types.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// Not a number.
    Nan,
    /// One of the infinities.
    Infinite {
        /// The lower one?
        negative: bool,
    },
    /// A whole number.
    Whole(i64),
    /// A finite double.
    Double(f64),
    /// A finite decimal.
    Decimal(Decimal),
}

/// ± coefficient × 10^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    coefficient: u128,
    exponent: i32,
}

/// One more than the largest coefficient.
const COEFFICIENTS: u128 = 10u128.pow(34);

impl Number {
    /// Reads a number; `None` where the value is none.
    #[inline]
    pub fn read(value: Value<'_>) -> Option<Number> {
        match value.kind {
            kind::INT32 => {
                let int = i32::from_le_bytes(value.bytes.try_into().ok()?);
                Some(Number::Whole(i64::from(int)))
            }
            kind::INT64 => Some(Number::Whole(i64::from_le_bytes(value.bytes.try_into().ok()?))),
            kind::DOUBLE => {
                let double = f64::from_le_bytes(value.bytes.try_into().ok()?);
                Some(Number::from_double(double))
            }
            kind::DECIMAL => {
                Some(Number::from_decimal(u128::from_le_bytes(value.bytes.try_into().ok()?)))
            }
            _ => None,
        }
    }

    fn from_double(double: f64) -> Number {
        if double.is_nan() {
            Number::Nan
        } else if double.is_infinite() {
            Number::Infinite { negative: double < 0.0 }
        } else {
            Number::Double(double)
        }
    }

    /// Takes the bits of a decimal apart (IEEE 754-2008, binary integer decimal). A coefficient
    /// beyond 34 digits is 0.
    fn from_decimal(bits: u128) -> Number {
        let negative = bits >> 127 != 0;
        let top = (bits >> 122) as u32 & 0x1f;
        if top == 0x1f {
            return Number::Nan;
        }
        if top == 0x1e {
            return Number::Infinite { negative };
        }
        let (shift, coefficient) = if top >= 0x18 { (111, 0) } else { (113, bits << 15 >> 15) };
        let exponent = ((bits >> shift) as i32 & 0x3fff) - 6176;
        let coefficient = if coefficient < COEFFICIENTS { coefficient } else { 0 };
        Number::Decimal(Decimal { negative, coefficient, exponent })
    }

    /// Is it not a number?
    pub fn is_nan(self) -> bool {
        matches!(self, Number::Nan)
    }

    /// Is it anything but 0? NaN is.
    pub fn is_true(self) -> bool {
        match self {
            Number::Whole(whole) => whole != 0,
            Number::Double(double) => double != 0.0,
            Number::Decimal(decimal) => decimal.coefficient != 0,
            Number::Nan | Number::Infinite { .. } => true,
        }
    }

    /// As a 64-bit integer: NaN is 0, what does not fit is the nearest end. Doubles lose their
    /// fraction; decimals are rounded, a half to the even side.
    pub fn clamped(self) -> i64 {
        match self {
            Number::Nan => 0,
            Number::Infinite { negative } => end(negative),
            Number::Whole(whole) => whole,
            Number::Double(double) => double as i64,
            Number::Decimal(decimal) => decimal.rounded().unwrap_or(end(decimal.negative)),
        }
    }

    /// [`Number::clamped`], within 32 bits.
    pub fn clamped_int(self) -> i32 {
        let clamped = self.clamped();
        i32::try_from(clamped).unwrap_or(if clamped < 0 { i32::MIN } else { i32::MAX })
    }

    /// As x86-64 casts it: all that does not fit is the smallest integer.
    pub fn cast(self) -> i64 {
        match self {
            Number::Nan | Number::Infinite { .. } => i64::MIN,
            Number::Double(double) => whole_part(double).unwrap_or(i64::MIN),
            Number::Decimal(decimal) => decimal.rounded().unwrap_or(i64::MIN),
            Number::Whole(whole) => whole,
        }
    }

    /// The order of two numbers. NaN is itself and below all others; -0 is 0.
    #[inline]
    pub fn compare(self, other: Number) -> Ordering {
        use Number::*;
        match (self, other) {
            (Whole(a), Whole(b)) => a.cmp(&b),
            (Double(a), Double(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Whole(a), Double(b)) => whole_against_double(a, b),
            (Double(a), Whole(b)) => whole_against_double(b, a).reverse(),
            (Decimal(a), Decimal(b)) => a.compare(b),
            (Decimal(a), Whole(b)) => a.compare(b.into()),
            (Whole(a), Decimal(b)) => self::Decimal::from(a).compare(b),
            (Decimal(a), Double(b)) => a.compare_to_double(b),
            (Double(a), Decimal(b)) => b.compare_to_double(a).reverse(),
            (a, b) => a.place().cmp(&b.place()),
        }
    }

    fn place(self) -> u8 {
        match self {
            Number::Nan => 0,
            Number::Infinite { negative: true } => 1,
            Number::Whole(_) | Number::Double(_) | Number::Decimal(_) => 2,
            Number::Infinite { negative: false } => 3,
        }
    }

    /// Three words that are the same for two numbers exactly if the numbers are equal.
    pub fn canonical(self) -> [u64; 3] {
        match self {
            Number::Nan => [1, 0, 0],
            Number::Infinite { negative } => [2, u64::from(negative), 0],
            Number::Whole(whole) => [0, whole as u64, 0],
            Number::Double(double) => match whole_part(double) {
                Some(whole) if whole as f64 == double => [0, whole as u64, 0],
                // A double that no decimal can write equals nothing but itself.
                _ => match Decimal::exactly(double) {
                    Some(decimal) => decimal.canonical(),
                    None => [3, double.to_bits(), 0],
                },
            },
            Number::Decimal(decimal) => decimal.canonical(),
        }
    }
}

fn end(negative: bool) -> i64 {
    if negative { i64::MIN } else { i64::MAX }
}

/// 2^63, the first double above all 64-bit integers.
const ABOVE: f64 = 9_223_372_036_854_775_808.0;

/// A double without its fraction, if that fits.
fn whole_part(double: f64) -> Option<i64> {
    (-ABOVE..ABOVE).contains(&double).then_some(double as i64)
}

fn whole_against_double(whole: i64, double: f64) -> Ordering {
    match whole_part(double) {
        None if double < 0.0 => Ordering::Greater,
        None => Ordering::Less,
        // Where the fraction is not 0 the whole part is below 2^53, so the difference is exact.
        Some(part) => whole
            .cmp(&part)
            .then_with(|| 0.0.partial_cmp(&(double - part as f64)).unwrap_or(Ordering::Equal)),
    }
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Decimal {
        let coefficient = u128::from(whole.unsigned_abs());
        Decimal { negative: whole < 0, coefficient, exponent: 0 }
    }
}

impl Decimal {
    /// -1, 0 or 1.
    fn sign(self) -> i32 {
        if self.coefficient == 0 { 0 } else { 1 - 2 * i32::from(self.negative) }
    }

    /// The place of the first digit: below 10^scale, not below 10^(scale-1). Not for 0.
    fn scale(self) -> i32 {
        self.coefficient.ilog10() as i32 + 1 + self.exponent
    }

    /// The coefficient brought to 34 digits. Not for 0.
    fn aligned(self) -> u128 {
        self.coefficient * 10u128.pow(33 - self.coefficient.ilog10())
    }

    fn compare(self, other: Decimal) -> Ordering {
        let sign = self.sign();
        if sign != other.sign() || sign == 0 {
            return sign.cmp(&other.sign());
        }
        let order = (self.scale(), self.aligned()).cmp(&(other.scale(), other.aligned()));
        if sign < 0 { order.reverse() } else { order }
    }

    fn compare_to_double(self, double: f64) -> Ordering {
        let other = i32::from(double > 0.0) - i32::from(double < 0.0);
        let sign = self.sign();
        if sign != other || sign == 0 {
            return sign.cmp(&other);
        }
        let order = self.magnitude_against(double.abs());
        if sign < 0 { order.reverse() } else { order }
    }

    /// |self| against a positive double.
    fn magnitude_against(self, double: f64) -> Ordering {
        // No finite double but 0 lies outside of these.
        if self.scale() > 309 {
            return Ordering::Greater;
        }
        if self.scale() < -323 {
            return Ordering::Less;
        }
        // A rough product settles all but the close ones: it is right to a dozen digits.
        let rough = self.coefficient as f64 * 10f64.powi(self.exponent);
        if self.exponent.abs() <= 300 && (1e-290..1e300).contains(&rough) {
            if rough > double * (1.0 + 1e-9) {
                return Ordering::Greater;
            }
            if rough < double * (1.0 - 1e-9) {
                return Ordering::Less;
            }
        }
        let (mantissa, power) = parts(double);
        // c·10^e against m·2^q, each negative power carried over to the other side.
        let mut left = Big::new(self.coefficient);
        let mut right = Big::new(u128::from(mantissa));
        let (tens, twos) = (self.exponent, self.exponent - power);
        if tens >= 0 {
            left.times_5_to(tens)
        } else {
            right.times_5_to(-tens)
        }
        if twos >= 0 {
            left.shift(twos)
        } else {
            right.shift(-twos)
        }
        left.compare(&right)
    }

    /// The decimal that equals this finite double, if 34 digits are enough. No zeros at its end.
    fn exactly(double: f64) -> Option<Decimal> {
        let negative = double < 0.0;
        let (mantissa, power) = parts(double.abs());
        if mantissa == 0 {
            return Some(Decimal { negative, coefficient: 0, exponent: 0 });
        }
        let zeros = mantissa.trailing_zeros();
        let (mut mantissa, mut power) = (u128::from(mantissa >> zeros), power + zeros as i32);
        let mut exponent = 0;
        while power > 0 && mantissa % 5 == 0 {
            (mantissa, power, exponent) = (mantissa / 5, power - 1, exponent + 1);
        }
        let factor = if power >= 0 {
            1u128.checked_shl(power as u32)?
        } else {
            exponent = power;
            5u128.checked_pow(power.unsigned_abs())?
        };
        let coefficient = mantissa.checked_mul(factor).filter(|made| *made < COEFFICIENTS)?;
        Some(Decimal { negative, coefficient, exponent })
    }

    fn canonical(self) -> [u64; 3] {
        let Decimal { negative, mut coefficient, mut exponent } = self;
        if coefficient == 0 {
            return [0, 0, 0];
        }
        while coefficient % 10 == 0 {
            (coefficient, exponent) = (coefficient / 10, exponent + 1);
        }
        let stripped = Decimal { negative, coefficient, exponent };
        if exponent >= 0
            && let Some(whole) = stripped.rounded()
        {
            return [0, whole as u64, 0];
        }
        // The coefficient has 113 bits: there is room above for the exponent.
        let tag = 4 + u64::from(negative) + ((exponent as u32 as u64) << 32);
        [tag, coefficient as u64, (coefficient >> 64) as u64]
    }

    /// The nearest whole number, a half to the even side; `None` where it does not fit.
    fn rounded(self) -> Option<i64> {
        let magnitude = match self.exponent {
            _ if self.coefficient == 0 => 0,
            exponent if exponent >= 0 => {
                let power = 10u128.checked_pow(exponent.unsigned_abs())?;
                self.coefficient.checked_mul(power)?
            }
            // All 34 digits lie behind the second place: less than a half.
            exponent if exponent < -35 => 0,
            exponent => {
                let power = 10u128.pow(exponent.unsigned_abs());
                let (whole, rest) = (self.coefficient / power, self.coefficient % power);
                whole
                    + u128::from(match rest.cmp(&(power / 2)) {
                        Ordering::Less => false,
                        Ordering::Equal => whole % 2 == 1,
                        Ordering::Greater => true,
                    })
            }
        };
        let magnitude = i128::try_from(magnitude).ok()?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }
}

/// A positive finite double as mantissa × 2^power.
fn parts(double: f64) -> (u64, i32) {
    let bits = double.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 & 0x7ff {
        0 => (mantissa, -1074),
        biased => (mantissa | 1 << 52, biased - 1075),
    }
}

/// A whole number of up to 2560 bits: 113 + 832 bits of factors and a shift of at most 1400 fit.
struct Big {
    limbs: [u64; 40],
}

impl Big {
    fn new(number: u128) -> Big {
        let mut limbs = [0; 40];
        limbs[0] = number as u64;
        limbs[1] = (number >> 64) as u64;
        Big { limbs }
    }

    fn times_5_to(&mut self, mut power: i32) {
        while power > 0 {
            let step = power.min(27);
            self.times(5u64.pow(step.unsigned_abs()));
            power -= step;
        }
    }

    fn times(&mut self, factor: u64) {
        let mut carry = 0u128;
        for limb in &mut self.limbs {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        assert!(carry == 0, "the factors fit");
    }

    fn shift(&mut self, bits: i32) {
        let (limbs, bits) = (bits as usize / 64, bits as u32 % 64);
        for at in (0..self.limbs.len()).rev() {
            let high = at.checked_sub(limbs).map_or(0, |from| self.limbs[from]);
            let low = at.checked_sub(limbs + 1).map_or(0, |from| self.limbs[from]);
            self.limbs[at] = if bits == 0 { high } else { high << bits | low >> (64 - bits) };
        }
    }

    fn compare(&self, other: &Big) -> Ordering {
        self.limbs.iter().rev().cmp(other.limbs.iter().rev())
    }
}
