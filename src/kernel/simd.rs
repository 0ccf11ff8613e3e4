//! The vocabulary of kernels that other crates write: blocks of 64 bytes, masks, and sets of bytes.
//!
//! [`Simd`] has more general operations than [`Isa`](crate::kernel::drive::Isa), which is made for encoding and decoding. The
//! tiers implement both with the same registers.

/// An algorithm that is written once for all tiers.
pub trait Kernel {
    /// The type of the result.
    type Output;

    /// Runs the algorithm with the blocks of `simd`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must the functions that they pass `simd` to: only code that is inlined into
    /// the caller of this method is compiled with the CPU features of the tier. A closure is not, so closures must not use `simd`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;

    /// Runs the algorithm without vectors, for the scalar tier.
    fn run_scalar(self) -> Self::Output;
}

/// The vector instructions of a tier: blocks of 64 bytes, and masks with one bit for each byte.
///
/// A value is a capability: it exists only on a CPU that has the instructions, so all methods are safe.
pub trait Simd: Copy {
    /// Whether [`Simd::members`] looks up all bytes of a block at once. Otherwise it looks up one byte after the other.
    const LOOKS_UP: bool = true;

    /// A block of 64 bytes.
    type Block: Copy;

    /// Loads a block.
    fn load(self, bytes: &[u8; 64]) -> Self::Block;

    /// Loads fewer than 64 bytes into a block, and reads no byte after them. The lanes after these bytes are unspecified.
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

    /// Returns the union of all eight masks of [`Simd::pairs`].
    #[inline(always)]
    fn any_pair(self, before: Self::Block, block: Self::Block, first: &Sets, second: &Sets) -> u64 {
        self.pairs::<8>(before, block, first, second).iter().fold(0, |any, both| any | both)
    }

    /// Returns `mask` unchanged, but hides from the compiler how it was made, where that makes kernels faster: of a union of
    /// several masks, the compiler would otherwise compute each bit by itself.
    #[inline(always)]
    fn opaque(self, mask: u64) -> u64 {
        mask
    }
}

/// Up to eight sets of ASCII bytes that are looked up together.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Sets {
    /// Bit `k` of `by_byte[b]` is set if set `k` holds the ASCII byte `b`.
    pub(crate) by_byte: [u8; 128],
    /// Bit `h` of `by_low_half[k][l]` is set if set `k` holds the byte with the high half `h` and the low half `l`.
    pub(crate) by_low_half: [[u8; 16]; 8],
}

impl Sets {
    /// Makes the sets of the ASCII bytes that each of `sets` lists.
    #[must_use]
    pub const fn new(sets: &[&[u8]]) -> Sets {
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
    #[must_use]
    pub const fn by_byte(by_byte: [u8; 128]) -> Sets {
        let mut by_low_half = [[0; 16]; 8];
        let mut i = 0;
        while i < 8 * 128 {
            let (k, byte) = (i / 128, i % 128);
            by_low_half[k][byte & 15] |= (by_byte[byte] >> k & 1) << (byte >> 4);
            i += 1;
        }
        Sets { by_byte, by_low_half }
    }
}

/// Up to eight ASCII bytes that are searched together.
#[derive(Debug)]
pub struct Bytes<const K: usize> {
    bytes: [u8; K],
    /// A set of each byte alone, for tiers that look up bytes faster than they compare them.
    #[allow(dead_code, reason = "only NEON is such a tier")]
    pub(crate) sets: Sets,
}

impl<const K: usize> Bytes<K> {
    /// Prepares the search for `bytes`.
    #[must_use]
    pub const fn new(bytes: [u8; K]) -> Bytes<K> {
        let mut by_byte = [0; 128];
        let mut k = 0;
        while k < K {
            by_byte[bytes[k] as usize] |= 1 << k;
            k += 1;
        }
        Bytes { bytes, sets: Sets::by_byte(by_byte) }
    }
}
