//! A collection that has grown to its size takes no more from the heap.
//!
//! The claim: once a collection has seen as many documents at once as it will, of the sizes and the
//! spread of dates that it will, then inserting, replacing, removing and expiring raw documents
//! allocates nothing at all. Before that, memory is taken by growing arrays only (arena, slots, id
//! table, least dates, calendar slabs), so the number of allocations does not grow with the number
//! of documents but with its logarithm, and with the calendar's slabs of 256 KiB.
#![expect(unsafe_code, reason = "what counts allocations must be an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bson::{Bson, DateTime, bson, doc};
use ttlspec_impl::mongodb::bytes::{Value, kind};
use ttlspec_impl::mongodb::{Collection, Kind};
use ttlspec_model::mongodb::{Reply, Version};
use ttlspec_model::time::Millis;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is handed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How many times does this thread take memory meanwhile?
fn allocations(act: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    act();
    ALLOCATIONS.get() - before
}

const MINUTE_MS: i64 = 60_000;
const A_PASS: i64 = 500;
const HOUR: i64 = 60;

/// The documents that come in one minute, encoded before anything is counted. They live an hour, or
/// up to another: an array holds other dates, one in ten is outside the filter, and the ids come
/// round again once they are free.
fn minute(minute: i64) -> Vec<Vec<u8>> {
    let document = |n: i64| {
        let number = minute % (4 * HOUR) * A_PASS + n;
        let date = |later: i64| Bson::DateTime(DateTime::from_millis(minute * MINUTE_MS + later));
        let until = number * 7_919 % (HOUR * MINUTE_MS);
        let half = number as f64 + 0.5;
        let document = doc! {
            "_id": if n % 2 == 0 { Bson::Int64(number) } else { bson!({ "half": half }) },
            "kind": if n % 10 == 0 { "kept" } else { "event" },
            "text": "x".repeat((n % 37) as usize),
            "at": [date(until), date(until + 5), "no date"],
            "key": format!("{number}"),
        };
        document.to_vec().expect("it is BSON")
    };
    (0..A_PASS).map(document).collect()
}

fn hourly() -> Collection {
    let mut collection = Collection::new(Version::new(8, 0, 0), Kind::Plain);
    let filter = doc! { "kind": { "$in": ["event", "other"] }, "at": { "$exists": true } };
    for spec in [
        doc! {
            "key": { "at": 1 }, "name": "at", "expireAfterSeconds": 3_600,
            "partialFilterExpression": filter,
        },
        doc! { "key": { "at.0": -1 }, "name": "all", "expireAfterSeconds": 7_200 },
        doc! { "key": { "key": 1 }, "name": "key", "unique": true },
    ] {
        let spec = spec.to_vec().expect("it is BSON");
        assert_eq!(collection.create_index(&spec, Millis(0)), Reply::Ok);
    }
    collection
}

/// One minute of life: documents come, some change, some go, and the monitor passes.
fn live(collection: &mut Collection, now: i64, documents: &[Vec<u8>]) -> usize {
    for document in documents {
        collection.insert(document).expect("it is new");
    }
    for document in documents.iter().step_by(5) {
        collection.replace(document).expect("it fits").expect("it is there");
    }
    for document in documents.iter().step_by(50) {
        // The `_id` of every other document is a 64-bit integer, right behind its name.
        let id = Value::new(kind::INT64, &document[9..17]);
        assert_eq!(collection.remove(id), Ok(true));
    }
    let mut bytes = 0;
    let deleted =
        collection.pass(Millis(now * MINUTE_MS), &mut |gone| bytes += gone.document.len());
    assert_eq!(deleted == 0, bytes == 0);
    deleted
}

#[test]
fn a_collection_of_its_size_allocates_nothing() {
    let mut collection = hourly();
    let mut now = 0;
    // Two rounds of all ids, in which every structure finds its size.
    while now < 12 * HOUR {
        live(&mut collection, now, &minute(now));
        now += 1;
    }
    let before = collection.len();

    for _ in 0..6 * HOUR {
        let documents = minute(now);
        let mut deleted = 0;
        let taken = allocations(|| deleted = live(&mut collection, now, &documents));

        assert!(deleted > 0, "minute {now}");
        assert_eq!(taken, 0, "minute {now}");
        now += 1;
    }
    assert!(collection.len().abs_diff(before) < 1_000 && before > 20_000);
}

#[test]
fn a_growing_collection_allocates_for_its_arrays_only() {
    let mut collection = hourly();
    let documents: Vec<Vec<u8>> = (0..2 * HOUR).flat_map(minute).collect();

    let taken = allocations(|| {
        for document in &documents {
            collection.insert(document).expect("it is new");
        }
    });

    assert_eq!(documents.len(), 60_000);
    assert!(taken < 300, "{taken} allocations");
}
