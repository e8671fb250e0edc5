//! What is simpler than a value?
//!
//! Each answer lies strictly before the value in one order, so that going from one to the next
//! ends: first by how many values there are in it, then by how far they are from plain numbers.

use bson::{Bson, Document};

use crate::values::NOW;

/// Simpler documents: without a field, or with a simpler value in one. `kept` stays.
pub(super) fn documents(document: &Document, kept: &[&str]) -> Vec<Document> {
    let is_free = |name: &&String| !kept.contains(&name.as_str());
    let without = document.keys().filter(is_free).map(|name| {
        let mut simpler = document.clone();
        simpler.remove(name);
        simpler
    });
    let simplified = document.iter().flat_map(|(name, value)| {
        values(value).into_iter().map(move |value| {
            let mut simpler = document.clone();
            simpler.insert(name, value);
            simpler
        })
    });
    without.chain(simplified).collect()
}

/// Simpler values.
pub(super) fn values(value: &Bson) -> Vec<Bson> {
    match value {
        Bson::Document(document) => {
            let inner = document.iter().map(|(_, value)| value.clone());
            inner.chain(documents(document, &[]).into_iter().map(Bson::Document)).collect()
        }
        Bson::Array(array) => arrays(array),
        Bson::DateTime(date) => {
            let dates = instants(date.timestamp_millis()).into_iter();
            dates.map(|date| Bson::DateTime(bson::DateTime::from_millis(date))).collect()
        }
        Bson::Int32(int) => simpler_of(*int, &[0, 1, 2, 10]).map(Bson::Int32).collect(),
        Bson::Int64(long) => {
            let ints = i32::try_from(*long).ok().map(Bson::Int32);
            ints.into_iter().chain(simpler_of(*long, &[1 << 31]).map(Bson::Int64)).collect()
        }
        Bson::Double(double) if double.is_nan() => Vec::new(),
        Bson::Double(double) => {
            let int = *double as i32;
            let int = (f64::from(int) == *double).then_some(Bson::Int32(int));
            int.into_iter().chain(simpler_of(*double, &[0.5, 1.5]).map(Bson::Double)).collect()
        }
        Bson::Decimal128(_) => vec![Bson::Int32(0), Bson::Double(1.5), Bson::Double(f64::NAN)],
        Bson::String(text) if text.is_empty() => Vec::new(),
        Bson::String(text) => {
            let mut shorter = text.clone();
            shorter.pop();
            vec![Bson::String(shorter)]
        }
        Bson::Null | Bson::Boolean(_) => Vec::new(),
        _ => vec![Bson::Null, Bson::Boolean(true), Bson::Int32(0), Bson::String(String::new())],
    }
}

/// The values of `few` that come before `value`: all of them if it is none of them.
fn simpler_of<T: Copy + PartialEq>(value: T, few: &[T]) -> impl Iterator<Item = T> {
    few.iter().copied().take_while(move |simple| *simple != value)
}

/// Simpler instants: the beginning of time as we count it, now, whole seconds.
pub(super) fn instants(millis: i64) -> Vec<i64> {
    let whole = millis - millis % 1_000;
    let few = [0, 10_000, NOW.0];
    if few.contains(&millis) {
        simpler_of(millis, &few).collect()
    } else {
        few.into_iter().chain((whole != millis).then_some(whole)).collect()
    }
}

fn arrays(array: &[Bson]) -> Vec<Bson> {
    let inner = array.iter().cloned();
    let without = (0..array.len()).map(|at| {
        let mut simpler = array.to_vec();
        simpler.remove(at);
        Bson::Array(simpler)
    });
    let simplified = array.iter().enumerate().flat_map(|(at, value)| {
        values(value).into_iter().map(move |value| {
            let mut simpler = array.to_vec();
            simpler[at] = value;
            Bson::Array(simpler)
        })
    });
    inner.chain(without).chain(simplified).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Seeded;
    use crate::values::mongodb::value;

    #[test]
    fn going_to_the_simplest_ends() {
        let mut source = Seeded::new(3);
        for _ in 0..500 {
            let mut value = value(&mut source);
            for steps in 0.. {
                assert!(steps < 10_000, "{value} gets no simpler");
                match values(&value).pop() {
                    Some(simpler) => value = simpler,
                    None => break,
                }
            }
        }
    }
}
