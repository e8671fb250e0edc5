//! What comes of these bytes, all in memory?

use ttlspec_model::Millis;
use ttlspec_model::mongodb::version::Version;
use ttlspec_model::mongodb::words::Via;

use crate::dump::{Data, Dump, Found};
use crate::fault::Fault;
use crate::metadata::{self, Metadata};
use crate::report::{Pick, Question, report};
use crate::rule_on::Standing;
use crate::{indexes, json};

/// Rules on a collection: its documents, as BSON or as text and packed or not, and its metadata.
/// Answers the report as JSON, so that nothing of it goes untried.
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
    let question = Question { standing, collection, indexes, next: 3, pick: Pick::Each };
    let namespace = "db.coll".to_owned();
    let data = Some(Data::Memory(bytes.into()));
    let found = Found { namespace, data, metadata: Some(metadata) };
    let report = report(Dump { collections: vec![found], ..Dump::default() }, question)?;
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = json::write(&report, &[], &mut out);
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
