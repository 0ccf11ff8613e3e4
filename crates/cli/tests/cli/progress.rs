//! Tests output that appears only on a terminal: a progress bar, hints, and escapes in place of control characters.

use std::process::Command;

use crate::support::{file, skipped};

/// Runs the shell command `script` in a pseudoterminal, and returns the text that the terminal shows; `None` if the command that makes
/// pseudoterminals is not installed.
fn on_a_terminal(script: &str) -> Option<String> {
    let mut terminal = Command::new("script");
    terminal.args(["-qec", script, "/dev/null"]).env("PCT", env!("CARGO_BIN_EXE_pct")).env("TERM", "xterm");
    let Ok(output) = terminal.stdin(std::process::Stdio::null()).output() else {
        skipped("the progress bar: there is no script command here");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_bar_is_for_persons_who_wait() {
    let slow = "{ printf 'a%%20b\\n'; sleep 1.6; }";
    let cases = [
        ("a file grows", format!("{slow} | $PCT decode -o /dev/null"), true),
        ("a pipe is filled", format!("{slow} | $PCT decode | cat > /dev/null"), true),
        ("the terminal is filled", format!("{slow} | $PCT decode"), false),
        ("nobody wants it", format!("{slow} | $PCT decode --quiet -o /dev/null"), false),
        ("stderr is no terminal", format!("{slow} | $PCT decode -o /dev/null 2>/dev/null"), false),
        ("the terminal is dumb", format!("{slow} | TERM=dumb $PCT decode -o /dev/null"), false),
        ("it is over soon", "echo a | $PCT decode -o /dev/null".to_owned(), false),
    ];
    // All wait at the same time.
    std::thread::scope(|scope| {
        for (what, script, is_shown) in cases {
            scope.spawn(move || {
                let Some(shown) = on_a_terminal(&script) else { return };
                assert_eq!(shown.contains("B/s"), is_shown, "{what}: {shown:?}");
            });
        }
    });
}

/// If the user forgets to name a file, a message explains that `pct` waits for input from the terminal.
#[test]
fn a_terminal_as_input_is_explained() {
    for (script, is_explained) in [
        ("timeout 1 $PCT decode < /dev/tty || true", true),
        ("timeout 1 $PCT decode -i < /dev/tty || true", false),
        ("timeout 1 $PCT decode 2>/dev/null < /dev/tty || true", false),
        ("echo a | $PCT decode", false),
    ] {
        let Some(shown) = on_a_terminal(script) else { return };
        assert_eq!(shown.contains("reading from the terminal"), is_explained, "{script}: {shown:?}");
    }
}

/// If a file has the name of a table but is read as lines, a message on the terminal mentions the options for tables.
#[test]
fn a_table_that_is_read_as_lines_is_mentioned() {
    let csv = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/crawl.csv");
    for (options, is_mentioned) in
        [("", true), ("--quiet", false), ("--csv --column url", false), ("2>/dev/null", false)]
    {
        let Some(shown) = on_a_terminal(&format!("$PCT decode {csv} {options}")) else { return };
        assert_eq!(shown.contains("--csv --column NAME selects some"), is_mentioned, "{options}: {shown:?}");
    }
}

/// On a terminal, decoded control characters stay escaped, unless `--show-controls` is given. A pipe gets them.
#[test]
fn decoded_control_characters_do_not_reach_a_terminal() {
    let (raw, escaped) = ("a\u{1b}[2Jb\u{7}", "a%1B[2Jb%07");
    // The name of the file has no characters that a shell reads. NO_COLOR keeps escapes for colours out.
    let (_dir, path) = file("list", "a%1B[2Jb%07\n");
    let path = path.display();
    let mut cases = vec![
        (format!("NO_COLOR=1 $PCT decode -i --diff {path}"), "+a\\x1b[2Jb\\x07"),
        (format!("NO_COLOR=1 $PCT decode -i --diff --show-controls {path}"), raw),
        (format!("NO_COLOR=1 $PCT decode -i --diff {path} | cat"), raw),
        (format!("$PCT decode -o /dev/stdout {path}"), escaped),
        (format!("$PCT decode -o /dev/stdout {path} | cat"), raw),
    ];
    let scripts = [
        ("$PCT decode -e 'a%1B[2Jb%07'", escaped),
        ("echo 'a%1B[2Jb%07' | $PCT decode -o -", escaped),
        ("echo 'a%1B[2Jb%07' | $PCT decode --raw", "a%1B[2Jb%07%0A"),
        ("$PCT decode --url -e '/a%1B[2Jb%07'", escaped),
        ("$PCT decode --query -e '?q=a%1B[2Jb%07'", escaped),
        ("$PCT decode --csv --column 1 --no-header -e 'a%1B[2Jb%07,x'", escaped),
        ("$PCT get '{query:q}' --decode -e '?q=a%1B[2Jb%07'", escaped),
        ("$PCT split --parts path,query:q --decode -e '/x?q=a%1B[2Jb%07'", "/x\ta%1B[2Jb%07"),
        ("$PCT form -e 'q=a%1B[2Jb%07'", "q\ta%1B[2Jb%07"),
        ("$PCT decode -e 'a%C2%9B%FF%E2%80%AE'", "a%C2%9B%FF%E2%80%AE"),
        ("$PCT decode --show-controls -e 'a%1B[2Jb%07'", raw),
        ("$PCT decode --url --show-controls -e '/a%1B[2Jb%07'", raw),
        ("$PCT get '{query:q}' --decode --show-controls -e '?q=a%1B[2Jb%07'", raw),
        ("$PCT form --show-controls -e 'q=a%1B[2Jb%07'", raw),
        ("$PCT decode -e 'a%1B[2Jb%07' | cat", raw),
    ];
    cases.extend(scripts.map(|(script, wanted)| (script.to_owned(), wanted)));
    for (script, wanted) in cases {
        let Some(shown) = on_a_terminal(&script) else { return };
        assert!(shown.contains(wanted) && shown.contains('\u{1b}') == (wanted == raw), "{script}: {shown:?}");
    }
}
