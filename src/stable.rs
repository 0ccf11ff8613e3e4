//! Decoding until nothing changes, in linear time.
//!
//! Repeating the whole decoding would be quadratic: `%252525...` loses two bytes each time. One pass from left to right ends at
//! the same bytes, because the order of the steps does not matter. A step replaces one escape by its byte. Escapes cannot
//! overlap, because `%` is not a digit, so no step prevents another one. Each step makes the text shorter, so every order ends.
//! A system of rules that terminates and whose left sides do not overlap is confluent, so every order ends at the same text.
//! This holds as well if some escapes stay, and for `+`, which cannot be part of an escape.

use alloc::{borrow::Cow, vec::Vec};

use crate::decode::Decode;
use crate::hex;

/// The number of layers that the kernels decode, one pass for each. Few inputs have more.
const PASSES: usize = 3;

impl Decode {
    /// Decodes `input` again and again until nothing changes, and appends the result to `out`. Returns the number of layers,
    /// that is, of decoding passes that change something.
    ///
    /// Kept escapes stay in every layer, and [`Decode::form`] reads each `+` that a layer uncovers as a space. Takes time
    /// and working memory linear in the input, whatever the number of layers.
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

    /// Decodes `input` again and again until nothing changes. The result is borrowed, without an allocation, if
    /// decoding never changes `input`. See [`Decode::decode_until_stable_append`].
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

    /// Removes all layers of `bytes` in one pass, in place. Returns the length of the result and the number of layers.
    ///
    /// A byte of the output can still change only if later input completes an escape with it. So only the end of the output may
    /// change, as far as it consists of `%`, each alone or with one digit. Everything before is final.
    ///
    /// The decoder must not be a normalization that keeps the escapes of `%` and therefore some escapes of digits. After one
    /// pass of such a decoder, nothing changes any more.
    fn collapse(&self, bytes: &mut [u8]) -> (usize, usize) {
        // For each `%` of the part of the output that may still change, the number of the layer that uncovered it or its digit.
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
/// Use it to find text that somebody hid under several layers, and for canonical forms that are defined this way. It loses
/// information: `100%2525`, which was meant as `100%25`, becomes `100%`.
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
