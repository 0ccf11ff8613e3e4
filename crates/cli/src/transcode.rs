//! The verbs that write: encode, decode, normalize.

use simdpct::stream::{Decoder, Encoder};
use simdpct::{ByteSet, HexCase, NORMALIZE};

use crate::args;
use crate::error::{Failure, Outcome};
use crate::pipe::treat::Policies;
use crate::pipe::{blocks, records};
use crate::record::{LineEncoder, Records};
use crate::work::Work;

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
    let (files, target) = (&args.files.files, args.target.output.as_deref());
    let (policies, work) = (Policies::new(&args.pipe, false), Work::encode(args));
    if records::are_wanted(&args.pipe, policies) || !work.is_blockwise() {
        return records::run(files, target, &args.pipe, policies, records, |_| work.clone());
    }
    let jobs = args.pipe.jobs;
    match records {
        Records::Lines => blocks::run(files, target, &LineEncoder::new(keep, make), None, jobs),
        Records::Null => blocks::run(files, target, &Encoder::new(make(keep.add(b"\0"))), None, jobs),
        Records::Raw => blocks::run(files, target, &Encoder::new(make(keep)), None, jobs),
    }
}

/// `pct decode`.
pub fn decode(args: &args::Decode) -> Result<Outcome, Failure> {
    let records = args.records.records();
    let mut decode = simdpct::Decode::new().keep(args.keep.union(records.structure()));
    if args.form {
        decode = decode.form();
    }
    let parts = Parts { files: &args.files, target: &args.target, pipe: &args.pipe, records };
    parts.decode(decode, args.strict.strict, |structure| Work::decode(args, structure))
}

/// `pct normalize`.
pub fn normalize(args: &args::Normalize) -> Result<Outcome, Failure> {
    let records = args.records.records();
    let parts = Parts { files: &args.files, target: &args.target, pipe: &args.pipe, records };
    // Line ends are never unreserved, so nothing has to be kept.
    parts.decode(NORMALIZE, args.strict.strict, Work::normalize)
}

/// What decode and normalize have in common.
struct Parts<'a> {
    files: &'a args::Files,
    target: &'a args::Target,
    pipe: &'a args::Pipe,
    records: Records,
}

impl Parts<'_> {
    fn decode(
        &self,
        decode: simdpct::Decode,
        strict: bool,
        work: impl Fn(ByteSet) -> Work,
    ) -> Result<Outcome, Failure> {
        let (files, target) = (&self.files.files, self.target.output.as_deref());
        let (records, jobs) = (self.records, self.pipe.jobs);
        let policies = Policies::new(self.pipe, strict);
        if records::are_wanted(self.pipe, policies) || !work(ByteSet::EMPTY).is_blockwise() {
            records::run(files, target, self.pipe, policies, records, work)
        } else if policies.can_fail() {
            blocks::run(files, target, &Decoder::new(decode.strict()), Some(records.end()), jobs)
        } else {
            blocks::run(files, target, &Decoder::new(decode), None, jobs)
        }
    }
}
