//! `ttlspec check`: the specification against the optimized engine.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use ttlspec_harness::check::{self, Claim, Opener, Outcome, Verdict};
use ttlspec_harness::lockstep;
use ttlspec_harness::notation::one_of;
use ttlspec_harness::seeded;
use ttlspec_harness::vector::{Report, Run, VectorFile, verify, verify_spec};
use ttlspec_harness::{System, Vector};

use crate::systems::{self, Optimized, Verbs};
use crate::{CLEAN, FINDING, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// One system only
    #[arg(value_parser = systems::parser())]
    system: Option<&'static Verbs>,
    /// Larger bounds
    #[arg(long)]
    deep: bool,
    /// Where the random scripts and cases begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many random steps are walked [default: a million, ten with --deep]
    #[arg(long)]
    steps: Option<u64>,
    /// Check this mutant in the place of the engine, to see it found; `list` lists them
    #[arg(long, value_name = "NAME")]
    plant: Option<String>,
    /// Write the vector of the first difference to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write the shortest ways to all hazards to this file, as vectors
    #[arg(long, value_name = "FILE")]
    ways: Option<PathBuf>,
    /// Show each law in a sentence, and the ways to hazards step by step with the rules that allow them
    #[arg(long)]
    verbose: bool,
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<u8> {
    let systems = systems::chosen(args.system);
    if args.plant.as_deref() == Some("list") {
        for (rule, name) in systems.into_iter().flat_map(|system| (system.mutants)()) {
            say(format_args!("{:<40} {name}", rule.name()))?;
        }
        return Ok(CLEAN);
    }
    let systems = systems::with_mutant(systems, args.plant.as_deref())?;
    let is_one = systems.len() == 1;
    if args.ways.is_some() && !is_one {
        let names: Vec<&str> = systems.iter().map(|system| system.name).collect();
        bail!("--ways writes the hazards of one system: give {}", one_of(&names));
    }
    let mut save = args.save.clone();
    let mut code = CLEAN;
    for system in systems {
        if !is_one {
            say(format_args!("{}:", system.name))?;
        }
        code = code.max((system.check)(args, &mut save)?);
    }
    Ok(code)
}

/// Checks one system. The first difference goes to the file `save`, which is then taken.
pub fn one<V: Optimized>(args: &Args, save: &mut Option<PathBuf>) -> Result<u8> {
    let open = systems::opener::<V>(args.plant.as_deref())?;
    let vectors = library::vectors::<V>(&library::specs(args.specs.as_deref()))?;
    let mut check = Check { table: table(), hazards: String::new(), found: None, ok: true };
    check.vectors(&vectors, &open);
    // The scripts follow one seed, one after the other; the claims take the other cores meanwhile.
    let (scripts, outcomes) = std::thread::scope(|scope| {
        let bars = MultiProgress::new();
        let on_scripts = bars.clone();
        let scripts = scope.spawn(|| scripts(args, &open, on_scripts));
        let outcomes = claims(args, &open, &bars);
        (scripts.join().expect("lockstep catches panics"), outcomes)
    });
    check.lockstep(args, &scripts);
    check.claims(args, &outcomes, &open)?;
    check.properties(args, &open);
    check.finish(save)
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["checked", "how many", "how far", "verdict"]);
    table
}

/// What has been found so far.
struct Check {
    table: Table,
    /// What the model checks found that is allowed and bad.
    hazards: String,
    /// The first difference: how it is shown, and the file that replays it.
    found: Option<(String, Option<String>)>,
    ok: bool,
}

impl Check {
    fn row(&mut self, checked: &str, many: String, far: String, verdict: Result<String, String>) {
        self.ok &= verdict.is_ok();
        let verdict = verdict.unwrap_or_else(|what| format!("FAILED: {what}"));
        self.table.add_row([checked.to_owned(), many, far, verdict]);
    }

    fn found(&mut self, shown: String, file: Option<String>) {
        self.found.get_or_insert((shown, file));
    }

    fn vectors<V: System>(&mut self, vectors: &[Vector<V>], open: &Opener<V>) {
        let bar = bar("vectors", 2 * vectors.len() as u64);
        let run = |run: &dyn Fn(&Vector<V>) -> Vec<Run>| {
            let mut report = Report::default();
            for vector in vectors {
                report.add(run(vector));
                bar.inc(1);
            }
            report
        };
        let on_spec = run(&verify_spec);
        let on_engine = run(&|vector| verify(vector, |config| open(config)));
        bar.finish_and_clear();
        let steps: usize = vectors.iter().map(|vector| vector.steps.len()).sum();
        for (name, report) in [
            ("vectors on the specification, rules included", on_spec),
            ("vectors on the engine", on_engine),
        ] {
            let many = format!("{} vectors, {} runs", vectors.len(), report.runs.len());
            let failed = report.failed().next();
            let verdict = match failed {
                None if report.is_success() => Ok(alike(report.skipped().count())),
                None => Err("all were skipped".to_owned()),
                Some(_) => Err(format!("{} runs", report.failed().count())),
            };
            if let Some(failure) = failed {
                self.failed(failure, vectors, open);
            }
            self.row(name, many, format!("{steps} lines"), verdict);
        }
    }

    /// A vector failed: where the engine differs from the specification, that is made small.
    fn failed<V: System>(&mut self, failure: &Run, vectors: &[Vector<V>], open: &Opener<V>) {
        let vector = vectors.iter().find(|vector| vector.name == failure.vector);
        let at = |config: &V::Config| V::version(config) == failure.version;
        let script = vector.and_then(|vector| {
            vector.configs().into_iter().find(at).map(|config| vector.script(&config))
        });
        match script.map(|script| lockstep::check(&script, |config| open(config))) {
            Some(Err(counterexample)) => {
                let shown = format!("{failure}\n\n{counterexample}");
                self.found(shown, Some(counterexample.to_file().to_toml()));
            }
            _ => self.found(failure.to_string(), vector.map(file_of)),
        }
    }

    fn lockstep<V: System>(&mut self, args: &Args, report: &seeded::Report<V>) {
        let verdict = match &report.found {
            None if report.is_success() => Ok(alike(report.skipped.len())),
            None => Err("all were skipped".to_owned()),
            Some(found) => Err(format!("differs; seed {} finds it again", found.seed)),
        };
        if let Some(found) = &report.found {
            let file = found.counterexample.to_file().to_toml();
            self.found(found.counterexample.to_string(), Some(file));
        }
        let many = format!("{} scripts", report.scripts);
        let far =
            format!("{} steps, {} rules, seed {}", report.steps, report.cited.len(), args.seed);
        self.row("random scripts in lockstep", many, far, verdict);
    }

    /// The claims of one world that came to the same are one row.
    fn claims<V: System>(
        &mut self,
        args: &Args,
        outcomes: &[(Claim<V>, Outcome<V>)],
        open: &Opener<V>,
    ) -> Result<()> {
        for same in outcomes.chunk_by(is_like) {
            let (claim, outcome) = &same[0];
            let versions: Vec<&str> = same.iter().map(|(claim, _)| version_of(claim)).collect();
            let checked = format!("`{}` at {}", claim.world.name, versions.join(", "));
            let many = format!("{} states{}", outcome.states, each(same.len()));
            let far = if outcome.is_complete { ", which is all" } else { "" };
            let far = format!("{} steps{far}", outcome.depth);
            let verdict = match &outcome.verdict {
                Verdict::Holds => Ok(came_to(claim, outcome)),
                other => Err(other.to_string()),
            };
            self.row(&checked, many, far, verdict);
        }
        for (_, outcome) in outcomes {
            if let Some(finding) = outcome.finding(open) {
                self.found(finding.to_string(), Some(file_of(&finding.to_vector())));
            }
        }
        self.hazards = hazards(outcomes, args.verbose);
        if args.verbose {
            self.hazards.insert_str(0, &laws(outcomes));
        }
        if let Some(path) = &args.ways {
            let outcomes: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.clone()).collect();
            let file = check::ways_file(&outcomes);
            fs::write(path, file).with_context(|| format!("{}", path.display()))?;
        }
        Ok(())
    }

    fn properties<V: System>(&mut self, args: &Args, open: &Opener<V>) {
        let cases = if args.deep { 20_000 } else { 2_000 };
        let bar = bar("properties", V::properties().len() as u64);
        let (mut held, mut failed) = (0, Vec::new());
        for property in V::properties() {
            bar.set_message(property.name);
            let tally = property.run(args.seed, cases, open);
            bar.inc(1);
            held += tally.held;
            if let Some((case, how)) = tally.failure {
                self.found(format!("{}\n  {how}\n  in {case:?}", property.sentence), None);
                failed.push(property.name);
            }
        }
        bar.finish_and_clear();
        let verdict =
            if failed.is_empty() { Ok("hold".to_owned()) } else { Err(failed.join(", ")) };
        let many = format!("{} properties", V::properties().len());
        self.row("properties of the engine", many, format!("{held} cases"), verdict);
    }

    fn finish(self, save: &mut Option<PathBuf>) -> Result<u8> {
        let mut saved = Ok(());
        if let Some((shown, file)) = &self.found {
            say(format_args!("{shown}\n"))?;
            if let Some(file) = file
                && let Some(path) = save.take()
            {
                saved = fs::write(&path, file).with_context(|| format!("{}", path.display()));
                if saved.is_ok() {
                    say(format_args!("written to {0}: ttlspec replay {0}\n", path.display()))?;
                }
            }
        }
        say(&self.table)?;
        if !self.hazards.is_empty() {
            say(format_args!("\n{}", self.hazards.trim_end()))?;
        }
        saved?;
        Ok(if self.ok { CLEAN } else { FINDING })
    }
}

// ---- the model checks --------------------------------------------------------------------------

fn scripts<V: System>(args: &Args, open: &Opener<V>, bars: MultiProgress) -> seeded::Report<V> {
    let steps = args.steps.unwrap_or(if args.deep { 10_000_000 } else { 1_000_000 });
    let bar = bars.add(bar("random scripts", steps));
    let open = |config: &V::Config| open(config);
    let report = seeded::run::<V>(args.seed, steps, open, |at| bar.set_position(at));
    bar.finish_and_clear();
    report
}

fn claims<V: System>(
    args: &Args,
    open: &Opener<V>,
    bars: &MultiProgress,
) -> Vec<(Claim<V>, Outcome<V>)> {
    let claims = V::claims(args.deep);
    let bar = bars.add(bar("model checks", claims.len() as u64));
    let outcomes = check::run_all(&claims, open, |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    claims.into_iter().zip(outcomes).collect()
}

type Ran<V> = (Claim<V>, Outcome<V>);

/// Are these claims of one world that came to the same?
fn is_like<V: System>(one: &Ran<V>, next: &Ran<V>) -> bool {
    let key = |(claim, outcome): &Ran<V>| {
        let laws: Vec<&str> = claim.laws.iter().map(|law| law.rule).collect();
        let guards: Vec<&str> = claim.guards.iter().map(|guard| guard.name).collect();
        let ways: Vec<_> = outcome.ways.iter().map(|way| (way.hazard, way.moves)).collect();
        let Outcome { states, depth, is_complete, verdict, .. } = outcome;
        let came_to = (*states, *depth, *is_complete, verdict.clone());
        (claim.world.name, laws, guards, ways, came_to)
    };
    key(one) == key(next)
}

/// `7.0.14` of the claim `threshold 7.0.14`.
fn version_of<V: System>(claim: &Claim<V>) -> &str {
    claim.name.rsplit_once(' ').map_or(&claim.name, |(_, version)| version)
}

fn each(claims: usize) -> &'static str {
    if claims > 1 { " each" } else { "" }
}

/// What a claim that holds has come to.
fn came_to<V: System>(claim: &Claim<V>, outcome: &Outcome<V>) -> String {
    let skipped: u64 = outcome.skipped.iter().map(|(_, times)| times).sum();
    let mut found = vec!["alike".to_owned()];
    for (what, count) in [
        ("skipped", skipped as usize),
        ("laws", claim.laws.len()),
        ("hazards found", outcome.ways.len()),
        ("never", claim.guards.len()),
    ] {
        if count > 0 {
            found.push(format!("{what}: {count}"));
        }
    }
    found.join("; ")
}

/// Each law in a sentence, and the worlds in whose every state it holds.
fn laws<V: System>(outcomes: &[Ran<V>]) -> String {
    let mut laws: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (claim, _) in outcomes {
        for law in &claim.laws {
            let is_known = |(rule, sentence, _): &&mut (&str, &str, Vec<&str>)| {
                (*rule, *sentence) == (law.rule, law.sentence)
            };
            match laws.iter_mut().find(is_known) {
                Some((_, _, worlds)) => worlds.push(claim.world.name),
                None => laws.push((law.rule, law.sentence, vec![claim.world.name])),
            }
        }
    }
    let line = |(rule, sentence, mut worlds): (&str, &str, Vec<&str>)| {
        worlds.dedup();
        format!("law {rule}\n {sentence}\n  in all states of {}\n", worlds.join(", "))
    };
    laws.into_iter().map(line).collect()
}

/// Each hazard: where it is found and how, and where it never happens.
fn hazards<V: System>(outcomes: &[Ran<V>], verbose: bool) -> String {
    let all = || outcomes.iter().flat_map(|(claim, _)| claim.hazards.iter().chain(&claim.guards));
    let mut shown: Vec<&str> = Vec::new();
    let mut hazards = String::new();
    for hazard in all() {
        if !shown.contains(&hazard.name) {
            shown.push(hazard.name);
            hazards.push_str(&format!("hazard {}\n {}\n", hazard.name, hazard.sentence));
            hazards.push_str(&places(hazard.name, outcomes, verbose));
        }
    }
    hazards
}

/// Where a hazard is found and where it never happens, worlds together with their versions.
fn places<V: System>(name: &str, outcomes: &[Ran<V>], verbose: bool) -> String {
    let place = |ran: &'_ Ran<V>| -> Option<(String, Option<String>)> {
        let (claim, outcome) = ran;
        if let Some(way) = outcome.ways.iter().find(|way| way.hazard == name) {
            let steps = way.to_string();
            let (_, steps) = steps.split_once('\n').unwrap_or_default();
            let moves = if verbose { steps.to_owned() } else { format!("    {}", way.short()) };
            return Some((format!("found after {} moves", way.moves), Some(moves)));
        }
        let is_guard = claim.guards.iter().any(|guard| guard.name == name);
        // From the farthest states one more move is looked at.
        let far = match outcome.is_complete {
            true => "any number of".to_owned(),
            false => (outcome.depth + 1).to_string(),
        };
        let holds = is_guard && outcome.verdict == Verdict::Holds;
        holds.then(|| (format!("never within {far} moves"), None))
    };
    let places: Vec<_> = outcomes.iter().filter_map(|ran| Some((&ran.0, place(ran)?))).collect();
    let key = |(claim, (what, _)): &(&Claim<V>, (String, _))| (claim.world.name, what.clone());
    let mut lines = String::new();
    for same in places.chunk_by(|one, next| key(one) == key(next)) {
        let (claim, (what, moves)) = &same[0];
        let versions: Vec<&str> = same.iter().map(|(claim, _)| version_of(claim)).collect();
        let (world, versions) = (claim.world.name, versions.join(", "));
        lines.push_str(&format!("  {what} in `{world}` at {versions}\n"));
        lines.extend(moves.iter().map(|moves| format!("{moves}\n")));
    }
    lines
}

/// A file with nothing but this vector.
fn file_of<V: System>(vector: &Vector<V>) -> String {
    VectorFile { path: String::new(), vectors: vec![vector.clone()] }.to_toml()
}

fn alike(skipped: usize) -> String {
    if skipped == 0 { "alike".to_owned() } else { format!("alike; {skipped} skipped") }
}

/// On a terminal only.
fn bar(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:>16} {wide_bar} {pos}/{len} {msg}")
        .expect("the template is right");
    ProgressBar::new(length).with_style(style).with_prefix(what)
}
