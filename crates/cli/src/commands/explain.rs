//! `pct explain`: explains the bytes of URLs that are neither unreserved nor delimiters. Classes and reasons are those
//! of `pct sets --table`, findings those of `pct check`, and routes those of `pct route`.

use std::fmt::Write;
use std::io::IsTerminal;

use serde_json::{Value, json};
use simdpct::{Encode, decode_escape, sets};
use simdpct_readings::READINGS;
use simdpct_records::Kind;
use simdpct_uri::canon::Profile;
use simdpct_uri::{Component, Dialect, Parts, set_for, split};

use super::tables;
use crate::args::Explain;
use crate::check::kind::Group;
use crate::check::listing::{Criteria, List, find_component};
use crate::check::page::visible;
use crate::check::readings;
use crate::common::error::{Failure, Outcome};
use crate::common::escape::to_text;
use crate::common::format::OutputFormat;
use crate::common::records::text_of;
use crate::io::BLOCK;
use crate::io::input::{Input, Inputs, OnUnreadableInput};
use crate::io::output::Output;
use crate::url::part::{Part, Suffixes, USUAL};

/// A line is rejected if more than this number of its bytes were read without finding its end.
const LONGEST: usize = 2 << 20;

/// Explains the URLs that `args` names.
pub fn explain(args: Explain) -> Result<Outcome, Failure> {
    let usual = if std::io::stdout().is_terminal() { OutputFormat::Text } else { OutputFormat::Jsonl };
    let format = args.format.unwrap_or(usual);
    let end = args.input.records().end();
    let (mut output, mut outcome) = (Output::stdout()?, Ok(Outcome::Clean));
    for sources in args.sources() {
        let mut inputs = Inputs::open(&sources, true, false, OnUnreadableInput::Done)?;
        inputs.each(|input| {
            each_line(input, end, |line| {
                let (document, text) = explanation(line);
                let text = match format {
                    OutputFormat::Text => text,
                    OutputFormat::Json => format!("{document:#}\n"),
                    _ => format!("{document}\n"),
                };
                output.write(text.as_bytes())
            })?;
            Ok(true)
        })?;
        outcome = inputs.outcome().and(outcome);
    }
    outcome
}

/// Calls `each` with every line of `input` that is not empty. Lines end in `end`.
fn each_line(
    input: &mut Input,
    end: u8,
    mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut text, mut is_start) = (Vec::new(), !input.is_argument());
    loop {
        let len = text.len();
        text.resize(len + BLOCK, 0);
        let read = input.read(&mut text[len..])?;
        text.truncate(len + read);
        let complete = memchr::memrchr(end, &text[len..]).map_or(0, |at| len + at + 1);
        let ready = if read == 0 { text.len() } else { complete };
        let lines = text[..ready].split(|&byte| byte == end).filter(|_| ready > 0);
        for line in lines {
            let line = text_of(line, end, std::mem::take(&mut is_start));
            if !line.is_empty() {
                each(line)?;
            }
        }
        text.drain(..ready);
        if read == 0 {
            return Ok(());
        }
        if text.len() > LONGEST {
            let error = std::io::Error::other("a line of more than 2 MiB is not a URL");
            return Err(Failure::input(&input.name, input.offset - text.len() as u64, error));
        }
    }
}

/// Returns the explanation of `url` as a JSON document and as text. The text has the URL with marks below it, its
/// parts, the notes, the findings, the URL of browsers, and the routes of servers.
fn explanation(url: &[u8]) -> (Value, String) {
    let parts = split(url);
    let (mut shown, mut marks, mut from) = (String::new(), String::new(), 0);
    let (mut names, mut notes) = (Vec::new(), Vec::new());
    let (mut heading, mut text) = (String::new(), String::new());
    // Writing to a string does not fail, here and below.
    for name in USUAL.split(',') {
        let part = Part::find(name).ok().and_then(|part| part.raw(&parts, &Suffixes::default()));
        let (Some(part), Ok(component)) = (part, find_component(name)) else { continue };
        let start = part.as_ptr().addr() - url.as_ptr().addr();
        names.push(json!({"name": name, "offset": start, "text": to_text(part)}));
        let _ = writeln!(heading, "{start:5}  {name:8}  {}", visible(part));
        let mut at = 0;
        while at < part.len() {
            if is_plain(part, component, part[at]) {
                at += 1;
                continue;
            }
            let (bytes, length) = first_character(&part[at..]);
            let (offset, end) = (start + at, start + at + length);
            let note = note(name, component, offset, &url[offset..end], &bytes);
            let [between, marked] = [from..offset, offset..end].map(|range| visible(&url[range]));
            marks
                .extend(between.chars().map(|_| ' ').chain(['^']).chain(marked.chars().skip(1).map(|_| '~')));
            shown += &(between + &marked);
            text += &note.1;
            notes.push(note.0);
            (at, from) = (at + length, end);
        }
    }
    shown += &visible(&url[from..]);
    let (findings, servers) = (findings(url), routes(&parts));
    let browsers = Profile::Whatwg.canonicalize(url).map_err(|error| error.to_string());
    let browsers = browsers.map(|url| to_text(&url).into_owned());
    for finding in &findings {
        let _ = writeln!(text, "{:5}  {}: {}", finding.0, finding.1, finding.2);
    }
    let _ = match &browsers {
        Ok(url) => writeln!(text, "       browsers: {}", visible(url.as_bytes())),
        Err(why) => writeln!(text, "       browsers reject it: {why}"),
    };
    for (route, readings) in &servers {
        let _ = writeln!(text, "       servers: {route}  {}", readings.join(", "));
    }
    let document = json!({
        "url": to_text(url),
        "parts": names,
        "notes": notes,
        "findings": findings.iter().map(|(offset, kind, text)| json!({"offset": offset, "kind": kind, "text": text})).collect::<Vec<_>>(),
        "browsers": match browsers {
            Ok(url) => json!({"url": url}),
            Err(why) => json!({"rejected": why}),
        },
        "servers": servers.iter().map(|(route, readings)| json!({"route": route, "readings": readings})).collect::<Vec<_>>(),
    });
    if !marks.is_empty() {
        shown = format!("{shown}\n{marks}");
    }
    (document, format!("{shown}\n{heading}{text}\n"))
}

/// Reports whether `byte` needs no note in `part`: it is unreserved or a delimiter. Addresses, ports and schemes have findings instead.
fn is_plain(part: &[u8], component: Component, byte: u8) -> bool {
    let delimiters: &[u8] = match component {
        Component::Host if part.starts_with(b"[") => return true,
        Component::Scheme | Component::Port => return true,
        Component::Userinfo => b":",
        Component::Path => b"/",
        Component::Query => b"&=",
        _ => b"",
    };
    sets::RFC3986_UNRESERVED.contains(byte) || delimiters.contains(&byte)
}

/// Returns the bytes of the first character of `rest`, decoded, and the length of its spelling. Invalid UTF-8 and the `%` of a malformed
/// escape are single bytes.
fn first_character(rest: &[u8]) -> (Vec<u8>, usize) {
    let unit = |at: usize| match decode_escape(rest.get(at..)?) {
        Some(byte) => Some((byte, 3)),
        None => rest.get(at).map(|&byte| (byte, 1)),
    };
    let Some((first, width)) = unit(0) else { return (Vec::new(), 1) };
    let mut bytes = vec![first];
    // No character has more than four bytes.
    while str::from_utf8(&bytes).is_err() {
        match unit(bytes.len() * width).filter(|(_, other)| *other == width && bytes.len() < 4) {
            Some((byte, _)) => bytes.push(byte),
            None => return (vec![first], width),
        }
    }
    let length = bytes.len() * width;
    (bytes, length)
}

/// Explains `spelling` at `offset` of a URL. It represents `bytes`: one character, or one byte of invalid UTF-8.
fn note(part: &str, component: Component, offset: usize, spelling: &[u8], bytes: &[u8]) -> (Value, String) {
    let byte = bytes[0];
    let row = tables::character(byte).map(Option::unwrap_or_default);
    let [_, _, _, in_windows_1252, name, rfc3986, rfc2396, rfc1738, _, _, reason] = &row;
    let (is_escape, is_malformed) = (spelling.len() > bytes.len(), spelling == b"%");
    let character = match str::from_utf8(bytes) {
        Ok(_) if is_malformed => "malformed escape".to_owned(),
        Ok(_) if !name.is_empty() && byte.is_ascii() => name.clone(),
        Ok(text) if byte.is_ascii() => text.to_owned(),
        Ok(text) => text.chars().map(|sign| format!("{text} (U+{:04X})", u32::from(sign))).collect(),
        Err(_) => format!("invalid UTF-8, {in_windows_1252} in windows-1252"),
    };
    // Forms give a meaning of their own to these characters, which RFC 3986 allows in queries.
    let is_of_forms = is_escape && component == Component::Query && b"&=+".contains(&byte);
    let (escape, rule) = match byte {
        b'%' if is_malformed => ("must", "A '%' that begins no escape must be written as %25."),
        b'%' => ("must", "Unescaped it would be read as the start of another escape."),
        0x80.. if str::from_utf8(bytes).is_err() => {
            ("must", "Programs that expect UTF-8 reject or replace this byte.")
        }
        0x80.. => ("must", "A URI is ASCII; only an IRI can contain the character unescaped (RFC 3987)."),
        _ if sets::RFC3986_UNRESERVED.contains(byte) => {
            ("need not", "It means the same as the character itself (RFC 3986, section 2.3).")
        }
        _ if !is_of_forms && set_for(component, Dialect::Rfc3986).contains(byte) => {
            ("may", "Unescaped it can be a delimiter, escaped it is data (RFC 3986, section 2.2).")
        }
        _ if sets::RFC3986_RESERVED.contains(byte) => {
            ("must", "This part cannot contain it as data unless it is escaped (RFC 3986, section 2.2).")
        }
        _ => ("must", "No URI can contain it unescaped (RFC 3986, section 2)."),
    };
    let why = format!("{rule} {reason}");
    let mut whatwg = sets::ALL.iter().filter(|set| set.name.starts_with("whatwg-"));
    let whatwg =
        whatwg.find(|set| !set.set.contains(byte)).map_or("none", |set| &set.name["whatwg-".len()..]);
    let whatwg = format!("percent-encode set {whatwg}");
    let classes = [
        ("RFC 1738", Dialect::Rfc1738, rfc1738),
        ("RFC 2396", Dialect::Rfc2396, rfc2396),
        ("RFC 3986", Dialect::Rfc3986, rfc3986),
        ("URL Standard", Dialect::Whatwg, &whatwg),
    ]
    .map(|(name, dialect, class)| (name, class, !set_for(component, dialect).contains(byte)));
    let document = json!({
        "offset": offset,
        "length": spelling.len(),
        "text": to_text(spelling),
        "part": part,
        "character": character,
        "is_escape": is_escape,
        "escape": escape,
        "why": why.trim_end(),
        "classes": classes.map(|(name, class, must)| json!({"specification": name, "class": class, "must_be_escaped": must})),
    });
    let stays = if is_escape && escape != "need not" { "stay" } else { "be" };
    let classes = classes
        .map(|(name, class, must)| format!("{name}: {class}{}", if must { ", only escaped" } else { "" }));
    let [spelling, character] = [spelling, character.as_bytes()].map(visible);
    let text = format!(
        "{offset:5}  {part:8}  {spelling}  {character}: {escape} {stays} escaped\n       {}\n       {}\n",
        why.trim_end(),
        classes.join("; ")
    );
    (document, text)
}

/// Returns the findings of `pct check` in `url` that the notes do not have: offsets, kinds and texts.
fn findings(url: &[u8]) -> Vec<(i64, &'static str, String)> {
    use Group::{Ambiguous, Control, Illegal, Needless, NonAscii};
    let mut groups = Group::ALL.to_vec();
    groups.retain(|group| ![Ambiguous, Control, Illegal, Needless, NonAscii].contains(group));
    let mut list = List::default();
    Criteria::new(&groups, &[], Dialect::Rfc3986, b'\n').scan_value(url, Kind::Text, &mut list);
    let text = |found| list.text(found).to_owned();
    list.findings.iter().map(|found| (found.offset, found.group.name(), text(found))).collect()
}

/// Returns the routes of a request for `url`, each with its servers. A target without a slash at its start has none.
fn routes(url: &Parts<'_>) -> Vec<(String, Vec<String>)> {
    let at = url.offsets();
    let mut target = url.input()[at.path_start..at.query_end].to_vec();
    if url.path().is_empty() && url.host().is_some() {
        target.insert(0, b'/');
    }
    // Clients escape these bytes before they send a request.
    let target = Encode::keeping(sets::WHATWG_QUERY).encode(&target);
    let mut routes: Vec<(String, Vec<String>)> = Vec::new();
    for reading in READINGS.iter().filter(|reading| reading.is_default && target.starts_with('/')) {
        let [name, route, _] = readings::row(reading, &reading.read(&*target));
        match routes.iter_mut().find(|known| known.0 == route) {
            Some(known) => known.1.push(name),
            None => routes.push((route, vec![name])),
        }
    }
    routes
}
