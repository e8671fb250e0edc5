//! How many documents does a visit find, where there are too many to hold?
//!
//! A *flow* is the documents of one stream that the same indexes hold. Their dates never decrease,
//! so an index deletes them from the front, and what is left is a few stretches of numbers. A visit
//! merges flows by date, and documents of one date by the order in which they came, which is the
//! order of the index. Full batches between two instants at which anything else happens need no
//! look at the documents but for their ages: that is a *stride*.
//!
//! A jittered flow has no such order. What its dates can still be is a stretch as wide as the
//! jitter, and its documents are counted there by the millisecond (`ring`), made one
//! by one from the seed when the scan comes near.

use std::collections::VecDeque;

use crate::ages::Ages;
use crate::arrival::{Class, Jitter, Shape};
use crate::ring::Ring;
use crate::script::Collection;
use crate::store::{Pace, Store};

/// The order of documents in an index: date, and among equals as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    date_ms: i64,
    came_ms: i64,
    stream: usize,
    k: u64,
}

/// Documents of one flow and one date, where a visit goes on.
#[derive(Clone, Copy, Debug)]
struct Head {
    key: Key,
    /// The first of them, by its number in the flow.
    m: u64,
    many: u64,
}

struct Flow {
    shape: Shape,
    class: Class,
    stream: usize,
    body: Body,
    /// Where the visit goes on.
    head: Option<Head>,
    /// From here on nothing was looked at in this visit.
    cursor: u64,
}

enum Body {
    /// What is there or will come, as numbers of the flow.
    Stretches(VecDeque<(u64, u64)>),
    /// The same, for dates with jitter.
    Jittered(Box<Jittered>),
}

struct Jittered {
    jitter: Jitter,
    /// Numbers of the flow that never come.
    refused: Vec<(u64, u64)>,
    /// The next that was not looked at.
    next: u64,
    ring: Ring,
    gone: u64,
    due: Vec<Due>,
}

/// How many of a jittered flow have dates up to some instant, whether they are there or not?
#[derive(Default)]
struct Due {
    upto_ms: Option<i64>,
    next: u64,
    many: u64,
    /// Those with dates beyond.
    ring: Ring,
}

struct Run {
    flow: usize,
    date_ms: i64,
    m: u64,
    many: u64,
}

pub(crate) struct Counted {
    flows: Vec<Flow>,
    visit: Option<(usize, i64)>,
    behind: Option<Key>,
    staged: Vec<Run>,
}

/// Why documents cannot be counted, but have to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uncounted {
    /// There are too many flows.
    Flows,
    /// Jittered dates, of documents that different indexes hold.
    Shares,
    /// Jittered dates, of documents that come when they are expired.
    Late,
}

const MOST_FLOWS: usize = 256;
/// Jittered documents are made so much ahead of the scan.
const WINDOW_MS: i64 = 1_023;

impl Counted {
    /// Counts the documents of a collection; `least_ms` is by how much dates are expired at the
    /// soonest after they come.
    pub(crate) fn new(
        collection: &Collection,
        refused: &[(i64, i64)],
        least_ms: i64,
    ) -> Result<Counted, Uncounted> {
        let shares: Vec<(u32, u32)> = collection.indexes.iter().map(|index| index.share).collect();
        let classes = Class::cut(&shares);
        let held = classes.iter().filter(|class| class.indexes != 0).count();
        let is_cut = collection.partition.is_some();
        let mut flows = Vec::new();
        for (at, stream) in collection.streams.iter().enumerate() {
            if stream.jitter.is_some() {
                if held > 1 {
                    return Err(Uncounted::Shares);
                }
                let offset_ms = stream.shape.date(0) - stream.shape.arrival(0);
                if !stream.is_there && offset_ms.saturating_add(least_ms) < 0 {
                    return Err(Uncounted::Late);
                }
            }
            for class in classes.iter().filter(|class| is_cut || class.indexes != 0) {
                flows.push(Flow::new(at, &stream.shape, class, stream.jitter, refused));
            }
        }
        if flows.len() > MOST_FLOWS {
            return Err(Uncounted::Flows);
        }
        Ok(Counted { flows, visit: None, behind: None, staged: Vec::new() })
    }

    fn of_visit(&mut self) -> (usize, i64) {
        self.visit.expect("a visit has begun")
    }
}

impl Flow {
    fn new(
        stream: usize,
        shape: &Shape,
        class: &Class,
        jitter: Option<Jitter>,
        refused: &[(i64, i64)],
    ) -> Flow {
        let number = |at_ms: i64| class.among(shape.arrived_by(at_ms - 1));
        let all = class.among(shape.documents());
        let refused: Vec<(u64, u64)> = refused
            .iter()
            .map(|(from_ms, to_ms)| (number(*from_ms), number(*to_ms)))
            .filter(|(from, to)| from < to)
            .collect();
        let body = match jitter {
            None => {
                let mut stretches = VecDeque::from([(0, all)]);
                for (from, to) in refused {
                    remove(&mut stretches, from, to);
                }
                Body::Stretches(stretches)
            }
            Some(jitter) => Body::Jittered(Box::new(Jittered {
                jitter,
                refused,
                next: 0,
                ring: Ring::default(),
                gone: 0,
                due: Vec::new(),
            })),
        };
        let (shape, class) = (shape.clone(), class.clone());
        Flow { shape, class, stream, body, head: None, cursor: 0 }
    }

    fn is_of(&self, index: usize) -> bool {
        self.class.indexes >> index & 1 == 1
    }

    /// How many of the flow are dated up to then, before jitter?
    fn dated_by(&self, date_ms: i64) -> u64 {
        self.class.among(self.shape.dated_by(date_ms))
    }

    /// Where does the visit go on?
    fn look(&mut self, upto_ms: i64, now_ms: i64, behind: Option<Key>) {
        self.head = match &mut self.body {
            Body::Stretches(_) => self.look_in_stretches(upto_ms, now_ms, behind),
            Body::Jittered(jittered) => {
                let from_ms = behind.map_or(i64::MIN, |behind| behind.date_ms);
                let found = jittered.first(&self.shape, &self.class, from_ms, upto_ms);
                found.map(|(date_ms, many)| {
                    let (came_ms, stream) = (i64::MAX, self.stream);
                    let key = Key { date_ms, came_ms, stream, k: 0 };
                    Head { key, m: 0, many: u64::from(many) }
                })
            }
        };
    }

    fn look_in_stretches(
        &mut self,
        upto_ms: i64,
        now_ms: i64,
        behind: Option<Key>,
    ) -> Option<Head> {
        let mut head = self.head_from(self.cursor, upto_ms, now_ms)?;
        if let Some(behind) = behind.filter(|behind| head.key <= *behind) {
            let k = if behind.stream == self.stream {
                behind.k + 1
            } else {
                let before = self.shape.dated_by(behind.date_ms - 1);
                let with = self.shape.dated_by(behind.date_ms);
                let came = before < with
                    && (self.shape.arrival(before), self.stream) > (behind.came_ms, behind.stream);
                if came { before } else { with }
            };
            self.cursor = self.cursor.max(self.class.among(k));
            head = self.head_from(self.cursor, upto_ms, now_ms)?;
        }
        Some(head)
    }

    fn head_from(&self, from: u64, upto_ms: i64, now_ms: i64) -> Option<Head> {
        let Body::Stretches(stretches) = &self.body else { return None };
        let (start, end) = stretches.iter().find(|(_, end)| *end > from)?;
        let m = from.max(*start);
        let k = self.class.k(m);
        let date_ms = self.shape.date(k);
        let came_ms = self.shape.arrival(k);
        if date_ms > upto_ms || came_ms > now_ms {
            return None;
        }
        let many = self.dated_by(date_ms).min(*end) - m;
        Some(Head { key: Key { date_ms, came_ms, stream: self.stream, k }, m, many })
    }

    /// Goes on behind so many documents of the head.
    fn pass_by(&mut self, many: u64, upto_ms: i64, now_ms: i64, behind: Key) {
        let Some(head) = &mut self.head else { return };
        head.m += many;
        head.many -= many;
        self.cursor = head.m;
        if head.many > 0 {
            if matches!(self.body, Body::Stretches(_)) {
                head.key.k = self.class.k(head.m);
            }
            return;
        }
        match &self.body {
            Body::Stretches(_) => self.head = self.head_from(self.cursor, upto_ms, now_ms),
            // What is chosen still counts in the ring: the next date is the next.
            Body::Jittered(_) => {
                let behind = Key { date_ms: behind.date_ms + 1, ..behind };
                self.look(upto_ms, now_ms, Some(behind));
            }
        }
    }

    /// Have all come that are dated up to then?
    fn is_settled(&self, upto_ms: i64, now_ms: i64) -> bool {
        self.shape.dated_by(upto_ms) <= self.shape.arrived_by(now_ms)
    }
}

/// Takes the numbers from `from` to before `to` out.
fn remove(stretches: &mut VecDeque<(u64, u64)>, from: u64, to: u64) {
    if let Some(front) = stretches.front_mut()
        && front.0 == from
        && to < front.1
    {
        front.0 = to;
        return;
    }
    let mut left = VecDeque::new();
    for (start, end) in stretches.drain(..) {
        for (start, end) in [(start, end.min(from)), (start.max(to), end)] {
            if start < end {
                left.push_back((start, end));
            }
        }
    }
    *stretches = left;
}

fn is_in(stretches: &[(u64, u64)], m: u64) -> bool {
    stretches.iter().any(|(from, to)| (*from..*to).contains(&m))
}

impl Jittered {
    /// The first date from `from_ms` to `upto_ms` with documents that are there, and how many.
    fn first(
        &mut self,
        shape: &Shape,
        class: &Class,
        from_ms: i64,
        upto_ms: i64,
    ) -> Option<(i64, u32)> {
        let all = class.among(shape.documents());
        loop {
            let first = self.ring.first(from_ms);
            let next = (self.next < all).then(|| shape.date(class.k(self.next)));
            let next = next.filter(|next| {
                *next <= upto_ms && first.is_none_or(|(date_ms, _)| *next <= date_ms)
            });
            let Some(next) = next else {
                return first.filter(|(date_ms, _)| *date_ms <= upto_ms);
            };
            self.settle(shape, class, upto_ms.min(next + WINDOW_MS));
        }
    }

    /// Puts all into the ring that are dated up to then, before jitter.
    fn settle(&mut self, shape: &Shape, class: &Class, upto_ms: i64) {
        let upto = class.among(shape.dated_by(upto_ms));
        if class.is_all() && self.refused.is_empty() {
            for (k, date_ms) in (self.next..upto).zip(shape.dates(self.next)) {
                self.ring.add(date_ms + self.jitter.of(k), 1);
            }
        } else {
            for m in (self.next..upto).filter(|m| !is_in(&self.refused, *m)) {
                let k = class.k(m);
                self.ring.add(shape.date(k) + self.jitter.of(k), 1);
            }
        }
        self.next = self.next.max(upto);
    }

    /// Goes over what there is up to `upto_ms`, by date, and takes away what `take` says, until it
    /// says `None`.
    fn sweep(
        &mut self,
        shape: &Shape,
        class: &Class,
        upto_ms: i64,
        mut take: impl FnMut(i64, u32) -> Option<u32>,
    ) {
        let all = class.among(shape.documents());
        let mut is_over = false;
        let mut from_ms = i64::MIN;
        while !is_over {
            let next = (self.next < all).then(|| shape.date(class.k(self.next)));
            let low = (!self.ring.is_empty()).then(|| self.ring.low().max(from_ms));
            let Some(start_ms) = next.into_iter().chain(low).min() else { return };
            let end_ms = start_ms.saturating_add(WINDOW_MS).min(upto_ms);
            if start_ms > upto_ms {
                return;
            }
            self.settle(shape, class, end_ms);
            self.ring.sweep(start_ms, end_ms, |date_ms, many| {
                let taken = take(date_ms, many);
                is_over = taken.is_none();
                taken
            });
            from_ms = end_ms + 1;
        }
    }

    /// How many are there with dates up to `upto_ms`?
    fn there(&mut self, shape: &Shape, class: &Class, index: usize, upto_ms: i64) -> u64 {
        // Where the scan is near, the ring has them anyhow; else they are counted apart from it.
        let all = class.among(shape.documents());
        let next = (self.next < all).then(|| shape.date(class.k(self.next)));
        let is_far =
            |from_ms: i64| upto_ms.saturating_sub(from_ms) > 4 * self.jitter.most_ms() + 120_000;
        let low = (!self.ring.is_empty()).then(|| self.ring.low());
        if next.into_iter().chain(low).min().is_some_and(is_far) {
            // All are expired in the order of their dates, so what is gone was due before.
            return self.due(shape, class, index, upto_ms).saturating_sub(self.gone);
        }
        self.settle(shape, class, upto_ms);
        self.ring.sum(upto_ms)
    }

    /// How many have dates up to `upto_ms`, gone or not?
    fn due(&mut self, shape: &Shape, class: &Class, index: usize, upto_ms: i64) -> u64 {
        let Jittered { jitter, refused, due, .. } = self;
        if due.len() <= index {
            due.resize_with(index + 1, Due::default);
        }
        let due = &mut due[index];
        let wide_ms = jitter.most_ms();
        let is_near = |since: i64| (since..=since.saturating_add(wide_ms)).contains(&upto_ms);
        if !due.upto_ms.is_some_and(is_near) {
            // All whose jitter cannot bring them beyond count without a look.
            let next = class.among(shape.dated_by(upto_ms.saturating_sub(wide_ms)));
            let lost = |(from, to): &(u64, u64)| next.min(*to).saturating_sub(*from);
            let many = next - refused.iter().map(lost).sum::<u64>();
            *due = Due { upto_ms: None, next, many, ring: Ring::default() };
        }
        let Due { many: due_many, ring, next, .. } = due;
        ring.sweep(i64::MIN, upto_ms, |_, many| {
            *due_many += u64::from(many);
            Some(many)
        });
        ring.is_taken_before(upto_ms + 1);
        let upto = class.among(shape.dated_by(upto_ms));
        let mut add = |date_ms: i64| {
            if date_ms <= upto_ms { *due_many += 1 } else { ring.add(date_ms, 1) }
        };
        if class.is_all() && refused.is_empty() {
            let dates = (*next..upto).zip(shape.dates(*next));
            dates.for_each(|(k, date_ms)| add(date_ms + jitter.of(k)));
        } else {
            for m in (*next..upto).filter(|m| !is_in(refused, *m)) {
                let k = class.k(m);
                add(shape.date(k) + jitter.of(k));
            }
        }
        due.next = upto.max(due.next);
        due.upto_ms = Some(upto_ms);
        due.many
    }
}

impl Counted {
    /// The flow whose documents come next, and how many of them before those of another.
    fn next(&self, index: usize) -> Option<(usize, u64)> {
        let mut first: Option<(usize, Head)> = None;
        let mut second: Option<Key> = None;
        for (at, flow) in self.flows.iter().enumerate() {
            let Some(head) = flow.head.filter(|_| flow.is_of(index)) else { continue };
            match first {
                Some((_, least)) if least.key <= head.key => {
                    second = Some(second.map_or(head.key, |second| second.min(head.key)));
                }
                Some((_, least)) => {
                    second = Some(least.key);
                    first = Some((at, head));
                }
                None => first = Some((at, head)),
            }
        }
        let (at, head) = first?;
        let of_both = |key: Key| (key.date_ms, key.came_ms, key.stream);
        // Documents of one stream that are held by different indexes come in turns.
        let many = match second {
            Some(second) if of_both(second) == of_both(head.key) => {
                (self.flows[at].class.among(second.k) - head.m).min(head.many)
            }
            _ => head.many,
        };
        Some((at, many))
    }

    fn take(&mut self, at: usize, many: u64, upto_ms: i64, now_ms: i64) -> Run {
        let flow = &mut self.flows[at];
        let head = flow.head.expect("it comes next");
        let last = match flow.body {
            Body::Stretches(_) => Key { k: flow.class.k(head.m + many - 1), ..head.key },
            Body::Jittered(_) => head.key,
        };
        self.behind = Some(last);
        flow.pass_by(many, upto_ms, now_ms, last);
        Run { flow: at, date_ms: head.key.date_ms, m: head.m, many }
    }

    /// Full batches of an index that holds one jittered flow. How many?
    fn stride_jittered(
        &mut self,
        at: usize,
        upto_ms: i64,
        lifetime_ms: i64,
        pace: Pace,
        ages: &mut Ages,
    ) -> Option<u64> {
        let Flow { shape, class, stream, body, .. } = &mut self.flows[at];
        let Body::Jittered(jittered) = body else { return None };
        let (mut batch, mut room) = (0, pace.batch);
        let mut last_ms = None;
        // What is in a batch that is not full yet.
        let mut open: Vec<(i64, u32)> = Vec::new();
        jittered.sweep(shape, class, upto_ms, |date_ms, many| {
            if batch >= pace.batches {
                return None;
            }
            let mut taken = 0;
            while taken < many && batch < pace.batches {
                let now = u64::from(many - taken).min(room) as u32;
                open.push((date_ms, now));
                taken += now;
                room -= u64::from(now);
                if room == 0 {
                    let at_ms = pace.at_ms(batch);
                    for (date_ms, many) in open.drain(..) {
                        let due_ms = date_ms.saturating_add(lifetime_ms);
                        ages.add(at_ms.saturating_sub(due_ms), u64::from(many));
                    }
                    (batch, room) = (batch + 1, pace.batch);
                    last_ms = Some(date_ms);
                }
            }
            Some(taken)
        });
        jittered.gone += batch * pace.batch;
        if let Some(last_ms) = last_ms {
            jittered.ring.is_taken_before(last_ms);
            let key = Key { date_ms: last_ms, came_ms: i64::MAX, stream: *stream, k: 0 };
            self.behind = Some(key);
        }
        for (date_ms, many) in open {
            jittered.ring.add(date_ms, many);
        }
        Some(batch)
    }

    /// Full batches of an index that holds one flow at up to one document a millisecond.
    fn stride_alone(
        &mut self,
        at: usize,
        batches: u64,
        lifetime_ms: i64,
        pace: Pace,
        ages: &mut Ages,
    ) -> Option<()> {
        let flow = &mut self.flows[at];
        let head = flow.head?;
        let Shape::Steady { from_ms, per_1000_s, offset_ms, .. } = flow.shape else { return None };
        let Body::Stretches(stretches) = &mut flow.body else { return None };
        let (start, end) = *stretches.iter().find(|(_, end)| *end > head.m)?;
        let many = batches * pace.batch;
        let is_plain = flow.class.is_all() && per_1000_s <= 1_000_000;
        if !is_plain || head.m < start || head.m + many >= end {
            return None;
        }
        // The k-th comes at k * 1,000,000 / rate: the division is carried along.
        let (whole, part) = (1_000_000 / per_1000_s, 1_000_000 % per_1000_s);
        let product = u128::from(head.m) * 1_000_000;
        let mut rest = (product % u128::from(per_1000_s)) as u64;
        let first_ms = from_ms + offset_ms + (product / u128::from(per_1000_s)) as i64;
        let mut due_ms = first_ms.saturating_add(lifetime_ms);
        for batch in 0..batches {
            let at_ms = pace.at_ms(batch);
            for _ in 0..pace.batch {
                ages.add(at_ms.saturating_sub(due_ms), 1);
                due_ms += whole as i64;
                rest += part;
                if rest >= per_1000_s {
                    rest -= per_1000_s;
                    due_ms += 1;
                }
            }
        }
        let (m, to) = (head.m, head.m + many);
        remove(stretches, m, to);
        flow.cursor = to;
        let k = to - 1;
        let date_ms = flow.shape.date(k);
        self.behind = Some(Key { date_ms, came_ms: flow.shape.arrival(k), stream: flow.stream, k });
        Some(())
    }
}

impl Store for Counted {
    fn begin(&mut self, index: usize, upto_ms: i64) {
        self.visit = Some((index, upto_ms));
        self.behind = None;
        for flow in &mut self.flows {
            flow.cursor = 0;
            flow.head = None;
        }
    }

    fn stage(&mut self, most: u64, now_ms: i64) -> u64 {
        let (index, upto_ms) = self.of_visit();
        let behind = self.behind;
        for flow in self.flows.iter_mut().filter(|flow| flow.is_of(index)) {
            flow.look(upto_ms, now_ms, behind);
        }
        let mut so_far = 0;
        while so_far < most {
            let Some((at, many)) = self.next(index) else { break };
            let many = many.min(most - so_far);
            let run = self.take(at, many, upto_ms, now_ms);
            self.staged.push(run);
            so_far += many;
        }
        so_far
    }

    fn commit(&mut self, lifetime_ms: i64, now_ms: i64, ages: &mut Ages) {
        for Run { flow, date_ms, m, many } in std::mem::take(&mut self.staged) {
            ages.add(now_ms.saturating_sub(date_ms.saturating_add(lifetime_ms)), many);
            match &mut self.flows[flow].body {
                Body::Stretches(stretches) => remove(stretches, m, m + many),
                Body::Jittered(jittered) => {
                    jittered.ring.take(date_ms, many as u32);
                    jittered.gone += many;
                }
            }
        }
    }

    fn unstage(&mut self) {
        self.staged.clear();
    }

    fn stride(&mut self, lifetime_ms: i64, now_ms: i64, pace: Pace, ages: &mut Ages) -> u64 {
        let (index, upto_ms) = self.of_visit();
        let of_index = || self.flows.iter().filter(|flow| flow.is_of(index));
        if !of_index().all(|flow| flow.is_settled(upto_ms, now_ms)) {
            return 0;
        }
        let mut of_index = (self.flows.iter().enumerate()).filter(|(_, flow)| flow.is_of(index));
        let alone = of_index.next().map(|(at, _)| at).filter(|_| of_index.next().is_none());
        if let Some(at) = alone
            && let Some(batches) = self.stride_jittered(at, upto_ms, lifetime_ms, pace, ages)
        {
            return batches;
        }
        let behind = self.behind;
        let mut there = 0;
        for flow in self.flows.iter_mut().filter(|flow| flow.is_of(index)) {
            flow.look(upto_ms, now_ms, behind);
            let upto = flow.dated_by(upto_ms);
            there += match &mut flow.body {
                Body::Stretches(stretches) => count(stretches, flow.cursor, upto),
                Body::Jittered(jittered) => {
                    jittered.there(&flow.shape, &flow.class, index, upto_ms)
                }
            };
        }
        let batches = pace.batches.min(there / pace.batch);
        if batches == 0 {
            return 0;
        }
        if let Some(at) = alone
            && self.stride_alone(at, batches, lifetime_ms, pace, ages).is_some()
        {
            return batches;
        }
        let mut batch = Batch::first(pace);
        let mut left = batches * pace.batch;
        while left > 0 {
            let (at, many) = self.next(index).expect("they were counted");
            let many = many.min(left);
            left -= many;
            let run = self.take(at, many, upto_ms, now_ms);
            match &mut self.flows[at].body {
                Body::Stretches(stretches) => remove(stretches, run.m, run.m + many),
                Body::Jittered(jittered) => {
                    jittered.ring.take(run.date_ms, many as u32);
                    jittered.gone += many;
                }
            }
            batch.fill(many, run.date_ms.saturating_add(lifetime_ms), ages);
        }
        batches
    }

    fn there(&mut self, index: usize, upto_ms: i64, now_ms: i64) -> u64 {
        let mut there = 0;
        for flow in self.flows.iter_mut().filter(|flow| flow.is_of(index)) {
            let k = flow.shape.dated_by(upto_ms).min(flow.shape.arrived_by(now_ms));
            there += match &mut flow.body {
                Body::Stretches(stretches) => count(stretches, 0, flow.class.among(k)),
                Body::Jittered(jittered) => {
                    jittered.there(&flow.shape, &flow.class, index, upto_ms)
                }
            };
        }
        there
    }

    fn rest(&mut self, now_ms: i64) -> u64 {
        let of_flow = |flow: &Flow| {
            let come = flow.class.among(flow.shape.arrived_by(now_ms));
            match &flow.body {
                Body::Stretches(stretches) => count(stretches, 0, come),
                Body::Jittered(jittered) => {
                    let lost = |(from, to): &(u64, u64)| come.min(*to).saturating_sub(*from);
                    come - jittered.refused.iter().map(lost).sum::<u64>() - jittered.gone
                }
            }
        };
        self.flows.iter().map(of_flow).sum()
    }

    fn drop_before(&mut self, date_ms: i64, keep_ms: i64, now_ms: i64, ages: &mut Ages) -> u64 {
        let mut dropped = 0;
        for flow in &mut self.flows {
            let Flow { shape, class, body, .. } = flow;
            let Body::Stretches(stretches) = body else { continue };
            let k = shape.dated_by(date_ms - 1).min(shape.arrived_by(now_ms));
            let upto = class.among(k);
            for (start, end) in stretches.iter().copied() {
                let mut m = start;
                while m < end.min(upto) {
                    let date = shape.date(class.k(m));
                    let next = class.among(shape.dated_by(date)).min(end).min(upto);
                    ages.add(now_ms - date - keep_ms, next - m);
                    dropped += next - m;
                    m = next;
                }
            }
            remove(stretches, 0, upto);
        }
        dropped
    }
}

/// The batch that is being filled in a stride.
struct Batch {
    pace: Pace,
    number: u64,
    room: u64,
    at_ms: i64,
}

impl Batch {
    fn first(pace: Pace) -> Batch {
        Batch { pace, number: 0, room: pace.batch, at_ms: pace.at_ms(0) }
    }

    /// So many more documents are deleted, which were due then.
    #[inline]
    fn fill(&mut self, mut many: u64, due_ms: i64, ages: &mut Ages) {
        while many > 0 {
            let now = many.min(self.room);
            ages.add(self.at_ms.saturating_sub(due_ms), now);
            many -= now;
            self.room -= now;
            if self.room == 0 {
                self.number += 1;
                self.room = self.pace.batch;
                self.at_ms = self.pace.at_ms(self.number);
            }
        }
    }
}

/// How many numbers from `from` to before `to` are there?
fn count(stretches: &VecDeque<(u64, u64)>, from: u64, to: u64) -> u64 {
    stretches.iter().map(|(start, end)| to.min(*end).saturating_sub(from.max(*start))).sum()
}
