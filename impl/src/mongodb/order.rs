//! How do two raw values compare, and what do equal ones have in common?

use std::cmp::Ordering;

use super::bytes::{
    DEEPEST, Elements, Value, code_and_scope, kind, pattern_and_options, subtype_and_payload,
};
use super::number::Number;

/// The class of a type: values of two classes never compare but by their classes.
#[inline]
pub fn class(kind: u8) -> i8 {
    match kind {
        kind::MIN_KEY => -1,
        kind::UNDEFINED => 0,
        kind::NULL => 5,
        kind::INT32 | kind::INT64 | kind::DOUBLE | kind::DECIMAL => 10,
        kind::STRING | kind::SYMBOL => 15,
        kind::DOCUMENT => 20,
        kind::ARRAY => 25,
        kind::BINARY => 30,
        kind::OBJECT_ID => 35,
        kind::BOOLEAN => 40,
        kind::DATE => 45,
        kind::TIMESTAMP => 47,
        kind::REGEX => 50,
        kind::DB_POINTER => 55,
        kind::CODE => 60,
        kind::CODE_WITH_SCOPE => 65,
        _ => i8::MAX,
    }
}

/// Is it a number of any of the four types?
#[inline]
pub fn is_number(kind: u8) -> bool {
    matches!(kind, kind::INT32 | kind::INT64 | kind::DOUBLE | kind::DECIMAL)
}

/// The server's order of two values. Broken bytes inside of them are passed over.
pub fn compare(a: Value<'_>, b: Value<'_>) -> Ordering {
    compare_at(a, b, 0)
}

/// Are they equal to the server: 1 and 1.0, NaN and NaN?
#[inline]
pub fn equal(a: Value<'_>, b: Value<'_>) -> bool {
    compare(a, b).is_eq()
}

/// The order of two documents.
pub fn compare_documents(a: &[u8], b: &[u8]) -> Ordering {
    compare(Value::new(kind::DOCUMENT, a), Value::new(kind::DOCUMENT, b))
}

fn compare_at(a: Value<'_>, b: Value<'_>, depth: usize) -> Ordering {
    match class(a.kind).cmp(&class(b.kind)) {
        Ordering::Equal => within(a, b, depth),
        other => other,
    }
}

fn within(a: Value<'_>, b: Value<'_>, depth: usize) -> Ordering {
    match a.kind {
        kind::INT32 | kind::INT64 | kind::DOUBLE | kind::DECIMAL => {
            match (Number::read(a), Number::read(b)) {
                (Some(a), Some(b)) => a.compare(b),
                _ => a.bytes.cmp(b.bytes),
            }
        }
        kind::STRING | kind::SYMBOL | kind::CODE => a.text().cmp(&b.text()),
        kind::DATE => a.date().cmp(&b.date()),
        kind::DOCUMENT | kind::ARRAY => compare_inside(a, b, depth + 1),
        kind::BINARY => {
            let ((s, a), (t, b)) = (subtype_and_payload(a.bytes), subtype_and_payload(b.bytes));
            a.len().cmp(&b.len()).then(s.cmp(&t)).then_with(|| a.cmp(b))
        }
        kind::TIMESTAMP => unsigned(a).cmp(&unsigned(b)),
        kind::REGEX => pattern_and_options(a.bytes).cmp(&pattern_and_options(b.bytes)),
        kind::DB_POINTER => a.bytes.len().cmp(&b.bytes.len()).then_with(|| a.bytes.cmp(b.bytes)),
        kind::CODE_WITH_SCOPE => match (code_and_scope(a), code_and_scope(b)) {
            (Some((a, s)), Some((b, t))) => a.cmp(b).then_with(|| compare_inside(s, t, depth + 1)),
            _ => a.bytes.cmp(b.bytes),
        },
        kind::OBJECT_ID | kind::BOOLEAN => a.bytes.cmp(b.bytes),
        _ => Ordering::Equal,
    }
}

/// The seconds stand in the upper half.
fn unsigned(timestamp: Value<'_>) -> Option<u64> {
    timestamp.bytes.try_into().ok().map(u64::from_le_bytes)
}

/// Field by field: first the class, then the name (which the elements of an array do not have),
/// then the value. What is over decides last.
fn compare_inside(a: Value<'_>, b: Value<'_>, depth: usize) -> Ordering {
    let (Ok(mut xs), Ok(mut ys)) = (a.elements(), b.elements()) else {
        return a.bytes.cmp(b.bytes);
    };
    if depth > DEEPEST {
        return a.bytes.cmp(b.bytes);
    }
    let is_array = a.kind == kind::ARRAY;
    loop {
        let ((m, x), (n, y)) = match (step(&mut xs), step(&mut ys)) {
            (Some(x), Some(y)) => (x, y),
            (x, y) => return x.is_some().cmp(&y.is_some()),
        };
        let by_name = if is_array { Ordering::Equal } else { m.cmp(n) };
        let order =
            class(x.kind).cmp(&class(y.kind)).then(by_name).then_with(|| within(x, y, depth));
        if order.is_ne() {
            return order;
        }
    }
}

fn step<'a>(elements: &mut Elements<'a>) -> Option<(&'a [u8], Value<'a>)> {
    elements.advance().ok().flatten()
}

/// A number that equal values share.
///
/// It is taken over the value's canonical bytes, which are never written down: the class, then what
/// the order looks at, so that 1, 1.0 and the decimal 1.00 give the same.
pub fn hash(value: Value<'_>) -> u64 {
    let mut fold = Fold(SEED);
    fold.value(value, 0);
    fold.0
}

const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words folded into one by the two halves of a product.
struct Fold(u64);

impl Fold {
    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64) ^ (product >> 64) as u64 ^ word.rotate_left(32);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn value(&mut self, value: Value<'_>, depth: usize) {
        self.word(class(value.kind) as u64);
        match value.kind {
            kind::INT32 | kind::INT64 | kind::DOUBLE | kind::DECIMAL => {
                if let Some(number) = Number::read(value) {
                    let [tag, low, high] = number.canonical();
                    self.word(low);
                    if tag != 0 {
                        self.word(tag);
                        self.word(high);
                    }
                }
            }
            kind::STRING | kind::SYMBOL | kind::CODE => {
                self.bytes(value.text().unwrap_or_default());
            }
            kind::DOCUMENT | kind::ARRAY => self.inside(value, depth + 1),
            kind::BINARY => {
                let (subtype, payload) = subtype_and_payload(value.bytes);
                self.word(u64::from(subtype));
                self.bytes(payload);
            }
            kind::REGEX => {
                let (pattern, options) = pattern_and_options(value.bytes);
                self.bytes(pattern);
                self.bytes(options);
            }
            kind::CODE_WITH_SCOPE => match code_and_scope(value) {
                Some((code, scope)) => {
                    self.bytes(code);
                    self.inside(scope, depth + 1);
                }
                None => self.bytes(value.bytes),
            },
            _ => self.bytes(value.bytes),
        }
    }

    fn inside(&mut self, value: Value<'_>, depth: usize) {
        let Ok(mut elements) = value.elements() else { return };
        if depth > DEEPEST {
            return;
        }
        while let Some((name, inner)) = step(&mut elements) {
            if value.kind == kind::DOCUMENT {
                self.bytes(name);
            }
            self.value(inner, depth);
        }
        self.word(u64::MAX);
    }
}
