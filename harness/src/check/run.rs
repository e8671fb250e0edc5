//! What does walking a claim come to?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use stateright::{Checker, HasDiscoveries, Model, Path};
use ttlspec_model::Reference;

use super::walk::ALIKE;
use super::{Claim, Finding, Hazard, Opener, Outcome, Progress, Seen, Verdict, Walk, Way};
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
    let open = match V::is_played(&claim.world.config) {
        true => open.clone(),
        false => super::opener(Reference::<V>::open),
    };
    let walk = Walk {
        world: claim.world.clone(),
        steps: claim.steps,
        laws: claim.laws.clone(),
        hazards: claim.hazards.clone(),
        guards: claim.guards.clone(),
        open,
        skipped: Mutex::new(BTreeMap::new()),
        begun: OnceLock::new(),
        happened: Mutex::new(BTreeSet::new()),
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
    let ways = ways(claim, &checker);
    let depth = checker.max_depth().saturating_sub(1);
    Outcome {
        name: claim.name.clone(),
        states: checker.unique_state_count() as u64,
        taken: checker.state_count() as u64,
        depth,
        is_complete: depth < claim.steps && counterexample.is_none(),
        verdict,
        counterexample,
        ways,
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
    for guard in &claim.guards {
        if let Some(path) = found.remove(guard.name) {
            return (Verdict::Happens(guard.name), Some(script_to(claim, checker, guard, path)));
        }
    }
    if something_was_skipped && checker.unique_state_count() == 1 {
        return (Verdict::Skipped, None);
    }
    // What an engine does not have may be what a premise needs.
    if something_was_skipped {
        return (Verdict::Holds, None);
    }
    if let Some(law) = claim.laws.iter().find(|law| !found.contains_key(law.premise)) {
        return (Verdict::NeverOccurs(law.premise), None);
    }
    match claim.hazards.iter().find(|hazard| !found.contains_key(hazard.name)) {
        Some(hazard) => (Verdict::NeverHappens(hazard.name), None),
        None => (Verdict::Holds, None),
    }
}

/// The shortest way to each hazard that happens.
fn ways<V: Alphabet + Notation>(claim: &Claim<V>, checker: &impl Checker<Walk<V>>) -> Vec<Way<V>> {
    let mut found = checker.discoveries();
    let way = |hazard: &&'static Hazard<V>| {
        let path = found.remove(hazard.name)?;
        let script = script_to(claim, checker, hazard, path);
        let begins = claim.world.begins.len();
        Some(Way {
            hazard: hazard.name,
            sentence: hazard.sentence,
            moves: script.steps.len() - begins,
            vector: vector(format!("{}, in the world {}", hazard.name, claim.name), &script),
        })
    };
    claim.hazards.iter().filter_map(way).collect()
}

/// The way to a state in which a hazard can happen, and the move that does it.
fn script_to<V: Alphabet + Notation>(
    claim: &Claim<V>,
    checker: &impl Checker<Walk<V>>,
    hazard: &Hazard<V>,
    path: Path<Seen<V>, usize>,
) -> Script<V> {
    let walk = checker.model();
    let last = path.last_state().clone();
    let mut actions = path.into_actions();
    actions.extend(walk.moves(&last).position(|next| (hazard.by)(walk, &last, &next)));
    script(claim, actions)
}

fn script<V: Alphabet>(claim: &Claim<V>, actions: Vec<usize>) -> Script<V> {
    let moves = &claim.world.moves;
    let moves = actions.into_iter().map(|action| moves[action].clone());
    let steps = claim.world.begins.iter().cloned().chain(moves).collect();
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
