//! What the tests and the fuzz targets share.

pub mod check;
pub mod columns;
pub mod guard;
pub mod oracle;
pub mod questions;
pub mod rivals;
pub mod shapes;
pub mod streams;
pub mod text;
pub mod tiers;
