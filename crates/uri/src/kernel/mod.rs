//! The kernels: they split URLs and prove URLs canonical, 64 bytes at a time.
//!
//! [`Isa`] is one instruction set: blocks of 64 bytes and their masks. `split`, `columns` and `scan` are each written once over it,
//! as an [`Operation`], without intrinsics and `unsafe`. `isa` implements [`Isa`], and chooses the instruction set at run time.

#[cfg(feature = "alloc")]
pub(crate) mod columns;
pub(crate) mod isa;
#[cfg(feature = "alloc")]
pub(crate) mod scan;
pub(crate) mod split;

/// A loop that is written once for all instruction sets.
pub(crate) trait Operation {
    type Output;

    /// Runs the operation with the blocks of `isa`. Implementations are `inline(always)`, so that they are compiled with the CPU
    /// features of their caller.
    fn run<I: Isa>(self, isa: I) -> Self::Output;

    /// Runs the operation on the scalar level, which has no vectors.
    fn run_scalar(self) -> Self::Output;
}

/// An instruction set: blocks of 64 bytes, and masks with one bit for each byte.
///
/// A value of the type is a token: it exists only on a CPU that has the features of the instruction set.
#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
pub(crate) trait Isa: Copy {
    /// Whether [`Isa::members`] looks up all bytes of a block at once.
    const LOOKS_UP: bool = true;

    type Block: Copy;

    fn load(self, bytes: &[u8; 64]) -> Self::Block;

    /// Loads fewer than 64 bytes into a block. The lanes after these bytes are unspecified.
    fn load_short(self, bytes: &[u8]) -> Self::Block;

    /// Returns a mask of the lanes whose byte is `byte`.
    fn eq(self, block: Self::Block, byte: u8) -> u64;

    /// Returns a mask for each of `bytes`: the lanes whose byte is that one.
    #[inline(always)]
    fn each<const K: usize>(self, block: Self::Block, bytes: &Bytes<K>) -> [u64; K] {
        let mut masks = [0; K];
        for (mask, byte) in masks.iter_mut().zip(bytes.bytes) {
            *mask = self.eq(block, byte);
        }
        masks
    }

    /// Returns a mask of the lanes whose byte is 0x80 or above.
    fn high(self, block: Self::Block) -> u64;

    /// Returns, for each of the first `K` sets, a mask of the lanes whose byte is in the set. Lanes with a byte of 0x80 or above
    /// are unspecified, and so are all lanes of a short block for a set that holds NUL.
    fn members<const K: usize>(self, block: Self::Block, sets: &Sets) -> [u64; K];

    /// Returns a mask for each index below `K`: the lanes whose byte in `before` is in that set of `first`, and whose byte in
    /// `block` is in that set of `second`. Lanes with a byte of 0x80 or above are unspecified.
    #[inline(always)]
    fn pairs<const K: usize>(
        self,
        before: Self::Block,
        block: Self::Block,
        first: &Sets,
        second: &Sets,
    ) -> [u64; K] {
        let (mut both, second) = (self.members::<K>(before, first), self.members::<K>(block, second));
        for (both, second) in both.iter_mut().zip(second) {
            *both &= second;
        }
        both
    }

    /// Returns the union of all eight masks of [`Isa::pairs`].
    #[inline(always)]
    fn any_pair(self, before: Self::Block, block: Self::Block, first: &Sets, second: &Sets) -> u64 {
        self.pairs::<8>(before, block, first, second).iter().fold(0, |any, both| any | both)
    }

    /// Returns `mask` unchanged, and keeps LLVM from computing a union of several masks bit by bit after `movemask`. The default
    /// implementation does nothing.
    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
}

/// Up to eight sets of ASCII bytes that are looked up together.
#[repr(C, align(64))]
#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
pub(crate) struct Sets {
    /// Bit `k` of `by_byte[b]` is set if set `k` holds the ASCII byte `b`.
    by_byte: [u8; 128],
    /// Bit `h` of `by_low_half[k][l]` is set if set `k` holds the byte with the high half `h` and the low half `l`.
    by_low_half: [[u8; 16]; 8],
}

impl Sets {
    #[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "only canonical forms look up sets"))]
    pub(crate) const fn new(sets: &[&[u8]]) -> Sets {
        let mut by_byte = [0; 128];
        let mut k = 0;
        while k < sets.len() {
            let mut i = 0;
            while i < sets[k].len() {
                by_byte[sets[k][i] as usize] |= 1 << k;
                i += 1;
            }
            k += 1;
        }
        Sets::by_byte(by_byte)
    }

    /// Makes the sets from a table. Bit `k` of `by_byte[b]` is set if set `k` holds the ASCII byte `b`.
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

/// Up to eight ASCII bytes that are searched together.
pub(crate) struct Bytes<const K: usize> {
    bytes: [u8; K],
    /// A set of each byte alone.
    #[allow(dead_code, reason = "only NEON looks up bytes")]
    sets: Sets,
}

impl<const K: usize> Bytes<K> {
    pub(crate) const fn new(bytes: [u8; K]) -> Bytes<K> {
        let mut by_byte = [0; 128];
        let mut k = 0;
        while k < K {
            by_byte[bytes[k] as usize] |= 1 << k;
            k += 1;
        }
        Bytes { bytes, sets: Sets::by_byte(by_byte) }
    }
}
