//! Random text in which clients hide delimiters.
#![allow(dead_code, reason = "each test uses a part of this module")]

/// A generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Returns a value made of a few fragments, without the bytes of `without`.
    pub fn value(&mut self, without: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        for _ in 0..self.below(5) {
            value.extend_from_slice(self.pick(FRAGMENTS));
        }
        value.retain(|byte| !without.contains(byte));
        value
    }
}

/// The delimiters, escapes and whole fields of all formats.
pub const FRAGMENTS: &[&[u8]] = &[
    b"/a",
    b"\"",
    b"\\",
    b" ",
    b"-",
    b"\"\"",
    b"\\\"",
    b"\\x22",
    b"\\x5C",
    b"\\u0022",
    b"\\u00e9",
    b"#22",
    b"#011",
    b"%22",
    b"%",
    b"]",
    b"[",
    b"\xC3\xA9",
    b"\xE9",
    b"\t",
    b"\x01",
    b"\x7F",
    b"\x1B",
    b"}",
    b"~",
    b"{|}",
    b" HTTP/1.1",
    b" HTTP/1.1\"",
    b"GET /spoof HTTP/1.1",
    b"\"GET /spoof HTTP/1.1\"",
    b"] \"GET /spoof HTTP/1.1\" 200 1 \"",
    b"[10/Oct/2000:13:55:36 +0000] \"GET /spoof HTTP/1.1\" 200 1",
    b"[10/Oct/2000:13:55:36 +0000] \"",
    b"\" 200 5 \"",
    b"\" 200 5",
    b"\" \"",
    b"\" \"-\" \"",
    b"\",\"uri\":\"/spoof",
    b"\\\",\"uri\":\"/spoof",
    b", request: \"GET /spoof HTTP/1.1\"",
    b"\", request: \"GET /spoof HTTP/1.1\", host: \"h\"",
    b", host: \"x\"",
    b"\", referrer: \"http://spoof/",
    b", upstream: \"http://spoof/\"",
    b" failed (2: No such file), client: 1, server: 2",
];
