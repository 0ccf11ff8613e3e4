//! Reads compressed data of several members, frames or streams as one text.

use std::io::{self, BufRead, Read};

use super::compression::{Format, Guess, Memory};

/// The kind of error for garbage after the compressed data, which [`Format::explain`] turns into a message. Reading a
/// file never returns this kind.
pub const GARBAGE: io::ErrorKind = io::ErrorKind::InvalidFilename;

/// A reader that decompresses an input to its end, member after member.
pub struct Members<R: BufRead> {
    format: Format,
    memory: Memory,
    /// The state of the reader; `None` after the end of the input or an error.
    state: Option<State<R>>,
}

enum State<R: BufRead> {
    /// The reader is before a member, or at the end of the input. The first member must exist.
    Between {
        input: R,
        is_start: bool,
    },
    Within(Member<R>),
}

/// A decoder of one member.
enum Member<R: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<R>>),
    Zstd(Box<zstd::Decoder<'static, R>>),
    Bzip2(Box<bzip2::bufread::BzDecoder<R>>),
    Xz(Box<liblzma::bufread::XzDecoder<R>>),
}

impl<R: BufRead> Members<R> {
    /// Creates a reader that decompresses `input`, which has this `format`.
    pub fn new(format: Format, memory: Memory, input: R) -> Members<R> {
        Members { format, memory, state: Some(State::Between { input, is_start: true }) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(State::Within(mut member)) => {
                    let read = member.read(bytes);
                    // The member is kept even after an error, because the caller repeats an interrupted read.
                    self.state = Some(match read {
                        Ok(0) => State::Between { input: member.into_inner(), is_start: false },
                        _ => State::Within(member),
                    });
                    if !matches!(read, Ok(0)) {
                        return read;
                    }
                }
                Some(State::Between { mut input, is_start }) => {
                    if !is_start && !follows(self.format, &mut input)? {
                        return Ok(0);
                    }
                    self.state = Some(State::Within(Member::new(self.format, self.memory, input)?));
                }
            }
        }
    }
}

/// Reports whether another member follows in `input`. Fails if other bytes follow.
fn follows(format: Format, input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let rest = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        let zeros = if format.has_padding() { rest.iter().take_while(|byte| **byte == 0).count() } else { 0 };
        match rest.get(zeros..).filter(|rest| !rest.is_empty()) {
            None if rest.is_empty() => return Ok(false),
            None => input.consume(zeros),
            Some(rest) => {
                let is_member = match Format::guess(rest) {
                    Guess::Settled(found) => found == Some(format),
                    Guess::Foreign(_) => false,
                    // A partial signature counts as a member, so that the decoder reports it as incomplete.
                    Guess::Open => true,
                };
                input.consume(zeros);
                return if is_member { Ok(true) } else { Err(GARBAGE.into()) };
            }
        }
    }
}

impl<R: BufRead> Member<R> {
    fn new(format: Format, memory: Memory, input: R) -> io::Result<Member<R>> {
        Ok(match format {
            Format::Gzip => Member::Gzip(Box::new(flate2::bufread::GzDecoder::new(input))),
            Format::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(input)?.single_frame();
                // Zstandard limits its window by a power of two: the largest that fits in the memory limit.
                let log = (u64::from(memory.limit) << 20).ilog2().clamp(10, 31);
                decoder.window_log_max(log)?;
                Member::Zstd(Box::new(decoder))
            }
            Format::Bzip2 => Member::Bzip2(Box::new(bzip2::bufread::BzDecoder::new(input))),
            Format::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(u64::from(memory.limit) << 20, 0)?;
                Member::Xz(Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream)))
            }
        })
    }

    fn into_inner(self) -> R {
        match self {
            Member::Gzip(decoder) => decoder.into_inner(),
            Member::Zstd(decoder) => decoder.finish(),
            Member::Bzip2(decoder) => decoder.into_inner(),
            Member::Xz(decoder) => decoder.into_inner(),
        }
    }
}

impl<R: BufRead> Read for Member<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Member::Gzip(decoder) => decoder.read(bytes),
            Member::Zstd(decoder) => decoder.read(bytes),
            Member::Bzip2(decoder) => decoder.read(bytes),
            Member::Xz(decoder) => decoder.read(bytes),
        }
    }
}
