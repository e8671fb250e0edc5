//! What must hold of any engine, whatever is asked of it?

pub mod mongodb;
