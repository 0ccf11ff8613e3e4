//! Parses URLs by the URL Standard: with the crate url, and around its differences from the standard.
//!
//! url 2.5 drops the host of `file` URLs with a drive letter, and slashes of their paths, so their parts are read here (the states
//! "file", "file slash", "file host" and "path" of the standard). In paths of other schemes, `..` does not remove `C:` in url, so drive
//! letters are hidden from it. url also accepts two kinds of authorities that the standard rejects, and reads slashes and backslashes at the
//! start of some references differently.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use simdpct::{AsciiSet, Encode, sets};
use url::{Host, ParseError, Url};

/// The bytes that stay unescaped in a path: like url and the tests of web-platform-tests that it passes, `^` too.
const PATH: AsciiSet = match AsciiSet::from_bytes(b"^") {
    Some(caret) => sets::WHATWG_PATH.union(caret),
    None => sets::WHATWG_PATH,
};

/// Parses `input` and returns the serialization. A relative reference is resolved against `base`, which is the serialization of another
/// URL.
pub(crate) fn parse(base: Option<&str>, input: &str) -> Result<String, ParseError> {
    let input = input.trim_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "");
    let scheme = scheme_of(&input);
    let base_scheme = base.and_then(scheme_of);
    let file_base = base.filter(|_| base_scheme.is_some_and(is_file));
    if !scheme.map_or(file_base.is_some(), is_file) {
        return with_url(base, &input, scheme.or(base_scheme).is_some_and(is_special));
    }
    let base = file_base.map(|base| File::parse(&base["file:".len()..], None)).transpose()?;
    let rest = scheme.map_or(0, |scheme| scheme.len() + 1);
    Ok(File::parse(&input[rest..], base)?.to_string())
}

/// Parses with the crate url.
fn with_url(base: Option<&str>, input: &str, is_special: bool) -> Result<String, ParseError> {
    let is_slash = |c| matches!(c, '/' | '\\');
    let input = &*match input.strip_prefix(is_slash).and_then(|rest| rest.strip_prefix(is_slash)) {
        // Browsers skip further slashes, and url finds an empty host there.
        Some(rest) if is_special => Cow::Owned(format!("//{}", rest.trim_start_matches(is_slash))),
        // url reads these backslashes as slashes, although the scheme of the base is not special.
        _ if !is_special && input.starts_with('\\') => Cow::Owned(format!("./{input}")),
        _ if !is_special && input.starts_with("/\\") => Cow::Owned(format!("/.{input}")),
        _ => Cow::Borrowed(input),
    };
    let authority = authority(input, is_special);
    if !is_special && !authority.is_empty() {
        let authority = &input[authority];
        let host = authority.rsplit('@').next().unwrap_or_default();
        // The first is `sc://@`, the second `sc://h:\`.
        if authority.len() > host.len() && host.is_empty() || host.contains('\\') {
            return Err(ParseError::InvalidDomainCharacter);
        }
    }
    let has_drive =
        |url: &str| url.as_bytes().windows(3).any(|bytes| matches!(bytes, [b'/' | b'\\', _, b':' | b'|']));
    let mark = if has_drive(input) || base.is_some_and(has_drive) {
        unused_mark(base, input)
    } else {
        String::new()
    };
    let hide = |url: &str| if mark.is_empty() { url.to_string() } else { with_marks(url, is_special, &mark) };
    let base = base.map(|base| Url::parse(&hide(base))).transpose()?;
    let url = Url::options().base_url(base.as_ref()).parse(&hide(input))?;
    Ok(if mark.is_empty() { url.into() } else { url.as_str().replace(&mark, "") })
}

/// Returns a text of unreserved characters, `~` and a number and `~`, that neither URL holds.
fn unused_mark(base: Option<&str>, input: &str) -> String {
    let numbers = [base.unwrap_or_default(), input].into_iter().flat_map(|url| url.split('~'));
    let used: BTreeSet<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    let unused = used.iter().zip(0..).find(|(used, number)| *used != number);
    format!("~{}~", unused.map_or(used.len(), |(_, number)| number as usize))
}

/// Writes `mark` after each segment of the path that is a drive letter.
fn with_marks(url: &str, is_special: bool, mark: &str) -> String {
    let path = authority(url, is_special).end;
    let end = url[path..].find(['?', '#']).map_or(url.len(), |at| path + at);
    let mut out = String::from(&url[..path]);
    let is_slash = |c| c == '/' || is_special && c == '\\';
    for segment in url[path..end].split_inclusive(is_slash) {
        let name = segment.trim_end_matches(is_slash);
        out.push_str(name);
        if is_drive_letter(name) {
            out.push_str(mark);
        }
        out.push_str(&segment[name.len()..]);
    }
    out.push_str(&url[end..]);
    out
}

/// Returns the range of the authority of `url`. It is empty, and at the start of the path, if the URL has no authority.
fn authority(url: &str, is_special: bool) -> core::ops::Range<usize> {
    let start = scheme_of(url).map_or(0, |scheme| scheme.len() + 1);
    let is_slash = |byte: &u8| *byte == b'/' || is_special && *byte == b'\\';
    let slashes = url.as_bytes()[start..].iter().take_while(|byte| is_slash(byte)).count();
    if slashes < 2 && (!is_special || start == 0) {
        return start..start;
    }
    let start = start + if is_special { slashes } else { 2 };
    let len = url.as_bytes()[start..].iter().position(|byte| is_slash(byte) || matches!(byte, b'?' | b'#'));
    start..len.map_or(url.len(), |len| start + len)
}

/// Returns the scheme of a URL, in any case.
fn scheme_of(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme)).then_some(scheme)
}

fn is_file(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("file")
}

fn is_special(scheme: &str) -> bool {
    ["http", "https", "ws", "wss", "ftp", "file"].iter().any(|special| scheme.eq_ignore_ascii_case(special))
}

/// Reports whether `text` is a Windows drive letter: a letter and `:` or `|`.
fn is_drive_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// Reports whether `text` starts with a Windows drive letter that ends its segment.
fn starts_with_drive_letter(text: &str) -> bool {
    is_drive_letter(text.split(['/', '\\', '?', '#']).next().unwrap_or_default())
}

/// The parts of a `file` URL.
#[derive(Default)]
struct File {
    host: String,
    segments: Vec<String>,
    query: Option<String>,
    fragment: Option<String>,
}

impl File {
    /// Reads the part of a URL after `file:`, or a reference that is relative to `base`.
    fn parse(rest: &str, base: Option<File>) -> Result<File, ParseError> {
        let is_slash = |c| matches!(c, '/' | '\\');
        let mut url = File::default();
        let one = rest.strip_prefix(is_slash);
        let two = one.and_then(|rest| rest.strip_prefix(is_slash));
        let mut path = Some(rest);
        match (one, two, base) {
            (_, Some(after), _) if starts_with_drive_letter(after) => path = Some(after),
            (_, Some(after), _) => {
                let (host, after) = after.split_at(after.find(['/', '\\', '?', '#']).unwrap_or(after.len()));
                if !host.is_empty() {
                    url.host = Host::parse(host)?.to_string();
                }
                if url.host == "localhost" {
                    url.host.clear();
                }
                path = Some(after.strip_prefix(is_slash).unwrap_or(after));
            }
            (Some(after), None, base) => {
                if let Some(base) = base {
                    url.host = base.host;
                    let first = base.segments.into_iter().next().filter(|first| is_drive_letter(first));
                    url.segments.extend(first.filter(|_| !starts_with_drive_letter(after)));
                }
                path = Some(after);
            }
            (None, _, Some(base)) => {
                url = File { fragment: None, ..base };
                if rest.is_empty() || rest.starts_with('#') {
                    path = None;
                } else if rest.starts_with('?') {
                    (path, url.query) = (None, None);
                } else {
                    url.query = None;
                    if starts_with_drive_letter(rest) { url.segments.clear() } else { url.shorten() }
                }
            }
            (None, _, None) => {}
        }
        let (before_fragment, fragment) = match rest.split_once('#') {
            Some((before, fragment)) => (before, Some(fragment)),
            None => (rest, None),
        };
        if let Some(path) = path {
            url.push_path(&path[..path.find(['?', '#']).unwrap_or(path.len())]);
        }
        if let Some((_, query)) = before_fragment.split_once('?') {
            url.query = Some(escaped(sets::WHATWG_SPECIAL_QUERY, query));
        }
        url.fragment = fragment.map(|fragment| escaped(sets::WHATWG_FRAGMENT, fragment));
        Ok(url)
    }

    fn push_path(&mut self, path: &str) {
        let mut segments = path.split(['/', '\\']).peekable();
        while let Some(segment) = segments.next() {
            let is_last = segments.peek().is_none();
            let dots = segment.to_ascii_lowercase().replace("%2e", ".");
            if dots == ".." {
                self.shorten();
            }
            if dots == "." || dots == ".." {
                if is_last {
                    self.segments.push(String::new());
                }
            } else if self.segments.is_empty() && is_drive_letter(segment) {
                self.segments.push(format!("{}:", &segment[..1]));
            } else {
                self.segments.push(escaped(PATH, segment));
            }
        }
    }

    /// Removes the last segment, unless it is the only one and a drive letter.
    fn shorten(&mut self) {
        if !matches!(&self.segments[..], [only] if is_drive_letter(only)) {
            self.segments.pop();
        }
    }
}

impl core::fmt::Display for File {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "file://{}", self.host)?;
        self.segments.iter().try_for_each(|segment| write!(f, "/{segment}"))?;
        for (delimiter, part) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(part) = part {
                write!(f, "{delimiter}{part}")?;
            }
        }
        Ok(())
    }
}

/// Escapes the bytes of `part` that are not in `set`. A `%` stays, whether it starts an escape or not.
fn escaped(set: AsciiSet, part: &str) -> String {
    Encode::keeping(set).encode(part).into_owned()
}
