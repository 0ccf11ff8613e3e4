//! Where values end: one value that is the whole input, or many that lie one behind the other.

/// The ends of values.
pub(super) trait Bounds {
    /// Whether [`Bounds::cut`] may be anything but 0.
    const CUTS: bool;

    /// The lanes of the next block where no escape may start, because a value ends before its second digit.
    fn cut(&self, lanes: usize) -> u64;

    /// Takes note of the ends in the next block. `written` octets stand before it in the output, and `place` says how many
    /// its first lanes become.
    fn settle(&mut self, lanes: usize, written: usize, place: impl Fn(usize) -> usize);
}

/// One value.
pub(super) struct Whole;

impl Bounds for Whole {
    const CUTS: bool = false;

    #[inline(always)]
    fn cut(&self, _: usize) -> u64 {
        0
    }

    #[inline(always)]
    fn settle(&mut self, _: usize, _: usize, _: impl Fn(usize) -> usize) {}
}

/// Many values.
// INVARIANT: the ends from `next` on are ascending and not before `at`; those below `next` are settled.
pub(super) struct Ends<'a> {
    ends: &'a mut [usize],
    next: usize,
    /// Where the next block starts in the input.
    at: usize,
}

impl<'a> Ends<'a> {
    #[inline(always)]
    pub(super) fn new(ends: &'a mut [usize]) -> Ends<'a> {
        Ends { ends, next: 0, at: 0 }
    }
}

impl Bounds for Ends<'_> {
    const CUTS: bool = true;

    #[inline(always)]
    fn cut(&self, lanes: usize) -> u64 {
        let mut cut = 0;
        for &end in &self.ends[self.next..] {
            let lane = end - self.at;
            if lane > lanes + 1 {
                break;
            }
            // The two lanes before the end; of an end behind the block, those that are in it.
            cut |= (0b11_u128 << 64 >> (66 - lane)) as u64;
        }
        cut
    }

    #[inline(always)]
    fn settle(&mut self, lanes: usize, written: usize, place: impl Fn(usize) -> usize) {
        while let Some(end) = self.ends.get_mut(self.next) {
            let lane = *end - self.at;
            if lane > lanes {
                break;
            }
            *end = written + place(lane);
            self.next += 1;
        }
        self.at += lanes;
    }
}
