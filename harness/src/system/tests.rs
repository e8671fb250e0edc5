//! All that is built on [`System`] works for the toy, of which nothing is known here but its words.

use ttlspec_model::{Engine, Millis, Reference, Unsupported};

use super::*;
use crate::check::opener;
use crate::fuzzing;
use crate::mutants::{Fate, Hunt, Killed, Killer};
use crate::toy::{Answer, ForgetsLate, Setup, Toy, Word};
use crate::vector;

const VECTOR: &str = r#"format = 1
spec   = "toy"
config = { version = "1.0", limit = 3 }

[[vector]]
name  = "a second later nothing is left"
steps = [
  { at_ms = 0,     do = { add = 2 }, see = "ok" },
  { at_ms = 1_000, do = "tick",      see = "ok", by = ["mongodb.life.whole"] },
  { at_ms = 1_000, do = "ask",       see = { total = 0 } },
]
"#;

fn vectors() -> Vec<Vector<Toy>> {
    let file = vector::parse("toy.toml", VECTOR.as_bytes());
    file.unwrap_or_else(|errors| panic!("{errors}")).vectors
}

#[test]
fn whoever_is_sent_finds_a_mutant() {
    let late = Mutant::<Toy>::named("forgets one millisecond late").expect("it has this name");
    let vectors = vectors();
    let by = |hunt: Hunt<Toy>| match hunt.fate(&late) {
        Fate::Killed(Killed { by, .. }) => by,
        survived @ Fate::Survived { .. } => panic!("found {survived:?}"),
    };

    assert_eq!(by(Hunt::new(&vectors)), Killer::Vector(vectors[0].name.clone()));
    assert!(matches!(by(Hunt::new(&[])), Killer::Lockstep { .. }));
    assert_eq!(by(Hunt::new(&[]).lockstep(1, 0)), Killer::Check("sum 1.0".to_owned()));
}

#[test]
fn a_mutant_may_be_the_specification_set_up_otherwise() {
    let mutant = &Mutant::<Toy>::of(ttlspec_model::Rule::MongodbLifeClock)[0];

    let fate = Hunt::new(&[]).fate(mutant);

    assert!(matches!(fate, Fate::Killed(_)), "{mutant:?}: {fate:?}");
}

#[test]
fn nobody_finds_the_specification() {
    let right =
        Mutant::<Toy> { opener: opener(Reference::<Toy>::open), ..Toy::mutants().remove(0) };

    assert_eq!(Hunt::new(&vectors()).fate(&right), Fate::Survived { steps: 200_000 });
}

/// Takes each question for one more.
struct CountsQuestions(i64);

impl Engine<Toy> for CountsQuestions {
    fn apply(&mut self, _: Millis, op: &Word) -> Result<Answer, Unsupported> {
        self.0 += i64::from(*op == Word::Ask);
        Ok(Answer::Total(self.0))
    }
}

#[test]
fn a_property_holds_of_the_specification_and_not_of_what_breaks_it() {
    let [property] = Toy::properties() else { panic!("the toy has one property") };

    let right = property.run(1, 100, &opener(Reference::<Toy>::open));
    let wrong = property.run(1, 100, &opener(|_: &Setup| CountsQuestions(0)));

    assert_eq!(right.failure, None);
    assert!(right.held > 50 && right.not_there > 0, "{right:?}");
    let (_, how) = wrong.failure.expect("the first question is counted");
    assert_eq!(how, "expected Ok(Total(1)), found Ok(Total(2))");
}

#[test]
fn a_vector_becomes_the_bytes_of_a_script_and_of_a_file() {
    let seeds = fuzzing::seeds(&vectors());

    let targets: Vec<&str> = seeds.iter().map(|seed| seed.target.as_str()).collect();
    assert_eq!(targets, ["toy_ops", "vector_parse"]);
    fuzzing::vectors::<Toy>(&seeds[1].bytes);
    fuzzing::ops::<Toy>(&seeds[0].bytes, |config| Box::new(Reference::<Toy>::open(config)));
}

#[test]
#[should_panic(expected = "engine: {\"total\":1}")]
fn bytes_that_stand_for_a_script_find_a_planted_bug() {
    let seeds = fuzzing::seeds(&vectors());

    fuzzing::ops::<Toy>(&seeds[0].bytes, |config| Box::new(ForgetsLate::open(config)));
}
