//! Compares the canonical form `whatwg`, and the resolution of references, with the state machine of the URL Standard.

#![no_main]

use libfuzzer_sys::fuzz_target;
use simdpct_uri::canon::{Base, Profile};

#[path = "../../crates/uri/tests/uri/state_machine.rs"]
mod state_machine;

fuzz_target!(|case: (&str, &str)| {
    let (url, reference) = case;
    let form = Profile::Whatwg.canonicalize(url).ok();
    assert_eq!(form.as_deref(), state_machine::resolve(None, url).as_deref(), "{url:?}");
    let base = Base::parse(url);
    assert_eq!(base.is_ok(), form.is_some(), "{url:?}");
    if let Ok(base) = base {
        let resolved = base.resolve(reference).ok();
        assert_eq!(resolved, state_machine::resolve(Some(url), reference), "{reference:?} against {url:?}");
    }
});
