//! The walk-through in `docs/`: every command prints what it says there.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::support::{assert_same, ok};

/// The commands of the `console` blocks of `text`, each with its output.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
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

#[test]
fn the_walk_through_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root.join("samples")).unwrap().flatten() {
        std::fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_pct")).parent().unwrap().to_str().unwrap();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let help = String::from_utf8(ok(&["decode", "--help"], "")).unwrap();
    let commands = commands(&std::fs::read_to_string(root.join("docs/pipelines.md")).unwrap());
    assert!(commands.len() >= 9, "{commands:?}");
    for (command, wanted) in commands {
        if command.contains("--field") && !help.contains("--field")
            || command.contains("refused.txt") && !help.contains("--rejects")
        {
            let _ = writeln!(std::io::stderr(), "\nSKIPPED {command}: this build has no such option");
            continue;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {command}; }} 2>&1")]).current_dir(dir.path());
        shell.env("PATH", &path).env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
        let output = shell.output().unwrap().stdout;
        // The bytes of an attack are not UTF-8, and the page is.
        assert_same(&command, String::from_utf8_lossy(&output).as_bytes(), wanted.as_bytes());
    }
}
