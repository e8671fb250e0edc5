//! What is claimed of Cassandra, and which laws and hazards does it come to?

mod claims;
mod laws;

pub(crate) use claims::claims;
