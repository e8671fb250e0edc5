//! Mutants of `mongodb.bucket.*`.

use bson::{Bson, DateTime, Document, doc};
use ttlspec_model::mongodb::bucket::{self, Series};
use ttlspec_model::mongodb::index::{FILTER, Kind, SECONDS};
use ttlspec_model::mongodb::visibility::Collection;
use ttlspec_model::mongodb::{Doc, Op, Reply, Value, Version, code};
use ttlspec_model::{Millis, Rule};

use super::clustered::{made_with, options};
use super::replication::{said, told};
use super::server::{Server, with, without};
use super::{Mistake, creates, modifies, passes, step};

pub(super) const MUTANTS: &[Mistake] = &[
    step(Rule::MongodbBucketAlone, "a time-series collection may be capped", |server, now, op| {
        made_with(server, now, op, |_, options| {
            if options.contains_key("timeseries") && !options.contains_key("clusteredIndex") {
                without(&without(&options, "capped"), "size")
            } else {
                options
            }
        })
    }),
    step(
        Rule::MongodbBucketFields,
        "the meta field may be a part of another",
        |server, now, op| {
            made_series(server, now, op, |series| match series.get_str("metaField") {
                Ok(meta) if meta.contains('.') => with(&series, "metaField", "m"),
                _ => series,
            })
        },
    ),
    step(
        Rule::MongodbBucketGranularity,
        "a granularity that nobody knows is that of seconds",
        |server, now, op| {
            made_series(server, now, op, |series| match series.get_str("granularity") {
                Ok("seconds" | "minutes" | "hours") | Err(_) => series,
                Ok(_) => with(&series, "granularity", "seconds"),
            })
        },
    ),
    step(
        Rule::MongodbBucketGranularity,
        "buckets of minutes span an hour, too",
        |server, now, op| {
            let reply = server.right(now, op);
            if options(op).is_some() && reply == Reply::Ok {
                let series = server.collection().settings.series.as_mut();
                series.into_iter().for_each(|series| series.span_s = series.span_s.min(3_600));
            }
            reply
        },
    ),
    step(Rule::MongodbBucketCustom, "a span alone is the rounding as well", |server, now, op| {
        let is_free = server.version.bucket_span_is_free();
        made_series(server, now, op, |series| match series.get("bucketMaxSpanSeconds") {
            Some(span) if is_free && !series.contains_key("bucketRoundingSeconds") => {
                with(&series, "bucketRoundingSeconds", span.clone())
            }
            _ => series,
        })
    }),
    step(
        Rule::MongodbBucketMeasurement,
        "a measurement without a time is of now",
        |server, now, op| match (op, series(server)) {
            (Op::Insert(document), Some(series))
                if document.get_datetime(&series.time).is_err() =>
            {
                let date = DateTime::from_millis(now.0);
                server.right(now, &Op::Insert(Doc(with(document, &series.time, date))))
            }
            _ => server.right(now, op),
        },
    ),
    step(
        Rule::MongodbBucketOpens,
        "a bucket begins with its first measurement",
        |server, now, op| inserted(server, now, op, |series| series.rounding_s = 1),
    ),
    step(
        Rule::MongodbBucketOpens,
        "before 1970 a beginning is rounded towards it",
        |server, now, op| {
            if !matches!(op, Op::Insert(_)) || series(server).is_none() {
                return server.right(now, op);
            }
            let older = Version::new(8, 0, 4);
            server.as_version(server.version.min(older), now, op)
        },
    ),
    step(
        Rule::MongodbBucketJoins,
        "a bucket takes what is a whole span later",
        |server, now, op| inserted(server, now, op, |series| series.span_s += 1),
    ),
    step(
        Rule::MongodbBucketJoins,
        "the beginning of a bucket is read from 32 bits",
        |server, now, op| {
            let (Op::Insert(document), Some(series)) = (op, series(server)) else {
                return server.right(now, op);
            };
            let Ok(time) = document.get_datetime(&series.time).copied() else {
                return server.right(now, op);
            };
            let around = time.timestamp_millis().checked_sub((1 << 32) * 1_000);
            let around = around.filter(|around| is_covered(server, *around));
            let Some(around) = around else { return server.right(now, op) };
            let date = DateTime::from_millis(around);
            let there = with(document, &series.time, date);
            let reply = server.right(now, &Op::Insert(Doc(there.clone())));
            for bucket in server.collection().documents.values_mut() {
                let Ok(data) = bucket.0.get_array_mut("data") else { continue };
                let found = data.iter_mut().find(|one| **one == Bson::Document(there.clone()));
                if let Some(one) = found {
                    *one = document.0.clone().into();
                    set_control(&mut bucket.0, "max", time);
                }
            }
            reply
        },
    )
    .seen("SERVER-66727", "a bucket could begin in 1969 and take measurements of 2105"),
    step(Rule::MongodbBucketMeta, "all measurements share their buckets", |server, now, op| {
        inserted(server, now, op, |series| series.meta = None)
    }),
    step(Rule::MongodbBucketFind, "find shows buckets", |server, now, op| {
        match (op, server.state.collection()) {
            (Op::Find, Some(there)) if there.kind == Kind::TimeSeries => {
                let ids = there.documents.values().map(|bucket| Value(bucket["_id"].clone()));
                Reply::Found(ids.collect())
            }
            _ => server.right(now, op),
        }
    }),
    step(
        Rule::MongodbBucketReplace,
        "a measurement that is not there is replaced by nothing",
        |server, now, op| match (op, server.right(now, op)) {
            (Op::Replace(_), Reply::Error(code::INVALID_OPTIONS)) => Reply::Matched(0),
            (_, right) => right,
        },
    ),
    step(
        Rule::MongodbBucketRemove,
        "a delete moves the beginning of a bucket to what is left",
        |server, now, op| {
            let reply = server.right(now, op);
            let (Op::Remove(_), Some(series)) = (op, series(server)) else { return reply };
            for bucket in server.collection().documents.values_mut() {
                let data = bucket.get_array("data").cloned().unwrap_or_default();
                let times = data
                    .iter()
                    .filter_map(|one| one.as_document()?.get_datetime(&series.time).ok().copied());
                if let Some(first) = times.min() {
                    set_control(&mut bucket.0, "min", first);
                }
            }
            reply
        },
    )
    .seen("SERVER-99527", "what came into the bucket later was deleted too early"),
    step(
        Rule::MongodbBucketRemove,
        "measurements are deleted in every version",
        |server, now, op| match op {
            Op::Remove(_) if series(server).is_some() => {
                server.as_version(Version::new(8, 1, 0), now, op)
            }
            op => server.right(now, op),
        },
    ),
    passes(Rule::MongodbBucketDeleted, "a pass lists measurements", |server, now| {
        let Some(before) = server.state.collection().cloned() else {
            return server.right(now, &Op::Pass);
        };
        match server.right(now, &Op::Pass) {
            Reply::Passed { deleted, skipped } if before.kind == Kind::TimeSeries => {
                let is_gone = |bucket: &&Doc| deleted.contains(&Value(bucket["_id"].clone()));
                let gone = before.documents.values().filter(is_gone);
                let data =
                    gone.flat_map(|bucket| bucket.get_array("data").cloned().unwrap_or_default());
                let ids = data.filter_map(|one| one.as_document()?.get("_id").cloned().map(Value));
                Reply::Passed { deleted: ids.collect(), skipped }
            }
            right => right,
        }
    }),
    passes(Rule::MongodbBucketExpired, "a bucket lives a second longer", |server, now| {
        let now = if series(server).is_some() { now.minus_millis(1_000) } else { now };
        server.right(now, &Op::Pass)
    }),
    passes(
        Rule::MongodbBucketBefore,
        "a bucket expires with its first measurement",
        |server, now| {
            server.pass_seeing(now, |_, there| {
                there.settings.series.iter_mut().for_each(|series| series.span_s = 0);
            })
        },
    ),
    passes(Rule::MongodbBucketFrom2017, "a scan of buckets has no beginning", |server, now| {
        let is_plain = series(server).is_some() && !is_extended(server);
        let older = Version::new(5, 1, 0);
        let version = if is_plain { older } else { server.version };
        server.as_version(version, now, &Op::Pass)
    }),
    passes(
        Rule::MongodbBucketThresholdCut,
        "a threshold before 1970 deletes nothing",
        |server, now| {
            server.pass_seeing(now, |_, there| {
                let span_ms = there.settings.series.as_ref().map_or(0, Series::span_ms);
                let own_ms = there.settings.seconds.map_or(0, |own| own.saturating_mul(1_000));
                let threshold = now.minus_millis(own_ms.saturating_add(span_ms));
                if there.kind == Kind::TimeSeries && threshold < Millis(0) {
                    there.settings.seconds = None;
                }
            })
        },
    ),
    passes(Rule::MongodbBucketCut, "the time of a bucket is whole", |server, now| {
        server.pass_sparing(now, |_, there, bucket| {
            let id = bucket.get_document("_id").ok()?;
            let min = id.get_datetime("min").ok()?.timestamp_millis();
            let is_late = there.kind == Kind::TimeSeries && min > now.0;
            is_late.then(|| bucket.clone())
        })
    }),
    passes(
        Rule::MongodbBucketOff,
        "dates that an _id cannot hold are scanned like others",
        |server, now| server.pass_seeing(now, |_, there| there.is_extended = false),
    )
    .seen("SERVER-79864", "dates out of range were cut to 32 bits, and some deleted for it"),
    step(
        Rule::MongodbBucketLooksAgain,
        "a process that starts looks at every bucket",
        |server, now, op| {
            let member = told(&server.state, op);
            let reply = server.right(now, op);
            if let (Op::Restart { .. }, Some(there)) =
                (said(op), server.state.members.get_mut(member))
            {
                there.collections.iter_mut().for_each(|(_, there)| bucket::received(there));
            }
            reply
        },
    ),
    passes(
        Rule::MongodbBucketTwoScans,
        "one date out of range switches deletion off",
        |server, now| {
            let is_extended = is_extended(server);
            let older = Version::new(8, 0, 4);
            server.as_version(if is_extended { older } else { server.version }, now, &Op::Pass)
        },
    )
    .seen("SERVER-97368", "nothing of the collection was deleted any more, and nothing said so"),
    passes(Rule::MongodbBucketTwoScans, "the second scan is left out", |server, now| {
        server.pass_sparing(now, |_, _, bucket| {
            let id = bucket.get_document("_id").ok()?;
            let min = id.get_datetime("min").ok()?.timestamp_millis();
            (min < 0).then(|| bucket.clone())
        })
    }),
    creates(
        Rule::MongodbBucketIndex,
        "a time-series collection has a TTL index in every version",
        |server, now, spec| {
            let later = Version::new(7, 0, 14);
            let version = if series(server).is_some() { later } else { server.version };
            server.as_version(version, now, &Op::CreateIndex(Doc(spec.clone())))
        },
    ),
    creates(
        Rule::MongodbBucketIndexFilter,
        "a TTL index over buckets needs no filter",
        |server, now, spec| {
            if series(server).is_none() || spec.contains_key(FILTER) || !spec.contains_key(SECONDS)
            {
                return server.create(now, spec.clone());
            }
            server.create_as(now, spec, with(spec, FILTER, doc! {}))
        },
    ),
    creates(
        Rule::MongodbBucketIndexKey,
        "a TTL index over buckets is over any field",
        |server, now, spec| match (series(server), spec.get_document("key")) {
            (Some(series), Ok(key)) if key.len() == 1 && spec.contains_key(SECONDS) => {
                server.create_as(now, spec, with(spec, "key", doc! { series.time: 1 }))
            }
            _ => server.create(now, spec.clone()),
        },
    ),
    creates(
        Rule::MongodbBucketIndexOptions,
        "an index over buckets may be unique",
        |server, now, spec| match series(server) {
            Some(_) => server.create(now, without(spec, "unique")),
            None => server.create(now, spec.clone()),
        },
    ),
    passes(
        Rule::MongodbBucketIndexExpired,
        "an index over buckets forgets their span",
        |server, now| {
            server.pass_seeing(now, |_, there| {
                let own = there.settings.seconds;
                there.settings.series.iter_mut().filter(|_| own.is_none()).for_each(|series| {
                    series.span_s = 0;
                });
            })
        },
    ),
    modifies(
        Rule::MongodbBucketIndexModify,
        "the seconds of an index over buckets are changed like others",
        |server, now, command| {
            let was = server.state.collection().map(|there| there.kind);
            let command = Op::CollMod(Doc(command.clone()));
            server.right_seeing(
                now,
                &command,
                |there| {
                    if there.kind == Kind::TimeSeries {
                        there.kind = Kind::Clustered;
                    }
                },
                |there| there.kind = was.unwrap_or(there.kind),
            )
        },
    ),
    modifies(
        Rule::MongodbBucketOnly,
        "a granularity is ignored where there are no buckets",
        |server, now, command| match series(server) {
            Some(_) => server.modify(now, command.clone()),
            None => server.modify(now, without(command, "timeseries")),
        },
    ),
    modifies(
        Rule::MongodbBucketCoarser,
        "a granularity may become finer",
        |server, now, command| {
            let before = series(server);
            let there = server.state.collection_mut();
            if let Some(series) = there.and_then(|there| there.settings.series.as_mut()) {
                (series.span_s, series.rounding_s) = (1, 1);
            }
            let reply = server.modify(now, command.clone());
            let is_changed = command.contains_key("timeseries")
                && matches!(reply, Reply::Modified { .. })
                && series(server).is_some_and(|series| series.span_s > 1);
            if let (Some(before), false) = (before, is_changed) {
                server.collection().settings.series = Some(before);
            }
            reply
        },
    ),
    modifies(
        Rule::MongodbBucketCoarser,
        "another granularity keeps the span of before",
        |server, now, command| {
            let before = series(server);
            let reply = server.modify(now, command.clone());
            if let Some(before) = before {
                let series = server.collection().settings.series.as_mut();
                series.into_iter().for_each(|series| series.span_s = before.span_s);
            }
            reply
        },
    ),
];

/// How measurements are kept, if they are.
fn series(server: &Server) -> Option<Series> {
    server.state.collection().and_then(|there| there.settings.series.clone())
}

fn is_extended(server: &Server) -> bool {
    server.state.collection().is_some_and(|there| there.is_extended)
}

/// A right step, but that `create` is given another `timeseries`.
fn made_series(
    server: &mut Server,
    now: Millis,
    op: &Op,
    change: impl Fn(Document) -> Document,
) -> Reply {
    made_with(server, now, op, |_, options| match options.get_document("timeseries") {
        Ok(series) => with(&options, "timeseries", change(series.clone())),
        Err(_) => options,
    })
}

/// A right step, but that a measurement is put in as if it were kept otherwise.
fn inserted(server: &mut Server, now: Millis, op: &Op, change: fn(&mut Series)) -> Reply {
    let before = series(server);
    if !matches!(op, Op::Insert(_)) || before.is_none() {
        return server.right(now, op);
    }
    server.right_seeing(
        now,
        op,
        |there: &mut Collection| there.settings.series.iter_mut().for_each(change),
        |there: &mut Collection| there.settings.series.clone_from(&before),
    )
}

/// Is there a bucket that would take a measurement of this time?
fn is_covered(server: &Server, time_ms: i64) -> bool {
    let span_ms = series(server).map_or(0, |series| series.span_ms());
    let begins = |bucket: &Doc| {
        let control = bucket.get_document("control").ok()?;
        control.get_datetime("min").ok().map(|min| min.timestamp_millis())
    };
    let mut buckets =
        server.state.collection().into_iter().flat_map(|there| there.documents.values());
    buckets.any(|bucket| {
        begins(bucket).is_some_and(|min| min <= time_ms && time_ms < min.saturating_add(span_ms))
    })
}

fn set_control(bucket: &mut Document, end: &str, date: DateTime) {
    if let Ok(control) = bucket.get_document_mut("control") {
        control.insert(end, date);
    }
}
