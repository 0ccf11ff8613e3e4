//! Generates URLs with the statistics of real lists.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use crate::Random;

/// The words in hosts, paths and queries.
const WORDS: &str = "
    about account admin api archive article assets author blog book browse calendar cart category center
    code comments company contact content css data default detail directory docs download edit events
    example faq features feed files forum gallery guide help home html image images index info install
    issues item jobs journal kernel latest library links list login main manual map media members module
    music network news notes online openings page paper photo pipeline post press privacy product
    profile project public raw readme release report research resource review rss scripts search section
    server service shop sitemap software source static status store student support system tag team test
    theme thread tools topic training travel tree tutorial upload user version video view vol web wiki
    works";

/// An endless, deterministic stream of URLs.
///
/// Its lengths, its share of reserved bytes and its share of lines with escapes are those of lists of real URLs. A test of
/// benches/compare checks their [`Statistics`].
#[derive(Clone, Debug)]
pub struct Urls {
    random: Random,
    words: Vec<&'static str>,
}

impl Urls {
    /// Creates a stream of URLs that depend on `seed` alone.
    pub fn new(seed: u64) -> Urls {
        Urls { random: Random::new(seed), words: WORDS.split_whitespace().collect() }
    }

    /// Returns `count` distinct URLs.
    pub fn distinct(self, count: usize) -> Vec<String> {
        // A hash set would have random seeds, but `ci/instructions` needs the same number of instructions in every process.
        let mut seen = BTreeSet::new();
        let mut urls = self.filter(|url| seen.insert(url.clone())).take(count).collect::<Vec<_>>();
        urls.shrink_to_fit();
        urls
    }

    /// Returns a random length: 88 % of the URLs have at most 64 bytes, and 10 % have more than 77.
    fn length(&mut self) -> usize {
        let random = &mut self.random;
        match random.below(100) {
            // The sum of four random numbers has a bell-shaped distribution around 43.
            0..88 => (19 + (0..4).map(|_| random.below(13)).sum::<usize>()).min(64),
            88..90 => 65 + random.below(13),
            _ => {
                let mut length = 78 + random.below(24);
                while length < 400 && random.chance(500_000) {
                    length += random.below(36);
                }
                length
            }
        }
    }

    fn word(&mut self, url: &mut String) {
        url.push_str(self.random.pick(&self.words));
    }

    /// Appends a number or a key: at least `least` digits, and up to five more.
    fn digits(&mut self, url: &mut String, least: usize, digits: &[u8]) {
        let count = least + self.random.below(6);
        url.extend((0..count).map(|_| self.random.pick(digits) as char));
    }

    /// Appends a segment of a path or a value of a query.
    fn segment(&mut self, url: &mut String) {
        match self.random.below(10) {
            0 => self.digits(url, 1, b"0123456789"),
            1 => self.digits(url, 6, b"0123456789abcdef"),
            2..5 => self.word(url),
            _ => {
                self.word(url);
                for _ in 0..1 + self.random.below(2) {
                    url.push(self.random.pick(b"--_.") as char);
                    self.word(url);
                }
            }
        }
    }

    fn host(&mut self, url: &mut String) {
        const SCHEMES: &[&str] = &["https://", "https://", "https://", "http://"];
        const PREFIXES: &[&str] = &["www.", "www.", "", "", "docs.", "m.", "en.", "cdn."];
        const ENDINGS: &[&str] =
            &[".com", ".com", ".com", ".org", ".org", ".net", ".io", ".edu", ".co.uk", ".de"];
        url.push_str(self.random.pick(SCHEMES));
        url.push_str(self.random.pick(PREFIXES));
        self.word(url);
        if self.random.chance(550_000) {
            self.word(url);
        }
        url.push_str(self.random.pick(ENDINGS));
    }

    /// Appends escapes of the kinds in real URLs: mostly spaces and letters of other scripts, and then delimiters. A
    /// few are malformed, or escape invalid UTF-8.
    fn escape(&mut self, url: &mut String) {
        let random = &mut self.random;
        let mut part = String::new();
        match random.below(1000) {
            0..560 => part.push_str(random.pick(&["%20", "%20", "%20", "%2C", "%28", "%29", "%27", "%22"])),
            560..720 => {
                for _ in 0..2 + random.below(5) {
                    // Cyrillic letters, U+0430 to U+043F, are `%D0%B0` to `%D0%BF`.
                    part.push_str("%D0%B");
                    part.push(random.pick(b"0123456789ABCDEF") as char);
                }
            }
            720..780 => {
                for _ in 0..1 + random.below(3) {
                    part.push_str(random.pick(&["%E6%97%A5", "%E6%9C%AC", "%E8%AA%9E", "%C3%A9", "%C3%BC"]));
                }
            }
            780..908 => part.push_str(random.pick(&["%2F", "%3A", "%3D", "%3F", "%26", "%2B"])),
            908..970 => part.push_str(random.pick(&["%25", "%2520", "%252F"])),
            970..985 => part.push_str(random.pick(&["%7E", "%2D", "%5F", "%41"])),
            985..990 => part.push_str(random.pick(&["%", "%u2019", "%zz", "100%"])),
            990..994 => part.push_str(random.pick(&["%E9", "%FC", "%C3"])),
            _ => part.push_str("%2f%3a"),
        }
        if random.chance(17_000) {
            part.make_ascii_lowercase();
        }
        url.push_str(&part);
    }
}

impl Iterator for Urls {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let length = self.length();
        let mut url = String::with_capacity(length + 24);
        self.host(&mut url);
        // One URL in 75 has escapes.
        let mut escapes = if self.random.chance(13_300) { 1 + self.random.below(3) } else { 0 };
        let query = if length > 56 { 44 + self.random.below(90) } else { 64 };
        let mut in_query = false;
        while url.len() < length {
            let separator = match (in_query, url.len() > query) {
                (false, false) => '/',
                (false, true) => '?',
                (true, _) => '&',
            };
            in_query |= separator == '?';
            url.push(separator);
            if in_query {
                self.word(&mut url);
                url.push('=');
            }
            self.segment(&mut url);
            if escapes > 0 {
                escapes -= 1;
                self.escape(&mut url);
                self.word(&mut url);
            }
        }
        if escapes == 0 && !url.contains('%') {
            // The URL is ASCII without escapes, so every prefix of it is a URL, too.
            url.truncate(length.max(12));
        }
        Some(url)
    }
}

/// The figures by which lists of URLs are compared.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// The number of lines.
    pub lines: usize,
    /// The number of distinct lines.
    pub distinct: usize,
    /// The mean length, in bytes.
    pub mean: f64,
    /// The median length, in bytes.
    pub median: usize,
    /// The length that 90 % of the lines do not exceed, in bytes.
    pub p90: usize,
    /// The share of lines of at most 64 bytes.
    pub short: f64,
    /// The share of bytes that are not unreserved by RFC 3986.
    pub special: f64,
    /// The share of lines with a `%`.
    pub escaped: f64,
}

impl Statistics {
    /// Computes the statistics of `lines`, which must not be empty.
    pub fn of(lines: &[String]) -> Statistics {
        let mut lengths: Vec<usize> = lines.iter().map(String::len).collect();
        lengths.sort_unstable();
        let bytes: usize = lengths.iter().sum();
        let special = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"-._~".contains(byte));
        let specials = lines.iter().map(|line| line.bytes().filter(special).count()).sum::<usize>();
        let share = |part: usize, whole: usize| part as f64 / whole as f64;
        Statistics {
            lines: lines.len(),
            distinct: lines.iter().collect::<HashSet<_>>().len(),
            mean: share(bytes, lines.len()),
            median: lengths[lengths.len() / 2],
            p90: lengths[lengths.len() * 9 / 10],
            short: share(lengths.iter().filter(|&&length| length <= 64).count(), lines.len()),
            special: share(specials, bytes),
            escaped: share(lines.iter().filter(|line| line.contains('%')).count(), lines.len()),
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lines ({} distinct); length: mean {:.1}, median {}, 90 % up to {}, {:.1} % up to 64; {:.1} % of bytes \
             special; {:.2} % of lines with `%`",
            self.lines,
            self.distinct,
            self.mean,
            self.median,
            self.p90,
            self.short * 100.0,
            self.special * 100.0,
            self.escaped * 100.0
        )
    }
}
