//! Keeps the conversion state of a value that cannot be cut into independent parts.

use crate::convert::stream::Stream;
use crate::run::pump::feed::Part;

/// The conversion state of the long value that this thread is working on, if any. A clone, which belongs to another
/// thread, starts without a stream.
#[derive(Default)]
pub struct Streaming(Option<Open>);

struct Open {
    stream: Box<Stream>,
    /// The offset of the value in the input.
    start: u64,
}

impl Clone for Streaming {
    fn clone(&self) -> Streaming {
        Streaming(None)
    }
}

impl Streaming {
    /// Reports whether a stream is open: a value has begun and has not ended.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Passes `bytes` through the open stream, or through a new one from `make`, and returns the stream. If the value
    /// can be cut after `part`, the stream completes its output there.
    pub fn push(
        &mut self,
        make: impl FnOnce() -> Stream,
        bytes: &[u8],
        part: Part,
        out: &mut Vec<u8>,
    ) -> &Stream {
        let open = self.0.get_or_insert_with(|| Open { stream: Box::new(make()), start: part.offset });
        open.stream.push(bytes, out);
        if part.is_cut {
            open.stream.finish(out);
        }
        &open.stream
    }

    /// Converts offset `at` in the stream to an offset in `part`. The result is negative if that byte is in an
    /// earlier part.
    pub fn relative(&self, at: u64, part: Part) -> i64 {
        let start = self.0.as_ref().map_or(part.offset, |open| open.start);
        (start + at) as i64 - part.offset as i64
    }

    /// Closes the stream.
    pub fn end(&mut self) {
        self.0 = None;
    }
}
