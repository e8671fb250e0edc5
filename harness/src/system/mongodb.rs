//! What is there of MongoDB?

use ttlspec_model::mongodb::MongoDb;

use super::System;
use crate::check::{self, Claim};
use crate::coverage::{self, Elsewhere};
use crate::fuzzing::{self, Seed};
use crate::mutants::{self, Mutant};
use crate::properties::{self, Property};
use crate::values::Source;
use crate::vector::Vector;

impl System for MongoDb {
    type Case = properties::mongodb::Case;

    fn any_case(source: &mut dyn Source) -> Self::Case {
        properties::mongodb::case(source)
    }

    fn properties() -> &'static [Property<MongoDb>] {
        properties::mongodb::PROPERTIES
    }

    fn claims(deep: bool) -> Vec<Claim<MongoDb>> {
        check::mongodb::claims(deep)
    }

    fn mutants() -> Vec<Mutant<MongoDb>> {
        mutants::mongodb::all()
    }

    fn elsewhere() -> &'static [Elsewhere] {
        coverage::mongodb::ELSEWHERE
    }

    fn seeds(vector: &Vector<MongoDb>) -> Vec<Seed> {
        fuzzing::mongodb::seeds(vector)
    }
}
