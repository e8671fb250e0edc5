#![doc = include_str!("../../../specs/cassandra/4-write.md")]
//! ---
//! *Module:* what does a statement leave behind?

use super::data::{Cell, Key, Liveness, Partition, Place, Range, Row};
use super::expiry::{Refused, effective_ttl, lifetime};
use super::row;
use super::words::{
    Column, ColumnId, Config, Deletion, Slice, Statement, Table, Upsert, Value, Verb,
};
use crate::book::Book;
use crate::ruling::Rule;

/// What a statement or a batch writes: one update a partition, in the order in which the partitions
/// are named.
///
/// # Errors
/// [`Refused`] where any of the statements is; then none is carried out.
pub fn updates(
    book: &Book,
    config: &Config,
    table: &Table,
    now_ms: i64,
    statements: &[Statement],
) -> Result<Vec<(Key, Partition)>, Refused> {
    let mut updates: Vec<(Key, Partition)> = Vec::new();
    for statement in statements {
        let update = Writing { book, config, table, now_ms, statement }.update()?;
        if update.is_empty() {
            continue;
        }
        let key = Key::new(statement.p);
        match updates.iter_mut().find(|(there, _)| *there == key) {
            Some((_, there)) if book.by(Rule::CassandraWriteBatch) => {
                row::apply(book, there, &update);
            }
            _ => updates.push((key, update)),
        }
    }
    Ok(updates)
}

/// One statement that is carried out.
struct Writing<'a> {
    book: &'a Book,
    config: &'a Config,
    table: &'a Table,
    now_ms: i64,
    statement: &'a Statement,
}

impl Writing<'_> {
    fn now(&self) -> i64 {
        super::seconds(self.book, self.now_ms)
    }

    fn ts(&self) -> i64 {
        self.statement.timestamp.unwrap_or(self.now_ms.saturating_mul(1_000))
    }

    /// The deletion that this statement makes.
    fn deletion(&self) -> Deletion {
        Deletion { ts: self.ts(), ldt: self.now() }
    }

    fn tombstone(&self) -> Cell {
        Cell { ts: self.ts(), ttl: 0, ldt: Some(self.now()), value: Vec::new() }
    }

    fn prefix(&self) -> Vec<i64> {
        prefix(self.table, &self.statement.clustering)
    }

    fn is_whole_key(&self) -> bool {
        self.statement.clustering.len() == self.table.clustering.len()
    }

    fn update(&self) -> Result<Partition, Refused> {
        let Statement { timestamp, clustering, .. } = self.statement;
        if *timestamp == Some(i64::MIN) && self.book.by(Rule::CassandraWriteSmallest) {
            return Err(Refused);
        }
        if clustering.len() > self.table.clustering.len() {
            return Err(Refused);
        }
        match &self.statement.verb {
            Verb::Insert(upsert) => self.upsert(upsert, true),
            Verb::Update(upsert) => self.upsert(upsert, false),
            Verb::DeleteColumns { columns, elements } => {
                self.delete_checks_default()?;
                self.delete_columns(columns, elements)
            }
            Verb::Delete => {
                self.delete_checks_default()?;
                Ok(self.delete())
            }
            Verb::DeleteSlice(slice) => self.delete_slice(slice),
        }
    }

    // ---- deletions ---------------------------------------------------------------------------------

    /// A deletion takes no TTL, and yet the default of the table is held against the last
    /// expiration.
    fn delete_checks_default(&self) -> Result<(), Refused> {
        if self.table.default_time_to_live > 0 && self.book.by(Rule::CassandraWriteDeleteChecked) {
            let ttl = effective_ttl(self.book, None, self.table.default_time_to_live)?;
            lifetime(self.book, self.config, self.now(), ttl)?;
        }
        Ok(())
    }

    fn delete(&self) -> Partition {
        let (prefix, deletion) = (self.prefix(), self.deletion());
        let mut partition = Partition::default();
        if prefix.is_empty() && self.book.by(Rule::CassandraWritePartition) {
            partition.deletion = Some(deletion);
        } else if self.is_whole_key() && self.book.by(Rule::CassandraWriteRow) {
            let row = Row { deletion: Some(deletion), ..Row::default() };
            partition.rows.insert(Place::row(prefix), row);
        } else if self.book.by(Rule::CassandraWriteRange) {
            let (start, end) = (Place::before(&prefix), Place::after(&prefix));
            partition.ranges.push(Range { start, end, deletion });
        }
        partition
    }

    fn delete_slice(&self, slice: &Slice) -> Result<Partition, Refused> {
        if self.is_whole_key() {
            return Err(Refused);
        }
        let (start, end) = bounds(self.table, &self.prefix(), slice);
        if start >= end && self.book.by(Rule::CassandraWriteVoidRange) {
            return Ok(Partition::default());
        }
        self.delete_checks_default()?;
        let deletion = self.deletion();
        let mut partition = Partition::default();
        if start < end && self.book.by(Rule::CassandraWriteRange) {
            partition.ranges.push(Range { start, end, deletion });
        }
        Ok(partition)
    }

    fn delete_columns(
        &self,
        columns: &[String],
        elements: &[(String, Vec<i32>)],
    ) -> Result<Partition, Refused> {
        let mut rows = Rows::default();
        for name in columns {
            let (id, column) = self.column(name)?;
            let row = rows.of(column);
            if column.kind.is_complex() {
                let early = !self.book.by(Rule::CassandraWriteCollectionDeleted);
                let ts = self.ts().saturating_sub(i64::from(early));
                row.complex.insert(id, Deletion { ts, ..self.deletion() });
            } else if self.book.by(Rule::CassandraWriteCell) {
                row.cells.insert((id, None), self.tombstone());
            }
        }
        for (name, paths) in elements {
            let (id, column) = self.collection(name)?;
            self.remove(rows.of(column), id, paths);
        }
        self.partition(rows)
    }

    fn remove(&self, row: &mut Row, id: ColumnId, paths: &[i32]) {
        let removed = paths.iter().filter(|_| self.book.by(Rule::CassandraWriteElement));
        row.cells.extend(removed.map(|path| ((id, Some(*path)), self.tombstone())));
    }

    // ---- INSERT and UPDATE ---------------------------------------------------------------------------

    fn upsert(&self, upsert: &Upsert, is_insert: bool) -> Result<Partition, Refused> {
        let default = self.table.default_time_to_live;
        let ttl = effective_ttl(self.book, upsert.ttl, default)?;
        let lifetime = lifetime(self.book, self.config, self.now(), ttl)?;
        let (ts, ldt) = (self.ts(), lifetime.expiration);
        let live = |value: Vec<u8>| Cell { ts, ttl, ldt, value };
        let mut rows = Rows::default();
        let has_marker = match is_insert {
            true => self.book.by(Rule::CassandraWriteInsertMarker),
            false => !self.book.by(Rule::CassandraWriteUpdateNoMarker),
        };
        if has_marker && self.is_whole_key() {
            rows.regular.liveness = Some(Liveness { ts, ttl, ldt, is_dead: false });
        }
        for (name, value) in &upsert.set {
            let (id, column) = self.column(name)?;
            if column.kind.is_complex() {
                self.set_collection(rows.of(column), id, column, value, &live)?;
                continue;
            }
            let cell = match bytes(column, value)? {
                None if self.book.by(Rule::CassandraWriteNull) => self.tombstone(),
                value => live(value.unwrap_or_default()),
            };
            rows.of(column).cells.insert((id, None), cell);
        }
        for (name, pairs) in &upsert.put {
            let (id, column) = self.collection(name)?;
            self.append(rows.of(column), id);
            for (path, value) in pairs {
                let cell = value.map_or(self.tombstone(), |value| live(int(value)));
                rows.of(column).cells.insert((id, Some(*path)), cell);
            }
        }
        for (name, paths) in &upsert.add {
            let (id, column) = self.collection(name)?;
            self.append(rows.of(column), id);
            let cells = paths.iter().map(|path| ((id, Some(*path)), live(Vec::new())));
            rows.of(column).cells.extend(cells);
        }
        for (name, paths) in &upsert.remove {
            let (id, column) = self.collection(name)?;
            self.remove(rows.of(column), id, paths);
        }
        self.partition(rows)
    }

    /// Elements are added beside those that are there: nothing is deleted.
    fn append(&self, row: &mut Row, id: ColumnId) {
        if !self.book.by(Rule::CassandraWriteAppend) {
            row.complex.insert(id, Deletion { ts: self.ts().saturating_sub(1), ldt: self.now() });
        }
    }

    /// A collection gets a value as a whole: what was there before is deleted, one microsecond
    /// earlier.
    fn set_collection(
        &self,
        row: &mut Row,
        id: ColumnId,
        column: &Column,
        value: &Value,
        live: &dyn Fn(Vec<u8>) -> Cell,
    ) -> Result<(), Refused> {
        let cells: Vec<(i32, Vec<u8>)> = match value {
            Value::Null => Vec::new(),
            Value::Map(pairs) => pairs.iter().map(|(path, value)| (*path, int(*value))).collect(),
            Value::Set(paths) => paths.iter().map(|path| (*path, Vec::new())).collect(),
            Value::Int(_) | Value::Text(_) => return Err(Refused),
        };
        if !matches(column, value) {
            return Err(Refused);
        }
        let before = if self.book.by(Rule::CassandraWriteCollection) {
            self.ts().saturating_sub(1)
        } else {
            self.ts()
        };
        if before > i64::MIN || !self.book.by(Rule::CassandraWriteHollow) {
            row.complex.insert(id, Deletion { ts: before, ldt: self.now() });
        } else if cells.is_empty() {
            row.hollow.insert(id);
        }
        row.cells.extend(cells.into_iter().map(|(path, value)| ((id, Some(path)), live(value))));
        Ok(())
    }

    // ---- what it comes to ----------------------------------------------------------------------------

    fn column(&self, name: &str) -> Result<(ColumnId, &Column), Refused> {
        let id = self.table.column(name).ok_or(Refused)?;
        Ok((id, self.table.at(id)))
    }

    fn collection(&self, name: &str) -> Result<(ColumnId, &Column), Refused> {
        let (id, column) = self.column(name)?;
        if column.kind.is_complex() { Ok((id, column)) } else { Err(Refused) }
    }

    fn partition(&self, mut rows: Rows) -> Result<Partition, Refused> {
        row::weaken(self.book, &mut rows.regular, None, false);
        let mut partition = Partition { statics: rows.statics, ..Partition::default() };
        if !rows.regular.is_empty() {
            if !self.is_whole_key() {
                return Err(Refused);
            }
            partition.rows.insert(Place::row(self.prefix()), rows.regular);
        }
        Ok(partition)
    }
}

/// The two rows that one statement writes to.
#[derive(Default)]
struct Rows {
    regular: Row,
    statics: Row,
}

impl Rows {
    fn of(&mut self, column: &Column) -> &mut Row {
        if column.is_static { &mut self.statics } else { &mut self.regular }
    }
}

/// Values of clustering columns as they are kept.
pub fn prefix(table: &Table, clustering: &[i32]) -> Vec<i64> {
    let values = clustering.iter().enumerate();
    values.map(|(at, value)| table.component(at, i64::from(*value))).collect()
}

/// Where a slice below a prefix begins and ends, in the order of the table.
pub fn bounds(table: &Table, prefix: &[i64], slice: &Slice) -> (Place, Place) {
    let descending = table.clustering[prefix.len()].descending;
    // Of a column in descending order, the upper bound comes first.
    let turn = |side: i8| if descending { -side } else { side };
    let place = |(value, is_inside): (i32, bool), side: i8| {
        let mut prefix = prefix.to_vec();
        prefix.push(table.component(prefix.len(), i64::from(value)));
        Place { prefix, side: turn(if is_inside { side } else { -side }) }
    };
    let low = slice.from.map(|from| place(from, -1));
    let high = slice.to.map(|to| place(to, 1));
    let (start, end) = if descending { (high, low) } else { (low, high) };
    (start.unwrap_or_else(|| Place::before(prefix)), end.unwrap_or_else(|| Place::after(prefix)))
}

fn int(value: i32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn matches(column: &Column, value: &Value) -> bool {
    use super::words::Kind;
    matches!(
        (column.kind, value),
        (_, Value::Null)
            | (Kind::Int, Value::Int(_))
            | (Kind::Text, Value::Text(_))
            | (Kind::Map, Value::Map(_))
            | (Kind::Set, Value::Set(_))
    )
}

/// The bytes of a simple value.
fn bytes(column: &Column, value: &Value) -> Result<Option<Vec<u8>>, Refused> {
    if !matches(column, value) {
        return Err(Refused);
    }
    Ok(match value {
        Value::Int(value) => Some(int(*value)),
        Value::Text(text) => Some(text.as_bytes().to_vec()),
        _ => None,
    })
}
