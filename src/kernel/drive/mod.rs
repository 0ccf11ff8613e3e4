//! The drivers: one loop for each operation, written once over blocks of bytes.
//!
//! A tier implements [`Isa`]; the drivers know nothing of instruction sets, and have no intrinsics, no `cfg` and no
//! `unsafe`. A block is a group of [`Isa::LANES`] bytes; a mask is a `u64` with bit `i` for lane `i`. Inputs
//! shorter than a block, which most URLs are, go through the same code as a partial block. Of a longer input, the first
//! block is the short one: it can be loaded whole, for the bytes after its end are those of the next.
//!
//! Every function here is inlined into the entry points of a tier, which enable its CPU features.

mod bounds;
mod decode;
mod encode;
pub(crate) mod operation;
pub(crate) mod short;
mod sink;

use crate::hex::{self, HexCase};
use crate::kernel::cursor::Cursor;
use crate::set::ByteSet;

/// The escapes that start in a block.
pub(crate) struct Escapes<B> {
    /// The lanes of `%` that two hexadecimal digits follow.
    pub(crate) valid: u64,
    /// In each of these lanes, the byte that the digits spell. Other lanes may hold anything.
    pub(crate) values: B,
    /// The block, with the values in these lanes.
    pub(crate) decoded: B,
    /// Of a tier that makes use of it: in each lane, whether it is one of these.
    #[allow(dead_code, reason = "on some architectures no tier does")]
    pub(crate) lanes: B,
}

/// The blocks that a tier's token gives: wide ones for long inputs, narrow ones for inputs that fit in one.
pub(crate) trait Tier: Copy {
    /// The blocks for any input.
    type Wide: Isa;

    /// The blocks for inputs of at most [`Tier::SHORT`] bytes.
    type Narrow: Isa;

    /// The longest input for narrow blocks; 0 if a tier has only wide ones.
    const SHORT: usize;

    /// The capability for wide blocks.
    fn wide(self) -> Self::Wide;

    /// The capability for narrow blocks.
    fn narrow(self) -> Self::Narrow;
}

/// A token that is an [`Isa`] itself, for blocks of one kind.
pub(crate) trait OneKind: Isa {}

impl<I: OneKind> Tier for I {
    type Wide = I;
    type Narrow = I;
    const SHORT: usize = 0;

    #[inline(always)]
    fn wide(self) -> I {
        self
    }

    #[inline(always)]
    fn narrow(self) -> I {
        self
    }
}

/// The operations of an instruction set on blocks.
///
/// The value is a capability: it exists only where the CPU has the features, so the operations are safe. A new
/// tier starts with the required methods; each default goes through an array and can be replaced by something
/// faster. Lanes after the end of a partial block are zero.
pub(crate) trait Isa: Copy {
    /// The number of bytes in a block: at most 64, and a power of two.
    const LANES: usize;

    /// How many blocks share one look at whether there is anything to do: 1 or 4. If there is, all of them are
    /// decoded without another branch, which pays where that takes less time than a mispredicted branch.
    const TOGETHER: usize = 1;

    /// The longest input that [`Isa::lacks`] looks at.
    const LOOK: usize = Self::LANES;

    /// Whether an input of at most eight bytes is decoded in a machine word, which takes less than a block.
    const WORD: bool = false;

    /// Whether inputs of more than one block and at most two have functions of their own.
    const TWO: bool = false;

    /// The longest input for a function of its own, block by block, without the loops for long ones; 0 if there is no such
    /// function.
    const FEW: usize = 0;

    /// The widest window that an operation asks for.
    const WINDOW: usize = 3 * Self::LANES + 64;

    /// `LANES` bytes.
    type Block: Copy;

    /// A set, ready for [`Isa::member`].
    type Class: Copy;

    /// Prepares `set` for an input of `len` bytes.
    fn class(self, set: &ByteSet, len: usize) -> Self::Class;

    /// The first `LANES` bytes of `input`, or all of a shorter one with zeros after them.
    fn load(self, input: &[u8]) -> Self::Block;

    /// Of an input of at most `LANES` bytes: as many as half the lanes from its start, and as many from its end, which may
    /// overlap. `None` if it is shorter, or if [`Isa::load`] takes no longer.
    #[inline(always)]
    fn ends(self, _input: &[u8]) -> Option<Self::Block> {
        None
    }

    /// The bytes of an input of at most `LANES` that are not members of the set, where that takes less than a block that is
    /// put together. `None` says nothing.
    #[inline(always)]
    fn strays(self, input: &[u8], class: &Self::Class) -> Option<u64> {
        let (ends, half) = (self.ends(input)?, Self::LANES / 2);
        let others = !self.member(ends, class) & first(Self::LANES);
        Some(others & first(half) | (others >> half) << (input.len() - half))
    }

    /// The lanes of `block`, with zeros after them.
    fn bytes(self, block: Self::Block) -> [u8; 64];

    /// The lanes that are members of the set.
    fn member(self, block: Self::Block, class: &Self::Class) -> u64;

    /// The same for one of many blocks, where preparing the set costs nothing beside them.
    #[inline(always)]
    fn member_of_many(self, block: Self::Block, class: &Self::Class) -> u64 {
        self.member(block, class)
    }

    /// Whether all lanes of `blocks` are members of the set, where that takes less than [`Isa::member`]. `false` says nothing.
    #[inline(always)]
    fn all_members<const M: usize>(self, _: [Self::Block; M], _: &Self::Class) -> bool {
        false
    }

    /// Whether `byte` does not occur in an input of at most [`Isa::LOOK`] bytes, where that takes less than a block does.
    /// `false` says nothing.
    #[inline(always)]
    fn lacks(self, _input: &[u8], _byte: u8) -> bool {
        false
    }

    /// Whether no lane of `blocks` equals `byte`.
    #[inline(always)]
    fn none_equal<const M: usize>(self, blocks: [Self::Block; M], byte: u8) -> bool {
        let mut found = 0;
        for block in blocks {
            found |= self.eq(block, byte);
        }
        found == 0
    }

    /// Whether no lane of `block` in `lanes` equals `byte`, where other lanes may be looked at, too, if that takes less. `false`
    /// says nothing.
    #[inline(always)]
    fn surely_lacks(self, block: Self::Block, byte: u8, lanes: u64) -> bool {
        self.eq(block, byte) & lanes == 0
    }

    /// The lanes that equal `byte`.
    #[inline(always)]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        mask(self.bytes(block), |lane| lane == byte)
    }

    /// Among the lanes that are hexadecimal digits, those in lower case. Other lanes may be in or not.
    #[inline(always)]
    fn lower(self, block: Self::Block) -> u64 {
        mask(self.bytes(block), |lane| lane.is_ascii_lowercase())
    }

    /// `block` with `to` in place of every `from`.
    #[inline(always)]
    fn replace(self, block: Self::Block, from: u8, to: u8) -> Self::Block {
        self.load(&self.bytes(block).map(|lane| if lane == from { to } else { lane })[..Self::LANES])
    }

    /// The escapes that start in `block`, which is that at the start of `input`.
    ///
    /// Whether a `%` starts an escape depends only on the two bytes after it, and these cannot be `%` themselves,
    /// so all lanes are settled at once.
    #[inline(always)]
    fn escapes(self, block: Self::Block, input: &[u8]) -> Escapes<Self::Block> {
        let mut bytes = [0; 66];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes[Self::LANES..Self::LANES + 2].copy_from_slice(&behind::<Self>(input));
        let (mut valid, mut values) = (0, [0; 64]);
        for i in 0..Self::LANES {
            if let Some(value) = hex::unescape(&bytes[i..i + 3]) {
                valid |= 1 << i;
                values[i] = value;
            }
        }
        let values = self.load(&values[..Self::LANES]);
        Escapes { valid, values, decoded: self.select(valid, block, values), lanes: block }
    }

    /// Whether [`Isa::all_escapes`] is faster than block by block, and `LANES` is 64.
    const DECODES_ALL: bool = false;

    /// The values of the 64 escapes that `input` starts with, if it does; `None` if not, or if it is shorter.
    #[inline(always)]
    fn all_escapes(self, _input: &[u8]) -> Option<Self::Block> {
        None
    }

    /// `block`, with the lanes in `mask` taken from `other`.
    #[inline(always)]
    fn select(self, mask: u64, block: Self::Block, other: Self::Block) -> Self::Block {
        let (block, other) = (self.bytes(block), self.bytes(other));
        let lanes: [u8; 64] = core::array::from_fn(|i| if mask >> i & 1 != 0 { other[i] } else { block[i] });
        self.load(&lanes[..Self::LANES])
    }

    /// Of the escapes in `block`, those whose values are members of the set, or are not if `members` is false; and the block
    /// with these values in their lanes.
    #[inline(always)]
    fn decode_some(
        self,
        block: Self::Block,
        found: &Escapes<Self::Block>,
        class: &Self::Class,
        members: bool,
    ) -> (u64, Self::Block) {
        let found_members = self.member(found.values, class);
        let decoded = found.valid & if members { found_members } else { !found_members };
        (decoded, self.select(decoded, block, found.values))
    }

    /// The same for one of many blocks, where preparing the set costs nothing beside them.
    #[inline(always)]
    fn decode_some_of_many(
        self,
        block: Self::Block,
        found: &Escapes<Self::Block>,
        class: &Self::Class,
        members: bool,
    ) -> (u64, Self::Block) {
        self.decode_some(block, found, class, members)
    }

    /// `block`, with the hexadecimal digits in the lanes of `mask` in upper case.
    #[inline(always)]
    fn upper(self, mask: u64, block: Self::Block) -> Self::Block {
        let mut lanes = self.bytes(block);
        for (i, lane) in lanes.iter_mut().enumerate() {
            if mask >> i & 1 != 0 {
                lane.make_ascii_uppercase();
            }
        }
        self.load(&lanes[..Self::LANES])
    }

    /// Writes the first `lanes` lanes.
    #[inline(always)]
    fn store(self, block: Self::Block, lanes: usize, out: &mut Cursor<'_>) {
        out.push_slice(&self.bytes(block)[..lanes]);
    }

    /// Writes whole blocks, of which no more than [`MAX_WINDOW`](crate::kernel::cursor::MAX_WINDOW) bytes.
    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Self::Block; M], out: &mut Cursor<'_>) {
        for block in blocks {
            self.store(block, Self::LANES, out);
        }
    }

    /// Writes the first `lanes` lanes without those in `drop`, which may hold others, too.
    ///
    /// What is dropped are pairs of digits, with a lane that stays between one pair and the next; of the first pair and
    /// the last, one digit may lie outside the block.
    #[inline(always)]
    fn compress(self, block: Self::Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let bytes = self.bytes(block);
        bits(first(lanes) & !drop).for_each(|i| out.push_slice(&[bytes[i]]));
    }

    /// Writes the first `lanes` lanes, those in `escape` as escapes. In these lanes the block is the start of `input`; others
    /// may have been replaced.
    #[inline(always)]
    fn expand(
        self,
        block: Self::Block,
        _input: &[u8],
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        for (i, &byte) in self.bytes(block)[..lanes].iter().enumerate() {
            if escape >> i & 1 != 0 {
                out.push_slice(&hex::escape(byte, case));
            } else {
                out.push_slice(&[byte]);
            }
        }
    }

    /// As [`Isa::expand`], where the lanes to escape are all that are not members of `class`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "those of `expand`, and the set")]
    fn expand_others(
        self,
        block: Self::Block,
        input: &[u8],
        _class: &Self::Class,
        escape: u64,
        lanes: usize,
        case: HexCase,
        out: &mut Cursor<'_>,
    ) {
        self.expand(block, input, escape, lanes, case, out);
    }

    /// Whether [`Isa::expand_all`] is faster than [`Isa::expand`], and `LANES` is 64.
    const EXPANDS_ALL: bool = false;

    /// Writes all 64 lanes as escapes. The block is the start of `input`.
    #[inline(always)]
    fn expand_all(self, block: Self::Block, input: &[u8], case: HexCase, out: &mut Cursor<'_>) {
        self.expand(block, input, u64::MAX, Self::LANES, case, out);
    }
}

/// The lanes for which `test` holds.
#[inline(always)]
pub(crate) fn mask(lanes: [u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    lanes.iter().enumerate().fold(0, |mask, (i, &lane)| mask | u64::from(test(lane)) << i)
}

/// The positions of the bits of `mask`, in ascending order.
#[inline(always)]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let position = mask.trailing_zeros() as usize;
        mask &= mask.checked_sub(1)?;
        Some(position)
    })
}

/// The first `n` lanes, for `n <= 64`.
#[inline(always)]
pub(crate) fn first(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The two bytes after the block at the start of `input`; zeros, which are no digits, where there are none.
#[inline(always)]
pub(crate) fn behind<I: Isa>(input: &[u8]) -> [u8; 2] {
    match input.get(I::LANES..) {
        Some([first, second, ..]) => [*first, *second],
        Some([first]) => [*first, 0],
        _ => [0; 2],
    }
}

/// The lanes that digits fill after each escape in `valid`, which start in the first `lanes` lanes, and in `spilt` those
/// of the next block, which begins after these.
#[inline(always)]
fn digits_of<I: Isa>(valid: u64, lanes: usize, spilt: &mut u64) -> u64 {
    let digits = valid << 1 | valid << 2 | *spilt;
    let last_two = valid.rotate_right(lanes.wrapping_sub(2) as u32) & 3;
    *spilt = last_two | last_two >> 1;
    digits & first(I::LANES)
}

/// How many lanes the first block has too few, so that all others are whole.
#[inline(always)]
fn missing<I: Isa>(input: &[u8]) -> usize {
    input.len().wrapping_neg() % I::LANES
}
