//! A script, played on the specification: document by document, step by step.

use bson::{Bson, DateTime, doc};
use ttlspec_model::Millis;
use ttlspec_model::engine::Spec;
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::monitor::Activity;
use ttlspec_model::mongodb::{
    Config, Did, Doc, Ended, EntryKind, MongoDb, Op, Place, Reply, Ticked, Woke, monitor,
};
use ttlspec_simulate::Script;
use ttlspec_simulate::ages::Ages;
use ttlspec_simulate::catalog::field;
use ttlspec_simulate::outcome::{Counted, Pass};
use ttlspec_simulate::script::{Setting, What};
use ttlspec_simulate::singly::{Coming, coming};

/// What was seen.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub passes: Vec<Pass>,
    pub counters: Vec<Counted>,
    /// Of each index, in the order of the script: deletions with their ages, and what is expired
    /// and there at the end.
    pub indexes: Vec<(Ages, u64)>,
    /// Entries of the oplog for deletions, and the documents in them.
    pub entries: (u64, u64),
    pub refused: u64,
    /// Passes that were done in one go, too.
    pub in_one_go: u64,
}

/// Plays a script to its end.
pub fn play(script: &Script) -> Seen {
    let mut stage = Stage::new(script);
    stage.set_up();
    let mut acts = script.acts.iter().peekable();
    let all = script.collections.iter().enumerate();
    let all = all.flat_map(|(at, there)| coming(there, &[]).into_iter().map(move |one| (at, one)));
    let mut all: Vec<(usize, Coming)> = all.collect();
    all.sort_by_key(|(_, one)| one.at_ms);
    let mut all = all.into_iter().peekable();
    loop {
        let tick =
            (0..script.members).filter_map(|member| Some((stage.next(member)?, member))).min();
        let act_at = acts.peek().map_or(i64::MAX, |act| act.at_ms);
        let document_at = all.peek().map_or(i64::MAX, |(_, one)| one.at_ms);
        let tick_at = tick.map_or(i64::MAX, |(at, _)| at);
        let now = act_at.min(document_at).min(tick_at);
        if now >= script.end_ms {
            return stage.finish();
        }
        if act_at == now {
            stage.act(now, &acts.next().expect("it was peeked").what);
        } else if document_at == now {
            let (collection, one) = all.next().expect("it was peeked");
            stage.insert(now, collection, &one);
        } else {
            stage.tick(now, tick.expect("its instant was found").1);
        }
    }
}

/// What goes on in the monitor of a member, as far as it has to be known from outside.
#[derive(Clone, Default)]
struct Work {
    /// When it sleeps until, by the clock of the script.
    until: i64,
    /// The beginning of the pass, and the work since.
    base: i64,
    us: u64,
    pass: Option<Pass>,
    /// The same turn in one go, if nothing is done meanwhile.
    woke: Option<Woke>,
}

struct Stage<'a> {
    script: &'a Script,
    config: Config,
    state: State,
    clocks: Vec<i64>,
    work: Vec<Work>,
    seen: Seen,
    ids: i64,
}

impl<'a> Stage<'a> {
    fn new(script: &'a Script) -> Stage<'a> {
        let mut clocks = vec![0; script.members];
        for act in &script.acts {
            if let What::StepUp { member, clock_ms } = act.what {
                clocks[member] = clock_ms;
            }
        }
        let indexes = script.collections.iter().flat_map(|there| &there.indexes);
        let seen = Seen {
            passes: Vec::new(),
            counters: Vec::new(),
            indexes: indexes.map(|_| (Ages::default(), 0)).collect(),
            entries: (0, 0),
            refused: 0,
            in_one_go: 0,
        };
        let config = Config { version: script.version };
        Stage {
            script,
            config,
            state: MongoDb::init(&config),
            clocks,
            work: vec![Work::default(); script.members],
            seen,
            ids: 0,
        }
    }

    fn tell(&mut self, now: i64, member: usize, op: Op) -> Reply {
        let (state, reply) = self.told(now, member, op);
        self.state = state;
        reply
    }

    /// What would come of it.
    fn told(&self, now: i64, member: usize, op: Op) -> (State, Reply) {
        let clock = Millis(now + self.clocks[member]);
        let op = op.at(Place::member(member as u8));
        let step = MongoDb::step(&self.config, &self.state, clock, &op);
        (step.state, step.reply.verdict)
    }

    fn primary(&self) -> Option<usize> {
        self.state.primary
    }

    /// The others take over what the primary wrote; what it wrote of deletions is counted before.
    fn follow(&mut self, now: i64) {
        let Some(primary) = self.primary() else { return };
        if self.script.members == 1 {
            return;
        }
        if let Reply::Entries(entries) = self.tell(now, primary, Op::Oplog) {
            for entry in entries {
                if matches!(entry.kind, EntryKind::Delete | EntryKind::ApplyOps) {
                    self.seen.entries.0 += 1;
                    self.seen.entries.1 += entry.ids.len() as u64;
                }
            }
        }
        for member in (0..self.script.members).filter(|member| *member != primary) {
            self.tell(now, member, Op::Apply(u32::MAX));
        }
    }

    fn set_up(&mut self) {
        let start = self.script.start_ms;
        for _ in 1..self.script.members {
            assert_eq!(self.tell(start, 0, Op::Join(self.script.version)), Reply::Ok);
        }
        for member in 0..self.script.members {
            self.set(start, member, &self.script.parameters);
        }
        for collection in &self.script.collections {
            for index in &collection.indexes {
                if let Some(seconds) = &index.seconds {
                    let op = create(&index.name, seconds, &collection.name);
                    assert_eq!(self.tell(start, 0, op), Reply::Ok);
                }
            }
        }
        self.follow(start);
        self.look_at_clocks(start);
    }

    fn set(&mut self, now: i64, member: usize, settings: &[Setting]) {
        for Setting { name, value, .. } in settings {
            let op = Op::SetParameter { name: name.clone(), value: value.clone() };
            assert_eq!(self.tell(now, member, op), Reply::Ok);
        }
    }

    /// Asks every monitor that sleeps how long it will.
    fn look_at_clocks(&mut self, now: i64) {
        for member in 0..self.script.members {
            let activity = &self.state.members[member].monitor.activity;
            if !matches!(activity, Activity::Passing(_)) {
                // Whoever is woken up by this would have to be asked when it is its turn.
                match self.told(now, member, Op::Tick) {
                    (state, Reply::Ticked(Ticked { did: Did::Sleep { until_ms }, .. })) => {
                        self.state = state;
                        self.work[member].until = until_ms - self.clocks[member];
                    }
                    _ => self.work[member].until = now - 1,
                }
            }
        }
    }

    fn act(&mut self, now: i64, what: &What) {
        self.work.iter_mut().for_each(|work| work.woke = None);
        let primary = self.primary();
        let name = |collection: &usize| self.script.collections[*collection].name.clone();
        let index = |collection: &usize, index: &usize| {
            self.script.collections[*collection].indexes[*index].name.clone()
        };
        let (member, op) = match what {
            What::Set(settings) => {
                (0..self.script.members).for_each(|member| self.set(now, member, settings));
                return self.look_at_clocks(now);
            }
            What::Restart(version) => return self.restart(now, *version),
            What::StepDown => (primary.expect("the script was read"), Op::StepDown),
            What::StepUp { member, .. } => (*member, Op::StepUp),
            What::CollMod { collection, index: at, seconds } => {
                let of = index(collection, at);
                let command = doc! { "index": { "name": of, "expireAfterSeconds": seconds } };
                let place = Place::collection(&name(collection));
                (primary.expect("the script was read"), Op::CollMod(Doc(command)).at(place))
            }
            What::CreateIndex { collection, index: at, seconds } => {
                let op = create(&index(collection, at), seconds, &name(collection));
                (primary.expect("the script was read"), op)
            }
            What::DropIndex { collection, index: at } => {
                let op = Op::DropIndex(index(collection, at));
                let place = Place::collection(&name(collection));
                (primary.expect("the script was read"), op.at(place))
            }
        };
        let reply = self.tell(now, member, op);
        assert!(!matches!(reply, Reply::Error(_) | Reply::Fatal(_)), "{what:?}: {reply:?}");
        self.follow(now);
        self.look_at_clocks(now);
    }

    fn restart(&mut self, now: i64, version: ttlspec_model::mongodb::Version) {
        self.count(now);
        let primary = self.primary().expect("the script was read");
        let restart = Op::Restart { version, maintenance: false };
        for member in 0..self.script.members {
            assert_eq!(self.tell(now, member, restart.clone()), Reply::Ok);
            let going_on = self.work[member].pass.take();
            let ended = going_on.map(|pass| Pass { ended_ms: now, is_interrupted: true, ..pass });
            self.seen.passes.extend(ended);
        }
        if self.script.members > 1 {
            assert_eq!(self.tell(now, primary, Op::StepUp), Reply::Ok);
        }
        for member in 0..self.script.members {
            self.set(now, member, &self.script.parameters);
        }
        self.follow(now);
        self.look_at_clocks(now);
    }

    fn insert(&mut self, now: i64, collection: usize, one: &Coming) {
        self.work.iter_mut().for_each(|work| work.woke = None);
        self.ids += 1;
        let there = &self.script.collections[collection];
        let mut document = doc! { "_id": self.ids };
        for (at, index) in there.indexes.iter().enumerate() {
            if one.indexes >> at & 1 == 1 {
                let date = Bson::DateTime(DateTime::from_millis(one.date_ms));
                document.insert(field(&index.name), date);
            }
        }
        let place = Place::collection(&there.name);
        let member = self.primary().unwrap_or(0);
        match self.tell(now, member, Op::Insert(Doc(document)).at(place)) {
            Reply::Ok => self.follow(now),
            Reply::Error(10_107) => self.seen.refused += 1,
            other => panic!("an insert answers {other:?}"),
        }
    }

    // ---- the monitors --------------------------------------------------------------------------

    fn staged(&self, member: usize) -> (bool, u64) {
        match &self.state.members[member].monitor.activity {
            Activity::Passing(pass) => match &pass.visit {
                Some(visit) => (true, visit.staged.len() as u64),
                None => (false, 0),
            },
            Activity::Started | Activity::Asleep { .. } => (false, 0),
        }
    }

    /// When is the next step of a monitor?
    fn next(&self, member: usize) -> Option<i64> {
        let work = &self.work[member];
        match &self.state.members[member].monitor.activity {
            Activity::Passing(_) => {
                let (_, staged) = self.staged(member);
                let us = work.us + staged * u64::from(self.script.cost.delete_us);
                Some(work.base + (us / 1_000) as i64)
            }
            Activity::Started | Activity::Asleep { .. } => Some(work.until + 1),
        }
    }

    fn tick(&mut self, now: i64, member: usize) {
        let (is_visiting, staged) = self.staged(member);
        self.work[member].us += staged * u64::from(self.script.cost.delete_us);
        let lifetime_ms = match &self.state.members[member].monitor.activity {
            Activity::Passing(pass) => pass.visit.as_ref().map_or(0, |visit| visit.lifetime_ms),
            Activity::Started | Activity::Asleep { .. } => 0,
        };
        let dates = self.dates(member);
        let cost = self.script.cost;
        let activity = &self.state.members[member].monitor.activity;
        let in_one_go = match activity {
            Activity::Passing(_) => None,
            Activity::Started | Activity::Asleep { .. } => {
                match self.told(now, member, Op::Wake(cost)).1 {
                    Reply::Woke(woke) => Some(woke),
                    _ => None,
                }
            }
        };
        let reply = self.tell(now, member, Op::Tick);
        let Reply::Ticked(Ticked { index, did, ended, .. }) = reply else {
            panic!("a tick answers {reply:?}")
        };
        let is_primary = self.primary() == Some(member);
        let is_batched = self.state.members[member].version.deletes_in_batches();
        let work = &mut self.work[member];
        if let (Some(_), false) = (&index, matches!(did, Did::Abandon | Did::Interrupt))
            && !is_visiting
        {
            work.us += u64::from(self.script.cost.visit_us);
            work.pass.iter_mut().for_each(|pass| pass.visits += 1);
        }
        match &did {
            Did::Begin(_) => {
                (work.base, work.us) = (now, 0);
                work.woke = in_one_go;
                work.pass = is_primary.then_some(Pass {
                    member,
                    began_ms: now,
                    ended_ms: now,
                    sub_passes: u64::from(is_batched),
                    visits: 0,
                    deleted: 0,
                    is_interrupted: false,
                });
            }
            Did::Commit { deleted, .. } => {
                work.pass.iter_mut().for_each(|pass| pass.deleted += deleted.len() as u64);
                let at = self.place(index.as_deref().expect("a commit is of an index"));
                for id in deleted {
                    let (_, date_ms) =
                        dates.iter().find(|(there, _)| *there == id.0).expect("it was there");
                    self.seen.indexes[at].0.add(now - date_ms - lifetime_ms, 1);
                }
            }
            _ => {}
        }
        let work = &mut self.work[member];
        if ended == Ended::SubPass {
            work.pass.iter_mut().for_each(|pass| pass.sub_passes += 1);
        }
        if ended == Ended::Pass {
            // The sleep begins when the work of the last step is done, as in a turn in one go.
            let ended_ms = work.base + (work.us / 1_000) as i64;
            let is_interrupted = did == Did::Interrupt;
            let (pass, woke) = (work.pass.take(), work.woke.take());
            let pass = pass.map(|pass| Pass { ended_ms, is_interrupted, ..pass });
            if let (Some(pass), Some(woke)) = (pass, woke) {
                let batches = woke.visits.iter().flat_map(|visit| &visit.batches);
                let deleted = batches.map(Vec::len).sum::<usize>() as u64;
                assert_eq!(
                    (pass.ended_ms - pass.began_ms, pass.deleted, pass.sub_passes),
                    (woke.took_ms, deleted, u64::from(woke.sub_passes)),
                    "a turn step by step is a turn in one go"
                );
                self.seen.in_one_go += 1;
            }
            self.seen.passes.extend(pass);
            let clock = Millis(ended_ms + self.clocks[member]);
            monitor::lie_down(&mut self.state.members[member], clock);
        }
        self.follow(now);
        self.look_at_clocks(now);
    }

    /// The `_id`s and dates of what is visited.
    fn dates(&self, member: usize) -> Vec<(Bson, i64)> {
        let there = &self.state.members[member];
        let Activity::Passing(pass) = &there.monitor.activity else { return Vec::new() };
        let Some(visit) = &pass.visit else { return Vec::new() };
        let Some(collection) = there.collection(&visit.of.collection) else { return Vec::new() };
        let field = field(&visit.of.index);
        let dated = |document: &Doc| match document.get(&field) {
            Some(Bson::DateTime(date)) => Some((document["_id"].clone(), date.timestamp_millis())),
            _ => None,
        };
        collection.documents.values().filter_map(dated).collect()
    }

    fn place(&self, name: &str) -> usize {
        let all = self.script.collections.iter().flat_map(|there| {
            there.indexes.iter().map(move |index| format!("{}/{}", there.name, index.name))
        });
        all.into_iter().position(|there| there == name).expect("it is one of the script's")
    }

    fn count(&mut self, now: i64) {
        for member in 0..self.script.members {
            let version = self.state.members[member].version;
            let Reply::Counters(counters) = self.tell(now, member, Op::Counters) else {
                panic!("a server that is up counts")
            };
            self.seen.counters.push(Counted { at_ms: now, member, version, counters });
        }
    }

    fn finish(mut self) -> Seen {
        let end = self.script.end_ms;
        self.count(end);
        let state = &self.state;
        let there = &state.members[state.primary.unwrap_or(0)];
        let mut at = 0;
        for collection in &self.script.collections {
            for index in &collection.indexes {
                let held = there.collection(&collection.name);
                let stored = held.and_then(|held| {
                    held.indexes.iter().find(|there| there.name() == index.name)?.seconds().cloned()
                });
                let seconds = match stored {
                    Some(Bson::Int32(seconds)) => Some(i64::from(seconds)),
                    Some(Bson::Int64(seconds)) => Some(seconds),
                    _ => None,
                };
                if let (Some(held), Some(seconds)) = (held, seconds) {
                    let field = field(&index.name);
                    let is_due = |document: &&Doc| match document.get(&field) {
                        Some(Bson::DateTime(date)) => {
                            date.timestamp_millis() + seconds * 1_000 <= end
                        }
                        _ => false,
                    };
                    self.seen.indexes[at].1 = held.documents.values().filter(is_due).count() as u64;
                }
                at += 1;
            }
        }
        self.seen
    }
}

fn create(name: &str, seconds: &Bson, collection: &str) -> Op {
    let spec = doc! { "key": { field(name): 1 }, "name": name, "expireAfterSeconds": seconds };
    Op::CreateIndex(Doc(spec)).at(Place::collection(collection))
}
