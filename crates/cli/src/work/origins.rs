//! Where decoded octets come from: for messages, so each step is taken again, an octet at a time.

use simdpct::ByteSet;

use super::{Decoding, Layers, nginx, octet_of, percent_u};

/// Octets, and the offset in the value that each comes from.
#[derive(Default)]
pub struct Traced {
    /// The octets.
    pub octets: Vec<u8>,
    /// Where each comes from.
    pub origins: Vec<usize>,
}

impl Traced {
    fn new(value: &[u8]) -> Traced {
        Traced { octets: value.to_vec(), origins: (0..value.len()).collect() }
    }

    fn push(&mut self, octets: &[u8], origin: usize) {
        self.octets.extend_from_slice(octets);
        self.origins.resize(self.octets.len(), origin);
    }

    /// Replaces, once, each stretch of which `replace` makes something else: how long it is, and what.
    fn replace(self, mut replace: impl FnMut(&[u8]) -> Option<(usize, Vec<u8>)>) -> Traced {
        let mut result = Traced::default();
        let mut at = 0;
        while at < self.octets.len() {
            match replace(&self.octets[at..]) {
                Some((len, with)) => {
                    result.push(&with, self.origins[at]);
                    at += len;
                }
                None => {
                    result.push(&self.octets[at..=at], self.origins[at]);
                    at += 1;
                }
            }
        }
        result
    }
}

fn logged(value: &[u8], keep: &ByteSet) -> Traced {
    Traced::new(value).replace(|rest| {
        let octet = nginx::octet_at(rest).filter(|&octet| !keep.contains(octet))?;
        Some((4, vec![octet]))
    })
}

/// The origins of the octets after `--nginx`.
pub fn of_logged(value: &[u8], keep: &ByteSet) -> Vec<usize> {
    logged(value, keep).origins
}

/// The octets after all layers, before `--charset`; characters of `%uXXXX` are UTF-8.
pub fn of_decoded(decoding: &Decoding, value: &[u8]) -> Traced {
    let Decoding { keep, form, .. } = decoding;
    let pass = |traced: Traced, percent_u: bool| {
        traced.replace(|rest| {
            if let Some((character, len)) = percent_u::character_at(rest).filter(|_| percent_u) {
                let kept = percent_u::is_kept(character, keep);
                return Some((
                    len,
                    if kept { rest[..len].to_vec() } else { character.to_string().into_bytes() },
                ));
            }
            match (rest.first_chunk().and_then(octet_of), rest) {
                (Some(octet), _) if keep.contains(octet) => Some((3, rest[..3].to_vec())),
                (Some(octet), _) => Some((3, vec![octet])),
                (None, [b'+', ..]) if *form => Some((1, vec![b' '])),
                _ => None,
            }
        })
    };
    let traced = if decoding.nginx { logged(value, keep) } else { Traced::new(value) };
    let traced = pass(traced, decoding.percent_u);
    match decoding.layers {
        Layers::Times(times) => (1..times).fold(traced, |traced, _| pass(traced, false)),
        Layers::UntilStable => {
            // One pass does, because the order of the steps does not matter.
            let mut result = Traced::default();
            for (octet, origin) in traced.octets.into_iter().zip(traced.origins) {
                result.push(&[octet], origin);
                while let Some(octet) = result.octets.last_chunk().and_then(octet_of) {
                    if keep.contains(octet) {
                        break;
                    }
                    result.octets.truncate(result.octets.len() - 3);
                    let origin = result.origins[result.octets.len()];
                    result.origins.truncate(result.octets.len());
                    result.push(&[octet], origin);
                }
                if let Some(plus) = result.octets.last_mut().filter(|octet| *form && **octet == b'+') {
                    *plus = b' ';
                }
            }
            result
        }
    }
}
