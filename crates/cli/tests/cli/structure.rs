//! Property tests: a new value never changes how its line is split into fields. [`fields`] splits lines independently.

use crate::support::{Numbers, assert_same, done, done_text, ok, run, words_of};

/// Splits `line` into fields at blanks. A quote or bracket at the start of a field opens it. A mark of the same kind,
/// after an even number of backslashes, closes it at a blank or the end of the line. The marks stay in the field. If no
/// mark closes it, the field ends at the first blank.
fn fields(line: &[u8]) -> Vec<&[u8]> {
    let is_blank = |at: usize| line.get(at).is_none_or(|byte| b" \t".contains(byte));
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if is_blank(at) {
            at += 1;
            continue;
        }
        let close = match line[at] {
            b'"' => Some(b'"'),
            b'[' => Some(b']'),
            _ => None,
        };
        let mut end = None;
        let mut is_hidden = false;
        for (next, &byte) in line.iter().enumerate().skip(at + 1) {
            if Some(byte) == close && !is_hidden && is_blank(next + 1) {
                end = Some(next + 1);
                break;
            }
            is_hidden = byte == b'\\' && !is_hidden;
        }
        let end = end.unwrap_or_else(|| (at..=line.len()).find(|&end| is_blank(end)).unwrap());
        fields.push(&line[at..end]);
        at = end;
    }
    fields
}

fn words(field: &[u8]) -> usize {
    field.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty()).count()
}

/// Returns `lines` random lines of blanks, quotes, brackets, backslashes, escapes of these, and the words in `extra`.
fn hostile(seed: u64, lines: usize, extra: &[&[u8]]) -> Vec<u8> {
    let words = words_of(
        b" , ,  ,\t,\",\",[,],\\,\\\\,a,xy,+,-,|,;,%5B,%5b,%5D,%5d,%22,%5C,%20,%09,%0A,%0d,%00,%41,%2B,%7C,\
        %3b,%255D,%2522,%zz,%,\\x5D,\\x22,\\x20,\\x41,%u005D,%u0022,%FF,%C3%A9,\xC3\xA9",
    );
    let mut numbers = Numbers(seed);
    let mut bytes = Vec::new();
    for _ in 0..lines {
        for _ in 0..numbers.next() % 14 {
            let is_extra = !extra.is_empty() && numbers.next() & 3 == 0;
            bytes.extend_from_slice(numbers.pick(if is_extra { extra } else { &words }));
        }
        bytes.push(b'\n');
    }
    bytes
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Converts hostile lines, and checks that each has as many fields as before, and that only the `chosen` fields changed.
fn check(args: &[&str], chosen: &[usize], extra: &[&[u8]]) {
    let input = hostile(0x5EED + args.len() as u64, 40_000, extra);
    let out = done(&[args, &["-j1", "-q"]].concat(), &input);
    let (before, after): (Vec<_>, Vec<_>) =
        (input.split(|&byte| byte == b'\n').collect(), out.split(|&byte| byte == b'\n').collect());
    assert_eq!(before.len(), after.len(), "{args:?}: lines");
    let mut changed = 0;
    for (old, new) in before.iter().zip(&after) {
        let (from, to) = (fields(old), fields(new));
        let what = || format!("{args:?}: {} became {}", show(old), show(new));
        assert_eq!(from.len(), to.len(), "{}", what());
        for (index, (one, other)) in from.iter().zip(&to).enumerate() {
            if chosen.contains(&index) {
                changed += usize::from(one != other);
            } else {
                assert_eq!(one, other, "field {}: {}", index + 1, what());
            }
        }
    }
    assert!(changed > 1000, "{args:?}: only {changed} values changed");
    assert_same(&format!("{args:?} -j2"), &done(&[args, &["-j2", "-q"]].concat(), &input), &out);
}

#[test]
fn decoding_makes_the_ends_of_nothing() {
    for (input, wanted) in [
        // A decoded `]` would end a field in brackets, or close a bracket that is still open.
        ("1 [x%5D y] \"q\"", "1 [x%5D y] \"q\""),
        ("1 [x%5d y%41] \"q\"", "1 [x%5d yA] \"q\""),
        ("[a b%5D c", "[a b%5D c"),
        ("[a \"b%5D c\" d", "[a \"b%5D c\" d"),
        // A decoded blank after the quote in the middle would turn this quote into the end of the field, so the value stays as it is.
        ("1 \"a\"%20b\" c", "1 \"a\"%20b\" c"),
        ("1 %5ba b]", "1 %5ba b]"),
    ] {
        for field in ["1", "2", "1,2"] {
            let out = done(&["decode", "-q", "--quoted", "--field", field], input);
            let out = String::from_utf8(out).unwrap();
            assert_eq!(fields(out.as_bytes()).len(), fields(input.as_bytes()).len(), "{field}: {out}");
        }
        assert_eq!(done_text("decode -q --quoted --field 2", input), wanted);
    }
}

#[test]
fn lines_split_as_before_between_blanks() {
    for options in [
        &[][..],
        &["--form"],
        &["--until-stable"],
        &["--times", "2"],
        &["--percent-u"],
        &["--printable"],
        &["--percent-u", "--until-stable", "--form"],
        &["--on-malformed", "replace", "--on-invalid-utf8", "replace"],
        &["--on-malformed", "empty"],
        &["--charset", "gbk"],
    ] {
        check(&[&["decode", "--quoted", "--field", "2"], options].concat(), &[1], &[]);
        check(&[&["decode", "--quoted", "--field", "1,3,4"], options].concat(), &[0, 2, 3], &[]);
    }
    check(&["normalize", "--quoted", "--field", "2,3"], &[1, 2], &[]);
    // In Shift_JIS, the second byte of a character can be a backslash or a bracket.
    let halves: &[&[u8]] = &[b"\x83\\", b"\x83]", b"%83\\", b"\x83[", "\u{30BD}".as_bytes()];
    check(&["decode", "--quoted", "--field", "2,3", "--charset", "shift_jis"], &[1, 2], halves);
    for set in ["none", "rfc3986-reserved", "whatwg-c0-control", "whatwg-path", "whatwg-userinfo"] {
        if ok(&["sets", set], "").windows(8).any(|bytes| bytes == b"building") {
            continue;
        }
        check(&["encode", "--quoted", "--field", "2,3", "--set", set], &[1, 2], &[]);
        check(
            &["encode", "--quoted", "--field", "2,3", "--set", set, "--charset", "shift_jis"],
            &[1, 2],
            halves,
        );
    }
    check(&["encode", "--quoted", "--field", "2,3", "--escape", "\\%"], &[1, 2], &[]);
    check(&["encode", "--quoted", "--field", "2", "--keep", "\"]["], &[1], &[]);
}

/// Fields between blanks are those of awk, and decoding adds no quotes or backslashes to a line.
#[test]
fn lines_split_as_before_for_awk() {
    let awk = |line: &[u8]| {
        let fields = line.split(|byte| b" \t".contains(byte)).filter(|field| !field.is_empty());
        fields.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let marks = |line: &[u8]| line.iter().filter(|byte| b"\"\\".contains(byte)).count();
    for (args, chosen) in [
        (&["decode", "-f", "2"][..], 1..2),
        (&["decode", "-f", "2..3", "--form", "--until-stable"], 1..3),
        (
            &["decode", "-f", "3..", "--on-malformed", "replace", "--on-invalid-utf8", "replace"],
            2..usize::MAX,
        ),
        (&["decode", "-f", "..2", "--charset", "gbk"], 0..2),
        (&["normalize", "-f", "1"], 0..1),
        (&["encode", "-f", "2..4", "--set", "none"], 1..4),
        (&["get", "to:{path}", "-f", "2"], 1..2),
    ] {
        let input = hostile(0xA3C, 40_000, &[]);
        let out = done(&[args, &["-q"]].concat(), &input);
        let mut changed = 0;
        for (old, new) in input.split(|&byte| byte == b'\n').zip(out.split(|&byte| byte == b'\n')) {
            let what = || format!("{args:?}: {} became {}", show(old), show(new));
            let (from, to) = (awk(old), awk(new));
            assert_eq!(from.len(), to.len(), "{}", what());
            assert!(args[0] != "decode" || marks(new) <= marks(old), "{}", what());
            for (index, (one, other)) in from.iter().zip(&to).enumerate() {
                assert!(one == other || chosen.contains(&index), "{}", what());
                changed += usize::from(one != other);
            }
        }
        assert!(changed > 1000, "{args:?}: only {changed} values changed");
    }
}

#[test]
fn words_stay_words() {
    for args in [
        &["decode", "--quoted", "--field", "1.2"][..],
        &["decode", "--quoted", "--field", "2.1,2.2", "--form"],
        &["decode", "--quoted", "--field", "1.1", "--until-stable", "--unescape", "nginx"],
        &["encode", "--quoted", "--field", "1.2", "--keep", "\"]"],
    ] {
        let input = hostile(77, 40_000, &[]);
        let out = done(&[args, &["-q"]].concat(), &input);
        for (old, new) in input.split(|&byte| byte == b'\n').zip(out.split(|&byte| byte == b'\n')) {
            let count = |line| fields(line).into_iter().map(words).collect::<Vec<_>>();
            assert_eq!(count(old), count(new), "{args:?}: {} became {}", show(old), show(new));
        }
        assert!(out != input, "{args:?}");
    }
}

#[test]
fn lines_split_as_before_at_single_bytes() {
    for delimiter in ["|", ";", "tab", "-", "[", "\\"] {
        let byte = if delimiter == "tab" { b'\t' } else { delimiter.as_bytes()[0] };
        for options in [&[][..], &["--form"], &["--until-stable", "--percent-u"]] {
            let args = [&["decode", "-q", "-d", delimiter, "--field", "2,3"], options].concat();
            let input = hostile(9, 20_000, &[&[byte]]);
            let out = ok(&args, &input);
            let lines = input.split(|&byte| byte == b'\n').zip(out.split(|&byte| byte == b'\n'));
            for (old, new) in lines {
                let split =
                    |line: &[u8]| line.split(|&at| at == byte).map(<[u8]>::to_vec).collect::<Vec<_>>();
                let (from, to) = (split(old), split(new));
                assert_eq!(from.len(), to.len(), "{args:?}: {} became {}", show(old), show(new));
                for index in (0..from.len()).filter(|index| ![1, 2].contains(index)) {
                    assert_eq!(from[index], to[index], "{args:?}: {} became {}", show(old), show(new));
                }
            }
            assert!(out != input, "{args:?}");
        }
    }
}

/// The output does not depend on where a record crosses the end of a buffer.
#[test]
fn edges_of_buffers_do_not_show() {
    let input = hostile(5, 30_000, &[]);
    for args in [
        &["decode", "-q", "--quoted", "--field", "2"][..],
        &["decode", "-q", "--field", "2"],
        &["decode", "-q", "--field", "2", "--values"],
        &["decode", "-q", "--field", "1,2", "--values", "--output-delimiter", "|"],
        &["decode", "-q", "--field", "2", "--only-changed"],
        &["decode", "-q", "--only-changed"],
        &["decode", "-q", "--logfmt", "--key", "a,xy"],
    ] {
        let whole = done(args, &input);
        let lines = input.split_inclusive(|&byte| byte == b'\n');
        let halves: Vec<_> = lines.collect::<Vec<_>>().chunks(10_000).map(<[&[u8]]>::concat).collect();
        let parts: Vec<u8> = halves.iter().flat_map(|part| run(args, part).out).collect();
        assert_same(&format!("{args:?}"), &parts, &whole);
        for pad in [1, 17, 65_530] {
            let start = [&b"x".repeat(pad)[..], b"\n"].concat();
            let padded = done(args, [&start[..], &input].concat());
            let alone = done(args, &start);
            assert_same(&format!("{args:?} after {pad}"), &padded[alone.len()..], &whole);
        }
    }
}
