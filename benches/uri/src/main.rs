//! Times crates/uri beside its peers: `cargo run --release --manifest-path benches/uri/Cargo.toml -- [LIST...]`.
//!
//! Each LIST is a file with one URL on each line; without a LIST, URLs are generated from a seed. All contestants run in turn, round after
//! round, in one process. The output has a table for each group, with a column for each list and, if there are several, one for their
//! mixture. A cell has the median speed in MB/s, and in brackets its time relative to the first contestant. In the groups `split` and
//! `whatwg`, answers are checked first. `benches/doors uri` writes a record.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use benchkit::Random;
use simdpct::Tier;
use simdpct::batch::Column;
use simdpct_readings::{READINGS, Reading, find, is_ambiguous};
use simdpct_uri::canon::Profile;
use simdpct_uri::internals::{canonicalize_lines_on, split_by_reference, split_column_on};
use simdpct_uri::{Columns, Lines, split};

/// The profile (set of rules for canonical forms) of w3lib with its default arguments.
const W3LIB: Profile = Profile::W3lib2_5 { keep_blank_values: true, keep_fragments: false };
/// The number of turns of each contestant.
const ROUNDS: usize = 7;
/// The least length of a turn; a turn repeats its pass until then.
const TURN: Duration = Duration::from_millis(12);

/// A contestant: its name, and one pass over the list.
type Contestant<'a> = (String, Box<dyn FnMut() + 'a>);

/// A function that times the contestants of a group on a list and its lines.
type Group = fn(&mut Report, &str, &[&str]);

/// The groups that are timed on each list, each with its name for `--group`.
const GROUPS: [(&str, Group); 6] = [
    ("split", of_split),
    ("rfc3986", of_rfc3986),
    ("whatwg", of_whatwg),
    ("keys", of_keys),
    ("surt", of_surt),
    ("readings", of_readings),
];

/// A row of the table of a group, with a cell for each list.
struct Row {
    group: String,
    name: String,
    cells: Vec<String>,
}

/// The rows of all tables, those of a group one after the other.
#[derive(Default)]
struct Report(Vec<Row>);

impl Report {
    fn add(&mut self, group: &str, name: &str, cell: String) {
        match self.0.iter_mut().find(|row| row.group == group && row.name == name) {
            Some(row) => row.cells.push(cell),
            None => self.0.push(Row { group: group.to_owned(), name: name.to_owned(), cells: vec![cell] }),
        }
    }
}

fn main() {
    let mut only = None;
    let mut lists = Vec::new();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--group" => only = arguments.next(),
            "--help" => {
                println!(
                    "usage: uri-bench [--group split|rfc3986|whatwg|keys|surt|readings|worst] [LIST...]"
                );
                return;
            }
            _ => {
                let bytes = fs::read(&argument).unwrap_or_else(|error| {
                    eprintln!("{argument}: {error}");
                    process::exit(1)
                });
                let name = argument.rsplit('/').next().unwrap_or_default().to_owned();
                lists.push((name, String::from_utf8_lossy(&bytes).replace('\r', "")));
            }
        }
    }
    if lists.is_empty() {
        lists.push(("generated".to_owned(), generated(50_000)));
    } else if lists.len() > 1 {
        lists.push(("mixture".to_owned(), mixture(&lists)));
    }
    let mut report = Report::default();
    for (name, text) in &lists {
        let urls: Vec<&str> = text.lines().collect();
        eprintln!("{name}");
        report.add("lists", "URLs", urls.len().to_string());
        report.add("lists", "bytes", text.len().to_string());
        for (group, times) in GROUPS {
            if only.as_deref().is_none_or(|only| only == group) {
                times(&mut report, text, &urls);
            }
        }
    }
    let names: Vec<&str> = lists.iter().map(|(name, _)| name.split('.').next().unwrap_or(name)).collect();
    for rows in report.0.chunk_by(|a, b| a.group == b.group) {
        let group = &rows[0].group;
        println!("## {group}\n\n| {group} | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        rows.iter().for_each(|row| println!("| {} | {} |", row.name, row.cells.join(" | ")));
        println!();
    }
    if only.as_deref().is_none_or(|only| only == "worst") {
        worst();
    }
}

fn of_split(report: &mut Report, text: &str, urls: &[&str]) {
    let mut bytes = Vec::new();
    let mut offsets = vec![0_u32];
    for url in urls {
        bytes.extend_from_slice(url.as_bytes());
        offsets.push(u32::try_from(bytes.len()).expect("a list of less than 4 GiB"));
    }
    let column = Column::new(&bytes, &offsets).expect("in order");
    let (mut columns, mut lines) = (Columns::new(), Lines::new());
    columns.split(column).expect("short URLs");
    lines.split(text.as_bytes()).expect("short URLs");
    for (row, url) in urls.iter().enumerate() {
        let right = split_by_reference(url);
        assert_eq!(split(url.as_bytes()), right);
        assert_eq!(columns.parts(row, url.as_bytes()), Some(right));
        assert_eq!(lines.parts(row, text.as_bytes()), Some(right));
    }
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for tier in tiers() {
        let mut columns = Columns::new();
        let run = move || split_column_on(tier, column, &mut columns).expect("short URLs");
        contestants.push((format!("column, {tier}"), Box::new(run)));
    }
    contestants.push(("lines".into(), Box::new(|| lines.split(text.as_bytes()).expect("short URLs"))));
    contestants
        .push(("one call each".into(), Box::new(|| urls.iter().for_each(|url| _ = black_box(split(url))))));
    let parse = |url: &&str| _ = black_box(fluent_uri::UriRef::parse(*url).is_ok());
    contestants.push(("fluent-uri parse".into(), Box::new(move || urls.iter().for_each(&parse))));
    let parse = |url: &&str| _ = black_box(iri_string::types::UriReferenceStr::new(url).is_ok());
    contestants.push(("iri-string parse".into(), Box::new(move || urls.iter().for_each(&parse))));
    measure(report, "split", contestants, bytes.len());
}

fn of_rfc3986(report: &mut Report, text: &str, urls: &[&str]) {
    let mut contestants = of_profile(Profile::Rfc3986, text);
    report.add("rfc3986", "lines that change", changed(Profile::Rfc3986, urls));
    contestants.push(peer("fluent-uri normalize", urls, |url, out| {
        let parsed = fluent_uri::UriRef::parse(url).ok()?;
        out.extend_from_slice(parsed.normalize().as_str().as_bytes());
        Some(())
    }));
    contestants.push(peer("iri-string normalize", urls, |url, out| {
        let parsed = iri_string::types::UriStr::new(url).ok()?;
        write!(out, "{}", parsed.normalize()).ok()
    }));
    measure(report, "rfc3986", contestants, text.len());
}

fn of_whatwg(report: &mut Report, text: &str, urls: &[&str]) {
    let mut contestants = of_profile(Profile::Whatwg, text);
    report.add("whatwg", "lines that change", changed(Profile::Whatwg, urls));
    for url in urls {
        // The crate url is older than two rules of the URL Standard: it leaves `^` in paths, and rejects invalid Punycode.
        let Ok(theirs) = url::Url::parse(url) else { continue };
        let ours = Profile::Whatwg.canonicalize(url).expect("a URL that url accepts");
        assert_eq!(ours, theirs.as_str().replace('^', "%5E"), "{url}");
    }
    contestants.push(peer("url", urls, |url, out| {
        out.extend_from_slice(url::Url::parse(url).ok()?.as_str().as_bytes());
        Some(())
    }));
    #[cfg(feature = "ada")]
    contestants.push(peer("ada-url", urls, |url, out| {
        out.extend_from_slice(ada_url::Url::parse(url, None).ok()?.href().as_bytes());
        Some(())
    }));
    measure(report, "whatwg", contestants, text.len());
}

/// Times the profiles whose peers are Python programs, which this benchmark does not run.
fn of_keys(report: &mut Report, text: &str, urls: &[&str]) {
    for profile in [Profile::SafeBrowsing4, Profile::SafeBrowsing5, W3LIB] {
        let group = profile.to_string();
        report.add(&group, "lines that change", changed(profile, urls));
        measure(report, &group, of_profile(profile, text), text.len());
    }
}

fn of_surt(report: &mut Report, text: &str, _: &[&str]) {
    // The SURT profiles change every line and have no kernels, so only the last contestant (the scalar tier) is timed.
    let mut contestants = Vec::new();
    for profile in [Profile::SurtPython0_3, Profile::SurtJava] {
        contestants.extend(of_profile(profile, text).pop().map(|(_, run)| (profile.to_string(), run)));
    }
    measure(report, "surt", contestants, text.len());
}

/// Times readings (rules of servers) on all request targets, and on those that all default readings leave unchanged.
fn of_readings(report: &mut Report, _: &str, urls: &[&str]) {
    let targets: Vec<&str> = urls
        .iter()
        .filter_map(|url| {
            let url = url.split('#').next()?;
            let parts = split(url);
            let len = parts.path().len() + parts.query().map_or(0, |query| query.len() + 1);
            parts.path().starts_with('/').then(|| &url[url.len() - len..])
        })
        .collect();
    let is_plain = |target: &&str| {
        let route = |reading: &Reading| reading.read(*target).route() == Some(target.as_bytes());
        READINGS.iter().filter(|reading| reading.is_default).all(route)
    };
    let plain: Vec<&str> = targets.iter().copied().filter(is_plain).collect();
    for (name, targets) in [("all targets", &targets), ("plain paths", &plain)] {
        let mut contestants: Vec<Contestant<'_>> = Vec::new();
        for name in ["nginx-1.22", "lighttpd-1.4.69", "caddy-2.6", "strict"] {
            let reading = find(name).expect("a reading");
            let run = || targets.iter().for_each(|target| _ = black_box(reading.read(*target)));
            contestants.push((name.to_owned(), Box::new(run)));
        }
        let run = || targets.iter().for_each(|target| _ = black_box(is_ambiguous(target.as_bytes())));
        contestants.push(("is_ambiguous".to_owned(), Box::new(run)));
        let bytes = targets.iter().map(|target| target.len()).sum();
        let group = format!("readings: {name}");
        report.add(&group, "paths", targets.len().to_string());
        measure(report, &group, contestants, bytes);
    }
}

/// Times the worst cases: URLs for which the kernels have no fast path, and lists in which every line changes.
fn worst() {
    println!("## worst cases of split\n\n| URL | ns | ratio to 15 ns + 0.1 ns a byte |\n|---|---|---|");
    let long_host = format!("http://{}/", "a".repeat(90));
    let cases = [
        ("one byte", "a".to_owned()),
        ("a host of 90 bytes", long_host),
        ("a host of 4 KiB", format!("http://{}/", "a".repeat(4096))),
        ("a scheme of 4 KiB", format!("{}:a", "a".repeat(4096))),
        ("no scheme in 4 KiB", format!("{}:a", "%".repeat(4096))),
        ("userinfo and port", "http://user:password@example.com:8080/a".to_owned()),
        ("4 KiB of userinfo", format!("http://{}@h/", "u:".repeat(2048))),
        ("4 KiB of at signs", format!("http://{}/", "@".repeat(4096))),
        ("4 KiB of brackets", format!("http://{}/", "[".repeat(4096))),
        ("4 KiB of colons", format!("http://h{}/", ":".repeat(4096))),
        ("4 KiB of path", format!("http://h/{}", "a/".repeat(2048))),
        ("4 KiB of question marks", format!("http://h/{}", "?".repeat(4096))),
        ("4 KiB of query", format!("http://h/?{}", "a=".repeat(2048))),
    ];
    for (name, url) in &cases {
        assert_eq!(split(url.as_bytes()), split_by_reference(url));
        // The URL is copied many times, so that no two calls read the same memory.
        let count = (1 << 18) / url.len().max(64);
        let text = url.repeat(count);
        let urls: Vec<&str> = (0..count).map(|at| &text[at * url.len()..][..url.len()]).collect();
        let mut run = || urls.iter().for_each(|url| _ = black_box(split(url)));
        let ns = seconds_of(&mut run) * 1e9 / count as f64;
        println!("| {name} | {ns:.1} | {:.2} |", ns / (15.0 + 0.1 * url.len() as f64));
    }

    println!("\n## time with kernels divided by time without, for lists in which every line changes\n");
    println!("| profile | change | ratio |\n|---|---|---|");
    let cases = [
        ("escapes", "http://example.com/%7Euser/index.html"),
        ("dots", "https://www.example.com/a/../b/index.html?q=1"),
        ("ports", "http://example.com:80/index.html"),
        ("upper case", "HTTP://WWW.EXAMPLE.COM/index.html"),
        ("16 bytes", "http://h/%7E/a/.."),
        ("one byte", "."),
    ];
    let scalar = Tier::find("scalar").expect("every machine has the scalar tier");
    for profile in [Profile::Rfc3986Scheme, Profile::Whatwg, Profile::SafeBrowsing4, W3LIB] {
        for (name, url) in cases {
            let text = format!("{url}\n").repeat((1 << 20) / url.len());
            let mut out = Vec::new();
            let mut run = |tier| {
                out.clear();
                canonicalize_lines_on(tier, profile, text.as_bytes(), &mut out, |_, _| {});
                black_box(&out);
            };
            let (alone, both) = (seconds_of(&mut || run(scalar)), seconds_of(&mut || run(Tier::active())));
            println!("| {profile} | {name} | {:.2} |", both / alone);
        }
    }
}

/// Returns the median time of one pass.
fn seconds_of(run: &mut dyn FnMut()) -> f64 {
    median((0..5).map(|_| turn(run, TURN / 2)).collect())
}

/// Repeats `run` for at least `least`, and returns the mean time of a pass in seconds.
fn turn(run: &mut dyn FnMut(), least: Duration) -> f64 {
    run();
    let (start, mut passes) = (Instant::now(), 0_u32);
    while passes == 0 || start.elapsed() < least {
        run();
        passes += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(passes)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the tiers for which crates/uri has SIMD code.
fn tiers() -> impl Iterator<Item = Tier> {
    ["avx512", "avx2", "ssse3", "sse2", "neon", "simd128"].into_iter().filter_map(Tier::find)
}

/// Returns a peer as a contestant. `append` appends the peer's form of a URL, or returns `None` if there is none.
fn peer<'a>(
    name: &str,
    urls: &'a [&'a str],
    append: impl Fn(&str, &mut Vec<u8>) -> Option<()> + 'a,
) -> Contestant<'a> {
    let mut out = Vec::new();
    let run = move || {
        out.clear();
        for url in urls {
            if append(url, &mut out).is_none() {
                out.extend_from_slice(url.as_bytes());
            }
            out.push(b'\n');
        }
        black_box(&out);
    };
    (name.to_owned(), Box::new(run))
}

/// Returns the profile as one contestant for each tier.
fn of_profile<'a>(profile: Profile, text: &'a str) -> Vec<Contestant<'a>> {
    let mut contestants: Vec<Contestant<'a>> = Vec::new();
    for tier in tiers().chain(Tier::find("scalar")) {
        let mut out = Vec::new();
        let run = move || {
            out.clear();
            canonicalize_lines_on(tier, profile, text.as_bytes(), &mut out, |_, _| {});
            black_box(&out);
        };
        contestants.push((format!("lines, {tier}"), Box::new(run)));
    }
    contestants
}

/// Returns the number of URLs that the profile changes.
fn changed(profile: Profile, urls: &[&str]) -> String {
    urls.iter().filter(|url| profile.canonicalize(url).is_ok_and(|form| form != **url)).count().to_string()
}

/// Times the contestants of a group, and adds their medians to its table.
fn measure(report: &mut Report, group: &str, mut contestants: Vec<Contestant<'_>>, bytes: usize) {
    let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); contestants.len()];
    for _ in 0..ROUNDS {
        for ((_, run), seconds) in contestants.iter_mut().zip(&mut seconds) {
            seconds.push(turn(run, TURN));
        }
    }
    for ((name, _), own) in contestants.iter().zip(&seconds) {
        let ratio = median(own.iter().zip(&seconds[0]).map(|(own, first)| own / first).collect());
        let speed = bytes as f64 / median(own.clone()) / 1e6;
        report.add(group, name, format!("{speed:.0} ({ratio:.2})"));
    }
}

/// Returns the lines of all lists, in random order.
fn mixture(lists: &[(String, String)]) -> String {
    let mut urls: Vec<&str> = lists.iter().flat_map(|(_, text)| text.lines()).collect();
    Random::new(14).shuffle(&mut urls);
    urls.join("\n") + "\n"
}

/// Returns URLs like those of crawlers, from a seed.
fn generated(count: usize) -> String {
    let mut random = Random::new(41);
    let mut below = |end| random.below(end);
    let mut text = String::new();
    #[rustfmt::skip]
    const WORDS: [&str; 12] =
        ["a", "index", "blog", "2026", "products", "search", "img", "news", "en", "wiki", "user-guide", "static"];
    for _ in 0..count {
        text.push_str(["https://", "https://", "https://", "http://", "//"][below(5)]);
        text.push_str(["www.", "", "", "cdn."][below(4)]);
        text.push_str(WORDS[below(12)]);
        text.push_str(
            [".example.com", ".example.org", ".co.example", ".example.net:8080"][below(40).min(3) % 4],
        );
        for _ in 0..below(5) {
            text.push('/');
            text.push_str(WORDS[below(12)]);
            text.push_str(["", "", "", "-x9", "%20b", "%C3%A9", ".html", "%7e"][below(8)]);
        }
        text.push('/');
        if below(3) == 0 {
            text.push_str(["?q=", "?id=", "?utm_source="][below(3)]);
            text.push_str(&below(1_000_000_000).to_string());
            text.push_str(["", "&page=2", "&ref=a%2Fb"][below(3)]);
        }
        text.push_str(["", "", "", "", "", "#top"][below(6)]);
        text.push('\n');
    }
    text
}
