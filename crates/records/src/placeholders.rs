//! The texts that the programs that write logs put in place of values that they do not know.

/// The texts that a program writes in place of a request, a target or a protocol that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholders {
    /// Texts in place of a request that the server did not understand.
    pub requests: &'static [&'static [u8]],
    /// Texts in place of a target.
    pub targets: &'static [&'static [u8]],
    /// The starts of texts in place of a target. Only letters and hyphens follow, because a client can send such a start, too.
    pub prefixes: &'static [&'static [u8]],
    /// Words in place of a protocol such as `HTTP/1.1`.
    pub protocols: &'static [&'static [u8]],
    /// The last word of a request.
    pub protocol: Protocol,
}

/// The last word of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A name and a version, such as `HTTP/1.1`. Requests that the server rejected, and those of HTTP/0.9, can lack it.
    Named,
    /// Only a version, such as `1.1`, or a name and a version.
    Version,
    /// Any third word, because the target has no blank.
    Word,
    /// No protocol.
    None,
}

impl Placeholders {
    /// A hyphen in place of a target.
    pub const HYPHEN: Placeholders = Placeholders {
        requests: &[],
        targets: &[b"-"],
        prefixes: &[],
        protocols: &[],
        protocol: Protocol::Named,
    };

    /// Reports whether `word`, the last one of a request, is a protocol and no part of the target.
    pub(crate) fn is_protocol(&self, word: &[u8]) -> bool {
        let is_bare = self.protocol == Protocol::Version && is_version(word);
        match self.protocol {
            Protocol::None => false,
            Protocol::Word => true,
            _ => is_protocol(word) || is_bare || self.protocols.contains(&word),
        }
    }

    /// Reports whether a text in place of a target begins with `byte`. It is false for the first byte of most targets.
    #[inline]
    pub(crate) fn begin_with(&self, byte: u8) -> bool {
        self.targets.iter().chain(self.prefixes).any(|text| text.first() == Some(&byte))
    }

    /// Reports whether `target` is a text that the program writes in place of a target. An empty text is one, too.
    #[inline]
    pub fn contains(&self, target: &[u8]) -> bool {
        let is_name = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
        let Some(&first) = target.first() else { return true };
        self.begin_with(first)
            && (self.targets.contains(&target)
                || self.prefixes.iter().any(|prefix| target.strip_prefix(*prefix).is_some_and(is_name)))
    }

    /// Reports whether `word` would be read as a protocol at the end of a request that has none.
    pub(crate) fn takes_for_protocol(&self, word: &[u8]) -> bool {
        if self.protocol == Protocol::Word { is_protocol(word) } else { self.is_protocol(word) }
    }
}

/// Reports whether `text` is the version of a protocol, such as `1.1` or `2`. Servers accept versions such as `1.10`, too.
fn is_version(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let major = digits(text);
    match &text[major..] {
        [] => major == 1,
        [b'.', rest @ ..] => {
            let minor = digits(rest);
            // A client can send a quote after the version.
            major > 0 && minor > 0 && !rest[minor..].iter().any(u8::is_ascii_alphanumeric)
        }
        _ => false,
    }
}

/// Reports whether `word` is a protocol, such as `HTTP/1.1`, or an odd one, such as `XTTP/1.1` or `http/2`.
pub(crate) fn is_protocol(word: &[u8]) -> bool {
    match word.split_first_chunk::<5>() {
        Some(([name @ .., b'/'], version)) => name.iter().all(u8::is_ascii_alphabetic) && is_version(version),
        _ => false,
    }
}
