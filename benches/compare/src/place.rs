//! Where buffers lie. A store across the end of a page takes 35 cycles on Zen 4, and a load waits for an older store if the
//! lower twelve bits of their addresses are the same. So where the allocator happens to put a buffer could decide a row.

/// A page, and what the lower twelve bits of an address repeat after.
const PAGE: usize = 4096;

/// The places of output buffers in a page. Everybody is timed with buffers at each of them. Short answers end well before the end
/// of the page at all four.
pub const OUTPUTS: [usize; 4] = [272, 1296, 2320, 3344];

/// The place of input, which is none of those of output.
pub(crate) const INPUT: usize = 64;

/// An empty vector for `capacity` bytes whose first byte lies `offset` bytes after the start of a page, if the allocator can be
/// brought to it; else one that lies anywhere.
pub(crate) fn at(capacity: usize, offset: usize) -> Vec<u8> {
    // A small block would be handed out again from a list of its own.
    let capacity = capacity.max(PAGE);
    // glibc gives each large block pages of its own, at always the same offset, until a block as large has been freed.
    drop(Vec::<u8>::with_capacity(31 << 20));
    let mut spacers = Vec::new();
    for _ in 0..200 {
        let candidate = Vec::<u8>::with_capacity(capacity);
        let short = offset.wrapping_sub(candidate.as_ptr().addr()) % PAGE;
        if short == 0 {
            return candidate;
        }
        // Something in its place moves the next one on. Allocators put up to sixteen bytes before a block.
        drop(candidate);
        spacers.push(Vec::<u8>::with_capacity(short.saturating_sub(16).max(16)));
    }
    Vec::with_capacity(capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn buffers_lie_where_they_should() {
        for offset in OUTPUTS.into_iter().chain([INPUT]) {
            for capacity in [100, 5000, 200_000, 4_000_000] {
                let buffer = at(capacity, offset);
                assert!(buffer.capacity() >= capacity);
                assert_eq!(buffer.as_ptr().addr() % PAGE, offset, "{capacity} bytes");
            }
        }
    }
}
