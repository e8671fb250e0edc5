//! What comes of these bytes, all in memory?

use bson::Bson;
use ttlspec_model::Millis;
use ttlspec_model::mongodb::version::Version;
use ttlspec_model::mongodb::words::Via;

use crate::diff::{self, Change};
use crate::dump::{Data, Dump, Found};
use crate::fault::Fault;
use crate::metadata::{self, Metadata};
use crate::report::{Pick, Question, report};
use crate::rule_on::Standing;
use crate::{indexes, json, show};

/// Rules on a collection: its documents, as BSON or as text and packed or not, and its metadata.
/// Answers the report, and the differences that a change makes, as JSON, so that nothing of it goes
/// untried.
///
/// # Errors
/// The [`Fault`] that leaves nothing to rule on.
pub fn dump_parse_bytes(bytes: &[u8], metadata: &[u8]) -> Result<String, Fault> {
    let metadata = match metadata::parse("metadata", metadata) {
        Ok(metadata) => metadata,
        Err(fault) => match indexes::listing("metadata", metadata) {
            Ok(indexes) => Metadata::plain(indexes),
            Err(_) => return Err(fault),
        },
    };
    let server = SERVERS[bytes.len() % SERVERS.len()];
    let ways = [Via::Created, Via::Upgraded, Via::Downgraded, Via::Synced, Via::Restored];
    let via = ways[bytes.first().map_or(0, |byte| *byte as usize) % ways.len()];
    let standing = Standing { server, from: Version::new(4, 4, 18), via, at: Millis(AT) };
    let (collection, indexes) = (None, None);
    let question =
        Question { standing, collection, indexes, next: 3, pick: Pick::Each, checks: true };
    let namespace = "db.coll".to_owned();
    let data = Some(Data::Memory(bytes.into()));
    let found = Found { namespace, data, metadata: Some(metadata) };
    let dump = Dump { collections: vec![found], ..Dump::default() };
    let report = report(dump.clone(), question)?;
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = json::write(&report, &[], &mut out);
    let seconds = [Bson::Double(f64::NAN), Bson::Int32(0), Bson::String("10".to_owned())];
    let change = match via {
        Via::Created => Change::Set(None, seconds[bytes.len() % seconds.len()].clone()),
        Via::Upgraded | Via::Downgraded => Change::Replaced,
        Via::Synced => Change::Synced(standing.from),
        Via::Restored => Change::Restored,
    };
    let question = diff::Question {
        change,
        from: standing.from,
        to: server,
        at: standing.at,
        until: standing.at.plus_millis(86_400_000),
        collection: None,
        indexes: None,
        examples: 2,
        is_standalone: bytes.len().is_multiple_of(2),
        between: vec![Version::new(5, 0, 95)],
    };
    // A collMod that fits no index is a fault like any other.
    if let Ok(diff) = diff::diff(dump, question) {
        let _ = diff::json::write(&diff, &[], &mut out);
        let _ = diff::show::write(&diff, &[], &mut out);
    }
    let _ = show::write(&report, &[], &mut out);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

const AT: i64 = 1_767_225_600_000;
const SERVERS: [Version; 6] = [
    Version::new(4, 0, 28),
    Version::new(4, 4, 18),
    Version::new(5, 0, 10),
    Version::new(6, 0, 5),
    Version::new(7, 0, 14),
    Version::new(8, 1, 0),
];
