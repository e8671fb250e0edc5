//! How does the server order two values?
//!
//! First by the class of their types, then within the class. Numbers of all types are one class and
//! are compared by what they are worth, exactly. Source: `BSONElement::compareElements`.

use std::cmp::Ordering;

use bson::{Bson, Document, doc};

use super::number::{Decimal, Finite};

/// The class of a type: values of two classes never compare but by their classes.
pub fn class(value: &Bson) -> i32 {
    match value {
        Bson::MinKey => -1,
        Bson::Undefined => 0,
        Bson::Null => 5,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => 10,
        Bson::String(_) | Bson::Symbol(_) => 15,
        Bson::Document(_) => 20,
        Bson::Array(_) => 25,
        Bson::Binary(_) => 30,
        Bson::ObjectId(_) => 35,
        Bson::Boolean(_) => 40,
        Bson::DateTime(_) => 45,
        Bson::Timestamp(_) => 47,
        Bson::RegularExpression(_) => 50,
        Bson::DbPointer(_) => 55,
        Bson::JavaScriptCode(_) => 60,
        Bson::JavaScriptCodeWithScope(_) => 65,
        Bson::MaxKey => 127,
    }
}

/// The order of two values.
pub fn compare(a: &Bson, b: &Bson) -> Ordering {
    class(a).cmp(&class(b)).then_with(|| match (a, b) {
        (Bson::String(a) | Bson::Symbol(a), Bson::String(b) | Bson::Symbol(b)) => a.cmp(b),
        (Bson::Document(a), Bson::Document(b)) => compare_documents(a, b),
        (Bson::Array(a), Bson::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        (Bson::Binary(a), Bson::Binary(b)) => (a.bytes.len().cmp(&b.bytes.len()))
            .then(u8::from(a.subtype).cmp(&u8::from(b.subtype)))
            .then_with(|| a.bytes.cmp(&b.bytes)),
        (Bson::ObjectId(a), Bson::ObjectId(b)) => a.bytes().cmp(&b.bytes()),
        (Bson::Boolean(a), Bson::Boolean(b)) => a.cmp(b),
        (Bson::DateTime(a), Bson::DateTime(b)) => a.timestamp_millis().cmp(&b.timestamp_millis()),
        (Bson::Timestamp(a), Bson::Timestamp(b)) => {
            (a.time, a.increment).cmp(&(b.time, b.increment))
        }
        (Bson::RegularExpression(a), Bson::RegularExpression(b)) => {
            let (p, q) = (a.pattern.as_str(), b.pattern.as_str());
            p.cmp(q).then_with(|| a.options.as_str().cmp(b.options.as_str()))
        }
        (Bson::DbPointer(_), Bson::DbPointer(_)) => compare_bytes(a, b),
        (Bson::JavaScriptCode(a), Bson::JavaScriptCode(b)) => a.cmp(b),
        (Bson::JavaScriptCodeWithScope(a), Bson::JavaScriptCodeWithScope(b)) => {
            a.code.cmp(&b.code).then_with(|| compare_documents(&a.scope, &b.scope))
        }
        _ if class(a) == 10 => compare_numbers(a, b),
        _ => Ordering::Equal,
    })
}

/// Are they equal to the server: 1 and 1.0, NaN and NaN?
pub fn equal(a: &Bson, b: &Bson) -> bool {
    compare(a, b) == Ordering::Equal
}

/// The order of two documents: field by field; of each first the class, then the name, then the
/// value.
pub fn compare_documents(a: &Document, b: &Document) -> Ordering {
    let fields = a.iter().zip(b).map(|((m, x), (n, y))| {
        class(x).cmp(&class(y)).then_with(|| m.cmp(n)).then_with(|| compare(x, y))
    });
    first_difference(fields).then(a.len().cmp(&b.len()))
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// A DBPointer's fields cannot be read through the crate; its bytes can.
fn compare_bytes(a: &Bson, b: &Bson) -> Ordering {
    let bytes = |value: &Bson| doc! { "": value.clone() }.to_vec().unwrap_or_default();
    let (a, b) = (bytes(a), bytes(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

/// NaN is equal to itself and below every other number; -0 is 0.
fn compare_numbers(a: &Bson, b: &Bson) -> Ordering {
    worth(a).cmp(&worth(b))
}

/// What a number is worth, in a form whose order is the order of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Nan,
    BelowAll,
    Below(std::cmp::Reverse<Magnitude>),
    Zero,
    Above(Magnitude),
    AboveAll,
}

/// 0.d₁d₂d₃… × 10^scale, the first digit not 0, no zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude {
    scale: i64,
    digits: String,
}

fn worth(number: &Bson) -> Worth {
    match number {
        Bson::Int32(int) => decimal(*int < 0, int.unsigned_abs().to_string(), 0),
        Bson::Int64(long) => decimal(*long < 0, long.unsigned_abs().to_string(), 0),
        Bson::Double(double) if double.is_nan() => Worth::Nan,
        Bson::Double(double) if double.is_infinite() => infinite(*double < 0.0),
        // Every double is a finite decimal, and 1074 places write the longest of them in full.
        Bson::Double(double) => {
            let written = format!("{:.1074}", double.abs());
            decimal(*double < 0.0, written.replace('.', ""), -1074)
        }
        Bson::Decimal128(bits) => match Decimal::read(bits) {
            Decimal::Nan => Worth::Nan,
            Decimal::Infinite { negative } => infinite(negative),
            Decimal::Finite(Finite { negative, coefficient, exponent }) => {
                decimal(negative, coefficient.to_string(), i64::from(exponent))
            }
        },
        _ => Worth::Zero,
    }
}

fn infinite(negative: bool) -> Worth {
    if negative { Worth::BelowAll } else { Worth::AboveAll }
}

fn decimal(negative: bool, digits: String, exponent: i64) -> Worth {
    let digits = digits.trim_start_matches('0');
    let scale = digits.len() as i64 + exponent;
    let digits = digits.trim_end_matches('0').to_owned();
    match (digits.is_empty(), negative) {
        (true, _) => Worth::Zero,
        (false, true) => Worth::Below(std::cmp::Reverse(Magnitude { scale, digits })),
        (false, false) => Worth::Above(Magnitude { scale, digits }),
    }
}
