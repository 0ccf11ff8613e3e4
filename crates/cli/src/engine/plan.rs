//! From what was asked for to a job. Whether options go together is checked here and nowhere else, but for pairs that
//! exclude each other whatever their values: those the definitions of the arguments name.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, is_separator};

use super::blocks::{self, Blocks};
use super::checks;
#[cfg(feature = "parquet")]
use super::parquet::{self, Parquet};
use super::preview::Show;
use super::pump::Threads;
use super::selection::{Selection, Shape};
use super::values::{self, Values, Wanted};
use crate::ground::charset::Charset;
use crate::ground::error::{Failure, Outcome};
use crate::ground::records::Records;
use crate::ground::shown::shown;
use crate::io::files::{Destination, Writes};
use crate::io::names::{self, Sources};
use crate::io::output;
use crate::select::fields::Delimiter;
use crate::value::options::Verb;
use crate::value::policy::{Policies, Policy};
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
    pub shape: Shape,
    /// What is shown instead of replacing files.
    pub preview: Option<Show>,
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
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
}

impl Plan {
    /// Looks at what was asked for, or says what is wrong with that.
    pub fn check(request: &checks::Request) -> Result<Outcome, Failure> {
        let checks::Request { selection, delimiter, records, .. } = request;
        let shape = Shape::default();
        selection.check(&shape, delimiter.is_some(), *records).map_err(Failure::Usage)?;
        let places = selection.places(*records, *delimiter, &[], false, request.nginx);
        checks::run(request, places.map_err(Failure::Usage)?)
    }

    /// Does what was asked for, or says what is wrong with that.
    pub fn run(request: Request) -> Result<Outcome, Failure> {
        let Plan { sources, destination, threads, job } = Plan::new(request)?;
        match job {
            Job::Blocks(job) => blocks::run(&sources, &destination, &job, threads),
            Job::Values(job, wanted) => values::run(&sources, &destination, &job, &wanted, threads),
            #[cfg(feature = "parquet")]
            Job::Parquet(job) => parquet::run(&sources, &destination, *job),
        }
    }

    fn new(request: Request) -> Result<Plan, Failure> {
        check(&request).map_err(Failure::Usage)?;
        let job = if let Some(columns) = request.selection.parquet() {
            request.parquet(columns).map_err(Failure::Usage)?
        } else if request.needs_values() {
            let (values, wanted) = request.values().map_err(Failure::Usage)?;
            Job::Values(Box::new(values), wanted)
        } else {
            let work = Work::across(&request.verb, request.records);
            Job::Blocks(Blocks::new(work, request.records, request.policies.can_fail()))
        };
        Ok(Plan {
            sources: request.sources,
            // A preview replaces nothing.
            destination: match request.preview {
                Some(_) => Destination { place: Writes::Stdout { format: None }, ..request.destination },
                None => request.destination,
            },
            threads: Threads(request.jobs),
            job,
        })
    }
}

impl Request {
    /// Whether values must be looked at one by one.
    fn needs_values(&self) -> bool {
        !self.selection.is_records()
            || self.verb.takes_whole_values()
            || self.rejects.is_some()
            || self.stats.is_some()
            || self.preview.is_some()
            || self.shape.only_changed
            || self.policies.not_text != Policy::Keep
            || ![Policy::Keep, Policy::Fail].contains(&self.policies.malformed)
            || (self.verb.charset().is_some_and(Charset::is_stateful) && self.records != Records::Raw)
    }

    /// The job on columns of Parquet files.
    #[cfg(feature = "parquet")]
    fn parquet(&self, columns: &[String]) -> Result<Job, String> {
        let Request { verb, policies, rejects, stats, .. } = self;
        if [policies.malformed, policies.not_text].contains(&Policy::Drop) {
            return Err("--parquet: a row cannot be left out; `empty` leaves an empty value".to_owned());
        }
        Parquet::new(verb, columns, *policies, rejects.clone(), *stats).map(|job| Job::Parquet(Box::new(job)))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&self, _: &[String]) -> Result<Job, String> {
        Err("--parquet: this `pct` was built without it; cargo install --path crates/cli --features parquet"
            .to_owned())
    }

    /// The job that looks at values.
    fn values(&self) -> Result<(Values, Wanted), String> {
        let mut wanted = Wanted {
            rejects: self.rejects.clone(),
            stats: self.stats,
            preview: self.preview.map(|show| (show, output::has_colours())),
            ..Wanted::default()
        };
        let Request { selection, verb, records, delimiter, shape, policies, .. } = self;
        let selected = selection.selected(verb, *records, *delimiter, shape)?;
        wanted.columns.clone_from(&selected.places.columns);
        wanted.into.clone_from(&shape.into);
        let values = Values::new(selected, *policies, *records, shape, &wanted, self.max_record);
        Ok((values.with_whole(Work::across(verb, *records)), wanted))
    }
}

/// Whether the options go together; or what to tell the person.
fn check(request: &Request) -> Result<(), String> {
    let Request { selection, delimiter, records, shape, .. } = request;
    selection.check(shape, delimiter.is_some(), *records)?;
    if request.verb.may_garble(request.verb.kept()) {
        return Err(
            "--keep: in iso-2022-jp this byte may be half of a character, which would be torn apart; \
             decode first, and encode what shall stay escaped"
                .to_owned(),
        );
    }
    if request.preview.is_some() && *records != Records::Lines {
        return Err("--dry-run and --diff show lines; not with --raw or --null".to_owned());
    }
    if request.preview.is_some() && shape.only {
        return Err(
            "--only is for standard output or -o: a file of its own values replaces nothing".to_owned()
        );
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
