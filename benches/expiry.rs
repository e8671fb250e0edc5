//! How many times better than its peers is the expiry calendar?
//!
//! ```text
//! cargo bench --bench expiry                      criterion on 10,000 documents, then the table on 1,000,000
//! cargo bench --bench expiry -- 10000000          the table alone, on 10,000,000 (some 10 GiB and 10 minutes)
//! TTLSPEC_BENCH_DOCS=10000000 cargo bench --bench expiry
//! TTLSPEC_BENCH_ROUNDS=7 cargo bench --bench expiry
//! cargo bench --bench expiry -- --test            a smoke run
//! ```
//!
//! A number after `--` is the number of documents; to criterion it is a filter that fits no name.
//! The ratios are the result. Times depend on the machine and its other work.

use criterion::{BenchmarkId, Criterion};
use std::hint::black_box;
use structures::{Delays, Heap, Index, Map, Ours, PlainWheel};
use workload::Workload;

#[path = "expiry/allocator.rs"]
mod allocator;
#[path = "expiry/clock.rs"]
mod clock;
#[path = "expiry/structures.rs"]
mod structures;
#[path = "expiry/table.rs"]
mod table;
#[path = "expiry/workload.rs"]
mod workload;

#[global_allocator]
static COUNTING: allocator::Counting = allocator::Counting;

const SMOKE_DOCS: usize = 10_000;
const TABLE_DOCS: usize = 1_000_000;

fn bench<I: Index>(criterion: &mut Criterion, workload: &Workload) {
    let id = BenchmarkId::new(I::NAME, workload.docs());
    criterion
        .benchmark_group(format!("expiry {}", workload.name))
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_secs(1))
        .throughput(criterion::Throughput::Elements(workload.docs() as u64))
        .bench_function(id, |bencher| {
            bencher.iter(|| black_box(table::run::<I>(workload)).checksum)
        });
}

fn number(text: &str) -> Option<usize> {
    text.replace('_', "").parse().ok()
}

fn from_env(name: &str) -> Option<usize> {
    std::env::var(name).ok().and_then(|value| number(&value))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let mut criterion = Criterion::default().configure_from_args();
    for workload in [Workload::a, Workload::b, Workload::c].map(|workload| workload(SMOKE_DOCS)) {
        bench::<Ours<false>>(&mut criterion, &workload);
        bench::<Ours<true>>(&mut criterion, &workload);
        bench::<Map>(&mut criterion, &workload);
        bench::<Heap>(&mut criterion, &workload);
        bench::<Delays>(&mut criterion, &workload);
        bench::<PlainWheel>(&mut criterion, &workload);
    }
    criterion.final_summary();
    if has("--list") {
        return;
    }
    // Without `--bench` this is `cargo test --benches`.
    if has("--test") || !has("--bench") {
        table::print_table(SMOKE_DOCS, 1);
        return;
    }
    let argument = arguments.iter().find_map(|argument| number(argument));
    let docs = argument.or_else(|| from_env("TTLSPEC_BENCH_DOCS")).unwrap_or(TABLE_DOCS);
    let rounds = if docs > 2_000_000 { 3 } else { 5 };
    table::print_table(docs, from_env("TTLSPEC_BENCH_ROUNDS").unwrap_or(rounds));
}
