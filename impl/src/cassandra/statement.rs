//! What does a statement leave behind?

use ttlspec_model::cassandra::words::{
    Column, ColumnId, Kind, Overflow, Slice, Statement, Table, Upsert, Value, Verb,
};

use super::deleted::Deleted;
use super::entry::{Entry, NEVER, Slot};
use super::key::Key;
use super::place::Side;
use super::setup::Setup;
use super::update::Update;

/// 20 years of 365 days, in seconds.
pub(super) const MAX_TTL: i64 = 630_720_000;

/// A statement cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// What statements write to partitions, in the order in which those are named.
///
/// # Errors
/// [`Refused`] where any of them is; then none is carried out.
pub(super) fn updates(
    setup: &Setup,
    table: &Table,
    now_ms: i64,
    statements: &[Statement],
) -> Result<Vec<Update>, Refused> {
    let mut updates: Vec<Update> = Vec::new();
    for statement in statements {
        let writing = Writing::new(setup, table, now_ms, statement)?;
        let mut update = Update::new(Key::new(statement.p), setup.clusterings.width());
        writing.write(&mut update)?;
        match updates.iter_mut().find(|there| there.key() == update.key()) {
            _ if update.is_empty() => {}
            Some(there) => there.append(&update),
            None => updates.push(update),
        }
    }
    Ok(updates.iter().map(Update::folded).collect())
}

/// The second in which something written with this TTL is dead; [`NEVER`] where it has none.
///
/// # Errors
/// [`Refused`] where it is later than can be written, and that is not allowed.
pub(super) fn expiration(setup: &Setup, now: i64, ttl: i64) -> Result<i64, Refused> {
    let last = setup.format.last_expiration();
    let expiration = now.saturating_add(ttl);
    if ttl == 0 {
        return Ok(NEVER);
    }
    if expiration <= last {
        return Ok(expiration);
    }
    // Of 32 bits, the number behind the last one says that there is none.
    if expiration == last + 1 && !setup.version.has_wide_deletion_time() {
        return Ok(NEVER);
    }
    match setup.overflow {
        Overflow::Reject => Err(Refused),
        Overflow::Cap => Ok(last),
    }
}

/// One statement that is carried out.
struct Writing<'a> {
    setup: &'a Setup,
    table: &'a Table,
    statement: &'a Statement,
    now: i64,
    ts: i64,
}

/// What it writes to the row, and to the static row.
#[derive(Default)]
struct Rows {
    row: Vec<Entry>,
    statics: Vec<Entry>,
    values: Vec<u8>,
}

impl Rows {
    fn of(&mut self, column: &Column) -> &mut Vec<Entry> {
        if column.is_static { &mut self.statics } else { &mut self.row }
    }

    fn put(&mut self, column: &Column, entry: Entry) {
        self.of(column).push(entry);
    }
}

impl<'a> Writing<'a> {
    fn new(
        setup: &'a Setup,
        table: &'a Table,
        now_ms: i64,
        statement: &'a Statement,
    ) -> Result<Writing<'a>, Refused> {
        let is_legal = statement.timestamp != Some(i64::MIN)
            && statement.clustering.len() <= setup.clusterings.len();
        let now = now_ms.div_euclid(1_000);
        let ts = statement.timestamp.unwrap_or(now_ms.saturating_mul(1_000));
        is_legal.then_some(Writing { setup, table, statement, now, ts }).ok_or(Refused)
    }

    fn deletion(&self) -> Deleted {
        Deleted { ts: self.ts, ldt: self.now }
    }

    fn tombstone(&self, slot: Slot) -> Entry {
        Entry::tombstone(slot, self.ts, self.now)
    }

    fn has_whole_key(&self) -> bool {
        self.statement.clustering.len() == self.setup.clusterings.len()
    }

    fn write(&self, update: &mut Update) -> Result<(), Refused> {
        match &self.statement.verb {
            Verb::Insert(upsert) => self.upsert(upsert, true, update),
            Verb::Update(upsert) => self.upsert(upsert, false, update),
            Verb::DeleteColumns { columns, elements } => {
                self.delete_columns(columns, elements, update)
            }
            Verb::Delete => self.delete(update),
            Verb::DeleteSlice(slice) => self.delete_slice(slice, update),
        }
    }

    // ---- deletions ---------------------------------------------------------------------------------

    /// A deletion is held against the last expiration as if it had the default TTL.
    fn check_default(&self) -> Result<(), Refused> {
        self.lifetime(None).map(|_| ())
    }

    fn delete(&self, update: &mut Update) -> Result<(), Refused> {
        self.check_default()?;
        let (clusterings, values) = (&self.setup.clusterings, &self.statement.clustering[..]);
        if values.is_empty() {
            update.rows.strengthen(self.deletion());
        } else if self.has_whole_key() {
            update.rows.open_item(&clusterings.place(values, Side::Row), false);
            update.rows.push(Entry::deletion(Slot::DELETION, self.deletion()), &[]);
        } else {
            update.delete_range(&clusterings.below(values), self.deletion());
        }
        Ok(())
    }

    fn delete_slice(&self, slice: &Slice, update: &mut Update) -> Result<(), Refused> {
        if self.has_whole_key() {
            return Err(Refused);
        }
        let span = self.setup.clusterings.slice(&self.statement.clustering, slice);
        if !span.is_void() {
            self.check_default()?;
            update.delete_range(&span, self.deletion());
        }
        Ok(())
    }

    fn delete_columns(
        &self,
        columns: &[String],
        elements: &[(String, Vec<i32>)],
        update: &mut Update,
    ) -> Result<(), Refused> {
        self.check_default()?;
        let mut rows = Rows::default();
        for name in columns {
            let (id, column) = self.column(name)?;
            let entry = match column.kind.is_complex() {
                true => Entry::deletion(Slot::complex(id), self.deletion()),
                false => self.tombstone(Slot::simple(id)),
            };
            rows.put(column, entry);
        }
        for (name, paths) in elements {
            self.remove(name, paths, &mut rows)?;
        }
        self.close(rows, update)
    }

    fn remove(&self, name: &str, paths: &[i32], rows: &mut Rows) -> Result<(), Refused> {
        let (id, column) = self.collection(name)?;
        let tombstones = paths.iter().map(|path| self.tombstone(Slot::element(id, *path)));
        rows.of(column).extend(tombstones);
        Ok(())
    }

    // ---- INSERT and UPDATE ---------------------------------------------------------------------------

    /// The life of a cell: its timestamp, its TTL and its expiration.
    fn lifetime(&self, given: Option<i64>) -> Result<(i64, u32, i64), Refused> {
        let ttl = given.unwrap_or(self.table.default_time_to_live.max(0));
        if !(0..=MAX_TTL).contains(&ttl) {
            return Err(Refused);
        }
        Ok((self.ts, ttl as u32, expiration(self.setup, self.now, ttl)?))
    }

    fn upsert(&self, upsert: &Upsert, is_insert: bool, update: &mut Update) -> Result<(), Refused> {
        let life = self.lifetime(upsert.ttl)?;
        let (ts, ttl, ldt) = life;
        let mut rows = Rows::default();
        if is_insert && self.has_whole_key() {
            rows.row.push(Entry::marker(ts, ttl, ldt));
        }
        for (name, value) in &upsert.set {
            let (id, column) = self.column(name)?;
            if column.kind.is_complex() {
                self.replace(id, column, value, life, &mut rows)?;
                continue;
            }
            let slot = Slot::simple(id);
            let entry = match (column.kind, value) {
                (_, Value::Null) => self.tombstone(slot),
                (Kind::Int, Value::Int(value)) => int(slot, life, *value),
                (Kind::Text, Value::Text(text)) => {
                    Entry::cell(slot, life, text.as_bytes(), &mut rows.values)
                }
                _ => return Err(Refused),
            };
            rows.put(column, entry);
        }
        for (name, pairs) in &upsert.put {
            let (id, column) = self.collection(name)?;
            rows.of(column).extend(pairs.iter().map(|(path, value)| {
                let slot = Slot::element(id, *path);
                value.map_or(self.tombstone(slot), |value| int(slot, life, value))
            }));
        }
        for (name, paths) in &upsert.add {
            let (id, column) = self.collection(name)?;
            let cells = paths.iter().map(|path| empty(Slot::element(id, *path), life));
            rows.of(column).extend(cells);
        }
        for (name, paths) in &upsert.remove {
            self.remove(name, paths, &mut rows)?;
        }
        self.close(rows, update)
    }

    /// A whole collection takes the place of what was there: that is deleted, a microsecond before.
    fn replace(
        &self,
        id: ColumnId,
        column: &Column,
        value: &Value,
        life: (i64, u32, i64),
        rows: &mut Rows,
    ) -> Result<(), Refused> {
        let there = rows.of(column);
        let before = there.len();
        match (column.kind, value) {
            (_, Value::Null) => {}
            (Kind::Map, Value::Map(pairs)) => there.extend(
                pairs.iter().map(|(path, value)| int(Slot::element(id, *path), life, *value)),
            ),
            (Kind::Set, Value::Set(paths)) => {
                there.extend(paths.iter().map(|path| empty(Slot::element(id, *path), life)));
            }
            _ => return Err(Refused),
        }
        let has_elements = there.len() > before;
        // The smallest timestamp of all is none: so there may be nothing before.
        match self.ts.saturating_sub(1) {
            i64::MIN if has_elements => {}
            i64::MIN => there.push(Entry::hollow(id)),
            ts => {
                let deletion = Deleted { ts, ldt: self.now };
                there.push(Entry::deletion(Slot::complex(id), deletion));
            }
        }
        Ok(())
    }

    // ---- what it comes to ----------------------------------------------------------------------------

    fn column(&self, name: &str) -> Result<(ColumnId, &'a Column), Refused> {
        let id = self.table.column(name).ok_or(Refused)?;
        Ok((id, self.table.at(id)))
    }

    fn collection(&self, name: &str) -> Result<(ColumnId, &'a Column), Refused> {
        let (id, column) = self.column(name)?;
        if column.kind.is_complex() { Ok((id, column)) } else { Err(Refused) }
    }

    fn close(&self, rows: Rows, update: &mut Update) -> Result<(), Refused> {
        let Rows { row, statics, values } = rows;
        if !row.is_empty() && !self.has_whole_key() {
            return Err(Refused);
        }
        let clusterings = &self.setup.clusterings;
        let place = match self.has_whole_key() {
            true => clusterings.place(&self.statement.clustering, Side::Row),
            false => Vec::new(),
        };
        let statics_place = vec![0; clusterings.width()];
        for (place, entries) in [(statics_place, statics), (place, row)] {
            if !entries.is_empty() {
                update.rows.open_item(&place, false);
                entries.iter().for_each(|entry| update.rows.push(*entry, &values));
                update.rows.settle_item();
            }
        }
        Ok(())
    }
}

fn int(slot: Slot, life: (i64, u32, i64), value: i32) -> Entry {
    Entry::cell(slot, life, &value.to_be_bytes(), &mut Vec::new())
}

fn empty(slot: Slot, life: (i64, u32, i64)) -> Entry {
    Entry::cell(slot, life, &[], &mut Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use ttlspec_model::cassandra::words::{CellSeen, Deletion, Query};
    use ttlspec_model::cassandra::{Op, Reply};

    fn set(name: &str, value: Value) -> Upsert {
        Upsert { set: vec![(name.to_owned(), value)], ..Upsert::default() }
    }

    fn cells_after(statements: Vec<Statement>) -> Vec<CellSeen> {
        let mut node = Told::of(&config(&[]));
        assert_eq!(node.at(0, Op::Write(statements)), Reply::Done);
        cells(&node.kept(0))
    }

    #[test]
    fn a_collection_is_deleted_a_microsecond_before_it_is_written() {
        let map = Value::Map(vec![(1, 7)]);

        let cells = cells_after(vec![update(1, 5, set("m", map))]);

        let deletion = Deletion { ts: 4, ldt: T0 };
        assert_eq!(cells[0], CellSeen::Complex("m".to_owned(), deletion));
        assert!(matches!(&cells[1], CellSeen::Cell { path: Some(1), ts: 5, .. }));
    }

    #[test]
    fn before_the_second_smallest_timestamp_a_collection_cannot_be_deleted() {
        let mut node = Told::of(&config(&[]));
        let empty = update(1, i64::MIN + 1, set("m", Value::Map(Vec::new())));

        node.at(0, Op::Write(vec![empty]));

        assert_eq!(cells(&node.kept(0)), []);
        let shown = node.select(0, Query::default()).rows;
        assert_eq!(shown[0].collections, [("m".to_owned(), Vec::new())]);
    }

    #[test]
    fn of_two_values_in_one_statement_the_last_counts_and_in_a_batch_the_larger() {
        let two = Upsert {
            set: vec![("v".to_owned(), Value::Int(2)), ("v".to_owned(), Value::Int(1))],
            ..Upsert::default()
        };
        let value = |cells: &[CellSeen]| match &cells[0] {
            CellSeen::Cell { value, .. } => value.clone(),
            other => panic!("{other:?}"),
        };
        use ttlspec_model::cassandra::words::Shown::Int;

        assert_eq!(value(&cells_after(vec![update(1, 5, two)])), Int(1));
        assert_eq!(value(&cells_after(vec![insert(1, 2, 5), insert(1, 1, 5)])), Int(2));
    }

    #[test]
    fn of_a_batch_with_one_bad_statement_nothing_is_written() {
        let mut node = Told::of(&config(&[]));
        let bad = with_ttl(1, 1, 5, Some(MAX_TTL + 1));

        assert_eq!(node.at(0, Op::Write(vec![insert(1, 1, 5), bad])), Reply::Refused);
        assert_eq!(node.at(0, Op::Merged), Reply::Merged(Vec::new()));
    }

    #[test]
    fn an_expiration_that_is_too_late_is_capped_refused_or_none() {
        use ttlspec_model::cassandra::{Config, Version};
        let last = ttlspec_model::cassandra::words::Format::Nb.last_expiration();
        let of = |overflow, version| {
            let setup = Setup::of(&Config { overflow, version, ..config(&[]) }).unwrap();
            [last, last + 1, last + 2].map(|at| expiration(&setup, at - 10, 10))
        };
        let (old, new) = (Version::new(4, 1, 10), Version::new(5, 0, 6));

        assert_eq!(of(Overflow::Cap, new), [Ok(last); 3]);
        assert_eq!(of(Overflow::Reject, new), [Ok(last), Err(Refused), Err(Refused)]);
        assert_eq!(of(Overflow::Cap, old), [Ok(last), Ok(NEVER), Ok(last)]);
    }
}
