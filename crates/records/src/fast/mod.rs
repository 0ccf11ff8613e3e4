//! Finds the escapes in one value of many records at once, so that they can be decoded with one call. A sweep passes only records that the
//! reader of the syntax would read in the same way; it ends before the first other one.

mod delimited;
pub(crate) mod masks;
mod requests;
mod rows;
mod shapes;

use simdpct::Tier;

use self::delimited::Delimited;
use self::requests::Requests;
use self::shapes::Shapes;
use crate::escaping::Escaping;
use crate::logs::Log;
use crate::place::{Fence, Fields, Place};
use crate::separator::Separator;

pub use self::masks::{mark_bytes, mark_rows};
pub use self::rows::{RowMarks, RowScan};

/// The maximum number of bytes that one call of [`Sweep::next`] handles. They stay in the first-level cache with their masks and
/// their result.
const WINDOW: usize = 8 * 1024;

/// Finds the `%` of one value in many records at once. Records end in line feeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    kind: Kind,
    /// The bytes whose escapes stay; see [`Sweep::kept`].
    kept: Fence,
    special: Fence,
}

#[derive(Clone, Debug)]
enum Kind {
    Delimited(Box<Delimited>),
    Requests(Box<Requests>),
    Shapes(Box<Shapes>),
}

impl Sweep {
    /// Selects field number `before`, from 0. `beside` says that fields are listed for new ones beside them.
    pub(crate) fn delimited(separator: Separator, before: usize, place: &Place) -> Sweep {
        let kind = Kind::Delimited(Box::new(Delimited::new(separator, before, false)));
        Sweep::new(kind, place.refused(), Fence::NONE)
    }

    /// Selects column number `before`, from 0, of a table whose cells without quotes cannot have the bytes of `special`.
    #[doc(hidden)]
    pub fn table(delimiter: u8, before: usize, special: Fence, is_beside: bool) -> Sweep {
        let mut delimited = Delimited::new(Separator::Byte(delimiter), before, true);
        delimited.lists_fields = is_beside;
        Sweep::new(Kind::Delimited(Box::new(delimited)), Fence::NONE, special)
    }

    /// Selects strings of JSON documents.
    pub(crate) fn json(escaping: Escaping) -> Sweep {
        let place = Place::new(0..0, 0, escaping, Fence::NONE);
        Sweep::new(Kind::Shapes(Box::new(Shapes::new())), place.refused(), place.respelt())
    }

    /// Selects the fields `fields` of an access log.
    pub(crate) fn requests(log: Log, fields: Fields) -> Option<Sweep> {
        let place = Place::new(0..0, 0, log.escaping(), Fence::REQUEST);
        let kind = Kind::Requests(Box::new(Requests::new(log, fields)?));
        Some(Sweep::new(kind, place.refused(), place.respelt()))
    }

    fn new(kind: Kind, kept: Fence, special: Fence) -> Sweep {
        Sweep { kind, kept, special }
    }

    /// Uses the instructions of `tier`.
    #[doc(hidden)]
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Sweep {
        match &mut self.kind {
            Kind::Delimited(delimited) => delimited.tier = tier,
            Kind::Requests(requests) => requests.tier = tier,
            Kind::Shapes(shapes) => shapes.tier = tier,
        }
        self
    }

    /// Returns the bytes whose escapes stay in a value, because the record cannot have these bytes there.
    pub fn kept(&self) -> Fence {
        self.kept
    }

    /// Returns the bytes that the record has in another spelling. A record in which an escape of one of them is decoded must be read by
    /// itself, unless [`Sweep::spell`] knows the spelling.
    pub fn special(&self) -> Fence {
        self.special
    }

    /// Returns the spelling of `byte`, which is one of [`Sweep::special`], if it is the same in every value.
    pub fn spell(&self, byte: u8) -> Option<Vec<u8>> {
        let Kind::Requests(requests) = &self.kind else { return None };
        requests.log.escaping().spell(byte)
    }

    /// Reports whether new records must be valid UTF-8 if the old ones are.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Shapes(_))
    }

    /// Reports whether records without a `%` are passed unread, although the reader may not accept them.
    pub fn skips_unread(&self) -> bool {
        matches!(self.kind, Kind::Shapes(_))
    }

    /// Finds the escapes in the first records of `bytes` from `start` on, at most `most` bytes of them. Returns the length of these
    /// records, which is 0 if the first one is too long or must be read by itself. See [`Sweep::chosen`] for the result. `marks` are those of
    /// `bytes`, if there are any.
    pub fn next(&mut self, bytes: &[u8], start: usize, most: usize, marks: Option<&RowMarks>) -> usize {
        let window = &bytes[start..bytes.len().min(start.saturating_add(most.min(WINDOW)))];
        match &mut self.kind {
            Kind::Delimited(delimited) => delimited.next(window, marks.map(|marks| (marks, start))),
            Kind::Requests(requests) => requests.next(window),
            Kind::Shapes(shapes) => shapes.next(window),
        }
    }

    /// Returns the places of the escapes that [`Sweep::next`] has found: for each byte a bit, set for each `%` in the selected
    /// value. Also returns the number of the first byte's bit.
    pub fn chosen(&self) -> (&[u64], usize) {
        match &self.kind {
            Kind::Delimited(delimited) => (&delimited.chosen, delimited.shift),
            Kind::Requests(requests) => (&requests.chosen, 0),
            Kind::Shapes(shapes) => (&shapes.chosen, 0),
        }
    }

    /// Returns the places of the wanted field in each record that has it, if new values go beside the old ones: where it begins, and where it
    /// ends. The places count from the first bit of [`Sweep::chosen`].
    pub fn fields(&self) -> Option<&[[usize; 2]]> {
        match &self.kind {
            Kind::Delimited(delimited) if delimited.lists_fields => Some(&delimited.fields),
            _ => None,
        }
    }

    /// Learns from `record`, the one at which [`Sweep::next`] has ended, which the reader has read without an error. Its values are at `places`.
    pub fn learn(&mut self, record: &[u8], places: &[Place]) {
        if let Kind::Shapes(shapes) = &mut self.kind {
            shapes.learn(record, places);
        }
    }
}
