//! Blocks of registers for the tiers (instruction sets) that have a byte shuffle: the operations of [`Isa`], written
//! once over [`Vector`].
//!
//! Set membership takes two shuffles: the low half of a byte picks a row of the set, the high half picks a bit of that row. AVX-512 removes
//! lanes by one compress instruction; here tables of indices do it. Decoding removes lanes sixteen at a time, because digits fill few
//! patterns of lanes. Encoding expands lanes eight at a time. "lab: NAME" names the page docs/lab/DATE-NAME.md.
//!
//! *Marks* (see `vector.rs`) are registers whose lanes are all ones or all zeros. The loops over registers are
//! unrolled. Their bodies are not closures, because intrinsics in a closure are not inlined (lab: inlining).

use super::tables::{BITS, DIGIT_HIGH, DIGIT_LOW, Row, without_digits};
use super::vector::Vector;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{Found, Isa, Lanes, Members, digits_of, lookahead, low_mask};
use crate::kernel::simd::{self, Sets};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// The operations on blocks of `N` registers.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<V: Vector, const N: usize>(pub(super) V::Token);

/// The rows of a set: `ascii` for bytes below 0x80, `high` for the other bytes. Most sets are ASCII, and then `high` is not
/// used.
#[derive(Clone, Copy)]
pub(crate) struct Class<V> {
    ascii: V,
    high: V,
    is_ascii: bool,
}

impl<V: Vector, const N: usize> Blocks<V, N> {
    #[cfg_attr(optimized, inline(always))]
    fn all(self, byte: u8) -> V {
        V::splat(self.0, byte)
    }

    #[cfg_attr(optimized, inline(always))]
    fn table(self, bytes: &[u8; 16]) -> V {
        V::table(self.0, bytes)
    }

    /// Returns, for each byte, the bit that represents it in its row of the set.
    #[cfg_attr(optimized, inline(always))]
    fn bit(self, bytes: V) -> V {
        self.table(&BITS).shuffle(bytes.high_half())
    }

    /// Returns zero in each lane that is not an ASCII member of the set, and a nonzero byte in the other lanes.
    #[cfg_attr(optimized, inline(always))]
    fn ascii_member(self, bytes: V, class: &Class<V>) -> V {
        class.ascii.look_up(bytes) & self.bit(bytes)
    }

    /// Returns zero in each lane that is not a member of the set above 0x7F, and a nonzero byte in the other lanes.
    #[cfg_attr(optimized, inline(always))]
    fn high_member(self, bytes: V, class: &Class<V>) -> V {
        class.high.look_up(bytes ^ self.all(0x80)) & self.bit(bytes)
    }

    /// Loads the first and the last `width` bytes, which cover all of `bytes`. Also returns the offset of the latter.
    #[cfg_attr(optimized, inline(always))]
    fn halves(self, bytes: &[u8], width: usize) -> ([V; N], [V; N], usize) {
        let shift = bytes.len() - width;
        (Isa::load(self, &bytes[..width]), Isa::load(self, &bytes[shift..]), shift)
    }

    /// Marks the lanes that are zero.
    #[cfg_attr(optimized, inline(always))]
    fn zeros(self, mut block: [V; N]) -> [V; N] {
        for i in 0..N {
            block[i] = block[i].eq(self.all(0));
        }
        block
    }

    /// Returns the value of each hexadecimal digit in the low half of its lane. The top bit is set in exactly the lanes that
    /// are not digits.
    #[cfg_attr(optimized, inline(always))]
    fn digits(self, bytes: V) -> V {
        let high = self.table(&DIGIT_HIGH).shuffle(bytes.high_half());
        self.table(&DIGIT_LOW).look_up(bytes).add_saturating(high)
    }

    /// Returns the [`Blocks::digits`] of the two bytes after the block at the start of `input`.
    #[cfg_attr(optimized, inline(always))]
    fn next_digits(self, input: &[u8]) -> V {
        let next = lookahead::<Self>(input).map(hex::value);
        V::words(self.0, u64::from(u16::from_le_bytes(next)), 0)
    }

    /// Returns, for each register of `block`, the [`Blocks::digits`] of the bytes one lane after each lane, and of
    /// those two lanes after it. `next` has the digits of the bytes after the block.
    #[cfg_attr(optimized, inline(always))]
    fn digits_after(self, block: [V; N], next: V) -> [[V; N]; 2] {
        let mut digits = block;
        for i in 0..N {
            digits[i] = self.digits(block[i]);
        }
        let (mut first, mut second) = (digits, digits);
        for i in 0..N {
            let next = if i + 1 < N { digits[i + 1] } else { next };
            (first[i], second[i]) = (digits[i].after::<1>(next), digits[i].after::<2>(next));
        }
        [first, second]
    }

    /// Marks each `%` whose value is a member of the set; if `members` is false, whose value is not a member. The value of a malformed
    /// escape is arbitrary.
    #[cfg_attr(optimized, inline(always))]
    fn chosen(self, found: &Found<[V; N]>, class: &Class<V>, members: bool) -> [V; N] {
        let flip = if members { self.all(0xFF) } else { self.all(0) };
        let mut marks = self.zeros(self.look_up_set(found.values, class));
        for i in 0..N {
            marks[i] = (marks[i] ^ flip) & found.marks[i];
        }
        marks
    }

    /// Returns the high and the low hexadecimal digit of each byte. `digits` is the table of the sixteen digits, prepared by
    /// [`Vector::prepared`], and so are the results.
    #[cfg_attr(optimized, inline(always))]
    fn spelt(self, bytes: V, digits: V) -> [V; 2] {
        [digits.shuffle(bytes.high_half()), digits.shuffle(bytes & self.all(0x0F))]
    }

    /// Returns marks of the lanes in `mask`.
    #[cfg_attr(optimized, inline(always))]
    fn spread(self, mask: u64) -> [V; N] {
        let mut marks = [self.all(0); N];
        for i in 0..N {
            marks[i] = V::spread(self.0, mask, i);
        }
        marks
    }

    /// Writes all groups of eight lanes, with the lanes in `escape` as escapes. `marks` marks at least these lanes.
    /// Unless `DENSE`, a group has at most four escapes. Returns the end of the last group, or, with `COUNTS_GROUPS`,
    /// its start.
    ///
    /// # Safety
    ///
    /// [`Blocks::EXPANDED`] bytes are writable at `window`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn groups<const DENSE: bool>(
        self,
        block: [V; N],
        marks: [V; N],
        escape: u64,
        digits: V,
        window: *mut u8,
    ) -> *mut u8 {
        let mut at = window;
        for i in 0..N {
            let [high, low] = self.spelt(block[i], digits);
            let bytes = block[i].prepared(self.0).blend(marks[i], high);
            let eights = [bytes.first_eights(low), bytes.last_eights(low)];
            let before = escape & low_mask(V::BYTES * i);
            let (start, own) = (V::BYTES * i + 2 * before.count_ones() as usize, escape >> (V::BYTES * i));
            for part in 0..V::PARTS {
                for half in 0..2 {
                    let group = 2 * (V::PARTS * i + part) + half;
                    let row = Row::of_group(escape, group);
                    // SAFETY: the groups before group `g` have at most `24 * g` bytes, so `EXPANDED` leaves `GROUP_WINDOW` bytes for
                    // this one.
                    unsafe {
                        if V::COUNTS_GROUPS {
                            let escapes = own & low_mask(8 * (2 * part + half));
                            at = window
                                .add(start)
                                .add(8 * (2 * part + half) + 2 * escapes.count_ones() as usize);
                        }
                        eights[half].write_group::<DENSE>(part, row, at, self.0);
                        if !V::COUNTS_GROUPS {
                            at = at.add(row.len());
                        }
                    }
                }
            }
        }
        at
    }

    /// The number of writable bytes that `groups` needs: 24 for each group but the last, and the bytes that
    /// [`Vector::write_group`] may write for the last.
    const EXPANDED: usize = (Self::LANES / 8 - 1) * 24 + V::GROUP_WINDOW;

    /// Writes the lanes of a register without those in `drop` to `at`, and returns their end. Ignores the bits of `drop` from `BYTES` on.
    ///
    /// # Safety
    ///
    /// `BYTES` bytes are writable at `at`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_left(self, register: V, drop: u64, at: *mut u8) -> *mut u8 {
        let mut left = 0;
        for part in 0..V::PARTS {
            let places = without_digits(((drop >> (16 * part)) as u16).to_le_bytes());
            // SAFETY: `left` is the number of lanes that the parts before this one left, at most sixteen each, because `last_left` is
            // at most 15. So sixteen of the `BYTES` bytes are writable there.
            unsafe { register.write_places(part, places, at.add(left)) };
            let lanes = 16 * (part + 1);
            left = if V::COUNTS_LANES {
                lanes - (drop & low_mask(lanes)).count_ones() as usize
            } else {
                left + places.last_left() + 1
            };
        }
        // SAFETY: the parts left at most sixteen lanes each, so `left` is at most `BYTES`.
        unsafe { at.add(left) }
    }

    /// Writes the first `lanes` lanes of `block` without those in `drop`, and returns their number. See [`Isa::compress`].
    ///
    /// # Safety
    ///
    /// `LANES` bytes are writable at `start`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn write_compressed(self, block: [V; N], drop: u64, lanes: Lanes<Self>, start: *mut u8) -> usize {
        let mut left = 0;
        for i in 0..N {
            for part in 0..V::PARTS {
                let sixteen = V::PARTS * i + part;
                let places = without_digits(((drop >> (16 * sixteen)) as u16).to_le_bytes());
                // SAFETY: `before` is at most `16 * sixteen`, so sixteen more bytes are inside the `LANES` bytes. If lanes are not
                // counted, `before` is the sum of `last_left + 1` over the sixteens so far, and `last_left` is at most 15.
                unsafe {
                    let before = if V::COUNTS_LANES {
                        V::staying_before(self.0, drop, sixteen)
                    } else {
                        left + sixteen
                    };
                    block[i].write_places(part, places, start.add(before));
                    if !V::COUNTS_LANES {
                        left += places.last_left();
                    }
                }
            }
        }
        // Each write of sixteen bytes starts inside the one before or at its end, so there is no gap, and the lanes that stay end inside
        // the last write. So the bytes that are counted here are initialised.
        if V::COUNTS_LANES {
            let mask = if const { Self::LANES == 64 } {
                // Unlike `Lanes::mask`, this is one instruction if the count is known to be nonzero (lab: ladders).
                u64::MAX.unbounded_shr((64 - lanes.count()) as u32)
            } else {
                lanes.mask()
            };
            (mask & !drop).count_ones() as usize
        } else if !lanes.is_all() {
            // At most two lanes after the end of the input are dropped.
            let over = drop.checked_shr(lanes.count() as u32).unwrap_or(0) as usize & 3;
            let padding = lanes.padding();
            let len = (left + Self::LANES / 16).saturating_sub(padding - (over - (over >> 1)).min(padding));
            len.min(lanes.count())
        } else {
            left + Self::LANES / 16
        }
    }
}

/// The lanes of a block to escape, as marks and as a mask.
// INVARIANT: each lane of `escape` is marked. Lanes after the end of the input may be marked, too.
#[derive(Clone, Copy)]
pub(crate) struct Marked<V, const N: usize> {
    marks: [V; N],
    escape: u64,
}

impl<V: Copy, const N: usize> Members for Marked<V, N> {
    #[cfg_attr(optimized, inline(always))]
    fn mask(self) -> u64 {
        !self.escape
    }
}

impl<V: Vector, const N: usize> Isa for Blocks<V, N> {
    const LANES: usize = V::BYTES * N;
    const DECODES_DENSE: bool = Self::LANES == 64;
    const EXPANDS_ALL: bool = Self::LANES == 64;
    type Block = [V; N];
    type Class = Class<V>;
    type SetLookup = [V; N];
    type Spelling = V;
    type Members = Marked<V, N>;
    type Token = V::Token;

    #[cfg_attr(optimized, inline(always))]
    fn new(token: V::Token) -> Self {
        Blocks(token)
    }

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet) -> Class<V> {
        let [ascii, high] = set.halves();
        Class { ascii: self.table(ascii), high: self.table(high), is_ascii: set.is_ascii() }
    }

    #[cfg_attr(optimized, inline(always))]
    fn load(self, input: &[u8]) -> [V; N] {
        const { assert!(Self::LANES <= 64) };
        let mut block = [self.all(0); N];
        if input.len() >= Self::LANES {
            for i in 0..N {
                // SAFETY: `BYTES * i + BYTES <= LANES`, and the input has at least `LANES` bytes.
                block[i] = unsafe { V::load(self.0, input.as_ptr().add(V::BYTES * i)) };
            }
        } else if input.len() < 16 {
            let [low, high] = words(input);
            block[0] = V::words(self.0, low, high);
        } else {
            for i in 0..N {
                // SAFETY: `i < N`, a block has at most 64 lanes by the assertion above, and the branches above leave inputs of at
                // least sixteen bytes that are shorter than the block.
                block[i] = unsafe { V::load_partial(self.0, input, i, N) };
            }
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn load_ends(self, input: &[u8]) -> Option<[V; N]> {
        const { assert!(N == 1 || N.is_multiple_of(2)) };
        let mut block = [self.all(0); N];
        let half = Self::LANES / 2;
        let end = input.len().checked_sub(half)?;
        if input.len() > Self::LANES {
            return None;
        }
        for i in 0..N {
            // SAFETY: `end = len - half`, so `half` bytes are readable from the start of the input, and `half` bytes from `end`
            // on. They are half a register, or `N / 2` registers, as `N` is even by the assertion above.
            block[i] = unsafe {
                let (first, last) = (input.as_ptr(), input.as_ptr().add(end));
                if N == 1 {
                    V::load_halves(self.0, first, last)
                } else if i < N / 2 {
                    V::load(self.0, first.add(V::BYTES * i))
                } else {
                    V::load(self.0, last.add(V::BYTES * (i - N / 2)))
                }
            };
        }
        Some(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_of_short(self, input: &[u8], class: &Class<V>) -> Option<Marked<V, N>> {
        let (ends, half) = (self.load_ends(input)?, Self::LANES / 2);
        if V::MASKS_ARE_SLOW && self.all_members([ends], class) {
            return Some(self.members_from_mask(u64::MAX));
        }
        let escape = self.find_members(ends, class).escape & Lanes::<Self>::ALL.mask();
        Some(self.members_from_mask(!(escape & low_mask(half) | (escape >> half) << (input.len() - half))))
    }

    #[cfg_attr(optimized, inline(always))]
    fn bytes(self, block: [V; N]) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (lanes, out) in block.into_iter().zip(bytes.chunks_exact_mut(V::BYTES)) {
            // SAFETY: `chunks_exact_mut` gives chunks of `BYTES` bytes.
            unsafe { lanes.store(out.as_mut_ptr()) };
        }
        bytes
    }

    #[cfg_attr(optimized, inline(always))]
    fn look_up_set(self, mut block: [V; N], class: &Class<V>) -> [V; N] {
        for i in 0..N {
            let bytes = block[i];
            block[i] = self.ascii_member(bytes, class);
            // The branch is inside the loop: after a choice of two loops, the compiler would no longer know that marks are all ones or
            // all zeros (lab: ladders).
            if !class.is_ascii {
                block[i] = block[i] | self.high_member(bytes, class);
            }
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_in(self, look: [V; N]) -> Marked<V, N> {
        let marks = self.zeros(look);
        Marked { marks, escape: V::mask(marks) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn members_from_mask(self, mask: u64) -> Marked<V, N> {
        Marked { marks: self.spread(!mask), escape: !mask }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_members<const M: usize>(self, blocks: [[V; N]; M], class: &Class<V>) -> bool {
        let mut all = self.all(0xFF);
        for m in 0..M {
            for i in 0..N {
                all = all.min(self.ascii_member(blocks[m][i], class));
            }
        }
        all.all_nonzero()
    }

    #[cfg_attr(optimized, inline(always))]
    fn none_equal<const M: usize>(self, blocks: [[V; N]; M], byte: u8) -> bool {
        let mut found = self.all(0);
        for m in 0..M {
            for i in 0..N {
                found = found | blocks[m][i].eq(self.all(byte));
            }
        }
        !found.any()
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, mut block: [V; N], byte: u8) -> u64 {
        for i in 0..N {
            block[i] = block[i].eq(self.all(byte));
        }
        V::mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn lower(self, mut block: [V; N]) -> u64 {
        for i in 0..N {
            block[i] = block[i].above(self.all(b'Z'));
        }
        V::mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn replace(self, mut block: [V; N], from: u8, to: u8) -> [V; N] {
        for i in 0..N {
            block[i] = block[i].blend(block[i].eq(self.all(from)), self.all(to));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn find(self, block: [V; N], input: &[u8]) -> Found<[V; N]> {
        let mut found = Found { percent: 0, marks: block, wrong: block, values: block, decoded: block };
        let [first, second] = self.digits_after(block, self.next_digits(input));
        for i in 0..N {
            let (first, second, percent) = (first[i], second[i], block[i].eq(self.all(b'%')));
            found.marks[i] = percent;
            found.wrong[i] = percent.without(percent.clear_marked(first | second));
            found.values[i] = V::value(first, second, self.0);
            found.decoded[i] = block[i].decoded(first, second, percent, self.0);
        }
        found.percent = V::mask(found.marks);
        found
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_wrong<const M: usize>(self, found: [&Found<[V; N]>; M]) -> bool {
        let mut any = self.all(0);
        for m in 0..M {
            for i in 0..N {
                any = any | found[m].wrong[i];
            }
        }
        any.any()
    }

    #[cfg_attr(optimized, inline(always))]
    fn correct(self, found: &Found<[V; N]>) -> (u64, [V; N]) {
        let mut block = found.decoded;
        for i in 0..N {
            block[i] = block[i].blend(found.wrong[i], self.all(b'%'));
        }
        (V::mask(found.wrong), block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_dense(self, input: &[u8], carry: &mut u64, out: &mut Cursor<'_>) -> Option<[u64; 4]> {
        if input.len() < 4 * Self::LANES + V::BYTES || out.spare() < 4 * Self::LANES {
            return None;
        }
        let mut stage = Stage::new();
        let mut window = out.window(4 * Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        let (mut at, mut doubt, mut carried, mut drops) = (start, self.all(0), *carry, [0; 4]);
        let (mut bytes, mut loaded) = (self.load(input)[0], 0);
        let mut digits = self.digits(bytes);
        for k in 0..4 {
            let (mut percent, mut decoded, mut dropped) = ([bytes; N], [bytes; N], 0);
            for i in 0..N {
                loaded += 1;
                // SAFETY: `loaded <= 4 * N`, and the check at the start shows that the input has `4 * LANES + BYTES` bytes, which are
                // `4 * N + 1` registers.
                let next = unsafe { V::load(self.0, input.as_ptr().add(V::BYTES * loaded)) };
                let next_digits = self.digits(next);
                let (first, second) = (digits.after::<1>(next_digits), digits.after::<2>(next_digits));
                percent[i] = bytes.eq(self.all(b'%'));
                doubt = doubt | percent[i] & (first | second);
                decoded[i] = bytes.decoded(first, second, percent[i], self.0);
                (bytes, digits) = (next, next_digits);
                if !V::MASKS_ARE_SLOW {
                    // If two digits follow each `%`, no lane is a digit of two escapes, so a sum is the union. Bits from `BYTES` on are
                    // lanes of the next register.
                    let drop = V::mask([percent[i]]) * 6 + carried;
                    carried = drop >> V::BYTES;
                    dropped |= (drop & low_mask(V::BYTES)) << (V::BYTES * i);
                    // SAFETY: the registers before this one left at most `BYTES` bytes each, and the window has `4 * LANES` bytes.
                    unsafe { at = self.write_left(decoded[i], drop, at) };
                }
            }
            if V::MASKS_ARE_SLOW {
                dropped = digits_of(V::mask(percent), Lanes::<Self>::ALL, &mut carried);
                for i in 0..N {
                    // SAFETY: the registers before this one left at most `BYTES` bytes each, and the window has `4 * LANES` bytes.
                    unsafe { at = self.write_left(decoded[i], dropped >> (V::BYTES * i), at) };
                }
            }
            drops[k] = dropped;
        }
        if V::mask([self.all(0xFF).clear_marked(doubt)]) != low_mask(V::BYTES) {
            return None;
        }
        *carry = carried;
        // SAFETY: the window has `4 * LANES` bytes. The loop initialised the bytes of each sixteen lanes, one after the other, and they
        // are at most sixteen each.
        unsafe { window.keep(at.addr() - start.addr()) };
        Some(drops)
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_escapes(self, input: &[u8]) -> Option<[V; N]> {
        let input = input.get(..3 * Self::LANES)?;
        let mut values = [self.all(0); N];
        let (mut percent, mut bad) = (self.all(0xFF), self.all(0));
        for i in 0..N {
            // SAFETY: `3 * BYTES * i + 3 * BYTES <= 3 * LANES`, and `get` returned a slice of `3 * LANES` bytes.
            let [start, first, second] = unsafe { V::thirds(self.0, input.as_ptr().add(3 * V::BYTES * i)) };
            let (first, second) = (self.digits(first), self.digits(second));
            percent = percent & start.eq(self.all(b'%'));
            bad = bad | first | second;
            values[i] = V::value(first, second, self.0).in_order(self.0);
        }
        if V::mask([percent.clear_marked(bad)]) == low_mask(V::BYTES) { Some(values) } else { None }
    }

    #[cfg_attr(optimized, inline(always))]
    fn select(self, mask: u64, mut block: [V; N], other: [V; N]) -> [V; N] {
        let marks = self.spread(mask);
        for i in 0..N {
            block[i] = block[i].blend(marks[i], other[i]);
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_some(
        self,
        mut block: [V; N],
        found: &Found<[V; N]>,
        class: &Class<V>,
        members: bool,
    ) -> (u64, [V; N]) {
        let mut marks = self.chosen(found, class, members);
        for i in 0..N {
            marks[i] = marks[i].without(found.wrong[i]);
            block[i] = block[i].blend(marks[i], found.values[i]);
        }
        (V::mask(marks), block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn decodes_none(self, found: &Found<[V; N]>, class: &Class<V>, members: bool) -> bool {
        let (mut any, marks) = (self.all(0), self.chosen(found, class, members));
        for i in 0..N {
            any = any | marks[i];
        }
        !any.any()
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, mut block: [V; N]) -> [V; N] {
        // The lanes of `mask` are hexadecimal digits, and of these only lower-case letters are above `Z`.
        let marks = self.spread(mask);
        for i in 0..N {
            let letters = block[i].above(self.all(b'Z')) & marks[i];
            block[i] = block[i].without(letters & self.all(0x20));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_all<const M: usize>(self, blocks: [[V; N]; M], last: Lanes<Self>, out: &mut Cursor<'_>) {
        const { assert!(M > 0, "there is a last block") };
        let mut stage = Stage::new();
        let mut window = out.window(M * Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        for m in 0..M {
            for i in 0..N {
                // SAFETY: `LANES * m + BYTES * i + BYTES <= M * LANES`, and the window has `M * LANES` writable bytes.
                unsafe { blocks[m][i].store(start.add(Self::LANES * m + V::BYTES * i)) };
            }
        }
        // SAFETY: the loops initialised all `M * LANES` bytes of the window. By the invariant of `Lanes`, `last` has at most `LANES`
        // lanes, so its padding is no more than one block, and `M` is at least one.
        unsafe { window.keep(M * Self::LANES - last.padding()) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress_all<const M: usize>(
        self,
        blocks: [[V; N]; M],
        drops: [u64; M],
        lanes: Lanes<Self>,
        out: &mut Cursor<'_>,
    ) {
        let mut stage = Stage::new();
        let width = if M == 1 { Self::LANES } else { lanes.count() + (M - 1) * Self::LANES };
        let mut window = out.window(width, &mut stage);
        let (start, mut len) = (window.as_mut_ptr(), 0);
        for i in 0..M {
            let lanes = if i == 0 { lanes } else { Lanes::ALL };
            // SAFETY: `LANES` bytes of the window are left at `len`, which is 0 for the first block: the window of a single block
            // has that width, and that of several is no smaller. `write_compressed` returns at most the number of its lanes. So
            // for a later block, `len` is at most `lanes` and `LANES` for each full block before it, and the width counts
            // `LANES` more. Each block starts where the one before ends, so all bytes up to the last end are initialised.
            unsafe { len += self.write_compressed(blocks[i], drops[i], lanes, start.add(len)) };
        }
        // SAFETY: the loop initialised these bytes, which are inside the window.
        unsafe { window.keep(len) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn spelling(self, case: HexCase) -> V {
        self.table(case.digits()).prepared(self.0)
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand(
        self,
        block: [V; N],
        _: &[u8],
        members: Marked<V, N>,
        lanes: Lanes<Self>,
        digits: V,
        out: &mut Cursor<'_>,
    ) {
        let Marked { marks, escape } = Marked { escape: members.escape & lanes.mask(), ..members };
        let mut stage = Stage::new();
        let mut window = out.window(Self::EXPANDED, &mut stage);
        let start = window.as_mut_ptr();
        // SAFETY: the window has `EXPANDED` bytes. The groups leave no gap, because each starts where the one before ends. A
        // group of more than sixteen bytes has more than four lanes of `escape`. By the invariant of `Marked` these are marked,
        // so by the contract of `Vector` `is_dense` holds, and the group is written whole. The groups end after `LANES` bytes and
        // two more for each escape, and `keep` gets `lanes` bytes and two for each.
        unsafe {
            let end = if V::is_dense(self.0, marks, escape) {
                self.groups::<true>(block, marks, escape, digits, start)
            } else {
                self.groups::<false>(block, marks, escape, digits, start)
            };
            window.keep(if V::COUNTS_GROUPS {
                lanes.count() + 2 * escape.count_ones() as usize
            } else {
                // Lanes after the end of the input take one byte each.
                end.addr() - start.addr() - lanes.padding()
            });
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn expand_all(self, block: [V; N], _: &[u8], digits: V, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(3 * Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        for i in 0..N {
            let [high, low] = self.spelt(block[i], digits);
            // SAFETY: `3 * BYTES * i + 3 * BYTES <= 3 * LANES`, and the window has `3 * LANES` writable bytes.
            unsafe { V::write_escapes(high, low, start.add(3 * V::BYTES * i), self.0) };
        }
        // SAFETY: the loop initialised all `3 * LANES` bytes of the window.
        unsafe { window.keep(3 * Self::LANES) };
    }
}

/// The registers whose [`Vector::mask`] reads only the top bit of each lane.
pub(crate) trait TopBits: Vector {}

/// A block of 64 lanes is two blocks of 32 lanes, and the number of the lane where the second starts. That is 32, or
/// less for a short input, whose halves overlap. So no byte of a short input has to move to another lane.
impl<V: TopBits, const N: usize> simd::Simd for Blocks<V, N> {
    type Block = ([V; N], [V; N], usize);
    type Classes = [u64; 8];

    #[cfg_attr(optimized, inline(always))]
    fn load(self, bytes: &[u8]) -> Self::Block {
        const { assert!(Self::LANES == 32) };
        // In each arm but the last, the width is a constant, so the branches of `Isa::load` disappear.
        match bytes.len() {
            64.. => self.halves(&bytes[..64], 32),
            32.. => self.halves(bytes, 32),
            16.. => self.halves(bytes, 16),
            8.. => self.halves(bytes, 8),
            len => self.halves(bytes, len),
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, (low, high, shift): Self::Block, byte: u8) -> u64 {
        Isa::eq(self, low, byte) | Isa::eq(self, high, byte) << shift
    }

    #[cfg_attr(optimized, inline(always))]
    fn high(self, (low, high, shift): Self::Block) -> u64 {
        V::mask(low) | V::mask(high) << shift
    }

    /// Makes the masks of all sets at once. The compiler omits those that the caller does not use (lab: ladders).
    #[cfg_attr(optimized, inline(always))]
    fn classify(self, (low, high, shift): Self::Block, sets: &Sets) -> [u64; 8] {
        let mut masks = [0; 8];
        for (half, shift) in [(low, 0), (high, shift)] {
            for k in 0..8 {
                let (table, mut members) = (self.table(&sets.by_low_half[k]), half);
                for i in 0..N {
                    members[i] = table.look_up(half[i]) & self.bit(half[i]);
                }
                // Each half is inverted by itself: the lanes after its bytes are zero, and members of no set.
                masks[k] |= u64::from(!V::mask(self.zeros(members)) as u32) << shift;
            }
        }
        masks
    }

    #[cfg_attr(optimized, inline(always))]
    fn both(self, first: [u64; 8], second: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|k| first[k] & second[k])
    }

    #[cfg_attr(optimized, inline(always))]
    fn masks<const K: usize>(self, masks: [u64; 8]) -> [u64; K] {
        core::array::from_fn(|k| masks[k])
    }
}
