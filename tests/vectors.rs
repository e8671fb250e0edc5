//! Every vector holds, on the specification and on the engine, and none of the peers' cases is
//! missing.

use std::path::Path;

use ttlspec_harness::check::{Opener, opener};
use ttlspec_harness::vector::{Report, load_dir, verify, verify_spec};
use ttlspec_harness::{System, Vector};
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::MongoDb;

#[test]
fn every_vector_holds_on_the_specification_and_its_rules_are_cited() {
    hold_on_the_specification::<MongoDb>();
    hold_on_the_specification::<Cassandra>();
}

fn hold_on_the_specification<V: System>() {
    let mut report = Report::default();

    vectors::<V>().iter().for_each(|vector| report.add(verify_spec(vector)));

    assert!(report.is_success(), "{report}");
}

#[test]
fn every_vector_holds_on_the_engine() {
    hold_on_the_engine::<MongoDb>(&opener(MongoEngine::open));
    hold_on_the_engine::<Cassandra>(&opener(CassandraEngine::open));
}

fn hold_on_the_engine<V: System>(open: &Opener<V>) {
    let mut report = Report::default();

    for vector in vectors::<V>() {
        report.add(verify(&vector, |config| open(config)));
    }

    assert!(report.is_success(), "{report}");
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn each_of_the_222_cases_of_other_implementations_is_a_vector() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mongodb-like-cases.json");
    let text = std::fs::read(path).expect("the cases are in the repository");
    let cases: serde_json::Value = serde_json::from_slice(&text).expect("they are JSON");
    let sources: Vec<String> =
        vectors::<MongoDb>().into_iter().filter_map(|vector| vector.source).collect();
    let is_vector = |id: &str| {
        let of_case = |source: &String| source.split([' ', ',', ';']).any(|word| word == id);
        sources.iter().any(of_case)
    };

    let ids = cases.as_array().expect("a list of cases").iter().map(|case| &case["id"]);
    let ids: Vec<&str> = ids.map(|id| id.as_str().expect("a case has an id")).collect();
    let missing: Vec<&&str> = ids.iter().filter(|id| !is_vector(id)).collect();

    assert_eq!(ids.len(), 222);
    assert!(missing.is_empty(), "no vector shows {missing:?}");
}

fn vectors<V: System>() -> Vec<Vector<V>> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let folder = specs.join(V::NAME).join("vectors");
    let files = load_dir::<V>(&folder).unwrap_or_else(|errors| panic!("{errors}"));
    files.into_iter().flat_map(|file| file.vectors).collect()
}
