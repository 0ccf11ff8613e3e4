//! Compares splitting of single URLs, columns and lines on every tier with `split_by_reference`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct::batch::Column;
use simdpct_uri::internals::{split_by_reference, split_column_on, split_each_on, split_lines_on, split_on};
use simdpct_uri::{Columns, Components, FlawKind, Lines};
use testkit::tiers::tiers;

fuzz_target!(|text: &[u8]| {
    let mut bytes = Vec::new();
    let mut offsets = vec![0_u32];
    for line in text.split(|&byte| byte == b'\n') {
        bytes.extend_from_slice(line);
        offsets.push(u32::try_from(bytes.len()).expect("short input"));
    }
    let urls = Column::new(&bytes, &offsets).expect("in order");
    for url in urls {
        let parts = split_by_reference(url);
        // Only a first segment with a colon, which no reference may have, needs a prefix.
        let is_valid = !parts.flaws().any(|flaw| flaw.kind == FlawKind::ColonInFirstSegment);
        assert_eq!(Components::from(parts).join(), [if is_valid { &b""[..] } else { b"./" }, url].concat());
        assert!(parts.flaws().all(|flaw| flaw.offset < url.len()));
    }
    for &tier in tiers() {
        let (mut columns, mut lines) = (Columns::new(), Lines::new());
        split_column_on(tier, urls, &mut columns).expect("short URLs");
        split_lines_on(tier, text, &mut lines).expect("short URLs");
        let mut rows = urls.iter();
        split_each_on(tier, urls.iter().map(Some), |parts| {
            assert_eq!(parts, rows.next().map(split_by_reference))
        });
        for (row, url) in urls.iter().enumerate() {
            let right = split_by_reference(url);
            assert_eq!(split_on(tier, url), right);
            assert_eq!(columns.parts(row, url), Some(right));
            let line = url.strip_suffix(b"\r").unwrap_or(url);
            // After a final line feed, the text has no further line, but the column has an empty value.
            let is_line = row < lines.len();
            assert!(is_line || row + 1 == urls.len() && url.is_empty());
            if is_line {
                assert_eq!(lines.parts(row, text), Some(split_by_reference(line)));
            }
        }
    }
});
