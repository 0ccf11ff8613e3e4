//! Buffers at chosen offsets in a page. On Zen 4, a store that crosses a page takes 35 cycles, and a load waits for an older
//! store whose address has the same lower twelve bits. Without chosen offsets, the allocator would decide rows.

/// The size of a page, and the period of the lower twelve bits of an address.
const PAGE: usize = 4096;

/// The offsets of output buffers in a page. Every contender is timed with buffers at each of them. Short answers end well
/// before the end of the page at all four.
pub const OUTPUTS: [usize; 4] = [272, 1296, 2320, 3344];

/// The offset of input, which differs from those of output.
pub(crate) const INPUT: usize = 64;

/// Returns an empty vector with at least `capacity` bytes whose first byte is `offset` bytes after the start of a page; or one at
/// any offset, if the allocator does not give such a block within 200 attempts. glibc's does.
pub fn at(capacity: usize, offset: usize) -> Vec<u8> {
    // An allocator hands out small blocks again from a list of free ones, so it would return the same block each time.
    let capacity = capacity.max(PAGE);
    // glibc gives each large block pages of its own, always at the same offset, until a block of that size has been freed.
    drop(Vec::<u8>::with_capacity(31 << 20));
    let mut spacers = Vec::new();
    for _ in 0..200 {
        let candidate = Vec::<u8>::with_capacity(capacity);
        let short = offset.wrapping_sub(candidate.as_ptr().addr()) % PAGE;
        if short == 0 {
            return candidate;
        }
        // A spacer in place of the candidate moves the next one. Allocators put up to sixteen bytes before a block.
        drop(candidate);
        spacers.push(Vec::<u8>::with_capacity(short.saturating_sub(16).max(16)));
    }
    Vec::with_capacity(capacity)
}
