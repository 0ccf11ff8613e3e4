//! Finds values of logfmt: `key=value` between blanks, where a value can be quoted.

use simdpct::ByteSet;

use crate::escaping::Escaping;
use crate::place::{CONTROLS, Marks, Place, Reason, Unreadable, unreadable};

/// The bytes that a value without quotes does not have.
const FENCE: ByteSet = CONTROLS.add(b" =\"\\");

/// Appends the places of the values of `keys` in `line` to `places`. After an error, the places before it are correct.
pub(crate) fn find(line: &[u8], keys: &[String], places: &mut Vec<Place>) -> Result<(), Unreadable> {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let word_end = |at: usize, is_end: &dyn Fn(&u8) -> bool| {
        line[at..].iter().position(is_end).map_or(line.len(), |len| at + len)
    };
    let mut at = 0;
    loop {
        let start = word_end(at, &|byte| !is_blank(byte));
        let equals = word_end(start, &|byte| *byte == b'=' || is_blank(byte));
        if equals == line.len() {
            return Ok(());
        }
        at = equals;
        // A word without a value is skipped.
        if line[equals] != b'=' {
            continue;
        }
        let value = equals + 1;
        let key = keys.iter().position(|key| key.as_bytes() == &line[start..equals]);
        let mut place = Place::new(value..value, key.unwrap_or(0), Escaping::None, FENCE);
        if line.get(value) == Some(&b'"') {
            let Some(close) = Escaping::Logfmt.next_quote(line, value + 1) else {
                return unreadable(value, Reason::OPEN_QUOTE);
            };
            if line.get(close + 1).is_some_and(|byte| !is_blank(byte)) {
                return unreadable(close + 1, Reason::TEXT_AFTER_QUOTE);
            }
            place = Place {
                marks: Marks::Quotes,
                ..Place::new(value + 1..close, place.index, Escaping::Logfmt, ByteSet::EMPTY)
            };
            at = close + 1;
        } else {
            at = word_end(value, &is_blank);
            place.range.end = at;
            place.marks = Marks::Optional(Escaping::Logfmt);
        }
        places.extend(key.map(|_| place));
    }
}
