//! What is done to one value.

use simdpct::sets::RFC3986_UNRESERVED;
use simdpct::{BadEscape, ByteSet, Decode, Encode, HexCase, NORMALIZE};

use crate::args;

/// What is done to one value: built from the arguments of encode, decode or normalize.
#[derive(Clone)]
pub struct Work(Verb);

#[derive(Clone)]
enum Verb {
    Encode(Encode<ByteSet>),
    Decode(Decode),
}

/// Why a value was refused; offsets are within the value.
pub enum Refusal {
    /// A `%` that starts no escape.
    Malformed(BadEscape),
    /// What should be text is not UTF-8.
    NotUtf8 {
        /// Where the first invalid sequence starts.
        offset: usize,
    },
}

impl Work {
    /// `pct encode`.
    pub fn encode(args: &args::Encode) -> Work {
        let keep = args.set.set.bytes().union(args.keep);
        let case = if args.lower { HexCase::Lower } else { HexCase::Upper };
        let encode = Encode::new(keep).hex_case(case);
        Work(Verb::Encode(match (args.keep_escapes, args.form) {
            (true, _) => encode.keep_escapes(),
            (_, true) => encode.form(),
            _ => encode,
        }))
    }

    /// `pct decode`, which does not make the octets of `structure`.
    pub fn decode(args: &args::Decode, structure: ByteSet) -> Work {
        let decode = Decode::new().keep(args.keep.union(structure));
        Work(Verb::Decode(if args.form { decode.form() } else { decode }))
    }

    /// `pct normalize`, which does not make the octets of `structure`.
    pub fn normalize(structure: ByteSet) -> Work {
        let reserved = RFC3986_UNRESERVED.bytes().complement();
        Work(Verb::Decode(NORMALIZE.keep(reserved.union(structure))))
    }

    /// Appends what becomes of `value` to `out`; on a refusal `out` is unchanged.
    pub fn apply(&mut self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        match &self.0 {
            Verb::Encode(encode) => {
                if let Err(error) = std::str::from_utf8(value) {
                    return Err(Refusal::NotUtf8 { offset: error.valid_up_to() });
                }
                encode.append(value, out);
            }
            Verb::Decode(decode) => {
                let from = out.len();
                decode.strict().append(value, out).map_err(Refusal::Malformed)?;
                if std::str::from_utf8(&out[from..]).is_err() {
                    out.truncate(from);
                    let offset = match decode.to_utf8(value) {
                        Err(simdpct::DecodeUtf8Error::NotUtf8(error)) => error.offset,
                        _ => 0,
                    };
                    return Err(Refusal::NotUtf8 { offset });
                }
            }
        }
        Ok(())
    }

    /// The same without refusing: malformed escapes stay, octets that are not UTF-8 stay as they are.
    pub fn apply_lenient(&mut self, value: &[u8], out: &mut Vec<u8>) {
        match &self.0 {
            Verb::Encode(encode) => encode.append(value, out),
            Verb::Decode(decode) => {
                let Ok(()) = decode.append(value, out);
            }
        }
    }

    /// Whether it works octet by octet without regard to where values end, so that blocks can be used.
    pub fn is_blockwise(&self) -> bool {
        true
    }
}
