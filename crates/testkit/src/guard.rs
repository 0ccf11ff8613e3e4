//! Memory whose every access outside a slice is a crash, or is found afterwards.
//!
//! On Unix a [`Room`] lies between two pages that may not be touched, so a kernel that reads or writes one byte
//! too far dies on the spot. Elsewhere (WebAssembly) a [`Room`] is a plain vector: [`FAULTS`] says which it is. On
//! all targets the bytes of the room next to the slice are canaries that [`Room::intact`] checks.

use std::ops::Range;

/// The byte that fills a room.
pub const CANARY: u8 = 0xA5;

/// The usable size of a new room, in bytes, at least.
const SIZE: usize = 4096;

/// Where in a room a slice lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This many bytes after the start; with 0, flush against the guard page before it.
    Start(usize),
    /// This many bytes before the end; with 0, flush against the guard page after it.
    End(usize),
}

/// Flush against either guard page, and off the alignment of every vector.
pub const PLACES: [Place; 5] =
    [Place::End(0), Place::Start(0), Place::Start(1), Place::Start(31), Place::End(7)];

/// Room for one slice.
pub struct Room {
    memory: imp::Memory,
    slice: Range<usize>,
}

impl Default for Room {
    fn default() -> Room {
        Room::new()
    }
}

impl Room {
    /// An empty room.
    pub fn new() -> Room {
        Room::of(SIZE)
    }

    fn of(size: usize) -> Room {
        let mut memory = imp::Memory::new(size);
        memory.bytes().fill(CANARY);
        Room { memory, slice: 0..0 }
    }

    /// A slice of `len` canaries at `place`.
    pub fn take(&mut self, len: usize, place: Place) -> &mut [u8] {
        let (Place::Start(by) | Place::End(by)) = place;
        if by + len > self.memory.bytes().len() {
            *self = Room::of(by + len);
        }
        let old = self.slice.clone();
        self.memory.bytes()[old].fill(CANARY);
        let size = self.memory.bytes().len();
        let start = match place {
            Place::Start(by) => by,
            Place::End(by) => size - by - len,
        };
        self.slice = start..start + len;
        &mut self.memory.bytes()[start..start + len]
    }

    /// A copy of `bytes` at `place`.
    pub fn put(&mut self, bytes: &[u8], place: Place) -> &mut [u8] {
        let slice = self.take(bytes.len(), place);
        slice.copy_from_slice(bytes);
        slice
    }

    /// Whether nothing outside the slice has changed since it was taken.
    pub fn intact(&mut self) -> bool {
        let (slice, bytes) = (self.slice.clone(), self.memory.bytes());
        let canaries = [CANARY; 64];
        let clean = |bytes: &[u8]| bytes.chunks(64).all(|chunk| *chunk == canaries[..chunk.len()]);
        // A stray vector store lands near the slice; looking at the whole room would only be slow.
        clean(&bytes[slice.start.saturating_sub(256)..slice.start])
            && clean(&bytes[slice.end..bytes.len().min(slice.end + 256)])
    }
}

/// Whether this target's rooms have guard pages.
pub const FAULTS: bool = cfg!(unix);

#[cfg(unix)]
mod imp {
    use std::ptr;

    /// Usable pages between two that may not be touched.
    // INVARIANT: `start` is the start of `len` readable and writable bytes of a mapping of our own that begins
    // `page` bytes before it and ends `page` bytes after them.
    pub struct Memory {
        start: *mut u8,
        len: usize,
        page: usize,
    }

    impl Memory {
        pub fn new(size: usize) -> Memory {
            // SAFETY: `sysconf` only reads its argument.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("the size of a page is positive");
            let len = size.next_multiple_of(page);
            let (protection, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new anonymous mapping overlaps nothing.
            let base = unsafe { libc::mmap(ptr::null_mut(), len + 2 * page, protection, flags, -1, 0) };
            assert_ne!(base, libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
            // SAFETY: `page` is within the mapping.
            let start = unsafe { base.cast::<u8>().add(page) };
            // SAFETY: the inner pages are of the mapping that was just made.
            let result = unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
            Memory { start, len, page }
        }

        pub fn bytes(&mut self) -> &mut [u8] {
            // SAFETY: by the invariant these bytes are ours, and zeroed pages are initialised.
            unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: by the invariant this is the whole mapping, and `self` was its only owner.
            unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
        }
    }
}

#[cfg(not(unix))]
mod imp {
    /// A vector: this target cannot protect a page.
    pub struct Memory(Vec<u8>);

    impl Memory {
        pub fn new(size: usize) -> Memory {
            Memory(vec![0; size])
        }

        pub fn bytes(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
}
