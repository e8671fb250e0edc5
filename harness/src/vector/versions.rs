//! At which versions is a vector run?

use serde_json::Value;

use crate::notation::{Fault, list, text};

/// The versions at which a vector is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Exactly these.
    List(Vec<String>),
    /// Of the versions that the system names, those in a range: `>=5.0.14 <6.0 || >=6.0.2`.
    Range(String),
}

impl Versions {
    /// Reads a list, or a range.
    ///
    /// # Errors
    /// [`Fault`] where it is neither, or has nothing in it.
    pub(super) fn read(value: &Value) -> Result<Versions, Fault> {
        match value {
            Value::String(range) => {
                parse_range(range).map_err(Fault::new)?;
                Ok(Versions::Range(range.clone()))
            }
            Value::Array(items) if !items.is_empty() => {
                let versions = list(value, |item| text(item).map(str::to_owned))?;
                match (1..versions.len()).find(|&i| versions[..i].contains(&versions[i])) {
                    None => Ok(Versions::List(versions)),
                    Some(i) => {
                        let twice = format!("the version `{}` stands twice", versions[i]);
                        Err(Fault::new(twice).within(i))
                    }
                }
            }
            other => Err(Fault::expected(
                "a list of versions such as [\"4.0.0\", \"7.0.14\"], or a range such as \
                 \">=5.0.14 <6.0 || >=6.0.2\"",
                other,
            )),
        }
    }

    /// Those of `known` in the range, or the ones that are listed.
    pub fn chosen<'a>(&'a self, known: &'a [String]) -> Vec<&'a str> {
        match self {
            Versions::List(versions) => versions.iter().map(String::as_str).collect(),
            Versions::Range(range) => {
                let alternatives = parse_range(range).unwrap_or_default();
                let within = |version: &&String| {
                    numbers(version).is_some_and(|version| {
                        alternatives.iter().any(|all| all.iter().all(|bound| bound.holds(&version)))
                    })
                };
                known.iter().filter(within).map(String::as_str).collect()
            }
        }
    }
}

/// A bound on versions.
#[derive(Clone, Debug)]
struct Bound {
    sign: &'static str,
    version: [u64; 3],
}

impl Bound {
    fn holds(&self, version: &[u64; 3]) -> bool {
        match self.sign {
            ">=" => *version >= self.version,
            "<=" => *version <= self.version,
            ">" => *version > self.version,
            "<" => *version < self.version,
            _ => *version == self.version,
        }
    }
}

/// Alternatives, each a list of bounds that all hold.
fn parse_range(range: &str) -> Result<Vec<Vec<Bound>>, String> {
    let alternative = |all: &str| {
        let bounds: Vec<Bound> =
            all.split_whitespace().map(parse_bound).collect::<Result<_, _>>()?;
        if bounds.is_empty() { Err(format!("an empty range in `{range}`")) } else { Ok(bounds) }
    };
    range.split("||").map(alternative).collect()
}

fn parse_bound(bound: &str) -> Result<Bound, String> {
    let sign = [">=", "<=", ">", "<", "="].into_iter().find(|sign| bound.starts_with(sign));
    let read =
        sign.and_then(|sign| numbers(&bound[sign.len()..]).map(|version| Bound { sign, version }));
    read.ok_or_else(|| {
        format!("expected bounds such as `>=5.0.14 <6.0`, without a space within, found `{bound}`")
    })
}

/// The numbers of a version; what is missing is 0.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    for (i, part) in version.split('.').enumerate() {
        let digits = part.chars().all(|c| c.is_ascii_digit());
        *numbers.get_mut(i)? = part.parse().ok().filter(|_| digits)?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(range: &str) -> Vec<String> {
        let known = ["4.0.0", "5.0.0", "5.0.14", "6.0.0", "6.0.2", "7.0.0"].map(str::to_owned);
        let versions = Versions::read(&Value::from(range)).expect("it is a range");
        versions.chosen(&known).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_range_chooses_among_the_known_versions() {
        assert_eq!(chosen(">=5.0.14 <6.0 || >=6.0.2"), ["5.0.14", "6.0.2", "7.0.0"]);
        assert_eq!(chosen("=4.0.0"), ["4.0.0"]);
        assert_eq!(chosen("<=5.0 || >6.0.2"), ["4.0.0", "5.0.0", "7.0.0"]);
        assert_eq!(chosen(">8"), [""; 0]);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for range in ["", "5.0", ">= 5.0", ">=5.x", ">=1.2.3.4", ">=5 ||", "^5", ">=+5"] {
            assert!(Versions::read(&Value::from(range)).is_err(), "{range}");
        }
    }
}
