//! How is a word of MongoDB shown to people, on one line?

use bson::{Bson, Document};
use serde_json::Value as Json;
use ttlspec_model::mongodb::{
    CollectionOptions, Listed, MongoDb, Op, Place, Reply, Skipped, Value,
};

use crate::notation::{Notation, extjson};
use crate::text::instant;

pub(super) fn op(op: &Op) -> String {
    match op {
        Op::CreateCollection(CollectionOptions::Plain) => "create_collection".to_owned(),
        Op::CreateCollection(CollectionOptions::Capped) => "create_collection capped".to_owned(),
        Op::CreateCollection(CollectionOptions::View) => "create_collection view".to_owned(),
        Op::CreateCollection(CollectionOptions::With(options)) => {
            format!("create_collection {}", document(options))
        }
        Op::CreateCollection(CollectionOptions::WithSeconds(seconds)) => {
            format!("create_collection {{ expireAfterSeconds: {} }}", value(seconds))
        }
        Op::CreateIndex(spec) => format!("create_index {}", document(spec)),
        Op::Arrive { index, via, from } => {
            format!("arrive {} {} from {from}", document(index), via.name())
        }
        Op::DropIndex(name) => format!("drop_index {name}"),
        Op::CollMod(request) => format!("coll_mod {}", document(request)),
        Op::Insert(inserted) => format!("insert {}", document(inserted)),
        Op::Replace(replacement) => format!("replace {}", document(replacement)),
        Op::Remove(id) => format!("remove {}", value(id)),
        Op::Pass => "pass".to_owned(),
        Op::Find => "find".to_owned(),
        Op::ListIndexes => "list_indexes".to_owned(),
        Op::At(place, inner) => format!("{}{}", self::op(inner), at(place)),
        other => written(&MongoDb::op_to(other)),
    }
}

pub(super) fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Ok => "ok".to_owned(),
        Reply::Error(code) => format!("error {code}"),
        Reply::Fatal(code) => format!("fatal {code}"),
        Reply::Matched(count) => format!("matched {count}"),
        Reply::Modified { old, new } => {
            let show = |value: &Option<i64>| value.map_or("absent".to_owned(), |v| v.to_string());
            format!("modified from {} to {}", show(old), show(new))
        }
        Reply::Passed { deleted, skipped } if skipped.is_empty() => {
            format!("deleted {}", ids(deleted))
        }
        Reply::Passed { deleted, skipped } => {
            let one = |Skipped { index, code }: &Skipped| format!("{index} ({code})");
            let skipped: Vec<String> = skipped.iter().map(one).collect();
            format!("deleted {}, skipped {}", ids(deleted), skipped.join(", "))
        }
        Reply::Found(found) => format!("found {}", ids(found)),
        Reply::Indexes(indexes) => {
            let one = |Listed { name, seconds }: &Listed| match seconds {
                None => name.clone(),
                Some(seconds) => format!("{name} (expireAfterSeconds {})", value(seconds)),
            };
            format!("indexes [{}]", indexes.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        other => written(&MongoDb::reply_to(other)),
    }
}

fn at(place: &Place) -> String {
    let member = place.member.map(|member| format!(", on member {member}"));
    let collection = place.collection.as_ref().map(|name| format!(", in {name}"));
    [member, collection].into_iter().flatten().collect()
}

/// What is written with one key: `apply 10`.
fn written(json: &Json) -> String {
    match json.as_object().and_then(|fields| fields.iter().next()) {
        Some((tag, Json::String(text))) => format!("{tag} {text}"),
        Some((tag, value)) => format!("{tag} {value}"),
        None => json.as_str().unwrap_or_default().to_owned(),
    }
}

fn ids(ids: &[Value]) -> String {
    format!("[{}]", ids.iter().map(|id| value(id)).collect::<Vec<_>>().join(", "))
}

fn document(document: &Document) -> String {
    if document.is_empty() {
        return "{}".to_owned();
    }
    let field = |(name, inner): (&String, &Bson)| {
        let plain = |c: char| c.is_alphanumeric() || "_$.-*".contains(c);
        if !name.is_empty() && name.chars().all(plain) {
            format!("{name}: {}", value(inner))
        } else {
            format!("{name:?}: {}", value(inner))
        }
    };
    format!("{{ {} }}", document.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn value(value: &Bson) -> String {
    match value {
        Bson::Double(number) if number.is_finite() => format!("{number:?}"),
        Bson::Double(number) => extjson::double_text(*number),
        Bson::Int64(number) => format!("{number}L"),
        Bson::Document(inner) => document(inner),
        Bson::Array(items) => {
            format!("[{}]", items.iter().map(self::value).collect::<Vec<_>>().join(", "))
        }
        Bson::DateTime(date) => match date.timestamp_millis() {
            // Near the start of time the milliseconds compare with the instants of the steps.
            millis if instant::is_toy(millis) => format!("date {millis}"),
            millis => instant::iso(millis).unwrap_or_else(|| format!("date {millis}")),
        },
        Bson::Undefined => "undefined".to_owned(),
        Bson::MinKey => "MinKey".to_owned(),
        Bson::MaxKey => "MaxKey".to_owned(),
        other => extjson::to_json(other).to_string(),
    }
}
