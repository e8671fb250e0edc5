//! Claims about the calendar, small ones first, then against an ordered map.

use super::*;
use std::collections::BTreeMap;

const HOUR_MS: i64 = 3_600_000;

struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

fn entry(date_ms: i64, slot: u32) -> Entry {
    Entry { date_ms, slot }
}

fn drained(calendar: &mut Calendar, threshold_ms: i64) -> Vec<Entry> {
    let mut out = Vec::new();
    calendar.drain_ordered(threshold_ms, usize::MAX, &mut out);
    out
}

#[test]
fn a_date_is_due_at_its_instant_and_not_before() {
    for date_ms in [i64::MIN + 1, -1, 0, 65_535, 65_536, 1 << 40, i64::MAX] {
        let mut calendar = Calendar::new();
        calendar.insert(7, date_ms);

        let before = drained(&mut calendar, date_ms - 1);
        let at = drained(&mut calendar, date_ms);

        assert_eq!(before, []);
        assert_eq!(at, [entry(date_ms, 7)]);
        assert!(calendar.is_empty());
    }
}

#[test]
fn the_least_date_is_due_at_the_least_threshold() {
    let mut calendar = Calendar::new();
    calendar.insert(u32::MAX, i64::MIN);

    assert_eq!(drained(&mut calendar, i64::MIN), [entry(i64::MIN, u32::MAX)]);
}

#[test]
fn dates_need_not_come_after_what_was_drained() {
    let mut calendar = Calendar::new();
    calendar.insert(1, 100);
    assert_eq!(drained(&mut calendar, 1_000), [entry(100, 1)]);

    calendar.insert(2, 200);
    calendar.insert(3, 300);

    assert_eq!(drained(&mut calendar, 250), [entry(200, 2)]);
    assert_eq!(drained(&mut calendar, 100), []);
    assert_eq!(drained(&mut calendar, 300), [entry(300, 3)]);
}

#[test]
fn a_batch_goes_on_where_the_last_one_stopped() {
    let mut calendar = Calendar::new();
    (0..1_000).for_each(|slot| calendar.insert(slot, i64::from(slot % 10)));
    let mut out = Vec::new();

    while calendar.drain_ordered(8, 7, &mut out) == 7 {}

    assert_eq!(out.len(), 900);
    assert!(out.is_sorted());
    assert_eq!(calendar.len(), 100);
}

#[test]
fn stale_entries_are_counted_out_as_they_are_drained() {
    let mut calendar = Calendar::new();
    calendar.insert(1, 10);
    calendar.insert(1, 20);
    calendar.note_stale(1);
    let mut expired = Vec::new();

    let seen = calendar.drain_current(30, 10, |entry| entry.date_ms == 20, &mut expired);

    assert_eq!((seen, calendar.stale()), (2, 0));
    assert_eq!(expired, [entry(20, 1)]);
}

#[test]
fn a_slot_beyond_32_bits_is_refused_by_name() {
    assert_eq!(slot(4_294_967_295), Ok(u32::MAX));
    assert_eq!(
        slot(4_294_967_296).unwrap_err().to_string(),
        "expected a slot of at most `4294967295`, found `4294967296`"
    );
}

/// Dates of one flavour: ties, a day, years, or anything.
fn date_ms(random: &mut XorShift, flavour: u64) -> i64 {
    match flavour {
        0 => random.below(50) as i64 - 25,
        1 => 1_700_000_000_000 + random.below(24 * 3_600_000) as i64,
        2 => random.below(1 << 42) as i64 - (1 << 41),
        3 => (1 << random.below(63)) - random.below(3) as i64,
        4 => [i64::MIN, -1, 0, 1, i64::MAX][random.below(5) as usize],
        _ => random.next() as i64,
    }
}

/// A store, and the index that it would keep in an ordered map.
struct Store {
    date_ms: Vec<Option<i64>>,
    index: BTreeMap<(i64, u32), ()>,
}

impl Store {
    fn put(&mut self, slot: u32, date_ms: i64) -> Option<i64> {
        let old = self.date_ms[slot as usize].replace(date_ms);
        old.map(|old| self.index.remove(&(old, slot)));
        self.index.insert((date_ms, slot), ());
        old
    }

    fn is_current(&self, entry: Entry) -> bool {
        self.date_ms[entry.slot as usize] == Some(entry.date_ms)
    }

    fn delete(&mut self, entry: Entry) -> bool {
        let current = self.is_current(entry);
        if current {
            self.date_ms[entry.slot as usize] = None;
            self.index.remove(&(entry.date_ms, entry.slot));
        }
        current
    }

    fn first(&self) -> Option<Entry> {
        self.index.first_key_value().map(|(&(date_ms, slot), ())| entry(date_ms, slot))
    }
}

fn compare(seed: u64, sizes: Sizes, slots: u64, steps: u64) {
    let mut random = XorShift(seed);
    let mut calendar = Calendar::with_sizes(sizes);
    let mut store = Store { date_ms: vec![None; slots as usize], index: BTreeMap::new() };
    let flavours = 1 + random.below(6);
    let first_flavour = random.below(6);
    for _ in 0..steps {
        let flavour = (first_flavour + random.below(flavours)) % 6;
        match random.below(100) {
            0..=1 => {
                let threshold_ms = date_ms(&mut random, flavour);
                let limit = [1, 10, 1_000, usize::MAX][random.below(4) as usize];
                for _ in 0..=random.below(3) {
                    drain_and_compare(&mut calendar, &mut store, threshold_ms, limit, &mut random);
                }
            }
            2 => {
                if calendar.wants_compaction() || random.below(20) == 0 {
                    let budget = 1 + random.below(500) as usize;
                    calendar.compact(budget, |entry| store.is_current(entry));
                }
            }
            _ => {
                let slot = random.below(slots) as u32;
                let date_ms = date_ms(&mut random, flavour);
                calendar.note_stale(usize::from(store.put(slot, date_ms).is_some()));
                calendar.insert(slot, date_ms);
            }
        }
        assert!(store.index.len() <= calendar.len());
    }
    drain_and_compare(&mut calendar, &mut store, i64::MAX, usize::MAX, &mut random);
    assert!(calendar.is_empty() && store.index.is_empty());
    assert_eq!(calendar.nodes.len() - calendar.free_nodes.len(), 1);
}

fn drain_and_compare(
    calendar: &mut Calendar,
    store: &mut Store,
    threshold_ms: i64,
    limit: usize,
    random: &mut XorShift,
) {
    let ordered = random.below(2) == 0;
    let len = calendar.len();
    let mut out = Vec::new();

    let drained = calendar.take_due(threshold_ms, limit, ordered, &mut out);

    assert!(drained <= limit && drained == out.len());
    assert!(!ordered || out.is_sorted());
    // Merged doubles are gone as well.
    assert!(calendar.len() + drained <= len);
    for entry in out {
        assert!(entry.date_ms <= threshold_ms, "drained early");
        let first = store.first();
        if store.delete(entry) {
            assert!(!ordered || first == Some(entry), "drained out of order");
        } else {
            calendar.note_drained_stale(1);
        }
    }
    let left = store.first().is_some_and(|first| first.date_ms <= threshold_ms);
    assert!(drained == limit || !left, "drained late");
}

#[test]
fn a_calendar_agrees_with_an_ordered_map() {
    for seed in 1..=120 {
        let sizes = Sizes {
            burst_entries: 60 * (1 + seed as u32 % 5),
            coarse_burst_entries: 50,
            scan_entries: 20,
            small_entries: 5,
            fold_entries: 30,
        };
        let slots = [3, 100, 5_000, 100_000][seed as usize % 4];
        compare(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), sizes, slots, 20_000);
    }
}

#[test]
fn a_calendar_of_the_usual_sizes_agrees_with_an_ordered_map() {
    for seed in 1..=4 {
        compare(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), Sizes::USUAL, 300_000, 400_000);
    }
}

#[test]
fn a_search_finds_the_first_bucket_from_a_key_on() {
    let mut random = XorShift(5);
    let sizes = Sizes { burst_entries: 60, coarse_burst_entries: 60, ..Sizes::USUAL };
    let mut calendar = Calendar::with_sizes(sizes);
    let mut keys = std::collections::BTreeSet::new();
    for slot in 0..5_000 {
        let date_ms = date_ms(&mut random, u64::from(slot % 6));
        calendar.insert(slot, date_ms);
        keys.insert(entry(date_ms, slot).key().0);
    }

    for _ in 0..5_000 {
        let flavour = random.below(6);
        let from = entry(date_ms(&mut random, flavour), random.next() as u32).key();
        let first = keys.range(from.0..).next();
        match calendar.seek(from) {
            Some(place) => {
                assert!(from.0 <= place.last().0, "a bucket before the key");
                assert!(first.is_none_or(|&first| place.base.0 <= first), "a bucket too far");
            }
            None => assert_eq!(first, None),
        }
    }
}

#[test]
fn a_bucket_that_thresholds_keep_falling_into_bursts() {
    let mut random = XorShift(3);
    let mut calendar = Calendar::new();
    (0..30_000).for_each(|slot| calendar.insert(slot, random.below(65_536) as i64));
    let mut out = Vec::new();

    for threshold_ms in 0..100 {
        calendar.drain(threshold_ms, usize::MAX, &mut out);
    }

    let place = calendar.seek(Key(0)).expect("most dates are later");
    let bucket = calendar.nodes[place.node as usize].child(place.digit);
    assert!(bucket.len <= Sizes::USUAL.scan_entries, "found {} entries", bucket.len);
}

#[test]
fn equal_calls_give_equal_output() {
    let run = || {
        let mut random = XorShift(42);
        let mut calendar = Calendar::new();
        let mut out = Vec::new();
        for slot in 0..200_000 {
            calendar.insert(slot, random.below(HOUR_MS as u64) as i64);
        }
        for threshold_ms in (0..HOUR_MS).step_by(10_007) {
            calendar.drain(threshold_ms, 1_000, &mut out);
        }
        out
    };

    assert_eq!(run(), run());
}

#[test]
fn a_million_random_dates_of_a_day_take_at_most_eight_bytes_each() {
    let mut random = XorShift(7);
    let mut calendar = Calendar::new();
    let entries = 1_000_000;

    for slot in 0..entries {
        calendar.insert(slot, random.below(24 * HOUR_MS as u64) as i64);
    }

    let bytes = calendar.allocated_bytes() as f64 / f64::from(entries);
    assert!(bytes <= 8.0, "expected at most 8 bytes an entry, found {bytes:.2}");
}

#[test]
fn memory_is_bounded_under_endless_updates() {
    let mut random = XorShift(9);
    let mut calendar = Calendar::new();
    let mut date_ms = vec![0; 10_000];
    let mut most_entries = 0;
    for now_ms in 0..2_000_000 {
        let slot = random.below(10_000) as usize;
        date_ms[slot] = now_ms + 365 * 24 * HOUR_MS;
        calendar.insert(slot as u32, date_ms[slot]);
        calendar.note_stale(1);
        if calendar.wants_compaction() {
            calendar.compact(64, |entry| date_ms[entry.slot as usize] == entry.date_ms);
        }
        most_entries = most_entries.max(calendar.len());
    }

    assert!(most_entries <= 40_000, "found {most_entries} entries");
    assert!(calendar.allocated_bytes() < 4 << 20, "found {calendar:?}");
}

#[test]
fn memory_is_bounded_when_dates_swing_to_and_fro() {
    let mut calendar = Calendar::new();
    for step in 0..3_000_000_u32 {
        calendar.insert(step % 7, i64::from(step % 2));
    }

    assert!(calendar.len() <= 70_000, "found {calendar:?}");
    assert_eq!(drained(&mut calendar, 1).iter().filter(|entry| entry.slot > 6).count(), 0);
}

#[test]
fn a_compaction_folds_what_it_has_thinned_out() {
    let mut random = XorShift(11);
    let mut calendar = Calendar::new();
    for slot in 0..2_000_000 {
        calendar.insert(slot, random.below(24 * HOUR_MS as u64) as i64);
    }

    while !calendar.compact(10_000, |entry| entry.slot < 500) {}

    assert_eq!(calendar.len(), 500);
    assert!(calendar.nodes.len() - calendar.free_nodes.len() <= 8);
    assert_eq!(drained(&mut calendar, i64::MAX).len(), 500);
}

#[test]
fn no_call_looks_at_more_than_a_bucket_beyond_its_limit() {
    let mut calendar = Calendar::new();
    (0..400_000).for_each(|slot| calendar.insert(slot, 1_000 + i64::from(slot % 3)));
    let mut out = Vec::new();

    let largest = calendar.nodes.iter().flat_map(|node| &node.children).map(|child| child.len);
    assert!(largest.max() <= Some(2 * Sizes::USUAL.burst_entries));
    assert_eq!(calendar.drain(1_001, 100, &mut out), 100);
    assert_eq!(calendar.len(), 399_900);
}
