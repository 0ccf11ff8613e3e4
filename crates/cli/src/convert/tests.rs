//! Tests of single values: errors, their offsets, and layers. All other behaviour is tested through the binary.

use simdpct::sets::RFC3986_UNRESERVED;
use simdpct::{ByteSet, MalformedCause};

use super::options::{DecodeOptions, EncodeOptions, Layers, Verb};
use super::stream::Stream;
use super::work::Work;
use super::{cut, origins};
use crate::common::charset::Charset;
use crate::common::fault::{Handling, OnFault};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;

/// Returns the conversion for `args`, with the options that these tests use.
fn verb(args: &[&str]) -> Verb {
    let mut rest = args[1..].iter();
    let mut encode = EncodeOptions {
        keep: RFC3986_UNRESERVED.to_byte_set(),
        keep_escapes: false,
        form: false,
        lower: false,
        charset: None,
    };
    let mut decode = DecodeOptions::ONCE;
    while let Some(option) = rest.next() {
        let mut value = || rest.next().expect("a value");
        match *option {
            "--times" => decode.layers = Layers::Times(value().parse().expect("a number")),
            "--until-stable" => decode.layers = Layers::UntilStable,
            "--form" => (encode.form, decode.form) = (true, true),
            "--percent-u" => decode.percent_u = true,
            "--printable" => decode.printable = true,
            "--keep-escapes" => encode.keep_escapes = true,
            "--keep" => decode.keep = ByteSet::EMPTY.add(value().as_bytes()),
            "--charset" => {
                let charset = Charset::find(value()).expect("a charset");
                (encode.charset, decode.charset) = (Some(charset), Some(charset));
            }
            other => panic!("{other}"),
        }
    }
    match args[0] {
        "encode" => Verb::Encode(encode),
        "decode" => Verb::Decode(decode),
        _ => Verb::Normalize(RFC3986_UNRESERVED.to_byte_set()),
    }
}

/// Returns the conversion of a line with `args`.
fn work(args: &[&str]) -> Work {
    Work::on_values(&verb(args), Records::Lines.structure())
}

/// Converts `value` without rejecting anything, and returns the number of layers.
fn lenient(work: &mut Work, value: &[u8], out: &mut Vec<u8>) -> usize {
    work.apply(value, Handling::KEEP, out).expect("nothing is refused")
}

/// Converts `value` with `args`, or returns the kind and the offset of the error.
fn apply(args: &[&str], value: &str) -> Result<Vec<u8>, (&'static str, usize)> {
    let mut out = b"before".to_vec();
    let result = work(args).apply(value.as_bytes(), Handling::REFUSE, &mut out);
    assert!(out.starts_with(b"before") && (result.is_ok() || out.len() == 6), "{args:?} {value}");
    result.map(|_| out.split_off(6)).map_err(|refusal| {
        let kind = match refusal.reason {
            Reason::Malformed(_) => "malformed",
            Reason::InvalidUtf8 => "utf8",
            Reason::NotInCharset => "charset",
            reason => panic!("{reason}"),
        };
        (kind, refusal.offset)
    })
}

#[test]
fn refusals_say_where() {
    let decode = ["decode"];
    let stable = ["decode", "--until-stable"];
    let gbk = ["decode", "--charset", "gbk"];
    for (args, value, wanted) in [
        (&decode[..], "a%20%zz", ("malformed", 4)),
        (&decode, "a%20%E9b%C3%A9", ("utf8", 4)),
        (&["decode", "--times", "2"], "%20%25E9", ("utf8", 3)),
        (&stable, "a%2520%%45%399", ("malformed", 6)),
        (&stable, "a%2520%2525E9", ("utf8", 6)),
        (&["decode", "--form", "--until-stable"], "++%25E9", ("utf8", 2)),
        (&["decode", "--percent-u"], "%u4F60%u4F6", ("malformed", 6)),
        (&["decode", "--percent-u"], "%u0041%uD800", ("malformed", 6)),
        (&["decode", "--percent-u"], "%u4F60%E9", ("utf8", 6)),
        (&gbk, "%C4%E3a%FF", ("charset", 7)),
        (&["decode", "--charset", "gbk", "--percent-u"], "%C4%E3%u4F60%FF", ("charset", 12)),
        (&["decode", "--charset", "utf-8", "--printable"], "a%0B%FF", ("charset", 4)),
        (&["encode", "--charset", "gbk"], "你a\u{1F600}", ("charset", 4)),
    ] {
        assert_eq!(apply(args, value), Err(wanted), "{args:?} {value}");
    }
    let mut out = Vec::new();
    for args in [&["encode"][..], &["encode", "--charset", "gbk"]] {
        let refusal = Refusal { offset: 1, reason: Reason::InvalidUtf8 };
        assert_eq!(work(args).apply(b"a\xE9", Handling::REFUSE, &mut out), Err(refusal));
    }
}

#[test]
fn unchecked_faults_are_not_rejected() {
    let mut out = Vec::new();
    let malformed = Handling { malformed: OnFault::Refuse, ..Handling::KEEP };
    let not_text = Handling { not_text: OnFault::Refuse, ..Handling::KEEP };
    assert_eq!(work(&["decode"]).apply(b"%zz", not_text, &mut out), Ok(0));
    assert_eq!(work(&["decode"]).apply(b"%FF", malformed, &mut out), Ok(1));
    assert_eq!(out, b"%zz\xFF");
    assert_eq!(apply(&["decode", "--until-stable"], "100%25"), Ok(b"100%".to_vec()), "a later layer");
}

#[test]
fn causes_are_told_of_the_value_as_it_stands() {
    let refusal = work(&["decode", "--percent-u"]).apply(b"%4%u0041", Handling::REFUSE, &mut Vec::new());
    let Err(Refusal { reason: Reason::Malformed(MalformedCause::NotHex { offset, .. }), .. }) = refusal
    else {
        panic!("{refusal:?}");
    };
    assert_eq!(offset, 2);
}

#[test]
fn layers_are_counted() {
    for (args, value, wanted) in [
        (&["decode"][..], "abc%zz%0A", 0),
        (&["decode"], "%41", 1),
        (&["decode"], "%2541", 1),
        (&["decode", "--form"], "+", 1),
        (&["decode", "--times", "9"], "%252541", 3),
        (&["decode", "--times", "9", "--form"], "%252B", 3),
        (&["decode", "--times", "2"], "%25252541", 2),
        (&["decode", "--until-stable"], "%25252525252541", 7),
        (&["decode", "--until-stable", "--percent-u"], "%u002541", 2),
        (&["decode", "--until-stable", "--percent-u", "--charset", "gbk"], "%u4F60%252541", 3),
    ] {
        let layers = lenient(&mut work(args), value.as_bytes(), &mut Vec::new());
        assert_eq!(layers, wanted, "{args:?} {value}");
    }
}

/// Splits `list` into words at its spaces, and adds a space as the last word.
fn words(list: &str) -> Vec<&str> {
    list.split(' ').chain([" "]).collect()
}

/// Passes `count` random values to `each`. All pieces of syntax are frequent in them.
fn values(words: &[&str], count: usize, mut each: impl FnMut(usize, String)) {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for round in 0..count {
        each(round, (0..next() % 9).map(|_| words[next() % words.len()]).collect());
    }
}

/// Tracing the origins of decoded bytes gives the same bytes as decoding.
#[test]
fn origins_are_those_of_the_result() {
    let words = words(
        "% %2 25 %25 %41 %2541 %%34 41 + %2B %0A %250d \\x25 \\x5cx41 \\x4 %u0041 %u000A %u0025 \
         %uD83D%uDE00 %uD83D %uDE00 %u12 é %C3%A9 z /",
    );
    values(&words, 20_000, |round, value| {
        let mut args = vec!["decode"];
        let options = ["--form", "--percent-u", "--until-stable"];
        args.extend(
            options.iter().enumerate().filter(|(bit, _)| round >> bit & 1 == 1).map(|(_, option)| option),
        );
        if round >> 2 & 1 == 0 {
            args.extend(["--times", "3"]);
        }
        let mut work = work(&args);
        let mut out = Vec::new();
        lenient(&mut work, value.as_bytes(), &mut out);
        let Work::Decode(decoding) = &work else { panic!() };
        let traced = origins::of_decoded(&decoding.options, value.as_bytes());
        assert_eq!(
            traced.bytes.escape_ascii().to_string(),
            out.escape_ascii().to_string(),
            "{args:?} {value}"
        );
        assert!(
            traced.origins.is_sorted() && traced.origins.iter().all(|&at| at < value.len()),
            "{args:?} {value}"
        );
    });
}

/// Converting the parts of a cut value gives the same as converting the whole value.
#[test]
fn cuts_do_not_show() {
    let words = words(
        "% 2 5 %25 %2520 %252 20 %20 %2F 41 + / g zz @ u x \\x \\x41 \\ %u %u0041 %uD83D %uDE00 00 é \
         你 %81 %81%30 %C4 %E3 a 0 é %0A \n \r\n \r \u{1F600}",
    );
    let args: &[&[&str]] = &[
        &["decode", "--times", "3", "--form"],
        &["decode", "--until-stable"],
        &["decode", "--until-stable", "--keep", "/%"],
        &["decode", "--percent-u"],
        &["decode", "--percent-u", "--until-stable", "--charset", "gbk", "--printable"],
        &["decode", "--charset", "gb18030", "--times", "2"],
        &["decode", "--charset", "shift_jis"],
        &["decode", "--charset", "big5"],
        &["decode", "--charset", "euc-jp", "--printable"],
        &["decode", "--printable"],
        &["encode", "--charset", "gbk"],
        &["encode", "--charset", "gb18030", "--keep-escapes"],
    ];
    let mut works: Vec<Work> = args.iter().map(|args| Work::across(&verb(args), Records::Lines)).collect();
    let (mut places, mut cuts) = (0, 0);
    values(&words, 20_000, |_, value| {
        let value = value.as_bytes();
        places += value.len();
        for end in (1..value.len()).filter(|&end| cut::anywhere(&value[..end]) == Some(end)) {
            cuts += 1;
            for (args, work) in args.iter().zip(&mut works) {
                let (mut whole, mut parts) = (Vec::new(), Vec::new());
                lenient(work, value, &mut whole);
                lenient(work, &value[..end], &mut parts);
                lenient(work, &value[end..], &mut parts);
                assert!(
                    whole == parts,
                    "{args:?} {} | {}: {} {}",
                    value[..end].escape_ascii(),
                    value[end..].escape_ascii(),
                    whole.escape_ascii(),
                    parts.escape_ascii()
                );
            }
        }
    });
    assert!(cuts > places / 20, "{cuts} cuts of {places}");
}

/// Converting a value in pieces, cut anywhere, gives the same result and the same errors as converting it at once.
#[test]
fn pieces_are_the_whole() {
    let words = words(
        "% 2 5 %25 %2520 %252 %%34 %3 %4 %c3%a9 %2F 41 + %2B / g zz \\x \\x41 \\x5 \\ %u %u0041 \
         %u0025 %u000A %uD83D %uDE00 %u4F60 00 é 你 %81 %81%30 %C4 %E3 a 0 %0A \r \r\n \u{1F600} \
         \u{202E} %1B %24B \u{1b}$B $ %1B%28B \u{1b}(B %FF %E4%BD \u{fffd}",
    );
    let args: &[&[&str]] = &[
        &["decode"],
        &["decode", "--form", "--keep", "/%"],
        &["decode", "--times", "2"],
        &["decode", "--times", "3", "--form"],
        &["decode", "--until-stable"],
        &["decode", "--until-stable", "--form", "--keep", "4"],
        &["decode", "--percent-u"],
        &["decode", "--percent-u", "--times", "2", "--keep", "A"],
        &["decode", "--percent-u", "--until-stable", "--charset", "gbk", "--printable"],
        &["decode", "--charset", "gb18030", "--times", "2"],
        &["decode", "--charset", "utf-8", "--percent-u"],
        &["decode", "--charset", "iso-2022-jp"],
        &["decode", "--charset", "us-ascii-strict", "--printable"],
        &["decode", "--charset", "iso-8859-1-strict"],
        &["decode", "--printable"],
        &["normalize"],
        &["encode"],
        &["encode", "--keep-escapes"],
        &["encode", "--form"],
        &["encode", "--charset", "gbk", "--keep-escapes"],
        &["encode", "--charset", "iso-2022-jp"],
        &["encode", "--charset", "us-ascii-strict"],
        &["encode", "--charset", "iso-8859-1-strict"],
    ];
    let keep = |malformed, not_text| Handling { malformed, not_text, ..Handling::KEEP };
    let handlings = [
        Handling::KEEP,
        keep(OnFault::Keep, OnFault::Refuse),
        keep(OnFault::Repair, OnFault::Keep),
        keep(OnFault::Keep, OnFault::Repair),
        keep(OnFault::Repair, OnFault::Repair),
        Handling::REFUSE,
    ];
    let mut refused = 0;
    for args in args {
        for (mut work, records) in [
            (work(args), Records::Raw),
            (Work::across(&verb(args), Records::Lines), Records::Lines),
            (Work::across(&verb(args), Records::Null), Records::Null),
        ] {
            values(&words, 600, |round, value| {
                let value = value.as_bytes();
                for handling in handlings {
                    let mut whole = Vec::new();
                    let said = work.apply(value, handling, &mut whole);
                    for len in [1, 1 + round % 5, usize::MAX] {
                        let mut stream = Stream::new(&work, handling);
                        let mut pieces = Vec::new();
                        value.chunks(len).for_each(|piece| stream.push(piece, &mut pieces));
                        stream.finish(&mut pieces);
                        let case = format!("{args:?} {records:?} {handling:?} {}", value.escape_ascii());
                        let faults = stream.faults();
                        let fault =
                            faults.malformed.as_ref().filter(|_| handling.malformed == OnFault::Refuse);
                        let fault = fault
                            .or(faults.not_text.as_ref().filter(|_| handling.not_text == OnFault::Refuse));
                        match &said {
                            Ok(layers) => {
                                assert_eq!(
                                    pieces.escape_ascii().to_string(),
                                    whole.escape_ascii().to_string(),
                                    "{case}"
                                );
                                assert_eq!((stream.layers(), fault), (*layers, None), "{case}");
                                assert_eq!(stream.has_changed(), whole != value, "{case}");
                            }
                            Err(Refusal { offset, reason }) => {
                                refused += 1;
                                let (at, why) = fault.expect(&case);
                                assert_eq!(*at, *offset as u64, "{case}");
                                // The offset in the cause may differ, so only the variant and the message are compared.
                                let kind = std::mem::discriminant(reason);
                                assert_eq!(
                                    (std::mem::discriminant(why), why.to_string()),
                                    (kind, reason.to_string()),
                                    "{case}"
                                );
                            }
                        }
                    }
                }
            });
        }
    }
    assert!(refused > 10_000, "{refused}");
}

/// Nested escapes up to the limit are decoded, deeper ones are reported, and both take linear time.
#[test]
fn deep_values_end() {
    for layers in [1, 9, 400_000] {
        let value = format!("%{}41", "25".repeat(layers - 1));
        let mut stream = Stream::new(&work(&["decode", "--until-stable"]), Handling::KEEP);
        let mut out = Vec::new();
        stream.push(value.as_bytes(), &mut out);
        stream.finish(&mut out);
        assert_eq!((out.as_slice(), stream.layers()), (&b"A"[..], layers));
    }
    // The second digit of each escape is the result of the escape after it.
    for (depth, is_too_deep) in [(1_000, false), (60_000, false), (70_000, true)] {
        let value = format!("{}3", "%3".repeat(depth));
        let mut stream = Stream::new(&work(&["decode", "--until-stable"]), Handling::KEEP);
        let mut out = Vec::new();
        stream.push(value.as_bytes(), &mut out);
        stream.finish(&mut out);
        assert_eq!(stream.is_too_deep(), is_too_deep, "{depth}");
        if !is_too_deep {
            assert_eq!(out, b"3", "{depth}");
        }
    }
}
