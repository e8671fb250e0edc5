//! What does walking a claim come to?

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use stateright::{Checker, HasDiscoveries, Model};
use ttlspec_model::Reference;

use super::walk::ALIKE;
use super::{Claim, Finding, Opener, Outcome, Progress, Verdict, Walk};
use crate::alphabet::Alphabet;
use crate::lockstep;
use crate::notation::Notation;
use crate::script::Script;
use crate::vector::{Place, Vector, VectorStep};

/// How long to wait before looking again whether it is done.
const LOOK: Duration = Duration::from_millis(2);

pub(super) fn run<V: Alphabet + Notation>(
    claim: &Claim<V>,
    open: &Opener<V>,
    mut progress: impl FnMut(Progress),
) -> Outcome<V> {
    let walk = Walk {
        world: claim.world.clone(),
        steps: claim.steps,
        laws: claim.laws.clone(),
        open: open.clone(),
        skipped: Mutex::new(BTreeMap::new()),
    };
    // Breadth first on one thread: the same counterexample each time, and no shorter one.
    let checker = walk.checker().threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    while !checker.is_done() {
        std::thread::sleep(LOOK);
        let (states, depth) = (checker.unique_state_count() as u64, checker.max_depth());
        progress(Progress { states, depth: depth.saturating_sub(1) });
    }
    let checker = checker.join();

    let skipped = checker.model().skipped.lock().expect("no thread panics while it counts");
    let skipped: Vec<(String, u64)> = skipped.clone().into_iter().collect();
    let (verdict, counterexample) = judge(claim, &checker, !skipped.is_empty());
    let depth = checker.max_depth().saturating_sub(1);
    Outcome {
        name: claim.name.clone(),
        states: checker.unique_state_count() as u64,
        taken: checker.state_count() as u64,
        depth,
        is_complete: depth < claim.steps,
        verdict,
        counterexample,
        skipped,
    }
}

fn judge<V: Alphabet + Notation>(
    claim: &Claim<V>,
    checker: &impl Checker<Walk<V>>,
    something_was_skipped: bool,
) -> (Verdict, Option<Script<V>>) {
    let mut found = checker.discoveries();
    if let Some(path) = found.remove(ALIKE) {
        let states = path.clone().into_states();
        let last = states.last().and_then(|seen| seen.difference());
        let how = last.unwrap_or("the engine does not answer alike twice").to_owned();
        return (Verdict::Differs(how), Some(script(claim, path.into_actions())));
    }
    for law in &claim.laws {
        if let Some(path) = found.remove(law.rule) {
            return (Verdict::Broken(law.rule), Some(script(claim, path.into_actions())));
        }
    }
    if something_was_skipped && checker.unique_state_count() == 1 {
        return (Verdict::Skipped, None);
    }
    // What an engine does not have may be what a premise needs.
    let missing = claim.laws.iter().find(|law| !found.contains_key(law.premise));
    match missing {
        Some(law) if !something_was_skipped => (Verdict::NeverOccurs(law.premise), None),
        _ => (Verdict::Holds, None),
    }
}

fn script<V: Alphabet>(claim: &Claim<V>, actions: Vec<usize>) -> Script<V> {
    let moves = &claim.world.moves;
    let steps = actions.into_iter().map(|action| moves[action].clone()).collect();
    Script { config: claim.world.config.clone(), steps }
}

/// The engine's difference, made small; where it has none, what the specification answers.
pub(super) fn finding<V: Alphabet>(
    claim: &str,
    script: &Script<V>,
    open: &Opener<V>,
) -> Finding<V> {
    let name = format!("found in the world {claim}");
    match lockstep::check(script, |config| open(config)) {
        Err(counterexample) => Finding::Engine(Box::new(counterexample.named(name))),
        Ok(_) => Finding::Specification(vector(name, script)),
    }
}

fn vector<V: Alphabet>(name: String, script: &Script<V>) -> Vector<V> {
    let mut reference = Reference::<V>::open(&script.config);
    let steps = script.steps.iter().map(|(at, op)| {
        let ruling = reference.explain(*at, op);
        VectorStep { at: *at, op: op.clone(), see: ruling.verdict, by: ruling.because, line: 0 }
    });
    Vector {
        name,
        steps: steps.collect(),
        config: script.config.clone(),
        versions: None,
        flags: Vec::new(),
        source: None,
        place: Place::default(),
    }
}
