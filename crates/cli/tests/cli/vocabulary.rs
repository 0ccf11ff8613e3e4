//! Tests the words of the command line: the table of options, short help, and hints for mistakes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{command, file, ok, run, text, wait};

/// Returns the options of the program with their commands and meanings, which are read from the completions for fish.
fn options() -> BTreeMap<String, (Vec<String>, String)> {
    let script = text("generate fish", "");
    let mut found = BTreeMap::<String, (Vec<String>, String)>::new();
    for line in script.lines() {
        let Some((_, rest)) = line.split_once("\"__fish_pct_using_subcommand ") else { continue };
        let (verb, rest) = rest.split_once('"').expect("the name is quoted");
        let Some((_, long)) = rest.split_once("-l ") else { continue };
        let (long, rest) = long.split_once(' ').expect("options have descriptions");
        let meaning = rest.split_once("-d '").expect("options have descriptions").1;
        let meaning = meaning.replace("\\'", "\u{0}").split('\'').next().unwrap().replace('\u{0}', "'");
        let (verbs, known) = found.entry(long.to_owned()).or_default();
        verbs.push(verb.split(';').next().unwrap().to_owned());
        if known.is_empty() {
            *known = meaning.replace("\\\\", "\\");
        }
    }
    found.remove("help");
    found
}

#[test]
fn the_page_lists_each_option_with_its_commands_and_meaning() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("\n## All options\n").expect("the page has the table");
    let (_, group) = table.split_once("**converting** commands are ").expect("the group is described");
    let group = group.split('.').next().unwrap().replace('`', "").replace(" and ", ", ").replace('\n', " ");
    let mut listed = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| `--")) {
        let cells: Vec<_> = row.replace("\\|", "\u{0}").split(" | ").map(str::to_owned).collect();
        let [option, verbs, meaning] = &cells[..] else { panic!("{row}") };
        let option = option.trim_start_matches("| `--").split(['`', ' ']).next().unwrap();
        let verbs = verbs.replace("converting", &group);
        let mut verbs: Vec<_> = verbs.split(", ").map(|verb| verb.trim().to_owned()).collect();
        verbs.sort();
        let meaning = meaning.trim_end_matches(" |").replace('\u{0}', "|");
        let known = listed.insert(option.to_owned(), (verbs, meaning));
        assert!(known.is_none(), "{option} is listed twice");
    }
    let mut all = options();
    assert!(all.len() > 80, "{}", all.len());
    all.values_mut().for_each(|(verbs, _)| verbs.sort());
    for (option, described) in &all {
        assert_eq!(listed.get(option), Some(described), "--{option}");
    }
    for option in listed.keys() {
        assert!(all.contains_key(option), "the program has no --{option}");
    }
}

/// Short help fits on a screen of 50 lines of 80 columns.
#[test]
fn short_help_fits_on_a_screen() {
    let verbs: Vec<String> = options().into_values().flat_map(|(verbs, _)| verbs).collect();
    assert!(verbs.len() > 100);
    for verb in verbs.iter().map(String::as_str).chain(["", "info"]) {
        let args: Vec<_> = [verb, "-h"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = wait(command(&args).env("COLUMNS", "80").spawn().unwrap());
        let help = help.text();
        let (lines, widest) = (help.lines().count(), help.lines().map(|line| line.chars().count()).max());
        assert!((5..=50).contains(&lines) && widest <= Some(80), "{verb}: {lines} {widest:?}\n{help}");
    }
}

/// Each row has wrong arguments, and words that their error message contains. Words with a line end are the whole message.
#[test]
fn mistakes_get_hints() {
    for (args, words) in [
        (&["get", "host", "f"][..], "`pct get '{host}' FILE`"),
        (&["get", "host"], "the template has no {PART}"),
        (&["split", "--log", "combined"], "into the lines of the log; --values"),
        (&["form", "--log", "combined", "--field", "target"], "into the lines of the log; --values"),
        (&["split", "--html"], "into attributes; --values"),
        (&["form", "--tsv", "--field", "1"], "into the fields; --values"),
        (&["get", "{host}", "--csv", "--column", "u"], "--into NAME"),
        (&["get", "{host}", "--tsv", "--column", "u"], "--into NAME"),
        (&["decode", "--json", "url"], "--jsonl --key"),
        (&["decode", "--format", "combined"], "--log combined"),
        (
            &["split", "--csv", "--column", "1,2", "--values", "--output-delimiter", ","],
            "in the syntax of rows",
        ),
        (&["form", "--field", "1", "--values", "--output-delimiter", ","], "in the syntax of rows"),
        (&["split", "--format", "nginx"], "--log nginx"),
        (&["decode", "--only"], "--values"),
        (&["decode", "--nginx"], "--log nginx"),
        (&["top", "{host}", "--as", "json"], "--format"),
        (&["decode", "--on-error", "drop"], "--on-malformed"),
        (&["decode", "--on-error=drop"], "--on-malformed"),
        (&["dedup", "--max-memory", "4"], "--memory"),
        (&["decode", "--parquet"], "DuckDB"),
        (&["dec"], "did you mean 'decode'?"),
        (&["norm"], "did you mean 'normalize'?"),
        (&["decod"], "pct: unknown command 'decod'; did you mean 'decode'?\n"),
        (&["chekc"], "pct: unknown command 'chekc'; did you mean 'check'?\n"),
        (&["help", "dec"], "did you mean 'decode'?"),
        (&["help", "log"], "--log FORMAT"),
        (&["cpu"], "`pct info`"),
        (&["read", "/"], "`pct route`"),
        (&["tsv"], "pct: unknown command 'tsv'; `pct help` lists all\n"),
        (&["decode", "--tsv"], "--tsv needs --field or --column"),
        (&["encode", "--charset", "auto"], "--charset auto decodes"),
        (&["get", "{host}", "--charset", "gbk"], "--charset needs --decode"),
        (&["dedup", "--max-record", "4096"], "at most 2048"),
        (&["normalize", "--profile", "whatwg", "--dialect", "rfc1738"], "remove --dialect"),
    ] {
        let run = run(args, "");
        assert_eq!((run.code, &*run.out), (Some(2), &b""[..]), "{args:?}: {}", run.err);
        assert!(run.err.starts_with("pct: ") && run.err.contains(words), "{args:?}: {}", run.err);
        assert!(run.err == words || !words.ends_with('\n'), "{args:?}: {}", run.err);
    }
}

#[test]
fn hints_name_words_that_exist() {
    let (known, mut rows) = (options(), 0);
    let verbs: Vec<_> =
        known.values().flat_map(|(verbs, _)| verbs.clone()).chain(["info".to_owned()]).collect();
    let is_verb = |name: &str| verbs.iter().any(|verb| verb == name);
    for line in include_str!("../../src/args/hints.tsv").lines() {
        let (name, hint) = line.split_once('\t').expect("a name and a hint");
        // `--format` has a hint for the commands that lack this option. All other hints are for words that the program lacks.
        let is_known = name.strip_prefix("--").map_or_else(|| is_verb(name), |long| known.contains_key(long));
        assert!(!is_known || name == "--format", "{name} is a word of the program");
        for word in hint.split([' ', '`', '=', ',', ';']) {
            let is_known = word.strip_prefix("--").is_none_or(|long| known.contains_key(long));
            assert!(is_known, "{name}: {word}");
        }
        for verb in hint.split("`pct ").skip(1).map(|rest| rest.split([' ', '`']).next().unwrap()) {
            assert!(is_verb(verb), "{name}: pct {verb}");
        }
        rows += 1;
        let used = if name.starts_with("--") { vec!["decode", name] } else { vec![name] };
        assert!(run(&used, "").err.ends_with(&format!("; {hint}\n")), "{used:?}: {}", run(&used, "").err);
    }
    assert!(rows > 40, "{rows}");
}

#[test]
fn a_suffix_after_a_blank_is_no_file() {
    let (dir, list) = file("crawl.txt", "%41\n");
    for args in [&["-i", ".bak", "crawl.txt"][..], &["crawl.txt", "-i", ".bak"], &["-i", ".bak"]] {
        let mut child = command(&[&["decode"], args].concat());
        let run = wait(child.current_dir(&dir).spawn().unwrap());
        assert!(run.code == Some(2) && run.err.contains("-i.bak"), "{args:?}: {}", run.err);
        assert_eq!(fs::read(&list).unwrap(), b"%41\n", "{args:?}");
    }
    // If a file has the name `.bak`, it is an input.
    fs::write(dir.path().join(".bak"), "%42\n").unwrap();
    let mut child = command("decode -i .bak crawl.txt");
    assert_eq!(wait(child.current_dir(&dir).spawn().unwrap()).code, Some(0));
    assert_eq!(fs::read(&list).unwrap(), b"A\n");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
}

#[test]
fn columns_may_be_separated_by_tabs() {
    let table = "a\tu\n%41\t%42\n";
    let wanted = b"a\tu\n%41\tB\n";
    for args in [&["--tsv"][..], &["--csv", "--tsv"], &["--csv", "-d", "tab"]] {
        assert_eq!(ok(&[&["decode", "--column", "u"], args].concat(), table), wanted, "{args:?}");
    }
    assert_eq!(ok("decode --tsv --column 1 --no-header --values", table), b"a\nA\n");
    assert_eq!(run("decode --log w3c --column u --no-header", "").code, Some(2));
}

#[test]
fn whole_lines_of_a_log_are_counted_with_a_hint() {
    let log = "1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 1 \"-\" \"ua\"\n";
    let whole = run("top {path}", log);
    assert!(whole.code == Some(0) && whole.err.contains("--log combined"), "{}", whole.err);
    assert_eq!(run("top {path} -q", log).err, "");
    assert_eq!(ok("top {path} --log combined", log), b"1\t/a\n");
    for list in ["http://a/b c\n", "/a\n/b?c\n", "a\n", "", "GET /a HTTP/1.1\n"] {
        assert_eq!(run("top {path}", list).err, "", "{list}");
    }
}
