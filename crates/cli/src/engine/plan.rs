//! From what was asked for to a job. Whether options go together is checked here and nowhere else, but for pairs that
//! exclude each other whatever their values: those the definitions of the arguments name.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, is_separator};

use simdpct::ByteSet;

use super::blocks::{self, Blocks};
use super::pump::Threads;
use super::values::{self, Values, Wanted};
use crate::ground::error::{Failure, Outcome};
use crate::ground::records::Records;
use crate::ground::shown::shown;
use crate::io::files::{Destination, Writes};
use crate::io::names::{self, Sources};
use crate::io::output;
use crate::select::Selector;
use crate::select::csv::Table;
use crate::select::fields::{Delimiter, Fields, Spot};
use crate::select::jsonl::{KeyPath, Keys};
use crate::value::charset::Charset;
use crate::value::options::Verb;
use crate::value::policy::{Policies, Policy, Treatment};
use crate::value::stats::StatsFormat;
use crate::value::work::Work;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub verb: Verb,
    pub sources: Sources,
    pub destination: Destination,
    pub records: Records,
    pub selection: Selection,
    /// What separates fields or columns, if that was said.
    pub delimiter: Option<Delimiter>,
    pub policies: Policies,
    /// The file for refused values.
    pub rejects: Option<PathBuf>,
    /// A summary on stderr.
    pub stats: Option<StatsFormat>,
    /// The most memory for a record, in MiB.
    pub max_record: u32,
    /// The threads, if their number was said.
    pub jobs: Option<NonZeroUsize>,
}

/// Where values are.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Each record is one.
    Records,
    Fields(Vec<Spot>),
    Columns {
        names: Vec<String>,
        has_header: bool,
        one_header: bool,
    },
    Keys(Vec<KeyPath>),
}

/// What is going to be done.
pub struct Plan {
    sources: Sources,
    destination: Destination,
    threads: Threads,
    job: Job,
}

enum Job {
    Blocks(Blocks),
    Values(Box<Values>, Wanted),
}

impl Plan {
    /// Does what was asked for, or says what is wrong with that.
    pub fn run(request: Request) -> Result<Outcome, Failure> {
        let Plan { sources, destination, threads, job } = Plan::new(request)?;
        match job {
            Job::Blocks(job) => blocks::run(&sources, &destination, &job, threads),
            Job::Values(job, wanted) => values::run(&sources, &destination, &job, &wanted, threads),
        }
    }

    fn new(request: Request) -> Result<Plan, Failure> {
        check(&request).map_err(Failure::Usage)?;
        let job = if request.needs_values() {
            let (values, wanted) = request.values().map_err(Failure::Usage)?;
            Job::Values(Box::new(values), wanted)
        } else {
            let work = Work::across(&request.verb, request.records);
            Job::Blocks(Blocks::new(work, request.records, request.policies.can_fail()))
        };
        Ok(Plan {
            sources: request.sources,
            destination: request.destination,
            threads: Threads(request.jobs),
            job,
        })
    }
}

impl Request {
    /// Whether values must be looked at one by one.
    fn needs_values(&self) -> bool {
        !matches!(self.selection, Selection::Records)
            || self.rejects.is_some()
            || self.stats.is_some()
            || self.policies.not_text != Policy::Keep
            || ![Policy::Keep, Policy::Fail].contains(&self.policies.malformed)
            || (self.verb.charset().is_some_and(Charset::is_stateful) && self.records != Records::Raw)
    }

    /// The job that looks at values.
    fn values(&self) -> Result<(Values, Wanted), String> {
        let structure = self.records.structure();
        let mut wanted = Wanted {
            columns: Vec::new(),
            has_header: false,
            one_header: false,
            rejects: self.rejects.clone(),
            stats: self.stats,
        };
        let mut empty: &[u8] = b"";
        let (selector, plain, quoted) = match &self.selection {
            Selection::Records => (Selector::Line, structure, structure),
            Selection::Fields(spots) => {
                let delimiter = self.delimiter.unwrap_or(Delimiter::Blanks);
                let controls: Vec<u8> = (0..0x20).chain([0x7F]).collect();
                let structure = structure.add(&controls);
                let (plain, quoted) = match delimiter {
                    Delimiter::Byte(byte) => (structure.add(&[byte]), structure),
                    Delimiter::Blanks => {
                        // An empty field would be no field.
                        empty = b"-";
                        // In quotes, as Apache writes them, a backslash may make a quote no end.
                        (structure.add(b" \"\\"), structure.add(b"\"\\"))
                    }
                };
                (Selector::Fields(Fields::new(spots, delimiter)?), plain, quoted)
            }
            Selection::Columns { names, has_header, one_header } => {
                (wanted.columns, wanted.has_header) = (names.clone(), *has_header);
                wanted.one_header = *one_header;
                let delimiter = match self.delimiter {
                    None => b',',
                    Some(Delimiter::Byte(byte)) => byte,
                    Some(Delimiter::Blanks) => {
                        return Err("CSV cannot be separated by blanks; give --delimiter one byte".to_owned());
                    }
                };
                (Selector::Table(Table::new(delimiter)), ByteSet::EMPTY, ByteSet::EMPTY)
            }
            Selection::Keys(paths) => (Selector::Keys(Keys::new(paths)), ByteSet::EMPTY, ByteSet::EMPTY),
        };
        let work = (Work::on_values(&self.verb, plain), Work::on_values(&self.verb, quoted));
        let (stats, rejects) = (self.stats.is_some(), self.rejects.is_some());
        let treatment = Treatment::new(work, self.policies, stats, rejects, empty);
        let values = Values::new(selector, treatment, self.records, &wanted, self.max_record);
        Ok((values.with_whole(Work::across(&self.verb, self.records)), wanted))
    }
}

/// Whether the options go together; or what to tell the person.
fn check(request: &Request) -> Result<(), String> {
    let Request { selection, delimiter, records, .. } = request;
    if matches!(selection, Selection::Records | Selection::Keys(_)) && delimiter.is_some() {
        return Err("--delimiter needs --field or --csv".to_owned());
    }
    if request.needs_values() && *records == Records::Raw {
        return Err("this needs values, and with --raw there are none".to_owned());
    }
    check_in_place(&request.sources, &request.destination.place)?;
    match &request.rejects {
        Some(rejects) => check_rejects(rejects, &request.sources, &request.destination),
        None => Ok(()),
    }
}

/// Whether the inputs can be replaced.
fn check_in_place(sources: &Sources, place: &Writes) -> Result<(), String> {
    let Writes::InPlace { suffix } = place else { return Ok(()) };
    if suffix.contains(is_separator) {
        return Err(format!("--in-place={suffix}: a suffix is a part of a name, not a path"));
    }
    let is_stdin = sources.names.iter().any(|name| names::is_stdin(name));
    if sources.text.is_some() {
        return Err("--in-place needs files: what --expression gives cannot be replaced".to_owned());
    }
    if sources.list.is_none() && (is_stdin || sources.names.is_empty()) {
        return Err("--in-place needs files: standard input cannot be replaced".to_owned());
    }
    Ok(())
}

/// Whether the file of `--rejects` is no other file of the run, as far as these are known before it.
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
