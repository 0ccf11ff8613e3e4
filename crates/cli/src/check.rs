//! `pct check`: looks for what is malformed or suspicious, and writes nothing but findings.
//!
//! Blocks are searched for `%`; everything between is only checked to be UTF-8. Lines are counted up to a finding
//! when there is one, and else once a block.

use simdpct::{Escape, escapes};

use crate::args::{self, Kind};
use crate::buffer::Buffer;
use crate::error::{Cause, Failure, Outcome};
use crate::findings::Findings;
use crate::input::{BLOCK, Inputs, Names};
use crate::progress::Progress;
use crate::utf8::Utf8;

/// A `%` is looked at when this many bytes behind it are there: `%25` and two digits.
const AHEAD: usize = 4;

/// `pct check`.
pub fn check(args: &args::Check) -> Result<Outcome, Failure> {
    let end = if args.null { b'\0' } else { b'\n' };
    let mut findings = Findings::new(args)?;
    match check_all(args, end, &mut findings) {
        Ok(()) => Ok(findings.outcome()),
        // Only findings are written, so there was one.
        Err(Failure::ReaderGone) => Ok(findings.outcome()),
        Err(failure) => Err(failure),
    }
}

fn check_all(args: &args::Check, end: u8, findings: &mut Findings) -> Result<(), Failure> {
    let mut block = Buffer::new(BLOCK + AHEAD);
    let (mut bytes, mut records) = (0, 0);
    let names = Names::new(&args.files)?;
    let progress = Progress::start(names.known(), args.quiet, true);
    for input in Inputs::new(names, !args.files.no_decompress) {
        let mut input = input?;
        let mut scan = Scan::new(input.name().to_owned(), end, findings);
        let mut kept = 0;
        loop {
            let read = input.read(&mut block[kept..])?;
            let len = kept + read;
            let ready = match len.checked_sub(AHEAD) {
                _ if read == 0 => len,
                Some(at) => memchr::memchr(b'%', &block[at..len]).map_or(len, |found| at + found),
                None => memchr::memchr(b'%', &block[..len]).unwrap_or(len),
            };
            scan.block(&block[..len], ready)?;
            if read == 0 {
                break;
            }
            block.copy_within(ready..len, 0);
            kept = len - ready;
            if scan.findings.settled() {
                return Ok(());
            }
            scan.findings.flush()?;
        }
        bytes += input.offset();
        records += scan.finish()?;
        findings.flush()?;
    }
    drop(progress);
    let unit = if end == b'\0' { "record" } else { "line" };
    let plural = if records == 1 { "" } else { "s" };
    findings.summarize(format_args!("{records} {unit}{plural} ({bytes} bytes)"));
    Ok(())
}

/// A file that is looked at.
struct Scan<'f> {
    findings: &'f mut Findings,
    file: String,
    /// What ends a record.
    end: u8,
    /// The offset, in the file, of the block at hand.
    base: u64,
    /// The bytes of the block whose record ends are counted.
    counted: usize,
    /// The record ends counted so far.
    ends: u64,
    /// Whether the last byte seen was a record end, or there was none.
    at_start: bool,
    utf8: Utf8,
    /// The record of the last finding about UTF-8, of which one is enough.
    invalid_utf8: Option<u64>,
}

impl<'f> Scan<'f> {
    fn new(file: String, end: u8, findings: &'f mut Findings) -> Scan<'f> {
        Scan {
            findings,
            file,
            end,
            base: 0,
            counted: 0,
            ends: 0,
            at_start: true,
            utf8: Utf8::default(),
            invalid_utf8: None,
        }
    }

    /// Looks at the first `ready` bytes of `block`; the others are only looked ahead at.
    fn block(&mut self, block: &[u8], ready: usize) -> Result<(), Failure> {
        let mut at = 0;
        for found in escapes(block) {
            let offset = match &found {
                Ok(escape) => escape.offset,
                Err(escape) => escape.offset,
            };
            if offset >= ready {
                break;
            }
            match found {
                Ok(escape) => {
                    self.plain(block, at, offset)?;
                    self.escape(block, &escape)?;
                    at = offset + 3;
                }
                Err(escape) => {
                    self.plain(block, at, offset + 1)?;
                    at = offset + 1;
                    let spelling = &block[offset..block.len().min(offset + 3)];
                    let spelling = spelling.split(|&byte| byte == self.end || byte == b'\r').next();
                    let spelling = spelling.unwrap_or_default().escape_ascii();
                    self.add(
                        Kind::Malformed,
                        block,
                        offset,
                        format_args!("{spelling}: {}", Cause(escape.cause)),
                    )?;
                }
            }
            if self.findings.settled() {
                return Ok(());
            }
        }
        self.plain(block, at, ready)?;
        self.count(block, ready);
        self.at_start = block[..ready].last().map_or(self.at_start, |last| *last == self.end);
        self.base += ready as u64;
        self.counted = 0;
        Ok(())
    }

    /// Looks at an escape.
    fn escape(&mut self, block: &[u8], &Escape { offset, byte, .. }: &Escape) -> Result<(), Failure> {
        if self.findings.wants(Kind::Utf8) {
            let bad = self.utf8.push(byte, self.base + offset as u64);
            self.invalid_utf8(bad, block, offset)?;
        }
        let spelling = block[offset..offset + 3].escape_ascii();
        match (byte, block.get(offset + 3..offset + 5)) {
            (b'%', Some(digits)) if digits.iter().all(u8::is_ascii_hexdigit) => {
                let digits = digits.escape_ascii();
                self.add(Kind::Double, block, offset, format_args!("{spelling}{digits} decodes to %{digits}"))
            }
            (0, _) => self.add(Kind::Nul, block, offset, format_args!("{spelling}")),
            (b'/' | b'\\', _) => {
                self.add(Kind::Separator, block, offset, format_args!("{spelling} is {}", char::from(byte)))
            }
            (b'.', _) => self.add(Kind::Dot, block, offset, format_args!("{spelling} is .")),
            _ => Ok(()),
        }
    }

    /// Looks at bytes that stand for themselves.
    fn plain(&mut self, block: &[u8], from: usize, to: usize) -> Result<(), Failure> {
        if !self.findings.wants(Kind::Utf8) {
            return Ok(());
        }
        let mut at = from;
        while at < to {
            if self.utf8.is_between() {
                let Err(error) = std::str::from_utf8(&block[at..to]) else { return Ok(()) };
                at += error.valid_up_to();
                if let Some(len) = error.error_len() {
                    let bad = Some((block[at], self.base + at as u64));
                    self.invalid_utf8(bad, block, at)?;
                    // The rest of this record does not matter any more.
                    at = memchr::memchr(self.end, &block[at + len..to]).map_or(to, |found| at + len + found);
                    continue;
                }
            }
            let bad = self.utf8.push(block[at], self.base + at as u64);
            self.invalid_utf8(bad, block, at)?;
            at += 1;
        }
        Ok(())
    }

    /// Adds the finding that the record at `at` is not UTF-8, if `bad` says so.
    fn invalid_utf8(&mut self, bad: Option<(u8, u64)>, block: &[u8], at: usize) -> Result<(), Failure> {
        let Some((byte, offset)) = bad else { return Ok(()) };
        self.count(block, at);
        if self.invalid_utf8.replace(self.ends) == Some(self.ends) {
            return Ok(());
        }
        let place = (&*self.file, self.ends + 1, offset);
        self.findings.add(
            Kind::Utf8,
            place,
            format_args!("not UTF-8 after decoding, from byte 0x{byte:02X} on"),
        )
    }

    /// Adds a finding at `at`.
    fn add(
        &mut self,
        kind: Kind,
        block: &[u8],
        at: usize,
        text: std::fmt::Arguments<'_>,
    ) -> Result<(), Failure> {
        self.count(block, at);
        let place = (&*self.file, self.ends + 1, self.base + at as u64);
        self.findings.add(kind, place, text)
    }

    /// Counts record ends up to `at`.
    fn count(&mut self, block: &[u8], at: usize) {
        if let Some(bytes) = block.get(self.counted..at) {
            self.ends += memchr::memchr_iter(self.end, bytes).count() as u64;
            self.counted = at;
        }
    }

    /// Ends the file, and returns the number of its records.
    fn finish(mut self) -> Result<u64, Failure> {
        let bad = self.utf8.finish();
        self.invalid_utf8(bad, &[], 0)?;
        Ok(self.ends + u64::from(!self.at_start))
    }
}
