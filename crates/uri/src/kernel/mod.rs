//! What splits URLs and proves them canonical, 64 bytes at a time.
//!
//! [`Isa`] is a block of 64 bytes and its masks. The drivers (`split`, `scan`) are written once over it and have no
//! intrinsics and no `unsafe`. `isa` implements it and chooses at run time.

#[cfg(feature = "alloc")]
pub(crate) mod columns;
pub(crate) mod isa;
#[cfg(feature = "alloc")]
pub(crate) mod scan;
mod split;

/// Up to eight ASCII sets that are looked up together.
#[repr(C, align(64))]
#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
pub(crate) struct Sets {
    /// For each ASCII byte, bit `k` if set `k` holds it.
    by_byte: [u8; 128],
    /// For each set and low half of a byte, bit `h` if the set holds the byte with the high half `h`.
    by_low_half: [[u8; 16]; 8],
}

#[cfg(feature = "alloc")]
impl Sets {
    pub(crate) const fn new(sets: &[&[u8]]) -> Sets {
        let mut groups = [0; 128];
        let mut k = 0;
        while k < sets.len() {
            let mut i = 0;
            while i < sets[k].len() {
                groups[sets[k][i] as usize] |= 1 << k;
                i += 1;
            }
            k += 1;
        }
        Sets::by_byte(groups)
    }

    /// From one byte of bits for each ASCII byte.
    pub(crate) const fn by_byte(by_byte: [u8; 128]) -> Sets {
        let mut by_low_half = [[0; 16]; 8];
        let mut byte = 0;
        while byte < 128 {
            let mut k = 0;
            while k < 8 {
                if by_byte[byte] >> k & 1 != 0 {
                    by_low_half[k][byte & 15] |= 1 << (byte >> 4);
                }
                k += 1;
            }
            byte += 1;
        }
        Sets { by_byte, by_low_half }
    }
}

/// An instruction set: blocks of 64 bytes, and masks with one bit for each byte.
///
/// A value is a token: only a function with the CPU features can make one.
pub(crate) trait Isa: Copy {
    type Block: Copy;

    fn load(self, bytes: &[u8; 64]) -> Self::Block;

    /// Fewer than 64 bytes. What the masks say of the lanes after them is unspecified.
    fn load_short(self, bytes: &[u8]) -> Self::Block;

    /// The lanes that are `byte`.
    fn eq(self, block: Self::Block, byte: u8) -> u64;

    /// `mask`, of which the compiler knows nothing. LLVM takes the union of several masks that `movemask` made apart, bit by
    /// bit, where this does not keep it from doing so.
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
}

/// What it takes to prove lines canonical.
#[cfg(feature = "alloc")]
pub(crate) trait ScanIsa: Isa {
    /// The lanes of 0x80 and above.
    fn high(self, block: Self::Block) -> u64;

    /// For each of the first `K` sets, the lanes that it holds. What it says of lanes above 0x7F is unspecified.
    fn members<const K: usize>(self, block: Self::Block, sets: &Sets) -> [u64; K];

    /// For each of the first `K` sets of `first` and `second`: the lanes of `block` that are in the set of `second` while the
    /// same lane of `before` is in that of `first`. What it says of lanes above 0x7F is unspecified.
    fn pairs<const K: usize>(
        self,
        before: Self::Block,
        block: Self::Block,
        first: &Sets,
        second: &Sets,
    ) -> [u64; K];

    /// The union of all eight sets of `pairs`.
    fn any_pair(self, before: Self::Block, block: Self::Block, first: &Sets, second: &Sets) -> u64;
}
