//! Proves that lines are keys: URLs with an authority, whose scheme and host are in lower case, without port, userinfo and dot segments.

use simdpct::AsciiSet;
use simdpct::simd::{Sets, Simd};

use crate::kernel::scan::{Authorities, Carry, Digits, Dots, LineEnds, LineStarts, ProvenLines, Rule};
use crate::kernel::tables::{HOST, LOWER, SCHEME, UPPER, escape_tables, set, table};

/// The rule for the keys of one canonical form, such as that of Safe Browsing.
pub(crate) trait KeyRule {
    /// The bytes that leave their line unproven, among them all bytes that no key holds. LF is not one of them.
    const REJECTED: AsciiSet;
    /// The bytes whose escapes leave their line unproven, among them all bytes whose escapes no key holds.
    const DECODED: AsciiSet;
    /// Whether a key has no run of dots in its host, no run of slashes in its path, and addresses in one spelling.
    const REDUCES: bool;
}

#[derive(Default)]
pub(crate) struct State {
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
    after_letter: Carry,
    after_0: Carry,
    after_dot: Carry,
    proven: ProvenLines,
}

pub(super) const fn sets(rejected: AsciiSet) -> Sets {
    let alpha = UPPER.union(LOWER);
    table(&[SCHEME, alpha, set(b"/?#\n"), UPPER, set(b"."), set(b"?#\n"), HOST, rejected])
}

impl<R: KeyRule> Rule for R {
    type State = State;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut State) -> LineEnds {
        let block = simd.load(bytes);
        let ascii = !simd.high(block);
        let [scheme, alpha, delimiter, upper, dot, question_or_hash, in_host, rejected]: [u64; 8] =
            simd.masks(simd.classify(block, const { &sets(R::REJECTED) }));
        let (scheme, alpha, delimiter) = (scheme & ascii, alpha & ascii, delimiter & ascii);
        let (dot, question_or_hash) = (dot & ascii, question_or_hash & ascii);
        let newline = simd.eq(block, b'\n');
        let colon = simd.eq(block, b':');
        let slash = simd.eq(block, b'/');
        let start = state.lines.find(newline);

        let scheme_end = state.scheme.ends(scheme & !upper, start & alpha & !upper) & colon;
        let after_scheme = state.after_scheme.next(scheme_end);
        let authority = state.authorities.find(slash, after_scheme);
        let host_end = state.host_end.ends(!delimiter, authority);
        let host = state.host.between(authority, host_end);
        // A bad byte leaves its line unproven. It is rejected, not ASCII, not allowed in a host, or ends an empty host.
        let mut bad = rejected | authority & host_end | !ascii | host & !in_host;

        let query = state.query.ends(!question_or_hash, authority);
        let before_query = state.before_query.between(authority, query);
        let after_slash = state.slash.next(slash);
        let dot_segments = state.dots.ends(dot & after_slash & before_query, dot) & delimiter;
        let (first_digit, second_digit) = state.digits.find(simd.eq(block, b'%'));
        // Dot segments are bad, and so are escapes that the end of the line cuts off.
        bad |= dot_segments | (first_digit | second_digit) & newline;
        if second_digit != 0 {
            let [first, second] = const { &escape_tables(R::DECODED) };
            let before = simd.load(before);
            let (first, second) = (simd.classify(before, first), simd.classify(block, second));
            bad |= second_digit & (simd.any(simd.both(first, second)) | simd.high(before));
        }

        if R::REDUCES {
            // A host that ends in a letter is not an IPv4 address, unless its last number is hexadecimal. So other ends and `0x` are
            // bad.
            bad |= host_end & !state.after_letter.next(alpha & !upper);
            bad |= simd.eq(block, b'x') & state.after_0.next(simd.eq(block, b'0')) & host;
            // A dot at the start of a host or after another dot is bad. A dot at the end is bad by the first check above, which requires
            // a letter there.
            bad |= dot & (state.after_dot.next(dot) | authority) & host;
            bad |= slash & after_slash & before_query;
        }
        state.proven.ends(newline, authority, bad, host_end & !slash)
    }
}
