//! What must hold whatever the documents: of the engine, of the specification, and of both beside
//! each other.

use bson::Document;
use proptest::prelude::{ProptestConfig, TestCaseError, prop_assert};
use proptest::test_runner::{RngSeed, TestRunner};
use ttlspec_harness::System;
use ttlspec_harness::alphabet::Alphabet;
use ttlspec_harness::check::{Opener, opener};
use ttlspec_harness::properties::Held;
use ttlspec_harness::properties::mongodb::{filter_agrees, keys_agree};
use ttlspec_harness::values::{Source, drawn, mongodb as values};
use ttlspec_impl::cassandra::CassandraEngine;
use ttlspec_impl::mongodb::MongoEngine;
use ttlspec_impl::mongodb::bytes::{Value, kind};
use ttlspec_impl::mongodb::filter::Filter;
use ttlspec_impl::mongodb::key_extractor::{Path, least_date};
use ttlspec_model::cassandra::Cassandra;
use ttlspec_model::mongodb::{Config, MongoDb, Op, Version};
use ttlspec_model::{Engine, Millis, Reference, Spec};

/// So many cases, the same ones each time; what fails is made small.
fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

fn hold<V: System>(open: &Opener<V>) {
    for property in V::properties() {
        let ran =
            runner(256).run(&drawn(V::any_case), |case| match (property.check)(&case, open) {
                Held::No(how) => Err(TestCaseError::fail(how)),
                Held::Yes | Held::NotThere => Ok(()),
            });
        if let Err(failure) = ran {
            panic!("`{}` does not hold. {}\n{failure}", property.name, property.sentence);
        }

        let tally = property.run(1, 2_000, open);
        assert_eq!(tally.failure, None, "`{}` does not hold", property.name);
        assert!(tally.held > 50, "`{}` says something of only {}", property.name, tally.held);
    }
}

#[test]
fn every_property_holds_of_the_specification() {
    hold(&opener(Reference::<MongoDb>::open));
    hold(&opener(Reference::<Cassandra>::open));
}

#[test]
fn every_property_holds_of_the_engine() {
    hold(&opener(MongoEngine::open));
    hold(&opener(CassandraEngine::open));
}

#[test]
fn the_specification_and_the_engine_answer_any_operations_alike_and_without_panic() {
    type Script = (Config, Vec<(Millis, Op)>);
    fn script(source: &mut dyn Source) -> Script {
        let config = MongoDb::any_config(source);
        (config, values::steps(source, 30))
    }

    let ran = runner(4_000).run(&drawn(script), |(config, steps)| {
        let mut engine = MongoEngine::open(&config);
        let mut state = MongoDb::init(&config);
        for (now, op) in steps {
            let step = MongoDb::step(&config, &state, now, &op);
            let reply = engine.apply(now, &op).map_err(|why| TestCaseError::fail(why.0))?;
            prop_assert!(
                reply == step.reply.verdict,
                "expected {:?} because {:?}, found {:?}",
                step.reply.verdict,
                step.reply.because,
                reply,
            );
            state = step.state;
        }
        Ok(())
    });

    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn the_engine_sees_the_dates_that_the_specification_sees() {
    fn any(source: &mut dyn Source) -> (Document, String) {
        (values::document(source), values::path(source))
    }
    let engine = |document: &Document, path: &str| {
        let bytes = document.to_vec().expect("no name has a zero byte");
        least_date(&bytes, &Path::new(path.as_bytes())).map_err(|_| ())
    };

    let ran = runner(20_000).run(&drawn(any), |(document, path)| {
        keys_agree(&document, &path, engine).map_err(TestCaseError::fail)
    });

    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn the_engine_finds_inside_a_filter_what_the_specification_finds() {
    fn any(source: &mut dyn Source) -> (Version, Document, Document) {
        (values::version(source), values::filter(source), values::document(source))
    }
    let engine = |version: Version, filter: &Document, document: &Document| {
        let bytes = filter.to_vec().expect("no name has a zero byte");
        let filter = Filter::new(version, Value::new(kind::DOCUMENT, &bytes))?;
        let document = document.to_vec().expect("no name has a zero byte");
        Ok((filter.is_allowed(), filter.holds(&document).expect("it is well formed")))
    };

    let ran = runner(20_000).run(&drawn(any), |(version, filter, document)| {
        filter_agrees(version, &filter, &document, engine).map_err(TestCaseError::fail)
    });

    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}
