//! What the escapes of files hold, summed up: [`audit`] counts and keeps examples, [`page`] lays that out.

pub mod audit;
mod page;
mod summary;
