//! The drivers: the code of the operations, written once over blocks of bytes.
//!
//! A tier is the support for one instruction set. It implements [`Tier`], which names its types of blocks, and each of these implements
//! [`Isa`]. The drivers are independent of instruction sets, and have no intrinsics, no `cfg` and no `unsafe`. A block has
//! [`Isa::LANES`] bytes, and a mask is a `u64` with bit `i` for lane `i`.
//!
//! An input shorter than a block, as most URLs are, is one partial block. In a longer input, encoders and decoders make the first block
//! short. It can be loaded whole, because the bytes after its end belong to the next block. Code that only measures or searches makes
//! the last block short.
//!
//! Every function that takes a tier or its blocks is inlined into one that enables the CPU features of the tier. That
//! function is an entry point (a kernel in the table of an operation), or a function of [`Features`]. "lab: NAME" names
//! the page docs/lab/DATE-NAME.md, which has the measurements.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over blocks are unrolled, and the index says which block it is"
)]

pub(crate) mod bounds;
pub(crate) mod decode;
pub(crate) mod encode;
mod tier;

use core::marker::PhantomData;

use crate::hex::HexCase;
use crate::kernel::cursor::Cursor;
#[allow(unused_imports, reason = "not every target has a tier with an operation that uses them")]
pub(crate) use tier::{DecodeStep, EncodeStep, Features, Mode, NotCopied, Other, Plain, Tier};

#[allow(unused_imports, reason = "not every target has a tier with an operation that uses them")]
pub(crate) use crate::kernel::ends::{PLACED_TOGETHER, RECORDS_TOGETHER, Records};
use crate::set::ByteSet;

/// A number of lanes at the start of a block.
// INVARIANT: `count <= I::LANES <= 64`. Only the constructors set `count`, so safe operations of a tier can rely on it.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<I> {
    count: usize,
    isa: PhantomData<I>,
}

impl<I: Isa> Lanes<I> {
    /// All lanes of a block.
    pub(crate) const ALL: Lanes<I> = {
        assert!(I::LANES.is_power_of_two() && I::LANES <= 64, "a mask has 64 bits");
        Lanes { count: I::LANES, isa: PhantomData }
    };

    /// Returns the lanes that an input of at most one block fills; `None` if it is longer.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn of_short(input: &[u8]) -> Option<Lanes<I>> {
        (input.len() <= Self::ALL.count).then_some(Lanes { count: input.len(), isa: PhantomData })
    }

    /// Returns the lanes of the first block of an input of `len` bytes. This block is short only if the input is.
    #[cfg_attr(optimized, inline(always))]
    fn of_start(len: usize) -> Lanes<I> {
        Lanes { count: len.min(I::LANES), isa: PhantomData }
    }

    /// Splits an input of more than one block and at most two. Returns the lanes of its first block that the last block does not have, and
    /// the bytes of the last block. Returns `None` for other lengths.
    #[cfg_attr(optimized, inline(always))]
    fn of_two(input: &[u8]) -> Option<(Lanes<I>, &[u8])> {
        let (first, last) = input.split_at_checked(input.len().checked_sub(I::LANES)?)?;
        if first.is_empty() { None } else { Some((Self::of_short(first)?, last)) }
    }

    /// Returns the lanes of the first block of `input`. This block is so short that all other blocks are whole.
    #[cfg_attr(optimized, inline(always))]
    fn of_first_block(input: &[u8]) -> Lanes<I> {
        Lanes { count: Self::ALL.count - padding::<I>(input), isa: PhantomData }
    }

    /// Returns the number of lanes.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Returns the mask with the lowest `count` bits set.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn mask(self) -> u64 {
        low_mask(self.count)
    }

    /// Returns the number of lanes of the block that are not among these.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn padding(self) -> usize {
        I::LANES - self.count
    }

    /// Reports whether these are all lanes of the block.
    #[cfg_attr(optimized, inline(always))]
    pub(crate) fn is_all(self) -> bool {
        self.count == I::LANES
    }
}

/// Each `%` of a block, and the byte that the two bytes after each lane spell.
#[derive(Clone, Copy)]
pub(crate) struct Found<B> {
    /// The lanes of each `%`.
    pub(crate) percent: u64,
    /// The lanes in `percent` as marks, in the tier's own form, if the tier uses marks.
    #[allow(dead_code, reason = "on some architectures no tier does")]
    pub(crate) marks: B,
    /// Marks of each `%` that two hexadecimal digits do not follow, in the tier's own form. Lanes without `%` are unspecified.
    pub(crate) wrong: B,
    /// In the lane of each `%` that two digits follow, the byte that they spell. Other lanes are unspecified.
    pub(crate) values: B,
    /// The block with the values in the lanes of each `%` that two digits follow. The lanes of each other `%` are unspecified.
    pub(crate) decoded: B,
}

/// The lanes of a block that are members of a set. A tier may add data that it needs to write the other lanes as
/// escapes.
pub(crate) trait Members: Copy {
    /// Returns the mask of the lanes. The bits of lanes after the end of the input are unspecified.
    fn mask(self) -> u64;
}

impl Members for u64 {
    #[cfg_attr(optimized, inline(always))]
    fn mask(self) -> u64 {
        self
    }
}

/// The operations of an instruction set on blocks.
///
/// A value of this type is a capability. It exists only if the CPU has the features, so the operations are safe. Lanes
/// after the end of a partial block are zero.
pub(crate) trait Isa: Copy {
    /// The number of bytes in a block: at most 64, and a power of two.
    const LANES: usize;

    /// The number of blocks that one check for unchanged text covers: 2 or 4. With 4, blocks with a `%` are decoded
    /// without a check of each. On AVX2 and SSSE3, this takes longer (lab: avx2-ssse3).
    const TOGETHER: usize = 2;

    /// Whether encoding of long text looks up the members of the set two blocks ahead. In the queue of the CPU, fewer
    /// instructions then wait for a mask (lab: kernels).
    const LOOKS_AHEAD: bool = false;

    /// Whether text with many escapes is decoded by [`Isa::decode_dense`] and [`Isa::all_escapes`], which require 64 lanes (lab: kernels).
    const DECODES_DENSE: bool = false;

    /// Whether the tier has an [`Isa::expand_all`] of its own. It requires 64 lanes.
    const EXPANDS_ALL: bool = false;

    /// The spare capacity in bytes that is enough for any operation on one block.
    const WINDOW: usize = 3 * Self::LANES + 64;

    /// The token that proves that the CPU has the instruction set.
    type Token;

    /// A block of `LANES` bytes.
    type Block: Copy;

    /// A set, prepared for [`Isa::find_members`].
    type Class: Copy;

    /// The result of [`Isa::look_up_set`].
    type SetLookup: Copy;

    /// The hexadecimal digits, prepared for [`Isa::expand`].
    type Spelling: Copy;

    /// The result of [`Isa::find_members`].
    type Members: Members;

    /// Makes the capability from a token.
    fn new(token: Self::Token) -> Self;

    // -- Memory

    /// Loads the first `LANES` bytes of `input`. A shorter input is loaded whole, with zeros after it.
    fn load(self, input: &[u8]) -> Self::Block;

    /// Loads an input of at most `LANES` bytes, in any order: each byte is in one lane or more, and no lane has another byte. Returns
    /// `None` if the tier has no such load, or none for an input of this length.
    #[cfg_attr(optimized, inline(always))]
    fn load_ends(self, _input: &[u8]) -> Option<Self::Block> {
        None
    }

    /// Returns the lanes of `block` as an array, with zeros after them.
    fn bytes(self, block: Self::Block) -> [u8; 64];

    /// Writes the first `lanes` lanes of `block`.
    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: Self::Block, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        self.store_all([block], lanes, out);
    }

    /// Writes all lanes of `blocks`, but only the first `last` lanes of the last block. The blocks have at most
    /// [`MAX_WINDOW`](crate::kernel::cursor::MAX_WINDOW) lanes together.
    fn store_all<const M: usize>(self, blocks: [Self::Block; M], last: Lanes<Self>, out: &mut Cursor<'_>);

    // -- Bytes and sets

    /// Returns the lanes that equal `byte`.
    fn eq(self, block: Self::Block, byte: u8) -> u64;

    /// Reports whether no lane of `blocks` equals `byte`.
    #[cfg_attr(optimized, inline(always))]
    fn none_equal<const M: usize>(self, blocks: [Self::Block; M], byte: u8) -> bool {
        blocks.into_iter().fold(0, |found, block| found | self.eq(block, byte)) == 0
    }

    /// Returns the lanes of lower-case hexadecimal digits. The bits of lanes that are no digits are unspecified.
    fn lower(self, block: Self::Block) -> u64;

    /// Returns the lanes of hexadecimal digits of either case.
    #[cfg_attr(optimized, inline(always))]
    fn hex_digits(self, block: Self::Block) -> u64 {
        static DIGITS: ByteSet = ByteSet::from_bytes(b"0123456789ABCDEFabcdef");
        self.find_members(block, &self.class(&DIGITS)).mask()
    }

    /// Returns `block` with `to` in place of every `from`.
    fn replace(self, block: Self::Block, from: u8, to: u8) -> Self::Block;

    /// Returns `block` with the lanes in `mask` taken from `other`.
    fn select(self, mask: u64, block: Self::Block, other: Self::Block) -> Self::Block;

    /// Prepares `set`.
    fn class(self, set: &ByteSet) -> Self::Class;

    /// Returns the lanes that are members of the set.
    #[cfg_attr(optimized, inline(always))]
    fn find_members(self, block: Self::Block, class: &Self::Class) -> Self::Members {
        self.members_in(self.look_up_set(block, class))
    }

    /// Returns the lanes of an input of at most `LANES` bytes that are members of the set, without building a block.
    /// Returns `None` if the tier needs a block to find them.
    #[cfg_attr(optimized, inline(always))]
    fn members_of_short(self, _input: &[u8], _class: &Self::Class) -> Option<Self::Members> {
        None
    }

    /// Looks up the lanes that are members of the set, for [`Isa::members_in`]. This method is for loops over many
    /// blocks, because a tier may first have to prepare the set (lab: kernels).
    fn look_up_set(self, block: Self::Block, class: &Self::Class) -> Self::SetLookup;

    /// Returns the lanes that are members of the set.
    fn members_in(self, look: Self::SetLookup) -> Self::Members;

    /// Returns the lanes of `mask` as members of a set.
    fn members_from_mask(self, mask: u64) -> Self::Members;

    /// Reports whether all lanes of `blocks` are members of the set. `false` may also mean "unknown", as for members
    /// above 0x7F.
    fn all_members<const M: usize>(self, blocks: [Self::Block; M], class: &Self::Class) -> bool;

    // -- Encoding

    /// Prepares the digits in the given case.
    fn spelling(self, case: HexCase) -> Self::Spelling;

    /// Writes the first `lanes` lanes of `block`, which is at the start of `input`, with those that are not in `members` as escapes.
    fn expand(
        self,
        block: Self::Block,
        input: &[u8],
        members: Self::Members,
        lanes: Lanes<Self>,
        spelling: Self::Spelling,
        out: &mut Cursor<'_>,
    );

    /// Writes all lanes as escapes. `block` is at the start of `input`.
    #[cfg_attr(optimized, inline(always))]
    fn expand_all(self, block: Self::Block, input: &[u8], spelling: Self::Spelling, out: &mut Cursor<'_>) {
        self.expand(block, input, self.members_from_mask(0), Lanes::ALL, spelling, out);
    }

    // -- Decoding

    /// Finds each `%` in `block`, which is at the start of `input`, and the byte that the two bytes after each lane
    /// spell.
    ///
    /// Whether a `%` starts an escape depends only on the two bytes after it, and these cannot be `%` themselves. So
    /// all lanes can be checked at once, and the mask of the `%` does not wait for the check of the digits.
    fn find(self, block: Self::Block, input: &[u8]) -> Found<Self::Block>;

    /// Reports whether one of the blocks has a `%` that two digits do not follow.
    fn any_wrong<const N: usize>(self, found: [&Found<Self::Block>; N]) -> bool;

    /// Returns the lanes of each `%` that two digits do not follow, and [`Found::decoded`] with `%` in these lanes.
    fn correct(self, found: &Found<Self::Block>) -> (u64, Self::Block);

    /// Returns the lanes of the escapes in `block` whose values are members of the set, and the block with their values in these lanes. If
    /// `members` is false, these are the escapes whose values are not members.
    fn decode_some(
        self,
        block: Self::Block,
        found: &Found<Self::Block>,
        class: &Self::Class,
        members: bool,
    ) -> (u64, Self::Block);

    /// Reports whether [`Isa::decode_some`] surely finds no escape. Malformed escapes may make this `false`.
    #[cfg_attr(optimized, inline(always))]
    fn decodes_none(self, found: &Found<Self::Block>, class: &Self::Class, members: bool) -> bool {
        self.decode_some(found.values, found, class, members).0 == 0
    }

    /// Returns `block` with the hexadecimal digits in the lanes of `mask` in upper case.
    fn upper(self, mask: u64, block: Self::Block) -> Self::Block;

    /// Writes the first `lanes` lanes of `block` without those in `drop`, which may include later lanes.
    ///
    /// The lanes in `drop` are pairs of digits, and at least one other lane is between two pairs. The first pair and the last
    /// may have one of their digits outside the block.
    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: Self::Block, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        self.compress_all([block], [drop], lanes, out);
    }

    /// Writes the first `lanes` lanes of the first block and then the other blocks, each without the lanes in its mask, as
    /// [`Isa::compress`] does. There are at most four blocks. A tier may check the capacity once for all of them.
    fn compress_all<const M: usize>(
        self,
        blocks: [Self::Block; M],
        drops: [u64; M],
        lanes: Lanes<Self>,
        out: &mut Cursor<'_>,
    );

    /// Decodes the four blocks at the start of `input`, as if two hexadecimal digits followed every `%`. Returns the lanes that it
    /// dropped from each block. `carry` is that of [`digits_of`].
    ///
    /// Returns `None` and keeps no output if two digits do not follow some `%`, if `input` does not have a whole block after
    /// these blocks (a tier may need fewer bytes), or if `out` has too little capacity.
    ///
    /// Four blocks share one check, so text with many escapes takes less time than with [`Isa::find`] (lab: kernels).
    #[cfg_attr(optimized, inline(always))]
    fn decode_dense(self, _input: &[u8], _carry: &mut u64, _out: &mut Cursor<'_>) -> Option<[u64; 4]> {
        None
    }

    /// Decodes the 64 escapes at the start of `input`. Returns `None` if `input` does not start with 64 escapes.
    #[cfg_attr(optimized, inline(always))]
    fn all_escapes(self, _input: &[u8]) -> Option<Self::Block> {
        None
    }

    // -- Batches of values

    /// Computes the ends of sixteen values in the output. In the input, the values end before the lanes `ends`, which
    /// are ascending and count from the first block on. Returns `false` and changes nothing if the tier has no code for
    /// this, if the ends are far apart, or if they are too near the end of the records. Each lane in the masks of the
    /// records became `1 + by` bytes.
    ///
    /// If `by` is negative, sets bit 0 of `crossing` if the lane after the end of a value is in a mask.
    #[cfg_attr(optimized, inline(always))]
    fn place_ends(
        self,
        _ends: &[u32; PLACED_TOGETHER],
        _records: Records<'_>,
        _by: u32,
        _places: &mut [u32; PLACED_TOGETHER],
        _crossing: &mut u64,
    ) -> bool {
        false
    }
}

/// Returns the number of lanes that the first block of `input` is short of a whole one, if all other blocks are whole.
#[cfg_attr(optimized, inline(always))]
fn padding<I: Isa>(input: &[u8]) -> usize {
    input.len().wrapping_neg() % I::LANES
}

/// Returns the positions of the bits of `mask`, in ascending order.
#[cfg_attr(optimized, inline(always))]
#[allow(dead_code, reason = "on some architectures no tier uses it")]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let position = mask.trailing_zeros() as usize;
        mask &= mask.checked_sub(1)?;
        Some(position)
    })
}

/// Returns the mask of the first `n` lanes, for `n <= 64`.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn low_mask(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Loads the `M` whole blocks at the start of `rest`.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn load<I: Isa, const M: usize>(isa: I, rest: &[u8]) -> [I::Block; M] {
    let mut blocks = [isa.load(rest); M];
    for i in 1..M {
        blocks[i] = isa.load(&rest[i * I::LANES..]);
    }
    blocks
}

/// Returns the two bytes after the block at the start of `input`. Bytes after the end of the input are zeros, which are
/// not digits.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn lookahead<I: Isa>(input: &[u8]) -> [u8; 2] {
    first_two(input.get(I::LANES..).unwrap_or_default())
}

/// Returns the first two of `bytes`, or zeros in place of those that do not exist.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn first_two(bytes: &[u8]) -> [u8; 2] {
    match bytes {
        [first, second, ..] => [*first, *second],
        [first] => [*first, 0],
        [] => [0; 2],
    }
}

/// Returns the lanes of the digits of the escapes in `valid`, which start in the first `lanes` lanes, and of the digits in
/// `carry`. Replaces `carry` by the digits in the next block, which begins after these lanes. If a lane of `valid`
/// starts no escape, the result is arbitrary.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn digits_of<I: Isa>(valid: u64, lanes: Lanes<I>, carry: &mut u64) -> u64 {
    // `valid << 1`, `valid << 2` and `carry` have no lane in common, so the sum is their union, in fewer instructions (lab: kernels).
    let digits = valid.wrapping_mul(6).wrapping_add(*carry);
    let last_two = valid.rotate_right(lanes.count().wrapping_sub(2) as u32) & 3;
    *carry = last_two | last_two >> 1;
    digits & Lanes::<I>::ALL.mask()
}
