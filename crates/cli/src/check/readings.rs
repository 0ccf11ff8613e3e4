//! Runs `pct route`: shows how servers read targets. A reading is the way in which one server reads targets.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use simdpct_readings::{Agreement, Outcome as Answer, READINGS, Reading, agreement};

use super::chain::follow;
use super::page::{Members, json_line, print, push_row, text_or_bytes, visible};
use crate::common::error::{Failure, Outcome};
use crate::common::escape::to_text;

/// The options of `pct route`.
#[derive(Clone, Debug)]
pub struct Request {
    pub targets: Vec<Vec<u8>>,
    pub readings: Vec<&'static Reading>,
    /// Whether each reading gets the text that the one before it passes on.
    pub chain: bool,
    pub json: bool,
}

/// Reads all targets with all readings. The outcome says whether two readings disagree, or in a chain the first and the last one.
pub fn read(request: &Request) -> Result<Outcome, Failure> {
    let mut text = String::new();
    let mut outcome = Outcome::Clean;
    for target in &request.targets {
        let answers = answers(request, target);
        let routes: Vec<&[u8]> = answers.iter().filter_map(Answer::route).collect();
        let worst = routes.iter().map(|route| agreement(routes[0], route)).max();
        // In a chain, only the last server that routes the target is compared with the first.
        let worst = match (request.chain, routes.last()) {
            (true, Some(last)) => Some(agreement(routes[0], last)),
            _ => worst,
        };
        let agree = worst != Some(Agreement::Different);
        if !agree {
            outcome = Outcome::Findings;
        }
        if request.json {
            let readings = request.readings.iter().zip(&answers);
            let readings: Vec<_> = readings.map(|(reading, answer)| json(reading, answer)).collect();
            text.push_str(&json_line(&JsonTarget { target: to_text(target), agree, readings }));
        } else {
            if !text.is_empty() {
                text.push('\n');
            }
            write_matrix(request, target, &answers, worst, &mut text);
        }
    }
    print(text.as_bytes(), Ok(outcome))
}

/// Returns the answers to `target`, up to the first server of a chain that passes nothing on.
fn answers(request: &Request, target: &[u8]) -> Vec<Answer<'static>> {
    if !request.chain {
        return request.readings.iter().map(|reading| reading.read(target).into_owned()).collect();
    }
    let mut answers = Vec::new();
    follow(&request.readings, target, &mut |_, answer| answers.push(answer.clone().into_owned()));
    answers
}

fn write_matrix(
    request: &Request,
    target: &[u8],
    answers: &[Answer<'_>],
    worst: Option<Agreement>,
    text: &mut String,
) {
    let cells: Vec<[String; 3]> =
        request.readings.iter().zip(answers).map(|(reading, answer)| row(reading, answer)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    // Longer routes are written whole, and shift the rest of their rows. Formatting accepts no width above 65,535.
    let (names, routes) = (width(0).max(7), width(1).clamp(5, 400));
    // Writing to a string does not fail, here and below.
    let _ = writeln!(text, "{}", visible(target));
    let _ = writeln!(text, "  {:names$}  {:routes$}  PASSED ON", "READING", "ROUTE");
    for [name, route, passed_on] in &cells {
        push_row(text, &format!("  {name:names$}  {route:routes$}  {passed_on}"));
    }
    let verdict = match worst {
        None => "no reading routes the target",
        Some(Agreement::Same) => "the same route",
        Some(Agreement::Spelling) => "the routes differ only in case, or at the end of the path",
        Some(_) => "the routes differ",
    };
    let _ = writeln!(text, "  {verdict}");
}

/// Returns the name of `reading`, and the route and the text passed on in `answer`, as text for people.
pub fn row(reading: &Reading, answer: &Answer<'_>) -> [String; 3] {
    let (route, passed_on) = match answer {
        Answer::Read { route, passed_on } => {
            let route = if route.is_empty() { "(empty)".to_owned() } else { visible(route) };
            (route, passed_on.as_deref().map_or("(its own files)".to_owned(), visible))
        }
        Answer::Redirect(to) => (format!("(redirect to {})", visible(to)), String::new()),
        Answer::Rejected { status: 0, reason } => (format!("(closed: {reason})"), String::new()),
        Answer::Rejected { status, reason } => (format!("({status}: {reason})"), String::new()),
    };
    [reading.name.to_owned(), route, passed_on]
}

/// The answers to one target, for JSON. Bytes that are not UTF-8 are escaped.
#[derive(Serialize)]
struct JsonTarget<'t> {
    target: Cow<'t, str>,
    agree: bool,
    readings: Vec<Members<'t>>,
}

fn json(reading: &Reading, answer: &Answer<'_>) -> Members<'static> {
    let mut members = vec![("name", reading.name.into())];
    match answer {
        Answer::Read { route, passed_on } => {
            members.push(("route", text_or_bytes(route)));
            members.extend(passed_on.as_deref().map(|passed_on| ("passed_on", text_or_bytes(passed_on))));
        }
        Answer::Redirect(to) => members.push(("redirect", text_or_bytes(to))),
        Answer::Rejected { status, reason } => {
            members.extend([("refused", reason.to_string().into()), ("status", (*status).into())]);
        }
    }
    Members(members)
}

/// Lists all readings, each with the server on which it was observed.
pub fn list(request: &Request) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for reading in READINGS {
        let Reading { name, server, version, config, asked, date, is_default, .. } = *reading;
        let steps: Vec<_> = reading.steps().iter().map(ToString::to_string).collect();
        if request.json {
            let texts = [
                ("name", name),
                ("server", server),
                ("version", version),
                ("config", config),
                ("asked", asked),
                ("date", date),
            ];
            let mut row: Vec<_> = texts.into_iter().map(|(name, text)| (name, Value::from(text))).collect();
            row.extend([("default", is_default.into()), ("steps", steps.into())]);
            text.push_str(&json_line(&Members(row)));
        } else {
            let mark = if is_default { '*' } else { ' ' };
            let _ = writeln!(text, "{mark} {name:24} {server} {version}: {config}\n{:27}{date}, {asked}", "");
            let _ = writeln!(text, "{:27}{}", "", steps.join("; "));
        }
    }
    if !request.json {
        text.push_str(
            "\n* one of the default readings, on which `strict` and `check --kinds ambiguous` rely\n",
        );
    }
    print(text.as_bytes(), Ok(Outcome::Clean))
}
