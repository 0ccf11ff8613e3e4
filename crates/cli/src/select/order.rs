//! Remembers the order in which the user asked for values, because records are read from left to right.

use std::collections::BTreeMap;

/// The ranks of selected values: their places in the order in which the user asked for them.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The rank of each value, in the order of the record; empty if both orders are the same.
    ranks: Vec<usize>,
}

impl Order {
    /// Returns the order of `asked`, the places of values in a record. A place that was asked for twice counts once.
    pub fn of<T: Ord>(asked: impl Iterator<Item = T>) -> Order {
        let mut sorted = BTreeMap::new();
        for place in asked {
            let rank = sorted.len();
            sorted.entry(place).or_insert(rank);
        }
        Order { ranks: sorted.into_values().collect() }
    }

    /// Returns the rank of value number `index` of a record.
    pub fn rank(&self, index: usize) -> usize {
        self.ranks.get(index).copied().unwrap_or(index)
    }
}
