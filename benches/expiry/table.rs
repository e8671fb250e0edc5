//! How many times better than its peers is the calendar?

use crate::allocator::live_bytes;
use crate::clock::Stopwatch;
use crate::structures::{BatchedWheel, Delays, Heap, Index, Map, Ours, PlainWheel, SmallWheel};
use crate::workload::{BATCH, Store, Workload};
use std::time::Instant;

/// One structure through one workload, once.
pub struct Run {
    name: &'static str,
    insert_ns: f64,
    update_ns: f64,
    expire_ns: f64,
    total_ns: f64,
    live_bytes: f64,
    used_bytes: Option<f64>,
    insert_batches_ns: Vec<u64>,
    expire_batches_ns: Vec<u64>,
    /// What was deleted, and in which pass.
    pub checksum: (usize, u64),
}

/// Takes a structure through a workload.
pub fn run<I: Index>(workload: &Workload) -> Run {
    let docs = workload.docs();
    let mut store = Store::new(docs);
    let batches = workload.passes_ms.len() + 2 * docs / BATCH + 2;
    let mut insert_batches_ns = Vec::with_capacity(docs / BATCH + 1);
    let mut expire_batches_ns = Vec::with_capacity(batches);
    let live_before = live_bytes();
    let mut index = I::new();

    let stopwatch = Stopwatch::start();
    let documents = workload.dates_ms.chunks(workload.dates_per_doc * BATCH);
    for (batch, dates_ms) in documents.enumerate() {
        let start = Instant::now();
        load(&mut index, &mut store, batch * BATCH, dates_ms, workload.dates_per_doc);
        insert_batches_ns.push(start.elapsed().as_nanos() as u64);
    }
    let insert_ns = stopwatch.elapsed_ns();
    let live = live_bytes() - live_before;
    let used_bytes = index.used_bytes().map(|used| used as f64 / docs as f64);

    let stopwatch = Stopwatch::start();
    for update in &workload.updates {
        let old_ms = store.put(update.slot, update.date_ms);
        index.update(update.slot, old_ms, update.date_ms);
    }
    let update_ns = stopwatch.elapsed_ns();

    let stopwatch = Stopwatch::start();
    for &now_ms in &workload.passes_ms {
        let mut start = Instant::now();
        index.begin_pass(now_ms);
        let mut more = true;
        while more {
            more = index.expire(now_ms, &mut store);
            let end = Instant::now();
            expire_batches_ns.push((end - start).as_nanos() as u64);
            start = end;
        }
        store.end_pass();
    }
    let expire_ns = stopwatch.elapsed_ns();

    let updates = workload.updates.len();
    let docs = docs as f64;
    Run {
        name: I::NAME,
        insert_ns: insert_ns / docs,
        update_ns: if updates > 0 { update_ns / updates as f64 } else { 0.0 },
        expire_ns: expire_ns / docs,
        total_ns: (insert_ns + update_ns + expire_ns) / docs,
        live_bytes: live as f64 / docs,
        used_bytes,
        insert_batches_ns,
        expire_batches_ns,
        checksum: store.checksum(),
    }
}

/// Loads documents from a slot on.
fn load<I: Index>(
    index: &mut I,
    store: &mut Store,
    first_slot: usize,
    dates_ms: &[i64],
    per_doc: usize,
) {
    if per_doc == 1 {
        for (slot, &date_ms) in (first_slot as u32..).zip(dates_ms) {
            store.put(slot, date_ms);
            index.insert(slot, date_ms);
        }
        return;
    }
    for (slot, dates_ms) in (first_slot as u32..).zip(dates_ms.chunks_exact(per_doc)) {
        let least_ms = dates_ms.iter().fold(i64::MAX, |least, &date_ms| least.min(date_ms));
        store.put(slot, least_ms);
        index.insert(slot, least_ms);
    }
}

/// One structure through one workload, several times.
struct Row {
    name: &'static str,
    insert_ns: f64,
    update_ns: f64,
    expire_ns: f64,
    total_ns: f64,
    live_bytes: f64,
    used_bytes: Option<f64>,
    worst_insert_ms: f64,
    worst_expire_ms: f64,
    worst_seen_ms: f64,
}

impl Row {
    fn of(runs: &[Run]) -> Self {
        let median = |value: fn(&Run) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let seen = runs.iter().flat_map(|run| &run.expire_batches_ns).max();
        Self {
            name: runs[0].name,
            insert_ns: median(|run| run.insert_ns),
            update_ns: median(|run| run.update_ns),
            expire_ns: median(|run| run.expire_ns),
            total_ns: median(|run| run.total_ns),
            live_bytes: median(|run| run.live_bytes),
            used_bytes: runs[0].used_bytes,
            worst_insert_ms: worst_batch_ms(runs, |run| &run.insert_batches_ns),
            worst_expire_ms: worst_batch_ms(runs, |run| &run.expire_batches_ns),
            worst_seen_ms: seen.map_or(0.0, |&ns| ns as f64 / 1e6),
        }
    }
}

/// The slowest batch, where each counts as in its quickest round: every round does the same work,
/// and what differs is the machine's other business.
fn worst_batch_ms(runs: &[Run], batches_ns: fn(&Run) -> &Vec<u64>) -> f64 {
    let batches = batches_ns(&runs[0]).len();
    let quickest_ns = |batch| runs.iter().map(|run| batches_ns(run)[batch]).min();
    let worst_ns = (0..batches).filter_map(quickest_ns).max();
    worst_ns.map_or(0.0, |ns| ns as f64 / 1e6)
}

type Runner = fn(&Workload) -> Run;

const RUNNERS: [Runner; 8] = [
    run::<Ours<false>>,
    run::<Ours<true>>,
    run::<Map>,
    run::<Heap>,
    run::<Delays>,
    run::<PlainWheel>,
    run::<BatchedWheel>,
    run::<SmallWheel>,
];
const OURS: usize = 0;
const MAP: usize = 2;
/// The wheels as their makers' manuals have them.
const PLAIN_WHEELS: [usize; 2] = [4, 5];
/// With those that could hold real dates, but have this bench's batched look at the store.
const BATCHED_WHEELS: [usize; 3] = [4, 5, 6];
const ALL_WHEELS: [usize; 4] = [4, 5, 6, 7];

/// Runs all structures on a workload, each once a round, and checks that they agree.
fn measure(workload: &Workload, rounds: usize) -> Vec<Row> {
    let mut runs: Vec<Vec<Run>> = RUNNERS.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..RUNNERS.len() {
            let structure = (round + turn) % RUNNERS.len();
            runs[structure].push(RUNNERS[structure](workload));
        }
    }
    let expected = runs[MAP][0].checksum;
    assert_eq!(expected.0, workload.docs(), "every document expires");
    for run in runs.iter().flatten() {
        assert_eq!(run.checksum, expected, "`{}` deletes what the map deletes", run.name);
    }
    runs.iter().map(|runs| Row::of(runs)).collect()
}

fn best_ns(rows: &[Row], wheels: &[usize]) -> f64 {
    wheels.iter().map(|&wheel| rows[wheel].total_ns).fold(f64::INFINITY, f64::min)
}

fn print(workload: &Workload, rows: &[Row]) {
    println!("\n{}: {}", workload.name, workload.about);
    println!(
        "{:<22} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6} {:>8} {:>8} {:>8}",
        "structure",
        "insert",
        "update",
        "expire",
        "total",
        "/BTree",
        "/wheel",
        "B/entry",
        "used",
        "ins ms",
        "batch ms",
        "seen ms"
    );
    for row in rows {
        let used = row.used_bytes.map_or("-".to_owned(), |used| format!("{used:.1}"));
        println!(
            "{:<22} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {:>7.2}x {:>7.2}x {:>7.1} {:>6} {:>8.3} {:>8.3} {:>8.3}",
            row.name,
            row.insert_ns,
            row.update_ns,
            row.expire_ns,
            row.total_ns,
            rows[MAP].total_ns / row.total_ns,
            best_ns(rows, &ALL_WHEELS) / row.total_ns,
            row.live_bytes,
            used,
            row.worst_insert_ms,
            row.worst_expire_ms,
            row.worst_seen_ms,
        );
    }
}

/// A figure, the mark required of it if any, and the goal.
fn mark(name: &str, found: f64, required: Option<f64>, goal: f64, at_most: bool) {
    let sign = if at_most { "<=" } else { ">=" };
    let verdict = |bound: f64| {
        let met = if at_most { found <= bound } else { found >= bound };
        format!("{sign} {bound}: {}", if met { "met" } else { "not met" })
    };
    let required = required.map_or("-".to_owned(), verdict);
    println!("  {name:<36} {found:>7.2}   required {required:<15} goal {}", verdict(goal));
}

/// Measures and prints the three workloads, and says which marks are met.
pub fn print_table(docs: usize, rounds: usize) {
    println!("\nexpiry of {docs} documents, medians of {rounds} interleaved rounds");
    println!(
        "insert, update, expire: ns for each document inserted, updated, expired; total: ns for \
         each document's whole life,\n  of CPU time where Linux tells it.\n\
         /BTree, /wheel: how many times quicker than std BTreeMap, than the best of the wheels.\n\
         B/entry: live heap after loading; used: of that, as the structure tells.\n\
         ins ms, batch ms: the slowest batch of {BATCH} inserts, of at most {BATCH} candidates \
         (hhwt stops between ticks only),\n  each batch taken from its quickest round; seen ms: \
         the slowest of all rounds, whatever else the machine did.\n\
         batched: the wheel with the calendar's way of looking at the store, 32-bit: and with \
         entries of 8 bytes;\n  both are our tuning of the peer, the plain row is how it is used."
    );
    let table = |workload: Workload| {
        let rows = measure(&workload, rounds);
        print(&workload, &rows);
        rows
    };
    let a = table(Workload::a(docs));
    let b = table(Workload::b(docs));
    let c = table(Workload::c(docs));

    println!("\nmarks (stated for 10000000 documents; this run has {docs}):");
    let total_ns = |rows: &[Row], row: usize| rows[row].total_ns;
    let to_map = |rows: &[Row]| total_ns(rows, MAP) / total_ns(rows, OURS);
    let worst_ms = [&a, &b, &c].map(|rows| rows[OURS].worst_expire_ms);
    let worst_insert_ms = [&a, &b, &c].map(|rows| rows[OURS].worst_insert_ms);
    let greatest = |values: [f64; 3]| values.into_iter().fold(0.0, f64::max);
    let to_wheel = |wheels: &[usize]| best_ns(&a, wheels) / total_ns(&a, OURS);
    mark("A: times std BTreeMap", to_map(&a), Some(12.0), 20.0, false);
    mark("A: times the best plain wheel", to_wheel(&PLAIN_WHEELS), Some(4.0), 8.0, false);
    mark("A: times the best with batched", to_wheel(&BATCHED_WHEELS), Some(4.0), 8.0, false);
    mark("A: times the best with 32-bit", to_wheel(&ALL_WHEELS), Some(4.0), 8.0, false);
    mark("A: bytes an entry", a[OURS].live_bytes, Some(12.0), 8.0, true);
    mark("A, B, C: worst expiry batch in ms", greatest(worst_ms), Some(1.0), 1.0, true);
    mark("A, B, C: worst insert batch in ms", greatest(worst_insert_ms), None, 1.0, true);
    mark("B: times std BTreeMap", to_map(&b), None, 8.0, false);
    mark("C: times least-date BTreeMap", to_map(&c), Some(10.0), 20.0, false);
}
