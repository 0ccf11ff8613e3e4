//! Turns the user's request into a job, and rejects options that contradict each other. Pairs of options that always
//! exclude each other are rejected earlier, by the definitions of the arguments (clap).

mod selection;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, is_separator};

use simdpct::ByteSet;
use simdpct_records::Escaping;

use crate::common::error::{Failure, Outcome};
use crate::common::fault::{Handling, Policy};
use crate::common::records::Records;
use crate::common::shown::shown;
use crate::convert::stats::StatsFormat;
use crate::convert::{Conversion, Escapes, Unit};
use crate::io::files::{Destination, Writes};
use crate::io::names::{self, Sources};
use crate::io::output;
use crate::run::blocks::{self, Blocks};
use crate::run::job::{Job, Results, Spec};
use crate::run::pump::Threads;
use crate::run::{self, OutputOptions};

pub use self::selection::{Selection, Shape};
pub use crate::print::findings::Show as FindingsFormat;
use crate::print::keys::Top;
pub use crate::print::preview::Show as PreviewFormat;
pub use crate::run::CheckOptions;
pub use crate::run::logs::LogSelection;
pub use crate::run::tables::Columns;

/// A request to convert values.
#[derive(Clone)]
pub struct Request {
    pub convert: Conversion,
    pub sources: Sources,
    pub destination: Destination,
    pub records: Records,
    pub selection: Selection,
    pub shape: Shape,
    /// The preview that is written instead of replacing files.
    pub preview: Option<PreviewFormat>,
    /// Whether the exit code says that a file would change.
    pub exit_code: bool,
    /// The delimiter of fields or columns; `None` if the user gave none.
    pub delimiter: Option<u8>,
    /// The escaping that is undone in values, before that of a log.
    pub unescape: Escaping,
    pub policies: Handling,
    /// The policy for malformed escapes that the user gave, if any.
    pub on_malformed: Option<Policy>,
    /// The policy for rejected values that the user gave, if any.
    pub on_rejected: Option<Policy>,
    /// The file for rejected values.
    pub rejects: Option<PathBuf>,
    /// The format of the summary on stderr.
    pub stats: Option<StatsFormat>,
    /// The memory limit for a record, in MiB.
    pub max_record: u32,
    /// The number of threads, if the user gave one.
    pub jobs: Option<NonZeroUsize>,
}

/// A request to `check` values, which lists findings.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    pub selection: Selection,
    /// The delimiter of fields or columns; `None` if the user gave none.
    pub delimiter: Option<u8>,
    /// The escaping that is undone in values, before that of a log.
    pub unescape: Escaping,
    pub options: CheckOptions,
}

/// A request to count the values that a conversion writes.
#[derive(Clone)]
pub struct TopRequest {
    pub request: Request,
    /// The number of keys to return.
    pub most: usize,
    /// The memory for keys, in MiB.
    pub memory: u32,
}

/// A request to keep the first line of each key.
#[derive(Clone)]
pub struct DedupRequest {
    /// The conversion of a line, or of the selected values, to the key.
    pub convert: Conversion,
    /// Whether keys are fingerprints of 128 bits.
    pub has_fingerprints: bool,
    pub sources: Sources,
    pub records: Records,
    /// The values that are the key.
    pub selection: Selection,
    /// The delimiter of fields or columns; `None` if the user gave none.
    pub delimiter: Option<u8>,
    /// The escaping that is undone in values, before that of a log.
    pub unescape: Escaping,
    pub destination: Destination,
    /// The file for rejected lines.
    pub rejects: Option<PathBuf>,
    /// The memory for keys, in MiB.
    pub memory: u32,
    /// The memory limit for a line, in MiB.
    pub max_record: u32,
    /// The number of threads, if the user gave one.
    pub jobs: Option<NonZeroUsize>,
}

/// The commands that read values.
pub struct Plan;

impl Plan {
    /// Lists the findings that `request` asks for.
    pub fn check(request: &CheckRequest) -> Result<Outcome, Failure> {
        let CheckRequest { selection, delimiter, unescape, options } = request;
        selection.check(&Shape::default(), delimiter.is_some(), options.records).map_err(Failure::Usage)?;
        let target = selection.target(options.records, *delimiter, *unescape).map_err(Failure::Usage)?;
        run::check(options, target)
    }

    /// Counts the values that `request` describes. Also returns the outcome of reading the inputs, some of which may have failed.
    pub fn top(request: TopRequest) -> Result<(Top, Result<Outcome, Failure>), Failure> {
        let TopRequest { request, most, memory } = request;
        check(&request).map_err(Failure::Usage)?;
        let spec = request.spec().map_err(Failure::Usage)?;
        let (limits, quiet) = ((most, (memory as usize) << 20), request.destination.quiet);
        run::top(&request.sources, quiet, spec, Threads(request.jobs), limits)
    }

    /// Keeps the first line of each key.
    pub fn dedup(request: DedupRequest) -> Result<Outcome, Failure> {
        let DedupRequest { convert, has_fingerprints, sources, records, .. } = request;
        let DedupRequest { destination, rejects, memory, max_record, jobs, .. } = request;
        let DedupRequest { selection, delimiter, unescape, .. } = request;
        let shape = Shape { is_key: true, ..Shape::default() };
        selection.check(&shape, delimiter.is_some(), records).map_err(Failure::Usage)?;
        check_in_place(&sources, &destination.place).map_err(Failure::Usage)?;
        if let Some(rejects) = &rejects {
            check_rejects(rejects, &sources, &destination).map_err(Failure::Usage)?;
        }
        let options = OutputOptions { rejects, has_rejects: true, ..OutputOptions::default() };
        if matches!(selection, Selection::Html) {
            let message =
                "--html: a document has no records; list its URLs by `pct get '{url}' --html --values` first";
            return Err(Failure::Usage(message.to_owned()));
        }
        let selected =
            selection.selected(&convert, records, delimiter, unescape, &shape).map_err(Failure::Usage)?;
        let (into, only_changed, policies) = (Vec::new(), false, Handling::LEAVE_OUT);
        let spec = Spec { selected, into, only_changed, policies, records, max_record };
        let keys = (has_fingerprints, (memory as usize) << 20);
        run::dedup(&sources, &destination, spec, &options, Threads(jobs), keys)
    }

    /// Runs the conversion that `request` describes.
    pub fn run(mut request: Request) -> Result<Outcome, Failure> {
        check(&request).map_err(Failure::Usage)?;
        let threads = Threads(request.jobs);
        if request.is_stream() {
            let job = Blocks::new(request.convert, request.records);
            return blocks::run(&request.sources, &request.destination, &job, threads);
        }
        let options = OutputOptions {
            rejects: request.rejects.take(),
            has_rejects: true,
            stats: request.stats,
            preview: request.preview.map(|show| (show, output::has_colours())),
            exit_code: request.exit_code,
        };
        let mut results = Results::Records;
        if options.preview.is_some() {
            // A preview replaces no file, so it goes to standard output.
            results = Results::Marked;
            request.destination.place = Writes::Stdout { format: None };
        }
        let job = Job::convert(request.spec().map_err(Failure::Usage)?, results, &options);
        run::convert(&request.sources, &request.destination, &job, &options, threads)
    }
}

impl Request {
    /// Reports whether the input is converted as one stream of bytes, whose records may have any length.
    fn is_stream(&self) -> bool {
        !self.needs_records() && self.convert.unit() == Unit::Byte && self.policies.malformed == Policy::Keep
    }

    /// Reports whether the input must consist of records.
    fn needs_records(&self) -> bool {
        !self.selection.is_records()
            || self.convert.unit() == Unit::Value
            || self.rejects.is_some()
            || self.stats.is_some()
            || self.preview.is_some()
            || self.shape.only_changed
            || self.policies.not_text != Policy::Keep
            || ![Policy::Keep, Policy::Fail].contains(&self.policies.malformed)
    }

    /// Returns the selected values and their conversion.
    fn spec(&self) -> Result<Spec, String> {
        let &Request { ref convert, records, ref shape, policies, max_record, .. } = self;
        let selected = self.selection.selected(convert, records, self.delimiter, self.unescape, shape)?;
        let (into, only_changed) = (shape.into.clone(), shape.only_changed);
        Ok(Spec { selected, into, only_changed, policies, records, max_record })
    }
}

/// Reports whether keeping the escapes of the bytes `kept` can split characters of the charset that `convert` decodes.
fn may_garble(convert: &Conversion, kept: ByteSet) -> bool {
    convert.decoder().is_some_and(|decoder| decoder.may_garble(kept))
}

/// Returns an error message if the options contradict each other.
fn check(request: &Request) -> Result<(), String> {
    let Request { selection, delimiter, records, shape, .. } = request;
    selection.check(shape, delimiter.is_some(), *records)?;
    if may_garble(&request.convert, ByteSet::EMPTY) {
        return Err(
            "--keep: in iso-2022-jp this byte may be half of a character, which would be torn apart; \
             decode first, and then encode the bytes that must stay escaped"
                .to_owned(),
        );
    }
    if matches!(selection, Selection::Html) {
        let policies = request.policies;
        if [policies.malformed, policies.not_text].contains(&Policy::Drop)
            || matches!(policies.rejected, Policy::Drop | Policy::Null)
        {
            return Err("--html: no part of a document can be left out; the policies `keep`, `empty` and `fail` of --on-malformed and \
                 --on-invalid-utf8, and `keep` and `fail` of --on-rejected, do not need that"
                .to_owned());
        }
        if request.preview.is_some() {
            return Err(
                "--dry-run and --diff show lines, and --html converts a document; compare the output of -o"
                    .to_owned(),
            );
        }
    }
    if request.preview.is_some() && *records != Records::Lines {
        return Err("--dry-run and --diff show lines; remove --raw or --null".to_owned());
    }
    if request.preview.is_some() && shape.only_values {
        return Err(
            "--values writes to standard output or -o: its output cannot replace the input".to_owned()
        );
    }
    if request.needs_records() && *records == Records::Raw {
        return Err("this needs records, and --raw treats the input as one stream; remove --raw".to_owned());
    }
    if request.on_malformed.is_some() && request.convert.escapes() == Some(Escapes::Data) {
        return Err("--on-malformed: this conversion escapes every `%`, so no escape is malformed".to_owned());
    }
    if request.on_rejected.is_some() && request.is_stream() {
        return Err("--on-rejected: no value can be rejected here; --on-invalid-utf8 is the policy for invalid UTF-8, and \
             --on-malformed, where there is one, for malformed escapes"
            .to_owned());
    }
    check_in_place(&request.sources, &request.destination.place)?;
    match &request.rejects {
        Some(rejects) => check_rejects(rejects, &request.sources, &request.destination),
        None => Ok(()),
    }
}

/// Returns an error message if the inputs cannot be replaced.
fn check_in_place(sources: &Sources, place: &Writes) -> Result<(), String> {
    let Writes::InPlace { suffix } = place else { return Ok(()) };
    if suffix.contains(is_separator) {
        return Err(format!("--in-place={suffix}: a suffix is part of a name, not a path"));
    }
    let is_stdin = sources.names.iter().any(|name| names::is_stdin(name));
    if sources.text.is_some() {
        return Err("--in-place needs files: the text of --expression cannot be replaced".to_owned());
    }
    if sources.list.is_none() && (is_stdin || sources.names.is_empty()) {
        return Err("--in-place needs files: standard input cannot be replaced".to_owned());
    }
    Ok(())
}

/// Returns an error message if the file of `--rejects` is also an input, an output or a backup of the run, as far as
/// the names of these files are known.
fn check_rejects(rejects: &Path, sources: &Sources, destination: &Destination) -> Result<(), String> {
    let is_stdout = rejects.as_os_str() == "-" || output::is_stdout(rejects);
    if is_stdout && destination.is_stdout() {
        return Err("--rejects and the output are both standard output; name a file".to_owned());
    }
    if destination.path().is_some_and(|output| output::is_one(output, rejects)) {
        return Err("--output and --rejects are the same file".to_owned());
    }
    for name in &sources.names {
        if output::is_one(name, rejects) {
            return Err(format!("{}: an input and --rejects are the same file", shown(name)));
        }
        if let Some(suffix) = destination.suffix()
            && output::is_one(&output::backup(name, suffix), rejects)
        {
            return Err(format!("{}: its backup and --rejects are the same file", shown(name)));
        }
    }
    Ok(())
}
