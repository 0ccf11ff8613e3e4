//! Canonical forms, by name.
//!
//! There is no one canonical form of a URL: crawlers, archives, browsers and block lists each have their own, and their keys
//! differ on purpose. A [`Profile`] is one of them, in one version, and never changes what it gives; a new version is a new
//! profile.
//!
//! ```
//! use simdpct_uri::canon::Profile;
//!
//! let url = "HTTP://www.Example.com:80/a/./b/../%7Ejoe%2f";
//! assert_eq!(&*Profile::Rfc3986.canonicalize(url).unwrap(), b"http://www.example.com:80/a/~joe%2F");
//! assert_eq!(&*Profile::Rfc3986Scheme.canonicalize(url).unwrap(), b"http://www.example.com/a/~joe%2F");
//! ```
//!
//! Every profile takes time linear in the input, however deep escapes are nested. What a profile cannot make sense of is
//! [`Refused`], with the place and the reason; [`Profile::canonicalize_lines`] then passes the line on as it is.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use simdpct::Tier;

use crate::kernel::isa::Level;
use crate::kernel::scan::{self, Exception};
use crate::parts::{HostKind, Parts, port_number, split};

mod host;
mod rfc3986;
mod robots;
mod safe_browsing;
#[cfg(feature = "idna")]
mod surt;
#[cfg(feature = "idna")]
mod w3lib;
#[cfg(feature = "whatwg")]
mod whatwg;

/// A canonical form. The table says what each does, and whether the form of a form is itself.
///
/// | profile | by | idempotent |
/// |---|---|---|
/// | [`Escapes`](Profile::Escapes) | RFC 3986, 6.2.2.1 and 6.2.2.2, for escapes only | without malformed escapes |
/// | [`Rfc3986`](Profile::Rfc3986) | RFC 3986, 6.2.2 | without malformed escapes |
/// | [`Rfc3986Scheme`](Profile::Rfc3986Scheme) | the same and 6.2.3 | without malformed escapes |
/// | `Whatwg` (feature `whatwg`) | the crate url 2.5 | as far as url is |
/// | [`SafeBrowsing4`](Profile::SafeBrowsing4) | Google's rules, version 4 | not promised |
/// | `SafeBrowsing5` (feature `idna`) | Google's rules, version 5 | not promised |
/// | `SurtPython0_3`, `SurtJava` (feature `idna`) | surt 0.3; iipc/webarchive-commons | no: a key is no URL |
/// | `W3lib2_5` and three more (feature `idna`) | w3lib 2.5, `canonicalize_url` | not promised |
/// | [`Robots`](Profile::Robots) | google/robotstxt | yes |
///
/// A malformed escape can become an escape when what follows it is decoded (`%%341` becomes `%41`); the form of that is
/// another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// `escapes`: escapes of unreserved bytes are decoded, the others are written in upper case. What
    /// [`simdpct::normalize`] does; nothing is split and nothing refused.
    Escapes,
    /// `rfc3986`: syntax-based normalization (RFC 3986, section 6.2.2).
    ///
    /// Scheme and host in lower case, escapes as in `escapes`, dot segments removed (after decoding `%2E`), the colon of an
    /// empty port removed (section 3.2.3). In a relative reference with a relative path, dot segments mean something and
    /// stay. `%2F` and `%25` stay, and so does a malformed escape; what the RFC does not allow in a URI is not escaped.
    ///
    /// Refused: TAB, CR, LF and NUL, several `@`, a host with brackets that is no address, a port that is no number of at
    /// most 65535.
    Rfc3986,
    /// `rfc3986-scheme`: `rfc3986`, and by scheme (section 6.2.3) the default port removed and an empty path made `/`, for
    /// `http`, `https`, `ws`, `wss` and `ftp`.
    Rfc3986Scheme,
    /// `whatwg`: the serialisation of the URL Standard, as the crate url 2.5 makes it.
    ///
    /// Escapes are neither decoded nor changed in case. Refused: what url does not parse, a relative reference among them,
    /// and what is not UTF-8.
    #[cfg(feature = "whatwg")]
    Whatwg,
    /// `safe-browsing-4`: the keys of Google Safe Browsing, version 4.
    ///
    /// TAB, CR, LF and the fragment removed; escapes decoded until nothing changes, in each component by itself; the host in
    /// lower case, without dots at its ends and without runs of dots, an address of version 4 in any of its old spellings
    /// written with four decimal numbers; userinfo and port removed; dot segments and runs of slashes removed from the path;
    /// what is not above 0x20 and below 0x7F, `#` and `%` escaped. Without a scheme, `http://` is put before it.
    ///
    /// Refused: an empty host.
    SafeBrowsing4,
    /// `safe-browsing-5`: the keys of Google Safe Browsing, version 5.
    ///
    /// As version 4, and: a host that is not in ASCII is written in Punycode, by UTS 46; an address of version 6 is compressed,
    /// and written as one of version 4 if it is a mapped one or of NAT64 (`64:ff9b::/96`).
    ///
    /// Refused: an empty host.
    #[cfg(feature = "idna")]
    SafeBrowsing5,
    /// `surt-python-0.3`: the keys of web archives as the package surt 0.3 of PyPI makes them.
    ///
    /// Blanks at the ends, TAB, CR, LF, userinfo and the fragment removed; without a scheme, `http://` is put before it; escapes
    /// decoded until nothing changes, in each component by itself; host, path and query in lower case; the host by IDNA,
    /// without one `www`, with its digits, in front and without superfluous dots, an address of version 4 written with four
    /// numbers; its labels reversed; a default port removed; dot segments and runs of slashes removed; sessions removed from
    /// path and query; the query sorted; one slash at the end removed. An empty URL is `-`. A URL without a host keeps its scheme.
    ///
    /// The tool asks the resolver what `256.1.1.1` is. This does not.
    ///
    /// Refused: a bad port; a URL of `http`, `https` or no scheme without a host, of which the tool takes the first segment of the
    /// path for a host; hosts for which IDNA 2003 and UTS 46 give different names, as `fa\u{df}.de`.
    #[cfg(feature = "idna")]
    SurtPython0_3,
    /// `surt-java`: the keys of web archives as `WaybackURLKeyMaker` of iipc/webarchive-commons makes them (2025 and later).
    ///
    /// As `surt-python-0.3`, but: only `http`, `https`, `ftp`, `mms`, `rtsp` and `wais` are schemes; the host of `dns:` is
    /// reversed, `filedesc` and `warcinfo` stay as they are; the first `@` ends the userinfo; every `www` in front goes; an
    /// address of version 4 has one number or four.
    ///
    /// Refused: what is not UTF-8; a port that is no number of 32 bits; an empty host; hosts as above, and those that mix names in
    /// UTF-8 with escapes of what is not UTF-8.
    #[cfg(feature = "idna")]
    SurtJava,
    /// `w3lib-2.5`: what `canonicalize_url` of w3lib 2.5 gives with its default arguments: the keys of Scrapy.
    ///
    /// Controls and blanks at the ends, TAB, CR, LF and the fragment removed; `\` a slash in special schemes; the host in
    /// lower case or by IDNA; an address of version 6 compressed; an empty port removed, a default port kept; dot segments of
    /// an absolute path removed; in the path, escapes of most ASCII decoded and of `% / ; ? #` kept; the parameters of the
    /// query decoded, sorted and written as a form, so that `?a` becomes `?a=`.
    ///
    /// Refused: what w3lib raises an error for; also an address of a future version, whose brackets w3lib drops, and hosts
    /// for which IDNA 2003, which w3lib uses, and UTS 46 give different names, as `fa\u{df}.de`.
    #[cfg(feature = "idna")]
    W3lib2_5,
    /// `w3lib-2.5-no-blank-values`: the same with `keep_blank_values=False`: parameters with an empty value are removed.
    #[cfg(feature = "idna")]
    W3lib2_5NoBlankValues,
    /// `w3lib-2.5-fragments`: the same with `keep_fragments=True`.
    #[cfg(feature = "idna")]
    W3lib2_5Fragments,
    /// `w3lib-2.5-no-blank-values-fragments`: the same with both arguments.
    #[cfg(feature = "idna")]
    W3lib2_5NoBlankValuesFragments,
    /// `robots`: a path or pattern as google/robotstxt compares it: escapes in upper case, bytes of 0x80 and above escaped,
    /// nothing decoded. Nothing is split and nothing refused.
    Robots,
}

impl Profile {
    /// All of this build.
    pub const ALL: &'static [Profile] = &[
        Profile::Escapes,
        Profile::Rfc3986,
        Profile::Rfc3986Scheme,
        #[cfg(feature = "whatwg")]
        Profile::Whatwg,
        Profile::SafeBrowsing4,
        #[cfg(feature = "idna")]
        Profile::SafeBrowsing5,
        #[cfg(feature = "idna")]
        Profile::SurtPython0_3,
        #[cfg(feature = "idna")]
        Profile::SurtJava,
        #[cfg(feature = "idna")]
        Profile::W3lib2_5,
        #[cfg(feature = "idna")]
        Profile::W3lib2_5NoBlankValues,
        #[cfg(feature = "idna")]
        Profile::W3lib2_5Fragments,
        #[cfg(feature = "idna")]
        Profile::W3lib2_5NoBlankValuesFragments,
        Profile::Robots,
    ];

    /// Its name, such as `rfc3986-scheme`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Escapes => "escapes",
            Profile::Rfc3986 => "rfc3986",
            Profile::Rfc3986Scheme => "rfc3986-scheme",
            #[cfg(feature = "whatwg")]
            Profile::Whatwg => "whatwg",
            Profile::SafeBrowsing4 => "safe-browsing-4",
            #[cfg(feature = "idna")]
            Profile::SafeBrowsing5 => "safe-browsing-5",
            #[cfg(feature = "idna")]
            Profile::SurtPython0_3 => "surt-python-0.3",
            #[cfg(feature = "idna")]
            Profile::SurtJava => "surt-java",
            #[cfg(feature = "idna")]
            Profile::W3lib2_5 => "w3lib-2.5",
            #[cfg(feature = "idna")]
            Profile::W3lib2_5NoBlankValues => "w3lib-2.5-no-blank-values",
            #[cfg(feature = "idna")]
            Profile::W3lib2_5Fragments => "w3lib-2.5-fragments",
            #[cfg(feature = "idna")]
            Profile::W3lib2_5NoBlankValuesFragments => "w3lib-2.5-no-blank-values-fragments",
            Profile::Robots => "robots",
        }
    }

    /// The profile of this name, if this build has it.
    #[must_use]
    pub fn find(name: &str) -> Option<Profile> {
        Profile::ALL.iter().copied().find(|profile| profile.name() == name)
    }

    /// The canonical form of `url`, borrowed if that is `url`.
    ///
    /// # Errors
    ///
    /// [`Refused`]: see the profile.
    pub fn canonicalize<'a>(self, url: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Cow<'a, [u8]>, Refused> {
        let url = url.as_ref();
        if self.is_proven(url) {
            return Ok(Cow::Borrowed(url));
        }
        let mut out = Vec::new();
        self.slow(url, &mut out)?;
        Ok(if out == url { Cow::Borrowed(url) } else { Cow::Owned(out) })
    }

    /// Appends the canonical form of `url` to `out`.
    ///
    /// # Errors
    ///
    /// [`Refused`]: see the profile. `out` is as it was.
    pub fn canonicalize_append(
        self,
        url: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let url = url.as_ref();
        if self.is_proven(url) {
            out.extend_from_slice(url);
            return Ok(());
        }
        self.slow(url, out)
    }

    /// Appends the canonical form of each line of `text` to `out`. A line that is refused is appended as it is, and told to
    /// `refused`, with the place where it starts in `text`.
    ///
    /// Line ends, LF or CR LF, stay. The masks of `text` prove most lines canonical, which are copied many at a time; only
    /// the others are looked at one by one.
    ///
    /// ```
    /// use simdpct_uri::canon::Profile;
    ///
    /// let (mut out, mut refused) = (Vec::new(), Vec::new());
    /// let lines = b"http://a/b\nHTTP://a/%7e\nhttp://a:99999/\n";
    /// Profile::Rfc3986.canonicalize_lines(lines, &mut out, |start, why| refused.push((start, why.offset)));
    /// assert_eq!(out, b"http://a/b\nhttp://a/~\nhttp://a:99999/\n");
    /// assert_eq!(refused, [(24, 9)]);
    /// ```
    pub fn canonicalize_lines(self, text: &[u8], out: &mut Vec<u8>, refused: impl FnMut(usize, Refused)) {
        self.lines(Level::active(), text, out, refused);
    }

    /// The same with the kernels of another tier, for tests and comparisons.
    pub fn canonicalize_lines_on(
        self,
        tier: Tier,
        text: &[u8],
        out: &mut Vec<u8>,
        refused: impl FnMut(usize, Refused),
    ) {
        self.lines(Level::of(tier), text, out, refused);
    }

    /// Whether the kernels prove that `url` is canonical. False proves nothing.
    fn is_proven(self, url: &[u8]) -> bool {
        // To the kernels these end a line, and nothing is no line.
        if url.is_empty() || url.last() == Some(&b'\r') || memchr::memchr(b'\n', url).is_some() {
            return false;
        }
        let mut exceptions = Vec::new();
        self.scan(Level::active(), url, &mut exceptions) && exceptions.is_empty()
    }

    /// Finds the lines that are not proven canonical; false if there is no kernel for it.
    fn scan(self, level: Level, text: &[u8], exceptions: &mut Vec<Exception>) -> bool {
        match self {
            Profile::Rfc3986 => level.scan::<scan::Rfc3986<false>>(text, exceptions),
            Profile::Rfc3986Scheme => level.scan::<scan::Rfc3986<true>>(text, exceptions),
            #[cfg(feature = "whatwg")]
            Profile::Whatwg => level.scan::<scan::Whatwg>(text, exceptions),
            Profile::SafeBrowsing4 => level.scan::<scan::SafeBrowsing>(text, exceptions),
            #[cfg(feature = "idna")]
            Profile::SafeBrowsing5 => level.scan::<scan::SafeBrowsing>(text, exceptions),
            #[cfg(feature = "idna")]
            Profile::W3lib2_5
            | Profile::W3lib2_5NoBlankValues
            | Profile::W3lib2_5Fragments
            | Profile::W3lib2_5NoBlankValuesFragments => level.scan::<scan::W3lib>(text, exceptions),
            _ => false,
        }
    }

    /// Without a proof.
    fn slow(self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        #[cfg(feature = "idna")]
        let w3lib =
            |keep_blank_values, keep_fragments| w3lib::Arguments { keep_blank_values, keep_fragments };
        match self {
            Profile::Escapes => simdpct::normalize_append(url, out),
            Profile::Rfc3986 => return rfc3986::append(url, false, out),
            Profile::Rfc3986Scheme => return rfc3986::append(url, true, out),
            #[cfg(feature = "whatwg")]
            Profile::Whatwg => return whatwg::append(url, out),
            Profile::SafeBrowsing4 => return safe_browsing::append(url, safe_browsing::Version::Four, out),
            #[cfg(feature = "idna")]
            Profile::SafeBrowsing5 => return safe_browsing::append(url, safe_browsing::Version::Five, out),
            #[cfg(feature = "idna")]
            Profile::SurtPython0_3 => return surt::append(url, surt::Tool::Python, out),
            #[cfg(feature = "idna")]
            Profile::SurtJava => return surt::append(url, surt::Tool::Java, out),
            #[cfg(feature = "idna")]
            Profile::W3lib2_5 => return w3lib::append(url, w3lib(true, false), out),
            #[cfg(feature = "idna")]
            Profile::W3lib2_5NoBlankValues => return w3lib::append(url, w3lib(false, false), out),
            #[cfg(feature = "idna")]
            Profile::W3lib2_5Fragments => return w3lib::append(url, w3lib(true, true), out),
            #[cfg(feature = "idna")]
            Profile::W3lib2_5NoBlankValuesFragments => return w3lib::append(url, w3lib(false, true), out),
            Profile::Robots => robots::append(url, out),
        }
        Ok(())
    }

    fn lines(self, level: Level, text: &[u8], out: &mut Vec<u8>, mut refused: impl FnMut(usize, Refused)) {
        out.reserve(text.len());
        match self {
            // No escape reaches over a line's end, so lines do not matter.
            Profile::Escapes => return simdpct::normalize_append(text, out),
            Profile::Robots => return robots::append(text, out),
            _ => {}
        }
        let mut line = |start: usize, end: usize, slash_missing: bool, out: &mut Vec<u8>| {
            let line = &text[start..end];
            if slash_missing {
                let (before, after) = line.split_at(split(line).offsets().path_start);
                out.extend_from_slice(before);
                out.push(b'/');
                out.extend_from_slice(after);
                return;
            }
            let (url, line_end) = line.split_at(line.len() - usize::from(line.last() == Some(&b'\r')));
            if let Err(why) = self.slow(url, out) {
                out.extend_from_slice(url);
                refused(start, why);
            }
            out.extend_from_slice(line_end);
        };
        let mut exceptions = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = chunk_end(text, at);
            exceptions.clear();
            let scanned = self.scan(level, &text[at..end], &mut exceptions);
            if !scanned {
                let every = |end| Exception { end, slash_missing: false };
                exceptions.extend(memchr::memchr_iter(b'\n', &text[at..end]).map(every));
                if text[end - 1] != b'\n' {
                    exceptions.push(every(end - at));
                }
            }
            let mut done = at;
            for &Exception { end, slash_missing } in &exceptions {
                let end = at + end;
                let start = memchr::memrchr(b'\n', &text[done..end]).map_or(done, |lf| done + lf + 1);
                out.extend_from_slice(&text[done..start]);
                line(start, end, slash_missing, out);
                done = end;
            }
            out.extend_from_slice(&text[done..end]);
            at = end;
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The end of a number of whole lines from `at` on which a first-level cache holds, or of one line that is longer.
fn chunk_end(text: &[u8], at: usize) -> usize {
    const CHUNK: usize = 16 * 1024;

    let Some(chunk) = text.get(at..at + CHUNK) else { return text.len() };
    if let Some(last) = memchr::memrchr(b'\n', chunk) {
        return at + last + 1;
    }
    memchr::memchr(b'\n', &text[at + CHUNK..]).map_or(text.len(), |lf| at + CHUNK + lf + 1)
}

/// A profile does not take this URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Refused {
    /// Where, in bytes from the start of the URL.
    pub offset: usize,
    /// Why.
    pub reason: Reason,
}

/// Why a profile does not take a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A control that would break lines of text: TAB, CR, LF or NUL.
    Control(u8),
    /// Several `@` in the authority.
    SeveralAt,
    /// The host is not one: empty where there must be one, or brackets that hold no address.
    Host,
    /// The port is not a number of at most 65535.
    Port,
    /// A relative reference, where only URLs are taken.
    Relative,
    /// It is not UTF-8.
    NotUtf8,
    /// The parser of the profile does not take it, for another reason.
    Parser,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Control(byte) => write!(f, "byte {byte:#04X}")?,
            Reason::SeveralAt => f.write_str("more than one '@' in the authority")?,
            Reason::Host => f.write_str("the host is not valid")?,
            Reason::Port => f.write_str("the port is not a number of at most 65535")?,
            Reason::Relative => f.write_str("a relative reference")?,
            Reason::NotUtf8 => f.write_str("not UTF-8")?,
            Reason::Parser => f.write_str("not a URL")?,
        }
        write!(f, ", at offset {}", self.offset)
    }
}

impl core::error::Error for Refused {}

fn refuse_controls(url: &[u8]) -> Result<(), Refused> {
    let control = memchr::memchr3(b'\t', b'\r', b'\n', url);
    let nul = memchr::memchr(0, &url[..control.unwrap_or(url.len())]);
    nul.or(control).map_or(Ok(()), |offset| Err(Refused { offset, reason: Reason::Control(url[offset]) }))
}

fn refuse_authority(parts: &Parts<'_>) -> Result<(), Refused> {
    let at = parts.offsets();
    if let Some(userinfo) = parts.userinfo()
        && let Some(several) = memchr::memchr(b'@', userinfo.raw())
    {
        let start = at.host_start - 1 - userinfo.raw().len();
        return Err(Refused { offset: start + several, reason: Reason::SeveralAt });
    }
    match parts.host_kind() {
        Some(HostKind::Invalid) => return Err(Refused { offset: at.host_start, reason: Reason::Host }),
        Some(HostKind::RegName) => {
            let host = &parts.input()[at.host_start..at.host_end];
            if let Some(bracket) = memchr::memchr2(b'[', b']', host) {
                return Err(Refused { offset: at.host_start + bracket, reason: Reason::Host });
            }
        }
        _ => {}
    }
    match parts.port() {
        Some(port) if !port.is_empty() && port_number(port).is_none() => {
            Err(Refused { offset: at.host_end + 1, reason: Reason::Port })
        }
        _ => Ok(()),
    }
}
