//! Checks that each example in `--help` runs, that an example with `echo` prints the output that its description shows, and that the
//! manual pages have the examples.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{VERBS, assert_same, ok, skipped, text};

/// Returns the examples of `pct verb --help`, as pairs of a command and its description.
fn examples(verb: &str) -> Vec<(String, String)> {
    let args: Vec<_> = [verb, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
    let help = text(&args, "");
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines.take_while(|line| line.starts_with("  ")) {
        let (command, text) = line[2..].split_once("  ").unwrap_or((&line[2..], ""));
        match found.last_mut() {
            // A description that does not fit after its command is on the next line.
            Some((_, said)) if command.is_empty() => text.trim_start().clone_into(said),
            _ => found.push((command.to_owned(), text.trim_start().to_owned())),
        }
    }
    found
}

/// Creates the files that the examples read.
fn prepare(dir: &Path) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let sample = |name: &str| fs::read(samples.join(name)).unwrap();
    let (log, crawl) = (sample("access.log"), sample("crawl.txt"));
    let csv = b"id,url\n1,https://example.org/%2541\n2,\"%2C\"\n3,%zz\n";
    for (name, bytes) in [
        ("access.log", &log[..]),
        ("crawl.txt", &crawl),
        ("names.txt", "Zoë\na/b\n".as_bytes()),
        ("paths.txt", b"/a b/c\n"),
        ("urls.txt", b"https://example.org/%7Euser\n"),
        ("blob.txt", b"%00%0A"),
        ("crawl.csv", csv),
        ("events.jsonl", b"{\"request\":{\"url\":\"/a%20b\"}}\n{\"request\":{\"url\":\"%zz\"}}\n"),
        ("lists/one.txt", &crawl),
        ("lists/two.txt", b"%7e\n"),
    ] {
        fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        fs::write(dir.join(name), bytes).unwrap();
    }
    for (name, bytes) in [
        ("access.log.gz", &log[..]),
        ("logs/1.gz", &log),
        ("crawl.zst", &crawl),
        ("crawl.txt.zst", &crawl),
        ("crawl.csv.gz", csv),
    ] {
        fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        ok(&["normalize", "-o", dir.join(name).to_str().unwrap()], bytes);
    }
    for place in
        ["etc/bash_completion.d", "usr/local/share/zsh/site-functions", "home/.config/fish/completions"]
    {
        fs::create_dir_all(dir.join(place)).unwrap();
    }
}

#[test]
fn every_example_works() {
    let programs = Path::new(env!("CARGO_BIN_EXE_pct")).parent().unwrap().to_str().unwrap();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let prepared = tempfile::tempdir().unwrap();
    prepare(prepared.path());
    let mut checked = 0;
    for verb in VERBS.split(' ').chain([""]) {
        let examples = examples(verb);
        assert_eq!(examples.is_empty(), verb == "info", "{verb}");
        for (command, said) in examples {
            if command.contains("| jq") && Command::new("jq").arg("--version").output().is_err() {
                skipped(&format!("{command}: there is no jq here"));
                continue;
            }
            let dir = tempfile::tempdir().unwrap();
            let copied = Command::new("cp").args(["-rT"]).arg(prepared.path()).arg(dir.path()).status();
            assert!(copied.unwrap().success());
            // Paths such as `/etc` are replaced by folders in `dir`, so that no example changes a file of the system.
            let inside = dir.path().to_str().unwrap();
            let script = command
                .replace(" /etc", &format!(" {inside}/etc"))
                .replace(" /usr", &format!(" {inside}/usr"));
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(dir.path()).env("PATH", &path).env("LC_ALL", "C.UTF-8");
            let output = shell.env("HOME", dir.path().join("home")).output().unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr);
            // Only `pct check` and `pct route`, which exit with 1 if they have findings, and `--stats` may write to stderr.
            let code = output.status.code().unwrap();
            let finds = command.contains("pct check") || command.contains("pct route");
            assert!(code == 0 || finds && code == 1, "{command}: exit {code}: {complaints}");
            assert!(complaints.is_empty() || finds || command.contains("--stats"), "{command}: {complaints}");
            if command.starts_with("echo ") {
                let wanted = said.split("   (").next().unwrap().trim_end().to_owned() + "\n";
                assert_same(&command, &output.stdout, wanted.as_bytes());
                checked += 1;
            }
        }
    }
    assert!(checked >= 15, "only {checked} examples say what they print");
}

/// The manual page of each command, except `generate`, contains the examples of its `--help` with their descriptions.
#[test]
fn manual_pages_have_the_same_examples() {
    let dir = tempfile::tempdir().unwrap();
    ok(&["generate", "man", "--directory", dir.path().to_str().unwrap()], "");
    for verb in VERBS.split(' ').chain([""]).filter(|verb| *verb != "generate") {
        let name = ["pct", verb].join("-");
        let page = dir.path().join(name.trim_end_matches('-')).with_extension("1");
        let mut man = Command::new("man");
        man.env("MANWIDTH", "160").env("MANPAGER", "cat").env("LC_ALL", "C.UTF-8").arg("-l").arg(page);
        let Ok(output) = man.output() else { return skipped("manual pages: there is no man command here") };
        let page = String::from_utf8_lossy(&output.stdout);
        for (command, said) in examples(verb) {
            assert!(page.contains(&command) && page.contains(&said), "{verb}: {command}: {page}");
        }
    }
}
