//! Shuffle tables for the instruction sets that have a byte shuffle and no compress instruction.
//!
//! In all tables of indices, an index of 0x80 or above gives zero. The shuffles `pshufb`, `tbl` and `swizzle` have this in common.
//! "lab: NAME" names the page docs/lab/DATE-NAME.md, which has the measurements.

#![allow(dead_code, reason = "each architecture uses some of the tables")]

/// The bit `1 << (n & 7)` at index `n`. Indexed by the high half of a byte, it is the bit to test in a row of a set.
pub(super) const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// The negative of each of [`BITS`]. A sum of some of them is the negative of their mask.
pub(super) const NEGATED_BITS: [u8; 16] =
    [255, 254, 252, 248, 240, 224, 192, 128, 255, 254, 252, 248, 240, 224, 192, 128];

/// For each value of a digit, the value shifted left by four bits, for the first digit of an escape.
pub(super) const SHIFTED: [u8; 16] = shifted_less(0);

/// The values of [`SHIFTED`], each less `%`. An entry that is added to a `%` gives the value.
pub(super) const SHIFTED_LESS: [u8; 16] = shifted_less(b'%');

/// Returns, for each value of a digit, the value shifted left by four bits, less `by`.
const fn shifted_less(by: u8) -> [u8; 16] {
    let mut shifted = [0; 16];
    let mut value = 0;
    while value < 16 {
        shifted[value] = ((value as u8) << 4).wrapping_sub(by);
        value += 1;
    }
    shifted
}

/// A table indexed by the low half of a byte; [`DIGIT_HIGH`] is indexed by the high half. The saturating sum of both entries
/// has a clear top bit exactly for hexadecimal digits, and then their value in its low half. For a byte above 0x7F, a shuffle
/// gives 0 here, and [`DIGIT_HIGH`] sets the top bit.
pub(super) const DIGIT_LOW: [u8; 16] = {
    let mut low = [0x80; 16];
    let mut digit = 0;
    while digit < 10 {
        // `1` to `6` share their low halves with `A` to `F`. The other digits get a larger entry, so that a letter's entry in
        // `DIGIT_HIGH` raises the sum to 0x80 or more.
        low[digit] = if matches!(digit, 1..=6) { digit as u8 } else { 0x40 + digit as u8 };
        digit += 1;
    }
    low
};

/// The table for the high half of a byte. See [`DIGIT_LOW`].
pub(super) const DIGIT_HIGH: [u8; 16] = {
    let mut high = [0x80; 16];
    high[3] = 0;
    high[4] = 0x40 + 9;
    high[6] = 0x50 + 9;
    high
};

/// Returns whether the digits of escapes can fill exactly the lanes of `mask`: pairs of lanes. A pair at either end may
/// be cut.
const fn are_digits(mask: u8) -> bool {
    let mut lane = 0;
    while lane < 8 {
        let run = (mask >> lane).trailing_ones();
        let cut = lane == 0 || lane + run == 8;
        if !(run == 0 || run == 2 || run == 1 && cut) {
            return false;
        }
        lane += run + 1;
    }
    true
}

/// Sixteen indices for a shuffle, aligned for loads of a register.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Places([u8; 16]);

/// Returns whether the digits of escapes can fill the lanes of `low` and, in the next eight lanes, those of `high`. Both are masks
/// for which [`are_digits`] holds. The second digit of a pair has to follow the first, and no other digit may follow a pair.
const fn fit(low: u8, high: u8) -> bool {
    matches!((low.leading_ones(), high.trailing_ones()), (0, 0 | 2) | (1, 1) | (2, 0))
}

/// The number of bytes of an entry of [`WITHOUT_DIGITS`].
const ENTRY: u16 = size_of::<Places>() as u16;

/// For each mask of digits: the start of its row in [`WITHOUT_DIGITS`], less the row's first column, if it is the lower
/// mask; and its column if it is the upper mask. The last number is the length of the table. A row has entries only for
/// masks that [`fit`]. All numbers are in bytes.
const LAYOUT: ([u16; 256], [u16; 256], u16) = {
    let (mut rows, mut columns) = ([0; 256], [0; 256]);
    // `kinds` has the widths of upper masks that start with no digit, with one digit, and with two.
    let (mut kinds, mut mask) = ([0; 3], 0);
    while mask < 256 {
        if are_digits(mask as u8) {
            kinds[(mask as u8).trailing_ones() as usize] += ENTRY;
        }
        mask += 1;
    }
    // In a row, masks that start with two digits come before those that start with none. Masks that start with one digit have
    // rows of their own.
    let (mut next, mut mask) = ([kinds[2], 0, 0], 0);
    while mask < 256 {
        if are_digits(mask as u8) {
            let kind = (mask as u8).trailing_ones() as usize;
            columns[mask] = next[kind];
            next[kind] += ENTRY;
        }
        mask += 1;
    }
    // First come the rows of masks that end with one digit, then two, then none. Each row has only the columns that
    // fit.
    let order = [(1, 0, kinds[1]), (2, kinds[2], kinds[0]), (0, 0, kinds[2] + kinds[0])];
    let (mut end, mut i) = (0, 0);
    while i < 3 {
        let (kind, first_column, width) = order[i];
        let mut mask = 0;
        while mask < 256 {
            if are_digits(mask as u8) && (mask as u8).leading_ones() == kind {
                rows[mask] = end - first_column;
                end += width;
            }
            mask += 1;
        }
        i += 1;
    }
    (rows, columns, end)
};

/// The number of entries of [`WITHOUT_DIGITS`].
const ENTRIES: usize = (LAYOUT.2 / ENTRY) as usize;

/// For each pair of masks that [`fit`], the indices that move all other lanes to the front. The last index is one less than the
/// number of these lanes. If all sixteen lanes stay, it is the index of the last lane; otherwise the shuffle's last lane is not
/// used.
static WITHOUT_DIGITS: [Places; ENTRIES] = {
    let (mut table, mut used) = ([Places([0; 16]); ENTRIES], [false; ENTRIES]);
    let mut low = 0;
    while low < 256 {
        let mut high = 0;
        while high < 256 && are_digits(low as u8) {
            if are_digits(high as u8) && fit(low as u8, high as u8) {
                let index = ((LAYOUT.0[low] + LAYOUT.1[high]) / ENTRY) as usize;
                assert!(!used[index], "two pairs of masks share an entry");
                used[index] = true;
                let (mask, mut lane, mut at) = (high << 8 | low, 0, 0);
                while lane < 16 {
                    if mask >> lane & 1 == 0 {
                        table[index].0[at] = lane;
                        at += 1;
                    }
                    lane += 1;
                }
                assert!(at <= 16);
                table[index].0[15] = at as u8 - 1;
            }
            high += 1;
        }
        low += 1;
    }
    table
};

/// The starts of rows and of columns in [`LAYOUT`].
static STARTS: ([u16; 256], [u16; 256]) = (LAYOUT.0, LAYOUT.1);

const _: () = {
    let (mut last_row, mut last_column, mut mask) = (0, 0, 0);
    while mask < 256 {
        let (row, column) = (STARTS.0[mask] as usize, STARTS.1[mask] as usize);
        assert!(row % size_of::<Places>() == 0 && column % size_of::<Places>() == 0);
        last_row = if row > last_row { row } else { last_row };
        last_column = if column > last_column { column } else { last_column };
        mask += 1;
    }
    assert!(last_row + last_column + size_of::<Places>() <= size_of_val(&WITHOUT_DIGITS));
};

/// Returns the indices that move all lanes but those of a little-endian mask to the front, if digits of escapes can
/// fill the lanes of the mask. Otherwise, returns arbitrary indices.
#[cfg_attr(optimized, inline(always))]
pub(super) fn without_digits([low, high]: [u8; 2]) -> &'static Places {
    let start = usize::from(STARTS.0[usize::from(low)]) + usize::from(STARTS.1[usize::from(high)]);
    // SAFETY: the assertions above show that each sum of a row's and a column's offset is the start of an entry of the table.
    unsafe { &*WITHOUT_DIGITS.as_ptr().cast::<Places>().byte_add(start) }
}

impl Places {
    /// Returns the indices as an array.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns one less than the number of lanes that stay, which is at most 15.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn last_left(&self) -> usize {
        // The read is volatile: otherwise the compiler extracts the byte from the register with the indices (lab: avx2-ssse3).
        // SAFETY: the pointer comes from a reference, so it is readable.
        usize::from(unsafe { (&raw const self.0[15]).read_volatile() })
    }
}

/// The index in a row of [`EXPAND`] that makes a shuffle write `%`: the shuffle gives zero, and the lower bits of the index are
/// `%`.
pub(super) const PERCENT: u8 = 0x80 | b'%';

/// Shuffle indices that make escapes of pairs of digits. The escapes of sixteen lanes fill three registers. Each
/// register is made from the pairs of eight lanes, from lane 0, 4 or 8 on.
pub(super) static PAIRS: [[u8; 16]; 3] = {
    let mut places = [[0; 16]; 3];
    let mut i = 0;
    while i < 48 {
        let (lane, part) = (i / 3, i % 3);
        places[i / 16][i % 16] = if part == 0 { PERCENT } else { (2 * (lane - i / 16 * 4) + part - 1) as u8 };
        i += 1;
    }
    places
};

/// Masks that gather triples from three registers of sixteen lanes. `THIRDS[k]` marks the lanes of the second and of the third
/// register that are the `k`-th byte of a triple: `%`, first digit, second digit. All other lanes come from the first register.
pub(super) static THIRDS: [[[u8; 16]; 2]; 3] = {
    let mut lanes = [[[0; 16]; 2]; 3];
    let (mut part, mut lane) = (0, 0);
    while part < 3 {
        while lane < 16 {
            lanes[part][0][lane] = if (16 + lane) % 3 == part { 0xFF } else { 0 };
            lanes[part][1][lane] = if (32 + lane) % 3 == part { 0xFF } else { 0 };
            lane += 1;
        }
        (part, lane) = (part + 1, 0);
    }
    lanes
};

/// Shuffle indices that put the first digits of sixteen escapes in order, after [`THIRDS`] gathered them. Each index is
/// three more than the one before, modulo 16.
pub(super) const IN_ORDER: [u8; 16] = [1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14];

/// Shuffle indices of the first and of the second digits of sixteen escapes in three registers of sixteen lanes. A digit that
/// is in another register has an index above 0x7F.
pub(super) static DIGITS_OF: [[[u8; 16]; 3]; 2] = {
    let mut places = [[[0x80; 16]; 3]; 2];
    let mut i = 0;
    while i < 16 {
        let (first, second) = (3 * i + 1, 3 * i + 2);
        places[0][first / 16][i] = (first % 16) as u8;
        places[1][second / 16][i] = (second % 16) as u8;
        i += 1;
    }
    places
};

/// Shuffle indices that write eight lanes, some of them as escapes, as up to 24 bytes. Lanes 0 to 7 of the source hold the
/// bytes, or the high digits of those to escape; lanes 8 to 15 hold the low digits. The last byte of a row is the number of
/// bytes written.
#[repr(align(32))]
pub(crate) struct Row(pub [u8; 32]);

impl Row {
    /// The index in a row of the number of bytes that the row writes.
    pub(super) const LEN: usize = 31;

    /// Returns the row for the eight lanes from lane `8 * group` on, in which the lanes of `escape` are escaped.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn of_group(escape: u64, group: usize) -> &'static Row {
        // A rotation does not overwrite its source register, unlike a shift (lab: ladders).
        let offset = escape.rotate_left((69 - 8 * group as u32) % 64) as usize & (255 * size_of::<Row>());
        // An index would be compiled to two shifts, so this adds a byte offset (lab: ladders).
        // SAFETY: the table has 256 rows, and the mask limits the offset to the start of one of them.
        unsafe { &*EXPAND.as_ptr().byte_add(offset) }
    }

    /// Returns the number of bytes that the row writes, from 8 to 24.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn len(&self) -> usize {
        // The read is volatile: otherwise the compiler extracts the byte from the registers with the row (lab: avx2-ssse3).
        // SAFETY: the pointer comes from a reference, so it is readable.
        usize::from(unsafe { (&raw const self.0[Row::LEN]).read_volatile() })
    }
}

/// A [`Row`] for each mask of lanes to escape in a group of eight.
pub(super) static EXPAND: [Row; 256] = {
    let mut table = [const { Row([0; 32]) }; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut at) = (0u8, 0);
        let row = &mut table[mask].0;
        while lane < 8 {
            if mask >> lane & 1 != 0 {
                row[at] = PERCENT;
                row[at + 1] = lane;
                row[at + 2] = 8 + lane;
                at += 3;
            } else {
                row[at] = lane;
                at += 1;
            }
            lane += 1;
        }
        assert!(at == 8 + 2 * mask.count_ones() as usize);
        row[Row::LEN] = at as u8;
        mask += 1;
    }
    table
};

/// Shuffle indices, loaded from offset `n`, that move lanes `n..16` to the front and fill the rest with zeros. From offset 16
/// on, all lanes become zero.
pub(super) static SLIDE: [u8; 64] = {
    let mut slide = [0x80; 64];
    let mut i = 0;
    while i < 16 {
        slide[i] = i as u8;
        i += 1;
    }
    slide
};

/// Returns, in each byte, the number of bits in that byte of `mask`.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn counts(mask: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let pairs = mask - ((mask >> 1) & (EACH * 0x55));
    let nibbles = (pairs & (EACH * 0x33)) + ((pairs >> 2) & (EACH * 0x33));
    (nibbles + (nibbles >> 4)) & (EACH * 0x0F)
}

/// Returns, in byte `j`, the sum of the bytes of `counts` below byte `j`, which is below 256.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn sums_below(counts: u64) -> u64 {
    counts.wrapping_mul(0x0101_0101_0101_0101) << 8
}

/// Reports whether any byte of `counts` is above 4. All bytes are at most 8.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn any_above_four(counts: u64) -> bool {
    (counts + 0x7B7B_7B7B_7B7B_7B7B) & 0x8080_8080_8080_8080 != 0
}
