//! How is a difference shown?

use std::fmt;

use ttlspec_model::Reference;

use super::{Actual, Difference};
use crate::alphabet::Alphabet;
use crate::notation::Notation;
use crate::vector::{FORMAT, Place, Vector, VectorFile, VectorStep};

/// A difference, ready to print and to keep.
///
/// It prints as the script, the two answers, and the vector that keeps it from coming back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<V: Alphabet> {
    /// The difference, as small as it could be made.
    pub difference: Difference<V>,
    /// The name of the vector.
    pub name: String,
}

impl<V: Alphabet> Counterexample<V> {
    /// A counterexample without a name of its own.
    pub fn of(difference: Difference<V>) -> Counterexample<V> {
        Counterexample { difference, name: "found".to_owned() }
    }

    /// The same, named.
    pub fn named(mut self, name: impl Into<String>) -> Counterexample<V> {
        self.name = name.into();
        self
    }

    /// What must be answered, as a vector. Its last operation names the rules it rests on, and so
    /// does the question after it.
    pub fn to_vector(&self) -> Vector<V> {
        let script = self.difference.whole();
        let mut reference = Reference::<V>::open(&script.config);
        let mut steps: Vec<VectorStep<V>> = Vec::with_capacity(script.steps.len());
        for (index, (at, op)) in script.steps.into_iter().enumerate() {
            let ruling = reference.explain(at, &op);
            let explains = index + 1 >= self.difference.script.steps.len();
            let by = if explains { ruling.because } else { Vec::new() };
            steps.push(VectorStep { at, op, see: ruling.verdict, by, line: 0 });
        }
        Vector {
            name: self.name.clone(),
            config: script.config,
            versions: None,
            flags: Vec::new(),
            source: None,
            steps,
            place: Place::default(),
        }
    }

    /// A file with nothing but this vector, to replay.
    pub fn to_file(&self) -> VectorFile<V> {
        VectorFile { path: "found.toml".to_owned(), vectors: vec![self.to_vector()] }
    }
}

impl<V: Alphabet + Notation> fmt::Display for Counterexample<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (now, op) in &self.difference.whole().steps {
            writeln!(f, "{:>12} ms  {}", now.0, V::short(op))?;
        }
        let expected = &self.difference.expected;
        write!(f, "    spec:   {}", V::short_reply(&expected.verdict))?;
        let names: Vec<&str> = expected.because.iter().map(|rule| rule.name()).collect();
        match names.as_slice() {
            [] => writeln!(f)?,
            names => writeln!(f, "   because {}", names.join(", "))?,
        }
        match &self.difference.actual {
            Actual::Reply(reply) => writeln!(f, "    engine: {}", V::short_reply(reply))?,
            Actual::Panicked(message) => writeln!(f, "    engine: panicked: {message}")?,
        }
        let spec = V::NAME;
        writeln!(f)?;
        writeln!(f, "add to specs/{spec}/vectors/found.toml, or run: ttlspec replay found.toml")?;
        writeln!(f, "(a file begins with `format = {FORMAT}` and `spec = \"{spec}\"`)")?;
        f.write_str(self.to_vector().to_toml().trim_end())
    }
}
