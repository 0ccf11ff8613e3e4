//! What a tier with a byte shuffle says of one register: a thin trait, of which each method is a few instructions.
//!
//! [`Blocks`](super::blocks::Blocks) makes whole blocks of it, once for all of these tiers. Which lanes are meant is said by
//! *marks*: registers whose lanes are all ones or all zeros. (On AVX2, after [`Vector::unless`], only the top bits are such, and
//! what takes marks looks at no more.)

use core::ops::{BitAnd, BitOr, BitXor};

use super::tables::{DIGITS_OF, PAIRS, Places, Row, SHIFTED, SLIDE, THIRDS};
use crate::kernel::drive::low_mask;

/// A register of bytes. A value exists only where the CPU has the instruction set: it is made by a token or of other values.
///
/// # Safety
///
/// [`Vector::BYTES`] is 16, or 32 and all methods are there that are about parts. No method reads or writes memory but as it says, and all that is written is initialised.
pub(crate) unsafe trait Vector:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    /// The capability.
    type Token: Copy;

    /// The number of lanes.
    const BYTES: usize;

    /// The number of times that sixteen lanes go in a register. They are called its parts, for no shuffle moves a lane from one to
    /// the other.
    const PARTS: usize = Self::BYTES / 16;

    /// Whether lanes that stay are counted, by [`Vector::staying_before`]. If not, sixteen lanes go where those before end, which a
    /// table says.
    const COUNTS_LANES: bool = true;

    /// The same for the groups of [`Vector::write_group`].
    const COUNTS_GROUPS: bool = false;

    /// Whether the bytes after a block are worth a register of their own.
    const LOADS_NEXT: bool = false;

    /// Whether a mask takes longer than other ways to see that it is empty.
    const MASKS_ARE_SLOW: bool = false;

    /// How many bytes [`Vector::write_group`] writes at most.
    const GROUP: usize = 24;

    // -- Memory

    /// # Safety
    ///
    /// [`Vector::BYTES`] are readable.
    unsafe fn load(token: Self::Token, from: *const u8) -> Self;

    /// Sixteen bytes from each of two places. Of a register that has no more than sixteen, eight.
    ///
    /// # Safety
    ///
    /// They are readable.
    unsafe fn load_halves(token: Self::Token, low: *const u8, high: *const u8) -> Self;

    /// Register `i` of the `of` registers of a partial block; zeros after the end.
    ///
    /// # Safety
    ///
    /// `i < of`, and `input` has at least sixteen bytes and fewer than the block.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn load_partial(token: Self::Token, input: &[u8], i: usize, of: usize) -> Self {
        const { assert!(Self::BYTES == 16) };
        let (start, down) = slide(input.len(), i, of);
        // SAFETY: `start + 16 <= len`, and at most 48 lanes come before the last sixteen.
        unsafe {
            let bytes = Self::load(token, input.as_ptr().add(start));
            if i == 0 { bytes } else { bytes.shuffle(Self::load(token, SLIDE.as_ptr().add(down))) }
        }
    }

    /// # Safety
    ///
    /// [`Vector::BYTES`] are writable.
    unsafe fn store(self, to: *mut u8);

    /// Stores one of the parts.
    ///
    /// # Safety
    ///
    /// Sixteen bytes are writable, and `part < PARTS`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn store_part(self, _part: usize, to: *mut u8) {
        const { assert!(Self::BYTES == 16) };
        // SAFETY: a register has sixteen bytes, and the caller vouches for as many.
        unsafe { self.store(to) };
    }

    // -- Registers of constants

    /// A byte in all lanes.
    fn splat(token: Self::Token, byte: u8) -> Self;

    /// Sixteen bytes in each part.
    #[cfg_attr(optimized, inline(always))]
    fn table(token: Self::Token, bytes: &[u8; 16]) -> Self {
        const { assert!(Self::BYTES == 16) };
        // SAFETY: a register has as many bytes as the array.
        unsafe { Self::load(token, bytes.as_ptr()) }
    }

    /// Two words, little-endian, in the first part, and zeros.
    fn words(token: Self::Token, low: u64, high: u64) -> Self;

    /// Marks the lanes of `mask`, from lane `BYTES * i` on.
    fn spread(token: Self::Token, mask: u64, i: usize) -> Self;

    // -- Lanes

    /// The high half of each byte.
    fn high_half(self) -> Self;

    /// Marks the lanes that are equal.
    fn eq(self, other: Self) -> Self;

    /// Marks the lanes above those of `other`, all of these below 0x80.
    fn above(self, other: Self) -> Self;

    /// The lesser of each two unsigned bytes.
    fn min(self, other: Self) -> Self;

    /// The sum of each two unsigned bytes, at most 255.
    fn add_saturating(self, other: Self) -> Self;

    /// The lanes without the bits of `bits`.
    fn without(self, bits: Self) -> Self;

    /// The lanes of `self` at `places` within their part, each below 16, or zero where it is above 0x7F.
    fn shuffle(self, places: Self) -> Self;

    /// The lanes of `self` at the low half of each of `bytes`, or zero where that is above 0x7F.
    fn look_up(self, bytes: Self) -> Self;

    /// `other` in the marked lanes.
    #[cfg_attr(optimized, inline(always))]
    fn blend(self, marks: Self, other: Self) -> Self {
        marks & other | self.without(marks)
    }

    /// Where the top bit of `bad` is clear, these marks.
    fn unless(self, bad: Self) -> Self;

    /// The lanes from `BY` on, and then the first of `next`.
    fn after<const BY: i32>(self, next: Self) -> Self;

    /// The values that two digits spell, of which the low halves are those of the digits.
    #[cfg_attr(optimized, inline(always))]
    fn value(first: Self, second: Self, token: Self::Token) -> Self {
        Self::table(token, &SHIFTED).look_up(first) | second & Self::splat(token, 0x0F)
    }

    /// The block, with the values that digits spell in the marked lanes, all of which are `%`.
    #[cfg_attr(optimized, inline(always))]
    fn decoded(self, first: Self, second: Self, marks: Self, token: Self::Token) -> Self {
        self.blend(marks, Self::value(first, second, token))
    }

    // -- Answers

    /// The marked lanes.
    fn mask<const N: usize>(marks: [Self; N]) -> u64;

    /// Whether a lane is marked.
    #[cfg_attr(optimized, inline(always))]
    fn any(self) -> bool {
        Self::mask([self]) != 0
    }

    /// Whether no lane is zero.
    #[cfg_attr(optimized, inline(always))]
    fn all_nonzero(self) -> bool {
        !self.eq(self.without(self)).any()
    }

    // -- Removing lanes

    /// Writes the lanes of a part at these places of it.
    ///
    /// # Safety
    ///
    /// Sixteen bytes are writable, and `part < PARTS`.
    unsafe fn write_places(self, part: usize, places: &Places, to: *mut u8);

    /// How many of the first `16 * i` lanes are not in `drop`; at most all of these.
    #[cfg_attr(optimized, inline(always))]
    fn staying_before(_token: Self::Token, drop: u64, i: usize) -> usize {
        (low_mask(16 * i) & !drop).count_ones() as usize
    }

    // -- Escapes

    /// In the form in which [`Vector::write_group`] and [`Vector::place`] take bytes. A shuffle gives zero for `%`, so the bits of that
    /// are flipped in all that is shuffled, and then back.
    #[cfg_attr(optimized, inline(always))]
    fn prepared(self, token: Self::Token) -> Self {
        self ^ Self::splat(token, b'%')
    }

    /// Prepared bytes at `places`, and `%` where these say so.
    #[cfg_attr(optimized, inline(always))]
    fn place(self, places: Self, token: Self::Token) -> Self {
        self.shuffle(places) ^ Self::splat(token, b'%')
    }

    /// The first eight lanes of each part of `self` and then those of `other`.
    fn first_eights(self, other: Self) -> Self;

    /// The last eight lanes of each part of `self` and then those of `other`.
    fn last_eights(self, other: Self) -> Self;

    /// The first eight lanes of each part of `self` and of `other`, in turn.
    fn first_pairs(self, other: Self) -> Self;

    /// The last eight lanes of each part of `self` and of `other`, in turn.
    fn last_pairs(self, other: Self) -> Self;

    /// The last eight lanes of each part, and then the first eight of `next`.
    fn after_eight(self, next: Self) -> Self;

    /// Whether a group of eight lanes has more than four escapes, which are those in `escape`. Each lane of it is marked.
    fn is_dense<const N: usize>(token: Self::Token, marks: [Self; N], escape: u64) -> bool;

    /// Writes a group as a row of [`EXPAND`](super::tables::EXPAND) says, of the prepared sources in a part: eight bytes, or the
    /// high digits of those to escape, and eight low digits. There are at most four escapes unless `DENSE`.
    ///
    /// # Safety
    ///
    /// [`Vector::GROUP`] bytes are writable, and `part < PARTS`.
    unsafe fn write_group<const DENSE: bool>(self, part: usize, row: &Row, to: *mut u8, token: Self::Token);

    /// Writes each lane as an escape, of the prepared digits.
    ///
    /// # Safety
    ///
    /// Three times as many bytes are writable.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_escapes(high: Self, low: Self, to: *mut u8, token: Self::Token) {
        // The digits of eight lanes each, from lane 0, 4 and 8 on.
        let (first, last) = (high.first_pairs(low), high.last_pairs(low));
        let pairs = [first, first.after_eight(last), last];
        for j in 0..3 {
            let bytes = pairs[j].place(Self::table(token, &PAIRS[j]), token);
            for part in 0..Self::PARTS {
                // SAFETY: three times sixteen bytes are writable for each part.
                unsafe { bytes.store_part(part, to.add(48 * part + 16 * j)) };
            }
        }
    }

    /// Of three times as many bytes as a register has, the first, the second and the third of each three, all in the same order; of
    /// the first, in any order.
    ///
    /// # Safety
    ///
    /// They are readable.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn thirds(token: Self::Token, from: *const u8) -> [Self; 3] {
        const { assert!(Self::BYTES == 16) };
        let mut parts = [Self::splat(token, 0); 3];
        for j in 0..3 {
            // SAFETY: the caller vouches for them.
            parts[j] = unsafe { Self::load(token, from.add(16 * j)) };
        }
        let mut digits = [Self::splat(token, 0); 2];
        for k in 0..2 {
            for j in 0..3 {
                digits[k] = digits[k] | parts[j].shuffle(Self::table(token, &DIGITS_OF[k][j]));
            }
        }
        // The places of the first in the three registers differ, so that all fill one.
        let others = [Self::table(token, &THIRDS[0][0]), Self::table(token, &THIRDS[0][1])];
        let percent = parts[0].without(others[0] | others[1]) | parts[1] & others[0] | parts[2] & others[1];
        [percent, digits[0], digits[1]]
    }

    /// Lanes in the order of [`Vector::thirds`] in their own.
    #[cfg_attr(optimized, inline(always))]
    fn in_order(self, _token: Self::Token) -> Self {
        self
    }
}

/// Where sixteen bytes of a partial block come from that has `of` times as many: those from lane `16 * i` on or the last, and by how
/// many lanes these are to be slid down.
#[cfg_attr(optimized, inline(always))]
pub(super) fn slide(len: usize, i: usize, of: usize) -> (usize, usize) {
    let last = len.saturating_sub(16);
    let start = if i + 1 == of { last } else { last.min(16 * i) };
    (start, 16 * i - start)
}

/// Methods of a register that are one intrinsic each, of one or more registers.
macro_rules! each_one_intrinsic {
    ($($name:ident($($other:ident),*) = $intrinsic:expr;)*) => {
        $(
            #[cfg_attr(optimized, inline(always))]
            fn $name(self $(, $other: Self)*) -> Self {
                // SAFETY: a value exists only where the CPU has the instruction.
                #[allow(unused_unsafe, reason = "on WebAssembly it is safe")]
                Self(unsafe { $intrinsic(self.0 $(, $other.0)*) })
            }
        )*
    };
}

/// The operators of a register, one intrinsic each.
macro_rules! operators {
    ($register:ident: $($operator:ident $name:ident = $intrinsic:expr;)*) => {
        $(
            impl core::ops::$operator for $register {
                type Output = Self;
                #[cfg_attr(optimized, inline(always))]
                fn $name(self, other: Self) -> Self {
                    // SAFETY: a value exists only where the CPU has the instruction.
                    #[allow(unused_unsafe, reason = "on WebAssembly it is safe")]
                    Self(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        )*
    };
}

pub(super) use {each_one_intrinsic, operators};
