//! How are partitions told in words?

use ttlspec_model::cassandra::words::{
    CellSeen, ItemSeen, LivenessSeen, MarkerSeen, PartitionSeen, RowSeen, Shown, Table,
};

use super::entry::{Entry, Kind, NEVER, Slot};
use super::place::{Clusterings, is_after};
use super::run::{Line, Part, Run};

/// What tells partitions of a table, or of its view.
pub(super) struct Telling<'a> {
    table: &'a Table,
    clusterings: Clusterings,
    /// The names of the clustering columns.
    names: Vec<&'a str>,
}

impl<'a> Telling<'a> {
    /// Partitions of the table.
    pub fn of_table(table: &'a Table, clusterings: &Clusterings) -> Telling<'a> {
        let names = table.clustering.iter().map(|column| &column.name[..]).collect();
        Telling { table, clusterings: clusterings.clone(), names }
    }

    /// Partitions of its view.
    pub fn of_view(table: &'a Table, clusterings: &Clusterings) -> Telling<'a> {
        let Telling { mut names, .. } = Telling::of_table(table, clusterings);
        names.insert(0, "p");
        Telling { table, clusterings: clusterings.of_view(), names }
    }

    /// All partitions of a run.
    pub fn partitions(&self, run: &Run) -> Vec<PartitionSeen> {
        run.parts().map(|part| self.partition(&part)).collect()
    }

    fn partition(&self, part: &Part<'_>) -> PartitionSeen {
        let statics = part.statics();
        let items = part.items().skip(usize::from(statics.is_some()));
        PartitionSeen {
            key: part.key().p,
            deletion: part.deletion().told(),
            statics: statics.map(|line| self.row(&[0], line)),
            items: items.map(|item| self.item(part.run, item)).collect(),
        }
    }

    fn item(&self, run: &Run, item: usize) -> ItemSeen {
        let (place, line) = (run.place(item), run.line(item));
        if !run.is_bound(item) {
            return ItemSeen::Row(self.row(place, line));
        }
        ItemSeen::Marker(MarkerSeen {
            prefix: self.clusterings.values(place).map(i64::from).collect(),
            is_after: is_after(place),
            close: line.deletion(Slot::CLOSE).told(),
            open: line.deletion(Slot::OPEN).told(),
        })
    }

    fn row(&self, place: &[u64], line: Line<'_>) -> RowSeen {
        let values = self.clusterings.values(place).map(i64::from);
        let liveness = line.get(Slot::MARKER).map(|marker| LivenessSeen {
            ts: marker.ts,
            expires: (marker.ldt != NEVER).then_some((i64::from(marker.ttl), marker.ldt)),
        });
        RowSeen {
            clustering: self.names.iter().map(|name| (*name).to_owned()).zip(values).collect(),
            liveness,
            deletion: line.deletion(Slot::DELETION).told(),
            cells: line.entries.iter().filter_map(|entry| self.cell(entry, line)).collect(),
        }
    }

    fn cell(&self, entry: &Entry, line: Line<'_>) -> Option<CellSeen> {
        let column = self.table.at(entry.slot.column()?).name.clone();
        let has_ldt = entry.ldt != NEVER;
        match entry.slot.kind() {
            Kind::Complex => Some(CellSeen::Complex(column, entry.deleted().told()?)),
            Kind::Cell => Some(CellSeen::Cell {
                column,
                path: entry.slot.path(),
                ts: entry.ts,
                ttl: if has_ldt { i64::from(entry.ttl) } else { 0 },
                ldt: has_ldt.then_some(entry.ldt),
                value: match entry.is_tombstone() {
                    true => Shown::Tombstone,
                    false => entry.shown(self.table, line.values),
                },
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use ttlspec_model::cassandra::Op;

    #[test]
    fn where_one_range_goes_over_into_another_there_is_one_marker() {
        let mut node = Told::of(&config(&[]));
        let ranges = vec![delete_slice(1, 5, 6), delete_slice(3, 9, 7)];
        node.at(0, Op::AlterGcGrace(100));
        node.at(0, Op::Write(ranges));

        let items = node.kept(0).items;

        let seen = items.iter().map(|item| match item {
            ItemSeen::Marker(MarkerSeen { prefix, close, open, .. }) => {
                (prefix[0], close.map(|it| it.ts), open.map(|it| it.ts))
            }
            ItemSeen::Row(row) => panic!("{row:?}"),
        });
        let expected = [(1, None, Some(6)), (3, Some(6), Some(7)), (9, Some(7), None)];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_row_is_told_by_the_names_of_its_columns() {
        let mut node = Told::of(&config(&[]));
        node.at(0, Op::Write(vec![with_ttl(-3, 9, 5, Some(60))]));

        let items = node.kept(0).items;

        let ItemSeen::Row(row) = &items[0] else { panic!("{items:?}") };
        assert_eq!(row.clustering, [("c".to_owned(), -3)]);
        assert_eq!(row.liveness, Some(LivenessSeen { ts: 5, expires: Some((60, T0 + 60)) }));
        let cell = CellSeen::Cell {
            column: "v".to_owned(),
            path: None,
            ts: 5,
            ttl: 60,
            ldt: Some(T0 + 60),
            value: Shown::Int(9),
        };
        assert_eq!(row.cells, [cell]);
    }
}
