//! Checks that the commands in README.md and docs print the output that these pages show.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::assert_same;

/// Returns the commands in the `console` blocks of the page `text`, each with the output that the page shows.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    let mut indent = 0;
    for line in text.lines() {
        // A block in a list is indented.
        if line.trim_start().starts_with("```") {
            indent = line.len() - line.trim_start().len();
        }
        let line = if is_inside || line.trim_start().starts_with("```") {
            line.get(indent..).unwrap_or("")
        } else {
            line
        };
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => is_inside = line == "```console",
            Some(command) if is_inside => found.push((command.to_owned(), String::new())),
            None if is_inside => {
                let (_, output) = found.last_mut().expect("a block begins with a command");
                output.push_str(line);
                output.push('\n');
            }
            _ => {}
        }
    }
    found
}

/// Returns the folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the text of a file of the project.
fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// Runs every command of the page `name` in `directory`, and compares its output with the page.
fn check_page(name: &str, directory: &Path, at_least: usize) {
    let programs = Path::new(env!("CARGO_BIN_EXE_pct")).parent().unwrap().to_str().unwrap();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let commands = commands(&read(name));
    assert!(commands.len() >= at_least, "{name}: {commands:?}");
    for (command, wanted) in commands {
        // The page uses `cargo run`, which would build `pct` again, so the binary of this test replaces it.
        let line = command.replace("cargo run --release -p simdpct-cli --", "pct");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {line}; }} 2>&1")]).current_dir(directory);
        shell.env("PATH", &path).env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
        let output = shell.output().unwrap().stdout;
        // The page is valid UTF-8, so invalid bytes of the output are replaced before the comparison.
        assert_same(&command, String::from_utf8_lossy(&output).as_bytes(), wanted.as_bytes());
    }
}

#[test]
fn commands_of_the_readme_print_what_it_shows() {
    check_page("README.md", &root(), 4);
}

#[test]
fn commands_of_the_page_about_readings_print_what_it_shows() {
    let page = read("docs/readings.md");
    let line = page.lines().find(|line| line.contains(" HTTP/1.1")).expect("the page has a line of a log");
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("access.log"), line.trim_start()).unwrap();
    check_page("docs/readings.md", directory.path(), 3);
}

/// docs/command.md and the help of `pct check` list the same kinds of findings. The JavaScript package has those that are found
/// without being named, except the kinds for URLs and for records.
#[test]
fn the_kinds_of_findings_are_one_list() {
    let help = String::from_utf8(crate::support::ok(&["check", "--help"], "")).unwrap();
    let (_, help) = help.split_once("--kinds <").unwrap();
    let (help, _) = help.split_once("--ignore <").unwrap();
    let mut kinds: Vec<(String, String)> = Vec::new();
    for line in help.lines().map(str::trim) {
        match (line.strip_prefix("- ").and_then(|line| line.split_once(':')), kinds.last_mut()) {
            (Some((name, text)), _) => kinds.push((name.to_owned(), text.trim().to_owned())),
            // The help continues a long description on the next line.
            (None, Some((_, text))) if !line.is_empty() => *text += &format!(" {line}"),
            _ => {}
        }
    }
    assert!(kinds.len() > 10, "{kinds:?}");
    let page = read("docs/command.md");
    let (_, table) = page.split_once("| kind | finding |\n|---|---|\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let row = |(name, text): &(String, String)| format!("| `{name}` | {text} |");
    assert_eq!(table.lines().collect::<Vec<_>>(), kinds.iter().map(row).collect::<Vec<_>>());

    let package = read("crates/wasm/codec.mjs");
    let (_, findings) = package.split_once("const FINDINGS = [").unwrap();
    let (findings, _) = findings.split_once("\n];").unwrap();
    let names = findings.lines().filter_map(|line| line.trim().strip_prefix("['")?.split('\'').next());
    let is_usual = |text: &str| !["In a URL", "A record"].iter().any(|start| text.starts_with(start));
    let usual = kinds.iter().filter(|(_, text)| is_usual(text) && !text.ends_with("only if named"));
    let usual: BTreeSet<_> = usual.map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.collect::<BTreeSet<_>>(), usual);
    for name in usual {
        assert!(read("crates/wasm/codec.d.mts").contains(&format!("'{name}'")), "{name}");
    }
}

#[test]
fn commands_of_the_pages_about_the_command_print_what_they_show() {
    for (page, at_least) in [("docs/pipelines.md", 40), ("docs/command.md", 30)] {
        let directory = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(root().join("samples")).unwrap().flatten() {
            std::fs::copy(entry.path(), directory.path().join(entry.file_name())).unwrap();
        }
        check_page(page, directory.path(), at_least);
    }
}

#[test]
fn the_readme_makes_a_program_that_depends_on_the_library() {
    let readme = read("README.md");
    let command =
        readme.lines().find(|line| line.starts_with("cargo new ../hello")).expect("the README has it");
    let directory = tempfile::tempdir().unwrap();
    let hello = directory.path().join("hello");
    let line =
        command.replace("../hello", hello.to_str().unwrap()).replace("cargo add", "cargo add --offline");
    let output = Command::new("sh").args(["-c", &line]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let manifest = std::fs::read_to_string(hello.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("simdpct = { version ="), "{manifest}");
}

/// The calls that README.md shows for a language are also on the page of its binding, whose tests run them.
#[test]
fn the_readme_calls_the_doors_as_their_pages_do() {
    let readme = read("README.md");
    for (door, page) in [("C, C++", "capi"), ("Python", "python"), ("JavaScript", "wasm")] {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {door} | `"))).expect(door);
        let page = read(&format!("crates/{page}/README.md"));
        let codes: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        assert!(page.lines().any(|line| codes.iter().all(|code| line.contains(code))), "{codes:?}");
    }
}
