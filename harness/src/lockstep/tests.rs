//! A planted bug is found, made small, and printed as a vector that holds.

use super::*;
use crate::toy::{Answer, ForgetsLate, Setup, Toy, Word};
use crate::vector::{self, Outcome, verify, verify_spec};

const SETUP: Setup = Setup { version: 1, limit: 9 };

fn late(config: &Setup) -> Box<dyn Engine<Toy>> {
    Box::new(ForgetsLate::open(config))
}

/// Much that does not matter, and what does.
fn long() -> Script<Toy> {
    let mut script = Script::new(SETUP);
    for at in [3, 500, 700] {
        script.steps.push((Millis(at), Word::Add(2)));
        script.steps.push((Millis(at + 20), Word::Tick));
        script.steps.push((Millis(at + 20), Word::Ask));
    }
    script.steps.push((Millis(1_003), Word::Tick));
    script.steps.push((Millis(1_004), Word::Add(1)));
    script
}

#[test]
fn the_first_difference_is_seen_at_the_step_that_made_it() {
    let Walked::Differs(difference) = walk(&long(), late) else { panic!("the bug is planted") };

    assert_eq!(difference.script.steps.last(), Some(&(Millis(1_003), Word::Tick)));
    assert_eq!(difference.question, Some(Word::Ask));
    assert_eq!(difference.expected.verdict, Answer::Total(0));
    assert_eq!(difference.actual, Actual::Reply(Answer::Total(6)));
}

#[test]
fn a_difference_shrinks_to_the_least_script() {
    let counterexample = check(&long(), late).expect_err("the bug is planted");

    let steps = &counterexample.difference.script.steps;
    assert_eq!(steps, &[(Millis(0), Word::Add(1)), (Millis(1_000), Word::Tick)]);
}

#[test]
fn a_counterexample_is_printed_as_the_vector_that_keeps_it() {
    let counterexample = check(&long(), late).expect_err("the bug is planted");

    assert_eq!(
        counterexample.to_string(),
        r#"           0 ms  {"add":1}
        1000 ms  "tick"
        1000 ms  "ask"
    spec:   {"total":0}   because mongodb.life.whole
    engine: {"total":1}

add to specs/toy/vectors/found.toml, or run: ttlspec replay found.toml
(a file begins with `format = 1` and `spec = "toy"`)
[[vector]]
name   = "found"
config = { version = "1.0", limit = 9 }
steps  = [
  { at_ms = 0,     do = { add = 1 }, see = "ok" },
  { at_ms = 1_000, do = "tick",      see = "ok", by = ["mongodb.life.whole"] },
  { at_ms = 1_000, do = "ask",       see = { total = 0 }, by = ["mongodb.life.whole"] },
]"#
    );
}

#[test]
fn the_printed_vector_holds_for_the_specification_and_not_for_the_engine() {
    let counterexample = check(&long(), late).expect_err("the bug is planted");

    let file = vector::parse::<Toy>("found.toml", counterexample.to_file().to_toml().as_bytes());
    let vector = &file.expect("it is a vector").vectors[0];

    assert_eq!(verify_spec(vector)[0].outcome, Outcome::Passed);
    assert!(matches!(verify(vector, late)[0].outcome, Outcome::Failed(_)));
}

/// Falls over where the limit is reached.
struct FallsOver(Reference<Toy>);

impl Engine<Toy> for FallsOver {
    fn apply(&mut self, now: Millis, op: &Word) -> Result<Answer, Unsupported> {
        match self.0.apply(now, op)? {
            Answer::Full => panic!("the limit of {} is reached", SETUP.limit),
            answer => Ok(answer),
        }
    }
}

#[test]
fn a_panic_is_a_difference_too() {
    let mut script = Script::<Toy>::new(SETUP);
    script.steps.extend((0..20).map(|at| (Millis(at), Word::Add(1))));

    let open =
        |config: &Setup| -> Box<dyn Engine<Toy>> { Box::new(FallsOver(Reference::open(config))) };
    let counterexample = check(&script, open).expect_err("it falls over");

    let message = "the limit of 9 is reached".to_owned();
    assert_eq!(counterexample.difference.actual, Actual::Panicked(message));
    assert_eq!(counterexample.difference.script.steps.len(), 10);
    assert!(counterexample.to_string().contains("engine: panicked: the limit of 9 is reached"));
}

/// Does not know the time.
struct Timeless;

impl Engine<Toy> for Timeless {
    fn apply(&mut self, _: Millis, op: &Word) -> Result<Answer, Unsupported> {
        match op {
            Word::Tick => Err(Unsupported("no clock".to_owned())),
            Word::Ask => Ok(Answer::Total(0)),
            Word::Add(_) => Ok(Answer::Ok),
        }
    }
}

#[test]
fn what_an_engine_does_not_have_ends_the_script() {
    let mut script = Script::<Toy>::new(SETUP);
    script.steps.push((Millis(0), Word::Ask));
    script.steps.push((Millis(0), Word::Tick));
    script.steps.push((Millis(0), Word::Add(5)));

    let walked = walk(&script, |_| Box::new(Timeless));

    let reason = Unsupported("no clock".to_owned());
    assert_eq!(walked, Walked::Skipped { step: 1, reason });
}
