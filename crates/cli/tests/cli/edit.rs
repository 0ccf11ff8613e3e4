//! Tests `pct edit`: changes of parts, and that every other byte stays.

use simdpct_uri::split;

use crate::support::{Args, Run, access, assert_same, refused, run, text};
use crate::uri::{lines, urls};

/// Runs `pct edit` with `options` on one URL. Returns the result, and whether the URL was rejected.
#[track_caller]
fn edit(options: &[&str], url: &str) -> (String, bool) {
    let Run { out, err, code } = run(&[&["edit"], options, &["-e", url]].concat(), "");
    let is_rejected = err.contains("1 value was rejected");
    assert!(code == Some(0) && (is_rejected || err.is_empty()), "{options:?} {url}: {err}");
    let out = String::from_utf8(out).unwrap();
    (out.strip_suffix('\n').unwrap().to_owned(), is_rejected)
}

#[test]
fn changes_are_exact() {
    const ROWS: &[(&[&str], &str, &str)] = &[
        // The scheme.
        (&["--set", "scheme=https"], "http://a/b?c#d", "https://a/b?c#d"),
        (&["--set", "scheme=https"], "HTTP://A/b", "https://A/b"),
        (&["--set", "scheme=urn"], "mailto:a@b", "urn:a@b"),
        (&["--set", "scheme=https"], "//a/b", "https://a/b"),
        (&["--drop", "scheme"], "http://a/b", "//a/b"),
        (&["--drop", "scheme"], "mailto:a@b", "a@b"),
        (&["--drop", "scheme"], "/a/b", "/a/b"),
        // The host. Without a host, a URL has no user, password or port.
        (&["--set", "host=b.example"], "http://u:p@a.example:80/x", "http://u:p@b.example:80/x"),
        (&["--set", "host=b.example"], "http://[::1]:80/x", "http://b.example:80/x"),
        (&["--set", "host=[::1]"], "http://a:80/x", "http://[::1]:80/x"),
        (&["--set", "host=192.0.2.1"], "http://a", "http://192.0.2.1"),
        (&["--set", "host=例え.jp"], "http://a/%7E", "http://xn--r8jz45g.jp/%7E"),
        (&["--set", "host=b"], "file:///x", "file://b/x"),
        (&["--drop", "host"], "foo://u@a:1/b?c", "foo:/b?c"),
        (&["--drop", "scheme,host"], "http://a/b?c#d", "/b?c#d"),
        (&["--drop", "scheme,host"], "http://a", ""),
        // The port and the userinfo. Blanks around a URL are no part of it.
        (&["--set", "port=8080"], "http://a/b", "http://a:8080/b"),
        (&["--drop", "userinfo"], " http://u:p@a/b ", " http://a/b "),
        (&["--set", "port=8080"], "http://a:80", "http://a:8080"),
        (&["--set", "port=1"], "http://[::1]", "http://[::1]:1"),
        (&["--drop", "port"], "http://a:/b", "http://a/b"),
        (&["--drop", "port"], "mailto:a", "mailto:a"),
        (&["--set", "userinfo=me:pw"], "http://a/", "http://me:pw@a/"),
        (&["--set", "userinfo=a@b/c"], "http://x@a/", "http://a%40b%2Fc@a/"),
        (&["--drop", "userinfo"], "http://x:y@z@a/", "http://a/"),
        (&["--set", "user=me:b@c"], "http://x:y@a/", "http://me%3Ab%40c:y@a/"),
        (&["--set", "user="], "http://a/", "http://@a/"),
        (&["--set", "password=50% a%20b"], "http://x@a/", "http://x:50%25%20a%20b@a/"),
        (&["--set", "password=p"], "http://a/", "http://:p@a/"),
        (&["--drop", "user"], "http://x:y@a/", "http://:y@a/"),
        (&["--drop", "password"], "http://x:y:z@a/", "http://x@a/"),
        (&["--drop", "user,password"], "http://x:y@a/", "http://a/"),
        (&["--drop", "password"], "http://:y@a/", "http://@a/"),
        // The path.
        (&["--set", "path=/50% a?b#c%2Fd"], "http://a/b?c", "http://a/50%25%20a%3Fb%23c%2Fd?c"),
        (&["--set", "path="], "http://a/b?c", "http://a?c"),
        (&["--drop", "path"], "http://a/b#c", "http://a#c"),
        (&["--set", "path=/a;b,c\\d|é"], "/x", "/a;b,c%5Cd%7C%C3%A9"),
        (&["--set", "path=//x"], "http://a/b", "http://a//x"),
        (&["--set", "path=a:b"], "foo:x", "foo:a:b"),
        (&["--set", "path=c"], "a/b?q", "c?q"),
        // The query and the fragment.
        (&["--set", "query=a=b c&d#e?"], "/x#y", "/x?a=b%20c&d%23e?#y"),
        (&["--set", "query="], "/x#y", "/x?#y"),
        (&["--drop", "query"], "/x?a?b#y?", "/x#y?"),
        (&["--drop", "query"], "/x?", "/x"),
        (&["--set", "fragment=a#b?"], "/x?y#z", "/x?y#a%23b?"),
        (&["--drop", "fragment"], "/x#", "/x"),
        (&["--drop", "query", "--drop", "fragment"], "http://a\\b?c#d", "http://a\\b"),
        // Parameters of the query that are removed or kept.
        (&["--drop-query", "utm_*"], "/?utm_id=1&a=%31&utm%5Fid=2&&b;c", "/?a=%31&&b;c"),
        (&["--drop-query", "a"], "/?a&a=&a=1#f", "/#f"),
        (&["--drop-query", "a b"], "/?a+b=1&a%20b=2&c", "/?c"),
        (&["--drop-query", "a"], "/?A=1&ab=2&b=a", "/?A=1&ab=2&b=a"),
        (&["--drop-query", "a"], "/?", "/?"),
        (&["--drop-query", "a"], "/#?a=1", "/#?a=1"),
        (&["--drop-query", "ids[]"], "/?ids[]=1&ids%5B%5D=2&id=3", "/?id=3"),
        (&["--drop-query", "*b*c*"], "/?abc=1&bc=2&cb=3&b-c-d=4", "/?cb=3"),
        (&["--drop-query", "**a*a"], "/?aa=1&a=2&bab=3&baba=4", "/?a=2&bab=3"),
        (&["--drop-query", "aa*aa"], "/?aaa=1&aaaa=2", "/?aaa=1"),
        (&["--drop-query", "*"], "/?a&&b=1&", "/"),
        (&["--drop-query", "café"], "/?caf%C3%A9=1&caf%E9=2", "/?caf%E9=2"),
        (&["--keep-query", "b", "--keep-query", "a*"], "/?c&a1=%zz&b&&b=2", "/?a1=%zz&b&b=2"),
        (&["--keep-query", "a"], "/?b#c", "/#c"),
        (&["--keep-query", "*", "--drop-query", "a"], "/?a&b", "/?b"),
        // Parameters of the query that are added, replaced or sorted.
        (&["--append-query", "q=a&b=c+d;e f"], "/x", "/x?q=a%26b%3Dc%2Bd%3Be%20f"),
        (&["--append-query", "q=a%26b"], "/x?", "/x?q=a%26b"),
        (&["--append-query", "q"], "/x?q&", "/x?q&&q"),
        (&["--append-query", "q=", "--append-query", "é=#"], "/x#y", "/x?q=&%C3%A9=%23#y"),
        (&["--replace-query", "a=9"], "/?b&a=1&%61=2&c", "/?b&a=9&c"),
        (&["--replace-query", "a=9"], "/?b", "/?b"),
        (&["--set", "query:a=9"], "/?b&a=1&a", "/?b&a=9"),
        (&["--set", "query:a=9"], "/", "/?a=9"),
        (&["--set", "query:a=1", "--replace-query", "b=2"], "/?b=0", "/?b=2&a=1"),
        (&["--sort-query"], "/?b=1&a=%32&a=1&%61=0&B&&c", "/?&B&a=%32&a=1&%61=0&b=1&c"),
        // Bytes that are not valid in a URL stay in the parts that no option names.
        (&["--drop", "fragment"], "http://a b/%zz\\?[]#x", "http://a b/%zz\\?[]"),
        (&["--set", "port=1"], "http://a@b@c/", "http://a@b@c:1/"),
        // An empty line is not a URL.
        (&["--append-query", "a=1"], "", ""),
    ];
    for (options, url, wanted) in ROWS {
        assert_eq!(edit(options, url), ((*wanted).to_owned(), false), "{options:?} {url}");
    }
    // All options together: they apply in the documented order, and not in that of the command line.
    let all = "--sort-query --append-query z=1 --drop-query q --drop fragment --set query=q=1&y=2";
    assert_eq!(edit(&all.list(), "http://a/?x#f"), ("http://a/?y=2&z=1".to_owned(), false));
}

#[test]
fn a_result_that_would_be_another_url_is_rejected() {
    for (options, url) in [
        // The new path would be read as a host, as a scheme, or as the end of a host.
        (&["--set", "path=//x"][..], "mailto:a"),
        (&["--set", "path=//x"], "/a"),
        (&["--set", "path=a:b"], "/x"),
        (&["--set", "path=.evil.com"], "http://a/x"),
        (&["--set", "path=:80"], "http://a"),
        (&["--drop", "scheme"], "foo:a:b"),
        (&["--drop", "host"], "foo://a//b"),
        (&["--drop", "scheme,host"], "http://a//b"),
        // A URL that has no `//` cannot get a host, and without a host it cannot get a port, a user or a password.
        (&["--set", "host=a"], "/x"),
        (&["--set", "host=a"], "mailto:x"),
        (&["--set", "port=1"], "mailto:x"),
        (&["--set", "user=a"], "/x"),
        (&["--set", "password=a"], "a.com/x"),
        // Browsers would find a host in the path.
        (&["--set", "scheme=https"], "a.com/x"),
        (&["--set", "scheme=https"], "/a.com/x"),
        (&["--set", "scheme=HTTP"], "mailto:a@b"),
        (&["--drop", "host"], "http://a/b.com"),
        (&["--set", "path=/b"], "http:a"),
        (&["--set", "path=/b/c"], "ws:/a"),
        (&["--set", "path=/b/c"], "wss:/a"),
        // Browsers would find another host than before, or than RFC 3986 finds.
        (&["--drop", "userinfo"], "http://good.example\\@evil.example/"),
        (&["--set", "scheme=https"], "foo://a\\b@c.example/"),
        (&["--set", "host=h.example"], "ftp://u\\v@1.2.3.4:80/"),
        (&["--set", "scheme=https"], "foo://\t//evil.example/"),
        // Only browsers find a host.
        (&["--drop", "userinfo"], "http:///u:p@h/x"),
        (&["--drop", "userinfo"], "http:\\\\u:p@h/x"),
        (&["--drop", "port"], "ht\ttp://h:81/x"),
        (&["--set", "path=/b:1"], "http:/h:8080/x"),
        (&["--set", "path=/b"], "http:///h/x"),
        (&["--set", "path=/p"], "h\tttp://a.example/x"),
        // Browsers could not read the result.
        (&["--set", "port=81"], "file:///x"),
        (&["--set", "user=u"], "foo:///x"),
        (&["--set", "scheme=file"], "http://h:81/x"),
        (&["--drop", "fragment"], "http://a/ #b"),
        (&["--set", "scheme=https"], "foo://a%20b/"),
        (&["--set", "host=999999999999"], "http://h/x"),
    ] {
        assert_eq!(edit(options, url), (url.to_owned(), true), "{options:?} {url}");
    }
    let err = run("edit --set host=b --strict -e /x", "").err;
    assert_eq!(
        err,
        "pct: <-e>:1: offset 0: there is no host, so the host has no place; `pct resolve --base` adds a host\n"
    );
}

#[test]
fn a_part_that_no_url_can_have_is_a_usage_error() {
    for (options, wanted) in [
        (
            &["--set", "scheme=1a"][..],
            "the scheme is not a letter followed by letters, digits, '+', '-' and '.'",
        ),
        (&["--set", "scheme="], "the scheme is not"),
        (&["--set", "host=a/b"], "--set: host=a/b: a host cannot contain '/'"),
        (&["--set", "host=a%41"], "a host cannot contain '%'"),
        (&["--set", "host=a b"], "a host cannot contain ' '"),
        (&["--set", "host=u@a"], "a host cannot contain '@'"),
        (&["--set", "host=a:80"], "the host is not an address in brackets"),
        (&["--set", "host="], "the host is empty"),
        (&["--set", "port=65536"], "a port is a number up to 65535"),
        (&["--set", "port=+1"], "a port is a number"),
        (&["--set", "port="], "a port is a number"),
        (&["--set", "host"], "expected PART=VALUE, not 'host'"),
        (&["--set", "domain=a"], "'domain' cannot be changed"),
        (&["--set", "segment:1=a"], "'segment:1' cannot be changed"),
        (&["--set", "port=1", "--drop", "port"], "the part 'port' is given twice"),
        (&["--set", "query:a=1", "--set", "query:%61=2"], "is given twice"),
        (&["--set", "query:a=1", "--replace-query", "a"], "the parameter 'a' is given twice"),
        (&["--replace-query", "a=1", "--replace-query", "%61=2"], "the parameter 'a' is given twice"),
        (&["--keep-query", "a", "--drop-query", "a"], "both name 'a'"),
        (&["--set", "user=x", "--set", "userinfo=y"], "change it or these two"),
        (&["--set", "password=x", "--drop", "userinfo"], "change it or these two"),
        (&["--drop", "url"], "'url' cannot be changed"),
        (&["--drop", "query:a"], "write --drop-query 'a'"),
        (&["--append-query", "=a"], "expected NAME=VALUE"),
        (&[], "required arguments were not provided"),
    ] {
        refused(&[&["edit"], options, &["-e", "http://a/"]].concat(), "", wanted);
    }
}

/// Each row of the table gives a reason if its result differs from that of trurl.
#[test]
fn changes_are_those_that_trurl_makes() {
    let mut same = 0;
    for row in include_str!("../../../uri/tests/vectors/trurl-edit.tsv").lines().skip(1) {
        let [options, url, theirs, ours, why] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let options: Vec<_> = options.split(", ").flat_map(|option| option.splitn(2, ' ')).collect();
        let wanted = if why.is_empty() { theirs } else { ours };
        assert_eq!(edit(&options, url).0, wanted, "{row}");
        assert_eq!(ours.is_empty(), why.is_empty(), "{row}");
        same += usize::from(why.is_empty());
    }
    assert_eq!(same, 24);
}

/// Returns the parts of `url` in their order. Blanks and controls at its end belong to no part, because browsers remove them.
fn parts(url: &[u8]) -> [Option<&[u8]>; 7] {
    let start = url.iter().position(|&byte| byte > b' ').unwrap_or(url.len());
    let end = url.iter().rposition(|&byte| byte > b' ').map_or(start, |last| last + 1);
    let parts = split(&url[start..end]);
    let [userinfo, host, fragment] =
        [parts.userinfo(), parts.host(), parts.fragment()].map(|piece| piece.map(|piece| piece.raw()));
    [parts.scheme(), userinfo, host, parts.port(), Some(parts.path()), parts.query(), fragment]
}

/// Parts that no option names are byte for byte as before, also in text that is not a URL. A second run changes nothing.
#[test]
fn other_parts_stay_and_a_second_run_changes_nothing() {
    let input = urls(7, 100_000);
    for (options, may_change) in [
        (&["--set", "scheme=https"][..], &[0][..]),
        (&["--set", "scheme=foo"], &[0]),
        (&["--set", "host=b.example"], &[2]),
        (&["--set", "port=8"], &[3]),
        (&["--set", "user=a", "--drop", "password"], &[1]),
        (&["--set", "path=/x y"], &[4]),
        (&["--set", "path=x:y"], &[4]),
        (&["--set", "query:q=1"], &[5]),
        (&["--drop", "scheme"], &[0]),
        (&["--drop", "host"], &[1, 2, 3]),
        (&["--drop", "port,userinfo"], &[1, 3]),
        (&["--drop", "path"], &[4]),
        (&["--drop-query", "q", "--sort-query"], &[5]),
        (&["--keep-query", "b", "--replace-query", "b=7"], &[5]),
        (&["--drop", "fragment"], &[6]),
    ] {
        let args = [&["edit", "-q"], options].concat();
        let Run { out, code, .. } = run(&args, &input);
        assert_eq!(code, Some(0));
        let mut changed = 0;
        for ((old, end), (new, new_end)) in lines(&input).zip(lines(&out)) {
            assert_eq!(end, new_end);
            changed += usize::from(old != new);
            for (index, (old, new)) in parts(old).into_iter().zip(parts(new)).enumerate() {
                let line = || format!("{options:?}: {}", String::from_utf8_lossy(new.unwrap_or_default()));
                assert!(old == new || may_change.contains(&index), "{} {old:?} {new:?}", line());
            }
        }
        assert!(changed > 10, "{options:?}: {changed}");
        let ends = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(ends(&input), ends(&out));
        assert_same("twice", &run(&args, &out).out, &out);
        assert_same("threads", &run(&[&args[..], &["-j3"]].concat(), &input).out, &out);
    }
}

/// The form of a request target decides which changes it allows: a path cannot get a host, and `*` never changes.
#[test]
fn values_of_logs_are_changed_by_their_kinds() {
    let log = |target: &str| access(&format!("{target} HTTP/1.1"), "-");
    for (options, target, wanted) in [
        (&["--drop-query", "a"][..], "GET //x//y?a=1&b", Some("GET //x//y?b")),
        (&["--set", "path=//z"], "GET /x?a", Some("GET //z?a")),
        (&["--set", "path=/./z"], "GET //x?a", Some("GET /./z?a")),
        (&["--set", "path=z"], "GET /x", None),
        (&["--set", "host=h"], "GET //a/x", None),
        (&["--set", "scheme=https"], "GET /x", None),
        (&["--set", "scheme=https"], "GET http://a/x", Some("GET https://a/x")),
        // Without its scheme, the target would be read as a path.
        (&["--drop", "scheme"], "GET http://a/x", None),
        (&["--drop", "scheme,host"], "GET http://a/x", Some("GET /x")),
        (&["--drop", "scheme,host"], "GET http://a//x", Some("GET //x")),
        (&["--set", "port=8443"], "CONNECT a:443", Some("CONNECT a:8443")),
        (&["--set", "host=[::1]"], "CONNECT a:443", Some("CONNECT [::1]:443")),
        (&["--set", "path=/x"], "CONNECT a:443", None),
        (&["--append-query", "a"], "OPTIONS *", Some("OPTIONS *")),
        (&["--set", "path=/a b\"c"], "GET /", Some("GET /a%20b%22c")),
    ] {
        let input = log(target);
        let Run { out, err, .. } =
            run(&[&["edit", "--log", "combined", "--field", "target"], options].concat(), &input);
        assert_eq!(String::from_utf8(out).unwrap(), log(wanted.unwrap_or(target)), "{options:?}");
        assert_eq!(err.contains("rejected"), wanted.is_none(), "{options:?} {target}: {err}");
    }
    // In this log, one column contains only the query of the URL.
    let iis = "#Fields: cs-uri-stem cs-uri-query\n/x a=1&b=2\n/y -\n/z a=1\n";
    let args = ["edit", "--log", "iis", "--drop-query", "a"];
    assert_eq!(text(&args, iis), "#Fields: cs-uri-stem cs-uri-query\n/x b=2\n/y -\n/z -\n");
}

#[test]
fn values_are_changed_in_their_records() {
    for (args, input, wanted) in [
        (
            &["--csv", "--column", "url", "--set", "query=a,\"b"][..],
            "id,url\n1,/x\n2,\"/y,z\"\n",
            "id,url\n1,\"/x?a,%22b\"\n2,\"/y,z?a,%22b\"\n",
        ),
        (
            &["--csv", "--column", "url", "--into", "new", "--drop", "scheme,host"],
            "url,id\nhttp://a/b,1\nhttp://a,2\n",
            "url,new,id\nhttp://a/b,/b,1\nhttp://a,,2\n",
        ),
        (
            &["--jsonl", "--key", "u", "--set", "scheme=https"],
            "{\"u\":\"http:\\/\\/a\",\"v\":\"http://b\"}\n",
            "{\"u\":\"https://a\",\"v\":\"http://b\"}\n",
        ),
        (&["--field", "2", "--append-query", "a=b c"], "x http://a/  y\n", "x http://a/?a=b%20c  y\n"),
        (&["--values", "--field", "2", "--drop", "query"], "x /a?b y\n", "/a\n"),
        (
            &["--html", "--drop-query", "utm_*"],
            "<a href='/x?utm_a=1&amp;b&amp;c=%31' title=\"/?utm_b\">\r\n",
            "<a href='/x?b&amp;c=%31' title=\"/?utm_b\">\r\n",
        ),
        (&["--null", "--drop", "fragment"], "/a#b\n\0/c#d", "/a\n\0/c"),
        // The delimiter would end the field, so it is escaped.
        (&["--delimiter", ",", "--field", "1", "--set", "path=/a,b"], "/x,/y\n", "/a%2Cb,/y\n"),
    ] {
        assert_eq!(text(&[&["edit"], args].concat(), input), wanted, "{args:?}");
    }
    // Between blanks, an empty field would disappear, so this URL stays.
    let Run { out, err, .. } = run("edit --field 2 --drop scheme,host", "x http://a y\n");
    assert_eq!(out, b"x http://a y\n");
    assert!(err.contains("1 value was rejected"), "{err}");
    let args = ["edit", "--delimiter", "?", "--field", "1", "--append-query", "a"];
    let Run { out, err, .. } = run(&args, "/x?/y\n");
    assert_eq!(out, b"/x?/y\n");
    assert!(err.contains("1 value was rejected"), "{err}");
}
