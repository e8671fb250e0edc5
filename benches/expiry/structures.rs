//! Which structures tell what is due, and how do they do it?

use crate::workload::{BATCH, Store};
use hierarchical_hash_wheel_timer::wheels::{Skip, quad_wheel::QuadWheelWithOverflow};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio_util::time::{DelayQueue, delay_queue::Key};
use ttlspec_impl::calendar::{Calendar, Entry};

/// An index over dates that deletes from a store what is due.
pub trait Index {
    /// As the table names it.
    const NAME: &'static str;

    /// An index without entries.
    fn new() -> Self;
    /// Adds a document.
    fn insert(&mut self, slot: u32, date_ms: i64);
    /// Gives a document another date.
    fn update(&mut self, slot: u32, old_ms: i64, new_ms: i64);
    /// Tells the time, before the batches of a pass.
    fn begin_pass(&mut self, _now_ms: i64) {}
    /// Deletes what is due, at most [`BATCH`] candidates where the structure can stop there;
    /// returns whether more may be due.
    fn expire(&mut self, now_ms: i64, store: &mut Store) -> bool;
    /// Bytes that entries take up, where the structure tells.
    fn used_bytes(&self) -> Option<usize>;
}

/// This project's calendar, in no order within a bucket.
pub struct Ours<const ORDERED: bool> {
    calendar: Calendar,
    candidates: Vec<Entry>,
}

impl<const ORDERED: bool> Index for Ours<ORDERED> {
    const NAME: &'static str = if ORDERED { "calendar, ordered" } else { "calendar" };

    fn new() -> Self {
        Self { calendar: Calendar::new(), candidates: Vec::with_capacity(BATCH) }
    }

    #[inline]
    fn insert(&mut self, slot: u32, date_ms: i64) {
        self.calendar.insert(slot, date_ms);
    }

    #[inline]
    fn update(&mut self, slot: u32, _old_ms: i64, new_ms: i64) {
        self.calendar.insert(slot, new_ms);
        self.calendar.note_stale(1);
    }

    fn expire(&mut self, now_ms: i64, store: &mut Store) -> bool {
        self.candidates.clear();
        let drained = if ORDERED {
            self.calendar.drain_ordered(now_ms, BATCH, &mut self.candidates)
        } else {
            self.calendar.drain(now_ms, BATCH, &mut self.candidates)
        };
        let stale = store.delete_current(&self.candidates);
        self.calendar.note_drained_stale(stale);
        drained == BATCH
    }

    fn used_bytes(&self) -> Option<usize> {
        Some(self.calendar.used_bytes())
    }
}

/// An ordered map, kept exact.
pub struct Map(BTreeMap<(i64, u64), ()>);

impl Index for Map {
    const NAME: &'static str = "std BTreeMap";

    fn new() -> Self {
        Self(BTreeMap::new())
    }

    #[inline]
    fn insert(&mut self, slot: u32, date_ms: i64) {
        self.0.insert((date_ms, u64::from(slot)), ());
    }

    #[inline]
    fn update(&mut self, slot: u32, old_ms: i64, new_ms: i64) {
        self.0.remove(&(old_ms, u64::from(slot)));
        self.insert(slot, new_ms);
    }

    fn expire(&mut self, now_ms: i64, store: &mut Store) -> bool {
        for _ in 0..BATCH {
            let Some(first) = self.0.first_entry().filter(|first| first.key().0 <= now_ms) else {
                return false;
            };
            let ((date_ms, slot), ()) = first.remove_entry();
            store.delete(slot as u32, date_ms);
        }
        true
    }

    fn used_bytes(&self) -> Option<usize> {
        Some(self.0.len() * size_of::<(i64, u64)>())
    }
}

/// A heap in which an older date of a document stays, to be checked when it comes up.
pub struct Heap {
    heap: BinaryHeap<Reverse<(i64, u64)>>,
    candidates: Vec<Entry>,
}

impl Index for Heap {
    const NAME: &'static str = "std BinaryHeap, lazy";

    fn new() -> Self {
        Self { heap: BinaryHeap::new(), candidates: Vec::with_capacity(BATCH) }
    }

    #[inline]
    fn insert(&mut self, slot: u32, date_ms: i64) {
        self.heap.push(Reverse((date_ms, u64::from(slot))));
    }

    #[inline]
    fn update(&mut self, slot: u32, _old_ms: i64, new_ms: i64) {
        self.insert(slot, new_ms);
    }

    fn expire(&mut self, now_ms: i64, store: &mut Store) -> bool {
        self.candidates.clear();
        while self.candidates.len() < BATCH
            && self.heap.peek().is_some_and(|Reverse((date_ms, _))| *date_ms <= now_ms)
        {
            let Some(Reverse((date_ms, slot))) = self.heap.pop() else { break };
            self.candidates.push(Entry { date_ms, slot: slot as u32 });
        }
        store.delete_current(&self.candidates);
        self.candidates.len() == BATCH
    }

    fn used_bytes(&self) -> Option<usize> {
        Some(self.heap.len() * size_of::<(i64, u64)>())
    }
}

/// tokio-util's timer wheel with keys, under a paused clock. The keys count, as updates need them.
pub struct Delays {
    queue: DelayQueue<u32>,
    keys: Vec<Key>,
    start: tokio::time::Instant,
    now_ms: i64,
    runtime: tokio::runtime::Runtime,
}

impl Delays {
    fn instant(&self, date_ms: i64) -> tokio::time::Instant {
        self.start + Duration::from_millis(date_ms as u64)
    }
}

impl Index for Delays {
    const NAME: &'static str = "tokio-util DelayQueue";

    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime needs no resources here");
        let (queue, start) = {
            let _guard = runtime.enter();
            (DelayQueue::new(), tokio::time::Instant::now())
        };
        Self { queue, keys: Vec::new(), start, now_ms: 0, runtime }
    }

    #[inline]
    fn insert(&mut self, slot: u32, date_ms: i64) {
        let _guard = self.runtime.enter();
        let key = self.queue.insert_at(slot, self.instant(date_ms));
        assert_eq!(self.keys.len(), slot as usize, "documents are loaded in the order of slots");
        self.keys.push(key);
    }

    #[inline]
    fn update(&mut self, slot: u32, _old_ms: i64, new_ms: i64) {
        let _guard = self.runtime.enter();
        let instant = self.instant(new_ms);
        self.queue.reset_at(&self.keys[slot as usize], instant);
    }

    fn begin_pass(&mut self, now_ms: i64) {
        let step = Duration::from_millis((now_ms - self.now_ms) as u64);
        self.runtime.block_on(tokio::time::advance(step));
        self.now_ms = now_ms;
    }

    fn expire(&mut self, _now_ms: i64, store: &mut Store) -> bool {
        let _guard = self.runtime.enter();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..BATCH {
            match self.queue.poll_expired(&mut context) {
                Poll::Ready(Some(expired)) => store.delete_undated(expired.into_inner()),
                Poll::Ready(None) | Poll::Pending => return false,
            }
        }
        true
    }

    fn used_bytes(&self) -> Option<usize> {
        None
    }
}

/// What a wheel's entry has to tell when it comes up.
pub trait WheelEntry: std::fmt::Debug + Copy {
    /// The entry for a date and slot.
    fn new(slot: u32, date_ms: i64) -> Self;
    /// The date and slot.
    fn entry(self) -> Entry;
}

impl WheelEntry for (i64, u64) {
    fn new(slot: u32, date_ms: i64) -> Self {
        (date_ms, u64::from(slot))
    }

    fn entry(self) -> Entry {
        Entry { date_ms: self.0, slot: self.1 as u32 }
    }
}

/// The same as a type of its own: a wheel's code that two callers share is not inlined in either,
/// which costs it a third.
#[derive(Clone, Copy, Debug)]
pub struct Wide(i64, u64);

impl WheelEntry for Wide {
    fn new(slot: u32, date_ms: i64) -> Self {
        Self(date_ms, u64::from(slot))
    }

    fn entry(self) -> Entry {
        Entry { date_ms: self.0, slot: self.1 as u32 }
    }
}

/// As small as these workloads allow; a real date does not fit.
impl WheelEntry for (u32, u32) {
    fn new(slot: u32, date_ms: i64) -> Self {
        (date_ms as u32, slot)
    }

    fn entry(self) -> Entry {
        Entry { date_ms: i64::from(self.0), slot: self.1 }
    }
}

/// hierarchical_hash_wheel_timer's four wheels of 256 ticks of 1 ms, which stop between ticks.
/// Entries are checked as they come up, or, where `BATCHED`, together, as the calendar's are.
pub struct Wheel<E: WheelEntry, const BATCHED: bool> {
    wheel: QuadWheelWithOverflow<E>,
    now_ms: i64,
    candidates: Vec<Entry>,
}

/// The wheel as one would write it, with the keys of the ordered map.
pub type PlainWheel = Wheel<(i64, u64), false>;
/// The wheel with the batched look at the store that this bench has for the calendar.
pub type BatchedWheel = Wheel<Wide, true>;
/// The same, with the smallest entries possible.
pub type SmallWheel = Wheel<(u32, u32), true>;

impl<E: WheelEntry, const BATCHED: bool> Wheel<E, BATCHED> {
    /// Ticks until `now_ms` or until a batch has come up.
    fn advance(&mut self, now_ms: i64, store: &mut Store) {
        let mut seen = 0;
        while self.now_ms < now_ms && seen < BATCH {
            let left = (now_ms - self.now_ms) as u32;
            let skipped = match self.wheel.can_skip() {
                Skip::Empty => left,
                Skip::Millis(ticks) => ticks.min(left),
                Skip::None => 0,
            };
            if skipped > 0 {
                self.wheel.skip(skipped);
                self.now_ms += i64::from(skipped);
                continue;
            }
            let entries = self.wheel.tick();
            self.now_ms += 1;
            seen += entries.len();
            if BATCHED {
                self.candidates.extend(entries.into_iter().map(E::entry));
            } else {
                entries.into_iter().for_each(|entry| store.delete_if_current(entry.entry()));
            }
        }
    }
}

impl<E: WheelEntry, const BATCHED: bool> Index for Wheel<E, BATCHED> {
    const NAME: &'static str = match (BATCHED, size_of::<E>()) {
        (false, _) => "hhwt quad wheel, lazy",
        (true, 16) => "hhwt, batched",
        (true, _) => "hhwt, batched, 32-bit",
    };

    fn new() -> Self {
        let candidates = Vec::with_capacity(BATCH);
        Self { wheel: QuadWheelWithOverflow::default(), now_ms: 0, candidates }
    }

    #[inline]
    fn insert(&mut self, slot: u32, date_ms: i64) {
        let delay = Duration::from_millis((date_ms - self.now_ms) as u64);
        let inserted = self.wheel.insert_with_delay(E::new(slot, date_ms), delay);
        assert!(inserted.is_ok(), "dates of the workloads are in the future");
    }

    #[inline]
    fn update(&mut self, slot: u32, _old_ms: i64, new_ms: i64) {
        self.insert(slot, new_ms);
    }

    fn expire(&mut self, now_ms: i64, store: &mut Store) -> bool {
        self.candidates.clear();
        self.advance(now_ms, store);
        store.delete_current(&self.candidates);
        self.now_ms < now_ms
    }

    fn used_bytes(&self) -> Option<usize> {
        None
    }
}
