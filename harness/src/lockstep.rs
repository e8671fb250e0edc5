//! Where does an engine first differ?
//!
//! The specification and the engine are asked the same, one operation after the other. After each
//! of them come all questions of the alphabet, so that a difference is seen at the step that made
//! it. What differs is made small, and printed as a vector.
//!
//! ```
//! use ttlspec_harness::lockstep::{Walked, walk};
//! use ttlspec_harness::script::Script;
//! use ttlspec_model::mongodb::{Config, MongoDb, Op, Version};
//! use ttlspec_model::{Millis, Reference};
//!
//! let mut script = Script::<MongoDb>::new(Config { version: Version::new(7, 0, 14) });
//! script.steps.push((Millis(0), Op::Pass));
//!
//! // Your engine in the place of the reference:
//! let walked = walk(&script, |config| Box::new(Reference::<MongoDb>::open(config)));
//!
//! assert_eq!(walked, Walked::Agreed);
//! ```

use std::fmt;

use ttlspec_model::{Engine, Millis, Reference, Rule, Ruling, Spec, Unsupported, Vocabulary};

use crate::alphabet::Alphabet;
use crate::script::Script;

mod caught;
mod counterexample;
mod shrink;

pub(crate) use caught::caught;
pub use counterexample::Counterexample;
pub use shrink::shrink;

/// Opens an engine for a configuration, again and again.
pub type Open<'a, V> = dyn FnMut(&<V as Vocabulary>::Config) -> Box<dyn Engine<V>> + 'a;

/// How a script went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Walked<V: Vocabulary> {
    /// The engine answered as the specification does, from the first step to the last.
    Agreed,
    /// The engine does not have something; what came before was alike.
    Skipped {
        /// The step that ended the script, counted from 0.
        step: usize,
        /// What the engine said.
        reason: Unsupported,
    },
    /// The engine answered otherwise.
    Differs(Difference<V>),
}

/// The first difference between the specification and an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<V: Vocabulary> {
    /// The script up to the last step that was done, that one included.
    pub script: Script<V>,
    /// The question that was then asked at the same instant and answered otherwise; `None` where
    /// the last step itself was.
    pub question: Option<V::Op>,
    /// What the specification answers, with the rules that it rests on.
    pub expected: Ruling<V::Reply>,
    /// What the engine answered.
    pub actual: Actual<V::Reply>,
}

/// What an engine did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actual<R> {
    /// It answered.
    Reply(R),
    /// It panicked, with this message.
    Panicked(String),
}

/// A specification and an engine that are walked in step.
pub struct Lockstep<V: Alphabet> {
    reference: Reference<V>,
    engine: Box<dyn Engine<V>>,
    done: Script<V>,
}

/// Why a walk ends before its script does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop<V: Vocabulary> {
    /// The engine does not have something.
    Skipped(Unsupported),
    /// The engine answered otherwise.
    Differs(Box<Difference<V>>),
}

impl<V: Alphabet> Lockstep<V> {
    /// Both as they are before anything was asked of them.
    pub fn open(config: &V::Config, open: &mut Open<'_, V>) -> Lockstep<V> {
        Lockstep {
            reference: Reference::open(config),
            engine: open(config),
            done: Script::new(config.clone()),
        }
    }

    /// Does `op` at `now` on both, and asks all questions. The answer is the rules that the
    /// specification cited for `op`.
    ///
    /// # Errors
    /// [`Stop`] where the engine does not come along; the walk is then over.
    pub fn step(&mut self, now: Millis, op: &V::Op) -> Result<Vec<Rule>, Stop<V>> {
        self.done.steps.push((now, op.clone()));
        let expected = self.reference.explain(now, op);
        let because = expected.because.clone();
        self.compare(now, op, expected, None)?;
        for question in V::questions(&self.done.config, self.reference.state()) {
            let state = self.reference.state();
            let expected = V::answer(&self.done.config, state, now, &question);
            self.compare(now, &question, expected, Some(&question))?;
        }
        Ok(because)
    }

    /// What was done so far.
    pub fn done(&self) -> &Script<V> {
        &self.done
    }

    /// The state of the specification.
    pub fn state(&self) -> &V::State {
        self.reference.state()
    }

    fn compare(
        &mut self,
        now: Millis,
        op: &V::Op,
        expected: Ruling<V::Reply>,
        question: Option<&V::Op>,
    ) -> Result<(), Stop<V>> {
        let actual = match caught(|| self.engine.apply(now, op)) {
            Ok(Ok(reply)) if V::admits(&expected.verdict, &reply) => return Ok(()),
            Ok(Err(unsupported)) => return Err(Stop::Skipped(unsupported)),
            Ok(Ok(reply)) => Actual::Reply(reply),
            Err(message) => Actual::Panicked(message),
        };
        let (script, question) = (self.done.clone(), question.cloned());
        Err(Stop::Differs(Box::new(Difference { script, question, expected, actual })))
    }
}

impl<V: Alphabet> fmt::Debug for Lockstep<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lockstep").field("done", &self.done).finish_non_exhaustive()
    }
}

/// Walks a script to its end, or to the first difference.
pub fn walk<V: Alphabet>(
    script: &Script<V>,
    mut open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>,
) -> Walked<V> {
    let mut lockstep = Lockstep::open(&script.config, &mut open);
    for (step, (now, op)) in script.steps.iter().enumerate() {
        match lockstep.step(*now, op) {
            Ok(_) => {}
            Err(Stop::Skipped(reason)) => return Walked::Skipped { step, reason },
            Err(Stop::Differs(difference)) => return Walked::Differs(*difference),
        }
    }
    Walked::Agreed
}

/// Walks a script, and makes what differs small and ready to print.
///
/// # Errors
/// The [`Counterexample`] where the engine differs.
pub fn check<V: Alphabet>(
    script: &Script<V>,
    mut open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>,
) -> Result<Walked<V>, Box<Counterexample<V>>> {
    match walk(script, &mut open) {
        Walked::Differs(difference) => {
            Err(Box::new(Counterexample::of(shrink(difference, &mut open))))
        }
        walked => Ok(walked),
    }
}

impl<V: Spec> Difference<V> {
    /// The script with the question, where there is one, as its last step.
    pub fn whole(&self) -> Script<V> {
        let mut script = self.script.clone();
        if let (Some(question), Some((now, _))) = (&self.question, script.steps.last()) {
            script.steps.push((*now, question.clone()));
        }
        script
    }
}

#[cfg(test)]
mod tests;
