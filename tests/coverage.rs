//! Every rule is held: by the model, by a vector, by random steps and by a mutant that dies.

use std::path::Path;
use std::sync::LazyLock;

use ttlspec_harness::coverage::{self, Coverage, system_and_stem};

static ROOT: LazyLock<&Path> = LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")));

static COVERAGE: LazyLock<Coverage> = LazyLock::new(|| {
    coverage::gather(&ROOT.join("specs"), &ROOT.join("model/src"))
        .unwrap_or_else(|problem| panic!("{problem}"))
});

#[test]
fn no_rule_lacks_anything() {
    let missing = COVERAGE.missing();

    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_entry_of_the_catalogue_is_carried_by_a_rule() {
    let carried = &COVERAGE.catalogue;
    let missing: Vec<String> = entries().filter(|id| !carried.contains_key(id)).collect();

    assert!(missing.is_empty(), "no rule carries {}", missing.join(", "));
}

#[test]
fn the_written_table_is_up_to_date() {
    let written = std::fs::read_to_string(ROOT.join("specs/COVERAGE.md")).unwrap_or_default();
    let should = COVERAGE.render();

    let differs = written.lines().zip(should.lines()).position(|(is, should)| is != should);
    let at = differs.unwrap_or(written.lines().count().min(should.lines().count())) + 1;
    assert!(written == should, "specs/COVERAGE.md:{at} is out of date: run `ttlspec coverage`");
}

#[test]
fn what_is_decided_elsewhere_is_not_decided_at_home() {
    assert!(!COVERAGE.elsewhere.is_empty());
    for elsewhere in &COVERAGE.elsewhere {
        let (system, stem) = system_and_stem(elsewhere.rule);
        let row = COVERAGE.rows.iter().find(|row| row.rule == elsewhere.rule);
        let mut citations = row.into_iter().flat_map(|row| &row.citations);
        let at_home = citations.any(|one| one.file == format!("{system}/{stem}.rs"));
        assert!(!at_home, "`{}` is cited at home: take it off the list", elsewhere.rule);
    }
}

/// The sections of the catalogue of Cassandra that speak of one node: from which number to which.
const CASSANDRA: [(u32, u32); 7] =
    [(101, 119), (201, 214), (301, 311), (401, 425), (501, 509), (701, 706), (801, 808)];

#[test]
fn every_entry_on_one_cassandra_node_is_carried_by_a_rule() {
    let carried = &COVERAGE.catalogue;
    let all = CASSANDRA.into_iter().flat_map(|(from, to)| from..=to);
    let ids = all.map(|number| format!("CASS-{number}"));
    let missing: Vec<String> = ids.filter(|id| !carried.contains_key(id)).collect();

    assert!(missing.is_empty(), "no rule carries {}", missing.join(", "));
}

/// The entries of the catalogue, section by section.
fn entries() -> impl Iterator<Item = String> {
    let sections: [(&str, &[u32]); 14] = [
        (
            "CREATE",
            &[
                1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 25, 26, 30, 31, 32, 33, 34, 35,
                36, 37, 38, 39, 40, 41, 42, 50, 51, 52, 53,
            ],
        ),
        ("NUM", &[1, 2, 3]),
        ("EXP", &[1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 20, 21, 22, 23]),
        ("NAN", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("PART", &[1, 2, 3, 4, 5, 6]),
        ("CMOD", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (
            "MON",
            &[
                1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 26,
                27, 28, 29, 30, 31, 32,
            ],
        ),
        ("CLUST", &[1, 2, 3, 4, 5]),
        ("TS", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20]),
        ("REPL", &[1, 2, 3, 4, 5, 6, 7, 8]),
        ("CONC", &[1, 2, 3, 4, 5, 6, 7]),
        ("SHARD", &[1, 2, 3, 4]),
        ("OPLOG", &[1, 2, 3, 4]),
        ("OPS", &[1, 2, 3, 4, 5, 6]),
    ];
    let numbers = |(section, numbers): (&'static str, &'static [u32])| {
        numbers.iter().map(move |number| format!("MONGO-{section}-{number:02}"))
    };
    sections.into_iter().flat_map(numbers)
}
