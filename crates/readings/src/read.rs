//! Reads a request target by the steps of a reading, which describes how one server reads targets.

use std::borrow::Cow;

use memchr::{memchr, memchr3, memmem, memrchr};
use simdpct::{ByteSet, Encode, decode_escape, sets};
use simdpct_uri::host::special_port;

use crate::escapes::{
    Part, Text, before, decode, decode_guarded, decode_utf8, decoded, expand_percent_u, has_escape_of,
    has_malformed, replace, rewrite,
};
use crate::step::{Form, RejectReason, Step};

/// The answer of a reading to a request target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Outcome<'a> {
    /// The server accepts the target and routes it.
    Read {
        /// The path that rules and routes are compared with.
        route: Cow<'a, [u8]>,
        /// The text that the next server, or the application, gets; `None` if the server serves files of its own.
        passed_on: Option<Cow<'a, [u8]>>,
    },
    /// The server redirects the client to this target.
    Redirect(Vec<u8>),
    /// The target is rejected.
    Rejected {
        /// The status of the response; 0 if the connection is closed without one.
        status: u16,
        /// The reason.
        reason: RejectReason,
    },
}

impl Outcome<'_> {
    /// Returns the path that the target is routed on; `None` if it is not routed.
    #[must_use]
    pub fn route(&self) -> Option<&[u8]> {
        if let Outcome::Read { route, .. } = self { Some(route) } else { None }
    }

    /// Returns the text that the next server gets; `None` if nothing is passed on.
    #[must_use]
    pub fn passed_on(&self) -> Option<&[u8]> {
        if let Outcome::Read { passed_on, .. } = self { passed_on.as_deref() } else { None }
    }

    /// Copies borrowed text.
    pub fn into_owned(self) -> Outcome<'static> {
        match self {
            Outcome::Read { route, passed_on } => Outcome::Read {
                route: Cow::Owned(route.into_owned()),
                passed_on: passed_on.map(|text| Cow::Owned(text.into_owned())),
            },
            Outcome::Redirect(to) => Outcome::Redirect(to),
            Outcome::Rejected { status, reason } => Outcome::Rejected { status, reason },
        }
    }
}

/// A request target, and the texts that the steps make of it.
pub(crate) struct Request<'a> {
    /// The target as it came, without the bytes that [`Step::DropBytes`] removed.
    sent: Text<'a>,
    /// The same as `sent`, but in the form of a path: without scheme and authority. It still has its fragment.
    whole: Text<'a>,
    /// The text that [`Step::Split`] splits: path and query.
    target: Text<'a>,
    /// The length of the path in `target`.
    path_len: usize,
    query: Text<'a>,
    /// The text that the next step reads.
    text: Text<'a>,
    route: Option<Text<'a>>,
    is_accepted: bool,
    is_passed_on: bool,
    status: u16,
}

impl<'a> Request<'a> {
    pub(crate) fn new(target: &'a [u8]) -> Request<'a> {
        let target = Cow::Borrowed(target);
        Request {
            sent: target.clone(),
            whole: target.clone(),
            target: target.clone(),
            path_len: 0,
            query: Cow::Borrowed(b""),
            text: target,
            route: None,
            is_accepted: false,
            is_passed_on: true,
            status: 400,
        }
    }

    /// Takes all steps, up to one that rejects the target or answers it with a redirect.
    pub(crate) fn run(mut self, steps: &[Step]) -> Outcome<'a> {
        for step in steps {
            if let Err(outcome) = self.step(step) {
                return outcome;
            }
        }
        let text = self.text;
        Outcome::Read {
            route: self.route.unwrap_or_else(|| text.clone()),
            passed_on: self.is_passed_on.then_some(text),
        }
    }

    /// Takes one step. An error is the final answer to the target.
    fn step(&mut self, step: &Step) -> Result<(), Outcome<'static>> {
        let form = self.form();
        let is_one_of = |forms: &[Form]| form.is_some_and(|form| forms.contains(&form));
        let path = &self.target[..self.path_len];
        let text = &mut self.text;
        let status = self.status;
        let reject_if = |is_rejected: bool, reason: RejectReason| {
            if is_rejected { Err(Outcome::Rejected { status, reason }) } else { Ok(()) }
        };
        match step {
            Step::Status(status) => self.status = *status,

            Step::DropBytes(set) => {
                text.to_mut().retain(|&byte| !set.contains(byte));
                (self.sent, self.whole) = (text.clone(), text.clone());
            }
            Step::RejectBytes(set) => reject_if(has(set, text), RejectReason::Byte)?,
            Step::RejectInvalidUtf8 => reject_if(!is_utf8(text), RejectReason::Utf8)?,
            Step::RejectOtherSchemes if form == Some(Form::Absolute) => {
                let scheme = before(b':', &self.sent).to_ascii_lowercase();
                reject_if(!matches!(&*scheme, b"http" | b"https"), RejectReason::Form)?;
            }
            Step::RejectEmptyHost if form == Some(Form::Absolute) => {
                let host = simdpct_uri::split(&*self.sent).host();
                reject_if(host.is_none_or(|host| host.raw().is_empty()), RejectReason::Form)?;
            }
            Step::RejectInAuthority(set) if form == Some(Form::Absolute) => {
                let mut parts = self.sent.split(|byte| b"/?".contains(byte));
                // Two slashes end the scheme and an empty part.
                let authority = parts.nth(2).unwrap_or_default();
                reject_if(has(set, authority), RejectReason::Byte)?;
            }
            Step::StripOrigin { empty, query } if form == Some(Form::Absolute) => {
                let rest = slice(&self.sent, origin(&self.sent), self.sent.len());
                if rest.starts_with(b"/") {
                    self.accept(rest);
                } else {
                    reject_if(empty.is_none() || !(*query || rest.is_empty()), RejectReason::Form)?;
                    self.accept(Cow::Owned([empty.unwrap_or_default().as_bytes(), &*rest].concat()));
                }
            }
            Step::StripSpecialOrigin if form == Some(Form::Absolute) => {
                let scheme = simdpct_uri::split(&*self.sent).scheme().map_or(0, <[u8]>::len);
                if special_port(&self.sent[..scheme]).is_some() {
                    let is_slash = |byte: &&u8| SLASHES.contains(**byte);
                    let host = scheme + 1 + self.sent[scheme + 1..].iter().take_while(is_slash).count();
                    let len = self.sent[host..].iter().position(|byte| b"/\\?#".contains(byte));
                    let rest = &self.sent[len.map_or(self.sent.len(), |len| host + len)..];
                    let slash =
                        if rest.first().is_some_and(|byte| SLASHES.contains(*byte)) { "" } else { "/" };
                    self.accept(Cow::Owned([slash.as_bytes(), rest].concat()));
                }
            }
            Step::StripScheme if form == Some(Form::Relative) => {
                let path = simdpct_uri::split(&*self.sent).scheme().map(|scheme| scheme.len() + 1);
                if let Some(path) = path.filter(|&path| self.sent[path..].starts_with(b"/")) {
                    self.accept(slice(&self.sent, path, self.sent.len()));
                }
            }
            Step::StripAnyScheme { slash } if form == Some(Form::Relative) => {
                if let Some(scheme) = simdpct_uri::split(&*self.sent).scheme() {
                    let path = &self.sent[scheme.len() + 1..];
                    let slash = if path.starts_with(b"/") { "" } else { slash };
                    self.accept(Cow::Owned([slash.as_bytes(), path].concat()));
                }
            }
            Step::EmptyStar if is_one_of(&[Form::Star, Form::StarPath]) => self.accept(Cow::Borrowed(b"")),
            Step::StripHost(forms) if is_one_of(forms) => {
                let at = memchr3(b'/', b'?', b'#', text).unwrap_or(text.len());
                let slash = if text[at..].starts_with(b"/") { "" } else { "/" };
                let rest = [slash.as_bytes(), &text[at..]].concat();
                self.accept(Cow::Owned(rest));
            }
            Step::Keep(forms) => self.is_accepted |= is_one_of(forms),
            Step::PutSlash(forms) if is_one_of(forms) => {
                self.accept(Cow::Owned([b"/", &*self.sent].concat()));
            }
            Step::RejectOtherForms => {
                reject_if(!self.is_accepted && form.is_some(), RejectReason::Form)?;
            }
            Step::RejectFragment => reject_if(text.contains(&b'#'), RejectReason::Fragment)?,
            Step::CutFragmentWithoutQuery if text.contains(&b'?') => {}
            Step::CutFragment | Step::CutFragmentWithoutQuery => truncate(text, before(b'#', text).len()),
            Step::Split => {
                self.target = std::mem::take(text);
                self.path_len = before(b'?', &self.target).len();
                self.query = slice(&self.target, self.path_len, self.target.len());
                self.text = self.path();
            }

            Step::RejectBackslash => reject_if(text.contains(&b'\\'), RejectReason::Backslash)?,
            Step::BackslashesToSlashes => backslashes_to_slashes(text),
            Step::ParseLikeNode if !self.sent.starts_with(b"/") || self.sent.contains(&b'#') => {
                backslashes_to_slashes(text);
                parse_like_node(form, text);
            }
            Step::UrlParse => {
                backslashes_to_slashes(text);
                let is_fast = form.is_none() && !self.sent.contains(&b'#') && !text.contains(&b'@');
                if !is_fast || leading_slashes(text) > 2 {
                    parse_like_node(form, text);
                }
            }
            Step::MergeLeadingSlashes => drop_start(text, leading_slashes(text).saturating_sub(1)),
            Step::DropAuthority if text.starts_with(b"//") && matches!(*self.sent, [b'/' | b'\\', ..]) => {
                let slashes = leading_slashes(text);
                reject_if(slashes == text.len(), RejectReason::Form)?;
                match memchr(b'/', &text[slashes..]) {
                    Some(len) => drop_start(text, slashes + len),
                    None => *text = Cow::Borrowed(b"/"),
                }
            }
            Step::ReadLatin1 => read_latin1(text),
            Step::EscapeBytes(set) => escape(set, text),

            Step::RejectParams => reject_if(text.contains(&b';'), RejectReason::Params)?,
            Step::RejectEmptyParams => reject_if(has_pair(b"/;", text), RejectReason::Params)?,
            Step::RejectDotParams => reject_if(has_dots_with(b';', text), RejectReason::Params)?,
            Step::DropDotParams => drop_params(false, text),
            Step::DropParams => drop_params(true, text),
            Step::RejectEscapedDots => reject_if(has_dots_with(b'%', text), RejectReason::Dots)?,

            Step::RejectMalformed => reject_if(has_malformed(text), RejectReason::Malformed)?,
            Step::EmptyIfMalformed if has_malformed(text) => *text = Cow::Borrowed(b""),
            Step::EscapeMalformed => escape_malformed(text),
            Step::RejectEscapes(set) => reject_if(has_escape_of(set, text), RejectReason::Escape)?,
            Step::RejectNul => reject_if(has_escape_of(&NUL, text), RejectReason::Nul)?,
            Step::ExpandPercentU => expand_percent_u(text),
            Step::UpperEscapes(set) => upper_escapes(set, text),
            Step::EscapesToUnderscores(set) => replace(text, |part| decoded(set, part).map(|_| b"_")),
            Step::Decode(set) => decode(set, text),
            Step::DecodeGuarded(set) => decode_guarded(set, text),
            Step::DecodeUtf8(set) => decode_utf8(set, text),
            Step::DecodeOrKeep if !has_malformed(text) => {
                let mut all = text.clone();
                decode(&ByteSet::ALL, &mut all);
                if is_utf8(&all) {
                    *text = all;
                }
            }
            Step::RejectDouble => {
                let is_escape = |at: usize| matches!(text[at + 3..], [high, low, ..] if decode_escape(&[b'%', high, low]).is_some());
                reject_if(memmem::find_iter(text, b"%25").any(is_escape), RejectReason::Double)?;
            }
            Step::CutAtNul => truncate(text, before(0, text).len()),
            Step::ReplaceInvalidUtf8 if !is_utf8(text) => {
                *text = Cow::Owned(String::from_utf8_lossy(text).into_owned().into_bytes());
            }
            Step::EscapeInvalidUtf8 if !is_utf8(text) => escape_invalid(text),
            Step::InvalidUtf8ToLatin1 if !is_utf8(text) => read_latin1(text),
            Step::RejectNeverUtf8 => {
                let is_never = |byte: &u8| matches!(byte, 0xC0 | 0xC1 | 0xF5..);
                reject_if(text.iter().any(is_never), RejectReason::Utf8)?;
            }
            Step::DropLastNewline if text.ends_with(b"\n") => truncate(text, text.len() - 1),
            Step::RejectNewline => reject_if(text.contains(&b'\n'), RejectReason::Newline)?,

            Step::RejectDecodedLead => {
                let is_decoded = text.starts_with(b"//") && !self.target.starts_with(b"//");
                reject_if(is_decoded, RejectReason::Slashes)?;
            }
            Step::RejectDotDotBackslash => reject_if(has_dotdot_backslash(text), RejectReason::Dots)?,
            Step::StartWithSlash if !text.starts_with(b"/") => text.to_mut().insert(0, b'/'),
            Step::TrimEnd(set) => {
                let trimmed = text.iter().skip(1).rev().take_while(|&&byte| set.contains(byte)).count();
                truncate(text, text.len() - trimmed);
            }
            Step::DropSlash(forms) if is_one_of(forms) && text.starts_with(b"/") => drop_start(text, 1),
            Step::RejectDoubleSlashes => reject_if(has_pair(b"//", text), RejectReason::Slashes)?,
            Step::MergeSlashes => merge_slashes(text),
            Step::MergeSlashesUnlessAll if leading_slashes(text) == text.len() => {
                truncate(text, text.len().min(2))
            }
            Step::MergeSlashesUnlessAll => merge_slashes(text),
            Step::RejectDots => {
                reject_if(segments(text).any(|segment| dots(segment, false) > 0), RejectReason::Dots)?;
            }
            Step::RejectDotDot => {
                reject_if(segments(text).any(|segment| segment == b".."), RejectReason::Dots)?;
            }
            Step::RemoveDots { escaped, clean, reject_above } => {
                let goes_above = remove_dots(text, *escaped, *clean);
                reject_if(goes_above && *reject_above, RejectReason::Above)?;
            }
            Step::Lowercase => *text = Cow::Owned(lowercase(String::from_utf8_lossy(text).as_bytes())),

            Step::RejectQueryEscapes(set) => reject_if(has_escape_of(set, &self.query), RejectReason::Query)?,
            Step::ExtendToLastQuery => {
                let last = memrchr(b'?', &self.query).unwrap_or(0);
                if last > 0 {
                    text.to_mut().extend_from_slice(&self.query[..last]);
                }
            }
            Step::DropEmptyQuery if *self.query == *b"?" => self.query = Cow::Borrowed(b""),
            Step::NormalizeQuery(set) => {
                escape_malformed(&mut self.query);
                upper_escapes(&ByteSet::ALL, &mut self.query);
                decode(set, &mut self.query);
            }
            Step::RedirectUnclean => {
                let to = clean(text);
                if to != **text {
                    let to = Encode::keeping(ESCAPED_BY_GO.complement()).encode_owned(to);
                    return Err(Outcome::Redirect([&to, &*self.query].concat()));
                }
            }
            Step::RedirectEscapedSlash if has_escape_of(&SLASHES, path) => {
                return Err(Outcome::Redirect([&**text, &*self.query].concat()));
            }
            Step::Route => self.route = Some(text.clone()),

            Step::Sent => *text = self.sent.clone(),
            Step::Target => *text = self.whole.clone(),
            Step::RawPath => self.text = self.path(),
            Step::CutQuery => truncate(text, before(b'?', text).len()),
            Step::EscapeIfEscaped(set) if path.contains(&b'%') => escape(set, text),
            Step::EscapeButSlash(set) => {
                reject_if(has_malformed(text), RejectReason::Malformed)?;
                let keep = Encode::keeping(set.complement());
                rewrite(text, |part| match part {
                    Part::Escape(_, b'/') => None,
                    _ => Some(keep.encode(part.source()).into_owned()),
                });
            }
            Step::EscapeLikeGo => {
                const INVALID: ByteSet = PATH.add(b"[]%").complement();
                self.text = self.path();
                if self.text.is_empty() {
                    self.text = Cow::Borrowed(b"/");
                } else if has(&INVALID, &self.text) {
                    decode(&ByteSet::ALL, &mut self.text);
                    escape(&ESCAPED_BY_GO, &mut self.text);
                }
            }
            Step::AddOrigin if self.sent.starts_with(b"*") => *text = self.sent.clone(),
            Step::AddOrigin => {
                let origin = &self.sent[..origin(&self.sent)];
                if !origin.is_empty() {
                    *text = Cow::Owned([origin, &**text].concat());
                }
            }
            Step::AddQuery => {
                // If neither path nor query has changed, they are adjacent in the target, and the result is borrowed.
                let both = [&**text, &*self.query].concat();
                *text = match &self.target {
                    Cow::Borrowed(target) if target.starts_with(&both) => {
                        Cow::Borrowed(&target[..both.len()])
                    }
                    _ => Cow::Owned(both),
                };
            }
            Step::ServeFiles => self.is_passed_on = false,

            // The condition of the step does not hold, so the step does nothing.
            _ => {}
        }
        Ok(())
    }

    /// Returns the form of a target that does not begin with a slash.
    fn form(&self) -> Option<Form> {
        match &*self.sent {
            [b'/', ..] => None,
            b"*" => Some(Form::Star),
            [b'*', ..] => Some(Form::StarPath),
            [b'?', ..] => Some(Form::Query),
            sent if origin(sent) > 0 => Some(Form::Absolute),
            _ => Some(Form::Relative),
        }
    }

    /// Replaces a target that does not begin with a slash by `text`.
    fn accept(&mut self, text: Text<'a>) {
        self.whole = text.clone();
        self.text = text;
        self.is_accepted = true;
    }

    /// Returns the path as it was at [`Step::Split`].
    fn path(&self) -> Text<'a> {
        slice(&self.target, 0, self.path_len)
    }
}

const NUL: ByteSet = ByteSet::from_bytes(b"\0");
const SLASHES: ByteSet = ByteSet::from_bytes(b"/\\");
const PATH: ByteSet = sets::RFC3986_PATH.to_byte_set();
/// The bytes that `url.parse` of Node escapes.
const ESCAPED_BY_NODE: ByteSet = ByteSet::from_bytes(b"\"'<>^`{|}");
/// The bytes that Go escapes in a path.
const ESCAPED_BY_GO: ByteSet = sets::RFC3986_UNRESERVED.to_byte_set().add(b"$&+,/:;=@").complement();

/// Returns the length of scheme and authority, `http://host`, of a target in absolute form, and otherwise 0.
fn origin(target: &[u8]) -> usize {
    let parts = simdpct_uri::split(target);
    match (parts.scheme(), parts.authority()) {
        (Some(scheme), Some(authority)) => scheme.len() + 3 + authority.len(),
        _ => 0,
    }
}

fn has(set: &ByteSet, text: &[u8]) -> bool {
    text.iter().any(|&byte| set.contains(byte))
}

fn is_utf8(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok()
}

/// Changes `text` to lower case, each character by itself, as servers do: a sigma at the end of a word is one as any other. Bytes that are
/// not UTF-8 stay.
pub(crate) fn lowercase(text: &[u8]) -> Vec<u8> {
    let lower = |valid: &str| String::from_iter(valid.chars().flat_map(char::to_lowercase));
    text.utf8_chunks().flat_map(|chunk| [lower(chunk.valid()).as_bytes(), chunk.invalid()].concat()).collect()
}

/// Replaces each byte, which is read as a character of Latin-1, by the UTF-8 of this character.
fn read_latin1(text: &mut Text<'_>) {
    if !text.is_ascii() {
        *text = Cow::Owned(text.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes());
    }
}

/// Escapes bytes that are not UTF-8.
fn escape_invalid(text: &mut Text<'_>) {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        simdpct::encode_append(chunk.invalid(), &mut out);
    }
    *text = Cow::Owned(out);
}

fn backslashes_to_slashes(text: &mut Text<'_>) {
    if text.contains(&b'\\') {
        text.to_mut().iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
}

/// Escapes bytes as `url.parse` of Node does. Before that, removes `//user@host` from a target that begins with a slash.
fn parse_like_node(form: Option<Form>, text: &mut Text<'_>) {
    if form.is_none() && text.starts_with(b"//") {
        let names = before(b'/', &text[2..]);
        let mut first_two = names.split(|&byte| byte == b'@');
        if let (Some([_, ..]), Some([_, ..])) = (first_two.next(), first_two.next()) {
            let host = 2 + memrchr(b'@', names).map_or(0, |at| at + 1);
            let is_end = |byte: &u8| b"/\"%';<>^`{|}".contains(byte);
            let end = text[host..].iter().position(is_end).map_or(text.len(), |len| host + len);
            drop_start(text, end);
        }
    }
    escape(&ESCAPED_BY_NODE, text);
}

fn escape(set: &ByteSet, text: &mut Text<'_>) {
    if has(set, text) {
        *text = Cow::Owned(Encode::keeping(set.complement()).encode(&**text).into_owned());
    }
}

fn upper_escapes(set: &ByteSet, text: &mut Text<'_>) {
    replace(text, |part| match part {
        Part::Escape(source, byte) if set.contains(*byte) => Some(source.to_ascii_uppercase()),
        _ => None,
    });
}

/// Escapes each `%` that begins no escape.
fn escape_malformed(text: &mut Text<'_>) {
    replace(text, |part| matches!(part, Part::Stray(_)).then_some(b"%25"));
}

/// Returns the segments that have a slash before them.
fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').skip(1)
}

/// Removes path parameters: all of them if `all` is true, or only those of dot segments.
fn drop_params(all: bool, text: &mut Text<'_>) {
    if !text.contains(&b';') {
        return;
    }
    let mut kept = Vec::with_capacity(text.len());
    for (index, segment) in text.split(|&byte| byte == b'/').enumerate() {
        let name = before(b';', segment);
        if index > 0 {
            kept.push(b'/');
        }
        kept.extend_from_slice(if all || (index > 0 && dots(name, false) > 0) { name } else { segment });
    }
    *text = Cow::Owned(kept);
}

/// Removes dot segments from a path that begins with a slash, and reports whether one goes above the root. If `escaped`, `%2e` counts as a
/// dot. If `clean`, no slash remains in place of a dot segment at the end.
fn remove_dots(path: &mut Text<'_>, escaped: bool, clean: bool) -> bool {
    let may_be_dots = |pair: &[u8]| pair[0] == b'/' && (pair[1] == b'.' || (escaped && pair[1] == b'%'));
    if !path.starts_with(b"/") || !path.windows(2).any(may_be_dots) {
        return false;
    }
    let mut goes_above = false;
    let mut kept = Vec::with_capacity(path.len());
    let mut segments = segments(path).peekable();
    while let Some(segment) = segments.next() {
        match dots(segment, escaped) {
            0 => {
                kept.push(b'/');
                kept.extend_from_slice(segment);
                continue;
            }
            2 => match memrchr(b'/', &kept) {
                Some(slash) => kept.truncate(slash),
                None => goes_above = true,
            },
            _ => {}
        }
        if segments.peek().is_none() && !clean {
            kept.push(b'/');
        }
    }
    if kept.is_empty() {
        kept.push(b'/');
    }
    drop(segments);
    *path = Cow::Owned(kept);
    goes_above
}

/// Returns a path as Go's `ServeMux` cleans it: without runs of slashes and dot segments. A slash at the end stays.
fn clean(path: &[u8]) -> Vec<u8> {
    let mut clean = Cow::Owned(if path.starts_with(b"/") { path.to_vec() } else { [b"/", path].concat() });
    merge_slashes(&mut clean);
    remove_dots(&mut clean, false, true);
    let mut clean = clean.into_owned();
    if path.ends_with(b"/") && !clean.ends_with(b"/") {
        clean.push(b'/');
    }
    clean
}

/// Returns 1 for the segment `.`, 2 for `..`, and 0 for all others. If `escaped`, `%2e` counts as a dot.
fn dots(segment: &[u8], escaped: bool) -> usize {
    let mut rest = segment;
    for count in 0..3 {
        rest = match rest {
            [] => return count,
            [b'.', rest @ ..] => rest,
            [b'%', b'2', b'e' | b'E', rest @ ..] if escaped => rest,
            _ => return 0,
        };
    }
    0
}

/// Reports whether a path has a dot segment that contains `byte`, be it in an escaped dot or in its parameters.
fn has_dots_with(byte: u8, path: &[u8]) -> bool {
    segments(path).any(|segment| segment.contains(&byte) && dots(before(b';', segment), true) > 0)
}

/// Reports whether a path has `..\` where a segment may begin, or `\..` at the end of one.
fn has_dotdot_backslash(path: &[u8]) -> bool {
    memmem::find_iter(path, b"..").any(|at| {
        let (before, after) = (path[..at].last(), path.get(at + 2));
        let starts = matches!(before, None | Some(b'/' | b'\\'));
        (starts && after == Some(&b'\\')) || (before == Some(&b'\\') && matches!(after, None | Some(b'/')))
    })
}

fn has_pair(pair: &[u8; 2], text: &[u8]) -> bool {
    memmem::find(text, pair).is_some()
}

fn leading_slashes(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b'/').count()
}

fn merge_slashes(path: &mut Text<'_>) {
    if has_pair(b"//", path) {
        path.to_mut().dedup_by(|a, b| *a == b'/' && *b == b'/');
    }
}

fn slice<'a>(text: &Text<'a>, from: usize, to: usize) -> Text<'a> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
        Cow::Owned(text) => Cow::Owned(text[from..to].to_vec()),
    }
}

fn drop_start(text: &mut Text<'_>, len: usize) {
    *text = slice(text, len, text.len());
}

fn truncate(text: &mut Text<'_>, len: usize) {
    match text {
        Cow::Borrowed(text) => *text = &text[..len],
        Cow::Owned(text) => text.truncate(len),
    }
}
