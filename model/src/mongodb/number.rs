//! What whole number is this value? The server's three answers.
//!
//! Sources: BSONElement's `safeNumberLong`, `safeNumberInt` and `numberLong`, and Decimal128's
//! default rounding, read in 4.0 and 5.0.

use bson::{Bson, Decimal128};

/// Is it a number of any of the four types?
pub fn is_number(value: &Bson) -> bool {
    matches!(value, Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_))
}

/// Is it NaN, as a double or as a decimal?
pub fn is_nan(value: &Bson) -> bool {
    match value {
        Bson::Double(double) => double.is_nan(),
        Bson::Decimal128(decimal) => matches!(Decimal::read(decimal), Decimal::Nan),
        _ => false,
    }
}

/// `safeNumberLong`: NaN is 0, what is too large is clamped, a double is truncated towards zero, a
/// decimal is rounded half to even. What is no number is 0.
pub fn safe_long(value: &Bson) -> i64 {
    match value {
        Bson::Int32(int) => i64::from(*int),
        Bson::Int64(long) => *long,
        // Rust's `as` does exactly this: saturating, NaN to 0, towards zero.
        Bson::Double(double) => *double as i64,
        Bson::Decimal128(decimal) => match Decimal::read(decimal) {
            Decimal::Nan => 0,
            Decimal::Infinite { negative } => end(negative),
            Decimal::Finite(finite) => finite.half_even().unwrap_or(end(finite.negative)),
        },
        _ => 0,
    }
}

/// `safeNumberInt`: [`safe_long`], clamped to 32 bits.
pub fn safe_int(value: &Bson) -> i32 {
    safe_long(value).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// `numberLong` on x86-64: as [`safe_long`], but NaN, the infinities and all that does not fit give
/// the smallest integer.
pub fn cast_long(value: &Bson) -> i64 {
    match value {
        Bson::Double(double) => {
            let fits = *double >= -(2f64.powi(63)) && *double < 2f64.powi(63);
            if fits { *double as i64 } else { i64::MIN }
        }
        Bson::Decimal128(decimal) => match Decimal::read(decimal) {
            Decimal::Finite(finite) => finite.half_even().unwrap_or(i64::MIN),
            Decimal::Nan | Decimal::Infinite { .. } => i64::MIN,
        },
        other => safe_long(other),
    }
}

/// The server's truth of a value: numbers but 0, `true`, and everything else but null and undefined.
pub fn is_true(value: &Bson) -> bool {
    match value {
        Bson::Boolean(truth) => *truth,
        Bson::Int32(int) => *int != 0,
        Bson::Int64(long) => *long != 0,
        Bson::Double(double) => *double != 0.0,
        Bson::Decimal128(decimal) => match Decimal::read(decimal) {
            Decimal::Finite(finite) => finite.coefficient != 0,
            _ => true,
        },
        Bson::Null | Bson::Undefined => false,
        _ => true,
    }
}

fn end(negative: bool) -> i64 {
    if negative { i64::MIN } else { i64::MAX }
}

/// A decimal, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// Not a number.
    Nan,
    /// One of the infinities.
    Infinite {
        /// The lower one?
        negative: bool,
    },
    /// A number.
    Finite(Finite),
}

/// ± coefficient × 10^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finite {
    /// Is there a minus sign? Zero may have one.
    pub negative: bool,
    /// Up to 34 decimal digits.
    pub coefficient: u128,
    /// From -6176 to 6111.
    pub exponent: i32,
}

impl Decimal {
    /// Reads the 128 bits (IEEE 754-2008, binary integer decimal).
    pub fn read(decimal: &Decimal128) -> Decimal {
        const LARGEST: u128 = 10u128.pow(34) - 1;
        let bits = u128::from_le_bytes(decimal.bytes());
        let negative = bits >> 127 == 1;
        match (bits >> 122) & 0b11111 {
            0b11111 => Decimal::Nan,
            0b11110 => Decimal::Infinite { negative },
            combination => {
                // Both leading bits set: the coefficient is too large to be canonical and counts as 0.
                let large = combination >> 3 == 0b11;
                let exponent = (bits >> if large { 111 } else { 113 }) & 0x3fff;
                let coefficient = if large { 0 } else { bits & ((1 << 113) - 1) };
                let coefficient = if coefficient > LARGEST { 0 } else { coefficient };
                Decimal::Finite(Finite { negative, coefficient, exponent: exponent as i32 - 6176 })
            }
        }
    }
}

impl Finite {
    /// The nearest whole number, a half going to the even one; `None` if it does not fit.
    fn half_even(self) -> Option<i64> {
        let magnitude = if self.coefficient == 0 {
            0
        } else if self.exponent >= 0 {
            let power = 10u128.checked_pow(self.exponent as u32)?;
            self.coefficient.checked_mul(power)?
        } else {
            // A coefficient has at most 34 digits: 36 places further down nothing is left.
            let power = 10u128.pow(self.exponent.unsigned_abs().min(36));
            let (whole, rest) = (self.coefficient / power, self.coefficient % power);
            let up = rest > power / 2 || rest == power / 2 && whole % 2 == 1;
            whole + u128::from(up)
        };
        let signed = i128::try_from(magnitude).ok()?;
        i64::try_from(if self.negative { -signed } else { signed }).ok()
    }
}
