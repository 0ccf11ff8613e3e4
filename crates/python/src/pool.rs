//! Memory that results have been freed of, for the next ones.
//!
//! The system takes four times as long to give out new pages as the codec takes to fill them, so large buffers are kept, up to a
//! limit: the memory of one result is that of the next.

use std::sync::{Mutex, TryLockError};

/// Smaller buffers are left to the allocator, which keeps them by itself.
const LARGE: usize = 1 << 16;
/// What is kept at most, in bytes.
const LIMIT: usize = 128 << 20;

pub(crate) struct Pool<T>(Mutex<Kept<T>>);

struct Kept<T> {
    buffers: Vec<Vec<T>>,
    size: usize,
}

fn size_of_buffer<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity() * size_of::<T>()
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Pool<T> {
        Pool(Mutex::new(Kept { buffers: Vec::new(), size: 0 }))
    }

    /// An empty vector with room for `count` values.
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

    /// Keeps a vector's memory, if it is large and there is room for it.
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

    /// Nothing, if another thread has it: then it is quicker to do without.
    fn lock(&self) -> Option<std::sync::MutexGuard<'_, Kept<T>>> {
        match self.0.try_lock() {
            Ok(kept) => Some(kept),
            // What is in there is whole between two statements.
            Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
