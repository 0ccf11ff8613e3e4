//! Pools that keep the memory of freed results for new results.
//!
//! The system takes four times as long to provide new pages as the codec takes to fill them. So pools keep large buffers, up to
//! a limit.

use std::sync::{Mutex, TryLockError};

/// The smallest buffer, in bytes, that a pool keeps. The allocator keeps smaller ones by itself.
const LARGE: usize = 1 << 16;
/// The largest number of bytes that a pool keeps.
const LIMIT: usize = 128 << 20;

/// A pool of buffers that can be reused.
pub(crate) struct Pool<T>(Mutex<Kept<T>>);

struct Kept<T> {
    buffers: Vec<Vec<T>>,
    /// The number of bytes of all kept buffers together.
    size: usize,
}

fn size_of_buffer<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity() * size_of::<T>()
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Pool<T> {
        Pool(Mutex::new(Kept { buffers: Vec::new(), size: 0 }))
    }

    /// Returns an empty vector with capacity for `count` values.
    pub(crate) fn take(&self, count: usize) -> Vec<T> {
        let fits = |buffer: &Vec<T>| (count..=count.saturating_mul(4)).contains(&buffer.capacity());
        if count.saturating_mul(size_of::<T>()) >= LARGE
            && let Some(mut kept) = self.lock()
            && let Some(index) = kept.buffers.iter().position(fits)
        {
            let buffer = kept.buffers.swap_remove(index);
            kept.size -= size_of_buffer(&buffer);
            return buffer;
        }
        Vec::with_capacity(count)
    }

    /// Keeps the memory of a vector for reuse, if it is large and the limit allows it.
    pub(crate) fn give(&self, mut buffer: Vec<T>) {
        let size = size_of_buffer(&buffer);
        if (LARGE..=LIMIT).contains(&size)
            && let Some(mut kept) = self.lock()
            && kept.size + size <= LIMIT
        {
            buffer.clear();
            kept.size += size;
            kept.buffers.push(buffer);
        }
    }

    /// Locks the pool. Returns `None` if another thread has it, because using the allocator is then quicker than waiting.
    fn lock(&self) -> Option<std::sync::MutexGuard<'_, Kept<T>>> {
        match self.0.try_lock() {
            Ok(kept) => Some(kept),
            // A panic cannot leave the buffers half changed, so poisoning is ignored.
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
