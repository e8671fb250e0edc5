//! A system small enough to see through, on which the harness tests itself.
//!
//! It adds numbers up to a limit, and forgets all of them at a tick that comes a second or more
//! after the first. Rules of another system stand in for its own.

use serde_json::{Value, json};
use ttlspec_model::ruling::By;
use ttlspec_model::{Engine, Millis, Reference, Rule, Spec, Step, Unsupported, Vocabulary};

use crate::alphabet::{Alphabet, World};
use crate::check::tables::laws;
use crate::check::{Claim, Opener, Seen, Walk, opener};
use crate::mutants::Mutant;
use crate::notation::{Choice, Fault, Fields, Notation, integer, text};
use crate::properties::{Held, Property, properties};
use crate::system::System;
use crate::values::{Source, count, pick};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Toy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    pub version: u8,
    pub limit: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    Add(i64),
    Tick,
    Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Ok,
    Full,
    Total(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    pub since: Option<Millis>,
    pub total: i64,
}

impl Vocabulary for Toy {
    type Config = Setup;
    type Op = Word;
    type Reply = Answer;
}

impl Spec for Toy {
    type State = Sum;

    fn init(_: &Setup) -> Sum {
        Sum { since: None, total: 0 }
    }

    fn step(config: &Setup, state: &Sum, now: Millis, op: &Word) -> Step<Toy> {
        let mut state = *state;
        let reply = match *op {
            Word::Add(more) if state.total + more > config.limit => {
                Answer::Full.by(Rule::MongodbLifeClock)
            }
            Word::Add(more) => {
                state.since.get_or_insert(now);
                state.total += more;
                Answer::Ok.by(Rule::MongodbLifeAnyIndex)
            }
            Word::Tick => {
                if state.since.is_some_and(|since| since.plus_millis(1_000) <= now) {
                    state = Sum { since: None, total: 0 };
                }
                Answer::Ok.by(Rule::MongodbLifeWhole)
            }
            Word::Ask => Answer::Total(state.total).by(Rule::MongodbLifeWhole),
        };
        Step { state, reply }
    }
}

impl Notation for Toy {
    const NAME: &'static str = "toy";

    fn versions() -> Vec<String> {
        vec!["1.0".to_owned(), "2.0".to_owned()]
    }

    fn config_from(value: &Value) -> Result<Setup, Fault> {
        let fields = Fields::of(value, "the configuration", &["version", "limit"])?;
        let version = |value| match text(value)? {
            "1.0" => Ok(1),
            "2.0" => Ok(2),
            _ => Err(Fault::expected("a version such as `1.0`", value)),
        };
        Ok(Setup {
            version: fields.required("version", version)?,
            limit: fields.required("limit", integer)?,
        })
    }

    fn config_to(config: &Setup) -> Value {
        json!({ "version": format!("{}.0", config.version), "limit": config.limit })
    }

    fn op_from(value: &Value) -> Result<Word, Fault> {
        match Choice::of(value, "operation", &["ask", "tick"], &["add"])? {
            Choice::Word("ask") => Ok(Word::Ask),
            Choice::Word(_) => Ok(Word::Tick),
            Choice::Tag(tag, value) => {
                integer(value).map(Word::Add).map_err(|fault| fault.under(tag))
            }
        }
    }

    fn op_to(op: &Word) -> Value {
        match op {
            Word::Ask => json!("ask"),
            Word::Tick => json!("tick"),
            Word::Add(more) => json!({ "add": more }),
        }
    }

    fn reply_from(value: &Value) -> Result<Answer, Fault> {
        match Choice::of(value, "reply", &["ok", "full"], &["total"])? {
            Choice::Word("ok") => Ok(Answer::Ok),
            Choice::Word(_) => Ok(Answer::Full),
            Choice::Tag(tag, value) => {
                integer(value).map(Answer::Total).map_err(|fault| fault.under(tag))
            }
        }
    }

    fn reply_to(reply: &Answer) -> Value {
        match reply {
            Answer::Ok => json!("ok"),
            Answer::Full => json!("full"),
            Answer::Total(total) => json!({ "total": total }),
        }
    }
}

impl Alphabet for Toy {
    type Course = ();

    fn questions(_: &Setup, _: &<Toy as Spec>::State) -> Vec<Word> {
        vec![Word::Ask]
    }

    fn simpler(op: &Word) -> Vec<Word> {
        match op {
            Word::Add(more) if *more > 1 => vec![Word::Add(1), Word::Add(more - 1)],
            _ => Vec::new(),
        }
    }

    fn any_config(source: &mut dyn Source) -> Setup {
        Setup { version: 1, limit: 5 + source.choose(5) as i64 }
    }

    fn any_step(source: &mut dyn Source, _: &Setup) -> (Millis, Word) {
        let now = Millis(pick(source, &[0, 250, 1_000, 1_250, 2_000, 2_250]));
        (now, pick(source, &[Word::Tick, Word::Ask, Word::Add(1), Word::Add(2), Word::Add(3)]))
    }

    fn any_course(_: &mut dyn Source) -> Option<(Setup, ())> {
        None
    }

    fn step_on((): &mut (), source: &mut dyn Source) -> (Millis, Word) {
        Toy::any_step(source, &Setup { version: 1, limit: 5 })
    }

    fn worlds(config: &Setup) -> Vec<World<Toy>> {
        let at = |now, op| (Millis(now), op);
        vec![World {
            name: "sum",
            config: *config,
            begins: Vec::new(),
            moves: vec![at(0, Word::Add(2)), at(999, Word::Tick), at(1_000, Word::Tick)],
            probes: Vec::new(),
        }]
    }
}

impl System for Toy {
    type Case = Vec<i64>;

    fn any_case(source: &mut dyn Source) -> Vec<i64> {
        (0..count(source, 3)).map(|_| pick(source, &[1, 2])).collect()
    }

    fn properties() -> &'static [Property<Toy>] {
        PROPERTIES
    }

    fn claims(_: bool) -> Vec<Claim<Toy>> {
        let config = Setup { version: 1, limit: 5 };
        let claim = |world: World<Toy>| Claim {
            name: format!("{} 1.0", world.name),
            world,
            steps: 10,
            laws: vec![&LIMIT],
            hazards: Vec::new(),
            guards: Vec::new(),
        };
        Toy::worlds(&config).into_iter().map(claim).collect()
    }

    fn mutants() -> Vec<Mutant<Toy>> {
        let takes_more =
            |config: &Setup| Reference::<Toy>::open(&Setup { limit: config.limit + 1, ..*config });
        let mutant = |rule, name, opener| Mutant { name, rule, seen: None, opener };
        vec![
            mutant(
                Rule::MongodbLifeWhole,
                "forgets one millisecond late",
                opener(ForgetsLate::open),
            ),
            mutant(Rule::MongodbLifeClock, "takes one more than it can hold", opener(takes_more)),
        ]
    }
}

laws! {
    Toy;

    /// The sum stays within the limit.
    LIMIT = "mongodb.life.clock", within_the_limit, is_nearly_full;
}

fn within_the_limit(walk: &Walk<Toy>, seen: &Seen<Toy>) -> bool {
    seen.state().total <= walk.config().limit
}

fn is_nearly_full(walk: &Walk<Toy>, seen: &Seen<Toy>) -> bool {
    seen.state().total + 1 == walk.config().limit
}

properties! {
    Toy;

    /// Asking changes nothing.
    "asked-twice" = asked_twice;
}

fn asked_twice(case: &Vec<i64>, open: &Opener<Toy>) -> Held {
    let mut engine = open(&Setup { version: 1, limit: 5 });
    for more in case {
        let _ = engine.apply(Millis(0), &Word::Add(*more));
    }
    let mut ask = || engine.apply(Millis(0), &Word::Ask);
    match (ask(), ask()) {
        (Ok(Answer::Total(0)), Ok(Answer::Total(0))) => Held::NotThere,
        (first, second) if first == second => Held::Yes,
        (first, second) => Held::No(format!("expected {first:?}, found {second:?}")),
    }
}

/// Forgets one millisecond late.
pub(crate) struct ForgetsLate(Reference<Toy>);

impl ForgetsLate {
    pub fn open(config: &Setup) -> ForgetsLate {
        ForgetsLate(Reference::open(config))
    }
}

impl Engine<Toy> for ForgetsLate {
    fn apply(&mut self, now: Millis, op: &Word) -> Result<Answer, Unsupported> {
        let now = if *op == Word::Tick { now.minus_millis(1) } else { now };
        self.0.apply(now, op)
    }
}
