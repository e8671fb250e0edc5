//! The simulator does what the specification does, only to more documents.

#[path = "simulate/agree.rs"]
mod agree;
#[path = "simulate/bent.rs"]
mod bent;
#[path = "simulate/chapter.rs"]
mod chapter;
#[path = "simulate/command.rs"]
mod command;
#[path = "simulate/draw.rs"]
mod draw;
#[path = "simulate/played.rs"]
mod played;
#[path = "simulate/refused.rs"]
mod refused;
#[path = "simulate/told.rs"]
mod told;
