//! How large is an entry of the oplog, and how far behind is a secondary?

use bson::{Bson, DateTime, Document, Timestamp, doc, oid::ObjectId};

/// How many bytes the entries for deletions have: those of one, and of several in one entry.
///
/// They are counted by building them, with the fields that every entry has: `op`, `ns`, `ui`, `o`,
/// `ts`, `t`, `v`, `wall`; `_id` is an ObjectId. Servers add a few more to some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    single: u64,
    outer: u64,
    inner: u64,
    insert_beside_document: u64,
    command: u64,
}

fn frame() -> Document {
    doc! {
        "ts": Timestamp { time: 0, increment: 0 },
        "t": 0_i64,
        "v": 2_i64,
        "wall": DateTime::from_millis(0),
    }
}

fn length(document: &Document) -> u64 {
    document.to_vec().map_or(0, |bytes| bytes.len() as u64)
}

impl Sizes {
    /// Those of a collection.
    pub fn of(collection: &str) -> Sizes {
        let uuid = || {
            let (bytes, subtype) = (vec![0; 16], bson::spec::BinarySubtype::Uuid);
            Bson::Binary(bson::Binary { bytes, subtype })
        };
        let id = || doc! { "_id": ObjectId::from_bytes([0; 12]) };
        let delete = doc! { "op": "d", "ns": collection, "ui": uuid(), "o": id() };
        let with_frame = |mut entry: Document| {
            entry.extend(frame());
            length(&entry)
        };
        let ops: Vec<Bson> = Vec::new();
        let group = doc! { "op": "c", "ns": "admin.$cmd", "o": { "applyOps": ops } };
        let insert = doc! { "op": "i", "ns": collection, "ui": uuid(), "o": {} };
        let drop = doc! { "op": "c", "ns": collection, "ui": uuid(), "o": { "drop": collection } };
        Sizes {
            single: with_frame(delete.clone()),
            outer: with_frame(group),
            inner: length(&delete),
            // The empty document that stands in it has five bytes.
            insert_beside_document: with_frame(insert) - 5,
            command: with_frame(drop),
        }
    }

    /// Entries that each delete so many documents.
    pub fn deletes(&self, entries: u64, documents: u64) -> u128 {
        let one = match documents {
            0 | 1 => self.single * documents,
            // An element of a list is a type, its place in digits, and a 0.
            _ => {
                let digits: u64 =
                    (1..=6).map(|digits| documents.saturating_sub(10_u64.pow(digits))).sum::<u64>()
                        + documents;
                self.outer + documents * (self.inner + 2) + digits
            }
        };
        u128::from(entries) * u128::from(one)
    }

    /// Entries for documents that come.
    pub fn inserts(&self, documents: u64, bytes: u32) -> u128 {
        u128::from(documents) * u128::from(self.insert_beside_document + u64::from(bytes))
    }

    /// Entries for parts that are dropped.
    pub fn drops(&self, parts: u64) -> u128 {
        u128::from(parts) * u128::from(self.command)
    }
}

/// What a secondary has still to apply.
#[derive(Clone, Debug)]
pub struct Lag {
    per_second: u64,
    /// In millionths of an operation.
    waiting: u128,
    at_ms: i64,
    peak: (i64, i64),
    peak_since: i64,
}

const MILLION: u128 = 1_000_000;

impl Lag {
    /// Nothing is waiting yet.
    pub fn new(per_second: u64, at_ms: i64) -> Lag {
        Lag { per_second, waiting: 0, at_ms, peak: (0, at_ms), peak_since: 0 }
    }

    /// So many operations come, spread evenly from the last instant to this one.
    pub fn go_on(&mut self, to_ms: i64, operations: u64) {
        let span = (to_ms - self.at_ms).max(0) as u128;
        let applied = span * u128::from(self.per_second) * 1_000;
        let waiting = self.waiting + u128::from(operations) * MILLION;
        self.waiting = waiting.saturating_sub(applied);
        self.at_ms = self.at_ms.max(to_ms);
        let lag_ms = self.lag_ms();
        self.peak_since = self.peak_since.max(lag_ms);
        if lag_ms > self.peak.0 {
            self.peak = (lag_ms, self.at_ms);
        }
    }

    /// How long it would take to apply all that is waiting.
    pub fn lag_ms(&self) -> i64 {
        i64::try_from(self.waiting / (u128::from(self.per_second) * 1_000)).unwrap_or(i64::MAX)
    }

    /// The longest, and when it was.
    pub fn peak(&self) -> (i64, i64) {
        self.peak
    }

    /// The longest since this was last asked.
    pub fn peak_since(&mut self) -> i64 {
        let now_ms = self.lag_ms();
        std::mem::replace(&mut self.peak_since, now_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_entries_themselves() {
        let sizes = Sizes::of("app.sessions");
        for documents in [2_u64, 10, 11, 100, 1_001] {
            let uuid =
                bson::Binary { bytes: vec![0; 16], subtype: bson::spec::BinarySubtype::Uuid };
            let delete = doc! {
                "op": "d", "ns": "app.sessions", "ui": uuid,
                "o": { "_id": ObjectId::from_bytes([0; 12]) },
            };
            let ops = vec![Bson::Document(delete); documents as usize];
            let mut entry = doc! { "op": "c", "ns": "admin.$cmd", "o": { "applyOps": ops } };
            entry.extend(frame());

            assert_eq!(sizes.deletes(1, documents), u128::from(length(&entry)), "{documents}");
        }
        assert!(sizes.deletes(1, 10) < 10 * sizes.deletes(1, 1));
    }

    #[test]
    fn a_secondary_falls_behind_by_what_it_cannot_apply() {
        let mut lag = Lag::new(1_000, 0);

        lag.go_on(1_000, 3_000);
        assert_eq!(lag.lag_ms(), 2_000);
        lag.go_on(2_500, 0);
        assert_eq!(lag.lag_ms(), 500);
        lag.go_on(10_000, 7_000);

        assert_eq!((lag.lag_ms(), lag.peak()), (0, (2_000, 1_000)));
    }
}
