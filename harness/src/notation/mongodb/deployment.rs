//! How are the words for a monitor at work and for the members of a set written?

use serde_json::{Map, Value as Json, json};
use ttlspec_model::mongodb::{
    Cost, Counters, Did, Ended, Entry, EntryKind, Event, Guard, MongoDb, Op, Place, Reply, Ticked,
    Visited, Woke,
};

use super::super::{
    Fault, Fields, Notation, count, extjson, integer, integer32, list, one_of, text,
};
use super::{doc, id, ids_to, version};

pub(super) const WORDS: [&str; 9] = [
    "tick",
    "kill",
    "counters",
    "step_down",
    "step_up",
    "oplog",
    "events",
    "drop_collection",
    "stale_shard_version",
];
pub(super) const TAGS: [&str; 13] = [
    "rename_collection",
    "start_build",
    "finish_build",
    "orphan",
    "wake",
    "set_parameter",
    "fsync_lock",
    "block_user_writes",
    "join",
    "apply",
    "recovering",
    "restart",
    "set_fcv",
];
pub(super) const REPLIES: [&str; 6] =
    ["ticked", "woke", "counters", "applied", "entries", "events"];

// ---- operations --------------------------------------------------------------------------------

pub(super) fn word(word: &str) -> Option<Op> {
    Some(match word {
        "tick" => Op::Tick,
        "kill" => Op::Kill,
        "counters" => Op::Counters,
        "step_down" => Op::StepDown,
        "step_up" => Op::StepUp,
        "oplog" => Op::Oplog,
        "events" => Op::Events,
        "drop_collection" => Op::DropCollection,
        "stale_shard_version" => Op::StaleShardVersion,
        _ => return None,
    })
}

pub(super) fn op(tag: &str, value: &Json) -> Option<Result<Op, Fault>> {
    Some(match tag {
        "rename_collection" => text(value).map(|name| Op::RenameCollection(name.to_owned())),
        "start_build" => doc(value).map(Op::StartBuild),
        "finish_build" => text(value).map(|name| Op::FinishBuild(name.to_owned())),
        "orphan" => id(value).map(Op::Orphan),
        "wake" => cost(value).map(Op::Wake),
        "set_parameter" => parameter(value),
        "fsync_lock" => flag(value).map(Op::FsyncLock),
        "block_user_writes" => flag(value).map(Op::BlockUserWrites),
        "join" => version(value).map(Op::Join),
        "apply" => small(value).map(Op::Apply),
        "recovering" => flag(value).map(Op::Recovering),
        "restart" => restart(value),
        "set_fcv" => fcv(value),
        _ => return None,
    })
}

/// Where an operation is said: `{"on": 1, "in": "local.c", "do": …}`.
pub(super) fn at(value: &Json, op: impl FnOnce(&Json) -> Result<Op, Fault>) -> Result<Op, Fault> {
    let fields = Fields::of(value, "an operation said elsewhere", &["on", "in", "do"])?;
    let member = |value| {
        let member = count(value)?;
        u8::try_from(member).map_err(|_| Fault::expected("the place of a member", value))
    };
    let collection = |value| {
        let name = text(value)?;
        match name.split_once('.') {
            Some((database, rest)) if !database.is_empty() && !rest.is_empty() => {
                Ok(name.to_owned())
            }
            _ => Err(Fault::expected("a collection with its database, `test.c`", value)),
        }
    };
    let place = Place {
        member: fields.optional("on", member)?,
        collection: fields.optional("in", collection)?,
    };
    Ok(fields.required("do", op)?.at(place))
}

pub(super) fn op_to(op: &Op) -> Option<Json> {
    Some(match op {
        Op::At(place, op) => at_to(place, op),
        Op::Tick => json!("tick"),
        Op::Kill => json!("kill"),
        Op::Counters => json!("counters"),
        Op::StepDown => json!("step_down"),
        Op::StepUp => json!("step_up"),
        Op::Oplog => json!("oplog"),
        Op::Events => json!("events"),
        Op::DropCollection => json!("drop_collection"),
        Op::StaleShardVersion => json!("stale_shard_version"),
        Op::RenameCollection(name) => json!({ "rename_collection": name }),
        Op::StartBuild(spec) => json!({ "start_build": extjson::document_to_json(spec) }),
        Op::FinishBuild(name) => json!({ "finish_build": name }),
        Op::Orphan(id) => json!({ "orphan": extjson::to_json(id) }),
        Op::Wake(cost) => json!({ "wake": cost_to(*cost) }),
        Op::SetParameter { name, value } => {
            let mut parameter = Map::new();
            parameter.insert(name.clone(), extjson::to_json(value));
            json!({ "set_parameter": parameter })
        }
        Op::FsyncLock(is_locked) => json!({ "fsync_lock": is_locked }),
        Op::BlockUserWrites(blocks) => json!({ "block_user_writes": blocks }),
        Op::Join(version) => json!({ "join": version.to_string() }),
        Op::Apply(most) => json!({ "apply": most }),
        Op::Recovering(is_recovering) => json!({ "recovering": is_recovering }),
        Op::Restart { version, maintenance: false } => {
            json!({ "restart": { "version": version.to_string() } })
        }
        Op::Restart { version, maintenance: true } => {
            json!({ "restart": { "version": version.to_string(), "maintenance": true } })
        }
        Op::SetFcv(major, minor) => json!({ "set_fcv": format!("{major}.{minor}") }),
        _ => return None,
    })
}

fn at_to(place: &Place, op: &Op) -> Json {
    if let Op::At(nearer, op) = op {
        let place = Place {
            member: nearer.member.or(place.member),
            collection: nearer.collection.clone().or(place.collection.clone()),
        };
        return at_to(&place, op);
    }
    let mut fields = Map::new();
    if let Some(member) = place.member {
        fields.insert("on".to_owned(), member.into());
    }
    if let Some(collection) = &place.collection {
        fields.insert("in".to_owned(), collection.as_str().into());
    }
    fields.insert("do".to_owned(), MongoDb::op_to(op));
    Json::Object(fields)
}

fn flag(value: &Json) -> Result<bool, Fault> {
    value.as_bool().ok_or_else(|| Fault::expected("true or false", value))
}

fn small(value: &Json) -> Result<u32, Fault> {
    u32::try_from(count(value)?).map_err(|_| Fault::expected("an integer of 32 bits", value))
}

fn cost(value: &Json) -> Result<Cost, Fault> {
    let fields = Fields::of(value, "what work costs", &["visit_us", "delete_us"])?;
    Ok(Cost {
        visit_us: fields.optional("visit_us", small)?.unwrap_or_default(),
        delete_us: fields.optional("delete_us", small)?.unwrap_or_default(),
    })
}

fn cost_to(Cost { visit_us, delete_us }: Cost) -> Json {
    let fields = [("visit_us", visit_us), ("delete_us", delete_us)];
    let fields = fields.into_iter().filter(|(_, us)| *us > 0);
    Json::Object(fields.map(|(name, us)| (name.to_owned(), us.into())).collect())
}

fn parameter(value: &Json) -> Result<Op, Fault> {
    let form = "one parameter with its value, such as `ttlMonitorSleepSecs = 10`";
    let fields = value.as_object().ok_or_else(|| Fault::expected(form, value))?;
    let mut fields = fields.iter();
    match (fields.next(), fields.next()) {
        (Some((name, value)), None) => Ok(Op::SetParameter {
            name: name.clone(),
            value: id(value).map_err(|f| f.under(name))?,
        }),
        _ => Err(Fault::expected(form, value)),
    }
}

fn restart(value: &Json) -> Result<Op, Fault> {
    let fields = Fields::of(value, "`restart`", &["version", "maintenance"])?;
    Ok(Op::Restart {
        version: fields.required("version", version)?,
        maintenance: fields.optional("maintenance", flag)?.unwrap_or_default(),
    })
}

fn fcv(value: &Json) -> Result<Op, Fault> {
    let bad = || Fault::expected("a feature compatibility version such as `4.4`", value);
    let (major, minor) = text(value).ok().and_then(|text| text.split_once('.')).ok_or_else(bad)?;
    let number = |text: &str| text.parse::<u16>().map_err(|_| bad());
    Ok(Op::SetFcv(number(major)?, number(minor)?))
}

// ---- replies -----------------------------------------------------------------------------------

pub(super) fn reply(tag: &str, value: &Json) -> Option<Result<Reply, Fault>> {
    Some(match tag {
        "ticked" => ticked(value).map(Reply::Ticked),
        "woke" => woke(value).map(Reply::Woke),
        "counters" => counters(value).map(Reply::Counters),
        "applied" => applied(value),
        "entries" => list(value, entry).map(Reply::Entries),
        "events" => list(value, event).map(Reply::Events),
        _ => return None,
    })
}

pub(super) fn reply_to(reply: &Reply) -> Option<Json> {
    Some(match reply {
        Reply::Ticked(ticked) => json!({ "ticked": ticked_to(ticked) }),
        Reply::Woke(woke) => json!({ "woke": woke_to(woke) }),
        Reply::Counters(counters) => json!({ "counters": counters_to(counters) }),
        Reply::Applied { entries, rolled_back: 0 } => json!({ "applied": { "entries": entries } }),
        Reply::Applied { entries, rolled_back } => {
            json!({ "applied": { "entries": entries, "rolled_back": rolled_back } })
        }
        Reply::Entries(entries) => {
            json!({ "entries": entries.iter().map(entry_to).collect::<Vec<_>>() })
        }
        Reply::Events(events) => {
            let event = |event: &Event| json!({ "kind": event.kind.name(), "id": extjson::to_json(&event.id) });
            json!({ "events": events.iter().map(event).collect::<Vec<_>>() })
        }
        _ => return None,
    })
}

/// One of `all`, by its name.
fn named<T: Copy>(value: &Json, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Fault> {
    let found = value.as_str().and_then(|text| all.iter().find(|one| name(**one) == text));
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        Fault::expected(&one_of(&names), value)
    })
}

fn ticked(value: &Json) -> Result<Ticked, Fault> {
    let known = [
        "index",
        "sleep",
        "stay",
        "begin",
        "skip",
        "stage",
        "commit",
        "kept",
        "abandon",
        "interrupt",
        "ended",
        "more",
    ];
    let fields = Fields::of(value, "what the monitor did", &known)?;
    let ids = |value| list(value, id);
    let mut did = Vec::new();
    did.extend(fields.optional("sleep", integer)?.map(|until_ms| Did::Sleep { until_ms }));
    let guard = |value| named(value, &Guard::ALL, Guard::name);
    did.extend(fields.optional("stay", guard)?.map(Did::Stay));
    did.extend(fields.optional("begin", small)?.map(Did::Begin));
    did.extend(fields.optional("skip", integer32)?.map(Did::Skip));
    did.extend(fields.optional("stage", ids)?.map(Did::Stage));
    let kept = fields.optional("kept", ids)?.unwrap_or_default();
    did.extend(fields.optional("commit", ids)?.map(|deleted| Did::Commit { deleted, kept }));
    did.extend(fields.optional("abandon", flag)?.map(|_| Did::Abandon));
    did.extend(fields.optional("interrupt", flag)?.map(|_| Did::Interrupt));
    let form = "exactly one of sleep, stay, begin, skip, stage, commit, abandon, interrupt";
    let one = did.len() == 1;
    let did = did.pop().filter(|_| one).ok_or_else(|| Fault::expected(form, value))?;
    let ended = |value| named(value, &Ended::ALL, Ended::name);
    Ok(Ticked {
        index: fields.optional("index", text)?.map(str::to_owned),
        did,
        ended: fields.optional("ended", ended)?.unwrap_or(Ended::Nothing),
        more: fields.optional("more", flag)?.unwrap_or_default(),
    })
}

fn ticked_to(Ticked { index, did, ended, more }: &Ticked) -> Json {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Json| drop(fields.insert(name.to_owned(), value));
    if let Some(index) = index {
        put("index", index.as_str().into());
    }
    match did {
        Did::Sleep { until_ms } => put("sleep", (*until_ms).into()),
        Did::Stay(guard) => put("stay", guard.name().into()),
        Did::Begin(indexes) => put("begin", (*indexes).into()),
        Did::Skip(code) => put("skip", (*code).into()),
        Did::Stage(ids) => put("stage", ids_to(ids).into()),
        Did::Commit { deleted, kept } => {
            put("commit", ids_to(deleted).into());
            if !kept.is_empty() {
                put("kept", ids_to(kept).into());
            }
        }
        Did::Abandon => put("abandon", true.into()),
        Did::Interrupt => put("interrupt", true.into()),
    }
    if *ended != Ended::Nothing {
        put("ended", ended.name().into());
    }
    if *more {
        put("more", true.into());
    }
    Json::Object(fields)
}

fn woke(value: &Json) -> Result<Woke, Fault> {
    let fields = Fields::of(value, "a turn", &["guard", "visits", "sub_passes", "took_ms"])?;
    let guard = |value| named(value, &Guard::ALL, Guard::name);
    Ok(Woke {
        guard: fields.optional("guard", guard)?,
        visits: fields.optional("visits", |value| list(value, visited))?.unwrap_or_default(),
        sub_passes: fields.optional("sub_passes", small)?.unwrap_or_default(),
        took_ms: fields.optional("took_ms", integer)?.unwrap_or_default(),
    })
}

fn woke_to(Woke { guard, visits, sub_passes, took_ms }: &Woke) -> Json {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Json| drop(fields.insert(name.to_owned(), value));
    if let Some(guard) = guard {
        put("guard", guard.name().into());
    }
    if !visits.is_empty() {
        put("visits", visits.iter().map(visited_to).collect::<Vec<_>>().into());
    }
    if *sub_passes > 0 {
        put("sub_passes", (*sub_passes).into());
    }
    if *took_ms != 0 {
        put("took_ms", (*took_ms).into());
    }
    Json::Object(fields)
}

fn visited(value: &Json) -> Result<Visited, Fault> {
    let known = ["round", "index", "skipped", "batches", "more"];
    let fields = Fields::of(value, "a visit", &known)?;
    let batches = |value| list(value, |batch| list(batch, id));
    Ok(Visited {
        round: fields.optional("round", small)?.unwrap_or_default(),
        index: fields.required("index", text)?.to_owned(),
        skipped: fields.optional("skipped", integer32)?,
        batches: fields.optional("batches", batches)?.unwrap_or_default(),
        more: fields.optional("more", flag)?.unwrap_or_default(),
    })
}

fn visited_to(Visited { round, index, skipped, batches, more }: &Visited) -> Json {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Json| drop(fields.insert(name.to_owned(), value));
    if *round > 0 {
        put("round", (*round).into());
    }
    put("index", index.as_str().into());
    if let Some(code) = skipped {
        put("skipped", (*code).into());
    }
    if !batches.is_empty() {
        put("batches", batches.iter().map(|batch| ids_to(batch)).collect::<Vec<_>>().into());
    }
    if *more {
        put("more", true.into());
    }
    Json::Object(fields)
}

fn counters(value: &Json) -> Result<Counters, Fault> {
    let known = ["passes", "sub_passes", "deleted_documents", "invalid_skips"];
    let fields = Fields::of(value, "the counters", &known)?;
    Ok(Counters {
        passes: fields.required("passes", count)?,
        sub_passes: fields.optional("sub_passes", count)?,
        deleted_documents: fields.required("deleted_documents", count)?,
        invalid_skips: fields.optional("invalid_skips", count)?,
    })
}

fn counters_to(counters: &Counters) -> Json {
    let Counters { passes, sub_passes, deleted_documents, invalid_skips } = *counters;
    let fields = [
        ("passes", Some(passes)),
        ("sub_passes", sub_passes),
        ("deleted_documents", Some(deleted_documents)),
        ("invalid_skips", invalid_skips),
    ];
    let there =
        fields.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?.into())));
    Json::Object(there.collect())
}

fn applied(value: &Json) -> Result<Reply, Fault> {
    let fields = Fields::of(value, "what was applied", &["entries", "rolled_back"])?;
    Ok(Reply::Applied {
        entries: fields.required("entries", small)?,
        rolled_back: fields.optional("rolled_back", small)?.unwrap_or_default(),
    })
}

fn entry(value: &Json) -> Result<Entry, Fault> {
    let fields = Fields::of(value, "an entry of the oplog", &["term", "kind", "in", "ids"])?;
    let kind = |value| named(value, &EntryKind::ALL, EntryKind::name);
    Ok(Entry {
        term: fields.required("term", small)?,
        kind: fields.required("kind", kind)?,
        collection: fields.required("in", text)?.to_owned(),
        ids: fields.optional("ids", |value| list(value, id))?.unwrap_or_default(),
    })
}

fn entry_to(Entry { term, kind, collection, ids }: &Entry) -> Json {
    let mut entry = json!({ "term": term, "kind": kind.name(), "in": collection });
    if let (Some(fields), false) = (entry.as_object_mut(), ids.is_empty()) {
        fields.insert("ids".to_owned(), ids_to(ids).into());
    }
    entry
}

fn event(value: &Json) -> Result<Event, Fault> {
    let fields = Fields::of(value, "an event", &["kind", "id"])?;
    let kind = |value| named(value, &EntryKind::ALL, EntryKind::name);
    Ok(Event { kind: fields.required("kind", kind)?, id: fields.required("id", id)? })
}
