//! The operations, as the entry points of a tier see them: what each does with an input of one block, of two, of a few, and of many.
//!
//! Most inputs are short, under the plain rule, and have room to spare; these get code without a stage and without loops.

use super::{Isa, Tier};
use super::{decode, encode, short};
use crate::kernel::cursor::{Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob, Measure, Measured};

/// An operation and what it is done with.
///
/// An entry point asks in this order: [`Operation::short`], and if that is not for this input, one of the others. Each of these is a
/// function of its own, which saves the registers that it needs.
pub(crate) trait Operation: Sized {
    /// What it returns.
    type Done;

    /// Whether inputs of two blocks, or of a few, have functions of their own, on the tiers that have such.
    const FEW: bool = false;

    /// Whether [`Operation::plain`] is [`Operation::long`], so that this need not be compiled for the plain rule.
    const PLAIN_IS_LONG: bool = true;

    /// Whether it is under the plain rule.
    fn is_plain(&self) -> bool;

    /// The number of bytes of the input.
    fn len(&self) -> usize;

    /// Whether one block is little code, and fits without a stage.
    fn is_direct<I: Isa>(&self, isa: I) -> bool;

    /// An input of any length, under any rule.
    fn long<I: Isa>(&mut self, isa: I) -> Self::Done;

    /// The same under the plain rule, if that is all that there is to it.
    #[inline(always)]
    fn plain<I: Isa>(&mut self, isa: I) -> Option<Self::Done> {
        Some(self.long(isa))
    }

    /// An input of one block, narrow or wide; or one that is only copied.
    #[inline(always)]
    fn short<T: Tier>(&mut self, tier: T) -> Option<Self::Done> {
        if short::is_narrow(tier, self.len()) {
            self.block(tier.narrow())
        } else if self.len() <= T::Wide::LANES {
            self.block(tier.wide())
        } else if self.len() <= T::Wide::LOOK {
            self.copy_two(tier.wide())
        } else {
            None
        }
    }

    /// One block.
    #[inline(always)]
    fn block<I: Isa>(&mut self, isa: I) -> Option<Self::Done> {
        match self.copy(isa) {
            None if self.is_direct(isa) => Some(self.long(isa)),
            done => done,
        }
    }

    /// One block that surely stays as it is.
    #[inline(always)]
    fn copy<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// More than a block, and at most [`Isa::LOOK`] bytes, that surely stay as they are.
    #[inline(always)]
    fn copy_two<I: Isa>(&mut self, isa: I) -> Option<Self::Done> {
        self.copy(isa)
    }

    /// More than a block and at most two, under the plain rule.
    #[inline(always)]
    fn two<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// More than a block and at most [`Isa::FEW`] bytes, under the plain rule.
    #[inline(always)]
    fn few<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }
}

/// Encoding a value.
pub(crate) struct Encode<'a, 'c> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for Encode<'_, 'c> {
    type Done = Written<'c>;
    const FEW: bool = true;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        self.input.len()
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        self.job.is_plain() && self.out.len() >= I::WINDOW
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Written<'c> {
        encode::encode(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn copy_two<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        short::encode_copy(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn two<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        encode::encode_two(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn few<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        encode::encode_few(isa, self.job, self.input, self.out)
    }
}

/// Decoding a value.
pub(crate) struct Decode<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for Decode<'_, 'c> {
    type Done = Decoded<'c>;
    const FEW: bool = true;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        self.input.len()
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        !self.job.plus() && self.out.len() >= I::LANES
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::decode(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn copy<I: Isa>(&mut self, isa: I) -> Option<Decoded<'c>> {
        short::decode_copy(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn two<I: Isa>(&mut self, isa: I) -> Option<Decoded<'c>> {
        decode::decode_two(isa, self.job, self.input, self.out)
    }
    #[inline(always)]
    fn few<I: Isa>(&mut self, isa: I) -> Option<Decoded<'c>> {
        decode::decode_few(isa, self.job, self.input, self.out)
    }
}

/// What [`Encode`] would write.
pub(crate) struct EncodeMeasure<'a> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
}

impl Operation for EncodeMeasure<'_> {
    type Done = Measure;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        self.input.len()
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Measure {
        encode::encode_measure(isa, self.job, self.input)
    }
}

/// What [`Decode`] would write.
pub(crate) struct DecodeMeasure<'a> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
}

impl Operation for DecodeMeasure<'_> {
    type Done = Measured;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        self.input.len()
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        !self.job.plus()
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Measured {
        decode::decode_measure(isa, self.job, self.input)
    }
}

/// Encoding many values. They are many bytes, so there are no functions for few.
pub(crate) struct EncodeValues<'a, 'c> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) ends: &'a mut Ends,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for EncodeValues<'_, 'c> {
    type Done = Written<'c>;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        false
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Written<'c> {
        encode::encode_values(isa, self.job, self.input, self.ends, self.out)
    }
}

/// Decoding many values.
pub(crate) struct DecodeValues<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) ends: &'a mut Ends,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for DecodeValues<'_, 'c> {
    type Done = Decoded<'c>;
    const PLAIN_IS_LONG: bool = false;

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.job.is_plain()
    }
    #[inline(always)]
    fn len(&self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    fn is_direct<I: Isa>(&self, _: I) -> bool {
        false
    }
    #[inline(always)]
    fn long<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::decode_values(isa, self.job, self.input, self.ends, self.out)
    }
    #[inline(always)]
    fn plain<I: Isa>(&mut self, isa: I) -> Option<Decoded<'c>> {
        decode::decode_plain_values(isa, self.job, self.input, self.ends, self.out)
    }
}
