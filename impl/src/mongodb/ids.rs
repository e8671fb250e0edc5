//! Which `_id`s stand in a row? All in one buffer, which is used again.

use super::bytes::Value;

/// Values in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    bytes: Vec<u8>,
    /// The type of each, and where it ends.
    ends: Vec<(u8, usize)>,
}

impl Ids {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends one.
    pub(super) fn push(&mut self, id: Value<'_>) {
        self.bytes.extend_from_slice(id.bytes);
        self.ends.push((id.kind, self.bytes.len()));
    }

    /// The one at this place.
    pub(super) fn get(&self, at: usize) -> Value<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let (kind, end) = self.ends[at];
        Value::new(kind, &self.bytes[start..end])
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Forgets them, and keeps the room.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl<'a> FromIterator<Value<'a>> for Ids {
    fn from_iter<I: IntoIterator<Item = Value<'a>>>(values: I) -> Ids {
        let mut ids = Ids::default();
        values.into_iter().for_each(|id| ids.push(id));
        ids
    }
}
