//! A pool that keeps the memory of freed results for new results.
//!
//! The system takes four times as long to provide new pages as the codec takes to fill them. So the pool keeps large buffers, up to
//! a limit.

use std::hint::black_box;
use std::mem;
use std::sync::{Mutex, MutexGuard, TryLockError};

use arrow_buffer::Buffer;
use bytes::Bytes;

/// The smallest buffer, in bytes, that the pool keeps. The allocator keeps smaller ones by itself.
const LARGE: usize = 1 << 16;
/// The largest number of bytes that the pool keeps.
const LIMIT: usize = 128 << 20;

static POOL: Mutex<Kept> = Mutex::new(Kept { buffers: Vec::new(), size: 0 });

struct Kept {
    buffers: Vec<Vec<u8>>,
    /// The number of bytes of all kept buffers together.
    size: usize,
}

/// Reports whether `count` bytes can be allocated. From `LARGE` bytes on, allocates them to find out. Callers check
/// first, because a failed allocation in the codec or Arrow ends the process. Another thread may still take the memory.
pub(crate) fn has_room(count: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    // Without `black_box`, the compiler may remove the unused allocation, and with it the failure.
    count < LARGE || black_box(&mut memory).try_reserve_exact(black_box(count)).is_ok()
}

/// Returns an empty vector with capacity for `count` bytes.
pub(crate) fn take(count: usize) -> Vec<u8> {
    let fits = |buffer: &Vec<u8>| (count..=count.saturating_mul(4)).contains(&buffer.capacity());
    if count >= LARGE
        && let Some(mut kept) = lock()
        && let Some(index) = kept.buffers.iter().rposition(fits)
    {
        let buffer = kept.buffers.swap_remove(index);
        kept.size -= buffer.capacity();
        return buffer;
    }
    Vec::with_capacity(count)
}

/// Keeps the memory of a large vector for reuse. If the limit requires it, frees other memory of the pool.
pub(crate) fn give(mut buffer: Vec<u8>) {
    let size = buffer.capacity();
    if (LARGE..=LIMIT).contains(&size)
        && let Some(mut kept) = lock()
    {
        while kept.size + size > LIMIT {
            kept.size -= kept.buffers.remove(0).capacity();
        }
        buffer.clear();
        kept.size += size;
        kept.buffers.push(buffer);
    }
}

/// Locks the pool. Returns `None` if another thread has locked it. Callers then use the allocator.
fn lock() -> Option<MutexGuard<'static, Kept>> {
    match POOL.try_lock() {
        Ok(kept) => Some(kept),
        // A panic cannot leave the buffers half changed, so poisoning is ignored.
        Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Bytes whose memory the pool gets when they are dropped.
struct Pooled(Vec<u8>);

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        give(mem::take(&mut self.0));
    }
}

/// Makes an Arrow buffer of bytes, without a copy.
pub(crate) fn buffer(bytes: Vec<u8>) -> Buffer {
    match bytes.capacity() {
        LARGE.. => Buffer::from(Bytes::from_owner(Pooled(bytes))),
        _ => Buffer::from_vec(bytes),
    }
}
