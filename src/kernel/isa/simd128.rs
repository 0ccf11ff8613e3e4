//! WebAssembly's simd128: 64 lanes in four registers.
//!
//! The algorithms are those of SSSE3. Arithmetic on vectors is safe here: a module with an instruction that the engine
//! lacks is rejected as a whole before it runs, so there is nothing to detect, and the tier exists only in builds
//! that enable the feature. Only loads and stores are unsafe.

use core::arch::wasm32::*;

use super::tables::{BITS, EXPAND, PAIRS, SLIDE, count, counts_below, without_digits};
use super::token::Simd128;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, OneKind, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

type Block = [v128; 4];

/// The rows of a set: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    ascii: v128,
    high: v128,
    is_ascii: bool,
}

impl Simd128 {
    #[inline(always)]
    fn sixteen(self, bytes: &[u8; 16]) -> v128 {
        // SAFETY: sixteen bytes are readable.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> v128 {
        u8x16_splat(byte)
    }

    /// The lanes, of four registers of lanes that are all ones or all zeros, as a mask.
    #[inline(always)]
    fn mask(self, quarters: Block) -> u64 {
        let [a, b, c, d] = each!(quarters, |quarter| u64::from(u8x16_bitmask(quarter)));
        a | b << 16 | c << 32 | d << 48
    }

    /// The row of each ASCII byte in `rows`; an empty row for the others, whose place is out of range.
    #[inline(always)]
    fn row(self, rows: v128, quarter: v128) -> v128 {
        u8x16_swizzle(rows, v128_and(quarter, self.all(0x8F)))
    }

    /// All ones in the lanes whose bit is set in their row.
    #[inline(always)]
    fn in_row(self, row: v128, quarter: v128) -> v128 {
        let bit = u8x16_swizzle(self.sixteen(&BITS), u8x16_shr(quarter, 4));
        u8x16_eq(v128_and(row, bit), bit)
    }

    /// All ones in the lanes of members of the set.
    #[inline(always)]
    fn members(self, block: Block, class: &Class) -> Block {
        if class.is_ascii {
            return each!(block, |quarter| self.in_row(self.row(class.ascii, quarter), quarter));
        }
        each!(block, |quarter| {
            let high = self.row(class.high, v128_xor(quarter, self.all(0x80)));
            self.in_row(v128_or(self.row(class.ascii, quarter), high), quarter)
        })
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> Block {
        let (bytes, bits) = (u64x2_splat(mask), self.sixteen(&BITS));
        let halves = u64x2(0, 0x0101_0101_0101_0101);
        each!(|i| {
            let byte_of_lane = u8x16_add(halves, self.all(2 * i));
            u8x16_eq(v128_and(u8x16_swizzle(bytes, byte_of_lane), bits), bits)
        })
    }

    /// All ones in the lanes above `byte`.
    #[inline(always)]
    fn above(self, quarter: v128, byte: u8) -> v128 {
        u8x16_gt(quarter, self.all(byte))
    }

    /// The value of each hexadecimal digit; 16 or more in the other lanes.
    #[inline(always)]
    fn digits(self, quarter: v128) -> v128 {
        // `0` to `9` become 0xF6 to 0xFF, and all below them less: saturating parts them from the others.
        let decimal = u8x16_sub_sat(u8x16_add(quarter, self.all(0xFF - b'9')), self.all(6));
        let decimal = u8x16_sub(decimal, self.all(0xF0));
        let letter = u8x16_sub(v128_and(quarter, self.all(!0x20)), self.all(b'A'));
        u8x16_min(decimal, u8x16_add_sat(letter, self.all(10)))
    }

    #[inline(always)]
    fn load_partial(self, input: &[u8]) -> Block {
        let len = input.len();
        if len < 16 {
            let [low, high] = words(input);
            let zero = self.all(0);
            return [u64x2(low, high), zero, zero, zero];
        }
        each!(|i| {
            // Sixteen bytes from where the quarter starts, or the last sixteen, slid down to its start.
            let start = (16 * i).min(len - 16);
            let slide = (16 * i - start).min(16);
            // SAFETY: `start + 16 <= len` and `slide + 16 <= 32`.
            unsafe {
                let bytes = v128_load(input.as_ptr().add(start).cast());
                u8x16_swizzle(bytes, v128_load(SLIDE.as_ptr().add(slide).cast()))
            }
        })
    }

    /// The bytes that `places` takes from `bytes`, and `%` where it says so.
    #[inline(always)]
    fn place(self, bytes: v128, places: v128) -> v128 {
        v128_or(u8x16_swizzle(bytes, places), u8x16_sub_sat(places, self.all(0x80)))
    }

    /// Writes 24 bytes to `window`, of which those count that `mask` places: `bytes` holds eight, or the high
    /// digits of those in `mask`, and then the eight low digits.
    ///
    /// # Safety
    ///
    /// The window has 24 bytes.
    #[inline(always)]
    unsafe fn expand_eight(self, bytes: v128, mask: u8, window: *mut u8) {
        let row = &EXPAND[usize::from(mask)].0;
        // SAFETY: a row has 32 bytes, and the caller gives room for 24.
        unsafe {
            v128_store(window.cast(), self.place(bytes, v128_load(row.as_ptr().cast())));
            let behind = self.place(bytes, v128_load(row.as_ptr().add(16).cast()));
            v128_store64_lane::<0>(behind, window.add(16).cast());
        }
    }
}

impl OneKind for Simd128 {}

impl Isa for Simd128 {
    const LANES: usize = 64;
    const EXPANDS_ALL: bool = true;
    type Block = Block;
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { ascii: self.sixteen(ascii), high: self.sixteen(high), is_ascii: set.is_ascii() }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Block {
        match input.first_chunk::<64>() {
            // SAFETY: 64 bytes are readable.
            Some(bytes) => each!(|i| unsafe { v128_load(bytes.as_ptr().cast::<v128>().add(i)) }),
            None => self.load_partial(input),
        }
    }

    #[inline(always)]
    fn strays(self, input: &[u8], class: &Class) -> Option<u64> {
        let len = input.len();
        if !(17..=64).contains(&len) {
            return None;
        }
        // Four pieces, which overlap, as in `lacks`.
        let second = len / 32 * 16;
        let starts = [0, second, len - 16 - second, len - 16];
        let pieces = each!(starts, |at| {
            // SAFETY: sixteen bytes are readable at each of these.
            unsafe { v128_load(input.as_ptr().add(at).cast()) }
        });
        let members = self.members(pieces, class);
        let [a, b, c, d] = members;
        if u8x16_all_true(v128_and(v128_and(a, b), v128_and(c, d))) {
            return Some(0);
        }
        let mask = self.mask(members);
        let [a, b, c, d] = each!(|i| ((mask >> (16 * i)) & 0xFFFF) << starts[i]);
        Some(!(a | b | c | d) & first(len))
    }

    #[inline(always)]
    fn bytes(self, block: Block) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (quarter, out) in block.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
            // SAFETY: sixteen bytes are writable.
            unsafe { v128_store(out.as_mut_ptr().cast(), quarter) };
        }
        bytes
    }

    #[inline(always)]
    fn member(self, block: Block, class: &Class) -> u64 {
        self.mask(self.members(block, class))
    }

    #[inline(always)]
    fn all_members<const M: usize>(self, blocks: [Block; M], class: &Class) -> bool {
        let mut all = self.all(0xFF);
        for block in blocks {
            let [a, b, c, d] = self.members(block, class);
            all = v128_and(all, v128_and(v128_and(a, b), v128_and(c, d)));
        }
        u8x16_all_true(all)
    }

    #[inline(always)]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let (len, byte) = (input.len(), self.all(byte));
        let found = if len < 16 {
            let [low, high] = words(input);
            // The zeros after the input are not looked for.
            u8x16_eq(u64x2(low, high), byte)
        } else if len <= 64 {
            // Four pieces, which overlap: no branch is about how many there are.
            let second = len / 32 * 16;
            let [a, b, c, d] = each!([0, second, len - 16 - second, len - 16], |at| {
                // SAFETY: sixteen bytes are readable at each of these.
                u8x16_eq(unsafe { v128_load(input.as_ptr().add(at).cast()) }, byte)
            });
            v128_or(v128_or(a, b), v128_or(c, d))
        } else {
            return false;
        };
        !v128_any_true(found)
    }

    #[inline(always)]
    fn eq(self, block: Block, byte: u8) -> u64 {
        self.mask(each!(block, |quarter| u8x16_eq(quarter, self.all(byte))))
    }

    #[inline(always)]
    fn lower(self, block: Block) -> u64 {
        self.mask(each!(block, |quarter| self.above(quarter, b'Z')))
    }

    #[inline(always)]
    fn replace(self, block: Block, from: u8, to: u8) -> Block {
        each!(block, |quarter| v128_bitselect(self.all(to), quarter, u8x16_eq(quarter, self.all(from))))
    }

    #[inline(always)]
    fn escapes(self, block: Block, input: &[u8]) -> Escapes<Block> {
        let behind = behind::<Self>(input);
        let digits = each!(block, |quarter| self.digits(quarter));
        let next = u16x8_splat(u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]));
        let behind = [digits[1], digits[2], digits[3], next];
        let first = each!(|i| {
            u8x16_shuffle::<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>(digits[i], behind[i])
        });
        let second = each!(|i| {
            u8x16_shuffle::<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17>(digits[i], behind[i])
        });
        // Engines have the 16-bit shift as one instruction; it would move what is above the digits into the next byte.
        let values = each!(|i| v128_or(u16x8_shl(v128_and(first[i], self.all(0x0F)), 4), second[i]));
        let valid = each!(|i| {
            let digits = u8x16_le(v128_or(first[i], second[i]), self.all(0x0F));
            v128_and(digits, u8x16_eq(block[i], self.all(b'%')))
        });
        let decoded = each!(|i| v128_bitselect(values[i], block[i], valid[i]));
        Escapes { valid: self.mask(valid), values, decoded, lanes: block }
    }

    #[inline(always)]
    fn select(self, mask: u64, block: Block, other: Block) -> Block {
        let mask = self.spread(mask);
        each!(|i| v128_bitselect(other[i], block[i], mask[i]))
    }

    #[inline(always)]
    fn upper(self, mask: u64, block: Block) -> Block {
        let mask = self.spread(mask);
        // Of the digits, only lower-case letters are above `Z`.
        each!(|i| {
            let lower = v128_and(self.above(block[i], b'Z'), mask[i]);
            v128_andnot(block[i], v128_and(lower, self.all(0x20)))
        })
    }

    #[inline(always)]
    fn store(self, block: Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage).cast::<v128>();
        // SAFETY: the window has 64 bytes, which are all written, and `lanes <= 64`.
        unsafe {
            v128_store(window, block[0]);
            v128_store(window.add(1), block[1]);
            v128_store(window.add(2), block[2]);
            v128_store(window.add(3), block[3]);
            out.commit(64, lanes, &stage);
        }
    }

    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(M * 64, &mut stage).cast::<v128>();
        for (m, block) in blocks.into_iter().enumerate() {
            for (i, quarter) in block.into_iter().enumerate() {
                // SAFETY: the window has as many bytes as `M` blocks.
                unsafe { v128_store(window.add(4 * m + i), quarter) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(M * 64, M * 64, &stage) };
    }

    #[inline(always)]
    fn compress(self, block: Block, drop: u64, lanes: usize, out: &mut Cursor<'_>) {
        let below = counts_below(drop);
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage);
        for (i, quarter) in block.into_iter().enumerate() {
            let before = 16 * i - usize::from((below >> (16 * i)) as u8);
            // SAFETY: the places are sixteen bytes. At most `16 * i` bytes come before.
            unsafe {
                let places = v128_load(without_digits((drop >> (16 * i)) as u16).cast());
                v128_store(window.add(before).cast(), u8x16_swizzle(quarter, places));
            }
        }
        // SAFETY: the lanes that stay were written without a gap.
        unsafe { out.commit(64, lanes - count(drop & first(lanes)), &stage) };
    }

    #[inline(always)]
    fn expand(self, block: Block, _: &[u8], escape: u64, lanes: usize, case: HexCase, out: &mut Cursor<'_>) {
        /// Eight groups of at most 24 bytes.
        const WINDOW: usize = 8 * 24;
        let escape = escape & first(lanes);
        let below = counts_below(escape);
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage);
        let digits = self.sixteen(case.digits());
        let masks = self.spread(escape);
        let group = |i: usize| ((escape >> (8 * i)) as u8, 8 * i + 2 * usize::from((below >> (8 * i)) as u8));
        for (i, quarter) in block.into_iter().enumerate() {
            let ((left, left_at), (right, right_at)) = (group(2 * i), group(2 * i + 1));
            let high = u8x16_swizzle(digits, u8x16_shr(quarter, 4));
            let low = u8x16_swizzle(digits, v128_and(quarter, self.all(0x0F)));
            let bytes = v128_bitselect(high, quarter, masks[i]);
            // SAFETY: at most 24 * g bytes come before group g, so its 24 end within the window.
            unsafe {
                self.expand_eight(u64x2_shuffle::<0, 2>(bytes, low), left, window.add(left_at));
                self.expand_eight(u64x2_shuffle::<1, 3>(bytes, low), right, window.add(right_at));
            }
        }
        // SAFETY: the groups wrote `lanes` bytes and two more for each escape, without a gap.
        unsafe { out.commit(WINDOW, lanes + 2 * count(escape), &stage) };
    }

    #[inline(always)]
    fn expand_all(self, block: Block, _: &[u8], case: HexCase, out: &mut Cursor<'_>) {
        /// Three bytes for each lane.
        const WINDOW: usize = 64 * 3;
        let mut stage = Stage::new();
        let window = out.window(WINDOW, &mut stage).cast::<v128>();
        let digits = self.sixteen(case.digits());
        for (i, quarter) in block.into_iter().enumerate() {
            let high = u8x16_swizzle(digits, u8x16_shr(quarter, 4));
            let low = u8x16_swizzle(digits, v128_and(quarter, self.all(0x0F)));
            // The digits of eight lanes each, from lane 0, 4 and 8 on.
            let start = u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(high, low);
            let end =
                u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(high, low);
            let pairs = [start, u64x2_shuffle::<1, 2>(start, end), end];
            for (j, pairs) in pairs.into_iter().enumerate() {
                // SAFETY: the window has three bytes for each lane, and all are written.
                unsafe { v128_store(window.add(3 * i + j), self.place(pairs, self.sixteen(&PAIRS[j]))) };
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(WINDOW, WINDOW, &stage) };
    }
}
