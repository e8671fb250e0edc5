//! Was this value there before?

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use bson::Bson;
use ttlspec_model::mongodb::Value;

/// Values that were seen, as 128 bits each.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    values: HashSet<(u64, u64)>,
}

/// No more values than this are kept, which bounds the memory; later ones count as new.
const MOST: usize = 4_000_000;

impl Seen {
    /// Keeps the value, and answers whether it was not there.
    pub fn is_new(&mut self, value: &Bson) -> bool {
        let of = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            Value(one_type(value)).hash(&mut hasher);
            hasher.finish()
        };
        let both = (of(1), of(2));
        if self.values.len() < MOST {
            self.values.insert(both)
        } else {
            !self.values.contains(&both)
        }
    }
}

/// To the server 1 and 1.0 are one value.
fn one_type(value: &Bson) -> Bson {
    match value {
        Bson::Int32(int) => Bson::Int64(i64::from(*int)),
        Bson::Double(double) if double.fract() == 0.0 && double.abs() < 2f64.powi(53) => {
            Bson::Int64(*double as i64)
        }
        value => value.clone(),
    }
}
