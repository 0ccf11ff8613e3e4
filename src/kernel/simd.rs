//! The interface for kernels that other crates write: blocks of 64 bytes, masks, and sets of bytes.
//!
//! [`Simd`] has more general operations than [`Isa`](crate::kernel::drive::Isa), which is made for encoding and
//! decoding. Each tier (the code for one instruction set) implements both with the same registers.

/// An algorithm that is written once for all tiers with vectors, and once for the scalar tier.
pub trait Kernel {
    /// The type of the result.
    type Output;

    /// Runs the algorithm with the blocks of `simd`.
    ///
    /// Implementations must be `#[inline(always)]`, and so must the functions to which they pass `simd`. Only code that
    /// is inlined into the caller of this method is compiled with the CPU features of the tier. A closure is not, so
    /// closures must not use `simd`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;

    /// Runs the algorithm without vectors, for the scalar tier.
    fn run_scalar(self) -> Self::Output;
}

/// The vector instructions of a tier: blocks of 64 bytes, and masks with one bit for each byte.
///
/// A value is a capability: it exists only on a CPU that has the instructions, so all methods are safe.
pub trait Simd: Copy {
    /// Whether [`Simd::classify`] looks up all bytes of a block at once. Otherwise it looks up one byte after the other.
    const LOOKS_UP: bool = true;

    /// A block of 64 bytes.
    type Block: Copy;

    /// The result of [`Simd::classify`]: for each byte of a block, the sets that hold it.
    type Classes: Copy;

    /// Loads the first 64 bytes. Loads a shorter input whole, and reads no byte after it; the lanes after it are then unspecified.
    fn load(self, bytes: &[u8]) -> Self::Block;

    /// Returns a mask of the lanes whose byte is `byte`. It is unspecified for a short block and the byte NUL.
    fn eq(self, block: Self::Block, byte: u8) -> u64;

    /// Returns a mask for each of the first `K` sets, which have one byte each: the lanes whose byte is that one.
    #[inline(always)]
    fn each<const K: usize>(self, block: Self::Block, sets: &Sets) -> [u64; K] {
        let mut masks = [0; K];
        for (mask, byte) in masks.iter_mut().zip(sets.last) {
            *mask = self.eq(block, byte);
        }
        masks
    }

    /// Returns a mask of the lanes whose byte is 0x80 or above.
    fn high(self, block: Self::Block) -> u64;

    /// Looks up the sets that hold each byte. The result is unspecified for lanes with a byte of 0x80 or above, and for all lanes of a
    /// short block if a set holds NUL.
    fn classify(self, block: Self::Block, sets: &Sets) -> Self::Classes;

    /// Returns, for each lane, the sets that are in both `first` and `second`.
    fn both(self, first: Self::Classes, second: Self::Classes) -> Self::Classes;

    /// Returns, for each of the first `K` sets, a mask of the lanes whose byte is in the set.
    fn masks<const K: usize>(self, classes: Self::Classes) -> [u64; K];

    /// Returns a mask of the lanes whose byte is in any of the eight sets.
    #[inline(always)]
    fn any(self, classes: Self::Classes) -> u64 {
        self.masks::<8>(classes).iter().fold(0, |any, mask| any | mask)
    }
}

/// Up to eight sets of ASCII bytes that are looked up together.
#[repr(C, align(64))]
pub struct Sets {
    /// Bit `k` of `by_byte[b / 64][b % 64]` is set if set `k` holds the ASCII byte `b`.
    pub(crate) by_byte: [[u8; 64]; 2],
    /// Bit `h` of `by_low_half[k][l]` is set if set `k` holds the byte with the high half `h` and the low half `l`.
    pub(crate) by_low_half: [[u8; 16]; 8],
    /// The largest byte of each set, or zero if the set is empty.
    last: [u8; 8],
}

impl Sets {
    /// Makes the sets of the ASCII bytes that each of `sets` lists.
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
    pub const fn by_byte(by_byte: [u8; 128]) -> Sets {
        let mut sets = Sets { by_byte: [[0; 64]; 2], by_low_half: [[0; 16]; 8], last: [0; 8] };
        let mut i = 0;
        while i < 8 * 128 {
            let (k, byte) = (i / 128, i % 128);
            sets.by_byte[byte / 64][byte % 64] = by_byte[byte];
            if by_byte[byte] >> k & 1 != 0 {
                sets.by_low_half[k][byte & 15] |= 1 << (byte >> 4);
                sets.last[k] = byte as u8;
            }
            i += 1;
        }
        sets
    }

    /// Returns the sets that hold an ASCII byte: bit `k` is for set `k`.
    pub const fn of(&self, byte: u8) -> u8 {
        self.by_byte[byte as usize / 64][byte as usize % 64]
    }
}
