//! Turns the user's selection into a selector of values, and into a conversion that keeps the structure of records.

use simdpct::ByteSet;
use simdpct_records::{Dialect, Escaping, Form, KeyPath, Numbered, Quotes, Separator, Syntax, Table};

use crate::args::Args;
use crate::common::escape::escape;
use crate::common::fault::Handling;
use crate::common::records::Records;
use crate::convert::Conversion;
use crate::run::Target;
use crate::run::job::Spec;
use crate::run::logs::LogSelection;
use crate::run::tables::Columns;
use crate::select::{FieldName, Format, Selector};

/// Returns the selector of the values in records. Also returns the bytes that stay escaped in a value by default.
pub fn locate(args: &Args) -> Result<(Target, ByteSet), String> {
    let (places, records) = (&args.places, args.records());
    let (structure, unescape) = (records.structure(), places.unescape());
    let (mut columns, mut auto) = (Columns::default(), None);
    // Unless set below, the syntax around a value decides which bytes stay escaped, because some syntaxes have escapes of their own, also
    // for line ends.
    let mut kept = ByteSet::EMPTY;
    let selector = if let Some(spec) = places.log {
        let names = places.columns().into_iter().map(FieldName::Name);
        let names = places.field.iter().cloned().chain(names).collect();
        let selected = LogSelection { spec, names, outer: places.key.clone(), quiet: args.input.quiet };
        match spec.log {
            Some(log) => {
                let format = Format::Log(log, !selected.names.is_empty());
                Selector::new(selected.syntax(log, spec.wrapper)?, format)
            }
            None => {
                auto = Some(selected);
                Selector::line(Escaping::None, Format::Auto)
            }
        }
    } else if !places.field.is_empty() {
        let selector = Selector::fields(fields(&places.field, places.separator(), unescape)?);
        kept = selector.usual();
        selector
    } else if places.is_table() {
        let quotes = if places.lazy_quotes { Quotes::Lazy } else { places.quote_escape.unwrap_or_default() };
        let dialect = Dialect { delimiter: places.delimiter().unwrap_or(b','), quotes };
        if dialect == (Dialect { delimiter: b'\\', quotes: Quotes::Backslash }) {
            return Err("--delimiter: a backslash escapes quotes here".to_owned());
        }
        columns = Columns {
            names: places.columns(),
            has_header: !places.no_header,
            one_header: args.written.one_header,
            unescape,
        };
        // With a header, the columns are found in each file.
        let names = if columns.has_header { &[] } else { &columns.names[..] };
        Selector::columns(Table::new(dialect, names, &[], None)?).unescaping(unescape)
    } else if places.jsonl {
        json(&places.key, &args.written.new_names(), unescape)?
    } else if places.logfmt {
        let keys: Vec<_> = places.key.iter().map(KeyPath::to_string).collect();
        Selector::new(Syntax::logfmt(&keys).map_err(|message| format!("--key: {message}"))?, Format::Logfmt)
    } else if places.html {
        Selector::html()
    } else {
        kept = structure;
        let format = if places.unescape.is_some() { Format::Unescaped } else { Format::Whole };
        Selector::line(unescape, format)
    };
    Ok((Target { selector, columns, auto, mentions_logs: false }, kept))
}

/// Returns the fields that `names` selects.
fn fields(names: &[FieldName], separator: Separator, unescape: Escaping) -> Result<Numbered, String> {
    let position = |name: &FieldName| match name {
        FieldName::Number(position) => Ok(*position),
        FieldName::Name(name) => Err(format!(
            "--field {name}: fields have numbers; in a log whose format --log names, they have names"
        )),
    };
    let positions = &names.iter().map(position).collect::<Result<Vec<_>, _>>()?;
    if positions.iter().any(|position| position.word.is_some()) && separator != Separator::Quoted {
        return Err("--field: only quoted fields have words; add --quoted".to_owned());
    }
    Numbered::new(positions, separator, unescape).map_err(|message| format!("--field: {message}"))
}

/// Returns the written part of each record: the values, if `only_values` or for lines with `--unescape`, else all.
pub fn form(args: &Args, only_values: bool) -> Form {
    if !only_values && (!args.places.is_line() || args.places.is_whole()) {
        return Form::Whole;
    }
    let (delimiter, end) = (args.written.output_delimiter, args.records().end());
    Form::Values { delimiter, end, escape: |byte, out| escape(&[byte], out) }
}

/// Returns the options of a job that selects values in records, converts them, and writes the `form` of each record.
pub fn spec(args: &Args, conversion: &Conversion, form: Form, policies: Handling) -> Result<Spec, String> {
    let places = &args.places;
    let (mut target, mut kept) = locate(args)?;
    if matches!(form, Form::Key) {
        target.selector = target.selector.with_all_values();
    }
    let selector = &target.selector;
    // Logs with fields between blanks write a hyphen for a missing value.
    let none: &[u8] = if selector.format.has_hyphens() { b"-" } else { b"" };
    // If blanks separate the fields, an empty field would disappear, so a hyphen is written.
    let mut empty: &[u8] = if form.is_whole() { none } else { b"" };
    let mut is_alone = places.is_line();
    if let Form::Values { delimiter, .. } = form {
        is_alone = true;
        // Nothing is written around a value, but the value must stay one line.
        let ends = args.records().structure().union(Records::Lines.structure());
        kept = delimiter.map_or(ends, |delimiter| ends.add(&[delimiter]));
    }
    // If JSON results are written alone, each line must be JSON, so `null` is written for an empty value.
    if is_alone {
        empty = conversion.inner.missing();
    }
    let null = if is_alone { conversion.inner.missing() } else { b"" };
    // More bytes may stay escaped because of the place of a value: they would end a URL in a list, or a field of a log.
    let around: &[u8] = match places.log {
        _ if !form.is_whole() => b"",
        _ if places.html => b" ,\"'()",
        Some(_) if !selector.is_json_log() => b" \"",
        _ => b"",
    };
    if super::may_garble(conversion, kept.add(around)) {
        return Err("--charset iso-2022-jp spells characters with bytes that separate fields as well; \
             choose values by --csv or --jsonl, or write them alone with --values"
            .to_owned());
    }
    Ok(Spec {
        target,
        convert: conversion.clone(),
        usual: kept,
        empty,
        null,
        none,
        form,
        into: args.written.new_names(),
        only_changed: args.written.only_changed,
        policies,
        records: args.records(),
        max_record: places.max_record,
        is_stream: false,
    })
}

/// Returns the selector of the strings at `paths` in JSON. New values get the names `into`, or replace the old ones if
/// `into` is empty. `unescape` is the escaping of the server that built the documents from text.
fn json(paths: &[KeyPath], into: &[String], unescape: Escaping) -> Result<Selector, String> {
    let (escaping, more) = match unescape {
        Escaping::None => (Escaping::Json, Escaping::None),
        // The escapes of these servers are text of a JSON string, which is escaped once more.
        Escaping::Haproxy | Escaping::Percent | Escaping::Morgan => (Escaping::Json, unescape),
        Escaping::Tomcat => (Escaping::Tomcat, Escaping::None),
        _ => (Escaping::JsonHex, Escaping::None),
    };
    let syntax = Syntax::json(paths, into, escaping).map_err(|message| format!("--key: {message}"))?;
    Ok(Selector::new(syntax, Format::Json).unescaping(more).with_new_members(into))
}
