//! What the Criterion suite and the comparison program share: the rows, and the ways to call simdpct and its rivals.
//!
//! The rows are URLs made from a seed in the shape of real lists, and text of other shapes. The same seed gives the same
//! bytes on every machine.
//!
//! A small buffer that is read again and again flatters branchy code, because the branch predictor learns it by
//! heart. So each row holds at least 20,000 distinct strings or 512 KiB of distinct text (as far as its shape
//! allows), laid out in the order in which it is read.

pub mod contender;
pub mod place;
mod random;
mod rivals;
mod rows;
mod urls;

pub use self::contender::{Contender, Role, Room, Shape, expected, ours};
pub use self::random::Random;
pub use self::rivals::others;
pub use self::rows::{DISTINCT, Row, Spec, Unit, Verb, fixed_length, read_urls, specs};
pub use self::urls::{Shape as UrlShape, Urls};

/// The seed of all generated input.
pub const SEED: u64 = 0x51_3D_9C_75;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corpus_is_shaped_like_real_lists() {
        let urls = Urls::new(SEED).distinct(DISTINCT);
        let shape = UrlShape::of(&urls);
        assert_eq!((shape.lines, shape.distinct), (DISTINCT, DISTINCT));
        assert!((47.0..=56.0).contains(&shape.mean), "{shape}");
        assert!((40..=48).contains(&shape.median), "{shape}");
        assert!((72..=84).contains(&shape.p90), "{shape}");
        assert!((0.87..=0.89).contains(&shape.short), "{shape}");
        assert!((0.10..=0.12).contains(&shape.special), "{shape}");
        assert!((0.011..=0.014).contains(&shape.escaped), "{shape}");
    }

    #[test]
    fn corpus_is_the_same_everywhere() {
        let urls: Vec<String> = Urls::new(1).take(3).collect();
        assert_eq!(urls, Urls::new(1).take(3).collect::<Vec<_>>());
        assert_ne!(urls, Urls::new(2).take(3).collect::<Vec<_>>());
    }

    #[test]
    fn rows_hold_enough_distinct_text() {
        for spec in specs(SEED, &Urls::new(SEED).distinct(DISTINCT)) {
            let row = spec.make(Shape::Append);
            let strings = row.strings();
            let enough = strings.len() >= DISTINCT || row.bytes() >= 512 * 1024;
            assert!(
                enough,
                "{:?} {}: {} strings, {} bytes",
                spec.verb,
                spec.name,
                strings.len(),
                row.bytes()
            );
            assert_eq!(strings.iter().map(|string| string.len()).sum::<usize>(), row.bytes());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = specs(SEED, &Urls::new(SEED).distinct(10))
            .iter()
            .map(|spec| format!("{:?} {}", spec.verb, spec.name))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// Else a strict decoder is timed while it refuses.
    #[test]
    fn strict_rows_have_no_malformed_escapes() {
        let specs = specs(SEED, &Urls::new(SEED).distinct(DISTINCT));
        let mut changed = 0;
        for spec in specs.iter().filter(|spec| spec.verb == Verb::Decode) {
            let (row, plain) = (spec.make(Shape::Strict), spec.make(Shape::Append));
            for (string, plain) in row.strings().iter().zip(plain.strings()) {
                let valid = percent_encoding::percent_decode_str(string).count();
                assert_eq!(
                    string.len() - valid,
                    2 * string.matches('%').count(),
                    "{}: {string:?}",
                    spec.name
                );
                assert_eq!(string.len(), plain.len());
                changed += usize::from(*string != plain);
            }
        }
        assert!(changed > 0);
    }
}
