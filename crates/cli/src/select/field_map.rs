//! Reads header lines, which name the fields of a file, such as `#Fields: date cs-uri-stem`.

use super::position::Position;
use crate::ground::reason::Reason;

/// The columns of W3C logs that contain URLs or parts of URLs. The first two are the URL of the request, or its path.
const W3C_COLUMNS: &[&str] = &["cs-uri", "cs-uri-stem", "cs-uri-query", "cs(Referer)", "cs(Referrer)"];

/// The columns of CDX that contain URLs: the original URL and the target of a redirect.
const CDX_COLUMNS: &[&str] = &["a", "r"];

/// The lines of a file format that name its fields. Each applies to the lines after it.
#[derive(Clone, Copy, Debug)]
pub struct FieldMap {
    /// The start of a line that names fields.
    prefix: &'static [u8],
    /// The start of a line that contains no fields.
    comment: &'static [u8],
    /// The names of the fields that contain values.
    columns: &'static [&'static str],
    /// The positions of the values in lines before the first line that names fields.
    default: &'static [Position],
    /// The number of columns, from the first, that contain the URL of the request.
    requests: usize,
    /// Whether only the first of these columns that a line names contains values.
    is_request_only: bool,
}

impl FieldMap {
    /// Returns the map of W3C logs.
    pub const fn w3c() -> FieldMap {
        FieldMap {
            prefix: b"#Fields:",
            comment: b"#",
            columns: W3C_COLUMNS,
            default: &[],
            requests: 2,
            is_request_only: false,
        }
    }

    /// Returns the map of CDX indexes of web archives.
    pub const fn cdx() -> FieldMap {
        // Without a header line, the format is ` CDX N b a m s k r M S V g`.
        const DEFAULT: &[Position] = &[Position::of(2), Position::of(6)];
        FieldMap {
            prefix: b" CDX ",
            comment: b" CDX ",
            columns: CDX_COLUMNS,
            default: DEFAULT,
            requests: 1,
            is_request_only: false,
        }
    }

    /// Selects only the URL of the request, without the query in a column of its own, the referrer and others.
    pub fn request_only(self) -> FieldMap {
        FieldMap { is_request_only: true, ..self }
    }

    /// Returns the positions that apply before a line names fields.
    pub fn positions(&self) -> Vec<Position> {
        let count = if self.is_request_only { self.requests } else { usize::MAX };
        self.default.iter().copied().take(count).collect()
    }

    /// Reports whether two quotes inside quotes mean one quote, as in the strings of W3C logs.
    pub fn doubles_quotes(&self) -> bool {
        self.columns == W3C_COLUMNS
    }

    /// Reports whether `line` is not CDX but CDXJ, which has JSON after two words.
    pub fn is_foreign(&self, line: &[u8]) -> bool {
        let mut words = line.splitn(3, |&byte| byte == b' ');
        self.columns == CDX_COLUMNS && words.nth(2).is_some_and(|rest| rest.starts_with(b"{"))
    }

    /// Returns the names of the selected fields.
    pub fn columns(&self) -> &'static [&'static str] {
        if self.is_request_only { &self.columns[..self.requests] } else { self.columns }
    }

    /// Returns the start of a line that names fields.
    pub fn prefix(&self) -> &'static [u8] {
        self.prefix
    }

    /// Returns why a line of `count` fields cannot be read. `named` is the number of fields that the last line of names has, if there
    /// was one.
    pub fn mismatch(&self, count: usize, named: Option<usize>) -> Option<Reason> {
        let least = self.default.last().map_or(usize::MAX, |last| last.field as usize + 1);
        match named {
            Some(named) if named == count => None,
            Some(_) => Some(Reason::NotInLog("the line has not as many fields as the header line names")),
            None if count >= least => None,
            None if least < usize::MAX => Some(Reason::NotInLog("the line has not the fields of CDX")),
            None => Some(Reason::NotInLog("no #Fields: line before this line")),
        }
    }

    /// Reads `line`. Returns `None` if it contains fields, and otherwise the number of fields that it names and the selected positions
    /// among them, if it names any.
    pub fn read(&self, line: &[u8]) -> Option<Option<(usize, Vec<Position>)>> {
        if !line.starts_with(self.comment) {
            return None;
        }
        let Some(names) = line.strip_prefix(self.prefix) else { return Some(None) };
        let names = names.split(|byte| b" \t".contains(byte)).filter(|name| !name.is_empty());
        let count = names.clone().count();
        // The names in CDX are letters whose case matters; names of W3C logs are case-insensitive.
        let is_same = |column: &[u8], name: &[u8]| {
            if column.len() == 1 { column == name } else { column.eq_ignore_ascii_case(name) }
        };
        let at = |column: &&str| names.clone().position(|name| is_same(column.as_bytes(), name));
        if self.is_request_only {
            let request = self.columns().iter().find_map(at);
            return Some(Some((count, request.map(|at| Position::of(at as isize)).into_iter().collect())));
        }
        let is_wanted = |name: &[u8]| self.columns.iter().any(|column| is_same(column.as_bytes(), name));
        let wanted = names.enumerate().filter(|(_, name)| is_wanted(name));
        Some(Some((count, wanted.map(|(at, _)| Position::of(at as isize)).collect())))
    }
}
