//! Buffers that files are read into.

use std::ops::{Deref, DerefMut};

/// The size of a page.
const PAGE: usize = 4096;

/// A buffer that starts in the middle of a page.
///
/// The system copies files from the start of pages. On some processors (AMD Zen 3, with `rep movsb`) this takes three times
/// as long if the target is a few bytes further in its page than the source is in its own. Allocators return such targets
/// for large buffers, and so does a block that begins with the carried start of an escape.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// A buffer of `len` bytes.
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
