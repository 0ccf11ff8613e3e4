//! `pct normalize --list`: lists the canonical forms.

use std::fmt::Write;

use simdpct_uri::canon::Profile;

use crate::common::error::{Failure, Outcome};
use crate::io::output::Output;

/// Lists the profiles, one per line.
pub fn list() -> Result<Outcome, Failure> {
    let width = Profile::ALL.iter().map(|profile| profile.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for profile in Profile::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:width$}  {} ({})", profile.name(), profile.about(), profile.edition());
    }
    Output::stdout()?.write(text.as_bytes())?;
    Ok(Outcome::Clean)
}
