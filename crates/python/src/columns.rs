//! Verbs on columns: ranges of rows, on all cores, without the interpreter.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use codec::batch::{Column, ColumnBuf, Offset, TooLong};
use codec::{AsciiSet, Decode, Encode, OnInvalidUtf8};
use uri::canon::Profile;

use crate::arrow::{BYTES, Bits, Buffer, Input, Layout, Part, Type, VIEWS, Validity, Values, View, viewed};

/// Rows that are worked on at a time, by one thread, and that make a part of the result.
pub(crate) const ROWS: usize = 1 << 16;

/// What is done with a row that is wrong: a malformed escape, what is not UTF-8 when decoded, a URL that a profile refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnWrong {
    /// What urllib does: a malformed escape stays, and what is not UTF-8 becomes U+FFFD.
    Replace,
    /// It stays as it is; where only some escapes are not UTF-8, these.
    Keep,
    Null,
    Strict,
}

impl OnWrong {
    const NAMES: [(&'static str, OnWrong); 4] = [
        ("replace", OnWrong::Replace),
        ("keep", OnWrong::Keep),
        ("null", OnWrong::Null),
        ("strict", OnWrong::Strict),
    ];

    /// By the name that Python has for it, as the argument `errors`.
    pub(crate) fn find(name: &str) -> Option<OnWrong> {
        OnWrong::NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Encode(Encode<AsciiSet>),
    Decode(Decode, OnWrong),
    Normalize(OnWrong),
    Canonicalize(Profile, OnWrong),
    /// Whether each row is malformed, as a column of bits.
    Malformed,
}

impl Verb {
    /// The type of its results.
    pub(crate) fn class(self, input: Type) -> Type {
        match self {
            Verb::Malformed => Type { layout: Layout::Bool, text: false },
            _ => input,
        }
    }
}

/// Why there is no result.
pub(crate) enum Failure {
    /// A row is wrong, and that is to be an error.
    Row(usize, String),
    /// A row is longer than offsets of 32 bits can say.
    TooLong(usize),
    /// A view is outside of its buffers, or offsets are not in order.
    Broken(usize),
}

impl Failure {
    fn at(self, start: usize) -> Failure {
        match self {
            Failure::Row(row, why) => Failure::Row(start + row, why),
            Failure::TooLong(row) => Failure::TooLong(start + row),
            Failure::Broken(row) => Failure::Broken(start + row),
        }
    }
}

impl From<TooLong> for Failure {
    fn from(wrong: TooLong) -> Failure {
        Failure::TooLong(wrong.index)
    }
}

/// A range of rows of a chunk.
#[derive(Clone)]
struct Piece<'a> {
    values: &'a Values<'a>,
    validity: Option<Bits<'a>>,
    rows: Range<usize>,
    text: bool,
}

/// Passes the rows to a verb of columns, or to one of slices.
macro_rules! run {
    ($piece:expr, $column:ident => $with_column:expr, $slices:ident => $with_slices:expr) => {{
        let piece: &Piece<'_> = $piece;
        let offsets = piece.rows.start..piece.rows.end + 1;
        let broken = |wrong: codec::batch::InvalidOffsets| Failure::Broken(wrong.index);
        match piece.values {
            _ if piece.rows.is_empty() => Ok(()),
            Values::Small(bytes, all) => {
                let $column = Column::new(bytes, &all[offsets]).map_err(broken)?;
                $with_column
            }
            Values::Large(bytes, all) => {
                let $column = Column::new(bytes, &all[offsets]).map_err(broken)?;
                $with_column
            }
            Values::View(buffers, views) => {
                let outside = Cell::new(None);
                let $slices = views[piece.rows.clone()].iter().enumerate().map(|(row, view)| {
                    if !piece.is_valid(row) {
                        return None;
                    }
                    let value = viewed(view, buffers);
                    if value.is_none() {
                        outside.set(Some(row));
                    }
                    value
                });
                let result = $with_slices;
                if let Some(row) = outside.get() {
                    return Err(Failure::Broken(row));
                }
                result
            }
        }
    }};
}

impl<'a> Piece<'a> {
    #[inline(always)]
    fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|bits| bits.get(self.rows.start + row))
    }

    /// The bytes of a row; of a null, any.
    fn value(&self, row: usize) -> &'a [u8] {
        let row = self.rows.start + row;
        match self.values {
            Values::Small(bytes, offsets) => &bytes[offsets[row] as usize..offsets[row + 1] as usize],
            Values::Large(bytes, offsets) => &bytes[offsets[row] as usize..offsets[row + 1] as usize],
            Values::View(buffers, views) => viewed(&views[row], buffers).unwrap_or_default(),
        }
    }

    /// How many bytes the rows have; of views, as they say.
    fn size(&self) -> usize {
        let Range { start, end } = self.rows;
        match self.values {
            _ if self.rows.is_empty() => 0,
            Values::Small(_, offsets) => (offsets[end] - offsets[start]) as usize,
            Values::Large(_, offsets) => (offsets[end] - offsets[start]) as usize,
            Values::View(buffers, views) => {
                // Nulls may say anything.
                let most = buffers.iter().map(|buffer| buffer.len()).sum::<usize>() + 12 * self.rows.len();
                views[start..end].iter().map(|view| view[0] as u32 as usize).sum::<usize>().min(most)
            }
        }
    }

    fn encode<O: Offset>(&self, encoder: Encode<AsciiSet>) -> Result<Made<O>, Failure> {
        let size = self.size();
        let mut out = room(self.rows.len(), size + size / 2);
        run!(self, column => encoder.encode_column(column, &mut out), slices => encoder.encode_slices(slices, &mut out))?;
        Ok(Made { column: out, nulls: Vec::new() })
    }

    /// Also normalizes; then what was text is still text.
    fn decode<O: Offset>(&self, decoder: Decode, on_wrong: OnWrong, check: bool) -> Result<Made<O>, Failure> {
        let mut out = room(self.rows.len(), self.size());
        if matches!(on_wrong, OnWrong::Replace | OnWrong::Keep) {
            run!(self, column => decoder.decode_column(column, &mut out), slices => decoder.decode_slices(slices, &mut out))?;
            if !check {
                return Ok(Made { column: out, nulls: Vec::new() });
            }
            let how =
                if on_wrong == OnWrong::Keep { OnInvalidUtf8::Keep } else { OnInvalidUtf8::Replace };
            let instead = |row| {
                let text = self.is_valid(row).then(|| decoder.decode_utf8_with(self.value(row), how));
                text.unwrap_or_default().into_owned().into_bytes()
            };
            let replaced = out.as_column().invalid_utf8().map(|row| (row, instead(row))).collect();
            return Ok(Made { column: patched(out, replaced)?, nulls: Vec::new() });
        }
        let (strict, mut wrong) = (decoder.strict(), Vec::new());
        let mut first: Option<(usize, String)> = None;
        let mut refused = |row, why: codec::MalformedEscape| {
            if self.is_valid(row) {
                wrong.push(row);
                if on_wrong == OnWrong::Strict && first.is_none() {
                    first = Some((row, why.to_string()));
                }
            }
        };
        run!(
            self,
            column => strict.decode_column(column, &mut out, &mut refused),
            slices => strict.decode_slices(slices, &mut out, &mut refused)
        )?;
        let invalid: Vec<usize> = if check { out.as_column().invalid_utf8().collect() } else { Vec::new() };
        if on_wrong == OnWrong::Strict {
            if let Some(&row) = invalid.iter().find(|row| self.is_valid(**row))
                && first.as_ref().is_none_or(|(before, _)| row < *before)
            {
                let why = decoder
                    .decode_utf8(self.value(row))
                    .map_or_else(|why| why.to_string(), |_| String::new());
                first = Some((row, why));
            }
            if let Some((row, why)) = first {
                return Err(Failure::Row(row, why));
            }
        }
        wrong.extend(invalid.iter().filter(|row| self.is_valid(**row)));
        let replaced = invalid.into_iter().map(|row| (row, Vec::new())).collect();
        Ok(Made { column: patched(out, replaced)?, nulls: wrong })
    }

    fn canonicalize<O: Offset>(&self, profile: Profile, on_wrong: OnWrong) -> Result<Made<O>, Failure> {
        let mut made = Made { column: room(self.rows.len(), self.size()), nulls: Vec::new() };
        for row in 0..self.rows.len() {
            if !self.is_valid(row) {
                made.column.push(b"")?;
                continue;
            }
            let value = self.value(row);
            let form = match profile.canonicalize(value) {
                // The form of text is text, but for a profile that decodes without escaping again.
                Ok(form) if !self.text || std::str::from_utf8(&form).is_ok() => Ok(form),
                Ok(_) => Err("its form is not UTF-8".to_owned()),
                Err(why) => Err(why.to_string()),
            };
            match (form, on_wrong) {
                (Ok(form), _) => made.column.push(&form)?,
                (Err(_), OnWrong::Keep | OnWrong::Replace) => made.column.push(value)?,
                (Err(why), OnWrong::Strict) => return Err(Failure::Row(row, why)),
                (Err(_), OnWrong::Null) => {
                    made.column.push(b"")?;
                    made.nulls.push(row);
                }
            }
        }
        Ok(made)
    }

    /// Bits of the rows that are malformed.
    fn malformed(&self) -> Result<Part, Failure> {
        let Made { nulls, column } = self.decode::<i64>(Decode::new(), OnWrong::Null, self.text)?;
        BYTES.give(column.into_parts().0);
        let mut bits = vec![0; self.rows.len().div_ceil(8)];
        for row in nulls {
            bits[row / 8] |= 1 << (row % 8);
        }
        Ok(Part {
            len: self.rows.len(),
            validity: self.validity_without(&[]),
            buffers: vec![Buffer::Bytes(bits)],
        })
    }

    /// The validity of the rows, if some are null, and how many: those that were, and `nulls`.
    fn validity_without(&self, nulls: &[usize]) -> Validity {
        if self.validity.is_none() && nulls.is_empty() {
            return None;
        }
        let rows = self.rows.len();
        let mut bits = match self.validity {
            Some(bits) => bits.copy(self.rows.clone()),
            None => {
                let mut bits = vec![0xFF; rows.div_ceil(8)];
                if !rows.is_multiple_of(8) {
                    *bits.last_mut()? = (1 << (rows % 8)) - 1;
                }
                bits
            }
        };
        for row in nulls {
            bits[row / 8] &= !(1 << (row % 8));
        }
        let valid: usize = bits.iter().map(|byte| byte.count_ones() as usize).sum();
        Some((bits, rows - valid))
    }

    fn part<O: Offset>(&self, verb: Verb) -> Result<(usize, Validity, ColumnBuf<O>), Failure> {
        let made = match verb {
            Verb::Encode(encoder) => self.encode(encoder),
            Verb::Decode(decoder, on_wrong) => self.decode(decoder, on_wrong, self.text),
            // Only unreserved bytes are decoded.
            Verb::Normalize(on_wrong) => self.decode(Decode::NORMALIZE, on_wrong, false),
            Verb::Canonicalize(profile, on_wrong) => self.canonicalize(profile, on_wrong),
            // A row is null where it would be malformed; `malformed` makes bits of it.
            Verb::Malformed => self.decode(Decode::new(), OnWrong::Null, self.text),
        }?;
        Ok((self.rows.len(), self.validity_without(&made.nulls), made.column))
    }

    /// Appends the parts of these rows to `out`: one, if it is not longer than its type can say.
    fn work(&self, verb: Verb, layout: Layout, out: &mut Vec<Arc<Part>>) -> Result<(), Failure> {
        let part = match (verb, layout) {
            (Verb::Malformed, _) => self.malformed(),
            (_, Layout::Large) => self.part::<i64>(verb).map(|(len, validity, column)| {
                let (bytes, offsets) = column.into_parts();
                Part { len, validity, buffers: vec![Buffer::LongOffsets(offsets), Buffer::Bytes(bytes)] }
            }),
            (_, Layout::View) => self.part::<i32>(verb).map(|(len, validity, column)| {
                let views = views_of(&column);
                let (bytes, _) = column.into_parts();
                let lens = vec![bytes.len().cast_signed() as i64];
                Part {
                    len,
                    validity,
                    buffers: vec![Buffer::Views(views), Buffer::Bytes(bytes), Buffer::LongOffsets(lens)],
                }
            }),
            (_, Layout::Small | Layout::Bool) => self.part::<i32>(verb).map(|(len, validity, column)| {
                let (bytes, offsets) = column.into_parts();
                Part { len, validity, buffers: vec![Buffer::Offsets(offsets), Buffer::Bytes(bytes)] }
            }),
        };
        match part {
            Ok(part) => out.push(Arc::new(part)),
            Err(Failure::TooLong(_)) if self.rows.len() > 1 => {
                let half = self.rows.len() / 2;
                let middle = self.rows.start + half;
                let (first, second) = (self.rows.start..middle, middle..self.rows.end);
                Piece { rows: first, ..self.clone() }.work(verb, layout, out)?;
                Piece { rows: second, ..self.clone() }.work(verb, layout, out).map_err(|why| why.at(half))?;
            }
            Err(why) => return Err(why),
        }
        Ok(())
    }
}

/// A column, and rows of it that are null and were not.
struct Made<O> {
    column: ColumnBuf<O>,
    nulls: Vec<usize>,
}

/// The column with some rows replaced, which are in order.
fn patched<O: Offset>(
    column: ColumnBuf<O>,
    replaced: Vec<(usize, Vec<u8>)>,
) -> Result<ColumnBuf<O>, TooLong> {
    if replaced.is_empty() {
        return Ok(column);
    }
    let mut out = room(column.len(), column.bytes().len());
    let mut replaced = replaced.into_iter().peekable();
    for (row, value) in column.iter().enumerate() {
        match replaced.next_if(|(wrong, _)| *wrong == row) {
            Some((_, value)) => out.push(&value)?,
            None => out.push(value)?,
        }
    }
    BYTES.give(column.into_parts().0);
    Ok(out)
}

/// An empty column with room for so many values and bytes.
fn room<O: Offset>(values: usize, bytes: usize) -> ColumnBuf<O> {
    let mut offsets = ColumnBuf::<O>::with_capacity(values, 0).into_parts().1;
    offsets.reserve(values);
    // One offset, of nothing, is a column.
    ColumnBuf::from_parts(BYTES.take(bytes), offsets)
        .unwrap_or_else(|_| ColumnBuf::with_capacity(values, bytes))
}

/// The views of a column whose bytes are the first buffer.
fn views_of(column: &ColumnBuf<i32>) -> Vec<View> {
    let (bytes, offsets) = (column.bytes(), column.offsets());
    let view = |(start, end): (&i32, &i32)| {
        let value = &bytes[*start as usize..*end as usize];
        let len = value.len() as u64;
        let mut first = [0; 16];
        if let Some(prefix) = value.first_chunk::<4>().filter(|_| len > 12) {
            return [len | u64::from(u32::from_le_bytes(*prefix)) << 32, (*start as u64) << 32];
        }
        first[4..4 + value.len()].copy_from_slice(value);
        let [low, high] = [first.first_chunk::<8>(), first.last_chunk::<8>()];
        let word = |half: Option<&[u8; 8]>| u64::from_le_bytes(*half.unwrap_or(&[0; 8]));
        [len | word(low), word(high)]
    };
    let mut views = VIEWS.take(column.len());
    views.extend(offsets.iter().zip(&offsets[1..]).map(view));
    views
}

/// A column as a verb makes it.
pub(crate) struct Output {
    pub(crate) class: Type,
    pub(crate) parts: Vec<Arc<Part>>,
}

/// Applies a verb to each row, on up to `threads` threads.
pub(crate) fn apply(input: &Input, verb: Verb, threads: Option<NonZero<usize>>) -> Result<Output, Failure> {
    let class = verb.class(input.class);
    // Chunks are checked when they come.
    let chunks: Vec<_> = input
        .chunks
        .iter()
        .filter_map(|chunk| Some((chunk.values().ok()?, chunk.validity().ok()?, chunk.len)))
        .collect();
    let mut pieces = Vec::new();
    let mut start = 0;
    for (values, validity, len) in &chunks {
        for first in (0..*len).step_by(ROWS) {
            let rows = first..(first + ROWS).min(*len);
            pieces.push((start + first, Piece { values, validity: *validity, rows, text: input.class.text }));
        }
        start += len;
    }
    let work = |(start, piece): &(usize, Piece<'_>)| {
        let mut parts = Vec::new();
        piece.work(verb, class.layout, &mut parts).map(|()| parts).map_err(|why| why.at(*start))
    };
    let threads =
        threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get).min(pieces.len());
    let mut done: Vec<Result<Vec<Arc<Part>>, Failure>> = Vec::with_capacity(pieces.len());
    if threads < 2 {
        for piece in &pieces {
            done.push(work(piece));
            if done.last().is_some_and(Result::is_err) {
                break;
            }
        }
    } else {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(pieces.len()));
        let run = || {
            while let Some((index, piece)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                pieces.get(index).map(|piece| (index, piece))
            } {
                let result = work(piece);
                let failed = result.is_err();
                if let Ok(mut results) = results.lock() {
                    results.push((index, result));
                }
                if failed {
                    // Pieces before this one are taken already; those after it need not be.
                    next.store(pieces.len(), Ordering::Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            // This thread is one of them. Where a thread cannot be had, the others do its work.
            for _ in 1..threads {
                let _ = thread::Builder::new().name("simdpct".to_owned()).spawn_scoped(scope, run);
            }
            run();
        });
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by_key(|(index, _)| *index);
        done.extend(results.into_iter().map(|(_, result)| result));
    }
    let mut parts = Vec::with_capacity(done.len());
    for result in done {
        parts.extend(result?);
    }
    Ok(Output { class, parts })
}

/// The bytes of a row; of a null or a row that is not there, any.
pub(crate) fn value(input: &Input, row: usize) -> Vec<u8> {
    let mut row = row;
    for chunk in &input.chunks {
        if row < chunk.len {
            return chunk.values().map_or_else(
                |_| Vec::new(),
                |values| {
                    let rows = row..row + 1;
                    Piece { values: &values, validity: None, rows, text: input.class.text }.value(0).to_vec()
                },
            );
        }
        row -= chunk.len;
    }
    Vec::new()
}

/// A part of `len` nulls.
pub(crate) fn nulls(class: Type, len: usize) -> Part {
    let bits = || vec![0; len.div_ceil(8)];
    let buffers = match class.layout {
        Layout::Bool => vec![Buffer::Bytes(bits())],
        Layout::View => vec![Buffer::Views(vec![[0; 2]; len]), Buffer::LongOffsets(Vec::new())],
        Layout::Small => vec![Buffer::Offsets(vec![0; len + 1]), Buffer::Bytes(Vec::new())],
        Layout::Large => vec![Buffer::LongOffsets(vec![0; len + 1]), Buffer::Bytes(Vec::new())],
    };
    Part { len, validity: (len > 0).then(|| (bits(), len)), buffers }
}

/// All parts as one; `None` if offsets of 32 bits cannot say where its values end.
pub(crate) fn joined(class: Type, parts: &[Arc<Part>]) -> Option<Arc<Part>> {
    if let [part] = parts {
        return Some(Arc::clone(part));
    }
    let len = parts.iter().map(|part| part.len).sum();
    let nulls: usize = parts.iter().filter_map(|part| part.validity.as_ref()).map(|(_, nulls)| nulls).sum();
    let validity = (nulls > 0).then(|| {
        let mut bits = BitsBuf::default();
        for part in parts {
            match &part.validity {
                Some((validity, _)) => bits.extend(validity, part.len),
                None => bits.extend(&vec![0xFF; part.len.div_ceil(8)], part.len),
            }
        }
        (bits.bytes, nulls)
    });
    let buffers = match class.layout {
        Layout::Bool => {
            let mut bits = BitsBuf::default();
            for part in parts {
                if let [Buffer::Bytes(values)] = &part.buffers[..] {
                    bits.extend(values, part.len);
                }
            }
            vec![Buffer::Bytes(bits.bytes)]
        }
        Layout::View => {
            let (mut views, mut data, mut lens) = (Vec::with_capacity(len), Vec::new(), Vec::new());
            for part in parts {
                if let [Buffer::Views(some), Buffer::Bytes(bytes), _] = &part.buffers[..] {
                    let number = lens.len() as u64;
                    let long =
                        |view: &View| if view[0] as u32 > 12 { [view[0], view[1] | number] } else { *view };
                    views.extend(some.iter().map(long));
                    lens.push(bytes.len().cast_signed() as i64);
                    data.push(Buffer::Bytes(bytes.clone()));
                }
            }
            let views = std::iter::once(Buffer::Views(views));
            views.chain(data).chain([Buffer::LongOffsets(lens)]).collect()
        }
        Layout::Small | Layout::Large => {
            let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.size()).sum());
            let (mut offsets, mut long_offsets) = (vec![0_i32], vec![0_i64]);
            for part in parts {
                let start = bytes.len();
                match &part.buffers[..] {
                    [Buffer::Offsets(some), Buffer::Bytes(more)] => {
                        i32::try_from(start + more.len()).ok()?;
                        offsets.extend(some[1..].iter().map(|offset| offset + start as i32));
                        bytes.extend_from_slice(more);
                    }
                    [Buffer::LongOffsets(some), Buffer::Bytes(more)] => {
                        long_offsets.extend(some[1..].iter().map(|offset| offset + start as i64));
                        bytes.extend_from_slice(more);
                    }
                    _ => {}
                }
            }
            let offsets = if class.layout == Layout::Large {
                Buffer::LongOffsets(long_offsets)
            } else {
                Buffer::Offsets(offsets)
            };
            vec![offsets, Buffer::Bytes(bytes)]
        }
    };
    Some(Arc::new(Part { len, validity, buffers }))
}

/// Bits that are appended to.
#[derive(Default)]
struct BitsBuf {
    bytes: Vec<u8>,
    len: usize,
}

impl BitsBuf {
    /// Appends the first `count` bits of `bits`.
    fn extend(&mut self, bits: &[u8], count: usize) {
        let shift = self.len % 8;
        for &byte in &bits[..count.div_ceil(8)] {
            if shift == 0 {
                self.bytes.push(byte);
            } else {
                if let Some(last) = self.bytes.last_mut() {
                    *last |= byte << shift;
                }
                self.bytes.push(byte >> (8 - shift));
            }
        }
        self.len += count;
        self.bytes.truncate(self.len.div_ceil(8));
        if !self.len.is_multiple_of(8)
            && let Some(last) = self.bytes.last_mut()
        {
            *last &= (1 << (self.len % 8)) - 1;
        }
    }
}
