//! Where in a partition does something stand, such that places compare word by word?
//!
//! A place is so many words as the table has clustering columns, and at least one. A word is a value
//! moved to where unsigned numbers compare as the column orders it, and below it two bits:
//!
//! ```text
//! 34 …… 2              1 0
//! value + 2³¹ + 1      01 before all that begins so, 10 here or further in, 11 after it
//! ```
//!
//! Words behind the end of a prefix are 0. Before all clusterings is 1 and after them is all ones;
//! the static row, which comes before everything, is 0.

use std::cmp::Ordering;

use ttlspec_model::cassandra::words::{Clustering, Slice};

/// On which side of what begins with a prefix?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Before all of it.
    Before = 1,
    /// The row itself.
    Row = 2,
    /// After all of it.
    After = 3,
}

const SIGN: u32 = 1 << 31;
const FIRST_VALUE: u64 = 1 << 2;

/// The order of the clustering columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Clusterings {
    descending: Vec<bool>,
}

/// From where to where, both ends outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    /// The place before it.
    pub start: Vec<u64>,
    /// The place after it.
    pub end: Vec<u64>,
}

impl Clusterings {
    /// Those of a table.
    pub fn new(columns: &[Clustering]) -> Clusterings {
        Clusterings { descending: columns.iter().map(|column| column.descending).collect() }
    }

    /// Those of a view: the partition key of the table comes first.
    pub fn of_view(&self) -> Clusterings {
        let columns = std::iter::once(&false).chain(&self.descending);
        Clusterings { descending: columns.copied().collect() }
    }

    /// How many columns?
    pub fn len(&self) -> usize {
        self.descending.len()
    }

    /// How many words is a place?
    pub fn width(&self) -> usize {
        self.len().max(1)
    }

    fn turned(&self, at: usize, value: i32) -> i32 {
        if self.descending[at] { !value } else { value }
    }

    /// Adds the words of a place. There are at most as many values as columns.
    pub fn push(&self, values: &[i32], side: Side, words: &mut Vec<u64>) {
        let end = words.len() + self.width();
        match values.split_last() {
            None if side == Side::After => words.push(u64::MAX),
            None => words.push(side as u64),
            Some((last, first)) => {
                let word = |at: usize, value: i32, side: Side| {
                    let moved = self.turned(at, value) as u32 ^ SIGN;
                    (u64::from(moved) << 2) + FIRST_VALUE + side as u64
                };
                let before = first.iter().enumerate();
                words.extend(before.map(|(at, value)| word(at, *value, Side::Row)));
                words.push(word(first.len(), *last, side));
            }
        }
        words.resize(end, 0);
    }

    /// The words of a place.
    pub fn place(&self, values: &[i32], side: Side) -> Vec<u64> {
        let mut words = Vec::with_capacity(self.width());
        self.push(values, side, &mut words);
        words
    }

    /// The values that a place is made of.
    pub fn values<'a>(&'a self, place: &'a [u64]) -> impl Iterator<Item = i32> + 'a {
        let words = place.iter().zip(0..self.len());
        let words = words.take_while(|(word, _)| (FIRST_VALUE..u64::MAX).contains(word));
        words.map(|(word, at)| self.turned(at, (((word - FIRST_VALUE) >> 2) as u32 ^ SIGN) as i32))
    }

    /// All that begins with these values.
    pub fn below(&self, values: &[i32]) -> Span {
        let (start, end) = (self.place(values, Side::Before), self.place(values, Side::After));
        Span { start, end }
    }

    /// A slice of the column after these values; there is one. Nothing may be in it: then it does
    /// not start before its end.
    pub fn slice(&self, values: &[i32], slice: &Slice) -> Span {
        let is_descending = self.descending[values.len()];
        // Which side of its value a bound is on, where values ascend.
        let bound = |(value, is_inside): (i32, bool), inside: Side| {
            let is_before = (inside == Side::Before) == is_inside;
            let side = if is_before != is_descending { Side::Before } else { Side::After };
            self.place(&[values, &[value]].concat(), side)
        };
        let from = slice.from.map(|from| bound(from, Side::Before));
        let to = slice.to.map(|to| bound(to, Side::After));
        let (start, end) = if is_descending { (to, from) } else { (from, to) };
        let all = self.below(values);
        Span { start: start.unwrap_or(all.start), end: end.unwrap_or(all.end) }
    }
}

impl Span {
    /// Is nothing in it?
    pub fn is_void(&self) -> bool {
        self.start >= self.end
    }
}

/// Is this the place of the static row?
pub(super) fn is_static(place: &[u64]) -> bool {
    place[0] == 0
}

/// Does it stand after all that begins so?
pub(super) fn is_after(place: &[u64]) -> bool {
    let last = place.iter().rev().find(|word| **word != 0);
    last.is_some_and(|word| word & 3 == Side::After as u64)
}

/// Compares two places.
#[inline]
pub(super) fn compare(one: &[u64], two: &[u64]) -> Ordering {
    match one[0].cmp(&two[0]) {
        Ordering::Equal => one[1..].cmp(&two[1..]),
        unequal => unequal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_columns() -> Clusterings {
        Clusterings { descending: vec![false, true] }
    }

    #[test]
    fn places_stand_in_the_order_of_the_table() {
        let order = two_columns();
        let place = |values: &[i32], side| order.place(values, side);

        let sorted = [
            vec![0, 0],
            place(&[], Side::Before),
            place(&[i32::MIN], Side::Before),
            place(&[i32::MIN, 0], Side::Row),
            place(&[-1], Side::Before),
            place(&[-1, i32::MAX], Side::Before),
            place(&[-1, i32::MAX], Side::Row),
            place(&[-1, i32::MAX], Side::After),
            place(&[-1, i32::MIN], Side::Row),
            place(&[-1], Side::After),
            place(&[i32::MAX, 0], Side::Row),
            place(&[i32::MAX], Side::After),
            place(&[], Side::After),
        ];

        assert!(sorted.windows(2).all(|pair| compare(&pair[0], &pair[1]) == Ordering::Less));
    }

    #[test]
    fn a_place_tells_its_values_and_its_side() {
        let order = two_columns();
        for values in [&[][..], &[i32::MIN], &[i32::MAX, i32::MIN], &[0, i32::MAX]] {
            for side in [Side::Before, Side::After] {
                let place = order.place(values, side);

                assert_eq!(order.values(&place).collect::<Vec<_>>(), values);
                assert_eq!(is_after(&place), side == Side::After);
            }
        }
    }

    #[test]
    fn a_slice_of_a_descending_column_begins_with_its_upper_bound() {
        let order = two_columns();
        let slice = Slice { from: Some((1, false)), to: Some((5, true)) };

        let span = order.slice(&[7], &slice);

        assert_eq!(span.start, order.place(&[7, 5], Side::Before));
        assert_eq!(span.end, order.place(&[7, 1], Side::Before));
        let void = Slice { from: Some((5, false)), to: Some((5, true)) };
        assert!(order.slice(&[7], &void).is_void());
    }

    #[test]
    fn without_clustering_columns_there_is_one_row() {
        let order = Clusterings { descending: Vec::new() };

        let Span { start, end } = order.below(&[]);

        let row = order.place(&[], Side::Row);
        assert!(start < row && row < end);
        assert_eq!(order.values(&row).count(), 0);
    }
}
