//! What is claimed of the small worlds, and how many states each has.
//!
//! A golden count changes only in a commit that explains it.

use std::collections::HashSet;
use std::path::Path;

use ttlspec_harness::System;
use ttlspec_harness::check::{Claim, Finding, Opener, Verdict, opener, run_all, ways_file};
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::mongodb::{Config, MongoDb, Op, Reply};
use ttlspec_model::{Engine, Millis, Reference, Spec, Unsupported};

/// The world, the versions, how many steps far, how many states, and which laws of the book
/// (`mongodb.…`) hold in each of them.
type Row = (&'static str, &'static str, usize, u64, &'static [&'static str]);

/// As far as there is anything: the claim is of every state that can be reached in any number of
/// steps.
const ALL: usize = 30;

#[rustfmt::skip]
const CLAIMS: &[Row] = &[
    ("threshold", "7.0.14", 8, 1_352, &["threshold.before", "threshold.from", "pass.all", "pass.order", "date.type", "date.earliest", "life.whole", "life.clock", "visibility.until-pass", "visibility.id-taken"]),
    ("two-indexes", "7.0.14 4.0.0", 8, 769, &["threshold.before", "threshold.from", "pass.all", "pass.order", "life.any-index", "life.clock", "index.same-name"]),
    ("filter", "7.0.14", 7, 1_444, &["threshold.before", "threshold.from", "pass.all", "filter.outside"]),
    ("filter", "5.0.14", 7, 611, &["threshold.before", "threshold.from", "pass.all", "filter.outside"]),
    ("flags", "7.0.14 4.4.0", 6, 1_585, &["threshold.before", "threshold.from", "index.hidden", "index.sparse", "index.unique", "index.direction", "visibility.key-taken", "index.same-name"]),
    ("flags", "4.2.0", 6, 741, &["threshold.before", "threshold.from", "index.sparse", "index.unique", "index.direction", "visibility.key-taken", "index.same-name"]),
    ("change", "7.0.14 8.1.0", ALL, 78, &["threshold.before", "threshold.from", "pass.all", "index.plain", "life.clock"]),
    ("change", "6.0.0 5.1.0", ALL, 64, &["threshold.before", "threshold.from", "pass.all", "index.plain", "life.clock"]),
    ("change", "5.0.14 4.4.0", ALL, 92, &["threshold.before", "threshold.from", "pass.all", "index.plain", "life.clock", "threshold.negative"]),
    ("change", "4.2.0", ALL, 57, &["threshold.before", "threshold.from", "pass.all", "index.plain", "life.clock", "threshold.negative"]),
    ("seconds", "8.1.0 7.3.0", ALL, 43, &["threshold.before", "threshold.from", "pass.all", "life.clock", "index.int32"]),
    ("seconds", "7.0.14 6.1.0 6.0.2 5.0.14", ALL, 64, &["threshold.before", "threshold.from", "pass.all", "life.clock", "index.int32"]),
    ("seconds", "6.0.0 5.1.0 5.0.0 4.4.0 4.2.0", ALL, 64, &["threshold.before", "threshold.from", "pass.all", "life.clock"]),
    ("seconds", "4.0.0", ALL, 113, &["threshold.before", "threshold.from", "pass.all", "life.clock", "threshold.negative"]),
    ("nan", "4.0.0 4.2.22", ALL, 43, &["nan.overflows", "threshold.before", "threshold.from"]),
    ("nan", "4.4.15", ALL, 78, &["nan.overflows", "threshold.before", "threshold.from"]),
    ("nan", "4.2.23", ALL, 43, &["nan.skipped", "threshold.before", "threshold.from"]),
    ("nan", "4.4.16", ALL, 78, &["nan.skipped", "threshold.before", "threshold.from"]),
    ("nan", "5.0.0 5.0.13 5.1.0 6.0.0", ALL, 78, &["nan.zero", "threshold.before", "threshold.from"]),
    ("nan", "5.0.14 6.0.2 6.1.0", ALL, 78, &["nan.skipped", "nan.stored-as-max", "threshold.before", "threshold.from"]),
    ("nan", "7.0.14 7.3.0 8.1.0", ALL, 78, &["nan.skipped", "nan.refused", "threshold.before", "threshold.from"]),
    ("kinds", "5.0.14", ALL, 1_014, &["index.capped-inert", "index.view", "pass.method", "pass.all"]),
    ("kinds", "7.0.14", ALL, 671, &["index.view", "pass.method", "pass.all"]),
    ("kinds", "7.1.0 8.1.0", ALL, 1_014, &["index.capped-works", "index.view", "pass.method", "pass.all"]),
    ("paths", "7.0.14", 5, 2_216, &["pass.all", "life.any-index", "life.whole", "life.clock", "visibility.until-pass"]),
    ("ends", "7.0.14 4.0.0", 5, 1_137, &["pass.all", "life.whole", "life.clock", "visibility.until-pass"]),
    ("clustered", "7.0.14", 6, 1_015, &["clustered.expired", "pass.all", "life.clock"]),
    ("clustered", "8.1.0", 6, 993, &["clustered.expired", "pass.all", "life.clock"]),
    ("buckets", "8.1.0 7.0.14", 5, 1_879, &["bucket.expired", "bucket.before", "pass.all", "life.clock"]),
    ("bucket-ends", "7.0.14", 5, 6_033, &["bucket.off", "pass.all"]),
    ("bucket-ends", "8.1.0", 5, 6_035, &["bucket.two-scans", "pass.all"]),
    ("visit", "7.0.14", 6, 3_220, &["monitor.clock-visit", "visit.sub-pass-again", "monitor.disabled", "monitor.counters", "monitor.deleted"]),
    ("visit", "8.1.0", 6, 3_291, &["monitor.clock-pass", "visit.sub-pass-again", "monitor.disabled", "monitor.counters", "monitor.deleted"]),
    ("visit", "6.0.2 4.0.0", 7, 7_229, &["monitor.clock-visit", "visit.singly", "monitor.disabled", "monitor.counters", "monitor.deleted"]),
    ("rounds", "6.1.0 7.0.14 8.1.0", 10, 1_180, &["visit.rounds", "visit.sub-pass-again", "monitor.counters"]),
    ("rounds", "6.0.2 5.0.14 4.0.0", 10, 2_603, &["visit.singly", "monitor.counters", "monitor.deleted"]),
    ("switches", "7.0.14 6.0.2", 5, 1_140, &["monitor.disabled", "monitor.fsync", "monitor.blocked", "shard.resharding", "shard.orphans"]),
    ("switches", "5.0.14", 5, 765, &["monitor.disabled", "monitor.fsync", "shard.resharding", "shard.orphans-deleted"]),
    ("members", "7.0.14", 6, 5_967, &["life.clock", "replication.primary-only", "replication.local", "replication.apply", "replication.rollback"]),
    ("members", "5.0.14", 6, 5_964, &["life.clock", "replication.primary-only", "replication.local", "replication.apply", "replication.rollback"]),
    ("members", "8.1.0", 6, 7_365, &["life.clock", "replication.primary-only", "monitor.not-primary", "replication.apply", "replication.rollback"]),
    ("split", "4.4.16", 5, 1_780, &["replication.apply"]),
    ("split", "5.0.0", 5, 1_744, &["replication.apply"]),
    ("split", "5.0.14 7.0.14", 5, 1_725, &["replication.apply", "replication.repair"]),
    ("split", "8.1.0", 5, 2_108, &["replication.apply", "replication.repair", "replication.repair-fraction"]),
    ("nan-upgrade", "5.0.0 5.0.10 6.0.0", ALL, 28, &[]),
    ("nan-upgrade", "5.0.13", ALL, 14, &[]),
    ("nan-upgrade", "5.0.14 6.0.2", ALL, 28, &[]),
    ("nan-set", "5.0.0", 5, 3_618, &[]),
    ("nan-set", "5.0.13", 5, 650, &[]),
    ("nan-set", "5.0.14", 5, 3_330, &[]),
];

/// The world, the versions, what is allowed and bad (`mongodb.…`) with how many moves lead to it, and
/// what of that never happens.
type Bad = (&'static str, &'static str, &'static [(&'static str, usize)], &'static [&'static str]);

#[rustfmt::skip]
const HAZARDS: &[Bad] = &[
    ("visit", "7.0.14 8.1.0 6.0.2 4.0.0", &[("visit.filter-race: outside the filter, and deleted", 5), ("visit.threshold-kept: spared by collMod, and deleted", 5), ("visit.uncounted: deleted, and not counted", 6)], &[]),
    ("rounds", "6.1.0 7.0.14 8.1.0", &[], &["visit.singly: one index is fed, another waits"]),
    ("rounds", "6.0.2 5.0.14 4.0.0", &[("visit.singly: one index is fed, another waits", 11)], &[]),
    ("split", "4.4.16", &[], &["nan.synced: two members have different seconds", "threshold.whole-seconds: a fraction more, and deleted", "nan.synced: a member deletes what another keeps"]),
    ("split", "5.0.0", &[("nan.synced: two members have different seconds", 1)], &["threshold.whole-seconds: a fraction more, and deleted", "nan.synced: a member deletes what another keeps"]),
    ("split", "5.0.14 7.0.14 8.1.0", &[("nan.synced: two members have different seconds", 1), ("nan.synced: a member deletes what another keeps", 4)], &["threshold.whole-seconds: a fraction more, and deleted"]),
    ("nan-upgrade", "5.0.0 5.0.10 6.0.0", &[("nan.zero: an upgrade deletes what was kept", 3)], &[]),
    ("nan-upgrade", "5.0.13 5.0.14 6.0.2", &[], &["nan.zero: an upgrade deletes what was kept"]),
    ("nan-set", "5.0.0", &[("nan.zero: a newer member deletes what was kept", 4), ("nan.synced: an older member deletes what was kept", 5), ("nan.synced: a member deletes what another keeps", 6)], &[]),
    ("nan-set", "5.0.13 5.0.14", &[], &["nan.zero: a newer member deletes what was kept", "nan.synced: an older member deletes what was kept", "nan.synced: a member deletes what another keeps"]),
];

/// The rows of the table, one for each version.
fn rows() -> impl Iterator<Item = (String, &'static Row)> {
    CLAIMS
        .iter()
        .flat_map(|row| row.1.split(' ').map(move |version| (format!("{} {version}", row.0), row)))
}

fn short(rule: &'static str) -> &'static str {
    rule.strip_prefix("mongodb.").unwrap_or(rule)
}

fn laws(claim: &Claim<MongoDb>) -> Vec<&'static str> {
    claim.laws.iter().map(|law| short(law.rule)).collect()
}

/// What is found of a world at a version, and what never happens there.
fn bad(name: &str) -> (&'static [(&'static str, usize)], &'static [&'static str]) {
    let is_of = |bad: &&Bad| bad.1.split(' ').any(|version| format!("{} {version}", bad.0) == name);
    HAZARDS.iter().find(is_of).map_or((&[], &[]), |bad| (bad.2, bad.3))
}

#[test]
fn the_table_says_what_is_claimed() {
    let claimed = MongoDb::claims(false);
    assert_eq!(claimed.len(), rows().count(), "the table has as many rows as there are claims");
    for (claim, (name, (_, _, steps, _, rules))) in claimed.iter().zip(rows()) {
        assert_eq!(claim.name, name);
        assert_eq!(claim.steps, *steps, "{name}");
        assert_eq!(laws(claim), *rules, "{name}");
        let (found, never) = bad(&name);
        let found: Vec<&str> = found.iter().map(|(hazard, _)| *hazard).collect();
        let hazards: Vec<&str> = claim.hazards.iter().map(|hazard| short(hazard.name)).collect();
        let guards: Vec<&str> = claim.guards.iter().map(|hazard| short(hazard.name)).collect();
        assert_eq!(hazards, found, "{name}");
        assert_eq!(guards, never, "{name}");
    }
}

#[test]
fn every_claim_holds_and_the_ways_to_all_hazards_are_kept() {
    let open = opener(MongoEngine::open);

    let outcomes = run_all(&MongoDb::claims(false), &open, |_| {});

    for (outcome, (name, (_, _, steps, states, _))) in outcomes.iter().zip(rows()) {
        if let Some(finding) = outcome.finding(&open) {
            panic!("{name}: {}\n{finding}", outcome.verdict);
        }
        assert_eq!(outcome.verdict, Verdict::Holds, "{name}");
        assert_eq!(outcome.states, *states, "{name}: states");
        assert_eq!(outcome.is_complete, *steps == ALL, "{name}: complete");
        assert_eq!(outcome.skipped, [], "{name}: skipped");
        let ways: Vec<_> = outcome.ways.iter().map(|way| (short(way.hazard), way.moves)).collect();
        assert_eq!(ways, bad(&name).0, "{name}: hazards");
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/mongodb/vectors/hazard.toml");
    let kept = std::fs::read_to_string(kept).expect("the ways to the hazards are kept");
    let found = ways_file(&outcomes);
    assert!(kept == found, "run `ttlspec check mongodb --ways specs/mongodb/vectors/hazard.toml`");
}

/// stateright knows a state again by 64 bits; here it is known by all of it.
#[test]
fn the_counts_are_those_of_an_exact_search() {
    for (claim, (name, (_, _, steps, states, _))) in MongoDb::claims(false).iter().zip(rows()) {
        let config = &claim.world.config;
        let begins = claim.world.begins.iter();
        let begun = begins.fold(MongoDb::init(config), |state, (now, op)| {
            MongoDb::step(config, &state, *now, op).state
        });
        let mut seen = HashSet::from([begun]);
        let mut edge: Vec<_> = seen.iter().cloned().collect();
        for _ in 0..*steps {
            let moves = &claim.world.moves;
            let next = edge.iter().flat_map(|state| {
                moves.iter().map(|(now, op)| MongoDb::step(config, state, *now, op).state)
            });
            edge = next.filter(|state| seen.insert(state.clone())).collect();
        }

        assert_eq!(seen.len() as u64, *states, "{name}");
    }
}

/// Sweeps one millisecond early.
struct SweepsEarly(Reference<MongoDb>);

impl Engine<MongoDb> for SweepsEarly {
    fn apply(&mut self, now: Millis, op: &Op) -> Result<Reply, Unsupported> {
        let now = if *op == Op::Pass { now.plus_millis(1) } else { now };
        self.0.apply(now, op)
    }
}

/// Has nothing.
struct Nothing;

impl Engine<MongoDb> for Nothing {
    fn apply(&mut self, _: Millis, _: &Op) -> Result<Reply, Unsupported> {
        Err(Unsupported("nothing at all".to_owned()))
    }
}

fn first() -> Claim<MongoDb> {
    MongoDb::claims(false).into_iter().next().expect("there are claims")
}

#[test]
fn a_planted_bug_is_found_on_the_shortest_way() {
    let open: Opener<MongoDb> =
        opener(|config: &Config| SweepsEarly(Reference::<MongoDb>::open(config)));

    let outcome = first().run(&open, |_| {});

    assert!(matches!(outcome.verdict, Verdict::Differs(_)), "{}", outcome.verdict);
    let finding = outcome.finding(&open).expect("there is a way to it");
    assert!(matches!(finding, Finding::Engine(_)), "{finding}");
    assert_eq!(finding.to_vector().steps.len(), 3, "an index, a document, a pass: {finding}");
}

#[test]
fn an_engine_that_has_nothing_does_not_pass() {
    let outcome = first().run(&opener(|_: &Config| Nothing), |_| {});

    assert_eq!(outcome.verdict, Verdict::Skipped);
    assert_eq!(outcome.skipped[0].0, "nothing at all");
}
