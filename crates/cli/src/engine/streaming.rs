//! Work under way on what cannot be cut.

use super::feed::Part;
use crate::value::stream::Stream;

/// Work under way on what cannot be cut, if there is any. It belongs to one thread: a clone has none.
#[derive(Default)]
pub struct Streaming(Option<Under>);

struct Under {
    stream: Box<Stream>,
    /// Where it starts in the input.
    start: u64,
}

impl Clone for Streaming {
    fn clone(&self) -> Streaming {
        Streaming(None)
    }
}

impl Streaming {
    /// Whether it is under way.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Passes `bytes` through the stream under way, or one that `make` makes; ends the value if it can be cut after
    /// them.
    pub fn push(
        &mut self,
        make: impl FnOnce() -> Stream,
        bytes: &[u8],
        part: Part,
        out: &mut Vec<u8>,
    ) -> &Stream {
        let under = self.0.get_or_insert_with(|| Under { stream: Box::new(make()), start: part.offset });
        under.stream.push(bytes, out);
        if part.is_cut {
            under.stream.finish(out);
        }
        &under.stream
    }

    /// The offset in `part` of what is at `at` in the stream; negative if that is in a part before.
    pub fn relative(&self, at: u64, part: Part) -> i64 {
        let start = self.0.as_ref().map_or(part.offset, |under| under.start);
        (start + at) as i64 - part.offset as i64
    }

    /// The work under way is done.
    pub fn end(&mut self) {
        self.0 = None;
    }
}
