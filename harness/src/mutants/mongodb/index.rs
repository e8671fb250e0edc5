//! Mutants of `mongodb.index.*`.

use bson::{Bson, Document, doc};
use ttlspec_model::mongodb::compare::{compare_documents, equal};
use ttlspec_model::mongodb::index::{
    FILTER, Kind, SECONDS, is_id_pattern, is_option, seconds_allowed,
};
use ttlspec_model::mongodb::number::{is_nan, is_number, is_true, safe_int, safe_long};
use ttlspec_model::mongodb::pass::Use;
use ttlspec_model::mongodb::version::CappedTtl;
use ttlspec_model::mongodb::{CollectionOptions, Op, Reply, Version, code};
use ttlspec_model::time::seconds_as_millis;
use ttlspec_model::{Millis, Rule};

use super::server::{Server, key, number, with, without};
use super::sweep::{RIGHT, Sweep, right_use};
use super::{Mistake, creates, step, sweeps};

pub(super) const MUTANTS: &[Mistake] = &[
    sweeps(
        Rule::MongodbIndexTtl,
        "0 seconds mean that nothing expires",
        Sweep {
            usable: |version, kind, index| match number(index.seconds()) {
                Some(seconds) if equal(seconds, &Bson::Int32(0)) => Use::Nothing,
                _ => right_use(version, kind, index),
            },
            ..RIGHT
        },
    ),
    sweeps(
        Rule::MongodbIndexPlain,
        "an index without seconds has 0 of them",
        Sweep {
            usable: |version, kind, index| match index.seconds() {
                None if index.path().is_some() => Use::Lifetime(0),
                _ => right_use(version, kind, index),
            },
            ..RIGHT
        },
    ),
    creates(
        Rule::MongodbIndexPlain,
        "a field of the key that is called expireAfterSeconds makes a TTL index",
        |server, now, spec| match key(spec).get(SECONDS) {
            Some(seconds) if !spec.contains_key(SECONDS) => {
                server.create(now, with(spec, SECONDS, seconds.clone()))
            }
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(Rule::MongodbIndexUnchecked, "4.0 checks as 4.2 does", |server, now, spec| {
        let four_two = Version::new(4, 2, 0);
        let seconds = spec.get(SECONDS).filter(|_| !server.version.creation_is_checked());
        let refusal =
            seconds.and_then(|given| seconds_allowed(four_two, &key(spec), given, now).verdict);
        server.create_unless(now, spec, refusal)
    }),
    creates(
        Rule::MongodbIndexNumeric,
        "seconds that are no number are let in",
        |server, now, spec| match spec.get(SECONDS) {
            Some(seconds) if !is_number(seconds) => server.create_unchecked(now, spec),
            _ => server.create(now, spec.clone()),
        },
    )
    .seen("SERVER-10075", "expireAfterSeconds was not validated before 4.2"),
    creates(Rule::MongodbIndexNumeric, "a string of digits is a number", |server, now, spec| {
        match spec.get_str(SECONDS).map(str::parse::<i64>) {
            Ok(Ok(seconds)) => server.create(now, with(spec, SECONDS, seconds)),
            _ => server.create(now, spec.clone()),
        }
    })
    .seen("mongomock 4.x", "strings of digits are accepted"),
    creates(Rule::MongodbIndexNegative, "negative seconds are let in", |server, now, spec| {
        match number(spec.get(SECONDS)).map(safe_long) {
            Some(seconds) if (i64::from(i32::MIN)..0).contains(&seconds) => {
                server.create_unchecked(now, spec)
            }
            _ => server.create(now, spec.clone()),
        }
    }),
    creates(
        Rule::MongodbIndexUntilNow,
        "the age of the epoch is no limit where it should be",
        |server, now, spec| match number(spec.get(SECONDS)).map(safe_long) {
            Some(0..) if server.version.creation_is_limited_to_now() => {
                server.create_unchecked(now, spec)
            }
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(
        Rule::MongodbIndexUntilNow,
        "the age of the epoch itself is too much",
        |server, now, spec| {
            let seconds = number(spec.get(SECONDS)).map(safe_long);
            let millis = seconds.and_then(seconds_as_millis);
            let is_limited = server.version.creation_is_limited_to_now();
            let refused = is_limited && millis == Some(now.0);
            server.create_unless(now, spec, refused.then_some(code::CANNOT_CREATE_INDEX))
        },
    ),
    creates(Rule::MongodbIndexInt32, "2147483647 is too much", |server, now, spec| {
        let seconds = number(spec.get(SECONDS)).map(safe_long);
        let is_limited = server.version.creation_is_limited_to_now();
        let refused = !is_limited && seconds == Some(i64::from(i32::MAX));
        server.create_unless(now, spec, refused.then_some(code::CANNOT_CREATE_INDEX))
    }),
    creates(Rule::MongodbIndexInt32, "seconds beyond 32 bits wrap around", |server, now, spec| {
        match number(spec.get(SECONDS)).map(safe_long) {
            Some(seconds)
                if server.version.creation_is_checked()
                    && !server.version.creation_is_limited_to_now()
                    && i64::from(seconds as i32) != seconds =>
            {
                server.create(now, with(spec, SECONDS, seconds as i32))
            }
            _ => server.create(now, spec.clone()),
        }
    }),
    creates(
        Rule::MongodbIndexStoredAsGiven,
        "fractions are cut off when an index is made, before 7.3",
        |server, now, spec| {
            let is_old = !server.version.seconds_are_stored_as_int32();
            server.create_then(now, spec, |stored| {
                let fits = |given: &&Bson| i64::from(safe_int(given)) == safe_long(given);
                let seconds =
                    number(stored.get(SECONDS)).filter(|given| !is_nan(given) && fits(given));
                if let Some(seconds) = seconds.filter(|_| is_old).cloned() {
                    stored.insert(SECONDS, safe_int(&seconds));
                }
            })
        },
    ),
    creates(
        Rule::MongodbIndexStoredAsInt32,
        "fractions are kept when an index is made, from 7.3 on",
        |server, now, spec| {
            let is_new = server.version.seconds_are_stored_as_int32();
            server.create_then(now, spec, |stored| {
                if let Some(seconds) = spec.get(SECONDS).filter(|_| is_new) {
                    stored.insert(SECONDS, seconds);
                }
            })
        },
    ),
    creates(
        Rule::MongodbIndexOption,
        "an option that nobody knows is left out",
        |server, now, spec| {
            let is_kept = |name: &str| name == "hidden" || is_option(server.version, name);
            let known = spec.clone().into_iter().filter(|(name, _)| is_kept(name));
            server.create(now, known.collect())
        },
    ),
    creates(
        Rule::MongodbIndexName,
        "a name is made up where there is none",
        |server, now, spec| match spec.get_str("name") {
            Ok("") => server.create_as(now, spec, with(spec, "name", "made_up")),
            _ if !spec.contains_key("name") => server.create(now, with(spec, "name", "made_up")),
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(
        Rule::MongodbIndexKeyValue,
        "whatever is no direction is taken for ascending",
        |server, now, spec| {
            let legal = |value: &Bson| match value {
                Bson::String(_) => value.clone(),
                value if is_number(value) && is_true(value) && !is_nan(value) => value.clone(),
                _ => Bson::Int32(1),
            };
            let pattern: Document =
                key(spec).iter().map(|(path, value)| (path.clone(), legal(value))).collect();
            match spec.get("key") {
                Some(Bson::Document(given)) if *given != pattern => {
                    server.create(now, with(spec, "key", pattern))
                }
                _ => server.create(now, spec.clone()),
            }
        },
    ),
    creates(
        Rule::MongodbIndexKeyPath,
        "nothing may be indexed by `_fts`, not even text",
        |server, now, spec| {
            let is_reserved = key(spec).contains_key("_fts");
            server.create_unless(now, spec, is_reserved.then_some(code::CANNOT_CREATE_INDEX))
        },
    ),
    creates(
        Rule::MongodbIndexKeyPath,
        "empty parts of a path, and such that begin with a dollar, are let in",
        |server, now, spec| {
            let pattern = key(spec);
            let is_bad = |part: &str| part.is_empty() || part.starts_with('$');
            let mut paths = pattern.keys().filter(|path| !path.ends_with("$**"));
            if !paths.any(|path| path.split('.').any(is_bad)) {
                return server.create(now, spec.clone());
            }
            let stand_in: Document = (pattern.values().enumerate())
                .map(|(at, value)| (format!("p{at}"), value.clone()))
                .collect();
            server.create_as(now, spec, with(spec, "key", stand_in))
        },
    ),
    creates(
        Rule::MongodbIndexId,
        "the index on _id takes expireAfterSeconds",
        |server, now, spec| {
            if is_id_pattern(&key(spec)) && spec.contains_key(SECONDS) {
                return server.create_as(now, spec, with(spec, "key", doc! { "_id": 2 }));
            }
            server.create(now, spec.clone())
        },
    ),
    creates(
        Rule::MongodbIndexId,
        "any index over _id alone is the one on _id",
        |server, now, spec| {
            if key(spec).keys().eq(["_id"]) {
                return server.create(now, with(spec, "key", doc! { "_id": 1 }));
            }
            server.create(now, spec.clone())
        },
    ),
    creates(Rule::MongodbIndexCompound, "a TTL index may be compound", |server, now, spec| {
        match key(spec).into_iter().next() {
            Some((path, value)) if key(spec).len() > 1 && spec.contains_key(SECONDS) => {
                server.create_as(now, spec, with(spec, "key", doc! { path: value }))
            }
            _ => server.create(now, spec.clone()),
        }
    })
    .seen("SERVER-10075", "compound TTL indexes were made before 4.2, and never deleted anything"),
    sweeps(
        Rule::MongodbIndexDirection,
        "a descending index is not swept",
        Sweep {
            usable: |version, kind, index| {
                let descends = |direction: &Bson| safe_long(direction) < 0;
                match right_use(version, kind, index) {
                    Use::Lifetime(_) if index.key().values().any(descends) => Use::Nothing,
                    right => right,
                }
            },
            ..RIGHT
        },
    ),
    creates(
        Rule::MongodbIndexSpecial,
        "a hashed or geographic TTL index is refused",
        |server, now, spec| {
            let is_special = key(spec).values().any(|value| matches!(value, Bson::String(_)));
            let refused = is_special && spec.contains_key(SECONDS);
            server.create_unless(now, spec, refused.then_some(code::CANNOT_CREATE_INDEX))
        },
    ),
    creates(
        Rule::MongodbIndexWildcard,
        "a wildcard index may be a TTL index",
        |server, now, spec| {
            let is_wildcard = key(spec).keys().any(|path| path.ends_with("$**"));
            if is_wildcard && spec.contains_key(SECONDS) {
                let stand_in = with(spec, "key", doc! { "everything": 1 });
                return server.create_as(now, spec, stand_in);
            }
            server.create(now, spec.clone())
        },
    ),
    creates(Rule::MongodbIndexSparse, "a sparse index may have a filter", |server, now, spec| {
        if spec.get("sparse").is_some_and(is_true) && spec.contains_key(FILTER) {
            return server.create_as(now, spec, without(spec, "sparse"));
        }
        server.create(now, spec.clone())
    }),
    step(
        Rule::MongodbIndexSparse,
        "a sparse index has a null where the field is missing",
        |server, now, op| {
            if !matches!(op, Op::Insert(_) | Op::Replace(_)) {
                return server.right(now, op);
            }
            let indexes = server.indexes().to_vec();
            server.right_seeing(
                now,
                op,
                |there| {
                    (there.indexes.iter_mut()).for_each(|one| drop(one.spec.0.remove("sparse")))
                },
                |there| there.indexes.clone_from(&indexes),
            )
        },
    ),
    creates(
        Rule::MongodbIndexUnique,
        "a TTL index is not unique, whatever it was asked to be",
        |server, now, spec| {
            server.create_then(now, spec, |stored| {
                if stored.contains_key(SECONDS) {
                    stored.remove("unique");
                }
            })
        },
    ),
    sweeps(
        Rule::MongodbIndexHidden,
        "a hidden index is not swept",
        Sweep {
            usable: |version, kind, index| match right_use(version, kind, index) {
                Use::Lifetime(_) if index.spec.get_bool("hidden").unwrap_or_default() => {
                    Use::Nothing
                }
                right => right,
            },
            ..RIGHT
        },
    ),
    step(Rule::MongodbIndexView, "a view takes indexes and documents", |server, now, op| {
        match server.right(now, op) {
            Reply::Error(code::NOT_SUPPORTED_ON_VIEW) => Reply::Ok,
            right => right,
        }
    }),
    sweeps(
        Rule::MongodbIndexCappedInert,
        "capped collections are swept before 7.1",
        Sweep { usable: |version, _, index| right_use(version, Kind::Plain, index), ..RIGHT },
    ),
    creates(
        Rule::MongodbIndexCappedRefused,
        "a capped collection may have a TTL index from 5.2 to 7.0",
        |server, now, spec| {
            if server.version.capped_ttl() == CappedTtl::Refused {
                return create_as_plain(server, now, spec);
            }
            server.create(now, spec.clone())
        },
    )
    .seen(
        "SERVER-61545",
        "up to 5.1 a capped collection could have TTL indexes, which did nothing",
    ),
    creates(
        Rule::MongodbIndexCappedWorks,
        "a capped collection may have no TTL index from 7.1 on",
        |server, now, spec| {
            let capped = server.state.collection().map(|there| there.kind) == Some(Kind::Capped);
            let works = server.version.capped_ttl() == CappedTtl::Works;
            let refused = capped && works && spec.contains_key(SECONDS);
            server.create_unless(now, spec, refused.then_some(code::CANNOT_CREATE_INDEX))
        },
    )
    .seen(
        "SERVER-77586",
        "from 5.2 on a capped collection could not have TTL indexes; 7.1 lets it",
    ),
    creates(
        Rule::MongodbIndexSame,
        "making the same index again conflicts",
        |server, now, spec| {
            let before = server.indexes().len();
            let reply = server.create(now, spec.clone());
            let is_there = server.indexes().len() == before && !is_id_pattern(&key(spec));
            if is_there && reply == Reply::Ok {
                return Reply::Error(code::INDEX_OPTIONS_CONFLICT);
            }
            reply
        },
    ),
    creates(
        Rule::MongodbIndexConflict,
        "createIndexes changes the seconds of an index that is there",
        |server, now, spec| {
            let reply = server.create(now, spec.clone());
            let name = spec.get_str("name").unwrap_or_default();
            let at = server.indexes().iter().position(|index| index.name() == name);
            match (at, spec.get(SECONDS)) {
                (Some(at), Some(seconds))
                    if reply == Reply::Error(code::INDEX_OPTIONS_CONFLICT) =>
                {
                    server.collection().indexes[at].spec.0.insert(SECONDS, seconds);
                    Reply::Ok
                }
                _ => reply,
            }
        },
    ),
    creates(
        Rule::MongodbIndexConflict,
        "an equal index of another name is there already",
        |server, now, spec| {
            let names: Vec<String> =
                server.indexes().iter().map(|index| index.name().to_owned()).collect();
            let is_there = names.iter().any(|name| {
                let renamed = with(spec, "name", name.as_str());
                server.would(now, &Op::CreateIndex(renamed.into())) == Reply::Ok
            });
            match server.create(now, spec.clone()) {
                Reply::Error(code::INDEX_OPTIONS_CONFLICT) if is_there => Reply::Ok,
                right => right,
            }
        },
    )
    .seen(
        "SERVER-33149",
        "before 4.2 an equal index of another name was a success that made nothing",
    ),
    creates(
        Rule::MongodbIndexSameName,
        "an index of the same name is replaced",
        |server, now, spec| match server.create(now, spec.clone()) {
            Reply::Error(code::INDEX_KEY_SPECS_CONFLICT) => {
                let name = spec.get_str("name").unwrap_or_default();
                server.collection().indexes.retain(|index| index.name() != name);
                server.create(now, spec.clone())
            }
            right => right,
        },
    ),
    creates(
        Rule::MongodbIndexSignature,
        "two filters over one key conflict from 5.0 on",
        |server, now, spec| {
            let refused = has_twin(server, spec, FILTER);
            server.create_unless(now, spec, refused.then_some(code::INDEX_OPTIONS_CONFLICT))
        },
    )
    .seen("SERVER-25023", "before 5.0 a key could not have two indexes with different filters"),
    creates(
        Rule::MongodbIndexSignature,
        "a sparse or unique twin conflicts from 5.0 on",
        |server, now, spec| {
            let refused = has_twin(server, spec, "sparse") || has_twin(server, spec, "unique");
            server.create_unless(now, spec, refused.then_some(code::INDEX_OPTIONS_CONFLICT))
        },
    )
    .seen("SERVER-47657", "before 5.0 a key could not have a sparse index beside one that is not"),
    step(
        Rule::MongodbIndexCollectionSeconds,
        "a collection is made with expireAfterSeconds, which does nothing",
        |server, now, op| match op {
            Op::CreateCollection(CollectionOptions::WithSeconds(_)) => {
                server.right(now, &Op::CreateCollection(CollectionOptions::Plain))
            }
            _ => server.right(now, op),
        },
    )
    .seen("pg_documentdb 0.106", "expireAfterSeconds of a collection is accepted and ignored"),
];

/// As createIndexes in a collection that is not capped.
fn create_as_plain(server: &mut Server, now: Millis, spec: &Document) -> Reply {
    let kind = server.state.collection().map(|there| there.kind);
    let plain = kind.map(|kind| if kind == Kind::Capped { Kind::Plain } else { kind });
    server.right_seeing(
        now,
        &Op::CreateIndex(spec.clone().into()),
        |there| there.kind = plain.unwrap_or(there.kind),
        |there| there.kind = kind.unwrap_or(there.kind),
    )
}

/// Is there an index over the same key that differs in this option?
fn has_twin(server: &Server, spec: &Document, option: &str) -> bool {
    server.version.signature_has_options()
        && server.indexes().iter().any(|index| {
            let same_key = compare_documents(&index.key(), &key(spec)).is_eq();
            same_key && index.spec.get(option) != spec.get(option)
        })
}
