//! The kernels that prove lines canonical: a whole text, 64 bytes at a time, without work for each line.
//!
//! A mask has one bit for each byte. An addition whose carry goes from block to block finds the ends of runs, and a subtraction
//! with borrow fills regions, so neither the length of a line nor the number of lines causes a branch. The caller sends every
//! line that is not proven through the slow path. A rule may fail to prove a canonical line, which costs time only; it must never
//! prove a line that is not canonical.

#![cfg_attr(
    not(feature = "idna"),
    allow(dead_code, reason = "all profiles with a `KeyRule` need the feature `idna`")
)]

use alloc::vec::Vec;
use core::marker::PhantomData;

#[cfg(feature = "whatwg")]
use simdpct::simd::opaque;
use simdpct::simd::{Kernel, Sets, Simd};

/// The bit that an operation on masks carries from block to block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Carry(u64);

impl Carry {
    /// Returns, for each bit of `start`, the first position at or after it that is not in `run`. A run holds at most one start.
    #[inline(always)]
    fn ends(&mut self, run: u64, start: u64) -> u64 {
        // A run that continues from the block before is like one that starts at the first bit.
        let (sum, over) = run.overflowing_add(start | self.0);
        self.0 = u64::from(over);
        sum & !run
    }

    /// Returns the positions from each start up to the end after it, without that end. Starts and ends alternate.
    #[inline(always)]
    fn between(&mut self, start: u64, end: u64) -> u64 {
        // If the block before ends between a start and its end, the first bit here is an end.
        let (difference, under) = end.overflowing_sub(start | self.0);
        self.0 = u64::from(under);
        difference
    }

    /// Moves each bit to the next position. The last bit of a block moves to the next block.
    #[inline(always)]
    fn next(&mut self, mask: u64) -> u64 {
        let moved = mask << 1 | self.0;
        self.0 = mask >> 63;
        moved
    }
}

/// Finds the first byte of each line, from the line feeds.
struct LineStarts(Carry);

impl Default for LineStarts {
    /// A line starts at the start of the text, as after a line feed.
    fn default() -> LineStarts {
        LineStarts(Carry(1))
    }
}

impl LineStarts {
    #[inline(always)]
    fn find(&mut self, newline: u64) -> u64 {
        self.0.next(newline)
    }
}

/// Finds the first byte after each `//` that starts at a given position.
#[derive(Default)]
struct Authorities([Carry; 2]);

impl Authorities {
    #[inline(always)]
    fn find(&mut self, slash: u64, start: u64) -> u64 {
        let first = slash & start;
        let second = slash & self.0[0].next(first);
        self.0[1].next(second)
    }
}

/// Finds the positions after the first dot and after the first two dots of segments that begin with them. A segment is `.` or
/// `..` if such a position holds a delimiter.
#[derive(Default)]
struct Dots([Carry; 2]);

impl Dots {
    #[inline(always)]
    fn ends(&mut self, first: u64, dot: u64) -> u64 {
        // Few blocks have such a segment, so the branch is predicted.
        if first | self.0[0].0 | self.0[1].0 == 0 {
            return 0;
        }
        let after_1 = self.0[0].next(first);
        let after_2 = self.0[1].next(after_1 & dot);
        after_1 | after_2
    }
}

/// Finds the two bytes after each `%`.
#[derive(Default)]
struct Digits([Carry; 2]);

impl Digits {
    #[inline(always)]
    fn find(&mut self, percent: u64) -> (u64, u64) {
        if percent | self.0[0].0 | self.0[1].0 == 0 {
            return (0, 0);
        }
        let first = self.0[0].next(percent);
        (first, self.0[1].next(first))
    }
}

/// Finds the lines without a bad byte.
#[derive(Default)]
struct Proof {
    proven: Carry,
    with_path: Carry,
}

impl Proof {
    /// Returns the ends of unproven lines. A line is proven if no byte from its `start` on is `bad`. `no_path` marks the ends of
    /// authorities without a path, whose lines lack only a slash.
    #[inline(always)]
    fn ends(&mut self, newline: u64, start: u64, bad: u64, no_path: u64) -> LineEnds {
        let lacks_path = no_path != 0 || self.proven.0 != self.with_path.0;
        let proven = self.proven.ends(!(bad | newline), start) & newline & !bad;
        if !lacks_path {
            self.with_path = self.proven;
            return LineEnds { unproven: newline & !proven, slash_missing: 0 };
        }
        let bad = bad | no_path;
        let canonical = self.with_path.ends(!(bad | newline), start) & newline & !bad;
        LineEnds { unproven: newline & !canonical, slash_missing: proven }
    }
}

/// The checks that prove that a line is in a certain canonical form.
pub(crate) trait Rule {
    /// The carries that the checks pass from block to block.
    type State: Default;

    /// Checks a block, and returns its line ends. `before` is the block that starts one byte earlier.
    fn check<S: Simd>(simd: S, before: &[u8; 64], block: &[u8; 64], state: &mut Self::State) -> LineEnds;
}

/// Masks of the line feeds that end unproven lines of a block.
pub(crate) struct LineEnds {
    unproven: u64,
    /// The line feeds of lines that become canonical if a slash is inserted after the authority. Bits outside `unproven` are
    /// unspecified.
    slash_missing: u64,
}

/// A line that is not proven canonical.
#[derive(Clone, Copy)]
pub(crate) struct Unproven {
    /// The end of the line: the offset of its line feed, or the length of the text.
    pub(crate) end: usize,
    /// Whether the line becomes canonical if a slash is inserted after the authority.
    pub(crate) slash_missing: bool,
}

/// Appends every line of `text` that is not proven canonical to `unproven`. Each line ends before a line feed or at the end of
/// the text. On the scalar tier the scan does nothing and returns `false`.
pub(crate) struct Scan<'a, R> {
    text: &'a [u8],
    unproven: &'a mut Vec<Unproven>,
    rule: PhantomData<R>,
}

impl<'a, R: Rule> Scan<'a, R> {
    pub(crate) fn new(text: &'a [u8], unproven: &'a mut Vec<Unproven>) -> Scan<'a, R> {
        Scan { text, unproven, rule: PhantomData }
    }

    /// Checks the last 64 of 65 bytes. They start at offset `at` of the text, and only line feeds in the lanes of `live` are
    /// reported.
    #[inline(always)]
    fn check<S: Simd>(&mut self, simd: S, bytes: &[u8; 65], live: u64, at: usize, state: &mut R::State) {
        let [before @ .., _] = bytes;
        let [_, block @ ..] = bytes;
        let ends = R::check(simd, before, block, state);
        let mut places = ends.unproven & live;
        while places != 0 {
            let place = places.trailing_zeros();
            let slash_missing = ends.slash_missing >> place & 1 != 0;
            self.unproven.push(Unproven { end: at + place as usize, slash_missing });
            places &= places - 1;
        }
    }
}

impl<R: Rule> Kernel for Scan<'_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> bool {
        let text = self.text;
        let mut state = R::State::default();
        let mut at: usize = 0;
        let mut staged = [b'\n'; 65];
        if text.len() >= 64 {
            staged[1..].copy_from_slice(&text[..64]);
            self.check(simd, &staged, !0, 0, &mut state);
            at = 64;
        }
        while let Some(bytes) = text.get(at.wrapping_sub(1)..).and_then(<[u8]>::first_chunk::<65>) {
            self.check(simd, bytes, !0, at, &mut state);
            at += 64;
        }
        // The last block is padded with line feeds. The first of these ends the last line if that has no line feed of its own.
        let rest = &text[at..];
        staged = [b'\n'; 65];
        if let Some(&last) = text[..at].last() {
            staged[0] = last;
        }
        staged[1..=rest.len()].copy_from_slice(rest);
        let len = rest.len() + usize::from(text.last().is_some_and(|&last| last != b'\n'));
        let live = if len < 64 { (1 << len) - 1 } else { !0 };
        self.check(simd, &staged, live, at, &mut state);
        true
    }

    fn run_scalar(self) -> bool {
        false
    }
}

const ALPHA: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SCHEME: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-.";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HOST: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789.-_";

/// Returns the controls and the space (0x00 to 0x20) without LF, followed by the bytes of `more`.
const fn controls<const N: usize>(more: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut i = 0;
    while i < N {
        bytes[i] = if i < 32 { i as u8 + (i >= b'\n' as usize) as u8 } else { more[i - 32] };
        i += 1;
    }
    bytes
}

/// The rule of RFC 3986, section 6.2.2, and if `BY_SCHEME`, also of section 6.2.3.
pub(crate) struct Rfc3986<const BY_SCHEME: bool>;

#[derive(Default)]
pub(crate) struct Rfc3986State {
    lines: LineStarts,
    name_end: Carry,
    upper_name: Carry,
    after_scheme: Carry,
    authorities: Authorities,
    after: Carry,
    authority: Carry,
    host_end: Carry,
    dots: Dots,
    digits: Digits,
    /// 1 if the line that continues in the next block has a bad byte.
    is_bad: u64,
}

static RFC3986_SETS: Sets = Sets::new(&[
    b"/?#\n\r",
    // The bytes of an authority that is not proven.
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ[]@:",
    UPPER,
    b"/:",
    b".",
    b"\t\r\0",
]);
static SCHEME_SET: Sets = Sets::new(&[SCHEME]);

/// Returns the table of first or second digits. `first[a] & second[b]` is not zero if normalization changes the escape `%ab`, or
/// if the escape is malformed.
///
/// Each of the lower bits is a class of first digits, with the second digits that make an unreserved byte with them: `2D 2E 30-39
/// 41-5A 5F 61-7A 7E`. Bit 6 is common to both if the second byte is not an upper-case hexadecimal digit, bit 7 if the first is
/// not. The table is not exact: it has the escapes `%5E` and `%7F`, too.
const fn digits(second: bool) -> [u8; 128] {
    let mut bits = [0; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        let digit = byte.is_ascii_digit();
        let hex = digit || matches!(byte, b'A'..=b'F');
        bits[byte as usize] = if !second {
            match byte {
                b'2' => 0x41,
                b'3' => 0x42,
                b'4' | b'6' => 0x44,
                b'5' | b'7' => 0x48,
                _ if hex => 0x40,
                _ => 0xFF,
            }
        } else {
            0x80 | matches!(byte, b'D' | b'E') as u8
                | (digit as u8) << 1
                | ((hex && byte != b'0') as u8) << 2
                | ((digit || matches!(byte, b'A' | b'E' | b'F')) as u8) << 3
                | (!hex as u8) << 6
        };
        byte += 1;
    }
    bits
}
static FIRST_DIGIT: Sets = Sets::by_byte(digits(false));
static SECOND_DIGIT: Sets = Sets::by_byte(digits(true));

impl<const BY_SCHEME: bool> Rule for Rfc3986<BY_SCHEME> {
    type State = Rfc3986State;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut Rfc3986State) -> LineEnds {
        let block = simd.load(bytes);
        let newline = simd.eq(block, b'\n');
        let slash = simd.eq(block, b'/');
        let percent = simd.eq(block, b'%');
        let high = simd.high(block);
        // Bytes that are not ASCII may be members of any set. Where that makes a line bad, it is only not proven.
        let [delimiter, odd, upper, slash_or_colon, dot, control]: [u64; 6] =
            simd.masks(simd.classify(block, &RFC3986_SETS));
        let odd = odd | high;
        let plain = !(odd | delimiter);
        let start = state.lines.find(newline);
        let mut bad = 0;

        // Few lines have such a byte, or all have a CR before the LF. That CR is part of the line end; if the block ends after it, the LF is
        // not visible, and the line is not proven.
        let control = control & !high;
        if control != 0 {
            bad = control & !(simd.eq(block, b'\r') & newline >> 1);
        }

        // The scheme must be in lower case. Few lines have an upper-case letter in their first name.
        let name_end = state.name_end.ends(plain, start);
        let named = name_end & upper;
        if named | state.upper_name.0 != 0 {
            let [scheme] = simd.masks(simd.classify(block, &SCHEME_SET));
            bad |= state.upper_name.ends(scheme & !high, named) & simd.eq(block, b':');
        }

        // An authority with upper case, a port, userinfo, an address in brackets or non-ASCII bytes is bad: its line is not proven.
        let after = state.after.next(slash_or_colon);
        if BY_SCHEME {
            // Many paths have `//`, too, but few have an authority that does not end in a slash.
            let after_scheme = state.after_scheme.next(name_end & simd.eq(block, b':'));
            let authority = state.authorities.find(slash, after_scheme | start);
            bad |= state.host_end.ends(plain, authority) & !slash;
        } else {
            // The bytes after any two slashes are treated as an authority.
            let authority = state.authority.next(slash & after);
            bad |= state.host_end.ends(plain, authority) & odd;
        }

        // A segment starts after a slash, at the start of the line, or after the scheme.
        bad |= state.dots.ends(dot & (after | start), dot) & delimiter;

        let (_, second_digit) = state.digits.find(percent);
        if second_digit != 0 {
            let before = simd.load(before);
            let (first, second) = (simd.classify(before, &FIRST_DIGIT), simd.classify(block, &SECOND_DIGIT));
            let changes = simd.any(simd.both(first, second));
            bad |= second_digit & (changes | high | simd.high(before));
        }

        // Few blocks have a bad byte, so the branch is predicted.
        if bad | state.is_bad == 0 {
            return LineEnds { unproven: 0, slash_missing: 0 };
        }
        let mut proven = Carry(1 & !state.is_bad & !start);
        let unproven = newline & !(proven.ends(!(bad | newline), start) & !bad);
        state.is_bad = 1 & !proven.0 & !(newline >> 63);
        LineEnds { unproven, slash_missing: 0 }
    }
}

/// The rule of a key: a URL with an authority, whose scheme and host are in lower case, without port, userinfo and dot segments.
pub(crate) trait KeyRule {
    /// The seven sets of [`KEY_SETS`], and as the eighth a set of this rule.
    const SETS: &'static Sets;
    /// The tables of first and second digits of escapes, as [`digits`] makes them.
    const DIGITS: &'static [Sets; 2];
    /// Whether URLs with a query or a fragment can be proven.
    const HAS_QUERY: bool;

    /// Returns a mask of the bytes that only this rule rejects. `own` is the mask of the bytes in the eighth set.
    fn bad<S: Simd>(simd: S, block: S::Block, key: &Key, own: u64, carries: &mut [Carry; 3]) -> u64;
}

#[derive(Default)]
pub(crate) struct KeyState {
    lines: LineStarts,
    scheme: Carry,
    after_scheme: Carry,
    authorities: Authorities,
    host_end: Carry,
    host: Carry,
    query: Carry,
    before_query: Carry,
    slash: Carry,
    dots: Dots,
    digits: Digits,
    proof: Proof,
    /// The carries of [`KeyRule::bad`].
    own: [Carry; 3],
}

/// The positions of the parts of URLs in one block.
pub(crate) struct Key {
    lower: u64,
    dot: u64,
    authority: u64,
    host: u64,
    host_end: u64,
    before_query: u64,
    slash: u64,
    after_slash: u64,
}

/// The sets that every [`KeyRule`] has. The eighth is its own.
const KEY_SETS: [&[u8]; 7] = [SCHEME, ALPHA, b"/?#\n", UPPER, b".", b"?#\n", HOST];

const fn key_sets(own: &[u8]) -> Sets {
    let [scheme, alpha, delimiter, upper, dot, question_or_hash, host] = KEY_SETS;
    Sets::new(&[scheme, alpha, delimiter, upper, dot, question_or_hash, host, own])
}

impl<R: KeyRule> Rule for R {
    type State = KeyState;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut KeyState) -> LineEnds {
        let block = simd.load(bytes);
        let ascii = !simd.high(block);
        let [scheme, alpha, delimiter, upper, dot, question_or_hash, in_host, own]: [u64; 8] =
            simd.masks(simd.classify(block, R::SETS));
        let (scheme, alpha, delimiter) = (scheme & ascii, alpha & ascii, delimiter & ascii);
        let (dot, question_or_hash) = (dot & ascii, question_or_hash & ascii);
        let newline = simd.eq(block, b'\n');
        let colon = simd.eq(block, b':');
        let slash = simd.eq(block, b'/');
        let start = state.lines.find(newline);

        let named = start & alpha;
        let scheme_end = state.scheme.ends(scheme & !upper, named & !upper) & colon;
        let after_scheme = state.after_scheme.next(scheme_end);
        let authority = state.authorities.find(slash, after_scheme);
        let host_end = state.host_end.ends(!delimiter, authority);
        let host = state.host.between(authority, host_end);
        // An empty host is bad, and so are bytes that are not ASCII or not allowed in a host.
        let mut bad = authority & host_end | !ascii | host & !in_host;

        let query = state.query.ends(!question_or_hash, authority);
        let before_query = state.before_query.between(authority, query);
        let after_slash = state.slash.next(slash);
        let dot_segments = state.dots.ends(dot & after_slash & before_query, dot) & delimiter;
        let (first_digit, second_digit) = state.digits.find(simd.eq(block, b'%'));
        // Dot segments are bad, and so are escapes that the end of the line cuts off.
        bad |= dot_segments | (first_digit | second_digit) & newline;
        if second_digit != 0 {
            let before = simd.load(before);
            let (first, second) = (simd.classify(before, &R::DIGITS[0]), simd.classify(block, &R::DIGITS[1]));
            bad |= second_digit & simd.any(simd.both(first, second));
            bad |= second_digit & simd.high(before);
        }

        if !R::HAS_QUERY {
            bad |= question_or_hash & !newline;
        }
        let lower = alpha & !upper;
        let key = Key { lower, dot, authority, host, host_end, before_query, slash, after_slash };
        bad |= R::bad(simd, block, &key, own, &mut state.own);
        state.proof.ends(newline, authority, bad, host_end & !slash)
    }
}

/// Returns tables like those of [`digits`]: `first[a] & second[b]` is not zero if the escape `%ab` is malformed, in lower case,
/// or in `decoded`. Bit `b` of `decoded[a - 2]` is for the escape `%ab`, whose first digit `a` is 2 to 7.
const fn digit_sets(decoded: [u16; 6]) -> [Sets; 2] {
    let (mut first, mut second) = ([0xFF; 128], [0xC0; 128]);
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789ABCDEF"[value] as usize;
        first[digit] = 0x40;
        second[digit] = 0x80;
        let mut k = 0;
        while k < 6 {
            first[digit] |= ((value == k + 2) as u8) << k;
            second[digit] |= ((decoded[k] >> value & 1) as u8) << k;
            k += 1;
        }
        value += 1;
    }
    [Sets::by_byte(first), Sets::by_byte(second)]
}

/// The rule of Google Safe Browsing, versions 4 and 5.
#[cfg(feature = "idna")]
pub(crate) struct SafeBrowsing;

/// The sets of the rule. The eighth set has the bytes that a key must escape: controls and space without LF, `#` and DEL.
#[cfg(feature = "idna")]
static SAFE_BROWSING_SETS: Sets = key_sets(&controls::<34>(b"#\x7f"));
/// The digits of the escapes that a key does not hold: of bytes above 0x20 and below 0x7F, without `#`. `%25` is among them,
/// because the decoded `%` may start another escape.
#[cfg(feature = "idna")]
static SAFE_BROWSING_DIGITS: [Sets; 2] = digit_sets([0xFFF6, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0x7FFF]);

#[cfg(feature = "idna")]
impl KeyRule for SafeBrowsing {
    const SETS: &'static Sets = &SAFE_BROWSING_SETS;
    const DIGITS: &'static [Sets; 2] = &SAFE_BROWSING_DIGITS;
    const HAS_QUERY: bool = true;

    #[inline(always)]
    fn bad<S: Simd>(simd: S, block: S::Block, key: &Key, escaped: u64, carries: &mut [Carry; 3]) -> u64 {
        let [after_letter, after_dot, after_0] = carries;
        // A host that ends in a letter is not an IPv4 address, unless its last number is hexadecimal. So other ends and `0x` are
        // bad.
        let mut bad = escaped | key.host_end & !after_letter.next(key.lower);
        bad |= simd.eq(block, b'x') & after_0.next(simd.eq(block, b'0')) & key.host;
        // A dot at the start of a host or after another dot is bad. A dot at the end is bad by the first check above, which requires a
        // letter there.
        bad |= key.dot & (after_dot.next(key.dot) | key.authority) & key.host;
        bad | key.slash & key.after_slash & key.before_query
    }
}

/// The rule of `canonicalize_url` of w3lib, for any of its arguments.
#[cfg(feature = "idna")]
pub(crate) struct W3lib;

/// The sets of the rule. The eighth set has the bytes that stay as they are in a path.
#[cfg(feature = "idna")]
static W3LIB_SETS: Sets =
    key_sets(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,:=@[]|/%");
/// The digits of the escapes that w3lib decodes in a path: those of letters, digits and ``!$&'()*+,-.:=@[]_|~``. Each number is
/// for one first digit, from 2 to 7.
#[cfg(feature = "idna")]
static W3LIB_DIGITS: [Sets; 2] = digit_sets([0x7FD2, 0x27FF, 0xFFFF, 0xAFFF, 0xFFFE, 0x57FF]);

#[cfg(feature = "idna")]
impl KeyRule for W3lib {
    const SETS: &'static Sets = &W3LIB_SETS;
    const DIGITS: &'static [Sets; 2] = &W3LIB_DIGITS;
    const HAS_QUERY: bool = false;

    #[inline(always)]
    fn bad<S: Simd>(_: S, _: S::Block, key: &Key, in_path: u64, _: &mut [Carry; 3]) -> u64 {
        key.before_query & !in_path
    }
}

/// The rule of the URL Standard: it proves `http`, `https` and `file` URLs that are equal to their serialization.
#[cfg(feature = "whatwg")]
pub(crate) struct Whatwg;

#[cfg(feature = "whatwg")]
#[derive(Default)]
pub(crate) struct WhatwgState {
    lines: LineStarts,
    /// The carries of the letters of `http`, one for each.
    http: [Carry; 4],
    file: FileState,
    letters: Carry,
    colon: Carry,
    authorities: Authorities,
    host_end: Carry,
    host: Carry,
    last_letter: Carry,
    query: Carry,
    before_query: Carry,
    slash: Carry,
    dots: Dots,
    digits: Digits,
    proof: Proof,
}

/// The state of the checks of `file` URLs.
#[cfg(feature = "whatwg")]
#[derive(Default)]
struct FileState {
    /// Whether any other field is not zero. If not, and no line of a block starts with `f`, these checks are left out.
    is_active: bool,
    /// The carries of the letters of `fil`, one for each.
    letters: [Carry; 3],
    /// The mask of the last letters of `file` in the block before. The authority starts four bytes after such a letter.
    end: u64,
    host_end: Carry,
    host: Carry,
    path: [Carry; 2],
}

#[cfg(feature = "whatwg")]
static WHATWG_SETS: Sets = Sets::new(&[
    // These bytes are always escaped or removed.
    &controls::<37>(b"\x7f\"<>`"),
    // These bytes are escaped in a path, or read as a slash, or are in a drive letter.
    b"^{}\\|",
    HOST,
    b"abcdefghijklmnopqrstuvwxyz",
    b"/?#\n",
    b"?#\n",
    b".",
]);
/// The first bytes of pairs: `0x` is bad in hosts, `2e` is an escaped dot, and `lh` is part of `localhost`.
#[cfg(feature = "whatwg")]
static WHATWG_FIRST: Sets = Sets::new(&[b"0", b"2", b"l"]);
#[cfg(feature = "whatwg")]
static WHATWG_SECOND: Sets = Sets::new(&[b"x", b"eE", b"h"]);

#[cfg(feature = "whatwg")]
impl Rule for Whatwg {
    type State = WhatwgState;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut WhatwgState) -> LineEnds {
        let before = simd.load(before);
        let block = simd.load(bytes);
        let newline = simd.eq(block, b'\n');
        let colon = simd.eq(block, b':');
        let slash = simd.eq(block, b'/');
        let percent = simd.eq(block, b'%');
        let ascii = !simd.high(block);
        let [never, not_in_path, in_host, letter, delimiter, question_or_hash, dot]: [u64; 7] =
            simd.masks(simd.classify(block, &WHATWG_SETS));
        let [bad_in_host, escaped_dot, local_host]: [u64; 3] =
            simd.masks(simd.both(simd.classify(before, &WHATWG_FIRST), simd.classify(block, &WHATWG_SECOND)));
        let (delimiter, question_or_hash) = (delimiter & ascii, question_or_hash & ascii);
        let start = state.lines.find(newline);
        let mut bad = never | !ascii;

        // Only lines that start with `http://`, `https://` or `file://` are proven.
        let h = simd.eq(block, b'h') & start;
        let t = simd.eq(block, b't');
        let ht = t & state.http[0].next(h);
        let htt = t & state.http[1].next(ht);
        let http = simd.eq(block, b'p') & state.http[2].next(htt);
        let https = simd.eq(block, b's') & state.http[3].next(http);
        let f = simd.eq(block, b'f') & start;
        let has_file = f != 0 || state.file.is_active;
        let mut file = 0;
        if has_file {
            let fi = simd.eq(block, b'i') & state.file.letters[0].next(f);
            let fil = simd.eq(block, b'l') & state.file.letters[1].next(fi);
            file = simd.eq(block, b'e') & state.file.letters[2].next(fil);
        }
        let scheme_end = colon & state.letters.next(http | https | file);
        let authority = state.authorities.find(slash, state.colon.next(scheme_end));

        // A proven host is in lower case, has no port, and does not end in a digit, because an address does.
        let host_end = state.host_end.ends(!delimiter, authority);
        let host = state.host.between(authority, host_end);
        // Without `opaque`, LLVM joins these two masks bit by bit on AVX2.
        bad |= host & (opaque(!in_host) | bad_in_host);
        let no_path = host_end & !slash;
        let mut valid_end = state.last_letter.next(letter);
        if has_file {
            let state = &mut state.file;
            let authority = authority & (file << 4 | state.end >> 60);
            state.end = file;
            let host_end = state.host_end.ends(!delimiter, authority);
            bad |= state.host.between(authority, host_end) & local_host | no_path & host_end;
            // The host of a `file` URL may be empty.
            valid_end |= authority & host_end & slash;
            // Drive letters are bad.
            let in_path = state.path[0].next(host_end & slash);
            bad |= state.path[1].next(in_path) & colon;
            let [a, b, c] = state.letters;
            state.is_active =
                a.0 | b.0 | c.0 | file | state.host_end.0 | state.host.0 | state.path[0].0 | state.path[1].0
                    != 0;
        }
        bad |= host_end & !valid_end;

        let query = state.query.ends(!question_or_hash, start);
        let before_query = state.before_query.between(start, query);
        bad |= before_query & not_in_path | simd.eq(block, b'\'') & !before_query;
        let first_dot = dot & before_query & state.slash.next(slash);
        bad |= state.dots.ends(first_dot, dot) & delimiter;
        let (_, second_digit) = state.digits.find(percent);
        bad |= escaped_dot & second_digit & before_query;
        state.proof.ends(newline, authority, bad, no_path)
    }
}
