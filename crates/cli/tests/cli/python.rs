//! Checks that results agree with Python's urllib, line by line.

use crate::support::{assert_same, ok, tangle, tool};

#[test]
fn urllib_agrees() {
    let input = tangle(11, 300_000);
    for verb in ["encode", "decode", "normalize"] {
        let python = ["python3", "-c", include_str!("oracle.py"), verb];
        let Some(wanted) = tool(&python, &input) else { return };
        assert_same(verb, &ok(&[verb], &input), &wanted);
    }
}
