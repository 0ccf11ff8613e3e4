//! Rows for the tests: real URLs, encoded URLs, and hostile text.

use crate::model;

/// A generator of pseudo-random numbers with a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

const PIECES: [&str; 26] = [
    "%",
    "%2",
    "%41",
    "%zz",
    "%FF",
    "%c3%a9",
    "a",
    "/",
    "\u{e9}",
    "\u{65e5}\u{672c}",
    "%00",
    "+",
    " ",
    "%25",
    "%7e",
    "\"",
    "x-eleven-xx",
    "HTTP://EXAMPLE.org:80/./a/../b?",
    "\u{1f600}",
    "%ED%A0%80",
    "%F4%90%80%80",
    "'",
    "\n",
    "\r",
    "%0A",
    "\u{1}",
];

/// Makes `count` rows for the tests. Every seventh row is null.
pub fn rows(count: usize) -> Vec<Option<String>> {
    let lines: Vec<&str> =
        [include_str!("../../../../samples/urls.txt"), include_str!("../../../../samples/crawl.txt")]
            .into_iter()
            .flat_map(str::lines)
            .collect();
    let mut numbers = Numbers(7);
    let row = |row: usize| match row % 7 {
        6 => None,
        0..3 => Some(lines[numbers.below(lines.len())].to_owned()),
        3 => {
            let encoded = model::encode(lines[numbers.below(lines.len())], "");
            Some(String::from_utf8(encoded).expect("escapes are text"))
        }
        _ => Some((0..numbers.below(12)).map(|_| PIECES[numbers.below(PIECES.len())]).collect()),
    };
    (0..count).map(row).collect()
}
