//! A verdict together with the rules it rests on, and the list of all rules.

use std::fmt;

/// A verdict, and the rules it rests on in the order in which they decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruling<T> {
    /// What was decided.
    pub verdict: T,
    /// Why: every rule that the decision rests on, the first first. None stands twice.
    pub because: Vec<Rule>,
}

impl<T> Ruling<T> {
    /// Something that no rule had to decide.
    pub fn plain(verdict: T) -> Ruling<T> {
        Ruling { verdict, because: Vec::new() }
    }

    /// The same verdict, resting on `rule` as well.
    pub fn and(mut self, rule: Rule) -> Ruling<T> {
        if !self.because.contains(&rule) {
            self.because.push(rule);
        }
        self
    }

    /// The same verdict, resting first on `rules`.
    pub fn after(self, rules: &[Rule]) -> Ruling<T> {
        let mut because = Vec::with_capacity(rules.len() + self.because.len());
        for rule in rules.iter().copied().chain(self.because) {
            if !because.contains(&rule) {
                because.push(rule);
            }
        }
        Ruling { verdict: self.verdict, because }
    }

    /// The same rules, with the verdict seen another way.
    pub fn map<U>(self, see: impl FnOnce(T) -> U) -> Ruling<U> {
        Ruling { verdict: see(self.verdict), because: self.because }
    }

    /// Decides further from this verdict; its rules stand first.
    pub fn then<U>(self, decide: impl FnOnce(T) -> Ruling<U>) -> Ruling<U> {
        let Ruling { verdict, because } = self;
        decide(verdict).after(&because)
    }
}

/// Ends a deciding arm: the verdict and the rule it rests on.
pub trait By: Sized {
    /// This verdict, resting on `rule`.
    fn by(self, rule: Rule) -> Ruling<Self> {
        Ruling { verdict: self, because: vec![rule] }
    }
}

impl<T> By for T {}

/// How much a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The model decides by it.
    Decided,
    /// The book states it; nothing here decides by it, and the chapter says why.
    NotModelled,
}

macro_rules! rules {
    ($($(#[$chapter:meta])* $stem:literal { $($variant:ident = $name:literal),* $(,)? })*) => {
        /// A rule of the book. Its name is the heading that states it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the book documents each rule under its name")]
        pub enum Rule { $($($variant),*),* }

        impl Rule {
            /// All rules in the order of the book.
            pub const ALL: &[Rule] = &[$($(Rule::$variant),*),*];

            /// The name: `mongodb.threshold.from`.
            pub const fn name(self) -> &'static str {
                match self { $($(Rule::$variant => $name),*),* }
            }

            /// The chapter that states it, below `specs/`: `mongodb/3-threshold`.
            pub const fn chapter(self) -> &'static str {
                match self { $($(Rule::$variant => $stem),*),* }
            }
        }

        /// The chapters in the order of the book, each with its text.
        pub const CHAPTERS: &[(&str, &str)] =
            &[$(($stem, include_str!(concat!("../../specs/", $stem, ".md")))),*];
    };
}

include!("rules.rs");

impl Rule {
    /// The rule with this name.
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    /// What stands under its heading in the book.
    pub fn text(self) -> &'static str {
        let (_, chapter) = CHAPTERS
            .iter()
            .find(|(stem, _)| *stem == self.chapter())
            .expect("every rule has a chapter");
        let heading = format!("### {}\n", self.name());
        let start = chapter.find(&heading).map_or(chapter.len(), |at| at + heading.len());
        let rest = &chapter[start..];
        let end = rest.find("\n## ").into_iter().chain(rest.find("\n### ")).min();
        rest[..end.unwrap_or(rest.len())].trim()
    }

    /// The rule itself: the first paragraph under its heading, on one line.
    pub fn sentence(self) -> String {
        let first = self.text().split("\n\n").next().unwrap_or_default();
        first.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Does anything decide by it?
    pub fn level(self) -> Level {
        if self.text().contains("*Not modelled.*") { Level::NotModelled } else { Level::Decided }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
