//! The verbs that write: encode, decode, normalize.

use simdpct::stream::{Decoder, Encoder, Transform};
use simdpct::{ByteSet, HexCase, NORMALIZE};

use crate::args;
use crate::error::{Failure, Fault, Outcome, Place};
use crate::input::BLOCK;
use crate::jobs;
use crate::pieces;
use crate::record::{LineEncoder, Records};
use crate::work::Work;

/// Room for what one block can become, so that no block is measured before it is encoded and none makes the
/// buffer grow. Pages that no output reaches are never touched.
const ROOM: usize = 3 * BLOCK + 4096;

/// `pct encode`.
pub fn encode(args: &args::Encode) -> Result<Outcome, Failure> {
    let make = |set: ByteSet| {
        let case = if args.lower { HexCase::Lower } else { HexCase::Upper };
        let encode = simdpct::Encode::new(set).hex_case(case);
        match (args.keep_escapes, args.form) {
            (true, _) => encode.keep_escapes(),
            (_, true) => encode.form(),
            _ => encode,
        }
    };
    let keep = args.set.set.bytes().union(args.keep);
    let records = args.records.records();
    let (files, target) = (&args.files, &args.target);
    let work = Work::encode_across(args, records).refusing(false, false);
    if !work.is_blockwise() {
        return pieces::run(files, target, work, records.end());
    }
    match records {
        Records::Lines => run(files, target, &LineEncoder::new(keep, make), None),
        Records::Null => run(files, target, &Encoder::new(make(keep.add(b"\0"))), None),
        Records::Raw => run(files, target, &Encoder::new(make(keep)), None),
    }
}

/// `pct decode`.
pub fn decode(args: &args::Decode) -> Result<Outcome, Failure> {
    let records = args.records.records();
    let work = Work::decode_across(args, records).refusing(args.strict.strict, false);
    if !work.is_blockwise() {
        return pieces::run(&args.files, &args.target, work, records.end());
    }
    let mut decode = simdpct::Decode::new().keep(args.keep.union(records.structure()));
    if args.form {
        decode = decode.form();
    }
    transcode_escapes(decode, args.strict.strict, records, &args.files, &args.target)
}

/// `pct normalize`.
pub fn normalize(args: &args::Normalize) -> Result<Outcome, Failure> {
    // Structure is never unreserved, so nothing has to be kept.
    transcode_escapes(NORMALIZE, args.strict.strict, args.records.records(), &args.files, &args.target)
}

fn transcode_escapes(
    decode: simdpct::Decode,
    strict: bool,
    records: Records,
    files: &args::Files,
    target: &args::Target,
) -> Result<Outcome, Failure> {
    if strict {
        run(files, target, &Decoder::new(decode.strict()), Some(records.end()))
    } else {
        run(files, target, &Decoder::new(decode), None)
    }
}

/// Passes each file, block by block, through a transform of its own. `line_end` is what to count, if the transform
/// can fail, to say where.
fn run<T: Transform + Clone>(
    files: &args::Files,
    target: &args::Target,
    transform: &T,
    line_end: Option<u8>,
) -> Result<Outcome, Failure>
where
    Fault: From<T::Error>,
{
    let mut block = vec![0; BLOCK];
    let mut out = Vec::with_capacity(ROOM);
    jobs::each(files, target, |inputs, output| {
        // A job that has failed leaves some.
        out.clear();
        for input in inputs {
            let mut input = input?;
            output.forbid(input.file(), input.name())?;
            let mut transform = transform.clone();
            let mut lines = Lines { end: line_end, before: 0 };
            loop {
                let start = input.offset();
                let len = input.read(&mut block)?;
                let piece = &block[..len];
                let before = transform.clone();
                let result =
                    if len > 0 { transform.push(piece, &mut out) } else { transform.finish(&mut out) };
                if let Err(error) = result {
                    let Fault(escape) = error.into();
                    // What stands before the escape is written, however the input was cut into blocks. It is the
                    // first, so the same cannot fail up to there.
                    let good = (escape.offset as u64).saturating_sub(start) as usize;
                    out.clear();
                    transform = before;
                    let _ = transform.push(&piece[..good], &mut out);
                    output.write(&out)?;
                    let place = Place {
                        file: input.name().to_owned(),
                        line: lines.before + lines.count(&piece[..good]) + 1,
                        offset: escape.offset as u64,
                    };
                    return Err(Failure::malformed(place, &escape));
                }
                output.write(&out)?;
                out.clear();
                if len == 0 {
                    break;
                }
                lines.before += lines.count(piece);
            }
        }
        Ok(())
    })
}

/// The number of lines, or records, before a block.
struct Lines {
    end: Option<u8>,
    before: u64,
}

impl Lines {
    fn count(&self, piece: &[u8]) -> u64 {
        self.end.map_or(0, |end| memchr::memchr_iter(end, piece).count() as u64)
    }
}
