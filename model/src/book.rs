//! Which rules are in force, and which of them have decided?
//!
//! Where a verdict rests on many small decisions about a large structure, the book goes along: a
//! deciding arm asks [`Book::by`] whether its rule is in force, and with that cites it. A rule that
//! is switched off decides nothing, and the next one in line does. So each rule can be tried
//! without, which shows what it is for.

use std::cell::{Cell, RefCell};

use crate::ruling::{Rule, Ruling};

/// The book, open during one step.
#[derive(Debug, Default)]
pub struct Book {
    off: [u64; WORDS],
    cited: Cell<[u64; WORDS]>,
    because: RefCell<Vec<Rule>>,
}

const WORDS: usize = Rule::ALL.len() / 64 + 1;

impl Book {
    /// The book without these rules.
    pub fn without(rules: &[Rule]) -> Book {
        let mut book = Book::default();
        for rule in rules {
            let (word, bit) = place(*rule);
            book.off[word] |= bit;
        }
        book
    }

    /// Is `rule` in force? Then it decides here, and is cited.
    pub fn by(&self, rule: Rule) -> bool {
        let (word, bit) = place(rule);
        if self.off[word] & bit != 0 {
            return false;
        }
        let mut cited = self.cited.get();
        if cited[word] & bit == 0 {
            cited[word] |= bit;
            self.cited.set(cited);
            self.because.borrow_mut().push(rule);
        }
        true
    }

    /// What was decided, with the rules that decided it, the first first.
    pub fn close<T>(self, verdict: T) -> Ruling<T> {
        Ruling { verdict, because: self.because.into_inner() }
    }
}

const fn place(rule: Rule) -> (usize, u64) {
    (rule as usize / 64, 1 << (rule as usize % 64))
}
