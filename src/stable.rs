//! Decoding until nothing changes, in linear time.
//!
//! Repeating a whole decoding is quadratic: `%252525...` loses two bytes each time. One pass from left to right
//! ends at the same bytes, because the order of the steps does not matter. A step replaces one escape by its
//! byte. Escapes do not overlap, as `%` is no digit, so no step takes another one away; and each step makes the
//! bytes fewer, so every order ends, and ends alike (a system of rules that terminates and in which no left sides
//! overlap is confluent). What holds of all escapes holds of those that are not kept, and of `+`, which is in none.

use alloc::{borrow::Cow, vec::Vec};

use crate::decode::Decode;
use crate::hex;

/// So many layers are taken off by the kernels, each at once; few inputs have more.
const PASSES: usize = 3;

impl Decode {
    /// Appends `input` to `out`, decoded again and again until nothing changes, and returns the number of layers:
    /// how many times something did change.
    ///
    /// Kept escapes stay in every layer, and [`Decode::form`] reads each `+` that comes to light as a space. Takes
    /// time and working memory linear in the input, whatever the number of layers.
    ///
    /// ```
    /// use simdpct::{ByteSet, Decode};
    ///
    /// let mut out = Vec::new();
    /// assert_eq!(Decode::new().decode_until_stable_append("/%252525%2541%zz", &mut out), 3);
    /// assert_eq!(out, b"/%A%zz");
    ///
    /// let lines = Decode::new().keep(ByteSet::EMPTY.add(b"\r\n"));
    /// out.clear();
    /// assert_eq!(lines.decode_until_stable_append("a%25250Ab", &mut out), 2);
    /// assert_eq!(out, b"a%0Ab");
    /// ```
    pub fn decode_until_stable_append(
        &self,
        input: &(impl AsRef<[u8]> + ?Sized),
        out: &mut Vec<u8>,
    ) -> usize {
        let input = input.as_ref();
        let start = out.len();
        if !self.core.changes(input) {
            out.extend_from_slice(input);
            return 0;
        }
        self.decode_append(input, out);
        let mut layers = 1;
        while layers < PASSES && self.core.changes(&out[start..]) {
            let len = self.decode_in_place(&mut out[start..]);
            out.truncate(start + len);
            layers += 1;
        }
        if layers == PASSES && self.core.changes(&out[start..]) {
            let (len, more) = self.collapse(&mut out[start..]);
            out.truncate(start + len);
            layers += more;
        }
        layers
    }

    /// `input`, decoded again and again until nothing changes: borrowed, without an allocation, when nothing changes at
    /// all. See [`Decode::decode_until_stable_append`].
    ///
    /// ```
    /// use simdpct::{ByteSet, Decode};
    /// let lines = Decode::new().keep(ByteSet::from_bytes(b"\r\n"));
    /// assert_eq!(&*lines.decode_until_stable("a%252562%250A"), b"ab%0A");
    /// ```
    #[must_use]
    pub fn decode_until_stable<'a>(&self, input: &'a (impl AsRef<[u8]> + ?Sized)) -> Cow<'a, [u8]> {
        let input = input.as_ref();
        if !self.core.changes(input) {
            return Cow::Borrowed(input);
        }
        let mut out = Vec::new();
        self.decode_until_stable_append(input, &mut out);
        Cow::Owned(out)
    }

    /// Takes all layers off `bytes` in one pass, where they lie; returns the length of the result and the number
    /// of layers.
    ///
    /// A byte that has been written can change only as part of an escape that what follows completes. So what may
    /// change is an end of the form (`%` or `%` and a digit) repeated; everything before is settled.
    fn collapse(&self, bytes: &mut [u8]) -> (usize, usize) {
        // For each `%` of that end: in how many layers it, or its digit, came to light.
        let mut open: Vec<u32> = Vec::new();
        let (mut read, mut written, mut layers) = (0, 0, 0);
        while read < bytes.len() {
            if open.is_empty() {
                let rest = &bytes[read..];
                let plain = if self.core.job.plus() {
                    memchr::memchr2(b'%', b'+', rest)
                } else {
                    memchr::memchr(b'%', rest)
                };
                let plain = plain.unwrap_or(rest.len());
                bytes.copy_within(read..read + plain, written);
                read += plain;
                written += plain;
                if read == bytes.len() {
                    break;
                }
            }
            let (mut byte, mut layer) = (bytes[read], 0);
            read += 1;
            loop {
                match (byte, hex::digit(byte), open.last().copied()) {
                    (b'%', ..) => open.push(layer),
                    (b'+', ..) if self.core.job.plus() => {
                        byte = b' ';
                        layers = layers.max(layer.saturating_add(1));
                        open.clear();
                    }
                    (_, Some(low), Some(last)) => {
                        let layer_of_both = layer.max(last);
                        if let Some(high) = hex::digit(bytes[written - 1]) {
                            let value = high << 4 | low;
                            if !self.core.job.stays(value) {
                                open.pop();
                                written -= 2;
                                byte = value;
                                layer = layer_of_both.saturating_add(1);
                                layers = layers.max(layer);
                                continue;
                            }
                            let spelling = [bytes[written - 1], byte];
                            if self.core.job.upper
                                && spelling != spelling.map(|digit| digit.to_ascii_uppercase())
                            {
                                bytes[written - 1].make_ascii_uppercase();
                                byte.make_ascii_uppercase();
                                layers = layers.max(layer_of_both.saturating_add(1));
                            }
                            open.clear();
                        } else if let Some(last) = open.last_mut() {
                            *last = layer_of_both;
                        }
                    }
                    _ => open.clear(),
                }
                bytes[written] = byte;
                written += 1;
                break;
            }
        }
        (written, layers as usize)
    }
}

/// Decodes `input` again and again until nothing changes, in linear time: [`Decode::decode_until_stable_append`].
///
/// This is for looking at what an attacker wraps up, and for canonical forms that are defined so. It is not a
/// decoding: `100%2525` that was meant as `100%25` becomes `100%`.
///
/// The result is borrowed, without an allocation, when nothing changes.
///
/// ```
/// assert_eq!(&*simdpct::decode_until_stable("/%25%32%35"), b"/%");
/// assert_eq!(&*simdpct::decode_until_stable("%2525252525252e"), b".");
/// ```
#[must_use]
pub fn decode_until_stable(input: &(impl AsRef<[u8]> + ?Sized)) -> Cow<'_, [u8]> {
    Decode::new().decode_until_stable(input)
}
