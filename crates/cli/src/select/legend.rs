//! Lines of a file that name its fields.

use super::spot::Spot;

/// The columns of W3C logs that hold URLs, or what they are made of.
const W3C_COLUMNS: &[&str] = &["cs-uri", "cs-uri-stem", "cs-uri-query", "cs(Referer)", "cs(Referrer)"];

/// The columns of CDX that hold URLs: the original URL, and where it redirects to.
const CDX_COLUMNS: &[&str] = &["a", "r"];

/// What lines of a file say about its fields. What they say holds for the lines after them.
#[derive(Clone, Debug)]
pub struct Legend {
    /// How such a line begins.
    prefix: &'static [u8],
    /// How lines begin that hold no fields.
    comment: &'static [u8],
    /// The fields that hold values.
    columns: &'static [&'static str],
    /// The fields if no line says anything.
    default: &'static [Spot],
}

impl Legend {
    /// Of W3C logs.
    pub fn w3c() -> Legend {
        Legend { prefix: b"#Fields:", comment: b"#", columns: W3C_COLUMNS, default: &[] }
    }

    /// Of indexes of web archives.
    pub fn cdx() -> Legend {
        // Without a line that says so, it is ` CDX N b a m s k r M S V g`.
        const DEFAULT: &[Spot] = &[Spot::of(2), Spot::of(6)];
        Legend { prefix: b" CDX ", comment: b" CDX ", columns: CDX_COLUMNS, default: DEFAULT }
    }

    /// The fields until a line says something else.
    pub fn spots(&self) -> Vec<Spot> {
        self.default.to_vec()
    }

    /// Whether two quotes within quotes are one that is data: the strings of W3C logs.
    pub fn doubles_quotes(&self) -> bool {
        self.columns == W3C_COLUMNS
    }

    /// Whether `line` is not of this format, but of CDXJ, which has JSON after two words.
    pub fn is_foreign(&self, line: &[u8]) -> bool {
        let mut words = line.splitn(3, |&byte| byte == b' ');
        self.columns == CDX_COLUMNS && words.nth(2).is_some_and(|rest| rest.starts_with(b"{"))
    }

    /// The names of the columns that are looked for.
    pub fn columns(&self) -> &'static [&'static str] {
        self.columns
    }

    /// How a line begins that names fields.
    pub fn prefix(&self) -> &'static [u8] {
        self.prefix
    }

    /// Reads `line`. `None` if it has fields; otherwise the spots that it names, if it names any.
    pub fn read(&self, line: &[u8]) -> Option<Option<Vec<Spot>>> {
        if !line.starts_with(self.comment) {
            return None;
        }
        let Some(names) = line.strip_prefix(self.prefix) else { return Some(None) };
        let names = names.split(|byte| b" \t".contains(byte)).filter(|name| !name.is_empty());
        // Letters of CDX mean different things in upper and lower case; names of W3C do not.
        let is_same = |column: &[u8], name: &[u8]| {
            if column.len() == 1 { column == name } else { column.eq_ignore_ascii_case(name) }
        };
        let is_wanted = |name: &[u8]| self.columns.iter().any(|column| is_same(column.as_bytes(), name));
        let wanted = names.enumerate().filter(|(_, name)| is_wanted(name));
        Some(Some(wanted.map(|(at, _)| Spot::of(at)).collect()))
    }
}
