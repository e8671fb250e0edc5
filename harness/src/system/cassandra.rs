//! What is there of Cassandra?

use ttlspec_model::cassandra::Cassandra;

use super::System;
use crate::check::{self, Claim};
use crate::coverage::{self, Elsewhere};
use crate::mutants::{self, Mutant};
use crate::properties::{self, Property};
use crate::values::Source;

impl System for Cassandra {
    type Case = properties::cassandra::Case;

    fn any_case(source: &mut dyn Source) -> Self::Case {
        properties::cassandra::case(source)
    }

    fn properties() -> &'static [Property<Cassandra>] {
        properties::cassandra::PROPERTIES
    }

    fn claims(deep: bool) -> Vec<Claim<Cassandra>> {
        check::cassandra::claims(deep)
    }

    fn mutants() -> Vec<Mutant<Cassandra>> {
        mutants::cassandra::all()
    }

    fn elsewhere() -> &'static [Elsewhere] {
        coverage::cassandra::ELSEWHERE
    }
}
