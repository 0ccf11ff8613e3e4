//! Converts whole URLs: each value becomes one value, or is rejected with an offset and a reason.
//!
//! The conversions implement the trait [`Convert`](crate::convert::Convert). The crate simdpct-uri splits, joins and
//! canonicalizes URLs; this module adds the text formats of their parts.

pub mod canonical;
pub mod convert;
pub mod edit;
pub mod ext_value;
pub mod form;
pub mod join;
pub mod part;
pub mod refer;
pub mod row;
pub mod split;
pub mod values;

#[cfg(test)]
mod tests {
    use simdpct::ByteSet;
    use simdpct_records::Kind;

    use crate::common::fault::Handling;
    use crate::common::records::Records;
    use crate::convert::{Convert, Value};

    /// Checks that `append_many` converts random lines of `words` like `append`, and accepts most texts.
    pub fn assert_lines_are_like_values(convert: &mut dyn Convert, words: &[&str]) {
        let (mut seed, mut fast) = (1_u64, 0);
        for round in 0..10_000 {
            let mut random = |below: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % below
            };
            let mut text = Vec::new();
            for _ in 0..random(if round % 50 == 0 { 200 } else { 12 }) {
                text.extend_from_slice(if random(4) == 0 {
                    b"\n"
                } else {
                    words[random(words.len())].as_bytes()
                });
            }
            if round % 20 == 0 {
                text.extend_from_slice(
                    [&b"\t"[..], b"\r", b"\0", b"%", b"%2", b"\"", b"\\", b"\xC3"][random(8)],
                );
            }
            let (mut wanted, mut rejected) = (b"old".to_vec(), 0);
            for line in text.split_inclusive(|&byte| byte == b'\n') {
                let value = line.strip_suffix(b"\n").unwrap_or(line);
                let len = wanted.len();
                let value_alone = Value { bytes: value, kind: Kind::Text, keep: &ByteSet::EMPTY };
                if convert.append(value_alone, Handling::KEEP, &mut wanted).is_err() {
                    wanted.truncate(len);
                    wanted.extend_from_slice(value);
                    rejected += 1;
                }
                wanted.extend_from_slice(&line[value.len()..]);
            }
            let mut out = b"old".to_vec();
            if let Some(kept) = convert.append_many(&text, Records::Lines, Handling::KEEP, &mut out) {
                assert_eq!(kept, rejected);
                fast += 1;
                assert_eq!(out.escape_ascii().to_string(), wanted.escape_ascii().to_string());
            }
        }
        assert!(fast > 5000, "{fast}");
    }
}
