//! Provides the buffers that files are read into.

use std::ops::{Deref, DerefMut};

/// The size of a memory page, in bytes.
const PAGE: usize = 4096;

/// A buffer that starts in the middle of a memory page.
///
/// When a file is read, the operating system copies its bytes from the start of a page. On some processors (AMD Zen 3,
/// with `rep movsb`) the copy takes three times as long if the destination is up to 32 bytes after the start of a page
/// (lab: doors). Allocators return such addresses for large buffers. In a buffer at the start of a page, bytes that are
/// read after a few kept bytes would have such an address, too.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// Creates a buffer of `len` bytes.
    pub fn new(len: usize) -> Buffer {
        let bytes = vec![0; len + PAGE];
        let start = (bytes.as_ptr().align_offset(PAGE) + PAGE / 2) % PAGE;
        let mut buffer = Buffer { bytes, start };
        buffer.bytes.truncate(start + len);
        buffer
    }

    /// Grows the buffer to `len` bytes.
    pub fn grow(&mut self, len: usize) {
        let mut longer = Buffer::new(len);
        longer[..self.len()].copy_from_slice(self);
        *self = longer;
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lie_in_the_middle_of_pages() {
        for len in [0, 1, 4096, 65_536, 1 << 20] {
            let mut buffer = Buffer::new(len);
            assert_eq!((buffer.len(), buffer.as_ptr().addr() % PAGE), (len, PAGE / 2));
            buffer.fill(7);
            buffer.grow(len + 10);
            assert_eq!((buffer.len(), buffer.as_ptr().addr() % PAGE), (len + 10, PAGE / 2));
            assert!(buffer[..len].iter().all(|&byte| byte == 7));
        }
    }
}
