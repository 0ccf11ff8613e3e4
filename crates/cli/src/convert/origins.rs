//! Maps decoded bytes to their offsets in the value, for messages. Speed does not matter, so each step runs a byte at
//! a time.

use simdpct::ByteSet;

use super::options::{DecodeOptions, Layers};
use super::percent_u;
use crate::common::escape::byte_of;

/// Bytes with their offsets in the value.
#[derive(Default)]
pub struct Traced {
    /// The bytes after the conversion steps so far.
    pub bytes: Vec<u8>,
    /// The offset of each byte in the value.
    pub origins: Vec<usize>,
}

impl Traced {
    fn new(value: &[u8]) -> Traced {
        Traced { bytes: value.to_vec(), origins: (0..value.len()).collect() }
    }

    fn push(&mut self, bytes: &[u8], origin: usize) {
        self.bytes.extend_from_slice(bytes);
        self.origins.resize(self.bytes.len(), origin);
    }

    /// Replaces each stretch for which `replace` returns its length and its replacement. A replacement is not
    /// searched again.
    fn replace(self, mut replace: impl FnMut(&[u8]) -> Option<(usize, Vec<u8>)>) -> Traced {
        let mut result = Traced::default();
        let mut at = 0;
        while at < self.bytes.len() {
            match replace(&self.bytes[at..]) {
                Some((len, with)) => {
                    result.push(&with, self.origins[at]);
                    at += len;
                }
                None => {
                    result.push(&self.bytes[at..=at], self.origins[at]);
                    at += 1;
                }
            }
        }
        result
    }
}

/// Returns the offset of the decoded byte at `at`, if decoding once is the only step. Reads only the escapes of
/// `value`. If `normalizes`, a digit stays escaped after an escape that lacks it.
pub fn of_plain(keep: &ByteSet, normalizes: bool, value: &[u8], at: usize) -> usize {
    // Invariant: decoding the first `from` bytes of `value` gives `at - left` bytes.
    let (mut from, mut left) = (0, at);
    for percent in memchr::memchr_iter(b'%', value) {
        if percent - from >= left {
            break;
        }
        let Some(byte) = value[percent..].first_chunk().and_then(byte_of) else { continue };
        left -= percent - from;
        let lacks_digit = match value[..percent] {
            [.., b'%'] => true,
            [.., b'%', digit] => digit.is_ascii_hexdigit(),
            _ => false,
        };
        let completes = normalizes && lacks_digit && byte.is_ascii_hexdigit();
        let len = if keep.contains(byte) || completes { 3 } else { 1 };
        if left < len {
            return percent;
        }
        (left, from) = (left - len, percent + 3);
    }
    value.len().min(from + left)
}

/// Returns the bytes after all layers and before `--charset`. Characters of `%uXXXX` are in UTF-8.
pub fn of_decoded(options: &DecodeOptions, value: &[u8]) -> Traced {
    let DecodeOptions { keep, form, .. } = options;
    let pass = |traced: Traced, percent_u: bool| {
        traced.replace(|rest| {
            if let Some((character, len)) = percent_u::character_at(rest).filter(|_| percent_u) {
                let kept = percent_u::is_kept(character, keep);
                return Some((
                    len,
                    if kept { rest[..len].to_vec() } else { character.to_string().into_bytes() },
                ));
            }
            match (rest.first_chunk().and_then(byte_of), rest) {
                (Some(byte), _) if keep.contains(byte) => Some((3, rest[..3].to_vec())),
                (Some(byte), _) => Some((3, vec![byte])),
                (None, [b'+', ..]) if *form => Some((1, vec![b' '])),
                _ => None,
            }
        })
    };
    let traced = pass(Traced::new(value), options.percent_u);
    match options.layers {
        Layers::Times(times) => (1..times).fold(traced, |traced, _| pass(traced, false)),
        Layers::UntilStable => {
            // One pass is enough, because the order in which escapes are decoded does not matter.
            let mut result = Traced::default();
            for (byte, origin) in traced.bytes.into_iter().zip(traced.origins) {
                result.push(&[byte], origin);
                while let Some(byte) = result.bytes.last_chunk().and_then(byte_of) {
                    if keep.contains(byte) {
                        break;
                    }
                    result.bytes.truncate(result.bytes.len() - 3);
                    let origin = result.origins[result.bytes.len()];
                    result.origins.truncate(result.bytes.len());
                    result.push(&[byte], origin);
                }
                if let Some(plus) = result.bytes.last_mut().filter(|byte| *form && **byte == b'+') {
                    *plus = b' ';
                }
            }
            result
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_is_the_long_way() {
        let words: [&[u8]; 8] = [b"%41", b"%0a", b"%2", b"%", b"a", b"%zz", b"+", b"%ff"];
        let keep = ByteSet::EMPTY.add(b"\n");
        for number in 0..words.len().pow(4) {
            let value: Vec<u8> =
                (0..4).flat_map(|index| words[number / words.len().pow(index) % 8]).copied().collect();
            for form in [false, true] {
                let options = DecodeOptions { keep, form, ..DecodeOptions::ONCE };
                for (at, origin) in of_decoded(&options, &value).origins.into_iter().enumerate() {
                    assert_eq!(of_plain(&keep, false, &value, at), origin, "{} {at}", value.escape_ascii());
                }
            }
        }
    }
}
