//! Tests the manual pages and shell completions that `pct generate` writes.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{ok, run};

const VERBS: [&str; 13] = [
    "encode",
    "decode",
    "normalize",
    "split",
    "get",
    "join",
    "resolve",
    "iri",
    "uri",
    "form",
    "check",
    "audit",
    "read",
];

#[test]
fn every_shell_gets_all_verbs_options_and_sets() {
    for shell in ["bash", "zsh", "fish"] {
        let script = String::from_utf8(ok(&["generate", shell], "")).unwrap();
        let words = ["in-place", "files-from", "whatwg-path", "shift_jis", "windows-1251", "cloudfront"];
        for word in VERBS.into_iter().chain(words) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// Each installed shell can parse the completion script for it.
#[test]
fn shells_can_read_their_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let child = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            let _ = writeln!(std::io::stderr(), "\nSKIPPED completions for {shell}: it is not here");
            continue;
        };
        child.stdin.take().unwrap().write_all(&ok(&["generate", shell], "")).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

#[test]
fn there_is_a_page_for_each_verb() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man");
    ok(&["generate", "man", "--directory", pages.to_str().unwrap()], "");
    for verb in VERBS {
        let page = std::fs::read_to_string(pages.join(format!("pct-{verb}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH EXAMPLES"), "{verb}");
    }
    let decode = std::fs::read_to_string(pages.join("pct-decode.1")).unwrap();
    // The page names the value of each option, and lists the possible values.
    for words in ["\\fI<POLICY>\\fR", "combined: Apache", "drop: Leave the record out", "shift_jis"] {
        assert!(decode.contains(words), "{words}");
    }
    assert!(!pages.join("pct-generate.1").exists());
    let main = ok(&["generate", "man"], "");
    assert!(main == std::fs::read(pages.join("pct.1")).unwrap(), "it differs on standard output");
    // If `man` is not installed, the formatted page is not checked.
    if let Ok(output) =
        Command::new("man").arg("-l").arg(pages.join("pct-decode.1")).env("MANPAGER", "cat").output()
    {
        assert!(String::from_utf8_lossy(&output.stdout).contains("--in-place"), "{output:?}");
    }
    assert_eq!(run(&["generate", "bash", "--directory", "x"], "").code, Some(2));
}
