//! What of a partition is shadowed by other sstables?
//!
//! Both are read side by side, place by place. What throws the shadow stays where it is.

use std::cmp::Ordering;

use ttlspec_model::cassandra::words::Shadow;

use super::combine::weaken;
use super::deleted::Deleted;
use super::entry::{Kind, Slot};
use super::place::{compare, is_static};
use super::run::{Line, Part};
use super::sink::Sink;

/// The range tombstones at the place that is read.
struct Open {
    /// In the data.
    data: Deleted,
    /// In the shadow.
    shadow: Deleted,
    /// In what is left.
    left: Deleted,
}

/// Adds what is left of `data` beside `shadow`.
pub(super) fn skip(data: Part<'_>, shadow: Part<'_>, how: Shadow, sink: &mut Sink<'_>) {
    let (over, own) = (shadow.deletion(), data.deletion());
    sink.open_part(data.key(), if own > over { own } else { Deleted::NONE });
    let mut open = Open { data: Deleted::NONE, shadow: Deleted::NONE, left: Deleted::NONE };
    let (mut items, mut others) = (data.items(), shadow.items());
    while !items.is_empty() || !others.is_empty() {
        let order = match (items.is_empty(), others.is_empty()) {
            (false, false) => compare(data.run.place(items.start), shadow.run.place(others.start)),
            (false, true) => Ordering::Less,
            (true, _) => Ordering::Greater,
        };
        let here = (order != Ordering::Greater).then(|| items.next()).flatten();
        let there = (order != Ordering::Less).then(|| others.next()).flatten();
        let there = there.map(|item| (shadow.run.line(item), shadow.run.place(item), item));
        let is_bound = match (here, there) {
            (Some(item), _) => data.run.is_bound(item),
            (None, Some((.., item))) => shadow.run.is_bound(item),
            (None, None) => false,
        };
        if is_bound {
            let place = here.map(|item| data.run.place(item));
            let Some(place) = place.or(there.map(|(_, place, _)| place)) else { continue };
            if let Some(item) = here {
                open.data = data.run.line(item).deletion(Slot::OPEN);
            }
            if let Some((line, ..)) = there {
                open.shadow = line.deletion(Slot::OPEN);
            }
            bound(place, here.is_some(), over, &mut open, sink);
        } else if let Some(item) = here {
            let around = over.max(open.shadow);
            sink.open_row(data.run.place(item));
            // A static row is always there, though nothing may be in it.
            let empty = is_static(data.run.place(item)).then_some(Line::EMPTY);
            let other = there.map(|(line, ..)| line).or(empty);
            row(data.run.line(item), other, around, how, sink);
            sink.close_row();
        }
    }
    sink.close_part();
}

/// A range that the shadow meets in its middle is not closed there: it goes on to its own next end.
fn bound(place: &[u64], is_of_data: bool, over: Deleted, open: &mut Open, sink: &mut Sink<'_>) {
    let before = open.left;
    if is_of_data {
        open.left = Deleted::NONE;
    }
    let close = if is_of_data { before } else { Deleted::NONE };
    let mut opens = Deleted::NONE;
    if open.left.is_none() && open.data > over.max(open.shadow) {
        open.left = open.data;
        opens = open.data;
    }
    sink.bound(place, close, opens);
}

/// Adds what is left of a row to an open one.
fn row(line: Line<'_>, other: Option<Line<'_>>, around: Deleted, how: Shadow, sink: &mut Sink<'_>) {
    let outer = other.map_or(around, |other| around.max(other.deletion(Slot::DELETION)));
    let Some(other) = other.filter(|_| how == Shadow::Cell) else {
        return weaken(line.entries, line.values, outer, sink);
    };
    for entry in line.entries {
        let over = match entry.slot.column() {
            Some(column) => outer.max(other.deletion(Slot::complex(column))),
            None => outer,
        };
        let is_left = match entry.slot.kind() {
            Kind::Deletion | Kind::Complex => entry.deleted() >= over,
            Kind::Marker => !over.covers(entry.ts),
            Kind::Hollow => true,
            Kind::Cell => {
                // One that is the same in both stays in both.
                let there = other.get(entry.slot);
                let is_beaten = there.is_some_and(|it| it.beats(other.values, entry, line.values));
                !over.covers(entry.ts) && !is_beaten
            }
        };
        if is_left {
            sink.entry(*entry, line.values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use ttlspec_model::cassandra::words::{ItemSeen, Statement};
    use ttlspec_model::cassandra::{Op, Reply};

    /// The items of the older sstable, once garbage is collected beside the newer one.
    fn left(older: Vec<Statement>, newer: Vec<Statement>, how: Shadow) -> Vec<ItemSeen> {
        let mut node = Told::of(&config(&[]));
        node.at(0, Op::AlterGcGrace(1_000));
        node.flushed(0, older);
        node.flushed(0, newer);
        node.at(1, Op::GarbageCollect(how));
        let Reply::Sstables(all) = node.at(1, Op::Sstables) else { panic!("no sstables") };
        let of_older = |ts| ts < 5;
        let oldest = all.into_iter().flat_map(|it| it.partitions).find(|partition| {
            partition.items.iter().any(|item| match item {
                ItemSeen::Row(row) => row.liveness.is_some_and(|marker| of_older(marker.ts)),
                ItemSeen::Marker(marker) => marker.open.is_some_and(|open| of_older(open.ts)),
            })
        });
        oldest.map_or(Vec::new(), |partition| partition.items)
    }

    #[test]
    fn a_deleted_row_goes_and_an_overwritten_cell_goes_only_with_cells() {
        let older = || vec![insert(1, 1, 2), insert(2, 1, 2)];
        let newer = || vec![delete(1, 6), insert(2, 2, 6)];

        let rows = left(older(), newer(), Shadow::Row);
        let with_cells = left(older(), newer(), Shadow::Cell);

        let cells = |items: &[ItemSeen]| match items {
            [ItemSeen::Row(row)] => row.cells.len(),
            items => panic!("{items:?}"),
        };
        assert_eq!((cells(&rows), cells(&with_cells)), (1, 0));
    }

    #[test]
    fn a_range_that_is_shadowed_in_its_middle_goes_on_to_its_own_end() {
        let left = left(vec![delete_slice(1, 9, 2)], vec![delete_slice(3, 5, 6)], Shadow::Row);

        let prefixes = left.iter().map(|item| match item {
            ItemSeen::Marker(marker) => marker.prefix[0],
            ItemSeen::Row(row) => panic!("{row:?}"),
        });
        assert_eq!(prefixes.collect::<Vec<_>>(), [1, 9]);
    }

    #[test]
    fn a_range_that_begins_in_the_shadow_begins_where_that_ends() {
        let left = left(vec![delete_slice(4, 9, 2)], vec![delete_slice(3, 5, 6)], Shadow::Row);

        let prefixes = left.iter().map(|item| match item {
            ItemSeen::Marker(marker) => marker.prefix[0],
            ItemSeen::Row(row) => panic!("{row:?}"),
        });
        assert_eq!(prefixes.collect::<Vec<_>>(), [5, 9]);
    }
}
