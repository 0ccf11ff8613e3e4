//! Time, measured so that it can be compared: everybody in turn, round after round, in one process.
//!
//! A figure is the median over the rounds, and a ratio is the median of the ratios within each round, so that a
//! machine that slows down for a second slows both sides of a ratio.
//!
//! A core may run a second thread, often that of another tenant of the machine, and then what fills its ports takes 1.5 times
//! as long, while a chain of instructions that wait for each other, or a mispredicted branch, takes no longer. So a turn is cut
//! into pieces, and one during which the core was shared is timed again ([`Core`]).

use std::hint::black_box;

use crate::alone::{self, Core};
use compare::place::OUTPUTS;
use compare::{Contender, Role, Room, Row, Shape, Unit, Verb, expected};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How often everybody has a turn.
    pub rounds: usize,
    /// The least time of a turn, in nanoseconds.
    pub turn: f64,
}

/// How the answers of a contender compare with those of the reference, over all strings of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They are the same, or it does other work.
    Full,
    /// Some differ: how many, and the first, as input and answer.
    Differs { count: usize, input: String, answer: String },
    /// It refuses more than one string in a hundred, or panics: how many, and the first. It was not timed.
    Refuses { count: usize, input: String },
}

/// The times of one contender.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// How it was called; the fastest of its idioms here.
    pub idiom: &'static str,
    /// What it is.
    pub role: Role,
    /// Whether its answers are right.
    pub agreement: Agreement,
    /// Nanoseconds for all strings of the row, one figure a round.
    pub times: Vec<f64>,
}

/// One row, measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name.
    pub row: String,
    /// Encoding or decoding.
    pub verb: Verb,
    /// How this library was called.
    pub shape: Shape,
    /// The unit to show.
    pub unit: Unit,
    /// The number of strings.
    pub calls: usize,
    /// The number of bytes of all of them.
    pub bytes: usize,
    /// The nanoseconds of a cycle of the core while it was measured, where that is known.
    pub cycle: Option<f64>,
    /// Everybody that was timed or that refused.
    pub timed: Vec<Timed>,
}

impl Timed {
    /// The median time, in nanoseconds for all strings.
    pub fn median(&self) -> f64 {
        median(&self.times)
    }

    /// The median distance from the median, relative to it.
    pub fn spread(&self) -> f64 {
        let middle = self.median();
        median(&self.times.iter().map(|time| (time - middle).abs()).collect::<Vec<_>>()) / middle
    }

    /// How many times as long as `other` it takes.
    pub fn ratio(&self, other: &Timed) -> f64 {
        median(&self.times.iter().zip(&other.times).map(|(own, others)| own / others).collect::<Vec<_>>())
    }
}

impl Measured {
    /// The contender called `name`, if it was timed; the one that is not a [`Role::Base`].
    pub fn find(&self, name: &str) -> Option<&Timed> {
        self.timed().find(|timed| timed.name == name && !matches!(timed.role, Role::Base(_)))
    }

    /// Everybody that was timed.
    pub fn timed(&self) -> impl Iterator<Item = &Timed> {
        self.timed.iter().filter(|timed| !timed.times.is_empty())
    }

    /// The fastest rival, but for those called `except`.
    pub fn best_rival(&self, except: &str) -> Option<&Timed> {
        let rivals = self.timed().filter(|timed| timed.role == Role::Rival && timed.name != except);
        rivals.min_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// The cycles that `timed` took for 64 bytes of input.
    pub fn cycles(&self, timed: &Timed) -> Option<f64> {
        Some(timed.median() / self.bytes as f64 * 64.0 / self.cycle?)
    }

    /// `nanoseconds` for all strings, in the unit of the row: nanoseconds a call, or 10^9 bytes of input a second.
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

/// What a row is called and how it is called upon.
pub struct Task<'t> {
    /// Its name.
    pub name: &'t str,
    /// Encoding or decoding.
    pub verb: Verb,
    /// How this library is called.
    pub shape: Shape,
    /// The unit to show.
    pub unit: Unit,
    /// How many strings to check; the first ones.
    pub check: usize,
}

/// Checks and times everybody of `groups` on `row`; of each group, only the fastest counts.
///
/// # Panics
///
/// This library gives a wrong answer, or refuses one.
pub fn measure(
    plan: Plan,
    core: &mut Core,
    task: &Task<'_>,
    row: &Row,
    groups: Vec<Vec<Contender>>,
) -> Measured {
    let strings = row.strings();
    let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
    let mut rooms = OUTPUTS.map(|offset| Room::new(longest, offset));

    let mut timed = Vec::new();
    let mut racers: Vec<(Contender, Turn)> = Vec::new();
    let reference: Vec<_> =
        strings.iter().take(task.check).map(|s| expected(task.verb, task.shape, s, &mut rooms[0])).collect();
    let base: Vec<_> = if groups.iter().flatten().any(|c| matches!(c.role, Role::Base(_))) {
        strings
            .iter()
            .take(task.check)
            .map(|s| expected(task.verb, Shape::Append, s, &mut rooms[0]))
            .collect()
    } else {
        Vec::new()
    };
    for group in groups {
        let mut best: Option<(f64, Contender, Agreement)> = None;
        for contender in group {
            let reference = if matches!(contender.role, Role::Base(_)) { &base } else { &reference };
            let agreement = check(&contender, &strings, reference, &mut rooms[0]);
            if let Agreement::Refuses { .. } = agreement {
                if best.is_none() {
                    timed.push(entry(&contender, agreement));
                }
                continue;
            }
            let once = Turn { passes: 1, together: 1, strings: strings.len() };
            let once = (0..3)
                .map(|_| once.time(core, &contender, &strings, &mut rooms))
                .fold(f64::INFINITY, f64::min);
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
        // Everybody follows everybody else's neighbour, but not always as the first.
        for turn in 0..racers.len() {
            let (contender, turn) = &racers[(turn + round) % racers.len()];
            let nanoseconds = turn.time(core, contender, &strings, &mut rooms);
            let of =
                timed.iter_mut().find(|timed| timed.name == contender.name && timed.role == contender.role);
            of.expect("each racer has an entry").times.push(nanoseconds);
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

/// What a contender does in one turn, with each buffer for output.
struct Turn {
    /// How often it passes over all strings.
    passes: usize,
    /// How many passes are one piece, if a pass is short.
    together: usize,
    /// How many strings are one piece, if a pass is long.
    strings: usize,
}

impl Turn {
    /// A piece takes about as long as this, in nanoseconds. Others come and go several times in a millisecond.
    const PIECE: f64 = 60_000.0;

    /// A turn of one whose pass over `strings` strings takes `once` nanoseconds.
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

    /// The nanoseconds of one pass.
    fn time(&self, core: &mut Core, contender: &Contender, strings: &[&str], rooms: &mut [Room]) -> f64 {
        let mut nanoseconds = 0.0;
        for room in &mut *rooms {
            for _ in 0..self.passes / self.together {
                for piece in strings.chunks(self.strings) {
                    nanoseconds += core.time(|| {
                        for _ in 0..self.together {
                            contender.pass(black_box(piece), room);
                        }
                    });
                }
            }
        }
        nanoseconds / (self.passes * rooms.len()) as f64
    }
}

/// The nanoseconds of a cycle of this core: each step of a chain waits for the one before it, and takes four cycles, three for
/// the multiplication and one for the other operation, on every x86-64 CPU since 2008. Elsewhere nobody knows.
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

fn check(
    contender: &Contender,
    strings: &[&str],
    reference: &[Option<Vec<u8>>],
    room: &mut Room,
) -> Agreement {
    if contender.role == Role::Mark {
        return Agreement::Full;
    }
    let mut differs = None;
    let (mut count, mut refused) = (0, 0);
    for (input, reference) in strings.iter().zip(reference) {
        let answer = contender.answer(input, room);
        if let Role::Ours(tier) | Role::Base(tier) = contender.role {
            assert!(answer.is_some(), "{tier}, {}: refuses {input:?}, which has no speed", contender.idiom);
            assert!(answer == *reference, "{tier}, {}: wrong answer to {input:?}", contender.idiom);
        }
        if answer == *reference {
            continue;
        }
        count += 1;
        refused += usize::from(answer.is_none());
        differs.get_or_insert_with(|| {
            let answer = answer.map_or("refused".to_owned(), |answer| {
                let same = answer.iter().zip(reference.iter().flatten()).take_while(|(a, b)| a == b).count();
                excerpt(&answer[same.saturating_sub(16)..])
            });
            (excerpt(input.as_bytes()), answer)
        });
    }
    match differs {
        None => Agreement::Full,
        Some((input, _)) if refused * 100 > reference.len() => Agreement::Refuses { count, input },
        Some((input, answer)) => Agreement::Differs { count, input, answer },
    }
}

/// The first bytes, on one line.
fn excerpt(bytes: &[u8]) -> String {
    let end = if bytes.len() > 60 { "..." } else { "" };
    format!("{}{end}", bytes[..bytes.len().min(60)].escape_ascii())
}
