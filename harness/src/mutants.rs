//! What breaks where a rule is broken?
//!
//! A mutant is an engine with one mistake: the specification, wrong in one breath. Whoever holds
//! engines against the book must find every one of them, or the rule it breaks is not being held.
//! The mutants of a system stand in a folder of its name, in the file that bears the stem of their
//! rule's chapter and in the order of the rules; [`Mutant::of`] lists those of one rule.

use std::fmt;

use ttlspec_model::{Engine, Rule, Vocabulary};

use crate::check::Opener;
use crate::system::System;

pub(crate) mod cassandra;
mod kill;
pub(crate) mod mongodb;

pub use kill::{Fate, Hunt, Killed, Killer};

/// The specification with one mistake.
#[derive(Clone)]
pub struct Mutant<V: Vocabulary> {
    /// The mistake, in one breath.
    pub name: &'static str,
    /// The rule that it breaks.
    pub rule: Rule,
    /// Where the same mistake was made in earnest, if it was.
    pub seen: Option<Seen>,
    /// Opens the wrong engine, before anything was asked of it.
    pub opener: Opener<V>,
}

/// Where a mistake was made in earnest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// A ticket, `SERVER-68477`, or the name of another implementation.
    pub at: &'static str,
    /// What happened there.
    pub was: &'static str,
}

impl Seen {
    /// Is it a ticket: a word in capitals and a number?
    pub fn is_ticket(&self) -> bool {
        let all =
            |part: &str, is: fn(&u8) -> bool| !part.is_empty() && part.bytes().all(|b| is(&b));
        let parts = self.at.split_once('-');
        parts.is_some_and(|(word, number)| {
            all(word, u8::is_ascii_uppercase) && all(number, u8::is_ascii_digit)
        })
    }
}

impl<V: Vocabulary> Mutant<V> {
    /// The wrong engine, before anything was asked of it.
    pub fn open(&self, config: &V::Config) -> Box<dyn Engine<V>> {
        (self.opener)(config)
    }
}

impl<V: System> Mutant<V> {
    /// Those of the system that break this rule.
    pub fn of(rule: Rule) -> Vec<Mutant<V>> {
        V::mutants().into_iter().filter(|mutant| mutant.rule == rule).collect()
    }

    /// The one of the system with this name.
    pub fn named(name: &str) -> Option<Mutant<V>> {
        V::mutants().into_iter().find(|mutant| mutant.name == name)
    }
}

impl<V: Vocabulary> fmt::Debug for Mutant<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ttlspec_model::mongodb::MongoDb;

    use super::*;
    use crate::toy::Toy;

    fn stand_in_the_order_of_the_book<V: System>() {
        let rules: Vec<Rule> = V::mutants().iter().map(|mutant| mutant.rule).collect();

        assert!(!rules.is_empty());
        assert!(rules.is_sorted(), "{rules:?}");
    }

    #[test]
    fn mutants_stand_in_the_order_of_the_book() {
        stand_in_the_order_of_the_book::<MongoDb>();
        stand_in_the_order_of_the_book::<Toy>();
    }

    #[test]
    fn no_two_mutants_have_one_name() {
        let of_mongodb = MongoDb::mutants().into_iter().map(|mutant| mutant.name);
        let of_toy = Toy::mutants().into_iter().map(|mutant| mutant.name);
        let mut names = BTreeSet::new();

        for name in of_mongodb.chain(of_toy) {
            assert!(names.insert(name), "`{name}` stands twice");
        }
    }

    #[test]
    fn a_ticket_is_a_word_in_capitals_and_a_number() {
        let is_ticket = |at| Seen { at, was: "" }.is_ticket();

        assert!(is_ticket("SERVER-68477"));
        assert!(!is_ticket("pg_documentdb 0.106"));
        assert!(!is_ticket("SERVER-"));
        assert!(!is_ticket("-1"));
    }
}
