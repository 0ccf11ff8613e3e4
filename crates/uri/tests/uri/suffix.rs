//! Tests of public suffixes and registrable domains.

use simdpct_uri::{DomainName, Section, SuffixList, split};

use crate::raw_rows;

fn text(piece: Option<simdpct_uri::Piece<'_>>) -> Option<&str> {
    piece.map(|piece| std::str::from_utf8(piece.raw()).expect("UTF-8"))
}

/// Checks the test file of the Public Suffix List.
#[test]
fn test_psl() {
    let mut cases = 0;
    for row in raw_rows(include_str!("../vectors/test-psl.tsv")) {
        let domain = SuffixList::compiled().find(row[0].as_bytes()).and_then(|name| name.domain());
        let wanted = Some(row[1]).filter(|domain| *domain != "-");
        assert_eq!(text(domain).map(str::to_lowercase).as_deref(), wanted, "{}", row[0]);
        cases += 1;
    }
    assert_eq!(cases, 77);
}

/// Checks that subdomain, domain and suffix are spelled as in the host.
#[test]
fn parts_are_slices_of_the_host() {
    use Section::{Icann, Private, Unlisted};
    #[rustfmt::skip]
    let cases: &[(&str, &str, &str, &str, Section)] = &[
        ("a.B.Example.CO.uk", "a.B", "Example.CO.uk", "CO.uk", Icann),
        ("example.com.", "", "example.com", "com", Icann),
        ("com.", "", "", "com", Icann),
        ("a.b.github.io", "a", "b.github.io", "github.io", Private),
        ("x.y.zz--none", "x", "y.zz--none", "zz--none", Unlisted),
        ("_dmarc.example.com", "_dmarc", "example.com", "com", Icann),
        ("食狮.公司.cn", "", "食狮.公司.cn", "公司.cn", Icann),
        ("www。食狮．公司｡cn。", "www", "食狮．公司｡cn", "公司｡cn", Icann),
        ("a%2Eb%2ec%6Fm", "a", "b%2ec%6Fm", "c%6Fm", Icann),
        ("a.b%E3%80%82%63%6f.UK%2E", "a", "b%E3%80%82%63%6f.UK", "%63%6f.UK", Icann),
        ("www.city.kobe.jp", "www", "city.kobe.jp", "kobe.jp", Icann),
    ];
    for &(host, subdomain, domain, suffix, section) in cases {
        let url = format!("http://u@{host}:80/");
        let name = split(&url).domain_name().unwrap_or_else(|| panic!("{host}"));
        let parts = [name.subdomain(), name.domain(), Some(name.suffix())];
        let parts = parts.map(|part| part.map_or("", |part| part.raw()));
        assert_eq!(parts, [subdomain, domain, suffix], "{host}");
        assert_eq!(name.section(), section, "{host}");
        assert_eq!(split(&url).domain(), name.domain());
        assert_eq!(split(&url).subdomain(), name.subdomain());
        assert_eq!(split(&url).suffix(), Some(name.suffix()));
    }
}

#[test]
fn addresses_and_empty_labels_have_no_domain() {
    let hosts = "127.0.0.1 127.1 1 0x7f 0X a.0x7F. 1.2.3.4. [::1] [v1.x] [ . .. .com a..com a.com.. a.%2Ecom 。com a.1%30 a%2F.com \
                 \u{2f00}\u{ad}.\u{d7ff} %FF.com";
    for host in hosts.split(' ').chain([""]) {
        assert_eq!(SuffixList::compiled().find(host.as_bytes()), None, "{host}");
    }
    for url in ["/a", "mailto:a@example.com", "http:///a", "http://[fe80::1]/"] {
        assert_eq!(split(url).domain_name(), None, "{url}");
    }
}

/// Returns the number of labels of the suffix of `host`, and the section of its rule, by the list's own algorithm: of all rules that
/// match, the exception counts, or else the longest rule.
fn by_definition(rules: &[(&str, Section)], host: &str) -> (usize, Section) {
    let labels: Vec<&str> = host.split('.').collect();
    let matches = |rule: &str| {
        let rule: Vec<&str> = rule.split('.').collect();
        rule.len() <= labels.len()
            && rule.iter().rev().zip(labels.iter().rev()).all(|(r, l)| *r == "*" || r == l)
    };
    let mut best = (1, Section::Unlisted);
    for &(rule, section) in rules {
        match rule.strip_prefix('!') {
            Some(rule) if matches(rule) => return (rule.split('.').count() - 1, section),
            None if matches(rule) => {
                let len = rule.split('.').count();
                best = if len > best.0 || best.1 == Section::Unlisted { (len, section) } else { best };
            }
            _ => {}
        }
    }
    best
}

/// Makes hosts of rules and labels before them, and compares their suffixes with those of [`by_definition`].
#[test]
fn all_rules_by_definition() {
    let list = include_str!("../../src/suffix/public_suffix_list.dat");
    let (icann, private) = list.split_once("===BEGIN PRIVATE DOMAINS===").expect("two sections");
    let rules = |part: &'static str, section| {
        part.lines()
            .filter(|line| !line.starts_with("//") && !line.is_empty())
            .map(move |rule| (rule, section))
    };
    let rules: Vec<_> = rules(icann, Section::Icann).chain(rules(private, Section::Private)).collect();
    assert!(rules.len() > 10_000);
    // Every rule that matches a host ends in the last label of the host.
    let mut by_last = std::collections::HashMap::<&str, Vec<_>>::new();
    for &rule in &rules {
        by_last.entry(rule.0.rsplit('.').next().unwrap_or_default()).or_default().push(rule);
    }
    let check = |host: &str, name: Option<DomainName<'_>>, sections: &[Section]| {
        let of_last = &by_last[host.rsplit('.').next().unwrap_or_default()];
        let of_last: Vec<_> =
            of_last.iter().copied().filter(|(_, section)| sections.contains(section)).collect();
        let (labels, section) = by_definition(&of_last, host);
        let name = name.unwrap_or_else(|| panic!("{host}"));
        let found = name.suffix().raw().split(|&byte| byte == b'.').count();
        assert_eq!((found, name.section()), (labels, section), "{host}");
    };
    let step = if testkit::tiers::scale() < 100 { 29 } else { 3 };
    for (rule, _) in rules.iter().step_by(step) {
        let name = rule.trim_start_matches('!').replace('*', "w");
        for host in [name.clone(), format!("a.{name}"), format!("b.a.{name}"), format!("w.b.a.{name}")] {
            check(&host, SuffixList::compiled().find(host.as_bytes()), &[Section::Icann, Section::Private]);
            check(&host, SuffixList::compiled().find_icann(host.as_bytes()), &[Section::Icann]);
        }
    }
}

#[test]
fn lists_at_run_time() {
    let list =
        SuffixList::parse("\u{feff}// VERSION: 7\r\n\r\nfoo  a note\r\n*.foo\na.b.foo\n!c.foo\n公司.cn\n")
            .expect("a list");
    assert_eq!(list.version(), Some("7"));
    for (host, suffix) in [
        ("x.foo", "x.foo"),
        ("x.b.foo", "b.foo"),
        ("x.a.b.foo", "a.b.foo"),
        ("x.c.foo", "foo"),
        ("x.xn--55qx5d.cn", "xn--55qx5d.cn"),
        ("x.org", "org"),
    ] {
        assert_eq!(text(list.find(host.as_bytes()).map(|name| name.suffix())), Some(suffix), "{host}");
    }
    // The rule that every list implies can also be written. Then it has a section.
    for (list, section) in
        [("*\n", Section::Icann), ("*\ncom\n", Section::Icann), ("com\n", Section::Unlisted)]
    {
        let list = SuffixList::parse(list).expect("a list");
        let name = list.find(b"www.example.org").expect("a name");
        assert_eq!((text(name.domain()), name.section()), (Some("example.org"), section));
    }
    for (bad, line) in [
        ("", None),
        ("// nothing\n", None),
        ("com\n<html>\n", Some(2)),
        ("a..b", Some(1)),
        ("a.", Some(1)),
        ("!a", Some(1)),
        ("a.*", Some(1)),
        ("*a", Some(1)),
        ("**", Some(1)),
        ("!*", Some(1)),
        ("*.", Some(1)),
        ("\u{ff0a}.a", Some(1)),
    ] {
        assert_eq!(SuffixList::parse(bad).expect_err(bad).line, line, "{bad}");
    }
    assert!(SuffixList::compiled().version().is_some_and(|version| version.starts_with("20")));
}
