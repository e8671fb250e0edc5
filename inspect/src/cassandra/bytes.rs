//! What comes of these bytes, all in memory?

use std::io::{BufReader, Cursor};

use super::{expired_blockers, sstabledump, sstablemetadata};
use crate::fault::Fault;
use crate::source::Source;

/// Reads a dump twice, at once and a few bytes at a time, and asks it everything.
///
/// # Errors
/// The [`Fault`] that both come to.
///
/// # Panics
/// Where the two differ, which is a mistake in the reader.
pub fn sstabledump_parse_bytes(bytes: &[u8]) -> Result<String, Fault> {
    let at_once = sstabledump::parse("dump", bytes);
    let file = "dump".to_owned();
    let few = BufReader::with_capacity(1 + bytes.len() % 7, Cursor::new(bytes.to_vec()));
    let in_pieces = sstabledump::read(Source { file, is_gzip: false, reader: Box::new(few) });
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    assert!(is_gzip || at_once == in_pieces, "{at_once:?} is not {in_pieces:?}");
    let dump = at_once?;
    let mut out = format!("{:?}", dump.notes);
    for partition in &dump.partitions {
        out.push_str(&partition.key_text());
        for row in &partition.rows {
            match row {
                sstabledump::Unfiltered::Static(row) | sstabledump::Unfiltered::Row(row) => {
                    out.push_str(&row.clustering.plain().concat());
                    for cell in &row.cells {
                        out.push_str(&format!("{:?}", row.likely_expiry(cell)));
                        if let sstabledump::Content::Value(value, _) = &cell.content {
                            out.push_str(&value.plain());
                        }
                    }
                }
                sstabledump::Unfiltered::Bound(bound) => {
                    out.push_str(&bound.prefix.plain().concat());
                }
                sstabledump::Unfiltered::Boundary(both) => {
                    out.push_str(&both.start.prefix.plain().concat());
                }
            }
        }
    }
    Ok(out)
}

/// Reads what sstablemetadata, or sstableexpiredblockers, prints, and asks it everything.
///
/// # Errors
/// The [`Fault`] that it comes to.
pub fn sstablemetadata_parse_bytes(bytes: &[u8]) -> Result<String, Fault> {
    if let Ok(blockers) = expired_blockers::parse("blockers", bytes) {
        return Ok(format!("{blockers:?}"));
    }
    let all = sstablemetadata::parse("metadata", bytes)?;
    let about = all.iter().map(|metadata| {
        let asked = (metadata.version(), metadata.format(), metadata.missing());
        format!("{metadata:?} {asked:?} {:?}", metadata.gc_grace_seconds_of_tool())
    });
    Ok(about.collect())
}
