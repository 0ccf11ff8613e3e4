//! Converts whole URLs: each value becomes one value, or is rejected with an offset and a reason.
//!
//! The conversions implement the trait [`Convert`](crate::convert::Convert). The crate simdpct-uri splits, joins and
//! canonicalizes URLs; this module adds the text formats of their parts.

pub mod canonical;
pub mod convert;
pub mod edit;
pub mod ext_value;
pub mod form;
pub mod join;
pub mod part;
pub mod refer;
pub mod row;
pub mod split;
pub mod values;
