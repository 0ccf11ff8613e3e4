//! Tests errors, their offsets, layers, and many records at once. All other behaviour is tested through the binary.

use simdpct::sets::RFC3986_UNRESERVED;
use simdpct::{ByteSet, MalformedCause};
use simdpct_records::Kind;

use super::decode::{DecodeOptions, Decoder, Layers};
use super::encode::{EncodeOptions, Encoder};
use super::parts::Normalizer;
use super::{Conversion, Value};
use crate::common::charset::Charset;
use crate::common::fault::{Handling, Policy};
use crate::common::reason::{Reason, Refusal};
use crate::common::records::Records;

/// Returns the conversion for `args`, with the options that these tests use.
fn conversion(args: &[&str]) -> Conversion {
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
        "encode" => Conversion::new(Encoder::new(encode)),
        "decode" => Conversion::new(Decoder::new(decode)),
        _ => Conversion::new(Normalizer::new(RFC3986_UNRESERVED.to_byte_set())),
    }
}

/// Converts a line with `args`, and returns the result and the number of layers.
fn convert(args: &[&str], bytes: &[u8], handling: Handling) -> Result<(Vec<u8>, usize), Refusal> {
    let mut out = b"before".to_vec();
    let keep = Records::Lines.structure();
    let result = conversion(args).convert(Value { bytes, kind: Kind::Text, keep: &keep }, handling, &mut out);
    assert!(out.starts_with(b"before") && (result.is_ok() || out.len() == 6), "{args:?}");
    result.map(|layers| (out.split_off(6), layers))
}

/// Converts `value` with `args`, or returns the kind and the offset of the error.
fn apply(args: &[&str], value: &str) -> Result<Vec<u8>, (&'static str, usize)> {
    convert(args, value.as_bytes(), Handling::REJECT).map(|(out, _)| out).map_err(|refusal| {
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
    for args in [&["encode"][..], &["encode", "--charset", "gbk"]] {
        let refusal = Refusal { offset: 1, reason: Reason::InvalidUtf8 };
        assert_eq!(convert(args, b"a\xE9", Handling::REJECT), Err(refusal));
    }
}

#[test]
fn unchecked_faults_are_not_rejected() {
    let malformed = Handling { malformed: Policy::Fail, ..Handling::KEEP };
    let not_text = Handling { not_text: Policy::Fail, ..Handling::KEEP };
    assert_eq!(convert(&["decode"], b"%zz", not_text), Ok((b"%zz".to_vec(), 0)));
    assert_eq!(convert(&["decode"], b"%FF", malformed), Ok((b"\xFF".to_vec(), 1)));
    assert_eq!(apply(&["decode", "--until-stable"], "100%25"), Ok(b"100%".to_vec()), "a later layer");
}

#[test]
fn causes_are_told_of_the_value_as_it_stands() {
    let refusal = convert(&["decode", "--percent-u"], b"%4%u0041", Handling::REJECT);
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
        let layers = convert(args, value.as_bytes(), Handling::KEEP).map(|(_, layers)| layers);
        assert_eq!(layers, Ok(wanted), "{args:?} {value}");
    }
}

/// Splits `list` into words at its spaces, and adds a space as the last word.
pub fn words(list: &str) -> Vec<&str> {
    list.split(' ').chain([" "]).collect()
}

/// Passes `count` random values to `each` with their numbers. They have up to eight of `words`, and some up to 200.
fn values(words: &[&str], count: usize, mut each: impl FnMut(usize, String)) {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for round in 0..count {
        let most = if round % 50 == 0 { 200 } else { 8 };
        each(round, (0..next() % (most + 1)).map(|_| words[next() % words.len()]).collect());
    }
}

/// Checks that converting many records of `words` at once gives the same as converting one after the other, up to the
/// first one that is rejected. Returns how many of 5,000 texts of lines are converted with one call, and how many texts
/// have a rejected record.
pub fn compare_many(conversion: &mut Conversion, words: &[&str], handlings: &[Handling]) -> (usize, usize) {
    let (mut fast, mut rejected) = (0, 0);
    for records in [Records::Lines, Records::Null] {
        values(words, 5_000, |round, text| {
            let mut text = text.into_bytes();
            if round % 20 == 0 {
                let ends = [&b"\t"[..], b"\r", b"\0", b"%", b"%2", b"\"", b"\\", b"\xC3"];
                text.extend_from_slice(ends[round / 20 % ends.len()]);
            }
            let handling = handlings[round % handlings.len()];
            let (mut many, mut single, mut done) = (Vec::new(), Vec::new(), 0);
            let is_fast = conversion.inner.append_many(&text, records, handling, &mut many).is_some();
            fast += usize::from(is_fast && records == Records::Lines);
            many.clear();
            let len = conversion.convert_many(&text, records, handling, &mut many);
            let kept = conversion.take_kept();
            while done < text.len() {
                let record = &text[done..records.end_of(&text, done)];
                let bytes = &record[..records.without_end(record)];
                let value = Value { bytes, kind: Kind::Text, keep: &records.structure() };
                if conversion.convert(value, handling, &mut single).is_err() {
                    rejected += 1;
                    break;
                }
                single.extend_from_slice(&record[bytes.len()..]);
                done += record.len();
            }
            let case = format!("{records:?} {handling:?} {}", text.escape_ascii());
            assert_eq!(many.escape_ascii().to_string(), single.escape_ascii().to_string(), "{case}");
            assert_eq!((len, kept), (done, conversion.take_kept()), "{case}");
        });
    }
    (fast, rejected)
}

/// The offset of an error is the start of the escape or byte that makes the value invalid: the bytes before it are valid, and a value that
/// begins there is invalid from its start.
#[test]
fn offsets_are_those_of_the_first_invalid_byte() {
    let words = words(
        "% %2 25 %25 %41 %2541 %%34 41 + %2B %0A %250d %u0041 %u000A %u0025 %uD83D%uDE00 %uD83D %uDE00 %u12 é %C3%A9 %E9 \
         %25E9 %2525%45%39 %c3 \u{4f60} z / %FF",
    );
    let mut rejected = 0;
    values(&words, 20_000, |round, value| {
        let mut args = vec!["decode"];
        let options = ["--form", "--percent-u", "--until-stable"];
        args.extend(
            options.iter().enumerate().filter(|(bit, _)| round >> bit & 1 == 1).map(|(_, option)| option),
        );
        if round >> 2 & 1 == 0 {
            args.extend([["--times", "3"], ["--charset", "gbk"], ["--charset", "utf-8"]][round / 8 % 3]);
        }
        let handling = Handling { not_text: Policy::Fail, ..Handling::KEEP };
        let Err(Refusal { offset, .. }) = convert(&args, value.as_bytes(), handling) else { return };
        rejected += 1;
        let (before, rest) = value.as_bytes().split_at(offset);
        let case = format!("{args:?} {value} {offset}");
        assert!(convert(&args, before, handling).is_ok(), "{case}");
        assert!(rest[0] == b'%' || !rest[0].is_ascii(), "{case}");
        let again = convert(&args, rest, handling).map_err(|refusal| refusal.offset);
        assert_eq!(again, Err(0), "{case}");
    });
    assert!(rejected > 5_000, "{rejected}");
}

/// Converting many records at once gives the same as converting one after the other, up to the first one that is rejected.
#[test]
fn many_records_are_converted_like_single_ones() {
    let words = words(
        "% 2 5 %25 %2520 %252 %%34 %3 %4 %c3%a9 %2F 41 + %2B / g : a%41: %u %u0041 %u000A %uD83D %uDE00 %u4F60 00 é 你 %81 %81%30 %C4 %E3 \
         a 0 %0A %00 \n \n \n \0 \0 \r \r\n \u{1F600} \u{202E} %1B \u{1b}$B $ \u{1b}(B %FF %E4%BD \u{fffd}",
    );
    let args: &[&[&str]] = &[
        &["decode"],
        &["decode", "--form", "--keep", "/%"],
        &["decode", "--times", "3", "--form"],
        &["decode", "--until-stable"],
        &["decode", "--percent-u", "--until-stable", "--charset", "big5", "--printable"],
        &["decode", "--charset", "shift_jis", "--times", "2"],
        &["decode", "--charset", "utf-8", "--percent-u"],
        &["decode", "--charset", "iso-2022-jp"],
        &["decode", "--charset", "us-ascii-strict", "--printable"],
        &["normalize"],
        &["encode"],
        &["encode", "--keep-escapes"],
        &["encode", "--form"],
        &["encode", "--charset", "gbk", "--keep-escapes"],
        &["encode", "--charset", "iso-2022-jp"],
        &["encode", "--charset", "iso-8859-1-strict"],
    ];
    let of = |malformed, not_text| Handling { malformed, not_text, ..Handling::KEEP };
    let handlings = [
        Handling::KEEP,
        Handling::REJECT,
        of(Policy::Keep, Policy::Drop),
        of(Policy::Replace, Policy::Keep),
        of(Policy::Replace, Policy::Replace),
    ];
    let mut rejected = 0;
    for args in args {
        println!("{args:?}");
        rejected += compare_many(&mut conversion(args), &words, &handlings).1;
    }
    assert!(rejected > 2_000, "{rejected}");
}
