//! Finds the URLs in the attributes of HTML that arrives in pieces.

mod attributes;
mod finder;

pub use attributes::{ATTRIBUTES, Attribute};
pub use finder::{Finder, Link, Role};
