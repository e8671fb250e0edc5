//! Files are read or refused with their line, written so that they are read as the same, and run.
//!
//! What the specification answers here is left to the toy, so that no rule of a system is needed.

use ttlspec_model::{Engine, Reference, Unsupported};

use super::*;
use crate::toy::{Answer, Toy, Word};

const GOOD: &str = r#"format = 1
spec   = "toy"
config = { version = "1.0", limit = 3 }

[[vector]]
name  = "two is two"
steps = [
  { at_ms = 0,     do = { add = 2 }, see = "ok", by = ["mongodb.life.any-index"] },
  { at_ms = 1_000, do = "ask",       see = { total = 2 } },
]
"#;

fn read(text: &str) -> VectorFile<Toy> {
    parse("good.toml", text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is said of the good file with `from` replaced.
fn complaint(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    parse::<Toy>("bad.toml", text.as_bytes()).expect_err("it is wrong").to_string()
}

#[test]
fn a_good_file_is_read() {
    let file = read(GOOD);

    let vector = &file.vectors[0];
    assert_eq!(vector.name, "two is two");
    assert_eq!(vector.place, Place { file: "good.toml".to_owned(), line: 5 });
    assert_eq!((vector.config.version, vector.config.limit), (1, 3));
    assert_eq!(vector.steps[1].at, Millis(1_000));
    assert_eq!(vector.steps[1].op, Word::Ask);
    assert_eq!(vector.steps[1].see, Answer::Total(2));
    assert_eq!(vector.steps[1].line, 9);
    assert_eq!(vector.steps[0].by, [Rule::MongodbLifeAnyIndex]);
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_the_fix() {
    for (from, to, message) in [
        (
            "{ add = 2 }",
            "{ ad = 2 }",
            "bad.toml:8:27: vector `two is two`: steps[0].do.ad: unknown operation `ad`, expected \
             one of `ask`, `tick`, `add`; did you mean `add`?",
        ),
        (
            "{ add = 2 }",
            "{ add = \"2\" }",
            "bad.toml:8:27: vector `two is two`: steps[0].do.add: expected an integer of 64 bits, \
             found the string `2`",
        ),
        (
            ",       see = { total = 2 }",
            "",
            "bad.toml:9:3: vector `two is two`: steps[1]: a step lacks `see`",
        ),
        (
            "at_ms = 1_000",
            "at = 1_000",
            "bad.toml:9:5: vector `two is two`: steps[1].at: unknown field `at` of a step, \
             expected one of `at_ms`, `do`, `see`, `by`",
        ),
        (
            "at_ms = 1_000",
            "at_ms = 1.5",
            "bad.toml:9:5: vector `two is two`: steps[1].at_ms: expected milliseconds since 1970, \
             or a date of TOML with an offset, found the floating-point number `1.5`",
        ),
        (
            "name  =",
            "nmae  =",
            "bad.toml:6:1: vector[0].nmae: unknown field `nmae` of a vector, expected one of \
             `name`, `config`, `versions`, `flags`, `source`, `steps`; did you mean `name`?",
        ),
        (
            "\"two is two\"",
            "\" \"",
            "bad.toml:6:1: vector ` `: name: expected a few words on what it shows, found the \
             string ` `",
        ),
        (
            "any-index\"",
            "any-indx\"",
            "bad.toml:8:56: vector `two is two`: steps[0].by[0]: unknown rule \
             `mongodb.life.any-indx`; did you mean `mongodb.life.any-index`? (cited at this step: \
             `mongodb.life.any-index`)",
        ),
        (
            "\"1.0\"",
            "\"one\"",
            "bad.toml:3:12: vector `two is two`: config.version: expected a version such as `1.0`, \
             found the string `one`",
        ),
        (
            "spec   = \"toy\"",
            "spec   = \"try\"",
            "bad.toml:2:1: spec: expected the spec `toy`, found `try`; did you mean `toy`?",
        ),
        (
            "format = 1",
            "format = 2",
            "bad.toml:1:1: format: expected format `1`, the only one there is, found the integer \
             `2`",
        ),
        ("format = 1", "", "bad.toml:1:1: the file lacks `format`"),
        (
            "config = { version = \"1.0\", limit = 3 }",
            "",
            "bad.toml:5:1: vector `two is two`: expected `config` here or at the top of the file, \
             found neither",
        ),
        (
            "[[vector]]",
            "[[vectors]]",
            "bad.toml:5:3: vectors: unknown field `vectors` of the file, expected one of \
             `format`, `spec`, `config`, `vector`; did you mean `vector`?",
        ),
        (
            "steps = [",
            "versions = \">=9\"\nsteps = [",
            "bad.toml:7:1: vector `two is two`: versions: no version lies in the range; those \
             there are: 1.0, 2.0",
        ),
        (
            "steps = [",
            "versions = [\"1.0\", \"x\"]\nsteps = [",
            "bad.toml:7:20: vector `two is two`: versions[1]: expected a version such as `1.0`, \
             found the string `x`",
        ),
        (
            "see = \"ok\"",
            "see = ok",
            "bad.toml:8:44: string values must be quoted, expected literal string",
        ),
    ] {
        assert_eq!(complaint(from, to), message);
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let second = GOOD[GOOD.find("[[vector]]").expect("there is one")..].replace("ask", "aks");
    let text = format!("{GOOD}\n{second}\n{}", second.replace("two is", "three is"));

    let errors = parse::<Toy>("bad.toml", text.as_bytes()).expect_err("it is wrong");

    assert_eq!(
        errors.to_string(),
        "bad.toml:13:1: vector `two is two`: name: the name stands twice, first in line 6\n\
         bad.toml:23:5: vector `three is two`: steps[1].do: unknown operation `aks`, expected one \
         of `ask`, `tick`, `add`; did you mean `ask`?"
            .replace("bad.toml:23:5", "bad.toml:23:20")
    );
}

#[test]
fn what_is_no_text_of_vectors_is_refused() {
    for (bytes, message) in [
        (&b""[..], "x.toml: the file is empty, expected `format = 1`, `spec` and `[[vector]]`"),
        (b"a = 1\n\xff", "x.toml:2: expected UTF-8, found the byte 0xff; save it as UTF-8"),
        (b"a = 1\na = 2\n", "x.toml:2:1: duplicate key"),
        (
            b"format = 1\nspec = \"toy\"\nvector = []\n",
            "x.toml:3:1: vector: expected at least one vector, found none",
        ),
    ] {
        let errors = parse::<Toy>("x.toml", bytes).expect_err("it is wrong");
        assert_eq!(errors.to_string(), message);
    }
    let json = br#"{ "format": 1, "spec": "toy", "spec": "toy" }"#;
    let errors = parse::<Toy>("x.json", json).expect_err("it is wrong");
    assert_eq!(errors.to_string(), "x.json:1:31: the key `spec` stands twice");
}

#[test]
fn no_nesting_is_too_deep_to_be_refused() {
    let deep = 50_000;
    for text in [
        format!("a{} = 1", ".a".repeat(deep)),
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}", "{ a = ".repeat(deep)),
        format!("[a{}]", ".a".repeat(deep)),
        "[".repeat(deep),
        "{\"a\":".repeat(deep),
    ] {
        assert!(parse::<Toy>("any", text.as_bytes()).is_err());
    }
}

#[test]
fn a_vector_is_written_so_that_it_is_read_as_the_same() {
    let mut file = read(GOOD);
    let vector = &mut file.vectors[0];
    vector.flags = vec!["off-by-one".to_owned()];
    vector.source = Some("a \"manual\"\n".to_owned());
    vector.versions = Some(Versions::Range(">=1".to_owned()));
    let strip = |mut file: VectorFile<Toy>| {
        for vector in &mut file.vectors {
            vector.place = Place::default();
            vector.steps.iter_mut().for_each(|step| step.line = 0);
        }
        file.vectors
    };

    let toml = parse("any", file.to_toml().as_bytes()).expect("it was written");
    let json = parse("any", file.to_json().to_string().as_bytes()).expect("it was written");

    assert_eq!(strip(toml), strip(file.clone()));
    assert_eq!(strip(json), strip(file));
}

#[test]
fn the_steps_are_written_in_columns() {
    let toml = read(GOOD).vectors[0].to_toml();

    assert_eq!(
        toml,
        r#"[[vector]]
name   = "two is two"
config = { version = "1.0", limit = 3 }
steps  = [
  { at_ms = 0,     do = { add = 2 }, see = "ok", by = ["mongodb.life.any-index"] },
  { at_ms = 1_000, do = "ask",       see = { total = 2 } },
]
"#
    );
}

#[test]
fn a_vector_overrides_single_keys_of_the_configuration() {
    let text = GOOD.replace("steps = [", "config = { limit = 5 }\nsteps = [");

    let config = read(&text).vectors[0].config;

    assert_eq!((config.version, config.limit), (1, 5));
}

#[test]
fn an_instant_may_be_a_date() {
    let text = GOOD.replace("1_000", "2024-01-01T00:00:00Z");

    assert_eq!(read(&text).vectors[0].steps[1].at, Millis(1_704_067_200_000));
}

#[test]
fn the_specification_must_answer_and_cite_as_the_vector_says() {
    let good = verify_spec(&read(GOOD).vectors[0]);
    let wrong = verify_spec(&read(&GOOD.replace("total = 2", "total = 3")).vectors[0]);
    let untrue = verify_spec(&read(&GOOD.replace("life.any-index", "life.clock")).vectors[0]);

    assert_eq!(good[0].outcome, Outcome::Passed);
    assert_eq!(
        wrong[0].to_string(),
        "good.toml:9: vector `two is two` at 1.0: steps[1]: `\"ask\"` at 1000 ms: expected \
         {\"total\":3}, found {\"total\":2}, because `mongodb.life.whole`"
    );
    assert_eq!(
        untrue[0].to_string(),
        "good.toml:8: vector `two is two` at 1.0: steps[0]: `{\"add\":2}` at 0 ms: expected the \
         rule `mongodb.life.clock` to be cited, found only `mongodb.life.any-index`"
    );
}

#[test]
fn a_vector_is_run_at_each_of_its_versions() {
    let text = GOOD.replace("steps = [", "versions = [\"1.0\", \"2.0\"]\nsteps = [");

    let runs = verify_spec(&read(&text).vectors[0]);

    let versions: Vec<_> = runs.iter().map(|run| run.version.as_deref()).collect();
    assert_eq!(versions, [Some("1.0"), Some("2.0")]);
}

/// Has no questions at all.
struct Mute;
impl Engine<Toy> for Mute {
    fn apply(&mut self, _: Millis, op: &Word) -> Result<Answer, Unsupported> {
        match op {
            Word::Ask => Err(Unsupported("no questions".to_owned())),
            _ => Ok(Answer::Ok),
        }
    }
}

/// Falls over at the first question.
struct Falls;
impl Engine<Toy> for Falls {
    fn apply(&mut self, _: Millis, op: &Word) -> Result<Answer, Unsupported> {
        match op {
            Word::Ask => panic!("out of paper"),
            _ => Ok(Answer::Ok),
        }
    }
}

#[test]
fn an_engine_passes_is_skipped_or_fails() {
    let vector = &read(GOOD).vectors[0];

    let mut passes = Report::default();
    passes.add(verify(vector, |config| Box::new(Reference::<Toy>::open(config))));
    let mut mute = Report::default();
    mute.add(verify(vector, |_| Box::new(Mute)));
    let mut falls = Report::default();
    falls.add(verify(vector, |_| Box::new(Falls)));

    assert!(passes.is_success());
    assert_eq!(passes.to_string(), "1 passed, 0 failed, 0 skipped");
    assert!(!mute.is_success());
    assert_eq!(
        mute.to_string(),
        "skipped: `two is two` at 1.0: no questions\n\
         0 passed, 0 failed, 1 skipped; nothing was shown, which counts as a failure"
    );
    assert!(!falls.is_success());
    assert!(falls.to_string().contains("expected {\"total\":2}; found a panic: out of paper"));
}

#[test]
fn a_name_stands_once_in_a_folder() {
    let folder = std::env::temp_dir().join(format!("ttlspec-library-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    std::fs::write(folder.join("a.toml"), GOOD).expect("a file for the test");
    std::fs::write(folder.join("b.json"), read(GOOD).to_json().to_string()).expect("another");

    let twice = load_dir::<Toy>(&folder).expect_err("the name stands twice").to_string();
    std::fs::remove_file(folder.join("b.json")).expect("it is there");
    let once = load_dir::<Toy>(&folder).expect("the name stands once");
    std::fs::remove_dir_all(&folder).expect("it is there");

    assert!(twice.contains("b.json:1"), "{twice}");
    assert!(twice.contains("the name stands twice, first at"), "{twice}");
    assert_eq!(once.len(), 1);
    assert!(load_dir::<Toy>(&folder).is_err());
}

#[test]
fn the_spec_decides_which_system_a_file_is_about() {
    let of = |text: &str| spec_of("any.toml", text.as_bytes(), &["other", "toy"]);
    let complaint = |text: &str| of(text).expect_err("it is wrong").to_string();

    assert_eq!(of(GOOD), Ok("toy"));
    assert_eq!(
        complaint(&GOOD.replace("\"toy\"", "\"oter\"")),
        "any.toml:2:1: spec: expected the spec one of `other`, `toy`, found `oter`; did you mean \
         `other`?"
    );
    assert_eq!(complaint("format = 1"), "any.toml:1:1: the file lacks `spec`");
}
