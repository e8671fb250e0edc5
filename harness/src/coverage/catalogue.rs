//! Which rule carries an entry of the catalogue that the book was written from?

use std::collections::BTreeMap;

use ttlspec_model::Rule;

/// The word that the entries stand behind.
const MARK: &str = "*Catalogue.*";

/// Every entry that the book names, with the rules that carry it, in the order of the book.
pub fn catalogue() -> BTreeMap<String, Vec<Rule>> {
    let mut carried: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
    for rule in Rule::ALL {
        for id in ids(rule.text()) {
            carried.entry(id).or_default().push(*rule);
        }
    }
    carried
}

/// The entries that a text names behind its mark, up to the next mark or the end of the paragraph.
pub fn ids(text: &str) -> Vec<String> {
    let behind = text.split(MARK).skip(1);
    let named = behind.map(|rest| {
        let end = rest.find("\n\n").into_iter().chain(rest.find("\n*")).min();
        &rest[..end.unwrap_or(rest.len())]
    });
    let words = named.flat_map(|named| named.split(|c: char| !(c.is_alphanumeric() || c == '-')));
    words.filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// `MONGO-EXP-01` or `CASS-101`.
fn is_id(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let is_word = |part: &str| part.chars().all(|c| c.is_ascii_uppercase()) && !part.is_empty();
    let is_number = |part: &str| part.chars().all(|c| c.is_ascii_digit()) && !part.is_empty();
    match parts[..] {
        [system, section, number] => is_word(system) && is_word(section) && is_number(number),
        // Tickets look alike, so the system is named.
        [system, number] => system == "CASS" && is_number(number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_up_to_the_next_mark() {
        let text = "So it is.\n\n*Catalogue.* MONGO-EXP-01,\nMONGO-EXP-11; finding 3.\n\
                    *Source.* SERVER-1, MONGO-X-1";

        assert_eq!(ids(text), ["MONGO-EXP-01", "MONGO-EXP-11"]);
    }
}
