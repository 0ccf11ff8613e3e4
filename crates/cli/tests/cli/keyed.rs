//! Tests `top` and `dedup`, `normalize --hash`, and the parts that the public suffix list gives.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;

use crate::support::{Numbers, Run, access, assert_same, done_text, folder, ok, refused, run, text};

const URLS: &str =
    "http://b.com/1?u=x\nhttp://a.com/1\nhttp://www.b.com/2\n/none\nhttp://a.com/1\r\nhttp://c.co.uk";

#[test]
fn top_counts_keys_and_orders_ties_by_key() {
    #[rustfmt::skip]
    let cases: &[(&[&str], &str)] = &[
        (&["{host}"], "2\ta.com\n1\t\n1\tb.com\n1\tc.co.uk\n1\twww.b.com\n"),
        (&["{domain}", "-n2"], "2\ta.com\n2\tb.com\n"),
        (&["{suffix}"], "4\tcom\n1\t\n1\tco.uk\n"),
        (&["{path} {query:u}", "-n", "1"], "2\t/1 \n"),
        (&["{host}", "-n1", "--format", "json"], "{\"distinct\":5,\"top\":[{\"count\":2,\"key\":\"a.com\"}],\"values\":6}\n"),
        (&["{host}", "-n1", "--format", "text"], "6 values, 5 different keys\n\n             2  33.33% a.com ############################################################\n"),
    ];
    for (args, wanted) in cases {
        let args = [&["top"], *args].concat();
        // A table has bars of block characters if the locale is UTF-8.
        assert_eq!(text(&args, URLS).replace('\u{2588}', "#"), *wanted, "{args:?}");
    }
    assert_eq!(text("top {host}", ""), "");
    assert_eq!(text("top -0 {path}", "/a\nb\0/a\nb\0/"), "2\t/a\\nb\n1\t/\n");
    assert_eq!(text("top {host}", "\u{feff}http://a/\n"), "1\ta\n");
    // Keys have schemes and hosts in lower case, because their case has no meaning, and paths as they are.
    let spellings = "HTTP://A.Example.COM/X\nhttp://a.example.com/X\n";
    let key = "{scheme} {host} {domain} {suffix} {subdomain} {path}";
    for decode in [&[][..], &["--decode"]] {
        let args = [&["top", key], decode].concat();
        assert_eq!(text(&args, spellings), "2\thttp a.example.com example.com com a /X\n");
    }
    // All spellings of a host or a domain have one key: in ASCII, or in Unicode with `--decode`. The
    // spelling of the path is not changed.
    let spellings = "http://www.BÜCHER.de/Ü\nhttp://WWW.bücher.de/Ü\nhttp://www.xn--BCHER-kva.de/Ü\nhttp://www.b%C3%9ccher.%44E/Ü\n";
    let key = "{subdomain} {domain} {path}";
    assert_eq!(text(&["top", key], spellings), "4\twww xn--bcher-kva.de /Ü\n");
    assert_eq!(text(&["top", "--decode", key], spellings), "4\twww bücher.de /Ü\n");
    let domains = "http://test.公司.cn/\nhttp://test.xn--55qx5d.cn/\nhttp://ｅｘａｍｐｌｅ．ｃｏｍ/\nhttp://example.com/\nhttp://%65xample.com/\n";
    assert_eq!(text("top {domain}", domains), "3\texample.com\n2\ttest.xn--55qx5d.cn\n");
    assert_eq!(text("top {host}", domains), "3\texample.com\n2\ttest.xn--55qx5d.cn\n");
    assert_eq!(text("get {domain}", domains).lines().nth(2), Some("ｅｘａｍｐｌｅ．ｃｏｍ"));
    // A host that is not valid in IDNA gets lower case. The small letter of this host has more bytes than its capital.
    assert_eq!(text("top {host}{host}", "//ȺȺ<\n"), "1\tⱥⱥ<ⱥⱥ<\n");
    assert_eq!(text("top {host}", "//xn--A\n//%2F\n//[::A]\n"), "1\t%2f\n1\t[::a]\n1\txn--a\n");
    let addresses = "//[::A]/\n//[0:0::a]:80\n//[::000A]\n//[::0.0.0.10]\n";
    assert_eq!(text("top {host}", addresses), "4\t[::a]\n");
    assert_eq!(text("dedup --by {host}", addresses), "//[::A]/\n");
    assert_eq!(text("top {host}/", addresses), "4\t[::a]/\n");
    assert_eq!(run("top {host}", b"//A\xC3\n").out, b"1\ta\xC3\n");
    // Control bytes and backslashes are escaped, so that different keys differ in the output.
    let keys = "/\t\x1b[m\x7f\0/%09%1B[m%7F\0/\\t\\x1b[m\\x7f\0/\r\r\0";
    let escaped = "1\t/\\t\\x1b[m\\x7f\n1\t/\\r\\r\n1\t/%09%1B[m%7F\n1\t/\\\\t\\\\x1b[m\\\\x7f\n";
    assert_eq!(text("top -0 {path}", keys), escaped);
    assert!(run("top -n0 {path}", "").err.contains("0 is not in 1.."));
}

#[test]
fn top_selects_values_of_records() {
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?x HTTP/1.0\" 200 23 \"http://r.com/b\" \"agent\"\n";
    assert_eq!(text("top {path} --log combined", log.repeat(3)), "3\t/a\n");
    // If no value has a part of the template, a message says so.
    for (template, options, is_told) in
        [("{host}", &[][..], true), ("{host}", &["-q"], false), ("{path}", &[], false)]
    {
        let run = run(&[&["top", template, "--log", "combined"], options].concat(), log);
        assert_eq!(run.err.contains("every key is empty"), is_told, "{template} {options:?}: {}", run.err);
    }
    // Each request counts once, by its URL. Its referrer does not count.
    let w3c = "#Fields: cs(Referer) cs-uri-query cs-uri-stem\nhttp://r/b q=1 /a\n- - /a\n";
    let both =
        "#Fields: cs-uri-stem cs-uri cs-uri-query\n/a http://h/a?q q\n#Fields: cs(Referer)\nhttp://r/b\n";
    let cdx = "a,b)/a 2 http://b.a/a text/html 200 AAAA http://r/b 1 2 f\n";
    for (log, lines, wanted) in [
        ("w3c", w3c, "2\t /a\n"),
        ("iis", w3c, "2\t /a\n"),
        ("cloudfront", &w3c.replace(' ', "\t"), "2\t /a\n"),
        ("w3c", both, "1\th /a\n"),
        ("cdx", cdx, "1\tb.a /a\n"),
        ("cdx", " CDX r N a\nhttp://r/b a,b)/a http://b.a/a\n", "1\tb.a /a\n"),
    ] {
        assert_eq!(text(&["top", "{host} {path}", "--log", log], lines), wanted, "{log}");
    }
    let csv = "url,n\nhttp://a.com/,1\n\"http://b.com/,\",2\nhttp://a.com/,3\n";
    assert_eq!(text("top {host} --csv --column url", csv), "2\ta.com\n1\tb.com\n");
    let json = run("top {host} --jsonl --key u", "{\"u\":\"http://a/\"}\nbad\n{\"u\":\"http://a/\"}\n");
    assert_eq!((json.out.as_slice(), json.code), (&b"2\ta\n"[..], Some(0)));
    assert!(
        json.err.contains("1 record is unreadable, and is left out; `pct check --kinds unreadable` with the same input options lists"),
        "{}",
        json.err
    );
    let bytes = run("top {path} --format json", b"/\xFF\n");
    assert_eq!(
        bytes.out,
        b"{\"distinct\":1,\"top\":[{\"count\":1,\"key\":{\"bytes\":\"%2F%FF\"}}],\"values\":1}\n"
    );
    for args in [&["top", "host"][..], &["top", "{nothing}"], &["normalize", "--hash", "xxh3"]] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
}

/// Returns `count` lines with at most `keys` different keys. Each key has several spellings.
fn lines(count: usize, keys: u64) -> String {
    let mut numbers = Numbers(7);
    let mut below = |most: u64| numbers.next() % most;
    let mut lines = String::new();
    for _ in 0..count {
        let key = below(keys);
        let host = ["Example", "EXAMPLE", "example"][below(3) as usize];
        let _ = writeln!(
            lines,
            "http://{host}.com/a/page/with/a/long/path/{key}?{}",
            ["%41", "A"][below(2) as usize]
        );
    }
    lines
}

#[test]
fn limits_and_threads_do_not_change_the_result() {
    // The keys take several times the smallest limit of memory, so that most keys go to temporary files.
    let lines = lines(120_000, 60_000);
    let (mut counts, mut seen, mut first) = (HashMap::<String, u64>::new(), HashSet::new(), String::new());
    for line in lines.lines() {
        let key = line.to_lowercase().replace("%41", "a");
        *counts.entry(line.to_owned()).or_default() += 1;
        if seen.insert(key) {
            first += line;
            first.push('\n');
        }
    }
    let mut counts: Vec<_> = counts.into_iter().map(|(key, count)| (std::cmp::Reverse(count), key)).collect();
    counts.sort();
    let top: String = counts.iter().take(50).map(|(count, key)| format!("{}\t{key}\n", count.0)).collect();
    for limit in ["1", "1024"] {
        for jobs in ["1", "3"] {
            let limits = ["--memory", limit, "-j", jobs];
            assert!(
                text(&[&["top", "{url}", "-n50"][..], &limits].concat(), &lines) == top,
                "top {limits:?}"
            );
            for by in [&[][..], &["--fingerprints"]] {
                let dedup = [&["dedup", "--profile", "rfc3986"], by].concat();
                assert!(text(&[&dedup[..], &limits].concat(), &lines) == first, "dedup {by:?} {limits:?}");
                // Most of these lines equal their keys, so the temporary files store a line and its key as one text.
                let dedup = [&["dedup"], by].concat();
                assert!(text(&[&dedup[..], &limits].concat(), &first) == first, "dedup {by:?} {limits:?}");
            }
        }
    }
}

#[test]
fn dedup_keeps_first_lines_and_rejected_ones() {
    let dedup = |input: &str| run("dedup --profile whatwg", input);
    let deduped = dedup(
        "http://A.com\r\nhttp://a b/\n\nhttp://a.com/\nhttp://a b/\n\nhttp://a.com/%7e\nhttp://a.com:80",
    );
    let kept = "http://A.com\r\nhttp://a b/\n\nhttp://a b/\n\nhttp://a.com/%7e\n";
    assert_eq!((deduped.code, deduped.text().as_str()), (Some(0), kept));
    assert!(
        deduped.err.contains("4 values were rejected, and stay unchanged; --rejects FILE"),
        "{}",
        deduped.err
    );
    // Without a profile, keys are the lines as `normalize` writes them.
    let plain = text("dedup", "/%7ea\n/~a\n/%2f\n/%2F\nHTTP://a\nhttp://a\n%68ttp://a\n/%zz\n/%zz\n");
    assert_eq!(plain, "/%7ea\n/%2f\nHTTP://a\nhttp://a\n%68ttp://a\n/%zz\n");
    let marked = text("dedup --profile rfc3986", "\u{feff}a\na");
    assert_eq!(marked, "\u{feff}a\n");
    let blank = text("dedup --profile rfc3986", "\na\n\nb\na");
    assert_eq!(blank, "\na\nb\n");
    let (_folder, path) = folder();
    let (one, two, rejects) = (path("one"), path("two"), path("rejects"));
    fs::write(&one, "http://a/\nhttp://b").unwrap();
    fs::write(&two, "http://B/\nhttp://a b").unwrap();
    let both = run(&["dedup", "--profile", "whatwg", "--rejects", &rejects, &one, &two], "");
    assert_eq!(both.out, b"http://a/\nhttp://b\nhttp://a b\n");
    let listed = fs::read_to_string(&rejects).unwrap();
    assert!(listed.starts_with(&format!("{two}:2:")) && listed.lines().count() == 1, "{listed}");
    // A line that is longer than `--max-record` is kept in its place, even if other lines wait in temporary files.
    let (long, short) = ("a".repeat(3 << 20), lines(20_000, u64::MAX));
    let input = format!("{long}\nb\n{short}{long}\n{}b\n{long}", short.replace("/a/", "/b/"));
    for memory in ["1", "1024"] {
        let args =
            ["dedup", "--profile", "rfc3986", "--max-record", "1", "--rejects", &rejects, "--memory", memory];
        let kept = run(&args, &input);
        let wanted = format!("{long}\nb\n{short}{long}\n{}{long}\n", short.replace("/a/", "/b/"));
        assert_same(memory, &kept.out, wanted.as_bytes());
        let said = "the record is longer than 1 MiB (--max-record), and stays, because it has no key";
        let is_said = kept.err.lines().all(|line| line.ends_with(said));
        assert!(is_said && kept.err.lines().count() == 3 && kept.code == Some(0), "{}", kept.err);
        let listed = fs::read_to_string(&rejects).unwrap();
        let places: Vec<_> =
            listed.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect();
        let second = 2 + short.len() + long.len() + 1;
        let third = second + short.len() + long.len() + 3;
        let at = |line: usize, offset: usize| {
            format!("<stdin>:{line}:{offset}: the record is longer than 1 MiB (--max-record)")
        };
        assert_eq!(places, [at(1, 0), at(20_003, second), at(40_005, third)]);
    }
    assert_eq!(ok("dedup -0 --profile rfc3986", "a\0b\0%61\0b\0c"), b"a\0b\0c\0");
    // The key consists of the selected values, and a record without these values has no key.
    let lines = "1 %61 x\n2 a\n3 b\n4\n5 b\n6\n";
    assert_eq!(text("dedup --field 2 --profile escapes", lines), "1 %61 x\n3 b\n4\n6\n");
    assert_eq!(text("dedup --field 2", lines), "1 %61 x\n3 b\n4\n6\n");
    assert!(run("dedup --html", "").err.contains("--html: a document has no records"));
    let rows = [
        "1,\"http://a/\n\",x\r\n",
        "2,http://a/%0a,\n",
        "3,\"http://a/\n\",x\r\n",
        "4\n",
        "5,http://a/%0A,y\n",
        "6\n",
    ];
    for jobs in ["-j1", "-j3"] {
        let args = ["dedup", jobs, "--csv", "--column", "url", "--profile", "escapes"];
        let kept = ["n,url\n", rows[0], rows[1], rows[3], rows[5]].concat();
        assert_eq!(text(&args, ["n,url\n", &rows.concat()].concat()), kept);
        let both = ["dedup", jobs, "--csv", "--column", "m,url"];
        assert_eq!(text(&both, "m,url\na,\n,a\na,\n\na,b\na\na\n"), "m,url\na,\n,a\n\na,b\na\n");
    }
    let json = run(
        "dedup --jsonl --key u --profile whatwg",
        "{\"u\":\"http://A\"}\n[\n{\"u\":\"http://a/\",\"v\":1}\n{}\n{}\n{\"u\":\"a\"}\n{\"u\":\"a\"}\n[\n",
    );
    let kept = "{\"u\":\"http://A\"}\n[\n{}\n{}\n{\"u\":\"a\"}\n{\"u\":\"a\"}\n[\n";
    assert_eq!(String::from_utf8(json.out).as_deref(), Ok(kept), "{}", json.err);
    for said in ["2 values were rejected, and stay unchanged", "2 records are unreadable, and stay unchanged"]
    {
        assert!(json.err.contains(said), "{}", json.err);
    }
    // A URL without any part of the key has no key. A key can have some parts, and empty text for the others.
    let urls = "/a\n/b\nhttp://h/1\nhttp:///2\nhttp://H/3\nhttp:///4\n/c?q=1\n/d?q=1\n\n\n";
    for jobs in ["-j1", "-j3"] {
        for (by, kept, count) in [
            ("{host}", "/a\n/b\nhttp://h/1\nhttp:///2\n/c?q=1\n/d?q=1\n\n\n", 6),
            ("x{port}{query:q}", &urls.replace("/d?q=1\n", ""), 8),
            ("{host}|{query:q[]}", "/a\n/b\nhttp://h/1\nhttp:///2\n/c?q=1\n\n\n", 4),
        ] {
            let Run { out, err, code } = run(&["dedup", jobs, "--by", by], urls);
            assert_eq!((String::from_utf8(out).as_deref(), code), (Ok(kept), Some(0)), "{by}");
            let said = format!("pct: {count} values were rejected, and stay unchanged; --rejects FILE lists");
            assert!(err.starts_with(&said), "{by} {err}");
        }
    }
    let table = "n,url\n1,/a\n2,http://h/b\n3,/a\n4,http://h/c\n5\n";
    let deduped = run("dedup --csv --column url --by {host}", table);
    assert_eq!(deduped.text(), table.replace("4,http://h/c\n", ""));
    assert_eq!(text("dedup --by {path}", "http://a\n\n/\nhttp://b\n"), "http://a\n/\n");
    assert_eq!(text("dedup --by {host}{path}", "http://a\na\nmailto:a\n"), "http://a\na\n");
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 23 \"http://r/b\" \"x\"\n";
    let other = log.replace("/b", "/c");
    assert_eq!(text("dedup --log combined", format!("{log}{other}{log}")), log);
    // The output of several tables has one header, and a record that is longer than `--max-record` is kept.
    let (long, tables) = ("x".repeat(2 << 20), (path("a.csv"), path("b.csv")));
    fs::write(&tables.0, format!("u\n{long}\na\n{long}\n")).unwrap();
    fs::write(&tables.1, format!("u\nb\na\n{long}")).unwrap();
    let args = ["dedup", "-q", "--csv", "--column", "u", "--max-record", "1", &tables.0, &tables.1];
    assert_same("tables", &run(&args, "").out, format!("u\n{long}\na\n{long}\nb\n{long}\n").as_bytes());
    // Without a profile, the key is the line as `normalize` writes it.
    for by in [&[][..], &["--fingerprints"]] {
        let dedup = |args: &[&str], input| text(&[&["dedup"], by, args].concat(), input);
        assert_eq!(dedup(&[], "a\r\n\nb\n%61\na\n\r\n\nB"), "a\r\n\nb\nB\n", "{by:?}");
        assert_eq!(dedup(&["-0"], "a\n\0a\0\0\0a\n"), "a\n\0a\0\0", "{by:?}");
        // An empty line has a key like any other line, so the second empty line is removed.
        assert_eq!(dedup(&["--profile", "escapes"], "%61\n\na\n\n"), "%61\n\n", "{by:?}");
    }
}

#[test]
fn dedup_compares_the_parts_that_a_template_names() {
    let urls = "http://E/p?a=1&b=2\nhttp://e/p?a=3&b=4\nhttp://e/P\nHTTP://e/p#x\n/p\n/p?c\n";
    for (template, wanted) in [
        ("{host}{path}", "http://E/p?a=1&b=2\nhttp://e/P\n/p\n"),
        ("{scheme}", "http://E/p?a=1&b=2\n/p\n/p?c\n"),
        ("{query:a}{query:b}", urls),
    ] {
        for options in [&[][..], &["--fingerprints"], &["-j2"]] {
            let dedup = [&["dedup", "--by", template], options].concat();
            assert_eq!(done_text(&dedup, urls), wanted, "{template} {options:?}");
        }
    }
    let csv = "id,u\n1,http://a/x\n2,http://A/y\n3,http://b/x\n";
    let by_host = ["dedup", "--by", "{host}", "--csv", "--column", "u"];
    assert_eq!(text(&by_host, csv), "id,u\n1,http://a/x\n3,http://b/x\n");
    let log = |target: &str| access(&format!("GET {target} HTTP/1.0"), "-");
    let lines = [log("//x?a"), log("//x?b"), log("/x")];
    assert_eq!(text("dedup --by {path} --log combined", lines.concat()), lines[0].clone() + &lines[2]);
    assert!(run("dedup --by host", "").err.contains("the key has no {PART}"));
    assert!(run("dedup --by {query:a[]}", "").err.contains("a key has one value"));
    // All spellings of a host have one key, and --no-scheme also finds a host at the start of a line.
    assert_eq!(text("dedup --by {host} --no-scheme", "a.com/x\nhttp://A.com/\nb.com\n"), "a.com/x\nb.com\n");
    assert!(run("dedup --by {host} --profile whatwg", "").err.contains("cannot be used with"));
}

#[test]
fn fingerprints_are_those_of_the_canonical_form() {
    for (hash, wanted) in [
        // These are the hashes of `http://a.com/` by Python's xxhash and the tools of coreutils.
        ("xxh3", "362499fe78d4c700"),
        ("xxh3-128", "1b0b24d8226b36649f713d5c901cd523"),
        ("sha1", "9a3b8cc674e78f3817dc0014a269e34fb4510c4e"),
        ("sha256", "e649b13c1c50e7aa93fb24db3d30f3bbc2c856ab04623774cd7a6327b6202417"),
    ] {
        let args = ["normalize", "--profile", "rfc3986", "--hash", hash];
        assert_eq!(text(&args, "HTTP://A.com/\nhttp://a.com/\n"), format!("{wanted}\n{wanted}\n"), "{hash}");
    }
    let rejected = run("normalize --profile whatwg --hash sha1", "http://a b/\n");
    assert_eq!(rejected.out, b"http://a b/\n");
}

#[test]
fn hosts_are_divided_by_the_public_suffix_list() {
    let url = "https://a.b.Example.co.uk./x";
    let get = |args: &[&str], url: &str| {
        text(&[&["get", "{subdomain}|{domain}|{suffix}", "-e", url], args].concat(), "")
    };
    assert_eq!(get(&[], url), "a.b|Example.co.uk|co.uk\n");
    assert_eq!(get(&[], "http://1.2.3.4/"), "||\n");
    assert_eq!(get(&["--icann"], "http://x.y.github.io"), "x.y|github.io|io\n");
    assert_eq!(get(&["--decode"], "http://a.b%2Ec%6Fm/"), "a|b.com|com\n");
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(&list, "*.example.co.uk\n").unwrap();
    let path = list.path().to_str().unwrap();
    assert_eq!(
        get(&["--suffix-list", path], "http://a.b.example.co.uk"),
        "|a.b.example.co.uk|b.example.co.uk\n"
    );
    let row = text("split --parts domain,subdomain,suffix --format csv -e //b.com", "");
    assert_eq!(row, "b.com,,com\n");
    fs::write(&list, "com\na..b\n").unwrap();
    refused(&["get", "{domain}", "--suffix-list", path, "-e", url], "", "line 2 is not a rule");
    assert!(text("info", "").contains("public suffix list: version 20"));
}

/// With `-i`, a line of a file that could not be read to its end does not remove an equal line of the next file.
#[test]
fn dedup_in_place_forgets_the_keys_of_a_file_that_failed() {
    let dir = tempfile::tempdir().unwrap();
    let [bad, good] = ["bad.gz", "good"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let lines: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    ok(&["encode", "-o", &bad], &lines);
    let compressed = fs::read(&bad).unwrap();
    for more in [&[][..], &["--fingerprints"]] {
        fs::write(&bad, &compressed[..compressed.len() / 2]).unwrap();
        fs::write(&good, "1\n2\n1\n").unwrap();
        assert_eq!(run(&[&["dedup", "-i", &bad, &good], more].concat(), "").code, Some(2));
        assert_eq!(fs::read_to_string(&good).unwrap(), "1\n2\n");
    }
}
