//! What the tests and the fuzz targets share.

pub mod check;
pub mod guard;
pub mod oracle;
pub mod shapes;
pub mod tiers;
