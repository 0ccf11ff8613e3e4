//! Memory in which an access just outside a slice crashes, or in which a later check finds a wrong write.
//!
//! On Unix, a [`GuardedSlice`] is between two pages that may not be touched, so a kernel that reads or writes one byte
//! too far crashes. On other targets (WebAssembly), a [`GuardedSlice`] is a plain vector; [`FAULTS`] tells whether the
//! target has guard pages. On all targets, the bytes around the slice are canaries, which [`GuardedSlice::intact`]
//! checks.

use std::ops::Range;

/// The byte that fills unused memory.
pub const CANARY: u8 = 0xA5;

/// The least usable size of the memory of a [`GuardedSlice`], in bytes.
const SIZE: usize = 4096;

/// The position of a slice in its guarded memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The slice starts this many bytes after the start of the memory; with 0, right after the first guard page.
    Start(usize),
    /// The slice ends this many bytes before the end of the memory; with 0, right before the second guard page.
    End(usize),
}

/// The positions that tests use: next to each guard page, or not aligned for any vector.
pub const PLACES: [Place; 5] =
    [Place::End(0), Place::Start(0), Place::Start(1), Place::Start(31), Place::End(7)];

/// Guarded memory for one slice.
pub struct GuardedSlice {
    memory: imp::Memory,
    slice: Range<usize>,
}

impl Default for GuardedSlice {
    /// Makes guarded memory with an empty slice.
    fn default() -> GuardedSlice {
        GuardedSlice::of(SIZE)
    }
}

impl GuardedSlice {
    fn of(size: usize) -> GuardedSlice {
        let mut memory = imp::Memory::new(size);
        memory.bytes().fill(CANARY);
        GuardedSlice { memory, slice: 0..0 }
    }

    /// Returns a new slice of `len` canaries at `place`.
    pub fn take(&mut self, len: usize, place: Place) -> &mut [u8] {
        let (Place::Start(by) | Place::End(by)) = place;
        if by + len > self.memory.bytes().len() {
            *self = GuardedSlice::of(by + len);
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

    /// Returns a new slice at `place` with a copy of `bytes`.
    pub fn put(&mut self, bytes: &[u8], place: Place) -> &mut [u8] {
        let slice = self.take(bytes.len(), place);
        slice.copy_from_slice(bytes);
        slice
    }

    /// Reports whether the 256 bytes before the slice and the 256 bytes after it, as far as they exist, have not changed.
    pub fn intact(&mut self) -> bool {
        let (slice, bytes) = (self.slice.clone(), self.memory.bytes());
        let canaries = [CANARY; 64];
        let clean = |bytes: &[u8]| bytes.chunks(64).all(|chunk| *chunk == canaries[..chunk.len()]);
        // A wrong vector store lands near the slice, so these bytes suffice. Checking all memory would be slow.
        clean(&bytes[slice.start.saturating_sub(256)..slice.start])
            && clean(&bytes[slice.end..bytes.len().min(slice.end + 256)])
    }
}

/// Whether the memory has guard pages on this target.
pub const FAULTS: bool = cfg!(unix);

#[cfg(unix)]
mod imp {
    use std::ptr;

    /// Usable memory between two guard pages, which may not be touched.
    // INVARIANT: `start` is the start of `len` readable and writable bytes. They are part of a mapping that this value owns,
    // which begins `page` bytes before them and ends `page` bytes after them.
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
            // SAFETY: a new anonymous mapping at an address that the system chooses overlaps no other memory.
            let base = unsafe { libc::mmap(ptr::null_mut(), len + 2 * page, protection, flags, -1, 0) };
            assert_ne!(base, libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
            // SAFETY: the mapping is `len + 2 * page` bytes long, so an offset of `page` is within it.
            let start = unsafe { base.cast::<u8>().add(page) };
            // SAFETY: the `len` bytes from `start` on are whole pages of the mapping that was just made.
            let result = unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
            Memory { start, len, page }
        }

        pub fn bytes(&mut self) -> &mut [u8] {
            // SAFETY: by the invariant, this value owns the bytes, and `&mut self` makes the borrow exclusive. A new anonymous
            // mapping is zeroed, so the bytes are initialised.
            unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: by the invariant, the address and the size are those of the whole mapping, which `self` owns.
            unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
        }
    }
}

#[cfg(not(unix))]
mod imp {
    /// A plain vector, because this target cannot protect a page.
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
