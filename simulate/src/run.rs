//! How is a script played?

use ttlspec_model::mongodb::Version;

use crate::ages::Ages;
use crate::catalog::{self, Begun, Epoch};
use crate::counted::{Counted, Uncounted};
use crate::fault::Fault;
use crate::monitor::{Around, Book, Monitor};
use crate::oplog::{Lag, Sizes};
use crate::outcome::Counted as CountedAt;
use crate::outcome::{Column, OfIndex, OfLag, OfPartition, Oplog, Outcome, Pass};
use crate::script::{Partition, Script, Setting, Stream, What};
use crate::singly::Singly;
use crate::store::Store;
use crate::units::{DAY_MS, count, exact, plain, shown};

/// How documents are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As numbers wherever that is exact, else one by one.
    Counted,
    /// One by one.
    Singly,
}

/// So many documents can be held one by one.
const MOST_SINGLY: u64 = 5_000_000;
/// Whoever takes more steps than these is stopped.
const MOST_STEPS: u64 = 1_000_000_000;
/// Later than any date of a script.
const ANY_DATE_MS: i64 = i64::MAX / 4;
/// So many passes are listed each.
const MOST_LISTED: usize = 100_000;

/// Plays a script.
///
/// # Errors
/// Where the script asks for what a server refuses, or for more than can be counted.
pub fn run(script: &Script, way: Way) -> Result<Outcome, Fault> {
    run_watched(script, way, &mut |_| {})
}

/// Plays a script, and says from time to time up to which instant it has been played.
///
/// # Errors
/// Where the script asks for what a server refuses, or for more than can be counted.
pub fn run_watched(
    script: &Script,
    way: Way,
    watch: &mut dyn FnMut(i64),
) -> Result<Outcome, Fault> {
    run_within(script, way, MOST_STEPS, watch)
}

fn run_within(
    script: &Script,
    way: Way,
    most_steps: u64,
    watch: &mut dyn FnMut(i64),
) -> Result<Outcome, Fault> {
    let (epochs, clocks) = catalog::epochs(script)?;
    let refused = refused(&epochs, script.end_ms);
    let mut stores = Vec::new();
    for at in 0..script.collections.len() {
        stores.push(store(script, at, way, &epochs, &clocks, &refused)?);
    }
    let mut play = Play {
        script,
        clocks,
        stores,
        diary: Diary::new(script, refused),
        monitors: epochs[0]
            .members
            .iter()
            .map(|held| Monitor::started(script.start_ms, held))
            .collect(),
        steps: 0,
        most_steps,
    };
    for (at, epoch) in epochs.iter().enumerate() {
        let act = at.checked_sub(1).map(|before| &script.acts[before].what);
        play.begin(epoch, act);
        let end_ms = epochs.get(at + 1).map_or(script.end_ms, |next| next.at_ms);
        play.go_on(epoch, end_ms, watch)?;
    }
    Ok(play.finish(epochs.last().expect("the start is an epoch")))
}

/// From when to when nobody takes writes.
fn refused(epochs: &[Epoch], end_ms: i64) -> Vec<(i64, i64)> {
    let ends = epochs.iter().skip(1).map(|epoch| epoch.at_ms).chain([end_ms]);
    epochs
        .iter()
        .zip(ends)
        .filter(|(epoch, _)| epoch.primary.is_none())
        .map(|(epoch, end_ms)| (epoch.at_ms, end_ms))
        .collect()
}

fn store(
    script: &Script,
    at: usize,
    way: Way,
    epochs: &[Epoch],
    clocks: &[i64],
    refused: &[(i64, i64)],
) -> Result<Box<dyn Store>, Fault> {
    let collection = &script.collections[at];
    let why = match way {
        Way::Singly => None,
        Way::Counted => {
            let lifetimes = epochs.iter().flat_map(|epoch| {
                (0..collection.indexes.len()).filter_map(|index| epoch.lifetime(at, index))
            });
            let ahead = clocks.iter().copied().max().unwrap_or(0);
            let least_ms = lifetimes.min().map_or(i64::MAX, |least| least.saturating_sub(ahead));
            match Counted::new(collection, refused, least_ms) {
                Ok(counted) => return Ok(Box::new(counted)),
                Err(why) => Some(why),
            }
        }
    };
    let documents = |stream: &Stream| stream.shape.documents();
    let all = collection.streams.iter().map(documents).fold(0_u64, u64::saturating_add);
    if all <= MOST_SINGLY {
        return Ok(Box::new(Singly::new(collection, refused)));
    }
    let largest = collection.streams.iter().max_by_key(|stream| documents(stream));
    let line = largest.map_or(1, |stream| stream.line);
    let (what, fix) = match why {
        None => ("are to be held one by one", "let them be counted"),
        Some(Uncounted::Flows) => (
            "come in more streams than can be counted, so they would have to be held one by one",
            "put documents that come alike into one [[collection.arrival]] or [[collection.batch]]",
        ),
        Some(Uncounted::Shares) => (
            "have jittered dates and are shared out to different indexes, so they would have to be \
             held one by one",
            "leave out `jitter` or `share`, or put the shares into collections of their own",
        ),
        Some(Uncounted::Late) => (
            "have jittered dates and come when they may be expired, so they would have to be held \
             one by one",
            "leave out `jitter`, or give them an `offset` that is not in the past",
        ),
    };
    let (all, most) = (count(all), count(MOST_SINGLY));
    let what = format!("{all} documents {what}, and {most} of them can be");
    Err(script.fault(line, what, fix))
}

struct Play<'a> {
    script: &'a Script,
    clocks: Vec<i64>,
    stores: Vec<Box<dyn Store>>,
    diary: Diary<'a>,
    monitors: Vec<Monitor>,
    steps: u64,
    most_steps: u64,
}

impl Play<'_> {
    /// An act was done, or the play begins.
    fn begin(&mut self, epoch: &Epoch, act: Option<&What>) {
        match epoch.begun {
            Some((_, Begun::Interrupting(member))) => {
                self.monitors[member].interrupt(&mut self.stores);
            }
            Some((_, Begun::Restarting)) => {
                let was = self.diary.versions.clone();
                self.note_counters(epoch.at_ms, &was);
                if let Some(primary) = epoch.primary {
                    // What went on ends with the process.
                    let going_on = self.monitors[primary].going_on(primary, epoch.at_ms);
                    if let Some(pass) = going_on {
                        self.diary.note(Pass { is_interrupted: true, ..pass });
                    }
                }
                for (monitor, held) in self.monitors.iter_mut().zip(&epoch.members) {
                    *monitor = Monitor::started(epoch.at_ms, held);
                }
                self.stores.iter_mut().for_each(|store| store.unstage());
            }
            Some((_, Begun::Quietly)) | None => {}
        }
        for (monitor, held) in self.monitors.iter_mut().zip(&epoch.members) {
            monitor.notice(held);
        }
        self.diary.epoch(epoch, act);
        self.diary.look(epoch.at_ms, &mut self.stores);
    }

    fn note_counters(&mut self, at_ms: i64, versions: &[Version]) {
        for (member, (monitor, version)) in self.monitors.iter().zip(versions).enumerate() {
            let (version, counters) = (*version, monitor.counters(*version));
            self.diary.outcome.counters.push(CountedAt { at_ms, member, version, counters });
        }
    }

    /// Plays from the beginning of an epoch to its end.
    fn go_on(
        &mut self,
        epoch: &Epoch,
        end_ms: i64,
        watch: &mut dyn FnMut(i64),
    ) -> Result<(), Fault> {
        let script = self.script;
        let bytes = script.collections.iter().map(|collection| collection.document_bytes);
        let bytes: Vec<Option<u32>> = bytes.collect();
        let mut from_ms = epoch.at_ms;
        while from_ms < end_ms {
            let column_end = self.diary.column_end();
            let next_drop = self.diary.next_drop(from_ms);
            let to_ms = end_ms.min(column_end).min(next_drop);
            for (member, monitor) in self.monitors.iter_mut().enumerate() {
                let mut around = Around {
                    held: &epoch.members[member],
                    cost: script.cost,
                    ahead_ms: self.clocks[member],
                    is_primary: epoch.primary == Some(member),
                    document_bytes: &bytes,
                    stores: &mut self.stores,
                    book: &mut self.diary,
                };
                let left = self.most_steps.saturating_sub(self.steps);
                self.steps += monitor.go_on(member, (from_ms, to_ms), left, &mut around);
            }
            if self.steps >= self.most_steps {
                let at = shown(from_ms - script.start_ms);
                return Err(script.fault(
                    1,
                    format!(
                        "{} steps of monitors were taken in the first {at}",
                        count(self.most_steps)
                    ),
                    "end earlier with `until`, or give larger targets and longer sleeps",
                ));
            }
            if to_ms == column_end || to_ms == script.end_ms {
                watch(to_ms);
                self.diary.look(to_ms, &mut self.stores);
                let going_on = (self.monitors.iter().enumerate())
                    .find_map(|(member, monitor)| monitor.going_on(member, to_ms));
                self.diary.end_column(to_ms, going_on);
            }
            if next_drop == to_ms && to_ms < script.end_ms && epoch.primary.is_some() {
                self.diary.drop_parts(to_ms, &mut self.stores);
            }
            from_ms = to_ms;
        }
        Ok(())
    }

    fn finish(mut self, last: &Epoch) -> Outcome {
        let end_ms = self.script.end_ms;
        let versions: Vec<Version> = last.members.iter().map(|held| held.version).collect();
        self.note_counters(end_ms, &versions);
        let going_on = (self.monitors.iter().enumerate())
            .find_map(|(member, monitor)| monitor.going_on(member, end_ms));
        self.diary.rest(end_ms, &mut self.stores);
        self.diary.finish(going_on)
    }
}

/// The outcome, as far as it is written.
struct Diary<'a> {
    script: &'a Script,
    outcome: Outcome,
    refused: Vec<(i64, i64)>,
    sizes: Vec<Sizes>,
    /// How long dates live by each index now.
    lifetimes: Vec<Option<i64>>,
    versions: Vec<Version>,
    lag: Option<Lag>,
    /// Until when documents that came are counted for the lag, and how many came until then.
    came: (i64, u64),
    /// Deletions that the secondary was not told of.
    deletions: u64,
    column: Column,
    inserted: u64,
}

impl<'a> Diary<'a> {
    fn new(script: &'a Script, refused: Vec<(i64, i64)>) -> Diary<'a> {
        let mut outcome = Outcome {
            span_ms: (script.start_ms, script.end_ms),
            column_ms: column_ms(script.end_ms - script.start_ms),
            oplog: (script.members > 1)
                .then(|| Oplog { holds: script.oplog_bytes, ..Oplog::default() }),
            ..Outcome::default()
        };
        for collection in &script.collections {
            for index in &collection.indexes {
                outcome.indexes.push(OfIndex {
                    collection: collection.name.clone(),
                    index: index.name.clone(),
                    lifetime_ms: None,
                    deleted: 0,
                    left: 0,
                    not_due: 0,
                    peak: 0,
                    ages: Ages::default(),
                });
            }
            if collection.partition.is_some() {
                outcome.partitions.push(OfPartition {
                    collection: collection.name.clone(),
                    parts: 0,
                    documents: 0,
                    there: 0,
                    ages: Ages::default(),
                });
            }
        }
        let indexes = outcome.indexes.len();
        let column = Column {
            from_ms: script.start_ms,
            backlog: vec![(u64::MAX, 0); indexes],
            ..Column::default()
        };
        let lag = script.apply_per_second.map(|rate| Lag::new(rate, script.start_ms - 1));
        Diary {
            script,
            outcome,
            refused,
            sizes: script.collections.iter().map(|there| Sizes::of(&there.name)).collect(),
            lifetimes: vec![None; indexes],
            versions: Vec::new(),
            lag,
            came: (script.start_ms - 1, 0),
            deletions: 0,
            column,
            inserted: 0,
        }
    }

    fn epoch(&mut self, epoch: &Epoch, act: Option<&What>) {
        self.versions = epoch.members.iter().map(|held| held.version).collect();
        let mut at = 0;
        for (collection, there) in self.script.collections.iter().enumerate() {
            for index in 0..there.indexes.len() {
                self.lifetimes[at] = epoch.lifetime(collection, index);
                self.outcome.indexes[at].lifetime_ms = self.lifetimes[at];
                at += 1;
            }
        }
        if let Some(act) = act {
            self.outcome.marks.push((epoch.at_ms, self.said(act)));
        }
    }

    fn said(&self, act: &What) -> String {
        let index = |collection: usize, index: usize| {
            let there = &self.script.collections[collection];
            format!("{}/{}", there.name, there.indexes[index].name)
        };
        match act {
            What::Set(settings) => {
                let said =
                    |setting: &Setting| plain(&format!("{} = {}", setting.name, setting.value.0));
                settings.iter().map(said).collect::<Vec<_>>().join(", ")
            }
            What::StepDown => "the primary steps down".to_owned(),
            What::StepUp { member, clock_ms: 0 } => format!("member {member} becomes primary"),
            What::StepUp { member, clock_ms } => {
                let side = if *clock_ms > 0 { "ahead" } else { "behind" };
                let clock = exact(clock_ms.abs());
                format!("member {member} becomes primary, its clock {clock} {side}")
            }
            What::Restart(version) => format!("restart with {version}"),
            What::CollMod { collection, index: at, seconds } => {
                format!("collMod of {} to {seconds} s", index(*collection, *at))
            }
            What::CreateIndex { collection, index: at, seconds } => {
                format!("createIndexes of {} with {seconds} s", index(*collection, *at))
            }
            What::DropIndex { collection, index: at } => {
                format!("dropIndexes of {}", index(*collection, *at))
            }
        }
    }

    fn column_end(&self) -> i64 {
        (self.column.from_ms + self.outcome.column_ms).min(self.script.end_ms)
    }

    /// When parts are looked through next.
    fn next_drop(&self, after_ms: i64) -> i64 {
        let partitions = self.script.collections.iter().filter_map(|there| there.partition);
        let next = |part: Partition| (after_ms.div_euclid(part.every_ms) + 1) * part.every_ms;
        partitions.map(next).min().unwrap_or(i64::MAX)
    }

    fn place(&self, (collection, index): (usize, usize)) -> usize {
        let before = self.script.collections[..collection].iter();
        before.map(|there| there.indexes.len()).sum::<usize>() + index
    }

    /// Tells the secondary what came and was deleted up to then. What comes at once comes at its
    /// instant; all else is spread evenly.
    fn flow(&mut self, now_ms: i64) {
        let Some(lag) = &mut self.lag else { return };
        let deletions = std::mem::take(&mut self.deletions);
        let (since_ms, span_ms) = (self.came.0, now_ms - self.came.0);
        let mut told = 0;
        while self.came.0 < now_ms {
            let streams = self.script.collections.iter().flat_map(|there| &there.streams);
            let streams = streams.filter(|stream| !stream.is_there);
            let burst = streams.filter_map(|stream| stream.shape.next_burst(self.came.0)).min();
            let to_ms = match burst {
                Some(burst) if burst - 1 > self.came.0 => now_ms.min(burst - 1),
                Some(burst) => now_ms.min(burst),
                None => now_ms,
            };
            let came = came(self.script, &self.refused, to_ms);
            let part = i128::from(deletions) * i128::from(to_ms - since_ms) / i128::from(span_ms);
            lag.go_on(to_ms, came - self.came.1 + (part as u64 - told));
            told = part as u64;
            self.came = (to_ms, came);
        }
        lag.go_on(now_ms, deletions - told);
    }

    /// Looks how much is expired and still there.
    fn look(&mut self, now_ms: i64, stores: &mut [Box<dyn Store>]) {
        let mut at = 0;
        for (collection, there) in self.script.collections.iter().enumerate() {
            for index in 0..there.indexes.len() {
                let left = self.lifetimes[at].map_or(0, |lifetime_ms| {
                    stores[collection].there(index, now_ms.saturating_sub(lifetime_ms), now_ms)
                });
                let (least, most) = &mut self.column.backlog[at];
                (*least, *most) = ((*least).min(left), (*most).max(left));
                let of = &mut self.outcome.indexes[at];
                of.left = left;
                of.peak = of.peak.max(left);
                at += 1;
            }
        }
    }

    fn end_column(&mut self, now_ms: i64, going_on: Option<Pass>) {
        self.flow(now_ms - 1);
        let inserted = came(self.script, &self.refused, now_ms - 1);
        self.column.inserted = inserted - self.inserted;
        self.inserted = inserted;
        if let Some(pass) = going_on {
            self.column.most = self.column.most.max(pass.deleted);
        }
        self.column.lag_ms = self.lag.as_mut().map_or(0, Lag::peak_since);
        for (backlog, index) in self.column.backlog.iter_mut().zip(&self.outcome.indexes) {
            if backlog.0 == u64::MAX {
                *backlog = (index.left, index.left);
            }
        }
        if let Some(oplog) = &mut self.outcome.oplog {
            oplog.busiest = oplog.busiest.max(self.column.bytes);
        }
        let next = Column {
            from_ms: now_ms,
            backlog: vec![(u64::MAX, 0); self.outcome.indexes.len()],
            ..Column::default()
        };
        self.outcome.columns.push(std::mem::replace(&mut self.column, next));
    }

    /// Drops the parts of which all is old enough.
    fn drop_parts(&mut self, now_ms: i64, stores: &mut [Box<dyn Store>]) {
        let mut at = 0;
        for (collection, there) in self.script.collections.iter().enumerate() {
            let Some(Partition { every_ms, keep_ms }) = there.partition else { continue };
            let upto_ms = (now_ms - keep_ms).div_euclid(every_ms) * every_ms;
            let of = &mut self.outcome.partitions[at];
            at += 1;
            if now_ms.rem_euclid(every_ms) != 0 {
                continue;
            }
            let dropped = stores[collection].drop_before(upto_ms, keep_ms, now_ms, &mut of.ages);
            if dropped == 0 {
                continue;
            }
            of.parts += 1;
            of.documents += dropped;
            self.column.dropped += dropped;
            if let Some(oplog) = &mut self.outcome.oplog {
                oplog.drops += 1;
                let bytes = self.sizes[collection].drops(1);
                oplog.drop_bytes += bytes;
                self.column.entries += 1;
                self.column.bytes += bytes;
            }
            self.deletions += 1;
            self.flow(now_ms);
        }
    }

    /// Looks at what is there at the end, expired or not.
    fn rest(&mut self, end_ms: i64, stores: &mut [Box<dyn Store>]) {
        let (mut at, mut part) = (0, 0);
        for (collection, there) in self.script.collections.iter().enumerate() {
            for index in 0..there.indexes.len() {
                let of = &mut self.outcome.indexes[at];
                of.not_due = stores[collection].there(index, ANY_DATE_MS, end_ms) - of.left;
                at += 1;
            }
            if there.partition.is_some() {
                self.outcome.partitions[part].there = stores[collection].rest(end_ms);
                part += 1;
            }
        }
    }

    fn finish(mut self, going_on: Option<Pass>) -> Outcome {
        let end_ms = self.script.end_ms;
        self.outcome.passes.going_on_since = going_on.map(|pass| pass.began_ms);
        if let Some(pass) = going_on {
            self.count_pass(pass);
        }
        self.outcome.inserted = self.inserted;
        let all = self.script.collections.iter().flat_map(|there| &there.streams);
        let (there, all): (Vec<&Stream>, Vec<&Stream>) = all.partition(|stream| stream.is_there);
        self.outcome.there = there.iter().map(|stream| stream.shape.documents()).sum();
        let all: u64 = all.iter().map(|stream| stream.shape.arrived_by(end_ms - 1)).sum();
        self.outcome.refused = all - self.inserted;
        self.outcome.lag = self.lag.as_ref().map(|lag| OfLag {
            per_second: self.script.apply_per_second.unwrap_or_default(),
            peak_ms: lag.peak().0,
            at_ms: lag.peak().1,
            end_ms: lag.lag_ms(),
        });
        if let Some(oplog) = &mut self.outcome.oplog {
            oplog.inserts = self.inserted;
            let mut bytes = Some(0);
            for (collection, sizes) in self.script.collections.iter().zip(&self.sizes) {
                let came = |stream| came_of(&self.refused, stream, end_ms - 1);
                let streams = collection.streams.iter().filter(|stream| !stream.is_there);
                let came: u64 = streams.map(came).sum();
                bytes = bytes
                    .zip(collection.document_bytes)
                    .map(|(so_far, each)| so_far + sizes.inserts(came, each));
            }
            oplog.insert_bytes = bytes;
        }
        self.outcome
    }

    fn count_pass(&mut self, pass: Pass) {
        let passes = &mut self.outcome.passes;
        passes.sub_passes += pass.sub_passes;
        passes.visits += pass.visits;
        passes.deleted += pass.deleted;
        passes.most = passes.most.max(pass.deleted);
        passes.longest_ms = passes.longest_ms.max(pass.ended_ms - pass.began_ms);
    }

    fn note(&mut self, pass: Pass) {
        self.count_pass(pass);
        self.column.passes += 1;
        self.column.most = self.column.most.max(pass.deleted);
        if self.outcome.listed.len() < MOST_LISTED {
            self.outcome.listed.push(pass);
        }
    }
}

impl Book for Diary<'_> {
    fn ages(&mut self, of: (usize, usize)) -> &mut Ages {
        let at = self.place(of);
        &mut self.outcome.indexes[at].ages
    }

    fn visit_ends(&mut self, now_ms: i64) {
        self.flow(now_ms);
    }

    fn deleted(&mut self, of: (usize, usize), batches: u64, batch: u64) {
        let documents = batches * batch;
        let at = self.place(of);
        self.outcome.indexes[at].deleted += documents;
        self.column.deleted += documents;
        if let Some(oplog) = &mut self.outcome.oplog {
            let bytes = self.sizes[of.0].deletes(batches, batch);
            oplog.deletes += batches;
            oplog.delete_bytes += bytes;
            self.column.entries += batches;
            self.column.bytes += bytes;
        }
        self.deletions += documents;
    }

    fn pass_begins(&mut self, now_ms: i64, stores: &mut [Box<dyn Store>]) {
        self.outcome.passes.many += 1;
        self.flow(now_ms);
        self.look(now_ms, stores);
    }

    fn pass_ends(&mut self, pass: Pass, stores: &mut [Box<dyn Store>]) {
        self.note(pass);
        self.flow(pass.ended_ms);
        self.look(pass.ended_ms, stores);
    }
}

/// How many documents have come up to then, beside those that were there.
fn came(script: &Script, refused: &[(i64, i64)], at_ms: i64) -> u64 {
    let streams = script.collections.iter().flat_map(|there| &there.streams);
    let streams = streams.filter(|stream| !stream.is_there);
    streams.map(|stream| came_of(refused, stream, at_ms)).sum()
}

/// How many documents of a stream have come up to then, but for those that were refused.
fn came_of(refused: &[(i64, i64)], stream: &Stream, at_ms: i64) -> u64 {
    let lost = |(from_ms, to_ms): &(i64, i64)| {
        let upto = stream.shape.arrived_by((to_ms - 1).min(at_ms));
        upto.saturating_sub(stream.shape.arrived_by(from_ms - 1))
    };
    stream.shape.arrived_by(at_ms) - refused.iter().map(lost).sum::<u64>()
}

/// How long a column is: there are about two hundred, eight to a row of the table.
fn column_ms(span_ms: i64) -> i64 {
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    let rows = [
        80,
        400,
        800,
        4_000,
        8_000,
        40_000,
        MINUTE,
        5 * MINUTE,
        10 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        3 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY_MS,
        2 * DAY_MS,
        7 * DAY_MS,
        30 * DAY_MS,
        90 * DAY_MS,
        360 * DAY_MS,
        720 * DAY_MS,
        1_800 * DAY_MS,
    ];
    let row = rows.into_iter().find(|row| span_ms / row < 30).unwrap_or(3_600 * DAY_MS);
    row / COLUMNS_IN_ROW
}

/// How many columns make a row of the table.
pub(crate) const COLUMNS_IN_ROW: i64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_too_many_steps_is_stopped_with_the_way_out() {
        let text =
            "version = \"7.0.14\"\nuntil = \"1d\"\nparameters = { ttlMonitorSleepSecs = 1 }\n";
        let script = crate::read("long.toml", text, None).expect("it is a script");

        let mut seen = Vec::new();
        let mut watch = |at_ms| seen.push(at_ms);

        let fault = run_within(&script, Way::Counted, 1_000, &mut |_| {})
            .expect_err("a day has more seconds");

        assert!(fault.what.starts_with("1,000 steps of monitors were taken"), "{fault}");
        assert!(run_within(&script, Way::Counted, 1_000_000, &mut watch).is_ok());
        assert!(seen.len() > 100 && seen.is_sorted(), "{seen:?}");
        assert_eq!(seen.last(), Some(&script.end_ms));
    }
}
