//! The drivers: one loop for each operation, written once over blocks of bytes.
//!
//! A tier implements [`Isa`]. The drivers are independent of instruction sets, and have no intrinsics, no `cfg` and no
//! `unsafe`. A block has [`Isa::LANES`] bytes, and a mask is a `u64` with bit `i` for lane `i`. Inputs shorter than a block, as
//! most URLs are, go through the same code as a partial block. The first block of a longer input is the short one: it can be
//! loaded whole, because the bytes after its end belong to the next block.
//!
//! Every function here is inlined into the entry points of a tier, which enable its CPU features.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over blocks are unrolled, and the index says which block it is"
)]

mod bounds;
mod decode;
mod encode;
pub(crate) mod operation;
mod short;
mod sink;

use core::marker::PhantomData;

use crate::hex::{self, HexCase};
use crate::kernel::cursor::Cursor;
#[allow(unused_imports, reason = "not every target has a tier with an operation that uses them")]
pub(crate) use crate::kernel::ends::{GROUP as PLACED, Records, WINDOW};
use crate::set::ByteSet;

/// A number of lanes at the start of a block.
// INVARIANT: `count <= I::LANES <= 64`. Only the constructors set `count`, so safe operations of a tier can rely on it.
pub(crate) struct Lanes<I> {
    count: usize,
    isa: PhantomData<I>,
}

impl<I> Clone for Lanes<I> {
    #[cfg_attr(optimized, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Lanes<I> {}

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

    /// Returns the lanes of the first block of `len` bytes.
    #[cfg_attr(optimized, inline(always))]
    fn of_start(len: usize) -> Lanes<I> {
        Lanes { count: len.min(I::LANES), isa: PhantomData }
    }

    /// Splits an input of more than one block and at most two: returns the lanes of its first block that the last block does not have, and
    /// the bytes of the last block. Returns `None` for other lengths.
    #[cfg_attr(optimized, inline(always))]
    fn of_two(input: &[u8]) -> Option<(Lanes<I>, &[u8])> {
        let (first, last) = input.split_at_checked(input.len().checked_sub(I::LANES)?)?;
        if first.is_empty() { None } else { Some((Self::of_short(first)?, last)) }
    }

    /// Returns the lanes of the first block of `input`, which is so short that all other blocks are whole.
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

/// The escapes that start in a block.
pub(crate) struct Escapes<B> {
    /// The lanes of each `%` that two hexadecimal digits follow.
    pub(crate) valid: u64,
    /// In each valid lane, the byte that the two digits spell. Other lanes are unspecified.
    pub(crate) values: B,
    /// The block with the values in the valid lanes.
    pub(crate) decoded: B,
    /// Marks of the valid lanes in the tier's own form, if the tier uses them.
    #[allow(dead_code, reason = "on some architectures no tier does")]
    pub(crate) marks: B,
}

/// A block that is decoded as if two hexadecimal digits followed every `%`.
pub(crate) struct Guess<B> {
    /// The lanes of each `%`.
    pub(crate) percent: u64,
    /// The block with the values of the escapes in the lanes of each `%` that is not wrong.
    pub(crate) decoded: B,
    /// Whether each lane of `percent` is wrong, in the tier's own form: two digits do not follow it. Other lanes are unspecified;
    /// [`Isa::correct`] reads this.
    pub(crate) wrong: B,
}

/// The escapes that start in a block, some of which are decoded.
pub(crate) struct SomeEscapes<B> {
    /// The lanes of each `%` that two hexadecimal digits follow.
    pub(crate) valid: u64,
    /// The lanes of each other `%`.
    pub(crate) malformed: u64,
    /// Zero if no digit of an escape is in lower case.
    pub(crate) lower: u64,
    /// The lanes of the escapes that are decoded.
    pub(crate) decoded: u64,
    /// The block to write. A tier that has few registers has put the values of the decoded escapes in their lanes.
    pub(crate) text: B,
    /// The values of the escapes, in their lanes, unless `text` has them.
    pub(crate) values: B,
}

/// The lanes of a block that are members of a set. A tier may add what it needs to expand the other lanes.
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

/// The capability of a tier. It provides blocks of two widths: wide ones for any input, narrow ones for short inputs.
pub(crate) trait Tier: Copy {
    /// The blocks for any input.
    type Wide: Isa<Token = Self>;

    /// The blocks for short inputs. A tier with blocks of one width only names those again.
    type Narrow: Isa<Token = Self>;

    /// Whether an entry point itself copies a clean input in a mode other than the default. That pays if the function that
    /// decodes such inputs has to save registers first.
    const COPIES_BEFORE_MODE: bool = false;

    /// Reports whether an input of `len` bytes is short enough for narrow blocks, if the tier has any.
    #[cfg_attr(optimized, inline(always))]
    fn is_narrow(len: usize) -> bool {
        Self::Narrow::LANES < Self::Wide::LANES && len <= Self::Narrow::LANES
    }

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
}

/// The operations of an instruction set on blocks.
///
/// A value is a capability: it exists only if the CPU has the features, so the operations are safe. A new tier starts with the
/// required methods. Each default method goes through an array and can be overridden by a faster one. Lanes after the end of a
/// partial block are zero.
pub(crate) trait Isa: Copy {
    /// The number of bytes in a block: at most 64, and a power of two.
    const LANES: usize;

    /// The number of blocks that one check covers: 1 or 4. If the check of four blocks finds a `%`, all four are decoded
    /// without another branch, which is faster if decoding a block takes less time than a mispredicted branch.
    const TOGETHER: usize = 1;

    /// Whether encoding of long text looks up the members of the set two blocks ahead. Otherwise the instructions that use the mask of a
    /// block wait for it in the queue of the CPU, and leave too little space there for those of the next blocks.
    const LOOKS_AHEAD: bool = false;

    /// The longest input that [`Isa::lacks`] checks.
    const LONGEST_LOOK: usize = Self::LANES;

    /// Whether an input of at most eight bytes is decoded in a machine word because that is faster than in a block.
    const WORD: bool = false;

    /// Whether inputs of more than one block and at most two have functions of their own.
    const TWO_BLOCKS: bool = false;

    /// Whether the CPU has an instruction that counts the bits of a word.
    const COUNTS_BITS: bool = false;

    /// Whether a check of clean blocks asks first whether an escape crossed their start. That is unpredictable, so it pays only where
    /// the search for `%` takes longer.
    const CROSSING_FIRST: bool = false;

    /// The longest input for the functions that go block by block, without the loops for clean runs; 0 if the tier does not use
    /// them.
    const MEDIUM: usize = 0;

    /// Whether modes other than the default have a loop for whole blocks and code for short inputs, which makes a tier larger.
    /// Decoding of a single value always has the loop.
    const LOOPS_IN_OTHER_MODES: bool = true;

    /// Whether inputs of at most two blocks are decoded in place without a buffer, which makes a tier larger.
    const DECODES_IN_PLACE: bool = false;

    /// The spare capacity in bytes that is enough for any operation on one block.
    const WINDOW: usize = 3 * Self::LANES + 64;

    /// The token that proves that the CPU has the instruction set.
    type Token;

    /// A block of `LANES` bytes.
    type Block: Copy;

    /// A set, prepared for [`Isa::member`].
    type Class: Copy;

    /// The result of [`Isa::look`].
    type Look: Copy;

    /// The hexadecimal digits, prepared for [`Isa::expand`].
    type Spelling: Copy;

    /// The result of [`Isa::member`].
    type Members: Members;

    /// Makes the capability from a token.
    fn new(token: Self::Token) -> Self;

    /// Prepares `set` for an input of `len` bytes, or for the values of escapes if `len` is 0.
    fn class(self, set: &ByteSet, len: usize) -> Self::Class;

    /// Loads the first `LANES` bytes of `input`. A shorter input is loaded whole, with zeros after it.
    fn load(self, input: &[u8]) -> Self::Block;

    /// Returns the lanes of an input of at most `LANES` bytes that are not members of the set, without building a block.
    /// Returns `None` if a block would be as fast.
    #[cfg_attr(optimized, inline(always))]
    fn lanes_to_escape(self, _input: &[u8], _class: &Self::Class) -> Option<u64> {
        None
    }

    /// Returns the lanes of `block` as an array, with zeros after them.
    fn bytes(self, block: Self::Block) -> [u8; 64];

    /// Returns the lanes that are members of the set.
    fn member(self, block: Self::Block, class: &Self::Class) -> Self::Members;

    /// Looks up the lanes that are members of the set, for [`Isa::found`]. It is for loops over many blocks, in which preparing the
    /// set costs nothing.
    fn look(self, block: Self::Block, class: &Self::Class) -> Self::Look;

    /// Returns the lanes that are members of the set, like [`Isa::member`].
    fn found(self, look: Self::Look) -> Self::Members;

    /// Reports whether all lanes are members of the set. `false` also means that the tier has no check that is faster than
    /// [`Isa::found`].
    #[cfg_attr(optimized, inline(always))]
    fn all_found(self, _: Self::Look) -> bool {
        false
    }

    /// Reports whether all lanes of `blocks` are members of the set. `false` also means that the tier has no check that is
    /// faster than [`Isa::member`].
    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, _: [Self::Block; M], _: &Self::Class) -> bool {
        false
    }

    /// Reports whether `byte` does not occur in an input of at most [`Isa::LONGEST_LOOK`] bytes. `false` also means that the
    /// tier has no check that is faster than loading a block.
    #[cfg_attr(optimized, inline(always))]
    fn lacks(self, _input: &[u8], _byte: u8) -> bool {
        false
    }

    /// Reports whether no lane of `blocks` equals `byte`.
    #[cfg_attr(optimized, inline(always))]
    fn none_equal<const M: usize>(self, blocks: [Self::Block; M], byte: u8) -> bool {
        let mut found = 0;
        for block in blocks {
            found |= self.eq(block, byte);
        }
        found == 0
    }

    /// Reports whether no lane of `block` in `lanes` equals `byte`. `false` may also mean that a lane outside `lanes` equals
    /// it, because some tiers check all lanes, which is faster.
    #[cfg_attr(optimized, inline(always))]
    fn surely_lacks(self, block: Self::Block, byte: u8, lanes: u64) -> bool {
        self.eq(block, byte) & lanes == 0
    }

    /// Writes the numbers of the bits of `mask`, each plus `first`, to the start of `places`, and anything after them.
    #[cfg_attr(optimized, inline(always))]
    fn list(self, mask: u64, first: u32, places: &mut [u32; 64]) {
        let mut bits = mask;
        // Most masks have at most four bits, so the loop ends after its first round.
        for group in places.as_chunks_mut::<4>().0 {
            for place in group {
                *place = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }

    /// Returns the lanes that equal `byte`.
    #[cfg_attr(optimized, inline(always))]
    fn eq(self, block: Self::Block, byte: u8) -> u64 {
        mask(self.bytes(block), |lane| lane == byte)
    }

    /// Returns the lanes that equal `byte` like [`Isa::eq`], but in a general register. On Zen 4, masks go from mask registers to memory as slowly
    /// as to general registers, two cycles each, but by another way, so a loop that stores several masks sends half of them each way.
    #[cfg_attr(optimized, inline(always))]
    fn eq_in_register(self, block: Self::Block, byte: u8) -> u64 {
        self.eq(block, byte)
    }

    /// Returns the members of the set; with `escapes`, also each `%` and the two lanes after it. The two bytes before the block are `before`. Returns
    /// `None` if one of those two lanes has another byte than a hexadecimal digit, or if the tier does not implement this.
    #[cfg_attr(optimized, inline(always))]
    fn staying(
        self,
        _block: Self::Block,
        _class: &Self::Class,
        _escapes: bool,
        _before: [u8; 2],
    ) -> Option<Self::Members> {
        None
    }

    /// Returns the lower-case lanes among those that are hexadecimal digits. The bits of other lanes are unspecified.
    #[cfg_attr(optimized, inline(always))]
    fn lower(self, block: Self::Block) -> u64 {
        mask(self.bytes(block), |lane| lane.is_ascii_lowercase())
    }

    /// Returns `block` with `to` in place of every `from`.
    #[cfg_attr(optimized, inline(always))]
    fn replace(self, block: Self::Block, from: u8, to: u8) -> Self::Block {
        self.load(&self.bytes(block).map(|lane| if lane == from { to } else { lane })[..Self::LANES])
    }

    /// Finds the escapes that start in `block`, which is at the start of `input`.
    ///
    /// Whether a `%` starts an escape depends only on the two bytes after it, and these cannot be `%` themselves. So all lanes
    /// can be checked at once.
    #[cfg_attr(optimized, inline(always))]
    fn escapes(self, block: Self::Block, input: &[u8]) -> Escapes<Self::Block> {
        let mut bytes = [0; 66];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes[Self::LANES..Self::LANES + 2].copy_from_slice(&lookahead::<Self>(input));
        let (mut valid, mut values) = (0, [0; 64]);
        for i in 0..Self::LANES {
            if let Some(value) = hex::unescape(&bytes[i..i + 3]) {
                valid |= 1 << i;
                values[i] = value;
            }
        }
        let values = self.load(&values[..Self::LANES]);
        Escapes { valid, values, decoded: self.select(valid, block, values), marks: block }
    }

    /// Finds the escapes that start in `block`, which the bytes `next` follow.
    #[cfg_attr(optimized, inline(always))]
    fn escapes_before(self, block: Self::Block, next: [u8; 2]) -> Escapes<Self::Block> {
        let mut bytes = [0; 66];
        bytes[..64].copy_from_slice(&self.bytes(block));
        bytes[Self::LANES..Self::LANES + 2].copy_from_slice(&next);
        self.escapes(block, &bytes[..Self::LANES + 2])
    }

    /// Whether a short input is decoded by [`Isa::guess`].
    const GUESSES: bool = false;

    /// Whether [`Isa::guess`] ignores each `%` outside the lanes `here`. If not, callers have to pass the two bytes after the block: without them,
    /// a `%` in the last two lanes counts as wrong.
    const MASKS_GUESSES: bool = false;

    /// Whether an entry point decodes short inputs itself, because it has to save no registers for this. Otherwise it only copies those that
    /// stay unchanged.
    const DECODES_AT_ENTRY: bool = false;

    /// Whether an input of more than half a block and at most one is decoded as two blocks of half the width.
    const HALVES: bool = false;

    /// Decodes `block`, which the bytes `next` follow, as if two hexadecimal digits followed every `%`. No byte after the first two matters, and
    /// missing ones are no digits.
    ///
    /// This takes less time than [`Isa::escapes`], because the lanes to drop do not wait for the digits.
    #[cfg_attr(optimized, inline(always))]
    fn guess(self, block: Self::Block, next: &[u8], _here: u64) -> Guess<Self::Block> {
        let (found, percent) = (self.escapes_before(block, first_two(next)), self.eq(block, b'%'));
        let zeros = self.load(&[0; 64][..Self::LANES]);
        Guess { percent, decoded: found.decoded, wrong: self.select(percent & !found.valid, zeros, block) }
    }

    /// Reports whether one of the guesses is wrong about any lane.
    #[cfg_attr(optimized, inline(always))]
    fn any_wrong<const N: usize>(self, guesses: [&Guess<Self::Block>; N]) -> bool {
        guesses.iter().fold(0, |wrong, guess| wrong | self.correct(guess).0) != 0
    }

    /// Returns the lanes that `guess` is wrong about, and the block with `%` in these lanes.
    #[cfg_attr(optimized, inline(always))]
    fn correct(self, guess: &Guess<Self::Block>) -> (u64, Self::Block) {
        let wrong = mask(self.bytes(guess.wrong), |lane| lane != 0);
        (wrong, self.select(wrong, guess.decoded, self.load(&[b'%'; 64][..Self::LANES])))
    }

    /// Finds the escapes that start in `block`, which the ASCII bytes `next` follow. Those are decoded whose values are members of the set, or
    /// if `members` is false, are not. The set is ASCII, too. `text` is the block to write, which may have other bytes in place of some that
    /// belong to no escape.
    #[cfg_attr(optimized, inline(always))]
    fn some_escapes(
        self,
        block: Self::Block,
        text: Self::Block,
        next: [u8; 2],
        class: &Self::Class,
        members: bool,
    ) -> SomeEscapes<Self::Block> {
        let found = self.escapes_before(block, next);
        let (decoded, text) = self.decode_some(text, &found, class, members);
        SomeEscapes {
            valid: found.valid,
            malformed: self.eq(block, b'%') & !found.valid,
            lower: u64::MAX,
            decoded,
            text,
            values: found.values,
        }
    }

    /// Returns `text` with the values of the escapes in the lanes of `decoded`, all of which come from [`Isa::some_escapes`].
    #[cfg_attr(optimized, inline(always))]
    fn with_values(self, _decoded: u64, text: Self::Block, _values: Self::Block) -> Self::Block {
        text
    }

    /// Whether the tier has [`Isa::decode_dense`].
    const DECODES_DENSE: bool = false;

    /// The least number of escapes in four blocks for which [`Isa::decode_dense`] is faster than decoding each block alone.
    const LEAST_DENSE: usize = 2;

    /// Decodes the four blocks at the start of `input`, as if two hexadecimal digits followed every `%`. Returns the lanes that it
    /// dropped from each block, or with `MASKS` false, anything. If another byte follows a `%`, if `input` ends with these blocks, or if
    /// `out` has too little capacity, returns `None` and writes nothing. `carry` is that of [`digits_of`].
    ///
    /// In dense text this takes less time than [`Isa::escapes`], because four blocks share one check.
    #[cfg_attr(optimized, inline(always))]
    fn decode_dense<const MASKS: bool>(
        self,
        _input: &[u8],
        _carry: &mut u64,
        _out: &mut Cursor<'_>,
    ) -> Option<[u64; 4]> {
        None
    }

    /// Whether the tier decodes runs of escapes by [`Isa::all_escapes`], which is faster than block by block. It requires 64
    /// lanes.
    const DECODES_ALL: bool = false;

    /// Decodes the 64 escapes at the start of `input`. Returns `None` if `input` does not start with 64 escapes.
    #[cfg_attr(optimized, inline(always))]
    fn all_escapes(self, _input: &[u8]) -> Option<Self::Block> {
        None
    }

    /// Returns `block` with the lanes in `mask` taken from `other`.
    #[cfg_attr(optimized, inline(always))]
    fn select(self, mask: u64, block: Self::Block, other: Self::Block) -> Self::Block {
        let (block, other) = (self.bytes(block), self.bytes(other));
        let lanes: [u8; 64] = core::array::from_fn(|i| if mask >> i & 1 != 0 { other[i] } else { block[i] });
        self.load(&lanes[..Self::LANES])
    }

    /// Returns the lanes of the escapes in `block` that are decoded, and the block with their values in these lanes. Those are
    /// the escapes whose values are members of the set, or, if `members` is false, are not.
    #[cfg_attr(optimized, inline(always))]
    fn decode_some(
        self,
        block: Self::Block,
        found: &Escapes<Self::Block>,
        class: &Self::Class,
        members: bool,
    ) -> (u64, Self::Block) {
        let found_members = self.member(found.values, class).mask();
        let decoded = found.valid & if members { found_members } else { !found_members };
        (decoded, self.select(decoded, block, found.values))
    }

    /// Returns `block` with the hexadecimal digits in the lanes of `mask` in upper case. Unless `lower`, the caller expects that these are
    /// in upper case already, and this may set `lower` if not.
    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, block: Self::Block, _lower: &mut bool) -> Self::Block {
        let mut lanes = self.bytes(block);
        for (i, lane) in lanes.iter_mut().enumerate() {
            if mask >> i & 1 != 0 {
                lane.make_ascii_uppercase();
            }
        }
        self.load(&lanes[..Self::LANES])
    }

    /// Computes the ends in the output of sixteen values that end before the lanes `ends` of a batch, in ascending order. Returns
    /// `false` and changes nothing if the tier has no way that is faster than one by one, or if the ends are far apart or too near the
    /// end of the records. The lanes in the masks of these became `1 + by` bytes.
    ///
    /// If `by` is negative, sets bit 0 of `crossing` if a value ends before a lane in a mask.
    #[cfg_attr(optimized, inline(always))]
    fn place(
        self,
        _ends: &[u32; PLACED],
        _records: Records<'_>,
        _by: u32,
        _places: &mut [u32; PLACED],
        _crossing: &mut u64,
    ) -> bool {
        false
    }

    /// Writes the first `lanes` lanes of `block`.
    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: Self::Block, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        out.push_slice(&self.bytes(block)[..lanes.count()]);
    }

    /// Loads the line of the cache that has the byte at `address`, if the tier has an instruction for that. Any address is allowed.
    #[cfg_attr(optimized, inline(always))]
    fn prefetch(self, _address: usize) {}

    /// Writes whole blocks, at most [`MAX_WINDOW`](crate::kernel::cursor::MAX_WINDOW) bytes.
    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(self, blocks: [Self::Block; M], out: &mut Cursor<'_>) {
        for block in blocks {
            self.store(block, Lanes::ALL, out);
        }
    }

    /// Writes the first `lanes` lanes of `block` without those in `drop`, which may include later lanes.
    ///
    /// The lanes in `drop` are pairs of digits, and at least one other lane is between two pairs. The first pair and the last
    /// may have one of their digits outside the block.
    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: Self::Block, drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let bytes = self.bytes(block);
        bits(lanes.mask() & !drop).for_each(|i| out.push_slice(&[bytes[i]]));
    }

    /// Writes the first `lanes` lanes of the first block and then the second block. The capacity is checked once.
    #[cfg_attr(optimized, inline(always))]
    fn store_both(self, blocks: [Self::Block; 2], lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        self.store(blocks[0], lanes, out);
        self.store(blocks[1], Lanes::ALL, out);
    }

    /// Writes the first `lanes` lanes of the first block and then the second block, each without the lanes in its mask, as
    /// [`Isa::compress`] does. The capacity is checked once.
    #[cfg_attr(optimized, inline(always))]
    fn compress_both(
        self,
        blocks: [Self::Block; 2],
        drops: [u64; 2],
        lanes: Lanes<Self>,
        out: &mut Cursor<'_>,
    ) {
        self.compress(blocks[0], drops[0], lanes, out);
        self.compress(blocks[1], drops[1], Lanes::ALL, out);
    }

    /// Prepares the digits in the given case.
    fn spelling(self, case: HexCase) -> Self::Spelling;

    /// Writes the first `lanes` lanes of `block`, with those in `escape` as escapes. In the lanes to escape, `block` equals the
    /// start of `input`; other lanes may have been replaced.
    fn expand(
        self,
        block: Self::Block,
        input: &[u8],
        escape: u64,
        lanes: Lanes<Self>,
        spelling: Self::Spelling,
        out: &mut Cursor<'_>,
    );

    /// Writes the first `lanes` lanes of `block`, with those that are not in `members` as escapes. With `REPLACED`, lanes
    /// in `members` may differ from the start of `input`; without it, all lanes equal it.
    #[cfg_attr(optimized, inline(always))]
    fn expand_non_members<const REPLACED: bool>(
        self,
        block: Self::Block,
        input: &[u8],
        members: Self::Members,
        lanes: Lanes<Self>,
        spelling: Self::Spelling,
        out: &mut Cursor<'_>,
    ) {
        self.expand(block, input, !members.mask() & lanes.mask(), lanes, spelling, out);
    }

    /// Whether [`Isa::expand_all`] is faster than [`Isa::expand`]. It requires 64 lanes.
    const EXPANDS_ALL: bool = false;

    /// Writes all 64 lanes as escapes. `block` equals the start of `input`.
    #[cfg_attr(optimized, inline(always))]
    fn expand_all(self, block: Self::Block, input: &[u8], spelling: Self::Spelling, out: &mut Cursor<'_>) {
        self.expand(block, input, u64::MAX, Lanes::ALL, spelling, out);
    }
}

/// The hexadecimal digits of both cases.
pub(crate) const HEX_DIGITS: ByteSet = ByteSet::from_bytes(b"0123456789ABCDEFabcdef");

/// Returns the number of lanes that the first block of `input` is short, so that all other blocks are whole.
#[cfg_attr(optimized, inline(always))]
fn padding<I: Isa>(input: &[u8]) -> usize {
    input.len().wrapping_neg() % I::LANES
}

/// Returns the mask of the lanes for which `test` holds.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn mask(lanes: [u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    lanes.iter().enumerate().fold(0, |mask, (i, &lane)| mask | u64::from(test(lane)) << i)
}

/// Returns the positions of the bits of `mask`, in ascending order.
#[cfg_attr(optimized, inline(always))]
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

/// Returns the two bytes after the block at the start of `input`. Zeros, which are not digits, replace bytes after its end.
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
/// `carry`. Replaces `carry` by the digits that are in the next block, which begins after these lanes. If a lane of `valid` starts no
/// escape, the result is arbitrary.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn digits_of<I: Isa>(valid: u64, lanes: Lanes<I>, carry: &mut u64) -> u64 {
    // A sum takes fewer instructions than a union, and is the same, because no two of the three masks have a lane in common.
    let digits = valid.wrapping_mul(6).wrapping_add(*carry);
    let last_two = valid.rotate_right(lanes.count().wrapping_sub(2) as u32) & 3;
    *carry = last_two | last_two >> 1;
    digits & Lanes::<I>::ALL.mask()
}
