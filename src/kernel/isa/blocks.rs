//! Blocks of registers for the tiers that have a byte shuffle: the operations of [`Isa`], written once over [`Vector`].
//!
//! Set membership takes two shuffles: the low half of a byte picks a row of the set, the high half picks a bit of that row.
//! AVX-512 removes lanes by one compress instruction; here tables of indices do it. Decoding removes lanes sixteen at a time,
//! because digits fill few patterns of lanes. Encoding expands lanes eight at a time.
//!
//! The loops over registers are unrolled. They are not closures, because a closure and its intrinsics would not be inlined into
//! the entry points.

use super::tables::{BITS, DIGIT_HIGH, DIGIT_LOW, Row, without_digits};
use super::vector::Vector;
use crate::hex::{self, HexCase};
use crate::kernel::cursor::{Cursor, Stage};
use crate::kernel::drive::{
    Escapes, Guess, HEX_DIGITS, Isa, Lanes, Members, SomeEscapes, digits_of, first_two, lookahead, low_mask,
};
use crate::kernel::word::words;
use crate::set::ByteSet;

/// The operations on blocks of `N` registers.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<V: Vector, const N: usize>(V::Token);

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

    /// Marks the lanes that are not members of the set.
    #[cfg_attr(optimized, inline(always))]
    fn non_members(self, block: [V; N], class: &Class<V>) -> [V; N] {
        self.zeros(self.look(block, class))
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

    /// Returns what [`Blocks::digits`] returns for the bytes after the block at the start of `input`.
    #[cfg_attr(optimized, inline(always))]
    fn next_digits(self, input: &[u8]) -> V {
        match input.get(Self::LANES..Self::LANES + V::BYTES) {
            // SAFETY: the slice has `BYTES` bytes.
            Some(more) if V::LOADS_NEXT => self.digits(unsafe { V::load(self.0, more.as_ptr()) }),
            _ => self.two(lookahead::<Self>(input).map(hex::value)),
        }
    }

    /// Returns a register with two bytes at its start and zeros after them.
    #[cfg_attr(optimized, inline(always))]
    fn two(self, bytes: [u8; 2]) -> V {
        V::words(self.0, u64::from(u16::from_le_bytes(bytes)), 0)
    }

    /// Returns, for each register of `block`, what [`Blocks::digits`] returns for the bytes one after each lane, and for those two after.
    /// `next` is what it returns for the bytes after the block.
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

    /// Returns the high and the low hexadecimal digit of each byte. `digits` is the table of the sixteen digits.
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

    /// Writes all groups of eight lanes, with the lanes in `escape` as escapes. `marks` marks these lanes, too. Unless `DENSE`,
    /// a group has at most four of them. Returns where the last group ends, or, with `COUNTS_GROUPS`, where it starts.
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
                    // SAFETY: the groups before group `g` have at most `24 * g` bytes, so `EXPANDED` leaves `GROUP` bytes for
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

    /// Decodes four blocks like [`Isa::decode_dense`], register by register, and returns the number of bytes written. On a CPU without
    /// `popcnt` each register waits for the length of the one before anyway, and this takes the fewest instructions.
    ///
    /// # Safety
    ///
    /// A register has sixteen bytes, `input` has `4 * N + 1` registers, and `4 * LANES` bytes are writable at `to`.
    #[cfg_attr(optimized, inline(always))]
    unsafe fn decode_in_turn<const MASKS: bool>(
        self,
        input: &[u8],
        carry: &mut u64,
        to: *mut u8,
    ) -> Option<(usize, [u64; 4])> {
        let (mut at, mut doubt, mut drops) = (to, self.all(0), [0; 4]);
        // Bits 16 and 17 are lanes of the next register.
        let mut drop = (*carry as u32) << 16;
        let mut bytes = self.load(input)[0];
        let mut digits = self.digits(bytes);
        // Two registers a round need no moves between registers; more would need much more code.
        for round in 0..2 * N {
            for i in 0..2 {
                let number = 2 * round + i;
                // SAFETY: `number < 4 * N`, and the caller guarantees `4 * N + 1` registers.
                let next = unsafe { V::load(self.0, input.as_ptr().add(V::BYTES * (number + 1))) };
                let next_digits = self.digits(next);
                let (first, second) = (digits.after::<1>(next_digits), digits.after::<2>(next_digits));
                let percent = bytes.eq(self.all(b'%'));
                doubt = doubt | percent & (first | second);
                // If two digits follow each `%`, no lane is a digit of two escapes, so a sum is the union.
                drop = (V::mask([percent]) as u32).wrapping_mul(6).wrapping_add(drop >> 16);
                if MASKS {
                    drops[number / N] |= u64::from(drop & 0xFFFF) << (16 * (number % N));
                }
                let places = without_digits((drop as u16).to_le_bytes());
                let decoded = bytes.decoded(first, second, percent, self.0);
                // SAFETY: `at + i` is at most sixteen bytes after `to` for each register before this one, because `last_left` is at most
                // 15, and the caller guarantees `4 * LANES` writable bytes there.
                unsafe {
                    decoded.write_places(0, places, at.add(i));
                    at = at.add(places.last_left());
                }
                (bytes, digits) = (next, next_digits);
            }
            // `last_left` is one less than the number of bytes that a register left, and a round has two registers.
            // SAFETY: the `2 * (round + 1)` registers so far left at most sixteen bytes each, and the caller guarantees `4 * LANES` writable
            // bytes, which are `4 * N` registers. So `at` stays inside these bytes or at their end.
            at = unsafe { at.add(2) };
        }
        if V::mask([self.all(0xFF).unless(doubt)]) != low_mask(V::BYTES) {
            return None;
        }
        *carry = u64::from(drop >> 16);
        Some((at.addr() - to.addr(), drops))
    }

    /// Loads half a block from the start of `input` and half a block from its end; the two may overlap. Returns `None` if the
    /// input is shorter than half a block or longer than a block.
    #[cfg_attr(optimized, inline(always))]
    fn load_ends(self, input: &[u8]) -> Option<[V; N]> {
        let mut block = [self.all(0); N];
        let half = Self::LANES / 2;
        let end = input.len().checked_sub(half)?;
        if input.len() > Self::LANES {
            return None;
        }
        for i in 0..N {
            // SAFETY: `end = len - half`, so `half` bytes are readable from the start of the input, and `half` bytes from `end`
            // on.
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

    /// The width of the window for the groups: all but the last at their longest, and the bytes that [`Vector::write_group`]
    /// writes for the last.
    const EXPANDED: usize = (Self::LANES / 8 - 1) * 24 + V::GROUP;

    /// Writes the first `lanes` lanes, with the marked ones as escapes.
    #[cfg_attr(optimized, inline(always))]
    fn expand_marked(
        self,
        block: [V; N],
        Marked { marks, escape }: Marked<V, N>,
        lanes: Lanes<Self>,
        digits: V,
        out: &mut Cursor<'_>,
    ) {
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
                // Unlike `Lanes::mask`, this is one instruction where the compiler knows that there are lanes.
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
    const TWO_BLOCKS: bool = V::LOADS_NEXT && Self::LANES == 64;
    const COUNTS_BITS: bool = V::COUNTS_BITS;
    const CROSSING_FIRST: bool = V::MASKS_ARE_SLOW;
    const EXPANDS_ALL: bool = Self::LANES == 64;
    const DECODES_ALL: bool = Self::LANES == 64;
    const DECODES_DENSE: bool = (V::COUNTS_GROUPS || !V::COUNTS_LANES) && Self::LANES == 64;
    const GUESSES: bool = !V::MASKS_ARE_SLOW;
    const HALVES: bool = V::COUNTS_LANES && !V::MASKS_ARE_SLOW;
    const DECODES_IN_PLACE: bool = V::COUNTS_GROUPS && Self::LANES == 64;
    const LEAST_DENSE: usize = 4;
    type Block = [V; N];
    type Class = Class<V>;
    type Look = [V; N];
    type Spelling = V;
    type Members = Marked<V, N>;
    type Token = V::Token;

    #[cfg_attr(optimized, inline(always))]
    fn new(token: V::Token) -> Self {
        Blocks(token)
    }

    #[cfg_attr(optimized, inline(always))]
    fn class(self, set: &ByteSet, _: usize) -> Class<V> {
        let [ascii, high] = set.halves();
        Class { ascii: self.table(ascii), high: self.table(high), is_ascii: set.is_ascii() }
    }

    #[cfg_attr(optimized, inline(always))]
    fn load(self, input: &[u8]) -> [V; N] {
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
                // SAFETY: `i < N`, and the branches above leave inputs of at least sixteen bytes that are shorter than the
                // block.
                block[i] = unsafe { V::load_partial(self.0, input, i, N) };
            }
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn lanes_to_escape(self, input: &[u8], class: &Class<V>) -> Option<u64> {
        let (ends, half) = (self.load_ends(input)?, Self::LANES / 2);
        // Most inputs need no escape, so this checks without a mask first.
        if V::MASKS_ARE_SLOW && self.all_members([ends], class) {
            return Some(0);
        }
        let escape = self.member(ends, class).escape & Lanes::<Self>::ALL.mask();
        Some(escape & low_mask(half) | (escape >> half) << (input.len() - half))
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
    fn member(self, block: [V; N], class: &Class<V>) -> Marked<V, N> {
        self.found(self.look(block, class))
    }

    #[cfg_attr(optimized, inline(always))]
    fn look(self, mut block: [V; N], class: &Class<V>) -> [V; N] {
        for i in 0..N {
            let bytes = block[i];
            block[i] = self.ascii_member(bytes, class);
            // The branch is inside the loop: if it selected one of two loops, the compiler would no longer know that marks are
            // all ones or all zeros.
            if !class.is_ascii {
                block[i] = block[i] | self.high_member(bytes, class);
            }
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn found(self, look: [V; N]) -> Marked<V, N> {
        let marks = self.zeros(look);
        Marked { marks, escape: V::mask(marks) }
    }

    #[cfg_attr(optimized, inline(always))]
    fn all_found(self, look: [V; N]) -> bool {
        let mut all = self.all(0xFF);
        for i in 0..N {
            all = all.min(look[i]);
        }
        all.all_nonzero()
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
    fn lacks(self, input: &[u8], byte: u8) -> bool {
        match self.load_ends(input) {
            Some(ends) => self.none_equal([ends], byte),
            None => false,
        }
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
    fn surely_lacks(self, block: [V; N], byte: u8, lanes: u64) -> bool {
        if V::MASKS_ARE_SLOW { self.none_equal([block], byte) } else { self.eq(block, byte) & lanes == 0 }
    }

    #[cfg_attr(optimized, inline(always))]
    fn eq(self, mut block: [V; N], byte: u8) -> u64 {
        for i in 0..N {
            block[i] = block[i].eq(self.all(byte));
        }
        V::mask(block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn staying(
        self,
        block: [V; N],
        class: &Class<V>,
        escapes: bool,
        before: [u8; 2],
    ) -> Option<Marked<V, N>> {
        // The lanes are joined before they become marks: after a branch, the compiler no longer knows that marks are all ones or all zeros.
        let mut look = self.look(block, class);
        if escapes {
            let others = self.non_members(block, &self.class(&HEX_DIGITS, 0));
            let (percents, none) = (self.all(b'%'), self.all(0));
            // The digits of escapes that start before the block.
            let carried = self.two(before).eq(percents) | self.two([before[1], 0]).eq(percents);
            let (mut previous, mut wrong) = (none, none);
            for i in 0..N {
                let percent = block[i].eq(percents);
                let mut digits = percent.moved::<1>(previous) | percent.moved::<2>(previous);
                if i == 0 {
                    digits = digits | carried;
                }
                wrong = wrong | digits & others[i];
                look[i] = look[i] | percent | digits;
                previous = percent;
            }
            if wrong.any() {
                return None;
            }
        }
        Some(self.found(look))
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
    fn escapes(self, block: [V; N], input: &[u8]) -> Escapes<[V; N]> {
        let mut found = Escapes { valid: 0, values: block, decoded: block, marks: block };
        let [first, second] = self.digits_after(block, self.next_digits(input));
        for i in 0..N {
            let (first, second) = (first[i], second[i]);
            found.values[i] = V::value(first, second, self.0);
            found.marks[i] = block[i].eq(self.all(b'%')).unless(first | second);
            found.decoded[i] = block[i].decoded(first, second, found.marks[i], self.0);
        }
        found.valid = V::mask(found.marks);
        found
    }

    #[cfg_attr(optimized, inline(always))]
    fn guess(self, block: [V; N], next: &[u8], _: u64) -> Guess<[V; N]> {
        let (mut decoded, mut wrong) = (block, block);
        let [first, second] = self.digits_after(block, self.two(first_two(next).map(hex::value)));
        for i in 0..N {
            let (first, second, percent) = (first[i], second[i], block[i].eq(self.all(b'%')));
            wrong[i] = percent.without(percent.unless(first | second));
            decoded[i] = block[i].decoded(first, second, percent, self.0);
        }
        Guess { percent: self.eq(block, b'%'), wrong, decoded }
    }

    #[cfg_attr(optimized, inline(always))]
    fn any_wrong<const M: usize>(self, guesses: [&Guess<[V; N]>; M]) -> bool {
        let mut any = self.all(0);
        for m in 0..M {
            for i in 0..N {
                any = any | guesses[m].wrong[i];
            }
        }
        any.any()
    }

    #[cfg_attr(optimized, inline(always))]
    fn correct(self, guess: &Guess<[V; N]>) -> (u64, [V; N]) {
        let mut block = guess.decoded;
        for i in 0..N {
            block[i] = block[i].blend(guess.wrong[i], self.all(b'%'));
        }
        (V::mask(guess.wrong), block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn some_escapes(
        self,
        block: [V; N],
        mut text: [V; N],
        next: [u8; 2],
        class: &Class<V>,
        members: bool,
    ) -> SomeEscapes<[V; N]> {
        let (mut malformed, mut valid, mut decoded) = (block, block, block);
        let (mut any, flip) = (self.all(0), if members { self.all(0xFF) } else { self.all(0) });
        // Letters in lower case have the bit 0x10; the other digits do not have it.
        let next = next.map(|byte| hex::value(byte) | u8::from(byte.is_ascii_lowercase()) << 4);
        let [first, second] = self.digits_after(block, self.two(next));
        for i in 0..N {
            let percent = block[i].eq(self.all(b'%'));
            let both = first[i] | second[i];
            let digits = percent & both;
            any = any | digits;
            valid[i] = percent.unless(both);
            // Computed from `percent` and `valid`, this would take registers that SSSE3 does not have.
            malformed[i] = self.all(0xFF).without(self.all(0xFF).unless(digits));
            let value = V::value(first[i], second[i], self.0);
            let others = self.ascii_member(value, class).eq(self.all(0));
            decoded[i] = valid[i] & (others ^ flip);
            text[i] = text[i].blend(decoded[i], value);
        }
        SomeEscapes {
            valid: V::mask(valid),
            malformed: V::mask(malformed),
            // On AVX2 marks of the digits take less time than a wrong guess about these.
            lower: if V::BYTES == 32 {
                u64::MAX
            } else {
                V::mask([(any & self.all(0x10)).eq(self.all(0x10))])
            },
            decoded: V::mask(decoded),
            text,
            values: block,
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn decode_dense<const MASKS: bool>(
        self,
        input: &[u8],
        carry: &mut u64,
        out: &mut Cursor<'_>,
    ) -> Option<[u64; 4]> {
        if input.len() < 4 * Self::LANES + V::BYTES || out.spare() < 4 * Self::LANES {
            return None;
        }
        let mut stage = Stage::new();
        let mut window = out.window(4 * Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        let mut at = start;
        if !V::COUNTS_LANES {
            // SAFETY: the check at the start shows that the input has `4 * N + 1` registers, and the window has `4 * LANES` bytes.
            let (len, drops) = unsafe { self.decode_in_turn::<MASKS>(input, carry, start)? };
            // SAFETY: `decode_in_turn` initialised these bytes, which are at most `4 * LANES`.
            unsafe { window.keep(len) };
            return Some(drops);
        }
        let (mut doubt, mut carried, mut drops, mut masks) = (self.all(0), *carry, [0; 4], [0; 4]);
        // All masks are made before they are used: the instructions that use a mask would otherwise wait for it in the queue of the
        // CPU and leave no space there for those of the next blocks.
        for i in 0..4 {
            let percent = self.eq(self.load(&input[i * Self::LANES..]), b'%');
            drops[i] = digits_of(percent, Lanes::<Self>::ALL, &mut carried);
            // The write is volatile, because otherwise the compiler joins the masks in one register before it stores them, and what is
            // read from there is late.
            // SAFETY: the pointer comes from a reference, so it is writable.
            unsafe { (&raw mut masks[i]).write_volatile(drops[i]) };
        }
        let (mut bytes, mut loaded) = (self.load(input)[0], 0);
        let mut digits = self.digits(bytes);
        for k in 0..4 {
            let mut block = [bytes; N];
            for j in 0..N {
                loaded += 1;
                // SAFETY: `loaded <= 4 * N`, and the check at the start shows that the input has `4 * LANES + BYTES` bytes, which are
                // `4 * N + 1` registers.
                let next = unsafe { V::load(self.0, input.as_ptr().add(V::BYTES * loaded)) };
                let next_digits = self.digits(next);
                let (first, second) = (digits.after::<1>(next_digits), digits.after::<2>(next_digits));
                let percent = bytes.eq(self.all(b'%'));
                doubt = doubt | percent & (first | second);
                block[j] = bytes.decoded(first, second, percent, self.0);
                (bytes, digits) = (next, next_digits);
            }
            // SAFETY: `k < 4` and `sixteen < 4`, and `masks` has sixteen times two bytes. Each block before this one has at most `LANES`
            // bytes, so `LANES` more are inside the window. Each sixteen lanes of this block write sixteen bytes, of which at most
            // sixteen are kept.
            unsafe {
                for sixteen in 0..Self::LANES / 16 {
                    let drop = masks.as_ptr().cast::<[u8; 2]>().add(4 * k + sixteen).read();
                    let (register, part) = (sixteen / V::PARTS, sixteen % V::PARTS);
                    block[register].write_places(part, without_digits(drop), at.wrapping_add(16 * sixteen));
                    // Counting the lanes that stay would take one instruction more.
                    at = at.wrapping_sub(u16::from_le_bytes(drop).count_ones() as usize);
                }
            }
            at = at.wrapping_add(Self::LANES);
        }
        if V::mask([self.all(0xFF).unless(doubt)]) != low_mask(V::BYTES) {
            return None;
        }
        *carry = carried;
        // SAFETY: the window has `4 * LANES` bytes. The loop initialised the bytes of each block, one block after the other, and they
        // are at most `LANES` each.
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
        if V::mask([percent.unless(bad)]) == low_mask(V::BYTES) { Some(values) } else { None }
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
        found: &Escapes<[V; N]>,
        class: &Class<V>,
        members: bool,
    ) -> (u64, [V; N]) {
        let flip = if members { self.all(0xFF) } else { self.all(0) };
        let mut marks = self.non_members(found.values, class);
        for i in 0..N {
            marks[i] = (marks[i] ^ flip) & found.marks[i];
            block[i] = block[i].blend(marks[i], found.values[i]);
        }
        (V::mask(marks), block)
    }

    #[cfg_attr(optimized, inline(always))]
    fn upper(self, mask: u64, mut block: [V; N], lower: &mut bool) -> [V; N] {
        // The lanes of `mask` are hexadecimal digits, and of these only lower-case letters are above `Z`.
        let mut letters = block;
        for i in 0..N {
            letters[i] = block[i].above(self.all(b'Z'));
        }
        if const { !V::MASKS_ARE_SLOW } && !*lower {
            // This test takes less time than the marks of the digits.
            if V::mask(letters) & mask == 0 {
                return block;
            }
            *lower = true;
        }
        let marks = self.spread(mask);
        for i in 0..N {
            block[i] = block[i].without(letters[i] & marks[i] & self.all(0x20));
        }
        block
    }

    #[cfg_attr(optimized, inline(always))]
    fn store(self, block: [V; N], lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        for i in 0..N {
            // SAFETY: `BYTES * i + BYTES <= LANES`, and the window has `LANES` writable bytes.
            unsafe { block[i].store(start.add(V::BYTES * i)) };
        }
        // SAFETY: the loop initialised all `LANES` bytes of the window, and by the invariant of `Lanes` the count is at most
        // `LANES`.
        unsafe { window.keep(lanes.count()) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn prefetch(self, address: usize) {
        V::prefetch(self.0, address);
    }

    #[cfg_attr(optimized, inline(always))]
    fn store_whole<const M: usize>(self, blocks: [[V; N]; M], out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(M * Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        for m in 0..M {
            for i in 0..N {
                // SAFETY: `LANES * m + BYTES * i + BYTES <= M * LANES`, and the window has `M * LANES` writable bytes.
                unsafe { blocks[m][i].store(start.add(Self::LANES * m + V::BYTES * i)) };
            }
        }
        // SAFETY: the loops initialised all `M * LANES` bytes of the window.
        unsafe { window.keep(M * Self::LANES) };
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress(self, block: [V; N], drop: u64, lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(Self::LANES, &mut stage);
        // SAFETY: the window has `LANES` bytes, and `write_compressed` has initialised as many as it returns.
        unsafe {
            let len = self.write_compressed(block, drop, lanes, window.as_mut_ptr());
            window.keep(len);
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn compress_both(self, blocks: [[V; N]; 2], drops: [u64; 2], lanes: Lanes<Self>, out: &mut Cursor<'_>) {
        let mut stage = Stage::new();
        let mut window = out.window(lanes.count() + Self::LANES, &mut stage);
        let start = window.as_mut_ptr();
        // SAFETY: `write_compressed` returns at most `lanes`, so each block has `LANES` bytes of the window. The second starts where the
        // first ends, so all bytes up to its end are initialised.
        unsafe {
            let first = self.write_compressed(blocks[0], drops[0], lanes, start);
            let last = self.write_compressed(blocks[1], drops[1], Lanes::ALL, start.add(first));
            window.keep(first + last);
        }
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
        escape: u64,
        lanes: Lanes<Self>,
        digits: V,
        out: &mut Cursor<'_>,
    ) {
        let escape = escape & lanes.mask();
        self.expand_marked(block, Marked { marks: self.spread(escape), escape }, lanes, digits, out);
    }

    #[cfg_attr(optimized, inline(always))]
    fn expand_non_members<const REPLACED: bool>(
        self,
        block: [V; N],
        _: &[u8],
        members: Marked<V, N>,
        lanes: Lanes<Self>,
        digits: V,
        out: &mut Cursor<'_>,
    ) {
        let escape = members.escape & lanes.mask();
        self.expand_marked(block, Marked { escape, ..members }, lanes, digits, out);
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
