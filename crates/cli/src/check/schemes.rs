//! Lists the reserved characters that the grammar of RFC 1738 (section 5) allows unescaped, for each scheme.

use simdpct::sets;

/// A scheme of RFC 1738.
#[derive(Debug)]
pub struct Scheme {
    pub name: &'static str,
    /// The section that describes the scheme.
    pub section: &'static str,
    /// The reserved characters that separate parts, and so are escaped in data.
    pub separators: &'static str,
    /// The reserved characters that may be unescaped in a path, including separators.
    pub path: &'static str,
    /// The reserved characters that may be unescaped after a `?`. It is `None` if a `?` is data or not allowed.
    pub query: Option<&'static str>,
}

/// The schemes of RFC 1738.
pub static SCHEMES: [Scheme; 10] = [
    Scheme { name: "ftp", section: "3.2", separators: "/;", path: "/?:@&=", query: None },
    Scheme { name: "http", section: "3.3", separators: "/;?", path: "/;:@&=", query: Some(";:@&=") },
    Scheme { name: "gopher", section: "3.4", separators: "", path: ";/?:@=&", query: None },
    Scheme { name: "mailto", section: "3.5", separators: "", path: ";/?:@=&", query: None },
    Scheme { name: "news", section: "3.6", separators: "@", path: ";/?:&=@", query: None },
    Scheme { name: "nntp", section: "3.7", separators: "/", path: "/", query: None },
    Scheme { name: "telnet", section: "3.8", separators: "/", path: "/", query: None },
    Scheme { name: "wais", section: "3.9", separators: "/?", path: "/", query: Some("") },
    Scheme { name: "file", section: "3.10", separators: "/", path: "/?:@&=", query: None },
    Scheme { name: "prospero", section: "3.11", separators: "/;=", path: "/?:@&=;", query: None },
];

impl Scheme {
    /// Returns the scheme called `name`, in letters of either case.
    pub fn find(name: &[u8]) -> Option<&'static Scheme> {
        SCHEMES.iter().find(|scheme| scheme.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Calls `found` with the offset of each reserved character in `tail` that is not allowed. `tail` is the path of a
    /// URL with its query, whose `?` is at `query`.
    pub fn find_disallowed(&self, tail: &[u8], query: usize, mut found: impl FnMut(usize)) {
        let mut end = tail.len();
        if self.name == "ftp"
            && let [.., b';', b't' | b'T', b'y' | b'Y', b'p' | b'P', b'e' | b'E', b'=', code] = tail
            && code.is_ascii_alphabetic()
        {
            end -= ";type=a".len();
        }
        for (at, &byte) in tail[..end].iter().enumerate() {
            let allowed = match self.query {
                Some(allowed) if at > query => allowed,
                Some(_) if at == query => continue,
                _ => self.path,
            };
            if sets::RFC1738_RESERVED.contains(byte) && !allowed.as_bytes().contains(&byte) {
                found(at);
            }
        }
    }
}
