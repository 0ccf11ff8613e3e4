//! Stores the findings of `pct check` in a chunk of input.

use std::fmt::{self, Write};
use std::ops::Range;

use super::kind::Group;

/// A finding of `pct check`.
pub struct Finding {
    pub group: Group,
    /// The number of line ends in the chunk before the finding.
    pub line: u64,
    /// The offset of the finding in the chunk. It is negative if the finding is in a record that began in an earlier
    /// chunk.
    pub offset: i64,
    /// The selected value that contains the finding, or `None` if whole lines are checked.
    pub value: Option<Value>,
    text: Range<usize>,
}

/// A selected value that contains a finding.
pub struct Value {
    /// The type of the selection, such as `column`.
    pub kind: &'static str,
    /// The name of the selected value, such as the name of its column.
    pub name: String,
    /// The offset of the finding in its record.
    pub at: i64,
}

/// The findings of a chunk, in order. Their texts are in one buffer.
#[derive(Default)]
pub struct List {
    findings: Vec<Finding>,
    texts: String,
}

impl List {
    /// Removes all findings.
    pub fn clear(&mut self) {
        self.findings.clear();
        self.texts.clear();
    }

    /// Returns the number of findings.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Adds a finding, without a selected value, to the list.
    pub fn add(&mut self, group: Group, line: u64, offset: i64, text: fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        self.push(group, line, offset, |texts| texts.write_fmt(text).ok());
    }

    /// Adds a finding whose text `write` appends to the buffer of texts, unless `write` returns `None`. A finding can follow each
    /// byte of the input, and appended strings cost a fraction of formatted ones.
    pub fn push(
        &mut self,
        group: Group,
        line: u64,
        offset: i64,
        write: impl FnOnce(&mut String) -> Option<()>,
    ) {
        let from = self.texts.len();
        if write(&mut self.texts).is_none() {
            return self.texts.truncate(from);
        }
        self.findings.push(Finding { group, line, offset, value: None, text: from..self.texts.len() });
    }

    /// Returns an iterator over all findings.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Returns the findings from number `from` on. The caller replaces their offsets in the value by positions in the
    /// chunk.
    pub fn since(&mut self, from: usize) -> &mut [Finding] {
        &mut self.findings[from..]
    }

    /// Returns the text of `finding`.
    pub fn text(&self, finding: &Finding) -> &str {
        &self.texts[finding.text.clone()]
    }
}
