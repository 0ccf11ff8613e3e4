//! The operations: their operands, and which driver handles an input of which length and mode.

use super::{Isa, Tier, bounds, decode, encode, low_mask, short};
use crate::kernel::cursor::{Cursor, Room, Written};
use crate::kernel::ends::Ends;
use crate::kernel::job::{
    CopyJob, DecodeJob, Decoded, EncodeJob, Fields, ListJob, MarkJob, Marks, Measure, Measured, Outcome,
    PlaceJob, PlainJob, RowState, RowsJob, Search, Stops,
};

/// An operation with its operands.
///
/// An entry point of a tier tries [`Operation::short`] first, and if that returns `None`, calls one of the other functions.
/// Each of these is compiled as a function of its own, which saves only the registers that it needs.
pub(crate) trait Operation: Sized {
    /// The type of the result.
    type Done;

    /// Whether [`Operation::two_blocks`] and [`Operation::medium`] exist.
    const HAS_MEDIUM: bool = false;

    /// Whether [`Operation::short_escaped`] exists. If so, [`Operation::short`] only copies on tiers without [`Isa::DECODES_AT_ENTRY`], and the entry
    /// passes the short inputs that were not copied to `short_escaped`.
    const HAS_SHORT_ESCAPED: bool = false;

    /// Handles one block in the default mode. Returns `None` if it needs a driver that checks the spare capacity.
    #[cfg_attr(optimized, inline(always))]
    fn one_block<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// Handles an input of any length in the default mode. Returns `None` if [`Operation::other_mode`] has to do it.
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// Handles an input of any length in a mode other than the default.
    fn other_mode<I: Isa>(&mut self, isa: I) -> Self::Done;

    /// Copies a short input that has nothing to decode, in any mode; a tier with [`Isa::WORD`] may also decode it in a machine word. Returns `None`
    /// for longer inputs, and if this is not known.
    #[cfg_attr(optimized, inline(always))]
    fn copy<T: Tier>(&mut self, _tier: T) -> Option<Self::Done> {
        None
    }

    /// Handles a short input in a mode other than the default. Returns `None` if [`Operation::other_mode`] does it.
    ///
    /// If [`Tier::COPIES_BEFORE_MODE`], [`Operation::copy`] has been tried before.
    #[cfg_attr(optimized, inline(always))]
    fn short_other_mode<T: Tier>(&mut self, _tier: T) -> Option<Self::Done> {
        None
    }

    /// Handles an input of `len` bytes in the default mode if it is one block, narrow or wide, or if it is two blocks that are only
    /// copied.
    #[cfg_attr(optimized, inline(always))]
    fn short<T: Tier>(&mut self, tier: T, len: usize) -> Option<Self::Done> {
        if T::is_narrow(len) {
            self.one_block(tier.narrow())
        } else if len <= T::Wide::LANES {
            self.one_block(tier.wide())
        } else if len <= T::Wide::LONGEST_LOOK {
            self.copy_two(tier.wide())
        } else {
            None
        }
    }

    /// Handles an input of `len` bytes, at most [`Isa::LONGEST_LOOK`], in the default mode, if [`Operation::short`] has not copied it.
    #[cfg_attr(optimized, inline(always))]
    fn short_escaped<T: Tier>(&mut self, _tier: T, _len: usize) -> Option<Self::Done> {
        None
    }

    /// Copies an input of more than one block and at most [`Isa::LONGEST_LOOK`] bytes if it stays unchanged.
    #[cfg_attr(optimized, inline(always))]
    fn copy_two<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// Handles more than one block and at most two, in the default mode.
    #[cfg_attr(optimized, inline(always))]
    fn two_blocks<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// Reports whether [`Operation::few_blocks_other_mode`] handles two blocks of this tier.
    #[cfg_attr(optimized, inline(always))]
    fn has_few_blocks<I: Isa>(_isa: I) -> bool {
        false
    }

    /// Handles at most two blocks in a mode other than the default, if [`Operation::short_other_mode`] did not.
    #[cfg_attr(optimized, inline(always))]
    fn few_blocks_other_mode<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }

    /// Handles more than one block and at most [`Isa::MEDIUM`] bytes, in the default mode.
    #[cfg_attr(optimized, inline(always))]
    fn medium<I: Isa>(&mut self, _isa: I) -> Option<Self::Done> {
        None
    }
}

/// Encodes a value.
pub(crate) struct Encode<'a, 'c> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for Encode<'_, 'c> {
    type Done = Written<'c>;
    const HAS_MEDIUM: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn one_block<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        if self.out.len() < I::WINDOW {
            return None;
        }
        Some(encode::one_block::<_, _, true>(isa, self.job, self.input, Cursor::new(self.out))?.finish())
    }
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        Some(encode::encode(isa, self.job, self.input, self.out))
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Written<'c> {
        encode::encode_other_mode(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn short_other_mode<T: Tier>(&mut self, tier: T) -> Option<Written<'c>> {
        if T::is_narrow(self.input.len()) {
            Some(
                encode::one_block::<_, _, false>(tier.narrow(), self.job, self.input, Cursor::new(self.out))?
                    .finish(),
            )
        } else if T::Wide::TWO_BLOCKS {
            encode::short_other_mode(tier.wide(), self.job, self.input, self.out)
        } else {
            None
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn copy_two<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        short::encode_copy(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn two_blocks<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        encode::two_blocks(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn has_few_blocks<I: Isa>(_: I) -> bool {
        I::TWO_BLOCKS
    }
    #[cfg_attr(optimized, inline(always))]
    fn few_blocks_other_mode<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        encode::two_blocks_other_mode(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn medium<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        encode::medium(isa, self.job, self.input, self.out)
    }
}

/// Decodes a value.
pub(crate) struct Decode<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) out: Room<'c>,
}

impl<'c> Decode<'_, 'c> {
    /// Decodes an input of at most one block in a mode other than the default. Returns `None` if the input is longer, if the
    /// spare capacity is smaller than a block on a tier that has already tried to copy the input, or if the tier has no code of its
    /// own for such inputs.
    #[cfg_attr(optimized, inline(always))]
    fn one_block_other_mode<T: Tier, I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        if const { T::COPIES_BEFORE_MODE } {
            if self.out.len() < I::LANES {
                return None;
            }
        } else if let Some(done) = self.copy_two(isa) {
            return Some(done);
        } else if !I::LOOPS_IN_OTHER_MODES {
            return None;
        }
        // An entry point that tries to copy has found a `%`, unless a `+` is a space: then it has not searched.
        let check = !T::COPIES_BEFORE_MODE || self.job.plus();
        if I::GUESSES {
            decode::short_other_mode(isa, self.job, self.input, self.out, check)
        } else {
            decode::one_block::<_, true>(isa, self.job, self.input, self.out, check)
        }
    }
}

impl<'c> Operation for Decode<'_, 'c> {
    type Done = Outcome<'c>;
    const HAS_MEDIUM: bool = true;
    const HAS_SHORT_ESCAPED: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn short<T: Tier>(&mut self, tier: T, len: usize) -> Option<Outcome<'c>> {
        if T::Wide::DECODES_AT_ENTRY && len <= T::Wide::LANES {
            return decode::short(tier.wide(), self.job, self.input, self.out, true);
        }
        match self.copy(tier) {
            None if T::Wide::DECODES_AT_ENTRY && len <= T::Wide::LONGEST_LOOK => {
                decode::two_blocks(tier.wide(), self.job, self.input, self.out)
            }
            copied => copied,
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn short_escaped<T: Tier>(&mut self, tier: T, len: usize) -> Option<Outcome<'c>> {
        let Decode { job, input, out } = *self;
        if T::is_narrow(len) {
            decode::short(tier.narrow(), job, input, out, false)
        } else if T::Wide::HALVES {
            // One wide block is decoded as two narrow ones, which are loaded whole.
            decode::two_blocks(tier.narrow(), job, input, out)
        } else {
            decode::short(tier.wide(), job, input, out, false)
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        Some(decode::decode(isa, self.job, self.input, self.out))
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Outcome<'c> {
        decode::decode_other_mode(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn copy<T: Tier>(&mut self, tier: T) -> Option<Outcome<'c>> {
        if T::is_narrow(self.input.len()) { self.copy_two(tier.narrow()) } else { self.copy_two(tier.wide()) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn short_other_mode<T: Tier>(&mut self, tier: T) -> Option<Outcome<'c>> {
        if const { T::Wide::TOGETHER == 4 } {
            decode::short_other_mode(tier.wide(), self.job, self.input, self.out, true)
        } else if T::is_narrow(self.input.len()) {
            self.one_block_other_mode::<T, _>(tier.narrow())
        } else {
            self.one_block_other_mode::<T, _>(tier.wide())
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn copy_two<I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        short::decode_copy(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn two_blocks<I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        match short::decode_copy_ends(isa, self.input, self.out) {
            None => decode::two_blocks(isa, self.job, self.input, self.out),
            copied => copied,
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn has_few_blocks<I: Isa>(_: I) -> bool {
        I::TOGETHER == 4
    }
    #[cfg_attr(optimized, inline(always))]
    fn few_blocks_other_mode<I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        decode::two_blocks_other_mode(isa, self.job, self.input, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn medium<I: Isa>(&mut self, isa: I) -> Option<Outcome<'c>> {
        decode::medium(isa, self.job, self.input, self.out)
    }
}

/// Decodes a short value in its own memory, in the default mode. The result is `None`, and nothing is changed, if the value is too
/// long or the tier has no code of its own for this. A strict caller must have validated the value.
pub(crate) struct DecodeInPlace<'a> {
    pub(crate) job: PlainJob,
    pub(crate) input: &'a mut [u8],
}

impl Operation for DecodeInPlace<'_> {
    type Done = Option<usize>;

    #[cfg_attr(optimized, inline(always))]
    fn short<T: Tier>(&mut self, tier: T, _: usize) -> Option<Option<usize>> {
        Some(if T::Wide::GUESSES { decode::in_place(tier, self.input) } else { None })
    }
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, _: I) -> Option<Option<usize>> {
        Some(None)
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, _: I) -> Option<usize> {
        None
    }
}

/// Measures what [`Encode`] would write.
pub(crate) struct EncodeMeasure<'a> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
}

impl Operation for EncodeMeasure<'_> {
    type Done = Measure;

    #[cfg_attr(optimized, inline(always))]
    fn one_block<I: Isa>(&mut self, isa: I) -> Option<Measure> {
        encode::one_block::<_, _, true>(isa, self.job, self.input, Measure::default())
    }
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Measure> {
        Some(encode::measure(isa, self.job, self.input))
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Measure {
        encode::measure_other_mode(isa, self.job, self.input)
    }
}

/// Measures what [`Decode`] would write.
pub(crate) struct DecodeMeasure<'a> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
}

impl DecodeMeasure<'_> {
    /// Measures an input of at most one block that has no `%`. `None` means that this is not known.
    #[cfg_attr(optimized, inline(always))]
    fn unchanged<I: Isa>(&self, isa: I) -> Option<Measured> {
        let measure = Measure { len: self.input.len(), changed: false };
        isa.lacks(self.input, b'%').then(|| Measured::new(measure, self.input.len()))
    }
}

impl Operation for DecodeMeasure<'_> {
    type Done = Measured;

    #[cfg_attr(optimized, inline(always))]
    fn one_block<I: Isa>(&mut self, isa: I) -> Option<Measured> {
        if let Some(unchanged) = self.unchanged(isa) {
            return Some(unchanged);
        }
        decode::measure_one_block(isa, self.job, self.input)
    }
    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Measured> {
        Some(decode::measure::<_, false>(isa, self.job, self.input))
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Measured {
        decode::measure::<_, true>(isa, self.job, self.input)
    }
    #[cfg_attr(optimized, inline(always))]
    fn short_other_mode<T: Tier>(&mut self, tier: T) -> Option<Measured> {
        if self.job.plus() || self.input.len() > T::Wide::LANES { None } else { self.unchanged(tier.wide()) }
    }
}

/// Encodes a batch of values. A batch has many bytes, so it needs no functions for short inputs.
pub(crate) struct EncodeValues<'a, 'c> {
    pub(crate) job: &'a EncodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) ends: &'a mut Ends,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for EncodeValues<'_, 'c> {
    type Done = Written<'c>;

    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Written<'c>> {
        Some(encode::encode_values(isa, self.job, self.input, self.ends, self.out))
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Written<'c> {
        encode::encode_values_other_mode(isa, self.job, self.input, self.ends, self.out)
    }
}

/// Decodes a batch of values.
pub(crate) struct DecodeValues<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) ends: &'a mut Ends,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for DecodeValues<'_, 'c> {
    type Done = Decoded<'c>;

    #[cfg_attr(optimized, inline(always))]
    fn long<I: Isa>(&mut self, isa: I) -> Option<Decoded<'c>> {
        decode::decode_values(isa, self.job, self.input, self.ends, self.out)
    }
    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::decode_marked_values(isa, self.job, self.input, self.ends, self.out)
    }
}

/// Copies an input up to the first byte that decoding may change. The result has the offset of that byte, and may have more bytes than
/// those before it.
pub(crate) struct CopyClean<'a, 'c> {
    pub(crate) job: CopyJob,
    pub(crate) input: &'a [u8],
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for CopyClean<'_, 'c> {
    type Done = Decoded<'c>;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::copy_clean(isa, self.job, self.input, self.out)
    }
}

/// Places the ends of the values of a batch in the output. Reports whether an escape was decoded that crosses one.
pub(crate) struct Place<'a> {
    pub(crate) job: PlaceJob,
    pub(crate) input: &'a mut Ends,
}

impl Operation for Place<'_> {
    type Done = bool;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> bool {
        bounds::place(isa, self.input, self.job.by, self.job.written)
    }
}

/// Decodes the escapes at marked places of a value.
pub(crate) struct DecodeMarked<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) marks: Marks<'a>,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for DecodeMarked<'_, 'c> {
    type Done = Decoded<'c>;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::decode_marked(isa, self.job, self.input, self.marks, self.out)
    }
}

/// Copies a value, and after each of its fields a separator and the decoded field.
pub(crate) struct DecodeBeside<'a, 'c> {
    pub(crate) job: &'a DecodeJob,
    pub(crate) input: &'a [u8],
    pub(crate) fields: Fields<'a>,
    pub(crate) out: Room<'c>,
}

impl<'c> Operation for DecodeBeside<'_, 'c> {
    type Done = Decoded<'c>;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Decoded<'c> {
        decode::decode_beside(isa, self.job, self.input, self.fields, self.out)
    }
}

/// Marks the places of four bytes.
pub(crate) struct Mark<'a> {
    pub(crate) job: &'a MarkJob,
    pub(crate) input: &'a [u8],
    pub(crate) marks: &'a mut [[u64; 4]],
}

impl Operation for Mark<'_> {
    type Done = ();

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) {
        let MarkJob([a, b, c, d]) = *self.job;
        // Whole blocks need no mask of their lanes.
        let blocks = if const { I::LANES == 64 } { self.input.as_chunks::<64>().0 } else { &[] };
        for (marks, block) in self.marks.iter_mut().zip(blocks) {
            let block = isa.load(block);
            marks[0] = isa.eq_in_register(block, a);
            marks[1] = isa.eq(block, b);
            marks[2] = isa.eq_in_register(block, c);
            marks[3] = isa.eq(block, d);
        }
        for (marks, mut piece) in self.marks.iter_mut().zip(self.input.chunks(64)).skip(blocks.len()) {
            let (mut found, mut shift) = ([0; 4], 0);
            while !piece.is_empty() {
                let len = piece.len().min(I::LANES);
                let (block, here) = (isa.load(&piece[..len]), low_mask(len));
                let masks = [isa.eq(block, a), isa.eq(block, b), isa.eq(block, c), isa.eq(block, d)];
                for i in 0..4 {
                    found[i] |= (masks[i] & here) << shift;
                }
                (piece, shift) = (&piece[len..], shift + I::LANES);
            }
            *marks = found;
        }
    }
}

/// Marks the rows of a table.
pub(crate) struct Rows<'a> {
    pub(crate) job: &'a RowsJob,
    pub(crate) input: &'a [u8],
    pub(crate) state: &'a mut RowState,
    pub(crate) marks: &'a mut [[u64; 4]],
}

impl Operation for Rows<'_> {
    type Done = usize;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> usize {
        self.job.mark(self.input, self.state, self.marks, Blockwise(isa))
    }
}

/// The search for bytes in one block after another.
#[derive(Clone, Copy)]
struct Blockwise<I>(I);

impl<I: Isa> Search for Blockwise<I> {
    #[cfg_attr(optimized, inline(always))]
    fn find(self, block: &[u8; 64], bytes: [u8; 5]) -> [u64; 5] {
        let (isa, [a, b, c, d, e]) = (self.0, bytes);
        let mut found = [0; 5];
        for (index, piece) in block.chunks_exact(I::LANES).enumerate() {
            let (piece, shift) = (isa.load(piece), index * I::LANES);
            found[0] |= isa.eq_in_register(piece, a) << shift;
            found[1] |= isa.eq(piece, b) << shift;
            found[2] |= isa.eq_in_register(piece, c) << shift;
            found[3] |= isa.eq(piece, d) << shift;
            found[4] |= isa.eq(piece, e) << shift;
        }
        found
    }
}

/// Lists the places of bits.
pub(crate) struct List<'a> {
    pub(crate) job: &'a ListJob,
    pub(crate) input: &'a [u64],
    pub(crate) places: &'a mut [u32],
}

impl Operation for List<'_> {
    type Done = usize;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> usize {
        let ListJob = self.job;
        let (mut len, mut first) = (0, 0);
        for &word in self.input {
            // The words before this one have at most 64 places each, so this never ends early.
            let Some(places) = self.places.get_mut(len..).and_then(<[u32]>::first_chunk_mut) else { break };
            isa.list(word, first, places);
            len += word.count_ones() as usize;
            first += u64::BITS;
        }
        len
    }
}

/// Lists the places where fields end.
pub(crate) struct ListStops<'a> {
    pub(crate) job: &'a ListJob,
    pub(crate) input: &'a [[u64; 4]],
    pub(crate) places: &'a mut [u32],
}

impl Operation for ListStops<'_> {
    type Done = Stops;

    #[cfg_attr(optimized, inline(always))]
    fn other_mode<I: Isa>(&mut self, isa: I) -> Stops {
        let ListJob = self.job;
        let (mut count, mut ends, mut first, mut irregular) = (0, 0, 0, 0);
        for &[_, end, delimiter, other] in self.input {
            // The blocks before this one have at most 64 places each, so the loop never ends early.
            let Some(places) = self.places.get_mut(count..).and_then(<[u32]>::first_chunk_mut) else { break };
            isa.list(end | delimiter, first, places);
            count += (end | delimiter).count_ones() as usize;
            ends += end.count_ones() as usize;
            irregular |= other;
            first += u64::BITS;
        }
        Stops { count, ends, has_irregular: irregular != 0 }
    }
}
