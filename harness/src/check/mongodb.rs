//! What is claimed of MongoDB, and which laws and hazards does it come to?

mod claims;
mod laws;

pub(crate) use claims::claims;
