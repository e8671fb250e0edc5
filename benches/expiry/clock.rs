//! How long did this thread work?

use std::time::Instant;

/// A stopwatch that stands still while other processes have the core, where Linux tells.
pub struct Stopwatch {
    start: Instant,
    start_cpu_ns: Option<u64>,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self { start_cpu_ns: cpu_ns(), start: Instant::now() }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> f64 {
        let wall_ns = self.start.elapsed().as_nanos() as f64;
        match (self.start_cpu_ns, cpu_ns()) {
            (Some(start), Some(end)) => (end - start) as f64,
            _ => wall_ns,
        }
    }
}

/// The first number of `schedstat` is the time on a core.
fn cpu_ns() -> Option<u64> {
    // To yield makes the kernel bring the number up to date, which it else does once a tick.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns = text.split(' ').next()?.parse().ok()?;
    (ns > 0).then_some(ns)
}
