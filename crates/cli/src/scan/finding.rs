//! Findings of a chunk of input.

use std::fmt::{self, Write};
use std::ops::Range;

use super::kind::Group;

/// Something that was found.
pub struct Finding {
    pub group: Group,
    /// The line ends of the chunk before it.
    pub line: u64,
    /// Where it is in the chunk; negative in a record that has begun before.
    pub offset: i64,
    /// The selected value that it is in, if values are selected.
    pub value: Option<Value>,
    text: Range<usize>,
}

/// A selected value in which something was found.
pub struct Value {
    /// What it was selected by: `column` and its name, say.
    pub kind: &'static str,
    pub name: String,
    /// Where in its record the finding is.
    pub at: i64,
}

/// Findings, in order.
#[derive(Default)]
pub struct List {
    findings: Vec<Finding>,
    texts: String,
}

impl List {
    /// Starts anew.
    pub fn clear(&mut self) {
        self.findings.clear();
        self.texts.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Adds one.
    pub fn add(&mut self, group: Group, line: u64, offset: i64, text: fmt::Arguments<'_>) {
        let from = self.texts.len();
        // Writing to a string does not fail.
        let _ = self.texts.write_fmt(text);
        self.findings.push(Finding { group, line, offset, value: None, text: from..self.texts.len() });
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Those from number `from` on, whose places are not known before the value that they are in has been looked at.
    pub fn since(&mut self, from: usize) -> &mut [Finding] {
        &mut self.findings[from..]
    }

    /// What there is to say of one.
    pub fn text(&self, finding: &Finding) -> &str {
        &self.texts[finding.text.clone()]
    }
}
