//! What must there be of a system, so that everything here holds an engine of it against the book?
//!
//! Beside its words, how they are written ([`Notation`]) and what may be tried ([`Alphabet`]): what
//! is claimed, what must hold of any engine, and which mistakes must be found. A new system is an
//! implementation of [`System`], and a line where all of them are listed: in
//! [`coverage`](crate::coverage), and wherever engines are opened.

use std::fmt::Debug;

use crate::alphabet::Alphabet;
use crate::check::Claim;
use crate::coverage::Elsewhere;
use crate::fuzzing::Seed;
use crate::mutants::Mutant;
use crate::notation::Notation;
use crate::properties::Property;
use crate::values::Source;
use crate::vector::Vector;

mod cassandra;
mod mongodb;

/// All that the harness has of one system.
///
/// [`Notation::NAME`] is its stem: rules, chapters, vectors and modules of the model stand under it.
pub trait System: Notation + Alphabet {
    /// What a property is tried on.
    type Case: Clone + Debug + Eq;

    /// Any case.
    fn any_case(source: &mut dyn Source) -> Self::Case;

    /// What must hold in every case.
    fn properties() -> &'static [Property<Self>];

    /// What is claimed of its small worlds, at small bounds or `deep` ones.
    fn claims(deep: bool) -> Vec<Claim<Self>>;

    /// Its mutants, in the order of the book.
    fn mutants() -> Vec<Mutant<Self>>;

    /// The rules that are not decided in the module of their chapter.
    fn elsewhere() -> &'static [Elsewhere] {
        &[]
    }

    /// A vector as inputs of fuzz targets that are about this system only, beside that of scripts.
    fn seeds(_: &Vector<Self>) -> Vec<Seed> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
