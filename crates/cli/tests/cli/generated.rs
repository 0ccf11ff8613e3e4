//! Tests the manual pages and shell completions that `pct generate` writes.

use std::process::{Command, Stdio};

use crate::support::{VERBS, file, ok, output, run, skipped, text};

#[test]
fn every_shell_gets_all_verbs_options_and_sets() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["generate", shell], "");
        let words = ["in-place", "files-from", "whatwg-path", "shift_jis", "windows-1251", "cloudfront"];
        for word in VERBS.split(' ').chain(words) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// Each installed shell can parse its own completion script.
#[test]
fn shells_can_read_their_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let child = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(child) = child else {
            skipped(&format!("completions for {shell}: it is not here"));
            continue;
        };
        let output = output(child, &ok(&["generate", shell], ""), usize::MAX);
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

/// fish reads the help of values only when it completes them.
#[test]
fn fish_completes_the_values_of_every_option() {
    let (dir, _) = file("pct.fish", ok("generate fish", ""));
    let fish = Command::new("fish")
        .arg("-c")
        .arg(format!(
            "source pct.fish
            for verb in {VERBS}
                for option in (complete -C \"pct $verb --\" | string replace -r '\\t.*' '')
                    complete -C \"pct $verb $option \"
                end
            end"
        ))
        .current_dir(&dir)
        .output();
    let Ok(fish) = fish else { return skipped("values in fish: it is not here") };
    let errors = String::from_utf8_lossy(&fish.stderr);
    assert!(fish.status.success() && errors.is_empty(), "{}", &errors[..errors.len().min(2000)]);
    let values = String::from_utf8_lossy(&fish.stdout);
    for line in ["separator\tAn escaped / or \\\n", "common\tApache's common: request target; --field 5.2\n"]
    {
        assert!(values.contains(line), "{line}");
    }
}

#[test]
fn there_is_a_page_for_each_verb() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man");
    ok(&["generate", "man", "--directory", pages.to_str().unwrap()], "");
    for verb in VERBS.split(' ').filter(|verb| *verb != "info") {
        let page = std::fs::read_to_string(pages.join(format!("pct-{verb}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH EXAMPLES"), "{verb}");
    }
    let decode = std::fs::read_to_string(pages.join("pct-decode.1")).unwrap();
    // The page names the value of each option, and lists the possible values.
    for words in ["\\fI<POLICY>\\fR", "hypercorn: ", "drop: Leave the record out", "shift_jis"] {
        assert!(decode.contains(words), "{words}");
    }
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        assert!(!std::fs::read_to_string(&page).unwrap().contains(r#"\\"\\""#), "{page:?} shows a backslash");
    }
    let main = ok("generate man", "");
    assert!(main == std::fs::read(pages.join("pct.1")).unwrap(), "it differs on standard output");
    // If `man` is not installed, the formatted page is not checked.
    if let Ok(output) =
        Command::new("man").arg("-l").arg(pages.join("pct-decode.1")).env("MANPAGER", "cat").output()
    {
        assert!(String::from_utf8_lossy(&output.stdout).contains("--in-place"), "{output:?}");
    }
    assert_eq!(run("generate bash --directory x", "").code, Some(2));
}
