//! What is done, and can it be done after what was done before?

use std::collections::BTreeMap;
use std::ops::Range;

use bson::Bson;
use toml::Spanned;
use ttlspec_model::Rule;
use ttlspec_model::mongodb::{Value, Version};

use super::near::one_of;
use super::reader::{Read, Reader};
use super::{Act, Script, Setting, What, raw};

impl Reader<'_> {
    pub(super) fn acts(&self, script: &mut Script, raw: &[Spanned<raw::Act>]) -> Read<()> {
        let mut last = 0;
        let mut clocks: BTreeMap<usize, (i64, usize)> = BTreeMap::new();
        let mut so_far = SoFar { version: script.version, primary: Some(0), down: 0 };
        for act in raw {
            let there = act.get_ref();
            let at = self.span("at", &there.at)?;
            if at < last {
                let what =
                    format!("`{}` lies before what is done in front of it", there.at.get_ref());
                let fix = "put what is done in the order of time; the start is \"0s\"";
                return Err(self.fault(there.at.span(), what, fix));
            }
            last = at;
            let at_ms = script.start_ms + at;
            if at_ms >= script.end_ms {
                return Err(self.after_end(script, &there.at));
            }
            let (what, place, value) =
                self.what(script, there, act.span(), &mut so_far, &mut clocks)?;
            let (line, value_line) = (self.line(place.start), self.line(value.start));
            script.acts.push(Act { at_ms, what, line, value_line });
        }
        Ok(())
    }

    fn what(
        &self,
        script: &mut Script,
        raw: &raw::Act,
        span: Range<usize>,
        so_far: &mut SoFar,
        clocks: &mut BTreeMap<usize, (i64, usize)>,
    ) -> Read<(What, Range<usize>, Range<usize>)> {
        let flag = |name: &str, value: &Spanned<bool>| {
            if *value.get_ref() {
                return Ok(());
            }
            let what = format!("`{name} = false` says nothing");
            Err(self.fault(value.span(), what, format!("write `{name} = true`, or leave it out")))
        };
        let mut found = Vec::new();
        if let Some(set) = &raw.set {
            let (settings, place) = (set.get_ref(), set.span());
            if settings.is_empty() {
                let fix = "name a parameter, such as set = { ttlMonitorSleepSecs = 10 }";
                return Err(self.fault(place, "`set` sets nothing", fix));
            }
            found.push((What::Set(self.settings(settings)?), place.clone(), place));
        }
        if let Some(is_on) = &raw.monitor {
            let value = Value(Bson::Boolean(*is_on.get_ref()));
            let (name, place) = ("ttlMonitorEnabled".to_owned(), is_on.span());
            let line = self.line(place.start);
            let set = What::Set(vec![Setting { name, value, line }]);
            found.push((set, place.clone(), place));
        }
        if let Some(step_down) = &raw.step_down {
            flag("step_down", step_down)?;
            if script.members == 1 {
                let fix = "write `members = 2` or more at the top";
                return Err(self.fault(step_down.span(), "a server alone cannot step down", fix));
            }
            if so_far.primary.is_none() {
                let what = format!("there is no primary since line {}", so_far.down);
                return Err(self.fault(step_down.span(), what, "let a member step up before"));
            }
            so_far.primary = None;
            let place = step_down.span();
            so_far.down = self.line(place.start);
            found.push((What::StepDown, place.clone(), place));
        }
        if let Some(step_up) = &raw.step_up {
            let what = self.step_up(script, step_up, so_far, clocks)?;
            found.push((what, step_up.span(), step_up.span()));
        }
        for (text, goes_up) in [(&raw.upgrade, true), (&raw.downgrade, false)] {
            let Some(text) = text else { continue };
            let (version, notes) = self.version(text)?;
            let (verb, other, side) = if goes_up {
                ("upgrade", "downgrade", "older")
            } else {
                ("downgrade", "upgrade", "newer")
            };
            if goes_up != (version >= so_far.version) && version != so_far.version {
                return Err(self.fault(
                    text.span(),
                    format!("`{verb}` to {version}, which is {side} than {}", so_far.version),
                    format!("write `{other}` if that is meant"),
                ));
            }
            let (older, newer) =
                if goes_up { (so_far.version, version) } else { (version, so_far.version) };
            if !newer.opens_data_of(older) {
                let what = format!(
                    "`{verb}` from {} to {version} leaves out a release: servers go from one \
                     long-term release to the next, or from one rapid release to the next ({})",
                    so_far.version,
                    Rule::MongodbUpgradeElsewhere.name()
                );
                return Err(self.fault(text.span(), what, way(verb, older, newer, goes_up)));
            }
            if so_far.primary.is_none() {
                let what = format!("there is no primary since line {}", so_far.down);
                return Err(self.fault(text.span(), what, "let a member step up before"));
            }
            so_far.version = version;
            script.notes.extend(notes);
            found.push((What::Restart(version), text.span(), text.span()));
        }
        if let Some(coll_mod) = &raw.coll_mod {
            let of = coll_mod.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            let index = self.index_named(script, collection, &of.index)?;
            let seconds = self.seconds(&of.expireAfterSeconds)?;
            let value = of.expireAfterSeconds.span();
            found.push((What::CollMod { collection, index, seconds }, coll_mod.span(), value));
        }
        if let Some(create) = &raw.create_index {
            let of = create.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            if script.collections[collection].partition.is_some() {
                let what = format!("`{}` is cut by time", of.collection.get_ref());
                return Err(self.fault(create.span(), what, "leave out `partition` or the index"));
            }
            let there = &mut script.collections[collection];
            let index = self.index(there, &of.name, of.share.as_ref(), None)?;
            let seconds = self.seconds(&of.expireAfterSeconds)?;
            let value = of.expireAfterSeconds.span();
            found.push((What::CreateIndex { collection, index, seconds }, create.span(), value));
        }
        if let Some(drop) = &raw.drop_index {
            let of = drop.get_ref();
            let collection = self.collection_named(script, &of.collection)?;
            let index = self.index_named(script, collection, &of.name)?;
            found.push((What::DropIndex { collection, index }, drop.span(), of.name.span()));
        }
        let many = found.len();
        match found.pop() {
            Some(what) if many == 1 => Ok(what),
            _ => Err(self.fault(
                span,
                format!("expected one thing to do, found {many}"),
                format!("write one [[do]] for each of: {}", raw::ACTS),
            )),
        }
    }

    fn step_up(
        &self,
        script: &Script,
        raw: &Spanned<raw::StepUp>,
        so_far: &mut SoFar,
        clocks: &mut BTreeMap<usize, (i64, usize)>,
    ) -> Read<What> {
        let line = self.line(raw.span().start);
        if let Some(primary) = so_far.primary {
            return Err(self.fault(
                raw.span(),
                format!("nobody has stepped down: member {primary} is primary"),
                "put a [[do]] with `step_down = true` before",
            ));
        }
        let there = raw.get_ref();
        let next = (so_far.last_primary(script) + 1) % script.members;
        let member = match &there.member {
            None => next,
            Some(member) => self.number("member", member, 0..script.members as i64)? as usize,
        };
        let known = clocks.get(&member).copied();
        let clock_ms = match (&there.clock, known) {
            (None, known) => known.map_or(0, |(clock_ms, _)| clock_ms),
            (Some(text), known) => {
                let clock_ms = self.span("clock", text)?;
                if clock_ms != 0 && member == 0 {
                    let what = "the clock of member 0 is that of the script";
                    let fix = "let another member step up, with `member = 1`";
                    return Err(self.fault(text.span(), what, fix));
                }
                if let Some((other, line)) = known
                    && other != clock_ms
                {
                    let what = format!("the clock of member {member} was another in line {line}");
                    let fix = "a clock goes wrong by one amount; write the same, or leave it out";
                    return Err(self.fault(text.span(), what, fix));
                }
                clock_ms
            }
        };
        clocks.insert(member, (clock_ms, line));
        so_far.primary = Some(member);
        Ok(What::StepUp { member, clock_ms })
    }

    fn collection_named(&self, script: &Script, name: &Spanned<String>) -> Read<usize> {
        let names = || script.collections.iter().map(|collection| collection.name.as_str());
        let there = names().position(|there| there == name.get_ref());
        there.ok_or_else(|| {
            let what = format!("there is no collection `{}`", name.get_ref());
            self.fault(name.span(), what, one_of(names(), name.get_ref()))
        })
    }

    fn index_named(
        &self,
        script: &Script,
        collection: usize,
        name: &Spanned<String>,
    ) -> Read<usize> {
        let there = &script.collections[collection];
        let names = || there.indexes.iter().map(|index| index.name.as_str());
        let at = names().position(|there| there == name.get_ref());
        at.ok_or_else(|| {
            let what = format!("there is no index `{}` in `{}` yet", name.get_ref(), there.name);
            self.fault(name.span(), what, one_of(names(), name.get_ref()))
        })
    }
}

/// What the acts so far have come to.
struct SoFar {
    version: Version,
    primary: Option<usize>,
    down: usize,
}

impl SoFar {
    fn last_primary(&self, script: &Script) -> usize {
        let elected = script.acts.iter().rev().find_map(|act| match act.what {
            What::StepUp { member, .. } => Some(member),
            _ => None,
        });
        elected.unwrap_or(0)
    }
}

/// The releases on the way from one to the other.
fn way(verb: &str, older: Version, newer: Version, goes_up: bool) -> String {
    let mut between = Vec::new();
    let mut at = newer;
    loop {
        let [_, (major, minor)] = at.compatible_with();
        let next = Version::new(major, minor, 0);
        if next >= at || (next.major, next.minor) <= (older.major, older.minor) {
            break;
        }
        between.push(format!("{major}.{minor}"));
        at = next;
    }
    if goes_up {
        between.reverse();
    }
    match between.is_empty() {
        true => format!("put a [[do]] with `{verb}` to each release in between before"),
        false => format!("put a [[do]] with `{verb}` before for each of: {}", between.join(", ")),
    }
}
