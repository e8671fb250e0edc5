//! How are the words of MongoDB written?
//!
//! | operation | written |
//! |---|---|
//! | create | `{"create_collection": "plain"}`, `"capped"`, `"view"`, `{"expireAfterSeconds": 5}`, `{"clusteredIndex": {…}, …}` |
//! | createIndexes | `{"create_index": {"key": {"t": 1}, "name": "t_1", …}}` |
//! | an index arrives | `{"arrive": {"index": {…}, "via": "upgraded", "from": "4.4.18"}}` |
//! | dropIndexes | `{"drop_index": "t_1"}` |
//! | collMod | `{"coll_mod": {"index": {…}}}` |
//! | write | `{"insert": {"_id": 1}}`, `{"replace": {"_id": 1}}`, `{"remove": 1}` |
//! | the rest | `"pass"`, `"find"`, `"list_indexes"` |
//! | said elsewhere | `{"on": 1, "in": "local.c", "do": "find"}` |
//! | the collection | `{"rename_collection": "test.d"}`, `"drop_collection"`, `{"start_build": {…}}`, `{"finish_build": "t_1"}`, `{"orphan": 1}`, `"stale_shard_version"` |
//! | the monitor | `"tick"`, `{"wake": {"visit_us": 5, "delete_us": 100}}`, `"kill"`, `"counters"`, `{"set_parameter": {"ttlMonitorSleepSecs": 10}}`, `{"fsync_lock": true}`, `{"block_user_writes": true}` |
//! | members | `{"join": "7.0.14"}`, `{"apply": 10}`, `"step_down"`, `"step_up"`, `{"recovering": true}`, `{"restart": {"version": "7.0.14"}}`, `{"set_fcv": "4.4"}`, `"oplog"`, `"events"` |
//!
//! | reply | written |
//! |---|---|
//! | done | `"ok"` |
//! | refused, or gone | `{"error": 67}`, `{"fatal": 28782}` |
//! | a write | `{"matched": 1}` |
//! | collMod | `{"modified": {"old": 3600, "new": 60}}` |
//! | a pass | `{"deleted": [1], "skipped": [{"index": "t_1", "code": 22541}]}` |
//! | reads | `{"found": [1]}`, `{"indexes": [{"name": "t_1", "expireAfterSeconds": 10}]}` |
//! | a step of the monitor | `{"ticked": {"index": "test.c/t_1", "commit": [1], "ended": "round", "more": true}}`; in the place of `commit` also `sleep`, `stay`, `begin`, `skip`, `stage`, `abandon`, `interrupt` |
//! | a turn of it | `{"woke": {"visits": [{"index": "test.c/t_1", "batches": [[1, 2], [3]]}], "sub_passes": 1}}` |
//! | its counters | `{"counters": {"passes": 1, "deleted_documents": 3}}` |
//! | the oplog | `{"applied": {"entries": 3}}`, `{"entries": [{"term": 1, "kind": "apply_ops", "in": "test.c", "ids": [1, 2]}]}`, `{"events": [{"kind": "delete", "id": 1}]}` |
//!
//! A configuration is `{"version": "7.0.14"}`. Documents and values are
//! [Extended JSON](crate::notation::extjson).

mod deployment;
mod short;

use serde_json::{Map, Value as Json, json};
use ttlspec_model::mongodb::version::PROFILES;
use ttlspec_model::mongodb::{
    CollectionOptions, Config, Doc, Listed, MongoDb, Op, Reply, Skipped, Value, Version, Via,
};

use super::{Choice, Fault, Fields, Notation, count, extjson, integer, integer32, list, text};

const WORDS: [&str; 3] = ["pass", "find", "list_indexes"];
const TAGS: [&str; 8] = [
    "create_collection",
    "create_index",
    "arrive",
    "drop_index",
    "coll_mod",
    "insert",
    "replace",
    "remove",
];
impl Notation for MongoDb {
    const NAME: &'static str = "mongodb";

    fn versions() -> Vec<String> {
        PROFILES.iter().map(|profile| profile.from.to_string()).collect()
    }

    fn config_from(value: &Json) -> Result<Config, Fault> {
        let fields = Fields::of(value, "the configuration", &["version"])?;
        Ok(Config { version: fields.required("version", version)? })
    }

    fn config_to(config: &Config) -> Json {
        json!({ "version": config.version.to_string() })
    }

    fn op_from(value: &Json) -> Result<Op, Fault> {
        if value.get("do").is_some() {
            return deployment::at(value, MongoDb::op_from);
        }
        let words = [&WORDS[..], &deployment::WORDS].concat();
        let tags = [&TAGS[..], &deployment::TAGS].concat();
        match Choice::of(value, "operation", &words, &tags)? {
            Choice::Word("pass") => Ok(Op::Pass),
            Choice::Word("find") => Ok(Op::Find),
            Choice::Word(word) => Ok(deployment::word(word).unwrap_or(Op::ListIndexes)),
            Choice::Tag(tag, value) => op_with(tag, value).map_err(|fault| fault.under(tag)),
        }
    }

    fn op_to(op: &Op) -> Json {
        match op {
            Op::CreateCollection(options) => json!({ "create_collection": options_to(options) }),
            Op::CreateIndex(spec) => json!({ "create_index": extjson::document_to_json(spec) }),
            Op::Arrive { index, via, from } => json!({ "arrive": {
                "index": extjson::document_to_json(index),
                "via": via.name(),
                "from": from.to_string(),
            } }),
            Op::DropIndex(name) => json!({ "drop_index": name }),
            Op::CollMod(request) => json!({ "coll_mod": extjson::document_to_json(request) }),
            Op::Insert(document) => json!({ "insert": extjson::document_to_json(document) }),
            Op::Replace(document) => json!({ "replace": extjson::document_to_json(document) }),
            Op::Remove(id) => json!({ "remove": extjson::to_json(id) }),
            Op::Pass => json!("pass"),
            Op::Find => json!("find"),
            Op::ListIndexes => json!("list_indexes"),
            op => deployment::op_to(op).expect("it is a word of a deployment"),
        }
    }

    fn reply_from(value: &Json) -> Result<Reply, Fault> {
        // A pass is the one reply of two keys, so it is told apart first.
        if value.get("deleted").is_some() || value.get("skipped").is_some() {
            return passed(value);
        }
        let tags = ["error", "fatal", "matched", "modified", "deleted", "found", "indexes"];
        let tags = [&tags[..], &deployment::REPLIES].concat();
        match Choice::of(value, "reply", &["ok"], &tags)? {
            Choice::Word(_) => Ok(Reply::Ok),
            Choice::Tag(tag, value) => reply_with(tag, value).map_err(|fault| fault.under(tag)),
        }
    }

    fn reply_to(reply: &Reply) -> Json {
        match reply {
            Reply::Ok => json!("ok"),
            Reply::Error(code) => json!({ "error": code }),
            Reply::Fatal(code) => json!({ "fatal": code }),
            Reply::Matched(count) => json!({ "matched": count }),
            Reply::Modified { old, new } => {
                let fields = [("old", old), ("new", new)];
                let there = fields.iter().filter_map(|(name, value)| Some((*name, (**value)?)));
                json!({ "modified": table(there) })
            }
            Reply::Passed { deleted, skipped } if skipped.is_empty() => {
                json!({ "deleted": ids_to(deleted) })
            }
            Reply::Passed { deleted, skipped } => {
                let one =
                    |Skipped { index, code }: &Skipped| json!({ "index": index, "code": code });
                let skipped: Vec<Json> = skipped.iter().map(one).collect();
                json!({ "deleted": ids_to(deleted), "skipped": skipped })
            }
            Reply::Found(ids) => json!({ "found": ids_to(ids) }),
            Reply::Indexes(indexes) => {
                json!({ "indexes": indexes.iter().map(listed_to).collect::<Vec<_>>() })
            }
            reply => deployment::reply_to(reply).expect("it is a reply of a deployment"),
        }
    }

    fn short(op: &Op) -> String {
        short::op(op)
    }

    fn short_reply(reply: &Reply) -> String {
        short::reply(reply)
    }
}

// ---- operations --------------------------------------------------------------------------------

fn op_with(tag: &str, value: &Json) -> Result<Op, Fault> {
    if let Some(op) = deployment::op(tag, value) {
        return op;
    }
    match tag {
        "create_collection" => options(value).map(Op::CreateCollection),
        "create_index" => doc(value).map(Op::CreateIndex),
        "arrive" => arrive(value),
        "drop_index" => Ok(Op::DropIndex(text(value)?.to_owned())),
        "coll_mod" => doc(value).map(Op::CollMod),
        "insert" => doc_with_id(value).map(Op::Insert),
        "replace" => doc_with_id(value).map(Op::Replace),
        _ => id(value).map(Op::Remove),
    }
}

fn doc(value: &Json) -> Result<Doc, Fault> {
    extjson::document_from_json(value).map(Doc)
}

fn doc_with_id(value: &Json) -> Result<Doc, Fault> {
    let document = doc(value)?;
    if document.contains_key("_id") {
        Ok(document)
    } else {
        Err(Fault::new("expected a document with `_id`, found none: a script names its documents"))
    }
}

fn id(value: &Json) -> Result<Value, Fault> {
    extjson::from_json(value).map(Value)
}

fn version(value: &Json) -> Result<Version, Fault> {
    let bad = || Fault::expected("a server version such as `7.0.14`", value);
    let text = text(value).map_err(|_| bad())?;
    // Stricter than `Version::parse`, which drops what a script should not say.
    let numbers = text.split('.');
    let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if numbers.clone().count() > 3 || !numbers.clone().all(plain) {
        return Err(bad());
    }
    Version::parse(text).map(|(version, _)| version).map_err(|_| bad())
}

fn options(value: &Json) -> Result<CollectionOptions, Fault> {
    let words = ["plain", "capped", "view"];
    let options = ["expireAfterSeconds", "clusteredIndex", "timeseries", "capped", "size", "max"];
    if let Json::Object(fields) = value
        && (fields.len() != 1 || !fields.contains_key("expireAfterSeconds"))
        && fields.keys().any(|field| options.contains(&field.as_str()))
    {
        return doc(value).map(CollectionOptions::With);
    }
    match Choice::of(value, "kind of collection", &words, &options)? {
        Choice::Word("plain") => Ok(CollectionOptions::Plain),
        Choice::Word("capped") => Ok(CollectionOptions::Capped),
        Choice::Word(_) => Ok(CollectionOptions::View),
        Choice::Tag(tag, seconds) => {
            let seconds = id(seconds).map_err(|fault| fault.under(tag))?;
            Ok(CollectionOptions::WithSeconds(seconds))
        }
    }
}

fn options_to(options: &CollectionOptions) -> Json {
    match options {
        CollectionOptions::Plain => json!("plain"),
        CollectionOptions::Capped => json!("capped"),
        CollectionOptions::View => json!("view"),
        CollectionOptions::WithSeconds(seconds) => {
            json!({ "expireAfterSeconds": extjson::to_json(seconds) })
        }
        CollectionOptions::With(options) => extjson::document_to_json(options),
    }
}

fn arrive(value: &Json) -> Result<Op, Fault> {
    let fields = Fields::of(value, "`arrive`", &["index", "via", "from"])?;
    let via = |value| {
        let names = Via::ALL.map(Via::name);
        let Choice::Word(found) = Choice::of(value, "way", &names, &[])? else {
            return Err(Fault::expected(&super::one_of(&names), value));
        };
        let way = Via::ALL.into_iter().find(|via| via.name() == found);
        way.ok_or_else(|| Fault::expected(&super::one_of(&names), value))
    };
    Ok(Op::Arrive {
        index: fields.required("index", doc)?,
        via: fields.required("via", via)?,
        from: fields.required("from", version)?,
    })
}

// ---- replies -----------------------------------------------------------------------------------

fn reply_with(tag: &str, value: &Json) -> Result<Reply, Fault> {
    if let Some(reply) = deployment::reply(tag, value) {
        return reply;
    }
    match tag {
        "error" => integer32(value).map(Reply::Error),
        "fatal" => integer32(value).map(Reply::Fatal),
        "matched" => count(value).map(Reply::Matched),
        "modified" => {
            let fields = Fields::of(value, "`modified`", &["old", "new"])?;
            let (old, new) = (fields.optional("old", integer)?, fields.optional("new", integer)?);
            Ok(Reply::Modified { old, new })
        }
        "found" => list(value, id).map(Reply::Found),
        _ => list(value, listed).map(Reply::Indexes),
    }
}

fn passed(value: &Json) -> Result<Reply, Fault> {
    let fields = Fields::of(value, "what a pass did", &["deleted", "skipped"])?;
    let skipped = |value| {
        let fields = Fields::of(value, "a skipped index", &["index", "code"])?;
        let index = fields.required("index", text)?.to_owned();
        Ok(Skipped { index, code: fields.required("code", integer32)? })
    };
    let deleted = fields.required("deleted", |value| list(value, id))?;
    let skipped = fields.optional("skipped", |value| list(value, skipped))?;
    Ok(Reply::Passed { deleted, skipped: skipped.unwrap_or_default() })
}

fn ids_to(ids: &[Value]) -> Vec<Json> {
    ids.iter().map(|id| extjson::to_json(id)).collect()
}

fn listed(value: &Json) -> Result<Listed, Fault> {
    let fields = Fields::of(value, "an index", &["name", "expireAfterSeconds"])?;
    let name = fields.required("name", text)?.to_owned();
    Ok(Listed { name, seconds: fields.optional("expireAfterSeconds", id)? })
}

fn listed_to(listed: &Listed) -> Json {
    let mut fields = table([("name", listed.name.as_str())]);
    if let Some(seconds) = &listed.seconds {
        fields.insert("expireAfterSeconds".to_owned(), extjson::to_json(seconds));
    }
    Json::Object(fields)
}

fn table<T: Into<Json>>(fields: impl IntoIterator<Item = (&'static str, T)>) -> Map<String, Json> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

#[cfg(test)]
mod tests;
