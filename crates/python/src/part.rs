//! The results of functions on columns: parts of a column, each with its values and its validity, in the layouts of Arrow.

use std::mem;
use std::sync::Arc;

use codec::batch::{ColumnBuf, Offset};

use crate::pool::Pool;

/// The pool for the byte buffers of results. A result that is freed returns its buffers to the pool.
pub(crate) static BYTES: Pool<u8> = Pool::new();
pub(crate) static VIEWS: Pool<View> = Pool::new();

/// The Arrow layout in which the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The values as one run of bytes, with offsets of 32 bits into it.
    Small,
    /// The values as one run of bytes, with offsets of 64 bits into it.
    Large,
    /// Views of 16 bytes, which hold a short value or point to a long one in a buffer.
    View,
    /// Booleans as bits. Only results have this layout.
    Bool,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) layout: Layout,
    /// Whether values are UTF-8 (strings) and not arbitrary bytes (binary).
    pub(crate) text: bool,
    pub(crate) shape: Shape,
}

/// The way in which the values of a column are made of texts or other simple values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each value is a simple value.
    Flat,
    /// Each value is a struct of simple values with these names. Only results have this shape.
    Struct(&'static [&'static str]),
    /// Each value is a list: of simple values if there is one name, or else of structs with these names. Only results have this
    /// shape.
    List(&'static [&'static str]),
}

impl Type {
    pub(crate) const fn flat(layout: Layout, text: bool) -> Type {
        Type { layout, text, shape: Shape::Flat }
    }

    /// Returns the names and types of the children of a nested type.
    pub(crate) fn children(self) -> Vec<(&'static str, Type)> {
        let flat = Type::flat(self.layout, self.text);
        match self.shape {
            Shape::Flat => Vec::new(),
            Shape::Struct(names) => names.iter().map(|name| (*name, flat)).collect(),
            Shape::List([_]) => vec![("item", flat)],
            Shape::List(names) => vec![("item", Type { shape: Shape::Struct(names), ..self })],
        }
    }
}

/// A view of a value, as in Arrow. It starts with the length in 32 bits. Up to twelve bytes follow in the view itself. For a
/// longer value, its first four bytes, the index of a buffer and an offset in that buffer follow.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct View([u8; 16]);

impl View {
    const EMPTY: View = View([0; 16]);

    /// Makes the view of `value`, which is at the offset `start` of the buffer with the index `buffer`.
    fn new(value: &[u8], buffer: u32, start: u32) -> View {
        let mut view = View::EMPTY;
        let (head, rest) = view.0.split_at_mut(4);
        head.copy_from_slice(&(value.len() as u32).to_le_bytes());
        match value.first_chunk::<4>().filter(|_| value.len() > rest.len()) {
            None => rest[..value.len()].copy_from_slice(value),
            Some(prefix) => {
                rest[..4].copy_from_slice(prefix);
                rest[4..8].copy_from_slice(&buffer.to_le_bytes());
                rest[8..].copy_from_slice(&start.to_le_bytes());
            }
        }
        view
    }

    /// Makes the view of a part of `whole`: `len` bytes from `start` on. `view` is the view of `whole`.
    #[inline(always)]
    pub(crate) fn of_part(view: View, whole: &[u8], start: usize, len: usize) -> View {
        let Some(head) = whole.get(start..).and_then(<[u8]>::first_chunk::<12>) else {
            // Twelve bytes or more would be left of a longer part.
            return View::new(whole.get(start..start + len).unwrap_or_default(), 0, 0);
        };
        let mut word = [0; 16];
        word[4..].copy_from_slice(head);
        let text = u128::from_le_bytes(word);
        // Both kinds of views are made without a branch, because nobody can predict the length of a part.
        let short = text & (u128::MAX >> (8 * (12 - len.min(12))));
        let place =
            u128::from(view.word(2)) << 64 | u128::from(view.word(3).wrapping_add(start as u32)) << 96;
        let long = text & u128::from(u64::MAX) | place;
        View(((if len > 12 { long } else { short }) | len as u128).to_le_bytes())
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u32 {
        u32::from_le_bytes(self.0.as_chunks().0[index])
    }

    /// Returns the length of the value.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.word(0) as usize
    }

    /// Returns the value, or `None` if the view is outside the buffers.
    #[inline(always)]
    pub(crate) fn value<'a>(&'a self, buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
        let len = self.len();
        if len <= 12 {
            return Some(&self.0[4..4 + len]);
        }
        buffers.get(self.word(2) as usize)?.get(self.word(3) as usize..)?.get(..len)
    }
}

/// A slice of a bitmap, which need not begin at the start of a byte.
#[derive(Clone, Copy)]
pub(crate) struct Bits<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) start: usize,
}

impl<'a> Bits<'a> {
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> bool {
        let at = self.start + index;
        self.bytes[at / 8] >> (at % 8) & 1 != 0
    }

    /// Returns the bits from `start` on.
    pub(crate) fn skip(&self, start: usize) -> Bits<'a> {
        Bits { bytes: self.bytes, start: self.start + start }
    }
}

/// A growable bitmap. The unused bits of its last byte are 0.
#[derive(Default)]
pub(crate) struct BitBuf {
    bytes: Vec<u8>,
    len: usize,
}

impl BitBuf {
    /// Makes a bitmap of `len` bits that all equal `bit`.
    pub(crate) fn of(bit: bool, len: usize) -> BitBuf {
        let mut bits = BitBuf { bytes: vec![if bit { 0xFF } else { 0 }; len.div_ceil(8)], len };
        bits.clear_end();
        bits
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn set(&mut self, index: usize, bit: bool) {
        let mask = 1 << (index % 8);
        if bit { self.bytes[index / 8] |= mask } else { self.bytes[index / 8] &= !mask }
    }

    /// Appends the first `count` bits of `bits`.
    pub(crate) fn extend(&mut self, bits: Bits<'_>, count: usize) {
        let from = &bits.bytes[bits.start / 8..];
        let (skip, shift) = (bits.start % 8, self.len % 8);
        for at in 0..count.div_ceil(8) {
            let pair = u16::from_le_bytes([from[at], from.get(at + 1).copied().unwrap_or(0)]);
            let byte = (pair >> skip) as u8;
            match self.bytes.last_mut().filter(|_| shift != 0) {
                None => self.bytes.push(byte),
                Some(last) => {
                    *last |= byte << shift;
                    self.bytes.push(byte >> (8 - shift));
                }
            }
        }
        self.len += count;
        self.bytes.truncate(self.len.div_ceil(8));
        self.clear_end();
    }

    fn clear_end(&mut self) {
        if let Some(last) = self.bytes.last_mut().filter(|_| !self.len.is_multiple_of(8)) {
            *last &= (1 << (self.len % 8)) - 1;
        }
    }

    pub(crate) fn bits(&self) -> Bits<'_> {
        Bits { bytes: &self.bytes, start: 0 }
    }
}

/// The buffers of a column of views that another library has made.
pub(crate) trait Buffers: Send + Sync {
    /// Returns the buffer with this index, or an empty one if it does not exist.
    fn buffer(&self, index: usize) -> &[u8];
}

/// A buffer of bytes.
#[derive(Clone)]
pub(crate) enum Bytes {
    Owned(Vec<u8>),
    /// The buffer with this index.
    Shared(Arc<dyn Buffers>, usize),
}

impl Bytes {
    pub(crate) fn slice(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(column, index) => column.buffer(*index),
        }
    }
}

/// Views and the buffers that they refer to.
// INVARIANT: each view refers to a value in `buffers`, and `lens` holds the lengths of the buffers.
#[derive(Default)]
pub(crate) struct ViewBuf {
    views: Vec<View>,
    buffers: Vec<Bytes>,
    lens: Vec<i64>,
}

impl ViewBuf {
    /// Makes the views of the values of a column. The bytes of the column become the only buffer.
    pub(crate) fn new(column: ColumnBuf<i32>) -> ViewBuf {
        let mut views = VIEWS.take(column.len());
        let values = column.iter().zip(column.offsets());
        views.extend(values.map(|(value, start)| View::new(value, 0, start.cast_unsigned())));
        let (bytes, _) = column.into_parts();
        ViewBuf { views, lens: vec![bytes.len().cast_signed() as i64], buffers: vec![Bytes::Owned(bytes)] }
    }

    /// Makes a column of views of the `buffers` of an imported column, which they keep alive.
    pub(crate) fn shared(
        views: Vec<View>,
        column: &Arc<impl Buffers + 'static>,
        buffers: &[&[u8]],
    ) -> ViewBuf {
        let lens = buffers.iter().map(|bytes| bytes.len().cast_signed() as i64).collect();
        let buffers = (0..buffers.len()).map(|index| Bytes::Shared(column.clone(), index)).collect();
        ViewBuf { views, buffers, lens }
    }

    pub(crate) fn views(&self) -> &[View] {
        &self.views
    }

    /// Returns the value of a row.
    pub(crate) fn value(&self, row: usize) -> &[u8] {
        let view = &self.views[row];
        if view.len() <= 12 {
            return &view.0[4..4 + view.len()];
        }
        let (buffer, start) = (self.buffers[view.word(2) as usize].slice(), view.word(3) as usize);
        &buffer[start..start + view.len()]
    }

    pub(crate) fn buffers(&self) -> &[Bytes] {
        &self.buffers
    }

    pub(crate) fn lens(&self) -> &[i64] {
        &self.lens
    }

    fn extend(&mut self, other: &ViewBuf) {
        let first = self.buffers.len() as u32;
        self.views.extend(other.views.iter().map(|view| match view.len() {
            0..=12 => *view,
            _ => {
                let mut view = *view;
                let number = view.word(2) + first;
                view.0[8..12].copy_from_slice(&number.to_le_bytes());
                view
            }
        }));
        self.buffers.extend_from_slice(&other.buffers);
        self.lens.extend_from_slice(&other.lens);
    }
}

/// The values of a part, without their validity.
pub(crate) enum Data {
    Small(ColumnBuf<i32>),
    Large(ColumnBuf<i64>),
    View(ViewBuf),
    Bool(BitBuf),
    /// The fields of structs.
    // INVARIANT: there is at least one field, and all have the same length.
    Struct(Vec<Arc<Part>>),
    /// The offsets of lists, one more than lists, and their items.
    // INVARIANT: the offsets are in order, and the last is the number of items.
    List(Vec<i64>, Arc<Part>),
}

impl Data {
    /// Returns the parts of the children of a nested type.
    pub(crate) fn children(&self) -> &[Arc<Part>] {
        match self {
            Data::Struct(fields) => fields,
            Data::List(_, items) => std::slice::from_ref(items),
            _ => &[],
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Data::Small(column) => column.len(),
            Data::Large(column) => column.len(),
            Data::View(views) => views.views.len(),
            Data::Bool(bits) => bits.len,
            Data::Struct(fields) => fields[0].len(),
            Data::List(offsets, _) => offsets.len() - 1,
        }
    }
}

/// A validity bitmap, whose bits are 0 for nulls, and the number of nulls.
pub(crate) struct Validity {
    bits: BitBuf,
    nulls: usize,
}

impl Validity {
    pub(crate) fn new(bits: BitBuf) -> Validity {
        let valid: usize = bits.bytes.iter().map(|byte| byte.count_ones() as usize).sum();
        Validity { nulls: bits.len - valid, bits }
    }
}

/// A part of a column.
// INVARIANT: `validity` has one bit for each value.
pub(crate) struct Part {
    data: Data,
    validity: Option<Validity>,
}

impl Part {
    pub(crate) fn new(data: Data, validity: Option<Validity>) -> Part {
        assert!(validity.as_ref().is_none_or(|validity| validity.bits.len == data.len()));
        Part { data, validity }
    }

    /// Makes a part of `len` nulls.
    pub(crate) fn of_nulls(class: Type, len: usize) -> Part {
        fn empty<O: Offset>(len: usize) -> ColumnBuf<O> {
            let mut column = ColumnBuf::with_capacity(len, 0);
            (0..len).for_each(|_| column.push(b"").expect("a column without bytes is not too long"));
            column
        }
        let children =
            |len| class.children().into_iter().map(move |(_, of)| Arc::new(Part::of_nulls(of, len)));
        let data = match class.layout {
            _ if matches!(class.shape, Shape::Struct(_)) => Data::Struct(children(len).collect()),
            _ if class.shape != Shape::Flat => {
                Data::List(vec![0; len + 1], children(0).next().expect("a list has items"))
            }
            Layout::Small => Data::Small(empty(len)),
            Layout::Large => Data::Large(empty(len)),
            Layout::View => Data::View(ViewBuf { views: vec![View::EMPTY; len], ..ViewBuf::default() }),
            Layout::Bool => Data::Bool(BitBuf::of(false, len)),
        };
        Part::new(data, (len > 0).then(|| Validity::new(BitBuf::of(false, len))))
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn nulls(&self) -> usize {
        self.validity.as_ref().map_or(0, |validity| validity.nulls)
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.validity().is_some_and(|bits| !bits.bits().get(row))
    }

    pub(crate) fn validity(&self) -> Option<&BitBuf> {
        self.validity.as_ref().map(|validity| &validity.bits)
    }

    pub(crate) fn data(&self) -> &Data {
        &self.data
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        match mem::replace(&mut self.data, Data::Bool(BitBuf::default())) {
            Data::Small(column) => BYTES.give(column.into_parts().0),
            Data::Large(column) => BYTES.give(column.into_parts().0),
            Data::View(views) => {
                VIEWS.give(views.views);
                for buffer in views.buffers {
                    if let Bytes::Owned(bytes) = buffer {
                        BYTES.give(bytes);
                    }
                }
            }
            Data::Bool(_) | Data::Struct(_) | Data::List(..) => {}
        }
    }
}

/// Joins the parts of a column into one. Returns `None` if they are too long for offsets of 32 bits.
pub(crate) fn joined(class: Type, parts: &[Arc<Part>]) -> Option<Arc<Part>> {
    if let [part] = parts {
        return Some(Arc::clone(part));
    }
    let children = |index: usize, of: Type| {
        let children: Vec<_> =
            parts.iter().filter_map(|part| part.data.children().get(index).cloned()).collect();
        joined(of, &children)
    };
    let nested: Option<Vec<_>> =
        class.children().into_iter().zip(0..).map(|((_, of), index)| children(index, of)).collect();
    let mut nested = nested?;
    let data = match class.layout {
        _ if matches!(class.shape, Shape::Struct(_)) => Data::Struct(nested),
        _ if class.shape != Shape::Flat => {
            let mut all = vec![0];
            for part in parts {
                if let Data::List(offsets, _) = &part.data {
                    let start = all.last().copied().unwrap_or(0);
                    all.extend(offsets[1..].iter().map(|offset| start + offset));
                }
            }
            Data::List(all, nested.remove(0))
        }
        Layout::Small => Data::Small(concatenated(parts, |data| match data {
            Data::Small(column) => Some(column),
            _ => None,
        })?),
        Layout::Large => Data::Large(concatenated(parts, |data| match data {
            Data::Large(column) => Some(column),
            _ => None,
        })?),
        Layout::View => {
            let mut all = ViewBuf::default();
            parts.iter().for_each(|part| {
                if let Data::View(views) = &part.data {
                    all.extend(views)
                }
            });
            Data::View(all)
        }
        Layout::Bool => {
            let mut all = BitBuf::default();
            parts.iter().for_each(|part| {
                if let Data::Bool(bits) = &part.data {
                    all.extend(bits.bits(), bits.len)
                }
            });
            Data::Bool(all)
        }
    };
    let validity = parts.iter().any(|part| part.nulls() > 0).then(|| {
        let mut all = BitBuf::default();
        for part in parts {
            match part.validity() {
                Some(bits) => all.extend(bits.bits(), part.len()),
                None => all.extend(BitBuf::of(true, part.len()).bits(), part.len()),
            }
        }
        Validity::new(all)
    });
    Some(Arc::new(Part::new(data, validity)))
}

/// Joins the columns of some parts into one. Returns `None` if the result is too long for its offsets.
fn concatenated<O: Offset + TryFrom<usize> + TryInto<usize>>(
    parts: &[Arc<Part>],
    column: impl Fn(&Data) -> Option<&ColumnBuf<O>>,
) -> Option<ColumnBuf<O>> {
    let columns = || parts.iter().filter_map(|part| column(&part.data));
    let mut bytes = Vec::with_capacity(columns().map(|column| column.bytes().len()).sum());
    let mut offsets = Vec::with_capacity(1 + columns().map(ColumnBuf::len).sum::<usize>());
    offsets.push(O::try_from(0).ok()?);
    for column in columns() {
        for offset in &column.offsets()[1..] {
            let offset: usize = (*offset).try_into().ok()?;
            offsets.push(O::try_from(bytes.len() + offset).ok()?);
        }
        bytes.extend_from_slice(column.bytes());
    }
    ColumnBuf::from_parts(bytes, offsets).ok()
}

/// Makes an empty column with capacity for a number of values and bytes. The memory comes from the pool if it has any.
pub(crate) fn column_with_capacity<O: Offset>(values: usize, bytes: usize) -> ColumnBuf<O> {
    let mut offsets = ColumnBuf::<O>::new().into_parts().1;
    offsets.reserve(values);
    // A column without values has one offset.
    ColumnBuf::from_parts(BYTES.take(bytes), offsets)
        .unwrap_or_else(|_| ColumnBuf::with_capacity(values, bytes))
}
