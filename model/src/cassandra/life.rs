#![doc = include_str!("../../../specs/cassandra/0-life.md")]
//! ---
//! *Module:* what does a read mean?

use super::data::{Key, Partitions};
use super::expiry::Refused;
use super::words::{Config, CqlRow, Statement, Table};
use super::{row, select, write};
use crate::book::Book;

/// Everything that was ever written, as one: no memtable, no sstable, no purge.
///
/// This is what a read means. What a node does, with all that it has of machinery, comes to the
/// same rows, as long as nothing older than a purged deletion appears.
#[derive(Clone, Debug, Default)]
pub struct Denotation {
    partitions: Partitions,
}

impl Denotation {
    /// Takes in what statements write.
    ///
    /// # Errors
    /// [`Refused`] where one of them is; then nothing is written.
    pub fn write(
        &mut self,
        book: &Book,
        config: &Config,
        table: &Table,
        now_ms: i64,
        statements: &[Statement],
    ) -> Result<(), Refused> {
        for (key, update) in write::updates(book, config, table, now_ms, statements)? {
            row::apply(book, self.partitions.entry(key).or_default(), &update);
        }
        Ok(())
    }

    /// The rows that a SELECT of everything shows at an instant, in milliseconds.
    pub fn rows(&self, book: &Book, table: &Table, now_ms: i64) -> Vec<CqlRow> {
        let now = super::seconds(book, now_ms);
        let of = |(key, partition): (&Key, &super::data::Partition)| {
            let partition = row::normal(book, partition);
            select::shown(book, table, *key, &partition, now, true, false)
        };
        self.partitions.iter().flat_map(of).collect()
    }
}
