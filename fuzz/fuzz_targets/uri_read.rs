//! Reads targets with every reading, and the text that is passed on with another. Checks that default readings agree on everything that
//! `Reading::STRICT` accepts, and that the quick scan of plain paths gives the answers of the rules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct_uri::reading::{Agreement, NAMED, Outcome, Reading, agreement, is_ambiguous};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (first, second, target) = input;
    let [front, other] = [first, second].map(|number| &NAMED[usize::from(number) % NAMED.len()].reading);
    for named in NAMED {
        let _ = named.reading.read(target);
    }
    // A gateway that no server is.
    let mixed = Reading {
        nul: other.nul,
        utf8: other.utf8,
        malformed: other.malformed,
        percent_u: other.percent_u,
        dots: other.dots,
        dots_on: other.dots_on,
        merge: other.merge,
        pass_on: other.pass_on,
        lead: other.lead,
        ..*front
    };
    let _ = mixed.then(front).read(target);
    let _ = front.then(other).read(target);

    // The byte 0x7F is not plain, so the scan does not take the target that has it, and the reading drops it.
    let slow = Reading { drop_raw: front.drop_raw.add(b"\x7F"), ..*front };
    if !target.contains(&0x7F) {
        let marked = [target, b"\x7F"].concat();
        assert_eq!(front.read(target), slow.read(&marked));
    }

    if let Outcome::Read { route, passed_on: Some(passed_on) } = Reading::STRICT.read(target) {
        assert!(!is_ambiguous(&passed_on));
        for named in NAMED.iter().filter(|named| named.is_default) {
            if let Some(other) = named.reading.read(&*passed_on).route() {
                assert!(agreement(&route, other) < Agreement::Different, "{}", named.name);
            }
        }
    }
});
