//! Runs verbs over files: each job converts or checks the content of files, and [`pump`] cuts the input into chunks, processes them in
//! several threads, and keeps their order.

pub mod blocks;
pub mod checks;
pub mod keyed;
pub mod logs;
mod pace;
pub mod pump;
pub mod tables;
pub mod values;

use std::path::PathBuf;

use self::logs::LogSelection;
use self::tables::Columns;
use crate::common::error::{Failure, Outcome, warn};
use crate::common::fault::Policy;
use crate::common::records::Records;
use crate::common::shown::shown;
use crate::convert::policy::Treatment;
use crate::convert::stats::{Stats, StatsFormat};
use crate::io::input::Input;
use crate::io::output::Output;
use crate::print::preview::Show;
use crate::print::rejects::Rejects;
use crate::print::{BYTE_ORDER_MARK, Sink};
use crate::run::pump::feed::Feed;
use crate::select::Selector;

/// The selection of the values that a job processes.
#[derive(Clone)]
pub struct Target {
    pub selector: Selector,
    /// Whether the meaning of a record depends on earlier records, so that only one thread can work.
    pub is_sequential: bool,
    /// The columns to find in the header of each table. Empty unless the selector selects from tables.
    pub columns: Columns,
    /// The selection of a log whose format the first lines of each file choose.
    pub auto: Option<LogSelection>,
}

/// The additional outputs of a job, besides its result.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// The file for rejected values.
    pub rejects: Option<PathBuf>,
    /// Whether the command can write such a file.
    pub has_rejects: bool,
    /// The format of the statistics that are printed at the end of the run; `None` if they are not printed.
    pub stats: Option<StatsFormat>,
    /// The preview that replaces the output, and whether it has colours.
    pub preview: Option<(Show, bool)>,
    /// Whether the exit code says that a file would change.
    pub exit_code: bool,
}

/// The list of rejected values and the statistics of a run.
struct Account {
    rejects: Option<Rejects>,
    stats: Stats,
    format: Option<StatsFormat>,
}

impl Account {
    /// Opens the file for rejected values, if there is one. `sync` says that the file must be on the disk when the
    /// run ends.
    fn open(options: &OutputOptions, sync: bool) -> Result<Account, Failure> {
        let create = |path| Rejects::create(path, sync);
        let rejects = options.rejects.as_deref().map(create).transpose()?;
        Ok(Account { rejects, stats: Stats::default(), format: options.stats })
    }

    /// Fails if `input` is the file that the run writes to directly, or the file of `--rejects`.
    fn admit(&self, input: &Input, output: &mut Output) -> Result<(), Failure> {
        output.reads(input.version(), input.name())?;
        match &self.rejects {
            Some(rejects) => rejects.forbid(input.version(), input.name()),
            None => Ok(()),
        }
    }

    /// Completes the file for rejected values, even if some inputs failed, and prints the summary.
    fn close(self, result: &Result<Outcome, Failure>) -> Result<Stats, Failure> {
        if matches!(result, Ok(_) | Err(Failure::Reported { .. })) {
            self.rejects.map(Rejects::commit).transpose()?;
        }
        if let Some(format) = self.format {
            self.stats.print(format);
        }
        Ok(self.stats)
    }
}

/// Warns about records that were left out because of faults in their values, and then like [`warn_rejected`]. `treatment` has the
/// policies that say what was done with them.
fn warn_faulty(stats: &Stats, treatment: &Treatment, options: &OutputOptions) {
    let policies = treatment.policies;
    let is_dropped = policies.rejected == Policy::Drop;
    let rejected = if is_dropped { stats.rejected + stats.unreadable } else { 0 };
    let count = stats.dropped.saturating_sub(rejected);
    if count > 0 && options.stats.is_none() {
        let fault = match (policies.malformed, policies.not_text) {
            (Policy::Drop, Policy::Drop) => "a malformed escape or invalid bytes",
            (Policy::Drop, _) => "a malformed escape",
            _ => "invalid bytes",
        };
        let (has, is) = if count == 1 { ("record has", "is") } else { ("records have", "are") };
        warn(format_args!("{count} {has} {fault}, and {is} left out; {}", reasons(options)));
    }
    warn_rejected(stats, treatment.value_policies().rejected, policies.rejected, options);
}

/// Returns the end of a message that says where reasons are listed.
fn reasons(options: &OutputOptions) -> String {
    match &options.rejects {
        Some(path) => format!("{} lists the reasons", shown(path)),
        None if options.has_rejects => "--rejects FILE lists the reasons".to_owned(),
        None => "`pct check --kinds unreadable` lists the reasons".to_owned(),
    }
}

/// Warns about values that were rejected, and records and values that could not be read, because a run without an error would
/// look like a conversion of everything. `values` is the policy for rejected values, and `unreadable` that for the others. Statistics
/// have these counts already.
fn warn_rejected(stats: &Stats, values: Policy, unreadable: Policy, options: &OutputOptions) {
    // Records that have messages of their own are not counted again.
    let records = stats.unreadable.saturating_sub(stats.mentioned + stats.clashes + stats.partial);
    for (count, policy, one, many) in [
        (stats.rejected, values, "value was rejected", "values were rejected"),
        (records, unreadable, "record is unreadable", "records are unreadable"),
        (stats.partial, unreadable, "value is unreadable", "values are unreadable"),
    ] {
        if count == 0 || policy == Policy::Fail || options.stats.is_some() {
            continue;
        }
        let (what, stays, left_out) = match count {
            1 => (one, "stays unchanged", "is left out"),
            _ => (many, "stay unchanged", "are left out"),
        };
        let outcome = match policy {
            Policy::Keep => stays,
            Policy::Drop => left_out,
            _ => "nothing is written instead, or null in JSON",
        };
        warn(format_args!("{count} {what}, and {outcome}; {}", reasons(options)));
    }
}

/// Skips a byte order mark at the start of the input, because it is not part of any value. If `is_kept`, the mark is
/// copied to the output. Only files of lines have such a mark: otherwise it is part of the first record.
fn pass_byte_order_mark(
    feed: &mut Feed<'_>,
    sink: &mut Sink<'_>,
    records: Records,
    is_kept: bool,
) -> Result<(), Failure> {
    let is_skipped = records == Records::Lines && !feed.is_argument() && feed.strip(BYTE_ORDER_MARK)?;
    if is_skipped { sink.pass_byte_order_mark(is_kept) } else { Ok(()) }
}
