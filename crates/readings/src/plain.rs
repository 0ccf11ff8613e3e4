//! Reads plain request targets without the steps by which a reading describes a server. A plain target begins with a slash. Its path has
//! only the bytes of `PATH`, and no slash or dot after a slash. Its query has only the bytes of `PATH` and `QUERY`.

use std::borrow::Cow;

use simdpct::simd::{Kernel, Sets, Simd, run};
use simdpct::{ByteSet, Tier};

use crate::escapes::before;
use crate::read::Outcome;
use crate::step::Step;

/// The bytes of plain paths. No reading of the table rejects a plain path. Only lower-casing and trimming at the end change one; [`Plain`]
/// checks for both.
const PATH: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789&'()*+,-./:=@_~";
/// The bytes that a plain query may have besides those of `PATH`.
const QUERY: &[u8] = b"!$%;?";
const PATH_SET: ByteSet = ByteSet::from_bytes(PATH);
const QUERY_SET: ByteSet = PATH_SET.add(QUERY);
/// Both sets of bytes, for kernels.
static SETS: Sets = Sets::new(&[PATH, QUERY]);

/// The text that a step reads, or that is routed or passed on: the whole target, or only its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Target,
    Path,
}

/// The effect of a reading's steps on a plain target, computed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Whether [`Plain::read`] can read plain targets. If not, it always returns `None`, and the steps must run.
    answers: bool,
    /// The bytes that are removed from the end of the path.
    trims: ByteSet,
    lowers: bool,
    /// Whether a step changes or rejects some queries.
    reads_query: bool,
    passed_on: Option<Kind>,
}

impl Plain {
    /// Computes the effect of `steps` on a plain target.
    pub(crate) const fn of(steps: &[Step]) -> Plain {
        let mut plain = Plain {
            answers: true,
            trims: ByteSet::EMPTY,
            lowers: false,
            reads_query: false,
            passed_on: Some(Kind::Target),
        };
        let (mut text, mut route) = (Kind::Target, None);
        let (mut is_split, mut serves_files) = (false, false);
        let mut at = 0;
        while at < steps.len() {
            match steps[at] {
                Step::DropBytes(set) | Step::RejectBytes(set) => {
                    plain.answers &= set.intersection(QUERY_SET).is_empty();
                }
                Step::Split if !is_split => (is_split, text) = (true, Kind::Path),
                Step::Route => route = Some(text),
                Step::Sent | Step::Target => text = Kind::Target,
                Step::RawPath | Step::CutQuery if is_split => text = Kind::Path,
                Step::AddQuery if matches!(text, Kind::Path) => text = Kind::Target,
                Step::ServeFiles => serves_files = true,
                // These steps change neither a plain target nor its path.
                Step::Status(_)
                | Step::RejectInvalidUtf8
                | Step::RejectOtherSchemes
                | Step::RejectEmptyHost
                | Step::RejectInAuthority(_)
                | Step::StripOrigin { .. }
                | Step::StripSpecialOrigin
                | Step::StripScheme
                | Step::StripAnyScheme { .. }
                | Step::EmptyStar
                | Step::StripHost(_)
                | Step::Keep(_)
                | Step::PutSlash(_)
                | Step::RejectOtherForms
                | Step::RejectFragment
                | Step::CutFragment
                | Step::CutFragmentWithoutQuery
                | Step::MergeLeadingSlashes => {}
                _ if matches!(text, Kind::Target) => plain.answers = false,
                // A plain path may have both an `@` and a `'`, which is then escaped.
                Step::UrlParse => plain.answers = false,
                Step::Split | Step::RawPath | Step::CutQuery | Step::AddQuery => plain.answers = false,
                Step::EscapeBytes(set) | Step::EscapeIfEscaped(set) | Step::EscapeButSlash(set) => {
                    plain.answers &= set.intersection(PATH_SET).is_empty();
                }
                Step::TrimEnd(set) => plain.trims = plain.trims.union(set),
                Step::Lowercase => plain.lowers = true,
                Step::RejectQueryEscapes(_)
                | Step::ExtendToLastQuery
                | Step::DropEmptyQuery
                | Step::NormalizeQuery(_) => plain.reads_query = true,
                // No other step affects a plain path, because it has no escapes, dot segments, runs of slashes or parameters.
                _ => {}
            }
            at += 1;
        }
        plain.answers &= matches!((route, text), (Some(Kind::Path), _) | (None, Kind::Path));
        plain.passed_on = if serves_files { None } else { Some(text) };
        plain
    }

    /// Returns the answer to a plain target that no step changes or rejects, and `None` for other targets.
    #[inline]
    pub(crate) fn read<'a>(&self, target: &'a [u8]) -> Option<Outcome<'a>> {
        let path = plain_path(Tier::active(), target)?;
        let query = &target[path.len()..];
        let is_special = || query.len() == 1 || query[1..].iter().any(|byte| matches!(byte, b'?' | b'%'));
        if self.reads_query && !query.is_empty() && is_special() {
            return None;
        }
        let changes = !self.answers
            || self.trims.contains(path[path.len() - 1])
            || (self.lowers && path.iter().fold(false, |any, byte| any | byte.is_ascii_uppercase()));
        let text = |kind| Cow::Borrowed(if kind == Kind::Path { path } else { target });
        (!changes).then(|| Outcome::Read { route: Cow::Borrowed(path), passed_on: self.passed_on.map(text) })
    }
}

/// Returns the path if the target is plain: it begins with a slash, path and query have only plain bytes, and no slash of the path is
/// followed by a slash or a dot. The function is not inlined, so that `Plain::read` is short enough to be inlined.
#[inline(never)]
pub fn plain_path(tier: Tier, target: &[u8]) -> Option<&[u8]> {
    let len = run(tier, PathLen(target))?;
    target.starts_with(b"/").then(|| &target[..len])
}

/// The kernel that finds the length of the path of a plain target.
struct PathLen<'a>(&'a [u8]);

/// The state of the scan before a block of 64 bytes.
#[derive(Default)]
struct Scan {
    /// The start of the block.
    from: usize,
    /// 1 if the byte before the block is a slash, and otherwise 0.
    starts: u64,
    /// The offset of the first `?`, if it is before the block.
    end: Option<usize>,
}

impl Scan {
    /// Reports whether each lane of `block` whose bit is set in `lanes` is plain.
    #[inline(always)]
    fn check<S: Simd>(&mut self, simd: S, block: S::Block, lanes: u64) -> bool {
        let slashes = simd.eq(block, b'/');
        let starts_dots = (slashes << 1 | self.starts) & (slashes | simd.eq(block, b'.'));
        self.starts = slashes >> 63;
        let [path, query] = simd.masks(simd.classify(block, &SETS));
        let mut in_path = 0;
        if self.end.is_none() {
            let ends = simd.eq(block, b'?') & lanes;
            // The lanes before the first `?`, or all lanes if the block has none.
            in_path = (ends & ends.wrapping_neg()).wrapping_sub(1);
            self.end = (ends != 0).then(|| self.from + ends.trailing_zeros() as usize);
        }
        self.from += 64;
        let is_plain = path & !starts_dots & in_path | (path | query) & !in_path;
        (!is_plain | simd.high(block)) & lanes == 0
    }
}

impl Kernel for PathLen<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<usize> {
        if !S::LOOKS_UP {
            return self.run_scalar();
        }
        let mut scan = Scan::default();
        let (blocks, rest) = self.0.as_chunks::<64>();
        for block in blocks {
            if !scan.check(simd, simd.load(block), u64::MAX) {
                return None;
            }
        }
        let is_plain = scan.check(simd, simd.load(rest), (1 << rest.len()) - 1);
        is_plain.then_some(scan.end.unwrap_or(self.0.len()))
    }

    fn run_scalar(self) -> Option<usize> {
        let path = before(b'?', self.0);
        let is_plain = path.iter().all(|&byte| PATH_SET.contains(byte))
            && !path.windows(2).any(|pair| matches!(pair, b"//" | b"/."))
            && self.0[path.len()..].iter().all(|&byte| QUERY_SET.contains(byte));
        is_plain.then_some(path.len())
    }
}
