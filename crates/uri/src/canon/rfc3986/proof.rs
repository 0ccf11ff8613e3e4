//! Proves that lines are in the normal forms of RFC 3986.

use simdpct::sets;
use simdpct::simd::{Sets, Simd};

use crate::kernel::scan::{Authorities, Carry, Digits, Dots, LineEnds, LineStarts, Rule};
use crate::kernel::tables::{SCHEME, UPPER, escape_tables, set, table};

/// The rule of RFC 3986, section 6.2.2, and if `BY_SCHEME`, also of section 6.2.3.
pub(crate) struct Rfc3986<const BY_SCHEME: bool>;

#[derive(Default)]
pub(crate) struct State {
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
    /// 1 if the line that continues in the next block has a bad byte, which leaves the line unproven.
    is_bad: u64,
}

pub(crate) static SETS: Sets = table(&[
    set(b"/?#\n\r"),
    // An authority with one of these bytes is not proven.
    UPPER.union(set(b"[]@:")),
    UPPER,
    set(b"/:"),
    set(b"."),
    set(b"\t\r\0"),
]);
static SCHEME_SET: Sets = table(&[SCHEME]);
pub(crate) static ESCAPES: [Sets; 2] = escape_tables(sets::RFC3986_UNRESERVED);

impl<const BY_SCHEME: bool> Rule for Rfc3986<BY_SCHEME> {
    type State = State;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut State) -> LineEnds {
        let block = simd.load(bytes);
        let newline = simd.eq(block, b'\n');
        let slash = simd.eq(block, b'/');
        let percent = simd.eq(block, b'%');
        let high = simd.high(block);
        // Bytes that are not ASCII may be set in these masks. Such a byte may leave a canonical line unproven.
        let [delimiter, odd, upper, slash_or_colon, dot, control]: [u64; 6] =
            simd.masks(simd.classify(block, &SETS));
        let odd = odd | high;
        let plain = !(odd | delimiter);
        let start = state.lines.find(newline);
        let mut bad = 0;

        // Few lines have a TAB, CR or NUL, unless all have a CR before the LF. That CR is part of the line end; if the block ends after it,
        // the LF is not visible, and the line is not proven.
        let control = control & !high;
        if control != 0 {
            bad = control & !(simd.eq(block, b'\r') & newline >> 1);
        }

        // The scheme must be in lower case. Few lines have an upper-case letter before their first delimiter.
        let name_end = state.name_end.ends(plain, start);
        let named = name_end & upper;
        if named | state.upper_name.0 != 0 {
            let [scheme] = simd.masks(simd.classify(block, &SCHEME_SET));
            bad |= state.upper_name.ends(scheme & !high, named) & simd.eq(block, b':');
        }

        // An authority with upper case, a port, userinfo, an address in brackets or non-ASCII bytes is bad: its line is not proven.
        let after = state.after.next(slash_or_colon);
        if BY_SCHEME {
            // Paths have `//`, too, so it counts only at the start or after the scheme. A slash must end the authority.
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
            let (first, second) = (simd.classify(before, &ESCAPES[0]), simd.classify(block, &ESCAPES[1]));
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
