//! The book and the list of rules say the same.

use std::path::Path;

use ttlspec_harness::coverage;
use ttlspec_model::Rule;
use ttlspec_model::ruling::Level;

#[test]
fn the_headings_of_the_book_are_the_rules_in_their_order() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");

    let wrong = coverage::book(&specs).expect("the chapters can be read");

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_sentence() {
    for rule in Rule::ALL {
        let sentence = rule.sentence();
        assert!(sentence.ends_with('.'), "`{rule}` has no whole sentence: `{sentence}`");
        assert!(!sentence.starts_with('*'), "`{rule}` begins with a remark: `{sentence}`");
    }
}

#[test]
fn what_is_decided_says_who_saw_it_and_where() {
    let marks = ["*Why.*", "*Versions.*", "*Evidence.*", "*Catalogue.*", "*Source.*"];
    for rule in Rule::ALL.iter().filter(|rule| rule.level() == Level::Decided) {
        for mark in marks {
            assert!(rule.text().contains(mark), "`{rule}` has no {mark}");
        }
    }
}
