//! `ttlspec check`: the specification against the optimized engine.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use ttlspec_harness::check::{self, Opener, Verdict};
use ttlspec_harness::lockstep;
use ttlspec_harness::mutants::Mutant;
use ttlspec_harness::properties::PROPERTIES;
use ttlspec_harness::seeded;
use ttlspec_harness::vector::{Report, Run, VectorFile, verify, verify_spec};
use ttlspec_harness::{Notation, Vector};
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::mongodb::{Config, MongoDb};

use crate::{CLEAN, FINDING, library, say};

#[derive(clap::Args)]
pub struct Args {
    /// One system only
    system: Option<System>,
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
    /// The folder of the book, if it is not `specs`
    #[arg(long)]
    specs: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    /// TTL indexes
    Mongodb,
}

pub fn run(args: &Args) -> Result<u8> {
    let System::Mongodb = args.system.unwrap_or(System::Mongodb);
    if args.plant.as_deref() == Some("list") {
        for mutant in Mutant::all() {
            say(format_args!("{:<40} {}", mutant.rule.name(), mutant.name))?;
        }
        return Ok(CLEAN);
    }
    let open = opener(args.plant.as_deref())?;
    let files = library::vectors(&library::specs(args.specs.as_deref()))?;
    let vectors: Vec<Vector<MongoDb>> = files.into_iter().flat_map(|file| file.vectors).collect();
    let mut check = Check { table: table(), found: None, ok: true };
    check.vectors(&vectors, &open);
    check.lockstep(args, &open);
    check.claims(args, &open);
    check.properties(args, &open);
    check.finish(args)
}

/// Opens the engine, or the mutant in its place.
pub fn opener(plant: Option<&str>) -> Result<Opener<MongoDb>> {
    match plant {
        None => Ok(check::opener(MongoEngine::open)),
        Some(name) => match Mutant::named(name) {
            Some(mutant) => Ok(Arc::new(move |config| mutant.open(config))),
            None => bail!("no mutant is named `{name}`: `ttlspec check --plant list` lists them"),
        },
    }
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

    fn vectors(&mut self, vectors: &[Vector<MongoDb>], open: &Opener<MongoDb>) {
        let bar = bar("vectors", 2 * vectors.len() as u64);
        let run = |run: &dyn Fn(&Vector<MongoDb>) -> Vec<Run>| {
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
    fn failed(&mut self, failure: &Run, vectors: &[Vector<MongoDb>], open: &Opener<MongoDb>) {
        let vector = vectors.iter().find(|vector| vector.name == failure.vector);
        let at = |config: &Config| MongoDb::version(config) == failure.version;
        let script = vector.and_then(|vector| {
            vector.configs().into_iter().find(at).map(|config| vector.script(&config))
        });
        match script.map(|script| lockstep::check(&script, |config| open(config))) {
            Some(Err(counterexample)) => {
                let shown = format!("{failure}\n\n{counterexample}");
                self.found(shown, Some(counterexample.to_file().to_toml()));
            }
            _ => self.found(failure.to_string(), vector.map(one)),
        }
    }

    fn lockstep(&mut self, args: &Args, open: &Opener<MongoDb>) {
        let steps = args.steps.unwrap_or(if args.deep { 10_000_000 } else { 1_000_000 });
        let bar = bar("random scripts", steps);
        let report = seeded::run::<MongoDb>(
            args.seed,
            steps,
            |config| open(config),
            |at| bar.set_position(at),
        );
        bar.finish_and_clear();
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

    /// The claims of one world at several versions are one row.
    fn claims(&mut self, args: &Args, open: &Opener<MongoDb>) {
        let claims = check::claims(args.deep);
        let bar = bar("model checks", claims.len() as u64);
        for claims in claims.chunk_by(|one, next| one.world.name == next.world.name) {
            let (mut states, mut depth, mut all, mut laws) = (0, 0, true, Vec::new());
            let mut verdict = Ok(());
            for claim in claims {
                bar.set_message(claim.name.clone());
                let outcome = claim.run(open, |_| {});
                bar.inc(1);
                states += outcome.states;
                depth = depth.max(outcome.depth);
                all &= outcome.is_complete;
                laws.extend(claim.laws.iter().map(|law| law.rule));
                let wrong = match &outcome.verdict {
                    Verdict::Holds => None,
                    Verdict::Differs(_) => Some(format!("{} differs", claim.name)),
                    other => Some(format!("{}: {other}", claim.name)),
                };
                verdict = verdict.and(wrong.map_or(Ok(()), Err));
                if let Some(finding) = outcome.finding(open) {
                    self.found(finding.to_string(), Some(one(&finding.to_vector())));
                }
            }
            laws.sort_unstable();
            laws.dedup();
            let many = format!("{} versions, {states} states", claims.len());
            let far = format!("{depth} steps{}", if all { ", which is all" } else { "" });
            let verdict = verdict.map(|()| format!("alike; {} laws hold", laws.len()));
            self.row(&format!("all states of `{}`", claims[0].world.name), many, far, verdict);
        }
        bar.finish_and_clear();
    }

    fn properties(&mut self, args: &Args, open: &Opener<MongoDb>) {
        let cases = if args.deep { 20_000 } else { 2_000 };
        let bar = bar("properties", PROPERTIES.len() as u64);
        let (mut held, mut failed) = (0, Vec::new());
        for property in PROPERTIES {
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
        let many = format!("{} properties", PROPERTIES.len());
        self.row("properties of the engine", many, format!("{held} cases"), verdict);
    }

    fn finish(self, args: &Args) -> Result<u8> {
        let mut saved = Ok(());
        if let Some((shown, file)) = &self.found {
            say(format_args!("{shown}\n"))?;
            if let (Some(path), Some(file)) = (&args.save, file) {
                saved = fs::write(path, file).with_context(|| format!("{}", path.display()));
                if saved.is_ok() {
                    say(format_args!("written to {0}: ttlspec replay {0}\n", path.display()))?;
                }
            }
        }
        say(&self.table)?;
        saved?;
        Ok(if self.ok { CLEAN } else { FINDING })
    }
}

/// A file with nothing but this vector.
fn one(vector: &Vector<MongoDb>) -> String {
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
