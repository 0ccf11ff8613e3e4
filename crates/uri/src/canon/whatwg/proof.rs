//! Proves that lines are serializations of the URL Standard.

use simdpct::sets;
use simdpct::simd::{Sets, Simd, opaque};

use crate::kernel::scan::{Authorities, Carry, Digits, Dots, LineEnds, LineStarts, ProvenLines, Rule};
use crate::kernel::tables::{HOST, LOWER, set, table};

/// The rule of the URL Standard: it proves `http`, `https` and `file` URLs that are equal to their serialization.
pub(crate) struct Whatwg;

#[derive(Default)]
pub(crate) struct State {
    lines: LineStarts,
    /// The bits that the masks `h`, `ht`, `htt` and `http` carry to the next block.
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
    proven: ProvenLines,
}

/// The state of the checks of `file` URLs.
#[derive(Default)]
struct FileState {
    /// Whether another field is not zero. If not, and no line of a block starts with `f`, these checks are left out.
    is_active: bool,
    /// The bits that the masks `f`, `fi` and `fil` carry to the next block.
    letters: [Carry; 3],
    /// The mask of the last letters of `file` in the block before. The authority starts four bytes after such a letter.
    end: u64,
    host_end: Carry,
    host: Carry,
    path: [Carry; 2],
}

pub(crate) static SETS: Sets = table(&[
    // These bytes are escaped or removed. A query may keep a backquote, but is then not proven.
    sets::WHATWG_FRAGMENT.complement().remove(b"\n"),
    // These bytes are escaped in a path, or read as a slash, or are in a drive letter.
    sets::WHATWG_PATH.complement().union(set(b"\\|")),
    HOST,
    LOWER,
    set(b"/?#\n"),
    set(b"?#\n"),
    set(b"."),
]);
/// The first bytes of pairs: `0x` is bad in hosts, `2e` is an escaped dot, and `lh` is part of `localhost`.
static FIRST: Sets = table(&[set(b"0"), set(b"2"), set(b"l")]);
static SECOND: Sets = table(&[set(b"x"), set(b"eE"), set(b"h")]);

impl Rule for Whatwg {
    type State = State;

    #[inline(always)]
    fn check<S: Simd>(simd: S, before: &[u8; 64], bytes: &[u8; 64], state: &mut State) -> LineEnds {
        let before = simd.load(before);
        let block = simd.load(bytes);
        let newline = simd.eq(block, b'\n');
        let colon = simd.eq(block, b':');
        let slash = simd.eq(block, b'/');
        let percent = simd.eq(block, b'%');
        let ascii = !simd.high(block);
        let [never, not_in_path, in_host, letter, delimiter, question_or_hash, dot]: [u64; 7] =
            simd.masks(simd.classify(block, &SETS));
        let [bad_in_host, escaped_dot, local_host]: [u64; 3] =
            simd.masks(simd.both(simd.classify(before, &FIRST), simd.classify(block, &SECOND)));
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

        // A proven host is in lower case, has no port, and does not end in a digit, as an address does.
        let host_end = state.host_end.ends(!delimiter, authority);
        let host = state.host.between(authority, host_end);
        // Without `opaque`, LLVM joins these two masks bit by bit on AVX2 (docs/lab/2026-11-23-uri-kernels.md).
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
            // A line with a drive letter is not proven.
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
        state.proven.ends(newline, authority, bad, no_path)
    }
}
