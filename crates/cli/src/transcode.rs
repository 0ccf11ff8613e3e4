//! The verbs that write: encode, decode, normalize.

use simdpct::ByteSet;

use crate::args;
use crate::error::{Failure, Outcome};
use crate::pipe::treat::Policies;
use crate::pipe::{blocks, records};
use crate::record::Records;
use crate::work::{Bad, Work};

/// `pct encode`.
pub fn encode(args: &args::Encode) -> Result<Outcome, Failure> {
    let records = args.records.records();
    let run = Run { files: &args.files, target: &args.target, pipe: &args.pipe, records, strict: false };
    run.run(Work::encode_across(args, records), |_| Work::encode(args))
}

/// `pct decode`.
pub fn decode(args: &args::Decode) -> Result<Outcome, Failure> {
    let (records, strict) = (args.records.records(), args.strict.strict);
    let run = Run { files: &args.files, target: &args.target, pipe: &args.pipe, records, strict };
    run.run(Work::decode_across(args, records), |structure| Work::decode(args, structure))
}

/// `pct normalize`.
pub fn normalize(args: &args::Normalize) -> Result<Outcome, Failure> {
    let (records, strict) = (args.records.records(), args.strict.strict);
    let run = Run { files: &args.files, target: &args.target, pipe: &args.pipe, records, strict };
    // Line ends are never unreserved, so nothing has to be kept.
    run.run(Work::normalize(ByteSet::EMPTY), Work::normalize)
}

/// What all verbs that write have in common.
struct Run<'a> {
    files: &'a args::Files,
    target: &'a args::Target,
    pipe: &'a args::Pipe,
    records: Records,
    strict: bool,
}

impl Run<'_> {
    /// Does `across` to pieces of several records if that will do, or else to single values what `work` makes of the
    /// bytes that would break a record.
    fn run(self, across: Work, work: impl Fn(ByteSet) -> Work) -> Result<Outcome, Failure> {
        let Run { files, target, pipe, records, strict } = self;
        let policies = Policies::new(pipe, strict);
        if records::are_wanted(pipe, policies) {
            return records::run(files, target, pipe, policies, records, work);
        }
        let across = across.refusing(Bad { malformed: policies.can_fail(), not_text: false });
        blocks::run(files, target, across, records.end(), pipe.jobs)
    }
}
