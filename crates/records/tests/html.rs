//! Tests that URLs in the attributes of HTML are found, and that new ones are read back.
#![cfg(feature = "html")]

mod common;

use common::Random;
use common::links::{check, edit, links};
use simdpct_records::html::{ATTRIBUTES, Link, Role};

fn values(input: &[u8]) -> Vec<(&'static str, String)> {
    let value = |link: &Link| {
        let mut buffer = Vec::new();
        let value = link.place.value(&input[link.tag.clone()], &mut buffer).unwrap();
        (ATTRIBUTES[link.place.index].name, String::from_utf8_lossy(value).into_owned())
    };
    links(input, usize::MAX / 2).unwrap().iter().map(value).collect()
}

#[test]
fn urls_of_values() {
    for (input, want) in [
        ("<a href=\" \n a b\t\">", &["a b"][..]),
        ("<a href=''>", &[""]),
        ("<a ping=' a\nb,c  d '>", &["a", "b,c", "d"]),
        ("<applet archive='a.zip, b c ,,d'>", &["a.zip", "b c", "d"]),
        ("<img srcset='a 1x,b  2x , c'>", &["a", "b", "c"]),
        // Commas inside a URL are part of it, and those at its end are not.
        ("<img srcset=',, a,b 1x,\tc,, d(,e f(,g) 3x,h'>", &["a,b", "c", "d(,e", "h"]),
        ("<img srcset='data:,a'>", &["data:,a"]),
        ("<img srcset='a x( , b 1x'>", &["a"]),
        ("<meta http-equiv=Refresh content='5; url=http://a/ '>", &["http://a/"]),
        ("<meta http-equiv=refresh content=\" 0,URL = 'a b' x\">", &["a b"]),
        ("<meta http-equiv=refresh content='.5;url a'>", &["url a"]),
        ("<meta http-equiv=refresh content='5'>", &[]),
        ("<meta name=x content='5;url=x'>", &[]),
        ("<meta http-equiv=refresh content='5x url=a'>", &[]),
        ("<div background=a itemtype=b data=c>", &[]),
        ("<td BACKGROUND=a><object data=b archive='c d'><use xlink:href=e>", &["a", "b", "c", "d", "e"]),
        ("<a href=a href=b>", &["a"]),
        ("<a href href=b><param value valuetype=ref value=b>", &[]),
        (
            "<script>'<a href=x>'</script><!-- <a href=x> --><noscript><a href=y></noscript><a href=z>",
            &["y", "z"],
        ),
        ("<noscript><a href=y>", &["y"]),
        // A start tag that ends in `/>` closes its element only if it is an element of SVG or MathML.
        ("<svg/><script>'<a href=x>'</script><Math a='b'/><title><a href=x></title><a href=y>", &["y"]),
        ("<svg><svg/><style><a href=y></style></svg><svg a=/><style><a href=z>", &["y", "z"]),
        ("<svg><desc/><style><a href=y></style><desc><math/><style/><a href=x>", &["y"]),
        ("<math><svg/><mi/><style><a href=y></style><mi><svg/><noscript><a href=z></noscript>", &["y", "z"]),
        // Character references are read as in attributes, and tabs and line ends are ignored.
        ("<a href='?a=1&amp;b=2'>", &["?a=1&b=2"]),
        // The name of a character may begin with the letter of hexadecimal numbers.
        ("<a href='/&xnis;/&#x22fb;'>", &["/⋻/⋻"]),
        ("<a href='?a=1&copy=2&copy2&notit;&copy;&copy/'>", &["?a=1&copy=2&copy2&notit;©©/"]),
        ("<a href='&#38;&#x26;&#X26;&#38 &#x26g&#x;&#;&'>", &["&&&& &g&#x;&#;&"]),
        ("<a href='&#0;&#128;&#xD800;&#1114112;'>", &["\u{fffd}€\u{fffd}\u{fffd}"]),
        (
            "<a href='&NotEqualTilde;&ngE;&nGt;&unknown;&amp'>",
            &["\u{2242}\u{338}\u{2267}\u{338}\u{226B}\u{20D2}&unknown;&"],
        ),
        ("<a href='\n java&#10;scr&Tab;ipt&NewLine;:\r\nx'>", &["javascript:x"]),
    ] {
        let found: Vec<_> = values(input.as_bytes()).into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, want, "{input}");
        for size in 1..12 {
            let pieces = links(input.as_bytes(), size).unwrap();
            let whole = links(input.as_bytes(), 1000).unwrap();
            let places =
                |links: Vec<Link>| links.into_iter().map(|link| (link.tag, link.place)).collect::<Vec<_>>();
            assert_eq!(places(pieces), places(whole), "{input} {size}");
        }
    }
    let input = b"<base href=b><applet codebase=c code=d>";
    let roles = links(input, 100).unwrap().into_iter().map(|link| link.role).collect::<Vec<_>>();
    assert_eq!(roles, [Role::Base, Role::Codebase, Role::Link]);
    // Only the first `base` with the attribute counts, none in a `noscript`, and only the first `codebase` of an element.
    let input =
        b"<noscript><base href=a></noscript><base><base href><base href=b><object codebase codebase=c>";
    let roles = links(input, 100).unwrap().into_iter().map(|link| link.role).collect::<Vec<_>>();
    assert_eq!(roles, [Role::Link, Role::Link]);
    // A `base` in a `template` or in SVG does not count either.
    let input = b"<template><template></template><base href=a><svg/></template><svg><base href=b></svg><svg/><base href=c>";
    let roles = links(input, 100).unwrap().into_iter().map(|link| link.role).collect::<Vec<_>>();
    assert_eq!(roles, [Role::Link, Role::Link, Role::Base]);
    assert!(links(b"\xFF\xFE<\0a\0", 100).is_err_and(|(_, message)| message.contains("UTF-16")));
}

#[test]
fn text_is_written_with_few_references() {
    for (input, value, want) in [
        ("<a href=\"x\">", "a&b=c&copy;", "<a href=\"a&amp;b=c&amp;copy;\">"),
        ("<a href=\"x&y\">", "a&b=c&copy;", "<a href=\"a&b=c&amp;copy;\">"),
        ("<a href=\"x&amp;y\">", "a&b", "<a href=\"a&amp;b\">"),
        ("<a href=\"x\">", "\"'<>=`", "<a href=\"&quot;'&lt;&gt;=`\">"),
        ("<a href='x'>", "\"'<>=`", "<a href='\"&#39;&lt;&gt;=`'>"),
        ("<a href=x>", "=a=b", "<a href==a=b>"),
        ("<a href=x>", "\"<>", "<a href=&quot;&lt;&gt;>"),
        ("<a href=x>", "y&z", "<a href=y&amp;z>"),
        ("<a href=x>", "'", "<a href=&#39;>"),
        ("<a href='x'>", "", "<a href=''>"),
        ("<img srcset='x 1x, y 2x'>", "z", "<img srcset='z 1x, y 2x'>"),
        ("<img srcset=x>", "y", "<img srcset=y>"),
    ] {
        let link = &links(input.as_bytes(), 100).unwrap()[0];
        let out = edit(input.as_bytes(), link, value.as_bytes());
        assert_eq!(out.map(|out| String::from_utf8(out).unwrap()), Ok(want.to_owned()), "{input}");
    }
    for (input, value) in [
        ("<a href='x'>", &b"a "[..]),
        ("<a href=x>", b"a b"),
        ("<a href=x>", b""),
        ("<a href='x'>", b"a\nb"),
        ("<a href='x'>", b"\x01a"),
        ("<a href='x'>", b"a\x7F"),
        ("<a href='x'>", b"a\xFF"),
        ("<img srcset='x 1x'>", b"a,"),
        ("<img srcset='x 1x'>", b""),
        ("<meta http-equiv=refresh content='1; x'>", b"url=y"),
    ] {
        let link = &links(input.as_bytes(), 100).unwrap()[0];
        assert!(edit(input.as_bytes(), link, value).is_err(), "{input}");
    }
    // A new URL may have a blank inside if the old one has it.
    let input = b"<a href='a b%41'>";
    assert_eq!(edit(input, &links(input, 100).unwrap()[0], b"a bA"), Ok(b"<a href='a bA'>".to_vec()));
}

#[test]
fn values_have_the_charset_of_the_document() {
    for (input, want, origins) in [
        (&b"<a href='a\xE9&amp;b'>"[..], "aé&b", &[0, 1, 1, 2, 7, 8][..]),
        ("<a href='é\n!'>".as_bytes(), "é!", &[0, 1, 3, 4]),
        (b"<meta charset=windows-1251><a href='\xFF!'>", "я!", &[0, 0, 1, 2]),
        (b"<meta charset=shift_jis><a href='\x83\x5C!'>", "ソ!", &[0, 0, 0, 2, 3]),
        // The character reference `&ngE;` is as long as its text.
        (b"<meta charset=windows-1251><a href='\xFF&ngE;'>", "я\u{2267}\u{338}", &[0, 0, 1, 1, 1, 1, 1, 6]),
        // The byte 0xFF is invalid in this charset.
        (b"<meta charset=shift_jis><a href='\xFF&amp;'>", "\u{fffd}&", &[0, 1, 6]),
    ] {
        let link = links(input, 100).unwrap().pop().unwrap();
        let tag = &input[link.tag.clone()];
        let mut buffer = Vec::new();
        let value = link.place.value(tag, &mut buffer).unwrap();
        assert_eq!(String::from_utf8_lossy(value), want);
        let found: Vec<_> =
            (0..=value.len()).map(|at| link.place.origin(tag, at) - link.place.range.start).collect();
        assert_eq!(found, origins, "{want}");
        assert_eq!(edit(input, &link, value), Ok(input.to_vec()));
    }
    let input = b"<meta charset=windows-1251><a href='\xFF'>";
    let link = links(input, 100).unwrap().pop().unwrap();
    let want = b"<meta charset=windows-1251><a href='\xFF&#233;'>".to_vec();
    assert_eq!(edit(input, &link, "яé".as_bytes()), Ok(want));
    assert!(links(b"<meta charset=iso-2022-jp><a href=x>", 100).is_err());
}

#[test]
fn a_charset_counts_for_values_before_its_name() {
    // The name must end within the first 1,024 bytes, as for the prescan of browsers. Later, it counts from its tag on.
    let texts = |input: &[u8], size| {
        let mut buffer = Vec::new();
        let mut text = |link: Link| {
            let value = link.place.value(&input[link.tag.clone()], &mut buffer).unwrap();
            String::from_utf8_lossy(value).into_owned()
        };
        links(input, size).unwrap().into_iter().map(&mut text).collect::<Vec<_>>()
    };
    let name = "<meta charset=windows-1251>";
    for start in [
        &b"<a href=\xE9>"[..],
        b"<noscript><a href=\xE9></noscript>",
        b"<noscript><a href=\xE9></noscript><a href=\xE9>",
    ] {
        for (gap, is_early) in [(0, true), (1024, true), (1025, false), (5000, false)] {
            let mut input = start.to_vec();
            input.resize(input.len().max(gap.max(name.len()) - name.len()), b' ');
            input.extend_from_slice(name.as_bytes());
            input.extend_from_slice(b"<a href=\xE9>");
            for size in [1, 7, 1023, 1024, 1025, 1 << 20] {
                let found = texts(&input, size);
                let (last, before) = found.split_last().unwrap();
                assert_eq!(last, "й", "{gap} {size}");
                assert!(
                    before.iter().all(|text| text == if is_early { "й" } else { "é" }),
                    "{gap} {size}: {before:?}"
                );
            }
        }
    }
}

#[test]
fn names_of_charsets_in_meta() {
    for (meta, want) in [
        ("charset=x-user-defined", "é"),
        ("http-equiv=content-type content='charsetx; charset = koi8-r'", "И"),
        ("http-equiv=content-type content='charset; charset=\"koi8-r\"x'", "И"),
        ("http-equiv=content-type content='charset=koi8-r;x'", "И"),
        // A quote that is not closed names no charset.
        ("http-equiv=content-type content='charset=\"koi8-r'", "é"),
        ("http-equiv=content-type content=charset", "é"),
    ] {
        let input = [b"<meta ", meta.as_bytes(), b"><a href=\xE9>"].concat();
        let link = links(&input, 100).unwrap().pop().unwrap();
        let mut buffer = Vec::new();
        let value = link.place.value(&input[link.tag.clone()], &mut buffer).unwrap();
        assert_eq!(String::from_utf8_lossy(value), want, "{meta}");
    }
    for label in ["iso-2022-kr", "hz-gb-2312", "ISO-2022-JP"] {
        let (_, message) = links(format!("<meta charset=' {label}'>").as_bytes(), 100).unwrap_err();
        assert!(message.contains(&format!("is in {label}, in which")), "{message}");
    }
}

#[test]
fn new_urls_are_read_back_and_change_no_others() {
    let mut random = Random(12);
    let changed = (0..30_000).filter(|_| check(&mut random)).count();
    assert!(changed > 5_000, "{changed}");
}

#[test]
fn long_values_take_linear_time() {
    for word in ["a 1x, ", "&", "&amp", "&#", "a,", "a ", "\n", "&a"] {
        let input = format!("<img srcset='{0}' src='{0}'>", word.repeat(300_000 / word.len()));
        let start = std::time::Instant::now();
        links(input.as_bytes(), 1 << 20).unwrap();
        assert!(start.elapsed().as_secs() < 5, "{word}");
    }
}
