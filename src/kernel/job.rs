//! The jobs (the options of a conversion) that public functions pass to kernels, and the results of kernels. A kernel
//! is the code of a conversion for one instruction set. "lab: NAME" names docs/lab/DATE-NAME.md.

use crate::hex::{self, HexCase};
use crate::kernel::cursor::Written;
use crate::set::ByteSet;

/// The mode of an encoding: how it treats bytes outside the set, and `%` and space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EncodeRule {
    /// The default mode: every byte outside the set is escaped, `%` too.
    #[default]
    Plain,
    /// The keep-escapes mode: a valid escape stays whole. Every other `%` is escaped, even if it is a member of the set.
    KeepEscapes,
    /// The form mode: `Plain`, but a space is written as `+`. The set contains the space. It contains the `+` only if a `+`
    /// stays, too.
    Form,
}

/// The options of an encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeJob {
    pub set: ByteSet,
    pub rule: EncodeRule,
    pub case: HexCase,
}

/// The mode of a decoding: which escapes it decodes, and whether `+` is a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DecodeRule {
    /// The default mode: all escapes are decoded.
    #[default]
    Plain,
    /// The mode that keeps some escapes: those of a set of bytes stay, and all others are decoded.
    Keep,
    /// The form mode: `Keep`, and a `+` that is not escaped is a space.
    Form,
}

/// The marks of a decoding that decodes only the marked escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks<'m> {
    /// A bit for each byte of the input, which is set for the `%` of an escape to decode. Missing words count as zeros.
    pub words: &'m [u64],
    /// The index in `words` of the bit of the input's first byte, less than 64.
    pub first: usize,
    /// Whether decoding ends at the first marked escape that stays because of the set.
    pub strict: bool,
}

/// The options of a decoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeJob {
    /// The set that determines which escapes stay: those of its members, or, unless `members_stay`, those of all other bytes.
    // Kernels look up bytes faster in a set of ASCII bytes (lab: ladders). Most sets that are not ASCII have an ASCII
    // complement.
    // INVARIANT: no byte stays if the rule is `Plain`.
    pub set: ByteSet,
    /// Whether the escapes of the members stay. If not, those of all other bytes do.
    pub members_stay: bool,
    pub rule: DecodeRule,
    /// Whether escapes that stay are written in upper case.
    pub upper: bool,
    /// Whether a `%` that starts no escape is an error.
    pub strict: bool,
    /// The two bytes before the input, if it continues an input; otherwise zeros.
    pub before: [u8; 2],
}

impl EncodeJob {
    /// Makes an encoding in the default mode, with upper-case digits.
    #[inline(always)]
    pub(crate) const fn new(set: ByteSet) -> EncodeJob {
        EncodeJob { set, rule: EncodeRule::Plain, case: HexCase::Upper }
    }

    /// Reports whether the mode is the default.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.rule == EncodeRule::Plain
    }
}

impl DecodeJob {
    /// A lenient decoding of all escapes.
    pub(crate) const PLAIN: DecodeJob = DecodeJob {
        set: ByteSet::EMPTY,
        members_stay: true,
        rule: DecodeRule::Plain,
        upper: false,
        strict: false,
        before: [0; 2],
    };

    /// Reports whether an escape of `byte` stays.
    #[inline(always)]
    pub(crate) fn stays(&self, byte: u8) -> bool {
        self.set.contains(byte) == self.members_stay
    }

    /// Returns the two bytes before offset `at` of the input.
    #[inline(always)]
    pub(crate) fn before(&self, input: &[u8], at: usize) -> [u8; 2] {
        match input.get(..at) {
            Some([.., first, second]) => [*first, *second],
            Some([second]) => [self.before[1], *second],
            _ => self.before,
        }
    }

    /// Reports whether a normalization keeps the escape of `byte` at offset `at`, because the decoded byte would become a
    /// digit of the malformed escape that ends there: in `%%341`, `4` would complete `%41`.
    ///
    /// If escapes of `%` are decoded, this returns `false`, because the output may then have new escapes in any case.
    // It is not inlined, because it is called rarely, and each copy would make a program larger.
    #[inline(never)]
    pub(crate) fn completes(&self, input: &[u8], at: usize, byte: u8) -> bool {
        let is_digit = |byte: u8| byte.is_ascii_hexdigit();
        let [first, second] = self.before(input, at);
        let is_open = second == b'%' || first == b'%' && is_digit(second);
        is_open && self.upper && is_digit(byte) && self.stays(b'%')
    }

    /// Reports whether the mode is the default.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.rule == DecodeRule::Plain
    }

    /// Reports whether a `+` that is not escaped is a space.
    #[inline(always)]
    pub(crate) fn plus(&self) -> bool {
        self.rule == DecodeRule::Form
    }

    /// Returns this decoding, changed so that escapes of the bytes of `set` stay.
    #[inline(always)]
    pub(crate) const fn keeping(mut self, set: ByteSet) -> DecodeJob {
        self.members_stay = set.is_ascii() || !set.complement().is_ascii();
        self.set = if self.members_stay { set } else { set.complement() };
        self.rule = match self.rule {
            DecodeRule::Form => DecodeRule::Form,
            _ if set.is_empty() => DecodeRule::Plain,
            _ => DecodeRule::Keep,
        };
        self
    }
}

/// The measured output of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The exact number of bytes of the output.
    pub len: usize,
    /// Whether the output differs from the input.
    pub changed: bool,
}

/// The result of a decoding.
pub(crate) struct Decoded<'c> {
    /// The number of bytes written. If an escape stopped the decoding, the output ends somewhere before that escape. If a
    /// copy stopped early, more bytes than those before `stopped` may be written.
    pub written: Written<'c>,
    /// The length of the input, or the offset of the escape or other byte at which the work stopped early.
    pub stopped: usize,
}

/// The result of decoding a value: two words, which a call returns in registers. Words of 64 bits hold all details of an error, so
/// that a strict caller need not keep the input in registers during the call (lab: kernels).
pub(crate) struct Outcome<'c> {
    /// The number of bytes written; 0 if the decoding stopped early.
    pub written: Written<'c>,
    pub end: End,
}

impl<'c> Outcome<'c> {
    /// Makes the result of decoding all of `input`.
    #[inline(always)]
    pub(crate) fn whole(written: Written<'c>, input: &[u8]) -> Outcome<'c> {
        Outcome { written, end: End(input.len()) }
    }

    /// Makes the result of a decoding that ended at the malformed escape at offset `at` of `rest`, the end of an input of `len` bytes.
    #[inline(always)]
    pub(crate) fn stopped_at(len: usize, rest: &[u8], at: usize) -> Outcome<'c> {
        // This function returns the whole result, so that a kernel ends with a jump to it, and saves no register for a call
        // (lab: kernels). If the compiler knew a part of the result, it would call this function and then add that part.
        #[cold]
        #[inline(never)]
        fn malformed<'c>(rest: &[u8], at: usize, len: usize) -> Outcome<'c> {
            let offset = len - rest.len() + at;
            let found = if End::HAS_FLAW { offset << hex::FLAW_BITS | hex::flaw(rest, at) } else { offset };
            Outcome { written: core::hint::black_box(Written::NOTHING), end: End(!found) }
        }
        malformed(rest, at, len)
    }

    /// Makes the result of a decoding of `input` that stopped at offset `stopped`: at its end, or at a malformed escape.
    #[inline(always)]
    pub(crate) fn new(written: Written<'c>, input: &[u8], stopped: usize) -> Outcome<'c> {
        if stopped == input.len() {
            Outcome::whole(written, input)
        } else {
            Outcome::stopped_at(input.len(), input, stopped)
        }
    }
}

/// The end of a decoding, and its cause. If a malformed escape ended it, the top bit is set, and the inverted number is
/// the offset of the escape. With [`End::HAS_FLAW`], its `hex::flaw` (the reason) follows in the lowest bits. If the
/// whole input was decoded, it is any number without the top bit, such as the length of the input, which kernels have
/// in a register anyway (lab: kernels).
#[derive(Clone, Copy)]
pub(crate) struct End(usize);

impl End {
    /// Whether an [`End`] also holds the `hex::flaw` of the escape. A word of 32 bits can hold only the offset.
    // The offset has 53 bits, enough for 8 PiB, which is more than the memory of any machine.
    const HAS_FLAW: bool = usize::BITS >= 64;

    /// The end of an input that was decoded as a whole.
    #[cfg(feature = "alloc")]
    pub(crate) const WHOLE: End = End(0);

    /// Reports whether the input was decoded as a whole.
    #[inline(always)]
    pub(crate) fn is_whole(self) -> bool {
        self.0 <= usize::MAX >> 1
    }

    /// Returns the offset of the malformed escape that ended a strict decoding of `input`, and its [`hex::flaw`]. Returns `None` if all
    /// of the input was decoded.
    #[inline(always)]
    pub(crate) fn malformed(self, input: &[u8]) -> Option<(usize, usize)> {
        /// Does nothing, but makes the branch with this call an unlikely one.
        #[cold]
        #[inline(never)]
        fn unlikely() {}

        if self.is_whole() {
            return None;
        }
        unlikely();
        let found = !self.0;
        Some(if End::HAS_FLAW {
            (found >> hex::FLAW_BITS, found & ((1 << hex::FLAW_BITS) - 1))
        } else {
            (found, hex::flaw(input, found))
        })
    }

    /// Returns the length of `input`, or the offset of the malformed escape that ended a strict decoding of it.
    #[inline(always)]
    pub(crate) fn stopped(self, input: &[u8]) -> usize {
        self.malformed(input).map_or(input.len(), |(offset, _)| offset)
    }
}

/// The result of measuring a decoding, in two words.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// The exact number of bytes of the output, if the decoding does not stop early.
    pub len: usize,
    /// The length of the input, or the offset of a malformed escape, shifted left by one; the lowest bit is `changed`. No input
    /// is longer than `isize::MAX`, so one bit is free.
    stopped_and_changed: usize,
}

impl Measured {
    #[inline(always)]
    pub(crate) fn new(measure: Measure, stopped: usize) -> Measured {
        Measured { len: measure.len, stopped_and_changed: stopped << 1 | usize::from(measure.changed) }
    }

    /// Reports whether the output differs from the input, if the decoding does not stop early.
    #[inline(always)]
    pub(crate) fn changed(self) -> bool {
        self.stopped_and_changed & 1 != 0
    }

    /// Returns the length of the input, or the offset of the malformed escape that ends a strict decoding.
    #[inline(always)]
    pub(crate) fn stopped(self) -> usize {
        self.stopped_and_changed >> 1
    }
}
