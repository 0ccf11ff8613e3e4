//! Reads a target as the parameters of a reading say.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use memchr::{memchr, memmem, memrchr};
use simdpct::{ByteSet, Encode, HexCase, decode_escape, encode_byte};

use crate::class::is_scheme;

use super::parameters::{
    Backslash, CONTROL, DecodedLead, Dots, DotsOn, EmptyPath, Form, Fragment, Lead, Malformed, Merge, NONE,
    Nul, PATH, Params, PassOn, RawUtf8, Reading, RedirectOn, UNRESERVED, Utf8, Why,
};

/// The answer of a reading to a request target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<'a> {
    /// The target is read.
    Read {
        /// The path that rules and routes are compared with.
        route: Cow<'a, [u8]>,
        /// The text that the next server, or the application, gets; `None` if the server serves files of its own.
        passed_on: Option<Cow<'a, [u8]>>,
    },
    /// The client is sent to this target.
    Redirect(Vec<u8>),
    /// The target is rejected.
    Refused {
        /// The status of the response; 0 if the connection is closed without one.
        status: u16,
        /// The reason.
        why: Why,
    },
}

impl Outcome<'_> {
    /// Returns the path that the target is routed on; `None` if it is not routed.
    #[must_use]
    pub fn route(&self) -> Option<&[u8]> {
        match self {
            Outcome::Read { route, .. } => Some(route),
            _ => None,
        }
    }

    /// Copies borrowed text.
    #[must_use]
    pub fn into_owned(self) -> Outcome<'static> {
        match self {
            Outcome::Read { route, passed_on } => Outcome::Read {
                route: Cow::Owned(route.into_owned()),
                passed_on: passed_on.map(|text| Cow::Owned(text.into_owned())),
            },
            Outcome::Redirect(to) => Outcome::Redirect(to),
            Outcome::Refused { status, why } => Outcome::Refused { status, why },
        }
    }
}

/// Two servers, of which the second gets the text that the first passes on. [`Reading::then`] returns one.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'r> {
    front: &'r Reading,
    back: &'r Reading,
}

impl Chain<'_> {
    /// Reads `target` with the first reading, and the text that it passes on with the second. The second outcome is `None` if
    /// nothing is passed on. Takes time linear in the target.
    #[must_use]
    pub fn read<'a>(self, target: &'a (impl AsRef<[u8]> + ?Sized)) -> (Outcome<'a>, Option<Outcome<'a>>) {
        let front = self.front.read(target);
        let back = match &front {
            Outcome::Read { passed_on: Some(Cow::Borrowed(text)), .. } => Some(self.back.read(*text)),
            Outcome::Read { passed_on: Some(text), .. } => Some(self.back.read(text).into_owned()),
            _ => None,
        };
        (front, back)
    }
}

type Text<'a> = Cow<'a, [u8]>;

impl Reading {
    /// Returns the two readings as a chain: the back reads the text that the front passes on.
    #[must_use]
    pub fn then<'r>(&'r self, back: &'r Reading) -> Chain<'r> {
        Chain { front: self, back }
    }

    /// Reads a request target, the text between method and version in the first line of a request.
    ///
    /// Texts that do not change are borrowed. Takes time linear in the target.
    ///
    /// ```
    /// use simdpct_uri::reading::{Outcome, Why, find};
    ///
    /// let nginx = find("nginx-1.22").unwrap().reading;
    /// assert_eq!(nginx.read("/a/..%2fb?q").route().unwrap(), b"/b");
    /// assert_eq!(nginx.read("/%zz"), Outcome::Refused { status: 400, why: Why::Malformed });
    /// ```
    #[must_use]
    pub fn read<'a>(&self, target: &'a (impl AsRef<[u8]> + ?Sized)) -> Outcome<'a> {
        let target = target.as_ref();
        if let Some((route, passed_on)) = self.read_plain(target) {
            let passed_on = passed_on.map(Cow::Borrowed);
            return Outcome::Read { route: Cow::Borrowed(route), passed_on };
        }
        self.read_any(target)
    }

    #[inline(never)]
    fn read_any<'a>(&self, target: &'a [u8]) -> Outcome<'a> {
        let outcome = if self.drop_raw != NONE && target.iter().any(|&byte| self.drop_raw.contains(byte)) {
            let kept: Vec<u8> =
                target.iter().copied().filter(|&byte| !self.drop_raw.contains(byte)).collect();
            self.form(&kept).map(Outcome::into_owned)
        } else {
            self.form(target)
        };
        outcome.unwrap_or_else(|why| {
            let other = self.statuses.iter().find(|(reason, _)| *reason == why);
            Outcome::Refused { status: other.map_or(400, |&(_, status)| status), why }
        })
    }

    /// Reads a target of any form.
    fn form<'a>(&self, sent: &'a [u8]) -> Result<Outcome<'a>, Why> {
        if sent.iter().any(|&byte| self.refuse_raw.contains(byte)) {
            return Err(Why::Byte);
        }
        if self.raw_utf8 == RawUtf8::Refuse && core::str::from_utf8(sent).is_err() {
            return Err(Why::Utf8);
        }
        if sent.starts_with(b"/") {
            return self.target(sent, sent, sent);
        }
        let after = origin(sent);
        let form = match sent {
            b"*" => self.star,
            _ if after > 0 => self.absolute,
            [b'?', ..] => self.query_only,
            _ => self.relative,
        };
        match form {
            Form::Refuse => Err(Why::Form),
            Form::Keep => self.target(sent, sent, sent),
            Form::Slash => {
                let text = [b"/", sent].concat();
                // The target `*` is passed on as it came.
                let whole = if sent == b"*" { sent } else { &text };
                self.target(sent, whole, &text).map(Outcome::into_owned)
            }
            Form::Strip if sent == b"*" => self.target(sent, sent, b""),
            Form::Strip => {
                let rest = &sent[after..];
                if rest.starts_with(b"/") {
                    return self.target(sent, rest, rest);
                }
                let before: &[u8] = match self.empty {
                    EmptyPath::Refuse => return Err(Why::Form),
                    EmptyPath::SlashNoQuery | EmptyPath::EmptyNoQuery if !rest.is_empty() => {
                        return Err(Why::Form);
                    }
                    EmptyPath::Slash | EmptyPath::SlashNoQuery => b"/",
                    EmptyPath::Empty | EmptyPath::EmptyNoQuery => b"",
                };
                let text = [before, rest].concat();
                self.target(sent, &text, &text).map(Outcome::into_owned)
            }
        }
    }

    /// Reads `target`. `sent` is the target as it came, and `whole` is the target that is passed on if nothing else is.
    fn target<'a>(&self, sent: &'a [u8], whole: &'a [u8], target: &'a [u8]) -> Result<Outcome<'a>, Why> {
        let target = match (memchr(b'#', target), self.fragment) {
            (Some(_), Fragment::Refuse) => return Err(Why::Fragment),
            (Some(at), Fragment::Cut) => &target[..at],
            _ => target,
        };
        let (raw_path, mut query) = target.split_at(memchr(b'?', target).unwrap_or(target.len()));
        let path = self.prepare(sent, raw_path)?;
        let mut route = match self.malformed {
            Malformed::NoRoute if has_malformed(&path) => Cow::Borrowed(&b""[..]),
            _ => self.route(path.clone())?,
        };
        if self.refuse_query != NONE
            && Parts::of(query, false)
                .any(|part| matches!(part, Part::Escape(_, byte) if self.refuse_query.contains(byte)))
        {
            return Err(Why::Query);
        }
        if self.query_last {
            let last = memrchr(b'?', query).unwrap_or(0);
            if last > 0 {
                route.to_mut().extend_from_slice(&query[..last]);
            }
        }
        if self.drop_empty_query && query == b"?" {
            query = b"";
        }
        if let Some(to) = self.redirect(&path, &route, query) {
            return Ok(Outcome::Redirect(to));
        }
        let with_query = |path: Text<'a>| match path {
            // The path did not change, so path and query are still side by side.
            Cow::Borrowed(path) if path == raw_path => Cow::Borrowed(&target[..path.len() + query.len()]),
            path => Cow::Owned([&path, query].concat()),
        };
        let escape = |path: Text<'a>| match path {
            Cow::Borrowed(path) => Encode::keeping(self.pass_set).encode(path),
            Cow::Owned(path) => Cow::Owned(Encode::keeping(self.pass_set).encode_owned(path)),
        };
        let passed_on = match self.pass_on {
            PassOn::Nothing => None,
            PassOn::Target => {
                let mut text = if self.pass_as_sent { sent } else { whole };
                if self.pass_one_slash {
                    text = one_slash(text);
                }
                if self.pass_no_fragment {
                    text = before(b'#', text);
                }
                if self.drop_empty_query {
                    text = text.strip_suffix(b"?").unwrap_or(text);
                }
                Some(Cow::Borrowed(text))
            }
            PassOn::RawPath => {
                Some(Cow::Borrowed(if self.pass_as_sent { before(b'?', sent) } else { raw_path }))
            }
            PassOn::Route => Some(route.clone()),
            PassOn::Escaped => Some(with_query(escape(route.clone()))),
            PassOn::Quoted if path.contains(&b'%') => Some(with_query(escape(route.clone()))),
            PassOn::Quoted | PassOn::RouteAndQuery => Some(with_query(route.clone())),
            PassOn::Param => Some(self.value_of(route.clone(), Malformed::Keep)?),
            PassOn::StrictParam => Some(self.value_of(route.clone(), Malformed::Refuse)?),
            PassOn::ParamOrRoute => {
                Some(self.value_of(route.clone(), Malformed::Refuse).unwrap_or_else(|_| route.clone()))
            }
            PassOn::RawParam => Some(self.value_of(path, Malformed::Keep)?),
            PassOn::Origin | PassOn::Go if sent == b"*" => Some(Cow::Borrowed(sent)),
            PassOn::Origin => match &sent[..origin(sent)] {
                b"" => Some(with_query(route.clone())),
                origin => Some(Cow::Owned([origin, &route, query].concat())),
            },
            PassOn::Go => {
                const VALID: ByteSet = PATH.add(b"[]%");
                const ESCAPED: ByteSet = UNRESERVED.add(b"$&+,/:;=@");
                let path = if raw_path.is_empty() {
                    Cow::Borrowed(&b"/"[..])
                } else if raw_path.iter().all(|&byte| VALID.contains(byte)) {
                    Cow::Borrowed(raw_path)
                } else {
                    let decoded = Reading::PLAIN.decoded(path)?;
                    Cow::Owned(Encode::keeping(ESCAPED).encode_owned(decoded))
                };
                Some(with_query(path))
            }
            PassOn::Redecoded => Some(Cow::Owned(self.redecode(&path, query)?)),
            PassOn::EscapedButSlash => {
                let mut text = Vec::with_capacity(route.len() + query.len());
                for part in Parts::of(&route, false) {
                    match part {
                        Part::Escape(source, b'/') => text.extend_from_slice(source),
                        Part::Run(run) | Part::Escape(run, _) => {
                            Encode::keeping(self.pass_set).encode_append(run, &mut text);
                        }
                        Part::Stray | Part::Unit(_) => return Err(Why::Malformed),
                    }
                }
                text.extend_from_slice(query);
                Some(Cow::Owned(text))
            }
        };
        Ok(Outcome::Read { route, passed_on })
    }

    /// Returns path and query with only some escapes decoded (lighttpd).
    fn redecode(&self, path: &[u8], query: &[u8]) -> Result<Vec<u8>, Why> {
        const KEPT: ByteSet = PATH.add(b"%");
        // A `%` that begins no escape is escaped before anything is decoded.
        let mut whole = Vec::with_capacity(path.len());
        let guard = |text: &[u8], out: &mut Vec<u8>| {
            for part in Parts::of(text, false) {
                match part {
                    Part::Run(source) | Part::Escape(source, _) => out.extend_from_slice(source),
                    Part::Stray | Part::Unit(_) => out.extend_from_slice(b"%25"),
                }
            }
        };
        guard(path, &mut whole);
        let reading = Reading { decode: self.pass_decode, upper: true, utf8: Utf8::Any, ..*self };
        let path = reading.route(Cow::Owned(whole))?;
        let mut text = Encode::keeping(KEPT).encode_owned(path);
        if self.query_last {
            let mut whole = Vec::with_capacity(query.len());
            guard(query, &mut whole);
            let decode = self.pass_decode.remove(b"&=+;#?");
            text.extend(Reading { decode, upper: true, ..Reading::PLAIN }.unescape(&whole)?);
        } else {
            text.extend_from_slice(query);
        }
        Ok(text)
    }

    /// Changes a path before it is read: backslashes, slashes at the start, and raw bytes that are escaped.
    fn prepare<'a>(&self, sent: &[u8], raw: &'a [u8]) -> Result<Text<'a>, Why> {
        let mut path = Cow::Borrowed(raw);
        if raw.contains(&b'\\') {
            match self.backslash {
                Backslash::Refuse => return Err(Why::Backslash),
                Backslash::RawSlash => backslashes_to_slashes(path.to_mut()),
                Backslash::Keep | Backslash::Slash => {}
            }
        }
        if path.starts_with(b"//") {
            let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
            match self.lead {
                Lead::One => drop_start(&mut path, slashes - 1),
                Lead::Authority if sent.starts_with(b"/") || sent.starts_with(b"\\") => {
                    let host = path[slashes..].iter().position(|&byte| byte == b'/');
                    match host {
                        _ if slashes == path.len() => return Err(Why::Form),
                        Some(len) => drop_start(&mut path, slashes + len),
                        None => path = Cow::Borrowed(b"/"),
                    }
                }
                Lead::Keep | Lead::Authority => {}
            }
        }
        if self.raw_utf8 == RawUtf8::Latin1 && !path.is_ascii() {
            path = Cow::Owned(latin1(&path));
        }
        if self.escape_raw != NONE && path.iter().any(|&byte| self.escape_raw.contains(byte)) {
            path = Cow::Owned(Encode::keeping(self.escape_raw.complement()).encode_owned(path));
        }
        Ok(path)
    }

    /// Returns the path that is routed on.
    fn route<'a>(&self, mut path: Text<'a>) -> Result<Text<'a>, Why> {
        if path.contains(&b';') {
            self.params(&mut path)?;
        }
        if self.refuse_escaped_dots {
            let mut segments = path.split(|&byte| byte == b'/');
            if segments.any(|segment| segment.contains(&b'%') && dots(before(b';', segment), true) > 0) {
                return Err(Why::Dots);
            }
        }
        if self.dots_on == DotsOn::Both && self.malformed == Malformed::Refuse && has_malformed(&path) {
            return Err(Why::Malformed);
        }
        if self.dots_on != DotsOn::Decoded {
            if self.merge == Merge::First && path.starts_with(b"/") {
                merge_slashes(&mut path);
            }
            self.remove_dots(&mut path, true, self.refuse_above)?;
        }
        let starts_with_two = path.starts_with(b"//");
        let mut path = self.decoded(path)?;
        if self.refuse_newline && path.contains(&b'\n') {
            return Err(Why::Newline);
        }
        if self.backslash == Backslash::Slash && path.contains(&b'\\') {
            backslashes_to_slashes(path.to_mut());
        }
        match self.decoded_lead {
            DecodedLead::Refuse if path.starts_with(b"//") && !starts_with_two => return Err(Why::Slashes),
            DecodedLead::One => {
                let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
                drop_start(&mut path, slashes.saturating_sub(1));
            }
            DecodedLead::Refuse | DecodedLead::Keep => {}
        }
        if self.refuse_dotdot_backslash && has_dotdot_backslash(&path) {
            return Err(Why::Dots);
        }
        if self.slash_first && !path.starts_with(b"/") {
            path.to_mut().insert(0, b'/');
        }
        let trimmed = path.iter().rev().take_while(|&&byte| self.trim.contains(byte)).count();
        drop_end(&mut path, trimmed);
        match self.merge {
            Merge::Refuse if memmem::find(&path, b"//").is_some() => return Err(Why::Slashes),
            Merge::First => merge_slashes(&mut path),
            _ => {}
        }
        match self.dots_on {
            DotsOn::Decoded => self.remove_dots(&mut path, false, self.refuse_above)?,
            DotsOn::Both => self.remove_dots(&mut path, false, false)?,
            DotsOn::Escaped => {}
        }
        if self.merge == Merge::Last && &path[..] != b"//" {
            merge_slashes(&mut path);
        }
        if self.drop_trailing_slash {
            let slashes = path.iter().skip(1).rev().take_while(|&&byte| byte == b'/').count();
            drop_end(&mut path, slashes);
        }
        if self.lower {
            path = Cow::Owned(String::from_utf8_lossy(&path).to_lowercase().into_bytes());
        }
        Ok(path)
    }

    /// Applies the rules for path parameters.
    fn params(&self, path: &mut Text<'_>) -> Result<(), Why> {
        if self.params == Params::Refuse {
            return Err(Why::Params);
        }
        if self.refuse_empty_params && memmem::find(path, b"/;").is_some() {
            return Err(Why::Params);
        }
        // The first segment, if no slash is before it, is left alone.
        let segments = || path.split(|&byte| byte == b'/').skip(1);
        if self.dot_params == Params::Refuse
            && segments().any(|segment| segment.contains(&b';') && dots(before(b';', segment), true) > 0)
        {
            return Err(Why::Params);
        }
        if self.params == Params::Drop || self.dot_params == Params::Drop {
            let mut kept = Vec::with_capacity(path.len());
            for (index, segment) in path.split(|&byte| byte == b'/').enumerate() {
                let name = before(b';', segment);
                let drops = self.params == Params::Drop || (index > 0 && dots(name, false) > 0);
                if index > 0 {
                    kept.push(b'/');
                }
                kept.extend_from_slice(if drops { name } else { segment });
            }
            *path = Cow::Owned(kept);
        }
        Ok(())
    }

    /// Decodes a path, and applies the rules for NUL and UTF-8.
    fn decoded<'a>(&self, path: Text<'a>) -> Result<Text<'a>, Why> {
        let mut decoded = match memchr(b'%', &path) {
            Some(_) => Cow::Owned(self.unescape(&path)?),
            None => path.clone(),
        };
        if self.nul == Nul::Cut {
            let len = before(0, &decoded).len();
            let cut = decoded.len() - len;
            drop_end(&mut decoded, cut);
        }
        match self.utf8 {
            Utf8::Any => {}
            Utf8::Lead if decoded.iter().any(|byte| matches!(byte, 0xC0 | 0xC1 | 0xF5..)) => {
                return Err(Why::Utf8);
            }
            Utf8::Lead => {}
            _ if core::str::from_utf8(&decoded).is_ok() => {}
            Utf8::Refuse => return Err(Why::Utf8),
            Utf8::Replace => {
                decoded = Cow::Owned(String::from_utf8_lossy(&decoded).into_owned().into_bytes())
            }
            Utf8::Latin1 => decoded = Cow::Owned(latin1(&decoded)),
            Utf8::Keep | Utf8::KeepUpper => decoded = Cow::Owned(self.keep_invalid(&path, &decoded)),
        }
        Ok(decoded)
    }

    fn unescape(&self, path: &[u8]) -> Result<Vec<u8>, Why> {
        let mut out = Vec::with_capacity(path.len());
        let mut stray = Vec::new();
        for part in Parts::of(path, self.percent_u) {
            match part {
                Part::Run(run) => out.extend_from_slice(run),
                Part::Escape(_, byte) if self.refuse_escape.contains(byte) => return Err(Why::Escape),
                Part::Escape(_, 0) if self.nul == Nul::Refuse => return Err(Why::Nul),
                Part::Escape(_, byte) if self.underscore_control && CONTROL.contains(byte) => out.push(b'_'),
                Part::Escape(_, byte) if self.decode.contains(byte) => out.push(byte),
                Part::Escape(source, _) => keep(source, self.upper, &mut out),
                Part::Unit(unit) if unit < 0x80 && self.refuse_escape.contains(unit as u8) => {
                    return Err(Why::Escape);
                }
                Part::Unit(unit) => out.extend(unit_to_utf8(unit)),
                Part::Stray => {
                    match self.malformed {
                        Malformed::Refuse | Malformed::RefuseDouble => return Err(Why::Malformed),
                        Malformed::Guard => stray.push(out.len()),
                        Malformed::Keep | Malformed::NoRoute => {}
                    }
                    out.push(b'%');
                }
            }
        }
        if self.malformed == Malformed::RefuseDouble
            && memmem::find_iter(&out, b"%25").any(
                |at| matches!(out[at + 3..], [high, low, ..] if decode_escape(&[b'%', high, low]).is_some()),
            )
        {
            return Err(Why::Double);
        }
        stray.retain(|&at| decode_escape(&out[at..]).is_some());
        if !stray.is_empty() {
            let mut guarded = Vec::with_capacity(out.len() + 2 * stray.len());
            let mut from = 0;
            for at in stray {
                guarded.extend_from_slice(&out[from..=at]);
                guarded.extend_from_slice(b"25");
                from = at + 1;
            }
            guarded.extend_from_slice(&out[from..]);
            out = guarded;
        }
        Ok(out)
    }

    /// Decodes all escapes of `text`. `malformed` says what happens to malformed escapes, and the field `utf8` what happens to
    /// bytes that are not UTF-8.
    fn value_of<'a>(&self, text: Text<'a>, malformed: Malformed) -> Result<Text<'a>, Why> {
        Reading { malformed, utf8: self.utf8, ..Reading::PLAIN }.decoded(text)
    }

    /// Returns `decoded` with the bytes that are not UTF-8 escaped, as `path` has them.
    fn keep_invalid(&self, path: &[u8], decoded: &[u8]) -> Vec<u8> {
        let mut invalid = vec![false; decoded.len()];
        let mut at = 0;
        for chunk in decoded.utf8_chunks() {
            at += chunk.valid().len();
            invalid[at..at + chunk.invalid().len()].fill(true);
            at += chunk.invalid().len();
        }
        let mut bytes = decoded.iter().copied().zip(invalid);
        let mut out = Vec::with_capacity(path.len());
        for part in Parts::of(path, self.percent_u) {
            let (source, len) = match part {
                Part::Run(run) => (None, run.len()),
                Part::Escape(source, byte) if self.decode.contains(byte) => (Some(source), 1),
                Part::Escape(..) => (None, 3),
                Part::Unit(unit) => (None, unit_to_utf8(unit).len()),
                Part::Stray => (None, 1),
            };
            for (byte, is_invalid) in bytes.by_ref().take(len) {
                match source {
                    Some(source) if is_invalid => keep(source, self.utf8 == Utf8::KeepUpper, &mut out),
                    None if is_invalid => out.extend_from_slice(&encode_byte(byte, HexCase::Upper)),
                    _ => out.push(byte),
                }
            }
        }
        out
    }

    /// Removes dot segments from a path that begins with a slash. `escaped` also recognizes dots that are escaped.
    fn remove_dots(&self, path: &mut Text<'_>, escaped: bool, refuse_above: bool) -> Result<(), Why> {
        let may_be_dots = |pair: &[u8]| pair[0] == b'/' && (pair[1] == b'.' || (escaped && pair[1] == b'%'));
        if self.dots == Dots::Keep || !path.starts_with(b"/") || !path.windows(2).any(may_be_dots) {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(path.len());
        let mut segments = path.split(|&byte| byte == b'/').skip(1).peekable();
        while let Some(segment) = segments.next() {
            match (dots(segment, escaped), self.dots) {
                (0, _) => {
                    kept.push(b'/');
                    kept.extend_from_slice(segment);
                    continue;
                }
                (_, Dots::Refuse) | (2, Dots::Forbid) => return Err(Why::Dots),
                (2, _) => match memrchr(b'/', &kept) {
                    Some(slash) => kept.truncate(slash),
                    None if refuse_above => return Err(Why::Above),
                    None => {}
                },
                _ => {}
            }
            if segments.peek().is_none() && self.dots != Dots::Clean {
                kept.push(b'/');
            }
        }
        if kept.is_empty() {
            kept.push(b'/');
        }
        *path = Cow::Owned(kept);
        Ok(())
    }

    /// Returns the target of the redirect that answers a path, if any does.
    fn redirect(&self, path: &[u8], route: &[u8], query: &[u8]) -> Option<Vec<u8>> {
        match self.redirect {
            RedirectOn::Never => None,
            RedirectOn::EscapedSlash => {
                let is_slash = |part: Part<'_>| matches!(part, Part::Escape(_, b'/' | b'\\'));
                Parts::of(path, false).any(is_slash).then(|| [route, query].concat())
            }
            RedirectOn::Unclean => {
                let clean =
                    Reading { merge: Merge::First, dots: Dots::Clean, slash_first: true, ..Reading::PLAIN };
                let mut path = Cow::Borrowed(route);
                if !route.starts_with(b"/") {
                    path.to_mut().insert(0, b'/');
                }
                merge_slashes(&mut path);
                clean.remove_dots(&mut path, false, false).ok()?;
                if route.ends_with(b"/") && !path.ends_with(b"/") {
                    path.to_mut().push(b'/');
                }
                (*path != *route).then(|| [&*Encode::keeping(PATH).encode(&path), query].concat())
            }
        }
    }
}

/// A part of a path.
enum Part<'a> {
    /// Bytes without `%`.
    Run(&'a [u8]),
    /// An escape and its byte.
    Escape(&'a [u8], u8),
    /// The number of an escape `%uXXXX`.
    Unit(u16),
    /// A `%` that begins no escape.
    Stray,
}

/// Iterates over the parts of a path.
struct Parts<'a> {
    rest: &'a [u8],
    percent_u: bool,
}

impl<'a> Parts<'a> {
    fn of(path: &'a [u8], percent_u: bool) -> Parts<'a> {
        Parts { rest: path, percent_u }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let (part, len) = match self.rest {
            [] => return None,
            [b'%', ..] => match decode_escape(self.rest) {
                Some(byte) => (Part::Escape(&self.rest[..3], byte), 3),
                None => match unit(self.rest) {
                    Some(unit) if self.percent_u => (Part::Unit(unit), 6),
                    _ => (Part::Stray, 1),
                },
            },
            rest => {
                let run = before(b'%', rest);
                (Part::Run(run), run.len())
            }
        };
        self.rest = &self.rest[len..];
        Some(part)
    }
}

/// Returns the number of the escape `%uXXXX` at the start of `text`.
fn unit(text: &[u8]) -> Option<u16> {
    let &[b'%', b'u' | b'U', a, b, c, d, ..] = text else { return None };
    Some(u16::from_be_bytes([decode_escape(&[b'%', a, b])?, decode_escape(&[b'%', c, d])?]))
}

/// Encodes a number of `%uXXXX`, surrogates included, as UTF-8 would.
fn unit_to_utf8(unit: u16) -> Vec<u8> {
    let continuation = |shift: u16| 0x80 | (unit >> shift & 0x3F) as u8;
    match unit {
        0..0x80 => vec![unit as u8],
        0x80..0x800 => vec![0xC0 | (unit >> 6) as u8, continuation(0)],
        _ => vec![0xE0 | (unit >> 12) as u8, continuation(6), continuation(0)],
    }
}

/// Appends an escape that stays.
fn keep(source: &[u8], upper: bool, out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(source);
    if upper {
        out[from..].make_ascii_uppercase();
    }
}

/// Returns the length of scheme and authority, `http://host`, of a target in absolute form, and otherwise 0.
fn origin(target: &[u8]) -> usize {
    let scheme = before(b':', target);
    match target[scheme.len()..].strip_prefix(b"://") {
        Some(rest) if is_scheme(scheme) => {
            let is_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
            scheme.len() + 3 + rest.iter().position(is_end).unwrap_or(rest.len())
        }
        _ => 0,
    }
}

/// Returns 1 or 2 if `segment` is `.` or `..`, in which a dot may be escaped if `escaped` says so, and otherwise 0.
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

/// Reports whether a path has `..\\` where a segment may begin, or `\\..` at the end of one.
fn has_dotdot_backslash(path: &[u8]) -> bool {
    memmem::find_iter(path, b"..").any(|at| {
        let (before, after) = (path[..at].last(), path.get(at + 2));
        let starts = matches!(before, None | Some(b'/' | b'\\'));
        (starts && after == Some(&b'\\')) || (before == Some(&b'\\') && matches!(after, None | Some(b'/')))
    })
}

fn has_malformed(path: &[u8]) -> bool {
    Parts::of(path, false).any(|part| matches!(part, Part::Stray))
}

fn before(end: u8, text: &[u8]) -> &[u8] {
    &text[..memchr(end, text).unwrap_or(text.len())]
}

fn backslashes_to_slashes(path: &mut [u8]) {
    path.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
}

fn one_slash(text: &[u8]) -> &[u8] {
    let slashes = text.iter().take_while(|&&byte| byte == b'/').count();
    &text[slashes.saturating_sub(1)..]
}

fn merge_slashes(path: &mut Text<'_>) {
    if memmem::find(path, b"//").is_some() {
        path.to_mut().dedup_by(|a, b| *a == b'/' && *b == b'/');
    }
}

fn latin1(text: &[u8]) -> Vec<u8> {
    text.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes()
}

fn drop_start(text: &mut Text<'_>, len: usize) {
    match text {
        Cow::Borrowed(text) => *text = &text[len..],
        Cow::Owned(text) => drop(text.drain(..len)),
    }
}

fn drop_end(text: &mut Text<'_>, len: usize) {
    match text {
        Cow::Borrowed(text) => *text = &text[..text.len() - len],
        Cow::Owned(text) => text.truncate(text.len() - len),
    }
}
