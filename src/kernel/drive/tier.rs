//! The interface of a tier, the code for one instruction set: its blocks, and functions compiled with its CPU features.
//!
//! A *ladder*, a function of a tier, chooses a *step*: the code for a range of lengths. The ladder contains the step,
//! or calls it by [`Features::encode_by`] or [`Features::decode_by`]. One function for all lengths would save many
//! registers on the stack, which takes longer than a short conversion (lab: kernels). ("lab: NAME" names
//! docs/lab/DATE-NAME.md.)

use core::marker::PhantomData;

use super::Isa;
use crate::kernel::cursor::{OutputSpan, Written};
use crate::kernel::job::{DecodeJob, EncodeJob, Measure, Outcome};

/// A mode, or several modes that share code. It is a type, so that the code is compiled for each.
pub(crate) trait Mode {
    /// Whether this is the default mode.
    const IS_PLAIN: bool;

    /// Whether the ladder has tried to copy the input. Most of the remaining inputs have a byte to convert, so they are not searched again
    /// (lab: kernels).
    const NOT_COPIED: bool = false;

    /// The same mode for an input that the ladder may not have tried to copy.
    type Base: Mode;
}

/// The default mode: all bytes outside the set are escaped, or all escapes are decoded.
pub(crate) struct Plain;

/// Any other mode: some escapes stay, or a space is written as `+`.
pub(crate) struct Other;

/// The mode `M`, for an input that the ladder has tried to copy.
pub(crate) struct NotCopied<M>(PhantomData<M>);

impl Mode for Plain {
    const IS_PLAIN: bool = true;
    type Base = Plain;
}

impl Mode for Other {
    const IS_PLAIN: bool = false;
    type Base = Other;
}

impl<M: Mode> Mode for NotCopied<M> {
    const IS_PLAIN: bool = M::IS_PLAIN;
    const NOT_COPIED: bool = true;
    type Base = M;
}

/// The code that encodes inputs of some lengths, in some modes.
pub(crate) trait EncodeStep {
    /// Encodes `input`. Implementations are inlined, so that they are compiled with the CPU features of their caller.
    fn encode<'c, T: Tier>(tier: T, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c>;
}

/// The code that decodes inputs of some lengths, in some modes.
pub(crate) trait DecodeStep {
    /// Decodes `input`. Implementations are inlined, so that they are compiled with the CPU features of their caller.
    fn decode<'c, T: Tier>(tier: T, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c>;
}

/// Functions that are compiled with the CPU features of a tier, and that are not inlined into their callers. The macro `tiers!` implements
/// this trait for the token of each tier: the type whose values prove that the CPU has the features.
pub(crate) trait Features: Copy {
    /// Encodes by the step `S`.
    fn encode_by<'c, S: EncodeStep>(self, job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c>;

    /// Decodes by the step `S`.
    fn decode_by<'c, S: DecodeStep>(self, job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c>;

    /// Measures an encoding of any length and mode.
    fn measure_encoding(self, job: &EncodeJob, input: &[u8]) -> Measure;
}

/// The capability of a tier. It provides blocks of two widths: wide ones for any input, narrow ones for short inputs.
pub(crate) trait Tier: Features {
    /// The blocks for any input.
    type Wide: Isa<Token = Self>;

    /// The blocks for short inputs. A tier with blocks of only one width names the wide ones again.
    type Narrow: Isa<Token = Self>;

    /// Returns the capability for wide blocks.
    #[cfg_attr(optimized, inline(always))]
    fn wide(self) -> Self::Wide {
        Isa::new(self)
    }

    /// Returns the capability for narrow blocks.
    #[cfg_attr(optimized, inline(always))]
    fn narrow(self) -> Self::Narrow {
        Isa::new(self)
    }

    /// Reports whether an input of `len` bytes fits into a block that is narrower than a wide one.
    #[cfg_attr(optimized, inline(always))]
    fn is_narrow(len: usize) -> bool {
        len <= Self::Narrow::LANES && const { Self::Narrow::LANES < Self::Wide::LANES }
    }
}
