//! Shuffle tables shared by the tiers that have a byte shuffle and no compress instruction.
//!
//! All are 0x80-and-above-is-zero tables, which is what `pshufb`, `tbl` and `swizzle` have in common for lanes.

#![allow(dead_code, reason = "each architecture uses some of the tables")]

/// Bit `n & 7` at place `n`: selects a row's bit by the high half of a byte.
pub(super) const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// The negative of each of [`BITS`]: a sum of some of them is the negative of their mask.
pub(super) const NEGATED_BITS: [u8; 16] = {
    let mut negated = BITS;
    let mut i = 0;
    while i < 16 {
        negated[i] = negated[i].wrapping_neg();
        i += 1;
    }
    negated
};

/// A digit's value, shifted to where the first digit of two counts.
pub(super) const SHIFTED: [u8; 16] = {
    let mut shifted = [0; 16];
    let mut value = 0;
    while value < 16 {
        shifted[value] = (value as u8) << 4;
        value += 1;
    }
    shifted
};

/// The same less the `%` that the value replaces, so that it is added to that.
pub(super) const SHIFTED_LESS: [u8; 16] = {
    let mut shifted = SHIFTED;
    let mut i = 0;
    while i < 16 {
        shifted[i] = shifted[i].wrapping_sub(b'%');
        i += 1;
    }
    shifted
};

/// Looked up by the low half of a byte, as [`DIGIT_HIGH`] is by the high half: the saturating sum of both has a clear top
/// bit where the byte is a hexadecimal digit, and only there, and the digit's value in its low half. Where the byte is
/// above 0x7F, a shuffle by it gives 0 here, and [`DIGIT_HIGH`] sets the top bit.
pub(super) const DIGIT_LOW: [u8; 16] = {
    let mut low = [0x80; 16];
    let mut digit = 0;
    while digit < 10 {
        // `1` to `6` share their low halves with `A` to `F`. To any other, the high half of a letter adds too much.
        low[digit] = if matches!(digit, 1..=6) { digit as u8 } else { 0x40 + digit as u8 };
        digit += 1;
    }
    low
};

/// See [`DIGIT_LOW`].
pub(super) const DIGIT_HIGH: [u8; 16] = {
    let mut high = [0x80; 16];
    high[3] = 0;
    high[4] = 0x40 + 9;
    high[6] = 0x40 + 9;
    high
};

/// Whether lanes can be what the digits of escapes fill in a block: pairs, of which those at either end may be cut.
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

/// The number of masks of eight lanes that digits can fill.
const DIGITS: usize = {
    let (mut count, mut mask) = (0, 0);
    while mask < 256 {
        count += are_digits(mask as u8) as usize;
        mask += 1;
    }
    count
};

/// Sixteen places, in the cache line of others.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Places([u8; 16]);

/// For each mask that digits can fill in the lower eight of sixteen lanes and each in the upper eight, the places that move
/// the other lanes to the front. The last place is one less than their number: it is that of the last lane if all stay, and of no
/// use if not.
static WITHOUT_DIGITS: [[Places; DIGITS]; DIGITS] = {
    let mut table = [[Places([0; 16]); DIGITS]; DIGITS];
    let (mut low, mut row) = (0, 0);
    while low < 256 {
        if are_digits(low as u8) {
            let (mut high, mut column) = (0, 0);
            while high < 256 {
                if are_digits(high as u8) {
                    let (mask, mut lane, mut at) = (high << 8 | low, 0, 0);
                    while lane < 16 {
                        if mask >> lane & 1 == 0 {
                            table[row][column].0[at] = lane;
                            at += 1;
                        }
                        lane += 1;
                    }
                    table[row][column].0[15] = at as u8 - 1;
                    column += 1;
                }
                high += 1;
            }
            row += 1;
        }
        low += 1;
    }
    table
};

/// Where the row of a mask starts in [`WITHOUT_DIGITS`], in bytes, and where its column starts in a row.
static STARTS: ([u16; 256], [u16; 256]) = {
    let (mut rows, mut columns) = ([0; 256], [0; 256]);
    let (mut mask, mut found) = (0, 0);
    while mask < 256 {
        if are_digits(mask as u8) {
            rows[mask] = (found * DIGITS * 16) as u16;
            columns[mask] = (found * 16) as u16;
            found += 1;
        }
        mask += 1;
    }
    (rows, columns)
};

const _: () = {
    let mut mask = 0;
    while mask < 256 {
        let (row, column) = (STARTS.0[mask] as usize, STARTS.1[mask] as usize);
        assert!(row % size_of::<Places>() == 0 && column % size_of::<Places>() == 0);
        assert!(row + size_of::<[Places; DIGITS]>() <= size_of::<[[Places; DIGITS]; DIGITS]>());
        assert!(column < size_of::<[Places; DIGITS]>());
        mask += 1;
    }
    let mut entry = 0;
    while entry < DIGITS * DIGITS {
        assert!(WITHOUT_DIGITS[entry / DIGITS][entry % DIGITS].0[15] < 16);
        entry += 1;
    }
};

/// Returns the places that move the lanes that are not in `drop` to the front, if digits can fill these; else any places.
#[cfg_attr(optimized, inline(always))]
pub(super) fn without_digits(drop: u16) -> &'static Places {
    let [low, high] = drop.to_le_bytes();
    let start = usize::from(STARTS.0[usize::from(low)]) + usize::from(STARTS.1[usize::from(high)]);
    // SAFETY: the assertions above: each start is that of an entry, a row's within the table and a column's within a row.
    unsafe { &*WITHOUT_DIGITS.as_ptr().cast::<Places>().byte_add(start) }
}

impl Places {
    /// Returns the places themselves.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns one less than the number of lanes that the places leave, which is at most 15.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn last_left(&self) -> usize {
        // Volatile, or the compiler would take it from the register that holds the places, which is slower.
        // SAFETY: a reference is readable.
        usize::from(unsafe { (&raw const self.0[15]).read_volatile() })
    }
}

/// A place of [`EXPAND`] that stands for `%`: a shuffle gives zero there, and what is above 0x80 is the `%`.
pub(super) const PERCENT: u8 = 0x80 | b'%';

/// Where sixteen bytes of the escapes of sixteen lanes come from, of the pairs of digits of eight of them, from lane 0, 4 or 8 on.
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

/// Of three registers of sixteen lanes that hold sixteen escapes, which lanes of the second are `%`, first digits and second
/// digits, and which of the third; the others are those of the first.
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

/// Where the first digits of sixteen escapes are if taken by [`THIRDS`].
pub(super) const IN_ORDER: [u8; 16] = {
    let mut places = [0; 16];
    let mut i = 0;
    while i < 16 {
        places[i] = ((3 * i + 1) % 16) as u8;
        i += 1;
    }
    places
};

/// Where the first digits and the second digits of sixteen escapes are in three registers of sixteen lanes; above 0x7F for
/// those that are in others.
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

/// How to write eight lanes, some of them as escapes: where up to 24 bytes come from (lanes 0-7 hold the bytes, or
/// the high digits of those to escape, and lanes 8-15 the low digits); and how many bytes there are.
#[repr(align(32))]
pub(crate) struct Row(pub [u8; 32]);

impl Row {
    /// The place of the number of bytes.
    pub(super) const LEN: usize = 31;

    /// Returns the row for the lanes from `8 * group` on, of which those in `escape` are escaped.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn of_group(escape: u64, group: usize) -> &'static Row {
        // A rotation leaves its source where it is, which a shift does not.
        let offset = escape.rotate_left((69 - 8 * group as u32) % 64) as usize & (255 * size_of::<Row>());
        // (An index would become two shifts.)
        // SAFETY: the table has 256 rows, and the mask leaves of the offset the start of one of them.
        unsafe { &*EXPAND.as_ptr().byte_add(offset) }
    }

    /// Returns the number of bytes that the row writes, from 8 to 24.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn len(&self) -> usize {
        // Volatile, or the compiler would take it from the registers that hold the rest of the row, which is slower.
        // SAFETY: a reference is readable.
        usize::from(unsafe { (&raw const self.0[Row::LEN]).read_volatile() })
    }
}

const _: () = {
    let mut mask = 0;
    while mask < 256 {
        let escapes = (mask as u8).count_ones() as u8;
        assert!(EXPAND[mask].0[Row::LEN] == 8 + 2 * escapes);
        mask += 1;
    }
};

/// A [`Row`] for each mask of lanes to escape.
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
        row[Row::LEN] = at as u8;
        mask += 1;
    }
    table
};

/// Loaded from place `n`, moves lanes `n..16` to the front and fills with zeros: all, from 16 on.
pub(super) static SLIDE: [u8; 64] = {
    let mut slide = [0x80; 64];
    let mut i = 0;
    while i < 16 {
        slide[i] = i as u8;
        i += 1;
    }
    slide
};

/// In each byte, the number of bits in that byte of `mask`.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn counts(mask: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let pairs = mask - ((mask >> 1) & (EACH * 0x55));
    let nibbles = (pairs & (EACH * 0x33)) + ((pairs >> 2) & (EACH * 0x33));
    (nibbles + (nibbles >> 4)) & (EACH * 0x0F)
}

/// In byte `j`, the sum of the bytes below byte `j`, which is below 256.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn sums_below(counts: u64) -> u64 {
    counts.wrapping_mul(0x0101_0101_0101_0101) << 8
}

/// In byte `j`, the number of bits in the bytes of `mask` below byte `j`; at most 56.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn counts_below(mask: u64) -> u64 {
    sums_below(counts(mask))
}

/// Whether a byte is above 4, of bytes of at most 8.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn any_above_four(counts: u64) -> bool {
    (counts + 0x7B7B_7B7B_7B7B_7B7B) & 0x8080_8080_8080_8080 != 0
}

/// The number of bits in `mask`, without `popcnt`.
#[cfg_attr(optimized, inline(always))]
pub(super) const fn count(mask: u64) -> usize {
    let below = counts_below(mask) >> 56;
    below as usize + (mask >> 56).count_ones() as usize
}
