//! Formats file names for messages.

use std::fmt::Write;
use std::path::Path;

/// Returns `path` as one line of text. Characters that would control a terminal, or that are invisible, are escaped.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0'..='\x1F' | '\x7F' => {
                    text.extend(std::ascii::escape_default(character as u8).map(char::from))
                }
                _ if is_harmful(character) => text.extend(character.escape_unicode()),
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Reports whether `character` is harmful in a terminal: a control (C0, DEL, C1), a line or paragraph separator, or a
/// mark that turns the direction of text (Unicode Standard Annex 9).
pub fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns `text` quoted as one word of a shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
