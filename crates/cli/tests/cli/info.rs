//! Tests help, the version, and the lists of sets and tiers.

use simdpct::Tier;

use crate::support::{assert_same, command, ok, output, printed, run, text, wait};

#[test]
fn help_has_examples_and_exit_codes() {
    assert!(text("-h", "").contains("Examples:"));
    for args in [&["--help"][..], &["help"]] {
        let help = text(args, "");
        for part in ["Examples:", "Exit codes:", "SIMDPCT_TIER", "normalize", "\n  generate "] {
            assert!(help.contains(part), "{args:?} has no {part:?}");
        }
    }
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(text("--version", ""), format!("pct {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn verbose_version_is_that_and_the_tiers() {
    let version = text("--version --verbose", "");
    assert_eq!(version, text("info", ""));
    assert_eq!(version, text("--verbose -V", ""));
    assert!(version.starts_with(&format!("pct {} on ", env!("CARGO_PKG_VERSION"))), "{version}");
    for args in [&["--verbose"][..], &["--verbose", "encode"], &["encode", "--verbose"]] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
    assert!(run("--verbose", "").err.starts_with("pct: --verbose only adds to --version"));
}

#[test]
fn sets_lists_all_with_bytes_and_source() {
    let all = text("sets", "");
    for set in simdpct::sets::ALL {
        let (verb, kind) = match set.kind {
            simdpct::SetKind::Policy => ("keeps", "policy"),
            _ => ("holds", "building block"),
        };
        let start = all.find(&format!("{}\n  {verb} ", set.name)).expect(set.name);
        assert!(
            all[start..].lines().nth(2).unwrap().starts_with(&format!("  kind    {kind}: ")),
            "{}",
            set.name
        );
        assert!(all.contains(&format!("  source  {}\n", set.source)), "{}", set.name);
        assert!(all.contains(&format!("({} bytes)", set.set.len())), "{}", set.name);
    }
    assert_eq!(all.matches("  source  ").count(), simdpct::sets::ALL.len());
    assert!(all.contains("rfc3986-unreserved\n  keeps   A-Z a-z 0-9 - . _ ~  (66 bytes)\n"), "{all}");
    assert!(all.contains(r#"  holds   SPACE " # % < > [ \ ] ^ ` { | } ~  (15 bytes)"#), "{all}");
}

#[test]
fn sets_may_be_named() {
    let two = text("sets whatwg-path java-form", "");
    assert!(two.starts_with("whatwg-path\n") && two.contains("\n\njava-form\n"), "{two}");
    assert_eq!(two.matches("  source  ").count(), 2);
    let run = run("sets whatwg-pth", "");
    assert_eq!(run.code, Some(2));
    assert!(run.err.starts_with("pct: unknown set 'whatwg-pth'; similar: whatwg-path"), "{}", run.err);
}

#[test]
fn cpu_names_every_tier_and_the_one_in_use() {
    let described = text("info", "");
    for name in Tier::compiled() {
        assert!(described.contains(&format!("\n  {name} ")), "{described}");
    }
    assert_eq!(described.matches("in use").count(), 1);
    for tier in Tier::available() {
        let child = command("info").env(Tier::ENV_VAR, tier.name()).spawn().unwrap();
        let described = String::from_utf8(wait(child).out).unwrap();
        let line = described.lines().find(|line| line.contains("in use")).unwrap();
        assert!(line.trim().starts_with(tier.name()) && line.contains("forced"), "{described}");
    }
}

#[test]
fn a_tier_that_cannot_be_had_is_an_error() {
    for args in [&["encode"][..], &["info"], &["check"]] {
        let run = wait(command(args).env(Tier::ENV_VAR, "abacus").spawn().unwrap());
        assert_eq!((run.code, run.out.len()), (Some(2), 0));
        assert!(
            run.err.starts_with("pct: SIMDPCT_TIER=abacus: this build has no such tier; "),
            "{}",
            run.err
        );
        assert!(run.err.contains("scalar"), "{}", run.err);
    }
    for name in Tier::compiled().filter(|name| Tier::find(name).is_none()) {
        let run = wait(command("encode").env(Tier::ENV_VAR, name).spawn().unwrap());
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains("this CPU lacks that tier"), "{}", run.err);
    }
    let child = command("encode").env(Tier::ENV_VAR, "").spawn().unwrap();
    assert_eq!(wait(child).code, Some(0), "an empty variable forces nothing");
}

#[test]
fn every_tier_gives_the_same_bytes() {
    let input = crate::support::tangle(3, 40_000);
    let wanted = ok("encode", &input);
    for tier in Tier::available() {
        let child = command("encode").env(Tier::ENV_VAR, tier.name()).spawn().unwrap();
        assert_same(tier.name(), &output(child, &input, usize::MAX).stdout, &wanted);
    }
}

#[test]
fn tables_have_every_character_and_its_escapes() {
    let tsv = text("sets --table --format tsv", "");
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        rows[0].join(" "),
        "byte decimal binary character name rfc3986 rfc2396 rfc1738 windows-1252 utf-8 why"
    );
    assert_eq!(rows.len(), 257);
    for (byte, row) in rows[1..].iter().enumerate() {
        assert_eq!((row[0], row[8]), (&*format!("{byte:02X}"), &*format!("%{byte:02X}")));
        assert_eq!((row[1], row[2]), (&*byte.to_string(), &*format!("{byte:08b}")));
        // For a visible character, the escapes of both charsets decode to the character in the fourth column.
        if row[4].is_empty() {
            assert_eq!(simdpct::decode_utf8(row[9]).unwrap(), row[3], "{row:?}");
            assert_eq!(
                text(&["decode", "--charset", "windows-1252", "-e", row[8]], ""),
                format!("{}\n", row[3])
            );
        }
    }
    for (byte, wanted) in [
        (0x07, "BEL bell control control control %07 %07 Invisible; ends or splits text in some programs."),
        (0x20, "SP space not allowed excluded unsafe %20 %20 Ends a URL in text; programs trim or fold it."),
        (0x2F, "/  reserved reserved reserved %2F %2F Separates the parts of a path."),
        (0x24, "$  reserved reserved unreserved %24 %24 Reserved for use inside a part."),
        (0x5B, "[  reserved excluded unsafe %5B %5B Encloses an IPv6 address."),
        (0x61, "a  unreserved unreserved unreserved %61 %61 "),
        (0x7E, "~  unreserved unreserved unsafe %7E %7E Unsafe only in RFC 1738: old systems changed it."),
        (0x80, "\u{20ac}  not ASCII not ASCII not ASCII %80 %E2%82%AC "),
        (0xE9, "\u{e9}  not ASCII not ASCII not ASCII %E9 %C3%A9 "),
    ] {
        assert_eq!(rows[1 + byte][3..].join(" "), wanted);
    }
    // A visible character has a reason unless it is unreserved in both RFC 3986 and RFC 1738.
    for row in &rows[1 + 0x21..=0x7F] {
        assert_eq!(row[10].is_empty(), row[5] == "unreserved" && row[7] == "unreserved", "{row:?}");
    }
    let plain = text("sets --table", "");
    assert!(plain.lines().any(|line| line.starts_with("7E    126      01111110  ~ ")), "{plain}");
    let json: serde_json::Value = serde_json::from_str(&text("sets --table --format json", "")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 256);
    assert_eq!((&json[0x2F]["rfc2396"], &json[0x2F]["utf-8"]), (&"reserved".into(), &"%2F".into()));
    let json: serde_json::Value = serde_json::from_str(&text("sets --format json", "")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), simdpct::sets::ALL.len());
    assert_eq!((&json[3]["name"], &json[3]["bytes"]), (&"rfc3986-gen-delims".into(), &"#/:?@[]".into()));
    let tsv = text("sets --format tsv rfc3986-gen-delims", "");
    assert!(tsv.starts_with(
        "name\tkind\tbytes\tsource\tdescription\nrfc3986-gen-delims\tbuilding block\t#/:?@[]\t"
    ));
}

/// `pct check` reports a reserved character in the path or query of a URL as illegal exactly if the table of schemes (RFC 1738,
/// section 5) does not allow it there. The only exception is the `;` of a `;type=a` at the end of an FTP URL, which is allowed.
#[test]
fn reserved_characters_of_each_scheme() {
    let table = text("sets --schemes --format tsv", "");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 10);
    let found = |url: &str, kinds: &str| {
        let args = ["check", "--dialect", "rfc1738", "--kinds", kinds, "-e", url];
        printed(&args, "")
    };
    for row in rows {
        let [name, _, _, path, query] = row[..] else { panic!("{row:?}") };
        let host = if ["mailto", "news"].contains(&name) { "" } else { "//h/" };
        let has_query = ["http", "wais"].contains(&name);
        for byte in ";/?:@=&".chars() {
            if has_query && byte == '?' {
                continue;
            }
            let is_illegal = !found(&format!("{}:{host}a{byte}b", name.to_uppercase()), "illegal").is_empty();
            assert_eq!(is_illegal, !path.contains(byte), "{byte} in {name}");
            let is_illegal = has_query && !found(&format!("{name}:{host}?a{byte}b"), "illegal").is_empty();
            assert_eq!(is_illegal, has_query && !query.contains(byte), "{byte} in the query of {name}");
        }
        assert_eq!(found(&format!("{name}:{host}%3B%41"), "needless").lines().count(), 1, "{name}");
    }
    for (url, wanted) in [
        ("ftp://h/a;type=a", ""),
        ("ftp://h/a;b;type=I", "<-e>:1:9: illegal: ';' in the path of ftp\n"),
        (
            "http://h/a?b/c?d",
            "<-e>:1:12: illegal: '/' in the query of http\n<-e>:1:14: illegal: '?' in the query of http\n",
        ),
        ("urn:a?b/c", ""),
        ("//h/a?b/c", ""),
    ] {
        assert_eq!(found(url, "illegal"), wanted, "{url}");
    }
}
