//! Rejects options that contradict each other.

use std::path::is_separator;

use simdpct::ByteSet;

use crate::args::Args;
use crate::common::fault::Policy;
use crate::common::records::Records;
use crate::common::shown::shown;
use crate::convert::{Conversion, Escapes};
use crate::io::files::Writes;
use crate::io::{names, output, replacement, streams};

/// The maximum of `--max-record` in MiB if records have keys, because the lengths of keys are stored in 32 bits.
const LONGEST_KEYED: u32 = 2048;

/// Returns the message of the first conflict that clap cannot express. `conversion` is `None` if the command writes no converted values.
fn conflict(args: &Args, conversion: Option<&Conversion>) -> Option<&'static str> {
    let Args { input, places, output, written, strict } = args;
    let (fields, columns, preview) =
        (!places.field.is_empty(), !places.column.is_empty(), written.has_preview());
    let (in_place, policies) = (output.in_place.is_some(), args.policies());
    let is_listed = input.files_from.is_some() || input.files0_from.is_some();
    let is_stdin = input.files.is_empty() || input.files.iter().any(|name| names::is_stdin(name));
    let is =
        |test: fn(&Args, &Conversion) -> bool| conversion.is_some_and(|conversion| test(args, conversion));
    let conflicts = [
        (places.tsv && !fields && !columns, "--tsv needs --field or --column"),
        (
            places.tsv && fields && columns,
            "--tsv: fields have numbers, and columns have names; give --field or --column",
        ),
        (places.delimiter().is_some() && !fields && !places.is_table(), "--delimiter needs --field or --csv"),
        (
            written.values && places.is_whole(),
            "--values needs --field, --csv, --jsonl, --logfmt, --log or --html: otherwise the whole line is the value",
        ),
        (
            places.html && written.only_changed,
            "--only-changed needs records, and an HTML document is written as a whole; remove --html",
        ),
        (
            places.html && written.output_delimiter.is_some(),
            "--output-delimiter needs records, and an HTML document is written as a whole; remove --html",
        ),
        (
            written.only_changed && written.raw,
            "--only-changed writes lines, and --raw treats the input as one value; remove --raw",
        ),
        (
            is(|_, conversion| super::may_garble(conversion, ByteSet::EMPTY)),
            "--keep: in iso-2022-jp this byte may be half of a character, which would be torn apart; \
             decode first, and then encode the bytes that must stay escaped",
        ),
        (
            places.html && leaves_out(args),
            "--html: no part of a document can be left out; the policies `keep`, `empty` and `fail` of --on-malformed and \
             --on-invalid-utf8, and `keep` and `fail` of --on-rejected, do not need that",
        ),
        (
            places.html && preview,
            "--dry-run and --diff show lines, and --html converts a document; compare the output of -o",
        ),
        (
            preview && args.records() != Records::Lines,
            "--dry-run and --diff show lines; remove --raw or --null",
        ),
        (
            preview && written.values,
            "--values writes to standard output or -o: its output cannot replace the input",
        ),
        (
            written.raw && is(super::needs_records),
            "this needs records, and --raw treats the input as one stream; remove --raw",
        ),
        (
            strict.on_malformed.is_some() && is(|_, conversion| conversion.escapes == Some(Escapes::Data)),
            "--on-malformed: this conversion writes %25 for a `%` that begins no escape, so no escape is malformed",
        ),
        (
            written.on_rejected.is_some() && is(super::is_stream),
            "--on-rejected: no value can be rejected here; --on-invalid-utf8 is the policy for invalid UTF-8, and \
             --on-malformed, where there is one, for malformed escapes",
        ),
        (
            output.rejects.is_some()
                && [policies.malformed, policies.rejected, policies.not_text] == [Policy::Fail; 3],
            "--rejects: the policies stop the run at the first bad value, so no value could be listed",
        ),
        (
            in_place && !input.expression.is_empty(),
            "--in-place needs files: the text of --expression cannot be replaced",
        ),
        (in_place && !is_listed && is_stdin, "--in-place needs files: standard input cannot be replaced"),
    ];
    conflicts.into_iter().find(|(applies, _)| *applies).map(|(_, message)| message)
}

/// Reports whether a policy leaves records out.
fn leaves_out(args: &Args) -> bool {
    let policies = args.policies();
    [policies.malformed, policies.not_text].contains(&Policy::Drop)
        || matches!(policies.rejected, Policy::Drop | Policy::Null)
}

/// Returns an error message if the options contradict each other.
pub fn check(args: &Args, conversion: Option<&Conversion>) -> Result<(), String> {
    if let Some(message) = conflict(args, conversion) {
        return Err(message.to_owned());
    }
    check_into(args)?;
    check_suffix(args)?;
    check_rejects(args)
}

/// Returns an error message if a command that compares keys cannot run with the options.
pub fn check_keyed(args: &Args) -> Result<(), String> {
    if args.places.html {
        return Err(
            "--html: a document has no records; list its URLs by `pct get '{url}' --html --values` first"
                .to_owned(),
        );
    }
    if args.places.max_record > LONGEST_KEYED {
        return Err(format!("--max-record: at most {LONGEST_KEYED} where keys are compared"));
    }
    check(args, None)
}

/// Returns an error message if `--into` does not name one new column or member for each column or key.
fn check_into(args: &Args) -> Result<(), String> {
    let (into, places) = (args.written.new_names(), &args.places);
    if into.is_empty() {
        return Ok(());
    }
    let (count, what) = if places.is_table() {
        if places.no_header {
            return Err(
                "--into names a column, and with --no-header there is no place for the name".to_owned()
            );
        }
        (places.columns().len(), "columns")
    } else if places.jsonl && places.log.is_none() {
        if let Some(path) = places.key.iter().find(|path| !path.is_member()) {
            return Err(format!(
                "--into: '{path}' is not a member of an object, so no member can be added beside it"
            ));
        }
        (places.key.len(), "keys")
    } else {
        return Err("--into needs --csv, or --jsonl without --log".to_owned());
    };
    if count != into.len() {
        return Err(format!("--into: {} names for {count} {what}", into.len()));
    }
    let is_beside =
        |before: usize, index: usize| !places.jsonl || places.key[before].is_beside(&places.key[index]);
    let is_taken =
        |index: &usize| (0..*index).any(|before| into[before] == into[*index] && is_beside(before, *index));
    match (0..count).find(is_taken) {
        Some(index) => Err(format!("--into: the name '{}' is given twice", into[index])),
        None => Ok(()),
    }
}

/// Returns an error message if the suffix of `--in-place` is a path, or follows the option as a word of its own, where clap reads it as the
/// name of a file.
fn check_suffix(args: &Args) -> Result<(), String> {
    let Some(suffix) = &args.output.in_place else { return Ok(()) };
    if suffix.contains(is_separator) {
        return Err(format!("--in-place={suffix}: a suffix is part of a name, not a path"));
    }
    let is_suffix = |name: &str| name.len() > 1 && name.starts_with('.') && !name.contains(is_separator);
    let missing = args.input.files.iter().find(|name| name.to_str().is_some_and(is_suffix) && !name.exists());
    match missing {
        Some(name) if suffix.is_empty() => Err(format!(
            "there is no file {name}; a suffix follows the option without a blank: -i{name}",
            name = shown(name)
        )),
        _ => Ok(()),
    }
}

/// Returns an error message if the file of `--rejects` is also an input, an output or a backup of the run, as far as
/// the names of these files are known.
fn check_rejects(args: &Args) -> Result<(), String> {
    let Some(rejects) = &args.output.rejects else { return Ok(()) };
    let place = args.destination().place;
    let is_stdout = rejects.as_os_str() == "-" || streams::is_stdout(rejects);
    match &place {
        Writes::Stdout { .. } if is_stdout => {
            return Err("--rejects and the output are both standard output; name a file".to_owned());
        }
        Writes::File { path, .. } if output::is_one(path, rejects) => {
            return Err("--output and --rejects are the same file".to_owned());
        }
        _ => {}
    }
    for name in &args.input.files {
        if output::is_one(name, rejects) {
            return Err(format!("{}: an input and --rejects are the same file", shown(name)));
        }
        if let Writes::InPlace { suffix } = &place
            && !suffix.is_empty()
            && output::is_one(&replacement::backup(name, suffix), rejects)
        {
            return Err(format!("{}: its backup and --rejects are the same file", shown(name)));
        }
    }
    Ok(())
}
