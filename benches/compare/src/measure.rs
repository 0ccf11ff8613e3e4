//! Measures times that can be compared: all contenders run in turn, round after round, in one process.
//!
//! A figure is the median over the rounds. A ratio is the median of the ratios within each round. So a machine that
//! slows down for a second slows both sides of a ratio.
//!
//! A core may run a second thread, often that of another tenant of the machine. Then code that fills the execution ports takes
//! 1.5 times as long, while chains of dependent instructions and mispredicted branches take no longer. So a turn is cut into
//! pieces, and a piece during which the core was shared is timed again ([`Core`]).

use std::hint::black_box;

use benchkit::place::OUTPUTS;
use benchkit::{Buffers, Contender, Role, Row, Shape, Unit, Verb, expected};
use simdpct::Tier;

use crate::alone::{self, Core};

/// The number of sets of output buffers, which the rounds use in turn. On Zen 4, a function may need twice the time
/// with one buffer in fifty. The pages in which the buffer, the stack and the constants are decide this. A slow buffer
/// does not change the median over the rounds, because most rounds use other buffers.
const SETS: usize = 8;

/// The number of steps by which [`lower`] moves the stack from one round to the next: to another page, and to another offset in it.
const STEPS: usize = 5;

/// The extent of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of turns of each contender.
    pub rounds: usize,
    /// The least time of a turn, in nanoseconds.
    pub turn: f64,
}

/// The comparison of a contender's answers with the expected ones, over the checked strings of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// All answers are right, or the contender is not compared because it does less work.
    Full,
    /// Some answers differ from the expected ones: their number, and the input and answer of the first.
    Differs { count: usize, input: String, answer: String },
    /// The contender rejects more than one string in a hundred, and was not timed. A panic counts as a rejection. Has the
    /// number of strings without the expected answer, and the first of them.
    Rejects { count: usize, input: String },
}

/// The times of one contender.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The name of the library or tier.
    pub name: String,
    /// The call that was timed: the fastest idiom on this row.
    pub idiom: &'static str,
    /// The role of the contender in the comparison.
    pub role: Role,
    /// The comparison of the answers of the contender with the expected ones.
    pub agreement: Agreement,
    /// The nanoseconds for all strings of the row, one figure for each round.
    pub times: Vec<f64>,
}

/// The figures of one row.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The name of the row.
    pub row: String,
    /// The direction: encoding or decoding.
    pub verb: Verb,
    /// The way this library was called.
    pub shape: Shape,
    /// The unit in which the row is reported.
    pub unit: Unit,
    /// The number of strings, each of which is one call.
    pub calls: usize,
    /// The number of bytes of all strings.
    pub bytes: usize,
    /// The nanoseconds of a cycle of the core during the measurement, if known.
    pub cycle: Option<f64>,
    /// The contenders that were timed, and those that reject the input.
    pub timed: Vec<Timed>,
}

impl Timed {
    /// Returns the median time, in nanoseconds for all strings.
    pub fn median(&self) -> f64 {
        median(&self.times)
    }

    /// Returns the median distance of the times from their median, relative to this median.
    pub fn spread(&self) -> f64 {
        let middle = self.median();
        median(&self.times.iter().map(|time| (time - middle).abs()).collect::<Vec<_>>()) / middle
    }

    /// Returns the median over the rounds of this time divided by that of `other`.
    pub fn ratio(&self, other: &Timed) -> f64 {
        median(&self.times.iter().zip(&other.times).map(|(own, others)| own / others).collect::<Vec<_>>())
    }
}

impl Measured {
    /// Finds the contender called `name` if it was timed. Skips contenders with [`Role::Base`].
    pub fn find(&self, name: &str) -> Option<&Timed> {
        self.timed().find(|timed| timed.name == name && !matches!(timed.role, Role::Base(_)))
    }

    /// Returns the contenders that were timed.
    pub fn timed(&self) -> impl Iterator<Item = &Timed> {
        self.timed.iter().filter(|timed| !timed.times.is_empty())
    }

    /// Returns the fastest crate that is not called `except`.
    pub fn best_rival(&self, except: &str) -> Option<&Timed> {
        let rivals = self.timed().filter(|timed| timed.role == Role::Rival && timed.name != except);
        rivals.min_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// Returns the fastest rival: a crate, or an algorithm that runs on every CPU with `tier`.
    pub fn best_opponent(&self, tier: Tier) -> Option<&Timed> {
        let is_opponent = |timed: &&Timed| match timed.role {
            Role::Rival => true,
            Role::Algorithm(needs) => needs.is_in(tier),
            _ => false,
        };
        self.timed().filter(is_opponent).min_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// Returns the cycles that `timed` took for 64 bytes of input.
    pub fn cycles(&self, timed: &Timed) -> Option<f64> {
        Some(timed.median() / self.bytes as f64 * 64.0 / self.cycle?)
    }

    /// Converts `nanoseconds` for all strings to the unit of the row: nanoseconds a call, or 10^9 bytes of input a second.
    pub fn in_unit(&self, nanoseconds: f64) -> f64 {
        match self.unit {
            Unit::Call => nanoseconds / self.calls as f64,
            Unit::Byte => self.bytes as f64 / nanoseconds,
        }
    }
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => f64::midpoint(sorted[len / 2 - 1], sorted[len / 2]),
    }
}

/// The description of one measurement.
pub struct Task<'t> {
    /// The name of the row.
    pub name: &'t str,
    /// The direction: encoding or decoding.
    pub verb: Verb,
    /// The way this library is called.
    pub shape: Shape,
    /// The unit in which the row is reported.
    pub unit: Unit,
    /// The number of strings whose answers are checked, from the first on.
    pub check: usize,
}

/// Checks and times the contenders in `groups` on `row`. Only the fastest contender of each group is reported.
///
/// # Panics
///
/// Panics if an answer of this library is wrong.
pub fn measure(
    plan: Plan,
    core: &mut Core,
    task: &Task<'_>,
    row: &Row,
    groups: Vec<Vec<Contender>>,
) -> Measured {
    let strings = row.strings();
    let mut sets = [(); SETS].map(|()| OUTPUTS.map(|offset| Buffers::new(row.longest(), offset)));
    let first = &mut sets[0];

    let mut timed = Vec::new();
    let mut racers: Vec<(Contender, Turn)> = Vec::new();
    let mut answers = |shape: Shape| -> Vec<_> {
        let checked = strings.iter().take(task.check);
        checked.map(|input| expected(task.verb, shape, input, &mut first[0])).collect()
    };
    let (reference, base) = (answers(task.shape), answers(Shape::Append));
    for group in groups {
        let mut best: Option<(f64, Contender, Agreement)> = None;
        for contender in group {
            let reference = if matches!(contender.role, Role::Base(_)) { &base } else { &reference };
            let agreement = check(&contender, &strings, reference, &mut first[0]);
            if let Agreement::Rejects { .. } = agreement {
                if best.is_none() {
                    timed.push(entry(&contender, agreement));
                }
                continue;
            }
            let once = Turn { passes: 1, together: 1, strings: strings.len() };
            let once =
                (0..3).map(|_| once.time(core, &contender, &strings, first, 0)).fold(f64::INFINITY, f64::min);
            if best.as_ref().is_none_or(|(time, ..)| once < *time) {
                best = Some((once, contender, agreement));
            }
        }
        if let Some((once, contender, agreement)) = best {
            timed.retain(|other: &Timed| other.name != contender.name || other.role != contender.role);
            timed.push(entry(&contender, agreement));
            racers.push((contender, Turn::new(plan, once, strings.len())));
        }
    }

    let mut cycles = Vec::new();
    for round in 0..plan.rounds {
        cycles.extend(cycle());
        // Each round starts with another contender, so that no contender profits from its position in the order.
        for turn in 0..racers.len() {
            let (contender, turn) = &racers[(turn + round) % racers.len()];
            let nanoseconds =
                turn.time(core, contender, &strings, &mut sets[round % SETS], STEPS * (round % SETS));
            let mut entries = timed.iter_mut();
            let entry = entries.find(|timed| timed.name == contender.name && timed.role == contender.role);
            entry.expect("each racer has an entry").times.push(nanoseconds);
        }
    }
    Measured {
        row: task.name.to_owned(),
        verb: task.verb,
        shape: task.shape,
        unit: task.unit,
        calls: strings.len(),
        bytes: row.bytes(),
        cycle: (!cycles.is_empty()).then(|| median(&cycles)),
        timed,
    }
}

fn entry(contender: &Contender, agreement: Agreement) -> Timed {
    let Contender { name, idiom, role, .. } = contender;
    Timed { name: name.clone(), idiom, role: *role, agreement, times: Vec::new() }
}

/// The work of a contender in one turn, with each of the output buffers.
struct Turn {
    /// The number of passes over all strings for each output buffer.
    passes: usize,
    /// The number of passes in a piece; 1 if a pass is long.
    together: usize,
    /// The number of strings in a piece; all of them if a pass is short.
    strings: usize,
}

impl Turn {
    /// The approximate length of a piece in nanoseconds. It is short, because other threads come and go several times in a
    /// millisecond.
    const PIECE: f64 = 60_000.0;

    /// Plans the turn of a contender whose pass over `strings` strings takes `once` nanoseconds.
    fn new(plan: Plan, once: f64, strings: usize) -> Turn {
        let passes = ((plan.turn / once / OUTPUTS.len() as f64).ceil() as usize).max(1);
        let together = ((Self::PIECE / once) as usize).clamp(1, passes);
        let pieces = (once / Self::PIECE).ceil().max(1.0);
        Turn {
            passes: passes.next_multiple_of(together),
            together,
            strings: ((strings as f64 / pieces).ceil() as usize).max(1),
        }
    }

    /// Runs the turn, with the stack lower by `steps` steps, and returns the nanoseconds of one pass.
    fn time(
        &self,
        core: &mut Core,
        contender: &Contender,
        strings: &[&str],
        buffers: &mut [Buffers],
        steps: usize,
    ) -> f64 {
        let mut nanoseconds = 0.0;
        for (index, one) in buffers.iter_mut().enumerate() {
            lower(index + steps, &mut || {
                for _ in 0..self.passes / self.together {
                    for piece in strings.chunks(self.strings) {
                        nanoseconds += core.time(|| {
                            for _ in 0..self.together {
                                contender.pass(black_box(piece), one);
                            }
                        });
                    }
                }
            });
        }
        nanoseconds / (self.passes * buffers.len()) as f64
    }
}

/// Calls `run` with the stack about a quarter of a page lower for each of `steps`. With one address of the stack, luck
/// would decide the results of rows. A function may need twice the time if its frame is at one offset in a page, or in
/// one page of many.
#[inline(never)]
fn lower(steps: usize, run: &mut dyn FnMut()) {
    if steps == 0 {
        return run();
    }
    let space = black_box([0_u8; 1024]);
    lower(steps - 1, run);
    black_box(&space);
}

/// Returns the nanoseconds of a cycle of this core, measured with a chain of dependent steps. Each step takes four cycles on
/// every x86-64 CPU since 2008: three for the multiplication and one for the `xor`. Returns `None` on other CPUs.
fn cycle() -> Option<f64> {
    const STEPS: usize = 20_000;
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let (mut link, factor) = (black_box(3_u64), black_box(5_u64));
    let start = alone::now();
    for _ in 0..STEPS {
        link = (link ^ factor).wrapping_mul(factor);
    }
    black_box(link);
    Some((alone::now() - start) / (4 * STEPS) as f64)
}

/// Compares the answers of `contender` with the expected ones.
fn check(
    contender: &Contender,
    strings: &[&str],
    reference: &[Option<Vec<u8>>],
    buffers: &mut Buffers,
) -> Agreement {
    if contender.role == Role::Mark {
        return Agreement::Full;
    }
    let mut differs = None;
    let (mut count, mut rejected) = (0, 0);
    for (input, reference) in strings.iter().zip(reference) {
        let answer = contender.answer(input, buffers);
        if let Role::Ours(tier) | Role::Base(tier) = contender.role {
            assert!(answer.is_some(), "{tier}, {}: rejects {input:?}", contender.idiom);
            assert!(answer == *reference, "{tier}, {}: wrong answer to {input:?}", contender.idiom);
        }
        if answer == *reference {
            continue;
        }
        count += 1;
        rejected += usize::from(answer.is_none());
        differs.get_or_insert_with(|| {
            let answer = answer.map_or("rejected".to_owned(), |answer| {
                let same = answer.iter().zip(reference.iter().flatten()).take_while(|(a, b)| a == b).count();
                excerpt(&answer[same.saturating_sub(16)..])
            });
            (excerpt(input.as_bytes()), answer)
        });
    }
    match differs {
        None => Agreement::Full,
        Some((input, _)) if rejected * 100 > reference.len() => Agreement::Rejects { count, input },
        Some((input, answer)) => Agreement::Differs { count, input, answer },
    }
}

/// Returns the first 60 bytes as text, escaped so that they fit on one line.
fn excerpt(bytes: &[u8]) -> String {
    let end = if bytes.len() > 60 { "..." } else { "" };
    format!("{}{end}", bytes[..bytes.len().min(60)].escape_ascii())
}
