//! Which of the known names was meant?

use strsim::osa_distance;

/// So many names are listed.
const MOST_LISTED: usize = 12;
/// What is longer is no slip of the pen.
const LONGEST: usize = 200;

/// What to write in the place of `found`.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>, found: &str) -> String {
    let names: Vec<&str> = names.collect();
    match nearest(names.iter().copied(), found) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "make it before it is spoken of".to_owned(),
        None => {
            let more = match names.len().saturating_sub(MOST_LISTED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            format!("write one of: {}{more}", names[..names.len().min(MOST_LISTED)].join(", "))
        }
    }
}

/// The name that differs from `found` in a third of its letters at most, capitals aside.
pub(crate) fn nearest<'a>(names: impl Iterator<Item = &'a str>, found: &str) -> Option<&'a str> {
    if found.len() > LONGEST {
        return None;
    }
    let found = found.to_lowercase();
    let distance = |name: &str| osa_distance(&found, &name.to_lowercase());
    let (away, near) = names.map(|name| (distance(name), name)).min()?;
    let letters = found.chars().count().max(near.chars().count());
    (away * 3 <= letters).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let known = ["rate", "from", "to", "offset", "jitter"];
        let near = |found: &str| nearest(known.into_iter(), found);

        assert_eq!(near("ofset"), Some("offset"));
        assert_eq!(near("Rate"), Some("rate"));
        assert_eq!(near("form"), Some("from"));
        assert_eq!(near("foo"), None);
        assert_eq!(near(""), None);
        assert_eq!(near(&"o".repeat(1 << 20)), None);
        assert_eq!(one_of(["t"].into_iter(), "u"), "write one of: t");
    }
}
