//! Puts code and buffers at chosen addresses. On Zen 4, a store that crosses a page takes 35 cycles. A load waits for
//! an older store whose address has the same lower twelve bits. Without chosen offsets, the luck of the allocator would
//! decide the results of rows.

/// The size of a page, and the period of the lower twelve bits of an address.
const PAGE: usize = 4096;

/// The offsets of output buffers in a page. Every contender is timed with a buffer at each of the four. From each of them, short
/// answers end well before the end of the page.
pub const OUTPUTS: [usize; 4] = [272, 1296, 2320, 3344];

/// The offset of the input in a page. It differs from the offsets of the outputs.
pub(crate) const INPUT: usize = 64;

/// Returns an empty vector of at least `capacity` bytes whose memory starts `offset` bytes after the start of a page. If the
/// allocator gives no such block within 5,000 attempts, the vector is at any offset. The allocator of glibc gives one.
pub fn at(capacity: usize, offset: usize) -> Vec<u8> {
    // The capacity is at least a page. Allocators keep freed small blocks in a list and hand them out again, so every
    // attempt would get the same block.
    let capacity = capacity.max(PAGE);
    // glibc gives each large block pages of its own, always at the same offset, until a block of this size has been freed. So the
    // function frees one first.
    drop(Vec::<u8>::with_capacity(31 << 20));
    let mut spacers = Vec::new();
    for _ in 0..5000 {
        let candidate = Vec::<u8>::with_capacity(capacity);
        let short = offset.wrapping_sub(candidate.as_ptr().addr()) % PAGE;
        if short == 0 {
            return candidate;
        }
        // The spacer takes the memory of the dropped candidate, so the next candidate starts later. Allocators put up to 16
        // bytes before a block.
        drop(candidate);
        spacers.push(Vec::<u8>::with_capacity(short.saturating_sub(16).max(16)));
    }
    Vec::with_capacity(capacity)
}

/// Aligns the next instruction to 64 bytes, the unit in which CPUs decode code or keep it decoded. Otherwise, code that is not measured
/// would decide where a loop starts. For example, a loop of calls of `memcpy` takes 3.0 ns a call at two of eight offsets, and 3.3 ns at
/// the other six, which include a multiple of 64.
#[inline(always)]
pub fn align_code() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[allow(unsafe_code, reason = "only assembly can align code within a function")]
    // SAFETY: The assembler only inserts instructions that do nothing.
    unsafe {
        std::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
    }
}
