//! NEON: 64 lanes in four registers.
//!
//! The algorithms are those of SSSE3, with what `tbl` adds to a shuffle: a table of two registers is a whole set that has
//! bytes above 0x7F, and `tbx` leaves a lane alone where the place is out of range, which is how an escape gets its `%`.
//! A block escaped whole is one interleaving store for each register. There is no instruction that gathers the lanes of a
//! comparison; each lane keeps one bit, and three rounds of pairwise sums join the bits of all 64. Where only one answer is
//! wanted, a maximum or minimum over the lanes takes less.

use core::arch::aarch64::*;

use super::tables::{BITS, EXPAND, SLIDE, count, counts_below, without_digits};
use super::token::Neon;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Escapes, Isa, OneKind, behind, first};
use crate::kernel::word::words;
use crate::set::ByteSet;

type Block = [uint8x16_t; 4];

/// The rows of a set: for ASCII bytes, and for the others, of which most sets hold none.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    rows: uint8x16x2_t,
    is_ascii: bool,
}

impl Neon {
    #[inline(always)]
    fn sixteen(self, bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: the token proves NEON; sixteen bytes are readable.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn all(self, byte: u8) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe { vdupq_n_u8(byte) }
    }

    /// The lanes, of four registers of lanes that are all ones or all zeros, as a mask.
    #[inline(always)]
    fn mask(self, quarters: Block) -> u64 {
        let bits = self.sixteen(&BITS);
        let [a, b, c, d] = each!(quarters, |quarter| vandq_u8(quarter, bits));
        // SAFETY: the token proves NEON. Each sum is one of different bits, so nothing carries.
        unsafe {
            let fours = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)))
        }
    }

    /// All ones in the lanes whose bit is set in their row.
    #[inline(always)]
    fn in_row(self, row: uint8x16_t, quarter: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe { vtstq_u8(row, vqtbl1q_u8(self.sixteen(&BITS), vshrq_n_u8::<4>(quarter))) }
    }

    /// All ones in the lanes of members of the set.
    #[inline(always)]
    fn members(self, block: Block, class: &Class) -> Block {
        if class.is_ascii {
            // The place of a byte above 0x7F is out of range, which gives an empty row.
            return each!(block, |quarter| {
                let row = vqtbl1q_u8(class.rows.0, vandq_u8(quarter, self.all(0x8F)));
                self.in_row(row, quarter)
            });
        }
        each!(block, |quarter| {
            // The row of a byte: its low half, and above it its top bit.
            let place = vsliq_n_u8::<4>(quarter, vshrq_n_u8::<7>(quarter));
            self.in_row(vqtbl2q_u8(class.rows, place), quarter)
        })
    }

    /// All ones in the lanes of `mask`.
    #[inline(always)]
    fn spread(self, mask: u64) -> Block {
        // SAFETY: the token proves NEON.
        let (bytes, halves) = unsafe {
            let zero = vdup_n_u8(0);
            (vreinterpretq_u8_u64(vdupq_n_u64(mask)), vcombine_u8(zero, vdup_n_u8(1)))
        };
        each!(|i| {
            let byte_of_lane = vaddq_u8(halves, self.all(2 * i));
            vtstq_u8(vqtbl1q_u8(bytes, byte_of_lane), self.sixteen(&BITS))
        })
    }

    /// The value of each hexadecimal digit; 16 or more in the other lanes.
    #[inline(always)]
    fn digits(self, quarter: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves NEON.
        unsafe {
            // `0` to `9` become 0xF6 to 0xFF, and all below them less: saturating parts them from the others.
            let decimal = vqsubq_u8(vaddq_u8(quarter, self.all(0xFF - b'9')), self.all(6));
            let decimal = vsubq_u8(decimal, self.all(0xF0));
            let letter = vsubq_u8(vandq_u8(quarter, self.all(!0x20)), self.all(b'A'));
            vminq_u8(decimal, vqaddq_u8(letter, self.all(10)))
        }
    }

    #[inline(always)]
    fn load_partial(self, input: &[u8]) -> Block {
        let len = input.len();
        if len < 16 {
            let [low, high] = words(input);
            let zero = self.all(0);
            // SAFETY: the token proves NEON.
            let bytes = unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) };
            return [bytes, zero, zero, zero];
        }
        each!(|i| {
            // Sixteen bytes from where the quarter starts, or the last sixteen, slid down to its start.
            let start = (16 * i).min(len - 16);
            let slide = (16 * i - start).min(16);
            // SAFETY: the token proves NEON; `start + 16 <= len` and `slide + 16 <= 32`.
            unsafe { vqtbl1q_u8(vld1q_u8(input.as_ptr().add(start)), vld1q_u8(SLIDE.as_ptr().add(slide))) }
        })
    }

    /// Writes 24 bytes to `window`, of which those count that `mask` places: `bytes` holds eight, or the high
    /// digits of those in `mask`, and then the eight low digits.
    ///
    /// # Safety
    ///
    /// The window has 24 bytes.
    #[inline(always)]
    unsafe fn expand_eight(self, bytes: uint8x16_t, mask: u8, window: *mut u8) {
        let row = &EXPAND[usize::from(mask)].0;
        // SAFETY: the token proves NEON; a row has 32 bytes, and the caller gives room for 24.
        unsafe {
            let percent = self.all(b'%');
            vst1q_u8(window, vqtbx1q_u8(percent, bytes, vld1q_u8(row.as_ptr())));
            let behind = vqtbx1_u8(vget_low_u8(percent), bytes, vld1_u8(row.as_ptr().add(16)));
            vst1_u8(window.add(16), behind);
        }
    }
}

impl OneKind for Neon {}

impl Isa for Neon {
    const LANES: usize = 64;
    const EXPANDS_ALL: bool = true;
    type Block = Block;
    type Class = Class;

    #[inline(always)]
    fn class(self, set: &ByteSet, _: usize) -> Class {
        let [ascii, high] = set.halves();
        Class { rows: uint8x16x2_t(self.sixteen(ascii), self.sixteen(high)), is_ascii: set.is_ascii() }
    }

    #[inline(always)]
    fn load(self, input: &[u8]) -> Block {
        match input.first_chunk::<64>() {
            // SAFETY: the token proves NEON; 64 bytes are readable.
            Some(bytes) => each!(|i| {
                // SAFETY: the token proves NEON; `i < 4`, so sixteen of the 64 bytes are readable there.
                unsafe { vld1q_u8(bytes.as_ptr().add(16 * i)) }
            }),
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
            // SAFETY: the token proves NEON; sixteen bytes are readable at each of these.
            unsafe { vld1q_u8(input.as_ptr().add(at)) }
        });
        let members = self.members(pieces, class);
        let [a, b, c, d] = members;
        // SAFETY: the token proves NEON.
        if unsafe { vminvq_u8(vandq_u8(vandq_u8(a, b), vandq_u8(c, d))) } == 0xFF {
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
            // SAFETY: the token proves NEON; sixteen bytes are writable.
            unsafe { vst1q_u8(out.as_mut_ptr(), quarter) };
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
            // SAFETY: the token proves NEON.
            all = unsafe { vandq_u8(all, vandq_u8(vandq_u8(a, b), vandq_u8(c, d))) };
        }
        // SAFETY: the token proves NEON.
        unsafe { vminvq_u8(all) == 0xFF }
    }

    #[inline(always)]
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        let (len, byte) = (input.len(), self.all(byte));
        let found = if len < 16 {
            let [low, high] = words(input);
            // SAFETY: the token proves NEON. The zeros after the input are not looked for.
            unsafe { vceqq_u8(vcombine_u8(vcreate_u8(low), vcreate_u8(high)), byte) }
        } else if len <= 64 {
            // Four pieces, which overlap: no branch is about how many there are.
            let second = len / 32 * 16;
            let [a, b, c, d] = each!([0, second, len - 16 - second, len - 16], |at| {
                // SAFETY: the token proves NEON; sixteen bytes are readable at each of these.
                unsafe { vceqq_u8(vld1q_u8(input.as_ptr().add(at)), byte) }
            });
            // SAFETY: the token proves NEON.
            unsafe { vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d)) }
        } else {
            return false;
        };
        // SAFETY: the token proves NEON.
        unsafe { vmaxvq_u8(found) == 0 }
    }

    #[inline(always)]
    fn eq(self, block: Block, byte: u8) -> u64 {
        self.mask(each!(block, |quarter| vceqq_u8(quarter, self.all(byte))))
    }

    #[inline(always)]
    fn lower(self, block: Block) -> u64 {
        self.mask(each!(block, |quarter| vcgtq_u8(quarter, self.all(b'Z'))))
    }

    #[inline(always)]
    fn replace(self, block: Block, from: u8, to: u8) -> Block {
        each!(block, |quarter| vbslq_u8(vceqq_u8(quarter, self.all(from)), self.all(to), quarter))
    }

    #[inline(always)]
    fn escapes(self, block: Block, input: &[u8]) -> Escapes<Block> {
        let behind = behind::<Self>(input);
        let digits = each!(block, |quarter| self.digits(quarter));
        let next = u16::from_le_bytes([hex::value(behind[0]), hex::value(behind[1])]);
        // SAFETY: the token proves NEON.
        let next = unsafe { vreinterpretq_u8_u16(vdupq_n_u16(next)) };
        let behind = [digits[1], digits[2], digits[3], next];
        let first = each!(|i| vextq_u8::<1>(digits[i], behind[i]));
        let second = each!(|i| vextq_u8::<2>(digits[i], behind[i]));
        let values = each!(|i| vsliq_n_u8::<4>(second[i], first[i]));
        let valid = each!(|i| {
            let digits = vcleq_u8(vorrq_u8(first[i], second[i]), self.all(0x0F));
            vandq_u8(digits, vceqq_u8(block[i], self.all(b'%')))
        });
        let decoded = each!(|i| vbslq_u8(valid[i], values[i], block[i]));
        Escapes { valid: self.mask(valid), values, decoded, lanes: block }
    }

    #[inline(always)]
    fn select(self, mask: u64, block: Block, other: Block) -> Block {
        let mask = self.spread(mask);
        each!(|i| vbslq_u8(mask[i], other[i], block[i]))
    }

    #[inline(always)]
    fn upper(self, mask: u64, block: Block) -> Block {
        let mask = self.spread(mask);
        // Of the digits, only lower-case letters are above `Z`.
        each!(|i| {
            let lower = vandq_u8(mask[i], vcgtq_u8(block[i], self.all(b'Z')));
            vbicq_u8(block[i], vandq_u8(lower, self.all(0x20)))
        })
    }

    #[inline(always)]
    fn store(self, block: Block, lanes: usize, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(64, &mut stage);
        // SAFETY: the token proves NEON; the window has 64 bytes, which are all written, and `lanes <= 64`.
        unsafe {
            vst1q_u8(window, block[0]);
            vst1q_u8(window.add(16), block[1]);
            vst1q_u8(window.add(32), block[2]);
            vst1q_u8(window.add(48), block[3]);
            out.commit(64, lanes, &stage);
        }
    }

    #[inline(always)]
    fn store_whole<const M: usize>(self, blocks: [Block; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let window = out.window(M * 64, &mut stage);
        for (m, block) in blocks.into_iter().enumerate() {
            for (i, quarter) in block.into_iter().enumerate() {
                // SAFETY: the token proves NEON; the window has as many bytes as `M` blocks.
                unsafe { vst1q_u8(window.add(64 * m + 16 * i), quarter) };
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
            // SAFETY: the token proves NEON. The places are sixteen bytes. At most `16 * i` bytes come before.
            unsafe {
                let places = vld1q_u8(without_digits((drop >> (16 * i)) as u16).cast());
                vst1q_u8(window.add(before), vqtbl1q_u8(quarter, places));
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
            // SAFETY: the token proves NEON. At most 24 * g bytes come before group g, so its 24 end within the
            // window.
            unsafe {
                let high = vqtbl1q_u8(digits, vshrq_n_u8::<4>(quarter));
                let low = vqtbl1q_u8(digits, vandq_u8(quarter, self.all(0x0F)));
                let bytes = vbslq_u8(masks[i], high, quarter);
                let first = vcombine_u8(vget_low_u8(bytes), vget_low_u8(low));
                let second = vcombine_u8(vget_high_u8(bytes), vget_high_u8(low));
                self.expand_eight(first, left, window.add(left_at));
                self.expand_eight(second, right, window.add(right_at));
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
        let window = out.window(WINDOW, &mut stage);
        let digits = self.sixteen(case.digits());
        for (i, quarter) in block.into_iter().enumerate() {
            // SAFETY: the token proves NEON. The window has three bytes for each lane, and all are written.
            unsafe {
                let high = vqtbl1q_u8(digits, vshrq_n_u8::<4>(quarter));
                let low = vqtbl1q_u8(digits, vandq_u8(quarter, self.all(0x0F)));
                vst3q_u8(window.add(48 * i), uint8x16x3_t(self.all(b'%'), high, low));
            }
        }
        // SAFETY: the whole window was written.
        unsafe { out.commit(WINDOW, WINDOW, &stage) };
    }
}
