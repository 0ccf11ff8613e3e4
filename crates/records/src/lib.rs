//! Finds the values of records as the programs wrote them, and writes values back in the same escaping.
//!
//! A record is a line of a log, a row of CSV, a JSON document, or the like. It holds text that others chose: request targets, referrers,
//! names. Each writer has its own way to keep such text from ending a field or a record, and some have none. This crate knows these ways,
//! and so it finds exactly the value that was put in, or says that a record cannot be read. It leaves percent-encoding to the caller.
//!
//! # Use
//!
//! ```
//! use simdpct_records::{Editor, Field, Form, Log, Syntax};
//!
//! let log = Log::named("apache").unwrap();
//! let mut syntax = Syntax::log(log, None, &[Field::Target]).unwrap();
//! let line = br#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /q?a=\"x\" HTTP/1.1" 200 1 "-" "x""#;
//! let mut places = Vec::new();
//! syntax.find(line, &mut places).unwrap();
//! let mut buffer = Vec::new();
//! assert_eq!(places[0].value(line, &mut buffer), Ok(br#"/q?a="x""#.as_slice()));
//!
//! // A new value is written with the escapes of the server.
//! let mut out = Vec::new();
//! let mut editor = Editor::new(line, 0, Form::Whole, &mut out);
//! editor.begin(0..line.len());
//! editor.put(&places[0], br#"/"y""#).unwrap();
//! assert!(editor.end(1, line.len()));
//! editor.copy_to(line.len());
//! assert!(out.starts_with(br#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /\"y\" HTTP/1.1" 200 1"#));
//! ```
//!
//! # Layers
//!
//! 1. `escaping` undoes and applies the escapings of writers, `charset` converts text of documents to UTF-8 and back, and `place` names
//!    values and their places. They know no format. `place` reads and writes values where they are; only `table` and `syntax` write new
//!    cells and members.
//! 2. `fields`, `table`, `pairs` and `json` find values by number, column, key and `path`; `ends` finds the ends of rows. `html` finds
//!    URLs in documents (with the feature `html`).
//! 3. `target` splits request lines. `access`, `columns`, `json` and `labels` are the four ways to split a line of a log. Each follows a
//!    row of the table of formats.
//! 4. `wrapper` finds the records in the lines of loggers.
//! 5. `logs` is the table of formats.
//! 6. `reader` finds the values of a log by its row, and `auto` chooses a row.
//! 7. `syntax` is one type for all records, also for those in values of other records, and `editor` writes records with new values.
//!
//! # Many records at once
//!
//! [`Syntax::sweep`] finds the `%` in the selected values of many records at once; in fields and tables, only if one value is selected. In
//! a log, [`Rule`], [`Lead`] and [`Part`] say which quotes and blanks are around the target, and [`Escaping`] says which byte can hide a
//! quote. The sweep handles a line whose quotes are in their usual places, and that has no byte that can hide one. All other lines are left
//! to the reader of the format. In a table, a sweep follows [`Ends`].

#![forbid(unsafe_code)]

mod access;
mod auto;
mod charset;
mod columns;
mod editor;
mod ends;
mod escaping;
mod fast;
mod fields;
#[cfg(feature = "html")]
pub mod html;
mod json;
mod labels;
mod logs;
mod pairs;
mod path;
mod place;
mod placeholders;
mod reader;
mod syntax;
mod table;
mod target;
mod wrapper;

pub use access::{Access, Lead, LeadWord, Part, Rule};
pub use auto::detect;
pub use charset::Charset;
pub use columns::{Columns, Split, Word, Words};
pub use editor::{Editor, Form};
pub use ends::{Dialect, Ends, Quotes, Separator};
pub use escaping::Escaping;
#[doc(hidden)]
pub use fast::mark_rows;
pub use fast::{RowMarks, RowScan, Sweep, mark_bytes};
pub use fields::{Numbered, Position};
pub use json::is_document;
pub use logs::{Layout, Log, Shape, Spec, WRITERS, Writer};
pub use path::KeyPath;
pub use place::{Field, Holds, Key, Kind, Marks, Place, Reason, Unreadable};
pub use placeholders::{Placeholders, Protocol};
pub use simdpct::ByteSet;
pub use syntax::Syntax;
pub use table::{QuotedValue, RETURNS, Table, Widener, without_end};
pub use wrapper::Wrapper;
