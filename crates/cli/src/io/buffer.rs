//! Buffers that files are read into.

use std::ops::{Deref, DerefMut};

/// What processors call a page, for the purpose of copying.
const PAGE: usize = 4096;

/// A buffer that starts in the middle of a page.
///
/// The system copies files from the start of pages. Some processors (AMD Zen 3, by `rep movsb`) take three times as
/// long for that if the target lies a few bytes further in its page than the source does in its own. That is where
/// allocators put large buffers, and where a block comes after the start of an escape that was cut off.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// One of `len` bytes.
    pub fn new(len: usize) -> Buffer {
        let bytes = vec![0; len + PAGE];
        let start = (bytes.as_ptr().align_offset(PAGE) + PAGE / 2) % PAGE;
        let mut buffer = Buffer { bytes, start };
        buffer.bytes.truncate(start + len);
        buffer
    }

    /// Makes it longer.
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
