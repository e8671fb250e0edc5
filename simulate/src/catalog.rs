//! What do the servers hold between two acts of the script?
//!
//! The acts are played on the specification, without documents, before anything is counted. So what
//! a server refuses is refused here, with the line that asks for it.

use bson::{Bson, doc};
use ttlspec_model::mongodb::machine::State;
use ttlspec_model::mongodb::monitor::{self, Parameters};
use ttlspec_model::mongodb::pass::{self, Use};
use ttlspec_model::mongodb::{Config, Doc, Guard, MongoDb, Op, Place, Reply, Value, Version, code};
use ttlspec_model::{Millis, Reference, Rule, Ruling};

use crate::fault::Fault;
use crate::script::near::{nearest, one_of};
use crate::script::{Act, Script, Setting, What};

/// What holds from one act to the next.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// When it begins.
    pub at_ms: i64,
    /// What each server holds.
    pub members: Vec<Held>,
    /// Which of them is primary.
    pub primary: Option<usize>,
    /// Which line began it, and how; nothing for the start.
    pub begun: Option<(usize, Begun)>,
}

/// What an act does to the monitors, beside what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nothing.
    Quietly,
    /// What this member does is interrupted.
    Interrupting(usize),
    /// All servers are started again.
    Restarting,
}

/// What one server holds.
#[derive(Clone, Debug)]
pub struct Held {
    /// What it runs.
    pub version: Version,
    /// How it is set.
    pub parameters: Parameters,
    /// Why its monitor would do no pass.
    pub guard: Option<Guard>,
    /// The TTL indexes that it knows of, in the order in which they are visited.
    pub visitables: Vec<Visitable>,
}

/// A TTL index that a monitor knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitable {
    /// The place of the collection in the script.
    pub collection: usize,
    /// The place of the index in the collection.
    pub index: usize,
    /// What a visit comes to.
    pub visit: Visit,
    /// How long dates live by it, if it can be used at all.
    pub lifetime_ms: Option<i64>,
}

/// What a visit comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Nothing, without a word: the server takes no writes.
    Silent,
    /// A line in the log, or an error.
    Skip(i32),
    /// Dates live so long.
    Lifetime(i64),
}

impl Epoch {
    /// How long dates live by an index, for the primary or else for the first that has it.
    pub fn lifetime(&self, collection: usize, index: usize) -> Option<i64> {
        let first = self.primary.unwrap_or(0);
        let held = std::iter::once(&self.members[first]).chain(&self.members);
        held.flat_map(|held| &held.visitables)
            .filter(|there| (there.collection, there.index) == (collection, index))
            .find_map(|there| there.lifetime_ms)
    }
}

/// The epochs of a script, and how much the clock of each member is ahead.
///
/// # Errors
/// Where a server refuses what the script asks of it.
pub fn epochs(script: &Script) -> Result<(Vec<Epoch>, Vec<i64>), Fault> {
    let mut clocks = vec![0; script.members];
    for act in &script.acts {
        if let What::StepUp { member, clock_ms } = act.what {
            clocks[member] = clock_ms;
        }
    }
    let mut servers = Servers {
        script,
        reference: Reference::open(&Config { version: script.version }),
        clocks: clocks.clone(),
        version: script.version,
    };
    servers.set_up()?;
    let mut epochs = vec![servers.epoch(script.start_ms, None)];
    for act in &script.acts {
        let begun = servers.act(act)?;
        epochs.push(servers.epoch(act.at_ms, Some((act.line, begun))));
    }
    Ok((epochs, clocks))
}

/// The servers of the script, as the specification has them.
struct Servers<'a> {
    script: &'a Script,
    reference: Reference<MongoDb>,
    clocks: Vec<i64>,
    version: Version,
}

impl Servers<'_> {
    fn set_up(&mut self) -> Result<(), Fault> {
        let start_ms = self.script.start_ms;
        for _ in 1..self.script.members {
            self.tell(start_ms, 0, Op::Join(self.script.version), Asked::of(1, "joining"))?;
        }
        self.configure(start_ms)?;
        let mut untold = 0;
        for collection in &self.script.collections {
            for index in &collection.indexes {
                // An entry of the oplog holds what was there before it, until all have it.
                if untold == MOST_UNTOLD {
                    self.follow(start_ms, index.line)?;
                    untold = 0;
                }
                untold += 1;
                if let Some(seconds) = &index.seconds {
                    let op = create(&index.name, seconds, &collection.name);
                    let said = created(&collection.name, &index.name, seconds);
                    let value_line = Some(index.seconds_line);
                    let asked = Asked { line: index.line, value_line, said };
                    self.tell(start_ms, 0, op, asked)?;
                }
            }
        }
        self.follow(start_ms, 1)
    }

    /// Sets the parameters that every server is started with.
    fn configure(&mut self, at_ms: i64) -> Result<(), Fault> {
        (0..self.script.members)
            .try_for_each(|member| self.set(at_ms, member, &self.script.parameters))
    }

    fn set(&mut self, at_ms: i64, member: usize, settings: &[Setting]) -> Result<(), Fault> {
        for Setting { name, value, line } in settings {
            let op = Op::SetParameter { name: name.clone(), value: value.clone() };
            let said = format!("setParameter {name} = {}", value.0);
            self.tell(at_ms, member, op, Asked::of(*line, said))?;
        }
        Ok(())
    }

    fn act(&mut self, act: &Act) -> Result<Begun, Fault> {
        let Act { at_ms, what, line, value_line } = act;
        let (at_ms, line, value_line) = (*at_ms, *line, *value_line);
        let asked = |said: &str| Asked::of(line, said);
        let of_value = |said: String| Asked { line, value_line: Some(value_line), said };
        let primary = self.reference.state().primary;
        let at = |collection: usize| &self.script.collections[collection];
        let begun = match what {
            What::Set(settings) => {
                (0..self.script.members)
                    .try_for_each(|member| self.set(at_ms, member, settings))?;
                Begun::Quietly
            }
            What::StepDown => {
                let old = primary.expect("the script was checked");
                self.tell(at_ms, old, Op::StepDown, asked("the step down"))?;
                Begun::Interrupting(old)
            }
            What::StepUp { member, .. } => {
                self.tell(at_ms, *member, Op::StepUp, asked("the election"))?;
                Begun::Quietly
            }
            What::Restart(version) => {
                self.version = *version;
                let restart = Op::Restart { version: *version, maintenance: false };
                for member in 0..self.script.members {
                    self.tell(at_ms, member, restart.clone(), asked("the start"))?;
                }
                if self.script.members > 1 {
                    let again = primary.expect("the script was checked");
                    self.tell(at_ms, again, Op::StepUp, asked("the election"))?;
                }
                self.configure(at_ms)?;
                Begun::Restarting
            }
            What::CollMod { collection, index, seconds } => {
                let name = &at(*collection).indexes[*index].name;
                let command = doc! { "index": { "name": name, "expireAfterSeconds": seconds } };
                let op = Op::CollMod(Doc(command)).at(Place::collection(&at(*collection).name));
                let name = format!("{}/{name}", at(*collection).name);
                let said = format!("collMod of `{name}` to expireAfterSeconds = {seconds}");
                self.tell_primary(at_ms, primary, op, of_value(said))?;
                Begun::Quietly
            }
            What::CreateIndex { collection, index, seconds } => {
                let name = &at(*collection).indexes[*index].name;
                let op = create(name, seconds, &at(*collection).name);
                let said = created(&at(*collection).name, name, seconds);
                self.tell_primary(at_ms, primary, op, of_value(said))?;
                Begun::Quietly
            }
            What::DropIndex { collection, index } => {
                let name = at(*collection).indexes[*index].name.clone();
                let said = format!("dropIndexes of `{}/{name}`", at(*collection).name);
                let op = Op::DropIndex(name).at(Place::collection(&at(*collection).name));
                self.tell_primary(at_ms, primary, op, asked(&said))?;
                Begun::Quietly
            }
        };
        self.follow(at_ms, line)?;
        Ok(begun)
    }

    fn tell_primary(
        &mut self,
        at_ms: i64,
        primary: Option<usize>,
        op: Op,
        asked: Asked,
    ) -> Result<(), Fault> {
        match primary {
            Some(primary) => self.tell(at_ms, primary, op, asked),
            None => Err(self.script.fault(
                asked.line,
                "there is no primary that could do this",
                "put it before `step_down`, or after `step_up`",
            )),
        }
    }

    /// All that are not primary take over what the primary has.
    fn follow(&mut self, at_ms: i64, line: usize) -> Result<(), Fault> {
        let state = self.reference.state();
        if let (Some(primary), true) = (state.primary, state.is_set()) {
            for member in (0..self.script.members).filter(|member| *member != primary) {
                let asked = Asked::of(line, "the oplog");
                self.tell(at_ms, member, Op::Apply(u32::MAX), asked)?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, at_ms: i64, member: usize, op: Op, asked: Asked) -> Result<(), Fault> {
        let now = Millis(at_ms + self.clocks[member]);
        let setting = match &op {
            Op::SetParameter { name, .. } => Some(name.clone()),
            _ => None,
        };
        let ruling = self.reference.explain(now, &op.at(Place::member(member as u8)));
        match &ruling.verdict {
            Reply::Error(code) | Reply::Fatal(code) => {
                Err(self.refusal(&asked, setting.as_deref(), *code, &ruling))
            }
            _ => Ok(()),
        }
    }

    fn refusal(
        &self,
        asked: &Asked,
        setting: Option<&str>,
        code: i32,
        ruling: &Ruling<Reply>,
    ) -> Fault {
        let end = if matches!(ruling.verdict, Reply::Fatal(_)) { "ends with" } else { "answers" };
        let why: Vec<&str> = ruling.because.iter().map(|rule: &Rule| rule.name()).collect();
        let mut what = format!("{}: a server {} {end} error {code}", asked.said, self.version);
        if !why.is_empty() {
            what = format!("{what} ({})", why.join(", "));
        }
        let fix = match (setting, code) {
            (Some(name), _) => parameter(self.version, name),
            (None, code::INDEX_NOT_FOUND) => {
                let fix = "the index is not there by then: leave this out, or make the index \
                           before with `create_index`";
                return self.script.fault(asked.line, what, fix);
            }
            (None, code::INDEX_OPTIONS_CONFLICT | code::INDEX_KEY_SPECS_CONFLICT) => {
                let fix = "the index is there by then: change it with `coll_mod`, or drop it \
                           before with `drop_index`";
                return self.script.fault(asked.line, what, fix);
            }
            (None, _) if asked.value_line.is_some() => {
                let most = match self.version.creation_is_limited_to_now() {
                    true => "the seconds since 1970",
                    false => "2147483647",
                };
                format!("write a whole number from 0 to {most}")
            }
            (None, _) => "change with `coll_mod` before what a server does not start with, or go \
                          to a later patch release"
                .to_owned(),
        };
        let line = asked.value_line.unwrap_or(asked.line);
        self.script.fault(line, what, fix)
    }

    fn epoch(&self, at_ms: i64, begun: Option<(usize, Begun)>) -> Epoch {
        let state = self.reference.state();
        let members = (0..self.script.members).map(|member| self.held(state, member)).collect();
        Epoch { at_ms, members, primary: state.primary, begun }
    }

    fn held(&self, state: &State, member: usize) -> Held {
        let there = &state.members[member];
        let version = there.version;
        let mut visitables = Vec::new();
        for (name, collection) in &there.collections {
            let at = self.script.collections.iter().position(|ours| ours.name == *name);
            let at = at.expect("only collections of the script are made");
            for target in pass::targets(collection) {
                if !target.is_ttl(version, collection) {
                    continue;
                }
                let indexes = &self.script.collections[at].indexes;
                let index = indexes.iter().position(|index| index.name == target.name(collection));
                let index = index.expect("only indexes of the script are made");
                let usable = target.usable(version, collection).verdict;
                let lifetime_ms = match usable {
                    Use::Lifetime(millis) => Some(millis),
                    Use::Nothing | Use::Skip(_) => None,
                };
                let visit = match usable {
                    _ if !state.is_writable(member, name) => Visit::Silent,
                    Use::Nothing => Visit::Silent,
                    Use::Skip(code) => Visit::Skip(code),
                    Use::Lifetime(millis) => Visit::Lifetime(millis),
                };
                visitables.push(Visitable { collection: at, index, visit, lifetime_ms });
            }
        }
        Held {
            version,
            parameters: there.monitor.parameters.clone(),
            guard: monitor::guard(state, member).map(|guard| guard.verdict),
            visitables,
        }
    }
}

/// Makes an index on a field of its own, which bears its name.
fn create(name: &str, seconds: &Bson, collection: &str) -> Op {
    let spec = doc! { "key": { field(name): 1 }, "name": name, "expireAfterSeconds": seconds };
    Op::CreateIndex(Doc(spec)).at(Place::collection(collection))
}

/// The field that an index is on. A document carries its date there if the index holds it.
pub fn field(index: &str) -> String {
    format!("of {}", index.replace(['.', '$'], "_"))
}

/// So many indexes are made before the other members take them over.
const MOST_UNTOLD: usize = 16;

/// What a server is asked, and which lines ask it.
struct Asked {
    line: usize,
    /// The line of the value that it may refuse.
    value_line: Option<usize>,
    said: String,
}

impl Asked {
    fn of(line: usize, said: impl Into<String>) -> Asked {
        Asked { line, value_line: None, said: said.into() }
    }
}

fn created(collection: &str, name: &str, seconds: &Bson) -> String {
    format!("createIndexes of `{collection}/{name}` with expireAfterSeconds = {seconds}")
}

/// The parameters of a monitor, in any version.
const PARAMETERS: [&str; 8] = [
    "ttlMonitorEnabled",
    "ttlMonitorSleepSecs",
    "ttlMonitorBatchDeletes",
    "ttlMonitorSubPassTargetSecs",
    "ttlIndexDeleteTargetTimeMS",
    "ttlIndexDeleteTargetDocs",
    "batchedDeletesTargetBatchDocs",
    "batchedDeletesTargetStagedDocBytes",
];

/// What this version would take. It is asked, so that the ranges stand in one place.
fn parameter(version: Version, name: &str) -> String {
    let takes = |name: &str, value: Bson| {
        let op = Op::SetParameter { name: name.to_owned(), value: Value(value) };
        let mut server = Reference::<MongoDb>::open(&Config { version });
        !matches!(server.explain(Millis(0), &op).verdict, Reply::Error(_) | Reply::Fatal(_))
    };
    let is_flag = |name: &str| takes(name, Bson::Boolean(true));
    let is_there = |name: &&str| is_flag(name) || takes(name, Bson::Int32(1));
    let there: Vec<&str> = PARAMETERS.into_iter().filter(is_there).collect();
    if there.contains(&name) {
        if is_flag(name) {
            return "write true or false".to_owned();
        }
        let least = (0..=1).find(|least| takes(name, Bson::Int32(*least))).unwrap_or(1);
        return match takes(name, Bson::Int32(i32::MAX)) {
            true => format!("write a whole number from {least} to {}", i32::MAX),
            false => format!("write a whole number, {least} or more"),
        };
    }
    match nearest(there.iter().copied(), name) {
        Some(_) => one_of(there.into_iter(), name),
        None => format!("leave it out; {version} has {}", there.join(", ")),
    }
}
