//! What is claimed of the small worlds of Cassandra, and how many states each has.
//!
//! A golden count changes only in a commit that explains it.

use ttlspec_harness::System;
use ttlspec_harness::check::{Claim, Verdict, opener, run_all};
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_model::cassandra::Cassandra;

/// The world, how many states, which laws (`cassandra.…`) hold in each of them, and how many moves
/// lead to what must be found. It is the same in 4.1.10 and in 5.0.6.
type Row = (&'static str, u64, &'static [&'static str], &'static [(&'static str, usize)]);

/// Flushes and compactions change nothing that is shown.
const BOTH: &[&str] = &["memtable.flush", "purge.merge-first"];

#[rustfmt::skip]
const CLAIMS: &[Row] = &[
    ("purge", 680, BOTH, &[]),
    ("expiry", 525, BOTH, &[]),
    ("memtable", 2_194, BOTH, &[]),
    ("whole", 1_162, BOTH, &[]),
    ("garbage", 897, BOTH, &[]),
    ("holders", 311, BOTH, &[]),
    ("collections", 1_748, BOTH, &[]),
    ("ranges", 3_853, BOTH, &[]),
    ("memtable, with the server's faults", 867, &[], &[("fault.minus-one", 5)]),
    ("expiry, with the server's faults", 295, &[], &[("fault.vanish", 4)]),
    ("purge without overlaps", 698, &[], &[("purge.overlap", 5)]),
    ("purge without memtables", 2_087, &[], &[("purge.memtable", 4)]),
    ("purge at equal timestamps", 675, &[], &[("purge.strict", 4)]),
    ("purge within one holder", 311, &[], &[("purge.other-holder", 6)]),
    ("purge before the merge", 680, &[], &[("purge.merge-first", 5)]),
    ("drop whatever is older", 1_166, &[], &[("compaction.drop-blocked", 4)]),
    ("drop whatever a memtable holds", 1_120, &[], &[("compaction.drop-memtable", 4)]),
];

#[test]
fn every_claim_holds_with_the_engine_at_its_side() {
    let claims = Cassandra::claims(false);

    let outcomes = run_all(&claims, &opener(CassandraEngine::open), |_| {});

    for (claim, outcome) in claims.iter().zip(&outcomes) {
        let row = row(claim);
        assert_eq!(outcome.verdict, Verdict::Holds, "{}", outcome.name);
        assert!(outcome.skipped.is_empty(), "{}: {:?}", outcome.name, outcome.skipped);
        assert_eq!(outcome.states, row.1, "{}", outcome.name);
        let ways = outcome.ways.iter().map(|way| (bare(way.hazard), way.moves));
        assert_eq!(ways.collect::<Vec<_>>(), row.3, "{}", outcome.name);
    }
}

#[test]
fn the_table_has_every_claim_with_its_laws() {
    let claims = Cassandra::claims(false);

    assert_eq!(claims.len(), 2 * CLAIMS.len());
    for claim in &claims {
        let laws: Vec<&str> = claim.laws.iter().map(|law| bare(law.rule)).collect();
        assert_eq!(laws, row(claim).2, "{}", claim.name);
    }
}

fn row(claim: &Claim<Cassandra>) -> &'static Row {
    let row = CLAIMS.iter().find(|(world, ..)| *world == claim.world.name);
    row.unwrap_or_else(|| panic!("`{}` is not in the table", claim.name))
}

/// `fault.minus-one` of `cassandra.fault.minus-one: what was deleted comes back`.
fn bare(name: &str) -> &str {
    let rule = name.split(':').next().unwrap_or(name);
    rule.strip_prefix("cassandra.").unwrap_or(rule)
}
