//! Finds the escapes in one field of lines, or in one column of a table, from bit masks of delimiters and line feeds.
//! Records are not read one by one.

use simdpct::Tier;

use super::masks::{self, BLOCK, Block};
use super::rows::RowMarks;
use crate::ends::Separator;

/// Finds the escapes in one field of lines or rows.
#[derive(Clone, Debug)]
pub(crate) struct Delimited {
    separator: Separator,
    /// Whether the records are rows of a table.
    is_table: bool,
    /// Whether the wanted fields are listed, and their escapes are not chosen.
    pub lists_fields: bool,
    /// The masks of the bytes that one call handles (the window), copied from the marks of rows, or computed.
    found: Vec<Block>,
    /// The start and the end of the wanted field in each record that has it.
    pub fields: Vec<[usize; 2]>,
    /// For each field up to the wanted one, whether it is open at the start of the next block.
    open: Vec<u64>,
}

impl Delimited {
    /// Selects field number `before`, from 0. Set `lists_fields` if new fields go beside the old ones.
    pub fn new(separator: Separator, before: usize, is_table: bool, lists_fields: bool) -> Delimited {
        Delimited {
            separator,
            is_table,
            lists_fields,
            found: Vec::new(),
            fields: Vec::new(),
            open: vec![0; before + 1],
        }
    }

    /// Finds the escapes, or the fields, in the first records of `window`. Returns the length of these records. `given`
    /// are the marks of the rows in a chunk, and the offset of the window in it. Without marks, rows have no quotes.
    pub fn next(
        &mut self,
        tier: Tier,
        mut window: &[u8],
        given: Option<(&RowMarks, usize)>,
        chosen: &mut Vec<u64>,
    ) -> usize {
        if given.is_none_or(|(marks, _)| marks.has_returns()) {
            // The window is cut before a NUL or a lone carriage return. In a table, a cell with such a byte would need
            // quotes if the cell changed.
            let mut others = memchr::memchr2_iter(b'\r', 0, window);
            let other = others.find(|&at| window[at..].first_chunk() != Some(b"\r\n"));
            window = &window[..other.unwrap_or(window.len())];
        }
        match (self.separator, given) {
            (_, Some((marks, start))) => {
                let (shift, stop) = (start % BLOCK, (start + window.len()).div_ceil(BLOCK));
                self.found.clear();
                self.found.extend_from_slice(&marks.blocks()[start / BLOCK..stop]);
                // Only the records before the first irregular byte, such as a line feed in quotes, are usable.
                let end = masks::next_bit(&self.found, |block| block[3], shift).unwrap_or(usize::MAX);
                let end = end.min(shift + window.len());
                self.found.truncate(end.div_ceil(BLOCK));
                if let Some(last) = self.found.last_mut().filter(|_| !end.is_multiple_of(BLOCK)) {
                    last[1] &= !(u64::MAX << (end % BLOCK));
                }
                if let Some(first) = self.found.first_mut() {
                    first[1] &= u64::MAX << shift;
                }
                return self.find(shift, window, chosen);
            }
            (Separator::Byte(byte), None) => {
                masks::mark(tier, window, [b'%', b'\n', byte, byte], &mut self.found);
            }
            _ => {
                masks::mark(tier, window, [b'%', b'\n', b' ', b'\t'], &mut self.found);
                let mut was_outside = 1;
                for block in &mut self.found {
                    // The first blank after a word ends the word. All other blanks belong to the next word.
                    let blanks = block[2] | block[3];
                    let outside = blanks | block[1];
                    block[2] = blanks & !(outside << 1 | was_outside);
                    was_outside = outside >> 63;
                }
            }
        }
        self.find(0, window, chosen)
    }

    /// Finds the wanted fields in the blocks that were found, or the escapes in them. The records are those of `window`, which begins at
    /// byte `shift` of the first block. Returns the length of the complete records.
    fn find(&mut self, shift: usize, window: &[u8], chosen: &mut Vec<u64>) -> usize {
        let Delimited { open, found: blocks, fields, is_table, .. } = self;
        let end = masks::last_bit(blocks, |block| block[1], usize::MAX).map_or(shift, |end| end + 1);
        open.fill(0);
        if !self.lists_fields {
            chosen.clear();
            chosen.resize(blocks.len(), 0);
            // For up to four fields, the compiler knows their number (docs/lab/2026-11-28-sweeps.md).
            match open.len() {
                1 => choose([0; 1], blocks, shift, chosen),
                2 => choose([0; 2], blocks, shift, chosen),
                3 => choose([0; 3], blocks, shift, chosen),
                4 => choose([0; 4], blocks, shift, chosen),
                _ => choose(open, blocks, shift, chosen),
            }
            return end - shift;
        }
        fields.clear();
        let (mut begin, mut is_open) = (0, false);
        for (index, block) in blocks.iter().enumerate() {
            let start = if index == 0 { 1 << shift } else { 0 };
            let (mut starts, mut stops) = field(open, start, block);
            // Each field that begins is listed, and ends at the next stop.
            while starts | stops != 0 {
                let (start, stop) = (starts.trailing_zeros(), stops.trailing_zeros());
                if start <= stop && starts != 0 {
                    // A field that began in the block before goes on.
                    begin = if is_open { begin } else { index * BLOCK + start as usize };
                    (is_open, starts) = (true, starts & (starts - 1));
                } else {
                    fields.push([begin, index * BLOCK + stop as usize]);
                    (is_open, stops) = (false, stops & (stops - 1));
                }
            }
        }
        // The last record may be incomplete.
        fields.truncate(fields.partition_point(|[_, stop]| *stop < end));
        let is_first = open.len() == 1;
        fields.retain_mut(|[begin, stop]| {
            let text = &window[*begin - shift..=*stop - shift];
            // The carriage return before a line feed is no part of the last field, and a blank line has no field.
            *stop -= usize::from(*is_table && text.ends_with(b"\r\n"));
            !(is_first && *is_table && begin == stop && text.ends_with(b"\n"))
        });
        end - shift
    }
}

/// Chooses the escapes in the wanted field, the last one of `open`, in `blocks`. The records begin at byte `shift` of
/// the first block.
#[inline]
fn choose(mut open: impl AsMut<[u64]>, blocks: &[Block], shift: usize, chosen: &mut [u64]) {
    let open = open.as_mut();
    let first = |index: usize| if index == 0 { 1 << shift } else { 0 };
    // If more than one block in 16 has a `%`, all blocks are done without a branch on the `%`, unless there are many
    // fields (docs/lab/2026-11-28-sweeps.md). Every fourth block is a sample.
    let escaped = blocks.iter().step_by(4).filter(|block| block[0] != 0).count();
    let mut choose = |index: usize, open: &mut [u64]| {
        let (starts, stops) = field(open, first(index), &blocks[index]);
        chosen[index] = blocks[index][0] & stops.wrapping_sub(starts);
    };
    if 4 * 16 * escaped > blocks.len() && open.len() <= 4 {
        return (0..blocks.len()).for_each(|index| choose(index, open));
    }
    // The blocks before this one are done.
    let mut done = 0;
    for index in 0..blocks.len() {
        if blocks[index][0] == 0 {
            continue;
        }
        // The fields of skipped blocks matter only from the last end of a record on.
        let from = (done..index).rev().find(|&index| blocks[index][1] != 0).unwrap_or(done);
        if from > done {
            open.fill(0);
        }
        (from..=index).for_each(|index| choose(index, open));
        done = index + 1;
    }
}

/// Finds the wanted field, the last one of `open`, in a block. Returns the mask of its first bytes, and that of the
/// bytes after its ends. A field that is open at the start of the block has a first byte there. The second mask minus
/// the first one is the mask of the field. Field 0 begins at `first` and after each end of a record. For up to eight
/// fields, no branch depends on the block, because the ends are hard to predict.
#[inline(always)]
fn field(open: &mut [u64], first: u64, &[_, ends, delimiters, _]: &Block) -> (u64, u64) {
    let stops = ends | delimiters;
    let (mut begins, mut carry) = (ends << 1 | first, ends >> 63);
    let mut wanted = (0, 0);
    // If a record has many fields, most of them are not in the block.
    let is_wide = open.len() > 8;
    for open in open {
        let starts = begins | *open;
        if is_wide && starts | carry == 0 {
            wanted = (0, 0);
            continue;
        }
        // Each start is added to the mask of the bytes that end no field. The carry runs through them to the next byte that ends one.
        let (sum, goes_on) = (!stops).overflowing_add(starts);
        let found = sum & stops;
        *open = carry | u64::from(goes_on);
        wanted = (starts, found);
        (begins, carry) = ((found & delimiters) << 1, (found & delimiters) >> 63);
    }
    wanted
}
