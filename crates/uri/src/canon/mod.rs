//! Canonical forms of URLs, which callers select by name.
//!
//! There is no single canonical form of a URL: crawlers, archives, browsers and block lists each have their own, and
//! these forms differ on purpose. A form that is only compared or searched for is called a key. A [`Profile`] is one of
//! these forms, as one version of a specification or a tool defines it. [`Profile::edition`] names the version; a new
//! version is a new profile.
//!
//! The forms of `escapes`, `rfc3986`, `rfc3986-scheme` and `robots` never change, and neither do those of URLs whose hosts are ASCII. The
//! other profiles convert a host that is not ASCII by UTS 46, with the crate idna 1. Its tables have one version of Unicode: 18 with
//! version 2.4 of the crates `icu_normalizer_data` and `icu_properties_data`. With another version, a host may have another form, or be
//! rejected, if it has a character that one of the versions lacks. This also holds if it has the Punycode (`xn--`) of this character and a
//! character that is not ASCII. `rfc3986` and `rfc3986-scheme` may reject a URL with such a host with one version, and accept it with
//! another. Pin these crates in `Cargo.lock` if you store canonical forms.
//!
//! ```
//! use simdpct_uri::canon::Profile;
//!
//! let url = "HTTP://www.Example.com:80/a/./b/../%7Ejoe%2f";
//! assert_eq!(Profile::Rfc3986.canonicalize(url).unwrap(), "http://www.example.com:80/a/~joe%2F");
//! assert_eq!(Profile::Rfc3986Scheme.canonicalize(url).unwrap(), "http://www.example.com/a/~joe%2F");
//! ```
//!
//! Every profile takes time linear in the input, however deep escapes are nested. Sorting the parameters of a query, which some
//! profiles do, takes at most `N log n` comparisons of bytes for `n` parameters of `N` bytes together.

#![cfg_attr(not(feature = "whatwg"), allow(dead_code, reason = "some profiles need more features"))]

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use simdpct::Tier;
#[cfg(all(feature = "internals", feature = "whatwg"))]
use simdpct::simd::Sets;
use simdpct::simd::run;

use crate::kernel::scan::{Rule, Scan, Unproven};
#[cfg(all(feature = "internals", feature = "whatwg"))]
use crate::kernel::tables::escape_tables;
use crate::text::{Source, Text as _};

mod contact;
mod error;
mod escapes;
mod host;
#[cfg(feature = "idna")]
mod key;
pub(crate) mod lines;
mod rfc3986;
mod robots;
#[cfg(feature = "idna")]
mod safe_browsing;
mod shared;
mod standard;
#[cfg(feature = "idna")]
mod surt;
#[cfg(feature = "idna")]
mod w3lib;
#[cfg(feature = "whatwg")]
mod whatwg;

pub use error::{CanonicalizeError, Reason};
// The command `pct` uses this function to normalize escapes piece by piece. It is no part of the API.
#[doc(hidden)]
pub use escapes::hidden_schemes;
#[cfg(feature = "whatwg")]
pub use whatwg::Base;

/// The name, the edition, the description and the functions of one profile.
struct Row {
    name: &'static str,
    edition: &'static str,
    about: &'static str,
    form: Form,
}

/// The functions that make a canonical form.
enum Form {
    /// A form that accepts any bytes. It changes only escapes and single bytes, so a text of many lines is converted in one call.
    Bytes(AppendBytes),
    /// A form of one URL. The kernel, if there is one, proves that a URL is canonical already; the function makes the form. If the function
    /// fails, it may leave the start of a form in its output.
    Url(Option<Prove>, Canonicalize),
}

/// Appends the form of a URL, or of several URLs, each of which ends in the given byte.
type AppendBytes = fn(&[u8], Option<u8>, &mut Vec<u8>);

/// Appends the lines of a text that are not proven canonical to the vector. Returns `false` if the tier has no kernel.
type Prove = fn(Tier, &[u8], &mut Vec<Unproven>) -> bool;

/// Appends the canonical form of a URL.
type Canonicalize = fn(&[u8], &mut Vec<u8>) -> Result<(), CanonicalizeError>;

fn prove<R: Rule>(tier: Tier, text: &[u8], unproven: &mut Vec<Unproven>) -> bool {
    run(tier, Scan::<R>::new(text, unproven))
}

/// A canonical form of URLs.
///
/// | profile | defined by | idempotent |
/// |---|---|---|
/// | [`Escapes`](Profile::Escapes) | RFC 3986, 6.2.2.1 and 6.2.2.2, for escapes only | yes |
/// | [`Rfc3986`](Profile::Rfc3986) | RFC 3986, 6.2.2 | yes |
/// | [`Rfc3986Scheme`](Profile::Rfc3986Scheme) | RFC 3986, 6.2.2 and 6.2.3 | yes |
/// | `Whatwg` (feature `whatwg`) | the URL Standard of 2 July 2026 | yes |
/// | `SafeBrowsing4` and `SafeBrowsing5` (feature `idna`) | Google's rules, versions 4 and 5 | yes |
/// | `SurtPython0_3`, `SurtJava` (feature `idna`) | surt 0.3; iipc/webarchive-commons | no: a key is not a URL |
/// | `W3lib2_5` (feature `idna`) | w3lib 2.5, `canonicalize_url` | yes |
/// | [`Robots`](Profile::Robots) | google/robotstxt | yes |
///
/// No decoded byte completes a malformed escape: in `%%341`, the first three profiles keep the escape `%34`.
///
/// `Display` writes the name of a profile, and `FromStr` reads it.
///
/// ```
/// use simdpct_uri::canon::Profile;
///
/// let profile: Profile = "rfc3986-scheme".parse()?;
/// assert_eq!(profile.to_string(), "rfc3986-scheme");
/// # Ok::<(), simdpct_uri::canon::UnknownProfile>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// `escapes`: escapes of unreserved bytes are decoded, the others are written in upper case, as by [`simdpct::normalize`].
    ///
    /// The URL is not split, and no input is rejected, so an invalid host or port may become valid: `http://[::%31]/` becomes
    /// `http://[::1]/`, and `http://a:%38%30/` becomes `http://a:80/`. A relative reference stays one: escapes that would become part of a
    /// scheme stay. A line feed ends a URL only in [`Profile::canonicalize_lines`]; elsewhere it does not, because browsers remove line
    /// feeds.
    Escapes,

    /// `rfc3986`: syntax-based normalization (RFC 3986, section 6.2.2).
    ///
    /// Scheme and host are written in lower case, and escapes as by `escapes`. Dot segments are removed (after `%2E` is decoded),
    /// and so is the colon of an empty port (section 3.2.3). Dot segments of a relative path stay, because they have a meaning.
    /// `%2F`, `%25` and malformed escapes stay, and bytes that the RFC does not allow in a URI are not escaped.
    ///
    /// Rejects TAB, CR, LF and NUL, more than one `@` in the authority, a host with brackets that is not an address, and a port that is not
    /// a number of at most 65535. Also rejects, as [`Reason::HostConflict`], a URL if browsers contact another host for its normal form, or
    /// contact a host for only one of the two. For example, browsers contact `a` for `http:/a/../b` and `///a/../b`, `b` for the normal
    /// form of the first, and no host for `file://a:/`, `http://://a/` and `http:/[::%31]`. The reference `/a/../\b` becomes `/./\b`,
    /// because browsers contact `b` for `/\b`.
    Rfc3986,

    /// `rfc3986-scheme`: `rfc3986` with scheme-based normalization (section 6.2.3).
    ///
    /// For `http`, `https`, `ws`, `wss` and `ftp`, the default port is removed and an empty path becomes `/`.
    Rfc3986Scheme,

    /// `whatwg`: the serialization of the URL Standard, with its text of 2 July 2026 (commit 6ae8486).
    ///
    /// The tables of IDNA are those of the crate idna, which has Unicode 18 when this version of simdpct-uri is released. Later
    /// versions of Unicode assign more characters, which hosts may then hold.
    ///
    /// Escapes are neither decoded nor changed in case, except in the hosts of special schemes. In a path, `^` is escaped. A host that is
    /// ASCII may hold invalid Punycode, such as `xn--a`. Of the spaces at the end of an opaque path, the last is escaped. Older browsers
    /// differ in these three points.
    ///
    /// Rejects URLs that the standard does not parse without a base, relative references among them ([`Base`] resolves these); URLs that
    /// are not UTF-8; and, unlike the standard, hosts that are not ASCII and have a label of more than 1,000 characters, or of 2,000 in
    /// Punycode. DNS allows 63 bytes.
    #[cfg(feature = "whatwg")]
    Whatwg,

    /// `safe-browsing-4`: the keys of Google Safe Browsing, version 4.
    ///
    /// TAB, CR, LF, the fragment, and control characters and spaces at both ends are removed. Escapes are decoded until nothing changes, in
    /// each component by itself; afterwards bytes up to 0x20 and from 0x7F, `#` and `%` are escaped. A host that is not ASCII when decoded
    /// becomes Punycode by UTS 46. The host is written in lower case, without dots at its ends and without runs of dots; an IPv4 address in
    /// any of its old spellings becomes four decimal numbers. Userinfo, port and the dot segments of the path are removed, and a run of
    /// slashes in the path becomes one slash. `http://` is inserted before a URL without a scheme, such as `example.com:80/`. If such a URL
    /// has a scheme when decoded, as `http%3A%2F%2Fexample.com/` does, the decoded URL is used instead.
    ///
    /// Rejects a URL without a host, such as `mailto:a@b`; a port that is not a number of at most 65535; a host with an escaped colon or
    /// bracket; a host with a character that UTS 46 maps to a delimiter; as [`Reason::HostConflict`], every URL for which Google's rules
    /// and browsers name different hosts, such as `http:/a`, `http:\\a\b`, `http://evil.com\@good.com/`, `http://a%2562.com/`; and, as
    /// [`Reason::Unstable`], a path in which a decoded `?` ends a dot segment, such as `/a/..%3F`.
    #[cfg(feature = "idna")]
    SafeBrowsing4,

    /// `safe-browsing-5`: the keys of Google Safe Browsing, version 5.
    ///
    /// It differs from version 4 in IPv6 addresses: they are compressed, and become an IPv4 address if they are IPv4-mapped or have the
    /// NAT64 prefix `64:ff9b::/96`. It rejects the same URLs.
    #[cfg(feature = "idna")]
    SafeBrowsing5,

    /// `surt-python-0.3`: the keys of web archives, as the package surt 0.3 of PyPI makes them.
    ///
    /// Spaces at the ends, TAB, CR, LF, userinfo and the fragment are removed. `http://` is inserted if there is no scheme. Escapes are
    /// decoded until nothing changes, in each component by itself. Host, path and query are in lower case. The host is converted by IDNA,
    /// an IPv4 address becomes four numbers, one `www` with its digits and superfluous dots are removed, and the labels are reversed. A
    /// default port, dot segments, runs of slashes, session ids in path and query, and one slash at the end are removed. The parameters of
    /// the query are sorted. In a host such as `www.%C2%AD`, a label that IDNA ignores stays. The form of an empty URL is `-`. A URL
    /// without a host keeps its scheme.
    ///
    /// The tool passes a host such as `256.1.1.1` to the DNS resolver. This profile does not.
    ///
    /// Rejects a host with an empty label, such as `a..b`; the tool drops such labels, and browsers find no host. Any number of slashes
    /// before a plain host counts as two, as in `http:////example.com/`. Rejects an invalid port; a URL without a host whose scheme is
    /// `http`, `https` or missing, where the tool takes the first segment of the path for a host; hosts with characters that IDNA 2003 and
    /// UTS 46 map differently, such as `fa\u{df}.de`, or with some of their neighbours in Unicode; and hosts with a character that is
    /// mapped to a delimiter, such as `U+FF0F` to `/`. Also rejects, as [`Reason::HostConflict`], URLs whose key would name another host
    /// than the one that browsers contact, such as `http://http://example.com/` and `http://a\\@b.com/`; hosts that hold the delimiters of
    /// a key, such as `a,b`; an IPv6 address with a port if the key could be that of a longer address, as for `[::1]:8`; and a control
    /// character at the start, because the tool takes the scheme after it for the host.
    #[cfg(feature = "idna")]
    SurtPython0_3,

    /// `surt-java`: the keys of web archives, as `WaybackURLKeyMaker` of iipc/webarchive-commons makes them (2025 and later).
    ///
    /// It differs from `surt-python-0.3` in these points: only `http`, `https`, `ftp`, `mms`, `rtsp` and `wais` are
    /// schemes; the host of `dns:` is reversed; text that starts with `filedesc` or `warcinfo` stays; the first `@`
    /// ends the userinfo; every `www` at the start is removed; an IPv4 address has one number or four.
    ///
    /// Rejects URLs that are not UTF-8; a port that is not a number of at most 65535; an empty host or label; hosts for which IDNA 2003 and
    /// UTS 46 differ, or with a character that is mapped to a delimiter, and those that mix UTF-8 with escapes that are not UTF-8. Also
    /// rejects, as [`Reason::HostConflict`], URLs with another scheme, such as `mailto:b@example.com`, and URLs whose key would name
    /// another host than the one that browsers contact, such as `http://u@v@example.com/`.
    #[cfg(feature = "idna")]
    SurtJava,

    /// `w3lib-2.5`: the keys of Scrapy: `canonicalize_url` of w3lib 2.5.
    ///
    /// Control characters and spaces at the ends, TAB, CR, LF and the fragment are removed. `\` is a slash in special schemes. The host is
    /// in lower case, or converted by IDNA; an IPv6 address is compressed. An empty port is removed, a default port stays. Dot segments of
    /// an absolute path are removed. In the path, escapes of most ASCII are decoded, and those of `% / ; ? #` stay. The parameters of the
    /// query are decoded, sorted and written as a form, so that `?a` becomes `?a=`.
    ///
    /// Rejects URLs for which w3lib raises an error, other than those in which NFKC makes a delimiter in the userinfo, or whose host has a
    /// backslash; addresses of future versions, whose brackets w3lib drops; and hosts with characters
    /// that UTS 46 and IDNA 2003, which w3lib uses, map differently, such as `fa\u{df}.de`, with some of their neighbours in Unicode, or
    /// with a character that is mapped to a delimiter, such as `U+FF0F` to `/`. Also rejects, as [`Reason::HostConflict`], URLs whose key
    /// has another host for browsers, such as `http:/a/../b`; and, as [`Reason::Unstable`], URLs in which w3lib completes an escape or a
    /// scheme by decoding, such as `/%4%31` and `a%3Ab`.
    #[cfg(feature = "idna")]
    W3lib2_5 {
        /// Whether parameters with an empty value stay, as by default. If not, the name of the profile has the suffix `-no-blank-values`.
        keep_blank_values: bool,
        /// Whether the fragment stays; by default, it is removed. If it stays, the name of the profile has the suffix `-fragments`.
        keep_fragments: bool,
    },

    /// `robots`: a path or pattern as google/robotstxt compares it.
    ///
    /// Escapes are in upper case, and bytes of 0x80 and above are escaped. Nothing is decoded, the URL is not split, and no input is
    /// rejected.
    Robots,
}

/// Defines the rows of the profiles: the name, the edition and the description of each, and the functions that make the form. `if` names
/// the cargo feature that the profile needs.
macro_rules! profiles {
    ($($variant:ident $({ $($option:ident: $value:literal),* })? $(if $feature:tt)?
        = $name:literal, $edition:literal, $about:literal, $form:expr;)*) => {
        impl Profile {
            /// All profiles of this build.
            ///
            /// ```
            /// use simdpct_uri::canon::Profile;
            ///
            /// for profile in Profile::ALL {
            ///     println!("{:<20} {} ({})", profile.name(), profile.about(), profile.edition());
            /// }
            /// ```
            pub const ALL: &'static [Profile] =
                &[$($(#[cfg(feature = $feature)])? Profile::$variant $({ $($option: $value),* })?,)*];

            const fn row(self) -> &'static Row {
                match self {
                    $($(#[cfg(feature = $feature)])?
                    Profile::$variant $({ $($option: $value),* })? =>
                        const { &Row { name: $name, edition: $edition, about: $about, form: $form } },)*
                }
            }
        }
    };
}

profiles! {
    Escapes = "escapes", "RFC 3986 of January 2005",
        "RFC 3986, 6.2.2, for escapes only: simdpct's normalize",
        Form::Bytes(escapes::append);
    Rfc3986 = "rfc3986", "RFC 3986 of January 2005",
        "RFC 3986, 6.2.2: case of scheme and host, escapes, dot segments",
        Form::Url(Some(prove::<rfc3986::proof::Rfc3986<false>>), |url, out| rfc3986::append(url, false, out));
    Rfc3986Scheme = "rfc3986-scheme", "RFC 3986 of January 2005",
        "RFC 3986, 6.2.2 and 6.2.3: rfc3986, without default ports and empty paths",
        Form::Url(Some(prove::<rfc3986::proof::Rfc3986<true>>), |url, out| rfc3986::append(url, true, out));
    Whatwg if "whatwg" = "whatwg", "URL Standard of 2 July 2026, Unicode 18",
        "the URL Standard: what browsers show and send",
        Form::Url(Some(prove::<whatwg::proof::Whatwg>), whatwg::append);
    SafeBrowsing4 if "idna" = "safe-browsing-4", "version 4",
        "keys of Google Safe Browsing, version 4",
        Form::Url(
            Some(prove::<safe_browsing::proof::SafeBrowsing>),
            |url, out| safe_browsing::append(url, safe_browsing::Version::Four, out),
        );
    SafeBrowsing5 if "idna" = "safe-browsing-5", "version 5",
        "keys of Google Safe Browsing, version 5",
        Form::Url(
            Some(prove::<safe_browsing::proof::SafeBrowsing>),
            |url, out| safe_browsing::append(url, safe_browsing::Version::Five, out),
        );
    SurtPython0_3 if "idna" = "surt-python-0.3", "surt 0.3.1",
        "keys of web archives: the Python package surt 0.3",
        Form::Url(None, |url, out| surt::append(url, surt::Tool::Python, out));
    SurtJava if "idna" = "surt-java", "webarchive-commons 39212592 of 2025",
        "keys of web archives: SURT of webarchive-commons",
        Form::Url(None, |url, out| surt::append(url, surt::Tool::Java, out));
    W3lib2_5 { keep_blank_values: true, keep_fragments: false } if "idna" = "w3lib-2.5", "w3lib 2.5.0",
        "keys of Scrapy: canonicalize_url of w3lib 2.5",
        Form::Url(Some(prove::<w3lib::proof::W3lib>), |url, out| w3lib::append(url, true, false, out));
    W3lib2_5 { keep_blank_values: false, keep_fragments: false } if "idna" = "w3lib-2.5-no-blank-values", "w3lib 2.5.0",
        "keys of Scrapy, w3lib 2.5 with keep_blank_values=False",
        Form::Url(Some(prove::<w3lib::proof::W3lib>), |url, out| w3lib::append(url, false, false, out));
    W3lib2_5 { keep_blank_values: true, keep_fragments: true } if "idna" = "w3lib-2.5-fragments", "w3lib 2.5.0",
        "keys of Scrapy, w3lib 2.5 with keep_fragments=True",
        Form::Url(Some(prove::<w3lib::proof::W3lib>), |url, out| w3lib::append(url, true, true, out));
    W3lib2_5 { keep_blank_values: false, keep_fragments: true } if "idna" = "w3lib-2.5-no-blank-values-fragments", "w3lib 2.5.0",
        "keys of Scrapy, w3lib 2.5 with both arguments",
        Form::Url(Some(prove::<w3lib::proof::W3lib>), |url, out| w3lib::append(url, false, true, out));
    Robots = "robots", "google/robotstxt 22b355f of April 2026",
        "paths and patterns of robots.txt, as google/robotstxt compares them",
        Form::Bytes(|text, _, out| robots::append(text, out));
}

impl Profile {
    /// Returns the name of the profile, such as `rfc3986-scheme`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the version or the date of the norm or the tool that the profile follows, such as `RFC 3986 of January 2005`.
    #[must_use]
    pub const fn edition(self) -> &'static str {
        self.row().edition
    }

    /// Returns a one-line description of the profile, for lists of profiles.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// Returns the profile with this name, if this build has it.
    #[must_use]
    pub fn find(name: &str) -> Option<Profile> {
        Profile::ALL.iter().copied().find(|profile| profile.name() == name)
    }

    /// Returns the canonical form of `url`: text for text, bytes for bytes. The result is borrowed if `url` is canonical already.
    ///
    /// Takes time linear in the length of `url`, except that the profiles `surt-*` and `w3lib-*` sort the `n` parameters of a query with
    /// `n log n` comparisons.
    ///
    /// # Errors
    ///
    /// [`CanonicalizeError`] if the profile rejects the URL; the documentation of each profile says when.
    pub fn canonicalize<'a, S: Source + ?Sized>(
        self,
        url: &'a S,
    ) -> Result<Cow<'a, S::Text>, CanonicalizeError> {
        let (text, url) = (url.text(), url.text().as_ref());
        if self.is_proven(url) {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = Vec::new();
        self.append_unproven(url, &mut out)?;
        Ok(if out == url { Cow::Borrowed(text) } else { Cow::Owned(S::Text::from_parts(out)) })
    }

    /// Appends the canonical form of `url` to `out`.
    ///
    /// # Errors
    ///
    /// [`CanonicalizeError`] if the profile rejects the URL; `out` is then unchanged.
    pub fn canonicalize_append(
        self,
        url: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<(), CanonicalizeError> {
        let url = url.as_ref();
        if self.is_proven(url) {
            out.extend_from_slice(url);
            return Ok(());
        }
        self.append_unproven(url, out)
    }

    /// Appends the canonical form of each line of `text` to `out`. A rejected line is appended unchanged, and reported to `rejected`
    /// with the offset of the line in `text`.
    ///
    /// Line ends, LF or CR LF, stay. For most profiles, SIMD code proves most lines of a list of typical URLs canonical
    /// without splitting the URLs. Adjacent proven lines are copied together.
    ///
    /// ```
    /// use simdpct_uri::canon::Profile;
    ///
    /// let (mut out, mut rejected) = (Vec::new(), Vec::new());
    /// let lines = b"http://a/b\nHTTP://a/%7e\nhttp://a:99999/\n";
    /// Profile::Rfc3986.canonicalize_lines(lines, &mut out, |start, error| rejected.push((start, error.offset)));
    /// assert_eq!(out, b"http://a/b\nhttp://a/~\nhttp://a:99999/\n");
    /// assert_eq!(rejected, [(24, 9)]);
    /// ```
    pub fn canonicalize_lines(
        self,
        text: &[u8],
        out: &mut Vec<u8>,
        rejected: impl FnMut(usize, CanonicalizeError),
    ) {
        lines::canonicalize_lines_on(Tier::active(), self, text, out, rejected);
    }

    /// Reports whether a kernel proves that `url` is canonical. `false` means that the kernel could not decide.
    fn is_proven(self, url: &[u8]) -> bool {
        let Form::Url(Some(prove), _) = self.row().form else { return false };
        // The kernels read lines: they would drop a CR at the end of the URL, split it at an LF, and find no line in an empty
        // URL.
        if url.is_empty() || url.last() == Some(&b'\r') || memchr::memchr(b'\n', url).is_some() {
            return false;
        }
        let mut unproven = Vec::new();
        prove(Tier::active(), url, &mut unproven) && unproven.is_empty()
    }

    /// Appends the canonical form of `url`, or nothing if it is rejected.
    fn append_unproven(self, url: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalizeError> {
        match self.row().form {
            Form::Bytes(append) => {
                append(url, None, out);
                Ok(())
            }
            Form::Url(_, append) => {
                let start = out.len();
                append(url, out).inspect_err(|_| out.truncate(start))
            }
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Profile, UnknownProfile> {
        Profile::find(name).ok_or(UnknownProfile)
    }
}

/// The error of `Profile::from_str`: this build has no profile with the name. `Display` lists the profiles of this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownProfile;

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown profile; there are:")?;
        Profile::ALL.iter().enumerate().try_for_each(|(i, profile)| {
            let separator = if i == 0 { " " } else { ", " };
            write!(f, "{separator}{profile}")
        })
    }
}

impl core::error::Error for UnknownProfile {}

/// The name of a profile, and the tables of its kernel: one for bytes, and two for the digits of escapes.
#[cfg(all(feature = "internals", feature = "whatwg"))]
type KernelTables = (&'static str, &'static Sets, Option<&'static [Sets; 2]>);

/// Returns the tables of the kernels, for tests.
#[cfg(all(feature = "internals", feature = "whatwg"))]
#[doc(hidden)]
#[must_use]
pub fn kernel_tables() -> [KernelTables; 5] {
    fn of_key<R: key::KeyRule>(name: &'static str) -> KernelTables {
        (name, const { &key::sets(R::REJECTED) }, Some(const { &escape_tables(R::DECODED) }))
    }
    [
        ("rfc3986", &rfc3986::proof::SETS, Some(&rfc3986::proof::ESCAPES)),
        ("whatwg", &whatwg::proof::SETS, None),
        of_key::<safe_browsing::proof::SafeBrowsing>("safe-browsing"),
        of_key::<w3lib::proof::W3lib>("w3lib"),
        ("surt", &surt::plain::SETS, None),
    ]
}
