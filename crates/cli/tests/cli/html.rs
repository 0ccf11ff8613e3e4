//! Tests `--html`, which converts the URLs in attributes of HTML.

use crate::support::{Args, Numbers, assert_same, done_text, folder, ok, refused, run, run_in_chunks, text};

fn convert(args: &(impl Args + ?Sized), input: &str) -> String {
    text(&[&args.list()[..], &["--html", "--quiet"]].concat(), input)
}

#[test]
fn everything_else_stays_byte_for_byte() {
    // Each `@` is replaced by a URL that changes.
    for page in [
        "<!DOCTYPE html>\r\n<html manifest='@'><head profile=\"@ @\"><base href=@><title>&lt;a href=%7e&gt;</title>",
        "<A HREF = \"\n@\t\" TITLE='%7e'id=x href=%7e>x</A ><a href><a href=>%7e</a href=%7e>",
        "<a href=@ ping='@\n@'><area ping=@><AREA/href=@/ ><base href='@'/><link href='@' imagesrcset='@'>",
        "<img src=@ srcset='@ 1x,@ 2x' alt=%7e longdesc=@ usemap=\"@\" lowsrc=@ dynsrc=@><source srcset=@>",
        "<form action=@><button formaction=@><input src=@ formaction=@ value=%7e><video poster=@ src=@>",
        "<q cite=@><del cite=@><ins cite=@><blockquote cite=@><object data=@ classid=@ codebase=@ archive='@ @'>",
        "<applet codebase=@ code=@ object=@ archive='@, @'><bgsound src=@><body background=@><sound src=@>",
        "<ilayer background=@ src=@><layer background=@ src=@><table background=@><tr background=@><td background=@>",
        "<th background=@><frame src=@ longdesc=@><iframe src=@>\n<a href=%7e></iframe><embed src=@><track src=@>",
        "<meta http-equiv=Refresh content='5; URL=@'><meta content='0;@' http-equiv=\"refresh\"><meta content='0;%7e'>",
        "<param valuetype=ref value=@><param value=%7e><div itemid=@ itemtype=%7e data=%7e cite=%7e background=%7e>",
        "<svg><use xlink:href=@ /><image href=\"@\"/><style><a href=@></style></svg><my-link href=@ src=@>",
        "<!-- <a href=%7e> --><script src=@>'<a href=%7e>'</script><style>url(%7e)</style><textarea><a href=%7e>",
        "</textarea><noscript><link href='@'></noscript><xmp><a href=%7e></xmp><?php <a href='%7e'> ?><![CDATA[<b>]]>",
        "<a href='@&amp;&copy;\u{e9}&#x7e;?a=1&b=2&copy=3&amp'><a href=\"@?a&amp;b&quot;c\"><a href='x&#37;7e'>",
        "<a href=\"\u{ff}@\" x=\"'\"><a\nhref='\r\n@\n'\n>",
        "<plaintext><a href=%7e>",
    ] {
        let old = page.replace('@', "%7e/%2f");
        let new = match page {
            // The character references in a URL that changes are decoded, and written again only where HTML needs them.
            _ if page.contains("&copy;") => {
                "<a href='~/%2F&©\u{e9}~?a=1&b=2&copy=3&'><a href=\"~/%2F?a&amp;b&quot;c\"><a href='x~'>"
                    .to_owned()
            }
            _ => page.replace('@', "~/%2F"),
        };
        assert_eq!(convert("normalize", &old), new);
        assert_eq!(convert("get {url}", &old), old);
        let chunks = run_in_chunks("normalize --html", old.as_bytes(), 1);
        assert_same("byte by byte", &chunks.out, new.as_bytes());
    }
}

#[test]
fn quotes_and_references() {
    for (old, new) in [
        ("<a href=\"%22%26amp;%27%3Ca%3E\">", "<a href=\"&quot;&amp;amp;'&lt;a&gt;\">"),
        ("<a href='%22%26%27'>", "<a href='\"&amp;&#39;'>"),
        // A value without quotes stays without them, so a blank stays escaped.
        ("<a href=a%20b%3E%60%3D%22%27>", "<a href=a%20b&gt;`=&quot;&#39;>"),
        // Escapes of invalid UTF-8 stay, and add no others.
        ("<img srcset=\"a(b),c'%41%E9 1x\">", "<img srcset=\"a(b),c'A%E9 1x\">"),
        ("<a href=\"a b%41%E9%FF\">", "<a href=\"a bA%E9%FF\">"),
        // Browsers remove tabs and line ends, so these stay escaped. Controls and invalid UTF-8 stay escaped, too.
        ("<a href='%09%0A%00%01%7F%FF%C3%A9'>", "<a href='%09%0A%00%01%7F%FFé'>"),
        ("<a href='a\n%20b\t'>", "<a href='a\n%20b\t'>"),
        ("<a href='a\n%20%62\t'>", "<a href='a%20b\t'>"),
        ("<a href='&#10;j&#10;s&Tab;:%41&NewLine;'>", "<a href='&#10;js:A&NewLine;'>"),
        // Browsers also remove blanks at the ends of a URL, so an escaped blank stays escaped.
        ("<a href='%20%7e%20 '>", "<a href='%20~%20 '>"),
        ("<a href='a b%20%63'>", "<a href='a b%20c'>"),
        // If the URL follows the time directly, it must not begin with a decoded `url=`, which would be syntax.
        ("<meta http-equiv=refresh content='0; %75rl=x'>", "<meta http-equiv=refresh content='0; %75rl=x'>"),
        (
            "<meta http-equiv=refresh content='0;url=%75rl=x'>",
            "<meta http-equiv=refresh content='0;url=url=x'>",
        ),
        // In a list of URLs, a decoded blank or comma would end the URL.
        ("<img srcset='%2C%20%41 1x'>", "<img srcset='%2C%20A 1x'>"),
        ("<a ping='%20%41 b'>", "<a ping='%20A b'>"),
    ] {
        assert_eq!(convert("decode", old), new);
    }
    assert_eq!(convert("encode --keep /", "<a href='é&#228; '>"), "<a href='%C3%A9%C3%A4 '>");
    // Without quotes, an empty value would make the next attribute the value, so the malformed URL stays.
    let page = "<a href=%zz id=x><a href='%zz' id=x>";
    assert_eq!(done_text("decode --html --on-malformed empty", page), "<a href=%zz id=x><a href='' id=x>");
}

#[test]
fn documents_in_other_charsets() {
    for (page, wanted) in [
        // The document names its charset.
        (&b"<meta charset=windows-1251><a href='\xFF%D1%8E%C3%A9'>"[..], &b"<a href='\xFF\xFE&#233;'>"[..]),
        (
            b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'><a href=%D1%8F>",
            b"<a href=\xD1>",
        ),
        (b"<meta charset=shift_jis><a href='\x83\x5C%41'>", b"<a href='\x83\x5CA'>"),
        // Only the first charset that a document names counts, and the name of UTF-16 means UTF-8.
        (
            b"<meta charset=utf-16><meta charset=koi8-r><a href=%D1%8F>",
            "<meta charset=koi8-r><a href=я>".as_bytes(),
        ),
        // If the document names no charset, a value that is not UTF-8 is in windows-1252.
        (b"<p><a href='\xE9%41'>", b"<a href='\xE9A'>"),
    ] {
        let out = ok("decode --html", page);
        assert!(out.ends_with(wanted), "{} {}", out.escape_ascii(), wanted.escape_ascii());
    }
    assert_eq!(ok("encode --html", b"<a href='\xE9'>"), b"<a href='%C3%A9'>");
    // The name counts for URLs before it if it is among the first 1,024 bytes. If it comes later, a message says so.
    let page = b"<link href='/caf%C3%A9%D1'><meta charset=windows-1252>";
    assert_eq!(ok("decode --html", page), b"<link href='/caf\xE9%D1'><meta charset=windows-1252>");
    let page = [b"<link href='%C3%A9'>", &[b' '; 1024][..], b"<meta charset=windows-1252><a href='%C3%A9'>"]
        .concat();
    for chunk in [1, usize::MAX] {
        let run = run_in_chunks("decode --html", &page, chunk);
        assert!(run.out.starts_with("<link href='é'>".as_bytes()) && run.out.ends_with(b"<a href='\xE9'>"));
        assert_eq!(
            run.err,
            "pct: <stdin>: offset 1044: windows-1252 is named after the first 1024 bytes, so the URLs before it were read \
             without it\n"
        );
    }
    // Only NULs among the first bytes of a document mean UTF-16, which is rejected.
    let page = "<noscript>\0<a href='%41'></noscript>";
    assert_eq!(convert("decode", page), page.replace("%41", "A"));
    let bytes = run_in_chunks("decode --html", b"<\0a\0", 1);
    assert_eq!(bytes.code, Some(2));
    let named = run("decode --html", "<a href=x><meta charset=iso-2022-kr>");
    assert!(named.err.contains("<stdin>: offset 10: the document is in iso-2022-kr, "), "{}", named.err);
    for page in ["<\0a\0>\0", "\0<\0a\0>", "<a href=x><meta charset=iso-2022-jp>"] {
        refused("decode --html", page, "iconv converts it to UTF-8");
    }
}

#[test]
fn references_are_resolved_against_the_base_of_the_document() {
    let page = "<a href=x><base href='/d/'><base href='/no/'><a href='?a&b'><img srcset='a 1x, //i.org/b'>\
                <object archive='a b' data=c codebase='cb/'></object><object data=c></object><a href=''>";
    let wanted = "<a href=http://h.org/p/x><base href='http://h.org/d/'><base href='http://h.org/no/'>\
                  <a href='http://h.org/d/?a&b'><img srcset='http://h.org/d/a 1x, http://i.org/b'>\
                  <object archive='http://h.org/d/cb/a http://h.org/d/cb/b' data=http://h.org/d/cb/c codebase='http://h.org/d/cb/'>\
                  </object><object data=http://h.org/d/c></object><a href='http://h.org/d/'>";
    for standard in [&[][..], &["--standard"]] {
        let args = [&["resolve", "--base", "http://h.org/p/q"], standard].concat();
        assert_eq!(convert(&args, page), wanted);
    }
    // Only the first `base` with a URL counts, and only the first attribute of a name, even without a value.
    for tags in [
        "<base href href=//evil/>",
        "<base><base href><base href='//evil/'>",
        "<noscript><base href='//evil/'></noscript>",
        "<object codebase codebase='//evil/' data='x'>",
    ] {
        let page = format!("{tags}<img src=x>");
        let wanted = page.replace("'//evil/'", "'http://evil/'").replace("'x'", "'http://h.org/p/x'");
        let wanted = wanted.replace("src=x", "src=http://h.org/p/x").replace("codebase='http:", "codebase='");
        assert_eq!(convert("resolve --base http://h.org/p/q", &page), wanted);
    }
    assert_eq!(convert("decode", "<a href href='/%41'>"), "<a href href='/%41'>");
    // Each file has its own base.
    let (_dir, path) = folder();
    std::fs::write(path("a"), "<base href=/d/><a href=x>\n").unwrap();
    std::fs::write(path("b"), "<a href=x>\n").unwrap();
    let out = convert(&["resolve", "--base", "http://h.org/", &path("a"), &path("b")], "");
    assert_eq!(out, "<base href=http://h.org/d/><a href=http://h.org/d/x>\n<a href=http://h.org/x>\n");
}

#[test]
fn urls_alone_and_findings() {
    let page = "<p>\n<a href='http://a/?b&amp;c%2F'> <img\nsrcset='x 1x, y%2E%0A'>";
    assert_eq!(convert("get {url} --values", page), "http://a/?b&c%2F\nx\ny%2E%0A\n");
    assert_eq!(convert("get {host} --values", page), "a\n\n\n");
    let found = run("check --html", page);
    assert_eq!(
        found.text(),
        "<stdin>:2:30: separator: attribute href at 26: %2F is /\n\
         <stdin>:3:56: dot: attribute srcset at 20: %2E is .\n\
         <stdin>:3:59: crlf: attribute srcset at 23: %0A is a line end\n"
    );
    let run = run("decode --html --strict", "<p>\n<a href='a&amp;%zz'>");
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("<stdin>:2: offset 19: malformed escape"), "{}", run.err);
}

#[test]
fn options_that_need_records_are_rejected() {
    for args in [
        &["decode", "--only-changed"][..],
        &["decode", "--into", "x"],
        &["decode", "--values", "--output-delimiter", "tab"],
        &["decode", "--on-malformed", "drop"],
        &["normalize", "--profile", "rfc3986", "--on-rejected", "null"],
        &["decode", "--raw"],
        &["decode", "-0"],
        &["decode", "--in-place", "--diff", "x"],
    ] {
        refused(&[args, &["--html"]].concat(), "<a href=%41>", "");
    }
}

#[test]
fn documents_of_any_length() {
    let mut numbers = Numbers(7);
    let words: &[&[u8]] =
        &[b"<p>", b"text &amp; ", b"<a href='%7e'>", b"</a>", b"<!-- <b> -->", b"<img src=%7e>\n", b"<"];
    let mut page: String =
        (0..40_000).map(|_| String::from_utf8_lossy(numbers.pick(words)).into_owned()).collect();
    for filler in ["<!--", "<script>", "<title>", ""] {
        page.push_str(&format!("{filler}{}--></script></title>", "<a href> %7e ".repeat(250_000)));
    }
    let wanted = page.replace("'%7e'", "'~'").replace("src=%7e", "src=~");
    assert_same("a long document", &ok("normalize --html", &page), wanted.as_bytes());
    // A tag must not be longer than `--max-record`.
    let page = format!("<p>\n<a href='{}'>", "x".repeat(3 << 20));
    let short = run("normalize --html --max-record 1", &page);
    assert_eq!(short.code, Some(2));
    assert!(
        short.err.contains("<stdin>: offset 4: this tag is longer than 1 MiB; raise --max-record"),
        "{}",
        short.err
    );
    assert_same("a long tag", &ok("normalize --html --max-record 4", &page), page.as_bytes());
    let page = format!("<noscript>{}", "<a href=%7e>".repeat(100_000));
    let wanted = page.replace("%7e", "~");
    assert_same("an open element", &ok("normalize --html", &page), wanted.as_bytes());
    // A longer `noscript` element stays, and is counted.
    let page = format!("<a href=%7e><noscript>{}</noscript><a href=%7e>", "<a href=%7e>".repeat(100_000));
    let wanted = page.replacen("%7e", "~", 1);
    let wanted = wanted.strip_suffix("%7e>").unwrap().to_owned() + "~>";
    let long = run("normalize --html --max-record 1", &page);
    assert_same("a long element", &long.out, wanted.as_bytes());
    let message = "pct: <stdin>: offset 22: this noscript element is longer than 1 MiB, so its URLs stay as they are; raise \
                   --max-record\n";
    assert_eq!((&*long.err, long.code), (message, Some(0)));
    let strict = run("normalize --html --max-record 1 --strict", &page);
    assert_eq!((strict.out, strict.code), (b"<a href=~><noscript>".to_vec(), Some(1)));
    let reason = "<stdin>:1: offset 22: the record is longer than 1 MiB (--max-record)";
    assert!(strict.err.contains(reason), "{}", strict.err);
    let check = run("check --html --max-record 1", &page);
    assert_eq!(check.code, Some(1));
    let finding = "<stdin>:1:22: unreadable: the record is longer than 1 MiB (--max-record)\n";
    assert_eq!(check.text(), finding);
}
