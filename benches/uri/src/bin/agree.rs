//! Compares the canonical forms with those of the tools that define them. `ci/uri-peers [LIST...]` runs this program and installs
//! the tools.
//!
//! `agree [--python PYTHON] [--node NODE [--modules FOLDER]] [--mutants COUNT] LIST...` asks each tool for every URL of
//! the lists. It also asks for COUNT URLs with one to three random changes. It counts the differences by class
//! (crates/uri/README.md explains the classes). It prints a difference without a class, and fails. The Python tools surt
//! and w3lib also get hosts with each character of Unicode that is not ASCII, unless the profile rejects the host. Node
//! checks that each key (canonical form) has the host of its URL. FOLDER has whatwg-url, which Node runs.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, thread};

use simdpct_uri::canon::Profile;
use simdpct_uri::split;

/// The answer of a tool: a form, or the reason for a rejection.
type Answer = Result<Vec<u8>, String>;

/// Returns the profile (set of rules for canonical forms) of w3lib with these arguments.
fn w3lib(keep_blank_values: bool, keep_fragments: bool) -> Profile {
    Profile::W3lib2_5 { keep_blank_values, keep_fragments }
}

fn main() -> ExitCode {
    let (mut python, mut node, mut modules, mut mutants, mut lists) = (None, None, None, 100_000, Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--python" => python = arguments.next(),
            "--node" => node = arguments.next(),
            "--modules" => modules = arguments.next(),
            "--mutants" => mutants = arguments.next().and_then(|count| count.parse().ok()).expect("a number"),
            list => lists.push(fs::read(list).unwrap_or_else(|error| panic!("{list}: {error}"))),
        }
    }
    let mut seen = HashSet::new();
    let lines = lists.iter().flat_map(|list| list.split(|&byte| byte == b'\n'));
    let mut urls: Vec<Vec<u8>> = lines
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
        .filter(|url| !url.is_empty() && seen.insert(url.clone()))
        .collect();
    let plain = urls.len();
    assert!(
        plain > 0,
        "usage: agree [--python PYTHON] [--node NODE [--modules FOLDER]] [--mutants COUNT] LIST..."
    );
    let mut random = Random(14);
    urls.extend((0..mutants).map(|_| mutant(&seen_at(&lists, &mut random), &mut random)));
    println!("{plain} URLs, and {mutants} with changes\n");

    let mut failed = false;
    failed |= compare("url", Profile::Whatwg, &urls, urls.iter().map(|url| of_url(url)), url_class);
    #[cfg(feature = "ada")]
    {
        failed |= compare("ada-url", Profile::Whatwg, &urls, urls.iter().map(|url| of_ada(url)), ada_class);
    }
    let answers = urls.iter().map(|url| of_fluent(url));
    failed |= compare("fluent-uri", Profile::Rfc3986, &urls, answers, fluent_class);
    if let Some(python) = python {
        for (tool, profile, class) in [
            ("can_ada", Profile::Whatwg, ada_class as Class),
            ("surt", Profile::SurtPython0_3, surt_class),
            ("w3lib", w3lib(true, false), w3lib_class),
            ("w3lib-no-blank-values", w3lib(false, false), w3lib_class),
            ("w3lib-fragments", w3lib(true, true), w3lib_class),
            ("w3lib-no-blank-values-fragments", w3lib(false, true), w3lib_class),
        ] {
            let answers = of_script(&python, "peers.py", tool, &urls);
            failed |= compare(tool, profile, &urls, answers, class);
        }
        for (tool, profile, class) in [
            ("surt", Profile::SurtPython0_3, surt_class as Class),
            ("w3lib", w3lib(true, false), w3lib_class),
        ] {
            let hosts =
                ('\u{80}'..=char::MAX).flat_map(|c| [format!("http://{c}/"), format!("http://a{c}b/")]);
            let hosts: Vec<Vec<u8>> =
                hosts.filter(|url| profile.canonicalize(url).is_ok()).map(String::into_bytes).collect();
            println!("{} hosts with a character of Unicode", hosts.len());
            failed |= compare(tool, profile, &hosts, of_script(&python, "peers.py", tool, &hosts), class);
        }
    }
    if let Some(node) = node {
        if let Some(folder) = modules {
            let answers = of_script(&node, "whatwg.mjs", &folder, &urls);
            failed |= compare("whatwg-url", Profile::Whatwg, &urls, answers, |_, _, _| None);
        }
        failed |= asks_node(&node, &urls);
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A function that gets a URL, the answer of the profile and that of the tool. Returns the difference's class, if any.
type Class = fn(&[u8], &Answer, &Answer) -> Option<&'static str>;

/// Prints the differences by class, and reports whether a difference has no class.
fn compare(
    tool: &str,
    profile: Profile,
    urls: &[Vec<u8>],
    theirs: impl IntoIterator<Item = Answer>,
    class: Class,
) -> bool {
    let (mut forms, mut rejections, mut unexplained) = (0, 0, Vec::new());
    let mut classes: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (url, theirs) in urls.iter().zip(theirs) {
        let ours = profile
            .canonicalize(url)
            .map(|form| form.into_owned())
            .map_err(|why| format!("{:?}", why.reason));
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) if ours == theirs => forms += 1,
            (Err(_), Err(_)) => rejections += 1,
            _ => match class(url, &ours, &theirs) {
                Some(class) => {
                    let (count, _) = classes.entry(class).or_insert_with(|| (0, shown(url, &ours, &theirs)));
                    *count += 1;
                }
                None => unexplained.push(shown(url, &ours, &theirs)),
            },
        }
    }
    println!("{profile} and {tool}: {forms} forms equal, {rejections} rejected by both");
    for (class, (count, example)) in &classes {
        println!("    {count:>6} {class}\n           {example}");
    }
    for line in unexplained.iter().take(40) {
        println!("    without a class: {line}");
    }
    println!("    {} without a class\n", unexplained.len());
    !unexplained.is_empty()
}

fn shown(url: &[u8], ours: &Answer, theirs: &Answer) -> String {
    let text = |answer: &Answer| match answer {
        Ok(form) => form.escape_ascii().to_string(),
        Err(why) => format!("rejected ({why})"),
    };
    format!("{}  ours: {}  theirs: {}", url.escape_ascii(), text(ours), text(theirs))
}

fn of_url(url: &[u8]) -> Answer {
    let text = std::str::from_utf8(url).map_err(|error| error.to_string())?;
    Ok(String::from(url::Url::parse(text).map_err(|error| error.to_string())?).into_bytes())
}

#[cfg(feature = "ada")]
fn of_ada(url: &[u8]) -> Answer {
    let text = std::str::from_utf8(url).map_err(|error| error.to_string())?;
    match ada_url::Url::parse(text, None) {
        Ok(url) => Ok(url.href().as_bytes().to_vec()),
        Err(_) => Err("ada".to_owned()),
    }
}

fn of_fluent(url: &[u8]) -> Answer {
    let text = std::str::from_utf8(url).map_err(|error| error.to_string())?;
    let parsed = fluent_uri::UriRef::parse(text).map_err(|error| error.to_string())?;
    Ok(parsed.normalize().into_string().into_bytes())
}

/// Prints the keys whose host differs from the one that Node finds in the URL, and reports whether there is such a key.
fn asks_node(node: &str, urls: &[Vec<u8>]) -> bool {
    let hex = |text: &[u8]| text.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (mut questions, mut asked) = (String::new(), Vec::new());
    for &profile in Profile::ALL {
        for url in urls.iter().filter(|url| std::str::from_utf8(url).is_ok()) {
            if let Ok(key) = profile.canonicalize(url) {
                questions.push_str(&format!("{profile} {} {}\n", hex(url), hex(&key)));
                asked.push(format!("{profile}: {} has the key {}", url.escape_ascii(), key.escape_ascii()));
            }
        }
    }
    let answers = answers_of(node, &[concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/hosts.mjs")], questions);
    assert_eq!(answers.len(), asked.len(), "Node gave an answer for each key");
    let compared = answers.iter().filter(|answer| *answer != "?").count();
    let wrong: Vec<_> =
        answers.iter().zip(&asked).filter(|(answer, _)| !["=", "?"].contains(&&***answer)).collect();
    for (hosts, key) in wrong.iter().take(40) {
        println!("    {key}  hosts: {hosts}");
    }
    println!("Node: {compared} keys with hosts, {} with another host\n", wrong.len());
    !wrong.is_empty()
}

/// Returns the answers of a tool that a script calls. One process gives the answers for all URLs.
fn of_script(program: &str, script: &str, tool: &str, urls: &[Vec<u8>]) -> Vec<Answer> {
    let script = format!("{}/src/bin/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut questions = String::new();
    for url in urls {
        url.iter().for_each(|byte| questions.push_str(&format!("{byte:02x}")));
        questions.push('\n');
    }
    let answers = answers_of(program, &[&script, tool], questions).into_iter().map(|line| {
        match line.strip_prefix('!') {
            Some(error) => Err(error.to_owned()),
            None => Ok((0..line.len() / 2)
                .map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).expect("hexadecimal digits"))
                .collect()),
        }
    });
    let answers: Vec<Answer> = answers.collect();
    assert_eq!(answers.len(), urls.len(), "{tool} gave an answer for each URL");
    answers
}

/// Runs a program, writes `questions` to its standard input, and returns the lines of its standard output.
fn answers_of(program: &str, arguments: &[&str], questions: String) -> Vec<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().expect("piped");
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    let asking = thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let answers = stdout.lines().map(|line| line.expect("the tools print UTF-8")).collect();
    asking.join().expect("the thread does not panic").expect("the tool reads all input");
    child.wait().expect("the tool ends");
    answers
}

// ---- classes

/// Classifies the differences between the profile `whatwg` and the crate url.
fn url_class(url: &[u8], ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    let url = url.trim_ascii_start();
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if replaced(theirs, "^", "%5E") == replaced(ours, "^", "%5E") => {
            Some("`^` in a path stays (url)")
        }
        (Ok(ours), Ok(theirs)) if replaced(ours, " ", "%20") == replaced(theirs, " ", "%20") => {
            Some("a space at the end of an opaque path stays (url)")
        }
        (Ok(ours), Err(_)) if has_punycode(ours) => Some("Punycode that is not valid in ASCII (url)"),
        _ if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"file:")) => {
            Some("slashes and drive letters of `file` (url)")
        }
        (Err(_), Ok(theirs)) if !is_special(theirs) => {
            Some("empty hosts after `@`, and `\\` in authorities (url)")
        }
        (Ok(_), Ok(theirs))
            if theirs.windows(2).any(|bytes| bytes[0].is_ascii_alphabetic() && b":|".contains(&bytes[1])) =>
        {
            Some("drive letters before `..` (url)")
        }
        _ => None,
    }
}

/// Returns `text` with every `from` replaced by `to`.
fn replaced(text: &[u8], from: &str, to: &str) -> String {
    String::from_utf8_lossy(text).replace(from, to)
}

/// Classifies differences between the profile `whatwg` and ada.
fn ada_class(url: &[u8], ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if replaced(theirs, "^", "%5E") == replaced(ours, "^", "%5E") => {
            Some("`^` in a path stays (can_ada)")
        }
        (Ok(ours), _) if ours.starts_with(b"file:") => Some("slashes and drive letters of `file` (can_ada)"),
        (Err(why), Ok(theirs)) if why == "Host" && has_empty_punycode(theirs) => {
            Some("`xn--` alone is a label (ada)")
        }
        (Ok(ours), Ok(theirs)) if !is_special(ours) && same_without_dots(ours, theirs) => {
            Some("dot segments of schemes that are not special (can_ada)")
        }
        (Ok(_), Ok(theirs)) if has_dot_segments(theirs) => Some("dot segments that can_ada leaves"),
        (Ok(ours), Ok(theirs)) if replaced(ours, " ", "%20") == replaced(theirs, " ", "%20") => {
            Some("a space at the end of an opaque path stays (can_ada)")
        }
        (Ok(ours), Err(_)) if !is_ascii_host(url) || has_punycode(ours) => {
            Some("names that ada rejects: IDNA tables of another version")
        }
        (Err(_), Ok(theirs)) if !is_ascii_host(url) || has_punycode(theirs) => {
            Some("names that ada accepts: CheckBidi, CheckJoiners, or IDNA tables of another version")
        }
        _ => None,
    }
}

fn is_special(url: &[u8]) -> bool {
    let schemes: [&[u8]; 6] = [b"http", b"https", b"ftp", b"file", b"ws", b"wss"];
    split(url).scheme().is_some_and(|scheme| schemes.contains(&scheme))
}

/// Reports whether two URLs differ only in slashes, `?` and the drive letter `C:`.
fn same_without_dots(a: &[u8], b: &[u8]) -> bool {
    let parts = |url: &[u8]| {
        let text = String::from_utf8_lossy(url).replace("C:", "");
        text.split(['/', '?']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    parts(a) == parts(b)
}

fn has_punycode(url: &[u8]) -> bool {
    url.windows(4).any(|bytes| bytes.eq_ignore_ascii_case(b"xn--"))
}

fn has_empty_punycode(url: &[u8]) -> bool {
    split(url).host().is_some_and(|host| host.raw().split(|&byte| byte == b'.').any(|label| label == b"xn--"))
}

/// Reports whether the decoded host of a URL is ASCII.
fn is_ascii_host(url: &[u8]) -> bool {
    split(url).host().unwrap_or_default().decode().is_ascii()
}

fn fluent_class(url: &[u8], ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    match (ours, theirs) {
        (_, Ok(_)) if conflict(ours).is_some() => conflict(ours),
        // RFC 3986 allows any number of digits in a port (section 3.2.3), but TCP has no ports above 65535.
        (Err(why), Ok(_))
            if why == "Port" && split(url).port().is_some_and(|port| port.iter().all(u8::is_ascii_digit)) =>
        {
            Some("a port above 65535, which RFC 3986 allows and `rfc3986` rejects")
        }
        (Ok(_), Err(_)) if split(url).flaws().next().is_some() => {
            Some("not allowed by RFC 3986: fluent-uri rejects it, `rfc3986` keeps it")
        }
        // fluent-uri also normalizes by scheme (RFC 3986, section 6.2.3), as the profile `rfc3986-scheme` does.
        (Ok(ours), Ok(theirs))
            if Profile::Rfc3986Scheme.canonicalize(url).is_ok_and(|form| *form == **theirs)
                || split(url).port_number().is_some() && without_port(ours) == without_port(theirs) =>
        {
            Some("the default port, which fluent-uri removes, too")
        }
        (Ok(ours), Ok(theirs))
            if split(ours).ip().is_some_and(|ip| ip.is_ipv6() && split(theirs).ip() == Some(ip)) =>
        {
            Some("an address of version 6, which fluent-uri compresses")
        }
        (Ok(_), Ok(theirs)) if split(url).scheme().is_none() && has_dot_segments(theirs) => {
            Some("dot segments of a relative reference, which fluent-uri leaves")
        }
        (Ok(_), Ok(theirs)) if split(url).host().is_none() && has_dot_segments(theirs) => {
            Some("dot segments without an authority, which fluent-uri leaves")
        }
        _ => None,
    }
}

/// Reports whether the path of a URL has dot segments to remove.
fn has_dot_segments(url: &[u8]) -> bool {
    let path = split(url).path();
    simdpct_uri::remove_dot_segments(path) != path
}

fn without_port(url: &[u8]) -> Vec<u8> {
    let at = split(url).offsets();
    [&url[..at.host_end], &url[at.path_start..]].concat()
}

/// Returns the class of a URL that is rejected because its key would name another host than browsers contact.
fn conflict(ours: &Answer) -> Option<&'static str> {
    let is_conflict = matches!(ours, Err(why) if why == "HostConflict" || why.starts_with("Control"));
    is_conflict.then_some("rejected: browsers contact another host, or none")
}

fn surt_class(url: &[u8], ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    match (ours, theirs) {
        (_, Ok(_)) if conflict(ours).is_some() => conflict(ours),
        (Err(why), Ok(_)) if why == "Host" && !is_ascii_host(url) => {
            Some("a name that IDNA 2003 and UTS 46 map differently")
        }
        (Err(why), Ok(_)) if why == "Port" => Some("a malformed port, which surt drops"),
        (Err(why), Ok(_)) if why == "Host" && has_empty_label(url) => {
            Some("an empty label, which surt drops")
        }
        // In all other cases with the reason `Host`, the URL has no host.
        (Err(why), Ok(_)) if why == "Host" => {
            Some("no host: surt takes the first segment of the path for one")
        }
        _ => None,
    }
}

/// Reports whether the decoded host of a URL has an empty label before its end.
fn has_empty_label(url: &[u8]) -> bool {
    let host = split(url).host().unwrap_or_default();
    let host = simdpct::decode_until_stable(host.raw());
    let host = host.strip_suffix(b".").unwrap_or(&host);
    !host.is_empty() && host.split(|&byte| byte == b'.').any(<[u8]>::is_empty)
}

fn w3lib_class(url: &[u8], ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    match (ours, theirs) {
        (_, Ok(_)) if conflict(ours).is_some() => conflict(ours),
        (Err(why), Ok(_)) if why == "Unstable" => Some("decoding would complete an escape or a scheme"),
        (_, Err(why)) if why == "UnicodeDecodeError" && std::str::from_utf8(url).is_err() => {
            Some("not UTF-8: w3lib takes text only")
        }
        (Err(why), Ok(_)) if why == "Host" && !is_ascii_host(url) => {
            Some("a name that IDNA 2003 and UTS 46 map differently")
        }
        _ => None,
    }
}

// ---- mutants

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % end as u64) as usize
    }
}

/// Returns a random line of one of `lists`.
fn seen_at(lists: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let list = &lists[random.below(lists.len())];
    let at = random.below(list.len());
    let start = list[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let end = list[at..].iter().position(|&byte| byte == b'\n').map_or(list.len(), |after| at + after);
    list[start..end.max(start)].to_vec()
}

/// Makes one to three random changes to a URL, with bytes that have a meaning in some part of a URL.
fn mutant(url: &[u8], random: &mut Random) -> Vec<u8> {
    const BYTES: &[u8] = b"/./..%%2e2f25E.:?#@[]AZaz0189 \"'<>`^{}|\\-_~;&=+$,!*()x\t\r\n\x00\x7f\xc3\xa9";
    #[rustfmt::skip]
    const PIECES: &[&[u8]] = &[
        b"/../", b"/./", b"//", b"%2e%2e", b"%2F", b"%252f", b"%", b"://",
        b"www.", b"www1.", b":80", b":443", b":8080", b"user:pw@", b"xn--",
        b"127.1", b"[::1]", b"[2001:DB8::0:1]", "\u{e9}".as_bytes(), "\u{4f8b}".as_bytes(),
        b"%C3%A9", b"%e9", b"?b=2&a=1", b"&a", b"sid=0123456789abcdef0123456789abcdef",
        b"#a#b", b"..",
    ];
    let mut url = url.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(url.len() + 1);
        match random.below(5) {
            0 if at < url.len() => _ = url.remove(at),
            1 if at < url.len() => url[at] = BYTES[random.below(BYTES.len())],
            2 => _ = url.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied()),
            _ => url.insert(at, BYTES[random.below(BYTES.len())]),
        }
    }
    url
}
