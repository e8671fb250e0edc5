//! How is it told to programs?

use serde_json::{Value, json};

use crate::ages::Ages;
use crate::outcome::Outcome;
use crate::script::Script;
use crate::show::{growth, meaning};

/// The outcome as data.
pub fn json(script: &Script, outcome: &Outcome) -> Value {
    let indexes = outcome.indexes.iter().enumerate().map(|(at, index)| {
        json!({
            "collection": index.collection,
            "index": index.index,
            "lifetime_ms": index.lifetime_ms,
            "deleted": index.deleted,
            "left": index.left,
            "not_due": index.not_due,
            "peak": index.peak,
            "growth_per_1000_s": growth(outcome, at) as i64,
            "late_ms": ages(&index.ages),
        })
    });
    let partitions = outcome.partitions.iter().map(|part| {
        json!({
            "collection": part.collection,
            "parts": part.parts,
            "documents": part.documents,
            "there": part.there,
            "late_ms": ages(&part.ages),
        })
    });
    let columns = outcome.columns.iter().map(|column| {
        json!({
            "from_ms": column.from_ms,
            "came": column.inserted,
            "deleted": column.deleted,
            "dropped": column.dropped,
            "passes": column.passes,
            "most_in_a_pass": column.most,
            "oplog_entries": column.entries,
            "oplog_bytes": large(column.bytes),
            "lag_ms": column.lag_ms,
            "backlog": column.backlog,
        })
    });
    let passes = outcome.listed.iter().map(|pass| {
        json!({
            "member": pass.member,
            "began_ms": pass.began_ms,
            "ended_ms": pass.ended_ms,
            "sub_passes": pass.sub_passes,
            "visits": pass.visits,
            "deleted": pass.deleted,
            "interrupted": pass.is_interrupted,
        })
    });
    let counters = outcome.counters.iter().map(|counted| {
        json!({
            "at_ms": counted.at_ms,
            "member": counted.member,
            "version": counted.version.to_string(),
            "passes": counted.counters.passes,
            "subPasses": counted.counters.sub_passes,
            "deletedDocuments": counted.counters.deleted_documents,
            "invalidTTLIndexSkips": counted.counters.invalid_skips,
        })
    });
    let totals = &outcome.passes;
    json!({
        "version": script.version.to_string(),
        "members": script.members,
        "from_ms": outcome.span_ms.0,
        "to_ms": outcome.span_ms.1,
        "were_there": outcome.there,
        "came": outcome.inserted,
        "refused": outcome.refused,
        "indexes": indexes.collect::<Vec<_>>(),
        "partitions": partitions.collect::<Vec<_>>(),
        "passes": {
            "many": totals.many,
            "sub_passes": totals.sub_passes,
            "visits": totals.visits,
            "deleted": totals.deleted,
            "most": totals.most,
            "longest_ms": totals.longest_ms,
            "going_on_since_ms": totals.going_on_since,
            "listed": passes.collect::<Vec<_>>(),
        },
        "counters": counters.collect::<Vec<_>>(),
        "oplog": outcome.oplog.map(|oplog| json!({
            "insert_entries": oplog.inserts,
            "delete_entries": oplog.deletes,
            "drop_entries": oplog.drops,
            "insert_bytes": oplog.insert_bytes.map(large),
            "delete_bytes": large(oplog.delete_bytes),
            "drop_bytes": large(oplog.drop_bytes),
        })),
        "lag": outcome.lag.map(|lag| json!({
            "per_second": lag.per_second,
            "peak_ms": lag.peak_ms,
            "at_ms": lag.at_ms,
            "end_ms": lag.end_ms,
        })),
        "marks": outcome.marks.iter().map(|(at_ms, what)| json!({ "at_ms": at_ms, "what": what }))
            .collect::<Vec<_>>(),
        "column_ms": outcome.column_ms,
        "columns": columns.collect::<Vec<_>>(),
        "meaning": meaning(outcome),
    })
}

fn ages(ages: &Ages) -> Value {
    let ends = ages.ends();
    json!({
        "least": ends.map(|ends| ends.0),
        "median": ages.percentile(50),
        "p99": ages.percentile(99),
        "most": ends.map(|ends| ends.1),
    })
}

/// A number that JSON readers can hold, or the largest of them.
fn large(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
