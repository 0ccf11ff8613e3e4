//! Formats file names and other bytes for messages.

use std::path::Path;

/// Returns `path` as one line of text. Invalid UTF-8, and the characters that [`is_harmful`] finds, are escaped.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    append_line(path.as_os_str().as_encoded_bytes(), is_harmful, &mut text);
    text
}

/// Appends `bytes` to `out` as text. The characters for which `is_escaped` returns true, and invalid UTF-8, are escaped as in Rust:
/// `\n`, `\x1b`, `\u{202e}`.
pub fn append_line(bytes: &[u8], is_escaped: impl Fn(char) -> bool, out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                _ if !is_escaped(character) => out.push(character),
                _ if character.is_ascii() => {
                    out.extend(std::ascii::escape_default(character as u8).map(char::from))
                }
                _ => out.extend(character.escape_unicode()),
            }
        }
        out.extend(chunk.invalid().escape_ascii().map(char::from));
    }
}

/// Reports whether `character` is harmful in a terminal: a control (C0, DEL, C1), a line or paragraph separator, or a
/// mark that turns the direction of text (Unicode Standard Annex 9).
pub fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns `count` with its `noun`, in the plural if necessary.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
