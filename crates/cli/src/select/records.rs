//! Rewrites the values of records by a [`Syntax`], which finds them, reads them and writes them back.

use simdpct::{ByteSet, Encode};
use simdpct_records::{Escaping, Fence, Marks, Place, Syntax, Unreadable};

use super::edit::Form;
use super::pass::Pass;
use crate::ground::escape::to_text;
use crate::ground::reason::Reason;
use crate::value::policy::{Action, At, Treat};

/// The format of records, as far as messages and shortcuts depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Logfmt,
}

/// The selected values of records.
#[derive(Clone)]
pub struct Places {
    syntax: Syntax,
    pub format: Format,
    /// The places of the values of the current record.
    found: Vec<Place>,
    /// The bytes that stay escaped in a value, for each kind of place that was seen.
    kept: Vec<(Around, ByteSet)>,
    /// Buffers for the old value, the new value and the text that is written.
    old: Vec<u8>,
    new: Vec<u8>,
    text: Vec<u8>,
}

/// What decides which bytes a value cannot have.
type Around = (Fence, [Escaping; 3], Marks);

impl Places {
    /// Selects the values that `syntax` finds.
    pub fn new(syntax: Syntax, format: Format) -> Places {
        let (old, new, text) = (Vec::new(), Vec::new(), Vec::new());
        Places { syntax, format, found: Vec::new(), kept: Vec::new(), old, new, text }
    }

    /// Returns the type and name of value number `index`.
    pub fn name(&self, index: usize) -> (&'static str, String) {
        (self.syntax.noun(), self.syntax.names().swap_remove(index))
    }

    /// Returns the number of selected values.
    pub fn count(&self) -> usize {
        self.syntax.names().len()
    }

    /// Reports whether `record`, which contains no escape, seems to be readable.
    pub fn looks_readable(&self, record: &[u8]) -> bool {
        self.syntax.seems_readable(record)
    }

    /// Returns the message that no record has value number `index`. `line` is the word for a record, with `no` before it.
    pub fn missing(&self, index: usize, line: &str) -> String {
        let (_, name) = self.name(index);
        match self.format {
            Format::Logfmt => format!("{line} has the key '{name}'"),
        }
    }

    /// Rewrites the values of one record. A record that cannot be read as a whole stays as it is; its values are only checked.
    pub fn rewrite(&mut self, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let record = pass.record;
        self.found.clear();
        let result = self.syntax.find(record.bytes(), &mut self.found);
        let unreadable = result.err().map(|Unreadable { offset, reason }| (offset, Reason::Record(reason)));
        if unreadable.is_none() || pass.edit.form() == Form::Nothing {
            for number in 0..self.found.len() {
                let action = self.value(number, pass);
                if action != Action::Write {
                    return action;
                }
            }
        }
        match unreadable {
            Some((offset, reason)) => pass.unreadable(record.start + offset, reason),
            None => {
                pass.report.stats.searched = true;
                Action::Write
            }
        }
    }

    /// Rewrites value number `number` of the record.
    fn value(&mut self, number: usize, pass: &mut Pass<'_, '_, impl Treat>) -> Action {
        let Places { found, kept, old, new, text, .. } = self;
        let (record, place) = (pass.record, &found[number]);
        let (bytes, start) = (record.bytes(), record.start);
        pass.report.stats.find(place.index);
        let is_whole = pass.edit.form() == Form::Whole;
        let value = match place.value(bytes, old) {
            Ok(value) => value,
            Err(offset) => {
                let whole = place.whole();
                let range = start + whole.start..start + whole.end;
                let reason = Reason::Record(simdpct_records::Reason::ESCAPE);
                return pass.unreadable_value(place.index, start + offset, reason, range, "");
            }
        };
        new.clear();
        // Without text around the value, no byte can be mistaken for a part of it.
        let kept = is_whole.then(|| kept_at(place, kept));
        let at = At { index: place.index, kind: place.kind, kept };
        let origin = |offset| start + place.origin(bytes, offset);
        let action = pass.treatment.value(at, value, new, record, pass.report, origin);
        if action != Action::Write {
            return action;
        }
        let (from, to) = (start + place.range.start, start + place.range.end);
        let is_changed = new != value;
        if pass.edit.write_bare(place.index, from, to, new) || !is_whole {
            if is_changed {
                pass.edit.change();
            }
        } else if is_changed && put(place, bytes, new, text) && text != place.raw(bytes) {
            pass.edit.change();
            pass.edit.copy_to(from).extend_from_slice(text);
            pass.edit.skip_to(to);
        }
        Action::Write
    }
}

/// Returns the bytes that stay escaped in the value at `place`. `known` has those of the places before it.
fn kept_at(place: &Place, known: &mut Vec<(Around, ByteSet)>) -> ByteSet {
    let around = (place.fence, place.escapings, place.marks);
    if let Some((_, kept)) = known.iter().find(|(other, _)| *other == around) {
        return *kept;
    }
    let kept = set_of(place.refused());
    known.push((around, kept));
    kept
}

/// Returns the bytes of `fence`.
fn set_of(fence: Fence) -> ByteSet {
    ByteSet::from_bytes(&fence.bytes().collect::<Vec<_>>())
}

/// Writes the value `new` into `text` as it must be spelt at `place` of `record`. The bytes that the record cannot have there are
/// percent-encoded, and then also those that are not UTF-8. Returns false if the value still cannot be written.
fn put(place: &Place, record: &[u8], new: &[u8], text: &mut Vec<u8>) -> bool {
    let mut write = |value: &[u8]| {
        text.clear();
        place.write(record, value, text).is_ok()
    };
    if write(new) {
        return true;
    }
    let mut escaped = Vec::new();
    Encode::keeping(set_of(place.refused()).complement()).encode_append(new, &mut escaped);
    write(&escaped) || write(to_text(&escaped).as_bytes())
}
