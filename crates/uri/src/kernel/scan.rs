//! The drivers that prove lines canonical: whole text, 64 bytes at a time, with no work for each line.
//!
//! A mask has one bit for each byte. Runs are found by an addition whose carry goes from block to block, regions by a
//! subtraction whose borrow does, so neither the length of a line nor the number of lines makes a branch. What a rule cannot
//! prove is an exception: the caller puts that line through the slow path. A needless exception costs time, nothing else.

use alloc::vec::Vec;

use super::{ScanIsa, Sets};

/// What is kept from block to block by an operation on masks.
#[derive(Clone, Copy, Default)]
struct Carry(u64);

impl Carry {
    /// For each bit of `start`, the first place at or after it that is not in `run`. There is at most one start in each run.
    #[inline(always)]
    fn ends(&mut self, run: u64, start: u64) -> u64 {
        let (sum, over) = run.overflowing_add(start);
        let (sum, over_again) = sum.overflowing_add(self.0);
        self.0 = u64::from(over | over_again);
        sum & !run
    }

    /// The places from each start up to its end, without it. Starts and ends alternate.
    #[inline(always)]
    fn between(&mut self, start: u64, end: u64) -> u64 {
        let (difference, under) = end.overflowing_sub(start);
        let (difference, under_again) = difference.overflowing_sub(self.0);
        self.0 = u64::from(under | under_again);
        difference
    }

    /// Each bit one place later.
    #[inline(always)]
    fn next(&mut self, mask: u64) -> u64 {
        let moved = mask << 1 | self.0;
        self.0 = mask >> 63;
        moved
    }
}

/// A canonical form, as what proves that a line has it.
pub(crate) trait Rule {
    /// What is kept from block to block.
    type State: Default;

    /// What is known of the lines that end in `block`. `before` is the block one byte earlier.
    fn look<I: ScanIsa>(isa: I, before: &[u8; 64], block: &[u8; 64], state: &mut Self::State) -> Ends;
}

/// The line feeds of a block, by what is known of the lines that they end.
pub(crate) struct Ends {
    /// Of lines that are not proven canonical.
    exceptions: u64,
    /// Those of them that are proven to be, but for a slash that has to follow the host.
    slash_missing: u64,
}

/// A line that is not proven canonical.
#[derive(Clone, Copy)]
pub(crate) struct Exception {
    /// The end of the line.
    pub(crate) end: usize,
    /// It is proven to be but for a slash that has to follow the host.
    pub(crate) slash_missing: bool,
}

/// Appends to `exceptions` every line of `text` that is not proven canonical. Lines end before a line feed; the
/// last one may end with the text.
#[inline(always)]
pub(crate) fn scan<I: ScanIsa, R: Rule>(isa: I, text: &[u8], exceptions: &mut Vec<Exception>) {
    let mut state = R::State::default();
    // The first block, and the one before it.
    let mut at: usize = 0;
    let mut staged = [b'\n'; 65];
    if text.len() >= 64 {
        staged[1..].copy_from_slice(&text[..64]);
        at = 64;
        let ends = R::look(isa, parts(&staged).0, parts(&staged).1, &mut state);
        note(&ends, !0, 0, exceptions);
    }
    while let Some(bytes) = text.get(at.wrapping_sub(1)..).and_then(<[u8]>::first_chunk::<65>) {
        let (before, block) = parts(bytes);
        let ends = R::look(isa, before, block, &mut state);
        note(&ends, !0, at, exceptions);
        at += 64;
    }
    // The rest, filled up with line feeds. One of them ends the last line, if nothing else does.
    let rest = &text[at..];
    staged = [b'\n'; 65];
    if let Some(&last) = text[..at].last() {
        staged[0] = last;
    }
    staged[1..=rest.len()].copy_from_slice(rest);
    let ends = R::look(isa, parts(&staged).0, parts(&staged).1, &mut state);
    // An empty last line is not a line.
    let len = rest.len() + usize::from(text.last().is_some_and(|&last| last != b'\n'));
    let live = if len < 64 { (1 << len) - 1 } else { !0 };
    note(&ends, live, at, exceptions);
}

/// The first 64 of 65 bytes, and the last.
#[inline(always)]
fn parts(bytes: &[u8; 65]) -> (&[u8; 64], &[u8; 64]) {
    let [before @ .., _] = bytes;
    let [_, block @ ..] = bytes;
    (before, block)
}

#[inline(always)]
fn note(ends: &Ends, live: u64, at: usize, exceptions: &mut Vec<Exception>) {
    let mut places = ends.exceptions & live;
    while places != 0 {
        let place = places.trailing_zeros();
        let slash_missing = ends.slash_missing >> place & 1 != 0;
        exceptions.push(Exception { end: at + place as usize, slash_missing });
        places &= places - 1;
    }
}

const ALPHA: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SCHEME: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-.";

/// RFC 3986, section 6.2.2, and if `BY_SCHEME`, section 6.2.3.
pub(crate) struct Rfc3986<const BY_SCHEME: bool>;

#[derive(Default)]
pub(crate) struct Rfc3986State {
    not_first: bool,
    line: Carry,
    scheme: Carry,
    lower: Carry,
    after_scheme: Carry,
    slashes: [Carry; 2],
    authority: Carry,
    region: Carry,
    slash: Carry,
    dots: [Carry; 2],
    percent: [Carry; 2],
    proven: Carry,
}

static RFC3986_SETS: Sets =
    Sets::new(&[SCHEME, ALPHA, b"/?#\n\r", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ[]@:", b".", b"\t\r\0"]);

/// Digits of escapes: a byte of bits for each, so that `first & second` has a bit if the escape changes or is malformed. Each
/// of the lower bits is a class of first digits and the second digits that make an unreserved byte with them:
/// `2D 2E 30-39 41-5A 5F 61-7A 7E`. The bits 6 and 7 are for what is no upper-case digit. `%5E` and `%7F` are taken, too,
/// which is needless.
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
    fn look<I: ScanIsa>(isa: I, before: &[u8; 64], bytes: &[u8; 64], state: &mut Rfc3986State) -> Ends {
        let block = isa.load(bytes);
        let newline = isa.eq(block, b'\n');
        let colon = isa.eq(block, b':');
        let slash = isa.eq(block, b'/');
        let percent = isa.eq(block, b'%');
        let ascii = !isa.high(block);
        let [scheme, alpha, delimiter, upper, dot, control]: [u64; 6] = isa.members(block, &RFC3986_SETS);
        let (scheme, alpha, delimiter, dot) = (scheme & ascii, alpha & ascii, delimiter & ascii, dot & ascii);

        let start = state.line.next(newline) | u64::from(!state.not_first);
        state.not_first = true;
        // A CR before a line feed is part of the line's end. At the end of a block nobody knows, so the line is an exception.
        let line_end = isa.eq(block, b'\r') & newline >> 1;
        let mut bad = control & ascii & !line_end;

        // A scheme, and whether it has upper case.
        let named = start & alpha;
        let scheme_end = state.scheme.ends(scheme, named) & colon;
        bad |= scheme_end & !state.lower.ends(scheme & !upper, named);
        let after_scheme = state.after_scheme.next(scheme_end);

        // In an authority, upper case, a port, userinfo, a literal and what is not ASCII are left to the slow path.
        let first = slash & (after_scheme | start);
        let second = slash & state.slashes[0].next(first);
        let authority = state.slashes[1].next(second);
        let authority_end = state.authority.ends(!delimiter, authority);
        bad |= state.region.between(authority, authority_end) & (upper | !ascii);
        if BY_SCHEME {
            bad |= authority_end & !slash;
        }

        // Dots that may be a segment: after a slash, at the start of the line, after the scheme.
        let dot_1 = dot & (state.slash.next(slash) | start | after_scheme);
        let after_1 = state.dots[0].next(dot_1);
        let after_2 = state.dots[1].next(after_1 & dot);
        bad |= (after_1 | after_2) & delimiter;

        let first_digit = state.percent[0].next(percent);
        let second_digit = state.percent[1].next(first_digit);
        if second_digit != 0 {
            let before = isa.load(before);
            let changes = isa.any_pair(before, block, &FIRST_DIGIT, &SECOND_DIGIT);
            bad |= second_digit & (changes | !ascii | isa.high(before));
        }

        let proven = state.proven.ends(!(bad | newline), start) & newline & !bad;
        Ends { exceptions: newline & !proven, slash_missing: 0 }
    }
}

/// Google Safe Browsing, versions 4 and 5.
pub(crate) struct SafeBrowsing;

/// `canonicalize_url` of w3lib, with any arguments: URLs without a query and a fragment.
#[cfg(feature = "idna")]
pub(crate) struct W3lib;

/// What the lines of both have in common: a scheme in lower case, a host in lower case without port and userinfo, a path without
/// dot segments.
#[derive(Default)]
pub(crate) struct KeyState {
    not_first: bool,
    line: Carry,
    scheme: Carry,
    after_scheme: Carry,
    slashes: [Carry; 2],
    host_end: Carry,
    host: Carry,
    query: Carry,
    before_query: Carry,
    slash: Carry,
    dots: [Carry; 2],
    percent: [Carry; 2],
    proven: Carry,
    as_it_is: Carry,
    /// For the rules themselves.
    own: [Carry; 3],
}

/// Where the parts of lines are, in one block.
struct Key {
    newline: u64,
    authority: u64,
    host: u64,
    host_end: u64,
    before_query: u64,
    slash: u64,
    after_slash: u64,
    second_digit: u64,
    /// What no rule takes.
    bad: u64,
}

impl KeyState {
    /// Of `sets`, those that every rule has: schemes, letters, delimiters of an authority, upper case, the dot, the ends of a path.
    #[inline(always)]
    fn parts<I: ScanIsa>(&mut self, isa: I, block: I::Block, sets: [u64; 6]) -> Key {
        let [scheme, alpha, delimiter, upper, dot, question_or_hash] = sets;
        let newline = isa.eq(block, b'\n');
        let colon = isa.eq(block, b':');
        let slash = isa.eq(block, b'/');
        let start = self.line.next(newline) | u64::from(!self.not_first);
        self.not_first = true;

        let named = start & alpha;
        let scheme_end = self.scheme.ends(scheme & !upper, named & !upper) & colon;
        let after_scheme = self.after_scheme.next(scheme_end);
        let first = slash & after_scheme;
        let second = slash & self.slashes[0].next(first);
        let authority = self.slashes[1].next(second);
        let host_end = self.host_end.ends(!delimiter, authority);
        let host = self.host.between(authority, host_end);
        // An empty host.
        let mut bad = authority & host_end;

        let query = self.query.ends(!question_or_hash, authority);
        let before_query = self.before_query.between(authority, query);
        let after_slash = self.slash.next(slash);
        let after_1 = self.dots[0].next(dot & after_slash & before_query);
        let after_2 = self.dots[1].next(after_1 & dot);
        let first_digit = self.percent[0].next(isa.eq(block, b'%'));
        let second_digit = self.percent[1].next(first_digit);
        // Dot segments, and escapes that the line's end cuts off.
        bad |= (after_1 | after_2) & delimiter | (first_digit | second_digit) & newline;
        Key { newline, authority, host, host_end, before_query, slash, after_slash, second_digit, bad }
    }

    /// A path that is not there becomes `/`.
    #[inline(always)]
    fn ends(&mut self, key: &Key, bad: u64) -> Ends {
        let no_path = key.host_end & !key.slash;
        let proven = self.proven.ends(!(bad | key.newline), key.authority) & key.newline & !bad;
        let bad = bad | no_path;
        let as_it_is = self.as_it_is.ends(!(bad | key.newline), key.authority) & key.newline & !bad;
        Ends { exceptions: key.newline & !as_it_is, slash_missing: proven }
    }
}

const HOST: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789.-_";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static SAFE_BROWSING_SETS: Sets = Sets::new(&[SCHEME, ALPHA, b"/?#\n", UPPER, b".", b"?#\n", HOST, &ESCAPED]);

/// Up to the space without LF, `#` and DEL.
const ESCAPED: [u8; 34] = {
    let mut escaped = *b"................................#\x7f";
    let mut byte: u8 = 0;
    while byte < 32 {
        escaped[byte as usize] = byte + (byte >= b'\n') as u8;
        byte += 1;
    }
    escaped
};

/// Digits of escapes, as [`digits`]: `first & second` has a bit if the escape is malformed, in lower case, or of a byte that one of
/// `stays` holds and that has the high half of the first digit. Each of the lower bits is a first digit.
const fn digits_without(first: &[u8; 6], decoded: [u16; 6], second: bool) -> [u8; 128] {
    let mut bits = [0; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'F' => byte - b'A' + 10,
            _ => 16,
        };
        if value == 16 {
            bits[byte as usize] = if second { 0xC0 } else { 0xFF };
        } else if second {
            bits[byte as usize] = 0x80;
            let mut k = 0;
            while k < 6 {
                bits[byte as usize] |= ((decoded[k] >> value & 1) as u8) << k;
                k += 1;
            }
        } else {
            bits[byte as usize] = 0x40;
            let mut k = 0;
            while k < 6 {
                if first[k] == byte {
                    bits[byte as usize] |= 1 << k;
                }
                k += 1;
            }
        }
        byte += 1;
    }
    bits
}

/// Above 0x20 and below 0x7F, but for `#`. `%25` may be the start of another escape.
const SAFE_BROWSING_DECODED: [u16; 6] = [0xFFF6, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0x7FFF];
static SAFE_BROWSING_FIRST: Sets = Sets::by_byte(digits_without(b"234567", SAFE_BROWSING_DECODED, false));
static SAFE_BROWSING_SECOND: Sets = Sets::by_byte(digits_without(b"234567", SAFE_BROWSING_DECODED, true));

impl Rule for SafeBrowsing {
    type State = KeyState;

    #[inline(always)]
    fn look<I: ScanIsa>(isa: I, before: &[u8; 64], bytes: &[u8; 64], state: &mut KeyState) -> Ends {
        let block = isa.load(bytes);
        let ascii = !isa.high(block);
        let [scheme, alpha, delimiter, upper, dot, query, in_host, escaped]: [u64; 8] =
            isa.members(block, &SAFE_BROWSING_SETS);
        let sets = [scheme & ascii, alpha & ascii, delimiter & ascii, upper, dot & ascii, query & ascii];
        let key = state.parts(isa, block, sets);
        let mut bad = key.bad | escaped | !ascii | key.host & !in_host;
        // A host that ends in a letter is no address, but for hexadecimal numbers. Dots stand alone, and not at the ends.
        let [after_letter, after_dot, after_0] = &mut state.own;
        bad |= key.host_end & !after_letter.next(alpha & !upper);
        bad |= dot & (after_dot.next(dot) | key.authority) & key.host;
        bad |= isa.eq(block, b'x') & after_0.next(isa.eq(block, b'0')) & key.host;
        bad |= key.slash & key.after_slash & key.before_query;
        if key.second_digit != 0 {
            let before = isa.load(before);
            bad |=
                key.second_digit & isa.any_pair(before, block, &SAFE_BROWSING_FIRST, &SAFE_BROWSING_SECOND);
            bad |= key.second_digit & isa.high(before);
        }
        state.ends(&key, bad)
    }
}

#[cfg(feature = "idna")]
static W3LIB_SETS: Sets = Sets::new(&[
    SCHEME,
    ALPHA,
    b"/?#\n",
    UPPER,
    b".",
    b"?#\n",
    HOST,
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,:=@[]|/%",
]);
/// What w3lib decodes in a path: ``!$&'()*+,-. 0-9:= @A-O P-Z[]_ a-o p-z|~``.
#[cfg(feature = "idna")]
const W3LIB_DECODED: [u16; 6] = [0x7FD2, 0x27FF, 0xFFFF, 0xAFFF, 0xFFFE, 0x57FF];
#[cfg(feature = "idna")]
static W3LIB_FIRST: Sets = Sets::by_byte(digits_without(b"234567", W3LIB_DECODED, false));
#[cfg(feature = "idna")]
static W3LIB_SECOND: Sets = Sets::by_byte(digits_without(b"234567", W3LIB_DECODED, true));

#[cfg(feature = "idna")]
impl Rule for W3lib {
    type State = KeyState;

    #[inline(always)]
    fn look<I: ScanIsa>(isa: I, before: &[u8; 64], bytes: &[u8; 64], state: &mut KeyState) -> Ends {
        let block = isa.load(bytes);
        let ascii = !isa.high(block);
        let [scheme, alpha, delimiter, upper, dot, query, in_host, in_path]: [u64; 8] =
            isa.members(block, &W3LIB_SETS);
        let sets = [scheme & ascii, alpha & ascii, delimiter & ascii, upper, dot & ascii, query & ascii];
        let key = state.parts(isa, block, sets);
        let mut bad =
            key.bad | !ascii | key.host & !in_host | query & !key.newline | key.before_query & !in_path;
        if key.second_digit != 0 {
            let before = isa.load(before);
            bad |= key.second_digit & isa.any_pair(before, block, &W3LIB_FIRST, &W3LIB_SECOND);
            bad |= key.second_digit & isa.high(before);
        }
        state.ends(&key, bad)
    }
}

/// The URL Standard: lines of `http`, `https` and `file` URLs whose serialisation is the line itself, by the crate url 2.5 as
/// well as by the standard where these differ.
#[cfg(feature = "whatwg")]
pub(crate) struct Whatwg;

#[cfg(feature = "whatwg")]
#[derive(Default)]
pub(crate) struct WhatwgState {
    not_first: bool,
    line: Carry,
    /// `http` and `https`: a carry for each letter.
    http: [Carry; 4],
    /// `file`.
    file: [Carry; 3],
    colon: Carry,
    slashes: [Carry; 2],
    authority: Carry,
    /// The ends of `file`, for the five bytes from there to its authority.
    file_end: u64,
    host_end: Carry,
    host: Carry,
    last_letter: Carry,
    file_host_end: Carry,
    file_host: Carry,
    file_path: [Carry; 2],
    query: Carry,
    before_query: Carry,
    slash: Carry,
    dots: [Carry; 2],
    percent: [Carry; 2],
    proven: Carry,
    as_it_is: Carry,
}

/// Never unchanged: controls, space, DEL, `"`, `<`, `>` and the grave accent. LF ends the line, and CR is among them.
#[cfg(feature = "whatwg")]
const NEVER: [u8; 37] = {
    let mut never = *b"................................\x7f\"<>`";
    let mut byte: u8 = 0;
    while byte < 32 {
        // All up to the space, without LF.
        never[byte as usize] = byte + (byte >= b'\n') as u8;
        byte += 1;
    }
    never
};
#[cfg(feature = "whatwg")]
static WHATWG_SETS: Sets = Sets::new(&[
    &NEVER,
    // Escaped in a path, or a slash, or left alone by url and not by the standard.
    b"^{}\\|",
    b"abcdefghijklmnopqrstuvwxyz0123456789.-_",
    b"abcdefghijklmnopqrstuvwxyz",
    b"/?#\n",
    b"?#\n",
    b".",
]);
/// `0x`, `--` and `xn--`, `%2e`, `lh` of `localhost`.
#[cfg(feature = "whatwg")]
static WHATWG_FIRST: Sets = Sets::new(&[b"0-", b"2", b"l"]);
#[cfg(feature = "whatwg")]
static WHATWG_SECOND: Sets = Sets::new(&[b"x-", b"eE", b"h"]);

#[cfg(feature = "whatwg")]
impl Rule for Whatwg {
    type State = WhatwgState;

    #[inline(always)]
    fn look<I: ScanIsa>(isa: I, before: &[u8; 64], bytes: &[u8; 64], state: &mut WhatwgState) -> Ends {
        let before = isa.load(before);
        let block = isa.load(bytes);
        let newline = isa.eq(block, b'\n');
        let colon = isa.eq(block, b':');
        let slash = isa.eq(block, b'/');
        let percent = isa.eq(block, b'%');
        let ascii = !isa.high(block);
        let [never, not_in_path, in_host, letter, delimiter, question_or_hash, dot]: [u64; 7] =
            isa.members(block, &WHATWG_SETS);
        let [bad_in_host, escaped_dot, local_host]: [u64; 3] =
            isa.pairs(before, block, &WHATWG_FIRST, &WHATWG_SECOND);
        let (delimiter, question_or_hash) = (delimiter & ascii, question_or_hash & ascii);
        let start = state.line.next(newline) | u64::from(!state.not_first);
        state.not_first = true;
        let mut bad = never | !ascii;

        // `http`, `https` or `file` and `://` at the start of the line. What is something else is not proven.
        let h = isa.eq(block, b'h') & start;
        let ht = isa.eq(block, b't') & state.http[0].next(h);
        let htt = isa.eq(block, b't') & state.http[1].next(ht);
        let http = isa.eq(block, b'p') & state.http[2].next(htt);
        let https = isa.eq(block, b's') & state.http[3].next(http);
        let f = isa.eq(block, b'f') & start;
        let fi = isa.eq(block, b'i') & state.file[0].next(f);
        let fil = isa.eq(block, b'l') & state.file[1].next(fi);
        let file = isa.eq(block, b'e') & state.file[2].next(fil);
        let scheme_end = colon & state.colon.next(http | https | file);
        let slash_1 = slash & state.slashes[0].next(scheme_end);
        let slash_2 = slash & state.slashes[1].next(slash_1);
        let authority = state.authority.next(slash_2);
        let file_authority = authority & (file << 4 | state.file_end >> 60);
        state.file_end = file;

        // The host: lower case, no port, nothing that could be an address, which ends in a digit.
        let host_end = state.host_end.ends(!delimiter, authority);
        let host = state.host.between(authority, host_end);
        let file_host_end = state.file_host_end.ends(!delimiter, file_authority);
        let file_host = state.file_host.between(file_authority, file_host_end);
        bad |= host & (!in_host | bad_in_host) | file_host & local_host;
        let after_letter = state.last_letter.next(letter);
        let empty_host_of_file = file_authority & file_host_end & slash;
        bad |= host_end & !(after_letter | empty_host_of_file);
        // A path that is not there becomes `/`.
        let no_path = host_end & !slash;
        bad |= no_path & file_host_end;
        // Drive letters, and what url does to `file://h//p`.
        let in_file_path = state.file_path[0].next(file_host_end & slash);
        bad |= in_file_path & slash | state.file_path[1].next(in_file_path) & colon;

        let query = state.query.ends(!question_or_hash, start);
        let before_query = state.before_query.between(start, query);
        bad |= before_query & not_in_path | isa.eq(block, b'\'') & !before_query;
        let dot_1 = dot & before_query & state.slash.next(slash);
        let after_1 = state.dots[0].next(dot_1);
        let after_2 = state.dots[1].next(after_1 & dot);
        bad |= (after_1 | after_2) & delimiter;
        let first_digit = state.percent[0].next(percent);
        bad |= escaped_dot & state.percent[1].next(first_digit) & before_query;

        let proven = state.proven.ends(!(bad | newline), authority) & newline & !bad;
        let bad = bad | no_path;
        let as_it_is = state.as_it_is.ends(!(bad | newline), authority) & newline & !bad;
        Ends { exceptions: newline & !as_it_is, slash_missing: proven }
    }
}
