//! Reads targets by every reading (the rules of one server), and each output by the reading `back`. Checks that `read`
//! equals `read_by_steps`, and that the default readings agree on each target that `STRICT` passes on.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct_readings::{Agreement, READINGS, STRICT, agreement, is_ambiguous};

fuzz_target!(|input: (u8, &[u8])| {
    let (number, target) = input;
    let back = &READINGS[usize::from(number) % READINGS.len()];
    for reading in READINGS {
        let outcome = reading.read(target);
        assert_eq!(outcome, reading.read_by_steps(target));
        if let Some(text) = outcome.passed_on() {
            let _ = back.read(text);
        }
    }
    let outcome = STRICT.read(target);
    if let (Some(route), Some(passed_on)) = (outcome.route(), outcome.passed_on()) {
        assert!(!is_ambiguous(passed_on));
        for reading in READINGS.iter().filter(|reading| reading.is_default) {
            if let Some(other) = reading.read(passed_on).route() {
                assert!(agreement(route, other) < Agreement::Different, "{}", reading.name);
            }
        }
    }
});
