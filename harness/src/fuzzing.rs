//! What do a fuzzer's bytes stand for?
//!
//! A target is a line of glue: it hands its bytes to one of these, which panics where something is
//! wrong, with the difference as a vector where there is one. The seeds of the corpus are the
//! vectors, written as the bytes that stand for them.

use arbitrary::Unstructured;
use ttlspec_model::{Engine, Millis};

use crate::alphabet::Drawing;
use crate::lockstep;
use crate::notation::Notation;
use crate::script::Script;
use crate::system::System;
use crate::vector::{self, Vector, VectorFile};

pub mod cassandra;
pub mod mongodb;

/// The most moves that a script of bytes has.
const MOST_MOVES: usize = 60;

/// Walks the script that the bytes stand for: a vector as JSON, or else choices.
///
/// # Panics
/// Where the engine differs, with the counterexample.
pub fn ops<V: System>(bytes: &[u8], open: impl FnMut(&V::Config) -> Box<dyn Engine<V>>) {
    if let Err(counterexample) = lockstep::check(&script::<V>(bytes), open) {
        panic!("{counterexample}");
    }
}

fn script<V: System>(bytes: &[u8]) -> Script<V> {
    if bytes.starts_with(b"{")
        && let Ok(file) = vector::parse::<V>("fuzz.json", bytes)
        && let Some(vector) = file.vectors.first()
        && let Some(config) = vector.configs().first()
    {
        return vector.script(config);
    }
    let mut choices = Unstructured::new(bytes);
    let mut drawing = Drawing::<V>::begin(&mut choices, 2);
    let mut script = Script::new(drawing.config.clone());
    while script.steps.len() < MOST_MOVES && !choices.is_empty() {
        script.steps.push(drawing.step(&mut choices));
    }
    script
}

/// Reads the bytes as a file of vectors of a system, and reads again what that writes.
///
/// # Panics
/// Where what was written reads otherwise, or not at all.
pub fn vectors<V: Notation>(bytes: &[u8]) {
    for name in ["fuzz.toml", "fuzz.json"] {
        let Ok(file) = vector::parse::<V>(name, bytes) else { continue };
        let written = file.to_toml();
        let again = vector::parse::<V>("again.toml", written.as_bytes())
            .unwrap_or_else(|errors| panic!("{errors}\nin\n{written}"));
        let what = |file: &VectorFile<V>| -> Vec<_> {
            file.vectors.iter().map(|one| (one.name.clone(), steps_of(one))).collect()
        };
        assert_eq!(what(&file), what(&again), "written and read again:\n{written}");
    }
}

fn steps_of<V: Notation>(vector: &Vector<V>) -> Vec<(Millis, V::Op, V::Reply)> {
    vector.steps.iter().map(|step| (step.at, step.op.clone(), step.see.clone())).collect()
}

/// One input of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The fuzz target.
    pub target: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The vectors of a system as inputs: of the target that bears its name and `_ops`, of
/// `vector_parse`, and of those that are about this system only.
pub fn seeds<V: System>(vectors: &[Vector<V>]) -> Vec<Seed> {
    let of_one = |vector: &Vector<V>| {
        let file = VectorFile { path: String::new(), vectors: vec![vector.clone()] };
        let ops = file.to_json().to_string().into_bytes();
        let text = file.to_toml().into_bytes();
        let mut seeds = vec![
            Seed { target: format!("{}_ops", V::NAME), bytes: ops },
            Seed { target: "vector_parse".to_owned(), bytes: text },
        ];
        seeds.extend(V::seeds(vector));
        seeds
    };
    vectors.iter().flat_map(of_one).collect()
}
