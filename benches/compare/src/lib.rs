//! What the Criterion suite and the comparison program share: the rows, and the ways to call simdpct and its rivals.
//!
//! The rows are URLs made from a seed in the shape of real lists, and text of other shapes. The same seed gives the same
//! bytes on every machine.
//!
//! A small buffer that is read again and again flatters branchy code, because the branch predictor learns it by
//! heart. So each row holds at least 20,000 distinct strings or 512 KiB of distinct text (as far as its shape
//! allows), laid out in the order in which it is read.

pub mod contender;
mod rivals;
mod rows;
mod urls;

pub use self::contender::{Contender, Role, Room, Shape, expected, ours};
pub use self::rivals::others;
pub use self::rows::{DISTINCT, Row, Spec, Unit, Verb, fixed_length, read_urls, specs};
pub use self::urls::{Shape as UrlShape, Urls};

/// The seed of all generated input.
pub const SEED: u64 = 0x51_3D_9C_75;

/// Makes the bytes of the benchmarks: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator whose sequence depends on `seed` alone.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is below 2^32.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of the product is as good as evenly spread for such small bounds.
        let high = (self.next() >> 32) * bound as u64;
        (high >> 32) as usize
    }

    /// Whether something happens that does so `times` times in a `million`.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(1_000_000) < times
    }

    /// One of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Brings `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

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
