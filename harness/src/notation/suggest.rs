//! Which of the known words was probably meant?

/// The known words for a message: ``one of `a`, `b` ``, or the only one.
pub fn one_of(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        all => format!("one of {}", all.join(", ")),
    }
}

/// ``; did you mean `insert`?`` where one of the known words is near, otherwise nothing.
pub fn suggestion(found: &str, known: &[&str]) -> String {
    // A third of the letters may be wrong, and at least one.
    let allowed = (found.chars().count() / 3).max(1);
    let near = known
        .iter()
        .map(|word| (distance(&found.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance);
    near.map_or_else(String::new, |(_, word)| format!("; did you mean `{word}`?"))
}

/// How many letters have to be put in, taken out, changed or swapped with their neighbour?
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before_last[j - 2] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_are_one_mistake() {
        assert_eq!(distance("insret", "insert"), 1);
        assert_eq!(distance("", "pass"), 4);
        assert_eq!(distance("pass", "pass"), 0);
    }

    #[test]
    fn a_word_that_is_far_from_all_suggests_nothing() {
        assert_eq!(suggestion("compact", &["pass", "find"]), "");
        assert_eq!(suggestion("Pass", &["pass", "find"]), "; did you mean `pass`?");
    }
}
