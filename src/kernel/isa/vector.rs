//! One register of bytes, for the tiers (instruction sets) that have a byte shuffle. Each method of the trait is a few
//! instructions.
//!
//! [`Blocks`](super::blocks::Blocks) builds whole blocks from it, once for all of these tiers. A method that selects lanes returns or takes
//! *marks*: registers whose lanes are all ones or all zeros. (On AVX2, [`Vector::clear_marked`] defines only the top bit of
//! each lane. [`Vector::blend`] and [`Vector::mask`] read only that bit.) "lab: NAME" names the page docs/lab/DATE-NAME.md.

use core::ops::{BitAnd, BitOr, BitXor};

use super::tables::{DIGITS_OF, PAIRS, Places, Row, SHIFTED, SLIDE, THIRDS};
use crate::kernel::drive::low_mask;

/// A register of bytes. A value exists only if the CPU has the instruction set, because only a token or another value can make
/// one.
///
/// # Safety
///
/// [`Vector::BYTES`] is 16, or it is 32 and the type overrides all default methods that work on one part only. Methods read and
/// write only the memory that their documentation names, and initialise all bytes that it says are written. [`Vector::eq`] makes
/// lanes of all ones or all zeros. [`Vector::spread`], [`Vector::mask`], [`Vector::is_dense`] and [`Vector::staying_before`]
/// return exactly the documented values. From all these, `Blocks` computes how many bytes are initialised. No type overrides
/// [`Vector::PARTS`].
pub(crate) unsafe trait Vector:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    /// The token that proves that the CPU has the instruction set.
    type Token: Copy;

    /// The number of lanes.
    const BYTES: usize;

    /// The number of 16-byte parts in a register. No shuffle moves a lane from one part to another.
    const PARTS: usize = Self::BYTES / 16;

    /// Whether [`Blocks`](super::blocks::Blocks) computes the output offset of each sixteen lanes by
    /// [`Vector::staying_before`] when it removes lanes. If not, it adds up the lengths in the entries of the shuffle
    /// table, so each sixteen lanes wait for those before them (lab: avx2-ssse3).
    const COUNTS_LANES: bool = true;

    /// Whether [`Blocks`](super::blocks::Blocks) computes the output offset of each group of [`Vector::write_group`]
    /// from the number of escapes before it. If not, it adds up the lengths in the rows of the table `EXPAND`, so each
    /// group waits for the group before it (lab: avx2-ssse3).
    const COUNTS_GROUPS: bool = false;

    /// Whether [`Vector::mask`] takes many more instructions than [`Vector::all_nonzero`] (lab: ladders). Then text
    /// without bytes to escape is recognised without a mask, and decoding many escapes makes one mask for each block,
    /// not one for each register.
    const MASKS_ARE_SLOW: bool = false;

    /// The largest number of bytes that [`Vector::write_group`] writes.
    const GROUP_WINDOW: usize = 24;

    // -- Memory

    /// Loads a register.
    ///
    /// # Safety
    ///
    /// [`Vector::BYTES`] bytes are readable at `from`.
    unsafe fn load(token: Self::Token, from: *const u8) -> Self;

    /// Loads the lower half of the register from `low` and the upper half from `high`.
    ///
    /// # Safety
    ///
    /// `BYTES / 2` bytes are readable at `low` and as many at `high`.
    unsafe fn load_halves(token: Self::Token, low: *const u8, high: *const u8) -> Self;

    /// Loads register `i` of a partial block, which has `of` registers. Lanes after the end of `input` are zero.
    ///
    /// # Safety
    ///
    /// `i < of`, the block has at most 64 lanes, and `input` has at least sixteen bytes and fewer than the block has lanes.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_partial(token: Self::Token, input: &[u8], i: usize, of: usize) -> Self {
        const { assert!(Self::BYTES == 16) };
        let (start, down) = slide(input.len(), i, of);
        // SAFETY: the input has at least sixteen bytes, so `start + 16 <= len` by [`slide`]. A block of at most 64 lanes has at most
        // four registers, so `down` is at most 48, and `SLIDE` has 64 bytes.
        unsafe {
            let bytes = Self::load(token, input.as_ptr().add(start));
            if i == 0 { bytes } else { bytes.shuffle(Self::load(token, SLIDE.as_ptr().add(down))) }
        }
    }

    /// Stores the register.
    ///
    /// # Safety
    ///
    /// [`Vector::BYTES`] bytes are writable at `to`.
    unsafe fn store(self, to: *mut u8);

    /// Stores one of the 16-byte parts.
    ///
    /// # Safety
    ///
    /// Sixteen bytes are writable at `to`, and `part < PARTS`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn store_part(self, _part: usize, to: *mut u8) {
        const { assert!(Self::BYTES == 16) };
        // SAFETY: a register has sixteen bytes by the assertion above, and the caller guarantees that sixteen are writable at
        // `to`.
        unsafe { self.store(to) };
    }

    // -- Registers of constants

    /// Returns a register with `byte` in all lanes.
    fn splat(token: Self::Token, byte: u8) -> Self;

    /// Returns a register with the sixteen bytes in each part.
    #[cfg_attr(optimized, inline(always))]
    fn table(token: Self::Token, bytes: &[u8; 16]) -> Self {
        const { assert!(Self::BYTES == 16) };
        // SAFETY: the array has sixteen bytes, and so has a register by the assertion above.
        unsafe { Self::load(token, bytes.as_ptr()) }
    }

    /// Returns a register with the two words, little-endian, in its first part, and zeros after them.
    fn words(token: Self::Token, low: u64, high: u64) -> Self;

    /// Returns marks for register `i` of a block: the lanes whose bits are set in `mask`, from bit `BYTES * i` on.
    fn spread(token: Self::Token, mask: u64, i: usize) -> Self;

    // -- Lanes

    /// Returns the high half of each byte, shifted down.
    fn high_half(self) -> Self;

    /// Marks the lanes that equal the same lanes of `other`.
    fn eq(self, other: Self) -> Self;

    /// Marks the lanes that are greater than the same lanes of `other`. Lanes of 0x80 and above give an arbitrary result.
    fn above(self, other: Self) -> Self;

    /// Returns the lesser of each two unsigned bytes.
    fn min(self, other: Self) -> Self;

    /// Returns the sum of each two unsigned bytes, at most 255.
    fn add_saturating(self, other: Self) -> Self;

    /// Returns the lanes with the bits of `bits` cleared.
    fn without(self, bits: Self) -> Self;

    /// Returns, for each index in `places`, the lane of `self` at that index of the same part, or zero for an index
    /// above 0x7F. Other indices are below 16, except in lanes whose results are not used.
    fn shuffle(self, places: Self) -> Self;

    /// Returns, for each of `bytes`, the lane of `self` at the index in its low half, or zero if the byte is above 0x7F.
    fn look_up(self, bytes: Self) -> Self;

    /// Returns `self` with the marked lanes taken from `other`.
    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Self, other: Self) -> Self {
        marks & other | self.without(marks)
    }

    /// Returns the marks in `self` without those of lanes whose top bit is set in `bad`.
    fn clear_marked(self, bad: Self) -> Self;

    /// Returns the lanes from lane `BY` on, followed by the first `BY` lanes of `next`.
    fn after<const BY: i32>(self, next: Self) -> Self;

    /// Returns the bytes that pairs of hexadecimal digits spell. `first` and `second` have the values of the first and
    /// of the second digits, each in the low half of its lane.
    #[cfg_attr(optimized, inline(always))]
    fn value(first: Self, second: Self, token: Self::Token) -> Self {
        Self::table(token, &SHIFTED).look_up(first) | second & Self::splat(token, 0x0F)
    }

    /// Returns `self` with the byte that `first` and `second` spell in each marked lane. All marked lanes are `%`.
    #[cfg_attr(optimized, inline(always))]
    fn decoded(self, first: Self, second: Self, marks: Self, token: Self::Token) -> Self {
        self.blend(marks, Self::value(first, second, token))
    }

    // -- Checks

    /// Returns the marked lanes of `N` registers as a mask.
    fn mask<const N: usize>(marks: [Self; N]) -> u64;

    /// Reports whether any lane is marked.
    #[cfg_attr(optimized, inline(always))]
    fn any(self) -> bool {
        Self::mask([self]) != 0
    }

    /// Reports whether no lane is zero.
    #[cfg_attr(optimized, inline(always))]
    fn all_nonzero(self) -> bool {
        !self.eq(self.without(self)).any()
    }

    // -- Removing lanes

    /// Writes sixteen bytes: the lanes of a part at the indices in `places`.
    ///
    /// # Safety
    ///
    /// Sixteen bytes are writable at `to`, and `part < PARTS`.
    unsafe fn write_places(self, part: usize, places: &Places, to: *mut u8);

    /// Returns how many of the first `16 * i` lanes of a block are not in `drop`.
    #[cfg_attr(optimized, inline(always))]
    fn staying_before(_token: Self::Token, drop: u64, i: usize) -> usize {
        (low_mask(16 * i) & !drop).count_ones() as usize
    }

    // -- Escapes

    /// Returns the register in the form that [`Vector::write_group`] and [`Vector::shuffle_prepared`] need. By default, each lane is xored
    /// with `%`. A shuffle gives zero for a lane that is not copied, and the xor after the shuffle turns that zero into `%`.
    #[cfg_attr(optimized, inline(always))]
    fn prepared(self, token: Self::Token) -> Self {
        self ^ Self::splat(token, b'%')
    }

    /// Shuffles a prepared register by `places` and undoes the preparation, so the index
    /// [`PERCENT`](super::tables::PERCENT) gives `%`. There is no other index above 0x7F.
    #[cfg_attr(optimized, inline(always))]
    fn shuffle_prepared(self, places: Self, token: Self::Token) -> Self {
        self.shuffle(places) ^ Self::splat(token, b'%')
    }

    /// Returns, for each part, its first eight lanes of `self` and then those of `other`.
    fn first_eights(self, other: Self) -> Self;

    /// Returns, for each part, its last eight lanes of `self` and then those of `other`.
    fn last_eights(self, other: Self) -> Self;

    /// Interleaves, for each part, its first eight lanes of `self` and of `other`.
    fn first_pairs(self, other: Self) -> Self;

    /// Interleaves, for each part, its last eight lanes of `self` and of `other`.
    fn last_pairs(self, other: Self) -> Self;

    /// Returns, for each part, its last eight lanes and then the first eight of the same part of `next`.
    fn concat_high_low(self, next: Self) -> Self;

    /// Returns `true` if any group of eight lanes has more than four escapes. `escape` is the mask of the lanes to escape, and
    /// `marks` marks all of them. If `marks` marks more lanes, the result may be `true` because of these, too.
    fn is_dense<const N: usize>(token: Self::Token, marks: [Self; N], escape: u64) -> bool;

    /// Writes a group of eight lanes in the order that a row of [`EXPAND`](super::tables::EXPAND) gives. The part holds
    /// prepared bytes: the eight lanes, with the high digit in each lane to escape, and then the low digits. Unless `DENSE`,
    /// the group has at most four escapes.
    ///
    /// # Safety
    ///
    /// [`Vector::GROUP_WINDOW`] bytes are writable at `to`, and `part < PARTS`.
    unsafe fn write_group<const DENSE: bool>(self, part: usize, row: &Row, to: *mut u8, token: Self::Token);

    /// Writes each lane as an escape. `high` and `low` are its prepared digits.
    ///
    /// # Safety
    ///
    /// `3 * BYTES` bytes are writable at `to`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_escapes(high: Self, low: Self, to: *mut u8, token: Self::Token) {
        // Each of `pairs` has the digits of eight lanes, from lane 0, 4 or 8 on.
        let (first, last) = (high.first_pairs(low), high.last_pairs(low));
        let pairs = [first, first.concat_high_low(last), last];
        for j in 0..3 {
            let bytes = pairs[j].shuffle_prepared(Self::table(token, &PAIRS[j]), token);
            for part in 0..Self::PARTS {
                // SAFETY: `48 * part + 16 * j + 16 <= 48 * PARTS`, and the caller guarantees `3 * BYTES = 48 * PARTS` writable
                // bytes.
                unsafe { bytes.store_part(part, to.add(48 * part + 16 * j)) };
            }
        }
    }

    /// Loads `3 * BYTES` bytes as triples and returns their first, second and third bytes. The second and the third bytes have
    /// the same order, which [`Vector::in_order`] turns into that of the triples. The first bytes may have any order.
    ///
    /// # Safety
    ///
    /// `3 * BYTES` bytes are readable at `from`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn thirds(token: Self::Token, from: *const u8) -> [Self; 3] {
        const { assert!(Self::BYTES == 16) };
        let mut parts = [Self::splat(token, 0); 3];
        for j in 0..3 {
            // SAFETY: the caller guarantees `3 * BYTES` readable bytes at `from`, and `BYTES` is 16 by the assertion above.
            parts[j] = unsafe { Self::load(token, from.add(16 * j)) };
        }
        let mut digits = [Self::splat(token, 0); 2];
        for k in 0..2 {
            for j in 0..3 {
                digits[k] = digits[k] | parts[j].shuffle(Self::table(token, &DIGITS_OF[k][j]));
            }
        }
        // The first bytes of the triples are in different lanes of each of the three registers, so together they fill
        // one register.
        let others = [Self::table(token, &THIRDS[0][0]), Self::table(token, &THIRDS[0][1])];
        let percent = parts[0].without(others[0] | others[1]) | parts[1] & others[0] | parts[2] & others[1];
        [percent, digits[0], digits[1]]
    }

    /// Returns lanes in the order of the triples, if they are in the order that [`Vector::thirds`] returns.
    #[cfg_attr(optimized, inline(always))]
    fn in_order(self, _token: Self::Token) -> Self {
        self
    }
}

/// Returns the input offset to load sixteen lanes of a partial block from, and by how many lanes to slide them down after the
/// load. A block has `of` times sixteen lanes, and those of index `i` start at lane `16 * i`. The load never passes the end of
/// the input.
#[cfg_attr(optimized, inline(always))]
pub(super) fn slide(len: usize, i: usize, of: usize) -> (usize, usize) {
    let last = len.saturating_sub(16);
    let start = if i + 1 == of { last } else { last.min(16 * i) };
    (start, 16 * i - start)
}

/// Defines methods of a register that are one intrinsic each. `$other` are the registers besides `self`.
macro_rules! each_one_intrinsic {
    ($($name:ident($($other:ident),*) = $intrinsic:expr;)*) => {
        $(
            #[cfg_attr(optimized, inline(always))]
            fn $name(self $(, $other: Self)*) -> Self {
                // SAFETY: a value exists only if the CPU has the instruction set of the intrinsic.
                #[allow(unused_unsafe, reason = "on WebAssembly it is safe")]
                Self(unsafe { $intrinsic(self.0 $(, $other.0)*) })
            }
        )*
    };
}

/// Implements operators of a register, each by one intrinsic.
macro_rules! operators {
    ($register:ident: $($operator:ident $name:ident = $intrinsic:expr;)*) => {
        $(
            impl core::ops::$operator for $register {
                type Output = Self;
                super::vector::each_one_intrinsic! { $name(other) = $intrinsic; }
            }
        )*
    };
}

pub(super) use {each_one_intrinsic, operators};
