//! Remembers the order in which the user asked for values, because records are read from left to right.

/// The ranks of selected values: their places in the order in which the user asked for them.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The rank of each value, in the order of the record; empty if both orders are the same.
    ranks: Vec<usize>,
}

impl Order {
    /// Returns the order of `asked`, the places of values in a record. A place that was asked for twice has two ranks.
    pub fn of<T: Ord>(asked: impl Iterator<Item = T>) -> Order {
        let mut ranked: Vec<(T, usize)> = asked.zip(0..).collect();
        ranked.sort();
        Order { ranks: ranked.into_iter().map(|(_, rank)| rank).collect() }
    }

    /// Returns the rank of value number `index` of a record.
    pub fn rank(&self, index: usize) -> usize {
        self.ranks.get(index).copied().unwrap_or(index)
    }
}
